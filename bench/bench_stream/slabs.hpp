// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Steps of one grid over several devices, each with a slab of its planes.

#include "bench_waves/run_impl.hpp"

#include <moho/core/timer.hpp>
#include <moho/stream/modelling.hpp>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace moho::bench {

/// Time of steps.
struct SlabTime {
  double seconds = 0.0;
  double points = 0.0;  ///< stepped nodes
};

/// A grid in slabs, with waves of many sources in a rough model.
template <class Memory>
class SlabBench {
 public:
  using T = float;
  using Scheme = wave::Scheme<T, 3, Memory>;

  /// Divides the grid of a scheme among devices, and steps until waves are everywhere.
  SlabBench(const Instance<Memory>& exec, const Scheme& scheme,
            const wave::PropagatorOptions<3>& options, int devices)
      : m_instances(instances_on_devices(exec, devices)) {
    for (const Instance<Memory>& instance : m_instances) {
      m_schemes.push_back(std::make_unique<Scheme>(instance, scheme.grid(), scheme.medium(),
                                                   scheme.limits(), options));
      instance.fence();
    }
    const int width = options.boundaries.lower[0].layer();
    Grid<3> grid = scheme.grid();
    for (int d = 0; d < 3; ++d) grid.extents[d] -= 2 * width;
    const std::int64_t halo = std::max<std::int64_t>(scheme.reach(0), 8);
    m_slabs = std::make_unique<stream::Slabs<T, 3, Memory>>(
        m_instances, m_schemes, halo, stream::equal_parts(scheme.grid().extents[0], devices, halo),
        grid, rough_model(grid, scheme.medium()), wave::RandomLayerOptions{});
    begin();
  }

  /// Steps, and returns the time.
  SlabTime run(std::int64_t steps) {
    const Stopwatch watch;
    const double before = m_points;
    m_points = m_slabs->run(steps, {});
    return {watch.seconds(), m_points - before};
  }
  /// Returns p on the complete grid.
  std::vector<T> values() const {
    const Box<3> box = whole_box(m_schemes.front()->grid());
    std::vector<T> result(static_cast<std::size_t>(box.size()));
    m_slabs->copy_out(0, box, result.data());
    return result;
  }

 private:
  using Host = Kokkos::HostSpace;
  static wave::Model<T, 3, Host> rough_model(const Grid<3>& grid, wave::Medium medium) {
    const Instance<Host> host{Kokkos::DefaultHostExecutionSpace()};
    const auto noise = [&](const char* name, double mean, double rough, std::uint64_t key) {
      auto field = make_field<T>(host, grid, name);
      T* const to = field.data();
      const std::int64_t plane = grid.size() / grid.extents[0];
      launch("moho::bench::noise", host, grid.extents[0], [=](const std::int64_t x) {
        for (std::int64_t n = 0; n < plane; ++n) {
          to[x * plane + n] = static_cast<T>(mean + rough * noise_at(x, 0, n, key));
        }
      });
      host.fence();
      return field;
    };
    wave::Model<T, 3, Host> model;
    model.vp = noise("vp", 3000.0, 1000.0, 1);
    if (medium == wave::Medium::variable_density) model.density = noise("density", 2e3, 300.0, 2);
    if (wave::fields_of(medium) == 2) {
      model.epsilon = noise("epsilon", 0.2, 0.05, 3);
      model.delta = noise("delta", 0.05, 0.05, 4);
    }
    if (medium == wave::Medium::tti) {
      model.theta = noise("theta", 0.5, 0.2, 5);
      model.phi = noise("phi", 0.3, 0.2, 6);
    }
    return model;
  }

  // Sources at random positions act for a few steps; their waves fill the grid.
  void begin() {
    constexpr std::int64_t acting = 8, steps = 192;
    const Grid<3>& grid = m_schemes.front()->grid();
    std::mt19937 random(3);
    Points<3> positions(static_cast<std::size_t>(grid.size() / (32 * 32 * 32)) + 1);
    for (Point<3>& point : positions) {
      for (int d = 0; d < 3; ++d) {
        point[d] = grid.origin[d] +
                   (0.1 + 0.8 * (random() / 4294967296.0)) * (grid.upper(d) - grid.origin[d]);
      }
    }
    std::vector<double> wavelet(acting);
    for (std::int64_t n = 0; n < acting; ++n) {
      wavelet[static_cast<std::size_t>(n)] = std::sin(0.7 * static_cast<double>(n + 1));
    }
    std::vector<wave::PointSet<T, 3, Memory>> sources;
    sources.reserve(m_instances.size());
    std::vector<stream::StreamShot<T, 3, Memory>> shots(m_instances.size()), still = shots;
    for (std::size_t g = 0; g < m_instances.size(); ++g) {
      sources.emplace_back(m_instances[g], grid, m_schemes[g]->layout(), positions,
                           wave::PointOptions<3>{});
      shots[g].sources = &sources[g];
      shots[g].amplitudes =
          wave::wavelet_series<T, Memory>(m_instances[g], wavelet, acting, sources[g].count());
      m_instances[g].fence();
    }
    m_slabs->begin(shots);
    m_points = m_slabs->run(steps, {});
    m_slabs->go_on(still);
  }

  std::vector<Instance<Memory>> m_instances;
  std::vector<std::unique_ptr<Scheme>> m_schemes;
  std::unique_ptr<stream::Slabs<T, 3, Memory>> m_slabs;
  double m_points = 0.0;
};

}  // namespace moho::bench
