// SPDX-License-Identifier: BSD-3-Clause
//
// model_waves: shots over a model of the ground by finite differences, acoustic, VTI or TTI. This
// file is the main function; reading options, input, modelling and output are beside it in
// model_waves/.

#include "common/program.hpp"
#include "model_waves/options.hpp"
#include "model_waves/run.hpp"

#include <cstdio>

int main(int argc, char** argv) {
  using namespace moho::examples;
  Stage stage = Stage::input;
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(arguments);
    const model_waves::CommandLine line = model_waves::read_command_line(arguments);
    if (!line.text.empty()) {
      std::fputs(line.text.c_str(), stdout);
      return exit_done;
    }
    prepare_folder("--out", line.options.out);
    const KokkosScope kokkos("model_waves", kokkos_options);
    model_waves::run(line.options, stage);
    return exit_done;
  } catch (...) {
    return report_exception("model_waves", stage);
  }
}
