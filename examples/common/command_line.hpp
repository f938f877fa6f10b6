// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The command line of an example program and its --config file, read strictly.

#include <boost/program_options.hpp>

#include <set>
#include <string>
#include <vector>

namespace moho::examples {

/// Options of which a choice on the command line replaces the others in the --config file.
struct Alternatives {
  std::set<std::string> choices;  ///< those to choose from
  std::set<std::string> details;  ///< those that belong to a choice and go with it
};

/// Reads a command line of long options, "--name value" or "--name=value", none abbreviated.
/// \param program name of the program, for messages
/// \throws InputError for what is unknown, belongs to no option, or lacks its value
boost::program_options::variables_map parse_command_line(
    const std::string& program, const std::vector<std::string>& arguments,
    const boost::program_options::options_description& known);

/// Adds the options of a file, one "name = value" a line, to those that are there, which win.
/// \throws InputError if the file cannot be read or holds something else
void parse_config_file(const std::string& program, const std::string& file,
                       const boost::program_options::options_description& known,
                       const std::vector<Alternatives>& alternatives,
                       boost::program_options::variables_map& values);

/// An execution space of this build by name.
/// \throws InputError for an unknown name, or a space that this build lacks
std::string parse_space(const std::string& name);

}  // namespace moho::examples
