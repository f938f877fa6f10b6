// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "common/memory.hpp"
#include "common/wave_fields.hpp"
#include "model_waves/compute.hpp"

#include <moho/core/at_once.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/domain/expand.hpp>
#include <moho/wave/locate_overflow.hpp>
#include <moho/wave/shots.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::model_waves {

namespace detail {

// What the library chooses and checks before the first step.
template <class T, int Dim, class Memory>
wave::Modelling<T, Dim, Memory> prepare(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                                        PhaseTimes& phases) {
  wave::Model<T, Dim, Memory> model;
  {
    const ScopedPhase<Instance<Memory>> phase(exec, phases, "transfer");
    model = to_model<T, Dim, Memory>(exec, job.grid, *job.values, job.constants);
  }
  const ScopedPhase<Instance<Memory>> phase(exec, phases, "prepare");
  try {
    auto modelling = wave::make_modelling<T, Dim, Memory>(
        exec, job.grid, std::move(model), job.boundaries, job.wavelet, job.modelling_of_shots());
    modelling.check(exec, job.shots);
    return modelling;
  } catch (const InputError& error) {
    throw InputError(job.in_options(error.what()));
  } catch (const MemoryError& error) {
    throw with_advice(error, "--memory",
                      is_host_memory<Memory>
                          ? ", or run stream_waves with --host-volume FILE, which keeps the waves "
                            "in a file"
                          : ", or run stream_waves with --device-memory, which steps planes of the "
                            "model that pass through the device");
  }
}

// What a shot leaves.
template <class T, int Dim, class Memory>
struct ShotEnd {
  wave::ShotResult<T, Dim, Memory> result;
  double preparing = 0.0, waiting = 0.0, finding = 0.0;  // seconds
  double begin = 0.0, end = 0.0;                         // of the steps, since the first shot
};

// Calls a function for snapshots in their order, whichever is whole first.
class InOrder {
 public:
  void put(std::int64_t index, std::int64_t step,
           const std::function<void(std::int64_t, std::int64_t)>& whole) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_waiting[index] = step;
    for (auto first = m_waiting.begin(); first != m_waiting.end() && first->first == m_next;
         first = m_waiting.erase(first)) {
      whole(m_next++, first->second);
    }
  }

 private:
  std::mutex m_mutex;
  std::int64_t m_next = 0;
  std::map<std::int64_t, std::int64_t> m_waiting;
};

// Shots over one model, one after the other or several at once.
template <class T, int Dim, class Memory>
class Survey {
 public:
  Survey(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
         wave::Modelling<T, Dim, Memory>& modelling, const TakeSnapshots<T>& take)
      : m_job(job),
        m_modelling(modelling),
        m_plan(modelling.plan()),
        m_take(take),
        m_places(exec, modelling),
        m_groups(job.shots.size()),
        m_parts(job.shots.size(), 0.0),
        m_rates(m_places.instances.size(), 0.0) {}

  void run(WaveReport& out) {
    double first = -1.0, last = 0.0;  // steps of any shot, seconds
    // shots that a worker steps together
    auto next = [&, k = std::size_t{0},
                 groups = std::size_t{0}]() mutable -> std::optional<std::size_t> {
      std::vector<std::size_t> group;
      while (k < m_job.shots.size() && group.size() < m_places.together()) {
        const bool alone = is_alone(k);
        if (alone && !group.empty()) break;
        if (m_job.takes(k++)) group.push_back(k - 1);
        if (alone && !group.empty()) break;
      }
      if (group.empty()) return std::nullopt;
      m_groups[groups] = std::move(group);
      return groups++;
    };
    const auto work = [&](int worker, std::size_t group, AtOnceCaller& caller) {
      return shots(static_cast<std::size_t>(worker), m_groups[group], caller);
    };
    const auto take = [&](std::size_t k, ShotEnd<T, Dim, Memory>&& end) {
      const wave::ShotResult<T, Dim, Memory>& result = end.result;
      out.phases.add("prepare", end.preparing);
      if (end.waiting > 0.0) out.phases.add("snapshots", end.waiting);
      if (alone()) {
        out.phases.add("steps", result.seconds);
        out.seconds += result.seconds;
      } else {
        first = first < 0.0 ? end.begin : std::min(first, end.begin);
        last = std::max(last, end.end);
      }
      out.points += result.points;
      out.whole_points += result.whole_points;
      out.domain_seconds += end.finding;
      m_parts[k] = 1.0;
      m_job.gather(
          k, Gather<T>{result.traces.data(), static_cast<std::int64_t>(result.traces.extent(0)),
                       static_cast<std::int64_t>(result.traces.extent(1))});
    };
    const auto done = [&](std::size_t group, std::vector<ShotEnd<T, Dim, Memory>>&& ends) {
      for (std::size_t n = 0; n < ends.size(); ++n) take(m_groups[group][n], std::move(ends[n]));
    };
    run_at_once<std::vector<ShotEnd<T, Dim, Memory>>>(m_places.workers(), next, work, done);
    if (!alone()) {
      out.seconds = std::max(last - first, 0.0);
      out.phases.add("steps", out.seconds);
    }
  }

 private:
  bool alone() const { return m_plan.at_once == 1; }
  // Snapshots are taken of a shot that is stepped for itself.
  bool is_alone(std::size_t k) const { return k == 0 && m_plan.time.snapshot_every > 0; }

  std::vector<ShotEnd<T, Dim, Memory>> shots(std::size_t worker,
                                             const std::vector<std::size_t>& group,
                                             AtOnceCaller& caller) {
    std::vector<ShotEnd<T, Dim, Memory>> ends;
    for (std::size_t first = 0; first < group.size();) {
      const std::size_t end = std::min(first + m_places.room(worker), group.size());
      const std::vector<std::size_t> some(group.begin() + static_cast<std::ptrdiff_t>(first),
                                          group.begin() + static_cast<std::ptrdiff_t>(end));
      first = end;
      if (some.size() > 1 && m_job.expand == domain::Expansion::none) {
        try {
          for (auto& one : together(worker, some, caller)) ends.push_back(std::move(one));
          continue;
        } catch (const wave::NotFinite&) {
          // one after the other: the error then names the shot's first step and node
        }
      }
      for (const std::size_t k : some) ends.push_back(shot(worker, k, caller));
    }
    return ends;
  }

  // Shots in step with each other.
  std::vector<ShotEnd<T, Dim, Memory>> together(std::size_t worker,
                                                const std::vector<std::size_t>& group,
                                                AtOnceCaller& caller) {
    const Instance<Memory>& exec = m_places.instances[worker];
    const auto count = static_cast<double>(group.size());
    std::vector<ShotEnd<T, Dim, Memory>> ends(group.size());
    std::vector<wave::ShotPoints<T, Dim, Memory>> points;
    for (std::size_t n = 0; n < group.size(); ++n) {
      const Stopwatch preparing;
      const wave::Shot<Dim>& shot = m_job.shots[group[n]];
      points.push_back({m_modelling.sources(exec, shot), m_modelling.receivers(exec, shot)});
      ends[n].preparing = preparing.seconds();
    }
    wave::ShotOptions<T, Dim, Memory> options = m_modelling.shot_options();
    if (m_job.progress) {
      options.progress = [&](const wave::ShotProgress& now) {
        caller.call([&] { tell(worker, group, now); });
      };
    }
    const double begin = m_watch.seconds();
    auto results = wave::model_together<T, Dim, Memory>(exec, m_modelling.propagator(),
                                                        m_places.wavefields[worker], points,
                                                        m_plan.wavelet, options);
    // seconds of a shot are its part of those of all
    const double end = begin + count * results.front().seconds;
    for (std::size_t n = 0; n < group.size(); ++n) {
      ends[n].result = std::move(results[n]);
      ends[n].result.gather = {};
      ends[n].begin = begin;
      ends[n].end = end;
    }
    return ends;
  }

  ShotEnd<T, Dim, Memory> shot(std::size_t worker, std::size_t k, AtOnceCaller& caller) {
    const Instance<Memory>& exec = m_places.instances[worker];
    const wave::Propagator<T, Dim, Memory>& propagator = m_modelling.propagator();
    const wave::Shot<Dim>& shot = m_job.shots[k];
    ShotEnd<T, Dim, Memory> end;
    const Stopwatch preparing;
    const auto sources = m_modelling.sources(exec, shot);
    const auto receivers = m_modelling.receivers(exec, shot);
    domain::DomainOptions domain_options;
    domain_options.onset = domain::onset(m_plan.wavelet, m_plan.time.dt);
    domain_options.frequency = m_plan.frequency;
    const auto domain = domain::make_domain<T, Dim, Memory>(
        m_job.expand, exec, propagator, m_modelling.extended_model(), sources, domain_options);
    exec.fence();

    wave::ShotOptions<T, Dim, Memory> options = m_modelling.shot_options();
    if (m_job.expand != domain::Expansion::none) options.domain = domain.get();
    std::unique_ptr<wave::SnapshotQueue<T, Dim, Memory>> snapshots;
    if (k == 0 && options.snapshot_every > 0) {
      const auto take = [this, &caller,
                         order = std::make_shared<InOrder>()](const wave::SnapshotPart<T>& part) {
        m_take.part(part);
        if (!part.last()) return;
        order->put(part.index, part.number, [&](std::int64_t index, std::int64_t step) {
          caller.call([&] { m_take.whole(index, step); });
        });
      };
      snapshots = std::make_unique<wave::SnapshotQueue<T, Dim, Memory>>(
          exec, propagator.interior(), take, snapshot_options(exec, propagator.interior()));
      options.snapshot = [&](const wave::Wavefield<T, Dim, Memory>& field, const Box<Dim>&,
                             std::int64_t step) {
        snapshots->put(field.layout, field.now[0], step);
      };
    }
    end.preparing = preparing.seconds();
    if (m_job.progress) {
      options.progress = [&](const wave::ShotProgress& now) {
        if (alone()) return m_job.tell(k, now);
        caller.call([&] { tell(worker, {k}, now); });
      };
    }
    end.begin = m_watch.seconds();
    wave::Wavefield<T, Dim, Memory>& wavefield = m_places.wavefields[worker].front();
    end.result = wave::locate_overflow<Dim>(
        m_job.grid, m_plan.time.steps, concat("shot ", shot.number),
        [&](std::int64_t check_every) {
          wave::ShotOptions<T, Dim, Memory> how = options;
          how.check_every = check_every;
          if (check_every == 1) how.domain = nullptr, how.snapshot_every = 0;
          return wave::model_shot<T, Dim, Memory>(exec, propagator, wavefield, sources,
                                                  m_plan.wavelet, receivers, how);
        },
        overflow_advice);
    if (snapshots) {
      end.result.seconds = std::max(end.result.seconds - snapshots->seconds_waited(), 0.0);
      snapshots->finish();
      end.waiting = snapshots->seconds_waited();
    }
    end.end = m_watch.seconds();
    end.result.gather = {};
    end.finding = domain->report().seconds();
    return end;
  }

  // Files of several snapshots are written at once beside a device; more where memory is plenty.
  wave::SnapshotOptions snapshot_options(const Instance<Memory>& exec, const Box<Dim>& box) const {
    wave::SnapshotOptions options;
    if (is_host_memory<Memory>) return options;
    options.writers = options.slots;
    constexpr int most = 4;
    const auto bytes = static_cast<std::size_t>(box.size()) * sizeof(T);
    if (m_job.modelling.memory == 0 && 2 * most * bytes < memory_budget(exec, 0)) {
      options.slots = options.writers = most;
    }
    return options;
  }

  void tell(std::size_t worker, const std::vector<std::size_t>& group,
            const wave::ShotProgress& now) {
    for (const std::size_t k : group) {
      m_parts[k] = static_cast<double>(now.step) / static_cast<double>(now.steps);
    }
    m_rates[worker] = now.points_per_second;
    double done = 0.0, rate = 0.0;
    for (std::size_t n = 0; n < m_parts.size(); ++n) done += m_job.is_there(n) ? 1.0 : m_parts[n];
    for (const double one : m_rates) rate += one;
    m_job.tell_all(m_plan.at_once, done, rate, m_watch.seconds());
  }

  const WaveJob<T, Dim>& m_job;
  wave::Modelling<T, Dim, Memory>& m_modelling;
  const wave::ModellingPlan<Dim>& m_plan;
  const TakeSnapshots<T>& m_take;
  wave::ShotPlaces<T, Dim, Memory> m_places;
  std::vector<std::vector<std::size_t>> m_groups;  // shots that a worker steps together
  std::vector<double> m_parts, m_rates;            // of shots, of workers
  Stopwatch m_watch;
};

}  // namespace detail

template <class T, int Dim, class Memory>
WaveReport compute_on(const Instance<Memory>& exec, const WaveJob<T, Dim>& job,
                      const TakeSnapshots<T>& snapshots) {
  WaveReport out;
  out.device = device_name(exec);
  out.threads = exec.concurrency();
  std::optional<wave::Modelling<T, Dim, Memory>> made;
  job.together([&] { made.emplace(detail::prepare<T, Dim, Memory>(exec, job, out.phases)); });
  out.take(made->plan());
  out.bytes = made->plan().memory.most;
  if (!job.begins(out)) return out;
  detail::Survey<T, Dim, Memory>(exec, job, *made, snapshots).run(out);
  return out;
}

/// The four kinds of call on one memory.
#define MOHO_MODEL_WAVES(Memory)          \
  MOHO_MODEL_WAVES_ON(float, 2, Memory);  \
  MOHO_MODEL_WAVES_ON(float, 3, Memory);  \
  MOHO_MODEL_WAVES_ON(double, 2, Memory); \
  MOHO_MODEL_WAVES_ON(double, 3, Memory)
/// One of them.
#define MOHO_MODEL_WAVES_ON(T, Dim, Memory)                                                       \
  template WaveReport compute_on<T, Dim, Memory>(const Instance<Memory>&, const WaveJob<T, Dim>&, \
                                                 const TakeSnapshots<T>&)

}  // namespace moho::examples::model_waves
