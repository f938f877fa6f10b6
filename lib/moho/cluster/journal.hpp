// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Record of finished shots, in a file that survives any end of the program.
///
/// Each result is a separate file. It is written under a temporary name, flushed to disk, renamed,
/// and recorded with its length and checksum. A program restarted with the same journal computes
/// the remaining shots:
///
///     Journal journal("migration/journal.txt", {{"model", checksum}, {"wavelet", "ricker:15"}});
///     for (const std::int64_t shot : journal.remaining(shots)) {
///       journal.record(write_result(journal.folder(), shot, "shot_17.sum", [&](const auto& path) {
///         io::write_sum(path, image);
///       }));
///     }
///
/// With MPI, rank 0 owns the journal. Other ranks write results with write_result() and send the
/// return value as a line of text. docs/theory/journal.md describes the format.

#include <moho/cluster/guard.hpp>
#include <moho/core/error.hpp>

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

/// Result of a shot: a complete file.
struct ShotResult {
  std::int64_t shot = 0;       ///< number of the shot
  std::string file;            ///< path below the journal's folder
  std::uint64_t bytes = 0;     ///< length
  std::uint32_t checksum = 0;  ///< CRC-32C
  /// Returns true if all members are equal.
  friend bool operator==(const ShotResult&, const ShotResult&) = default;
};

/// Returns the result as a line of text without line end, for messages between processes.
std::string to_text(const ShotResult& result);
/// Parses a line of to_text(). \throws InputError
ShotResult parse_result(std::string_view text);

/// \brief Writes a shot's result atomically: the complete file exists, or none.
///
/// `write` receives a temporary path in the same folder. Its file is flushed to disk, read for the
/// checksum, and renamed. Any process and thread may call this. If `write` throws, the temporary
/// file is removed and the exception is rethrown.
/// \param folder folder of the journal
/// \param shot number of the shot
/// \param file path below `folder`; its own folder exists
/// \param write writes the file
/// \throws InputError for a path outside `folder`; FileError
ShotResult write_result(const std::filesystem::path& folder, std::int64_t shot,
                        const std::string& file,
                        const std::function<void(const std::filesystem::path&)>& write);

/// Identifies a survey: names and values of everything that changes results, such as the checksum
/// of the model and the options.
using Fingerprint = std::map<std::string, std::string>;

/// Requirement on an existing journal.
enum class JournalStart {
  any,    ///< none, or a journal of the same survey
  fresh,  ///< none; an existing journal is an error
  resume  ///< a journal of the same survey; a missing one is an error
};

/// Options of a Journal.
struct JournalOptions {
  JournalStart start = JournalStart::any;  ///< requirement on an existing journal
  bool verify = true;                      ///< read all recorded results and compare their
                                           ///< checksums
  /// For tests: receives the text before a write, and an empty text when it is on disk.
  std::function<void(std::string_view)> on_write{};
};

/// Reports a journal that another process, or another object of this one, holds.
class BusyJournal : public InputError {
 public:
  using InputError::InputError;
};

/// \brief Journal of a survey: one process writes, from any number of threads.
///
/// The file only grows. Each line has a checksum and is on disk before a call returns. The file is
/// locked for the lifetime of the object; the system releases the lock of a process that ends.
class Journal {
 public:
  /// \brief Opens a journal, or creates it.
  ///
  /// With `verify`, missing or changed results count as not done and are reported in notes().
  /// Temporary files of ended processes of this machine are removed.
  /// \throws BusyJournal for a journal in use
  /// \throws InputError for a journal of another survey or version, or one that violates
  /// JournalOptions::start
  /// \throws InputError if other users can write the folder, journal or key, or if the key is
  /// missing
  /// \throws FileError for other files, and if the journal cannot be read, written or locked
  Journal(const std::filesystem::path& path, const Fingerprint& survey,
          const JournalOptions& options = {});
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  /// Releases the lock.
  ~Journal();

  /// Returns the folder of the journal and its results.
  const std::filesystem::path& folder() const { return m_folder; }
  /// Returns the key of the journal, which authenticates jobs and results.
  const Key& key() const { return m_key; }
  /// Returns true if the shot has a result.
  bool is_done(std::int64_t shot) const;
  /// Returns the shot's result, if any.
  std::optional<ShotResult> result(std::int64_t shot) const;
  /// Returns all results, sorted by shot.
  std::vector<ShotResult> results() const;
  /// Returns the shots without a result, in the given order. \throws InputError for a repeated
  /// number
  std::vector<std::int64_t> remaining(const std::vector<std::int64_t>& shots) const;

  /// \brief Records a result of write_result(); it is on disk on return.
  ///
  /// The first result of a shot counts. A later one with different bytes adds a note.
  /// \returns true if the shot had no result before
  /// \throws InputError for a path outside the folder
  /// \throws FileError if the line or the result is not on disk; the call may be repeated
  bool record(const ShotResult& result);
  /// Records several results with one flush. \returns the number of shots without a result before
  std::size_t record(const std::vector<ShotResult>& results);
  /// \brief Appends events in order; they are on disk on return.
  ///
  /// An event is a list of texts; the caller defines its meaning. \throws FileError
  void add_events(const std::vector<std::vector<std::string>>& events);
  /// Returns all events in order, those of earlier runs first. Later calls read the file again.
  /// \throws FileError
  std::vector<std::vector<std::string>> take_events();
  /// Marks a shot as not done and records the reason. The result file is kept. \throws FileError
  void discard(std::int64_t shot, const std::string& why);

  /// Stores a named value for later runs, such as the exponent of exact sums; the last one counts.
  /// \throws InputError for an empty name; FileError
  void set(const std::string& name, const std::string& value);
  /// Returns the value of a name, if any.
  std::optional<std::string> get(const std::string& name) const;

  /// Returns messages for the user: damaged lines, lost results, shots with two results.
  std::vector<std::string> notes() const;

 private:
  void open_and_lock(const JournalOptions& options);
  void read(const std::string& text, const std::string& header);
  void verify();
  void append(const std::string& line);

  mutable std::mutex m_mutex;  // guards all members but path, folder and descriptor
  std::filesystem::path m_path;
  std::function<void(std::string_view)> m_on_write;
  std::filesystem::path m_folder;
  Key m_key;
  int m_descriptor = -1;
  bool m_torn = false;  // the file ends within a line
  bool m_events_taken = false;
  std::map<std::int64_t, ShotResult> m_results;
  std::map<std::string, std::string> m_values;
  std::vector<std::vector<std::string>> m_events;
  std::vector<std::string> m_notes;
};

/// Content of a journal.
struct JournalContent {
  Fingerprint survey;                            ///< fingerprint of the survey
  std::vector<ShotResult> results;               ///< sorted by shot; their files are not read
  std::map<std::string, std::string> values;     ///< by name
  std::vector<std::vector<std::string>> events;  ///< in order
};

/// \brief Reads a journal that another process may be writing; neither locks nor changes it.
/// \throws FileError for other files
JournalContent read_journal(const std::filesystem::path& path);

}  // namespace moho::cluster
