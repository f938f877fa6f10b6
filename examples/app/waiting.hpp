// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How idle threads of OpenMP wait for work.
///
/// GCC's OpenMP lets them spin for milliseconds. If other programs need the processors, spinning
/// threads block the threads that they wait for. Small loops are then hundreds of times slower.
/// Threads of these programs spin for some microseconds and then sleep.

#include <string>

namespace moho::examples {

/// Sets this policy unless the environment has one (OMP_WAIT_POLICY, GOMP_SPINCOUNT).
/// OpenMP reads its variables when it is loaded, before main(). The process therefore restarts
/// itself with the variable set: call this first in main(). It returns if the policy is already
/// set, or the process could not be restarted.
/// \param argv of main()
void choose_waiting(char** argv);

/// Returns the present policy for the summary: "spin 1000 times, then sleep (chosen)".
std::string waiting();

}  // namespace moho::examples
