// SPDX-License-Identifier: BSD-3-Clause
//
// An imaging condition of the user: products at the time of the largest source amplitude only
// (excitation amplitude; Nguyen and McMechan, 2013), for the shots of line.sgy: excitation.npy.

#include <moho/core/scope_guard.hpp>
#include <moho/io/io.hpp>
#include <moho/rtm/rtm.hpp>

template <class T, int Dim>
struct KeepLoudest {
  moho::rtm::ImagingOperands<T, Dim> waves;
  T *energy, *product;
  KOKKOS_FUNCTION void operator()(const moho::Index<Dim>& node) const {
    const T source = waves.source(node);
    const auto at = waves.at(node);
    if (source * source <= energy[at]) return;
    energy[at] = source * source;
    product[at] = source * waves.receivers(node);
  }
};

struct LoudestProducts {
  static constexpr int part_count = 2;  // energy and product, zero before the first snapshot
  template <class T, int Dim, class Memory>
  void add(const moho::Instance<Memory>& exec, const moho::rtm::ImagingStep<T, Dim, Memory>& step,
           const std::vector<moho::Field<T, Dim, Memory>>& parts) const {
    moho::launch_box("loudest_products", exec, step.box(),
                     KeepLoudest<T, Dim>{step.operands(), parts[0].data(), parts[1].data()});
  }
};

struct ExcitationAmplitude {
  using accumulator = LoudestProducts;
  template <class T, int Dim>
  moho::rtm::HostField<T, Dim> finish(const moho::Instance<Kokkos::HostSpace>& exec,
                                      const moho::rtm::ImageParts<T, Dim>& parts) const {
    return moho::rtm::normalised<T, Dim, Kokkos::HostSpace>(exec, parts.grid, parts[1], parts[0]);
  }
};

int main(int argc, char** argv) try {
  const moho::ScopeGuard kokkos(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const auto vp = moho::io::read_model<float>("vp_smooth.npy");
  const auto grid = moho::io::model_grid<2>(vp, 20.0);
  const auto model =
      moho::wave::make_model(exec, grid, {{moho::wave::Parameter::vp, vp.values.data}});
  const moho::survey::Survey<2> survey("line.sgy");
  auto migration =
      moho::rtm::make_migration(exec, grid, model, moho::wave::absorbing_faces<2>(model.medium()),
                                moho::wave::ricker_wavelet(15.0), survey.shots(),
                                {.modelling = {.time = {.time = survey.duration()}},
                                 .data = {.mute = moho::survey::parse_mute("arrivals")}});
  migration.accumulate(LoudestProducts{});
  migration.add_all(survey.size(), [&](std::size_t k) { return survey.read(k); });
  moho::io::write_npy("excitation.npy", migration.image(ExcitationAmplitude{}));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
