// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Extended images of two wavefields that stream through a device concurrently (internal).

#include <moho/core/instances.hpp>
#include <moho/fwi/detail/extended_pass.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/stream/kernel/pipeline.hpp>
#include <moho/stream/reversed_pair.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace moho::fwi::detail {

/// \brief Products between planes: pairs of wavefields at some times, and the passes that add them.
///
/// The stages of product times keep both factors on their blocks, in rings (stream::KeptPlanes).
/// The last stage of a group then adds the pairs of the group to the planes of the image that are
/// lags.x planes behind its block, where all factors exist. A node's pairs are added in the order
/// of time, by the kernels of ExtendedImage.
template <class T, int Dim, class Memory>
class StreamImage {
 public:
  using Array = wave::Storage<T, Memory>;
  using Pipeline = stream::Pipeline<T, Dim, Memory>;

  /// \brief Adds the requirements of an image to those of products.
  /// \param box nodes of the image
  /// \param lags half offsets
  /// \param fields wavefields: p, or p and q
  /// \param product_interval steps between products
  /// \param need changed
  static void require(const Box<Dim>& box, const Lags& lags, int fields,
                      std::int64_t product_interval, stream::PairRequirements& need) {
    stream::KeptPlanes& kept = need.kept;
    kept.arrays = 2 * fields;
    kept.interval = product_interval;
    // Longer groups read the image less often, but their rings are longer: with 32 steps in a
    // group the image moves at most 2 bytes a node, lag and step of 8 bytes.
    kept.group = std::clamp<std::int64_t>((31 + product_interval) / product_interval, 1,
                                          slices_at_once / fields);
    kept.around = 2 * lags.x;
    kept.align = tile_planes;
    kept.elements = box.size() / box.extent(0);
    // planes of the image are complete when products lags.x planes above them are
    need.hold = lags.x;
    need.sums += static_cast<int>(lags.count());
    // pairs are written and read; the image is read and written once for each group
    need.moved_arrays += 2.0 * kept.arrays +
                         2.0 * static_cast<double>(lags.count()) / static_cast<double>(kept.group);
  }

  /// \param device pipelines of one device; sums of the first one contain the image
  /// \param lags half offsets, those of require()
  /// \param first_sum number of the array of sums that is the image's first lag
  StreamImage(const stream::PairDevice<T, Dim, Memory>& device, const Lags& lags,
              std::size_t first_sum)
      : m_adjoint(device.first),
        m_schedule(device.schedule),
        m_box(device.first_scheme.interior()),
        m_lags(lags),
        m_kept(device.need.kept),
        m_first_sum(first_sum),
        m_steps(device.steps) {
    // no plane of a tile is in another turn of a ring: sweeps begin at multiples of tiles
    m_period = std::max(m_schedule.period(0) / m_kept.align,
                        (m_box.extent(0) + m_kept.align - 1) / m_kept.align) *
               m_kept.align;
    for (std::int64_t n = 0; n < m_kept.count(m_schedule.shape()); ++n) {
      Pairs& pairs = m_pairs.emplace_back();
      pairs.slots = m_kept.slots(m_schedule.shape(), n);
      for (int k = 0; k < m_kept.arrays; ++k) {
        pairs.arrays.push_back(
            allocate<Array>(m_adjoint.stepping(), "moho::fwi::kept_planes",
                            static_cast<std::size_t>(pairs.slots * m_kept.elements)));
      }
    }
    m_groups = (m_pairs.size() + static_cast<std::size_t>(m_kept.group) - 1) /
               static_cast<std::size_t>(m_kept.group);
    m_done.resize(static_cast<std::size_t>(m_schedule.sweeps()) * m_groups);
  }

  /// Memory of all rings, bytes.
  std::size_t bytes() const {
    std::size_t count = 0;
    for (const Pairs& pairs : m_pairs) {
      for (const Array& array : pairs.arrays) count += array.size();
    }
    return count * sizeof(T);
  }
  /// Begins a run.
  void begin() { std::fill(m_done.begin(), m_done.end(), planes_of(m_box).begin); }
  /// \brief Begins the products of a stage.
  /// \param stage of a product time
  /// \param planes of the stage that are in the box
  /// \return the planes in parts that are consecutive in the rings
  std::vector<stream::StreamRange> begin(const stream::StreamStage& stage,
                                         const PlaneRange& planes);
  /// Lets a product keep its factors. \param piece planes within a part of begin()
  void keep(const stream::RingPiece& piece, AddScale<T, Dim>& product) const;
  /// Ends the products of the stage of begin(), and adds the pairs of a complete group.
  void end(const stream::StreamStage& stage, T weight);

 private:
  /// Arrays of a product time of a pass: p and c, then those of q.
  struct Pairs {
    std::vector<Array> arrays;
    std::int64_t slots = 0;
  };
  void add(const stream::RingPiece& piece, std::size_t first, T weight) const;

  const Pipeline& m_adjoint;
  const stream::Schedule& m_schedule;
  Box<Dim> m_box;
  Lags m_lags;
  stream::KeptPlanes m_kept;
  std::size_t m_first_sum;
  std::int64_t m_steps;
  std::vector<Pairs> m_pairs;  ///< by number of the product time in a pass
  std::size_t m_groups = 0;    ///< groups of a sweep, at most
  /// One past the last plane of the image that a group has been added to, by sweep and group.
  ///
  /// A sweep may begin a group before the sweep before it has completed that group.
  std::vector<std::int64_t> m_done;
  std::size_t m_now = 0;      ///< number of the stage's product time
  std::int64_t m_period = 0;  ///< planes from a sweep to the next in rings
  std::int64_t m_first = 0;   ///< place of the first plane of the stage's sweep in a ring
};

template <class T, int Dim, class Memory>
std::vector<stream::StreamRange> StreamImage<T, Dim, Memory>::begin(
    const stream::StreamStage& stage, const PlaneRange& planes) {
  const std::int64_t first = m_schedule.first_level(stage.range.sweep, m_adjoint.device());
  const std::int64_t first_product = first + (m_steps - first) % m_kept.interval;
  m_now = static_cast<std::size_t>((stage.level - first_product) / m_kept.interval);
  m_first = stage.range.sweep * m_period;
  const std::int64_t shift = stage.range.position - stage.range.planes.begin;
  const std::int64_t offset = m_first - m_box.lower[0], slots = m_pairs[m_now].slots;
  std::vector<stream::StreamRange> parts;
  for (PlaneRange rest = planes; !rest.empty();) {
    const std::int64_t turn = (rest.begin + offset) / slots;
    const std::int64_t end = std::min(rest.end, (turn + 1) * slots - offset);
    parts.push_back({stage.range.sweep, {rest.begin, end}, shift + rest.begin});
    rest.begin = end;
  }
  return parts;
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::keep(const stream::RingPiece& piece,
                                       AddScale<T, Dim>& product) const {
  const Pairs& pairs = m_pairs[m_now];
  const std::int64_t first =
      (piece.planes.begin - m_box.lower[0] + m_first) % pairs.slots * m_kept.elements;
  for (std::size_t f = 0; 2 * f < pairs.arrays.size(); ++f) {
    product.kept_source[f] = pairs.arrays[2 * f].data() + first;
    product.kept_change[f] = pairs.arrays[2 * f + 1].data() + first;
  }
}

template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::end(const stream::StreamStage& stage, T weight) {
  const std::int64_t sweep = stage.range.sweep;
  const auto group = static_cast<std::size_t>(m_kept.group);
  // lambda also steps at time 0, which has no products
  const std::int64_t last = std::min(m_steps, m_schedule.first_level(sweep, m_adjoint.device()) +
                                                  m_schedule.updates(sweep, m_adjoint.device())) -
                            1;
  const bool complete = (m_now + 1) % group == 0 || stage.level + m_kept.interval > last;
  if (!complete) return;
  const PlaneRange all = planes_of(m_box);
  std::int64_t& done = m_done[static_cast<std::size_t>(sweep) * m_groups + m_now / group];
  const PlaneRange& block = stage.range.planes;
  const PlaneRange planes{done, block.end >= all.end ? all.end : block.end - m_lags.x};
  if (planes.empty()) return;
  done = planes.end;
  const std::int64_t position = stage.range.position - block.begin + planes.begin;
  for (const stream::RingPiece& piece : m_adjoint.ring().pieces({sweep, planes, position})) {
    add(piece, m_now / group * group, weight);
  }
}

// Adds the pairs of a group to the planes of a piece of the image.
template <class T, int Dim, class Memory>
void StreamImage<T, Dim, Memory>::add(const stream::RingPiece& piece, std::size_t first,
                                      T weight) const {
  const std::int64_t zero = m_box.lower[0];
  ExtendedPass<T, Dim> pass{};
  pass.nodes = dense(m_box);
  pass.x = m_lags.x;
  pass.y = m_lags.y;
  pass.size = m_adjoint.ring().sum_stride();
  pass.planes = {piece.planes.begin - zero, piece.planes.end - zero};
  pass.image_first = pass.planes.begin;
  for (std::size_t n = first; n <= m_now; ++n) {
    const Pairs& pairs = m_pairs[n];
    const std::int64_t turn = (pass.read().begin + m_first) / pairs.slots * pairs.slots - m_first;
    for (std::size_t f = 0; 2 * f < pairs.arrays.size(); ++f) {
      pass.add_pair(pairs.arrays[2 * f].data(), pairs.arrays[2 * f + 1].data(), turn, pairs.slots);
    }
  }
  const auto image = m_adjoint.ring().sums(m_first_sum, piece, piece.planes);
  add_extended<T, Dim, Memory>(m_adjoint.stepping(), pass, image.array.data() + image.first,
                               weight);
}

}  // namespace moho::fwi::detail
