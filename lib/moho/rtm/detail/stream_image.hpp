// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of an image while both wavefields stream through a device (internal).

#include <moho/core/instances.hpp>
#include <moho/rtm/detail/shot_parts.hpp>
#include <moho/stream/reversed_pair.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace moho::rtm::detail {

/// What the actions of a pair sum.
template <class T, int Dim, class Memory>
struct ImageSetup {
  Grid<Dim> grid;              ///< of the model
  OffsetOptions<Dim> offsets;  ///< of the current shot; columns are nodes of `grid`
  std::size_t columns = 0;     ///< largest number of columns of a shot
  using Added = AddedParts<T, Dim, Memory>;
  std::vector<Added> added;  ///< accumulators besides PointProducts
  /// Returns the number of parts of all accumulators.
  int parts() const {
    int count = PointProducts::part_count;
    for (const Added& one : added) count += one.count;
    return count;
  }
};

/// Kernel: copies nodes of a wavefield to dense values.
template <class T, int Dim>
struct TakeNodes {
  const T* from;
  Index<Dim> shift, from_strides;
  T* to;
  Index<Dim> lower, to_strides;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    std::int64_t i = 0, k = 0;
    for (int d = 0; d < Dim; ++d) {
      i += (node[d] - shift[d]) * from_strides[d];
      k += (node[d] - lower[d]) * to_strides[d];
    }
    to[k] = from[i];
  }
};

/// \brief Kernel of offset gathers, for each column, distance from it and depth.
///
/// `multiplies` false: keeps both wavefields at the lower node of a pair of nodes; true: adds their
/// products with those at the upper node.
template <class T, int Dim>
struct PairColumns {
  AddSnapshot<T, Dim> common;  ///< both wavefields
  Box<Dim> interior;           ///< nodes of the model
  const std::int64_t* columns;
  std::int64_t half, depths, offset_step;  ///< `half`: half offsets on one side
  PlaneRange planes;                       ///< planes of the pair's node
  T* kept;                                 ///< S, then R
  T* offsets;                              ///< column, half offset, depth
  bool multiplies;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t depth = n % depths;
    const std::int64_t k = n / depths % (half + 1);
    const std::int64_t column = n / depths / (half + 1);
    const std::int64_t all = count;
    Index<Dim> node{};
    for (int d = 0; d < Dim - 1; ++d) node[d] = interior.lower[d] + columns[column * Dim + d];
    node[Dim - 1] = interior.lower[Dim - 1] + depth;
    const std::int64_t lower = node[0] - k * offset_step, upper = node[0] + k * offset_step;
    if (lower < interior.lower[0] || upper >= interior.upper[0]) return;
    node[0] = multiplies ? upper : lower;
    if (node[0] < planes.begin || node[0] >= planes.end) return;
    const T s = common.value(node);
    const T r = common.add.field[common.add.layout.flat(node)];
    if (!multiplies) {
      kept[n] = s;
      kept[all + n] = r;
      return;
    }
    const std::int64_t first = column * (2 * half + 1) * depths + depth;
    T& right = offsets[first + (half + k) * depths];
    right += common.add.weight * kept[n] * r;
    if (k == 0) return;
    T& left = offsets[first + (half - k) * depths];
    left += common.add.weight * s * kept[all + n];
  }
  std::int64_t count;  ///< columns x distances x depths
};

/// \brief Sums of an image on one device: point products, added accumulators, offset gathers.
///
/// The sums of nodes travel with their planes. Gathers stay on the device: a pair of nodes on both
/// sides of a column is multiplied when the plane of the upper node is stepped, with values kept
/// from the plane of the lower one. In a chain each device continues the gathers of the one before.
template <class T, int Dim, class Memory>
class StreamImage : public stream::PairAction<T, Dim, Memory> {
 public:
  using Pipeline = stream::Pipeline<T, Dim, Memory>;
  using Setup = ImageSetup<T, Dim, Memory>;

  /// Returns the requirements of these sums.
  static stream::PairRequirements need(const Setup& setup,
                                       const wave::Scheme<T, Dim, Memory>& scheme);

  /// \param device pipelines of one device
  /// \param setup accumulators and columns; the gathers of other grids are left out
  StreamImage(const stream::PairDevice<T, Dim, Memory>& device, std::shared_ptr<const Setup> setup);

  std::size_t bytes() const override { return m_dense.size() * sizeof(T); }
  void begin(const wave::PointSet<T, Dim, Memory>& points,
             const wave::PointSeries<const T, Memory>& series) override;
  void add(const stream::StreamStage& stage) override;
  void follow(const stream::PairAction<T, Dim, Memory>& before) override {
    m_before = dynamic_cast<const StreamImage*>(&before);
  }

  /// Time level of the latest stage; -1 before the first.
  std::int64_t level() const { return m_level; }
  /// Returns the gathers: columns x half offsets x depths.
  std::vector<T> gathers() const {
    return m_gathers.size() > 0 ? download(m_first.stepping(), m_gathers) : std::vector<T>{};
  }

 private:
  using Array = wave::Storage<T, Memory>;
  using Fields = std::vector<Field<T, Dim, Memory>>;

  // Both wavefields on a piece of a ring, at a time level.
  AddSnapshot<T, Dim> operands(const stream::RingPiece& piece, const stream::RingPiece& halo,
                               std::int64_t level) const;
  void add_products(const stream::RingPiece& piece, const stream::RingPiece& halo,
                    std::int64_t level);
  void add_parts(const stream::RingPiece& piece, const AddSnapshot<T, Dim>& both,
                 std::int64_t level);
  void add_gathers(const stream::RingPiece& piece, const AddSnapshot<T, Dim>& both,
                   std::int64_t level);
  void continue_gathers(const stream::StreamStage& stage);
  Array kept_at(std::int64_t level);
  std::int64_t half() const { return m_offsets.max_half_offset / m_offsets.offset_step; }
  std::int64_t depths() const { return m_setup->grid.extents[Dim - 1]; }
  std::int64_t kept_count() const {
    return static_cast<std::int64_t>(m_offsets.columns.size()) * (half() + 1) * depths();
  }

  const Pipeline& m_first;
  const Pipeline& m_source;
  const wave::Scheme<T, Dim, Memory>& m_scheme;
  std::shared_ptr<const Setup> m_setup;
  std::int64_t m_steps, m_interval;
  Box<Dim> m_box;           ///< nodes of the sums
  Index<Dim> m_shift{};     ///< from the grid of the source wavefield to that of the first one
  double m_weight;          ///< time between snapshots, s
  Array m_dense;            ///< source wavefield of a piece, for added accumulators
  bool m_gathered = false;  ///< true if the grid is that of the columns
  OffsetOptions<Dim> m_offsets;
  wave::Storage<const std::int64_t, Memory> m_columns;
  Array m_gathers;
  std::int64_t m_end = 0;                              ///< one past the last plane of all pairs
  std::map<std::int64_t, Array> m_kept;                ///< by time level
  std::vector<Array> m_free;                           ///< arrays of earlier levels
  std::map<std::int64_t, std::int64_t> m_first_level;  ///< by sweep
  std::int64_t m_level = -1;
  const StreamImage* m_before = nullptr;
};

template <class T, int Dim, class Memory>
stream::PairRequirements StreamImage<T, Dim, Memory>::need(
    const Setup& setup, const wave::Scheme<T, Dim, Memory>& scheme) {
  stream::PairRequirements need;
  need.sums = setup.parts();
  need.window_arrays = setup.added.empty() ? 0 : 1;
  // both wavefields are read, sums are read and written
  need.moved_arrays = 2.0 + 2.0 * need.sums + (setup.added.empty() ? 0.0 : 2.0);
  const OffsetOptions<Dim>& offsets = setup.offsets;
  if (setup.columns > 0) {
    const std::int64_t half = offsets.max_half_offset / offsets.offset_step;
    // levels between the lower and the upper node of a pair, for the usual blocks
    const std::int64_t levels =
        (2 * offsets.max_half_offset + 64) / std::max(scheme.reach(0), 1) + 3;
    const std::int64_t values = (2 * half + 1) + levels * 2 * (half + 1);
    need.fixed_bytes = setup.columns * static_cast<std::size_t>(values) *
                       static_cast<std::size_t>(setup.grid.extents[Dim - 1]) * sizeof(T);
  }
  return need;
}

template <class T, int Dim, class Memory>
StreamImage<T, Dim, Memory>::StreamImage(const stream::PairDevice<T, Dim, Memory>& device,
                                         std::shared_ptr<const Setup> setup)
    : m_first(device.first),
      m_source(device.source),
      m_scheme(device.first_scheme),
      m_setup(std::move(setup)),
      m_steps(device.steps),
      m_interval(device.interval),
      m_box(device.first_scheme.interior()),
      m_weight(static_cast<double>(device.interval) * device.first_scheme.dt()) {
  for (int d = 0; d < Dim; ++d) {
    m_shift[d] = m_box.lower[d] - device.source_scheme.interior().lower[d];
  }
  m_gathered = true;
  for (int d = 0; d < Dim; ++d) {
    m_gathered = m_gathered && m_box.extent(d) == m_setup->grid.extents[d];
  }
  if (!m_setup->added.empty()) {
    m_dense = allocate<Array>(m_first.stepping(), "moho::rtm::dense",
                              device.block * (m_box.size() / m_box.extent(0)));
  }
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::begin(const wave::PointSet<T, Dim, Memory>&,
                                        const wave::PointSeries<const T, Memory>&) {
  const Instance<Memory>& exec = m_first.stepping();
  m_level = -1;
  m_first_level.clear();
  m_kept.clear();
  m_free.clear();
  m_gathers = {};
  m_offsets = {};
  if (!m_gathered || m_setup->offsets.count() == 0) return;
  m_offsets = m_setup->offsets;
  std::vector<std::int64_t> nodes;
  m_end = 0;
  for (const Index<Dim>& column : m_offsets.columns) {
    for (int d = 0; d < Dim; ++d) nodes.push_back(column[d]);
    const std::int64_t at = m_box.lower[0] + column[0];
    m_end = std::max(m_end, std::min(at + m_offsets.max_half_offset + 1, m_box.upper[0]));
  }
  m_columns = upload(exec, nodes, "moho::rtm::columns");
  m_gathers = allocate<Array>(
      exec, "moho::rtm::offsets",
      static_cast<std::int64_t>(m_offsets.columns.size()) * m_offsets.count() * depths());
  fill(exec, m_gathers, T(0));
  exec.fence();
}

template <class T, int Dim, class Memory>
AddSnapshot<T, Dim> StreamImage<T, Dim, Memory>::operands(const stream::RingPiece& piece,
                                                          const stream::RingPiece& halo,
                                                          std::int64_t level) const {
  const stream::Ring<T, Dim, Memory>& ring = m_first.ring();
  const stream::Ring<T, Dim, Memory>& other = m_source.ring();
  const int parity = static_cast<int>(level & 1);
  const auto sums = [&](std::size_t k) {
    const auto at = ring.sums(k, piece, piece.planes);
    return at.array.data() + at.first;
  };
  Box<Dim> box = m_box;
  box.lower[0] = piece.planes.begin;
  box.upper[0] = piece.planes.end;
  snapshot::Correlation<T, Dim, Memory> correlation;
  correlation.layout = ring.layout(piece);
  correlation.field = ring.field(parity, 0);
  correlation.interior = box;
  correlation.weight = m_weight;
  for (int d = 0; d < Dim; ++d) correlation.grid.extents[d] = box.extent(d);
  correlation.image = sums(0);
  correlation.source = sums(1);
  correlation.receiver = sums(2);
  // the source wavefield at nodes of the grid of the first wavefield
  const wave::Layout<Dim> layout = other.layout(halo);
  Box<Dim> shifted = box;
  shifted.lower = m_shift;
  return {snapshot::kernel::PointProducts<T, Dim>::of(correlation),
          other.field(parity, 0).data() + layout.offset, shifted, layout.strides};
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::add(const stream::StreamStage& stage) {
  m_level = std::max(m_level, stage.level);
  continue_gathers(stage);
  const std::int64_t time = m_steps - stage.level;
  if (time % m_interval != 0) return;
  const PlaneRange planes = intersection(stage.range.planes, planes_of(m_box));
  if (planes.empty()) return;
  const std::int64_t shift = stage.range.position - stage.range.planes.begin;
  for (const stream::RingPiece& piece :
       m_first.ring().pieces({stage.range.sweep, planes, shift + planes.begin})) {
    // rings of as many slots are cut at the same positions
    const PlaneRange of_source{piece.planes.begin - m_shift[0], piece.planes.end - m_shift[0]};
    const stream::RingPiece halo =
        m_source.ring().pieces({stage.range.sweep, of_source, shift + piece.planes.begin}).front();
    add_products(piece, halo, stage.level);
  }
  const auto kept = m_kept.find(stage.level);
  if (kept != m_kept.end() && planes.end >= m_end) {
    m_free.push_back(kept->second);
    m_kept.erase(kept);
  }
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::add_products(const stream::RingPiece& piece,
                                               const stream::RingPiece& halo, std::int64_t level) {
  Box<Dim> box = m_box;
  box.lower[0] = piece.planes.begin;
  box.upper[0] = piece.planes.end;
  const AddSnapshot<T, Dim> both = operands(piece, halo, level);
  launch_box("moho::rtm::image", m_first.stepping(), box, both);
  add_parts(piece, both, level);
  add_gathers(piece, both, level);
}

// Adds to the parts of added accumulators, which see the planes of a piece as a grid.
template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::add_parts(const stream::RingPiece& piece,
                                            const AddSnapshot<T, Dim>& both, std::int64_t level) {
  if (m_setup->added.empty()) return;
  const Instance<Memory>& exec = m_first.stepping();
  const stream::Ring<T, Dim, Memory>& ring = m_first.ring();
  Box<Dim> box = m_box;
  box.lower[0] = piece.planes.begin;
  box.upper[0] = piece.planes.end;
  launch_box("moho::rtm::take_source", exec, box,
             TakeNodes<T, Dim>{both.snapshot, both.box.lower, both.strides, m_dense.data(),
                               box.lower, dense_strides(box)});
  Grid<Dim> grid = m_setup->grid;
  grid.extents[0] = box.extent(0);
  grid.origin[0] += static_cast<double>(box.lower[0] - m_box.lower[0]) * grid.spacing[0];
  const snapshot::Snapshot<T, Dim, Memory> source{box, m_dense};
  const auto receivers = ring.wavefield(piece, level);
  const ImagingStep<T, Dim, Memory> step{source, receivers, box, grid, m_weight, m_steps - level};
  std::size_t part = PointProducts::part_count;
  for (const auto& added : m_setup->added) {
    Fields fields;
    for (int p = 0; p < added.count; ++p) {
      const auto at = ring.sums(part++, piece, piece.planes);
      T* const values = at.array.data() + at.first;
      if constexpr (Dim == 2) {
        fields.emplace_back(values, grid.extents[0], grid.extents[1]);
      } else {
        fields.emplace_back(values, grid.extents[0], grid.extents[1], grid.extents[2]);
      }
    }
    added.add(exec, step, fields);
  }
}

// Returns the array of values kept at a time level.
template <class T, int Dim, class Memory>
typename StreamImage<T, Dim, Memory>::Array StreamImage<T, Dim, Memory>::kept_at(
    std::int64_t level) {
  const auto found = m_kept.find(level);
  if (found != m_kept.end()) return found->second;
  Array array;
  if (m_free.empty()) {
    array = allocate<Array>(m_first.stepping(), "moho::rtm::kept", 2 * kept_count());
  } else {
    array = m_free.back();
    m_free.pop_back();
  }
  m_kept.emplace(level, array);
  return array;
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::add_gathers(const stream::RingPiece& piece,
                                              const AddSnapshot<T, Dim>& both, std::int64_t level) {
  if (m_offsets.columns.empty()) return;
  bool lower = false, upper = false;
  for (const Index<Dim>& column : m_offsets.columns) {
    for (std::int64_t h = 0; h <= m_offsets.max_half_offset; h += m_offsets.offset_step) {
      const std::int64_t at = m_box.lower[0] + column[0];
      lower = lower || piece.planes.contains(at - h);
      upper = upper || piece.planes.contains(at + h);
    }
  }
  if (!lower && !upper) return;
  PairColumns<T, Dim> pairs{};
  pairs.common = both;
  pairs.interior = m_box;
  pairs.columns = m_columns.data();
  pairs.half = half();
  pairs.depths = depths();
  pairs.offset_step = m_offsets.offset_step;
  pairs.planes = piece.planes;
  pairs.kept = kept_at(level).data();
  pairs.offsets = m_gathers.data();
  pairs.count = kept_count();
  if (lower) launch("moho::rtm::keep_columns", m_first.stepping(), pairs.count, pairs);
  pairs.multiplies = true;
  if (upper) launch("moho::rtm::offsets", m_first.stepping(), pairs.count, pairs);
}

// Copies gathers from the device that had these planes before, at their first level here.
template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::continue_gathers(const stream::StreamStage& stage) {
  if (m_before == nullptr || m_offsets.columns.empty()) return;
  const std::int64_t first = m_first_level.emplace(stage.range.sweep, stage.level).first->second;
  if (stage.level != first || first == 0) return;
  const PlaneRange& planes = stage.range.planes;
  const Instance<Memory>& exec = m_first.stepping();
  const auto each = static_cast<std::size_t>(depths());
  for (std::size_t c = 0; c < m_offsets.columns.size(); ++c) {
    for (std::int64_t k = 0; k <= half(); ++k) {
      const std::int64_t at = m_box.lower[0] + m_offsets.columns[c][0] + k * m_offsets.offset_step;
      if (!planes.contains(at)) continue;
      for (const std::int64_t h : {half() - k, half() + k}) {
        const std::size_t begin =
            (c * static_cast<std::size_t>(m_offsets.count()) + static_cast<std::size_t>(h)) * each;
        const std::pair<std::size_t, std::size_t> part(begin, begin + each);
        copy(exec, Kokkos::subview(m_gathers, part), Kokkos::subview(m_before->m_gathers, part));
      }
    }
  }
}

}  // namespace moho::rtm::detail

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamImage)
}  // namespace moho::rtm::detail
#endif
/// \endcond
