// SPDX-License-Identifier: BSD-3-Clause
// ctest: cost 10
//
// The distributor over a simulated job system with faults. Each shot is delivered once with the
// same bits, or reported as missing. Every run ends, and a distributor killed at any write of its
// journal can be resumed.

#include "cluster/fake_site.hpp"
#include "cluster/memory_folder.hpp"
#include "io/files.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/submission_log.hpp>
#include <moho/core/error.hpp>

#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace moho::cluster {
namespace {

using namespace test;
using io::test::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Work idle_work = {"survey", 3, {{"model", "crc 1a2b3c4d"}}, {"true"}, {}};

std::vector<Task> shots(std::int64_t count) {
  std::vector<Task> tasks;
  for (std::int64_t k = 0; k < count; ++k) tasks.push_back({10 + k, 1.0});
  return tasks;
}

/// Simulates a kill: no handler of the distributor catches it.
struct Killed {};

/// A campaign over simulated sites, which can be killed and resumed.
struct Simulation {
  explicit Simulation(std::uint64_t seed, const Faults& faults, int sites = 1) : random(seed) {
    for (int k = 0; k < sites; ++k) {
      worlds.push_back(
          std::make_unique<FakeWorld>(seed * 31 + static_cast<std::uint64_t>(k), faults, clock));
    }
  }

  /// Runs a distributor; kills it before or after a write of the journal, counted from 1; 0: never.
  Report run(const std::vector<Task>& tasks, DistributeOptions options, int kill_at = 0,
             bool before = true) {
    writes = 0;
    JournalOptions how;
    how.verify = false;
    how.on_write = [&](std::string_view line) {
      if (line.empty() == before) return;
      if (++writes == kill_at) throw Killed{};
    };
    std::vector<std::unique_ptr<Site>> sites;
    for (std::size_t k = 0; k < worlds.size(); ++k) {
      SiteOptions site;
      site.name = "site" + std::to_string(k);
      site.max_jobs = 6;
      site.one_job_per_chunk = chunks;
      sites.push_back(std::make_unique<FakeSite>(site, *worlds[k]));
    }
    delivered.clear();
    Journal journal(folder / "journal.txt", idle_work.survey, how);
    return distribute(
        {idle_work, journal}, tasks, sites, options,
        [&](std::int64_t shot, const std::filesystem::path&) { ++delivered[shot]; }, &clock);
  }

  /// Checks that each shot was delivered once or is reported as missing.
  void check(const std::vector<Task>& tasks, const Report& report) const {
    std::set<std::int64_t> missing;
    for (const MissingShot& shot : report.missing) {
      EXPECT_TRUE(missing.insert(shot.shot).second);
      EXPECT_FALSE(shot.reason.empty());
    }
    for (const Task& task : tasks) {
      const auto at = delivered.find(task.shot);
      const int times = at == delivered.end() ? 0 : at->second;
      EXPECT_EQ(times, missing.count(task.shot) > 0 ? 0 : 1) << "shot " << task.shot;
    }
    EXPECT_EQ(report.done + static_cast<std::int64_t>(missing.size()),
              static_cast<std::int64_t>(tasks.size()));
    Journal journal(folder / "journal.txt", idle_work.survey, {JournalStart::resume, false, {}});
    for (const ShotResult& result : journal.results()) {
      EXPECT_EQ(result.checksum, bits_of(result.shot));
    }
    for (const auto& world : worlds) {
      for (const auto& [token, times] : world->accepted) EXPECT_EQ(times, 1) << token;
    }
  }

  FakeClock clock;
  MemoryFolder folder;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<FakeWorld>> worlds;
  std::map<std::int64_t, int> delivered;
  bool chunks = false;
  int writes = 0;
};

Faults all_faults(double often) {
  Faults f;
  f.submit_lost = f.submit_accepted = f.no_room = f.query_silent = often;
  f.late_accepted = 0.5;
  f.wrong_state = f.fails = f.crashes = f.node_lost = f.timed_out = f.vanishes = often / 2.0;
  f.torn = f.late_file = f.very_late_file = f.wrong_success = f.wrong_failure = often / 2.0;
  return f;
}

DistributeOptions lenient_options() {
  DistributeOptions options;
  options.max_attempts = 6;
  options.max_lost = 30;
  options.max_missing = 1000;
  options.quick_failure = 5.0;
  options.max_pauses = 50;
  return options;
}

TEST(Distributor, DeliversEveryShotOnce) {
  Simulation simulation(1, {});
  const auto tasks = shots(37);
  const Report report = simulation.run(tasks, {});
  simulation.check(tasks, report);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.resubmitted, 0);
  EXPECT_EQ(report.sites[0].shots, 37);
  // all shots are done: nothing is submitted
  const auto before = simulation.worlds[0]->submissions;
  const Report again = simulation.run(tasks, {});
  EXPECT_EQ(simulation.worlds[0]->submissions, before);
  EXPECT_EQ(again.done_earlier, 37);
  simulation.check(tasks, again);
}

// Two thousand random schedules; one hundred with sanitizers, which take twenty times as long.
#ifdef MOHO_BOUNDS_CHECK
constexpr std::int64_t schedules = 100;
#else
constexpr std::int64_t schedules = 2000;
#endif
TEST(Distributor, EndsForAllFaults) {
  std::int64_t missing = 0, twice = 0, again = 0;
  for (std::int64_t schedule = 1; schedule <= schedules; ++schedule) {
    const auto seed = static_cast<std::uint64_t>(schedule);
    std::mt19937_64 random(seed);
    const double often = std::uniform_real_distribution<>(0.0, 0.25)(random);
    Simulation simulation(seed, all_faults(often), 1 + static_cast<int>(seed % 3));
    simulation.chunks = seed % 5 == 0;
    const auto tasks = shots(5 + static_cast<std::int64_t>(random() % 20));
    for (const auto& world : simulation.worlds) {
      if (seed % 4 == 0) world->bad = {11, 13};
    }
    DistributeOptions options = lenient_options();
    options.shots_per_job = 1 + static_cast<std::int64_t>(random() % 3);
    if (seed % 7 == 0) options.partition = Partition::parts;
    SCOPED_TRACE(concat("seed ", seed));
    const Report report = simulation.run(tasks, options);
    simulation.check(tasks, report);
    if (seed % 4 == 0) {
      for (const std::int64_t bad : {11, 13}) {
        EXPECT_EQ(simulation.delivered.count(bad), 0u);
        int runs = 0;
        for (const auto& world : simulation.worlds) runs += world->failed[bad];
        EXPECT_LE(runs, options.max_attempts + options.max_lost);
      }
    }
    missing += static_cast<std::int64_t>(report.missing.size());
    twice += report.duplicates;
    again += report.resubmitted;
    if (::testing::Test::HasFailure()) return;
  }
  // faults occurred
  EXPECT_GT(missing, 500 * schedules / 2000);
  EXPECT_GT(twice, 50 * schedules / 2000);
  EXPECT_GT(again, 5000 * schedules / 2000);
}

// One kill, before and after each write of the journal.
TEST(Distributor, ResumesAfterAKillAtEachWrite) {
  for (const double often : {0.0, 0.08}) {
    for (const bool before : {true, false}) {
      for (int kill = 1;; ++kill) {
        SCOPED_TRACE(
            concat("killed ", before ? "before" : "after", " write ", kill, ", faults ", often));
        Simulation simulation(7, all_faults(often), 2);
        const auto tasks = shots(9);
        bool killed = false;
        Report report;
        try {
          report = simulation.run(tasks, lenient_options(), kill, before);
        } catch (const Killed&) {
          killed = true;
        }
        if (killed) report = simulation.run(tasks, lenient_options());
        simulation.check(tasks, report);
        if (often == 0.0) {
          // without faults no shot is computed twice
          std::map<std::int64_t, int> runs;
          for (const auto& world : simulation.worlds) {
            for (const auto& [token, times] : world->accepted) {
              for (const auto* entry : world->of(token)) {
                for (const Task& task : entry->job.tasks) runs[task.shot] += times;
              }
            }
          }
          for (const Task& task : tasks) EXPECT_EQ(runs[task.shot], 1) << "shot " << task.shot;
        }
        if (::testing::Test::HasFailure()) return;
        if (!killed) break;
        ASSERT_LT(kill, 1000);
      }
    }
  }
}

// Many kills, at random writes.
TEST(Distributor, ResumesAfterManyKills) {
  std::int64_t kills = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(concat("seed ", seed));
    Simulation simulation(seed, all_faults(0.05), 1 + static_cast<int>(seed % 2));
    const auto tasks = shots(12);
    Report report;
    for (;;) {
      try {
        report =
            simulation.run(tasks, lenient_options(), 1 + static_cast<int>(simulation.random() % 25),
                           simulation.random() % 2 == 0);
        break;
      } catch (const Killed&) {
        ++kills;
        ASSERT_LT(kills, 100000);
      }
    }
    simulation.check(tasks, report);
    if (::testing::Test::HasFailure()) return;
  }
  EXPECT_GE(kills, 500);
}

TEST(Distributor, ReportsMissingShots) {
  Simulation simulation(3, {}, 1);
  simulation.worlds[0]->bad = {12};
  DistributeOptions options;
  options.quick_failure = 0.0;
  try {
    simulation.run(shots(6), options);
    FAIL() << "a shot is missing";
  } catch (const MissingShots& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("1 shot has no result; shot 12: the program failed"),
                                    HasSubstr("it failed"), HasSubstr("node"),
                                    HasSubstr("resume with the same journal")));
    EXPECT_EQ(error.report().done, 5);
  }
  // given up after failures on two nodes, or after three failures
  EXPECT_LE(simulation.worlds[0]->failed[12], 3);
  EXPECT_GE(simulation.worlds[0]->failed[12], 2);
  // repaired
  simulation.worlds[0]->bad.clear();
  const Report report = simulation.run(shots(6), options);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_EQ(report.done_earlier, 5);
  simulation.check(shots(6), report);
}

TEST(Distributor, MovesShotsOfASiteWithoutAnswers) {
  Simulation simulation(5, {}, 2);
  simulation.worlds[1]->seconds = 400.0;
  int turns = 0;
  DistributeOptions options;
  options.silence_timeout = 120.0;
  options.stop = [&] {
    if (++turns == 20) simulation.worlds[1]->answers = false;
    return false;
  };
  const auto tasks = shots(40);
  const Report report = simulation.run(tasks, options);
  simulation.check(tasks, report);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_GT(report.resubmitted, 0);
}

TEST(Distributor, FailingSiteIsExcluded) {
  Faults broken;
  broken.fails = 1.0;
  Simulation simulation(6, {}, 2);
  simulation.worlds[1] = std::make_unique<FakeWorld>(9, broken, simulation.clock);
  simulation.worlds[1]->seconds = 0.1;
  simulation.worlds[0]->seconds = 60.0;
  DistributeOptions options;
  options.max_attempts = 8;
  const auto tasks = shots(60);
  const Report report = simulation.run(tasks, options);
  simulation.check(tasks, report);
  EXPECT_TRUE(report.missing.empty());
  EXPECT_LE(report.sites[1].failures, 30);
  EXPECT_FALSE(report.sites[1].exclusion.empty());
}

TEST(Distributor, CancelledJobExcludesItsSite) {
  Simulation simulation(8, {}, 1);
  struct Cancelled : FakeSite {
    using FakeSite::FakeSite;
    std::vector<JobStatus> query(const std::vector<std::string>& ids) override {
      auto all = FakeSite::query(ids);
      for (JobStatus& status : all) status.state = JobState::cancelled;
      return all;
    }
  };
  std::vector<std::unique_ptr<Site>> sites;
  SiteOptions site;
  site.name = "cluster";
  sites.push_back(std::make_unique<Cancelled>(site, *simulation.worlds[0]));
  Journal journal(simulation.folder / "journal.txt", idle_work.survey);
  try {
    distribute({idle_work, journal}, shots(5), sites, {}, {}, &simulation.clock);
    FAIL();
  } catch (const MissingShots& error) {
    EXPECT_THAT(error.what(), HasSubstr("site cluster is excluded: a user cancelled the job"));
  }
}

TEST(Distributor, UnusableInputEndsTheRun) {
  struct Unusable : FakeSite {
    using FakeSite::FakeSite;
    JobReport report(const Job& job) override {
      JobReport said;
      said.host = "node0";
      said.failures.push_back({job.tasks[0].shot, 2, 0, false, "--vp: there is no file 'vp.npy'"});
      return said;
    }
  };
  Faults none;
  none.wrong_success = 1.0;
  FakeClock clock;
  FakeWorld world(1, none, clock);
  std::vector<std::unique_ptr<Site>> sites;
  SiteOptions site;
  site.name = "here";
  sites.push_back(std::make_unique<Unusable>(site, world));
  const MemoryFolder folder;
  Journal journal(folder / "journal.txt", idle_work.survey);
  try {
    distribute({idle_work, journal}, shots(5), sites, {}, {}, &clock);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("shot 10"), HasSubstr("there is no file 'vp.npy'")));
  }
}

TEST(Distributor, RefusingSiteIsExcluded) {
  struct Refusing : FakeSite {
    using FakeSite::FakeSite;
    std::vector<std::string> submit(const Batch&) override {
      throw Refused("sbatch: error: invalid partition specified: gpu");
    }
  };
  FakeClock clock;
  FakeWorld world(1, {}, clock);
  std::vector<std::unique_ptr<Site>> sites;
  SiteOptions site;
  site.name = "cluster";
  sites.push_back(std::make_unique<Refusing>(site, world));
  const MemoryFolder folder;
  Journal journal(folder / "journal.txt", idle_work.survey);
  try {
    distribute({idle_work, journal}, shots(2), sites, {}, {}, &clock);
    FAIL();
  } catch (const MissingShots& error) {
    EXPECT_THAT(error.what(), HasSubstr("invalid partition specified: gpu"));
  }
}

TEST(Distributor, ReportsDifferingResults) {
  struct Doubtful : FakeSite {
    using FakeSite::FakeSite;
    CollectedResults collect(const Work& what, const Job& job,
                             const std::vector<std::int64_t>& requested) override {
      CollectedResults collected = FakeSite::collect(what, job, requested);
      for (ShotResult& result : collected.complete) {
        result.checksum += static_cast<std::uint32_t>(std::hash<std::string>()(job.token));
      }
      return collected;
    }
  };
  FakeClock clock;
  FakeWorld here(4, {}, clock), away(5, {}, clock);
  std::vector<std::unique_ptr<Site>> sites;
  for (FakeWorld* world : {&here, &away}) {
    SiteOptions site;
    site.name = world == &here ? "here" : "away";
    sites.push_back(std::make_unique<Doubtful>(site, *world));
  }
  // One site does not answer for a while and its shots are computed at the other; later both have
  // results of them.
  DistributeOptions options;
  options.silence_timeout = 60.0;
  const double begin = clock.now();
  options.stop = [&] {
    const double passed = clock.now() - begin;
    away.answers = passed < 30.0 || passed > 600.0;
    return false;
  };
  const MemoryFolder folder;
  Journal journal(folder / "journal.txt", idle_work.survey);
  const Report report = distribute({idle_work, journal}, shots(40), sites, options, {}, &clock);
  EXPECT_GT(report.duplicates, 0);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_THAT(report.notes[0], HasSubstr("the program is not deterministic"));
}

TEST(Distributor, ExceptionsOfOnResultEndTheRun) {
  Simulation simulation(2, {});
  std::vector<std::unique_ptr<Site>> sites;
  SiteOptions site;
  site.name = "here";
  sites.push_back(std::make_unique<FakeSite>(site, *simulation.worlds[0]));
  Journal journal(simulation.folder / "journal.txt", idle_work.survey);
  EXPECT_THROW(
      distribute(
          {idle_work, journal}, shots(3), sites, {},
          [](std::int64_t, const std::filesystem::path&) { throw FileError("the disk is full"); },
          &simulation.clock),
      FileError);
}

TEST(Distributor, CancelsRecordedJobs) {
  Simulation simulation(2, {});
  int turns = 0;
  DistributeOptions options;
  options.stop = [&] { return ++turns > 1; };
  const Report report = simulation.run(shots(9), options);
  EXPECT_TRUE(report.stopped);
  std::vector<std::unique_ptr<Site>> sites;
  SiteOptions site;
  site.name = "site0";
  sites.push_back(std::make_unique<FakeSite>(site, *simulation.worlds[0]));
  Journal journal(simulation.folder / "journal.txt", idle_work.survey);
  EXPECT_EQ(cancel_jobs({idle_work, journal}, sites), 6);
  EXPECT_EQ(static_cast<FakeSite&>(*sites[0]).cancelled.size(), 6u);
}

TEST(Distributor, RefusesInvalidArguments) {
  Simulation simulation(1, {});
  Journal journal(simulation.folder / "journal.txt", idle_work.survey);
  std::vector<std::unique_ptr<Site>> none, one, two;
  const auto add = [&](auto& list, const char* name, double seconds = 0.0) {
    SiteOptions site;
    site.name = name;
    site.time_limit = seconds;
    list.push_back(std::make_unique<FakeSite>(site, *simulation.worlds[0]));
  };
  add(one, "a", 600.0);
  add(two, "a");
  add(two, "a");
  const auto refusal = [&](const auto& sites, const std::vector<Task>& tasks,
                           const DistributeOptions& options, const Work& what = idle_work) {
    return message_of<InputError>([&] {
      distribute({what, journal}, tasks, sites, options, {}, &simulation.clock);
    });
  };
  EXPECT_THAT(refusal(none, shots(2), {}), HasSubstr("sites: none is given"));
  EXPECT_THAT(refusal(two, shots(2), {}), HasSubstr("'a' is repeated"));
  EXPECT_THAT(refusal(one, {{3}, {3}}, {}), HasSubstr("the shot 3 is repeated"));
  DistributeOptions options;
  options.max_attempts = 0;
  EXPECT_THAT(refusal(one, shots(2), options), HasSubstr("attempts: 0"));
  options = {};
  options.shots_per_job = 3;
  EXPECT_THAT(refusal(one, shots(2), options),
              HasSubstr("shots per job is 3 (allowed: 1 to 2, the shots of the survey)"));
  options = {};
  options.shot_time_limit = 700.0;
  EXPECT_THAT(refusal(one, shots(2), options), AllOf(HasSubstr("its time limit is 600 s"),
                                                     HasSubstr("the limit of a shot is 700 s")));
  options.shot_time_limit = 400.0;
  options.shots_per_job = 2;
  EXPECT_THAT(refusal(one, shots(2), options),
              AllOf(HasSubstr("2 shots of 400 s take 800 s"), HasSubstr("fewer shots")));
  options = {};
  options.max_missing = -1;
  EXPECT_THAT(refusal(one, shots(2), options), HasSubstr("-1 (allowed: 0 and more)"));
  Work unnamed = idle_work;
  unnamed.campaign = "$(rm)";
  EXPECT_THAT(refusal(one, shots(2), {}, unnamed), HasSubstr("campaign: the name '$(rm)'"));
  SiteOptions site;
  site.name = "../up";
  EXPECT_THAT(message_of<InputError>([&] { FakeSite fake(site, *simulation.worlds[0]); }),
              HasSubstr("site: the name '../up'"));
}

}  // namespace
}  // namespace moho::cluster
