// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of Migration: data, propagation and image of a shot.

#include <moho/core/text.hpp>
#include <moho/rtm/detail/check_gather.hpp>
#include <moho/rtm/migration.hpp>

namespace moho::rtm {

namespace detail {

/// Returns the first arrivals at the receivers of a shot, s.
/// \param used vp, epsilon and delta of the model
template <class T, int Dim, class Memory>
std::vector<double> arrivals_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                const HostModel<T, Dim>& used, const wave::Shot<Dim>& shot) {
  const auto fields = upload_model<T, Dim, Memory>(exec, grid, used);
  eikonal::Model<T, Dim, Memory> model;
  model.velocity = fields.vp;
  model.epsilon = fields.epsilon;
  model.delta = fields.delta;
  // tilted axis: the velocity of the fastest direction is an upper bound
  return survey::arrival_times<T, Dim, Memory>(exec, grid, model, shot);
}

/// Transposes points x samples to samples x points.
template <class T, int Dim>
HostSeries<T> rows_of(const survey::PreparedShot<Dim>& data) {
  const std::size_t points = data.shot.receivers.size();
  const auto count = static_cast<std::size_t>(data.count);
  const HostSeries<T> rows = make_rows<T>(count, points);
  for (std::size_t r = 0; r < points; ++r) {
    for (std::size_t n = 0; n < count; ++n) {
      rows(n, r) = static_cast<T>(data.samples[r * count + n]);
    }
  }
  return rows;
}

}  // namespace detail

template <class T, int Dim, class Memory>
Migration<T, Dim, Memory>::Migration(const InstanceOf<Memory>& exec, MigrationInput<T, Dim> input)
    : m_exec(exec),
      m_planner(std::make_unique<detail::MigrationPlanner<T, Dim, Memory>>(std::move(input))) {
  m_planner->make_plan(m_exec);
}

template <class T, int Dim, class Memory>
typename Migration<T, Dim, Memory>::Worker& Migration<T, Dim, Memory>::worker(std::size_t n) {
  // elements of a piece: devices allocate slowly, hosts only pages that are written
  constexpr std::int64_t piece = std::int64_t{1} << (is_host_memory<Memory> ? 22 : 27);
  while (m_workers.size() <= n) {
    const std::size_t number = m_workers.size();
    const std::int64_t own = number == 0 ? piece : piece / 16;
    m_workers.push_back(std::make_unique<Worker>(
        Worker{m_exec,
               {snapshot::DeviceArena<T, Memory>("moho::rtm::snapshots", own),
                snapshot::HostArena<T, Memory>("moho::rtm::snapshots on the host", own)},
               plan().storage,
               {}}));
  }
  return *m_workers[n];
}

template <class T, int Dim, class Memory>
std::size_t Migration<T, Dim, Memory>::position_of(const wave::Shot<Dim>& shot) const {
  const auto found = std::find_if(shots().begin(), shots().end(),
                                  [&](const auto& one) { return one.number == shot.number; });
  if (found == shots().end()) {
    throw InputError(concat("gather: the shot ", shot.number, " is not in the survey (allowed: ",
                            text::counted(shots().size(), "shot"), ", ", shots().front().number,
                            " to ", shots().back().number,
                            "): give gathers of the shots that were planned"));
  }
  return static_cast<std::size_t>(found - shots().begin());
}

template <class T, int Dim, class Memory>
survey::ShotGather<Dim> Migration<T, Dim, Memory>::model_data(std::size_t k) {
  if (!m_planner->input().data_model) {
    throw InputError("data_model: it is empty (allowed: a model on the grid): give one to model");
  }
  return model_data(worker(0), k);
}

template <class T, int Dim, class Memory>
survey::ShotGather<Dim> Migration<T, Dim, Memory>::model_data(const Worker& worker,
                                                              std::size_t k) const {
  const TimelineSpan span(options().timeline, "model data");
  const wave::Shot<Dim>& shot = shots()[k];
  const survey::ShotWindow<Dim> window = m_planner->window_of(shot);
  survey::ShotGather<Dim> gather;
  gather.shot = shot;
  gather.name = concat("modelled shot ", shot.number);
  gather.two_dimensional = Dim == 2;
  for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
    gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
  }
  const auto take = [&](const wave::Traces<T>& traces) {
    gather.dt = plan().time.dt;
    gather.count = static_cast<std::int64_t>(traces.extent(1));
    gather.samples.assign(traces.data(), traces.data() + traces.size());
  };
  if (m_planner->streamed() != nullptr) {
    detail::with_data_model([&] {
      take(m_planner->streamed()->model_data(
          window, m_planner->part_of(*m_planner->input().data_model, window), shot));
    });
    return gather;
  }
  if (m_planner->slabs() != nullptr) {
    detail::with_data_model([&] {
      take(m_planner->slabs()->model_data(
          window, m_planner->part_of(*m_planner->input().data_model, window), shot));
    });
    return gather;
  }
  wave::ModellingOptions<Dim> modelling_options = m_planner->modelling_options();
  modelling_options.memory = 0;  // the limit applies to the migration of a shot
  modelling_options.sources = shot.sources;
  modelling_options.time.snapshot_every = 0.0;
  detail::with_data_model([&] {
    auto modelling = wave::make_modelling(
        worker.exec, window.grid,
        detail::upload_model<T, Dim, Memory>(
            worker.exec, window.grid, m_planner->part_of(*m_planner->input().data_model, window)),
        m_planner->input().faces, m_planner->input().wavelet, modelling_options);
    wave::ShotOptions<T, Dim, Memory> shot_options = modelling.shot_options();
    shot_options.interval = 0.0;
    shot_options.snapshot_every = 0;
    const auto result = wave::locate_overflow<Dim>(
        m_planner->input().grid, plan().time.steps, concat("data of shot ", shot.number),
        [&](std::int64_t check_every) {
          shot_options.check_every = check_every;
          return modelling.shot(worker.exec, shot, shot_options);
        });
    gather.dt = result.interval;
    gather.count = static_cast<std::int64_t>(result.traces.extent(1));
    gather.samples.assign(result.traces.data(), result.traces.data() + result.traces.size());
  });
  return gather;
}

template <class T, int Dim, class Memory>
std::vector<double> Migration<T, Dim, Memory>::first_arrivals(const wave::Shot<Dim>& shot) {
  const survey::ShotWindow<Dim> window = m_planner->window_of(shots()[position_of(shot)]);
  return first_arrivals(m_exec, m_planner->part_of(m_planner->input().model, window), window, shot);
}

template <class T, int Dim, class Memory>
std::vector<double> Migration<T, Dim, Memory>::first_arrivals(const Instance<Memory>& exec,
                                                              const HostModel<T, Dim>& part,
                                                              const survey::ShotWindow<Dim>& window,
                                                              const wave::Shot<Dim>& shot) const {
  const TimelineSpan span(options().timeline, "first arrivals");
  HostModel<T, Dim> used;
  used.vp = part.vp;
  used.epsilon = part.epsilon;
  used.delta = part.delta;
  // grids of several devices, and of streams, may be too large for the device
  const bool large =
      m_planner->streamed() != nullptr ||
      (m_planner->slabs() != nullptr &&
       memory_budget(exec) / sizeof(T) / 8 < static_cast<std::size_t>(window.grid.size()));
  return large ? detail::arrivals_of<T, Dim, Kokkos::HostSpace>(host(), window.grid, used, shot)
               : detail::arrivals_of<T, Dim, Memory>(exec, window.grid, used, shot);
}

template <class T, int Dim, class Memory>
survey::PreparedShot<Dim> Migration<T, Dim, Memory>::prepare(
    const Instance<Memory>& exec, const wave::ModellingPlan<Dim>& modelling,
    const HostModel<T, Dim>& part, const survey::ShotWindow<Dim>& window,
    const survey::ShotGather<Dim>& gather) const {
  const wave::TimePlan& time = plan().time;
  survey::PrepareOptions prepare_options = options().data;
  prepare_options.dt = time.dt;
  prepare_options.samples = time.steps + 1;
  const double highest = snapshot::highest_of_products(modelling.wavelet, modelling.time.dt);
  double spacing = 0.0;
  for (int d = 0; d < Dim; ++d) {
    spacing = std::max(spacing, m_planner->input().grid.spacing[d]);
  }
  // highest frequency of the grid with small dispersion
  const double carried =
      modelling.limits.min_velocity / (modelling.nodes_per_wave_wanted * spacing);
  prepare_options.highest = m_planner->input().data_model ? 0.0 : std::min(carried, highest);
  prepare_options.wavelet = plan().wavelet;
  prepare_options.end_taper =
      std::min(3.0 / highest, time.dt * static_cast<double>(time.steps) / 3.0);
  std::vector<double> arrivals;
  if (prepare_options.mute.kind == survey::MuteOptions::Kind::arrivals) {
    arrivals = first_arrivals(exec, part, window, gather.shot);
  }
  return survey::prepare(gather, prepare_options, arrivals);
}

// Returns the columns in the window of a shot.
template <class T, int Dim, class Memory>
OffsetOptions<Dim> Migration<T, Dim, Memory>::columns_in_window(ShotImage<T, Dim>& result) const {
  const survey::ShotWindow<Dim>& window = result.window;
  OffsetOptions<Dim> offsets = options().offsets;
  offsets.columns.clear();
  for (std::size_t c = 0; c < options().offsets.columns.size(); ++c) {
    Index<Dim> column = options().offsets.columns[c];
    bool inside = true;
    for (int d = 0; d < Dim - 1; ++d) {
      column[d] -= window.box.lower[d];
      inside = inside && column[d] >= 0 && column[d] < window.grid.extents[d];
    }
    if (!inside) continue;
    offsets.columns.push_back(column);
    result.columns.push_back(static_cast<std::int64_t>(c));
  }
  check_offsets(window.grid, offsets);
  return offsets;
}

template <class T, int Dim, class Memory>
ShotImage<T, Dim> Migration<T, Dim, Memory>::migrate(const survey::ShotGather<Dim>& gather) {
  const Stopwatch preparing;
  const std::size_t k = position_of(gather.shot);
  Worker& first = worker(0);
  first.exec = m_exec;
  Tell tell;
  if (options().progress) {
    tell = [&](int backward, const wave::ShotProgress& now) { tell_alone(k, backward, now); };
  }
  ShotImage<T, Dim> image = migrate(first, k, survey::ShotGather<Dim>(gather), preparing, tell);
  add_phases(preparing.seconds());
  return image;
}

// Checks a gather and begins the result of its shot, which is zero without receivers.
template <class T, int Dim, class Memory>
ShotImage<T, Dim> Migration<T, Dim, Memory>::begin_image(
    std::size_t k, const survey::ShotGather<Dim>& gather) const {
  const wave::Shot<Dim>& shot = shots()[k];
  const std::size_t receivers = gather.shot.receivers.size();
  detail::check_gather(gather, shot);
  ShotImage<T, Dim> result;
  result.number = shot.number;
  result.window = m_planner->window_of(shot);
  ShotMigrationReport& report = result.report;
  report.receivers = static_cast<std::int64_t>(receivers);
  report.dead = static_cast<std::int64_t>(shot.receivers.size() - receivers);
  report.notes = gather.notes;
  if (receivers > 0) return result;
  report.notes.push_back("nothing to migrate: no live trace");
  const auto parts = static_cast<std::size_t>(m_part_count);
  result.values.assign(parts * static_cast<std::size_t>(result.window.grid.size()), T(0));
  result.largest.assign(parts, 0.0);
  return result;
}

// Prepares the data of a shot, and returns them as samples x receivers. Those of `gather` and
// `data` are freed, or moved to the result.
template <class T, int Dim, class Memory>
detail::HostSeries<T> Migration<T, Dim, Memory>::prepared_rows(
    const Instance<Memory>& exec, const wave::ModellingPlan<Dim>& modelling,
    const HostModel<T, Dim>& part, survey::ShotGather<Dim>& gather, ShotImage<T, Dim>& result,
    survey::PreparedShot<Dim>& data) const {
  data = prepare(exec, modelling, part, result.window, gather);
  result.report.notes.insert(result.report.notes.end(), data.notes.begin(), data.notes.end());
  if (!(data.rms > 0.0)) {
    result.report.notes.push_back("nothing to migrate: no sample of the run is left by the mute");
  }
  const bool kept = options().keep_data == result.number;
  // an assignment of {} would keep the memory
  if (!kept) gather.samples = std::vector<float>();
  detail::HostSeries<T> rows = detail::rows_of<T>(data);
  if (kept) {
    const wave::Shot<Dim> live = data.shot;
    result.data =
        std::make_shared<ShotData<Dim>>(ShotData<Dim>{std::move(gather), std::move(data)});
    data.shot = live;
  }
  gather.samples = std::vector<float>();
  data.samples = std::vector<float>();
  return rows;
}

template <class T, int Dim, class Memory>
ShotImage<T, Dim> Migration<T, Dim, Memory>::migrate(Worker& worker, std::size_t k,
                                                     survey::ShotGather<Dim>&& gather,
                                                     const Stopwatch& preparing,
                                                     const Tell& tell) const {
  const Instance<Memory>& exec = worker.exec;
  const std::string name = concat("shot ", shots()[k].number);
  ShotImage<T, Dim> result = begin_image(k, gather);
  ShotMigrationReport& report = result.report;
  if (report.receivers == 0) return result;
  const HostModel<T, Dim> part = m_planner->part_of(m_planner->input().model, result.window);
  const wave::Shot<Dim> live = gather.shot;
  detail::StreamedShots<T, Dim, Memory>* const streamed = m_planner->streamed();
  detail::SlabShots<T, Dim, Memory>* const slabs = m_planner->slabs();
  std::optional<Modelling> core;
  if (streamed != nullptr) {
    streamed->open(result.window, part, live);
  } else if (slabs != nullptr) {
    slabs->open(result.window, part, live);
  } else {
    core.emplace(m_planner->make(exec, result.window, part, live));
  }
  survey::PreparedShot<Dim> data;
  detail::HostSeries<T> rows = prepared_rows(exec,
                                             streamed != nullptr ? streamed->modelling()
                                             : slabs != nullptr  ? slabs->modelling()
                                                                 : core->plan(),
                                             part, gather, result, data);
  if (streamed != nullptr) {
    const OffsetOptions<Dim> offsets = columns_in_window(result);
    worker.phases.add("prepare", preparing.seconds());
    note_report(worker, streamed->migrate(data.shot, std::move(rows), offsets, tell, result),
                report);
    return result;
  }
  if (slabs != nullptr) {
    const OffsetOptions<Dim> offsets = columns_in_window(result);
    worker.phases.add("prepare", preparing.seconds());
    note_report(
        worker,
        slabs->migrate(data.shot, std::move(rows), plan().storage, m_added, offsets, tell, result),
        report);
    m_planner->note_slabs();
    for (const PlaneRange& slab : slabs->own()) report.slab_planes.push_back(slab.count());
    return result;
  }
  const Terms terms(exec, core->propagator(), core->plan().wavelet, data.shot,
                    std::exchange(rows, {}), name);
  std::optional<detail::RandomSource<T, Dim, Memory>> random;
  if (plan().storage.strategy.keep == snapshot::StorageMethod::random_layers) {
    const auto model = detail::upload_model<T, Dim, Memory>(exec, result.window.grid, part);
    random.emplace(exec,
                   detail::random_propagator(exec, result.window.grid, model, *core,
                                             plan().storage.random_width, live),
                   live, terms.forward.amplitudes, name);
  }
  const Sums sums(exec, result.window.grid, columns_in_window(result), m_added);
  exec.fence();
  worker.phases.add("prepare", preparing.seconds());
  note_report(worker,
              propagate(worker, *core, terms, random ? &*random : nullptr, sums, name, tell),
              report);
  collect(worker, sums, result);
  return result;
}

// Records what the propagations of a shot cost.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::note_report(Worker& worker, const MigrateReport<Dim>& done,
                                            ShotMigrationReport& report) {
  worker.phases.add("migrate", done.seconds);
  report.storage = done.snapshots.kind;
  report.ratio = done.snapshots.ratio();
  report.disk_bytes = done.snapshots.disk_bytes;
  report.seconds_waited = done.snapshots.seconds_waited;
  report.points = done.forward.points + done.backward.points;
  report.whole_points = done.forward.whole_points + done.backward.whole_points;
  report.recomputed_points = done.snapshots.points;
  report.seconds = done.seconds;
  report.forward_boxes = done.forward.boxes.numbers();
  report.backward_boxes = done.backward.boxes.numbers();
}

template <class T, int Dim, class Memory>
MigrateReport<Dim> Migration<T, Dim, Memory>::propagate(Worker& worker, Modelling& modelling,
                                                        const Terms& terms, Random* random,
                                                        const Sums& sums, const std::string& name,
                                                        const Tell& tell) const {
  const Instance<Memory>& exec = worker.exec;
  const auto& propagator = modelling.propagator();
  domain::DomainOptions domain_options = options().domain_options;
  domain_options.onset = domain::onset(modelling.plan().wavelet, plan().time.dt);
  domain_options.frequency = plan().frequency;
  const auto domain = domain::make_domain<T, Dim, Memory>(options().domain, exec, propagator,
                                                          modelling.extended_model(), terms.sources,
                                                          domain_options);
  MigrateOptions<T, Dim, Memory> migrate;
  migrate.steps = plan().time.steps;
  migrate.snapshot_interval = plan().storage.interval;
  if (options().domain != domain::ExpansionMethod::none) migrate.domain = domain.get();
  if (random != nullptr) {
    migrate.source = &random->term();
    migrate.source_wavefield = &random->wavefield();
  }
  migrate.complete_receivers = complete_receivers();
  migrate.progress = tell;
  sums.add_accumulators(exec, m_added, propagator, migrate);
  Timeline* const timeline = options().timeline;
  const double begin = timeline != nullptr ? timeline->now() : 0.0;
  auto done = wave::locate_overflow<Dim>(
      m_planner->input().grid, migrate.steps, name, [&](std::int64_t check_every) {
        migrate.check_every = check_every;
        if (check_every == 1) migrate.domain = nullptr;
        const auto store = snapshot::make_store<T, Dim, Memory>(
            exec, worker.storage, random != nullptr ? random->term() : terms.forward, worker.arenas,
            timeline);
        return detail::with_shot(name, [&] {
          return migrate_shot<T, Dim, Memory>(exec, propagator, modelling.wavefield(),
                                              terms.forward, terms.backward, *store, migrate,
                                              sums.products);
        });
      });
  scale_by_density<T, Dim, Memory>(exec, propagator.layout(), propagator.pressure_factors(),
                                   propagator.interior(), sums.products);
  if (random != nullptr) done.snapshots.kind = "random";
  if (timeline != nullptr) {
    const double turn = begin + done.forward.seconds;
    timeline->add("forward leg", begin, turn);
    timeline->add("backward leg", turn, timeline->now());
  }
  return done;
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::collect(Worker& worker, const Sums& sums,
                                        ShotImage<T, Dim>& result) const {
  const Stopwatch watch;
  const Instance<Memory>& exec = worker.exec;
  const Grid<Dim>& grid = result.window.grid;
  if (!complete_receivers()) fill(exec, sums.products.receiver_illumination, T(0));
  result.values.resize(static_cast<std::size_t>(m_part_count) *
                       static_cast<std::size_t>(grid.size()));
  result.largest =
      sums.collect(exec, result.window, options().aperture.taper, all_planes(grid), result.values);
  if (sums.products.offsets.size() > 0) result.offsets = download(exec, sums.products.offsets);
  exec.fence();
  worker.phases.add("transfer", watch.seconds());
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::tell_alone(std::size_t k, int backward,
                                           const wave::ShotProgress& now) const {
  const double steps = std::max<double>(static_cast<double>(now.steps), 1.0);
  MigrationProgress progress;
  progress.shot = k;
  progress.backward = backward != 0;
  progress.shots = shots().size();
  progress.shots_done =
      static_cast<double>(k) + 0.5 * (backward + static_cast<double>(now.step) / steps);
  progress.points_per_second = now.points_per_second;
  progress.seconds_left = 2.0 * (now.seconds + now.seconds_left) *
                          (static_cast<double>(progress.shots) - progress.shots_done);
  options().progress(progress);
}

// Reports the progress of shots that advance together, among concurrent ones.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::tell_concurrent(const std::vector<std::size_t>& together,
                                                int backward, const wave::ShotProgress& now,
                                                Turn& turn) const {
  const double steps = std::max<double>(static_cast<double>(now.steps), 1.0);
  std::vector<double>& parts = turn.parts;
  for (const std::size_t k : together) {
    parts[k] = 0.5 * (backward + static_cast<double>(now.step) / steps);
  }
  MigrationProgress progress;
  progress.shot = together.front();
  progress.backward = backward != 0;
  progress.shots = parts.size();
  for (const double part : parts) progress.shots_done += part;
  progress.points_per_second = now.points_per_second / static_cast<double>(together.size());
  progress.concurrent_shots = plan().concurrent_shots;
  if (progress.shots_done > 0.0) {
    progress.seconds_left = turn.watch.seconds() *
                            (static_cast<double>(parts.size()) - progress.shots_done) /
                            progress.shots_done;
  }
  options().progress(progress);
}

// Returns the position of the next shot.
template <class T, int Dim, class Memory>
std::optional<std::size_t> Migration<T, Dim, Memory>::next_of(Turn& turn,
                                                              const NextShot& next) const {
  const std::optional<std::size_t> k = next();
  std::vector<double>& parts = turn.parts;
  const std::size_t end = k ? *k : parts.size();
  if (k && (*k >= parts.size() || *k < turn.passed)) {
    throw InputError(
        concat("next: the position ", *k, " (allowed: ascending, up to ", parts.size() - 1, ")"));
  }
  while (turn.passed < end) parts[turn.passed++] = 1.0;  // shots of other processes
  if (k) ++turn.passed;
  return k;
}

// Returns the data of a shot that read() returns, on the calling thread.
template <class T, int Dim, class Memory>
survey::ShotGather<Dim> Migration<T, Dim, Memory>::read_shot(const ReadShot& read, std::size_t k,
                                                             CallingThread& caller) const {
  survey::ShotGather<Dim> gather;
  caller.call([&] { gather = read(k); });
  if (gather.shot.number != shots()[k].number) {
    throw InputError(concat("gather: shot ", gather.shot.number, " (allowed: shot ",
                            shots()[k].number, ", the one at position ", k, ")"));
  }
  return gather;
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::migrate_each(const NextShot& next, const ReadShot& read,
                                             const TakeShot& take) {
  if (!read && !m_planner->input().data_model) {
    throw InputError("read: it is empty, and so is the data model (allowed: one of them)");
  }
  Turn turn{std::vector<double>(shots().size(), 0.0)};
  double delivering = 0.0;
  const auto deliver = [&](std::size_t k, ShotImage<T, Dim>&& image) {
    const Stopwatch taking;
    take(k, std::move(image));
    delivering += taking.seconds();
  };
  if (plan().batch_size > 1) {
    migrate_batches(turn, next, read, deliver);
  } else {
    migrate_singly(turn, next, read, deliver);
  }
  add_phases(turn.watch.seconds() - delivering);
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::migrate_singly(Turn& turn, const NextShot& next,
                                               const ReadShot& read, const TakeShot& take) {
  const int count = plan().concurrent_shots;
  const auto instances = concurrent_instances(m_exec, count);
  for (std::size_t n = 0; n < instances.size(); ++n) worker(n).exec = instances[n];
  const auto work = [&](int n, std::size_t k, CallingThread& caller) {
    const Stopwatch preparing;
    Worker& own = *m_workers[static_cast<std::size_t>(n)];
    survey::ShotGather<Dim> gather = read ? read_shot(read, k, caller) : model_data(own, k);
    Tell tell;
    if (options().progress) {
      tell = [&, k](int backward, const wave::ShotProgress& now) {
        if (count == 1) return tell_alone(k, backward, now);
        caller.call([&] { tell_concurrent({k}, backward, now, turn); });
      };
    }
    return migrate(own, k, std::move(gather), preparing, tell);
  };
  run_concurrently<ShotImage<T, Dim>>(
      count, [&] { return next_of(turn, next); }, work,
      [&](std::size_t k, ShotImage<T, Dim>&& image) {
        turn.parts[k] = 1.0;
        take(k, std::move(image));
      });
}

template <class T, int Dim, class Memory>
const PartialImage<T, Dim>& Migration<T, Dim, Memory>::partial() {
  if (!m_sum) m_sum.emplace(m_planner->input().grid, m_part_count, options().offsets);
  return *m_sum;
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::add(const ShotImage<T, Dim>& image) {
  partial();
  m_sum->add(host(), image);
}

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::merge(const PartialImage<T, Dim>& other) {
  partial();
  m_sum->merge(host(), other);
}

template <class T, int Dim, class Memory>
std::vector<double> Migration<T, Dim, Memory>::offset_gathers() {
  return partial().offsets(host());
}

// Divides the wall-clock time of a migration in proportion of the phases of all workers.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::add_phases(double seconds) {
  PhaseTimes sums;
  for (const auto& worker : m_workers) {
    const PhaseTimes own = std::exchange(worker->phases, {});
    for (const auto& [name, part] : own.phases()) sums.add(name, part);
  }
  const double total = sums.total();
  for (const auto& [name, part] : sums.phases()) {
    m_phases.add(name, total > 0.0 ? part * seconds / total : 0.0);
  }
}

}  // namespace moho::rtm
