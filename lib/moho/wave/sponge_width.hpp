// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reflection coefficients of sponges, and recommended widths.

namespace moho::wave {

/// Limits of recommended_sponge_width(), nodes.
constexpr int min_sponge_width = 30,  ///< smallest width
    max_sponge_width = 60;            ///< largest width

/// \brief Returns the amplitude reflection coefficient of a sponge for a plane Ricker wave.
///
/// The function models one dimension at order 8, in an isotropic medium.
/// \param width width of the sponge, nodes
/// \param wavelength nodes per wavelength at the peak frequency, limited to 4 to 100
/// \param degrees angle of incidence, 0 to 75
double sponge_reflection(int width, double wavelength, double degrees = 0.0);

/// \brief Returns the smallest width that reflects at most 1 % of the amplitude.
///
/// The width, in nodes, is for normal incidence, a multiple of 5 and at most max_sponge_width.
/// \param wavelength nodes per wavelength at the peak frequency
int recommended_sponge_width(double wavelength);

}  // namespace moho::wave
