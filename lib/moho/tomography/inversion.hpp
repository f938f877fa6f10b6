// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gauss-Newton inversion of first arrivals for the slowness.

#include <moho/core/timer.hpp>
#include <moho/optimize/bidiagonalise.hpp>
#include <moho/tomography/check.hpp>
#include <moho/tomography/damping.hpp>
#include <moho/tomography/forward.hpp>
#include <moho/tomography/ground.hpp>
#include <moho/tomography/prior.hpp>
#include <moho/tomography/robust.hpp>
#include <moho/tomography/state.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace moho::tomography {

namespace detail {

/// Products of the elements of two lists.
struct Multiply {
  const double *a, *b;
  double* out;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { out[i] = a[i] * b[i]; }
};

/// Returns |x|^2.
inline double square_of(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) sum += value * value;
  return sum;
}

/// Adds a part of the product of two lists, element by element, to another one.
struct AddProducts {
  const double *a, *b;
  double factor;
  double* sum;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    sum[i] += factor * a[i] * b[i];
  }
};

}  // namespace detail

/// How well a model is determined, at the model nodes.
struct Appraisal {
  std::vector<double> deviation;    ///< posterior standard deviation of ln velocity
  std::vector<double> resolution;   ///< diagonal of the resolution matrix, about 0 to 1
  double dof = 0.0;                 ///< degrees of freedom, the trace of the resolution matrix
  std::vector<DampingPoint> curve;  ///< chi^2, norm and degrees of freedom over lambda
};

/// \brief Inversion for ln slowness, ln s = ln s_reference + P S w with white unknowns w.
///
/// It minimises sum_k w_k (r_k / sigma_k)^2 + lambda^2 |w|^2 (with delays: + lambda^2 |y|^2, their
/// prior in the units of the last lambda). Each iteration traces all sources, bidiagonalises the
/// derivative once, chooses lambda, and takes the step or a part of it that decreases the
/// objective. The reference is the start model unless Options::reference is another one; then the
/// start model is interpolated from its values at the unknowns.
///
/// Source: Tarantola and Valette (1982) for the prior; Golub and Kahan (1965) for the
/// bidiagonalisation.
template <class T, int Dim, class Memory>
class Inversion {
 public:
  /// \param exec all work is submitted to this instance; functions return when it is complete
  /// \param grid nodes of the model
  /// \param picks sorted by source
  /// \param start velocity at the model nodes, m/s
  /// \param ground depth of the ground; empty: no air
  /// \param options as described there
  /// \throws InputError for picks without errors, bounds or lengths that are not allowed
  Inversion(const Instance<Memory>& exec, const Grid<Dim>& grid, const PickSet<Dim>& picks,
            std::vector<double> start, const Ground<Dim>& ground, const Options<Dim>& options);

  /// Returns true if the inversion has ended.
  bool ended() const { return m_state.stop != StopReason::none; }
  /// Returns the reason to end.
  StopReason stop() const { return m_state.stop; }
  /// Computes an iteration; the first call evaluates the start model.
  IterationReport iterate(const Instance<Memory>& exec);
  /// Returns the velocity at the model nodes, m/s; nodes of air have that of the start.
  const std::vector<double>& velocity() const { return m_velocity; }
  /// Returns observed and predicted times, in the order of the picks.
  const std::vector<PickFit>& fits() const { return m_fits; }
  /// Returns delays, origin times and moves.
  const Delays& delays() const { return m_state.delays; }
  /// Returns the positions of the sources, m; those of the picks unless they are located.
  Points<Dim> sources() const {
    return m_state.delays.moves.empty() ? m_picks.sources : positions(m_state.delays);
  }
  /// Returns times and rows of the present model.
  const Prediction<Dim, Memory>& prediction() const { return m_now; }
  /// Returns the nodes of the ground, 1, and of air, 0.
  const std::vector<unsigned char>& mask() const { return m_mask; }
  /// Returns the reports of all iterations.
  const std::vector<IterationReport>& reports() const { return m_state.reports; }
  /// Returns the grid of the unknowns.
  const Grid<Dim>& unknowns() const { return m_forward.unknowns(); }
  /// \brief Returns the present model's times and rows with all rays and their coverage.
  ///
  /// The evaluation of the model that ended the inversion keeps its rays, which the first call
  /// hands over. Without them the model is traced once more.
  Prediction<Dim, Memory> rays(const Instance<Memory>& exec);
  /// Computes deviations and resolution of the present model. Call it after an iteration.
  Appraisal appraise(const Instance<Memory>& exec);
  /// Returns the state, from which another inversion of the same input goes on.
  const InversionState& state() const { return m_state; }
  /// Goes on from a state. \throws InputError if it has other numbers of unknowns
  void restore(const Instance<Memory>& exec, InversionState state);

 private:
  // The linear problem: rows of G S and of delays, times sqrt(weight) / sigma.
  struct System {
    const RayJacobian<Memory>* matrix;  // by ln slowness
    const RayJacobian<Memory>* delays;  // by the other unknowns; empty without other unknowns
    const ExponentialPrior<Dim, Memory>* prior;
    Vector<Memory> scale;  // of the rows
    Vector<Memory> full;   // the unknowns after the prior
    Vector<Memory> data;   // the data before the transpose
    std::int64_t rows() const { return matrix->rows(); }
    std::int64_t columns() const { return matrix->columns() + delays->columns(); }
    void apply(const Instance<Memory>& exec, const Vector<Memory>& x,
               const Vector<Memory>& y) const {
      copy(exec, full, x);
      prior->apply(exec, full);
      const bool more = delays->entries() > 0;
      matrix->product(exec, full, y, more ? Vector<Memory>() : scale);
      if (!more) return;
      delays->add_product(exec, beyond(x), y);
      launch("moho::tomography::scale_data", exec, rows(),
             detail::Multiply{scale.data(), y.data(), y.data()});
    }
    void transpose(const Instance<Memory>& exec, const Vector<Memory>& y,
                   const Vector<Memory>& x) const {
      launch("moho::tomography::scale_data", exec, rows(),
             detail::Multiply{scale.data(), y.data(), data.data()});
      matrix->product_transposed(exec, data, x);
      prior->transpose(exec, x);
      if (delays->columns() > 0) delays->product_transposed(exec, data, beyond(x));
    }
    // The unknowns beyond those of the model.
    Vector<Memory> beyond(const Vector<Memory>& x) const {
      return Vector<Memory>(x.data() + matrix->columns(),
                            static_cast<std::size_t>(delays->columns()));
    }
  };
  // The same with the rows of the prior: [A; lambda].
  struct DampedSystem {
    System system;
    double lambda;
    std::int64_t rows() const { return system.rows() + system.columns(); }
    std::int64_t columns() const { return system.columns(); }
    void apply(const Instance<Memory>& exec, const Vector<Memory>& x,
               const Vector<Memory>& y) const {
      system.apply(exec, x, head(y));
      launch("moho::tomography::prior_rows", exec, columns(),
             optimize::detail::ScaleInto{x.data(), lambda, y.data() + system.rows()});
    }
    void transpose(const Instance<Memory>& exec, const Vector<Memory>& y,
                   const Vector<Memory>& x) const {
      system.transpose(exec, head(y), x);
      launch("moho::tomography::prior_rows", exec, columns(),
             optimize::detail::SubtractRow{y.data() + system.rows(), -lambda, x.data()});
    }
    Vector<Memory> head(const Vector<Memory>& y) const {
      return Vector<Memory>(y.data(), static_cast<std::size_t>(system.rows()));
    }
  };
  // A model to compare with the present one.
  struct Trial {
    std::vector<double> white, change;  // w; ln slowness minus that of the reference
    Delays delays;
    std::vector<double> velocity;
    Prediction<Dim, Memory> prediction;
    std::int64_t held = 0;
  };

  // The solution of a linear problem within bounds.
  struct BoundedStep {
    std::vector<double> at;  // unknowns
    double decrease = 0.0;   // of the objective, predicted
    double largest = 0.0;    // change of ln slowness
  };

  void start_apart(const Instance<Memory>& exec, const std::vector<double>& reference);
  std::vector<double> apply_prior(const Instance<Memory>& exec,
                                  const std::vector<double>& white) const;
  void make_velocity(const Instance<Memory>& exec, Trial& trial) const;
  bool bounded() const { return m_options.velocity_max > 0.0; }
  std::array<std::vector<double>, 2> ranges() const;
  bool keep_bounds(std::vector<double>& change) const;
  std::int64_t count_held(const std::vector<double>& change) const;
  bool is_outside(const Instance<Memory>& exec, const std::vector<double>& x) const;
  BoundedStep step_within_bounds(const Instance<Memory>& exec, const std::vector<double>& x,
                                 const std::vector<double>& guess, double lambda, double mu,
                                 bool rough) const;
  double solve_within_bounds(const Instance<Memory>& exec, const std::vector<double>& x,
                             const DampingRequest& request, bool may_lower, double& lambda,
                             std::vector<double>& solution) const;
  bool goes_back(const Prediction<Dim, Memory>& prediction, const Delays& delays) const;
  double delay_of(const Delays& delays, const Pick& pick) const;
  double sigma_of(const Pick& pick, double time) const;
  void fit(bool restored = false);
  double chi2() const;
  double data_weight() const;
  double misfit(const Prediction<Dim, Memory>& prediction, const Delays& delays) const;
  Points<Dim> positions(const Delays& delays) const;
  void limit_moves(Delays& delays) const;
  double prior_scale(double deviation) const;
  std::vector<double> delay_scales() const;
  std::vector<double> unknowns_of(const std::vector<double>& white, const Delays& delays) const;
  void split(const std::vector<double>& x, std::vector<double>& white, Delays& delays) const;
  SparseRows delay_rows() const;
  System system(const Instance<Memory>& exec) const;
  optimize::Krylov<Memory> bidiagonalise(const Instance<Memory>& exec,
                                         const optimize::BidiagonaliseOptions& options);
  optimize::Krylov<Memory> bidiagonalise_for_gcv(const Instance<Memory>& exec,
                                                 const DampingRequest& request);
  void report_state(IterationReport& report) const;
  optimize::Krylov<Memory> bidiagonalise_change(const Instance<Memory>& exec,
                                                const std::vector<double>& x, double lambda,
                                                double limit) const;
  double try_model(const Instance<Memory>& exec, const std::vector<double>& at, double lambda,
                   double now, double min, bool keep_rays, IterationReport& report);
  double try_steps(const Instance<Memory>& exec, const std::vector<double>& x,
                   const std::vector<double>& solution, double predicted, double lambda,
                   bool keep_rays, IterationReport& report);
  IterationReport evaluate_start(const Instance<Memory>& exec);
  bool may_end(const IterationReport& report, double before, double predicted, bool at_least) const;
  void decide(const IterationReport& report, double before, double predicted, bool at_least);

  Grid<Dim> m_grid;
  PickSet<Dim> m_picks;
  std::vector<double> m_reference;
  Ground<Dim> m_ground;
  std::vector<unsigned char> m_mask;
  Options<Dim> m_options;
  Forward<T, Dim, Memory> m_forward;
  ExponentialPrior<Dim, Memory> m_prior;
  double m_kappa = 1.0;
  InversionState m_state;
  std::vector<double> m_velocity;
  Prediction<Dim, Memory> m_now;
  std::vector<PickFit> m_fits;
  RayJacobian<Memory> m_matrix, m_delay_matrix;
};

}  // namespace moho::tomography

#include <moho/tomography/detail/inversion_bounds.hpp>
#include <moho/tomography/detail/inversion_delays.hpp>
#include <moho/tomography/detail/inversion_impl.hpp>
