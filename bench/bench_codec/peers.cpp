// SPDX-License-Identifier: BSD-3-Clause
//
// zfp and zstd on the same fields.

#include "bench_codec/runner.hpp"

#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#ifdef MOHO_BENCH_ZFP
#include <zfp.h>
#endif
#ifdef MOHO_BENCH_ZSTD
#include <zstd.h>
#endif

namespace moho::bench {

double signal_to_noise(const std::vector<float>& field, const std::vector<float>& other) {
  double squares = 0.0, errors = 0.0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto a = static_cast<double>(field[i]), b = static_cast<double>(other[i]);
    squares += a * a;
    errors += (a - b) * (a - b);
  }
  return errors > 0.0 ? 10.0 * std::log10(squares / errors) : 999.0;
}

std::vector<std::string> peer_names() {
  std::vector<std::string> names;
#ifdef MOHO_BENCH_ZFP
  names.insert(names.end(), {"zfp_accuracy", "zfp_rate"});
#endif
#ifdef MOHO_BENCH_ZSTD
  names.push_back("zstd");
#endif
  return names;
}

namespace {

/// Planes of a dense field, and a codec's output for them.
struct Slab {
  const float* from;
  float* to;
  Index<3> extents;
  std::vector<char> bytes;
  std::size_t used = 0;
};

/// Calls function(slab) for each slab in a separate thread. \return seconds
double in_threads(std::vector<Slab>& slabs, const std::function<void(Slab&)>& function) {
  const Stopwatch watch;
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < slabs.size(); ++i) {
    threads.emplace_back([&function, &slabs, i] { function(slabs[i]); });
  }
  function(slabs[0]);
  for (auto& thread : threads) thread.join();
  return watch.seconds();
}

#ifdef MOHO_BENCH_ZFP
/// Encodes or decodes a slab with zfp. \param setting tolerance, or bits per value if `rate`
void zfp(Slab& slab, bool rate, double setting, bool decode) {
  void* const data = const_cast<float*>(decode ? slab.to : slab.from);
  const auto n = [&](int d) { return static_cast<std::size_t>(slab.extents[d]); };
  zfp_field* const field = slab.extents[0] == 1
                               ? zfp_field_2d(data, zfp_type_float, n(2), n(1))
                               : zfp_field_3d(data, zfp_type_float, n(2), n(1), n(0));
  zfp_stream* const stream = zfp_stream_open(nullptr);
  if (rate) {
    zfp_stream_set_rate(stream, setting, zfp_type_float, slab.extents[0] == 1 ? 2 : 3, 0);
  } else {
    zfp_stream_set_accuracy(stream, setting);
  }
  if (!decode) slab.bytes.resize(zfp_stream_maximum_size(stream, field));
  bitstream* const bits = stream_open(slab.bytes.data(), slab.bytes.size());
  zfp_stream_set_bit_stream(stream, bits);
  zfp_stream_rewind(stream);
  if (decode) {
    zfp_decompress(stream, field);
  } else {
    slab.used = zfp_compress(stream, field);
  }
  stream_close(bits);
  zfp_stream_close(stream);
  zfp_field_free(field);
}
#endif

#ifdef MOHO_BENCH_ZSTD
void zstd(Slab& slab, bool decode) {
  const auto raw =
      static_cast<std::size_t>(slab.extents[0] * slab.extents[1] * slab.extents[2]) * 4;
  if (decode) {
    ZSTD_decompress(slab.to, raw, slab.bytes.data(), slab.used);
  } else {
    slab.bytes.resize(ZSTD_compressBound(raw));
    slab.used = ZSTD_compress(slab.bytes.data(), slab.bytes.size(), slab.from, raw, 1);
  }
}
#endif

}  // namespace

PeerResult run_peer(const std::string& name, const std::vector<float>& dense,
                    const Index<3>& extents, double snr, int threads, int repetitions) {
  std::vector<float> decoded(dense.size());
  std::vector<Slab> slabs;
  // slabs of complete blocks of 4 planes; in 2D of 4 rows
  const int axis = extents[0] == 1 ? 1 : 0;
  const std::int64_t plane = static_cast<std::int64_t>(dense.size()) / extents[axis];
  const std::int64_t each = (extents[axis] + 4 * threads - 1) / (4 * threads) * 4;
  for (std::int64_t begin = 0; begin < extents[axis]; begin += each) {
    Slab slab{dense.data() + begin * plane, decoded.data() + begin * plane, extents, {}, 0};
    slab.extents[axis] = std::min(each, extents[axis] - begin);
    slabs.push_back(slab);
  }
  const std::function<void(Slab&, double, bool)> codec = [&](Slab& slab, double setting,
                                                             bool decode) {
    (void)setting;
#ifdef MOHO_BENCH_ZFP
    if (name == "zfp_accuracy" || name == "zfp_rate") {
      return zfp(slab, name == "zfp_rate", setting, decode);
    }
#endif
#ifdef MOHO_BENCH_ZSTD
    if (name == "zstd") return zstd(slab, decode);
#endif
    (void)slab;
    (void)decode;
    throw InputError(concat("codec '", name, "' is not in this build"));
  };
  const auto run = [&](double setting, int times) {
    PeerResult result;
    for (int i = 0; i <= times; ++i) {
      const double encode = in_threads(slabs, [&](Slab& s) { codec(s, setting, false); });
      const double decode = in_threads(slabs, [&](Slab& s) { codec(s, setting, true); });
      if (i <= 1 || encode < result.encode_seconds) result.encode_seconds = encode;
      if (i <= 1 || decode < result.decode_seconds) result.decode_seconds = decode;
    }
    for (const Slab& slab : slabs) result.bytes += static_cast<double>(slab.used);
    result.snr = signal_to_noise(dense, decoded);
    result.name = name;
    return result;
  };
  const double raw = 4.0 * static_cast<double>(dense.size());
  PeerResult coarse, fine;
  double setting = 0.0;
  if (name == "zstd") {
    fine = run(0.0, repetitions);
    fine.ratio_at_asked = raw / fine.bytes;
    return fine;
  }
  if (name == "zfp_accuracy") {
    double max = 0.0;
    for (const float v : dense) max = std::max(max, std::fabs(static_cast<double>(v)));
    // zfp rounds tolerances down to powers of two
    setting = std::exp2(std::floor(std::log2(max)));
    for (fine = run(setting, 0); fine.snr < snr; fine = run(setting, 0)) {
      coarse = fine;
      setting *= 0.5;
    }
  } else {
    setting = 0.5;
    for (fine = run(setting, 0); fine.snr < snr; fine = run(setting, 0)) {
      coarse = fine;
      setting += 0.25;
    }
  }
  const double part = (snr - coarse.snr) / (fine.snr - coarse.snr);
  const double ratio =
      raw / std::exp(std::log(coarse.bytes) * (1.0 - part) + std::log(fine.bytes) * part);
  fine = run(setting, repetitions);
  fine.ratio_at_asked = ratio;
  return fine;
}

}  // namespace moho::bench
