// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains that derive the arrival times of waves from the model.

#include <moho/core/field_copy.hpp>
#include <moho/domain/detail/plane_arrivals.hpp>
#include <moho/domain/domain.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace moho::domain {

/// \brief Boxes of a run whose arrivals are known before its first step.
///
/// The data are on the host and require neither wavefield nor propagator.
template <int Dim>
class ArrivalRule {
 public:
  /// Creates an object without boxes.
  ArrivalRule() = default;
  /// \brief Sets all data except the arrivals.
  /// \param scheme of the run
  /// \param sources points of injection
  /// \param options onset, frequency, margin, source_radius
  /// \throws InputError for options out of range, or no source
  template <class T, class Memory>
  ArrivalRule(const wave::Scheme<T, Dim, Memory>& scheme,
              const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options);

  /// Sets the arrivals. \param grown nodes by which the box around the sources grows
  void set(const detail::ArrivalBoxes<Dim>& arrivals, std::int64_t grown = 0) {
    m_arrivals = arrivals;
    m_start = m_start.grown(grown);
  }
  /// Returns the nodes of the step from `step` to `step + 1`.
  ///
  /// They are the planes that waves reach within the step, plus the margin. Each box contains the
  /// previous one.
  Box<Dim> box(std::int64_t step) const;

 private:
  detail::ArrivalBoxes<Dim> m_arrivals;  ///< arrivals of planes, along each axis
  Box<Dim> m_whole{};                    ///< the complete grid
  Box<Dim> m_start{};                    ///< nodes of every box
  int m_margin = 0;                      ///< nodes ahead of arrivals
  double m_dt = 0.0;                     ///< time step of the scheme, s
  double m_onset = 0.0;                  ///< time before which sources are zero, s
  double m_haste = 1.0;  ///< upper bound of the scheme's velocities over the true ones
};

/// \brief Base of the methods with known arrivals: finds the box of each step.
template <class T, int Dim, class Memory>
class ArrivalDomain : public ExpandingDomain<T, Dim, Memory> {
 protected:
  /// Checks the arguments and prepares all data except the arrivals.
  ArrivalDomain(const wave::Propagator<T, Dim, Memory>& propagator,
                const wave::Model<T, Dim, Memory>& model,
                const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options);

  /// Returns the planes that waves reach within the step, plus the margin.
  Box<Dim> next_box(const Instance<Memory>&, const wave::Propagator<T, Dim, Memory>&,
                    const wave::Wavefield<T, Dim, Memory>&, std::int64_t step) override;
  /// Velocities of the model, until the arrivals are computed.
  detail::FastestVelocity<T, Dim> m_fastest;
  ArrivalRule<Dim> m_rule;  ///< computes the boxes
};

/// \brief Constant-velocity layers (the first method of Suh and Wang 2011).
///
/// V(z), the largest velocity at each depth, gives a lower bound of the travel time from the
/// sources' depth to any other. The same holds along x and y. The cost is negligible. Boxes are too
/// wide where one plane intersects a fast body that waves reach late.
template <class T, int Dim, class Memory>
class LayersDomain : public ArrivalDomain<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the search
  /// \param propagator of the run
  /// \param model model of the propagator, layers included
  /// \param sources points of injection
  /// \param options onset, frequency, margin, source_radius
  /// \throws InputError for options out of range, no source, or a model of another shape
  LayersDomain(const InstanceOf<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
               const wave::Model<T, Dim, Memory>& model,
               const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options = {});
};

/// \brief First arrivals by the eikonal equation (the second method of Suh and Wang 2011).
///
/// The box contains, along each axis, the planes with a first arrival. The velocity is the largest
/// in any direction, so that waves in VTI and TTI media are not ahead of the arrivals. (The paper
/// uses the velocity along the symmetry plane.)
///
/// The paper found the solver too expensive. Boxes need outlines only, so that the equation is
/// solved on every fourth node (options.coarsening). Each coarse node has the largest velocity of
/// the nodes around it. Each plane of the grid has the earlier arrival of the two adjacent coarse
/// planes. This costs a few nodes of the box and saves 63/64 of the work.
template <class T, int Dim, class Memory>
class EikonalDomain : public ArrivalDomain<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the solver
  /// \param propagator of the run
  /// \param model model of the propagator, layers included
  /// \param sources points of injection
  /// \param options onset, frequency, margin, coarsening, source_radius
  /// \throws InputError for options out of range, no source, or a model of another shape
  EikonalDomain(const InstanceOf<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
                const wave::Model<T, Dim, Memory>& model,
                const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options = {});
};

/// \brief First arrivals of the shots over a model, which is read for the first of them only.
///
/// The boxes are those of LayersDomain and EikonalDomain. They serve runs whose steps are not
/// consecutive, and runs over several devices, neither of which can measure a wavefield.
template <class T, int Dim, class Memory>
class ModelArrivals {
 public:
  /// \param expansion layers or eikonal
  /// \param grid of the model
  /// \param model without the layers of its faces; its fields are shared
  /// \throws InputError for another method
  ModelArrivals(ExpansionMethod expansion, const Grid<Dim>& grid,
                const wave::Model<T, Dim, Memory>& model);
  ModelArrivals(const ModelArrivals&) = delete;
  ModelArrivals& operator=(const ModelArrivals&) = delete;

  /// \brief Returns the boxes of all steps of a shot. Threads may call it concurrently.
  /// \param exec instance that reads the model; the function waits for it
  /// \param solver instance that solves the equation of the method eikonal, possibly on a device;
  ///   `exec` solves it where the memory of `solver` does not suffice
  /// \param scheme of the grid with its layers
  /// \param sources points of injection
  /// \param options onset, frequency, margin, coarsening, source_radius
  /// \throws InputError for options out of range, no source, or fields of another shape
  template <class Solver>
  ArrivalRule<Dim> boxes(const Instance<Memory>& exec, const Instance<Solver>& solver,
                         const wave::Scheme<T, Dim, Memory>& scheme,
                         const wave::PointSet<T, Dim, Memory>& sources,
                         const DomainOptions& options);

 private:
  using Planes = std::array<std::vector<double>, Dim>;
  void read(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
            std::int64_t coarsening);

  ExpansionMethod m_expansion;
  Grid<Dim> m_model_grid;
  wave::Model<T, Dim, Memory> m_model;
  std::mutex m_mutex;
  // of the scheme for which the model was read last
  Box<Dim> m_read{};  ///< node 0 of the model, and extents
  wave::Equations m_equations{};
  std::int64_t m_coarsening = 0;
  std::shared_ptr<const Planes> m_slowness;
  Field<T, Dim, Memory> m_velocity;
};

/// \brief Returns the boxes of all steps of a shot, see ModelArrivals.
/// \param expansion layers or eikonal
/// \param exec execution instance of the search; the function waits for it
/// \param grid of the model
/// \param model without the layers of its faces
/// \param scheme of the grid with its layers
/// \param sources points of injection
/// \param options onset, frequency, margin, coarsening, source_radius
/// \throws InputError for another method, options out of range, no source, or fields of another
///   shape
template <class T, int Dim, class Memory>
ArrivalRule<Dim> shot_boxes(ExpansionMethod expansion, const InstanceOf<Memory>& exec,
                            const Grid<Dim>& grid, const wave::Model<T, Dim, Memory>& model,
                            const wave::Scheme<T, Dim, Memory>& scheme,
                            const wave::PointSet<T, Dim, Memory>& sources,
                            const DomainOptions& options = {});

template <int Dim>
template <class T, class Memory>
ArrivalRule<Dim>::ArrivalRule(const wave::Scheme<T, Dim, Memory>& scheme,
                              const wave::PointSet<T, Dim, Memory>& sources,
                              const DomainOptions& options) {
  constexpr double pi = 3.14159265358979323846;
  check_options(options);
  const Grid<Dim>& grid = scheme.grid();
  detail::check_sources(grid, sources, options);
  m_whole = whole_box(grid);
  m_start = sources.box();
  m_margin = scheme.order() / 2 + options.margin;
  m_dt = scheme.dt();
  m_onset = options.onset;
  double frequency = options.frequency > 0.0 ? options.frequency : scheme.options().frequency;
  if (frequency == 0.0) {
    double spacing = 0.0;
    for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
    frequency = scheme.limits().min_velocity /
                (wave::required_points_per_wavelength(scheme.order()) * spacing);
  }
  // Numerical dispersion of leapfrog raises velocities: sin(omega dt / 2) = c k dt / 2 for exact
  // spatial differences.
  m_haste = 1.0 / std::cos(std::min(pi * frequency * m_dt, 1.0));
}

template <int Dim>
Box<Dim> ArrivalRule<Dim>::box(std::int64_t step) const {
  // a step writes the values at its end
  const double time = static_cast<double>(step + 1) * m_dt - m_onset;
  const Box<Dim> arrived = m_arrivals.at(time * m_haste);
  Box<Dim> box = m_start;
  for (int d = 0; d < Dim; ++d) {
    if (arrived.lower[d] < arrived.upper[d]) {
      box.lower[d] = std::min(box.lower[d], arrived.lower[d]);
      box.upper[d] = std::max(box.upper[d], arrived.upper[d]);
    }
  }
  return intersection(box.grown(m_margin), m_whole);
}

template <class T, int Dim, class Memory>
ModelArrivals<T, Dim, Memory>::ModelArrivals(ExpansionMethod expansion, const Grid<Dim>& grid,
                                             const wave::Model<T, Dim, Memory>& model)
    : m_expansion(expansion), m_model_grid(grid), m_model(model) {
  if (expansion != ExpansionMethod::layers && expansion != ExpansionMethod::eikonal) {
    throw InputError(concat("expansion is ", to_string(expansion),
                            " (allowed: layers, eikonal, which know from the model when waves "
                            "arrive): choose one"));
  }
}

template <class T, int Dim, class Memory>
void ModelArrivals<T, Dim, Memory>::read(const Instance<Memory>& exec,
                                         const wave::Scheme<T, Dim, Memory>& scheme,
                                         std::int64_t coarsening) {
  const Grid<Dim>& grid = scheme.grid();
  const wave::Equations equations = scheme.options().equations;
  Index<Dim> shift;
  for (int d = 0; d < Dim; ++d) shift[d] = scheme.options().boundaries.lower[d].layer();
  const Box<Dim> nodes{shift, grid.extents};
  if (m_coarsening == coarsening && m_read == nodes && m_equations == equations) return;
  const auto fastest =
      detail::fastest_velocity<T, Dim, Memory>(m_model_grid, m_model, equations, shift);
  if (m_expansion == ExpansionMethod::layers) {
    m_slowness =
        std::make_shared<const Planes>(detail::min_slowness<T, Dim, Memory>(exec, grid, fastest));
  } else {
    m_velocity = detail::coarse_velocity<T, Dim, Memory>(exec, grid, fastest, coarsening);
    exec.fence();
  }
  m_read = nodes;
  m_equations = equations;
  m_coarsening = coarsening;
}

template <class T, int Dim, class Memory>
template <class Solver>
ArrivalRule<Dim> ModelArrivals<T, Dim, Memory>::boxes(const Instance<Memory>& exec,
                                                      const Instance<Solver>& solver,
                                                      const wave::Scheme<T, Dim, Memory>& scheme,
                                                      const wave::PointSet<T, Dim, Memory>& sources,
                                                      const DomainOptions& options) {
  ArrivalRule<Dim> rule(scheme, sources, options);
  const Grid<Dim>& grid = scheme.grid();
  const std::int64_t coarsening = options.coarsening;
  std::shared_ptr<const Planes> slowness;
  Field<T, Dim, Memory> velocity;
  {
    const std::lock_guard lock(m_mutex);
    read(exec, scheme, coarsening);
    slowness = m_slowness;
    velocity = m_velocity;
  }
  if (m_expansion == ExpansionMethod::layers) {
    rule.set(detail::arrivals_by_layers<Dim>(grid, *slowness, sources.box()));
    return rule;
  }
  const auto solve = [&]<class By>(const Instance<By>& by, const Field<T, Dim, By>& coarse) {
    rule.set(
        detail::arrivals_by_eikonal<T, Dim, By>(by, grid, coarse, sources.positions(), coarsening),
        // between the coarse planes on either side of a source
        coarsening - 1);
  };
  if constexpr (!std::is_same_v<Solver, Memory>) {
    try {
      solve(solver,
            field_in<T, Dim, Solver>(solver, detail::coarse_grid(grid, coarsening), velocity));
      return rule;
    } catch (const MemoryError&) {  // the other instance solves it
    }
  }
  solve(exec, velocity);
  return rule;
}

template <class T, int Dim, class Memory>
ArrivalRule<Dim> shot_boxes(ExpansionMethod expansion, const InstanceOf<Memory>& exec,
                            const Grid<Dim>& grid, const wave::Model<T, Dim, Memory>& model,
                            const wave::Scheme<T, Dim, Memory>& scheme,
                            const wave::PointSet<T, Dim, Memory>& sources,
                            const DomainOptions& options) {
  const Instance<Memory>& instance = exec;
  return ModelArrivals<T, Dim, Memory>(expansion, grid, model)
      .boxes(instance, instance, scheme, sources, options);
}

template <class T, int Dim, class Memory>
ArrivalDomain<T, Dim, Memory>::ArrivalDomain(const wave::Propagator<T, Dim, Memory>& propagator,
                                             const wave::Model<T, Dim, Memory>& model,
                                             const wave::PointSet<T, Dim, Memory>& sources,
                                             const DomainOptions& options)
    : m_rule(propagator.scheme(), sources, options) {
  m_fastest = detail::fastest_velocity<T, Dim, Memory>(
      propagator.grid(), model, propagator.scheme().options().equations, Index<Dim>{});
  const wave::Boundaries<Dim>& faces = propagator.scheme().options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    m_fastest.lower[d] = faces.lower[d].layer();
    m_fastest.upper[d] = faces.upper[d].layer();
  }
}

template <class T, int Dim, class Memory>
Box<Dim> ArrivalDomain<T, Dim, Memory>::next_box(const Instance<Memory>&,
                                                 const wave::Propagator<T, Dim, Memory>&,
                                                 const wave::Wavefield<T, Dim, Memory>&,
                                                 std::int64_t step) {
  const detail::Stopwatch watch(this->m_report.seconds_steps);
  return m_rule.box(step);
}

template <class T, int Dim, class Memory>
LayersDomain<T, Dim, Memory>::LayersDomain(const InstanceOf<Memory>& exec,
                                           const wave::Propagator<T, Dim, Memory>& propagator,
                                           const wave::Model<T, Dim, Memory>& model,
                                           const wave::PointSet<T, Dim, Memory>& sources,
                                           const DomainOptions& options)
    : ArrivalDomain<T, Dim, Memory>(propagator, model, sources, options) {
  const detail::Stopwatch watch(this->m_report.seconds_setup);
  this->m_rule.set(detail::arrivals_by_layers<Dim>(
      propagator.grid(),
      detail::min_slowness<T, Dim, Memory>(exec, propagator.grid(), this->m_fastest),
      sources.box()));
  this->m_fastest = {};
}

template <class T, int Dim, class Memory>
EikonalDomain<T, Dim, Memory>::EikonalDomain(const InstanceOf<Memory>& exec,
                                             const wave::Propagator<T, Dim, Memory>& propagator,
                                             const wave::Model<T, Dim, Memory>& model,
                                             const wave::PointSet<T, Dim, Memory>& sources,
                                             const DomainOptions& options)
    : ArrivalDomain<T, Dim, Memory>(propagator, model, sources, options) {
  const detail::Stopwatch watch(this->m_report.seconds_setup);
  this->m_rule.set(detail::arrivals_by_eikonal<T, Dim, Memory>(
                       exec, propagator.grid(),
                       detail::coarse_velocity<T, Dim, Memory>(exec, propagator.grid(),
                                                               this->m_fastest, options.coarsening),
                       sources.positions(), options.coarsening),
                   // between the coarse planes on either side of a source
                   options.coarsening - 1);
  this->m_fastest = {};
}

}  // namespace moho::domain
