// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The folder of a run's results, which belongs to one run at a time and in which no file is
/// lost that the program did not write.

#include "common/common_options.hpp"
#include "common/json.hpp"
#include "common/result_names.hpp"

#include <moho/io/input_file.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// \brief A folder that is locked by this process.
///
/// The lock is one of the system (flock) on the file .moho_lock, which holds process, machine and
/// time of the run: it ends with the process, however that ends. Where a file system has no locks
/// the process that the file names is looked for.
///
/// A file of an earlier run belongs to the program if the run's summary.json, which names the
/// program, lists it and the program writes files of that name (is_result_name()). All others are
/// somebody else's. Links, folders and devices under the name of a result are refused: results
/// never go through them.
class OutputFolder {
 public:
  /// Makes the folder and its parents where missing, takes it, and reads the summary of an earlier
  /// run.
  /// \param option what names the folder, for messages: "--out"
  /// \param inputs files that will be read
  /// \throws FileError if that is not possible, or another run has the folder
  OutputFolder(std::string program, std::string option, const std::string& folder,
               const std::vector<InputName>& inputs);
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() { release(); }

  /// Its path.
  const std::filesystem::path& path() const { return m_path; }
  /// summary.json of an earlier run of the same program; null if there is none.
  const Json& earlier() const { return m_earlier; }
  /// Files of earlier runs of the program.
  const std::set<std::string>& earlier_files() const { return m_owned; }

  /// \brief Announces files that will be written. Call it before anything is computed.
  ///
  /// Removes temporary files and scratch folders that a killed run of the program left.
  /// \throws InputError if one of them is an input file under whatever name, or is there and no
  /// earlier run of the program wrote it, or if it is no plain file
  void claim(const std::vector<std::string>& names);

  /// \brief Makes a folder for files that only this run needs. release() removes it.
  /// \param name .moho_ranks or .moho_snapshots
  /// \throws InputError if the name is there and no run made it
  std::filesystem::path make_scratch(const std::string& name);

  /// Removes files of earlier runs that are not among these. Input files stay, and what is no plain
  /// file.
  void remove_others(const std::vector<std::string>& names);

  /// Gives the folder back.
  void release() noexcept;

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
  std::vector<std::filesystem::path> m_scratch;
  std::vector<std::pair<std::string, io::FileNode>> m_inputs;  // "--vp vp.npy"
};

}  // namespace moho::examples
