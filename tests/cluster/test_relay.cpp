// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Remote sites: requests and answers.

#include "io/files.hpp"

#include <moho/cluster/guard.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/relay.hpp>
#include <moho/cluster/sites_file.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>

#include <unistd.h>

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace moho::cluster {
namespace {

namespace fs = std::filesystem;
using io::test::Folder;
using io::test::message_of;
using ::testing::HasSubstr;

TEST(Relay, RefusesProgramsOfAnotherVersion) {
  const Folder folder;
  RelayOptions relay;
  relay.host = "far";
  relay.folder = relay.programs = "/far";
  relay.run = [](const Command&) {
    CommandResult result;
    result.exit = 0;
    result.out =
        "Welcome to far!\n" + add_checksum(join_words({"version", "0.0.1"})) + add_checksum("end");
    return result;
  };
  RelaySite site({.name = "far"}, folder.path(), relay);
  EXPECT_THAT(message_of<InputError>([&] { static_cast<Site&>(site).probe(Work{}); }),
              HasSubstr("site far: the programs in /far are of version 0.0.1, these of " +
                        std::string(version()) + ": install the same version there"));
}

TEST(Relay, LimitsTheMemoryOfSlurmJobsOnly) {
  const Folder folder;
  const auto limits = [&](const std::string& kind) {
    const std::string text =
        "[far]\nhost = far\nfolder = /far\nprograms = /far\n" + kind + "\n[more]\nkind = slurm";
    const auto sites = make_sites(parse_sites(text, "sites.cfg"), folder.path(), "/bin");
    EXPECT_TRUE(sites[1]->system().limits_memory());
    return sites[0]->system().limits_memory();
  };
  EXPECT_FALSE(limits(""));
  EXPECT_FALSE(limits("kind = local\nslots = 2"));
  EXPECT_TRUE(limits("kind = slurm"));
}

// Returns the answer to a request of the states of jobs.
std::string look(const fs::path& folder, const std::string& job, double wait) {
  std::string text;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"moho", version()},
                                             {"folder", folder.string()},
                                             {"do", "look"},
                                             {"wait", format_number(wait)},
                                             {"job", job}}) {
    text += add_checksum(join_words(words));
  }
  std::istringstream in(text + add_checksum("end"));
  std::ostringstream out;
  serve_relay_request(in, out, "/bin/true");
  return out.str();
}

TEST(Relay, AnswersWhenAJobEnds) {
  const Folder folder;
  const fs::path far = fs::absolute(folder.path()), chunk = far / "c.0";
  const auto seconds = [begin = std::chrono::steady_clock::now()] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  make_private_folders(chunk);
  EXPECT_THAT(look(far, "c.0.0", 60.0), HasSubstr("state c.0.0 dead"));  // no process
  write_private_text(chunk / "relay.pid",
                     std::to_string(::getpid()) + '\n' + process_identity(::getpid()) + '\n');
  const double begin = seconds();
  look(far, "c.0.0", 0.3);
  EXPECT_GE(seconds(), begin + 0.3);
  std::thread end([&] {
    ::usleep(200000);
    write_private_text(chunk / "relay.end", add_checksum(join_words({"exit", "0"})));
  });
  EXPECT_THAT(look(far, "c.0.0", 60.0), HasSubstr("state c.0.0 done 0"));
  end.join();
  EXPECT_LT(seconds(), 50.0);
}

// Seconds of work of a site are those of its relay.
TEST(Relay, ReportsTheSecondsOfWork) {
  const Folder folder;
  const fs::path far = fs::absolute(folder.path()), chunk = far / "c.0";
  make_private_folders(chunk);
  write_private_text(chunk / "relay.end", add_checksum(join_words({"seconds", "12.5"})) +
                                              add_checksum(join_words({"exit", "0"})));
  const std::string answer = look(far, "c.0.0", 0.0);
  EXPECT_THAT(answer, HasSubstr("seconds c.0.0 12.5"));
  RelayOptions relay;
  relay.host = "far";
  relay.folder = relay.programs = far.string();
  relay.run = [&](const Command&) {
    CommandResult result;
    result.exit = 0;
    result.out = answer;
    return result;
  };
  RelaySite site({.name = "far"}, folder.path(), relay);
  JobSystem& system = site.system();
  Batch batch;
  batch.token = "c.0";
  batch.jobs.emplace_back();
  batch.jobs[0].token = "c.0.0";
  write_key(folder.path(), make_key());
  system.submit(batch);
  for (int k = 0; k < 500 && system.query({"c.0.0"})[0].state != JobState::completed; ++k) {
    ::usleep(10000);
  }
  EXPECT_EQ(static_cast<Site&>(site).report(batch.jobs[0]).seconds, 12.5);
}

TEST(Relay, RefusesInvalidRequests) {
  std::istringstream nonsense("hello\n");
  std::ostringstream out;
  EXPECT_EQ(serve_relay_request(nonsense, out, "/bin/true"), 0);
  EXPECT_THAT(out.str(), HasSubstr("error"));
  const Folder folder;
  std::istringstream old(
      add_checksum(join_words({"moho", "0.0.1"})) +
      add_checksum(join_words({"folder", fs::absolute(folder / "far").string()})) +
      add_checksum(join_words({"do", "start"})) + add_checksum("end"));
  std::ostringstream said;
  serve_relay_request(old, said, "/bin/true");
  EXPECT_THAT(said.str(), HasSubstr("0.0.1"));
}

}  // namespace
}  // namespace moho::cluster
