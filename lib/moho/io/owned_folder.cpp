// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/owned_folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace moho::io {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view marker_text =
    "moho made this folder for files of a run, and removes it with its content.\n";

bool is_folder(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_empty_folder(const fs::path& path) {
  std::error_code error;
  return is_folder(path) && fs::is_empty(path, error) && !error;
}

}  // namespace

bool is_owned_folder(const fs::path& folder) {
  struct stat status {};
  return is_folder(folder) && ::lstat((folder / owned_folder_marker).c_str(), &status) == 0 &&
         S_ISREG(status.st_mode);
}

void check_owned_folder(const fs::path& folder) {
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0 || is_owned_folder(folder) || is_empty_folder(folder)) {
    return;
  }
  const char* const what = S_ISLNK(status.st_mode)   ? "a symbolic link"
                           : S_ISDIR(status.st_mode) ? "a folder that no run of moho made"
                                                     : "no folder";
  throw InputError(concat("'", folder.string(), "' is ", what,
                          " (allowed: a name that is free, or a folder with the file ",
                          owned_folder_marker, "): move it away"));
}

void make_owned_folder(const fs::path& folder) {
  check_owned_folder(folder);
  std::error_code error;
  const fs::path marker = folder / owned_folder_marker;
  if (is_owned_folder(folder) && fs::file_size(marker, error) > 0) return;
  fs::create_directories(folder, error);
  // a process that was killed has left an empty file; another one may write the same text now
  const int file =
      error ? -1 : ::open(marker.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  const bool written = file >= 0 && ::write(file, marker_text.data(), marker_text.size()) ==
                                        static_cast<ssize_t>(marker_text.size());
  const int reason = errno;
  if (file >= 0) ::close(file);
  if (written) return;
  throw FileError(concat("the folder '", folder.string(), "' cannot be made (",
                         error ? error.message() : std::string(std::strerror(reason)),
                         "): name a folder that you may write to"));
}

bool remove_owned_folder(const fs::path& folder) noexcept {
  try {
    std::error_code error;
    if (!is_owned_folder(folder)) return is_empty_folder(folder) && fs::remove(folder, error);
    // an active thread may add files during the removal
    constexpr int max_passes = 1000;
    for (int pass = 0; pass < max_passes; ++pass) {
      bool complete = true;
      for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().filename() == owned_folder_marker) continue;
        std::error_code failed;
        fs::remove_all(entry.path(), failed);
        complete = complete && !failed;
      }
      if (!complete) continue;
      fs::remove(folder / owned_folder_marker, error);
      if (fs::remove(folder, error)) return true;
    }
    return false;
  } catch (const std::exception&) {
    return false;  // allocation of a path failed
  }
}

}  // namespace moho::io
