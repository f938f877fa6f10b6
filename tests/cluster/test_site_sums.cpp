// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 5
//
// Sums of sites over simulated sites: each shot is counted once, whatever is lost, late or killed.

#include "cluster/fake_site.hpp"
#include "cluster/memory_folder.hpp"
#include "io/files.hpp"

#include <moho/cluster/site_sums.hpp>
#include <moho/core/error.hpp>

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {
namespace {

using namespace test;
using io::test::message_of;
using ::testing::HasSubstr;

/// Simulates a kill: no handler of the distributor catches it.
struct SumKilled {};

/// Faults of the sums of a site.
struct SumFaults {
  double no_answer = 0.0;       ///< no answer to a request
  double busy = 0.0;            ///< the site is still adding
  double damaged = 0.0;         ///< the sum is damaged, or shots are missing at the site
  double silent_from = 1e300;   ///< time from which the site does not answer
  double silent_until = 1e300;  ///< time from which it answers again
};

/// A simulated site that sends sums.
class SumSite : public FakeSite {
 public:
  SumSite(SiteOptions options, FakeWorld& world, const SumFaults& faults)
      : FakeSite(std::move(options), world), m_world(world), m_faults(faults) {}
  bool sends_sums() const override { return true; }
  std::optional<ShotResult> sum(const Work&, const SumRequest& request) override {
    ++requests;
    const double now = m_world.now();
    if (now >= m_faults.silent_from && now < m_faults.silent_until) throw NoAnswer("silent");
    if (m_world.chance(m_faults.no_answer)) throw NoAnswer("Connection refused");
    if (m_world.chance(m_faults.busy)) return std::nullopt;
    if (m_world.chance(m_faults.damaged)) throw FileError("the checksum is wrong");
    arrays = request.arrays;
    return ShotResult{request.shots.begin()->second.front().shot,
                      options().name + '/' + request.token, 1000, 0};
  }
  void forget(const std::vector<std::string>& tokens) override { forgotten = tokens.size(); }

  std::size_t forgotten = 0;  ///< tokens of forget()
  int requests = 0;           ///< number of calls of sum()
  bool arrays = false;        ///< the last request was for arrays

 private:
  FakeWorld& m_world;
  SumFaults m_faults;
};

/// Shots over sites; the last one sends no sums if `plain`.
struct SumSimulation {
  SumSimulation(std::uint64_t seed, int count, bool last_is_plain = false) : plain(last_is_plain) {
    work.sums = true;
    for (int k = 0; k < count; ++k) {
      worlds.push_back(
          std::make_unique<FakeWorld>(seed * 37 + static_cast<std::uint64_t>(k), faults, clock));
    }
    sum_faults.resize(worlds.size());
    for (std::int64_t k = 0; k < 23; ++k) tasks.push_back({5 + k, 1.0});
    options.max_lost = 50;
    options.max_attempts = 50;
    options.silence_timeout = 300.0;
    options.on_message = [this](const std::string& line) { messages += line + '\n'; };
  }

  /// Runs until the journal is written for the n-th time; 0: to the end.
  Report run(int kill_at = 0) {
    sites.clear();
    for (std::size_t k = 0; k < worlds.size(); ++k) {
      SiteOptions site;
      site.name = "site" + std::to_string(k);
      site.max_jobs = 3;
      if (plain && k + 1 == worlds.size()) {
        sites.push_back(std::make_unique<FakeSite>(site, *worlds[k]));
      } else {
        sites.push_back(std::make_unique<SumSite>(site, *worlds[k], sum_faults[k]));
      }
    }
    int writes = 0;
    JournalOptions how;
    how.verify = false;
    how.on_write = [&](std::string_view line) {
      if (!line.empty() && ++writes == kill_at) throw SumKilled{};
    };
    by_sum.clear();
    by_result.clear();
    Journal journal(folder / "journal.txt", work.survey, how);
    const std::string last = "site" + std::to_string(worlds.size() - 1) + '/';
    const auto on_result = [&](std::int64_t shot, const std::filesystem::path& path) {
      const std::string file = path.lexically_relative(journal.folder()).string();
      if (plain && file.rfind(last, 0) == 0) ++by_result[shot];
    };
    const auto on_sum = [&](const std::vector<std::int64_t>& shots, const std::filesystem::path&) {
      if (refusals > 0 && --refusals == 0) {
        by_sum.clear();
        return false;
      }
      for (const std::int64_t shot : shots) ++by_sum[shot];
      return true;
    };
    return distribute_sums({work, journal}, tasks, sites, options, on_result, on_sum, &clock);
  }

  /// Checks that each shot is in one sum or in one result of the plain site.
  void check() {
    for (const Task& task : tasks) {
      EXPECT_EQ(by_sum[task.shot] + by_result[task.shot], 1) << "shot " << task.shot;
    }
  }

  SumSite& site(std::size_t k) { return static_cast<SumSite&>(*sites[k]); }

  Faults faults;
  bool plain;
  FakeClock clock;
  MemoryFolder folder;
  Work work = {"survey", 3, {{"model", "crc 1a2b3c4d"}}, {"true"}, {}};
  std::vector<std::unique_ptr<FakeWorld>> worlds;
  std::vector<SumFaults> sum_faults;
  std::vector<std::unique_ptr<Site>> sites;
  std::vector<Task> tasks;
  DistributeOptions options;
  std::map<std::int64_t, int> by_sum, by_result;
  std::string messages;
  int refusals = 0;  ///< position of the sum that cannot be added, from 1; 0: none
};

TEST(SiteSums, CountEachShotOnce) {
  for (const int count : {1, 2, 3}) {
    for (const bool plain : {false, true}) {
      SumSimulation simulation(static_cast<std::uint64_t>(count), count, plain);
      const Report report = simulation.run();
      simulation.check();
      EXPECT_EQ(report.done, 23);
      EXPECT_EQ(report.resubmitted, 0);
      for (int k = 0; k < count - (plain ? 1 : 0); ++k) {
        const auto at = static_cast<std::size_t>(k);
        EXPECT_EQ(simulation.site(at).requests, 1);
        EXPECT_EQ(report.sites[at].sum_bytes, 1000.0);
      }
      // each batch of the site, and its sum
      forget_sums(simulation.folder / "journal.txt", simulation.sites);
      for (int k = 0; k < count - (plain ? 1 : 0); ++k) {
        EXPECT_GT(simulation.site(static_cast<std::size_t>(k)).forgotten, 1u);
      }
    }
  }
}

TEST(SiteSums, LateSumsAreNotCounted) {
  SumSimulation simulation(3, 3);
  // silent before its sum is requested, and again there after its shots have gone elsewhere
  simulation.sum_faults[1].silent_from = 0.0;
  simulation.sum_faults[1].silent_until = simulation.clock.now() + 900.0;
  const Report report = simulation.run();
  simulation.check();
  EXPECT_GT(report.sites[1].shots, 0);
  EXPECT_GT(simulation.clock.now(), 1e6 + 300.0);
  EXPECT_THAT(simulation.messages, HasSubstr("site site1 does not answer: silent"));
  EXPECT_THAT(simulation.messages, HasSubstr("of its shots are computed again"));
}

TEST(SiteSums, OnlySiteIsAwaited) {
  SumSimulation simulation(4, 1);
  simulation.sum_faults[0].silent_from = 0.0;
  simulation.sum_faults[0].silent_until = simulation.clock.now() + 5000.0;
  EXPECT_EQ(simulation.run().resubmitted, 0);
  simulation.check();
  EXPECT_GT(simulation.clock.now(), 1e6 + 5000.0);
}

TEST(SiteSums, LostSumsEndTheRunInTheEnd) {
  SumSimulation simulation(5, 2);
  simulation.sum_faults[0].damaged = simulation.sum_faults[1].damaged = 1.0;
  EXPECT_THAT(message_of<Error>([&] { simulation.run(); }),
              HasSubstr("the checksum is wrong: correct the cause and resume"));
  simulation.sum_faults[0].damaged = simulation.sum_faults[1].damaged = 0.0;
  simulation.run();
  simulation.check();
}

TEST(SiteSums, ArraysFollowASumThatCannotBeAdded) {
  for (const int position : {1, 2, 3}) {
    SumSimulation simulation(6, 3);
    simulation.refusals = position;
    simulation.run();
    simulation.check();
    for (std::size_t k = 0; k < 3; ++k) EXPECT_TRUE(simulation.site(k).arrays);
  }
}

TEST(SiteSums, CountOnceWithAllFaultsAndKills) {
  std::mt19937_64 random(11);
  const auto pick = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  int kills = 0, lost = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SumSimulation simulation(seed, 1 + pick(3), pick(2) == 1);
    simulation.faults.fails = simulation.faults.node_lost = simulation.faults.torn = 0.05;
    for (std::size_t k = 0; k < simulation.worlds.size(); ++k) {
      simulation.worlds[k] =
          std::make_unique<FakeWorld>(seed * 41 + k, simulation.faults, simulation.clock);
      simulation.sum_faults[k] = {0.3, 0.3, 0.3};
      if (pick(3) == 0) {
        simulation.sum_faults[k].silent_from = simulation.clock.now() + pick(2000);
        simulation.sum_faults[k].silent_until = simulation.sum_faults[k].silent_from + pick(3000);
      }
    }
    simulation.refusals = pick(4);
    bool complete = false;
    for (int attempt = 0; attempt < 50 && !complete; ++attempt) {
      try {
        simulation.run(attempt < 8 ? 1 + pick(80) : 0);
        complete = true;
      } catch (const SumKilled&) {
        ++kills;
      } catch (const MissingShots&) {
      } catch (const Error&) {
        ++lost;
      }
    }
    EXPECT_TRUE(complete) << "seed " << seed;
    simulation.check();
  }
  EXPECT_GT(kills, 60);
  EXPECT_LT(lost, 60);
}

}  // namespace
}  // namespace moho::cluster
