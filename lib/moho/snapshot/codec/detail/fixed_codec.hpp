// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of Codec for the mode blocks.
///
/// This is a part of codec.hpp.

#include <moho/snapshot/codec/codec.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace moho::snapshot {

template <class T, int Dim, class Memory>
typename Codec<T, Dim, Memory>::FixedPlace Codec<T, Dim, Memory>::place_fixed(
    const Instance<Memory>& exec, const Source& source, Packed<Dim, Memory>& packed) {
  const detail::FixedCoder coder{packed.header.bits};
  const std::int64_t blocks = source.blocks.size();
  packed.payload_bytes = packed.header.first_block() + blocks * coder.block_bytes();
  reserve(exec, packed.payload, packed.payload_bytes + packed.padding, "moho::snapshot::payload");
  packed.lengths = {};
  packed.offsets = {};
  // bytes between the scales and the first block
  const std::int64_t scales_end = 4 * blocks;
  fill(exec,
       Kokkos::subview(packed.payload, std::pair<std::size_t, std::size_t>(
                                           static_cast<std::size_t>(scales_end),
                                           static_cast<std::size_t>(packed.header.first_block()))),
       std::uint8_t(0));
  return {coder, reinterpret_cast<float*>(packed.payload.data()),
          packed.payload.data() + packed.header.first_block()};
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::encode_fixed(const Instance<Memory>& exec, const Source& source,
                                         Packed<Dim, Memory>& packed) {
  const FixedPlace to = place_fixed(exec, source, packed);
  if constexpr (is_host_memory<Memory>) {
    constexpr std::int64_t per = detail::blocks_an_item<Memory>;
    const std::int64_t blocks = source.blocks.size();
    detail::launch_blocks(
        "moho::snapshot::encode_fixed", exec, (blocks + per - 1) / per,
        detail::EncodeFixed<T, Dim, Memory>{to.coder, source, blocks, to.scales, to.blocks});
  } else {
    launch("moho::snapshot::encode_fixed", exec, detail::LanePacks<Dim>::threads(source.blocks),
           detail::EncodeFixedLanes<T, Dim>{to.coder, source, detail::FixedCoder::min, to.scales,
                                            to.blocks});
  }
  exec.fence();
}

template <class T, int Dim, class Memory>
bool Codec<T, Dim, Memory>::encode_ahead(const Instance<Memory>& exec,
                                         const wave::Layout<Dim>& layout,
                                         const Kokkos::View<const T*, Memory>& field,
                                         const Box<Dim>& box, Packed<Dim, Memory>& packed) {
  if constexpr (is_host_memory<Memory> || sizeof(T) != 4) {
    return false;
  } else {
    if (!m_exponent || box.empty()) return false;
    PackedHeader<Dim>& header = packed.header;
    header = {};
    header.mode = m_options.mode;
    header.box = box;
    header.bits = m_options.bits;
    header.exponent = *m_exponent;
    const Source source{field.data(), layout, BlockGrid<Dim>(box),
                        static_cast<T>(std::ldexp(1.0, header.exponent))};
    const FixedPlace to = place_fixed(exec, source, packed);
    const bool settled = detail::encode_fixed_ahead(exec, to.coder, source, to.scales, to.blocks,
                                                    header.exponent, header.max);
    if (settled) m_exponent = header.exponent;
    exec.fence();
    return settled;
  }
}

}  // namespace moho::snapshot
