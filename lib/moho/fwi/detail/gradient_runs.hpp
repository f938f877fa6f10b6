// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of gradients in several steps of a launch, for small sections on devices
/// (internal).

#include <moho/core/instances.hpp>
#include <moho/fwi/detail/scale_products.hpp>
#include <moho/wave/kernel/section_runs.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// \brief What a run of the adjoint field does besides: adds the products of its current values
/// with the source wavefield.
///
/// The bits are those of add_products().
template <class T>
struct AddSectionProducts {
  const T* source[wave::kernel::largest_section_run] = {};  ///< by step: snapshot; null: none
  std::int64_t q = 0;                                       ///< elements from p to q in a snapshot
  AddScale<T, 2> add{};                                     ///< without a snapshot
  Box<2> box{};                                             ///< nodes of the sums
  wave::kernel::SectionInjection<T> residual{};             ///< in pressure

  template <Stencil stencil, int radius>
  KOKKOS_FORCEINLINE_FUNCTION void before(const wave::kernel::StepArguments<T>& s, int step,
                                          std::int64_t row, int x, int z) const {
    const Index<2> node{x, z};
    if (source[step] == nullptr || !box.contains(node)) return;
    AddScale<T, 2> own = add;
    own.p = source[step];
    own.q = wave::kernel::field_count<stencil> == 2 ? own.p + q : nullptr;
    SectionProducts<stencil, T, radius>::node(s, own, x, z);
    const int number = residual.has(row) ? residual.number(x, z) : -1;
    if (number < 0) return;
    wave::kernel::end_of_store();
    const T product = own.p[own.snapshot.at(node)] * residual.value(number, row);
    own.scale[own.sums.at(node)] += own.weight * product;
  }
  KOKKOS_FORCEINLINE_FUNCTION void after(const wave::kernel::StepArguments<T>&, int, int, int,
                                         std::int64_t) const {}
};

}  // namespace moho::fwi::detail

/// \cond
#if defined(MOHO_FWI_KERNELS) && defined(KOKKOS_ENABLE_CUDA)
namespace moho::wave::detail {
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, fwi::detail::AddSectionProducts,
                 Stencil::isotropic, ::Kokkos::CudaSpace)
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, fwi::detail::AddSectionProducts,
                 Stencil::variable_density, ::Kokkos::CudaSpace)
MOHO_FOR_SCALARS(MOHO_FUNCTION, extern template, section_run_of, fwi::detail::AddSectionProducts,
                 Stencil::vti, ::Kokkos::CudaSpace)
}  // namespace moho::wave::detail
#endif
/// \endcond
