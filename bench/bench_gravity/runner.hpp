// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gravity of a problem on a space, behind an interface without templates, compiled once
/// for each memory.

#include "bench_gravity/problem.hpp"

#include <moho/core/instance.hpp>
#include <moho/gravity/types.hpp>

#include <memory>
#include <string>

namespace moho::bench {

/// How a pass is arranged.
enum class Arrangement {
  forward,          ///< gravity::forward()
  launch_per_prism  ///< a kernel over all stations for every prism: what the paper argues against
};

/// What a pass computes.
struct GravitySettings {
  Arrangement arrangement = Arrangement::forward;
  bool single = false;  ///< sums over pairs in single precision
  gravity::Components components;
  gravity::Options options;
};

/// What a pass did.
struct GravityPass {
  gravity::Report report;
  double transfer = 0.0;  ///< seconds: prisms and stations to the space, results back
  double total = 0.0;     ///< seconds, transfers and all
};

/// A problem, its results, and what runs it.
class GravityRunner {
 public:
  virtual ~GravityRunner() = default;
  /// Transfers, computes, transfers back. Memory that forward() allocates is part of its time, the
  /// arrays of prisms, stations and results are not. \throws Error as forward() does
  virtual GravityPass pass(const GravitySettings& settings) = 0;
  /// Results of the last pass: a row a component, in the order of the settings.
  virtual const double* results() const = 0;
  /// Makes the results something that no pass computes.
  virtual void spoil() = 0;
};

/// The runner of a problem on a space. The problem has to outlive it.
template <class Memory>
std::unique_ptr<GravityRunner> make_runner(const Instance<Memory>& exec,
                                           const GravityProblem& problem);

/// Multiprocessors of a device, threads of a host.
template <class Memory>
int processors(const Instance<Memory>& exec);

/// Operations whose rates say what bounds the kernels.
enum class Operation { fma, divide, square_root, logarithm, arc_tangent };

/// Operations a second that the whole space does, in registers.
template <class Memory>
double operation_rate(const Instance<Memory>& exec, Operation operation, bool single);

}  // namespace moho::bench
