// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/failed_step.hpp"
#include "common/summary.hpp"
#include "migrate_shots/compute.hpp"

#include <moho/core/at_once.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/rtm/expand.hpp>
#include <moho/rtm/first_arrivals.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/rtm/packed_store.hpp>
#include <moho/rtm/rates.hpp>
#include <moho/rtm/replay_store.hpp>
#include <moho/rtm/reverse.hpp>
#include <moho/rtm/stores.hpp>
#include <moho/wave/driver.hpp>

#include <algorithm>
#include <atomic>
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
  /// Data as they came and as they are migrated, where they may be those of the first shot.
  std::shared_ptr<std::pair<rtm::ShotGather<Dim>, rtm::PreparedShot<Dim>>> data;
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
        m_arena("moho::rtm::snapshots", arena_piece),
        m_host_arena("moho::rtm::snapshots on the host", arena_piece),
        m_data_shown(std::make_shared<std::atomic<bool>>(false)) {}
  /// Another worker with the plan of the first. \param number from 1
  Migration(const Instance<Memory>& exec, const Migration& first, int number)
      : m_exec(exec),
        m_job(first.m_job),
        m_o(first.m_o),
        m_phases(m_own_phases),
        m_plan(first.m_plan),
        m_options(first.m_options),
        m_wavelet_times(first.m_wavelet_times),
        m_codecs(first.m_codecs),
        m_place(first.m_place),
        m_arena("moho::rtm::snapshots", arena_piece / 16),
        m_host_arena("moho::rtm::snapshots on the host", arena_piece / 16),
        m_data_shown(first.m_data_shown),
        m_number(number) {}
  Migration(const Migration&) = delete;
  Migration& operator=(const Migration&) = delete;

  void run() {
    m_job.together([&] {
      const ScopedPhase<Instance<Memory>> phase(m_exec, m_phases, "plan");
      plan();
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
      if (end.data && !*m_data_shown) {
        m_job.data(end.data->first, end.data->second);
        *m_data_shown = true;
      }
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
  static constexpr double lock_rate = 1.7e9;  // bytes a second, as measured beside an H200
  using Modelling = wave::Modelling<T, Dim, Memory>;

  auto renamed(const std::map<std::string, std::string>& names) const {
    return [this, &names](const InputError& error) {
      return InputError(in_options(error.what(), names,
                                   {{"sources", m_job.sources_name},
                                    {"receivers", m_job.receivers_name},
                                    {"wavelet", m_job.wavelet_name}}));
    };
  }

  rtm::ShotWindow<Dim> window_of(const wave::Shot<Dim>& shot) const {
    return rtm::shot_window(m_job.grid, shot, {m_o.aperture, 0.0});
  }

  // The parameters of a window, on the host.
  ModelValues<T> cut(const ModelValues<T>& values, const rtm::ShotWindow<Dim>& window) const {
    ModelValues<T> part;
    for (const auto& [name, all] : values) {
      std::vector<T>& to = part[name];
      to.resize(static_cast<std::size_t>(window.grid.size()));
      rtm::copy_window(m_job.grid, window, all.data(), to.data());
    }
    return part;
  }

  void plan() {
    m_plan.device = device_name(m_exec);
    m_plan.threads = m_exec.concurrency();
    wave::ModellingOptions<Dim> options = m_job.modelling;
    for (const auto& shot : m_job.shots) {
      options.receivers =
          std::max(options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
    }
    double dt = 0.0;
    if (m_job.true_values != nullptr) {
      try {
        const auto model = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.true_values);
        const auto limits =
            (wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, model),
             wave::limits_of<T, Dim, Memory>(m_exec, m_job.grid, model, options.order,
                                             options.equations, options.sigma));
        dt = limits.largest_dt;
      } catch (const InputError& error) {
        throw renamed(m_job.true_names)(error);
      }
    }
    wave::ModellingPlan<Dim> whole;
    try {
      const auto model = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.values);
      wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, model);
      if (options.time.dt == 0.0) {
        // one step for all shots, and for the data that are modelled
        const auto limits = wave::limits_of<T, Dim, Memory>(
            m_exec, m_job.grid, model, options.order, options.equations, options.sigma);
        const double largest = dt > 0.0 ? std::min(dt, limits.largest_dt) : limits.largest_dt;
        options.time.dt = std::floor(0.9 * largest * 1e6) * 1e-6;
        if (!(options.time.dt > 0.0)) options.time.dt = 0.9 * largest;
      }
      wave::ModellingOptions<Dim> plain = options;
      plain.memory = std::size_t{1} << 62;  // windows are smaller, see below
      whole = wave::plan_modelling<T, Dim, Memory>(m_exec, m_job.grid, model, m_job.boundaries,
                                                   m_job.wavelet, plain);
    } catch (const InputError& error) {
      throw renamed(m_job.names)(error);
    }
    m_options = options;
    m_plan.medium = whole.medium;
    m_plan.time = whole.time;
    m_plan.limits = whole.limits;
    m_plan.frequency = whole.frequency;
    m_plan.peak_time = whole.peak_time;
    m_plan.nodes_per_wave = whole.nodes_per_wave;
    m_wavelet_times = rtm::wavelet_times(whole.wavelet, whole.time.dt);
    m_plan.every_by_rule =
        std::min(rtm::snapshot_interval(whole.wavelet, whole.time.dt), whole.time.steps);
    m_plan.every = m_o.every > 0 ? std::min(m_o.every, whole.time.steps) : m_plan.every_by_rule;

    // the largest shot decides
    std::size_t largest = 0;
    std::int64_t nodes = 0;
    double all = 0.0;
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      const std::int64_t size = window_of(m_job.shots[k]).grid.size();
      all += static_cast<double>(size);
      if (size > nodes) largest = k, nodes = size;
    }
    const wave::Shot<Dim>& shot = m_job.shots[largest];
    const rtm::ShotWindow<Dim> window = window_of(shot);
    ModelValues<T> part = cut(*m_job.values, window);
    auto modelling = make(window, part, shot);
    m_plan.memory = modelling.plan().memory;
    for (int d = 0; d < Dim; ++d) m_plan.largest.push_back(modelling.plan().grid.extents[d]);
    measure(modelling);
    const int shots =
        m_o.only_shot ? 1 : static_cast<int>(std::min<std::size_t>(m_job.shots.size(), 1024));
    choose(modelling, m_o.at_once > 0 ? std::min(m_o.at_once, shots) : 1);
    if (m_o.at_once > 0) return estimate(all / static_cast<double>(nodes));
    // as many as do not have to keep their snapshots in a slower way
    const Plan alone = m_plan;
    const Place place = m_place;
    int most = std::min(shots, wave::shots_at_once(m_exec, modelling.plan().grid.size(), shots));
    for (; most > 1; --most) {
      try {
        choose(modelling, most);
        if (m_plan.strategy.name == alone.strategy.name && m_place == place) break;
      } catch (const InputError&) {  // no room for so many
      } catch (const MemoryError&) {
      }
      m_plan = alone;
      m_place = place;
    }
    estimate(all / static_cast<double>(nodes));
  }

  // Seconds of all shots. \param largest how many shots of the largest are as much work
  void estimate(double largest) {
    m_plan.seconds = m_plan.strategy.seconds * largest;
    if (m_job.true_values != nullptr) m_plan.seconds += 0.5 * m_plan.strategy.legs * largest;
  }

  Modelling make(const rtm::ShotWindow<Dim>& window, ModelValues<T>& values,
                 const wave::Shot<Dim>& shot) const {
    wave::ModellingOptions<Dim> options = m_options;
    options.sources = shot.sources;
    options.sources.insert(options.sources.end(), shot.receivers.begin(), shot.receivers.end());
    options.keep_model =
        m_o.expand == rtm::Expansion::layers || m_o.expand == rtm::Expansion::eikonal;
    options.memory = m_o.device_memory;
    try {
      auto model = to_model<T, Dim, Memory>(m_exec, window.grid, values);
      return wave::make_modelling(m_exec, window.grid, std::move(model), m_job.boundaries,
                                  m_job.wavelet, options);
    } catch (const InputError& error) {
      throw renamed(m_job.names)(error);
    }
  }

  // What ways to keep snapshots cost here.
  void measure(Modelling& modelling) {
    if (m_o.error == "lossless") {
      m_accuracy.kind = rtm::Accuracy::Kind::lossless;
    } else {
      const rtm::CodecOptions asked = rtm::parse_codec(m_o.error);
      m_codecs.push_back(asked);
      if (asked.mode == rtm::CodecMode::transform) {
        m_accuracy = {rtm::Accuracy::Kind::snr, asked.snr};
        for (const int bits : {12, 16}) {
          m_codecs.push_back({.mode = rtm::CodecMode::blocks, .bits = bits});
        }
      } else if (asked.mode == rtm::CodecMode::blocks) {
        m_accuracy = {rtm::Accuracy::Kind::bits, static_cast<double>(asked.bits)};
      } else {
        m_accuracy = {rtm::Accuracy::Kind::bound, asked.max_error};
      }
    }
    m_rates = rtm::measure_rates<T, Dim, Memory>(m_exec, modelling.propagator(),
                                                 modelling.wavefield(), m_codecs);
    m_rates.link = rtm::measure_link(m_exec);
    if (m_o.disk > 0) {
      m_rates.disk_write = 5e8;  // of a common disk; what is slower shows in the time line
      m_rates.disk_read = 1e9;
    }
  }

  // What shots leave that are computed at once: image, both illuminations, offsets.
  std::size_t waiting_bytes(std::int64_t nodes, int at_once) const {
    const std::int64_t offsets = static_cast<std::int64_t>(m_job.offsets.columns.size()) *
                                 m_job.offsets.count() * m_job.grid.extents[Dim - 1];
    return static_cast<std::size_t>(results_at_once(at_once)) * sizeof(T) *
           static_cast<std::size_t>(3 * nodes + offsets);
  }

  // How snapshots of so many shots at once are kept.
  void choose(const Modelling& modelling, int at_once) {
    m_plan.at_once = at_once;
    m_plan.strategy = {};
    const auto& propagator = modelling.propagator();
    const auto& scheme = propagator.scheme();
    const Box<Dim> interior = propagator.interior();
    rtm::ShotShape shape;
    shape.dims = Dim;
    for (int d = 0; d < Dim; ++d) {
      shape.interior[static_cast<std::size_t>(d + (Dim == 2 && d == 1 ? 1 : 0))] =
          interior.extent(d);
    }
    const auto nodes = static_cast<double>(propagator.grid().size());
    shape.steps = m_plan.time.steps;
    shape.snapshots = m_plan.time.steps / m_plan.every;
    shape.step_nodes = nodes * static_cast<double>(shape.steps);
    shape.largest_snapshot = static_cast<double>(interior.size());
    shape.snapshot_nodes = shape.largest_snapshot * static_cast<double>(shape.snapshots);
    shape.state_nodes = nodes;
    shape.snapshot_bytes = sizeof(T);
    shape.state_bytes = static_cast<int>(2 * sizeof(T)) * scheme.fields();
    shape.image_bytes = static_cast<int>(4 * sizeof(T));
    shape.face_layers =
        scheme.stencil() == wave::detail::Stencil::tti ? scheme.order() : scheme.order() / 2;
    shape.face_bytes = static_cast<int>(sizeof(T)) * scheme.fields();
    shape.face_error = sizeof(T) == 4 ? 1e-4 : 1e-11;
    rtm::Budget budget;
    const std::size_t need = modelling.plan().memory.most;
    const auto shots = static_cast<std::size_t>(at_once);
    const std::size_t asked =
        is_host_memory<Memory> && m_o.memory > 0 ? m_o.memory : m_o.device_memory;
    const std::size_t there = memory_budget(m_exec);  // besides one shot
    // sums of shots that wait for their turn are on the host
    const std::size_t waiting = shots > 1 ? waiting_bytes(interior.size(), at_once) : 0;
    const std::size_t beside = is_host_memory<Memory> ? waiting : 0;
    const std::size_t others = (shots - 1) * need + beside;
    const std::size_t all = shots * need + beside;
    if (shots > 1 && (others > there || (asked > 0 && all > asked))) {
      throw MemoryError(
          concat("memory: ", shots, " shots at once take ", format_bytes(static_cast<double>(all)),
                 " besides snapshots (allowed: ",
                 format_bytes(static_cast<double>(asked > 0 ? asked : there + need)),
                 asked > 0 ? ", as asked" : ", what is free", "): give a smaller --at-once"));
    }
    budget.device = there - others;
    if (asked > 0) budget.device = std::min(there - others, asked - std::min(asked, all));
    if (!is_host_memory<Memory>) {
      const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
      const std::size_t free = memory_budget(host, m_o.memory);
      if (waiting > free) {
        throw MemoryError(concat("memory: images of ", shots, " shots at once take ",
                                 format_bytes(static_cast<double>(waiting)),
                                 " of the host (allowed: ", format_bytes(static_cast<double>(free)),
                                 m_o.memory > 0 ? ", as asked" : ", what is free",
                                 "): give a smaller --at-once"));
      }
      budget.host = (free - waiting) / shots;
    }
    budget.device /= shots;
    budget.disk = m_o.disk / shots;
    m_plan.budget = static_cast<double>(budget.device);
    m_plan.host_budget = static_cast<double>(budget.host);
    m_plan.disk = static_cast<double>(budget.disk);
    m_place = Place::device;
    std::string why, reason;
    std::optional<double> least;
    for (const rtm::Strategy& given : rtm::strategies(shape, m_rates, budget, m_accuracy)) {
      if (!wanted(given)) continue;
      rtm::Strategy way = given;
      const std::optional<Place> place = place_of(way, budget);
      if (!place) {
        if (why.empty()) {
          why = concat(way.name, ": ",
                       given.possible
                           ? concat("it keeps ", format_bytes(static_cast<double>(way.bytes)))
                           : given.reason);
        }
        continue;
      }
      // page-locked memory is taken once for all shots, and slowly
      double cost = way.seconds;
      if (*place == Place::host && !is_host_memory<Memory>) {
        cost +=
            static_cast<double>(way.bytes) / lock_rate / static_cast<double>(m_job.shots.size());
      }
      reason += concat(reason.empty() ? "" : ", ", way.name, " ", place_name(*place), " (",
                       significant_seconds(cost), " s a shot)");
      // where two cost the same, what is kept as it is rather than what is computed again
      const bool plainer = way.keep == rtm::Keep::raw && m_plan.strategy.keep != rtm::Keep::raw;
      if (least && cost >= *least * (plainer ? 1.02 : 0.98)) continue;
      least = cost;
      m_place = *place;
      m_plan.strategy = way;
      m_plan.strategy.name = concat(way.name, " ", place_name(*place));
    }
    if (!least) {
      throw InputError(concat(
          m_o.snapshots == "auto" ? std::string("snapshots: no way to keep them fits")
                                  : concat("--snapshots ", m_o.snapshots, " is not possible here"),
          " (", why.empty() ? "this space has no such way" : why, "; allowed: ",
          format_bytes(m_plan.budget), is_host_memory<Memory> ? "" : " on the device",
          is_host_memory<Memory>
              ? ""
              : concat(", ", format_bytes(m_plan.host_budget), " of the host's memory"),
          ", ", format_bytes(m_plan.disk),
          " of disk): take another way, or larger budgets (--memory, --device-memory, --disk)"));
    }
    m_plan.strategy.reason = concat("of ", reason);
  }

  enum class Place { device, host, disk };
  static const char* place_name(Place place) {
    return place == Place::disk                             ? "in files"
           : place == Place::host || is_host_memory<Memory> ? "in memory"
                                                            : "on the device";
  }
  static std::string significant_seconds(double seconds) {
    const double digits = std::pow(10.0, std::floor(std::log10(std::max(seconds, 1e-9))) - 1.0);
    return concat(std::round(seconds / digits) * digits);
  }

  // Where all of it goes; nothing where it does not fit, or would lose more than --error says.
  std::optional<Place> place_of(rtm::Strategy& way, const rtm::Budget& budget) const {
    constexpr const char* names[] = {"raw snapshots", "blocks", "differences of integers",
                                     "transform",     "faces",  "replay"};
    const bool again = way.keep == rtm::Keep::faces || way.keep == rtm::Keep::replay;
    if (way.keep == rtm::Keep::replay) {
      way.name = concat("replay from ", way.states, " states");
    } else {
      way.name = names[static_cast<int>(way.keep)];
      if (way.codec >= 0 && way.keep == rtm::Keep::blocks) {
        way.name += concat(" of ", m_codecs[static_cast<std::size_t>(way.codec)].bits, " bits");
      }
    }
    // a way may only lack room where it was split otherwise
    if (!way.possible && way.bytes == 0) return std::nullopt;
    if (!way.possible && way.least_device == std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
    const auto fits = [&](std::uint64_t room) {
      return static_cast<double>(way.bytes) <= 0.9 * static_cast<double>(room);
    };
    const bool disk_alone = m_o.snapshots == "disk";
    const bool host_alone = m_o.snapshots == "memory" && !is_host_memory<Memory>;
    if (!disk_alone && !host_alone && fits(budget.device)) return Place::device;
    if (again || m_o.snapshots == "device") return std::nullopt;
    if (!disk_alone && !is_host_memory<Memory> && fits(budget.host)) return Place::host;
    if (!host_alone && budget.disk > 0 && fits(budget.disk)) return Place::disk;
    return std::nullopt;
  }

  bool wanted(const rtm::Strategy& way) const {
    const bool again = way.keep == rtm::Keep::faces || way.keep == rtm::Keep::replay;
    if (m_o.snapshots == "auto") return true;
    if (m_o.snapshots == "boundary") return way.keep == rtm::Keep::faces;
    if (m_o.snapshots == "replay") return way.keep == rtm::Keep::replay;
    // the codec that --error names is the first one
    const bool asked = m_o.error != "lossless" && way.codec == 0;
    if (m_o.snapshots == "compressed") return asked;
    if (m_o.snapshots == "disk")
      return m_o.error == "lossless" ? way.keep == rtm::Keep::raw : asked;
    return way.keep == rtm::Keep::raw && !again;
  }

  std::unique_ptr<rtm::SnapshotStore<T, Dim, Memory>> make_store(
      const wave::Propagator<T, Dim, Memory>& propagator, const rtm::Leg<T, Dim, Memory>& leg) {
    const rtm::Strategy& way = m_plan.strategy;
    const bool on_disk = m_place == Place::disk, on_host = m_place == Place::host;
    std::optional<rtm::CodecOptions> codec;
    if (way.codec >= 0) codec = m_codecs[static_cast<std::size_t>(way.codec)];
    if (way.keep == rtm::Keep::faces) {
      return std::make_unique<rtm::ReverseStore<T, Dim, Memory>>(m_exec, leg, m_arena);
    }
    if (way.keep == rtm::Keep::replay) {
      const std::int64_t snapshots = m_plan.time.steps / m_plan.every;
      return std::make_unique<rtm::ReplayStore<T, Dim, Memory>>(
          m_exec, leg, m_arena, snapshots, m_plan.every,
          std::clamp<std::int64_t>(way.snapshots, 1, snapshots),
          std::max<std::int64_t>(way.states - 1, 0));
    }
    if (on_disk) {
      const std::filesystem::path folder =
          m_number == 0 ? m_job.scratch
                        : std::filesystem::path(concat(m_job.scratch.string(), "_at_", m_number));
      return std::make_unique<rtm::FileStore<T, Dim, Memory>>(folder, propagator.grid(), codec,
                                                              m_job.timeline);
    }
    if (codec) return std::make_unique<rtm::PackedStore<T, Dim, Memory>>(*codec, on_host);
    if (on_host && !is_host_memory<Memory>) {
      return std::make_unique<rtm::HostStore<T, Dim, Memory>>(m_exec, m_host_arena,
                                                              propagator.interior().size());
    }
    return std::make_unique<rtm::DeviceStore<T, Dim, Memory>>(m_arena);
  }

  // Data by the true model.
  rtm::ShotGather<Dim> model_data(const wave::Shot<Dim>& shot, const rtm::ShotWindow<Dim>& window) {
    const TimelineSpan span(m_job.timeline, "model data");
    rtm::ShotGather<Dim> gather;
    gather.shot = shot;
    gather.name = concat("modelled shot ", shot.number);
    ModelValues<T> part = cut(*m_job.true_values, window);
    wave::ModellingOptions<Dim> options = m_options;
    options.sources = shot.sources;
    options.time.snapshot_every = 0.0;
    try {
      auto model = to_model<T, Dim, Memory>(m_exec, window.grid, part);
      auto modelling = wave::make_modelling(m_exec, window.grid, std::move(model), m_job.boundaries,
                                            m_job.wavelet, options);
      wave::ShotOptions<T, Dim, Memory> shot_options = modelling.shot_options();
      shot_options.interval = 0.0;
      shot_options.snapshot_every = 0;
      const auto result =
          tell_failed_step<Dim>(m_job.grid, m_plan.time.steps, concat("data of shot ", shot.number),
                                [&](std::int64_t check_every) {
                                  shot_options.check_every = check_every;
                                  return modelling.shot(m_exec, shot, shot_options);
                                });
      gather.dt = result.interval;
      gather.count = static_cast<std::int64_t>(result.traces.extent(1));
      gather.samples.assign(result.traces.data(), result.traces.data() + result.traces.size());
    } catch (const InputError& error) {
      throw renamed(m_job.true_names)(error);
    }
    for (std::size_t r = 0; r < shot.receivers.size(); ++r) {
      gather.traces.push_back(static_cast<std::int64_t>(r) + 1);
    }
    return gather;
  }

  std::vector<double> arrivals(const rtm::ShotWindow<Dim>& window, ModelValues<T>& values,
                               const wave::Shot<Dim>& shot) const {
    if (m_o.mute.kind != rtm::MuteOptions::Kind::arrivals) return {};
    const TimelineSpan span(m_job.timeline, "first arrivals");
    eikonal::Model<T, Dim, Memory> model;
    model.velocity = to_field<T, Dim, Memory>(m_exec, window.grid, values, "vp");
    model.epsilon = to_field<T, Dim, Memory>(m_exec, window.grid, values, "epsilon");
    model.delta = to_field<T, Dim, Memory>(m_exec, window.grid, values, "delta");
    // a tilted axis: no wave is faster than along the fastest direction
    return rtm::arrival_times<T, Dim, Memory>(m_exec, window.grid, model, shot);
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
    rtm::ShotWindow<Dim> window = window_of(m_job.shots[k]);
    rtm::ShotGather<Dim> gather;
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
    ModelValues<T> part = cut(*m_job.values, window);
    auto modelling = make(window, part, gather.shot);
    const auto& propagator = modelling.propagator();

    rtm::PrepareOptions options;
    options.dt = m_plan.time.dt;
    options.samples = m_plan.time.steps + 1;
    options.highest = m_job.gather ? highest_carried(modelling) : 0.0;
    options.zero = m_o.zero;
    options.wavelet = m_wavelet_times;
    options.mute = m_o.mute;
    options.spreading = m_o.spreading;
    options.normalise = m_o.normalise;
    options.end_taper = m_job.gather ? 0.5 / m_plan.frequency : 0.0;
    rtm::PreparedShot<Dim> data =
        rtm::prepare(gather, options, arrivals(window, part, gather.shot));
    if (m_job.data && !*m_data_shown) {
      if (alone) {
        m_job.data(gather, data);
        *m_data_shown = true;
      } else {
        end.data =
            std::make_shared<std::pair<rtm::ShotGather<Dim>, rtm::PreparedShot<Dim>>>(gather, data);
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
    const rtm::Leg<T, Dim, Memory> forward{
        &propagator, &sources,
        upload_rows(amplitudes, static_cast<std::int64_t>(wavelet.size()),
                    static_cast<std::int64_t>(data.shot.sources.size()))};
    const rtm::Leg<T, Dim, Memory> backward{&propagator, &receivers,
                                            upload_rows(rows, data.count, count)};
    rtm::DomainOptions domain_options;
    domain_options.onset = rtm::onset(wavelet, m_plan.time.dt);
    domain_options.frequency = m_plan.frequency;
    const auto domain = rtm::make_domain<T, Dim, Memory>(
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
    if (m_o.expand != rtm::Expansion::none) migrate.domain = domain.get();
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
      done = tell_failed_step<Dim>(m_job.grid, migrate.steps, name, [&](std::int64_t check_every) {
        migrate.check_every = check_every;
        if (check_every == 1) migrate.domain = nullptr;
        const auto store = make_store(propagator, forward);
        return rtm::migrate_shot<T, Dim, Memory>(m_exec, propagator, modelling.wavefield(), forward,
                                                 backward, *store, migrate, image);
      });
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
  Plan m_plan;
  wave::ModellingOptions<Dim> m_options;
  rtm::WaveletTimes m_wavelet_times;
  std::vector<rtm::CodecOptions> m_codecs;
  rtm::Accuracy m_accuracy;
  rtm::Rates m_rates;
  Place m_place = Place::device;
  rtm::DeviceArena<T, Memory> m_arena;
  rtm::HostArena<T, Memory> m_host_arena;
  std::shared_ptr<std::atomic<bool>> m_data_shown;  // of all workers
  int m_number = 0;                                 // of the worker
  std::vector<double> m_parts;                      // of each shot, how much is done
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
