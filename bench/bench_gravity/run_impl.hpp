// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The timed calls, compiled once for each memory.

#include "bench_gravity/runner.hpp"

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>
#include <moho/gravity/forward.hpp>
#include <moho/gravity/lattice.hpp>
#include <moho/gravity/prism.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace moho::bench {

/// Host memory with the fastest transfers to and from a space: pinned memory for CUDA.
template <class Memory>
struct TransferMemory {
  using type = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <>
struct TransferMemory<Kokkos::CudaSpace> {
  using type = Kokkos::CudaHostPinnedSpace;
};
/// \endcond
#endif

/// The field of one prism at all stations by prism_field(). For gz alone the compiler removes
/// unused terms; otherwise nine components.
template <class Memory, bool only_gz>
struct AddPrism {
  gravity::PrismView<Memory> prisms;
  gravity::StationView<Memory> stations;
  gravity::ResultView<Memory> results;
  std::int64_t row;
  double constant;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t s) const {
    double prism[7];
    for (int c = 0; c < 7; ++c) prism[c] = prisms(row, c);
    const double station[3] = {stations(s, 0), stations(s, 1), stations(s, 2)};
    double field[gravity::component_count];
    gravity::prism_field(prism, station, constant, field);
    if constexpr (only_gz) {
      results(0, s) += field[3];
    } else {
      for (int c = 0; c < 9; ++c) results(c, s) += field[1 + c];
    }
  }
};

/// Launches one kernel per prism.
template <class Memory, bool only_gz>
void add_prism_by_prism(const Instance<Memory>& exec, AddPrism<Memory, only_gz> kernel) {
  const auto prisms = static_cast<std::int64_t>(kernel.prisms.extent(0));
  const auto stations = static_cast<std::int64_t>(kernel.stations.extent(0));
  for (kernel.row = 0; kernel.row < prisms; ++kernel.row) {
    launch("moho::bench::add_prism", exec, stations, kernel);
  }
}

/// GravityRunner on one memory.
template <class Memory>
class RunnerOn final : public GravityRunner {
 public:
  RunnerOn(const Instance<Memory>& exec, const GravityProblem& problem)
      : m_exec(exec), m_problem(problem) {
    copy_in(m_host_stations, problem.stations, "moho::bench::host_stations");
    if (problem.regular) {
      copy_in(m_host_densities, problem.densities, "moho::bench::host_densities");
    } else {
      copy_in(m_host_prisms, problem.prisms, "moho::bench::host_prisms");
    }
    if constexpr (is_host_memory<Memory>) {
      m_stations = m_host_stations;
      m_prisms = m_host_prisms;
      m_densities = m_host_densities;
    } else {
      m_stations = StationArray("moho::bench::stations", m_host_stations.extent(0));
      m_prisms = PrismArray("moho::bench::prisms", m_host_prisms.extent(0));
      m_densities = DensityArray("moho::bench::densities", m_host_densities.extent(0));
    }
  }

  GravityPass pass(const GravitySettings& settings) override {
    prepare(settings.components.size());
    GravityPass done;
    m_exec.fence();
    const Stopwatch watch;
    if constexpr (!is_host_memory<Memory>) {
      copy(m_exec, m_stations, m_host_stations);
      if (m_problem.regular) {
        copy(m_exec, m_densities, m_host_densities);
      } else {
        copy(m_exec, m_prisms, m_host_prisms);
      }
      m_exec.fence();
    }
    const double there = watch.seconds();
    if (settings.arrangement == Arrangement::launch_per_prism) {
      done.report = launch_per_prism(settings);
    } else if (settings.single) {
      done.report = forward<float>(settings);
    } else {
      done.report = forward<double>(settings);
    }
    m_exec.fence();
    const double computed = watch.seconds();
    if constexpr (!is_host_memory<Memory>) {
      copy(m_exec, m_host_results, m_results);
      m_exec.fence();
    }
    done.total = watch.seconds();
    done.transfer = there + (done.total - computed);
    return done;
  }

  const double* results() const override { return m_host_results.data(); }

  void spoil() override {
    const double nothing = std::numeric_limits<double>::quiet_NaN();
    std::fill_n(m_host_results.data(), m_host_results.size(), nothing);
    fill(m_exec, m_results, nothing);
    m_exec.fence();
  }

 private:
  using HostMemory = typename TransferMemory<Memory>::type;
  template <class Data, class Where>
  using Array = Kokkos::View<Data, Kokkos::LayoutRight, Where>;
  using PrismArray = Array<double* [7], Memory>;
  using StationArray = Array<double* [3], Memory>;
  using DensityArray = Array<double*, Memory>;

  template <class HostView>
  static void copy_in(HostView& view, const std::vector<double>& values, const std::string& label) {
    constexpr std::size_t columns = HostView::rank == 2 ? HostView::static_extent(1) : 1;
    view = HostView(label, values.size() / columns);
    std::memcpy(view.data(), values.data(), values.size() * sizeof(double));
  }

  void prepare(std::size_t components) {
    if (m_results.extent(0) == components) return;
    const std::size_t stations = m_host_stations.extent(0);
    m_results = Array<double**, Memory>();
    m_host_results = Array<double**, HostMemory>("moho::bench::host_results", components, stations);
    if constexpr (is_host_memory<Memory>) {
      m_results = m_host_results;
    } else {
      m_results = Array<double**, Memory>("moho::bench::results", components, stations);
    }
  }

  template <class T>
  gravity::Report forward(const GravitySettings& settings) {
    const gravity::StationView<Memory> stations(m_stations);
    if (m_problem.regular) {
      return gravity::forward<T>(m_exec, m_problem.mesh, gravity::DensityView<Memory>(m_densities),
                                 stations, settings.components, m_results, settings.options);
    }
    return gravity::forward<T>(m_exec, gravity::PrismView<Memory>(m_prisms), stations,
                               settings.components, m_results, settings.options);
  }

  gravity::Report launch_per_prism(const GravitySettings& settings) {
    if (m_problem.regular || settings.single) {
      throw InputError("a launch for every prism is there for lists of prisms in double precision");
    }
    gravity::Report report;
    report.prisms = m_problem.prism_count();
    report.stations = m_problem.station_count();
    report.passes = report.prisms;
    fill(m_exec, m_results, 0.0);
    if (settings.components == gravity::Components{gravity::Component::gz}) {
      run_launches<true>(settings);
    } else if (settings.components == gravity::nine_components()) {
      run_launches<false>(settings);
    } else {
      throw InputError("a launch for every prism is there for gz and for nine components");
    }
    return report;
  }

  template <bool only_gz>
  void run_launches(const GravitySettings& settings) {
    AddPrism<Memory, only_gz> kernel{};
    kernel.prisms = m_prisms;
    kernel.stations = m_stations;
    kernel.results = m_results;
    kernel.constant = settings.options.constant;
    add_prism_by_prism(m_exec, kernel);
  }

  Instance<Memory> m_exec;
  const GravityProblem& m_problem;
  Array<double* [7], HostMemory> m_host_prisms;
  Array<double* [3], HostMemory> m_host_stations;
  Array<double*, HostMemory> m_host_densities;
  Array<double**, HostMemory> m_host_results;
  PrismArray m_prisms;
  StationArray m_stations;
  DensityArray m_densities;
  Array<double**, Memory> m_results;
};

template <class Memory>
std::unique_ptr<GravityRunner> make_runner(const Instance<Memory>& exec,
                                           const GravityProblem& problem) {
  return std::make_unique<RunnerOn<Memory>>(exec, problem);
}

template <class Memory>
int processors(const Instance<Memory>& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Memory, Kokkos::CudaSpace>) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, exec.space().cuda_device()) == cudaSuccess) {
      return properties.multiProcessorCount;
    }
    return 1;
  }
#endif
  return exec.concurrency();
}

/// Eight independent chains of one operation; results stay between 1 and 3.
template <class T, Operation operation>
struct OperationKernel {
  static constexpr int chains = 8;
  int length;
  T* out;

  KOKKOS_INLINE_FUNCTION static T apply(const T x) {
    if constexpr (operation == Operation::fma) {
      return x * T(0.5) + T(1);
    } else if constexpr (operation == Operation::divide) {
      return T(3) / x;
    } else if constexpr (operation == Operation::square_root) {
      using std::sqrt;
      return sqrt(x + T(1));
    } else if constexpr (operation == Operation::logarithm) {
      using std::log;
      return log(x + T(2));
    } else {
      using std::atan2;
      return atan2(x, T(0.75)) + T(1);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    T x[chains];
    for (int k = 0; k < chains; ++k) x[k] = T(1) + T(k + i % 8) / T(16);
    for (int step = 0; step < length; ++step) {
      for (int k = 0; k < chains; ++k) x[k] = apply(x[k]);
    }
    T sum = 0;
    for (int k = 0; k < chains; ++k) sum += x[k];
    out[i] = sum;
  }
};

/// \cond
template <class T, Operation operation, class Memory>
double rate_of(const Instance<Memory>& exec) {
  constexpr bool host = is_host_memory<Memory>;
  const std::int64_t items =
      host ? std::int64_t(exec.concurrency()) : std::int64_t(processors(exec)) * 2048;
  const Kokkos::View<T*, Memory> out("moho::bench::out", static_cast<std::size_t>(items));
  OperationKernel<T, operation> kernel;
  kernel.length = host ? 500000 : 2000;
  kernel.out = out.data();
  double best = 0.0;
  for (int k = 0; k < 6; ++k) {
    exec.fence();
    const Stopwatch watch;
    launch("moho::bench::operations", exec, items, kernel);
    exec.fence();
    const double took = watch.seconds();
    if (k > 0) best = k == 1 ? took : std::min(best, took);
  }
  return static_cast<double>(items) * kernel.length * kernel.chains / best;
}

template <class T, class Memory>
double rate_in(const Instance<Memory>& exec, Operation operation) {
  switch (operation) {
    case Operation::fma:
      return rate_of<T, Operation::fma>(exec);
    case Operation::divide:
      return rate_of<T, Operation::divide>(exec);
    case Operation::square_root:
      return rate_of<T, Operation::square_root>(exec);
    case Operation::logarithm:
      return rate_of<T, Operation::logarithm>(exec);
    case Operation::arc_tangent:
      break;
  }
  return rate_of<T, Operation::arc_tangent>(exec);
}
/// \endcond

template <class Memory>
double operation_rate(const Instance<Memory>& exec, Operation operation, bool single) {
  return single ? rate_in<float>(exec, operation) : rate_in<double>(exec, operation);
}

/// Sets the least times of products and of products with the transpose.
template <class Memory, class Apply, class Adjoint>
void time_products(const Instance<Memory>& exec, int products, const Apply& apply,
                   const Adjoint& adjoint, FmmTimes& times) {
  for (int k = 0; k < products; ++k) {
    Stopwatch watch;
    apply();
    exec.fence();
    const double forward = watch.seconds();
    watch = Stopwatch();
    adjoint();
    exec.fence();
    const double back = watch.seconds();
    times.apply = k == 0 ? forward : std::min(times.apply, forward);
    times.adjoint = k == 0 ? back : std::min(times.adjoint, back);
  }
}

/// Compares values at some stations with direct sums, and sets their time at all stations.
template <class Memory>
void compare_direct(const Instance<Memory>& exec, const std::vector<double>& prisms,
                    const std::vector<double>& stations, const gravity::Components& components,
                    const std::vector<double>& densities, const std::vector<double>& values,
                    FmmTimes& times) {
  const std::size_t count = stations.size() / 3;
  const auto chosen = gravity::spread_stations(count, is_host_memory<Memory> ? 50 : 2000);
  gravity::DirectFieldOperator<Memory> direct(exec, prisms, gravity::stations_at(stations, chosen),
                                              components);
  std::vector<double> known;
  direct.apply(densities, known);
  Stopwatch watch;
  direct.apply(densities, known);
  times.direct = watch.seconds() * static_cast<double>(count) / static_cast<double>(chosen.size());
  times.difference = gravity::largest_difference(values, known, chosen, components.size());
}

template <class Memory>
FmmTimes time_fmm(const Instance<Memory>& exec, const FmmProblem& problem, int products) {
  using gravity::FmmFieldOperator;
  FmmTimes times;
  gravity::FmmOptions options;
  options.tolerance = problem.tolerance;
  Stopwatch watch;
  FmmFieldOperator<Memory> field(exec, problem.prisms, problem.stations, problem.components,
                                 options);
  times.construct = watch.seconds();
  times.report = field.field().report();
  times.bytes = field.bytes();
  // products between views, without transfers
  std::vector<double> densities(problem.prisms.size() / 7), values;
  for (std::size_t k = 0; k < densities.size(); ++k) densities[k] = problem.prisms[7 * k + 6];
  field.apply(densities, values);  // loads code and touches memory
  gravity::FmmOperator<Memory>& inner = field.field();
  const auto there = upload(exec, densities, "densities");
  const auto results = allocate<gravity::ResultView<Memory>>(
      exec, "results", problem.components.size(), problem.stations.size() / 3);
  time_products(
      exec, products, [&] { inner.apply(exec, there, results); },
      [&] { inner.adjoint(exec, results, there); }, times);
  compare_direct(exec, problem.prisms, problem.stations, problem.components, densities, values,
                 times);
  return times;
}

template <class Memory>
FmmTimes time_lattice(const Instance<Memory>& exec, const std::array<int, 3>& cells,
                      const gravity::Components& components, int products) {
  gravity::RegularMesh mesh;
  mesh.upper = {20.0 * cells[0], 20.0 * cells[1], 20.0 * cells[2]};
  mesh.cells = {cells[0], cells[1], cells[2]};
  std::vector<double> stations;
  for (int j = 0; j < cells[1]; ++j) {
    for (int i = 0; i < cells[0]; ++i) {
      for (const double x : {20.0 * i + 10.0, 20.0 * j + 10.0, -20.0}) stations.push_back(x);
    }
  }
  FmmTimes times;
  Stopwatch watch;
  gravity::LatticeOperator<Memory> field(exec, mesh, stations, components);
  exec.fence();
  times.construct = watch.seconds();
  times.bytes = field.bytes();
  std::vector<double> densities(static_cast<std::size_t>(mesh.size())), values;
  for (std::size_t k = 0; k < densities.size(); ++k) {
    densities[k] = 100.0 * static_cast<double>(k * 7919 % 61) - 3030.0;
  }
  field.apply(densities, values);  // loads code and touches memory
  const auto there = upload(exec, densities, "densities");
  const auto results = allocate<gravity::ResultView<Memory>>(exec, "results", components.size(),
                                                             stations.size() / 3);
  time_products(
      exec, products, [&] { field.apply(there, results); }, [&] { field.adjoint(results, there); },
      times);
  compare_direct(exec, gravity::mesh_prisms(mesh, densities), stations, components, densities,
                 values, times);
  return times;
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_GRAVITY(Memory)                                                           \
  template std::unique_ptr<GravityRunner> make_runner<Memory>(const Instance<Memory>&,       \
                                                              const GravityProblem&);        \
  template FmmTimes time_fmm<Memory>(const Instance<Memory>&, const FmmProblem&, int);       \
  template FmmTimes time_lattice<Memory>(const Instance<Memory>&, const std::array<int, 3>&, \
                                         const gravity::Components&, int);                   \
  template int processors<Memory>(const Instance<Memory>&);                                  \
  template double operation_rate<Memory>(const Instance<Memory>&, Operation, bool)

}  // namespace moho::bench
