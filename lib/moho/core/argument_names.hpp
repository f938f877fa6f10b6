// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Names of arguments in messages.

#include <initializer_list>
#include <map>
#include <string>
#include <utility>

namespace moho {

/// \brief Names of arguments in messages: those of the library, or the options of a program.
///
///     const ArgumentNames names{{"device_memory", "--device-memory"}};
///     names("device_memory");  // "--device-memory"
///     names("block");          // "block"
class ArgumentNames {
 public:
  ArgumentNames() = default;
  /// \param names pairs of the library's name of an argument and its name in messages
  ArgumentNames(std::initializer_list<std::pair<const std::string, std::string>> names)
      : m_names(names) {}

  /// Returns the name of an argument; the argument itself if it has no other name.
  std::string operator()(const std::string& argument) const {
    const auto found = m_names.find(argument);
    return found == m_names.end() ? argument : found->second;
  }

 private:
  std::map<std::string, std::string> m_names;
};

}  // namespace moho
