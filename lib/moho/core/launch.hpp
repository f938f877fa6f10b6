// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loops and reductions over a range, on any instance.
///
/// On a device these are Kokkos's own. On hosts the body of a loop is compiled once, as a function
/// over a part of the range, and Serial or OpenMP call it through one kernel of their own: neither
/// the body nor Kokkos's loops are compiled again for each other space.

#include <moho/core/instance.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace moho {

namespace detail {

/// Positions [begin, end) of a loop whose body is at `body`.
using HostPart = void (*)(const void* body, std::int64_t begin, std::int64_t end);

/// How a loop on a host is divided.
struct HostCut {
  std::int64_t count = 0;  ///< positions
  std::int64_t size = 0;   ///< of a part
  std::int64_t parts = 0;  ///< one a thread, or one a chunk
};
/// Parts of `chunk` positions each, or one part a thread where chunk is 0.
HostCut cut(const Instance<Kokkos::HostSpace>& exec, std::int64_t count, std::int64_t chunk);

/// Runs all parts and returns when they are done. With `dynamic` a thread takes the next part when
/// it has done one.
void run_parts(const Instance<Kokkos::HostSpace>& exec, const char* label, const HostCut& cut,
               bool dynamic, HostPart part, const void* body);

/// A loop over a part. The body is copied, so that the compiler need not read its members again
/// after each store.
template <class Body>
void loop_part(const void* body, std::int64_t begin, std::int64_t end) {
  const Body own = *static_cast<const Body*>(body);
  for (std::int64_t i = begin; i < end; ++i) own(i);
}

/// A reduction over the parts; each writes its own result.
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

/// A prefix sum over the parts: first the sum of each, then its elements from the sum of those
/// before.
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

/// A body in the form of Kokkos's reductions, which joined volatile values before 4.0.
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

/// \brief Calls body(i) for i in [0, count). On a device it returns when the work is submitted.
/// \param label of the kernel, "moho::module::what"
/// \param exec where it runs
/// \param count positions, 0 or more
/// \param body a functor with KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const
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

/// \brief The same on a host for positions of different cost: a thread takes the next `chunk` of
/// them when it has done one.
template <class Body>
void launch_dynamic(const char* label, const Instance<Kokkos::HostSpace>& exec, std::int64_t count,
                    const Body& body, std::int64_t chunk = 1) {
  if (count <= 0) return;
  detail::run_parts(exec, label, detail::cut(exec, count, chunk), true, &detail::loop_part<Body>,
                    &body);
}

/// \brief The result of a reduction over [0, count). It waits for the instance.
///
/// `body` has value_type, operator()(std::int64_t, value_type&), init(value_type&) and
/// join(value_type& to, const value_type& from), all KOKKOS_INLINE_FUNCTION and const. On hosts
/// results are joined in the order of the range.
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
/// body(i, value) lowers value, which begins with `start`.
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
/// body(i, value) adds to value.
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

/// The sum over [0, count) of what body(i, sum) adds. It waits for the instance.
template <class Value, class Memory, class Body>
Value sum_of(const char* label, const Instance<Memory>& exec, std::int64_t count,
             const Body& body) {
  return reduce(label, exec, count, detail::Sum<Value, Body>{body});
}

/// The least of `start` and what body(i, least) lowers it to over [0, count). It waits for the
/// instance.
template <class Value, class Memory, class Body>
Value least_of(const char* label, const Instance<Memory>& exec, std::int64_t count, Value start,
               const Body& body) {
  return reduce(label, exec, count, detail::Least<Value, Body>{body, start});
}

/// What find_first() returns where there is none.
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

/// The first i of [0, count) with test(i), none_found if there is none. It waits for the instance.
template <class Memory, class Test>
std::int64_t find_first(const char* label, const Instance<Memory>& exec, std::int64_t count,
                        const Test& test) {
  const std::int64_t first =
      least_of<std::int64_t>(label, exec, count, count, detail::FirstOf<Test>{test});
  return first < count ? first : none_found;
}

/// \brief A prefix sum over [0, count): body(i, sum, final) adds what i contributes to `sum`, the
/// sum of all before it; where `final` is true that sum is complete. Returns the whole sum. It
/// waits for the instance.
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
