// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/owned_folder.hpp>

namespace moho::io {
namespace {

using namespace test;

namespace fs = std::filesystem;

TEST(OwnedFolder, IsMadeWithItsParentsAndRemovedWithItsContent) {
  const Folder folder;
  const fs::path own = folder / "a/b";
  make_owned_folder(own);
  make_owned_folder(own);
  EXPECT_TRUE(is_owned_folder(own));
  fs::create_directories(own / "below");
  put_file(own / "below" / "file", "text");
  EXPECT_TRUE(remove_owned_folder(own));
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(fs::exists(folder / "a"));
  EXPECT_FALSE(remove_owned_folder(own));
}

TEST(OwnedFolder, IsNeitherAFolderOfAUserNorALinkNorAFile) {
  const Folder folder;
  fs::create_directory(folder / "users");
  put_file(folder / "users/thesis.txt", "text");
  make_owned_folder(folder / "own");
  put_file(folder / "own/kept", "text");
  fs::create_directory_symlink("own", folder / "link");
  put_file(folder / "file", "text");
  for (const char* name : {"users", "link", "file"}) {
    EXPECT_FALSE(is_owned_folder(folder / name)) << name;
    EXPECT_THAT(message_of<InputError>([&] { make_owned_folder(folder / name); }),
                testing::AllOf(HasSubstr((folder / name).string()), HasSubstr("move it away")));
    EXPECT_FALSE(remove_owned_folder(folder / name)) << name;
  }
  EXPECT_EQ(get_file(folder / "users/thesis.txt"), "text");
  EXPECT_EQ(get_file(folder / "own/kept"), "text");
  EXPECT_EQ(get_file(folder / "file"), "text");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
}

TEST(OwnedFolder, EmptyFoldersAreTaken) {
  const Folder folder;
  fs::create_directory(folder / "one");
  make_owned_folder(folder / "one");
  EXPECT_TRUE(is_owned_folder(folder / "one"));
  // a process that was killed has left the marker without its text
  make_owned_folder(folder / "whole");
  fs::create_directory(folder / "killed");
  put_file(folder / "killed" / owned_folder_marker, "");
  make_owned_folder(folder / "killed");
  EXPECT_EQ(get_file(folder / "killed" / owned_folder_marker),
            get_file(folder / "whole" / owned_folder_marker));
  EXPECT_NE(get_file(folder / "whole" / owned_folder_marker), "");
  fs::create_directory(folder / "two");
  EXPECT_TRUE(remove_owned_folder(folder / "two"));
}

TEST(OwnedFolder, LinksInItAreRemovedAndTheirTargetsStay) {
  const Folder folder;
  fs::create_directory(folder / "users");
  put_file(folder / "users/thesis.txt", "text");
  make_owned_folder(folder / "own");
  fs::create_directory_symlink(folder / "users", folder / "own/link");
  fs::create_symlink(folder / "users/thesis.txt", folder / "own/file");
  EXPECT_TRUE(remove_owned_folder(folder / "own"));
  EXPECT_EQ(get_file(folder / "users/thesis.txt"), "text");
}

}  // namespace
}  // namespace moho::io
