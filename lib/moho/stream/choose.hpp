// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Choice of the volume's location in Streaming, and its allocation (internal).

#include <moho/core/timer.hpp>
#include <moho/stream/kernel/launches.hpp>
#include <moho/stream/modelling.hpp>
#include <moho/stream/slab_plan.hpp>

namespace moho::stream {

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::choose() {
  StreamRequest allowed = m_options.wishes;
  collectively([&] { m_fewest && !m_options.divided ? decide_fewest(allowed) : decide(allowed); });
  m_rates = m_options.rates;
  if (m_world != nullptr) share(allowed);
  if (m_options.divided) collectively([&] { divide(allowed); });
  collectively([&] {
    const bool first = m_world == nullptr || m_world->rank() == 0;
    if (m_cut && m_options.divided) return forecast_slabs();
    if (!m_options.measure || m_whole || m_cut || !first) return;
    measure_rates<T, Dim, Memory>(m_instances.front(), *m_schemes.front(), m_need, allowed,
                                  m_rates);
    measure_moves<T, Dim, Memory>(m_instances.front(), *m_schemes.front(), m_rates);
    measure_stages();
    // under mpirun each rank has a separate processor
    m_rates.in_turn = is_host_memory<Memory> && m_world == nullptr;
    if (!m_options.file.empty()) measure_disk(m_options.file, m_rates.disk_in, m_rates.disk_out);
  });
  if (m_world != nullptr) {
    // one plan for all ranks
    auto slabs = static_cast<std::int64_t>(m_rates.slabs.size());
    m_world->broadcast(&slabs, sizeof(slabs));
    m_rates.slabs.resize(static_cast<std::size_t>(slabs));
    m_world->broadcast(m_rates.slabs.data(), m_rates.slabs.size() * sizeof(StreamRates::Slab));
    for (double* rate :
         {&m_rates.in, &m_rates.out, &m_rates.memory, &m_rates.disk_in, &m_rates.disk_out,
          &m_rates.in_core, &m_rates.look, &m_rates.stage_seconds, &m_rates.iteration_seconds}) {
      m_world->broadcast(rate, sizeof(double));
    }
  }
  collectively([&] { settle(allowed); });
  if (m_world != nullptr) join();
  const int sharing = m_world != nullptr                ? m_world->of_host(leads())
                      : m_options.modelling.memory == 0 ? memory_sharing().host
                                                        : 1;
  collectively([&] { check_host(sharing); });
  m_schedule = std::make_unique<Schedule>(m_plan.shape);
  if (m_cut) m_plan.shape.devices = m_options.wishes.devices;
}

// Measures the cost of stages and iterations without steps and bytes. Streams of a few nodes with
// the same medium, faces and number of receivers run with 1 and with 8 steps in a pass.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::measure_stages() {
  const Grid<Dim> grid = detail::small_grid(m_model_grid, m_options.modelling.order);
  const auto model = detail::uniform_model<T, Dim>(m_model, grid);
  const wave::Shot<Dim> shot = detail::small_shot(grid, m_receivers);
  StreamingOptions<Dim> options;
  options.modelling = m_options.modelling;
  options.modelling.sources.clear();
  const std::int64_t every = std::max<std::int64_t>(m_sampling.every, 1);
  const double interval = m_modelling.time.dt * static_cast<double>(every);
  options.modelling.time = {interval * static_cast<double>((15 + every) / every),
                            m_modelling.time.dt, m_options.modelling.time.interval, 0.0};
  options.in_core = false;
  options.measure = false;
  options.rates.slabs = {{4, 1e9}};
  options.wishes.block = 4;
  const std::vector<double> wavelet = detail::unit_wavelet(m_modelling.wavelet);
  LaunchSample samples[2];
  for (int k = 0; k < 2; ++k) {
    options.wishes.updates = k == 0 ? 1 : 8;
    Streaming small(
        m_instances.front(), grid, model, detail::thin_layers(m_modelling.faces),
        [&](double) { return wavelet; }, {shot}, options);
    small.shot(shot);
    LaunchSample& sample = samples[k];
    for (int trial = 0; trial < 3; ++trial) {
      const StreamReport report = small.shot(shot).report;
      if (trial > 0 && report.seconds >= sample.seconds) continue;
      sample.seconds = report.seconds;
      sample.iterations = static_cast<double>(report.iterations);
      sample.steps =
          is_host_memory<Memory> ? report.points / m_rates.slabs.front().points_per_second : 0.0;
    }
    sample.stages = count_stages(*small.m_schedule);
  }
  solve_launches(samples[0], samples[1], m_rates);
}

// Chooses the fewest devices that hold the grid completely or in slabs; all, if no fewer suffice.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::decide_fewest(StreamRequest& allowed) {
  StreamRequest& wishes = m_options.wishes;
  const int all = wishes.devices;
  const bool requested = wishes.groups > 0 || wishes.block > 0 || wishes.updates > 0;
  for (int devices = requested ? all : 1; devices <= all; ++devices) {
    wishes.devices = allowed.devices = devices;
    decide(allowed);
    if (m_whole || m_cut) break;
  }
  keep_devices(wishes.devices);
}

// Decides whether each device holds the complete grid, or a slab of it; otherwise it streams.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::decide(StreamRequest& allowed) {
  const StreamRequest& wishes = m_options.wishes;
  if (wishes.groups < 0 || wishes.groups > wishes.devices) {
    throw InputError(concat("groups is ", wishes.groups, " (allowed: 1 to ", wishes.devices,
                            ", the devices): each group has one or more"));
  }
  const bool in_file = !m_options.file.empty();
  if (in_file && m_world != nullptr) {
    throw InputError(
        "ranks: a volume in a file is that of one process (allowed among ranks: in memory): run it "
        "without mpirun, or keep the volume in memory");
  }
  if (in_file && wishes.groups > 1) {
    throw InputError(concat("groups is ", wishes.groups,
                            " (allowed: 1 with a volume in a file, which one shot goes on with): "
                            "keep the volume in memory"));
  }
  if (in_file) allowed.groups = 1;
  const bool requested_steps = wishes.block > 0 || wishes.updates > 0;
  // devices with separate shots, without a request for chains
  const bool separate =
      wishes.groups == wishes.devices ||
      (m_world != nullptr && wishes.groups == 0 && wishes.shots >= wishes.devices);
  const bool may_be_whole = m_options.in_core && !in_file && separate;
  if constexpr (is_host_memory<Memory>) {
    m_whole = may_be_whole || (m_options.in_core && !in_file && wishes.devices == 1);
  } else {
    allowed.device_memory = detail::allowed_device_memory(m_instances, wishes.device_memory);
    const std::size_t in_core =
        std::max(m_modelling.memory.peak, m_modelling.memory.model + m_modelling.memory.extended) +
        m_need.fixed;
    m_whole = m_options.in_core && !in_file && !requested_steps &&
              (wishes.devices == 1 || separate) && in_core <= allowed.device_memory;
    if (m_whole) m_plan.device_bytes = in_core;
  }
  if (m_options.divided) m_whole = false;
  if (m_options.divided) return;
  const std::int64_t halo = m_need.shape.beyond();
  if (m_options.in_core && !m_whole && wishes.devices > 1 && wishes.groups <= 1 &&
      !requested_steps && !in_file && m_world == nullptr) {
    m_plan.device_bytes = equal_slab_bytes(wishes.devices);
    const bool long_enough = m_need.shape.planes / wishes.devices >= halo;
    m_cut =
        long_enough && (allowed.device_memory == 0 || m_plan.device_bytes <= allowed.device_memory);
  }
}

// Returns the memory of a slab of the model and its wavefield. \param own planes that it steps
template <class T, int Dim, class Memory>
std::size_t Streaming<T, Dim, Memory>::slab_bytes(const PlaneRange& own) const {
  const std::int64_t halo = m_need.shape.beyond();
  const PlaneRange planes =
      intersection(PlaneRange{own.begin - halo, own.end + halo}, {0, m_need.shape.planes});
  const std::int64_t held = planes.count() + 2 * m_need.shape.halo;
  std::int64_t elements =
      (m_need.parameters + (m_shape->q_factors || m_shape->pressure_factors ? 1 : 0) +
       2 * m_need.fields + m_need.work) *
          m_need.plane_elements * held +
      3 * m_need.fields * (m_need.layer_elements * held + m_need.across_elements);
  if (m_modelling.time.snapshot_every > 0) {
    elements += wave::SnapshotOptions().slots * own.count() * m_need.plane_nodes;
  }
  return static_cast<std::size_t>(elements) * sizeof(T) + m_need.fixed;
}

// Returns the memory of the largest of some slabs.
template <class T, int Dim, class Memory>
std::size_t Streaming<T, Dim, Memory>::max_bytes(const std::vector<PlaneRange>& parts) const {
  std::size_t max = 0;
  for (const PlaneRange& part : parts) max = std::max(max, slab_bytes(part));
  return max;
}

// Returns the memory of the largest of some slabs with equal numbers of planes.
template <class T, int Dim, class Memory>
std::size_t Streaming<T, Dim, Memory>::equal_slab_bytes(std::int64_t devices) const {
  std::size_t max = 0;
  for (std::int64_t g = 0; g < devices; ++g) {
    max = std::max(max, slab_bytes(detail::slab_planes(m_need.shape.planes, devices, g)));
  }
  return max;
}

// Returns the ranks of a shot in slabs: as few as have the memory and leave no rank without a shot.
template <class T, int Dim, class Memory>
std::int64_t Streaming<T, Dim, Memory>::ranks_of_shot(std::int64_t min) const {
  const std::int64_t ranks = m_world->size(), shots = m_options.wishes.shots;
  const std::int64_t max = std::max<std::int64_t>(m_need.shape.planes / m_need.shape.beyond(), 1);
  std::int64_t result = 0;
  for (std::int64_t n = 1; n <= ranks && n <= max; ++n) {
    if (ranks % n != 0 || n < min) continue;
    result = n;
    if (ranks / n <= shots) break;
  }
  return result > 0 ? result : ranks;
}

// Gives each device a slab, and refuses numbers of devices that do not hold the grid.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::divide(const StreamRequest& allowed) {
  const std::int64_t planes = m_need.shape.planes, halo = m_need.shape.beyond();
  const bool over_ranks = m_world != nullptr;
  const auto fits = [&](std::int64_t devices) {
    return planes / devices >= halo &&
           (allowed.device_memory == 0 || equal_slab_bytes(devices) <= allowed.device_memory);
  };
  std::int64_t devices = m_options.wishes.devices, min = over_ranks ? 1 : 2;
  while (!fits(min) && planes / (min + 1) >= halo) ++min;
  if (m_fewest && over_ranks) {
    devices = ranks_of_shot(min);
  } else if (m_fewest && fits(min)) {
    devices = std::min(devices, min);
  }
  if (!fits(devices) || (over_ranks && m_world->size() % devices != 0)) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t n = 1; n <= std::max<std::int64_t>(planes / halo, 1); ++n) {
      if (fits(n)) numbers.push_back(n);
    }
    refuse_division(devices, numbers, allowed.device_memory);
  }
  m_plan.device_bytes = equal_slab_bytes(devices);
  m_options.wishes.devices = static_cast<int>(devices);
  m_slab_limit = allowed.device_memory;
  m_cut = true;
  if (!over_ranks) keep_devices(devices);
}

// Keeps the first devices of this process.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::keep_devices(std::int64_t devices) {
  m_instances.resize(static_cast<std::size_t>(devices), m_instances.front());
  m_schemes.resize(static_cast<std::size_t>(devices));
}

// Throws for a number of devices. \param numbers of devices whose slabs have the planes and the
// memory \param memory of a device, bytes
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::refuse_division(std::int64_t devices,
                                                const std::vector<std::int64_t>& numbers,
                                                std::size_t memory) const {
  const std::int64_t planes = m_need.shape.planes, halo = m_need.shape.beyond();
  const std::int64_t max = std::max<std::int64_t>(planes / halo, 1);
  const std::int64_t ranks = m_world != nullptr ? m_world->size() : 0;
  std::vector<std::int64_t> dividing;
  for (const std::int64_t n : numbers) {
    if (ranks % n == 0) dividing.push_back(n);
  }
  // other numbers suffice with another number of ranks
  const bool others = dividing.empty() && !numbers.empty();
  const std::string list = numbers.empty() ? concat("none of the numbers up to ", max)
                                           : device_numbers(others ? numbers : dividing);
  const std::string groups =
      concat("divisors of ", ranks, ", the ranks, which form groups of this size)");
  const std::string multiple =
      others ? concat(": take a multiple of ", numbers.front(), " ranks") : "";
  if (devices > max) {
    throw InputError(concat("devices is ", devices, " (allowed: ", list, " for a grid of ", planes,
                            " planes, of which each reads ", halo, " of its neighbours)", multiple,
                            numbers.empty() ? needed_text(max, memory) : ""));
  }
  if (ranks % devices != 0) {
    throw InputError(concat("devices is ", devices, " (allowed: ", list, ", ", groups, multiple,
                            numbers.empty() ? needed_text(max, memory) : ""));
  }
  throw MemoryError(concat(
      "a device memory of ", format_bytes(static_cast<double>(memory)), " does not hold a slab of ",
      shape_string(m_modelling.grid), " nodes on each of ", devices,
      " devices (needed: ", bytes_rounded_up(static_cast<double>(equal_slab_bytes(devices))), "): ",
      numbers.empty() ? "no number of devices suffices, take fewer nodes"
      : others        ? concat("take a multiple of ", numbers.front(), " ranks")
                      : concat("take ", list, " devices")));
}

// Returns the bytes that slabs of a number of devices need, and those allowed, as text.
template <class T, int Dim, class Memory>
std::string Streaming<T, Dim, Memory>::needed_text(std::int64_t devices, std::size_t memory) const {
  return concat(": a slab of ", devices, " takes ",
                bytes_rounded_up(static_cast<double>(equal_slab_bytes(devices))),
                " (allowed: ", format_bytes(static_cast<double>(memory)), ")");
}

// Forecasts a run in slabs. Devices step the edges concurrently with the other planes, unless both
// share intermediate arrays.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::forecast_slabs() {
  m_rates.in_turn = is_host_memory<Memory> && m_world == nullptr;
  const std::int64_t devices = m_options.wishes.devices, planes = m_need.shape.planes;
  const std::int64_t edge = m_need.shape.beyond(), edges = std::min<std::int64_t>(devices - 1, 2);
  const std::int64_t own = (planes + devices - 1) / devices;
  const bool separate = !is_host_memory<Memory> && steps_edges_apart(*m_schemes.front());
  const std::int64_t first = separate ? 0 : edges * edge, rest = own - first;
  if (m_options.measure) {
    std::vector<std::int64_t> measured{edge};
    if (rest > edge) measured.push_back(rest);
    m_rates.slabs = measure_slabs<T, Dim, Memory>(m_instances.front(), *m_schemes.front(), measured,
                                                  m_sampling.steps * m_options.wishes.shots);
  }
  if (m_rates.slabs.empty()) return;
  const auto nodes = static_cast<double>(m_need.plane_nodes);
  const double of_edge = m_rates.slabs.front().points_per_second;
  const double of_rest = m_rates.slabs.back().points_per_second;
  const double edge_seconds = nodes * static_cast<double>(first) / of_edge;
  double step =
      edge_seconds + nodes * static_cast<double>(std::max<std::int64_t>(rest, 0)) / of_rest;
  if (m_rates.in_turn) step *= static_cast<double>(devices);
  StreamForecast& forecast = m_plan.forecast;
  forecast.seconds = step * static_cast<double>(m_sampling.steps);
  forecast.points_per_second = nodes * static_cast<double>(planes) / step;
  forecast.binds = "steps";
  m_slab_rate = nodes * static_cast<double>(planes) / static_cast<double>(devices) / step;
  m_forecast_rate = m_rates.in_turn ? forecast.points_per_second : m_slab_rate;
}

// Decisions common to all ranks: the smallest resources count.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::share(StreamRequest& allowed) {
  const auto memory = static_cast<std::int64_t>(allowed.device_memory);
  allowed.device_memory = static_cast<std::size_t>(m_world->min(memory));
  m_whole = m_world->min(m_whole ? 1 : 0) == 1;
}

// Makes the plan.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::settle(const StreamRequest& allowed) {
  const StreamRequest& wishes = m_options.wishes;
  if (m_cut) {
    m_plan.shape = m_need.shape;
    m_plan.shape.block = m_need.shape.planes;
    m_plan.in_core = m_plan.slabs = m_plan.resident = true;
    m_parts = equal_parts(m_need.shape.planes, wishes.devices, m_need.shape.beyond());
    m_plan.slab_planes = detail::plane_counts(m_parts);
    m_plan.host_bytes = m_modelling.memory.model;
    const int groups = m_world != nullptr ? m_world->size() / wishes.devices : 1;
    m_plan.groups = static_cast<int>(std::min<std::int64_t>(groups, wishes.shots));
    return;
  }
  if (!m_whole) {
    StreamRequest chosen = allowed;
    // parameters arrive with the planes from the rank that holds them
    if (m_world != nullptr) chosen.hold_parameters = false;
    m_plan = plan_stream(m_need, chosen, m_rates);
    if (m_world == nullptr) m_plan.host_bytes = m_need.host_bytes(m_plan.groups);
    return;
  }
  StreamShape shape = m_need.shape;
  shape.block = shape.planes;
  if (is_host_memory<Memory> && (wishes.block > 0 || wishes.updates > 0)) {
    // a pass has at most the steps of the run
    shape.updates =
        std::clamp<std::int64_t>(wishes.updates, 1, std::max<std::int64_t>(shape.steps, 1));
    shape.lag = wishes.lag > 0 ? wishes.lag : shape.min_lag();
    check_block(wishes, shape.planes);
    shape.block = wishes.block > 0 ? wishes.block
                                   : std::min(std::max<std::int64_t>(shape.lag, 4), shape.planes);
  }
  m_plan.shape = shape;
  m_plan.in_core = true;
  m_plan.resident = true;
  m_plan.groups = static_cast<int>(std::min<std::int64_t>(wishes.devices, wishes.shots));
  m_plan.host_bytes = is_host_memory<Memory> ? m_modelling.memory.peak : m_modelling.memory.model;
  if (is_host_memory<Memory>) m_plan.device_bytes = m_plan.host_bytes;
}

// Joins the chain or the slabs of this rank: ranks are consecutive, as are their devices.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::join() {
  const int length = m_cut ? m_options.wishes.devices : m_plan.shape.devices;
  const int number = m_world->rank() / length;
  m_chain_index = m_world->rank() % length;
  m_idle = number >= m_plan.groups;
  m_ranks = m_world->part(m_idle ? -1 : number);
  if (length == 1) m_ranks.reset();
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::check_host(int sharing) const {
  if (!m_options.file.empty() || m_cut || !leads()) return;
  const std::size_t free =
      memory_budget(detail::host_instance(), m_options.modelling.memory, sharing);
  if (m_plan.host_bytes <= free) return;
  throw MemoryError(concat(
      "memory: the volume of ", shape_string(m_modelling.grid), " nodes takes ",
      format_bytes(static_cast<double>(m_plan.host_bytes)),
      " on the host (allowed: ", format_bytes(static_cast<double>(free)),
      m_options.modelling.memory > 0 ? ", as asked" : ", what is free",
      sharing > 1 ? concat(" for each of ", sharing, " volumes of this machine") : std::string(),
      m_plan.groups > 1 && (m_world == nullptr || sharing > 1)
          ? "): keep it in a file, take fewer groups, or fewer nodes"
          : "): keep it in a file, or take fewer nodes"));
}

// Divides the grid, and loads the model.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::load_slabs() {
  const Stopwatch watch;
  m_slabs.reset();
  m_slabs = std::make_unique<Slabs<T, Dim, Memory>>(m_instances, m_schemes, m_need.shape.beyond(),
                                                    m_parts, m_model_grid, m_model,
                                                    m_modelling.random, m_ranks.get());
  m_division_seconds = watch.seconds();
  m_plan.slab_planes = detail::plane_counts(m_parts);
}

// Returns the planes of slabs for which a shot takes the least time.
template <class T, int Dim, class Memory>
std::vector<PlaneRange> Streaming<T, Dim, Memory>::parts_for(
    const std::vector<detail::BoxSteps>& boxes) const {
  const std::int64_t planes = m_need.shape.planes, halo = m_need.shape.beyond();
  const std::vector<PlaneRange> equal =
      equal_parts(planes, static_cast<std::int64_t>(m_parts.size()), halo);
  return detail::balanced_parts({planes, halo, 1, {0, planes}}, equal, boxes,
                                [&](const std::vector<PlaneRange>& parts) {
                                  const auto too_large = [&](const PlaneRange& own) {
                                    return m_slab_limit > 0 && slab_bytes(own) > m_slab_limit;
                                  };
                                  return std::none_of(parts.begin(), parts.end(), too_large);
                                });
}

// Sets the memory of the present slabs, and the forecast of a shot with the boxes of the latest.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::plan_parts() {
  m_plan.slab_planes = detail::plane_counts(m_parts);
  m_plan.device_bytes = max_bytes(m_parts);
  if (m_boxes.empty() || !(m_forecast_rate > 0.0)) return;
  double points = 0.0;
  for (const detail::BoxSteps& box : m_boxes) {
    points += static_cast<double>(box.planes.count()) * box.nodes * box.steps;
  }
  // slabs in turn: the time of all nodes; concurrent ones: of the slab with most nodes in each step
  const double waited = m_rates.in_turn ? points : detail::work_of(m_parts, m_boxes).steps;
  m_plan.forecast.seconds = waited / m_forecast_rate;
  m_plan.forecast.points_per_second = points / m_plan.forecast.seconds;
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::cut_for(const std::function<Box<Dim>(std::int64_t level)>& boxes) {
  if (!m_cut || m_idle || !m_options.balance || !boxes) return;
  m_boxes = detail::box_steps<Dim>(boxes, m_sampling.steps);
  m_parts = parts_for(m_boxes);
  plan_parts();
}

// Moves the cuts before a shot, where its steps gain more than the division takes.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::follow(const std::function<Box<Dim>(std::int64_t level)>& boxes) {
  m_boxes.clear();
  if (!m_options.balance || !boxes) return;
  m_boxes = detail::box_steps<Dim>(boxes, m_sampling.steps);
  plan_parts();
  const std::vector<PlaneRange> parts = parts_for(m_boxes);
  if (parts == m_parts) return;
  const double present = detail::work_of(m_parts, m_boxes).steps;
  const double saved = present - detail::work_of(parts, m_boxes).steps;
  // slabs that are stepped in turn do not wait for each other
  const double rate = m_rates.in_turn ? 0.0 : m_slab_rate;
  const double gain = rate > 0.0 ? saved / rate : 0.0;
  const double cost =
      m_options.division_seconds < 0.0 ? m_division_seconds : m_options.division_seconds;
  char moves = gain >= cost && saved > 0.0 ? 1 : 0;
  if (m_ranks) m_ranks->broadcast(&moves, sizeof(moves));
  if (moves == 0) return;
  m_parts = parts;
  plan_parts();
  const auto load = [&] { load_slabs(); };
  m_ranks ? m_ranks->collectively(load) : load();
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::prepare(const std::function<Box<Dim>(std::int64_t level)>& boxes) {
  if (!m_chains.empty() || m_slabs || m_idle) return;
  if (m_cut) {
    if (!m_ranks) cut_for(boxes);
    load_slabs();
    if (!m_options.balance) m_model = {};
    return;
  }
  const auto count = static_cast<std::size_t>(chains());
  if (m_whole) {
    for (std::size_t k = 0; k < count; ++k) {
      const Instance<Memory>& exec = instance(k, 0);
      auto model = detail::model_in<T, Dim, Memory>(exec, m_model_grid, m_model);
      if (k + 1 == count) m_model = {};
      const auto extended = wave::extend_model<T, Dim, Memory>(
          exec, m_model_grid, model, m_modelling.faces, m_modelling.random);
      exec.fence();
      model = {};
      m_chains.emplace_back().push_back(
          std::make_unique<Device>(exec, scheme(k, 0), *m_shape, extended));
    }
    return;
  }
  VolumeOptions volume;
  volume.sources = m_sources;
  volume.file = m_options.file;
  volume.key = m_options.key;
  volume.resume = m_options.resume;
  if (!m_options.file.empty()) volume.rows = m_sampling.rows;  // of a run that goes on
  volume.receivers = m_receivers;
  for (std::size_t k = 0; k < count && leads(); ++k) {
    // all volumes share the model
    const HostVolume<T, Dim>* const first = k > 0 ? m_volumes.front().get() : nullptr;
    m_volumes.push_back(std::make_unique<HostVolume<T, Dim>>(*m_schemes.front(), volume, first));
    if (k > 0) continue;
    m_volumes.front()->load(m_instances.front(), *m_schemes.front(), m_model_grid, m_model,
                            m_modelling.random);
  }
  m_model = {};
  for (const auto& one : m_volumes) m_locked = m_locked && one->lock(m_lock);
  m_lock_text = m_lock.why();
  for (std::size_t k = 0; k < count; ++k) {
    Chain& chain = m_chains.emplace_back();
    for (std::size_t g = 0; g < devices(); ++g) {
      chain.push_back(std::make_unique<Device>(instance(k, g), scheme(k, g), *m_shape, *m_schedule,
                                               m_ranks ? m_chain_index : static_cast<int>(g),
                                               m_plan.resident));
      if (m_plan.resident) chain.back()->load_parameters(m_volumes[k]->parameters());
    }
  }
}

}  // namespace moho::stream
