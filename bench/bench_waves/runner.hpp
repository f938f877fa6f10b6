// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of a wave on a space, behind an interface without templates, compiled once for
/// each memory.

#include <moho/core/instance.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace moho::bench {

/// The equations that are stepped.
enum class WaveMedium { isotropic, variable_density, vti, tti, vti_fletcher, tti_fletcher };

/// "isotropic", "variable_density", "vti", "tti", "vti_fletcher", "tti_fletcher".
inline const char* to_string(WaveMedium medium) {
  constexpr const char* names[] = {"isotropic", "variable_density", "vti",
                                   "tti",       "vti_fletcher",     "tti_fletcher"};
  return names[static_cast<int>(medium)];
}

/// Wavefields of the equations: 1 or 2.
int wave_fields(WaveMedium medium);

/// What the faces do.
enum class WaveBoundary {
  none,         ///< rigid faces: the update alone
  sponge,       ///< sponges at all faces
  sponge_free,  ///< a free surface at the top, sponges at the others
  cpml,         ///< perfectly matched layers at all faces
  cpml_free     ///< a free surface at the top, perfectly matched layers at the others
};

/// "none", "sponge", "sponge_free", "cpml", "cpml_free".
const char* to_string(WaveBoundary boundary);

/// A propagation.
struct WaveSettings {
  WaveMedium medium = WaveMedium::isotropic;
  bool single = true;  ///< single precision
  int order = 8;
  int dim = 3;
  std::array<std::int64_t, 3> extents{};  ///< of the whole grid, layers included; in 2D x and z
  WaveBoundary boundary = WaveBoundary::sponge;
  int width = 30;          ///< nodes of the layers
  bool reference = false;  ///< the plain kernel
  bool one_pass = true;    ///< of self-adjoint TTI, where the device has a kernel for that

  /// Nodes of the grid.
  std::int64_t points() const { return extents[0] * extents[1] * (dim == 3 ? extents[2] : 1); }
  /// Nodes between the layers.
  std::int64_t interior_points() const;
};

/// \brief Additions and multiplications that a step has to do for a node, a fused one being two.
///
/// With radius r = order / 2 and d axes. Sums go over pairs of neighbours: a second derivative is
/// 3 r and one for the node itself, a first derivative 3 r - 1. The end of a step, w (2 p + change
/// - w before) with change = scale times the operator, is 6 for every field.
///  - isotropic: 3 r d + 1 + 6.
///  - variable density: (b' + b) (p' - p) at both neighbours, added, weighted, summed: 9 r d - 1;
///    halved, 1; 6.
///  - VTI: the second derivatives of p across and of q down, 3 r d + 2; their combination 5; 12.
///  - TTI: the derivatives of p and q along the axis, 2 ((3 r - 1) d + 2 d - 1); the divergence of
///    each along the axis, 2 (5 r d - 1); the Laplacian of p, 3 r d + 1; less one of the former, 1;
///    the combination 5; 12.
///  - VTI after Fletcher: both fields' derivatives across and down, 2 (3 r d + 2); the
///    combination 12; 12.
///  - TTI after Fletcher: for both fields the second derivatives, 3 r d + d, first derivatives
///    along z (in 3D along y too), mixed ones as first derivatives of those: (3 r - 1) (2 in 2D, 5
///    in 3D); H1 from them (7 in 2D, 19 in 3D), H2 as what remains of the Laplacian, d; the
///    squares and products of the axis's components once (8 in 2D, 14 in 3D); the combination
///    12; 12.
double wave_flops(WaveMedium medium, int order, int dim);

/// A wave in a model.
class WaveRunner {
 public:
  virtual ~WaveRunner() = default;
  /// Does so many steps, launch to completion. \return seconds
  virtual double steps(int count) = 0;
  /// Bytes that a step has to move for each node if each array is touched once.
  virtual int bytes_per_point() const = 0;
  /// The greatest magnitude of the wavefields. \throws Error if they hold what is not finite
  virtual double amplitude() const = 0;
  /// The greatest difference from another runner of the same settings, of this kind.
  virtual double difference(const WaveRunner& other) const = 0;
  /// \brief One more step, compared with the plain kernel's in some windows of the grid.
  ///
  /// The windows lie in the first and the last corner and in the middle of what is in no layer.
  /// \return the greatest difference, over the greatest magnitude of the wavefields
  virtual double window_difference() = 0;
};

/// A runner on a space. The fields start as noise, so that no node is silent; the model varies at
/// every node.
template <class Memory>
std::unique_ptr<WaveRunner> make_wave_runner(const Instance<Memory>& exec,
                                             const WaveSettings& settings);

}  // namespace moho::bench
