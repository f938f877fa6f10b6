// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shared parts of the example programs: main function, session, exit statuses.
///
/// The main function reads options, starts Kokkos, runs, reports exceptions, and writes summary and
/// picture. A program is a struct of options derived from CommonOptions, their table, and a run:
///
///     Description describe(Options& options);
///     void run(const Options& options, Session& session);
///     int main(int argc, char** argv) { return run_example<Options>(argc, argv, describe, run); }

#include "app/common_options.hpp"
#include "app/json.hpp"
#include "app/output_folder.hpp"
#include "app/parts_file.hpp"
#include "app/processes.hpp"

#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/io/checksum.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::examples {

/// Exit statuses of the example programs.
enum ExitStatus : int {
  exit_done = 0,     ///< results are written
  exit_failure = 1,  ///< another error: a full disk, a lost device
  exit_usage = 2,    ///< options or input files cannot be used; the message has the reason
  exit_time = 75,    ///< out of time before the last part; --resume resumes the run
  exit_signal = 128  ///< plus the number of the signal that ended the run: 130 for an interrupt
};

/// Messages and pictures at the end of a run.
struct Ending {
  std::string script;                 ///< draws the pictures: "plot_rays.py"
  std::vector<std::string> pictures;  ///< files that it writes
  std::string picture_name;           ///< their member in the summary: "rays.png", "drawn"
  const char* word = "picture";       ///< their name in messages
  std::vector<std::string> lines;     ///< printed before the times: results of the run
  std::string rate;                   ///< printed after the times
};

/// One run: its times, its summary, its files and its picture.
///
/// A run announces its results with will_write() before it computes. From begin_output() on,
/// summary.json has its state: "running", "interrupted", "failed" or "done". The summary lists the
/// files that exist, and those left by an earlier run. A run that computes parts, such as shots,
/// calls resumable() and can then resume an earlier run. It calls take_over() instead of computing
/// a part, and part_is_whole() after computing one.
///
/// Writing the summary takes at most a twentieth of the run: after many parts it lags behind by
/// some files and parts. A signal, an error and the end of the run complete it. A killed run has
/// left the other parts in a PartsFile.
class Session {
 public:
  /// Creates the session of a run.
  /// \param description,options,processes must outlive the session
  /// \param output null on processes that write nothing
  Session(const Description& description, const CommonOptions& options, Processes& processes,
          OutputFolder* output);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Returns the processes of the run.
  Processes& processes() { return m_processes; }
  /// Returns the name of the program.
  const std::string& program() const { return m_description.program; }
  /// Returns the requested options for the summary.
  Json requested() const { return m_description.requested(); }
  /// Returns the folder of the results.
  const std::filesystem::path& folder() const { return m_folder; }
  /// Prints its arguments as a line unless the run is quiet.
  template <class... Args>
  void print(const Args&... args) const {
    print_line(concat(args...));
  }
  /// Returns a callback that draws a progress bar; empty without a terminal.
  /// Flushes the text printed so far.
  Progress progress();
  /// Removes the bar and adds times; call it when the space has finished its work.
  void computed(const PhaseTimes& times);
  /// Announces files of the folder; summary.json is always one of them. Call it as soon as the
  /// names are known and before anything is computed. Later calls may add files.
  /// \throws InputError as OutputFolder::claim() does
  void will_write(const std::vector<std::string>& names);
  /// Announces files of a part that is about to be written, in summary.json also.
  /// They belong to the program before they exist.
  /// \throws InputError as OutputFolder::claim() does
  void part_begins(const std::vector<std::string>& names);
  /// Makes a folder within that of the results; it is removed when the run ends.
  /// Call it after begin_output(), on the root.
  /// \throws InputError if the name exists and no run made it
  std::filesystem::path make_scratch(const std::string& name);
  /// Starts the output; call it before the first result is written, on all processes. Later errors
  /// of files are no errors of the user's input. Files of an earlier run stay until finish().
  void begin_output();
  /// Omits the picture; finish() prints the reason. An empty reason changes nothing.
  void leave_out_picture(const std::string& why) { m_no_picture = why; }
  /// Returns true if results are written.
  bool writing() const { return m_writing; }
  /// Records a completely written file.
  void wrote(const std::string& name);
  /// Appends to a list of the summary, also where a signal completes the summary.
  void add(const std::string& list, const Json& entry);
  /// Records a completely written file of known length and checksum.
  /// part_is_whole() then does not read the file.
  void wrote(const std::string& name, const io::FileIdentity& identity);

  /// \brief Makes this run resumable; call it before take_over().
  /// \throws InputError with --resume if the earlier run computed something else
  void resumable();
  /// Takes a part over from an earlier run, if --resume was given and the part is complete.
  /// Its files are then in `files`; they were read, and equal what was written.
  /// \param[out] more the argument of part_is_whole()
  bool take_over(std::int64_t number, Json& more);
  /// Takes over a part that another run of the program made elsewhere.
  /// The part's files are already in the folder.
  /// \param part its description in the other run's summary
  /// \param[out] more the argument of part_is_whole() in that run
  /// \returns false for an incomplete part
  bool take_in(const Json& part, Json& more);
  /// Describes a part as the summary does. The arguments are those of part_is_whole().
  Json describe_part(std::int64_t number, const std::vector<std::string>& names,
                     const Json& more) const;
  /// Records that a part is complete.
  /// \param names its files, for which wrote() was called
  /// \param more what a resumed run needs in addition to its files
  void part_is_whole(std::int64_t number, const std::vector<std::string>& names, const Json& more);
  /// Records a complete part that replaces the one before.
  /// The files of the part before are removed when the summary no longer names them.
  void part_replaces(std::int64_t number, const std::vector<std::string>& names, const Json& more);
  /// Returns the number of the last part of the earlier run; -1 without one.
  std::int64_t last_part() const;

  /// Records in the summary that the run failed, if it has begun to write.
  void failed(const std::string& why) noexcept;
  /// Records in the summary that the run was ended; returns a message on its results.
  /// For another thread. Afterwards the run can write no summary; it waits if it tries.
  std::string interrupted() noexcept;
  /// Reports in the summary and on standard error that the run is out of time. The report has the
  /// parts that exist and the reason to stop. The program then ends with exit_time.
  void out_of_time(const std::string& what);
  /// Returns the exit status of a run without an exception.
  int status() const { return m_status; }
  /// All results exist: the next summary is that of a run that is done.
  void complete();
  /// Ends a run that computes nothing, because an earlier one had all results: removes files that
  /// only --resume would have read.
  void keep_earlier();
  /// Completes the run, writes the summary, draws the picture and prints a report.
  void finish(const Ending& ending);

  PhaseTimes phases;               ///< of all phases
  Json summary;                    ///< of summary.json; versions and times are added
  Json more_versions;              ///< additional members of the versions
  std::vector<std::string> files;  ///< written so far

 private:
  void print_line(const std::string& line) const;
  void write_summary();
  void record(const Json& part);
  bool summary_is_due() const { return std::chrono::steady_clock::now() >= m_due; }

  const Description& m_description;
  const CommonOptions& m_options;
  Processes& m_processes;
  std::filesystem::path m_folder;
  PartsFile m_parts;
  std::chrono::steady_clock::time_point m_due;  // of the next summary
  TerminalProgress m_bar;
  OutputFolder* m_output;
  std::vector<std::string> m_planned;
  std::string m_no_picture;  // reason to draw no picture
  bool m_writing = false;
  bool m_resumable = false;
  int m_status = exit_done;
  std::map<std::string, io::FileIdentity> m_identities;  // of files written by this run
  std::mutex m_mutex;                                    // of the summary written last
  Json m_last;
};

namespace detail {
/// Parts of a program that run_example() needs.
struct ProgramParts {
  const Description& description;
  CommonOptions& options;
  std::function<void(Session&)> run;
  std::function<std::unique_ptr<Processes>(int&, char**&)> processes;
};
int run_program(int argc, char** argv, const ProgramParts& parts);
}  // namespace detail

/// Runs a program from its command line to its exit status.
/// Reads the options, answers --help and --version, and tries the folder for the results. Then it
/// starts Kokkos, runs, and turns exceptions into a message and an exit status.
/// \param describe the table of the options; they are read on the root only
/// \param run void(const Options&, Session&)
/// \param processes makes the processes of a program that divides its work; default: one process
template <class Options, class Run>
int run_example(int argc, char** argv, Description (*describe)(Options&), const Run& run,
                std::function<std::unique_ptr<Processes>(int&, char**&)> processes = {}) {
  static_assert(std::is_base_of_v<CommonOptions, Options>);
  Options options;
  const Description description = describe(options);
  const auto start = [&](Session& session) { run(std::as_const(options), session); };
  return detail::run_program(argc, argv, {description, options, start, std::move(processes)});
}

}  // namespace moho::examples
