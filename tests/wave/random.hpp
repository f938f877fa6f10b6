// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Random numbers that are equal with every standard library.

#include <random>

namespace moho::testing {

inline double uniform(std::mt19937& random, double low, double high) {
  return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
}

}  // namespace moho::testing
