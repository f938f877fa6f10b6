// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/summary.hpp"
#include "model_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/rtm/expand.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/source_region.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace moho::examples::model_waves {

namespace detail {

// Calls a function; the message of an InputError gets the option's name in front.
template <class Function>
auto blame(const std::string& option, const Function& function) {
  try {
    return function();
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
}

template <class View, int Dim>
View wrap(typename View::value_type* data, const Grid<Dim>& grid) {
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> to_field(const Instance<Memory>& exec, const Job<T, Dim>& job,
                               const char* option) {
  using Host = Kokkos::HostSpace;
  const auto found = job.values->find(option);
  if (found == job.values->end()) return {};
  if constexpr (is_host_memory<Memory>) {
    return wrap<Field<T, Dim, Memory>>(found->second.data(), job.grid);
  } else {
    auto field = make_field<T>(exec, job.grid, option);
    copy(exec, field, wrap<Field<T, Dim, Host>>(found->second.data(), job.grid));
    return field;
  }
}

// The library names parameters, the user knows options and files.
template <class T, int Dim, class Memory>
void check_parameters(const Instance<Memory>& exec, const Job<T, Dim>& job,
                      const wave::Model<T, Dim, Memory>& model) {
  try {
    wave::check_model<T, Dim, Memory>(exec, job.grid, model);
  } catch (const InputError& error) {
    const std::string text = error.what();
    const auto colon = text.find(':');
    std::string option = text.substr(0, colon);
    if (option == "density") option = "rho";
    const auto name = job.names.find(option);
    if (colon == std::string::npos || name == job.names.end()) throw;
    throw InputError(name->second + text.substr(colon) +
                     (text.find("radians") != std::string::npos
                          ? " (angles in degrees are read with --degrees)"
                          : ""));
  }
}

// How far delta goes over into epsilon around sources: 0 where they are in elliptical media anyway.
template <class T, int Dim>
double taper_radius(const Job<T, Dim>& job, double frequency) {
  if (job.equations != wave::Equations::self_adjoint || job.source_taper == 0.0) return 0.0;
  const auto at = [&](const char* name, std::int64_t i) {
    const auto found = job.values->find(name);
    return found == job.values->end()
               ? 0.0
               : static_cast<double>(found->second[static_cast<std::size_t>(i)]);
  };
  if (job.values->count("epsilon") == 0 && job.values->count("delta") == 0) return 0.0;
  const int around = wave::PointOptions<Dim>().radius;  // nodes that share in a source
  bool elliptical = true;
  double fastest = 0.0;
  for (const wave::Shot<Dim>& shot : job.shots) {
    for (const Point<Dim>& source : shot.sources) {
      Box<Dim> box;
      for (int d = 0; d < Dim; ++d) {
        const auto node = static_cast<std::int64_t>(
            std::llround((source[d] - job.grid.origin[d]) / job.grid.spacing[d]));
        box.lower[d] = std::clamp<std::int64_t>(node - around, 0, job.grid.extents[d] - 1);
        box.upper[d] = std::clamp<std::int64_t>(node + around, 0, job.grid.extents[d] - 1) + 1;
      }
      for (std::int64_t n = 0; n < box.size(); ++n) {
        const std::int64_t i = job.grid.flat(box.node(n));
        // a larger delta is lowered to epsilon
        elliptical = elliptical && !(at("epsilon", i) - at("delta", i) > 1e-3);
        fastest = std::max(fastest, at("vp", i));
      }
    }
  }
  if (elliptical) return 0.0;
  return job.source_taper ? *job.source_taper : 2.0 * fastest / frequency;
}

// Bytes in the space: model, extended model, what kernels read, and the wavefield.
template <class T, int Dim>
std::size_t estimate(const Grid<Dim>& grid, const Grid<Dim>& extended, const Job<T, Dim>& job,
                     wave::Medium medium, bool host, bool tapered) {
  const auto parameters = static_cast<std::int64_t>(job.values->size()) + (tapered ? 1 : 0);
  const std::int64_t padded = wave::make_layout<T>(extended, job.order / 2).size;
  std::int64_t arrays = 2 * wave::fields_of(medium) + 1;
  if (medium == wave::Medium::variable_density) arrays += 1;
  if (medium == wave::Medium::vti) arrays += 3;
  if (medium == wave::Medium::tti) arrays += 3 + Dim + 2;
  return sizeof(T) *
         static_cast<std::size_t>((host ? (tapered ? 1 : 0) : parameters) * grid.size() +
                                  parameters * extended.size() + arrays * padded);
}

// Throws unless all sources and receivers are where they may be.
template <class T, int Dim, class Memory>
void check_points(const Instance<Memory>& exec, const Job<T, Dim>& job,
                  const wave::Propagator<T, Dim, Memory>& propagator) {
  for (const wave::Shot<Dim>& shot : job.shots) {
    const std::string of = job.shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    blame(job.sources_name, [&] {
      wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(), shot.sources,
                                     wave::point_options(propagator, of + "source", true));
    });
    blame(job.receivers_name, [&] {
      wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(), shot.receivers,
                                     wave::point_options(propagator, of + "receiver", false));
    });
  }
}

// Hands the wavefield out on the model's grid.
template <class T, int Dim, class Memory>
class Snapshots {
 public:
  Snapshots(const Instance<Memory>& exec, const Job<T, Dim>& job,
            const wave::Propagator<T, Dim, Memory>& propagator)
      : m_exec(exec), m_job(job), m_interior(propagator.interior()) {}

  void take(const wave::Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) {
    m_exec.fence();
    const Stopwatch watch;
    const T* host = wavefield.now[0].data();
    if constexpr (!is_host_memory<Memory>) {
      m_host.resize(wavefield.now[0].size());
      copy(m_exec, HostElements<T>(m_host.data(), m_host.size()), wavefield.now[0]);
      m_exec.fence();
      host = m_host.data();
    }
    m_values.resize(static_cast<std::size_t>(m_interior.size()));
    // row by row
    Box<Dim> rows = m_interior;
    rows.upper[Dim - 1] = rows.lower[Dim - 1] + 1;
    const auto length = static_cast<std::size_t>(m_interior.extent(Dim - 1));
    for (std::int64_t row = 0; row < rows.size(); ++row) {
      const T* const from = host + wavefield.layout.flat(rows.node(row));
      std::copy(from, from + length, m_values.data() + static_cast<std::size_t>(row) * length);
    }
    m_job.snapshot(step, m_values);
    m_seconds += watch.seconds();
  }
  double seconds() const { return m_seconds; }

 private:
  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  Box<Dim> m_interior;
  std::vector<T> m_host;
  std::vector<T> m_values;
  double m_seconds = 0.0;
};

}  // namespace detail

template <class T, int Dim, class Memory>
Report compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  Report out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  const Grid<Dim>& grid = job.grid;
  const Grid<Dim> extended_grid = wave::extended_grid(grid, job.boundaries);
  for (int d = 0; d < Dim; ++d) out.extended.push_back(extended_grid.extents[d]);

  wave::Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, out.phases, "transfer");
    model.vp = detail::to_field<T, Dim>(exec, job, "vp");
    model.density = detail::to_field<T, Dim>(exec, job, "rho");
    model.epsilon = detail::to_field<T, Dim>(exec, job, "epsilon");
    model.delta = detail::to_field<T, Dim>(exec, job, "delta");
    model.theta = detail::to_field<T, Dim>(exec, job, "theta");
    model.phi = detail::to_field<T, Dim>(exec, job, "phi");
  }
  std::vector<double> wavelet;
  wave::PropagatorOptions<Dim> options;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, out.phases, "check");
    out.medium = model.medium();
    detail::check_parameters<T, Dim, Memory>(exec, job, model);
    detail::blame("--boundary",
                  [&] { wave::check_boundaries(extended_grid, job.boundaries, out.medium); });
    out.limits =
        wave::limits_of<T, Dim, Memory>(exec, grid, model, job.order, job.equations, job.sigma);
    if (job.time.dt > 0.0) {
      detail::blame("--dt", [&] { wave::check_dt(job.time.dt, out.limits); });
    }
    out.plan =
        make_plan(job.time, out.limits.largest_dt, static_cast<double>(grid.size()) * sizeof(T));
    detail::blame("--dt", [&] { wave::check_dt(out.plan.dt, out.limits); });
    detail::blame(job.wavelet_name, [&] {
      wavelet = job.wavelet(out.plan.dt);
      out.frequency = wave::highest_frequency(wavelet, out.plan.dt);
      wave::check_dispersion(grid, out.limits, job.order, out.frequency);
    });
    if (out.frequency > 0.5 / out.plan.interval) {
      throw InputError(concat("--interval is ", out.plan.interval, " s (allowed: at most ",
                              0.5 / out.frequency, " s for a wavelet of up to ", out.frequency,
                              " Hz): record more often"));
    }
    const auto largest = std::max_element(wavelet.begin(), wavelet.end(), [](double a, double b) {
      return std::fabs(a) < std::fabs(b);
    });
    out.peak_time = static_cast<double>(largest - wavelet.begin()) * out.plan.dt;
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
    out.nodes_per_wave = out.limits.least_velocity / (out.frequency * spacing);
    out.nodes_per_wave_wanted = wave::required_points_per_wavelength(job.order);
    out.source_taper = detail::taper_radius(job, out.frequency);
    out.bytes = detail::estimate(grid, extended_grid, job, out.medium, is_host_memory<Memory>,
                                 out.source_taper > 0.0);
    const std::size_t there = memory_budget(exec);
    if (out.bytes > there) {
      throw MemoryError(concat("memory: the model of ", shape_string(extended_grid),
                               " nodes and its wavefield take ",
                               format_bytes(static_cast<double>(out.bytes)),
                               " (allowed: ", format_bytes(static_cast<double>(there)),
                               ", what is free): take fewer nodes, thinner layers or "
                               "--precision float"));
    }
    options.dt = out.plan.dt;
    options.order = job.order;
    options.boundaries = job.boundaries;
    options.frequency = out.frequency;
    options.equations = job.equations;
    options.sigma = job.sigma;
  }
  wave::RandomLayerOptions random;
  random.seed = job.seed;
  // random layers stay as fast as the grid can carry
  double spacing = 0.0;
  for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
  random.floor = 1.001 * out.nodes_per_wave_wanted * out.frequency * spacing;
  // in some directions waves are slower than the velocity along the axis
  double slowing = 0.0;
  for (const char* name : {"epsilon", "delta"}) {
    const auto found = job.values->find(name);
    if (found == job.values->end()) continue;
    for (const T value : found->second) slowing = std::min(slowing, static_cast<double>(value));
  }
  random.floor /= std::sqrt(1.0 + 2.0 * slowing);

  wave::Model<T, Dim, Memory> extended;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, out.phases, "prepare");
    if (out.source_taper > 0.0) {
      Points<Dim> sources;
      for (const wave::Shot<Dim>& shot : job.shots) {
        sources.insert(sources.end(), shot.sources.begin(), shot.sources.end());
      }
      model.delta = wave::taper_delta<T, Dim, Memory>(exec, grid, model, sources, out.source_taper);
    }
    extended = wave::extend_model<T, Dim, Memory>(exec, grid, model, job.boundaries, random);
    exec.fence();
    model = {};
  }
  const Stopwatch preparing;
  const wave::Propagator<T, Dim, Memory> propagator(exec, extended_grid, extended, options);
  detail::check_points<T, Dim, Memory>(exec, job, propagator);
  if (job.expand != rtm::Expansion::layers && job.expand != rtm::Expansion::eikonal) extended = {};
  auto wavefield = propagator.make_wavefield(exec);
  exec.fence();
  out.phases.add("prepare", preparing.seconds());
  if (job.begins) job.begins(out);

  for (std::size_t k = 0; k < job.shots.size(); ++k) {
    if (job.is_there && job.is_there(k)) continue;
    const wave::Shot<Dim>& shot = job.shots[k];
    const Stopwatch shot_preparing;
    const wave::PointSet<T, Dim, Memory> sources(exec, extended_grid, propagator.layout(),
                                                 shot.sources,
                                                 wave::point_options(propagator, "source", true));
    const wave::PointSet<T, Dim, Memory> receivers(
        exec, extended_grid, propagator.layout(), shot.receivers,
        wave::point_options(propagator, "receiver", false));
    rtm::DomainOptions domain_options;
    domain_options.onset = rtm::onset(wavelet, out.plan.dt);
    domain_options.frequency = out.frequency;
    const auto domain = rtm::make_domain<T, Dim, Memory>(job.expand, exec, propagator, extended,
                                                         sources, domain_options);
    exec.fence();
    out.phases.add("prepare", shot_preparing.seconds());

    detail::Snapshots<T, Dim, Memory> snapshots(exec, job, propagator);
    wave::ShotOptions<T, Dim, Memory> shot_options;
    shot_options.steps = out.plan.steps;
    shot_options.interval = out.plan.interval;
    if (job.expand != rtm::Expansion::none) shot_options.domain = domain.get();
    if (k == 0 && out.plan.snapshot_every > 0 && job.snapshot) {
      shot_options.snapshot_every = out.plan.snapshot_every;
      shot_options.snapshot = [&](const wave::Wavefield<T, Dim, Memory>& field, const Box<Dim>&,
                                  std::int64_t step) { snapshots.take(field, step); };
    }
    if (job.progress) {
      shot_options.progress = [&](const wave::ShotProgress& now) {
        const auto shots = static_cast<double>(job.shots.size());
        const double per_shot = now.seconds + now.seconds_left;
        const double left =
            now.seconds_left + per_shot * static_cast<double>(job.shots.size() - 1 - k);
        const double part = static_cast<double>(now.step) / static_cast<double>(now.steps);
        job.progress(
            (static_cast<double>(k) + part) / shots,
            concat(job.shots.size() > 1 ? concat("shot ", k + 1, " of ", job.shots.size(), ", ")
                                        : std::string(),
                   format_count(now.points_per_second), "points/s, ", std::llround(left),
                   " s left"));
      };
    }
    const wave::ShotResult<T, Dim, Memory> result = wave::model_shot<T, Dim, Memory>(
        exec, propagator, wavefield, sources, wavelet, receivers, shot_options);
    const double seconds = std::max(result.seconds - snapshots.seconds(), 0.0);
    out.phases.add("steps", seconds);
    if (k == 0 && out.plan.snapshot_every > 0) out.phases.add("snapshots", snapshots.seconds());
    out.seconds += seconds;
    out.points += result.points;
    out.whole_points += result.whole_points;
    out.domain_seconds += domain->report().seconds();
    job.gather(k,
               Gather<T>{result.traces.data(), static_cast<std::int64_t>(result.traces.extent(0)),
                         static_cast<std::int64_t>(result.traces.extent(1))});
  }
  return out;
}

/// The four kinds of call on one memory.
#define MOHO_MODEL_WAVES(Memory)                                                                 \
  template Report compute_on<float, 2, Memory>(const Instance<Memory>&, const Job<float, 2>&);   \
  template Report compute_on<float, 3, Memory>(const Instance<Memory>&, const Job<float, 3>&);   \
  template Report compute_on<double, 2, Memory>(const Instance<Memory>&, const Job<double, 2>&); \
  template Report compute_on<double, 3, Memory>(const Instance<Memory>&, const Job<double, 3>&)

}  // namespace moho::examples::model_waves
