// SPDX-License-Identifier: BSD-3-Clause
//
// Reverse-time migration of the shots of line.sgy with the smooth model vp_smooth.npy: image.npy.

#include <moho/core/scope_guard.hpp>
#include <moho/io/io.hpp>
#include <moho/rtm/rtm.hpp>

int main(int argc, char** argv) try {
  const moho::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const auto vp = moho::io::read_model<float>("vp_smooth.npy");  // m/s
  const auto grid = moho::io::model_grid<2>(vp, 20.0);           // metres between nodes
  const auto model =
      moho::wave::make_model(exec, grid, {{moho::wave::Parameter::vp, vp.values.data}});
  const moho::survey::Survey<2> survey("line.sgy");
  const auto faces = moho::wave::absorbing_faces<2>(model.medium());
  auto migration = moho::rtm::make_migration(
      exec, grid, model, faces, moho::wave::ricker_wavelet(15.0), survey.shots(),
      {.modelling = {.time = {.time = survey.duration()}},
       .domain = moho::domain::ExpansionMethod::eikonal,
       .data = {.mute = moho::survey::parse_mute("arrivals")},
       .storage = {.error = "lossless"}});
  std::puts(migration.plan().text().c_str());  // time step, storage of snapshots, memory, seconds
  migration.add_all(survey.size(), [&](std::size_t k) { return survey.read(k); });
  moho::io::write_npy("image.npy", migration.image(moho::rtm::InverseScattering{}));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
