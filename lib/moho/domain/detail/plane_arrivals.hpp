// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First arrivals on the planes of a grid, from a model (internal).

#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/domain/domain.hpp>
#include <moho/eikonal/solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace moho::domain {

namespace detail {

/// Largest velocity at a node in any direction: vp sqrt(max(1, 1 + 2 epsilon, 1 + 2 delta)).
///
/// Self-adjoint equations lower delta to epsilon where it is larger, so that delta never raises the
/// velocity: it is not read, and arrivals do not depend on its taper around sources.
///
/// The arrays may lack the layers of the faces. A node in a layer has the value of the nearest node
/// within, as in extend_model(). Random layers are slower than that; their values are not read, so
/// that arrays with and without layers give the same arrivals.
template <class T, int Dim>
struct FastestVelocity {
  const T *vp = nullptr, *epsilon = nullptr, *delta = nullptr;  ///< null if absent or not read
  Grid<Dim> model;                                              ///< grid of the arrays
  Index<Dim> shift{};  ///< node 0 of the model in the grid of the requested nodes
  Index<Dim> lower{};  ///< nodes of the arrays that are in the layers of the lower faces
  Index<Dim> upper{};  ///< nodes in the layers of the upper faces

  KOKKOS_FORCEINLINE_FUNCTION T operator()(const Index<Dim>& node) const {
    Index<Dim> inside;
    for (int d = 0; d < Dim; ++d) inside[d] = inside_of(d, node[d]);
    return value(model.flat(inside));
  }
  /// Returns the nearest node of the arrays along an axis that is outside the layers.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inside_of(int axis, std::int64_t node) const {
    const std::int64_t first = lower[axis], last = model.extents[axis] - 1 - upper[axis];
    const std::int64_t k = node - shift[axis];
    return k < first ? first : k > last ? last : k;
  }
  /// Returns the largest velocity at an element of the arrays.
  KOKKOS_FORCEINLINE_FUNCTION T value(std::int64_t i) const {
    T max = T(1);
    if (epsilon != nullptr) {
      const T a = T(1) + T(2) * epsilon[i];
      max = a > max ? a : max;
    }
    if (delta != nullptr) {
      const T b = T(1) + T(2) * delta[i];
      max = b > max ? b : max;
    }
    return vp[i] * static_cast<T>(sqrt(max));
  }
};

/// Functor that returns the slowness of the fastest wave.
template <class T, int Dim>
struct LeastSlowness {
  FastestVelocity<T, Dim> fastest;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const std::int64_t, const Index<Dim>& node) const {
    return T(1) / fastest(node);
  }
};

/// Functor that returns the value of a field.
template <class T, int Dim>
struct ValueOf {
  const T* field;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const std::int64_t i, const Index<Dim>&) const {
    return field[i];
  }
};

/// Planes across all axes, one axis after the other: those across axis d begin at first[d].
template <int Dim>
struct PlaneRange {
  Index<Dim> first{};
  std::int64_t count = 0;

  explicit PlaneRange(const Grid<Dim>& grid) {
    for (int d = 0; d < Dim; ++d) {
      first[d] = count;
      count += grid.extents[d];
    }
  }
};

/// Functor that computes the smallest value on each plane.
template <class T, int Dim, class Value>
struct LeastOnPlanes {
  Value value;
  Grid<Dim> grid;
  Index<Dim> first;
  T* min;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = grid.node(i);
    const T own = value(i, node);
    for (int d = 0; d < Dim; ++d) {
      T* const address = min + first[d] + node[d];
      // few nodes lower a minimum that other threads have already lowered
      if (own < relaxed_load(address)) atomic_minimum(address, own);
    }
  }
};

/// Returns the minimum of a non-negative value on every plane across each axis, on the host.
template <class T, int Dim, class Memory, class Value>
std::array<std::vector<double>, Dim> min_on_planes(const Instance<Memory>& exec,
                                                   const Grid<Dim>& grid, const Value& value) {
  const PlaneRange<Dim> planes(grid);
  const auto min = allocate<Kokkos::View<T*, Memory>>(exec, "moho::domain::planes", planes.count);
  fill(exec, min, std::numeric_limits<T>::max());
  launch("moho::domain::planes", exec, grid.size(),
         LeastOnPlanes<T, Dim, Value>{value, grid, planes.first, min.data()});
  const std::vector<T> host = download(exec, min);
  std::array<std::vector<double>, Dim> result;
  for (int d = 0; d < Dim; ++d) {
    for (std::int64_t k = 0; k < grid.extents[d]; ++k) {
      result[static_cast<std::size_t>(d)].push_back(
          static_cast<double>(host[static_cast<std::size_t>(planes.first[d] + k)]));
    }
  }
  return result;
}

/// Functor that computes the largest velocity around each node of a coarser grid.
///
/// Node k of the coarse grid is the fine node k coarsening. No fine node between coarse nodes is
/// faster than these.
template <class T, int Dim>
struct Coarsen {
  FastestVelocity<T, Dim> fastest;
  Grid<Dim> fine, coarse;
  std::int64_t coarsening;
  T* velocity;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = coarse.node(i);
    Box<Dim> around;
    for (int d = 0; d < Dim; ++d) limit(d, node[d], around);
    T max = T(0);
    const std::int64_t nodes = around.size();
    for (std::int64_t k = 0; k < nodes; ++k) {
      const T v = fastest(around.node(k));
      max = v > max ? v : max;
    }
    velocity[i] = max;
  }
  /// Sets the fine nodes around a coarse one along an axis.
  KOKKOS_FORCEINLINE_FUNCTION void limit(int d, std::int64_t node, Box<Dim>& around) const {
    const std::int64_t centre = node * coarsening, last = fine.extents[d] - 1;
    around.lower[d] = centre - coarsening + 1;
    around.upper[d] = centre + coarsening;
    // the last coarse node may lie beyond the grid
    if (around.lower[d] > last) around.lower[d] = last;
    if (around.lower[d] < 0) around.lower[d] = 0;
    if (around.upper[d] > last + 1) around.upper[d] = last + 1;
  }
};

/// \brief Coarsen on hosts, for a row along the last axis. Index: rows of the coarse grid.
///
/// The rows of the model around it are read in order, once for each row instead of each node.
template <class T, int Dim>
struct CoarsenRow {
  Coarsen<T, Dim> nodes;

  void operator()(const std::int64_t row) const {
    constexpr int last = Dim - 1;
    const FastestVelocity<T, Dim>& fastest = nodes.fastest;
    const std::int64_t length = nodes.coarse.extents[last];
    const Index<Dim> first = nodes.coarse.node(row * length);
    Box<Dim> around;
    for (int d = 0; d < last; ++d) nodes.limit(d, first[d], around);
    around.lower[last] = 0;
    around.upper[last] = 1;
    static thread_local std::vector<T> max;
    max.assign(static_cast<std::size_t>(fastest.model.extents[last]), T(0));
    const std::int64_t rows = around.size();
    for (std::int64_t k = 0; k < rows; ++k) {
      Index<Dim> inside = around.node(k);
      for (int d = 0; d < last; ++d) inside[d] = fastest.inside_of(d, inside[d]);
      inside[last] = 0;
      const std::int64_t begin = fastest.model.flat(inside);
      T* const to = max.data();
      const auto count = static_cast<std::int64_t>(max.size());
      for (std::int64_t z = 0; z < count; ++z) {
        const T v = fastest.value(begin + z);
        to[z] = v > to[z] ? v : to[z];
      }
    }
    for (std::int64_t z = 0; z < length; ++z) {
      nodes.limit(last, z, around);
      const T* const from = max.data() + fastest.inside_of(last, around.lower[last]);
      const T* const to = max.data() + fastest.inside_of(last, around.upper[last] - 1) + 1;
      nodes.velocity[row * length + z] = *std::max_element(from, to);
    }
  }
};

/// \brief Times at which the box has to include each plane, and the box at any time.
///
/// `lower[d][k]` is the earliest arrival on plane k across axis d and all planes below. `upper` is
/// the earliest on plane k and all planes above. The first never increases with k, the second never
/// decreases.
template <int Dim>
class ArrivalBoxes {
 public:
  ArrivalBoxes() = default;
  /// \param arrivals earliest arrival on each plane across each axis
  explicit ArrivalBoxes(const std::array<std::vector<double>, Dim>& arrivals)
      : m_lower(arrivals), m_upper(arrivals) {
    for (std::size_t d = 0; d < Dim; ++d) {
      auto &lower = m_lower[d], &upper = m_upper[d];
      for (std::size_t k = 1; k < lower.size(); ++k) lower[k] = std::min(lower[k], lower[k - 1]);
      for (std::size_t k = upper.size() - 1; k > 0; --k) {
        upper[k - 1] = std::min(upper[k - 1], upper[k]);
      }
    }
  }
  /// Returns the planes that waves have reached; empty before the first arrival.
  Box<Dim> at(double time) const {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) {
      const auto &lower = m_lower[static_cast<std::size_t>(d)],
                 &upper = m_upper[static_cast<std::size_t>(d)];
      box.lower[d] = std::partition_point(lower.begin(), lower.end(),
                                          [&](double arrival) { return arrival > time; }) -
                     lower.begin();
      box.upper[d] = std::partition_point(upper.begin(), upper.end(),
                                          [&](double arrival) { return arrival <= time; }) -
                     upper.begin();
    }
    return box;
  }
  /// Returns the boxes of a grid that is `factor` times as fine, with `extents` nodes.
  ///
  /// A plane between two coarse planes has the earlier arrival of both.
  ArrivalBoxes refined(std::int64_t factor, const Index<Dim>& extents) const {
    ArrivalBoxes result;
    for (int d = 0; d < Dim; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      for (std::int64_t k = 0; k < extents[d]; ++k) {
        const auto below = static_cast<std::size_t>(k / factor);
        const auto above = static_cast<std::size_t>((k + factor - 1) / factor);
        result.m_lower[axis].push_back(m_lower[axis][above]);
        result.m_upper[axis].push_back(m_upper[axis][below]);
      }
    }
    return result;
  }

 private:
  std::array<std::vector<double>, Dim> m_lower, m_upper;
};

/// Returns the least slowness on each plane, s/m.
/// \param exec execution instance of the search; the function waits for it
template <class T, int Dim, class Memory>
std::array<std::vector<double>, Dim> min_slowness(const Instance<Memory>& exec,
                                                  const Grid<Dim>& grid,
                                                  const FastestVelocity<T, Dim>& fastest) {
  return min_on_planes<T, Dim, Memory>(exec, grid, LeastSlowness<T, Dim>{fastest});
}

/// Returns lower bounds of the arrival on each plane.
/// \param slowness least one of each plane, see min_slowness()
/// \param sources nodes of the sources
template <int Dim>
ArrivalBoxes<Dim> arrivals_by_layers(const Grid<Dim>& grid,
                                     std::array<std::vector<double>, Dim> slowness,
                                     const Box<Dim>& sources) {
  for (int d = 0; d < Dim; ++d) {
    std::vector<double>& arrival = slowness[static_cast<std::size_t>(d)];
    const std::vector<double> min = arrival;
    const auto from = [&](std::int64_t at, std::int64_t to) {
      const auto a = static_cast<std::size_t>(at), b = static_cast<std::size_t>(to);
      arrival[b] = arrival[a] + grid.spacing[d] * std::min(min[a], min[b]);
    };
    const std::int64_t first = sources.lower[d], last = sources.upper[d] - 1;
    for (std::int64_t k = first; k <= last; ++k) arrival[static_cast<std::size_t>(k)] = 0.0;
    for (std::int64_t k = first; k > 0; --k) from(k, k - 1);
    for (std::int64_t k = last; k + 1 < grid.extents[d]; ++k) from(k, k + 1);
  }
  return ArrivalBoxes<Dim>(slowness);
}

/// Returns the grid of every `coarsening`-th node, which contains all nodes of a grid.
template <int Dim>
Grid<Dim> coarse_grid(const Grid<Dim>& grid, std::int64_t coarsening) {
  Grid<Dim> coarse = grid;
  for (int d = 0; d < Dim; ++d) {
    coarse.extents[d] = (grid.extents[d] - 1 + coarsening - 1) / coarsening + 1;
    coarse.spacing[d] = grid.spacing[d] * static_cast<double>(coarsening);
  }
  return coarse;
}

/// Returns the largest velocity around each node of coarse_grid(), m/s. It does not wait.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> coarse_velocity(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const FastestVelocity<T, Dim>& fastest,
                                      std::int64_t coarsening) {
  const Grid<Dim> coarse = coarse_grid(grid, coarsening);
  const auto velocity = make_field<T>(exec, coarse, "moho::domain::velocity");
  const Coarsen<T, Dim> body{fastest, grid, coarse, coarsening, velocity.data()};
  if constexpr (is_host_memory<Memory>) {
    launch("moho::domain::coarsen", exec, coarse.size() / coarse.extents[Dim - 1],
           CoarsenRow<T, Dim>{body});
  } else {
    launch("moho::domain::coarsen", exec, coarse.size(), body);
  }
  return velocity;
}

/// Returns first arrivals on each plane by the eikonal equation on every `coarsening`-th node.
/// \param exec execution instance of the solver; the function waits for it
/// \param velocity of coarse_velocity(), in the memory of the instance
template <class T, int Dim, class Memory>
ArrivalBoxes<Dim> arrivals_by_eikonal(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const Field<T, Dim, Memory>& velocity,
                                      const Points<Dim>& sources, std::int64_t coarsening) {
  const Grid<Dim> coarse = coarse_grid(grid, coarsening);
  const auto times = make_field<T>(exec, coarse, "moho::domain::times");
  eikonal::solve(InstanceOf<Memory>(exec), coarse, velocity, sources, times);
  const ArrivalBoxes<Dim> arrivals(
      min_on_planes<T, Dim, Memory>(exec, coarse, ValueOf<T, Dim>{times.data()}));
  return arrivals.refined(coarsening, grid.extents);
}

/// Returns pointers to a model's fields. \throws InputError for fields of another shape
template <class T, int Dim, class Memory>
FastestVelocity<T, Dim> fastest_velocity(const Grid<Dim>& grid,
                                         const wave::Model<T, Dim, Memory>& model,
                                         wave::Equations equations, const Index<Dim>& shift) {
  if (model.vp.data() == nullptr) {
    throw InputError("vp: it is missing (arrivals come from it): give the propagator's model");
  }
  check_shape(grid, model.vp, "vp");
  if (model.epsilon.data() != nullptr) check_shape(grid, model.epsilon, "epsilon");
  if (model.delta.data() != nullptr) check_shape(grid, model.delta, "delta");
  const T* const delta = equations == wave::Equations::self_adjoint ? nullptr : model.delta.data();
  return {model.vp.data(), model.epsilon.data(), delta, grid, shift};
}

}  // namespace detail

}  // namespace moho::domain
