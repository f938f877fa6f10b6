// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/slab_plan.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace moho::stream {

using text::counted;
using text::significant;

namespace {

constexpr std::int64_t max_updates = 400;

// Fraction of the link's rate that link-bound streams reach: 0.93 to 0.94, measured with 1 to 32
// steps in a pass (docs/performance/stream.md).
constexpr double link_use = 0.93;

// Returns the positions of a sweep: planes of the volume, and empty ones before and after them.
double positions_of(const StreamShape& shape) {
  return static_cast<double>(shape.before + shape.planes + shape.trailing);
}

// Returns nodes per second of steps on slabs of a number of planes, interpolated.
double slab_rate(const StreamRates& rates, std::int64_t planes) {
  const auto& slabs = rates.slabs;
  if (slabs.empty()) throw InputError("rates: there are none (needed: nodes a second of steps)");
  const auto after = std::lower_bound(
      slabs.begin(), slabs.end(), planes,
      [](const StreamRates::Slab& slab, std::int64_t n) { return slab.planes < n; });
  if (after == slabs.end()) return slabs.back().points_per_second;
  if (after->planes == planes) return after->points_per_second;
  // the time of a slab is linear in planes, from zero if no smaller slab was measured
  const double n1 = static_cast<double>(after->planes);
  const double t1 = n1 / after->points_per_second;
  if (after == slabs.begin()) return static_cast<double>(planes) / t1;
  const auto before = std::prev(after);
  const double n0 = static_cast<double>(before->planes);
  const double t0 = n0 / before->points_per_second;
  const double n = static_cast<double>(planes);
  return n / (t0 + (t1 - t0) * (n - n0) / (n1 - n0));
}

// Returns the seconds of a step of no planes, the cost of a further launch, from the two smallest
// slabs.
double seconds_of_nothing(const StreamRequirements& need, const StreamRates& rates) {
  if (rates.slabs.size() < 2) return 0.0;
  const auto seconds = [&](const StreamRates::Slab& slab) {
    return static_cast<double>(slab.planes) * static_cast<double>(need.plane_nodes) /
           slab.points_per_second;
  };
  const double n0 = static_cast<double>(rates.slabs[0].planes);
  const double n1 = static_cast<double>(rates.slabs[1].planes);
  const double t0 = seconds(rates.slabs[0]), t1 = seconds(rates.slabs[1]);
  return std::max(0.0, t0 - (t1 - t0) * n0 / (n1 - n0));
}

// Returns nodes per second of steps without transfers: measured, or those of the fastest slab.
double in_core_rate(const StreamRates& rates) {
  if (rates.in_core > 0.0) return rates.in_core;
  double fastest = 0.0;
  for (const StreamRates::Slab& slab : rates.slabs) {
    fastest = std::max(fastest, slab.points_per_second);
  }
  return fastest;
}

// Returns the seconds of a transfer; a rate of 0 means no transfer.
double seconds_of(double bytes, double rate) { return rate > 0.0 ? bytes / rate : 0.0; }

std::string rate_text(double rate) { return concat(significant(rate / 1e9, 3), " Gpoints/s"); }

// Returns the nodes per second of all chains of a plan.
double rate_of_chains(const StreamPlan& plan) {
  return plan.groups * plan.forecast.points_per_second;
}

// Compares two plans whose chains are equally long; equal rates are those within half a percent.
bool is_faster_or_smaller(const StreamPlan& plan, const StreamPlan& other) {
  const double margin = 1.005;
  const double rate = rate_of_chains(plan), other_rate = rate_of_chains(other);
  return rate > margin * other_rate ||
         (rate * margin >= other_rate && plan.device_bytes < other.device_bytes);
}

// Returns the plan with the longest chains, unless shorter ones are more than `gain` times as fast.
// Rates are measured, and several chains need several volumes: a small gain does not cut a chain.
const StreamPlan& longest_or_much_faster_chains(const std::map<int, StreamPlan>& plans) {
  const double gain = 2.0;
  const StreamPlan* result = &plans.rbegin()->second;
  for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
    if (rate_of_chains(plan->second) > gain * rate_of_chains(*result)) result = &plan->second;
  }
  return *result;
}

}  // namespace

void solve_launches(const LaunchSample& one, const LaunchSample& other, StreamRates& rates) {
  const double a = std::max(one.seconds - one.steps, 0.0);
  const double b = std::max(other.seconds - other.steps, 0.0);
  const double determinant = one.stages * other.iterations - other.stages * one.iterations;
  rates.stage_seconds = one.stages > 0.0 ? a / one.stages : 0.0;
  rates.iteration_seconds = 0.0;
  if (determinant == 0.0) return;
  const double stage = (a * other.iterations - b * one.iterations) / determinant;
  const double iteration = (one.stages * b - other.stages * a) / determinant;
  if (stage >= 0.0 && iteration >= 0.0) {
    rates.stage_seconds = stage;
    rates.iteration_seconds = iteration;
  } else if (stage < 0.0) {
    rates.stage_seconds = 0.0;
    rates.iteration_seconds = std::min(a / one.iterations, b / other.iterations);
  } else {
    rates.stage_seconds = std::min(rates.stage_seconds, b / other.stages);
  }
}

std::int64_t KeptPlanes::count(const StreamShape& shape) const {
  return arrays == 0 ? 0 : (shape.updates + interval - 1) / interval;
}

std::int64_t KeptPlanes::slots(const StreamShape& shape, std::int64_t n) const {
  const std::int64_t lag = shape.lag > 0 ? shape.lag : shape.min_lag();
  const std::int64_t reader = std::min((n / group + 1) * group, count(shape)) - 1;
  std::int64_t stages = (reader - n) * interval;
  if (shape.updates * shape.devices % interval != 0) {
    // The first stage that keeps planes differs among sweeps. While one sweep reads at the last
    // possible stage, the next ones may write at the first possible one.
    stages = std::min(shape.updates - 1, (reader + 1) * interval - 1) - n * interval;
  }
  const std::int64_t planes = shape.block + around + stages * lag;
  // two sweeps that begin at multiples may be align - 1 planes further apart, three twice as many
  return (planes + 3 * (align - 1)) / align * align;
}

std::int64_t KeptPlanes::ring_elements(const StreamShape& shape) const {
  std::int64_t planes = 0;
  for (std::int64_t n = 0; n < count(shape); ++n) planes += slots(shape, n);
  return arrays * planes * elements;
}

std::int64_t StreamRequirements::ring_elements(const StreamShape& given, bool resident) const {
  StreamShape one = given;
  one.ranges.clear();
  const std::int64_t beyond = given.beyond();
  const std::int64_t slots = std::max(Schedule(one).ring_planes(), 2 * beyond);
  const std::int64_t held = slots + 2 * beyond;
  // padding of arrays: a halo at both ends, and 128 bytes in front
  const auto array = [&](std::int64_t planes) {
    return (planes + 2 * given.halo) * plane_elements + 128 / scalar;
  };
  std::int64_t elements = (2 * fields + work + (resident ? 0 : parameters)) * array(held);
  if (resident) elements += parameters * array(shape.planes);
  return elements + fields * 3 * (layer_elements * held + across_elements);
}

std::size_t StreamRequirements::device_bytes(const StreamShape& given, bool resident,
                                             bool sums_held) const {
  StreamShape one = given;
  one.ranges.clear();
  std::int64_t elements = ring_elements(one, resident);
  for (const StreamRequirements& other : others) elements += other.ring_elements(one, resident);
  const std::int64_t slots = std::max(Schedule(one).ring_planes(), 2 * one.beyond());
  elements += sums * sum_elements * (sums_held ? sum_planes : slots);
  const std::int64_t window =
      std::min(given.block, shape.planes) + 2 * window_around + 2 * given.halo;
  elements += window_arrays * (window * plane_elements + 128 / scalar);
  elements += kept.ring_elements(one);
  return static_cast<std::size_t>(elements) * static_cast<std::size_t>(scalar) + fixed;
}

std::size_t StreamRequirements::host_bytes(int volumes) const {
  const std::int64_t planes = shape.planes + 2 * shape.halo;
  const std::int64_t state = 2 * fields * planes * plane_elements +
                             2 * fields * (layer_elements * shape.planes + across_elements) +
                             sums * sum_elements * sum_planes;
  const std::int64_t elements = parameters * planes * plane_elements + volumes * state;
  std::size_t bytes = static_cast<std::size_t>(elements) * static_cast<std::size_t>(scalar);
  for (const StreamRequirements& other : others) bytes += other.host_bytes(volumes);
  return bytes;
}

double StreamRequirements::share(std::int64_t planes) const {
  return static_cast<double>(planes) / positions_of(shape);
}

double StreamRequirements::plane_out(bool sums_held) const {
  const double across = static_cast<double>(across_elements) / static_cast<double>(shape.planes);
  double bytes = share(shape.planes) * scalar * fields *
                 (2.0 * static_cast<double>(plane_elements) +
                  2.0 * (static_cast<double>(layer_elements) + across));
  if (!sums_held) bytes += share(sum_planes) * scalar * sums * static_cast<double>(sum_elements);
  for (const StreamRequirements& other : others) bytes += other.plane_out();
  return bytes;
}

double StreamRequirements::plane_in(bool resident, bool sums_held) const {
  double bytes = plane_out(sums_held);
  if (resident) return bytes;
  const auto of = [](const StreamRequirements& one) {
    return one.share(one.shape.planes) * one.scalar * one.parameters *
           static_cast<double>(one.plane_elements);
  };
  bytes += of(*this);
  for (const StreamRequirements& other : others) bytes += of(other);
  return bytes;
}

double StreamRequirements::nodes() const {
  double sum = static_cast<double>(shape.planes) * static_cast<double>(plane_nodes);
  for (const StreamRequirements& other : others) sum += other.nodes();
  return sum;
}

namespace {

// Seconds of the parts of an iteration, in which each device loads, steps and stores a block.
struct IterationTimes {
  double load = 0.0, store = 0.0;  // transfers to the first device and from the last one
  double read = 0.0, write = 0.0;  // of the volume's file
  double shared = 0.0;             // traffic in the host's memory, which all devices share
  double stage = 0.0;              // of one stage of steps
  double look = 0.0;               // checks of the planes that leave
};

// Numbers of sweeps, stages and iterations of a run.
struct PassSizes {
  double devices = 1.0, block = 1.0, lag = 1.0;
  double steps = 0.0;
  double sweeps = 0.0;
  double blocks = 0.0;   // iterations in which a sweep has planes
  double latency = 0.0;  // iterations from the first load to the first store of a sweep
  double period = 0.0;   // iterations from one sweep to the next
  double stages = 0.0;   // mean number of stages of a sweep on a device
  double part = 0.0;     // fraction of the period in which a stage has planes
};

PassSizes pass_sizes(const StreamShape& shape) {
  PassSizes n;
  const auto updates = static_cast<double>(shape.updates);
  n.block = static_cast<double>(shape.block);
  n.devices = static_cast<double>(shape.devices);
  n.lag = static_cast<double>(shape.lag > 0 ? shape.lag : shape.min_lag());
  n.steps = static_cast<double>(shape.steps - shape.first);
  n.sweeps = std::ceil(n.steps / (updates * n.devices));
  n.blocks = (positions_of(shape) + 2.0 * static_cast<double>(shape.halo)) / n.block;
  n.latency =
      n.devices * (2.0 + (updates * n.lag + static_cast<double>(shape.hold)) / n.block) + 1.0;
  n.period = std::max(n.blocks, n.latency);
  // the last sweep may have fewer stages: their mean counts
  n.stages = n.steps / (n.sweeps * n.devices);
  n.part = std::min(1.0, n.blocks / n.period);
  return n;
}

// Returns the seconds of a stage of steps on a block.
double stage_seconds(const StreamRequirements& need, const StreamShape& shape,
                     const StreamRates& rates) {
  const auto block = static_cast<double>(shape.block);
  // nodes of all volumes at one position
  const double positions = positions_of(shape);
  const double nodes = need.nodes() / positions;
  const double step = block * nodes / slab_rate(rates, shape.block) +
                      seconds_of(block * need.action_bytes, rates.memory);
  // a ring repeats planes at its ends, and splits a stage in two once in each turn
  StreamShape one = shape;
  one.ranges.clear();
  const auto slots = static_cast<double>(std::max(Schedule(one).ring_planes(), 2 * shape.beyond()));
  double elements = static_cast<double>(need.plane_elements) * (need.fields + need.work);
  for (const StreamRequirements& other : need.others) {
    elements += static_cast<double>(other.plane_elements) * (other.fields + other.work);
  }
  const double repeated =
      2.0 * static_cast<double>(shape.beyond()) / slots * block * elements * need.scalar * 2.0;
  // so does the end of a sweep
  const double cut =
      rates.in > 0.0 ? (block / slots + block / positions) * seconds_of_nothing(need, rates) : 0.0;
  return step + seconds_of(repeated, rates.memory) + cut;
}

IterationTimes iteration_times(const StreamRequirements& need, const StreamShape& shape,
                               bool resident, const StreamRates& rates, bool sums_held,
                               double turns) {
  const auto block = static_cast<double>(shape.block);
  const double in = block * need.plane_in(resident, sums_held);
  const double out = block * need.plane_out(sums_held);
  IterationTimes times;
  times.load = seconds_of(in, link_use * rates.in);
  times.store = seconds_of(out, link_use * rates.out);
  // A file is written when a sweep is complete. The host reads the file, so that steps are
  // concurrent with the reading only on devices. Pages are read before they are overwritten.
  times.read = seconds_of(in + out, rates.disk_in);
  times.write = seconds_of(out, rates.disk_out);
  // A transfer reads or writes a device's memory. A host copies planes from a volume in memory to
  // each ring and back, which reads and writes.
  times.shared = seconds_of(in + out, rates.memory);
  if (rates.in <= 0.0)
    times.shared = seconds_of(rates.disk_in > 0.0 ? 0.0 : 2.0 * (turns * in + out), rates.memory);
  times.stage = stage_seconds(need, shape, rates);
  // planes that leave are checked
  double looked = need.fields;
  for (const StreamRequirements& other : need.others) looked += other.fields;
  times.look = seconds_of(looked * block * static_cast<double>(need.plane_elements) * need.scalar,
                          rates.look > 0.0 ? rates.look : rates.memory);
  return times;
}

// Returns the seconds of filling and draining: stages start and end one after the other.
double ramp_seconds(const IterationTimes& times, const PassSizes& n, const StreamRates& rates,
                    double turns, double submits) {
  double ramps = 0.0;
  const auto iterations = static_cast<std::int64_t>(std::ceil(n.latency));
  for (std::int64_t k = 0; k < iterations; ++k) {
    const double on = std::min(n.stages, static_cast<double>(k) * n.block / n.lag / n.devices);
    const double other = n.stages - on;
    const double first = submits * (rates.iteration_seconds + on * rates.stage_seconds);
    const double last = submits * (rates.iteration_seconds + other * rates.stage_seconds);
    if (rates.in > 0.0) {
      ramps += std::max({times.load, on * times.stage + times.shared, first}) +
               std::max({times.store, other * times.stage + times.shared, last});
    } else {
      ramps += std::max(times.load, turns * on * times.stage + times.shared) + first +
               std::max(times.store, turns * other * times.stage + times.shared) + last;
    }
    ramps += times.read + times.write;
  }
  return ramps;
}

}  // namespace

StreamForecast forecast(const StreamRequirements& need, const StreamShape& shape, bool resident,
                        const StreamRates& rates, bool sums_held) {
  const PassSizes n = pass_sizes(shape);
  const bool device = rates.in > 0.0;
  // one host does the work of all devices
  const double turns = rates.in_turn ? n.devices : 1.0;
  const IterationTimes times = iteration_times(need, shape, resident, rates, sums_held, turns);
  const double work = turns * (n.stages * times.stage * n.part + times.look) + times.shared;
  // one thread submits the work of all devices of a chain concurrently with that work; a host
  // submits between steps
  const double submits = device ? n.devices : turns;
  const double launches =
      submits * (rates.iteration_seconds + n.stages * rates.stage_seconds * n.part);
  const double full = (device ? std::max({times.load, times.store, work, times.read, launches})
                              : std::max({times.load, times.store, work}) + times.read + launches) +
                      times.write;
  const double steady = std::max(n.sweeps * n.period - n.latency, 0.0) * full;
  const double ramps = ramp_seconds(times, n, rates, turns, submits);
  double ideal = 0.0;  // the same iterations without filling and draining
  for (int k = 0; k < std::ceil(n.latency); ++k) ideal += full;
  StreamForecast result;
  result.seconds = steady + ramps;
  const double points = n.steps * need.nodes();
  result.points_per_second = points / result.seconds;
  result.share = result.points_per_second / (in_core_rate(rates) * n.devices);
  result.fill = std::max(0.0, ramps - ideal) / result.seconds;
  const double steps_bind = std::max({times.load, times.store, work});
  if (times.read + times.write > std::max(steps_bind, launches)) {
    result.binds = "disk";
  } else if (launches > steps_bind) {
    result.binds = "launches";
  } else if (work == steps_bind) {
    result.binds = n.latency > n.blocks ? "filling" : "steps";
  } else {
    result.binds = times.load == steps_bind ? "link in" : "link out";
  }
  return result;
}

void check_block(const StreamRequest& wishes, std::int64_t planes) {
  if (wishes.block <= planes) return;
  throw InputError(concat("block is ", wishes.block, " (allowed: 1 to ", planes,
                          ", the planes of the volume with its layers)"));
}

namespace {

void check_devices(const StreamRequest& wishes) {
  if (wishes.devices < 1) {
    throw InputError(concat("devices is ", wishes.devices, " (allowed: 1 or more)"));
  }
  if (wishes.groups < 0 || wishes.groups > wishes.devices) {
    throw InputError(concat("groups is ", wishes.groups, " (allowed: 1 to ", wishes.devices,
                            ", the devices): each group has one or more"));
  }
}

// Adds the best plan of each number of devices in a chain, by blocks and updates, for parameters
// and sums that stay on the device or move with the planes.
void add_plans(const StreamRequirements& need, const StreamRequest& wishes,
               const StreamRates& rates, bool resident, bool sums_held,
               std::map<int, StreamPlan>& plans) {
  const StreamShape& base = need.shape;
  // devices of a chain, if the volume allows it
  const int each = wishes.devices / std::max(wishes.groups, 1);
  const std::int64_t steps = base.steps - base.first;
  std::vector<std::int64_t> blocks{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192};
  if (wishes.block > 0) blocks = {wishes.block};
  const std::size_t budget = wishes.device_memory;
  const auto fits = [&](const StreamShape& shape) {
    return budget == 0 || need.device_bytes(shape, resident, sums_held) <= budget;
  };
  for (const std::int64_t block : blocks) {
    if (block > base.planes) continue;
    StreamShape shape = base;
    shape.block = block;
    shape.lag = wishes.lag;
    std::int64_t first = 1, last = std::min(max_updates, std::max<std::int64_t>(steps, 1));
    // stages beyond the run's steps would have no work
    if (wishes.updates > 0) first = last = std::min(wishes.updates, base.steps);
    for (std::int64_t updates = first; updates <= last; ++updates) {
      shape.updates = updates;
      shape.devices = 1;
      if (!fits(shape)) break;
      StreamPlan plan;
      // a chain that would wait for its own planes is split into groups
      shape.devices = static_cast<int>(std::min<std::int64_t>(each, longest_chain(shape)));
      plan.shape = shape;
      plan.resident = resident;
      plan.sums_held = sums_held;
      plan.groups = static_cast<int>(
          std::min<std::int64_t>(wishes.groups > 0 ? wishes.groups : wishes.devices / shape.devices,
                                 std::max<std::int64_t>(wishes.shots, 1)));
      plan.forecast = forecast(need, shape, resident, rates, sums_held);
      plan.device_bytes = need.device_bytes(shape, resident, sums_held);
      const auto found = plans.find(shape.devices);
      if (found == plans.end() || is_faster_or_smaller(plan, found->second)) {
        plans.insert_or_assign(shape.devices, plan);
      }
    }
  }
}

// Returns the error for a device memory below that of the smallest shape.
MemoryError too_little_memory(const StreamRequirements& need, const StreamRequest& wishes) {
  StreamShape min = need.shape;
  min.block = wishes.block > 0 ? wishes.block : 1;
  min.updates = wishes.updates > 0 ? std::min(wishes.updates, need.shape.steps) : 1;
  min.lag = wishes.lag;
  min.devices = 1;
  const std::size_t bytes = need.device_bytes(min, false);
  return MemoryError(
      concat("a device memory of ", format_bytes(static_cast<double>(wishes.device_memory)),
             " does not hold the planes of one stage (needed: ",
             bytes_rounded_up(static_cast<double>(bytes)), " or more",
             wishes.block > 0 || wishes.updates > 0 ? " with this block and these updates" : "",
             "): give more, or exchange the axes so that planes are smaller"));
}

}  // namespace

StreamPlan plan_stream(const StreamRequirements& need, const StreamRequest& wishes,
                       const StreamRates& rates) {
  check_devices(wishes);
  check_block(wishes, need.shape.planes);
  // a host that simulates devices plans as they would
  StreamRates concurrent = rates;
  concurrent.in_turn = false;
  std::map<int, StreamPlan> plans;  // the best plan of each number of devices in a chain
  // sums of a chain move with the planes, in the order of times
  const bool may_hold_sums = need.sums > 0 && wishes.devices == 1;
  for (int held = 0; held < 4; ++held) {
    const bool resident = held % 2 == 1, sums_held = held / 2 == 1;
    if ((resident && !wishes.hold_parameters) || (sums_held && !may_hold_sums)) continue;
    add_plans(need, wishes, concurrent, resident, sums_held, plans);
  }
  if (plans.empty()) throw too_little_memory(need, wishes);
  StreamPlan best = longest_or_much_faster_chains(plans);
  best.shape.lag = Schedule(best.shape).shape().lag;
  best.ring_planes = Schedule(best.shape).ring_planes();
  if (rates.in_turn) {
    best.forecast = forecast(need, best.shape, best.resident, rates, best.sums_held);
  }
  best.host_bytes = need.host_bytes();
  best.plane_in = need.plane_in(best.resident, best.sums_held);
  best.plane_out = need.plane_out(best.sums_held);
  return best;
}

std::vector<std::string> describe(const StreamPlan& plan, const StreamRequirements& need,
                                  const StreamRates& rates, double seconds) {
  std::vector<std::string> lines;
  if (plan.slabs) {
    lines.push_back(concat("the volume fits ", plan.shape.devices, " devices together (",
                           format_bytes(static_cast<double>(plan.device_bytes)),
                           " on each): each holds a slab, and neighbours exchange planes after "
                           "every step"));
    const StreamForecast& predicted = plan.forecast;
    if (predicted.points_per_second > 0.0) {
      lines.push_back(concat("forecast: ", rate_text(predicted.points_per_second), ", ",
                             significant(predicted.seconds, 3), " s a shot"));
    }
    return lines;
  }
  if (plan.in_core) {
    const StreamShape& shape = plan.shape;
    const bool in_blocks = shape.block < shape.planes || shape.updates > 1;
    lines.push_back(concat(
        "the volume fits the device (", format_bytes(static_cast<double>(plan.device_bytes)),
        "): nothing streams",
        plan.groups > 1 ? concat(", and ", plan.groups, " devices have shots of their own") : ""));
    if (in_blocks) {
      lines.push_back(concat("stepped in place in blocks of ", counted(shape.block, "plane"), ", ",
                             counted(shape.updates, "step"), " in a pass, ",
                             counted(shape.lag, "plane"), " between stages"));
    }
    return lines;
  }
  const StreamShape& shape = plan.shape;
  lines.push_back(concat(
      "blocks of ", counted(shape.block, "plane"), ", ", counted(shape.updates, "step"),
      " in a pass, ", counted(shape.lag, "plane"), " between stages, ",
      plan.groups > 1 ? concat(plan.groups, " chains of ") : "", counted(shape.devices, "device"),
      plan.groups > 1     ? ", each with shots of its own"
      : shape.devices > 1 ? " in a chain"
                          : ""));
  lines.push_back(concat(format_bytes(static_cast<double>(plan.host_bytes)), " on the host, ",
                         format_bytes(static_cast<double>(plan.device_bytes)),
                         " on each device: ", need.others.empty() ? "a ring" : "rings", " of ",
                         counted(plan.ring_planes, "plane"),
                         plan.resident ? ", and all parameters" : "",
                         plan.sums_held ? ", and all sums" : ""));
  const double nodes = need.nodes() / positions_of(shape);
  lines.push_back(concat(significant(plan.plane_in / nodes, 3), " bytes a node in and ",
                         significant(plan.plane_out / nodes, 3), " out, every ",
                         counted(shape.updates, "step")));
  if (rates.in > 0.0) {
    lines.push_back(concat("measured: ", significant(rates.in / 1e9, 3), " GB/s in and ",
                           significant(rates.out / 1e9, 3), " out at the same time, steps at ",
                           rate_text(slab_rate(rates, shape.block)), " on blocks and ",
                           rate_text(in_core_rate(rates)), " in core"));
  }
  if (rates.disk_in > 0.0) {
    lines.push_back(concat("measured: ", significant(rates.disk_in / 1e9, 3),
                           " GB/s from the disk and ", significant(rates.disk_out / 1e9, 3),
                           " to it; what the system keeps of the file in memory is read faster"));
  }
  const StreamForecast& f = plan.forecast;
  std::string binds = f.binds;
  if (binds == "steps") binds = "the device's steps bind";
  if (binds == "launches") binds = "launching kernels and copies binds";
  if (binds == "link in" || binds == "link out") binds = concat("the ", binds, " binds");
  if (binds == "disk") binds = "the disk binds";
  if (binds == "filling") binds = "the volume is shorter than the chain, which waits";
  const std::string share = f.share <= 1.0 ? concat(", ", significant(100.0 * f.share, 3), " % of ",
                                                    rates.in_core > 0.0 || rates.in > 0.0
                                                        ? "in core"
                                                        : "steps without copies and launches")
                                           : std::string();
  lines.push_back(concat("predicted: ", rate_text(f.points_per_second), share, "; ", binds, "; ",
                         significant(seconds > 0.0 ? seconds : f.seconds, 3), " s a shot"));
  if (rates.in_turn && shape.devices * plan.groups > 1) {
    lines.push_back(concat("one host stands in for ", shape.devices * plan.groups,
                           " devices: it does their work one after the other"));
  }
  return lines;
}

}  // namespace moho::stream
