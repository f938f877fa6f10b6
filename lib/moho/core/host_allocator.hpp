// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Large arrays of the host whose pages are first accessed by the threads that use them.

#include <moho/core/pages.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho {

/// \brief Allocator of numbers without initial values, in huge pages where the system has them.
///
/// std::vector sets its elements to zero in one thread, which is then also the one for which the
/// system provides all pages. Elements of a HostArray have no values until they are written.
template <class T>
class HostAllocator {
 public:
  using value_type = T;  ///< type of the elements
  static_assert(std::is_arithmetic_v<T>);

  HostAllocator() = default;
  /// Converts from the allocator of another type, as containers require.
  template <class Other>
  HostAllocator(const HostAllocator<Other>&) {}

  /// Allocates elements. \throws std::bad_alloc
  T* allocate(std::size_t count) {
    T* const memory = std::allocator<T>().allocate(count);
    detail::advise_huge_pages(memory, count * sizeof(T));
    return memory;
  }
  /// Frees elements of allocate().
  void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
  /// Leaves an element without a value.
  void construct(T*) {}
  /// Sets an element.
  template <class... Values>
  void construct(T* element, Values&&... values) {
    ::new (static_cast<void*>(element)) T(std::forward<Values>(values)...);
  }
  /// Returns true: any allocator frees the memory of any other one.
  friend bool operator==(const HostAllocator&, const HostAllocator&) { return true; }
};

/// An array of numbers that have no values until they are written.
template <class T>
using HostArray = std::vector<T, HostAllocator<T>>;

}  // namespace moho
