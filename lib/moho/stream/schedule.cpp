// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/stream/schedule.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace moho::stream {

namespace {

constexpr std::int64_t max = std::int64_t(1) << 40;

void check(const char* name, std::int64_t value, std::int64_t min, const std::string& advice) {
  if (value >= min && value <= max) return;
  throw InputError(concat(name, " is ", value, " (allowed: ", min, " or more): ", advice));
}

// Rounds down, also for negative numerators.
std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

std::int64_t StreamShape::min_lag() const {
  return std::max<std::int64_t>(reach, point_planes / 2);
}

std::int64_t StreamShape::beyond() const { return std::max<std::int64_t>(reach, point_planes - 1); }

StreamShape paper_shape(std::int64_t planes, std::int64_t steps, std::int64_t block,
                        std::int64_t updates) {
  StreamShape shape;
  shape.planes = planes;
  shape.steps = steps;
  shape.block = block;
  shape.updates = updates;
  shape.lag = shape.hold = block;
  shape.reach = static_cast<int>(block);
  shape.in_place = false;
  shape.staged = true;
  return shape;
}

void run_concurrent_volumes(std::vector<StreamShape>& shapes,
                            const std::vector<std::int64_t>& zero) {
  if (shapes.empty() || zero.size() != shapes.size()) {
    throw InputError(concat("zero: there are ", zero.size(), " planes (allowed: ", shapes.size(),
                            ", one a volume, of one or more)"));
  }
  StreamShape common = shapes.front();
  std::int64_t before = 0, trailing = 0;
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const StreamShape& shape = shapes[k];
    if (shape.halo != common.halo) {
      throw InputError(concat("halo: volume ", k, " has ", shape.halo, " planes (allowed: ",
                              common.halo, ", as volume 0): take the same order for all"));
    }
    if (zero[k] < 0 || zero[k] > shape.planes) {
      throw InputError(concat("zero: that of volume ", k, " is ", zero[k], " (allowed: 0 to ",
                              shape.planes, "): a plane of the volume"));
    }
    if (!shape.ranges.empty()) {
      throw InputError("ranges: volumes side by side have none: stream all planes");
    }
    common.reach = std::max(common.reach, shape.reach);
    common.point_planes = std::max(common.point_planes, shape.point_planes);
    before = std::max(before, zero[k]);
    trailing = std::max(trailing, shape.planes - zero[k]);
  }
  common.lag = std::max(common.lag, common.min_lag());
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    StreamShape shape = common;
    shape.planes = shapes[k].planes;
    shape.before = before - zero[k];
    shape.trailing = trailing - (shape.planes - zero[k]);
    shapes[k] = shape;
  }
}

Schedule::Schedule(const StreamShape& shape) : m_shape(shape) {
  check("planes", shape.planes, 1, "those of the volume");
  check("steps", shape.steps, 1, "time steps of the run");
  if (shape.first < 0 || shape.first >= shape.steps) {
    throw InputError(concat("first is ", shape.first, " (allowed: 0 to ", shape.steps - 1,
                            "): a time before the last step"));
  }
  check("halo", shape.halo, 0, "half the order of the differences");
  check("reach", shape.reach, 1, "planes that a step reads");
  check("point_planes", shape.point_planes, 1, "planes that a receiver reads");
  check("block", shape.block, 1, "planes that arrive at a time; 32 is usual");
  check("updates", shape.updates, 1, "steps of a plane while it is on the device");
  check("devices", shape.devices, 1, "devices of the chain");
  check("hold", shape.hold, 0, "planes");
  check("before", shape.before, 0, "empty positions before the planes");
  check("behind", shape.trailing, 0, "empty positions behind the planes");
  if (!shape.ranges.empty() && (shape.before > 0 || shape.trailing > 0)) {
    throw InputError("ranges: volumes side by side have none: stream all planes");
  }
  if (m_shape.lag == 0) m_shape.lag = shape.min_lag();
  if (m_shape.lag < shape.min_lag()) {
    throw InputError(concat("lag is ", shape.lag, " (allowed: ", shape.min_lag(),
                            " or more): a step reads ", shape.reach,
                            " planes on both sides, and a receiver ", shape.point_planes));
  }
  check("lag", m_shape.lag, 1, "planes between stages");
  m_shape.updates = std::min(shape.updates, shape.steps);
  const std::int64_t each = m_shape.updates * shape.devices;
  m_sweeps = (shape.steps - shape.first + each - 1) / each;
  if (!shape.ranges.empty() && static_cast<std::int64_t>(shape.ranges.size()) != m_sweeps) {
    throw InputError(concat("ranges: there are ", shape.ranges.size(), " (allowed: ", m_sweeps,
                            ", one a sweep)"));
  }
  for (std::size_t s = 0; s < shape.ranges.size(); ++s) {
    const PlaneRange& now = shape.ranges[s];
    const bool inside = !now.empty() && now.begin >= 0 && now.end <= shape.planes;
    const bool grows =
        s == 0 || (now.begin <= shape.ranges[s - 1].begin && now.end >= shape.ranges[s - 1].end);
    if (inside && grows) continue;
    throw InputError(concat("ranges: sweep ", s, " has planes ", now.begin, " to ", now.end - 1,
                            " (allowed: some of 0 to ", shape.planes - 1,
                            ", with all of the sweep before): waves do not leave planes"));
  }
  std::int64_t position = 0;
  for (std::int64_t s = 0; s < m_sweeps; ++s) {
    m_start.push_back(position);
    if (s + 1 < m_sweeps) position += period(s);
  }
  m_end = position + positions(m_sweeps - 1);
}

std::int64_t Schedule::latency() const {
  return 2 * m_shape.block + m_shape.updates * m_shape.lag + m_shape.hold;
}

std::int64_t Schedule::ring_planes() const {
  const std::int64_t trailing = std::max<std::int64_t>(
      {m_shape.block + m_shape.hold, m_shape.reach, m_shape.point_planes - 1});
  return 2 * m_shape.block + m_shape.updates * m_shape.lag + trailing;
}

std::int64_t Schedule::third_level_planes() const {
  return m_shape.in_place ? 0 : m_shape.updates * m_shape.block;
}

std::int64_t Schedule::positions(std::int64_t sweep) const {
  return m_shape.before + range(sweep).count() + 2 * m_shape.halo + m_shape.trailing;
}

std::int64_t Schedule::period(std::int64_t sweep) const {
  const std::int64_t all = positions(sweep);
  // a plane is loaded once more after it has been stored, and when no plane near it is still
  // stepped
  const std::int64_t back =
      m_shape.devices * latency() +
      std::max<std::int64_t>({m_shape.block, m_shape.reach, m_shape.point_planes - 1});
  return std::max(all, back);
}

PlaneRange Schedule::range(std::int64_t sweep) const {
  if (m_shape.ranges.empty()) return PlaneRange{0, m_shape.planes};
  return m_shape.ranges[static_cast<std::size_t>(sweep)];
}

std::int64_t Schedule::first_level(std::int64_t sweep, int device) const {
  const std::int64_t before = (sweep * m_shape.devices + device) * m_shape.updates;
  return std::min(m_shape.first + before, m_shape.steps);
}

std::int64_t Schedule::updates(std::int64_t sweep, int device) const {
  return std::min(m_shape.updates, m_shape.steps - first_level(sweep, device));
}

std::int64_t Schedule::iterations() const {
  // the last position leaves the last device in this iteration
  const std::int64_t last = floor_div(m_end - 1 + m_shape.devices * latency(), m_shape.block);
  return last + 1 + (m_shape.staged ? 2 : 0);
}

std::vector<StreamRange> Schedule::ranges_of(std::int64_t begin, std::int64_t end, int halo) const {
  std::vector<StreamRange> result;
  if (end <= 0 || begin >= m_end) return result;
  auto s = static_cast<std::int64_t>(
      std::upper_bound(m_start.begin(), m_start.end(), std::max<std::int64_t>(begin, 0)) -
      m_start.begin() - 1);
  for (; s < m_sweeps && m_start[static_cast<std::size_t>(s)] < end; ++s) {
    const PlaneRange planes = range(s);
    // position of plane 0
    const std::int64_t zero =
        m_start[static_cast<std::size_t>(s)] + m_shape.before + m_shape.halo - planes.begin;
    const PlaneRange wanted{std::max(planes.begin - halo, begin - zero),
                            std::min(planes.end + halo, end - zero)};
    if (!wanted.empty()) result.push_back({s, wanted, zero + wanted.begin});
  }
  return result;
}

StreamWork Schedule::iteration(std::int64_t i, int device) const {
  const std::int64_t block = m_shape.block, lag = m_shape.lag;
  const std::int64_t at = (m_shape.staged ? i - 1 : i) * block - device * latency();
  StreamWork work;
  work.loads = ranges_of(at, at + block, m_shape.halo);
  for (std::int64_t u = 1; u <= m_shape.updates; ++u) {
    const std::int64_t first = at - block - u * lag;
    for (const StreamRange& part : ranges_of(first, first + block, 0)) {
      if (u > updates(part.sweep, device)) continue;
      work.stages.push_back({part, first_level(part.sweep, device) + u - 1});
    }
  }
  work.stores = ranges_of(at - latency(), at - latency() + block, m_shape.halo);
  return work;
}

std::int64_t Schedule::plane_steps() const {
  std::int64_t sum = 0;
  for (std::int64_t s = 0; s < m_sweeps; ++s) {
    for (int g = 0; g < m_shape.devices; ++g) sum += range(s).count() * updates(s, g);
  }
  return sum;
}

std::int64_t Schedule::planes_loaded() const {
  std::int64_t sum = 0;
  for (std::int64_t s = 0; s < m_sweeps; ++s) sum += range(s).count() + 2 * m_shape.halo;
  return sum;
}

std::int64_t Schedule::planes_stored() const {
  std::int64_t sum = 0;
  for (std::int64_t s = 0; s < m_sweeps; ++s) sum += range(s).count();
  return sum;
}

std::int64_t longest_chain(const StreamShape& shape) {
  StreamShape one = shape;
  one.devices = 1;
  one.ranges.clear();
  const Schedule schedule(one);
  const std::int64_t trailing =
      std::max<std::int64_t>({shape.block, shape.reach, shape.point_planes - 1});
  const std::int64_t all = shape.before + shape.planes + 2 * shape.halo + shape.trailing;
  return std::max<std::int64_t>(1, (all - trailing) / schedule.latency());
}

}  // namespace moho::stream
