// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains that expand with the wavefield: three methods with one interface.
///
/// Suh, S., and Wang, B., 2011, Expanding domain methods in GPU based TTI reverse time migration.

#include <moho/core/instances.hpp>
#include <moho/domain/amplitude.hpp>
#include <moho/domain/arrivals.hpp>
#include <moho/domain/domain.hpp>

#include <memory>

namespace moho::domain {

/// \brief Returns the domain of a method, for wave::ShotOptions::domain.
/// \param expansion the method
/// \param exec execution instance of the preparation
/// \param propagator of the run
/// \param model model of the propagator, layers included (wave::extend_model())
/// \param sources points of injection
/// \param options of all methods
/// \throws InputError for options out of range, no source, or a model of another shape
template <class T, int Dim, class Memory>
std::unique_ptr<ExpandingDomain<T, Dim, Memory>> make_domain(
    ExpansionMethod expansion, const InstanceOf<Memory>& exec,
    const wave::Propagator<T, Dim, Memory>& propagator, const wave::Model<T, Dim, Memory>& model,
    const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options = {}) {
  switch (expansion) {
    case ExpansionMethod::layers:
      return std::make_unique<LayersDomain<T, Dim, Memory>>(exec, propagator, model, sources,
                                                            options);
    case ExpansionMethod::eikonal:
      return std::make_unique<EikonalDomain<T, Dim, Memory>>(exec, propagator, model, sources,
                                                             options);
    case ExpansionMethod::amplitude:
      return std::make_unique<AmplitudeDomain<T, Dim, Memory>>(exec, propagator, sources, options);
    default:
      return std::make_unique<ExpandingDomain<T, Dim, Memory>>();
  }
}

}  // namespace moho::domain

/// \cond
#ifdef MOHO_DOMAIN_KERNELS
namespace moho::domain {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::min_slowness)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::coarse_velocity)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, detail::arrivals_by_eikonal)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, shot_boxes)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, ArrivalDomain)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, LayersDomain)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, EikonalDomain)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, AmplitudeDomain)
}  // namespace moho::domain
#endif
/// \endcond
