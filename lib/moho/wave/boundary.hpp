// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the faces of a grid do to waves, and models extended by absorbing layers.

#include <moho/wave/media.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::wave {

/// What a face of the grid does to waves.
enum class FaceKind {
  rigid,         ///< nothing: the field is zero outside, and waves come back with the sign reversed
  sponge,        ///< a layer that damps every step
  cpml,          ///< a convolutional perfectly matched layer (not for TTI)
  free_surface,  ///< the field is zero on the face and odd about it
  random         ///< a layer of random velocities that scatters what comes back; nothing is lost
};

/// "rigid", "sponge", "cpml", "free", "random".
inline const char* to_string(FaceKind kind) {
  constexpr const char* names[] = {"rigid", "sponge", "cpml", "free", "random"};
  return names[static_cast<int>(kind)];
}

/// A kind of face by its name. \throws InputError
inline FaceKind parse_face_kind(const std::string& name) {
  for (const FaceKind kind : {FaceKind::rigid, FaceKind::sponge, FaceKind::cpml,
                              FaceKind::free_surface, FaceKind::random}) {
    if (name == to_string(kind)) return kind;
  }
  throw InputError(concat("boundary '", name,
                          "' is unknown (allowed: rigid, sponge, cpml, free, random): choose one"));
}

/// A face of the grid.
struct Face {
  FaceKind kind = FaceKind::sponge;  ///< what it does to waves
  int width = 30;  ///< nodes of the layer; without meaning for rigid and free_surface

  /// True for the kinds that need a layer of nodes.
  bool layered() const { return kind != FaceKind::rigid && kind != FaceKind::free_surface; }
  /// Nodes of the layer, zero if there is none.
  int layer() const { return layered() ? width : 0; }
};

/// The faces of a grid: the lower and the upper one along each axis. lower[Dim - 1] is the top.
template <int Dim>
struct Boundaries {
  Face lower[Dim];  ///< where coordinates are least
  Face upper[Dim];  ///< where they are greatest
};

/// All faces the same.
template <int Dim>
Boundaries<Dim> all_faces(FaceKind kind, int width = 30) {
  Boundaries<Dim> result;
  for (int d = 0; d < Dim; ++d) result.lower[d] = result.upper[d] = Face{kind, width};
  return result;
}

/// The grid with the layers of its faces outside.
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

/// The nodes of a grid (with layers) that are in no layer.
template <int Dim>
Box<Dim> interior_box(const Grid<Dim>& grid, const Boundaries<Dim>& boundaries) {
  Box<Dim> box = whole_box(grid);
  for (int d = 0; d < Dim; ++d) {
    box.lower[d] += boundaries.lower[d].layer();
    box.upper[d] -= boundaries.upper[d].layer();
  }
  return box;
}

namespace detail {
/// A well-mixed number of 64 bits from another (the finaliser of SplitMix64).
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Takes the values of the nearest node of the model.
template <class T, int Dim, class Exec>
struct Extend {
  Field<const T, Dim, Exec> from;
  Field<T, Dim, Exec> to;
  Grid<Dim> grid, extended;
  Index<Dim> shift;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = extended.node(i);
    std::int64_t source = 0;
    for (int d = 0; d < Dim; ++d) {
      std::int64_t k = node[d] - shift[d];
      if (k < 0) k = 0;
      if (k >= grid.extents[d]) k = grid.extents[d] - 1;
      source = source * grid.extents[d] + k;
    }
    to.data()[i] = from.data()[source];
  }
};

/// Makes the velocity random in layers, the more the deeper inside.
template <class T, int Dim, class Exec>
struct Randomise {
  Field<T, Dim, Exec> vp;
  Grid<Dim> grid;
  int lower[Dim], upper[Dim];  ///< widths of random layers, 0 elsewhere
  double strength, floor;
  std::uint64_t seed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = grid.node(i);
    double depth = 0.0;
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < lower[d]) {
        const double inside = static_cast<double>(lower[d] - node[d]) / lower[d];
        if (inside > depth) depth = inside;
      }
      const std::int64_t behind = node[d] - (grid.extents[d] - 1 - upper[d]);
      if (behind > 0 && upper[d] > 0) {
        const double inside = static_cast<double>(behind) / upper[d];
        if (inside > depth) depth = inside;
      }
    }
    if (depth == 0.0) return;
    const double chance =
        static_cast<double>(mix(seed ^ mix(static_cast<std::uint64_t>(i))) >> 11) * 0x1.0p-53;
    const double value = static_cast<double>(vp.data()[i]);
    const double slower = value * (1.0 - strength * depth * chance);
    // never slower than what the grid can carry
    vp.data()[i] = static_cast<T>(slower > floor ? slower : (value < floor ? value : floor));
  }
};
}  // namespace detail

/// The field extended to extended_grid(), by the value of the nearest node of the grid.
template <class T, int Dim, class Exec>
Field<T, Dim, Exec> extend_field(const Exec& exec, const Grid<Dim>& grid,
                                 const Field<T, Dim, Exec>& field,
                                 const Boundaries<Dim>& boundaries) {
  const Grid<Dim> extended = extended_grid(grid, boundaries);
  check_shape(grid, field, "field");
  auto result = make_field<T>(exec, extended, field.label());
  detail::Extend<T, Dim, Exec> functor{field, result, grid, extended, {}};
  for (int d = 0; d < Dim; ++d) functor.shift[d] = boundaries.lower[d].layer();
  Kokkos::parallel_for(
      "moho::wave::extend",
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, extended.size()),
      functor);
  return result;
}

/// Options of extend_model().
struct RandomLayerOptions {
  double strength = 0.9;  ///< the velocity is reduced by up to this part of it at the outer edge
  double floor = 0.0;     ///< but not below this velocity, m/s
  std::uint64_t seed = 2011;  ///< another seed, another layer
};

/// \brief The model extended to extended_grid(): layers take the values of the nearest node.
///
/// In random layers the velocity is lowered by a random part that grows with depth inside; never
/// raised, so that the largest stable time step stays. The numbers depend on the seed and the node
/// alone (Clapp 2009: a boundary that keeps the energy, so that a wavefield can be run backwards,
/// and makes what comes back incoherent).
template <class T, int Dim, class Exec>
Model<T, Dim, Exec> extend_model(const Exec& exec, const Grid<Dim>& grid,
                                 const Model<T, Dim, Exec>& model,
                                 const Boundaries<Dim>& boundaries,
                                 const RandomLayerOptions& options = {}) {
  Model<T, Dim, Exec> result;
  const auto extend = [&](const Field<T, Dim, Exec>& from, Field<T, Dim, Exec>& to) {
    if (from.data() != nullptr) to = extend_field<T, Dim, Exec>(exec, grid, from, boundaries);
  };
  extend(model.vp, result.vp);
  extend(model.density, result.density);
  extend(model.epsilon, result.epsilon);
  extend(model.delta, result.delta);
  extend(model.theta, result.theta);
  extend(model.phi, result.phi);
  const Grid<Dim> extended = extended_grid(grid, boundaries);
  detail::Randomise<T, Dim, Exec> random{result.vp,        extended,      {},          {},
                                         options.strength, options.floor, options.seed};
  bool any = false;
  for (int d = 0; d < Dim; ++d) {
    const auto width = [&](const Face& face) {
      return face.kind == FaceKind::random ? face.width : 0;
    };
    random.lower[d] = width(boundaries.lower[d]);
    random.upper[d] = width(boundaries.upper[d]);
    any = any || random.lower[d] > 0 || random.upper[d] > 0;
  }
  if (any) {
    Kokkos::parallel_for(
        "moho::wave::randomise",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, extended.size()),
        random);
  }
  return result;
}

/// \brief The factor of a sponge per step, `depth` nodes inside a layer of `width` nodes.
///
/// exp(-1.5 K c / width (depth / width)^2) with K = 0.1 width + 1.5, c being the nodes that a wave
/// runs in a step. K balances what comes through (too weak) against what the layer itself reflects
/// (too strong): from plane waves at 0 to 60 degrees, with 8 nodes per wavelength.
inline double sponge_factor(int width, int depth, double courant) {
  const double strength = 1.5 * (0.1 * width + 1.5) * courant / width;
  const double u = static_cast<double>(depth) / width;
  return std::exp(-strength * u * u);
}

/// A team's scratch holds the layer across.
inline constexpr int largest_cpml_width = 64;

/// Throws InputError unless layers have 1 to 1000 nodes, leave an interior, and CPML is not asked
/// for in TTI media.
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
      if (face.kind == FaceKind::cpml && medium == Medium::tti) {
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

}  // namespace moho::wave
