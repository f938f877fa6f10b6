// SPDX-License-Identifier: BSD-3-Clause
//
// A shot over a homogeneous model: gather.npy has a trace for each receiver.

#include <moho/core/scope_guard.hpp>
#include <moho/io/npy.hpp>
#include <moho/wave/wave.hpp>

int main(int argc, char** argv) {
  const moho::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const moho::Grid<2> grid{{301, 201}, {10.0, 10.0}, {0.0, 0.0}};  // nodes, spacing, origin (m)
  const auto model =
      moho::wave::make_model(exec, grid, {{moho::wave::Parameter::vp, 2000.0}});  // m/s
  const auto faces = moho::wave::absorbing_faces<2>(model.medium(), true);        // the top is free
  auto modelling = moho::wave::make_modelling(exec, grid, model, faces,
                                              moho::wave::ricker_wavelet(15.0),  // Hz
                                              {.time = {.time = 1.2}});          // s
  const auto line = moho::wave::point_line<2>({0.0, 20.0}, {3000.0, 20.0}, 301);
  const auto shot = modelling.shot(exec, {.sources = {{1500.0, 20.0}}, .receivers = line});
  moho::io::write_npy("gather.npy", shot.traces);
}
