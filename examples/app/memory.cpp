// SPDX-License-Identifier: BSD-3-Clause
#include "app/memory.hpp"

#include <moho/core/host_memory.hpp>
#include <moho/core/space.hpp>
#include <moho/io/array.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

namespace moho::examples {

namespace {

// Bytes left in the limited address space of this process, plus MemoryEstimate::process.
// Empty if the address space is not limited.
std::optional<double> room_of_process() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  double pages = 0.0;
  std::ifstream("/proc/self/statm") >> pages;
  const double taken = pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double room = static_cast<double>(limit.rlim_cur) - taken;
  // allocators and threads reserve more addresses than they use
  return std::max(0.9 * room, 0.0) + MemoryEstimate::process;
}

}  // namespace

MemoryLimit memory_limit(const CommonOptions& options, bool on_host, int sharing) {
  const HostMemory left = host_memory();
  MemoryLimit limit;
  limit.bytes = limit.shown = std::floor(static_cast<double>(left.bytes) / 20.0 * 19.0 / sharing);
  limit.why = left.of_control_group ? "the limit of this process's control group" : "what is free";
  if (sharing > 1) limit.why += concat(" for each of ", sharing, " ranks of this machine");
  if (const auto room = room_of_process(); room && *room < limit.bytes) {
    limit.bytes = *room;
    limit.shown = std::max(*room - MemoryEstimate::process, 0.0);
    limit.why = "the limit of this process's address space, ulimit -v";
  }
  const auto requested = static_cast<double>(options.memory);
  if (on_host && options.memory > 0 && requested + MemoryEstimate::process < limit.bytes)
    limit = {requested + MemoryEstimate::process, requested, "the --memory given"};
  return limit;
}

void MemoryEstimate::add(Items& items, double bytes, const std::string& what) {
  for (auto& [name, sum] : items) {
    if (name != what) continue;
    sum += bytes;
    return;
  }
  items.emplace_back(what, bytes);
}

void MemoryEstimate::picture(double bytes, double limit) {
  const double all = plotting_bytes + bytes;
  m_left_out = m_now + all > limit ? all : 0.0;
  if (m_left_out == 0.0) pass(all, "the picture");
}

std::string MemoryEstimate::largest(bool with_program) const {
  Items items = m_largest;
  if (with_program) items.emplace_back("the program", process);
  std::stable_sort(items.begin(), items.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(items.size(), 4); ++k) {
    if (items[k].second < 1.0) break;
    text += concat(k > 0 ? ", " : "", items[k].first, " ", format_bytes(items[k].second));
  }
  return text;
}

std::string why_no_picture(const MemoryEstimate& estimate, const MemoryLimit& limit) {
  if (estimate.left_out() == 0.0) return {};
  const double taken = estimate.now() - (limit.bytes - limit.shown);
  return concat("drawing takes ", format_bytes(estimate.left_out()), " of memory besides ",
                format_bytes(std::max(taken, 0.0)),
                " of the run (allowed: ", format_bytes(limit.shown), ", ", limit.why,
                "): give more memory, or run the plot program later");
}

void check_memory(const std::string& what, const MemoryEstimate& estimate, const MemoryLimit& limit,
                  const std::string& advice, bool in_all) {
  if (estimate.max() <= limit.bytes) return;
  throw MemoryError(concat(
      "memory: ", what, in_all ? " takes " : " takes at least ",
      format_bytes(estimate.max() - (limit.bytes - limit.shown)),
      in_all ? " of memory in all (allowed: " : " of memory (allowed: ", format_bytes(limit.shown),
      ", ", limit.why, "; ", estimate.largest(limit.bytes == limit.shown), "): ", advice));
}

std::string fitting_shape(const std::vector<std::int64_t>& shape, double each, double room) {
  double nodes = 1.0;
  for (const std::int64_t n : shape) nodes *= static_cast<double>(n);
  const double part = std::pow(std::max(room, 0.0) / (nodes * each),
                               1.0 / static_cast<double>(std::max<std::size_t>(shape.size(), 1)));
  std::vector<std::int64_t> fits;
  for (const std::int64_t n : shape) {
    fits.push_back(static_cast<std::int64_t>(std::floor(static_cast<double>(n) * part)));
    if (fits.back() < 2) return "give it more memory";
  }
  return concat("some ", io::shape_string(fits), " nodes would fit");
}

MemoryError with_advice(const MemoryError& error, const std::string& option,
                        const std::string& advice) {
  const std::string requested = ", as asked";
  std::string text = error.what();
  const auto at = text.find(requested);
  if (at != std::string::npos)
    text.replace(at, requested.size(), concat(", the ", option, " given"));
  if (text.rfind("a device memory", 0) == 0) text = concat(option, ": ", text);
  return MemoryError(text + advice);
}

Json memory_json(const MemoryEstimate& estimate, const MemoryLimit& limit) {
  return Json::object({{"estimate_bytes", std::ceil(estimate.max())},
                       {"allowed_bytes", limit.bytes},
                       {"allowed_by", limit.why}});
}

TableNeed need_of_table(const std::string& path) {
  TableNeed need;
  try {
    if (std::filesystem::path(path).extension() == ".npy") {
      const io::NpyLayout layout = io::peek_npy(path);
      need.values = static_cast<double>(std::max<std::int64_t>(io::shape_size(layout.shape), 0));
      if (layout.fortran) need.passing = 8.0 * need.values;
      return need;
    }
    const io::InputFile file(path);
    const std::string start = file.text(std::uint64_t{1} << 16);
    if (start.empty()) return need;
    // a number begins where text follows a separator; comments and a line of names hold no numbers
    double numbers = 0.0, header = 0.0;
    std::size_t at = 0;
    bool first = true;
    while (at < start.size()) {
      const std::size_t end = std::min(start.find('\n', at), start.size());
      const std::string line = start.substr(at, end - at);
      const std::size_t begin = line.find_first_not_of(" \t\r");
      const bool blank = begin == std::string::npos;
      const bool names = !blank && first && line.find_first_of("0123456789+-.", begin) != begin;
      if (blank || line[begin] == '#' || names) {
        header += static_cast<double>(std::min(end + 1, start.size()) - at);
      } else {
        bool inside = false;
        for (const char c : line) {
          const bool separates = c == ' ' || c == ',' || c == ';' || c == '\t' || c == '\r';
          numbers += !separates && !inside ? 1.0 : 0.0;
          inside = !separates;
        }
      }
      first = first && (blank || line[begin] == '#');
      at = end + 1;
    }
    const auto bytes = static_cast<double>(file.size());
    const double counted = static_cast<double>(start.size()) - header;
    need.values = counted > 0.0 ? numbers * (bytes - header) / counted : 0.0;
    // the text, and the spare capacity of a growing list
    need.passing = bytes + 16.0 * need.values;
  } catch (const Error&) {
    return {};
  }
  return need;
}

void check_host_memory(const std::string& what, double bytes, const std::string& advice,
                       const std::string& whose) {
  const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
  const auto allowed = static_cast<double>(memory_budget(host, 0, 1));
  if (bytes <= allowed) return;
  throw MemoryError(concat(what, " ", format_bytes(bytes), " of ", whose,
                           " (allowed: ", format_bytes(allowed), ", what is free): ", advice));
}

}  // namespace moho::examples
