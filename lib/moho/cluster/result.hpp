// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief A shot's result as one file: who it is of, and the files that the program left, each with
/// its checksum.

#include <moho/cluster/job.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::cluster {

/// A file within a result.
struct ResultPart {
  std::string name;            ///< as the program called it
  std::uint64_t offset = 0;    ///< of its first byte in the result's file
  std::uint64_t bytes = 0;     ///< its length
  std::uint32_t checksum = 0;  ///< its CRC-32C
};

/// What a result's file begins with. It is the same for the same bits, whoever computed them.
struct ResultHeader {
  std::string campaign;           ///< of the work
  std::int64_t evaluation = 0;    ///< of the work
  std::int64_t shot = 0;          ///< number
  std::string survey;             ///< checksum of the fingerprint
  std::vector<ResultPart> parts;  ///< by name
};

/// \brief Makes a result of all regular files in a folder; it is there whole or not at all.
/// \param folder that the file's name begins from
/// \param file path below it; its folder is made
/// \param outputs folder with what the program left
/// \throws InputError for an empty folder, or one with something else than files; FileError
ShotResult pack_result(const std::filesystem::path& folder, const std::string& file,
                       const Work& work, std::int64_t shot, const std::filesystem::path& outputs);

/// Reads the header. \throws FileError for a file that is cut, damaged or something else
ResultHeader read_header(const std::filesystem::path& path);

/// \brief Reads a result whole and holds it to its checksums and to the work.
/// \return its length and checksum, as the journal has them
/// \throws FileError saying what is wrong: another campaign, evaluation, shot or survey, cut,
/// damaged, not authenticated by the key of the work
ShotResult check_result(const std::filesystem::path& folder, const std::string& file,
                        const Work& work, std::int64_t shot);

/// \brief Writes the files of a result into a folder, each whole. \return their names
/// \throws FileError, also for a result that the key does not authenticate
std::vector<std::string> unpack_result(const std::filesystem::path& path,
                                       const std::filesystem::path& folder, const Key& key);

}  // namespace moho::cluster
