// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Connection of a RelaySite, and its requests that do not block the distributor (internal).

#include <moho/cluster/detail/ssh_master.hpp>
#include <moho/cluster/relay.hpp>

#include <cstddef>
#include <cstdint>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::cluster {

/// Lines of an answer of the relay.
using RelayAnswer = std::vector<std::vector<std::string>>;

/// Connection, and requests and transfers in progress.
struct RelaySite::Background {
  Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  /// Ends commands in progress.
  ~Background();

  detail::SshMaster master;  ///< connection
  bool uses_master = false;  ///< false: requests run on this machine
  int stop_descriptor = -1;  ///< an eventfd; ends commands

  std::future<RelayAnswer> look;     ///< states of jobs; in progress if valid
  std::vector<std::string> look_of;  ///< tokens of its jobs
  double first_look = -1.0;          ///< time of the first one
  double next_look = 0.0;            ///< time from which the next one may begin
  std::string silence;               ///< failure of the last one; empty: the site has answered

  std::set<std::int64_t> submitted;  ///< shots of all jobs of this run
  std::future<void> sum;             ///< transfer of a sum before its request; in progress if valid
  std::string sum_job;               ///< job with that sum
  std::set<std::int64_t> sum_shots;  ///< its shots
};

namespace detail {

/// Identifies a set of shots in answers: their number and a checksum.
std::vector<std::string> describe_shots(const std::set<std::int64_t>& shots);

}  // namespace detail

}  // namespace moho::cluster
