// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How the forward leg of a shot is kept for its backward leg: what each way costs in time
/// and memory, and which one to take.
///
/// Pure functions of the host: the same numbers give the same choice. docs/theory/snapshots.md
/// derives the costs.

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace moho::snapshot {

/// \brief Steps from one snapshot to the next: floor(1 / (2 f dt)), at least 1, where f is the
/// frequency above which the wavelet's spectrum stays below 0.3 % of its maximum.
///
/// The image is a sum over snapshots of products of two fields; it is exact without interpolation
/// while both have nothing above half of the snapshots' rate. For a Ricker wavelet f is three times
/// its frequency. \throws InputError as wave::highest_frequency()
std::int64_t snapshot_interval(const std::vector<double>& wavelet, double dt);

/// \brief The frequency of snapshot_interval(), Hz: above it the wavelet's spectrum stays below
/// 0.3 % of its maximum. \throws InputError as wave::highest_frequency()
double highest_of_products(const std::vector<double>& wavelet, double dt);

/// What is kept.
enum class StorageMethod {
  raw,              ///< snapshots as they are
  blocks,           ///< snapshots as integers of fixed length with a scale for each block
  lorenzo,          ///< snapshots through differences of integers (pointwise bound)
  transform,        ///< snapshots through transforms of blocks (signal to noise)
  boundary_values,  ///< layers at the faces of the interior in every step, from which the wavefield
                    ///< is stepped back
  checkpoints       ///< states, from which the forward leg is stepped again, piece by piece
};

/// "raw", "blocks", "lorenzo", "transform", "faces", "replay".
const char* to_string(StorageMethod keep);

/// What a shot is made of, as far as its cost goes. Lengths are nodes, sizes bytes.
struct ShotShape {
  int dims = 3;                                   ///< 2 or 3
  std::array<std::int64_t, 3> interior{1, 1, 1};  ///< nodes along each axis without layers
  double step_nodes = 0.0;        ///< nodes that a leg steps: of all boxes of its steps
  double snapshot_nodes = 0.0;    ///< nodes of all snapshots: interior nodes of their boxes
  double largest_snapshot = 0.0;  ///< nodes of the largest snapshot
  double state_nodes = 0.0;       ///< nodes of the largest state: layers included
  std::int64_t snapshots = 0;     ///< how many: steps / interval
  std::int64_t steps = 0;         ///< time steps
  int snapshot_bytes = 4;         ///< of a node of a snapshot: p
  int state_bytes = 8;            ///< of a node of a state: all fields at two times
  int image_bytes = 16;           ///< that imaging moves for a node of a snapshot
  int face_layers = 4;            ///< layers of a face: as far as the differences reach
  int face_bytes = 4;             ///< of a node of a layer: all fields at one time
  int face_interval = 1;          ///< faces of every so many-th step are kept; the others are
                                  ///< interpolated
  double face_error = 1e-4;       ///< of the largest value, of a wavefield stepped back from faces
  bool reversible = true;         ///< nothing inside of the interior takes energy away
};

/// A way to compress snapshots, and how fast it is here.
struct CodecRate {
  StorageMethod keep = StorageMethod::blocks;  ///< blocks, lorenzo or transform
  int bits = 0;                                ///< of blocks
  bool host_threads = false;  ///< by threads of the host beside the propagation; else by the
                              ///< kernels that propagate, which wait for it
  double ratio = 1.0;         ///< bytes of raw over compressed snapshots
  double encode = 0.0;        ///< bytes of raw snapshots a second
  double decode = 0.0;        ///< bytes of raw snapshots a second
  double snr = 0.0;           ///< signal to noise of a snapshot, dB
  double bound = std::numeric_limits<double>::infinity();  ///< of the error at a node over the
                                                           ///< largest value
};

/// What the machine does in a second, as measured on it.
struct Rates {
  double points = 0.0;      ///< nodes that are stepped
  double memory = 0.0;      ///< bytes that kernels read and write in the memory that they work in
  double link = 0.0;        ///< bytes from a device to the host, and at the same time back; 0: the
                            ///< kernels work in the host's memory
  double disk_write = 0.0;  ///< bytes to the disk; 0: none is used
  double disk_read = 0.0;   ///< bytes from the disk
  int threads = 1;          ///< of the host, that compress
  std::vector<CodecRate> codecs;  ///< what there is
};

/// Bytes that snapshots may take. Where kernels work in the host's memory, `device` is that memory
/// and `host` does not count.
struct Budget {
  std::uint64_t device = 0;  ///< besides the model and one wavefield
  std::uint64_t host = 0;    ///< memory of the host, beside a device
  std::uint64_t disk = 0;    ///< disk
};

/// What error of the snapshots is accepted.
struct ErrorBound {
  /// How it is said.
  enum class Kind {
    lossless,  ///< none
    bound,     ///< at a node, over the largest value: `value` is the most
    snr,       ///< signal to noise in dB: `value` is the least
    bits       ///< blocks of `value` bits or more
  };
  Kind kind = Kind::snr;  ///< which
  double value = 55.0;    ///< see Kind
};

/// A way to keep the forward leg, and what it costs.
struct StorageChoice {
  StorageMethod keep = StorageMethod::raw;  ///< what is kept
  int codec = -1;                           ///< its number in Rates::codecs, -1 for none
  std::int64_t snapshots = 0;               ///< held at a time: all of them, or those of a segment
  std::int64_t states = 0;  ///< replay: kept at a time; that at rest is one and takes no memory
  double sweeps = 1.0;      ///< forward legs that are stepped in all
  std::uint64_t bytes = 0;  ///< of what is kept, wherever it is
  std::uint64_t device_bytes = 0;      ///< of the device, buffers included
  std::uint64_t host_bytes = 0;        ///< of the host's memory, buffers included
  std::uint64_t disk_bytes = 0;        ///< of the disk
  double seconds = 0.0;                ///< of the whole shot: both legs, snapshots and imaging
  double legs = 0.0;                   ///< of the two legs alone
  bool lossless = false;               ///< the image has the bits that raw snapshots give
  std::string name;                    ///< what it is, in words
  std::string reason;                  ///< why it was chosen, or why it is not possible
  bool possible = true;                ///< it is accurate enough and fits
  std::uint64_t min_device_bytes = 0;  ///< device bytes with which it would be possible, the other
                                       ///< budgets as they are; the largest number if none would do

  /// seconds / legs: 1 if everything hides behind the propagation.
  double relative() const { return legs > 0.0 ? seconds / legs : 1.0; }
};

/// \brief All ways, the possible ones first and the quickest of them first; `reason` says of the
/// others what is in their way.
///
/// What runs beside the propagation (link, disk, threads of the host) costs what it takes longer
/// than a leg, what kernels do costs its time; the order of ties is: lossless first, then fewer
/// bytes. Larger budgets never make the first one slower.
/// \throws InputError for shapes, rates, budgets and accuracies out of range
std::vector<StorageChoice> strategies(const ShotShape& shape, const Rates& rates,
                                      const Budget& budget, const ErrorBound& accuracy = {});

/// \brief The quickest way that is possible, with the next best in its reason.
/// \throws InputError as strategies(), and where nothing fits: with the least budget that would do
StorageChoice choose_strategy(const ShotShape& shape, const Rates& rates, const Budget& budget,
                              const ErrorBound& accuracy = {});

}  // namespace moho::snapshot
