// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that can be asked of first_arrivals, and how it is read.

#include <moho/eikonal/types.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples::first_arrivals {

/// How the times are found.
enum class Solver { active_tiles, sweeping, fast_marching };

/// What was asked for. Lists of coordinates are in the library's order of axes: (x, z) or (x, y,
/// z).
struct Options {
  std::string model;                 ///< a file or a number; empty: made by formula
  std::string epsilon, delta;        ///< files or numbers; empty: none
  bool salt = false;                 ///< the built-in model
  double v0 = 0.0, gradient = 0.0;   ///< m/s and 1/s, of v0 + gradient z
  std::vector<std::int64_t> shape;   ///< of a model that is no file
  std::vector<double> spacing;       ///< empty: that of the file; one value: along all axes
  std::vector<double> origin;        ///< empty: that of the file, or zero
  std::vector<std::string> sources;  ///< points or tables; empty: the middle of the surface
  std::string receivers;             ///< points or a table; empty: none
  bool each = false;                 ///< a field for each source
  int order = 2;
  bool factored = true;
  Solver solver = Solver::active_tiles;
  bool double_precision = false;
  std::string space;       ///< name of the execution space
  std::size_t memory = 0;  ///< bytes; 0: what is free
  std::string out = "first_arrivals_out";
  bool plot = true;  ///< draw the picture
};

/// Names of the solvers on the command line.
inline constexpr const char* solver_names[] = {"active_tiles", "sweeping", "fast_marching"};

/// The outcome of reading the command line: options, or a text to print and nothing else to do.
struct CommandLine {
  Options options;
  std::string text;  ///< of --help or --version; empty otherwise
};

/// Reads the command line and the file that --config names.
/// \throws InputError for anything unknown, missing, malformed or contradictory.
CommandLine read_command_line(const std::vector<std::string>& arguments);

}  // namespace moho::examples::first_arrivals
