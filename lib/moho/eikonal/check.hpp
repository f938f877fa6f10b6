// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What the eikonal solvers refuse, and the sources that they start from.

#include <moho/eikonal/layout.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace moho::eikonal {

/// Throws InputError naming the first source outside the grid, or that there is none.
template <int Dim>
void check_sources(const Grid<Dim>& grid, const Points<Dim>& sources) {
  if (sources.empty()) {
    throw InputError("sources: there are none (allowed: one or more): give a source");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (grid.contains(sources[i])) continue;
    std::string extent;
    for (int d = 0; d < Dim; ++d) {
      extent +=
          concat(d ? ", " : "", axis_name<Dim>(d), " ", grid.origin[d], " to ", grid.upper(d));
    }
    throw InputError(concat("source ", i, ": ", format_point(sources[i]),
                            " is outside the model (allowed: ", extent,
                            "): move it or extend the model"));
  }
}

/// Throws InputError for an order, or another option, that is not allowed.
inline void check_options(const Options& options) {
  if (options.order != 1 && options.order != 2) {
    throw InputError(concat("order is ", options.order,
                            " (allowed: 1 or 2, of the upwind differences): choose one of these"));
  }
  if (!(options.tiles_ahead >= 0.0)) {
    throw InputError(concat("tiles_ahead is ", options.tiles_ahead,
                            " (allowed: 0, the tuned value, or more): leave it at 0"));
  }
}

namespace detail {

/// What can be wrong with a node's medium.
enum class Fault { none = 0, velocity = 1, epsilon = 2, delta = 3, concave = 4 };

/// What is wrong with a node's medium.
template <class T>
KOKKOS_INLINE_FUNCTION Fault fault_of(const MediumData<T>& medium, std::int64_t node) {
  const auto in_range = [](double value) {
    return value >= least_thomsen && value <= greatest_thomsen;
  };
  const double v = static_cast<double>(medium.velocity[node]);
  if (!(v >= least_velocity && v <= greatest_velocity)) return Fault::velocity;
  if (!medium.epsilon) return Fault::none;
  const double e = static_cast<double>(medium.epsilon[node]);
  if (!in_range(e)) return Fault::epsilon;
  if (!medium.delta) return Fault::none;
  const double d = static_cast<double>(medium.delta[node]);
  if (!in_range(d)) return Fault::delta;
  return d <= e + 0.25 * (1.0 + 2.0 * e) + 1e-6 ? Fault::none : Fault::concave;
}

/// Finds the first node whose medium is wrong.
template <class T>
struct InspectMedium {
  MediumData<T> medium;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first) const {
    if (i < first && fault_of(medium, i) != Fault::none) first = i;
  }
};

/// Sums up slownesses.
template <class T>
struct SumSlowness {
  MediumData<T> medium;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& sum) const {
    sum += 1.0 / static_cast<double>(medium.velocity[i]);
  }
};

/// Copies the media of some nodes.
template <class T, class Exec>
struct PickNodes {
  MediumData<T> medium;
  Kokkos::View<const std::int64_t*, typename Exec::memory_space> nodes;
  Kokkos::View<double**, Kokkos::LayoutRight, typename Exec::memory_space> values;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const std::int64_t node = nodes(i);
    values(i, 0) = static_cast<double>(medium.velocity[node]);
    values(i, 1) = medium.epsilon ? static_cast<double>(medium.epsilon[node]) : 0.0;
    values(i, 2) = medium.delta ? static_cast<double>(medium.delta[node]) : values(i, 1);
  }
};

/// Velocity, epsilon and delta of some nodes, on the host.
template <class T, class Exec>
std::vector<std::array<double, 3>> pick_nodes(const Exec& exec, const MediumData<T>& medium,
                                              const std::vector<std::int64_t>& nodes) {
  using Memory = typename Exec::memory_space;
  const Kokkos::View<std::int64_t*, Memory> list("moho::eikonal::nodes", nodes.size());
  const auto host_list = Kokkos::create_mirror_view(list);
  for (std::size_t i = 0; i < nodes.size(); ++i) host_list(i) = nodes[i];
  Kokkos::deep_copy(exec, list, host_list);
  const Kokkos::View<double**, Kokkos::LayoutRight, Memory> values("moho::eikonal::values",
                                                                   nodes.size(), 3);
  Kokkos::parallel_for("moho::eikonal::pick_nodes",
                       Kokkos::RangePolicy<Exec>(exec, 0, static_cast<int>(nodes.size())),
                       PickNodes<T, Exec>{medium, list, values});
  const auto host_values = Kokkos::create_mirror_view(values);
  Kokkos::deep_copy(exec, host_values, values);
  exec.fence();
  std::vector<std::array<double, 3>> result(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    result[i] = {host_values(i, 0), host_values(i, 1), host_values(i, 2)};
  }
  return result;
}

/// Throws InputError naming the first node whose velocity, epsilon or delta is not allowed; returns
/// the mean slowness.
template <class T, int Dim, class Exec>
double check_medium(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
                    const MediumData<T>& data) {
  using Wide = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  check_shape(grid, medium.velocity, "velocity");
  if (medium.epsilon.size() > 0) check_shape(grid, medium.epsilon, "epsilon");
  if (medium.delta.size() > 0) {
    check_shape(grid, medium.delta, "delta");
    if (medium.epsilon.size() == 0) {
      throw InputError(
          "delta: it was given without epsilon (allowed: epsilon alone, which is elliptical, or "
          "both): give epsilon");
    }
  }
  std::int64_t first = grid.size();
  Kokkos::parallel_reduce("moho::eikonal::inspect_medium", Wide(exec, 0, grid.size()),
                          InspectMedium<T>{data}, Kokkos::Min<std::int64_t>(first));
  exec.fence();
  if (first >= grid.size()) {
    double sum = 0.0;
    Kokkos::parallel_reduce("moho::eikonal::sum_slowness", Wide(exec, 0, grid.size()),
                            SumSlowness<T>{data}, sum);
    exec.fence();
    return sum / static_cast<double>(grid.size());
  }
  const std::array<double, 3> values = pick_nodes(exec, data, {first}).front();
  const Index<Dim> node = grid.node(first);
  const std::string where =
      concat(" at node ", format_index(node), ", position ", format_point(grid.position(node)));
  const double v = values[0];
  if (!(v >= least_velocity && v <= greatest_velocity)) {
    throw InputError(concat("velocity is ", v, where, " (allowed: positive and finite, ",
                            least_velocity, " to ", greatest_velocity, "): repair the model"));
  }
  const std::string range = concat(least_thomsen, " to ", greatest_thomsen);
  for (int k = 1; k <= 2; ++k) {
    if (values[static_cast<std::size_t>(k)] >= least_thomsen &&
        values[static_cast<std::size_t>(k)] <= greatest_thomsen) {
      continue;
    }
    throw InputError(concat(k == 1 ? "epsilon" : "delta", " is ",
                            values[static_cast<std::size_t>(k)], where, " (allowed: ", range,
                            "; it is a fraction, not a percentage): repair the model"));
  }
  throw InputError(concat("delta is ", values[2], " where epsilon is ", values[1], where,
                          " (allowed: at most epsilon + (1 + 2 epsilon) / 4 = ",
                          values[1] + 0.25 * (1.0 + 2.0 * values[1]),
                          ", beyond which wavefronts fold): repair the model"));
}

/// The fields' addresses.
template <class T, int Dim, class Exec>
MediumData<T> addresses(const Medium<T, Dim, Exec>& medium) {
  return {medium.velocity.data(), medium.epsilon.size() > 0 ? medium.epsilon.data() : nullptr,
          medium.delta.size() > 0 ? medium.delta.data() : nullptr};
}

/// The node at one end of a source's box along an axis; the node beyond it if the box is a node
/// wide.
template <int Dim>
Index<Dim> beside(const Grid<Dim>& grid, const SourceBox<Dim>& box, int axis, int side) {
  Index<Dim> node{};
  for (int d = 0; d < Dim; ++d) node[d] = box.first[d];
  const std::int64_t more = box.first[axis] == box.last[axis] ? 1 : 0;
  node[axis] = side == 0 ? std::max<std::int64_t>(box.first[axis] - more, 0)
                         : std::min(box.last[axis] + more, grid.extents[axis] - 1);
  return node;
}

/// Positions in nodes, the medium at each source, and the times of the nodes around it.
///
/// Between the source and a node of its cell the slowness is taken as linear along the straight
/// line: the time is the mean of those of two homogeneous media, which is exact to the third order
/// of the spacing.
template <class T, int Dim, class Exec>
std::vector<Source<Dim>> make_sources(const Exec& exec, const Grid<Dim>& grid,
                                      const MediumData<T>& medium, const Points<Dim>& points,
                                      bool factored) {
  constexpr int corners = 1 << Dim;
  std::vector<Source<Dim>> sources(points.size());
  std::vector<std::int64_t> nodes;
  for (std::size_t s = 0; s < points.size(); ++s) {
    Source<Dim>& source = sources[s];
    const Point<Dim> q = grid.to_index_space(points[s]);
    for (int d = 0; d < Dim; ++d) {
      const double last = static_cast<double>(grid.extents[d] - 1);
      const double nearest = std::floor(q[d] + 0.5);
      double p = std::abs(q[d] - nearest) < 1e-6 ? nearest : q[d];
      p = p < 0.0 ? 0.0 : p > last ? last : p;
      source.position[d] = p;
      source.box.first[d] = static_cast<std::int64_t>(std::floor(p));
      source.box.last[d] = static_cast<std::int64_t>(std::ceil(p));
    }
    for (int corner = 0; corner < corners; ++corner) {
      Index<Dim> node{};
      for (int d = 0; d < Dim; ++d) {
        node[d] = (corner >> d) & 1 ? source.box.last[d] : source.box.first[d];
      }
      nodes.push_back(grid.flat(node));
    }
    for (int d = 0; d < Dim; ++d) {
      for (int side = 0; side < 2; ++side) {
        nodes.push_back(grid.flat(beside(grid, source.box, d, side)));
      }
    }
  }
  const auto values = pick_nodes(exec, medium, nodes);
  constexpr std::size_t each = corners + 2 * Dim;
  for (std::size_t s = 0; s < points.size(); ++s) {
    Source<Dim>& source = sources[s];
    std::array<double, 3> mean{};
    for (int corner = 0; corner < corners; ++corner) {
      double weight = 1.0;
      for (int d = 0; d < Dim; ++d) {
        const double upper = source.position[d] - static_cast<double>(source.box.first[d]);
        weight *= (corner >> d) & 1 ? upper : 1.0 - upper;
      }
      for (std::size_t k = 0; k < 3; ++k) {
        mean[k] += weight * values[s * each + static_cast<std::size_t>(corner)][k];
      }
    }
    source.medium = make_constants(mean[0], mean[1], mean[2]);
    for (int d = 0; d < Dim; ++d) {
      // u = (1 + v0 / v) / 2 close to the source
      const std::size_t at = s * each + corners + 2 * static_cast<std::size_t>(d);
      const std::int64_t steps =
          beside(grid, source.box, d, 1)[d] - beside(grid, source.box, d, 0)[d];
      source.tilt[d] = steps == 0 ? 0.0
                                  : -0.5 * (values[at + 1][0] - values[at][0]) /
                                        (static_cast<double>(steps) * mean[0]);
    }
    for (int corner = 0; corner < corners; ++corner) {
      const auto& v = values[s * each + static_cast<std::size_t>(corner)];
      double along = 0.0, across = 0.0;
      for (int d = 0; d < Dim; ++d) {
        const std::int64_t node = (corner >> d) & 1 ? source.box.last[d] : source.box.first[d];
        along = (static_cast<double>(node) - source.position[d]) * grid.spacing[d];
        if (d + 1 < Dim) across += along * along;
      }
      across = std::sqrt(across);
      const double at_source = homogeneous(source.medium, across, along).time;
      const double at_node = homogeneous(make_constants(v[0], v[1], v[2]), across, along).time;
      const double time = 0.5 * (at_source + at_node);
      source.factor[corner] = !factored ? time : at_source > 0.0 ? time / at_source : 1.0;
    }
  }
  return sources;
}

/// Throws InputError unless the two fields of a medium and the outputs are what solvers can take.
template <class T, int Dim, class Exec>
double check_input(const Exec& exec, const Grid<Dim>& grid, const Medium<T, Dim, Exec>& medium,
                   const Points<Dim>& sources, const Options& options) {
  grid.check();
  check_options(options);
  check_sources(grid, sources);
  return check_medium(exec, grid, medium, addresses<T, Dim, Exec>(medium));
}

}  // namespace detail

}  // namespace moho::eikonal
