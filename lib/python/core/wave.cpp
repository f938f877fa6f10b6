// SPDX-License-Identifier: BSD-3-Clause
//
// Modelling of shots for the Python package.

#include "arrays.hpp"
#include "bindings.hpp"
#include "device.hpp"
#include "modelling.hpp"
#include "shot_points.hpp"
#include "slab_plan.hpp"
#include "stored_wavefield.hpp"

#include <moho/core/arena.hpp>
#include <moho/core/space.hpp>
#include <moho/domain/factory.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/fwi/gradient_memory.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/shots.hpp>
#include <moho/wave/source_region.hpp>
#include <moho/wave/traces.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace moho::python {

namespace {

namespace nb = nanobind;

template <class T, int Dim, class Memory>
class ModellingOf : public AnyModelling {
 public:
  void release() override {
    m_points.release();
    m_rows = {};
    m_gradients.reset();
    m_modelling.reset();
    m_spare.reset();
  }

  void prepare(const WaveInput& given, ShotsPlan& shown) override {
    const Grid<Dim> grid = grid_of<Dim>(given.fields.front().second, given.spacing, given.origin);
    wave::ModellingOptions<Dim> options = modelling_of<Dim>(given);
    if (given.expand != domain::ExpansionMethod::none) {
      options.batch_size = 1;
      // arrivals are computed from the model
      options.keep_model = given.expand != domain::ExpansionMethod::amplitude;
    }
    auto model = model_in<T, Dim, Memory>(instance(), grid, given, true);
    const wave::Boundaries<Dim> faces = faces_of<Dim>(given, model.medium());
    m_modelling.emplace(wave::make_modelling<T, Dim, Memory>(instance(), grid, std::move(model),
                                                             faces, wavelet_of(given), options));
    m_around = options.sources;
    m_expand = given.expand;
    m_domain = given.domain;
    m_memory = given.memory;
    const wave::ModellingPlan<Dim>& plan = m_modelling->plan();
    shown = shots_plan(plan, given.order);
    check_snapshots(grid, sizeof(T), plan.time, is_host_memory<Memory> ? given.memory : 0,
                    plan.memory.peak);
  }

  void shot(Job& job, const Input& sources, const Input& receivers, const TraceTarget& traces,
            ShotSteps& steps) override {
    auto& modelling = opened();
    if (steps.snapshots != nullptr || m_expand != domain::ExpansionMethod::none) {
      return survey(job, {sources}, {receivers}, {traces}, steps);
    }
    const auto points = m_points.of(modelling, sources, receivers, false);
    auto options = modelling.shot_options();
    options.traces = !traces.device;
    options.progress = [&job](const wave::ShotProgress& now) {
      job.report(static_cast<double>(now.step) / static_cast<double>(now.steps), "stepping");
    };
    const auto result = wave::model_shot<T, Dim, Memory>(
        instance(), modelling.propagator(), modelling.wavefield(), points->sources,
        points->source.amplitudes, points->receivers, options);
    give_traces(result, traces);
    steps.stepped.assign(1, 1.0);
  }

  void survey(Job& job, const std::vector<Input>& sources, const std::vector<Input>& receivers,
              const std::vector<TraceTarget>& traces, ShotSteps& steps) override {
    auto& modelling = opened();
    const std::vector<wave::Shot<Dim>> shots = shots_at<Dim>(sources, receivers);
    modelling.check(instance(), shots);
    wave::SurveyRunOptions<T, Dim, Memory> options;
    options.domain = domain::domain_factory(m_expand, modelling, m_domain);
    options.memory = m_memory;
    if (steps.snapshots != nullptr) {
      options.snapshot = write_snapshots<T>(steps.snapshots);
    }
    options.progress = [&](const wave::SurveyProgress& now) {
      job.report(now.done / static_cast<double>(shots.size()), "shots");
    };
    wave::model_shots(
        instance(), modelling, shots,
        [&](std::size_t k, const wave::ShotResult<T, Dim, Memory>& result) {
          give_traces(result, traces[k]);
          steps.stepped.push_back(result.points / result.whole_points);
          if (k == 0 && options.domain && steps.snapshots != nullptr) {
            steps.domains = domain::snapshot_domains(modelling.plan(), result.boxes);
          }
        },
        options);
  }

  void update(const WaveInput& model) override {
    m_model_number = next_model_number();
    try {
      opened().update(instance(), model_of(model), m_around);
      if (m_gradients) m_gradients->update(instance());
    } catch (...) {
      m_gradients.reset();  // its factors may be those of another model
      throw;
    }
  }

  std::shared_ptr<Resource> shot_for_gradient(Job& job, const Input& sources,
                                              const Input& receivers, const TraceTarget& traces,
                                              const std::vector<bool>& wanted) override {
    auto& modelling = opened();
    const wave::TimePlan& time = modelling.plan().time;
    const wave::ShotSampling sampling = wave::shot_sampling(time.dt, time.steps, time.interval);
    const auto points = m_points.of(modelling, sources, receivers, true);
    const PointsOf& shot = *points;
    prepare_gradients({wanted.at(1), wanted.at(2) || wanted.at(3)});
    if (sampling.resampled || !stores_wavefield()) return nullptr;
    const auto kept = std::make_shared<Kept>(m_spare, m_wanted, m_gradients->fields());
    kept->model_number = m_model_number;
    const auto rows = rows_of(shot);
    m_gradients->forward(instance(), modelling.wavefield(), shot.source, shot.receivers, rows,
                         *kept->store, gradient_options(job, 1.0));
    give_values(traces, sampling.samples * shot.receivers.count(), [&](T* to) {
      wave::traces_of_steps<T, Memory>(instance(), rows, sampling.samples, sampling.every, to);
    });
    own(kept);
    return kept;
  }

  void gradient(Job& job, const WaveInput& model, const Input& sources, const Input& receivers,
                const AnyInput& derivative, const std::vector<TraceTarget>& gradients,
                Resource* wavefield) override {
    auto& modelling = opened();
    const auto points = m_points.of(modelling, sources, receivers, true);
    const PointsOf& shot = *points;
    const auto* kept = dynamic_cast<const Kept*>(wavefield);
    if (kept != nullptr && kept->spare.lock() != m_spare) kept = nullptr;  // of other shots
    if (kept == nullptr || kept->model_number != m_model_number) update(model);
    prepare_gradients({gradients.at(1).data != nullptr,
                       gradients.at(2).data != nullptr || gradients.at(3).data != nullptr});
    m_gradients->clear(instance());
    if (kept != nullptr && kept->store && kept->wanted.density == m_wanted.density &&
        kept->wanted.anisotropy == m_wanted.anisotropy) {
      const auto adjoint = rows_of(shot);
      spread(derivative, adjoint);
      fwi::ShotGradientReport<Dim> report;
      m_gradients->backward(instance(), modelling.wavefield(), shot.source, shot.receivers, adjoint,
                            *kept->store, gradient_options(job, 1.0), report);
    } else {
      model_again(job, shot, derivative);
    }
    give(model, gradients);
  }

 private:
  using Arena = snapshot::DeviceArena<T, Memory>;
  using Kept = StoredWavefield<T, Dim, Memory>;
  using Store = snapshot::SnapshotStore<T, Dim, Memory>;
  using PointsOf = ShotPoints<T, Dim, Memory>;

  static Instance<Memory> instance() { return instance_in<Memory>(); }

  static void give_traces(const wave::ShotResult<T, Dim, Memory>& result,
                          const TraceTarget& traces) {
    if (traces.device) {
      wave::traces_of_gather<T, Memory>(instance(), result.gather, static_cast<T*>(traces.data));
      instance().fence();
    } else {
      std::copy_n(result.traces.data(), result.traces.size(), static_cast<T*>(traces.data));
    }
  }
  // Calls write(to) with memory of the instance for `count` values, which go to the place.
  template <class Write>
  static void give_values(const TraceTarget& destination, std::int64_t count, const Write& write) {
    if (destination.device || is_host_memory<Memory>) {
      write(static_cast<T*>(destination.data));
      return instance().fence();
    }
    const auto values = allocate<Kokkos::View<T*, Memory>>(instance(), "moho::python::traces",
                                                           static_cast<std::size_t>(count));
    write(values.data());
    copy_elements<T>(instance(), static_cast<T*>(destination.data), false, values.data(), true,
                     values.size());
  }
  // Returns uninitialised rows of all steps x receivers, which the next shot uses again if they
  // take 64 MiB or less.
  wave::PointSeries<T, Memory> rows_of(const PointsOf& shot) {
    const auto steps = static_cast<std::size_t>(m_modelling->plan().time.steps + 1);
    const auto receivers = static_cast<std::size_t>(shot.receivers.count());
    if (m_rows.extent(0) == steps && m_rows.extent(1) == receivers) return m_rows;
    m_rows = {};
    const auto rows =
        allocate<wave::PointSeries<T, Memory>>(instance(), "moho::python::rows", steps, receivers);
    if (rows.size() * sizeof(T) <= std::size_t{1} << 26) m_rows = rows;
    return rows;
  }
  // Returns true if the wavefield of a shot at all steps takes a quarter of the memory or less.
  bool stores_wavefield() {
    const wave::ModellingPlan<Dim>& plan = m_modelling->plan();
    const double bytes =
        fwi::source_field_bytes(m_modelling->propagator().scheme(), m_gradients->snapshot_nodes(),
                                m_gradients->outside(), plan.time.steps, 1)
            .stored;
    // memory that is held already needs no query
    if (m_memory == 0 && bytes <= static_cast<double>(m_spare->bytes())) return true;
    auto room = static_cast<double>(available_memory(instance()) + m_spare->bytes());
    if (m_memory > 0) {
      room = std::min(room, static_cast<double>(m_memory) - static_cast<double>(plan.memory.peak) -
                                static_cast<double>(m_gradients->bytes()));
    }
    return bytes <= 0.25 * room;
  }
  // part: of the progress that a propagation stands for
  fwi::ShotGradientOptions<T, Dim, Memory> gradient_options(Job& job, double part) {
    fwi::ShotGradientOptions<T, Dim, Memory> options;
    options.steps = m_modelling->plan().time.steps;
    options.progress = [&job, part](int propagation, const wave::ShotProgress& now) {
      const double done = static_cast<double>(now.step) / static_cast<double>(now.steps);
      job.report(part * done + (propagation == 2 ? 1.0 - part : 0.0),
                 propagation == 2 ? "backward" : "forward");
    };
    return options;
  }
  // Adds the gradient of a shot to the sums, with its forward propagation.
  void model_again(Job& job, const PointsOf& shot, const AnyInput& derivative) {
    const int fields = m_gradients->fields();
    if (stores_wavefield()) {
      auto arena = m_spare->take();
      snapshot::MemoryStore<T, Dim, Memory> store(*arena, fields);
      add_gradient(job, shot, derivative, store);
      return m_spare->put(std::move(arena));
    }
    Arena arena("moho::python::wavefield", std::int64_t{1} << 20);
    snapshot::BoundaryStore<T, Dim, Memory> store(
        instance(), shot.source, arena,
        snapshot::BoundaryStoreOptions{fields, m_gradients->outside()});
    add_gradient(job, shot, derivative, store);
  }
  void add_gradient(Job& job, const PointsOf& shot, const AnyInput& derivative, Store& store) {
    m_gradients->add(
        instance(), m_modelling->wavefield(), shot.source, shot.receivers,
        [&](const auto&, const wave::PointSeries<T, Memory>& adjoint) {
          spread(derivative, adjoint);
          return 0.0;
        },
        store, gradient_options(job, 0.5));
  }

  wave::Modelling<T, Dim, Memory>& opened() {
    if (m_modelling) return *m_modelling;
    throw shots_are_closed();
  }
  wave::Model<T, Dim, Memory> model_of(const WaveInput& model) {
    return model_in<T, Dim, Memory>(instance(), m_modelling->model_grid(), model, true);
  }
  void prepare_gradients(const fwi::InvertedParameters& wanted) {
    if (m_gradients && m_wanted.density == wanted.density &&
        m_wanted.anisotropy == wanted.anisotropy) {
      return;
    }
    m_gradients.emplace(instance(), m_modelling->propagator(), wanted);
    m_wanted = wanted;
  }
  // Spreads derivatives by samples, receivers x samples, over the steps: the transpose of sampling.
  void spread(const AnyInput& derivative, const wave::PointSeries<T, Memory>& adjoint) {
    const wave::TimePlan& time = m_modelling->plan().time;
    const wave::ShotSampling sampling = wave::shot_sampling(time.dt, time.steps, time.interval);
    if (sampling.resampled) {
      throw InputError(concat("interval: ", time.interval, " s is no multiple of the time step of ",
                              time.dt,
                              " s, and resampled traces have no gradient (allowed: "
                              "multiples): set dt to a part of the interval"));
    }
    if (on_device(derivative)) Kokkos::fence();  // for work of the caller's streams
    const T* values = static_cast<const T*>(derivative.data());
    Kokkos::View<T*, Memory> copied;
    if (!is_host_memory<Memory> && !on_device(derivative)) {
      copied = allocate<Kokkos::View<T*, Memory>>(instance(), "moho::python::derivative",
                                                  derivative.size());
      copy_elements<T>(instance(), copied.data(), true, values, false, derivative.size());
      values = copied.data();
    }
    wave::spread_traces<T, Memory>(instance(), values, sampling.samples, sampling.every, adjoint);
    instance().fence();
  }
  void give(const WaveInput& model, const std::vector<TraceTarget>& gradients) {
    const Grid<Dim>& grid = m_modelling->model_grid();
    const double taper = m_modelling->plan().source_taper;
    Field<T, Dim, Memory> kept;
    if (taper > 0.0 && !m_around.empty()) {
      wave::Model<T, Dim, Memory> one;
      one.delta = make_field<T>(instance(), grid, "delta");
      fill(instance(), one.delta, T(1));
      kept = wave::taper_delta<T, Dim, Memory>(instance(), grid, one, m_around, taper);
    }
    const auto found = m_gradients->derivatives(instance(), grid, model_of(model), kept);
    instance().fence();
    const Field<T, Dim, Memory>* const fields[] = {&found.vp, &found.density, &found.epsilon,
                                                   &found.delta};
    for (std::size_t k = 0; k < gradients.size(); ++k) {
      if (gradients[k].data == nullptr) continue;
      copy_elements<T>(instance(), static_cast<T*>(gradients[k].data), gradients[k].device,
                       static_cast<const T*>(fields[k]->data()), !is_host_memory<Memory>,
                       fields[k]->size());
    }
  }

  std::optional<wave::Modelling<T, Dim, Memory>> m_modelling;
  std::optional<fwi::ShotGradients<T, Dim, Memory>> m_gradients;
  std::shared_ptr<SpareMemory<T, Memory>> m_spare = std::make_shared<SpareMemory<T, Memory>>();
  KeptPoints<T, Dim, Memory> m_points;
  wave::PointSeries<T, Memory> m_rows;
  std::int64_t m_model_number = next_model_number();
  fwi::InvertedParameters m_wanted;
  Points<Dim> m_around;  // sources around which delta is tapered
  domain::ExpansionMethod m_expand = domain::ExpansionMethod::none;
  domain::DomainOptions m_domain;
  std::size_t m_memory = 0;
};

// Returns modelling in a memory for fields like vp.
template <class Memory>
std::shared_ptr<AnyModelling> modelling_like(const AnyInput& vp) {
  return with_kind(vp.dtype(), vp.ndim(), [](auto kind) -> std::shared_ptr<AnyModelling> {
    using T = typename decltype(kind)::Scalar;
    refuse_missing_kernels<T>();
    if constexpr (has_wave_kernels<T>) {
      return std::make_shared<ModellingOf<T, decltype(kind)::dim, Memory>>();
    } else {
      return nullptr;
    }
  });
}

// Shots over one model.
class Shots {
 public:
  // devices: that hold a shot in slabs; 0: as few as have the memory; 1: no slabs
  Shots(const WaveInput& given, const std::string& space, int devices, const nb::object& progress)
      : m_double(given.fields.front().second.dtype() == nb::dtype<double>()) {
    const AnyInput& vp = given.fields.front().second;
    for (std::size_t d = 0; d < vp.ndim(); ++d) m_shape.push_back(vp.shape(d));
    m_modelling = with_memory(
        space, [&](auto memory) { return modelling_like<typename decltype(memory)::type>(vp); });
    run(progress, [&](Job&) { prepare(given, space, devices); });
  }
  Shots(const Shots&) = delete;
  Shots& operator=(const Shots&) = delete;
  ~Shots() { disown(m_modelling); }

  const ShotsPlan& plan() const { return m_plan; }

  // Returns traces, snapshots or None, domains of snapshots, and fractions of nodes stepped.
  // device: traces are in device memory
  nb::object shot(const Input& sources, const Input& receivers, bool device,
                  const nb::object& progress) {
    return m_double ? shot_in<double>(sources, receivers, device, progress)
                    : shot_in<float>(sources, receivers, device, progress);
  }
  // Returns the same, with a list of the traces of all shots, and snapshots of the first one.
  nb::object survey(const std::vector<Input>& sources, const std::vector<Input>& receivers,
                    bool device, const nb::object& progress) {
    return m_double ? survey_in<double>(sources, receivers, device, progress)
                    : survey_in<float>(sources, receivers, device, progress);
  }
  void update(const std::vector<OptionalField>& fields) {
    const WaveInput model = model_of(fields);
    run(nb::none(), [&](Job&) { m_modelling->update(model); });
  }
  // Returns traces and the wavefield for gradient(), both None where it needs too much memory.
  nb::object shot_for_gradient(const Input& sources, const Input& receivers, bool device,
                               const std::vector<bool>& wanted, const nb::object& progress) {
    return m_double ? kept_shot_in<double>(sources, receivers, device, wanted, progress)
                    : kept_shot_in<float>(sources, receivers, device, wanted, progress);
  }
  // Derivatives by vp, density, epsilon and delta where wanted, in the memory of the model.
  nb::object gradient(const std::vector<OptionalField>& fields, const Input& sources,
                      const Input& receivers, const AnyInput& derivative,
                      const std::vector<bool>& wanted, const Wavefield* wavefield,
                      const nb::object& progress) {
    Resource* const kept = wavefield != nullptr ? wavefield->get() : nullptr;
    return m_double
               ? gradient_in<double>(fields, sources, receivers, derivative, wanted, kept, progress)
               : gradient_in<float>(fields, sources, receivers, derivative, wanted, kept, progress);
  }
  void close() {
    run(nb::none(), [&](Job&) { m_modelling->release(); });
  }

 private:
  // Prepares the modelling of one device, or of slabs.
  void prepare(const WaveInput& given, const std::string& space, int devices) {
    if (devices == 0) {
      devices = with_memory(space, [](auto memory) {
        return stream::device_count(instance_in<typename decltype(memory)::type>()) == 1 ? 1 : 0;
      });
    }
    if (devices <= 1) {
      try {
        own(m_modelling);
        return m_modelling->prepare(given, m_plan);
      } catch (const MemoryError&) {
        const bool divides = given.expand != domain::ExpansionMethod::amplitude &&
                             !on_device(given.fields.front().second);
        if (devices == 1 || !divides) throw;
      }
      disown(m_modelling);
    }
    m_modelling = make_slab_modelling(given.fields.front().second, space, devices);
    own(m_modelling);
    m_modelling->prepare(given, m_plan);
  }
  static WaveInput model_of(const std::vector<OptionalField>& fields) {
    WaveInput model;
    for (std::size_t k = 0; k < fields.size(); ++k) {
      if (fields[k]) model.fields.emplace_back(static_cast<wave::Parameter>(k), *fields[k]);
    }
    return model;
  }
  template <class T>
  nb::object shot_in(const Input& sources, const Input& receivers, bool device,
                     const nb::object& progress) {
    auto traces =
        make_result<T>({receivers.shape(0), static_cast<std::size_t>(m_plan.samples)}, device);
    const TraceTarget destination{traces.data, traces.device};
    ShotSteps steps;
    const nb::object snapshots = make_snapshots<T>(steps);
    run(progress,
        [&](Job& job) { m_modelling->shot(job, sources, receivers, destination, steps); });
    return result_of(traces.array, snapshots, steps);
  }
  template <class T>
  nb::object survey_in(const std::vector<Input>& sources, const std::vector<Input>& receivers,
                       bool device, const nb::object& progress) {
    nb::list result;
    std::vector<TraceTarget> destinations;
    for (const Input& of_shot : receivers) {
      const auto made =
          make_result<T>({of_shot.shape(0), static_cast<std::size_t>(m_plan.samples)}, device);
      destinations.push_back({made.data, made.device});
      result.append(made.array);
    }
    ShotSteps steps;
    const nb::object snapshots = make_snapshots<T>(steps);
    run(progress,
        [&](Job& job) { m_modelling->survey(job, sources, receivers, destinations, steps); });
    return result_of(result, snapshots, steps);
  }
  // Returns an array for snapshots, or None.
  template <class T>
  nb::object make_snapshots(ShotSteps& steps) const {
    if (m_plan.snapshot_steps == 0) return nb::none();
    std::vector<std::size_t> shape{static_cast<std::size_t>(m_plan.steps / m_plan.snapshot_steps)};
    shape.insert(shape.end(), m_shape.begin(), m_shape.end());
    auto [data, array] = make_array<T>(shape);
    steps.snapshots = data;
    return nb::cast(array);
  }
  static nb::object result_of(const nb::object& traces, const nb::object& snapshots,
                              const ShotSteps& steps) {
    return nb::make_tuple(traces, snapshots, domains_of(steps.domains), steps.stepped);
  }
  template <class T>
  nb::object kept_shot_in(const Input& sources, const Input& receivers, bool device,
                          const std::vector<bool>& wanted, const nb::object& progress) {
    auto traces =
        make_result<T>({receivers.shape(0), static_cast<std::size_t>(m_plan.samples)}, device);
    const TraceTarget destination{traces.data, traces.device};
    std::shared_ptr<Resource> kept;
    run(progress, [&](Job& job) {
      kept = m_modelling->shot_for_gradient(job, sources, receivers, destination, wanted);
    });
    if (!kept) return nb::make_tuple(nb::none(), nb::none());
    return nb::make_tuple(traces.array,
                          nb::cast(new Wavefield(kept), nb::rv_policy::take_ownership));
  }
  template <class T>
  nb::object gradient_in(const std::vector<OptionalField>& fields, const Input& sources,
                         const Input& receivers, const AnyInput& derivative,
                         const std::vector<bool>& wanted, Resource* kept,
                         const nb::object& progress) {
    const WaveInput model = model_of(fields);
    const AnyInput& vp = model.fields.front().second;
    std::vector<std::size_t> shape;
    for (std::size_t d = 0; d < vp.ndim(); ++d) shape.push_back(vp.shape(d));
    nb::list result;
    std::vector<TraceTarget> destinations;
    for (const bool one : wanted) {
      destinations.emplace_back();
      if (!one) {
        result.append(nb::none());
        continue;
      }
      const auto made = make_result<T>(shape, on_device(vp));
      destinations.back() = {made.data, made.device};
      result.append(made.array);
    }
    run(progress, [&](Job& job) {
      m_modelling->gradient(job, model, sources, receivers, derivative, destinations, kept);
    });
    return result;
  }

  bool m_double;
  std::vector<std::size_t> m_shape;  // nodes of the model
  ShotsPlan m_plan;
  std::shared_ptr<AnyModelling> m_modelling;
};

// Makes shots from the arguments of the package: fields in the order of wave::Parameter.
Shots* make_shots(const std::vector<OptionalField>& fields, const std::vector<double>& spacing,
                  const std::vector<double>& origin, const std::string& wavelet,
                  const OptionalInput& samples, double wavelet_interval, const std::string& faces,
                  bool free_surface, const std::vector<double>& times, int order,
                  const std::string& equations, double sigma, int parameters,
                  const OptionalInput& sources, std::optional<double> source_taper,
                  std::size_t memory, const std::string& space, int devices, int concurrent_shots,
                  double snapshot_every, const std::string& expand, double expand_threshold,
                  int expand_interval, int expand_coarsening, std::uint64_t seed,
                  const nb::object& progress) {
  WaveInput given =
      make_wave_input(fields, spacing, origin, wavelet, samples, wavelet_interval, faces,
                      free_surface, times, order, equations, sigma, sources, source_taper, memory);
  given.parameters = parameter_storage(parameters);
  given.concurrent_shots = concurrent_shots;
  domain::DomainOptions domain;
  domain.threshold = expand_threshold;
  domain.interval = expand_interval;
  domain.coarsening = expand_coarsening;
  set_snapshots_and_domains(given, snapshot_every, expand, domain, seed);
  return new Shots(given, space, devices, progress);
}

}  // namespace

void bind_wave(nb::module_& m) {
  nb::class_<ShotsPlan>(m, "ShotsPlan")
      .def_ro("dt", &ShotsPlan::dt)
      .def_ro("interval", &ShotsPlan::interval)
      .def_ro("source_taper", &ShotsPlan::source_taper)
      .def_ro("frequency", &ShotsPlan::frequency)
      .def_ro("steps", &ShotsPlan::steps)
      .def_ro("samples", &ShotsPlan::samples)
      .def_ro("snapshot_steps", &ShotsPlan::snapshot_steps)
      .def_ro("memory", &ShotsPlan::memory)
      .def_ro("medium", &ShotsPlan::medium)
      .def_ro("faces", &ShotsPlan::faces)
      .def_prop_ro("slabs", [](const ShotsPlan& plan) { return slabs_of(plan.slabs); })
      .def_prop_ro("numbers", [](const ShotsPlan& plan) { return dict_of(plan.numbers); });
  nb::class_<Wavefield>(m, "Wavefield");
  nb::class_<Shots>(m, "Shots")
      .def_prop_ro("plan", &Shots::plan)
      .def("shot", &Shots::shot, nb::arg("sources").noconvert(), nb::arg("receivers").noconvert(),
           nb::arg("device"), nb::arg("progress").none())
      .def("survey", &Shots::survey, nb::arg("sources"), nb::arg("receivers"), nb::arg("device"),
           nb::arg("progress").none())
      .def("update", &Shots::update, nb::arg("fields"))
      .def("gradient", &Shots::gradient, nb::arg("fields"), nb::arg("sources").noconvert(),
           nb::arg("receivers").noconvert(), nb::arg("derivative").noconvert(), nb::arg("wanted"),
           nb::arg("wavefield").none(), nb::arg("progress").none())
      .def("shot_for_gradient", &Shots::shot_for_gradient, nb::arg("sources").noconvert(),
           nb::arg("receivers").noconvert(), nb::arg("device"), nb::arg("wanted"),
           nb::arg("progress").none())
      .def("close", &Shots::close);
  m.def("make_shots", &make_shots, nb::arg("fields"), nb::arg("spacing"), nb::arg("origin"),
        nb::arg("wavelet"), nb::arg("samples").none(), nb::arg("wavelet_interval"),
        nb::arg("faces"), nb::arg("free_surface"), nb::arg("times"), nb::arg("order"),
        nb::arg("equations"), nb::arg("sigma"), nb::arg("parameters"), nb::arg("sources").none(),
        nb::arg("source_taper").none(), nb::arg("memory"), nb::arg("space"), nb::arg("devices"),
        nb::arg("concurrent_shots"), nb::arg("snapshot_every"), nb::arg("expand"),
        nb::arg("expand_threshold"), nb::arg("expand_interval"), nb::arg("expand_coarsening"),
        nb::arg("seed"), nb::arg("progress").none(), nb::rv_policy::take_ownership);
}

}  // namespace moho::python
