// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Minimisation of a smooth function by limited-memory BFGS with reverse communication.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/instances.hpp>
#include <moho/optimize/detail/lbfgs_file.hpp>
#include <moho/optimize/detail/lbfgs_kernels.hpp>
#include <moho/optimize/lbfgs_types.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::optimize {

/// \brief Bounds and mask of the unknowns. Empty views: no bounds, and all unknowns vary.
template <class T, class Memory>
struct Constraints {
  Kokkos::View<const T*, Memory> lower;             ///< minima
  Kokkos::View<const T*, Memory> upper;             ///< maxima
  Kokkos::View<const unsigned char*, Memory> mask;  ///< 0: the unknown is constant
};

/// \brief L-BFGS by reverse communication (Nocedal 1980): the caller evaluates the function.
///
///     Lbfgs<float, Memory> search(exec, start, {.memory = 5, .iterations = 50});
///     while (search.wants() == Want::evaluation) {
///       const double f = survey(search.point(), gradient);
///       search.tell(exec, f, gradient);
///     }
///     // search.best(), search.reason(), search.message()
///
/// Vectors are in the memory of the instance and have the precision T. All sums are in double
/// precision and have the same bits for any number of host threads. LineSearch determines the
/// steps. Bounds are enforced by projection. Unknowns at a bound with the descent direction
/// pointing beyond it are fixed during an iteration, and directions are truncated at the bounds.
/// Between any two calls the state can be saved, and loaded by another process, which continues
/// with the same bits.
///
/// Memory: 2 * LbfgsOptions::memory + 5 vectors, and the bounds.
template <class T, class Memory>
class Lbfgs {
 public:
  using Vector = Kokkos::View<T*, Memory>;             ///< a vector of all unknowns
  using ConstVector = Kokkos::View<const T*, Memory>;  ///< a constant vector of all unknowns

  /// \param exec instance of the vectors; the constructor waits for it
  /// \param start initial point; it is copied
  /// \param options memory, tolerances, limits
  /// \param constraints bounds and mask; they are copied
  /// \throws InputError for an empty start, options out of range, or bounds of another size; for a
  /// lower bound above the upper one, and for a start outside of the bounds
  Lbfgs(const InstanceOf<Memory>& exec, const ConstVector& start, const LbfgsOptions& options = {},
        const Constraints<T, Memory>& constraints = {});

  /// Loads a search written by save().
  /// \throws FileError for truncated or damaged files, other versions and other precisions
  /// \param note receives the note of the file; null: files with a note are refused
  static Lbfgs load(const InstanceOf<Memory>& exec, const std::filesystem::path& path,
                    std::string* note = nullptr);
  /// Writes the complete state of the search atomically. \throws FileError
  /// \param note bytes of the caller; empty: the file has no note
  void save(const InstanceOf<Memory>& exec, const std::filesystem::path& path,
            const std::string& note = {}) const;

  /// Returns Want::evaluation if f and g at point() are required, Want::nothing if stopped.
  Want wants() const {
    return m_state.phase == detail::Phase::stopped ? Want::nothing : Want::evaluation;
  }
  /// Returns the point at which the function must be evaluated.
  ConstVector point() const { return m_point; }
  /// \brief Takes f and its gradient at point(), and computes the next point; waits for exec.
  ///
  /// If a value is not finite, a shorter step is tried.
  /// \throws InputError for a gradient of another size, if no evaluation is required, or if f or g
  /// at the start are not finite
  void tell(const InstanceOf<Memory>& exec, double f, const ConstVector& gradient);

  /// Sets a diagonal preconditioner (initial inverse Hessian), such as one from illumination.
  ///
  /// Positive factors are copied; an empty view means 1. Stored pairs are kept.
  /// \throws InputError for another size or a factor that is not positive and finite
  void precondition(const InstanceOf<Memory>& exec, const ConstVector& factors);
  /// Minimises another function from best() on, such as a new frequency band.
  ///
  /// Drops the stored pairs and requires an evaluation at best().
  void restart(const InstanceOf<Memory>& exec);
  /// Sets new limits of iterations, evaluations and ratio. \throws InputError if out of range
  void extend(std::int64_t iterations, std::int64_t evaluations, double ratio);

  /// Returns the best point so far: the start, or the result of the last iteration.
  ConstVector best() const { return m_x; }
  /// Returns the gradient at best(); 0 where the mask is 0.
  ConstVector best_gradient() const { return m_g; }
  /// Returns the value at best().
  double value() const { return m_state.f; }
  /// Returns the first value since the start or the last restart().
  double first_value() const { return m_state.first; }
  /// Returns the norm of the gradient of the free unknowns.
  double gradient_norm() const { return m_state.gradient; }
  /// Returns the number of iterations.
  std::int64_t iterations() const { return m_state.iterations; }
  /// Returns the number of evaluations.
  std::int64_t evaluations() const { return m_state.evaluations; }
  /// Returns the number of stored pairs of differences.
  int pairs() const { return m_state.pairs; }
  /// Returns the current trial step or the last step.
  double step() const { return m_state.step; }
  /// Returns how often the stored pairs were dropped because they gave no acceptable step.
  std::int64_t memory_resets() const { return m_state.memory_resets; }
  /// Returns the number of unknowns.
  std::int64_t count() const { return static_cast<std::int64_t>(m_x.extent(0)); }
  /// Returns the reason for the stop.
  StopReason reason() const { return m_state.stop; }
  /// Returns the reason for the stop as a text with numbers.
  std::string message() const { return detail::stop_message(m_state, m_options); }
  /// Returns the options of the constructor, with the changes by extend().
  const LbfgsOptions& options() const { return m_options; }
  /// Returns the memory of all vectors in bytes.
  std::size_t bytes() const;

 private:
  Lbfgs() = default;
  using Sums = detail::Doubles<4>;
  Vector vector(const Instance<Memory>& exec, const char* label) const {
    return allocate<Vector>(exec, label, static_cast<std::size_t>(m_count));
  }
  detail::BoundsOf<T> bounds() const {
    return {m_lower.size() > 0 ? m_lower.data() : nullptr,
            m_upper.size() > 0 ? m_upper.data() : nullptr};
  }
  bool bounded() const { return m_lower.size() > 0 || m_upper.size() > 0; }
  const unsigned char* mask() const { return m_mask.size() > 0 ? m_mask.data() : nullptr; }
  const T* scale() const { return m_scale.size() > 0 ? m_scale.data() : nullptr; }
  void allocate_work(const Instance<Memory>& exec);
  void take_gradient(const Instance<Memory>& exec, const ConstVector& from, const Vector& to) const;
  void take_step(const Instance<Memory>& exec, double step);
  void move(const Instance<Memory>& exec, const Vector& gradient, double f);
  void begin(const Instance<Memory>& exec);
  void descend(const Instance<Memory>& exec);
  void apply_memory(const Instance<Memory>& exec, const unsigned char* free);
  void stop(const Instance<Memory>& exec, StopReason reason);
  // Calls visit(vector) for all vectors of the state.
  template <class Self, class Visit>
  static void visit_vectors(Self& self, const Visit& visit);

  LbfgsOptions m_options;
  detail::LbfgsState m_state;
  LineSearch m_search;
  std::int64_t m_count = 0;
  Vector m_x, m_g, m_d, m_point, m_trial_gradient;
  std::vector<Vector> m_s, m_y;
  std::vector<Sums> m_sums;  ///< s . y, s . s, y . y and y . P y of each slot
  Vector m_lower, m_upper, m_scale;
  Kokkos::View<unsigned char*, Memory> m_mask, m_free;
};

template <class T, class Memory>
Lbfgs<T, Memory>::Lbfgs(const InstanceOf<Memory>& exec, const ConstVector& start,
                        const LbfgsOptions& options, const Constraints<T, Memory>& constraints)
    : m_options(options), m_count(static_cast<std::int64_t>(start.extent(0))) {
  check_options(options);
  if (m_count < 1) throw InputError("start: it has no unknowns (allowed: 1 or more)");
  const Instance<Memory>& instance = exec;
  const auto take = [&](const auto& from, auto& to, const char* name) {
    if (from.size() == 0) return;
    if (static_cast<std::int64_t>(from.size()) != m_count) {
      throw InputError(concat(name, ": it has ", from.size(), " elements (allowed: ", m_count,
                              ", one an unknown)"));
    }
    to = allocate<std::decay_t<decltype(to)>>(instance, name, from.size());
    copy(instance, to, from);
  };
  take(start, m_x, "start");
  take(constraints.lower, m_lower, "lower");
  take(constraints.upper, m_upper, "upper");
  take(constraints.mask, m_mask, "mask");
  const auto at = [&](std::int64_t i) {
    return concat("unknown ", i, ": ",
                  m_lower.size() > 0 ? concat(value_at(instance, m_lower.data() + i)) : "any",
                  " to ",
                  m_upper.size() > 0 ? concat(value_at(instance, m_upper.data() + i)) : "any");
  };
  std::int64_t bad = find_first("moho::optimize::check_start", instance, m_count,
                                detail::NotFinite<T>{m_x.data()});
  if (bad != none_found) {
    throw InputError(concat("start: unknown ", bad, " is ", value_at(instance, m_x.data() + bad),
                            " (allowed: finite numbers)"));
  }
  if (m_lower.size() > 0 && m_upper.size() > 0) {
    bad = find_first("moho::optimize::check_bounds", instance, m_count,
                     detail::Crossed<T>{m_lower.data(), m_upper.data()});
    if (bad != none_found) {
      throw InputError(concat("bounds: ", at(bad),
                              " holds nothing (allowed: lower bounds that do "
                              "not exceed upper ones): exchange them"));
    }
  }
  if (bounded()) {
    bad = find_first("moho::optimize::check_bounds", instance, m_count,
                     detail::Outside<T>{m_x.data(), bounds()});
    if (bad != none_found) {
      throw InputError(concat("start: it is ", value_at(instance, m_x.data() + bad),
                              " and outside of the bounds of ", at(bad),
                              " (allowed: inside): widen the bounds, or cut the start"));
    }
  }
  allocate_work(instance);
  copy(instance, m_point, m_x);
  instance.fence();
}

template <class T, class Memory>
void Lbfgs<T, Memory>::allocate_work(const Instance<Memory>& exec) {
  m_g = vector(exec, "moho::optimize::gradient");
  m_d = vector(exec, "moho::optimize::direction");
  m_point = vector(exec, "moho::optimize::point");
  m_sums.resize(static_cast<std::size_t>(m_options.memory));
  m_s.resize(m_sums.size());
  m_y.resize(m_sums.size());
  if (bounded() || m_mask.size() > 0) {
    m_free = allocate<Kokkos::View<unsigned char*, Memory>>(exec, "moho::optimize::free",
                                                            static_cast<std::size_t>(m_count));
  }
}

template <class T, class Memory>
std::size_t Lbfgs<T, Memory>::bytes() const {
  std::size_t count = m_lower.size() + m_upper.size() + m_scale.size() + m_x.size() + m_g.size() +
                      m_d.size() + m_point.size() + m_trial_gradient.size();
  for (const Vector& v : m_s) count += 2 * v.size();
  return count * sizeof(T) + m_mask.size() + m_free.size();
}

template <class T, class Memory>
void Lbfgs<T, Memory>::precondition(const InstanceOf<Memory>& exec, const ConstVector& factors) {
  if (factors.size() == 0) {
    m_scale = {};
    return;
  }
  if (static_cast<std::int64_t>(factors.size()) != m_count) {
    throw InputError(
        concat("factors: there are ", factors.size(), " (allowed: ", m_count, ", one an unknown)"));
  }
  const Instance<Memory>& instance = exec;
  const std::int64_t bad = find_first("moho::optimize::check_factors", instance, m_count,
                                      detail::NotPositive<T>{factors.data()});
  if (bad != none_found) {
    throw InputError(concat("factors: that of unknown ", bad, " is ",
                            value_at(instance, factors.data() + bad),
                            " (allowed: positive numbers)"));
  }
  if (m_scale.size() == 0) m_scale = vector(instance, "moho::optimize::factors");
  copy(instance, m_scale, factors);
  for (int k = 0; k < m_state.pairs; ++k) {
    const std::size_t slot = m_state.slot(k, m_options.memory);
    m_sums[slot] = reduce_blocks(
        "moho::optimize::pair_sums", instance, m_count,
        detail::PairSums<T>{{}, m_s[slot].data(), m_y[slot].data(), scale(), nullptr});
  }
  instance.fence();
}

template <class T, class Memory>
void Lbfgs<T, Memory>::restart(const InstanceOf<Memory>& exec) {
  m_state.pairs = 0;
  m_state.moved = 0;
  m_state.rises = 0;
  m_state.phase = detail::Phase::start;
  m_state.stop = StopReason::none;
  copy(Instance<Memory>(exec), m_point, m_x);
  exec.fence();
}

template <class T, class Memory>
void Lbfgs<T, Memory>::extend(std::int64_t iterations, std::int64_t evaluations, double ratio) {
  LbfgsOptions options = m_options;
  options.iterations = iterations;
  options.evaluations = evaluations;
  options.ratio = ratio;
  check_options(options);
  m_options = options;
}

template <class T, class Memory>
void Lbfgs<T, Memory>::take_gradient(const Instance<Memory>& exec, const ConstVector& from,
                                     const Vector& to) const {
  launch("moho::optimize::take_gradient", exec, m_count,
         detail::MaskedCopy<T>{from.data(), to.data(), mask()});
}

template <class T, class Memory>
void Lbfgs<T, Memory>::take_step(const Instance<Memory>& exec, double step) {
  m_state.step = step;
  launch("moho::optimize::take_step", exec, m_count,
         detail::TakeStep<T>{m_x.data(), m_d.data(), m_point.data(), bounds(), step});
  exec.fence();
}

template <class T, class Memory>
void Lbfgs<T, Memory>::tell(const InstanceOf<Memory>& exec, double f, const ConstVector& gradient) {
  const Instance<Memory>& instance = exec;
  if (wants() != Want::evaluation) {
    throw InputError(concat("tell: the search has stopped (", message(),
                            "; allowed: while wants() is evaluation): call restart() to go on"));
  }
  if (static_cast<std::int64_t>(gradient.size()) != m_count) {
    throw InputError(concat("gradient: it has ", gradient.size(), " elements (allowed: ", m_count,
                            ", one an unknown)"));
  }
  const std::int64_t bad = find_first("moho::optimize::check_gradient", instance, m_count,
                                      detail::NotFinite<T>{gradient.data()});
  const bool finite = std::isfinite(f) && bad == none_found;
  if (m_state.phase == detail::Phase::start) {
    if (!finite) {
      throw InputError(
          concat(bad == none_found ? concat("f is ", f)
                                   : concat("gradient: that of unknown ", bad, " is ",
                                            value_at(instance, gradient.data() + bad)),
                 " at the start (allowed: finite numbers): begin where the function is defined"));
    }
    ++m_state.evaluations;
    m_state.f = m_state.first = m_state.before = f;
    take_gradient(instance, gradient, m_g);
    m_state.phase = detail::Phase::search;
    begin(instance);
    return;
  }
  ++m_state.evaluations;
  const double evaluated_step = m_search.step();
  const double slope = finite
                           ? reduce_blocks("moho::optimize::slope", instance, m_count,
                                           detail::Dot<T>{{}, gradient.data(), m_d.data(), nullptr})
                                 .value[0]
                           : std::nan("");
  const LineSearch::Outcome outcome = m_search.tell(finite ? f : std::nan(""), slope);
  if (m_trial_gradient.size() == 0) m_trial_gradient = vector(instance, "moho::optimize::trial");
  if (finite && m_search.best() == evaluated_step) {
    take_gradient(instance, gradient, m_trial_gradient);
    m_state.has_trial = true;
  }
  if (outcome == LineSearch::Outcome::accepted) {
    move(instance, m_trial_gradient, f);
    return;
  }
  const bool enough = m_options.evaluations > 0 && m_state.evaluations >= m_options.evaluations;
  if (outcome == LineSearch::Outcome::evaluate && !enough) {
    take_step(instance, m_search.step());
    return;
  }
  if (m_state.has_trial && m_search.best() > 0.0 && m_search.best_value() < m_state.f) {
    take_step(instance, m_search.best());
    move(instance, m_trial_gradient, m_search.best_value());
  } else if (enough) {
    stop(instance, StopReason::evaluations);
  } else if (m_state.pairs > 0) {
    m_state.pairs = 0;
    ++m_state.memory_resets;
    begin(instance);
  } else {
    stop(instance, StopReason::search);
  }
}

// Makes the current point the best one, and stores the pair of differences.
template <class T, class Memory>
void Lbfgs<T, Memory>::move(const Instance<Memory>& exec, const Vector& gradient, double f) {
  const auto slot = static_cast<std::size_t>((m_state.newest + 1) % m_options.memory);
  if (m_s[slot].size() == 0) {
    m_s[slot] = vector(exec, "moho::optimize::s");
    m_y[slot] = vector(exec, "moho::optimize::y");
  }
  launch("moho::optimize::move", exec, m_count,
         detail::MovePair<T>{m_point.data(), gradient.data(), m_x.data(), m_g.data(),
                             m_s[slot].data(), m_y[slot].data()});
  const Sums sums =
      reduce_blocks("moho::optimize::pair_sums", exec, m_count,
                    detail::PairSums<T>{{}, m_s[slot].data(), m_y[slot].data(), scale(), nullptr});
  if (sums.value[0] > 1e-10 * std::sqrt(sums.value[1] * sums.value[2])) {
    m_sums[slot] = sums;
    m_state.newest = static_cast<int>(slot);
    m_state.pairs = std::min(m_state.pairs + 1, m_options.memory);
  } else {
    // the pair in the slot is lost
    m_state.pairs = std::min(m_state.pairs, m_options.memory - 1);
  }
  m_state.change = m_state.step * m_state.largest;
  m_state.before = m_state.f;
  m_state.f = f;
  m_state.moved = 1;
  if (m_state.f > m_state.before) ++m_state.rises;
  ++m_state.iterations;
  begin(exec);
}

template <class T, class Memory>
void Lbfgs<T, Memory>::stop(const Instance<Memory>& exec, StopReason reason) {
  m_state.phase = detail::Phase::stopped;
  m_state.stop = reason;
  copy(exec, m_point, m_x);
  exec.fence();
}

// Checks the stopping criteria, and begins an iteration unless one of them holds.
template <class T, class Memory>
void Lbfgs<T, Memory>::begin(const Instance<Memory>& exec) {
  const detail::PointSums sums =
      reduce_blocks("moho::optimize::find_free", exec, m_count,
                    detail::FindFree<T>{m_x.data(), m_g.data(), bounds(), mask(),
                                        m_free.size() > 0 ? m_free.data() : nullptr});
  m_state.gradient = std::sqrt(sums.gradient);
  m_state.held = sums.held;
  const double size = std::max(1.0, std::sqrt(sums.point));
  const double fall = m_state.before - m_state.f;
  if (m_state.gradient <= m_options.gradient * size || m_state.gradient == 0.0) {
    return stop(exec, StopReason::gradient);
  }
  if (m_options.ratio > 0.0 && m_state.f <= m_options.ratio * m_state.first) {
    return stop(exec, StopReason::ratio);
  }
  if (m_options.decrease > 0.0 && m_state.moved != 0 && fall >= 0.0 &&
      fall <= m_options.decrease * std::max(std::fabs(m_state.before), std::fabs(m_state.f))) {
    return stop(exec, StopReason::decrease);
  }
  if (m_state.rises >= 10) return stop(exec, StopReason::noise);
  if (m_options.iterations > 0 && m_state.iterations >= m_options.iterations) {
    return stop(exec, StopReason::iterations);
  }
  if (m_options.evaluations > 0 && m_state.evaluations >= m_options.evaluations) {
    return stop(exec, StopReason::evaluations);
  }
  descend(exec);
}

// Computes d = -H g by the two-loop recursion over the pairs.
template <class T, class Memory>
void Lbfgs<T, Memory>::apply_memory(const Instance<Memory>& exec, const unsigned char* free) {
  const auto sum = [&](const char* label, const auto& body) {
    return reduce_blocks(label, exec, m_count, body).value[0];
  };
  // usable pairs, the newest first
  std::vector<std::size_t> slots;
  std::vector<Sums> sums;
  for (int k = 0; k < m_state.pairs; ++k) {
    const std::size_t slot = m_state.slot(k, m_options.memory);
    Sums pair = m_sums[slot];
    if (free != nullptr) {
      pair =
          reduce_blocks("moho::optimize::pair_sums", exec, m_count,
                        detail::PairSums<T>{{}, m_s[slot].data(), m_y[slot].data(), scale(), free});
      if (!(pair.value[0] > 1e-10 * std::sqrt(pair.value[1] * pair.value[2]))) continue;
    }
    slots.push_back(slot);
    sums.push_back(pair);
  }
  const std::size_t count = slots.size();
  double product =
      sum("moho::optimize::take_direction",
          detail::TakeGradient<T>{
              {}, m_g.data(), count > 0 ? m_s[slots[0]].data() : nullptr, m_d.data(), free});
  std::vector<double> a(count);
  for (std::size_t k = 0; k < count; ++k) {
    a[k] = product / sums[k].value[0];
    const T* const next = k + 1 < count ? m_s[slots[k + 1]].data() : nullptr;
    product = sum("moho::optimize::first_loop",
                  detail::AddAndDot<T>{{}, m_d.data(), m_y[slots[k]].data(), next, -a[k], free});
  }
  const double factor = count > 0 ? sums[0].value[0] / sums[0].value[3] : 1.0;
  if (count > 0 || scale() != nullptr) {
    const T* const next = count > 0 ? m_y[slots[count - 1]].data() : nullptr;
    product = sum("moho::optimize::scale_direction",
                  detail::ScaleAndDot<T>{{}, m_d.data(), scale(), next, factor, free});
  }
  for (std::size_t k = count; k-- > 0;) {
    const double b = product / sums[k].value[0];
    const T* const next = k > 0 ? m_y[slots[k - 1]].data() : nullptr;
    product = sum("moho::optimize::second_loop",
                  detail::AddAndDot<T>{{}, m_d.data(), m_s[slots[k]].data(), next, a[k] - b, free});
  }
  m_state.used = static_cast<int>(count);
}

template <class T, class Memory>
void Lbfgs<T, Memory>::descend(const Instance<Memory>& exec) {
  const unsigned char* const free = m_free.size() > 0 && m_state.held > 0 ? m_free.data() : nullptr;
  for (;;) {
    apply_memory(exec, free);
    const auto limit = [&](double factor, const detail::BoundsOf<T>& within) {
      return reduce_blocks(
          "moho::optimize::limit_direction", exec, m_count,
          detail::LimitDirection<T>{m_x.data(), m_g.data(), m_d.data(), within, factor});
    };
    double factor = 1.0;
    if (m_state.used == 0) {
      const detail::DirectionSums all = limit(1.0, {nullptr, nullptr});
      // the length of the first step is an option; later steepest-descent steps use the last change
      const double wanted = m_state.change > 0.0 ? m_state.change : m_options.first_change;
      factor = wanted > 0.0 ? wanted / all.largest : 1.0 / std::sqrt(all.square);
    }
    detail::DirectionSums sums = limit(factor, bounds());
    if (m_options.largest_change > 0.0 && sums.largest > m_options.largest_change) {
      sums = limit(m_options.largest_change / sums.largest, {nullptr, nullptr});
    }
    m_state.largest = sums.largest;
    if (sums.slope < 0.0 && std::isfinite(sums.slope)) {
      double max = bounded() ? std::max(1.0, sums.farthest) : 1e10;
      if (m_options.largest_change > 0.0) {
        max = std::clamp(m_options.largest_change / sums.largest, 1.0, max);
      }
      m_search = LineSearch(m_options.search, m_state.f, sums.slope, 1.0, std::min(max, 1e10));
      m_state.has_trial = false;
      take_step(exec, 1.0);
      return;
    }
    if (m_state.pairs == 0) return stop(exec, StopReason::direction);
    m_state.pairs = 0;
    ++m_state.memory_resets;
  }
}

template <class T, class Memory>
template <class Self, class Visit>
void Lbfgs<T, Memory>::visit_vectors(Self& self, const Visit& visit) {
  for (auto* v : {&self.m_x, &self.m_g, &self.m_d, &self.m_point, &self.m_trial_gradient,
                  &self.m_lower, &self.m_upper, &self.m_scale}) {
    visit(*v);
  }
  for (std::size_t k = 0; k < self.m_s.size(); ++k) {
    visit(self.m_s[k]);
    visit(self.m_y[k]);
  }
  visit(self.m_mask);
  visit(self.m_free);
}

template <class T, class Memory>
void Lbfgs<T, Memory>::save(const InstanceOf<Memory>& exec, const std::filesystem::path& path,
                            const std::string& note) const {
  detail::LbfgsWriter file(path, static_cast<int>(sizeof(T)), m_count);
  file.write(m_options);
  file.write(m_state);
  file.write(m_search);
  file.write_array(m_sums.data(), m_sums.size());
  visit_vectors(*this, [&](const auto& v) {
    const auto values = download(Instance<Memory>(exec), v);
    file.write_array(values.data(), values.size());
  });
  if (!note.empty()) file.write_array(note.data(), note.size());
  file.commit();
}

template <class T, class Memory>
Lbfgs<T, Memory> Lbfgs<T, Memory>::load(const InstanceOf<Memory>& exec,
                                        const std::filesystem::path& path, std::string* note) {
  const Instance<Memory>& instance = exec;
  detail::LbfgsReader file(path, static_cast<int>(sizeof(T)));
  Lbfgs search;
  search.m_count = file.count();
  file.read(search.m_options);
  file.read(search.m_state);
  file.read(search.m_search);
  search.m_sums = file.template read_array<Sums>();
  search.m_s.resize(search.m_sums.size());
  search.m_y.resize(search.m_sums.size());
  visit_vectors(search, [&](auto& v) {
    using View = std::decay_t<decltype(v)>;
    const auto values = file.template read_array<typename View::non_const_value_type>();
    if (values.empty()) return;
    v = allocate<View>(instance, "moho::optimize::loaded", values.size());
    copy(instance, v,
         HostElements<const typename View::non_const_value_type>(values.data(), values.size()));
    instance.fence();
  });
  if (note != nullptr) {
    const auto bytes = file.template read_array<char>();
    note->assign(bytes.begin(), bytes.end());
  }
  file.finish();
  return search;
}

}  // namespace moho::optimize

/// \cond
#ifdef MOHO_OPTIMIZE_KERNELS
namespace moho::optimize {
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_CLASS, extern template class, Lbfgs)
}  // namespace moho::optimize
#endif
/// \endcond
