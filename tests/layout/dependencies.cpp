// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Checks that includes between the modules of moho run in one direction only. Heavy third-party
// headers must not be in the headers that device code includes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// Modules that each module may include, in addition to itself.
const std::map<std::string, std::set<std::string>> allowed = {
    {"core", {}},
    {"io", {"core"}},
    {"rays", {"core"}},
    {"eikonal", {"core"}},
    {"mpi", {"core"}},
    {"gravity", {"core", "mpi"}},
    {"wave", {"core"}},
    {"stream", {"core", "io", "mpi", "wave"}},
    {"domain", {"core", "eikonal", "wave"}},
    {"snapshot", {"core", "io", "wave"}},
    {"survey", {"core", "io", "eikonal", "wave"}},
    {"optimize", {"core", "io"}},
    {"gravity_inversion", {"core", "io", "gravity", "optimize"}},
    {"tomography", {"core", "io", "rays", "eikonal", "optimize"}},
    {"rtm", {"core", "io", "eikonal", "wave", "stream", "domain", "snapshot", "survey"}},
    {"fwi", {"core", "io", "wave", "stream", "snapshot", "survey", "optimize"}},
    {"cluster", {"core", "io"}},
};

struct Include {
  std::string file, module, target;
};

// Returns the file that a line includes; empty for other lines.
std::string included_by(const std::string& line) {
  const auto after_blanks = [&](std::size_t from) { return line.find_first_not_of(" \t", from); };
  const std::size_t hash = after_blanks(0);
  if (hash == std::string::npos || line[hash] != '#') return "";
  const std::size_t word = after_blanks(hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return "";
  const std::size_t open = line.find_first_of("<\"", word + 7);
  if (open == std::string::npos) return "";
  const std::size_t close = line.find_first_of(">\"", open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

std::vector<Include> includes_below(const fs::path& root) {
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = entry.path().extension().string();
    if (extension != ".hpp" && extension != ".cpp") continue;
    const fs::path relative = fs::relative(entry.path(), root);
    std::ifstream stream(entry.path());
    std::string line;
    while (std::getline(stream, line)) {
      const std::string target = included_by(line);
      if (!target.empty()) {
        found.push_back({relative.string(), relative.begin()->string(), target});
      }
    }
  }
  return found;
}

TEST(Dependencies, ModulesIncludeOnlyWhatTheyMay) {
  const auto includes = includes_below(MOHO_LIB_DIR);
  ASSERT_FALSE(includes.empty());
  for (const Include& include : includes) {
    const auto rule = allowed.find(include.module);
    ASSERT_NE(rule, allowed.end()) << include.file << ": the module has no rule in this test";
    if (include.target.rfind("moho/", 0) != 0) continue;
    const std::string other = include.target.substr(5, include.target.find('/', 5) - 5);
    EXPECT_TRUE(other == include.module || rule->second.count(other) == 1)
        << include.file << " includes " << include.target;
  }
}

TEST(Dependencies, HeadersIncludeNoHostLibraries) {
  const std::set<std::string> host_only = {"fmt",   "boost", "nlohmann", "segyio",
                                           "gtest", "gmock", "benchmark"};
  for (const Include& include : includes_below(MOHO_LIB_DIR)) {
    if (fs::path(include.file).extension() != ".hpp") continue;
    const std::size_t slash = include.target.find('/');
    if (slash == std::string::npos) continue;
    EXPECT_EQ(host_only.count(include.target.substr(0, slash)), 0u)
        << include.file << " includes " << include.target;
  }
}

// The cluster's headers contain neither arrays nor kernels: work is given as callables and files.
// Exact sums, which are kernels, are therefore in core, and their files in io.
TEST(Dependencies, TheClusterStandsApartFromKokkos) {
  for (const Include& include : includes_below(MOHO_LIB_DIR)) {
    if (include.module != "cluster" || include.target.rfind("moho/", 0) != 0) continue;
    // headers of moho::base, which is linked without Kokkos
    const std::set<std::string> free_of_kokkos = {
        "moho/core/error.hpp",      "moho/core/launcher.hpp",    "moho/core/memory_share.hpp",
        "moho/core/parse.hpp",      "moho/core/suggestions.hpp", "moho/core/text.hpp",
        "moho/io/checksum.hpp",     "moho/io/file_lock.hpp",     "moho/io/input_file.hpp",
        "moho/io/owned_folder.hpp", "moho/io/text_file.hpp",     "moho/io/writer.hpp"};
    EXPECT_TRUE(include.target.rfind("moho/cluster/", 0) == 0 ||
                free_of_kokkos.count(include.target) == 1)
        << include.file << " includes " << include.target;
  }
}

TEST(Dependencies, LinesThatIncludeAreRecognised) {
  EXPECT_EQ(included_by("#include <vector>"), "vector");
  EXPECT_EQ(included_by("  # include \"moho/core/grid.hpp\"  // why"), "moho/core/grid.hpp");
  EXPECT_EQ(included_by("// #include <vector>"), "");
  EXPECT_EQ(included_by("#define include"), "");
  EXPECT_EQ(included_by(""), "");
}

TEST(Dependencies, EveryFileNamesItsLicence) {
  for (const auto& entry : fs::recursive_directory_iterator(MOHO_LIB_DIR)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path());
    std::string line;
    std::getline(stream, line);
    EXPECT_THAT(line, ::testing::HasSubstr("SPDX-License-Identifier: BSD-3-Clause"))
        << entry.path();
  }
}

}  // namespace
