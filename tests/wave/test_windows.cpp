// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Windows of the grid: for any window, every node gets the same bits as in arrays of the complete
// grid.

#include <moho/wave/points.hpp>

#include "support.hpp"

namespace {

using moho::Box;
using moho::Field;
using moho::Grid;
using moho::Index;
using moho::InputError;
using moho::PlaneRange;
using moho::Points;
using moho::wave::PointSet;
using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace moho::testing;

template <class Case>
class WindowTest : public ::testing::Test {};
TYPED_TEST_SUITE(WindowTest, LongTestCases, CaseName);

template <int Dim>
Grid<Dim> window_grid() {
  if constexpr (Dim == 2) {
    return {{61, 33}, {10.0, 8.0}, {}};
  } else {
    return {{61, 19, 23}, {10.0, 12.0, 8.0}, {}};
  }
}

/// Boundaries with every kind of face across x, the axis of windows, and across the others.
template <int Dim>
std::vector<Boundaries<Dim>> window_faces(const Kind& kind) {
  std::vector<Boundaries<Dim>> result;
  Boundaries<Dim> mixed = moho::wave::all_faces<Dim>(FaceKind::rigid);
  mixed.lower[0] = {FaceKind::free_surface, 0};
  mixed.upper[0] = {FaceKind::sponge, 7};
  mixed.lower[Dim - 1] = {FaceKind::free_surface, 0};
  result.push_back(mixed);
  if (kind.medium != Medium::tti) {
    result.push_back(moho::wave::all_faces<Dim>(FaceKind::cpml, 6));
  }
  return result;
}

/// Returns a part of a dense field.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> part_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                              const Field<T, Dim, Memory>& field, const PlaneRange& planes) {
  if (field.data() == nullptr) return {};
  Grid<Dim> part = grid;
  part.extents[0] = planes.count();
  const std::int64_t plane = grid.size() / grid.extents[0];
  auto result = moho::make_field<T>(exec, part, "part");
  moho::copy(exec, Storage<T, Memory>(result.data(), static_cast<std::size_t>(part.size())),
             Storage<T, Memory>(field.data() + planes.begin * plane,
                                static_cast<std::size_t>(part.size())));
  exec.fence();
  return result;
}
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> part_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                              const Model<T, Dim, Memory>& model, const PlaneRange& planes) {
  const auto part = [&](const Field<T, Dim, Memory>& field) {
    return part_of<T, Dim, Memory>(exec, grid, field, planes);
  };
  return {part(model.vp),    part(model.density), part(model.epsilon),
          part(model.delta), part(model.theta),   part(model.phi)};
}

/// Window, the planes that it steps, and its arrays.
template <class T, int Dim, class Memory>
struct Window {
  PlaneRange own;
  MediumCoefficients<T, Dim, Memory> medium;
  Wavefield<T, Dim, Memory> field;
};

/// Returns the values of some planes of a field.
template <class T, int Dim, class Memory>
std::vector<T> planes_of_field(const Instance<Memory>& exec, const Layout<Dim>& layout,
                               const Storage<T, Memory>& field, const PlaneRange& planes) {
  const std::vector<T> values = moho::download(exec, field);
  Box<Dim> box = layout.box();
  box.lower[0] = planes.begin;
  box.upper[0] = planes.end;
  std::vector<T> result;
  for (std::int64_t n = 0; n < box.size(); ++n) {
    result.push_back(values[static_cast<std::size_t>(layout.flat(box.node(n)))]);
  }
  return result;
}

/// Returns points anywhere, some between planes that are separated by a cut.
template <int Dim>
Points<Dim> points_anywhere(std::mt19937& random, const Grid<Dim>& grid) {
  Points<Dim> positions;
  for (int p = 0; p < 9; ++p) {
    moho::Point<Dim> point{};
    for (int d = 0; d < Dim; ++d) point[d] = uniform(random, 40.0, 0.95 * grid.upper(d));
    positions.push_back(point);
  }
  return positions;
}

/// Divides the grid into four windows of planes, each with the state of a complete wavefield.
/// \param around planes on both sides that a window holds in addition to its own
template <class T, int Dim, class Memory>
std::vector<Window<T, Dim, Memory>> make_windows(
    const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme, const Grid<Dim>& grid,
    const Model<T, Dim, Memory>& model, const Wavefield<T, Dim, Memory>& whole, int around) {
  std::vector<Window<T, Dim, Memory>> windows;
  const std::int64_t cuts[] = {0, 17, 18, 40, grid.extents[0]};
  for (int w = 0; w < 4; ++w) {
    Window<T, Dim, Memory> window;
    window.own = {cuts[w], cuts[w + 1]};
    const PlaneRange held =
        intersection(PlaneRange{cuts[w] - around, cuts[w + 1] + around}, moho::all_planes(grid));
    window.medium = MediumCoefficients<T, Dim, Memory>(exec, scheme, held);
    // in slabs, not in order
    const std::int64_t middle = held.begin + held.count() / 2;
    for (const PlaneRange& slab : {PlaneRange{middle, held.end}, PlaneRange{held.begin, middle}}) {
      window.medium.load(exec, scheme, part_of(exec, grid, model, slab), slab);
    }
    window.field = moho::wave::make_wavefield(exec, scheme, held);
    copy_planes(exec, scheme, whole, window.field, held);
    windows.push_back(window);
  }
  return windows;
}

/// Steps the own planes of a window in two boxes, the upper one first.
template <class T, int Dim, class Memory>
void step_in_boxes(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                   const Grid<Dim>& grid, const Window<T, Dim, Memory>& window) {
  Box<Dim> low = moho::whole_box(grid), high = low;
  low.lower[0] = window.own.begin;
  high.upper[0] = window.own.end;
  low.upper[0] = high.lower[0] = (window.own.begin + window.own.end) / 2;
  step(exec, scheme, window.medium, window.field, high);
  step(exec, scheme, window.medium, window.field, low);
}

/// Copies to every window the planes next to its own from the windows that step them.
template <class T, int Dim, class Memory>
void exchange_planes(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                     std::vector<Window<T, Dim, Memory>>& windows, int around) {
  for (auto& to : windows) {
    for (const auto& from : windows) {
      const PlaneRange lower =
          intersection(from.own, PlaneRange{to.own.begin - around, to.own.begin});
      const PlaneRange upper = intersection(from.own, PlaneRange{to.own.end, to.own.end + around});
      for (const PlaneRange& planes : {lower, upper}) {
        if (!planes.empty()) copy_planes(exec, scheme, from.field, to.field, planes);
      }
    }
  }
}

// Windows at any planes, which copy planes from their neighbours after every step, give the bits of
// the complete grid. They step boxes in any order, inject sources and record receivers.
template <class T, int Dim, class Memory>
void expect_windows_make_the_whole(const Instance<Memory>& exec, const Kind& kind, int order,
                                   const Boundaries<Dim>& faces) {
  const Grid<Dim> grid = window_grid<Dim>();
  const auto model = random_model<T, Dim, Memory>(exec, grid, kind.medium, 5);
  PropagatorOptions<Dim> options;
  options.order = order;
  options.boundaries = faces;
  options.equations = kind.equations;
  const auto whole = make_propagator(exec, grid, model, options);
  const Scheme<T, Dim, Memory>& scheme = whole.scheme();
  auto expected = whole.make_wavefield(exec);
  set_random(exec, expected, 8);

  std::mt19937 random(3);
  const PointSet<T, Dim, Memory> points(exec, grid, scheme.layout(), points_anywhere(random, grid));
  // planes that steps and points read in addition to the window's own
  const int around = std::max<int>(scheme.reach(0), points.planes() - 1);
  auto windows = make_windows(exec, scheme, grid, model, expected, around);

  constexpr int steps = 5;
  const auto count = static_cast<std::size_t>(points.count());
  std::vector<T> amplitudes(steps * count);
  for (T& value : amplitudes) value = static_cast<T>(uniform(random, -1.0, 1.0));
  const auto flat = moho::upload(exec, amplitudes, "amplitudes");
  const moho::wave::PointSeries<const T, Memory> series(flat.data(), steps, count);
  const auto make_gather = [&] {
    const auto gather =
        moho::allocate<moho::wave::PointSeries<T, Memory>>(exec, "gather", steps, points.count());
    moho::fill(exec, gather, T(-1));
    return gather;
  };
  const auto gather = make_gather(), in_windows = make_gather();

  for (int n = 0; n < steps; ++n) {
    points.record(exec, expected.now[0], gather, n);
    whole.step(exec, expected);
    for (int f = 0; f < expected.fields; ++f) {
      points.inject(exec, expected.next[f], series, n, whole.source_scale(f));
    }
    expected.advance();

    for (const auto& window : windows) {
      points.record(exec, window.field.layout, window.own, window.field.now[0], in_windows, n);
      step_in_boxes(exec, scheme, grid, window);
      for (int f = 0; f < expected.fields; ++f) {
        points.inject(exec, window.field.layout, window.own, window.field.next[f], series, n,
                      window.medium.source_scale(f));
      }
    }
    for (auto& window : windows) window.field.advance();
    exchange_planes(exec, scheme, windows, around);
  }
  const std::string what = moho::concat(kind.name(), ", order ", order, ", ",
                                        to_string(faces.lower[0].kind), ", ", Dim, "D");
  for (const auto& window : windows) {
    for (int f = 0; f < expected.fields; ++f) {
      EXPECT_EQ(planes_of_field(exec, window.field.layout, window.field.now[f], window.own),
                planes_of_field(exec, expected.layout, expected.now[f], window.own))
          << what << ", planes from " << window.own.begin << ", field " << f;
    }
  }
  EXPECT_EQ(moho::download(exec, gather), moho::download(exec, in_windows)) << what;
}
MEMORY_TEST(WindowTest, MakeTheWholeIn2D) {
  for (const Kind& kind : kinds) {
    for (const int order : {2, 8, 12}) {
      for (const auto& faces : window_faces<2>(kind)) {
        expect_windows_make_the_whole<T, 2, Memory>(exec, kind, order, faces);
      }
    }
  }
}
MEMORY_TEST(WindowTest, MakeTheWholeIn3D) {
  for (const Kind& kind : kinds) {
    for (const auto& faces : window_faces<3>(kind)) {
      expect_windows_make_the_whole<T, 3, Memory>(exec, kind, 8, faces);
    }
  }
}

// Axis derivatives computed once serve all boxes.
MEMORY_TEST(WindowTest, SlopesAreKeptForNeighbours) {
  const Grid<3> grid = window_grid<3>();
  const auto model = random_model<T, 3, Memory>(exec, grid, Medium::tti, 6);
  PropagatorOptions<3> options;
  options.boundaries = window_faces<3>({Medium::tti}).front();
  const auto propagator = make_propagator(exec, grid, model, options);
  auto expected = propagator.make_wavefield(exec), field = propagator.make_wavefield(exec);
  set_random(exec, expected, 2);
  set_random(exec, field, 2);
  propagator.step(exec, expected);
  const auto& scheme = propagator.scheme();
  const auto& medium = propagator.medium_window();
  compute_axis_derivatives(exec, scheme, medium, field, moho::whole_box(grid));
  for (const PlaneRange& planes : {PlaneRange{30, 61}, PlaneRange{0, 13}, PlaneRange{13, 30}}) {
    Box<3> box = moho::whole_box(grid);
    box.lower[0] = planes.begin;
    box.upper[0] = planes.end;
    step_from_axis_derivatives(exec, scheme, medium, field, box);
  }
  for (int f = 0; f < 2; ++f) {
    EXPECT_EQ((nodes_of<T, 3, Memory>(exec, field.layout, field.next[f])),
              (nodes_of<T, 3, Memory>(exec, expected.layout, expected.next[f])));
  }
}

// A new model in the existing arrays.
MEMORY_TEST(WindowTest, ModelsAreUpdatedInPlace) {
  const Grid<2> grid = window_grid<2>();
  for (const Kind& kind : kinds) {
    PropagatorOptions<2> options;
    options.equations = kind.equations;
    options.boundaries = window_faces<2>(kind).front();
    options.dt = 2e-4;
    const auto first = random_model<T, 2, Memory>(exec, grid, kind.medium, 6);
    const auto second = random_model<T, 2, Memory>(exec, grid, kind.medium, 60);
    Propagator<T, 2, Memory> updated(exec, grid, first, options);
    const auto arrays = updated.source_scale().first.data();
    updated.update(exec, second);
    EXPECT_EQ(updated.source_scale().first.data(), arrays);
    // the sponge is that of the first model
    const Scheme<T, 2, Memory>& scheme = updated.scheme();
    MediumCoefficients<T, 2, Memory> medium(exec, scheme, moho::all_planes(grid));
    medium.load(exec, scheme, second);
    auto a = updated.make_wavefield(exec), b = updated.make_wavefield(exec);
    set_random(exec, a, 4);
    set_random(exec, b, 4);
    updated.step(exec, a);
    step(exec, scheme, medium, b, moho::whole_box(grid));
    EXPECT_EQ((nodes_of<T, 2, Memory>(exec, a.layout, a.next[0])),
              (nodes_of<T, 2, Memory>(exec, b.layout, b.next[0])))
        << kind.name();
    EXPECT_THAT(message_of([&] {
                  updated.update(
                      exec, kind.medium == Medium::isotropic
                                ? random_model<T, 2, Memory>(exec, grid, Medium::vti, 1)
                                : random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 1));
                }),
                HasSubstr("model: its parameters are those of a medium"));
  }
}

// Random layers, and all others, of some planes.
MEMORY_TEST(WindowTest, ModelsAreExtendedByPlanes) {
  const Grid<2> grid{{23, 15}, {10.0, 10.0}, {}};
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::tti, 3);
  auto faces = moho::wave::all_faces<2>(FaceKind::random, 9);
  faces.lower[1] = {FaceKind::sponge, 4};
  const Grid<2> extended = moho::wave::extended_grid(grid, faces);
  const auto whole = moho::wave::extend_model(exec, grid, model, faces);
  for (const PlaneRange& planes :
       {PlaneRange{0, 41}, PlaneRange{0, 1}, PlaneRange{5, 20}, PlaneRange{33, 41}}) {
    const auto part = moho::wave::extend_model<T, 2, Memory>(exec, grid, model, faces, {}, planes);
    const auto cut = part_of(exec, extended, whole, planes);
    EXPECT_EQ(moho::download(exec, part.vp), moho::download(exec, cut.vp));
    EXPECT_EQ(moho::download(exec, part.theta), moho::download(exec, cut.theta));
  }
  EXPECT_THAT(message_of([&] {
                moho::wave::extend_model<T, 2, Memory>(exec, grid, model, faces, {}, {40, 42});
              }),
              HasSubstr("planes 40 to 41 are not in the grid (allowed: 0 to 40)"));
}

MEMORY_TEST(WindowTest, BadWindows) {
  const Grid<2> grid = window_grid<2>();
  const auto model = random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 6);
  PropagatorOptions<2> options;
  options.boundaries = moho::wave::all_faces<2>(FaceKind::rigid);
  const auto propagator = make_propagator(exec, grid, model, options);
  const auto& scheme = propagator.scheme();
  MediumCoefficients<T, 2, Memory> medium(exec, scheme, {10, 40});
  const auto field = moho::wave::make_wavefield(exec, scheme, {10, 40});
  const auto other = moho::wave::make_wavefield(exec, scheme, {8, 40});
  const auto later = moho::wave::make_wavefield(exec, scheme, {11, 40});
  EXPECT_THAT(message_of([&] {
                step(exec, scheme, medium, field, Box<2>{{13, 0}, {36, 33}});
              }),
              HasSubstr("medium: its window does not hold planes 9 to 39"));
  EXPECT_THAT(message_of([&] {
                step(exec, scheme, medium, field, Box<2>{{14, 0}, {37, 33}});
              }),
              HasSubstr("does not hold planes 10 to 40"));
  EXPECT_EQ(message_of([&] {
              step(exec, scheme, medium, field, Box<2>{{14, 0}, {36, 33}});
            }),
            "no exception");
  EXPECT_THAT(message_of([&] {
                step(exec, scheme, medium, other, Box<2>{{12, 0}, {30, 33}});
              }),
              HasSubstr("medium: its window does not hold planes 8 to 33"));
  MediumCoefficients<T, 2, Memory> wide(exec, scheme, {5, 45});
  EXPECT_THAT(message_of([&] {
                step(exec, scheme, wide, field, Box<2>{{13, 0}, {36, 33}});
              }),
              HasSubstr("box: its step reads planes 9 to 39 (allowed: 10 to 39, the window"));
  // windows may differ
  EXPECT_EQ(message_of([&] {
              step(exec, scheme, medium, other, Box<2>{{14, 0}, {30, 33}});
            }),
            "no exception");
  EXPECT_THAT(message_of([&] {
                medium.load(exec, scheme, model, {0, 61});
              }),
              HasSubstr("planes 0 to 60 are not in the window (allowed: 10 to 39)"));
  EXPECT_THAT(message_of([&] { medium.load(exec, scheme, model); }),
              HasSubstr("vp: its shape is 61 x 33"));
  EXPECT_THAT(message_of([&] {
                MediumCoefficients<T, 2, Memory>(exec, scheme, {50, 62});
              }),
              HasSubstr("planes 50 to 61 are not in the grid"));
  EXPECT_THAT(message_of([&] {
                copy_planes(exec, scheme, field, later, {10, 12});
              }),
              HasSubstr("planes 10 to 11 are not all in the window (allowed: 11 to 39)"));
  const PointSet<T, 2, Memory> points(exec, grid, scheme.layout(), {{255.0, 101.0}});
  const moho::wave::PointSeries<T, Memory> series("series", 1, 1);
  EXPECT_THAT(message_of([&] {
                points.record(exec, field.layout, {5, 20}, field.now[0], series, 0);
              }),
              HasSubstr("planes 5 to 19 are not in the window"));
}

// A part of a larger view has gaps: kernels would read its neighbours.
MEMORY_TEST(WindowTest, ViewsWithGapsAreRefused) {
  const Grid<2> grid{{64, 48}, {10.0, 10.0}, {}};
  const Field<T, 2, Memory> big("big", 64, 96);
  moho::fill(exec, big, T(2000));
  Model<T, 2, Memory> model;
  model.vp = Kokkos::subview(big, Kokkos::ALL(), std::pair<int, int>(0, 48));
  EXPECT_THAT(message_of([&] { moho::wave::check_model(exec, grid, model); }),
              AllOf(HasSubstr("vp: it is a part of a larger view"), HasSubstr("copy it")));
  PropagatorOptions<2> options;
  options.dt = 1e-3;
  EXPECT_THAT(message_of([&] { Propagator<T, 2, Memory>(exec, grid, model, options); }),
              HasSubstr("vp: it is a part of a larger view"));
  EXPECT_THAT(message_of([&] {
                moho::wave::extend_model(exec, grid, model,
                                         moho::wave::all_faces<2>(FaceKind::sponge, 5));
              }),
              HasSubstr("it is a part of a larger view"));
}

}  // namespace
