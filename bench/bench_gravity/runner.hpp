// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gravity of a problem on a space, behind an interface without templates.
///
/// The implementation is compiled once for each memory.

#include "bench_gravity/problem.hpp"

#include <moho/core/instance.hpp>
#include <moho/gravity/fmm.hpp>
#include <moho/gravity/types.hpp>

#include <memory>
#include <string>
#include <vector>

namespace moho::bench {

/// Arrangement of a pass.
enum class Arrangement {
  forward,  ///< gravity::forward()
  /// One kernel over all stations per prism: the alternative that the paper rejects.
  launch_per_prism
};

/// Settings of a pass.
struct GravitySettings {
  Arrangement arrangement = Arrangement::forward;  ///< loops of the sum
  bool single = false;                             ///< sums over pairs in single precision
  gravity::Components components;                  ///< computed components
  gravity::Options options;                        ///< of forward()
};

/// Costs of a pass.
struct GravityPass {
  gravity::Report report;  ///< of forward()
  double transfer = 0.0;   ///< seconds of transfers: prisms and stations to the space, results back
  double total = 0.0;      ///< seconds in total, including transfers
};

/// A problem, its results, and the code that runs it.
class GravityRunner {
 public:
  virtual ~GravityRunner() = default;
  /// Transfers, computes, transfers back. The time includes allocations of forward(), but not those
  /// of prisms, stations and results. \throws Error under the conditions of forward()
  virtual GravityPass pass(const GravitySettings& settings) = 0;
  /// Returns the results of the last pass, one row per component in the order of the settings.
  virtual const double* results() const = 0;
  /// Overwrites the results with values that no pass computes.
  virtual void spoil() = 0;
};

/// Returns the runner of a problem on a space. The problem must outlive the runner.
template <class Memory>
std::unique_ptr<GravityRunner> make_runner(const Instance<Memory>& exec,
                                           const GravityProblem& problem);

/// Returns the number of multiprocessors of a device, or of threads of a host.
template <class Memory>
int processors(const Instance<Memory>& exec);

/// Prisms and stations of the fast multipole method.
struct FmmProblem {
  std::vector<double> prisms;      ///< rows of x1, x2, y1, y2, z1, z2, density
  std::vector<double> stations;    ///< rows of x, y, z
  gravity::Components components;  ///< computed components
  double tolerance = 1e-9;         ///< of the largest value
};

/// Costs and errors of an operator.
struct FmmTimes {
  double construct = 0.0, apply = 0.0, adjoint = 0.0;  ///< seconds, the least of the products
  double direct = 0.0;        ///< seconds of the direct sums, from those at some stations
  double difference = 0.0;    ///< largest from these, of the largest value of a component
  gravity::FmmReport report;  ///< of the fast multipole method
  std::size_t bytes = 0;      ///< of the operator
};

/// Times an FmmOperator: one construction, and `products` products of each kind.
template <class Memory>
FmmTimes time_fmm(const Instance<Memory>& exec, const FmmProblem& problem, int products);

/// Times a LatticeOperator of a mesh with as many stations 20 m above the centres of its columns.
template <class Memory>
FmmTimes time_lattice(const Instance<Memory>& exec, const std::array<int, 3>& cells,
                      const gravity::Components& components, int products);

/// Operations whose rates show what bounds the kernels.
enum class Operation { fma, divide, square_root, logarithm, arc_tangent };

/// Returns the operations per second of the complete space, in registers.
template <class Memory>
double operation_rate(const Instance<Memory>& exec, Operation operation, bool single);

}  // namespace moho::bench
