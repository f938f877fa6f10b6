// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of the snapshot codec: bytes and speed of each mode on a modelled wavefield. The
// wavefield is that of a shot in a layered model. The box holds the nodes with more than 1/1024 of
// the largest amplitude. If this build has zfp and zstd, they are compared.
//
// Names: codec/<dim>d/<wavelet>/<mode>:<setting>/<space>/n:<n>, and codec/.../<other
// codec>/snr:<dB>. Speeds are bytes of the box in single precision per second. ratio_at_asked of
// zfp is interpolated between the two settings with the nearest signal-to-noise ratios.
//
// MOHO_BENCH_CODEC_N and MOHO_BENCH_CODEC_SECONDS set n and the time of the snapshot.
// MOHO_BENCH_CODEC_FORMULA=1 uses waves by formula in the complete grid instead, for 512^3.

#include "bench_codec/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using namespace moho;
using bench::CodecResult;
using bench::CodecRunner;
using bench::CodecSettings;
using bench::PeerResult;

/// Returns a number from the environment. \throws InputError unless it is within the limits
double from_environment(const char* name, double usual, double min, double max) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return usual;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (*end != '\0' || !(value >= min && value <= max)) {
    throw InputError(concat(name, " is '", text, "' (allowed: ", min, " to ", max, ")"));
  }
  return value;
}

/// Returns the wavefield of a space and settings; the last one is cached.
CodecRunner& kept(const std::string& space, const CodecSettings& settings) {
  static std::unique_ptr<CodecRunner> runner;
  static std::string key;
  static bool first = true;
  if (first) Kokkos::push_finalize_hook([] { runner.reset(); });
  first = false;
  const std::string wanted =
      concat(space, settings.dim, ' ', settings.n, ' ', settings.frequency, settings.waves);
  if (key != wanted) {
    runner.reset();
    with_space(space, [&](const auto& exec) { runner = bench::make_codec_runner(exec, settings); });
    key = wanted;
  }
  return *runner;
}

int repetitions() { return bench::smoke() ? 1 : 5; }

void time_mode(benchmark::State& state, const std::string& space, const CodecSettings& settings,
               const snapshot::CodecOptions& options) {
  CodecRunner& runner = kept(space, settings);
  CodecResult result;
  for (auto _ : state) {
    result = runner.run(options, repetitions());
    state.SetIterationTime(result.encode_seconds + result.decode_seconds);
  }
  auto& counters = state.counters;
  counters["encode_GB/s"] = 1e-9 * result.raw_bytes / result.encode_seconds;
  counters["decode_GB/s"] = 1e-9 * result.raw_bytes / result.decode_seconds;
  counters["image_GB/s"] = 1e-9 * result.raw_bytes / result.image_seconds;
  counters["ratio"] = result.raw_bytes / result.bytes;
  counters["snr"] = result.snr;
  counters["greatest_error"] = result.largest_error;
  counters["raw_MB"] = 1e-6 * result.raw_bytes;
  counters["box_fraction"] = runner.fraction();
  const bool bounded =
      options.mode == snapshot::CodecMode::lorenzo || options.mode == snapshot::CodecMode::paper;
  if (bounded && !(result.largest_error <= options.max_error)) {
    bench::fail(state, concat("the largest error is ", result.largest_error));
  }
  if (options.mode == snapshot::CodecMode::transform &&
      !(std::fabs(result.snr - options.snr) <= 1.0)) {
    bench::fail(state, concat("the signal-to-noise ratio is ", result.snr, " dB"));
  }
}

void time_peer(benchmark::State& state, const std::string& space, const CodecSettings& settings,
               const std::string& name, double snr) {
  CodecRunner& runner = kept(space, settings);
  int threads = 1;
  with_space(space, [&](const auto& exec) { threads = exec.concurrency(); });
  PeerResult result;
  const double raw = 4.0 * static_cast<double>(runner.dense().size());
  for (auto _ : state) {
    result = bench::run_peer(name, runner.dense(), runner.extents(), snr, threads, repetitions());
    state.SetIterationTime(result.encode_seconds + result.decode_seconds);
  }
  auto& counters = state.counters;
  counters["encode_GB/s"] = 1e-9 * raw / result.encode_seconds;
  counters["decode_GB/s"] = 1e-9 * raw / result.decode_seconds;
  counters["ratio"] = raw / result.bytes;
  counters["ratio_at_asked"] = result.ratio_at_asked;
  counters["snr"] = result.snr;
  counters["raw_MB"] = 1e-6 * raw;
}

void add_space(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  const bool formula = from_environment("MOHO_BENCH_CODEC_FORMULA", 0.0, 0.0, 1.0) > 0.0;
  for (const int dim : {3, 2}) {
    for (const double frequency : {14.0, 20.0}) {
      if ((formula || smoke) && frequency != 14.0) continue;
      CodecSettings settings;
      settings.dim = dim;
      settings.frequency = frequency;
      settings.waves = !formula;
      const double n = dim == 2 ? (smoke ? 80.0 : 400.0) : smoke ? 40.0 : host ? 160.0 : 512.0;
      settings.n = std::llround(from_environment("MOHO_BENCH_CODEC_N", n, 24.0, 4096.0));
      settings.seconds = from_environment(
          "MOHO_BENCH_CODEC_SECONDS", smoke ? 0.2 : 0.00325 * static_cast<double>(n), 0.01, 100.0);
      const std::string field =
          concat("codec/", dim, "d/", formula ? "formula" : concat("ricker:", frequency), "/");
      const std::string end = concat("/", space, "/n:", settings.n);
      for (const char* const text :
           {"snr:40", "snr:50", "snr:55", "snr:60", "max:1e-2", "max:1e-3", "max:1e-4", "bits:8",
            "bits:12", "bits:16", "paper:1e-2", "paper:1e-3"}) {
        const snapshot::CodecOptions options = snapshot::parse_codec(text);
        bench::add(field + snapshot::to_string(options.mode) + "/" + text + end, 1,
                   [space, settings, options](benchmark::State& state) {
                     time_mode(state, space, settings, options);
                   });
      }
      for (const std::string& name : bench::peer_names()) {
        if (!host) continue;
        for (const double snr : {40.0, 50.0, 55.0, 60.0}) {
          if (name == "zstd" && snr != 55.0) continue;
          bench::add(concat(field, name, "/snr:", snr, end), 1,
                     [space, settings, name, snr](benchmark::State& state) {
                       time_peer(state, space, settings, name, snr);
                     });
        }
      }
    }
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
