// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief MPI ranks of one run; a single process in builds without MPI.

#include "app/processes.hpp"

#include <moho/core/ranks.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace moho::examples {

/// Report of one rank for the summary.
struct RankReport {
  char host[64] = "";        ///< name of the machine
  char device[128] = "";     ///< name of the processor or device
  std::int64_t prisms = 0;   ///< prisms with mass
  std::uint64_t memory = 0;  ///< allocated bytes in the memory space
  double seconds = 0.0;      ///< duration of forward()
};

/// All processes started by mpirun, or this one without an mpirun.
/// Functions are collective unless stated otherwise.
class Ranks : public Processes {
 public:
  /// Starts MPI if a launcher started this process.
  /// \param each_reads true if every rank reads options and files
  /// \throws InputError if mpirun started a program that was built without MPI
  Ranks(int& argc, char**& argv, bool each_reads = false);
  ~Ranks() override;

  /// Returns true if the program was built with MPI.
  static bool with_mpi();
  /// Returns name and version of the MPI library; empty without MPI. Not collective.
  static std::string version();

  int rank() const override { return m_all->rank(); }
  int size() const override { return m_all->size(); }
  bool each_reads() const override { return m_each_reads; }
  int rank_on_host() const override;
  int size_of_host() const override;

  /// Returns the address of the MPI_Comm of all ranks, valid until finish(); null without MPI. Not
  /// collective.
  const void* communicator() const;

  void collectively(const std::function<void()>& function) override;
  /// Returns true if all ranks know the last exception. Not collective.
  bool agreed() const override { return m_agreed; }

  void broadcast(void* bytes, std::size_t count) override { m_all->broadcast(bytes, count); }
  /// Sends each rank its rows of an array of the root.
  /// \param all array of the root
  /// \param width values per row
  /// \param parts rows of each rank
  /// \param mine receives the rows; unused on the root, whose rows stay in `all`
  void scatter_rows(const double* all, std::int64_t width, const std::vector<mpi::Part>& parts,
                    double* mine);
  void sum_to_root(std::vector<double>& values) override { m_all->sum_to_root(values); }
  /// Returns the bytes of all ranks in order on the root; empty on other ranks.
  std::vector<std::vector<char>> gather_bytes(const std::vector<char>& mine);
  /// Calls a function on each rank and returns the bytes of all in order, on all ranks. If it
  /// throws on one, all throw the same exception.
  std::vector<std::vector<char>> gather_to_all(const std::function<std::vector<char>()>& function);
  /// Returns the reports of all ranks on the root.
  std::vector<RankReport> gather(const RankReport& mine);

  void restart_counter() override { m_all->restart_counter(); }
  std::int64_t next_item() override { return m_all->next_item(); }
  void send_to_root(const std::string& bytes) override { m_all->send_to_root(bytes); }
  std::vector<std::string> received(bool wait) override { return m_all->received(wait); }
  void merge_to_root(const std::function<std::string()>& pack,
                     const std::function<void(std::string&&)>& merge) override {
    m_all->merge_to_root(pack, merge);
  }

  /// Ends MPI. Afterwards the ranks are independent.
  void finish() override;
  /// Returns true after finish(). Not collective.
  bool finished() const override { return m_finished; }
  /// Ends all ranks immediately. Not collective.
  void abort(int status) override;

 private:
  struct Session;
  std::unique_ptr<Session> m_session;
  std::unique_ptr<Communicator> m_all;  ///< ends before the session
  bool m_each_reads = false;
  bool m_agreed = false;
  bool m_finished = false;
};

/// Sends the root's list to all ranks. Collective.
template <class T>
void broadcast_list(Ranks& ranks, std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto count = static_cast<std::int64_t>(values.size());
  ranks.broadcast(&count, sizeof(count));
  values.resize(static_cast<std::size_t>(count));
  if (count > 0) ranks.broadcast(values.data(), values.size() * sizeof(T));
}

/// Returns the processes of a program whose ranks share shots, one device each.
/// Each rank reads options and files. For --only-shot of a worker a single process is returned,
/// which ignores the worker's MPI environment, unless --ranks-per-shot is given or a launcher
/// between both started several ranks.
std::unique_ptr<Processes> shot_ranks(int& argc, char**& argv);

}  // namespace moho::examples
