// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of Migration: shots that advance in the same launches.

#include <moho/rtm/migration.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace moho::rtm {

/// \cond
// Shots of a batch, and memory that is kept from one batch to the next.
template <class T, int Dim, class Memory>
struct Migration<T, Dim, Memory>::Batch {
  struct Slot {
    Worker& worker;
    Instance<Memory> exec;    // of the worker, used by this slot alone
    Arena<T, Memory> series;  // amplitudes
    std::unique_ptr<Sums> sums = {};
    std::size_t shot = 0;
    survey::ShotGather<Dim> gather = {};
    ShotImage<T, Dim> result = {};
    std::unique_ptr<Terms> terms = {};  // null: nothing to migrate
    std::exception_ptr failure = {};    // why result is not complete
  };
  Instance<Memory> exec;
  Modelling modelling;  // without a wavefield
  std::vector<wave::Wavefield<T, Dim, Memory>> wavefields;
  std::vector<std::unique_ptr<Slot>> slots;
  std::size_t used = 0;  // slots of the present batch
  int threads = 1;       // that prepare data

  // Calls function(n) for the used slots, several concurrently. prepare(n) is called before, on
  // this thread.
  template <class Prepare, class Function>
  void each(const Prepare& prepare, const Function& function) const {
    auto next = [&, n = std::size_t{0}]() mutable -> std::optional<std::size_t> {
      if (n == used) return std::nullopt;
      prepare(n);
      return n++;
    };
    run_concurrently<char>(
        std::min(threads, static_cast<int>(used)), next,
        [&](int, std::size_t n, CallingThread&) {
          function(n);
          return '\0';
        },
        [](std::size_t, char&&) {});
  }
};
/// \endcond

template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::make_batches() {
  if (!m_batches.empty()) return;
  const int concurrent = plan().concurrent_shots, size = plan().batch_size;
  const auto instances = concurrent_instances(m_exec, (concurrent + size - 1) / size);
  std::size_t receivers = 0;
  for (const auto& shot : shots()) receivers = std::max(receivers, shot.receivers.size());
  const std::int64_t samples = (plan().time.steps + 1) * static_cast<std::int64_t>(receivers);
  const survey::ShotWindow<Dim> window = m_planner->window_of(shots().front());
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  for (std::size_t w = 0; w < instances.size(); ++w) {
    const int first = static_cast<int>(w) * size, count = std::min(size, concurrent - first);
    auto batch = std::make_unique<Batch>(
        Batch{instances[w],
              m_planner->make(instances[w], window, m_planner->input().model, shots().front()),
              {},
              {}});
    batch->modelling.wavefield() = {};
    batch->wavefields = wave::make_wavefields<T, Dim, Memory>(
        batch->exec, batch->modelling.propagator().scheme(), count);
    const auto lanes = concurrent_instances(batch->exec, count);
    for (int n = 0; n < count; ++n) {
      batch->slots.push_back(std::make_unique<typename Batch::Slot>(typename Batch::Slot{
          worker(static_cast<std::size_t>(first + n)), lanes[static_cast<std::size_t>(n)],
          Arena<T, Memory>("moho::rtm::series", samples + samples / 8 + 256)}));
    }
    batch->threads = std::clamp(cores / static_cast<int>(instances.size()), 1, 8);
    batch->exec.fence();
    m_batches.push_back(std::move(batch));
  }
}

// Shots of a failed batch, and of those that run at that time, are delivered before its error is
// thrown, except for those that fail.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::migrate_batches(Turn& turn, const NextShot& next,
                                                const ReadShot& read, const TakeShot& take) {
  make_batches();
  std::vector<std::vector<std::size_t>> groups(shots().size());
  const auto size = static_cast<std::size_t>(plan().batch_size);
  std::atomic<bool> failed = false;
  auto next_group = [&, count = std::size_t{0},
                     over = false]() mutable -> std::optional<std::size_t> {
    std::vector<std::size_t> group;
    while (!over && !failed && group.size() < size) {
      const std::optional<std::size_t> k = next_of(turn, next);
      over = !k;
      if (k) group.push_back(*k);
    }
    if (group.empty()) return std::nullopt;
    groups[count] = std::move(group);
    return count++;
  };
  using Done = std::pair<ShotImage<T, Dim>, std::exception_ptr>;
  const auto work = [&](int worker, std::size_t number, CallingThread& caller) {
    Batch& batch = *m_batches[static_cast<std::size_t>(worker)];
    std::vector<Done> shots_done;
    // the last worker may have fewer slots
    for (std::size_t first = 0; first < groups[number].size(); first += batch.used) {
      batch.used = std::min(batch.slots.size(), groups[number].size() - first);
      for (std::size_t n = 0; n < batch.used; ++n) {
        batch.slots[n]->shot = groups[number][first + n];
      }
      run_batch(batch, turn, read, caller);
      for (std::size_t n = 0; n < batch.used; ++n) {
        typename Batch::Slot& slot = *batch.slots[n];
        if (slot.failure) failed = true;
        shots_done.emplace_back(std::move(slot.result), std::exchange(slot.failure, {}));
      }
    }
    return shots_done;
  };
  std::exception_ptr failure;
  run_concurrently<std::vector<Done>>(static_cast<int>(m_batches.size()), next_group, work,
                                      [&](std::size_t number, std::vector<Done>&& shots_done) {
                                        for (std::size_t n = 0; n < shots_done.size(); ++n) {
                                          auto& [image, wrong] = shots_done[n];
                                          if (!failure) failure = wrong;
                                          if (wrong) continue;
                                          turn.parts[groups[number][n]] = 1.0;
                                          take(groups[number][n], std::move(image));
                                        }
                                      });
  if (failure) std::rethrow_exception(failure);
}

// Migrates the shots of the slots of a batch.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::run_batch(Batch& batch, Turn& turn, const ReadShot& read,
                                          CallingThread& caller) const {
  std::vector<std::size_t> together;
  for (std::size_t n = 0; n < batch.used; ++n) {
    typename Batch::Slot& slot = *batch.slots[n];
    slot.worker.exec = slot.exec;
    together.push_back(slot.shot);
  }
  prepare_batch(batch, read, caller);
  Tell tell;
  if (options().progress) {
    tell = [&](int backward, const wave::ShotProgress& now) {
      caller.call([&] { tell_concurrent(together, backward, now, turn); });
    };
  }
  propagate_batch(batch, tell);
  batch.each([](std::size_t) {},
             [&](std::size_t n) {
               typename Batch::Slot& slot = *batch.slots[n];
               if (slot.terms && !slot.failure) collect(slot.worker, *slot.sums, slot.result);
             });
}

// Reads or models the data of a batch, and prepares several shots concurrently.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::prepare_batch(Batch& batch, const ReadShot& read,
                                              CallingThread& caller) const {
  const Stopwatch preparing;
  batch.each(
      [&](std::size_t n) {
        if (read) batch.slots[n]->gather = read_shot(read, batch.slots[n]->shot, caller);
      },
      [&](std::size_t n) {
        typename Batch::Slot& slot = *batch.slots[n];
        if (!read) slot.gather = model_data(slot.worker, slot.shot);
        prepare_slot(batch, n);
      });
  for (std::size_t n = 0; n < batch.used; ++n) {
    batch.slots[n]->worker.phases.add("prepare", preparing.seconds());
  }
}

// Prepares source terms and sums of a shot of a batch.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::prepare_slot(Batch& batch, std::size_t n) const {
  typename Batch::Slot& slot = *batch.slots[n];
  const Instance<Memory>& exec = slot.worker.exec;
  slot.terms.reset();
  slot.failure = {};
  slot.series.reset();
  slot.result = begin_image(slot.shot, slot.gather);
  if (slot.result.report.receivers == 0) return;
  survey::PreparedShot<Dim> data;
  const detail::HostSeries<T> rows = prepared_rows(
      exec, batch.modelling.plan(), m_planner->input().model, slot.gather, slot.result, data);
  slot.terms =
      std::make_unique<Terms>(exec, batch.modelling.propagator(), batch.modelling.plan().wavelet,
                              data.shot, rows, concat("shot ", slot.result.number), &slot.series);
  if (slot.sums && slot.sums->added.size() == m_added.size()) {
    slot.sums->clear(exec);
  } else {
    slot.sums =
        std::make_unique<Sums>(exec, slot.result.window.grid, OffsetOptions<Dim>{}, m_added);
  }
  exec.fence();
}

// Migrates the shots of a batch in the same launches. If that fails they are migrated one by one,
// which finds the shot, the step and the node of an overflow, and completes the others.
template <class T, int Dim, class Memory>
void Migration<T, Dim, Memory>::propagate_batch(Batch& batch, const Tell& tell) const {
  Timeline* const timeline = options().timeline;
  const double begin = timeline != nullptr ? timeline->now() : 0.0;
  const auto& propagator = batch.modelling.propagator();
  MigrateOptions<T, Dim, Memory> migrate;
  migrate.steps = plan().time.steps;
  migrate.snapshot_interval = plan().storage.interval;
  migrate.check_every = 200;
  std::vector<typename Batch::Slot*> live;
  std::vector<std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>>> stores;
  std::vector<BatchedMigration<T, Dim, Memory>> members;
  for (std::size_t n = 0; n < batch.used; ++n) {
    typename Batch::Slot& slot = *batch.slots[n];
    if (!slot.terms) continue;
    live.push_back(&slot);
    stores.push_back(snapshot::make_store<T, Dim, Memory>(
        batch.exec, slot.worker.storage, slot.terms->forward, slot.worker.arenas, timeline));
    slot.sums->add_accumulators(batch.exec, m_added, propagator, migrate);
    members.push_back({&slot.terms->forward, &slot.terms->backward, stores.back().get(),
                       &slot.sums->products, std::exchange(migrate.imaged, {})});
  }
  if (live.empty()) return;
  migrate.progress = tell;
  try {
    const auto done =
        migrate_batch<T, Dim, Memory>(batch.exec, propagator, members, batch.wavefields, migrate);
    for (std::size_t n = 0; n < live.size(); ++n) {
      scale_by_density<T, Dim, Memory>(batch.exec, propagator.layout(),
                                       propagator.pressure_factors(), propagator.interior(),
                                       live[n]->sums->products);
      note_report(live[n]->worker, done[n], live[n]->result.report);
      // phases are those of concurrent shots, which take as long as the batch
      live[n]->worker.phases.add("migrate", done[n].seconds * static_cast<double>(live.size() - 1));
    }
    batch.exec.fence();
    if (timeline == nullptr) return;
    const double turn = begin + done.front().forward.seconds * static_cast<double>(live.size());
    timeline->add("forward leg", begin, turn);
    timeline->add("backward leg", turn, timeline->now());
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {
    batch.exec.fence();
    stores.clear();
    batch.modelling.wavefield() = batch.wavefields.front();
    for (typename Batch::Slot* const slot : live) {
      try {
        slot->sums->clear(slot->worker.exec);
        note_report(slot->worker,
                    propagate(slot->worker, batch.modelling, *slot->terms, nullptr, *slot->sums,
                              concat("shot ", slot->result.number), {}),
                    slot->result.report);
      } catch (const Stopped&) {
        throw;
      } catch (const Error&) {
        slot->worker.exec.fence();
        slot->failure = std::current_exception();
      }
    }
    batch.modelling.wavefield() = {};
  }
}

}  // namespace moho::rtm
