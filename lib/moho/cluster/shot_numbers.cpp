// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/shot_numbers.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

namespace moho::cluster {

namespace {

// Shots first, first + step, ..., last.
struct ShotRange {
  std::int64_t first = 0, last = 0, step = 1;
};

// Parses "7", "1-24" or "1-99:2"; `last` becomes the last shot of the range.
ShotRange parse_range(const std::string& name, const std::string& part) {
  const auto bad = [&] {
    return InputError(concat(name, ": '", part,
                             "' (allowed: numbers from 0, and ranges such as 1-24 or 1-99:2, with "
                             "commas)"));
  };
  const std::size_t colon = part.find(':');
  const std::string range = part.substr(0, colon);
  const std::size_t dash = range.find('-');
  ShotRange r;
  if (!read_number(std::string_view(range).substr(0, dash), r.first) || r.first < 0) {
    throw bad();
  }
  r.last = r.first;
  if (dash != std::string::npos &&
      (!read_number(std::string_view(range).substr(dash + 1), r.last) || r.last < r.first)) {
    throw bad();
  }
  if (colon != std::string::npos &&
      (!read_number(std::string_view(part).substr(colon + 1), r.step) || r.step < 1)) {
    throw bad();
  }
  r.last -= (r.last - r.first) % r.step;
  return r;
}

// Returns the smallest shot in both ranges: x = a.first (mod a.step), x = b.first (mod b.step).
std::optional<std::int64_t> common_shot(const ShotRange& a, const ShotRange& b) {
  __extension__ typedef __int128 Wide;  // products of two 63-bit numbers
  const std::int64_t divisor = std::gcd(a.step, b.step);
  const std::int64_t distance = b.first - a.first;
  if (distance % divisor != 0) return std::nullopt;
  // inverse of a.step / divisor modulo b.step / divisor, by Euclid's algorithm
  const std::int64_t modulus = b.step / divisor;
  Wide r0 = modulus, r1 = (a.step / divisor) % modulus, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Wide quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  Wide count = (static_cast<Wide>(distance / divisor) % modulus) * t0 % modulus;
  if (count < 0) count += modulus;
  Wide shot = a.first + count * a.step;
  const Wide period = static_cast<Wide>(a.step) * modulus;
  const std::int64_t lowest = std::max(a.first, b.first);
  if (shot < lowest) shot += (lowest - shot + period - 1) / period * period;
  if (shot > std::min(a.last, b.last)) return std::nullopt;
  return static_cast<std::int64_t>(shot);
}

void check_stop(const std::string& name, const std::function<bool()>& stop) {
  if (stop && stop()) throw Error(name + ": ended by a signal while the list was read");
}

// Throws if two ranges contain the same shot.
void check_each_once(const std::string& name, std::vector<ShotRange> ranges,
                     const std::function<bool()>& stop) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ShotRange& a, const ShotRange& b) { return a.first < b.first; });
  std::vector<ShotRange> active;  // ranges that reach the first shot of the present range
  for (const ShotRange& range : ranges) {
    check_stop(name, stop);
    active.erase(std::remove_if(active.begin(), active.end(),
                                [&](const ShotRange& other) { return other.last < range.first; }),
                 active.end());
    for (const ShotRange& other : active) {
      if (const auto shot = common_shot(other, range)) {
        throw InputError(concat(name, ": the shot ", *shot,
                                " is repeated (allowed: each number once): remove one"));
      }
    }
    active.push_back(range);
  }
}

}  // namespace

std::vector<Task> parse_shots(const std::string& list, const std::string& name,
                              const std::function<bool()>& stop) {
  std::vector<ShotRange> ranges;
  double count = 0.0;  // may exceed 64 bits
  for (const std::string& part : text::split(list, ',')) {
    check_stop(name, stop);
    const ShotRange r = parse_range(name, part);
    ranges.push_back(r);
    count += static_cast<double>((r.last - r.first) / r.step) + 1.0;
  }
  if (count > static_cast<double>(max_listed_shots)) {
    throw InputError(concat(name, ": the list has ", count, " shots (allowed: up to ",
                            max_listed_shots, " in a run): divide it among several journals"));
  }
  check_each_once(name, ranges, stop);
  std::vector<Task> tasks;
  tasks.reserve(static_cast<std::size_t>(count));
  for (const ShotRange& r : ranges) {
    check_stop(name, stop);
    const std::int64_t steps = (r.last - r.first) / r.step;
    for (std::int64_t k = 0; k <= steps; ++k) tasks.push_back({r.first + k * r.step, 1.0});
  }
  return tasks;
}

}  // namespace moho::cluster
