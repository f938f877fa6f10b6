// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Fields of a regular mesh at stations on its lattice, by Fourier transforms.

#include <moho/core/instances.hpp>
#include <moho/gravity/detail/fourier.hpp>
#include <moho/gravity/field_operator.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::gravity {

/// Stations on a lattice with the steps of a mesh, at one height.
struct Lattice {
  std::int64_t nx = 0;              ///< points along x
  std::int64_t ny = 0;              ///< points along y
  double x0 = 0.0;                  ///< x of the first point, m
  double y0 = 0.0;                  ///< y of the first point, m
  double z = 0.0;                   ///< of all points, m
  std::vector<std::int64_t> point;  ///< point of each station, x fastest
  std::string why;                  ///< empty, or the reason why the stations are not on a lattice
};

/// \brief Returns the lattice of stations above a mesh.
///
/// Distances of stations along x and y are multiples of the mesh's steps to 1e-6 of a step; the
/// offset is arbitrary. Points without a station and points with several are allowed. The stations
/// have one z, above the mesh. If not, `why` says which station is the first to differ.
/// \param stations rows of x, y, z
Lattice find_lattice(const RegularMesh& mesh, const std::vector<double>& stations);

/// Returns the bytes of the spectra and planes of a LatticeOperator.
double lattice_bytes(const RegularMesh& mesh, const Lattice& lattice, std::size_t components);

/// \brief The operator of a mesh at stations on its lattice.
///
/// The field of a layer of equal prisms is a convolution. Each layer and component has a spectrum,
/// computed once from the closed forms with the lengths of a linear convolution, so that the result
/// is that of the direct sum to rounding. A product costs the transforms of the layers and of the
/// components in place of one pair for each prism and station. adjoint() is the transpose of
/// apply(). Both have the same bits for any number of host threads.
///
/// Memory: 16 bytes times layers, components, Lx and Ly / 2 + 1, with Lx at least the numbers of
/// cells and points along x less 1; and planes of Lx x Ly, 16 bytes a point: eight to work in, two
/// with one layer, and one for each pair of components.
template <class Memory>
class LatticeOperator final : public FieldOperator {
 public:
  /// \param exec where everything runs
  /// \param mesh the box and its division
  /// \param stations rows of x, y, z on the lattice of the mesh
  /// \param components components, in the order of values
  /// \param options gravitational constant, far field, memory
  /// \throws InputError for stations that are not on the lattice, MemoryError
  LatticeOperator(const Instance<Memory>& exec, const RegularMesh& mesh,
                  const std::vector<double>& stations, const Components& components,
                  const OperatorOptions& options = {});

  std::int64_t prisms() const override { return m_mesh.size(); }
  std::int64_t values() const override {
    return static_cast<std::int64_t>(m_components.size() * (m_stations.size() / 3));
  }
  /// Returns the bytes allocated in the memory space.
  std::size_t bytes() const override { return m_bytes; }
  /// Returns the lengths of the transforms along x and y.
  Kokkos::Array<std::int64_t, 2> lengths() const { return {m_x.length, m_y.length}; }

  void apply(const std::vector<double>& densities, std::vector<double>& results) override;
  void adjoint(const std::vector<double>& weights, std::vector<double>& densities) override;
  /// Computes results = G densities on the operator's instance; it does not wait.
  /// \param densities one number a prism, kg/m^3 \param results components x stations
  /// \throws InputError for other shapes
  void apply(const DensityView<Memory>& densities, const ResultView<Memory>& results);
  /// Computes densities = G^T weights on the operator's instance; it does not wait.
  /// \param weights components x stations \param densities one number a prism
  /// \throws InputError for other shapes
  void adjoint(const typename Operator<Memory>::ConstResultView& weights,
               const typename Operator<Memory>::Vector& densities);
  /// Direct sums; an operator of them is made for the call.
  void column_squares(const std::vector<double>& weights, std::vector<double>& squares) override;

 private:
  using Grid = Kokkos::View<detail::Complex*, Memory>;
  /// Values of the space as components x stations.
  ResultView<Memory> shaped_values() const {
    return ResultView<Memory>(m_values.data(), m_components.size(), m_stations.size() / 3);
  }
  void make_spectra(const OperatorOptions& options);
  detail::Complex* transform(detail::Complex* data, detail::Complex* work, std::int64_t rows,
                             bool inverse);
  detail::Complex* spectrum(std::int64_t layer, std::size_t component) const {
    return m_spectra.data() + (layer * static_cast<std::int64_t>(m_components.size()) +
                               static_cast<std::int64_t>(component)) *
                                  m_half;
  }

  /// Returns the numbers from one layer's spectra to the next.
  std::int64_t next_layer() const {
    return static_cast<std::int64_t>(m_components.size()) * m_half;
  }

  Instance<Memory> m_exec;
  RegularMesh m_mesh;
  std::vector<double> m_stations;
  Components m_components;
  OperatorOptions m_options;
  Lattice m_lattice;
  detail::Fourier<Memory> m_x, m_y;
  std::int64_t m_half = 0;  // numbers of half a plane
  std::size_t m_bytes = 0;
  Grid m_spectra, m_sums, m_data, m_work;
  Grid m_planes;  // of adjoint(): transforms of the components, two in a plane
  Kokkos::View<std::int64_t*, Memory> m_point, m_first, m_listed;  // of stations, of points
  Kokkos::View<double*, Memory> m_densities, m_values;
};

namespace detail {

/// Puts two real layers into the real and imaginary parts of an array with rows of `length`.
struct PackLayers {
  const double *first, *second;  ///< count numbers each; null: 0
  std::int64_t nx, length;
  Complex* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t row = item / length, i = item % length;
    Complex value{0.0, 0.0};
    if (i < nx) {
      if (first != nullptr) value.re = first[row * nx + i];
      if (second != nullptr) value.im = second[row * nx + i];
    }
    to[item] = value;
  }
};

/// Puts the sums of two components' weights at each point into an array with rows of `length`.
struct PackPoints {
  const double *first, *second;      ///< weights of stations; null: 0
  const std::int64_t *begin, *list;  ///< stations of each point
  std::int64_t nx, length;
  Complex* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t row = item / length, i = item % length;
    Complex value{0.0, 0.0};
    if (i < nx) {
      const std::int64_t point = row * nx + i;
      for (std::int64_t k = begin[point]; k < begin[point + 1]; ++k) {
        value.re += first[list[k]];
        if (second != nullptr) value.im += second[list[k]];
      }
    }
    to[item] = value;
  }
};

/// Places the field of one prism at lags, rows of 1 - nx to sx - 1, in a circular array.
struct PackLags {
  const double* values;
  std::int64_t nx, ny, sx, sy, lx, ly;
  double factor;
  Complex* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    const std::int64_t i = item % lx, j = item / lx;
    // lags of 0 to sx - 1, and of -(nx - 1) to -1 from the end
    const std::int64_t a = i < sx ? i + nx - 1 : i - (lx - nx + 1);
    const std::int64_t b = j < sy ? j + ny - 1 : j - (ly - ny + 1);
    const bool is_lag = (i < sx || i >= lx - nx + 1) && (j < sy || j >= ly - ny + 1);
    to[item] = {is_lag ? factor * values[b * (nx + sx - 1) + a] : 0.0, 0.0};
  }
};

/// Numbers k and -k of a plane of lx x ly, for items of its half.
struct HalfPlane {
  std::int64_t lx, ly;
  /// Sets the places of k and -k; false for items whose -k is another item.
  KOKKOS_FORCEINLINE_FUNCTION bool places(std::int64_t item, std::int64_t& minus) const {
    const std::int64_t i = item % lx, j = item / lx;
    const std::int64_t mi = i == 0 ? 0 : lx - i, mj = j == 0 ? 0 : ly - j;
    minus = mj * lx + mi;
    return mj != j || i <= mi;
  }
};

/// Pairs of layers whose transforms are kept together.
inline constexpr int lattice_pairs = 4;

/// The transforms of two real arrays from that of first + i second at k and its number at -k.
KOKKOS_FORCEINLINE_FUNCTION void separate(Complex at, Complex minus, Complex& first,
                                          Complex& second) {
  const Complex b = conjugate(minus);
  first = {0.5 * (at.re + b.re), 0.5 * (at.im + b.im)};
  second = {0.5 * (at.im - b.im), -0.5 * (at.re - b.re)};
}

/// Sums the products of layers with their spectra for each component.
struct AddLayers {
  HalfPlane plane;
  const Complex* data;      ///< transforms of pairs of layers, first + i second
  std::int64_t next_plane;  ///< numbers from one pair to the next
  const Complex* spectra;   ///< of the first layer and component
  std::int64_t next_layer;  ///< numbers from one layer's spectra to the next
  Complex* sum;             ///< of the first component
  std::int64_t half;        ///< numbers from one component to the next
  int layers;               ///< 1 to 2 lattice_pairs
  int components;
  bool add;  ///< false: sums begin with 0
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    std::int64_t minus = 0;
    if (!plane.places(item, minus)) return;
    Complex part[2 * lattice_pairs];
    MOHO_UNROLL for (int k = 0; k < lattice_pairs; ++k) {
      if (2 * k >= layers) continue;
      const Complex* const own = data + k * next_plane;
      separate(own[item], own[minus], part[2 * k], part[2 * k + 1]);
    }
    std::int64_t at = item;
    for (int c = 0; c < components; ++c, at += half) {
      Complex total = add ? sum[at] : Complex{0.0, 0.0};
      MOHO_UNROLL for (int n = 0; n < 2 * lattice_pairs; ++n) {
        if (n < layers) total = total + spectra[n * next_layer + at] * part[n];
      }
      sum[at] = total;
    }
  }
};

/// Sums the products of components with conjugate spectra for each layer.
struct AddComponents {
  HalfPlane plane;
  const Complex* data;      ///< transforms of pairs of components, first + i second
  std::int64_t next_plane;  ///< numbers from one pair to the next
  const Complex* spectra;   ///< of the first layer and component
  std::int64_t next_layer;  ///< numbers from one layer's spectra to the next
  Complex* sum;             ///< of the first layer
  std::int64_t half;        ///< numbers from one component, or sum, to the next
  int layers;               ///< 1 to 2 lattice_pairs
  int components;
  bool add;  ///< false: sums begin with 0
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    std::int64_t minus = 0;
    if (!plane.places(item, minus)) return;
    Complex total[2 * lattice_pairs];
    MOHO_UNROLL for (int n = 0; n < 2 * lattice_pairs; ++n) {
      total[n] = add && n < layers ? sum[n * half + item] : Complex{0.0, 0.0};
    }
    const Complex* own = data;
    for (int c = 0; c < components; c += 2, own += next_plane) {
      Complex one, other;
      separate(own[item], own[minus], one, other);
      const Complex* const first = spectra + c * half + item;
      const bool two = c + 1 < components;
      MOHO_UNROLL for (int n = 0; n < 2 * lattice_pairs; ++n) {
        if (n >= layers) continue;
        total[n] = total[n] + conjugate(first[n * next_layer]) * one;
        if (two) total[n] = total[n] + conjugate(first[n * next_layer + half]) * other;
      }
    }
    MOHO_UNROLL for (int n = 0; n < 2 * lattice_pairs; ++n) {
      if (n < layers) sum[n * half + item] = total[n];
    }
  }
};

/// Joins the half planes of two real arrays to the plane of first + i second.
struct JoinHalves {
  HalfPlane plane;
  const Complex *first, *second;  ///< second may be null
  Complex* to;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    std::int64_t minus = 0;
    if (!plane.places(item, minus)) return;
    const Complex a = first[item];
    const Complex b = second != nullptr ? second[item] : Complex{0.0, 0.0};
    // of the conjugate first: k and -k may be the same number, whose spectrum is real
    to[minus] = {a.re + b.im, b.re - a.im};
    to[item] = {a.re - b.im, a.im + b.re};
  }
};

/// Takes the values of stations from the real and imaginary parts.
struct TakePoints {
  const Complex* from;
  const std::int64_t* point;
  std::int64_t nx, length;
  double *first, *second;  ///< second may be null
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t s) const {
    const Complex value = from[point[s] / nx * length + point[s] % nx];
    first[s] = value.re;
    if (second != nullptr) second[s] = value.im;
  }
};

/// Takes two layers of cells from the real and imaginary parts.
struct TakeLayers {
  const Complex* from;
  std::int64_t nx, length;
  double *first, *second;  ///< second may be null
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t cell) const {
    const Complex value = from[cell / nx * length + cell % nx];
    first[cell] = value.re;
    if (second != nullptr) second[cell] = value.im;
  }
};

/// Throws InputError with the reason of a lattice.
void check_lattice(const Lattice& lattice);
/// Returns the stations of each point: begins of the points, then stations in order.
void list_stations(const Lattice& lattice, std::vector<std::int64_t>& begin,
                   std::vector<std::int64_t>& list);
/// Returns stations at all lags of a mesh's first column, x fastest.
std::vector<double> lag_stations(const RegularMesh& mesh, const Lattice& lattice);

}  // namespace detail

template <class Memory>
LatticeOperator<Memory>::LatticeOperator(const Instance<Memory>& exec, const RegularMesh& mesh,
                                         const std::vector<double>& stations,
                                         const Components& components,
                                         const OperatorOptions& options)
    : m_exec(exec),
      m_mesh(mesh),
      m_stations(stations),
      m_components(components),
      m_options(options),
      m_lattice(find_lattice(mesh, stations)) {
  detail::check_lattice(m_lattice);
  (void)detail::make_plan(components, options.constant, 1.0);
  const std::int64_t nx = mesh.cells[0], ny = mesh.cells[1], nz = mesh.cells[2];
  const std::int64_t lx = detail::fourier_length(nx + m_lattice.nx - 1);
  const std::int64_t ly = detail::fourier_length(ny + m_lattice.ny - 1);
  m_half = lx * (ly / 2 + 1);
  const auto count = static_cast<std::int64_t>(components.size());
  // planes of pairs of layers, and as many to work in
  const std::int64_t pairs = std::min<std::int64_t>(detail::lattice_pairs, (nz + 1) / 2);
  const std::int64_t sums = std::max(count, 2 * pairs) * m_half;
  const std::int64_t planes = (count + 1) / 2;
  const double bytes =
      16.0 * (static_cast<double>(nz * count) * static_cast<double>(m_half) +
              static_cast<double>(sums + (2 * pairs + planes) * lx * ly)) +
      8.0 * static_cast<double>(mesh.size()) +
      (8.0 * static_cast<double>(count) + 16.0) * static_cast<double>(stations.size() / 3);
  Options budget;
  budget.memory_budget = options.memory_budget;
  detail::check_budget(bytes,
                       detail::budget_of(budget, memory_budget(exec, budget.memory_budget), 0),
                       concat("spectra of ", detail::counted(nz, "layer"), " and ",
                              detail::counted(count, "component")));
  m_bytes = static_cast<std::size_t>(bytes);
  m_x = detail::Fourier<Memory>(exec, lx);
  m_y = detail::Fourier<Memory>(exec, ly);
  const auto grid = [&](const char* label, std::int64_t numbers) {
    return allocate<Grid>(exec, label, static_cast<std::size_t>(numbers));
  };
  m_spectra = grid("moho::gravity::spectra", nz * count * m_half);
  m_sums = grid("moho::gravity::products", sums);
  m_data = grid("moho::gravity::planes", pairs * lx * ly);
  m_work = grid("moho::gravity::planes", pairs * lx * ly);
  m_planes = grid("moho::gravity::planes", planes * lx * ly);
  std::vector<std::int64_t> begin, list;
  detail::list_stations(m_lattice, begin, list);
  m_point = upload(exec, m_lattice.point, "moho::gravity::points");
  m_first = upload(exec, begin, "moho::gravity::points");
  m_listed = upload(exec, list, "moho::gravity::points");
  m_densities = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::densities",
                                                        static_cast<std::size_t>(mesh.size()));
  m_values = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::values",
                                                     static_cast<std::size_t>(values()));
  make_spectra(options);
}

template <class Memory>
detail::Complex* LatticeOperator<Memory>::transform(detail::Complex* data, detail::Complex* work,
                                                    std::int64_t rows, bool inverse) {
  const std::int64_t lx = m_x.length, ly = m_y.length;
  // rows of zeros and rows that are not read later are not transformed
  if (inverse) {
    detail::Complex* const columns = m_y.run(m_exec, data, work, 1, lx, lx * ly, true);
    return m_x.run(m_exec, columns, columns == data ? work : data, rows, 1, lx, true);
  }
  detail::Complex* const lines = m_x.run(m_exec, data, work, rows, 1, lx, false);
  if (rows < ly) {
    const Kokkos::View<detail::Complex*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> rest(
        lines + rows * lx, static_cast<std::size_t>((ly - rows) * lx));
    launch("moho::gravity::clear_rows", m_exec, (ly - rows) * lx,
           detail::PackLayers{nullptr, nullptr, 0, lx, rest.data()});
  }
  return m_y.run(m_exec, lines, lines == data ? work : data, 1, lx, lx * ly, false);
}

template <class Memory>
void LatticeOperator<Memory>::make_spectra(const OperatorOptions& options) {
  const std::int64_t nx = m_mesh.cells[0], ny = m_mesh.cells[1], nz = m_mesh.cells[2];
  const std::int64_t lx = m_x.length, ly = m_y.length;
  const std::vector<double> lags = detail::lag_stations(m_mesh, m_lattice);
  const std::size_t count = lags.size() / 3;
  const auto places = detail::to_space<StationView<Memory>>(m_exec, lags, "stations", count);
  const auto fields =
      allocate<ResultView<Memory>>(m_exec, "moho::gravity::lags", m_components.size(), count);
  Options sums;
  sums.constant = options.constant;
  sums.far_tolerance = options.far_tolerance;
  for (std::int64_t layer = 0; layer < nz; ++layer) {
    m_exec.check_stop();
    const std::vector<double> prism{m_mesh.face(0, 0),
                                    m_mesh.face(0, 1),
                                    m_mesh.face(1, 0),
                                    m_mesh.face(1, 1),
                                    m_mesh.face(2, layer),
                                    m_mesh.face(2, layer + 1),
                                    1.0};
    const auto rows = detail::to_space<PrismView<Memory>>(m_exec, prism, "prisms", std::size_t(1));
    forward<double>(m_exec, rows, places, m_components, fields, sums);
    for (std::size_t c = 0; c < m_components.size(); ++c) {
      launch("moho::gravity::pack_lags", m_exec, lx * ly,
             detail::PackLags{fields.data() + c * count, nx, ny, m_lattice.nx, m_lattice.ny, lx, ly,
                              1.0 / static_cast<double>(lx * ly), m_data.data()});
      const detail::Complex* const plane = transform(m_data.data(), m_work.data(), ly, false);
      copy(m_exec, Grid(spectrum(layer, c), static_cast<std::size_t>(m_half)),
           Kokkos::View<const detail::Complex*, Memory>(plane, static_cast<std::size_t>(m_half)));
    }
    m_exec.fence();
  }
}

template <class Memory>
void LatticeOperator<Memory>::apply(const std::vector<double>& densities,
                                    std::vector<double>& results) {
  detail::check_count("densities", densities.size(), prisms(), "prism");
  results.resize(static_cast<std::size_t>(values()));
  copy(m_exec, m_densities, HostElements<const double>(densities.data(), densities.size()));
  apply(m_densities, shaped_values());
  copy(m_exec, HostElements<double>(results.data(), results.size()), m_values);
  m_exec.fence();
}

template <class Memory>
void LatticeOperator<Memory>::apply(const DensityView<Memory>& densities,
                                    const ResultView<Memory>& results) {
  detail::check_count("densities", densities.extent(0), prisms(), "prism");
  const auto stations = static_cast<std::int64_t>(m_stations.size() / 3);
  detail::check_shape("results", results.extent(0), results.extent(1), m_components.size(),
                      stations);
  detail::check_contiguous(results, "results");
  const std::int64_t nx = m_mesh.cells[0], ny = m_mesh.cells[1], nz = m_mesh.cells[2];
  const std::int64_t lx = m_x.length, ly = m_y.length, cells = nx * ny;
  const detail::HalfPlane plane{lx, ly};
  const std::int64_t max = 2 * detail::lattice_pairs;
  for (std::int64_t layer = 0; layer < nz; layer += max) {
    m_exec.check_stop();
    const std::int64_t end = std::min(nz, layer + max);
    const detail::Complex* planes = nullptr;
    for (std::int64_t n = layer; n < end; n += 2) {
      const std::int64_t at = (n - layer) / 2 * lx * ly;
      const double* const first = densities.data() + n * cells;
      launch("moho::gravity::pack_layers", m_exec, ny * lx,
             detail::PackLayers{first, n + 1 < end ? first + cells : nullptr, nx, lx,
                                m_data.data() + at});
      const detail::Complex* const data =
          transform(m_data.data() + at, m_work.data() + at, ny, false);
      if (n == layer) planes = data;
    }
    // hosts read the spectra of one component and one pair at a time
    const std::size_t together = is_host_memory<Memory> ? 1 : m_components.size();
    const std::int64_t layers = is_host_memory<Memory> ? 2 : max;
    for (std::size_t c = 0; c < m_components.size(); c += together) {
      for (std::int64_t n = layer; n < end; n += layers) {
        launch("moho::gravity::add_layers", m_exec, m_half,
               detail::AddLayers{
                   plane, planes + (n - layer) / 2 * lx * ly, lx * ly, spectrum(n, c), next_layer(),
                   m_sums.data() + static_cast<std::int64_t>(c) * m_half, m_half,
                   static_cast<int>(std::min(layers, end - n)), static_cast<int>(together), n > 0});
      }
    }
  }
  for (std::size_t c = 0; c < m_components.size(); c += 2) {
    const bool two = c + 1 < m_components.size();
    const detail::Complex* const sum = m_sums.data() + static_cast<std::int64_t>(c) * m_half;
    launch("moho::gravity::join_halves", m_exec, m_half,
           detail::JoinHalves{plane, sum, two ? sum + m_half : nullptr, m_data.data()});
    const detail::Complex* const field =
        transform(m_data.data(), m_work.data(), m_lattice.ny, true);
    double* const to = results.data() + static_cast<std::int64_t>(c) * stations;
    launch("moho::gravity::take_points", m_exec, stations,
           detail::TakePoints{field, m_point.data(), m_lattice.nx, lx, to,
                              two ? to + stations : nullptr});
  }
}

template <class Memory>
void LatticeOperator<Memory>::adjoint(const std::vector<double>& weights,
                                      std::vector<double>& densities) {
  detail::check_count("weights", weights.size(), values(), "value");
  densities.resize(static_cast<std::size_t>(prisms()));
  copy(m_exec, m_values, HostElements<const double>(weights.data(), weights.size()));
  adjoint(shaped_values(), m_densities);
  copy(m_exec, HostElements<double>(densities.data(), densities.size()), m_densities);
  m_exec.fence();
}

template <class Memory>
void LatticeOperator<Memory>::adjoint(const typename Operator<Memory>::ConstResultView& weights,
                                      const typename Operator<Memory>::Vector& densities) {
  detail::check_count("densities", densities.extent(0), prisms(), "prism");
  const auto stations = static_cast<std::int64_t>(m_stations.size() / 3);
  detail::check_shape("weights", weights.extent(0), weights.extent(1), m_components.size(),
                      stations);
  detail::check_contiguous(weights, "weights");
  const std::int64_t nx = m_mesh.cells[0], ny = m_mesh.cells[1], nz = m_mesh.cells[2];
  const std::int64_t lx = m_x.length, ly = m_y.length, cells = nx * ny;
  const detail::HalfPlane plane{lx, ly};
  const std::size_t pairs = (m_components.size() + 1) / 2;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    m_exec.check_stop();
    const bool two = 2 * pair + 1 < m_components.size();
    const double* const first = weights.data() + static_cast<std::int64_t>(2 * pair) * stations;
    launch("moho::gravity::pack_points", m_exec, m_lattice.ny * lx,
           detail::PackPoints{first, two ? first + stations : nullptr, m_first.data(),
                              m_listed.data(), m_lattice.nx, lx, m_data.data()});
    const detail::Complex* const data =
        transform(m_data.data(), m_work.data(), m_lattice.ny, false);
    copy(m_exec,
         Grid(m_planes.data() + pair * static_cast<std::size_t>(lx * ly),
              static_cast<std::size_t>(lx * ly)),
         Kokkos::View<const detail::Complex*, Memory>(data, static_cast<std::size_t>(lx * ly)));
  }
  const std::int64_t max = 2 * detail::lattice_pairs;
  // hosts read the spectra of one layer and one pair at a time
  const std::int64_t layers = is_host_memory<Memory> ? 1 : max;
  const std::size_t together = is_host_memory<Memory> ? 2 : m_components.size();
  for (std::int64_t layer = 0; layer < nz; layer += max) {
    m_exec.check_stop();
    const std::int64_t end = std::min(nz, layer + max);
    for (std::int64_t n = layer; n < end; n += layers) {
      for (std::size_t c = 0; c < m_components.size(); c += together) {
        launch("moho::gravity::add_components", m_exec, m_half,
               detail::AddComponents{
                   plane, m_planes.data() + c / 2 * static_cast<std::size_t>(lx * ly), lx * ly,
                   spectrum(n, c), next_layer(), m_sums.data() + (n - layer) * m_half, m_half,
                   static_cast<int>(std::min(layers, end - n)),
                   static_cast<int>(std::min(together, m_components.size() - c)), c > 0});
      }
    }
    for (std::int64_t n = layer; n < end; n += 2) {
      const bool two = n + 1 < end;
      const detail::Complex* const first = m_sums.data() + (n - layer) * m_half;
      launch("moho::gravity::join_halves", m_exec, m_half,
             detail::JoinHalves{plane, first, two ? first + m_half : nullptr, m_data.data()});
      const detail::Complex* const sums = transform(m_data.data(), m_work.data(), ny, true);
      double* const to = densities.data() + n * cells;
      launch("moho::gravity::take_layers", m_exec, cells,
             detail::TakeLayers{sums, nx, lx, to, two ? to + cells : nullptr});
    }
  }
}

template <class Memory>
void LatticeOperator<Memory>::column_squares(const std::vector<double>& weights,
                                             std::vector<double>& squares) {
  const std::vector<double> prisms =
      mesh_prisms(m_mesh, std::vector<double>(static_cast<std::size_t>(m_mesh.size()), 1.0));
  DirectFieldOperator<Memory> direct(m_exec, prisms, m_stations, m_components, m_options);
  direct.column_squares(weights, squares);
}

/// Returns a LatticeOperator; its arguments are those of the constructor.
template <class Memory>
std::unique_ptr<FieldOperator> make_lattice_operator(const Instance<Memory>& exec,
                                                     const RegularMesh& mesh,
                                                     const std::vector<double>& stations,
                                                     const Components& components,
                                                     const OperatorOptions& options = {}) {
  return std::make_unique<LatticeOperator<Memory>>(exec, mesh, stations, components, options);
}

#ifdef MOHO_GRAVITY_KERNELS
MOHO_FOR_MEMORIES(MOHO_CLASS, extern template class, LatticeOperator)
#endif

}  // namespace moho::gravity
