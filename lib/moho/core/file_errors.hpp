// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Errors of files of other processes, which the root of a run reports.

#include <moho/core/communicator.hpp>
#include <moho/core/error.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace moho {

namespace detail {
/// First bytes of a message to the root with the text of a FileError.
inline constexpr std::string_view file_error_mark = "moho: error of a file: ";
}  // namespace detail

/// \brief Sends the FileError being handled to the root, which throws it in received(), and waits
/// for the root to end this process. Not collective; call it in a handler of exceptions.
///
/// If several processes fail at the same time, as on a full disk, the root reports one of their
/// errors. The function returns on the root, for other exceptions, and if this process still exists
/// after some time.
/// \param patience time for the root to receive the error
inline void leave_file_error_to_root(Communicator& processes,
                                     std::chrono::milliseconds patience = std::chrono::seconds(5)) {
  if (processes.root()) return;
  try {
    throw;
  } catch (const FileError& error) {
    processes.send_to_root(concat(detail::file_error_mark, "rank ", processes.rank(), " of ",
                                  processes.size(), ": ", error.what()));
    std::this_thread::sleep_for(patience);
  } catch (...) {
    // that process reports it
  }
}

/// Throws the FileError of another process if a message is one of leave_file_error_to_root().
inline void throw_file_error_of(const std::string& message) {
  if (message.rfind(detail::file_error_mark, 0) != 0) return;
  throw FileError(message.substr(detail::file_error_mark.size()));
}

}  // namespace moho
