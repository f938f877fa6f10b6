// SPDX-License-Identifier: BSD-3-Clause
//
// Includes between the modules of moho run in one direction only, and heavy third-party headers
// stay out of the headers that device code includes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

// The modules that each module may include, besides itself.
const std::map<std::string, std::set<std::string>> allowed = {
    {"core", {}},
    {"io", {"core"}},
    {"rays", {"core"}},
};

struct Include {
  std::string file, module, target;
};

std::vector<Include> includes_below(const fs::path& root) {
  const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    const std::string extension = entry.path().extension().string();
    if (extension != ".hpp" && extension != ".cpp") continue;
    const fs::path relative = fs::relative(entry.path(), root);
    std::ifstream stream(entry.path());
    std::string line;
    std::smatch match;
    while (std::getline(stream, line)) {
      if (std::regex_search(line, match, pattern)) {
        found.push_back({relative.string(), relative.begin()->string(), match[1]});
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
  const std::regex host_only(R"(^(fmt|boost|nlohmann|segyio|gtest|gmock|benchmark)/)");
  for (const Include& include : includes_below(MOHO_LIB_DIR)) {
    if (fs::path(include.file).extension() != ".hpp") continue;
    EXPECT_FALSE(std::regex_search(include.target, host_only))
        << include.file << " includes " << include.target;
  }
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
