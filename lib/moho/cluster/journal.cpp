// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/journal.hpp>
#include <moho/cluster/process.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/file_lock.hpp>
#include <moho/io/input_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;

constexpr const char* first_words = "moho journal";
constexpr const char* journal_version = "1";

std::optional<ShotResult> result_of(const std::vector<std::string_view>& words, std::size_t first) {
  ShotResult result;
  if (words.size() != first + 4 || !read_number(words[first], result.shot) ||
      !read_number(words[first + 2], result.bytes) ||
      !read_hex(words[first + 3], result.checksum)) {
    return std::nullopt;
  }
  const auto file = decode_word(words[first + 1]);
  if (!file) return std::nullopt;
  result.file = *file;
  return result;
}

/// Throws InputError unless `file` is a path below the journal's folder.
void check_name(const std::string& file) {
  const fs::path path(file);
  bool good = !file.empty() && path.is_relative() && path.has_filename();
  for (const fs::path& part : path) good = good && part != ".." && part != ".";
  if (good) return;
  throw InputError(
      concat("journal: the result '", file,
             "' (allowed: paths below the folder of "
             "the journal, without . and ..): keep results below the folder of their journal"));
}

std::string system_reason(int reason) { return std::strerror(reason); }

/// Flushes a file, or the entries of a folder, to disk.
void to_disk(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int reason = descriptor < 0 ? errno : 0;
  // Some file systems do not support fsync() for folders.
  if (reason == 0 && ::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS) {
    reason = errno;
  }
  if (descriptor >= 0) ::close(descriptor);
  if (reason != 0) {
    throw FileError(concat("cannot flush '", path.string(), "' to disk (", system_reason(reason),
                           "): check the disk and the quota"));
  }
}

/// Returns the prefix of temporary files of this machine; the process number follows.
std::string temporary_prefix() { return ".part-" + host_name() + '-'; }

/// Removes temporary files of processes that no longer run on this machine.
void remove_leftovers(const fs::path& folder) {
  const std::string prefix = temporary_prefix();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    pid_t process = 0;
    if (!read_number(rest.substr(0, rest.find('-')), process) || process <= 0) continue;
    if (::kill(process, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), error);
  }
}

/// Returns the content of an open file.
std::string read_all(int descriptor, const fs::path& path) {
  std::string text;
  char buffer[1 << 16];
  for (off_t offset = 0;;) {
    const ssize_t got = ::pread(descriptor, buffer, sizeof(buffer), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      throw FileError(concat("cannot read '", path.string(), "' (", system_reason(errno), ")"));
    }
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    offset += got;
  }
}

/// Returns the first lines of a journal of this survey.
std::string header_of(const Fingerprint& survey) {
  std::string header = add_checksum(concat(first_words, ' ', journal_version));
  for (const auto& [name, value] : survey) {
    header += add_checksum("survey " + encode_word(name) + ' ' + encode_word(value));
  }
  return header + add_checksum("begin");
}

/// The process that holds a journal.
struct Holder {
  std::string text = "another process";
  bool lives = true;  ///< false if its process has ended
};

/// Returns "process 12 on host since 2020-01-01T00:00:00Z" for the latest holder of the journal.
Holder holder_in(const std::string& text) {
  Holder holder;
  for (const std::string_view line : split_lines(text)) {
    const auto content = remove_checksum(line);
    if (!content) continue;
    const auto words = split_words(*content);
    if (words.size() != 4 || words[0] != "open") continue;
    const std::string host = decode_word(words[1]).value_or("?");
    holder.text = concat("process ", words[2], " on ", host, " since ", words[3]);
    int process = 0;
    holder.lives = host != host_name() || !read_number(words[2], process) || process < 1 ||
                   ::kill(process, 0) == 0 || errno != ESRCH;
  }
  return holder;
}

/// Throws an error that explains why a header is not the expected one.
[[noreturn]] void refuse_header(const fs::path& path, const std::string& text,
                                const Fingerprint& survey) {
  const auto lines = split_lines(text);
  const auto first = lines.empty() ? std::optional<std::string_view>() : remove_checksum(lines[0]);
  if (!first || first->rfind(first_words, 0) != 0) {
    throw FileError(
        concat("'", path.string(),
               "' is not a journal of moho (its first line is wrong): give another name"));
  }
  if (*first != concat(first_words, ' ', journal_version)) {
    throw InputError(concat("the journal '", path.string(), "' has the version ",
                            first->substr(std::min(std::strlen(first_words) + 1, first->size())),
                            " (allowed: ", journal_version,
                            "): use the program that wrote it, or start another journal"));
  }
  Fingerprint found;
  for (const std::string_view line : lines) {
    const auto content = remove_checksum(line);
    const auto words = split_words(content.value_or(""));
    if (words.size() == 1 && words[0] == "begin") break;
    if (words.size() != 3 || words[0] != "survey") continue;
    found[decode_word(words[1]).value_or("?")] = decode_word(words[2]).value_or("?");
  }
  std::set<std::string> names;
  for (const auto& entry : survey) names.insert(entry.first);
  for (const auto& entry : found) names.insert(entry.first);
  std::string differences;
  for (const std::string& name : names) {
    const auto text_of = [&](const Fingerprint& in) {
      const auto at = in.find(name);
      return at == in.end() ? std::string("not given") : "'" + at->second + "'";
    };
    const std::string a = text_of(found), b = text_of(survey);
    if (a != b)
      differences += concat(differences.empty() ? "" : "; ", name, ": ", a, " before, ", b, " now");
  }
  if (differences.empty()) {
    throw FileError(concat("the beginning of the journal '", path.string(),
                           "' is damaged: start another journal"));
  }
  throw InputError(concat("the journal '", path.string(), "' belongs to another survey (",
                          differences, "): give the original input, or start another journal"));
}

}  // namespace

std::string to_text(const ShotResult& result) {
  return concat(result.shot, ' ', encode_word(result.file), ' ', result.bytes, ' ',
                io::checksum_text(result.checksum));
}

ShotResult parse_result(std::string_view text) {
  const auto result = result_of(split_words(text), 0);
  if (!result) {
    throw InputError(concat("'", text,
                            "' is not a result of a shot (allowed: number, file, bytes, "
                            "checksum): send a line of moho::cluster::to_text()"));
  }
  check_name(result->file);
  return *result;
}

ShotResult write_result(const fs::path& folder, std::int64_t shot, const std::string& file,
                        const std::function<void(const fs::path&)>& write) {
  static std::atomic<unsigned> next{0};
  check_name(file);
  const fs::path target = folder / file;
  // Keep the extension: it may select the format of the writer.
  const fs::path temporary = target.parent_path() / concat(temporary_prefix(), ::getpid(), '-',
                                                           next++, '-', target.filename().string());
  std::error_code error;
  try {
    write(temporary);
    to_disk(temporary);
    const io::FileIdentity identity = io::identify_file(temporary);
    fs::rename(temporary, target, error);
    if (error) {
      throw FileError(concat("cannot rename '", temporary.string(), "' to '", target.string(),
                             "' (", error.message(), ")"));
    }
    to_disk(target.parent_path().empty() ? fs::path(".") : target.parent_path());
    return {shot, file, identity.bytes, identity.checksum};
  } catch (...) {
    fs::remove(temporary, error);
    throw;
  }
}

Journal::Journal(const fs::path& path, const Fingerprint& survey, const JournalOptions& options)
    : m_path(path),
      m_on_write(options.on_write),
      m_folder(path.parent_path().empty() ? fs::path(".") : path.parent_path()) {
  for (const auto& entry : survey) {
    if (entry.first.empty()) {
      throw InputError("journal: a value of the survey has no name: name each value");
    }
  }
  open_and_lock(options);
  try {
    check_private_folder(m_folder);
    check_private_file(m_descriptor, m_path);
    const std::string header = header_of(survey), text = read_all(m_descriptor, m_path);
    // Empty, or a part of the header: its process ended before the first shot. Blocks allocated but
    // not written may read as zeros.
    const std::size_t written = std::min(text.find_last_not_of('\0') + 1, text.size());
    const bool unborn =
        written < header.size() && header.compare(0, written, text, 0, written) == 0;
    if (!unborn && text.compare(0, header.size(), header) != 0) {
      refuse_header(m_path, text, survey);
    }
    if (unborn && options.start == JournalStart::resume) {
      throw InputError(concat("the journal '", m_path.string(),
                              "' has no complete header: start without resuming"));
    }
    if (!unborn && options.start == JournalStart::fresh) {
      throw InputError(concat("the journal '", m_path.string(),
                              "' exists already: resume it, or start another one"));
    }
    m_key = unborn ? write_key(m_folder, make_key()) : read_key(m_folder);
    if (unborn) {
      if (::ftruncate(m_descriptor, 0) != 0) {
        throw FileError(
            concat("cannot write '", m_path.string(), "' (", system_reason(errno), ")"));
      }
      append(header);
      to_disk(m_folder);
    } else {
      read(text, header);
    }
    append(
        add_checksum(concat("open ", encode_word(host_name()), ' ', ::getpid(), ' ', time_text())));
    remove_leftovers(m_folder);
    if (options.verify) verify();
  } catch (...) {
    ::close(m_descriptor);
    throw;
  }
}

Journal::~Journal() { ::close(m_descriptor); }

void Journal::open_and_lock(const JournalOptions& options) {
  const int create = options.start == JournalStart::resume ? 0 : O_CREAT;
  m_descriptor = ::open(m_path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | create, 0600);
  if (m_descriptor < 0) {
    const int reason = errno;
    if (reason == ENOENT && create == 0) {
      throw InputError(
          concat("the journal '", m_path.string(), "' does not exist: start without resuming"));
    }
    throw FileError(concat("cannot open the journal '", m_path.string(), "' (",
                           system_reason(reason),
                           "): name a file in an existing folder that you can write"));
  }
  struct stat status {};
  if (::fstat(m_descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(m_descriptor);
    throw FileError(concat("the journal '", m_path.string(), "' is no regular file"));
  }
  int reason = io::lock_file(m_descriptor);
  Holder holder;
  if (reason == EWOULDBLOCK) {
    try {
      holder = holder_in(read_all(m_descriptor, m_path));
    } catch (const FileError&) {
      holder = {};
    }
    if (!holder.lives) reason = io::lock_file(m_descriptor, io::lock_seconds);
  }
  if (reason == 0) return;
  ::close(m_descriptor);
  if (reason == EWOULDBLOCK) {
    throw BusyJournal(concat("the journal '", m_path.string(), "' is in use (", holder.text,
                             "): wait for it, or end it"));
  }
  throw FileError(
      concat("cannot lock the journal '", m_path.string(), "' (", system_reason(reason),
             "): its file system does not support locks; keep the journal on another one"));
}

void Journal::read(const std::string& text, const std::string& header) {
  m_torn = text.back() != '\n';
  std::int64_t number = std::count(header.begin(), header.end(), '\n');
  const auto lines = split_lines(std::string_view(text).substr(header.size()));
  for (const std::string_view line : lines) {
    ++number;
    const auto content = remove_checksum(line);
    const auto words = split_words(content.value_or(""));
    const std::string_view kind = words.empty() ? std::string_view() : words[0];
    std::int64_t shot = 0;
    if (kind == "done") {
      if (const auto result = result_of(words, 1)) {
        m_results.emplace(result->shot, *result);
        continue;
      }
    } else if (kind == "discard" && words.size() == 3 && read_number(words[1], shot)) {
      m_results.erase(shot);
      continue;
    } else if (kind == "set" && words.size() == 3) {
      const auto name = decode_word(words[1]), value = decode_word(words[2]);
      if (name && value) {
        m_values[*name] = *value;
        continue;
      }
    } else if (kind == "event") {
      if (auto texts = parse_line(content->substr(content->find(' ') + 1))) {
        m_events.push_back(std::move(*texts));
        continue;
      }
    } else if (kind == "open" || line.empty()) {
      continue;
    }
    // A damaged or truncated line: its shot is computed again.
    m_notes.push_back(concat("line ", number,
                             " of the journal is damaged and was ignored: its record is lost "
                             "unless a later line repeats it"));
  }
}

void Journal::verify() {
  for (auto at = m_results.begin(); at != m_results.end();) {
    const ShotResult& result = at->second;
    std::string why;
    try {
      const io::FileIdentity identity = io::identify_file(m_folder / result.file);
      if (identity.bytes != result.bytes || identity.checksum != result.checksum) {
        why = concat("'", result.file, "' has changed");
      }
    } catch (const FileError& error) {
      why = error.what();
    }
    if (why.empty()) {
      ++at;
      continue;
    }
    append(add_checksum(concat("discard ", result.shot, ' ', encode_word(why))));
    m_notes.push_back(concat("shot ", result.shot, " is recomputed: ", why));
    at = m_results.erase(at);
  }
}

void Journal::append(const std::string& line) {
  if (m_on_write) m_on_write(line);
  // After an incomplete write, start a new line.
  const std::string text = m_torn ? '\n' + line : line;
  const auto fail = [&](int reason) {
    m_torn = true;
    return FileError(
        concat("cannot write the journal '", m_path.string(), "' (", system_reason(reason),
               "): finished results are kept; free space or repair the disk, and resume"));
  };
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = ::write(m_descriptor, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw fail(errno);
    done += static_cast<std::size_t>(written);
  }
  if (::fdatasync(m_descriptor) != 0 && errno != EINVAL && errno != ENOSYS) throw fail(errno);
  m_torn = false;
  if (m_on_write) m_on_write({});
}

bool Journal::is_done(std::int64_t shot) const {
  const std::lock_guard lock(m_mutex);
  return m_results.count(shot) == 1;
}

std::optional<ShotResult> Journal::result(std::int64_t shot) const {
  const std::lock_guard lock(m_mutex);
  const auto at = m_results.find(shot);
  return at == m_results.end() ? std::nullopt : std::optional<ShotResult>(at->second);
}

std::vector<ShotResult> Journal::results() const {
  const std::lock_guard lock(m_mutex);
  std::vector<ShotResult> all;
  for (const auto& entry : m_results) all.push_back(entry.second);
  return all;
}

std::vector<std::int64_t> Journal::remaining(const std::vector<std::int64_t>& shots) const {
  const std::lock_guard lock(m_mutex);
  std::vector<std::int64_t> result;
  std::set<std::int64_t> seen;
  for (const std::int64_t shot : shots) {
    if (!seen.insert(shot).second) {
      throw InputError(
          concat("journal: the shot ", shot,
                 " is repeated (allowed: each number once): give each shot another number"));
    }
    if (m_results.count(shot) == 0) result.push_back(shot);
  }
  return result;
}

bool Journal::record(const ShotResult& result) { return record(std::vector{result}) == 1; }

std::size_t Journal::record(const std::vector<ShotResult>& results) {
  for (const ShotResult& result : results) check_name(result.file);
  const std::lock_guard lock(m_mutex);
  std::string lines;
  std::map<std::int64_t, ShotResult> fresh;
  for (const ShotResult& result : results) {
    const ShotResult* known = nullptr;
    for (const auto* map : {&m_results, &fresh}) {
      const auto at = map->find(result.shot);
      if (at != map->end()) known = &at->second;
    }
    if (known == nullptr) {
      lines += add_checksum("done " + to_text(result));
      fresh.emplace(result.shot, result);
    } else if (known->bytes != result.bytes || known->checksum != result.checksum) {
      m_notes.push_back(concat("shot ", result.shot, " has two results with different bytes ('",
                               known->file, "' counts, '", result.file,
                               "' does not): the program is not deterministic"));
    }
  }
  if (fresh.empty()) return 0;
  append(lines);
  const std::size_t count = fresh.size();
  m_results.merge(fresh);
  return count;
}

void Journal::add_events(const std::vector<std::vector<std::string>>& events) {
  std::string lines;
  for (const auto& event : events) lines += add_checksum("event " + join_words(event));
  if (lines.empty()) return;
  const std::lock_guard lock(m_mutex);
  append(lines);
}

std::vector<std::vector<std::string>> Journal::take_events() {
  const std::lock_guard lock(m_mutex);
  if (std::exchange(m_events_taken, true)) return read_journal(m_path).events;
  return std::exchange(m_events, {});
}

void Journal::discard(std::int64_t shot, const std::string& why) {
  const std::lock_guard lock(m_mutex);
  append(add_checksum(concat("discard ", shot, ' ', encode_word(why))));
  m_results.erase(shot);
}

void Journal::set(const std::string& name, const std::string& value) {
  if (name.empty()) throw InputError("journal: a value has no name: give one");
  const std::lock_guard lock(m_mutex);
  append(add_checksum("set " + encode_word(name) + ' ' + encode_word(value)));
  m_values[name] = value;
}

std::optional<std::string> Journal::get(const std::string& name) const {
  const std::lock_guard lock(m_mutex);
  const auto at = m_values.find(name);
  return at == m_values.end() ? std::nullopt : std::optional<std::string>(at->second);
}

JournalContent read_journal(const fs::path& path) {
  const io::InputFile file(path);
  const std::string text = file.text(file.size());
  JournalContent journal;
  std::map<std::int64_t, ShotResult> results;
  bool first = true;
  for (const std::string_view line : split_lines(text)) {
    const auto content = remove_checksum(line);
    if (first && (!content || content->rfind(first_words, 0) != 0)) {
      throw FileError(concat("'", path.string(),
                             "' is not a journal of moho (its first line is wrong): give "
                             "another name"));
    }
    first = false;
    const auto words = split_words(content.value_or(""));
    if (words.empty()) continue;
    const auto texts = parse_line(*content);
    if (!texts) continue;
    std::int64_t shot = 0;
    if (words[0] == "survey" && words.size() == 3) {
      journal.survey[(*texts)[1]] = (*texts)[2];
    } else if (words[0] == "done") {
      if (const auto result = result_of(words, 1)) results.emplace(result->shot, *result);
    } else if (words[0] == "discard" && words.size() == 3 && read_number(words[1], shot)) {
      results.erase(shot);
    } else if (words[0] == "set" && words.size() == 3) {
      journal.values[(*texts)[1]] = (*texts)[2];
    } else if (words[0] == "event") {
      journal.events.emplace_back(texts->begin() + 1, texts->end());
    }
  }
  for (const auto& entry : results) journal.results.push_back(entry.second);
  return journal;
}

std::vector<std::string> Journal::notes() const {
  const std::lock_guard lock(m_mutex);
  return m_notes;
}

}  // namespace moho::cluster
