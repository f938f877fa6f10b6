// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The file that says where shots are computed.
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

/// A section of the file.
struct SiteSection {
  std::string name;   ///< of the site
  Settings settings;  ///< in their order
};

/// Reads the sections of a text. \throws InputError naming the line
std::vector<SiteSection> parse_sites(const std::string& text, const std::string& name);

/// \brief Makes sites of sections.
/// \param campaign folder of the journal
/// \param programs folder of moho's programs here
/// \throws InputError for settings that are unknown, missing, or out of range
std::vector<std::unique_ptr<Site>> make_sites(const std::vector<SiteSection>& sections,
                                              const std::filesystem::path& campaign,
                                              const std::filesystem::path& programs);

/// Asks all sites whether they can be used; a line each. \throws InputError by the first that
/// cannot
std::vector<std::string> probe_sites(const std::vector<std::unique_ptr<Site>>& sites,
                                     const Work& work);

}  // namespace moho::cluster
