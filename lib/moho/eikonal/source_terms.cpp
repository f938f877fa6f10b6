// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/instances.hpp>
#include <moho/eikonal/detail/source_terms.hpp>

#include <cmath>

namespace moho::eikonal::detail {

template <int Dim>
std::vector<std::vector<SourceTerm<Dim>>> source_terms(const Grid<Dim>& grid,
                                                       const std::vector<std::int64_t>& nodes,
                                                       const std::vector<NodeValues>& values,
                                                       bool factored,
                                                       const std::vector<Source<Dim>>& sources) {
  using Term = SourceTerm<Dim>;
  constexpr std::size_t each = nodes_of_source<Dim>;
  std::vector<std::vector<Term>> result(sources.size());
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const Source<Dim>& source = sources[s];
    const std::size_t begin = s * each;
    const double at_source = source.medium.vertical;
    // a value whose derivative by the velocity at the source is given
    const auto add_by_source = [&](int value, double derivative) {
      for (int corner = 0; corner < Term::corners; ++corner) {
        const double weight = corner_weight(source, corner);
        if (weight == 0.0) continue;
        result[s].push_back(
            {value, nodes[begin + static_cast<std::size_t>(corner)], weight * derivative});
      }
    };
    for (int corner = 0; corner < Term::corners; ++corner) {
      bool repeated = false;  // the same node as another corner
      double along = 0.0, across = 0.0;
      for (int d = 0; d < Dim; ++d) {
        const bool upper = (corner >> d) & 1;
        repeated = repeated || (upper && source.box.first[d] == source.box.last[d]);
        const std::int64_t i = upper ? source.box.last[d] : source.box.first[d];
        along = (static_cast<double>(i) - source.position[d]) * grid.spacing[d];
        if (d + 1 < Dim) across += along * along;
      }
      if (repeated) continue;
      // the time is (t + t') / 2, of the medium at the source and that at the node
      const double time = homogeneous(source.medium, std::sqrt(across), along).time;
      const double scale = factored ? 1.0 : time;
      const double factor = source.factor[corner];
      const std::size_t at = begin + static_cast<std::size_t>(corner);
      add_by_source(corner, -0.5 * scale / at_source);
      result[s].push_back({corner, nodes[at], -0.5 * (2.0 * factor - scale) / values[at].velocity});
    }
    if (!factored) continue;
    for (int d = 0; d < Dim; ++d) {
      const double axis = d == Dim - 1 ? source.medium.vertical : source.medium.horizontal;
      add_by_source(Term::limits + d, -grid.spacing[d] / (axis * axis * at_source));
      for (int edge = 0; edge < edges_of<Dim>; ++edge) {
        const std::size_t at = begin + place_of_edge<Dim>(d, edge);
        const double weight = corner_weight(source, corner_of_edge(edge, d), d);
        if (nodes[at] == nodes[at + 1] || weight == 0.0) continue;
        const Index<Dim> low = grid.node(nodes[at]), high = grid.node(nodes[at + 1]);
        const double by_difference =
            -0.5 * weight / (static_cast<double>(high[d] - low[d]) * grid.spacing[d] * at_source);
        result[s].push_back({Term::corners + d, nodes[at + 1], by_difference});
        result[s].push_back({Term::corners + d, nodes[at], -by_difference});
      }
      const double tilt = source.tilt[d] / grid.spacing[d];
      if (tilt != 0.0) add_by_source(Term::corners + d, -2.0 * tilt / at_source);
    }
  }
  return result;
}

template <int Dim>
std::vector<std::int64_t> nodes_in_columns(const TiledGrid<Dim>& grid,
                                           const std::vector<Source<Dim>>& sources) {
  std::vector<std::int64_t> result;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    const SourceBox<Dim>& box = sources[s].box;
    for (int axis = 0; axis < Dim; ++axis) {
      std::int64_t count = box.last[axis] - box.first[axis] + 1;
      for (int d = 0; d < Dim; ++d) count *= d == axis ? 1 : grid.extents[d];
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t node[Dim], rest = k;
        for (int d = Dim - 1; d >= 0; --d) {
          const std::int64_t length = d == axis ? box.last[d] - box.first[d] + 1 : grid.extents[d];
          node[d] = rest % length + (d == axis ? box.first[d] : 0);
          rest /= length;
        }
        bool listed = box.contains(node);  // or in a column of an axis before
        for (int d = 0; d < axis; ++d) {
          listed = listed || (node[d] >= box.first[d] && node[d] <= box.last[d]);
        }
        if (!listed) result.push_back(static_cast<std::int64_t>(s) * grid.size + grid.at(node));
      }
    }
  }
  return result;
}

template std::vector<std::vector<SourceTerm<2>>> source_terms(const Grid<2>&,
                                                              const std::vector<std::int64_t>&,
                                                              const std::vector<NodeValues>&, bool,
                                                              const std::vector<Source<2>>&);
template std::vector<std::int64_t> nodes_in_columns(const TiledGrid<2>&,
                                                    const std::vector<Source<2>>&);
template std::vector<std::vector<SourceTerm<3>>> source_terms(const Grid<3>&,
                                                              const std::vector<std::int64_t>&,
                                                              const std::vector<NodeValues>&, bool,
                                                              const std::vector<Source<3>>&);
template std::vector<std::int64_t> nodes_in_columns(const TiledGrid<3>&,
                                                    const std::vector<Source<3>>&);

}  // namespace moho::eikonal::detail
