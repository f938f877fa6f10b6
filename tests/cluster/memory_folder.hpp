// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Folders in memory, for tests with thousands of flushes to disk.

#include "io/files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace moho::cluster::test {

/// Folder of one test: in /dev/shm if that is writable and TMPDIR is not set.
class MemoryFolder : public io::test::Folder {
 public:
  MemoryFolder() : Folder(new_path()) {}

 private:
  static std::filesystem::path new_path() {
    if (std::getenv("TMPDIR") == nullptr && ::access("/dev/shm", W_OK) == 0) return "/dev/shm";
    return std::filesystem::temp_directory_path();
  }
};

}  // namespace moho::cluster::test
