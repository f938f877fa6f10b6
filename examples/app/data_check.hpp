// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of data against the model: positions, samples and the start times of traces.
///
/// Programs run them before the first step.

#include <moho/core/error.hpp>
#include <moho/core/grid.hpp>
#include <moho/survey/first_arrivals.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Range of a survey's positions along an axis, and that of the model.
struct AxisRange {
  std::string name;                 ///< "x"
  double low = 0.0, high = 0.0;     ///< of sources and receivers, m
  double lower = 0.0, upper = 0.0;  ///< of the model, m
  bool inside() const { return low >= lower && high <= upper; }
};

/// Shots and traces of a survey that are outside of the model.
struct LeftOut {
  std::size_t shots = 0, traces = 0;          ///< outside of the model
  std::size_t all_shots = 0, all_traces = 0;  ///< of the complete survey
  std::vector<AxisRange> axes;                ///< the last one is z
};

/// \brief Refuses a survey if more than a tenth of its shots or traces is outside of the model.
/// \param name of the data in messages: "--shots line.sgy" \param elevations of trace headers
/// \param allowed true accepts any survey with at least one shot and trace inside
/// \throws InputError with the option that is likely wrong
void check_left_out(const std::string& name, const LeftOut& out, survey::Elevations elevations,
                    bool allowed);

/// Counts receivers outside of a grid, and shots that cannot be used.
/// Such a shot has a source outside of the grid or no receiver inside.
template <int Dim>
LeftOut left_out_of(const Grid<Dim>& grid, const std::vector<wave::Shot<Dim>>& shots) {
  LeftOut out;
  for (int d = 0; d < Dim; ++d) {
    AxisRange axis{axis_name<Dim>(d), std::numeric_limits<double>::infinity(),
                   -std::numeric_limits<double>::infinity(), grid.origin[d], grid.upper(d)};
    for (const wave::Shot<Dim>& shot : shots) {
      for (const Points<Dim>* points : {&shot.sources, &shot.receivers}) {
        for (const Point<Dim>& p : *points) {
          axis.low = std::min(axis.low, p[d]);
          axis.high = std::max(axis.high, p[d]);
        }
      }
    }
    out.axes.push_back(axis);
  }
  const auto inside = [&](const Point<Dim>& p) { return grid.contains(p); };
  for (const wave::Shot<Dim>& shot : shots) {
    ++out.all_shots;
    out.all_traces += shot.receivers.size();
    const auto live = static_cast<std::size_t>(
        std::count_if(shot.receivers.begin(), shot.receivers.end(), inside));
    if (live > 0 && std::all_of(shot.sources.begin(), shot.sources.end(), inside)) {
      out.traces += shot.receivers.size() - live;
      continue;
    }
    ++out.shots;
    out.traces += shot.receivers.size();
  }
  return out;
}

/// \brief Reads the traces of a survey: files with unusable samples fail before the first result.
/// \param name of the data in messages \param only number of a single shot; empty: all
/// \param rank,size of the processes that divide the shots \param each called with each gather
/// \throws InputError for unusable samples
template <int Dim>
void check_traces(const std::string& name, const survey::Survey<Dim>& survey,
                  std::optional<std::size_t> only, int rank, int size,
                  const std::function<void(const survey::ShotGather<Dim>&)>& each = {}) {
  for (std::size_t k = 0; k < survey.size(); ++k) {
    if (only ? k != *only : k % static_cast<std::size_t>(size) != static_cast<std::size_t>(rank)) {
      continue;
    }
    try {
      const survey::ShotGather<Dim> gather = survey.read(k);
      if (each) each(gather);
    } catch (const FileError& error) {
      throw InputError(concat(name, ": ", error.what()));
    }
  }
}

/// Compares the start times of traces with first arrivals of the model.
///
/// Of each shot it uses the third of the traces with the earliest arrivals: there the direct wave
/// is strongest. A trace's first sample above a hundredth of its largest one marks the onset. Data
/// begin late if onsets are later than arrivals, and early if the largest samples are earlier.
class OnsetCheck {
 public:
  /// Creates a check without shots.
  /// \param wavelet its times, in the run's time \param period of its peak frequency, s
  OnsetCheck(const survey::WaveletTimes& wavelet, double period)
      : m_wavelet(wavelet), m_period(period) {}
  /// Adds the traces of a shot.
  /// \param samples receivers x count \param dt interval of samples, s
  /// \param start time of the first sample in the run's time, s \param arrivals of each receiver, s
  void add(const std::vector<float>& samples, std::int64_t count, double dt, double start,
           const std::vector<double>& arrivals);
  /// Describes a difference of more than a period and more than a quarter of the arrival time.
  /// Returns an empty text for smaller differences.
  std::string note() const;

 private:
  survey::WaveletTimes m_wavelet;
  double m_period;
  std::vector<double> m_late, m_early, m_arrivals;
};

/// Returns the positions of the shots that an OnsetCheck uses, from 0.
/// In 2D the first, the middle and the last of the section; in 3D the middle one of the volume.
template <int Dim>
std::vector<std::size_t> shots_to_check(std::size_t count) {
  std::vector<std::size_t> shots{count / 2};
  if (Dim == 2 && count > 1) shots.insert(shots.end(), {0, count - 1});
  std::sort(shots.begin(), shots.end());
  shots.erase(std::unique(shots.begin(), shots.end()), shots.end());
  return shots;
}

}  // namespace moho::examples
