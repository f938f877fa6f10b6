// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot over a small model, its misfit and gradient, for tests of inversion.

#include <moho/fwi/gradient.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/stores.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "wave/support.hpp"

namespace moho::testing {

/// Method of the source wavefield in the backward propagation.
enum class SourceMethod { stored, shell, replay };

template <class T, class Memory>
std::vector<double> numbers_of(const Instance<Memory>& exec,
                               const wave::PointSeries<const T, Memory>& series) {
  const auto values = download(exec, series);
  return std::vector<double>(values.begin(), values.end());
}
template <class T, int Dim, class Memory>
std::vector<double> values_of(const Instance<Memory>& exec, const Field<T, Dim, Memory>& field) {
  const auto values = download(exec, field);
  return std::vector<double>(values.begin(), values.end());
}

/// \brief Shot with sources and receivers between nodes.
///
/// The misfit is half the sum of squares of the differences from `observed`.
template <class T, int Dim, class Memory>
struct SmallShot {
  Instance<Memory> exec;
  Grid<Dim> grid, extended;  ///< without and with layers
  Boundaries<Dim> faces;
  PropagatorOptions<Dim> options;
  Model<T, Dim, Memory> model;  ///< without layers
  std::unique_ptr<Propagator<T, Dim, Memory>> propagator;
  wave::PointSet<T, Dim, Memory> sources, receivers;
  wave::SourceTerm<T, Dim, Memory> forward;
  std::vector<double> observed;
  std::int64_t steps = 90, product_interval = 1;
  snapshot::DeviceArena<T, Memory> arena{"snapshots"};

  SmallShot(const Instance<Memory>& instance, const Grid<Dim>& of,
            const Boundaries<Dim>& boundaries, const Model<T, Dim, Memory>& start, int order = 4)
      : exec(instance),
        grid(of),
        extended(wave::extended_grid(of, boundaries)),
        faces(boundaries),
        model(start) {
    options.order = order;
    options.boundaries = faces;
    propagator = std::make_unique<Propagator<T, Dim, Memory>>(make_propagator(
        exec, extended, wave::extend_model<T, Dim, Memory>(exec, grid, model, faces), options,
        0.8));
    sources = points(2, 11);
    receivers = points(9, 12, 10.0);  // in the upper part: their box excludes some nodes
    std::mt19937 random(13);
    std::vector<double> signal;
    for (std::int64_t n = 0; n < 40; ++n) {
      const double t = static_cast<double>(n - 14) / 5.0;
      for (int s = 0; s < 2; ++s) signal.push_back((1.0 - t * t) * std::exp(-0.5 * t * t));
    }
    forward = {propagator.get(), &sources, series_of<T, Memory>(exec, signal, 2)};
  }
  /// Returns random points, at most `deepest` nodes below the top.
  wave::PointSet<T, Dim, Memory> points(int count, unsigned seed, double deepest = 1e9) const {
    std::mt19937 random(seed);
    Points<Dim> positions;
    for (int n = 0; n < count; ++n) {
      Point<Dim> p{};
      for (int d = 0; d < Dim; ++d) {
        const double length = static_cast<double>(grid.extents[d] - 1);
        // nodes with a weight at a point are outside of the layers
        const double last = d == Dim - 1 ? std::min(length - 5.0, deepest) : length - 5.0;
        p[d] = grid.origin[d] + grid.spacing[d] * uniform(random, 5.0, last);
      }
      positions.push_back(p);
    }
    return wave::PointSet<T, Dim, Memory>(exec, extended, propagator->layout(), positions,
                                          wave::point_options(*propagator, "point", true));
  }
  void set_model(const Model<T, Dim, Memory>& other) {
    propagator->update(exec, wave::extend_model<T, Dim, Memory>(exec, grid, other, faces));
  }
  /// Returns recorded samples, steps + 1 rows.
  std::vector<double> modelled() const {
    auto field = propagator->make_wavefield(exec);
    const auto rows =
        allocate<wave::PointSeries<T, Memory>>(exec, "rows", static_cast<std::size_t>(steps + 1),
                                               static_cast<std::size_t>(receivers.count()));
    wave::RunOptions<T, Dim, Memory> run;
    run.last = steps;
    run.present = [&](std::int64_t n) {
      receivers.record(exec, field.now[0], rows, n, propagator->pressure_factors());
    };
    forward.run(exec, field, run);
    return numbers_of<T, Memory>(exec, rows);
  }
  double misfit() const {
    const auto rows = modelled();
    double sum = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += 0.5 * (rows[i] - observed[i]) * (rows[i] - observed[i]);
    }
    return sum;
  }
  fwi::ShotMisfit<T, Memory> least_squares() const {
    return [this](const wave::PointSeries<const T, Memory>& rows,
                  const wave::PointSeries<T, Memory>& derivative) {
      auto values = numbers_of<T, Memory>(exec, rows);
      double sum = 0.0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] -= observed[i];
        sum += 0.5 * values[i] * values[i];
      }
      copy(exec, derivative,
           series_of<T, Memory>(exec, values, static_cast<std::size_t>(receivers.count())));
      exec.fence();
      return sum;
    };
  }
  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> store(
      const fwi::ShotGradients<T, Dim, Memory>& gradients, SourceMethod method) {
    const int fields = gradients.fields();
    if (method == SourceMethod::stored)
      return std::make_unique<snapshot::MemoryStore<T, Dim, Memory>>(arena, fields);
    if (method == SourceMethod::shell) {
      return std::make_unique<snapshot::BoundaryStore<T, Dim, Memory>>(
          exec, forward, arena, snapshot::BoundaryStoreOptions{fields, gradients.outside()});
    }
    return std::make_unique<snapshot::CheckpointStore<T, Dim, Memory>>(
        exec, forward, arena, steps / product_interval, product_interval, 5, 4, fields);
  }
  /// Returns the derivatives with respect to the parameters at the current model.
  Model<T, Dim, Memory> gradient(const fwi::InvertedParameters& unknowns, SourceMethod method,
                                 bool layers = false, double* value = nullptr) {
    fwi::ShotGradients<T, Dim, Memory> gradients(exec, *propagator, unknowns, product_interval,
                                                 layers);
    auto field = propagator->make_wavefield(exec);
    const auto kept = store(gradients, method);
    fwi::ShotGradientOptions<T, Dim, Memory> shot;
    shot.steps = steps;
    const auto report =
        gradients.add(exec, field, forward, receivers, least_squares(), *kept, shot);
    if (value != nullptr) *value = report.misfit;
    return gradients.derivatives(exec, grid, model);
  }
};

/// Returns a parameter of a model by its number: vp, density, epsilon, delta.
template <class ModelType>
auto& parameter(ModelType& model, int number) {
  return number == 0   ? model.vp
         : number == 1 ? model.density
         : number == 2 ? model.epsilon
                       : model.delta;
}

/// Returns a rough model of a medium, on the host.
template <class T, int Dim>
Model<T, Dim, Kokkos::HostSpace> rough_model(const Grid<Dim>& grid, Medium medium) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const auto random = [&](unsigned seed, double low, double high) {
    return random_field<T, Dim, Kokkos::HostSpace>(host, grid, seed, low, high);
  };
  Model<T, Dim, Kokkos::HostSpace> model;
  model.vp = random(3, 1900.0, 2600.0);
  if (medium == Medium::variable_density) model.density = random(4, 1500.0, 2500.0);
  if (wave::fields_of(medium) == 2) {
    model.epsilon = random(5, 0.0, 0.3);
    model.delta = random(6, -0.1, 0.15);
  }
  if (medium == Medium::tti) {
    model.theta = random(9, 0.1, 1.0);
    if (Dim == 3) model.phi = random(10, 0.0, 3.0);
  }
  return model;
}

/// Returns a wavelet of 60 samples.
inline std::vector<double> short_wavelet() {
  std::vector<double> wavelet;
  for (int n = 0; n < 60; ++n) {
    const double t = static_cast<double>(n - 14) / 5.0;
    wavelet.push_back((1.0 - t * t) * std::exp(-0.5 * t * t));
  }
  return wavelet;
}

/// Returns the misfit of data of zero: half the sum of squares.
template <class T, class Memory>
fwi::ShotMisfit<T, Memory> misfit_of_squares(const Instance<Memory>& exec) {
  return [exec](const wave::PointSeries<const T, Memory>& rows,
                const wave::PointSeries<T, Memory>& derivative) {
    auto values = numbers_of<T, Memory>(exec, rows);
    double sum = 0.0;
    for (const double value : values) sum += 0.5 * value * value;
    copy(exec, derivative, series_of<T, Memory>(exec, values, rows.extent(1)));
    exec.fence();
    return sum;
  };
}

}  // namespace moho::testing
