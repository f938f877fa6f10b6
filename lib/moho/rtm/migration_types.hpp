// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options, plan and results of the migration of a survey: plain data of the host.

#include <moho/core/timeline.hpp>
#include <moho/domain/types.hpp>
#include <moho/rtm/image.hpp>
#include <moho/snapshot/storage.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/ranks.hpp>
#include <moho/stream/slab_plan.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/window.hpp>
#include <moho/wave/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace moho::rtm {

/// A field in the memory of the host.
template <class T, int Dim>
using HostField = Field<T, Dim, Kokkos::HostSpace>;

/// A model in the memory of the host.
template <class T, int Dim>
using HostModel = wave::Model<T, Dim, Kokkos::HostSpace>;

/// State of a migration, for progress reports.
struct MigrationProgress {
  std::size_t shot = 0;            ///< position of the reporting shot in the survey
  bool backward = false;           ///< backward propagation of that shot
  double shots_done = 0.0;         ///< finished shots and fractions of running shots
  std::size_t shots = 0;           ///< of the survey
  double points_per_second = 0.0;  ///< nodes stepped by the reporting shot
  double seconds_left = 0.0;       ///< estimate for all shots
  int concurrent_shots = 1;        ///< see MigrationPlan
};

/// Options of make_migration().
template <int Dim>
struct MigrationOptions {
  wave::ModellingOptions<Dim> modelling = {};  ///< times, order, equations; memory: of one shot
                                               ///< without snapshots, bytes; sources, receivers
                                               ///< and shots are set by the migration
  domain::ExpansionMethod domain = domain::ExpansionMethod::none;  ///< nodes of each step
  domain::DomainOptions domain_options = {};  ///< of that method; onset and frequency are set by
                                              ///< the migration
  bool complete_receivers = false;  ///< true: backward propagation on the complete grid, even with
                                    ///< domains, for ReceiverNormalised
  survey::ApertureOptions aperture = {};  ///< part of the model of each shot, and the taper at the
                                          ///< sides of the part
  survey::PrepareOptions data = {};  ///< zero, mute, spreading, normalise; the migration sets the
                                     ///< other members
  std::int64_t data_samples = 0;  ///< samples of a trace of the data as read, for the estimate of
                                  ///< memory; 0: as many as the steps
  snapshot::StorageOptions storage = {};  ///< of the source wavefield
  OffsetOptions<Dim> offsets = {};        ///< gathers; columns are nodes of the complete model
  /// Memory of a device, number of devices; block and updates of a stream.
  ///
  /// With devices 0 a shot is on one device, or on as few as hold it in slabs, or streams through
  /// all that the process accesses.
  ///
  /// Several devices without block and updates hold each shot in slabs along x if these fit:
  /// nothing streams, and images have the bits of one device with the same storage. On hosts each
  /// slab has one thread. Not for the domain `amplitude`. The largest half offset of gathers is at
  /// most the planes of the model in each slab between two others.
  ///
  /// A migration streams with a given block or updates, if slabs are not possible, or if a shot in
  /// core does not fit the device; on hosts the latter requires a given memory. The source
  /// wavefield then has random layers (snapshot::StorageOptions::method "auto" or "random").
  stream::StreamRequest stream = {};
  /// Processes that migrate each shot together, a slab of the grid each, in place of the devices of
  /// `stream`; they must outlive the migration. All of them make the migration and call its
  /// functions with equal arguments. Images of rank 0 are complete, those of the others are not.
  /// Not for streams. Null: each process migrates complete shots.
  stream::StreamRanks* ranks = nullptr;
  std::optional<stream::PairRates> stream_rates = {};  ///< of an earlier plan; empty: measured
  int concurrent_shots = 0;                            ///< 0: chosen by memory and threads
  /// Batch size: of the concurrent shots, those that advance in the same launches
  /// (migrate_batch()). 0: chosen, on devices in 2D about half of them; 1: one by one. Larger: the
  /// most shots of a batch.
  ///
  /// Only for the complete grid, without offset gathers, on one device, and with the storage "auto"
  /// or "device", whose snapshots are then uncompressed in the memory of the run; on hosts also
  /// "memory". More than 1 is an error otherwise. Shots without a common model (complete windows,
  /// no taper of delta), or whose snapshots do not fit, advance one by one:
  /// MigrationPlan::one_by_one.
  int batch_size = 0;
  int processes = 1;  ///< processes that share the shots of the survey: chosen batches leave some
                      ///< to each of them
  std::optional<std::int64_t> keep_data = {};  ///< number of a shot: ShotImage::data has its data
  std::function<void(const MigrationProgress&)> progress = {};  ///< called about twice a second
  Timeline* timeline = nullptr;                                 ///< receives spans of all stages;
                                                                ///< may be null
};

/// \brief Arguments of a migration, with models on the host for any memory of the run.
template <class T, int Dim>
struct MigrationInput {
  Grid<Dim> grid;                                    ///< of the model
  HostModel<T, Dim> model;                           ///< migration model
  std::optional<HostModel<T, Dim>> data_model = {};  ///< model of modelled data, see
                                                     ///< Migration::model_data(); empty: data are
                                                     ///< given
  wave::Boundaries<Dim> faces;                       ///< of the model and of windows
  wave::WaveletAt wavelet;                           ///< of the sources
  std::vector<wave::Shot<Dim>> shots;                ///< of the survey
  MigrationOptions<Dim> options;                     ///< of the migration
};

/// Properties and choices of a migration before its first shot.
template <int Dim>
struct MigrationPlan {
  std::string device;                             ///< processor
  int threads = 1;                                ///< of the instance
  wave::Medium medium = wave::Medium::isotropic;  ///< of the model
  wave::TimePlan time;                            ///< step, number of steps
  wave::Limits limits;                            ///< of the model
  double frequency = 0.0;                         ///< highest of the wavelet, Hz
  double peak_time = 0.0;                         ///< of the wavelet, s
  double nodes_per_wave = 0.0;                    ///< of the shortest wave
  survey::WaveletTimes wavelet;                   ///< begin, peak and end, s
  std::int64_t wavelet_interval = 0;              ///< snapshot_interval(): steps between snapshots
  snapshot::StoragePlan storage;                  ///< of the source wavefield of the largest shot
  Index<Dim> extents{};                           ///< nodes of the largest shot, with layers
  wave::MemoryNeed memory;                        ///< of the largest shot with its sums and
                                                  ///< traces, without snapshots
  std::size_t result_bytes = 0;                   ///< of the host: images that are computed or
                                                  ///< wait, and the data that are kept
  int concurrent_shots = 1;                       ///< shots migrated concurrently
  int batch_size = 1;                             ///< of these, shots in the same launches
  std::string one_by_one;           ///< why a given batch size above 1 is not possible; or empty
  std::size_t shots = 0;            ///< of the survey
  double seconds = 0.0;             ///< estimate for all shots
  std::vector<std::string> stream;  ///< description of the stream; empty: in core
  stream::StreamPlan stream_plan;   ///< of the largest shot, if it streams
  stream::PairRates stream_rates;   ///< on which stream_plan is based
  stream::SlabPlan slabs;           ///< of the largest shot, over several devices

  /// Returns the number of shots, or of batches of them, that are propagated concurrently.
  int concurrent_propagations() const { return (concurrent_shots + batch_size - 1) / batch_size; }
  /// Returns the plan as text of a few lines.
  std::string text() const;
  /// Returns the bytes of concurrent shots with their snapshots on each device, or on the host in
  /// its place.
  double device_bytes() const;
  /// Returns the further bytes of concurrent shots on the host.
  double host_bytes() const;
};

/// Statistics of the migration of a shot.
struct ShotMigrationReport {
  std::vector<std::string> notes;           ///< what was done to the data
  std::string storage;                      ///< of the source wavefield; empty: no live trace
  double ratio = 1.0;                       ///< uncompressed over stored bytes
  std::size_t disk_bytes = 0;               ///< of snapshots in files
  double seconds_waited = 0.0;              ///< for memory, threads or files of the storage
  double points = 0.0;                      ///< nodes stepped, both propagations
  double whole_points = 0.0;                ///< nodes of the complete grids in the same steps
  double recomputed_points = 0.0;           ///< nodes recomputed by the storage
  double seconds = 0.0;                     ///< both propagations
  std::int64_t receivers = 0;               ///< live traces
  std::int64_t dead = 0;                    ///< traces left out
  std::vector<std::int64_t> forward_boxes,  ///< numbers of wave::BoxHistory, forward
      backward_boxes;                       ///< numbers of wave::BoxHistory, backward
  std::vector<std::int64_t> slab_planes;    ///< planes of each slab; empty without slabs
};

/// Data of a shot before and after preparation.
template <int Dim>
struct ShotData {
  survey::ShotGather<Dim> gather;      ///< as read
  survey::PreparedShot<Dim> prepared;  ///< as propagated backward
};

/// \brief Contribution of a shot to the image: sums over time on the nodes of its window.
///
/// The sums are multiplied by the taper weights of the window.
template <class T, int Dim>
struct ShotImage {
  std::int64_t number = 0;            ///< of the shot
  survey::ShotWindow<Dim> window;     ///< nodes of the model
  std::vector<T> values;              ///< parts x nodes of the window: S R, S S, R R, and the parts
                                      ///< of added accumulators. R R is zero unless complete
  std::vector<double> largest;        ///< largest magnitude of each part
  std::vector<T> offsets;             ///< columns x half offsets x depths
  std::vector<std::int64_t> columns;  ///< of `offsets`: positions in OffsetOptions::columns
  ShotMigrationReport report;         ///< statistics
  std::shared_ptr<const ShotData<Dim>> data;  ///< of the shot MigrationOptions::keep_data

  /// Returns the values of part `p`.
  const T* part(std::size_t p) const {
    return values.data() + p * static_cast<std::size_t>(window.grid.size());
  }
};

}  // namespace moho::rtm
