// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loop over time steps, forwards and backwards, and the boxes that the steps advance.

#include <moho/core/instances.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// \brief Nodes that each step of a run advances; elsewhere the wavefield is at rest.
///
/// Before each step run_steps() calls box() for the nodes of the step. It adds RunOptions::min_box
/// to every box, and the box of the previous step unless may_shrink().
template <class T, int Dim, class Memory>
struct Domain {
  virtual ~Domain() = default;
  /// Returns the nodes of the step between the times step * dt and (step + 1) * dt.
  ///
  /// The nodes are the same in either direction.
  virtual Box<Dim> box(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                       const Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) = 0;
  /// Returns true if a box may be smaller than the previous one.
  virtual bool may_shrink() const { return false; }
  /// Returns true if nodes outside a shrinking box are zeroed; false keeps their last values.
  ///
  /// Steps near these nodes read the last values. Imaging with them is thirty times as exact as
  /// with zeros, which truncate the wavefield.
  virtual bool clears_outside() const { return true; }
};

/// Domain that advances the complete grid in every step.
template <class T, int Dim, class Memory>
struct WholeDomain : Domain<T, Dim, Memory> {
  Box<Dim> box(const Instance<Memory>&, const Propagator<T, Dim, Memory>& propagator,
               const Wavefield<T, Dim, Memory>&, std::int64_t) override {
    return whole_box(propagator.grid());
  }
};

/// \brief History of the boxes that the steps of a run advanced.
///
/// Consecutive steps with equal boxes share an entry.
template <int Dim>
class BoxHistory {
 public:
  /// Adds the box of the next step.
  void add(const Box<Dim>& box) {
    if (m_entries.empty() || !(m_entries.back().box == box)) m_entries.push_back({m_steps, box});
    ++m_steps;
  }
  /// Returns the number of steps.
  std::int64_t steps() const { return m_steps; }
  /// Returns the number of boxes that differ from the previous one.
  std::size_t changes() const { return m_entries.size(); }
  /// Returns the box of a step. \throws InputError for steps outside the history
  Box<Dim> at(std::int64_t step) const {
    if (step < 0 || step >= m_steps) {
      throw InputError(concat("step ", step, " has no box (allowed: 0 to ", m_steps - 1,
                              ", the steps of the run): record the whole run"));
    }
    const auto after =
        std::upper_bound(m_entries.begin(), m_entries.end(), step,
                         [](std::int64_t n, const Entry& entry) { return n < entry.first; });
    return std::prev(after)->box;
  }
  /// Returns the history with every box grown by `nodes` on all sides and clipped to the grid.
  BoxHistory grown(std::int64_t nodes, const Grid<Dim>& grid) const {
    BoxHistory result;
    for (std::int64_t n = 0; n < m_steps; ++n) {
      result.add(intersection(at(n).grown(nodes), whole_box(grid)));
    }
    return result;
  }
  /// Returns the history as numbers, for files.
  ///
  /// The first number is the number of steps. For every entry follow its first step, lower[0] ...
  /// lower[Dim - 1] and upper[0] ... upper[Dim - 1], in the order of the grid's axes. A box
  /// includes its lower nodes and excludes its upper ones.
  std::vector<std::int64_t> numbers() const {
    std::vector<std::int64_t> result{m_steps};
    for (const Entry& entry : m_entries) {
      result.push_back(entry.first);
      for (int d = 0; d < Dim; ++d) result.push_back(entry.box.lower[d]);
      for (int d = 0; d < Dim; ++d) result.push_back(entry.box.upper[d]);
    }
    return result;
  }

 private:
  struct Entry {
    std::int64_t first;  ///< first step of the box
    Box<Dim> box;
  };
  std::vector<Entry> m_entries;
  std::int64_t m_steps = 0;
};

/// Domain that replays the boxes of an earlier run, in either direction.
template <class T, int Dim, class Memory>
class ReplayedDomain : public Domain<T, Dim, Memory> {
 public:
  /// Stores the boxes. \param clears the value of clears_outside()
  explicit ReplayedDomain(BoxHistory<Dim> history, bool clears = true)
      : m_history(std::move(history)), m_clears(clears) {}
  /// Returns the box of the step. \throws InputError for a step outside the history
  Box<Dim> box(const Instance<Memory>&, const Propagator<T, Dim, Memory>&,
               const Wavefield<T, Dim, Memory>&, std::int64_t step) override {
    return m_history.at(step);
  }
  /// Returns true: boxes shrink in a backward replay.
  bool may_shrink() const override { return true; }
  bool clears_outside() const override { return m_clears; }

 private:
  BoxHistory<Dim> m_history;
  bool m_clears;
};

/// Progress of a shot.
struct ShotProgress {
  std::int64_t step = 0;           ///< steps done
  std::int64_t steps = 0;          ///< total number of steps
  double seconds = 0.0;            ///< wall time since the first step
  double points_per_second = 0.0;  ///< nodes advanced per second since the first step
  double seconds_left = 0.0;       ///< estimate from the duration of the last steps
};

/// \brief Options of run_steps().
///
/// Times are counted in steps. The current time level of the wavefield is at `first` when the run
/// begins and at `last` when it ends. A run with `last` below `first` goes backwards. Callbacks
/// receive times in steps.
template <class T, int Dim, class Memory>
struct RunOptions {
  std::int64_t first = 0;                    ///< time of wavefield.now when the run begins
  std::int64_t last = 0;                     ///< time of wavefield.now when it ends
  Domain<T, Dim, Memory>* domain = nullptr;  ///< nodes of every step; null: the complete grid
  Box<Dim> min_box{};  ///< nodes that every box includes, such as those of sources
  /// Called before every step, and at the end, with the time of wavefield.now: record here.
  std::function<void(std::int64_t time)> present = {};
  /// Called when the step from `time` is submitted, before wavefield.next becomes current.
  ///
  /// Add sources to wavefield.next here.
  std::function<void(std::int64_t time, const Box<Dim>& box)> stepped = {};
  /// Called after every step with the new time of wavefield.now and the nodes of the step.
  std::function<void(std::int64_t time, const Box<Dim>& box)> advanced = {};
  /// \brief Called before a step from `time` in place of all of the above; it may do several.
  ///
  /// It advances the wavefield by up to `max` steps of the complete grid, does what the other
  /// callbacks do in these steps, and returns their number; 0: it did nothing, and run_steps()
  /// does the next step. Not called with a domain.
  std::function<std::int64_t(std::int64_t time, std::int64_t max)> several = {};
  /// Steps between checks for NaN and overflow, with one check at the end; 0: no checks. With
  /// kernel::steps_at_once or more, steps by `several` have checks every
  /// kernel::steps_between_checks or more.
  std::int64_t check_every = 0;
  /// Called on the host about twice a second. Each call costs a fence.
  std::function<void(const ShotProgress&)> progress = {};
};

/// Report of run_steps().
template <int Dim>
struct RunReport {
  double seconds = 0.0;       ///< wall time of the run, callbacks included
  double points = 0.0;        ///< nodes advanced, summed over all steps
  double whole_points = 0.0;  ///< nodes of the grid times steps
  BoxHistory<Dim> boxes;      ///< nodes of each step, in the order of the run
};

/// \brief Steps a wavefield from one time to another, forwards or backwards.
///
/// Steps are the same in both directions. In media and with faces that conserve energy they
/// propagate backwards in time (call Wavefield::reverse() before). In all others they are the exact
/// adjoint (docs/theory/waves.md). The function returns after the last step is complete.
/// \param exec execution instance of the steps
/// \param propagator of the medium
/// \param wavefield state at `first`; clear() it before for a wavefield at rest
/// \param options times, nodes, callbacks
/// \throws NotFinite when the wavefield is no longer finite; Stopped before a step, see StopFlag
template <class T, int Dim, class Memory>
RunReport<Dim> run_steps(const InstanceOf<Memory>& exec,
                         const Propagator<T, Dim, Memory>& propagator,
                         Wavefield<T, Dim, Memory>& wavefield,
                         const RunOptions<T, Dim, Memory>& options);

namespace kernel {

/// Most steps of a call of RunOptions::several.
inline constexpr std::int64_t steps_at_once = 64;
/// Least number of steps by RunOptions::several between checks, each of which takes a fence.
inline constexpr std::int64_t steps_between_checks = 512;

/// Timer of progress reports.
class ProgressTimer {
 public:
  explicit ProgressTimer(std::int64_t steps) { m_report.steps = steps; }
  /// Returns true after the steps that require a report.
  bool due(std::int64_t step) const { return step >= m_next; }
  /// Returns the report; requires a fence before, so that the steps are complete.
  const ShotProgress& report(std::int64_t step, double points) {
    const double now = seconds();
    const std::int64_t steps = std::max<std::int64_t>(step - m_report.step, 1);
    const double latest = (now - m_report.seconds) / static_cast<double>(steps);
    // running mean: steps of an expanding domain become slower
    m_per_step = m_per_step > 0.0 ? 0.75 * m_per_step + 0.25 * latest : latest;
    m_report.step = step;
    m_report.seconds = now;
    m_report.points_per_second = now > 0.0 ? points / now : 0.0;
    m_report.seconds_left = m_per_step * static_cast<double>(m_report.steps - step);
    const double wanted = latest > 0.0 ? 0.5 / latest : 1.0e6;
    // steps may become slower: at most ten times as many steps as before the last report
    m_next = step +
             static_cast<std::int64_t>(std::clamp(wanted, 1.0, 10.0 * static_cast<double>(steps)));
    return m_report;
  }
  /// Returns the seconds since construction.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  ShotProgress m_report;
  std::int64_t m_next = 1;
  double m_per_step = 0.0;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace kernel

namespace detail {

/// Functor that sets a box of a padded array to zero.
template <class T, int Dim>
struct ClearBox {
  T* field;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    field[layout.flat(box.node(n))] = T(0);
  }
};

/// Zeroes the nodes of `outer` outside `inner` in wavefield.next.
template <class T, int Dim, class Memory>
void clear_outside(const Instance<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield,
                   const Box<Dim>& inner, Box<Dim> outer) {
  outer = intersection(outer, wavefield.layout.box());
  for (int d = 0; d < Dim; ++d) {
    for (const bool lower : {true, false}) {
      Box<Dim> slab = outer;
      if (lower) {
        slab.upper[d] = std::min(outer.upper[d], inner.lower[d]);
      } else {
        slab.lower[d] = std::max(outer.lower[d], inner.upper[d]);
      }
      for (int f = 0; f < wavefield.fields; ++f) {
        launch("moho::wave::clear_box", exec, slab.size(),
               ClearBox<T, Dim>{wavefield.next[f].data(), wavefield.layout, slab});
      }
    }
    outer.lower[d] = std::max(outer.lower[d], inner.lower[d]);
    outer.upper[d] = std::min(outer.upper[d], inner.upper[d]);
  }
}

/// Throws NotFinite for values of the box that are not finite; of a grid in parts, on all parts.
template <class T, int Dim, class Memory>
void check_finite(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                  const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box,
                  std::int64_t step) {
  if (propagator.part() == nullptr) {
    wave::check_finite<T, Dim, Memory>(exec, propagator.grid(), wavefield, box, step);
    return;
  }
  const std::int64_t nodes = propagator.grid().size();
  std::int64_t min = INT64_MAX;
  for (int f = 0; f < wavefield.fields; ++f) {
    const Amplitude found =
        amplitude<T, Dim, Memory>(exec, wavefield.layout, wavefield.now[f], propagator.own(box));
    if (found.bad >= 0) min = std::min(min, f * nodes + found.bad);
  }
  min = propagator.part()->min(min);
  if (min == INT64_MAX) return;
  throw not_finite(propagator.grid(), min % nodes, step, static_cast<int>(min / nodes));
}

}  // namespace detail

template <class T, int Dim, class Memory>
RunReport<Dim> run_steps(const InstanceOf<Memory>& exec,
                         const Propagator<T, Dim, Memory>& propagator,
                         Wavefield<T, Dim, Memory>& wavefield,
                         const RunOptions<T, Dim, Memory>& options) {
  RunReport<Dim> report;
  const Box<Dim> whole = whole_box(propagator.grid());
  const std::int64_t direction = options.last < options.first ? -1 : 1;
  const std::int64_t steps = direction * (options.last - options.first);
  exec.fence();
  // parts of a grid step several boxes; nodes outside a box that shrank are not at rest
  const bool one_box =
      propagator.part() == nullptr && (options.domain == nullptr || !options.domain->may_shrink());
  const detail::PsiInPlace<T, Wavefield<T, Dim, Memory>> in_place(
      wavefield, one_box && propagator.scheme().steps_psi_in_place());
  kernel::ProgressTimer pace(steps);
  Box<Dim> box{}, former{};
  std::int64_t done = 0, checked = 0;
  // after `count` steps: the report and the check for overflow, `every` steps after the last one
  const auto end_steps = [&](std::int64_t count, std::int64_t every) {
    report.points += static_cast<double>(propagator.own(box).size()) * static_cast<double>(count);
    report.whole_points +=
        static_cast<double>(propagator.own(whole).size()) * static_cast<double>(count);
    for (std::int64_t n = 0; n < count; ++n) report.boxes.add(box);
    done += count;
    if (every > 0 && (done / every > checked / every || done == steps)) {
      detail::check_finite<T, Dim, Memory>(exec, propagator, wavefield, box, done);
      checked = done;
    }
  };
  const auto report_progress = [&] {
    if (options.progress && (pace.due(done) || done == steps)) {
      exec.fence();
      options.progress(pace.report(done, report.points));
    }
  };
  for (;;) {
    const std::int64_t time = options.first + direction * done;
    if (options.several && options.domain == nullptr && done < steps) {
      exec.check_stop();
      std::int64_t max = steps - done, every = options.check_every;
      if (every >= kernel::steps_at_once) {
        every = std::max(every, kernel::steps_between_checks);
      } else if (every > 0) {
        max = std::min(max, every - done % every);
      }
      if (const std::int64_t count = options.several(time, max); count > 0) {
        box = former = whole;
        end_steps(count, every);
        report_progress();
        continue;
      }
    }
    if (options.present) options.present(time);
    if (done == steps) break;
    exec.check_stop();
    Box<Dim> next = whole;
    if (options.domain != nullptr) {
      const std::int64_t number = direction > 0 ? time : time - 1;
      const Box<Dim> requested = options.domain->box(exec, propagator, wavefield, number);
      next = intersection(hull(requested, options.min_box), whole);
      if (!options.domain->may_shrink()) next = hull(box, next);
    }
    propagator.step(exec, wavefield, next);
    // both time levels may be nonzero within the last two boxes
    if (options.domain == nullptr || options.domain->clears_outside()) {
      detail::clear_outside<T, Dim, Memory>(exec, wavefield, next, hull(former, box));
    }
    former = box;
    box = next;
    if (options.stepped) options.stepped(time, box);
    wavefield.advance();
    end_steps(1, options.check_every);
    if (options.advanced) options.advanced(time + direction, box);
    report_progress();
  }
  exec.fence();
  report.seconds = pace.seconds();
  return report;
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, run_steps)
}  // namespace moho::wave
#endif
/// \endcond
