// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of all programs.

#include "app/option_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace moho::examples {

/// Options of every program with a run; each program derives its options from these.
struct CommonOptions {
  bool double_precision = false;  ///< true: compute in double precision
  std::string space;              ///< name of the execution space
  std::size_t memory = 0;         ///< largest number of bytes in the space; 0: all free memory
  std::string out;                ///< folder for the results
  std::string config;             ///< the file that options were read from; empty: no file
  bool plot = true;               ///< draw the picture
  bool quiet = false;             ///< print errors only
  bool resume = false;            ///< resume an earlier run after its last complete part
  bool plan = false;              ///< print the plan and stop
  /// Options of a job at a site, as the words of a command line.
  std::vector<std::string> words;
  /// Input files. Values that name no file, such as numbers, may be among them.
  std::vector<InputName> inputs;
};

/// Returns the execution space of this build on which sequential methods run.
std::string sequential_space();

// Rows of options. The texts complete the help:
// what --no-plot draws, what --memory limits, and the part after which --resume resumes a run.
void bind_precision(Description& d, CommonOptions& o,
                    const std::string& text = "float or double (default: float)");
void bind_space(Description& d, CommonOptions& o);
void bind_memory(Description& d, CommonOptions& o, const std::string& what,
                 const std::string& preset = "what is free");
void bind_out(Description& d, CommonOptions& o);
void bind_no_plot(Description& d, CommonOptions& o, const std::string& what);
void bind_quiet(Description& d, bool& quiet);
void bind_resume(Description& d, CommonOptions& o, const std::string& part);
void bind_plan(Description& d, CommonOptions& o,
               const std::string& text = "print what would be done, and stop");
void bind_coordinates(Description& d);
/// Adds the member of --config to the summary.
void bind_config(Description& d, CommonOptions& o);

}  // namespace moho::examples
