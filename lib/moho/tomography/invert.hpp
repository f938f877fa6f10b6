// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A complete inversion of first arrivals, from picks to an appraised model.

#include <moho/core/phases.hpp>
#include <moho/core/space.hpp>
#include <moho/tomography/inversion.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::tomography {

/// Input of invert(), on the host.
template <int Dim>
struct InversionJob {
  Grid<Dim> grid;             ///< nodes of the model
  PickSet<Dim> picks;         ///< sorted by source
  std::vector<double> start;  ///< velocity at the nodes, m/s
  Ground<Dim> ground;         ///< depth of the ground; empty: no air
  Options<Dim> options;       ///< as described there
  InversionState state;       ///< of an interrupted inversion; without reports: from the start
  /// Called after each iteration with its report and the state that follows it.
  std::function<void(const IterationReport&, const InversionState&)> each;
};

/// Result of invert(), on the host.
template <int Dim>
struct InversionResult {
  std::vector<double> velocity;          ///< at the nodes, m/s
  std::vector<unsigned char> mask;       ///< 1 for nodes of the ground, 0 for air
  std::vector<double> coverage;          ///< metres of rays at each node
  std::vector<PickFit> fits;             ///< in the order of the picks
  Delays delays;                         ///< delays, origin times and moves
  Points<Dim> sources;                   ///< positions, those of the picks unless located, m
  rays::RayPaths<Dim> paths;             ///< a ray for each pick
  Appraisal appraisal;                   ///< deviation, resolution and the curve of lambda
  std::vector<IterationReport> reports;  ///< of all iterations
  StopReason stop = StopReason::none;    ///< reason to end
  std::int64_t entries = 0;              ///< of the derivative
  PhaseTimes phases;                     ///< "iterations", "appraisal"
  std::string device;                    ///< name of the processor
  int threads = 1;                       ///< concurrency of the instance
};

/// \brief Inverts picks until chi^2 is at its target or the inversion stops, and appraises the
/// model. \tparam T float or double, the precision of traced times \param exec all work is
/// submitted to this instance; the function returns when it is complete \param job picks, start
/// model and options \throws InputError as the constructor of Inversion
template <class T, int Dim, class Memory>
InversionResult<Dim> invert(const Instance<Memory>& exec, const InversionJob<Dim>& job) {
  InversionResult<Dim> result;
  result.device = device_name(exec);
  result.threads = exec.concurrency();
  Inversion<T, Dim, Memory> inversion(exec, job.grid, job.picks, job.start, job.ground,
                                      job.options);
  {
    const HostPhase phase(result.phases, "iterations");
    if (!job.state.reports.empty()) inversion.restore(exec, job.state);
    while (!inversion.ended()) {
      const IterationReport report = inversion.iterate(exec);
      if (job.each) job.each(report, inversion.state());
    }
  }
  {
    const HostPhase phase(result.phases, "appraisal");
    Prediction<Dim, Memory> last = inversion.rays(exec);
    result.paths = std::move(last.paths);
    result.coverage = std::move(last.coverage);
    result.appraisal = inversion.appraise(exec);
  }
  result.velocity = inversion.velocity();
  result.mask = inversion.mask();
  result.entries = inversion.prediction().rows.entries();
  result.fits = inversion.fits();
  result.delays = inversion.delays();
  result.sources = inversion.sources();
  result.reports = inversion.reports();
  result.stop = inversion.stop();
  return result;
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, invert)
#endif
/// \endcond

}  // namespace moho::tomography
