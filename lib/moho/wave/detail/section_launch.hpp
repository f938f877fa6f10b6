// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Launches of several steps of a small section on a device (section_run.hpp).

#include <moho/core/copy.hpp>
#include <moho/core/cuda.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/detail/section_run.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cooperative_groups.h>
#endif

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace moho::wave::detail {

/// Most threads of a section whose steps share launches: nodes, with rows rounded up to warps. A
/// device holds about half as many threads.
inline constexpr std::int64_t largest_section_run_nodes = std::int64_t{1} << 18;

/// Arguments of the kernels of a run: of even and odd steps.
template <class T>
using SectionArguments = AllLayers<T>[2];

/// Runs the steps of a launch. \param layered true: with perfectly matched layers
template <template <class> class Work, Stencil stencil, class Memory, class T>
void section_run_of(const Instance<Memory>& exec, const SectionArguments<T>& arguments,
                    bool layered, const SectionTimes<T>& times, const Work<T>& work);

/// Returns true for wavefields whose steps may run in one launch.
template <int Dim, class Memory>
constexpr bool has_section_runs() {
#ifdef KOKKOS_ENABLE_CUDA
  return Dim == 2 && std::is_same_v<Memory, Kokkos::CudaSpace>;
#else
  return false;
#endif
}

/// Returns true: threads of a host have a common barrier.
inline bool has_grid_barrier(const Instance<Kokkos::HostSpace>&) { return true; }

#ifdef KOKKOS_ENABLE_CUDA
/// Returns true if the device of an instance has a barrier for all threads of a launch.
inline bool has_grid_barrier(const Instance<Kokkos::CudaSpace>& exec) {
  int can = 0;
  const int device = exec.space().cuda_device();
  check_cuda(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, device),
             "cooperative launches");
  return can != 0;
}

#ifdef __CUDACC__
/// Threads of a cooperative launch.
struct CudaSectionTeam {
  static constexpr int lanes = 32;
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rank() const {
#ifdef __CUDA_ARCH__
    return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
#else
    return 0;
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t size() const {
#ifdef __CUDA_ARCH__
    return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
#else
    return 1;
#endif
  }
#ifdef __CUDA_ARCH__
  cooperative_groups::grid_group::arrival_token token;
#endif
  KOKKOS_FORCEINLINE_FUNCTION void arrive() {
#ifdef __CUDA_ARCH__
    token = cooperative_groups::this_grid().barrier_arrive();
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION void wait() {
#ifdef __CUDA_ARCH__
    cooperative_groups::this_grid().barrier_wait(std::move(token));
#endif
  }
  /// Returns the value of a lane.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T get(T value, int lane) const {
#ifdef __CUDA_ARCH__
    return __shfl_sync(0xffffffffu, value, lane);
#else
    return value;
#endif
  }
  /// Returns the sum over the lanes in lane 0, in the order of Kokkos's vector reductions.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(T value) const {
#ifdef __CUDA_ARCH__
    for (int i = lanes / 2; i > 0; i /= 2) value += __shfl_down_sync(0xffffffffu, value, i);
#endif
    return value;
  }
};

template <class Run>
__global__ void __launch_bounds__(Run::block, Run::blocks)
    section_run_kernel(const __grid_constant__ Run run) {
  CudaSectionTeam team;
  run(team);
}

/// Launches a run on as many threads as it has work for and the device holds.
template <class Run>
void launch_section_run(const Instance<Kokkos::CudaSpace>& exec, const Run& run) {
  const int device = exec.space().cuda_device();
  check_cuda(cudaSetDevice(device), "device");
  int resident = 0, processors = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, section_run_kernel<Run>,
                                                           Run::block, 0),
             "resident blocks");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "multiprocessors");
  const SectionRecording<typename Run::Value>& recording = run.times.recording;
  const std::int64_t threads =
      run.steps[0].threads.nodes + recording.count * CudaSectionTeam::lanes;
  const std::int64_t blocks = (threads + Run::block - 1) / Run::block;
  const auto grid = static_cast<unsigned>(
      std::min<std::int64_t>(blocks, static_cast<std::int64_t>(resident) * processors));
  void* arguments[] = {const_cast<Run*>(&run)};
  check_cuda(cudaLaunchCooperativeKernel(section_run_kernel<Run>, dim3(grid), dim3(Run::block),
                                         arguments, 0, exec.space().cuda_stream()),
             "steps of a section");
}

template <template <class> class Work, Stencil stencil, class Memory, class T>
void section_run_of(const Instance<Memory>& exec, const SectionArguments<T>& arguments,
                    bool layered, const SectionTimes<T>& times, const Work<T>& work) {
  const auto run_of = [&]<int radius, bool with_layers>() {
    SectionRun<stencil, T, radius, with_layers, Work<T>> run{};
    for (int n = 0; n < 2; ++n) {
      run.steps[n].l = arguments[n].by_axis();
      run.steps[n].threads.cover(arguments[n].s, 1, largest_section_run_nodes);
    }
    run.times = times;
    run.work = work;
    launch_section_run(exec, run);
  };
  const auto by_layers = [&]<int radius>() {
    if (layered) {
      run_of.template operator()<radius, true>();
    } else {
      run_of.template operator()<radius, false>();
    }
  };
  static_assert(largest_section_run_radius == 4);
  switch (arguments[0].radius) {
    case 1:
      return by_layers.template operator()<1>();
    case 2:
      return by_layers.template operator()<2>();
    case 3:
      return by_layers.template operator()<3>();
    case 4:
      return by_layers.template operator()<4>();
    default:
      throw std::logic_error("moho::wave::section_run_of: the radius has no kernel");
  }
}
#endif
#endif

/// \brief Steps of a wavefield on a device, several in a launch, with sources and receivers.
///
/// The wavefield has the bits of Propagator::step(), inject_and_record() and Wavefield::advance().
template <class T, int Dim, class Memory>
class SectionRuns {
 public:
  /// \param exec of all work \param propagator,wavefield must outlive this object
  SectionRuns(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
              Wavefield<T, Dim, Memory>& wavefield)
      : m_exec(exec), m_propagator(propagator), m_wavefield(wavefield) {
    const Scheme<T, Dim, Memory>& scheme = propagator.scheme();
    const Grid<Dim>& grid = propagator.grid();
    if (propagator.part() != nullptr || scheme.options().reference) return;
    if (!kernel::has_section_step(scheme.stencil())) return;
    if (scheme.order() / 2 > largest_section_run_radius) return;
    if (!scheme.layers().empty() && !scheme.layers_in_one_launch()) return;
    if (!(wavefield.layout.window == all_planes(grid)) || !has_grid_barrier(exec)) return;
    StepArguments<T> s;
    if (!bind_step(scheme, propagator.medium_window(), wavefield, whole_box(grid), scheme.reach(0),
                   s)) {
      return;
    }
    m_possible = kernel::SectionThreads().cover(s, 1, largest_section_run_nodes) > 0;
    m_times.images.radius = scheme.order() / 2;
    const Boundaries<Dim>& faces = scheme.options().boundaries;
    for (int d = 0; d < Dim; ++d) {
      m_times.images.last[d] = static_cast<int>(grid.extents[d]) - 1;
      m_times.images.lower[d] = faces.lower[d].kind == FaceKind::free_surface;
      m_times.images.upper[d] = faces.upper[d].kind == FaceKind::free_surface;
    }
  }
  /// Returns false for sections whose steps are launched one by one.
  bool possible() const { return m_possible; }

  /// \brief Injects the rows of a series, the row of a step being its time.
  /// \param scale factors by node and field \param factor of all points
  template <class Scale>
  void inject(const PointSet<T, Dim, Memory>& points, const PointSeries<const T, Memory>& series,
              const Scale& scale, T factor) {
    if (points.count() == 0 || series.extent(0) == 0) return;
    SectionInjection<T> injection{};
    const Box<Dim>& box = points.box();
    m_numbers = allocate<Storage<std::int32_t, Memory>>(m_exec, "moho::wave::numbers_of_nodes",
                                                        static_cast<std::size_t>(box.size()));
    fill(m_exec, m_numbers, std::int32_t(-1));
    injection.rows = static_cast<std::int64_t>(series.extent(0));
    injection.next = static_cast<std::int64_t>(series.stride(0));
    injection.numbers = m_numbers.data();
    for (int d = 0; d < Dim; ++d) {
      injection.lower[d] = static_cast<int>(box.lower[d]);
      injection.extent[d] = static_cast<int>(box.extent(d));
    }
    std::int64_t nodes = 0;
    for (int f = 0; f < m_wavefield.fields; ++f) {
      nodes = points.injection(m_wavefield.next[f], series, 0, scale(f), factor, injection.points);
      m_times.injection[f] = injection;
    }
    NumberNodes<T> number{
        injection.points.lists, m_wavefield.layout.strides[0], {}, {}, m_numbers.data()};
    for (int d = 0; d < Dim; ++d) {
      number.lower[d] = injection.lower[d];
      number.extent[d] = injection.extent[d];
    }
    launch("moho::wave::number_nodes", m_exec, nodes, number);
  }
  /// \brief Records p before each step. \param every steps from row to row of `rows`
  void record(const PointSet<T, Dim, Memory>& points, const PointSeries<T, Memory>& rows,
              std::int64_t every) {
    if (points.count() == 0 || rows.extent(0) == 0) return;
    SectionRecording<T>& recording = m_times.recording;
    points.recording(m_wavefield.now[0], rows, 0, m_propagator.pressure_factors(), recording);
    recording.count = points.count();
    recording.rows = static_cast<std::int64_t>(rows.extent(0));
    recording.next = static_cast<std::int64_t>(rows.stride(0));
    recording.every = every;
    recording.by_vector = points.reads_by_vector();
  }
  /// Returns what inject() set, for the first field.
  const SectionInjection<T>& injection() const { return m_times.injection[0]; }
  /// \brief Advances the wavefield by some steps.
  /// \param first row that the first step injects, and time that it records
  /// \param direction 1 or -1: from row to row
  /// \param count steps, up to largest_section_run \param work as in SectionRun
  template <template <class> class Work>
  void step(std::int64_t first, std::int64_t direction, std::int64_t count, const Work<T>& work) {
    const Scheme<T, Dim, Memory>& scheme = m_propagator.scheme();
    SectionArguments<T> arguments;
    for (AllLayers<T>& of_parity : arguments) {
      StepArguments<T> s;
      bind_step(scheme, m_propagator.medium_window(), m_wavefield, whole_box(scheme.grid()),
                scheme.reach(0), s);
      of_parity = bind_layers<T, Dim, Memory>(scheme, s, m_wavefield);
      m_wavefield.advance();
    }
    const StepArguments<T>& s = arguments[0].s;
    mirror_faces<T, Dim, Memory>(m_exec, scheme, m_wavefield.layout.window, s, {s.now[0], s.now[1]},
                                 m_wavefield.fields, T(-1));
    m_times.count = static_cast<int>(count);
    m_times.first = first;
    m_times.direction = direction;
    kernel::visit_stencil<Work<T>::stencils.bits>(scheme.stencil(), [&](auto stencil) {
      section_run_of<Work, decltype(stencil)::value, Memory, T>(
          m_exec, arguments, !scheme.layers().empty(), m_times, work);
    });
    if (count % 2 != 0) m_wavefield.advance();
  }

 private:
  Instance<Memory> m_exec;
  const Propagator<T, Dim, Memory>& m_propagator;
  Wavefield<T, Dim, Memory>& m_wavefield;
  SectionTimes<T> m_times{};
  Storage<std::int32_t, Memory> m_numbers;
  bool m_possible = false;
};

/// Function of RunOptions::several.
using SeveralSteps = std::function<std::int64_t(std::int64_t time, std::int64_t max)>;

/// \brief Returns the function that advances a wavefield by several steps in a launch; empty if
/// its steps are launched one by one.
/// \param exec,propagator,wavefield of the run; the last two outlive the function
/// \param prepare prepare(runs) sets injection and recording of SectionRuns
/// \param step step(runs, time, count) advances by up to `count` steps and returns their number
template <class T, int Dim, class Memory, class Prepare, class Step>
SeveralSteps several_steps(const Instance<Memory>& exec,
                           const Propagator<T, Dim, Memory>& propagator,
                           Wavefield<T, Dim, Memory>& wavefield, const Prepare& prepare,
                           const Step& step) {
  if constexpr (has_section_runs<Dim, Memory>()) {
    const auto runs = std::make_shared<SectionRuns<T, Dim, Memory>>(exec, propagator, wavefield);
    if (runs->possible()) {
      prepare(*runs);
      return [runs, step](std::int64_t time, std::int64_t steps) -> std::int64_t {
        return step(*runs, time, std::min<std::int64_t>(steps, largest_section_run));
      };
    }
  }
  (void)exec, (void)propagator, (void)wavefield, (void)prepare, (void)step;
  return {};
}

}  // namespace moho::wave::detail

/// \cond
#if defined(MOHO_WAVE_KERNELS) && defined(KOKKOS_ENABLE_CUDA)
namespace moho::wave::detail {
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, KeepSection, Stencil::isotropic,
                 ::Kokkos::CudaSpace)
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, KeepSection,
                 Stencil::variable_density, ::Kokkos::CudaSpace)
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, KeepSection, Stencil::vti,
                 ::Kokkos::CudaSpace)
}  // namespace moho::wave::detail
#endif
/// \endcond
