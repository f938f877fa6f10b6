// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Common base of expanding domains: box around the sources, report of savings and cost.

#include <moho/domain/types.hpp>
#include <moho/wave/model_shot.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::domain {

/// Report of an expanding domain.
struct DomainReport {
  double seconds_setup = 0.0;   ///< time before the first step
  double seconds_steps = 0.0;   ///< time of all calls of box(), without the wait for earlier work
  double points_stepped = 0.0;  ///< nodes in all boxes
  double points_full = 0.0;     ///< nodes of the grid times steps
  std::int64_t steps = 0;       ///< number of requested boxes

  /// Returns the fraction of the nodes that was stepped.
  double fraction() const { return points_full > 0.0 ? points_stepped / points_full : 1.0; }
  /// Returns the cost of the method in seconds.
  double seconds() const { return seconds_setup + seconds_steps; }
};

/// \brief Domain with a report of savings and cost.
///
/// The class itself is the complete grid, which never expands.
template <class T, int Dim, class Memory>
class ExpandingDomain : public wave::Domain<T, Dim, Memory> {
 public:
  /// Returns the box of a step. \see wave::Domain
  Box<Dim> box(const Instance<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
               const wave::Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) final {
    const Box<Dim> whole = whole_box(propagator.grid());
    const Box<Dim> result = intersection(next_box(exec, propagator, wavefield, step), whole);
    ++m_report.steps;
    m_report.points_stepped += static_cast<double>(result.size());
    m_report.points_full += static_cast<double>(whole.size());
    return result;
  }
  /// Returns the report since construction.
  const DomainReport& report() const { return m_report; }

 protected:
  /// Returns the box, which may exceed the grid. Methods add their time to seconds_steps.
  virtual Box<Dim> next_box(const Instance<Memory>& exec,
                            const wave::Propagator<T, Dim, Memory>& propagator,
                            const wave::Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) {
    (void)exec, (void)wavefield, (void)step;
    return whole_box(propagator.grid());
  }

  DomainReport m_report;  ///< report, to which methods add
};

namespace detail {

/// Adds the lifetime of an object to a sum of seconds.
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

/// Throws InputError unless a source exists and all radii are at most options.source_radius.
template <class T, int Dim, class Memory>
void check_sources(const Grid<Dim>& grid, const wave::PointSet<T, Dim, Memory>& sources,
                   const DomainOptions& options) {
  if (sources.count() == 0) {
    throw InputError(
        "sources: there are none (allowed: one or more): without a source no domain expands");
  }
  for (int d = 0; d < Dim; ++d) {
    double min = 0.0, max = 0.0;
    bool first = true;
    for (const Point<Dim>& position : sources.positions()) {
      const double q = grid.to_index_space(position)[d];
      min = first ? q : std::min(min, q);
      max = first ? q : std::max(max, q);
      first = false;
    }
    const Box<Dim>& box = sources.box();
    const double reach = std::max(min - static_cast<double>(box.lower[d]),
                                  static_cast<double>(box.upper[d] - 1) - max);
    if (reach <= options.source_radius) continue;
    throw InputError(concat("source_radius is ", options.source_radius,
                            " (allowed: that of the sources, which share with nodes ", reach,
                            " away along ", axis_name<Dim>(d),
                            "): give the radius that the points were made with"));
  }
}

}  // namespace detail

}  // namespace moho::domain
