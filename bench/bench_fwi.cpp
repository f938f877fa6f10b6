// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of inversion: the gradient of a shot relative to the modelling of the same shot, and
// L-BFGS iterations. All methods that reconstruct the source wavefield are measured, also with
// extended images.
//
// The model is a cube of n nodes per side in a sponge of 20 nodes; order 8, single precision, 200
// receivers. The wavelet has the highest frequency that the grid resolves. Rates are nodes of the
// grid times steps, counted once, over the total time. This time covers forward propagation,
// adjoint propagation, reconstruction of the source wavefield, products and derivatives.
//
// "random" relative to "shell" is the cost of random boundaries. "stream" is the gradient of
// "random" with planes of both wavefields streamed through the device. The number of updates is the
// steps per pass (0: planned); the bits equal those of "random".
//
// "slabs" is the gradient of "shell" with a slab of the grid on each device, without the
// derivatives on the host (derivatives_seconds); on hosts each slab has one thread. The bits equal
// those of "shell".
//
// The cases "steps" stream the gradient of one volume with different steps in a pass, as Figure 6.4
// (b) of the paper does for modelling: of_in_core is the rate over that of "random" of the same
// volume and steps, 0 if that does not fit. Runs of few steps in a pass have fewer steps in all.
//
// MOHO_BENCH_FWI_N and MOHO_BENCH_FWI_STEPS set n and the steps, MOHO_BENCH_FWI_NX the nodes along
// x if they differ from n, MOHO_BENCH_FWI_DEVICE_GIB the memory of a device that streams may use,
// MOHO_BENCH_FWI_DEVICES the devices of the chain of a stream, and the most slabs (1).
//
// Names: gradient/<medium>/<unknowns>/<way>/lags:<n>/<space>/n:<n> with -1 for no extended image,
// gradient/<medium>/<unknowns>/slabs:<devices>/<space>/n:<n>,
// gradient/<medium>/<unknowns>/stream/updates:<n>/<space>/n:<n>,
// gradient/<medium>/<unknowns>/stream/lags:<n>/<space>/n:<n>,
// gradient/<medium>/vp/steps/block:<n>/updates:<n>/<space>/<nx>x<ny>x<nz>,
// survey/batch:<n>/<space>/shots:<n>/<nx>x<nz>, an evaluation of 24 shots over a section with n
// shots in the same launches (0: chosen), and lbfgs/pairs:<m>/<space>/n:<unknowns>.

#include "bench_fwi/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace moho;
using bench::GradientRunner;
using bench::GradientSettings;

std::int64_t from_environment(const char* name, std::int64_t usual, std::int64_t min,
                              std::int64_t max) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return usual;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (*end != '\0' || value < min || value > max) {
    throw InputError(concat(name, " is '", text, "' (allowed: ", min, " to ", max, ")"));
  }
  return value;
}

/// Returns the runner of a space and a case; the last one is cached.
GradientRunner& kept(const std::string& space, const GradientSettings& settings) {
  static std::unique_ptr<GradientRunner> runner;
  static std::string key;
  static bool first = true;
  if (first) {
    Kokkos::push_finalize_hook([] { runner.reset(); });
  }
  first = false;
  const std::string wanted = concat(
      space, " ", static_cast<int>(settings.medium), " ", settings.several, " ",
      settings.extents[0], "x", settings.extents[1], "x", settings.extents[2], " ", settings.steps);
  if (key != wanted) {
    runner.reset();
    with_space(space,
               [&](const auto& exec) { runner = bench::make_gradient_runner(exec, settings); });
    key = wanted;
  }
  return *runner;
}

void time_gradient(benchmark::State& state, const std::string& space,
                   const GradientSettings& settings, const std::string& method, int lags) {
  GradientRunner& runner = kept(space, settings);
  bench::GradientResult result;
  for (auto _ : state) {
    result = runner.run(method, lags);
    state.SetIterationTime(result.gradient);
  }
  auto& counters = state.counters;
  counters["points/s"] = result.points / result.gradient;
  counters["modelling_points/s"] = result.points / result.modelling;
  counters["over_modelling"] = result.gradient / result.modelling;
  counters["every"] = static_cast<double>(result.every);
  counters["source_bytes"] = result.source_bytes;
  counters["bytes"] = result.bytes;
  if (!(result.size > 0.0) || !std::isfinite(result.size)) {
    bench::fail(state, concat("the gradient's largest value is ", result.size));
  }
}

/// Returns the rate of the gradient "random" of a case in core, 0 if it does not fit; the last one
/// is cached.
double rate_in_core(const std::string& space, const GradientSettings& settings) {
  static const GradientRunner* last = nullptr;
  static double rate = 0.0;
  GradientRunner& runner = kept(space, settings);
  if (last == &runner) return rate;
  last = &runner;
  rate = 0.0;
  try {
    const bench::GradientResult result = runner.run("random", -1);
    rate = result.points / result.gradient;
  } catch (const MemoryError&) {
  }
  return rate;
}

void time_stream(benchmark::State& state, const std::string& space,
                 const GradientSettings& settings, std::int64_t block, std::int64_t updates,
                 int lags, bool over_in_core) {
  const double in_core = over_in_core ? rate_in_core(space, settings) : 0.0;
  GradientRunner& runner = kept(space, settings);
  const auto memory =
      static_cast<std::size_t>(from_environment("MOHO_BENCH_FWI_DEVICE_GIB", 0, 0, 4096)) << 30;
  const auto devices = static_cast<int>(from_environment("MOHO_BENCH_FWI_DEVICES", 1, 1, 64));
  bench::StreamedResult result;
  for (auto _ : state) {
    result = runner.run_stream(block, updates, lags, memory, devices);
    state.SetIterationTime(result.gradient);
  }
  auto& counters = state.counters;
  counters["points/s"] = result.points / result.gradient;
  counters["stepped_points/s"] = result.stepped / result.gradient;
  counters["predicted_seconds"] = result.predicted;
  counters["measured_over_predicted"] = result.gradient / result.predicted;
  if (over_in_core) {
    counters["in_core_points/s"] = in_core;
    counters["of_in_core"] = in_core > 0.0 ? result.points / result.gradient / in_core : 0.0;
  }
  counters["every"] = static_cast<double>(result.every);
  counters["block"] = static_cast<double>(result.block);
  counters["updates"] = static_cast<double>(result.updates);
  counters["device_bytes"] = result.device_bytes;
  counters["host_bytes"] = result.host_bytes;
  counters["devices"] = result.devices;
  counters["sums_held"] = result.sums_held ? 1.0 : 0.0;
  counters["backward_seconds"] = result.backward;
  if (!(result.size > 0.0) || !std::isfinite(result.size)) {
    bench::fail(state, concat("the gradient's largest value is ", result.size));
  }
}

void time_slabs(benchmark::State& state, const std::string& space, const GradientSettings& settings,
                int devices) {
  GradientRunner& runner = kept(space, settings);
  bench::SlabResult result;
  for (auto _ : state) {
    result = runner.run_slabs(devices);
    state.SetIterationTime(result.gradient);
  }
  auto& counters = state.counters;
  counters["points/s"] = result.points / result.gradient;
  counters["step_points/s"] = result.points / static_cast<double>(settings.steps) / result.step;
  counters["derivatives_seconds"] = result.derivatives;
  counters["every"] = static_cast<double>(result.every);
  counters["devices"] = devices;
  counters["device_bytes"] = result.device_bytes;
  if (!(result.size > 0.0) || !std::isfinite(result.size)) {
    bench::fail(state, concat("the gradient's largest value is ", result.size));
  }
}

void time_search(benchmark::State& state, const std::string& space, std::int64_t unknowns,
                 int pairs) {
  double seconds = 0.0;
  for (auto _ : state) {
    with_space(space,
               [&](const auto& exec) { seconds = bench::time_lbfgs(exec, unknowns, pairs); });
    state.SetIterationTime(seconds);
  }
  state.counters["bytes/s"] = (40.0 * pairs + 40.0) * static_cast<double>(unknowns) / seconds;
  if (!(seconds > 0.0)) bench::fail(state, "no iteration was timed");
}

void time_survey(benchmark::State& state, const std::string& space,
                 std::array<std::int64_t, 2> nodes, int shots, double seconds, int batch) {
  bench::SurveyResult result;
  for (auto _ : state) {
    with_space(space, [&](const auto& exec) {
      result = bench::time_survey(exec, nodes, shots, seconds, batch);
    });
    state.SetIterationTime(result.seconds);
  }
  auto& counters = state.counters;
  counters["points/s"] = result.points / result.seconds;
  counters["measured_over_predicted"] = result.seconds / result.predicted;
  counters["concurrent"] = result.concurrent;
  counters["batch"] = result.batch;
  counters["misfit"] = result.misfit;
  if (!(result.misfit > 0.0)) bench::fail(state, concat("the misfit is ", result.misfit));
}

/// Adds gradients of one volume by blocks and steps in a pass.
void add_steps(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  const std::vector<std::int64_t> all =
      smoke ? std::vector<std::int64_t>{2, 4} : std::vector<std::int64_t>{2, 4, 8, 16, 32, 64};
  for (const wave::Medium medium : {wave::Medium::isotropic, wave::Medium::vti}) {
    for (const std::int64_t block : {std::int64_t(4), std::int64_t(32)}) {
      if (smoke && block > 4) continue;
      for (const std::int64_t updates : all) {
        GradientSettings settings;
        settings.medium = medium;
        settings.extents = {500, 1000, 1000};
        if (host) settings.extents = {64, 80, 80};
        if (smoke) settings.extents = {24, 20, 22};
        settings.steps = smoke ? 16 : host ? 64 : updates < 8 ? 32 : 256;
        if (smoke || host) settings.width = 6;
        const std::string name =
            concat("gradient/", wave::to_string(medium), "/vp/steps/block:", block,
                   "/updates:", updates, "/", space, "/", settings.extents[0], "x",
                   settings.extents[1], "x", settings.extents[2]);
        bench::add(name, 1, [space, settings, block, updates](benchmark::State& state) {
          time_stream(state, space, settings, block, updates, -1, true);
        });
      }
    }
  }
}

/// Adds evaluations of a survey by shots in the same launches.
void add_surveys(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  const std::array<std::int64_t, 2> section{smoke ? 41 : 461, smoke ? 31 : 151};
  const int shots = smoke ? 3 : 24;
  for (const int batch : {1, 0, 2, 6, 12, 24}) {
    if ((smoke || host) && batch > 2) continue;
    bench::add(concat("survey/batch:", batch, "/", space, "/shots:", shots, "/", section[0], "x",
                      section[1]),
               1, [space, section, shots, smoke, batch](benchmark::State& state) {
                 time_survey(state, space, section, shots, smoke ? 0.3 : 2.4, batch);
               });
  }
}

/// Adds gradients over slabs. \param name of the gradient
void add_slabs(const std::string& space, const GradientSettings& settings,
               const std::string& name) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  if (smoke && !host) return;
  const auto max = static_cast<int>(from_environment("MOHO_BENCH_FWI_DEVICES", 1, 1, 64));
  for (int devices = 1; devices <= std::max(max, smoke ? 2 : 1); devices *= 2) {
    bench::add(concat(name, "/slabs:", devices, "/", space, "/n:", settings.extents[2]), 1,
               [space, settings, devices](benchmark::State& state) {
                 time_slabs(state, space, settings, devices);
               });
  }
}

void add_space(const std::string& space) {
  const bool host = bench::on_host(space), smoke = bench::smoke();
  struct Kind {
    wave::Medium medium;
    bool several;
    const char* unknowns;
  };
  const Kind kinds[] = {
      {wave::Medium::isotropic, false, "vp"}, {wave::Medium::variable_density, true, "vp_rho"},
      {wave::Medium::vti, false, "vp"},       {wave::Medium::vti, true, "vp_epsilon_delta"},
      {wave::Medium::tti, false, "vp"},       {wave::Medium::tti, true, "vp_epsilon_delta"}};
  for (const Kind& kind : kinds) {
    GradientSettings settings;
    settings.medium = kind.medium;
    settings.several = kind.several;
    const std::int64_t n = from_environment("MOHO_BENCH_FWI_N",
                                            smoke  ? 20
                                            : host ? 100
                                                   : 512,
                                            20, 2048);
    settings.extents = {from_environment("MOHO_BENCH_FWI_NX", n, 20, 100000), n, n};
    settings.steps = from_environment("MOHO_BENCH_FWI_STEPS",
                                      smoke  ? 20
                                      : host ? 200
                                             : 600,
                                      10, 100000);
    if (smoke) settings.width = 6;
    const auto add = [&](const char* method, int lags) {
      const std::string name = concat("gradient/", wave::to_string(kind.medium), "/", kind.unknowns,
                                      "/", method, "/lags:", lags, "/", space, "/n:", n);
      const std::string by = method;
      bench::add(name, 1, [space, settings, by, lags](benchmark::State& state) {
        time_gradient(state, space, settings, by, lags);
      });
    };
    add("shell", -1);
    add_slabs(space, settings,
              concat("gradient/", wave::to_string(kind.medium), "/", kind.unknowns));
    // the same gradient in core is the case "random"
    if (kind.medium != wave::Medium::isotropic) add("random", -1);
    const std::vector<std::int64_t> updates =
        smoke ? std::vector<std::int64_t>{0, 3}
              : (host ? std::vector<std::int64_t>{0, 1, 4}
                      : std::vector<std::int64_t>{0, 8, 16, 24, 32, 48, 64});
    for (const std::int64_t u : updates) {
      if (smoke && kind.several && u == 0) continue;  // plans measure rates
      const std::int64_t block = u == 0 ? 0 : smoke ? 4 : host ? 8 : 32;
      const std::string name = concat("gradient/", wave::to_string(kind.medium), "/", kind.unknowns,
                                      "/stream/updates:", u, "/", space, "/n:", n);
      bench::add(name, 1, [space, settings, block, u](benchmark::State& state) {
        time_stream(state, space, settings, block, u, -1, false);
      });
    }
    if (!kind.several) {
      const int lags = smoke ? 4 : 16;
      add("random", lags);
      const std::string name = concat("gradient/", wave::to_string(kind.medium), "/", kind.unknowns,
                                      "/stream/lags:", lags, "/", space, "/n:", n);
      bench::add(name, 1, [space, settings, lags](benchmark::State& state) {
        time_stream(state, space, settings, 0, 0, lags, false);
      });
    }
    if (kind.medium != wave::Medium::isotropic) continue;
    for (const char* const method : {"random", "stored", "replay"}) add(method, -1);
    for (const int lags : {0, smoke ? 4 : 16, smoke ? 8 : 32}) add("shell", lags);
  }
  add_steps(space);
  add_surveys(space);
  for (const int pairs : {5, 10}) {
    const std::int64_t unknowns = smoke ? 10000 : host ? 10000000 : 134217728;
    bench::add(concat("lbfgs/pairs:", pairs, "/", space, "/n:", unknowns), 1,
               [space, unknowns, pairs](benchmark::State& state) {
                 time_search(state, space, unknowns, pairs);
               });
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
