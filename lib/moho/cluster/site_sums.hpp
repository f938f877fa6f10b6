// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of shots at sites, which travel in place of the shots.
///
/// The relay of a remote site adds the arrays of its finished shots. The distributor receives a
/// small report of each shot, and the sum of the site's shots at the end (docs/theory/cluster.md).

#include <moho/cluster/distributor.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace moho::cluster {

/// \brief Sum of the arrays of shots, made by a program that knows their files.
///
/// The result must depend on the set of shots only, not on the order of add() and merge().
class ShotSum {
 public:
  ShotSum() = default;
  ShotSum(const ShotSum&) = delete;
  ShotSum& operator=(const ShotSum&) = delete;
  virtual ~ShotSum() = default;

  /// \brief Adds the arrays of a shot.
  ///
  /// The files that remain in the folder are the report of the shot; others are removed.
  /// \param shot number of the shot
  /// \param folder files of the shot; those of arrays are removed
  /// \param arrays folder to which they are moved; empty: they are deleted
  /// \throws FileError for files that are not those of a shot; InputError for a duplicate shot
  virtual void add(std::int64_t shot, const std::filesystem::path& folder,
                   const std::filesystem::path& arrays = {}) = 0;
  /// Adds a sum. \param folder files of write() \throws FileError; InputError for a duplicate shot
  virtual void merge(const std::filesystem::path& folder) = 0;
  /// Writes the sum. \param folder empty folder \throws FileError
  virtual void write(const std::filesystem::path& folder) const = 0;
  /// Returns the shots of the sum.
  virtual const std::set<std::int64_t>& shots() const = 0;
  /// Returns true if the sum cannot hold the values of its shots, whose arrays travel instead.
  virtual bool closed() const = 0;
};

/// Creates a sum of no shots.
using SumFactory = std::function<std::unique_ptr<ShotSum>()>;

/// \brief Receives the sum of a site's shots: a result with the files of ShotSum::write().
///
/// If the site could not add the shots, the result has the files of their arrays.
/// \returns false if the sum cannot be added. The arrays of all shots then follow
using OnSum = std::function<bool(const std::vector<std::int64_t>& shots,
                                 const std::filesystem::path& result)>;

/// \brief Computes shots as distribute(), and collects the sums of sites that send them.
///
/// The shots of a site whose sum cannot be collected are computed again.
/// \param campaign work with Work::sums, and its journal
/// \param tasks,sites,options,on_result,clock see distribute(). If a shot is computed again,
/// `on_result` receives it again
/// \param on_sum receives each shot of these sites once. If it returns false it receives all of
/// them again
/// \throws as distribute(); Error if the sum of a site cannot be collected repeatedly
Report distribute_sums(Campaign campaign, const std::vector<Task>& tasks,
                       const std::vector<std::unique_ptr<Site>>& sites,
                       const DistributeOptions& options, const OnResult& on_result,
                       const OnSum& on_sum, Clock* clock = nullptr);

/// \brief Removes the files of a complete campaign at the sites that sent sums.
///
/// Until then a campaign that is resumed finds them.
/// \param journal file of the journal
/// \param sites those of distribute_sums() \throws FileError for other files
void forget_sums(const std::filesystem::path& journal,
                 const std::vector<std::unique_ptr<Site>>& sites);

}  // namespace moho::cluster
