// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Folders of jobs that a run has left at remote sites.

#include <moho/cluster/journal.hpp>
#include <moho/cluster/site.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace moho::cluster {

/// Folders of jobs at a remote site.
struct RemoteFolders {
  std::string site;   ///< name of the site
  std::string names;  ///< "host:/folder/NAME.*", with a wildcard for the jobs of a journal
};

/// \brief Records in a journal where remote sites have the files of jobs, for remote_folders().
/// \param sums true if the sites keep the results of ended jobs, see Work::sums
void record_remote_folders(Journal& journal, const std::vector<std::unique_ptr<Site>>& sites,
                           bool sums);

/// \brief Returns the folders that may exist at remote sites: of jobs that have not ended, and of
/// all jobs whose results a site keeps. Only a run with the sites can remove them.
/// \param folder folder of a journal, or of folders of journals; it may be missing
std::vector<RemoteFolders> remote_folders(const std::filesystem::path& folder);

}  // namespace moho::cluster
