// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/format.hpp"
#include "common/summary.hpp"
#include "invert_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/fwi/lbfgs.hpp>
#include <moho/rtm/replay_store.hpp>
#include <moho/rtm/reverse.hpp>
#include <moho/rtm/stores.hpp>
#include <moho/rtm/strategy.hpp>
#include <moho/wave/driver.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace moho::examples::invert_waves {

namespace detail {

/// A parameter of a model by its option.
template <class ModelType>
auto& field_of(ModelType& model, const std::string& option) {
  if (option == "rho") return model.density;
  if (option == "epsilon") return model.epsilon;
  if (option == "delta") return model.delta;
  return model.vp;
}

/// A parameter from the unknowns: that of the start times exp(x), or plus x times a scale.
template <class T>
struct FromUnknowns {
  const T *x, *start;
  T* values;
  bool logarithm;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::exp;
    const double change = static_cast<double>(x[i]), from = static_cast<double>(start[i]);
    values[i] = static_cast<T>(logarithm ? from * exp(change) : from + scale * change);
  }
};
/// Adds a shot's derivative by a parameter to that by the unknowns.
template <class T>
struct AddDerivative {
  const T *derivative, *values;
  double* sum;
  bool logarithm;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    sum[i] +=
        static_cast<double>(derivative[i]) * (logarithm ? static_cast<double>(values[i]) : scale);
  }
};
/// Sums as numbers of the run.
template <class T>
struct Rounded {
  const double* sum;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = static_cast<T>(sum[i]);
  }
};

/// Inverts, band after band.
template <class T, int Dim, class Memory>
class Inversion {
 public:
  Inversion(const Instance<Memory>& exec, const Job<T, Dim>& job, PhaseTimes& phases)
      : m_exec(exec),
        m_job(job),
        m_o(*job.options),
        m_phases(phases),
        m_arena("moho::fwi::source", arena_piece) {
    for (const std::string& name : m_o.unknowns) {
      if (name == "rho") m_unknowns.density = true;
      if (name == "epsilon" || name == "delta") m_unknowns.anisotropy = true;
    }
  }

  void run() {
    {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "plan");
      plan();
    }
    if (!m_job.begins(m_plan)) return;
    {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "data");
      load_data();
    }
    begin_search();
    const int bands = std::max<int>(static_cast<int>(m_o.bands.size()), 1);
    for (int band = m_job.state.empty() ? 0 : m_job.band; band < bands; ++band) {
      const bool fresh = m_job.state.empty() || band > m_job.band;
      set_band(band, m_start);
      m_in_band = fresh ? 0 : m_job.in_band;
      if (fresh) {
        if (band > 0) m_search->restart(m_exec);
        m_search->extend(m_search->iterations() + m_o.iterations, 0, 0.0);
      }
      while (m_search->wants() == fwi::Want::evaluation) advance(band, bands);
      m_job.band_over(band, m_search->message(), found());
    }
    gather_middle();
    if (m_o.extended) extend();
  }

 private:
  // elements of a piece: a device takes memory slowly, a host gives out what is touched
  static constexpr std::int64_t arena_piece = std::int64_t{1} << (is_host_memory<Memory> ? 20 : 26);
  using Modelling = wave::Modelling<T, Dim, Memory>;
  using Model = wave::Model<T, Dim, Memory>;
  using Vector = Kokkos::View<T*, Memory>;
  using Doubles = Kokkos::View<double*, Memory>;

  template <class Function>
  auto in_words(const Function& function) const {
    try {
      return function();
    } catch (const InputError& error) {
      throw InputError(in_options(error.what(), m_job.names,
                                  {{"sources", m_job.sources_name},
                                   {"receivers", m_job.receivers_name},
                                   {"wavelet", m_job.wavelet_name}}));
    }
  }

  std::int64_t nodes() const { return m_job.grid.size(); }
  double frequency_of(int band) const {
    return m_o.bands.empty() ? 0.0 : m_o.bands[static_cast<std::size_t>(band)];
  }

  // A model of the greatest or least values that bounds allow, for limits of the time step.
  Model extreme(bool greatest) {
    Model model = m_start;
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      if (name == "rho" || name == "delta") continue;
      auto field = make_field<T>(m_exec, m_job.grid, name);
      fill(m_exec, field,
           static_cast<T>(greatest ? m_plan.bounds[u].second : m_plan.bounds[u].first));
      field_of(model, name) = field;
    }
    return model;
  }
  std::pair<double, double>& bound_of_vp() {
    const auto found = std::find(m_o.unknowns.begin(), m_o.unknowns.end(), "vp");
    return m_plan.bounds[static_cast<std::size_t>(found - m_o.unknowns.begin())];
  }
  wave::Limits limits_of(const Model& model) const {
    return wave::limits_of<T, Dim, Memory>(m_exec, m_job.grid, model, m_options.order,
                                           m_options.equations, m_options.sigma);
  }

  void plan() {
    m_plan.device = device_name(m_exec);
    m_plan.threads = m_exec.concurrency();
    m_options = m_job.modelling;
    m_options.memory = std::size_t{1} << 62;  // looked at below, with all that an inversion takes
    if (m_unknowns.anisotropy && !m_options.source_taper) m_needs_taper = true;
    for (const auto& shot : m_job.shots) {
      m_options.receivers =
          std::max(m_options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
      m_options.sources.insert(m_options.sources.end(), shot.sources.begin(), shot.sources.end());
    }
    double data_dt = 0.0;
    if (m_job.true_values != nullptr) {
      try {
        m_true = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.true_values);
        wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_true);
        data_dt = limits_of(m_true).largest_dt;
      } catch (const InputError& error) {
        throw InputError(in_options(error.what(), m_job.true_names, {}));
      }
    }
    in_words([&] {
      m_start = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.values);
      wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_start);
      return 0;
    });
    m_plan.bounds = m_job.bounds;
    m_plan.limits = limits_of(m_start);
    // bounds that nobody asked for are no reason to refuse a time step
    const bool free_bounds = m_o.bounds.count("vp") == 0;
    m_plan.largest_dt = limits_of(extreme(true)).largest_dt;
    if (free_bounds && m_options.time.dt >= m_plan.largest_dt &&
        m_options.time.dt < m_plan.limits.largest_dt) {
      bound_of_vp().second *= 0.9999 * m_plan.largest_dt / m_options.time.dt;
      m_plan.largest_dt = limits_of(extreme(true)).largest_dt;
    }
    if (data_dt > 0.0) m_plan.largest_dt = std::min(m_plan.largest_dt, data_dt);
    if (m_options.time.dt == 0.0) {
      m_options.time.dt = std::floor(0.9 * m_plan.largest_dt * 1e6) * 1e-6;
      if (!(m_options.time.dt > 0.0)) m_options.time.dt = 0.9 * m_plan.largest_dt;
    } else if (m_options.time.dt >= m_plan.largest_dt) {
      throw InputError(concat("--dt is ", m_options.time.dt, " s (allowed: below ",
                              m_plan.largest_dt,
                              " s, for models up to the bounds): take a smaller one, or lower the "
                              "greatest value of --bounds"));
    }
    m_options.time.snapshot_every = 0.0;
    const int last = std::max<int>(static_cast<int>(m_o.bands.size()), 1) - 1;
    set_band(last, m_start);
    const auto& p = m_modelling->plan();
    m_plan.medium = p.medium;
    m_plan.time = p.time;
    m_plan.frequency = p.frequency;
    m_plan.nodes_per_wave = p.nodes_per_wave;
    m_plan.every = m_gradients->every();
    for (int d = 0; d < Dim; ++d) m_plan.nodes.push_back(p.grid.extents[d]);
    m_plan.unknowns = static_cast<double>(m_o.unknowns.size()) * static_cast<double>(nodes());
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, m_job.grid.spacing[d]);
    const double wanted = p.nodes_per_wave_wanted * p.frequency * spacing;
    const double slowest = limits_of(extreme(false)).least_velocity;
    if (free_bounds && slowest < wanted) bound_of_vp().first *= 1.0001 * wanted / slowest;
    try {
      wave::check_dispersion(m_job.grid, limits_of(extreme(false)), m_options.order, p.frequency);
    } catch (const InputError& error) {
      throw InputError(concat("--bounds: with the least velocity, ", error.what()));
    }
    for (const auto& shot : m_job.shots) {
      m_plan.data_bytes += static_cast<double>(shot.receivers.size()) *
                           static_cast<double>(p.time.steps + 1) * 2.0 * sizeof(float);
    }
    check_lags();
    choose_source_field();
    m_plan.seconds = estimate();
  }

  // Seconds of an evaluation.
  double estimate() {
    auto& field = m_modelling->wavefield();
    field.clear(m_exec);
    wave::RunOptions<T, Dim, Memory> run;
    run.last = 2;
    wave::run_steps<T, Dim, Memory>(m_exec, m_modelling->propagator(), field, run);
    run.last = 12;
    const auto report =
        wave::run_steps<T, Dim, Memory>(m_exec, m_modelling->propagator(), field, run);
    const double legs =
        m_plan.source_field == SourceField::random || m_plan.source_field == SourceField::replay
            ? 4.4
            : 3.4;
    return legs * report.seconds / 10.0 * static_cast<double>(m_plan.time.steps) *
           static_cast<double>(m_job.shots.size());
  }

  void check_lags() {
    const std::size_t asked = is_host_memory<Memory> ? m_o.memory : m_o.device_memory;
    m_plan.budget = static_cast<double>(memory_budget(m_exec, asked));
    if (!m_o.extended) return;
    for (int d = 0; d < 2; ++d) {
      const std::int64_t lag = d == 0 ? m_o.lags.x : m_o.lags.y;
      const std::int64_t most = Dim == 2 && d == 1 ? 0 : (m_job.grid.extents[d] - 1) / 2;
      if (lag <= most) continue;
      throw InputError(concat("--lags: the largest along ", d == 0 ? "x" : "y", " is ", lag,
                              " nodes (allowed: 0 to ", most, ", half of the model): take fewer"));
    }
    const auto bytes = [&](const fwi::Lags& lags) {
      return fwi::ExtendedImage<T, Dim, Memory>::bytes_of(m_gradients->box(), lags);
    };
    m_plan.lags_bytes = bytes(m_o.lags);
    if (m_plan.lags_bytes <= 0.9 * m_plan.budget) return;
    fwi::Lags fitting = m_o.lags;
    while (fitting.x > 0 && bytes(fitting) > 0.9 * m_plan.budget) {
      --fitting.x;
      fitting.y = std::min(fitting.x, fitting.y);
    }
    throw InputError(concat("--lags: ", m_o.lags.count(), " lags take ",
                            format_bytes(m_plan.lags_bytes),
                            " (allowed: ", format_bytes(m_plan.budget),
                            " in all): ", fitting.count(), " would fit, --lags ", fitting.x,
                            Dim == 3 && m_o.lags.y > 0 ? concat(",", fitting.y) : ""));
  }

  // The extended image of the result, of all shots.
  void extend() {
    const Stopwatch watch;
    m_extended.emplace(m_exec, m_gradients->box(), m_o.lags);
    Evaluation ignored;
    m_band_text = "extended image, ";
    evaluate(ignored);
    m_extended->flush(m_exec);
    Extension<T> extension;
    extension.values = download(m_exec, m_extended->values());
    double square = 0.0;
    for (const T value : extension.values) {
      square += 0.5 * static_cast<double>(value) * static_cast<double>(value);
    }
    if (square > 0.0) extension.focus = m_extended->focus(m_exec, m_job.grid) / square;
    m_extended.reset();
    m_phases.add("extend", watch.seconds());
    m_job.extended(extension);
  }

  void choose_source_field() {
    const auto& scheme = m_modelling->propagator().scheme();
    const auto each = static_cast<double>(sizeof(T) * static_cast<std::size_t>(scheme.fields()));
    const auto steps = static_cast<double>(m_plan.time.steps);
    const double state = 2.0 * each * static_cast<double>(scheme.layout().size);
    const double snapshot = each * static_cast<double>(m_gradients->snapshot_nodes());
    const double shell = each * steps *
                             static_cast<double>(rtm::ReverseStore<T, Dim, Memory>::kept_nodes(
                                 scheme, m_gradients->outside())) +
                         state + snapshot;
    const double stored = snapshot * std::floor(steps / static_cast<double>(m_plan.every));
    const double search = (2.0 * m_o.memory_pairs + 8.0) * m_plan.unknowns * sizeof(T);
    m_plan.fixed_bytes = static_cast<double>(m_modelling->plan().memory.most) +
                         static_cast<double>(m_gradients->bytes()) + search + 8.0 * m_plan.unknowns;
    if (m_o.source_field == SourceField::random) m_plan.fixed_bytes += 2.0 * state;
    m_plan.fixed_bytes += m_plan.lags_bytes;
    const double room = m_plan.budget - m_plan.fixed_bytes;
    const auto take = [&](SourceField way, double bytes) {
      m_plan.source_field = way;
      m_plan.source_bytes = bytes;
      return bytes <= room;
    };
    const double snapshots = std::max(1.0, std::floor(steps / static_cast<double>(m_plan.every)));
    // pieces of about the square root of all, so that states and a piece take the least together
    m_states = static_cast<std::int64_t>(std::clamp(std::sqrt(snapshots), 2.0, 40.0));
    m_piece = static_cast<std::int64_t>(std::ceil(snapshots / static_cast<double>(m_states + 1)));
    const double replay =
        state * static_cast<double>(m_states + 1) + snapshot * static_cast<double>(m_piece);
    bool fits = false;
    switch (m_o.source_field) {
      case SourceField::shell:
        fits = take(SourceField::shell, shell);
        break;
      case SourceField::random:
        fits = take(SourceField::random, snapshot);
        break;
      case SourceField::stored:
        fits = take(SourceField::stored, stored);
        break;
      case SourceField::replay:
        fits = take(SourceField::replay, replay);
        break;
      default:
        fits = take(SourceField::shell, shell) || take(SourceField::replay, replay);
    }
    if (fits) return;
    throw InputError(
        concat("--source-field ", invert_waves::to_string(m_o.source_field), ": it takes ",
               format_bytes(m_plan.source_bytes), " besides ", format_bytes(m_plan.fixed_bytes),
               " (allowed: ", format_bytes(m_plan.budget),
               " in all): take another way, fewer steps, a coarser grid, or more memory (--memory, "
               "--device-memory)"));
  }

  // The wavelet of a band, as long as the run: the filter rings on.
  wave::WaveletAt wavelet_of(int band) const {
    const double corner = frequency_of(band), time = m_options.time.time;
    const wave::WaveletAt given = m_job.wavelet;
    if (corner == 0.0) return given;
    return [=](double dt) {
      std::vector<double> samples = given(dt);
      const auto count = static_cast<std::size_t>(std::ceil(time / dt)) + 2;
      if (samples.size() < count) samples.resize(count, 0.0);
      fwi::low_pass(samples, static_cast<std::int64_t>(samples.size()), dt, corner);
      return samples;
    };
  }

  Modelling make(const Model& model, const wave::WaveletAt& wavelet) const {
    wave::ModellingOptions<Dim> options = m_options;
    if (m_needs_taper) {
      // a start without anisotropy would have no taper, and get one later
      const wave::ModellingPlan<Dim> p = wave::plan_modelling<T, Dim, Memory>(
          m_exec, m_job.grid, model, m_job.boundaries, wavelet, options);
      options.source_taper = 2.0 * p.limits.greatest_velocity / p.frequency;
    }
    return wave::make_modelling(m_exec, m_job.grid, model, m_job.boundaries, wavelet, options);
  }

  void set_band(int band, const Model& start) {
    const wave::WaveletAt wavelet = wavelet_of(band);
    m_gradients.reset();
    in_words([&] {
      // of the start in every band: what faces do must not move with the model
      m_modelling.emplace(make(start, wavelet));
      return 0;
    });
    const auto& p = m_modelling->plan();
    const std::int64_t rule =
        std::max<std::int64_t>(rtm::snapshot_interval(p.wavelet, p.time.dt) / 2, 1);
    const std::int64_t every = std::min(m_o.every > 0 ? m_o.every : rule, p.time.steps);
    m_gradients.emplace(m_exec, m_modelling->propagator(), m_unknowns, every);
    m_receivers.assign(m_job.shots.size(), {});
    m_observed = m_data;
    m_size = 0.0;
    for (fwi::ObservedShot& shot : m_observed) {
      if (frequency_of(band) > 0.0) {
        fwi::low_pass(shot.samples, shot.count, shot.dt, frequency_of(band));
      }
      m_size += size_of(shot);
    }
  }

  // The misfit of a shot without a model.
  double size_of(const fwi::ObservedShot& shot) const {
    std::vector<float> nothing(shot.samples.size(), 0.0f), ignored;
    return fwi::shot_misfit(m_o.misfit, shot, nothing, ignored);
  }

  void load_data() {
    const auto& p = m_modelling->plan();
    std::optional<Modelling> modelling;
    if (!m_job.gather) {
      try {
        // behind the same faces as the shots to come, whose layers go by the velocities of the
        // start
        const bool same = m_true.medium() == m_start.medium();
        modelling.emplace(make(same ? m_start : m_true, m_job.wavelet));
      } catch (const InputError& error) {
        throw InputError(in_options(error.what(), m_job.true_names,
                                    {{"sources", m_job.sources_name},
                                     {"receivers", m_job.receivers_name},
                                     {"wavelet", m_job.wavelet_name}}));
      }
    }
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      fwi::ObservedShot shot;
      wave::Shot<Dim> geometry = m_job.shots[k];
      shot.dt = p.time.dt;
      shot.count = p.time.steps + 1;
      shot.name = concat("shot ", geometry.number);
      if (modelling) {
        shot.samples = model_gather(*modelling, m_true, geometry);
      } else {
        read_gather(k, shot, geometry);
      }
      shot.receivers = static_cast<std::int64_t>(geometry.receivers.size());
      weigh(geometry, shot);
      try {
        fwi::check_observed(shot);
      } catch (const InputError& error) {
        throw InputError(concat(m_job.data_name, ": ", error.what()));
      }
      m_shots.push_back(geometry);
      m_data.push_back(std::move(shot));
      if (m_job.progress) {
        m_job.progress(0.0, concat("data of shot ", k + 1, " of ", m_job.shots.size()));
      }
    }
  }

  // Traces of a shot, receivers x samples.
  std::vector<float> model_gather(Modelling& modelling, const Model& model,
                                  const wave::Shot<Dim>& shot) const {
    modelling.update(m_exec, model, shot.sources);
    wave::ShotOptions<T, Dim, Memory> options;
    options.steps = modelling.plan().time.steps;
    options.check_every = 200;
    const auto result = modelling.shot(m_exec, shot, options);
    return std::vector<float>(result.traces.data(), result.traces.data() + result.traces.size());
  }

  void read_gather(std::size_t k, fwi::ObservedShot& shot, wave::Shot<Dim>& geometry) const {
    rtm::ShotGather<Dim> gather = m_job.gather(k);
    if (gather.shot.receivers.empty()) {
      throw InputError(concat(m_job.data_name, ": ", gather.name,
                              " has no live trace (allowed: shots with data): leave it out"));
    }
    const auto& p = m_modelling->plan();
    const double end = gather.t0 + gather.dt * static_cast<double>(gather.count - 1);
    const double time = p.time.dt * static_cast<double>(p.time.steps);
    if (end < time - 1.5 * std::max(gather.dt, p.time.dt) && m_o.time > 0.0) {
      throw InputError(concat("--time is ", m_o.time, " s, and the traces of ", gather.name,
                              " end at ", end,
                              " s (allowed: no longer than the data): shorten it"));
    }
    rtm::PrepareOptions options;
    options.dt = p.time.dt;
    options.samples = p.time.steps + 1;
    options.zero = m_o.zero;
    options.wavelet = rtm::wavelet_times(m_job.wavelet(p.time.dt), p.time.dt);
    rtm::PreparedShot<Dim> data = rtm::prepare(gather, options);
    shot.samples = std::move(data.samples);
    geometry = data.shot;
  }

  void weigh(const wave::Shot<Dim>& geometry, fwi::ObservedShot& shot) const {
    const Point<Dim>& source = geometry.sources.front();
    for (const Point<Dim>& receiver : geometry.receivers) {
      double square = 0.0;
      for (int d = 0; d + 1 < Dim; ++d) {
        square += (receiver[d] - source[d]) * (receiver[d] - source[d]);
      }
      shot.weights.push_back(fwi::offset_weight(m_o.offset_weights, std::sqrt(square)));
      if (m_o.mute.kind == rtm::MuteOptions::Kind::none) continue;
      const double depth = receiver[Dim - 1] - source[Dim - 1];
      shot.begins.push_back(std::sqrt(square + depth * depth) / m_o.mute.velocity +
                            std::max(m_o.mute.delay, 0.0));
    }
    shot.taper = m_o.mute.taper >= 0.0 ? m_o.mute.taper : 0.5 / m_plan.frequency;
  }

  bool logarithm(const std::string& name) const {
    return m_o.logarithms && (name == "vp" || name == "rho");
  }

  void begin_search() {
    const auto count = static_cast<std::size_t>(m_plan.unknowns);
    const std::vector<T> start(count, T(0));
    std::vector<T> lower(count), upper(count);
    const auto each = static_cast<std::size_t>(nodes());
    for (std::size_t u = 0; u < m_o.unknowns.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      const std::vector<T>& values = m_job.values->at(name);
      double mean = 0.0;
      for (const T value : values) mean += std::fabs(static_cast<double>(value));
      mean /= static_cast<double>(each);
      const bool log = logarithm(name);
      // epsilon and delta are about as large as relative changes of the velocity
      const double scale = log || name == "epsilon" || name == "delta" ? 1.0 : mean;
      m_scales.push_back(scale);
      const auto [least, greatest] = m_plan.bounds[u];
      for (std::size_t i = 0; i < each; ++i) {
        const double value = static_cast<double>(values[i]);
        const auto to = [&](double bound) {
          return static_cast<T>(log ? std::log(bound / value) : (bound - value) / scale);
        };
        // what the mask keeps may be beyond the bounds
        lower[u * each + i] = std::min(to(least), T(0));
        upper[u * each + i] = std::max(to(greatest), T(0));
      }
      m_fields.push_back(make_field<T>(m_exec, m_job.grid, name));
    }
    m_sum = allocate<Doubles>(m_exec, "moho::fwi::sum", count);
    m_light = allocate<Doubles>(m_exec, "moho::fwi::light", each);
    m_gradient = allocate<Vector>(m_exec, "moho::fwi::gradient", count);
    if (!m_job.state.empty()) {
      m_search.emplace(fwi::Lbfgs<T, Memory>::load(m_exec, m_job.state));
      if (m_search->count() != static_cast<std::int64_t>(count)) {
        throw InputError(concat("--resume: the search in ", m_job.state.string(), " has ",
                                m_search->count(), " unknowns (allowed: ", count,
                                "): leave --resume out to begin again"));
      }
      return;
    }
    fwi::LbfgsOptions options;
    options.memory = m_o.memory_pairs;
    options.first_change = m_o.first_change;
    options.gradient = 1e-12;
    std::vector<unsigned char> mask;
    for (std::size_t u = 0; u < m_o.unknowns.size() && !m_job.mask.empty(); ++u) {
      mask.insert(mask.end(), m_job.mask.begin(), m_job.mask.end());
    }
    fwi::Constraints<T, Memory> constraints{
        upload(m_exec, lower, "lower"), upload(m_exec, upper, "upper"), {}};
    if (!mask.empty()) constraints.mask = upload(m_exec, mask, "mask");
    m_search.emplace(m_exec, upload(m_exec, start, "start"), options, constraints);
  }

  // The model at a point of the search.
  Model model_at(const Kokkos::View<const T*, Memory>& point) const {
    Model model = m_start;
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      const std::string& name = m_o.unknowns[u];
      launch("moho::fwi::from_unknowns", m_exec, nodes(),
             FromUnknowns<T>{point.data() + static_cast<std::int64_t>(u) * nodes(),
                             field_of(m_start, name).data(), m_fields[u].data(), logarithm(name),
                             m_scales[u]});
      field_of(model, name) = m_fields[u];
    }
    return model;
  }

  // Evaluates at the point of the search and tells it.
  void advance(int band, int bands) {
    const Stopwatch watch;
    Evaluation row;
    m_band_text = bands > 1 ? concat("band ", band + 1, " of ", bands, ", ") : "";
    const double f = evaluate(row);
    if (m_in_band == 0 && band == 0 && f < 1e-10) {
      throw InputError(concat(m_job.data_name, ": the start explains the data to ", f,
                              " of their energy, nothing is to be inverted (allowed: data that "
                              "differ from those of the start)"));
    }
    if (m_in_band == 0 && m_o.precondition) precondition();
    const std::int64_t before = m_search->iterations();
    const double step = m_search->step();
    m_search->tell(m_exec, f, m_gradient);
    ++m_in_band;
    row.band = band + 1;
    row.frequency = frequency_of(band);
    row.evaluation = m_search->evaluations();
    row.iteration = m_search->iterations();
    row.taken = m_in_band == 1 || row.iteration > before;
    row.misfit = f;
    row.relative = f / m_search->first_value();
    row.gradient = m_search->gradient_norm();
    row.step = m_in_band == 1 ? 0.0 : step;
    row.vp_error = error_of_vp();
    row.seconds = watch.seconds();
    m_phases.add("evaluate", row.seconds);
    m_seconds_each = row.seconds;
    const Stopwatch writing;
    m_job.told(row, m_in_band, found());
    m_phases.add("write", writing.seconds());
  }

  double evaluate(Evaluation& row) {
    const Model model = model_at(m_search->point());
    fill(m_exec, m_sum, 0.0);
    fill(m_exec, m_light, 0.0);
    const double taper = m_modelling->plan().source_taper;
    double f = 0.0;
    if (!(taper > 0.0)) {
      m_modelling->update(m_exec, model);
      m_gradients->update(m_exec);
    }
    for (std::size_t k = 0; k < m_shots.size(); ++k) {
      Field<T, Dim, Memory> kept;
      if (taper > 0.0) {
        m_modelling->update(m_exec, model, m_shots[k].sources);
        m_gradients->update(m_exec);
        // what is left of delta - epsilon: delta tapered from 1 towards 0
        Model one;
        one.delta = make_field<T>(m_exec, m_job.grid, "delta");
        fill(m_exec, one.delta, T(1));
        kept =
            wave::taper_delta<T, Dim, Memory>(m_exec, m_job.grid, one, m_shots[k].sources, taper);
      }
      m_gradients->clear(m_exec);
      f += shot(k, model, row);
      const Model derivative = m_gradients->derivatives(m_exec, m_job.grid, model, kept);
      for (std::size_t u = 0; u < m_fields.size(); ++u) {
        const std::string& name = m_o.unknowns[u];
        const auto field = field_of(derivative, name);
        launch("moho::fwi::add_derivative", m_exec, nodes(),
               AddDerivative<T>{field.data(), m_fields[u].data(),
                                m_sum.data() + static_cast<std::int64_t>(u) * nodes(),
                                logarithm(name), m_scales[u]});
      }
      const auto light = m_gradients->illumination(m_exec, m_job.grid);
      launch("moho::fwi::add_light", m_exec, nodes(),
             AddDerivative<T>{light.data(), light.data(), m_light.data(), false, 1.0});
      m_exec.fence();
    }
    launch("moho::fwi::round", m_exec, static_cast<std::int64_t>(m_gradient.size()),
           Rounded<T>{m_sum.data(), m_gradient.data()});
    m_exec.fence();
    return f;
  }

  wave::PointSeries<T, Memory> amplitudes(std::size_t sources) const {
    std::vector<T> values;
    for (const double sample : m_modelling->plan().wavelet) {
      values.insert(values.end(), sources, static_cast<T>(sample));
    }
    const auto series = allocate<wave::PointSeries<T, Memory>>(m_exec, "moho::fwi::amplitudes",
                                                               values.size() / sources, sources);
    copy(m_exec, wave::Storage<T, Memory>(series.data(), values.size()),
         HostElements<const T>(values.data(), values.size()));
    m_exec.fence();
    return series;
  }

  double shot(std::size_t k, const Model& model, Evaluation& row) {
    const wave::Shot<Dim>& geometry = m_shots[k];
    const auto& propagator = m_modelling->propagator();
    const std::string name = concat("shot ", geometry.number);
    return in_words([&] {
      const auto sources = m_modelling->sources(m_exec, geometry, name + ": ");
      auto& receivers = m_receivers[k];
      if (receivers.count() == 0) {
        receivers = wave::PointSet<T, Dim, Memory>(
            m_exec, propagator.grid(), propagator.layout(), geometry.receivers,
            wave::point_options(propagator, name + ": receiver", true));
      }
      const rtm::Leg<T, Dim, Memory> forward{&propagator, &sources,
                                             amplitudes(geometry.sources.size())};
      fwi::ShotGradientOptions<T, Dim, Memory> options;
      options.steps = m_plan.time.steps;
      if (m_extended) options.extended = &*m_extended;
      std::optional<wave::Propagator<T, Dim, Memory>> other;
      wave::PointSet<T, Dim, Memory> other_sources;
      rtm::Leg<T, Dim, Memory> own;
      if (m_plan.source_field == SourceField::random) {
        other.emplace(behind_random_layers(model, geometry));
        other_sources =
            wave::PointSet<T, Dim, Memory>(m_exec, other->grid(), other->layout(), geometry.sources,
                                           wave::point_options(*other, name + ": source", true));
        own = {&*other, &other_sources, forward.amplitudes};
        options.source = &own;
      }
      if (m_job.progress) {
        options.progress = [&](int leg, const wave::ShotProgress& now) {
          tell_progress(k, leg, now);
        };
      }
      const auto store = make_store(options.source != nullptr ? own : forward);
      const auto report = m_gradients->add(m_exec, m_modelling->wavefield(), forward, receivers,
                                           misfit(k), *store, options);
      row.points += report.points;
      row.modelling += report.forward_seconds;
      row.gradients += report.backward_seconds;
      return report.misfit;
    });
  }

  fwi::ShotMisfit<T, Memory> misfit(std::size_t k) const {
    return [this, k](const wave::PointSeries<const T, Memory>& modelled,
                     const wave::PointSeries<T, Memory>& derivative) {
      const std::vector<T> rows = download(m_exec, modelled);
      std::vector<T> slopes;
      const double f = fwi::shot_misfit(m_o.misfit, m_observed[k], rows, slopes) / m_size;
      for (T& slope : slopes) slope = static_cast<T>(static_cast<double>(slope) / m_size);
      copy(m_exec, wave::Storage<T, Memory>(derivative.data(), slopes.size()),
           HostElements<const T>(slopes.data(), slopes.size()));
      m_exec.fence();
      return f;
    };
  }

  // The same model behind layers that the source's wavefield can be run back from. A shot has the
  // same layers in every evaluation.
  wave::Propagator<T, Dim, Memory> behind_random_layers(const Model& model,
                                                        const wave::Shot<Dim>& shot) const {
    wave::PropagatorOptions<Dim> options = m_modelling->propagator().options();
    for (int d = 0; d < Dim; ++d) {
      for (wave::Face* face : {&options.boundaries.lower[d], &options.boundaries.upper[d]}) {
        if (face->layered()) *face = {wave::FaceKind::random, 60};
      }
    }
    options.frequency = 0.0;  // random layers are slower than the grid carries well
    Model tapered = model;
    const double taper = m_modelling->plan().source_taper;
    if (taper > 0.0) {
      tapered.delta =
          wave::taper_delta<T, Dim, Memory>(m_exec, m_job.grid, model, shot.sources, taper);
    }
    wave::RandomLayerOptions random = m_modelling->plan().random;
    random.seed = m_o.seed + static_cast<std::uint64_t>(shot.number);
    const auto extended =
        wave::extend_model<T, Dim, Memory>(m_exec, m_job.grid, tapered, options.boundaries, random);
    return wave::Propagator<T, Dim, Memory>(
        m_exec, wave::extended_grid(m_job.grid, options.boundaries), extended, options);
  }

  std::unique_ptr<rtm::SnapshotStore<T, Dim, Memory>> make_store(
      const rtm::Leg<T, Dim, Memory>& leg) {
    const int fields = m_gradients->fields();
    const std::int64_t every = m_gradients->every();
    switch (m_plan.source_field) {
      case SourceField::stored:
        return std::make_unique<rtm::DeviceStore<T, Dim, Memory>>(m_arena, fields);
      case SourceField::replay:
        return std::make_unique<rtm::ReplayStore<T, Dim, Memory>>(
            m_exec, leg, m_arena, m_plan.time.steps / every, every, m_piece, m_states, fields);
      default:
        return std::make_unique<rtm::ReverseStore<T, Dim, Memory>>(
            m_exec, leg, m_arena, rtm::ReverseOptions{fields, m_gradients->outside()});
    }
  }

  void tell_progress(std::size_t k, int leg, const wave::ShotProgress& now) {
    const double part =
        static_cast<double>(now.step) / std::max<double>(1.0, static_cast<double>(now.steps));
    const double done = leg == 0 ? 0.3 * part : leg == 1 ? 0.3 + 0.2 * part : 0.5 + 0.5 * part;
    const double shots = static_cast<double>(m_shots.size());
    const double of_evaluation = (static_cast<double>(k) + done) / shots;
    const double each = m_seconds_each > 0.0 ? m_seconds_each : m_plan.seconds;
    m_job.progress(
        of_evaluation,
        concat(m_band_text, "iteration ", m_search->iterations() + 1, ", evaluation ",
               m_search->evaluations() + 1, ", shot ", k + 1, " of ", m_shots.size(), ", ",
               std::llround(std::max(0.0, each * (1.0 - of_evaluation))), " s left of it"));
  }

  void precondition() {
    const std::vector<double> light = download(m_exec, m_light);
    double most = 0.0;
    for (const double value : light) most = std::max(most, value);
    std::vector<T> factors;
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      for (const double value : light) {
        factors.push_back(static_cast<T>(most > 0.0 ? 1.0 / (value / most + 0.01) : 1.0));
      }
    }
    m_search->precondition(m_exec, upload(m_exec, factors, "moho::fwi::factors"));
  }

  ModelValues<T> unknowns_at(const Kokkos::View<const T*, Memory>& point) const {
    model_at(point);
    ModelValues<T> values;
    for (std::size_t u = 0; u < m_fields.size(); ++u) {
      values[m_o.unknowns[u]] = download(m_exec, m_fields[u]);
    }
    return values;
  }

  double error_of_vp() const {
    if (!m_job.truth_known) return -1.0;
    const std::vector<T> vp = unknowns_at(m_search->best())["vp"];
    const std::vector<T>& truth = m_job.true_values->at("vp");
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < vp.size(); ++i) {
      const double v = static_cast<double>(truth[i]), d = static_cast<double>(vp[i]) - v;
      error += d * d;
      size += v * v;
    }
    return std::sqrt(error / size);
  }

  Found<T> found() const {
    Found<T> result;
    result.save = [this](const std::filesystem::path& path) { m_search->save(m_exec, path); };
    result.model = [this] { return unknowns_at(m_search->best()); };
    result.gradient = [this] {
      ModelValues<T> values;
      const std::vector<T> all = download(m_exec, m_search->best_gradient());
      for (std::size_t u = 0; u < m_fields.size(); ++u) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(u) * nodes();
        values[m_o.unknowns[u]].assign(begin, begin + nodes());
      }
      return values;
    };
    result.illumination = [this] {
      const std::vector<double> light = download(m_exec, m_light);
      return std::vector<T>(light.begin(), light.end());
    };
    return result;
  }

  void gather_middle() {
    const std::size_t k = m_shots.size() / 2;
    const fwi::ObservedShot& observed = m_observed[k];
    Gather gather;
    gather.shot = m_shots[k].number;
    gather.receivers = observed.receivers;
    gather.samples = observed.count;
    gather.dt = observed.dt;
    gather.observed = observed.samples;
    gather.start = model_gather(*m_modelling, m_start, m_shots[k]);
    gather.modelled = model_gather(*m_modelling, model_at(m_search->best()), m_shots[k]);
    m_job.gathered(gather);
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  PhaseTimes& m_phases;
  Plan m_plan;
  fwi::Unknowns m_unknowns;
  wave::ModellingOptions<Dim> m_options;
  bool m_needs_taper = false;
  Model m_start, m_true;
  std::optional<Modelling> m_modelling;
  std::optional<fwi::ShotGradients<T, Dim, Memory>> m_gradients;
  std::optional<fwi::ExtendedImage<T, Dim, Memory>> m_extended;
  std::vector<wave::PointSet<T, Dim, Memory>> m_receivers;  ///< of the present band
  std::vector<wave::Shot<Dim>> m_shots;                     ///< live traces
  std::vector<fwi::ObservedShot> m_data, m_observed;        ///< as they came, in the band
  double m_size = 0.0;
  rtm::DeviceArena<T, Memory> m_arena;
  std::int64_t m_states = 0, m_piece = 0;
  std::optional<fwi::Lbfgs<T, Memory>> m_search;
  std::vector<Field<T, Dim, Memory>> m_fields;  ///< of the unknowns
  std::vector<double> m_scales;
  Doubles m_sum, m_light;
  Vector m_gradient;
  std::int64_t m_in_band = 0;
  double m_seconds_each = 0.0;
  std::string m_band_text;
};

}  // namespace detail

template <class T, int Dim, class Memory>
PhaseTimes compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  PhaseTimes phases;
  detail::Inversion<T, Dim, Memory>(exec, job, phases).run();
  return phases;
}

/// One kind of call.
#define MOHO_INVERT_WAVES(T, Dim, Memory) \
  template PhaseTimes compute_on<T, Dim, Memory>(const Instance<Memory>&, const Job<T, Dim>&)

}  // namespace moho::examples::invert_waves
