// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots of a survey over one model, several of them concurrently.

#include <moho/core/concurrent.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/space.hpp>
#include <moho/wave/detail/batch.hpp>
#include <moho/wave/locate_overflow.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/snapshots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// \brief Workers of concurrent shots: an instance and the wavefields of a batch for each.
template <class T, int Dim, class Memory>
struct ShotWorkers {
  std::vector<Instance<Memory>> instances;                         ///< of each worker; the first is
                                                                   ///< the caller's
  std::vector<std::vector<Wavefield<T, Dim, Memory>>> wavefields;  ///< of each worker

  /// \brief Allocates the wavefields of modelling.plan(), and waits for completion.
  /// \param exec instance of the first worker; other workers have separate instances on its device
  /// \param modelling modelling; its wavefield becomes the first of the first worker
  ShotWorkers(const InstanceOf<Memory>& exec, Modelling<T, Dim, Memory>& modelling) {
    const int concurrent_shots = modelling.plan().concurrent_shots;
    const int batch_size = std::max(modelling.plan().batch_size, 1);
    instances = concurrent_instances(Instance<Memory>(exec),
                                     (concurrent_shots + batch_size - 1) / batch_size);
    // frees the wavefield first: memory may not suffice for one more
    if (batch_size > 1) modelling.wavefield() = {};
    for (std::size_t n = 0; n < instances.size(); ++n) {
      if (n == 0 && batch_size == 1) {
        wavefields.push_back({modelling.wavefield()});
        continue;
      }
      const int first = static_cast<int>(n) * batch_size;
      wavefields.push_back(
          make_wavefields<T, Dim, Memory>(instances[n], modelling.propagator().scheme(),
                                          std::min(batch_size, concurrent_shots - first)));
    }
    modelling.wavefield() = wavefields.front().front();
    for (const auto& instance : instances) instance.fence();
  }
  /// Number of workers.
  int workers() const { return static_cast<int>(instances.size()); }
  /// Largest batch of all workers.
  std::size_t batch_size() const { return wavefields.front().size(); }
  /// Largest batch of a worker.
  std::size_t room(std::size_t worker) const { return wavefields[worker].size(); }
};

/// Progress of the shots of model_shots().
struct SurveyProgress {
  std::size_t shot = 0;            ///< index of a running shot
  ShotProgress of_shot;            ///< progress of that shot
  double done = 0.0;               ///< finished shots and fractions of running shots
  double points_per_second = 0.0;  ///< nodes stepped per second, of all workers
  double seconds = 0.0;            ///< elapsed seconds of model_shots()
};

/// Nodes stepped by a shot.
template <class T, int Dim, class Memory>
struct ShotDomain {
  std::unique_ptr<Domain<T, Dim, Memory>> nodes;  ///< null: all nodes
  std::function<double()> seconds = {};           ///< seconds of domain computations; empty: not
                                                  ///< measured
};

/// Returns the domain of a shot, on the instance of its worker; see domain::domain_factory().
/// Workers call it concurrently.
template <class T, int Dim, class Memory>
using DomainFactory = std::function<ShotDomain<T, Dim, Memory>(
    const Instance<Memory>& exec, const PointSet<T, Dim, Memory>& sources)>;

/// Options of model_shots().
template <class T, int Dim, class Memory>
struct SurveyRunOptions {
  /// Returns true if this process models the shot; called once per shot in ascending order. Empty:
  /// all shots.
  std::function<bool(std::size_t k)> claim = {};
  /// Returns true if any process has finished the shot, for progress. Empty: no shot is finished
  /// initially.
  std::function<bool(std::size_t k)> is_done = {};
  /// Domain of each shot; shots with a domain are not batched. Empty: all nodes.
  DomainFactory<T, Dim, Memory> domain = {};
  /// Receives the parts of snapshots of the first shot (SnapshotQueue), on separate threads.
  /// It is called if TimePlan::snapshot_every is positive. Empty: no snapshots.
  std::function<void(const SnapshotPart<T>&)> snapshot = {};
  /// Called on the calling thread in the order of steps, after all parts of a snapshot.
  std::function<void(std::int64_t index, std::int64_t step)> snapshot_done = {};
  /// Called on the calling thread about twice a second by each worker.
  std::function<void(const SurveyProgress&)> progress = {};
  bool keep_gathers = true;  ///< true: results keep their gathers in the memory of the instance
                             ///< (ModellingOptions::gathers_wait)
  std::size_t memory = 0;    ///< memory for snapshots in the space, bytes; 0: available memory
  std::string advice = overflow_advice;  ///< advice on options that avoid an overflow
};

/// Report of model_shots().
struct SurveyReport {
  std::int64_t shots = 0;       ///< shots modelled by this process
  double preparing = 0.0;       ///< seconds of points and domains, summed over shots
  double snapshots = 0.0;       ///< seconds that steps waited for snapshots
  double seconds = 0.0;         ///< seconds of all steps with injection and recording
  double domain_seconds = 0.0;  ///< seconds of domain computations
  double points = 0.0;          ///< nodes stepped
  double whole_points = 0.0;    ///< nodes of all steps without domains
};

namespace detail {

/// Calls a function for snapshots in their order, for any order of completion.
class SnapshotOrder {
 public:
  /// Adds a complete snapshot, and calls done(index, step) for all snapshots that are next in
  /// order.
  template <class Done>
  void add(std::int64_t index, std::int64_t step, const Done& done) {
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_waiting[index] = step;
    for (auto first = m_waiting.begin(); first != m_waiting.end() && first->first == m_next;
         first = m_waiting.erase(first)) {
      done(m_next++, first->second);
    }
  }

 private:
  std::mutex m_mutex;
  std::int64_t m_next = 0;
  std::map<std::int64_t, std::int64_t> m_waiting;
};

/// Shots over one model, sequential or concurrent.
template <class T, int Dim, class Memory>
class SurveyRun {
 public:
  using Result = ShotResult<T, Dim, Memory>;
  using Take = std::function<void(std::size_t, const Result&)>;

  SurveyRun(const Instance<Memory>& exec, Modelling<T, Dim, Memory>& modelling,
            const std::vector<Shot<Dim>>& shots, const SurveyRunOptions<T, Dim, Memory>& options)
      : m_modelling(modelling),
        m_plan(modelling.plan()),
        m_shots(shots),
        m_options(options),
        m_workers(exec, modelling),
        m_groups(shots.size()),
        m_parts(shots.size(), 0.0),
        m_rates(m_workers.instances.size(), 0.0) {}

  SurveyReport run(const Take& take);

 private:
  // Times of a finished shot.
  struct End {
    Result result;
    double preparing = 0.0, waiting = 0.0;  // seconds
    double begin = 0.0, end = 0.0;          // of the steps, since the first shot
  };
  using Ends = std::vector<End>;

  // True for the shot with snapshots, which is not batched.
  bool has_snapshots(std::size_t k) const {
    return k == 0 && m_plan.time.snapshot_every > 0 && m_options.snapshot;
  }
  std::vector<std::size_t> next_group(std::size_t& k) const;
  Ends model_group(std::size_t worker, const std::vector<std::size_t>& group,
                   CallingThread& caller);
  Ends run_batch(std::size_t worker, const std::vector<std::size_t>& batch, CallingThread& caller);
  End model_one(std::size_t worker, std::size_t k, CallingThread& caller);
  std::unique_ptr<SnapshotQueue<T, Dim, Memory>> snapshot_queue(const Instance<Memory>& exec,
                                                                CallingThread& caller) const;
  void report_progress(std::size_t worker, const std::vector<std::size_t>& group,
                       const ShotProgress& now);

  Modelling<T, Dim, Memory>& m_modelling;
  const ModellingPlan<Dim>& m_plan;
  const std::vector<Shot<Dim>>& m_shots;
  const SurveyRunOptions<T, Dim, Memory>& m_options;
  ShotWorkers<T, Dim, Memory> m_workers;
  std::vector<std::vector<std::size_t>> m_groups;  // batches of shots
  std::vector<double> m_parts, m_rates;            // fractions of shots, rates of workers
  Stopwatch m_watch;
};

template <class T, int Dim, class Memory>
SurveyReport SurveyRun<T, Dim, Memory>::run(const Take& take) {
  SurveyReport report;
  const bool one_at_a_time = m_plan.concurrent_shots == 1;
  double first = -1.0, last = 0.0;  // times of the first and last step of all shots, s
  std::size_t k = 0, groups = 0;
  const auto next = [&]() -> std::optional<std::size_t> {
    std::vector<std::size_t> group = next_group(k);
    if (group.empty()) return std::nullopt;
    m_groups[groups] = std::move(group);
    return groups++;
  };
  const auto work = [&](int worker, std::size_t group, CallingThread& caller) {
    return model_group(static_cast<std::size_t>(worker), m_groups[group], caller);
  };
  const auto done = [&](std::size_t group, Ends&& ends) {
    for (std::size_t n = 0; n < ends.size(); ++n) {
      const End& end = ends[n];
      ++report.shots;
      report.preparing += end.preparing;
      report.snapshots += end.waiting;
      if (one_at_a_time) report.seconds += end.result.seconds;
      first = first < 0.0 ? end.begin : std::min(first, end.begin);
      last = std::max(last, end.end);
      report.points += end.result.points;
      report.whole_points += end.result.whole_points;
      report.domain_seconds += end.result.domain_seconds;
      m_parts[m_groups[group][n]] = 1.0;
      take(m_groups[group][n], end.result);
    }
  };
  run_concurrently<Ends>(m_workers.workers(), next, work, done);
  if (!one_at_a_time && report.shots > 0) report.seconds = std::max(last - first, 0.0);
  return report;
}

// Returns the batch of a worker that begins with shot k.
template <class T, int Dim, class Memory>
std::vector<std::size_t> SurveyRun<T, Dim, Memory>::next_group(std::size_t& k) const {
  std::vector<std::size_t> group;
  while (k < m_shots.size() && group.size() < m_workers.batch_size()) {
    const bool alone = has_snapshots(k);
    if (alone && !group.empty()) break;
    if (!m_options.claim || m_options.claim(k)) group.push_back(k);
    ++k;
    if (alone && !group.empty()) break;
  }
  return group;
}

template <class T, int Dim, class Memory>
auto SurveyRun<T, Dim, Memory>::model_group(std::size_t worker,
                                            const std::vector<std::size_t>& group,
                                            CallingThread& caller) -> Ends {
  Ends ends;
  for (std::size_t first = 0; first < group.size();) {
    const std::size_t end = std::min(first + m_workers.room(worker), group.size());
    const std::vector<std::size_t> batch(group.begin() + static_cast<std::ptrdiff_t>(first),
                                         group.begin() + static_cast<std::ptrdiff_t>(end));
    first = end;
    if (batch.size() > 1 && !m_options.domain) {
      try {
        for (End& one : run_batch(worker, batch, caller)) ends.push_back(std::move(one));
        continue;
      } catch (const NotFinite&) {
        // sequential retry: the error then has the first step and node of the shot
      }
    }
    for (const std::size_t k : batch) ends.push_back(model_one(worker, k, caller));
  }
  return ends;
}

// Models a batch of shots.
template <class T, int Dim, class Memory>
auto SurveyRun<T, Dim, Memory>::run_batch(std::size_t worker, const std::vector<std::size_t>& batch,
                                          CallingThread& caller) -> Ends {
  const Instance<Memory>& exec = m_workers.instances[worker];
  Ends ends(batch.size());
  std::vector<ShotPoints<T, Dim, Memory>> points;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    const Stopwatch preparing;
    const Shot<Dim>& shot = m_shots[batch[n]];
    points.push_back({m_modelling.sources(exec, shot), m_modelling.receivers(exec, shot)});
    ends[n].preparing = preparing.seconds();
  }
  ShotOptions<T, Dim, Memory> options = m_modelling.shot_options();
  if (m_options.progress) {
    options.progress = [&](const ShotProgress& now) {
      caller.call([&] { report_progress(worker, batch, now); });
    };
  }
  const double begin = m_watch.seconds();
  auto results =
      model_batch<T, Dim, Memory>(exec, m_modelling.propagator(), m_workers.wavefields[worker],
                                  points, m_plan.wavelet, options);
  // seconds of a shot: fraction of the batch
  const double end = begin + static_cast<double>(batch.size()) * results.front().seconds;
  for (std::size_t n = 0; n < batch.size(); ++n) {
    ends[n].result = std::move(results[n]);
    if (!m_options.keep_gathers) ends[n].result.gather = {};
    ends[n].begin = begin;
    ends[n].end = end;
  }
  return ends;
}

template <class T, int Dim, class Memory>
auto SurveyRun<T, Dim, Memory>::model_one(std::size_t worker, std::size_t k, CallingThread& caller)
    -> End {
  const Instance<Memory>& exec = m_workers.instances[worker];
  const Propagator<T, Dim, Memory>& propagator = m_modelling.propagator();
  const Shot<Dim>& shot = m_shots[k];
  End end;
  const Stopwatch preparing;
  const auto sources = m_modelling.sources(exec, shot);
  const auto receivers = m_modelling.receivers(exec, shot);
  ShotDomain<T, Dim, Memory> domain;
  if (m_options.domain) domain = m_options.domain(exec, sources);
  exec.fence();
  ShotOptions<T, Dim, Memory> options = m_modelling.shot_options();
  options.domain = domain.nodes.get();
  std::unique_ptr<SnapshotQueue<T, Dim, Memory>> snapshots;
  if (has_snapshots(k)) {
    snapshots = snapshot_queue(exec, caller);
    options.snapshot = [&](const Wavefield<T, Dim, Memory>& field, const Box<Dim>&,
                           std::int64_t step) {
      snapshots->put(field.layout, field.now[0], step, propagator.pressure_factors());
    };
  }
  end.preparing = preparing.seconds();
  if (m_options.progress) {
    options.progress = [&](const ShotProgress& now) {
      caller.call([&] { report_progress(worker, {k}, now); });
    };
  }
  end.begin = m_watch.seconds();
  Wavefield<T, Dim, Memory>& wavefield = m_workers.wavefields[worker].front();
  end.result = locate_overflow<Dim>(
      m_modelling.model_grid(), m_plan.time.steps, concat("shot ", shot.number),
      [&](std::int64_t check_every) {
        ShotOptions<T, Dim, Memory> checked = options;
        checked.check_every = check_every;
        if (check_every == 1) checked.domain = nullptr, checked.snapshot_every = 0;
        return model_shot<T, Dim, Memory>(exec, propagator, wavefield, sources, m_plan.wavelet,
                                          receivers, checked);
      },
      m_options.advice);
  if (snapshots) {
    end.result.seconds = std::max(end.result.seconds - snapshots->seconds_waited(), 0.0);
    snapshots->finish();
    end.waiting = snapshots->seconds_waited();
  }
  end.end = m_watch.seconds();
  if (!m_options.keep_gathers) end.result.gather = {};
  if (domain.seconds) end.result.domain_seconds = domain.seconds();
  return end;
}

// Number of concurrent snapshots of a device, by available memory.
template <class T, int Dim, class Memory>
std::unique_ptr<SnapshotQueue<T, Dim, Memory>> SurveyRun<T, Dim, Memory>::snapshot_queue(
    const Instance<Memory>& exec, CallingThread& caller) const {
  const Box<Dim> box = m_modelling.propagator().interior();
  SnapshotOptions options;
  if (!is_host_memory<Memory>) {
    options.writers = options.slots;
    constexpr int max = 4;
    const auto bytes = static_cast<std::size_t>(box.size()) * sizeof(T);
    if (m_options.memory == 0 && 2 * max * bytes < memory_budget(exec, 0)) {
      options.slots = options.writers = max;
    }
  }
  const auto take = [this, &caller,
                     order = std::make_shared<SnapshotOrder>()](const SnapshotPart<T>& part) {
    m_options.snapshot(part);
    if (!part.last() || !m_options.snapshot_done) return;
    order->add(part.index, part.number, [&](std::int64_t index, std::int64_t step) {
      caller.call([&] { m_options.snapshot_done(index, step); });
    });
  };
  return std::make_unique<SnapshotQueue<T, Dim, Memory>>(exec, box, take, options);
}

template <class T, int Dim, class Memory>
void SurveyRun<T, Dim, Memory>::report_progress(std::size_t worker,
                                                const std::vector<std::size_t>& group,
                                                const ShotProgress& now) {
  for (const std::size_t k : group) {
    m_parts[k] = static_cast<double>(now.step) / static_cast<double>(now.steps);
  }
  m_rates[worker] = now.points_per_second;
  SurveyProgress progress{group.front(), now, 0.0, 0.0, m_watch.seconds()};
  for (std::size_t k = 0; k < m_parts.size(); ++k) {
    progress.done += m_options.is_done && m_options.is_done(k) ? 1.0 : m_parts[k];
  }
  for (const double rate : m_rates) progress.points_per_second += rate;
  m_options.progress(progress);
}

/// Version of model_shots() with a std::function.
template <class T, int Dim, class Memory>
SurveyReport run_survey(const Instance<Memory>& exec, Modelling<T, Dim, Memory>& modelling,
                        const std::vector<Shot<Dim>>& shots,
                        const typename SurveyRun<T, Dim, Memory>::Take& take,
                        const SurveyRunOptions<T, Dim, Memory>& options) {
  return SurveyRun<T, Dim, Memory>(exec, modelling, shots, options).run(take);
}

}  // namespace detail

/// \brief Models shots over one model, several of them concurrently.
///
/// modelling.plan() has the numbers of concurrent and of batched shots.
///
/// Each shot has the bits of Modelling::shot(). Results wait for those of earlier shots, at most
/// max_pending_results() of them; plan().memory includes waiting results if ModellingOptions have
/// the numbers of shots and receivers.
/// \param exec instance of the first worker; other workers have separate instances on its device
/// \param modelling modelling; the first worker uses its wavefield
/// \param shots shots in the order of the calls of `take`
/// \param take called as take(k, result) on this thread, with the index of a shot in `shots` and
/// its ShotResult
/// \param options which shots, domains, snapshots, progress
/// \throws InputError as Modelling::shot(); Error with step and node of the model if a wavefield
/// overflows, after all workers have ended
template <class T, int Dim, class Memory, class Take>
SurveyReport model_shots(const InstanceOf<Memory>& exec, Modelling<T, Dim, Memory>& modelling,
                         const std::vector<Shot<Dim>>& shots, const Take& take,
                         const SurveyRunOptions<T, Dim, Memory>& options = {}) {
  return detail::run_survey<T, Dim, Memory>(exec, modelling, shots, take, options);
}

}  // namespace moho::wave
