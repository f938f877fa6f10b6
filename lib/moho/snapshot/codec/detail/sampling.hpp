// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Statistics of sampled blocks, from which the codec chooses its quantum and code lengths.
///
/// This is the last part of codec.hpp.

#include <moho/snapshot/codec/codec.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace moho::snapshot {

template <class T, int Dim, class Memory>
detail::Sample Codec<T, Dim, Memory>::sample_of(std::int64_t blocks, std::int64_t stride) const {
  detail::Sample sample;
  sample.blocks = blocks;
  sample.stride = stride > 0 ? stride : std::max<std::int64_t>(blocks / 1024, 1);
  sample.items = std::min<std::int64_t>(sample.count(), is_host_memory<Memory> ? 16 : 2048);
  return sample;
}

template <class T, int Dim, class Memory>
typename Codec<T, Dim, Memory>::Findings Codec<T, Dim, Memory>::find_quantum(
    const Instance<Memory>& exec, const Source& source, double squares, double peak) {
  using Bins = detail::MagnitudeBins;
  Findings findings;
  const auto size = static_cast<double>(source.blocks.box.size());
  for (std::int64_t stride : {std::int64_t(0), std::int64_t(1)}) {
    const detail::Sample sample = sample_of(source.blocks.size(), stride);
    findings.sample = sample;
    std::vector<std::uint64_t> counts;
    double found = 0.0, nodes = 0.0;
    if constexpr (is_host_memory<Memory>) {
      const auto rows = allocate<View<std::uint64_t>>(exec, "moho::snapshot::magnitudes",
                                                      sample.items * Bins::count);
      const auto energy = allocate<View<double>>(exec, "moho::snapshot::energy", sample.items);
      const auto sums = allocate<View<std::uint64_t>>(exec, "moho::snapshot::sums", Bins::count);
      detail::launch_blocks(
          "moho::snapshot::sample_magnitudes", exec, sample.items,
          detail::SampleMagnitudes<T, Dim>{source, sample, rows.data(), energy.data()});
      launch("moho::snapshot::sum_rows", exec, Bins::count,
             detail::SumRows<std::uint64_t>{rows.data(), sums.data(), Bins::count, sample.items});
      counts = download(exec, sums);
      for (const double e : download(exec, energy)) found += e;
    } else {
      detail::SampleMagnitudesLanes<T, Dim> body{{sample, nullptr, nullptr}, source};
      found = look_by_lanes("moho::snapshot::sample_magnitudes", exec, body, counts);
    }
    for (const std::uint64_t n : counts) nodes += static_cast<double>(n) / 512.0;
    // A sample without its share of the energy is not representative, since few blocks have all of
    // it. All blocks are then processed.
    const double expected = squares * nodes / size;
    if (sample.stride > 1 && !(found > 0.7 * expected && found < 1.4 * expected)) continue;
    findings.allowed = squares * std::pow(10.0, -0.1 * m_options.snr) * nodes / size;
    findings.quantum = detail::quantum_for_noise(
        counts, static_cast<double>(detail::TransformCoder<Dim>::rounding),
        512.0 * findings.allowed);
    break;
  }
  findings.quantum = std::min(findings.quantum, 2.0 * peak * detail::largest_gain<Dim>);
  return findings;
}

template <class T, int Dim, class Memory>
template <class Coder>
void Codec<T, Dim, Memory>::count_symbols(const Instance<Memory>& exec, const Coder& coder,
                                          const Source& source, Findings& findings) {
  constexpr std::int64_t columns = Coder::alphabets * detail::symbols;
  const detail::Sample& sample = findings.sample;
  if constexpr (!is_host_memory<Memory> && std::is_same_v<Coder, detail::TransformCoder<Dim>>) {
    detail::SampleSymbolsLanes<T, Dim> body{
        {sample, nullptr, nullptr}, coder, m_lanes.data(), source};
    findings.errors = look_by_lanes("moho::snapshot::sample_symbols", exec, body, findings.counts);
  } else {
    const auto rows =
        allocate<View<std::uint32_t>>(exec, "moho::snapshot::symbols", sample.items * columns);
    const auto errors = allocate<View<double>>(exec, "moho::snapshot::errors", sample.items);
    const auto sums = allocate<View<std::uint64_t>>(exec, "moho::snapshot::sums", columns);
    detail::launch_blocks(
        "moho::snapshot::sample_symbols", exec, sample.items,
        detail::SampleSymbols<Coder, T, Dim>{coder, source, sample, rows.data(), errors.data()});
    launch("moho::snapshot::sum_rows", exec, columns,
           detail::SumRows<std::uint32_t>{rows.data(), sums.data(), columns, sample.items});
    findings.counts = download(exec, sums);
    findings.errors = 0.0;
    for (const double e : download(exec, errors)) findings.errors += e;
  }
  // symbols that the sample lacks still need a code, or escape symbols
  for (const std::size_t s : Coder::always()) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(Coder::alphabets); ++a) {
      ++findings.counts[a * detail::symbols + s];
    }
  }
}

/// Runs a sampling functor by lanes. \return the sum of energies
template <class T, int Dim, class Memory>
template <class Body>
double Codec<T, Dim, Memory>::look_by_lanes(const char* label, const Instance<Memory>& exec,
                                            Body body, std::vector<std::uint64_t>& counts) {
  const std::int64_t league = Body::league(body.sample.count());
  const std::int64_t energies = league * Body::groups;
  reserve(exec, m_sums, Body::columns + energies, "moho::snapshot::sums");
  fill(exec, head(m_sums, Body::columns), std::uint64_t(0));
  body.counts = m_sums.data();
  body.energies = reinterpret_cast<double*>(m_sums.data() + Body::columns);
  detail::launch_teams(label, exec, league, body);
  counts = download(exec, head(m_sums, Body::columns + energies));
  double sum = 0.0;
  for (std::size_t i = Body::columns; i < counts.size(); ++i)
    sum += std::bit_cast<double>(counts[i]);
  counts.resize(Body::columns);
  return sum;
}

}  // namespace moho::snapshot
