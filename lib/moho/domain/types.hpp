// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Methods of expanding domains and their options, without kernels.

#include <moho/core/error.hpp>
#include <moho/wave/sinc.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace moho::domain {

/// Method that determines the box of nodes of a step (Suh and Wang 2011).
enum class ExpansionMethod {
  none,      ///< the complete grid
  layers,    ///< arrivals along each axis, from the largest velocity of each plane
  eikonal,   ///< first arrivals by the eikonal equation
  amplitude  ///< amplitude inside the faces of the box
};

/// Returns "none", "layers", "eikonal" or "amplitude".
inline const char* to_string(ExpansionMethod expansion) {
  constexpr const char* names[] = {"none", "layers", "eikonal", "amplitude"};
  return names[static_cast<int>(expansion)];
}

/// Returns the method with a given name. \throws InputError for other names
inline ExpansionMethod parse_expansion(const std::string& name) {
  for (const ExpansionMethod expansion : {ExpansionMethod::none, ExpansionMethod::layers,
                                          ExpansionMethod::eikonal, ExpansionMethod::amplitude}) {
    if (name == to_string(expansion)) return expansion;
  }
  throw InputError(concat("expansion '", name,
                          "' is unknown (allowed: none, layers, eikonal, amplitude): choose one"));
}

/// Options of all methods; each uses some of them.
struct DomainOptions {
  int source_radius = 4;  ///< nodes on either side of a source that take part in its interpolation:
                          ///< PointOptions::radius
  double onset = 0.0;     ///< layers, eikonal: time before which the sources are zero, s (onset())
  double frequency = 0.0;  ///< layers, eikonal: highest frequency of the sources, Hz; 0: the
                           ///< propagator's, or else the highest that its grid can sample
  int margin = 4;  ///< layers, eikonal: nodes ahead of the arrival, in addition to the radius of
                   ///< the differences
  int coarsening = 4;  ///< eikonal: step between the nodes of the coarse grid, which has the
                       ///< largest velocity around each node; 1: the grid itself
  double threshold = 1.0 / 1024;  ///< amplitude: truncation level relative to the largest amplitude
  int inside = 4;  ///< amplitude: smallest number of nodes inside each face below the threshold; at
                   ///< least 0.7 of the propagator's shortest wavelength
  int interval = 8;  ///< amplitude: steps between measurements of the wavefield
};

/// Throws InputError for options out of range.
inline void check_options(const DomainOptions& options) {
  wave::check_sinc_radius(options.source_radius);
  const auto refuse = [](const char* name, auto value, const char* allowed, const char* advice) {
    throw InputError(concat(name, " is ", value, " (allowed: ", allowed, "): ", advice));
  };
  if (!(options.onset >= 0.0) || !std::isfinite(options.onset)) {
    refuse("onset", options.onset, "0 or more seconds", "moho::domain::onset finds it");
  }
  if (!(options.frequency >= 0.0) || !std::isfinite(options.frequency)) {
    refuse("frequency", options.frequency, "0 or more Hz",
           "moho::wave::highest_frequency finds it");
  }
  if (options.margin < 0) refuse("margin", options.margin, "0 or more nodes", "4 is usual");
  if (options.coarsening < 1 || options.coarsening > 64) {
    refuse("coarsening", options.coarsening, "1 to 64", "4 is usual, 1 is the grid itself");
  }
  if (!(options.threshold > 0.0 && options.threshold < 1.0)) {
    refuse("threshold", options.threshold, "between 0 and 1", "1/1024 is usual");
  }
  if (options.inside < 1 || options.inside > 64) {
    refuse("inside", options.inside, "1 to 64 nodes", "4 is usual");
  }
  if (options.interval < 1 || options.interval > 64) {
    refuse("interval", options.interval, "1 to 64 steps", "8 is usual");
  }
}

/// \brief Returns the onset of a wavelet, at least 0.
///
/// It is the time of the last sample before the first one that exceeds `level` times the largest.
/// \throws InputError if dt is not positive or all samples are zero
inline double onset(const std::vector<double>& wavelet, double dt, double level = 1e-5) {
  double max = 0.0;
  for (const double sample : wavelet) max = std::max(max, std::fabs(sample));
  if (!(max > 0.0) || !(dt > 0.0)) {
    throw InputError(concat("onset: dt is ", dt, " s, the largest sample ", max,
                            " (allowed: positive numbers): give the wavelet that is injected"));
  }
  std::size_t first = 0;
  while (!(std::fabs(wavelet[first]) > level * max)) ++first;
  return first == 0 ? 0.0 : static_cast<double>(first - 1) * dt;
}

}  // namespace moho::domain
