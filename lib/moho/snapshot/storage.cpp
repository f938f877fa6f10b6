// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/snapshot/storage.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace moho::snapshot {

namespace {

constexpr double pinning_rate = 1.7e9;  // bytes per second, measured with an H200

/// Choice among storage methods.
class Choice {
 public:
  Choice(const Rates& rates, const Budget& budget, const StorageRequest& request)
      : m_rates(rates), m_budget(budget), m_r(request) {}

  StoragePlan choose(const ShotShape& shape) const {
    StoragePlan plan;
    plan.budget = m_budget;
    std::string obstacle, reason;
    std::optional<double> lowest;
    for (const StorageChoice& given : strategies(shape, m_rates, m_budget, m_r.accuracy)) {
      if (!is_wanted(given)) continue;
      StorageChoice strategy = given;
      strategy.name = name_of(strategy);
      const std::optional<StorageLocation> location = location_of(strategy);
      if (!location) {
        if (obstacle.empty()) {
          obstacle =
              concat(strategy.name, ": ",
                     given.possible ? concat("it keeps ", in_bytes(strategy.bytes)) : given.reason);
        }
        continue;
      }
      // pinned memory: one slow allocation for all shots
      double cost = strategy.seconds;
      if (*location == StorageLocation::host && !m_r.host_kernels) {
        cost += static_cast<double>(strategy.bytes) / pinning_rate / static_cast<double>(m_r.shots);
      }
      reason += concat(reason.empty() ? "" : ", ", strategy.name, " ", location_name(*location),
                       " (", two_digits(cost), " s a shot)");
      // for equal costs prefers uncompressed to recomputed snapshots
      const bool plainer =
          strategy.keep == StorageMethod::raw && plan.strategy.keep != StorageMethod::raw;
      if (lowest && cost >= *lowest * (plainer ? 1.02 : 0.98)) continue;
      lowest = cost;
      plan.location = *location;
      plan.strategy = strategy;
      plan.strategy.name = concat(strategy.name, " ", location_name(*location));
    }
    if (!lowest) throw nothing_fits(obstacle);
    plan.strategy.reason = concat("of ", reason);
    if (plan.strategy.codec >= 0) {
      plan.codec = m_r.codecs[static_cast<std::size_t>(plan.strategy.codec)];
    }
    if (uses_threads(plan.strategy)) plan.threads = std::max(m_r.threads / m_r.concurrent_shots, 1);
    return plan;
  }

 private:
  static std::string in_bytes(std::uint64_t bytes) {
    return format_bytes(static_cast<double>(bytes));
  }
  static std::string two_digits(double seconds) {
    const double digits = std::pow(10.0, std::floor(std::log10(std::max(seconds, 1e-9))) - 1.0);
    return concat(std::round(seconds / digits) * digits);
  }
  const char* location_name(StorageLocation location) const {
    return location == StorageLocation::disk                       ? "in files"
           : location == StorageLocation::host || m_r.host_kernels ? "in memory"
                                                                   : "on the device";
  }

  InputError nothing_fits(const std::string& obstacle) const {
    return InputError(concat(
        m_r.method == "auto" ? std::string("storage: no method fits")
                             : concat("storage: the method ", m_r.method, " is not possible here"),
        " (", obstacle.empty() ? "this space has no such way" : obstacle,
        "; allowed: ", in_bytes(m_budget.device), m_r.host_kernels ? "" : " on the device",
        m_r.host_kernels ? "" : concat(", ", in_bytes(m_budget.host), " of the host's memory"),
        ", ", in_bytes(m_budget.disk),
        " of disk): choose another method, or larger budgets (device, host, disk)"));
  }

  bool uses_threads(const StorageChoice& strategy) const {
    return strategy.codec >= 0 &&
           m_rates.codecs[static_cast<std::size_t>(strategy.codec)].host_threads;
  }

  std::string name_of(const StorageChoice& strategy) const {
    constexpr const char* names[] = {"raw snapshots", "blocks", "differences of integers",
                                     "transform",     "faces",  "replay"};
    if (strategy.keep == StorageMethod::checkpoints)
      return concat("replay from ", strategy.states, " states");
    std::string name = names[static_cast<int>(strategy.keep)];
    if (strategy.codec >= 0 && strategy.keep == StorageMethod::blocks) {
      name += concat(" of ", m_r.codecs[static_cast<std::size_t>(strategy.codec)].bits, " bits");
    }
    if (uses_threads(strategy)) name += concat(" by ", m_r.threads, " threads of the host");
    return name;
  }

  // Returns the location of all snapshots; empty if no location suffices or the error exceeds the
  // bound.
  std::optional<StorageLocation> location_of(const StorageChoice& strategy) const {
    const bool recomputes = strategy.keep == StorageMethod::boundary_values ||
                            strategy.keep == StorageMethod::checkpoints;
    // threads also need buffers, and store in one location
    if (uses_threads(strategy) && !strategy.possible) return std::nullopt;
    // an impossible method with known bytes may still fit one location
    if (!strategy.possible && strategy.bytes == 0) return std::nullopt;
    if (!strategy.possible &&
        strategy.min_device_bytes == std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
    const auto fits = [&](std::uint64_t room) {
      return static_cast<double>(strategy.bytes) <= 0.9 * static_cast<double>(room);
    };
    const bool disk_only = m_r.method == "disk";
    const bool host_only = (m_r.method == "memory" || uses_threads(strategy)) && !m_r.host_kernels;
    if (!disk_only && !host_only && fits(m_budget.device)) return StorageLocation::device;
    if (recomputes || m_r.method == "device") return std::nullopt;
    if (!disk_only && !m_r.host_kernels && fits(m_budget.host)) return StorageLocation::host;
    if (!host_only && m_budget.disk > 0 && fits(m_budget.disk)) return StorageLocation::disk;
    return std::nullopt;
  }

  bool is_wanted(const StorageChoice& strategy) const {
    const bool recomputes = strategy.keep == StorageMethod::boundary_values ||
                            strategy.keep == StorageMethod::checkpoints;
    const bool lossless = m_r.accuracy.kind == ErrorBound::Kind::lossless;
    if (m_r.method == "auto") return true;
    if (m_r.method == "threads") return uses_threads(strategy);
    if (m_r.method == "boundary") return strategy.keep == StorageMethod::boundary_values;
    if (m_r.method == "replay") return strategy.keep == StorageMethod::checkpoints;
    // the first codec is that of the requested error
    const bool requested = !lossless && strategy.codec == 0;
    if (m_r.method == "compressed") return requested;
    if (m_r.method == "disk") return lossless ? strategy.keep == StorageMethod::raw : requested;
    return strategy.keep == StorageMethod::raw && !recomputes;
  }

  const Rates& m_rates;
  const Budget& m_budget;
  const StorageRequest& m_r;
};

}  // namespace

StorageRequest make_storage_request(const StorageOptions& options) {
  constexpr const char* methods[] = {"auto",    "device", "memory",   "compressed",
                                     "threads", "disk",   "boundary", "replay"};
  StorageRequest request;
  request.method = options.method;
  std::string list;
  bool known = false;
  for (const char* const method : methods) {
    known = known || options.method == method;
    list += concat(list.empty() ? "" : ", ", method);
  }
  if (!known) {
    throw InputError(
        concat("storage: the method '", options.method, "' is unknown (allowed: ", list, ")"));
  }
  if (options.error == "lossless") {
    request.accuracy.kind = ErrorBound::Kind::lossless;
    return request;
  }
  const CodecOptions codec = parse_codec(options.error);
  request.codecs.push_back(codec);
  if (codec.mode == CodecMode::transform) {
    request.accuracy = {ErrorBound::Kind::snr, codec.snr};
    for (const int bits : {12, 16}) {
      request.codecs.push_back({.mode = CodecMode::blocks, .bits = bits});
    }
  } else if (codec.mode == CodecMode::blocks) {
    request.accuracy = {ErrorBound::Kind::bits, static_cast<double>(codec.bits)};
  } else {
    request.accuracy = {ErrorBound::Kind::bound, codec.max_error};
  }
  return request;
}

StoragePlan choose_storage(const ShotShape& shape, const Rates& rates, const Budget& budget,
                           const StorageRequest& request) {
  if (request.codecs.size() != rates.codecs.size()) {
    throw InputError(concat("storage: ", request.codecs.size(), " codecs and rates of ",
                            rates.codecs.size(), " (allowed: as many): measure each of them"));
  }
  return Choice(rates, budget, request).choose(shape);
}

}  // namespace moho::snapshot
