// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Folders created and removed by moho; a marker file distinguishes them from users'
/// folders.

#include <filesystem>

namespace moho::io {

/// Name of the marker file in each folder created by make_owned_folder().
inline constexpr const char* owned_folder_marker = ".moho_folder";

/// Returns true if the path is a folder, not a symbolic link, with the marker as a regular file.
bool is_owned_folder(const std::filesystem::path& folder);

/// \brief Creates a folder with its marker.
///
/// An existing owned folder keeps its content; an empty folder receives the marker.
/// \throws InputError if the path is a symbolic link, a file, or a folder with files but no marker;
/// FileError if the folder or the marker cannot be written
void make_owned_folder(const std::filesystem::path& folder);

/// \brief Removes an owned folder with its content; links are removed, but not their targets.
///
/// The marker is removed last: after an interruption the folder is still owned. An empty folder is
/// removed even without a marker.
/// \returns false, with nothing removed, if the path is neither an owned nor an empty folder
bool remove_owned_folder(const std::filesystem::path& folder) noexcept;

/// \brief Checks that the path does not exist, or is an owned or an empty folder.
/// \throws InputError otherwise
void check_owned_folder(const std::filesystem::path& folder);

}  // namespace moho::io
