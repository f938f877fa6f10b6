// SPDX-License-Identifier: BSD-3-Clause
#include "common/command_line.hpp"

#include "common/arguments.hpp"

#include <moho/core/space.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace moho::examples {

namespace po = boost::program_options;

po::variables_map parse_command_line(const std::string& program,
                                     const std::vector<std::string>& arguments,
                                     const po::options_description& known) {
  po::variables_map values;
  const std::string help = concat(": see ", program, " --help");
  try {
    namespace style = po::command_line_style;
    const int how = style::allow_long | style::long_allow_next | style::long_allow_adjacent;
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(known).style(how).run();
    for (const po::option& option : parsed.options) {
      if (option.position_key >= 0) {
        throw InputError(concat("'", option.original_tokens.front(),
                                "' belongs to no option (allowed: --name value)", help));
      }
      if (!option.value.empty() && option.value.front().rfind("--", 0) == 0) {
        throw InputError(concat("the value of --", option.string_key, " is missing before ",
                                option.value.front(), help));
      }
    }
    po::store(parsed, values);
  } catch (const po::error& error) {
    throw InputError(error.what() + help);
  }
  return values;
}

void parse_config_file(const std::string& program, const std::string& file,
                       const po::options_description& known,
                       const std::vector<Alternatives>& alternatives, po::variables_map& values) {
  std::error_code ignored;
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file, ignored)) {
    throw InputError(
        concat("--config ", file, ": cannot be read: check the name and the permissions"));
  }
  po::parsed_options parsed(&known);
  try {
    parsed = po::parse_config_file(stream, known);
  } catch (const po::error& error) {
    throw InputError(concat("--config ", file, ": ", error.what(),
                            ": one \"name = value\" a line with the names of ", program,
                            " --help"));
  }
  std::set<std::string> dropped;
  for (const Alternatives& group : alternatives) {
    const bool chosen = std::any_of(group.choices.begin(), group.choices.end(),
                                    [&](const std::string& key) { return values.count(key) > 0; });
    if (!chosen) continue;
    dropped.insert(group.choices.begin(), group.choices.end());
    dropped.insert(group.details.begin(), group.details.end());
  }
  auto& list = parsed.options;
  list.erase(std::remove_if(list.begin(), list.end(),
                            [&](const po::option& o) { return dropped.count(o.string_key) > 0; }),
             list.end());
  try {
    po::store(parsed, values);
  } catch (const po::error& error) {
    throw InputError(concat("--config ", file, ": ", error.what()));
  }
}

std::string parse_space(const std::string& name) {
  parse_name("--space", name, {"serial", "openmp", "cuda"});
  const auto names = space_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string list;
    for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
    throw InputError(concat("--space ", name, " is not in this program (it has: ", list,
                            "): choose one of these, or build moho with a Kokkos that has it"));
  }
  return name;
}

}  // namespace moho::examples
