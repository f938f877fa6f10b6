// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Picks, options and reports of traveltime tomography.

#include <moho/core/argument_names.hpp>
#include <moho/core/grid.hpp>
#include <moho/core/progress.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho::tomography {

/// The picked first arrival of a source at a receiver.
struct Pick {
  int source = 0;       ///< position in PickSet::sources
  int receiver = 0;     ///< position in PickSet::receivers
  double time = 0.0;    ///< s, positive
  double error = 0.0;   ///< standard deviation, s; 0: unknown
  double weight = 1.0;  ///< factor of its squared residual, 0 or more
};

/// Picks and the points that they belong to.
template <int Dim>
struct PickSet {
  Points<Dim> sources;        ///< m
  Points<Dim> receivers;      ///< m
  std::vector<Pick> picks;    ///< sorted by source, then by receiver
  std::int64_t left_out = 0;  ///< picks that the file marks as not to be used
};

/// Depth of the ground at each column of nodes, m; an empty list: all of the grid is ground.
template <int Dim>
struct Ground {
  std::vector<double> depth;  ///< a column each, the last horizontal axis contiguous
};

/// Correlation of the prior, and the ranges of its strength.
template <int Dim>
struct Prior {
  Point<Dim> lengths{};        ///< correlation lengths along the axes, m, positive; infinite: the
                               ///< change of ln slowness is equal along the axis
  double deviation_max = 0.5;  ///< largest standard deviation of ln slowness
};

/// Downweighting of picks with large residuals.
enum class Robust {
  none,      ///< least squares
  biweight,  ///< Tukey's biweight: no weight beyond five scales
  huber      ///< Huber's weights: linear growth beyond five scales
};

/// Unknown delays of stations.
enum class Statics {
  none,      ///< no unknown delays
  source,    ///< one for each source
  receiver,  ///< one for each receiver
  both       ///< for each source and each receiver
};

/// Unknown positions and origin times of sources.
template <int Dim>
struct Location {
  bool unknown = false;    ///< true: sources are located
  Point<Dim> deviation{};  ///< prior standard deviation of positions, m; 0 along an axis: known
  double origin_deviation = 0.0;  ///< prior standard deviation of origin times, s; 0: known
};

/// Division of the sources among processes. Each of them has the same input and the same result.
struct Exchange {
  int rank = 0;   ///< of this process
  int ranks = 1;  ///< number of processes
  /// Runs `local` on each process and returns the bytes of all, in the order of ranks; an error of
  /// one is thrown on all. Collective.
  std::function<std::vector<std::vector<char>>(const std::function<std::vector<char>()>& local)>
      gather = {};
};

/// Solver of the traveltimes.
enum class Times {
  automatic,  ///< eikonal in 3D without air and in VTI media, else graph
  graph,      ///< shortest paths of the grid graph
  eikonal     ///< eikonal equation of second order, and rays that descend through its times
};

/// Choice of the damping.
enum class DampingRule {
  target,  ///< chi^2 = the target
  gcv,     ///< generalised cross validation, where errors are unknown
  fixed    ///< Options::lambda
};

/// Options of an Inversion.
template <int Dim>
struct Options {
  Prior<Dim> prior;                        ///< correlation and largest deviation
  int coarsening = 1;                      ///< model nodes between unknowns
  int radius = Dim == 2 ? 8 : 3;           ///< of the graph's neighbourhood
  Times times = Times::automatic;          ///< solver of the traveltimes
  int krylov = 100;                        ///< largest number of steps of a bidiagonalisation; by
                                           ///< gcv up to eight times as many, see max_steps()
  int iterations = 20;                     ///< largest number of iterations
  double target = 1.0;                     ///< chi^2 to reach
  double tolerance = 0.04;                 ///< accepted distance from the target
  DampingRule rule = DampingRule::target;  ///< choice of lambda
  double lambda = 0.0;                     ///< of DampingRule::fixed, 1 / standard deviation
  double error_absolute = 0.0;      ///< s; where a pick has no error, its deviation is this error
  double error_relative = 0.0;      ///< plus this part of its time
  double error_times = -1.0;        ///< of computed times, part of them; negative: preset
  double velocity_min = 0.0;        ///< m/s
  double velocity_max = 0.0;        ///< m/s; 0: no bounds
  Robust robust = Robust::none;     ///< weights of residuals
  Statics statics = Statics::none;  ///< unknown delays
  double static_deviation = 0.005;  ///< prior standard deviation of delays, s
  Location<Dim> location = {};      ///< unknown positions of sources
  /// Thomsen's epsilon and delta at the model nodes: the velocity is that of P waves along the
  /// vertical axis of a VTI medium. Empty: isotropic, or 0.
  std::vector<double> epsilon = {};
  std::vector<double> delta = {};  ///< Thomsen's delta at the model nodes; see epsilon
  /// Velocity at the model nodes that the prior pulls to, m/s; empty: the start model.
  std::vector<double> reference = {};
  std::size_t memory = 0;  ///< bytes allowed in the space; 0: what is free
  Progress progress = {};  ///< of the sources of an evaluation
  Exchange exchange = {};  ///< with other processes
  /// Names of arguments in messages: the members of Options, "start", "spacing", "an empty ground",
  /// and "delays of sources".
  ArgumentNames names = {};
};

/// Reason for which an inversion ended.
enum class StopReason {
  none,        ///< it has not ended
  target,      ///< chi^2 is within the tolerance of the target
  floor,       ///< lambda is at its least, and chi^2 fell by less than 2 %
  stalled,     ///< the decrease that was predicted for the last step is below 2 %
  iterations,  ///< the largest number of iterations
  failed       ///< two iterations in turn found no better model
};

/// Returns a reason in words. \param names of "deviation_max" in messages
std::string to_string(StopReason stop, const ArgumentNames& names = {});

/// State after an iteration; iteration 0 is the start model.
struct IterationReport {
  int iteration = 0;          ///< number, from 0
  double chi2 = 0.0;          ///< mean of the squared weighted residuals
  double chi2_linear = 0.0;   ///< predicted for the complete step
  double rms = 0.0;           ///< of the residuals of picks with weight, s
  double lambda = 0.0;        ///< 1 / standard deviation of ln slowness
  double dof = 0.0;           ///< degrees of freedom that the steps of the iteration reach;
                              ///< Appraisal::dof has those of the result
  double rho = 0.0;           ///< decrease of the objective over the predicted one
  double step = 0.0;          ///< part of its decrease that was aimed at; 1: complete; 0: no step
  int krylov = 0;             ///< steps of the bidiagonalisation
  int traces = 0;             ///< evaluations of all sources
  std::int64_t held = 0;      ///< nodes at a bound
  std::int64_t rejected = 0;  ///< picks with a weight below 0.01
  double seconds = 0.0;       ///< wall clock
};

/// Observed and predicted time of a pick.
struct PickFit {
  double predicted = 0.0;                        ///< s, with statics
  double residual = 0.0;                         ///< observed minus predicted, s
  double sigma = 0.0;                            ///< standard deviation used, s
  double weight = 1.0;                           ///< robust weight, 0 to 1
  double z() const { return residual / sigma; }  ///< residual over sigma
};

}  // namespace moho::tomography
