// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, cost 8
//
// Several steps of a small section in one launch: the bits of shots whose steps are launched one by
// one, and the kernel on threads of the host against the host's steps.

#include <moho/wave/model_shot.hpp>

#include <barrier>
#include <thread>
#include <type_traits>

#include "support.hpp"

namespace moho::testing {
namespace {

using Host = Kokkos::HostSpace;
namespace detail = wave::detail;
using detail::KeepSection;
using wave::kernel::Stencil;

/// Thread of a team of host threads.
struct HostTeam {
  static constexpr int lanes = 1;
  int thread, threads;
  std::barrier<>* meeting;
  std::int64_t rank() const { return thread; }
  std::int64_t size() const { return threads; }
  void arrive() const {}
  void wait() const { meeting->arrive_and_wait(); }
  template <class T>
  T get(T value, int) const {
    return value;
  }
  template <class T>
  T sum(T value) const {
    return value;
  }
};

/// Runs the kernel of a run on three threads.
template <Stencil stencil, class T, int radius, bool layered, class Work>
void run_on_threads(const detail::SectionArguments<T>& arguments,
                    const detail::SectionTimes<T>& times, const Work& work) {
  detail::SectionRun<stencil, T, radius, layered, Work> run{};
  for (int n = 0; n < 2; ++n) {
    run.steps[n].l = arguments[n].by_axis();
    run.steps[n].threads.cover(arguments[n].s, wave::kernel::field_count<stencil>);
  }
  run.times = times;
  run.work = work;
  constexpr int count = 3;
  std::barrier<> meeting(count);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < count; ++thread) {
    threads.emplace_back([&, thread] {
      HostTeam team{thread, count, &meeting};
      run(team);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <Stencil stencil, class T, class Work>
void run_by_radius(const detail::SectionArguments<T>& arguments, bool layered,
                   const detail::SectionTimes<T>& times, const Work& work) {
  if (arguments[0].radius == 1) {
    return layered ? run_on_threads<stencil, T, 1, true>(arguments, times, work)
                   : run_on_threads<stencil, T, 1, false>(arguments, times, work);
  }
  ASSERT_EQ(arguments[0].radius, 4);
  return layered ? run_on_threads<stencil, T, 4, true>(arguments, times, work)
                 : run_on_threads<stencil, T, 4, false>(arguments, times, work);
}

}  // namespace
}  // namespace moho::testing

// Runs of sections in the memory of the host, which the library does not have.
#define MOHO_TEST_SECTION_RUN(stencil, T)                                                     \
  template <>                                                                                 \
  void section_run_of<KeepSection, Stencil::stencil, Kokkos::HostSpace, T>(                   \
      const Instance<Kokkos::HostSpace>&, const SectionArguments<T>& arguments, bool layered, \
      const SectionTimes<T>& times, const KeepSection<T>& work) {                             \
    moho::testing::run_by_radius<Stencil::stencil, T>(arguments, layered, times, work);       \
  }
namespace moho::wave::detail {
MOHO_TEST_SECTION_RUN(isotropic, float)
MOHO_TEST_SECTION_RUN(isotropic, double)
MOHO_TEST_SECTION_RUN(variable_density, float)
MOHO_TEST_SECTION_RUN(variable_density, double)
MOHO_TEST_SECTION_RUN(vti, float)
MOHO_TEST_SECTION_RUN(vti, double)
}  // namespace moho::wave::detail

namespace moho::testing {
namespace {

template <class C>
class SectionRun : public ::testing::Test {};
TYPED_TEST_SUITE(SectionRun, TestCases, CaseName);

/// Faces of a section: layers on three sides below a free surface, a sponge, or random layers.
Boundaries<2> faces_of(int kind) {
  if (kind == 0) {
    Boundaries<2> faces = wave::all_faces<2>(FaceKind::cpml, 10);
    faces.lower[1] = {FaceKind::free_surface, 0};
    return faces;
  }
  Boundaries<2> faces = wave::all_faces<2>(kind == 1 ? FaceKind::sponge : FaceKind::random, 8);
  if (kind == 2) faces.upper[0] = {FaceKind::free_surface, 0};
  return faces;
}

template <class T, class Memory>
Propagator<T, 2, Memory> section_propagator(const Instance<Memory>& exec, Medium medium, int order,
                                            const Boundaries<2>& faces) {
  Grid<2> grid = cube<2>(77, 10.0);
  grid.extents[1] = 58;
  PropagatorOptions<2> options;
  options.order = order;
  options.dt = 5e-4;
  options.boundaries = faces;
  return Propagator<T, 2, Memory>(exec, grid, random_model<T, 2, Memory>(exec, grid, medium, 5),
                                  options);
}

/// Returns points of a line within the model, on nodes or between them.
template <class T, class Memory>
wave::PointSet<T, 2, Memory> line(const Instance<Memory>& exec,
                                  const Propagator<T, 2, Memory>& propagator, int count,
                                  double shift) {
  Points<2> positions;
  for (int k = 0; k < count; ++k) positions.push_back({150.0 + 30.0 * k + shift, 250.0 + shift});
  return {exec, propagator.grid(), propagator.layout(), positions,
          wave::point_options(propagator, "point", true)};
}

/// Returns the current values of a field at the nodes of the grid.
template <class T, class Memory>
std::vector<T> values_of(const Wavefield<T, 2, Memory>& wavefield, int field) {
  const auto all = Kokkos::create_mirror_view_and_copy(Host(), wavefield.now[field]);
  const Layout<2>& layout = wavefield.layout;
  std::vector<T> result;
  for (std::int64_t x = 0; x < layout.extents[0]; ++x) {
    for (std::int64_t z = 0; z < layout.extents[1]; ++z) {
      result.push_back(all(static_cast<std::size_t>(layout.flat({x, z}))));
    }
  }
  return result;
}

MEMORY_TEST(SectionRun, HasTheBitsOfSingleSteps) {
  for (const Medium medium : {Medium::isotropic, Medium::variable_density, Medium::vti}) {
    for (const auto& [kind, order] : {std::pair{0, 8}, std::pair{1, 4}, std::pair{2, 8},
                                      std::pair{0, 6}, std::pair{0, 4}, std::pair{0, 2}}) {
      const auto propagator = section_propagator<T, Memory>(exec, medium, order, faces_of(kind));
      const auto sources = line<T, Memory>(exec, propagator, 2, kind == 2 ? 0.0 : 3.0);
      const auto receivers = line<T, Memory>(exec, propagator, 12, kind == 1 ? 0.0 : 4.0);
      std::vector<double> wavelet;
      for (int n = 0; n < 90; ++n) wavelet.push_back(Ricker{30.0, 0.02}(5e-4 * n));
      wave::ShotOptions<T, 2, Memory> options;
      options.steps = 151;
      options.interval = kind == 1 ? 1e-3 : 0.0;
      options.check_every = kind == 2 ? 0 : 50;
      auto wavefield = propagator.make_wavefield(exec);
      const auto result = wave::model_shot<T, 2, Memory>(exec, propagator, wavefield, sources,
                                                         wavelet, receivers, options);
      std::vector<std::int64_t> times;
      options.snapshot_every = 50;
      options.snapshot = [&](const auto&, const auto&, std::int64_t time) {
        times.push_back(time);
      };
      auto alone = propagator.make_wavefield(exec);
      const auto expected = wave::model_shot<T, 2, Memory>(exec, propagator, alone, sources,
                                                           wavelet, receivers, options);
      EXPECT_EQ(times, (std::vector<std::int64_t>{50, 100, 150}));
      const std::string what = concat(wave::to_string(medium), " faces ", kind, " order ", order);
      ASSERT_EQ(result.traces.size(), expected.traces.size());
      double max = 0.0;
      for (std::size_t n = 0; n < result.traces.size(); ++n) {
        ASSERT_EQ(result.traces.data()[n], expected.traces.data()[n]) << what << " sample " << n;
        max = std::max(max, std::fabs(static_cast<double>(result.traces.data()[n])));
      }
      EXPECT_GT(max, 0.0);
      for (int f = 0; f < wavefield.fields; ++f) {
        EXPECT_EQ((values_of<T, Memory>(wavefield, f)), (values_of<T, Memory>(alone, f))) << what;
      }
      EXPECT_EQ(result.boxes.steps(), expected.boxes.steps());
      EXPECT_DOUBLE_EQ(result.points, expected.points);
    }
  }
}

/// Returns the largest difference over the largest value.
template <class T>
double relative_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double max_difference = 0.0, max = 1e-300;
  for (std::size_t n = 0; n < a.size(); ++n) {
    max_difference =
        std::max(max_difference, std::fabs(static_cast<double>(a[n]) - static_cast<double>(b[n])));
    max = std::max(max, std::fabs(static_cast<double>(b[n])));
  }
  return max_difference / max;
}

template <class T>
void expect_steps_of_the_host(Medium medium, int order, const Boundaries<2>& faces) {
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const auto propagator = section_propagator<T, Host>(exec, medium, order, faces);
  const auto sources = line<T, Host>(exec, propagator, 3, 3.0);
  const auto receivers = line<T, Host>(exec, propagator, 12, 4.0);
  constexpr std::int64_t steps = 71;
  const wave::PointSeries<T, Host> amplitudes("amplitudes", 40, 3);
  std::mt19937 random(3);
  for (std::size_t n = 0; n < amplitudes.size(); ++n) {
    amplitudes.data()[n] = static_cast<T>(uniform(random, -1.0, 1.0));
  }
  const auto make_rows = [&] { return wave::PointSeries<T, Host>("rows", steps / 2 + 1, 12); };
  const auto expected_rows = make_rows(), rows = make_rows();

  auto expected = propagator.make_wavefield(exec);
  for (std::int64_t n = 0; n < steps; ++n) {
    propagator.step(exec, expected);
    wave::inject_and_record<T, 2, Host>(exec, propagator, expected, sources, amplitudes, n,
                                        receivers, expected_rows, n % 2 == 0 ? n / 2 : -1);
    expected.advance();
  }

  auto wavefield = propagator.make_wavefield(exec);
  detail::SectionRuns<T, 2, Host> runs(exec, propagator, wavefield);
  ASSERT_TRUE(runs.possible());
  runs.inject(
      sources, wave::PointSeries<const T, Host>(amplitudes),
      [&](int f) { return propagator.source_scale(f); },
      wave::kernel::source_factor<T>(propagator.grid()));
  runs.record(receivers, rows, 2);
  KeepSection<T> keep{};
  keep.lower[0] = 5, keep.lower[1] = 7, keep.upper[0] = 60, keep.upper[1] = 50;
  keep.fields = wavefield.fields;
  std::vector<T> kept(static_cast<std::size_t>(55 * 43 * wavefield.fields));
  runs.step(0, 1, detail::largest_section_run, KeepSection<T>{});
  keep.to[6] = kept.data();
  runs.step(detail::largest_section_run, 1, 7, keep);

  const double bound = by_precision<T>(1e-4, 1e-13);
  for (int f = 0; f < wavefield.fields; ++f) {
    EXPECT_LT(
        relative_difference(values_of<T, Host>(wavefield, f), values_of<T, Host>(expected, f)),
        bound);
    for (const Index<2> node : {Index<2>{5, 7}, Index<2>{31, 20}, Index<2>{59, 49}}) {
      const auto i = static_cast<std::size_t>((f * 55 + node[0] - 5) * 43 + node[1] - 7);
      const auto element = static_cast<std::size_t>(propagator.layout().flat(node));
      EXPECT_EQ(kept[i], wavefield.now[f].data()[element]);
    }
  }
  const std::vector<T> a(rows.data(), rows.data() + rows.size()),
      b(expected_rows.data(), expected_rows.data() + rows.size());
  EXPECT_LT(relative_difference(a, b), bound);
}

TEST(SectionRunOnThreads, StepsAsTheHostDoes) {
  expect_steps_of_the_host<float>(Medium::isotropic, 8, faces_of(0));
  expect_steps_of_the_host<float>(Medium::variable_density, 2, faces_of(1));
  expect_steps_of_the_host<float>(Medium::vti, 8, faces_of(2));
#ifndef MOHO_SINGLE_KERNELS
  expect_steps_of_the_host<double>(Medium::isotropic, 2, faces_of(2));
  expect_steps_of_the_host<double>(Medium::variable_density, 8, faces_of(0));
  expect_steps_of_the_host<double>(Medium::vti, 8, faces_of(0));
#endif
}

TEST(SectionRunOnThreads, RefusesWhatHasNoKernel) {
  const Instance<Host> exec = Kokkos::DefaultHostExecutionSpace();
  const auto possible = [&](Medium medium, int order) {
    const auto propagator = section_propagator<float, Host>(exec, medium, order, faces_of(1));
    auto wavefield = propagator.make_wavefield(exec);
    return detail::SectionRuns<float, 2, Host>(exec, propagator, wavefield).possible();
  };
  EXPECT_TRUE(possible(Medium::isotropic, 8));
  EXPECT_FALSE(possible(Medium::isotropic, 10));
  EXPECT_FALSE(possible(Medium::tti, 8));
}

}  // namespace
}  // namespace moho::testing
