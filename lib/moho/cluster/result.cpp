// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/result.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/writer.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;
constexpr const char* result_title = "moho result 1";
constexpr std::uint64_t piece = std::uint64_t{1} << 20;

// Reads a part of a file in pieces of 1 MiB.
void each_piece(const io::InputFile& file, std::uint64_t offset, std::uint64_t bytes,
                const std::function<void(const char*, std::size_t)>& take) {
  std::vector<char> buffer(static_cast<std::size_t>(std::min(piece, bytes)));
  for (std::uint64_t at = 0; at < bytes; at += piece) {
    const auto some = static_cast<std::size_t>(std::min(piece, bytes - at));
    file.read(offset + at, buffer.data(), some);
    take(buffer.data(), some);
  }
}

FileError not_of_key(const fs::path& path) {
  return FileError(concat("'", path.string(),
                          "' was not written with the key of its journal (another user wrote or "
                          "changed it, or it belongs to another journal)"));
}

// Returns the last line of a result, its message authentication code.
std::string mac_of(const io::InputFile& file) {
  std::string line(mac_bytes, '\0');
  file.read(file.size() - mac_bytes, line.data(), line.size());
  return line;
}

// A file written in pieces.
class Sink {
 public:
  explicit Sink(const fs::path& path) : m_path(path) {
    m_descriptor =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (m_descriptor < 0) fail();
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }
  void write(const char* data, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t done = ::write(m_descriptor, data, bytes);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail();
      data += done;
      bytes -= static_cast<std::size_t>(done);
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw FileError(concat("cannot write the result '", m_path.string(), "' (",
                           std::strerror(errno), "): free space, or repair the disk"));
  }
  fs::path m_path;
  int m_descriptor = -1;
};

}  // namespace

ShotResult pack_result(const fs::path& folder, const std::string& file, const Work& work,
                       std::int64_t shot, const fs::path& outputs) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(outputs)) {
    if (!entry.is_regular_file()) {
      throw InputError(concat("shot ", shot, ": the program left '",
                              entry.path().filename().string(),
                              "', which is not a regular file (allowed: regular files): write only "
                              "such files into {out}"));
    }
    found.push_back(entry.path());
  }
  if (found.empty()) {
    throw InputError(concat(
        "shot ", shot, ": the program left no file in the folder {out}: use {out} in the command"));
  }
  std::sort(found.begin(), found.end());
  std::string header = add_checksum(result_title);
  header += add_checksum(join_words({"of", work.campaign, std::to_string(work.evaluation),
                                     std::to_string(shot), checksum_of(work.survey)}));
  std::vector<io::FileIdentity> parts;
  for (const fs::path& path : found) {
    parts.push_back(io::identify_file(path));
    header += add_checksum(
        join_words({"part", path.filename().string(), std::to_string(parts.back().bytes),
                    io::checksum_text(parts.back().checksum)}));
  }
  header += add_checksum("data");
  make_private_folders((folder / file).parent_path());
  return write_result(folder, shot, file, [&](const fs::path& temporary) {
    Sink sink(temporary);
    Mac mac(work.key);
    mac.add(header.data(), header.size());
    sink.write(header.data(), header.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      const io::InputFile input(found[k]);
      io::Checksum sum;
      each_piece(input, 0, input.size(), [&](const char* data, std::size_t bytes) {
        sum.add(data, bytes);
        mac.add(data, bytes);
        sink.write(data, bytes);
      });
      if (input.size() != parts[k].bytes || sum.value() != parts[k].checksum) {
        throw FileError(concat(
            "'", found[k].string(),
            "' changed while it was read: end the program after all processes that it started"));
      }
    }
    const std::string line = mac.line();
    sink.write(line.data(), line.size());
  });
}

ResultHeader read_header(const fs::path& path) {
  const io::InputFile file(path);
  const auto damaged = [&](const char* why) {
    return FileError(
        concat("'", path.string(), "' is not a complete result of a shot (", why, ")"));
  };
  ResultHeader header;
  std::string text;
  std::uint64_t at = 0;
  bool first = true, named = false;
  for (;;) {
    std::size_t end = 0;
    while ((end = text.find('\n', static_cast<std::size_t>(at))) == std::string::npos) {
      if (text.size() == file.size() || text.size() > (std::size_t{64} << 20)) {
        throw damaged("its header is truncated");
      }
      const auto more = static_cast<std::size_t>(
          std::min<std::uint64_t>(std::uint64_t{1} << 16, file.size() - text.size()));
      const std::size_t before = text.size();
      text.resize(before + more);
      file.read(before, text.data() + before, more);
    }
    const std::string_view line = std::string_view(text).substr(static_cast<std::size_t>(at),
                                                                end - static_cast<std::size_t>(at));
    const auto content = remove_checksum(line);
    if (!content) throw damaged(first ? "its first line is wrong" : "its header is damaged");
    at = end + 1;
    if (first) {
      if (*content != result_title) throw damaged("its first line is wrong");
      first = false;
      continue;
    }
    if (*content == "data") break;
    const auto words = parse_line(*content);
    if (!words || words->size() < 4) throw damaged("its header is damaged");
    ResultPart part;
    if ((*words)[0] == "of" && words->size() == 5 && read_number((*words)[2], header.evaluation) &&
        read_number((*words)[3], header.shot)) {
      header.campaign = (*words)[1];
      header.survey = (*words)[4];
      named = true;
    } else if ((*words)[0] == "part" && read_number((*words)[2], part.bytes) &&
               read_hex((*words)[3], part.checksum)) {
      part.name = (*words)[1];
      if (part.name.empty() || part.name.find('/') != std::string::npos || part.name == "." ||
          part.name == "..") {
        throw damaged("a name points outside its folder");
      }
      header.parts.push_back(part);
    } else {
      throw damaged("its header has an invalid line");
    }
  }
  if (!named) throw damaged("its header has an invalid line");
  for (ResultPart& part : header.parts) {
    part.offset = at;
    if (part.bytes > file.size() - std::min(at, file.size())) throw damaged("it is truncated");
    at += part.bytes;
  }
  at += mac_bytes;
  if (at > file.size()) throw damaged("it is truncated");
  if (at < file.size()) throw damaged("it is longer than its header says");
  return header;
}

ShotResult check_result(const fs::path& folder, const std::string& file, const Work& work,
                        std::int64_t shot) {
  const fs::path path = folder / file;
  const ResultHeader header = read_header(path);
  const auto hold = [&](const char* what, const auto& is, const auto& expected) {
    if (is == expected) return;
    throw FileError(
        concat("'", path.string(), "' belongs to ", what, ' ', is, ", not to ", expected));
  };
  hold("the campaign", header.campaign, work.campaign);
  hold("the evaluation", header.evaluation, work.evaluation);
  hold("the shot", header.shot, shot);
  hold("a survey with the checksum", header.survey, checksum_of(work.survey));
  const io::InputFile input(path);
  io::Checksum all;
  Mac mac(work.key);
  const std::uint64_t begin =
      header.parts.empty() ? input.size() - mac_bytes : header.parts.front().offset;
  each_piece(input, 0, begin, [&](const char* data, std::size_t bytes) {
    all.add(data, bytes);
    mac.add(data, bytes);
  });
  for (const ResultPart& part : header.parts) {
    io::Checksum own;
    each_piece(input, part.offset, part.bytes, [&](const char* data, std::size_t bytes) {
      own.add(data, bytes);
      all.add(data, bytes);
      mac.add(data, bytes);
    });
    if (own.value() != part.checksum) {
      throw FileError(concat("'", path.string(), "' is damaged (the checksum of ", part.name,
                             " is ", io::checksum_text(own.value()), ", not ",
                             io::checksum_text(part.checksum), ")"));
    }
  }
  const std::string line = mac_of(input);
  if (!same_mac(mac.line(), line)) throw not_of_key(path);
  all.add(line.data(), line.size());
  return {shot, file, input.size(), all.value()};
}

std::vector<std::string> unpack_result(const fs::path& path, const fs::path& folder, const Key& key,
                                       bool temporary) {
  const ResultHeader header = read_header(path);
  const io::InputFile input(path);
  Mac mac(key);
  const auto authenticate = [&] {
    if (!same_mac(mac.line(), mac_of(input))) throw not_of_key(path);
  };
  // temporary files are authenticated while they are written, and removed by the caller
  const std::uint64_t bytes_before =
      !temporary || header.parts.empty() ? input.size() - mac_bytes : header.parts.front().offset;
  each_piece(input, 0, bytes_before,
             [&](const char* data, std::size_t bytes) { mac.add(data, bytes); });
  if (!temporary) authenticate();
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<std::string> names;
  for (const ResultPart& part : header.parts) {
    std::optional<Sink> sink;
    std::optional<io::AtomicFile> output;
    if (temporary) {
      sink.emplace(folder / part.name);
    } else {
      output.emplace(folder / part.name);
    }
    io::Checksum sum;
    each_piece(input, part.offset, part.bytes, [&](const char* data, std::size_t bytes) {
      sum.add(data, bytes);
      if (temporary) mac.add(data, bytes);
      if (sink) sink->write(data, bytes);
      if (output) output->write(data, bytes);
    });
    if (sum.value() != part.checksum) {
      throw FileError(
          concat("'", path.string(), "' is damaged (the checksum of ", part.name, " is wrong)"));
    }
    if (output) output->commit(part.bytes);
    names.push_back(part.name);
  }
  if (temporary) authenticate();
  return names;
}

}  // namespace moho::cluster
