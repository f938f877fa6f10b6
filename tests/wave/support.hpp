// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Helpers of the tests of propagators: models, wavefields on the host, shots between nodes.

#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "refusals.hpp"
#include "spaces.hpp"
#include "wave/random.hpp"

namespace moho::testing {

using wave::Boundaries;
using wave::Equations;
using wave::Face;
using wave::FaceKind;
using wave::Layout;
using wave::Medium;
using wave::MediumCoefficients;
using wave::Model;
using wave::Propagator;
using wave::PropagatorOptions;
using wave::Scheme;
using wave::Storage;
using wave::Wavefield;

inline constexpr double pi = 3.14159265358979323846;

/// Medium with its equations.
struct Kind {
  Medium medium;
  Equations equations = Equations::self_adjoint;

  int fields() const { return wave::fields_of(medium); }
  bool fletcher() const { return equations == Equations::fletcher; }
  /// Returns the name in messages.
  std::string name() const {
    return std::string(wave::to_string(medium)) + (fletcher() ? " (Fletcher)" : "");
  }
};
/// All media and equations.
inline constexpr Kind kinds[] = {
    {Medium::isotropic}, {Medium::variable_density},         {Medium::vti},
    {Medium::tti},       {Medium::vti, Equations::fletcher}, {Medium::tti, Equations::fletcher}};

/// Returns a bound by precision.
template <class T>
constexpr double by_precision(double in_float, double in_double) {
  return std::is_same_v<T, float> ? in_float : in_double;
}

/// Wavelet of all shots: 1 at its delay, negligible at time zero.
struct Ricker {
  double frequency = 15.0;
  double delay = 0.1;
  double operator()(double t) const {
    const double a = pi * frequency * (t - delay);
    return (1.0 - 2.0 * a * a) * std::exp(-a * a);
  }
};

template <int Dim>
Grid<Dim> cube(std::int64_t nodes, double spacing) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) {
    grid.extents[d] = nodes;
    grid.spacing[d] = spacing;
  }
  return grid;
}

/// Returns a field whose value at a node is value(node).
template <class T, int Dim, class Memory, class Function>
Field<T, Dim, Memory> field_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                               const Function& value) {
  auto field = make_field<T>(exec, grid, "field");
  std::vector<T> values(static_cast<std::size_t>(grid.size()));
  for (std::int64_t n = 0; n < grid.size(); ++n) {
    values[static_cast<std::size_t>(n)] = static_cast<T>(value(grid.node(n)));
  }
  copy(exec, Storage<T, Memory>(field.data(), values.size()),
       HostElements<const T>(values.data(), values.size()));
  exec.fence();
  return field;
}
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> constant(const Instance<Memory>& exec, const Grid<Dim>& grid, double value) {
  return field_of<T, Dim, Memory>(exec, grid, [=](const Index<Dim>&) { return value; });
}
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> random_field(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   unsigned seed, double low, double high) {
  std::mt19937 random(seed);
  return field_of<T, Dim, Memory>(exec, grid,
                                  [&](const Index<Dim>&) { return uniform(random, low, high); });
}

/// Returns a model with independent random values at every node.
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> random_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                   Medium medium, unsigned seed) {
  Model<T, Dim, Memory> model;
  model.vp = random_field<T, Dim, Memory>(exec, grid, seed, 1500.0, 4500.0);
  if (medium == Medium::variable_density) {
    model.density = random_field<T, Dim, Memory>(exec, grid, seed + 1, 1000.0, 3000.0);
  }
  if (wave::fields_of(medium) == 2) {
    model.epsilon = random_field<T, Dim, Memory>(exec, grid, seed + 2, -0.1, 0.4);
    model.delta = random_field<T, Dim, Memory>(exec, grid, seed + 3, -0.2, 0.3);
  }
  if (medium == Medium::tti) {
    model.theta = random_field<T, Dim, Memory>(exec, grid, seed + 4, -6.2, 6.2);
    if (Dim == 3) model.phi = random_field<T, Dim, Memory>(exec, grid, seed + 5, -6.2, 6.2);
  }
  return model;
}

/// Values of a homogeneous model; each medium uses its own parameters.
struct Constants {
  double vp = 2000.0, density = 1000.0, epsilon = 0.0, delta = 0.0, theta = 0.0, phi = 0.0;
};
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> constant_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     Medium medium, const Constants& values) {
  Model<T, Dim, Memory> model;
  model.vp = constant<T, Dim, Memory>(exec, grid, values.vp);
  if (medium == Medium::variable_density) {
    model.density = constant<T, Dim, Memory>(exec, grid, values.density);
  }
  if (wave::fields_of(medium) == 2) {
    model.epsilon = constant<T, Dim, Memory>(exec, grid, values.epsilon);
    model.delta = constant<T, Dim, Memory>(exec, grid, values.delta);
  }
  if (medium == Medium::tti) {
    model.theta = constant<T, Dim, Memory>(exec, grid, values.theta);
    if (Dim == 3) model.phi = constant<T, Dim, Memory>(exec, grid, values.phi);
  }
  return model;
}

/// Copies a padded array (or a layer's memory) to the host.
template <class T, class Memory>
std::vector<T> fetch(const Instance<Memory>& exec, const Storage<T, Memory>& view) {
  return download(exec, view);
}
template <class T, class Memory>
void send(const Instance<Memory>& exec, const std::vector<T>& values,
          const Storage<T, Memory>& view) {
  copy(exec, view, HostElements<const T>(values.data(), values.size()));
  exec.fence();
}

/// Sets the nodes of a padded array to value(node), and its halo to zero.
template <class T, int Dim, class Memory, class Function>
void set_nodes(const Instance<Memory>& exec, const Layout<Dim>& layout,
               const Storage<T, Memory>& field, const Function& value) {
  std::vector<T> values(field.extent(0), T(0));
  const Box<Dim> box{{}, layout.extents};
  for (std::int64_t n = 0; n < box.size(); ++n) {
    const Index<Dim> node = box.node(n);
    values[static_cast<std::size_t>(layout.flat(node))] = static_cast<T>(value(node));
  }
  send<T, Memory>(exec, values, field);
}

/// Returns the nodes of a padded array in the order of the grid.
template <class T, int Dim, class Memory>
std::vector<double> nodes_of(const Instance<Memory>& exec, const Layout<Dim>& layout,
                             const Storage<T, Memory>& field) {
  const std::vector<T> values = fetch<T, Memory>(exec, field);
  const Box<Dim> box{{}, layout.extents};
  std::vector<double> result(static_cast<std::size_t>(box.size()));
  for (std::int64_t n = 0; n < box.size(); ++n) {
    result[static_cast<std::size_t>(n)] =
        static_cast<double>(values[static_cast<std::size_t>(layout.flat(box.node(n)))]);
  }
  return result;
}

/// Sets both time levels to noise at every node.
template <class T, int Dim, class Memory>
void set_random(const Instance<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield,
                unsigned seed) {
  std::mt19937 random(seed);
  for (int f = 0; f < wavefield.fields; ++f) {
    for (const auto* storage : {&wavefield.now[f], &wavefield.next[f]}) {
      set_nodes<T, Dim, Memory>(exec, wavefield.layout, *storage,
                                [&](const Index<Dim>&) { return uniform(random, -1.0, 1.0); });
    }
  }
}

inline double largest(const std::vector<double>& values) {
  double max = 0.0;
  for (const double value : values) max = std::max(max, std::fabs(value));
  return max;
}
inline double norm(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}
inline std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}
/// Returns the largest difference over the largest magnitude of b.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  return largest(difference(a, b)) / largest(b);
}
/// Returns the norm of the difference over the norm of b.
inline double relative_error(const std::vector<double>& a, const std::vector<double>& b) {
  return norm(difference(a, b)) / norm(b);
}

/// Returns a propagator whose step is a fraction of the largest stable one.
template <class T, int Dim, class Memory>
Propagator<T, Dim, Memory> make_propagator(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                           const Model<T, Dim, Memory>& model,
                                           PropagatorOptions<Dim> options, double part = 0.9) {
  const auto limits =
      wave::limits_of(exec, grid, model, options.order, options.equations, options.sigma);
  options.dt = part * limits.largest_dt;
  return Propagator<T, Dim, Memory>(exec, grid, model, options);
}

/// Scheme with its medium.
template <class T, int Dim, class Memory>
struct Unchecked {
  Scheme<T, Dim, Memory> scheme;
  MediumCoefficients<T, Dim, Memory> medium;
};
/// Returns the same model with a larger step than the propagator's.
///
/// The scheme accepts the step as stable.
template <class T, int Dim, class Memory>
Unchecked<T, Dim, Memory> with_longer_step(const Instance<Memory>& exec,
                                           const Propagator<T, Dim, Memory>& propagator,
                                           const Model<T, Dim, Memory>& model, double factor) {
  PropagatorOptions<Dim> options = propagator.options();
  options.dt *= factor;
  wave::Limits limits = propagator.limits();
  limits.largest_dt *= 2.0 * factor;
  Scheme<T, Dim, Memory> scheme(exec, propagator.grid(), propagator.medium(), limits, options);
  MediumCoefficients<T, Dim, Memory> medium(exec, scheme, all_planes(propagator.grid()));
  medium.load(exec, scheme, model);
  exec.fence();
  return {scheme, medium};
}

/// Functor that adds scale * amplitude to a node of a padded array.
template <class T, class Memory>
struct AddToNode {
  Storage<T, Memory> field;
  moho::wave::NodeFactors<T, Memory> scale;
  std::int64_t element;
  T amplitude;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    T factor = scale.first(element);
    if (scale.second.data() != nullptr) factor *= scale.second(element);
    field(element) += factor * amplitude;
  }
};
template <class T, class Memory>
void add_to_node(const Instance<Memory>& exec, const Storage<T, Memory>& field,
                 const moho::wave::NodeFactors<T, Memory>& scale, std::int64_t element,
                 double amplitude) {
  launch("moho::test::add", exec, 1,
         AddToNode<T, Memory>{field, scale, element, static_cast<T>(amplitude)});
}

/// Functor that copies nodes of a padded array to a row of a gather.
template <class T, class Memory>
struct ReadNodes {
  Storage<const T, Memory> field;
  Storage<const T, Memory> factors;  // unallocated: 1
  Kokkos::View<const std::int64_t*, Memory> elements;
  Storage<T, Memory> gather;
  std::int64_t row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t at = elements(i);
    gather(row * static_cast<std::int64_t>(elements.extent(0)) + i) =
        factors.data() != nullptr ? field(at) * factors(at) : field(at);
  }
};

/// Returns rows of values in a memory space: steps x columns.
template <class T, class Memory>
wave::PointSeries<T, Memory> series_of(const Instance<Memory>& exec,
                                       const std::vector<double>& values, std::size_t columns) {
  const auto series =
      allocate<wave::PointSeries<T, Memory>>(exec, "series", values.size() / columns, columns);
  const std::vector<T> converted(values.begin(), values.end());
  copy(exec, Storage<T, Memory>(series.data(), converted.size()),
       HostElements<const T>(converted.data(), converted.size()));
  exec.fence();
  return series;
}

/// A trace for every receiver: sample n is at n dt, the first is zero.
using Traces = std::vector<std::vector<double>>;

/// \brief Runs a shot from a node to nodes, in a given wavefield.
///
/// Both fields of VTI and TTI receive the source. watch(step) is called after every step.
template <class T, int Dim, class Memory, class Signal, class Watch>
Traces run_shot(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                Wavefield<T, Dim, Memory>& wavefield,
                const std::type_identity_t<Index<Dim>>& source, const Signal& signal,
                const std::type_identity_t<std::vector<Index<Dim>>>& receivers, int steps,
                const Watch& watch) {
  std::vector<std::int64_t> positions;
  for (const Index<Dim>& receiver : receivers)
    positions.push_back(propagator.layout().flat(receiver));
  const auto elements = upload(exec, positions, "elements");
  const Storage<T, Memory> gather("gather", receivers.size() * static_cast<std::size_t>(steps + 1));
  const std::int64_t element = propagator.layout().flat(source);
  for (int n = 0; n < steps; ++n) {
    propagator.step(exec, wavefield);
    const double amplitude = signal(n * propagator.dt());
    for (int f = 0; f < wavefield.fields && amplitude != 0.0; ++f) {
      add_to_node<T, Memory>(exec, wavefield.next[f], propagator.source_scale(f), element,
                             amplitude);
    }
    wavefield.advance();
    launch("moho::test::read", exec, static_cast<std::int64_t>(receivers.size()),
           ReadNodes<T, Memory>{wavefield.now[0], propagator.pressure_factors(), elements, gather,
                                n + 1});
    watch(n + 1);
  }
  const std::vector<T> values = fetch<T, Memory>(exec, gather);
  Traces traces(receivers.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    traces[i % receivers.size()].push_back(static_cast<double>(values[i]));
  }
  return traces;
}
template <class T, int Dim, class Memory, class Signal>
Traces run_shot(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                const std::type_identity_t<Index<Dim>>& source, const Signal& signal,
                const std::type_identity_t<std::vector<Index<Dim>>>& receivers, int steps) {
  auto wavefield = propagator.make_wavefield(exec);
  return run_shot(exec, propagator, wavefield, source, signal, receivers, steps, [](int) {});
}

}  // namespace moho::testing
