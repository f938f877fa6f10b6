// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A model's values on the host as the fields of a memory, and the library's messages in the
/// words of options.

#include "common/earth_model.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/wave/media.hpp>

#include <map>
#include <string>
#include <vector>

namespace moho::examples {

/// Changes of a scheme that avoid an overflow, by their options.
inline constexpr const char* overflow_advice = "take --equations self_adjoint, or a smaller --dt";

/// Values by option: "vp", "rho" ...
template <class T>
using ModelValues = std::map<std::string, std::vector<T>>;

/// Parameters that are one number everywhere, by option.
using ModelConstants = std::map<std::string, double>;

/// The values of one parameter; no field where there are none. On hosts nothing is copied: the
/// values have to stay as long as the field. \param constants where it is among these, a device
/// makes the field itself; may be null
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> to_field(const Instance<Memory>& exec, const Grid<Dim>& grid,
                               ModelValues<T>& values, const char* option,
                               const ModelConstants* constants = nullptr) {
  const auto found = values.find(option);
  if (found == values.end()) return {};
  const auto wrap = [&](T* data) {
    using Host = Field<T, Dim, Kokkos::HostSpace>;
    if constexpr (Dim == 2) {
      return Host(data, grid.extents[0], grid.extents[1]);
    } else {
      return Host(data, grid.extents[0], grid.extents[1], grid.extents[2]);
    }
  };
  if constexpr (is_host_memory<Memory>) {
    return wrap(found->second.data());
  } else {
    auto field = make_field<T>(exec, grid, option);
    if (constants != nullptr) {
      const auto constant = constants->find(option);
      if (constant != constants->end()) {
        fill(exec, field, static_cast<T>(constant->second));
        return field;
      }
    }
    copy(exec, field, wrap(found->second.data()));
    return field;
  }
}

/// All parameters. \param constants those of them that are one number everywhere; may be null
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> to_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     ModelValues<T>& values,
                                     const ModelConstants* constants = nullptr) {
  wave::Model<T, Dim, Memory> model;
  model.vp = to_field<T, Dim, Memory>(exec, grid, values, "vp", constants);
  model.density = to_field<T, Dim, Memory>(exec, grid, values, "rho", constants);
  model.epsilon = to_field<T, Dim, Memory>(exec, grid, values, "epsilon", constants);
  model.delta = to_field<T, Dim, Memory>(exec, grid, values, "delta", constants);
  model.theta = to_field<T, Dim, Memory>(exec, grid, values, "theta", constants);
  model.phi = to_field<T, Dim, Memory>(exec, grid, values, "phi", constants);
  return model;
}

/// \brief A message of the library in the words of options: its first word is a parameter of the
/// model or an argument of make_modelling().
/// \param parameters what to call parameters, by option: "vp" is "--vp FILE"
/// \param others what to call "sources", "receivers", "wavelet" ...; with "bands" none is advised
std::string in_options(std::string text, const std::map<std::string, std::string>& parameters,
                       const std::map<std::string, std::string>& others);

}  // namespace moho::examples
