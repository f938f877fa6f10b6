// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What migrating the shots will take: time step, windows, and how snapshots are kept.

#include "common/memory.hpp"
#include "common/summary.hpp"
#include "migrate_shots/compute.hpp"

#include <moho/core/at_once.hpp>
#include <moho/core/space.hpp>
#include <moho/snapshot/rates.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::migrate_shots::detail {

/// Where snapshots are kept.
enum class Place { device, host, disk };

/// Plans all shots before the first one, and makes what each shot needs of the models.
template <class T, int Dim, class Memory>
class Planner {
 public:
  using Modelling = wave::Modelling<T, Dim, Memory>;

  explicit Planner(const Job<T, Dim>& job) : m_job(job), m_o(*job.options) {}

  /// What was found.
  const Plan& plan() const { return m_plan; }
  /// Adds what is to be said of the times at which data begin.
  void take_onsets(const std::string& note) { m_plan.onset_note = note; }
  /// Options of modelling, with the time step of all shots.
  const wave::ModellingOptions<Dim>& options() const { return m_options; }
  /// Of the wavelet.
  const survey::WaveletTimes& wavelet_times() const { return m_wavelet_times; }
  /// Where snapshots are kept.
  Place place() const { return m_place; }
  /// How snapshots are compressed; nothing where they are not.
  std::optional<snapshot::CodecOptions> codec() const {
    if (m_plan.strategy.codec < 0) return std::nullopt;
    return m_codecs[static_cast<std::size_t>(m_plan.strategy.codec)];
  }
  /// Threads of the host that compress a shot's snapshots; 0 where kernels of the run do.
  int compressing_threads() const {
    return by_threads(m_plan.strategy) ? std::max(m_threads / m_plan.at_once, 1) : 0;
  }

  /// Messages in the words of options.
  auto renamed(const std::map<std::string, std::string>& names) const {
    return [this, &names](const InputError& error) {
      return InputError(in_options(error.what(), names,
                                   {{"sources", m_job.sources_name},
                                    {"receivers", m_job.receivers_name},
                                    {"wavelet", m_job.wavelet_name}}));
    };
  }

  /// The part of the model that a shot sees.
  survey::ShotWindow<Dim> window_of(const wave::Shot<Dim>& shot) const {
    return survey::shot_window(m_job.grid, shot, {m_o.aperture, 0.0});
  }

  /// The parameters of a window, on the host.
  ModelValues<T> cut(const ModelValues<T>& values, const survey::ShotWindow<Dim>& window) const {
    ModelValues<T> part;
    for (const auto& [name, all] : values) {
      std::vector<T>& to = part[name];
      to.resize(static_cast<std::size_t>(window.grid.size()));
      survey::copy_window(m_job.grid, window, all.data(), to.data());
    }
    return part;
  }

  /// The same; the model itself where the shot sees all of it. \param room for what is cut
  ModelValues<T>& part_of(ModelValues<T>& values, const survey::ShotWindow<Dim>& window,
                          ModelValues<T>& room) const {
    if (window.box == whole_box(m_job.grid)) return values;
    room = cut(values, window);
    return room;
  }

  /// Plans. \throws InputError, MemoryError
  void make_plan(const Instance<Memory>& exec) {
    m_plan.device = device_name(exec);
    m_plan.threads = exec.concurrency();
    wave::ModellingOptions<Dim> options = m_job.modelling;
    for (const auto& shot : m_job.shots) {
      options.receivers =
          std::max(options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
    }
    double dt = 0.0;
    if (m_job.true_values != nullptr) {
      try {
        const auto model = to_model<T, Dim, Memory>(exec, m_job.grid, *m_job.true_values);
        const auto limits = (wave::check_model<T, Dim, Memory>(exec, m_job.grid, model),
                             wave::limits_of<T, Dim, Memory>(exec, m_job.grid, model, options.order,
                                                             options.equations, options.sigma));
        dt = limits.largest_dt;
      } catch (const InputError& error) {
        throw renamed(m_job.true_names)(error);
      }
    }
    wave::ModellingPlan<Dim> whole;
    try {
      const auto model = to_model<T, Dim, Memory>(exec, m_job.grid, *m_job.values);
      wave::check_model<T, Dim, Memory>(exec, m_job.grid, model);
      if (options.time.dt == 0.0) {
        // one step for all shots, and for the data that are modelled
        const auto limits = wave::limits_of<T, Dim, Memory>(exec, m_job.grid, model, options.order,
                                                            options.equations, options.sigma);
        const double largest = dt > 0.0 ? std::min(dt, limits.largest_dt) : limits.largest_dt;
        options.time.dt = std::floor(0.9 * largest * 1e6) * 1e-6;
        if (!(options.time.dt > 0.0)) options.time.dt = 0.9 * largest;
      }
      wave::ModellingOptions<Dim> plain = options;
      plain.memory = std::size_t{1} << 62;  // windows are smaller, see below
      whole = wave::plan_modelling<T, Dim, Memory>(exec, m_job.grid, model, m_job.boundaries,
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
    m_wavelet_times = survey::wavelet_times(whole.wavelet, whole.time.dt);
    m_plan.every_by_rule =
        std::min(snapshot::snapshot_interval(whole.wavelet, whole.time.dt), whole.time.steps);
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
    const survey::ShotWindow<Dim> window = window_of(shot);
    ModelValues<T> room;
    auto modelling = make(exec, window, part_of(*m_job.values, window, room), shot);
    m_plan.memory = modelling.plan().memory;
    for (int d = 0; d < Dim; ++d) m_plan.largest.push_back(modelling.plan().grid.extents[d]);
    measure(exec, modelling);
    const int shots =
        m_o.only_shot ? 1 : static_cast<int>(std::min<std::size_t>(m_job.shots.size(), 1024));
    choose(exec, modelling, m_o.at_once > 0 ? std::min(m_o.at_once, shots) : 1);
    if (m_o.at_once > 0) return estimate(all / static_cast<double>(nodes));
    // as many as do not have to keep their snapshots in a slower way
    const Plan alone = m_plan;
    const Place place = m_place;
    int most = std::min(shots, wave::shots_at_once(exec, modelling.plan().grid.size(), shots));
    for (; most > 1; --most) {
      try {
        choose(exec, modelling, most);
        if (m_plan.strategy.name == alone.strategy.name && m_place == place) break;
      } catch (const InputError&) {  // no room for so many
      } catch (const MemoryError&) {
      }
      m_plan = alone;
      m_place = place;
    }
    estimate(all / static_cast<double>(nodes));
  }

  /// A shot's propagator, arrays and plan.
  Modelling make(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                 ModelValues<T>& values, const wave::Shot<Dim>& shot) const {
    wave::ModellingOptions<Dim> options = m_options;
    options.sources = shot.sources;
    options.sources.insert(options.sources.end(), shot.receivers.begin(), shot.receivers.end());
    options.keep_model =
        m_o.expand == domain::Expansion::layers || m_o.expand == domain::Expansion::eikonal;
    options.memory = m_o.device_memory;
    try {
      auto model = to_model<T, Dim, Memory>(exec, window.grid, values);
      return wave::make_modelling(exec, window.grid, std::move(model), m_job.boundaries,
                                  m_job.wavelet, options);
    } catch (const InputError& error) {
      throw renamed(m_job.names)(error);
    } catch (const MemoryError& error) {
      throw with_advice(error, "--device-memory", ", or a smaller --aperture");
    }
  }

 private:
  static constexpr double lock_rate = 1.7e9;  // bytes a second, as measured beside an H200

  // Seconds of all shots. \param largest how many shots of the largest are as much work
  void estimate(double largest) {
    m_plan.seconds = m_plan.strategy.seconds * largest;
    if (m_job.true_values != nullptr) m_plan.seconds += 0.5 * m_plan.strategy.legs * largest;
  }

  // What ways to keep snapshots cost here.
  void measure(const Instance<Memory>& exec, Modelling& modelling) {
    if (m_o.error == "lossless") {
      m_accuracy.kind = snapshot::Accuracy::Kind::lossless;
    } else {
      const snapshot::CodecOptions asked = snapshot::parse_codec(m_o.error);
      m_codecs.push_back(asked);
      if (asked.mode == snapshot::CodecMode::transform) {
        m_accuracy = {snapshot::Accuracy::Kind::snr, asked.snr};
        for (const int bits : {12, 16}) {
          m_codecs.push_back({.mode = snapshot::CodecMode::blocks, .bits = bits});
        }
      } else if (asked.mode == snapshot::CodecMode::blocks) {
        m_accuracy = {snapshot::Accuracy::Kind::bits, static_cast<double>(asked.bits)};
      } else {
        m_accuracy = {snapshot::Accuracy::Kind::bound, asked.max_error};
      }
    }
    m_rates = snapshot::measure_rates<T, Dim, Memory>(exec, modelling.propagator(),
                                                      modelling.wavefield(), m_codecs);
    m_rates.link = snapshot::measure_link(exec);
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    m_threads = m_rates.threads = std::min(host.concurrency(), 64);
    const bool threads =
        m_o.snapshots == "threads" || (!is_host_memory<Memory> && m_o.snapshots == "auto");
    if (threads && !m_codecs.empty()) {
      // the codec that was asked for; others are weaker there, too
      m_codecs.push_back(m_codecs.front());
      m_rates.codecs.push_back(
          snapshot::measure_host_codec<T, Dim, Memory>(m_codecs.front(), m_threads));
    }
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
  void choose(const Instance<Memory>& exec, const Modelling& modelling, int at_once) {
    m_plan.at_once = at_once;
    m_plan.strategy = {};
    const auto& propagator = modelling.propagator();
    const auto& scheme = propagator.scheme();
    const Box<Dim> interior = propagator.interior();
    snapshot::ShotShape shape;
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
        scheme.stencil() == wave::kernel::Stencil::tti ? scheme.order() : scheme.order() / 2;
    shape.face_bytes = static_cast<int>(sizeof(T)) * scheme.fields();
    shape.face_error = sizeof(T) == 4 ? 1e-4 : 1e-11;
    snapshot::Budget budget;
    const std::size_t need = modelling.plan().memory.most;
    const auto shots = static_cast<std::size_t>(at_once);
    const std::size_t asked =
        is_host_memory<Memory> && m_o.memory > 0 ? m_o.memory : m_o.device_memory;
    const std::size_t there = memory_budget(exec);  // besides one shot
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
    for (const snapshot::Strategy& given :
         snapshot::strategies(shape, m_rates, budget, m_accuracy)) {
      if (!wanted(given)) continue;
      snapshot::Strategy way = given;
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
      const bool plainer =
          way.keep == snapshot::Keep::raw && m_plan.strategy.keep != snapshot::Keep::raw;
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
  std::optional<Place> place_of(snapshot::Strategy& way, const snapshot::Budget& budget) const {
    constexpr const char* names[] = {"raw snapshots", "blocks", "differences of integers",
                                     "transform",     "faces",  "replay"};
    const bool again = way.keep == snapshot::Keep::faces || way.keep == snapshot::Keep::replay;
    if (way.keep == snapshot::Keep::replay) {
      way.name = concat("replay from ", way.states, " states");
    } else {
      way.name = names[static_cast<int>(way.keep)];
      if (way.codec >= 0 && way.keep == snapshot::Keep::blocks) {
        way.name += concat(" of ", m_codecs[static_cast<std::size_t>(way.codec)].bits, " bits");
      }
      if (by_threads(way)) way.name += concat(" by ", m_threads, " threads of the host");
    }
    // threads have buffers, too, and keep what they make in one place
    if (by_threads(way) && !way.possible) return std::nullopt;
    // a way may only lack room where it was split otherwise
    if (!way.possible && way.bytes == 0) return std::nullopt;
    if (!way.possible && way.least_device == std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
    const auto fits = [&](std::uint64_t room) {
      return static_cast<double>(way.bytes) <= 0.9 * static_cast<double>(room);
    };
    const bool disk_alone = m_o.snapshots == "disk";
    const bool host_alone =
        (m_o.snapshots == "memory" || by_threads(way)) && !is_host_memory<Memory>;
    if (!disk_alone && !host_alone && fits(budget.device)) return Place::device;
    if (again || m_o.snapshots == "device") return std::nullopt;
    if (!disk_alone && !is_host_memory<Memory> && fits(budget.host)) return Place::host;
    if (!host_alone && budget.disk > 0 && fits(budget.disk)) return Place::disk;
    return std::nullopt;
  }

  bool by_threads(const snapshot::Strategy& way) const {
    return way.codec >= 0 && m_rates.codecs[static_cast<std::size_t>(way.codec)].host_threads;
  }

  bool wanted(const snapshot::Strategy& way) const {
    const bool again = way.keep == snapshot::Keep::faces || way.keep == snapshot::Keep::replay;
    if (m_o.snapshots == "auto") return true;
    if (m_o.snapshots == "threads") return by_threads(way);
    if (m_o.snapshots == "boundary") return way.keep == snapshot::Keep::faces;
    if (m_o.snapshots == "replay") return way.keep == snapshot::Keep::replay;
    // the codec that --error names is the first one
    const bool asked = m_o.error != "lossless" && way.codec == 0;
    if (m_o.snapshots == "compressed") return asked;
    if (m_o.snapshots == "disk")
      return m_o.error == "lossless" ? way.keep == snapshot::Keep::raw : asked;
    return way.keep == snapshot::Keep::raw && !again;
  }

  const Job<T, Dim>& m_job;
  const Options& m_o;
  Plan m_plan;
  wave::ModellingOptions<Dim> m_options;
  survey::WaveletTimes m_wavelet_times;
  std::vector<snapshot::CodecOptions> m_codecs;
  snapshot::Accuracy m_accuracy;
  snapshot::Rates m_rates;
  Place m_place = Place::device;
  int m_threads = 1;  // of the host, that may compress
};

}  // namespace moho::examples::migrate_shots::detail
