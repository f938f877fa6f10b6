// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Schedules of streams, executed in exact arithmetic: a wave equation of one number in each plane,
// modulo a prime. Any plane that is read too early, too late or from the wrong slot changes the
// result.

#include <moho/core/error.hpp>
#include <moho/stream/schedule.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "stream/support.hpp"

namespace {

using moho::InputError;
using moho::PlaneRange;
using moho::stream::Schedule;
using moho::stream::StreamRange;
using moho::stream::StreamShape;
using moho::stream::StreamStage;
using moho::stream::StreamWork;
using moho::testing::Broken;
using moho::testing::draw;
using moho::testing::Number;
using moho::testing::prime;
using ::testing::HasSubstr;

/// Wave equation with a source, and receivers that read several planes.
struct Problem {
  int planes, steps, reach, width;
  std::vector<Number> stencil, model, amplitude, weight;
  int source;
  std::vector<int> receivers;  // first planes of receivers

  Problem(std::mt19937& random, int planes_, int steps_, int reach_, int width_)
      : planes(planes_), steps(steps_), reach(reach_), width(std::min(width_, planes_)) {
    const auto number = [&] { return Number(random()) % prime; };
    for (int k = 0; k < 2 * reach + 1; ++k) stencil.push_back(number());
    for (int k = 0; k < planes; ++k) model.push_back(number());
    for (int k = 0; k < steps; ++k) amplitude.push_back(number());
    for (int k = 0; k < width; ++k) weight.push_back(number());
    source = draw(random, 0, planes - 1);
    for (int k = 0; k < 3; ++k) receivers.push_back(draw(random, 0, planes - width));
  }
  template <class Now>
  Number next(int x, const Now& now, Number before, std::int64_t step) const {
    Number sum = 0;
    for (int k = 0; k < 2 * reach + 1; ++k) {
      sum = (sum + stencil[static_cast<std::size_t>(k)] * now(x + k - reach)) % prime;
    }
    const Number m = model[static_cast<std::size_t>(x)];
    Number value = (2 * now(x) + m * sum % prime + prime - before) % prime;
    if (x == source) value = (value + m * amplitude[static_cast<std::size_t>(step)]) % prime;
    return value;
  }
};

struct Result {
  std::vector<Number> now, before;
  std::vector<std::vector<Number>> gather;
};

Result in_core(const Problem& p) {
  const auto n = static_cast<std::size_t>(p.planes);
  Result r{std::vector<Number>(n), std::vector<Number>(n), {}};
  for (int step = 0; step < p.steps; ++step) {
    const auto now = [&](int x) {
      return x >= 0 && x < p.planes ? r.now[static_cast<std::size_t>(x)] : Number(0);
    };
    std::vector<Number> next(n);
    for (int x = 0; x < p.planes; ++x) {
      next[static_cast<std::size_t>(x)] =
          p.next(x, now, r.before[static_cast<std::size_t>(x)], step);
    }
    r.before = r.now;
    r.now = next;
    r.gather.emplace_back();
    for (const int first : p.receivers) {
      Number sum = 0;
      for (int k = 0; k < p.width; ++k) {
        sum = (sum +
               p.weight[static_cast<std::size_t>(k)] * r.now[static_cast<std::size_t>(first + k)]) %
              prime;
      }
      r.gather.back().push_back(sum);
    }
  }
  return r;
}

/// Slots of a device, each with its value, position and time.
struct Ring {
  struct Slot {
    std::int64_t position = -1, level = -1;
    Number value = 0;
  };
  std::vector<Slot> slots[2];
  explicit Ring(std::int64_t size) {
    for (auto& parity : slots) parity.resize(static_cast<std::size_t>(size));
  }
  Slot& slot(std::int64_t position, std::int64_t level) {
    auto& parity = slots[static_cast<std::size_t>(level + 2) % 2];
    return parity[static_cast<std::size_t>(position % static_cast<std::int64_t>(parity.size()))];
  }
  void write(std::int64_t position, std::int64_t level, Number value) {
    slot(position, level) = {position, level, value};
  }
  Number read(std::int64_t position, std::int64_t level) {
    const Slot& s = slot(position, level);
    if (s.position != position || s.level != level) {
      throw Broken(moho::concat("position ", position, " at time ", level, ": there is position ",
                                s.position, " at time ", s.level));
    }
    return s.value;
  }
};

/// Counts of a run.
struct Counts {
  std::int64_t iterations = 0, plane_steps = 0, loaded = 0, stored = 0;
};

/// Devices with rings of `ring` planes that execute a schedule, with the volume on the host.
class Chain {
 public:
  Chain(const Problem& p, const Schedule& schedule, std::int64_t ring, Counts& counts)
      : m_problem(p),
        m_schedule(schedule),
        m_devices(schedule.shape().devices),
        m_rings(static_cast<std::size_t>(m_devices), Ring(ring)),
        m_level_of(static_cast<std::size_t>(p.planes), 0),
        m_counts(counts) {
    for (auto& parity : m_host) parity.resize(static_cast<std::size_t>(p.planes));
    m_result.gather.assign(static_cast<std::size_t>(p.steps),
                           std::vector<Number>(p.receivers.size(), 0));
  }

  /// Executes an iteration. \throws Broken
  void iteration(std::int64_t i) {
    std::vector<StreamWork> work;
    for (int g = 0; g < m_devices; ++g) work.push_back(m_schedule.iteration(i, g));
    // leaving planes are read first and compared afterwards: all actions of an iteration are
    // concurrent
    std::vector<std::vector<Leaving>> leaving;
    for (int g = 0; g < m_devices; ++g) leaving.push_back(planes_that_leave(g, work[at(g)]));
    load_from_host(work[0]);
    for (int g = 1; g < m_devices; ++g) load_from_previous(g, work[at(g)], leaving[at(g - 1)]);
    for (int g = 0; g < m_devices; ++g) step(ring(g), work[at(g)]);
    for (int g = 0; g < m_devices; ++g) {
      for (const Leaving& one : leaving[at(g)]) {
        if (inside(one.plane) && ring(g).read(one.position, one.level) != one.now)
          throw Broken("changed while it left");
      }
    }
    store(work.back(), leaving.back());
    ++m_counts.iterations;
  }

  /// Returns the state of the host and the gather after all iterations.
  Result result() const {
    Result r = m_result;
    r.now = m_host[m_problem.steps % 2];
    r.before = m_host[(m_problem.steps + 1) % 2];
    return r;
  }

 private:
  struct Leaving {
    std::int64_t position, plane, level;
    Number now, before;
  };

  static std::size_t at(int g) { return static_cast<std::size_t>(g); }
  Ring& ring(int g) { return m_rings[at(g)]; }
  bool inside(std::int64_t x) const { return x >= 0 && x < m_problem.planes; }

  std::vector<Leaving> planes_that_leave(int g, const StreamWork& work) {
    std::vector<Leaving> leaving;
    for (const StreamRange& range : work.stores) {
      const std::int64_t level =
          m_schedule.first_level(range.sweep, g) + m_schedule.updates(range.sweep, g);
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x) {
        const std::int64_t q = range.position + x - range.planes.begin;
        // planes outside the volume are at rest
        const Number now = inside(x) ? ring(g).read(q, level) : Number(0);
        const Number before = inside(x) ? ring(g).read(q, level - 1) : Number(0);
        leaving.push_back({q, x, level, now, before});
      }
    }
    return leaving;
  }

  void load_from_host(const StreamWork& work) {
    for (const StreamRange& range : work.loads) {
      const std::int64_t level = m_schedule.first_level(range.sweep);
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x) {
        const std::int64_t q = range.position + x - range.planes.begin;
        const auto plane = static_cast<std::size_t>(x);
        if (inside(x) && m_level_of[plane] != level && m_schedule.range(range.sweep).contains(x)) {
          throw Broken(moho::concat("plane ", x, " was loaded before it had been stored"));
        }
        for (const std::int64_t l : {level, level - 1})
          ring(0).write(q, l, inside(x) ? m_host[(l + 2) % 2][plane] : Number(0));
        ++m_counts.loaded;
      }
    }
  }

  void load_from_previous(int g, const StreamWork& work, const std::vector<Leaving>& coming) {
    std::size_t next = 0;
    for (const StreamRange& range : work.loads) {
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x, ++next) {
        if (next >= coming.size() || coming[next].plane != x) throw Broken("the chain is torn");
        ring(g).write(coming[next].position, coming[next].level, coming[next].now);
        ring(g).write(coming[next].position, coming[next].level - 1, coming[next].before);
      }
    }
    if (next != coming.size()) throw Broken("the chain loses planes");
  }

  void step(Ring& own, const StreamWork& work) {
    for (const StreamStage& stage : work.stages) {
      const PlaneRange& planes = stage.range.planes;
      const std::int64_t shift = stage.range.position - planes.begin;
      const auto now = [&](int x) {
        return inside(x) ? own.read(x + shift, stage.level) : Number(0);
      };
      for (std::int64_t x = planes.begin; x < planes.end; ++x) {
        const Number before = own.read(x + shift, stage.level - 1);
        own.write(x + shift, stage.level + 1,
                  m_problem.next(static_cast<int>(x), now, before, stage.level));
        ++m_counts.plane_steps;
      }
      record(own, stage, shift);
    }
  }

  void record(Ring& own, const StreamStage& stage, std::int64_t shift) {
    const Problem& p = m_problem;
    for (std::size_t k = 0; k < p.receivers.size(); ++k) {
      const std::int64_t first = p.receivers[k];
      if (!stage.range.planes.contains(first + p.width - 1)) continue;
      Number sum = 0;
      for (int j = 0; j < p.width; ++j) {
        sum = (sum + p.weight[static_cast<std::size_t>(j)] *
                         own.read(first + j + shift, stage.level + 1)) %
              prime;
      }
      m_result.gather[static_cast<std::size_t>(stage.level)][k] = sum;
    }
  }

  void store(const StreamWork& work, const std::vector<Leaving>& leaving) {
    for (const Leaving& one : leaving) {
      if (!inside(one.plane)) continue;
      const auto plane = static_cast<std::size_t>(one.plane);
      if (!m_schedule.range(work.stores.front().sweep).contains(one.plane) &&
          work.stores.size() == 1) {
        continue;  // outside the range of a sweep: unchanged
      }
      m_host[(one.level + 2) % 2][plane] = one.now;
      m_host[(one.level + 1) % 2][plane] = one.before;
      m_level_of[plane] = one.level;
      ++m_counts.stored;
    }
  }

  const Problem& m_problem;
  const Schedule& m_schedule;
  int m_devices;
  std::vector<Ring> m_rings;
  std::vector<Number> m_host[2];
  std::vector<std::int64_t> m_level_of;  // time of each plane on the host
  Counts& m_counts;
  Result m_result;
};

/// Executes a schedule, with rings of `ring` planes. \throws Broken
Result stream(const Problem& p, const Schedule& schedule, std::int64_t ring, Counts& counts) {
  Chain chain(p, schedule, ring, counts);
  for (std::int64_t i = 0; i < schedule.iterations(); ++i) chain.iteration(i);
  return chain.result();
}

StreamShape draw_shape(std::mt19937& random, const Problem& p) {
  StreamShape shape;
  shape.planes = p.planes;
  shape.steps = p.steps;
  shape.halo = (p.reach + 1) / 2;
  shape.reach = p.reach;
  shape.point_planes = p.width;
  shape.block = draw(random, 1, 19);
  shape.updates = draw(random, 1, 11);
  const int more[] = {0, 0, 1, 3};
  shape.lag = shape.min_lag() + more[random() % 4];
  const int chain[] = {1, 1, 1, 2, 3};
  shape.devices = chain[random() % 5];
  return shape;
}

TEST(Schedule, GivesWhatTheWholeVolumeGives) {
  std::mt19937 random(1);
  const int reaches[] = {1, 2, 3, 4, 8}, widths[] = {1, 2, 4, 8};
  for (int n = 0; n < 1500; ++n) {
    const Problem p(random, draw(random, 1, 69), draw(random, 1, 23), reaches[random() % 5],
                    widths[random() % 4]);
    const StreamShape shape = draw_shape(random, p);
    const Schedule schedule(shape);
    Counts counts;
    const Result expected = in_core(p);
    const Result found = stream(p, schedule, schedule.ring_planes(), counts);
    ASSERT_EQ(found.now, expected.now) << "case " << n;
    ASSERT_EQ(found.before, expected.before) << "case " << n;
    ASSERT_EQ(found.gather, expected.gather) << "case " << n;
    ASSERT_EQ(counts.plane_steps, std::int64_t(p.planes) * p.steps);
    ASSERT_EQ(counts.plane_steps, schedule.plane_steps());
    ASSERT_EQ(counts.loaded, schedule.planes_loaded());
    ASSERT_EQ(counts.stored, schedule.planes_stored());
    ASSERT_EQ(counts.iterations, schedule.iterations());
    // a further iteration has no work, and the last one has some
    bool any = false;
    for (int g = 0; g < shape.devices; ++g) {
      any = any || !schedule.iteration(schedule.iterations() - 1, g).empty();
      ASSERT_TRUE(schedule.iteration(schedule.iterations(), g).empty());
    }
    ASSERT_TRUE(any);
  }
}

// A missing plane of memory or of lag is detected.
TEST(Schedule, NeedsItsRingAndItsLag) {
  std::mt19937 random(2);
  int caught[2] = {0, 0};
  for (int n = 0; n < 200; ++n) {
    const Problem p(random, draw(random, 40, 69), 12, n % 2 == 0 ? 2 : 4, 1);
    StreamShape shape;
    shape.planes = p.planes;
    shape.steps = p.steps;
    shape.reach = p.reach;
    shape.halo = p.reach;
    shape.block = draw(random, 2, 8);
    shape.updates = draw(random, 2, 5);
    Counts counts;
    const Schedule schedule(shape);
    try {
      stream(p, schedule, schedule.ring_planes() - 1, counts);
    } catch (const Broken&) {
      ++caught[0];
    }
    // a shape with a smaller reach than the problem
    shape.reach = p.reach - 1;
    const Schedule closer(shape);
    try {
      stream(p, closer, closer.ring_planes() + 2, counts);
    } catch (const Broken&) {
      ++caught[1];
    }
  }
  EXPECT_EQ(caught[0], 200);
  EXPECT_EQ(caught[1], 200);
}

// Receivers wider than twice the lag plus one read inconsistent planes.
TEST(Schedule, NeedsALagForReceivers) {
  std::mt19937 random(3);
  for (int n = 0; n < 50; ++n) {
    const Problem p(random, 60, 12, 1, 6);
    StreamShape shape;
    shape.planes = p.planes;
    shape.steps = p.steps;
    shape.halo = shape.reach = 1;
    shape.block = 4;
    shape.updates = 5;
    shape.lag = 1;
    const Schedule unaware(shape);
    Counts counts;
    EXPECT_THROW(stream(p, unaware, unaware.ring_planes() + 6, counts), Broken);
    shape.point_planes = 6;
    EXPECT_THROW(Schedule{shape}, InputError);
    shape.lag = 0;
    const Schedule aware(shape);
    EXPECT_EQ(aware.shape().lag, 3);
    EXPECT_EQ(stream(p, aware, aware.ring_planes(), counts).gather, in_core(p).gather);
  }
}

// A run that starts at a time in the middle does the remaining steps.
TEST(Schedule, BeginsWhereAnotherRunEnded) {
  StreamShape shape;
  shape.planes = 40;
  shape.steps = 23;
  shape.updates = 4;
  shape.devices = 2;
  const Schedule whole(shape);
  shape.first = 16;
  const Schedule rest(shape);
  EXPECT_EQ(whole.sweeps(), 3);
  EXPECT_EQ(rest.sweeps(), 1);
  EXPECT_EQ(rest.first_level(0, 1), 20);
  EXPECT_EQ(rest.updates(0, 1), 3);
  EXPECT_EQ(rest.plane_steps(), 40 * 7);
}

// Sweeps of an expanding domain load, step and store only their planes.
TEST(Schedule, StreamsTheRangesOfItsSweeps) {
  std::mt19937 random(5);
  for (int n = 0; n < 300; ++n) {
    const int planes = draw(random, 20, 80), steps = draw(random, 3, 20);
    StreamShape shape;
    shape.planes = planes;
    shape.steps = steps;
    shape.reach = draw(random, 1, 4);
    shape.halo = shape.reach;
    shape.block = draw(random, 1, 9);
    shape.updates = draw(random, 1, 6);
    const std::int64_t sweeps = Schedule(shape).sweeps();
    PlaneRange range{planes / 2, planes / 2 + 1};
    std::int64_t sum = 0;
    for (std::int64_t s = 0; s < sweeps; ++s) {
      range.begin = std::max<std::int64_t>(0, range.begin - draw(random, 0, 6));
      range.end = std::min<std::int64_t>(planes, range.end + draw(random, 0, 6));
      shape.ranges.push_back(range);
      sum += range.count();
    }
    const Schedule schedule(shape);
    EXPECT_EQ(schedule.planes_stored(), sum);
    std::vector<std::int64_t> stepped(static_cast<std::size_t>(planes), 0);
    std::int64_t stored = 0;
    for (std::int64_t i = 0; i < schedule.iterations(); ++i) {
      const StreamWork work = schedule.iteration(i);
      for (const StreamStage& stage : work.stages) {
        const PlaneRange& own = shape.ranges[static_cast<std::size_t>(stage.range.sweep)];
        EXPECT_EQ(intersection(own, stage.range.planes), stage.range.planes);
        for (std::int64_t x = stage.range.planes.begin; x < stage.range.planes.end; ++x) {
          ++stepped[static_cast<std::size_t>(x)];
        }
      }
      for (const StreamRange& out : work.stores) {
        stored +=
            intersection(out.planes, shape.ranges[static_cast<std::size_t>(out.sweep)]).count();
      }
    }
    EXPECT_EQ(stored, sum);
    for (std::int64_t x = 0; x < planes; ++x) {
      std::int64_t expected = 0;
      for (std::int64_t s = 0; s < sweeps; ++s) {
        if (shape.ranges[static_cast<std::size_t>(s)].contains(x)) expected += schedule.updates(s);
      }
      EXPECT_EQ(stepped[static_cast<std::size_t>(x)], expected);
    }
  }
}

// Table 6.1 and the counts of the paper: 1000 x 1000 planes of floats in blocks of 4.
TEST(Schedule, GivesThePapersTable) {
  const double block_bytes = 1000.0 * 1000.0 * 4.0 * 4.0;
  const std::pair<int, double> table[] = {{2, 0.736},  {4, 1.024},  {8, 1.6},
                                          {16, 2.752}, {32, 5.056}, {64, 9.664}};
  for (const auto& [updates, gigabytes] : table) {
    const Schedule schedule(
        moho::stream::paper_shape(1000, std::int64_t(10) * updates, 4, updates));
    // VTI: two fields at two times and three parameters, and the fields of a third time
    const double blocks = (7.0 * static_cast<double>(schedule.ring_planes()) +
                           2.0 * static_cast<double>(schedule.third_level_planes())) /
                          4.0;
    EXPECT_NEAR(blocks * block_bytes * 1e-9, gigabytes, 5e-4);
    EXPECT_EQ(schedule.iterations(), 10 * 250 + updates + 5);
  }
}

// Iterations to fill and drain a chain. The paper has D (U + 5) for D devices: planes pass through
// page-locked memory at each of them. In moho's they do so at both ends of the chain only, which
// are 2 (D - 1) iterations less.
TEST(Schedule, FillsAndDrainsAsThePapersChain) {
  const std::int64_t planes = 1000, block = 4, sweeps = 5;
  for (const std::int64_t updates : {1, 2, 8, 16}) {
    for (const int devices : {1, 2, 3, 4, 8}) {
      StreamShape shape =
          moho::stream::paper_shape(planes, sweeps * updates * devices, block, updates);
      shape.devices = devices;
      ASSERT_LE(devices, moho::stream::longest_chain(shape));
      const Schedule schedule(shape);
      ASSERT_EQ(schedule.sweeps(), sweeps);
      const std::int64_t extra = schedule.iterations() - sweeps * (planes / block);
      const std::int64_t of_paper = devices * (updates + 5);
      EXPECT_EQ(extra, devices * (updates + 3) + 2);
      EXPECT_EQ(extra, of_paper - 2 * (devices - 1));
      // without page-locked buffers, and in place, which needs no block that waits
      StreamShape own = shape;
      own.staged = false;
      own.in_place = true;
      own.hold = 0;
      EXPECT_EQ(Schedule(own).iterations() - sweeps * (planes / block), devices * (updates + 2));
    }
  }
}

/// Returns planes that stages read over planes that they step, for differences of some order.
double redundancy(const Schedule& schedule, int order) {
  std::int64_t read = 0, stepped = 0;
  for (std::int64_t i = 0; i < schedule.iterations(); ++i) {
    for (int g = 0; g < schedule.shape().devices; ++g) {
      for (const StreamStage& stage : schedule.iteration(i, g).stages) {
        read += stage.range.planes.count() + order;
        stepped += stage.range.planes.count();
      }
    }
  }
  EXPECT_EQ(stepped, schedule.plane_steps());
  return static_cast<double>(read) / static_cast<double>(stepped);
}

// The paper's redundancy of differences across planes is (k + B) / B at order k. Stages of moho
// that are not a block apart are cut at the ends of a pass: one more piece for each stage and pass.
TEST(Schedule, ReadsAsManyPlanesAsThePaper) {
  const int order = 8;
  const std::int64_t planes = 960, steps = 60;
  const std::pair<std::int64_t, double> table[] = {{4, 3.0}, {8, 2.0}, {16, 1.5}};
  for (const auto& [block, expected] : table) {
    for (const int devices : {1, 2}) {
      StreamShape shape = moho::stream::paper_shape(planes, steps, block, 5);
      shape.devices = devices;
      EXPECT_DOUBLE_EQ(redundancy(Schedule(shape), order), expected);
      shape.lag = shape.reach = order / 2;
      const double own = redundancy(Schedule(shape), order);
      EXPECT_GE(own, expected);
      EXPECT_LE(own, expected + static_cast<double>(order) / planes);
    }
  }
  // blocks as plan_stream() chooses them
  StreamShape wide;
  wide.planes = planes;
  wide.steps = steps;
  wide.reach = wide.halo = order / 2;
  wide.block = 64;
  wide.updates = 20;
  EXPECT_NEAR(redundancy(Schedule(wide), order), 1.125, static_cast<double>(order) / planes);
}

TEST(Schedule, HasAtMostAStageForEachStep) {
  StreamShape shape;
  shape.planes = 50;
  shape.steps = 10;
  shape.reach = 4;
  shape.updates = 10;
  const Schedule all(shape);
  shape.updates = 1000000;
  const Schedule more(shape);
  EXPECT_EQ(more.shape().updates, 10);
  EXPECT_EQ(more.iterations(), all.iterations());
  EXPECT_EQ(more.latency(), all.latency());
  EXPECT_EQ(more.ring_planes(), all.ring_planes());
}

TEST(Schedule, RefusesSizesThatMakeNone) {
  const auto message = [](const StreamShape& shape) -> std::string {
    try {
      Schedule{shape};
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  StreamShape shape;
  shape.planes = 50;
  shape.steps = 10;
  shape.reach = 4;
  EXPECT_EQ(message(shape), "");
  StreamShape bad = shape;
  bad.lag = 3;
  EXPECT_THAT(message(bad), HasSubstr("lag is 3 (allowed: 4 or more)"));
  bad = shape;
  bad.block = 0;
  EXPECT_THAT(message(bad), HasSubstr("block is 0"));
  bad = shape;
  bad.updates = -1;
  EXPECT_THAT(message(bad), HasSubstr("updates is -1"));
  bad = shape;
  bad.first = 10;
  EXPECT_THAT(message(bad), HasSubstr("first is 10 (allowed: 0 to 9)"));
  bad = shape;
  bad.ranges = {PlaneRange{0, 50}, PlaneRange{0, 50}};
  EXPECT_THAT(message(bad), HasSubstr("ranges: there are 2 (allowed: 10"));
  bad = shape;
  bad.updates = 5;
  bad.ranges = {PlaneRange{10, 20}, PlaneRange{12, 20}};
  EXPECT_THAT(message(bad), HasSubstr("ranges: sweep 1 has planes 12 to 19"));
}

}  // namespace
