// SPDX-License-Identifier: BSD-3-Clause
//
// trace_rays: first-arrival traveltimes and rays through a velocity model by shortest paths on a
// grid graph. This file is the main function; reading options, input, tracing and output are beside
// it in trace_rays/.

#include "common/program.hpp"
#include "trace_rays/options.hpp"
#include "trace_rays/run.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace moho::examples;
  Stage stage = Stage::input;
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(arguments);
    const trace_rays::CommandLine line = trace_rays::read_command_line(arguments);
    if (!line.text.empty()) {
      std::fputs(line.text.c_str(), stdout);
      return exit_done;
    }
    prepare_folder("--out", line.options.out);
    const KokkosScope kokkos("trace_rays", kokkos_options);
    trace_rays::run(line.options, stage);
    return exit_done;
  } catch (...) {
    return report_exception("trace_rays", stage);
  }
}
