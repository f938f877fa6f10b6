// SPDX-License-Identifier: BSD-3-Clause
//
// Files without a name: contents, a full disk, files that were cut, and the rate of a disk.

#include "files.hpp"

#include <moho/io/scratch_file.hpp>

#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>

namespace moho::io {
namespace {

using namespace test;

namespace fs = std::filesystem;

/// Limits the size of files while it exists.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    m_handler = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit limit{bytes, m_before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }

 private:
  rlimit m_before{};
  void (*m_handler)(int);
};

/// Cuts all open files of this process that were below a folder. Returns their number.
int cut_open_files(const fs::path& folder, off_t bytes) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const fs::path target = fs::read_symlink(entry.path(), error);
    if (error || target.string().rfind(folder.string(), 0) != 0) continue;
    count += ::truncate(entry.path().c_str(), bytes) == 0 ? 1 : 0;
  }
  return count;
}

TEST(ScratchFile, HasNoNameAndReturnsItsContent) {
  const Folder folder;
  ScratchFile file(folder.path());
  EXPECT_TRUE(folder.list().empty());
  const std::string first = "first", second(3000000, 'b');
  EXPECT_EQ(file.append(first.data(), first.size()), 0u);
  EXPECT_EQ(file.append(second.data(), second.size()), 5u);
  EXPECT_EQ(file.size(), 3000005u);
  file.flush();
  file.drop_from_memory();
  std::string found(second.size(), ' ');
  file.read(5, found.data(), found.size());
  EXPECT_EQ(found, second);
  found.resize(5);
  file.read(0, found.data(), 5);
  EXPECT_EQ(found, first);
  EXPECT_THAT(message_of<FileError>([&] { file.read(3000000, found.data(), 6); }),
              testing::AllOf(HasSubstr(folder.path().string()), HasSubstr("the file was cut")));
  EXPECT_TRUE(folder.list().empty());
}

TEST(ScratchFile, ReportsAFullDiskAndALimit) {
  const Folder folder;
  const std::string bytes(100000, 'a');
  ScratchFile limited(folder.path(), 250000);
  limited.append(bytes.data(), bytes.size());
  limited.append(bytes.data(), bytes.size());
  EXPECT_THAT(message_of<FileError>([&] { limited.append(bytes.data(), bytes.size()); }),
              testing::AllOf(HasSubstr(folder.path().string()),
                             HasSubstr("more than the allowed 244.1 KiB"), HasSubstr("more disk")));
  EXPECT_EQ(limited.size(), 200000u);
  ScratchFile file(folder.path());
  const FileSizeLimit full(150000);
  file.append(bytes.data(), bytes.size());
  EXPECT_THAT(message_of<FileError>([&] { file.append(bytes.data(), bytes.size()); }),
              testing::AllOf(HasSubstr("cannot write temporary data in '"),
                             HasSubstr("File too large; no part of it was left behind"),
                             HasSubstr("ulimit -f")));
  EXPECT_TRUE(folder.list().empty());
}

TEST(ScratchFile, ReportsAFolderThatCannotHoldIt) {
  const Folder folder;
  put_file(folder / "file", "text");
  for (const char* name : {"none", "file"}) {
    EXPECT_THAT(
        message_of<FileError>([&] { ScratchFile(folder / name); }),
        testing::AllOf(HasSubstr((folder / name).string()), HasSubstr("create the folder first")))
        << name;
  }
}

TEST(ScratchFile, ReportsAFileThatWasCut) {
#ifndef __linux__
  GTEST_SKIP() << "open files have no paths";
#endif
  const Folder folder;
  ScratchFile file(folder.path());
  std::string bytes(1000, 'a');
  file.append(bytes.data(), bytes.size());
  ASSERT_EQ(cut_open_files(folder.path(), 400), 1);
  file.read(0, bytes.data(), 400);
  EXPECT_THAT(message_of<FileError>([&] { file.read(0, bytes.data(), 401); }),
              HasSubstr("the file was cut"));
}

TEST(MeasureDisk, WritesNoMoreThanAllowed) {
  const Folder folder;
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{100000}, std::uint64_t{9} << 20}) {
    const FileSizeLimit full((bytes + 7) / 8 * 8);
    const DiskRates rates = measure_disk(folder.path(), bytes);
    EXPECT_GT(rates.write, 0.0) << bytes;
    EXPECT_GT(rates.read, 0.0) << bytes;
  }
  EXPECT_THROW(measure_disk(folder / "none"), FileError);
  EXPECT_TRUE(folder.list().empty());
}

}  // namespace
}  // namespace moho::io
