// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick, threads 2
//
// Kernel labels, instances and fences of eikonal.

#include "eikonal/fields.hpp"
#include "events.hpp"

#include <optional>

namespace {

using namespace moho::testing;
using moho::Field;
using moho::Grid;
using moho::Point;
using moho::Points;
using moho::eikonal::Method;
using moho::eikonal::Model;
using moho::eikonal::Options;

const Contract quiet{{"eikonal"}, false};
const Contract returns{{"eikonal"}, true};

template <int Dim>
Formula<Dim> gradient(double at_zero, double slope) {
  return [=](const Point<Dim>& p) { return at_zero + slope * p[Dim - 1]; };
}

// Runs the solvers in isotropic, elliptical and anelliptical media.
template <int Dim, class Memory>
void hold_solvers(const Instance<Memory>& exec) {
  const Grid<Dim> grid = make_cube<Dim>(Dim == 2 ? 29 : 11, 1.0);
  Points<Dim> sources(2);
  for (int d = 0; d < Dim; ++d) {
    sources[0][d] = 0.31;
    sources[1][d] = 0.77;
  }
  const Formula<Dim> velocity = gradient<Dim>(1.0, 2.0), epsilon = gradient<Dim>(0.2, 0.0);
  for (const Formulas<Dim>& formulas :
       {Formulas<Dim>{velocity, {}, {}}, elliptical<Dim>(velocity, epsilon),
        Formulas<Dim>{velocity, epsilon, gradient<Dim>(0.05, 0.0)}}) {
    const Model<float, Dim, Memory> model = make_model<float>(exec, grid, formulas);
    const auto times = moho::make_field<float>(exec, grid, "times");
    const auto each = moho::make_field_per_source<float>(exec, 2, grid, "times");
    for (const Method method : {Method::active_tiles, Method::sweeping}) {
      for (const int order : {1, 2}) {
        Options options;
        options.method = method;
        options.order = order;
        const auto events = hold(exec, "solve by " + to_string(method), returns, [&] {
          moho::eikonal::solve(exec, grid, model, sources, times, options);
        });
        EXPECT_GT(kernels_in(events), 5);
        hold(exec, "solve_each by " + to_string(method), returns,
             [&] { moho::eikonal::solve_each(exec, grid, model, sources, each, options); });
        if (method == Method::sweeping) continue;
        using Derivatives = moho::eikonal::TimeDerivatives<float, Dim, Memory>;
        std::optional<Derivatives> derivatives;
        hold(exec, "derivatives", returns,
             [&] { derivatives.emplace(exec, grid, model, sources, each, options); });
        hold(exec, "apply", returns, [&] { derivatives->apply(exec, times, each); });
        hold(exec, "apply_transpose", returns,
             [&] { derivatives->apply_transpose(exec, each, times); });
        hold(exec, "transpose_times", returns, [&] {
          moho::eikonal::transpose_times(exec, grid, model, sources, each, times, options);
        });
      }
    }
  }
  const auto v = make_values<float>(exec, grid, velocity),
             e = make_values<float>(exec, grid, epsilon);
  const auto across = moho::make_field<float>(exec, grid, "across");
  hold(exec, "symmetry_plane_velocity", returns,
       [&] { moho::eikonal::symmetry_plane_velocity(exec, grid, v, e, across); });
}

template <class S>
class EikonalContract : public ::testing::Test {};
TYPED_TEST_SUITE(EikonalContract, TestSpaces, SpaceName);

TYPED_TEST(EikonalContract, Solvers2D) {
  hold_solvers<2, typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}
TYPED_TEST(EikonalContract, Solvers3D) {
  hold_solvers<3, typename TypeParam::Memory>(own_instance<typename TypeParam::Exec>());
}

// The execution space of fast_marching() does not depend on the instance.
TEST(EikonalContract, FastMarching) {
  const Instance<Kokkos::HostSpace> exec = moho::eikonal::detail::MarchSpace();
  const Grid<2> grid = make_cube<2>(31, 1.0);
  const auto model = make_model<float>(exec, grid, Formulas<2>{gradient<2>(1.0, 2.0), {}, {}});
  const auto times = moho::make_field<float>(exec, grid, "times");
  hold(exec, "fast_marching", returns, [&] {
    moho::eikonal::fast_marching(exec, grid, model, {{0.3, 0.4}}, times, Options{});
  });
}

}  // namespace
