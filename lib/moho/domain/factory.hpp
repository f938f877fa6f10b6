// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains for the shots of a survey.

#include <moho/domain/expand.hpp>
#include <moho/wave/shots.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace moho::domain {

/// \brief Returns the domain of each shot over a model, for wave::SurveyRunOptions::domain.
/// \param expansion the method; `none` gives an empty function, and all nodes are stepped
/// \param modelling of the shots; it has to outlive the function. Methods other than amplitude need
///   wave::ModellingOptions::keep_model
/// \param requested options of the method; onset and frequency are those of the plan
template <class T, int Dim, class Memory>
wave::DomainFactory<T, Dim, Memory> domain_factory(ExpansionMethod expansion,
                                                   const wave::Modelling<T, Dim, Memory>& modelling,
                                                   const DomainOptions& requested = {}) {
  if (expansion == ExpansionMethod::none) return {};
  return [expansion, requested, &modelling](const Instance<Memory>& exec,
                                            const wave::PointSet<T, Dim, Memory>& sources) {
    const wave::ModellingPlan<Dim>& plan = modelling.plan();
    DomainOptions options = requested;
    options.onset = onset(plan.wavelet, plan.time.dt);
    options.frequency = plan.frequency;
    auto made = make_domain<T, Dim, Memory>(expansion, exec, modelling.propagator(),
                                            modelling.extended_model(), sources, options);
    const ExpandingDomain<T, Dim, Memory>* const domain = made.get();
    return wave::ShotDomain<T, Dim, Memory>{std::move(made),
                                            [domain] { return domain->report().seconds(); }};
  };
}

/// Returns from a time level the nodes of the step from it.
template <int Dim>
using ShotBoxes = std::function<Box<Dim>(std::int64_t level)>;

/// \brief Returns the boxes of each shot over a model, for stream::StreamSurveyOptions::boxes.
///
/// The function shares the model's fields, which the first shot reads on the host.
/// \param expansion layers or eikonal; `none` gives an empty function, and all nodes are stepped
/// \param solver instance that solves the equation of the method eikonal, see ModelArrivals
/// \param grid of the model
/// \param model without the layers of its faces
/// \param scheme order and equations
/// \param requested options of the method; onset and frequency are those of the plan
template <class T, int Dim, class Memory>
std::function<ShotBoxes<Dim>(const wave::Shot<Dim>&, const wave::ModellingPlan<Dim>&)> box_factory(
    ExpansionMethod expansion, const Instance<Memory>& solver, const Grid<Dim>& grid,
    const wave::Model<T, Dim, Kokkos::HostSpace>& model, const wave::ModellingOptions<Dim>& scheme,
    const DomainOptions& requested = {}) {
  if (expansion == ExpansionMethod::none) return {};
  using Host = Kokkos::HostSpace;
  const auto arrivals = std::make_shared<ModelArrivals<T, Dim, Host>>(expansion, grid, model);
  return [=](const wave::Shot<Dim>& shot, const wave::ModellingPlan<Dim>& plan) {
    const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
    wave::PropagatorOptions<Dim> options;
    options.dt = plan.time.dt;
    options.order = scheme.order;
    options.boundaries = plan.faces;
    options.frequency = plan.frequency;
    options.equations = scheme.equations;
    options.sigma = scheme.sigma;
    const wave::Scheme<T, Dim, Host> stepped(host, plan.grid, plan.medium, plan.limits, options);
    const wave::PointSet<T, Dim, Host> sources(host, plan.grid, stepped.layout(), shot.sources,
                                               wave::point_options(stepped, "source", true));
    DomainOptions domain = requested;
    domain.onset = onset(plan.wavelet, plan.time.dt);
    domain.frequency = plan.frequency;
    const ArrivalRule<Dim> rule = arrivals->boxes(host, solver, stepped, sources, domain);
    return ShotBoxes<Dim>([rule](std::int64_t level) { return rule.box(level); });
  };
}

/// Positions of the first and the last node of a box, in m.
struct SnapshotDomain {
  std::vector<double> lower;  ///< of the first node along all axes
  std::vector<double> upper;  ///< of the last node along all axes
};

/// \brief Returns the nodes that are stepped at the times of snapshots.
/// \param plan of the shot, with TimePlan::snapshot_every; its grid has the layers
/// \param boxes of the shot's steps, see wave::ShotResult
/// \throws InputError for fewer boxes than steps
template <int Dim>
std::vector<SnapshotDomain> snapshot_domains(const wave::ModellingPlan<Dim>& plan,
                                             const wave::BoxHistory<Dim>& boxes) {
  std::vector<SnapshotDomain> domains;
  const std::int64_t interval = plan.time.snapshot_every;
  // a snapshot is taken after the step that leads to its time
  for (std::int64_t n = interval; interval > 0 && n <= plan.time.steps; n += interval) {
    const Box<Dim> box = boxes.at(n - 1);
    SnapshotDomain& domain = domains.emplace_back();
    for (int d = 0; d < Dim; ++d) {
      const double origin = plan.grid.origin[d], spacing = plan.grid.spacing[d];
      domain.lower.push_back(origin + spacing * static_cast<double>(box.lower[d]));
      domain.upper.push_back(origin + spacing * static_cast<double>(box.upper[d] - 1));
    }
  }
  return domains;
}

}  // namespace moho::domain
