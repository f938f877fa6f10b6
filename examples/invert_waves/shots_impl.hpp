// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of an inversion in core: their misfits and gradients.

#include "invert_waves/shot_data_impl.hpp"

#include <moho/core/at_once.hpp>
#include <moho/snapshot/replay_store.hpp>
#include <moho/snapshot/reverse.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves::detail {

/// Shots over one model after the other.
template <class T, int Dim, class Memory>
class Shots : public ShotData<T, Dim, Memory> {
  using Base = ShotData<T, Dim, Memory>;
  using Base::m_exec, Base::m_job, Base::m_o, Base::m_options, Base::m_unknowns, Base::m_start,
      Base::m_true, Base::m_plan, Base::m_shots;

 public:
  /// Gradients stream through the device.
  static constexpr bool streamed = false;
  using Modelling = wave::Modelling<T, Dim, Memory>;
  using typename Base::Add, typename Base::Model, typename Base::Pace, typename Base::Wanted;
  using Gradients = fwi::ShotGradients<T, Dim, Memory>;
  Shots(const Instance<Memory>& exec, const Job<T, Dim>& job)
      : Base(exec, job), m_arena("moho::fwi::source", arena_piece) {}

  /// Shots over the latest model, of the present band.
  Modelling& modelling() { return *m_modelling; }
  /// Gradients over that.
  Gradients& gradients() { return *m_gradients; }
  /// What was chosen for the present band.
  const wave::ModellingPlan<Dim>& plan() const { return m_plan; }
  /// Steps from one product to the next.
  std::int64_t every() const { return m_gradients->every(); }
  /// How the source's wavefield is had again, with the states and the piece of replay.
  void set_source_field(SourceField field, std::int64_t states, std::int64_t piece) {
    m_source_field = field;
    m_states = states;
    m_piece = piece;
  }
  /// How many shots are computed at once.
  void set_at_once(int at_once) {
    m_at_once = at_once;
    m_places.clear();
  }
  /// Gets the products at points apart, too; null: nobody.
  void set_extended(fwi::ExtendedImage<T, Dim, Memory>* extended) { m_extended = extended; }

  /// Shots of the start in a band, whose faces do not move with the model, and the data.
  void set_band(int band) {
    const wave::WaveletAt wavelet = this->wavelet_of(band);
    m_places.clear();
    m_gradients.reset();
    this->in_words([&] {
      // of the start in every band: what faces do must not move with the model
      m_modelling.emplace(make(m_start, wavelet));
      return 0;
    });
    m_plan = m_modelling->plan();
    m_gradients.emplace(m_exec, m_modelling->propagator(), m_unknowns, this->every_of(m_plan));
    m_receivers.assign(m_job.shots.size(), {});
    this->filter(band);
  }

  /// Models or reads the data.
  void load_data() {
    if (m_job.gather) return this->take_data({});
    std::optional<Modelling> modelling;
    this->in_true_words([&] {
      // behind the same faces as the shots to come, whose layers go by the velocities of the start
      modelling.emplace(make(this->faces_of_start() ? m_start : m_true, m_job.wavelet));
    });
    this->take_data(
        [&](const wave::Shot<Dim>& shot) { return model_gather(*modelling, m_true, shot); });
  }

  /// Traces of a shot over a model.
  std::vector<float> gather_of(const Model& model, const wave::Shot<Dim>& shot) {
    return model_gather(*m_modelling, model, shot);
  }

  /// \brief Misfits of a model over that of no model, and derivatives.
  /// \param model behind the faces of the start
  /// \param wanted which shots
  /// \param add gets what they add
  /// \param pace is told how far they are; none: nobody
  void evaluate(const Model& model, const Wanted& wanted, const Add& add, const Pace& pace) {
    const double taper = m_modelling->plan().source_taper;
    Field<T, Dim, Memory> kept;
    if (!(taper > 0.0)) {
      m_modelling->update(m_exec, model);
      m_gradients->update(m_exec);
    }
    if (m_at_once > 1 && !(taper > 0.0) && m_extended == nullptr) {
      return evaluate_at_once(model, wanted, add, pace);
    }
    const auto compute = [&](std::size_t k, ShotPart<T>& numbers) {
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
      compute_shot({m_exec, *m_gradients, m_modelling->wavefield(), m_arena}, k, model, numbers,
                   pace);
    };
    this->each_shot(wanted, compute, [&](std::size_t k, const ShotPart<T>& numbers) {
      add(k, numbers, m_gradients->derivatives(m_exec, m_job.grid, model, kept),
          m_gradients->illumination(m_exec, m_job.grid));
      m_exec.fence();
    });
  }

 private:
  // elements of a piece: a device takes memory slowly, a host gives out what is touched
  static constexpr std::int64_t arena_piece = std::int64_t{1} << (is_host_memory<Memory> ? 20 : 26);

  // Where a shot is computed.
  struct Place {
    const Instance<Memory>& exec;
    Gradients& gradients;
    wave::Wavefield<T, Dim, Memory>& wavefield;
    snapshot::DeviceArena<T, Memory>& arena;
  };
  // That of a worker.
  struct OwnPlace {
    OwnPlace(const Instance<Memory>& on, const Modelling& modelling, const fwi::Unknowns& unknowns,
             std::int64_t every)
        : exec(on),
          gradients(exec, modelling.propagator(), unknowns, every),
          wavefield(modelling.propagator().make_wavefield(exec)),
          arena("moho::fwi::source", arena_piece / 16) {
      exec.fence();
    }
    Place place() { return {exec, gradients, wavefield, arena}; }

    Instance<Memory> exec;
    Gradients gradients;
    wave::Wavefield<T, Dim, Memory> wavefield;
    snapshot::DeviceArena<T, Memory> arena;
  };
  // What a shot leaves.
  struct End {
    ShotPart<T> numbers;
    Model derivatives;
    Field<T, Dim, Memory> light;
  };

  // evaluate() with several shots at once. What they add comes in their order.
  void evaluate_at_once(const Model& model, const Wanted& wanted, const Add& add,
                        const Pace& pace) {
    if (m_places.empty()) {
      for (const auto& exec : instances_at_once(m_exec, m_at_once)) {
        m_places.push_back(
            std::make_unique<OwnPlace>(exec, *m_modelling, m_unknowns, m_gradients->every()));
      }
    }
    for (const auto& own : m_places) own->gradients.update(own->exec);
    auto next = [&, k = std::size_t{0}]() mutable -> std::optional<std::size_t> {
      while (k < m_shots.size()) {
        const std::size_t shot = k++;
        if (!wanted || wanted(shot)) return shot;
      }
      return std::nullopt;
    };
    const auto work = [&](int worker, std::size_t k, AtOnceCaller& caller) {
      OwnPlace& own = *m_places[static_cast<std::size_t>(worker)];
      Pace tell;
      if (pace) {
        tell = [&](std::size_t shot, int leg, const wave::ShotProgress& now) {
          caller.call([&] { pace(shot, leg, now); });
        };
      }
      End end;
      this->named(k, [&] {
        own.gradients.clear(own.exec);
        compute_shot(own.place(), k, model, end.numbers, tell);
        end.derivatives = own.gradients.derivatives(own.exec, m_job.grid, model);
        end.light = own.gradients.illumination(own.exec, m_job.grid);
        own.exec.fence();
      });
      return end;
    };
    run_at_once<End>(m_at_once, next, work, [&](std::size_t k, End&& end) {
      add(k, end.numbers, end.derivatives, end.light);
      m_exec.fence();
    });
  }

  // Traces of a shot, receivers x samples.
  std::vector<float> model_gather(Modelling& modelling, const Model& model,
                                  const wave::Shot<Dim>& shot) const {
    modelling.update(m_exec, model, shot.sources);
    wave::ShotOptions<T, Dim, Memory> options;
    options.steps = modelling.plan().time.steps;
    const auto result = wave::locate_overflow<Dim>(
        m_job.grid, options.steps, concat("data of shot ", shot.number),
        [&](std::int64_t check_every) {
          options.check_every = check_every;
          return modelling.shot(m_exec, shot, options);
        },
        overflow_advice);
    return std::vector<float>(result.traces.data(), result.traces.data() + result.traces.size());
  }

  Modelling make(const Model& model, const wave::WaveletAt& wavelet) const {
    return wave::make_modelling(m_exec, m_job.grid, model, m_job.boundaries, wavelet,
                                this->options_for(model, wavelet));
  }

  wave::PointSeries<T, Memory> amplitudes(const Instance<Memory>& exec, std::size_t sources) const {
    std::vector<T> values;
    for (const double sample : m_modelling->plan().wavelet) {
      values.insert(values.end(), sources, static_cast<T>(sample));
    }
    const auto series = allocate<wave::PointSeries<T, Memory>>(exec, "moho::fwi::amplitudes",
                                                               values.size() / sources, sources);
    copy(exec, wave::Storage<T, Memory>(series.data(), values.size()),
         HostElements<const T>(values.data(), values.size()));
    exec.fence();
    return series;
  }

  void compute_shot(const Place& place, std::size_t k, const Model& model, ShotPart<T>& numbers,
                    const Pace& pace) {
    const Instance<Memory>& exec = place.exec;
    const wave::Shot<Dim>& geometry = m_shots[k];
    const auto& propagator = m_modelling->propagator();
    const std::string name = concat("shot ", geometry.number);
    this->in_words([&] {
      const auto sources = m_modelling->sources(exec, geometry, name + ": ");
      auto& receivers = m_receivers[k];
      if (receivers.count() == 0) {
        receivers = wave::PointSet<T, Dim, Memory>(
            exec, propagator.grid(), propagator.layout(), geometry.receivers,
            wave::point_options(propagator, name + ": receiver", true));
      }
      const wave::SourceTerm<T, Dim, Memory> forward{&propagator, &sources,
                                                     amplitudes(exec, geometry.sources.size())};
      fwi::ShotGradientOptions<T, Dim, Memory> options;
      options.steps = m_modelling->plan().time.steps;
      options.extended = m_extended;
      std::optional<wave::Propagator<T, Dim, Memory>> other;
      wave::PointSet<T, Dim, Memory> other_sources;
      wave::SourceTerm<T, Dim, Memory> own;
      if (m_source_field == SourceField::random) {
        other.emplace(behind_random_layers(exec, model, geometry));
        other_sources =
            wave::PointSet<T, Dim, Memory>(exec, other->grid(), other->layout(), geometry.sources,
                                           wave::point_options(*other, name + ": source", true));
        own = {&*other, &other_sources, forward.amplitudes};
        options.source = &own;
      }
      if (pace) {
        options.progress = [&](int leg, const wave::ShotProgress& now) { pace(k, leg, now); };
      }
      const auto report = wave::locate_overflow<Dim>(
          m_job.grid, options.steps, "",
          [&](std::int64_t check_every) {
            options.check_every = check_every;
            const auto store = make_store(place, options.source != nullptr ? own : forward);
            return place.gradients.add(exec, place.wavefield, forward, receivers,
                                       this->misfit_of(exec, k), *store, options);
          },
          overflow_advice);
      numbers = {report.misfit, report.points, report.forward_seconds, report.backward_seconds, {}};
      return 0;
    });
  }

  // The same model behind layers that the source's wavefield can be run back from. A shot has the
  // same layers in every evaluation.
  wave::Propagator<T, Dim, Memory> behind_random_layers(const Instance<Memory>& exec,
                                                        const Model& model,
                                                        const wave::Shot<Dim>& shot) const {
    wave::PropagatorOptions<Dim> options = m_modelling->propagator().options();
    options.boundaries = this->random_faces(options.boundaries);
    options.frequency = 0.0;  // random layers are slower than the grid carries well
    Model tapered = model;
    const double taper = m_modelling->plan().source_taper;
    if (taper > 0.0) {
      tapered.delta =
          wave::taper_delta<T, Dim, Memory>(exec, m_job.grid, model, shot.sources, taper);
    }
    const auto extended = wave::extend_model<T, Dim, Memory>(
        exec, m_job.grid, tapered, options.boundaries, this->random_of(shot));
    return wave::Propagator<T, Dim, Memory>(
        exec, wave::extended_grid(m_job.grid, options.boundaries), extended, options);
  }

  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> make_store(
      const Place& place, const wave::SourceTerm<T, Dim, Memory>& leg) const {
    const int fields = place.gradients.fields();
    const std::int64_t every = place.gradients.every();
    switch (m_source_field) {
      case SourceField::stored:
        return std::make_unique<snapshot::DeviceStore<T, Dim, Memory>>(place.arena, fields);
      case SourceField::replay:
        return std::make_unique<snapshot::ReplayStore<T, Dim, Memory>>(
            place.exec, leg, place.arena, m_modelling->plan().time.steps / every, every, m_piece,
            m_states, fields);
      default:
        return std::make_unique<snapshot::ReverseStore<T, Dim, Memory>>(
            place.exec, leg, place.arena,
            snapshot::ReverseOptions{fields, place.gradients.outside()});
    }
  }

  snapshot::DeviceArena<T, Memory> m_arena;
  std::optional<Modelling> m_modelling;
  std::optional<Gradients> m_gradients;
  std::vector<std::unique_ptr<OwnPlace>> m_places;  ///< of workers, where several are at once
  int m_at_once = 1;
  std::vector<wave::PointSet<T, Dim, Memory>> m_receivers;  ///< of the present band
  SourceField m_source_field = SourceField::shell;
  std::int64_t m_states = 0, m_piece = 0;
  fwi::ExtendedImage<T, Dim, Memory>* m_extended = nullptr;
};

}  // namespace moho::examples::invert_waves::detail
