// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Implementation of FmmOperator.

#include <moho/gravity/fmm.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace moho::gravity {

namespace detail {

/// Stations of a leaf are padded to multiples of this.
template <class Memory>
inline constexpr int fmm_padding = is_host_memory<Memory> ? simd::lanes<double> : 1;

/// \brief Calls launch_part(first, count) for all items; on hosts in parts.
///
/// Stopped is thrown before a part if the flag of the instance is set. A part has some tenths of
/// a second of work at most, and enough items for each thread to keep the others busy.
template <class Memory, class Launch>
void launch_parts(const Instance<Memory>& exec, std::int64_t items, const Launch& launch_part) {
  const std::int64_t max = is_host_memory<Memory> ? std::int64_t{64} * exec.concurrency()
                                                  : std::max<std::int64_t>(items, 1);
  for (std::int64_t first = 0; first < items; first += max) {
    exec.check_stop();
    launch_part(first, std::min(max, items - first));
  }
}

/// Sorted keys and the order of what they belong to.
template <class Memory>
struct SortedKeys {
  std::vector<std::uint64_t> keys;
  Kokkos::View<std::int64_t*, Memory> order;
};

/// Takes sorted keys apart; no other view may hold them.
template <class Memory>
SortedKeys<Memory> take_sorted(const Instance<Memory>& exec, Kokkos::View<KeyOf*, Memory> keys,
                               MemoryTally& tally) {
  const auto count = keys.extent(0);
  // keys and their copy; then keys, and what is taken from them
  tally.pass((sizeof(KeyOf) + 2 * sizeof(std::uint64_t) + sizeof(std::int64_t)) *
             static_cast<double>(count));
  sort_keys(exec, keys);
  SortedKeys<Memory> sorted;
  const auto only =
      allocate<Kokkos::View<std::uint64_t*, Memory>>(exec, "moho::gravity::keys", count);
  sorted.order = allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::gravity::order", count);
  launch("moho::gravity::split_keys", exec, static_cast<std::int64_t>(count),
         SplitKeys{keys.data(), only.data(), sorted.order.data()});
  sorted.keys = download(exec, only);
  return sorted;
}

/// Uploads a new tree, whose bytes are added to the tally.
template <class Memory>
void upload_tree(const Instance<Memory>& exec, FmmTreeIn<Memory>& tree, MemoryTally& tally) {
  const auto bytes = [](std::size_t nodes, std::size_t leaves) {
    return static_cast<double>(sizeof(FmmNode) * nodes + sizeof(std::int32_t) * leaves);
  };
  const auto& nodes = tree.tree.nodes;
  const auto& leaves = tree.tree.leaves;
  tally.take(bytes(nodes.size(), leaves.size()));
  if (is_host_memory<Memory>) tally.take(bytes(nodes.capacity(), leaves.capacity()));
  tree.nodes = upload(exec, nodes, "moho::gravity::nodes");
  tree.leaves = upload(exec, leaves, "moho::gravity::leaves");
}

/// Sets the bounds of a tree from those of its leaves, and uploads it.
template <class Memory>
void bound_tree(const Instance<Memory>& exec, FmmTreeIn<Memory>& tree,
                const Record<double>* records, const double* slots, MemoryTally& tally) {
  const auto leaves = static_cast<double>(sizeof(LeafBounds) * tree.tree.leaves.size());
  const auto nodes = static_cast<double>(tree.tree.nodes.size());
  tally.pass(leaves + sizeof(FmmNode) * nodes +
             (is_host_memory<Memory> ? leaves + sizeof(LeafBounds) * nodes : 0.0));
  const auto bounds = allocate<Kokkos::View<LeafBounds*, Memory>>(exec, "moho::gravity::bounds",
                                                                  tree.tree.leaves.size());
  launch("moho::gravity::bound_leaves", exec, static_cast<std::int64_t>(tree.tree.leaves.size()),
         BoundLeaves{tree.nodes.data(), tree.leaves.data(), records, slots, tree.tree.slots,
                     bounds.data()});
  set_bounds(tree.tree, download(exec, bounds));
  tree.nodes = upload(exec, tree.tree.nodes, "moho::gravity::nodes");
}

/// Returns a cube around all prisms and stations, in the axes of a frame.
template <class Memory, class Source>
FmmCube bounding_cube(const Instance<Memory>& exec, const Source& source, const Frame& frame,
                      const StationView<Memory>& stations) {
  const auto of_prisms =
      reduce("moho::gravity::bounds", exec, source.size(), BoundPrisms<Source>{source});
  const auto of_stations =
      reduce("moho::gravity::bounds", exec, static_cast<std::int64_t>(stations.extent(0)),
             BoundStations{stations.data()});
  FmmCube cube{};
  for (int n = 0; n < 3; ++n) {
    const int axis = frame.axis[n];
    cube.low[n] = std::min(of_prisms.low[axis], of_stations.low[axis]);
    cube.size =
        std::max(cube.size, std::max(of_prisms.high[axis], of_stations.high[axis]) - cube.low[n]);
  }
  cube.cells = static_cast<double>(1 << fmm_levels) / cube.size;
  return cube;
}

}  // namespace detail

template <class Memory>
FmmOperator<Memory>::FmmOperator(const InstanceOf<Memory>& exec, const PrismView<Memory>& prisms,
                                 const StationView<Memory>& stations, const Components& components,
                                 const FmmOptions& options)
    : m_components(components) {
  const Instance<Memory>& instance = exec;
  detail::check_prisms(instance, prisms);
  const detail::RowSource source{prisms.data(), static_cast<std::int64_t>(prisms.extent(0))};
  prepare(instance, detail::UnitSource<detail::RowSource>{source}, stations, options);
}

template <class Memory>
FmmOperator<Memory>::FmmOperator(const InstanceOf<Memory>& exec, const RegularMesh& mesh,
                                 const StationView<Memory>& stations, const Components& components,
                                 const FmmOptions& options)
    : m_components(components) {
  detail::check_mesh(mesh, mesh.size());
  const detail::MeshSource source{mesh, nullptr};
  prepare(Instance<Memory>(exec), detail::UnitSource<detail::MeshSource>{source}, stations,
          options);
}

template <class Memory>
template <class Source>
void FmmOperator<Memory>::prepare(const Instance<Memory>& exec, const Source& source,
                                  const StationView<Memory>& stations, const FmmOptions& options) {
  detail::check_stations(exec, stations);
  gravity::Options sums;
  sums.constant = options.constant;
  sums.far_tolerance = options.far_tolerance;
  sums.memory_budget = options.memory_budget;
  detail::check_options(sums, m_components, stations.extent(0), m_components.size(),
                        stations.extent(0));
  detail::check_parts(options.part, options.parts);
  m_plan = detail::make_plan(m_components, options.constant, 1.0);
  m_prisms = source.size();
  m_stations = static_cast<std::int64_t>(stations.extent(0));
  detail::check_fmm_size(m_prisms, m_stations);
  const detail::FmmOrders orders = detail::choose_orders(m_plan.mask, options.tolerance);
  m_report.order = orders.order;
  m_min = orders.derivatives;
  detail::MemoryTally tally(detail::budget_of(sums, memory_budget(exec, sums.memory_budget), 0),
                            detail::fmm_name(m_prisms, m_stations));
  // records, order and sums of prisms; places, their stations and sums
  tally.pass(80.0 * static_cast<double>(m_prisms) +
             (32.0 + 8.0 * detail::count_of(m_plan.mask)) * static_cast<double>(m_stations));
  exec.check_stop();
  // those of the process and, on hosts, those of this operator
  tally.take((is_host_memory<Memory> ? 2.0 : 1.0) * detail::fmm_tables(orders.order).bytes());
  m_tables = detail::FmmTablesIn<Memory>(exec, detail::fmm_tables(orders.order));
  if constexpr (detail::has_matrix_units<Memory>) {
    m_tiles = {exec, detail::tiles_of(detail::fmm_tables(orders.order))};
  }
  detail::Frame frame;
  frame.axis = m_plan.axis;
  plant(exec, source, stations, frame, tally);
  // expansions and sums
  const double last =
      8.0 *
      (detail::fmm_count(orders.order) *
           static_cast<double>(m_prism_tree.tree.nodes.size() + m_station_tree.tree.nodes.size()) +
       detail::count_of(m_plan.mask) * static_cast<double>(m_slots) +
       static_cast<double>(m_prisms));
  tally.pass(last);
  exec.check_stop();
  find_lists(exec, orders, tally);
  exec.check_stop();
  tally.take(last);
  allocate_sums(exec, options);
  m_bytes = static_cast<std::size_t>(tally.held());
  m_max_bytes = static_cast<std::size_t>(tally.max());
  const double tolerance =
      options.far_tolerance < 0.0 ? default_far_tolerance<double> : options.far_tolerance;
  const double far = detail::far_distance(m_plan.mask, tolerance);
  m_limits = {detail::near_distance * detail::near_distance, far * far};
  exec.fence();
}

template <class Memory>
template <class Source>
void FmmOperator<Memory>::plant(const Instance<Memory>& exec, const Source& source,
                                const StationView<Memory>& stations, const detail::Frame& frame,
                                detail::MemoryTally& tally) {
  using Keys = Kokkos::View<detail::KeyOf*, Memory>;
  const detail::FmmCube cube = detail::bounding_cube(exec, source, frame, stations);
  {
    tally.pass(2.0 * sizeof(detail::KeyOf) * static_cast<double>(m_prisms));
    auto keys = allocate<Keys>(exec, "moho::gravity::keys", static_cast<std::size_t>(m_prisms));
    launch("moho::gravity::prism_keys", exec, m_prisms,
           detail::PrismKeys<Source>{source, frame, cube, keys.data()});
    auto sorted = detail::take_sorted<Memory>(exec, std::move(keys), tally);
    m_order = sorted.order;
    m_prism_tree.tree = detail::split_keys(sorted.keys, detail::fmm_prisms_of_leaf, 1);
    sorted = {};
    detail::upload_tree(exec, m_prism_tree, tally);
    tally.take((sizeof(std::int64_t) + sizeof(detail::Record<double>)) *
               static_cast<double>(m_prisms));
    m_records = allocate<Kokkos::View<detail::Record<double>*, Memory>>(
        exec, "moho::gravity::records", static_cast<std::size_t>(m_prisms));
    launch("moho::gravity::pack_sorted", exec, m_prisms,
           detail::PackSorted<Source>{source, frame, m_order.data(), m_records.data()});
    detail::bound_tree(exec, m_prism_tree, m_records.data(), nullptr, tally);
  }
  tally.pass(2.0 * sizeof(detail::KeyOf) * static_cast<double>(m_stations));
  auto keys = allocate<Keys>(exec, "moho::gravity::keys", static_cast<std::size_t>(m_stations));
  launch("moho::gravity::station_keys", exec, m_stations,
         detail::StationKeys{stations.data(), frame, cube, keys.data()});
  const auto sorted = detail::take_sorted<Memory>(exec, std::move(keys), tally);
  constexpr int padding = detail::fmm_padding<Memory>;
  m_station_tree.tree = detail::split_keys(sorted.keys, detail::fmm_stations_of_leaf, padding);
  const double order =
      (sizeof(std::int64_t) + sizeof(std::uint64_t)) * static_cast<double>(m_stations);
  tally.take(order);
  detail::upload_tree(exec, m_station_tree, tally);
  m_slots = m_station_tree.tree.slots;
  tally.take(32.0 * static_cast<double>(m_slots));
  m_packed = allocate<Kokkos::View<double*, Memory>>(exec, "moho::gravity::stations",
                                                     static_cast<std::size_t>(3 * m_slots));
  m_station = allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::gravity::stations",
                                                            static_cast<std::size_t>(m_slots));
  launch("moho::gravity::pack_leaves", exec,
         static_cast<std::int64_t>(m_station_tree.tree.leaves.size()),
         detail::PackLeaves{m_station_tree.nodes.data(), m_station_tree.leaves.data(),
                            sorted.order.data(), stations.data(), frame, padding, m_slots,
                            m_packed.data(), m_station.data()});
  detail::bound_tree(exec, m_station_tree, nullptr, m_packed.data(), tally);
  exec.fence();
  tally.give(order);
}

template <class Memory>
void FmmOperator<Memory>::find_lists(const Instance<Memory>& exec, const detail::FmmOrders& orders,
                                     detail::MemoryTally& tally) {
  const auto nodes_of = [](const Tree& tree) {
    return static_cast<std::int64_t>(tree.tree.nodes.size());
  };
  detail::PairRules rules = detail::make_rules(orders);
  rules.prisms = m_prism_tree.nodes.data();
  rules.stations = m_station_tree.nodes.data();
  auto pairs = detail::find_pairs(exec, rules, tally);
  detail::check_pairs(std::max(pairs.far.extent(0), pairs.near.extent(0)));
  m_report.far_pairs = static_cast<std::int64_t>(pairs.far.extent(0));
  m_far = detail::make_lists(exec, pairs.far, nodes_of(m_station_tree), true, true, tally);
  m_far_transposed =
      detail::make_lists(exec, pairs.far, nodes_of(m_prism_tree), false, true, tally);
  tally.give(static_cast<double>(sizeof(detail::NodePair) * pairs.far.extent(0)));
  pairs.far = {};
  m_near = detail::make_lists(exec, pairs.near, nodes_of(m_station_tree), true, false, tally);
  m_near_transposed =
      detail::make_lists(exec, pairs.near, nodes_of(m_prism_tree), false, false, tally);
  tally.give(static_cast<double>(sizeof(detail::NodePair) * pairs.near.extent(0)));
  m_report.prism_nodes = nodes_of(m_prism_tree);
  m_report.station_nodes = nodes_of(m_station_tree);
  m_report.near_pairs = sum_of<double>(
      "moho::gravity::count_near", exec,
      static_cast<std::int64_t>(m_station_tree.tree.leaves.size()),
      detail::CountNear{m_station_tree.nodes.data(), m_prism_tree.nodes.data(),
                        m_station_tree.leaves.data(), m_near.begin.data(), m_near.nodes.data()});
  m_report.work = detail::work_of(m_report, m_plan.mask, m_prisms, m_stations);
}

template <class Memory>
void FmmOperator<Memory>::allocate_sums(const Instance<Memory>& exec, const FmmOptions& options) {
  const std::size_t numbers = static_cast<std::size_t>(detail::fmm_count(m_report.order));
  using Numbers = Kokkos::View<double*, Memory>;
  m_prism_tree.expansions = allocate<Numbers>(exec, "moho::gravity::expansions",
                                              numbers * m_prism_tree.tree.nodes.size());
  m_station_tree.expansions = allocate<Numbers>(exec, "moho::gravity::expansions",
                                                numbers * m_station_tree.tree.nodes.size());
  const auto count = static_cast<std::size_t>(detail::count_of(m_plan.mask));
  m_sums =
      allocate<Numbers>(exec, "moho::gravity::sums", count * static_cast<std::size_t>(m_slots));
  m_sorted = allocate<Numbers>(exec, "moho::gravity::sorted", static_cast<std::size_t>(m_prisms));
  const auto cut = detail::cut_stations(m_station_tree.tree, download(exec, m_near.begin),
                                        download(exec, m_far.begin), options.part, options.parts);
  m_begin = cut[0];
  m_end = cut[1];
}

template <class Memory>
detail::FmmStations FmmOperator<Memory>::packed_stations(std::int32_t begin,
                                                         std::int32_t end) const {
  detail::FmmStations stations{};
  stations.tables = m_tables.constants;
  stations.nodes = m_station_tree.nodes.data();
  stations.leaves = m_station_tree.leaves.data();
  stations.slots.data = m_packed.data();
  stations.slots.count = m_slots;
  stations.expansions = m_station_tree.expansions.data();
  stations.begin = begin;
  stations.end = end;
  stations.padding = detail::fmm_padding<Memory>;
  return stations;
}

template <class Memory>
detail::NearData FmmOperator<Memory>::near_data(const Tree& items,
                                                const detail::PairLists<Memory>& lists,
                                                std::int32_t begin, std::int32_t end) const {
  detail::NearData data{};
  data.stations = packed_stations(begin, end);
  data.prisms = m_prism_tree.nodes.data();
  data.leaves = items.leaves.data();
  data.begin = lists.begin.data();
  data.list = lists.nodes.data();
  data.records = m_records.data();
  data.limits = m_limits;
  return data;
}

template <class Memory>
void FmmOperator<Memory>::to_parents(const Instance<Memory>& exec, const Tree& tree) {
  const auto& levels = tree.tree.levels;
  for (std::size_t k = levels.size() - 1; k-- > 0;) {
    detail::FamilyShifts<detail::Shift::to_parent> shifts{};
    shifts.tables = m_tables.constants;
    shifts.nodes = tree.nodes.data();
    shifts.first_node = levels[k];
    shifts.data = tree.expansions.data();
    shifts.numbers = detail::fmm_count(m_report.order);
    detail::launch_teams("moho::gravity::to_parents", exec, levels[k + 1] - levels[k], shifts);
  }
}

template <class Memory>
void FmmOperator<Memory>::to_children(const Instance<Memory>& exec, const Tree& tree,
                                      std::int32_t begin, std::int32_t end) {
  const auto& levels = tree.tree.levels;
  for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
    detail::FamilyShifts<detail::Shift::to_children> shifts{};
    shifts.tables = m_tables.constants;
    shifts.nodes = tree.nodes.data();
    shifts.first_node = levels[k];
    shifts.data = tree.expansions.data();
    shifts.numbers = detail::fmm_count(m_report.order);
    shifts.begin = begin;
    shifts.end = end;
    detail::launch_teams("moho::gravity::to_children", exec, levels[k + 1] - levels[k], shifts);
  }
}

template <class Memory>
void FmmOperator<Memory>::translate(const Instance<Memory>& exec, const Tree& from, const Tree& to,
                                    const detail::PairLists<Memory>& lists, bool transposed) {
  detail::FarPairs pairs{};
  pairs.tables = m_tables.constants;
  pairs.nodes = to.nodes.data();
  pairs.others = from.nodes.data();
  pairs.items = lists.items.data();
  pairs.begin = lists.begin.data();
  pairs.pairs = lists.pairs.data();
  pairs.from = from.expansions.data();
  pairs.to = to.expansions.data();
  pairs.numbers = detail::fmm_count(m_report.order);
  pairs.min = m_min;
  pairs.transposed = transposed;
  pairs.first = transposed ? 0 : m_begin;
  pairs.last = transposed ? static_cast<std::int32_t>(m_prisms) : m_end;
  const auto items = static_cast<std::int64_t>(lists.items.extent(0));
  detail::launch_parts(exec, items, [&](std::int64_t first, std::int64_t count) {
    pairs.items = lists.items.data() + first;
    if constexpr (detail::has_matrix_units<Memory>) {
      detail::launch_cuda_blocks("moho::gravity::far_pairs", exec, count,
                                 detail::FarPairTiles{pairs, m_tiles.addresses()});
    } else {
      detail::launch_teams("moho::gravity::far_pairs", exec, count, pairs);
    }
  });
}

template <class Memory>
void FmmOperator<Memory>::sum_moments(const Instance<Memory>& exec, bool transposed) {
  const auto leaves = static_cast<std::int64_t>(m_prism_tree.tree.leaves.size());
  detail::launch_parts(exec, leaves, [&](std::int64_t first, std::int64_t count) {
    detail::launch_teams(
        "moho::gravity::prism_moments", exec, count,
        detail::PrismMoments{m_tables.constants, m_prism_tree.nodes.data(),
                             m_prism_tree.leaves.data() + first, m_records.data(),
                             m_prism_tree.expansions.data(), m_sorted.data(), transposed});
  });
}

template <class Memory>
void FmmOperator<Memory>::apply(const InstanceOf<Memory>& exec,
                                const DensityView<Memory>& densities,
                                const ResultView<Memory>& results) {
  detail::check_count("densities", densities.extent(0), m_prisms, "prism");
  detail::check_shape("results", results.extent(0), results.extent(1), m_components.size(),
                      m_stations);
  detail::check_contiguous(results, "results");
  const Instance<Memory>& instance = exec;
  launch("moho::gravity::set_densities", instance, m_prisms,
         detail::SetSorted{densities.data(), m_order.data(), m_records.data()});
  fill(instance, m_prism_tree.expansions, 0.0);
  fill(instance, m_station_tree.expansions, 0.0);
  fill(instance, m_sums, 0.0);
  const auto station_leaves = static_cast<std::int64_t>(m_station_tree.tree.leaves.size());
  sum_moments(instance, false);
  to_parents(instance, m_prism_tree);
  translate(instance, m_prism_tree, m_station_tree, m_far, false);
  to_children(instance, m_station_tree, m_begin, m_end);
  const detail::PartialSums sums{m_sums.data(), detail::count_of(m_plan.mask), m_slots};
  auto near = near_data(m_station_tree, m_near, m_begin, m_end);
  auto packed = packed_stations(m_begin, m_end);
  detail::launch_parts(instance, station_leaves, [&](std::int64_t first, std::int64_t count) {
    near.leaves = m_station_tree.leaves.data() + first;
    detail::sum_near(instance, m_plan.mask, near, sums, count);
  });
  detail::launch_parts(instance, station_leaves, [&](std::int64_t first, std::int64_t count) {
    packed.leaves = m_station_tree.leaves.data() + first;
    detail::add_far(instance, m_plan.mask, packed, sums, count);
  });
  detail::ReturnPlaces back{};
  back.sums = sums;
  back.station = m_station.data();
  back.results = results.data();
  back.stations = m_stations;
  back.count = m_plan.count;
  back.slot = m_plan.slot;
  back.factor = m_plan.factor;
  launch("moho::gravity::return_places", instance, m_slots, back);
}

template <class Memory>
void FmmOperator<Memory>::adjoint(const InstanceOf<Memory>& exec, const ConstResultView& weights,
                                  const Vector& densities) {
  detail::check_count("densities", densities.extent(0), m_prisms, "prism");
  detail::check_shape("weights", weights.extent(0), weights.extent(1), m_components.size(),
                      m_stations);
  detail::check_contiguous(weights, "weights");
  const Instance<Memory>& instance = exec;
  const int count = detail::count_of(m_plan.mask);
  detail::PackPlaces pack{};
  pack.weights = weights.data();
  pack.station = m_station.data();
  pack.stations = m_stations;
  pack.slots = m_slots;
  pack.packed = m_sums.data();
  unsigned used = 0;
  for (int c = 0; c < count; ++c) pack.row[c] = -1;
  for (int i = 0; i < m_plan.count; ++i) {
    pack.row[m_plan.slot[i]] = i;
    pack.factor[m_plan.slot[i]] = m_plan.factor[i];
    used |= 1u << m_plan.slot[i];
  }
  launch("moho::gravity::pack_places", instance, count * m_slots, pack);
  fill(instance, m_prism_tree.expansions, 0.0);
  fill(instance, m_station_tree.expansions, 0.0);
  const auto prism_leaves = static_cast<std::int64_t>(m_prism_tree.tree.leaves.size());
  const auto all = static_cast<std::int32_t>(m_stations);
  auto stations = packed_stations(0, all);
  detail::launch_parts(instance, static_cast<std::int64_t>(m_station_tree.tree.leaves.size()),
                       [&](std::int64_t first, std::int64_t number) {
                         stations.leaves = m_station_tree.leaves.data() + first;
                         detail::take_moments(instance, m_plan.mask, stations, m_sums.data(),
                                              number);
                       });
  to_parents(instance, m_station_tree);
  translate(instance, m_station_tree, m_prism_tree, m_far_transposed, true);
  to_children(instance, m_prism_tree, 0, static_cast<std::int32_t>(m_prisms));
  const detail::StationWeights packed{m_sums.data(), m_slots, used, false};
  auto near = near_data(m_prism_tree, m_near_transposed, 0, all);
  detail::launch_parts(instance, prism_leaves, [&](std::int64_t first, std::int64_t number) {
    near.leaves = m_prism_tree.leaves.data() + first;
    detail::transpose_near(instance, m_plan.mask, near, packed, m_sorted.data(), number);
  });
  sum_moments(instance, true);
  launch("moho::gravity::return_sorted", instance, m_prisms,
         detail::ReturnSorted{m_sorted.data(), m_order.data(), densities.data()});
}

#ifdef MOHO_GRAVITY_KERNELS
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::sum_near)
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::add_far)
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::take_moments)
MOHO_FOR_MEMORIES(MOHO_FUNCTION, extern template, detail::transpose_near)
MOHO_FOR_MEMORIES(MOHO_CLASS, extern template class, FmmOperator)
#endif

}  // namespace moho::gravity
