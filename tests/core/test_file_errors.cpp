// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Errors of files that other processes leave to the root.

#include <moho/core/file_errors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

using namespace moho;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Process : public Communicator {
 public:
  explicit Process(int rank) : m_rank(rank) {}
  int rank() const override { return m_rank; }
  int size() const override { return 3; }
  void send_to_root(const std::string& bytes) override { sent.push_back(bytes); }
  std::vector<std::string> sent;

 private:
  int m_rank;
};

template <class E>
std::vector<std::string> sent_by(int rank) {
  Process process(rank);
  try {
    throw E("cannot write 'a' (the disk is full)");
  } catch (...) {
    leave_file_error_to_root(process, std::chrono::milliseconds(1));
  }
  return process.sent;
}

TEST(FileErrors, ReachTheRoot) {
  const std::vector<std::string> sent = sent_by<FileError>(1);
  ASSERT_THAT(sent, SizeIs(1));
  try {
    throw_file_error_of(sent.front());
    FAIL() << "no exception";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "rank 1 of 3: cannot write 'a' (the disk is full)");
  }
  EXPECT_NO_THROW(throw_file_error_of("{\"number\": 3}"));
  EXPECT_NO_THROW(throw_file_error_of(""));
}

TEST(FileErrors, OfTheRootAndOtherErrorsAreNotSent) {
  EXPECT_THAT(sent_by<FileError>(0), IsEmpty());
  EXPECT_THAT(sent_by<InputError>(1), IsEmpty());
}

}  // namespace
