// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/snapshot/replay.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace moho::snapshot {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// Bytes are integers below 2^53, exact in double precision.
double whole(double bytes) { return std::ceil(bytes); }
std::uint64_t to_bytes(double bytes) {
  return bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : never;
}

template <class Value>
void require(bool good, const char* name, const Value& value, const char* allowed) {
  if (good) return;
  throw InputError(concat("strategy: ", name, " is ", value, " (allowed: ", allowed,
                          "): give what the shot, the machine or the user says"));
}

bool is_positive(double value) { return value > 0.0 && std::isfinite(value); }

void check(const ShotShape& shape) {
  require(shape.dims == 2 || shape.dims == 3, "dims", shape.dims, "2 or 3");
  for (int d = 0; d < shape.dims; ++d) {
    const std::int64_t nodes = shape.interior[static_cast<std::size_t>(d)];
    require(nodes >= 1, "interior", nodes, "1 node or more along each axis");
  }
  const std::pair<const char*, double> nodes[] = {{"step_nodes", shape.step_nodes},
                                                  {"snapshot_nodes", shape.snapshot_nodes},
                                                  {"largest_snapshot", shape.largest_snapshot},
                                                  {"state_nodes", shape.state_nodes},
                                                  {"state_bytes", shape.state_bytes}};
  for (const auto& [name, value] : nodes) require(is_positive(value), name, value, "positive");
  require(shape.snapshots >= 1, "snapshots", shape.snapshots, "1 or more");
  require(shape.steps >= shape.snapshots, "steps", shape.steps, "as many as snapshots or more");
  const std::pair<const char*, int> counts[] = {{"snapshot_bytes", shape.snapshot_bytes},
                                                {"image_bytes", shape.image_bytes},
                                                {"face_layers", shape.face_layers},
                                                {"face_bytes", shape.face_bytes},
                                                {"face_interval", shape.face_interval}};
  for (const auto& [name, value] : counts) require(value >= 1, name, value, "1 or more");
  require(shape.face_error >= 0.0, "face_error", shape.face_error, "0 or more");
}

void check(const Rates& rates) {
  require(is_positive(rates.points), "points", rates.points, "positive nodes a second");
  require(is_positive(rates.memory), "memory", rates.memory, "positive bytes a second");
  const std::pair<const char*, double> others[] = {
      {"link", rates.link}, {"disk_write", rates.disk_write}, {"disk_read", rates.disk_read}};
  for (const auto& [name, value] : others) {
    require(value >= 0.0 && std::isfinite(value), name, value, "0 or more bytes a second");
  }
  require(rates.threads >= 1, "threads", rates.threads, "1 or more");
  for (const CodecRate& codec : rates.codecs) {
    require(codec.keep == StorageMethod::blocks || codec.keep == StorageMethod::lorenzo ||
                codec.keep == StorageMethod::transform,
            "keep of a codec", to_string(codec.keep), "blocks, lorenzo, transform");
    require(is_positive(codec.ratio), "ratio of a codec", codec.ratio, "positive");
    require(is_positive(codec.encode), "encode of a codec", codec.encode, "positive");
    require(is_positive(codec.decode), "decode of a codec", codec.decode, "positive");
  }
}

void check(const ErrorBound& accuracy) {
  switch (accuracy.kind) {
    case ErrorBound::Kind::lossless:
      return;
    case ErrorBound::Kind::bound:
      require(is_positive(accuracy.value), "the bound", accuracy.value, "positive");
      return;
    case ErrorBound::Kind::snr:
      require(std::isfinite(accuracy.value), "the signal to noise", accuracy.value, "dB");
      return;
    case ErrorBound::Kind::bits:
      require(is_positive(accuracy.value), "the number of bits", accuracy.value, "positive");
      return;
  }
}

/// Quantities independent of the choice, in seconds and bytes.
struct Shot {
  const ShotShape& shape;
  const Rates& rates;
  double propagation, image, raw, largest, state, mean_state;
  double device, host, disk;  // budgets
  bool has_link, has_disk;

  Shot(const ShotShape& s, const Rates& r, const Budget& budget)
      : shape(s),
        rates(r),
        propagation(s.step_nodes / r.points),
        image(s.snapshot_nodes * s.image_bytes / r.memory),
        raw(whole(s.snapshot_nodes * s.snapshot_bytes)),
        largest(whole(s.largest_snapshot * s.snapshot_bytes)),
        state(whole(s.state_nodes * s.state_bytes)),
        mean_state(
            std::min(state, whole(s.step_nodes / static_cast<double>(s.steps)) * s.state_bytes)),
        device(static_cast<double>(budget.device)),
        host(r.link > 0.0 ? static_cast<double>(budget.host) : 0.0),
        disk(static_cast<double>(budget.disk)),
        has_link(r.link > 0.0),
        has_disk(r.disk_write > 0.0 && r.disk_read > 0.0) {}
};

/// Pieces stored in the forward propagation and read in reverse order.
struct Stream {
  double bytes = 0.0;            // of all pieces
  double piece = 0.0;            // of the largest
  double device_seconds = 0.0;   // of kernels per byte that stays on the device, both propagations
  double kernel_seconds = 0.0;   // of kernels for all pieces, both propagations
  double link_bytes = 1.0;       // over the link in each direction per byte that leaves the device
  double device_fixed = 0.0;     // bytes on the device for all locations
  double device_ring = 0.0;      // and if pieces leave the device
  double host_fixed = 0.0;       // bytes of the host's memory for all locations
  double encode_seconds = 0.0;   // of threads concurrent with the forward propagation
  double decode_seconds = 0.0;   // and with the backward propagation
  double backward_window = 0.0;  // seconds of the backward propagation
  double propagation_seconds = 0.0;  // of all propagations
  bool may_stay = true;              // true if pieces may stay on the device
};

/// Bytes in each location.
struct Placement {
  double seconds = infinite;
  double on_device = 0.0, on_host = 0.0, on_disk = 0.0;           // pieces
  double device_bytes = 0.0, host_bytes = 0.0, disk_bytes = 0.0;  // pieces and buffers
  double min_device_bytes = infinite;
};

/// Seconds with `kept` bytes on the device and at most `host_room` bytes in the host's memory.
double seconds_of(const Shot& shot, const Stream& stream, double kept, double host_room) {
  const double left = stream.bytes - kept;
  const double on_disk = std::max(0.0, left - host_room);
  const double link = shot.has_link ? left * stream.link_bytes / shot.rates.link : 0.0;
  const double written = on_disk > 0.0 ? on_disk / shot.rates.disk_write : 0.0;
  const double read = on_disk > 0.0 ? on_disk / shot.rates.disk_read : 0.0;
  const double forward = std::max({link, written, stream.encode_seconds});
  const double backward = std::max({link, read, stream.decode_seconds});
  return stream.propagation_seconds + shot.image + stream.kernel_seconds +
         stream.device_seconds * kept + std::max(0.0, forward - shot.propagation) +
         std::max(0.0, backward - stream.backward_window);
}

/// Returns the kept bytes between `min` and `max` with the smallest time.
/// seconds_of() is convex and piecewise linear: the function evaluates its corners.
double best_kept(const Shot& shot, const Stream& stream, double min, double max, double host_room) {
  std::vector<double> ends{max, min, stream.bytes - host_room};
  const double pace = shot.has_link ? shot.rates.link / stream.link_bytes : infinite;
  for (const auto& [rate, window, threads] :
       {std::array<double, 3>{shot.rates.disk_write, shot.propagation, stream.encode_seconds},
        std::array<double, 3>{shot.rates.disk_read, stream.backward_window,
                              stream.decode_seconds}}) {
    for (const double seconds : {window, threads}) {
      if (shot.has_link) ends.push_back(stream.bytes - seconds * pace);
      if (shot.has_disk) ends.push_back(stream.bytes - host_room - seconds * rate);
    }
    // corner: equal times of link and disk
    if (shot.has_link && shot.has_disk && rate < pace) {
      ends.push_back(stream.bytes - host_room / (1.0 - rate / pace));
    }
  }
  double best = max, fastest = infinite;
  for (const double end : ends) {
    const double kept = std::clamp(std::ceil(end), min, max);
    const double seconds = seconds_of(shot, stream, kept, host_room);
    if (seconds < fastest) {
      best = kept;
      fastest = seconds;
    }
  }
  return best;
}

/// Returns the fastest placement of a stream.
Placement placement_of(const Shot& shot, const Stream& stream) {
  Placement best;
  for (const auto& [on_device, on_host, on_disk] :
       {std::array<bool, 3>{true, false, false}, std::array<bool, 3>{false, true, false},
        std::array<bool, 3>{true, true, false}, std::array<bool, 3>{false, false, true},
        std::array<bool, 3>{true, false, true}, std::array<bool, 3>{false, true, true},
        std::array<bool, 3>{true, true, true}}) {
    if ((on_device && !stream.may_stay) || (on_host && !shot.has_link) ||
        (on_disk && !shot.has_disk)) {
      continue;
    }
    // Pieces are indivisible: a location before the last one has a gap of up to a piece.
    const bool leaves = on_host || on_disk;
    double device_fixed = stream.device_fixed + (leaves ? stream.device_ring : 0.0) +
                          (on_device && leaves ? stream.piece : 0.0);
    // files: the queue, a snapshot in the file's thread, and one that waits for the queue
    double host_fixed = stream.host_fixed + (on_disk ? (file_queue + 2) * stream.piece : 0.0) +
                        (on_host && on_disk ? stream.piece : 0.0);
    if (!shot.has_link) {  // one memory only
      device_fixed += host_fixed;
      host_fixed = 0.0;
    }
    if (host_fixed > shot.host) continue;
    const double host_room = on_host ? shot.host - host_fixed : 0.0;
    const double disk_room = on_disk ? shot.disk : 0.0;
    const double min = std::max(0.0, stream.bytes - host_room - disk_room);
    if (min > 0.0 && !on_device) continue;
    best.min_device_bytes = std::min(best.min_device_bytes, device_fixed + min);
    if (device_fixed + min > shot.device) continue;
    const double max = on_device ? std::min(stream.bytes, shot.device - device_fixed) : 0.0;
    const double kept = best_kept(shot, stream, min, max, host_room);
    const double seconds = seconds_of(shot, stream, kept, host_room);
    if (!(seconds < best.seconds)) continue;
    best.seconds = seconds;
    best.on_device = kept;
    best.on_host = std::min(stream.bytes - kept, host_room);
    best.on_disk = stream.bytes - kept - best.on_host;
    best.device_bytes = device_fixed + kept;
    best.host_bytes = host_fixed + best.on_host;
    best.disk_bytes = best.on_disk;
  }
  return best;
}

std::string places_text(const Shot& shot, double device, double host, double disk) {
  const std::pair<const char*, double> locations[] = {
      {shot.has_link ? "on the device" : "in memory", device},
      {"in the host's memory", host},
      {"on the disk", disk}};
  int used = 0;
  for (const auto& entry : locations) used += entry.second > 0.0 ? 1 : 0;
  std::string text;
  for (const auto& [name, bytes] : locations) {
    if (bytes <= 0.0) continue;
    text += text.empty() ? "" : " and ";
    text += (used > 1 ? format_bytes(bytes) + " " : "") + name;
  }
  return text;
}

/// Returns the choice for a stream and its placement.
StorageChoice from_stream(const Shot& shot, const Stream& stream, std::string name) {
  const Placement placement = placement_of(shot, stream);
  StorageChoice result;
  result.propagation_seconds = 2.0 * shot.propagation;
  result.snapshots = shot.shape.snapshots;
  result.bytes = to_bytes(stream.bytes);
  result.min_device_bytes =
      placement.min_device_bytes < infinite ? to_bytes(placement.min_device_bytes) : never;
  result.possible = placement.seconds < infinite;
  result.name = std::move(name);
  if (result.possible) {
    result.seconds = placement.seconds;
    result.device_bytes = to_bytes(placement.device_bytes);
    result.host_bytes = to_bytes(placement.host_bytes);
    result.disk_bytes = to_bytes(placement.disk_bytes);
    result.name +=
        " " + places_text(shot, placement.on_device, placement.on_host, placement.on_disk);
  } else {
    result.seconds = infinite;
    result.reason = concat("they are ", format_bytes(stream.bytes), ", for which there is no room");
  }
  return result;
}

/// Returns the common part of streams of snapshots.
Stream snapshot_stream(const Shot& shot) {
  Stream stream;
  stream.bytes = shot.raw;
  stream.piece = shot.largest;
  stream.propagation_seconds = 2.0 * shot.propagation;
  stream.backward_window = shot.propagation;
  stream.device_ring = 2.0 * shot.largest;
  return stream;
}

StorageChoice keep_raw(const Shot& shot) {
  Stream stream = snapshot_stream(shot);
  // A copy writes snapshots; imaging reads them in place.
  stream.device_seconds = 2.0 / shot.rates.memory;
  StorageChoice result = from_stream(shot, stream, "raw snapshots");
  result.keep = StorageMethod::raw;
  result.lossless = true;
  return result;
}

StorageChoice keep_compressed(const Shot& shot, std::size_t number) {
  const CodecRate& codec = shot.rates.codecs[number];
  Stream stream = snapshot_stream(shot);
  stream.bytes =
      whole(shot.raw / codec.ratio + static_cast<double>(shot.shape.snapshots) * codec.entry_bytes);
  stream.piece = whole(shot.largest / codec.ratio + codec.entry_bytes);
  const double encode = shot.raw / codec.encode, decode = shot.raw / codec.decode;
  if (codec.host_threads) {
    stream.encode_seconds = encode;
    stream.decode_seconds = decode;
    stream.link_bytes = codec.ratio;
    stream.may_stay = !shot.has_link;
    stream.device_fixed = shot.has_link ? 0.0 : shot.largest;
    stream.host_fixed =
        (shot.rates.threads + 2) * shot.largest + shot.rates.threads * whole(codec.work_bytes);
  } else {
    stream.kernel_seconds = encode + decode;
    stream.device_fixed = shot.largest + whole(codec.work_bytes);  // decoded snapshot
    stream.device_ring = 2.0 * stream.piece;
  }
  std::string name = codec.keep == StorageMethod::blocks ? concat("blocks of ", codec.bits, " bits")
                     : codec.keep == StorageMethod::lorenzo ? std::string("Lorenzo differences")
                                                            : std::string("transformed blocks");
  if (codec.host_threads) name += " by threads of the host";
  StorageChoice result = from_stream(shot, stream, std::move(name));
  result.keep = codec.keep;
  result.codec = static_cast<int>(number);
  result.device_buffers = to_bytes(stream.device_fixed + (shot.has_link ? 0.0 : stream.host_fixed));
  result.host_buffers = shot.has_link ? to_bytes(stream.host_fixed) : 0;
  return result;
}

StorageChoice keep_faces(const Shot& shot) {
  const ShotShape& shape = shot.shape;
  double nodes = 0.0;
  for (int d = 0; d < shape.dims; ++d) {
    double area = 1.0;
    for (int e = 0; e < shape.dims; ++e) {
      if (e != d) area *= static_cast<double>(shape.interior[static_cast<std::size_t>(e)]);
    }
    nodes += 2.0 * area * shape.face_layers;
  }
  const double kept = std::ceil(static_cast<double>(shape.steps) / shape.face_interval);
  Stream stream;
  stream.piece = nodes * shape.face_bytes;
  stream.bytes = stream.piece * kept;
  stream.device_seconds = 2.0 / shot.rates.memory;
  stream.device_fixed = shot.state;  // wavefield propagated backward
  stream.device_ring = 2.0 * stream.piece;
  stream.propagation_seconds = 3.0 * shot.propagation;
  stream.backward_window = 2.0 * shot.propagation;
  const std::string which =
      shape.face_interval == 1 ? "every step" : concat("every ", shape.face_interval, "th step");
  StorageChoice result = from_stream(shot, stream, "faces of " + which + ", stepped back,");
  result.keep = StorageMethod::boundary_values;
  result.snapshots = 0;
  result.sweeps = 2.0;
  return result;
}

/// Locations of states and of the snapshots of a segment.
struct ReplayPlaces {
  enum class Where { device, host, disk };
  Where states, snapshots;
};

StorageChoice keep_states(const Shot& shot) {
  using Where = ReplayPlaces::Where;
  const std::int64_t all = shot.shape.snapshots;
  StorageChoice best;
  best.keep = StorageMethod::checkpoints;
  best.lossless = true;
  best.propagation_seconds = 2.0 * shot.propagation;
  best.seconds = infinite;
  best.min_device_bytes = to_bytes(shot.state);  // recomputed wavefield
  best.possible = false;
  for (const ReplayPlaces& locations :
       {ReplayPlaces{Where::device, Where::device}, ReplayPlaces{Where::device, Where::host},
        ReplayPlaces{Where::host, Where::device}, ReplayPlaces{Where::host, Where::host},
        ReplayPlaces{Where::disk, Where::device}, ReplayPlaces{Where::disk, Where::host}}) {
    const bool uses_host = locations.states == Where::host || locations.snapshots == Where::host;
    if ((uses_host && !shot.has_link) || (locations.states == Where::disk && !shot.has_disk))
      continue;
    const double buffer = locations.states == Where::disk ? shot.state : 0.0;
    for (std::int64_t length = 1; length <= std::max<std::int64_t>(all / 2, 1); ++length) {
      const std::int64_t segments = (all + length - 1) / length;
      // Imaging uses a single snapshot in the wavefield, without a copy.
      const double snapshots = length > 1 ? static_cast<double>(length) * shot.largest : 0.0;
      double device = shot.state, host = 0.0;
      (shot.has_link ? host : device) += buffer;
      (locations.snapshots == Where::host ? host : device) += snapshots;
      if (device > shot.device || host > shot.host) continue;
      const double room = locations.states == Where::device ? shot.device - device
                          : locations.states == Where::host ? shot.host - host
                                                            : shot.disk;
      // All first states of segments over the propagation, or some of them, possibly late ones.
      const auto others = static_cast<double>(segments - 1);
      std::int64_t states = segments;
      // each state of a device has the memory of a wavefield, whatever its box
      double kept = others * (locations.states == Where::device ? shot.state : shot.mean_state);
      if (kept > room) {
        states = 1 + static_cast<std::int64_t>(std::min(std::floor(room / shot.state), others));
        kept = static_cast<double>(states - 1) * shot.state;
      }
      const double advances = static_cast<double>(replay_advances(segments, states)) + 1.0;
      const double sweeps =
          (advances * static_cast<double>(length) + static_cast<double>(segments * (length - 1))) /
          static_cast<double>(all);
      // A state is stored once and restored once per later segment of its part: at most once a
      // segment.
      const double moved = others * shot.state;
      double seconds = shot.propagation * (sweeps + 1.0) + shot.image;
      if (locations.states == Where::host) seconds += 2.0 * moved / shot.rates.link;
      if (locations.states == Where::disk) {
        seconds += moved / shot.rates.disk_write + moved / shot.rates.disk_read;
      }
      if (length > 1 && locations.snapshots == Where::device) {
        seconds += 2.0 * shot.raw / shot.rates.memory;
      }
      if (length > 1 && locations.snapshots == Where::host) {
        seconds += 2.0 * std::max(0.0, shot.raw / shot.rates.link - shot.propagation);
      }
      if (!(seconds < best.seconds)) continue;
      best.possible = true;
      best.seconds = seconds;
      best.snapshots = length;
      best.states = states;
      best.sweeps = sweeps;
      best.bytes = to_bytes(kept + snapshots);
      (locations.states == Where::device ? device : host) +=
          locations.states == Where::disk ? 0.0 : kept;
      best.device_bytes = to_bytes(device);
      best.host_bytes = to_bytes(host);
      best.disk_bytes = locations.states == Where::disk ? to_bytes(kept) : 0;
      const double on_device = (locations.states == Where::device ? kept : 0.0) +
                               (locations.snapshots == Where::device ? snapshots : 0.0);
      const double on_host = (locations.states == Where::host ? kept : 0.0) +
                             (locations.snapshots == Where::host ? snapshots : 0.0);
      const double on_disk = locations.states == Where::disk ? kept : 0.0;
      const std::string where = places_text(shot, on_device, on_host, on_disk);
      best.name =
          concat("replay from ", text::counted(states, "state"), ", ",
                 text::counted(length, "snapshot"), " at a time", where.empty() ? "" : ", ", where);
    }
  }
  if (!best.possible) {
    best.name = "replay from states";
    best.reason =
        concat("a second wavefield is ", format_bytes(shot.state), ", for which there is no room");
  }
  return best;
}

/// Returns why the error bound excludes a method; empty if it does not.
std::string refused_by(const ErrorBound& accuracy, const StorageChoice& strategy,
                       const Rates& rates, const ShotShape& shape) {
  if (strategy.lossless) return {};
  const bool faces = strategy.keep == StorageMethod::boundary_values;
  const CodecRate none;
  const CodecRate& codec = faces ? none : rates.codecs[static_cast<std::size_t>(strategy.codec)];
  const double bound = faces ? shape.face_error : codec.bound;
  const double snr = faces ? -20.0 * std::log10(shape.face_error) : codec.snr;
  switch (accuracy.kind) {
    case ErrorBound::Kind::lossless:
      return "it is not lossless";
    case ErrorBound::Kind::bound:
      if (bound <= accuracy.value) return {};
      return concat("its error is up to ", bound, " of the largest value");
    case ErrorBound::Kind::snr:
      if (snr >= accuracy.value) return {};
      return concat("it has ", snr, " dB");
    case ErrorBound::Kind::bits:
      if (codec.keep == StorageMethod::blocks && codec.bits >= accuracy.value && !faces) return {};
      return concat("it has no blocks of ", accuracy.value, " bits");
  }
  return {};
}

bool comes_before(const StorageChoice& a, const StorageChoice& b) {
  if (a.possible != b.possible) return a.possible;
  if (a.seconds != b.seconds) return a.seconds < b.seconds;
  if (a.lossless != b.lossless) return a.lossless;
  return a.bytes < b.bytes;
}

std::string cost_text(const StorageChoice& strategy) {
  std::ostringstream out;
  out.precision(3);
  out << strategy.name << " (" << strategy.seconds << " s, " << strategy.relative()
      << " of the two legs)";
  return out.str();
}

}  // namespace

double highest_of_products(const std::vector<double>& wavelet, double dt) {
  return wave::highest_frequency(wavelet, dt, 0.003);
}

std::int64_t snapshot_interval(const std::vector<double>& wavelet, double dt) {
  const double highest = highest_of_products(wavelet, dt);
  const double steps = std::floor(1.0 / (2.0 * highest * dt) * (1.0 + 1e-12));
  return std::max<std::int64_t>(static_cast<std::int64_t>(steps), 1);
}

const char* to_string(StorageMethod keep) {
  constexpr const char* names[] = {"raw",   "blocks", "lorenzo", "transform",
                                   "faces", "replay", "random"};
  return names[static_cast<int>(keep)];
}

std::vector<StorageChoice> strategies(const ShotShape& shape, const Rates& rates,
                                      const Budget& budget, const ErrorBound& accuracy) {
  check(shape);
  check(rates);
  check(accuracy);
  const Shot shot(shape, rates, budget);
  std::vector<StorageChoice> result{keep_raw(shot)};
  for (std::size_t n = 0; n < rates.codecs.size(); ++n) result.push_back(keep_compressed(shot, n));
  result.push_back(keep_faces(shot));
  result.push_back(keep_states(shot));
  for (StorageChoice& strategy : result) {
    std::string why = refused_by(accuracy, strategy, rates, shape);
    strategy.accurate = why.empty();
    if (strategy.keep == StorageMethod::boundary_values && !shape.reversible) {
      why = "sponges or CPML inside of the interior take energy that stepping back cannot return";
    }
    if (why.empty()) continue;
    strategy.possible = false;
    strategy.min_device_bytes = never;
    strategy.reason = std::move(why);
  }
  std::stable_sort(result.begin(), result.end(), comes_before);
  return result;
}

StorageChoice random_layers(const ShotShape& shape, const Rates& rates, const Budget& budget) {
  check(shape);
  check(rates);
  require(is_positive(shape.random_nodes), "random_nodes", shape.random_nodes, "positive");
  const Shot shot(shape, rates, budget);
  const double source = shape.random_nodes * static_cast<double>(shape.steps) / rates.points;
  StorageChoice result;
  result.keep = StorageMethod::random_layers;
  result.name = "random layers";
  result.sweeps = 2.0;
  result.bytes = to_bytes(whole(shape.random_bytes + shot.largest));
  result.device_bytes = result.min_device_bytes = result.bytes;
  result.propagation_seconds = 2.0 * shot.propagation;
  // forward, back, and a snapshot that is written and read
  result.seconds = shot.propagation + 2.0 * source + shot.image + 2.0 * shot.raw / rates.memory;
  result.possible = static_cast<double>(result.bytes) <= shot.device;
  return result;
}

StorageChoice choose_strategy(const ShotShape& shape, const Rates& rates, const Budget& budget,
                              const ErrorBound& accuracy) {
  const std::vector<StorageChoice> all = strategies(shape, rates, budget, accuracy);
  StorageChoice best = all.front();
  if (!best.possible) {
    // Checkpoints are lossless: at least one method has a sufficient budget.
    const StorageChoice& min = *std::min_element(
        all.begin(), all.end(), [](const StorageChoice& a, const StorageChoice& b) {
          return a.min_device_bytes < b.min_device_bytes;
        });
    throw InputError(concat(
        "strategy: ", budget.device, " bytes ", rates.link > 0.0 ? "on the device" : "of memory",
        ", besides the model and a wavefield, are too few to keep a forward leg "
        "(allowed: ",
        min.min_device_bytes, " bytes or more, ",
        format_bytes(static_cast<double>(min.min_device_bytes)), ", for ", to_string(min.keep),
        "): give more, or a smaller window"));
  }
  best.reason = "the quickest of those that fit and are accurate enough: " + cost_text(best);
  int reported = 0;
  for (std::size_t n = 1; n < all.size() && reported < 2; ++n) {
    if (!all[n].possible) continue;
    best.reason += (reported++ == 0 ? "; then " : ", ") + cost_text(all[n]);
  }
  if (reported == 0) best.reason += "; nothing else is possible";
  return best;
}

}  // namespace moho::snapshot
