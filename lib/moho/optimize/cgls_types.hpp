// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options and stopping reasons of Cgls, without kernels.

#include <cstdint>

namespace moho::optimize {

/// Next product that a linear search requires of its caller.
enum class LinearWant {
  product,     ///< A direction()
  transposed,  ///< A^T residual()
  nothing      ///< stopped
};

/// Stopping reason of a linear search.
enum class LinearStop {
  none,        ///< not stopped
  gradient,    ///< gradient of the squared residual below the tolerance
  iterations,  ///< maximum number reached
  breakdown    ///< A direction() is zero: the remaining gradient is rounding
};

/// Returns the name of a reason: "gradient", "iterations", ...
inline const char* to_string(LinearStop stop) {
  constexpr const char* names[] = {"none", "gradient", "iterations", "breakdown"};
  return names[static_cast<int>(stop)];
}

/// Options of a Cgls.
struct CglsOptions {
  /// Stops if the norm of the preconditioned gradient is at most this part of its first value; 0:
  /// only if it is zero.
  double gradient = 1e-8;
  std::int64_t iterations = 0;  ///< largest number; 0: no limit
};

}  // namespace moho::optimize
