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
  /// \throws InputError if a program without MPI was started by mpirun
  Ranks(int& argc, char**& argv);
  ~Ranks() override;

  /// Was the program built with MPI?
  static bool with_mpi();
  /// MPI's library and version in words, empty without MPI. Not collective.
  static std::string version();

  /// This rank. Not collective.
  int rank() const;
  /// Number of ranks. Not collective.
  int size() const;
  /// Is this the rank that reads, prints and writes? Not collective.
  bool root() const override { return rank() == 0; }
  /// Is this the only rank? Not collective.
  bool alone() const override { return size() == 1; }
  /// This rank among those of its machine. Not collective.
  int rank_on_host() const override;
  /// Ranks on this machine. Not collective.
  int size_of_host() const;

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
  void sum_to_root(std::vector<double>& values);
  /// Bytes of every rank on the root, in their order; empty on the others.
  std::vector<std::vector<char>> gather_bytes(const std::vector<char>& mine);
  /// Reports of all ranks on the root.
  std::vector<RankReport> gather(const RankReport& mine);

  /// Ends MPI. Afterwards each rank is on its own.
  void finish();
  /// Was finish() called? Not collective.
  bool finished() const override { return m_finished; }
  /// Ends all ranks at once. Not collective.
  void abort(int status) override;

 private:
  struct Session;
  std::unique_ptr<Session> m_session;
  bool m_agreed = false;
  bool m_finished = false;
};

}  // namespace moho::examples
