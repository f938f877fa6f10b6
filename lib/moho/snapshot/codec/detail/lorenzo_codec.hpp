// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of Codec for the mode lorenzo.
///
/// This is a part of codec.hpp.

#include <moho/snapshot/codec/codec.hpp>
#include <moho/snapshot/codec/detail/lorenzo_store.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace moho::snapshot {

template <class T, int Dim, class Memory>
double Codec<T, Dim, Memory>::estimate_peak(const Instance<Memory>& exec,
                                            const wave::Layout<Dim>& layout,
                                            const Kokkos::View<const T*, Memory>& field,
                                            const Box<Dim>& box) {
  if constexpr (Dim == 3 && sizeof(T) == 4) {
    if (m_options.mode != CodecMode::lorenzo || box.size() < detail::SampleRows::min_nodes) {
      return 0.0;
    }
    const detail::SampleRows rows(box);
    double estimate = 0.0;
    if constexpr (is_host_memory<Memory>) {
      estimate = reduce("moho::snapshot::estimate_peak", exec, rows.size(),
                        detail::SampleRowsPeak{field.data(), layout, rows});
    } else {
      reserve(exec, m_findings, 1, "moho::snapshot::findings");
      fill(exec, m_findings, detail::LorenzoFindings{});
      const detail::SampleRowsLanes lanes{field.data(), layout, rows, (box.extent(2) + 511) / 512,
                                          m_findings.data()};
      launch("moho::snapshot::estimate_peak", exec, lanes.threads(), lanes);
      estimate = std::bit_cast<float>(value_at(exec, m_findings.data()).max);
    }
    return std::isfinite(estimate) ? estimate : 0.0;
  } else {
    return 0.0;
  }
}

template <class T, int Dim, class Memory>
void Codec<T, Dim, Memory>::set_quantum(double peak, PackedHeader<Dim>& header) const {
  header.exponent = exponent_of(peak);
  const double up = std::ldexp(1.0, header.exponent);
  const double unit = sizeof(T) == 4 ? std::ldexp(up, -149) : 0.0;
  header.quantum = static_cast<float>(detail::quantum_for_error(
      detail::SampleRows::max_above * peak * up, m_options.max_error * peak * up, unit));
}

template <class T, int Dim, class Memory>
bool Codec<T, Dim, Memory>::encode_lorenzo(const Instance<Memory>& exec, const Source& source,
                                           double max, Packed<Dim, Memory>& packed) {
  if constexpr (is_host_memory<Memory>) {
    return false;
  } else {
    const std::int64_t blocks = source.blocks.size();
    const float quantum = packed.header.quantum;
    reserve(exec, m_findings, 1, "moho::snapshot::findings");
    reserve(exec, m_item_offsets, blocks, "moho::snapshot::item_offsets");
    reserve(exec, m_out, std::max<std::int64_t>(packed.raw_bytes() / 8, 1 << 16),
            "moho::snapshot::out");
    detail::LorenzoFindings found{};
    for (;;) {
      fill(exec, m_findings, detail::LorenzoFindings{});
      auto* const store = reinterpret_cast<std::uint32_t*>(m_out.data());
      const detail::EncodeLorenzoLanes<T, Dim> body{
          m_lorenzo.data(),      detail::QuadSource<T, Dim>(source),
          source.blocks,         source.up,
          1.0f / quantum,        store,
          m_out.size() / 4,      packed.lengths.data(),
          m_item_offsets.data(), m_findings.data()};
      detail::launch_lorenzo("moho::snapshot::encode_blocks", exec, blocks, body);
      const detail::PlaceGroups<Dim, Memory> place{packed.lengths.data(), packed.offsets.data(),
                                                   blocks, m_findings.data()};
      using Exec = typename Instance<Memory>::Space;
      const auto groups = static_cast<std::int64_t>(packed.offsets.size());
      Kokkos::parallel_scan("moho::snapshot::place_blocks",
                            moho::detail::DeviceRange<Exec>(exec.space(), 0, groups), place);
      found = value_at(exec, m_findings.data());
      if (max < INFINITY) {
        packed.header.max = std::bit_cast<float>(found.max);
        if (found.wrong != 0 || !(packed.header.max <= max)) return false;
      }
      if (4 * found.words <= m_out.size()) break;
      m_out = {};
      reserve(exec, m_out, static_cast<std::int64_t>(4 * found.words + found.words / 2),
              "moho::snapshot::out");
    }
    place_payload(exec, found.bytes, packed);
    launch(
        "moho::snapshot::gather_blocks", exec, detail::GatherLorenzo::threads(blocks),
        detail::GatherLorenzo{reinterpret_cast<const std::uint32_t*>(m_out.data()),
                              packed.lengths.data(), m_item_offsets.data(), packed.offsets.data(),
                              reinterpret_cast<std::uint32_t*>(packed.payload.data()), blocks});
    exec.fence();
    return true;
  }
}

}  // namespace moho::snapshot
