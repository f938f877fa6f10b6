// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reverse-time migration of shots that advance in the same launches.

#include <moho/rtm/migrate.hpp>
#include <moho/snapshot/kernel/save_together.hpp>
#include <moho/wave/kernel/shot_batch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace moho::rtm {

/// Shot of migrate_batch().
template <class T, int Dim, class Memory>
struct BatchedMigration {
  const wave::SourceTerm<T, Dim, Memory>* forward = nullptr;   ///< wavelet, steps x sources
  const wave::SourceTerm<T, Dim, Memory>* backward = nullptr;  ///< data, steps x receivers
  snapshot::SnapshotStore<T, Dim, Memory>* store = nullptr;    ///< empty store of snapshots
  const ImageSums<T, Dim, Memory>* sums = nullptr;             ///< sums to add to, without offsets
  /// As MigrateOptions::imaged, for this shot.
  std::function<void(const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                     const wave::Wavefield<T, Dim, Memory>& receivers, std::int64_t time)>
      imaged = {};
};

/// \brief Migrates shots over one model that advance in the same launches.
///
/// The sums of each shot have the bits of migrate_shot() with the same store. One launch steps the
/// wavefields of all shots where wave::step_batch() does, and one injects, in both propagations.
/// Once in a snapshot interval one launch saves the snapshots of up to 16 shots, and one adds their
/// products to the sums. Stores that compress or recompute are possible; they do so in
/// separate launches for each shot.
///
/// \param exec instance of all work
/// \param propagator propagator of the migration model, with layers; for the complete grid
/// \param shots source terms, store and sums of each shot; their propagator is `propagator`. The
///   numbers of points and rows of the data may differ
/// \param wavefields of wave::make_wavefields(), at least as many as shots; their values are
///   overwritten
/// \param options number of steps, interval of snapshots, checks and the progress of the batch;
///   without domain, separate source wavefield, `imaged` and parts of a grid
/// \return a report for each shot; its `seconds` are the shot's share of the batch's time
/// \throws InputError for options out of range or that are not possible, for sums with offsets and
///   too few wavefields; wave::NotFinite, which names the position of the shot among `shots`, if a
///   wavefield overflows; errors of the stores
template <class T, int Dim, class Memory>
std::vector<MigrateReport<Dim>> migrate_batch(
    const InstanceOf<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
    const std::vector<BatchedMigration<T, Dim, Memory>>& shots,
    std::vector<wave::Wavefield<T, Dim, Memory>>& wavefields,
    const MigrateOptions<T, Dim, Memory>& options);

namespace detail {

/// Kernel: AddSnapshot for several shots.
template <class T, int Dim>
struct AddSnapshots {
  static constexpr int max = snapshot::kernel::largest_batch;
  AddSnapshot<T, Dim> add;  ///< of any shot; its arrays are replaced
  const T *field[max], *values[max];
  T *image[max], *source[max], *receiver[max];

  /// Keeps the arrays of a shot.
  void put(int shot, const AddSnapshot<T, Dim>& of) {
    add = of;
    field[shot] = of.add.field;
    values[shot] = of.snapshot;
    image[shot] = of.add.image;
    source[shot] = of.add.source;
    receiver[shot] = of.add.receiver;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim + 1>& node) const {
    const std::int64_t shot = node[0];
    AddSnapshot<T, Dim> own = add;
    own.add.field = field[shot];
    own.snapshot = values[shot];
    own.add.image = image[shot];
    own.add.source = source[shot];
    own.add.receiver = receiver[shot];
    own(snapshot::kernel::node_of<Dim>(node));
  }
};

/// Propagations of migrate_batch().
template <class T, int Dim, class Memory>
struct MigrationBatch {
  using Wave = wave::Wavefield<T, Dim, Memory>;
  using Exchange = wave::kernel::ShotsExchange<T, Dim, Memory>;
  using Term = const wave::SourceTerm<T, Dim, Memory>* BatchedMigration<T, Dim, Memory>::*;

  const Instance<Memory>& exec;
  const wave::Propagator<T, Dim, Memory>& propagator;
  const std::vector<BatchedMigration<T, Dim, Memory>>& shots;
  std::vector<Wave>& wavefields;
  const MigrateOptions<T, Dim, Memory>& options;
  Box<Dim> interior = propagator.interior();
  double weight = static_cast<double>(options.snapshot_interval) * propagator.dt();
  std::vector<MigrateReport<Dim>> reports = std::vector<MigrateReport<Dim>>(shots.size());

  void check() const {
    check_options(options);
    wave::kernel::check_wavefields<T, Dim, Memory>(propagator, wavefields, shots.size());
    const char* const refused =
        options.domain != nullptr   ? "domain"
        : options.source != nullptr ? "source"
        : options.imaged            ? "imaged"
        : propagator.part() != nullptr || options.store_steps || options.add_offsets
            ? "a part of a grid"
            : nullptr;
    if (refused != nullptr) {
      throw InputError(concat(refused,
                              " is given for shots in the same launches (allowed: none): migrate "
                              "these shots with moho::rtm::migrate_shot"));
    }
    for (const auto& shot : shots) {
      if (shot.sums->offset_options.count() == 0) continue;
      throw InputError(
          "sums: they have offset gathers (allowed in the same launches: none): migrate these "
          "shots with moho::rtm::migrate_shot");
    }
  }

  // Injection of a source term of all shots, and its largest number of rows.
  Exchange injection(std::span<const Wave> used, Term term, std::int64_t& rows) const {
    std::vector<wave::ShotPoints<T, Dim, Memory>> points;
    std::vector<wave::PointSeries<const T, Memory>> amplitudes;
    for (const auto& shot : shots) {
      points.push_back({*(shot.*term)->points, {}});
      amplitudes.push_back((shot.*term)->amplitudes);
      rows = std::max(rows, static_cast<std::int64_t>(amplitudes.back().extent(0)));
    }
    return Exchange(exec, propagator, used, points, amplitudes,
                    std::vector<wave::PointSeries<T, Memory>>(shots.size()),
                    wave::kernel::source_factors<T, Dim, Memory>(propagator));
  }

  // Runs a propagation: 0 forward, 1 backward. \param advanced called with the steps done
  template <class Advanced>
  void run(int number, std::span<Wave> used, std::int64_t steps, Term term,
           const Advanced& advanced) {
    std::int64_t rows = 0;
    const Exchange exchange = injection(used, term, rows);
    wave::kernel::BatchRunOptions run{steps, options.check_every, {}};
    if (options.progress) {
      run.progress = [&](const wave::ShotProgress& now) { options.progress(number, now); };
    }
    const double seconds = wave::in_propagation(number == 0 ? "forward leg" : "backward leg", [&] {
      return wave::kernel::run_batch<T, Dim, Memory>(
          exec, propagator, used, run, [&](std::int64_t done) {
            const std::int64_t time = number == 0 ? done : options.steps - done;
            // a wavelet ends long before the propagation
            if (time < rows) exchange(exec, used.front().now[0].data(), time, -1);
            for (auto& wavefield : used) wavefield.advance();
            advanced(done + 1);
          });
    });
    wave::RunReport<Dim> report;
    report.seconds = seconds / static_cast<double>(shots.size());
    report.points = report.whole_points =
        static_cast<double>(propagator.grid().size()) * static_cast<double>(steps);
    for (std::int64_t n = 0; n < steps; ++n) report.boxes.add(whole_box(propagator.grid()));
    for (auto& one : reports) (number == 0 ? one.forward : one.backward) = report;
  }

  void forward() {
    const auto used = wave::kernel::wavefields_at_rest(exec, wavefields, shots.size());
    std::vector<snapshot::SnapshotStore<T, Dim, Memory>*> stores;
    for (std::size_t k = 0; k < shots.size(); ++k) {
      stores.push_back(shots[k].store);
      stores[k]->begin(exec, used[k], 0);
    }
    run(0, used, options.steps, &BatchedMigration<T, Dim, Memory>::forward, [&](std::int64_t time) {
      for (std::size_t k = 0; k < shots.size(); ++k) {
        stores[k]->on_step(exec, used[k], whole_box(propagator.grid()), time);
      }
      if (time % options.snapshot_interval != 0) return;
      snapshot::kernel::save_together<T, Dim, Memory>(exec, used, stores, interior, 1, time);
    });
    for (const auto& shot : shots) shot.store->end_forward(exec);
  }

  void backward() {
    const auto used = wave::kernel::wavefields_at_rest(exec, wavefields, shots.size());
    image(used, options.steps);
    run(1, used, options.steps - options.snapshot_interval,
        &BatchedMigration<T, Dim, Memory>::backward,
        [&](std::int64_t done) { image(used, options.steps - done); });
    for (std::size_t k = 0; k < shots.size(); ++k) {
      reports[k].snapshots = shots[k].store->report();
      reports[k].seconds = reports[k].forward.seconds + reports[k].backward.seconds;
    }
  }

  // Adds the products of all shots at a time, if it has snapshots.
  void image(std::span<const Wave> used, std::int64_t time) const {
    if (time % options.snapshot_interval != 0) return;
    AddSnapshots<T, Dim> add{};
    int count = 0;
    const auto submit = [&] {
      launch_box("moho::rtm::images", exec, snapshot::kernel::repeated(interior, count), add);
      count = 0;
    };
    for (std::size_t k = 0; k < shots.size(); ++k) {
      const auto& shot = shots[k];
      const auto operands =
          correlation<T, Dim, Memory>(used[k].layout, used[k].now[0], interior, weight, *shot.sums);
      if (!shot.imaged && shot.store->correlate(exec, time, operands)) continue;
      const snapshot::Snapshot<T, Dim, Memory> snapshot = shot.store->load(exec, time);
      add.put(count++, {snapshot::kernel::PointProducts<T, Dim>::of(operands),
                        snapshot.values.data(), snapshot.box, dense_strides(snapshot.box)});
      if (count == AddSnapshots<T, Dim>::max || shot.imaged) submit();
      if (shot.imaged) shot.imaged(snapshot, used[k], time);
    }
    submit();
  }
};

}  // namespace detail

template <class T, int Dim, class Memory>
std::vector<MigrateReport<Dim>> migrate_batch(
    const InstanceOf<Memory>& instance, const wave::Propagator<T, Dim, Memory>& propagator,
    const std::vector<BatchedMigration<T, Dim, Memory>>& shots,
    std::vector<wave::Wavefield<T, Dim, Memory>>& wavefields,
    const MigrateOptions<T, Dim, Memory>& options) {
  if (shots.empty()) return {};
  const Instance<Memory>& exec = instance;
  detail::MigrationBatch<T, Dim, Memory> batch{exec, propagator, shots, wavefields, options};
  batch.check();
  batch.forward();
  batch.backward();
  return batch.reports;
}

}  // namespace moho::rtm

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, migrate_batch)
}  // namespace moho::rtm
#endif
/// \endcond
