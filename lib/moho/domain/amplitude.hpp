// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains that expand with the amplitude inside their faces.

#include <moho/domain/domain.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace moho::domain {

namespace detail {

/// Atomically sets a non-negative number to its maximum with `value`.
///
/// The bits of non-negative numbers are ordered as integers.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void atomic_maximum(T* address, T value) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>);
  using Bits = std::conditional_t<sizeof(T) == sizeof(int), int, long long>;
  static_assert(sizeof(Bits) == sizeof(T));
  Bits bits;
  memcpy(&bits, &value, sizeof(T));
  Kokkos::atomic_fetch_max(reinterpret_cast<Bits*>(address), bits);
}

/// Host memory with the fastest copies from a memory space.
template <class Memory>
struct ReadBack {
  using memory = Kokkos::HostSpace;
};
#ifdef KOKKOS_ENABLE_CUDA
/// \cond
template <>
struct ReadBack<Kokkos::CudaSpace> {
  using memory = Kokkos::CudaHostPinnedSpace;
};
/// \endcond
#endif

/// \brief Nodes whose amplitude is measured, and the slots of their maxima.
///
/// The nodes are every few rows of the box, with one maximum, or those inside a face, with a
/// maximum for each distance from it. The last axis is a row.
template <int Dim>
struct Region {
  /// First work item; items of all regions are numbered consecutively.
  std::int64_t first_item = 0;
  std::int64_t blocks = 0;  ///< number of blocks of Survey::lanes items
  Index<Dim> lower{};       ///< first node
  Index<Dim> count{};       ///< nodes along each axis
  std::int64_t stride = 1;  ///< step between the rows that are read
  int axis = -1;            ///< axis across the face; -1: not a face
  bool upper = false;       ///< true if the face follows the last node
  int slot = 0;             ///< slot of the maximum; for a face, of the outermost node
};

/// \brief Functor for maxima of |p| and |q| over several regions, in one launch.
///
/// An item reads `each` nodes. Consecutive items read consecutive nodes. Each of `lanes` items has
/// a separate copy of every maximum, so that concurrent threads of a device access contiguous
/// memory.
template <class T, int Dim>
struct Survey {
  static constexpr int lanes = 32;  ///< copies of every maximum
  static constexpr int each = 16;   ///< nodes per item and field
  static constexpr int regions = 2 * Dim + 1;

  const T* field[2];  ///< node (0, ..., 0) of p and q
  int fields;
  Index<Dim> strides;
  Region<Dim> region[regions];
  int used;   ///< number of regions
  int slots;  ///< number of maxima of a field
  T* maxima;  ///< maxima by field, slot and lane

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t item) const {
    int k = 0;
    while (k + 1 < used && item >= region[k + 1].first_item) ++k;
    const Region<Dim>& r = region[k];
    const std::int64_t own = item - r.first_item;
    const int lane = static_cast<int>(own % lanes);
    std::int64_t block = own / lanes;
    if (r.axis == Dim - 1) return look_along(r, block, lane);
    // the nodes of a plane, row by row
    int depth = 0;
    if (r.axis >= 0) {
      const std::int64_t per_plane = r.blocks / r.count[r.axis];
      depth = static_cast<int>(block / per_plane);
      block %= per_plane;
    }
    std::int64_t nodes = 1;
    for (int d = 0; d < Dim; ++d) nodes *= d == r.axis ? 1 : r.count[d];
    std::int64_t begin = block * lanes * each + lane;
    T max[2] = {T(0), T(0)};
    for (int i = 0; i < each; ++i, begin += lanes) {
      if (begin >= nodes) break;
      std::int64_t rest = begin, at = 0;
      for (int d = Dim - 1; d >= 0; --d) {
        std::int64_t n = 0;
        if (d == r.axis) {
          n = r.upper ? r.count[d] - 1 - depth : depth;
        } else {
          n = rest % r.count[d] * (d == Dim - 1 ? 1 : r.stride);
          rest /= r.count[d];
        }
        at += (r.lower[d] + n) * strides[d];
      }
      look(at, max);
    }
    write(r.slot + depth, lane, max);
  }
  /// Reads the few nodes at the end of each row: lanes along the row first, then over rows.
  KOKKOS_INLINE_FUNCTION void look_along(const Region<Dim>& r, std::int64_t block, int lane) const {
    constexpr int axis = Dim - 1;
    const int width = row_width(r.count[axis]);
    const std::int64_t across = (r.count[axis] + width - 1) / width;
    const int depth = static_cast<int>(block % across) * width + lane % width;
    if (depth >= r.count[axis]) return;
    const int rows_at_once = lanes / width;
    std::int64_t rows = 1;
    for (int d = 0; d < axis; ++d) rows *= r.count[d];
    std::int64_t row = block / across * rows_at_once * each + lane / width;
    T max[2] = {T(0), T(0)};
    for (int i = 0; i < each; ++i, row += rows_at_once) {
      if (row >= rows) break;
      std::int64_t rest = row;
      std::int64_t at = r.lower[axis] + (r.upper ? r.count[axis] - 1 - depth : depth);
      for (int d = axis - 1; d >= 0; --d) {
        at += (r.lower[d] + rest % r.count[d]) * strides[d];
        rest /= r.count[d];
      }
      look(at, max);
    }
    write(r.slot + depth, lane, max);
  }
  KOKKOS_FORCEINLINE_FUNCTION void look(std::int64_t at, T* max) const {
    for (int f = 0; f < 2; ++f) {
      if (f >= fields) break;
      const T value = field[f][at];
      const T size = value < T(0) ? -value : value;
      if (size > max[f]) max[f] = size;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void write(int slot, int lane, const T* max) const {
    for (int f = 0; f < fields; ++f) {
      T* const address = maxima + (f * slots + slot) * lanes + lane;
      if (max[f] > relaxed_load(address)) atomic_maximum(address, max[f]);
    }
  }
  /// Returns the number of lanes along a row: a power of two.
  KOKKOS_FORCEINLINE_FUNCTION static int row_width(std::int64_t nodes) {
    int width = 1;
    while (width < nodes && width < lanes) width *= 2;
    return width;
  }

  /// Adds a region. \return the number of its slots
  int add(Region<Dim> r, int slot) {
    r.slot = slot;
    std::int64_t nodes = 1;
    for (int d = 0; d < Dim; ++d) nodes *= d == r.axis ? 1 : r.count[d];
    if (r.axis == Dim - 1) {
      const int width = row_width(r.count[r.axis]);
      const std::int64_t rows = std::int64_t(lanes) / width * each;
      r.blocks = (nodes + rows - 1) / rows * ((r.count[r.axis] + width - 1) / width);
    } else {
      r.blocks = (nodes + lanes * each - 1) / (lanes * each);
      if (r.axis >= 0) r.blocks *= r.count[r.axis];
    }
    r.first_item = items;
    items += r.blocks * lanes;
    region[used++] = r;
    return r.axis < 0 ? 1 : static_cast<int>(r.count[r.axis]);
  }
  std::int64_t items = 0;  ///< work items of all regions
};

}  // namespace detail

/// \brief Domain whose box follows the wavefield (the third method of Suh and Wang 2011).
///
/// The paper compares the amplitude four nodes inside each face with 1/1024 of the largest before
/// every step. If it is larger, the face moves by one node. Here the wavefield is measured before
/// every `interval`-th step. A face then moves as far as needed to keep `inside` nodes below the
/// threshold until the next measurement. The method finds the outermost node above the threshold,
/// and uses that no wave travels more than Courant's number of nodes in a step. Faces at the end of
/// the grid are not measured. With all faces at the end of the grid, nothing is measured.
///
/// Amplitudes are compared with the largest on every fourth row of the box and inside its faces.
/// This never exceeds the true maximum, so that sampling can only enlarge the box. It is computed
/// at every measurement, for p and for q, since the largest amplitude falls as waves spread.
///
/// The object belongs to one run: calls are for consecutive steps from step 0, on a wavefield that
/// was at rest. After a call out of order the box is the complete grid; step 0 restarts.
template <class T, int Dim, class Memory>
class AmplitudeDomain : public ExpandingDomain<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the preparation
  /// \param propagator of the run
  /// \param sources points of injection
  /// \param options threshold, inside, interval, source_radius
  /// \throws InputError for options out of range, or no source
  AmplitudeDomain(const InstanceOf<Memory>& exec,
                  const wave::Propagator<T, Dim, Memory>& propagator,
                  const wave::PointSet<T, Dim, Memory>& sources, const DomainOptions& options = {});

 private:
  using Survey = detail::Survey<T, Dim>;
  using HostMaxima = Kokkos::View<T*, typename detail::ReadBack<Memory>::memory>;

  Box<Dim> next_box(const Instance<Memory>& exec,
                    const wave::Propagator<T, Dim, Memory>& propagator,
                    const wave::Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) override;

  /// Measures the wavefield and moves the faces.
  void look(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& whole);

  /// Returns the maximum over the lanes.
  T maximum(int field, int slot) const;

  /// Moves every face whose inner nodes exceed the threshold.
  void move(const Survey& survey, int slots, const Box<Dim>& whole);

  DomainOptions m_options;
  Box<Dim> m_start{}, m_box{};
  int m_depth[Dim] = {};     ///< nodes inside each face that are measured
  int m_slots = 0;           ///< number of maxima of a field
  std::int64_t m_step = -1;  ///< next expected step
  Kokkos::View<T*, Memory> m_maxima;
  HostMaxima m_host;
};

template <class T, int Dim, class Memory>
AmplitudeDomain<T, Dim, Memory>::AmplitudeDomain(const InstanceOf<Memory>& exec,
                                                 const wave::Propagator<T, Dim, Memory>& propagator,
                                                 const wave::PointSet<T, Dim, Memory>& sources,
                                                 const DomainOptions& options)
    : m_options(options) {
  const detail::Stopwatch watch(this->m_report.seconds_setup);
  check_options(options);
  detail::check_sources(propagator.grid(), sources, options);
  m_start = sources.box().grown(propagator.order() / 2);
  int slots = 1;
  for (int d = 0; d < Dim; ++d) {
    const double courant =
        propagator.limits().max_velocity * propagator.dt() / propagator.grid().spacing[d];
    // amplitudes below the threshold are truncated at the face: a long wave has a long onset
    const double wave = propagator.options().frequency > 0.0
                            ? propagator.limits().min_velocity /
                                  (propagator.options().frequency * propagator.grid().spacing[d])
                            : 0.0;
    const int inside = std::max(options.inside, static_cast<int>(std::min(0.7 * wave, 64.0)));
    // 25 % more: the threshold falls while the wave travels, and moves outwards on the rising flank
    m_depth[d] = inside + static_cast<int>(std::ceil(1.25 * courant * options.interval));
    m_start.lower[d] -= m_depth[d];
    m_start.upper[d] += m_depth[d];
    slots += 2 * m_depth[d];
  }
  m_start = intersection(m_start, whole_box(propagator.grid()));
  const std::size_t size = static_cast<std::size_t>(2 * slots * Survey::lanes);
  m_slots = slots;
  m_maxima = allocate<decltype(m_maxima)>(exec, "moho::domain::maxima", size);
  m_host = HostMaxima(Kokkos::view_alloc("moho::domain::host_maxima", Kokkos::WithoutInitializing),
                      size);
  exec.fence();
}

template <class T, int Dim, class Memory>
Box<Dim> AmplitudeDomain<T, Dim, Memory>::next_box(
    const Instance<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
    const wave::Wavefield<T, Dim, Memory>& wavefield, std::int64_t step) {
  const Box<Dim> whole = whole_box(propagator.grid());
  if (step == 0) {
    m_box = m_start;
  } else if (step != m_step) {
    m_box = whole;
  } else if (step % m_options.interval == 0 && !(m_box == whole)) {
    exec.fence();
    const detail::Stopwatch watch(this->m_report.seconds_steps);
    look(exec, wavefield, whole);
  }
  m_step = step + 1;
  return m_box;
}

template <class T, int Dim, class Memory>
void AmplitudeDomain<T, Dim, Memory>::look(const Instance<Memory>& exec,
                                           const wave::Wavefield<T, Dim, Memory>& wavefield,
                                           const Box<Dim>& whole) {
  Survey survey{};
  survey.fields = wavefield.fields;
  for (int f = 0; f < wavefield.fields; ++f) {
    survey.field[f] = wavefield.now[f].data() + wavefield.layout.offset;
  }
  survey.strides = wavefield.layout.strides;
  survey.slots = m_slots;
  survey.maxima = m_maxima.data();
  int slot = 0;
  detail::Region<Dim> rows;
  rows.lower = m_box.lower;
  // all rows of a small box, so that a maximum exists from the beginning
  rows.stride = m_box.size() > (std::int64_t(1) << 15) ? 4 : 1;
  for (int d = 0; d < Dim; ++d) {
    const std::int64_t stride = d == Dim - 1 ? 1 : rows.stride;
    rows.count[d] = (m_box.extent(d) + stride - 1) / stride;
  }
  slot += survey.add(rows, slot);
  for (int d = 0; d < Dim; ++d) {
    for (const bool upper : {false, true}) {
      if (upper ? m_box.upper[d] == whole.upper[d] : m_box.lower[d] == 0) continue;
      detail::Region<Dim> face;
      face.axis = d;
      face.upper = upper;
      face.lower = m_box.lower;
      for (int e = 0; e < Dim; ++e) face.count[e] = m_box.extent(e);
      face.count[d] = std::min<std::int64_t>(m_depth[d], m_box.extent(d));
      if (upper) face.lower[d] = m_box.upper[d] - face.count[d];
      slot += survey.add(face, slot);
    }
  }
  fill(exec, m_maxima, T(0));
  launch("moho::domain::survey", exec, survey.items, survey);
  copy(exec, m_host, m_maxima);
  exec.fence();
  move(survey, slot, whole);
}

template <class T, int Dim, class Memory>
T AmplitudeDomain<T, Dim, Memory>::maximum(int field, int slot) const {
  T max = T(0);
  for (int lane = 0; lane < Survey::lanes; ++lane) {
    max = std::max(max, m_host((field * m_slots + slot) * Survey::lanes + lane));
  }
  return max;
}

template <class T, int Dim, class Memory>
void AmplitudeDomain<T, Dim, Memory>::move(const Survey& survey, int slots, const Box<Dim>& whole) {
  T limit[2] = {};
  for (int f = 0; f < survey.fields; ++f) {
    for (int slot = 0; slot < slots; ++slot) limit[f] = std::max(limit[f], maximum(f, slot));
    limit[f] *= static_cast<T>(m_options.threshold);
  }
  Box<Dim> box = m_box;
  for (int k = 1; k < survey.used; ++k) {
    const detail::Region<Dim>& face = survey.region[k];
    const int d = face.axis;
    int depth = 0;
    const auto quiet = [&](int nodes) {
      for (int f = 0; f < survey.fields; ++f) {
        if (maximum(f, face.slot + nodes) > limit[f]) return false;
      }
      return true;
    };
    while (depth < face.count[d] && quiet(depth)) ++depth;
    if (depth == face.count[d]) continue;
    (face.upper ? box.upper[d] : box.lower[d]) += (m_depth[d] - depth) * (face.upper ? 1 : -1);
  }
  m_box = intersection(box, whole);
}

}  // namespace moho::domain
