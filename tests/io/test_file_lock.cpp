// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick

#include <moho/io/file_lock.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <thread>

#include "files.hpp"

namespace {

using moho::io::lock_file;

// Two descriptors of a file, as two processes would have them.
class FileLock : public ::testing::Test {
 protected:
  FileLock() : first(open()), second(open()) {}
  ~FileLock() override {
    ::close(first);
    ::close(second);
  }
  int open() const { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }

  moho::io::test::Folder folder;
  std::string path = folder / "file";
  int first, second;
};

TEST_F(FileLock, IsTakenOnce) {
  EXPECT_EQ(lock_file(first), 0);
  EXPECT_EQ(lock_file(second, 0.0), EWOULDBLOCK);
  EXPECT_EQ(lock_file(second, 0.05), EWOULDBLOCK);
}

TEST_F(FileLock, WaitsForAProcessThatEnds) {
  EXPECT_EQ(lock_file(first), 0);
  std::thread other([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ::close(first);
  });
  EXPECT_EQ(lock_file(second, 20.0), 0);
  other.join();
  first = open();
  EXPECT_EQ(lock_file(first, 0.0), EWOULDBLOCK);
}

TEST_F(FileLock, ReportsOtherErrors) { EXPECT_EQ(lock_file(-1), EBADF); }

}  // namespace
