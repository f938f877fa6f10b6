// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Accumulator of a user, for tests of migrations.

#include <moho/core/launch_box.hpp>
#include <moho/rtm/conditions.hpp>

#include <vector>

namespace moho::testing {

/// Kernel of Squares.
template <class T, int Dim>
struct AddSquares {
  rtm::ImagingOperands<T, Dim> waves;
  T *fourth, *largest;
  KOKKOS_FUNCTION void operator()(const Index<Dim>& node) const {
    const T s = waves.source(node), r = waves.receivers(node);
    const auto at = waves.at(node);
    fourth[at] += waves.weight * s * s * r * r;
    if (s * s > largest[at]) largest[at] = s * s;
  }
};

/// Accumulator of a user: products of squares, and the largest square of S.
struct Squares {
  static constexpr int part_count = 2;
  template <class T, int Dim, class Memory>
  void add(const Instance<Memory>& exec, const rtm::ImagingStep<T, Dim, Memory>& step,
           const std::vector<Field<T, Dim, Memory>>& parts) const {
    launch_box("squares", exec, step.box(),
               AddSquares<T, Dim>{step.operands(), parts[0].data(), parts[1].data()});
  }
};

}  // namespace moho::testing
