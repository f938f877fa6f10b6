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

// Moves the cuts of the latest shot so that its slabs step similar numbers of nodes of its boxes.
template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::balance() {
  if (is_random() || m_own.size() < 2) return;
  stream::detail::SlabDivision grid = division(m_plan.grid.extents[0]);
  if (m_input.options.offsets.count() > 0) grid.inner = m_input.options.offsets.max_half_offset;
  m_own =
      stream::detail::balanced_parts(grid, m_own, m_boxes, [&](const std::vector<PlaneRange>& own) {
        bool fits = true;
        for (std::size_t g = 0; g < own.size(); ++g) {
          fits = fits && bytes(own, g) + kept_bytes(own, g) <=
                             std::max(m_allowed, bytes(m_own, g) + kept_bytes(m_own, g));
        }
        return fits;
      });
}

template <class T, int Dim, class Memory>
std::function<Box<Dim>(std::int64_t)> SlabShots<T, Dim, Memory>::follow_domain(
    const wave::Shot<Dim>& shot) {
  const MigrationOptions<Dim>& given = m_input.options;
  const auto factory = domain::box_factory<T, Dim>(given.domain, m_instances.front(), m_window.grid,
                                                   m_model, m_modelling, given.domain_options);
  if (!factory) return {};
  const auto boxes = stream::detail::boxes_of_ranks<Dim>(given.ranks, m_plan.time.steps,
                                                         [&] { return factory(shot, m_plan); });
  m_boxes = stream::detail::box_steps<Dim>(boxes, m_plan.time.steps);
  balance();
  return boxes;
}

template <class T, int Dim, class Memory>
double SlabShots<T, Dim, Memory>::part_stepped() const {
  if (m_boxes.empty()) return 1.0;
  std::int64_t max = 0;
  for (const PlaneRange& part : divided(m_plan.grid.extents[0], m_own.size())) {
    max = std::max(max, part.count());
  }
  const auto nodes = static_cast<double>(m_plan.grid.size() / m_plan.grid.extents[0]);
  return stream::detail::work_of(m_own, m_boxes).steps /
         (nodes * static_cast<double>(max) * static_cast<double>(m_plan.time.steps));
}

// Returns the bytes of the storage of a slab on its device.
template <class T, int Dim, class Memory>
double SlabShots<T, Dim, Memory>::kept_bytes(const std::vector<PlaneRange>& own,
                                             std::size_t g) const {
  const auto all = static_cast<double>(m_storage.device_bytes);
  if (m_boxes.empty()) return all;
  const std::vector<PlaneRange> equal = divided(m_plan.grid.extents[0], own.size());
  double planes = 0.0, state = 0.0;  // of the largest of equal slabs
  for (std::size_t k = 0; k < equal.size(); ++k) {
    planes = std::max(planes, static_cast<double>(equal[k].count()));
    state = std::max(state, state_bytes(equal, k));
  }
  if (m_storage.keep == snapshot::StorageMethod::checkpoints) {
    return all * state_bytes(own, g) / state;
  }
  if (m_storage.keep == snapshot::StorageMethod::boundary_values) {
    return all * static_cast<double>(own[g].count()) / planes;
  }
  // snapshots have the nodes of the boxes
  const auto buffers = static_cast<double>(m_storage.device_buffers);
  const auto plane = static_cast<double>(m_plan.grid.size() / m_plan.grid.extents[0]);
  const double nodes = stream::detail::work_of({own[g]}, m_boxes).largest;
  return buffers +
         (all - buffers) * nodes / (planes * plane * static_cast<double>(m_plan.time.steps));
}

template <class T, int Dim, class Memory>
stream::SlabPlan SlabShots<T, Dim, Memory>::slab_plan() const {
  // data are modelled in equal slabs, before snapshots are allocated
  const std::vector<PlaneRange> equal = divided(m_plan.grid.extents[0], m_own.size());
  stream::SlabPlan plan;
  plan.ranks = m_input.options.ranks != nullptr;
  for (std::size_t g = 0; g < m_own.size(); ++g) {
    plan.planes.push_back(m_own[g].count());
    plan.bytes.push_back(static_cast<std::int64_t>(
        std::max(bytes(m_own, g) + kept_bytes(m_own, g), data_bytes(equal, g))));
  }
  return plan;
}

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
