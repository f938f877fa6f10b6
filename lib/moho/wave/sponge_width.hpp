// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reflection coefficients of sponges, and recommended widths.

#include <string>

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
/// \param courant nodes that the wave travels in a time step, limited to 0.1 to 0.75 times the
/// cosine of the angle
/// \param strength velocity of the sponge, the mean of the smallest and the largest one of the
/// model, over that of the wave
/// \param dimensions 3: the wave is a Ricker wavelet; 2: its half integral, as waves of a source
/// with this wavelet in 2D, which has more energy at low frequencies
double sponge_reflection(int width, double wavelength, double degrees = 0.0, double courant = 0.5,
                         double strength = 1.0, int dimensions = 3);

/// A sponge of a run, and the wave whose reflection describe() estimates.
struct SpongeWave {
  int width = 0;                 ///< of the narrowest sponge, nodes; 0: no sponge
  double velocity = 0.0;         ///< of the wave, m/s
  double sponge_velocity = 0.0;  ///< mean of the smallest and the largest one of the model, m/s
  double frequency = 0.0;        ///< peak frequency of the wavelet, Hz
  double spacing = 0.0;          ///< smallest, m
  int dimensions = 3;            ///< of the model, 2 or 3
};

/// Returns a sentence about the reflection of a sponge at 0 and 45 degrees. \param dt time step, s
std::string describe(const SpongeWave& wave, double dt);

/// \brief Returns the smallest width that reflects at most 1 % of the amplitude.
///
/// The width, in nodes, is for normal incidence, a multiple of 5 and at most max_sponge_width.
/// \param wavelength nodes per wavelength at the peak frequency
int recommended_sponge_width(double wavelength);

}  // namespace moho::wave
