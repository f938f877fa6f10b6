// SPDX-License-Identifier: BSD-3-Clause
//
// first_arrivals: traveltimes of first arrivals by the eikonal equation. This file is the main
// function; reading options and the run are beside it in first_arrivals/.

#include "common/program.hpp"
#include "first_arrivals/options.hpp"
#include "first_arrivals/run.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace moho::examples;
  Stage stage = Stage::input;
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(arguments);
    const first_arrivals::CommandLine line = first_arrivals::read_command_line(arguments);
    if (!line.text.empty()) {
      std::fputs(line.text.c_str(), stdout);
      return exit_done;
    }
    prepare_folder("--out", line.options.out);
    const KokkosScope kokkos("first_arrivals", kokkos_options);
    first_arrivals::run(line.options, stage);
    return exit_done;
  } catch (...) {
    return report_exception("first_arrivals", stage);
  }
}
