// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Estimate of a run's host memory, made before allocation.
///
/// moho::memory_budget() has the memory of a device.

#include "app/common_options.hpp"
#include "app/json.hpp"

#include <moho/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// Adds up the memory of a run step by step, and records its peak. It begins with that of the
/// program itself: its code, its threads, Kokkos.
class MemoryEstimate {
 public:
  /// Bytes of a program without data.
  static constexpr double process = 24.0 * 1024 * 1024;
  int ranks = 1;  ///< that share the arrays of a shot

  /// Adds bytes that are held until give(). \param what their name in messages
  void take(double bytes, const std::string& what) {
    m_now += bytes;
    add(m_items, bytes, what);
    note(m_items, m_now);
  }
  /// Releases bytes. \param what the name given to take()
  void give(double bytes, const std::string& what) {
    m_now -= bytes;
    add(m_items, -bytes, what);
  }
  /// Adds bytes that are held temporarily. \param what their name in messages
  void pass(double bytes, const std::string& what) {
    Items items = m_items;
    add(items, bytes, what);
    note(items, m_now + bytes);
  }
  /// Counts the Python program that draws, if it fits.
  /// If it does not fit the picture is omitted and not counted.
  /// \param bytes of its arrays \param limit of the run, in bytes, including the program itself
  void picture(double bytes, double limit);

  /// Returns the bytes that are held now.
  double now() const { return m_now; }
  /// Returns the peak in bytes.
  double max() const { return m_max; }
  /// Returns the bytes of an omitted picture; 0 if it fits or was not requested.
  double left_out() const { return m_left_out; }
  /// \brief Returns the largest parts of max(): "wavefields 1.5 MiB, the model 79.7 KiB".
  /// \param with_program true includes the program itself
  std::string largest(bool with_program) const;

 private:
  using Items = std::vector<std::pair<std::string, double>>;
  static void add(Items& items, double bytes, const std::string& what);
  void note(const Items& items, double bytes) {
    if (bytes <= m_max) return;
    m_max = bytes;
    m_largest = items;
  }

  double m_now = process, m_max = process, m_left_out = 0.0;
  Items m_items, m_largest;
};

/// Bytes of the Python program that draws, without the arrays that it draws.
inline constexpr double plotting_bytes = 160.0 * 1024 * 1024;

/// Memory that a run may use.
struct MemoryLimit {
  double bytes = 0.0;  ///< including the program itself
  double shown = 0.0;  ///< for messages: as requested, without the program itself
  std::string why;     ///< reason: "what is free"
};

/// Returns the smallest of the host's free memory, the control groups' remainder, and --memory.
/// --memory does not count the program itself.
/// \param on_host true if the run computes on the host; --memory limits a device otherwise
/// \param sharing processes of this machine with equal needs that share the free memory
MemoryLimit memory_limit(const CommonOptions& options, bool on_host = true, int sharing = 1);

/// Throws MemoryError if a run needs more than its limit.
/// The message is "memory: <what> takes 5 GiB of memory in all (allowed: 3 GiB, what is free; the
/// model 4 GiB, traveltimes 1 GiB): <advice>", with the largest parts.
/// \param in_all false if a later check counts further parts: "takes at least"
void check_memory(const std::string& what, const MemoryEstimate& estimate, const MemoryLimit& limit,
                  const std::string& advice, bool in_all = true);

/// Returns the reason to omit a picture; empty: draw it.
///
/// An example is "it takes 160 MiB besides ... (allowed: ...)".
std::string why_no_picture(const MemoryEstimate& estimate, const MemoryLimit& limit);

/// Returns "1024 x 512 nodes would fit": a shape of the same proportions that fits.
/// \param shape the requested nodes along each axis
/// \param each bytes a node
/// \param room bytes available
std::string fitting_shape(const std::vector<std::int64_t>& shape, double each, double room);

/// Words an error of too little memory in terms of options.
/// The library's limit "as asked" becomes "the --memory given"; advice is appended.
/// \param option that limits the memory \param advice further remedies, beginning with ", or"
MemoryError with_advice(const MemoryError& error, const std::string& option,
                        const std::string& advice);

/// Returns estimate and limit for the summary.
Json memory_json(const MemoryEstimate& estimate, const MemoryLimit& limit);

/// Memory for reading a table: io::Table of a text file, or an array.
struct TableNeed {
  double values = 0.0;   ///< approximate count of its numbers
  double passing = 0.0;  ///< temporary bytes in addition while it is read
};

/// Estimates it from the header of a .npy file, or from the first lines of a text.
/// An unreadable file needs nothing.
TableNeed need_of_table(const std::string& path);

/// Throws MemoryError if `bytes` exceed the host's free memory.
/// The message is "<what> 5 GiB of <whose> (allowed: 3 GiB, what is free): <advice>".
/// \param what subject and verb of the message: "--shape: the model takes"
/// \param advice the remedy
/// \param whose name of the memory
void check_host_memory(const std::string& what, double bytes, const std::string& advice,
                       const std::string& whose = "the host's memory");

}  // namespace moho::examples
