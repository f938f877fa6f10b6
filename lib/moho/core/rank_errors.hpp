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
#include <utility>

namespace moho {

namespace detail {
/// First bytes of a message to the root with the text of an error; a letter of its kind follows.
inline constexpr std::string_view rank_error_mark = "moho: error of a rank: ";

/// Returns the letter of the kind of the exception being handled, and its text.
inline std::pair<char, std::string> describe_rank_error() {
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
    return {'m', "the machine is out of memory: take less at once, or fewer ranks a machine"};
  } catch (const std::exception& error) {
    return {'e', error.what()};
  } catch (...) {
    return {'e', "unknown exception"};
  }
}
}  // namespace detail

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
  const auto [kind, text] = detail::describe_rank_error();
  try {
    processes.send_to_root(concat(detail::rank_error_mark, kind, "rank ", processes.rank(), " of ",
                                  processes.size(), ": ", text));
  } catch (...) {
    return;  // that process reports its error
  }
  std::this_thread::sleep_for(patience);
}

/// \brief Throws the error of another process if a message is one of leave_error_to_root().
/// \throws InputError, DiskError, FileError, MemoryError as that process, and Error for others
inline void throw_error_of(const std::string& message) {
  if (!message.starts_with(detail::rank_error_mark)) return;
  const std::string text = message.substr(detail::rank_error_mark.size() + 1);
  switch (message[detail::rank_error_mark.size()]) {
    case 'i':
      throw InputError(text);
    case 'd':
      throw DiskError(text);
    case 'f':
      throw FileError(text);
    case 'm':
      throw MemoryError(text);
    default:
      throw Error(text);
  }
}

}  // namespace moho
