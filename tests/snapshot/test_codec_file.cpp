// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Compressed snapshots in files.

#include "codec_fields.hpp"

#include <moho/snapshot/codec/file.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <string>

namespace {

using namespace moho;
using namespace moho::snapshot;
using moho::testing::bytes_of;
using moho::testing::CodecField;
using moho::testing::fronts;
using moho::testing::unit_grid;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(SnapshotFile, IsWrittenWholeAndReadAgain) {
  using Host = Kokkos::HostSpace;
  const fs::path folder = fs::temp_directory_path() / concat("moho_codec_file_", ::getpid());
  fs::create_directory(folder);
  const Instance<Host> exec{Kokkos::DefaultHostExecutionSpace()};
  SnapshotLabel<2> label, found;
  label.grid = unit_grid<2>({75, 101});
  label.step = 77;
  const CodecField<float, 2, Host> field(exec, label.grid, fronts<2>);
  Packed<2, Host> packed;
  Codec<float, 2, Host>().encode(exec, field.layout, field.storage, whole_box(label.grid), packed);
  const fs::path path = folder / "snapshot";
  write_snapshot<2>(path, packed, label);
  const Packed<2, Host> read = read_snapshot<2>(path, found);
  EXPECT_EQ(found.step, 77);
  EXPECT_TRUE(bytes_of(exec, read) == bytes_of(exec, packed));

  // the folder contains only the file, also after a failure
  EXPECT_THROW(write_snapshot<2>(folder / "none" / "snapshot", packed, label), FileError);
  label.grid.extents = {10, 10};
  EXPECT_THROW(write_snapshot<2>(path, packed, label), InputError);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  EXPECT_TRUE(bytes_of(exec, read_snapshot<2>(path, found)) == bytes_of(exec, packed));

  fs::resize_file(path, fs::file_size(path) - 1);
  std::string message;
  try {
    read_snapshot<2>(path, found);
  } catch (const FileError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr(path.string()));
  EXPECT_THAT(message, HasSubstr("is no whole snapshot"));
  EXPECT_THROW(read_snapshot<2>(folder / "none", found), FileError);
  fs::remove_all(folder);
}

}  // namespace
