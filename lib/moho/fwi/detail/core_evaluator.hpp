// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots with all arrays in one memory.

#include <moho/core/concurrent.hpp>
#include <moho/fwi/gradient_memory.hpp>
#include <moho/fwi/shot_evaluator.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/stores.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Reports that the gradients of shots in core do not fit the memory.
class CoreDoesNotFit : public InputError {
 public:
  using InputError::InputError;
};

/// Evaluator of shots in core, several of them concurrently.
template <class T, int Dim, class Memory>
class CoreEvaluator : public ShotEvaluator<T, Dim, Memory> {
  using Base = ShotEvaluator<T, Dim, Memory>;
  using Base::m_exec, Base::m_grid, Base::m_options, Base::m_inverted, Base::m_start, Base::m_plan,
      Base::m_input, Base::m_data;

 public:
  using typename Base::Add, typename Base::Claim, typename Base::Model, typename Base::TakeImage;

  /// Checks the arguments. \throws InputError, MemoryError as ShotEvaluator
  explicit CoreEvaluator(ObjectiveInput<T, Dim, Memory> input)
      : Base(std::move(input)), m_arena("moho::fwi::source", arena_piece) {}

  bool streamed() const override { return false; }
  std::int64_t product_interval() const override { return m_gradients->product_interval(); }
  void set_band(double corner) override;
  void plan_memory(ObjectivePlan& plan, SourceField requested) override;
  std::vector<float> model_shot(const Model& model, const wave::Shot<Dim>& shot) override {
    return model_gather(*m_shots, model, shot);
  }
  void evaluate(const Model& model, bool changed, const Claim& claim, const Add& add) override;
  void extended_images(const Model& model, const Lags& lags, const Claim& claim,
                       const TakeImage& take) override;
  ExtendedResult<T> extended_image(const Model& model, const Lags& lags) override;

 protected:
  void model_data() override;

 private:
  using Modelling = wave::Modelling<T, Dim, Memory>;
  using Gradients = ShotGradients<T, Dim, Memory>;
  using Image = ExtendedImage<T, Dim, Memory>;
  // elements of a piece: a device allocates slowly, a host provides memory on first use
  static constexpr std::int64_t arena_piece = std::int64_t{1} << (is_host_memory<Memory> ? 20 : 26);

  // Points of a shot, and the amplitudes of its sources.
  struct ShotPoints {
    wave::PointSet<T, Dim, Memory> sources, receivers;
    wave::PointSeries<T, Memory> amplitudes;
  };
  // Resources of the computation of a shot.
  struct Bench {
    const Instance<Memory>& exec;
    Gradients& gradients;
    wave::Wavefield<T, Dim, Memory>& wavefield;
    snapshot::DeviceArena<T, Memory>& arena;
  };
  // Arrays of a concurrent shot.
  struct Worker {
    Worker(const Instance<Memory>& on, const Modelling& modelling,
           const InvertedParameters& inverted, std::int64_t product_interval)
        : exec(on),
          gradients(exec, modelling.propagator(), inverted, product_interval),
          wavefield(modelling.propagator().make_wavefield(exec)),
          arena("moho::fwi::source", arena_piece / 16) {
      exec.fence();
    }
    Bench bench() { return {exec, gradients, wavefield, arena}; }

    Instance<Memory> exec;
    Gradients gradients;
    wave::Wavefield<T, Dim, Memory> wavefield;
    snapshot::DeviceArena<T, Memory> arena;
  };
  // Arrays of shots that advance in the same launches.
  struct Batch {
    // samples: those of the largest gather
    Batch(const Instance<Memory>& on, const Modelling& modelling,
          const InvertedParameters& inverted, std::int64_t product_interval, int count,
          std::int64_t samples)
        : exec(on),
          lanes(concurrent_instances(on, count)),
          wavefields(
              wave::make_wavefields<T, Dim, Memory>(exec, modelling.propagator().scheme(), count)),
          series("moho::fwi::samples", 2 * count * (samples + 128)) {
      for (int n = 0; n < count; ++n) {
        gradients.push_back(
            std::make_unique<Gradients>(exec, modelling.propagator(), inverted, product_interval));
        arenas.push_back(std::make_unique<snapshot::DeviceArena<T, Memory>>("moho::fwi::source",
                                                                            arena_piece / 16));
        unfiltered.push_back(std::make_unique<Arena<T, Memory>>("moho::fwi::unfiltered", samples));
      }
      exec.fence();
    }
    Bench bench(std::size_t n) { return {exec, *gradients[n], wavefields[n], *arenas[n]}; }

    Instance<Memory> exec;
    std::vector<Instance<Memory>> lanes;  ///< of the misfit functions
    std::vector<wave::Wavefield<T, Dim, Memory>> wavefields;
    std::vector<std::unique_ptr<Gradients>> gradients;
    std::vector<std::unique_ptr<snapshot::DeviceArena<T, Memory>>> arenas;
    Arena<T, Memory> series;                                    ///< of all shots
    std::vector<std::unique_ptr<Arena<T, Memory>>> unfiltered;  ///< adjoint sources by shot
  };
  // Result of a concurrent shot.
  struct Result {
    ShotContribution<T> contribution;
    Model derivatives;
    Field<T, Dim, Memory> illumination;
  };
  // Reports the progress of shot k; empty: no reports.
  using Report = std::function<void(std::size_t k, int propagation, const wave::ShotProgress&)>;

  void add_to_image(Image& image, const Model& model, bool changed, const Claim& claim,
                    const Add& add);
  void plan_lags(ObjectivePlan& plan) const;
  void refuse_lags(const ObjectivePlan& plan, double rest) const;
  void plan_concurrency(ObjectivePlan& plan, SourceField requested);
  bool plan_batches(ObjectivePlan& plan, SourceField requested, int shots);
  void plan_source_field(ObjectivePlan& plan, SourceField requested, int concurrent);
  void plan_fixed_bytes(ObjectivePlan& plan, int concurrent) const;
  double estimate_seconds(const ObjectivePlan& plan);
  void evaluate_concurrently(const Model& model, const Claim& claim, const Add& add);
  void evaluate_batches(const Model& model, const Claim& claim, const Add& add);
  void compute_batch(Batch& batch, const std::vector<std::size_t>& shots, const Model& model,
                     std::vector<Result>& results, const Report& report);
  std::vector<float> model_gather(Modelling& modelling, const Model& model,
                                  const wave::Shot<Dim>& shot);
  wave::PointSeries<T, Memory> amplitudes(const Instance<Memory>& exec, std::size_t sources) const;
  const ShotPoints& points_of(const Instance<Memory>& exec, std::size_t k);
  void compute_shot(const Bench& bench, std::size_t k, const Model& model,
                    ShotContribution<T>& contribution, const Report& report);
  wave::Propagator<T, Dim, Memory> behind_random_faces(const Instance<Memory>& exec,
                                                       const Model& model,
                                                       const wave::Shot<Dim>& shot) const;
  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> make_store(
      const Bench& bench, const wave::SourceTerm<T, Dim, Memory>& source) const;
  Modelling make(const Model& model, const wave::WaveletAt& wavelet) const {
    return wave::make_modelling(m_exec, m_grid, model, m_input.faces, wavelet,
                                this->options_for(model, wavelet));
  }
  Report report() const {
    if (!m_options.progress) return {};
    return [this](std::size_t k, int propagation, const wave::ShotProgress& now) {
      this->report_progress(k, propagation, now);
    };
  }

  snapshot::DeviceArena<T, Memory> m_arena;
  std::optional<Modelling> m_shots;      ///< over the latest model, in the band
  std::optional<Gradients> m_gradients;  ///< over the model of m_shots
  bool m_stale = true;                   ///< true if m_shots does not have the model of the latest
                                         ///< evaluation
  std::vector<std::unique_ptr<Worker>> m_workers;
  std::vector<std::unique_ptr<Batch>> m_batches;
  int m_batch_size = 1;
  std::vector<ShotPoints> m_points;  ///< by shot, of the band
  int m_concurrent = 1;
  SourceField m_source_field = SourceField::boundary_shell;
  std::int64_t m_states = 0, m_piece = 0;  ///< of replay
  Image* m_extended = nullptr;
};

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::set_band(double corner) {
  const wave::WaveletAt wavelet = this->wavelet_in_band(corner);
  m_workers.clear();
  m_batches.clear();
  m_gradients.reset();
  this->with_memory_advice([&] { m_shots.emplace(make(m_start, wavelet)); });
  m_plan = m_shots->plan();
  m_gradients.emplace(m_exec, m_shots->propagator(), m_inverted, this->interval_of(m_plan));
  m_points.assign(m_input.data.shots.size(), {});
  m_stale = true;
  this->filter_data(corner);
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::model_data() {
  std::optional<Modelling> modelling(make(this->model_of_faces(), m_input.wavelet));
  m_data.model(m_input.data.shots, m_plan, [&](const wave::Shot<Dim>& shot) {
    return model_gather(*modelling, m_input.data.model, shot);
  });
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::evaluate(const Model& model, bool changed, const Claim& claim,
                                             const Add& add) {
  const double taper = m_plan.source_taper;
  Field<T, Dim, Memory> kept;
  if (!(taper > 0.0) && (changed || m_stale)) {
    m_shots->update(m_exec, model);
    m_gradients->update(m_exec);
    for (const auto& worker : m_workers) worker->gradients.update(worker->exec);
    for (const auto& batch : m_batches) {
      for (const auto& gradients : batch->gradients) gradients->update(batch->exec);
    }
    m_stale = false;
  }
  if (m_batch_size > 1 && m_extended == nullptr) return evaluate_batches(model, claim, add);
  if (m_concurrent > 1 && !(taper > 0.0) && m_extended == nullptr) {
    return evaluate_concurrently(model, claim, add);
  }
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    if (taper > 0.0) {
      const Points<Dim>& sources = m_data.shots()[k].sources;
      m_shots->update(m_exec, model, sources);
      m_gradients->update(m_exec);
      // kept fraction of delta - epsilon: delta tapered from 1 towards 0
      Model one;
      one.delta = make_field<T>(m_exec, m_grid, "delta");
      fill(m_exec, one.delta, T(1));
      kept = wave::taper_delta<T, Dim, Memory>(m_exec, m_grid, one, sources, taper);
    }
    m_gradients->clear(m_exec);
    compute_shot({m_exec, *m_gradients, m_shots->wavefield(), m_arena}, k, model, contribution,
                 report());
  };
  this->each_shot(claim, compute, [&](std::size_t k, const ShotContribution<T>& contribution) {
    add(k, contribution, m_gradients->derivatives(m_exec, m_grid, model, kept),
        m_gradients->illumination(m_exec, m_grid));
    m_exec.fence();
  });
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::evaluate_concurrently(const Model& model, const Claim& claim,
                                                          const Add& add) {
  if (m_workers.empty()) {
    for (const auto& exec : concurrent_instances(m_exec, m_concurrent)) {
      m_workers.push_back(
          std::make_unique<Worker>(exec, *m_shots, m_inverted, m_gradients->product_interval()));
      m_workers.back()->gradients.update(exec);
    }
  }
  auto next = [&, k = std::size_t{0}]() mutable -> std::optional<std::size_t> {
    while (k < m_data.shots().size()) {
      const std::size_t shot = k++;
      if (!claim || claim(shot)) return shot;
    }
    return std::nullopt;
  };
  const auto work = [&](int worker, std::size_t k, CallingThread& caller) {
    Worker& own = *m_workers[static_cast<std::size_t>(worker)];
    Report on_caller;
    if (m_options.progress) {
      on_caller = [&](std::size_t shot, int propagation, const wave::ShotProgress& now) {
        caller.call([&] { this->report_progress(shot, propagation, now); });
      };
    }
    Result result;
    result.contribution.shot = k;
    this->with_shot(k, [&] {
      own.gradients.clear(own.exec);
      compute_shot(own.bench(), k, model, result.contribution, on_caller);
      result.derivatives = own.gradients.derivatives(own.exec, m_grid, model);
      result.illumination = own.gradients.illumination(own.exec, m_grid);
      own.exec.fence();
    });
    return result;
  };
  run_concurrently<Result>(m_concurrent, next, work, [&](std::size_t k, Result&& result) {
    add(k, result.contribution, result.derivatives, result.illumination);
    m_exec.fence();
  });
}

// Evaluates shots, whose products are added to an extended image as well.
template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::add_to_image(Image& image, const Model& model, bool changed,
                                                 const Claim& claim, const Add& add) {
  m_extended = &image;
  try {
    evaluate(model, changed, claim, add);
  } catch (...) {
    m_extended = nullptr;
    throw;
  }
  m_extended = nullptr;
  image.flush(m_exec);
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::extended_images(const Model& model, const Lags& lags,
                                                    const Claim& claim, const TakeImage& take) {
  Image image(m_exec, m_gradients->box(), lags);
  bool changed = true;
  for (std::size_t k = 0; k < m_data.shots().size(); ++k) {
    if (claim && !claim(k)) continue;
    ShotContribution<T> contribution;
    image.clear(m_exec);
    add_to_image(
        image, model, changed, [k](std::size_t shot) { return shot == k; },
        [&](std::size_t, const ShotContribution<T>& computed, const Model&,
            const Field<T, Dim, Memory>&) { contribution = computed; });
    changed = false;
    if constexpr (is_host_memory<Memory>) {
      m_exec.fence();
      take(contribution, image.values().data());
    } else {
      take(contribution, download(m_exec, image.values()).data());
    }
  }
}

template <class T, int Dim, class Memory>
ExtendedResult<T> CoreEvaluator<T, Dim, Memory>::extended_image(const Model& model,
                                                                const Lags& lags) {
  Image image(m_exec, m_gradients->box(), lags);
  add_to_image(image, model, true, {}, [](auto&&...) {});
  return this->result_of(m_exec, image);
}

// Returns the traces of a shot, receivers x samples.
template <class T, int Dim, class Memory>
std::vector<float> CoreEvaluator<T, Dim, Memory>::model_gather(Modelling& modelling,
                                                               const Model& model,
                                                               const wave::Shot<Dim>& shot) {
  m_stale = true;
  modelling.update(m_exec, model, shot.sources);
  wave::ShotOptions<T, Dim, Memory> options;
  options.steps = modelling.plan().time.steps;
  const auto result = wave::locate_overflow<Dim>(
      m_grid, options.steps, concat("data of shot ", shot.number),
      [&](std::int64_t check_every) {
        options.check_every = check_every;
        return modelling.shot(m_exec, shot, options);
      },
      this->overflow_advice());
  return std::vector<float>(result.traces.data(), result.traces.data() + result.traces.size());
}

template <class T, int Dim, class Memory>
wave::PointSeries<T, Memory> CoreEvaluator<T, Dim, Memory>::amplitudes(const Instance<Memory>& exec,
                                                                       std::size_t sources) const {
  std::vector<T> values;
  for (const double sample : m_plan.wavelet) {
    values.insert(values.end(), sources, static_cast<T>(sample));
  }
  const auto series = allocate<wave::PointSeries<T, Memory>>(exec, "moho::fwi::amplitudes",
                                                             values.size() / sources, sources);
  copy(exec, wave::Storage<T, Memory>(series.data(), values.size()),
       HostElements<const T>(values.data(), values.size()));
  exec.fence();
  return series;
}

// Returns the points of a shot, created once per band: allocations wait for all work of a device.
template <class T, int Dim, class Memory>
const typename CoreEvaluator<T, Dim, Memory>::ShotPoints& CoreEvaluator<T, Dim, Memory>::points_of(
    const Instance<Memory>& exec, std::size_t k) {
  const auto& propagator = m_shots->propagator();
  const wave::Shot<Dim>& shot = m_data.shots()[k];
  ShotPoints& points = m_points[k];
  if (points.receivers.count() > 0) return points;
  const std::string name = concat("shot ", shot.number, ": ");
  points.sources = m_shots->sources(exec, shot, name);
  points.amplitudes = amplitudes(exec, shot.sources.size());
  points.receivers =
      wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(), shot.receivers,
                                     wave::point_options(propagator, name + "receiver", true));
  return points;
}

template <class T, int Dim, class Memory>
void CoreEvaluator<T, Dim, Memory>::compute_shot(const Bench& bench, std::size_t k,
                                                 const Model& model,
                                                 ShotContribution<T>& contribution,
                                                 const Report& report) {
  const Instance<Memory>& exec = bench.exec;
  const wave::Shot<Dim>& shot = m_data.shots()[k];
  this->with_memory_advice([&] {
    const ShotPoints& points = points_of(exec, k);
    const wave::SourceTerm<T, Dim, Memory> forward{&m_shots->propagator(), &points.sources,
                                                   points.amplitudes};
    ShotGradientOptions<T, Dim, Memory> options;
    options.steps = m_plan.time.steps;
    options.extended = m_extended;
    std::optional<wave::Propagator<T, Dim, Memory>> other;
    wave::PointSet<T, Dim, Memory> other_sources;
    wave::SourceTerm<T, Dim, Memory> own;
    if (m_source_field == SourceField::random) {
      other.emplace(behind_random_faces(exec, model, shot));
      other_sources = wave::PointSet<T, Dim, Memory>(
          exec, other->grid(), other->layout(), shot.sources,
          wave::point_options(*other, concat("shot ", shot.number, ": source"), true));
      own = {&*other, &other_sources, forward.amplitudes};
      options.source = &own;
    }
    if (report) {
      options.progress = [&](int propagation, const wave::ShotProgress& now) {
        report(k, propagation, now);
      };
    }
    const auto done = wave::locate_overflow<Dim>(
        m_grid, options.steps, "",
        [&](std::int64_t check_every) {
          options.check_every = check_every;
          const auto store = make_store(bench, options.source != nullptr ? own : forward);
          return bench.gradients.add(exec, bench.wavefield, forward, points.receivers,
                                     this->misfit_of(exec, k), *store, options);
        },
        this->overflow_advice());
    contribution.misfit = done.misfit;
    contribution.points = done.points;
    contribution.forward_seconds = done.forward_seconds;
    contribution.backward_seconds = done.backward_seconds;
  });
}

// Returns the model with random boundaries, which are equal in all evaluations of a shot.
template <class T, int Dim, class Memory>
wave::Propagator<T, Dim, Memory> CoreEvaluator<T, Dim, Memory>::behind_random_faces(
    const Instance<Memory>& exec, const Model& model, const wave::Shot<Dim>& shot) const {
  wave::PropagatorOptions<Dim> options = m_shots->propagator().options();
  options.boundaries = random_faces(m_options, options.boundaries);
  options.frequency = 0.0;  // random boundaries are slower than the grid carries well
  Model tapered = model;
  const double taper = m_plan.source_taper;
  if (taper > 0.0) {
    tapered.delta = wave::taper_delta<T, Dim, Memory>(exec, m_grid, model, shot.sources, taper);
  }
  const auto extended = wave::extend_model<T, Dim, Memory>(
      exec, m_grid, tapered, options.boundaries, this->random_of(shot));
  return wave::Propagator<T, Dim, Memory>(exec, wave::extended_grid(m_grid, options.boundaries),
                                          extended, options);
}

template <class T, int Dim, class Memory>
std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> CoreEvaluator<T, Dim, Memory>::make_store(
    const Bench& bench, const wave::SourceTerm<T, Dim, Memory>& source) const {
  const int fields = bench.gradients.fields();
  const std::int64_t product_interval = bench.gradients.product_interval();
  switch (m_source_field) {
    case SourceField::stored:
      return std::make_unique<snapshot::MemoryStore<T, Dim, Memory>>(bench.arena, fields);
    case SourceField::replay:
      return std::make_unique<snapshot::CheckpointStore<T, Dim, Memory>>(
          bench.exec, source, bench.arena, m_plan.time.steps / product_interval, product_interval,
          m_piece, m_states, fields);
    default:
      return std::make_unique<snapshot::BoundaryStore<T, Dim, Memory>>(
          bench.exec, source, bench.arena,
          snapshot::BoundaryStoreOptions{fields, bench.gradients.outside()});
  }
}

}  // namespace moho::fwi

#include <moho/fwi/detail/core_batches.hpp>
#include <moho/fwi/detail/core_memory.hpp>
