// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Loops over the nodes of a box.

#include <moho/core/box.hpp>
#include <moho/core/launch.hpp>

#include <cstdint>

namespace moho {

namespace detail {

/// Functor over the rows of a box, for hosts.
template <int Dim, class Body>
struct LoopRows {
  Body body;
  Box<Dim> rows;  ///< the first node of each row
  std::int64_t begin, end;
  void operator()(const std::int64_t row) const {
    Index<Dim> node = rows.node(row);
    for (std::int64_t k = begin; k < end; ++k) {
      node[Dim - 1] = k;
      body(node);
    }
  }
};

/// Functor over the nodes of a box, for devices.
///
/// A 32-bit division takes a fraction of the time of a 64-bit division.
template <int Dim, class Body>
struct LoopNodes {
  Body body;
  Box<Dim> box;
  bool small;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    if (!small) {
      body(box.node(n));
      return;
    }
    Index<Dim> node{};
    auto rest = static_cast<std::uint32_t>(n);
    for (int d = Dim - 1; d > 0; --d) {
      const auto extent = static_cast<std::uint32_t>(box.upper[d] - box.lower[d]);
      const std::uint32_t quotient = rest / extent;
      node[d] = box.lower[d] + static_cast<std::int64_t>(rest - quotient * extent);
      rest = quotient;
    }
    node[0] = box.lower[0] + static_cast<std::int64_t>(rest);
    body(node);
  }
};

}  // namespace detail

/// \brief Calls body(node) for the nodes of a box. On a device the call returns after submission.
/// \param label label of the kernel, "moho::module::what"
/// \param exec the instance
/// \param box the nodes
/// \param body functor with KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>&) const
template <class Memory, int Dim, class Body>
void launch_box(const char* label, const Instance<Memory>& exec, const Box<Dim>& box,
                const Body& body) {
  if (box.empty()) return;
  if constexpr (is_host_memory<Memory>) {
    Box<Dim> rows = box;
    rows.upper[Dim - 1] = rows.lower[Dim - 1] + 1;
    launch(label, exec, rows.size(),
           detail::LoopRows<Dim, Body>{body, rows, box.lower[Dim - 1], box.upper[Dim - 1]});
  } else {
    const bool small = box.size() <= std::int64_t{UINT32_MAX};
    launch(label, exec, box.size(), detail::LoopNodes<Dim, Body>{body, box, small});
  }
}

}  // namespace moho
