// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Creation of models from values on the host.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/wave/model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Values of a parameter on the host: one per node, or a constant.
///
/// Nodal values are not copied and must outlive the object.
template <class T>
class ParameterValues {
 public:
  /// One value per node, the last axis contiguous.
  ParameterValues(std::span<const T> nodes) : m_nodes(nodes) {}
  /// \overload
  ParameterValues(const std::vector<T>& nodes) : m_nodes(nodes) {}
  /// One value for all nodes.
  ParameterValues(T constant) : m_constant(constant) {}
  /// Nodal values all equal to `constant`, which avoids copies to a device.
  ParameterValues(std::span<const T> nodes, T constant) : m_nodes(nodes), m_constant(constant) {}

  /// Nodal values; empty for a constant without nodal values.
  std::span<const T> nodes() const { return m_nodes; }
  /// Common value of all nodes, if known.
  std::optional<T> constant() const { return m_constant; }

 private:
  std::span<const T> m_nodes;
  std::optional<T> m_constant;
};

/// Values of a model on the host, by parameter. Absent parameters are not in the map.
template <class T>
using ModelValues = std::map<Parameter, ParameterValues<T>>;

namespace detail {

/// Checks the number of nodal values. \throws InputError unless it is the number of nodes
template <int Dim, class T>
void check_count(const Grid<Dim>& grid, Parameter parameter, std::span<const T> nodes) {
  if (static_cast<std::int64_t>(nodes.size()) == grid.size()) return;
  throw InputError(concat(to_string(parameter), ": it has ", nodes.size(),
                          " values (allowed: ", grid.size(), ", one for each of the ",
                          shape_string(grid), " nodes): give it on all nodes of the grid"));
}

/// Returns a field over nodal values on the host. Fields of models are mutable; these are not
/// written.
template <class T, int Dim>
Field<T, Dim, Kokkos::HostSpace> view_of_nodes(const Grid<Dim>& grid, std::span<const T> nodes) {
  using View = Field<T, Dim, Kokkos::HostSpace>;
  T* const data = const_cast<T*>(nodes.data());
  if constexpr (Dim == 2) {
    return View(data, grid.extents[0], grid.extents[1]);
  } else {
    return View(data, grid.extents[0], grid.extents[1], grid.extents[2]);
  }
}

/// Returns the model of values. \param borrows true: fields on hosts share the nodal values
template <class T, int Dim, class Memory>
Model<T, Dim, Memory> model_of_values(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const ModelValues<T>& values, bool borrows) {
  grid.check();
  check_vp(values.count(Parameter::vp) > 0);
  Model<T, Dim, Memory> model;
  for (const auto& [parameter, given] : values) {
    Field<T, Dim, Memory>& field = model.field(parameter);
    const std::span<const T> nodes = given.nodes();
    if (nodes.data() != nullptr || !given.constant()) check_count(grid, parameter, nodes);
    if constexpr (is_host_memory<Memory>) {
      if (borrows && nodes.data() != nullptr) {
        field = view_of_nodes<T, Dim>(grid, nodes);
        continue;
      }
    }
    field = make_field<T>(exec, grid, to_string(parameter));
    if (given.constant()) {
      fill(exec, field, *given.constant());
    } else {
      copy(exec, field, view_of_nodes<T, Dim>(grid, nodes));
    }
  }
  exec.fence();
  return model;
}

}  // namespace detail

/// \brief Creates a model in the memory of an instance from values on the host.
///
///     const auto model = make_model(exec, grid, {{Parameter::vp, values}, {Parameter::density,
///     2200.0}});
///
/// The precision is single unless T is explicit or follows from an argument ModelValues<T>. Values
/// are checked by check_model() and by all functions with a model argument.
/// \param exec an Instance, or an instance of Kokkos; the function waits for it
/// \param grid grid of the model
/// \param values values by parameter; copied
/// \throws InputError without vp, or unless each parameter has a constant or one value per node
template <class T = float, int Dim, class Exec>
Model<T, Dim, MemoryOf<Exec>> make_model(const Exec& exec, const Grid<Dim>& grid,
                                         const ModelValues<T>& values) {
  return detail::model_of_values<T, Dim, MemoryOf<Exec>>(Instance<MemoryOf<Exec>>(exec), grid,
                                                         values, false);
}

/// \brief As make_model(), but fields on hosts share the nodal values.
///
/// The values must outlive the model and its copies. The library does not write to them.
template <class T = float, int Dim, class Exec>
Model<T, Dim, MemoryOf<Exec>> borrow_model(const Exec& exec, const Grid<Dim>& grid,
                                           const ModelValues<T>& values) {
  return detail::model_of_values<T, Dim, MemoryOf<Exec>>(Instance<MemoryOf<Exec>>(exec), grid,
                                                         values, true);
}

/// \brief Copies a model to the host; hosts share its fields.
/// \throws InputError for a field that does not have the nodes of the grid
template <class T, int Dim, class Memory>
Model<T, Dim, Kokkos::HostSpace> download_model(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                                const Model<T, Dim, Memory>& model) {
  if constexpr (is_host_memory<Memory>) {
    return model;
  } else {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    Model<T, Dim, Kokkos::HostSpace> result;
    for_each_field(model, [&](Parameter parameter, const auto& from) {
      const char* const name = to_string(parameter);
      check_shape(grid, from, name);
      auto to = make_field<T>(host, grid, name);
      copy(exec, to, from);
      result.field(parameter) = to;
    });
    exec.fence();
    return result;
  }
}

}  // namespace moho::wave
