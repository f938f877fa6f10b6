// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Forecast of the time of an inversion, from a measurement with some of the sources.

#include <moho/core/text.hpp>
#include <moho/tomography/inversion.hpp>
#include <moho/tomography/invert.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace moho::tomography {

/// Time of an iteration with all picks.
struct IterationForecast {
  double seconds = 0.0;      ///< of times, rays, their derivative and the step
  int iterations = 0;        ///< the largest number of an inversion
  std::size_t measured = 0;  ///< sources of the measurement
  std::size_t sources = 0;   ///< all sources

  /// Returns the forecast as text: "about 0.4 s an iteration, 8 s for 20 iterations, ...".
  std::string text() const {
    return concat("about ", text::seconds(seconds), " s an iteration, ",
                  text::seconds(seconds * std::max(iterations, 1)), " s for ",
                  text::counted(iterations, "iteration"), " at most; measured with ", measured,
                  " of ", text::counted(sources, "source"));
  }
};

/// Returns the picks of some sources, spread evenly over all. \param count of sources, 1 or more
template <int Dim>
PickSet<Dim> picks_of_some(const PickSet<Dim>& picks, std::size_t count) {
  const std::size_t all = picks.sources.size();
  PickSet<Dim> result;
  result.receivers = picks.receivers;
  std::vector<int> number(all, -1);
  for (std::size_t k = 0; k < std::min(count, all); ++k) {
    const std::size_t source = (2 * k + 1) * all / (2 * std::min(count, all));
    number[source] = static_cast<int>(k);
    result.sources.push_back(picks.sources[source]);
  }
  for (Pick pick : picks.picks) {
    pick.source = number[static_cast<std::size_t>(pick.source)];
    if (pick.source >= 0) result.picks.push_back(pick);
  }
  return result;
}

/// \brief Measures the first iteration with the picks of some sources, and extrapolates to all.
///
/// The time is linear in the number of sources: the prior is applied to all unknowns in any case.
/// \tparam T float or double, the precision of traced times
/// \param exec all work is submitted to this instance; the function returns when it is complete
/// \param job picks, start model and options
/// \param processes processes that share the sources
/// \throws InputError as invert()
template <class T, int Dim, class Memory>
IterationForecast forecast(const Instance<Memory>& exec, const InversionJob<Dim>& job,
                           int processes = 1) {
  Options<Dim> options = job.options;
  options.exchange = {};
  options.progress = {};
  const auto measure = [&](std::size_t sources) {
    Inversion<T, Dim, Memory> inversion(exec, job.grid, picks_of_some<Dim>(job.picks, sources),
                                        job.start, job.ground, options);
    const double start = inversion.iterate(exec).seconds;  // the start model is evaluated
    return inversion.ended() ? start : inversion.iterate(exec).seconds;
  };
  IterationForecast result;
  result.iterations = job.options.iterations;
  result.sources = job.picks.sources.size();
  result.measured = std::min<std::size_t>(result.sources, 8);
  const std::size_t few = std::min<std::size_t>(result.sources, 4);
  const double less = measure(few), all = measure(result.measured);
  const double more = static_cast<double>(result.measured - few);
  const double each = more > 0.0 ? std::max(all - less, 0.0) / more : 0.0;
  const double own = std::ceil(static_cast<double>(result.sources) / processes);
  result.seconds = all + (own - static_cast<double>(result.measured)) * each;
  return result;
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, forecast)
#endif
/// \endcond

}  // namespace moho::tomography
