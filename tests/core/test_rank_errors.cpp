// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Errors that other processes leave to the root.

#include <moho/core/rank_errors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
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
std::vector<std::string> sent_by(int rank, const E& error) {
  Process process(rank);
  try {
    throw error;
  } catch (...) {
    leave_error_to_root(process, std::chrono::milliseconds(1));
  }
  return process.sent;
}

// Expects that the root throws an error as a `Thrown` with its rank.
template <class Thrown, class E>
void expect_at_root(const E& error, const std::string& text) {
  const std::vector<std::string> sent = sent_by(1, error);
  ASSERT_THAT(sent, SizeIs(1));
  try {
    throw_error_of(sent.front());
    FAIL() << "no exception";
  } catch (const std::exception& thrown) {
    EXPECT_TRUE(typeid(thrown) == typeid(Thrown)) << typeid(thrown).name();
    EXPECT_EQ(thrown.what(), "rank 1 of 3: " + text);
  }
}

TEST(RankErrors, ReachTheRootWithTheirKind) {
  expect_at_root<FileError>(FileError("cannot write 'a' (no such folder)"),
                            "cannot write 'a' (no such folder)");
  expect_at_root<DiskError>(DiskError("the disk is full"), "the disk is full");
  expect_at_root<InputError>(InputError("a is 1"), "a is 1");
  expect_at_root<MemoryError>(MemoryError("too large"), "too large");
  expect_at_root<MemoryError>(
      std::bad_alloc(),
      "the machine is out of memory: compute fewer shots at once, or start fewer ranks on it");
  expect_at_root<Error>(Error("not finite"), "not finite");
  expect_at_root<Error>(std::runtime_error("of another library"), "of another library");
}

TEST(RankErrors, AreNoOtherMessages) {
  EXPECT_NO_THROW(throw_error_of("{\"number\": 3}"));
  EXPECT_NO_THROW(throw_error_of(""));
}

TEST(RankErrors, OfTheRootAreNotSent) { EXPECT_THAT(sent_by(0, FileError("a")), IsEmpty()); }

// A process that cannot send.
class Mute : public Process {
 public:
  using Process::Process;
  void send_to_root(const std::string&) override { throw Error("MPI_Isend failed"); }
};

TEST(RankErrors, ThatCannotBeSentAreReportedThere) {
  Mute process(1);
  try {
    throw Error("not finite");
  } catch (...) {
    EXPECT_NO_THROW(leave_error_to_root(process, std::chrono::hours(1)));
  }
}

}  // namespace
