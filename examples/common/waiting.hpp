// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How idle threads of OpenMP wait for work.
///
/// GCC's OpenMP lets them spin for milliseconds. Where other programs want the processors, threads
/// that spin keep those from running that they wait for: small loops then take hundreds of times as
/// long. Programs have threads spin for some microseconds, after which they sleep.

#include <string>

namespace moho::examples {

/// \brief Chooses it, unless the environment has (OMP_WAIT_POLICY, GOMP_SPINCOUNT).
///
/// OpenMP reads its variables when it is loaded, before main(). If there is something to choose the
/// process therefore starts itself again, with the variable set: call this first in main(). It
/// returns where nothing had to be chosen, or the process could not be started again.
/// \param argv of main()
void choose_waiting(char** argv);

/// What holds, for the summary: "spin 1000 times, then sleep (chosen)".
std::string waiting();

}  // namespace moho::examples
