// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief ExpandRunner on one memory.

#include "bench_expand/runner.hpp"

#include <moho/core/launch.hpp>
#include <moho/core/phases.hpp>
#include <moho/domain/expand.hpp>
#include <moho/wave/model_shot.hpp>

#include <cmath>
#include <memory>

namespace moho::bench {

/// Fills a model by formula, in fractions of its size. The model has water, folded sediments and a
/// salt body with a rugged top. The sediments' velocity increases with depth; their symmetry axis
/// is normal to the beds.
template <class Memory>
struct FillExpandModel {
  wave::Model<float, 3, Memory> model;
  Grid<3> grid;
  double nodes;  ///< number of nodes along each side

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<3> node = grid.node(i);
    const double x = static_cast<double>(node[0]) / (nodes - 1.0);
    const double y = static_cast<double>(node[1]) / (nodes - 1.0);
    const double z = static_cast<double>(node[2]) / (nodes - 1.0);
    const double fold = 0.03 * sin(9.0 * x + 2.0 * y) * (z < 0.25 ? 4.0 * z : 1.0);
    const double floor = 0.06 + 0.01 * sin(5.0 * x) * cos(4.0 * y);
    const double depth = z + fold - floor;
    const double u = (x - 0.56) / 0.2, w = (y - 0.48) / 0.16;
    const double rugged = 0.02 * sin(29.0 * x) * cos(23.0 * y);
    const double v = (z - 0.42 - rugged) / 0.13;
    const bool salt = u * u + v * v + w * w < 1.0;
    const bool water = z < floor;
    // alternating beds of 800 m with slightly higher and lower velocity
    const double bed = 120.0 * sin(125.0 * depth);
    double speed = 1750.0 + 2700.0 * depth + bed;
    if (speed > 4300.0) speed = 4300.0;
    if (salt) speed = 4500.0;
    if (water) speed = 1500.0;
    set(model.vp, i, speed);
    const double strength = salt || water ? 0.0 : 0.08 + 0.12 * (depth < 1.0 ? depth : 1.0);
    set(model.epsilon, i, strength);
    set(model.delta, i, 0.5 * strength);
    // the symmetry axis is normal to the beds
    const double slope_x = 0.27 * cos(9.0 * x + 2.0 * y);
    const double slope_y = 0.06 * cos(9.0 * x + 2.0 * y);
    set(model.theta, i, atan(sqrt(slope_x * slope_x + slope_y * slope_y)));
    set(model.phi, i, atan2(slope_y, slope_x));
  }
  KOKKOS_INLINE_FUNCTION static void set(const Field<float, 3, Memory>& field, std::int64_t i,
                                         double value) {
    if (field.data() != nullptr) field.data()[i] = static_cast<float>(value);
  }
};

/// ExpandRunner of a space.
template <class Memory>
class ExpandRunnerOn final : public ExpandRunner {
 public:
  ExpandRunnerOn(const Instance<Memory>& exec, const ExpandSettings& settings)
      : m_exec(exec), m_settings(settings) {
    constexpr double side = 16000.0;
    Grid<3> grid;
    for (int d = 0; d < 3; ++d) {
      grid.extents[d] = settings.n;
      grid.spacing[d] = side / static_cast<double>(settings.n - 1);
    }
    wave::PropagatorOptions<3> options;
    options.boundaries = wave::all_faces<3>(wave::FaceKind::sponge, settings.width);
    const Grid<3> extended = wave::extended_grid(grid, options.boundaries);
    m_model =
        wave::extend_model<float, 3, Memory>(m_exec, grid, inner_model(grid), options.boundaries);
    const wave::Limits limits =
        wave::limits_of<float, 3, Memory>(m_exec, extended, m_model, options.order);
    options.dt = 0.95 * limits.largest_dt;
    // highest frequency that the grid resolves
    options.frequency = 0.99 * limits.min_velocity /
                        (wave::required_points_per_wavelength(options.order) * grid.spacing[0]);
    m_wavelet = wave::ricker(options.frequency / 2.4, options.dt);
    m_propagator =
        std::make_unique<wave::Propagator<float, 3, Memory>>(m_exec, extended, m_model, options);
    m_wavefield = m_propagator->make_wavefield(m_exec);

    const double shallow = 1.5 * grid.spacing[2];
    m_sources = wave::PointSet<float, 3, Memory>(
        m_exec, extended, m_propagator->layout(), {{0.48 * side, 0.51 * side, shallow}},
        wave::point_options(*m_propagator, "source", true));
    Points<3> receivers;
    for (int i = 0; i <= 160; ++i) {
      const double along = side * i / 160.0;
      receivers.push_back({along, 0.5 * side, shallow});
      receivers.push_back({0.5 * side, along, shallow});
      if (i % 8 == 0) receivers.push_back({along, 0.7 * side, 0.8 * side});
    }
    m_receivers =
        wave::PointSet<float, 3, Memory>(m_exec, extended, m_propagator->layout(), receivers,
                                         wave::point_options(*m_propagator, "receiver", false));
    m_exec.fence();
    shot(20, nullptr);  // initialisations of the device are complete afterwards
  }

  ExpandResult run(const std::string& method) override {
    domain::DomainOptions options;
    options.onset = domain::onset(m_wavelet, m_propagator->dt());
    const bool full = method == "eikonal_full";
    if (full) options.coarsening = 1;
    m_exec.fence();
    const Stopwatch watch;
    const auto domain =
        domain::make_domain<float, 3, Memory>(domain::parse_expansion(full ? "eikonal" : method),
                                              m_exec, *m_propagator, m_model, m_sources, options);
    m_exec.fence();
    ExpandResult result;
    result.setup_seconds = watch.seconds();
    result.dt = m_propagator->dt();
    const auto steps = static_cast<std::int64_t>(std::ceil(m_settings.seconds / result.dt));
    const auto done = shot(steps, domain.get());
    result.steps = done.steps;
    result.seconds = result.setup_seconds + done.seconds;
    result.method_seconds = domain->report().seconds_steps;
    result.fraction = done.points / done.whole_points;
    result.points = done.points;
    result.traces.assign(done.traces.data(), done.traces.data() + done.traces.size());
    return result;
  }

 private:
  wave::Model<float, 3, Memory> inner_model(const Grid<3>& grid) const {
    FillExpandModel<Memory> kernel;
    kernel.grid = grid;
    kernel.nodes = static_cast<double>(m_settings.n);
    const auto add = [&](Field<float, 3, Memory>& field, const char* name) {
      field = make_field<float>(m_exec, grid, name);
    };
    add(kernel.model.vp, "vp");
    if (m_settings.tti) {
      add(kernel.model.epsilon, "epsilon");
      add(kernel.model.delta, "delta");
      add(kernel.model.theta, "theta");
      add(kernel.model.phi, "phi");
    }
    launch("moho::bench::fill_model", m_exec, grid.size(), kernel);
    return kernel.model;
  }

  wave::ShotResult<float, 3, Memory> shot(std::int64_t steps,
                                          wave::Domain<float, 3, Memory>* domain) {
    wave::ShotOptions<float, 3, Memory> options;
    options.steps = steps;
    options.domain = domain;
    return wave::model_shot(m_exec, *m_propagator, m_wavefield, m_sources, m_wavelet, m_receivers,
                            options);
  }

  Instance<Memory> m_exec;
  ExpandSettings m_settings;
  wave::Model<float, 3, Memory> m_model;
  std::unique_ptr<wave::Propagator<float, 3, Memory>> m_propagator;
  wave::Wavefield<float, 3, Memory> m_wavefield;
  wave::PointSet<float, 3, Memory> m_sources, m_receivers;
  std::vector<double> m_wavelet;
};

template <class Memory>
std::unique_ptr<ExpandRunner> make_expand_runner(const Instance<Memory>& exec,
                                                 const ExpandSettings& settings) {
  return std::make_unique<ExpandRunnerOn<Memory>>(exec, settings);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_EXPAND(Memory)                                                            \
  template std::unique_ptr<ExpandRunner> make_expand_runner<Memory>(const Instance<Memory>&, \
                                                                    const ExpandSettings&)

}  // namespace moho::bench
