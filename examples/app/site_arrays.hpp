// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Arrays of shots for sums of remote sites, and these sums.

#include "app/json.hpp"

#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>
#include <moho/rtm/array_sums.hpp>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace moho::examples {

/// Returns the description of an array for sums of remote sites. \param file name of its file
inline Json describe_array(const rtm::ShotArray& array, const std::string& file) {
  Json entry;
  entry["name"] = array.name;
  entry["file"] = file;
  entry["parts"] = array.parts;
  entry["grid"] = array.grid;
  entry["lower"] = array.lower;
  entry["upper"] = array.upper;
  if (array.bins) entry["bins"] = true;
  return entry;
}

/// Adds the sum of a site. \throws FileError for a sum of other shots
inline void add_site_sum(rtm::ArraySums& sums, const Instance<Kokkos::HostSpace>& exec,
                         const std::vector<std::int64_t>& shots,
                         const std::filesystem::path& path) {
  const io::InputFile file(path);
  std::set<std::int64_t> expected = sums.shots();
  expected.insert(shots.begin(), shots.end());
  sums.merge(exec, file.text(file.size()));
  if (sums.shots() == expected) return;
  throw FileError(concat("'", path.string(),
                         "' has other shots than those requested: install this ",
                         "version of the programs at the site"));
}

}  // namespace moho::examples
