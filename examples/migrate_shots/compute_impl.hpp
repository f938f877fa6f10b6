// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/data_check.hpp"
#include "common/summary.hpp"
#include "migrate_shots/compute.hpp"
#include "migrate_shots/plan_impl.hpp"

#include <moho/core/at_once.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/domain/expand.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/snapshot/packed_store.hpp>
#include <moho/snapshot/replay_store.hpp>
#include <moho/snapshot/reverse.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/snapshot/threaded_store.hpp>
#include <moho/survey/first_arrivals.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace moho::examples::migrate_shots {

namespace detail {

/// What a shot leaves.
template <class T, int Dim>
struct ShotEnd {
  ShotSums<T, Dim> sums;
  ShotReport report;
  /// Data of the survey's first shot, unchanged and as they are migrated; null for others.
  std::shared_ptr<std::pair<survey::ShotGather<Dim>, survey::PreparedShot<Dim>>> data;
};

/// Migrates shots one after the other; what they share stays. Where several are migrated at once,
/// each worker has one of these.
template <class T, int Dim, class Memory>
class Migration {
 public:
  Migration(const Instance<Memory>& exec, const Job<T, Dim>& job, PhaseTimes& phases)
      : m_exec(exec),
        m_job(job),
        m_o(*job.options),
        m_phases(phases),
        m_planner(std::make_shared<Planner<T, Dim, Memory>>(job)),
        m_plan(m_planner->plan()),
        m_arena("moho::rtm::snapshots", arena_piece),
        m_host_arena("moho::rtm::snapshots on the host", arena_piece) {}
  /// Another worker with the plan of the first. \param number from 1
  Migration(const Instance<Memory>& exec, const Migration& first, int number)
      : m_exec(exec),
        m_job(first.m_job),
        m_o(first.m_o),
        m_phases(m_own_phases),
        m_planner(first.m_planner),
        m_plan(m_planner->plan()),
        m_arena("moho::rtm::snapshots", arena_piece / 16),
        m_host_arena("moho::rtm::snapshots on the host", arena_piece / 16),
        m_number(number) {}
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;

  void run() {
    m_job.together([&] {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "plan");
      m_planner->make_plan(m_exec);
      if (m_job.check_onsets) m_planner->take_onsets(check_onsets());
    });
    if (!m_job.begins(m_plan)) return;
    const auto instances = instances_at_once(m_exec, m_plan.at_once);
    std::vector<std::unique_ptr<Migration>> others;
    for (int n = 1; n < m_plan.at_once; ++n) {
      others.push_back(
          std::make_unique<Migration>(instances[static_cast<std::size_t>(n)], *this, n));
    }
    m_exec = instances.front();
    m_parts.assign(m_job.shots.size(), 0.0);
    auto next = [&, k = std::size_t{0}]() mutable -> std::optional<std::size_t> {
      while (k < m_job.shots.size()) {
        if (m_job.takes(k++)) return k - 1;
        m_parts[k - 1] = 1.0;
      }
      return std::nullopt;
    };
    const auto work = [&](int worker, std::size_t k, AtOnceCaller& caller) {
      Migration& own = worker == 0 ? *this : *others[static_cast<std::size_t>(worker) - 1];
      return own.shot(k, caller, [&](double part, double rate) { tell(k, part, rate); });
    };
    const auto done = [&](std::size_t k, ShotEnd<T, Dim>&& end) {
      m_parts[k] = 1.0;
      if (end.data) m_job.data(end.data->first, end.data->second);
      m_job.done(k, end.sums, end.report);
    };
    run_at_once<ShotEnd<T, Dim>>(m_plan.at_once, next, work, done);
    // seconds side by side
    if (others.empty()) return;
    PhaseTimes all;
    for (const auto& [name, seconds] : m_phases.phases()) {
      all.add(name, name == "plan" ? seconds : seconds / m_plan.at_once);
    }
    for (const auto& other : others) {
      for (const auto& [name, seconds] : other->m_phases.phases()) {
        all.add(name, seconds / m_plan.at_once);
      }
    }
    m_phases = all;
  }

 private:
  // elements of a piece: a device takes memory slowly, a host gives out what is touched
  static constexpr std::int64_t arena_piece = std::int64_t{1} << (is_host_memory<Memory> ? 22 : 27);
  using Modelling = wave::Modelling<T, Dim, Memory>;

  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> make_store(
      const wave::Propagator<T, Dim, Memory>& propagator,
      const wave::SourceTerm<T, Dim, Memory>& leg) {
    const snapshot::Strategy& way = m_plan.strategy;
    const Place place = m_planner->place();
    const bool on_disk = place == Place::disk, on_host = place == Place::host;
    const std::optional<snapshot::CodecOptions> codec = m_planner->codec();
    if (way.keep == snapshot::Keep::faces) {
      return std::make_unique<snapshot::ReverseStore<T, Dim, Memory>>(m_exec, leg, m_arena);
    }
    if (way.keep == snapshot::Keep::replay) {
      const std::int64_t snapshots = m_plan.time.steps / m_plan.every;
      return std::make_unique<snapshot::ReplayStore<T, Dim, Memory>>(
          m_exec, leg, m_arena, snapshots, m_plan.every,
          std::clamp<std::int64_t>(way.snapshots, 1, snapshots),
          std::max<std::int64_t>(way.states - 1, 0));
    }
    if (on_disk) {
      const std::filesystem::path folder =
          m_number == 0 ? m_job.scratch
                        : std::filesystem::path(concat(m_job.scratch.string(), "_at_", m_number));
      return std::make_unique<snapshot::FileStore<T, Dim, Memory>>(folder, propagator.grid(), codec,
                                                                   m_job.timeline);
    }
    if (const int threads = m_planner->compressing_threads(); threads > 0) {
      return std::make_unique<snapshot::ThreadedStore<T, Dim, Memory>>(
          m_exec, m_host_arena, propagator.interior().size(), *codec, threads, m_job.timeline);
    }
    if (codec) return std::make_unique<snapshot::PackedStore<T, Dim, Memory>>(*codec, on_host);
    if (on_host && !is_host_memory<Memory>) {
      return std::make_unique<snapshot::HostStore<T, Dim, Memory>>(m_exec, m_host_arena,
                                                                   propagator.interior().size());
    }
    return std::make_unique<snapshot::DeviceStore<T, Dim, Memory>>(m_arena);
  }

  // Data by the true model.
  survey::ShotGather<Dim> model_data(const wave::Shot<Dim>& shot,
                                     const survey::ShotWindow<Dim>& window) {
    const TimelineSpan span(m_job.timeline, "model data");
    survey::ShotGather<Dim> gather;
    gather.shot = shot;
    gather.name = concat("modelled shot ", shot.number);
    ModelValues<T> room;
    ModelValues<T>& part = m_planner->part_of(*m_job.true_values, window, room);
    wave::ModellingOptions<Dim> options = m_planner->options();
    options.sources = shot.sources;
    options.time.snapshot_every = 0.0;
    try {
      auto model = to_model<T, Dim, Memory>(m_exec, window.grid, part);
      auto modelling = wave::make_modelling(m_exec, window.grid, std::move(model), m_job.boundaries,
                                            m_job.wavelet, options);
      wave::ShotOptions<T, Dim, Memory> shot_options = modelling.shot_options();
      shot_options.interval = 0.0;
      shot_options.snapshot_every = 0;
      const auto result = wave::locate_overflow<Dim>(
          m_job.grid, m_plan.time.steps, concat("data of shot ", shot.number),
          [&](std::int64_t check_every) {
            shot_options.check_every = check_every;
            return modelling.shot(m_exec, shot, shot_options);
          },
          overflow_advice);
      gather.dt = result.interval;
      gather.count = static_cast<std::int64_t>(result.traces.extent(1));
      gather.samples.assign(result.traces.data(), result.traces.data() + result.traces.size());
    } catch (const InputError& error) {
      throw m_planner->renamed(m_job.true_names)(error);
    }
    for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
      gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
    }
    return gather;
  }

  // What is to be said of the times at which data begin.
  std::string check_onsets() const {
    const survey::WaveletTimes& wavelet = m_planner->wavelet_times();
    // a Ricker wavelet's highest frequency is 2.4 times that of its peak
    OnsetCheck check(wavelet, 2.4 / m_plan.frequency);
    for (const std::size_t k : shots_to_check<Dim>(m_job.shots.size())) {
      const survey::ShotGather<Dim> gather = m_job.gather(k);
      if (gather.shot.receivers.empty()) continue;
      const survey::ShotWindow<Dim> window = m_planner->window_of(m_job.shots[k]);
      ModelValues<T> room;
      ModelValues<T>& part = m_planner->part_of(*m_job.values, window, room);
      const double shift = m_o.zero == survey::WaveletZero::peak ? wavelet.peak : 0.0;
      check.add(gather.samples, gather.count, gather.dt, gather.t0 + shift,
                arrivals(window, part, gather.shot));
    }
    return check.note();
  }

  std::vector<double> arrivals_of_mute(const survey::ShotWindow<Dim>& window,
                                       ModelValues<T>& values, const wave::Shot<Dim>& shot) const {
    if (m_o.mute.kind != survey::MuteOptions::Kind::arrivals) return {};
    return arrivals(window, values, shot);
  }

  std::vector<double> arrivals(const survey::ShotWindow<Dim>& window, ModelValues<T>& values,
                               const wave::Shot<Dim>& shot) const {
    const TimelineSpan span(m_job.timeline, "first arrivals");
    wave::ModelValues<T> used = parameters_of<T>(values);
    using P = wave::Parameter;
    // a tilted axis: no wave is faster than along the fastest direction
    for (const P parameter : {P::density, P::theta, P::phi}) used.erase(parameter);
    const auto fields = wave::borrow_model<T>(m_exec, window.grid, used);
    eikonal::Model<T, Dim, Memory> model;
    model.velocity = fields.vp;
    model.epsilon = fields.epsilon;
    model.delta = fields.delta;
    return survey::arrival_times<T, Dim, Memory>(m_exec, window.grid, model, shot);
  }

  wave::PointSeries<T, Memory> upload_rows(const std::vector<T>& rows, std::int64_t count,
                                           std::int64_t points) const {
    const auto series =
        allocate<wave::PointSeries<T, Memory>>(m_exec, "moho::rtm::amplitudes", count, points);
    copy(m_exec, wave::Storage<T, Memory>(series.data(), rows.size()),
         HostElements<const T>(rows.data(), rows.size()));
    m_exec.fence();
    return series;
  }

  // Tells how far the shots are. \param part of shot k
  void tell(std::size_t k, double part, double rate) {
    m_parts[k] = part;
    double done = 0.0;
    for (const double one : m_parts) done += one;
    const auto count = static_cast<double>(m_parts.size());
    const double left = done > 0.0 ? m_watch.seconds() * (count - done) / done : 0.0;
    m_job.progress(done / count,
                   concat(m_plan.at_once, " shots at once, ", static_cast<std::int64_t>(done),
                          " of ", m_parts.size(), ", ", format_count(rate * m_plan.at_once),
                          "points/s, ", std::llround(left), " s left"));
  }

  // \param tells how far it is, and its rate, where several are migrated at once
  ShotEnd<T, Dim> shot(std::size_t k, AtOnceCaller& caller,
                       const std::function<void(double, double)>& tells) {
    const Stopwatch preparing;
    const bool alone = m_plan.at_once == 1;
    const std::string name = concat("shot ", m_job.shots[k].number);
    survey::ShotWindow<Dim> window = m_planner->window_of(m_job.shots[k]);
    survey::ShotGather<Dim> gather;
    if (m_job.gather) {
      caller.call([&] { gather = m_job.gather(k); });
    } else {
      gather = model_data(m_job.shots[k], window);
    }
    ShotEnd<T, Dim> end;
    ShotReport& report = end.report;
    ShotSums<T, Dim>& sums = end.sums;
    sums.window = window;
    report.receivers = static_cast<std::int64_t>(gather.shot.receivers.size());
    report.dead = static_cast<std::int64_t>(m_job.shots[k].receivers.size()) - report.receivers;
    if (gather.shot.receivers.empty()) {
      report.notes = gather.notes;
      report.notes.push_back("nothing to migrate: no live trace");
      const auto size = static_cast<std::size_t>(window.grid.size());
      for (auto* values : {&sums.image, &sums.source, &sums.receiver}) values->assign(size, T(0));
      return end;
    }
    ModelValues<T> room;
    ModelValues<T>& part = m_planner->part_of(*m_job.values, window, room);
    auto modelling = m_planner->make(m_exec, window, part, gather.shot);
    const auto& propagator = modelling.propagator();

    survey::PrepareOptions options;
    options.dt = m_plan.time.dt;
    options.samples = m_plan.time.steps + 1;
    const double highest =
        snapshot::highest_of_products(modelling.plan().wavelet, modelling.plan().time.dt);
    options.highest = m_job.gather ? std::min(highest_carried(modelling), highest) : 0.0;
    options.zero = m_o.zero;
    options.wavelet = m_planner->wavelet_times();
    options.mute = m_o.mute;
    options.spreading = m_o.spreading;
    options.normalise = m_o.normalise;
    options.end_taper =
        std::min(3.0 / highest, m_plan.time.dt * static_cast<double>(m_plan.time.steps) / 3.0);
    survey::PreparedShot<Dim> data =
        survey::prepare(gather, options, arrivals_of_mute(window, part, gather.shot));
    if (m_job.data && k == 0) {
      if (alone) {
        m_job.data(gather, data);
      } else {
        end.data = std::make_shared<std::pair<survey::ShotGather<Dim>, survey::PreparedShot<Dim>>>(
            gather, data);
      }
    }
    report.notes = gather.notes;
    report.notes.insert(report.notes.end(), data.notes.begin(), data.notes.end());
    gather.samples = {};

    const auto count = static_cast<std::int64_t>(data.shot.receivers.size());
    std::vector<T> rows(static_cast<std::size_t>(data.count * count));
    for (std::int64_t r = 0; r < count; ++r) {
      for (std::int64_t n = 0; n < data.count; ++n) {
        rows[static_cast<std::size_t>(n * count + r)] =
            static_cast<T>(data.samples[static_cast<std::size_t>(r * data.count + n)]);
      }
    }
    data.samples = {};
    const auto sources = modelling.sources(m_exec, data.shot, name + ": ");
    const wave::PointSet<T, Dim, Memory> receivers(
        m_exec, modelling.plan().grid, propagator.layout(), data.shot.receivers,
        wave::point_options(propagator, name + ": receiver", true));
    const std::vector<double>& wavelet = modelling.plan().wavelet;
    std::vector<T> amplitudes;
    for (const double sample : wavelet) {
      amplitudes.insert(amplitudes.end(), data.shot.sources.size(), static_cast<T>(sample));
    }
    const wave::SourceTerm<T, Dim, Memory> forward{
        &propagator, &sources,
        upload_rows(amplitudes, static_cast<std::int64_t>(wavelet.size()),
                    static_cast<std::int64_t>(data.shot.sources.size()))};
    const wave::SourceTerm<T, Dim, Memory> backward{&propagator, &receivers,
                                                    upload_rows(rows, data.count, count)};
    domain::DomainOptions domain_options;
    domain_options.onset = domain::onset(wavelet, m_plan.time.dt);
    domain_options.frequency = m_plan.frequency;
    const auto domain = domain::make_domain<T, Dim, Memory>(
        m_o.expand, m_exec, propagator, modelling.extended_model(), sources, domain_options);
    rtm::OffsetOptions<Dim> offsets = m_job.offsets;
    offsets.columns.clear();
    for (std::size_t c = 0; c < m_job.offsets.columns.size(); ++c) {
      Index<Dim> column = m_job.offsets.columns[c];
      bool inside = true;
      for (int d = 0; d < Dim - 1; ++d) {
        column[d] -= window.box.lower[d];
        inside = inside && column[d] >= 0 && column[d] < window.grid.extents[d];
      }
      if (!inside) continue;
      offsets.columns.push_back(column);
      sums.columns.push_back(static_cast<std::int64_t>(c));
    }
    auto image = rtm::make_image<T, Dim, Memory>(m_exec, window.grid, offsets);
    rtm::MigrateOptions<T, Dim, Memory> migrate;
    migrate.steps = m_plan.time.steps;
    migrate.every = m_plan.every;
    if (m_o.expand != domain::Expansion::none) migrate.domain = domain.get();
    migrate.complete_receivers = complete_receivers(m_o);
    if (m_job.progress) {
      migrate.progress = [&](int leg, const wave::ShotProgress& now) {
        const double steps = std::max<double>(static_cast<double>(now.steps), 1.0);
        const double part_done = 0.5 * (leg + static_cast<double>(now.step) / steps);
        if (!alone) return caller.call([&] { tells(part_done, now.points_per_second); });
        const double whole = 2.0 * (now.seconds + now.seconds_left);
        const auto all = static_cast<double>(m_job.shots.size());
        const auto at = static_cast<double>(k) + part_done;
        m_job.progress(at / all,
                       concat("shot ", m_job.shots[k].number, ", ", leg == 0 ? "forward" : "back",
                              ", ", format_count(now.points_per_second), "points/s, ",
                              std::llround(whole * (all - at)), " s left"));
      };
    }
    m_exec.fence();
    m_phases.add("prepare", preparing.seconds());
    rtm::MigrateReport<Dim> done;
    {
      const double begin = m_job.timeline != nullptr ? m_job.timeline->now() : 0.0;
      done = wave::locate_overflow<Dim>(
          m_job.grid, migrate.steps, name,
          [&](std::int64_t check_every) {
            migrate.check_every = check_every;
            if (check_every == 1) migrate.domain = nullptr;
            const auto store = make_store(propagator, forward);
            return rtm::migrate_shot<T, Dim, Memory>(m_exec, propagator, modelling.wavefield(),
                                                     forward, backward, *store, migrate, image);
          },
          overflow_advice);
      if (m_job.timeline != nullptr) {
        const double turn = begin + done.forward.seconds;
        m_job.timeline->add("forward leg", begin, turn);
        m_job.timeline->add("backward leg", turn, m_job.timeline->now());
      }
    }
    m_phases.add("migrate", done.seconds);
    report.snapshots = done.snapshots.kind;
    report.ratio = done.snapshots.ratio();
    report.kept_bytes = done.snapshots.kept_bytes;
    report.points = done.forward.points + done.backward.points;
    report.whole_points = done.forward.whole_points + done.backward.whole_points;
    report.again = done.snapshots.points;
    report.seconds = done.seconds;
    report.forward_boxes = done.forward.boxes.numbers();
    report.backward_boxes = done.backward.boxes.numbers();

    const Stopwatch leaving;
    sums.image = download(m_exec, image.image);
    sums.source = download(m_exec, image.source_illumination);
    sums.receiver = download(m_exec, image.receiver_illumination);
    if (!complete_receivers(m_o)) sums.receiver.assign(sums.receiver.size(), T(0));
    if (image.offsets.size() > 0) sums.offsets = download(m_exec, image.offsets);
    m_phases.add("transfer", leaving.seconds());
    return end;
  }

  // What the grid carries without much dispersion, Hz.
  double highest_carried(const Modelling& modelling) const {
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, m_job.grid.spacing[d]);
    return modelling.plan().limits.least_velocity /
           (modelling.plan().nodes_per_wave_wanted * spacing);
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  PhaseTimes m_own_phases;  // of workers but the first
  PhaseTimes& m_phases;
  std::shared_ptr<Planner<T, Dim, Memory>> m_planner;  // of all workers
  const Plan& m_plan;
  snapshot::DeviceArena<T, Memory> m_arena;
  snapshot::HostArena<T, Memory> m_host_arena;
  int m_number = 0;             // of the worker
  std::vector<double> m_parts;  // of each shot, how much is done
  Stopwatch m_watch;
};

}  // namespace detail

template <class T, int Dim, class Memory>
PhaseTimes compute_on(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  PhaseTimes phases;
  detail::Migration<T, Dim, Memory>(exec, job, phases).run();
  return phases;
}

/// One kind of call.
#define MOHO_MIGRATE_SHOTS(T, Dim, Memory) \
  template PhaseTimes compute_on<T, Dim, Memory>(const Instance<Memory>&, const Job<T, Dim>&)

}  // namespace moho::examples::migrate_shots
