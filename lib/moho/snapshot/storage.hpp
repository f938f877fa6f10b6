// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Storage of the source wavefield: method, location and codec, chosen by cost and budgets.

#include <moho/core/error.hpp>
#include <moho/snapshot/codec/types.hpp>
#include <moho/snapshot/strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::snapshot {

/// Location of snapshots.
enum class StorageLocation {
  device,  ///< memory of the run
  host,    ///< memory of the host, for runs on a device
  disk     ///< files
};

/// Options of the storage of snapshots.
struct StorageOptions {
  /// "auto": the fastest method within budgets and error. "device": uncompressed in the memory of
  /// the run; "memory": in the memory of the host; "compressed"; "threads": compressed by threads
  /// of the host; "disk": in files; "boundary": boundary values; "replay": checkpoints; "random":
  /// a separate source wavefield with random layers, propagated backward.
  std::string method = "auto";
  std::string error = "snr:55";       ///< accepted loss: that of parse_codec(), or "lossless"
  std::int64_t interval = 0;          ///< steps between snapshots; 0: snapshot_interval()
  std::size_t device = 0;             ///< bytes of the memory of the run; 0: available memory
  std::size_t host = 0;               ///< bytes of the host, for runs on a device; 0: available
                                      ///< memory
  std::size_t disk = 0;               ///< bytes of files; 0: no files, or with `use_folder` what
                                      ///< is free there
  std::filesystem::path folder = {};  ///< folder of the files, which have no names and are never
                                      ///< left; it exists before the first shot
  bool use_folder = false;            ///< true: the folder exists, and snapshots of "threads" go
                                      ///< there although memory suffices
  int random_width = 60;              ///< nodes of random layers
  std::size_t reserved = 0;           ///< bytes of the host's limit (`device` of runs on hosts)
                                      ///< that other arrays of the caller take
};

/// Requirements of choose_storage(), made from options by make_storage_request().
struct StorageRequest {
  std::string method = "auto";       ///< see StorageOptions
  ErrorBound accuracy;               ///< accepted loss
  std::vector<CodecOptions> codecs;  ///< in the order of Rates::codecs; the first is the requested
                                     ///< one
  int threads = 1;                   ///< threads of the host that may compress
  int concurrent_shots = 1;          ///< shots that share these threads
  bool host_kernels = true;          ///< true if the run is in the memory of the host
  std::size_t shots = 1;             ///< shots of the survey that share the cost of pinned memory
  bool use_folder = false;           ///< see StorageOptions
};

/// \brief Reads method and error of options, and lists the codecs to measure.
/// \throws InputError for an unknown method or error
StorageRequest make_storage_request(const StorageOptions& options);

/// Files of the snapshots of a shot, and whether the disk keeps up with the propagations.
struct FilePlan {
  double write_rate = 0.0;           ///< bytes per second, measured; a share of concurrent shots
  double read_rate = 0.0;            ///< bytes per second, measured; a share of concurrent shots
  double write_seconds = 0.0;        ///< of a shot, concurrent with the forward propagation
  double read_seconds = 0.0;         ///< of a shot, concurrent with the backward propagation
  double propagation_seconds = 0.0;  ///< of one propagation
  std::uint64_t bytes = 0;           ///< of a shot, on the disk
  int queue = file_queue;            ///< snapshots that wait for the disk, or are read ahead: 2 to
                                     ///< 64, more than 2 within 64 MiB and a tenth of the memory
  std::uint64_t queue_bytes = 0;     ///< of a shot, in memory for snapshots on their way

  /// Returns true if the disk needs no more time than the propagations.
  bool hidden() const {
    return write_seconds <= propagation_seconds && read_seconds <= propagation_seconds;
  }
  /// Returns rates, seconds and memory as text of one line.
  std::string text() const;
  /// Returns the members with their names, and "hidden_by_rates": 1 if hidden, else 0.
  std::vector<std::pair<std::string, double>> numbers() const;
};

/// Reports that no storage method fits the budgets.
class StorageError : public InputError {
 public:
  using InputError::InputError;
};

/// The chosen storage of a shot's source wavefield.
struct StoragePlan {
  StorageChoice
      strategy;  ///< method and cost; its name has the location, its reason the alternatives
  StorageLocation location = StorageLocation::device;  ///< of all snapshots
  std::optional<CodecOptions> codec;                   ///< empty: uncompressed
  int threads = 0;  ///< threads of the host that compress; 0: kernels of the run
                    ///< compress
  Budget budget;    ///< memory available for snapshots
  /// Bytes of compressed snapshots in memory. Those beyond go to a file of up to budget.disk bytes;
  /// without it they are a MemoryError of the shot.
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  std::int64_t interval = 1;      ///< steps between snapshots
  std::int64_t snapshots = 0;     ///< of a shot
  std::filesystem::path folder;   ///< of files
  std::optional<FilePlan> files;  ///< empty: all snapshots are in memory
  int random_width = 60;          ///< nodes of random layers
};

/// \brief Returns the fastest storage that fits, with its reason as text. Pure function.
///
/// The method "auto" takes files only where no snapshots fit in memory, compressed or not, and
/// where they cost less than recomputation.
/// \param shape of a shot
/// \param rates of the machine, with a codec rate for each codec of the request
/// \param budget bytes for one shot
/// \param request method, accepted loss, codecs
/// \throws StorageError if no method fits: "storage: ... (first obstacle; budgets): advice"
StoragePlan choose_storage(const ShotShape& shape, const Rates& rates, const Budget& budget,
                           const StorageRequest& request);

}  // namespace moho::snapshot
