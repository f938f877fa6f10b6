// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The exceptions that moho throws, and the format of their messages.
///
/// A message reads "what is wrong (why it is wrong): what to do". It names the argument or the
/// file, the value given and the allowed values.

#include <sstream>
#include <stdexcept>
#include <string>

namespace moho {

/// Base class of all exceptions that moho throws deliberately.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Reports an invalid argument of a public function or an invalid option of a program.
class InputError : public Error {
 public:
  using Error::Error;
};

/// Reports a file that is missing, unreadable, truncated, of the wrong kind or not writable.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Reports that a computation needs more memory than the memory space or the budget has.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// Reports that a computation ended early because its StopFlag was set.
class Stopped : public Error {
 public:
  using Error::Error;
};

/// Concatenates its arguments as a stream prints them, numbers with 10 significant digits.
template <class... Args>
std::string concat(const Args&... args) {
  std::ostringstream out;
  out.precision(10);
  (out << ... << args);
  return out.str();
}

/// Formats a number of bytes: "512 B", "1.5 MiB", "12 GiB".
inline std::string format_bytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int unit = 0;
  while (bytes >= 1024.0 && unit < 5) {
    bytes /= 1024.0;
    ++unit;
  }
  std::ostringstream out;
  out.precision(bytes < 10.0 ? 2 : 4);
  out << bytes << ' ' << units[unit];
  return out.str();
}

}  // namespace moho
