// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Measured costs of a stream beyond steps and bytes: launches, copies of planes, fences.

#include <moho/core/event.hpp>
#include <moho/core/launch.hpp>
#include <moho/stream/detail/prepare.hpp>
#include <moho/stream/kernel/pipeline.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/rates.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::stream {

/// Returns the stages of a schedule on its first device.
inline double count_stages(const Schedule& schedule) {
  double count = 0.0;
  for (std::int64_t i = 0; i < schedule.iterations(); ++i) {
    count += static_cast<double>(schedule.iteration(i).stages.size());
  }
  return count;
}

/// \brief Measures the check of leaving planes for finite values and, on hosts, copies of planes.
/// \param exec execution instance of the steps; the function waits for it
/// \param scheme of the volume
/// \param rates receives look, and for hosts memory
template <class T, int Dim, class Memory>
void measure_moves(const InstanceOf<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                   StreamRates& rates) {
  const Instance<Memory>& instance = exec;
  const std::int64_t plane = scheme.layout().strides[0] * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t planes = std::clamp<std::int64_t>(
      (std::int64_t(16) << 20) / plane, 1, std::min<std::int64_t>(scheme.grid().extents[0], 64));
  const wave::Layout<Dim> layout = scheme.layout(PlaneRange{0, planes});
  const auto size = static_cast<std::size_t>(layout.size);
  using Array = Kokkos::View<T*, Memory>;
  const auto from = allocate<Array>(instance, "moho::stream::from", size);
  const auto to = allocate<Array>(instance, "moho::stream::to", size);
  const auto bad =
      allocate<Kokkos::View<std::int64_t*, Memory>>(instance, "moho::stream::bad", std::size_t(1));
  detail::fill_with_noise(instance, wave::Storage<T, Memory>(from.data(), size), -1.0, 1.0);
  fill(instance, bad, BadValue::none);
  instance.fence();
  const auto rate = [&](double bytes, const auto& once) {
    Event<Memory> begin, end;
    double seconds = 0.0;
    int count = 4;
    for (;; count *= 4) {
      begin.record(instance);
      for (int n = 0; n < count; ++n) once();
      end.record(instance);
      end.wait();
      seconds = end.seconds_since(begin);
      if (seconds > 0.002 || count > 100000) break;
    }
    return bytes * count / std::max(seconds, 1e-9);
  };
  const std::int64_t looked = planes * layout.strides[0];
  rates.look = rate(static_cast<double>(looked) * sizeof(T), [&] {
    launch("moho::stream::find_bad", instance, looked,
           detail::FindBad<T, Dim>{from.data(), layout, 0, layout.plane_begin(0), 0, 0,
                                   scheme.grid().size(), bad.data()});
  });
  if constexpr (is_host_memory<Memory>) {
    rates.memory =
        rate(2.0 * static_cast<double>(size) * sizeof(T), [&] { copy(instance, to, from); });
  }
}

namespace detail {

/// Returns layers of at most two nodes, of the same kinds.
template <int Dim>
wave::Boundaries<Dim> thin_layers(wave::Boundaries<Dim> faces) {
  for (int d = 0; d < Dim; ++d) {
    for (wave::Face* const face : {&faces.lower[d], &faces.upper[d]}) {
      face->width = std::min(face->width, 2);
    }
  }
  return faces;
}

/// Returns the grid of launch measurements: 64 planes of as few nodes as a step allows.
template <int Dim>
Grid<Dim> small_grid(const Grid<Dim>& grid, int order) {
  Grid<Dim> small = grid;
  for (int d = 0; d < Dim; ++d) small.extents[d] = d == 0 ? 64 : std::max(order + 1, 9);
  return small;
}

/// Returns a shot in the middle of a grid, whose receivers are spread over its inner planes.
template <int Dim>
wave::Shot<Dim> small_shot(const Grid<Dim>& grid, std::int64_t receivers) {
  wave::Shot<Dim> shot;
  Point<Dim> point = grid.origin;
  for (int d = 0; d < Dim; ++d) {
    point[d] += static_cast<double>(grid.extents[d] / 2) * grid.spacing[d];
  }
  shot.sources = {point};
  for (std::int64_t r = 0; r < std::min<std::int64_t>(receivers, 100000); ++r) {
    point[0] =
        grid.origin[0] + static_cast<double>(1 + r % (grid.extents[0] - 2)) * grid.spacing[0];
    shot.receivers.push_back(point);
  }
  return shot;
}

/// Returns a wavelet scaled to a largest magnitude of 1, which avoids overflow in measurements.
inline std::vector<double> unit_wavelet(std::vector<double> wavelet) {
  double largest = 0.0;
  for (const double value : wavelet) largest = std::max(largest, std::fabs(value));
  if (largest > 0.0) {
    for (double& value : wavelet) value /= largest;
  }
  return wavelet;
}

/// Returns a model with the values of its first node on all nodes of a grid.
template <class T, int Dim>
wave::Model<T, Dim, Kokkos::HostSpace> uniform_model(
    const wave::Model<T, Dim, Kokkos::HostSpace>& model, const Grid<Dim>& grid) {
  using Host = Kokkos::HostSpace;
  return changed_model<T, Dim, Host>(model, [&](const Field<T, Dim, Host>& field) {
    const auto constant = make_field<T>(host_instance(), grid, "moho::stream::constant");
    std::fill_n(constant.data(), constant.size(), field.data()[0]);
    return constant;
  });
}

}  // namespace detail

}  // namespace moho::stream
