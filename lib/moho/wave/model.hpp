// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Models: their fields, and checks of the fields.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/types.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace moho::wave {

/// \brief Model on a grid; unallocated fields are absent.
///
/// The medium follows from the allocated fields. vp alone: isotropic; density: variable density;
/// epsilon or delta (an absent one is zero): VTI; theta or phi: TTI.
template <class T, int Dim, class Memory>
struct Model {
  Field<T, Dim, Memory> vp;       ///< P velocity along the symmetry axis, m/s
  Field<T, Dim, Memory> density;  ///< density, kg/m^3 (any unit: only ratios matter)
  Field<T, Dim, Memory> epsilon;  ///< Thomsen's epsilon
  Field<T, Dim, Memory> delta;    ///< Thomsen's delta
  Field<T, Dim, Memory> theta;    ///< angle of the symmetry axis from the vertical, radians
  Field<T, Dim, Memory> phi;      ///< azimuth of the symmetry axis from x to y, radians; 3D only

  /// Returns the medium, which follows from the fields.
  Medium medium() const { return medium_of(given()); }
  /// Returns the parameters whose fields are allocated.
  ParameterSet given() const {
    ParameterSet result;
    for (const ParameterInfo& row : parameters) {
      if (field(row.parameter).data() != nullptr) result.insert(row.parameter);
    }
    return result;
  }
  /// Returns the field of a parameter.
  Field<T, Dim, Memory>& field(Parameter parameter) {
    Field<T, Dim, Memory>* const fields[] = {&vp, &density, &epsilon, &delta, &theta, &phi};
    return *fields[static_cast<int>(parameter)];
  }
  /// \overload
  const Field<T, Dim, Memory>& field(Parameter parameter) const {
    return const_cast<Model&>(*this).field(parameter);
  }
};

/// Calls f(parameter, field) for each allocated field of a model.
template <class ModelType, class F>
void for_each_field(ModelType&& model, const F& f) {
  for (const ParameterInfo& row : parameters) {
    auto& field = model.field(row.parameter);
    if (field.data() != nullptr) f(row.parameter, field);
  }
}

/// Range of a field, and its first node (in memory order) with a NaN or a value out of range.
struct FieldRange {
  double min = 0.0;       ///< smallest value within the range
  double max = 0.0;       ///< largest value within the range
  std::int64_t bad = -1;  ///< flat index of the bad node on the grid; -1 if all are good
};

namespace detail {
/// Value of the reduction to a FieldRange.
struct RangeSum {
  double min, max;
  std::int64_t bad;
};
/// Reduction to the range and the first bad node.
template <class T>
struct RangeOf {
  using value_type = RangeSum;
  const T* values;
  double lowest, highest;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, RangeSum& sum) const {
    const double value = static_cast<double>(values[i]);
    // not (a and b) rather than (not a or not b): a NaN is bad
    if (!(value >= lowest && value <= highest)) {
      if (i < sum.bad) sum.bad = i;
      return;
    }
    if (value < sum.min) sum.min = value;
    if (value > sum.max) sum.max = value;
  }
  KOKKOS_INLINE_FUNCTION void init(RangeSum& sum) const {
    sum.min = 1.0e300;
    sum.max = -1.0e300;
    sum.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(RangeSum& to, const RangeSum& from) const {
    if (from.min < to.min) to.min = from.min;
    if (from.max > to.max) to.max = from.max;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};
}  // namespace detail

/// Returns the range of a field and its first value outside [lowest, highest].
template <class T, int Dim, class Memory>
FieldRange range_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                    const Field<T, Dim, Memory>& field, double lowest, double highest) {
  const detail::RangeSum sum = reduce("moho::wave::range", exec, grid.size(),
                                      detail::RangeOf<T>{field.data(), lowest, highest});
  return {sum.min, sum.max, sum.bad == INT64_MAX ? -1 : sum.bad};
}

namespace detail {
/// Throws InputError if a field of the model has a value out of range.
template <class T, int Dim, class Memory>
FieldRange check_parameter(const Instance<Memory>& exec, const Grid<Dim>& grid,
                           const Field<T, Dim, Memory>& field, const char* name, double lowest,
                           double highest, const char* allowed, const char* advice) {
  check_shape(grid, field, name);
  const FieldRange range = range_of<T, Dim, Memory>(exec, grid, field, lowest, highest);
  if (range.bad >= 0) {
    const Index<Dim> node = grid.node(range.bad);
    throw InputError(concat(
        name, ": the value at node ", format_index(node), ", ", format_point(grid.position(node)),
        ", is ", value_at(exec, field.data() + range.bad), " (allowed: ", allowed, "): ", advice));
  }
  return range;
}

/// Throws InputError for a model without vp. \param given true if it has vp
inline void check_vp(bool given) {
  if (given) return;
  throw InputError("vp: it is missing (every model has a P velocity): give it");
}

/// Throws InputError for a parameter that the medium or models of the dimension do not have.
inline void check_presence(Medium medium, Parameter parameter, int dim) {
  const ParameterInfo& row = info(parameter);
  if (!info(medium).allowed.has(parameter)) {
    if (parameter == Parameter::density) {
      throw InputError(
          "density: it goes with vp alone (the anisotropic equations have constant density): leave "
          "it out, or leave out epsilon, delta, theta and phi");
    }
    std::string allowed;
    for (const ParameterInfo& other : parameters) {
      if (!info(medium).allowed.has(other.parameter)) continue;
      allowed += concat(allowed.empty() ? "" : ", ", other.name);
    }
    throw InputError(concat(row.name, ": the medium of the model is '", to_string(medium),
                            "' (allowed: ", allowed, "): leave it out"));
  }
  if (dim < row.smallest_dimension || dim > row.largest_dimension) {
    throw InputError(concat(row.name, ": a ", dim, "D model has no ",
                            parameter == Parameter::phi ? "azimuth" : row.name, ": leave it out"));
  }
}
}  // namespace detail

/// Result of check_model().
struct ModelRange {
  FieldRange vp;       ///< range of the P velocity
  FieldRange density;  ///< range of the density
  FieldRange epsilon;  ///< range of epsilon
  FieldRange delta;    ///< range of delta
};

/// \brief Throws InputError unless every parameter has the grid's shape and allowed values.
///
/// Velocities have to be positive and at most 1e9 m/s, densities positive and finite. Values of
/// epsilon and delta lie above -0.5 and are at most 2; 1 + 2 epsilon and 1 + 2 delta are squares of
/// velocities. Angles lie between -2 pi and 2 pi. The message names the parameter, the first bad
/// node, its value and the allowed range.
template <class T, int Dim, class Memory>
ModelRange check_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                       const Model<T, Dim, Memory>& model);

template <class T, int Dim, class Memory>
ModelRange check_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                       const Model<T, Dim, Memory>& model) {
  const Instance<Memory>& exec = instance;
  grid.check();
  detail::check_vp(model.vp.data() != nullptr);
  for_each_field(model, [&](Parameter parameter, const Field<T, Dim, Memory>&) {
    detail::check_presence(model.medium(), parameter, Dim);
  });
  ModelRange range;
  const std::pair<Parameter, FieldRange*> reported[] = {{Parameter::vp, &range.vp},
                                                        {Parameter::density, &range.density},
                                                        {Parameter::epsilon, &range.epsilon},
                                                        {Parameter::delta, &range.delta}};
  for_each_field(model, [&](Parameter parameter, const Field<T, Dim, Memory>& field) {
    const ParameterInfo& row = info(parameter);
    const FieldRange found = detail::check_parameter<T, Dim, Memory>(
        exec, grid, field, row.name, row.lowest, row.highest, row.allowed, row.advice);
    for (const auto& [which, to] : reported) {
      if (which == parameter) *to = found;
    }
  });
  return range;
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_model)
}  // namespace moho::wave
#endif
/// \endcond
