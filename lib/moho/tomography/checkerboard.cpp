// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/tomography/checkerboard.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace moho::tomography {

template <int Dim>
std::vector<double> checkerboard(const Grid<Dim>& grid, const Checkerboard<Dim>& checks) {
  for (int d = 0; d < Dim; ++d) {
    if (checks.size[d] >= grid.spacing[d] && std::isfinite(checks.size[d])) continue;
    throw InputError(concat("checkerboard: a check is ", checks.size[d], " m along ",
                            axis_name<Dim>(d), " (allowed: ", grid.spacing[d],
                            " m, the distance of nodes, or more, and finite)"));
  }
  if (!(checks.percent > 0.0 && checks.percent < 50.0)) {
    throw InputError(
        concat("checkerboard: a change of ", checks.percent, " % (allowed: above 0 and below 50)"));
  }
  std::vector<double> changes;
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Index<Dim> node = grid.node(i);
    std::int64_t sum = 0;
    for (int d = 0; d < Dim; ++d) {
      const double along = grid.spacing[d] * static_cast<double>(node[d]);
      sum += static_cast<std::int64_t>(std::floor(along / checks.size[d]));
    }
    changes.push_back((sum % 2 == 0 ? 0.01 : -0.01) * checks.percent);
  }
  return changes;
}

template <int Dim>
PickSet<Dim> noisy_picks(PickSet<Dim> picks, const std::vector<double>& times,
                         const std::vector<PickFit>& fits, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const auto uniform = [&] { return 0x1p-53 * (static_cast<double>(generator() >> 11) + 0.5); };
  for (std::size_t k = 0; k < picks.picks.size(); ++k) {
    // Box and Muller
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * uniform());
    Pick& pick = picks.picks[k];
    pick.error = fits[k].sigma;
    pick.time = std::max(times[k] + pick.error * normal, 1e-3 * times[k]);
  }
  return picks;
}

template <int Dim>
std::vector<CheckLayer> compare_checks(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                       const std::vector<unsigned char>& mask,
                                       const Checkerboard<Dim>& checks,
                                       const std::vector<double>& coverage,
                                       const CheckerboardResult<Dim>& changes) {
  constexpr int z = Dim - 1;
  struct Sums {
    double nodes = 0.0, count = 0.0, a = 0.0, b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
  };
  const double layer = 0.5 * checks.size[z];
  const double deep = grid.spacing[z] * static_cast<double>(grid.extents[z] - 1);
  std::vector<Sums> sums(static_cast<std::size_t>(deep / layer) + 1);
  for (std::size_t i = 0; i < coverage.size(); ++i) {
    if (!mask.empty() && mask[i] == 0) continue;
    const Index<Dim> node = grid.node(static_cast<std::int64_t>(i));
    const double depth = grid.spacing[z] * static_cast<double>(node[z]);
    Sums& s = sums[static_cast<std::size_t>(depth / layer)];
    s.nodes += 1.0;
    if (!(coverage[i] > 0.0)) continue;
    const double a = changes.truth[i], b = changes.found[i];
    s.count += 1.0;
    s.a += a;
    s.b += b;
    s.aa += a * a;
    s.bb += b * b;
    s.ab += a * b;
  }
  double top = ground.depth.empty() ? grid.origin[z] : 0.0;
  for (const double depth : ground.depth) {
    top += depth / static_cast<double>(ground.depth.size());
  }
  std::vector<CheckLayer> layers;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    const Sums& s = sums[k];
    const double aa = s.aa - s.a * s.a / std::max(s.count, 1.0);
    const double bb = s.bb - s.b * s.b / std::max(s.count, 1.0);
    const double ab = s.ab - s.a * s.b / std::max(s.count, 1.0);
    if (!(aa > 0.0 && bb > 0.0)) continue;
    const double middle = grid.origin[z] + layer * (static_cast<double>(k) + 0.5);
    layers.push_back({middle - top, ab / std::sqrt(aa * bb), ab / aa, s.count / s.nodes, middle});
  }
  return layers;
}

template std::vector<double> checkerboard<2>(const Grid<2>&, const Checkerboard<2>&);
template std::vector<double> checkerboard<3>(const Grid<3>&, const Checkerboard<3>&);
template PickSet<2> noisy_picks<2>(PickSet<2>, const std::vector<double>&,
                                   const std::vector<PickFit>&, std::uint64_t);
template PickSet<3> noisy_picks<3>(PickSet<3>, const std::vector<double>&,
                                   const std::vector<PickFit>&, std::uint64_t);
template std::vector<CheckLayer> compare_checks<2>(const Grid<2>&, const Ground<2>&,
                                                   const std::vector<unsigned char>&,
                                                   const Checkerboard<2>&,
                                                   const std::vector<double>&,
                                                   const CheckerboardResult<2>&);
template std::vector<CheckLayer> compare_checks<3>(const Grid<3>&, const Ground<3>&,
                                                   const std::vector<unsigned char>&,
                                                   const Checkerboard<3>&,
                                                   const std::vector<double>&,
                                                   const CheckerboardResult<3>&);

std::string describe_layer(const CheckLayer& layer) {
  return concat("depth ", text::significant(layer.depth, 4), " m: correlation ",
                text::significant(layer.correlation, 2), ", ",
                text::significant(100.0 * layer.recovered, 2), " % recovered, rays at ",
                text::significant(100.0 * layer.covered, 2), " % of the nodes",
                layer.covered < 0.2 ? ": not resolved" : "");
}

}  // namespace moho::tomography
