// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A counter that ranks share: it gives each position of work to one of them.

#include <moho/mpi/mpi.hpp>

#include <cstdint>

namespace moho::mpi {

/// \brief Positions of work from one counter, which the first rank keeps.
///
/// A rank that asks need not wait for others, but where the network wants both sides: there the
/// first rank has to call MPI now and then.
class Counter {
 public:
  /// Begins at `first`. Collective.
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
  /// Collective: a rank that ends by an exception while others go on has to end them all
  /// (Session::abort()).
  ~Counter() { MPI_Win_free(&m_window); }

  /// The next position, which no other rank gets. Not collective.
  std::int64_t next() {
    const std::int64_t one = 1;
    std::int64_t position = 0;
    check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, m_window), "MPI_Win_lock");
    check(MPI_Fetch_and_op(&one, &position, MPI_INT64_T, 0, 0, MPI_SUM, m_window),
          "MPI_Fetch_and_op");
    check(MPI_Win_unlock(0, m_window), "MPI_Win_unlock");
    return position;
  }

  /// Begins again at `first`, when all ranks have asked. Collective.
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
