// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The exceptions that moho throws, and how their messages are made.
///
/// A message reads "what is wrong (why it is wrong): what to do". It names the argument or the
/// file, the value that was given and what is allowed.

#include <sstream>
#include <stdexcept>
#include <string>

namespace moho {

/// Base of every exception that moho throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument of a public function, or an option of a program, is not acceptable.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A file is missing, unreadable, truncated, of the wrong kind, or could not be written whole.
class FileError : public Error {
 public:
  using Error::Error;
};

/// The work needs more memory than the space (or the budget given) has.
class MemoryError : public Error {
 public:
  using Error::Error;
};

/// Concatenates its arguments as a stream would print them (numbers with 10 significant digits).
template <class... Args>
std::string concat(const Args&... args) {
  std::ostringstream out;
  out.precision(10);
  (out << ... << args);
  return out.str();
}

/// Bytes in words: "512 B", "1.5 MiB", "12 GiB".
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
