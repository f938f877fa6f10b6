// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Far and near pairs of nodes of two trees, and their lists.
///
/// All pairs of a round are classified at a time, from the pair of both roots on. A prefix sum
/// places what follows from each pair, so that the lists have one order. Dehnen 2014, doi
/// 10.1186/s40668-014-0001-7, has the dual traversal and orders by distance.

#include <moho/gravity/detail/fmm_sort.hpp>
#include <moho/gravity/detail/fmm_translation.hpp>
#include <moho/gravity/forward.hpp>

#include <cstdint>
#include <vector>

namespace moho::gravity::detail {

/// A pair of nodes.
struct NodePair {
  std::int32_t prisms, stations;
  std::int32_t order;  ///< of a far pair
};

/// Orders of far pairs.
inline constexpr int fmm_orders = 6;

/// Limits of far pairs.
struct PairRules {
  const FmmNode *prisms, *stations;
  Kokkos::Array<int, fmm_orders> order;      ///< increasing
  Kokkos::Array<double, fmm_orders> ratio;   ///< largest ratio of radius and distance of each order
  Kokkos::Array<double, fmm_orders> direct;  ///< pairs of leaves that cost less by direct sums
  int orders;                                ///< number of orders

  /// What becomes of a pair: an order, or one of these.
  static constexpr int near = 0, split_prisms = -1, split_stations = -2;

  KOKKOS_INLINE_FUNCTION int operator()(std::int32_t source, std::int32_t target) const {
    const FmmNode &s = prisms[source], &t = stations[target];
    double square = 0.0;
    for (int n = 0; n < 3; ++n) {
      const double d = t.centre[n] - s.centre[n];
      square += d * d;
    }
    const double distance = sqrt(square);
    const double from_t = distance - t.radius, from_s = distance - s.radius;
    const bool leaves = s.children == 0 && t.children == 0;
    if (from_t > 0.0 && from_s > 0.0) {
      const double a = s.radius / from_t, b = t.radius / from_s;
      const double own = a > b ? a : b;
      for (int k = 0; k < orders; ++k) {
        if (!(own <= ratio[k])) continue;
        if (leaves && static_cast<double>(s.end - s.begin) * (t.end - t.begin) < direct[k]) {
          return near;
        }
        return order[k];
      }
    }
    if (leaves) return near;
    if (s.children == 0) return split_stations;
    if (t.children == 0) return split_prisms;
    return s.radius < t.radius ? split_stations : split_prisms;
  }
};

/// Classifies the pairs of a round.
struct Classify {
  PairRules rules;
  const NodePair* pairs;
  std::int32_t* what;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    what[i] = rules(pairs[i].prisms, pairs[i].stations);
  }
};

/// Places pairs of a kind: far, near, or those of the next round.
struct PlacePairs {
  enum class Kind { far, near, next };
  Kind kind;
  PairRules rules;
  const NodePair* pairs;
  const std::int32_t* what;
  NodePair* to;  ///< null: counts
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& slot,
                                         const bool final) const {
    NodePair pair = pairs[i];
    const std::int32_t found = what[i];
    if (kind != Kind::next) {
      if (kind == Kind::far ? found <= 0 : found != PairRules::near) return;
      pair.order = found;
      if (final && to != nullptr) to[slot] = pair;
      ++slot;
      return;
    }
    if (found >= 0) return;
    const bool of_prisms = found == PairRules::split_prisms;
    const FmmNode& node = of_prisms ? rules.prisms[pair.prisms] : rules.stations[pair.stations];
    if (final && to != nullptr) {
      for (std::int32_t child = 0; child < node.children; ++child) {
        (of_prisms ? pair.prisms : pair.stations) = node.child + child;
        to[slot + child] = pair;
      }
    }
    slot += node.children;
  }
};

/// Adds the number of pairs that follow from a pair.
struct CountPairs {
  PlacePairs pairs;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, std::int64_t& count) const {
    pairs(i, count, false);
  }
};

/// Lists of the nodes of a tree.
template <class Memory>
struct PairLists {
  Kokkos::View<std::int32_t*, Memory> begin;  ///< of each node, and the end
  Kokkos::View<std::int32_t*, Memory> items;  ///< nodes with lists that are not empty
  Kokkos::View<FarPair*, Memory> pairs;       ///< far pairs
  Kokkos::View<std::int32_t*, Memory> nodes;  ///< near pairs
};

/// Keys of pairs by a node of one tree, then by order.
struct PairKeys {
  const NodePair* pairs;
  bool by_stations;
  KeyOf* keys;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const NodePair pair = pairs[i];
    const auto node = static_cast<std::uint64_t>(by_stations ? pair.stations : pair.prisms);
    keys[i] = {node << 5 | static_cast<std::uint64_t>(pair.order), i};
  }
};

/// Takes the other node of sorted pairs.
struct TakePairs {
  const KeyOf* keys;
  const NodePair* pairs;
  bool by_stations;
  FarPair* far;        ///< or null
  std::int32_t* near;  ///< or null
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const NodePair pair = pairs[keys[i].value];
    const std::int32_t other = by_stations ? pair.prisms : pair.stations;
    if (far != nullptr) far[i] = {other, pair.order};
    if (near != nullptr) near[i] = other;
  }
};

/// Finds the first pair of each node in sorted keys.
struct BeginLists {
  const KeyOf* keys;
  std::int64_t count;
  std::int32_t* begin;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t node) const {
    const std::uint64_t wanted = static_cast<std::uint64_t>(node) << 5;
    std::int64_t low = 0, high = count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (keys[middle].key < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    begin[node] = static_cast<std::int32_t>(low);
  }
};

/// Lists nodes with pairs.
struct ListItems {
  const std::int32_t* begin;
  std::int32_t* items;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t node, std::int64_t& slot,
                                         const bool final) const {
    if (begin[node] == begin[node + 1]) return;
    if (final) items[slot] = static_cast<std::int32_t>(node);
    ++slot;
  }
};

/// Returns the lists of a tree with `nodes` nodes, whose bytes are added to the tally.
template <class Memory>
PairLists<Memory> make_lists(const Instance<Memory>& exec,
                             const Kokkos::View<NodePair*, Memory>& pairs, std::int64_t nodes,
                             bool by_stations, bool far, MemoryTally& tally) {
  const char* const label = "moho::gravity::lists";
  const auto count = static_cast<std::int64_t>(pairs.extent(0));
  const auto bytes = static_cast<double>(2 * sizeof(KeyOf)) * static_cast<double>(count);
  tally.take(bytes);  // keys and their copy
  auto keys = allocate<Kokkos::View<KeyOf*, Memory>>(exec, label, pairs.extent(0));
  launch("moho::gravity::pair_keys", exec, count, PairKeys{pairs.data(), by_stations, keys.data()});
  sort_keys(exec, keys);
  tally.give(0.5 * bytes);
  tally.take((far ? sizeof(FarPair) : sizeof(std::int32_t)) * static_cast<double>(count) +
             2.0 * sizeof(std::int32_t) * static_cast<double>(nodes + 1));
  PairLists<Memory> lists;
  using Numbers = Kokkos::View<std::int32_t*, Memory>;
  lists.begin = allocate<Numbers>(exec, label, static_cast<std::size_t>(nodes + 1));
  lists.items = allocate<Numbers>(exec, label, static_cast<std::size_t>(nodes));
  if (far) {
    lists.pairs = allocate<Kokkos::View<FarPair*, Memory>>(exec, label, pairs.extent(0));
  } else {
    lists.nodes = allocate<Numbers>(exec, label, pairs.extent(0));
  }
  launch("moho::gravity::take_pairs", exec, count,
         TakePairs{keys.data(), pairs.data(), by_stations, lists.pairs.data(), lists.nodes.data()});
  launch("moho::gravity::begin_lists", exec, nodes + 1,
         BeginLists{keys.data(), count, lists.begin.data()});
  const std::int64_t items = scan<std::int64_t>("moho::gravity::list_items", exec, nodes,
                                                ListItems{lists.begin.data(), lists.items.data()});
  lists.items = Kokkos::subview(lists.items,
                                Kokkos::make_pair(std::size_t(0), static_cast<std::size_t>(items)));
  exec.fence();
  tally.give(0.5 * bytes);
  return lists;
}

/// Far and near pairs in the order of the traversal.
template <class Memory>
struct PairsOfTrees {
  Kokkos::View<NodePair*, Memory> far, near;
};

/// Returns the arrays of all rounds as one; `rounds` are released.
template <class Memory>
Kokkos::View<NodePair*, Memory> join_rounds(const Instance<Memory>& exec,
                                            std::vector<Kokkos::View<NodePair*, Memory>>& rounds,
                                            MemoryTally& tally) {
  std::size_t count = 0;
  for (const auto& round : rounds) count += round.extent(0);
  tally.pass(static_cast<double>(sizeof(NodePair) * count));
  const auto all = allocate<Kokkos::View<NodePair*, Memory>>(exec, "moho::gravity::pairs", count);
  std::size_t at = 0;
  for (const auto& round : rounds) {
    if (round.extent(0) == 0) continue;
    copy(exec,
         Kokkos::View<NodePair*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(all.data() + at,
                                                                                  round.extent(0)),
         round);
    at += round.extent(0);
  }
  exec.fence();
  rounds.clear();
  return all;
}

/// Returns all far and near pairs of two trees, whose bytes are added to the tally.
template <class Memory>
PairsOfTrees<Memory> find_pairs(const Instance<Memory>& exec, const PairRules& rules,
                                MemoryTally& tally) {
  using Pairs = Kokkos::View<NodePair*, Memory>;
  const char* const label = "moho::gravity::pairs";
  Pairs frontier = upload(exec, std::vector<NodePair>(1), label);  // both roots
  tally.take(sizeof(NodePair));
  std::vector<Pairs> far, near;
  while (frontier.extent(0) > 0) {
    const auto count = static_cast<std::int64_t>(frontier.extent(0));
    tally.take(sizeof(std::int32_t) * static_cast<double>(count));
    const auto what =
        allocate<Kokkos::View<std::int32_t*, Memory>>(exec, label, frontier.extent(0));
    launch("moho::gravity::classify_pairs", exec, count,
           Classify{rules, frontier.data(), what.data()});
    const auto slot = [&](PlacePairs::Kind kind) {
      PlacePairs pairs{kind, rules, frontier.data(), what.data(), nullptr};
      const auto found =
          sum_of<std::int64_t>("moho::gravity::count_pairs", exec, count, CountPairs{pairs});
      tally.take(sizeof(NodePair) * static_cast<double>(found));
      const Pairs placed = allocate<Pairs>(exec, label, static_cast<std::size_t>(found));
      pairs.to = placed.data();
      if (found > 0) scan<std::int64_t>("moho::gravity::place_pairs", exec, count, pairs);
      return placed;
    };
    far.push_back(slot(PlacePairs::Kind::far));
    near.push_back(slot(PlacePairs::Kind::near));
    const Pairs next = slot(PlacePairs::Kind::next);
    exec.fence();
    tally.give((sizeof(std::int32_t) + sizeof(NodePair)) * static_cast<double>(count));
    frontier = next;
  }
  PairsOfTrees<Memory> pairs;
  pairs.far = join_rounds(exec, far, tally);
  pairs.near = join_rounds(exec, near, tally);
  return pairs;
}

}  // namespace moho::gravity::detail
