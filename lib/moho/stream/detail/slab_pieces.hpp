// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arrays of slabs that neighbours exchange (internal).

#include <moho/stream/detail/model_part.hpp>
#include <moho/stream/kernel/slab_parts.hpp>
#include <moho/wave/wavefield.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::stream {

/// Contiguous parts of arrays.
template <class T, class Memory>
using SlabPieces = std::vector<Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>>;

/// \brief Returns the values of the next time level in some planes.
///
/// They are contiguous parts of arrays, in the same order for all windows.
/// \param scheme,field of a window that holds the planes
template <class T, int Dim, class Memory>
SlabPieces<T, Memory> plane_pieces(const wave::Scheme<T, Dim, Memory>& scheme,
                                   const wave::Wavefield<T, Dim, Memory>& field,
                                   const PlaneRange& planes) {
  SlabPieces<T, Memory> result;
  const wave::Layout<Dim>& layout = field.layout;
  for (int f = 0; f < field.fields; ++f) {
    result.emplace_back(field.next[f].data() + layout.plane_begin(planes.begin),
                        static_cast<std::size_t>(planes.count() * layout.strides[0]));
  }
  // steps across a layer read its memory in neighbouring planes
  std::size_t number = 0;
  for (const auto& layer : scheme.layers()) {
    const PlaneRange part =
        intersection(PlaneRange{planes.begin - layer.first, planes.end - layer.first},
                     PlaneRange{0, layer.width});
    for (int f = 0; f < field.fields; ++f, ++number) {
      if (layer.axis != 0 || part.empty()) continue;
      const wave::kernel::LayerShape shape = field.layer_shape(scheme, layer);
      result.emplace_back(
          field.layers[number].psi_next.data() + shape.offset + part.begin * shape.strides[0],
          static_cast<std::size_t>(part.count() * shape.strides[0]));
    }
  }
  return result;
}

/// Returns true if planes near neighbours may be stepped concurrently with the others: their steps
/// share no intermediate arrays.
template <class T, int Dim, class Memory>
bool steps_edges_apart(const wave::Scheme<T, Dim, Memory>& scheme) {
  return wave::info(scheme.stencil()).work_fields == 0;
}

/// Calls visit(planes) for pieces of a window in which a model is loaded.
template <class T, int Dim, class Memory, class Visit>
void visit_model_pieces(const wave::Scheme<T, Dim, Memory>& scheme, const PlaneRange& window,
                        const Visit& visit) {
  const std::int64_t piece = std::max<std::int64_t>(2 * scheme.order(), 64);
  for (std::int64_t begin = window.begin; begin < window.end;) {
    std::int64_t end = std::min(begin + piece, window.end);
    if (window.end - end <= scheme.order()) end = window.end;
    visit(PlaneRange{begin, end});
    begin = end;
  }
}

}  // namespace moho::stream
