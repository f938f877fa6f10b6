// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of several arrays of shots, such as image parts and gathers, by name.

#include <moho/core/binned_sum.hpp>
#include <moho/core/instance.hpp>
#include <moho/rtm/image_sum.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace moho::rtm {

/// An array of a shot: parts, one after the other, on a box of a grid of two or three axes.
struct ShotArray {
  std::string name;                 ///< name of its sum
  std::int64_t parts = 1;           ///< number of parts
  std::vector<std::int64_t> grid;   ///< extents of the grid of the sum
  std::vector<std::int64_t> lower;  ///< first node along each axis
  std::vector<std::int64_t> upper;  ///< node after the last along each axis
  /// True: the sum is a BinnedSumOn of each part, and the box is the grid.
  bool bins = false;
};

/// \brief An ImageSum for each name of arrays, or a BinnedSumOn for each of their parts.
///
/// All sums have the same shots. If one of them is closed, all are.
class ArraySums {
 public:
  /// Creates closed sums.
  ArraySums() = default;
  /// Creates the sums of no shots, for arrays of any name.
  /// \param memory bytes of the host; a sum that takes too much of them is closed, see
  /// ImageSum::within()
  explicit ArraySums(double memory) : m_memory(memory), m_closed(false) {}

  ArraySums(ArraySums&&) = default;             ///< the source may only be destroyed
  ArraySums& operator=(ArraySums&&) = default;  ///< the source may only be destroyed
  ArraySums(const ArraySums&) = delete;
  ArraySums& operator=(const ArraySums&) = delete;

  /// Returns true if the sums hold no values.
  bool closed() const { return m_closed; }
  /// Closes the sums and releases their memory.
  void close() {
    m_closed = true;
    m_sums.clear();
    m_bins.clear();
  }
  /// Returns the numbers of the added shots, also if the sums are closed.
  const std::set<std::int64_t>& shots() const { return m_shots; }
  /// Returns true if the sums hold as many shots as given.
  bool hold(std::size_t shots) const { return !m_closed && m_shots.size() == shots; }

  /// \brief Adds an array of a shot. Closes the sums as ImageSum::add().
  /// \param exec instance of the host
  /// \param shot number of the shot
  /// \param array name and place
  /// \param values the parts of the array
  /// \throws InputError for a duplicate array of a shot, and for an invalid place
  template <class T>
  void add(const Instance<Kokkos::HostSpace>& exec, std::int64_t shot, const ShotArray& array,
           const T* values);
  /// Returns part `p` of a sum. \throws InputError for an unknown name, or closed sums
  template <class T>
  std::vector<T> part(const Instance<Kokkos::HostSpace>& exec, const std::string& name,
                      int p) const;
  /// Returns the parts of a sum in bins. \throws InputError for an unknown name, or closed sums
  std::vector<BinnedSumState> bins(const Instance<Kokkos::HostSpace>& exec,
                                   const std::string& name) const;

  /// Returns the sums as bytes with checksums, see ImageSum::pack().
  std::string pack() const;
  /// \brief Adds packed sums.
  /// \throws InputError for damaged bytes, other grids, and shots in both
  void merge(const Instance<Kokkos::HostSpace>& exec, const std::string& bytes);

 private:
  using Sum = std::variant<ImageSum<2>, ImageSum<3>>;
  /// Sums of the parts of arrays on complete grids.
  struct Bins {
    std::set<std::int64_t> shots;
    std::vector<BinnedSumOn<Kokkos::HostSpace>> parts;
  };

  template <class T>
  void add_bins(const Instance<Kokkos::HostSpace>& exec, std::int64_t shot, const ShotArray& array,
                const T* values);
  void merge_bins(const Instance<Kokkos::HostSpace>& exec, const std::string& name,
                  const std::string& packed, const std::set<std::int64_t>& shots);
  std::size_t names() const { return m_sums.size() + m_bins.size(); }

  double m_memory = 0.0;
  bool m_closed = true;
  std::map<std::string, Sum> m_sums;
  std::map<std::string, Bins> m_bins;
  std::set<std::int64_t> m_shots;
};

}  // namespace moho::rtm
