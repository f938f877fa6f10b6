// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Temporary folders, binary file contents and texts of errors for the tests of moho::io.

#include <moho/core/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace moho::io::test {

using ::testing::HasSubstr;

/// The folder of a test, removed with its content.
class Folder {
 public:
  Folder() : Folder(std::filesystem::temp_directory_path()) {}
  explicit Folder(const std::filesystem::path& parent) {
    std::string name = (parent / "moho-io-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("no temporary folder");
    m_path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return m_path / name; }
  const std::filesystem::path& path() const { return m_path; }

  /// Returns the names of the files in the folder.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path m_path;
};

inline void put_file(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string get_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Returns the bytes of a number, most significant first if `big`.
template <class T>
std::string bytes_of(T value, bool big) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  const std::uint16_t one = 1;
  const bool host_is_big = *reinterpret_cast<const unsigned char*>(&one) == 0;
  return big == host_is_big ? bytes : std::string(bytes.rbegin(), bytes.rend());
}

/// Returns the bytes of several numbers of type T.
template <class T>
std::string numbers(std::initializer_list<double> values, bool big = false) {
  std::string bytes;
  for (const double value : values) bytes += bytes_of(static_cast<T>(value), big);
  return bytes;
}

/// Types of tests that are repeated in single and double precision.
using Precisions = ::testing::Types<float, double>;

/// Returns the text of the exception of type E; without an exception the test fails.
template <class E, class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "no exception";
  return "";
}

/// Returns true if the function throws FileError, false if it returns; passes other exceptions on.
template <class Function>
bool throws_file_error(Function function) {
  try {
    function();
  } catch (const FileError&) {
    return true;
  }
  return false;
}

/// Bytes with a meaning in headers, and others.
inline constexpr unsigned char odd_bytes[] = {0,    1,   4,   '\n', '\f', ' ', '"',
                                              '\'', '(', ')', ',',  '-',  '0', '9',
                                              ':',  '=', 'L', '}',  0x7f, 0xff};

/// Returns the path of optional test data, in MOHO_SHARED_DATA or the folder ../shared/data.
///
/// The latter is relative to the source tree.
inline std::optional<std::filesystem::path> shared_data(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  if (const char* folder = std::getenv("MOHO_SHARED_DATA")) folders.emplace_back(folder);
  const auto source = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
  folders.push_back(source.parent_path() / "shared" / "data");
  for (const auto& folder : folders) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / name, error)) return folder / name;
  }
  return std::nullopt;
}

/// Returns true if Debian's Python has all of these modules.
inline bool have_python(const std::string& modules) {
  return std::system(("/usr/bin/python3 -c 'import " + modules + "' >/dev/null 2>&1").c_str()) == 0;
}

inline int run_python(const Folder& folder, const std::string& script) {
  put_file(folder / "script.py", script);
  return std::system(("cd '" + folder.path().string() + "' && /usr/bin/python3 script.py").c_str());
}

}  // namespace moho::io::test
