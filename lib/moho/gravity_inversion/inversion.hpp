// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Inversion of gravity data for the densities of cells.

#include <moho/core/argument_names.hpp>
#include <moho/core/progress.hpp>
#include <moho/gravity/field_operator.hpp>
#include <moho/gravity_inversion/cells.hpp>
#include <moho/gravity_inversion/regularisation.hpp>
#include <moho/gravity_inversion/trend.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::gravity_inversion {

/// Data, unknowns and what is known of them.
struct InversionProblem {
  Cells cells;                     ///< the unknowns
  std::vector<double> stations;    ///< rows of x, y, z, m, z down
  gravity::Components components;  ///< of the data
  std::vector<double> data;     ///< components x stations, mGal and Eotvos; NaN: there is no value
  std::vector<double> errors;   ///< standard errors, as data; not used where there is no value
  std::vector<int> trend;       ///< degree of each component's trend, -1: none; empty: none at all
  std::vector<double> weights;  ///< w of each cell, positive; empty: 1
  std::vector<double> reference;  ///< kg/m^3 of each cell; empty: 0
  std::vector<double> start;      ///< kg/m^3 of each cell; empty: the reference within the bounds
  std::vector<double> lower;      ///< smallest densities, kg/m^3; empty: none
  std::vector<double> upper;      ///< largest densities, kg/m^3; empty: none
};

/// Minimisation of the objective.
enum class Solver {
  automatic,            ///< lbfgs with bounds, otherwise conjugate_gradients
  lbfgs,                ///< L-BFGS with projection to the bounds
  conjugate_gradients,  ///< Cgls, without bounds
};

/// Options of an Inversion.
struct InversionOptions {
  double small = 1.0;                           ///< factor of the squared densities
  std::array<double, 3> smooth{0.2, 0.2, 0.2};  ///< factors of squared differences along x, y, z
  double beta = 0.0;        ///< factor of the regularisation; 0: that of chi^2 = target
  double target = 1.0;      ///< chi^2 a value to be reached
  double tolerance = 0.05;  ///< relative difference of chi^2 from the target that is accepted
  double reduction = 3.0;   ///< beta is divided by this from one minimisation to the next
  int steps = 30;           ///< largest number of minimisations of the search for beta
  int iterations = 30;      ///< of a minimisation
  double decrease = 1e-4;   ///< a minimisation ends with an iteration that lowers
                            ///< J by this part
  int pairs = 8;            ///< pairs that L-BFGS stores
  double compact = 0.0;     ///< eps of the compactness, kg/m^3; 0: smooth models only
  int rounds = 8;           ///< minimisations with compactness
  Solver solver = Solver::automatic;  ///< minimisation
  ArgumentNames names = {};           ///< names of arguments in remarks
};

/// Returns true if conjugate gradients minimise.
bool is_linear(const InversionProblem& problem, const InversionOptions& options);
/// Returns the bytes of a problem.
double bytes_of_problem(const InversionProblem& problem);
/// Returns the bytes of the terms of the regularisation, by cells and by faces.
double bytes_of_regularisation(const Cells& cells);
/// Returns the bytes of the vectors of a minimisation.
double bytes_of_search(const InversionProblem& problem, const InversionOptions& options);
/// Returns the reason why the transforms of a lattice cannot be used; empty: they can.
/// \param problem cells and stations \param ground true if cells are cut at the ground
std::string why_no_lattice(const InversionProblem& problem, bool ground);
/// Returns the choice itself, or the products of `automatic` (gravity::choose_products()).
/// \param on_lattice true if why_no_lattice() is empty \param on_host true for hosts
gravity::Products choose_products(const InversionProblem& problem, bool on_lattice,
                                  gravity::Products wanted, bool on_host);

/// One minimisation.
struct InversionStep {
  std::string stage;            ///< "smooth" or "compact"
  double beta = 0.0;            ///< factor of the regularisation
  double chi2 = 0.0;            ///< chi^2 a value of the result
  double regularisation = 0.0;  ///< of the result, without beta
  std::int64_t iterations = 0;  ///< of the search
  std::int64_t products = 0;    ///< products with G or its transpose
};

/// State of an inversion between two minimisations; it determines the rest of
/// the run.
struct InversionState {
  std::vector<double> model;           ///< kg/m^3 of each cell
  std::vector<double> smooth_model;    ///< result of the smooth stage, once compact rounds begin
  double beta = 0.0;                   ///< of the next minimisation
  double above = 0.0;                  ///< smallest beta with chi^2 above the target; 0: none
  double above_chi2 = 0.0;             ///< its chi^2
  double below = 0.0;                  ///< largest beta with chi^2 below the target; 0: none
  double below_chi2 = 0.0;             ///< its chi^2
  int round = -1;                      ///< compact rounds done; -1: smooth stage
  bool done = false;                   ///< nothing is left to do
  std::string reason;                  ///< why the run ended
  std::vector<InversionStep> history;  ///< all minimisations
};

/// A model's fit to the data.
struct Fit {
  std::vector<double> field;         ///< of the model, without the trend
  std::vector<double> trend;         ///< components x stations
  std::vector<double> residuals;     ///< (data - field - trend) / error; NaN without a value
  std::vector<double> coefficients;  ///< of the trend
  std::vector<double> chi2;          ///< a value of each component
  std::vector<double> correlation;   ///< of each component's data without trend and its field
  double chi2_all = 0.0;             ///< a value, less the coefficients of the trend
  std::int64_t values = 0;           ///< values with data
};

/// \brief Minimises J(m) = |P S^-1 (G m - d)|^2 / 2 + beta R(m) / 2.
///
/// R(m) = small sum_j c_j v_j (m_j - m0_j)^2 + sum over faces c_ij smooth_axis
/// (m_i - m_j)^2 with c_j = w_j^2 V_j / mean V and c_ij the mean of both cells.
/// P removes the trend (see Trend). The smooth stage (v = 1) finds the beta
/// with chi^2 = target. Compact rounds then set v_j = eps^2 /
/// ((m_j - m0_j)^2 + eps^2) from the model before (Last and Kubik 1983) and
/// correct beta. docs/theory/gravity_inversion.md has the method.
///
///     Inversion inversion(field, problem, {.compact = 20.0});
///     InversionState state = inversion.begin();
///     while (!state.done) inversion.advance(state);
class Inversion {
 public:
  /// \param field operator of the problem's cells, stations and components; it must outlive this
  /// \param problem data and unknowns
  /// \param options regularisation and search
  /// \throws InputError for sizes that disagree, errors that are not positive, no data, crossed
  ///         bounds, a start outside of them, or options out of range
  Inversion(gravity::FieldOperator& field, InversionProblem problem,
            const InversionOptions& options = {});

  /// Returns the state before the first minimisation. It needs three products
  /// if beta is not given.
  InversionState begin();
  /// Makes the next minimisation.
  /// \param state the inversion so far
  /// \param progress called after each evaluation with the fraction of the largest number of
  ///        iterations of this minimisation
  void advance(InversionState& state, const Progress& progress = {});
  /// Goes on with a state that has ended if the options have more compact rounds.
  /// \throws InputError if the options have fewer rounds than the state
  void extend(InversionState& state) const;
  /// Returns the fit of a model; one product.
  Fit fit(const std::vector<double>& model);
  /// \brief Returns J, and its gradient in `gradient`.
  /// \param beta factor of the regularisation
  /// \param compact model that the factors v are computed from; null: v = 1
  double value_and_gradient(const std::vector<double>& model, double beta,
                            const std::vector<double>* compact, std::vector<double>& gradient);

  /// Returns the number of data that have a value.
  std::int64_t values() const { return m_values; }
  /// Returns the problem.
  const InversionProblem& problem() const { return m_problem; }
  /// Returns the options.
  const InversionOptions& options() const { return m_options; }
  /// Returns the trend.
  const Trend& trend() const { return m_trend; }
  /// Returns true if conjugate gradients are used.
  bool linear() const;

 private:
  void check() const;
  void regularise(const std::vector<double>* compact);
  double misfit(const std::vector<double>& model, std::vector<double>& residuals);
  void image(const std::vector<double>& direction, std::vector<double>& residuals);
  void gradient_of(const std::vector<double>& residuals, std::vector<double>& gradient);
  double chi2(double squares) const;
  InversionStep minimise(InversionState& state, const Progress& progress);
  void search_lbfgs(InversionState& state, const Progress& progress, InversionStep& step);
  void search_cgls(InversionState& state, const Progress& progress, InversionStep& step);
  void next_beta(InversionState& state, double found) const;
  void end_of_smooth(InversionState& state, const std::string& reason) const;
  void next_round(InversionState& state, double found) const;

  gravity::FieldOperator& m_field;
  InversionProblem m_problem;
  InversionOptions m_options;
  std::vector<double> m_inverse;  // 1 / error, 0 without a value
  std::vector<double> m_cell;     // c_j
  Trend m_trend;
  Regularisation m_regularisation;
  std::int64_t m_values = 0, m_products = 0;
  std::vector<double> m_field_values, m_weights;
};

}  // namespace moho::gravity_inversion
