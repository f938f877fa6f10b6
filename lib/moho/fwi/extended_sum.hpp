// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of the extended images of shots, independent of their order and division.

#include <moho/core/binned_sum.hpp>
#include <moho/core/instance.hpp>
#include <moho/fwi/contribution_bytes.hpp>
#include <moho/fwi/objective_types.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// \brief Exact sum of the extended images of shots on the host.
///
/// Each lag is a BinnedSum, so that any order of the shots and any division among processes give
/// the same bits. Memory: bytes_of(), from the first shot on.
class ExtendedSum {
 public:
  /// Creates a sum without shots. \param lags,nodes of the images, 1 or more
  /// \throws InputError for other numbers
  ExtendedSum(std::int64_t lags, std::int64_t nodes) : m_lags(lags), m_nodes(nodes) {
    if (lags < 1 || nodes < 1) {
      throw InputError(
          concat("extended sum: ", lags, " lags x ", nodes, " nodes (allowed: 1 or more of both)"));
    }
  }

  /// Returns the memory of a sum in bytes.
  static double bytes_of(std::int64_t lags, std::int64_t nodes) {
    return BinnedSum::bytes_per_element * static_cast<double>(lags) * static_cast<double>(nodes);
  }
  /// Returns the number of lags.
  std::int64_t lags() const { return m_lags; }
  /// Returns the number of nodes.
  std::int64_t nodes() const { return m_nodes; }
  /// Returns the positions of the added shots.
  const std::set<std::size_t>& shots() const { return m_shots; }

  /// \brief Adds the image of a shot.
  /// \param shot position among the shots
  /// \param values lags() x nodes() on the host
  /// \throws InputError for a shot that was added before
  template <class T>
  void add(std::size_t shot, const T* values) {
    refuse_twice(shot);
    allocate_sums();
    for (BinnedSumOn<Kokkos::HostSpace>& sum : m_sums) {
      sum.template add<T>(host(), values);
      values += m_nodes;
    }
    host().fence();
    m_shots.insert(shot);
  }
  /// \brief Adds the image of a shot from another process. \throws InputError for another size, and
  /// for a shot that was added before
  template <class T>
  void add(const ShotContribution<T>& contribution) {
    if (static_cast<std::int64_t>(contribution.values.size()) != lags() * m_nodes) {
      throw InputError(concat("extended sum: an image of ", contribution.values.size(),
                              " values (allowed: ", lags() * m_nodes, ", lags x nodes)"));
    }
    add(contribution.shot, contribution.values.data());
  }
  /// \brief Adds the sum of another process. \throws InputError for another size, for shots that
  /// were added before, and for a sum that does not have a term of each shot
  void add(const ContributionSum& sum) {
    bool whole = static_cast<std::int64_t>(sum.sums.size()) == m_lags;
    for (const BinnedSumState& state : sum.sums) {
      whole = whole && state.terms == static_cast<std::int64_t>(sum.shots.size()) &&
              is_sum_of(state, m_nodes);
    }
    if (!whole) {
      throw InputError(concat("extended sum: a sum of ", sum.shots.size(), " shots has ",
                              sum.sums.size(), " arrays (allowed: ", m_lags,
                              " lags with a term of each shot): make the sum again"));
    }
    for (const std::size_t shot : sum.shots) refuse_twice(shot);
    allocate_sums();
    for (std::size_t h = 0; h < m_sums.size(); ++h) m_sums[h].merge(host(), sum.sums[h]);
    m_shots.insert(sum.shots.begin(), sum.shots.end());
  }

  /// Returns one lag of the sum and its shots as bytes, for another process; a sum without shots
  /// has no values.
  std::string pack(std::int64_t h) const;
  /// \brief Adds one lag of the sum of another process; all lags have to be added, in ascending
  /// order.
  /// \throws InputError for other bytes than those of pack(), and for shots that were added before
  void merge(std::int64_t h, const std::string& bytes);

  /// Returns the values, lags() x nodes().
  template <class T>
  std::vector<T> values() const {
    std::vector<T> values(static_cast<std::size_t>(m_lags * m_nodes), T(0));
    T* to = values.data();
    for (const BinnedSumOn<Kokkos::HostSpace>& sum : m_sums) {
      sum.template result<T>(host(), to);
      to += m_nodes;
    }
    host().fence();
    return values;
  }

 private:
  static Instance<Kokkos::HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }
  void refuse_twice(std::size_t shot) const {
    if (m_shots.count(shot) == 0) return;
    throw InputError(
        concat("extended sum: the image of shot ", shot, " is in it (allowed: each shot once)"));
  }

  void allocate_sums() {
    while (static_cast<std::int64_t>(m_sums.size()) < m_lags) m_sums.emplace_back(host(), m_nodes);
  }

  std::int64_t m_lags, m_nodes;
  std::vector<BinnedSumOn<Kokkos::HostSpace>> m_sums;  ///< of each lag; empty without shots
  std::set<std::size_t> m_shots;
};

inline std::string ExtendedSum::pack(std::int64_t h) const {
  const std::vector<std::size_t> shots(m_shots.begin(), m_shots.end());
  const std::size_t count = shots.size();
  std::string bytes(reinterpret_cast<const char*>(&count), sizeof(count));
  bytes.append(reinterpret_cast<const char*>(shots.data()), count * sizeof(std::size_t));
  if (m_sums.empty()) return bytes;
  return bytes + fwi::pack(m_sums.at(static_cast<std::size_t>(h)).state(host()));
}

inline void ExtendedSum::merge(std::int64_t h, const std::string& bytes) {
  std::size_t count = 0;
  if (bytes.size() >= sizeof(count)) std::memcpy(&count, bytes.data(), sizeof(count));
  const std::size_t begin = sizeof(count) * (1 + count);
  if (count > bytes.size() || begin > bytes.size()) {
    throw InputError(concat("extended sum: ", bytes.size(), " bytes (allowed: those of pack())"));
  }
  std::vector<std::size_t> shots(count);
  std::memcpy(shots.data(), bytes.data() + sizeof(count), count * sizeof(std::size_t));
  if (h == 0) {
    for (const std::size_t shot : shots) refuse_twice(shot);
  }
  if (count == 0 && bytes.size() == begin) return;
  allocate_sums();
  m_sums.at(static_cast<std::size_t>(h)).merge(host(), unpack_sum_state(bytes.substr(begin)));
  if (h + 1 == lags()) m_shots.insert(shots.begin(), shots.end());
}

}  // namespace moho::fwi
