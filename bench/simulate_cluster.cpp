// SPDX-License-Identifier: BSD-3-Clause
//
// simulate_cluster: a complete run of a distributor over many failing nodes, in virtual time. The
// code is that of a real run; the job system and the clock are in memory.
//
//   simulate_cluster [--shots 100000] [--nodes 1000] [--seconds 600] [--seed 1] [--out FILE]
//   simulate_cluster --sites [--seed 1] [--out FILE]     two sites 8 : 3: pull, Algorithm 3

#include "cluster/fake_site.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/text.hpp>
#include <moho/io/writer.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace moho::cluster {
namespace {

namespace fs = std::filesystem;
using namespace test;

struct Settings {
  std::int64_t shots = 100000, nodes = 1000;
  double seconds = 600.0;
  std::uint64_t seed = 1;
  bool sites = false;
  std::string out;
};

Settings read(int argc, char** argv) {
  Settings settings;
  const bool smoke = std::getenv("MOHO_BENCH_SMOKE") != nullptr;
  if (smoke) settings.shots = 500, settings.nodes = 20;
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    if (name == "--sites") {
      settings.sites = true;
      continue;
    }
    if (name.rfind("--benchmark", 0) == 0) continue;
    const std::string value = k + 1 < argc ? argv[++k] : "";
    bool good = true;
    if (name == "--shots") good = read_number(value, settings.shots);
    if (name == "--nodes") good = read_number(value, settings.nodes);
    if (name == "--seconds") good = read_number(value, settings.seconds);
    if (name == "--seed") good = read_number(value, settings.seed);
    if (name == "--out") settings.out = value;
    const std::set<std::string> known{"--shots", "--nodes", "--seconds", "--seed", "--out"};
    if (!good || known.count(name) == 0) {
      throw InputError(concat("'", name, ' ', value,
                              "' (allowed: --shots, --nodes, --seconds, --seed with numbers, "
                              "--out FILE, --sites)"));
    }
  }
  return settings;
}

double processor_seconds() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

double largest_memory() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

// A folder in memory if the system has one: times are then the distributor's and not the disk's.
class Folder {
 public:
  Folder()
      : m_path(fs::path(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") /
               concat("moho-simulation-", ::getpid())) {
    fs::create_directories(m_path);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    fs::remove_all(m_path, error);
  }
  fs::path operator/(const char* name) const { return m_path / name; }

 private:
  fs::path m_path;
};

std::vector<Task> tasks_of(std::int64_t count) {
  std::vector<Task> tasks;
  for (std::int64_t k = 0; k < count; ++k) tasks.push_back({k, 1.0});
  return tasks;
}

const Work work = {"simulation", 0, {{"model", "none"}}, {"true"}, {}};

// Simulates many failing nodes.
std::string simulate_nodes(const Settings& settings) {
  Faults faults;
  faults.submit_accepted = faults.submit_lost = faults.no_room = 0.01;
  faults.late_accepted = 0.5;
  faults.query_silent = 0.02;
  faults.wrong_state = 0.001;
  faults.fails = faults.crashes = faults.timed_out = 0.002;
  faults.node_lost = 0.01;
  faults.vanishes = faults.torn = faults.very_late_file = faults.wrong_success = 0.001;
  faults.late_file = 0.05;
  FakeClock clock;
  clock.max_waits = std::int64_t{1} << 40;
  FakeWorld world(settings.seed, faults, clock);
  world.slots = static_cast<int>(settings.nodes);
  world.seconds = settings.seconds;
  SiteOptions site;
  site.name = "cluster";
  site.max_jobs = settings.nodes + settings.nodes / 5;  // some jobs wait, so that no node does
  site.collect_interval = 10.0;
  std::vector<std::unique_ptr<Site>> sites;
  sites.push_back(std::make_unique<FakeSite>(site, world));
  DistributeOptions options;
  options.max_attempts = 5;
  options.max_lost = 20;
  const Folder folder;
  Journal journal(folder / "journal.txt", work.survey);
  const auto tasks = tasks_of(settings.shots);
  const double memory_before = largest_memory(), begin = processor_seconds();
  std::int64_t delivered = 0;
  const Report report = distribute(
      {work, journal}, tasks, sites, options, [&](std::int64_t, const fs::path&) { ++delivered; },
      &clock);
  if (delivered != settings.shots) throw Error("shots are missing in the simulation");
  const double ideal =
      static_cast<double>(settings.shots) * settings.seconds / static_cast<double>(settings.nodes);
  const auto bytes = static_cast<double>(fs::file_size(folder / "journal.txt"));
  const double processor = processor_seconds() - begin;
  const double resume_begin = processor_seconds();
  std::string json = concat(
      "{\"shots\": ", settings.shots, ", \"nodes\": ", settings.nodes,
      ", \"seconds_of_a_shot\": ", settings.seconds, ", \"seed\": ", settings.seed,
      ", \"virtual_seconds\": ", report.seconds, ", \"ideal_seconds\": ", ideal,
      ", \"time_over_ideal\": ", report.seconds / ideal, ", \"submissions\": ", report.batches,
      ", \"shots_again\": ", report.resubmitted, ", \"results_twice\": ", report.duplicates,
      ", \"failures\": ", report.sites[0].failures, ", \"processor_seconds\": ", processor,
      ", \"processor_ms_per_shot\": ", 1e3 * processor / static_cast<double>(settings.shots),
      ", \"memory_bytes\": ", largest_memory() - memory_before, ", \"journal_bytes\": ", bytes,
      ", \"journal_bytes_per_shot\": ", bytes / static_cast<double>(settings.shots),
      ", \"turns\": ", clock.waits);
  const JournalContent text = read_journal(folder / "journal.txt");
  json += concat(", \"read_seconds\": ", processor_seconds() - resume_begin,
                 ", \"results\": ", text.results.size(), "}");
  return json;
}

// Simulates two sites 8 : 3 whose speeds change between evaluations.
std::string simulate_sites(const Settings& settings) {
  std::string json = "{\"shots\": 200, \"evaluations\": 40, \"sites\": \"8:3\"";
  for (const bool pull : {true, false}) {
    std::mt19937_64 random(settings.seed);
    std::normal_distribution<> normal;
    double taken = 0.0, ideal = 0.0, rates[2] = {1.0, 1.0};
    for (int evaluation = 0; evaluation < 40; ++evaluation) {
      FakeClock clock;
      std::vector<std::unique_ptr<FakeWorld>> worlds;
      std::vector<std::unique_ptr<Site>> sites;
      double speed = 0.0;
      for (int k = 0; k < 2; ++k) {
        worlds.push_back(std::make_unique<FakeWorld>(
            settings.seed + static_cast<std::uint64_t>(100 * evaluation + k), Faults{}, clock));
        const double swing = std::exp(0.3 * normal(random));
        worlds.back()->seconds = 600.0 / swing;
        worlds.back()->slots = k == 0 ? 8 : 3;
        speed += worlds.back()->slots / worlds.back()->seconds;
        SiteOptions site;
        site.name = k == 0 ? "eight" : "three";
        site.max_jobs = worlds.back()->slots + 1;
        site.rate = rates[k];
        sites.push_back(std::make_unique<FakeSite>(site, *worlds.back()));
      }
      DistributeOptions options;
      options.partition = pull ? Partition::pull : Partition::parts;
      const Folder folder;
      Journal journal(folder / "journal.txt", work.survey);
      const Report report = distribute({work, journal}, tasks_of(200), sites, options, {}, &clock);
      for (int k = 0; k < 2; ++k) {
        const double measured = report.sites[static_cast<std::size_t>(k)].rate;
        rates[k] = evaluation == 0 ? measured : 0.5 * rates[k] + 0.5 * measured;
      }
      if (evaluation < 5) continue;  // rates are known from evaluation 5 on
      taken += report.seconds;
      ideal += 200.0 / speed;
    }
    json += concat(", \"", pull ? "pull" : "algorithm_3", "_over_ideal\": ", taken / ideal);
  }
  return json + "}";
}

}  // namespace
}  // namespace moho::cluster

int main(int argc, char** argv) {
  try {
    const moho::cluster::Settings settings = moho::cluster::read(argc, argv);
    const std::string json = settings.sites ? moho::cluster::simulate_sites(settings)
                                            : moho::cluster::simulate_nodes(settings);
    std::puts(json.c_str());
    if (!settings.out.empty()) moho::io::write_text(settings.out, json + "\n");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "simulate_cluster: %s\n", error.what());
    return 1;
  }
}
