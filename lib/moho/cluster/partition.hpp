// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Division of shots among sites of different speed.

#include <cstdint>
#include <string>
#include <vector>

namespace moho::cluster {

/// State of a site when shots are divided.
struct SiteRate {
  double rate = 1.0;           ///< shots per second, including queueing and transfer; 0: unknown
  std::int64_t min_chunk = 1;  ///< smallest chunk, large enough to hide the transfer of the next
                               ///< one
  std::int64_t capacity = 0;   ///< shots that the site can accept now
  std::int64_t assigned = 0;   ///< shots submitted and not done
};

/// Options of assign_chunks().
struct PartitionOptions {
  double fraction = 0.5;  ///< fraction of the remaining shots given to all sites together; (0, 1]
};

/// Shots for one site.
struct Chunk {
  std::size_t site = 0;    ///< index of the site
  std::int64_t shots = 0;  ///< number of shots, at least 1
};

/// \brief Divides a fraction of the remaining shots among sites with free capacity (pull).
///
/// The chunk of a site is `fraction` times `left`, times its share of the sum of all rates; at
/// least `min_chunk`, at most `capacity`. A site of unknown rate counts with the mean of the known
/// rates. Faster sites come first. The chunks add up to at most `left`; none is empty.
/// \throws InputError for a fraction outside (0, 1], and for negative rates or numbers
std::vector<Chunk> assign_chunks(const std::vector<SiteRate>& sites, std::int64_t left,
                                 const PartitionOptions& options = {});

/// \brief Divides all shots of an evaluation in proportion to the rates of sites (Algorithm 3).
///
/// The parts add up to `shots`; the largest remainders are rounded up. If all rates are 0, the
/// parts are equal. \throws InputError without a site, and for negative numbers
std::vector<std::int64_t> divide_by_rates(const std::vector<double>& rates, std::int64_t shots);

/// \brief Returns the smoothed rate of a site after an evaluation (Algorithm 3).
///
/// This is (1 - weight) before + weight shots / seconds; shots / seconds if `before` is 0, and
/// `before` if `shots` or `seconds` is not positive.
double smooth_rate(double before, double shots, double seconds, double weight);

}  // namespace moho::cluster
