// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What a run takes of the host's memory, found out before it is taken. For the memory of a
/// device see moho::memory_budget().

#include "common/common_options.hpp"
#include "common/json.hpp"

#include <moho/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// \brief Follows a run from step to step, and keeps the most bytes that are taken at a time.
///
/// It begins with what the program itself takes: its code, its threads, Kokkos.
class MemoryEstimate {
 public:
  /// Bytes of a program without data.
  static constexpr double process = 24.0 * 1024 * 1024;

  /// Bytes that are kept until they are given back. \param what their name in messages
  void take(double bytes, const std::string& what) {
    m_now += bytes;
    add(m_items, bytes, what);
    note(m_items, m_now);
  }
  /// Gives bytes back. \param what as it was taken
  void give(double bytes, const std::string& what) {
    m_now -= bytes;
    add(m_items, -bytes, what);
  }
  /// Bytes that are taken for a while only. \param what their name in messages
  void pass(double bytes, const std::string& what) {
    Items items = m_items;
    add(items, bytes, what);
    note(items, m_now + bytes);
  }
  /// \brief Counts the Python program that draws, where it fits.
  ///
  /// A picture that does not fit is left out, and then not counted.
  /// \param bytes of its arrays \param limit of the run, in bytes with the program itself
  void picture(double bytes, double limit);

  /// Taken at present.
  double now() const { return m_now; }
  /// The most that was taken at a time.
  double most() const { return m_most; }
  /// Bytes of a picture that is left out; 0 if it fits or none was requested.
  double left_out() const { return m_left_out; }
  /// \brief The largest parts of most(), for messages: "wavefields 1.5 MiB, the model 79.7 KiB".
  /// \param with_program the program itself is one of them
  std::string largest(bool with_program) const;

 private:
  using Items = std::vector<std::pair<std::string, double>>;
  static void add(Items& items, double bytes, const std::string& what);
  void note(const Items& items, double bytes) {
    if (bytes <= m_most) return;
    m_most = bytes;
    m_largest = items;
  }

  double m_now = process, m_most = process, m_left_out = 0.0;
  Items m_items, m_largest;
};

/// Bytes of the Python program that draws, besides the arrays it draws.
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
/// The message is "memory: <what> takes 5 GiB of memory in all (allowed: 3 GiB, what is free; the
/// model 4 GiB, traveltimes 1 GiB): <advice>", with the largest parts.
void check_memory(const std::string& what, const MemoryEstimate& estimate, const MemoryLimit& limit,
                  const std::string& advice);

/// Why a picture is left out, empty if it is not: "it takes 160 MiB besides ... (allowed: ...)".
std::string why_no_picture(const MemoryEstimate& estimate, const MemoryLimit& limit);

/// "1024 x 512 nodes would fit": a shape of the same proportions for an amount of memory.
/// \param each bytes a node
/// \param room bytes for them
std::string fitting_shape(const std::vector<std::int64_t>& shape, double each, double room);

/// \brief An error of too little memory in the words of options.
///
/// The limit of the library, "as asked", becomes "the --memory given", and advice is added.
/// \param option that limits the memory \param advice what else to do, beginning with ", or"
MemoryError with_advice(const MemoryError& error, const std::string& option,
                        const std::string& advice);

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
