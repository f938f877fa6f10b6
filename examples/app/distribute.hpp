// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Common part of programs with --sites, which compute shots at several sites.

#include "app/distribute_options.hpp"
#include "app/program.hpp"
#include "app/sites_report.hpp"

#include <moho/cluster/distributor.hpp>
#include <moho/cluster/sites_file.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace moho::examples {

/// \brief Returns the work of a shot: the same program and options, with --only-shot and --out.
/// \param options options of this run
/// \param program name of the program
/// \param made_from fingerprint of the session
cluster::Work make_shot_work(const CommonOptions& options, const std::string& program,
                             const Json& made_from);

/// Receives a shot's entry in its program's summary, and the folder and names of its files. Returns
/// true if the entry is complete.
using OnPart =
    std::function<bool(std::int64_t shot, const Json& part, const std::filesystem::path& folder,
                       const std::vector<std::string>& names)>;

/// \brief Receives the sum of shots of a site: the files that SiteSum wrote, or those of arrays.
/// \returns false if it cannot be added: the arrays of all shots of sites follow
using OnSiteSum =
    std::function<bool(const std::vector<std::int64_t>& shots, const std::filesystem::path& folder,
                       const std::vector<std::string>& names)>;

/// Name of the file with the sums of a site's shots, rtm::ArraySums::pack().
inline constexpr const char* site_sum_name = "arrays.sum";

/// State of computations at sites, kept from one evaluation to the next.
struct SitesRun {
  std::filesystem::path folder;         ///< folder of the journal
  bool resume = false;                  ///< resume from an existing journal
  bool print_sites = true;              ///< print the description of each site
  std::map<std::string, double> rates;  ///< shots per second by site
};

/// \brief Computes shots at the sites of --sites and passes their parts to `on_part`.
/// \param texts sites file and options
/// \param run folder of the journal; its rates are updated
/// \param work command and inputs of a shot
/// \param shots numbers of the shots
/// \param session used for printing
/// \param on_part receives the parts of each shot as its result arrives
/// \param on_sum receives the sums of sites, with Work::sums
/// \returns the report of the run
/// \throws InputError, also if a resumed run had other Work::sums; MissingShots
cluster::Report compute_parts(const SitesOptions& texts, SitesRun& run, cluster::Work work,
                              const std::vector<std::int64_t>& shots, const Session& session,
                              const OnPart& on_part, const OnSiteSum& on_sum = {});

/// Returns the folder of journal and jobs for results in `folder`; its name is reserved by moho.
std::filesystem::path sites_folder(const std::filesystem::path& folder);
/// Creates that folder, accessible by its owner only. \throws InputError, FileError
void make_sites_folder(const std::filesystem::path& folder);

/// Computes shots at the sites of --sites and moves their results into the output folder.
/// Each shot is computed by the same program and options with --only-shot. All results have to be
/// claimed, and resumable() called, before this call.
/// \param texts sites file and options
/// \param options options of this run
/// \param shots numbers of the shots without results
/// \param session receives files and parts as with --resume
/// \param on_shot called for each shot with the additional values of its part; they have the member
/// "summed" if its arrays are in a sum
/// \param on_sum receives the sums of sites; empty: the sites send all files of their shots
/// \throws InputError, MissingShots
void compute_at_sites(const SitesOptions& texts, const CommonOptions& options,
                      const std::vector<std::int64_t>& shots, Session& session,
                      const std::function<void(std::int64_t shot, const Json& more)>& on_shot,
                      const OnSiteSum& on_sum = {});
/// Removes the files of sums at the sites. \param folder folder of folders of journals
/// \param kept the one whose files stay
void forget_sums(const SitesOptions& texts, const std::filesystem::path& folder,
                 const std::filesystem::path& kept = {});
/// \brief Prints the folders that an earlier part of the run may have left at remote sites, and
/// removes the local folder. \param folder folder of the journal, or of folders of journals
void leave_sites(const Session& session, const std::filesystem::path& folder);
/// Removes the files at the sites, and the folder of journal and jobs. Sums are kept there until
/// the results are written.
void forget_sites(const SitesOptions& texts, const Session& session);

/// Throws InputError if a job would have more shots than the survey.
void check_shots_per_job(const SitesOptions& texts, std::size_t shots);
/// Throws InputError if several ranks run; --sites needs one process.
void refuse_ranks(const Processes& processes);

/// Returns the folder of moho's programs, which is that of this program.
std::filesystem::path programs_folder();

/// \brief Creates and probes the sites of a sites file.
/// \param shots number of results that have to fit on the disk
/// \param print_line receives the description of each site
/// \throws InputError of the first unusable site, and if the disk is too small
std::vector<std::unique_ptr<cluster::Site>> open_sites(
    const SitesOptions& texts, const std::filesystem::path& campaign, const cluster::Work& work,
    std::int64_t shots, const std::function<void(const std::string&)>& print_line);

/// \brief Returns a text about a journal: shots, sites, rate, remaining time, failures.
/// \throws FileError for other files
std::string status_text(const std::filesystem::path& journal);

}  // namespace moho::examples
