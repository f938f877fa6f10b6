// SPDX-License-Identifier: BSD-3-Clause
//
// Journal of a survey: records survive kills at any time, truncation at every byte and full disks;
// other surveys, other writers and damaged files are reported.

#include "cluster/memory_folder.hpp"
#include "io/files.hpp"

#include <moho/cluster/journal.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <thread>

namespace moho::cluster {
namespace {

using namespace io::test;
using test::MemoryFolder;  // kills behave the same in memory
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

const Fingerprint survey = {{"model", "crc 1a2b3c4d"}, {"wavelet", "ricker:15"}, {"empty", ""}};

std::string content_of(std::int64_t shot) {
  return concat("the image of shot ", shot, '\n',
                std::string(shot > 0 ? static_cast<std::size_t>(shot) : 0, '#'));
}

std::string file_of(std::int64_t shot) { return concat("shot ", shot, ".image"); }

/// Computes a shot: writes a text that depends on its number.
ShotResult compute(const std::filesystem::path& folder, std::int64_t shot) {
  return write_result(folder, shot, file_of(shot), [&](const std::filesystem::path& path) {
    io::write_text(path, content_of(shot));
  });
}

bool is_whole(const Folder& folder, const ShotResult& result) {
  const std::string text = content_of(result.shot);
  return get_file(folder / result.file) == text && result.bytes == text.size() &&
         result.checksum == io::checksum(text);
}

TEST(Journal, KeepsRecordsWhenReopened) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  {
    Journal journal(path, survey);
    EXPECT_EQ(journal.folder(), folder.path());
    EXPECT_THAT(journal.remaining({3, 1, 2}), ElementsAre(3, 1, 2));
    EXPECT_TRUE(journal.record(compute(journal.folder(), 3)));
    EXPECT_TRUE(journal.is_done(3));
    EXPECT_FALSE(journal.is_done(1));
    journal.set("exponent of the stack", "-12");
    journal.set("exponent of the stack", "17");
    journal.set("nothing", "");
  }
  for (int again = 0; again < 2; ++again) {
    Journal journal(path, survey, {.start = JournalStart::resume});
    EXPECT_THAT(journal.notes(), IsEmpty());
    EXPECT_THAT(journal.remaining({3, 1, 2}), ElementsAre(1, 2));
    ASSERT_TRUE(journal.result(3).has_value());
    EXPECT_TRUE(is_whole(folder, *journal.result(3)));
    EXPECT_FALSE(journal.result(1).has_value());
    EXPECT_EQ(journal.get("exponent of the stack"), "17");
    EXPECT_EQ(journal.get("nothing"), "");
    EXPECT_EQ(journal.get("something"), std::nullopt);
  }
  Journal journal(path, survey);
  journal.record(compute(journal.folder(), -5));
  ASSERT_EQ(journal.results().size(), 2u);
  EXPECT_EQ(journal.results()[0].shot, -5);
  EXPECT_EQ(journal.results()[1].shot, 3);
}

TEST(Journal, TheFirstResultOfAShotCounts) {
  const MemoryFolder folder;
  Journal journal(folder / "journal.txt", survey);
  const ShotResult first = compute(journal.folder(), 7);
  EXPECT_TRUE(journal.record(first));
  EXPECT_FALSE(journal.record(first));
  EXPECT_THAT(journal.notes(), IsEmpty());
  ShotResult other = first;
  other.file = "another.image";
  other.checksum ^= 1U;
  EXPECT_FALSE(journal.record(other));
  EXPECT_EQ(journal.result(7), first);
  ASSERT_EQ(journal.notes().size(), 1u);
  EXPECT_THAT(journal.notes()[0], AllOf(HasSubstr("shot 7 has two results with different bytes"),
                                        HasSubstr("not deterministic")));
  journal.discard(7, "the model was wrong");
  EXPECT_FALSE(journal.is_done(7));
  EXPECT_TRUE(journal.record(other));
}

TEST(Journal, LostResultsAreRecomputed) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  {
    Journal journal(path, survey);
    for (const std::int64_t shot : {1, 2, 3, 4}) journal.record(compute(journal.folder(), shot));
  }
  std::filesystem::remove(folder / file_of(2));
  std::string text = get_file(folder / file_of(3));
  text[5] ^= 1;
  put_file(folder / file_of(3), text);
  {
    const Journal unread(path, survey, {.start = JournalStart::any, .verify = false});
    EXPECT_THAT(unread.remaining({1, 2, 3, 4}), IsEmpty());
  }
  {
    Journal journal(path, survey);
    EXPECT_THAT(journal.remaining({1, 2, 3, 4}), ElementsAre(2, 3));
    ASSERT_EQ(journal.notes().size(), 2u);
    EXPECT_THAT(journal.notes()[0], HasSubstr("shot 2 is recomputed"));
    EXPECT_THAT(journal.notes()[1], HasSubstr("shot 3 is recomputed: 'shot 3.image' has changed"));
    journal.record(compute(journal.folder(), 2));
  }
  Journal journal(path, survey);  // the new result was recorded
  EXPECT_THAT(journal.notes(), IsEmpty());
  EXPECT_THAT(journal.remaining({1, 2, 3, 4}), ElementsAre(3));
}

TEST(Journal, RefusesAnotherSurvey) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  { const Journal journal(path, survey); }
  Fingerprint other = survey;
  other["wavelet"] = "ricker:20";
  other.erase("empty");
  other["spacing"] = "10";
  const std::string before = get_file(path);
  EXPECT_EQ(
      message_of<InputError>([&] { Journal(path, other); }),
      concat("the journal '", path.string(),
             "' belongs to another survey (empty: '' before, not given now; spacing: not "
             "given before, '10' now; wavelet: 'ricker:15' before, 'ricker:20' now): give the "
             "original input, or start another journal"));
  EXPECT_EQ(get_file(path), before);
  EXPECT_THAT(
      message_of<InputError>([&] { Journal(path, survey, {.start = JournalStart::fresh}); }),
      HasSubstr("journal.txt' exists already: resume it"));
  EXPECT_THAT(message_of<InputError>(
                  [&] { Journal(folder / "none.txt", survey, {.start = JournalStart::resume}); }),
              HasSubstr("none.txt' does not exist: start without resuming"));
  EXPECT_FALSE(std::filesystem::exists(folder / "none.txt"));
  EXPECT_THAT(message_of<InputError>([&] {
                Journal(folder / "a.txt", {{"", "x"}});
              }),
              HasSubstr("a value of the survey has no name"));
}

TEST(Journal, RefusesOtherFiles) {
  const MemoryFolder folder;
  const auto path = folder / "thesis.txt";
  for (const std::string& text :
       {std::string("It was a dark and stormy night"), std::string("line\n"),
        std::string(100, '\n'), std::string("moho journal 1 *00000000\n")}) {
    put_file(path, text);
    EXPECT_THAT(message_of<FileError>([&] { Journal(path, survey); }),
                HasSubstr("is not a journal of moho"));
    EXPECT_EQ(get_file(path), text);
  }
  const std::string first = "moho journal 2";
  put_file(path, first + " *" + io::checksum_text(io::checksum(first)) + "\nand so on\n");
  EXPECT_THAT(message_of<InputError>([&] { Journal(path, survey); }),
              HasSubstr("has the version 2 (allowed: 1)"));
  EXPECT_THAT(message_of<FileError>([&] { Journal(folder.path(), survey); }),
              HasSubstr("cannot open the journal"));
  EXPECT_THAT(message_of<FileError>([&] { Journal(folder / "no/journal.txt", survey); }),
              HasSubstr("No such file or directory"));
}

TEST(Journal, HasOneWriter) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  {
    Journal journal(path, survey);
    EXPECT_THAT(message_of<BusyJournal>([&] { Journal(path, survey); }),
                AllOf(HasSubstr("journal.txt' is in use (process "),
                      HasSubstr(concat("process ", ::getpid(), " on ")), HasSubstr(" since 20")));
    EXPECT_TRUE(journal.record(compute(journal.folder(), 1)));
  }
  const Journal journal(path, survey);
  EXPECT_TRUE(journal.is_done(1));
}

TEST(Journal, RefusesPathsOutsideItsFolder) {
  const MemoryFolder folder;
  Journal journal(folder / "journal.txt", survey);
  for (const char* name : {"", "/a", "../a", "b/../../a", "./a", "a/"}) {
    EXPECT_THAT(message_of<InputError>(
                    [&] { write_result(journal.folder(), 1, name, [](const auto&) {}); }),
                HasSubstr(concat("the result '", name, "' (allowed: paths below")));
    EXPECT_THROW(journal.record({1, name, 0, 0}), InputError);
  }
  std::filesystem::create_directory(folder / "images");
  const ShotResult result =
      write_result(journal.folder(), 1, "images/a%b c\n.npy", [](const auto& path) {
        EXPECT_EQ(path.extension(), ".npy");
        put_file(path, "abc");
      });
  EXPECT_EQ(parse_result(to_text(result)), result);
  EXPECT_TRUE(journal.record(result));
  EXPECT_EQ(journal.result(1)->file, "images/a%b c\n.npy");
  EXPECT_THAT(message_of<InputError>([&] {
                journal.remaining({4, 5, 4});
              }),
              HasSubstr("the shot 4 is repeated"));
  EXPECT_THAT(message_of<InputError>([&] { journal.set("", "x"); }), HasSubstr("has no name"));
  for (const char* text :
       {"", "1 a", "1 a 2 3 4", "x a 2 3", "1 % 2 3", "1 %4 2 3", "1 ../a 2 3"}) {
    EXPECT_THROW(parse_result(text), InputError) << text;
  }
}

TEST(Journal, FailedResultsLeaveNoFiles) {
  const MemoryFolder folder;
  EXPECT_THROW(write_result(folder.path(), 1, "a.image",
                            [](const auto& path) {
                              put_file(path, "half");
                              throw std::runtime_error("no more");
                            }),
               std::runtime_error);
  EXPECT_THROW(write_result(folder.path(), 1, "a.image", [](const auto&) {}), FileError);
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(Journal, RecordsFromThreadsAndProcesses) {
  const MemoryFolder folder;
  {
    Journal journal(folder / "journal.txt", survey);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int n = 0; n < 10; ++n) journal.record(compute(journal.folder(), 10 * t + n));
      });
    }
    for (std::thread& thread : threads) thread.join();
    // As among ranks: one process writes a result and sends its line, another records it.
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 1;
      try {
        const std::string line = to_text(compute(folder.path(), 77)) + '\n';
        status = ::write(ends[1], line.data(), line.size()) < 0;
      } catch (...) {
      }
      ::_exit(status);
    }
    ::close(ends[1]);
    char buffer[512];
    const ssize_t got = ::read(ends[0], buffer, sizeof(buffer));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_GT(got, 1);
    EXPECT_TRUE(journal.record(parse_result(std::string_view(buffer, std::size_t(got) - 1))));
  }
  const Journal journal(folder / "journal.txt", survey);
  EXPECT_THAT(journal.notes(), IsEmpty());
  EXPECT_EQ(journal.results().size(), 41u);
  for (const ShotResult& result : journal.results()) EXPECT_TRUE(is_whole(folder, result));
}

TEST(Journal, TruncatedAtEachByteItKeepsCompleteLines) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt", cut = folder / "cut.txt";
  std::map<std::size_t, std::int64_t> done_at;  // shots done, by length of the file
  {
    Journal journal(path, survey);
    for (std::int64_t shot = 0; shot < 3; ++shot) {
      journal.record(compute(journal.folder(), shot));
      done_at[get_file(path).size()] = shot + 1;
    }
  }
  const std::string whole = get_file(path);
  std::mt19937 random(1);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    // all lengths within the header and around line ends; every eighth of the others
    const std::size_t next = whole.find('\n', length);
    if (length > 60 && next != std::string::npos && next - length > 1 && length % 8 != 0 &&
        whole[length - 1] != '\n') {
      continue;
    }
    // allocated but unwritten bytes can read as zeros
    const bool zeros = random() % 3 == 0;
    std::int64_t expected = 0;
    for (const auto& [size, shots] : done_at) {
      // a line that lacks only its line end is complete
      if (length >= size || (length + 1 == size && !zeros)) expected = shots;
    }
    put_file(cut, whole.substr(0, length) + std::string(zeros ? 20 : 0, '\0'));
    {
      Journal journal(cut, survey);
      ASSERT_EQ(static_cast<std::int64_t>(journal.results().size()), expected) << length;
      for (const ShotResult& result : journal.results()) EXPECT_TRUE(is_whole(folder, result));
      journal.record(compute(journal.folder(), 9));
    }
    const Journal journal(cut, survey, {.start = JournalStart::resume});
    ASSERT_EQ(static_cast<std::int64_t>(journal.results().size()), expected + 1) << length;
    EXPECT_TRUE(journal.is_done(9));
  }
}

TEST(Journal, DamagedBytesLoseOneLine) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt", bad = folder / "bad.txt";
  std::map<std::int64_t, ShotResult> good;
  {
    Journal journal(path, survey);
    for (std::int64_t shot = 0; shot < 6; ++shot) {
      good[shot] = compute(journal.folder(), shot);
      journal.record(good[shot]);
    }
  }
  const std::string whole = get_file(path);
  std::mt19937 random(2);
  int refused = 0, lost = 0;
  for (int trial = 0; trial < 150; ++trial) {
    std::string text = whole;
    const std::size_t at = random() % text.size();
    text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    put_file(bad, text);
    try {
      const Journal journal(bad, survey);
      EXPECT_GE(journal.results().size(), 4u);  // a damaged line end joins two lines
      for (const ShotResult& result : journal.results()) EXPECT_EQ(result, good[result.shot]);
      lost += journal.results().size() < 6 ? 1 : 0;
      EXPECT_THAT(journal.notes(), Not(IsEmpty()));
    } catch (const Error& error) {  // damage in the header
      EXPECT_THAT(error.what(), HasSubstr("bad.txt'"));
      ++refused;
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_GT(lost, 50);
}

TEST(Journal, ContinuesAfterAFullDisk) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  const pid_t child = ::fork();
  if (child == 0) {
    int failures = 0;
    try {
      Journal journal(path, survey);
      const ShotResult one = compute(journal.folder(), 1), two = compute(journal.folder(), 2);
      journal.record(one);
      std::signal(SIGXFSZ, SIG_IGN);
      rlimit limits{};
      ::getrlimit(RLIMIT_FSIZE, &limits);
      const rlim_t all = limits.rlim_cur;
      // to the writer, a size limit acts like a full disk: the line is truncated
      for (const std::uintmax_t more : {0, 1, 17}) {
        limits.rlim_cur = std::filesystem::file_size(path) + more;
        ::setrlimit(RLIMIT_FSIZE, &limits);
        try {
          journal.record(two);
        } catch (const FileError& error) {
          const std::string text = error.what();
          if (text.find("cannot write the journal") != std::string::npos &&
              text.find("File too large") != std::string::npos && !journal.is_done(2)) {
            ++failures;
          }
        }
      }
      limits.rlim_cur = all;
      ::setrlimit(RLIMIT_FSIZE, &limits);
      if (!journal.record(two)) failures = 0;
    } catch (...) {
      failures = 0;
    }
    ::_exit(failures == 3 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const Journal journal(path, survey, {.start = JournalStart::resume});
  EXPECT_THAT(journal.remaining({1, 2, 3}), ElementsAre(3));
}

TEST(Journal, KillsNeitherLoseNorRepeatShots) {
  const MemoryFolder folder;
  const auto path = folder / "journal.txt";
  std::filesystem::create_directory(folder / "results");
#ifdef MOHO_BOUNDS_CHECK
  std::vector<std::int64_t> shots(200);  // starts take several times as long with sanitizers
#else
  std::vector<std::int64_t> shots(800);
#endif
  std::iota(shots.begin(), shots.end(), std::int64_t(0));
  const auto name = [](std::int64_t shot) { return concat("results/", shot, ".image"); };
  const auto log = folder / "log.txt";
  std::mt19937 random(4);
  std::set<std::int64_t> finished;
  std::size_t logged = 0;
  int kills = 0;
  for (int run = 0; run < 5000 && finished.size() < shots.size(); ++run) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        Journal journal(path, survey);
        for (const std::int64_t shot : journal.remaining(shots)) {
          const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
          const std::string line = concat(shot, '\n');
          if (::write(file, line.data(), line.size()) < 0) ::_exit(1);
          ::close(file);
          journal.record(write_result(folder.path(), shot, name(shot), [&](const auto& part) {
            io::write_text(part, content_of(shot));
          }));
          // leaves the parent time to kill, also on a busy machine
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      } catch (...) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    // kill after up to 19 further shots, at any moment of the next
    const std::size_t more = random() % 20;
    siginfo_t state{};
    std::error_code ignored;
    while (state.si_pid == 0) {
      const auto size = std::filesystem::file_size(log, ignored);
      if (!ignored && size >= logged + more) break;
      ::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    kills += WIFSIGNALED(status) ? 1 : 0;

    // No shot recorded before this run was computed in it.
    const std::string text = get_file(log);
    std::istringstream lines(text.substr(logged));
    std::int64_t shot = 0;
    while (lines >> shot) EXPECT_EQ(finished.count(shot), 0u) << "shot " << shot << " again";
    logged = text.size();
    const Journal journal(path, survey);
    for (const ShotResult& result : journal.results()) {
      EXPECT_TRUE(is_whole(folder, result));
      finished.insert(result.shot);
    }
    EXPECT_EQ(finished.size(), journal.results().size());  // no record was lost
    EXPECT_THAT(journal.notes(), IsEmpty());
    if (HasFailure()) break;
  }
  EXPECT_EQ(finished.size(), shots.size());
  EXPECT_GT(kills, 10);
  for (const std::string& left : folder.list()) EXPECT_THAT(left, Not(HasSubstr(".part-")));
}

}  // namespace
}  // namespace moho::cluster
