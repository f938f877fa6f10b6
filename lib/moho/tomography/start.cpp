// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/tomography/start.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace moho::tomography {

namespace {

// A pick reduced to its geometry.
struct Sample {
  double offset, from, to, distance, time, error;
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

namespace {

// The geometry of every n-th pick whose ends are apart.
template <int Dim>
std::vector<Sample> samples_of(const PickSet<Dim>& picks, const Grid<Dim>& grid,
                               const Ground<Dim>& ground, std::size_t stride) {
  std::vector<Sample> samples;
  for (std::size_t k = 0; k < picks.picks.size(); k += stride) {
    const Pick& pick = picks.picks[k];
    const Point<Dim>& a = picks.sources[static_cast<std::size_t>(pick.source)];
    const Point<Dim>& b = picks.receivers[static_cast<std::size_t>(pick.receiver)];
    Sample s{0.0,
             depth_below<Dim>(grid, ground, a),
             depth_below<Dim>(grid, ground, b),
             0.0,
             pick.time,
             pick.error};
    for (int d = 0; d + 1 < Dim; ++d) s.offset += (a[d] - b[d]) * (a[d] - b[d]);
    s.offset = std::sqrt(s.offset);
    s.distance = std::hypot(s.offset, s.to - s.from);
    if (s.distance > 0.0) samples.push_back(s);
  }
  return samples;
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
  const std::size_t stride = std::max<std::size_t>(1, picks.picks.size() / 1000);
  const std::vector<Sample> samples = samples_of<Dim>(picks, grid, ground, stride);
  double slow = std::numeric_limits<double>::infinity(), quick = 0.0, longest = 0.0;
  for (const Sample& s : samples) {
    slow = std::min(slow, s.distance / s.time);
    quick = std::max(quick, s.distance / s.time);
    longest = std::max(longest, s.distance);
  }
  if (samples.empty()) throw InputError("all picks have source and receiver at one point");
  LinearVelocity best, trial;
  double min = best_speed(samples, 0.0, 0.3 * slow, 1.1 * quick, best);
  // relative gradients from a hundredth to a hundred over the longest offset
  for (int k = 0; k <= 48; ++k) {
    const double ratio = std::pow(10.0, -2.0 + static_cast<double>(k) / 12.0) / longest;
    const double value = best_speed(samples, ratio, 0.1 * slow, 1.1 * quick, trial);
    if (value >= min) continue;
    min = value;
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

namespace {

// Returns the values at all nodes of a function of the depth below the ground.
template <int Dim, class Function>
std::vector<double> model_of_depth(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                   const Function& velocity) {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(grid.size()));
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    result.push_back(velocity(depth_below<Dim>(grid, ground, grid.position(grid.node(i)))));
  }
  return result;
}

}  // namespace

template <int Dim>
std::vector<double> linear_model(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                 const LinearVelocity& velocity) {
  return model_of_depth<Dim>(grid, ground, [&](double depth) {
    return velocity.v0 + velocity.gradient * std::max(depth, 0.0);
  });
}

double LayeredVelocity::at(double depth) const {
  const double last = static_cast<double>(velocity.size() - 1);
  const double position = std::clamp(depth / spacing, 0.0, last);
  const double below = std::min(std::floor(position), std::max(last - 1.0, 0.0));
  const auto k = static_cast<std::size_t>(below);
  const double part = position - below;
  return part > 0.0 ? (1.0 - part) * velocity[k] + part * velocity[k + 1] : velocity[k];
}

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The picks of a bin: apparent slowness, relative deviation and offset.
struct Bin {
  std::vector<double> slowness, deviation, offset;
};

}  // namespace

template <int Dim>
LayerPicks layer_picks(const PickSet<Dim>& picks, const Grid<Dim>& grid, const Ground<Dim>& ground,
                       const Options<Dim>& options) {
  const std::vector<Sample> samples = samples_of<Dim>(picks, grid, ground, 1);
  double longest = 0.0, deepest = 0.0, h = grid.spacing[0];
  for (const Sample& s : samples) {
    longest = std::max(longest, s.offset);
    deepest = std::max({deepest, s.from, s.to});
  }
  for (int d = 1; d < Dim; ++d) h = std::min(h, grid.spacing[d]);
  double depth = grid.upper(Dim - 1) - grid.origin[Dim - 1];
  if (!ground.depth.empty()) {
    depth = grid.upper(Dim - 1) - *std::min_element(ground.depth.begin(), ground.depth.end());
  }
  depth = std::max(depth, deepest);
  h = std::max({h, longest / 200.0, depth / 200.0});
  const double width = std::max({h, longest / 64.0, deepest / 64.0});
  std::map<std::array<std::int64_t, 3>, Bin> bins;
  for (const Sample& s : samples) {
    const double above = std::max(std::min(s.from, s.to), 0.0), below = std::max(s.from, s.to);
    Bin& bin = bins[{std::llround(above / width), std::llround(std::max(below, 0.0) / width),
                     std::llround(s.offset / width)}];
    const double error =
        s.error > 0.0 ? s.error : options.error_absolute + options.error_relative * s.time;
    bin.slowness.push_back(s.time / s.distance);
    bin.deviation.push_back(error / s.time);
    bin.offset.push_back(s.offset);
  }
  LayerPicks result;
  result.grid = {{static_cast<std::int64_t>(std::ceil(longest / h)) + 5,
                  static_cast<std::int64_t>(std::ceil(depth / h)) + 1},
                 {h, h},
                 {-2.0 * h, 0.0}};
  double source = -1.0;
  for (const auto& [key, bin] : bins) {
    const double from = width * static_cast<double>(key[0]);
    const double to = width * static_cast<double>(key[1]);
    const double offset = median_of(bin.offset), distance = std::hypot(offset, to - from);
    if (distance < 0.5 * h) continue;
    const double slowness = median_of(bin.slowness);
    std::vector<double> away;
    for (const double s : bin.slowness) away.push_back(std::abs(s / slowness - 1.0));
    const double spread = std::max(1.4826 * median_of(away), median_of(bin.deviation)) /
                          std::sqrt(static_cast<double>(away.size()));
    if (from != source) result.medians.sources.push_back({0.0, from});
    source = from;
    const double time = slowness * distance;
    result.medians.picks.push_back({static_cast<int>(result.medians.sources.size()) - 1,
                                    static_cast<int>(result.medians.receivers.size()), time,
                                    spread * time, 1.0});
    result.medians.receivers.push_back({offset, to});
  }
  return result;
}

template <int Dim>
std::vector<double> layered_model(const Grid<Dim>& grid, const Ground<Dim>& ground,
                                  const LayeredVelocity& velocity) {
  return model_of_depth<Dim>(grid, ground, [&](double depth) { return velocity.at(depth); });
}

std::string describe_layers(const LayeredVelocity& velocity) {
  const double deepest = velocity.spacing * static_cast<double>(velocity.velocity.size() - 1);
  std::string speeds, depths;
  for (const double part : {0.0, 0.125, 0.25, 0.5, 1.0}) {
    const char* const comma = part > 0.0 ? ", " : "";
    speeds += concat(comma, text::significant(velocity.at(part * deepest), 4));
    depths += concat(comma, text::significant(part * deepest, 3));
  }
  return concat("v = ", speeds, " m/s at ", depths, " m below the ground");
}

std::string to_vertical(std::vector<double>& velocity, const std::vector<double>& epsilon) {
  for (std::size_t i = 0; i < epsilon.size(); ++i) velocity[i] /= std::sqrt(1.0 + 2.0 * epsilon[i]);
  return epsilon.empty() ? "" : " (horizontal; the model has v / sqrt(1 + 2 epsilon))";
}

template LinearVelocity fit_linear_velocity<2>(const PickSet<2>&, const Grid<2>&, const Ground<2>&);
template LinearVelocity fit_linear_velocity<3>(const PickSet<3>&, const Grid<3>&, const Ground<3>&);
template LayerPicks layer_picks<2>(const PickSet<2>&, const Grid<2>&, const Ground<2>&,
                                   const Options<2>&);
template LayerPicks layer_picks<3>(const PickSet<3>&, const Grid<3>&, const Ground<3>&,
                                   const Options<3>&);
template std::vector<double> layered_model<2>(const Grid<2>&, const Ground<2>&,
                                              const LayeredVelocity&);
template std::vector<double> layered_model<3>(const Grid<3>&, const Ground<3>&,
                                              const LayeredVelocity&);
template std::vector<double> linear_model<2>(const Grid<2>&, const Ground<2>&,
                                             const LinearVelocity&);
template std::vector<double> linear_model<3>(const Grid<3>&, const Ground<3>&,
                                             const LinearVelocity&);

}  // namespace moho::tomography
