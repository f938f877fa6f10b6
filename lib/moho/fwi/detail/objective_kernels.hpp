// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Kernels of Objective: models from variables, and sums over shots.

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

/// Kernel: adds the derivative of a shot with respect to a parameter to that of its variables.
template <class T>
struct AddDerivative {
  const T *derivative, *values;
  double* sum;
  bool logarithmic;
  double scale;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    sum[i] +=
        static_cast<double>(derivative[i]) * (logarithmic ? static_cast<double>(values[i]) : scale);
  }
};

/// Kernel: rounds sums to the precision of vectors.
template <class T>
struct Rounded {
  const double* sum;
  T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    values[i] = static_cast<T>(sum[i]);
  }
};

}  // namespace moho::fwi::detail
