// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Modes and options of the snapshot codec, without kernels.

#include <moho/core/error.hpp>

#include <cmath>
#include <cstdlib>
#include <string>

namespace moho::snapshot {

/// Compression mode of a snapshot.
enum class CodecMode {
  blocks,     ///< a fixed number of bits for each node, a scale for every block: the fastest
  lorenzo,    ///< differences of integers: no error above a bound
  transform,  ///< cosine transform and Huffman codes: the fewest bytes for a signal-to-noise ratio
  paper  ///< square roots, quantised, Huffman codes (Suh and Wang 2011): no error above a bound
};

/// Returns "blocks", "lorenzo", "transform" or "paper".
inline const char* to_string(CodecMode mode) {
  constexpr const char* names[] = {"blocks", "lorenzo", "transform", "paper"};
  return names[static_cast<int>(mode)];
}

/// Options of a codec; each mode uses its own bound.
struct CodecOptions {
  CodecMode mode = CodecMode::transform;  ///< compression mode
  double max_error = 1e-3;  ///< lorenzo, paper: largest error of a value over the largest amplitude
  /// Mode transform: signal-to-noise ratio in dB, the sum of squares over that of the errors.
  double snr = 55.0;
  int bits = 12;  ///< blocks: bits of a node, 8, 12 or 16

  static constexpr double min_error = 1e-5;     ///< smallest allowed max_error
  static constexpr double largest_error = 0.1;  ///< largest allowed max_error
  static constexpr double min_snr = 10.0;       ///< smallest allowed snr, dB
  static constexpr double max_snr = 100.0;      ///< largest allowed snr, dB
};

/// Throws InputError for options out of range.
inline void check_options(const CodecOptions& options) {
  switch (options.mode) {
    case CodecMode::blocks:
      if (options.bits == 8 || options.bits == 12 || options.bits == 16) return;
      throw InputError(
          concat("codec: bits is ", options.bits, " (allowed: 8, 12 or 16): 12 give some 70 dB"));
    case CodecMode::transform:
      if (options.snr >= CodecOptions::min_snr && options.snr <= CodecOptions::max_snr) {
        return;
      }
      throw InputError(concat("codec: snr is ", options.snr,
                              " dB (allowed: ", CodecOptions::min_snr, " to ",
                              CodecOptions::max_snr, "): 55 is usual"));
    default:
      if (options.max_error >= CodecOptions::min_error &&
          options.max_error <= CodecOptions::largest_error) {
        return;
      }
      throw InputError(concat("codec: max_error is ", options.max_error,
                              " of the largest amplitude (allowed: ", CodecOptions::min_error,
                              " to ", CodecOptions::largest_error, "): 1e-3 is usual"));
  }
}

/// \brief Parses options.
///
/// Forms: "snr:55" (transform), "max:1e-3" (lorenzo), "bits:12" (blocks), "paper:1e-3". \throws
/// InputError for other texts
inline CodecOptions parse_codec(const std::string& text) {
  CodecOptions options;
  const std::size_t colon = text.find(':');
  const std::string key = text.substr(0, colon);
  const std::string number = colon == std::string::npos ? "" : text.substr(colon + 1);
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  const bool known = key == "snr" || key == "max" || key == "bits" || key == "paper";
  if (!known || number.empty() || *end != '\0' || !std::isfinite(value)) {
    throw InputError(concat("codec '", text,
                            "' is unknown (allowed: snr:<dB>, max:<error over the largest "
                            "amplitude>, bits:<8, 12 or 16>, paper:<error>): snr:55 is usual"));
  }
  if (key == "snr") {
    options.mode = CodecMode::transform;
    options.snr = value;
  } else if (key == "bits") {
    options.mode = CodecMode::blocks;
    options.bits =
        value == std::floor(value) && std::fabs(value) < 100.0 ? static_cast<int>(value) : -1;
    if (options.bits < 0) {
      throw InputError(concat("codec '", text, "': bits are ", value, " (allowed: 8, 12 or 16)"));
    }
  } else {
    options.mode = key == "max" ? CodecMode::lorenzo : CodecMode::paper;
    options.max_error = value;
  }
  check_options(options);
  return options;
}

}  // namespace moho::snapshot
