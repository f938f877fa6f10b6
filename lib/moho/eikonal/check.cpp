// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/instances.hpp>
#include <moho/eikonal/solve.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace moho::eikonal {

void check_options(const Options& options) {
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

template <int Dim>
void refuse_node(const Grid<Dim>& grid, std::int64_t node, const NodeValues& values,
                 bool without_delta) {
  const Index<Dim> at = grid.node(node);
  const std::string where =
      concat(" at node ", format_index(at), ", position ", format_point(grid.position(at)));
  const Fault fault = fault_of(values.velocity, values.epsilon, values.delta);
  if (fault == Fault::velocity) {
    throw InputError(concat("velocity is ", values.velocity, where,
                            " (allowed: positive and finite, ", min_velocity, " to ", max_velocity,
                            "): repair the model"));
  }
  if (fault == Fault::epsilon || fault == Fault::delta) {
    throw InputError(concat(fault == Fault::epsilon ? "epsilon is " : "delta is ",
                            fault == Fault::epsilon ? values.epsilon : values.delta, where,
                            " (allowed: ", min_thomsen, " to ", max_thomsen,
                            "; it is a fraction, not a percentage): repair the model"));
  }
  throw InputError(concat(
      "delta is ", values.delta, without_delta ? ", absent," : "", " where epsilon is ",
      values.epsilon, where, " (allowed: at most epsilon + (1 + 2 epsilon) / 4 = ",
      values.epsilon + 0.25 * (1.0 + 2.0 * values.epsilon), ", beyond which wavefronts fold): ",
      without_delta ? "give delta, the field of epsilon itself in an elliptical medium"
                    : "repair the model"));
}

namespace {

/// Returns the node at one end of a source's box along an axis, on the edge of a corner. For a box
/// one node wide it is the node beyond that end.
template <int Dim>
Index<Dim> box_node(const Grid<Dim>& grid, const SourceBox<Dim>& box, int corner, int axis,
                    int side) {
  Index<Dim> node{};
  for (int d = 0; d < Dim; ++d) node[d] = (corner >> d) & 1 ? box.last[d] : box.first[d];
  const std::int64_t more = box.first[axis] == box.last[axis] ? 1 : 0;
  node[axis] = side == 0 ? std::max<std::int64_t>(box.first[axis] - more, 0)
                         : std::min(box.last[axis] + more, grid.extents[axis] - 1);
  return node;
}

}  // namespace

template <int Dim>
std::vector<Source<Dim>> locate_sources(const Grid<Dim>& grid, const Points<Dim>& points,
                                        std::vector<std::int64_t>& nodes) {
  std::vector<Source<Dim>> sources(points.size());
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
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> node{};
      for (int d = 0; d < Dim; ++d) {
        node[d] = (corner >> d) & 1 ? source.box.last[d] : source.box.first[d];
      }
      nodes.push_back(grid.flat(node));
    }
    for (int d = 0; d < Dim; ++d) {
      for (int edge = 0; edge < edges_of<Dim>; ++edge) {
        for (int side = 0; side < 2; ++side) {
          nodes.push_back(grid.flat(box_node(grid, source.box, corner_of_edge(edge, d), d, side)));
        }
      }
    }
  }
  return sources;
}

template <int Dim>
void complete_sources(const Grid<Dim>& grid, const std::vector<NodeValues>& values, bool factored,
                      std::vector<Source<Dim>>& sources) {
  constexpr int corners = 1 << Dim;
  constexpr std::size_t each = nodes_of_source<Dim>;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    Source<Dim>& source = sources[s];
    NodeValues mean{0.0, 0.0, 0.0};
    for (int corner = 0; corner < corners; ++corner) {
      const double weight = corner_weight(source, corner);
      const NodeValues& node = values[s * each + static_cast<std::size_t>(corner)];
      mean.velocity += weight * node.velocity;
      mean.epsilon += weight * node.epsilon;
      mean.delta += weight * node.delta;
    }
    source.medium = make_constants(mean.velocity, mean.epsilon, mean.delta);
    for (int d = 0; d < Dim; ++d) {
      // near the source u = (1 + v0 / v) / 2
      const std::int64_t steps =
          box_node(grid, source.box, 0, d, 1)[d] - box_node(grid, source.box, 0, d, 0)[d];
      double difference = 0.0;
      for (int edge = 0; edge < edges_of<Dim>; ++edge) {
        const std::size_t at = s * each + place_of_edge<Dim>(d, edge);
        difference += corner_weight(source, corner_of_edge(edge, d), d) *
                      (values[at + 1].velocity - values[at].velocity);
      }
      source.tilt[d] =
          steps == 0 ? 0.0 : -0.5 * difference / (static_cast<double>(steps) * mean.velocity);
    }
    for (int corner = 0; corner < corners; ++corner) {
      const NodeValues& node = values[s * each + static_cast<std::size_t>(corner)];
      double along = 0.0, across = 0.0;
      for (int d = 0; d < Dim; ++d) {
        const std::int64_t i = (corner >> d) & 1 ? source.box.last[d] : source.box.first[d];
        along = (static_cast<double>(i) - source.position[d]) * grid.spacing[d];
        if (d + 1 < Dim) across += along * along;
      }
      across = std::sqrt(across);
      const double at_source = homogeneous(source.medium, across, along).time;
      const double at_node =
          homogeneous(make_constants(node.velocity, node.epsilon, node.delta), across, along).time;
      const double time = 0.5 * (at_source + at_node);
      source.factor[corner] = !factored ? time : at_source > 0.0 ? time / at_source : 1.0;
    }
  }
}

template <int Dim>
void check_call(const Grid<Dim>& grid, const Points<Dim>& sources, const Options& options) {
  grid.check();
  check_options(options);
  if (sources.empty()) {
    throw InputError("sources: there are none (allowed: one or more): give a source");
  }
  check_positions(grid, sources, "source");
}

std::size_t sources_per_batch(std::size_t each, std::int64_t tiles, std::size_t sources,
                              std::size_t budget, std::size_t room) {
  // tiles of all sources are counted with 32 bits
  const std::size_t max = (std::size_t(1) << 31) / (static_cast<std::size_t>(tiles) + 1);
  const std::size_t fits = std::min(room / each, max);
  if (fits == 0) {
    throw MemoryError(concat("memory: one source needs ", format_bytes(static_cast<double>(each)),
                             " to work in (allowed: ", format_bytes(static_cast<double>(room)),
                             room == budget ? ", the budget" : ", what is free",
                             "): ", room == budget ? "raise the budget, " : "",
                             "take fewer nodes or single precision"));
  }
  return std::min(sources, fits);
}

Progress part_of_progress(const Progress& progress, double before, double share) {
  if (!progress) return {};
  return [&progress, before, share](double fraction, const std::string& what) {
    progress(before + share * fraction, what);
  };
}

MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, refuse_node)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, locate_sources)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, complete_sources)
MOHO_FOR_DIMENSIONS(MOHO_FUNCTION, template, check_call)

}  // namespace detail

}  // namespace moho::eikonal
