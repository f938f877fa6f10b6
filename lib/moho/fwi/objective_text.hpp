// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Unknowns, bounds, bands and lags of an inversion from texts.
///
/// Each function throws InputError with the name `what`, the text and the allowed values.

#include <moho/fwi/extended_image.hpp>
#include <moho/wave/media.hpp>

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
/// \param text "vp:1500:5500,rho:1000:3000", in m/s, kg/m3 and 1; vp and rho positive, others above
/// -0.5
/// \param parameters names of the inverted parameters
NamedBounds parse_bounds(const std::string& what, const std::string& text,
                         const std::vector<std::string>& parameters);

/// Returns corners of low-passes in Hz. \param what name of the text in messages
/// \param text positive numbers that ascend, joined by commas: "3,5,8"
std::vector<double> parse_bands(const std::string& what, const std::string& text);

/// Returns lags. \param what name of the text in messages
/// \param text largest half offsets in nodes, 0 to 1000: "16", or "16,8" along x and y
Lags parse_lags(const std::string& what, const std::string& text);

}  // namespace moho::fwi
