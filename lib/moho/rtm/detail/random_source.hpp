// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Separate source wavefield of a shot, with random layers (internal).

#include <moho/rtm/detail/shot_parts.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/wave/modelling.hpp>

#include <string>
#include <utility>

namespace moho::rtm::detail {

/// Returns the options of the random layers of a shot, each with another seed.
template <int Dim>
wave::RandomLayerOptions random_layers_of(const wave::ModellingPlan<Dim>& plan,
                                          const wave::Shot<Dim>& shot) {
  wave::RandomLayerOptions random = plan.random;
  random.seed += static_cast<std::uint64_t>(shot.number);
  return random;
}

/// Returns the options of a propagator with random layers of `width` nodes. \param options of the
/// propagator with absorbing layers
template <int Dim>
wave::PropagatorOptions<Dim> random_propagator_options(wave::PropagatorOptions<Dim> options,
                                                       int width) {
  options.boundaries = snapshot::random_faces(options.boundaries, width);
  options.frequency = 0.0;  // random layers are slower than the grid carries well
  return options;
}

/// \brief Returns a propagator with random layers on the complete grid of a shot.
/// \param exec instance of the arrays
/// \param grid,model of the shot, without layers
/// \param modelling propagator and plan of the shot
/// \param width nodes of the random layers
/// \param shot of the prepared data
template <class T, int Dim, class Memory>
wave::Propagator<T, Dim, Memory> random_propagator(const Instance<Memory>& exec,
                                                   const Grid<Dim>& grid,
                                                   const wave::Model<T, Dim, Memory>& model,
                                                   const wave::Modelling<T, Dim, Memory>& modelling,
                                                   int width, const wave::Shot<Dim>& shot) {
  const wave::ModellingPlan<Dim>& plan = modelling.plan();
  const auto options = random_propagator_options(modelling.propagator().options(), width);
  wave::Model<T, Dim, Memory> tapered = model;
  if (plan.source_taper > 0.0) {
    tapered.delta = wave::taper_delta<T, Dim, Memory>(exec, grid, model, tapered_points(shot),
                                                      plan.source_taper);
  }
  const auto extended = wave::extend_model<T, Dim, Memory>(exec, grid, tapered, options.boundaries,
                                                           random_layers_of(plan, shot));
  return wave::Propagator<T, Dim, Memory>(exec, wave::extended_grid(grid, options.boundaries),
                                          extended, options);
}

/// Propagator, sources and wavefield of a shot with random layers instead of absorbing ones.
template <class T, int Dim, class Memory>
class RandomSource {
 public:
  /// \param exec instance of the arrays
  /// \param propagator with random layers, of the complete grid or of a part
  /// \param shot of the prepared data
  /// \param amplitudes of the sources
  /// \param name name of the shot in messages
  RandomSource(const Instance<Memory>& exec, wave::Propagator<T, Dim, Memory> propagator,
               const wave::Shot<Dim>& shot, const wave::PointSeries<const T, Memory>& amplitudes,
               const std::string& name)
      : m_propagator(std::move(propagator)),
        m_sources(exec, m_propagator.grid(), m_propagator.layout(), shot.sources,
                  wave::point_options(m_propagator, name + ": source", true)),
        m_wavefield(m_propagator.make_wavefield(exec)),
        m_term{&m_propagator, &m_sources, amplitudes} {
    exec.fence();
  }
  RandomSource(const RandomSource&) = delete;
  RandomSource& operator=(const RandomSource&) = delete;

  /// Returns the source term; it refers to this object.
  const wave::SourceTerm<T, Dim, Memory>& term() const { return m_term; }
  /// Returns the wavefield of the forward propagation.
  wave::Wavefield<T, Dim, Memory>& wavefield() { return m_wavefield; }

 private:
  wave::Propagator<T, Dim, Memory> m_propagator;
  wave::PointSet<T, Dim, Memory> m_sources;
  wave::Wavefield<T, Dim, Memory> m_wavefield;
  wave::SourceTerm<T, Dim, Memory> m_term;
};

}  // namespace moho::rtm::detail
