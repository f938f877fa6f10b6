// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/partition.hpp>
#include <moho/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace moho::cluster {

std::vector<Chunk> assign_chunks(const std::vector<SiteRate>& sites, std::int64_t left,
                                 const PartitionOptions& options) {
  if (!(options.fraction > 0.0) || options.fraction > 1.0) {
    throw InputError(concat("partition: the part of the rest is ", options.fraction,
                            " (allowed: above 0, at most 1): give 0.5"));
  }
  if (left < 0)
    throw InputError(concat("partition: ", left, " shots are left (allowed: 0 and more)"));
  double known = 0.0;
  int count = 0;
  for (std::size_t k = 0; k < sites.size(); ++k) {
    const SiteRate& site = sites[k];
    if (!(site.rate >= 0.0) || !std::isfinite(site.rate) || site.min_chunk < 0 ||
        site.capacity < 0 || site.assigned < 0) {
      throw InputError(concat("partition: site ", k, " has the rate ", site.rate, ", least ",
                              site.min_chunk, ", room ", site.capacity, " and ", site.assigned,
                              " in hand (allowed: 0 and more)"));
    }
    known += site.rate;
    count += site.rate > 0.0 ? 1 : 0;
  }
  const double mean = count > 0 ? known / count : 1.0;
  const auto rate = [&](std::size_t k) { return sites[k].rate > 0.0 ? sites[k].rate : mean; };
  double all = 0.0;
  for (std::size_t k = 0; k < sites.size(); ++k) all += rate(k);

  std::vector<std::size_t> order(sites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rate(a) > rate(b); });
  std::vector<Chunk> chunks;
  std::int64_t rest = left;
  for (const std::size_t k : order) {
    if (sites[k].capacity < 1 || rest < 1) continue;
    const double share = options.fraction * static_cast<double>(left) * rate(k) / all;
    std::int64_t shots = std::max<std::int64_t>(
        {static_cast<std::int64_t>(std::llround(share)), sites[k].min_chunk, 1});
    shots = std::min({shots, sites[k].capacity, rest});
    chunks.push_back({k, shots});
    rest -= shots;
  }
  return chunks;
}

std::vector<std::int64_t> divide_by_rates(const std::vector<double>& rates, std::int64_t shots) {
  if (rates.empty()) throw InputError("partition: there is no site (allowed: 1 and more)");
  if (shots < 0) throw InputError(concat("partition: ", shots, " shots (allowed: 0 and more)"));
  double all = 0.0;
  for (const double rate : rates) {
    if (!(rate >= 0.0) || !std::isfinite(rate)) {
      throw InputError(concat("partition: a rate of ", rate, " (allowed: 0 and more)"));
    }
    all += rate;
  }
  std::vector<std::int64_t> parts;
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t rest = shots;
  for (std::size_t k = 0; k < rates.size(); ++k) {
    const double share = static_cast<double>(shots) *
                         (all > 0.0 ? rates[k] / all : 1.0 / static_cast<double>(rates.size()));
    parts.push_back(std::min(static_cast<std::int64_t>(std::floor(share)), rest));
    rest -= parts.back();
    remainders.emplace_back(share - std::floor(share), k);
  }
  std::stable_sort(remainders.begin(), remainders.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (std::size_t k = 0; rest > 0; k = (k + 1) % remainders.size(), --rest) {
    ++parts[remainders[k].second];
  }
  return parts;
}

double smooth_rate(double before, double shots, double seconds, double weight) {
  if (!(seconds > 0.0) || !(shots > 0.0)) return before;
  const double now = shots / seconds;
  return before > 0.0 ? (1.0 - weight) * before + weight * now : now;
}

}  // namespace moho::cluster
