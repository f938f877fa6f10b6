// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sites file, which describes where shots are computed.
///
///     [here]
///     kind = local
///     slots = 2
///
///     [cluster]
///     kind = slurm
///     partition = gpu
///     option = --gres=gpu:1
///
///     [far]
///     host = me@login.far.example
///     folder = /scratch/me/moho
///     programs = /opt/moho/bin
///     kind = slurm

#include <moho/cluster/relay.hpp>
#include <moho/cluster/site.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// Section of a sites file.
struct SiteSection {
  std::string name;   ///< name of the site
  Settings settings;  ///< in the order of the file
};

/// Parses a sites file. \param text its content \param name its name, for messages
/// \throws InputError that names the line
std::vector<SiteSection> parse_sites(const std::string& text, const std::string& name);

/// \brief Creates sites from sections.
/// \param sections sections of a sites file
/// \param campaign folder of the journal
/// \param programs local folder of moho's programs
/// \throws InputError for settings that are unknown, missing, or out of range
std::vector<std::unique_ptr<Site>> make_sites(const std::vector<SiteSection>& sections,
                                              const std::filesystem::path& campaign,
                                              const std::filesystem::path& programs);

/// Calls Site::probe() for all sites. \return one line per site
/// \throws InputError of the first unusable site
std::vector<std::string> probe_sites(const std::vector<std::unique_ptr<Site>>& sites,
                                     const Work& work);

}  // namespace moho::cluster
