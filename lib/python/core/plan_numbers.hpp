// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Numbers and words of a plan, for moho.Plan.

#include <moho/core/grid.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace moho::python {

/// A value of a plan.
using PlanValue = std::variant<double, std::int64_t, std::string, std::vector<std::int64_t>,
                               std::vector<std::string>>;
/// Values of a plan by name, in the order in which they are shown. No objects of Python: the worker
/// makes them.
using PlanNumbers = std::vector<std::pair<std::string, PlanValue>>;

/// Returns the nodes along each axis.
template <int Dim>
std::vector<std::int64_t> nodes_of(const Index<Dim>& extents) {
  std::vector<std::int64_t> nodes;
  for (int d = 0; d < Dim; ++d) nodes.push_back(extents[d]);
  return nodes;
}

/// Returns a whole number of a plan.
template <class Number>
std::int64_t whole_number(Number number) {
  return static_cast<std::int64_t>(number);
}

/// Returns the values of a plan as a dict of Python.
inline nanobind::dict dict_of(const PlanNumbers& numbers) {
  nanobind::dict result;
  for (const auto& [name, value] : numbers) {
    result[name.c_str()] = std::visit([](const auto& one) { return nanobind::cast(one); }, value);
  }
  return result;
}

}  // namespace moho::python
