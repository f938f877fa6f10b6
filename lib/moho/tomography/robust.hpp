// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Robust weights of residuals.

#include <moho/tomography/types.hpp>

#include <vector>

namespace moho::tomography {

/// Returns the scale of residuals, max(1, 1.4826 median |z|), which is 1 for errors that are right.
double robust_scale(const std::vector<double>& z);

/// \brief Returns the weights of residuals z = residual / sigma beyond a limit c.
///
/// Biweight: (1 - (z / c)^2)^2 inside of c and 0 outside. Huber: min(1, c / |z|). Source: Beaton
/// and Tukey (1974), Huber (1964).
std::vector<double> robust_weights(Robust robust, const std::vector<double>& z, double limit);

/// \brief Returns kappa, the mean of w z^2 over that of w for normally distributed z.
///
/// Divided by it, the weighted chi^2 of good data is one.
double robust_kappa(Robust robust, double limit);

}  // namespace moho::tomography
