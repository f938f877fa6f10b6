// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief How shots are divided between sites of different speed.

#include <cstdint>
#include <string>
#include <vector>

namespace moho::cluster {

/// What is known of a site when shots are handed out.
struct SiteRate {
  double rate = 1.0;           ///< shots a second, with queue and transfer in it; 0: unknown
  std::int64_t min_chunk = 1;  ///< shots that hide the transfer of the next chunk
  std::int64_t capacity = 0;   ///< shots that it can take now; 0: none
  std::int64_t assigned = 0;   ///< shots that it has and are not done
};

/// How much of the rest is handed out.
struct PartitionOptions {
  double fraction = 0.5;  ///< of what is left, to all sites together; above 0, at most 1
};

/// A site and the number of shots that it takes.
struct Chunk {
  std::size_t site = 0;    ///< its place in the list of sites
  std::int64_t shots = 0;  ///< at least 1
};

/// \brief Pull: the chunks that sites with room take of what is left.
///
/// A site's chunk is `part` of what is left, in proportion to its rate among all sites' rates, at
/// least its `least`, at most its room. Sites of unknown rate count as the mean of the others. The
/// fastest take first; chunks add up to at most `left`, and none is empty.
/// \throws InputError for a part outside of its range, negative rates or numbers
std::vector<Chunk> assign_chunks(const std::vector<SiteRate>& sites, std::int64_t left,
                                 const PartitionOptions& options = {});

/// \brief Algorithm 3: all shots of an evaluation cut in proportion to the sites' rates, once.
///
/// Parts add up to `shots`; what rounding leaves goes to the largest remainders. With rates of 0
/// alone the parts are equal. \throws InputError for no site, or a negative number
std::vector<std::int64_t> divide_by_rates(const std::vector<double>& rates, std::int64_t shots);

/// \brief A site's rate after an evaluation, as Algorithm 3 re-evaluates it: shots over its time,
/// with the weight `weight`, and the rate before with the rest.
double smooth_rate(double before, double shots, double seconds, double weight);

}  // namespace moho::cluster
