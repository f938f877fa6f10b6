// SPDX-License-Identifier: BSD-3-Clause
#include "app/wave_fields.hpp"

#include "app/format.hpp"

#include <moho/core/error.hpp>

#include <cmath>
#include <cstdlib>

namespace moho::examples {

namespace {

// Number after some words of a text; 0 if they are missing.
double number_behind(const std::string& text, const std::string& words) {
  const auto at = text.find(words);
  return at == std::string::npos ? 0.0 : std::strtod(text.c_str() + at + words.size(), nullptr);
}

// Rewords the message about too few nodes for the shortest wave.
// It names a Ricker wavelet with enough nodes instead of the end of the wavelet's spectrum.
std::string with_ricker(std::string text, const std::string& wavelet) {
  const std::string before = "lower the frequency below ", after = " Hz";
  const double frequency = number_behind(wavelet, "ricker:");
  const double highest = number_behind(text, " m/s at "), allowed = number_behind(text, before);
  if (!(frequency > 0.0) || !(highest > 0.0) || !(allowed > 0.0)) return text;
  // rounded down to two digits
  const double max = frequency * allowed / highest;
  const double digit = std::pow(10.0, std::floor(std::log10(max)) - 1.0);
  const std::string good = significant(std::floor(max / digit) * digit, 2);
  const auto at = text.find(before);
  const auto end = text.find(after, at);
  if (end == std::string::npos) return text;
  return text.replace(at, end + after.size() - at,
                      concat("take --wavelet ricker:", good, " or lower"));
}

}  // namespace

std::string in_options(std::string text, const std::map<std::string, std::string>& parameters,
                       const std::map<std::string, std::string>& others) {
  if (text.rfind("device memory", 0) == 0) text[6] = '-';
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
  const std::map<std::string, std::string> usual = {{"block", "--block"},
                                                    {"boundary", "--boundary"},
                                                    {"device-memory", "--device-memory"},
                                                    {"dt", "--dt"},
                                                    {"interval", "--interval"},
                                                    {"parameters", "--parameters"},
                                                    {"time", "--time"},
                                                    {"snapshot_every", "--snapshot-every"}};
  auto option = others.find(word);
  if (option == others.end()) option = usual.find(word);
  if (option == usual.end()) return text;
  const auto inside = rest.find("(allowed: dt,");
  if (inside != std::string::npos) rest.insert(inside + 10, "--");
  if (others.count("bands") > 0) return option->second + rest;
  return with_ricker(option->second + rest, option->second);
}

}  // namespace moho::examples
