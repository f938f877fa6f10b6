// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/text_file.hpp>

#include <algorithm>
#include <system_error>

namespace moho::io {

std::string read_text(const std::filesystem::path& path, std::uint64_t largest) {
  constexpr std::uint64_t block = std::uint64_t{1} << 20;
  const std::string hole(4096, '\0');
  const InputFile file(path);
  if (file.size() > largest) {
    throw FileError(concat("'", path.string(), "' has ", file.size(), " bytes (allowed: up to ",
                           largest, " of a text file): take a part of it, or another file"));
  }
  std::string text;
  while (text.size() < file.size()) {
    const std::uint64_t begin = text.size(), bytes = std::min(block, file.size() - begin);
    text.resize(static_cast<std::size_t>(begin + bytes));
    file.read(begin, text.data() + begin, static_cast<std::size_t>(bytes));
    const auto from = static_cast<std::size_t>(begin - std::min<std::uint64_t>(begin, hole.size()));
    const auto found = text.find(hole, from);
    if (found != std::string::npos) {
      throw FileError(concat("'", path.string(), "' is no text (bytes ", found, " to ",
                             found + hole.size() - 1, " of ", file.size(),
                             " are zero): give a text file"));
    }
  }
  return text;
}

void check_file_size(const std::string& name, const std::filesystem::path& path,
                     std::uint64_t largest, const std::string& what) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes <= largest) return;
  throw InputError(concat(name, ": ", path.string(), " has ",
                          format_bytes(static_cast<double>(bytes)), " (allowed: up to ",
                          format_bytes(static_cast<double>(largest)), " of ", what,
                          "): move it away, or name another folder"));
}

}  // namespace moho::io
