// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plan of a migration: time step, windows, storage, number of concurrent shots.

#include <moho/core/concurrent.hpp>
#include <moho/core/space.hpp>
#include <moho/rtm/detail/slab_shots.hpp>
#include <moho/rtm/detail/streamed_shots.hpp>
#include <moho/rtm/migration_types.hpp>
#include <moho/snapshot/rates.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/survey/trace_memory.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::rtm::detail {

/// \brief Copies a model of the host to the memory of an instance; hosts share its fields.
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> upload_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                         const HostModel<T, Dim>& model) {
  if constexpr (is_host_memory<Memory>) {
    return model;
  } else {
    wave::Model<T, Dim, Memory> result;
    wave::for_each_field(model, [&](wave::Parameter parameter, const HostField<T, Dim>& from) {
      auto to = make_field<T>(exec, grid, from.label());
      copy(exec, to, from);
      result.field(parameter) = to;
    });
    exec.fence();
    return result;
  }
}

/// \brief Calls a function and prefixes its errors with "data_model: ".
template <class Function>
auto with_data_model(const Function& function) {
  try {
    return function();
  } catch (const InputError& error) {
    throw InputError(concat("data_model: ", error.what()));
  }
}

/// Plans all shots before the first one, and creates the propagator of each shot.
template <class T, int Dim, class Memory>
class MigrationPlanner {
 public:
  using Modelling = wave::Modelling<T, Dim, Memory>;

  explicit MigrationPlanner(MigrationInput<T, Dim> input)
      : m_input(std::move(input)), m_o(m_input.options) {
    if (m_input.shots.empty()) {
      throw InputError("shots: the list is empty (allowed: 1 or more): give the shots of a survey");
    }
    if (m_o.modelling.parameters != wave::ParameterStorage::full) {
      throw InputError(
          "parameters: migration stores them as numbers (allowed: ParameterStorage::full)");
    }
    survey::check_spreading(m_o.data.spreading, Dim);
    const auto check_count = [](const char* name, int value) {
      if (value >= 0) return;
      throw InputError(concat(name, " is ", value, " (allowed: 0 or more): 0 chooses"));
    };
    check_count("concurrent_shots", m_o.concurrent_shots);
    check_count("batch_size", m_o.batch_size);
    m_request = snapshot::make_storage_request(m_o.storage);
    m_request.host_kernels = is_host_memory<Memory>;
    m_request.shots = m_input.shots.size();
    check_stream();
    check_batches();
  }
  MigrationPlanner(const MigrationPlanner&) = delete;
  MigrationPlanner& operator=(const MigrationPlanner&) = delete;

  const MigrationInput<T, Dim>& input() const { return m_input; }
  /// Result of make_plan().
  const MigrationPlan<Dim>& plan() const { return m_plan; }
  /// Streams of the shots; null if they are migrated in core.
  StreamedShots<T, Dim, Memory>* streamed() const { return m_streamed.get(); }
  /// Slabs of the shots; null if one device or a stream migrates them.
  SlabShots<T, Dim, Memory>* slabs() const { return m_slabs.get(); }
  /// Keeps the slabs of the latest shot in the plan if they take more memory.
  void note_slabs() {
    stream::SlabPlan latest = m_slabs->slab_plan();
    if (latest.max_bytes() > m_plan.slabs.max_bytes()) m_plan.slabs = std::move(latest);
  }
  /// Options of modelling, with the time step of all shots.
  const wave::ModellingOptions<Dim>& modelling_options() const { return m_modelling; }

  /// Returns the window of a shot in the model.
  survey::ShotWindow<Dim> window_of(const wave::Shot<Dim>& shot) const {
    return survey::shot_window(m_input.grid, shot, {m_o.aperture.aperture, 0.0});
  }

  /// Returns the model in a window; `model` if the window is the complete grid.
  HostModel<T, Dim> part_of(const HostModel<T, Dim>& model,
                            const survey::ShotWindow<Dim>& window) const {
    if (window.box == whole_box(m_input.grid)) return model;
    HostModel<T, Dim> part;
    wave::for_each_field(model, [&](wave::Parameter parameter, const HostField<T, Dim>& field) {
      part.field(parameter) = survey::window_field(m_input.grid, window, field);
    });
    return part;
  }

  /// Makes the plan. \throws InputError, MemoryError
  void make_plan(const Instance<Memory>& exec) {
    m_plan.device = device_name(exec);
    m_plan.threads = exec.concurrency();
    m_plan.shots = m_input.shots.size();
    // the largest shot determines the plan
    std::size_t largest = 0;
    std::int64_t nodes = 0;
    double all = 0.0;
    for (std::size_t k = 0; k < m_input.shots.size(); ++k) {
      const std::int64_t size = window_of(m_input.shots[k]).grid.size();
      all += static_cast<double>(size);
      if (size > nodes) largest = k, nodes = size;
    }
    const survey::ShotWindow<Dim> window = window_of(m_input.shots[largest]);
    const double count = all / static_cast<double>(nodes);
    if (m_o.ranks != nullptr) return plan_ranks(exec, window, m_input.shots[largest], count);
    if (m_o.stream.devices == 0) {
      if (choose_devices(exec, window, m_input.shots[largest], count)) return;
    } else if (wants_slabs() && plan_slabs(exec, window, m_input.shots[largest], count)) {
      return;
    }
    if (wants_slabs() || streams(exec, window.grid)) {
      try {
        return plan_stream(exec, window, m_input.shots[largest], count);
      } catch (const MemoryError& error) {
        if (m_no_slabs.empty()) throw;
        throw MemoryError(concat(error.what(), "; ", m_no_slabs));
      }
    }
    if (!may_stream() || m_o.concurrent_shots > 1 || m_o.batch_size > 1) {
      return plan_in_core(exec, window, m_input.shots[largest], count);
    }
    const MigrationPlan<Dim> before = m_plan;
    const snapshot::StorageRequest request = m_request;
    std::exception_ptr failed;
    try {
      return plan_in_core(exec, window, m_input.shots[largest], count);
    } catch (const snapshot::StorageError&) {
      failed = std::current_exception();
    } catch (const MemoryError&) {
      failed = std::current_exception();
    }
    // streams() counts neither traces nor results nor the share of the memory that stays free
    m_plan = before;
    m_request = request;
    try {
      plan_stream(exec, window, m_input.shots[largest], count);
    } catch (const Error&) {
      std::rethrow_exception(failed);
    }
  }

  // Plans shots that are not divided. `largest`: equivalent number of such shots.
  void plan_in_core(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                    const wave::Shot<Dim>& shot, double largest) {
    plan_waves(exec);
    auto modelling = make(exec, window, part_of(m_input.model, window), shot);
    m_plan.memory = modelling.plan().memory;
    add_shot(m_plan.memory, window.grid.size());
    m_plan.extents = modelling.plan().grid.extents;
    measure(exec, modelling);
    const Box<Dim> interior = modelling.propagator().interior();
    snapshot::set_fixed_ratios(m_rates, sizeof(T) * static_cast<double>(interior.size()),
                               snapshot_boxes(interior));
    choose_concurrent(exec, modelling);
    measure_batch(exec, modelling);
    estimate(largest);
  }

  /// Creates propagator, arrays and plan of a shot. \throws InputError, MemoryError
  Modelling make(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                 const HostModel<T, Dim>& part, const wave::Shot<Dim>& shot) const {
    wave::ModellingOptions<Dim> options = m_modelling;
    options.sources = shot.sources;
    options.sources.insert(options.sources.end(), shot.receivers.begin(), shot.receivers.end());
    options.keep_model = m_o.domain == domain::ExpansionMethod::layers ||
                         m_o.domain == domain::ExpansionMethod::eikonal;
    options.memory = m_o.modelling.memory;
    return wave::make_modelling(exec, window.grid,
                                upload_model<T, Dim, Memory>(exec, window.grid, part),
                                m_input.faces, m_input.wavelet, options);
  }

 private:
  // Refuses options that do not combine with a requested stream.
  void check_stream() const {
    if (m_request.method == "random" && m_o.domain != domain::ExpansionMethod::none) {
      throw InputError(
          "storage: the method random is not possible here (the source wavefield comes back from "
          "all faces, of which a domain leaves some out; allowed: without a domain): choose "
          "another "
          "method");
    }
    const stream::StreamRequest& stream = m_o.stream;
    if (wants_slabs() && m_o.domain == domain::ExpansionMethod::amplitude) {
      throw InputError(concat("devices is ", stream::device_count_text(stream.devices),
                              " (allowed: 1 with the domain amplitude): its boxes depend on the "
                              "amplitudes of all slabs; choose the domain layers or eikonal"));
    }
    if (stream.block == 0 && stream.updates == 0 && (stream.devices <= 1 || wants_slabs())) return;
    if (m_o.domain != domain::ExpansionMethod::none) {
      throw InputError(concat(
          "stream: the domain is '", domain::to_string(m_o.domain),
          "' (allowed in a stream: none): many steps are under way at a time, and the source "
          "wavefield comes back from all faces; leave out one of them"));
    }
    if (m_request.method != "auto" && m_request.method != "random") {
      throw InputError(concat("stream: the storage is '", m_request.method,
                              "' (allowed in a stream: auto or random): a stream keeps no "
                              "snapshots; leave out one of them"));
    }
  }

  // Chooses the fewest devices that hold a shot; all, if no number suffices. Returns true if it
  // planned slabs.
  bool choose_devices(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                      const wave::Shot<Dim>& shot, double largest) {
    int& devices = m_input.options.stream.devices;
    const int accessible = stream::device_count(exec);
    devices = 1;
    if (accessible == 1 || !streams(exec, window.grid)) return false;
    while (devices < accessible) {
      ++devices;
      check_stream();
      if (wants_slabs() && plan_slabs(exec, window, shot, largest)) return true;
    }
    return false;
  }

  // Returns true if several devices should hold each shot in slabs.
  bool wants_slabs() const {
    const stream::StreamRequest& stream = m_o.stream;
    return stream.devices > 1 && stream.block == 0 && stream.updates == 0;
  }

  // Returns true if shots stream, see MigrationOptions::stream.
  bool streams(const Instance<Memory>& exec, const Grid<Dim>& window) const {
    const stream::StreamRequest& stream = m_o.stream;
    if (stream.block > 0 || stream.updates > 0 || stream.devices > 1) return true;
    if (!may_stream()) return false;
    const auto budget = is_host_memory<Memory>
                            ? static_cast<double>(stream.device_memory)
                            : static_cast<double>(memory_budget(exec, stream.device_memory));
    return in_core_bytes(window, m_request.method == "random") > budget;
  }

  // Returns true if shots may stream without a request: in a limited memory, with a storage that is
  // chosen, or that recomputes the source wavefield as streams do.
  bool may_stream() const {
    return m_o.domain == domain::ExpansionMethod::none && m_o.ranks == nullptr &&
           (m_request.method == "random" || m_request.method == "auto") &&
           !(is_host_memory<Memory> && m_o.stream.device_memory == 0);
  }

  // Returns the memory of a shot in core without snapshots, bytes.
  double in_core_bytes(const Grid<Dim>& window, bool random) const {
    const HostModel<T, Dim>& model = m_input.model;
    wave::MemoryShape<Dim> shape;
    shape.grid = window;
    shape.faces = m_input.faces;
    shape.medium = model.medium();
    shape.equations = m_o.modelling.equations;
    shape.order = m_o.modelling.order;
    shape.parameters = model.given().size();
    shape.delta = model.delta.data() != nullptr;
    shape.on_host = is_host_memory<Memory>;
    double sum = static_cast<double>(wave::modelling_memory<T, Dim>(shape).peak) +
                 3.0 * sizeof(T) * static_cast<double>(window.size());
    if (random) sum += random_bytes(window);
    return sum;
  }

  // Returns the memory of a separate source wavefield with random layers, bytes.
  double random_bytes(const Grid<Dim>& window) const {
    const auto stencil = wave::stencil_of(m_input.model.medium(), m_o.modelling.equations);
    const wave::Boundaries<Dim> faces =
        snapshot::random_faces(m_input.faces, m_o.storage.random_width);
    const auto padded = static_cast<double>(
        wave::make_layout<T>(wave::extended_grid(window, faces), m_o.modelling.order / 2).size);
    const int arrays = wave::coefficients_of(stencil, Dim).size() +
                       2 * (2 * wave::info(stencil).fields + wave::info(stencil).work_fields);
    return padded * arrays * sizeof(T);
  }

  // Plans the streams of the largest shot. `largest`: equivalent number of such shots.
  void plan_stream(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                   const wave::Shot<Dim>& shot, double largest) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    plan_waves(host);
    m_plan.result_bytes = result_bytes(window.grid.size(), 1);
    m_streamed = std::make_unique<StreamedShots<T, Dim, Memory>>(exec, m_input, m_modelling,
                                                                 m_interval, m_plan.result_bytes);
    m_streamed->open(window, part_of(m_input.model, window), shot);
    const auto& pair = m_streamed->pair();
    m_plan.stream = stream::describe(pair.plan(), pair.need(), pair.rates().both, pair.seconds());
    if (!m_no_slabs.empty()) m_plan.stream.push_back(m_no_slabs);
    m_plan.stream_plan = pair.plan();
    m_plan.stream_rates = pair.rates();
    m_plan.extents = m_streamed->modelling().grid.extents;
    m_plan.memory.peak = pair.plan().device_bytes;
    m_plan.memory.host = pair.plan().host_bytes;  // with traces
    m_plan.storage.strategy.keep = snapshot::StorageMethod::random_layers;
    m_plan.storage.strategy.name = "random layers, beside the receivers' wavefield in a stream";
    m_plan.storage.strategy.reason = "nothing is kept";
    m_plan.storage.strategy.seconds = pair.seconds();
    m_plan.storage.interval = m_interval;
    m_plan.storage.snapshots = m_plan.time.steps / m_interval;
    m_plan.storage.random_width = m_o.storage.random_width;
    m_plan.seconds = pair.seconds() * largest;
    if (m_input.data_model) m_plan.seconds += pair.model_seconds() * largest;
  }

  // Checks the models; chooses the time step of all shots and of modelled data.
  template <class Space>
  void plan_waves(const Instance<Space>& exec) {
    wave::ModellingOptions<Dim> options = m_o.modelling;
    for (const auto& shot : m_input.shots) {
      options.receivers =
          std::max(options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
    }
    const Grid<Dim>& grid = m_input.grid;
    const auto limits_of = [&](const HostModel<T, Dim>& given) {
      const auto model = upload_model<T, Dim, Space>(exec, grid, given);
      wave::check_model<T, Dim, Space>(exec, grid, model);
      return wave::limits_of<T, Dim, Space>(exec, grid, model, options.order, options.equations,
                                            options.sigma);
    };
    double dt = 0.0;
    if (m_input.data_model) {
      dt = with_data_model([&] { return limits_of(*m_input.data_model); }).largest_dt;
    }
    const auto model = upload_model<T, Dim, Space>(exec, grid, m_input.model);
    wave::check_model<T, Dim, Space>(exec, grid, model);
    if (options.time.dt == 0.0) {
      const double own = wave::limits_of<T, Dim, Space>(exec, grid, model, options.order,
                                                        options.equations, options.sigma)
                             .largest_dt;
      const double largest = dt > 0.0 ? std::min(dt, own) : own;
      options.time.dt = std::floor(0.9 * largest * 1e6) * 1e-6;
      if (!(options.time.dt > 0.0)) options.time.dt = 0.9 * largest;
    }
    wave::ModellingOptions<Dim> plain = options;
    plain.memory = std::size_t{1} << 62;  // make() checks the memory of windows
    const auto whole = wave::plan_modelling<T, Dim, Space>(exec, grid, model, m_input.faces,
                                                           m_input.wavelet, plain);
    m_modelling = options;
    m_plan.medium = whole.medium;
    m_plan.time = whole.time;
    m_plan.limits = whole.limits;
    m_plan.frequency = whole.frequency;
    m_plan.peak_time = whole.peak_time;
    m_plan.nodes_per_wave = whole.nodes_per_wave;
    m_plan.wavelet = survey::wavelet_times(whole.wavelet, whole.time.dt);
    m_plan.wavelet_interval =
        std::min(snapshot::snapshot_interval(whole.wavelet, whole.time.dt), whole.time.steps);
    m_interval = m_o.storage.interval > 0 ? m_o.storage.interval : m_plan.wavelet_interval;
    const std::int64_t largest = std::max<std::int64_t>(whole.time.steps / 2, 1);
    if (m_o.storage.interval > largest) {
      throw InputError(concat("snapshot_steps is ", m_o.storage.interval, " (allowed: 1 to ",
                              largest, ", as an image needs 2 snapshots in ", whole.time.steps,
                              " steps): decrease it, or increase the time"));
    }
  }

  // Estimates the seconds of `largest` largest shots. `part` of their nodes is stepped.
  void estimate(double largest, double part = 1.0) {
    m_plan.seconds = m_plan.storage.strategy.seconds * part * largest;
    if (m_input.data_model)
      m_plan.seconds += 0.5 * m_plan.storage.strategy.propagation_seconds * largest;
  }

  // Measures the rates of the cost model of storage methods.
  void measure(const Instance<Memory>& exec, Modelling& modelling, int sharing = 1) {
    m_rates = snapshot::measure_rates<T, Dim, Memory>(exec, modelling.propagator(),
                                                      modelling.wavefield(), m_request.codecs);
    m_rates.link = snapshot::measure_link(exec);
    m_disk = m_o.storage.disk;
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    m_request.threads = m_rates.threads = std::max(std::min(host.concurrency(), 64) / sharing, 1);
    const bool chosen = m_request.method == "auto" || m_request.method == "disk";
    const bool threads = m_request.method == "threads" || (!is_host_memory<Memory> && chosen);
    if (threads && !m_request.codecs.empty()) {
      // the requested codec only; the others are also weaker on threads of the host
      m_request.codecs.push_back(m_request.codecs.front());
      m_rates.codecs.push_back(snapshot::measure_host_codec<T, Dim, Memory>(
          m_request.codecs.front(), m_request.threads,
          snapshot::shortest_wave(modelling.propagator()), modelling.propagator().interior()));
    }
    if (chosen || m_request.method == "threads") measure_disk();
  }

  // See batch_planner.hpp.
  bool stores_batches() const;
  void check_batches() const;
  std::string different_models(const Instance<Memory>& exec, const Modelling& modelling) const;
  bool choose_batches(const Instance<Memory>& exec, const Modelling& modelling);
  void measure_batch(const Instance<Memory>& exec, const Modelling& modelling);

  // Chooses the storage, the number of concurrent shots and that of shots in a batch.
  void choose_concurrent(const Instance<Memory>& exec, const Modelling& modelling) {
    if (choose_batches(exec, modelling)) return;
    const int shots = static_cast<int>(std::min<std::size_t>(m_input.shots.size(), 1024));
    choose(exec, modelling, m_o.concurrent_shots > 0 ? std::min(m_o.concurrent_shots, shots) : 1);
    if (m_o.concurrent_shots > 0) return;
    // as many shots as need no slower storage
    const snapshot::StoragePlan alone = m_plan.storage;
    int count = std::min(shots, wave::shots_at_once(exec, modelling.plan().grid.size(), shots));
    for (; count > 1; --count) {
      try {
        choose(exec, modelling, count);
        if (m_plan.storage.strategy.name == alone.strategy.name &&
            m_plan.storage.location == alone.location) {
          return;
        }
      } catch (const InputError&) {  // insufficient memory for this number of shots
      } catch (const MemoryError&) {
      }
      m_plan.storage = alone;
      m_plan.concurrent_shots = 1;
      m_plan.result_bytes = result_bytes(modelling.propagator().interior().size(), 1);
    }
  }

  // See shot_memory.hpp.
  void measure_disk();
  std::vector<Box<Dim>> snapshot_boxes(const Box<Dim>& interior) const;
  survey::ShotTraceBytes trace_bytes() const;
  void add_shot(wave::MemoryNeed& need, std::int64_t nodes) const;
  void refuse_memory(std::size_t shots, std::size_t bytes, std::size_t allowed, bool given) const;
  std::size_t result_bytes(std::int64_t nodes, int concurrent) const;
  snapshot::Budget budget_of(const Instance<Memory>& exec, const Modelling& modelling,
                             int concurrent) const;

  // Sizes of a shot for the cost model of storage.
  snapshot::ShotShape shape_of(const Modelling& modelling) const {
    const auto& propagator = modelling.propagator();
    const auto nodes = static_cast<double>(propagator.grid().size());
    snapshot::ShotShape shape = shape_of(propagator.scheme(), propagator.interior(), nodes, nodes);
    shape.state_bytes = static_cast<double>(modelling.plan().memory.wavefield) /
                        (nodes * std::max(modelling.plan().concurrent_shots, 1));
    const Grid<Dim>& window = modelling.model_grid();
    shape.random_nodes = static_cast<double>(
        wave::extended_grid(window, snapshot::random_faces(m_input.faces, m_o.storage.random_width))
            .size());
    shape.random_bytes = random_bytes(window);
    return shape;
  }
  // The same without a separate source wavefield. `interior`: nodes of snapshots; `stepped` nodes
  // of a step; `held` nodes of a state.
  snapshot::ShotShape shape_of(const wave::Scheme<T, Dim, Memory>& scheme, const Box<Dim>& interior,
                               double stepped, double held) const {
    snapshot::ShotShape shape;
    shape.dims = Dim;
    for (int d = 0; d < Dim; ++d) {
      shape.interior[static_cast<std::size_t>(d)] = interior.extent(d);
    }
    shape.steps = m_plan.time.steps;
    shape.snapshots = m_plan.time.steps / m_interval;
    shape.step_nodes = stepped * static_cast<double>(shape.steps);
    shape.largest_snapshot = static_cast<double>(interior.size());
    shape.snapshot_nodes = shape.largest_snapshot * static_cast<double>(shape.snapshots);
    shape.state_nodes = held;
    shape.snapshot_bytes = sizeof(T);
    shape.state_bytes = 2.0 * sizeof(T) * scheme.fields();  // without layers
    shape.image_bytes = static_cast<int>(4 * sizeof(T));
    shape.face_layers = wave::info(scheme.stencil()).passes * (scheme.order() / 2);
    shape.face_bytes = static_cast<int>(sizeof(T)) * scheme.fields();
    shape.face_error = sizeof(T) == 4 ? 1e-4 : 1e-11;
    return shape;
  }

  // Chooses the storage for a number of concurrent shots.
  void choose(const Instance<Memory>& exec, const Modelling& modelling, int concurrent) {
    const snapshot::Budget budget = budget_of(exec, modelling, concurrent);
    m_request.concurrent_shots = concurrent;
    snapshot::Rates rates = m_rates;
    rates.disk_write /= concurrent;
    rates.disk_read /= concurrent;
    m_plan.storage = storage_for(shape_of(modelling), rates, budget);
    m_plan.concurrent_shots = concurrent;
    m_plan.result_bytes = result_bytes(modelling.propagator().interior().size(), concurrent);
  }
  // Returns the storage of a shot, or of a slab of it. \throws InputError if none fits
  snapshot::StoragePlan storage_for(const snapshot::ShotShape& shape, const snapshot::Rates& rates,
                                    const snapshot::Budget& budget) const {
    snapshot::StoragePlan storage = snapshot::choose_storage(shape, rates, budget, m_request);
    storage.interval = m_interval;
    storage.snapshots = m_plan.time.steps / m_interval;
    storage.folder = m_o.storage.folder;
    storage.random_width = m_o.storage.random_width;
    return storage;
  }

  // See slab_planner.hpp.
  bool plan_slabs(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                  const wave::Shot<Dim>& shot, double largest);
  void measure_slab(const survey::ShotWindow<Dim>& window);
  void plan_ranks(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                  const wave::Shot<Dim>& shot, double largest);
  void share_rates();
  static void share_threads(int devices, snapshot::Rates& rates);
  std::size_t min_of_ranks(std::size_t value) const {
    if (m_o.ranks == nullptr) return value;
    return static_cast<std::size_t>(m_o.ranks->min(static_cast<std::int64_t>(value)));
  }
  std::size_t allowed_slab_bytes(int devices, std::size_t limit) const;
  void check_slab_offsets(int devices) const {
    for (const auto& shot : m_input.shots) {
      m_slabs->check_offsets(window_of(shot).grid.extents[0], devices);
    }
  }
  snapshot::StoragePlan slab_storage(int devices, std::size_t allowed) const;
  bool slabs_fit(int devices, std::size_t allowed);
  std::size_t min_slab_bytes(int devices);
  std::vector<std::int64_t> slab_numbers(int first, int last, int& max);
  void refuse_slabs(int devices);
  std::vector<Box<Dim>> slab_boxes(int devices) const;

  MigrationInput<T, Dim> m_input;
  const MigrationOptions<Dim>& m_o;
  MigrationPlan<Dim> m_plan;
  wave::ModellingOptions<Dim> m_modelling;
  snapshot::StorageRequest m_request;
  snapshot::Rates m_rates;
  std::unique_ptr<StreamedShots<T, Dim, Memory>> m_streamed;
  std::unique_ptr<SlabShots<T, Dim, Memory>> m_slabs;
  // What forbids a number of slabs.
  enum class SlabLimit { no_limit, planes, offsets, memory };
  SlabLimit m_slab_limit = SlabLimit::no_limit;
  std::string m_slab_condition;    // that planes of slabs do not satisfy
  std::string m_no_slabs;          // why the shots stream although slabs were requested
  std::int64_t m_interval = 1;     // steps between snapshots
  std::size_t m_disk = 0;          // bytes of snapshots in files
  std::int64_t m_slab_planes = 0;  // of the grid with layers of the smallest window
};

}  // namespace moho::rtm::detail

#include <moho/rtm/detail/batch_planner.hpp>
#include <moho/rtm/detail/shot_memory.hpp>
#include <moho/rtm/detail/slab_planner.hpp>
