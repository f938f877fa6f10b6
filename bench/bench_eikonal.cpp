// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of the eikonal solvers: a source in the middle of the surface, from a model to times
// in the memory of the space. Every benchmark compares its times with those of fast marching; on
// more than 2^26 nodes it compares them with those of the other parallel method.
//
// Names: eikonal/<method>/<space>/<precision>/<2d|3d>/<model>/n:<n>/order:<order>[/vti].

#include "bench_eikonal/run.hpp"
#include "common/program.hpp"

#include <moho/core/space.hpp>

#include <string>

namespace {

using namespace moho;
using bench::EikonalCase;
using bench::EikonalModel;
using eikonal::Method;

void add(const EikonalCase& what) {
  const std::string name =
      concat("eikonal/", what.marching ? "fast_marching" : to_string(what.method), "/", what.space,
             "/", what.single ? "float" : "double", "/", what.dim, "d/", to_string(what.model),
             "/n:", what.n, "/order:", what.order, what.anisotropic ? "/vti" : "");
  bench::add(name,
             bench::smoke()  ? 1
             : what.marching ? 2
                             : 5,
             [what](benchmark::State& state) {
               with_space(what.space,
                          [&](const auto& exec) { bench::time_eikonal(exec, state, what); });
             });
}

void add_methods(EikonalCase what) {
  for (const Method method : {Method::active_tiles, Method::sweeping}) {
    what.method = method;
    add(what);
  }
}

/// Adds a case in 2D and in 3D.
template <class Add>
void in_2d_and_3d(EikonalCase what, int n2, int n3, const Add& add_case) {
  what.dim = 2;
  what.n = n2;
  add_case(what);
  what.dim = 3;
  what.n = n3;
  add_case(what);
}

void add_space(const std::string& space, int n2, int n3) {
  EikonalCase what;
  what.space = space;
  for (const EikonalModel model :
       {EikonalModel::gradient, EikonalModel::layers, EikonalModel::noise}) {
    what.model = model;
    for (const int order : {1, 2}) {
      what.order = order;
      in_2d_and_3d(what, n2, n3, add_methods);
    }
  }
  what.model = EikonalModel::gradient;
  what.order = 2;
  what.single = false;
  in_2d_and_3d(what, n2, n3, add_methods);
  what.single = true;
  what.anisotropic = true;
  in_2d_and_3d(what, n2, n3, add);
}

void register_benchmarks() {
  const int n2 = bench::smoke() ? 100 : 1000, n3 = bench::smoke() ? 30 : 128;
  for (const std::string& space : space_names()) {
    if (space == "serial") {
      EikonalCase marching;
      marching.space = space;
      marching.marching = true;
      for (const EikonalModel model : {EikonalModel::gradient, EikonalModel::layers}) {
        marching.model = model;
        for (const int order : {1, 2}) {
          marching.order = order;
          in_2d_and_3d(marching, n2, n3, add);
        }
      }
    }
    add_space(space, n2, n3);
    if (space == "cuda" && !bench::smoke()) add_space(space, 4000, 512);
  }
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
