// SPDX-License-Identifier: BSD-3-Clause
#include "bench_waves/cases.hpp"

#include "common/copy.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace moho::bench {

namespace {

std::unique_ptr<WaveRunner> runner_on(const std::string& space, const WaveSettings& settings) {
  std::unique_ptr<WaveRunner> runner;
  with_space(space, [&](const auto& exec) { runner = make_wave_runner(exec, settings); });
  return runner;
}

/// Returns the largest difference between the tuned and the plain kernel, relative to the largest
/// magnitude. It compares five steps of a small grid with thin layers, once per case.
double small_difference(const WaveCase& what) {
  const WaveSettings& s = what.settings;
  using Key = std::tuple<std::string, WaveMedium, bool, int, int, WaveBoundary, bool, bool>;
  static std::map<Key, double> known;
  const Key key{what.space, s.medium, s.single, s.order, s.dim, s.boundary, s.codes, s.one_pass};
  const auto position = known.find(key);
  if (position != known.end()) return position->second;
  WaveSettings small = s;
  small.width = 7;
  small.extents = s.dim == 3 ? std::array<std::int64_t, 3>{45, 38, 71}
                             : std::array<std::int64_t, 3>{75, 133, 0};
  std::unique_ptr<WaveRunner> runners[2];
  for (const bool reference : {false, true}) {
    small.reference = reference;
    runners[reference] = runner_on(what.space, small);
    runners[reference]->steps(5);
  }
  const double found = runners[0]->difference(*runners[1]) / runners[1]->amplitude();
  known[key] = found;
  return found;
}

/// Returns the steps of a sample: enough to make clock resolution and launches negligible.
int steps_of_sample(const WaveCase& what, double seconds_a_step) {
  if (smoke()) return 2;
  const bool device = what.space == "cuda";
  const double wanted = device ? 0.08 : 0.4;
  const int max = device ? 200 : 100, min = device ? 10 : 2;
  return std::clamp(static_cast<int>(wanted / seconds_a_step) + 1, min, max);
}

}  // namespace

bool wave_fits(const WaveCase& what) {
  // two levels of each field, at most eight parameters in the kernels' form, and as many as given
  const int arrays = what.settings.medium == WaveMedium::isotropic ? 4 : 19;
  const double halo = 1.2;
  const double bytes = halo * arrays * static_cast<double>(what.settings.points()) *
                       (what.settings.single ? 4.0 : 8.0);
  bool fits = false;
  with_space(what.space, [&](const auto& exec) {
    fits = bytes < 0.85 * static_cast<double>(memory_budget(exec));
  });
  return fits;
}

int wave_fields(WaveMedium medium) {
  return medium == WaveMedium::isotropic || medium == WaveMedium::variable_density ? 1 : 2;
}

std::int64_t WaveSettings::interior_points() const {
  if (boundary == WaveBoundary::none) return points();
  const bool free = boundary == WaveBoundary::sponge_free || boundary == WaveBoundary::cpml_free;
  std::int64_t count = 1;
  for (int d = 0; d < dim; ++d) {
    const int layers = free && d == dim - 1 ? 1 : 2;
    count *= extents[static_cast<std::size_t>(d)] - layers * width;
  }
  return count;
}

const char* to_string(WaveBoundary boundary) {
  constexpr const char* names[] = {"none", "sponge", "sponge_free", "cpml", "cpml_free"};
  return names[static_cast<int>(boundary)];
}

double wave_flops(WaveMedium medium, int order, int dim) {
  const double r = order / 2, d = dim;
  const double second = 3.0 * r, first = 3.0 * r - 1.0, end = 6.0;
  switch (medium) {
    case WaveMedium::isotropic:
      return second * d + 1.0 + end;
    case WaveMedium::variable_density:
      return second * d + 3.0 + end;
    case WaveMedium::vti:
      return second * d + 2.0 + 5.0 + 2.0 * end;
    case WaveMedium::tti:
      return 2.0 * (first * d + 2.0 * d - 1.0) + 2.0 * (5.0 * r * d - 1.0) + second * d + 1.0 +
             1.0 + 5.0 + 2.0 * end;
    case WaveMedium::vti_fletcher:
      return 2.0 * (second * d + 2.0) + 12.0 + 2.0 * end;
    case WaveMedium::tti_fletcher:
      break;
  }
  const double mixed = first * (dim == 3 ? 5.0 : 2.0);
  const double field = second * d + d + mixed + (dim == 3 ? 19.0 : 7.0) + d;
  return 2.0 * field + (dim == 3 ? 14.0 : 8.0) + 12.0 + 2.0 * end;
}

std::string name_of(const WaveCase& what) {
  const WaveSettings& s = what.settings;
  const std::string width = what.same_interior ? concat(":", s.width) : "";
  std::string name = concat("waves/", to_string(s.medium), "/", s.single ? "float" : "double",
                            "/order:", s.order, "/", to_string(s.boundary), width, "/",
                            s.reference  ? "reference"
                            : s.codes    ? "codes"
                            : s.one_pass ? "tuned"
                                         : "two_passes",
                            "/", what.space, "/");
  for (int d = 0; d < s.dim; ++d) {
    name += concat(d ? "x" : "", s.extents[static_cast<std::size_t>(d)]);
  }
  return name;
}

void time_waves(benchmark::State& state, const WaveCase& what) {
  const WaveSettings& settings = what.settings;
  std::vector<double> samples;
  const double bandwidth = copy_bandwidth(what.space);
  const double small = small_difference(what);
  const std::unique_ptr<WaveRunner> runner = runner_on(what.space, settings);
  runner->steps(1);  // loads code; excluded from the time
  const int steps = steps_of_sample(what, runner->steps(1));
  for (auto _ : state) {
    samples.push_back(runner->steps(steps) / steps);
    state.SetIterationTime(samples.back());
  }
  const double amplitude = runner->amplitude();
  const int bytes = runner->bytes_per_point();
  const double windows = runner->window_difference();
  std::sort(samples.begin(), samples.end());
  const double best = samples.front(), median = samples[samples.size() / 2];
  const double points = static_cast<double>(settings.points());
  const double flops = wave_flops(settings.medium, settings.order, settings.dim);
  auto& counters = state.counters;
  counters["points/s"] = points / median;
  counters["best_points/s"] = points / best;
  counters["best_s"] = best;
  counters["points"] = points;
  counters["interior_points"] = static_cast<double>(settings.interior_points());
  counters["steps"] = steps;
  counters["bytes_per_point"] = bytes;
  counters["flops_per_point"] = flops;
  counters["GBps"] = bytes * points / median * 1e-9;
  counters["GFlops"] = flops * points / median * 1e-9;
  counters["copy_GBps"] = bandwidth * 1e-9;
  counters["floor_points/s"] = bandwidth / bytes;
  counters["floor_fraction"] = bytes * points / best / bandwidth;
  counters["amplitude"] = amplitude;
  counters["rel_diff_small"] = small;
  counters["rel_diff_windows"] = windows;
  // noise stays noise; the tolerance covers rounding in five steps and in one
  const double tolerance = settings.single ? 5e-6 : 1e-14;
  // a window of the model has a smaller range of values, and therefore other codes
  const double of_windows = settings.codes ? 1e-4 : tolerance;
  const double worst = std::max(small, windows);
  if (!(small <= tolerance) || !(windows <= of_windows) || !(amplitude > 0.0)) {
    fail(state, concat("wavefields differ from the plain kernel's by ", worst,
                       " of the largest value (allowed: ", tolerance, ")"));
  }
}

}  // namespace moho::bench
