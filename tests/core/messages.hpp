// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Error texts for the tests of moho::core.

#include <string>

namespace moho::testing {

/// The text of the exception of type E that a function throws, "no error" if it returns.
template <class E, class Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace moho::testing
