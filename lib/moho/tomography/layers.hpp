// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A start model of layers: an inversion for the velocity as a function of depth.

#include <moho/tomography/invert.hpp>
#include <moho/tomography/start.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace moho::tomography {

/// \brief Fits a velocity that depends on the depth below the ground to all picks.
///
/// The medians of the picks over offset and depth are inverted by the iteration of Inversion, from
/// a linear velocity, with an infinite correlation length along the offset and that of the job
/// along the depth.
/// \tparam T float or double, the precision of traced times
/// \param exec all work is submitted to this instance
/// \param job picks, grid, ground, errors and the correlation length along the depth
/// \throws InputError for picks without errors
template <class T, int Dim, class Memory>
LayeredVelocity fit_layers(const Instance<Memory>& exec, const InversionJob<Dim>& job) {
  const LayerPicks layers = layer_picks<Dim>(job.picks, job.grid, job.ground, job.options);
  Options<2> options;
  const double length = job.options.prior.lengths[Dim - 1];
  options.prior.lengths = {std::numeric_limits<double>::infinity(),
                           std::max(length, layers.grid.spacing[1])};
  options.prior.deviation_max = std::max(job.options.prior.deviation_max, 1.0);
  options.iterations = 8;
  options.times = Times::graph;
  options.robust = Robust::huber;
  options.memory = job.options.memory;
  const auto start =
      linear_model<2>(layers.grid, {}, fit_linear_velocity<2>(layers.medians, layers.grid, {}));
  Inversion<T, 2, Memory> inversion(exec, layers.grid, layers.medians, start, {}, options);
  while (!inversion.ended()) inversion.iterate(exec);
  LayeredVelocity result;
  result.spacing = layers.grid.spacing[1];
  result.velocity.assign(inversion.velocity().begin(),
                         inversion.velocity().begin() + layers.grid.extents[1]);
  result.medians = static_cast<int>(layers.medians.picks.size());
  result.chi2 = inversion.reports().back().chi2;
  return result;
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, fit_layers)
#endif
/// \endcond

}  // namespace moho::tomography
