// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots in expanding domains, compared with shots in the complete grid.

#include <moho/domain/expand.hpp>
#include <moho/wave/model_shot.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace moho::domain::test {

using namespace wave;

inline constexpr ExpansionMethod methods[] = {ExpansionMethod::layers, ExpansionMethod::eikonal,
                                              ExpansionMethod::amplitude};

/// Value of a model at a position given in fractions of the model's size.
template <int Dim>
using Formula = std::function<double(const Point<Dim>&)>;

/// Model, acquisition and source of a shot.
template <int Dim>
struct Setting {
  Grid<Dim> grid;  ///< grid without layers
  Formula<Dim> vp, epsilon, delta, theta, phi;
  Boundaries<Dim> boundaries = all_faces<Dim>(FaceKind::sponge, 20);
  int order = 8;
  double dt = 0.001;
  double frequency = 12.0;  ///< frequency of the Ricker wavelet
  Points<Dim> sources, receivers;
  double time = 0.8;
  std::vector<double> wavelet;  ///< replaces the Ricker wavelet if not empty
};

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> sample(const Instance<Memory>& exec, const Grid<Dim>& grid,
                             const Formula<Dim>& formula) {
  if (!formula) return {};
  const auto field = make_field<T>(exec, grid, "field");
  const auto host = Kokkos::create_mirror_view(field);
  for (std::int64_t i = 0; i < grid.size(); ++i) {
    const Index<Dim> node = grid.node(i);
    Point<Dim> fraction{};
    for (int d = 0; d < Dim; ++d) {
      fraction[d] = static_cast<double>(node[d]) / static_cast<double>(grid.extents[d] - 1);
    }
    host.data()[i] = static_cast<T>(formula(fraction));
  }
  Kokkos::deep_copy(field, host);
  return field;
}

/// Domain that records the boxes of another domain.
template <class T, int Dim, class Memory>
struct Notes : Domain<T, Dim, Memory> {
  domain::ExpandingDomain<T, Dim, Memory>* domain = nullptr;
  std::vector<Box<Dim>> boxes;
  Box<Dim> box(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
               const Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) override {
    boxes.push_back(domain->box(exec, propagator, wavefield, step));
    return boxes.back();
  }
};

/// Setting on a memory space.
template <class T, int Dim, class Memory>
class Shot {
 public:
  Shot(const Instance<Memory>& instance, const Setting<Dim>& setting)
      : exec(instance), m_setting(setting) {
    inner.vp = sample<T, Dim>(exec, setting.grid, setting.vp);
    inner.epsilon = sample<T, Dim>(exec, setting.grid, setting.epsilon);
    inner.delta = sample<T, Dim>(exec, setting.grid, setting.delta);
    inner.theta = sample<T, Dim>(exec, setting.grid, setting.theta);
    inner.phi = sample<T, Dim>(exec, setting.grid, setting.phi);
    model = extend_model<T, Dim, Memory>(exec, setting.grid, inner, setting.boundaries);
    const Grid<Dim> grid = extended_grid(setting.grid, setting.boundaries);
    PropagatorOptions<Dim> options;
    options.dt = setting.dt;
    options.order = setting.order;
    options.boundaries = setting.boundaries;
    wavelet = setting.wavelet.empty() ? ricker(setting.frequency, setting.dt) : setting.wavelet;
    options.frequency = highest_frequency(wavelet, setting.dt);
    propagator = std::make_unique<Propagator<T, Dim, Memory>>(exec, grid, model, options);
    sources = PointSet<T, Dim, Memory>(exec, grid, propagator->layout(), setting.sources,
                                       point_options(*propagator, "source", true));
    receivers = PointSet<T, Dim, Memory>(exec, grid, propagator->layout(), setting.receivers,
                                         point_options(*propagator, "receiver", false));
  }
  std::unique_ptr<domain::ExpandingDomain<T, Dim, Memory>> domain(
      ExpansionMethod method, const DomainOptions& options = {}) const {
    return domain::make_domain(method, exec, *propagator, model, sources, options);
  }
  ShotResult<T, Dim, Memory> run(Domain<T, Dim, Memory>* domain) const {
    ShotOptions<T, Dim, Memory> options;
    options.steps = static_cast<std::int64_t>(std::llround(m_setting.time / m_setting.dt));
    options.domain = domain;
    return model_shot(exec, *propagator, sources, wavelet, receivers, options);
  }

  Instance<Memory> exec;
  Model<T, Dim, Memory> inner, model;  ///< model without and with the layers of the faces
  std::unique_ptr<Propagator<T, Dim, Memory>> propagator;
  PointSet<T, Dim, Memory> sources, receivers;
  std::vector<double> wavelet;

 private:
  Setting<Dim> m_setting;
};

/// Returns the largest difference of two gathers over the largest sample of the second.
template <class T>
double difference(const wave::Traces<T>& a, const wave::Traces<T>& b) {
  double max_difference = 0.0, max = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a.data()[i]), y = static_cast<double>(b.data()[i]);
    max_difference = std::max(max_difference, std::fabs(x - y));
    max = std::max(max, std::fabs(y));
  }
  return max_difference / max;
}

template <int Dim>
bool holds(const Box<Dim>& outer, const Box<Dim>& inner) {
  return intersection(outer, inner) == inner;
}

/// Compares a method with the complete grid.
///
/// Boxes contain the sources and never shrink, the domain saves nodes, and the gather differs by
/// less than `tolerance` of its largest sample. \return the difference
template <class T, int Dim, class Memory>
double compare(const Shot<T, Dim, Memory>& shot, const wave::Traces<T>& whole,
               ExpansionMethod method, double tolerance, double max_stepped,
               const DomainOptions& options = {}) {
  SCOPED_TRACE(domain::to_string(method));
  const auto domain = shot.domain(method, options);
  Notes<T, Dim, Memory> notes;
  notes.domain = domain.get();
  const auto result = shot.run(&notes);
  for (std::size_t n = 0; n < notes.boxes.size(); ++n) {
    const Box<Dim> earlier = n == 0 ? shot.sources.box() : notes.boxes[n - 1];
    EXPECT_TRUE(holds(notes.boxes[n], earlier)) << "step " << n;
    EXPECT_TRUE(holds(whole_box(shot.propagator->grid()), notes.boxes[n])) << "step " << n;
  }
  const double found = difference<T>(result.traces, whole);
  EXPECT_LT(found, tolerance);
  const domain::DomainReport& report = domain->report();
  EXPECT_EQ(report.steps, result.steps);
  EXPECT_DOUBLE_EQ(report.points_stepped, result.points);
  EXPECT_DOUBLE_EQ(report.points_full, result.whole_points);
  EXPECT_LT(report.fraction(), max_stepped);
  EXPECT_GT(report.seconds_setup, 0.0);
  EXPECT_GT(report.seconds_steps, 0.0);
  ::testing::Test::RecordProperty(std::string("difference_") + domain::to_string(method),
                                  concat(found));
  ::testing::Test::RecordProperty(std::string("fraction_") + domain::to_string(method),
                                  concat(report.fraction()));
  return found;
}

/// Velocity that increases with depth, and a fast body.
inline double body_2d(const Point<2>& x) {
  const double u = (x[0] - 0.65) / 0.2, w = (x[1] - 0.55) / 0.15;
  return u * u + w * w < 1.0 ? 3800.0 : 1500.0 + 1200.0 * x[1];
}

inline Setting<2> section() {
  Setting<2> s;
  s.grid = Grid<2>{{201, 141}, {10.0, 10.0}, {0.0, 0.0}};
  s.vp = body_2d;
  s.sources = {{617.0, 43.0}};
  for (int i = 0; i < 19; ++i) s.receivers.push_back({100.0 + 100.0 * i, 20.0});
  s.receivers.push_back({1500.0, 1200.0});
  return s;
}

}  // namespace moho::domain::test
