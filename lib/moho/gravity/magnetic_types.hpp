// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Components and ambient field of magnetic forward modelling.
///
/// Axes are those of gravity: x north, y east, **z down**. The field is that of the magnetised
/// prisms alone (the anomaly), in nT. Magnetisation is in A/m, susceptibility in SI units.

#include <moho/core/kokkos.hpp>

#include <string_view>
#include <vector>

namespace moho::gravity {

/// Components of the anomaly: its projection on the ambient field, and along x, y and z (nT).
enum class MagneticComponent { total, bx, by, bz };

/// Number of magnetic components.
inline constexpr int magnetic_component_count = 4;

/// Returns the name of a component for command lines and file names, e.g. "total".
inline const char* to_string(MagneticComponent component) {
  constexpr const char* names[] = {"total", "bx", "by", "bz"};
  return names[static_cast<int>(component)];
}

/// A list of distinct components in the order of the results.
using MagneticComponents = std::vector<MagneticComponent>;

/// Returns total, bx, by and bz.
inline MagneticComponents all_magnetic_components() {
  MagneticComponents all;
  for (int c = 0; c < magnetic_component_count; ++c) {
    all.push_back(static_cast<MagneticComponent>(c));
  }
  return all;
}

/// Returns components from their names, e.g. "total,bz", or "all" for all four.
/// \throws InputError for an unknown name (the message lists the valid ones), an empty list or a
///         name given twice
MagneticComponents parse_magnetic_components(std::string_view names);

/// The ambient field, as a geomagnetic reference field gives it for the survey.
struct AmbientField {
  double intensity = 0.0;    ///< nT, positive
  double inclination = 0.0;  ///< degrees below the horizontal plane, -90 to 90
  double declination = 0.0;  ///< degrees from x towards y (from north to east), -360 to 360
};

/// Returns the ambient field of a text "F,I,D" with nT and degrees.
/// \throws InputError for another text or values out of range
AmbientField parse_ambient_field(std::string_view text);

/// \brief Checks the angles of a field or a magnetisation.
/// \param argument first word of the text of errors
/// \param inclination,declination degrees as in AmbientField
/// \throws InputError for angles out of range
void check_direction(std::string_view argument, double inclination, double declination);

/// Returns the unit vector (cos I cos D, cos I sin D, sin I) of angles in degrees.
Kokkos::Array<double, 3> direction_of(double inclination, double declination);

/// Returns the magnetisation of susceptibility 1 in an ambient field, A/m: F / mu0 along its
/// direction. mu0 is 4e-7 pi.
Kokkos::Array<double, 3> unit_magnetisation(const AmbientField& ambient);

/// Smallest susceptibility (exclusive), SI units.
inline constexpr double min_susceptibility = -1.0;
/// Largest susceptibility (inclusive), SI units.
inline constexpr double max_susceptibility = 1e5;
/// Largest component of a remanent magnetisation, A/m.
inline constexpr double max_magnetisation = 1e9;

}  // namespace moho::gravity
