// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief ShotsRunner on one memory.

#include "bench_shots/runner.hpp"

#include <moho/core/launch.hpp>
#include <moho/core/phases.hpp>
#include <moho/wave/shots.hpp>

#include <memory>

namespace moho::bench {

/// Velocity that increases with depth, slightly rough.
struct FillShotsModel {
  float* vp;
  std::int64_t depth;  ///< depth of the model in nodes
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const auto down = static_cast<float>(i % depth) / static_cast<float>(depth);
    vp[i] = 1600.0f + 3000.0f * down + 50.0f * static_cast<float>(i * 7919 % 13) / 13.0f;
  }
};

/// ShotsRunner of a space.
template <class Memory>
class ShotsRunnerOn final : public ShotsRunner {
 public:
  ShotsRunnerOn(const Instance<Memory>& exec, const ShotsSettings& settings)
      : m_exec(exec), m_settings(settings) {
    for (int d = 0; d < 2; ++d) {
      m_grid.extents[d] = settings.extents[d];
      m_grid.spacing[d] = 10.0;
    }
    m_model.vp = make_field<float>(m_exec, m_grid, "vp");
    launch("moho::bench::fill_model", m_exec, m_grid.size(),
           FillShotsModel{m_model.vp.data(), m_grid.extents[1]});
    const double width = m_grid.upper(0);
    const auto line = [&](double from, double to, std::int64_t count) {
      return wave::point_line<2>({from * width, 20.0}, {to * width, 20.0}, count);
    };
    m_shots =
        wave::fixed_spread<2>(line(0.06, 0.94, settings.shots), line(0.0, 1.0, settings.receivers));
  }

  ShotsResult run(int at_once, int together) override {
    wave::ModellingOptions<2> options;
    options.time.time = m_settings.seconds;
    options.receivers = m_settings.receivers;
    options.shots = m_settings.shots;
    options.concurrent_shots = at_once;
    options.batch_size = together;
    auto modelling = wave::make_modelling<float, 2, Memory>(
        m_exec, m_grid, m_model, wave::all_faces<2>(wave::FaceKind::cpml, 20),
        wave::ricker_wavelet(10.0), options);
    ShotsResult result;
    result.at_once = modelling.plan().concurrent_shots;
    result.together = modelling.plan().batch_size;
    const Stopwatch watch;
    wave::model_shots<float, 2, Memory>(
        m_exec, modelling, m_shots,
        [&](std::size_t, const wave::ShotResult<float, 2, Memory>& shot) {
          result.points += shot.points;
          const float* const samples = shot.traces.data();
          result.traces.emplace_back(samples, samples + shot.traces.size());
        });
    result.seconds = watch.seconds();
    return result;
  }

 private:
  Instance<Memory> m_exec;
  ShotsSettings m_settings;
  Grid<2> m_grid;
  wave::Model<float, 2, Memory> m_model;
  std::vector<wave::Shot<2>> m_shots;
};

template <class Memory>
std::unique_ptr<ShotsRunner> make_shots_runner(const Instance<Memory>& exec,
                                               const ShotsSettings& settings) {
  return std::make_unique<ShotsRunnerOn<Memory>>(exec, settings);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_SHOTS(Memory)                                                           \
  template std::unique_ptr<ShotsRunner> make_shots_runner<Memory>(const Instance<Memory>&, \
                                                                  const ShotsSettings&)

}  // namespace moho::bench
