// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/tomography/start.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace moho::tomography {

namespace {

// A pick reduced to its geometry.
struct Sample {
  double offset, from, to, distance, time;
};

// Sum of Huber's function of log residuals, and their rms.
double misfit(const std::vector<Sample>& samples, const LinearVelocity& v) {
  constexpr double scale = 0.15;
  double sum = 0.0;
  for (const Sample& s : samples) {
    const double r = std::abs(std::log(s.time / linear_time(s.offset, s.from, s.to, v)));
    sum += r < scale ? 0.5 * r * r : scale * (r - 0.5 * scale);
  }
  return sum;
}

// The velocity v0 with the least misfit for a given relative gradient g / v0, by golden section.
double best_speed(const std::vector<Sample>& samples, double ratio, double low, double high,
                  LinearVelocity& best) {
  constexpr double golden = 0.6180339887498949;
  const auto value = [&](double log_v) {
    const double v = std::exp(log_v);
    return misfit(samples, {v, ratio * v, 0.0});
  };
  double a = std::log(low), b = std::log(high);
  double c = b - golden * (b - a), d = a + golden * (b - a);
  double fc = value(c), fd = value(d);
  for (int k = 0; k < 30; ++k) {
    if (fc < fd) {
      b = d;
      d = c;
      fd = fc;
      c = b - golden * (b - a);
      fc = value(c);
    } else {
      a = c;
      c = d;
      fc = fd;
      d = a + golden * (b - a);
      fd = value(d);
    }
  }
  best.v0 = std::exp(0.5 * (a + b));
  best.gradient = ratio * best.v0;
  return misfit(samples, best);
}

}  // namespace

double linear_time(double offset, double from, double to, const LinearVelocity& v) {
  const double square = offset * offset + (to - from) * (to - from);
  if (!(v.gradient * std::sqrt(square) > 1e-9 * v.v0)) return std::sqrt(square) / v.v0;
  const double a = v.v0 + v.gradient * std::max(from, 0.0);
  const double b = v.v0 + v.gradient * std::max(to, 0.0);
  // acosh(1 + q) without cancellation
  const double q = v.gradient * v.gradient * square / (2.0 * a * b);
  return std::log1p(q + std::sqrt(q * (2.0 + q))) / v.gradient;
}

template <int Dim>
LinearVelocity fit_linear_velocity(const PickSet<Dim>& picks, const Grid<Dim>& grid,
                                   const Ground<Dim>& ground) {
  std::vector<Sample> samples;
  double slow = std::numeric_limits<double>::infinity(), quick = 0.0, longest = 0.0;
  const std::size_t stride = std::max<std::size_t>(1, picks.picks.size() / 1000);
  for (std::size_t k = 0; k < picks.picks.size(); k += stride) {
    const Pick& pick = picks.picks[k];
    const Point<Dim>& a = picks.sources[static_cast<std::size_t>(pick.source)];
    const Point<Dim>& b = picks.receivers[static_cast<std::size_t>(pick.receiver)];
    Sample s{0.0, depth_below<Dim>(grid, ground, a), depth_below<Dim>(grid, ground, b), 0.0,
             pick.time};
    for (int d = 0; d + 1 < Dim; ++d) s.offset += (a[d] - b[d]) * (a[d] - b[d]);
    s.offset = std::sqrt(s.offset);
    s.distance = std::hypot(s.offset, s.to - s.from);
    if (!(s.distance > 0.0)) continue;
    slow = std::min(slow, s.distance / s.time);
    quick = std::max(quick, s.distance / s.time);
    longest = std::max(longest, s.distance);
    samples.push_back(s);
  }
  if (samples.empty()) throw InputError("all picks have source and receiver at one point");
  LinearVelocity best, trial;
  double least = best_speed(samples, 0.0, 0.3 * slow, 1.1 * quick, best);
  // relative gradients from a hundredth to a hundred over the longest offset
  for (int k = 0; k <= 48; ++k) {
    const double ratio = std::pow(10.0, -2.0 + static_cast<double>(k) / 12.0) / longest;
    const double value = best_speed(samples, ratio, 0.1 * slow, 1.1 * quick, trial);
    if (value >= least) continue;
    least = value;
    best = trial;
  }
  double sum = 0.0;
  for (const Sample& s : samples) {
    const double r = s.time - linear_time(s.offset, s.from, s.to, best);
    sum += r * r;
  }
  best.rms = std::sqrt(sum / static_cast<double>(samples.size()));
  return best;
}

template <int Dim>
std::vector<double> linear_model(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                 const LinearVelocity& velocity) {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(grid.size()));
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const double depth = depth_below<Dim>(grid, ground, grid.position(grid.node(i)));
    result.push_back(velocity.v0 + velocity.gradient * std::max(depth, 0.0));
  }
  return result;
}

void to_vertical(std::vector<double>& velocity, const std::vector<double>& epsilon) {
  for (std::size_t i = 0; i < epsilon.size(); ++i) velocity[i] /= std::sqrt(1.0 + 2.0 * epsilon[i]);
}

template LinearVelocity fit_linear_velocity<2>(const PickSet<2>&, const Grid<2>&, const Ground<2>&);
template LinearVelocity fit_linear_velocity<3>(const PickSet<3>&, const Grid<3>&, const Ground<3>&);
template std::vector<double> linear_model<2>(const Grid<2>&, const Ground<2>&,
                                             const LinearVelocity&);
template std::vector<double> linear_model<3>(const Grid<3>&, const Ground<3>&,
                                             const LinearVelocity&);

}  // namespace moho::tomography
