// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of a section: a shot and its gradient.
//
// 401 x 201 nodes and 20 nodes of layers, order 8, single precision, 1880 steps, two sources and
// 101 receivers between nodes; also 501 x 401 nodes, 754 steps, and 2001 x 1001 nodes, 75 steps,
// which has a launch for each step in any case. Devices compute the others with up to 64 steps in a
// launch and with launches for each step; both must give the same traces and the same gradient. The
// time is that of the steps, which includes sources and receivers; that of a gradient includes the
// snapshots of each step, which stay in memory, and the products of each step.
//
// Names: shot/<medium>/<faces>/<nodes>/<space>/launch:<64_steps|1_step>, and the same with
// gradient/. Hosts have 1_step alone.

#include "bench_section/runner.hpp"
#include "common/program.hpp"

#include <moho/core/error.hpp>
#include <moho/core/space.hpp>

#include <memory>
#include <string>

namespace {

using namespace moho;
using bench::SectionRun;
using bench::SectionRunner;

/// Returns the section of a case; the last one is kept.
SectionRunner& kept(const std::string& space, wave::Medium medium, wave::FaceKind faces,
                    const Index<2>& nodes) {
  static std::unique_ptr<SectionRunner> section;
  static std::string key;
  static bool first = true;
  if (first) Kokkos::push_finalize_hook([] { section.reset(); });
  first = false;
  const std::string wanted =
      concat(space, " ", wave::to_string(medium), " ", wave::to_string(faces), " ", nodes[0]);
  if (key != wanted) {
    section.reset();
    with_space(space, [&](const auto& exec) {
      section = bench::make_section_runner(exec, medium, faces, nodes, bench::smoke());
    });
    key = wanted;
  }
  return *section;
}

void time_section(benchmark::State& state, const std::string& space, wave::Medium medium,
                  wave::FaceKind faces, const Index<2>& nodes, bool gradient, bool one) {
  SectionRunner& section = kept(space, medium, faces, nodes);
  const auto run = [&](bool in_one) {
    return gradient ? section.gradient(in_one) : section.shot(in_one);
  };
  const SectionRun other = run(!one);
  double seconds = 0.0, forward = 0.0;
  for (auto _ : state) {
    const SectionRun result = run(one);
    state.SetIterationTime(result.seconds);
    seconds += result.seconds;
    forward += result.forward;
    if (result.values != other.values) {
      bench::fail(state, "values differ between both kinds of launches");
      return;
    }
  }
  const auto runs = static_cast<double>(state.iterations());
  state.counters["points/s"] = section.points() * runs / seconds;
  state.counters["forward_seconds"] = forward / runs;
}

void add_case(const std::string& space, wave::Medium medium, wave::FaceKind faces,
              const Index<2>& nodes) {
  for (const bool gradient : {false, true}) {
    for (const bool one : {true, false}) {
      if (one && (bench::on_host(space) || nodes[0] > 2000)) continue;
      bench::add(concat(gradient ? "gradient/" : "shot/", wave::to_string(medium), "/",
                        wave::to_string(faces), "/", nodes[0], "x", nodes[1], "/", space,
                        one ? "/launch:64_steps" : "/launch:1_step"),
                 bench::smoke() ? 1 : 5, [=](benchmark::State& state) {
                   time_section(state, space, medium, faces, nodes, gradient, one);
                 });
    }
  }
}

void add_space(const std::string& space) {
  for (const wave::Medium medium :
       {wave::Medium::isotropic, wave::Medium::variable_density, wave::Medium::vti}) {
    const Index<2> small = bench::smoke() ? Index<2>{61, 51} : Index<2>{401, 201};
    add_case(space, medium, wave::FaceKind::cpml, small);
    add_case(space, medium, wave::FaceKind::sponge, small);
    if (bench::smoke()) continue;
    add_case(space, medium, wave::FaceKind::cpml, {501, 401});
    add_case(space, medium, wave::FaceKind::cpml, {2001, 1001});
  }
}

void register_benchmarks() {
  add_space(bench::host_space());
  if (default_space_name() == "cuda") add_space("cuda");
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
