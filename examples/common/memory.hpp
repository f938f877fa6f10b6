// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a run takes of the host's memory, found out before it is taken. For the memory of a
/// device see moho::memory_budget().

#include "common/command_line.hpp"
#include "common/json.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples {

/// \brief Follows a run from step to step, and keeps the most bytes that are taken at a time.
///
/// It begins with what the program itself takes: its code, its threads, Kokkos.
class MemoryEstimate {
 public:
  /// Bytes of a program without data.
  static constexpr double process = 24.0 * 1024 * 1024;

  /// Bytes that are kept until they are given back.
  void take(double bytes) {
    m_now += bytes;
    m_most = std::max(m_most, m_now);
  }
  /// Gives bytes back.
  void give(double bytes) { m_now -= bytes; }
  /// Bytes that are taken for a while only.
  void pass(double bytes) { m_most = std::max(m_most, m_now + bytes); }

  /// Taken at present.
  double now() const { return m_now; }
  /// The most that was taken at a time.
  double most() const { return m_most; }

 private:
  double m_now = process, m_most = process;
};

/// Bytes of the Python program that draws, beside the arrays it draws.
inline constexpr double plotting_bytes = 160.0 * 1024 * 1024;

/// How much a run may take.
struct MemoryLimit {
  double bytes = 0.0;  ///< with the program itself
  double shown = 0.0;  ///< for messages: what was asked for, without the program itself
  std::string why;     ///< "what is free"
};

/// \brief The least of what the host has free, what the control groups of the process leave, and
/// --memory, which does not count the program itself.
/// \param on_host does the run compute on the host? --memory is that of the device otherwise
/// \param sharing processes of this machine that take as much, and share what is free
MemoryLimit memory_limit(const CommonOptions& options, bool on_host = true, int sharing = 1);

/// \brief Throws MemoryError if a run takes more than it may.
///
/// The message is "memory: <what> takes 5 GiB in all (allowed: 3 GiB, what is free): <advice>".
void check_memory(const std::string& what, const MemoryEstimate& estimate, const MemoryLimit& limit,
                  const std::string& advice);

/// "1024 x 512 nodes would fit": a shape of the same proportions for an amount of memory.
/// \param each bytes a node
/// \param room bytes for them
std::string fitting_shape(const std::vector<std::int64_t>& shape, double each, double room);

/// The estimate and the limit, for the summary.
Json memory_json(const MemoryEstimate& estimate, const MemoryLimit& limit);

/// What reading a table takes: io::Table of a text file, or an array.
struct TableNeed {
  double values = 0.0;   ///< numbers in it, about
  double passing = 0.0;  ///< bytes beside them while it is read
};

/// Looks at the header of a .npy file, or at the first lines of a text. What cannot be read needs
/// nothing.
TableNeed need_of_table(const std::string& path);

/// \brief Throws MemoryError if bytes are more than the host has left.
///
/// The message is "<what> 5 GiB of <whose> (allowed: 3 GiB, what is free): <advice>".
/// \param what what would take them: "--shape: the model takes"
/// \param advice what to do
/// \param whose which memory
void check_host_memory(const std::string& what, double bytes, const std::string& advice,
                       const std::string& whose = "the host's memory");

}  // namespace moho::examples
