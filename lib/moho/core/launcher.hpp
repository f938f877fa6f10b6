// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The launcher of parallel programs, such as mpirun or srun, that started a process.

#include <string>

namespace moho {

/// \brief Returns a text that identifies the launch of this process and its position in it; empty
/// without a launcher.
///
/// It is made from environment variables, which the programs that a process starts inherit: only a
/// launcher between two processes makes their texts differ.
std::string launch_of_process();

}  // namespace moho
