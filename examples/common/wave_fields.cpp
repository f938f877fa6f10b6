// SPDX-License-Identifier: BSD-3-Clause
#include "common/wave_fields.hpp"

#include <moho/core/error.hpp>

namespace moho::examples {

std::string in_options(std::string text, const std::map<std::string, std::string>& parameters,
                       const std::map<std::string, std::string>& others) {
  const auto end = text.find_first_of(": ");
  std::string word = text.substr(0, end);
  std::string rest = end == std::string::npos ? "" : text.substr(end);
  if (word == "density") word = "rho";
  const auto parameter = parameters.find(word);
  if (parameter != parameters.end() && rest.rfind(':', 0) == 0) {
    return concat(parameter->second, rest,
                  rest.find("radians") != std::string::npos
                      ? " (angles in degrees are read with --degrees)"
                      : "");
  }
  const std::map<std::string, std::string> usual = {{"boundary", "--boundary"},
                                                    {"dt", "--dt"},
                                                    {"interval", "--interval"},
                                                    {"time", "--time"},
                                                    {"snapshot_every", "--snapshot-every"}};
  auto option = others.find(word);
  if (option == others.end()) option = usual.find(word);
  if (option == usual.end()) return text;
  const auto inside = rest.find("(allowed: dt,");
  if (inside != std::string::npos) rest.insert(inside + 10, "--");
  return option->second + rest;
}

}  // namespace moho::examples
