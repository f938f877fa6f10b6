// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Plan of shots over devices or ranks that hold slabs of the grid.

#include <moho/core/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::stream {

/// Slabs of the largest shot, one for each device, or one for each rank.
struct SlabPlan {
  std::vector<std::int64_t> planes;  ///< planes of each device, of the grid with layers
  std::vector<std::int64_t> bytes;   ///< bytes on each device, with the source wavefield
  bool ranks = false;                ///< true: of ranks

  /// Returns true if one device, or a stream, computes each shot.
  bool empty() const { return planes.empty(); }
  /// Returns the largest of `bytes`; 0 without slabs.
  std::int64_t max_bytes() const;
  /// Returns planes and memory as text of one line.
  std::string text() const;
};

/// \brief Reports a number of devices whose slabs have too few planes.
///
/// Its text is "devices is N (allowed: up to M, so that <condition>)", with the largest possible
/// number M, and advice.
class TooManySlabs : public InputError {
 public:
  /// \param devices refused number \param max largest possible number
  /// \param condition that slabs do not satisfy, such as "each has 8 planes of the 75"
  /// \param advice appended to the text
  TooManySlabs(std::int64_t devices, std::int64_t max, std::string condition,
               const std::string& advice = "");
  /// Returns the condition that slabs do not satisfy.
  const std::string& condition() const { return m_condition; }

 private:
  std::string m_condition;
};

/// Returns numbers of devices as text: "up to 4" from 1 on, "3 to 5", "2, 4".
/// \param numbers ascending, one or more
std::string device_numbers(const std::vector<std::int64_t>& numbers);

/// \brief Returns those of the numbers that divide a number of ranks, as text.
///
/// Without such numbers the text has all of them, and that they have to divide the number of ranks.
/// \param numbers ascending, one or more
/// \param ranks number of all ranks; 0: devices, whose numbers divide nothing
std::string dividing_numbers(const std::vector<std::int64_t>& numbers, std::int64_t ranks);

/// Returns bytes as text of two or three digits that is not less than they are.
std::string bytes_rounded_up(double bytes);

}  // namespace moho::stream
