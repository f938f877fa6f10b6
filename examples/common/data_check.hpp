// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Checks of data against the model before anything is computed: positions, samples, and
/// the times at which traces begin.

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

/// Positions of a survey along an axis, and the model's.
struct AxisRange {
  std::string name;                 ///< "x"
  double low = 0.0, high = 0.0;     ///< of sources and receivers, m
  double lower = 0.0, upper = 0.0;  ///< of the model, m
  bool inside() const { return low >= lower && high <= upper; }
};

/// How much of a survey is outside of the model.
struct LeftOut {
  std::size_t shots = 0, traces = 0;          ///< outside
  std::size_t all_shots = 0, all_traces = 0;  ///< of the survey
  std::vector<AxisRange> axes;                ///< z last
};

/// \brief Refuses a survey of which more than a tenth of shots or traces is outside of the model.
/// \param name of the data in messages: "--shots line.sgy" \param elevations of trace headers
/// \param allowed whether fewer shots and traces will do, as long as one is left
/// \throws InputError with the option that is likely wrong
void check_left_out(const std::string& name, const LeftOut& out, survey::Elevations elevations,
                    bool allowed);

/// Counts what is outside of a grid: receivers, and shots with a source outside or no receiver
/// inside.
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

/// \brief Reads the traces of a survey, so that files with unusable samples are refused before the
/// first result.
/// \param name of the data in messages \param only one shot; none: all
/// \param rank,size of processes that divide the shots \param each called with each gather
/// \throws InputError
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

/// \brief Compares the times at which traces begin with first arrivals of the model.
///
/// Of each shot the third of the traces with the earliest arrivals counts, where the direct wave is
/// strongest. Data begin late if their first samples above a hundredth of the largest are later
/// than arrivals, and early if their largest samples are earlier.
class OnsetCheck {
 public:
  /// \param wavelet its times, in the run's \param period of its peak frequency, s
  OnsetCheck(const survey::WaveletTimes& wavelet, double period)
      : m_wavelet(wavelet), m_period(period) {}
  /// Adds the traces of a shot. \param samples receivers x count \param dt between samples
  /// \param start time of the first sample in the run's time \param arrivals of each receiver, s
  void add(const std::vector<float>& samples, std::int64_t count, double dt, double start,
           const std::vector<double>& arrivals);
  /// What differs by more than a period and a quarter of the arrival time; empty if nothing does.
  std::string note() const;

 private:
  survey::WaveletTimes m_wavelet;
  double m_period;
  std::vector<double> m_late, m_early, m_arrivals;
};

/// Shots that an OnsetCheck needs: the first, the middle and the last of a section, the middle of a
/// volume.
template <int Dim>
std::vector<std::size_t> shots_to_check(std::size_t count) {
  std::vector<std::size_t> shots{count / 2};
  if (Dim == 2 && count > 1) shots.insert(shots.end(), {0, count - 1});
  std::sort(shots.begin(), shots.end());
  shots.erase(std::unique(shots.begin(), shots.end()), shots.end());
  return shots;
}

}  // namespace moho::examples
