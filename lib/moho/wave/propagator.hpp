// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The propagator: advances any box of a grid by one time step, on any instance.

#include <moho/wave/boundary.hpp>
#include <moho/wave/cpml.hpp>
#include <moho/wave/stability.hpp>
#include <moho/wave/step.hpp>
#include <moho/wave/wavefield.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::wave {

/// Options of a propagator.
template <int Dim>
struct PropagatorOptions {
  double dt = 0.0;                  ///< time step, seconds
  int order = 8;                    ///< of the differences in space: 2, 4, ..., 16
  Boundaries<Dim> boundaries = {};  ///< what the faces do; the grid includes their layers
  double frequency = 0.0;  ///< highest frequency of the source, Hz; 0: dispersion is not checked
  Equations equations = Equations::self_adjoint;  ///< of VTI and TTI
  double sigma = 0.75;     ///< vsz^2 = vpz^2 |epsilon - delta| / sigma in Fletcher's equations
  bool reference = false;  ///< the plain kernels instead of the tuned ones
};

namespace detail {

/// The image of a field behind a free surface.
template <class T>
struct MirrorFace {
  T* field;                                       ///< node (0, 0, 0)
  std::int64_t strides[3], lower[3], extents[3];  ///< of the nodes along the face
  int axis, radius;
  T sign;             ///< -1: odd; 1: even
  std::int64_t face;  ///< the face's node along the axis
  int outwards;       ///< -1 or 1

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t rest = n, at = face * strides[axis];
    for (int d = 2; d >= 0; --d) {
      if (d == axis) continue;
      at += (lower[d] + rest % extents[d]) * strides[d];
      rest /= extents[d];
    }
    for (int k = 1; k <= radius; ++k) {
      const std::int64_t step = k * outwards * strides[axis];
      field[at + step] = sign * field[at - step];
    }
  }
};

/// The distance of one to the next number.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr T epsilon_of() {
  return sizeof(T) == 4 ? T(1.1920929e-7) : T(2.220446049250313e-16);
}

/// A model's parameters, as kernels want them.
template <class T, int Dim, class Exec>
struct Prepare {
  Field<const T, Dim, Exec> vp, density, epsilon, delta, theta, phi;
  Storage<T, Exec> scale, q_scale, a, b, nx, ny, nz;
  Layout<Dim> layout;
  Grid<Dim> grid;
  Medium medium;
  bool fletcher;
  double dt;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t i = layout.flat(grid.node(n));
    const double v = static_cast<double>(vp.data()[n]);
    double square = v * dt * v * dt;
    if (medium == Medium::variable_density) {
      const double rho = static_cast<double>(density.data()[n]);
      square *= rho;
      a(i) = static_cast<T>(1.0 / rho);
    } else if (medium != Medium::isotropic) {
      const double e = epsilon.data() != nullptr ? static_cast<double>(epsilon.data()[n]) : 0.0;
      const double t = delta.data() != nullptr ? static_cast<double>(delta.data()[n]) : 0.0;
      a(i) = static_cast<T>(1.0 + 2.0 * e);
      T r = static_cast<T>(fletcher ? 1.0 + 2.0 * t : sqrt(1.0 + 2.0 * (t < e ? t : e)));
      // rounded down, so that nothing can grow where delta is epsilon
      if (!fletcher && r * r > a(i)) r -= r * epsilon_of<T>();
      b(i) = r;
    }
    if (medium == Medium::tti) {
      const double tilt = theta.data() != nullptr ? static_cast<double>(theta.data()[n]) : 0.0;
      const double azimuth = phi.data() != nullptr ? static_cast<double>(phi.data()[n]) : 0.0;
      // the axis has no direction: its z component is never negative
      const double sign = cos(tilt) < 0.0 ? -1.0 : 1.0;
      nx(i) = static_cast<T>(sign * sin(tilt) * cos(azimuth));
      if (Dim == 3) ny(i) = static_cast<T>(sign * sin(tilt) * sin(azimuth));
      if (!fletcher) nz(i) = static_cast<T>(sign * cos(tilt));
    }
    scale(i) = static_cast<T>(square);
    if (q_scale.data() != nullptr) q_scale(i) = static_cast<T>(square / static_cast<double>(b(i)));
  }
};

/// Continues a parameter into the halo: evenly behind free surfaces, so that the operator stays
/// self-adjoint there, and by the value of the nearest node elsewhere.
template <class T, int Dim, class Exec>
struct FillHalo {
  Storage<T, Exec> storage;
  Layout<Dim> layout;
  Box<Dim> box;  ///< the grid grown by the halo
  bool free_lower[Dim], free_upper[Dim];
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const Index<Dim> node = box.node(n);
    Index<Dim> source = node;
    bool inside = true;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = layout.extents[d] - 1;
      if (node[d] < 0) source[d] = free_lower[d] ? -node[d] : 0;
      if (node[d] > last) source[d] = free_upper[d] ? 2 * last - node[d] : last;
      inside = inside && source[d] == node[d];
    }
    if (!inside) storage(layout.flat(node)) = storage(layout.flat(source));
  }
};

}  // namespace detail

/// \brief Finite differences in a model: what turns a wavefield at two times into the next.
///
/// Isotropic media: p_tt = v^2 Lap p. Variable density: p_tt = v^2 rho div(1/rho grad p), with the
/// mean of 1/rho between two nodes, which makes the discrete operator self-adjoint. VTI and TTI:
/// with a = 1 + 2 epsilon, r = sqrt(1 + 2 delta) and H1 the second derivative along the symmetry
/// axis, H2 = Lap - H1, p_tt = v^2 (a H2 p + r H1 q), q_tt = v^2 (r H2 p + H1 q) (after Zhang,
/// Zhang and Zhang 2011): discretely self-adjoint too, so that nothing grows however rough the
/// model is, as long as delta <= epsilon; where it is not, it is lowered to epsilon
/// (limits().lowered_deltas). Or the equations of Fletcher, Du and Fowler (2009) with a finite
/// velocity of shear waves along the axis, for smooth models. p is the same in both. Leapfrog in
/// time, centred differences of order 2 to 16 in space.
///
/// A step writes the box that it is given and nothing else (but the halo behind free surfaces); any
/// boxes that make up the grid, in any order, make the same step as the grid whole. The class keeps
/// no state of the wave and knows nothing about sources: who wants them adds them between step()
/// and Wavefield::advance().
template <class T, int Dim, class Exec>
class Propagator {
 public:
  /// Takes a model on a grid that includes the layers of its faces (extend_model()).
  /// \throws InputError for bad parameters of the model (where), a time step beyond the largest
  /// stable one, too few nodes per wavelength, an order that is unknown or too large for the grid,
  /// bad boundaries
  Propagator(const Exec& exec, const Grid<Dim>& grid, const Model<T, Dim, Exec>& model,
             const PropagatorOptions<Dim>& options)
      : m_grid(grid), m_options(options), m_medium(model.medium()) {
    check_order(options.order);
    const ModelRange range = check_model(exec, grid, model);
    (void)range;
    for (int d = 0; d < Dim; ++d) {
      if (grid.extents[d] > options.order) continue;
      throw InputError(concat("order ", options.order, " is too large for ", grid.extents[d],
                              " nodes along ", axis_name<Dim>(d),
                              " (allowed: fewer than there are nodes): take a lower order or a "
                              "larger grid"));
    }
    if (!(options.sigma > 0.0) || !std::isfinite(options.sigma)) {
      throw InputError(
          concat("sigma is ", options.sigma, " (allowed: positive numbers): 0.75 is usual"));
    }
    check_boundaries(grid, options.boundaries, m_medium);
    m_limits = limits_of(exec, grid, model, options.order, options.equations, options.sigma);
    check_dt(options.dt, m_limits);
    if (options.frequency != 0.0) {
      check_dispersion(grid, m_limits, options.order, options.frequency);
    }
    m_layout = make_layout<T>(grid, options.order / 2);
    prepare_model(exec, model);
    prepare_arguments();
    prepare_tapers(exec);
    prepare_layers(exec);
    m_stepper = detail::Stepper<T, Dim, Exec>(scheme(), options.order, options.reference);
    m_corrector = detail::LayerCorrector<T, Exec>(scheme(), options.order);
    exec.fence();
  }

  /// The grid, with its layers.
  const Grid<Dim>& grid() const { return m_grid; }
  /// How wavefields lie in memory.
  const Layout<Dim>& layout() const { return m_layout; }
  /// The nodes that are in no layer.
  Box<Dim> interior() const { return interior_box(m_grid, m_options.boundaries); }
  /// What it was made with.
  const PropagatorOptions<Dim>& options() const { return m_options; }
  /// Time step, seconds.
  double dt() const { return m_options.dt; }
  /// Order of the differences in space.
  int order() const { return m_options.order; }
  /// The medium.
  Medium medium() const { return m_medium; }
  /// Largest stable step, slowest and fastest waves.
  const Limits& limits() const { return m_limits; }
  /// What a source is multiplied with when it is added to p (field 0) or q (field 1), by node, in
  /// the layout of wavefields: v^2 dt^2, times the density where it varies; for q of the
  /// self-adjoint equations over sqrt(1 + 2 delta), so that a source of p alone comes out of p.
  Storage<const T, Exec> source_scale(int field = 0) const {
    return field == 1 && m_q_scale.data() != nullptr ? m_q_scale : m_scale;
  }
  /// Bytes of the model as kernels read it.
  std::size_t model_bytes() const {
    return (m_scale.size() + m_a.size() + m_b.size() + m_nx.size() + m_ny.size() + m_nz.size()) *
           sizeof(T);
  }
  /// Bytes that a step has to move per node if each array is touched once.
  int bytes_per_node() const {
    const int fields = fields_of(m_medium);
    int parameters = 1;
    if (m_medium == Medium::variable_density) parameters = 2;
    if (m_medium == Medium::vti) parameters = 3;
    if (m_medium == Medium::tti) parameters = Dim == 3 ? 5 : 4;
    // the slopes are written once and read once, the fields and the axis twice
    const int passes = scheme() == detail::Scheme::tti ? 2 * 2 + 2 + Dim + 1 : 0;
    return (3 * fields + parameters + passes) * static_cast<int>(sizeof(T));
  }

  /// A wavefield at rest.
  Wavefield<T, Dim, Exec> make_wavefield(const Exec& exec) const {
    Wavefield<T, Dim, Exec> wavefield;
    wavefield.layout = m_layout;
    wavefield.fields = fields_of(m_medium);
    constexpr const char* names[] = {"p", "q"};
    for (int f = 0; f < wavefield.fields; ++f) {
      wavefield.now[f] = make_storage<T>(exec, m_layout, names[f]);
      wavefield.before[f] = make_storage<T>(exec, m_layout, names[f]);
    }
    for (int f = 0; f < 2 && scheme() == detail::Scheme::tti; ++f) {
      wavefield.slope[f] = make_storage<T>(exec, m_layout, "moho::wave::slope");
    }
    for (const Layer& layer : m_layers) {
      for (int f = 0; f < wavefield.fields; ++f) {
        LayerMemory<T, Exec> memory;
        for (auto* view : {&memory.psi_now, &memory.psi_next, &memory.zeta}) {
          *view = allocate<Storage<T, Exec>>(exec, "moho::wave::layer", layer.size);
          Kokkos::deep_copy(exec, *view, T(0));
        }
        wavefield.layers.push_back(memory);
      }
    }
    return wavefield;
  }

  /// \brief Advances the nodes of a box by one step: the next values go into wavefield.before.
  ///
  /// It launches on the instance and returns. What reaches over the grid is cut off.
  void step(const Exec& exec, const Wavefield<T, Dim, Exec>& wavefield, const Box<Dim>& box) const {
    const Box<Dim> part = intersection(box, whole_box(m_grid));
    if (part.empty()) return;
    detail::StepArguments<T> s = m_arguments;
    for (int d = 0; d < Dim; ++d) {
      s.lower[axis3(d)] = part.lower[d];
      s.upper[axis3(d)] = part.upper[d];
    }
    for (int f = 0; f < wavefield.fields; ++f) {
      s.now[f] = wavefield.now[f].data() + m_layout.offset;
      s.before[f] = wavefield.before[f].data() + m_layout.offset;
    }
    using detail::Scheme;
    const Scheme kind = scheme();
    mirror(exec, s, {s.now[0], s.now[1]}, wavefield.fields, T(-1));
    if (kind == Scheme::tti) {
      // the step takes slopes around the box too
      detail::StepArguments<T> around = s;
      const Box<Dim> wider = intersection(part.grown(m_options.order / 2), whole_box(m_grid));
      for (int d = 0; d < Dim; ++d) {
        around.lower[axis3(d)] = wider.lower[d];
        around.upper[axis3(d)] = wider.upper[d];
      }
      for (int f = 0; f < 2; ++f) {
        around.slope[f] = s.slope[f] = wavefield.slope[f].data() + m_layout.offset;
      }
      // behind a free surface the field's image reaches as far as the slopes around the box read
      mirror(exec, around, {s.now[0], s.now[1]}, 2, T(-1));
      m_stepper.slopes(exec, around);
      mirror(exec, s, {s.slope[0], s.slope[1]}, 2, T(1));
    }
    m_stepper.step(exec, s);
    correct_layers(exec, s, wavefield);
  }
  /// Advances the whole grid by one step.
  void step(const Exec& exec, const Wavefield<T, Dim, Exec>& wavefield) const {
    step(exec, wavefield, whole_box(m_grid));
  }

 private:
  /// A perfectly matched layer.
  struct Layer {
    int axis = 0;            ///< 0 x, 1 y, 2 z
    std::int64_t first = 0;  ///< its first node along the axis
    int width = 0;
    bool lower = false;
    std::int64_t size = 0, strides[3] = {};
    Storage<T, Exec> a, b;
  };

  /// Axis of the kernels: x, z of 2D are 0, 2.
  static constexpr int axis3(int d) { return d == Dim - 1 ? 2 : d; }

  /// What the medium and the choice of equations make.
  detail::Scheme scheme() const {
    using detail::Scheme;
    const bool fletcher = m_options.equations == Equations::fletcher;
    switch (m_medium) {
      case Medium::isotropic:
        return Scheme::isotropic;
      case Medium::variable_density:
        return Scheme::variable_density;
      case Medium::vti:
        return fletcher ? Scheme::vti_fletcher : Scheme::vti;
      default:
        return fletcher ? Scheme::tti_fletcher : Scheme::tti;
    }
  }

  void prepare_model(const Exec& exec, const Model<T, Dim, Exec>& model) {
    m_scale = make_storage<T>(exec, m_layout, "moho::wave::scale");
    if (m_medium != Medium::isotropic) m_a = make_storage<T>(exec, m_layout, "moho::wave::a");
    if (fields_of(m_medium) == 2 && m_options.equations == Equations::self_adjoint) {
      m_q_scale = make_storage<T>(exec, m_layout, "moho::wave::q_scale");
    }
    if (fields_of(m_medium) == 2) m_b = make_storage<T>(exec, m_layout, "moho::wave::b");
    if (m_medium == Medium::tti) {
      m_nx = make_storage<T>(exec, m_layout, "moho::wave::nx");
      if (Dim == 3) m_ny = make_storage<T>(exec, m_layout, "moho::wave::ny");
      if (scheme() == detail::Scheme::tti) {
        m_nz = make_storage<T>(exec, m_layout, "moho::wave::nz");
      }
    }
    const detail::Prepare<T, Dim, Exec> functor{model.vp,
                                                model.density,
                                                model.epsilon,
                                                model.delta,
                                                model.theta,
                                                model.phi,
                                                m_scale,
                                                m_q_scale,
                                                m_a,
                                                m_b,
                                                m_nx,
                                                m_ny,
                                                m_nz,
                                                m_layout,
                                                m_grid,
                                                m_medium,
                                                m_options.equations == Equations::fletcher,
                                                m_options.dt};
    Kokkos::parallel_for("moho::wave::prepare",
                         light_weight(Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                             exec, 0, m_grid.size())),
                         functor);
    // what is read at neighbours is continued into the halo
    std::vector<Storage<T, Exec>> continued;
    if (m_medium == Medium::variable_density) continued = {m_a};
    if (scheme() == detail::Scheme::tti) continued = {m_nx, m_nz};
    if (scheme() == detail::Scheme::tti && Dim == 3) continued.push_back(m_ny);
    detail::FillHalo<T, Dim, Exec> fill{
        {}, m_layout, whole_box(m_grid).grown(m_layout.halo), {}, {}};
    for (int d = 0; d < Dim; ++d) {
      fill.free_lower[d] = m_options.boundaries.lower[d].kind == FaceKind::free_surface;
      fill.free_upper[d] = m_options.boundaries.upper[d].kind == FaceKind::free_surface;
    }
    for (const Storage<T, Exec>& storage : continued) {
      fill.storage = storage;
      Kokkos::parallel_for(
          "moho::wave::fill_halo",
          Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, fill.box.size()),
          fill);
    }
  }

  void prepare_arguments() {
    detail::StepArguments<T>& s = m_arguments;
    s = {};
    const auto start = [&](const Storage<T, Exec>& storage) {
      return storage.data() == nullptr ? nullptr : storage.data() + m_layout.offset;
    };
    s.scale = start(m_scale);
    s.a = start(m_a);
    s.b = start(m_b);
    s.nx = start(m_nx);
    s.ny = start(m_ny);
    s.nz = start(m_nz);
    s.stride_x = m_layout.strides[0];
    s.stride_y = Dim == 3 ? m_layout.strides[1] : 0;
    s.lower[1] = 0;
    s.upper[1] = 1;
    s.shear = static_cast<T>(0.5 / m_options.sigma);
    const Coefficients second = second_derivative(m_options.order / 2);
    const Coefficients first = first_derivative(m_options.order / 2);
    for (int d = 0; d < Dim; ++d) {
      const double h = m_grid.spacing[d];
      for (int k = 0; k <= largest_radius; ++k) {
        s.second[axis3(d)][k] = static_cast<T>(second[k] / (h * h));
        s.first[axis3(d)][k] = static_cast<T>(first[k] / h);
      }
    }
  }

  /// Copies numbers to the space.
  Storage<T, Exec> to_space(const Exec& exec, const std::vector<double>& values,
                            const char* label) const {
    auto result = allocate<Storage<T, Exec>>(exec, label, values.size());
    auto mirror = Kokkos::create_mirror_view(result);
    for (std::size_t i = 0; i < values.size(); ++i) mirror(i) = static_cast<T>(values[i]);
    exec.fence();
    Kokkos::deep_copy(result, mirror);
    return result;
  }

  void prepare_tapers(const Exec& exec) {
    for (int a = 0; a < 3; ++a) {
      std::vector<double> taper(1, 1.0);
      for (int d = 0; d < Dim; ++d) {
        if (axis3(d) != a) continue;
        const std::int64_t n = m_grid.extents[d];
        // vectors read beyond the end of a row
        taper.assign(static_cast<std::size_t>(n + row_alignment<T>), 1.0);
        const double courant = 0.5 * (m_limits.least_velocity + m_limits.greatest_velocity) *
                               m_options.dt / m_grid.spacing[d];
        const Face &low = m_options.boundaries.lower[d], &high = m_options.boundaries.upper[d];
        for (int i = 0; low.kind == FaceKind::sponge && i < low.width; ++i) {
          taper[static_cast<std::size_t>(i)] = sponge_factor(low.width, low.width - i, courant);
        }
        for (int i = 0; high.kind == FaceKind::sponge && i < high.width; ++i) {
          taper[static_cast<std::size_t>(n - 1 - i)] =
              sponge_factor(high.width, high.width - i, courant);
        }
        if (low.kind == FaceKind::free_surface) taper[0] = 0.0;
        if (high.kind == FaceKind::free_surface) taper[static_cast<std::size_t>(n - 1)] = 0.0;
      }
      m_taper[a] = to_space(exec, taper, "moho::wave::taper");
      m_arguments.taper[a] = m_taper[a].data();
    }
  }

  void prepare_layers(const Exec& exec) {
    for (int d = 0; d < Dim; ++d) {
      for (const bool lower : {true, false}) {
        const Face& face = lower ? m_options.boundaries.lower[d] : m_options.boundaries.upper[d];
        if (face.kind != FaceKind::cpml) continue;
        Layer layer;
        layer.axis = axis3(d);
        layer.width = face.width;
        layer.lower = lower;
        layer.first = lower ? 0 : m_grid.extents[d] - face.width;
        std::int64_t extents[3] = {1, 1, 1};
        for (int e = 0; e < Dim; ++e) extents[axis3(e)] = m_grid.extents[e];
        extents[layer.axis] = face.width;
        layer.strides[2] = 1;
        layer.strides[1] = extents[2];
        layer.strides[0] = extents[1] * extents[2];
        layer.size = extents[0] * extents[1] * extents[2];
        const double frequency = m_options.frequency > 0.0
                                     ? m_options.frequency / 2.5
                                     : m_limits.least_velocity / (20.0 * m_grid.spacing[d]);
        detail::CpmlProfile profile = detail::cpml_profile(
            face.width, m_grid.spacing[d], m_options.dt, m_limits.greatest_velocity, frequency);
        if (lower) {
          std::reverse(profile.a.begin(), profile.a.end());
          std::reverse(profile.b.begin(), profile.b.end());
        }
        layer.a = to_space(exec, profile.a, "moho::wave::cpml_a");
        layer.b = to_space(exec, profile.b, "moho::wave::cpml_b");
        m_layers.push_back(layer);
      }
    }
  }

  /// Fills the halo behind free surfaces, as far as the box reads it.
  void mirror(const Exec& exec, const detail::StepArguments<T>& s,
              const Kokkos::Array<const T*, 2>& pointers, int fields, T sign) const {
    const int radius = m_options.order / 2;
    for (int d = 0; d < Dim; ++d) {
      for (const bool lower : {true, false}) {
        const Face& face = lower ? m_options.boundaries.lower[d] : m_options.boundaries.upper[d];
        const int axis = axis3(d);
        if (face.kind != FaceKind::free_surface) continue;
        if (lower ? s.lower[axis] >= radius : s.upper[axis] <= m_grid.extents[d] - radius) {
          continue;
        }
        detail::MirrorFace<T> functor{};
        functor.strides[0] = s.stride_x;
        functor.strides[1] = s.stride_y;
        functor.strides[2] = 1;
        functor.axis = axis;
        functor.radius = radius;
        functor.face = lower ? 0 : m_grid.extents[d] - 1;
        functor.outwards = lower ? -1 : 1;
        std::int64_t count = 1;
        functor.extents[1] = 1;
        for (int e = 0; e < Dim; ++e) {
          const int other = axis3(e);
          functor.lower[other] = std::max<std::int64_t>(0, s.lower[other] - radius);
          functor.extents[other] =
              std::min<std::int64_t>(m_grid.extents[e], s.upper[other] + radius) -
              functor.lower[other];
          if (other != axis) count *= functor.extents[other];
        }
        for (int f = 0; f < fields; ++f) {
          // the halo of the present field is this step's alone
          functor.field = const_cast<T*>(pointers[f]);
          functor.sign = sign;
          Kokkos::parallel_for(
              "moho::wave::free_surface",
              Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), functor);
        }
      }
    }
  }

  /// Adds what perfectly matched layers change.
  void correct_layers(const Exec& exec, const detail::StepArguments<T>& s,
                      const Wavefield<T, Dim, Exec>& wavefield) const {
    const int radius = m_options.order / 2;
    for (std::size_t n = 0; n < m_layers.size(); ++n) {
      const Layer& layer = m_layers[n];
      detail::LayerArguments<T> l{};
      l.s = s;
      l.axis = layer.axis;
      l.inner = layer.axis == 2 ? (Dim == 3 ? 1 : 0) : 2;
      l.outer = 3 - l.axis - l.inner;
      l.width = layer.width;
      l.first = layer.first;
      l.from = std::max(s.lower[layer.axis], layer.lower ? layer.first : layer.first - radius);
      l.to = std::min(s.upper[layer.axis], layer.first + layer.width + (layer.lower ? radius : 0));
      l.a = layer.a.data();
      l.b = layer.b.data();
      for (int f = 0; f < wavefield.fields; ++f) {
        const auto& memory = wavefield.layers[n * static_cast<std::size_t>(wavefield.fields) +
                                              static_cast<std::size_t>(f)];
        l.psi_now[f] = memory.psi_now.data();
        l.psi_next[f] = memory.psi_next.data();
        l.zeta[f] = memory.zeta.data();
      }
      for (int a = 0; a < 3; ++a) l.strides[a] = layer.strides[a];
      m_corrector(exec, l);
    }
  }

  Grid<Dim> m_grid;
  PropagatorOptions<Dim> m_options;
  Medium m_medium;
  Limits m_limits;
  Layout<Dim> m_layout;
  Storage<T, Exec> m_scale, m_q_scale, m_a, m_b, m_nx, m_ny, m_nz;
  Storage<T, Exec> m_taper[3];
  std::vector<Layer> m_layers;
  detail::StepArguments<T> m_arguments{};
  detail::Stepper<T, Dim, Exec> m_stepper;
  detail::LayerCorrector<T, Exec> m_corrector;
};

}  // namespace moho::wave
