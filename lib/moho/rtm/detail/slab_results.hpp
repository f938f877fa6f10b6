// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of SlabShots that collect results of slabs (internal).
///
/// This is the last part of slab_shots.hpp.

#include <moho/rtm/detail/slab_shots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::rtm::detail {

// Sets the image of a shot, and its largest values.
template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::collect(const std::vector<Slab>& slabs,
                                        const std::vector<PlaneRange>& planes,
                                        bool complete_receivers, std::size_t parts,
                                        ShotImage<T, Dim>& result) const {
  std::vector<std::vector<double>> largest(slabs.size(), std::vector<double>(parts, 0.0));
  const auto nodes = static_cast<std::size_t>(m_window.grid.size());
  result.values.resize(parts * nodes);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = m_parts->instance(g);
    const auto& propagator = *slabs[g].propagator;
    const auto& sums = slabs[g].sums;
    scale_by_density<T, Dim, Memory>(exec, propagator.layout(), propagator.pressure_factors(),
                                     propagator.own(propagator.interior()), sums.products);
    if (!complete_receivers) fill(exec, sums.products.receiver_illumination, T(0));
    largest[g] =
        sums.collect(exec, m_window, m_input.options.aperture.taper, planes[g], result.values);
  });
  result.largest.assign(parts, 0.0);
  for (std::size_t p = 0; p < parts; ++p) {
    m_parts->collect_planes(result.values.data() + p * nodes,
                            m_window.grid.size() / m_window.grid.extents[0],
                            [&](std::size_t g) { return planes[g]; });
    std::vector<double> of_part;
    for (const std::vector<double>& one : largest) of_part.push_back(one[p]);
    m_parts->collect(of_part);
    result.largest[p] = *std::max_element(of_part.begin(), of_part.end());
  }
}

// Sets the gathers of a shot.
template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::collect_offsets(const std::vector<Slab>& slabs,
                                                const OffsetLines<Dim>& lines,
                                                ShotImage<T, Dim>& result) const {
  const std::int64_t column = lines.count * lines.planes.elements;
  const auto size = static_cast<std::size_t>(column);
  std::vector<T> sorted(lines.columns.size() * size);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = m_parts->instance(g);
    const auto& propagator = *slabs[g].propagator;
    slabs[g].offsets->scale(exec, *m_parts, propagator.layout(), propagator.pressure_factors());
    const auto& values = slabs[g].offsets->values();
    if (values.size() == 0) return;
    copy(exec, HostElements<T>(sorted.data() + lines.own[g].begin * column, values.size()), values);
    exec.fence();
  });
  m_parts->collect_planes(sorted.data(), column, [&](std::size_t g) { return lines.own[g]; });
  result.offsets.resize(sorted.size());
  for (std::size_t c = 0; c < lines.order.size(); ++c) {
    std::copy_n(sorted.data() + c * size, size, result.offsets.data() + lines.order[c] * size);
  }
}

}  // namespace moho::rtm::detail
