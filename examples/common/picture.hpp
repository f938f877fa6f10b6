// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The Python program that draws a picture of results.

#include <string>
#include <vector>

namespace moho::examples {

/// What became of a picture.
struct Picture {
  bool drawn = false;
  std::string why;  ///< one line: why it was not drawn
};

/// Ends the Python program that draws, if one runs, and waits for a moment until it has taken away
/// what it was writing. For another thread.
void stop_drawing();

/// \brief Runs a Python program with arguments.
///
/// It is looked for in the folder that the environment names in MOHO_PLOT_DIR, in share/moho/plots
/// of the prefix that the running program is installed in, and in the folder of its source. The
/// Python that CMake found is tried first, then the system's; one without matplotlib or numpy is
/// passed over. If the environment names one in MOHO_PYTHON, that one alone is tried.
Picture draw_picture(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace moho::examples
