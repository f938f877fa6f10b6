// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Explicit instantiations in the library of compiled kernels.
///
/// Headers declare them extern where MOHO_GRAVITY_KERNELS is defined; linking that library defines
/// it.

#include <moho/core/instance.hpp>

/// \cond
#define MOHO_GRAVITY_TILES(prefix, T, Item, Memory)                                          \
  prefix template void detail::sum_tiles<T, Item, Memory>(const Instance<Memory>&, unsigned, \
                                                          const detail::TileData<T, Item>&, int);

#define MOHO_GRAVITY_PRISMS(prefix, T, Memory)                                          \
  MOHO_GRAVITY_TILES(prefix, T, detail::Record<T>, Memory)                              \
  prefix template void detail::sum_prisms<T, Memory>(const Instance<Memory>&, unsigned, \
                                                     const detail::PassData<T>&, int, int);

#define MOHO_GRAVITY_CORNERS(prefix, Memory) \
  MOHO_GRAVITY_TILES(prefix, double, detail::CornerRecord, Memory)

#define MOHO_GRAVITY_FORWARD(prefix, T, Memory)                                      \
  prefix template Report detail::forward_rows<T, Memory>(                            \
      const Instance<Memory>&, const PrismView<Memory>&, const StationView<Memory>&, \
      const Components&, const ResultView<Memory>&, const Options&);                 \
  prefix template Strategy detail::strategy_of<T, Memory>(                           \
      const Instance<Memory>&, const RegularMesh&, const DensityView<Memory>&,       \
      const StationView<Memory>&);                                                   \
  prefix template Report detail::forward_mesh<T, Memory>(                            \
      const Instance<Memory>&, const RegularMesh&, const DensityView<Memory>&,       \
      const StationView<Memory>&, const Components&, const ResultView<Memory>&, const Options&);

#define MOHO_GRAVITY_NEAR_MASK(prefix, mask)     \
  prefix template void detail::near_lanes<mask>( \
      const simd::Pack<double>(&)[3], const simd::Pack<double>(&)[3], simd::Pack<double>*);
#define MOHO_GRAVITY_NEAR(prefix)                         \
  MOHO_GRAVITY_NEAR_MASK(prefix, 1u)                      \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_gz)         \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_gzz)        \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_gxy)        \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_attraction) \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_gradient)   \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_nine)       \
  MOHO_GRAVITY_NEAR_MASK(prefix, detail::mask_ten)

#define MOHO_GRAVITY_EACH(prefix, Memory)     \
  MOHO_GRAVITY_PRISMS(prefix, float, Memory)  \
  MOHO_GRAVITY_PRISMS(prefix, double, Memory) \
  MOHO_GRAVITY_CORNERS(prefix, Memory)        \
  MOHO_GRAVITY_FORWARD(prefix, float, Memory) \
  MOHO_GRAVITY_FORWARD(prefix, double, Memory)
/// \endcond
