// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What programs that compute shots at several places have in common: their options, and the
/// run of a distributor until its end or a signal.

#include "common/distribute_options.hpp"
#include "common/program.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/sites_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace moho::examples {

/// \brief What a place is to do for a shot: the program with the options of this run, --only-shot
/// and its number. \param made_from the session's fingerprint \param without options that are left
/// out
cluster::Work make_shot_work(const CommonOptions& options, const std::string& program,
                             const Json& made_from, const std::vector<std::string>& without = {});

/// Gets a shot's part as its program's summary has it, and the folder and names of its files.
/// Returns whether the part is whole.
using OnPart =
    std::function<bool(std::int64_t shot, const Json& part, const std::filesystem::path& folder,
                       const std::vector<std::string>& names)>;

/// A run of shots at places, and what the next one may know of it.
struct SitesRun {
  std::filesystem::path folder;         ///< of the journal
  bool resume = false;                  ///< there may be a journal to go on with
  bool print_sites = true;              ///< print what the places say of themselves
  std::map<std::string, double> rates;  ///< of places, shots a second: from run to run
};

/// \brief Computes shots at the places of --sites. \param session only prints \returns what became
/// of them \throws InputError, MissingShots
cluster::Report compute_parts(const SitesOptions& texts, SitesRun& run, const cluster::Work& work,
                              const std::vector<std::int64_t>& shots, const Session& session,
                              const OnPart& on_part);

/// Where a run with results in `folder` keeps what its places need: a name that is moho's own.
std::filesystem::path sites_folder(const std::filesystem::path& folder);
/// Makes that folder, accessible by its owner alone. \throws InputError, FileError
void make_sites_folder(const std::filesystem::path& folder);

/// \brief Computes shots of a program at the places of --sites, and takes them over as --resume
/// takes those of an earlier run.
///
/// Each is computed by the same program with the same options, --only-shot and its number. To be
/// called when all results are claimed and resumable() was called.
/// \param shots numbers of those that are not there
/// \param taken called for each with what part_is_whole() was given there
/// \throws InputError, MissingShots
void compute_at_sites(const SitesOptions& texts, const CommonOptions& options,
                      const std::vector<std::int64_t>& shots, Session& session,
                      const std::function<void(std::int64_t shot, const Json& more)>& on_shot);

/// Throws InputError for jobs of more shots than there are.
void check_shots_per_job(const SitesOptions& texts, std::size_t shots);
/// Throws InputError if there are several processes, which --sites is not for.
void refuse_ranks(const Processes& processes);

/// The folder of moho's programs: that of this one.
std::filesystem::path programs_folder();

/// \brief Makes and asks the sites of a file. \return them, and prints a line of each by `say`
/// \throws InputError by the first that cannot be used; with too little room on the disk for
/// `shots` results
std::vector<std::unique_ptr<cluster::Site>> open_sites(
    const SitesOptions& texts, const std::filesystem::path& campaign, const cluster::Work& work,
    std::int64_t shots, const std::function<void(const std::string&)>& print_line);

/// The lines that say what became of a run: by site, and what is missing.
std::vector<std::string> report_lines(const cluster::Report& report);

/// \brief A table of what a journal says: shots, sites, rates, time left, failures.
/// \throws FileError for a file that is no journal
std::string status_text(const std::filesystem::path& journal);

/// Largest number of shots that parse_shots() accepts.
inline constexpr std::int64_t max_listed_shots = 1000000;
/// \brief Parses a list of shots: "1-24", "3,7,9-12", with a step "1-99:2".
/// \param stop called between ranges; true ends the parse with Error
/// \throws InputError for other texts, a shot in two ranges, more than max_listed_shots
std::vector<cluster::Task> parse_shots(const std::string& text,
                                       const std::function<bool()>& stop = {});

}  // namespace moho::examples
