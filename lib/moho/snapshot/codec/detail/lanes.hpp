// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Blocks on devices: the 32 threads of a warp share one, each with 16 nodes in registers.
///
/// Node e of a block is in register e / 32 of lane e % 32, so that lanes read and write contiguous
/// memory. Loops run over 32 lanes of every block. Kokkos assigns consecutive items to consecutive
/// threads, and their number is a multiple of 32. The lanes of a block are therefore those of a
/// warp. Only devices run these functors. Tests compare them with those of hosts in codec.hpp.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/snapshot/codec/detail/layout.hpp>
#include <moho/snapshot/codec/detail/statistics.hpp>
#include <moho/snapshot/codec/detail/warp.hpp>

#include <cstdint>
#include <type_traits>

namespace moho::snapshot::detail {

/// Nodes of a lane.
template <int Dim>
struct LaneNodes {
  Index<Dim> first;  ///< first node of the block
  int lane;

  /// Returns a node of the lane.
  KOKKOS_FORCEINLINE_FUNCTION Index<Dim> node(int i) const {
    Index<Dim> result = first;
    if constexpr (Dim == 3) {
      result[0] += i / 2;
      result[1] += i % 2 * 4 + lane / 8;
      result[2] += lane % 8;
    } else {
      result[0] += i;
      result[1] += lane;
    }
    return result;
  }
};

/// \brief Loop over teams with scratch: body.run(member).
///
/// A team has Body::threads threads and Body::shared_bytes of scratch.
template <class Exec, class Body>
struct TeamLoop {
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Body::threads, Body::teams>>;
  Body body;
  KOKKOS_INLINE_FUNCTION void operator()(const typename Policy::member_type& member) const {
    body.run(member);
  }
};

/// Runs a TeamLoop on a device; it returns when the work is submitted.
template <class Memory, class Body>
void launch_teams(const char* label, const Instance<Memory>& exec, std::int64_t league,
                  const Body& body) {
  if (league <= 0) return;
  using Loop = TeamLoop<typename Instance<Memory>::Space, Body>;
  typename Loop::Policy policy(exec.space(), static_cast<int>(league), Body::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Body::shared_bytes) + 16));
  Kokkos::parallel_for(label, light_weight(policy), Loop{body});
}

/// Returns the scratch of a team.
template <class Shared, class Member>
KOKKOS_FORCEINLINE_FUNCTION Shared* team_shared(const Member& member) {
  return static_cast<Shared*>(member.team_scratch(0).get_shmem_aligned(sizeof(Shared), 16));
}

/// Returns true if all nodes of the block that begins at `first` are in a box.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION bool holds_block(const Box<Dim>& box, const Index<Dim>& first) {
  bool result = true;
  for (int d = 0; d < Dim; ++d) {
    result =
        result && first[d] >= box.lower[d] && first[d] + BlockGrid<Dim>::side(d) <= box.upper[d];
  }
  return result;
}

/// Returns the elements from a lane's first node to its node i, in an array with these strides.
template <int Dim>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t lane_step(const Index<Dim>& strides, int i) {
  return Dim == 3 ? i / 2 * strides[0] + i % 2 * 4 * strides[1] : i * strides[0];
}

/// Reads the 16 nodes of a lane as BlockSource::load() does.
template <class T, int Dim>
KOKKOS_FORCEINLINE_FUNCTION void load_lane(const BlockSource<T, Dim>& source,
                                           const LaneNodes<Dim>& nodes, float* values) {
  const Box<Dim>& box = source.blocks.box;
  if (holds_block<Dim>(box, nodes.first)) {
    const T* const from = source.field + source.layout.flat(nodes.node(0));
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      values[i] = static_cast<float>(from[lane_step<Dim>(source.layout.strides, i)] * source.up);
    }
    return;
  }
  MOHO_UNROLL
  for (int i = 0; i < 16; ++i) {
    Index<Dim> node = nodes.node(i);
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = box.upper[d] - 1;
      node[d] = node[d] < box.lower[d] ? box.lower[d] : node[d] > last ? last : node[d];
    }
    values[i] = static_cast<float>(source.field[source.layout.flat(node)] * source.up);
  }
}

/// Passes the nodes of a lane that are in the box to a target.
template <class Target, int Dim>
KOKKOS_FORCEINLINE_FUNCTION void store_lane(const Target& target, const LaneNodes<Dim>& nodes,
                                            float* values) {
  using T = typename Target::ValueType;
  keep_finite(values, 16, target.down);
  const bool whole = holds_block<Dim>(target.box, nodes.first);
  if constexpr (requires { target.functor.array(nodes.first); }) {
    if (whole) {
      T* const to = target.functor.array(nodes.node(0));
      const Index<Dim> strides = target.functor.steps();
      MOHO_UNROLL
      for (int i = 0; i < 16; ++i) {
        to[lane_step<Dim>(strides, i)] = static_cast<T>(values[i]) * target.down;
      }
      return;
    }
  }
  MOHO_UNROLL
  for (int i = 0; i < 16; ++i) {
    const Index<Dim> node = nodes.node(i);
    if (whole || target.box.contains(node)) {
      target.functor(node, static_cast<T>(values[i]) * target.down);
    }
  }
}

/// \brief FieldNodes by 32 threads for 512 nodes of a row; the first of them writes the sums.
///
/// The position of nodes that are not finite is not recorded; they make the sum of squares not
/// finite.
///
/// A Kokkos reduction uses a few thousand threads, too few to saturate a device's memory. It
/// therefore only combines these sums.
template <class T, int Dim>
struct FieldParts : FieldNodes<T, Dim> {
  FieldSums* parts;
  std::uint32_t pieces;  ///< pieces of a row

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const auto lane = static_cast<std::int64_t>(n % block_lanes);
    const auto part = static_cast<std::uint32_t>(n / block_lanes);
    const std::int64_t line = part / pieces;
    const std::int64_t row = this->box.upper[Dim - 1] - this->box.lower[Dim - 1];
    const std::int64_t first = part % pieces * std::int64_t(512) + lane;
    Index<Dim> node = this->box.lower;
    if constexpr (Dim == 3) {
      const auto side = static_cast<std::uint32_t>(this->box.upper[1] - this->box.lower[1]);
      node[0] += static_cast<std::uint32_t>(line) / side;
      node[1] += static_cast<std::uint32_t>(line) % side;
    } else {
      node[0] += line;
    }
    const T* const from = this->field + this->layout.flat(node);
    T values[16];
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) values[i] = first + 32 * i < row ? from[first + 32 * i] : T(0);
    FieldSums sums;
    this->init(sums);
    T peak = T(0);
    MOHO_UNROLL
    for (int i = 0; i < 16; ++i) {
      const T size = values[i] < T(0) ? -values[i] : values[i];
      peak = size > peak ? size : peak;  // ignores NaN; the sum of squares propagates it
      const auto number = static_cast<double>(values[i]);
      sums.squares += number * number;
    }
    sums.max = static_cast<double>(peak);
    MOHO_UNROLL
    for (int step = 16; step > 0; step /= 2) {
      this->join(sums, {from_lane(sums.max, static_cast<int>(lane) ^ step),
                        from_lane(sums.squares, static_cast<int>(lane) ^ step), INT64_MAX});
    }
    if (lane == 0) parts[part] = sums;
  }
};

/// Reduction of the sums.
struct JoinParts : FieldNodes<float, 2> {
  const FieldSums* parts;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, FieldSums& sums) const {
    join(sums, parts[i]);
  }
};

/// \brief Returns the statistics of the nodes of a box; waits for the instance.
/// \param exec execution instance
/// \param field,layout a padded array
/// \param box nodes
/// \param parts work space of devices
template <class T, int Dim, class Memory>
FieldSums field_sums(const Instance<Memory>& exec, const T* field, const wave::Layout<Dim>& layout,
                     const Box<Dim>& box, Kokkos::View<FieldSums*, Memory>& parts) {
  if constexpr (is_host_memory<Memory>) {
    const FieldRows<T, Dim> rows{{field, layout, box}};
    return reduce("moho::snapshot::field_sums", exec, rows.items(), rows);
  } else {
    const std::int64_t row = box.empty() ? 1 : box.extent(Dim - 1);
    const std::int64_t pieces = (row + 511) / 512;
    const std::int64_t count = box.empty() ? 0 : box.size() / row * pieces;
    if (static_cast<std::int64_t>(parts.size()) < count) {
      parts = {};
      parts = allocate<Kokkos::View<FieldSums*, Memory>>(exec, "moho::snapshot::parts",
                                                         static_cast<std::size_t>(count));
    }
    launch(
        "moho::snapshot::field_sums", exec, count * block_lanes,
        FieldParts<T, Dim>{{field, layout, box}, parts.data(), static_cast<std::uint32_t>(pieces)});
    const FieldSums sums =
        reduce("moho::snapshot::join_sums", exec, count, JoinParts{{}, parts.data()});
    if (sums.max <= FieldNodes<T, Dim>::limit && sums.squares >= 0.0) return sums;
    return reduce("moho::snapshot::field_sums", exec, box.size(),
                  FieldNodes<T, Dim>{field, layout, box});
  }
}

}  // namespace moho::snapshot::detail
