// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of wave propagation: the CPU against the GPU in one table.
//
// A case steps noise through a rough model. Points are all nodes of the grid, including those of
// the absorbing layers (30 nodes wide). The time is that of complete steps: free surface, update,
// layers. Sources and receivers are absent, because a shot has few of them. A sample is a number of
// steps that lasts long enough; a case has three samples. points/s is the rate of the median,
// best_points/s that of the best one.
//
// Every case is compared with the plain kernel. Five steps of a small grid with the same faces are
// compared first. After the timed steps one step is compared in three windows of the grid.
//
// Names: waves/<medium>/<precision>/order:<order>/<boundary>/<kernel>/<space>/<nx>x<ny>x<nz>, in 2D
// <nx>x<nz>. Media: isotropic, variable_density, vti, tti (self-adjoint), vti_fletcher,
// tti_fletcher. Boundaries: none, sponge, sponge_free, cpml, cpml_free (free: at the top), and
// cpml:<nodes>. With cpml:<nodes> the grid is the interior of the main one with layers of that
// width. Kernels: tuned, reference, codes (parameters in 16 bits, on devices), and two_passes of
// TTI for devices where tuned has one pass. copy/<space> is the copy bandwidth, the reference of
// floor_fraction. interior_points counts the nodes between layers.

#include "bench_waves/cases.hpp"
#include "common/copy.hpp"
#include "common/program.hpp"

#include <moho/core/space.hpp>

#include <array>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace moho;
using bench::WaveBoundary;
using bench::WaveCase;
using bench::WaveMedium;
using Extents = std::array<std::int64_t, 3>;

constexpr WaveMedium main_media[] = {WaveMedium::isotropic, WaveMedium::variable_density,
                                     WaveMedium::vti, WaveMedium::tti};
constexpr WaveMedium other_media[] = {WaveMedium::vti_fletcher, WaveMedium::tti_fletcher};

Extents cube(std::int64_t n) { return {n, n, n}; }

WaveCase base(const std::string& space, WaveMedium medium, const Extents& extents) {
  WaveCase what;
  what.space = space;
  what.settings.medium = medium;
  what.settings.extents = extents;
  if (bench::smoke()) what.settings.width = 5;
  return what;
}

/// Registers a case once, if memory holds it.
void add(const WaveCase& what) {
  static std::set<std::string> known;
  const std::string name = bench::name_of(what);
  if (!known.insert(name).second || !bench::wave_fits(what)) return;
  bench::add(name, bench::smoke() ? 1 : 3,
             [what](benchmark::State& state) { bench::time_waves(state, what); });
}

/// Returns two sizes: one divisible by a power of two, one with odd extents.
std::vector<Extents> main_sizes(const std::string& space) {
  if (bench::smoke()) return {{64, 56, 72}};
  if (!bench::on_host(space)) return {cube(512), {505, 515, 523}};
  return {cube(256), {251, 257, 263}};
}

/// Returns all boundaries of a medium.
std::vector<WaveBoundary> boundaries_of(WaveMedium medium) {
  std::vector<WaveBoundary> list = {WaveBoundary::none, WaveBoundary::sponge,
                                    WaveBoundary::sponge_free};
  if (medium != WaveMedium::tti && medium != WaveMedium::tti_fletcher) {
    list.push_back(WaveBoundary::cpml);
    list.push_back(WaveBoundary::cpml_free);
  }
  return list;
}

void add_main(const std::string& space) {
  for (const Extents& extents : main_sizes(space)) {
    for (const WaveMedium medium : main_media) {
      for (const bool cpml : {false, true}) {
        if (cpml && medium == WaveMedium::tti) continue;
        WaveCase what = base(space, medium, extents);
        if (cpml) what.settings.boundary = WaveBoundary::cpml;
        add(what);
        what.settings.codes = true;
        if (medium != WaveMedium::tti && !bench::on_host(space)) add(what);
      }
    }
  }
}

/// Adds orders, precisions, boundaries, the plain kernel, sizes, 2D.
void add_variants(const std::string& space) {
  const bool smoke = bench::smoke(), host = bench::on_host(space);
  const Extents extents = main_sizes(space).front();
  for (const WaveMedium medium : main_media) {
    WaveCase what = base(space, medium, extents);
    what.settings.single = false;
    add(what);
  }
  for (const WaveMedium medium : other_media) {
    WaveCase what = base(space, medium, extents);
    add(what);
    what.settings.single = false;
    if (!host || smoke) add(what);
  }
  for (const WaveMedium medium : main_media) {
    const bool few = host || smoke;
    for (int order = 2; order <= 16; order += few ? 6 : 2) {
      WaveCase what = base(space, medium, extents);
      what.settings.order = order;
      add(what);
    }
  }
  for (const WaveMedium medium : main_media) {
    const bool few = host && !smoke && medium != WaveMedium::isotropic;
    for (const WaveBoundary boundary : boundaries_of(medium)) {
      if (few && boundary != WaveBoundary::none) continue;
      WaveCase what = base(space, medium, extents);
      what.settings.boundary = boundary;
      add(what);
    }
  }
  for (const WaveMedium medium : main_media) {
    WaveCase what = base(space, medium, extents);
    what.settings.reference = true;
    add(what);
  }
  for (const Extents& size : main_sizes(space)) {
    WaveCase what = base(space, WaveMedium::tti, size);
    what.settings.one_pass = false;
    add(what);
  }
  if (!smoke) {
    const std::vector<std::int64_t> sizes =
        host ? std::vector<std::int64_t>{96, 128, 192, 320}
             : std::vector<std::int64_t>{128, 192, 256, 384, 640, 768};
    for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::tti}) {
      for (const std::int64_t n : sizes) {
        if (medium == WaveMedium::tti && n > (host ? 256 : 640)) continue;
        add(base(space, medium, cube(n)));
      }
    }
    // grids with few teams for a device
    for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti}) {
      for (const std::int64_t n : {128, 192, 256}) {
        if (host) continue;
        WaveCase layers = base(space, medium, cube(n));
        layers.settings.boundary = WaveBoundary::cpml;
        add(layers);
      }
    }
  }
  for (const WaveMedium medium : main_media) {
    WaveCase what = base(space, medium,
                         smoke  ? Extents{96, 130, 0}
                         : host ? Extents{2048, 2048, 0}
                                : Extents{8192, 8192, 0});
    what.settings.dim = 2;
    add(what);
    if (smoke) continue;
    if (medium != WaveMedium::tti) {
      WaveCase layers = what;
      layers.settings.boundary = WaveBoundary::cpml;
      add(layers);
    }
    what.settings.extents = host ? Extents{2021, 2053, 0} : Extents{8111, 8219, 0};
    if (!host) add(what);
  }
}

/// Adds the interior of the main grid's cases between perfectly matched layers of other widths. A
/// model needs only the interior.
void add_widths(const std::string& space) {
  for (const WaveMedium medium : main_media) {
    if (medium == WaveMedium::tti) continue;
    const WaveCase main = base(space, medium, main_sizes(space).front());
    const std::vector<int> widths = bench::smoke() ? std::vector<int>{8}
                                    : medium == WaveMedium::isotropic
                                        ? std::vector<int>{5, 8, 10, 20}
                                        : std::vector<int>{10, 20};
    for (const int width : widths) {
      WaveCase what = main;
      what.same_interior = true;
      what.settings.boundary = WaveBoundary::cpml;
      what.settings.width = width;
      for (std::int64_t& n : what.settings.extents) n += 2 * (width - main.settings.width);
      add(what);
    }
  }
}

/// Adds the volume of the paper on streams, on a device and on its host.
void add_paper(const std::string& space) {
  if (bench::smoke() || default_space_name() != "cuda") return;
  for (const WaveMedium medium : {WaveMedium::isotropic, WaveMedium::vti}) {
    add(base(space, medium, {500, 1000, 1000}));
  }
}

void add_space(const std::string& space) {
  bench::add_copy(space);
  if (bench::on_host(space) && space != bench::host_space()) {
    // one thread: only the media
    for (const WaveMedium medium : main_media) {
      add(base(space, medium, main_sizes(space).front()));
    }
    return;
  }
  add_main(space);
  add_variants(space);
  add_widths(space);
  add_paper(space);
}

void register_benchmarks() {
  for (const std::string& space : space_names()) add_space(space);
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
