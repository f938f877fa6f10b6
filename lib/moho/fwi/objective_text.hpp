// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Unknowns, bounds, bands and lags of an inversion from texts.
///
/// Each function throws InputError with the name `what`, the text and the allowed values.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/wave/media.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Lower and upper bounds by the name of a parameter.
using NamedBounds = std::map<std::string, std::pair<double, double>>;

/// Returns the names of inverted parameters: "vp", or "vp" and any of "rho", "epsilon" and "delta".
/// \param what name of the text in messages, such as "--parameters"
/// \param text names joined by commas
std::vector<std::string> parse_parameters(const std::string& what, const std::string& text);

/// Checks that a medium has a parameter that can be inverted for.
/// \param what name of the text in messages \param name "rho", "epsilon" or "delta"
void check_parameter(const std::string& what, const std::string& name, wave::Medium medium);

/// Returns bounds. \param what name of the text in messages
/// \param text "vp:1500:5500,rho:1000:3000", in m/s, kg/m3 and 1; within
/// the values of wave::info(), each parameter once
/// \param parameters names of the inverted parameters
NamedBounds parse_bounds(const std::string& what, const std::string& text,
                         const std::vector<std::string>& parameters);

/// \brief Checks values of parameters, one after the other, on the nodes of a grid.
/// \param what name of the values in messages
/// \throws InputError for the first value that no model may have, with its node
template <class T, int Dim>
void check_values(const std::string& what, const std::vector<wave::Parameter>& parameters,
                  const Grid<Dim>& grid, const std::vector<T>& values) {
  const auto nodes = static_cast<std::size_t>(grid.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const wave::ParameterInfo& row = wave::info(parameters.at(i / nodes));
    const auto value = static_cast<double>(values[i]);
    if (value >= row.lowest && value <= row.highest) continue;
    const Index<Dim> node = grid.node(static_cast<std::int64_t>(i % nodes));
    throw InputError(concat(what, ": ", row.option, " at node ", format_index(node), ", ",
                            format_point(grid.position(node)), ", is ", value,
                            " (allowed: ", row.allowed, "): correct it"));
  }
}

/// Returns corners of low-passes in Hz. \param what name of the text in messages
/// \param text positive numbers that ascend, joined by commas: "3,5,8"
std::vector<double> parse_bands(const std::string& what, const std::string& text);

/// Returns lags. \param what name of the text in messages
/// \param text largest half offsets in nodes, 0 to 1000: "16", or "16,8" along x and y
Lags parse_lags(const std::string& what, const std::string& text);

}  // namespace moho::fwi
