// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Widths of sponges: what a sponge reflects, and the width that reflects little.

namespace moho::wave {

/// Limits of recommended_sponge_width(), nodes.
constexpr int min_sponge_width = 30,  ///< smallest width
    max_sponge_width = 60;            ///< largest width

/// \brief Returns the part of the amplitude of a plane Ricker wave that a sponge reflects.
///
/// It is computed in one dimension at order 8, in an isotropic medium.
/// \param width of the sponge, nodes
/// \param wavelength nodes in the wavelength at the peak frequency; at least 4, at most 100 are
/// used
/// \param degrees angle of incidence, 0 to 75
double sponge_reflection(int width, double wavelength, double degrees = 0.0);

/// \brief Returns the smallest width, in steps of 5 nodes, that reflects at most 1 % of the
/// amplitude of a wave at normal incidence, limited to max_sponge_width.
/// \param wavelength nodes in the wavelength at the peak frequency
int recommended_sponge_width(double wavelength);

}  // namespace moho::wave
