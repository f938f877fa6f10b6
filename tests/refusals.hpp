// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Helpers for tests of invalid input: NaN, infinity, and the texts of exceptions.

#include <moho/core/error.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <limits>
#include <string>

namespace moho::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns the text of the exception of type E that a function throws, or "no exception".
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
