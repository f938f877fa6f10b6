// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Time step of any box of any window, and the propagator of a complete model.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/step_box.hpp>
#include <moho/wave/kernel/grid_part.hpp>
#include <moho/wave/medium.hpp>
#include <moho/wave/wavefield.hpp>

namespace moho::wave {

/// \brief Advances the nodes of a box by one time step into wavefield.next.
///
/// It submits to the instance and returns. It writes the nodes of the box, and the halo beyond free
/// surfaces. Boxes that together cover the grid, in any order and in any windows, give the same
/// bits as one step of the complete grid. Sources are added between step() and
/// Wavefield::advance().
/// \param exec execution instance
/// \param scheme of the complete grid
/// \param medium loaded; its window also holds the nodes of the grid within scheme.reach(0) planes
///   of the box
/// \param wavefield the state; its window holds the nodes of the grid within scheme.reach(0) planes
///   of the box, at the current time level
/// \param box nodes of the grid, from lower up to, not including, upper; it is clipped to the grid
/// \throws InputError if the box is closer to the end of a window than the reach of the scheme
template <class T, int Dim, class Memory>
void step(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
          const MediumCoefficients<T, Dim, Memory>& medium,
          const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Computes the axis derivatives of p and q in a box: the first half of a TTI step.
///
/// TTI means the self-adjoint equations; in other media the function does nothing. The derivatives
/// stay in wavefield.axis_derivative until the next step. Neighbouring boxes can share them.
/// Computed once, on all nodes within order / 2 of the boxes, they serve
/// step_from_axis_derivatives() for all of these boxes. \throws InputError as step()
template <class T, int Dim, class Memory>
void compute_axis_derivatives(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                              const MediumCoefficients<T, Dim, Memory>& medium,
                              const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Advances a box with the axis derivatives that compute_axis_derivatives() has written.
/// \throws InputError as step()
template <class T, int Dim, class Memory>
void step_from_axis_derivatives(const InstanceOf<Memory>& exec,
                                const Scheme<T, Dim, Memory>& scheme,
                                const MediumCoefficients<T, Dim, Memory>& medium,
                                const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box);

/// \brief Time steps of a wavefield in a model: a Scheme with the MediumCoefficients of the grid.
///
/// Isotropic media: p_tt = v^2 Lap p. Variable density: p_tt = v^2 rho div(1/rho grad p), solved
/// for q = p / sqrt(rho): q_tt = v^2 (L q - V q) with the Laplacian L and the potential V = (L s) /
/// s of s = 1 / sqrt(rho). The operator is self-adjoint, and nonnegative up to
/// largest_density_ratio(). Wavefields hold q; pressure_factors() leads to p.
///
/// VTI and TTI (after Zhang, Zhang and Zhang 2011): p_tt = v^2 (a H2 p + r H1 q), q_tt = v^2 (r H2
/// p + H1 q). Here a = 1 + 2 epsilon, r = sqrt(1 + 2 delta), H1 is the second derivative along the
/// symmetry axis, and H2 = Lap - H1. These equations are also discretely self-adjoint, so that they
/// are stable in any model with delta <= epsilon. Larger delta is clamped to epsilon
/// (limits().clamped_delta_nodes).
///
/// Smooth models also admit the equations of Fletcher, Du and Fowler (2009), with a finite shear
/// velocity along the axis. The meaning of p is the same in both. Time differences are leapfrog;
/// spatial differences are centred, of order 2 to 16.
template <class T, int Dim, class Memory>
class Propagator {
 public:
  /// Loads a model on a grid that includes the layers of its faces (extend_model()).
  /// \throws InputError for invalid parameters of the model (with their position), and as Scheme
  ///   does
  Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
             const Model<T, Dim, Memory>& model, const PropagatorOptions<Dim>& options);

  /// \cond
  // A part of a grid, whose model is loaded by load_planes(). The limits are those of the complete
  // model; the part has to outlive the propagator.
  Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, Medium medium,
             const Limits& limits, const PropagatorOptions<Dim>& options,
             GridPart<T, Dim, Memory>& part)
      : m_scheme(exec, grid, medium, limits, options),
        m_window(exec, m_scheme, part.held()),
        m_part(&part) {}
  void update_limits(const Limits& limits) {
    check_dt(dt(), limits);
    m_scheme.update_codes(limits);
  }
  void load_planes(const InstanceOf<Memory>& exec, const Model<T, Dim, Memory>& model,
                   const PlaneRange& planes) {
    m_window.load(exec, m_scheme, model, planes);
  }
  // Null: the complete grid.
  GridPart<T, Dim, Memory>* part() const { return m_part; }
  // Planes that step() advances.
  PlaneRange own_planes() const { return m_part ? m_part->own() : all_planes(grid()); }
  // Nodes of a box that step() advances, and those that wavefields hold.
  Box<Dim> own(const Box<Dim>& box) const { return between(box, own_planes()); }
  Box<Dim> held(const Box<Dim>& box) const { return between(box, layout().window); }
  /// \endcond

  /// Returns the scheme.
  const Scheme<T, Dim, Memory>& scheme() const { return m_scheme; }
  /// Returns the model in the form that kernels read.
  const MediumCoefficients<T, Dim, Memory>& medium_window() const { return m_window; }
  /// Loads another model of the same grid and medium. It allocates nothing and keeps the time step.
  /// \throws InputError for invalid parameters, a model of another medium or shape, or a model for
  ///   which the time step is too long
  void update(const InstanceOf<Memory>& exec, const Model<T, Dim, Memory>& model);

  /// Returns the grid, with its layers.
  const Grid<Dim>& grid() const { return m_scheme.grid(); }
  /// Returns the memory layout of wavefields.
  const Layout<Dim>& layout() const { return m_window.layout(); }
  /// Returns the nodes outside all layers.
  Box<Dim> interior() const { return m_scheme.interior(); }
  /// Returns the options of the constructor.
  const PropagatorOptions<Dim>& options() const { return m_scheme.options(); }
  /// Returns the time step in seconds.
  double dt() const { return m_scheme.dt(); }
  /// Returns the order of the spatial differences.
  int order() const { return m_scheme.order(); }
  /// Returns the medium.
  Medium medium() const { return m_scheme.medium(); }
  /// Returns the largest stable step and the range of velocities.
  const Limits& limits() const { return m_scheme.limits(); }
  /// Returns the factors of sources of p (field 0) or q (1): MediumCoefficients::source_scale().
  NodeFactors<T, Memory> source_scale(int field = 0) const { return m_window.source_scale(field); }
  /// Returns the factors of p over the first field: MediumCoefficients::pressure_factors().
  Storage<const T, Memory> pressure_factors() const { return m_window.pressure_factors(); }
  /// Returns the bytes per node that a step moves if each array is touched once.
  int bytes_per_node() const { return m_scheme.bytes_per_node(); }

  /// Returns a wavefield at rest.
  Wavefield<T, Dim, Memory> make_wavefield(const InstanceOf<Memory>& exec) const {
    return wave::make_wavefield<T, Dim, Memory>(exec, m_scheme, layout().window);
  }
  /// Advances the nodes of a box by one step. \see wave::step()
  void step(const InstanceOf<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box) const {
    if (m_part) return m_part->step(exec, m_scheme, m_window, wavefield, box);
    wave::step<T, Dim, Memory>(exec, m_scheme, m_window, wavefield, box);
  }
  /// Advances the complete grid by one step.
  void step(const InstanceOf<Memory>& exec, const Wavefield<T, Dim, Memory>& wavefield) const {
    step(exec, wavefield, whole_box(grid()));
  }

 private:
  static Limits check(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                      const Model<T, Dim, Memory>& model, const PropagatorOptions<Dim>& options);
  static Box<Dim> between(Box<Dim> box, const PlaneRange& planes) {
    box.lower[0] = std::max(box.lower[0], planes.begin);
    box.upper[0] = std::max(box.lower[0], std::min(box.upper[0], planes.end));
    return box;
  }

  Scheme<T, Dim, Memory> m_scheme;
  MediumCoefficients<T, Dim, Memory> m_window;
  GridPart<T, Dim, Memory>* m_part = nullptr;
};

template <class T, int Dim, class Memory>
void compute_axis_derivatives(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                              const MediumCoefficients<T, Dim, Memory>& medium,
                              const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  detail::slopes_of<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
void step_from_axis_derivatives(const InstanceOf<Memory>& exec,
                                const Scheme<T, Dim, Memory>& scheme,
                                const MediumCoefficients<T, Dim, Memory>& medium,
                                const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  detail::step_of<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
void step(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
          const MediumCoefficients<T, Dim, Memory>& medium,
          const Wavefield<T, Dim, Memory>& wavefield, const Box<Dim>& box) {
  if (detail::step_in_one_pass<T, Dim, Memory>(exec, scheme, medium, wavefield, box)) return;
  // the step also reads axis derivatives around the box
  compute_axis_derivatives<T, Dim, Memory>(exec, scheme, medium, wavefield,
                                           box.grown(scheme.order() / 2));
  step_from_axis_derivatives<T, Dim, Memory>(exec, scheme, medium, wavefield, box);
}

template <class T, int Dim, class Memory>
Limits Propagator<T, Dim, Memory>::check(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const Model<T, Dim, Memory>& model,
                                         const PropagatorOptions<Dim>& options) {
  check_order(options.order);
  check_model<T, Dim, Memory>(exec, grid, model);
  const double sigma = options.sigma > 0.0 ? options.sigma : 0.75;  // Scheme checks it
  return limits_of<T, Dim, Memory>(exec, grid, model, options.order, options.equations, sigma);
}

template <class T, int Dim, class Memory>
Propagator<T, Dim, Memory>::Propagator(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                       const Model<T, Dim, Memory>& model,
                                       const PropagatorOptions<Dim>& options)
    : m_scheme(exec, grid, model.medium(), check(exec, grid, model, options), options),
      m_window(exec, m_scheme, all_planes(grid)) {
  m_window.load(exec, m_scheme, model);
  exec.fence();  // the model need not outlive the constructor
}

template <class T, int Dim, class Memory>
void Propagator<T, Dim, Memory>::update(const InstanceOf<Memory>& exec,
                                        const Model<T, Dim, Memory>& model) {
  const Limits limits = check(exec, grid(), model, options());
  check_dt(dt(), limits);
  m_scheme.update_codes(limits);
  m_window.load(exec, m_scheme, model);
  exec.fence();
}

}  // namespace moho::wave

/// \cond
#define MOHO_WAVE_COPY_PLANES(prefix, T, Dim, Memory)                                             \
  prefix void copy_planes<T, Dim, Memory>(const Instance<Memory>&, const Scheme<T, Dim, Memory>&, \
                                          const Wavefield<T, Dim, Memory>&,                       \
                                          const Wavefield<T, Dim, Memory>&, const PlaneRange&);
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Scheme)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, MediumCoefficients)
MOHO_FOR_ALL(MOHO_CLASS, extern template struct, Wavefield)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Propagator)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, make_wavefield)
MOHO_FOR_ALL(MOHO_WAVE_COPY_PLANES, extern template)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, amplitude)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, check_finite)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, compute_axis_derivatives)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, step_from_axis_derivatives)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, step)
}  // namespace moho::wave
#endif
/// \endcond
