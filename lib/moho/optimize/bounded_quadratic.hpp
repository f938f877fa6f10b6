// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Quadratic functions within bounds, by projected gradients and conjugate gradients.

#include <functional>
#include <vector>

namespace moho::optimize {

/// The function x^T H x - 2 g^T x within lower <= x <= upper; H is symmetric and positive definite.
struct BoundedQuadratic {
  using Vector = std::vector<double>;  ///< a vector of unknowns

  std::function<Vector(const Vector&)> product;  ///< x to H x
  Vector gradient;                               ///< g
  Vector lower;                                  ///< least value of each unknown
  Vector upper;                                  ///< largest value of each unknown
  /// Approximate inverse of H, symmetric and positive definite; may be empty.
  std::function<Vector(const Vector&)> precondition = {};
};

/// Options of minimise_within_bounds().
struct BoundedOptions {
  int products = 1000;      ///< largest number of products by H, about
  double tolerance = 1e-4;  ///< ends where both gain less than this part of all gains
};

/// The result of minimise_within_bounds().
struct BoundedResult {
  std::vector<double> x;  ///< within the bounds
  double value = 0.0;     ///< of the function
  int products = 0;       ///< by H
};

/// \brief Minimises a quadratic function within bounds.
///
/// In turn, steps along the projected gradient find the unknowns at a bound, and conjugate
/// gradients solve for the others; the largest part of their step that decreases the function
/// within the bounds is taken. Source: More and Toraldo (1991). \param problem the function and its
/// bounds \param start first x, which is moved into the bounds \param options when it ends
/// \throws InputError for vectors of different lengths, and bounds that are crossed
BoundedResult minimise_within_bounds(const BoundedQuadratic& problem, std::vector<double> start,
                                     const BoundedOptions& options = {});

}  // namespace moho::optimize
