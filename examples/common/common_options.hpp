// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options that all programs have.

#include "common/option_table.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace moho::examples {

/// Options of every program with a run; each program derives its own from these.
struct CommonOptions {
  bool double_precision = false;
  std::string space;       ///< name of the execution space
  std::size_t memory = 0;  ///< most bytes in the space; 0: what is free
  std::string out;         ///< folder for the results
  std::string config;      ///< the file that options were read from, if any
  bool plot = true;        ///< draw the picture
  bool quiet = false;      ///< print nothing but errors
  bool resume = false;     ///< resume an earlier run after its last complete part
  bool plan = false;       ///< print what would be done, and stop
  /// What was given for a job at a site, as the words of a command line.
  std::vector<std::string> words;
  /// Files that will be read. Values that name no file may be among them, such as numbers.
  std::vector<InputName> inputs;
};

/// The space of this build that sequential methods run on.
std::string sequential_space();

// Rows of options. Those of --no-plot and --memory say what is drawn and takes memory, that of
// --resume the part after which a run is resumed.
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
/// The member of --config in the summary.
void bind_config(Description& d, CommonOptions& o);

}  // namespace moho::examples
