// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Codec of snapshots: compresses wavefields in a box of nodes, on hosts and devices.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/snapshot/codec/detail/block_loops.hpp>
#include <moho/snapshot/codec/detail/blocks.hpp>
#include <moho/snapshot/codec/detail/fixed_lanes.hpp>
#include <moho/snapshot/codec/detail/lanes.hpp>
#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/codec/detail/lorenzo.hpp>
#include <moho/snapshot/codec/detail/lorenzo_lanes.hpp>
#include <moho/snapshot/codec/detail/sample_lanes.hpp>
#include <moho/snapshot/codec/detail/sqrt_coder.hpp>
#include <moho/snapshot/codec/detail/statistics.hpp>
#include <moho/snapshot/codec/detail/transform.hpp>
#include <moho/snapshot/codec/detail/transform_lanes.hpp>
#include <moho/snapshot/codec/detail/transform_lists.hpp>
#include <moho/snapshot/codec/packed.hpp>
#include <moho/snapshot/codec/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::snapshot {

/// \brief Compresses and decompresses snapshots of a wavefield.
///
/// A field is a padded array of a layout, of type T (float, or double, which is converted to single
/// precision). The codec stores the nodes of a box, divided into blocks of 512 nodes at absolute
/// multiples of 8 (BlockGrid). In a block beyond the end of the box, the nearest node of the box
/// replaces the others. Values are first multiplied by a power of two that scales the largest to
/// about 1. Fields of any magnitude from 1e-45 to 3e38 are therefore equivalent.
///
/// The object owns work space; it serves one thread at a time. Any other object can decode its
/// results, in any space. Modes lorenzo and blocks give the same bytes in every space.
template <class T, int Dim, class Memory>
class Codec {
 public:
  /// \throws InputError for options out of range
  explicit Codec(const CodecOptions& options = {});

  /// Returns the options of encode().
  const CodecOptions& options() const { return m_options; }

  /// \brief Compresses the nodes of a box. It waits for the instance.
  /// \param exec execution instance
  /// \param layout layout of the field
  /// \param field a padded array
  /// \param box nodes to store, within the layout's window
  /// \param packed the result; its allocated memory is reused if it suffices
  /// \throws InputError for a field of another size, a box beyond the window, and for NaN, infinity
  ///   and magnitudes beyond 3e38, naming the node
  void encode(const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
              const std::type_identity_t<Kokkos::View<const T*, Memory>>& field,
              const Box<Dim>& box, Packed<Dim, Memory>& packed);

  /// \brief Decompresses the nodes of a box that the snapshot contains into a field.
  ///
  /// Other nodes are not changed. On a device it returns when the work is submitted. \throws
  /// InputError for a field of another size or a layout without the box
  void decode(const InstanceOf<Memory>& exec, const Packed<Dim, Memory>& packed,
              const wave::Layout<Dim>& layout,
              const std::type_identity_t<Kokkos::View<T*, Memory>>& field, const Box<Dim>& box);

  /// \brief Calls functor(node, value) for the nodes of a box that the snapshot contains.
  ///
  /// Each node is passed once, in parallel. One kernel decodes and calls the functor.
  /// \param exec execution instance
  /// \param packed the snapshot
  /// \param box requested nodes
  /// \param functor with KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node, T value)
  ///   const. It may also have row(const Index<Dim>& first, int count, const float* values, T down)
  ///   const. Hosts call row() instead, for values times `down` at consecutive nodes along the last
  ///   axis
  template <class Functor>
  void decode_each(const InstanceOf<Memory>& exec, const Packed<Dim, Memory>& packed,
                   const Box<Dim>& box, const Functor& functor);

 private:
  using Source = detail::BlockSource<T, Dim>;
  template <class V>
  using View = Kokkos::View<V*, Memory>;

  /// Exponent of the largest power of two by which numbers are multiplied.
  static constexpr int largest_exponent = sizeof(T) == 4 ? 126 : 1000;

  /// Returns the exponent of the power of two that scales a largest amplitude to about 1.
  static int exponent_of(double max) {
    return std::clamp(-std::ilogb(max), -largest_exponent, largest_exponent);
  }
  void check_field(const wave::Layout<Dim>& layout, std::size_t size, const Box<Dim>& box) const;
  /// Addresses of blocks of a fixed length and of their scales.
  struct FixedPlace {
    detail::FixedCoder coder;
    float* scales;
    std::uint8_t* blocks;
  };
  FixedPlace place_fixed(const Instance<Memory>& exec, const Source& source,
                         Packed<Dim, Memory>& packed);
  void encode_fixed(const Instance<Memory>& exec, const Source& source,
                    Packed<Dim, Memory>& packed);
  /// Encodes in one pass with the power of two of the previous snapshot. \return false if
  /// unsuitable
  bool encode_ahead(const Instance<Memory>& exec, const wave::Layout<Dim>& layout,
                    const Kokkos::View<const T*, Memory>& field, const Box<Dim>& box,
                    Packed<Dim, Memory>& packed);
  /// Encodes blocks [begin, end) into slots.
  template <class Coder>
  void encode_blocks(const Instance<Memory>& exec, const Coder& coder, const Source& source,
                     std::int64_t begin, std::int64_t end, Packed<Dim, Memory>& packed);
  template <class Coder>
  void encode_variable(const Instance<Memory>& exec, const Coder& coder, const Source& source,
                       Packed<Dim, Memory>& packed);
  /// Returns an estimate of the largest amplitude that does not exceed it, 0 without one.
  double estimate_peak(const Instance<Memory>& exec, const wave::Layout<Dim>& layout,
                       const Kokkos::View<const T*, Memory>& field, const Box<Dim>& box);
  /// Sets the power of two and the quantum for a largest amplitude, or its estimate.
  void set_quantum(double peak, PackedHeader<Dim>& header) const;
  /// \brief Encodes in mode lorenzo with the quantum of the header, on devices.
  /// \param max if finite, the largest amplitude for which the quantum is meant \return false if
  ///   an amplitude is larger or not finite
  bool encode_lorenzo(const Instance<Memory>& exec, const Source& source, double max,
                      Packed<Dim, Memory>& packed);
  /// Begins a header with the mode and the box.
  void begin_header(const Box<Dim>& box, Packed<Dim, Memory>& packed) const;
  /// Returns a source that multiplies by the power of two of a header.
  static Source source_of(const Kokkos::View<const T*, Memory>& field,
                          const wave::Layout<Dim>& layout, const PackedHeader<Dim>& header) {
    return {field.data(), layout, BlockGrid<Dim>(header.box),
            static_cast<T>(std::ldexp(1.0, header.exponent))};
  }
  /// Allocates lengths and offsets of blocks.
  void place_lengths(const Instance<Memory>& exec, std::int64_t blocks,
                     Packed<Dim, Memory>& packed);
  /// Allocates the payload, and clears what follows `used` bytes.
  void place_payload(const Instance<Memory>& exec, std::int64_t used, Packed<Dim, Memory>& packed);
  /// Statistics of sampled blocks.
  struct Findings {
    detail::Sample sample;
    std::vector<std::uint64_t> counts;  ///< counts of symbols
    double errors = 0.0;                ///< sum of squared errors
    double allowed = 0.0;               ///< allowed sum of squared errors
    double quantum = 0.0;
  };
  Findings find_quantum(const Instance<Memory>& exec, const Source& source, double squares,
                        double peak);
  template <class Coder>
  void count_symbols(const Instance<Memory>& exec, const Coder& coder, const Source& source,
                     Findings& findings);
  template <class Body>
  double look_by_lanes(const char* label, const Instance<Memory>& exec, Body body,
                       std::vector<std::uint64_t>& counts);
  detail::Sample sample_of(std::int64_t blocks, std::int64_t stride) const;
  void prepare(const Instance<Memory>& exec);

  /// Returns a view of at least `size` elements; its contents are undefined.
  template <class V>
  static void reserve(const Instance<Memory>& exec, View<V>& view, std::int64_t size,
                      const char* label) {
    if (static_cast<std::int64_t>(view.size()) >= size) return;
    view = View<V>();
    view = allocate<View<V>>(exec, label, static_cast<std::size_t>(size));
  }
  /// Returns elements [0, size) of a view.
  template <class ViewType>
  static auto head(const ViewType& view, std::int64_t size) {
    return Kokkos::subview(view,
                           std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(size)));
  }

  CodecOptions m_options;
  View<detail::TransformTables> m_transform;
  View<detail::LorenzoTables> m_lorenzo;
  View<detail::TransformLaneTables> m_lanes;  ///< tables on devices
  View<std::uint64_t> m_sums;                 ///< sums of a sample, on devices
  View<std::uint32_t> m_codes;
  View<std::uint16_t> m_states;
  View<std::uint8_t> m_slots, m_out;
  View<std::int32_t> m_item_bytes;
  View<std::int64_t> m_item_offsets, m_totals;
  View<detail::FieldSums> m_parts;
  View<detail::LorenzoFindings> m_findings;  ///< on devices
  std::optional<int> m_exponent;             ///< power of two of the blocks encoded last
};

template <class T, int Dim, class Memory>
Codec<T, Dim, Memory>::Codec(const CodecOptions& options) : m_options(options) {
  check_options(options);
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::prepare(const Instance<Memory>& exec) {
  if (m_transform.size() > 0) return;
  m_lorenzo = upload(
      exec, std::vector<detail::LorenzoTables>(1, detail::LorenzoTables::template make<Dim>()),
      "moho::snapshot::lorenzo_tables");
  m_transform = upload(
      exec, std::vector<detail::TransformTables>(1, detail::TransformTables::template make<Dim>()),
      "moho::snapshot::transform_tables");
  if constexpr (!is_host_memory<Memory>) {
    m_lanes = upload(exec,
                     std::vector<detail::TransformLaneTables>(
                         1, detail::TransformLaneTables::template make<Dim>()),
                     "moho::snapshot::transform_lane_tables");
  }
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::check_field(const wave::Layout<Dim>& layout, std::size_t size,
                                        const Box<Dim>& box) const {
  if (static_cast<std::int64_t>(size) != layout.size) {
    throw InputError(concat("codec: the field has ", size, " elements (allowed: ", layout.size,
                            ", the size of the layout): allocate it with "
                            "moho::wave::make_storage"));
  }
  if (!(intersection(box, layout.box()) == box)) {
    throw InputError(concat("codec: the box ", box_string(box),
                            " is not in the field (allowed: boxes in ", box_string(layout.box()),
                            "): intersect it with the layout's"));
  }
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::encode(
    const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
    const std::type_identity_t<Kokkos::View<const T*, Memory>>& field, const Box<Dim>& box,
    Packed<Dim, Memory>& packed) {
  check_field(layout, field.size(), box);
  prepare(exec);
  if (m_options.mode == CodecMode::blocks && encode_ahead(exec, layout, field, box, packed)) return;
  const double estimate = estimate_peak(exec, layout, field, box);
  if constexpr (!is_host_memory<Memory>) {
    if (estimate > 0.0) {
      begin_header(box, packed);
      set_quantum(estimate, packed.header);
      place_lengths(exec, BlockGrid<Dim>(box).size(), packed);
      if (encode_lorenzo(exec, source_of(field, layout, packed.header),
                         detail::SampleRows::max_above * estimate, packed)) {
        return;
      }
    }
  }
  const detail::FieldSums sums =
      detail::field_sums<T, Dim, Memory>(exec, field.data(), layout, box, m_parts);
  if (sums.bad != INT64_MAX) {
    const Index<Dim> node = box.node(sums.bad);
    const T value = value_at(exec, field.data() + layout.flat(node));
    throw InputError(concat("codec: the field is ", value, " at node ", format_index(node),
                            " (allowed: magnitudes up to ", detail::FieldNodes<T, Dim>::limit,
                            "): look for where the wavefield grew without bounds"));
  }

  PackedHeader<Dim>& header = packed.header;
  begin_header(box, packed);
  header.max = sums.max;
  header.bits = m_options.mode == CodecMode::blocks ? m_options.bits : 0;
  if (sums.max > 0.0) {
    header.exponent = exponent_of(sums.max);
  }
  const double up = std::ldexp(1.0, header.exponent);
  const double peak = sums.max * up;
  const Source source{field.data(), layout, BlockGrid<Dim>(box), static_cast<T>(up)};
  if (m_options.mode == CodecMode::blocks) {
    if (sums.max > 0.0) m_exponent = header.exponent;
    return encode_fixed(exec, source, packed);
  }

  const std::int64_t blocks = source.blocks.size();
  place_lengths(exec, blocks, packed);
  if (sums.max == 0.0) {
    packed.payload_bytes = 0;
    if (packed.payload.size() == 0) {
      packed.payload =
          allocate<View<std::uint8_t>>(exec, "moho::snapshot::payload", packed.padding);
    }
    if (blocks > 0) {
      fill(exec, packed.lengths, std::uint16_t(0));
      fill(exec, packed.offsets, std::int64_t(0));
    }
    fill(exec, packed.payload, std::uint8_t(0));
    exec.fence();
    if (header.mode != CodecMode::lorenzo) {
      header.code_lengths.assign(
          static_cast<std::size_t>(header.alphabets(header.mode)) * detail::symbols, 0);
    }
    return;
  }

  if (m_options.mode == CodecMode::lorenzo) {
    const bool good = estimate > 0.0 && sums.max <= detail::SampleRows::max_above * estimate;
    set_quantum(good ? estimate : sums.max, header);
    const Source scaled = source_of(field, layout, header);
    if constexpr (is_host_memory<Memory>) {
      encode_variable(
          exec, detail::LorenzoCoder<Dim>{m_lorenzo.data(), header.quantum, 1.0f / header.quantum},
          scaled, packed);
    } else {
      encode_lorenzo(exec, scaled, INFINITY, packed);
    }
    return;
  }

  const auto with_codes = [&](auto coder, const Findings& findings) {
    header.code_lengths = detail::code_lengths(findings.counts);
    m_codes = upload(exec, detail::encoding_table(header.code_lengths), "moho::snapshot::codes");
    coder.codes = m_codes.data();
    encode_variable(exec, coder, source, packed);
  };
  if (m_options.mode == CodecMode::transform) {
    Findings findings = find_quantum(exec, source, sums.squares * up * up, peak);
    detail::TransformCoder<Dim> coder{m_transform.data(), nullptr, nullptr, 0.0f, 0.0f};
    // Fields unlike waves, with coefficients of similar size, have other errors than the histogram
    // predicts; the sample measures them.
    const double min = peak * detail::largest_gain<Dim> * std::ldexp(1.0, -24);
    for (int turn = 0; turn < 20; ++turn) {
      coder.quantum = static_cast<float>(std::max(findings.quantum, min));
      coder.inverse_quantum = 1.0f / coder.quantum;
      count_symbols(exec, coder, source, findings);
      if (findings.errors <= 1.12 * findings.allowed || findings.quantum <= min) break;
      findings.quantum *= std::max(0.5, 0.97 * std::sqrt(findings.allowed / findings.errors));
    }
    header.quantum = coder.quantum;
    with_codes(coder, findings);
  } else {
    Findings findings;
    findings.sample = sample_of(blocks, 0);
    header.levels = static_cast<float>(detail::levels_for_error(m_options.max_error));
    header.peak = static_cast<float>(peak);
    const detail::SqrtCoder coder{nullptr, nullptr, header.levels, header.peak};
    count_symbols(exec, coder, source, findings);
    with_codes(coder, findings);
  }
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::begin_header(const Box<Dim>& box, Packed<Dim, Memory>& packed) const {
  packed.header = {};
  packed.header.mode = m_options.mode;
  packed.header.box = box;
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::place_lengths(const Instance<Memory>& exec, std::int64_t blocks,
                                          Packed<Dim, Memory>& packed) {
  if (static_cast<std::int64_t>(packed.lengths.size()) == blocks) return;
  packed.lengths = allocate<View<std::uint16_t>>(exec, "moho::snapshot::lengths", blocks);
  const std::int64_t groups = (blocks + packed.group - 1) / packed.group;
  packed.offsets = allocate<View<std::int64_t>>(exec, "moho::snapshot::offsets", groups);
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::place_payload(const Instance<Memory>& exec, std::int64_t used,
                                          Packed<Dim, Memory>& packed) {
  packed.payload_bytes = used;
  const std::int64_t wanted = used + packed.padding;
  const auto held = static_cast<std::int64_t>(packed.payload.size());
  if (held < wanted || held > wanted + wanted / 4) {
    packed.payload = {};
    packed.payload = allocate<View<std::uint8_t>>(exec, "moho::snapshot::payload", wanted);
  }
  fill(exec,
       Kokkos::subview(packed.payload, std::pair<std::size_t, std::size_t>(
                                           static_cast<std::size_t>(used), packed.payload.size())),
       std::uint8_t(0));
}

template <class T, int Dim, class Memory>
template <class Coder>
void Codec<T, Dim, Memory>::encode_blocks(const Instance<Memory>& exec, const Coder& coder,
                                          const Source& source, std::int64_t begin,
                                          std::int64_t end, Packed<Dim, Memory>& packed) {
  constexpr std::int64_t per = detail::blocks_an_item<Memory>;
  const std::int64_t items = (end - begin + per - 1) / per;
  if constexpr (!is_host_memory<Memory> && std::is_same_v<Coder, detail::TransformCoder<Dim>>) {
    const detail::EncodeTransformLanes<T, Dim> body{coder,
                                                    m_lanes.data(),
                                                    source,
                                                    begin,
                                                    items,
                                                    m_slots.data(),
                                                    packed.lengths.data(),
                                                    m_item_bytes.data()};
    detail::launch_teams("moho::snapshot::encode_blocks", exec, body.league(), body);
  } else {
    detail::launch_blocks(
        "moho::snapshot::encode_blocks", exec, items,
        detail::EncodeBlocks<Coder, T, Dim, Memory>{coder, source, begin, end, m_slots.data(),
                                                    packed.lengths.data(), m_item_bytes.data()});
  }
}

template <class T, int Dim, class Memory>
template <class Coder>
void Codec<T, Dim, Memory>::encode_variable(const Instance<Memory>& exec, const Coder& coder,
                                            const Source& source, Packed<Dim, Memory>& packed) {
  constexpr std::int64_t per = detail::blocks_an_item<Memory>;
  // batches of blocks are encoded into slots of the largest size, then gathered
  constexpr std::int64_t max = is_host_memory<Memory> ? 8192 : 65536;
  const std::int64_t blocks = source.blocks.size();
  const std::int64_t at_once = std::min((blocks + per - 1) / per * per, max);
  reserve(exec, m_slots, at_once * Coder::max_bytes, "moho::snapshot::slots");
  reserve(exec, m_item_bytes, at_once / per, "moho::snapshot::item_bytes");
  reserve(exec, m_item_offsets, at_once / per, "moho::snapshot::item_offsets");
  const auto gather = [&](std::int64_t items) {
    launch("moho::snapshot::gather_blocks", exec, items * detail::GatherItems<Memory>::threads,
           detail::GatherItems<Memory>{m_slots.data(), per * Coder::max_bytes, m_item_bytes.data(),
                                       m_item_offsets.data(), m_out.data(),
                                       static_cast<std::int64_t>(m_out.size())});
  };
  std::int64_t used = 0;
  if constexpr (is_host_memory<Memory>) {
    for (std::int64_t begin = 0; begin < blocks; begin += at_once) {
      const std::int64_t end = std::min(begin + at_once, blocks);
      const std::int64_t items = (end - begin + per - 1) / per;
      encode_blocks(exec, coder, source, begin, end, packed);
      const std::int64_t bytes = scan<std::int64_t>(
          "moho::snapshot::place_blocks", exec, items,
          detail::PlaceItems<Memory>{m_item_bytes.data(), m_item_offsets.data(),
                                     packed.offsets.data(), begin, used, packed.group});
      if (static_cast<std::int64_t>(m_out.size()) < used + bytes) {
        const View<std::uint8_t> old = m_out;
        const std::int64_t wanted = std::max(used + bytes, (used + bytes) * blocks / end);
        m_out = allocate<View<std::uint8_t>>(exec, "moho::snapshot::out",
                                             static_cast<std::size_t>(wanted + wanted / 8));
        if (used > 0) copy(exec, head(m_out, used), head(old, used));
        exec.fence();
      }
      gather(items);
      used += bytes;
    }
  } else {
    // The device processes all parts without the host. Bytes without room are encoded once more
    // when their number is known.
    const std::int64_t parts = (blocks + at_once - 1) / at_once;
    reserve(exec, m_totals, parts + 1, "moho::snapshot::totals");
    reserve(exec, m_out, std::max<std::int64_t>(packed.raw_bytes() / 16, 4096),
            "moho::snapshot::out");
    for (;;) {
      fill(exec, m_totals, std::int64_t(0));
      for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t begin = part * at_once, end = std::min(begin + at_once, blocks);
        encode_blocks(exec, coder, source, begin, end, packed);
        using Exec = typename Instance<Memory>::Space;
        Kokkos::parallel_scan(
            "moho::snapshot::place_blocks",
            moho::detail::DeviceRange<Exec>(exec.space(), 0, end - begin),
            detail::PlaceNextItems<Memory>{{m_item_bytes.data(), m_item_offsets.data(),
                                            packed.offsets.data(), begin, 0, packed.group},
                                           m_totals.data() + part,
                                           end - begin});
        gather(end - begin);
      }
      used = value_at(exec, m_totals.data() + parts);
      if (used <= static_cast<std::int64_t>(m_out.size())) break;
      m_out = {};
      reserve(exec, m_out, used + used / 8, "moho::snapshot::out");
    }
  }
  place_payload(exec, used, packed);
  if (used > 0) copy(exec, head(packed.payload, used), head(m_out, used));
  exec.fence();
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::decode(const InstanceOf<Memory>& exec,
                                   const Packed<Dim, Memory>& packed,
                                   const wave::Layout<Dim>& layout,
                                   const std::type_identity_t<Kokkos::View<T*, Memory>>& field,
                                   const Box<Dim>& box) {
  check_field(layout, field.size(), intersection(box, packed.header.box));
  decode_each(exec, packed, box, detail::StoreNodes<T, Dim>::of(field.data(), layout));
}

template <class T, int Dim, class Memory>
template <class Functor>
void Codec<T, Dim, Memory>::decode_each(const InstanceOf<Memory>& exec,
                                        const Packed<Dim, Memory>& packed, const Box<Dim>& box,
                                        const Functor& functor) {
  prepare(exec);
  const PackedHeader<Dim>& header = packed.header;
  using Target = detail::BlockTarget<T, Dim, Functor>;
  const Target target{functor, intersection(box, header.box),
                      static_cast<T>(std::ldexp(1.0, -header.exponent))};
  if (target.box.empty()) return;
  const BlockGrid<Dim> blocks(header.box);
  constexpr std::int64_t per = detail::blocks_an_item<Memory>;
  const std::int64_t items = (blocks.size() + per - 1) / per;
  const auto run = [&](const auto& coder) {
    using Coder = std::decay_t<decltype(coder)>;
    detail::launch_blocks("moho::snapshot::decode_blocks", Instance<Memory>(exec), items,
                          detail::DecodeBlocks<Coder, Target, Dim, Memory>{
                              coder, target, blocks, blocks.size(), packed.lengths.data(),
                              packed.offsets.data(), packed.payload.data()});
  };
  if (header.alphabets(header.mode) > 0) {
    m_states = upload(exec, detail::decoding_table(header.code_lengths), "moho::snapshot::states");
  }
  switch (header.mode) {
    case CodecMode::blocks: {
      const detail::FixedCoder coder{header.bits};
      const auto* const scales = reinterpret_cast<const float*>(packed.payload.data());
      const std::uint8_t* const first = packed.payload.data() + header.first_block();
      if constexpr (is_host_memory<Memory>) {
        detail::launch_blocks("moho::snapshot::decode_fixed", Instance<Memory>(exec), items,
                              detail::DecodeFixed<Target, Dim, Memory>{
                                  coder, target, blocks, blocks.size(), scales, first});
      } else {
        launch("moho::snapshot::decode_fixed", exec, detail::LanePacks<Dim>::threads(blocks),
               detail::DecodeFixedLanes<Target, T, Dim>{coder, target, blocks, scales, first});
      }
      break;
    }
    case CodecMode::lorenzo: {
      if constexpr (is_host_memory<Memory>) {
        run(detail::LorenzoCoder<Dim>{m_lorenzo.data(), header.quantum, 0.0f});
      } else {
        detail::launch_lorenzo(
            "moho::snapshot::decode_blocks", Instance<Memory>(exec), blocks.size(),
            detail::DecodeLorenzoLanes<Target, T, Dim>{
                m_lorenzo.data(), detail::QuadTarget<Target, Dim>(target), blocks, header.quantum,
                packed.lengths.data(), packed.offsets.data(), packed.payload.data()});
      }
      break;
    }
    case CodecMode::transform: {
      const detail::TransformCoder<Dim> coder{m_transform.data(), nullptr, m_states.data(),
                                              header.quantum, 0.0f};
      if constexpr (is_host_memory<Memory>) {
        run(coder);
      } else {
        // lists of numbers reuse the slots of encode()
        const std::int64_t listed = detail::blocks_listed_at_once(blocks.size());
        reserve(Instance<Memory>(exec), m_slots, detail::list_bytes(listed),
                "moho::snapshot::slots");
        detail::decode_transform_by_lanes<T>(Instance<Memory>(exec), coder, m_lanes.data(), packed,
                                             target, m_slots.data());
      }
      break;
    }
    default:
      run(detail::SqrtCoder{nullptr, m_states.data(), header.levels, header.peak});
      break;
  }
}

}  // namespace moho::snapshot

#include <moho/snapshot/codec/detail/fixed_codec.hpp>
#include <moho/snapshot/codec/detail/lorenzo_codec.hpp>
#include <moho/snapshot/codec/detail/sampling.hpp>

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Codec)
}  // namespace moho::snapshot
#endif
/// \endcond
