// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Several steps of a small section in one launch.
///
/// All threads of the launch synchronise after each step. The thread of a node steps it, adds the
/// injected amplitudes, and writes its images beyond free surfaces. Other threads record the
/// receivers. Results have the bits of single steps (section_step.hpp) with inject_and_record().
///
/// The kernel takes its threads as a `Team`: rank() and size() of the threads; arrive() and wait(),
/// the halves of a barrier of all of them; and sum() and get() among `lanes` threads whose ranks
/// follow each other. section_launch.hpp has the team of CUDA.

#include <moho/core/box.hpp>
#include <moho/wave/detail/point_kernels.hpp>
#include <moho/wave/detail/section_step.hpp>

#include <cstdint>

namespace moho::wave::detail {

/// Most steps of a launch: arguments hold a pointer for each.
inline constexpr int largest_section_run = 64;
/// Largest radius of such steps; marches and single steps have all radii.
inline constexpr int largest_section_run_radius = 4;

/// Orders the loads of a thread after its stores, so that sums have the rounding of two launches.
KOKKOS_FORCEINLINE_FUNCTION void end_of_store() {
#ifdef __CUDA_ARCH__
  __threadfence_block();
#endif
}

/// Requests that the second-level cache loads an element.
KOKKOS_FORCEINLINE_FUNCTION void prefetch_to_cache(const void* element) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" : : "l"(element));
#else
  (void)element;
#endif
}

/// Amplitudes that points inject in the steps of a run, by node.
template <class T>
struct SectionInjection {
  Inject<T> points{};     ///< of row 0; without a field
  std::int64_t rows = 0;  ///< rows of amplitudes; other rows inject nothing
  std::int64_t next = 0;  ///< elements from row to row
  const std::int32_t* numbers =
      nullptr;                        ///< by node of the box, z fastest: number in the lists, or -1
  int lower[2] = {}, extent[2] = {};  ///< the box: x, z

  /// Returns the number of a node in the lists; -1 for nodes without a weight.
  KOKKOS_FORCEINLINE_FUNCTION int number(int x, int z) const {
    const int i = x - lower[0], k = z - lower[1];
    if (i < 0 || i >= extent[0] || k < 0 || k >= extent[1]) return -1;
    return numbers[i * extent[1] + k];
  }
  /// Returns the points with the amplitudes of a row.
  KOKKOS_FORCEINLINE_FUNCTION Inject<T> at(std::int64_t row) const {
    Inject<T> own = points;
    own.amplitudes += row * next;
    return own;
  }
  /// Returns true for rows with amplitudes.
  KOKKOS_FORCEINLINE_FUNCTION bool has(std::int64_t row) const { return row >= 0 && row < rows; }
};

/// Functor that enters the number of each node of the lists in SectionInjection::numbers.
template <class T>
struct NumberNodes {
  NodeListPointers<T> lists;
  std::int64_t stride_x;
  int lower[2], extent[2];
  std::int32_t* numbers;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t element = lists.elements[n];
    const auto x = static_cast<int>(element / stride_x);
    const auto z = static_cast<int>(element - x * stride_x);
    numbers[(x - lower[0]) * extent[1] + z - lower[1]] = static_cast<std::int32_t>(n);
  }
};

/// Receivers that record the current values before each step of a run.
template <class T>
struct SectionRecording {
  RecordTerm<T, 2> term{};  ///< without a field
  T* values = nullptr;      ///< row 0
  std::int64_t count = 0;   ///< receivers; 0: nothing is recorded
  std::int64_t rows = 0;    ///< rows of the values
  std::int64_t next = 0;    ///< elements from row to row
  std::int64_t every = 1;   ///< steps from row to row
  bool by_vector = false;   ///< PointSet::reads_by_vector()

  /// Returns the row of a time in steps; -1: the time is not recorded.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of(std::int64_t time) const {
    return time % every == 0 && time / every < rows ? time / every : -1;
  }
  /// Returns the first receiver of the lanes of a thread: the last threads begin.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first(const Team& team) const {
    return (team.size() - 1 - team.rank()) / Team::lanes;
  }
  /// Returns the window of the first receiver of a thread, which it reads once in a run.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION Window<2> first_window(const Team& team) const {
    const std::int64_t n = first(team);
    return n < count ? term.points.windows[n] : Window<2>{};
  }
  /// \brief Records the field with all threads of a team, the lanes of each for a receiver.
  ///
  /// The sums have the order of RecordByVector or RecordByThread.
  /// \param field node (0, 0) \param window first_window()
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team, const T* field, std::int64_t time,
                                              Window<2> window) const {
    std::int64_t n = first(team);
    if (n >= count) return;
    const std::int64_t row = row_of(time);
    if (row < 0) return;
    RecordTerm<T, 2> own = term;
    own.field = field;
    T* const to = values + row * next;
    const auto lane = static_cast<int>(team.rank() % Team::lanes);
    for (;;) {
      if (own.takes(window)) {
        const T* const weight = own.points.of(n);
        const int nodes = own.nodes(window);
        T sum = T(0);
        for (int begin = 0; begin < nodes; begin += Team::lanes) {
          T a = 0, b = 0;
          if (begin + lane < nodes) own.factors(window, weight, n, begin + lane, a, b);
          if (by_vector) {
            sum += a * b;
            continue;
          }
          for (int i = 0; i < Team::lanes && begin + i < nodes; ++i) {
            sum += team.get(a, i) * team.get(b, i);
          }
        }
        if (by_vector) sum = team.sum(sum);
        if (lane == 0) to[n] = sum;
      }
      n += team.size() / Team::lanes;
      if (n >= count) return;
      window = own.points.windows[n];
    }
  }
};

/// Free surfaces of a section, whose images beyond the grid follow each node.
struct SectionImages {
  int radius = 0;                     ///< of the step
  bool lower[2] = {}, upper[2] = {};  ///< free surfaces: x, z
  int last[2] = {};                   ///< last node of the grid

  /// Writes the images of the value of a node.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int (&node)[2], std::int64_t stride_x,
                                              T* at) const {
    for (int d = 0; d < 2; ++d) {
      const std::int64_t stride = d == 0 ? stride_x : 1;
      const int below = node[d], above = last[d] - node[d];
      if (lower[d] && below >= 1 && below <= radius) at[-2 * below * stride] = -*at;
      if (upper[d] && above >= 1 && above <= radius) at[2 * above * stride] = -*at;
    }
  }
};

/// Additional work of a run: copies the values of a box after steps, such as snapshots.
template <class T>
struct KeepSection {
  static constexpr bool computes = false;  ///< copies only
  static constexpr StencilSet stencils = layer_march_stencils;
  T* to[largest_section_run] = {};   ///< by step: values of p, followed by those of q; null: none
  int lower[2] = {}, upper[2] = {};  ///< the box: x, z
  int fields = 0;                    ///< fields that are kept

  struct Sums {};
  KOKKOS_FORCEINLINE_FUNCTION Sums load(int, int) const { return {}; }
  KOKKOS_FORCEINLINE_FUNCTION void store(int, int, const Sums&) const {}
  struct Ahead {};
  KOKKOS_FORCEINLINE_FUNCTION Ahead look_ahead(int, std::int64_t, int, int, int) const {
    return {};
  }
  template <Stencil stencil>
  KOKKOS_FORCEINLINE_FUNCTION void see(const StepArguments<T>&, const Ahead&, Sums&, int, int, int,
                                       std::int64_t, T, T) const {}
  /// Keeps the next values of a node. \param at its element, from node (0, 0)
  KOKKOS_FORCEINLINE_FUNCTION void after(const StepArguments<T>& s, int step, int x, int z,
                                         std::int64_t at) const {
    T* const values = to[step];
    if (values == nullptr || x < lower[0] || x >= upper[0] || z < lower[1] || z >= upper[1]) return;
    const std::int64_t rows = upper[0] - lower[0], row = upper[1] - lower[1];
    const std::int64_t i = (x - lower[0]) * row + z - lower[1];
    for (int f = 0; f < fields; ++f) values[f * rows * row + i] = s.next[f][at];
  }
};

/// Injection, recording, free surfaces and times of the steps of a run.
template <class T>
struct SectionTimes {
  int count = 0;                          ///< steps of the launch, up to largest_section_run
  std::int64_t first = 0;                 ///< row that the first step injects, and time it records
  std::int64_t direction = 1;             ///< 1 or -1: from row to row
  SectionInjection<T> injection[2] = {};  ///< by field: with the factors of the field
  SectionRecording<T> recording{};        ///< of the first field
  SectionImages images{};
};

/// \brief Kernel of several steps of a section, for all threads of a team.
///
/// A thread loads amplitudes and snapshots of the next step while it waits at the barrier. Factors
/// and sums of its first node stay in its registers during the run.
/// \tparam Work additional work at each node of each step: load() and store() move its sums,
///   look_ahead() loads its operands, see() receives the second derivatives of the current values,
///   after() follows the step
template <Stencil stencil, class T, int radius, bool layered, class Work>
struct SectionRun {
  using Value = T;
  using Step = SectionStep<stencil, T, radius, layered>;
  static constexpr int fields = kernel::field_count<stencil>;
  /// Threads of a block on a device. A multiprocessor has 896 of them, with 72 registers each.
  static constexpr int block = Work::computes ? 896 : 448;
  static constexpr int blocks = 896 / block;  ///< on a multiprocessor
  Step steps[2];  ///< of even and odd steps, whose time levels are exchanged
  SectionTimes<T> times;
  Work work;

  /// Node of a thread.
  struct Node {
    int x = 0, z = 0;
    int number = -1;  ///< in the lists of injection
    bool valid = false;
    typename Step::Factors factors{};
    typename Work::Sums sums{};
  };
  /// Operands of a node that are loaded before the barrier.
  struct Ahead {
    T sum[fields], share[fields];  ///< of injection
    typename Work::Ahead work;
  };

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(Team& team) const {
    const std::int64_t nodes = steps[0].threads.nodes;
    Node first = find(team.rank());
    const Window<2> window = times.recording.first_window(team);
    Ahead ahead = look_ahead(first, 0);
    for (int k = 0;;) {
      const Step& own = steps[k & 1];
      for (std::int64_t n = team.rank(); n < nodes; n += team.size()) {
        // one call of step(): two would be compiled with different roundings
        const bool kept = n == team.rank();
        Node node = first;
        Ahead here = ahead;
        if (!kept) {
          node = find(n);
          here = look_ahead(node, k);
        }
        if (!node.valid) continue;
        step(own, k, node, here);
        if (kept) {
          first.sums = node.sums;
        } else {
          work.store(node.x, node.z, node.sums);
        }
      }
      times.recording(team, own.l.s.now[0], row(k), window);
      if (++k == times.count) break;
      team.arrive();
      ahead = look_ahead(first, k);
      team.wait();
    }
    if (first.valid) work.store(first.x, first.z, first.sums);
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row(int k) const {
    return times.first + times.direction * k;
  }
  KOKKOS_FORCEINLINE_FUNCTION Node find(std::int64_t n) const {
    Node node;
    int shot;
    node.valid =
        n < steps[0].threads.nodes && steps[0].threads.place(steps[0].l.s, n, shot, node.x, node.z);
    if (!node.valid) return node;
    if (times.injection[0].rows > 0) node.number = times.injection[0].number(node.x, node.z);
    node.factors = Step::factors(steps[0].l.s, node.x, node.z);
    node.sums = work.load(node.x, node.z);
    return node;
  }
  KOKKOS_FORCEINLINE_FUNCTION Ahead look_ahead(const Node& node, int k) const {
    Ahead ahead{};
    if (!node.valid) return ahead;
    const bool injects = node.number >= 0 && times.injection[0].has(row(k));
    for (int f = 0; f < fields && injects; ++f) {
      const Inject<T> points = times.injection[f].at(row(k));
      ahead.sum[f] = points.sum(node.number);
      ahead.share[f] = points.share(node.number);
    }
    ahead.work = work.look_ahead(k, row(k), node.x, node.z, injects ? node.number : -1);
    return ahead;
  }
  KOKKOS_FORCEINLINE_FUNCTION void step(const Step& own, int k, Node& node,
                                        const Ahead& ahead) const {
    const StepArguments<T>& s = own.l.s;
    const int at[2] = {node.x, node.z};
    const std::int64_t i = s.flat(node.x, s.lower[1], node.z);
    const bool injects = node.number >= 0 && times.injection[0].has(row(k));
    own.step(s, node.x, node.z, 0, node.factors, [&](T second_x, T second_z) {
      work.template see<stencil>(s, ahead.work, node.sums, k, node.x, node.z, i, second_x,
                                 second_z);
    });
    if (injects) {
      end_of_store();
      for (int f = 0; f < fields; ++f) s.next[f][i] += ahead.sum[f] * ahead.share[f];
    }
    for (int f = 0; f < fields; ++f) times.images(at, s.stride_x, s.next[f] + i);
    work.after(s, k, node.x, node.z, i);
  }
};

}  // namespace moho::wave::detail
