// SPDX-License-Identifier: BSD-3-Clause
//
// Shots over the model of vp.npy: each shot_0000.npy, shot_0001.npy, ... is written once computed.

#include <moho/core/scope_guard.hpp>
#include <moho/io/io.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/wave/wave.hpp>

int main(int argc, char** argv) try {
  const moho::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const auto vp = moho::io::read_model<float>("vp.npy");  // m/s
  const auto grid = moho::io::model_grid<2>(vp, 20.0);    // metres between nodes
  const auto model =
      moho::wave::make_model(exec, grid, {{moho::wave::Parameter::vp, vp.values.data}});
  const auto sources = moho::survey::points_from_text<2>("0,20:9145,20:60");
  const auto receivers = moho::survey::points_from_text<2>("0,20:9200,20:231");
  const auto shots = moho::wave::fixed_spread<2>(sources, receivers);
  auto modelling = moho::wave::make_modelling(
      exec, grid, model, moho::wave::absorbing_faces<2>(model.medium(), true),
      moho::wave::ricker_wavelet(8.0), {.time = {.time = 3.0}});
  moho::wave::model_shots(exec, modelling, shots, [&](std::size_t k, const auto& shot) {
    moho::io::write_npy(moho::io::numbered("shot", shots[k].number), shot.traces);
  });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
