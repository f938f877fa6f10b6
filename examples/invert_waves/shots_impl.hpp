// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of an inversion: their data in a band, their misfits and gradients.

#include "common/format.hpp"
#include "invert_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/fwi/gradient.hpp>
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

namespace moho::examples::invert_waves::detail {

/// Shots over one model after the other.
template <class T, int Dim, class Memory>
class Shots {
 public:
  using Modelling = wave::Modelling<T, Dim, Memory>;
  using Model = wave::Model<T, Dim, Memory>;
  using Gradients = fwi::ShotGradients<T, Dim, Memory>;
  /// Gets a shot's numbers, its derivatives by the parameters, and its illumination.
  using Add = std::function<void(std::size_t k, const ShotPart<T>& numbers, const Model& derivative,
                                 const Field<T, Dim, Memory>& light)>;
  /// Told how far a leg of shot k has come.
  using Pace = std::function<void(std::size_t k, int leg, const wave::ShotProgress& now)>;

  Shots(const Instance<Memory>& exec, const Job<T, Dim>& job)
      : m_exec(exec),
        m_job(job),
        m_o(*job.options),
        m_arena("moho::fwi::source", arena_piece),
        m_options(job.modelling) {
    for (const std::string& name : m_o.unknowns) {
      if (name == "rho") m_unknowns.density = true;
      if (name == "epsilon" || name == "delta") m_unknowns.anisotropy = true;
    }
    m_needs_taper = m_unknowns.anisotropy && !m_options.source_taper;
    m_options.memory = std::size_t{1} << 62;  // looked at with all that an inversion takes
    m_options.time.snapshot_every = 0.0;
    for (const auto& shot : job.shots) {
      m_options.receivers =
          std::max(m_options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
      m_options.sources.insert(m_options.sources.end(), shot.sources.begin(), shot.sources.end());
    }
    read_models();
  }

  /// How shots are modelled; dt is chosen by the plan.
  wave::ModellingOptions<Dim>& options() { return m_options; }
  /// The start.
  const Model& start() const { return m_start; }
  /// The model of modelled data; no field where data are read.
  const Model& truth() const { return m_true; }
  /// Shots over the latest model, of the present band.
  Modelling& modelling() { return *m_modelling; }
  /// Gradients over that.
  Gradients& gradients() { return *m_gradients; }
  /// The shots with their live traces.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots; }
  /// Their data in the band.
  const std::vector<fwi::ObservedShot>& observed() const { return m_observed; }
  /// How the source's wavefield is had again, with the states and the piece of replay.
  void set_source_field(SourceField field, std::int64_t states, std::int64_t piece) {
    m_source_field = field;
    m_states = states;
    m_piece = piece;
  }
  /// Gets the products at points apart, too; null: nobody.
  void set_extended(fwi::ExtendedImage<T, Dim, Memory>* extended) { m_extended = extended; }

  /// The stable step, and velocities, of a model.
  wave::Limits limits_of(const Model& model) const {
    return wave::limits_of<T, Dim, Memory>(m_exec, m_job.grid, model, m_options.order,
                                           m_options.equations, m_options.sigma);
  }

  /// The corner of a band's low-pass, Hz; 0: none.
  double frequency_of(int band) const {
    return m_o.bands.empty() ? 0.0 : m_o.bands[static_cast<std::size_t>(band)];
  }

  /// Shots of the start in a band, whose faces do not move with the model, and the data.
  void set_band(int band) {
    const wave::WaveletAt wavelet = wavelet_of(band);
    m_gradients.reset();
    in_words([&] {
      // of the start in every band: what faces do must not move with the model
      m_modelling.emplace(make(m_start, wavelet));
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
      if (shot.samples.empty()) continue;  // left out
      if (frequency_of(band) > 0.0) {
        fwi::low_pass(shot.samples, shot.count, shot.dt, frequency_of(band));
      }
      m_size += size_of(shot);
    }
  }

  /// Models or reads the data.
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
      if (m_job.only && k != *m_job.only) {
        m_shots.push_back(geometry);
        m_data.push_back(std::move(shot));
        continue;
      }
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

  /// Traces of a shot, receivers x samples.
  std::vector<float> model_gather(Modelling& modelling, const Model& model,
                                  const wave::Shot<Dim>& shot) const {
    modelling.update(m_exec, model, shot.sources);
    wave::ShotOptions<T, Dim, Memory> options;
    options.steps = modelling.plan().time.steps;
    options.check_every = 200;
    const auto result = modelling.shot(m_exec, shot, options);
    return std::vector<float>(result.traces.data(), result.traces.data() + result.traces.size());
  }

  /// The misfit of no model in the band.
  double size() const { return m_size; }
  /// Takes it from elsewhere, where not all shots are there.
  void set_size(double size) { m_size = size; }

  /// \brief Misfits of a model over that of no model, and derivatives.
  /// \param wanted which shots, asked in their order; empty: all \param add gets them
  void evaluate(const Model& model, const std::function<bool(std::size_t)>& wanted, const Add& add,
                const Pace& pace) {
    const double taper = m_modelling->plan().source_taper;
    if (!(taper > 0.0)) {
      m_modelling->update(m_exec, model);
      m_gradients->update(m_exec);
    }
    for (std::size_t k = 0; k < m_shots.size(); ++k) {
      if (wanted && !wanted(k)) continue;
      ShotPart<T> numbers;
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
      try {
        numbers.misfit = shot(k, model, numbers, pace);
      } catch (const InputError&) {
        throw;
      } catch (const MemoryError&) {
        throw;
      } catch (const Error& error) {
        throw Error(concat("shot ", m_shots[k].number, ": ", error.what()));
      }
      add(k, numbers, m_gradients->derivatives(m_exec, m_job.grid, model, kept),
          m_gradients->illumination(m_exec, m_job.grid));
      m_exec.fence();
    }
  }

 private:
  // elements of a piece: a device takes memory slowly, a host gives out what is touched
  static constexpr std::int64_t arena_piece = std::int64_t{1} << (is_host_memory<Memory> ? 20 : 26);

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

  void read_models() {
    if (m_job.true_values != nullptr) {
      try {
        m_true = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.true_values);
        wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_true);
      } catch (const InputError& error) {
        throw InputError(in_options(error.what(), m_job.true_names, {}));
      }
    }
    in_words([&] {
      m_start = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.values);
      wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_start);
      return 0;
    });
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

  // The misfit of a shot without a model.
  double size_of(const fwi::ObservedShot& shot) const {
    std::vector<float> nothing(shot.samples.size(), 0.0f), ignored;
    return fwi::shot_misfit(m_o.misfit, shot, nothing, ignored);
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
    shot.taper = m_o.mute.taper >= 0.0 ? m_o.mute.taper : 0.5 / m_modelling->plan().frequency;
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

  double shot(std::size_t k, const Model& model, ShotPart<T>& numbers, const Pace& pace) {
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
      options.steps = m_modelling->plan().time.steps;
      options.extended = m_extended;
      std::optional<wave::Propagator<T, Dim, Memory>> other;
      wave::PointSet<T, Dim, Memory> other_sources;
      rtm::Leg<T, Dim, Memory> own;
      if (m_source_field == SourceField::random) {
        other.emplace(behind_random_layers(model, geometry));
        other_sources =
            wave::PointSet<T, Dim, Memory>(m_exec, other->grid(), other->layout(), geometry.sources,
                                           wave::point_options(*other, name + ": source", true));
        own = {&*other, &other_sources, forward.amplitudes};
        options.source = &own;
      }
      if (pace) {
        options.progress = [&](int leg, const wave::ShotProgress& now) { pace(k, leg, now); };
      }
      const auto store = make_store(options.source != nullptr ? own : forward);
      const auto report = m_gradients->add(m_exec, m_modelling->wavefield(), forward, receivers,
                                           misfit(k), *store, options);
      numbers.points = report.points;
      numbers.modelling = report.forward_seconds;
      numbers.gradients = report.backward_seconds;
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
    switch (m_source_field) {
      case SourceField::stored:
        return std::make_unique<rtm::DeviceStore<T, Dim, Memory>>(m_arena, fields);
      case SourceField::replay:
        return std::make_unique<rtm::ReplayStore<T, Dim, Memory>>(
            m_exec, leg, m_arena, m_modelling->plan().time.steps / every, every, m_piece, m_states,
            fields);
      default:
        return std::make_unique<rtm::ReverseStore<T, Dim, Memory>>(
            m_exec, leg, m_arena, rtm::ReverseOptions{fields, m_gradients->outside()});
    }
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  rtm::DeviceArena<T, Memory> m_arena;
  wave::ModellingOptions<Dim> m_options;
  fwi::Unknowns m_unknowns;
  bool m_needs_taper = false;
  Model m_start, m_true;
  std::optional<Modelling> m_modelling;
  std::optional<Gradients> m_gradients;
  std::vector<wave::PointSet<T, Dim, Memory>> m_receivers;  ///< of the present band
  std::vector<wave::Shot<Dim>> m_shots;                     ///< live traces
  std::vector<fwi::ObservedShot> m_data, m_observed;        ///< as they came, in the band
  double m_size = 0.0;                                      ///< the misfit of no model
  SourceField m_source_field = SourceField::shell;
  std::int64_t m_states = 0, m_piece = 0;
  fwi::ExtendedImage<T, Dim, Memory>* m_extended = nullptr;
};

}  // namespace moho::examples::invert_waves::detail
