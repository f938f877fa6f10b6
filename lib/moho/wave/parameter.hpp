// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The parameters of a model.

namespace moho::wave {

/// A parameter of a model, with a value at each node.
enum class Parameter {
  vp,       ///< P velocity along the symmetry axis, m/s
  density,  ///< density, kg/m^3
  epsilon,  ///< Thomsen's epsilon
  delta,    ///< Thomsen's delta
  theta,    ///< angle of the symmetry axis from the vertical, radians
  phi       ///< azimuth of the symmetry axis from x to y, radians; 3D only
};

/// "vp", "density", "epsilon", "delta", "theta", "phi".
inline const char* to_string(Parameter parameter) {
  constexpr const char* names[] = {"vp", "density", "epsilon", "delta", "theta", "phi"};
  return names[static_cast<int>(parameter)];
}

}  // namespace moho::wave
