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

/// \brief Additional work of a run of the adjoint field: adds the products of its current values
/// with the source wavefield.
///
/// The bits are those of add_products().
template <class T>
struct AddSectionProducts {
  static constexpr bool computes = true;
  static constexpr wave::StencilSet stencils = wave::layer_march_stencils;
  const T* source[wave::kernel::largest_section_run] = {};  ///< by step: snapshot; null: none
  std::int64_t q = 0;                                       ///< elements from p to q in a snapshot
  AddScale<T, 2> add{};                                     ///< without a snapshot
  Box<2> box{};                                             ///< nodes of the sums
  wave::kernel::SectionInjection<T> residual{};             ///< in pressure

  /// Sums of a node.
  struct Sums {
    T scale, illumination;
  };
  KOKKOS_FORCEINLINE_FUNCTION Sums load(int x, int z) const {
    const Index<2> node{x, z};
    if (!box.contains(node)) return {};
    const std::int64_t at = add.sums.at(node);
    return {add.scale[at], add.illumination[at]};
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int x, int z, const Sums& sums) const {
    const Index<2> node{x, z};
    if (!box.contains(node)) return;
    const std::int64_t at = add.sums.at(node);
    add.scale[at] = sums.scale;
    add.illumination[at] = sums.illumination;
  }
  /// Values of a node: the source wavefield, and the residual.
  struct Ahead {
    T p, q, residual;
    bool any, injects;
  };
  KOKKOS_FORCEINLINE_FUNCTION Ahead look_ahead(int step, std::int64_t row, int x, int z,
                                               int number) const {
    Ahead ahead{};
    const Index<2> node{x, z};
    if (source[step] == nullptr || !box.contains(node)) return ahead;
    const std::int64_t from = add.snapshot.at(node);
    ahead.any = true;
    ahead.p = source[step][from];
    if (q != 0) ahead.q = source[step][from + q];
    // each snapshot is read once in a run, and is not in the cache
    if (step + 1 < wave::kernel::largest_section_run && source[step + 1] != nullptr) {
      wave::kernel::prefetch_to_cache(source[step + 1] + from);
      if (q != 0) wave::kernel::prefetch_to_cache(source[step + 1] + from + q);
    }
    ahead.injects = number >= 0;
    if (ahead.injects) ahead.residual = residual.at(row).value(number);
    return ahead;
  }
  /// As SectionProducts and AddPointProduct.
  template <Stencil stencil>
  KOKKOS_FORCEINLINE_FUNCTION void see(const wave::kernel::StepArguments<T>& s, const Ahead& ahead,
                                       Sums& sums, int, int, int, std::int64_t i, T second_x,
                                       T second_z) const {
    if (!ahead.any) return;
    constexpr int fields = wave::kernel::field_count<stencil>;
    T change = second_x;
    if constexpr (fields == 1) change += second_z;
    if constexpr (stencil == Stencil::variable_density) change -= s.a[i] * s.now[0][i];
    T product = ahead.p * change;
    if constexpr (fields == 2) product = plus_product(product, ahead.q, second_z);
    sums.scale += add.weight * product;
    sums.illumination += add.time * ahead.p * ahead.p;
    if (!ahead.injects) return;
    product = ahead.p * ahead.residual;
    sums.scale += add.weight * product;
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
