// SPDX-License-Identifier: BSD-3-Clause
//
// Jobs as local processes: the next distributor starts jobs that were queued when the previous one
// ended, and counts no loss; cancelled jobs are not started.

#include "io/files.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/site.hpp>
#include <moho/cluster/submission_log.hpp>
#include <moho/cluster/text.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace moho::cluster {
namespace {

namespace fs = std::filesystem;
using io::test::Folder;
using io::test::put_file;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int slot_count = 2, shot_count = 6;

/// Returns the sorted tokens of the jobs whose workers were started.
std::vector<std::string> started(const fs::path& folder) {
  std::ifstream file(folder / "started");
  std::vector<std::string> tokens;
  for (std::string token; file >> token;) tokens.push_back(token);
  std::sort(tokens.begin(), tokens.end());
  return tokens;
}

/// Waits up to 20 s until `count` workers were started.
std::vector<std::string> wait_for_started(const fs::path& folder, std::size_t count) {
  for (int k = 0; k < 2000 && started(folder).size() < count; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return started(folder);
}

/// A campaign with one local site. Job k of a batch computes shot k.
struct LocalCampaign {
  LocalCampaign() {
    fs::create_directories(folder / "outputs");
    put_file(folder / "outputs" / "file", "values");
    // Waits for the file `go`, then writes the prepared report and result, as shot_worker does.
    put_file(folder / "worker.sh",
             "cd \"$1\" || exit 1; shift\n"
             "echo \"$1\" >> started\n"
             "n=0; while [ ! -e go ] && [ $n -lt 1000 ]; do sleep 0.02; n=$((n + 1)); done\n"
             "k=${1##*.}; job=here/jobs/${1%.*}/$k\n"
             "cp prepared/$k.begin $job.report\n"
             "cp prepared/$k.result here/results/$k.$1.result\n"
             "cat prepared/$k.end >> $job.report\n");
  }

  std::vector<std::string> worker() const {
    return {"/bin/sh", (folder / "worker.sh").string(), folder.path().string()};
  }

  Report run(const std::function<bool()>& stop) {
    Journal journal(folder / "journal.txt", work.survey, {JournalStart::any, true, {}});
    Work own = work;
    own.key = journal.key();
    std::vector<Task> tasks;
    for (int k = 0; k < shot_count; ++k) {
      tasks.push_back({k, 1.0});
      const std::string shot = std::to_string(k), name = "prepared/" + shot;
      if (fs::exists(folder / (name + ".end"))) continue;
      pack_result(folder.path(), name + ".result", own, k, folder / "outputs");
      put_file(folder / (name + ".begin"),
               add_checksum(join_words({"begin", shot, host_name(), time_text()})));
      put_file(folder / (name + ".end"), add_checksum(join_words({"done", shot, "0.1"})) +
                                             add_checksum(join_words({"end", "0"})));
    }
    SiteOptions site;
    site.name = "here";
    site.max_jobs = shot_count;
    site.collect_interval = 0.005;
    site.file_delay = 0.0;
    std::vector<std::unique_ptr<Site>> sites;
    sites.push_back(std::make_unique<FolderSite>(
        site, folder.path(), std::make_unique<LocalJobs>(folder / "here", worker(), slot_count)));
    sites[0]->probe(work);
    DistributeOptions options;
    options.stop = stop;
    options.keep_job_files = true;
    return distribute({work, journal}, tasks, sites, options, {});
  }

  Folder folder;
  Work work = {"survey", 0, {{"model", "crc 1"}}, {"true"}, {}};
};

TEST(LocalJobs, QueuedJobsOfAnEndedProcessAreStartedAndNotLost) {
  LocalCampaign campaign;
  const fs::path folder = campaign.folder.path();
  // Ends with two running workers and four jobs that were never started.
  int turns = 0;
  EXPECT_TRUE(campaign.run([&] { return ++turns > 3; }).stopped);
  EXPECT_EQ(wait_for_started(folder, slot_count).size(), static_cast<std::size_t>(slot_count));
  put_file(folder / "go", "");
  const Report report = campaign.run([] { return false; });
  EXPECT_EQ(report.done, shot_count);
  EXPECT_EQ(report.batches, 0);  // only the jobs of the first run
  EXPECT_EQ(report.resubmitted, 0);
  EXPECT_EQ(report.sites.at(0).failures, 0);
  EXPECT_EQ(report.sites.at(0).lost, 0);
  const std::vector<std::string> tokens = started(folder);
  EXPECT_EQ(tokens.size(), static_cast<std::size_t>(shot_count));
  EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end()), tokens.end());
  Journal journal(folder / "journal.txt", campaign.work.survey, {JournalStart::resume, false, {}});
  EXPECT_THAT(read_submission_log(journal.take_events()).last_failures, IsEmpty());
}

TEST(LocalJobs, JobsEndAtTheirTimeLimits) {
  const LocalCampaign campaign;
  const fs::path folder = campaign.folder.path();
  Batch batch{"survey.0.0", {}};
  for (int k = 0; k < 2; ++k) {
    batch.jobs.push_back({batch.token + '.' + std::to_string(k), {{k, 1.0}}, 1.0, 0.0, {}});
  }
  make_private_folders(folder / "here");
  write_jobs(folder / "here", campaign.work, batch);
  const auto end_of = [&](LocalJobs& jobs, int k) {
    JobStatus status;
    for (int n = 0; n < 2000 && !has_ended(status.state); ++n) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      status = jobs.query({batch.jobs[static_cast<std::size_t>(k)].token}).at(0);
    }
    return status.state;
  };
  {
    LocalJobs jobs(folder / "here", campaign.worker(), 1);
    jobs.submit({batch.token, {batch.jobs[0]}});
    EXPECT_EQ(end_of(jobs, 0), JobState::timed_out);
  }
  // that of a worker which another process has started
  std::make_unique<LocalJobs>(folder / "here", campaign.worker(), 1)
      ->submit({batch.token, {batch.jobs[1]}});
  EXPECT_EQ(wait_for_started(folder, 2).size(), 2U);
  LocalJobs jobs(folder / "here", campaign.worker(), 1);
  EXPECT_EQ(end_of(jobs, 1), JobState::timed_out);
}

TEST(LocalJobs, CancelledJobsOfAnEndedProcessAreNotStarted) {
  const LocalCampaign campaign;
  const fs::path folder = campaign.folder.path();
  Batch batch{"survey.0.0", {}};
  for (int k = 0; k < 3; ++k) {
    batch.jobs.push_back({batch.token + '.' + std::to_string(k), {{k, 1.0}}, 0.0, 0.0, {}});
  }
  make_private_folders(folder / "here");
  write_jobs(folder / "here", campaign.work, batch);
  LocalJobs jobs(folder / "here", campaign.worker(), 1);
  jobs.cancel({batch.jobs[0].token});
  const auto state_of = [&](int k) { return jobs.query({batch.jobs[k].token}).at(0).state; };
  EXPECT_EQ(state_of(0), JobState::cancelled);
  // a job without its file cannot be started
  fs::remove(files_of(folder / "here", batch.jobs[1].token).job);
  EXPECT_EQ(state_of(1), JobState::node_lost);
  EXPECT_EQ(state_of(2), JobState::queued);
  EXPECT_THAT(wait_for_started(folder, 1), ElementsAre(batch.jobs[2].token));
  EXPECT_EQ(state_of(2), JobState::running);
  jobs.cancel({batch.jobs[2].token});
  EXPECT_EQ(state_of(2), JobState::cancelled);
  EXPECT_THAT(started(folder), ElementsAre(batch.jobs[2].token));
}

}  // namespace
}  // namespace moho::cluster
