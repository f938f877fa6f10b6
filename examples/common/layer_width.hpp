// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How wide an absorbing layer has to be: what comes back from a sponge.

#include <string>

namespace moho::examples {

/// Widths of the sponge that a program chooses itself, in nodes.
constexpr int least_usual_sponge = 30, most_usual_sponge = 60;

/// \brief The part of the amplitude of a plane Ricker wave that comes back from a sponge, by
/// computing it in one dimension at order 8, in an isotropic medium.
/// \param width of the sponge, nodes
/// \param wave nodes in the wavelength at the peak frequency; beyond 100 it is taken as 100
/// \param degrees from 0, a wave that meets the sponge head on, to 75
double sponge_return(int width, double wave, double degrees = 0.0);

/// The least width, in steps of 5 nodes, from which no more than 1 % comes back, as far as
/// most_usual_sponge.
int usual_sponge(double wave);

/// The frequency of the largest amplitude in the spectrum of a wavelet, Hz: of a Ricker wavelet its
/// own, of others that of one as broad. \throws InputError, FileError as wavelets do
double peak_frequency(const std::string& wavelet);

/// What a sponge of this width leaves of a wave, in words.
/// \param velocity m/s \param frequency Hz \param spacing m
std::string describe_sponge(int width, double velocity, double frequency, double spacing);

}  // namespace moho::examples
