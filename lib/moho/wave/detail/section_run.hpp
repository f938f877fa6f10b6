// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Several steps of a small section in one launch.
///
/// A launch costs more than the work of a step on 10^5 nodes. Here all threads of a device meet
/// after each step instead. The owner of a node steps it, adds what the sources inject there, and
/// writes its images beyond free surfaces; other threads record the receivers. Results have the
/// bits of single steps (section_step.hpp) with inject_and_record().
///
/// The kernel takes its threads as a `Team`: rank() and size() of the threads, barrier() of all of
/// them, and sum() over `lanes` threads whose ranks follow each other. section_launch.hpp has the
/// team of CUDA.

#include <moho/core/box.hpp>
#include <moho/wave/detail/point_kernels.hpp>
#include <moho/wave/detail/section_step.hpp>

#include <cstdint>

namespace moho::wave::detail {

/// Most steps of a launch: arguments hold a pointer for each.
inline constexpr int largest_section_run = 64;
/// Largest radius of such steps; marches and single steps have all radii.
inline constexpr int largest_section_run_radius = 4;

/// Makes a thread read again what it has stored, so that sums have the rounding of two launches.
KOKKOS_FORCEINLINE_FUNCTION void end_of_store() {
#ifdef __CUDA_ARCH__
  __threadfence_block();
#endif
}

/// Amplitudes that points inject in the steps of a run, by node.
template <class T>
struct SectionInjection {
  Inject<T> points;                   ///< of row 0; without a field
  std::int64_t rows = 0;              ///< rows of amplitudes; other rows inject nothing
  std::int64_t next = 0;              ///< elements from row to row
  const std::int32_t* numbers;        ///< by node of the box, z fastest: number in the lists, or -1
  int lower[2] = {}, extent[2] = {};  ///< the box: x, z

  /// Returns the number of a node in the lists; -1 for nodes without a weight.
  KOKKOS_FORCEINLINE_FUNCTION int number(int x, int z) const {
    const int i = x - lower[0], k = z - lower[1];
    if (i < 0 || i >= extent[0] || k < 0 || k >= extent[1]) return -1;
    return numbers[i * extent[1] + k];
  }
  /// Returns what row `row` adds at a node, of a number that is not negative.
  KOKKOS_FORCEINLINE_FUNCTION T value(int number, std::int64_t row) const {
    Inject<T> own = points;
    own.amplitudes += row * next;
    return own.value(number);
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
  /// Records the field, from node (0, 0), with all threads of a team; the last ones begin.
  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team, const T* field,
                                              std::int64_t time) const {
    if (count == 0) return;
    const std::int64_t row = row_of(time);
    if (row < 0) return;
    RecordTerm<T, 2> own = term;
    own.field = field;
    T* const to = values + row * next;
    const std::int64_t last = team.size() - 1 - team.rank();
    if (!by_vector) {
      const RecordByThread<T, 2> record{own, to};
      for (std::int64_t n = last; n < count; n += team.size()) record(n);
      return;
    }
    const auto lane = static_cast<int>(team.rank() % Team::lanes);
    for (std::int64_t n = last / Team::lanes; n < count; n += team.size() / Team::lanes) {
      const Window<2> window = own.points.windows[n];
      if (!own.takes(window)) continue;
      const T* const weight = own.points.of(n);
      T sum = T(0);
      for (int i = lane; i < own.nodes(window); i += Team::lanes) sum += own(window, weight, n, i);
      sum = team.sum(sum);
      if (lane == 0) to[n] = sum;
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

/// What a run does besides: keeps the values of a box after steps, such as snapshots.
template <class T>
struct KeepSection {
  T* to[largest_section_run] = {};   ///< by step: values of p, followed by those of q; null: none
  int lower[2] = {}, upper[2] = {};  ///< the box: x, z
  int fields = 0;                    ///< fields that are kept

  template <Stencil stencil, int radius>
  KOKKOS_FORCEINLINE_FUNCTION void before(const StepArguments<T>&, int, std::int64_t, int,
                                          int) const {}
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

/// What the steps of a run exchange with points, and the times of the steps.
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
/// Each node of a step is passed to work.before<stencil, radius>(arguments, step, row, x, z) and,
/// when its next values are complete, to work.after(arguments, step, x, z, element).
template <Stencil stencil, class T, int radius, bool layered, class Work>
struct SectionRun {
  using Value = T;
  using Step = SectionStep<stencil, T, radius, layered>;
  Step steps[2];  ///< of even and odd steps, whose time levels are exchanged
  SectionTimes<T> times;
  Work work;

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    for (int k = 0; k < times.count; ++k) {
      const Step& step = steps[k & 1];
      const std::int64_t row = times.first + times.direction * k;
      for (std::int64_t n = team.rank(); n < step.threads.nodes; n += team.size()) {
        node(step, k, row, n);
      }
      times.recording(team, step.l.s.now[0], row);
      if (k + 1 < times.count) team.barrier();
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void node(const Step& step, int k, std::int64_t row,
                                        std::int64_t n) const {
    const StepArguments<T>& s = step.l.s;
    int shot;
    int at[2];
    if (!step.threads.place(s, n, shot, at[0], at[1])) return;
    const int x = at[0], z = at[1];
    const std::int64_t i = s.flat(x, s.lower[1], z);
    work.template before<stencil, radius>(s, k, row, x, z);
    step.step(s, x, z, 0);
    constexpr int fields = kernel::field_count<stencil>;
    if (times.injection[0].has(row)) {
      const int number = times.injection[0].number(x, z);
      if (number >= 0) {
        end_of_store();
        for (int f = 0; f < fields; ++f) {
          s.next[f][i] += times.injection[f].value(number, row);
        }
      }
    }
    for (int f = 0; f < fields; ++f) times.images(at, s.stride_x, s.next[f] + i);
    work.after(s, k, x, z, i);
  }
};

}  // namespace moho::wave::detail
