// SPDX-License-Identifier: BSD-3-Clause
//
// model_gravity: gravity, its gradient and the potential of an ensemble of prisms at many stations,
// on one processor or on many through MPI. This file is the main function; reading options, input,
// computing and output are beside it in model_gravity/.

#include "common/program.hpp"
#include "model_gravity/options.hpp"
#include "model_gravity/ranks.hpp"
#include "model_gravity/run.hpp"

#include <cstdio>
#include <optional>

int main(int argc, char** argv) {
  using namespace moho::examples;
  Stage stage = Stage::input;
  std::optional<model_gravity::Ranks> ranks;
  try {
    ranks.emplace(argc, argv);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    const std::vector<std::string> kokkos_options = take_kokkos_options(arguments);
    // The first rank reads options and files; the others learn from it what to compute.
    model_gravity::CommandLine line;
    ranks->together([&] {
      if (!ranks->root()) return;
      line = model_gravity::read_command_line(arguments);
      if (line.text.empty()) prepare_folder("--out", line.options.out);
    });
    bool text_only = !line.text.empty();
    ranks->broadcast(&text_only, sizeof(text_only));
    if (text_only) {
      std::fputs(line.text.c_str(), stdout);
      return exit_done;
    }
    std::optional<KokkosScope> kokkos;
    ranks->together(
        [&] { kokkos.emplace("model_gravity", kokkos_options, ranks->rank_on_host()); });
    model_gravity::run(line.options, *ranks, stage);
    return exit_done;
  } catch (...) {
    // What all ranks know is said by the first; a failure that only this one knows ends the others.
    const bool known = !ranks || ranks->agreed() || ranks->finished();
    const int status = report_exception("model_gravity", stage, !known || !ranks || ranks->root());
    if (!known) ranks->abort(status);
    return status;
  }
}
