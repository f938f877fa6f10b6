// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reverse-time migration of one shot, from its data to its sums of the image.

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
  std::int64_t steps = 0;                          ///< steps of each propagation, 1 or more
  std::int64_t snapshot_interval = 0;              ///< steps between snapshots, 1 or more
  wave::Domain<T, Dim, Memory>* domain = nullptr;  ///< domain of the forward propagation; null: the
                                                   ///< complete grid
  /// True: backward propagation on the complete grid, even with a domain.
  /// The receiver illumination is then complete. False: it lacks the nodes outside the domain's
  /// boxes.
  bool complete_receivers = false;
  std::int64_t margin = 4;  ///< nodes by which boxes of the backward propagation are larger on each
                            ///< side
  std::int64_t check_every = 200;  ///< steps between checks for NaN and overflow; 0: no checks
  /// \brief Separate source term whose wavefield is imaged; null: that of the forward propagation.
  ///
  /// Its model is the same; the layers of its grid may differ. The store belongs to it. It runs
  /// until the time of the last snapshot. Not together with a domain.
  const wave::SourceTerm<T, Dim, Memory>* source = nullptr;
  /// Wavefield of the propagator of `source`; its values are overwritten.
  wave::Wavefield<T, Dim, Memory>* source_wavefield = nullptr;
  /// \brief True: the store steps the wavefield, as BoundaryStore and CheckpointStore do.
  ///
  /// Only for propagators of parts of a grid, all of which step together. Such a store then
  /// receives snapshots without nodes also.
  bool store_steps = false;
  /// Reports the progress of a propagation about twice a second: 0 forward, 1 backward.
  std::function<void(int propagation, const wave::ShotProgress&)> progress = {};
  /// Receives both wavefields after each imaging step, for pictures.
  std::function<void(const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                     const wave::Wavefield<T, Dim, Memory>& receivers, std::int64_t time)>
      imaged = {};
  /// \brief Adds the offset gathers of an imaging step; empty: those of the sums are added.
  ///
  /// For propagators of parts of a grid, which all call it at the same times. The snapshot has
  /// nodes of the part, and may be empty. `box` has the nodes of the complete grid with values of
  /// both wavefields.
  std::function<void(const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                     const wave::Wavefield<T, Dim, Memory>& receivers, const Box<Dim>& box)>
      add_offsets = {};
};

/// Report of migrate_shot().
template <int Dim>
struct MigrateReport {
  wave::RunReport<Dim> forward;        ///< forward propagation
  wave::RunReport<Dim> backward;       ///< backward propagation
  snapshot::SnapshotReport snapshots;  ///< cost of the storage of snapshots
  double seconds = 0.0;                ///< seconds of both propagations
};

namespace detail {

/// Throws InputError for options of migrate_shot() that are out of range or do not combine.
template <class T, int Dim, class Memory>
void check_options(const MigrateOptions<T, Dim, Memory>& options) {
  if (options.steps < 1 || options.snapshot_interval < 1 ||
      options.snapshot_interval > options.steps) {
    throw InputError(concat("snapshots every ", options.snapshot_interval, " of ", options.steps,
                            " steps (allowed: 1 to the number of steps): migrate longer, or keep "
                            "more of them"));
  }
  if (options.margin < 0) {
    throw InputError(concat("margin is ", options.margin, " (allowed: 0 or more nodes)"));
  }
  if (options.source != nullptr && options.domain != nullptr) {
    throw InputError(
        "source: a separate source wavefield has no domain (allowed: the complete grid): leave one "
        "of them out");
  }
}

/// Returns true if no snapshot is stored of a step. \param box of the step \param kept its snapshot
template <class T, int Dim, class Memory>
bool skips(const MigrateOptions<T, Dim, Memory>& options,
           const wave::Propagator<T, Dim, Memory>& propagator, const Box<Dim>& box,
           const Box<Dim>& kept) {
  return (options.store_steps ? intersection(box, propagator.interior()) : kept).empty();
}

/// Returns true if imaging multiplies values of the same node only, so that stores may add
/// products.
template <class T, int Dim, class Memory>
bool has_point_products_only(const MigrateOptions<T, Dim, Memory>& options,
                             const ImageSums<T, Dim, Memory>& sums) {
  return options.source == nullptr && !options.imaged && !options.add_offsets &&
         sums.offset_options.count() == 0;
}

/// Loads a snapshot. \param from,to nodes of the model in its grid and in that of the result
template <class T, int Dim, class Memory>
snapshot::Snapshot<T, Dim, Memory> load_shifted(const Instance<Memory>& exec,
                                                snapshot::SnapshotStore<T, Dim, Memory>& store,
                                                std::int64_t time, const Box<Dim>& from,
                                                const Box<Dim>& to) {
  snapshot::Snapshot<T, Dim, Memory> snapshot = store.load(exec, time);
  for (int d = 0; d < Dim; ++d) {
    snapshot.box.lower[d] += to.lower[d] - from.lower[d];
    snapshot.box.upper[d] += to.lower[d] - from.lower[d];
  }
  return snapshot;
}

}  // namespace detail

/// \brief Migrates a shot: correlates the source and the receiver wavefield (Claerbout, 1971).
///
/// The forward propagation saves a snapshot of p in the store every `snapshot_interval` steps. The
/// backward propagation injects the data at the receivers, from the last time to the first
/// snapshot. Medium and faces are the same. Its boxes are those of the forward propagation in
/// reverse order: nodes that the source wavefield has not reached contribute nothing to the image
/// (docs/theory/migration.md). The receiver illumination is then incomplete, unless
/// `complete_receivers` is set. Mute data before the first arrival of the source wavefield at a
/// receiver.
///
/// \param exec instance of all work
/// \param propagator propagator of the migration model, with layers
/// \param wavefield wavefield of the propagator; its values are overwritten
/// \param forward source term of the forward propagation, steps x sources
/// \param backward source term of the backward propagation: data at the propagator's time step,
/// steps x receivers
/// \param store empty store of snapshots
/// \param options number of steps, interval of snapshots
/// \param sums sums to add to, on the nodes of the model without layers, or on the own planes of a
/// part of a grid; where the density varies, sums of p / sqrt(rho), which scale_by_density()
/// completes
/// \throws InputError for options out of range; wave::NotFinite if a wavefield overflows; errors of
/// the store
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
  detail::check_options(options);
  const Box<Dim> interior = propagator.own(propagator.interior());
  const Instance<Memory>& instance = exec;
  MigrateReport<Dim> report;

  const bool separate = options.source != nullptr;
  const wave::SourceTerm<T, Dim, Memory>& modelled = separate ? *options.source : forward;
  wave::Wavefield<T, Dim, Memory>& field = separate ? *options.source_wavefield : wavefield;
  const Box<Dim> own = modelled.propagator->own(modelled.propagator->interior());
  field.clear(exec);
  store.begin(instance, field, 0);
  wave::RunOptions<T, Dim, Memory> run;
  run.last = separate ? options.steps / options.snapshot_interval * options.snapshot_interval
                      : options.steps;
  run.domain = options.domain;
  run.min_box = modelled.points->box();
  run.check_every = options.check_every;
  run.advanced = [&](std::int64_t time, const Box<Dim>& box) {
    store.on_step(instance, field, box, time);
    const Box<Dim> kept = intersection(box, own);
    if (time % options.snapshot_interval == 0 && !detail::skips(options, propagator, box, kept)) {
      store.save(instance, field, kept, time);
    }
  };
  if (options.progress) {
    run.progress = [&](const wave::ShotProgress& now) { options.progress(0, now); };
  }
  report.forward =
      wave::in_propagation("forward leg", [&] { return modelled.run(exec, field, run); });
  store.end_forward(instance);

  wavefield.clear(exec);
  wave::ReplayedDomain<T, Dim, Memory> boxes(
      report.forward.boxes.grown(options.margin, propagator.grid()), false);
  wave::RunOptions<T, Dim, Memory> back;
  // data after the last snapshot propagate back to its time also
  back.first = options.steps;
  back.last = options.snapshot_interval;
  const bool inside = options.domain != nullptr && !options.complete_receivers;
  if (inside) back.domain = &boxes;
  back.check_every = options.check_every;
  const double weight = static_cast<double>(options.snapshot_interval) * propagator.dt();
  back.present = [&](std::int64_t time) {
    if (time % options.snapshot_interval != 0) return;
    const Box<Dim> stepped = separate ? interior : report.forward.boxes.at(time - 1);
    const Box<Dim> kept = intersection(stepped, interior);
    if (options.domain != nullptr && !inside) {
      add_receiver_illumination<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[0], interior,
                                                kept, weight, sums);
    }
    const bool skipped = detail::skips(options, propagator, stepped, kept);
    if (skipped && !options.add_offsets) return;
    if (detail::has_point_products_only(options, sums) &&
        store.correlate(instance, time,
                        correlation<T, Dim, Memory>(wavefield.layout, wavefield.now[0], interior,
                                                    weight, sums))) {
      return;
    }
    snapshot::Snapshot<T, Dim, Memory> snapshot;
    if (!skipped) {
      snapshot = detail::load_shifted(instance, store, time, own, interior);
      add_to_image<T, Dim, Memory>(exec, snapshot, wavefield.layout, wavefield.now[0], interior,
                                   interior, weight, sums);
      if (options.imaged) options.imaged(snapshot, wavefield, time);
    }
    if (options.add_offsets) {
      const Box<Dim> all = propagator.interior();
      options.add_offsets(snapshot, wavefield, separate ? all : intersection(stepped, all));
    }
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
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, migrate_shot)
}  // namespace moho::rtm
#endif
/// \endcond
