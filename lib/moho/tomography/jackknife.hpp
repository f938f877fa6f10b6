// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The jackknife: how far a model depends on the picks of single sources.

#include <moho/core/argument_names.hpp>
#include <moho/tomography/invert.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::tomography {

/// An inversion without a group of sources.
struct JackknifeRun {
  int group = 0;             ///< of the sources that were left out, from 0
  std::int64_t sources = 0;  ///< in use
  std::int64_t picks = 0;    ///< in use
  IterationReport last;      ///< of its last iteration
};

/// Result of a jackknife.
struct JackknifeResult {
  std::vector<double> deviation;   ///< standard deviation of ln velocity at the model nodes
  std::vector<JackknifeRun> runs;  ///< of each group
};

/// \brief Checks the number of groups of a jackknife.
/// \param names of "jackknife" in messages
/// \throws InputError if it is below 2, or if a run would have fewer than two sources
template <int Dim>
void check_jackknife(const PickSet<Dim>& picks, int groups, const ArgumentNames& names = {});

/// Returns the picks without the sources k for which k modulo `groups` is `group`; receivers are
/// unchanged.
template <int Dim>
PickSet<Dim> leave_out(const PickSet<Dim>& picks, int groups, int group);

/// \brief Repeats an inversion without every n-th source, once for each group of sources.
///
/// The standard deviation at a node is sqrt((n - 1) / n sum_i (m_i - mean)^2) of the n models
/// m = ln v. It has the effect of wrong picks and of anything else that the errors of picks do not
/// describe, where the posterior deviation has that of their errors alone.
///
/// Source: Efron (1982), the delete-group form.
/// \tparam T float or double, the precision of traced times
/// \param exec all work is submitted to this instance
/// \param job of the inversion; its picks, start model and options
/// \param result of invert() for that job; where a run has air its velocity is taken
/// \param groups number of groups and of runs
/// \param each called after each run
/// \throws InputError as check_jackknife()
template <class T, int Dim, class Memory>
JackknifeResult test_jackknife(const Instance<Memory>& exec, const InversionJob<Dim>& job,
                               const InversionResult<Dim>& result, int groups,
                               const std::function<void(const JackknifeRun&)>& each) {
  check_jackknife<Dim>(job.picks, groups);
  JackknifeResult test;
  // mean, and sum of the squared distances from it
  std::vector<double> mean(result.velocity.size(), 0.0), squares(mean);
  for (int group = 0; group < groups; ++group) {
    const PickSet<Dim> picks = leave_out<Dim>(job.picks, groups, group);
    Inversion<T, Dim, Memory> inversion(exec, job.grid, picks, job.start, job.ground, job.options);
    while (!inversion.ended()) inversion.iterate(exec);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const bool ground = inversion.mask()[i] != 0 && result.mask[i] != 0;
      const double m = std::log(ground ? inversion.velocity()[i] : result.velocity[i]);
      const double before = m - mean[i];
      mean[i] += before / (group + 1.0);
      squares[i] += before * (m - mean[i]);
    }
    test.runs.push_back({group, static_cast<std::int64_t>(picks.sources.size()),
                         static_cast<std::int64_t>(picks.picks.size()),
                         inversion.reports().back()});
    if (each) each(test.runs.back());
  }
  for (const double sum : squares) {
    test.deviation.push_back(std::sqrt((groups - 1.0) / groups * std::max(sum, 0.0)));
  }
  return test;
}

/// Returns the line that describes a run: chi^2, picks and iterations.
std::string describe_run(const JackknifeRun& run);

/// Returns the medians of a jackknife's deviation and of the posterior one at nodes with rays, in
/// words.
template <int Dim>
std::string describe_jackknife(const InversionResult<Dim>& result, const JackknifeResult& test);

/// Writes a row for each run. \throws FileError
void write_jackknife(const std::filesystem::path& path, const JackknifeResult& test);

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, test_jackknife)
#endif
/// \endcond

}  // namespace moho::tomography
