// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Media, faces, equations and options of propagators, without kernels.

#include <moho/core/box.hpp>
#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/wave/media.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace moho::wave {

/// Boundary condition or absorbing layer of a face of the grid.
enum class FaceKind {
  rigid,         ///< no layer: zero from a node outside on, which reflects with reversed sign
  sponge,        ///< a layer that damps the wavefield in every step
  cpml,          ///< a convolutional perfectly matched layer (not for TTI)
  free_surface,  ///< the field is zero on the face and odd about it
  random         ///< a layer of random velocities, which scatters waves and conserves energy
};

/// Returns "rigid", "sponge", "cpml", "free" or "random".
inline const char* to_string(FaceKind kind) {
  constexpr const char* names[] = {"rigid", "sponge", "cpml", "free", "random"};
  return names[static_cast<int>(kind)];
}

/// Returns the kind of face with a given name. \throws InputError for other names
inline FaceKind parse_face_kind(const std::string& name) {
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::sponge, FaceKind::cpml,
                              FaceKind::free_surface, FaceKind::random}) {
    if (name == to_string(kind)) return kind;
  }
  throw InputError(concat("boundary '", name,
                          "' is unknown (allowed: rigid, sponge, cpml, free, random): choose one"));
}

/// Face of the grid: its kind and the width of its layer.
struct Face {
  FaceKind kind = FaceKind::sponge;  ///< boundary condition or layer
  int width = 30;                    ///< nodes of the layer; unused for rigid and free_surface

  /// Returns true for the kinds that have a layer of nodes.
  bool layered() const { return kind != FaceKind::rigid && kind != FaceKind::free_surface; }
  /// Returns the nodes of the layer; zero for kinds without a layer.
  int layer() const { return layered() ? width : 0; }
};

/// Faces of a grid: lower and upper along each axis; lower[Dim - 1] is the top.
template <int Dim>
struct Boundaries {
  Face lower[Dim];  ///< faces at the smallest coordinates
  Face upper[Dim];  ///< faces at the largest coordinates
};

/// Returns equal faces on all sides.
template <int Dim>
Boundaries<Dim> all_faces(FaceKind kind, int width = 30) {
  Boundaries<Dim> result;
  for (int d = 0; d < Dim; ++d) result.lower[d] = result.upper[d] = Face{kind, width};
  return result;
}

/// Options of extend_model() for random layers.
struct RandomLayerOptions {
  double strength = 0.9;      ///< largest relative reduction of the velocity, at the outer edge
  double floor = 0.0;         ///< lower bound of the reduced velocity, m/s
  std::uint64_t seed = 2011;  ///< seed of the random numbers
};

/// Returns the grid extended by the layers of its faces.
template <int Dim>
Grid<Dim> extended_grid(const Grid<Dim>& grid, const Boundaries<Dim>& boundaries) {
  Grid<Dim> result = grid;
  for (int d = 0; d < Dim; ++d) {
    const int below = boundaries.lower[d].layer(), above = boundaries.upper[d].layer();
    result.extents[d] += below + above;
    result.origin[d] -= below * grid.spacing[d];
  }
  return result;
}

/// Returns the nodes of a grid (with layers) that lie in no layer.
template <int Dim>
Box<Dim> interior_box(const Grid<Dim>& grid, const Boundaries<Dim>& boundaries) {
  Box<Dim> box = whole_box(grid);
  for (int d = 0; d < Dim; ++d) {
    box.lower[d] += boundaries.lower[d].layer();
    box.upper[d] -= boundaries.upper[d].layer();
  }
  return box;
}

/// \brief Returns the factor of a sponge per step, `depth` nodes inside a layer of `width` nodes.
///
/// exp(-1.5 K c / width (depth / width)^2) with K = 0.1 width + 1.5, where c is the number of nodes
/// that a wave travels in a step. A smaller K lets more of the wave return through the layer; a
/// larger K makes the layer itself reflect more. K minimises the reflection of plane waves at 0 to
/// 60 degrees with 8 nodes per wavelength.
inline double sponge_factor(int width, int depth, double courant) {
  const double strength = 1.5 * (0.1 * width + 1.5) * courant / width;
  const double u = static_cast<double>(depth) / width;
  return std::exp(-strength * u * u);
}

/// Largest width of a CPML layer: a team's scratch memory holds lines through the layer.
inline constexpr int largest_cpml_width = 64;

/// Throws InputError unless layers are valid.
///
/// Layers have 1 to 1000 nodes and leave an interior. TTI media admit no CPML.
template <int Dim>
void check_boundaries(const Grid<Dim>& grid, const Boundaries<Dim>& boundaries, Medium medium) {
  for (int d = 0; d < Dim; ++d) {
    for (const Face& face : {boundaries.lower[d], boundaries.upper[d]}) {
      if (face.layered() && (face.width < 1 || face.width > 1000)) {
        throw InputError(concat("boundary: the width of a layer is ", face.width,
                                " (allowed: 1 to 1000 nodes): 20 to 40 are usual"));
      }
      if (face.kind == FaceKind::cpml && face.width > largest_cpml_width) {
        throw InputError(concat("boundary: the width of a CPML is ", face.width, " (allowed: 1 to ",
                                largest_cpml_width, " nodes): 10 to 20 are usual"));
      }
      if (face.kind == FaceKind::cpml && !info(medium).cpml) {
        throw InputError(
            "boundary 'cpml' does not go with TTI (perfectly matched layers grow there when the "
            "symmetry axis is tilted): use sponge");
      }
    }
    const int layers = boundaries.lower[d].layer() + boundaries.upper[d].layer();
    if (grid.extents[d] <= layers) {
      throw InputError(concat("boundary: the layers along ", axis_name<Dim>(d), " take ", layers,
                              " of ", grid.extents[d],
                              " nodes (allowed: fewer than there are): make the grid larger or the "
                              "layers thinner"));
    }
  }
}

/// Range of values.
struct ValueRange {
  double min = 0.0;  ///< smallest value
  double max = 0.0;  ///< largest value
};

/// Range of a model's velocities, and its largest stable time step.
struct Limits {
  double largest_dt = 0.0;    ///< bound of stable time steps, s; smaller steps are stable
  double min_velocity = 0.0;  ///< smallest phase velocity of P waves in any direction, m/s
  double max_velocity = 0.0;  ///< largest phase velocity of P waves in any direction, m/s
  /// Nodes whose delta the self-adjoint equations clamp to epsilon.
  std::int64_t clamped_delta_nodes = 0;
  ValueRange vp = {};             ///< velocities along the symmetry axis, m/s
  ValueRange a = {};              ///< values of 1 + 2 epsilon
  ValueRange b = {};              ///< values of sqrt(1 + 2 delta), with delta clamped to epsilon
  double density_contrast = 1.0;  ///< largest ratio of two densities within a stencil
};

/// Form in which a propagator stores the parameters of a model.
enum class ParameterStorage {
  full,      ///< numbers of the precision of wavefields
  codes,     ///< codes of 16 bits: fewer bytes, and velocities in error by about 2e-5
  automatic  ///< codes where steps on a device gain by them: stores_codes()
};

/// Options of a propagator.
template <int Dim>
struct PropagatorOptions {
  double dt = 0.0;                  ///< time step, s
  int order = 8;                    ///< order of the spatial differences: 2, 4, ..., 16
  Boundaries<Dim> boundaries = {};  ///< faces; the grid includes their layers
  double frequency = 0.0;  ///< highest frequency of the source, Hz; 0: dispersion is not checked
  Equations equations = Equations::self_adjoint;  ///< equations of VTI and TTI media
  double sigma = 0.75;     ///< vsz^2 = vpz^2 |epsilon - delta| / sigma in Fletcher's equations
  bool reference = false;  ///< plain kernels instead of the tuned ones
  /// Form of the parameters; gradients need numbers.
  ParameterStorage parameters = ParameterStorage::full;
  bool one_pass = true;  ///< one-pass kernel for self-adjoint TTI where there is one; two
                         ///< passes give the same bits
};

}  // namespace moho::wave
