// SPDX-License-Identifier: BSD-3-Clause
//
// The main function of every test program: it initialises Kokkos and runs the tests.
//
// A program contains the tests of several files test_<name>.cpp of one folder.
// --file=<folder>/test_<name>.cpp runs only those of that file. A link <folder>.<name> to the
// program has the same effect.

#include <gtest/gtest.h>

#include <moho/core/scope_guard.hpp>

#include <fnmatch.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

/// Returns true if a pattern of a colon-separated list matches a name, as in --gtest_filter.
bool any_matches(const std::string& patterns, const std::string& name) {
  for (std::size_t begin = 0; begin <= patterns.size();) {
    const std::size_t end = std::min(patterns.find(':', begin), patterns.size());
    if (fnmatch(patterns.substr(begin, end - begin).c_str(), name.c_str(), 0) == 0) return true;
    begin = end + 1;
  }
  return false;
}

/// Restricts --gtest_filter to the tests of the file "<folder>/test_<name>.cpp".
///
/// Returns false if the file has no tests.
bool keep_tests_of(const std::string& file) {
  const std::string given = ::testing::GTEST_FLAG(filter);
  const std::size_t minus = given.find('-');
  const std::string wanted = minus == 0 ? "*" : given.substr(0, minus);
  const std::string unwanted = minus == std::string::npos ? "" : given.substr(minus + 1);
  std::string filter;
  bool found = false;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const auto& suite = *unit.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) {
      const auto& test = *suite.GetTestInfo(t);
      if (!std::string_view(test.file()).ends_with("/" + file)) continue;
      found = true;
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (any_matches(wanted, name) && !any_matches(unwanted, name)) filter += name + ":";
    }
  }
  if (found) ::testing::GTEST_FLAG(filter) = filter.empty() ? "-*" : filter;
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view option = "--file=";
  const std::vector<std::string> arguments(argv, argv + argc);
  const auto given =
      std::find_if(arguments.begin() + 1, arguments.end(),
                   [&](const auto& argument) { return argument.starts_with(option); });
  if (given != arguments.end()) {
    if (!keep_tests_of(given->substr(option.size()))) {
      std::cerr << "no test of this program is in " << given->substr(option.size()) << '\n';
      return 2;
    }
  } else {
    const std::string called = arguments[0].substr(arguments[0].rfind('/') + 1);
    if (const std::size_t dot = called.find('.'); dot != std::string::npos)
      keep_tests_of(called.substr(0, dot) + "/test_" + called.substr(dot + 1) + ".cpp");
  }
  const moho::ScopeGuard guard(argc, argv);
  return RUN_ALL_TESTS();
}
