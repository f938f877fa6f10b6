// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loops, reductions and prefix sums over a range, on any instance.
///
/// On a device these are the loops of Kokkos. On hosts the body of a loop is compiled once, as a
/// function over a part of the range. Serial and OpenMP call this function from one common kernel,
/// so that neither the body nor Kokkos's loops are compiled for each space.

#include <moho/core/instance.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace moho {

namespace detail {

/// Executes the positions [begin, end) of a loop whose body is at `body`.
using HostPart = void (*)(const void* body, std::int64_t begin, std::int64_t end);

/// Division of a host loop into parts.
struct HostCut {
  std::int64_t count = 0;  ///< number of positions
  std::int64_t size = 0;   ///< positions of a part
  std::int64_t parts = 0;  ///< number of parts: one for each thread, or one for each chunk
};
/// Divides a loop into parts of `chunk` positions, or into one part for each thread if chunk is 0.
HostCut cut(const Instance<Kokkos::HostSpace>& exec, std::int64_t count, std::int64_t chunk);

/// Runs all parts and waits for their end.
///
/// With `dynamic` each thread takes the next part when its previous one has ended.
void run_parts(const Instance<Kokkos::HostSpace>& exec, const char* label, const HostCut& cut,
               bool dynamic, HostPart part, const void* body);

/// Executes a part of a loop.
///
/// The body is copied to a local variable, so that the compiler need not reload its members after
/// each store.
template <class Body>
void loop_part(const void* body, std::int64_t begin, std::int64_t end) {
  const Body own = *static_cast<const Body*>(body);
  for (std::int64_t i = begin; i < end; ++i) own(i);
}

/// A reduction in parts, each with a separate result.
template <class Body>
struct ReduceParts {
  using Value = typename Body::value_type;
  const Body* body;
  Value* results;
  std::int64_t size;

  static void part(const void* self, std::int64_t begin, std::int64_t end) {
    const ReduceParts own = *static_cast<const ReduceParts*>(self);
    const Body inner = *own.body;
    Value result;
    inner.init(result);
    for (std::int64_t i = begin; i < end; ++i) inner(i, result);
    own.results[begin / own.size] = result;
  }
};

/// A prefix sum in two passes: the sums of the parts, then the elements of each part.
///
/// The second pass of a part starts from the sum of all previous parts.
template <class Value, class Body>
struct ScanParts {
  const Body* body;
  Value* sums;
  std::int64_t size;

  template <bool final>
  static void part(const void* self, std::int64_t begin, std::int64_t end) {
    const ScanParts own = *static_cast<const ScanParts*>(self);
    const Body inner = *own.body;
    Value sum = final ? own.sums[begin / own.size] : Value(0);
    for (std::int64_t i = begin; i < end; ++i) inner(i, sum, final);
    if (!final) own.sums[begin / own.size] = sum;
  }
};

/// Adapts a body to Kokkos's reductions, which join volatile values before Kokkos 4.0.
template <class Body>
struct DeviceReduction {
  using value_type = typename Body::value_type;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& value) const {
    body(i, value);
  }
  KOKKOS_INLINE_FUNCTION void init(value_type& value) const { body.init(value); }
  KOKKOS_INLINE_FUNCTION void join(value_type& to, const value_type& from) const {
    body.join(to, from);
  }
#if KOKKOS_VERSION < 40000
  KOKKOS_INLINE_FUNCTION void join(volatile value_type& to, const volatile value_type& from) const {
    body.join(const_cast<value_type&>(to), const_cast<const value_type&>(from));
  }
#endif
};

template <class Exec>
using DeviceRange = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;

}  // namespace detail

/// \brief Calls body(i) for i in [0, count). On a device the call returns after submission.
/// \param label label of the kernel, "moho::module::what"
/// \param exec the instance
/// \param count number of positions, 0 or more
/// \param body functor with KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const
template <class Memory, class Body>
void launch(const char* label, const Instance<Memory>& exec, std::int64_t count, const Body& body) {
  if (count <= 0) return;
  if constexpr (is_host_memory<Memory>) {
    detail::run_parts(exec, label, detail::cut(exec, count, 0), false, &detail::loop_part<Body>,
                      &body);
  } else {
    using Exec = typename Instance<Memory>::Space;
    Kokkos::parallel_for(label, light_weight(detail::DeviceRange<Exec>(exec.space(), 0, count)),
                         body);
  }
}

/// \brief Calls body(i) on a host for positions of different cost, with dynamic scheduling.
///
/// Each thread takes the next `chunk` positions when its previous ones are done.
template <class Body>
void launch_dynamic(const char* label, const Instance<Kokkos::HostSpace>& exec, std::int64_t count,
                    const Body& body, std::int64_t chunk = 1) {
  if (count <= 0) return;
  detail::run_parts(exec, label, detail::cut(exec, count, chunk), true, &detail::loop_part<Body>,
                    &body);
}

/// \brief Returns the result of a reduction over [0, count); waits for the instance.
///
/// `body` has value_type, operator()(std::int64_t, value_type&), init(value_type&) and
/// join(value_type& to, const value_type& from). All are KOKKOS_INLINE_FUNCTION and const. Hosts
/// join partial results in the order of the range.
template <class Memory, class Body>
typename Body::value_type reduce(const char* label, const Instance<Memory>& exec,
                                 std::int64_t count, const Body& body) {
  using Value = typename Body::value_type;
  Value result;
  body.init(result);
  if (count <= 0) return result;
  if constexpr (is_host_memory<Memory>) {
    const detail::HostCut cut = detail::cut(exec, count, 0);
    const std::unique_ptr<Value[]> results(new Value[static_cast<std::size_t>(cut.parts)]);
    const detail::ReduceParts<Body> parts{&body, results.get(), cut.size};
    detail::run_parts(exec, label, cut, false, &detail::ReduceParts<Body>::part, &parts);
    for (std::int64_t p = 0; p < cut.parts; ++p) body.join(result, results[p]);
  } else {
    using Exec = typename Instance<Memory>::Space;
    Kokkos::parallel_reduce(label, light_weight(detail::DeviceRange<Exec>(exec.space(), 0, count)),
                            detail::DeviceReduction<Body>{body}, result);
    exec.fence();
  }
  return result;
}

namespace detail {
/// Minimum reduction: body(i, value) lowers value, whose initial value is `start`.
template <class Value, class Body>
struct Least {
  using value_type = Value;
  Body body;
  Value start;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Value& value) const {
    body(i, value);
  }
  KOKKOS_INLINE_FUNCTION void init(Value& value) const { value = start; }
  KOKKOS_INLINE_FUNCTION void join(Value& to, const Value& from) const {
    if (from < to) to = from;
  }
};
/// Sum reduction: body(i, value) adds to value.
template <class Value, class Body>
struct Sum {
  using value_type = Value;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, Value& value) const {
    body(i, value);
  }
  KOKKOS_INLINE_FUNCTION void init(Value& value) const { value = Value(0); }
  KOKKOS_INLINE_FUNCTION void join(Value& to, const Value& from) const { to = to + from; }
};
}  // namespace detail

/// Returns the sum over [0, count) of what body(i, sum) adds; waits for the instance.
template <class Value, class Memory, class Body>
Value sum_of(const char* label, const Instance<Memory>& exec, std::int64_t count,
             const Body& body) {
  return reduce(label, exec, count, detail::Sum<Value, Body>{body});
}

/// Returns a minimum over [0, count), initially `start`; waits for the instance.
///
/// body(i, min) lowers `min` if position i has a smaller value.
template <class Value, class Memory, class Body>
Value min_of(const char* label, const Instance<Memory>& exec, std::int64_t count, Value start,
             const Body& body) {
  return reduce(label, exec, count, detail::Least<Value, Body>{body, start});
}

/// Result of find_first() if no position passes the test.
inline constexpr std::int64_t none_found = -1;

namespace detail {
template <class Test>
struct FirstOf {
  Test test;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& first) const {
    if (i < first && test(i)) first = i;
  }
};
}  // namespace detail

/// Returns the first i of [0, count) with test(i), or none_found; waits for the instance.
template <class Memory, class Test>
std::int64_t find_first(const char* label, const Instance<Memory>& exec, std::int64_t count,
                        const Test& test) {
  const std::int64_t first =
      min_of<std::int64_t>(label, exec, count, count, detail::FirstOf<Test>{test});
  return first < count ? first : none_found;
}

/// \brief Computes a prefix sum over [0, count) and returns the total; waits for the instance.
///
/// body(i, sum, final) adds the contribution of i to `sum`. If `final` is true, `sum` is on entry
/// the complete sum of all contributions before i.
template <class Value, class Memory, class Body>
Value scan(const char* label, const Instance<Memory>& exec, std::int64_t count, const Body& body) {
  Value total(0);
  if (count <= 0) return total;
  if constexpr (is_host_memory<Memory>) {
    using Parts = detail::ScanParts<Value, Body>;
    const detail::HostCut cut = detail::cut(exec, count, 0);
    const std::unique_ptr<Value[]> sums(new Value[static_cast<std::size_t>(cut.parts)]);
    const Parts parts{&body, sums.get(), cut.size};
    detail::run_parts(exec, label, cut, false, &Parts::template part<false>, &parts);
    for (std::int64_t p = 0; p < cut.parts; ++p) {
      const Value own = sums[p];
      sums[p] = total;
      total += own;
    }
    detail::run_parts(exec, label, cut, false, &Parts::template part<true>, &parts);
  } else {
    using Exec = typename Instance<Memory>::Space;
    Kokkos::parallel_scan(label, detail::DeviceRange<Exec>(exec.space(), 0, count), body, total);
    exec.fence();
  }
  return total;
}

}  // namespace moho
