// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Migration apertures: the window of a shot in the model, and the sum of window images.

#include <moho/core/box.hpp>
#include <moho/core/field.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/geometry.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::survey {

/// Aperture of a shot and taper of its image.
struct ApertureOptions {
  std::vector<double> aperture;  ///< metres beyond sources and receivers along x, or x and y. One
                                 ///< number in 3D applies to both axes; empty: the complete model
  double taper = 0.0;            ///< length of the cosine taper at truncated sides, m
};

/// \brief Parses an aperture: "2000" or, in 3D, "2000,1500", in m; "all" is the complete model.
/// \throws InputError with the allowed forms
inline std::vector<double> parse_aperture(const std::string& text) {
  std::vector<double> aperture;
  if (text::trim(text) == "all") return aperture;
  for (const std::string& piece : text::split(text, ',')) {
    const auto value = text::to_number(piece);
    if (!value || *value < 0.0 || aperture.size() == 2) {
      throw InputError(concat("aperture '", text,
                              "' is none (allowed: \"2000\" or, in three dimensions, "
                              "\"2000,1500\", metres that are not negative along x and y; "
                              "\"all\" for the whole model)"));
    }
    aperture.push_back(*value);
  }
  return aperture;
}

/// Part of the model grid in which a shot is migrated; it contains all depths.
template <int Dim>
struct ShotWindow {
  Box<Dim> box;                    ///< nodes of the window in the model
  Grid<Dim> grid;                  ///< grid of the nodes in `box`
  bool truncated_lower[Dim] = {};  ///< true for axes where the window begins after the model
  bool truncated_upper[Dim] = {};  ///< true for axes where the window ends before the model

  /// True if the window is the complete model.
  bool whole() const {
    for (int d = 0; d < Dim; ++d) {
      if (truncated_lower[d] || truncated_upper[d]) return false;
    }
    return true;
  }
};

/// \brief Returns the window of a box. \throws InputError for an empty box or one outside the grid
template <int Dim>
ShotWindow<Dim> window_of(const Grid<Dim>& grid, const Box<Dim>& box) {
  if (box.empty() || !(intersection(box, whole_box(grid)) == box)) {
    throw InputError(concat("window: its nodes are ", box_string(box), " (allowed: some of ",
                            box_string(whole_box(grid)), ", those of the model)"));
  }
  ShotWindow<Dim> window;
  window.box = box;
  window.grid = grid;
  window.grid.origin = grid.position(box.lower);
  for (int d = 0; d < Dim; ++d) {
    window.grid.extents[d] = box.extent(d);
    window.truncated_lower[d] = box.lower[d] > 0;
    window.truncated_upper[d] = box.upper[d] < grid.extents[d];
  }
  return window;
}

/// \brief Returns the window of a shot, truncated at the boundaries of the model.
///
/// Horizontally the window is the bounding box of sources and receivers, enlarged by the aperture
/// and rounded outwards to nodes.
/// \param grid of the model
/// \param shot with one or more sources and receivers
/// \param options aperture; the taper is ignored
/// \throws InputError for an aperture that is negative or not finite, for more numbers than
/// horizontal axes, and for positions outside the model
template <int Dim>
ShotWindow<Dim> shot_window(const Grid<Dim>& grid, const wave::Shot<Dim>& shot,
                            const ApertureOptions& options) {
  grid.check();
  const std::vector<double>& aperture = options.aperture;
  if (aperture.size() >= static_cast<std::size_t>(Dim)) {
    throw InputError(concat("aperture has ", aperture.size(), " numbers (allowed: up to ", Dim - 1,
                            ", one for each horizontal axis of the model)"));
  }
  for (const double metres : aperture) {
    if (metres >= 0.0 && std::isfinite(metres)) continue;
    throw InputError(concat("aperture is ", metres,
                            " m (allowed: 0 or more): give the distance beyond sources and "
                            "receivers"));
  }
  const std::string name = concat("shot ", shot.number);
  check_positions<Dim>(grid, shot.sources, name + ": source");
  check_positions<Dim>(grid, shot.receivers, name + ": receiver");
  if (shot.sources.empty() || shot.receivers.empty()) {
    throw InputError(concat(name, ": it has no ", shot.sources.empty() ? "source" : "receiver",
                            " (allowed: 1 or more)"));
  }
  Box<Dim> box = whole_box(grid);
  for (int d = 0; d < Dim - 1 && !aperture.empty(); ++d) {
    double min = shot.sources.front()[d], max = min;
    for (const Points<Dim>* points : {&shot.sources, &shot.receivers}) {
      for (const Point<Dim>& p : *points) {
        min = std::min(min, p[d]);
        max = std::max(max, p[d]);
      }
    }
    const double beyond = aperture[std::min(aperture.size() - 1, static_cast<std::size_t>(d))];
    // tolerance 1e-6 of the spacing: rounding errors do not add a node
    const auto node = [&](double position) {
      const double q = (position - grid.origin[d]) / grid.spacing[d];
      return std::clamp(q, -1.0, static_cast<double>(grid.extents[d]));
    };
    const auto lower = static_cast<std::int64_t>(std::floor(node(min - beyond) + 1e-6));
    const auto upper = static_cast<std::int64_t>(std::ceil(node(max + beyond) - 1e-6)) + 1;
    box.lower[d] = std::max<std::int64_t>(lower, 0);
    box.upper[d] = std::min(upper, grid.extents[d]);
  }
  return window_of(grid, box);
}

/// Weights of the planes of a window along each axis.
template <int Dim>
using WindowWeights = std::array<std::vector<double>, static_cast<std::size_t>(Dim)>;

/// \brief Returns the taper weights of a window: one weight per plane and axis.
///
/// Weights are 1 inside, with a cosine taper to zero over `taper` metres at truncated sides. The
/// weight of a node is the product over the axes.
/// \throws InputError for a taper that is negative or not finite
template <int Dim>
WindowWeights<Dim> window_weights(const ShotWindow<Dim>& window, double taper) {
  if (!(taper >= 0.0) || !std::isfinite(taper)) {
    throw InputError(concat("taper is ", taper, " m (allowed: 0 or more)"));
  }
  constexpr double pi = 3.14159265358979323846;
  WindowWeights<Dim> weights;
  for (int d = 0; d < Dim; ++d) {
    const std::int64_t count = window.grid.extents[d];
    std::vector<double>& weight = weights[static_cast<std::size_t>(d)];
    weight.assign(static_cast<std::size_t>(count), 1.0);
    for (std::int64_t k = 0; k < count && taper > 0.0; ++k) {
      for (const bool lower : {true, false}) {
        if (!(lower ? window.truncated_lower[d] : window.truncated_upper[d])) continue;
        const double away = static_cast<double>(lower ? k : count - 1 - k) * window.grid.spacing[d];
        if (away < taper) {
          weight[static_cast<std::size_t>(k)] *= 0.5 - 0.5 * std::cos(pi * away / taper);
        }
      }
    }
  }
  return weights;
}

/// \brief Copies the nodes of a window from values of the model.
///
/// Both arrays are on the host, in the order of their grids.
/// \param grid of the model
/// \param window of a shot
/// \param from grid.size() values
/// \param to window.grid.size() values
template <int Dim, class T>
void copy_window(const Grid<Dim>& grid, const ShotWindow<Dim>& window, const T* from, T* to) {
  const std::int64_t length = window.box.extent(Dim - 1), rows = window.box.size() / length;
  for (std::int64_t row = 0; row < rows; ++row) {
    const T* const begin = from + grid.flat(window.box.node(row * length));
    std::copy(begin, begin + length, to + row * length);
  }
}

/// Returns a contiguous copy of the part of a host field in a window.
/// An empty field results in an empty field.
/// \throws InputError unless the field has the shape of the grid
template <int Dim, class FieldType>
FieldType window_field(const Grid<Dim>& grid, const ShotWindow<Dim>& window,
                       const FieldType& field) {
  using T = typename FieldType::non_const_value_type;
  static_assert(is_host_memory<typename FieldType::memory_space>, "fields of the host");
  if (field.size() == 0) return {};
  check_shape(grid, field, "field");
  Field<T, Dim, Kokkos::HostSpace> part;
  if constexpr (Dim == 2) {
    part = Field<T, Dim, Kokkos::HostSpace>(
        Kokkos::view_alloc(field.label(), Kokkos::WithoutInitializing), window.grid.extents[0],
        window.grid.extents[1]);
  } else {
    part = Field<T, Dim, Kokkos::HostSpace>(
        Kokkos::view_alloc(field.label(), Kokkos::WithoutInitializing), window.grid.extents[0],
        window.grid.extents[1], window.grid.extents[2]);
  }
  copy_window(grid, window, static_cast<const T*>(field.data()), part.data());
  return part;
}

/// \brief Adds tapered values of a window to values of the model, both on the host.
/// \param grid of the model
/// \param window of the shot
/// \param weights result of window_weights()
/// \param from window.grid.size() values
/// \param to grid.size() values; T and Sum may differ in precision
template <int Dim, class T, class Sum>
void add_window(const Grid<Dim>& grid, const ShotWindow<Dim>& window,
                const std::type_identity_t<WindowWeights<Dim>>& weights, const T* from, Sum* to) {
  const std::int64_t length = window.box.extent(Dim - 1), rows = window.box.size() / length;
  const std::vector<double>& along = weights[Dim - 1];
  for (std::int64_t row = 0; row < rows; ++row) {
    const Index<Dim> node = window.box.node(row * length);
    double weight = 1.0;
    for (int d = 0; d < Dim - 1; ++d) {
      weight *= weights[static_cast<std::size_t>(d)]
                       [static_cast<std::size_t>(node[d] - window.box.lower[d])];
    }
    Sum* const sums = to + grid.flat(node);
    for (std::int64_t k = 0; k < length; ++k) {
      const double value = static_cast<double>(from[row * length + k]);
      sums[k] += static_cast<Sum>(weight * along[static_cast<std::size_t>(k)] * value);
    }
  }
}

}  // namespace moho::survey
