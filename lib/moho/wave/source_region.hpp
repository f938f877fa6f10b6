// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Elliptical neighbourhoods of sources in VTI and TTI media.

#include <moho/core/instances.hpp>
#include <moho/wave/model.hpp>

#include <algorithm>
#include <cmath>

namespace moho::wave {

namespace detail {

/// Functor that tapers delta to epsilon around one source.
template <class T, int Dim>
struct TaperAroundSource {
  T* delta;
  const T* epsilon;  ///< null if absent, which means zero
  Grid<Dim> grid;
  Box<Dim> box;
  Point<Dim> source;
  double radius;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    using std::cos;
    using std::sqrt;
    const Index<Dim> node = box.node(n);
    double square = 0.0;
    for (int d = 0; d < Dim; ++d) {
      const double x = grid.origin[d] + static_cast<double>(node[d]) * grid.spacing[d] - source[d];
      square += x * x;
    }
    // 0 up to half the radius, then half a cosine up to 1
    const double part = 2.0 * sqrt(square) / radius - 1.0;
    if (part >= 1.0) return;
    const double kept = part <= 0.0 ? 0.0 : 0.5 - 0.5 * cos(3.14159265358979323846 * part);
    const std::int64_t i = grid.flat(node);
    const double e = epsilon != nullptr ? static_cast<double>(epsilon[i]) : 0.0;
    const double difference = static_cast<double>(delta[i]) - e;
    delta[i] = static_cast<T>(e + kept * difference);
  }
};

}  // namespace detail

/// \brief Returns delta of a model, tapered to epsilon around sources.
///
/// Where epsilon and delta differ at a source, the acoustic equations of VTI and TTI radiate slow
/// shear waves in addition to P. In the self-adjoint equations these have no velocity along and
/// across the symmetry axis, and the wavefield there does not converge with the spacing. A source
/// in an elliptical medium radiates only P (Duveneck, Milcik, Bakker and Perkins 2008). P waves are
/// faster where delta is raised, so that arrivals come early (docs/theory/waves.md).
///
/// \param instance execution instance of all work, without a fence
/// \param grid of the model
/// \param model with epsilon or delta; an absent one is zero
/// \param sources positions
/// \param radius metres; delta equals epsilon up to half the radius and is unchanged beyond the
///   radius. With 1.4 of the shortest wavelength, traces along the axes still depended on the
///   spacing by 5e-3 of their peak, with 2.4 by 7e-4 (docs/theory/waves.md)
/// \return a new field; the model's own is not changed
/// \throws InputError for a radius that is not positive, or fields of another shape than the grid's
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> taper_delta(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                  const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                                  double radius);

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> taper_delta(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                  const Model<T, Dim, Memory>& model, const Points<Dim>& sources,
                                  double radius) {
  const Instance<Memory>& exec = instance;
  if (!(radius > 0.0) || !std::isfinite(radius)) {
    throw InputError(concat("radius around sources is ", radius,
                            " m (allowed: positive numbers): twice the shortest wave is usual"));
  }
  auto delta = make_field<T>(exec, grid, "delta");
  if (model.delta.data() != nullptr) {
    check_shape(grid, model.delta, "delta");
    copy(exec, delta, model.delta);
  } else {
    fill(exec, delta, T(0));
  }
  if (model.epsilon.data() != nullptr) check_shape(grid, model.epsilon, "epsilon");
  for (const Point<Dim>& source : sources) {
    detail::TaperAroundSource<T, Dim> functor{delta.data(), model.epsilon.data(), grid, {}, source,
                                              radius};
    bool any = true;
    for (int d = 0; d < Dim; ++d) {
      const double at = (source[d] - grid.origin[d]) / grid.spacing[d];
      const double reach = radius / grid.spacing[d];
      const double last = static_cast<double>(grid.extents[d] - 1);
      functor.box.lower[d] =
          static_cast<std::int64_t>(std::clamp(std::floor(at - reach), 0.0, last));
      functor.box.upper[d] =
          static_cast<std::int64_t>(std::clamp(std::ceil(at + reach), 0.0, last)) + 1;
      any = any && at + reach >= 0.0 && at - reach <= last;
    }
    if (!any) continue;
    launch("moho::wave::taper_delta", exec, functor.box.size(), functor);
  }
  return delta;
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, taper_delta)
}  // namespace moho::wave
#endif
/// \endcond
