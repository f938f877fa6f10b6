// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Boundary layers of a grid, and models extended by them.

#include <moho/core/instances.hpp>
#include <moho/wave/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::wave {

namespace detail {
/// Returns a hash of 64 bits (the finaliser of SplitMix64).
KOKKOS_INLINE_FUNCTION std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Functor that copies the values of the nearest node of the model.
template <class T, int Dim>
struct Extend {
  const T* from;
  T* to;
  Grid<Dim> grid, extended;
  Index<Dim> shift;
  std::int64_t first;  ///< node of the extended grid that is first in `to`
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = extended.node(first + i);
    std::int64_t source = 0;
    for (int d = 0; d < Dim; ++d) {
      std::int64_t k = node[d] - shift[d];
      if (k < 0) k = 0;
      if (k >= grid.extents[d]) k = grid.extents[d] - 1;
      source = source * grid.extents[d] + k;
    }
    to[i] = from[source];
  }
};

/// Functor that randomises the velocity in layers; the random part grows towards the outer edge.
template <class T, int Dim>
struct Randomise {
  T* vp;
  std::int64_t first;  ///< node of the grid that is first in `vp`
  Grid<Dim> grid;
  int lower[Dim], upper[Dim];  ///< widths of random layers; 0 elsewhere
  double strength, floor;
  std::uint64_t seed;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t i = first + n;
    const Index<Dim> node = grid.node(i);
    double depth = 0.0;
    for (int d = 0; d < Dim; ++d) {
      if (node[d] < lower[d]) {
        const double inside = static_cast<double>(lower[d] - node[d]) / lower[d];
        if (inside > depth) depth = inside;
      }
      const std::int64_t beyond = node[d] - (grid.extents[d] - 1 - upper[d]);
      if (beyond > 0 && upper[d] > 0) {
        const double inside = static_cast<double>(beyond) / upper[d];
        if (inside > depth) depth = inside;
      }
    }
    if (depth == 0.0) return;
    const double chance =
        static_cast<double>(mix(seed ^ mix(static_cast<std::uint64_t>(i))) >> 11) * 0x1.0p-53;
    const double value = static_cast<double>(vp[n]);
    const double slower = value * (1.0 - strength * depth * chance);
    // not below `floor`, the lowest velocity that the grid samples well
    vp[n] = static_cast<T>(slower > floor ? slower : (value < floor ? value : floor));
  }
};
}  // namespace detail

/// \brief Returns planes of a field extended to extended_grid() by the value of the nearest node.
/// \throws InputError for a field of another shape, or planes outside the extended grid
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> extend_field(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   const Field<T, Dim, Memory>& field,
                                   const Boundaries<Dim>& boundaries, const PlaneRange& planes);

/// \brief Lowers the velocity in random layers, in some planes of the extended grid.
/// \see extend_model()
template <class T, int Dim, class Memory>
void randomise_layers(const Instance<Memory>& exec, const Grid<Dim>& extended,
                      const Boundaries<Dim>& boundaries, const RandomLayerOptions& options,
                      const PlaneRange& planes, const Field<T, Dim, Memory>& vp);

/// \brief Returns planes of the model extended to extended_grid() by the value of the nearest node.
///
/// In random layers (Clapp 2009) the velocity is lowered by a random part that grows towards the
/// outer edge. It is never raised, so that the largest stable time step does not change. The random
/// numbers depend on seed and node alone, not on the requested planes. Such a boundary conserves
/// energy, so that the wavefield can be propagated backwards. Its reflections are incoherent.
/// \throws InputError as extend_field() does
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> extend_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                   const Model<T, Dim, Memory>& model,
                                   const Boundaries<Dim>& boundaries,
                                   const RandomLayerOptions& options, const PlaneRange& planes);

/// Returns the complete model extended to extended_grid().
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> extend_model(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                   const Model<T, Dim, Memory>& model,
                                   const Boundaries<Dim>& boundaries,
                                   const RandomLayerOptions& options = {}) {
  return extend_model<T, Dim, Memory>(exec, grid, model, boundaries, options,
                                      all_planes(extended_grid(grid, boundaries)));
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> extend_field(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   const Field<T, Dim, Memory>& field,
                                   const Boundaries<Dim>& boundaries, const PlaneRange& planes) {
  const Grid<Dim> extended = extended_grid(grid, boundaries);
  check_shape(grid, field, "field");
  if (planes.empty() || !(intersection(planes, all_planes(extended)) == planes)) {
    throw InputError(concat("planes ", planes.begin, " to ", planes.end - 1,
                            " are not in the grid (allowed: 0 to ", extended.extents[0] - 1,
                            "): ask for planes of the grid with its layers"));
  }
  Grid<Dim> part = extended;
  part.extents[0] = planes.count();
  auto result = make_field<T>(exec, part, field.label());
  const std::int64_t first = planes.begin * (part.size() / part.extents[0]);
  detail::Extend<T, Dim> functor{field.data(), result.data(), grid, extended, {}, first};
  for (int d = 0; d < Dim; ++d) functor.shift[d] = boundaries.lower[d].layer();
  launch("moho::wave::extend", exec, part.size(), functor);
  return result;
}

template <class T, int Dim, class Memory>
void randomise_layers(const Instance<Memory>& exec, const Grid<Dim>& extended,
                      const Boundaries<Dim>& boundaries, const RandomLayerOptions& options,
                      const PlaneRange& planes, const Field<T, Dim, Memory>& vp) {
  const std::int64_t plane = extended.size() / extended.extents[0];
  detail::Randomise<T, Dim> random{};
  random.vp = vp.data();
  random.first = planes.begin * plane;
  random.grid = extended;
  random.strength = options.strength;
  random.floor = options.floor;
  random.seed = options.seed;
  bool any = false;
  for (int d = 0; d < Dim; ++d) {
    const auto width = [&](const Face& face) {
      return face.kind == FaceKind::random ? face.width : 0;
    };
    random.lower[d] = width(boundaries.lower[d]);
    random.upper[d] = width(boundaries.upper[d]);
    any = any || random.lower[d] > 0 || random.upper[d] > 0;
  }
  if (any) launch("moho::wave::randomise", exec, planes.count() * plane, random);
}

template <class T, int Dim, class Memory>
Model<T, Dim, Memory> extend_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                   const Model<T, Dim, Memory>& model,
                                   const Boundaries<Dim>& boundaries,
                                   const RandomLayerOptions& options, const PlaneRange& planes) {
  Model<T, Dim, Memory> result;
  const auto extend = [&](const Field<T, Dim, Memory>& from, Field<T, Dim, Memory>& to) {
    if (from.data() == nullptr) return;
    to = extend_field<T, Dim, Memory>(instance, grid, from, boundaries, planes);
  };
  for (const ParameterInfo& row : parameters) {
    extend(model.field(row.parameter), result.field(row.parameter));
  }
  randomise_layers<T, Dim, Memory>(instance, extended_grid(grid, boundaries), boundaries, options,
                                   planes, result.vp);
  return result;
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_EXTEND_MODEL(prefix, T, Dim, Memory)                         \
  prefix Model<T, Dim, Memory> extend_model<T, Dim, Memory>(                   \
      const Instance<Memory>&, const Grid<Dim>&, const Model<T, Dim, Memory>&, \
      const Boundaries<Dim>&, const RandomLayerOptions&, const PlaneRange&);
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, extend_field)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, randomise_layers)
MOHO_FOR_ALL(MOHO_WAVE_EXTEND_MODEL, extern template)
}  // namespace moho::wave
#endif
/// \endcond
