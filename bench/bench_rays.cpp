// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of the shortest-path ray tracer, the CPU against the GPU in one table.
//
// The models are those of Monsegny and Agudelo (2013): n x n vertices, velocity increasing with
// depth from 0.5 to 4 km/s. The 16 sizes are from 128 to 1600. The paper does not list them; here
// the steps are 64 up to 512 and 128 up to 1536, and the last size is 1600. The source is the
// corner (0, 0), which has the longest paths. Timing follows the paper: the model to the device,
// weights, tracing, traveltimes and predecessors back. Host arrays of CUDA runs are pinned. Every
// benchmark compares its traveltimes with those of sequential Dijkstra.
//
// Names: rays/<method>/<space>/<precision>/n:<n>/r:<radius>[/sources:<count>][/star:<star>]
// [/weights:<rule>][/storage:<where>][/table:<part>][/instances:<on one device>][/devices:<number>]
// [/slabs:<of each>]. Paper's graph: star:full, weights:sampled. table is the memory for weights as
// a part of their complete table.
// MOHO_BENCH_RAYS_SPLIT_N: vertices per side of the models that several devices share (8192).
// copy/<space> is the copy bandwidth, the reference of floor_fraction.

#include "bench_rays/run.hpp"
#include "common/copy.hpp"
#include "common/program.hpp"

#include <moho/core/space.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace moho;
using bench::RayCase;
using rays::Method;
using rays::WeightStorage;

std::vector<int> sizes() {
  if (bench::smoke()) return {64, 128};
  std::vector<int> list;
  for (int n = 128; n <= 512; n += 64) list.push_back(n);
  for (int n = 640; n <= 1536; n += 128) list.push_back(n);
  list.push_back(1600);
  return list;
}

bool one_of(int value, std::initializer_list<int> list) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Returns more iterations for short ones. The complete table must finish within a few minutes.
int iterations_of(const RayCase& what, bool main_table) {
  if (bench::smoke()) return 1;
  const bool active_tiles = what.method == Method::active_tiles;
  if (bench::on_host(what.space)) {
    if (!active_tiles || !main_table) return 1;
    return what.n <= 256 ? 10 : what.n <= 640 ? 3 : 2;
  }
  if (what.large()) return 2;
  if (what.method == Method::relaxation) return what.n <= 512 ? 5 : 2;
  if (!active_tiles || what.sources > 8) return 1;
  return what.n <= 256 ? 20 : what.n <= 640 ? 10 : 5;
}

const char* precision_of(const RayCase& what) { return what.single ? "float" : "double"; }

void add_dijkstra(const RayCase& what, const std::string& suffix = "") {
  bench::add(concat("rays/dijkstra/serial/", precision_of(what), "/n:", what.n, "/r:", what.radius,
                    suffix),
             what.n <= 512 && !bench::smoke() ? 3 : 1, [what](benchmark::State& state) {
               what.single ? bench::time_dijkstra<float>(state, what)
                           : bench::time_dijkstra<double>(state, what);
             });
}
void add_dijkstra(int n, int radius, bool single) {
  RayCase what;
  what.single = single;
  what.n = n;
  what.radius = radius;
  add_dijkstra(what);
}

void add_trace(RayCase what, bool name_storage = false) {
  std::string name = concat("rays/", what.mutex ? "push_mutex" : to_string(what.method), "/",
                            what.space, "/", precision_of(what), "/n:", what.n, "/r:", what.radius);
  if (what.sources > 1) name += concat("/sources:", what.sources);
  if (what.method == Method::relaxation) {
    if (what.star == rays::Star::coprime) name += "/star:coprime";
  } else if (what.star == rays::Star::full) {
    name += "/star:full";
  }
  if (what.rule != rays::WeightRule::slowness) name += "/weights:" + to_string(what.rule);
  if (name_storage) name += "/storage:" + to_string(what.storage);
  if (what.table > 0.0) name += concat("/table:", what.table);
  if (what.instances > 0) name += concat("/instances:", what.instances);
  if (what.devices > 0) name += concat("/devices:", what.devices);
  if (what.slabs > 0) name += concat("/slabs:", what.slabs);
  // Monsegny and Agudelo's method and the push methods are defined with a table of weights.
  if (what.method != Method::active_tiles) what.storage = WeightStorage::stored;
  const bool main_table =
      !name_storage && what.sources == 1 && what.star == rays::Star::coprime && what.single;
  bench::add(name, iterations_of(what, main_table), [what](benchmark::State& state) {
    with_space(what.space, [&](const auto& exec) { bench::time_trace(exec, state, what); });
  });
}

/// Adds the methods of the paper with its graph: all neighbours within the radius, and weights
/// sampled at radius + 1 points of an edge.
void add_paper(const std::vector<std::string>& spaces, int n, int radius) {
  RayCase what;
  what.n = n;
  what.radius = radius;
  what.star = rays::Star::full;
  what.rule = rays::WeightRule::sampled;
  add_dijkstra(what, "/star:full/weights:sampled");
  what.method = Method::relaxation;
  for (const std::string& space : spaces) {
    what.space = space;
    if (!bench::on_host(space) || n <= 256) add_trace(what);
  }
}

/// Adds the benchmarks of one space for one model and radius.
void add_space(const std::string& space, int n, int radius) {
  const bool smoke = bench::smoke();
  const bool host = bench::on_host(space);
  RayCase what;
  what.space = space;
  what.n = n;
  what.radius = radius;
  add_trace(what);

  const bool chosen_radius = one_of(radius, {1, 3, 6});
  what.method = Method::relaxation;
  what.star = rays::Star::full;
  if (!host || n <= 256) add_trace(what);
  what.star = rays::Star::coprime;
  if (chosen_radius && (n == 128 || (!host && one_of(n, {512, 1600})))) {
    add_trace(what);
  }

  if (chosen_radius && one_of(n, {128, 256})) {
    what.method = Method::push;
    add_trace(what);
    what.mutex = true;
    add_trace(what);
    what.mutex = false;
  }
  if (chosen_radius && one_of(n, {128, 256, 512})) {
    what.method = Method::near_far;
    add_trace(what);
  }

  what.method = Method::active_tiles;
  const bool large = smoke ? n == 128 : one_of(n, {512, 1024}) || (!host && n == 1600);
  if (chosen_radius && large) {
    for (const WeightStorage storage : {WeightStorage::stored, WeightStorage::on_the_fly}) {
      what.storage = storage;
      add_trace(what, true);
    }
    what.storage = WeightStorage::automatic;
    what.single = false;
    add_trace(what);
    what.single = true;
    what.star = rays::Star::full;
    add_trace(what);
    what.star = rays::Star::coprime;
  }
  if (one_of(radius, {3, 6}) && (smoke ? n == 128 : n == 512 || (!host && n == 1024))) {
    what.sources = 8;
    add_trace(what);
    if (!host) {
      what.sources = 64;
      add_trace(what);
    }
    what.sources = 1;
  }
  // The sources of a complete survey in one call: 15 GB of times and predecessors on the device,
  // and the same amount on the host.
  if (!smoke && !host && radius == 6 && n == 1600) {
    what.sources = 1000;
    add_trace(what);
  }
}

int visible_devices() {
#if KOKKOS_VERSION >= 40300
  return Kokkos::num_devices();
#else
  return 1;
#endif
}

/// Adds models that do not fit the memory with their table of weights, or share several devices.
void add_beyond_one_device(const std::string& space) {
  const bool host = bench::on_host(space);
  RayCase what;
  what.space = space;
  const char* const text = std::getenv("MOHO_BENCH_RAYS_SPLIT_N");
  what.n = bench::smoke() ? 256 : text != nullptr ? std::atoi(text) : host ? 1024 : 8192;
  if (host) what.rule = rays::WeightRule::velocity;  // else the table is not the fastest
  what.storage = WeightStorage::stored;
  add_trace(what, true);
  what.storage = WeightStorage::on_the_fly;
  add_trace(what, true);
  what.storage = WeightStorage::fragments;
  for (const double part : {0.25, 0.5}) {
    what.table = part;
    add_trace(what, true);
  }
  what.table = 0.0;
  what.storage = WeightStorage::stored;
  for (const int slabs : {1, 4}) {
    what.slabs = slabs;
    what.instances = 2;
    add_trace(what, true);
    what.instances = 0;
    for (const int devices : {2, 4}) {
      what.devices = devices;
      if (!host && devices <= visible_devices()) add_trace(what, true);
    }
    what.devices = 0;
  }
}

void register_benchmarks() {
  std::vector<std::string> spaces{bench::host_space()};
  if (default_space_name() == "cuda") spaces.emplace_back("cuda");
  for (const std::string& space : spaces) bench::add_copy(space);
  for (const std::string& space : spaces) add_beyond_one_device(space);
  for (const int n : sizes()) {
    for (int radius = 1; radius <= 6; ++radius) {
      if (bench::smoke() && !one_of(radius, {1, 3, 6})) continue;
      add_dijkstra(n, radius, true);
      if (one_of(radius, {1, 3, 6}) && (bench::smoke() ? n == 128 : one_of(n, {512, 1024, 1600}))) {
        add_dijkstra(n, radius, false);
      }
      for (const std::string& space : spaces) add_space(space, n, radius);
      add_paper(spaces, n, radius);
    }
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
