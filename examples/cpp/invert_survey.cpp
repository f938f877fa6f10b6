// SPDX-License-Identifier: BSD-3-Clause
//
// Full-waveform inversion of line.sgy for the P velocity, from vp_start.npy to vp.npy.

#include <moho/core/scope_guard.hpp>
#include <moho/fwi/fwi.hpp>
#include <moho/io/io.hpp>

int main(int argc, char** argv) try {
  const moho::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const auto vp = moho::io::read_model<float>("vp_start.npy");  // m/s
  const auto grid = moho::io::model_grid<2>(vp, 20.0);          // metres between nodes
  const auto start =
      moho::wave::make_model(exec, grid, {{moho::wave::Parameter::vp, vp.values.data}});
  const moho::survey::Survey<2> survey("line.sgy");
  auto objective = moho::fwi::make_objective(
      exec, grid, start, moho::wave::absorbing_faces<2>(start.medium(), true),
      moho::wave::ricker_wavelet(8.0), survey, {.bounds = {{1500.0, 5600.0}}});
  moho::optimize::Lbfgs search(exec, objective.start(), {.first_change = 0.01, .iterations = 20},
                               objective.bounds());
  const auto gradient = objective.make_gradient();
  while (search.wants() == moho::optimize::Want::evaluation) {
    const double misfit = objective.evaluate(search.point(), gradient);
    search.tell(exec, misfit, gradient);
    std::printf("%3d %.6g\n", static_cast<int>(search.evaluations()), misfit);
  }
  moho::io::write_npy("vp.npy", objective.values(search.best(), moho::wave::Parameter::vp));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
