// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/snapshot/storage.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace moho::snapshot {

namespace {

constexpr double pinning_rate = 1.7e9;  // bytes per second, measured with an H200
constexpr double taken = 0.9;           // of a budget at most

/// Returns a positive number with two digits.
double rounded(double value) {
  const double digits = std::pow(10.0, std::floor(std::log10(std::max(value, 1e-9))) - 1.0);
  return std::round(value / digits) * digits;
}

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
    bool inaccurate = false;
    for (const Candidate& candidate : candidates(shape, obstacle, inaccurate)) {
      const StorageChoice& strategy = candidate.strategy;
      const double cost = candidate.cost;
      reason +=
          concat(reason.empty() ? "" : ", ", strategy.name, " (", rounded(cost), " s a shot)");
      // for equal costs prefers uncompressed to recomputed snapshots
      const bool plainer =
          strategy.keep == StorageMethod::raw && plan.strategy.keep != StorageMethod::raw;
      if (lowest && cost >= *lowest * (plainer ? 1.02 : 0.98)) continue;
      lowest = cost;
      plan.location = candidate.location;
      plan.strategy = strategy;
    }
    if (!lowest) throw nothing_fits(obstacle, inaccurate);
    plan.strategy.reason = concat("of ", reason);
    if (plan.strategy.codec >= 0) {
      plan.codec = m_r.codecs[static_cast<std::size_t>(plan.strategy.codec)];
    }
    if (uses_threads(plan.strategy)) plan.threads = std::max(m_r.threads / m_r.concurrent_shots, 1);
    if (plan.location == StorageLocation::disk) plan.files = file_plan(shape, plan);
    if (plan.codec && plan.location != StorageLocation::disk) {
      const bool device = plan.location == StorageLocation::device;
      plan.limit = (device ? m_budget.device : m_budget.host) -
                   (device ? plan.strategy.device_buffers : plan.strategy.host_buffers);
    }
    return plan;
  }

 private:
  /// A method that fits.
  struct Candidate {
    StorageChoice strategy;
    StorageLocation location;
    double cost;  // seconds of a shot
  };

  // Returns the methods that fit, named with their location. `obstacle`: that of the first other
  // one. `inaccurate`: true if that is the error bound.
  std::vector<Candidate> candidates(const ShotShape& shape, std::string& obstacle,
                                    bool& inaccurate) const {
    std::vector<Candidate> result;
    bool in_memory = false;
    const std::vector<StorageChoice> choices =
        m_r.method == "random" ? std::vector<StorageChoice>{random_layers(shape, m_rates, m_budget)}
                               : strategies(shape, m_rates, m_budget, m_r.accuracy);
    for (const StorageChoice& given : choices) {
      if (!is_wanted(given)) continue;
      StorageChoice strategy = given;
      std::optional<StorageLocation> location = location_of(strategy);
      if (!location && strategy.keep == StorageMethod::checkpoints) {
        // checkpoints take what there is, in any location: here in the memory of the run alone
        strategy = checkpoints_within(shape, taken * static_cast<double>(m_budget.device));
        location = location_of(strategy);
      }
      strategy.name = name_of(strategy);
      if (!location) {
        if (obstacle.empty()) {
          obstacle = concat(strategy.name, ": ", obstacle_of(given, strategy.bytes));
          inaccurate = !given.accurate;
        }
        continue;
      }
      // pinned memory: one slow allocation for all shots
      double cost = strategy.seconds;
      if (*location == StorageLocation::host && !m_r.host_kernels) {
        cost += static_cast<double>(strategy.bytes) / pinning_rate / static_cast<double>(m_r.shots);
      }
      if (*location == StorageLocation::disk) {
        cost = strategy.seconds = seconds_with_files(strategy);
      } else if (!recomputes(strategy)) {
        in_memory = true;
      }
      strategy.name = concat(strategy.name, " ", location_name(*location));
      result.push_back({strategy, *location, cost});
    }
    if (m_r.method == "auto" && in_memory) {
      std::erase_if(result, [](const auto& one) { return one.location == StorageLocation::disk; });
    }
    return result;
  }

  // Returns the reason why a method that the cost model returned fits no location.
  static std::string obstacle_of(const StorageChoice& given, std::uint64_t bytes) {
    if (given.possible) return concat("it keeps ", in_bytes(bytes));
    const std::uint64_t needed = given.min_device_bytes;
    const bool more = needed != std::numeric_limits<std::uint64_t>::max() && needed > given.bytes;
    if (!more) {
      return given.reason.empty() ? concat("it keeps ", in_bytes(given.bytes)) : given.reason;
    }
    return concat("it keeps ", in_bytes(given.bytes), ", with its buffers ", in_bytes(needed));
  }

  StorageChoice checkpoints_within(const ShotShape& shape, double bytes) const {
    const Budget budget{static_cast<std::uint64_t>(bytes), 0, 0};
    const auto all = strategies(shape, m_rates, budget, m_r.accuracy);
    return *std::find_if(all.begin(), all.end(), [](const StorageChoice& one) {
      return one.keep == StorageMethod::checkpoints;
    });
  }

  static bool recomputes(const StorageChoice& strategy) {
    return strategy.keep == StorageMethod::boundary_values ||
           strategy.keep == StorageMethod::checkpoints ||
           strategy.keep == StorageMethod::random_layers;
  }

  // Seconds with all snapshots in files; the cost model distributes them over all locations.
  double seconds_with_files(const StorageChoice& strategy) const {
    const double leg = 0.5 * strategy.propagation_seconds;
    const auto bytes = static_cast<double>(strategy.bytes);
    const double all = strategy.propagation_seconds +
                       std::max(0.0, bytes / m_rates.disk_write - leg) +
                       std::max(0.0, bytes / m_rates.disk_read - leg);
    return std::isfinite(strategy.seconds) ? std::max(strategy.seconds, all) : all;
  }

  FilePlan file_plan(const ShotShape& shape, const StoragePlan& plan) const {
    FilePlan files;
    const auto bytes = static_cast<double>(plan.strategy.bytes);
    files.write_rate = m_rates.disk_write;
    files.read_rate = m_rates.disk_read;
    files.write_seconds = bytes / m_rates.disk_write;
    files.read_seconds = bytes / m_rates.disk_read;
    files.propagation_seconds = 0.5 * plan.strategy.propagation_seconds;
    files.bytes = plan.strategy.bytes;
    // the queue, a snapshot in the file's thread, and those before the queue when the forward
    // propagation ends
    const double largest = bytes * shape.largest_snapshot / shape.snapshot_nodes;
    // short waits for the disk are bridged by small snapshots in the tenth that is not taken
    const auto memory = static_cast<double>(m_r.host_kernels ? m_budget.device : m_budget.host);
    const double room = std::min(64.0 * 1024 * 1024, (1.0 - taken) * memory);
    files.queue = static_cast<int>(std::clamp(room / largest, 1.0 * file_queue, 64.0));
    files.queue_bytes = static_cast<std::uint64_t>(largest * (files.queue + 2 + 2 * plan.threads));
    return files;
  }

  static std::string in_bytes(std::uint64_t bytes) {
    return format_bytes(static_cast<double>(bytes));
  }
  const char* location_name(StorageLocation location) const {
    return location == StorageLocation::disk                       ? "in files"
           : location == StorageLocation::host || m_r.host_kernels ? "in memory"
                                                                   : "on the device";
  }

  StorageError nothing_fits(const std::string& obstacle, bool inaccurate) const {
    return StorageError(concat(
        m_r.method == "auto" ? std::string("storage: no method fits")
                             : concat("storage: the method ", m_r.method, " is not possible here"),
        " (", obstacle.empty() ? "this space has no such way" : obstacle,
        "; allowed: ", in_bytes(m_budget.device), m_r.host_kernels ? "" : " on the device",
        m_r.host_kernels ? "" : concat(", ", in_bytes(m_budget.host), " of the host's memory"),
        ", ", in_bytes(m_budget.disk), " of disk): choose another method, or ",
        inaccurate ? "another error bound" : "larger budgets (device, host, disk)"));
  }

  bool uses_threads(const StorageChoice& strategy) const {
    return strategy.codec >= 0 &&
           m_rates.codecs[static_cast<std::size_t>(strategy.codec)].host_threads;
  }

  std::string name_of(const StorageChoice& strategy) const {
    constexpr const char* names[] = {"raw snapshots", "blocks", "differences of integers",
                                     "transform",     "faces",  "replay",
                                     "random layers"};
    if (strategy.keep == StorageMethod::checkpoints)
      return concat("replay from ", text::counted(strategy.states, "state"));
    std::string name = names[static_cast<int>(strategy.keep)];
    if (strategy.codec >= 0 &&
        m_r.codecs[static_cast<std::size_t>(strategy.codec)].mode == CodecMode::paper) {
      name = "quantised square roots";
    }
    if (strategy.codec >= 0 && strategy.keep == StorageMethod::blocks) {
      name += concat(" of ", m_r.codecs[static_cast<std::size_t>(strategy.codec)].bits, " bits");
    }
    if (uses_threads(strategy))
      name += concat(" by ", text::counted(m_r.threads, "thread"), " of the host");
    return name;
  }

  // Returns the location of all snapshots; empty if no location suffices or the error exceeds the
  // bound.
  std::optional<StorageLocation> location_of(const StorageChoice& strategy) const {
    // threads also need buffers, and store in one location
    if (uses_threads(strategy) && !strategy.possible) return std::nullopt;
    // files may hold an impossible method with known bytes
    if (!strategy.possible && strategy.bytes == 0) return std::nullopt;
    if (!strategy.possible &&
        strategy.min_device_bytes == std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
    const auto fits = [&](std::uint64_t room, std::uint64_t buffers = 0) {
      return static_cast<double>(strategy.bytes) <= taken * static_cast<double>(room) &&
             strategy.bytes <= room - std::min(room, buffers);
    };
    const bool disk_only = m_r.method == "disk" || (m_r.method == "threads" && m_r.use_folder);
    const bool host_only = (m_r.method == "memory" || uses_threads(strategy)) && !m_r.host_kernels;
    const bool memory = strategy.possible && !disk_only;
    if (memory && !host_only && fits(m_budget.device, strategy.device_buffers)) {
      return StorageLocation::device;
    }
    if (recomputes(strategy) || m_r.method == "device") return std::nullopt;
    if (memory && !m_r.host_kernels && fits(m_budget.host, strategy.host_buffers)) {
      return StorageLocation::host;
    }
    const bool disk = m_budget.disk > 0 && m_rates.disk_write > 0.0 && m_rates.disk_read > 0.0;
    const bool memory_only = m_r.method == "memory" && !m_r.host_kernels;
    if (disk && !memory_only && fits(m_budget.disk)) return StorageLocation::disk;
    return std::nullopt;
  }

  bool is_wanted(const StorageChoice& strategy) const {
    const bool lossless = m_r.accuracy.kind == ErrorBound::Kind::lossless;
    if (m_r.method == "auto" || m_r.method == "random") return true;
    if (m_r.method == "threads") return uses_threads(strategy);
    if (m_r.method == "boundary") return strategy.keep == StorageMethod::boundary_values;
    if (m_r.method == "replay") return strategy.keep == StorageMethod::checkpoints;
    // the first codec is that of the requested error
    const bool requested = !lossless && strategy.codec == 0;
    if (m_r.method == "compressed") return requested;
    if (m_r.method == "disk") {
      return lossless ? strategy.keep == StorageMethod::raw : requested || uses_threads(strategy);
    }
    return strategy.keep == StorageMethod::raw;
  }

  const Rates& m_rates;
  const Budget& m_budget;
  const StorageRequest& m_r;
};

}  // namespace

std::string FilePlan::text() const {
  const auto per_second = [](double rate) { return concat(format_bytes(rate), "/s"); };
  const auto seconds = [](double value) { return concat(rounded(value), " s"); };
  return concat(per_second(write_rate), " to the disk, ", per_second(read_rate), " back; ",
                seconds(write_seconds), " and ", seconds(read_seconds), " beside propagations of ",
                seconds(propagation_seconds), ": ",
                hidden() ? "hidden" : "the run waits for the disk", "; ",
                format_bytes(static_cast<double>(queue_bytes)), " of memory on the way");
}

std::vector<std::pair<std::string, double>> FilePlan::numbers() const {
  return {{"write_rate", write_rate},
          {"read_rate", read_rate},
          {"write_seconds", write_seconds},
          {"read_seconds", read_seconds},
          {"propagation_seconds", propagation_seconds},
          {"hidden_by_rates", hidden() ? 1.0 : 0.0},
          {"bytes", static_cast<double>(bytes)},
          {"queue_bytes", static_cast<double>(queue_bytes)}};
}

StorageRequest make_storage_request(const StorageOptions& options) {
  constexpr const char* methods[] = {"auto", "device",   "memory", "compressed", "threads",
                                     "disk", "boundary", "replay", "random"};
  StorageRequest request;
  request.method = options.method;
  request.use_folder = options.use_folder;
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
  const bool files =
      options.method == "auto" || options.method == "threads" || options.method == "disk";
  if (options.use_folder && !files) {
    throw InputError(concat("storage: the method ", options.method,
                            " writes no files (allowed with a folder for snapshots: auto, threads, "
                            "disk): leave out the folder"));
  }
  if (options.error == "lossless") {
    if (options.method == "compressed" || options.method == "threads") {
      throw InputError(concat("storage: the method ", options.method,
                              " stores compressed snapshots, which the error lossless excludes "
                              "(allowed: snr:DB, max:E, bits:N or paper:E): take another error, or "
                              "another method"));
    }
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
