// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 13
//
// Expanding domains: boxes of the three methods against values computed by hand, and shots in
// domains against shots in the complete grid.

#include "domain/expansion.hpp"
#include "io/files.hpp"
#include "spaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace {

using namespace moho;
using namespace moho::wave;
using domain::DomainOptions;
using domain::ExpansionMethod;
using domain::test::compare;
using domain::test::holds;
using domain::test::methods;
using domain::test::Notes;
using domain::test::section;
using domain::test::Setting;
using domain::test::Shot;
using io::test::message_of;
using ::testing::HasSubstr;

template <class Memory>
class Expand : public ::testing::Test {};
TYPED_TEST_SUITE(Expand, moho::testing::TestSpaces, moho::testing::SpaceName);

MEMORY_TEST(Expand, IsotropicShotIsThatOfTheWholeGrid) {
  const Shot<float, 2, Memory> shot(exec, section());
  const auto whole = shot.run(nullptr);
  compare<float>(shot, whole.traces, ExpansionMethod::layers, 1e-5, 0.75);
  compare<float>(shot, whole.traces, ExpansionMethod::eikonal, 1e-5, 0.7);
  compare<float>(shot, whole.traces, ExpansionMethod::amplitude, 1e-4, 0.6);
}

MEMORY_TEST(Expand, EikonalOnTheGridItself) {
  const Shot<float, 2, Memory> shot(exec, section());
  const auto whole = shot.run(nullptr);
  DomainOptions options;
  options.coarsening = 1;
  compare<float>(shot, whole.traces, ExpansionMethod::eikonal, 1e-5, 0.65, options);
}

MEMORY_TEST(Expand, VtiShotIsThatOfTheWholeGrid) {
  Setting<2> s = section();
  s.epsilon = [](const Point<2>& x) { return 0.25 * x[1]; };
  s.delta = [](const Point<2>& x) { return 0.1 * x[0]; };
  const Shot<double, 2, Memory> shot(exec, s);
  const auto whole = shot.run(nullptr);
  for (const ExpansionMethod method : methods) {
    const bool follows = method == ExpansionMethod::amplitude;
    compare<double>(shot, whole.traces, method, follows ? 1e-4 : 1e-9, 0.8);
  }
}

MEMORY_TEST(Expand, TtiShotIsThatOfTheWholeGrid) {
  Setting<2> s = section();
  s.epsilon = [](const Point<2>&) { return 0.24; };
  s.delta = [](const Point<2>& x) { return x[0] > 0.5 ? 0.1 : -0.1; };
  s.theta = [](const Point<2>& x) { return 0.3 + x[0]; };
  const Shot<double, 2, Memory> shot(exec, s);
  const auto whole = shot.run(nullptr);
  // In nested first-order differences waves two nodes long run ahead with tiny amplitudes.
  for (const ExpansionMethod method : methods)
    compare<double>(shot, whole.traces, method, 1e-4, 0.8);
  DomainOptions wide;
  wide.margin = 24;
  compare<double>(shot, whole.traces, ExpansionMethod::eikonal, 1e-6, 0.9, wide);
}

MEMORY_TEST(Expand, SmallVolume) {
  Setting<3> s;
  s.grid = Grid<3>{{41, 37, 40}, {20.0, 20.0, 20.0}, {0.0, 0.0, 0.0}};
  s.vp = [](const Point<3>& x) {
    return x[2] > 0.6 && x[0] > 0.5 ? 3500.0 : 1800.0 + 500.0 * x[2];
  };
  s.epsilon = [](const Point<3>&) { return 0.2; };
  s.delta = [](const Point<3>&) { return 0.05; };
  s.theta = [](const Point<3>& x) { return 0.6 * x[2]; };
  s.phi = [](const Point<3>& x) { return 2.0 * x[0]; };
  s.boundaries = all_faces<3>(FaceKind::sponge, 8);
  s.boundaries.lower[2] = Face{FaceKind::free_surface, 0};
  s.order = 4;
  s.dt = 0.0022;
  s.time = 0.3;
  s.frequency = 7.0;
  s.sources = {{333.0, 401.0, 60.0}};
  s.receivers = {{120.0, 440.0, 40.0}, {700.0, 200.0, 40.0}, {700.0, 600.0, 700.0}};
  const Shot<float, 3, Memory> shot(exec, s);
  const auto whole = shot.run(nullptr);
  for (const ExpansionMethod method : methods) {
    const bool follows = method == ExpansionMethod::amplitude;
    compare<float>(shot, whole.traces, method, follows ? 1e-4 : 1e-5, 0.95);
  }
}

MEMORY_TEST(Expand, SourcesFarApartAndAtTheEdgeOfALayer) {
  Setting<2> s = section();
  s.boundaries = all_faces<2>(FaceKind::cpml, 12);
  s.sources = {{0.0, 700.0}, {140.0, 3.0}, {480.0, 900.5}};
  const Shot<float, 2, Memory> shot(exec, s);
  const auto whole = shot.run(nullptr);
  for (const ExpansionMethod method : methods) {
    const bool follows = method == ExpansionMethod::amplitude;
    compare<float>(shot, whole.traces, method, follows ? 1e-4 : 1e-5, 0.9);
  }
}

MEMORY_TEST(Expand, WaveletThatBeginsLate) {
  Setting<2> s = section();
  s.wavelet = ricker(s.frequency, s.dt);
  constexpr std::size_t silent = 123;
  s.wavelet.insert(s.wavelet.begin(), silent, 0.0);
  const Shot<float, 2, Memory> shot(exec, s);
  const auto whole = shot.run(nullptr);
  DomainOptions options;
  options.onset = domain::onset(s.wavelet, s.dt);
  EXPECT_GE(options.onset, s.dt * (silent - 1));
  compare<float>(shot, whole.traces, ExpansionMethod::layers, 1e-5, 0.6, options);
  compare<float>(shot, whole.traces, ExpansionMethod::eikonal, 1e-5, 0.5, options);
  compare<float>(shot, whole.traces, ExpansionMethod::amplitude, 1e-4, 0.5);

  // nothing moves before a wave exists
  const auto domain = shot.domain(ExpansionMethod::amplitude);
  Notes<float, 2, Memory> notes;
  notes.domain = domain.get();
  shot.run(&notes);
  for (std::size_t n = 1; n <= silent; ++n) ASSERT_TRUE(notes.boxes[n] == notes.boxes[0]) << n;
  EXPECT_FALSE(notes.boxes.back() == notes.boxes[0]);
}

MEMORY_TEST(Expand, SmallerThresholdsCutLess) {
  const Shot<double, 2, Memory> shot(exec, section());
  const auto whole = shot.run(nullptr);
  DomainOptions options;
  double before = 1.0;
  for (const double threshold : {1.0 / 32, 1.0 / 1024, 1.0 / 32768}) {
    options.threshold = threshold;
    const double found =
        compare<double>(shot, whole.traces, ExpansionMethod::amplitude, threshold, 0.8, options);
    EXPECT_LT(found, before);
    before = found;
  }
}

MEMORY_TEST(Expand, BoxesOfAllStepsAreKnownFromTheModelWithoutLayers) {
  Setting<2> s = section();
  s.epsilon = [](const Point<2>& x) { return 0.25 * x[1]; };
  s.delta = [](const Point<2>& x) { return 0.1 * x[0] - 0.05; };
  s.boundaries = all_faces<2>(FaceKind::cpml, 12);
  s.boundaries.upper[0] = Face{FaceKind::sponge, 30};
  s.boundaries.lower[1] = Face{FaceKind::free_surface, 0};
  Shot<float, 2, Memory> shot(exec, s);
  DomainOptions options;
  options.onset = 0.021;
  const auto boxes = [&](ExpansionMethod method) {
    return domain::shot_boxes<float, 2, Memory>(method, shot.exec, s.grid, shot.inner,
                                                shot.propagator->scheme(), shot.sources, options);
  };
  const auto field = shot.propagator->make_wavefield(shot.exec);
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    SCOPED_TRACE(domain::to_string(method));
    const auto rule = boxes(method);
    const auto domain = shot.domain(method, options);
    for (std::int64_t step = 0; step < 900; ++step) {
      const Box<2> box = rule.box(step);
      ASSERT_TRUE(box == domain->box(shot.exec, *shot.propagator, field, step)) << "step " << step;
      if (step > 0) {
        ASSERT_TRUE(holds(box, rule.box(step - 1))) << "step " << step;
      }
    }
    EXPECT_FALSE(rule.box(0) == rule.box(100));
    EXPECT_TRUE(rule.box(100000) == whole_box(shot.propagator->grid()));
  }
  for (const ExpansionMethod method : {ExpansionMethod::none, ExpansionMethod::amplitude}) {
    EXPECT_THROW(
        {
          try {
            boxes(method);
          } catch (const InputError& error) {
            EXPECT_THAT(error.what(), HasSubstr(domain::to_string(method)));
            EXPECT_THAT(error.what(), HasSubstr("(allowed: layers, eikonal"));
            throw;
          }
        },
        InputError);
  }
  // arrivals do not depend on the lower velocities of random layers
  s.boundaries = all_faces<2>(FaceKind::random, 15);
  s.frequency = 1.5;  // the velocity of these layers has no lower bound
  const Shot<float, 2, Memory> random(exec, s);
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    SCOPED_TRACE(domain::to_string(method));
    const auto rule =
        domain::shot_boxes<float, 2, Memory>(method, random.exec, s.grid, random.inner,
                                             random.propagator->scheme(), random.sources, options);
    const auto domain = random.domain(method, options);
    for (std::int64_t step = 0; step < 900; ++step) {
      const Box<2> box = domain->box(random.exec, *random.propagator, field, step);
      ASSERT_TRUE(rule.box(step) == box) << "step " << step;
    }
  }
}

// The model of the host is read once for all shots, which another memory may solve.
MEMORY_TEST(Expand, OneModelServesShotsAndFaces) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    SCOPED_TRACE(domain::to_string(method));
    Setting<2> s = section();
    const Shot<double, 2, Host> first(host, s);
    s.sources = {{300.0, 100.0}};
    const Shot<double, 2, Host> moved(host, s);
    s.boundaries = all_faces<2>(FaceKind::cpml, 12);
    const Shot<double, 2, Host> layered(host, s);
    domain::ModelArrivals<double, 2, Host> arrivals(method, s.grid, first.inner);
    DomainOptions coarse, fine;
    fine.coarsening = 1;
    for (const auto& [shot, options] :
         {std::pair{&first, coarse}, {&moved, coarse}, {&layered, coarse}, {&first, fine}}) {
      const auto& scheme = shot->propagator->scheme();
      const auto expected = domain::shot_boxes<double, 2, Host>(method, host, s.grid, shot->inner,
                                                                scheme, shot->sources, options);
      const auto same = arrivals.boxes(host, host, scheme, shot->sources, options);
      const auto solved = arrivals.boxes(host, exec, scheme, shot->sources, options);
      for (std::int64_t step = 0; step < 400; step += 7) {
        const Box<2> box = expected.box(step);
        ASSERT_TRUE(same.box(step) == box) << "step " << step;
        // arrivals exactly on a node may round either way
        ASSERT_TRUE(holds(solved.box(step).grown(1), box)) << "step " << step;
        ASSERT_TRUE(holds(box.grown(1), solved.box(step))) << "step " << step;
      }
      EXPECT_FALSE(expected.box(0) == expected.box(100));
    }
  }
}

MEMORY_TEST(Expand, LayersInAConstantVelocity) {
  Setting<2> s;
  s.grid = Grid<2>{{101, 81}, {10.0, 20.0}, {-300.0, 50.0}};
  s.vp = [](const Point<2>&) { return 2000.0; };
  s.sources = {{100.0, 450.0}};  // node (40, 20), which is node (60, 40) with the layers
  s.receivers = {{0.0, 450.0}};
  s.dt = 0.002;
  const Shot<double, 2, Memory> shot(exec, s);
  DomainOptions options;
  options.margin = 3;
  options.frequency = 1e-6;  // the scheme's velocities equal the true ones
  const auto field = shot.propagator->make_wavefield(shot.exec);
  const Box<2> whole = whole_box(shot.propagator->grid());
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    SCOPED_TRACE(domain::to_string(method));
    options.coarsening = 1;
    const auto domain = shot.domain(method, options);
    for (const std::int64_t step : {0, 1, 4, 49, 120, 1000, 3}) {
      // 4 m in each step: nodes that the wave has reached at its end, plus 3 for differences of
      // radius 4
      const double way = 4.0 * static_cast<double>(step + 1);
      const auto nodes = [&](double spacing) {
        return static_cast<std::int64_t>(std::floor(way / spacing + 1e-6));
      };
      const Box<2> expected{{60 - 7 - nodes(10.0), 40 - 7 - nodes(20.0)},
                            {60 + 8 + nodes(10.0), 40 + 8 + nodes(20.0)}};
      const Box<2> box = domain->box(shot.exec, *shot.propagator, field, step);
      // arrivals exactly on a node may round either way
      EXPECT_TRUE(holds(box, intersection(expected.grown(-1), whole))) << box_string(box);
      EXPECT_TRUE(holds(expected.grown(1), box)) << box_string(box);
      if (step == 1 || step == 120) {
        EXPECT_EQ(box_string(box), box_string(intersection(expected, whole)));
      }
      if (step == 1000) {
        EXPECT_TRUE(box == whole);
      }
    }
  }
}

MEMORY_TEST(Expand, LayersTakeTheFastestWaveOfEachPlane) {
  Setting<2> s;
  s.grid = Grid<2>{{61, 71}, {10.0, 10.0}, {0.0, 0.0}};
  // one fast column: every depth is fast, but only planes of x beyond it
  s.vp = [](const Point<2>& x) { return x[0] > 0.9 ? 4000.0 : 2000.0; };
  s.epsilon = [](const Point<2>&) { return 0.28; };  // sqrt(1 + 2 epsilon) = 1.249
  s.delta = [](const Point<2>& x) { return x[0] > 0.9 ? 0.625 : 0.0; };  // lowered to epsilon
  s.boundaries = all_faces<2>(FaceKind::rigid);
  s.sources = {{200.0, 200.0}};
  s.receivers = {{0.0, 450.0}};
  s.frequency = 5.0;
  const Shot<double, 2, Memory> shot(exec, s);
  DomainOptions options;
  options.margin = 0;
  options.frequency = 1e-6;
  const auto domain = shot.domain(ExpansionMethod::layers, options);
  const auto field = shot.propagator->make_wavefield(shot.exec);
  // 50 steps, 0.05 s: 249.8 m in the fast column, 124.9 m elsewhere; radius 4
  const Box<2> box = domain->box(shot.exec, *shot.propagator, field, 49);
  EXPECT_EQ(box.lower[0], 20 - 12 - 4);
  EXPECT_EQ(box.upper[0], 20 + 12 + 4 + 1);
  EXPECT_EQ(box.lower[1], 0);
  EXPECT_NEAR(static_cast<double>(box.upper[1]), 20 + 25 + 4 + 1, 1.0);
}

MEMORY_TEST(Expand, BoxesOfTheMethodsHoldEachOther) {
  Setting<2> s = section();
  s.sources = {{617.0, 43.0}, {900.0, 1300.0}};
  const Shot<double, 2, Memory> shot(exec, s);
  const auto field = shot.propagator->make_wavefield(shot.exec);
  DomainOptions fine;
  fine.coarsening = 1;
  const auto layers = shot.domain(ExpansionMethod::layers);
  const auto exact = shot.domain(ExpansionMethod::eikonal, fine);
  const auto coarse = shot.domain(ExpansionMethod::eikonal);
  for (std::int64_t step = 0; step < 700; ++step) {
    const auto box = [&](const auto& domain) {
      return domain->box(shot.exec, *shot.propagator, field, step);
    };
    const Box<2> inner = box(exact);
    // one node for the errors of the eikonal solver
    EXPECT_TRUE(holds(box(layers).grown(1), inner)) << step;
    EXPECT_TRUE(holds(box(coarse).grown(1), inner)) << step;
    EXPECT_TRUE(holds(inner.grown(16), box(coarse))) << step;
  }
}

MEMORY_TEST(Expand, OnsetShiftsArrivals) {
  const Shot<double, 2, Memory> shot(exec, section());
  const auto field = shot.propagator->make_wavefield(shot.exec);
  DomainOptions late;
  late.onset = 0.1;
  for (const ExpansionMethod method : {ExpansionMethod::layers, ExpansionMethod::eikonal}) {
    const auto one = shot.domain(method), other = shot.domain(method, late);
    for (std::int64_t step = 0; step < 300; step += 7) {
      EXPECT_TRUE(one->box(shot.exec, *shot.propagator, field, step) ==
                  other->box(shot.exec, *shot.propagator, field, step + 100));
    }
    EXPECT_TRUE(other->box(shot.exec, *shot.propagator, field, 0) ==
                other->box(shot.exec, *shot.propagator, field, 90));
  }
}

/// Writes values into the current field.
template <class T, int Dim, class Memory>
void put(const Wavefield<T, Dim, Memory>& field, int which,
         const std::type_identity_t<Index<Dim>>& node, double value) {
  const auto host = Kokkos::create_mirror_view(field.now[which]);
  Kokkos::deep_copy(host, field.now[which]);
  host(static_cast<std::size_t>(field.layout.flat(node))) = static_cast<T>(value);
  Kokkos::deep_copy(field.now[which], host);
}

MEMORY_TEST(Expand, FacesMoveAsTheAmplitudeSays) {
  Setting<3> s;
  s.grid = Grid<3>{{90, 97, 101}, {10.0, 10.0, 10.0}, {0.0, 0.0, 0.0}};
  s.vp = [](const Point<3>&) { return 2000.0; };
  s.epsilon = [](const Point<3>&) { return 0.0; };
  s.boundaries = all_faces<3>(FaceKind::rigid);
  s.sources = {{450.0, 480.0, 500.0}};
  s.receivers = {{0.0, 0.0, 0.0}};
  const Shot<float, 3, Memory> shot(exec, s);
  // 0.2 nodes in a step: ceil(1.25 * 0.2 * 8) = 2 nodes until the next measurement
  constexpr int depth = 4 + 2;
  const Box<3> start = Box<3>{{45, 48, 50}, {46, 49, 51}}.grown(4 + depth);
  const auto domain = shot.domain(ExpansionMethod::amplitude);
  const auto box_after_look = [&](const Wavefield<float, 3, Memory>& field) {
    Box<3> box;
    for (std::int64_t step = 0; step <= 8; ++step) {
      box = domain->box(shot.exec, *shot.propagator, field, step);
      if (step < 8) {
        EXPECT_TRUE(box == start) << box_string(box);
      }
    }
    return box;
  };
  for (const int which : {0, 1}) {
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool upper : {false, true}) {
        for (const int inside : {0, 1, depth - 1, depth}) {
          for (const double amplitude : {-1.01, 0.99}) {
            SCOPED_TRACE(
                concat("axis ", axis, " upper ", upper, " inside ", inside, " ", amplitude));
            auto field = shot.propagator->make_wavefield(shot.exec);
            shot.exec.fence();
            put(field, which, {45, 48, 50}, 64.0);
            Index<3> node{47, 46, 51};
            node[axis] = upper ? start.upper[axis] - 1 - inside : start.lower[axis] + inside;
            put(field, which, node, amplitude / 1024 * 64.0);
            Box<3> expected = start;
            if (std::fabs(amplitude) > 1.0) {
              (upper ? expected.upper[axis] : expected.lower[axis]) +=
                  (depth - inside) * (upper ? 1 : -1);
            }
            EXPECT_EQ(box_string(box_after_look(field)), box_string(expected));
          }
        }
      }
    }
  }
}

MEMORY_TEST(Expand, LargeBoxesAreSampledAndClipped) {
  Setting<2> s = section();
  s.boundaries = all_faces<2>(FaceKind::rigid);
  s.grid.extents = {601, 501};
  s.vp = [](const Point<2>&) { return 2000.0; };
  s.sources = {{3000.0, 60.0}, {3000.0, 4800.0}, {150.0, 4800.0}, {5500.0, 60.0}};
  const Shot<double, 2, Memory> shot(exec, s);
  const auto domain = shot.domain(ExpansionMethod::amplitude);
  const auto field = shot.propagator->make_wavefield(shot.exec);
  shot.exec.fence();
  const Box<2> start = domain->box(shot.exec, *shot.propagator, field, 0);
  EXPECT_EQ(box_string(start), "[5, 561) x [0, 491)");
  // a wave that crosses every row, and amplitudes inside three faces
  for (int i = 290; i < 310; ++i) put(field, 0, {i, 250}, 1.0);
  put(field, 0, {6, 100}, 0.5);
  put(field, 0, {560, 300}, 0.0011);
  put(field, 0, {300, 490}, 0.0009);
  Box<2> box;
  for (std::int64_t step = 1; step <= 16; ++step) {
    box = domain->box(shot.exec, *shot.propagator, field, step);
  }
  EXPECT_EQ(box_string(box), "[0, 567) x [0, 491)");
}

MEMORY_TEST(Expand, CallsOutOfOrderGetTheWholeGrid) {
  const Shot<float, 2, Memory> shot(exec, section());
  const auto field = shot.propagator->make_wavefield(shot.exec);
  const Box<2> whole = whole_box(shot.propagator->grid());
  const auto domain = shot.domain(ExpansionMethod::amplitude);
  const auto box = [&](std::int64_t step) {
    return domain->box(shot.exec, *shot.propagator, field, step);
  };
  const Box<2> start = box(0);
  EXPECT_FALSE(start == whole);
  EXPECT_TRUE(box(1) == start);
  EXPECT_TRUE(box(3) == whole);
  EXPECT_TRUE(box(4) == whole);
  EXPECT_TRUE(box(0) == start);
  const auto another = shot.domain(ExpansionMethod::amplitude);
  EXPECT_TRUE(another->box(shot.exec, *shot.propagator, field, 77) == whole);
}

MEMORY_TEST(Expand, NoneIsTheGridWhole) {
  const Shot<float, 2, Memory> shot(exec, section());
  const auto field = shot.propagator->make_wavefield(shot.exec);
  const auto domain = shot.domain(ExpansionMethod::none);
  EXPECT_TRUE(domain->box(shot.exec, *shot.propagator, field, 0) ==
              whole_box(shot.propagator->grid()));
  EXPECT_EQ(domain->report().fraction(), 1.0);
  EXPECT_EQ(domain->report().seconds(), 0.0);
}

MEMORY_TEST(Expand, BadInput) {
  const Shot<float, 2, Memory> shot(exec, section());
  for (const ExpansionMethod method : methods) {
    const auto message = [&](const DomainOptions& options) {
      return message_of<InputError>([&] { shot.domain(method, options); });
    };
    DomainOptions options;
    options.source_radius = 2;
    EXPECT_THAT(message(options), HasSubstr("source_radius is 2 (allowed: that of the sources"));
    options = {};
    options.source_radius = 11;
    EXPECT_THAT(message(options), HasSubstr("radius is 11 (allowed: 1 to 10"));
    options = {};
    options.onset = -1.0;
    EXPECT_THAT(message(options), HasSubstr("onset is -1 (allowed: 0 or more seconds"));
    options = {};
    options.frequency = std::nan("");
    EXPECT_THAT(message(options), HasSubstr("frequency is nan (allowed: 0 or more Hz"));
    options = {};
    options.margin = -2;
    EXPECT_THAT(message(options), HasSubstr("margin is -2 (allowed: 0 or more nodes"));
    options = {};
    options.coarsening = 0;
    EXPECT_THAT(message(options), HasSubstr("coarsening is 0 (allowed: 1 to 64"));
    options = {};
    options.threshold = 1.0;
    EXPECT_THAT(message(options), HasSubstr("threshold is 1 (allowed: between 0 and 1"));
    options = {};
    options.inside = 0;
    EXPECT_THAT(message(options), HasSubstr("inside is 0 (allowed: 1 to 64 nodes"));
    options = {};
    options.interval = 0;
    EXPECT_THAT(message(options), HasSubstr("interval is 0 (allowed: 1 to 64 steps"));

    const PointSet<float, 2, Memory> none;
    EXPECT_THAT(message_of<InputError>([&] {
                  domain::make_domain(method, shot.exec, *shot.propagator, shot.model, none);
                }),
                HasSubstr("sources: there are none"));
    if (method == ExpansionMethod::amplitude) continue;
    Model<float, 2, Memory> other;
    EXPECT_THAT(message_of<InputError>([&] {
                  domain::make_domain(method, shot.exec, *shot.propagator, other, shot.sources);
                }),
                HasSubstr("vp: it is missing"));
    other.vp = make_field<float>(shot.exec, section().grid, "vp");
    EXPECT_THAT(message_of<InputError>([&] {
                  domain::make_domain(method, shot.exec, *shot.propagator, other, shot.sources);
                }),
                HasSubstr("vp: its shape is 201 x 141 (allowed: 241 x 181"));
  }
}

TEST(ExpandNames, AreRead) {
  for (const char* const name : {"none", "layers", "eikonal", "amplitude"}) {
    EXPECT_STREQ(domain::to_string(domain::parse_expansion(name)), name);
  }
  EXPECT_THAT(message_of<InputError>([] { domain::parse_expansion("fast"); }),
              HasSubstr("expansion 'fast' is unknown (allowed: none, layers, eikonal, amplitude)"));
}

TEST(Onset, IsTheSampleBeforeTheFirstThatCounts) {
  EXPECT_EQ(domain::onset({0.0, 0.0, 0.0, -2.0, 1.0}, 0.5), 1.0);
  EXPECT_EQ(domain::onset({1.0, 0.0}, 0.5), 0.0);
  EXPECT_EQ(domain::onset({0.0, 1e-7, 1.0}, 0.5), 0.5);
  EXPECT_EQ(domain::onset({0.0, 1e-7, 1.0}, 0.5, 1e-8), 0.0);
  EXPECT_THAT(message_of<InputError>([] {
                domain::onset({0.0, 0.0}, 0.5);
              }),
              HasSubstr("the largest sample 0"));
  EXPECT_THAT(message_of<InputError>([] { domain::onset({1.0}, 0.0); }), HasSubstr("dt is 0 s"));
}

}  // namespace
