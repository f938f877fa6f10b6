// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The processes of one run. In a build without MPI there is one.

#include "common/processes.hpp"

#include <moho/core/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace moho::examples {

/// Who computed what, for the summary.
struct RankReport {
  char host[64] = "";        ///< name of the machine
  char device[128] = "";     ///< processor
  std::int64_t prisms = 0;   ///< prisms with mass
  std::uint64_t memory = 0;  ///< bytes allocated in the space
  double seconds = 0.0;      ///< of forward()
};

/// All processes that mpirun started, or this one alone. Functions are collective, except where
/// they say otherwise.
class Ranks : public Processes {
 public:
  /// Starts MPI.
  /// \param each_reads do all read options and files? \throws InputError if a program without MPI
  /// was started by mpirun
  Ranks(int& argc, char**& argv, bool each_reads = false);
  ~Ranks() override;

  /// Was the program built with MPI?
  static bool with_mpi();
  /// MPI's library and version in words, empty without MPI. Not collective.
  static std::string version();

  /// This rank. Not collective.
  int rank() const override;
  /// Number of ranks. Not collective.
  int size() const override;
  bool each_reads() const override { return m_each_reads; }
  /// Is this the rank that reads, prints and writes? Not collective.
  bool root() const override { return rank() == 0; }
  /// Is this the only rank? Not collective.
  bool alone() const override { return size() == 1; }
  /// This rank among those of its machine. Not collective.
  int rank_on_host() const override;
  /// Ranks on this machine. Not collective.
  int size_of_host() const override;

  /// Where the communicator of all ranks lies (an MPI_Comm), until finish(); null without MPI. Not
  /// collective.
  const void* communicator() const;

  /// Calls a function on every rank. If it throws on one, all throw the same.
  void together(const std::function<void()>& function) override;
  /// Do all ranks know of the exception that was thrown last? Not collective.
  bool agreed() const override { return m_agreed; }

  /// Sends plain bytes of the root to all.
  void broadcast(void* bytes, std::size_t count) override;
  /// Gives each rank its rows of an array of the root, which keeps its own where they are.
  void scatter_rows(const double* all, std::int64_t width, const std::vector<mpi::Part>& parts,
                    double* mine);
  /// Adds an array over all ranks into that of the root.
  void sum_to_root(std::vector<double>& values) override;
  /// Bytes of every rank on the root, in their order; empty on the others.
  std::vector<std::vector<char>> gather_bytes(const std::vector<char>& mine);
  /// Reports of all ranks on the root.
  std::vector<RankReport> gather(const RankReport& mine);

  void begin_count() override;
  std::int64_t next() override;
  void tell_root(const std::string& text) override;
  std::vector<std::string> told(bool wait) override;

  /// Ends MPI. Afterwards each rank is on its own.
  void finish() override;
  /// Was finish() called? Not collective.
  bool finished() const override { return m_finished; }
  /// Ends all ranks at once. Not collective.
  void abort(int status) override;

 private:
  struct Session;
  std::unique_ptr<Session> m_session;
  bool m_each_reads = false;
  bool m_agreed = false;
  bool m_finished = false;
};

/// \brief The processes of a program whose ranks share shots, each with its device, and read
/// options and files themselves. With --only-shot, which a job is asked for, there is one: whoever
/// started the job's worker is no business of its programs.
std::unique_ptr<Processes> shot_ranks(int& argc, char**& argv);

}  // namespace moho::examples
