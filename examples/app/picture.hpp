// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Runs the Python program that draws a picture of results.

#include <string>
#include <vector>

namespace moho::examples {

/// Result of drawing a picture.
struct Picture {
  bool drawn = false;  ///< true if the picture exists
  std::string why;     ///< one line: the reason if it was not drawn
};

/// Ends the Python program that draws, if one runs; for another thread.
/// Waits briefly until the program has removed its unfinished file.
void stop_drawing();

/// Runs a Python program with arguments.
///
/// The program is searched in the folder that MOHO_PLOT_DIR names, in share/moho/plots of the
/// installation prefix, and in its source folder. The Python found by CMake is tried first, then
/// the system's. A Python without matplotlib or numpy is skipped. If MOHO_PYTHON names a Python, no
/// other one is tried.
Picture draw_picture(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace moho::examples
