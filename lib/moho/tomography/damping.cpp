// SPDX-License-Identifier: BSD-3-Clause
#include <moho/tomography/damping.hpp>

#include <algorithm>
#include <cmath>

namespace moho::tomography {

namespace {

DampingPoint point_at(const optimize::Bidiagonal& matrix, double data, double lambda) {
  DampingPoint point;
  point.lambda = lambda;
  point.chi2 = matrix.misfit(lambda) / data;
  point.norm = std::sqrt(matrix.norm(lambda));
  point.dof = matrix.degrees_of_freedom(lambda);
  const double free = std::max(data - point.dof, 1e-3 * data);
  point.gcv = data * data * point.chi2 / (free * free);
  return point;
}

}  // namespace

double goal_of(const DampingRequest& request) {
  return std::max(request.target, 0.3 * request.chi2);
}

double choose_damping(const optimize::Bidiagonal& matrix, const DampingRequest& request) {
  if (request.rule == DampingRule::fixed) return request.fixed;
  const double largest = matrix.steps() > 0
                             ? std::max(100.0 * matrix.singular_values().front(), request.lowest)
                             : request.lowest;
  if (request.rule == DampingRule::gcv) {
    double best = request.lowest, min = point_at(matrix, request.data, best).gcv;
    const int points = 200;
    for (int k = 1; k <= points; ++k) {
      const double lambda =
          request.lowest * std::pow(largest / request.lowest, static_cast<double>(k) / points);
      const double value = point_at(matrix, request.data, lambda).gcv;
      if (value >= min) continue;
      min = value;
      best = lambda;
    }
    return best;
  }
  return matrix.largest_damping(goal_of(request) * request.data, request.lowest, largest);
}

int max_steps(int krylov, DampingRule rule, std::int64_t rows, std::int64_t columns) {
  if (rule != DampingRule::gcv) return krylov;
  const std::int64_t in_memory = (std::int64_t{1} << 27) / (rows + columns);
  const std::int64_t max = std::min<std::int64_t>({8 * std::int64_t{krylov}, in_memory, 1000});
  return std::max(krylov, static_cast<int>(std::min({max, rows, columns})));
}

std::vector<DampingPoint> damping_curve(const optimize::Bidiagonal& matrix, double data,
                                        double lambda) {
  std::vector<DampingPoint> curve;
  for (int k = -20; k <= 20; ++k) {
    curve.push_back(point_at(matrix, data, lambda * std::pow(10.0, 0.1 * k)));
  }
  return curve;
}

}  // namespace moho::tomography
