// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Factors of injection and recording that make a scheme its own exact adjoint.

#include <moho/core/instances.hpp>
#include <moho/wave/propagator.hpp>

namespace moho::wave {

/// \brief Factors by node, in the layout of a medium, that make a scheme its own adjoint.
///
/// A step is u' = w (2 u + B (D u + f)) - w^2 u_before, with the sponge's factor w, a symmetric
/// operator D and a matrix B at each node. With nu = w B lambda the transposed recursion for lambda
/// is the same step. Data of p are therefore injected into p and q with w B. The adjoint of a
/// source (MediumCoefficients::source_scale()) is recorded from one of the fields.
///
/// The adjoint is exact for all media of self-adjoint equations and all faces. With perfectly
/// matched layers it is exact between points whose nodes lie outside the layers.
template <class T, class Memory>
struct AdjointFactors {
  Storage<T, Memory> inject[2];  ///< factors of data of p, for injection into p and into q
  /// Second factors of data and of recording: sqrt(rho) where the density varies.
  Storage<const T, Memory> pressure;
  int field = 0;              ///< field from which the adjoint of a source is recorded: 0 p, 1 q
  Storage<T, Memory> record;  ///< factor of that field

  /// Returns the factors for PointSet::inject() of data of p into a field.
  NodeFactors<T, Memory> injection(int f) const { return {inject[f], pressure}; }
};

/// \brief Returns the factors of a medium.
/// \param exec execution instance
/// \param scheme of self-adjoint equations
/// \param medium loaded
/// \throws InputError for Fletcher's equations, which are not self-adjoint
template <class T, int Dim, class Memory>
AdjointFactors<T, Memory> adjoint_factors(const InstanceOf<Memory>& exec,
                                          const Scheme<T, Dim, Memory>& scheme,
                                          const MediumCoefficients<T, Dim, Memory>& medium);

namespace kernel {
/// Functor that computes the factors at a node of the window.
template <class T, int Dim>
struct FindAdjointFactors {
  StepArguments<T> s;
  Layout<Dim> layout;
  Box<Dim> box;
  const T* root_density;  ///< element 0; null: 1
  T *p, *q, *record;      ///< element 0 of the arrays; q is null for one field
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const Index<Dim> node = box.node(n);
    const std::int64_t element = layout.flat(node), i = element - layout.offset;
    T w = s.taper[0][node[0]] * s.taper[2][node[Dim - 1]];
    if (Dim == 3) w *= s.taper[1][node[1]];
    const T scale = w * s.scale[i];
    const T back = w > T(0) ? T(1) / w : T(0);
    if (q == nullptr) {
      p[element] = scale;
      record[element] = root_density != nullptr ? back * root_density[element] : back;
    } else {
      p[element] = scale * s.a[i];
      q[element] = scale * s.b[i];
      record[element] = back / s.b[i];
    }
  }
};
}  // namespace kernel

template <class T, int Dim, class Memory>
AdjointFactors<T, Memory> adjoint_factors(const InstanceOf<Memory>& exec,
                                          const Scheme<T, Dim, Memory>& scheme,
                                          const MediumCoefficients<T, Dim, Memory>& medium) {
  const bool two = scheme.fields() == 2;
  if (two && scheme.options().equations == Equations::fletcher) {
    throw InputError(
        "equations: Fletcher's are not self-adjoint, so that their steps have no adjoint among "
        "steps (allowed: the self-adjoint equations): take Equations::self_adjoint");
  }
  if (scheme.rounds_parameters()) {
    throw InputError(
        "parameters: those of 16 bits have no gradients (allowed: 32 bits): keep the parameters as "
        "numbers");
  }
  AdjointFactors<T, Memory> result;
  const auto make = [&] {
    return make_storage<T>(exec, medium.layout(), "moho::wave::adjoint_factor");
  };
  result.inject[0] = make();
  if (two) result.inject[1] = make();
  result.record = make();
  result.field = two ? 1 : 0;
  result.pressure = medium.pressure_factors();
  kernel::FindAdjointFactors<T, Dim> find{};
  find.s = scheme.arguments();
  medium.bind(find.s);
  find.layout = medium.layout();
  find.box = medium.layout().box();
  find.root_density = result.pressure.data();
  find.p = result.inject[0].data();
  find.q = result.inject[1].data();
  find.record = result.record.data();
  launch("moho::wave::adjoint_factors", exec, find.box.size(), find);
  return result;
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, adjoint_factors)
}  // namespace moho::wave
#endif
/// \endcond
