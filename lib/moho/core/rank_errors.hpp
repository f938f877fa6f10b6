// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Errors of other processes, which the root of a run reports.

#include <moho/core/communicator.hpp>
#include <moho/core/disk_error.hpp>
#include <moho/core/error.hpp>

#include <chrono>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace moho {

namespace detail {
/// First bytes of a message to the root with the text of an error; a letter of its kind follows.
inline constexpr std::string_view rank_error_mark = "moho: error of a rank: ";
}  // namespace detail

/// Kind and text of an error, as processes send them to each other.
struct RankError {
  /// i: InputError, d: DiskError, f: FileError, m: MemoryError, e: Error.
  char kind = 'e';
  /// Message of the error, for people to read.
  std::string text;
};

/// Returns kind and text of the exception being handled.
inline RankError current_error() {
  try {
    throw;
  } catch (const InputError& error) {
    return {'i', error.what()};
  } catch (const DiskError& error) {
    return {'d', error.what()};
  } catch (const FileError& error) {
    return {'f', error.what()};
  } catch (const MemoryError& error) {
    return {'m', error.what()};
  } catch (const std::bad_alloc&) {
    return {
        'm',
        "the machine is out of memory: compute fewer shots at once, or start fewer ranks on it"};
  } catch (const std::exception& error) {
    return {'e', error.what()};
  } catch (...) {
    return {'e', "unknown exception"};
  }
}

/// Throws the error again. \throws InputError, DiskError, FileError, MemoryError or Error, by its
/// kind
[[noreturn]] inline void throw_again(const RankError& error) {
  switch (error.kind) {
    case 'i':
      throw InputError(error.text);
    case 'd':
      throw DiskError(error.text);
    case 'f':
      throw FileError(error.text);
    case 'm':
      throw MemoryError(error.text);
    default:
      throw Error(error.text);
  }
}

/// \brief Sends the exception being handled to the root, which throws it in received(), and waits
/// for the root to end this process. Not collective; call it in a handler of exceptions.
///
/// If several processes fail at the same time, as on a full disk, the root reports one of their
/// errors. The function returns on the root, if the error cannot be sent, and if this process still
/// exists after some time.
/// \param patience time for the root to receive the error
inline void leave_error_to_root(Communicator& processes,
                                std::chrono::milliseconds patience = std::chrono::seconds(5)) {
  if (processes.root()) return;
  const RankError error = current_error();
  try {
    processes.send_to_root(concat(detail::rank_error_mark, error.kind, "rank ", processes.rank(),
                                  " of ", processes.size(), ": ", error.text));
  } catch (...) {
    return;  // that process reports its error
  }
  std::this_thread::sleep_for(patience);
}

/// \brief Throws the error of another process if a message is one of leave_error_to_root().
/// \throws InputError, DiskError, FileError, MemoryError as that process, and Error for others
inline void throw_error_of(const std::string& message) {
  if (!message.starts_with(detail::rank_error_mark)) return;
  throw_again({message[detail::rank_error_mark.size()],
               message.substr(detail::rank_error_mark.size() + 1)});
}

}  // namespace moho
