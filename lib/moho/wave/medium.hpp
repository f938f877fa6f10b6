// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A model's parameters in the form that kernels read, in a window of the grid.

#include <moho/core/launch_box.hpp>
#include <moho/wave/detail/axis_word.hpp>
#include <moho/wave/detail/potential.hpp>
#include <moho/wave/scheme.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::wave {

/// \brief Parameters of a model in the form that the kernels of a scheme read, on a window.
///
/// load() fills all planes of the window or some of them. It accepts other models later and
/// allocates nothing. If kernels read codes (Scheme::reads_codes()), these replace coefficients a
/// and b. With variable density a node's potential depends on densities within order /
/// 2 nodes: next to an end of the window inside the grid it is not that of the model.
///
/// One-pass steps of self-adjoint TTI need single precision, 3D, order 8 or less, and a device. On
/// such devices all kernels use a symmetry axis packed in words of 32 bits. Its rounding is less
/// than 0.004 degrees.
template <class T, int Dim, class Memory>
class MediumCoefficients {
 public:
  /// Creates an empty object without arrays.
  MediumCoefficients() = default;
  /// Allocates arrays for the planes of a window; load() fills them.
  /// \throws InputError for planes outside the grid
  MediumCoefficients(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                     const PlaneRange& window)
      : MediumCoefficients(exec, scheme, window, Contents::window) {}
  /// \brief Allocates arrays of numbers for the planes of a window, whatever kernels read.
  ///
  /// With ParameterStorage::codes they hold the decoded values. \see arrays()
  static MediumCoefficients numbers(const InstanceOf<Memory>& exec,
                                    const Scheme<T, Dim, Memory>& scheme,
                                    const PlaneRange& window) {
    return MediumCoefficients(exec, scheme, window, Contents::numbers);
  }
  /// \brief Returns arrays for a number of planes, for a ring into which planes are copied.
  ///
  /// The ring has no source factors for q, no pressure factors, and only the packed axis if all
  /// steps take one pass. \see moved(), arrays()
  static MediumCoefficients ring(const InstanceOf<Memory>& exec,
                                 const Scheme<T, Dim, Memory>& scheme, std::int64_t planes) {
    return MediumCoefficients(exec, scheme, PlaneRange{0, planes}, Contents::ring);
  }
  /// Returns the same arrays for another window with as many planes.
  ///
  /// The window may extend beyond the grid. \throws InputError for another number of planes
  MediumCoefficients moved(const Layout<Dim>& layout) const;
  /// Returns the arrays that a step reads, in an order that depends on the medium alone.
  ///
  /// These are numbers: an object with codes has not all of them. \see numbers()
  ///
  /// Source factors for q and pressure factors are excluded. If all steps take one pass, the last
  /// array has the packed axis: words of 32 bits instead of numbers.
  std::vector<Storage<T, Memory>> arrays() const;
  /// Returns the number of arrays() of a scheme.
  static int array_count(const Scheme<T, Dim, Memory>& scheme);
  /// \brief Returns these parameters with components of the axis in given arrays, if they hold
  /// only the packed one.
  /// \param exec execution instance that computes the components
  /// \param scheme scheme of the parameters
  /// \param layout layout of the arrays, whose window has the strides of this one's
  /// \param nx,ny,nz arrays of the layout
  MediumCoefficients with_components(const InstanceOf<Memory>& exec,
                                     const Scheme<T, Dim, Memory>& scheme,
                                     const Layout<Dim>& layout, const Storage<T, Memory>& nx,
                                     const Storage<T, Memory>& ny,
                                     const Storage<T, Memory>& nz) const;

  /// \brief Loads the parameters of some planes of the window.
  /// \param exec execution instance; the model has to live until the work is complete
  /// \param scheme scheme of the window
  /// \param model checked (check_model()), with the layers of its faces; its fields hold exactly
  ///   the given planes
  /// \param planes planes of the grid, all within the window
  /// \throws InputError for planes outside the window, fields of another shape, or a model of
  ///   another medium
  void load(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
            const Model<T, Dim, Memory>& model, const PlaneRange& planes);
  /// Loads all planes of the window.
  void load(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
            const Model<T, Dim, Memory>& model) {
    load(exec, scheme, model, m_layout.window);
  }

  /// Returns the layout of the arrays, which is that of wavefields of the window.
  const Layout<Dim>& layout() const { return m_layout; }
  /// Returns the factors of sources added to p (field 0) or q (field 1), by node.
  ///
  /// The layout is that of wavefields. The factor is v^2 dt^2, times sqrt(rho) where the density
  /// varies, so that p satisfies the sourced equation. For q of the self-adjoint equations it is
  /// divided by sqrt(1 + 2 delta), so that p satisfies the sourced equation of p alone.
  NodeFactors<T, Memory> source_scale(int field = 0) const {
    return {field == 1 && m_q_scale.data() != nullptr ? m_q_scale : m_scale, m_root_density};
  }
  /// Returns the factors of p over the first field, by node: sqrt(rho) where the density varies.
  ///
  /// An unallocated array means 1: the field is p.
  Storage<const T, Memory> pressure_factors() const { return m_root_density; }
  /// Returns the bytes of all arrays.
  std::size_t bytes() const {
    std::size_t count = 0;
    for (const auto* array :
         {&m_scale, &m_q_scale, &m_root_density, &m_a, &m_b, &m_nx, &m_ny, &m_nz, &m_axis}) {
      count += array->size();
    }
    return count * sizeof(T) + m_words.size() * sizeof(std::uint32_t) +
           m_halves.size() * sizeof(std::uint16_t);
  }

  /// \cond
  void bind(kernel::StepArguments<T>& s) const;
  // words of the axis from node (0, 0, 0); null without packed axis
  const std::uint32_t* axis_words() const {
    return m_axis.data() == nullptr ? nullptr : words_of(m_axis) + m_layout.offset;
  }
  /// \endcond

 private:
  /// Contents of the arrays.
  enum class Contents {
    window,   ///< everything, with codes if kernels read them
    numbers,  ///< everything, without codes
    ring      ///< numbers that a step reads
  };
  MediumCoefficients(const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                     const PlaneRange& window, Contents contents);
  void find_potential(const Instance<Memory>& exec, const Scheme<T, Dim, Memory>& scheme,
                      const PlaneRange& planes);
  // only single precision has a packed axis
  static std::uint32_t* words_of(const Storage<T, Memory>& array) {
    return reinterpret_cast<std::uint32_t*>(array.data());
  }

  Layout<Dim> m_layout;
  Storage<T, Memory> m_scale, m_q_scale, m_root_density, m_a, m_b, m_nx, m_ny, m_nz;
  Kokkos::View<std::uint32_t*, Memory> m_words;   ///< codes of v dt and a; empty if unused
  Kokkos::View<std::uint16_t*, Memory> m_halves;  ///< codes of v dt or b; empty if unused
  Storage<T, Memory> m_axis;      ///< words of the symmetry axis; zero outside the grid
  std::int64_t m_components = 0;  ///< offset of the layout of unpacked nx, ny, nz
  bool m_unpacked = false;        ///< true if nx, ny, nz are those of with_components()
  bool m_one_pass = false;        ///< true if arrays() has the packed axis
};

namespace detail {

/// Returns the distance from 1 to the next larger number.
template <class T>
KOKKOS_INLINE_FUNCTION constexpr T epsilon_of() {
  return sizeof(T) == 4 ? T(1.1920929e-7) : T(2.220446049250313e-16);
}

/// Returns true if the exact square of r exceeds a: a rounded square may equal a smaller a.
KOKKOS_INLINE_FUNCTION bool square_exceeds(const double r, const double a) {
  return fma(r, r, -a) > 0.0;
}

/// Functor that converts a model's parameters to those of kernels; null means an absent parameter.
template <class T, int Dim>
struct Prepare {
  const T *vp, *density, *epsilon, *delta, *theta, *phi;
  T *scale, *q_scale, *root_density, *a, *b, *nx, *ny, *nz;
  std::uint32_t* axis;
  bool coded;             ///< true if parameters are rounded to codes
  ParameterCodes codes;   ///< meaning of codes
  std::uint32_t* words;   ///< codes of v dt in the low halves, of a in the high ones; or null
  std::uint16_t* halves;  ///< codes of v dt or b; or null
  bool packed;            ///< true if the axis is rounded to the precision of a word
  Layout<Dim> layout;
  Box<Dim> box;  ///< nodes of the model's fields
  Medium medium;
  bool fletcher;
  double dt;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t i = layout.flat(box.node(n));
    const double v = static_cast<double>(vp[n]);
    double square = v * dt * v * dt;
    std::uint32_t code = 0;
    T of_b = 1;
    if (coded) {
      code = codes.velocity.encode(v * dt);
      const float distance = codes.velocity.decode(code);
      square = static_cast<double>(distance * distance);
    }
    if (words != nullptr) words[i] = code;
    if (halves != nullptr && words == nullptr) halves[i] = static_cast<std::uint16_t>(code);
    if (medium == Medium::variable_density) {
      root_density[i] = static_cast<T>(sqrt(static_cast<double>(density[n])));
    } else if (medium != Medium::isotropic) {
      const double e = epsilon != nullptr ? static_cast<double>(epsilon[n]) : 0.0;
      const double t = delta != nullptr ? static_cast<double>(delta[n]) : 0.0;
      T square_a = static_cast<T>(1.0 + 2.0 * e);
      const double root = fletcher ? 1.0 + 2.0 * t : sqrt(1.0 + 2.0 * (t < e ? t : e));
      T r = static_cast<T>(root);
      // rounded down, so that r^2 <= a where delta is epsilon, which keeps the equations stable
      if (coded) {
        const std::uint32_t code_a = codes.a.encode(1.0 + 2.0 * e);
        square_a = codes.a.decode(code_a);
        std::uint32_t code_b = codes.b.encode(root);
        while (code_b > 0 && square_exceeds(codes.b.decode(code_b), square_a)) --code_b;
        r = codes.b.decode(code_b);
        if (words != nullptr) words[i] = code | code_a << 16U;
        if (halves != nullptr) halves[i] = static_cast<std::uint16_t>(code_b);
      } else if (!fletcher && square_exceeds(r, square_a)) {
        r -= r * epsilon_of<T>();
      }
      of_b = r;
      if (a != nullptr) a[i] = square_a;
      if (b != nullptr) b[i] = r;
    }
    if (medium == Medium::tti) {
      const double tilt = theta != nullptr ? static_cast<double>(theta[n]) : 0.0;
      const double azimuth = phi != nullptr ? static_cast<double>(phi[n]) : 0.0;
      // n and -n are the same axis: the z component is made positive
      const double sign = cos(tilt) < 0.0 ? -1.0 : 1.0;
      const double x = sign * sin(tilt) * cos(azimuth), y = sign * sin(tilt) * sin(azimuth);
      const double z = sign * cos(tilt);
      if (Dim == 3 && packed) {
        const std::uint32_t word = pack_axis(x, y, z);
        float rounded[3];
        unpack_axis(word, rounded[0], rounded[1], rounded[2]);
        if (axis != nullptr) axis[i] = word;
        nx[i] = rounded[0];
        ny[i] = rounded[1];
        nz[i] = rounded[2];
      } else {
        nx[i] = static_cast<T>(x);
        if (Dim == 3) ny[i] = static_cast<T>(y);
        if (!fletcher) nz[i] = static_cast<T>(z);
      }
    }
    scale[i] = static_cast<T>(square);
    if (q_scale != nullptr) q_scale[i] = static_cast<T>(square / static_cast<double>(of_b));
  }
};

/// \brief Functor that computes the components of a packed axis, and extends them into the halo
/// across y and z.
///
/// The extension is that of FillHalo.
template <class T, int Dim>
struct UnpackAxis {
  const std::uint32_t* words;  ///< from node (0, 0, 0)
  T *nx, *ny, *nz;
  Layout<Dim> layout;  ///< layout of the components
  Index<Dim> strides;  ///< strides of the words
  bool free_lower[Dim];
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    std::int64_t from = 0;
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = layout.extents[d] - 1;
      std::int64_t source = node[d];
      if (source < 0) source = free_lower[d] ? -source : 0;
      if (source > last) source = last;
      from += source * strides[d];
    }
    float axis[3];
    unpack_axis(words[from], axis[0], axis[1], axis[2]);
    const std::int64_t to = layout.flat(node);
    nx[to] = axis[0];
    ny[to] = axis[1];
    nz[to] = axis[2];
  }
};

/// Functor that extends a parameter into the halo.
///
/// Beyond free surfaces the extension is even, so that the operator is self-adjoint there.
/// Elsewhere it takes the value of the nearest node.
template <class T, int Dim>
struct FillHalo {
  T* storage;
  Layout<Dim> layout;
  Box<Dim> box;  ///< loaded nodes and the adjacent halo
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
    if (!inside) storage[layout.flat(node)] = storage[layout.flat(source)];
  }
};

/// Throws InputError unless all planes lie in the window.
inline void check_planes(const PlaneRange& planes, const PlaneRange& window, const char* what) {
  if (!planes.empty() && intersection(planes, window) == planes) return;
  throw InputError(concat("planes ", planes.begin, " to ", planes.end - 1, " are not in ", what,
                          " (allowed: ", window.begin, " to ", window.end - 1, ")"));
}

}  // namespace detail

template <class T, int Dim, class Memory>
MediumCoefficients<T, Dim, Memory>::MediumCoefficients(const InstanceOf<Memory>& exec,
                                                       const Scheme<T, Dim, Memory>& scheme,
                                                       const PlaneRange& window, Contents contents)
    : m_layout(scheme.layout(window)) {
  const bool of_grid = contents != Contents::ring;
  const bool codes = contents == Contents::window && scheme.reads_codes();
  if (of_grid) detail::check_planes(window, all_planes(scheme.grid()), "the grid");
  const CoefficientSet coefficients = coefficients_of(scheme.stencil(), Dim);
  const auto make = [&](Coefficient coefficient, Storage<T, Memory>& storage, const char* label) {
    if (coefficients.has(coefficient)) storage = make_storage<T>(exec, m_layout, label);
  };
  make(Coefficient::scale, m_scale, "moho::wave::scale");
  if (of_grid) make(Coefficient::root_density, m_root_density, "moho::wave::root_density");
  if (codes) {
    const bool words = coefficients.has(Coefficient::a);
    if (words) {
      m_words =
          allocate<Kokkos::View<std::uint32_t*, Memory>>(exec, "moho::wave::words", m_layout.size);
      fill(exec, m_words, std::uint32_t(0));
    }
    if (!words || coefficients.has(Coefficient::b)) {
      m_halves =
          allocate<Kokkos::View<std::uint16_t*, Memory>>(exec, "moho::wave::halves", m_layout.size);
      fill(exec, m_halves, std::uint16_t(0));
    }
  } else {
    make(Coefficient::a, m_a, "moho::wave::a");
    make(Coefficient::b, m_b, "moho::wave::b");
  }
  if (of_grid) make(Coefficient::q_scale, m_q_scale, "moho::wave::q_scale");
  m_one_pass = scheme.always_one_pass();
  if (of_grid || !m_one_pass) {
    make(Coefficient::nx, m_nx, "moho::wave::nx");
    make(Coefficient::ny, m_ny, "moho::wave::ny");
    make(Coefficient::nz, m_nz, "moho::wave::nz");
  }
  if (m_one_pass || (of_grid && scheme.packed_axis())) {
    m_axis = make_storage<T>(exec, m_layout, "moho::wave::axis");
  }
}

template <class T, int Dim, class Memory>
MediumCoefficients<T, Dim, Memory> MediumCoefficients<T, Dim, Memory>::moved(
    const Layout<Dim>& layout) const {
  if (layout.size != m_layout.size || layout.window.count() != m_layout.window.count()) {
    throw InputError(concat("layout: it has ", layout.window.count(), " planes (allowed: ",
                            m_layout.window.count(), ", those of the arrays)"));
  }
  MediumCoefficients result = *this;
  result.m_layout = layout;
  return result;
}

template <class T, int Dim, class Memory>
std::vector<Storage<T, Memory>> MediumCoefficients<T, Dim, Memory>::arrays() const {
  std::vector<Storage<T, Memory>> result;
  for (const auto* array : {&m_scale, &m_a, &m_b}) {
    if (array->data() != nullptr) result.push_back(*array);
  }
  if (m_one_pass) {
    result.push_back(m_axis);
    return result;
  }
  for (const auto* array : {&m_nx, &m_ny, &m_nz}) {
    if (array->data() != nullptr) result.push_back(*array);
  }
  return result;
}

template <class T, int Dim, class Memory>
int MediumCoefficients<T, Dim, Memory>::array_count(const Scheme<T, Dim, Memory>& scheme) {
  if (scheme.always_one_pass()) return 4;  // scale, a, b, and the packed axis
  return step_coefficient_count(scheme.stencil(), Dim);
}

template <class T, int Dim, class Memory>
MediumCoefficients<T, Dim, Memory> MediumCoefficients<T, Dim, Memory>::with_components(
    const InstanceOf<Memory>& exec, const Scheme<T, Dim, Memory>& scheme, const Layout<Dim>& layout,
    const Storage<T, Memory>& nx, const Storage<T, Memory>& ny,
    const Storage<T, Memory>& nz) const {
  MediumCoefficients result = *this;
  if constexpr (Dim == 3 && sizeof(T) == sizeof(std::uint32_t)) {
    if (m_axis.data() == nullptr || m_nx.data() != nullptr) return result;
    detail::UnpackAxis<T, Dim> unpack{};
    unpack.words = axis_words();
    unpack.nx = nx.data();
    unpack.ny = ny.data();
    unpack.nz = nz.data();
    unpack.layout = layout;
    unpack.strides = m_layout.strides;
    Box<Dim> box = whole_box(scheme.grid());
    for (int d = 0; d < Dim; ++d) {
      unpack.free_lower[d] = scheme.options().boundaries.lower[d].kind == FaceKind::free_surface;
      box.lower[d] -= layout.halo;
      box.upper[d] += layout.halo;
    }
    box.lower[0] = layout.window.begin;
    box.upper[0] = layout.window.end;
    launch_box("moho::wave::unpack_axis", exec, box, unpack);
    result.m_nx = nx;
    result.m_ny = ny;
    result.m_nz = nz;
    result.m_components = layout.offset;
    result.m_unpacked = true;
  } else {
    (void)exec, (void)scheme, (void)layout, (void)nx, (void)ny, (void)nz;
  }
  return result;
}

template <class T, int Dim, class Memory>
void MediumCoefficients<T, Dim, Memory>::load(const InstanceOf<Memory>& exec,
                                              const Scheme<T, Dim, Memory>& scheme,
                                              const Model<T, Dim, Memory>& model,
                                              const PlaneRange& planes) {
  detail::check_planes(planes, m_layout.window, "the window");
  if (model.medium() != scheme.medium()) {
    throw InputError(concat("model: its parameters are those of a medium '",
                            to_string(model.medium()), "' (allowed: '", to_string(scheme.medium()),
                            "', that of the scheme): give the model of the same kind"));
  }
  detail::Prepare<T, Dim> prepare{};
  prepare.box = m_layout.box();
  prepare.box.lower[0] = planes.begin;
  prepare.box.upper[0] = planes.end;
  Grid<Dim> part = scheme.grid();
  part.extents[0] = planes.count();
  const auto take = [&](const Field<T, Dim, Memory>& field, const char* name) -> const T* {
    if (field.data() != nullptr) check_shape(part, field, name);
    return field.data();
  };
  prepare.vp = take(model.vp, "vp");
  prepare.density = take(model.density, "density");
  prepare.epsilon = take(model.epsilon, "epsilon");
  prepare.delta = take(model.delta, "delta");
  prepare.theta = take(model.theta, "theta");
  prepare.phi = take(model.phi, "phi");
  prepare.scale = m_scale.data();
  prepare.q_scale = m_q_scale.data();
  prepare.root_density = m_root_density.data();
  prepare.a = m_a.data();
  prepare.b = m_b.data();
  prepare.nx = m_nx.data();
  prepare.ny = m_ny.data();
  prepare.nz = m_nz.data();
  prepare.axis = m_axis.data() == nullptr ? nullptr : words_of(m_axis);
  prepare.coded = scheme.rounds_parameters();
  prepare.codes = scheme.codes();
  prepare.words = m_words.data();
  prepare.halves = m_halves.data();
  prepare.packed = scheme.packed_axis();
  prepare.layout = m_layout;
  prepare.medium = scheme.medium();
  prepare.fletcher = scheme.options().equations == Equations::fletcher;
  prepare.dt = scheme.dt();
  launch("moho::wave::prepare", exec, prepare.box.size(), prepare);

  // parameters that kernels read at neighbours are extended into the halo
  detail::FillHalo<T, Dim> fill_halo{};
  fill_halo.layout = m_layout;
  fill_halo.box = prepare.box;
  const std::int64_t halo = m_layout.halo, last = m_layout.extents[0] - 1;
  for (int d = 1; d < Dim; ++d) {
    fill_halo.box.lower[d] -= halo;
    fill_halo.box.upper[d] += halo;
  }
  // images beyond a free surface mirror up to `halo` planes, and are complete when all of these are
  // loaded
  if (m_layout.window.begin == 0 && planes.begin <= halo) fill_halo.box.lower[0] = -halo;
  if (m_layout.window.end == last + 1 && planes.end > last - halo) {
    fill_halo.box.upper[0] = last + 1 + halo;
  }
  const Boundaries<Dim>& faces = scheme.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    fill_halo.free_lower[d] = faces.lower[d].kind == FaceKind::free_surface;
    fill_halo.free_upper[d] = faces.upper[d].kind == FaceKind::free_surface;
  }
  const auto continue_outside = [&](const Storage<T, Memory>& storage) {
    if (storage.data() == nullptr) return;
    fill_halo.storage = storage.data();
    launch("moho::wave::fill_halo", exec, fill_halo.box.size(), fill_halo);
  };
  const CoefficientSet neighbours = info(scheme.stencil()).halo;
  if (neighbours.has(Coefficient::nx)) continue_outside(m_nx);
  if (neighbours.has(Coefficient::nz)) continue_outside(m_nz);
  if (neighbours.has(Coefficient::ny)) continue_outside(m_ny);
  if (m_root_density.data() == nullptr) return;
  continue_outside(m_root_density);
  find_potential(exec, scheme, planes);
}

// Computes the potentials that depend on the density of some planes.
template <class T, int Dim, class Memory>
void MediumCoefficients<T, Dim, Memory>::find_potential(const Instance<Memory>& exec,
                                                        const Scheme<T, Dim, Memory>& scheme,
                                                        const PlaneRange& planes) {
  detail::FindPotential<T, Dim> potential{};
  potential.root_density = m_root_density.data() + m_layout.offset;
  if (m_a.data() != nullptr) potential.potential = m_a.data() + m_layout.offset;
  if (m_words.data() != nullptr) potential.words = m_words.data() + m_layout.offset;
  potential.coded = scheme.rounds_parameters();
  potential.code = scheme.codes().a;
  potential.layout = m_layout;
  potential.radius = scheme.order() / 2;
  const Coefficients c = second_derivative(potential.radius);
  const int layer_reach = detail::layer_radius(potential.radius);
  const Coefficients first = first_derivative(layer_reach);
  std::int64_t margin = potential.radius;
  for (int d = 0; d < Dim; ++d) {
    const double spacing = scheme.grid().spacing[d];
    potential.layer_a[d] = scheme.layer_factors(kernel::axis3<Dim>(d), 0);
    potential.layer_b[d] = scheme.layer_factors(kernel::axis3<Dim>(d), 1);
    if (d == 0 && potential.layer_a[d] != nullptr) {
      margin = std::max<std::int64_t>(margin, 2 * layer_reach);
    }
    for (int k = 1; k <= layer_reach; ++k) potential.slope[d][k] = first[k] / spacing;
    for (int k = 1; k <= potential.radius; ++k) {
      potential.second[d][k] = c[k] / (spacing * spacing);
    }
  }
  // planes that read the loaded ones
  potential.box = m_layout.box();
  potential.box.lower[0] = std::max(m_layout.window.begin, planes.begin - margin);
  potential.box.upper[0] = std::min(m_layout.window.end, planes.end + margin);
  launch("moho::wave::find_potential", exec, potential.box.size(), potential);
}

/// \cond
template <class T, int Dim, class Memory>
void MediumCoefficients<T, Dim, Memory>::bind(kernel::StepArguments<T>& s) const {
  const auto start = [](const Storage<T, Memory>& storage, std::int64_t offset) {
    return storage.data() == nullptr ? nullptr : storage.data() + offset;
  };
  s.words = m_words.data() == nullptr ? nullptr : m_words.data() + m_layout.offset;
  s.halves = m_halves.data() == nullptr ? nullptr : m_halves.data() + m_layout.offset;
  s.scale = start(m_scale, m_layout.offset);
  s.a = start(m_a, m_layout.offset);
  s.b = start(m_b, m_layout.offset);
  const std::int64_t components = m_unpacked ? m_components : m_layout.offset;
  s.nx = start(m_nx, components);
  s.ny = start(m_ny, components);
  s.nz = start(m_nz, components);
  s.stride_x = m_layout.strides[0];
  s.stride_y = Dim == 3 ? m_layout.strides[1] : 0;
}
/// \endcond

}  // namespace moho::wave
