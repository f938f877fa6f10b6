// SPDX-License-Identifier: BSD-3-Clause

#include "checkpoint.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

namespace moho::python {

namespace {

// Header of a file of sums; its three texts follow, and the checksum of header and first text.
struct Header {
  char magic[8] = {'M', 'O', 'H', 'O', 'S', 'U', 'M', '1'};
  std::uint64_t lengths[3] = {};  // made_from, arrays, image
};
static_assert(sizeof(Header) == 32);

std::uint32_t checksum(const Header& header, const std::string& made_from) {
  return io::crc32c(made_from.data(), made_from.size(), io::crc32c(&header, sizeof(header)));
}

std::string value_of(const std::string& line, const std::string& name) {
  return line.empty() ? "not there" : line.substr(name.size() + 2);
}

// The line of a name, or nothing.
std::string line_of(const std::vector<std::string>& lines, const std::string& name) {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.rfind(name + ": ", 0) == 0;
  });
  return found == lines.end() ? std::string() : *found;
}

}  // namespace

bool Checkpoint::exists() const {
  std::error_code ignored;
  return !path.empty() && std::filesystem::exists(path, ignored);
}

void Checkpoint::check(const std::string& before) const {
  if (before == made_from) return;
  const std::vector<std::string> mine = text::split(made_from, '\n');
  const std::vector<std::string> theirs = text::split(before, '\n');
  for (const auto* lines : {&mine, &theirs}) {
    for (const std::string& line : *lines) {
      const std::string name = line.substr(0, line.find(": "));
      const std::string now = line_of(mine, name), then = line_of(theirs, name);
      if (name.empty() || now == then) continue;
      throw InputError(concat("checkpoint: ", name, " is ", value_of(now, name), ", and was ",
                              value_of(then, name), " in '", path,
                              "' (allowed: the same arguments and version of moho): remove the "
                              "file to begin again"));
    }
  }
}

void write_sums(const Checkpoint& to, const MigrationSums& sums) {
  Header header;
  const std::string* const texts[] = {&to.made_from, &sums.arrays, &sums.image};
  for (std::size_t k = 0; k < 3; ++k) header.lengths[k] = texts[k]->size();
  const std::uint32_t sum = checksum(header, to.made_from);
  io::AtomicFile file(to.path);
  file.write(&header, sizeof(header));
  for (const std::string* text : texts) file.write(*text);
  file.write(&sum, sizeof(sum));
  file.commit();
}

void refuse_damaged_sums(const std::string& path) {
  throw FileError(concat("'", path,
                         "' is damaged (its length or a checksum is wrong; allowed: what "
                         "moho.Migration wrote): remove it to begin again"));
}

MigrationSums read_sums(const Checkpoint& from) {
  const io::InputFile file(from.path);
  Header header;
  const Header expected;
  std::uint32_t sum = 0;
  if (file.size() < sizeof(header) + sizeof(sum)) refuse_damaged_sums(from.path);
  file.read(0, &header, sizeof(header));
  if (std::memcmp(header.magic, expected.magic, sizeof(header.magic)) != 0) {
    throw FileError(concat("'", from.path,
                           "' has no sums of a migration (allowed: what moho.Migration wrote): "
                           "give another name, or remove it to begin again"));
  }
  std::uint64_t at = sizeof(header);
  const std::uint64_t end = file.size() - sizeof(sum);
  std::string texts[3];
  for (std::size_t k = 0; k < 3; ++k) {
    if (header.lengths[k] > end - at) refuse_damaged_sums(from.path);
    texts[k].resize(header.lengths[k]);
    file.read(at, texts[k].data(), texts[k].size());
    at += header.lengths[k];
  }
  file.read(end, &sum, sizeof(sum));
  if (at != end || sum != checksum(header, texts[0])) refuse_damaged_sums(from.path);
  from.check(texts[0]);
  return {std::move(texts[1]), std::move(texts[2])};
}

}  // namespace moho::python
