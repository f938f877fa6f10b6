// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
#include "files.hpp"

#include <moho/io/csv.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>
#include <moho/io/vtk.hpp>
#include <moho/io/writer.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <thread>

namespace moho::io {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(AtomicFile, AppearsUnderItsNameOnlyWhenCommitted) {
  const Folder folder;
  const std::string large(1 << 20, 'x');
  {
    AtomicFile file(folder / "a.txt");
    file.write("one ");
    file.write(large);
    file.write(" two");
    EXPECT_FALSE(std::filesystem::exists(folder / "a.txt"));
    EXPECT_EQ(file.temporary().parent_path(), folder.path());
    file.commit();
  }
  EXPECT_EQ(get_file(folder / "a.txt"), "one " + large + " two");
  EXPECT_THAT(folder.list(), ElementsAre("a.txt"));
}

TEST(AtomicFile, LeavesTheOldFileWhenAbandoned) {
  const Folder folder;
  put_file(folder / "a.txt", "old");
  {
    AtomicFile file(folder / "a.txt");
    file.write("new");
  }
  EXPECT_EQ(get_file(folder / "a.txt"), "old");
  EXPECT_THAT(folder.list(), ElementsAre("a.txt"));
  write_text(folder / "a.txt", "new");
  EXPECT_EQ(get_file(folder / "a.txt"), "new");
}

TEST(AtomicFile, TwoWritersOfOnePathDoNotDisturbEachOther) {
  const Folder folder;
  AtomicFile first(folder / "a.txt");
  AtomicFile second(folder / "a.txt");
  EXPECT_NE(first.temporary(), second.temporary());
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(get_file(folder / "a.txt"), "first");
}

TEST(AtomicFile, ReplacesSymbolicLinksAndKeepsPermissions) {
  const Folder folder;
  put_file(folder / "target.txt", "old");
  ASSERT_EQ(::chmod((folder / "target.txt").c_str(), 0640), 0);
  std::filesystem::create_symlink("target.txt", folder / "link.txt");
  write_text(folder / "link.txt", "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(get_file(folder / "link.txt"), "new");
  EXPECT_EQ(get_file(folder / "target.txt"), "old");
  struct stat status {};
  ASSERT_EQ(::stat((folder / "link.txt").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U & ~static_cast<unsigned>([] {
                                     const mode_t mask = ::umask(0);
                                     ::umask(mask);
                                     return mask;
                                   }()));
}

TEST(AtomicFile, HardLinksToTheFormerFileKeepItsContent) {
  const Folder folder;
  put_file(folder / "archive.txt", "old");
  std::filesystem::create_hard_link(folder / "archive.txt", folder / "result.txt");
  write_text(folder / "result.txt", "new");
  EXPECT_EQ(get_file(folder / "result.txt"), "new");
  EXPECT_EQ(get_file(folder / "archive.txt"), "old");
}

TEST(AtomicFile, ErrorsNameThePathAndTheReason) {
  const Folder folder;
  const auto missing = folder / "no/such/file.txt";
  EXPECT_THAT(message_of<FileError>([&] { write_text(missing, "x"); }),
              testing::AllOf(HasSubstr(missing.string()), HasSubstr("No such file or directory"),
                             HasSubstr("create the folder")));
  EXPECT_THAT(message_of<FileError>([&] { write_text(folder.path(), "x"); }),
              testing::AllOf(HasSubstr(folder.path().string()), HasSubstr("it is a folder")));
  EXPECT_THAT(message_of<FileError>([&] { write_text("", "x"); }), HasSubstr("no file name"));
  EXPECT_THAT(message_of<FileError>([&] { write_text("/dev/null", "x"); }),
              HasSubstr("no regular file"));
  put_file(folder / "file", "");
  EXPECT_THAT(message_of<FileError>([&] { write_text(folder / "file/under", "x"); }),
              HasSubstr("Not a directory"));
  EXPECT_THAT(message_of<FileError>([&] { write_text(folder / std::string(300, 'n'), "x"); }),
              HasSubstr("File name too long"));
  EXPECT_THAT(folder.list(), ElementsAre("file"));
}

TEST(AtomicFile, ChecksTheExpectedSizeAndRefusesUseAfterCommit) {
  const Folder folder;
  {
    AtomicFile file(folder / "a.txt");
    file.write("12345");
    EXPECT_THAT(message_of<FileError>([&] { file.commit(6); }), HasSubstr("5 bytes reached"));
  }
  EXPECT_THAT(folder.list(), IsEmpty());
  AtomicFile file(folder / "a.txt");
  file.write("12345");
  file.commit(5);
  EXPECT_THAT(message_of<FileError>([&] { file.write("6"); }), HasSubstr("already closed"));
  EXPECT_THAT(message_of<FileError>([&] { file.commit(); }), HasSubstr("already closed"));
}

/// Runs a writer in a child process with a file size limit of `limit` bytes.
///
/// A write then fails as on a full disk. Returns the text of the FileError.
std::string message_on_full_disk(rlim_t limit, const std::function<void()>& writer) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    std::string message = "no error";
    try {
      writer();
    } catch (const FileError& error) {
      message = error.what();
    } catch (...) {
      message = "another exception";
    }
    const ssize_t written = ::write(ends[1], message.data(), message.size());
    ::_exit(written < 0);
  }
  ::close(ends[1]);
  std::string message;
  char buffer[512];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof(buffer))) > 0;) {
    message.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return message;
}

TEST(AtomicFile, FullDiskIsAnErrorWithThePathAndLeavesNothing) {
  const Folder folder;
  Array<float> model{{100, 100}, std::vector<float>(10000, 1500.0F)};
  Gather<float> gather;
  gather.interval = 0.004;
  gather.receiver_x.assign(100, 1.0);
  gather.receiver_y.assign(100, 0.0);
  gather.receiver_elevation.assign(100, 0.0);
  gather.samples = model;
  const std::vector<Point<2>> points(2000, Point<2>{{0.1, 0.3}});
  const std::vector<std::pair<std::string, std::function<void()>>> writers = {
      {"a.txt", [&] { write_text(folder / "a.txt", std::string(30000, 'x')); }},
      {"big.txt", [&] { write_text(folder / "big.txt", std::string(1 << 20, 'x')); }},
      {"a.npy", [&] { write_npy(folder / "a.npy", model); }},
      {"a.rsf", [&] { write_rsf(folder / "a.rsf", model); }},
      {"b.rsf@", [&] { write_rsf(folder / "b.rsf", model, {}, {.one_file = false}); }},
      {"a.sgy",
       [&] {
         write_segy_model(folder / "a.sgy", model, {10.0, 5.0}, {0.0, 0.0});
       }},
      {"b.sgy", [&] { write_gathers<float>(folder / "b.sgy", {gather}); }},
      {"a.csv",
       [&] {
         write_csv(folder / "a.csv", {{}, 1, std::vector<double>(5000, 0.1234)});
       }},
      {"a.vtk", [&] {
         write_vtk_polylines<2>(folder / "a.vtk", {0, 2000}, points);
       }}};
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{4096}, rlim_t{12000}}) {
    for (const auto& [name, writer] : writers) {
      EXPECT_THAT(message_on_full_disk(limit, writer),
                  testing::AllOf(HasSubstr((folder / name).string()), HasSubstr("File too large"),
                                 HasSubstr("no part of it was left behind")))
          << name << " with " << limit << " bytes";
      EXPECT_THAT(folder.list(), IsEmpty()) << name << " with " << limit << " bytes";
    }
  }
}

TEST(AtomicFile, FullFileSystem) {
  // A full file system, if the test may mount one (as root, not in most containers).
  const Folder folder;
  const std::string command =
      "mount -t tmpfs -o size=64k tmpfs '" + folder.path().string() + "' 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no right to mount a small file system";
  put_file(folder / "a.npy", "old");
  const Array<double> large{{1 << 16}, std::vector<double>(1 << 16)};
  EXPECT_THAT(
      message_of<FileError>([&] { write_npy(folder / "a.npy", large); }),
      testing::AllOf(HasSubstr("No space left on device"), HasSubstr((folder / "a.npy").string())));
  EXPECT_EQ(get_file(folder / "a.npy"), "old");
  EXPECT_THAT(folder.list(), ElementsAre("a.npy"));
  EXPECT_EQ(std::system(("umount '" + folder.path().string() + "'").c_str()), 0);
}

TEST(AtomicFile, PartsOfDeadProcessesAreTakenAway) {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const std::string dead = std::to_string(child), parent = std::to_string(::getppid());
  for (const std::string& name :
       {"a.npy.part-" + dead + "-0", "a.npy.part-" + dead + "-17", "a.npy.part-" + parent + "-0",
        "b.npy.part-" + dead + "-0", "a.npy.part-" + dead, "a.npy.part-" + dead + "-x",
        std::string("a.npy.part-0-0"), std::string("a.npy.part"), std::string("a.npy")}) {
    put_file(folder / name, "x");
  }
  AtomicFile mine(folder / "a.npy");
  EXPECT_THAT(remove_abandoned_parts(folder / "a.npy"),
              UnorderedElementsAre("a.npy.part-" + dead + "-0", "a.npy.part-" + dead + "-17"));
  EXPECT_THAT(
      folder.list(),
      UnorderedElementsAre("a.npy.part-" + parent + "-0", "b.npy.part-" + dead + "-0",
                           "a.npy.part-" + dead, "a.npy.part-" + dead + "-x", "a.npy.part-0-0",
                           "a.npy.part", "a.npy", mine.temporary().filename().string()));
}

TEST(AtomicFile, NothingIsRenamedOnceFilesAreAbandoned) {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    AtomicFile file(folder / "a.txt");
    file.write("half");
    std::thread commits([&] {
      while (std::filesystem::exists(file.temporary())) {
      }
      file.commit();
    });
    abandon_files();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ::_exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(folder.list(), IsEmpty());
}

TEST(AppendNumber, GivesTheSameNumberWhenRead) {
  std::string text;
  append_number(text, 0.1);
  text += ' ';
  append_number(text, 12.0);
  text += ' ';
  append_number(text, 0.1F);
  text += ' ';
  append_number(text, std::numeric_limits<double>::infinity());
  EXPECT_EQ(text, "0.1 12 0.1 inf");
  std::uint64_t state = 1;
  for (int i = 0; i < 10000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const double value = std::bit_cast<double>(state);
    if (!std::isfinite(value)) continue;
    text.clear();
    append_number(text, value);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
  }
}

}  // namespace
}  // namespace moho::io
