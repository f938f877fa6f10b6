// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fills and copies of views on an instance; transfers of small data to and from the host.

#include <moho/core/launch.hpp>

#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace moho {

namespace detail {
template <class T>
struct FillElements {
  T* data;
  T value;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const { data[i] = value; }
};
/// Copies bytes in blocks of 4096.
struct CopyBytes {
  static constexpr std::int64_t piece = 4096;
  char* to;
  const char* from;
  std::int64_t bytes;
  void operator()(const std::int64_t i) const {
    const std::int64_t begin = i * piece;
    std::memcpy(to + begin, from + begin,
                static_cast<std::size_t>(begin + piece < bytes ? piece : bytes - begin));
  }
};
// compiled in instance.cpp
extern template void loop_part<FillElements<float>>(const void*, std::int64_t, std::int64_t);
extern template void loop_part<FillElements<double>>(const void*, std::int64_t, std::int64_t);
extern template void loop_part<FillElements<std::int64_t>>(const void*, std::int64_t, std::int64_t);
extern template void loop_part<CopyBytes>(const void*, std::int64_t, std::int64_t);
}  // namespace detail

/// \brief Sets all elements of a contiguous view to a value.
///
/// On a device the call returns after submission.
/// \throws std::logic_error on hosts if the view is not contiguous
template <class Memory, class ViewType>
void fill(const Instance<Memory>& exec, const ViewType& view,
          typename ViewType::const_value_type& value) {
  static_assert(std::is_same_v<typename ViewType::memory_space, Memory>);
  if constexpr (is_host_memory<Memory>) {
    if (!view.span_is_contiguous()) throw std::logic_error("moho::fill: the view has gaps");
    using T = typename ViewType::non_const_value_type;
    launch("moho::fill", exec, static_cast<std::int64_t>(view.span()),
           detail::FillElements<T>{view.data(), value});
  } else {
    Kokkos::deep_copy(exec.space(), view, value);
  }
}

/// \brief Copies all elements of a contiguous view to a contiguous view of the same shape.
///
/// A copy from or to device memory returns after submission: fence the instance before the host
/// accesses its view.
/// \throws std::logic_error on hosts if a view is not contiguous or the sizes differ
template <class Memory, class To, class From>
void copy(const Instance<Memory>& exec, const To& to, const From& from) {
  if constexpr (is_host_memory<Memory>) {
    using T = typename To::non_const_value_type;
    static_assert(std::is_same_v<T, typename From::non_const_value_type>);
    static_assert(std::is_trivially_copyable_v<T>);
    if (!to.span_is_contiguous() || !from.span_is_contiguous() || to.span() != from.span()) {
      throw std::logic_error("moho::copy: the views have gaps or differ in size");
    }
    const auto bytes = static_cast<std::int64_t>(from.span() * sizeof(T));
    launch("moho::copy", exec, (bytes + detail::CopyBytes::piece - 1) / detail::CopyBytes::piece,
           detail::CopyBytes{reinterpret_cast<char*>(to.data()),
                             reinterpret_cast<const char*>(from.data()), bytes});
  } else {
    Kokkos::deep_copy(exec.space(), to, from);
  }
}

/// An unmanaged view of host elements.
template <class T>
using HostElements = Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// Copies host values (std::vector, std::array) to the memory of the instance.
///
/// It waits for the copy.
template <class Memory, class Container>
auto upload(const Instance<Memory>& exec, const Container& values, const std::string& label) {
  using T = typename Container::value_type;
  using Result = Kokkos::View<T*, Memory>;
  const auto view = allocate<Result>(exec, label, values.size());
  if (values.empty()) return view;
  copy(exec, view, HostElements<const T>(values.data(), values.size()));
  exec.fence();
  return view;
}

/// Returns the elements of a contiguous view on the host, in the order of memory.
///
/// It waits for the instance. \throws std::logic_error if the view is not contiguous
template <class Memory, class ViewType>
std::vector<typename ViewType::non_const_value_type> download(const Instance<Memory>& exec,
                                                              const ViewType& view) {
  using T = typename ViewType::non_const_value_type;
  std::vector<T> values(view.span());
  if (values.empty()) return values;
  const Kokkos::View<const T*, typename ViewType::memory_space,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      from(view.data(), view.span());
  if (!view.span_is_contiguous()) throw std::logic_error("moho::download: the view has gaps");
  copy(exec, HostElements<T>(values.data(), values.size()), from);
  exec.fence();
  return values;
}

/// Returns the element at an address in the memory of the instance; waits for the instance.
template <class Memory, class T>
std::remove_const_t<T> value_at(const Instance<Memory>& exec, T* address) {
  std::remove_const_t<T> value{};
  const Kokkos::View<const T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> from(address, 1);
  copy(exec, HostElements<std::remove_const_t<T>>(&value, 1), from);
  exec.fence();
  return value;
}

}  // namespace moho
