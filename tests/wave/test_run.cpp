// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 20, threads 2 for *openmp*.StepsAreTheirOwnAdjointIn3D
//
// Runs in both directions of time: steps as their own adjoint, wavefields propagated backwards, and
// boxes that are recorded and replayed.

#include <moho/core/concurrent.hpp>
#include <moho/wave/adjoint.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/run.hpp>

#include "support.hpp"

namespace {

using moho::Box;
using moho::Grid;
using moho::Index;
using moho::InputError;
using moho::Points;
using moho::wave::BoxHistory;
using moho::wave::PointSeries;
using moho::wave::PointSet;
using moho::wave::RunOptions;
using ::testing::HasSubstr;
using namespace moho::testing;

template <class Case>
class RunTest : public ::testing::Test {};
TYPED_TEST_SUITE(RunTest, LongTestCases, CaseName);

/// Media with self-adjoint equations.
inline constexpr Kind self_adjoint[] = {
    {Medium::isotropic}, {Medium::variable_density}, {Medium::vti}, {Medium::tti}};

template <int Dim>
Grid<Dim> run_grid() {
  if constexpr (Dim == 2) {
    return {{57, 49}, {10.0, 8.0}, {}};
  } else {
    return {{37, 35, 33}, {10.0, 12.0, 8.0}, {}};
  }
}

/// Returns points around the middle of a grid, between nodes.
template <int Dim>
Points<Dim> cloud(const Grid<Dim>& grid, int count, double spread, unsigned seed) {
  std::mt19937 random(seed);
  Points<Dim> points;
  for (int p = 0; p < count; ++p) {
    moho::Point<Dim> point{};
    for (int d = 0; d < Dim; ++d) {
      point[d] = (0.5 + uniform(random, -spread, spread)) * grid.upper(d);
    }
    points.push_back(point);
  }
  return points;
}

template <class T, class Memory>
PointSeries<T, Memory> noise(const Instance<Memory>& exec, std::int64_t rows, std::int64_t columns,
                             unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(static_cast<std::size_t>(rows * columns));
  for (T& value : values) value = static_cast<T>(uniform(random, -1.0, 1.0));
  const auto result = moho::allocate<PointSeries<T, Memory>>(exec, "noise", rows, columns);
  moho::copy(exec, Storage<T, Memory>(result.data(), values.size()),
             moho::HostElements<const T>(values.data(), values.size()));
  exec.fence();
  return result;
}

template <class T, class Memory>
double dot(const Instance<Memory>& exec, const PointSeries<T, Memory>& a,
           const PointSeries<T, Memory>& b) {
  const std::vector<T> x = moho::download(exec, a), y = moho::download(exec, b);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  }
  return sum;
}

/// Sources to receivers over hundreds of steps, and back: <L f, d> = <f, L^T d>.
template <class T, int Dim, class Memory>
void expect_dot_product(const Instance<Memory>& exec, const Kind& kind, int order,
                        const Boundaries<Dim>& faces, double spread) {
  const Grid<Dim> grid = run_grid<Dim>();
  const auto model = random_model<T, Dim, Memory>(exec, grid, kind.medium, 12);
  PropagatorOptions<Dim> options;
  options.order = order;
  options.boundaries = faces;
  const auto propagator = make_propagator(exec, grid, model, options);
  moho::wave::PointOptions<Dim> point_options;
  for (int d = 0; d < Dim; ++d) {
    point_options.free_lower[d] = faces.lower[d].kind == FaceKind::free_surface;
    point_options.free_upper[d] = faces.upper[d].kind == FaceKind::free_surface;
  }
  const auto make_points = [&](int count, unsigned seed) {
    return PointSet<T, Dim, Memory>(exec, grid, propagator.layout(),
                                    cloud(grid, count, spread, seed), point_options);
  };
  const auto sources = make_points(3, 1), receivers = make_points(7, 2);
  constexpr std::int64_t steps = 240;
  const auto f = noise<T>(exec, steps, sources.count(), 3);
  const auto data = noise<T>(exec, steps + 1, receivers.count(), 4);
  const auto modelled = noise<T>(exec, steps + 1, receivers.count(), 5);
  const auto back = noise<T>(exec, steps, sources.count(), 6);

  auto field = propagator.make_wavefield(exec);
  RunOptions<T, Dim, Memory> forward;
  forward.last = steps;
  forward.present = [&](std::int64_t n) {
    receivers.record(exec, field.now[0], modelled, n, propagator.pressure_factors());
  };
  forward.stepped = [&](std::int64_t n, const Box<Dim>&) {
    for (int k = 0; k < field.fields; ++k) {
      sources.inject(exec, field.next[k], f, n, propagator.source_scale(k));
    }
  };
  run_steps(exec, propagator, field, forward);

  const auto factors = adjoint_factors(exec, propagator.scheme(), propagator.medium_window());
  field.clear(exec);
  RunOptions<T, Dim, Memory> adjoint;
  adjoint.first = steps + 1;
  adjoint.last = 1;
  adjoint.stepped = [&](std::int64_t time, const Box<Dim>&) {
    for (int k = 0; k < field.fields; ++k) {
      receivers.inject(exec, field.next[k], data, time - 1, factors.injection(k));
    }
  };
  adjoint.present = [&](std::int64_t time) {
    if (time > steps) return;
    sources.record(exec, field.now[factors.field], back, time - 1, factors.record);
  };
  run_steps(exec, propagator, field, adjoint);

  const double ahead = dot<T>(exec, modelled, data), behind = dot<T>(exec, f, back);
  const double size = std::sqrt(dot<T>(exec, modelled, modelled) * dot<T>(exec, data, data));
  EXPECT_GT(size, 0.0);
  EXPECT_NEAR(ahead, behind, by_precision<T>(5e-4, 1e-11) * size)
      << kind.name() << ", order " << order << ", faces " << to_string(faces.lower[Dim - 1].kind)
      << ", " << Dim << "D";
}

template <int Dim>
std::vector<Boundaries<Dim>> adjoint_faces() {
  using moho::wave::all_faces;
  auto free = all_faces<Dim>(FaceKind::rigid);
  free.lower[Dim - 1] = free.upper[0] = {FaceKind::free_surface, 0};
  auto mixed = all_faces<Dim>(FaceKind::sponge, 9);
  mixed.lower[Dim - 1] = {FaceKind::free_surface, 0};
  return {all_faces<Dim>(FaceKind::rigid), free, all_faces<Dim>(FaceKind::sponge, 12), mixed};
}

// Points whose nodes extend into the sponge also.
MEMORY_TEST(RunTest, StepsAreTheirOwnAdjointIn2D) {
  for (const Kind& kind : self_adjoint) {
    for (const auto& faces : adjoint_faces<2>()) {
      for (const int order : {2, 8, 16}) {
        expect_dot_product<T, 2, Memory>(exec, kind, order, faces, 0.4);
      }
    }
  }
}
MEMORY_TEST(RunTest, StepsAreTheirOwnAdjointIn3D) {
  for (const Kind& kind : self_adjoint) {
    expect_dot_product<T, 3, Memory>(exec, kind, 8, adjoint_faces<3>().back(), 0.4);
  }
}
// Between points outside the layers.
MEMORY_TEST(RunTest, LayersAreTheirOwnAdjoint) {
  for (const Kind& kind : self_adjoint) {
    if (kind.medium == Medium::tti) continue;  // no CPML in TTI
    const auto faces = moho::wave::all_faces<2>(FaceKind::cpml, 8);
    for (const int order : {4, 8}) expect_dot_product<T, 2, Memory>(exec, kind, order, faces, 0.15);
    const auto in_space = moho::wave::all_faces<3>(FaceKind::cpml, 6);
    expect_dot_product<T, 3, Memory>(exec, kind, 4, in_space, 0.1);
  }
}

// Rigid faces and free surfaces conserve energy: from its last two times a wavefield propagates
// backwards to rest.
MEMORY_TEST(RunTest, WavesRunBackwards) {
  const Grid<2> grid = run_grid<2>();
  for (const Kind& kind : self_adjoint) {
    const auto model = random_model<T, 2, Memory>(exec, grid, kind.medium, 12);
    PropagatorOptions<2> options;
    options.boundaries = adjoint_faces<2>()[1];
    const auto propagator = make_propagator(exec, grid, model, options);
    const PointSet<T, 2, Memory> points(exec, grid, propagator.layout(), cloud(grid, 4, 0.2, 1));
    constexpr std::int64_t steps = 300;
    const auto f = noise<T>(exec, steps, points.count(), 3);
    const auto ahead = noise<T>(exec, steps + 1, points.count(), 4);
    const auto behind = noise<T>(exec, steps + 1, points.count(), 5);
    auto field = propagator.make_wavefield(exec);
    RunOptions<T, 2, Memory> run;
    run.last = steps;
    run.present = [&](std::int64_t n) { points.record(exec, field.now[0], ahead, n); };
    run.stepped = [&](std::int64_t n, const Box<2>&) {
      for (int k = 0; k < field.fields; ++k) {
        points.inject(exec, field.next[k], f, n, propagator.source_scale(k));
      }
    };
    run_steps(exec, propagator, field, run);
    points.record(exec, field.now[0], behind, steps);
    field.reverse();
    run.first = steps - 1;
    run.last = 0;
    run.present = [&](std::int64_t n) { points.record(exec, field.now[0], behind, n); };
    run_steps(exec, propagator, field, run);
    const double max = std::sqrt(dot<T>(exec, ahead, ahead));
    const std::vector<T> a = moho::download(exec, ahead), b = moho::download(exec, behind);
    double worst = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    }
    EXPECT_LT(worst, by_precision<T>(1e-3, 1e-11) * max) << kind.name();
    EXPECT_GT(max, 0.0);
  }
}

/// Box around the middle that grows by a node in every other step.
template <class T, class Memory>
struct GrowingFromTheMiddle : moho::wave::Domain<T, 2, Memory> {
  Box<2> box(const Instance<Memory>&, const Propagator<T, 2, Memory>& propagator,
             const Wavefield<T, 2, Memory>&, std::int64_t step) override {
    const auto& extents = propagator.grid().extents;
    const Box<2> middle{{extents[0] / 2 - 8, extents[1] / 2 - 8},
                        {extents[0] / 2 + 9, extents[1] / 2 + 9}};
    return middle.grown(step / 2);
  }
};

// Boxes are recorded and replayed in both directions; nodes outside them are at rest.
MEMORY_TEST(RunTest, BoxesAreReplayed) {
  const Grid<2> grid = run_grid<2>();
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::vti, 12);
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  options.order = 4;
  const auto propagator = make_propagator(exec, grid, model, options);
  const Index<2> middle{grid.extents[0] / 2, grid.extents[1] / 2};
  const auto start = [&](Wavefield<T, 2, Memory>& field) {
    field.clear(exec);
    for (int f = 0; f < 2; ++f) {
      add_to_node<T, Memory>(exec, field.now[f], propagator.source_scale(f),
                             field.layout.flat(middle), 1e6);
    }
  };
  auto field = propagator.make_wavefield(exec), again = propagator.make_wavefield(exec);
  start(field);
  start(again);
  GrowingFromTheMiddle<T, Memory> growing;
  RunOptions<T, 2, Memory> run;
  run.last = 20;
  run.domain = &growing;
  const auto report = run_steps(exec, propagator, field, run);
  EXPECT_EQ(report.boxes.steps(), 20);
  EXPECT_EQ(report.boxes.changes(), 10u);
  EXPECT_EQ(report.boxes.at(7), growing.box(exec, propagator, field, 7));
  double points = 0.0;
  for (int n = 0; n < 20; ++n) points += static_cast<double>(report.boxes.at(n).size());
  EXPECT_EQ(report.points, points);
  moho::wave::ReplayedDomain<T, 2, Memory> replayed(report.boxes);
  run.domain = &replayed;
  run_steps(exec, propagator, again, run);
  for (int f = 0; f < 2; ++f) {
    EXPECT_EQ((nodes_of<T, 2, Memory>(exec, field.layout, field.now[f])),
              (nodes_of<T, 2, Memory>(exec, again.layout, again.now[f])));
  }
  // backwards the boxes shrink, and the field outside each is zero
  run.first = 20;
  run.last = 5;
  run.advanced = [&](std::int64_t time, const Box<2>& box) {
    EXPECT_EQ(box, report.boxes.at(time));
    const auto values = nodes_of<T, 2, Memory>(exec, field.layout, field.now[0]);
    double outside = 0.0;
    for (std::int64_t n = 0; n < grid.size(); ++n) {
      if (!box.contains(grid.node(n))) outside += std::fabs(values[static_cast<std::size_t>(n)]);
    }
    EXPECT_EQ(outside, 0.0) << "time " << time;
  };
  const auto shrinking = run_steps(exec, propagator, field, run);
  EXPECT_EQ(shrinking.boxes.at(0), report.boxes.at(19));
  EXPECT_EQ(shrinking.boxes.at(14), report.boxes.at(5));
}

TEST(BoxHistoryTest, Numbers) {
  BoxHistory<2> history;
  EXPECT_EQ(history.numbers(), (std::vector<std::int64_t>{0}));
  history.add({{1, 2}, {3, 4}});
  history.add({{1, 2}, {3, 4}});
  history.add({{0, 0}, {9, 9}});
  EXPECT_EQ(history.changes(), 2u);
  EXPECT_EQ(history.at(1), (Box<2>{{1, 2}, {3, 4}}));
  EXPECT_EQ(history.at(2), (Box<2>{{0, 0}, {9, 9}}));
  EXPECT_THAT(message_of([&] { history.at(3); }), HasSubstr("step 3 has no box (allowed: 0 to 2"));
  EXPECT_THAT(message_of([&] { history.at(-1); }), HasSubstr("step -1 has no box"));
  const Grid<2> grid{{10, 7}, {1.0, 1.0}, {}};
  const auto grown = history.grown(2, grid);
  EXPECT_EQ(grown.steps(), 3);
  EXPECT_EQ(grown.at(0), (Box<2>{{0, 0}, {5, 6}}));
  EXPECT_EQ(grown.at(2), (Box<2>{{0, 0}, {10, 7}}));
  EXPECT_EQ(history.numbers(), (std::vector<std::int64_t>{3, 0, 1, 2, 3, 4, 2, 0, 0, 9, 9}));
}

MEMORY_TEST(RunTest, AFlagEndsItBeforeTheNextStep) {
  const Grid<2> grid = run_grid<2>();
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 12);
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  const auto propagator = make_propagator(exec, grid, model, options);
  auto field = propagator.make_wavefield(exec);
  moho::StopFlag flag;
  const Instance<Memory> stopped = moho::stopped_by<Memory>(exec, flag);
  RunOptions<T, 2, Memory> run;
  run.last = 50;
  std::int64_t steps = 0;
  run.advanced = [&](std::int64_t, const Box<2>&) {
    if (++steps == 20) flag.request();
  };
  EXPECT_THROW(run_steps(stopped, propagator, field, run), moho::Stopped);
  EXPECT_EQ(steps, 20);
  // instances of concurrent work share the flag, other instances have no flag
  for (const auto& one : moho::concurrent_instances(stopped, 2)) {
    EXPECT_THROW(one.check_stop(), moho::Stopped);
  }
  run_steps(exec, propagator, field, run);
  EXPECT_EQ(steps, 70);
  flag.clear();
  run_steps(stopped, propagator, field, run);
  EXPECT_EQ(steps, 120);
}
MEMORY_TEST(RunTest, FletchersEquationsHaveNoAdjoint) {
  const Grid<2> grid = run_grid<2>();
  PropagatorOptions<2> options;
  options.equations = Equations::fletcher;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  const auto propagator =
      make_propagator(exec, grid, random_model<T, 2, Memory>(exec, grid, Medium::vti, 12), options);
  EXPECT_THAT(
      message_of([&] { adjoint_factors(exec, propagator.scheme(), propagator.medium_window()); }),
      HasSubstr("equations: Fletcher's are not self-adjoint"));
}

}  // namespace
