// SPDX-License-Identifier: BSD-3-Clause
// ctest: sanitizers without LayerMarch.StepsAndCorrectsAsTheHostDoes
//
// The devices' step with layers in one launch, run on the host: a team's threads are host threads,
// and its barrier is a host barrier. It is compared with the host's step and corrections.

#include <moho/wave/detail/batch.hpp>
#include <moho/wave/detail/cpml_device.hpp>

#include <algorithm>
#include <barrier>
#include <iterator>
#include <thread>
#include <utility>

#include "support.hpp"

namespace {

using namespace moho::testing;
namespace detail = moho::wave::detail;
using moho::wave::kernel::Stencil;
using Host = Kokkos::HostSpace;

/// Thread of a team.
template <class Vector>
struct HostTeam {
  int number, thread;
  Vector* memory;
  std::barrier<>* meeting;
  int league() const { return number; }
  int rank() const { return thread; }
  Vector* scratch() const { return memory; }
  void barrier() const { meeting->arrive_and_wait(); }
};

/// Runs all teams of a kernel, the last ones first.
template <class Kernel>
void run_teams(const Kernel& kernel, std::int64_t teams) {
  using Vector = typename Kernel::Vector;
  const std::size_t vectors = kernel.scratch_bytes() / sizeof(Vector) + 1;
  for (auto team = static_cast<int>(teams) - 1; team >= 0; --team) {
    std::vector<Vector> memory(vectors);
    std::barrier<> meeting(Kernel::threads);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < Kernel::threads; ++thread) {
      threads.emplace_back([&, thread] {
        kernel.work(HostTeam<Vector>{team, thread, memory.data(), &meeting});
        meeting.arrive_and_drop();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

template <Stencil stencil, class T, int radius>
void step_in_one(const Scheme<T, 2, Host>& scheme, const MediumCoefficients<T, 2, Host>& medium,
                 const Wavefield<T, 2, Host>& wavefield, const moho::Box<2>& box,
                 const detail::LayerCut& cut, const detail::Several& several = {}) {
  moho::wave::kernel::StepArguments<T> s;
  ASSERT_TRUE(detail::bind_step(scheme, medium, wavefield, box, scheme.reach(0), s));
  s.shots = several.shots;
  s.batch_stride = several.batch_stride;
  const auto arguments = detail::bind_layers<T, 2, Host>(scheme, s, wavefield).by_axis();
  detail::DeviceLayerMarch<stencil, T, 2, radius, Kokkos::DefaultHostExecutionSpace> kernel;
  kernel.march.s = kernel.rims.s = arguments.s;
  for (int d = 0; d < 3; ++d) {
    ASSERT_TRUE(arguments.layers[d].separated(radius, detail::layer_alignment<T>(false)));
    kernel.layers[d] = arguments.layers[d];
    std::copy(std::begin(arguments.slope[d]), std::end(arguments.slope[d]),
              std::begin(kernel.slopes[d]));
  }
  run_teams(kernel, kernel.cover(cut) * several.shots);
}

/// Returns the arguments of a step.
template <class T, class Memory>
detail::LayeredArguments<T> arguments_of(const Propagator<T, 2, Memory>& propagator,
                                         const Wavefield<T, 2, Memory>& wavefield,
                                         const moho::Box<2>& box) {
  moho::wave::kernel::StepArguments<T> s;
  const auto& scheme = propagator.scheme();
  EXPECT_TRUE(
      detail::bind_step(scheme, propagator.medium_window(), wavefield, box, scheme.reach(0), s));
  return detail::bind_layers<T, 2, Memory>(scheme, s, wavefield).by_axis();
}

/// Steps a box with a thread for a node, the last ones first.
template <Stencil stencil, class T, int radius>
void step_flat(const detail::LayeredArguments<T>& arguments) {
  detail::SectionStep<stencil, T, radius, true> step{arguments, {}};
  for (std::int64_t n = step.threads.cover(arguments.s, 1); n-- > 0;) step(n);
}

/// Returns the largest difference of two arrays over the largest value.
template <class View>
double max_distance_of(const View& a, const View& b) {
  double max_difference = 0.0, max = 1e-300;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double value = static_cast<double>(a.data()[n]);
    max_difference = std::max(max_difference, std::fabs(value - static_cast<double>(b.data()[n])));
    max = std::max(max, std::fabs(value));
  }
  return max_difference / max;
}

template <class T>
double max_distance(const Wavefield<T, 2, Host>& a, const Wavefield<T, 2, Host>& b) {
  double max_difference = 0.0;
  for (int f = 0; f < a.fields; ++f)
    max_difference = std::max(max_difference, max_distance_of(a.now[f], b.now[f]));
  for (std::size_t k = 0; k < a.layers.size(); ++k) {
    max_difference =
        std::max({max_difference, max_distance_of(a.layers[k].psi_now, b.layers[k].psi_now),
                  max_distance_of(a.layers[k].zeta, b.layers[k].zeta)});
  }
  return max_difference;
}

moho::Grid<2> section(std::int64_t nx, std::int64_t nz) {
  moho::Grid<2> grid = cube<2>(10, 10.0);
  grid.extents = {nx, nz};
  return grid;
}

/// Returns a propagator of a random model.
template <class T>
Propagator<T, 2, Host> rough_propagator(const moho::Grid<2>& grid, Medium medium, int order,
                                        const Boundaries<2>& faces) {
  const moho::Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  PropagatorOptions<2> options;
  options.order = order;
  options.dt = 2e-4;
  options.boundaries = faces;
  return Propagator<T, 2, Host>(exec, grid, random_model<T, 2, Host>(exec, grid, medium, 5),
                                options);
}

template <Stencil stencil, class T, int radius>
void expect_same_steps(Medium medium, const Boundaries<2>& faces, const detail::LayerCut& cut) {
  const moho::Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const moho::Grid<2> grid = section(85, 139);
  const auto propagator = rough_propagator<T>(grid, medium, 2 * radius, faces);
  auto host = propagator.make_wavefield(exec), one = propagator.make_wavefield(exec),
       parts = propagator.make_wavefield(exec), flat = propagator.make_wavefield(exec);
  std::mt19937 random(9);
  for (const moho::Index<2>& node : {moho::Index<2>{3, 4}, {40, 70}, {83, 136}, {20, 135}}) {
    for (int f = 0; f < host.fields; ++f) {
      const auto value = static_cast<T>(uniform(random, 0.5, 1.0));
      for (auto* wave : {&host, &one, &parts, &flat}) wave->now[f](wave->layout.flat(node)) = value;
    }
  }
  const moho::Box<2> whole = moho::whole_box(grid);
  moho::Box<2> low = whole, high = whole;
  low.upper[0] = high.lower[0] = 13;  // in the layer
  moho::Box<2> left = high, right = high;
  left.upper[1] = right.lower[1] = 70;
  for (int n = 0; n < 6; ++n) {
    propagator.step(exec, host);
    host.advance();
    step_in_one<stencil, T, radius>(propagator.scheme(), propagator.medium_window(), one, whole,
                                    cut);
    one.advance();
    for (const auto& box : {high.empty() ? whole : right, low, left}) {
      step_in_one<stencil, T, radius>(propagator.scheme(), propagator.medium_window(), parts, box,
                                      cut);
      step_flat<stencil, T, radius>(arguments_of(propagator, flat, box));
    }
    parts.advance();
    flat.advance();
  }
  EXPECT_GT(moho::wave::check_finite(exec, grid, host, whole, 6).max, 1e-3);
  EXPECT_LE(max_distance(host, one), by_precision<T>(3e-5, 1e-13));
  EXPECT_EQ(max_distance(one, parts), 0.0) << "boxes";
  EXPECT_LE(max_distance(host, flat), by_precision<T>(3e-5, 1e-13)) << "a thread for a node";
}

Boundaries<2> layers(int width, bool free) {
  auto faces = moho::wave::all_faces<2>(FaceKind::cpml, width);
  if (free) faces.lower[1] = {FaceKind::rigid, 0};
  return faces;
}

TEST(LayerMarch, StepsAndCorrectsAsTheHostDoes) {
  const detail::LayerCut cut;
  expect_same_steps<Stencil::isotropic, float, 4>(Medium::isotropic, layers(20, false), cut);
  expect_same_steps<Stencil::isotropic, double, 2>(Medium::isotropic, layers(9, true), cut);
  expect_same_steps<Stencil::variable_density, float, 4>(Medium::variable_density,
                                                         layers(12, false), cut);
  expect_same_steps<Stencil::vti, float, 4>(Medium::vti, layers(20, true), cut);
  expect_same_steps<Stencil::isotropic, float, 8>(Medium::isotropic, layers(20, false), cut);
}

// Marches of other lengths give equal results.
TEST(LayerMarch, CutsAnyhow) {
  detail::LayerCut cut;
  cut.section_planes = 16;
  cut.section_rim_planes = 5;
  cut.rims_first = false;
  expect_same_steps<Stencil::isotropic, float, 4>(Medium::isotropic, layers(20, false), cut);
}

#ifdef KOKKOS_ENABLE_CUDA
/// Expects equal bits of the steps by marches and by a thread for a node, on a device.
template <Stencil stencil, class T, int radius>
void expect_bits_of_marches(Medium medium, const Boundaries<2>& faces) {
  using Memory = Kokkos::CudaSpace;
  const moho::Instance<Memory> exec = Kokkos::Cuda();
  const moho::Grid<2> grid = section(125, 139);
  PropagatorOptions<2> options;
  options.order = 2 * radius;
  options.dt = 2e-4;
  options.boundaries = faces;
  const Propagator<T, 2, Memory> propagator(
      exec, grid, random_model<T, 2, Memory>(exec, grid, medium, 5), options);
  auto marched = propagator.make_wavefield(exec), flat = propagator.make_wavefield(exec);
  for (const moho::Index<2>& node : {moho::Index<2>{3, 4}, {40, 70}, {123, 136}, {20, 135}}) {
    for (int f = 0; f < marched.fields; ++f) {
      for (auto* wave : {&marched, &flat}) {
        const auto at = static_cast<std::size_t>(wave->layout.flat(node));
        Kokkos::deep_copy(Kokkos::subview(wave->now[f], std::pair(at, at + 1)), T(f + 1));
      }
    }
  }
  moho::Box<2> low = moho::whole_box(grid), high = low;
  low.upper[0] = high.lower[0] = 13;
  for (int n = 0; n < 300; ++n) {
    for (const auto& box : {high, low}) {
      detail::DeviceLayerMarch<stencil, T, 2, radius, Kokkos::Cuda>::run(
          exec, arguments_of(propagator, marched, box));
    }
    EXPECT_TRUE((detail::section_step<stencil, T, radius, true>(
        exec, arguments_of(propagator, flat, moho::whole_box(grid)))));
    marched.advance();
    flat.advance();
  }
  exec.fence();
  std::int64_t nonzero = 0;
  const auto expect_same = [&](const auto& a, const auto& b, const char* what) {
    const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), a);
    const auto y = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
    nonzero += std::count_if(x.data(), x.data() + x.size(), [](T v) { return v != T(0); });
    EXPECT_TRUE(std::equal(x.data(), x.data() + x.size(), y.data())) << what;
  };
  for (std::size_t k = 0; k < marched.layers.size(); ++k) {
    expect_same(marched.layers[k].zeta, flat.layers[k].zeta, "zeta");
  }
  EXPECT_GT(nonzero, 2000) << "zeta";
  for (int f = 0; f < marched.fields; ++f) {
    nonzero = 0;
    expect_same(marched.now[f], flat.now[f], "field");
    EXPECT_GT(nonzero, 10000) << "field";
  }
}

TEST(LayerMarch, AThreadForANodeHasTheBitsOfMarches) {
  expect_bits_of_marches<Stencil::isotropic, float, 4>(Medium::isotropic, layers(20, false));
  expect_bits_of_marches<Stencil::isotropic, double, 2>(Medium::isotropic, layers(9, true));
  expect_bits_of_marches<Stencil::variable_density, float, 4>(Medium::variable_density,
                                                              layers(12, false));
  expect_bits_of_marches<Stencil::vti, float, 4>(Medium::vti, layers(20, true));
  expect_bits_of_marches<Stencil::isotropic, float, 8>(Medium::isotropic, layers(20, false));
}
#endif

// Boxes of few planes store psi of their planes, at every node as a step of the complete grid does.
// They store no psi of other planes, whose boxes another instance may be stepping.
TEST(LayerMarch, StoresPsiOfItsOwnPlanes) {
  const moho::Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const moho::Grid<2> grid = section(75, 75);
  const auto propagator = rough_propagator<float>(grid, Medium::isotropic, 8, layers(20, false));
  const auto& scheme = propagator.scheme();
  const moho::Box<2> whole = moho::whole_box(grid);
  auto wave = propagator.make_wavefield(exec), expected = propagator.make_wavefield(exec);
  std::mt19937 random(3);
  for (std::int64_t n = 0; n < whole.size(); ++n) {
    const std::int64_t at = wave.layout.flat(whole.node(n));
    wave.now[0](at) = expected.now[0](at) = static_cast<float>(uniform(random, -1.0, 1.0));
  }
  constexpr float untouched = 77.0f;
  const auto step = [&](Wavefield<float, 2, Host>& field, const moho::Box<2>& box) {
    for (auto& layer : field.layers) moho::fill(exec, layer.psi_next, untouched);
    step_in_one<Stencil::isotropic, float, 4>(scheme, propagator.medium_window(), field, box,
                                              detail::LayerCut{});
  };
  step(expected, whole);
  for (const std::int64_t count : {1, 2, 5}) {
    for (const std::int64_t begin : {0, 7, 56, 70}) {
      moho::Box<2> box = whole;
      box.lower[0] = begin;
      box.upper[0] = begin + count;
      step(wave, box);
      std::size_t number = 0;
      for (const auto& layer : scheme.layers()) {
        const auto& psi = wave.layers[number].psi_next;
        const auto& psi_of_whole = expected.layers[number++].psi_next;
        const moho::wave::kernel::LayerShape shape = wave.layer_shape(scheme, layer);
        const std::int64_t first = layer.axis == 0 ? layer.first : 0;
        const std::int64_t planes = layer.axis == 0 ? layer.width : grid.extents[0];
        const std::int64_t nodes = layer.axis == 0 ? grid.extents[1] : layer.width;
        for (std::int64_t u = 0; u < planes; ++u) {
          const bool own = first + u >= box.lower[0] && first + u < box.upper[0];
          const std::int64_t row = shape.offset + u * shape.strides[0];
          std::int64_t stored = 0, wrong = 0;
          for (std::int64_t n = 0; n < shape.strides[0]; ++n) {
            stored += psi(static_cast<std::size_t>(row + n)) != untouched;
          }
          for (std::int64_t n = 0; n < nodes; ++n) {
            const auto at = static_cast<std::size_t>(row + shape.shift + n);
            wrong += psi_of_whole(at) == untouched || (own && psi(at) != psi_of_whole(at));
          }
          const std::string where = moho::concat("axis ", layer.axis, ", plane ", first + u,
                                                 " of a box of ", count, " planes from ", begin);
          EXPECT_EQ(wrong, 0) << where;
          if (own) {
            EXPECT_GE(stored, nodes) << where;
          } else {
            EXPECT_EQ(stored, 0) << where;
          }
        }
      }
    }
  }
}

// Several wavefields in one launch equal those stepped alone.
template <Stencil stencil, class T, int radius>
void expect_same_together(Medium medium, const Boundaries<2>& faces) {
  const moho::Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const moho::Grid<2> grid = section(61, 75);
  const auto propagator = rough_propagator<T>(grid, medium, 2 * radius, faces);
  const auto& scheme = propagator.scheme();
  auto together = moho::wave::make_wavefields<T, 2, Host>(exec, scheme, 3);
  std::vector<Wavefield<T, 2, Host>> alone;
  std::mt19937 random(11);
  for (std::size_t n = 0; n < together.size(); ++n) {
    alone.push_back(propagator.make_wavefield(exec));
    // at separate nodes: sources that differ by a factor alone would give the same waves
    const auto shift = static_cast<std::int64_t>(n) * 5;
    for (const moho::Index<2>& node :
         {moho::Index<2>{3 + shift, 4}, {40, 7 + shift}, {58 - shift, 70 - shift}, {20, 72}}) {
      for (int f = 0; f < together[n].fields; ++f) {
        const auto element = alone[n].layout.flat(node);
        together[n].now[f](element) = alone[n].now[f](element) =
            static_cast<T>(uniform(random, 0.5, 1.0));
      }
    }
  }
  const detail::LayerCut cut;
  const moho::Box<2> whole = moho::whole_box(grid);
  for (int step = 0; step < 4; ++step) {
    const auto batch_stride = detail::batch_stride_of<T, 2, Host>(together);
    ASSERT_TRUE(batch_stride.has_value());
    step_in_one<stencil, T, radius>(scheme, propagator.medium_window(), together.front(), whole,
                                    cut, {3, *batch_stride});
    for (std::size_t n = 0; n < together.size(); ++n) {
      step_in_one<stencil, T, radius>(scheme, propagator.medium_window(), alone[n], whole, cut);
      alone[n].advance();
      together[n].advance();
    }
  }
  for (std::size_t n = 0; n < together.size(); ++n) {
    EXPECT_GT(moho::wave::check_finite(exec, grid, alone[n], whole, 4).max, 1e-3);
    EXPECT_EQ(max_distance(alone[n], together[n]), 0.0) << n;
    EXPECT_GT(max_distance(alone[n], alone[(n + 1) % alone.size()]), 0.1) << n;
  }
}

TEST(LayerMarch, StepsSeveralShots) {
  expect_same_together<Stencil::isotropic, float, 4>(Medium::isotropic, layers(20, false));
  expect_same_together<Stencil::vti, float, 2>(Medium::vti, layers(9, true));
}

}  // namespace
