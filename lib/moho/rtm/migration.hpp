// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reverse-time migration of a survey: one plan, then shots in any order.

#include <moho/core/instances.hpp>
#include <moho/rtm/conditions.hpp>
#include <moho/rtm/detail/migration_planner.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/rtm/migrate_batch.hpp>
#include <moho/rtm/offsets_at.hpp>
#include <moho/rtm/partial_image.hpp>

#include <moho/core/phases.hpp>
#include <moho/domain/expand.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/snapshot/make_store.hpp>
#include <moho/survey/first_arrivals.hpp>
#include <moho/wave/locate_overflow.hpp>
#include <moho/wave/model_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

namespace moho::rtm {

/// \brief Reverse-time migration of the shots of a survey.
///
///     auto migration = make_migration(exec, grid, model, faces, ricker_wavelet(15.0), shots);
///     for (const auto& gather : gathers) migration.add(gather);
///     const auto image = migration.image(InverseScattering{});
///
/// The migration of a shot returns a ShotImage, plain data of the host. Shot images may be added
/// later, in another process, and in any order: the image has the same bits. One thread at a time
/// may call functions of an object.
template <class T, int Dim, class Memory>
class Migration {
 public:
  /// Returns the position of the next shot; empty after the last one.
  using NextShot = std::function<std::optional<std::size_t>()>;
  /// Returns the data of the shot at a position.
  using ReadShot = std::function<survey::ShotGather<Dim>(std::size_t)>;
  /// Receives the image of the shot at a position.
  using TakeShot = std::function<void(std::size_t, ShotImage<T, Dim>&&)>;

  /// Plans a migration, see make_migration(). Shares the fields of the models of `input`.
  Migration(const InstanceOf<Memory>& exec, MigrationInput<T, Dim> input);

  /// Properties and choices made before the first shot.
  const MigrationPlan<Dim>& plan() const { return m_planner->plan(); }
  /// Shots of the survey.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_planner->input().shots; }

  /// \brief Adds an accumulator for the imaging conditions that use it.
  ///
  /// Its parts follow those of PointProducts. Snapshots are then decompressed before imaging.
  /// \throws InputError after the first shot was added
  template <Accumulator A>
  void accumulate(const A& accumulator);

  /// \brief Returns the image of a shot without adding it.
  /// \param gather data of a shot of the survey, with all or some receivers
  /// \throws InputError for a gather of another survey, and for errors of survey::prepare()
  /// \throws MemoryError if memory does not suffice
  /// \throws Error with step and node if a wavefield overflows
  ShotImage<T, Dim> migrate(const survey::ShotGather<Dim>& gather);
  /// \brief Models the data of shot `k` with the data model, for all receivers.
  /// \throws InputError without a data model; its text begins with "data_model: "
  survey::ShotGather<Dim> model_data(std::size_t k);
  /// Returns the first arrivals at the receivers of a shot of the survey, s.
  std::vector<double> first_arrivals(const wave::Shot<Dim>& shot);

  /// Migrates a shot and adds its image. \throws InputError as migrate(), and for a duplicate shot
  void add(const survey::ShotGather<Dim>& gather) { add(migrate(gather)); }
  /// Adds the image of a shot of this survey. \throws InputError for a duplicate shot
  void add(const ShotImage<T, Dim>& image);
  /// \brief Migrates shots, plan().concurrent_shots concurrently, and adds their images.
  /// \param count number of shots: positions 0 to count - 1
  /// \param read data of a shot, called on this thread in ascending order
  template <class Read>
  void add_all(std::size_t count, const Read& read);
  /// \brief Migrates shots, plan().concurrent_shots concurrently, without adding their images.
  ///
  /// plan().batch_size of them advance in the same launches, with the bits of migrate(). If some of
  /// these fail, take() receives the others of the batch before the first error is thrown.
  /// \param next positions in ascending order
  /// \param read data of a shot; empty: data are modelled with the data model
  /// \param take receives results in the order of `next`. All three functions are called on this
  /// thread
  void migrate_each(const NextShot& next, const ReadShot& read, const TakeShot& take);

  /// Sum of the shots added so far.
  const PartialImage<T, Dim>& partial();
  /// Adds the sum of another migration of the same survey. \throws InputError as
  /// PartialImage::merge()
  void merge(const PartialImage<T, Dim>& other);
  /// \brief Returns the image of the shots added so far.
  /// \throws InputError for a condition whose accumulator was not added, and for one that needs
  /// MigrationOptions::complete_receivers if it is not set
  template <ImagingCondition C>
  HostField<T, Dim> image(const C& condition = {});
  /// Returns the offset gathers of the shots added so far: columns x half offsets x depths.
  std::vector<double> offset_gathers();

  /// \brief Seconds of "prepare", "migrate" and "transfer", whose sum is the wall-clock time.
  ///
  /// That is the time of migrate() and migrate_each() without `take`. It is divided in proportion
  /// of the times of these phases in all concurrent shots.
  const PhaseTimes& phases() const { return m_phases; }

 private:
  using Modelling = wave::Modelling<T, Dim, Memory>;
  using Fields = std::vector<Field<T, Dim, Memory>>;
  /// Resources of a thread that migrates shots.
  struct Worker {
    Instance<Memory> exec;
    snapshot::StorageArenas<T, Memory> arenas;
    snapshot::StoragePlan storage;
    PhaseTimes phases;
  };
  /// Shots that advance in the same launches; see detail/migration_batches.hpp.
  struct Batch;
  /// State of migrate_each().
  struct Turn {
    std::vector<double> parts;  ///< finished fraction of each shot, for progress
    std::size_t passed = 0;     ///< position after the latest one
    Stopwatch watch = {};
  };
  struct AddedAccumulator {
    std::type_index type;
    int first, count;  // parts
  };
  /// Reports the progress of a shot: 0 forward, 1 backward propagation.
  using Tell = std::function<void(int backward, const wave::ShotProgress&)>;
  using Terms = detail::ShotTerms<T, Dim, Memory>;
  using Sums = detail::ShotSums<T, Dim, Memory>;
  using Random = detail::RandomSource<T, Dim, Memory>;

  static Instance<Kokkos::HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }
  const MigrationOptions<Dim>& options() const { return m_planner->input().options; }
  bool complete_receivers() const {
    return options().domain == domain::ExpansionMethod::none || options().complete_receivers;
  }
  Worker& worker(std::size_t n);
  std::size_t position_of(const wave::Shot<Dim>& shot) const;
  survey::ShotGather<Dim> model_data(const Worker& worker, std::size_t k) const;
  std::vector<double> first_arrivals(const Instance<Memory>& exec, const HostModel<T, Dim>& part,
                                     const survey::ShotWindow<Dim>& window,
                                     const wave::Shot<Dim>& shot) const;
  survey::PreparedShot<Dim> prepare(const Instance<Memory>& exec,
                                    const wave::ModellingPlan<Dim>& modelling,
                                    const HostModel<T, Dim>& part,
                                    const survey::ShotWindow<Dim>& window,
                                    const survey::ShotGather<Dim>& gather) const;
  OffsetOptions<Dim> columns_in_window(ShotImage<T, Dim>& result) const;
  static void note_report(Worker& worker, const MigrateReport<Dim>& done,
                          ShotMigrationReport& report);
  ShotImage<T, Dim> begin_image(std::size_t k, const survey::ShotGather<Dim>& gather) const;
  detail::HostSeries<T> prepared_rows(const Instance<Memory>& exec,
                                      const wave::ModellingPlan<Dim>& modelling,
                                      const HostModel<T, Dim>& part,
                                      survey::ShotGather<Dim>& gather, ShotImage<T, Dim>& result,
                                      survey::PreparedShot<Dim>& data) const;
  ShotImage<T, Dim> migrate(Worker& worker, std::size_t k, survey::ShotGather<Dim>&& gather,
                            const Stopwatch& preparing, const Tell& tell) const;
  MigrateReport<Dim> propagate(Worker& worker, Modelling& modelling, const Terms& terms,
                               Random* random, const Sums& sums, const std::string& name,
                               const Tell& tell) const;
  void collect(Worker& worker, const Sums& sums, ShotImage<T, Dim>& result) const;
  void tell_alone(std::size_t k, int backward, const wave::ShotProgress& now) const;
  void tell_concurrent(const std::vector<std::size_t>& together, int backward,
                       const wave::ShotProgress& now, Turn& turn) const;
  std::optional<std::size_t> next_of(Turn& turn, const NextShot& next) const;
  survey::ShotGather<Dim> read_shot(const ReadShot& read, std::size_t k,
                                    CallingThread& caller) const;
  void migrate_singly(Turn& turn, const NextShot& next, const ReadShot& read, const TakeShot& take);
  void add_phases(double seconds);
  void make_batches();
  void migrate_batches(Turn& turn, const NextShot& next, const ReadShot& read,
                       const TakeShot& take);
  void run_batch(Batch& batch, Turn& turn, const ReadShot& read, CallingThread& caller) const;
  void prepare_batch(Batch& batch, const ReadShot& read, CallingThread& caller) const;
  void prepare_slot(Batch& batch, std::size_t n) const;
  void propagate_batch(Batch& batch, const Tell& tell) const;

  Instance<Memory> m_exec;
  std::unique_ptr<detail::MigrationPlanner<T, Dim, Memory>> m_planner;
  std::vector<std::unique_ptr<Worker>> m_workers;
  std::vector<std::unique_ptr<Batch>> m_batches;
  std::vector<AddedAccumulator> m_accumulators;
  std::vector<detail::AddedParts<T, Dim, Memory>> m_added;  ///< in the same order
  int m_part_count = PointProducts::part_count;
  std::optional<PartialImage<T, Dim>> m_sum;
  PhaseTimes m_phases;  ///< wall-clock times
};

/// \brief Plans the migration of a survey.
///
/// The plan has the time step, the storage of the source wavefield and the number of concurrent
/// shots. The choice of storage uses rates measured on the machine.
///
/// \param exec instance of all work
/// \param grid of the model
/// \param model migration model, in the memory of the instance or of the host. Fields on the host
/// are shared, not copied
/// \param faces of the model, and of the window of each shot
/// \param wavelet of the sources
/// \param shots positions of sources and receivers; numbers are unique
/// \param options times, domain, aperture, preparation of data, storage, offset gathers
/// \throws InputError with a text that begins with the argument: a parameter of the model ("vp: "),
/// "boundary: ", "dt: ", "wavelet: ", "shots: ", "storage: "
/// \throws MemoryError if memory does not suffice
template <class T, int Dim, class Memory>
Migration<T, Dim, Memory> make_migration(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const wave::Model<T, Dim, Memory>& model,
                                         const wave::Boundaries<Dim>& faces,
                                         const wave::WaveletAt& wavelet,
                                         const std::vector<wave::Shot<Dim>>& shots,
                                         const MigrationOptions<Dim>& options = {}) {
  const Instance<Memory>& instance = exec;
  return Migration<T, Dim, Memory>(
      exec, {grid, wave::download_model<T, Dim, Memory>(instance, grid, model), std::nullopt, faces,
             wavelet, shots, options});
}

template <class T, int Dim, class Memory>
template <Accumulator A>
void Migration<T, Dim, Memory>::accumulate(const A& accumulator) {
  if (m_sum) {
    throw InputError(
        "accumulate: shots were added (allowed: before the first shot): add accumulators first");
  }
  m_accumulators.push_back({typeid(A), m_part_count, A::part_count});
  m_added.push_back(
      {A::part_count,
       [accumulator](const Instance<Memory>& exec, const ImagingStep<T, Dim, Memory>& step,
                     const Fields& parts) { accumulator.add(exec, step, parts); }});
  if (m_planner->streamed() != nullptr) m_planner->streamed()->accumulate(m_added.back());
  m_part_count += A::part_count;
}

template <class T, int Dim, class Memory>
template <class Read>
void Migration<T, Dim, Memory>::add_all(std::size_t count, const Read& read) {
  std::size_t k = 0;
  migrate_each([&]() { return k < count ? std::optional<std::size_t>(k++) : std::nullopt; }, read,
               [&](std::size_t, ShotImage<T, Dim>&& image) { add(image); });
}

template <class T, int Dim, class Memory>
template <ImagingCondition C>
HostField<T, Dim> Migration<T, Dim, Memory>::image(const C& condition) {
  using Needed = typename C::accumulator;
  int first = 0, count = PointProducts::part_count;
  if constexpr (!std::is_same_v<Needed, PointProducts>) {
    const auto found = std::find_if(m_accumulators.begin(), m_accumulators.end(),
                                    [](const auto& added) { return added.type == typeid(Needed); });
    if (found == m_accumulators.end()) {
      throw InputError(
          "condition: its accumulator was not added (allowed: accumulators given to accumulate() "
          "before the first shot)");
    }
    first = found->first;
    count = found->count;
  }
  if constexpr (requires { C::complete_receivers; }) {
    if (C::complete_receivers && !complete_receivers()) {
      throw InputError(
          "condition: the receiver illumination lacks what is outside of the domains (allowed: "
          "migrations without domains, or with complete_receivers): set complete_receivers");
    }
  }
  ImageParts<T, Dim> parts{m_planner->input().grid, {}};
  for (int p = first; p < first + count; ++p) {
    parts.fields.push_back(partial().part(host(), static_cast<std::size_t>(p)));
  }
  return condition.finish(host(), parts);
}

}  // namespace moho::rtm

#include <moho/rtm/detail/migration_batches.hpp>
#include <moho/rtm/detail/migration_impl.hpp>

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Migration)
}  // namespace moho::rtm
#endif
/// \endcond
