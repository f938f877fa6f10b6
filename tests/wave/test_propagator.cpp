// SPDX-License-Identifier: BSD-3-Clause
// ctest: long, cost 45
//
// Tuned kernels against plain ones on noise, boxes against the complete grid, any instance.

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;

template <class Case>
class PropagatorTest : public ::testing::Test {};
TYPED_TEST_SUITE(PropagatorTest, LongTestCases, CaseName);

/// Extents that differ along all axes and are not multiples of any vector or tile.
template <int Dim>
Grid<Dim> odd_grid() {
  if constexpr (Dim == 2) {
    return Grid<2>{{35, 53}, {10.0, 7.0}, {-50.0, 20.0}};
  } else {
    return Grid<3>{{20, 19, 37}, {10.0, 12.0, 7.0}, {-50.0, 0.0, 20.0}};
  }
}

/// Faces of one kind, and of all kinds. (No CPML in TTI.)
template <int Dim>
std::vector<Boundaries<Dim>> all_boundaries(Medium medium) {
  std::vector<Boundaries<Dim>> result{moho::wave::all_faces<Dim>(FaceKind::rigid),
                                      moho::wave::all_faces<Dim>(FaceKind::free_surface),
                                      moho::wave::all_faces<Dim>(FaceKind::sponge, 5)};
  const FaceKind layer = medium == Medium::tti ? FaceKind::sponge : FaceKind::cpml;
  if (medium != Medium::tti) result.push_back(moho::wave::all_faces<Dim>(FaceKind::cpml, 6));
  Boundaries<Dim> mixed;
  mixed.lower[0] = {layer, 5};
  mixed.upper[0] = {FaceKind::free_surface, 0};
  mixed.lower[Dim - 1] = {FaceKind::free_surface, 0};
  mixed.upper[Dim - 1] = {layer, 9};
  if (Dim == 3) mixed.lower[1] = {FaceKind::rigid, 0};
  if (Dim == 3) mixed.upper[1] = {FaceKind::sponge, 4};
  result.push_back(mixed);
  return result;
}

template <class T>
double rounding(Medium medium) {
  // nz of a horizontal axis is the square root of a difference
  if (medium == Medium::tti) return by_precision<T>(3e-4, 1e-11);
  return by_precision<T>(1e-5, 2e-14);
}

/// Returns both fields after some steps from noise.
template <class T, int Dim, class Memory>
std::vector<double> after_steps(const Instance<Memory>& exec,
                                const Propagator<T, Dim, Memory>& propagator, int steps) {
  auto wavefield = propagator.make_wavefield(exec);
  set_random(exec, wavefield, 77);
  for (int n = 0; n < steps; ++n) {
    propagator.step(exec, wavefield);
    wavefield.advance();
  }
  std::vector<double> result;
  for (int f = 0; f < wavefield.fields; ++f) {
    const auto values = nodes_of<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f]);
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

// Sanitizers slow down every step tenfold: they run a part of the orders in 3D.
#ifdef MOHO_BOUNDS_CHECK
constexpr int order_step = 6;
constexpr bool brief = true;
#else
constexpr int order_step = 2;
constexpr bool brief = false;
#endif

template <class T, int Dim, class Memory>
void expect_reference(const Instance<Memory>& exec, const Grid<Dim>& grid, const Kind& kind,
                      int order, const Boundaries<Dim>& boundaries) {
  const Medium medium = kind.medium;
  const auto model = random_model<T, Dim, Memory>(exec, grid, medium, 5);
  PropagatorOptions<Dim> options;
  options.equations = kind.equations;
  options.order = order;
  options.boundaries = boundaries;
  const auto tuned = make_propagator(exec, grid, model, options);
  EXPECT_EQ(tuned.medium(), medium);
  options.reference = true;
  const auto plain = make_propagator(exec, grid, model, options);
  const auto expected = after_steps(exec, plain, 2);
  EXPECT_GT(norm(expected), 1.0);
  EXPECT_LE(relative_difference(after_steps(exec, tuned, 2), expected), rounding<T>(medium))
      << kind.name() << ' ' << Dim << "D order " << order << ", top "
      << to_string(boundaries.lower[Dim - 1].kind) << ", left "
      << to_string(boundaries.lower[0].kind);
}

template <class T, int Dim, class Memory>
void expect_reference_for_all(const Instance<Memory>& exec, int first = 2, int last = 16) {
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    for (int order = first; order <= last; order += Dim == 3 ? order_step : 2) {
      for (const auto& boundaries : all_boundaries<Dim>(medium)) {
        expect_reference<T, Dim, Memory>(exec, odd_grid<Dim>(), kind, order, boundaries);
      }
    }
  }
}

MEMORY_TEST(PropagatorTest, IsItsReferenceForEveryOrderAndFaceIn2D) {
  expect_reference_for_all<T, 2, Memory>(exec);
}
// A part of the two adjacent tests, for tools that slow down a hundredfold.
MEMORY_TEST(PropagatorTest, IsItsReferenceAtOrder8) {
  expect_reference_for_all<T, 2, Memory>(exec, 8, 8);
  expect_reference_for_all<T, 3, Memory>(exec, 8, 8);
}
MEMORY_TEST(PropagatorTest, IsItsReferenceForEveryOrderAndFaceIn3D) {
  expect_reference_for_all<T, 3, Memory>(exec);
}

// Several tiles along every axis, and rows so long that tiles become thin.
MEMORY_TEST(PropagatorTest, IsItsReferenceInManyTiles) {
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    for (const int order : {4, 16}) {
      const auto boundaries = all_boundaries<3>(medium).back();
      expect_reference<T, 3, Memory>(exec, {{18, 75, 40}, {10.0, 12.0, 7.0}, {}}, kind, order,
                                     boundaries);
      expect_reference<T, 2, Memory>(exec, {{150, 140}, {10.0, 7.0}, {}}, kind, order,
                                     all_boundaries<2>(medium).back());
      if (order == 4) continue;
      expect_reference<T, 3, Memory>(exec, {{17, 18, 330}, {10.0, 12.0, 7.0}, {}}, kind, order,
                                     boundaries);
      expect_reference<T, 2, Memory>(exec, {{17, 1500}, {10.0, 7.0}, {}}, kind, order,
                                     all_boundaries<2>(medium).back());
    }
  }
}

/// Divides a grid into boxes of all sizes from one node on, in random order.
template <int Dim>
std::vector<Box<Dim>> shuffled_boxes(const Grid<Dim>& grid, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> cuts[Dim];
  for (int d = 0; d < Dim; ++d) {
    cuts[d].push_back(0);
    while (cuts[d].back() < grid.extents[d]) {
      const std::int64_t longest = grid.extents[d] / 2 + 1;
      const std::int64_t width =
          random() % 3 == 0 ? 1 : 1 + static_cast<std::int64_t>(random()) % longest;
      cuts[d].push_back(std::min(cuts[d].back() + width, grid.extents[d]));
    }
  }
  Box<Dim> counts;
  for (int d = 0; d < Dim; ++d) counts.upper[d] = static_cast<std::int64_t>(cuts[d].size()) - 1;
  std::vector<Box<Dim>> boxes;
  for (std::int64_t n = 0; n < counts.size(); ++n) {
    const Index<Dim> at = counts.node(n);
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) {
      box.lower[d] = cuts[d][static_cast<std::size_t>(at[d])];
      box.upper[d] = cuts[d][static_cast<std::size_t>(at[d]) + 1];
    }
    boxes.push_back(box);
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  return boxes;
}

template <class T, int Dim, class Memory>
void expect_boxes_make_the_whole(const Instance<Memory>& exec) {
  const Grid<Dim> grid = odd_grid<Dim>();
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    const auto model = random_model<T, Dim, Memory>(exec, grid, medium, 6);
    for (const int order : {2, 8, 16}) {
      if (brief && Dim == 3 && order == 2) continue;
      for (const auto& boundaries : all_boundaries<Dim>(medium)) {
        for (const bool reference : {false, true}) {
          if (reference && order != 8) continue;
          PropagatorOptions<Dim> options;
          options.equations = kind.equations;
          options.order = order;
          options.boundaries = boundaries;
          options.reference = reference;
          const auto propagator = make_propagator(exec, grid, model, options);
          auto whole = propagator.make_wavefield(exec), parts = propagator.make_wavefield(exec);
          set_random(exec, whole, 8);
          set_random(exec, parts, 8);
          for (unsigned n = 0; n < 4; ++n) {
            propagator.step(exec, whole);
            whole.advance();
            for (const auto& box : shuffled_boxes(grid, 10 * n + static_cast<unsigned>(order))) {
              propagator.step(exec, parts, box);
            }
            parts.advance();
          }
          for (int f = 0; f < whole.fields; ++f) {
            // to the last bit
            EXPECT_EQ(
                relative_difference(nodes_of<T, Dim, Memory>(exec, parts.layout, parts.now[f]),
                                    nodes_of<T, Dim, Memory>(exec, whole.layout, whole.now[f])),
                0.0)
                << kind.name() << " order " << order << ", top "
                << to_string(boundaries.lower[Dim - 1].kind) << ", left "
                << to_string(boundaries.lower[0].kind) << ", field " << f;
          }
        }
      }
    }
  }
}

MEMORY_TEST(PropagatorTest, BoxesInAnyOrderMakeTheWholeIn2D) {
  expect_boxes_make_the_whole<T, 2, Memory>(exec);
}
MEMORY_TEST(PropagatorTest, BoxesInAnyOrderMakeTheWholeIn3D) {
  expect_boxes_make_the_whole<T, 3, Memory>(exec);
}

template <class T, int Dim, class Memory>
void expect_nothing_outside_of_the_box(const Instance<Memory>& exec) {
  const Grid<Dim> grid = odd_grid<Dim>();
  std::vector<Box<Dim>> boxes{grid.extents[0] > 0 ? moho::whole_box(grid) : Box<Dim>{}};
  boxes[0] = boxes[0].grown(-4);
  Box<Dim> corner = moho::whole_box(grid), edge = corner, node = corner;
  for (int d = 0; d < Dim; ++d) {
    corner.upper[d] = 3 + d;
    edge.lower[d] = grid.extents[d] - 5 + d;
    node.lower[d] = 11 + d;
    node.upper[d] = 12 + d;
  }
  Box<Dim> slab = moho::whole_box(grid);
  slab.lower[Dim - 1] = 18;
  slab.upper[Dim - 1] = 21;
  for (const auto& box : {corner, edge, node, slab}) boxes.push_back(box);
  // next to layers, into which differences reach
  for (int d = 0; d < Dim; ++d) {
    Box<Dim> halo = moho::whole_box(grid);
    halo.lower[d] = 8;
    halo.upper[d] = 10;
    boxes.push_back(halo);
    halo.lower[d] = grid.extents[d] - 11;
    halo.upper[d] = grid.extents[d] - 10;
    boxes.push_back(halo);
  }

  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    const auto model = random_model<T, Dim, Memory>(exec, grid, medium, 6);
    for (const int order : {2, 8, 16}) {
      if (brief && Dim == 3 && order == 2) continue;
      for (const auto& boundaries : all_boundaries<Dim>(medium)) {
        PropagatorOptions<Dim> options;
        options.equations = kind.equations;
        options.order = order;
        options.boundaries = boundaries;
        const auto propagator = make_propagator(exec, grid, model, options);
        for (const auto& box : boxes) {
          const auto wavefield = propagator.make_wavefield(exec);
          set_random(exec, wavefield, 9);
          std::vector<T> before[2], now[2];
          for (int f = 0; f < wavefield.fields; ++f) {
            before[f] = fetch<T, Memory>(exec, wavefield.next[f]);
            now[f] = fetch<T, Memory>(exec, wavefield.now[f]);
          }
          propagator.step(exec, wavefield, box);
          for (int f = 0; f < wavefield.fields; ++f) {
            auto after = fetch<T, Memory>(exec, wavefield.next[f]);
            std::int64_t changed = 0;
            for (std::int64_t n = 0; n < box.size(); ++n) {
              const auto i = static_cast<std::size_t>(wavefield.layout.flat(box.node(n)));
              changed += after[i] != before[f][i] ? 1 : 0;
              after[i] = before[f][i];
            }
            EXPECT_GT(changed, box.size() / 2);
            ASSERT_EQ(after, before[f])
                << kind.name() << " order " << order << " box " << moho::box_string(box);
            // the current level is read; only a free surface's image beyond it changes
            const auto present = nodes_of<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f]);
            const Box<Dim> whole = moho::whole_box(grid);
            for (std::int64_t n = 0; n < whole.size(); ++n) {
              const auto i = static_cast<std::size_t>(wavefield.layout.flat(whole.node(n)));
              ASSERT_EQ(present[static_cast<std::size_t>(n)], static_cast<double>(now[f][i]));
            }
          }
        }
      }
    }
  }
}

MEMORY_TEST(PropagatorTest, WritesNothingOutsideOfTheBoxIn2D) {
  expect_nothing_outside_of_the_box<T, 2, Memory>(exec);
}
MEMORY_TEST(PropagatorTest, WritesNothingOutsideOfTheBoxIn3D) {
  expect_nothing_outside_of_the_box<T, 3, Memory>(exec);
}

MEMORY_TEST(PropagatorTest, CutsOffWhatReachesOverTheGrid) {
  const Grid<2> grid = odd_grid<2>();
  PropagatorOptions<2> options;
  options.boundaries = all_boundaries<2>(Medium::isotropic).back();
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 6);
  const auto propagator = make_propagator(exec, grid, model, options);
  const auto whole = propagator.make_wavefield(exec), larger = propagator.make_wavefield(exec);
  set_random(exec, whole, 1);
  set_random(exec, larger, 1);
  propagator.step(exec, whole);
  propagator.step(exec, larger, moho::whole_box(grid).grown(7));
  EXPECT_EQ((fetch<T, Memory>(exec, whole.next[0])), (fetch<T, Memory>(exec, larger.next[0])));
  const auto state = fetch<T, Memory>(exec, whole.next[0]);
  for (const Box<2>& box : {Box<2>{{5, 5}, {5, 30}}, Box<2>{{9, 9}, {3, 12}},
                            Box<2>{{35, 0}, {40, 60}}, Box<2>{{-9, -9}, {0, 0}}}) {
    propagator.step(exec, whole, box);
  }
  EXPECT_EQ((fetch<T, Memory>(exec, whole.next[0])), state);
}

MEMORY_TEST(PropagatorTest, SilenceStays) {
  const Grid<3> grid = odd_grid<3>();
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    const auto model = random_model<T, 3, Memory>(exec, grid, medium, 6);
    PropagatorOptions<3> options;
    options.equations = kind.equations;
    options.boundaries = all_boundaries<3>(medium).back();
    const auto propagator = make_propagator(exec, grid, model, options);
    auto wavefield = propagator.make_wavefield(exec);
    EXPECT_GT(wavefield.bytes(), 2 * sizeof(T) * static_cast<std::size_t>(grid.size()));
    for (int n = 0; n < 3; ++n) {
      propagator.step(exec, wavefield);
      wavefield.advance();
    }
    for (int f = 0; f < wavefield.fields; ++f) {
      EXPECT_EQ(largest(nodes_of<T, 3, Memory>(exec, wavefield.layout, wavefield.now[f])), 0.0);
    }
    // and once more: a cleared wavefield keeps no memory
    set_random(exec, wavefield, 3);
    for (int n = 0; n < 2; ++n) {
      propagator.step(exec, wavefield);
      wavefield.advance();
    }
    wavefield.clear(exec);
    for (int n = 0; n < 3; ++n) {
      propagator.step(exec, wavefield);
      wavefield.advance();
    }
    for (int f = 0; f < wavefield.fields; ++f) {
      EXPECT_EQ(largest(nodes_of<T, 3, Memory>(exec, wavefield.layout, wavefield.now[f])), 0.0);
    }
  }
}

MEMORY_TEST(PropagatorTest, SaysWhatItIs) {
  const Grid<3> grid = odd_grid<3>();
  const int arrays[] = {4, 5, 9, 21, 9, 11};
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    const auto model = random_model<T, 3, Memory>(exec, grid, medium, 6);
    PropagatorOptions<3> options;
    options.equations = kind.equations;
    options.order = 6;
    options.boundaries.lower[0] = {FaceKind::sponge, 4};
    options.boundaries.upper[0] = {FaceKind::random, 3};
    options.boundaries.lower[1] = options.boundaries.upper[1] = {FaceKind::sponge, 2};
    options.boundaries.lower[2] = {FaceKind::free_surface, 30};
    options.boundaries.upper[2] = {FaceKind::rigid, 30};
    const auto propagator = make_propagator(exec, grid, model, options, 0.5);
    EXPECT_EQ(propagator.order(), 6);
    EXPECT_EQ(propagator.medium(), medium);
    EXPECT_EQ(propagator.grid().extents[2], 37);
    EXPECT_DOUBLE_EQ(propagator.dt(), 0.5 * propagator.limits().largest_dt);
    EXPECT_EQ(propagator.interior(), (Box<3>{{4, 2, 0}, {17, 17, 37}}));
    int touched = arrays[&kind - kinds];
    if (kind.medium == Medium::tti && kind.equations == moho::wave::Equations::self_adjoint) {
      // one pass: two fields read, and read and written; five parameters or three and a packed axis
      if (moho::is_host_memory<Memory>) touched = 12;
      if (propagator.scheme().packed_axis()) touched = 10;
    }
    EXPECT_EQ(propagator.bytes_per_node(), touched * static_cast<int>(sizeof(T)));
    EXPECT_EQ(propagator.make_wavefield(exec).fields, moho::wave::fields_of(medium));
    // (v dt)^2; the root of the density leads to p
    const auto scale = fetch<T, Memory>(
        exec, Storage<T, Memory>(const_cast<T*>(propagator.source_scale().first.data()),
                                 propagator.source_scale().first.extent(0)));
    const auto vp = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.vp);
    const Storage<const T, Memory> pressure = propagator.pressure_factors();
    EXPECT_EQ(pressure.data() != nullptr, medium == Medium::variable_density);
    if (pressure.data() != nullptr) {
      const auto root = fetch<T, Memory>(
          exec, Storage<T, Memory>(const_cast<T*>(pressure.data()), pressure.extent(0)));
      const double rho = static_cast<double>(
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), model.density)(7, 8, 9));
      EXPECT_NEAR(root[static_cast<std::size_t>(propagator.layout().flat({7, 8, 9}))],
                  std::sqrt(rho), 1e-6 * std::sqrt(rho));
    }
    const double v = static_cast<double>(vp(7, 8, 9)) * propagator.dt();
    EXPECT_NEAR(scale[static_cast<std::size_t>(propagator.layout().flat({7, 8, 9}))], v * v,
                1e-6 * v * v);
  }
}

#if KOKKOS_VERSION >= 40200
// Halves of a step on separate instances.
template <class T, class Memory>
void expect_any_instance(const Instance<Memory>& exec) {
  const std::vector<Instance<Memory>> instances = exec.visit([](const auto& space) {
    // one thread cannot be divided
    if (space.concurrency() < 2) return std::vector<Instance<Memory>>{space, space};
    const auto parts = Kokkos::Experimental::partition_space(space, 1, 1);
    return std::vector<Instance<Memory>>{parts[0], parts[1]};
  });
  const Grid<3> grid = odd_grid<3>();
  for (const Kind& kind : kinds) {
    const Medium medium = kind.medium;
    const auto model = random_model<T, 3, Memory>(instances[1], grid, medium, 6);
    PropagatorOptions<3> options;
    options.equations = kind.equations;
    options.boundaries = all_boundaries<3>(medium).back();
    const auto propagator = make_propagator(instances[1], grid, model, options);
    auto whole = propagator.make_wavefield(exec), parts = propagator.make_wavefield(instances[1]);
    set_random(exec, whole, 8);
    set_random(instances[1], parts, 8);
    Box<3> low = moho::whole_box(grid), high = low;
    low.upper[1] = high.lower[1] = 8;
    for (unsigned n = 0; n < 4; ++n) {
      propagator.step(exec, whole);
      whole.advance();
      propagator.step(instances[0], parts, low);
      propagator.step(instances[1], parts, high);
      instances[0].fence();
      instances[1].fence();
      parts.advance();
    }
    for (int f = 0; f < whole.fields; ++f) {
      EXPECT_LE(relative_difference(nodes_of<T, 3, Memory>(exec, parts.layout, parts.now[f]),
                                    nodes_of<T, 3, Memory>(exec, whole.layout, whole.now[f])),
                rounding<T>(medium))
          << kind.name();
    }
  }
}
MEMORY_TEST(PropagatorTest, StepsOnAnyInstance) { expect_any_instance<T, Memory>(exec); }
#endif

}  // namespace
