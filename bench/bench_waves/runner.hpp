// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of a wave on a space, behind an interface without templates.
///
/// The implementation is compiled once for each memory.

#include <moho/core/instance.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// Equations of the propagation.
enum class WaveMedium { isotropic, variable_density, vti, tti, vti_fletcher, tti_fletcher };

/// Returns "isotropic", "variable_density", "vti", "tti", "vti_fletcher" or "tti_fletcher".
inline const char* to_string(WaveMedium medium) {
  constexpr const char* names[] = {"isotropic", "variable_density", "vti",
                                   "tti",       "vti_fletcher",     "tti_fletcher"};
  return names[static_cast<int>(medium)];
}

/// Returns the number of wavefields of the equations: 1 or 2.
int wave_fields(WaveMedium medium);

/// Boundary conditions of the faces.
enum class WaveBoundary {
  none,         ///< rigid faces, without layers
  sponge,       ///< sponges at all faces
  sponge_free,  ///< a free surface at the top, sponges at the others
  cpml,         ///< perfectly matched layers at all faces
  cpml_free     ///< a free surface at the top, perfectly matched layers at the others
};

/// Returns "none", "sponge", "sponge_free", "cpml" or "cpml_free".
const char* to_string(WaveBoundary boundary);

/// Settings of a propagation.
struct WaveSettings {
  WaveMedium medium = WaveMedium::isotropic;  ///< medium and equations
  bool single = true;                         ///< single precision, otherwise double
  int order = 8;                              ///< of the differences
  int dim = 3;                                ///< 2 or 3
  /// Nodes of the complete grid, layers included; in 2D x and z.
  std::array<std::int64_t, 3> extents{};
  WaveBoundary boundary = WaveBoundary::sponge;  ///< faces of the grid
  int width = 30;                                ///< width of the layers, nodes
  bool reference = false;                        ///< use the plain kernel
  bool codes = false;                            ///< parameters in codes of 16 bits
  bool one_pass = true;  ///< self-adjoint TTI in one pass, if there is a kernel for it

  /// Returns the number of nodes of the grid.
  std::int64_t points() const { return extents[0] * extents[1] * (dim == 3 ? extents[2] : 1); }
  /// Returns the number of nodes between the layers.
  std::int64_t interior_points() const;
};

/// \brief Returns the additions and multiplications per node and step. A fused operation counts
/// two.
///
/// The radius is r = order / 2, and d is the number of axes. Sums run over pairs of neighbours: a
/// second derivative needs 3 r, plus one for the node itself, a first derivative 3 r - 1. The end
/// of a step is w (2 p + change - w before) with change = scale times the operator; it needs 6 for
/// every field.
/// - isotropic: 3 r d + 1 + 6.
/// - variable density: 3 r d + 1, minus the potential times the field, 2; 6.
/// - VTI: the second derivatives of p across and of q down, 3 r d + 2; their combination 5; 12.
/// - TTI: the derivatives of p and q along the axis, 2 ((3 r - 1) d + 2 d - 1); the divergence of
///   each along the axis, 2 (5 r d - 1); the Laplacian of p, 3 r d + 1; minus a divergence, 1;
///   the combination 5; 12.
/// - VTI after Fletcher: both fields' derivatives across and down, 2 (3 r d + 2); the combination
///   12; 12.
/// - TTI after Fletcher, both fields: second derivatives, 3 r d + d; first derivatives along z (in
///   3D also along y), and mixed ones as their first derivatives: (3 r - 1) (2 in 2D, 5 in 3D); H1
///   from them (7 in 2D, 19 in 3D); H2 as the remainder of the Laplacian, d; the squares and
///   products of the axis's components once (8 in 2D, 14 in 3D); the combination 12; 12.
double wave_flops(WaveMedium medium, int order, int dim);

/// A wave in a model.
class WaveRunner {
 public:
  virtual ~WaveRunner() = default;
  /// Does `count` steps, from launch to completion. \return seconds
  virtual double steps(int count) = 0;
  /// Returns the bytes moved per node and step if each array is accessed once.
  virtual int bytes_per_point() const = 0;
  /// Returns the largest magnitude of the wavefields. \throws Error if a value is not finite
  virtual double amplitude() const = 0;
  /// Returns the largest difference from another runner of the same type and settings.
  virtual double difference(const WaveRunner& other) const = 0;
  /// \brief Does one more step and compares it with the plain kernel's in windows of the grid.
  ///
  /// The windows lie in the first and the last corner and in the middle of the interior.
  /// \return the largest difference, relative to the largest magnitude of the wavefields
  virtual double window_difference() = 0;
};

/// Returns a runner on a space. The fields start as noise, so that no node is zero; the model
/// varies at every node.
template <class Memory>
std::unique_ptr<WaveRunner> make_wave_runner(const Instance<Memory>& exec,
                                             const WaveSettings& settings);

}  // namespace moho::bench
