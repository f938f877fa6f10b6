// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Models: their fields, and the check of these.

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/types.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace moho::wave {

/// \brief A model on a grid. Fields that are not allocated are absent.
///
/// The medium follows from the fields that are allocated. vp alone: isotropic; density: variable
/// density; epsilon or delta (the other is zero if absent): VTI; theta or phi: TTI.
template <class T, int Dim, class Memory>
struct Model {
  Field<T, Dim, Memory> vp;       ///< P velocity along the symmetry axis, m/s
  Field<T, Dim, Memory> density;  ///< density, kg/m^3 (any unit: only ratios matter)
  Field<T, Dim, Memory> epsilon;  ///< Thomsen's epsilon
  Field<T, Dim, Memory> delta;    ///< Thomsen's delta
  Field<T, Dim, Memory> theta;    ///< angle of the symmetry axis from the vertical, radians
  Field<T, Dim, Memory> phi;      ///< azimuth of the symmetry axis from x to y, radians; 3D only

  /// The medium that follows from the fields.
  Medium medium() const { return medium_of(given()); }
  /// The parameters whose fields are allocated.
  ParameterSet given() const {
    ParameterSet result;
    for (const ParameterInfo& row : parameters) {
      if (field(row.parameter).data() != nullptr) result.insert(row.parameter);
    }
    return result;
  }
  /// The field of a parameter.
  Field<T, Dim, Memory>& field(Parameter parameter) {
    Field<T, Dim, Memory>* const fields[] = {&vp, &density, &epsilon, &delta, &theta, &phi};
    return *fields[static_cast<int>(parameter)];
  }
  /// \overload
  const Field<T, Dim, Memory>& field(Parameter parameter) const {
    return const_cast<Model&>(*this).field(parameter);
  }
};

/// Calls f(parameter, field) for each field of a model that is allocated.
template <class ModelType, class F>
void for_each_field(ModelType&& model, const F& f) {
  for (const ParameterInfo& row : parameters) {
    auto& field = model.field(row.parameter);
    if (field.data() != nullptr) f(row.parameter, field);
  }
}

/// The least and greatest value of a field, and the first node (in memory's order) whose value lies
/// outside of the allowed range or NaN.
struct FieldRange {
  double least = 0.0;     ///< of the values within the range
  double greatest = 0.0;  ///< of the values within the range
  std::int64_t bad = -1;  ///< flat index on the grid; -1 if there is none
};

namespace detail {
/// The value of the reduction to a FieldRange.
struct RangeSum {
  double least, greatest;
  std::int64_t bad;
};
/// Reduction that finds the range and the first bad node.
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
    if (value < sum.least) sum.least = value;
    if (value > sum.greatest) sum.greatest = value;
  }
  KOKKOS_INLINE_FUNCTION void init(RangeSum& sum) const {
    sum.least = 1.0e300;
    sum.greatest = -1.0e300;
    sum.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(RangeSum& to, const RangeSum& from) const {
    if (from.least < to.least) to.least = from.least;
    if (from.greatest > to.greatest) to.greatest = from.greatest;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};
}  // namespace detail

/// The range of a field and its first value that is not within [lowest, highest].
template <class T, int Dim, class Memory>
FieldRange range_of(const Instance<Memory>& exec, const Grid<Dim>& grid,
                    const Field<T, Dim, Memory>& field, double lowest, double highest) {
  const detail::RangeSum sum = reduce("moho::wave::range", exec, grid.size(),
                                      detail::RangeOf<T>{field.data(), lowest, highest});
  return {sum.least, sum.greatest, sum.bad == INT64_MAX ? -1 : sum.bad};
}

namespace detail {
/// Throws InputError where a field of the model has a value outside of its range.
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
}  // namespace detail

/// What check_model() found.
struct ModelRange {
  FieldRange vp;       ///< of the P velocity
  FieldRange density;  ///< of the density
  FieldRange epsilon;  ///< of epsilon
  FieldRange delta;    ///< of delta
};

/// \brief Throws InputError unless every parameter has the grid's shape and values in its range.
///
/// Velocity and density have to be positive and finite; epsilon and delta above -0.5 and at most 2,
/// since 1 + 2 epsilon and 1 + 2 delta are squares of velocities; angles from -2 pi to 2 pi. The
/// message names the parameter, the first wrong node, its value, and what is allowed.
template <class T, int Dim, class Memory>
ModelRange check_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                       const Model<T, Dim, Memory>& model);

template <class T, int Dim, class Memory>
ModelRange check_model(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                       const Model<T, Dim, Memory>& model) {
  const Instance<Memory>& exec = instance;
  grid.check();
  if (model.vp.data() == nullptr) {
    throw InputError("vp: it is missing (every model has a P velocity): give it");
  }
  if (model.density.data() != nullptr && !info(model.medium()).allowed.has(Parameter::density)) {
    throw InputError(
        "density: it goes with vp alone (the anisotropic equations have constant density): leave "
        "it out, or leave out epsilon, delta, theta and phi");
  }
  if (Dim == 2 && model.phi.data() != nullptr) {
    throw InputError("phi: a 2D model has no azimuth: leave it out");
  }
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
#define MOHO_WAVE_MEDIA(prefix, T, Dim, Memory)           \
  prefix template ModelRange check_model<T, Dim, Memory>( \
      const Instance<Memory>&, const Grid<Dim>&, const Model<T, Dim, Memory>&);
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_WAVE_MEDIA, extern)
}
#endif
/// \endcond
