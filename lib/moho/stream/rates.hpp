// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Measured rates of steps on slabs of planes, and of transfers of planes.

#include <moho/core/device_instances.hpp>
#include <moho/core/event.hpp>
#include <moho/core/launch.hpp>
#include <moho/core/staging.hpp>
#include <moho/stream/plan.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::stream {

/// \brief Returns nodes per second of steps on slabs of given planes, in the middle of the grid.
///
/// The measurement allocates arrays of the largest slab. Smaller slabs alternate over all of these
/// arrays, because the stages of a stream do not find their planes in a cache either. The arrays
/// hold noise, and a device steps for half a second, or a twentieth of the run, before the
/// measurement. A device at its power limit lowers its clock rate, which it does not do on zeros.
///
/// \param exec execution instance of the steps; the function waits for it
/// \param scheme of the volume
/// \param planes of slabs, ascending
/// \param run steps of the run; negative: many
template <class T, int Dim, class Memory>
std::vector<StreamRates::Slab> measure_slabs(const InstanceOf<Memory>& exec,
                                             const wave::Scheme<T, Dim, Memory>& scheme,
                                             const std::vector<std::int64_t>& planes,
                                             std::int64_t run = -1);

/// Measures B/s to and from the device in concurrent transfers; zero for hosts.
///
/// It allocates page-locked buffers for the measurement.
template <class Memory>
void measure_link(const Instance<Memory>& exec, StreamRates& rates);

namespace detail {

/// Functor that writes numbers between low and high that do not repeat within 2^32 elements.
template <class T>
struct FillWithNoise {
  T* values;
  double low, high;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    auto word = static_cast<std::uint32_t>(n) * 2654435761u;
    word = (word ^ (word >> 15)) * 2246822519u;
    word ^= word >> 13;
    values[n] = static_cast<T>(low + (high - low) * (word / 4294967296.0));
  }
};

template <class T, class Memory>
void fill_with_noise(const Instance<Memory>& exec, const wave::Storage<T, Memory>& values,
                     double low, double high) {
  if (values.size() == 0) return;
  launch("moho::stream::noise", exec, static_cast<std::int64_t>(values.size()),
         FillWithNoise<T>{values.data(), low, high});
}

}  // namespace detail

/// \brief Measures rates of slabs and of the link, within the memory that a plan may use.
///
/// If not even the smallest slab fits, no steps are measured and its rate is set to 1e9 nodes/s:
/// plan_stream() refuses such a volume with the memory that it needs.
///
/// \param exec execution instance of the steps; the function waits for it
/// \param scheme of the volume
/// \param need of the volume
/// \param wishes device memory in bytes (0: any) and block (0: usual slabs are measured)
/// \param rates receives slabs, link and memory; other members are unchanged
template <class T, int Dim, class Memory>
void measure_rates(const InstanceOf<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                   const StreamRequirements& need, const StreamRequest& wishes,
                   StreamRates& rates) {
  std::vector<std::int64_t> slabs{4, 8, 16, 24, 32, 48, 64, 96, 128, 192};
  if (wishes.block > 0) slabs = {wishes.block};
  const auto plane = static_cast<std::size_t>((2 * need.fields + need.parameters + need.work) *
                                              need.plane_elements * need.scalar);
  // at most a part of the allowed memory
  const auto fits = [&](std::int64_t planes) {
    return wishes.device_memory == 0 ||
           plane * static_cast<std::size_t>(planes + 4 * need.shape.reach) <= wishes.device_memory;
  };
  while (slabs.size() > 1 && !fits(slabs.back())) slabs.pop_back();
  if (fits(slabs.front())) {
    rates.slabs = measure_slabs<T, Dim, Memory>(exec, scheme, slabs);
  } else {
    rates.slabs = {{slabs.front(), 1e9}};
  }
  const Instance<Memory>& instance = exec;
  measure_link(instance, rates);
}

template <class T, int Dim, class Memory>
std::vector<StreamRates::Slab> measure_slabs(const InstanceOf<Memory>& exec,
                                             const wave::Scheme<T, Dim, Memory>& scheme,
                                             const std::vector<std::int64_t>& planes,
                                             std::int64_t run) {
  std::vector<StreamRates::Slab> result;
  if (planes.empty()) return result;
  const Instance<Memory>& instance = exec;
  const std::int64_t extent = scheme.grid().extents[0], reach = scheme.reach(0);
  const std::int64_t max = std::min(planes.back() + 2 * reach, extent);
  const std::int64_t begin = (extent - max) / 2;
  const PlaneRange window{begin, begin + max};
  const wave::MediumCoefficients<T, Dim, Memory> arrays =
      wave::MediumCoefficients<T, Dim, Memory>::ring(instance, scheme, max);
  const auto medium = arrays.moved(scheme.layout(window));
  auto field = wave::make_wavefield<T, Dim, Memory>(instance, scheme, window);
  // the written field alternates between two values, for any parameters
  for (const auto& array : arrays.arrays()) detail::fill_with_noise(instance, array, 0.4, 0.6);
  for (int f = 0; f < field.fields; ++f) {
    detail::fill_with_noise(instance, field.now[f], -1.0, 1.0);
    detail::fill_with_noise(instance, field.next[f], -1.0, 1.0);
  }
  const bool one_pass = scheme.always_one_pass();
  if (one_pass) field.axis_derivative[0] = field.axis_derivative[1] = {};
  const double min_seconds = is_host_memory<Memory> ? 0.02 : 0.05;
  // of a short run a twentieth suffices
  const std::int64_t enough = run < 0 ? std::int64_t(100000) : std::max<std::int64_t>(run / 20, 8);
  bool warm = is_host_memory<Memory>;
  // the largest first: it draws the most power
  for (auto at = planes.rbegin(); at != planes.rend(); ++at) {
    const std::int64_t wanted = *at;
    Box<Dim> box = whole_box(scheme.grid());
    box.lower[0] = begin == 0 ? 0 : begin + reach;
    const std::int64_t end_of_all = window.end == extent ? extent : window.end - reach;
    box.upper[0] = std::min(box.lower[0] + wanted, end_of_all);
    if (box.empty()) continue;
    const std::int64_t depth = box.upper[0] - box.lower[0];
    // slabs that the grid clips to the same size are one
    if (!result.empty() && result.back().planes == depth) continue;
    const std::int64_t positions = std::max<std::int64_t>((end_of_all - box.lower[0]) / depth, 1);
    std::int64_t position = 0;
    // neighbouring slabs share axis derivatives in a stream: only the slab's own count
    const auto once = [&] {
      Box<Dim> slab = box;
      slab.lower[0] += position * depth;
      slab.upper[0] += position * depth;
      position = (position + 1) % positions;
      if (one_pass) {
        wave::step<T, Dim, Memory>(instance, scheme, medium, field, slab);
        return;
      }
      wave::compute_axis_derivatives<T, Dim, Memory>(instance, scheme, medium, field, slab);
      wave::step_from_axis_derivatives<T, Dim, Memory>(instance, scheme, medium, field, slab);
    };
    once();
    instance.fence();
    Event<Memory> start, end;
    std::int64_t count = 2;
    double seconds = 0.0;
    for (;; count *= 2) {
      start.record(instance);
      for (std::int64_t n = 0; n < count; ++n) once();
      end.record(instance);
      end.wait();
      seconds = end.seconds_since(start);
      if (warm && (seconds > min_seconds || count >= enough)) break;
      if (!warm && (seconds > 0.5 || count >= enough)) {
        warm = true;
        count = std::max<std::int64_t>(count / 16, 1);
      }
    }
    result.push_back(
        {box.upper[0] - box.lower[0],
         static_cast<double>(count) * static_cast<double>(box.size()) / std::max(seconds, 1e-9)});
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a.planes < b.planes; });
  return result;
}

template <class Memory>
void measure_link(const Instance<Memory>& exec, StreamRates& rates) {
  if constexpr (!is_host_memory<Memory>) {
    constexpr std::size_t bytes = std::size_t(128) << 20;
    const Instance<Memory> in = new_instance(exec), out = new_instance(exec);
    using Locked = Kokkos::View<char*, StagingMemory<Memory>>;
    using Device = Kokkos::View<char*, Memory>;
    const Locked host_in("moho::stream::link", bytes), host_out("moho::stream::link", bytes);
    const auto device_in = allocate<Device>(exec, "moho::stream::link", bytes);
    const auto device_out = allocate<Device>(exec, "moho::stream::link", bytes);
    exec.fence();
    Event<Memory> begin_in, end_in, begin_out, end_out;
    constexpr int count = 6;
    for (int round = 0; round < 2; ++round) {
      begin_in.record(in);
      begin_out.record(out);
      for (int n = 0; n < count; ++n) {
        copy(in, device_in, host_in);
        copy(out, host_out, device_out);
      }
      end_in.record(in);
      end_out.record(out);
      end_in.wait();
      end_out.wait();
    }
    rates.in = count * static_cast<double>(bytes) / end_in.seconds_since(begin_in);
    rates.out = count * static_cast<double>(bytes) / end_out.seconds_since(begin_out);
    // bandwidth of the device's memory that transfers use
    const auto other = allocate<Device>(exec, "moho::stream::link", bytes);
    Event<Memory> begin, end;
    for (int round = 0; round < 2; ++round) {
      begin.record(exec);
      for (int n = 0; n < count; ++n) copy(exec, other, device_in);
      end.record(exec);
      end.wait();
    }
    rates.memory = 2.0 * count * static_cast<double>(bytes) / end.seconds_since(begin);
  } else {
    (void)exec, (void)rates;
  }
}

}  // namespace moho::stream
