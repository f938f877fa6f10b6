// SPDX-License-Identifier: BSD-3-Clause
#include "app/parts_file.hpp"

#include <moho/core/error.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace moho::examples {

namespace fs = std::filesystem;

bool PartsFile::add(const Json& part) const {
  std::string line = part.dump();
  std::replace(line.begin(), line.end(), '\n', ' ');
  // a line that a full disk has cut ends here
  line = "\n" + line + "\n";
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  const int file = ::open(m_path.c_str(), flags, 0666);
  if (file < 0) return false;
  const bool written =
      ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fdatasync(file) == 0;
  return ::close(file) == 0 && written;
}

void PartsFile::remove() const noexcept { ::unlink(m_path.c_str()); }

void PartsFile::add_to(Json& summary, std::uint64_t largest) const {
  std::error_code error;
  if (fs::symlink_status(m_path, error).type() != fs::file_type::regular) return;
  std::string text;
  try {
    text = io::read_text(m_path, largest);
  } catch (const FileError&) {
    return;
  }
  const auto number_of = [](const Json& part) {
    const Json* const number = part.find("number");
    return number != nullptr ? number->number(-1.0) : -1.0;
  };
  std::set<double> numbers;
  const Json* const parts = summary.find("parts");
  for (std::size_t k = 0; parts != nullptr && k < parts->size(); ++k) {
    numbers.insert(number_of(parts->at(k)));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const Json part = Json::parse(line);
    const Json* const files = part.find("files");
    if (files == nullptr || !numbers.insert(number_of(part)).second) continue;
    for (std::size_t k = 0; k < files->size(); ++k) {
      const Json* const name = files->at(k).find("name");
      if (name != nullptr) summary["files"].push_back(*name);
    }
    summary["parts"].push_back(part);
  }
}

void write_json(const fs::path& path, const Json& summary) {
  io::AtomicFile file(path);
  summary.write([&](std::string_view text) { file.write(text); });
  file.write("\n");
  file.commit();
}

void remove_written(Json& summary, const char* key) {
  const Json *files = summary.find("files"), *list = summary.find(key);
  if (files == nullptr || list == nullptr) return;
  const std::vector<std::string> written = files->texts();
  const std::set<std::string> existing(written.begin(), written.end());
  std::vector<std::string> names = list->texts();
  std::erase_if(names, [&](const std::string& name) { return existing.count(name) > 0; });
  if (names.empty()) return summary.remove(key);
  summary[key] = names;
}

}  // namespace moho::examples
