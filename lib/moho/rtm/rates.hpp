// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a machine does in a second, measured on it in a moment: for choose_strategy().

#include <moho/core/instances.hpp>
#include <moho/core/order.hpp>
#include <moho/core/phases.hpp>
#include <moho/rtm/codec/codec.hpp>
#include <moho/rtm/strategy.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace moho::rtm {

namespace detail {
/// A spherical wave of a few nodes' length: what codecs are tried on.
template <class T, int Dim>
struct TrialWave {
  T* field;
  wave::Layout<Dim> layout;
  Index<Dim> middle;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const double x = static_cast<double>(node[d] - middle[d]);
      square += x * x;
    }
    const double r = sqrt(square);
    const double a = 0.35 * (r - 24.0);
    field[layout.flat(node)] =
        static_cast<T>((1.0 - 2.0 * a * a * 0.25) * exp(-a * a * 0.25) / (1.0 + 0.05 * r));
  }
};
}  // namespace detail

/// \brief Measures the rates of steps, memory and codecs with the arrays of a run.
///
/// The wavefield is used and left at rest. It takes about as long as ten steps.
/// \param exec where the run will be
/// \param propagator of the run
/// \param wavefield of the propagator
/// \param codecs that are offered
/// \return rates without disk and link
template <class T, int Dim, class Memory>
Rates measure_rates(const InstanceOf<Memory>& exec,
                    const wave::Propagator<T, Dim, Memory>& propagator,
                    wave::Wavefield<T, Dim, Memory>& wavefield,
                    const std::vector<CodecOptions>& codecs);

template <class T, int Dim, class Memory>
Rates measure_rates(const InstanceOf<Memory>& instance,
                    const wave::Propagator<T, Dim, Memory>& propagator,
                    wave::Wavefield<T, Dim, Memory>& wavefield,
                    const std::vector<CodecOptions>& codecs) {
  const Instance<Memory>& exec = instance;
  Rates rates;
  rates.threads = exec.concurrency();
  const Grid<Dim>& grid = propagator.grid();
  wavefield.clear(exec);
  propagator.step(exec, wavefield);  // the first one loads kernels
  exec.fence();
  constexpr int steps = 3;
  {
    const Stopwatch watch;
    for (int n = 0; n < steps; ++n) {
      propagator.step(exec, wavefield);
      wavefield.advance();
    }
    exec.fence();
    rates.points = steps * static_cast<double>(grid.size()) / std::max(watch.seconds(), 1e-9);
  }
  {
    const Stopwatch watch;
    for (int n = 0; n < steps; ++n) copy(exec, wavefield.next[0], wavefield.now[0]);
    exec.fence();
    rates.memory = 2.0 * steps * static_cast<double>(wavefield.now[0].size() * sizeof(T)) /
                   std::max(watch.seconds(), 1e-9);
  }
  // a cube around the middle of the grid with a wave in it
  Box<Dim> box = whole_box(grid);
  detail::TrialWave<T, Dim> wave{wavefield.now[0].data(), wavefield.layout, {}};
  const std::int64_t half = Dim == 3 ? 64 : 256;
  for (int d = 0; d < Dim; ++d) {
    wave.middle[d] = grid.extents[d] / 2;
    box.lower[d] = std::max<std::int64_t>(wave.middle[d] - half, 0);
    box.upper[d] = std::min<std::int64_t>(wave.middle[d] + half, grid.extents[d]);
  }
  launch_box("moho::rtm::trial_wave", exec, box, wave);
  for (const CodecOptions& options : codecs) {
    Codec<T, Dim, Memory> codec(options);
    Packed<Dim, Memory> packed;
    CodecRate rate;
    for (int n = 0; n < 2; ++n) {  // the first time allocates
      const Stopwatch watch;
      codec.encode(exec, wavefield.layout, wavefield.now[0], box, packed);
      exec.fence();
      rate.encode = static_cast<double>(box.size()) * sizeof(T) / std::max(watch.seconds(), 1e-9);
    }
    for (int n = 0; n < 2; ++n) {
      const Stopwatch watch;
      codec.decode(exec, packed, wavefield.layout, wavefield.next[0], box);
      exec.fence();
      rate.decode = static_cast<double>(box.size()) * sizeof(T) / std::max(watch.seconds(), 1e-9);
    }
    rate.ratio = static_cast<double>(box.size()) * sizeof(T) / static_cast<double>(packed.bytes());
    switch (options.mode) {
      case CodecMode::blocks:
        rate.keep = Keep::blocks;
        rate.bits = options.bits;
        rate.snr = options.bits == 8 ? 46.0 : options.bits == 12 ? 70.0 : 94.0;
        rate.bound = std::ldexp(1.0, -(options.bits - 1));
        break;
      case CodecMode::transform:
        rate.keep = Keep::transform;
        rate.snr = options.snr;
        break;
      default:
        rate.keep = Keep::lorenzo;
        rate.bound = options.max_error;
        // errors spread evenly between the bounds, on waves whose rms is a tenth of the largest
        rate.snr = 20.0 * std::log10(0.1 * std::sqrt(3.0) / options.max_error);
    }
    rates.codecs.push_back(rate);
  }
  wavefield.clear(exec);
  exec.fence();
  return rates;
}

#ifdef KOKKOS_ENABLE_CUDA
/// Bytes a second over the link between a device and page-locked memory of the host.
inline double measure_link(const Instance<Kokkos::CudaSpace>& exec) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const Kokkos::View<char*, Kokkos::CudaSpace> here(
      Kokkos::view_alloc("moho::rtm::link", Kokkos::WithoutInitializing), bytes);
  const Kokkos::View<char*, StagingMemory<Kokkos::CudaSpace>> there(
      Kokkos::view_alloc("moho::rtm::link", Kokkos::WithoutInitializing), bytes);
  copy(exec, there, here);
  exec.fence();
  const Stopwatch watch;
  copy(exec, there, here);
  exec.fence();
  return static_cast<double>(bytes) / std::max(watch.seconds(), 1e-9);
}
#endif
/// A host has no link: 0.
inline double measure_link(const Instance<Kokkos::HostSpace>&) { return 0.0; }

}  // namespace moho::rtm

/// \cond
#define MOHO_RTM_RATES(prefix, T, Dim, Memory)                          \
  prefix template Rates measure_rates<T, Dim, Memory>(                  \
      const Instance<Memory>&, const wave::Propagator<T, Dim, Memory>&, \
      wave::Wavefield<T, Dim, Memory>&, const std::vector<CodecOptions>&);
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_RTM_RATES, extern)
}
#endif
/// \endcond
