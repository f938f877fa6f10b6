// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Reproducible sums of shot images: the same bits for any order and grouping.

#include <moho/core/binned_sum.hpp>
#include <moho/rtm/detail/sum_bytes.hpp>
#include <moho/rtm/migration_types.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::rtm {

/// \brief Sum of some shots of a survey, as copyable data of the host.
///
/// Memory: 16 bytes per node and part, for any number of shots.
template <class T, int Dim>
class PartialImage {
 public:
  /// Creates the sum of no shots.
  /// \param grid grid of the model
  /// \param parts number of parts of each shot
  /// \param offsets offset gathers of each shot
  PartialImage(const Grid<Dim>& grid, int parts, const OffsetOptions<Dim>& offsets)
      : m_grid(grid),
        m_parts(static_cast<std::size_t>(parts), BinnedSum(grid.size())),
        m_columns(offsets.count() > 0 ? offsets.columns.size() : 0),
        m_column_size(static_cast<std::size_t>(offsets.count() * grid.extents[Dim - 1])) {
    if (m_columns > 0) m_offsets.emplace(static_cast<std::int64_t>(m_columns * m_column_size));
  }

  /// Numbers of the added shots.
  const std::set<std::int64_t>& shots() const { return m_shots; }
  /// Number of parts of each shot.
  std::size_t part_count() const { return m_parts.size(); }

  /// \brief Adds a shot. \param exec instance of the host
  /// \throws InputError for a duplicate shot, another number of parts or another grid
  void add(const Instance<Kokkos::HostSpace>& exec, const ShotImage<T, Dim>& shot) {
    if (m_shots.count(shot.number) > 0) throw twice(shot.number);
    const auto nodes = static_cast<std::size_t>(shot.window.grid.size());
    if (shot.values.size() != m_parts.size() * nodes ||
        shot.window.box.size() != shot.window.grid.size()) {
      throw InputError(concat("shot ", shot.number, ": its image has ", shot.values.size(),
                              " values (allowed: ", m_parts.size(), " parts of ", nodes,
                              " nodes): use images of the same migration"));
    }
    for (std::size_t p = 0; p < m_parts.size(); ++p) {
      m_parts[p].add(exec, m_grid, shot.window.box, shot.part(p));
    }
    add_offsets(exec, shot);
    m_shots.insert(shot.number);
  }

  /// \brief Adds another sum. \param exec instance of the host
  /// \throws InputError for a shot in both sums, another number of parts or another grid
  void merge(const Instance<Kokkos::HostSpace>& exec, const PartialImage& other) {
    for (const std::int64_t number : other.m_shots) {
      if (m_shots.count(number) > 0) throw twice(number);
    }
    if (other.m_parts.size() != m_parts.size() || !(whole_box(other.m_grid) == whole_box(m_grid)) ||
        other.m_offsets.has_value() != m_offsets.has_value()) {
      throw InputError(concat("partial image: ", other.m_parts.size(), " parts of ",
                              shape_string(other.m_grid), " nodes (allowed: ", m_parts.size(),
                              " parts of ", shape_string(m_grid),
                              "): merge sums of the same migration"));
    }
    for (std::size_t p = 0; p < m_parts.size(); ++p) m_parts[p].merge(exec, other.m_parts[p]);
    if (m_offsets) m_offsets->merge(exec, *other.m_offsets);
    m_shots.insert(other.m_shots.begin(), other.m_shots.end());
  }

  /// Returns the sum as bytes with a checksum, for messages and files.
  std::string pack() const {
    std::string bytes;
    detail::put(bytes, std::vector<std::int64_t>(m_shots.begin(), m_shots.end()));
    detail::put(bytes, static_cast<std::int64_t>(m_parts.size()));
    detail::put(bytes, static_cast<std::int64_t>(m_offsets ? 1 : 0));
    for (const BinnedSum& part : m_parts) detail::put(bytes, part.state());
    if (m_offsets) detail::put(bytes, m_offsets->state());
    detail::put_checksum(bytes);
    return bytes;
  }
  /// \brief Adds a sum in the bytes of pack(). \param exec instance of the host
  /// \throws InputError as the other overload, and for damaged bytes
  void merge(const Instance<Kokkos::HostSpace>& exec, const std::string& bytes) {
    detail::SumReader from(bytes, true);
    PartialImage other(m_grid, 0, {});
    const std::vector<std::int64_t> shots = from.numbers();
    other.m_shots.insert(shots.begin(), shots.end());
    const std::int64_t parts = from.number();
    const bool gathers = from.number() != 0;
    for (std::int64_t p = 0; p < parts; ++p) other.m_parts.emplace_back(from.sum());
    if (gathers) other.m_offsets.emplace(from.sum());
    if (!from.at_end()) throw detail::damaged_sums();
    merge(exec, other);
  }

  /// Returns the sum of part `p` on the nodes of the model. \param exec instance of the host
  HostField<T, Dim> part(const Instance<Kokkos::HostSpace>& exec, std::size_t p) const {
    const auto field = make_field<T>(exec, m_grid, "moho::rtm::partial_image");
    m_parts.at(p).result(exec, field.data());
    return field;
  }
  /// Returns the offset gathers, columns x half offsets x depths; empty without gathers.
  std::vector<double> offsets(const Instance<Kokkos::HostSpace>& exec) const {
    std::vector<double> values(m_columns * m_column_size, 0.0);
    if (m_offsets) m_offsets->result(exec, values.data());
    return values;
  }

 private:
  static InputError twice(std::int64_t number) {
    return InputError(
        concat("shot ", number, ": it is already in the image (allowed: each shot once)"));
  }
  void add_offsets(const Instance<Kokkos::HostSpace>& exec, const ShotImage<T, Dim>& shot) {
    if (!m_offsets || shot.columns.empty()) return;
    std::vector<T> all(m_columns * m_column_size, T(0));
    for (std::size_t c = 0; c < shot.columns.size(); ++c) {
      const T* const from = shot.offsets.data() + c * m_column_size;
      std::copy(from, from + m_column_size,
                all.data() + static_cast<std::size_t>(shot.columns[c]) * m_column_size);
    }
    m_offsets->add(exec, all.data());
  }

  Grid<Dim> m_grid;
  std::vector<BinnedSum> m_parts;
  std::size_t m_columns, m_column_size;
  std::optional<BinnedSum> m_offsets;
  std::set<std::int64_t> m_shots;
};

}  // namespace moho::rtm
