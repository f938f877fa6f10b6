// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the methods of expanding domains share: options, the box around the sources, the
/// count of what they save and cost.

#include <moho/wave/modelling.hpp>
#include <moho/wave/points.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::rtm {

/// How the box of nodes that a step advances is found (Suh and Wang 2011).
enum class Expansion {
  none,      ///< the grid whole
  layers,    ///< arrivals along each axis through the fastest wave of each plane
  eikonal,   ///< first arrivals by the eikonal equation
  amplitude  ///< the amplitude in front of the faces of the box
};

/// "none", "layers", "eikonal", "amplitude".
inline const char* to_string(Expansion expansion) {
  constexpr const char* names[] = {"none", "layers", "eikonal", "amplitude"};
  return names[static_cast<int>(expansion)];
}

/// A method by its name. \throws InputError
inline Expansion parse_expansion(const std::string& name) {
  for (const Expansion expansion :
       {Expansion::none, Expansion::layers, Expansion::eikonal, Expansion::amplitude}) {
    if (name == to_string(expansion)) return expansion;
  }
  throw InputError(concat("expansion '", name,
                          "' is unknown (allowed: none, layers, eikonal, amplitude): choose one"));
}

/// Options of all methods; each looks at those that it knows.
struct DomainOptions {
  int source_radius = 4;  ///< nodes on either side that share in a source: PointOptions::radius
  double onset = 0.0;     ///< layers, eikonal: the sources are silent before this time, s (onset())
  double frequency = 0.0;  ///< layers, eikonal: highest frequency of the sources, Hz; 0: the
                           ///< propagator's, or else the highest that its grid carries
  int margin = 4;          ///< layers, eikonal: nodes ahead of the arrival, besides the radius of
                           ///< the differences
  int coarsening = 4;      ///< eikonal: solved on every so many-th node, with the largest velocity
                           ///< around; 1: on the grid itself
  double threshold = 1.0 / 1024;  ///< amplitude: of the largest amplitude, what is not cut
  int inside = 4;    ///< amplitude: nodes inside each face that stay below the threshold, at least;
                     ///< 0.7 of the propagator's shortest wave if that is more
  int interval = 8;  ///< amplitude: steps from one look at the wavefield to the next
};

/// Throws InputError for options out of range.
inline void check_options(const DomainOptions& options) {
  wave::check_sinc_radius(options.source_radius);
  const auto refuse = [](const char* name, auto value, const char* allowed, const char* advice) {
    throw InputError(concat(name, " is ", value, " (allowed: ", allowed, "): ", advice));
  };
  if (!(options.onset >= 0.0) || !std::isfinite(options.onset)) {
    refuse("onset", options.onset, "0 or more seconds", "moho::rtm::onset finds it");
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

/// \brief When a wavelet begins: the time of the last sample before the first one that exceeds
/// `level` times the largest, never negative.
/// \throws InputError if dt is not positive or all samples are zero
inline double onset(const std::vector<double>& wavelet, double dt, double level = 1e-5) {
  double greatest = 0.0;
  for (const double sample : wavelet) greatest = std::max(greatest, std::fabs(sample));
  if (!(greatest > 0.0) || !(dt > 0.0)) {
    throw InputError(concat("onset: dt is ", dt, " s, the largest sample ", greatest,
                            " (allowed: positive numbers): give the wavelet that is injected"));
  }
  std::size_t first = 0;
  while (!(std::fabs(wavelet[first]) > level * greatest)) ++first;
  return first == 0 ? 0.0 : static_cast<double>(first - 1) * dt;
}

/// What a method did.
struct DomainReport {
  double seconds_setup = 0.0;   ///< before the first step
  double seconds_steps = 0.0;   ///< of all calls of box(), not counting the wait for earlier work
  double points_stepped = 0.0;  ///< nodes in all boxes
  double points_full = 0.0;     ///< nodes of the grid times steps
  std::int64_t steps = 0;       ///< boxes asked for

  /// Part of the nodes that were stepped.
  double fraction() const { return points_full > 0.0 ? points_stepped / points_full : 1.0; }
  /// Seconds that the method itself cost.
  double seconds() const { return seconds_setup + seconds_steps; }
};

/// \brief A domain that tells what it saved and cost; also the domain that never expands, which is
/// the grid whole.
template <class T, int Dim, class Exec>
class ExpandingDomain : public wave::Domain<T, Dim, Exec> {
 public:
  /// The box to step. \see wave::Domain
  Box<Dim> box(const Exec& exec, const wave::Propagator<T, Dim, Exec>& propagator,
               const wave::Wavefield<T, Dim, Exec>& wavefield, std::int64_t step) final {
    const Box<Dim> whole = whole_box(propagator.grid());
    const Box<Dim> result = intersection(next_box(exec, propagator, wavefield, step), whole);
    ++m_report.steps;
    m_report.points_stepped += static_cast<double>(result.size());
    m_report.points_full += static_cast<double>(whole.size());
    return result;
  }
  /// What it did since it was made.
  const DomainReport& report() const { return m_report; }

 protected:
  /// The box, which may reach over the grid. Methods add their time to seconds_steps.
  virtual Box<Dim> next_box(const Exec& exec, const wave::Propagator<T, Dim, Exec>& propagator,
                            const wave::Wavefield<T, Dim, Exec>& wavefield, std::int64_t step) {
    (void)exec, (void)wavefield, (void)step;
    return whole_box(propagator.grid());
  }

  DomainReport m_report;  ///< for methods to add to
};

namespace detail {

/// Adds the life time of an object to a sum of seconds.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : m_seconds(seconds) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    m_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  double& m_seconds;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Throws InputError unless there is a source, and none shares with nodes farther than
/// options.source_radius.
template <class T, int Dim, class Exec>
void check_sources(const Grid<Dim>& grid, const wave::PointSet<T, Dim, Exec>& sources,
                   const DomainOptions& options) {
  if (sources.count() == 0) {
    throw InputError(
        "sources: there are none (allowed: one or more): without a source no domain expands");
  }
  for (int d = 0; d < Dim; ++d) {
    double least = 0.0, greatest = 0.0;
    bool first = true;
    for (const Point<Dim>& position : sources.positions()) {
      const double q = grid.to_index_space(position)[d];
      least = first ? q : std::min(least, q);
      greatest = first ? q : std::max(greatest, q);
      first = false;
    }
    const Box<Dim>& box = sources.box();
    const double reach = std::max(least - static_cast<double>(box.lower[d]),
                                  static_cast<double>(box.upper[d] - 1) - greatest);
    if (reach <= options.source_radius) continue;
    throw InputError(concat("source_radius is ", options.source_radius,
                            " (allowed: that of the sources, which share with nodes ", reach,
                            " away along ", axis_name<Dim>(d),
                            "): give the radius that the points were made with"));
  }
}

}  // namespace detail

}  // namespace moho::rtm
