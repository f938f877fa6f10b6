// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What tests of bad input share: numbers that are none, and what exceptions say.

#include <moho/core/error.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <string>

namespace moho::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// The text of an exception of this kind.
template <class E = InputError, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  return "no exception";
}

}  // namespace moho::testing
