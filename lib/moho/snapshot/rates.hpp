// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Short measurements of a machine's rates for choose_strategy().

#include <moho/core/instances.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/staging.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/compressed_limit.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::snapshot {

namespace detail {
/// Spherical wave a few nodes long, the test field of codecs.
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

/// \brief Plane waves of many directions, phases and lengths: a diffuse wavefield.
///
/// Late waves of a heterogeneous model are such a field. Of the wavefields of a shot it compresses
/// worst, as all blocks have waves of full amplitude from all directions.
template <class T, int Dim>
struct DiffuseWave {
  static constexpr int count = 24;  ///< plane waves
  T* field;
  wave::Layout<Dim> layout;
  double numbers[count][Dim];  ///< wave numbers along each axis, radians per node
  double phases[count];

  /// \param nodes per shortest wave, along each axis
  DiffuseWave(T* values, const wave::Layout<Dim>& of, const Point<Dim>& nodes)
      : field(values), layout(of) {
    constexpr double pi = 3.14159265358979323846;
    const auto fraction = [](double value) { return value - std::floor(value); };
    for (int n = 0; n < count; ++n) {
      const double number = 2.0 * pi * (0.3 + 0.7 * fraction(0.5698402909980532 * n));
      const double angle = 2.0 * pi * fraction(0.6180339887498949 * n);
      const double down = Dim == 3 ? 1.0 - 2.0 * fraction(0.7548776662466927 * n) : 0.0;
      const double across = std::sqrt(1.0 - down * down);
      const double direction[3] = {across * std::cos(angle), across * std::sin(angle), down};
      for (int d = 0; d < Dim; ++d) numbers[n][d] = number * direction[d] / nodes[d];
      phases[n] = 2.0 * pi * fraction(0.4142135623730951 * n);
    }
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    double sum = 0.0;
    for (int n = 0; n < count; ++n) {
      double phase = phases[n];
      for (int d = 0; d < Dim; ++d) phase += numbers[n][d] * static_cast<double>(node[d]);
      sum += cos(phase);
    }
    field[layout.flat(node)] = static_cast<T>(sum);
  }
};

/// Returns the bytes of the work space of a codec.
/// \param box nodes of a snapshot \param ratio raw over compressed bytes
template <class T, int Dim, class Memory>
double work_bytes(const CodecOptions& options, const Box<Dim>& box, double ratio) {
  if (options.mode == CodecMode::blocks) return 0.0;
  constexpr std::int64_t per = blocks_an_item<Memory>;
  constexpr std::int64_t max = is_host_memory<Memory> ? 8192 : 65536;  // as encode_variable()
  const std::int64_t blocks = (BlockGrid<Dim>(box).size() + per - 1) / per * per;
  const int slot = options.mode == CodecMode::lorenzo ? LorenzoCoder<Dim>::max_bytes
                                                      : TransformCoder<Dim>::max_bytes;
  const double out = 4.0 * static_cast<double>(box.size()) / ratio;
  return static_cast<double>(std::min(blocks, max) * slot) + 1.125 * out;
}

/// Returns the error bound of a codec.
inline CodecRate promise_of(const CodecOptions& options) {
  CodecRate rate;
  switch (options.mode) {
    case CodecMode::blocks:
      rate.keep = StorageMethod::blocks;
      rate.bits = options.bits;
      rate.snr = options.bits == 8 ? 46.0 : options.bits == 12 ? 70.0 : 94.0;
      rate.bound = std::ldexp(1.0, -(options.bits - 1));
      break;
    case CodecMode::transform:
      rate.keep = StorageMethod::transform;
      rate.snr = options.snr;
      break;
    default:
      rate.keep = StorageMethod::lorenzo;
      rate.bound = options.max_error;
      // uniform errors between the bounds, for waves whose rms is a tenth of the largest amplitude
      rate.snr = 20.0 * std::log10(0.1 * std::sqrt(3.0) / options.max_error);
  }
  return rate;
}

/// Returns raw over compressed bytes of a field in a box.
template <class T, int Dim, class Memory>
double measure_ratio(const Instance<Memory>& exec, const CodecOptions& options,
                     const wave::Layout<Dim>& layout, const wave::Storage<T, Memory>& field,
                     const Box<Dim>& box) {
  Codec<T, Dim, Memory> codec(options);
  Packed<Dim, Memory> packed;
  codec.encode(exec, layout, field, box, packed);
  return static_cast<double>(box.size()) * sizeof(T) / static_cast<double>(packed.bytes());
}

/// \brief Returns the bytes of a snapshot of the mode blocks, in memory or in a file.
///
/// They depend on the nodes of its box and on its position among the blocks alone. Without
/// entry_bytes(); with padding and checksums.
/// \param bits of a node \param box nodes of the snapshot
template <int Dim>
double fixed_bytes(int bits, const Box<Dim>& box) {
  PackedHeader<Dim> header;
  header.mode = CodecMode::blocks;
  header.box = box;
  const std::int64_t payload =
      header.first_block() + BlockGrid<Dim>(box).size() * FixedCoder{bits}.block_bytes();
  constexpr auto piece = static_cast<std::int64_t>(checksum_piece);
  return static_cast<double>(payload + Packed<Dim, Kokkos::HostSpace>::padding +
                             4 * (payload / piece));
}

/// Returns a cube around the centre of a box, of at most `half` nodes on each side.
template <int Dim>
Box<Dim> cube_in(const Box<Dim>& box, std::int64_t half) {
  Box<Dim> cube = box;
  for (int d = 0; d < Dim; ++d) {
    const std::int64_t middle = (box.lower[d] + box.upper[d]) / 2;
    cube.lower[d] = std::max(middle - half, box.lower[d]);
    cube.upper[d] = std::min(middle + half, box.upper[d]);
  }
  return cube;
}

/// Returns a codec's rates on the nodes of a box. `decoded` is another field of the layout.
template <class T, int Dim, class Memory>
CodecRate measure_codec(const Instance<Memory>& exec, const CodecOptions& options,
                        const wave::Layout<Dim>& layout, const wave::Storage<T, Memory>& field,
                        const wave::Storage<T, Memory>& decoded, const Box<Dim>& box) {
  CodecRate rate = promise_of(options);
  Codec<T, Dim, Memory> codec(options);
  Packed<Dim, Memory> packed;
  const double bytes = static_cast<double>(box.size()) * sizeof(T);
  for (int n = 0; n < 2; ++n) {  // the first pass allocates
    const Stopwatch watch;
    codec.encode(exec, layout, field, box, packed);
    exec.fence();
    rate.encode = bytes / std::max(watch.seconds(), 1e-9);
  }
  for (int n = 0; n < 2; ++n) {
    const Stopwatch watch;
    codec.decode(exec, packed, layout, decoded, box);
    exec.fence();
    rate.decode = bytes / std::max(watch.seconds(), 1e-9);
  }
  rate.ratio = bytes / static_cast<double>(packed.bytes());
  return rate;
}
}  // namespace detail

/// Returns the nodes of the shortest wave of a propagator along each axis: its smallest velocity
/// over its highest frequency, or what its order requires if the frequency is not known.
template <class T, int Dim, class Memory>
Point<Dim> shortest_wave(const wave::Propagator<T, Dim, Memory>& propagator) {
  const wave::PropagatorOptions<Dim>& options = propagator.options();
  const Grid<Dim>& grid = propagator.grid();
  Point<Dim> nodes{};
  for (int d = 0; d < Dim; ++d) {
    nodes[d] = options.frequency > 0.0
                   ? propagator.limits().min_velocity / (options.frequency * grid.spacing[d])
                   : wave::required_points_per_wavelength(options.order);
  }
  return nodes;
}

/// \brief Sets the ratios of codecs with a fixed number of bits to that of the largest of some
/// compressed snapshots.
/// \param rates with codecs
/// \param raw_bytes uncompressed bytes of the largest snapshot
/// \param boxes nodes of snapshots of the grid of a wavefield; one or more
template <int Dim>
void set_fixed_ratios(Rates& rates, double raw_bytes, const std::vector<Box<Dim>>& boxes) {
  for (CodecRate& rate : rates.codecs) {
    if (rate.keep != StorageMethod::blocks) continue;
    double max = 0.0;
    for (const Box<Dim>& box : boxes) max = std::max(max, detail::fixed_bytes(rate.bits, box));
    rate.ratio = raw_bytes / max;
  }
}

/// \brief Measures the rates of steps, memory and codecs with the arrays of a run.
///
/// Ratios of codecs are those of a diffuse field with the shortest waves of the propagator, with
/// which the bytes of a plan are an upper bound for realistic wavefields. With a fixed number of
/// bits they are those of a snapshot of the propagator's interior.
///
/// The wavefield is overwritten and left at rest. The measurement costs about ten steps.
/// \param exec execution instance of the run
/// \param propagator of the run
/// \param wavefield of the propagator
/// \param codecs codecs to measure
/// \return rates without disk and link
template <class T, int Dim, class Memory>
Rates measure_rates(const InstanceOf<Memory>& exec,
                    const wave::Propagator<T, Dim, Memory>& propagator,
                    wave::Wavefield<T, Dim, Memory>& wavefield,
                    const std::vector<CodecOptions>& codecs);

/// \brief Measures the rate of host threads that compress separate snapshots concurrently.
///
/// The rate is that of one thread on a small cube, times the number of threads. `Memory` is that of
/// the run.
/// \param options of the codec
/// \param threads number of host threads
/// \param shortest nodes of the shortest wave along each axis, of which the ratio is measured
/// \param box nodes of a snapshot, of which the ratio is that of a fixed number of bits
template <class T, int Dim, class Memory>
CodecRate measure_host_codec(const CodecOptions& options, int threads, const Point<Dim>& shortest,
                             const Box<Dim>& box) {
  using Host = Kokkos::HostSpace;
#ifdef KOKKOS_ENABLE_SERIAL
  const Instance<Host> exec = Kokkos::Serial();
#else
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
#endif
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) grid.extents[d] = Dim == 3 ? 64 : 256;
  const auto layout = wave::make_layout<T>(grid, 1);
  const auto field = wave::make_storage<T>(exec, layout, "moho::snapshot::trial");
  const auto decoded = wave::make_storage<T>(exec, layout, "moho::snapshot::trial");
  detail::TrialWave<T, Dim> wave{field.data(), layout, {}};
  for (int d = 0; d < Dim; ++d) wave.middle[d] = grid.extents[d] / 2;
  launch_box("moho::snapshot::trial_wave", exec, whole_box(grid), wave);
  CodecRate rate =
      detail::measure_codec<T, Dim, Host>(exec, options, layout, field, decoded, whole_box(grid));
  Box<Dim> diffuse = whole_box(grid);
  for (int d = 0; d < Dim; ++d) diffuse.upper[d] = std::min(diffuse.upper[d], box.extent(d));
  diffuse = detail::cube_in(diffuse, Dim == 3 ? 24 : 128);
  launch_box("moho::snapshot::diffuse_wave", exec, diffuse,
             detail::DiffuseWave<T, Dim>(field.data(), layout, shortest));
  if (options.mode == CodecMode::blocks) {
    rate.ratio =
        static_cast<double>(box.size()) * sizeof(T) / detail::fixed_bytes(options.bits, box);
  } else {
    rate.ratio = std::min(
        rate.ratio, detail::measure_ratio<T, Dim, Host>(exec, options, layout, field, diffuse));
  }
  rate.entry_bytes = static_cast<double>(detail::entry_bytes<Dim>(options.mode));
  rate.work_bytes = detail::work_bytes<T, Dim, Host>(options, box, rate.ratio);
  rate.host_threads = true;
  rate.encode *= threads;
  rate.decode *= threads;
  return rate;
}

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
  propagator.step(exec, wavefield);  // the first step loads kernels
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
  // a cube around the centre of the grid, with a wave in it
  Box<Dim> box = whole_box(grid);
  detail::TrialWave<T, Dim> wave{wavefield.now[0].data(), wavefield.layout, {}};
  const std::int64_t half = Dim == 3 ? 64 : 256;
  for (int d = 0; d < Dim; ++d) {
    wave.middle[d] = grid.extents[d] / 2;
    box.lower[d] = std::max<std::int64_t>(wave.middle[d] - half, 0);
    box.upper[d] = std::min<std::int64_t>(wave.middle[d] + half, grid.extents[d]);
  }
  launch_box("moho::snapshot::trial_wave", exec, box, wave);
  for (const CodecOptions& options : codecs) {
    rates.codecs.push_back(detail::measure_codec<T, Dim, Memory>(
        exec, options, wavefield.layout, wavefield.now[0], wavefield.next[0], box));
  }
  const Box<Dim> interior = propagator.own(propagator.interior());
  const Box<Dim> diffuse = detail::cube_in(interior, Dim == 3 ? 24 : 128);
  launch_box("moho::snapshot::diffuse_wave", exec, diffuse,
             detail::DiffuseWave<T, Dim>(wavefield.now[0].data(), wavefield.layout,
                                         shortest_wave(propagator)));
  for (std::size_t n = 0; n < codecs.size(); ++n) {
    CodecRate& rate = rates.codecs[n];
    if (codecs[n].mode != CodecMode::blocks) {
      rate.ratio =
          std::min(rate.ratio, detail::measure_ratio<T, Dim, Memory>(
                                   exec, codecs[n], wavefield.layout, wavefield.now[0], diffuse));
    }
    rate.entry_bytes = static_cast<double>(detail::entry_bytes<Dim>(codecs[n].mode));
    rate.work_bytes = detail::work_bytes<T, Dim, Memory>(codecs[n], interior, rate.ratio);
  }
  set_fixed_ratios<Dim>(rates, static_cast<double>(interior.size()) * sizeof(T), {interior});
  wavefield.clear(exec);
  exec.fence();
  return rates;
}

#ifdef KOKKOS_ENABLE_CUDA
/// Returns the bandwidth in B/s between a device and page-locked memory of the host.
inline double measure_link(const Instance<Kokkos::CudaSpace>& exec) {
  constexpr std::size_t bytes = std::size_t{64} << 20;
  const Kokkos::View<char*, Kokkos::CudaSpace> here(
      Kokkos::view_alloc("moho::snapshot::link", Kokkos::WithoutInitializing), bytes);
  const Kokkos::View<char*, StagingMemory<Kokkos::CudaSpace>> pinned(
      Kokkos::view_alloc("moho::snapshot::link", Kokkos::WithoutInitializing), bytes);
  copy(exec, pinned, here);
  exec.fence();
  const Stopwatch watch;
  copy(exec, pinned, here);
  exec.fence();
  return static_cast<double>(bytes) / std::max(watch.seconds(), 1e-9);
}
#endif
/// Returns 0: a host has no such link.
inline double measure_link(const Instance<Kokkos::HostSpace>&) { return 0.0; }

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, measure_rates)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, measure_host_codec)
}  // namespace moho::snapshot
#endif
/// \endcond
