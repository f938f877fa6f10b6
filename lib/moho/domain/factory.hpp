// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains for the shots of a survey.

#include <moho/domain/expand.hpp>
#include <moho/wave/shots.hpp>

#include <memory>

namespace moho::domain {

/// \brief The domain of each shot over a model, for wave::SurveyRunOptions::domain.
/// \param expansion the method; none: an empty function, all nodes are stepped
/// \param modelling of the shots, which has to live as long as the function. Methods other than
/// amplitude need wave::ModellingOptions::keep_model
template <class T, int Dim, class Memory>
wave::DomainFactory<T, Dim, Memory> domain_factory(
    Expansion expansion, const wave::Modelling<T, Dim, Memory>& modelling) {
  if (expansion == Expansion::none) return {};
  return [expansion, &modelling](const Instance<Memory>& exec,
                                 const wave::PointSet<T, Dim, Memory>& sources) {
    const wave::ModellingPlan<Dim>& plan = modelling.plan();
    DomainOptions options;
    options.onset = onset(plan.wavelet, plan.time.dt);
    options.frequency = plan.frequency;
    auto made = make_domain<T, Dim, Memory>(expansion, exec, modelling.propagator(),
                                            modelling.extended_model(), sources, options);
    const ExpandingDomain<T, Dim, Memory>* const domain = made.get();
    return wave::ShotDomain<T, Dim, Memory>{std::move(made),
                                            [domain] { return domain->report().seconds(); }};
  };
}

}  // namespace moho::domain
