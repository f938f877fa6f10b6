// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Which shots of a survey are done, in a file that survives whatever ends the program.
///
/// A shot's result is a file of its own: written under a temporary name, brought to the disk,
/// renamed, and then recorded with its length and checksum. A program that starts again with the
/// same journal computes the shots that are left:
///
///     Journal journal("migration/journal.txt", {{"model", checksum}, {"wavelet", "ricker:15"}});
///     for (const std::int64_t shot : journal.left(shots)) {
///       journal.record(write_result(journal.folder(), shot, "shot_17.sum", [&](const auto& path) {
///         io::write_sum(path, image);
///       }));
///     }
///
/// Among ranks, rank 0 has the journal. Others write their results with write_result(), and send
/// what it returns as a line of text. docs/theory/journal.md says what the file holds and why it
/// is safe.

#include <moho/cluster/guard.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace moho::cluster {

/// A shot's result: a whole file.
struct ShotResult {
  std::int64_t shot = 0;       ///< number of the shot
  std::string file;            ///< its path below the journal's folder
  std::uint64_t bytes = 0;     ///< its length
  std::uint32_t checksum = 0;  ///< its CRC-32C
  /// Are both the same?
  friend bool operator==(const ShotResult&, const ShotResult&) = default;
};

/// A result as a line of text without its end, for messages between processes.
std::string to_text(const ShotResult& result);
/// The result that a text says. \throws InputError
ShotResult parse_result(std::string_view text);

/// \brief Writes a shot's result so that it is there whole or not at all: `write` gets a temporary
/// path beside it, and what it leaves there is brought to the disk, read for its checksum, and
/// renamed.
///
/// Any process and thread may call it. What `write` throws is thrown on, and the temporary file is
/// removed.
/// \param folder of the journal
/// \param shot number
/// \param file path below the folder; its own folder exists
/// \param write leaves a file at the path it is given
/// \throws InputError for names that lead out of the folder; FileError
ShotResult write_result(const std::filesystem::path& folder, std::int64_t shot,
                        const std::string& file,
                        const std::function<void(const std::filesystem::path&)>& write);

/// What makes a survey this one and no other: names and values of all that changes a result, such
/// as the checksum of the model and the options. Their order does not matter.
using Fingerprint = std::map<std::string, std::string>;

/// What a journal may find.
enum class JournalStart {
  any,    ///< a journal of the same survey, or none
  fresh,  ///< none: one that is there is refused
  resume  ///< a journal of the same survey: it is refused that there is none
};

/// How a journal is opened.
struct JournalOptions {
  JournalStart start = JournalStart::any;  ///< what may be there
  bool verify = true;                      ///< read all results that are recorded
  /// Called with what is going to be added, and with nothing when it is on the disk; for tests.
  std::function<void(std::string_view)> on_write{};
};

/// \brief The journal of a survey: one writer, any number of threads of it.
///
/// Nothing in the file is ever changed; lines are added, each with a checksum, and on the disk
/// before a call returns. It is locked for as long as the object lives; the system takes the lock
/// away from a program that dies.
class Journal {
 public:
  /// \brief Opens or begins a journal.
  ///
  /// With `verify` results that are not there any more as they were recorded count as not done,
  /// with a note. Temporary files that processes of this machine have left in the folder when they
  /// were ended are removed. \throws InputError for a journal of another survey (what differs), of
  /// another version, in use (by whom), or against JournalOptions::start; FileError for a file that
  /// is no journal or cannot be read, written or locked
  /// A folder, journal or key that other users may write, or a journal without its key, is an
  /// InputError.
  Journal(const std::filesystem::path& path, const Fingerprint& survey,
          const JournalOptions& options = {});
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  /// Gives the lock back.
  ~Journal();

  /// The folder of the journal and its results.
  const std::filesystem::path& folder() const { return m_folder; }
  /// The key of the journal's folder, which authenticates jobs and results.
  const Key& key() const { return m_key; }
  /// Is the shot's result there?
  bool is_done(std::int64_t shot) const;
  /// The shot's result, if it is there.
  std::optional<ShotResult> result(std::int64_t shot) const;
  /// All results, by shot.
  std::vector<ShotResult> results() const;
  /// Those of the shots that are not done, in their order. \throws InputError for a number twice
  std::vector<std::int64_t> remaining(const std::vector<std::int64_t>& shots) const;

  /// \brief Records a result that write_result() made; it is on the disk when this returns.
  ///
  /// The first result of a shot counts. \returns true where the shot was not done; false where it
  /// was, with the same bytes, or with a note with others
  /// \throws InputError for a name that leads out of the folder; FileError when the line or the
  /// result is not on the disk: the same call may be made again
  bool record(const ShotResult& result);
  /// The same for several, brought to the disk at once. \returns how many were not done
  std::size_t record(const std::vector<ShotResult>& results);
  /// \brief Adds what happened, each event a list of texts, in their order and on the disk when
  /// this returns. What they mean is the caller's business. \throws FileError
  void add_events(const std::vector<std::vector<std::string>>& events);
  /// The events that were in the journal when it was opened, in their order; once.
  std::vector<std::vector<std::string>> take_events();
  /// Says that the shot is to be computed again, and why. Its file stays. \throws FileError
  void discard(std::int64_t shot, const std::string& why);

  /// Keeps a value under a name: what later runs have to take as it was, the exponent of exact sums
  /// say. The last one counts. \throws InputError for an empty name; FileError
  void set(const std::string& name, const std::string& value);
  /// The value under a name, if there is one.
  std::optional<std::string> get(const std::string& name) const;

  /// What the user should know: damaged lines, results that were lost, shots with two results.
  std::vector<std::string> notes() const;

 private:
  void open_and_lock(const JournalOptions& options);
  void read(const std::string& text, const std::string& header);
  void verify();
  void append(const std::string& line);

  mutable std::mutex m_mutex;  // of all but the path, the folder and the descriptor
  std::filesystem::path m_path;
  std::function<void(std::string_view)> m_on_write;
  std::filesystem::path m_folder;
  Key m_key;
  int m_descriptor = -1;
  bool m_torn = false;  // the file does not end with the end of a line
  std::map<std::int64_t, ShotResult> m_results;
  std::map<std::string, std::string> m_values;
  std::vector<std::vector<std::string>> m_events;
  std::vector<std::string> m_notes;
};

/// What a journal holds.
struct JournalContent {
  Fingerprint survey;                            ///< that it is of
  std::vector<ShotResult> results;               ///< by shot; not read
  std::map<std::string, std::string> values;     ///< by name
  std::vector<std::vector<std::string>> events;  ///< in their order
};

/// \brief Reads a journal that another process may be writing; it is not locked, and nothing is
/// written. \throws FileError for a file that is no journal
JournalContent read_journal(const std::filesystem::path& path);

}  // namespace moho::cluster
