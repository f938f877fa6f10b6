// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Members of MigrationPlanner for shots in slabs on several devices (internal).

#include <moho/rtm/detail/migration_planner.hpp>

namespace moho::rtm::detail {

// Plans the slabs of the largest shot. Returns false if they do not fit, and the shots can stream.
template <class T, int Dim, class Memory>
bool MigrationPlanner<T, Dim, Memory>::plan_slabs(const Instance<Memory>& exec,
                                                  const survey::ShotWindow<Dim>& window,
                                                  const wave::Shot<Dim>& shot, double largest) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const int devices = m_o.stream.devices;
  plan_waves(host);
  // blocks of this codec, whose bits do not depend on other blocks, are those of the complete grid
  const bool blocks = m_request.accuracy.kind == snapshot::ErrorBound::Kind::bits;
  m_slabs = std::make_unique<SlabShots<T, Dim, Memory>>(
      exec, m_input, m_modelling, blocks ? snapshot::BlockGrid<Dim>::side(0) : 1);
  m_slabs->plan_shot(window, part_of(m_input.model, window), shot);
  m_slab_planes = window.grid.extents[0];
  for (const auto& other : m_input.shots) {
    m_slab_planes = std::min(m_slab_planes, window_of(other).grid.extents[0]);
  }
  m_slab_planes += m_slabs->modelling().grid.extents[0] - window.grid.extents[0];
  measure_slab(window);
  const std::size_t allowed = allowed_slab_bytes(devices, m_o.stream.device_memory);
  if (!slabs_fit(devices, allowed)) {
    refuse_slabs(devices);
    m_slabs.reset();
    return false;
  }
  m_slabs->open(window, part_of(m_input.model, window), shot);
  m_no_slabs.clear();
  m_slabs->allow(static_cast<double>(allowed), m_plan.storage.strategy);
  m_slabs->follow_domain(shot);
  m_plan.extents = m_slabs->modelling().grid.extents;
  m_plan.memory.peak = 0;
  for (std::size_t g = 0; g < m_slabs->own().size(); ++g) {
    m_plan.memory.peak =
        std::max(m_plan.memory.peak, static_cast<std::size_t>(m_slabs->bytes(m_slabs->own(), g)));
  }
  m_plan.memory.host = static_cast<std::size_t>(trace_bytes().host);
  m_plan.result_bytes = result_bytes(window.grid.size(), 1);
  m_plan.slabs = m_slabs->slab_plan();
  estimate(largest, m_slabs->part_stepped());
  return true;
}

// Returns true if a number of slabs fits in some bytes of each device, and sets the storage. Else
// it sets m_no_slabs and m_slab_limit.
template <class T, int Dim, class Memory>
bool MigrationPlanner<T, Dim, Memory>::slabs_fit(int devices, std::size_t allowed) {
  m_slab_limit = SlabLimit::offsets;
  try {
    m_slabs->divided(m_slab_planes, devices);
    check_slab_offsets(devices);
    m_slab_limit = SlabLimit::memory;
    m_plan.storage = slab_storage(devices, allowed);
    m_slab_limit = SlabLimit::no_limit;
    return true;
  } catch (const stream::TooManySlabs& error) {
    m_slab_limit = SlabLimit::planes;
    m_no_slabs = error.what();
    m_slab_condition = error.condition();
  } catch (const MemoryError& error) {
    m_no_slabs = error.what();
  } catch (const InputError& error) {
    m_no_slabs = error.what();
  }
  return false;
}

// Returns the least bytes of each device in which a number of slabs fits; 0 if no limit suffices.
template <class T, int Dim, class Memory>
std::size_t MigrationPlanner<T, Dim, Memory>::min_slab_bytes(int devices) {
  std::size_t low = 0, high = std::size_t{1} << 20;
  while (!slabs_fit(devices, high)) {
    if (high >> 50 > 0) return 0;
    low = high;
    high *= 2;
  }
  while (high - low > 1 + high / 4096) {
    const std::size_t middle = low + (high - low) / 2;
    (slabs_fit(devices, middle) ? high : low) = middle;
  }
  return high;
}

// Returns the numbers of slabs that suffice, from a number on. \param max receives the largest
// number with enough planes
template <class T, int Dim, class Memory>
std::vector<std::int64_t> MigrationPlanner<T, Dim, Memory>::slab_numbers(int first, int last,
                                                                         int& max) {
  std::vector<std::int64_t> numbers;
  for (int n = first; n <= last; ++n) {
    if (slabs_fit(n, allowed_slab_bytes(n, m_o.stream.device_memory))) {
      numbers.push_back(n);
    }
    if (m_slab_limit != SlabLimit::planes) max = n;
  }
  return numbers;
}

// Throws if slabs_fit() refused a number of slabs and shots may not stream. The message names
// numbers that suffice. Otherwise m_no_slabs says why the shots stream.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::refuse_slabs(int devices) {
  const SlabLimit limit = m_slab_limit;
  const std::string why = m_no_slabs, condition = m_slab_condition;
  const std::string obstacle = why.substr(0, why.rfind(": choose another"));  // without advice
  const bool divides = limit != SlabLimit::planes;
  const bool streams = (m_request.method == "auto" || m_request.method == "random") &&
                       m_o.domain == domain::ExpansionMethod::none && m_o.ranks == nullptr;
  if (limit == SlabLimit::offsets && !streams) throw InputError(why);
  const snapshot::StoragePlan before = m_plan.storage;
  int max = 1;
  std::vector<std::int64_t> numbers;
  if (!divides) {
    numbers = slab_numbers(1, devices - 1, max);
  } else if (!streams) {
    numbers = slab_numbers(2, static_cast<int>(m_slab_planes / m_slabs->halo()), max);
  }
  const int nearest = divides ? devices : max;
  const std::size_t min = numbers.empty() || divides ? min_slab_bytes(nearest) : 0;
  // a larger limit helps only if the devices have the memory
  const bool more =
      m_o.stream.device_memory > 0 && min > 0 &&
      min_of_ranks(stream::detail::allowed_device_memory(m_slabs->instances(), 0)) >= min &&
      allowed_slab_bytes(nearest, min) >= min;
  const std::string need = more ? concat("; needed on each of ", nearest,
                                         m_o.ranks != nullptr ? " ranks: " : " devices: ",
                                         stream::bytes_rounded_up(static_cast<double>(min)))
                                : std::string();
  m_no_slabs = concat("no slabs: ", obstacle, need);
  m_plan.storage = before;
  if (divides && streams) return;
  if (divides && numbers.empty() && min == 0) throw InputError(why);
  const int ranks = m_o.ranks != nullptr ? m_o.ranks->size() * m_o.processes : 0;
  const std::string text =
      concat("devices is ", devices, " (allowed: ",
             numbers.empty() ? concat("none of the numbers up to ", max, " suffices")
                             : stream::dividing_numbers(numbers, ranks));
  if (divides) throw MemoryError(concat(text, "): ", obstacle, need));
  throw InputError(concat(text, ", so that ", condition, ")", need));
}

// Plans the slabs of ranks. \throws InputError, MemoryError if they are not possible or do not fit
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::plan_ranks(const Instance<Memory>& exec,
                                                  const survey::ShotWindow<Dim>& window,
                                                  const wave::Shot<Dim>& shot, double largest) {
  m_input.options.stream.devices = m_o.ranks->size();
  check_stream();
  if (!wants_slabs()) {
    throw InputError(concat("devices is ", m_o.stream.devices,
                            " (allowed: 1 with a stream): ranks hold slabs of a shot in core"));
  }
  plan_slabs(exec, window, shot, largest);
}

// Takes the rates of the first rank, so that all ranks choose the same storage.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::share_rates() {
  if (m_o.ranks == nullptr) return;
  const auto share = [&](auto& value) { m_o.ranks->broadcast(&value, sizeof(value)); };
  share(m_rates.points), share(m_rates.memory), share(m_rates.link);
  share(m_rates.disk_write), share(m_rates.disk_read), share(m_rates.threads);
  for (snapshot::CodecRate& codec : m_rates.codecs) share(codec);
  m_request.threads = m_rates.threads;
  m_disk = static_cast<std::size_t>(m_o.ranks->min(static_cast<std::int64_t>(m_disk)));
}

// Measures rates of the first device on planes of the model, at most those of a slab.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::measure_slab(const survey::ShotWindow<Dim>& window) {
  const Instance<Memory>& exec = m_slabs->instances().front();
  const std::int64_t plane = window.grid.size() / window.grid.extents[0];
  const std::int64_t enough = std::max<std::int64_t>((std::int64_t{1} << 24) / plane, 32);
  Box<Dim> box = window.box;
  const std::int64_t own = m_slabs->modelling().grid.extents[0] / m_o.stream.devices;
  box.upper[0] =
      std::min(box.upper[0], box.lower[0] + std::min(enough, std::max<std::int64_t>(own, 32)));
  const survey::ShotWindow<Dim> part = survey::window_of(m_input.grid, box);
  wave::ModellingOptions<Dim> options = m_modelling;
  options.sources.clear();
  options.memory = std::numeric_limits<std::size_t>::max();
  auto modelling = wave::make_modelling(
      exec, part.grid, upload_model<T, Dim, Memory>(exec, part.grid, part_of(m_input.model, part)),
      m_input.faces, m_input.wavelet, options);
  measure(exec, modelling, m_o.stream.devices);
  share_rates();
}

// Returns the bytes that each of some devices may use. \param limit of a device; 0: no limit
template <class T, int Dim, class Memory>
std::size_t MigrationPlanner<T, Dim, Memory>::allowed_slab_bytes(int devices,
                                                                 std::size_t limit) const {
  const auto& instances = m_slabs->instances();
  const std::size_t others = m_o.storage.device;
  std::size_t allowed = stream::detail::allowed_device_memory(instances, limit);
  // traces and results of the shot, and arrays of the caller
  const auto besides = static_cast<std::size_t>(trace_bytes().host) +
                       result_bytes(m_slabs->window_nodes(), 1) + m_o.storage.reserved;
  const auto rest = [&](std::size_t bytes) { return bytes - std::min(bytes, besides); };
  // all slabs of a process are in the memory of a host
  const auto sharing =
      static_cast<std::size_t>(is_host_memory<Memory> && m_o.ranks == nullptr ? devices : 1);
  if (limit == 0 && others > 0) {
    allowed = std::min(allowed, (is_host_memory<Memory> ? rest(others) : others) / sharing);
  }
  if (is_host_memory<Memory>) {
    const int processes = limit > 0 || others > 0 ? 1 : 0;  // a limit applies to one process
    allowed = std::min(allowed, rest(memory_budget(instances.front(), 0, processes)) / sharing);
  }
  return min_of_ranks(allowed);
}

// Divides the rates of one thread if the slabs of a host are more than its threads.
template <class T, int Dim, class Memory>
void MigrationPlanner<T, Dim, Memory>::share_threads(int devices, snapshot::Rates& rates) {
  const int threads = Kokkos::DefaultHostExecutionSpace().concurrency();
  const double turns = std::max(1.0, static_cast<double>(devices) / threads);
  rates.points /= turns;
  rates.memory /= turns;
  for (snapshot::CodecRate& codec : rates.codecs) {
    codec.encode /= turns;
    codec.decode /= turns;
  }
}

// Returns the nodes of the snapshots of all slabs of all shots.
template <class T, int Dim, class Memory>
std::vector<Box<Dim>> MigrationPlanner<T, Dim, Memory>::slab_boxes(int devices) const {
  const auto& scheme = m_slabs->scheme();
  const std::int64_t layers = scheme.grid().extents[0] - scheme.interior().extent(0);
  std::vector<Box<Dim>> boxes;
  for (const Box<Dim>& interior : snapshot_boxes(scheme.interior())) {
    for (const PlaneRange& own : m_slabs->divided(interior.extent(0) + layers, devices)) {
      Box<Dim> box = interior;
      box.lower[0] = std::max(box.lower[0], own.begin);
      box.upper[0] = std::min(box.upper[0], own.end);
      if (!box.empty()) boxes.push_back(box);
    }
  }
  return boxes;
}

// Returns the storage of each slab in `allowed` bytes of its device. \throws MemoryError or
// InputError if the slabs do not fit
template <class T, int Dim, class Memory>
snapshot::StoragePlan MigrationPlanner<T, Dim, Memory>::slab_storage(int devices,
                                                                     std::size_t allowed) const {
  const auto& scheme = m_slabs->scheme();
  const std::vector<PlaneRange> own = m_slabs->divided(scheme.grid().extents[0], devices);
  const std::int64_t plane = scheme.grid().size() / scheme.grid().extents[0];
  double fixed = 0.0, data = 0.0, state = 0.0, random_nodes = 0.0, random_bytes = 0.0;
  std::int64_t stepped = 0, held = 0;
  for (std::size_t g = 0; g < own.size(); ++g) {
    fixed = std::max(fixed, m_slabs->bytes(own, g));
    data = std::max(data, m_slabs->data_bytes(own, g));
    state = std::max(state, m_slabs->state_bytes(own, g));
    random_nodes = std::max(random_nodes, m_slabs->random_nodes(own, g));
    random_bytes = std::max(random_bytes, m_slabs->random_bytes(own, g));
    stepped = std::max(stepped, own[g].count());
    held = std::max(held, m_slabs->held(own, g).count());
  }
  if (std::max(fixed, data) > static_cast<double>(allowed)) {
    throw MemoryError(concat("the largest slab of ", devices, " takes ",
                             format_bytes(std::max(fixed, data)), " without snapshots (allowed: ",
                             format_bytes(static_cast<double>(allowed)), " on each device)"));
  }
  Box<Dim> interior = scheme.interior();
  interior.upper[0] = interior.lower[0] + std::min(interior.extent(0), stepped);
  snapshot::ShotShape shape = shape_of(scheme, interior, static_cast<double>(stepped * plane),
                                       static_cast<double>(held * plane));
  shape.state_bytes = state / static_cast<double>(held * plane);
  shape.random_nodes = random_nodes;
  shape.random_bytes = random_bytes;
  const auto share = static_cast<std::size_t>(devices);
  snapshot::Rates rates = m_rates;
  snapshot::set_fixed_ratios(rates, sizeof(T) * shape.largest_snapshot, slab_boxes(devices));
  rates.disk_write /= devices;
  rates.disk_read /= devices;
  if (is_host_memory<Memory> && m_o.ranks == nullptr) share_threads(devices, rates);
  snapshot::Budget budget;
  budget.device = allowed - static_cast<std::size_t>(fixed);
  const bool each = m_o.ranks != nullptr && m_o.storage.disk > 0;  // a limit is that of a rank
  budget.disk = each ? m_disk : m_disk / share;
  if (!is_host_memory<Memory>) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    if (m_o.ranks == nullptr) {
      budget.host = memory_budget(host, m_o.storage.host) / share;
    } else {
      const int ranks = std::max(m_o.ranks->of_host(true), memory_sharing().host);
      const int processes = m_o.storage.host > 0 ? 1 : ranks;  // a limit is that of a rank
      budget.host = min_of_ranks(memory_budget(host, m_o.storage.host, processes));
    }
  }
  return storage_for(shape, rates, budget);
}

}  // namespace moho::rtm::detail
