// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Folders that moho makes and removes, told from folders of users by a marker file.

#include <filesystem>

namespace moho::io {

/// Name of the marker file, which lies in every folder that make_owned_folder() makes.
inline constexpr const char* owned_folder_marker = ".moho_folder";

/// Whether the path is a folder, no symbolic link, that holds the marker as a plain file.
bool is_owned_folder(const std::filesystem::path& folder);

/// \brief Creates a folder with its marker.
///
/// An owned folder is kept with its content; an empty folder gets the marker.
/// \throws InputError if the path is a symbolic link, a file, or a folder that holds files and no
/// marker
/// \throws FileError if the folder or the marker cannot be written
void make_owned_folder(const std::filesystem::path& folder);

/// \brief Removes an owned folder with its content. Links in it are removed, their targets stay.
///
/// The marker goes last: a folder whose removal was interrupted is still owned. An empty folder
/// is removed without a marker.
/// \returns false, with nothing removed, if the path is no owned and no empty folder
bool remove_owned_folder(const std::filesystem::path& folder) noexcept;

/// \brief Throws InputError if the path exists and is neither an owned nor an empty folder.
void check_owned_folder(const std::filesystem::path& folder);

}  // namespace moho::io
