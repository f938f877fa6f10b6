// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A wavefield to compress, behind an interface without templates.

#include <moho/core/box.hpp>
#include <moho/core/instance.hpp>
#include <moho/snapshot/codec/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// Settings of a wavefield.
struct CodecSettings {
  int dim = 3;              ///< 3: n^3 nodes, 2: n x n
  std::int64_t n = 160;     ///< nodes of the model along each side, spacing 10 m
  double frequency = 14.0;  ///< peak frequency of the Ricker wavelet, Hz
  double seconds = 0.5;     ///< time from the start of the run to the snapshot
  bool waves = true;        ///< true: run a shot; false: waves by formula, for large grids
};

/// Costs and quality of a mode.
struct CodecResult {
  double encode_seconds = 0.0;  ///< encoding, the best of several runs
  double decode_seconds = 0.0;  ///< decoding into a field
  double image_seconds = 0.0;   ///< decoding into a sum of products with another field
  double raw_bytes = 0.0;       ///< bytes of the uncompressed nodes of the box
  double bytes = 0.0;           ///< bytes after compression
  double snr = 0.0;             ///< signal-to-noise ratio, dB
  double largest_error = 0.0;   ///< largest error relative to the largest amplitude
};

/// A wavefield on a space.
class CodecRunner {
 public:
  virtual ~CodecRunner() = default;
  /// Compresses and decompresses. \param repetitions number of runs; the best counts
  virtual CodecResult run(const snapshot::CodecOptions& options, int repetitions) = 0;
  /// Returns the box as a dense field on the host; 2D fields have one plane.
  virtual const std::vector<float>& dense() = 0;
  /// Returns the number of nodes of the box along the axes; 2D: 1 first.
  virtual Index<3> extents() const = 0;
  /// Returns the nodes of the box divided by the nodes of the model.
  virtual double fraction() const = 0;
};

/// Models a wavefield on a space. The box holds the nodes with at least 1/1024 of the largest
/// amplitude, as with expanding domains.
template <class Memory>
std::unique_ptr<CodecRunner> make_codec_runner(const Instance<Memory>& exec,
                                               const CodecSettings& settings);

/// Costs and quality of another codec.
struct PeerResult {
  std::string name;                                   ///< name of the codec
  double encode_seconds = 0.0, decode_seconds = 0.0;  ///< the best of several runs
  double bytes = 0.0;                                 ///< after compression
  double snr = 0.0;                                   ///< signal-to-noise ratio, dB
  /// Uncompressed over compressed bytes at the requested SNR. Interpolated between the two nearest
  /// settings.
  double ratio_at_asked = 0.0;
};

/// Returns the names of other codecs in this build: "zfp_accuracy", "zfp_rate", "zstd".
std::vector<std::string> peer_names();

/// Runs another codec on a dense field, divided into one slab per thread.
PeerResult run_peer(const std::string& name, const std::vector<float>& dense,
                    const Index<3>& extents, double snr, int threads, int repetitions);

/// Returns the sum of squares of a field over that of the differences, in dB.
double signal_to_noise(const std::vector<float>& field, const std::vector<float>& other);

}  // namespace moho::bench
