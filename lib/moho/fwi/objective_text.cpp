// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/parse.hpp>
#include <moho/core/text.hpp>
#include <moho/fwi/objective_text.hpp>
#include <moho/fwi/objective_types.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace moho::fwi {

std::vector<std::string> parse_parameters(const std::string& what, const std::string& text) {
  std::vector<std::string> parameters;
  for (const std::string& name : text::split(text, ',')) {
    if (name == "theta" || name == "phi") {
      throw InputError(concat(what, ": ", name,
                              " is no unknown: derivatives by the axis are not known at free "
                              "surfaces and in layers (allowed: vp, rho, epsilon, delta): give "
                              "the axis with --theta and leave it as it is"));
    }
    text::parse_name(what, name, {"vp", "rho", "epsilon", "delta"});
    if (std::find(parameters.begin(), parameters.end(), name) != parameters.end()) {
      throw InputError(concat(what, ": ", name, " occurs twice (allowed: once)"));
    }
    parameters.push_back(name);
  }
  if (std::find(parameters.begin(), parameters.end(), "vp") == parameters.end()) {
    throw InputError(concat(what, " ", text, ": vp is missing (allowed: vp and others)"));
  }
  return parameters;
}

void check_parameter(const std::string& what, const std::string& name, wave::Medium medium) {
  for (const wave::ParameterInfo& row : wave::parameters) {
    if (name == row.option && wave::info(medium).invertible.has(row.parameter)) return;
  }
  if (name == "rho") {
    throw InputError(concat(what, ": rho needs a model with --rho, without anisotropy"));
  }
  throw InputError(concat(what, ": ", name,
                          " needs a model with --epsilon or --delta (VTI, or TTI with --theta, "
                          "whose angles are not unknowns)"));
}

NamedBounds parse_bounds(const std::string& what, const std::string& text,
                         const std::vector<std::string>& parameters) {
  NamedBounds bounds;
  for (const std::string& piece : text::split(text, ',')) {
    const std::vector<std::string> parts = text::split(piece, ':');
    const auto number = [&](std::size_t k) {
      return parts.size() == 3 ? text::to_number(parts[k]) : std::optional<double>();
    };
    const auto low = number(1), high = number(2);
    if (!low || !high) {
      throw InputError(concat(what, " '", piece,
                              "' is none (allowed: PARAMETER:LEAST:GREATEST, "
                              "several joined by commas: vp:1500:5500,rho:1000:3000)"));
    }
    if (std::find(parameters.begin(), parameters.end(), parts[0]) == parameters.end()) {
      throw InputError(concat(what, ": ", parts[0], " is not among the unknowns (--parameters)"));
    }
    for (const wave::ParameterInfo& row : wave::parameters) {
      if (parts[0] == row.option) check_bounds(what, parts[0], row.parameter, {*low, *high});
    }
    if (!bounds.insert({parts[0], {*low, *high}}).second) {
      throw InputError(concat(what, ": ", parts[0], " occurs twice (allowed: once)"));
    }
  }
  return bounds;
}

std::vector<double> parse_bands(const std::string& what, const std::string& text) {
  std::vector<double> bands;
  for (const std::string& piece : text::split(text, ',')) {
    const auto value = text::to_number(piece);
    if (!value || *value <= 0.0 || (!bands.empty() && *value <= bands.back())) {
      throw InputError(concat(what, " ", text, ": '", piece,
                              "' (allowed: positive frequencies in Hz that ascend: 3,5,8)"));
    }
    bands.push_back(*value);
  }
  return bands;
}

Lags parse_lags(const std::string& what, const std::string& text) {
  const std::vector<std::string> pieces = text::split(text, ',');
  if (pieces.size() > 2) {
    throw InputError(concat(what, " ", text, " (allowed: n, or n,n in three dimensions)"));
  }
  Lags lags;
  lags.x = text::parse_count(what, pieces[0], 0, 1000);
  if (pieces.size() == 2) lags.y = text::parse_count(what, pieces[1], 0, 1000);
  return lags;
}

}  // namespace moho::fwi
