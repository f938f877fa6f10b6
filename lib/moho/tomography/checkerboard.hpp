// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The checkerboard test: which changes of a model the picks of a survey can show.

#include <moho/tomography/invert.hpp>

#include <string>
#include <utility>
#include <vector>

namespace moho::tomography {

/// Checks of alternating sign.
template <int Dim>
struct Checkerboard {
  Point<Dim> size{};       ///< of a check along the axes, m, positive
  double percent = 5.0;    ///< change of the velocity, above 0 and below 50
  std::uint64_t seed = 1;  ///< of the noise of the times
};

/// Recovery of the checks in a layer of half of a check.
struct CheckLayer {
  /// Of the middle of the layer below the mean ground, m; without a ground below the top of the
  /// grid.
  double depth = 0.0;
  double correlation = 0.0;  ///< of true and recovered changes where rays are
  double recovered = 0.0;    ///< part of the changes that is recovered, by regression
  double covered = 0.0;      ///< part of the nodes of the ground with rays
  double z = 0.0;            ///< of the middle of the layer, m
};

/// Returns "depth 12 m: correlation 0.91, 84 % recovered, rays at 97 % of the nodes"; below 20 % of
/// the nodes it adds that nothing is resolved there.
std::string describe_layer(const CheckLayer& layer);

/// Result of a checkerboard test, at the model nodes.
template <int Dim>
struct CheckerboardResult {
  std::vector<double> truth;             ///< relative change of the velocity
  std::vector<double> found;             ///< recovered relative change
  std::vector<CheckLayer> layers;        ///< from the top
  std::vector<IterationReport> reports;  ///< of its inversion
};

/// Returns the relative changes of a checkerboard at the nodes of a grid.
/// \throws InputError for a size or a change that is not allowed
template <int Dim>
std::vector<double> checkerboard(const Grid<Dim>& grid, const Checkerboard<Dim>& checks);

/// Returns the picks with times plus normal noise of the deviations of their fits.
template <int Dim>
PickSet<Dim> noisy_picks(PickSet<Dim> picks, const std::vector<double>& times,
                         const std::vector<PickFit>& fits, std::uint64_t seed);

/// Returns correlation and regression of changes in layers of half of a check, of nodes with rays.
/// \param grid nodes of the model \param ground depth of the ground; empty: no air \param mask 1
/// for nodes of the ground, 0 for air; empty: no air \param checks size of the checks \param
/// coverage metres of rays at the nodes \param changes true and recovered ones
template <int Dim>
std::vector<CheckLayer> compare_checks(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                       const std::vector<unsigned char>& mask,
                                       const Checkerboard<Dim>& checks,
                                       const std::vector<double>& coverage,
                                       const CheckerboardResult<Dim>& changes);

/// \brief Inverts the times of a model with checks, from the model without, with the same settings.
///
/// It shows what this survey resolves around this model; it says nothing about errors of picks
/// beyond their deviations.
/// \param exec all work is submitted to this instance
/// \param job of the inversion; its picks, options and ground
/// \param result of invert() for that job
/// \param checks size and strength
template <class T, int Dim, class Memory>
CheckerboardResult<Dim> test_checkerboard(const Instance<Memory>& exec,
                                          const InversionJob<Dim>& job,
                                          const InversionResult<Dim>& result,
                                          const Checkerboard<Dim>& checks) {
  CheckerboardResult<Dim> test;
  test.truth = checkerboard<Dim>(job.grid, checks);
  std::vector<double> velocity(result.velocity);
  for (std::size_t i = 0; i < velocity.size(); ++i) velocity[i] *= 1.0 + test.truth[i];
  const Options<Dim>& options = job.options;
  const Forward<T, Dim, Memory> forward(
      job.grid, job.picks, result.mask,
      forward_options<Dim>(options, uses_eikonal<Dim>(options, result.mask)));
  InversionJob<Dim> again = job;
  again.picks =
      noisy_picks<Dim>(job.picks, forward.evaluate(exec, velocity).times, result.fits, checks.seed);
  again.start = result.velocity;
  again.state = {};
  again.each = {};
  again.options.reference.clear();
  again.options.robust = Robust::none;
  again.options.statics = Statics::none;
  again.options.location.unknown = false;
  again.options.velocity_max = 0.0;
  Inversion<T, Dim, Memory> inversion(exec, again.grid, again.picks, again.start, again.ground,
                                      again.options);
  while (!inversion.ended()) inversion.iterate(exec);
  test.reports = inversion.reports();
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    test.found.push_back(inversion.velocity()[i] / result.velocity[i] - 1.0);
  }
  test.layers = compare_checks<Dim>(job.grid, job.ground, result.mask, checks,
                                    inversion.rays(exec).coverage, test);
  return test;
}

/// \cond
#ifdef MOHO_TOMOGRAPHY_KERNELS
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, test_checkerboard)
#endif
/// \endcond

}  // namespace moho::tomography
