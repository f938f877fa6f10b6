// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief SectionRunner on one memory.

#include "bench_section/runner.hpp"

#include <moho/core/copy.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/wave/model_shot.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace moho::bench {

/// Store whose snapshots are saved by launches for each step.
template <class Memory>
struct StoreByStep : snapshot::MemoryStore<float, 2, Memory> {
  using snapshot::MemoryStore<float, 2, Memory>::MemoryStore;
  bool stays() const override { return false; }
};

template <class Memory>
class SectionRunnerOn final : public SectionRunner {
 public:
  SectionRunnerOn(const Instance<Memory>& exec, wave::Medium medium, wave::FaceKind faces,
                  const Index<2>& nodes, bool smoke)
      : m_exec(exec) {
    m_grid.extents = nodes;
    // about the same work for all sizes
    m_steps = smoke ? 40 : std::int64_t{401} * 201 * 1880 / m_grid.size();
    m_grid.spacing = {10.0, 10.0};
    const auto field = [&](double low, double high) {
      auto result = make_field<float>(m_exec, m_grid, "parameter");
      std::vector<float> values;
      for (std::int64_t n = 0; n < m_grid.size(); ++n) {
        values.push_back(
            static_cast<float>(low + (high - low) * static_cast<double>(n * 7919 % 1013) / 1013.0));
      }
      copy(m_exec, wave::Storage<float, Memory>(result.data(), values.size()),
           HostElements<const float>(values.data(), values.size()));
      m_exec.fence();
      return result;
    };
    m_model.vp = field(1500.0, 4500.0);
    if (medium == wave::Medium::variable_density) m_model.density = field(1500.0, 3000.0);
    if (medium == wave::Medium::vti) {
      m_model.epsilon = field(0.1, 0.2);
      m_model.delta = field(0.0, 0.1);
    }
    wave::PropagatorOptions<2> options;
    options.order = 8;
    options.dt = 5e-4;
    options.boundaries = wave::all_faces<2>(faces, smoke ? 10 : 20);
    m_propagator = std::make_unique<wave::Propagator<float, 2, Memory>>(
        m_exec, wave::extended_grid(m_grid, options.boundaries),
        wave::extend_model<float, 2, Memory>(m_exec, m_grid, m_model, options.boundaries), options);
    m_field = m_propagator->make_wavefield(m_exec);
    m_sources = points_between(2);
    m_receivers = points_between(101);
    m_wavelet = wave::ricker(15.0, options.dt);
    m_amplitudes = wave::wavelet_series<float, Memory>(m_exec, m_wavelet, m_steps, 2);
  }
  double points() const override {
    return static_cast<double>(m_propagator->grid().size()) * static_cast<double>(m_steps);
  }
  SectionRun shot(bool one) override {
    wave::ShotOptions<float, 2, Memory> options;
    options.steps = m_steps;
    options.check_every = 500;
    if (!one) {
      options.snapshot_every = 2 * m_steps;  // never: callbacks need launches for each step
      options.snapshot = [](const auto&, const auto&, std::int64_t) {};
    }
    const auto result = wave::model_shot<float, 2, Memory>(
        m_exec, *m_propagator, m_field, m_sources, m_wavelet, m_receivers, options);
    return {result.seconds,
            result.seconds,
            {result.traces.data(), result.traces.data() + result.traces.size()}};
  }
  SectionRun gradient(bool one) override {
    fwi::ShotGradients<float, 2, Memory> gradients(m_exec, *m_propagator);
    std::unique_ptr<snapshot::MemoryStore<float, 2, Memory>> store;
    if (one) {
      store =
          std::make_unique<snapshot::MemoryStore<float, 2, Memory>>(m_arena, gradients.fields());
    } else {
      store = std::make_unique<StoreByStep<Memory>>(m_arena, gradients.fields());
    }
    fwi::ShotGradientOptions<float, 2, Memory> options;
    options.steps = m_steps;
    options.check_every = 500;
    const wave::SourceTerm<float, 2, Memory> term{
        m_propagator.get(), &m_sources, wave::PointSeries<const float, Memory>(m_amplitudes)};
    const auto report = gradients.add(
        m_exec, m_field, term, m_receivers,
        [&](const wave::PointSeries<const float, Memory>& modelled,
            const wave::PointSeries<float, Memory>& derivative) {
          copy(m_exec, derivative, modelled);
          m_exec.fence();
          return 1.0;
        },
        *store, options);
    const auto derivative = gradients.derivatives(m_exec, m_grid, m_model).vp;
    const wave::Storage<const float, Memory> elements(derivative.data(),
                                                      static_cast<std::size_t>(m_grid.size()));
    return {report.forward_seconds + report.backward_seconds, report.forward_seconds,
            download(m_exec, elements)};
  }

 private:
  wave::PointSet<float, 2, Memory> points_between(int count) const {
    Points<2> positions;
    const double width = m_grid.upper(0), depth = 0.25 * m_grid.upper(1);
    for (int k = 0; k < count; ++k) {
      positions.push_back({width * (0.1 + 0.8 * k / count) + 2.0, depth + 3.0});
    }
    return {m_exec, m_propagator->grid(), m_propagator->layout(), positions,
            wave::point_options(*m_propagator, "point", true)};
  }

  Instance<Memory> m_exec;
  std::int64_t m_steps = 0;
  Grid<2> m_grid;
  wave::Model<float, 2, Memory> m_model;
  std::unique_ptr<wave::Propagator<float, 2, Memory>> m_propagator;
  wave::Wavefield<float, 2, Memory> m_field;
  wave::PointSet<float, 2, Memory> m_sources, m_receivers;
  std::vector<double> m_wavelet;
  wave::PointSeries<float, Memory> m_amplitudes;
  snapshot::DeviceArena<float, Memory> m_arena{"moho::bench::snapshots"};
};

template <class Memory>
std::unique_ptr<SectionRunner> make_section_runner(const Instance<Memory>& exec,
                                                   wave::Medium medium, wave::FaceKind faces,
                                                   const Index<2>& nodes, bool smoke) {
  return std::make_unique<SectionRunnerOn<Memory>>(exec, medium, faces, nodes, smoke);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_SECTION(Memory)                                     \
  template std::unique_ptr<SectionRunner> make_section_runner<Memory>( \
      const Instance<Memory>&, wave::Medium, wave::FaceKind, const Index<2>&, bool)

}  // namespace moho::bench
