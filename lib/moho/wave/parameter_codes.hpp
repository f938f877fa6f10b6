// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parameters of a model in codes of 16 bits.
///
/// A step is bound by the bytes that it moves, and codes halve those of the parameters. Codes are
/// linear: v dt, which kernels square, the potential of variable density, and the coefficients of
/// VTI. All kernels of a scheme with codes use the decoded values, whether they read codes or
/// numbers, so that they give the same bits.

#include <moho/core/error.hpp>
#include <moho/core/instance.hpp>
#include <moho/wave/kernel/coefficients.hpp>
#include <moho/wave/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace moho::wave {

/// \brief Linear code of 16 bits: code c means low + (c - zero) step.
///
/// The step has 8 significant bits. The product is therefore exact in single precision, and the
/// value has the same bits with and without fused operations.
struct ParameterCode {
  float low = 0.0F;   ///< value of the code `zero`, which is exact
  float step = 0.0F;  ///< difference of the values of neighbouring codes
  float zero = 0.0F;  ///< an integer from 0 to 65535
  float max = 0.0F;   ///< no decoded value exceeds it

  /// Returns the value of a code.
  KOKKOS_FORCEINLINE_FUNCTION float decode(std::uint32_t code) const {
    return low + (static_cast<float>(code) - zero) * step;
  }
  /// Returns the value of a code, for codes with a `zero` of 0.
  KOKKOS_FORCEINLINE_FUNCTION float decode_from_zero(std::uint32_t code) const {
    return low + static_cast<float>(code) * step;
  }
  /// Returns the code of the nearest value that does not exceed `max`.
  KOKKOS_INLINE_FUNCTION std::uint32_t encode(double value) const {
    if (!(step > 0.0F)) return static_cast<std::uint32_t>(zero);
    const double position =
        static_cast<double>(zero) + (value - static_cast<double>(low)) / static_cast<double>(step);
    const double rounded = floor(position + 0.5);
    auto code = static_cast<std::uint32_t>(rounded < 0.0       ? 0.0
                                           : rounded > 65535.0 ? 65535.0
                                                               : rounded);
    while (code > 0 && decode(code) > max) --code;
    return code;
  }
};

/// Codes of the parameters of a stencil.
struct ParameterCodes {
  ParameterCode velocity;  ///< v dt
  ParameterCode a;         ///< coefficient a: 1 + 2 epsilon, or the potential, 1/m^2
  ParameterCode b;         ///< coefficient b of self-adjoint VTI
};

namespace detail {

/// Returns a step of 8 significant bits that is not smaller than a number.
inline float short_step(double step) {
  if (!(step > 0.0)) return 0.0F;
  int exponent = 0;
  const double mantissa = std::frexp(step, &exponent);
  return static_cast<float>(std::ldexp(std::ceil(mantissa * 256.0), exponent - 8));
}

/// Returns the code of values in a range; `low` is an exact value, in or below the range.
/// \param spare unused codes below the range
inline ParameterCode make_code(double low, const ValueRange& range, int spare = 0) {
  ParameterCode code;
  const double first = std::min(low, range.min), last = std::max(low, range.max);
  code.low = static_cast<float>(low);
  code.step = short_step((last - first) / (65533.0 - spare));
  code.max = static_cast<float>(last);
  if (code.step > 0.0F) {
    code.zero =
        static_cast<float>(std::ceil((low - first) / static_cast<double>(code.step)) + spare);
  }
  return code;
}

/// \brief Returns bounds of the potential (L s) / s of s = 1 / sqrt(rho), 1/m^2.
///
/// They depend on the largest ratio of densities within a stencil alone, so that they are the same
/// for a model with and without layers.
template <int Dim>
ValueRange potential_bounds(const Grid<Dim>& grid, int order, double contrast) {
  const Coefficients c = second_derivative(order / 2);
  const double up = std::sqrt(contrast) - 1.0, down = 1.0 / std::sqrt(contrast) - 1.0;
  ValueRange bounds;
  for (int d = 0; d < Dim; ++d) {
    for (int k = 1; k <= order / 2; ++k) {
      const double weight = 2.0 * c[k] / (grid.spacing[d] * grid.spacing[d]);
      bounds.min += std::min(weight * up, weight * down);
      bounds.max += std::max(weight * up, weight * down);
    }
  }
  return bounds;
}

}  // namespace detail

/// Returns true for equations whose parameters may be stored in codes.
constexpr bool has_codes(kernel::Stencil stencil) {
  return stencil == kernel::Stencil::isotropic || stencil == kernel::Stencil::variable_density ||
         stencil == kernel::Stencil::vti;
}

/// Returns the bytes of a node's codes.
constexpr int coded_parameter_bytes(kernel::Stencil stencil) {
  return stencil == kernel::Stencil::isotropic ? 2 : stencil == kernel::Stencil::vti ? 6 : 4;
}

/// \brief Returns the largest relative error of velocities in codes.
///
/// It is half a step over the smallest velocity.
inline double velocity_code_error(const Limits& limits) {
  const ParameterCode code = detail::make_code(limits.vp.min, limits.vp);
  return 0.5 * static_cast<double>(code.step) / limits.vp.min;
}

/// Largest relative error of velocities with which ParameterStorage::automatic chooses codes.
inline constexpr double largest_code_error = 2.5e-5;

/// \brief Largest fraction of the stable time step with codes.
///
/// Rounding raises the eigenvalues of the operator by less than 1e-4, relatively.
inline constexpr double coded_step_fraction = 1.0 - 1.0e-4;

/// \brief Returns true if a scheme stores its parameters in codes.
///
/// ParameterStorage::automatic chooses codes for 3D models in single precision on devices, if
/// kernels read them, velocities are in error by largest_code_error at most, and the time step is
/// at most coded_step_fraction of the largest one.
/// \throws InputError for ParameterStorage::codes with equations, a precision or a time step that
///   do not allow it
template <class T, int Dim, class Memory>
bool stores_codes(ParameterStorage storage, kernel::Stencil stencil, const Limits& limits,
                  double dt) {
  if (storage == ParameterStorage::full) return false;
  const bool possible = has_codes(stencil) && sizeof(T) == sizeof(float);
  const bool stable = dt <= coded_step_fraction * limits.largest_dt;
  if (storage == ParameterStorage::automatic) {
    return possible && stable && Dim == 3 && !is_host_memory<Memory> &&
           velocity_code_error(limits) <= largest_code_error;
  }
  if (!possible) {
    throw InputError(concat(
        "parameters: those of 16 bits do not go with ",
        has_codes(stencil) ? "double precision" : "these equations",
        " (allowed: single precision, in isotropic media, with variable density, and in VTI media "
        "with self-adjoint equations): take 32 bits, or the automatic choice"));
  }
  if (!stable) {
    throw InputError(concat("parameters: dt is ", dt, " s (allowed with 16 bits: at most ",
                            coded_step_fraction * limits.largest_dt,
                            " s, 0.9999 of the largest stable step): take a smaller step, or "
                            "parameters of 32 bits"));
  }
  return true;
}

/// Returns the codes of a model. \param limits of the model \param dt time step, s
template <int Dim>
ParameterCodes make_codes(kernel::Stencil stencil, const Grid<Dim>& grid, int order,
                          const Limits& limits, double dt) {
  ParameterCodes codes;
  const ValueRange distance{limits.vp.min * dt, limits.vp.max * dt};
  codes.velocity = detail::make_code(distance.min, distance);
  if (stencil == kernel::Stencil::variable_density) {
    codes.a =
        detail::make_code(0.0, detail::potential_bounds(grid, order, limits.density_contrast));
  } else if (stencil == kernel::Stencil::vti) {
    codes.a = detail::make_code(1.0, limits.a);
    // b^2 may not exceed a, which takes a few codes below the range
    codes.b = detail::make_code(1.0, limits.b, 8);
  }
  return codes;
}

}  // namespace moho::wave
