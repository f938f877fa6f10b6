// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Cost model for storing the source wavefield, and the choice among storage methods.
///
/// Pure functions: equal arguments result in equal choices. docs/theory/snapshots.md derives the
/// costs.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace moho::snapshot {

/// Smallest number of snapshots that wait for the disk, or are read ahead of their use.
inline constexpr int file_queue = 2;

/// \brief Returns the steps between snapshots: floor(1 / (2 f dt)), at least 1.
///
/// f is the frequency above which the wavelet's spectrum is below 0.3 % of its maximum.
///
/// The image is a sum over snapshots of products of two fields. It is exact without interpolation
/// if neither field has frequencies above half the rate of snapshots. For a Ricker wavelet f is
/// three times its peak frequency. \throws InputError as wave::highest_frequency()
std::int64_t snapshot_interval(const std::vector<double>& wavelet, double dt);

/// \brief Returns the frequency f of snapshot_interval(), Hz. \throws InputError as
/// wave::highest_frequency()
double highest_of_products(const std::vector<double>& wavelet, double dt);

/// Method of storing the source wavefield.
enum class StorageMethod {
  raw,              ///< uncompressed snapshots
  blocks,           ///< snapshots as integers of fixed length with one scale per block
  lorenzo,          ///< snapshots as coded differences of integers (pointwise bound)
  transform,        ///< snapshots as coded transforms of blocks (signal-to-noise ratio)
  boundary_values,  ///< layers at the faces of the interior in each step, for backward propagation
  checkpoints,      ///< states, for piecewise recomputation of the forward propagation
  random_layers     ///< last state of a separate source wavefield with random layers, which is
                    ///< propagated backward; chosen only on request
};

/// Returns "raw", "blocks", "lorenzo", "transform", "faces", "replay" or "random".
const char* to_string(StorageMethod keep);

/// Sizes of a shot for the cost model. Lengths are in nodes, sizes in bytes.
struct ShotShape {
  int dims = 3;                                   ///< 2 or 3
  std::array<std::int64_t, 3> interior{1, 1, 1};  ///< nodes along each axis without layers
  double step_nodes = 0.0;        ///< nodes stepped in a propagation: sum of the boxes of all steps
  double snapshot_nodes = 0.0;    ///< nodes of all snapshots: interior nodes of their boxes
  double largest_snapshot = 0.0;  ///< nodes of the largest snapshot
  double state_nodes = 0.0;       ///< nodes of the largest state, including layers
  std::int64_t snapshots = 0;     ///< number of snapshots: steps / interval
  std::int64_t steps = 0;         ///< time steps
  int snapshot_bytes = 4;         ///< per node of a snapshot: p
  double state_bytes = 8.0;       ///< per node of a state: all fields at two times, and memory of
                                  ///< layers
  int image_bytes = 16;           ///< moved by imaging per node of a snapshot
  int face_layers = 4;            ///< layers of a face: reach of the differences
  int face_bytes = 4;             ///< per node of a layer: all fields at one time
  int face_interval = 1;          ///< steps between stored faces; others are interpolated
  double face_error = 1e-4;       ///< error of a wavefield propagated backward from faces, over the
                                  ///< largest value
  bool reversible = true;         ///< true without losses in the interior
  double random_nodes = 0.0;      ///< nodes of the grid with random layers
  double random_bytes = 0.0;      ///< medium and two wavefields on this grid
};

/// Compression of snapshots and its measured rates.
struct CodecRate {
  StorageMethod keep = StorageMethod::blocks;  ///< blocks, lorenzo or transform
  int bits = 0;                                ///< bits per value, of blocks
  bool host_threads = false;  ///< true: threads of the host compress concurrently with the
                              ///< propagation; false: kernels of the run compress between steps
  double ratio = 1.0;         ///< raw over compressed bytes; of a diffuse field in plans
  double entry_bytes = 0.0;   ///< further bytes of each compressed snapshot
  double work_bytes = 0.0;    ///< work space of the codec; of each thread, if host_threads
  double encode = 0.0;        ///< raw bytes per second
  double decode = 0.0;        ///< raw bytes per second
  double snr = 0.0;           ///< signal-to-noise ratio of a snapshot, dB
  double bound = std::numeric_limits<double>::infinity();  ///< largest error at a node over the
                                                           ///< largest value
};

/// Measured rates of the machine, per second.
struct Rates {
  double points = 0.0;      ///< nodes stepped
  double memory = 0.0;      ///< bytes read and written by kernels in the memory of the run
  double link = 0.0;        ///< bytes in each direction between device and host, concurrently; 0:
                            ///< the run is in the host's memory
  double disk_write = 0.0;  ///< bytes to the disk; 0: no disk
  double disk_read = 0.0;   ///< bytes from the disk
  int threads = 1;          ///< threads of the host that compress
  std::vector<CodecRate> codecs;  ///< available codecs
};

/// Memory available for snapshots, bytes.
/// For runs in the host's memory `device` is that memory, and `host` is ignored.
struct Budget {
  std::uint64_t device = 0;  ///< memory of the run, without the model and one wavefield
  std::uint64_t host = 0;    ///< memory of the host, for runs on a device
  std::uint64_t disk = 0;    ///< disk
};

/// Accepted error of snapshots.
struct ErrorBound {
  /// Measure of the error.
  enum class Kind {
    lossless,  ///< no error
    bound,     ///< largest error at a node over the largest value, at most `value`
    snr,       ///< signal-to-noise ratio in dB, at least `value`
    bits       ///< blocks of `value` bits or more
  };
  Kind kind = Kind::snr;  ///< measure
  double value = 55.0;    ///< see Kind
};

/// Storage of the source wavefield, and its cost.
struct StorageChoice {
  StorageMethod keep = StorageMethod::raw;  ///< what is kept
  int codec = -1;                           ///< index in Rates::codecs; -1: no codec
  std::int64_t snapshots = 0;               ///< snapshots stored concurrently: all, or those of a
                                            ///< segment
  std::int64_t states = 0;  ///< checkpoints stored concurrently; includes the state at rest, which
                            ///< needs no memory
  double sweeps = 1.0;      ///< total of forward propagations
  std::uint64_t bytes = 0;  ///< stored bytes in all locations
  std::uint64_t device_bytes = 0;      ///< on the device, including buffers
  std::uint64_t host_bytes = 0;        ///< in the memory of the host, including buffers
  std::uint64_t disk_bytes = 0;        ///< on the disk
  std::uint64_t device_buffers = 0;    ///< with a codec: of device_bytes, those of buffers
  std::uint64_t host_buffers = 0;      ///< with a codec: of host_bytes, those of buffers
  double seconds = 0.0;                ///< complete shot: both propagations, snapshots and imaging
  double propagation_seconds = 0.0;    ///< both propagations only
  bool lossless = false;               ///< true if the image has the bits of raw snapshots
  std::string name;                    ///< description
  std::string reason;                  ///< reason of the choice, or obstacle
  bool possible = true;                ///< true if it satisfies error bound and budget
  bool accurate = true;                ///< true if it satisfies the error bound
  std::uint64_t min_device_bytes = 0;  ///< smallest sufficient device budget with the other budgets
                                       ///< unchanged; the largest number if impossible

  /// Returns the time relative to both propagations: 1 if all other work is concurrent.
  double relative() const {
    return propagation_seconds > 0.0 ? seconds / propagation_seconds : 1.0;
  }
};

/// \brief Returns all methods, possible ones first, by ascending time.
///
/// `reason` of an impossible method is its obstacle.
///
/// Concurrent work (link, disk, threads of the host) costs its time in excess of a propagation;
/// kernels cost their time. Ties are ordered lossless first, then by fewer bytes. A larger budget
/// never results in a slower first method.
/// \throws InputError for shapes, rates, budgets and error bounds out of range
std::vector<StorageChoice> strategies(const ShotShape& shape, const Rates& rates,
                                      const Budget& budget, const ErrorBound& accuracy = {});

/// \brief Returns the cost of a separate source wavefield with random layers.
///
/// Sums of the image differ from those of other methods by waves that these layers scatter.
/// \throws InputError for shapes and rates out of range, and without ShotShape::random_nodes
StorageChoice random_layers(const ShotShape& shape, const Rates& rates, const Budget& budget);

/// \brief Returns the fastest possible method; its reason has the next best one.
/// \throws InputError as strategies(); and with the smallest sufficient budget if no method fits
StorageChoice choose_strategy(const ShotShape& shape, const Rates& rates, const Budget& budget,
                              const ErrorBound& accuracy = {});

}  // namespace moho::snapshot
