// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The folder of a run's results: one run at a time, and files of others are kept.

#include "app/common_options.hpp"
#include "app/json.hpp"
#include "app/result_names.hpp"

#include <moho/io/input_file.hpp>

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// \brief A folder that this process has locked.
///
/// The lock is a system lock (flock) on the file .moho_lock. The file holds process, machine and
/// time of the run. The lock ends with the process. On a file system without locks the process that
/// the file names is searched instead.
///
/// A file of an earlier run belongs to the program under two conditions. The run's summary.json,
/// which names the program, lists it, and the program writes files of that name (is_result_name()).
/// All other files are left untouched. Links, folders and devices under the name of a result are
/// refused: results are never written through them.
class OutputFolder {
 public:
  /// Makes the folder and missing parents, locks it, and reads the summary of an earlier run.
  /// \param option that names the folder, for messages: "--out"
  /// \param inputs files that will be read
  /// \throws FileError if the folder cannot be made or locked, or another run has locked it
  OutputFolder(std::string program, std::string option, const std::string& folder,
               const std::vector<InputName>& inputs);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() { release(); }

  /// Returns the path of the folder.
  const std::filesystem::path& path() const { return m_path; }
  /// Returns summary.json of an earlier run of the same program; null without one.
  const Json& earlier() const { return m_earlier; }
  /// Returns the files of earlier runs of the program.
  const std::set<std::string>& earlier_files() const { return m_owned; }

  /// Announces files that will be written; call it before anything is computed.
  /// Removes temporary files and scratch folders that a killed run of the program left.
  /// \throws InputError if a file is an input file (under any name), or is no plain file. Also if
  /// it exists and no earlier run of the program wrote it.
  void claim(const std::vector<std::string>& names);

  /// \brief Makes a folder for temporary files of this run; release() removes it.
  /// \param name .moho_snapshots
  /// \throws InputError if the name exists and no run made it
  std::filesystem::path make_scratch(const std::string& name);

  /// Removes files of earlier runs that are not in `names`.
  /// Input files and paths that are no plain files are kept.
  void remove_others(const std::vector<std::string>& names);

  /// Removes scratch folders, and unlocks the folder. \param at_end the process ends: threads wait
  /// forever in make_scratch() from then on
  void release(bool at_end = false) noexcept;

 private:
  void take();
  void check_plain(const std::filesystem::path& path) const;
  void read_summary();
  void remove_left_over(const std::vector<std::string>& names) const;
  [[noreturn]] void refuse_lock(const std::string& what) const;
  [[noreturn]] void refuse_held(const std::string& holder) const;
  const std::pair<std::string, io::FileNode>* input_of(const std::filesystem::path& path) const;

  std::string m_program, m_option;
  std::filesystem::path m_path, m_lock_path;
  int m_lock = -1;
  bool m_claimed = false;
  Json m_earlier;
  std::set<std::string> m_owned;
  std::mutex m_scratch_mutex;
  std::vector<std::filesystem::path> m_scratch;
  std::vector<std::pair<std::string, io::FileNode>> m_inputs;  // "--vp vp.npy"
};

}  // namespace moho::examples
