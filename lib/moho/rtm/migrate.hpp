// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot from its data to its part of the image.

#include <moho/core/instances.hpp>
#include <moho/rtm/image.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/not_finite.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace moho::rtm {

/// Options of migrate_shot().
template <class T, int Dim, class Memory>
struct MigrateOptions {
  std::int64_t steps = 0;  ///< of either leg, 1 or more
  std::int64_t every = 0;  ///< steps from one snapshot to the next, 1 or more
  wave::Domain<T, Dim, Memory>* domain = nullptr;  ///< of the forward leg; null: the whole grid
  /// Steps the receivers' leg on the whole grid although there is a domain, so that the receiver
  /// illumination is that of the whole grid. Else it lacks what is outside of the domain's boxes.
  bool complete_receivers = false;
  std::int64_t margin = 4;  ///< nodes by which the backward leg's boxes are larger, on every side
  std::int64_t check_every = 200;  ///< look for NaN and overflow every so many steps; 0: never
  /// Called about twice a second with how far a leg has come: 0 forward, 1 backward.
  std::function<void(int leg, const wave::ShotProgress&)> progress = {};
  /// Called with the wavefields of both legs whenever a snapshot is imaged: for pictures.
  std::function<void(const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                     const wave::Wavefield<T, Dim, Memory>& receivers, std::int64_t time)>
      imaged = {};
};

/// What migrate_shot() did.
template <int Dim>
struct MigrateReport {
  wave::RunReport<Dim> forward;        ///< of the source's leg
  wave::RunReport<Dim> backward;       ///< of the receivers' leg
  snapshot::SnapshotReport snapshots;  ///< what keeping snapshots took
  double seconds = 0.0;                ///< of both legs
};

/// \brief Migrates a shot: the source's wavefield forwards in time, the receivers' data backwards,
/// and at the times of snapshots what both have in common is added to the image.
///
/// Forwards, snapshots of p go to the store every so many steps. Backwards, data are added at the
/// receivers as sources are, p and q of the same medium with the same faces stepping from the last
/// time to the first snapshot, on the boxes that the forward leg stepped, in reverse: a node
/// that the source's wave has not come to cannot image anything
/// (docs/theory/migration.md). The receiver illumination is then incomplete, unless
/// `complete_receivers` is set. Data of times before the source's wave has come to a receiver
/// should be muted.
///
/// \param exec where everything runs
/// \param propagator of the migration model, with its layers
/// \param wavefield of the propagator; its values are lost
/// \param forward the source's leg: where the wavelet is added, steps x sources
/// \param backward the receivers' leg: where data are added, steps x receivers, at the time step of
/// the propagator
/// \param store of snapshots, fresh
/// \param options number of steps, snapshots
/// \param sums that are added to; of the model without layers
/// \throws InputError for options that make no sense, wave::NotFinite when a wavefield is no longer
/// finite, and what the store throws
template <class T, int Dim, class Memory>
MigrateReport<Dim> migrate_shot(const InstanceOf<Memory>& exec,
                                const wave::Propagator<T, Dim, Memory>& propagator,
                                wave::Wavefield<T, Dim, Memory>& wavefield,
                                const wave::SourceTerm<T, Dim, Memory>& forward,
                                const wave::SourceTerm<T, Dim, Memory>& backward,
                                snapshot::SnapshotStore<T, Dim, Memory>& store,
                                const MigrateOptions<T, Dim, Memory>& options,
                                const ImageSums<T, Dim, Memory>& sums);

template <class T, int Dim, class Memory>
MigrateReport<Dim> migrate_shot(const InstanceOf<Memory>& exec,
                                const wave::Propagator<T, Dim, Memory>& propagator,
                                wave::Wavefield<T, Dim, Memory>& wavefield,
                                const wave::SourceTerm<T, Dim, Memory>& forward,
                                const wave::SourceTerm<T, Dim, Memory>& backward,
                                snapshot::SnapshotStore<T, Dim, Memory>& store,
                                const MigrateOptions<T, Dim, Memory>& options,
                                const ImageSums<T, Dim, Memory>& sums) {
  if (options.steps < 1 || options.every < 1 || options.every > options.steps) {
    throw InputError(concat("snapshots every ", options.every, " of ", options.steps,
                            " steps (allowed: 1 to the number of steps): migrate longer, or keep "
                            "more of them"));
  }
  if (options.margin < 0) {
    throw InputError(concat("margin is ", options.margin, " (allowed: 0 or more nodes)"));
  }
  const Box<Dim> interior = propagator.interior();
  const Instance<Memory>& instance = exec;
  MigrateReport<Dim> report;

  wavefield.clear(exec);
  store.begin(instance, wavefield, 0);
  wave::RunOptions<T, Dim, Memory> run;
  run.last = options.steps;
  run.domain = options.domain;
  run.least = forward.points->box();
  run.check_every = options.check_every;
  run.advanced = [&](std::int64_t time, const Box<Dim>& box) {
    store.on_step(instance, wavefield, box, time);
    const Box<Dim> kept = intersection(box, interior);
    if (time % options.every == 0 && !kept.empty()) {
      store.save(instance, wavefield, kept, time);
    }
  };
  if (options.progress) {
    run.progress = [&](const wave::ShotProgress& now) { options.progress(0, now); };
  }
  report.forward =
      wave::in_propagation("forward leg", [&] { return forward.run(exec, wavefield, run); });
  store.end_forward(instance);

  wavefield.clear(exec);
  wave::ReplayedDomain<T, Dim, Memory> boxes(
      report.forward.boxes.grown(options.margin, propagator.grid()), false);
  wave::RunOptions<T, Dim, Memory> back;
  // data later than the last snapshot come back to it, too
  back.first = options.steps;
  back.last = options.every;
  const bool inside = options.domain != nullptr && !options.complete_receivers;
  if (inside) back.domain = &boxes;
  back.check_every = options.check_every;
  const double weight = static_cast<double>(options.every) * propagator.dt();
  back.present = [&](std::int64_t time) {
    if (time % options.every != 0) return;
    const Box<Dim> kept = intersection(report.forward.boxes.at(time - 1), interior);
    if (options.domain != nullptr && !inside) {
      add_receiver_illumination<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], interior,
                                                kept, weight, sums);
    }
    if (kept.empty()) return;
    // offset gathers combine values at different nodes, which no store adds
    const bool point_products = !options.imaged && sums.offset_options.count() == 0;
    if (point_products &&
        store.correlate(instance, time,
                        correlation<T, Dim, Memory>(wavefield.layout, wavefield.now[0], interior,
                                                    weight, sums))) {
      return;
    }
    const snapshot::Snapshot<T, Dim, Memory> snapshot = store.load(instance, time);
    add_to_image<T, Dim, Memory>(exec, snapshot, wavefield.layout, wavefield.now[0], interior,
                                 interior, weight, sums);
    if (options.imaged) options.imaged(snapshot, wavefield, time);
  };
  if (options.progress) {
    back.progress = [&](const wave::ShotProgress& now) { options.progress(1, now); };
  }
  report.backward =
      wave::in_propagation("backward leg", [&] { return backward.run(exec, wavefield, back); });
  report.snapshots = store.report();
  report.seconds = report.forward.seconds + report.backward.seconds;
  return report;
}

}  // namespace moho::rtm

/// \cond
#define MOHO_RTM_MIGRATE(prefix, T, Dim, Memory)                                         \
  prefix template MigrateReport<Dim> migrate_shot<T, Dim, Memory>(                       \
      const Instance<Memory>&, const wave::Propagator<T, Dim, Memory>&,                  \
      wave::Wavefield<T, Dim, Memory>&, const wave::SourceTerm<T, Dim, Memory>&,         \
      const wave::SourceTerm<T, Dim, Memory>&, snapshot::SnapshotStore<T, Dim, Memory>&, \
      const MigrateOptions<T, Dim, Memory>&, const ImageSums<T, Dim, Memory>&);
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_RTM_MIGRATE, extern)
}
#endif
/// \endcond
