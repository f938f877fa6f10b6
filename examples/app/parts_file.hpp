// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parts of a run that are complete and not yet in summary.json.

#include "app/json.hpp"

#include <filesystem>

namespace moho::examples {

/// \brief The file .moho_parts of an output folder: a line for each part that was completed since
/// summary.json was written.
///
/// It exists between two writes of the summary, whose cost grows with the number of parts. A killed
/// run leaves it for --resume.
class PartsFile {
 public:
  static constexpr const char* file_name = ".moho_parts";  ///< of the file

  /// \param folder of the results
  explicit PartsFile(const std::filesystem::path& folder) : m_path(folder / file_name) {}

  /// Appends a part and flushes the file to disk. Returns false if that is not possible; the
  /// summary must then be written.
  bool add(const Json& part) const;
  /// Removes the file, once the summary has its parts or another run begins.
  void remove() const noexcept;
  /// Adds the parts and their files to a summary, without those of the summary itself.
  /// Lines that are not whole are left out. \param largest size of a file that is read, bytes
  void add_to(Json& summary, std::uint64_t largest) const;

 private:
  std::filesystem::path m_path;
};

/// Writes a summary. \throws FileError
void write_json(const std::filesystem::path& path, const Json& summary);

/// Removes the names of written files from another list of a summary. \param key of that list
void remove_written(Json& summary, const char* key);

}  // namespace moho::examples
