// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Planes of a volume on a device: a ring through which the volume streams.

#include <moho/stream/schedule.hpp>
#include <moho/stream/volume.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Planes of a range with consecutive slots in a ring.
///
/// A turn of the ring has as many positions as the ring has slots. In turn k, the slot of
/// position p is p - k * slots.
struct RingPiece {
  PlaneRange planes;       ///< planes of the volume
  std::int64_t turn = 0;   ///< turn of the ring
  std::int64_t shift = 0;  ///< position of plane 0 of the volume
};

/// \brief Arrays for the planes that are on a device.
///
/// A window of the grid (wave::Layout) on the slots of one turn lets step(), inject() and record()
/// work in the ring as in any window. A ring may also hold the complete grid: planes are then laid
/// out as in any field, and nothing moves. Copies of the first and last slots extend the ring, so
/// that windows can be read beyond both ends of a turn. mirror() renews these copies.
template <class T, int Dim, class Memory>
class Ring {
 public:
  /// \param exec execution instance of the allocation
  /// \param scheme of the volume
  /// \param slots planes of the ring
  /// \param beyond planes that are read beyond the ends of a turn
  /// \param resident true to hold the parameters of the complete volume instead of a ring of them
  Ring(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme, std::int64_t slots,
       std::int64_t beyond, bool resident);

  /// \brief Allocates arrays of the complete grid and loads its model.
  /// \param exec execution instance of allocation and loading
  /// \param scheme of the grid
  /// \param model with the layers of its faces
  Ring(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
       const wave::Model<T, Dim, Memory>& model);

  /// Returns the parts of a range by turns.
  std::vector<RingPiece> pieces(const StreamRange& range) const;
  /// Returns the layout of a piece and the nodes that are read around it.
  wave::Layout<Dim> layout(const RingPiece& piece) const;
  /// Returns the parameters around a piece.
  wave::MediumCoefficients<T, Dim, Memory> medium(const RingPiece& piece) const;
  /// Returns the wavefield around a piece at a time: `now` is the field at `level`.
  wave::Wavefield<T, Dim, Memory> wavefield(const RingPiece& piece, std::int64_t level) const;
  /// Renews the copies of a piece's planes beyond the ends of a turn.
  void mirror(const Instance<Memory>& exec, const RingPiece& piece,
              const wave::Storage<T, Memory>& array) const;

  /// Returns the parameters, in the order of MediumCoefficients::arrays().
  const std::vector<wave::Storage<T, Memory>>& parameters() const { return m_parameters; }
  /// Returns a field at times with this parity.
  const wave::Storage<T, Memory>& field(int parity, int f) const { return m_field[parity][f]; }
  /// Returns the axis derivatives of self-adjoint TTI.
  ///
  /// They are unallocated in other media, and where all steps take one pass.
  const wave::Storage<T, Memory>& axis_derivative(int f) const { return m_axis_derivative[f]; }
  /// Memory of a layer for copies: its array, first element and elements of a plane.
  struct LayerPlanes {
    wave::Storage<T, Memory> array;  ///< array of the memory
    std::int64_t first = 0;          ///< element of the first of the planes
    std::int64_t plane_size = 0;     ///< elements between planes
  };
  /// Returns the memory of a layer and field for some planes, all within the piece and the layer.
  /// \param zeta true for the memory of second derivatives; false for that of first ones at times
  ///   with the parity
  LayerPlanes layer(const VolumeShape<T, Dim>& shape, std::size_t number, const RingPiece& piece,
                    const PlaneRange& planes, bool zeta, int parity) const;
  /// Allocates the sums of a shape, with all planes if they are held.
  void allocate_sums(const Instance<Memory>& exec, const typename VolumeShape<T, Dim>::Sums& sums);
  /// Returns an array of sums for some planes, all within the piece and the sums.
  ///
  /// Elements between planes are those of a plane.
  LayerPlanes sums(std::size_t number, const RingPiece& piece, const PlaneRange& planes) const;
  /// Returns the elements from an array of sums to the next.
  std::int64_t sum_stride() const { return static_cast<std::int64_t>(m_sums.front().size()); }
  /// Sets some arrays of sums to zero, from number `first` on; a negative count means all of them.
  void clear_sums(const Instance<Memory>& exec, int first = 0, int count = -1);
  /// Returns the number of arrays of sums.
  std::size_t sum_count() const { return m_sums.size(); }
  /// Returns true if parameters are held for the complete volume.
  bool resident() const { return m_resident; }
  /// Returns true if the ring holds the complete grid.
  bool whole() const { return m_whole; }
  /// Returns the parameters of the complete volume, if they are held.
  const wave::MediumCoefficients<T, Dim, Memory>& whole_medium() const { return m_medium; }
  /// Returns the number of slots.
  std::int64_t slots() const { return m_slots; }
  /// Returns the bytes of all arrays.
  std::size_t bytes() const;

 private:
  void allocate_state(const Instance<Memory>& exec, const PlaneRange& held);

  const wave::Scheme<T, Dim, Memory>& m_scheme;
  std::int64_t m_slots, m_beyond;
  bool m_resident, m_whole = false;
  wave::MediumCoefficients<T, Dim, Memory> m_medium;
  std::vector<wave::Storage<T, Memory>> m_parameters;
  wave::Storage<T, Memory> m_field[2][2], m_axis_derivative[2];
  std::vector<wave::LayerMemory<T, Memory>> m_layers;  ///< memory of layers; psi_now: of even times
  typename VolumeShape<T, Dim>::Sums m_sum_shape;
  std::vector<wave::Storage<T, Memory>> m_sums;
};

template <class T, int Dim, class Memory>
Ring<T, Dim, Memory>::Ring(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                           std::int64_t slots, std::int64_t beyond, bool resident)
    : m_scheme(scheme),
      m_slots(std::max(slots, 2 * beyond)),
      m_beyond(beyond),
      m_resident(resident) {
  const PlaneRange held{0, m_slots + 2 * m_beyond};
  m_medium = wave::MediumCoefficients<T, Dim, Memory>::ring(
      exec, scheme, resident ? scheme.grid().extents[0] : held.count());
  allocate_state(exec, held);
}

template <class T, int Dim, class Memory>
Ring<T, Dim, Memory>::Ring(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                           const wave::Model<T, Dim, Memory>& model)
    : m_scheme(scheme),
      m_slots(scheme.grid().extents[0]),
      m_beyond(0),
      m_resident(true),
      m_whole(true),
      m_medium(exec, scheme, all_planes(scheme.grid())) {
  m_medium.load(exec, scheme, model);
  exec.fence();
  allocate_state(exec, all_planes(scheme.grid()));
}

template <class T, int Dim, class Memory>
void Ring<T, Dim, Memory>::allocate_state(const Instance<Memory>& exec, const PlaneRange& held) {
  const wave::Scheme<T, Dim, Memory>& scheme = m_scheme;
  m_parameters = m_medium.arrays();
  const wave::Layout<Dim> layout = scheme.layout(held);
  for (int f = 0; f < scheme.fields(); ++f) {
    for (auto& parity : m_field) {
      parity[f] = wave::make_storage<T>(exec, layout, "moho::stream::ring");
    }
    if (!scheme.always_one_pass() && f < wave::info(scheme.stencil()).work_fields) {
      m_axis_derivative[f] = wave::make_storage<T>(exec, layout, "moho::stream::slope");
    }
  }
  for (const auto& layer : scheme.layers()) {
    // layers across x are few planes, all of which are held
    const std::int64_t size =
        scheme.layer_shape(layer, layer.axis == 0 ? all_planes(scheme.grid()) : held).size;
    for (int f = 0; f < scheme.fields(); ++f) {
      wave::LayerMemory<T, Memory> memory;
      for (auto* view : {&memory.psi_now, &memory.psi_next, &memory.zeta}) {
        *view = allocate<wave::Storage<T, Memory>>(exec, "moho::stream::layer", size);
        if (size > 0) fill(exec, *view, T(0));
      }
      m_layers.push_back(memory);
    }
  }
}

template <class T, int Dim, class Memory>
std::vector<RingPiece> Ring<T, Dim, Memory>::pieces(const StreamRange& range) const {
  std::vector<RingPiece> result;
  if (m_whole) return {{range.planes, 0, 0}};
  const std::int64_t shift = range.position - range.planes.begin;
  for (PlaneRange rest = range.planes; !rest.empty();) {
    const std::int64_t turn = (rest.begin + shift) / m_slots;
    const std::int64_t end = std::min(rest.end, (turn + 1) * m_slots - shift);
    result.push_back({{rest.begin, end}, turn, shift});
    rest.begin = end;
  }
  return result;
}

template <class T, int Dim, class Memory>
wave::Layout<Dim> Ring<T, Dim, Memory>::layout(const RingPiece& piece) const {
  if (m_whole) return m_scheme.layout();
  const std::int64_t first = piece.turn * m_slots - piece.shift;
  return m_scheme.layout(PlaneRange{first - m_beyond, first + m_slots + m_beyond});
}

template <class T, int Dim, class Memory>
wave::MediumCoefficients<T, Dim, Memory> Ring<T, Dim, Memory>::medium(
    const RingPiece& piece) const {
  return m_resident ? m_medium : m_medium.moved(layout(piece));
}

template <class T, int Dim, class Memory>
wave::Wavefield<T, Dim, Memory> Ring<T, Dim, Memory>::wavefield(const RingPiece& piece,
                                                                std::int64_t level) const {
  wave::Wavefield<T, Dim, Memory> result;
  result.layout = layout(piece);
  result.fields = m_scheme.fields();
  result.across_x = all_planes(m_scheme.grid());
  const int parity = static_cast<int>(level & 1);
  for (int f = 0; f < result.fields; ++f) {
    result.now[f] = m_field[parity][f];
    result.next[f] = m_field[1 - parity][f];
    result.axis_derivative[f] = m_axis_derivative[f];
  }
  result.layers = m_layers;
  if (parity == 1) {
    for (auto& layer : result.layers) std::swap(layer.psi_now, layer.psi_next);
  }
  return result;
}

template <class T, int Dim, class Memory>
void Ring<T, Dim, Memory>::mirror(const Instance<Memory>& exec, const RingPiece& piece,
                                  const wave::Storage<T, Memory>& array) const {
  if (m_whole) return;
  const wave::Layout<Dim> layout = this->layout(piece);
  const std::int64_t first = piece.turn * m_slots - piece.shift;  // plane of slot 0
  const auto copy_to = [&](const PlaneRange& planes, std::int64_t distance) {
    if (planes.empty()) return;
    const auto at = [&](std::int64_t plane) {
      const auto begin = static_cast<std::size_t>(layout.plane_begin(plane));
      return Kokkos::subview(
          array, std::pair<std::size_t, std::size_t>(
                     begin, begin + static_cast<std::size_t>(planes.count() * layout.strides[0])));
    };
    copy(exec, at(planes.begin + distance), at(planes.begin));
  };
  copy_to(intersection(piece.planes, PlaneRange{first, first + m_beyond}), m_slots);
  copy_to(intersection(piece.planes, PlaneRange{first + m_slots - m_beyond, first + m_slots}),
          -m_slots);
}

template <class T, int Dim, class Memory>
typename Ring<T, Dim, Memory>::LayerPlanes Ring<T, Dim, Memory>::layer(
    const VolumeShape<T, Dim>& shape, std::size_t number, const RingPiece& piece,
    const PlaneRange& planes, bool zeta, int parity) const {
  const auto& stored = shape.layers[number];
  const auto& memory = m_layers[number];
  LayerPlanes result;
  result.array = zeta ? memory.zeta : (parity == 0 ? memory.psi_now : memory.psi_next);
  result.plane_size = stored.plane_size;
  const std::int64_t origin =
      stored.across_x ? stored.planes.begin : piece.turn * m_slots - piece.shift - m_beyond;
  result.first = (planes.begin - origin) * stored.plane_size;
  return result;
}

template <class T, int Dim, class Memory>
void Ring<T, Dim, Memory>::allocate_sums(const Instance<Memory>& exec,
                                         const typename VolumeShape<T, Dim>::Sums& sums) {
  m_sum_shape = sums;
  m_sum_shape.held = sums.held || m_whole;
  const std::int64_t planes = m_sum_shape.held ? sums.planes.count() : m_slots;
  if (sums.count == 0) return;
  // one allocation: arrays of sums are equally far apart
  const auto each = static_cast<std::size_t>(planes * sums.plane_size);
  const auto all = allocate<wave::Storage<T, Memory>>(exec, "moho::stream::sums",
                                                      static_cast<std::size_t>(sums.count) * each);
  for (int k = 0; k < sums.count; ++k) {
    const std::size_t first = static_cast<std::size_t>(k) * each;
    m_sums.push_back(
        Kokkos::subview(all, std::pair<std::size_t, std::size_t>(first, first + each)));
  }
  clear_sums(exec);
}

template <class T, int Dim, class Memory>
void Ring<T, Dim, Memory>::clear_sums(const Instance<Memory>& exec, int first, int count) {
  const int end = count < 0 ? static_cast<int>(m_sums.size()) : first + count;
  for (int k = first; k < end; ++k) fill(exec, m_sums[static_cast<std::size_t>(k)], T(0));
}

template <class T, int Dim, class Memory>
typename Ring<T, Dim, Memory>::LayerPlanes Ring<T, Dim, Memory>::sums(
    std::size_t number, const RingPiece& piece, const PlaneRange& planes) const {
  const std::int64_t origin =
      m_sum_shape.held ? m_sum_shape.planes.begin : piece.turn * m_slots - piece.shift;
  return {m_sums[number], (planes.begin - origin) * m_sum_shape.plane_size, m_sum_shape.plane_size};
}

template <class T, int Dim, class Memory>
std::size_t Ring<T, Dim, Memory>::bytes() const {
  std::size_t count = 0;
  for (const auto& array : m_parameters) count += array.size();
  for (const auto& parity : m_field) count += parity[0].size() + parity[1].size();
  count += m_axis_derivative[0].size() + m_axis_derivative[1].size();
  for (const auto& array : m_sums) count += array.size();
  for (const auto& layer : m_layers) {
    count += layer.psi_now.size() + layer.psi_next.size() + layer.zeta.size();
  }
  return count * sizeof(T);
}

}  // namespace moho::stream
