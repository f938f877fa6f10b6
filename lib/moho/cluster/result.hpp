// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Result file of a shot: a header, the files of its program, and a checksum for each.

#include <moho/cluster/job.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::cluster {

/// A file within a result.
struct ResultPart {
  std::string name;            ///< name given by the program
  std::uint64_t offset = 0;    ///< position of its first byte in the result file
  std::uint64_t bytes = 0;     ///< length
  std::uint32_t checksum = 0;  ///< CRC-32C
};

/// Header of a result. Equal outputs give equal results on any node.
struct ResultHeader {
  std::string campaign;           ///< Work::campaign
  std::int64_t evaluation = 0;    ///< Work::evaluation
  std::int64_t shot = 0;          ///< number of the shot
  std::string survey;             ///< checksum of the fingerprint
  std::vector<ResultPart> parts;  ///< sorted by name
};

/// \brief Packs all files of a folder into a result; the write is atomic.
/// \param folder root of the result's path
/// \param file path of the result below `folder`; missing folders are created
/// \param work identifies the survey; its key authenticates the result
/// \param shot number of the shot
/// \param outputs folder with the files of the program
/// \throws InputError for an empty folder, and for entries other than regular files; FileError
ShotResult pack_result(const std::filesystem::path& folder, const std::string& file,
                       const Work& work, std::int64_t shot, const std::filesystem::path& outputs);

/// Reads the header of a result. \throws FileError for damaged, truncated and other files
ResultHeader read_header(const std::filesystem::path& path);

/// \brief Reads a complete result and checks it against its checksums and the work.
/// \return its length and checksum, as recorded in the journal
/// \throws FileError for another campaign, evaluation, shot or survey, and for a result that is
/// truncated, damaged, or not authenticated by the key of the work
ShotResult check_result(const std::filesystem::path& folder, const std::string& file,
                        const Work& work, std::int64_t shot);

/// \brief Writes the files of a result into a folder; each write is atomic. \return their names
/// \param temporary true: files that are removed soon, written without a flush to the disk,
/// which may remain after an error
/// \throws FileError, also for a result not authenticated by the key
std::vector<std::string> unpack_result(const std::filesystem::path& path,
                                       const std::filesystem::path& folder, const Key& key,
                                       bool temporary = false);

}  // namespace moho::cluster
