// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reads the command line of an example program and its --config file, strictly.

#include "common/option_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace moho::examples {

/// What was given.
class Arguments {
 public:
  /// \brief Reads a command line of long options, "--name value" or "--name=value", none
  /// abbreviated, and the file that --config names.
  /// \throws InputError for what is unknown, belongs to no option, or lacks its value
  Arguments(const Description& description, const std::vector<std::string>& arguments);

  /// The text of --help, or empty.
  const std::string& help() const { return m_help; }
  /// Was --version given?
  bool version() const { return m_version; }
  /// The file of --config, or empty.
  const std::string& config() const { return m_config; }

  /// \brief Returns a message with the options named as they were written, "--data" for "--shots".
  ///
  /// A message that begins with an option, "--name ...", gets the line of the file that has the
  /// option in front.
  std::string with_line(const std::string& message) const;

  /// Was an option with a value given? A flag: is it set?
  bool given(const std::string& name) const { return m_values.count(name) > 0; }
  /// Its value; empty if it was not given.
  std::string text(const std::string& name) const;
  /// All its values.
  std::vector<std::string> texts(const std::string& name) const;
  /// All that was given, in files and on the command line: values by names; none for a flag.
  const std::map<std::string, std::vector<std::string>>& values() const { return m_values; }

 private:
  // Replaces names of options by the aliases that were written for them.
  std::string as_written(std::string message) const;

  std::string m_help, m_config;
  bool m_version = false;
  std::map<std::string, std::string> m_written;  ///< aliases that were given, by names
  std::map<std::string, std::vector<std::string>> m_values;
  std::map<std::string, int> m_lines;  ///< of the file, by options that have their value from there
};

}  // namespace moho::examples
