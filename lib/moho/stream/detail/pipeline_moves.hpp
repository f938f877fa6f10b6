// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arrival of planes at a Pipeline and their departure (internal).

#include <moho/stream/kernel/pipeline.hpp>

namespace moho::stream {

template <class T, int Dim, class Memory>
typename Pipeline<T, Dim, Memory>::Copies Pipeline<T, Dim, Memory>::copies(
    const StreamRange& range, std::int64_t level, bool parameters,
    const std::vector<PlaneArray<T>>* model, const VolumeState<T>* state) const {
  Copies result;
  const int parity = static_cast<int>(level & 1);
  // `array` returns the volume's planes; it is called only with a volume
  const auto add = [&](const wave::Storage<T, Memory>& on_device, std::int64_t first,
                       const PlaneRange& planes, std::int64_t plane_size, bool waves,
                       const auto& array) {
    T* const host = state != nullptr ? array().at(planes.begin) : nullptr;
    result.push_back({on_device, first, host, planes.count() * plane_size, waves});
  };
  for (const RingPiece& piece : m_ring.pieces(range)) {
    const wave::Layout<Dim> layout = m_ring.layout(piece);
    const std::int64_t first = layout.plane_begin(piece.planes.begin);
    const std::int64_t plane = layout.strides[0];
    for (std::size_t a = 0; a < m_ring.parameters().size(); ++a) {
      if (!parameters || m_ring.resident()) break;
      add(m_ring.parameters()[a], first, piece.planes, plane, false, [&] { return (*model)[a]; });
    }
    for (int f = 0; f < 2 * m_shape.fields; ++f) {
      add(m_ring.field(f % 2, f / 2), first, piece.planes, plane, true,
          [&] { return state->field[f % 2][f / 2]; });
    }
    for (std::size_t n = 0; n < m_shape.layers.size(); ++n) {
      const PlaneRange part = intersection(piece.planes, m_shape.layers[n].planes);
      if (part.empty()) continue;
      for (const bool zeta : {false, true}) {
        const auto memory = m_ring.layer(m_shape, n, piece, part, zeta, parity);
        add(memory.array, memory.first, part, memory.plane_size, true,
            [&] { return zeta ? state->zeta[n] : state->psi[n]; });
      }
    }
    for (std::size_t k = 0; k < carried_sums(); ++k) {
      const PlaneRange part = intersection(piece.planes, m_shape.sums.planes);
      if (part.empty()) continue;
      const auto sums = m_ring.sums(k, piece, part);
      add(sums.array, sums.first, part, sums.plane_size, false, [&] { return state->sums[k]; });
    }
  }
  return result;
}

// Completes every arrival: copies beyond the ends of a turn, and axis derivatives at rest outside.
template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::fill_in(const StreamRange& range) {
  const PlaneRange own = m_schedule->range(range.sweep);
  for (const RingPiece& piece : m_ring.pieces(range)) {
    if (!m_ring.resident()) {
      for (const auto& array : m_ring.parameters()) m_ring.mirror(m_load, piece, array);
    }
    for (int f = 0; f < m_shape.fields; ++f) {
      m_ring.mirror(m_load, piece, m_ring.field(0, f));
      m_ring.mirror(m_load, piece, m_ring.field(1, f));
    }
    // a step does not write outside its box, where layers are at rest
    const int other = 1 - static_cast<int>(m_schedule->first_level(range.sweep, m_device) & 1);
    for (std::size_t n = 0; m_shot.box && n < m_shape.layers.size(); ++n) {
      const PlaneRange part = intersection(piece.planes, m_shape.layers[n].planes);
      if (part.empty()) continue;
      const auto memory = m_ring.layer(m_shape, n, piece, part, false, other);
      fill(m_load,
           detail::device_part<T, Memory>(
               {memory.array, memory.first, nullptr, part.count() * memory.plane_size}),
           T(0));
    }
    if (m_ring.axis_derivative(0).data() == nullptr) continue;
    const wave::Layout<Dim> layout = m_ring.layout(piece);
    for (const PlaneRange& outside :
         {PlaneRange{piece.planes.begin, std::min(piece.planes.end, own.begin)},
          PlaneRange{std::max(piece.planes.begin, own.end), piece.planes.end}}) {
      if (outside.empty()) continue;
      for (int f = 0; f < 2; ++f) {
        fill(m_load,
             detail::device_part<T, Memory>({m_ring.axis_derivative(f),
                                             layout.plane_begin(outside.begin), nullptr,
                                             outside.count() * layout.strides[0]}),
             T(0));
        m_ring.mirror(m_load, {outside, piece.turn, piece.shift}, m_ring.axis_derivative(f));
      }
    }
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::load(const StreamRange& range,
                                    const std::vector<PlaneArray<T>>& parameters,
                                    const VolumeState<T>& state, T* staging, bool at_rest) {
  const std::int64_t level = m_schedule->first_level(range.sweep, m_device);
  for (const auto& part : copies(range, level, true, &parameters, &state)) {
    if (at_rest && part.waves) {
      fill(m_load, detail::device_part(part), T(0));
      continue;
    }
    const auto count = static_cast<std::size_t>(part.count);
    const T* from = part.host;
    if (staging != nullptr) {
      copy(Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()),
           HostElements<T>(staging, count), HostElements<const T>(from, count));
      from = staging;
      staging += part.count;
    }
    copy(m_load, detail::device_part(part), detail::LockedElements<const T, Memory>(from, count));
  }
  fill_in(range);
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::load_from(const Pipeline& before, const StreamRange& range) {
  const std::int64_t level = m_schedule->first_level(range.sweep, m_device);
  const Copies from = before.copies(range, level, true, nullptr, nullptr);
  const Copies to = copies(range, level, true, nullptr, nullptr);
  for (std::size_t k = 0; k < to.size(); ++k) {
    copy(m_load, detail::device_part(to[k]), detail::device_part(from[k]));
  }
  fill_in(range);
}

template <class T, int Dim, class Memory>
typename Pipeline<T, Dim, Memory>::Copies Pipeline<T, Dim, Memory>::written(
    const StreamRange& range, const VolumeState<T>& state) const {
  const StreamRange own = inside(range);
  if (own.planes.empty()) return {};
  const std::int64_t level =
      m_schedule->first_level(range.sweep, m_device) + m_schedule->updates(range.sweep, m_device);
  return copies(own, level, false, nullptr, &state);
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::store(const StreamRange& range, const VolumeState<T>& state,
                                     T* staging) {
  for (const auto& part : written(range, state)) {
    T* const to = staging != nullptr ? staging : part.host;
    copy(m_store, detail::LockedElements<T, Memory>(to, static_cast<std::size_t>(part.count)),
         detail::device_part(part));
    if (staging != nullptr) staging += part.count;
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::unload(const StreamRange& range, const VolumeState<T>& state,
                                      const T* staging) const {
  for (const auto& part : written(range, state)) {
    const auto count = static_cast<std::size_t>(part.count);
    copy(Instance<Kokkos::HostSpace>(Kokkos::DefaultHostExecutionSpace()),
         HostElements<T>(part.host, count), HostElements<const T>(staging, count));
    staging += part.count;
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::unload_message(const StreamRange& range, const VolumeState<T>& state,
                                              const T* buffer) const {
  const PlaneRange own = m_schedule->range(range.sweep);
  // in the order of copies(), without planes of the halo
  const auto put = [&](const PlaneArray<T>& array, const PlaneRange& planes,
                       std::int64_t plane_size) {
    const PlaneRange inside = intersection(planes, own);
    if (!inside.empty()) {
      std::memcpy(array.at(inside.begin), buffer + (inside.begin - planes.begin) * plane_size,
                  static_cast<std::size_t>(inside.count() * plane_size) * sizeof(T));
    }
    buffer += planes.count() * plane_size;
  };
  for (const RingPiece& piece : m_ring.pieces(range)) {
    const std::int64_t plane = m_shape.layout.strides[0];
    if (!m_ring.resident()) buffer += m_shape.parameters * piece.planes.count() * plane;
    for (int f = 0; f < 2 * m_shape.fields; ++f) {
      put(state.field[f % 2][f / 2], piece.planes, plane);
    }
    for (std::size_t n = 0; n < m_shape.layers.size(); ++n) {
      const PlaneRange part = intersection(piece.planes, m_shape.layers[n].planes);
      if (part.empty()) continue;
      put(state.psi[n], part, m_shape.layers[n].plane_size);
      put(state.zeta[n], part, m_shape.layers[n].plane_size);
    }
    for (std::size_t k = 0; k < carried_sums(); ++k) {
      const PlaneRange part = intersection(piece.planes, m_shape.sums.planes);
      if (!part.empty()) put(state.sums[k], part, m_shape.sums.plane_size);
    }
  }
}

template <class T, int Dim, class Memory>
std::int64_t Pipeline<T, Dim, Memory>::staging_elements(std::int64_t planes) const {
  std::int64_t plane = (m_shape.parameters + 2 * m_shape.fields) * m_shape.layout.strides[0];
  for (const auto& layer : m_shape.layers) plane += 2 * layer.plane_size;
  plane += static_cast<std::int64_t>(carried_sums()) * m_shape.sums.plane_size;
  return planes * plane;
}

template <class T, int Dim, class Memory>
std::int64_t Pipeline<T, Dim, Memory>::message_elements(const StreamRange& range) const {
  std::int64_t sum = 0;
  for (const auto& part : copies(range, 0, true, nullptr, nullptr)) sum += part.count;
  return sum;
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::pack(const StreamRange& range, T* buffer) {
  const std::int64_t level =
      m_schedule->first_level(range.sweep, m_device) + m_schedule->updates(range.sweep, m_device);
  for (const auto& part : copies(range, level, true, nullptr, nullptr)) {
    copy(m_store, detail::LockedElements<T, Memory>(buffer, static_cast<std::size_t>(part.count)),
         detail::device_part(part));
    buffer += part.count;
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::unpack(const StreamRange& range, const T* buffer) {
  const std::int64_t level = m_schedule->first_level(range.sweep, m_device);
  for (const auto& part : copies(range, level, true, nullptr, nullptr)) {
    copy(m_load, detail::device_part(part),
         detail::LockedElements<const T, Memory>(buffer, static_cast<std::size_t>(part.count)));
    buffer += part.count;
  }
  fill_in(range);
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::keep_sums(const VolumeState<T>& state) const {
  if (!m_shape.sums.held) return;
  for (std::size_t k = 0; k < m_ring.sum_count(); ++k) {
    const auto sums = m_ring.sums(k, {m_shape.sums.planes, 0, 0}, m_shape.sums.planes);
    const auto count = static_cast<std::size_t>(state.sums[k].size());
    copy(m_store, HostElements<T>(state.sums[k].first, count),
         detail::device_part<T, Memory>({sums.array, 0, nullptr, state.sums[k].size()}));
  }
  m_store.fence();
}

template <class T, int Dim, class Memory>
double Pipeline<T, Dim, Memory>::plane_bytes(bool arrives) const {
  const std::int64_t arrays =
      2 * m_shape.fields + (arrives && !m_ring.resident() ? m_shape.parameters : 0);
  const std::int64_t elements = arrays * m_shape.layout.strides[0] +
                                static_cast<std::int64_t>(carried_sums()) * m_shape.sums.plane_size;
  return static_cast<double>(elements) * static_cast<double>(sizeof(T));
}

}  // namespace moho::stream
