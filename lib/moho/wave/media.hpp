// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Description of each medium: its parameters, wavefields, coefficients and equations.
///
/// All other code reads these tables. A new acoustic medium requires a row of `media` and a row of
/// `stencils` for each of its systems of equations. It also requires its coefficients
/// (wave/medium.hpp), its plain step (wave/detail/reference.hpp), its operator (wave/operators.hpp)
/// and its limits (wave/stability.hpp).

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace moho::wave {

/// Parameter of a model; it has a value at each node.
enum class Parameter {
  vp,       ///< P velocity along the symmetry axis, m/s
  density,  ///< density, kg/m^3
  epsilon,  ///< Thomsen's epsilon
  delta,    ///< Thomsen's delta
  theta,    ///< angle of the symmetry axis from the vertical, radians
  phi       ///< azimuth of the symmetry axis from x to y, radians; 3D only
};

/// Medium of the waves.
enum class Medium {
  isotropic,         ///< P velocity alone
  variable_density,  ///< P velocity and density
  vti,               ///< transversely isotropic, symmetric about the vertical
  tti                ///< transversely isotropic, symmetric about a tilted axis
};

/// System of equations of VTI and TTI media.
enum class Equations {
  self_adjoint,  ///< p_tt = v^2 (a H2 p + r H1 q), q_tt = v^2 (r H2 p + H1 q): conserves energy
  fletcher  ///< Fletcher, Du and Fowler (2009), finite shear velocity: stable in smooth models only
};

/// Array of coefficients that kernels read.
enum class Coefficient {
  scale,         ///< (v dt)^2
  q_scale,       ///< scale of the field q
  root_density,  ///< sqrt(rho): pressure over the field that is stepped
  a,             ///< 1 + 2 epsilon; of density: the potential (L s) / s of s = 1 / sqrt(rho)
  b,             ///< Fletcher: 1 + 2 delta; self-adjoint: its square root
  nx,            ///< x component of the symmetry axis
  ny,            ///< y component of the symmetry axis; 3D only
  nz             ///< z component of the symmetry axis
};

namespace kernel {
/// Equations with kernels.
enum class Stencil {
  isotropic,
  variable_density,
  vti,           ///< self-adjoint
  tti,           ///< self-adjoint
  vti_fletcher,  ///< Fletcher, Du and Fowler (2009)
  tti_fletcher
};
}  // namespace kernel

/// Set of enumerators, for constant expressions.
template <class E>
struct EnumSet {
  std::uint32_t bits = 0;  ///< bit n: the enumerator of value n

  constexpr EnumSet() = default;
  /// Constructs the set of the given members.
  constexpr EnumSet(std::initializer_list<E> members) {
    for (const E member : members) insert(member);
  }
  /// Adds a member.
  constexpr void insert(E member) { bits |= 1u << static_cast<int>(member); }
  /// Returns true if a member is in the set.
  constexpr bool has(E member) const { return (bits >> static_cast<int>(member) & 1u) != 0; }
  /// Returns true if the sets share a member.
  constexpr bool intersects(EnumSet other) const { return (bits & other.bits) != 0; }
  /// Returns the number of members.
  constexpr int size() const { return std::popcount(bits); }
};
using ParameterSet = EnumSet<Parameter>;      ///< parameters of a model
using CoefficientSet = EnumSet<Coefficient>;  ///< arrays of a medium
using StencilSet = EnumSet<kernel::Stencil>;  ///< equations with a kernel

/// Description of a parameter.
struct ParameterInfo {
  Parameter parameter;        ///< the parameter
  const char* name;           ///< name in models and messages
  const char* option;         ///< option of the programs, without --
  const char* unit;           ///< unit of the values; empty: dimensionless
  double lowest,              ///< smallest allowed value
      highest;                ///< largest allowed value
  const char* allowed;        ///< allowed values in messages
  const char* advice;         ///< last clause of an error message
  bool angle;                 ///< true for angles, radians in the library
  int smallest_dimension;     ///< smallest dimension of models with the parameter
  int largest_dimension = 3;  ///< largest dimension of models with the parameter
};

/// All parameters, in the order of the enumeration.
inline constexpr std::array<ParameterInfo, 6> parameters = {{
    {Parameter::vp, "vp", "vp", "m/s", std::numeric_limits<float>::min(), 1.0e9,
     "positive, at most 1e9, in m/s", "correct the model there", false, 2},
    {Parameter::density, "density", "rho", "kg/m^3", std::numeric_limits<float>::min(),
     std::numeric_limits<float>::max(), "positive and finite, in kg/m^3", "correct the model there",
     false, 2},
    // 1 + 2 x has to stay positive in single precision also
    {Parameter::epsilon, "epsilon", "epsilon", "", -0.4999, 2.0,
     "-0.4999 to 2, a number without unit",
     "Thomsen's parameter, not per cent; correct the model there", false, 2},
    {Parameter::delta, "delta", "delta", "", -0.4999, 2.0, "-0.4999 to 2, a number without unit",
     "Thomsen's parameter, not per cent; correct the model there", false, 2},
    // 2 pi, rounded up in single precision
    {Parameter::theta, "theta", "theta", "rad", -6.2831854, 6.2831854, "-2 pi to 2 pi, in radians",
     "angles are in radians, not degrees; correct the model there", true, 2},
    {Parameter::phi, "phi", "phi", "rad", -6.2831854, 6.2831854, "-2 pi to 2 pi, in radians",
     "angles are in radians, not degrees; correct the model there", true, 3},
}};

/// Description of a medium.
struct MediumInfo {
  Medium medium;                 ///< the medium
  const char* name;              ///< name in summaries and messages
  const char* title;             ///< name in texts
  ParameterSet defining;         ///< parameters each of which implies the medium
  ParameterSet allowed;          ///< parameters of its models
  ParameterSet invertible;       ///< parameters that have gradients
  int fields;                    ///< wavefields: 1 for p, 2 for p and q
  kernel::Stencil self_adjoint,  ///< stencil of the self-adjoint equations
      fletcher;                  ///< stencil of Fletcher's equations
  bool cpml;                     ///< true if perfectly matched layers are stable
};

/// All media, in the order of the enumeration; generalisations follow their special cases.
inline constexpr std::array<MediumInfo, 4> media = {{
    {Medium::isotropic,
     "isotropic",
     "isotropic",
     {Parameter::vp},
     {Parameter::vp},
     {Parameter::vp},
     1,
     kernel::Stencil::isotropic,
     kernel::Stencil::isotropic,
     true},
    {Medium::variable_density,
     "variable_density",
     "isotropic with variable density",
     {Parameter::density},
     {Parameter::vp, Parameter::density},
     {Parameter::vp, Parameter::density},
     1,
     kernel::Stencil::variable_density,
     kernel::Stencil::variable_density,
     true},
    {Medium::vti,
     "vti",
     "VTI",
     {Parameter::epsilon, Parameter::delta},
     {Parameter::vp, Parameter::epsilon, Parameter::delta},
     {Parameter::vp, Parameter::epsilon, Parameter::delta},
     2,
     kernel::Stencil::vti,
     kernel::Stencil::vti_fletcher,
     true},
    {Medium::tti,
     "tti",
     "TTI",
     {Parameter::theta, Parameter::phi},
     {Parameter::vp, Parameter::epsilon, Parameter::delta, Parameter::theta, Parameter::phi},
     {Parameter::vp, Parameter::epsilon, Parameter::delta},
     2,
     kernel::Stencil::tti,
     kernel::Stencil::tti_fletcher,
     false},
}};

/// Coefficients that only sources and receivers read, not steps.
inline constexpr CoefficientSet point_coefficients = {Coefficient::q_scale,
                                                      Coefficient::root_density};

/// Description of a stencil.
struct StencilInfo {
  kernel::Stencil stencil;      ///< the stencil
  int fields;                   ///< wavefields
  CoefficientSet coefficients;  ///< arrays of the medium
  CoefficientSet halo;          ///< coefficients that are read at neighbours
  int work_fields;              ///< arrays that a step writes and reads in addition to wavefields
  int passes;                   ///< nested differences: reach in units of half the order
  bool cpml;                    ///< true if kernels of perfectly matched layers exist
  bool layer_march;             ///< true if the step on devices includes the layers
  bool symmetric;               ///< true if the operator is its own adjoint
  bool tuned = true;            ///< false if the plain step is the only one
};

/// All stencils, in the order of the enumeration.
inline constexpr std::array<StencilInfo, 6> stencils = {{
    {kernel::Stencil::isotropic, 1, {Coefficient::scale}, {}, 0, 1, true, true, true},
    {kernel::Stencil::variable_density,
     1,
     {Coefficient::scale, Coefficient::root_density, Coefficient::a},
     {},
     0,
     1,
     true,
     true,
     true},
    {kernel::Stencil::vti,
     2,
     {Coefficient::scale, Coefficient::q_scale, Coefficient::a, Coefficient::b},
     {},
     0,
     1,
     true,
     true,
     true},
    {kernel::Stencil::tti,
     2,
     {Coefficient::scale, Coefficient::q_scale, Coefficient::a, Coefficient::b, Coefficient::nx,
      Coefficient::ny, Coefficient::nz},
     {Coefficient::nx, Coefficient::ny, Coefficient::nz},
     2,
     2,
     false,
     false,
     true},
    {kernel::Stencil::vti_fletcher,
     2,
     {Coefficient::scale, Coefficient::a, Coefficient::b},
     {},
     0,
     1,
     true,
     false,
     false},
    {kernel::Stencil::tti_fletcher,
     2,
     {Coefficient::scale, Coefficient::a, Coefficient::b, Coefficient::nx, Coefficient::ny},
     {},
     0,
     1,
     false,
     false,
     false},
}};

/// Returns the description of a parameter.
constexpr const ParameterInfo& info(Parameter parameter) {
  return parameters[static_cast<std::size_t>(parameter)];
}
/// Returns the description of a medium.
constexpr const MediumInfo& info(Medium medium) { return media[static_cast<std::size_t>(medium)]; }
/// Returns the description of a stencil.
constexpr const StencilInfo& info(kernel::Stencil stencil) {
  return stencils[static_cast<std::size_t>(stencil)];
}

/// Returns "vp", "density", "epsilon", "delta", "theta" or "phi".
inline const char* to_string(Parameter parameter) { return info(parameter).name; }
/// Returns "isotropic", "variable_density", "vti" or "tti".
inline const char* to_string(Medium medium) { return info(medium).name; }

/// Returns the number of wavefields of a medium: 1 (p) or 2 (p and q).
constexpr int fields_of(Medium medium) { return info(medium).fields; }

/// Returns the medium of a model with these parameters: the most general one that they imply.
constexpr Medium medium_of(ParameterSet given) {
  for (std::size_t n = media.size(); n-- > 0;) {
    if (media[n].defining.intersects(given)) return media[n].medium;
  }
  return Medium::isotropic;
}

/// Parameters with gradients in one medium or more.
inline constexpr ParameterSet invertible_parameters = [] {
  ParameterSet result;
  for (const MediumInfo& row : media) result.bits |= row.invertible.bits;
  return result;
}();

/// Returns the stencil of a medium and a system of equations.
constexpr kernel::Stencil stencil_of(Medium medium, Equations equations) {
  return equations == Equations::fletcher ? info(medium).fletcher : info(medium).self_adjoint;
}

/// Returns the arrays of coefficients of a stencil in 2D or 3D.
constexpr CoefficientSet coefficients_of(kernel::Stencil stencil, int dim) {
  CoefficientSet result;
  for (int n = 0; n <= static_cast<int>(Coefficient::nz); ++n) {
    const auto coefficient = static_cast<Coefficient>(n);
    if (dim == 2 && coefficient == Coefficient::ny) continue;
    if (info(stencil).coefficients.has(coefficient)) result.insert(coefficient);
  }
  return result;
}

/// Returns the number of arrays that a step of a stencil reads in 2D or 3D.
constexpr int step_coefficient_count(kernel::Stencil stencil, int dim) {
  CoefficientSet result = coefficients_of(stencil, dim);
  result.bits &= ~point_coefficients.bits;
  return result.size();
}

/// Returns the stencils whose description has a property. \param has predicate of a StencilInfo
template <class Predicate>
constexpr StencilSet stencils_with(const Predicate& has) {
  StencilSet result;
  for (const StencilInfo& row : stencils) {
    if (has(row)) result.insert(row.stencil);
  }
  return result;
}
/// All stencils.
inline constexpr StencilSet all_stencils = stencils_with([](const StencilInfo&) { return true; });
/// Stencils with kernels of perfectly matched layers.
inline constexpr StencilSet cpml_stencils =
    stencils_with([](const StencilInfo& row) { return row.cpml; });
/// Stencils whose step on devices includes perfectly matched layers.
inline constexpr StencilSet layer_march_stencils =
    stencils_with([](const StencilInfo& row) { return row.layer_march; });
/// Stencils with a symmetric operator.
inline constexpr StencilSet symmetric_stencils =
    stencils_with([](const StencilInfo& row) { return row.symmetric; });
/// Stencils with a symmetric operator of one pass and tuned kernels.
inline constexpr StencilSet one_pass_symmetric_stencils = stencils_with(
    [](const StencilInfo& row) { return row.symmetric && row.passes == 1 && row.tuned; });

namespace kernel {

/// Number of wavefields of a stencil, as a constant for kernels.
template <Stencil stencil>
inline constexpr int field_count = info(stencil).fields;
/// Returns the number of wavefields of a stencil.
constexpr int fields_of(Stencil stencil) { return info(stencil).fields; }

/// Stencil as a type: its member `value` is a constant.
template <Stencil stencil>
using StencilConstant = std::integral_constant<Stencil, stencil>;

/// \brief Calls f(StencilConstant<stencil>()) for a stencil chosen at run time.
///
/// Only this function turns a stencil into a template argument. f is instantiated for the stencils
/// of `set` alone, and returns the same type for all of them.
/// \throws std::logic_error for a stencil outside the set
template <std::uint32_t set = all_stencils.bits, class F, std::size_t n = 0>
auto visit_stencil(Stencil stencil, const F& f) {
  if constexpr ((set >> n & 1u) == 0) {
    return visit_stencil<set, F, n + 1>(stencil, f);
  } else {
    constexpr bool is_last = (set >> n) == 1u;
    if (stencil == static_cast<Stencil>(n)) return f(StencilConstant<static_cast<Stencil>(n)>());
    if constexpr (is_last) {
      throw std::logic_error("moho: this operation has no kernel for the stencil");
    } else {
      return visit_stencil<set, F, n + 1>(stencil, f);
    }
  }
}

}  // namespace kernel

namespace detail {
/// Returns true if each row has the index of its enumerator, and the tables are consistent.
constexpr bool media_are_consistent() {
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    if (static_cast<std::size_t>(parameters[n].parameter) != n) return false;
  }
  for (std::size_t n = 0; n < media.size(); ++n) {
    if (static_cast<std::size_t>(media[n].medium) != n) return false;
    if (info(media[n].self_adjoint).fields != media[n].fields) return false;
    if (info(media[n].fletcher).fields != media[n].fields) return false;
    if ((media[n].invertible.bits & ~media[n].allowed.bits) != 0) return false;
    if ((media[n].defining.bits & ~media[n].allowed.bits) != 0) return false;
    if (media[n].cpml != info(media[n].self_adjoint).cpml) return false;
  }
  for (std::size_t n = 0; n < stencils.size(); ++n) {
    if (static_cast<std::size_t>(stencils[n].stencil) != n) return false;
    if ((stencils[n].halo.bits & ~stencils[n].coefficients.bits) != 0) return false;
  }
  return true;
}
static_assert(media_are_consistent());
}  // namespace detail

}  // namespace moho::wave
