// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Strict reader of the command line of an example program and its --config file.

#include "app/option_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace moho::examples {

/// The options that were given.
class Arguments {
 public:
  /// Reads a command line and the file that --config names.
  /// Options are long and not abbreviated: "--name value" or "--name=value".
  /// \throws InputError for an unknown option, a stray text or a missing value
  Arguments(const Description& description, const std::vector<std::string>& arguments);

  /// Returns the text of --help; empty if not given.
  const std::string& help() const { return m_help; }
  /// Returns true if --version was given.
  bool version() const { return m_version; }
  /// Returns the file of --config; empty if not given.
  const std::string& config() const { return m_config; }

  /// Returns a message with the options named as they were written, "--data" for "--shots".
  /// If a message begins with an option, "--name ...", the option's line of the file precedes it.
  std::string with_line(const std::string& message) const;

  /// Returns true if an option with a value was given, or a flag is set.
  bool given(const std::string& name) const { return m_values.count(name) > 0; }
  /// Returns the value of an option; empty if it was not given.
  std::string text(const std::string& name) const;
  /// Returns all values of an option.
  std::vector<std::string> texts(const std::string& name) const;
  /// Returns all given options, of files and command line, by name; a flag has no value.
  const std::map<std::string, std::vector<std::string>>& values() const { return m_values; }

 private:
  // Replaces names of options by the aliases that were written for them.
  std::string as_written(std::string message) const;

  std::string m_help, m_config;
  bool m_version = false;
  std::map<std::string, std::string> m_written;  ///< given aliases by names
  std::map<std::string, std::vector<std::string>> m_values;
  std::map<std::string, int> m_lines;  ///< lines of the file, by options whose value it sets
};

}  // namespace moho::examples
