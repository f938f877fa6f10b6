// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Values of a model on the host as fields of a memory space, and messages in options'
/// words.

#include "app/earth_model.hpp"

#include <moho/wave/media.hpp>
#include <moho/wave/model_values.hpp>

#include <map>
#include <span>
#include <string>
#include <vector>

namespace moho::examples {

/// Remedies for an overflow, by options of the scheme.
inline constexpr const char* overflow_advice = "take --equations self_adjoint, or a smaller --dt";

/// Values by option: "vp", "rho" ...
template <class T>
using ModelValues = std::map<std::string, std::vector<T>>;

/// Parameters that are one number everywhere, by option.
using ModelConstants = std::map<std::string, double>;

/// Parameters that values hold.
/// \param constants parameters that are one number everywhere; may be null
template <class T>
wave::ModelValues<T> parameters_of(const ModelValues<T>& values,
                                   const ModelConstants* constants = nullptr) {
  wave::ModelValues<T> result;
  for (const wave::ParameterInfo& row : wave::parameters) {
    const auto found = values.find(row.option);
    if (found == values.end()) continue;
    const std::span<const T> nodes = found->second;
    if (constants != nullptr && constants->count(row.option) > 0) {
      const auto constant = static_cast<T>(constants->at(row.option));
      result.emplace(row.parameter, wave::ParameterValues<T>(nodes, constant));
    } else {
      result.emplace(row.parameter, nodes);
    }
  }
  return result;
}

/// Returns the model of all parameters. On hosts it refers to the values, without a copy.
/// \param constants parameters that are one number everywhere; may be null
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> to_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const ModelValues<T>& values,
                                     const ModelConstants* constants = nullptr) {
  return wave::borrow_model<T>(exec, grid, parameters_of<T>(values, constants));
}

/// Words a message of the library in terms of options.
/// The message's first word is a parameter of the model or an argument of make_modelling().
/// \param parameters names of parameters, by option: "vp" is "--vp FILE"
/// \param others names of "sources", "receivers", "wavelet" ...; with "bands" no wavelet is advised
std::string in_options(std::string text, const std::map<std::string, std::string>& parameters,
                       const std::map<std::string, std::string>& others);

}  // namespace moho::examples
