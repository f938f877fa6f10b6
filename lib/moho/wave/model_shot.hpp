// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Modelling of one shot: time steps, injection of sources and recording of receivers.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/exchange.hpp>
#include <moho/wave/detail/section_launch.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/run.hpp>
#include <moho/wave/sinc.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho::wave {

/// Options of model_shot().
template <class T, int Dim, class Memory>
struct ShotOptions {
  std::int64_t steps = 0;  ///< time steps, at least 1; the gather ends at steps * dt
  double interval = 0.0;   ///< sampling interval of the gather in s, at least dt; 0: dt
  Domain<T, Dim, Memory>* domain = nullptr;  ///< nodes of every step; null: the complete grid
  std::int64_t check_every = 200;   ///< steps between checks for NaN and overflow; 0: no checks;
                                    ///< see RunOptions
  std::int64_t snapshot_every = 0;  ///< steps between calls of `snapshot`; 0: no calls
  bool traces = true;               ///< false: the gather alone, unless traces are resampled
  /// Called on the host with the wavefield at time step * dt and the nodes advanced so far.
  std::function<void(const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                     std::int64_t step)>
      snapshot = {};
  /// Called on the host about twice a second. Each call costs a fence.
  std::function<void(const ShotProgress&)> progress = {};
};

/// Traces on the host, receivers x samples.
template <class T>
using Traces = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// Result of model_shot().
template <class T, int Dim, class Memory>
struct ShotResult {
  PointSeries<T, Memory> gather;  ///< samples x receivers, in the space
  Traces<T> traces;               ///< receivers x samples, on the host; see ShotOptions::traces
  double interval = 0.0;          ///< sampling interval, s; sample n is at n * interval
  std::int64_t steps = 0;         ///< steps done
  double seconds = 0.0;           ///< wall time of the steps, with injection and recording
  double points = 0.0;            ///< nodes advanced, summed over all steps
  double whole_points = 0.0;      ///< nodes of the grid times steps; exceeds `points` with a domain
  double domain_seconds = 0.0;  ///< seconds of domain computations, if model_shots() measures them
  BoxHistory<Dim> boxes;        ///< nodes of each step

  /// Returns the nodes advanced per second.
  double points_per_second() const { return seconds > 0.0 ? points / seconds : 0.0; }
};

/// \brief Returns options of a PointSet for a scheme: points in the interior, free-surface images.
/// \param scheme scheme of the wavefield
/// \param name name of a point in messages: "source", "receiver"
/// \param injects false for receivers that only record
/// \param radius nodes on either side of a point that take part in its interpolation
template <class T, int Dim, class Memory>
PointOptions<Dim> point_options(const Scheme<T, Dim, Memory>& scheme, const std::string& name,
                                bool injects, int radius = 4) {
  PointOptions<Dim> options;
  options.radius = radius;
  options.name = name;
  options.injects = injects;
  options.interior = scheme.interior();
  const Boundaries<Dim>& faces = scheme.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    options.free_lower[d] = faces.lower[d].kind == FaceKind::free_surface;
    options.free_upper[d] = faces.upper[d].kind == FaceKind::free_surface;
  }
  return options;
}
/// Returns options of a PointSet for a propagator.
template <class T, int Dim, class Memory>
PointOptions<Dim> point_options(const Propagator<T, Dim, Memory>& propagator,
                                const std::string& name, bool injects, int radius = 4) {
  PointOptions<Dim> options = point_options(propagator.scheme(), name, injects, radius);
  if (propagator.part()) options.recorded = propagator.own_planes();
  return options;
}

namespace detail {

static_assert(largest_section_run == kernel::steps_at_once);

/// Steps on either side of a sample that take part in its interpolation in time.
inline constexpr std::int64_t resampling_radius = 32;

/// Resamples traces: receivers x samples at n * interval from steps x receivers at n * dt.
///
/// One compiled instance serves all programs, so that all obtain the same bits.
template <class T>
void resample_traces(const Traces<T>& by_step, double dt, double interval, const Traces<T>& traces);
extern template void resample_traces<float>(const Traces<float>&, double, double,
                                            const Traces<float>&);
extern template void resample_traces<double>(const Traces<double>&, double, double,
                                             const Traces<double>&);

/// Transposes on the host: columns x rows from rows x columns.
template <class T>
void transpose(const Traces<T>& from, const Traces<T>& to) {
  constexpr std::size_t block = 32;
  const std::size_t rows = from.extent(0), columns = from.extent(1);
  for (std::size_t r0 = 0; r0 < rows; r0 += block) {
    for (std::size_t c0 = 0; c0 < columns; c0 += block) {
      for (std::size_t c = c0; c < std::min(columns, c0 + block); ++c) {
        for (std::size_t r = r0; r < std::min(rows, r0 + block); ++r) to(c, r) = from(r, c);
      }
    }
  }
}

}  // namespace detail

/// Times at which a shot records.
struct ShotSampling {
  double interval = 0.0;     ///< sampling interval, s
  std::int64_t samples = 0;  ///< samples of a trace
  std::int64_t steps = 0;    ///< steps to run; more than requested if samples lie between steps
  std::int64_t every = 1;    ///< steps between rows
  std::int64_t rows = 0;     ///< recorded times; the first is time 0
  bool resampled = false;    ///< true if samples lie between steps

  /// Returns the row of time step * dt; -1 if it is not recorded.
  std::int64_t row_of(std::int64_t step) const {
    return step % every == 0 && step / every < rows ? step / every : -1;
  }
};

/// Returns the sampling of `steps` steps at an interval in s; 0: dt.
inline ShotSampling shot_sampling(double dt, std::int64_t steps, double interval) {
  ShotSampling result;
  result.interval = interval > 0.0 ? interval : dt;
  result.samples = static_cast<std::int64_t>(
      std::floor(static_cast<double>(steps) * dt / result.interval * (1.0 + 1e-12)) + 1.0);
  const double ratio = result.interval / dt;
  const auto stride = static_cast<std::int64_t>(std::llround(ratio));
  result.resampled =
      std::fabs(ratio - static_cast<double>(stride)) * static_cast<double>(result.samples) > 1e-6;
  result.steps = steps + (result.resampled ? detail::resampling_radius : 0);
  result.every = result.resampled ? 1 : stride;
  result.rows = result.resampled ? result.steps + 1 : result.samples;
  return result;
}

/// Returns traces, receivers x samples, from rows x receivers, on the host.
template <class T>
Traces<T> traces_of_rows(const Traces<T>& rows, const ShotSampling& sampling, double dt) {
  const Traces<T> traces(Kokkos::view_alloc("moho::wave::traces", Kokkos::WithoutInitializing),
                         rows.extent(1), static_cast<std::size_t>(sampling.samples));
  if (sampling.resampled) {
    detail::resample_traces<T>(rows, dt, sampling.interval, traces);
  } else {
    detail::transpose<T>(rows, traces);
  }
  return traces;
}

/// Returns the amplitudes of sources with a common wavelet; its length sets the number of steps.
template <class T, class Memory>
PointSeries<T, Memory> wavelet_series(const Instance<Memory>& exec,
                                      const std::vector<double>& wavelet, std::int64_t steps,
                                      std::int64_t sources) {
  const auto rows = std::min(
      wavelet.size(),
      static_cast<std::size_t>(std::max<std::int64_t>(steps, 1) + detail::resampling_radius));
  const auto count = static_cast<std::size_t>(sources);
  const auto amplitudes =
      allocate<PointSeries<T, Memory>>(exec, "moho::wave::amplitudes", rows, count);
  const auto on_host = allocate<Traces<T>>(exec, "moho::wave::amplitudes on the host", rows, count);
  for (std::size_t n = 0; n < rows; ++n) {
    for (std::size_t s = 0; s < count; ++s) on_host(n, s) = static_cast<T>(wavelet[n]);
  }
  if (on_host.size() > 0) copy(exec, amplitudes, on_host);
  exec.fence();
  return amplitudes;
}

namespace detail {

/// Throws InputError for options out of range.
template <class T, int Dim, class Memory>
void check_shot(const Propagator<T, Dim, Memory>& propagator,
                const Wavefield<T, Dim, Memory>& field,
                const ShotOptions<T, Dim, Memory>& options) {
  if (options.steps < 1) {
    throw InputError(concat("steps is ", options.steps,
                            " (allowed: 1 or more): give the time to model over dt"));
  }
  const double dt = propagator.dt();
  if (options.interval != 0.0 &&
      !(options.interval >= dt * (1.0 - 1e-9) && std::isfinite(options.interval))) {
    throw InputError(concat("interval is ", options.interval, " s (allowed: dt, ", dt,
                            " s, or more; 0: dt): take a longer one, or a smaller dt"));
  }
  if (options.check_every < 0 || options.snapshot_every < 0) {
    throw InputError(concat(options.check_every < 0 ? "check_every is " : "snapshot_every is ",
                            std::min(options.check_every, options.snapshot_every),
                            " (allowed: a number of steps, or 0 for never)"));
  }
  if (!(field.layout == propagator.layout()) || field.fields == 0) {
    throw InputError(
        "wavefield: it does not belong to the propagator: make it with "
        "Propagator::make_wavefield");
  }
}

/// Throws InputError for an invalid wavelet, or an interval that is too long for the wavelet.
inline void check_interval(double dt, double interval, const std::vector<double>& wavelet) {
  const double highest = highest_frequency(wavelet, dt);
  if (interval > dt && highest > 0.5 / interval) {
    throw InputError(concat("interval is ", interval, " s (allowed: at most ", 0.5 / highest,
                            " s for a wavelet of up to ", highest, " Hz): record more often"));
  }
}

/// Fills the gather and the traces of a shot from its recorded rows; waits for completion.
template <class T, int Dim, class Memory>
void take_traces(const Instance<Memory>& exec, const ShotSampling& sampling, double dt,
                 const PointSeries<T, Memory>& by_row, bool traces,
                 ShotResult<T, Dim, Memory>& result) {
  result.interval = sampling.interval;
  if (!traces && !sampling.resampled) {
    result.gather = by_row;
    return exec.fence();
  }
  const auto receivers = static_cast<std::int64_t>(by_row.extent(1));
  const Traces<T> on_host =
      allocate<Traces<T>>(exec, "moho::wave::gather on the host", sampling.rows, receivers);
  if (on_host.size() > 0) copy(exec, on_host, by_row);
  exec.fence();
  result.traces = traces_of_rows<T>(on_host, sampling, dt);
  if (!sampling.resampled) {
    result.gather = by_row;
    return;
  }
  const auto by_sample =
      allocate<Traces<T>>(exec, "moho::wave::samples", sampling.samples, receivers);
  transpose<T>(result.traces, by_sample);
  result.gather =
      allocate<PointSeries<T, Memory>>(exec, "moho::wave::gather", sampling.samples, receivers);
  if (by_sample.size() > 0) copy(exec, result.gather, by_sample);
  exec.fence();
}

}  // namespace detail

/// \brief Models a shot whose sources have separate amplitudes at every step.
///
/// The wavefield is at rest at time 0. Step n leads from n dt to (n + 1) dt. It advances the box of
/// the domain and adds v^2 dt^2 / V times the amplitudes of row n at the sources. The result
/// becomes the current time level. V is the volume of a cell, so that the source is the delta
/// function of the wave equation. With variable density v^2 rho replaces v^2; in VTI and TTI media
/// both p and q receive the source.
///
/// Row n is S(n dt). Sample n of the gather is p at n times the interval; the first sample is zero.
/// With constant velocity in three dimensions p is S(t - r / v) / (4 pi r). Samples between steps
/// are interpolated from 32 steps on both sides, which requires 32 additional steps.
/// \param exec execution instance
/// \param propagator of the medium
/// \param wavefield made by the propagator; it is cleared first and holds the last step afterwards
/// \param sources points of injection
/// \param amplitudes steps x sources; zero beyond its rows
/// \param receivers points at which p is recorded
/// \param options number of steps, interval, domain, callbacks
/// \throws InputError for options out of range, NotFinite when the wavefield is no longer finite
template <class T, int Dim, class Memory>
ShotResult<T, Dim, Memory> model_shot(const InstanceOf<Memory>& exec,
                                      const Propagator<T, Dim, Memory>& propagator,
                                      Wavefield<T, Dim, Memory>& wavefield,
                                      const PointSet<T, Dim, Memory>& sources,
                                      const PointSeries<const T, Memory>& amplitudes,
                                      const PointSet<T, Dim, Memory>& receivers,
                                      const ShotOptions<T, Dim, Memory>& options) {
  detail::check_shot(propagator, wavefield, options);
  const double dt = propagator.dt();
  const ShotSampling sampling = shot_sampling(dt, options.steps, options.interval);
  const std::int64_t steps = sampling.steps;

  auto by_row = allocate<PointSeries<T, Memory>>(exec, "moho::wave::gather", sampling.rows,
                                                 receivers.count());

  RunOptions<T, Dim, Memory> run;
  run.last = steps;
  run.domain = options.domain;
  run.min_box = sources.box();
  run.check_every = options.check_every;
  run.progress = options.progress;
  const auto row_of = [&](std::int64_t n) { return sampling.row_of(n); };
  // the current level is recorded with the sources of the step that begins here, or after the last
  run.present = [&](std::int64_t n) {
    if (n == steps && row_of(n) >= 0) {
      receivers.record(exec, wavefield.now[0], by_row, row_of(n), propagator.pressure_factors());
    }
  };
  run.stepped = [&](std::int64_t n, const Box<Dim>&) {
    inject_and_record<T, Dim, Memory>(exec, propagator, wavefield, sources, amplitudes, n,
                                      receivers, by_row, row_of(n));
  };
  if (options.snapshot && options.snapshot_every > 0) {
    run.advanced = [&](std::int64_t done, const Box<Dim>& box) {
      if (done % options.snapshot_every == 0 && done <= options.steps) {
        options.snapshot(wavefield, box, done);
      }
    };
  }
  wavefield.clear(exec);
  if (!run.advanced) {
    run.several = detail::several_steps<T, Dim, Memory>(
        exec, propagator, wavefield,
        [&](auto& runs) {
          runs.inject(
              sources, amplitudes, [&](int f) { return propagator.source_scale(f); },
              kernel::source_factor<T>(propagator.grid()));
          runs.record(receivers, by_row, sampling.every);
        },
        [](auto& runs, std::int64_t time, std::int64_t count) {
          runs.step(time, 1, count, detail::KeepSection<T>{});
          return count;
        });
  }
  const RunReport<Dim> report = run_steps<T, Dim, Memory>(exec, propagator, wavefield, run);

  ShotResult<T, Dim, Memory> result;
  result.steps = steps;
  result.seconds = report.seconds;
  result.points = report.points;
  result.whole_points = report.whole_points;
  result.boxes = report.boxes;
  detail::take_traces(Instance<Memory>(exec), sampling, dt, by_row, options.traces, result);
  return result;
}

/// \brief Models a shot whose sources share a wavelet: samples S(0), S(dt), ..., then zero.
///
/// \throws InputError as above, and for no samples, samples that are not finite, or an interval
///   that is too long for the frequencies of the wavelet
template <class T, int Dim, class Memory>
ShotResult<T, Dim, Memory> model_shot(const InstanceOf<Memory>& exec,
                                      const Propagator<T, Dim, Memory>& propagator,
                                      Wavefield<T, Dim, Memory>& wavefield,
                                      const PointSet<T, Dim, Memory>& sources,
                                      const std::vector<double>& wavelet,
                                      const PointSet<T, Dim, Memory>& receivers,
                                      const ShotOptions<T, Dim, Memory>& options) {
  detail::check_interval(propagator.dt(), options.interval, wavelet);
  const auto amplitudes = wavelet_series<T, Memory>(exec, wavelet, options.steps, sources.count());
  return model_shot<T, Dim, Memory>(exec, propagator, wavefield, sources,
                                    PointSeries<const T, Memory>(amplitudes), receivers, options);
}

/// \brief Models a shot in a separate wavefield. \throws InputError, Error as above
template <class T, int Dim, class Memory>
ShotResult<T, Dim, Memory> model_shot(const InstanceOf<Memory>& exec,
                                      const Propagator<T, Dim, Memory>& propagator,
                                      const PointSet<T, Dim, Memory>& sources,
                                      const std::vector<double>& wavelet,
                                      const PointSet<T, Dim, Memory>& receivers,
                                      const ShotOptions<T, Dim, Memory>& options) {
  auto wavefield = propagator.make_wavefield(exec);
  return model_shot<T, Dim, Memory>(exec, propagator, wavefield, sources, wavelet, receivers,
                                    options);
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_MODEL_SHOT(prefix, T, Dim, Memory)                                               \
  prefix ShotResult<T, Dim, Memory> model_shot<T, Dim, Memory>(                                    \
      const Instance<Memory>&, const Propagator<T, Dim, Memory>&, Wavefield<T, Dim, Memory>&,      \
      const PointSet<T, Dim, Memory>&, const PointSeries<const T, Memory>&,                        \
      const PointSet<T, Dim, Memory>&, const ShotOptions<T, Dim, Memory>&);                        \
  prefix ShotResult<T, Dim, Memory> model_shot<T, Dim, Memory>(                                    \
      const Instance<Memory>&, const Propagator<T, Dim, Memory>&, Wavefield<T, Dim, Memory>&,      \
      const PointSet<T, Dim, Memory>&, const std::vector<double>&,                                 \
      const PointSet<T, Dim, Memory>&, const ShotOptions<T, Dim, Memory>&);                        \
  prefix ShotResult<T, Dim, Memory> model_shot<T, Dim, Memory>(                                    \
      const Instance<Memory>&, const Propagator<T, Dim, Memory>&, const PointSet<T, Dim, Memory>&, \
      const std::vector<double>&, const PointSet<T, Dim, Memory>&,                                 \
      const ShotOptions<T, Dim, Memory>&);
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_WAVE_MODEL_SHOT, extern template)
}  // namespace moho::wave
#endif
/// \endcond
