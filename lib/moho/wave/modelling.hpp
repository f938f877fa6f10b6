// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot from its first step to its gather: the loop that steps, injects and records.

#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>
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

/// \brief Says which nodes each step of a shot advances. Elsewhere the wavefield is still at rest.
///
/// Before step `step` (0, 1, 2, ...) box() is asked with the wavefield at time step * dt; it
/// returns the nodes that are to be stepped. The box never shrinks during a shot and always holds
/// the nodes of the sources: model_shot() sees to both, so a policy may say less.
template <class T, int Dim, class Exec>
struct Domain {
  virtual ~Domain() = default;
  /// The nodes of step number `step`.
  virtual Box<Dim> box(const Exec& exec, const Propagator<T, Dim, Exec>& propagator,
                       const Wavefield<T, Dim, Exec>& wavefield, std::int64_t step) = 0;
};

/// The whole grid in every step.
template <class T, int Dim, class Exec>
struct WholeDomain : Domain<T, Dim, Exec> {
  Box<Dim> box(const Exec&, const Propagator<T, Dim, Exec>& propagator,
               const Wavefield<T, Dim, Exec>&, std::int64_t) override {
    return whole_box(propagator.grid());
  }
};

/// How far a shot has come.
struct ShotProgress {
  std::int64_t step = 0;           ///< steps done
  std::int64_t steps = 0;          ///< steps in all
  double seconds = 0.0;            ///< since the first step
  double points_per_second = 0.0;  ///< nodes stepped per second, since the first step
  double seconds_left = 0.0;       ///< as long as the steps to come take what the last ones took
};

/// Options of model_shot().
template <class T, int Dim, class Exec>
struct ShotOptions {
  std::int64_t steps = 0;  ///< time steps, 1 or more; the gather ends at steps * dt
  double interval = 0.0;   ///< seconds between samples of the gather, dt or more; 0: dt
  Domain<T, Dim, Exec>* domain = nullptr;  ///< nodes of every step; null: all of them
  std::int64_t check_every = 200;   ///< look for NaN and overflow every so many steps; 0: never
  std::int64_t snapshot_every = 0;  ///< call `snapshot` every so many steps; 0: never
  /// Called on the host with the wavefield at time step * dt and the nodes stepped so far.
  std::function<void(const Wavefield<T, Dim, Exec>& wavefield, const Box<Dim>& box,
                     std::int64_t step)>
      snapshot = {};
  /// Called on the host about twice a second. It costs a fence each time.
  std::function<void(const ShotProgress&)> progress = {};
};

/// Traces on the host, receivers x samples.
template <class T>
using Traces = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// What model_shot() returns.
template <class T, int Dim, class Exec>
struct ShotResult {
  PointSeries<T, Exec> gather;  ///< in the space, samples x receivers
  Traces<T> traces;             ///< the same on the host, receivers x samples
  double interval = 0.0;        ///< seconds between samples; sample n is at n * interval
  std::int64_t steps = 0;       ///< steps done
  double seconds = 0.0;         ///< that the steps took, with injection and recording
  double points = 0.0;          ///< nodes stepped, all steps together
  double whole_points = 0.0;    ///< nodes of the grid times steps: more than `points` with a domain

  /// Nodes stepped per second.
  double points_per_second() const { return seconds > 0.0 ? points / seconds : 0.0; }
};

/// \brief Options of a PointSet that goes with a propagator: points in the interior, images behind
/// the free surfaces.
/// \param propagator the propagator
/// \param name what messages call a point: "source", "receiver"
/// \param injects false for receivers, which only record
/// \param radius nodes on either side of a point that share in it
template <class T, int Dim, class Exec>
PointOptions<Dim> point_options(const Propagator<T, Dim, Exec>& propagator, const std::string& name,
                                bool injects, int radius = 4) {
  PointOptions<Dim> options;
  options.radius = radius;
  options.name = name;
  options.injects = injects;
  options.interior = propagator.interior();
  const Boundaries<Dim>& faces = propagator.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    options.free_lower[d] = faces.lower[d].kind == FaceKind::free_surface;
    options.free_upper[d] = faces.upper[d].kind == FaceKind::free_surface;
  }
  return options;
}

namespace detail {

/// The smallest box that holds both.
template <int Dim>
Box<Dim> hull(const Box<Dim>& a, const Box<Dim>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box<Dim> result;
  for (int d = 0; d < Dim; ++d) {
    result.lower[d] = std::min(a.lower[d], b.lower[d]);
    result.upper[d] = std::max(a.upper[d], b.upper[d]);
  }
  return result;
}

/// Steps on either side of a sample that interpolation in time takes.
inline constexpr std::int64_t resampling_radius = 32;

/// The weights of resample() for one place between samples: those of samples first ... first + 63.
inline std::vector<double> resampling_weights(double position, std::int64_t& first) {
  constexpr std::int64_t radius = resampling_radius;
  constexpr double b = 20.0;  // as in resample()
  const auto below = static_cast<std::int64_t>(std::floor(position));
  first = below - radius + 1;
  std::vector<double> weights(2 * radius);
  const double scale = 1.0 / bessel_i0(b);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double x = static_cast<double>(first + static_cast<std::int64_t>(k)) - position;
    const double inside = 1.0 - x * x / static_cast<double>(radius * radius);
    weights[k] = inside > 0.0 ? bessel_i0(b * std::sqrt(inside)) * scale * sinc(x) : 0.0;
  }
  return weights;
}

/// Receivers x samples at n * interval from steps x receivers at n * dt.
template <class T>
void resample_traces(const Traces<T>& by_step, double dt, double interval,
                     const Traces<T>& traces) {
  const auto steps = static_cast<std::int64_t>(by_step.extent(0));
  const std::size_t receivers = by_step.extent(1), samples = traces.extent(1);
  std::vector<double> sums(receivers);
  for (std::size_t n = 0; n < samples; ++n) {
    std::int64_t first = 0;
    const double position = static_cast<double>(n) * interval / dt;
    const double nearest = std::floor(position + 0.5);
    std::vector<double> weights{1.0};
    if (std::fabs(position - nearest) < sinc_snap) {
      first = static_cast<std::int64_t>(nearest);
    } else {
      weights = resampling_weights(position, first);
    }
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const std::int64_t row = first + static_cast<std::int64_t>(k);
      if (row < 0 || row >= steps) continue;
      const T* const values = by_step.data() + static_cast<std::size_t>(row) * receivers;
      for (std::size_t r = 0; r < receivers; ++r) {
        sums[r] += weights[k] * static_cast<double>(values[r]);
      }
    }
    for (std::size_t r = 0; r < receivers; ++r) traces(r, n) = static_cast<T>(sums[r]);
  }
}

/// columns x rows from rows x columns, on the host.
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

/// When to report progress next, and what.
class Pace {
 public:
  explicit Pace(std::int64_t steps) { m_report.steps = steps; }
  /// True after the steps after which a report is due.
  bool due(std::int64_t step) const { return step >= m_next; }
  /// What there is to report. The work has to be done: fence before.
  const ShotProgress& report(std::int64_t step, double points) {
    const double now = seconds();
    const std::int64_t steps = std::max<std::int64_t>(step - m_report.step, 1);
    const double latest = (now - m_report.seconds) / static_cast<double>(steps);
    // steps grow with an expanding domain, and other programs come and go
    m_per_step = m_per_step > 0.0 ? 0.75 * m_per_step + 0.25 * latest : latest;
    m_report.step = step;
    m_report.seconds = now;
    m_report.points_per_second = now > 0.0 ? points / now : 0.0;
    m_report.seconds_left = m_per_step * static_cast<double>(m_report.steps - step);
    const double wanted = latest > 0.0 ? 0.5 / latest : 1.0e6;
    // Steps may become slower: never leap more than ten times as far as the last time.
    m_next = step +
             static_cast<std::int64_t>(std::clamp(wanted, 1.0, 10.0 * static_cast<double>(steps)));
    return m_report;
  }
  /// Seconds since it was made.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  ShotProgress m_report;
  std::int64_t m_next = 1;
  double m_per_step = 0.0;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Throws InputError for options that make no sense.
template <class T, int Dim, class Exec>
void check_shot(const Propagator<T, Dim, Exec>& propagator, const Wavefield<T, Dim, Exec>& field,
                const ShotOptions<T, Dim, Exec>& options) {
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
  if (field.layout.size != propagator.layout().size || field.fields == 0) {
    throw InputError(
        "wavefield: it does not belong to the propagator: make it with "
        "Propagator::make_wavefield");
  }
}

}  // namespace detail

/// \brief Models a shot whose sources have an amplitude of their own at every step.
///
/// Time. The wavefield begins at rest at time 0. Step n leads from n dt to (n + 1) dt: the box that
/// the domain says is stepped, v^2 dt^2 / V times the amplitudes of row n is added at the sources
/// (V being the volume of a cell, so that the source is the delta function of the wave equation,
/// and v^2 rho for v^2 where the density varies; in VTI and TTI media to p and to q), and the
/// result becomes the present. Row n thus is S(n dt), and sample n of the gather is p at n times
/// the interval, the first being zero: in three dimensions of constant velocity it is S(t - r / v)
/// / (4 pi r).
///
/// Samples between steps come from band-limited interpolation (32 steps on both sides; as many
/// steps more are taken then).
/// \param exec where everything runs
/// \param propagator of the medium
/// \param wavefield made by the propagator; it is cleared first and holds the last step afterwards
/// \param sources where amplitudes are added
/// \param amplitudes steps x sources; zero beyond its rows
/// \param receivers where p is recorded
/// \param options number of steps, interval, domain, callbacks
/// \throws InputError for options that make no sense, Error when the wavefield is no longer finite
template <class T, int Dim, class Exec>
ShotResult<T, Dim, Exec> model_shot(const Exec& exec, const Propagator<T, Dim, Exec>& propagator,
                                    Wavefield<T, Dim, Exec>& wavefield,
                                    const PointSet<T, Dim, Exec>& sources,
                                    const PointSeries<const T, Exec>& amplitudes,
                                    const PointSet<T, Dim, Exec>& receivers,
                                    const ShotOptions<T, Dim, Exec>& options) {
  detail::check_shot(propagator, wavefield, options);
  const double dt = propagator.dt();
  const Grid<Dim>& grid = propagator.grid();
  const double interval = options.interval > 0.0 ? options.interval : dt;
  const auto samples = static_cast<std::int64_t>(
      std::floor(static_cast<double>(options.steps) * dt / interval * (1.0 + 1e-12)) + 1.0);
  const double ratio = interval / dt;
  const auto stride = static_cast<std::int64_t>(std::llround(ratio));
  const bool resampled =
      std::fabs(ratio - static_cast<double>(stride)) * static_cast<double>(samples) > 1e-6;
  const std::int64_t steps = options.steps + (resampled ? detail::resampling_radius : 0);
  const std::int64_t every = resampled ? 1 : stride;
  const std::int64_t rows = resampled ? steps + 1 : samples;

  auto by_row = allocate<PointSeries<T, Exec>>(exec, "moho::wave::gather", rows, receivers.count());
  const auto amplitude_rows = static_cast<std::int64_t>(amplitudes.extent(0));
  const Box<Dim> whole = whole_box(grid);
  double volume = 1.0;
  for (int d = 0; d < Dim; ++d) volume *= grid.spacing[d];
  const T factor = static_cast<T>(1.0 / volume);

  ShotResult<T, Dim, Exec> result;
  result.interval = interval;
  result.steps = steps;
  wavefield.clear(exec);
  exec.fence();
  detail::Pace pace(steps);
  Box<Dim> box{};
  for (std::int64_t n = 0;; ++n) {
    if (n % every == 0 && n / every < rows) {
      receivers.record(exec, wavefield.now[0], by_row, n / every);
    }
    if (n == steps) break;
    if (options.domain == nullptr) {
      box = whole;
    } else {
      const Box<Dim> asked = options.domain->box(exec, propagator, wavefield, n);
      box = detail::hull(box, intersection(detail::hull(asked, sources.box()), whole));
    }
    propagator.step(exec, wavefield, box);
    for (int f = 0; f < wavefield.fields && n < amplitude_rows; ++f) {
      sources.inject(exec, wavefield.before[f], amplitudes, n, propagator.source_scale(f), factor);
    }
    wavefield.advance();
    result.points += static_cast<double>(box.size());
    result.whole_points += static_cast<double>(whole.size());
    const std::int64_t done = n + 1;
    if (options.check_every > 0 && (done % options.check_every == 0 || done == steps)) {
      check_finite<T, Dim, Exec>(exec, grid, wavefield, box, done);
    }
    if (options.snapshot && options.snapshot_every > 0 && done % options.snapshot_every == 0 &&
        done <= options.steps) {
      options.snapshot(wavefield, box, done);
    }
    if (options.progress && (pace.due(done) || done == steps)) {
      exec.fence();
      options.progress(pace.report(done, result.points));
    }
  }
  exec.fence();
  result.seconds = pace.seconds();

  const auto receiver_count = static_cast<std::size_t>(receivers.count());
  result.traces =
      Traces<T>("moho::wave::traces", receiver_count, static_cast<std::size_t>(samples));
  const Traces<T> on_host =
      allocate<Traces<T>>(Kokkos::DefaultHostExecutionSpace(), "moho::wave::gather on the host",
                          rows, receivers.count());
  Kokkos::deep_copy(on_host, by_row);
  if (!resampled) {
    detail::transpose<T>(on_host, result.traces);
    result.gather = by_row;
    return result;
  }
  detail::resample_traces<T>(on_host, dt, interval, result.traces);
  const Traces<T> by_sample("moho::wave::samples", static_cast<std::size_t>(samples),
                            receiver_count);
  detail::transpose<T>(result.traces, by_sample);
  result.gather =
      allocate<PointSeries<T, Exec>>(exec, "moho::wave::gather", samples, receivers.count());
  exec.fence();
  Kokkos::deep_copy(result.gather, by_sample);
  return result;
}

/// \brief Models a shot whose sources share a wavelet: samples S(0), S(dt), ..., zero afterwards.
///
/// As above. \throws InputError also for samples that are not finite or none, and when the interval
/// is too long for the frequencies of the wavelet
template <class T, int Dim, class Exec>
ShotResult<T, Dim, Exec> model_shot(const Exec& exec, const Propagator<T, Dim, Exec>& propagator,
                                    Wavefield<T, Dim, Exec>& wavefield,
                                    const PointSet<T, Dim, Exec>& sources,
                                    const std::vector<double>& wavelet,
                                    const PointSet<T, Dim, Exec>& receivers,
                                    const ShotOptions<T, Dim, Exec>& options) {
  const double highest = highest_frequency(wavelet, propagator.dt());
  if (options.interval > propagator.dt() && highest > 0.5 / options.interval) {
    throw InputError(concat("interval is ", options.interval, " s (allowed: at most ",
                            0.5 / highest, " s for a wavelet of up to ", highest,
                            " Hz): record more often"));
  }
  const auto rows = static_cast<std::size_t>(
      std::min(static_cast<std::int64_t>(wavelet.size()),
               std::max<std::int64_t>(options.steps, 1) + detail::resampling_radius));
  const auto count = static_cast<std::size_t>(sources.count());
  PointSeries<T, Exec> amplitudes =
      allocate<PointSeries<T, Exec>>(exec, "moho::wave::amplitudes", rows, count);
  const Traces<T> on_host("moho::wave::amplitudes on the host", rows, count);
  for (std::size_t n = 0; n < rows; ++n) {
    for (std::size_t s = 0; s < count; ++s) on_host(n, s) = static_cast<T>(wavelet[n]);
  }
  exec.fence();
  Kokkos::deep_copy(amplitudes, on_host);
  return model_shot<T, Dim, Exec>(exec, propagator, wavefield, sources,
                                  PointSeries<const T, Exec>(amplitudes), receivers, options);
}

/// \brief Models a shot in a wavefield of its own. \throws InputError, Error as above
template <class T, int Dim, class Exec>
ShotResult<T, Dim, Exec> model_shot(const Exec& exec, const Propagator<T, Dim, Exec>& propagator,
                                    const PointSet<T, Dim, Exec>& sources,
                                    const std::vector<double>& wavelet,
                                    const PointSet<T, Dim, Exec>& receivers,
                                    const ShotOptions<T, Dim, Exec>& options) {
  auto wavefield = propagator.make_wavefield(exec);
  return model_shot<T, Dim, Exec>(exec, propagator, wavefield, sources, wavelet, receivers,
                                  options);
}

}  // namespace moho::wave
