// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of wave. Stepping, injection and recording wait for nothing, in
// every medium and with every kind of face. The number of waits is independent of the length of a
// run.

#include "events.hpp"
#include "wave/support.hpp"

#include <moho/wave/adjoint.hpp>
#include <moho/wave/detail/batch.hpp>
#include <moho/wave/detail/concurrent_shots.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/source_region.hpp>

#include <algorithm>
#include <memory>

namespace {

using namespace moho::testing;
using moho::Box;
using moho::Grid;
using moho::Index;
using moho::PlaneRange;
using moho::Point;
using moho::Points;
using moho::wave::PointSeries;
using moho::wave::PointSet;
using moho::wave::RunOptions;
using moho::wave::ShotOptions;

const Contract quiet{{"wave"}, false};
const Contract returns{{"wave"}, true};

/// Domain that grows by a plane in each step, so that nodes outside are also cleared.
template <class T, int Dim, class Memory>
struct GrowingByAPlane : moho::wave::Domain<T, Dim, Memory> {
  Box<Dim> box(const Instance<Memory>&, const Propagator<T, Dim, Memory>& propagator,
               const Wavefield<T, Dim, Memory>&, std::int64_t step) override {
    Box<Dim> box = whole_box(propagator.grid());
    box.lower[0] = box.upper[0] - 12 - step;
    return box;
  }
};

/// Checks that longer runs wait as often as shorter ones.
template <int Dim, class Memory>
void hold_shots(const Instance<Memory>& exec, const Propagator<float, Dim, Memory>& propagator,
                const PointSet<float, Dim, Memory>& sources,
                const PointSet<float, Dim, Memory>& receivers) {
  auto wavefield = propagator.make_wavefield(exec);
  GrowingByAPlane<float, Dim, Memory> growing;
  std::vector<std::int64_t> of_run, of_shot;
  for (const int steps : {3, 9}) {
    RunOptions<float, Dim, Memory> run;
    run.last = steps;
    run.domain = &growing;
    of_run.push_back(fences_in(
        hold(exec, "run_steps", returns, [&] { run_steps(exec, propagator, wavefield, run); })));
    ShotOptions<float, Dim, Memory> shot;
    shot.steps = steps;
    shot.check_every = 0;
    const std::vector<double> wavelet = moho::wave::ricker(0.02 / propagator.dt(), propagator.dt());
    of_shot.push_back(fences_in(hold(exec, "model_shot", returns, [&] {
      model_shot(exec, propagator, wavefield, sources, wavelet, receivers, shot);
    })));
  }
  EXPECT_LE(of_run[0], 2);
  EXPECT_EQ(of_run[0], of_run[1]);
  EXPECT_EQ(of_shot[0], of_shot[1]);
  RunOptions<float, Dim, Memory> checked;
  checked.last = 4;
  checked.check_every = 2;
  hold(exec, "run_steps with checks", returns,
       [&] { run_steps(exec, propagator, wavefield, checked); });
}

/// Checks that a step of three shots has as many launches as that of one.
///
/// If kernels have several launches, one more adds at all sources and records at all receivers.
template <int Dim, class Memory>
void hold_together(const Instance<Memory>& exec, const Propagator<float, Dim, Memory>& propagator,
                   const PointSet<float, Dim, Memory>& sources,
                   const PointSet<float, Dim, Memory>& receivers) {
  const auto wavefield = propagator.make_wavefield(exec);
  const auto alone =
      kernels_in(hold(exec, "step", quiet, [&] { propagator.step(exec, wavefield); }));
  std::vector<Wavefield<float, Dim, Memory>> wavefields;
  hold(exec, "make_wavefields", quiet, [&] {
    wavefields = moho::wave::make_wavefields<float, Dim, Memory>(exec, propagator.scheme(), 3);
  });
  const auto together = hold(exec, "step_together", quiet, [&] {
    moho::wave::step_batch<float, Dim, Memory>(exec, propagator, wavefields);
  });
  const bool in_one = moho::wave::steps_in_one_launch<float, Dim, Memory>(
      propagator.medium(), propagator.options().equations, propagator.options().boundaries);
  EXPECT_EQ(kernels_in(together), in_one ? alone : 3 * alone);
  const std::vector<double> wavelet = moho::wave::ricker(0.02 / propagator.dt(), propagator.dt());
  std::vector<std::int64_t> kernels, fences;
  for (const int steps : {3, 9}) {
    ShotOptions<float, Dim, Memory> options;
    options.steps = steps;
    options.check_every = 0;
    const auto events = hold(exec, "model_together", returns, [&] {
      moho::wave::model_batch<float, Dim, Memory>(exec, propagator, wavefields,
                                                  {3, {sources, receivers}}, wavelet, options);
    });
    kernels.push_back(kernels_in(events));
    fences.push_back(fences_in(events));
  }
  EXPECT_EQ(fences[0], fences[1]);
  EXPECT_EQ(kernels[1] - kernels[0], 6 * (kernels_in(together) + 1));
}

template <int Dim, class Memory>
void hold_medium(const Instance<Memory>& exec, const Kind& kind, FaceKind face) {
  SCOPED_TRACE(kind.name() + ", " + moho::wave::to_string(face));
  const Grid<Dim> inner = cube<Dim>(Dim == 2 ? 30 : 14, 10.0);
  Boundaries<Dim> faces = moho::wave::all_faces<Dim>(face, 5);
  faces.lower[Dim - 1] = Face{FaceKind::free_surface};
  const Grid<Dim> grid = extended_grid(inner, faces);
  PropagatorOptions<Dim> options;
  options.order = 4;
  options.boundaries = faces;
  options.equations = kind.equations;
  options.one_pass = !moho::is_host_memory<Memory>;  // batches of TTI on hosts take two passes

  const auto given = random_model<float, Dim, Memory>(exec, inner, kind.medium, 5);
  Model<float, Dim, Memory> model;
  hold(exec, "extend_model", quiet,
       [&] { model = extend_model<float, Dim, Memory>(exec, inner, given, faces); });
  std::unique_ptr<Propagator<float, Dim, Memory>> made;
  hold(exec, "limits_of and Propagator", returns, [&] {
    made = std::make_unique<Propagator<float, Dim, Memory>>(
        make_propagator(exec, grid, model, options));
  });
  const Propagator<float, Dim, Memory>& propagator = *made;
  hold(exec, "update", returns, [&] { made->update(exec, model); });

  Wavefield<float, Dim, Memory> wavefield, copied;
  hold(exec, "make_wavefield", quiet, [&] { wavefield = propagator.make_wavefield(exec); });
  copied = propagator.make_wavefield(exec);
  MediumCoefficients<float, Dim, Memory> window(exec, propagator.scheme(), moho::all_planes(grid));
  hold(exec, "load", quiet, [&] { window.load(exec, propagator.scheme(), model); });

  Points<Dim> positions(4);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    for (int d = 0; d < Dim; ++d) positions[p][d] = 61.7 + 4.1 * static_cast<double>(p);
  }
  PointSet<float, Dim, Memory> sources, receivers;
  hold(exec, "PointSet", returns, [&] {
    sources = PointSet<float, Dim, Memory>(exec, grid, propagator.layout(), positions,
                                           point_options(propagator, "source", true));
    receivers = PointSet<float, Dim, Memory>(exec, grid, propagator.layout(), positions,
                                             point_options(propagator, "receiver", false));
  });
  const auto series = moho::allocate<PointSeries<float, Memory>>(exec, "series", 3, 4);
  const auto values = moho::allocate<Storage<float, Memory>>(exec, "values", 4);
  moho::fill(exec, series, 1.0f);

  const Box<Dim> whole = whole_box(grid);
  const auto events = hold(exec, "a step", quiet, [&] {
    propagator.step(exec, wavefield, whole);
    for (int f = 0; f < wavefield.fields; ++f) {
      sources.inject(exec, wavefield.next[f], PointSeries<const float, Memory>(series), 1,
                     propagator.source_scale(f), 0.5f);
    }
    wavefield.advance();
    receivers.record(exec, wavefield.now[0], series, 2);
    receivers.record(exec, wavefield.now[0], values);
    receivers.record(exec, wavefield.now[0], series, 0, propagator.source_scale().first);
    compute_axis_derivatives<float, Dim, Memory>(exec, propagator.scheme(), window, wavefield,
                                                 whole);
    step_from_axis_derivatives<float, Dim, Memory>(exec, propagator.scheme(), window, wavefield,
                                                   whole);
    copy_planes<float, Dim, Memory>(exec, propagator.scheme(), wavefield, copied, PlaneRange{2, 9});
    copied.clear(exec);
  });
  EXPECT_GT(kernels_in(events), 6);
  EXPECT_EQ(fences_in(events), 0);
  if (!kind.fletcher()) {
    hold(exec, "adjoint_factors", quiet, [&] {
      moho::wave::adjoint_factors<float, Dim, Memory>(exec, propagator.scheme(), window);
    });
  }
  if (wavefield.fields == 2) {
    hold(exec, "taper_delta", returns, [&] {
      moho::wave::taper_delta<float, Dim, Memory>(exec, inner, given, {positions[0]}, 60.0);
    });
  }
  hold(exec, "check_finite", returns,
       [&] { moho::wave::check_finite<float, Dim, Memory>(exec, grid, wavefield, whole, 1); });
  hold_shots<Dim, Memory>(exec, propagator, sources, receivers);
  hold_together<Dim, Memory>(exec, propagator, sources, receivers);
}

template <class S>
class WaveContract : public ::testing::Test {};
TYPED_TEST_SUITE(WaveContract, TestSpaces, SpaceName);

template <class Memory>
void every_medium(const Instance<Memory>& exec) {
  for (const Kind& kind : kinds) hold_medium<2, Memory>(exec, kind, FaceKind::sponge);
  for (const Kind& kind : {kinds[0], kinds[3]})
    hold_medium<3, Memory>(exec, kind, FaceKind::sponge);
}
TYPED_TEST(WaveContract, EveryMedium) { every_medium(own_instance<typename TypeParam::Exec>()); }

template <class Memory>
void every_face(const Instance<Memory>& exec) {
  for (const FaceKind face : {FaceKind::rigid, FaceKind::cpml, FaceKind::random}) {
    hold_medium<2, Memory>(exec, kinds[2], face);
  }
  hold_medium<3, Memory>(exec, kinds[0], FaceKind::cpml);
}
TYPED_TEST(WaveContract, EveryFace) { every_face(own_instance<typename TypeParam::Exec>()); }

// On devices a step in one pass is a native CUDA launch: tools receive its name, on the given
// instance.
template <class Memory>
void one_pass(const Instance<Memory>& exec) {
  const Grid<3> grid = cube<3>(20, 10.0);
  const auto model = random_model<float, 3, Memory>(exec, grid, Medium::tti, 5);
  for (const bool wanted : {true, false}) {
    PropagatorOptions<3> options;
    options.boundaries = moho::wave::all_faces<3>(FaceKind::rigid);
    options.one_pass = wanted;
    const auto propagator = make_propagator(exec, grid, model, options);
    const auto wavefield = propagator.make_wavefield(exec);
    const auto events =
        hold(exec, "a step of TTI", quiet, [&] { propagator.step(exec, wavefield); });
    const auto count = [&](const char* label) {
      return std::count_if(events.begin(), events.end(), [&](const Event& event) {
        return event.kind == Event::Kind::kernel && event.name == label;
      });
    };
    EXPECT_EQ(count("moho::wave::step"), 1);
    const bool one = propagator.scheme().packed_axis() || moho::is_host_memory<Memory>;
    EXPECT_EQ(count("moho::wave::slopes"), wanted && one ? 0 : 1);
  }
}
TYPED_TEST(WaveContract, OnePass) { one_pass(own_instance<typename TypeParam::Exec>()); }

}  // namespace
