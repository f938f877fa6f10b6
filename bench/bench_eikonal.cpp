// SPDX-License-Identifier: BSD-3-Clause
//
// Benchmarks of the eikonal solvers: a source in the middle of the surface, from a model to times
// in the memory of the space. Every benchmark compares its times with those of fast marching.
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

template <class T, int Dim, class Exec>
void add(const EikonalCase& what) {
  const std::string name = concat(
      "eikonal/", what.marching ? "fast_marching" : to_string(what.method), "/",
      SpaceTraits<Exec>::name, "/", std::is_same_v<T, float> ? "float" : "double", "/", Dim, "d/",
      to_string(what.model), "/n:", what.n, "/order:", what.order, what.anisotropic ? "/vti" : "");
  const int iterations = bench::smoke() ? 1 : what.marching ? 2 : 5;
  benchmark::RegisterBenchmark(
      name.c_str(),
      [what](benchmark::State& state) { bench::time_eikonal<T, Dim, Exec>(state, what); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(iterations);
}

template <class T, int Dim, class Exec>
void add_methods(EikonalCase what) {
  for (const Method method : {Method::active_tiles, Method::sweeping}) {
    what.method = method;
    add<T, Dim, Exec>(what);
  }
}

template <class Exec>
void add_space(int n2, int n3) {
  EikonalCase what;
  for (const EikonalModel model :
       {EikonalModel::gradient, EikonalModel::layers, EikonalModel::noise}) {
    what.model = model;
    for (const int order : {1, 2}) {
      what.order = order;
      what.n = n2;
      add_methods<float, 2, Exec>(what);
      what.n = n3;
      add_methods<float, 3, Exec>(what);
    }
  }
  what.model = EikonalModel::gradient;
  what.order = 2;
  what.n = n2;
  add_methods<double, 2, Exec>(what);
  what.n = n3;
  add_methods<double, 3, Exec>(what);
  what.anisotropic = true;
  what.n = n2;
  add<float, 2, Exec>(what);
  what.n = n3;
  add<float, 3, Exec>(what);
}

void register_benchmarks() {
  const int n2 = bench::smoke() ? 100 : 1000, n3 = bench::smoke() ? 30 : 128;
#ifdef KOKKOS_ENABLE_SERIAL
  EikonalCase marching;
  marching.marching = true;
  for (const EikonalModel model : {EikonalModel::gradient, EikonalModel::layers}) {
    marching.model = model;
    for (const int order : {1, 2}) {
      marching.order = order;
      marching.n = n2;
      add<float, 2, Kokkos::Serial>(marching);
      marching.n = n3;
      add<float, 3, Kokkos::Serial>(marching);
    }
  }
  add_space<Kokkos::Serial>(n2, n3);
#endif
#ifdef KOKKOS_ENABLE_OPENMP
  add_space<Kokkos::OpenMP>(n2, n3);
#endif
#ifdef KOKKOS_ENABLE_CUDA
  add_space<Kokkos::Cuda>(n2, n3);
  if (!bench::smoke()) add_space<Kokkos::Cuda>(4000, 400);
#endif
}

}  // namespace

int main(int argc, char** argv) { return bench::run_program(argc, argv, register_benchmarks); }
