// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Snapshots of batched shots, saved by one launch.

#include <moho/core/launch_box.hpp>
#include <moho/snapshot/snapshot.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace moho::snapshot::kernel {

/// Most arrays that one launch of batched shots reads or writes.
inline constexpr int largest_batch = 16;

/// Returns the box of `count` copies of a box, numbered along the first axis.
template <int Dim>
Box<Dim + 1> repeated(const Box<Dim>& box, std::int64_t count) {
  Box<Dim + 1> result{};
  result.upper[0] = count;
  for (int d = 0; d < Dim; ++d) {
    result.lower[d + 1] = box.lower[d];
    result.upper[d + 1] = box.upper[d];
  }
  return result;
}

/// Returns the node of a box from that of repeated().
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION Index<Dim> node_of(const Index<Dim + 1>& node) {
  Index<Dim> result{};
  for (int d = 0; d < Dim; ++d) result[d] = node[d + 1];
  return result;
}

/// Functor that copies the nodes of a box of several padded arrays into dense ones.
template <class T, int Dim>
struct TakeBoxes {
  wave::Layout<Dim> layout;
  Box<Dim> box;
  Index<Dim> strides;  ///< of the dense arrays
  const T* from[largest_batch];
  T* to[largest_batch];
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim + 1>& node) const {
    const Index<Dim> own = node_of<Dim>(node);
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (own[d] - box.lower[d]) * strides[d];
    to[node[0]][i] = from[node[0]][layout.flat(own)];
  }
};

/// \brief Saves snapshots of batched shots: one launch copies up to largest_batch arrays.
///
/// Stores without SnapshotStore::reserve() save their snapshots one by one.
/// \param exec execution instance
/// \param wavefields of the shots, with equal layouts
/// \param stores of the shots
/// \param box nodes of the snapshots
/// \param fields wavefields that the stores hold: 1 p, 2 p and q
/// \param time of the snapshots
template <class T, int Dim, class Memory>
void save_together(const Instance<Memory>& exec,
                   std::span<const wave::Wavefield<T, Dim, Memory>> wavefields,
                   const std::vector<SnapshotStore<T, Dim, Memory>*>& stores, const Box<Dim>& box,
                   int fields, std::int64_t time) {
  TakeBoxes<T, Dim> take{};
  take.layout = wavefields.front().layout;
  take.box = box;
  take.strides = dense_strides(box);
  int count = 0;
  const auto submit = [&] {
    launch_box("moho::snapshot::take_snapshots", exec, repeated(box, count), take);
    count = 0;
  };
  for (std::size_t k = 0; k < stores.size(); ++k) {
    T* const to = stores[k]->reserve(box, time);
    if (to == nullptr) {
      stores[k]->save(exec, wavefields[k], box, time);
      continue;
    }
    for (int f = 0; f < fields; ++f) {
      if (count == largest_batch) submit();
      take.from[count] = wavefields[k].now[f].data();
      take.to[count++] = to + f * box.size();
    }
  }
  submit();
}

}  // namespace moho::snapshot::kernel
