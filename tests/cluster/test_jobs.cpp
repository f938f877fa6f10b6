// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Execution of programs, files of jobs and results (damaged at every byte), Slurm commands with
// scripted answers, analysis of failures, threads.

#include "io/files.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/policy.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/site.hpp>
#include <moho/cluster/sites_file.hpp>
#include <moho/cluster/slurm_jobs.hpp>
#include <moho/cluster/text.hpp>
#include <moho/cluster/worker.hpp>
#include <moho/core/error.hpp>
#include <moho/io/writer.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>

namespace moho::cluster {
namespace {

namespace fs = std::filesystem;
using io::test::Folder;
using io::test::message_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_all(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

const Work copy_work = {"survey",
                        2,
                        {{"model", "crc 1 2"}, {"empty", ""}},
                        {"cp", "{input:vp}", "{out}/{shot}"},
                        {{"vp", "/data/v p.npy"}}};

// ---- programs

TEST(Process, PassesArgumentsUnchanged) {
  const std::vector<std::string> odd{"a b", "$(false)", "`x`", ";", "'", "\"", "", "*", "\n", "\\"};
  Command command;
  command.words = {"printf", "%s|"};
  command.words.insert(command.words.end(), odd.begin(), odd.end());
  std::string expected;
  for (const std::string& word : odd) expected += word + "|";
  EXPECT_EQ(run_command(command).out, expected);
}

TEST(Process, TransfersLargeInputAndOutput) {
  Command command;
  command.words = {"cat"};
  command.input = std::string(5'000'000, 'x') + "end";
  const CommandResult result = run_command(command);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.out, command.input);
  // a program that does not read its input causes no signal
  command.words = {"true"};
  EXPECT_TRUE(run_command(command).succeeded());
}

TEST(Process, ReportsHowAProgramEnded) {
  EXPECT_EQ(
      run_command({{"sh", "-c", "echo out; echo wrong >&2; exit 7"}, "", 60.0, 1000}).message(),
      "wrong [exit 7]");
  const CommandResult killed = run_command({{"sh", "-c", "kill -9 $$"}, "", 60.0, 1000});
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.succeeded());
  const CommandResult late = run_command({{"sh", "-c", "sleep 60 & sleep 60"}, "", 0.2, 1000});
  EXPECT_TRUE(late.timed_out);
  EXPECT_THAT(late.message(), HasSubstr("no answer in time"));
  const int stop = ::eventfd(1, EFD_CLOEXEC);
  EXPECT_FALSE(run_command({{"sleep", "60"}, "", 60.0, 1000, stop}).succeeded());
  ::close(stop);
  EXPECT_THAT(message_of<FileError>([] {
                run_command({{"/none/program"}, "", 1.0, 10});
              }),
              AllOf(HasSubstr("cannot start '/none/program'"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<InputError>([] {
                run_command({{}, "", 1.0, 10});
              }),
              HasSubstr("a command has no words"));
}

// ---- jobs

TEST(Job, IsReadBackAndDetectsDamage) {
  Job job;
  job.token = "survey-1.0.7.0";
  job.tasks = {{4, 1.5}, {-9, 0.1}};
  job.time_limit = 0.1 + 0.2;
  job.memory = 1e9;
  job.excluded_nodes = {"n1", "n 2"};
  job.shots_per_job = 3;
  job.shot_time_limit = 0.7;
  job.max_memory = 4e9;
  Work odd = copy_work;
  odd.command = {"a b", "", "%", "$(x)", "\n", "*", "{shot}"};
  const std::string text = to_text(odd, job);
  const auto [work_read, job_read] = parse_job(text, "job", {});
  EXPECT_EQ(work_read.command, odd.command);
  EXPECT_EQ(work_read.survey, odd.survey);
  EXPECT_EQ(work_read.inputs, odd.inputs);
  EXPECT_EQ(work_read.evaluation, 2);
  EXPECT_EQ(job_read.tasks, job.tasks);
  EXPECT_EQ(job_read.time_limit, job.time_limit);
  EXPECT_EQ(job_read.excluded_nodes, job.excluded_nodes);
  EXPECT_EQ(job_read.shots_per_job, 3);
  EXPECT_EQ(job_read.shot_time_limit, 0.7);
  EXPECT_EQ(job_read.max_memory, 4e9);
  EXPECT_EQ(to_text(work_read, job_read), text);
  // truncated or changed at any byte it is refused
  for (std::size_t k = 0; k < text.size(); ++k) {
    EXPECT_THROW(parse_job(text.substr(0, k), "job", {}), FileError) << k;
    std::string changed = text;
    changed[k] = static_cast<char>(changed[k] ^ 1);
    EXPECT_THROW(parse_job(changed, "job", {}), FileError) << k;
  }
}

TEST(Job, ExpandsCommands) {
  EXPECT_THAT(expand_command(copy_work, 12, "/o", "/p"),
              ElementsAre("cp", "/data/v p.npy", "/o/12"));
  Work other = copy_work;
  other.command = {"{programs}/x", "{shot", "{}", "{other}", "{shot}{shot}"};
  EXPECT_THAT(expand_command(other, 3, "/o", "/p"),
              ElementsAre("/p/x", "{shot", "{}", "{other}", "33"));
  other.command = {"x", "{input:rho}"};
  EXPECT_THAT(message_of<InputError>([&] { expand_command(other, 3, "/o", "/p"); }),
              AllOf(HasSubstr("names the input 'rho'"), HasSubstr("--input rho=FILE")));
}

// ---- results

TEST(Result, PacksTheFilesOfAShot) {
  const Folder folder;
  const fs::path root = folder / "root", out = folder / "out";
  fs::create_directories(out);
  fs::create_directories(root);
  const std::string big(3'000'000, 'b');
  write_all(out / "a b.npy", "first\n");
  write_all(out / "big", big);
  write_all(out / "empty", "");
  const ShotResult result = pack_result(root, "here/results/5.x.result", copy_work, 5, out);
  EXPECT_EQ(result, check_result(root, result.file, copy_work, 5));
  const ResultHeader header = read_header(root / result.file);
  EXPECT_EQ(header.parts.size(), 3u);
  EXPECT_THAT(unpack_result(root / result.file, folder / "back", {}),
              ElementsAre("a b.npy", "big", "empty"));
  EXPECT_EQ(read_all(folder / "back" / "a b.npy"), "first\n");
  EXPECT_EQ(read_all(folder / "back" / "big"), big);
  // equal outputs give equal files
  EXPECT_EQ(pack_result(root, "here/results/5.y.result", copy_work, 5, out).checksum,
            result.checksum);
  // refused for other work
  Work other = copy_work;
  other.evaluation = 3;
  EXPECT_THAT(message_of<FileError>([&] { check_result(root, result.file, other, 5); }),
              HasSubstr("belongs to the evaluation 2, not to 3"));
  other = copy_work;
  other.survey["model"] = "crc 2";
  EXPECT_THAT(message_of<FileError>([&] { check_result(root, result.file, other, 5); }),
              HasSubstr("belongs to a survey with the checksum"));
  EXPECT_THAT(message_of<FileError>([&] { check_result(root, result.file, copy_work, 6); }),
              HasSubstr("belongs to the shot 5, not to 6"));
}

TEST(Result, DetectsDamageAtEachByte) {
  const Folder folder;
  const fs::path out = folder / "out";
  fs::create_directories(out);
  write_all(out / "a", "some data");
  const ShotResult result = pack_result(folder / "root", "r/5.result", copy_work, 5, out);
  const fs::path path = folder / "root" / result.file;
  const std::string whole = read_all(path);
  for (std::size_t k = 0; k < whole.size(); ++k) {
    write_all(path, whole.substr(0, k));
    EXPECT_THROW(check_result(folder / "root", result.file, copy_work, 5), FileError) << k;
    std::string changed = whole;
    changed[k] = static_cast<char>(changed[k] ^ 4);
    write_all(path, changed);
    EXPECT_THROW(check_result(folder / "root", result.file, copy_work, 5), FileError) << k;
  }
  write_all(path, whole + "x");
  EXPECT_THAT(
      message_of<FileError>([&] { check_result(folder / "root", result.file, copy_work, 5); }),
      HasSubstr("longer than its header says"));
}

// A file written without the key is refused although its checksums are correct.
TEST(Result, RequiresTheKeyOfTheJournal) {
  const Folder folder;
  fs::create_directories(folder / "out");
  write_all(folder / "out" / "a", "some data");
  Work own = copy_work, other = copy_work;
  own.key = make_key();
  other.key = make_key();
  const ShotResult forged = pack_result(folder / "root", "r/5.result", other, 5, folder / "out");
  EXPECT_THAT(message_of<FileError>([&] { check_result(folder / "root", forged.file, own, 5); }),
              HasSubstr("was not written with the key of its journal"));
  EXPECT_THROW(unpack_result(folder / "root" / forged.file, folder / "back", own.key), FileError);
  EXPECT_FALSE(fs::exists(folder / "back"));
  EXPECT_THROW(unpack_result(folder / "root" / forged.file, folder / "sum", own.key, true),
               FileError);
  const ShotResult result = pack_result(folder / "root", "r/5.result", own, 5, folder / "out");
  EXPECT_EQ(result, check_result(folder / "root", result.file, own, 5));
  unpack_result(folder / "root" / result.file, folder / "sum", own.key, true);
  EXPECT_EQ(read_all(folder / "sum" / "a"), "some data");
  Job job;
  job.token = "survey-1.0.7.0";
  job.tasks = {{4, 1.5}};
  EXPECT_EQ(parse_job(to_text(own, job), "job", own.key).second.token, job.token);
  EXPECT_THAT(message_of<FileError>([&] { parse_job(to_text(other, job), "job", own.key); }),
              HasSubstr("not written with the key of its journal"));
}

TEST(Guard, KeysAndFoldersArePrivate) {
  const Folder folder;
  const fs::path inner = folder / "inner";
  make_private_folders(inner / "deep");
  EXPECT_EQ(fs::status(inner).permissions(), fs::perms::owner_all);
  const Key key = make_key();
  EXPECT_EQ(write_key(inner, key), key);
  EXPECT_EQ(write_key(inner, make_key()), key);  // the existing key is kept
  EXPECT_EQ(parse_key(to_text(key)), key);
  EXPECT_THROW(parse_key(to_text(key).substr(1)), InputError);
  fs::permissions(inner / key_file, fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(message_of<InputError>([&] { read_key(inner); }), HasSubstr("has the mode 0640"));
  fs::remove(inner / key_file);
  EXPECT_THAT(message_of<InputError>([&] { read_key(inner); }),
              HasSubstr("made by another version of moho"));
  fs::permissions(inner, fs::perms::group_write, fs::perm_options::add);
  EXPECT_THAT(message_of<InputError>([&] { check_private_folder(inner); }),
              HasSubstr("has the mode 0720"));
}

TEST(Result, RefusesEmptyFoldersAndSubfolders) {
  const Folder folder;
  fs::create_directories(folder / "out");
  EXPECT_THAT(message_of<InputError>([&] {
                pack_result(folder / "root", "r/5.result", copy_work, 5, folder / "out");
              }),
              HasSubstr("left no file in the folder {out}"));
  fs::create_directories(folder / "out" / "deeper");
  EXPECT_THAT(message_of<InputError>([&] {
                pack_result(folder / "root", "r/5.result", copy_work, 5, folder / "out");
              }),
              HasSubstr("left 'deeper', which is not a regular file"));
}

// ---- Slurm, with scripted answers

struct Script {
  std::vector<std::vector<std::string>> requested;
  std::deque<CommandResult> answers;
  SlurmOptions options(const fs::path& folder) {
    SlurmOptions slurm;
    slurm.folder = folder;
    slurm.worker = {"/bin/shot_worker", "--job"};
    slurm.run = [this](const Command& command) {
      requested.push_back(command.words);
      if (answers.empty()) return CommandResult{1, 0, false, "", "no answer was written"};
      const CommandResult answer = answers.front();
      answers.pop_front();
      return answer;
    };
    return slurm;
  }
  void say(const std::string& out) { answers.push_back({0, 0, false, out, ""}); }
  void fail(const std::string& error) { answers.push_back({1, 0, false, "", error}); }
};

Batch batch_of(int jobs) {
  Batch batch{"survey-1.0.3", {}};
  for (int k = 0; k < jobs; ++k) {
    Job job;
    job.token = batch.token + '.' + std::to_string(k);
    job.tasks = {{k, 1.0}};
    batch.jobs.push_back(job);
  }
  return batch;
}

TEST(Slurm, ParsesStatesAndIndices) {
  EXPECT_EQ(parse_slurm_state("CANCELLED by 1000"), JobState::cancelled);
  EXPECT_EQ(parse_slurm_state("COMPLETED"), JobState::completed);
  EXPECT_EQ(parse_slurm_state("PENDING"), JobState::queued);
  EXPECT_EQ(parse_slurm_state("COMPLETING"), JobState::running);
  EXPECT_EQ(parse_slurm_state("TIMEOUT"), JobState::timed_out);
  EXPECT_EQ(parse_slurm_state("OUT_OF_MEMORY"), JobState::out_of_memory);
  for (const char* lost : {"NODE_FAIL", "BOOT_FAIL"}) {
    EXPECT_EQ(parse_slurm_state(lost), JobState::node_lost);
  }
  for (const char* gone : {"PREEMPTED", "DEADLINE"}) {
    EXPECT_EQ(parse_slurm_state(gone), JobState::preempted);
  }
  EXPECT_EQ(parse_slurm_state("SOMETHING_NEW"), JobState::unknown);
  EXPECT_THAT(parse_slurm_indices("3", 10), ElementsAre(3));
  EXPECT_THAT(parse_slurm_indices("[2,5-7%2]", 10), ElementsAre(2, 5, 6, 7));
  EXPECT_THAT(parse_slurm_indices("N/A", 10), IsEmpty());
  EXPECT_EQ(parse_slurm_indices("0-999999999", 5).size(), 5u);
}

TEST(Slurm, SubmitsAnArrayUnderItsToken) {
  const Folder folder;
  Script script;
  SlurmOptions options = script.options(folder / "site");
  options.partition = "gpu";
  options.sbatch_options = {"--gres=gpu:1"};
  SlurmJobs slurm(options);
  fs::create_directories(folder / "site");
  script.say("17;cluster\n");
  Batch batch = batch_of(3);
  for (Job& job : batch.jobs) {
    job.time_limit = 3601.0;
    job.memory = 3e9;
    job.excluded_nodes = {"n7", "n9"};
  }
  EXPECT_THAT(slurm.submit(batch), ElementsAre("17_0", "17_1", "17_2"));
  const auto& words = script.requested.at(0);
  for (const char* word :
       {"--parsable", "--no-requeue", "--job-name=survey-1.0.3", "--array=0-2", "--partition=gpu",
        "--gres=gpu:1", "--exclude=n7,n9", "--time=1:01:00", "--mem=2862M", "survey-1.0.3"}) {
    EXPECT_THAT(words, ::testing::Contains(word));
  }
}

TEST(Slurm, DistinguishesRefusalsFromTimeouts) {
  const Folder folder;
  fs::create_directories(folder / "site");
  Script script;
  SlurmJobs slurm(script.options(folder / "site"));
  const Batch batch = batch_of(1);
  script.fail(
      "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation");
  EXPECT_THROW(slurm.submit(batch), NoAnswer);
  script.fail(
      "sbatch: error: Batch job submission failed: Unable to contact slurm controller "
      "(connect failure)");
  EXPECT_THROW(slurm.submit(batch), NoAnswer);
  script.answers.push_back({-1, 9, true, "", ""});
  EXPECT_THROW(slurm.submit(batch), NoAnswer);
  script.say("");
  EXPECT_THROW(slurm.submit(batch), NoAnswer);
  script.fail(
      "sbatch: error: Batch job submission failed: Invalid account or account/partition "
      "combination specified");
  EXPECT_THAT(message_of<Refused>([&] { slurm.submit(batch); }), HasSubstr("Invalid account"));
  script.fail(
      "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission "
      "failed: Job violates accounting/QOS policy (job submit limit, user's size and/or "
      "time limits)");
  EXPECT_THROW(slurm.submit(batch), NoRoom);
}

TEST(Slurm, QueriesAllJobsWithOneCommand) {
  const Folder folder;
  Script script;
  SlurmJobs slurm(script.options(folder / "site"));
  script.say("17|3|RUNNING|n1|None\n17|[4-5%2]|PENDING||Resources\n18|0|CANCELLED|n2|None\n");
  auto all = slurm.query({"17_3", "17_4", "17_5", "18_0", "19_0"});
  ASSERT_EQ(script.requested.size(), 1u);
  EXPECT_THAT(script.requested[0], ::testing::Contains("17,18,19"));
  std::map<std::string, JobState> states;
  for (const JobStatus& status : all) states[status.id] = status.state;
  EXPECT_EQ(states["17_3"], JobState::running);
  EXPECT_EQ(states["17_4"], JobState::queued);
  EXPECT_EQ(states["18_0"], JobState::cancelled);
  EXPECT_EQ(states["19_0"], JobState::unknown);
  EXPECT_EQ(all.size(), 5u);
  script.fail("slurm_load_jobs error: Invalid job id specified");
  EXPECT_EQ(slurm.query({"17_3"})[0].state, JobState::unknown);
  script.fail("slurm_load_jobs error: Unable to contact slurm controller (connect failure)");
  EXPECT_THROW(slurm.query({"17_3"}), NoAnswer);
  // a batch is found by its name
  script.say("21\n21\n");
  EXPECT_THAT(slurm.find(batch_of(2)), ElementsAre("21_0", "21_1"));
  script.say("");
  EXPECT_THAT(slurm.find(batch_of(2)), IsEmpty());
}

TEST(Slurm, ReadsLimits) {
  const Folder folder;
  Script script;
  SlurmOptions options = script.options(folder / "site");
  options.max_array = 5000;
  SlurmJobs slurm(options);
  script.say(
      "MaxArraySize            = 1001\nMessageTimeout          = 20 sec\n"
      "MinJobAge               = 60 sec\n");
  script.fail("Slurm accounting storage is disabled");
  script.say("");
  EXPECT_THAT(slurm.probe(), AllOf(HasSubstr("arrays of up to 1000"), HasSubstr("without")));
  EXPECT_EQ(slurm.max_jobs(), 1000);
  EXPECT_DOUBLE_EQ(slurm.settling_time(), 25.0);
  EXPECT_DOUBLE_EQ(slurm.query_intervals().second, 20.0);
  // a limit of one allows arrays of one job; a limit of 0 allows none
  script.say("MaxArraySize = 1\n");
  script.fail("Slurm accounting storage is disabled");
  script.say("");
  EXPECT_THAT(slurm.probe(), HasSubstr("arrays of up to 1,"));
  EXPECT_EQ(slurm.max_jobs(), 1);
  script.say("MaxArraySize = 0\n");
  EXPECT_THAT(message_of<InputError>([&] { slurm.probe(); }),
              HasSubstr("its MaxArraySize is 0 (needed: 1 and more)"));
  // a refused account is reported with Slurm's message
  script.say("MaxArraySize = 1001\n");
  script.fail("Slurm accounting storage is disabled");
  script.fail("sbatch: error: Batch job submission failed: Invalid account");
  EXPECT_THAT(
      message_of<InputError>([&] { slurm.probe(); }),
      HasSubstr("sbatch reports: sbatch: error: Batch job submission failed: Invalid account"));
  EXPECT_THAT(message_of<InputError>([&] {
                options.max_array = 0;
                SlurmJobs refused(options);
              }),
              HasSubstr("array is 0 (allowed: 1 and more)"));
}

// ---- causes

TEST(Policy, AnalysesFailures) {
  JobReport report;
  report.host = "n1";
  report.done = {1};
  report.failures = {
      {2, 1, 0, false, "wrong"}, {3, 2, 0, false, "no model"}, {4, 1, 0, true, "full"}};
  report.current = 5;
  JobStatus status;
  status.state = JobState::failed;
  EXPECT_EQ(analyse_failure(2, status, report).cause, Cause::program);
  EXPECT_EQ(analyse_failure(2, status, report).message, "exit 1: wrong");
  EXPECT_EQ(analyse_failure(3, status, report).cause, Cause::input);
  EXPECT_EQ(analyse_failure(4, status, report).cause, Cause::disk);
  EXPECT_EQ(analyse_failure(5, status, report).cause, Cause::program);
  EXPECT_EQ(analyse_failure(6, status, report).cause, Cause::not_begun);
  EXPECT_EQ(analyse_failure(1, status, report).cause, Cause::missing);
  EXPECT_EQ(analyse_failure(5, status, {}).cause, Cause::node);
  const std::pair<JobState, Cause> begun[] = {
      {JobState::timed_out, Cause::time},      {JobState::out_of_memory, Cause::memory},
      {JobState::node_lost, Cause::node},      {JobState::preempted, Cause::node},
      {JobState::cancelled, Cause::cancelled}, {JobState::unknown, Cause::vanished},
      {JobState::completed, Cause::not_begun}};
  for (const auto& [state, cause] : begun) {
    status.state = state;
    EXPECT_EQ(analyse_failure(5, status, report).cause, cause) << to_string(state);
  }
  NodeRecord nodes;
  for (int k = 0; k < 8; ++k) nodes.add("good", k == 0);
  nodes.add("bad", true);
  EXPECT_THAT(nodes.nodes_to_exclude(), IsEmpty());
  nodes.add("bad", true);
  EXPECT_THAT(nodes.nodes_to_exclude(), ElementsAre("bad"));
  for (int k = 0; k < 9; ++k) nodes.add("bad", false);
  EXPECT_THAT(nodes.nodes_to_exclude(), IsEmpty());
}

// ---- threads

TEST(Threads, ComputeFunctions) {
  const Folder folder;
  std::atomic<int> calls{0};
  WorkerOptions worker;
  worker.folder = folder / "threads";
  worker.program = [&](const Task& task, const fs::path& out) {
    ++calls;
    if (task.shot == 3 && calls < 5) return ShotOutcome{1, 0, "not yet"};
    if (task.shot == 4 && calls < 6) throw std::runtime_error("a surprise");
    write_all(out / "r", std::to_string(task.shot));
    return ShotOutcome{};
  };
  SiteOptions options;
  options.name = "threads";
  options.max_jobs = 4;
  options.collect_interval = 0.002;
  options.file_delay = 0.0;
  std::vector<std::unique_ptr<Site>> sites;
  sites.push_back(std::make_unique<FolderSite>(options, folder / "x" / "..",
                                               std::make_unique<ThreadJobs>(worker, 2)));
  EXPECT_THAT(sites[0]->probe(copy_work), HasSubstr("2 threads"));
  Journal journal(folder / "journal.txt", copy_work.survey);
  std::vector<Task> tasks;
  for (int k = 0; k < 12; ++k) tasks.push_back({k, 1.0});
  std::set<std::int64_t> delivered;
  DistributeOptions how;
  how.max_attempts = 20;
  how.first_pause = 0.1;
  const Report report = distribute(
      {copy_work, journal}, tasks, sites, how, [&](std::int64_t shot, const fs::path& path) {
        EXPECT_TRUE(delivered.insert(shot).second);
        unpack_result(path, folder / "back", journal.key());
        EXPECT_EQ(read_all(folder / "back" / "r"), std::to_string(shot));
      });
  EXPECT_EQ(report.done, 12);
  EXPECT_EQ(delivered.size(), 12u);
}

TEST(Policy, HintsAtInaccessibleFolders) {
  const JobReport nothing;
  JobStatus status;
  for (const JobState state : {JobState::completed, JobState::failed}) {
    status.state = state;
    const FailureAnalysis analysis = analyse_failure(3, status, nothing);
    EXPECT_FALSE(counts_as_attempt(analysis.cause));
    EXPECT_THAT(analysis.message,
                HasSubstr("can the nodes access the programs and the folder of the journal?"));
  }
}

}  // namespace
}  // namespace moho::cluster
