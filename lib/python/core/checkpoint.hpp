// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Files from which interrupted migrations and searches go on.

#include <string>

namespace moho::python {

/// File of a computation that may be interrupted, and what the computation is made from.
struct Checkpoint {
  std::string path;  ///< empty: no file
  /// Lines "name: value" that must be equal for the results to have the same bits.
  std::string made_from;

  /// Returns true if the file exists.
  bool exists() const;
  /// \throws InputError naming the first difference to the lines of the file
  void check(const std::string& before) const;
};

/// Sums of a migration, as bytes of their pack().
struct MigrationSums {
  std::string arrays, image;  ///< of ArraySums and PartialImage
};

/// Writes the sums of a migration. \throws FileError
void write_sums(const Checkpoint& to, const MigrationSums& sums);

/// \brief Reads the sums of a migration.
/// \throws FileError for other and damaged files
/// \throws InputError for those of another migration
MigrationSums read_sums(const Checkpoint& from);

/// Returns the error for a file with a wrong length or checksum.
[[noreturn]] void refuse_damaged_sums(const std::string& path);

}  // namespace moho::python
