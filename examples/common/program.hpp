// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Everything that example programs have in common: the main function around their options
/// and their run, messages and exit statuses of exceptions, Kokkos, the summary and the picture.
///
/// A program is a struct of options derived from CommonOptions, their table, and a run:
///
///     Description describe(Options& options);
///     void run(const Options& options, Session& session);
///     int main(int argc, char** argv) { return run_example<Options>(argc, argv, describe, run); }

#include "common/common_options.hpp"
#include "common/json.hpp"
#include "common/output_folder.hpp"
#include "common/processes.hpp"

#include <moho/core/error.hpp>
#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/io/checksum.hpp>

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
  exit_failure = 1,  ///< something else went wrong: a full disk, a lost device
  exit_usage = 2,    ///< the options or the input files cannot be used; the message says why
  exit_time = 75,    ///< time was over before the last part; --resume goes on
  exit_signal = 128  ///< and the number of the signal that ended the run: 130 for an interrupt
};

/// Number of devices that this process may choose from; 0 in a build for hosts.
int visible_devices();

/// What the end of a run says and draws.
struct Ending {
  std::string script;                 ///< draws the pictures: "plot_rays.py"
  std::vector<std::string> pictures;  ///< files that it writes
  std::string picture_name;           ///< what the summary has for them: "rays.png", "drawn"
  const char* word = "picture";       ///< what messages call them
  std::vector<std::string> lines;     ///< to print before the times: what was computed
  std::string rate;                   ///< to print after the times
};

/// \brief One run: its times, its summary, its files and its picture.
///
/// A run announces its results with will_write() before it computes. From begin_output() on its
/// summary.json says how it is ("state": "running", "interrupted", "failed" or "done"), which files
/// are there, and which of them were left by an earlier run. One that computes in parts, such as
/// shots, calls resumable(), and can then go on with the parts of an earlier run: take_over()
/// instead of computing, part_is_whole() after computing.
class Session {
 public:
  /// \param description,options,processes have to live as long
  /// \param output null on processes that write nothing
  Session(const Description& description, const CommonOptions& options, Processes& processes,
          OutputFolder* output);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// The processes of the run.
  Processes& processes() { return m_processes; }
  /// Name of the program.
  const std::string& program() const { return m_description.program; }
  /// The requested options, for the summary.
  Json requested() const { return m_description.requested(); }
  /// The folder of the results.
  const std::filesystem::path& folder() const { return m_folder; }
  /// Prints a line of its arguments, unless the run is quiet.
  template <class... Args>
  void print(const Args&... args) const {
    print_line(concat(args...));
  }
  /// A callback that draws a bar, empty where nobody would see it. What was printed so far is
  /// shown.
  Progress progress();
  /// To be called when the space has done its work: takes the bar away and adds its times.
  void computed(const PhaseTimes& times);
  /// \brief Announces files of the folder; summary.json is one of them anyway.
  ///
  /// To be called as soon as the names are known, before anything is computed, and more than once
  /// if there are more.
  /// \throws InputError as OutputFolder::claim() does
  void will_write(const std::vector<std::string>& names);
  /// \brief Announces files of a part that is about to be written, and says so in summary.json:
  /// they belong to the program before they are there.
  /// \throws InputError as OutputFolder::claim() does
  void part_begins(const std::vector<std::string>& names);
  /// \brief Makes a folder within that of the results, which is removed when the run ends.
  ///
  /// To be called after begin_output(), on the root.
  /// \throws InputError if the name is there and no run made it
  std::filesystem::path make_scratch(const std::string& name);
  /// \brief To be called before the first result is written.
  ///
  /// Errors with files are then no longer the user's input. Files of an earlier run stay until
  /// finish().
  void begin_output();
  /// Draws no picture in finish(), which prints the reason. An empty one changes nothing.
  void leave_out_picture(const std::string& why) { m_no_picture = why; }
  /// Are results written?
  bool writing() const { return m_writing; }
  /// To be called when a file is there as a whole.
  void wrote(const std::string& name);
  /// The same of a file whose length and checksum are known, so that part_is_whole() need not read
  /// it.
  void wrote(const std::string& name, const io::FileIdentity& identity);

  /// \brief Makes this run one that can be gone on with. To be called before take_over().
  /// \throws InputError with --resume if the earlier run was another
  void resumable();
  /// \brief Takes a part over from an earlier run, if --resume was given and it is whole there.
  ///
  /// Its files are then among `files`. They have been read and are as they were written.
  /// \param[out] more what part_is_whole() was given
  bool take_over(std::int64_t number, Json& more);
  /// \brief Takes a part over that another run of the program has made elsewhere, whose files are
  /// in the folder now.
  /// \param part as the other run's summary has it
  /// \param[out] more what part_is_whole() was given there
  /// \returns false for a part that is not whole
  bool take_in(const Json& part, Json& more);
  /// A part as the summary has it. The arguments are those of part_is_whole().
  Json describe_part(std::int64_t number, const std::vector<std::string>& names,
                     const Json& more) const;
  /// Notes that a part is whole.
  /// \param names its files, for which wrote() was called
  /// \param more what is needed to go on, and is not in its files
  void part_is_whole(std::int64_t number, const std::vector<std::string>& names, const Json& more);
  /// \brief The same for a run whose parts each replace the one before: the files of that are
  /// removed when the summary no longer names them.
  void part_replaces(std::int64_t number, const std::vector<std::string>& names, const Json& more);
  /// Number of the last part of the earlier run; -1 if there is none.
  std::int64_t last_part() const;

  /// Says in the summary that the run failed, if it had begun to write.
  void failed(const std::string& why) noexcept;
  /// \brief Says in the summary that the run was ended, in a text what is left of it.
  ///
  /// For another thread. Afterwards the run can write no summary any more, and waits if it tries.
  std::string interrupted() noexcept;
  /// \brief Says in the summary, and on standard error, that time was over before the last part:
  /// what is there, and why no more. The program then ends with exit_time.
  void out_of_time(const std::string& what);
  /// How the program ends without an exception.
  int status() const { return m_status; }
  /// Writes the summary, draws the picture, and says what was done.
  void finish(const Ending& ending);

  PhaseTimes phases;               ///< of everything
  Json summary;                    ///< of summary.json; versions and times are added
  Json more_versions;              ///< to add to the versions
  std::vector<std::string> files;  ///< written so far

 private:
  void print_line(const std::string& line) const;
  void write_summary();

  const Description& m_description;
  const CommonOptions& m_options;
  Processes& m_processes;
  std::filesystem::path m_folder;
  TerminalProgress m_bar;
  OutputFolder* m_output;
  std::vector<std::string> m_planned;
  std::string m_no_picture;  // why none is drawn
  bool m_writing = false;
  bool m_resumable = false;
  int m_status = exit_done;
  std::map<std::string, io::FileIdentity> m_identities;  // of files written by this run
  std::mutex m_mutex;                                    // of the summary as it was written last
  Json m_last;
};

namespace detail {
/// What run_example() needs of a program.
struct ProgramParts {
  const Description& description;
  CommonOptions& options;
  std::function<void(Session&)> run;
  std::function<std::unique_ptr<Processes>(int&, char**&)> processes;
};
int run_program(int argc, char** argv, const ProgramParts& parts);
}  // namespace detail

/// \brief The main function of a program.
///
/// Reads the options, answers --help and --version, tries the folder for the results, starts
/// Kokkos, runs, and turns exceptions into a message and an exit status.
/// \param describe the table of the options; they are read on the root alone
/// \param run void(const Options&, Session&)
/// \param processes makes the processes of a program that divides its work; by default there is one
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
