// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Choices and checks of an Objective before its first shot.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/fwi/model_parameters.hpp>
#include <moho/fwi/shot_evaluator.hpp>
#include <moho/wave/model_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace moho::fwi {

/// Planner of an Objective.
template <class T, int Dim, class Memory>
class ObjectivePlanner {
 public:
  /// \param shots evaluator; it must outlive the planner
  explicit ObjectivePlanner(ShotEvaluator<T, Dim, Memory>& shots)
      : m_shots(shots), m_options(shots.options()) {}

  /// \brief Makes the plan. The band of the shots is the last one afterwards.
  /// \param bounds bounds of each parameter, from bounds_of()
  /// \throws InputError, MemoryError
  ObjectivePlan make(const std::vector<Range>& bounds) {
    m_plan.bounds = bounds;
    plan_time_step();
    check_bands();
    plan_band();
    take_band();
    check_velocities();
    m_plan.data_bytes = m_shots.data_bytes();
    m_shots.plan_memory(m_plan, m_options.source_field);
    return m_plan;
  }

 private:
  using Model = wave::Model<T, Dim, Memory>;

  // Position of vp among the parameters.
  std::size_t index_of_vp() const {
    const auto& parameters = m_options.parameters;
    return static_cast<std::size_t>(std::find(parameters.begin(), parameters.end(), Parameter::vp) -
                                    parameters.begin());
  }
  Range& range_of_vp() { return m_plan.bounds[index_of_vp()]; }
  // True for default bounds: these adapt to time step and grid.
  bool chosen_bounds() const {
    const std::size_t vp = index_of_vp();
    return vp >= m_options.bounds.size() || !m_options.bounds[vp].given();
  }
  // Returns the model of the highest or lowest vp and epsilon within the bounds.
  Model extreme(bool highest) {
    Model model = m_shots.start();
    for (std::size_t u = 0; u < m_options.parameters.size(); ++u) {
      const Parameter parameter = m_options.parameters[u];
      if (parameter == Parameter::density || parameter == Parameter::delta) continue;
      auto field = make_field<T>(m_shots.exec(), m_shots.grid(), to_string(parameter));
      const Range& range = m_plan.bounds[u];
      fill(m_shots.exec(), field, static_cast<T>(highest ? range.high : range.low));
      model.field(parameter) = field;
    }
    return model;
  }
  double max_dt() { return m_shots.limits_of(extreme(true)).largest_dt; }

  // Chooses or checks the time step: stable up to the bounds of vp and epsilon. Contrasts of
  // density within its bounds may need a shorter one, which a search finds out at its trials.
  void plan_time_step() {
    const Model& data_model = m_shots.given().model;
    const double data_dt =
        data_model.vp.data() != nullptr ? m_shots.limits_of(data_model).largest_dt : 0.0;
    const wave::Limits limits = m_shots.limits_of(m_shots.start());
    double& dt = m_shots.modelling_options().time.dt;
    m_given_dt = dt != 0.0;
    m_plan.max_dt = max_dt();
    if (chosen_bounds() && dt >= m_plan.max_dt && dt < limits.largest_dt) {
      range_of_vp().high *= 0.9999 * m_plan.max_dt / dt;
      m_plan.max_dt = max_dt();
    }
    if (data_dt > 0.0) m_plan.max_dt = std::min(m_plan.max_dt, data_dt);
    if (dt == 0.0) {
      dt = std::floor(0.9 * m_plan.max_dt * 1e6) * 1e-6;
      if (!(dt > 0.0)) dt = 0.9 * m_plan.max_dt;
    } else if (dt >= m_plan.max_dt) {
      throw InputError(concat(m_options.names("dt"), " is ", dt, " s (allowed: below ",
                              m_plan.max_dt,
                              " s, for models up to the bounds): take a smaller one, or lower the "
                              "greatest value of ",
                              m_options.names("bounds")));
    }
  }

  // Checks that time steps sample the bands.
  void check_bands() const {
    const double highest = 0.5 / m_shots.modelling_options().time.dt;
    for (const double band : m_options.bands) {
      if (band < highest) continue;
      throw InputError(concat(m_options.names("bands"), ": ", band, " Hz (allowed: below ", highest,
                              " Hz, which time steps of ", 0.5 / highest,
                              " s sample): take lower frequencies, or leave it out"));
    }
  }

  // Plans the last band. An error that is due to the bounds alone names them.
  void plan_band() {
    const double band = m_options.bands.empty() ? 0.0 : m_options.bands.back();
    double& dt = m_shots.modelling_options().time.dt;
    try {
      m_shots.set_band(band);
    } catch (const InputError&) {
      const double within_bounds = dt;
      if (m_given_dt || chosen_bounds()) throw;
      dt = 0.9 * m_shots.limits_of(m_shots.start()).largest_dt;
      m_shots.set_band(band);
      throw InputError(concat(m_options.names("bounds"), ": models up to the bounds take steps of ",
                              within_bounds, " s (allowed: steps of which a run of ",
                              m_shots.modelling_options().time.time, " s can have as many; the ",
                              "start takes ", dt, " s): lower the greatest value"));
    }
  }

  void take_band() {
    const wave::ModellingPlan<Dim>& p = m_shots.plan();
    m_plan.medium = p.medium;
    m_plan.time = p.time;
    m_plan.frequency = p.frequency;
    m_plan.nodes_per_wave = p.nodes_per_wave;
    m_plan.product_interval = m_shots.product_interval();
    const std::int64_t largest = std::max<std::int64_t>(p.time.steps / 2, 1);
    if (m_options.product_interval > largest) {
      throw InputError(concat(m_options.names("product_interval"), " is ",
                              m_options.product_interval, " (allowed: 1 to ", largest,
                              ", as a gradient needs 2 products in ", p.time.steps,
                              " steps): decrease it, or increase the time"));
    }
    for (int d = 0; d < Dim; ++d) m_plan.nodes.push_back(p.grid.extents[d]);
    m_plan.variables = static_cast<double>(m_options.parameters.size()) *
                       static_cast<double>(m_shots.grid().size());
  }

  // Checks that the grid samples the slowest waves within the bounds.
  void check_velocities() {
    const wave::ModellingPlan<Dim>& p = m_shots.plan();
    const Grid<Dim>& grid = m_shots.grid();
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
    const double required = p.nodes_per_wave_wanted * p.frequency * spacing;
    const double slowest = m_shots.limits_of(extreme(false)).min_velocity;
    if (chosen_bounds() && slowest < required) range_of_vp().low *= 1.0001 * required / slowest;
    try {
      wave::check_dispersion(grid, m_shots.limits_of(extreme(false)),
                             m_shots.modelling_options().order, p.frequency);
    } catch (const InputError& error) {
      throw InputError(
          concat(m_options.names("bounds"), ": with the least velocity, ", error.what()));
    }
  }

  ShotEvaluator<T, Dim, Memory>& m_shots;
  const ObjectiveOptions<Dim>& m_options;
  ObjectivePlan m_plan;
  bool m_given_dt = false;  ///< true for a time step of the options
};

}  // namespace moho::fwi
