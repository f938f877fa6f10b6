// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Labels, instances and fences of gradients. They wait at the end of a shot, at checks of
// wavefields and for the misfit.

#include "events.hpp"
#include "fwi/support.hpp"

#include <optional>

namespace {

using namespace moho::testing;
using moho::fwi::InvertedParameters;
using moho::fwi::ShotGradients;

const Contract waits{{"fwi", "wave", "snapshot"}, true};

template <class S>
class FwiContract : public ::testing::Test {};
TYPED_TEST_SUITE(FwiContract, TestSpaces, SpaceName);

template <int Dim, class Memory>
void hold_gradient(const Instance<Memory>& exec, Medium medium, const InvertedParameters& unknowns,
                   SourceMethod method) {
  auto faces = moho::wave::all_faces<Dim>(FaceKind::sponge, 4);
  faces.lower[Dim - 1] = {FaceKind::free_surface, 0};
  Constants constants;
  constants.epsilon = 0.2;
  constants.delta = 0.1;
  constants.theta = 0.3;
  const auto grid = cube<Dim>(Dim == 2 ? 30 : 14, 10.0);
  const auto model = constant_model<float, Dim, Memory>(exec, grid, medium, constants);
  SmallShot<float, Dim, Memory> shot(exec, grid, faces, model);
  shot.steps = 12;
  shot.product_interval = 2;
  shot.observed.assign(static_cast<std::size_t>((shot.steps + 1) * shot.receivers.count()), 0.0);
  std::optional<ShotGradients<float, Dim, Memory>> gradients;
  hold(exec, "ShotGradients", waits,
       [&] { gradients.emplace(exec, *shot.propagator, unknowns, shot.product_interval); });
  auto field = shot.propagator->make_wavefield(exec);
  const auto store = shot.store(*gradients, method);
  moho::fwi::ShotGradientOptions<float, Dim, Memory> options;
  options.steps = shot.steps;
  hold(exec, "add", waits, [&] {
    gradients->add(exec, field, shot.forward, shot.receivers, shot.least_squares(), *store,
                   options);
  });
  hold(exec, "derivatives", waits, [&] { gradients->derivatives(exec, grid, model); });
  hold(exec, "illumination", {{"fwi"}, false}, [&] { gradients->illumination(exec, grid); });
}
template <class Memory>
void hold_gradients(const Instance<Memory>& exec) {
  hold_gradient<2, Memory>(exec, Medium::isotropic, {}, SourceMethod::shell);
  hold_gradient<2, Memory>(exec, Medium::variable_density, {.density = true}, SourceMethod::stored);
  hold_gradient<2, Memory>(exec, Medium::vti, {.anisotropy = true}, SourceMethod::replay);
  hold_gradient<2, Memory>(exec, Medium::tti, {}, SourceMethod::shell);
  hold_gradient<3, Memory>(exec, Medium::vti, {.anisotropy = true}, SourceMethod::shell);
}
TYPED_TEST(FwiContract, Gradients) {
  hold_gradients<typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

}  // namespace
