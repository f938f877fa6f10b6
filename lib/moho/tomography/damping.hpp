// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The choice of the damping lambda = 1 / standard deviation of ln slowness.

#include <moho/optimize/bidiagonal.hpp>
#include <moho/tomography/types.hpp>

#include <cstdint>
#include <vector>

namespace moho::tomography {

/// What the choice of a damping depends on.
struct DampingRequest {
  DampingRule rule = DampingRule::target;  ///< how lambda is chosen
  double fixed = 0.0;                      ///< lambda of DampingRule::fixed
  double data = 0.0;                       ///< sum of weights times kappa: misfit over it is chi^2
  double chi2 = 0.0;                       ///< at present
  double target = 1.0;                     ///< chi^2 to reach
  double lowest = 2.0;                     ///< least lambda, 1 / largest deviation
};

/// Returns the chi^2 that the next step aims at, max(target, 0.3 chi2).
double goal_of(const DampingRequest& request);

/// \brief Returns the damping of the next step.
///
/// By target it is the largest lambda whose predicted chi^2 is at most max(target, 0.3 chi2): a
/// step reduces chi^2 to 0.3 of its value at most. By gcv it is the lambda of the least
/// N chi^2 / (N - dof)^2. It is never below `lowest`.
double choose_damping(const optimize::Bidiagonal& matrix, const DampingRequest& request);

/// \brief Returns the largest number of steps of a bidiagonalisation: `krylov`, and by gcv up to
/// eight times as many.
///
/// The degrees of freedom of a basis are at most its vectors. Vectors beyond `krylov` are limited
/// to a GiB. \param krylov Options::krylov \param rows,columns numbers of picks and unknowns
int max_steps(int krylov, DampingRule rule, std::int64_t rows, std::int64_t columns);

/// A point of the curve of chi^2 over lambda.
struct DampingPoint {
  double lambda = 0.0;  ///< damping
  double chi2 = 0.0;    ///< predicted
  double norm = 0.0;    ///< |w|
  double dof = 0.0;     ///< degrees of freedom
  double gcv = 0.0;     ///< N chi^2 / (N - dof)^2
};

/// Returns the curve over lambdas from 0.01 to 100 times the chosen one.
std::vector<DampingPoint> damping_curve(const optimize::Bidiagonal& matrix, double data,
                                        double lambda);

}  // namespace moho::tomography
