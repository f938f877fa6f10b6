// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A wavefield that is compressed, behind an interface without templates.

#include <moho/core/box.hpp>
#include <moho/core/instance.hpp>
#include <moho/snapshot/codec/types.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// A wavefield.
struct CodecSettings {
  int dim = 3;              ///< 3: n^3 nodes, 2: n x n
  std::int64_t n = 160;     ///< nodes of the model along each side, 10 m apart
  double frequency = 14.0;  ///< of the Ricker wavelet, Hz
  double seconds = 0.5;     ///< from the beginning of the run to the snapshot
  bool waves = true;        ///< false: formulas of waves instead of a run, for large grids
};

/// What a mode took and gave.
struct CodecResult {
  double encode_seconds = 0.0;  ///< the best of some
  double decode_seconds = 0.0;  ///< into a field
  double image_seconds = 0.0;   ///< into a product with another field that is summed up
  double raw_bytes = 0.0;       ///< of the nodes of the box
  double bytes = 0.0;           ///< compressed
  double snr = 0.0;             ///< dB
  double greatest_error = 0.0;  ///< over the largest amplitude
};

/// A wavefield on a space.
class CodecRunner {
 public:
  virtual ~CodecRunner() = default;
  /// Compresses and decompresses. \param repetitions of which the best counts
  virtual CodecResult run(const snapshot::CodecOptions& options, int repetitions) = 0;
  /// The nodes of the box as a dense field on the host; 2D fields have one plane.
  virtual const std::vector<float>& dense() = 0;
  /// Nodes of the box along the axes; 2D: 1 first.
  virtual Index<3> extents() const = 0;
  /// Nodes of the box over nodes of the model.
  virtual double fraction() const = 0;
};

/// Models a wavefield on a space. The box is that of the nodes with at least 1/1024 of the largest
/// amplitude, as expanding domains leave it.
template <class Memory>
std::unique_ptr<CodecRunner> make_codec_runner(const Instance<Memory>& exec,
                                               const CodecSettings& settings);

/// What another codec took and gave.
struct PeerResult {
  std::string name;
  double encode_seconds = 0.0, decode_seconds = 0.0;
  double bytes = 0.0;
  double snr = 0.0;             ///< dB
  double ratio_at_asked = 0.0;  ///< raw over compressed bytes at the SNR that was asked for:
                                ///< between the two nearest settings
};

/// Names of other codecs that this build has: "zfp_accuracy", "zfp_rate", "zstd".
std::vector<std::string> peer_names();

/// Runs another codec on a dense field cut into as many slabs as threads.
PeerResult run_peer(const std::string& name, const std::vector<float>& dense,
                    const Index<3>& extents, double snr, int threads, int repetitions);

/// Sum of squares over that of differences, dB.
double signal_to_noise(const std::vector<float>& field, const std::vector<float>& other);

}  // namespace moho::bench
