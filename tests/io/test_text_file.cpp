// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/text_file.hpp>

namespace moho::io {
namespace {

using namespace test;

TEST(TextFile, IsReadToItsEnd) {
  const Folder folder;
  const std::string long_text(3 << 20, 'x'), zero("1\0002", 3);
  for (const std::string& text : {std::string(), std::string("a\nb\n"), long_text, zero}) {
    put_file(folder / "a.txt", text);
    EXPECT_EQ(read_text(folder / "a.txt"), text);
  }
}

TEST(TextFile, SparseFilesAreRefusedAtTheirFirstZero) {
  const Folder folder;
  put_file(folder / "a.txt", "1,2\n");
  std::filesystem::resize_file(folder / "a.txt", std::uintmax_t{3} << 30);
  EXPECT_THAT(message_of<FileError>([&] { read_text(folder / "a.txt"); }),
              testing::AllOf(HasSubstr((folder / "a.txt").string()),
                             HasSubstr("bytes 4 to 4099 of 3221225472 are zero")));
}

TEST(TextFile, LengthIsBounded) {
  const Folder folder;
  put_file(folder / "a.txt", "12345");
  EXPECT_EQ(read_text(folder / "a.txt", 5), "12345");
  EXPECT_THAT(message_of<FileError>([&] { read_text(folder / "a.txt", 4); }),
              testing::AllOf(HasSubstr("has 5 bytes"), HasSubstr("up to 4")));
  EXPECT_THAT(message_of<FileError>([&] { read_text(folder / "none.txt"); }),
              HasSubstr("none.txt"));
}

TEST(TextFile, SizeIsCheckedWithoutReading) {
  const Folder folder;
  put_file(folder / "a.txt", "12345");
  moho::io::check_file_size("out", folder / "a.txt", 5, "a summary");
  moho::io::check_file_size("out", folder / "none.txt", 5, "a summary");
  EXPECT_THAT(message_of<InputError>(
                  [&] { moho::io::check_file_size("out", folder / "a.txt", 4, "a summary"); }),
              testing::AllOf(HasSubstr("out: "), HasSubstr("has 5 B"),
                             HasSubstr("up to 4 B of a summary")));
}

}  // namespace
}  // namespace moho::io
