// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A counter shared by ranks, which assigns each work item to one of them.

#include <moho/mpi/mpi.hpp>

#include <cstdint>

namespace moho::mpi {

/// \brief Numbers of work items from a shared counter on rank 0.
///
/// next() does not wait for other ranks if the network supports one-sided communication. On other
/// networks rank 0 must call MPI regularly.
class Counter {
 public:
  /// Creates a counter that starts at `first`. Collective.
  explicit Counter(MPI_Comm communicator, std::int64_t first = 0) : m_communicator(communicator) {
    const MPI_Aint bytes = rank_in(communicator) == 0 ? sizeof(std::int64_t) : 0;
    check(MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, communicator, &m_value,
                           &m_window),
          "MPI_Win_allocate");
    check(MPI_Win_set_errhandler(m_window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    restart(first);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  /// Frees the counter. Collective.
  ///
  /// A rank that ends with an exception while others continue must therefore abort all of them
  /// (Session::abort()).
  ~Counter() { MPI_Win_free(&m_window); }

  /// Returns the next number, which no other rank receives. Not collective.
  std::int64_t next() {
    const std::int64_t one = 1;
    std::int64_t position = 0;
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m_window), "MPI_Win_lock");
    check(MPI_Fetch_and_op(&one, &position, MPI_INT64_T, 0, 0, MPI_SUM, m_window),
          "MPI_Fetch_and_op");
    check(MPI_Win_unlock(0, m_window), "MPI_Win_unlock");
    return position;
  }

  /// Resets the counter to `first` after all ranks have called. Collective.
  void restart(std::int64_t first) {
    check(MPI_Barrier(m_communicator), "MPI_Barrier");
    if (rank_in(m_communicator) == 0) {
      check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m_window), "MPI_Win_lock");
      *m_value = first;
      check(MPI_Win_unlock(0, m_window), "MPI_Win_unlock");
    }
    check(MPI_Barrier(m_communicator), "MPI_Barrier");
  }

 private:
  MPI_Comm m_communicator;
  MPI_Win m_window = MPI_WIN_NULL;
  std::int64_t* m_value = nullptr;
};

}  // namespace moho::mpi
