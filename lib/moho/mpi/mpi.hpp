// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief MPI sessions, transfers of arrays and texts, sums, and collective errors.
///
/// Link moho::mpi. Functions with a communicator are collective: all ranks of the communicator must
/// call them.

#include <moho/core/error.hpp>
#include <moho/core/rank_errors.hpp>
#include <moho/core/ranks.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::mpi {

/// Default number of elements per message.
///
/// MPI counts with int, so longer arrays are sent in pieces.
inline constexpr std::int64_t default_piece = std::int64_t(1) << 26;

/// Returns the MPI data type of a C++ number type.
template <class T>
MPI_Datatype datatype_of() {
  if constexpr (std::is_same_v<T, float>) {
    return MPI_FLOAT;
  } else if constexpr (std::is_same_v<T, double>) {
    return MPI_DOUBLE;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return MPI_INT32_T;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>, "a type that MPI does not add here");
    return MPI_INT64_T;
  }
}

/// Checks the result of an MPI call. \throws Error with MPI's text unless the call succeeded
inline void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "unknown error";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(concat(call, " failed (", text, "): look at the output of mpirun"));
}

/// Returns the rank of the calling process in a communicator.
inline int rank_in(MPI_Comm communicator) {
  int rank = 0;
  check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  return rank;
}

/// Returns the number of ranks of a communicator.
inline int size_of(MPI_Comm communicator) {
  int size = 1;
  check(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  return size;
}

/// Initialises MPI on construction and finalises it on destruction; has a separate communicator.
///
/// A program that was not started by mpirun is a single rank. If MPI is already initialised, the
/// session uses it and does not finalise it. All MPI calls must come from one thread
/// (MPI_THREAD_FUNNELED).
class Session {
 public:
  /// Initialises MPI.
  Session(int& argc, char**& argv) {
    int running = 0;
    check(MPI_Initialized(&running), "MPI_Initialized");
    m_owner = running == 0;
    if (m_owner) {
      int provided = MPI_THREAD_SINGLE;
      check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &m_communicator), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(m_communicator, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    m_rank = rank_in(m_communicator);
    m_size = size_of(m_communicator);
    find_neighbours();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { finish(); }

  /// Finalises MPI before destruction. Collective; rank() and size() remain valid.
  void finish() noexcept {
    if (m_communicator == MPI_COMM_NULL) return;
    MPI_Comm_free(&m_communicator);
    m_communicator = MPI_COMM_NULL;
    if (m_owner) MPI_Finalize();
  }

  /// Ends all ranks immediately, after a failure that the other ranks cannot detect.
  [[noreturn]] void abort(int status) {
    MPI_Abort(m_communicator == MPI_COMM_NULL ? MPI_COMM_WORLD : m_communicator, status);
    std::terminate();
  }

  /// Returns the communicator of all ranks, whose errors are returned and not fatal.
  MPI_Comm communicator() const { return m_communicator; }
  /// Returns the rank of this process, from 0.
  int rank() const { return m_rank; }
  /// Returns the number of ranks.
  int size() const { return m_size; }
  /// Returns the rank among those of this machine, for device_of().
  int rank_on_host() const { return m_rank_on_host; }
  /// Returns the number of ranks on this machine.
  int size_of_host() const { return m_size_of_host; }

 private:
  // Finds the ranks of this machine.
  //
  // If MPI cannot find the ranks that share memory, all ranks count as those of one machine.
  // Equation 11 of Couder-Castaneda et al. (2013) makes the same assumption.
  void find_neighbours() {
    m_rank_on_host = m_rank;
    m_size_of_host = m_size;
    MPI_Comm host = MPI_COMM_NULL;
    if (MPI_Comm_split_type(m_communicator, MPI_COMM_TYPE_SHARED, m_rank, MPI_INFO_NULL, &host) !=
            MPI_SUCCESS ||
        host == MPI_COMM_NULL) {
      return;
    }
    m_rank_on_host = rank_in(host);
    m_size_of_host = size_of(host);
    MPI_Comm_free(&host);
  }

  MPI_Comm m_communicator = MPI_COMM_NULL;
  bool m_owner = false;
  int m_rank = 0;
  int m_size = 1;
  int m_rank_on_host = 0;
  int m_size_of_host = 1;
};

/// Sends `count` trivially copyable values from the root to all ranks.
template <class T>
void broadcast(MPI_Comm communicator, T* values, std::int64_t count, int root = 0,
               std::int64_t piece = default_piece) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  char* data = reinterpret_cast<char*>(values);
  for (std::int64_t at = 0; at < bytes; at += piece) {
    const int some = static_cast<int>(std::min(piece, bytes - at));
    check(MPI_Bcast(data + at, some, MPI_BYTE, root, communicator), "MPI_Bcast");
  }
}

/// Sends a text from the root to all ranks.
inline void broadcast(MPI_Comm communicator, std::string& text, int root = 0) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  broadcast(communicator, &length, 1, root);
  text.resize(static_cast<std::size_t>(length));
  broadcast(communicator, text.data(), length, root);
}

/// Adds an array of float, double, int32 or int64 over all ranks into the root's array.
///
/// The arrays of other ranks are unchanged. Long arrays are reduced in pieces of `piece` elements,
/// less than 2^31. \throws InputError for a piece that MPI cannot count; Error if MPI fails
template <class T>
void reduce_to_root(MPI_Comm communicator, T* values, std::int64_t count, int root = 0,
                    std::int64_t piece = default_piece) {
  if (piece < 1 || piece >= (std::int64_t(1) << 31)) {
    throw InputError(concat("reduce_to_root: pieces of ", piece,
                            " elements (allowed: 1 to 2147483647, MPI counts with int)"));
  }
  const bool receives = rank_in(communicator) == root;
  for (std::int64_t at = 0; at < count; at += piece) {
    const int some = static_cast<int>(std::min(piece, count - at));
    check(MPI_Reduce(receives ? MPI_IN_PLACE : values + at, receives ? values + at : nullptr, some,
                     datatype_of<T>(), MPI_SUM, root, communicator),
          "MPI_Reduce");
  }
}

/// Sends rows [parts[q].first, parts[q].last) of an array on the root to each rank q.
/// \param communicator the ranks
/// \param all rows of `width` numbers (of the types of reduce_to_root()), used on the root only
/// \param width numbers of a row
/// \param parts the parts of all ranks, the same on every rank
/// \param mine receives the part of the calling rank; nullptr on a root that keeps its rows in
/// `all`
template <class T>
void scatter_rows(MPI_Comm communicator, const T* all, std::int64_t width,
                  const std::vector<Part>& parts, std::type_identity_t<T>* mine, int root = 0,
                  std::int64_t piece = default_piece) {
  constexpr int tag = 711;
  const int rank = rank_in(communicator);
  const auto each_piece = [&](int owner, const auto& transfer) {
    const std::int64_t count = parts[static_cast<std::size_t>(owner)].size() * width;
    for (std::int64_t at = 0; at < count; at += piece) {
      transfer(at, static_cast<int>(std::min(piece, count - at)));
    }
  };
  if (rank != root) {
    each_piece(rank, [&](std::int64_t at, int some) {
      check(MPI_Recv(mine + at, some, datatype_of<T>(), root, tag, communicator, MPI_STATUS_IGNORE),
            "MPI_Recv");
    });
    return;
  }
  for (int other = 0; other < static_cast<int>(parts.size()); ++other) {
    const Part& part = parts[static_cast<std::size_t>(other)];
    if (other == root) {
      if (mine != nullptr) std::copy(all + part.first * width, all + part.last * width, mine);
      continue;
    }
    each_piece(other, [&](std::int64_t at, int some) {
      check(
          MPI_Send(all + part.first * width + at, some, datatype_of<T>(), other, tag, communicator),
          "MPI_Send");
    });
  }
}

/// Returns the values of all ranks, in their order; empty except on the root.
template <class T>
std::vector<T> gather_to_root(MPI_Comm communicator, const T& mine, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all;
  if (rank_in(communicator) == root) all.resize(static_cast<std::size_t>(size_of(communicator)));
  constexpr int bytes = static_cast<int>(sizeof(T));
  check(MPI_Gather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, root, communicator),
        "MPI_Gather");
  return all;
}

/// \brief Returns the bytes of all ranks, in their order; empty except on the root.
///
/// The numbers of bytes may differ. Bytes are sent in pieces of `piece` bytes.
/// \throws Error if MPI fails
inline std::vector<std::vector<char>> gather_bytes(MPI_Comm communicator,
                                                   const std::vector<char>& mine, int root = 0,
                                                   std::int64_t piece = default_piece) {
  constexpr int tag = 712;
  const int rank = rank_in(communicator);
  const std::vector<std::int64_t> sizes =
      gather_to_root(communicator, static_cast<std::int64_t>(mine.size()), root);
  std::vector<std::vector<char>> all;
  if (rank != root) {
    const auto bytes = static_cast<std::int64_t>(mine.size());
    for (std::int64_t at = 0; at < bytes; at += piece) {
      const int some = static_cast<int>(std::min(piece, bytes - at));
      check(MPI_Send(mine.data() + at, some, MPI_BYTE, root, tag, communicator), "MPI_Send");
    }
    return all;
  }
  for (int other = 0; other < static_cast<int>(sizes.size()); ++other) {
    if (other == root) {
      all.push_back(mine);
      continue;
    }
    const std::int64_t bytes = sizes[static_cast<std::size_t>(other)];
    std::vector<char> theirs(static_cast<std::size_t>(bytes));
    for (std::int64_t at = 0; at < bytes; at += piece) {
      const int some = static_cast<int>(std::min(piece, bytes - at));
      check(
          MPI_Recv(theirs.data() + at, some, MPI_BYTE, other, tag, communicator, MPI_STATUS_IGNORE),
          "MPI_Recv");
    }
    all.push_back(std::move(theirs));
  }
  return all;
}

/// Calls a function on every rank; if it throws on any rank, all ranks throw.
///
/// All throw the exception of the lowest rank that failed: InputError, FileError, MemoryError or
/// Error, with the same text. All ranks therefore end, and one of them can print the reason. The
/// function must not call MPI after an operation that may fail.
template <class Function>
void collectively(MPI_Comm communicator, const Function& function) {
  RankError error;
  bool failed = false;
  try {
    function();
  } catch (...) {
    error = current_error();
    failed = true;
  }
  const int size = size_of(communicator);
  const int rank = rank_in(communicator);
  int mine = failed ? rank : size;
  int first = size;
  check(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, communicator), "MPI_Allreduce");
  if (first == size) return;
  broadcast(communicator, &error.kind, 1, first);
  if (rank == first && first != 0) {
    error.text = concat("rank ", first, " of ", size, ": ", error.text);
  }
  broadcast(communicator, error.text, first);
  throw_again(error);
}

}  // namespace moho::mpi
