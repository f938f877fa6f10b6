// SPDX-License-Identifier: BSD-3-Clause
//
// Uses each module once with its compiled kernels, and writes a file.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/scope_guard.hpp>
#include <moho/core/space.hpp>
#include <moho/eikonal/eikonal.hpp>
#include <moho/gravity/gravity.hpp>
#include <moho/io/npy.hpp>
#include <moho/rays/rays.hpp>
#include <moho/rtm/rtm.hpp>
#include <moho/wave/wave.hpp>

#include <cstdio>
#include <vector>

using Exec = Kokkos::DefaultExecutionSpace;
using Memory = Exec::memory_space;

// A model of 2000 m/s: 0.5 s from the left end of the surface to its right end.
const moho::Grid<2> grid{{101, 51}, {10.0, 10.0}, {0.0, 0.0}};
constexpr double speed = 2000.0;

double rays(const moho::Instance<Memory>& exec, const moho::Field<double, 2, Memory>& velocity) {
  const moho::rays::GridGraph<double, 2, Memory> graph(exec, grid, velocity, {.radius = 2});
  const auto times = moho::make_field_per_source<double>(exec, 1, grid, "times");
  moho::rays::trace(exec, graph, {{0.0, 0.0}}, times, {});
  moho::io::Array<double> array;
  array.shape = {1, grid.extents[0], grid.extents[1]};
  array.data = moho::download(exec, times);
  moho::io::write_npy("times.npy", array);
  return array.data[grid.flat({100, 0})];
}

double front(const moho::Instance<Memory>& exec, const moho::Field<double, 2, Memory>& velocity) {
  const auto times = moho::make_field<double>(exec, grid, "times");
  moho::eikonal::solve(exec, grid, velocity, {{0.0, 0.0}}, times);
  return moho::value_at(exec, times.data() + grid.flat({100, 0}));
}

// Steps a wavefield at rest in the complete domain.
double waves(const moho::Instance<Memory>& exec, const moho::Field<float, 2, Memory>& velocity) {
  const moho::wave::Model<float, 2, Memory> model{.vp = velocity};
  const moho::wave::Propagator<float, 2, Memory> propagator(
      exec, grid, model,
      {.dt = 0.001, .boundaries = moho::wave::all_faces<2>(moho::wave::FaceKind::sponge, 10)});
  const moho::wave::PointSet<float, 2, Memory> sources(exec, grid, propagator.layout(),
                                                       {{500.0, 250.0}});
  const auto domain = moho::domain::make_domain(moho::domain::ExpansionMethod::layers, exec,
                                                propagator, model, sources, {.frequency = 20.0});
  const auto wavefield = propagator.make_wavefield(exec);
  propagator.step(exec, wavefield, domain->box(exec, propagator, wavefield, 0));
  exec.fence();
  return domain->report().fraction();
}

// Sign of the attraction above a dense cube: downwards, which is positive.
bool attracts(const moho::Instance<Memory>& exec) {
  const auto upload = [&](auto view, const std::vector<double>& values) {
    Kokkos::deep_copy(view, Kokkos::View<const double**, Kokkos::LayoutRight, Kokkos::HostSpace>(
                                values.data(), view.extent(0), view.extent(1)));
    return view;
  };
  const auto prisms = upload(Kokkos::View<double* [7], Kokkos::LayoutRight, Memory>("prisms", 1),
                             { -50.0, 50.0, -50.0, 50.0, 0.0, 100.0, 1000.0 });
  const auto stations = upload(
      Kokkos::View<double* [3], Kokkos::LayoutRight, Memory>("stations", 1), { 0.0, 0.0, -10.0 });
  const moho::gravity::ResultView<Memory> results("results", 1, 1);
  moho::gravity::forward<double>(exec, moho::gravity::PrismView<Memory>(prisms),
                                 moho::gravity::StationView<Memory>(stations),
                                 {moho::gravity::Component::gz}, results);
  return moho::value_at(exec, results.data()) > 0.0;
}

int main(int argc, char** argv) {
  const moho::ScopeGuard guard(argc, argv);
  const moho::Instance<Memory> exec = Exec();
  const auto velocity = moho::make_field<double>(exec, grid, "velocity");
  moho::fill(exec, velocity, speed);
  std::printf("a straight ray takes %.6g s\n", rays(exec, velocity));
  std::printf("a straight front takes %.6g s\n", front(exec, velocity));
  const auto vp = moho::make_field<float>(exec, grid, "vp");
  moho::fill(exec, vp, static_cast<float>(speed));
  std::printf("the first step has %s nodes\n", waves(exec, vp) < 1.0 ? "some" : "all");
  std::printf("a dense cube %s\n", attracts(exec) ? "attracts" : "repels");
  return 0;
}
