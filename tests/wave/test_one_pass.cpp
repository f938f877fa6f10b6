// SPDX-License-Identifier: BSD-3-Clause
//
// Self-adjoint TTI in one pass, which devices support for some orders and hosts for all, and the
// packed symmetry axis. One pass gives the bits of two passes, in any box, with every face.

#include <moho/core/launch.hpp>
#include <moho/wave/detail/axis_ring.hpp>
#include <moho/wave/detail/axis_word.hpp>

#include "wave/support.hpp"

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::wave::detail::pack_axis;
using moho::wave::detail::unpack_axis;

template <class S>
class OnePass : public ::testing::Test {};
TYPED_TEST_SUITE(OnePass, TestSpaces, SpaceName);

/// Functor that packs axes into words and unpacks them.
struct ThereAndBack {
  const double* axes;
  float* rounded;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    unpack_axis(pack_axis(axes[3 * i], axes[3 * i + 1], axes[3 * i + 2]), rounded[3 * i],
                rounded[3 * i + 1], rounded[3 * i + 2]);
  }
};
struct NoAxis {
  float* components;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t) const {
    unpack_axis(moho::wave::detail::no_axis, components[0], components[1], components[2]);
  }
};

template <class Memory>
void expect_axes_in_words(const Instance<Memory>& exec) {
  // along the axes of the grid, horizontal, nearly vertical, and random
  std::vector<double> axes{1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
  std::mt19937 random(4);
  for (int n = 0; n < 20000; ++n) {
    const double azimuth = uniform(random, -pi, pi);
    double tilt = std::acos(uniform(random, 0.0, 1.0));
    if (n % 4 == 1) tilt = 0.5 * pi;
    if (n % 4 == 2) tilt *= 1e-3;
    if (n % 4 == 3) tilt = 0.5 * pi - 1e-3 * tilt;
    axes.push_back(std::sin(tilt) * std::cos(azimuth));
    axes.push_back(std::sin(tilt) * std::sin(azimuth));
    axes.push_back(std::cos(tilt));
  }
  const auto count = static_cast<std::int64_t>(axes.size()) / 3;
  const auto given = moho::upload(exec, axes, "axes");
  const auto words = moho::allocate<Storage<float, Memory>>(exec, "rounded", axes.size());
  moho::launch("moho::wave::axes", exec, count, ThereAndBack{given.data(), words.data()});
  const std::vector<float> rounded = moho::download(exec, words);
  double farthest = 0.0, longest = 0.0;
  for (std::size_t n = 0; n < axes.size(); n += 3) {
    double distance = 0.0, length = 0.0;
    for (std::size_t d = n; d < n + 3; ++d) {
      const double component = static_cast<double>(rounded[d]);
      distance += (component - axes[d]) * (component - axes[d]);
      length += component * component;
    }
    farthest = std::max(farthest, std::sqrt(distance));
    longest = std::max(longest, std::abs(std::sqrt(length) - 1.0));
    EXPECT_GE(rounded[n + 2], 0.0f);
  }
  EXPECT_LT(farthest, 7e-5);
  EXPECT_LT(longest, 5e-7);
  const auto none = moho::allocate<Storage<float, Memory>>(exec, "none", 3);
  moho::launch("moho::wave::axes", exec, 1, NoAxis{none.data()});
  for (const float component : moho::download(exec, none)) EXPECT_EQ(component, 0.0f);
}
TYPED_TEST(OnePass, AxesInWords) {
  expect_axes_in_words(
      Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

// Blocks process every plane of every tile once, and the load of the multiprocessors is balanced.
// Launches count planes and elements from their first plane, in 32 bits, and read no plane beyond
// the halo of the grid.
TEST(AxisRingArguments, CountFromTheFirstPlane) {
  using moho::wave::detail::AxisRingArguments;
  using moho::wave::detail::ring_arguments_of;
  using moho::wave::detail::ring_planes_at_once;
  constexpr int radius = 4;
  constexpr std::int64_t extent = 100, stride = 7;
  std::vector<float> memory(static_cast<std::size_t>(extent * stride));
  std::vector<std::uint32_t> words(memory.size());
  AxisRingArguments<float> a{};
  a.s.stride_x = stride;
  for (int f = 0; f < 2; ++f) a.s.now[f] = a.s.next[f] = memory.data();
  a.s.scale = a.s.a = a.s.b = a.s.taper[0] = memory.data();
  a.axis = words.data();
  for (const moho::PlaneRange& planes :
       std::vector<moho::PlaneRange>{{0, 100}, {0, 3}, {2, 9}, {40, 60}, {95, 100}}) {
    const std::int64_t begin = planes.begin, end = planes.end;
    const auto part = ring_arguments_of(a, planes, extent, radius);
    EXPECT_EQ(part.s.lower[0], 0);
    EXPECT_EQ(part.s.upper[0], end - begin);
    EXPECT_EQ(part.s.now[1], memory.data() + begin * stride);
    EXPECT_EQ(part.s.next[0], memory.data() + begin * stride);
    EXPECT_EQ(part.s.b, memory.data() + begin * stride);
    EXPECT_EQ(part.s.taper[0], memory.data() + begin);
    EXPECT_EQ(part.axis, words.data() + begin * stride);
    EXPECT_EQ(begin + part.first_plane, std::max<std::int64_t>(begin - 2 * radius, -radius));
    EXPECT_EQ(begin + part.last_plane,
              std::min<std::int64_t>(end + 2 * radius, extent + radius) - 1);
  }
  // the last element of the last plane has an index of 32 bits
  for (const std::int64_t plane :
       {std::int64_t(1000), std::int64_t(282880), std::int64_t(20000000)}) {
    const std::int64_t planes = ring_planes_at_once(plane, radius);
    EXPECT_GE(planes, 1);
    EXPECT_LE((planes + 2 * radius) * plane, INT32_MAX);
  }
  EXPECT_LT(ring_planes_at_once(std::int64_t(1) << 30, radius), 1);
}

TEST(AxisRingWork, CoversTheBox) {
  using moho::wave::detail::AxisRingTraits;
  struct Case {
    std::int64_t planes, ny, first_z, end_z;
    int multiprocessors;
    double max;  ///< planes on the busiest multiprocessor, relative to an even share
  };
  const Case cases[] = {{512, 512, 0, 512, 132, 1.05}, {505, 515, 0, 523, 132, 1.07},
                        {256, 256, 0, 256, 132, 1.20}, {640, 640, 0, 640, 132, 1.10},
                        {1, 40, 3, 70, 132, 200.0},    {60, 1, 37, 38, 108, 200.0},
                        {45, 71, 5, 77, 7, 200.0},     {300, 33, 0, 33, 1, 1.0}};
  for (const Case& c : cases) {
    moho::wave::kernel::StepArguments<float> s{};
    s.upper[0] = c.planes;
    s.lower[1] = 2;
    s.upper[1] = 2 + c.ny;
    s.lower[2] = c.first_z;
    s.upper[2] = c.end_z;
    moho::wave::detail::AxisRingWork work;
    const int blocks = work.cover<4, AxisRingTraits>(s, c.multiprocessors);
    const std::string what = moho::concat(c.planes, " planes of ", work.tiles, " tiles on ",
                                          c.multiprocessors, " multiprocessors");
    EXPECT_EQ(work.first_z % 4, 0);
    EXPECT_LE(work.first_z, c.first_z);
    EXPECT_GE(work.first_z + work.tiles_z * AxisRingTraits::columns, c.end_z);
    EXPECT_GE(work.tiles / work.tiles_z * AxisRingTraits::rows, c.ny);
    std::vector<int> taken(static_cast<std::size_t>(work.tiles * work.planes), 0);
    std::vector<std::int64_t> busy(static_cast<std::size_t>(c.multiprocessors), 0);
    for (int block = 0; block < blocks; ++block) {
      int begin = -1, end = -1;
      const int tile = work.place(block, begin, end);
      ASSERT_LT(begin, end) << what;
      for (int x = begin; x < end; ++x) {
        ++taken.at(static_cast<std::size_t>(tile * work.planes + x));
      }
      *std::min_element(busy.begin(), busy.end()) += end - begin;
    }
    EXPECT_EQ(std::count(taken.begin(), taken.end(), 1), work.tiles * work.planes) << what;
    EXPECT_LE(static_cast<double>(*std::max_element(busy.begin(), busy.end())),
              c.max * static_cast<double>(work.tiles) * static_cast<double>(work.planes) /
                  static_cast<double>(c.multiprocessors))
        << what;
  }
}

/// Rigid and free faces, sponges, a free surface at the top or at both lower sides, and all kinds.
std::vector<Boundaries<3>> faces_of_tti() {
  std::vector<Boundaries<3>> result{moho::wave::all_faces<3>(FaceKind::rigid),
                                    moho::wave::all_faces<3>(FaceKind::free_surface),
                                    moho::wave::all_faces<3>(FaceKind::sponge, 7)};
  Boundaries<3> top = result.back();
  top.lower[2] = {FaceKind::free_surface, 0};
  result.push_back(top);
  top.lower[1] = {FaceKind::free_surface, 0};
  result.push_back(top);
  top.lower[1] = {FaceKind::rigid, 0};
  top.upper[0] = {FaceKind::free_surface, 0};
  result.push_back(top);
  return result;
}

// Several tiles of a device along y and z, partial ones at the end; shares of columns of all
// lengths. Hosts use a smaller grid, cut at equal distances from its faces.
template <class T, class Memory>
void expect_bits_of_two_passes(const Instance<Memory>& exec, const std::vector<int>& orders,
                               const moho::Index<3>& extents,
                               const std::vector<Boundaries<3>>& boundaries) {
  constexpr bool small = moho::is_host_memory<Memory>;
  const Grid<3> grid{extents, {10.0, 12.0, 7.0}, {}};
  const auto model = random_model<T, 3, Memory>(exec, grid, Medium::tti, 5);
  for (const int order : orders) {
    for (const auto& faces : boundaries) {
      PropagatorOptions<3> options;
      options.order = order;
      options.boundaries = faces;
      const auto one = make_propagator(exec, grid, model, options);
      options.one_pass = false;
      options.dt = one.dt();
      const Propagator<T, 3, Memory> two(exec, grid, model, options);
      options.reference = true;
      const Propagator<T, 3, Memory> plain(exec, grid, model, options);
      auto whole = one.make_wavefield(exec), boxes = one.make_wavefield(exec);
      auto expected = two.make_wavefield(exec), reference = plain.make_wavefield(exec);
      for (auto* wavefield : {&whole, &boxes, &expected, &reference}) {
        set_random(exec, *wavefield, 8);
      }
      for (int step = 0; step < 2; ++step) {
        one.step(exec, whole);
        two.step(exec, expected);
        plain.step(exec, reference);
        // cuts next to faces, within tiles, and between them
        const std::int64_t cuts[3][5] = {{0, 1, 6, small ? 13 : 30, grid.extents[0]},
                                         {0, 3, small ? 11 : 33, small ? 18 : 70, grid.extents[1]},
                                         {0, 2, 9, grid.extents[2] - 13, grid.extents[2]}};
        for (int n = 63; n >= 0; --n) {
          const int at[3] = {n / 16, n / 4 % 4, n % 4};
          Box<3> box;
          for (int d = 0; d < 3; ++d) {
            box.lower[d] = cuts[d][at[d]];
            box.upper[d] = cuts[d][at[d] + 1];
          }
          one.step(exec, boxes, box);
        }
        for (auto* wavefield : {&whole, &boxes, &expected, &reference}) wavefield->advance();
      }
      const std::string what =
          moho::concat("order ", order, ", top ", to_string(faces.lower[2].kind), ", sides ",
                       to_string(faces.lower[1].kind));
      for (int f = 0; f < 2; ++f) {
        const auto values = nodes_of<T, 3, Memory>(exec, expected.layout, expected.now[f]);
        EXPECT_GT(norm(values), 1.0);
        EXPECT_EQ((nodes_of<T, 3, Memory>(exec, whole.layout, whole.now[f])), values) << what;
        EXPECT_EQ((nodes_of<T, 3, Memory>(exec, boxes.layout, boxes.now[f])), values) << what;
        EXPECT_LT(relative_difference(
                      nodes_of<T, 3, Memory>(exec, reference.layout, reference.now[f]), values),
                  sizeof(T) == 4 ? 1e-5 : 1e-13)
            << what;
      }
    }
  }
}
TYPED_TEST(OnePass, HasTheBitsOfTwoPasses) {
  using Memory = moho::MemoryOf<typename TypeParam::Exec>;
  const Instance<Memory> exec{typename TypeParam::Exec()};
  if constexpr (moho::is_host_memory<Memory>) {
    expect_bits_of_two_passes<float>(exec, {2, 8, 16}, {21, 19, 25}, faces_of_tti());
    expect_bits_of_two_passes<double>(exec, {6}, {21, 19, 25}, faces_of_tti());
    // hosts cut tiles along z and y; free surfaces at the lower sides
    expect_bits_of_two_passes<float>(exec, {8}, {17, 43, 263}, {faces_of_tti()[4]});
  } else {
    expect_bits_of_two_passes<float>(exec, {2, 4, 6, 8}, {45, 71, 77}, faces_of_tti());
  }
}

// Current devices have sufficient shared memory. One pass writes no axis derivatives.
template <class Memory>
void expect_one_pass(const Instance<Memory>& exec) {
  const Grid<3> grid = cube<3>(24, 10.0);
  const auto model = random_model<float, 3, Memory>(exec, grid, Medium::tti, 5);
  for (const int order : {2, 8, 10}) {
    PropagatorOptions<3> options;
    options.order = order;
    options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
    const auto propagator = make_propagator(exec, grid, model, options);
    const bool packed = propagator.scheme().packed_axis();
    if (order > moho::wave::detail::largest_ring_order || moho::is_host_memory<Memory>) {
      EXPECT_FALSE(packed);
    }
    auto wavefield = propagator.make_wavefield(exec);
    set_random(exec, wavefield, 3);
    for (int f = 0; f < 2; ++f) moho::fill(exec, wavefield.axis_derivative[f], 7.0f);
    propagator.step(exec, wavefield);
    for (int f = 0; f < 2; ++f) {
      const auto slopes =
          nodes_of<float, 3, Memory>(exec, wavefield.layout, wavefield.axis_derivative[f]);
      EXPECT_EQ(std::count(slopes.begin(), slopes.end(), 7.0) > 0,
                packed || moho::is_host_memory<Memory>)
          << "order " << order;
    }
  }
}
TYPED_TEST(OnePass, IsTheDefault) {
  expect_one_pass(Instance<moho::MemoryOf<typename TypeParam::Exec>>(typename TypeParam::Exec()));
}

}  // namespace
