// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Options of invert_gravity.

#include "app/common_options.hpp"

#include <moho/gravity/types.hpp>
#include <moho/gravity_inversion/inversion.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_gravity {

/// A value for all components, and values of single ones.
struct PerComponent {
  std::optional<double> all;                      ///< of components without another value
  std::map<gravity::Component, double> separate;  ///< of single components

  /// Returns the value of a component, or `otherwise`.
  double of(gravity::Component component, double otherwise) const;
};

/// Kind of the weights of cells.
enum class Weights { depth, sensitivity, none };

/// Position of a ground file's lattice.
struct GroundFile {
  std::string path;                               ///< empty: no topography
  double x0 = 0.0, y0 = 0.0, dx = 0.0, dy = 0.0;  ///< first point and distances, m
};

/// Options of invert_gravity.
struct Options : CommonOptions {
  bool demo = false;                              ///< a dyke, its data and their inversion
  std::string data_file;                          ///< empty: demo
  std::optional<gravity::Components> components;  ///< empty: those of the file's header
  PerComponent errors;                            ///< standard errors, mGal or Eotvos
  PerComponent percent;                           ///< added to the errors, per cent of each value
  PerComponent trend;                             ///< degrees

  std::optional<gravity::RegularMesh> mesh;  ///< the cells; empty: prisms_file
  std::string prisms_file;                   ///< a list of prisms
  GroundFile ground;                         ///< topography
  std::string mask_file;                     ///< cells that vary
  std::string reference, start;              ///< a number or a file
  std::string truth_file;                    ///< true densities, for pictures and the summary

  std::optional<std::pair<std::string, std::string>> bounds;  ///< kg/m^3, or files
  Weights weights = Weights::depth;                           ///< of cells
  std::optional<double> exponent;                 ///< of depth weights; empty: by the components
  gravity_inversion::InversionOptions inversion;  ///< regularisation and search
  gravity::Products products = gravity::Products::automatic;  ///< how products are computed
  double tolerance = 1e-9;                                    ///< of fmm, of the largest value
};

/// Returns the table of the options, bound to them.
Description describe(Options& options);

}  // namespace moho::examples::invert_gravity
