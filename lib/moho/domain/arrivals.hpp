// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains that derive the arrival times of waves from the model.

#include <moho/domain/domain.hpp>
#include <moho/eikonal/solve.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace moho::domain {

namespace detail {

/// Largest velocity at a node in any direction: vp sqrt(max(1, 1 + 2 epsilon, 1 + 2 delta)).
///
/// Self-adjoint equations lower delta to epsilon where it is larger, so that delta never raises the
/// velocity: it is not read, and arrivals do not depend on its taper around sources.
///
/// The arrays may lack the layers of the faces. A node in a layer has the value of the nearest node
/// within, as in extend_model(). Random layers are slower than that; their values are not read, so
/// that arrays with and without layers give the same arrivals.
template <class T, int Dim>
struct FastestVelocity {
  const T *vp = nullptr, *epsilon = nullptr, *delta = nullptr;  ///< null if absent or not read
  Grid<Dim> model;                                              ///< grid of the arrays
  Index<Dim> shift{};  ///< node 0 of the model in the grid of the requested nodes
  Index<Dim> lower{};  ///< nodes of the arrays that are in the layers of the lower faces
  Index<Dim> upper{};  ///< nodes in the layers of the upper faces

  KOKKOS_FORCEINLINE_FUNCTION T operator()(const Index<Dim>& node) const {
    Index<Dim> inside;
    for (int d = 0; d < Dim; ++d) inside[d] = inside_of(d, node[d]);
    return value(model.flat(inside));
  }
  /// Returns the nearest node of the arrays along an axis that is outside the layers.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t inside_of(int axis, std::int64_t node) const {
    const std::int64_t first = lower[axis], last = model.extents[axis] - 1 - upper[axis];
    const std::int64_t k = node - shift[axis];
    return k < first ? first : k > last ? last : k;
  }
  /// Returns the largest velocity at an element of the arrays.
  KOKKOS_FORCEINLINE_FUNCTION T value(std::int64_t i) const {
    T most = T(1);
    if (epsilon != nullptr) {
      const T a = T(1) + T(2) * epsilon[i];
      most = a > most ? a : most;
    }
    if (delta != nullptr) {
      const T b = T(1) + T(2) * delta[i];
      most = b > most ? b : most;
    }
    return vp[i] * static_cast<T>(sqrt(most));
  }
};

/// Functor that returns the slowness of the fastest wave.
template <class T, int Dim>
struct LeastSlowness {
  FastestVelocity<T, Dim> fastest;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const std::int64_t, const Index<Dim>& node) const {
    return T(1) / fastest(node);
  }
};

/// Functor that returns the value of a field.
template <class T, int Dim>
struct ValueOf {
  const T* field;
  KOKKOS_FORCEINLINE_FUNCTION T operator()(const std::int64_t i, const Index<Dim>&) const {
    return field[i];
  }
};

/// Planes across all axes, one axis after the other: those across axis d begin at first[d].
template <int Dim>
struct PlaneRange {
  Index<Dim> first{};
  std::int64_t count = 0;

  explicit PlaneRange(const Grid<Dim>& grid) {
    for (int d = 0; d < Dim; ++d) {
      first[d] = count;
      count += grid.extents[d];
    }
  }
};

/// Functor that computes the smallest value on each plane.
template <class T, int Dim, class Value>
struct LeastOnPlanes {
  Value value;
  Grid<Dim> grid;
  Index<Dim> first;
  T* least;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = grid.node(i);
    const T own = value(i, node);
    for (int d = 0; d < Dim; ++d) {
      T* const address = least + first[d] + node[d];
      // few nodes lower a minimum that other threads have already lowered
      if (own < relaxed_load(address)) atomic_minimum(address, own);
    }
  }
};

/// Returns the minimum of a non-negative value on every plane across each axis, on the host.
template <class T, int Dim, class Memory, class Value>
std::array<std::vector<double>, Dim> least_on_planes(const Instance<Memory>& exec,
                                                     const Grid<Dim>& grid, const Value& value) {
  const PlaneRange<Dim> planes(grid);
  const auto least = allocate<Kokkos::View<T*, Memory>>(exec, "moho::domain::planes", planes.count);
  fill(exec, least, std::numeric_limits<T>::max());
  launch("moho::domain::planes", exec, grid.size(),
         LeastOnPlanes<T, Dim, Value>{value, grid, planes.first, least.data()});
  const std::vector<T> host = download(exec, least);
  std::array<std::vector<double>, Dim> result;
  for (int d = 0; d < Dim; ++d) {
    for (std::int64_t k = 0; k < grid.extents[d]; ++k) {
      result[static_cast<std::size_t>(d)].push_back(
          static_cast<double>(host[static_cast<std::size_t>(planes.first[d] + k)]));
    }
  }
  return result;
}

/// Functor that computes the largest velocity around each node of a coarser grid.
///
/// Node k of the coarse grid is the fine node k coarsening. No fine node between coarse nodes is
/// faster than these.
template <class T, int Dim>
struct Coarsen {
  FastestVelocity<T, Dim> fastest;
  Grid<Dim> fine, coarse;
  std::int64_t coarsening;
  T* velocity;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = coarse.node(i);
    Box<Dim> around;
    for (int d = 0; d < Dim; ++d) limit(d, node[d], around);
    T most = T(0);
    const std::int64_t nodes = around.size();
    for (std::int64_t k = 0; k < nodes; ++k) {
      const T v = fastest(around.node(k));
      most = v > most ? v : most;
    }
    velocity[i] = most;
  }
  /// Sets the fine nodes around a coarse one along an axis.
  KOKKOS_FORCEINLINE_FUNCTION void limit(int d, std::int64_t node, Box<Dim>& around) const {
    const std::int64_t centre = node * coarsening, last = fine.extents[d] - 1;
    around.lower[d] = centre - coarsening + 1;
    around.upper[d] = centre + coarsening;
    // the last coarse node may lie beyond the grid
    if (around.lower[d] > last) around.lower[d] = last;
    if (around.lower[d] < 0) around.lower[d] = 0;
    if (around.upper[d] > last + 1) around.upper[d] = last + 1;
  }
};

/// \brief Coarsen on hosts, for a row along the last axis. Index: rows of the coarse grid.
///
/// The rows of the model around it are read in order, once for each row instead of each node.
template <class T, int Dim>
struct CoarsenRow {
  Coarsen<T, Dim> nodes;

  void operator()(const std::int64_t row) const {
    constexpr int last = Dim - 1;
    const FastestVelocity<T, Dim>& fastest = nodes.fastest;
    const std::int64_t length = nodes.coarse.extents[last];
    const Index<Dim> first = nodes.coarse.node(row * length);
    Box<Dim> around;
    for (int d = 0; d < last; ++d) nodes.limit(d, first[d], around);
    around.lower[last] = 0;
    around.upper[last] = 1;
    static thread_local std::vector<T> most;
    most.assign(static_cast<std::size_t>(fastest.model.extents[last]), T(0));
    const std::int64_t rows = around.size();
    for (std::int64_t k = 0; k < rows; ++k) {
      Index<Dim> inside = around.node(k);
      for (int d = 0; d < last; ++d) inside[d] = fastest.inside_of(d, inside[d]);
      inside[last] = 0;
      const std::int64_t begin = fastest.model.flat(inside);
      T* const to = most.data();
      const auto count = static_cast<std::int64_t>(most.size());
      for (std::int64_t z = 0; z < count; ++z) {
        const T v = fastest.value(begin + z);
        to[z] = v > to[z] ? v : to[z];
      }
    }
    for (std::int64_t z = 0; z < length; ++z) {
      nodes.limit(last, z, around);
      const T* const from = most.data() + fastest.inside_of(last, around.lower[last]);
      const T* const to = most.data() + fastest.inside_of(last, around.upper[last] - 1) + 1;
      nodes.velocity[row * length + z] = *std::max_element(from, to);
    }
  }
};

/// \brief Times at which the box has to include each plane, and the box at any time.
///
/// `lower[d][k]` is the earliest arrival on plane k across axis d and all planes below. `upper` is
/// the earliest on plane k and all planes above. The first never increases with k, the second never
/// decreases.
template <int Dim>
class ArrivalBoxes {
 public:
  ArrivalBoxes() = default;
  /// \param arrivals earliest arrival on each plane across each axis
  explicit ArrivalBoxes(const std::array<std::vector<double>, Dim>& arrivals)
      : m_lower(arrivals), m_upper(arrivals) {
    for (std::size_t d = 0; d < Dim; ++d) {
      auto &lower = m_lower[d], &upper = m_upper[d];
      for (std::size_t k = 1; k < lower.size(); ++k) lower[k] = std::min(lower[k], lower[k - 1]);
      for (std::size_t k = upper.size() - 1; k > 0; --k) {
        upper[k - 1] = std::min(upper[k - 1], upper[k]);
      }
    }
  }
  /// Returns the planes that waves have reached; empty before the first arrival.
  Box<Dim> at(double time) const {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) {
      const auto &lower = m_lower[static_cast<std::size_t>(d)],
                 &upper = m_upper[static_cast<std::size_t>(d)];
      box.lower[d] = std::partition_point(lower.begin(), lower.end(),
                                          [&](double arrival) { return arrival > time; }) -
                     lower.begin();
      box.upper[d] = std::partition_point(upper.begin(), upper.end(),
                                          [&](double arrival) { return arrival <= time; }) -
                     upper.begin();
    }
    return box;
  }
  /// Returns the boxes of a grid that is `factor` times as fine, with `extents` nodes.
  ///
  /// A plane between two coarse planes has the earlier arrival of both.
  ArrivalBoxes refined(std::int64_t factor, const Index<Dim>& extents) const {
    ArrivalBoxes result;
    for (int d = 0; d < Dim; ++d) {
      const auto axis = static_cast<std::size_t>(d);
      for (std::int64_t k = 0; k < extents[d]; ++k) {
        const auto below = static_cast<std::size_t>(k / factor);
        const auto above = static_cast<std::size_t>((k + factor - 1) / factor);
        result.m_lower[axis].push_back(m_lower[axis][above]);
        result.m_upper[axis].push_back(m_upper[axis][below]);
      }
    }
    return result;
  }

 private:
  std::array<std::vector<double>, Dim> m_lower, m_upper;
};

/// Returns lower bounds of the arrival on each plane, from the largest velocity of each plane.
/// \param exec execution instance of the search; the function waits for it
/// \param sources nodes of the sources
template <class T, int Dim, class Memory>
ArrivalBoxes<Dim> arrivals_by_layers(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const FastestVelocity<T, Dim>& fastest,
                                     const Box<Dim>& sources) {
  auto planes = least_on_planes<T, Dim, Memory>(exec, grid, LeastSlowness<T, Dim>{fastest});
  for (int d = 0; d < Dim; ++d) {
    const std::vector<double> least = planes[static_cast<std::size_t>(d)];
    std::vector<double>& arrival = planes[static_cast<std::size_t>(d)];
    const auto from = [&](std::int64_t at, std::int64_t to) {
      const auto a = static_cast<std::size_t>(at), b = static_cast<std::size_t>(to);
      arrival[b] = arrival[a] + grid.spacing[d] * std::min(least[a], least[b]);
    };
    const std::int64_t first = sources.lower[d], last = sources.upper[d] - 1;
    for (std::int64_t k = first; k <= last; ++k) arrival[static_cast<std::size_t>(k)] = 0.0;
    for (std::int64_t k = first; k > 0; --k) from(k, k - 1);
    for (std::int64_t k = last; k + 1 < grid.extents[d]; ++k) from(k, k + 1);
  }
  return ArrivalBoxes<Dim>(planes);
}

/// Returns first arrivals on each plane by the eikonal equation on every `coarsening`-th node.
/// \param exec execution instance of the solver; the function waits for it
template <class T, int Dim, class Memory>
ArrivalBoxes<Dim> arrivals_by_eikonal(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                      const FastestVelocity<T, Dim>& fastest,
                                      const Points<Dim>& sources, std::int64_t coarsening) {
  Grid<Dim> coarse = grid;
  for (int d = 0; d < Dim; ++d) {
    coarse.extents[d] = (grid.extents[d] - 1 + coarsening - 1) / coarsening + 1;
    coarse.spacing[d] = grid.spacing[d] * static_cast<double>(coarsening);
  }
  const auto velocity = make_field<T>(exec, coarse, "moho::domain::velocity");
  const Coarsen<T, Dim> body{fastest, grid, coarse, coarsening, velocity.data()};
  if constexpr (is_host_memory<Memory>) {
    launch("moho::domain::coarsen", exec, coarse.size() / coarse.extents[Dim - 1],
           CoarsenRow<T, Dim>{body});
  } else {
    launch("moho::domain::coarsen", exec, coarse.size(), body);
  }
  const auto times = make_field<T>(exec, coarse, "moho::domain::times");
  eikonal::solve(InstanceOf<Memory>(exec), coarse, velocity, sources, times);
  const ArrivalBoxes<Dim> arrivals(
      least_on_planes<T, Dim, Memory>(exec, coarse, ValueOf<T, Dim>{times.data()}));
  return arrivals.refined(coarsening, grid.extents);
}

}  // namespace detail

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

/// \brief Returns the boxes of all steps of a shot, computed on the host before the first one.
///
/// They serve runs whose steps are not consecutive, so that no wavefield can be measured. They are
/// those of LayersDomain and EikonalDomain.
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

namespace detail {
/// Returns pointers to a model's fields. \throws InputError for fields of another shape
template <class T, int Dim, class Memory>
FastestVelocity<T, Dim> fastest_velocity(const Grid<Dim>& grid,
                                         const wave::Model<T, Dim, Memory>& model,
                                         wave::Equations equations, const Index<Dim>& shift) {
  if (model.vp.data() == nullptr) {
    throw InputError("vp: it is missing (arrivals come from it): give the propagator's model");
  }
  check_shape(grid, model.vp, "vp");
  if (model.epsilon.data() != nullptr) check_shape(grid, model.epsilon, "epsilon");
  if (model.delta.data() != nullptr) check_shape(grid, model.delta, "delta");
  const T* const delta = equations == wave::Equations::self_adjoint ? nullptr : model.delta.data();
  return {model.vp.data(), model.epsilon.data(), delta, grid, shift};
}
}  // namespace detail

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
ArrivalRule<Dim> shot_boxes(ExpansionMethod expansion, const InstanceOf<Memory>& exec,
                            const Grid<Dim>& grid, const wave::Model<T, Dim, Memory>& model,
                            const wave::Scheme<T, Dim, Memory>& scheme,
                            const wave::PointSet<T, Dim, Memory>& sources,
                            const DomainOptions& options) {
  if (expansion != ExpansionMethod::layers && expansion != ExpansionMethod::eikonal) {
    throw InputError(concat("expansion is ", to_string(expansion),
                            " (allowed: layers, eikonal, which know from the model when waves "
                            "arrive): choose one"));
  }
  const Instance<Memory>& instance = exec;
  ArrivalRule<Dim> rule(scheme, sources, options);
  Index<Dim> shift;
  for (int d = 0; d < Dim; ++d) shift[d] = scheme.options().boundaries.lower[d].layer();
  const auto fastest =
      detail::fastest_velocity<T, Dim, Memory>(grid, model, scheme.options().equations, shift);
  if (expansion == ExpansionMethod::layers) {
    rule.set(detail::arrivals_by_layers<T, Dim, Memory>(instance, scheme.grid(), fastest,
                                                        sources.box()));
  } else {
    rule.set(detail::arrivals_by_eikonal<T, Dim, Memory>(instance, scheme.grid(), fastest,
                                                         sources.positions(), options.coarsening),
             // between the coarse planes on either side of a source
             options.coarsening - 1);
  }
  return rule;
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
  this->m_rule.set(detail::arrivals_by_layers<T, Dim, Memory>(exec, propagator.grid(),
                                                              this->m_fastest, sources.box()));
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
  this->m_rule.set(
      detail::arrivals_by_eikonal<T, Dim, Memory>(exec, propagator.grid(), this->m_fastest,
                                                  sources.positions(), options.coarsening),
      // between the coarse planes on either side of a source
      options.coarsening - 1);
  this->m_fastest = {};
}

}  // namespace moho::domain
