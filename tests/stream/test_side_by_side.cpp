// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Two concurrent volumes in one stream, with sums of products of their waves at equal times,
// executed in exact arithmetic. The tests cover the planes that an action before a stage may read,
// and detect a missing plane of ring or lag.

#include <moho/core/error.hpp>
#include <moho/stream/schedule.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "stream/support.hpp"

namespace {

using moho::InputError;
using moho::PlaneRange;
using moho::stream::run_concurrent_volumes;
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

std::size_t at(std::int64_t x) { return static_cast<std::size_t>(x); }

/// Wave of one number in each plane.
///
/// Its first `still` steps are known: it begins with the times still - 1 and still.
struct Wave {
  int planes, reach, still, zero;
  std::vector<Number> stencil, model, now, before;
  Wave(std::mt19937& random, int planes_, int reach_, int still_, int zero_)
      : planes(planes_), reach(reach_), still(still_), zero(zero_) {
    const auto number = [&] { return Number(random()) % prime; };
    for (int k = 0; k < 2 * reach + 1; ++k) stencil.push_back(number());
    for (int k = 0; k < planes; ++k) model.push_back(number());
    for (int k = 0; k < planes; ++k) now.push_back(number());
    for (int k = 0; k < planes; ++k) before.push_back(number());
  }
  template <class Now>
  Number next(std::int64_t x, const Now& at_now, Number at_before) const {
    Number sum = 0;
    for (int k = 0; k < 2 * reach + 1; ++k) {
      sum = (sum + stencil[at(k)] * at_now(x + k - reach)) % prime;
    }
    return (model[at(x)] * sum % prime + prime - at_before) % prime;
  }
};

/// Two waves and the sums of their products; the second one is read `near` planes to both sides.
struct WavePair {
  Wave first, second;
  int steps, near;
  PlaneRange planes;  // planes of the first wave that have sums
  std::vector<Number> weight;

  WavePair(std::mt19937& random, const Wave& a, const Wave& b, int steps_)
      : first(a), second(b), steps(steps_), near(a.reach) {
    for (int k = 0; k < 2 * near + 1; ++k) weight.push_back(Number(random()) % prime);
    const int low = std::max(0, first.zero - second.zero);
    const int high = std::min(first.planes, second.planes + first.zero - second.zero);
    planes = {low, high};
  }
  /// Returns the product that is added to the sum of a plane of the first wave at a time.
  template <class A, class B>
  Number product(std::int64_t x, std::int64_t time, const A& a, const B& b) const {
    Number of_a = 0, of_b = 0;
    for (int k = -near; k <= near; ++k) {
      of_a = (of_a + weight[at(k + near)] * a(x + k)) % prime;
      of_b = (of_b + weight[at(near - k)] * b(x + k + second.zero - first.zero)) % prime;
    }
    return of_a * of_b % prime * (Number(time) + 1) % prime;
  }
};

/// Both waves at two times, and the sums.
struct WavesAndSums {
  std::vector<Number> now[2], before[2], sums;
  bool operator==(const WavesAndSums& other) const {
    return now[0] == other.now[0] && now[1] == other.now[1] && before[0] == other.before[0] &&
           before[1] == other.before[1] && sums == other.sums;
  }
};

WavesAndSums in_core(const WavePair& p) {
  WavesAndSums r;
  const Wave* const waves[] = {&p.first, &p.second};
  for (int k : {0, 1}) {
    r.now[k] = waves[k]->now;
    r.before[k] = waves[k]->before;
  }
  // for waves at rest the previous level equals the current one
  r.sums.assign(at(p.planes.count()), 0);
  for (int time = 0; time < p.steps; ++time) {
    const auto present = [&](int k) {
      return [&, k](std::int64_t x) -> Number {
        if (x < 0 || x >= waves[k]->planes) return 0;
        return time < waves[k]->still ? r.before[k][at(x)] : r.now[k][at(x)];
      };
    };
    const bool known = time >= p.second.still - 1;
    for (std::int64_t x = p.planes.begin; known && x < p.planes.end; ++x) {
      Number& sum = r.sums[at(x - p.planes.begin)];
      // the order matters, as in a floating-point sum
      sum = (3 * sum + p.product(x, time, present(0), present(1))) % prime;
    }
    for (int k : {0, 1}) {
      if (time < waves[k]->still) continue;
      std::vector<Number> next(r.now[k].size());
      for (std::int64_t x = 0; x < waves[k]->planes; ++x) {
        next[at(x)] = waves[k]->next(x, present(k), r.before[k][at(x)]);
      }
      r.before[k] = r.now[k];
      r.now[k] = next;
    }
  }
  return r;
}

struct Slot {
  std::int64_t position = -1, level = -1;
  Number value = 0;
};

/// Slots of a device for one volume, and sums.
struct RingWithSums {
  std::vector<Slot> field[2], sums;
  explicit RingWithSums(std::int64_t size)
      : field{std::vector<Slot>(at(size)), std::vector<Slot>(at(size))} {
    sums.resize(at(size));
  }
  Slot& slot(std::int64_t position, std::int64_t level) {
    auto& parity = field[at(level + 2) % 2];
    return parity[at(position) % parity.size()];
  }
  void write(std::int64_t position, std::int64_t level, Number value) {
    slot(position, level) = {position, level, value};
  }
  Number read(std::int64_t position, std::int64_t level) {
    const Slot& s = slot(position, level);
    if (s.position != position || s.level != level) throw Broken("another plane or time is there");
    return s.value;
  }
  Slot& sum(std::int64_t position) { return sums[at(position) % sums.size()]; }
};

/// A chain of devices that executes two schedules side by side, with both volumes on the host.
class ChainOfPairs {
 public:
  /// \param planes planes of the rings of each device
  ChainOfPairs(const WavePair& p, const std::vector<StreamShape>& shapes, std::int64_t planes)
      : m_pair(p),
        m_waves{&p.first, &p.second},
        m_schedules{Schedule(shapes[0]), Schedule(shapes[1])},
        m_devices(shapes[0].devices),
        m_rings(2, std::vector<RingWithSums>(at(m_devices), RingWithSums(planes))),
        m_sums(at(p.planes.count()), 0) {
    for (int k : {0, 1}) {
      // the times still - 1 and still
      m_host[k][(m_waves[k]->still + 1) % 2] = m_waves[k]->before;
      m_host[k][m_waves[k]->still % 2] = m_waves[k]->now;
    }
  }

  std::int64_t iterations() const { return m_schedules[0].iterations(); }

  /// Executes an iteration. \throws Broken
  void iteration(std::int64_t i) {
    std::vector<std::vector<Leaving>> leaving[2];
    for (int k : {0, 1}) {
      for (int g = 0; g < m_devices; ++g) leaving[k].push_back(planes_that_leave(k, g, i));
    }
    for (int k : {0, 1}) {
      for (int g = m_devices; g-- > 1;) load_from_previous(k, g, i, leaving[k][at(g - 1)]);
      load_from_host(k, i);
    }
    for (int g = 0; g < m_devices; ++g) step(g, i);
    // loading, stepping and storing are concurrent
    for (int k : {0, 1}) {
      for (int g = 0; g < m_devices; ++g) {
        for (const Leaving& one : leaving[k][at(g)]) {
          if (inside(k, one.plane) && ring(k, g).read(one.position, one.level) != one.now) {
            throw Broken("changed while it left");
          }
        }
      }
    }
    for (int k : {0, 1}) store(k, leaving[k].back());
  }

  /// Returns waves and sums of the host after all iterations.
  WavesAndSums result() const {
    WavesAndSums r;
    for (int k : {0, 1}) {
      const int last = std::max(m_pair.steps, m_waves[k]->still);
      r.now[k] = m_host[k][last % 2];
      r.before[k] = m_host[k][(last + 1) % 2];
    }
    r.sums = m_sums;
    return r;
  }

 private:
  struct Leaving {
    std::int64_t plane, position, level;
    Number now, before, sum;
  };

  RingWithSums& ring(int k, int g) { return m_rings[at(k)][at(g)]; }
  bool inside(int k, std::int64_t x) const { return x >= 0 && x < m_waves[k]->planes; }
  Number sum_of(std::int64_t x) const {
    return m_pair.planes.contains(x) ? m_sums[at(x - m_pair.planes.begin)] : Number(0);
  }

  std::vector<Leaving> planes_that_leave(int k, int g, std::int64_t i) {
    std::vector<Leaving> leaving;
    const int still = m_waves[k]->still;
    for (const StreamRange& range : m_schedules[k].iteration(i, g).stores) {
      const std::int64_t level =
          m_schedules[k].first_level(range.sweep, g) + m_schedules[k].updates(range.sweep, g);
      // omitted steps only advance the time
      const bool stood = level < still;
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x) {
        const std::int64_t q = range.position + x - range.planes.begin;
        Leaving one{x, q, stood ? still : level, 0, 0, 0};
        if (inside(k, x)) {
          one.now = ring(k, g).read(q, one.level);
          one.before = ring(k, g).read(q, one.level - 1);
        }
        if (k == 0 && m_pair.planes.contains(x)) one.sum = ring(k, g).sum(q).value;
        leaving.push_back(one);
      }
    }
    return leaving;
  }

  std::int64_t level_of_load(int k, int g, const StreamRange& range) const {
    return std::max<std::int64_t>(m_schedules[k].first_level(range.sweep, g), m_waves[k]->still);
  }

  void load_from_previous(int k, int g, std::int64_t i, const std::vector<Leaving>& coming) {
    std::size_t next = 0;
    for (const StreamRange& range : m_schedules[k].iteration(i, g).loads) {
      const std::int64_t level = level_of_load(k, g, range);
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x, ++next) {
        const std::int64_t q = range.position + x - range.planes.begin;
        if (next >= coming.size() || coming[next].plane != x) throw Broken("torn");
        ring(k, g).write(q, level, coming[next].now);
        ring(k, g).write(q, level - 1, coming[next].before);
        if (k == 0) ring(k, g).sum(q) = {q, 0, coming[next].sum};
      }
    }
  }

  void load_from_host(int k, std::int64_t i) {
    RingWithSums& first = ring(k, 0);
    for (const StreamRange& range : m_schedules[k].iteration(i, 0).loads) {
      const std::int64_t level = level_of_load(k, 0, range);
      for (std::int64_t x = range.planes.begin; x < range.planes.end; ++x) {
        const std::int64_t q = range.position + x - range.planes.begin;
        first.write(q, level, inside(k, x) ? m_host[k][level % 2][at(x)] : Number(0));
        first.write(q, level - 1, inside(k, x) ? m_host[k][(level + 1) % 2][at(x)] : Number(0));
        if (k == 0) first.sum(q) = {q, 0, sum_of(x)};
      }
    }
  }

  void step(int g, std::int64_t i) {
    const StreamWork work[] = {m_schedules[0].iteration(i, g), m_schedules[1].iteration(i, g)};
    for (std::int64_t u = 0; u < m_schedules[0].shape().updates; ++u) {
      for (std::int64_t sweep = 0; sweep < m_schedules[0].sweeps(); ++sweep) {
        const std::int64_t level = m_schedules[0].first_level(sweep, g) + u;
        for (int k : {0, 1}) {
          for (const StreamStage& stage : work[k].stages) {
            if (stage.range.sweep != sweep || stage.level != level) continue;
            if (k == 0) add(g, stage);
            if (level >= m_waves[k]->still) step_stage(k, g, stage);
          }
        }
      }
    }
  }

  void step_stage(int k, int g, const StreamStage& stage) {
    RingWithSums& own = ring(k, g);
    const std::int64_t shift = stage.range.position - stage.range.planes.begin;
    const auto now = [&](std::int64_t x) {
      return inside(k, x) ? own.read(x + shift, stage.level) : Number(0);
    };
    for (std::int64_t x = stage.range.planes.begin; x < stage.range.planes.end; ++x) {
      const Number before = own.read(x + shift, stage.level - 1);
      own.write(x + shift, stage.level + 1, m_waves[k]->next(x, now, before));
    }
  }

  // Adds the products of both waves at the time of a stage of the first.
  void add(int g, const StreamStage& stage) {
    if (stage.level < m_pair.second.still - 1) return;
    const std::int64_t shift = stage.range.position - stage.range.planes.begin;
    const std::int64_t to_second = m_pair.second.zero - m_pair.first.zero;
    const auto of = [&](int k) {
      return [&, k](std::int64_t x) -> Number {
        if (!inside(k, x)) return 0;
        return ring(k, g).read(x + shift - (k == 1 ? to_second : 0), stage.level);
      };
    };
    const PlaneRange part = intersection(stage.range.planes, m_pair.planes);
    for (std::int64_t x = part.begin; x < part.end; ++x) {
      Slot& sum = ring(0, g).sum(x + shift);
      if (sum.position != x + shift) throw Broken("the sum of another plane is there");
      sum.value = (3 * sum.value + m_pair.product(x, stage.level, of(0), of(1))) % prime;
    }
  }

  void store(int k, const std::vector<Leaving>& leaving) {
    for (const Leaving& one : leaving) {
      if (!inside(k, one.plane)) continue;
      m_host[k][one.level % 2][at(one.plane)] = one.now;
      m_host[k][(one.level + 1) % 2][at(one.plane)] = one.before;
      if (k == 0 && m_pair.planes.contains(one.plane)) {
        m_sums[at(one.plane - m_pair.planes.begin)] = one.sum;
      }
    }
  }

  const WavePair& m_pair;
  const Wave* m_waves[2];
  Schedule m_schedules[2];
  int m_devices;
  std::vector<std::vector<RingWithSums>> m_rings;
  std::vector<Number> m_host[2][2], m_sums;
};

/// Executes two schedules, with rings of `planes`. \throws Broken
WavesAndSums stream(const WavePair& p, const std::vector<StreamShape>& shapes,
                    std::int64_t planes) {
  ChainOfPairs chain(p, shapes, planes);
  for (std::int64_t i = 0; i < chain.iterations(); ++i) chain.iteration(i);
  return chain.result();
}

WavePair draw_pair(std::mt19937& random, int min) {
  const int model = draw(random, min, min + 40), reach = draw(random, 1, 4);
  const int layers[] = {draw(random, 0, 9), draw(random, 0, 9), draw(random, 0, 9),
                        draw(random, 0, 9)};
  // for example, the first has an absorbing layer, the second a wider one of random velocities
  const Wave first(random, layers[0] + model + layers[1], reach, 0, layers[0]);
  const Wave second(random, layers[2] + model + layers[3], draw(random, 1, 4), draw(random, 0, 5),
                    layers[2]);
  return WavePair(random, first, second, draw(random, 6, 20));
}

std::vector<StreamShape> shapes_of(const WavePair& p, std::int64_t block, std::int64_t updates,
                                   std::int64_t lag, int devices) {
  std::vector<StreamShape> shapes(2);
  const Wave* const waves[] = {&p.first, &p.second};
  for (std::size_t k : {0, 1}) {
    shapes[k].planes = waves[k]->planes;
    shapes[k].steps = p.steps;
    shapes[k].halo = 4;
    shapes[k].reach = waves[k]->reach;
    shapes[k].block = block;
    shapes[k].updates = updates;
    shapes[k].lag = lag;
    shapes[k].devices = devices;
  }
  run_concurrent_volumes(shapes, {p.first.zero, p.second.zero});
  return shapes;
}

TEST(SideBySide, GivesWhatTheWholeVolumesGive) {
  std::mt19937 random(21);
  for (int n = 0; n < 600; ++n) {
    const WavePair p = draw_pair(random, 1);
    const std::int64_t lags[] = {0, 0, 0, 6, 11};
    const int chain[] = {1, 1, 2, 3};
    const auto shapes = shapes_of(p, draw(random, 1, 17), draw(random, 1, 9), lags[random() % 5],
                                  chain[random() % 4]);
    const Schedule one(shapes[0]), other(shapes[1]);
    ASSERT_EQ(one.ring_planes(), other.ring_planes());
    ASSERT_EQ(one.iterations(), other.iterations());
    // planes at one location have one position
    for (const StreamStage& stage : one.iteration(one.iterations() / 2).stages) {
      for (const StreamStage& partner : other.iteration(one.iterations() / 2).stages) {
        if (partner.level != stage.level || partner.range.sweep != stage.range.sweep) continue;
        ASSERT_EQ(stage.range.position - stage.range.planes.begin + p.first.zero,
                  partner.range.position - partner.range.planes.begin + p.second.zero);
      }
    }
    ASSERT_TRUE(stream(p, shapes, one.ring_planes()) == in_core(p)) << "case " << n;
  }
}

// A missing plane of ring or lag is detected, also if the action alone reads it.
TEST(SideBySide, NeedsItsRingAndItsLag) {
  std::mt19937 random(22);
  int caught[2] = {0, 0};
  for (int n = 0; n < 200; ++n) {
    const int reach = n % 2 == 0 ? 2 : 4;
    const Wave first(random, 60, n % 4 < 2 ? 1 : reach, 0, 6);
    const Wave second(random, 70, 1, 1, 11);
    WavePair p(random, first, second, 12);
    p.near = reach;
    p.weight.assign(at(2 * reach + 1), 5);
    const std::int64_t block = draw(random, 1, 8), updates = draw(random, 2, 5);
    auto shapes = shapes_of(p, block, updates, 0, 1);
    // the action reads no more than a step may read
    for (StreamShape& shape : shapes) {
      shape.reach = reach;
      shape.lag = reach;
    }
    const std::int64_t ring = Schedule(shapes[0]).ring_planes();
    ASSERT_TRUE(stream(p, shapes, ring) == in_core(p)) << "case " << n;
    try {
      if (!(stream(p, shapes, ring - 1) == in_core(p))) ++caught[0];
    } catch (const Broken&) {
      ++caught[0];
    }
    for (StreamShape& shape : shapes) shape.reach = shape.lag = reach - 1;
    try {
      if (!(stream(p, shapes, ring + 8) == in_core(p))) ++caught[1];
    } catch (const Broken&) {
      ++caught[1];
    }
  }
  EXPECT_EQ(caught[0], 200);
  EXPECT_EQ(caught[1], 200);
}

TEST(SideBySide, RefusesWhatCannotGoInStep) {
  const auto message = [](std::vector<StreamShape> shapes, const std::vector<std::int64_t>& zero) {
    try {
      run_concurrent_volumes(shapes, zero);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::vector<StreamShape> shapes(2);
  shapes[0].planes = shapes[1].planes = 20;
  shapes[0].steps = shapes[1].steps = 9;
  EXPECT_EQ(message(shapes, {0, 3}), "");
  EXPECT_THAT(message(shapes, {0}), HasSubstr("zero: there are 1 planes (allowed: 2"));
  shapes[1].halo = 4;
  EXPECT_THAT(message(shapes, {0, 3}), HasSubstr("halo: volume 1 has 4 planes (allowed: 0"));
  shapes[1].halo = 0;
  shapes[1].ranges = {PlaneRange{0, 20}};
  EXPECT_THAT(message(shapes, {0, 3}), HasSubstr("volumes side by side have none"));
  StreamShape bad = shapes[0];
  bad.before = -1;
  EXPECT_THROW(Schedule{bad}, InputError);
  bad.before = 2;
  bad.ranges.assign(9, PlaneRange{0, 20});
  EXPECT_THROW(Schedule{bad}, InputError);
}

}  // namespace
