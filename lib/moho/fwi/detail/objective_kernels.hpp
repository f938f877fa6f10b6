// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of Objective: models from variables, and derivatives of variables.

#include <moho/core/instance.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// Kernel: parameter from its variables: start times exp(x), or start plus scale times x.
template <class T>
struct ModelFromVariables {
  const T *x, *start;
  T* values;
  bool logarithmic;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    using std::exp;
    const double change = static_cast<double>(x[i]), from = static_cast<double>(start[i]);
    values[i] = static_cast<T>(logarithmic ? from * exp(change) : from + scale * change);
  }
};

/// Derivative with respect to a variable, from that with respect to its parameter.
template <class T>
struct ByVariable {
  const T* values;  ///< of the parameter
  bool logarithmic;
  double scale;
  KOKKOS_INLINE_FUNCTION double operator()(const std::int64_t i, const double sum) const {
    return sum * (logarithmic ? static_cast<double>(values[i]) : scale);
  }
};

}  // namespace moho::fwi::detail
