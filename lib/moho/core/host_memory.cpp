// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/host_memory.hpp>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace moho {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

// Names of the files of a version of control groups.
struct Names {
  const char* limit;
  const char* usage;
  const char* pages[2];  // sizes of the page cache, in memory.stat
};
constexpr Names version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
constexpr Names version_2{"memory.max", "memory.current", {"inactive_file", "active_file"}};

// Returns the integer in a file; unlimited for "max" and for a missing file.
std::uint64_t number_in(const fs::path& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return unlimited;
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == word.data() + word.size() ? value : unlimited;
}

// Returns the bytes that the limit of one group leaves.
std::uint64_t left_in(const fs::path& group, const Names& names) {
  const std::uint64_t limit = number_in(group / names.limit);
  const std::uint64_t usage = number_in(group / names.usage);
  // version 1 writes a number near 2^63 for "no limit"
  if (limit > unlimited / 4 || usage == unlimited) return unlimited;
  std::uint64_t pages = 0;
  std::ifstream stat(group / "memory.stat");
  std::string key;
  std::uint64_t value = 0;
  while (stat >> key >> value) {
    if (key == names.pages[0] || key == names.pages[1]) pages += value;
  }
  const std::uint64_t taken = usage - std::min(usage, pages);
  return limit - std::min(limit, taken);
}

// Returns true if a list of words separated by commas contains a word.
bool lists(const std::string& words, const std::string& word) {
  std::istringstream list(words);
  std::string one;
  while (std::getline(list, one, ',')) {
    if (one == word) return true;
  }
  return false;
}

// Root and mount point of a hierarchy of control groups with the memory controller.
struct Mount {
  std::string root, point;
  bool found = false;
};

Mount find_mount(const fs::path& mountinfo, bool second) {
  std::ifstream file(mountinfo);
  std::string line;
  Mount mount;
  while (std::getline(file, line)) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream front(line.substr(0, dash)), back(line.substr(dash + 3));
    std::string id, parent, device, type, source, options;
    Mount candidate;
    front >> id >> parent >> device >> candidate.root >> candidate.point;
    back >> type >> source >> options;
    const bool fits = second ? type == "cgroup2" : type == "cgroup" && lists(options, "memory");
    if (!fits) continue;
    mount = candidate;
    mount.found = true;
  }
  return mount;
}

// Returns the path of this process's group in the hierarchy of the memory controller.
std::string find_group(const fs::path& cgroup, bool second) {
  std::ifstream file(cgroup);
  std::string line;
  while (std::getline(file, line)) {
    const auto first = line.find(':');
    const auto last = first == std::string::npos ? first : line.find(':', first + 1);
    if (last == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, last - first - 1);
    const bool fits = second ? line.compare(0, first, "0") == 0 && controllers.empty()
                             : lists(controllers, "memory");
    if (fits) return line.substr(last + 1);
  }
  return {};
}

std::uint64_t left_in_groups(const fs::path& root, bool second) {
  const Mount mount = find_mount(root / "proc/self/mountinfo", second);
  if (!mount.found) return unlimited;
  const fs::path top = root / fs::path(mount.point).relative_path();
  std::string group = find_group(root / "proc/self/cgroup", second);
  if (mount.root != "/" && group.rfind(mount.root, 0) == 0) group.erase(0, mount.root.size());
  fs::path at = (top / fs::path(group).relative_path()).lexically_normal();
  std::error_code error;
  // a container may mount the group itself as the root of the hierarchy
  if (!fs::is_directory(at, error)) at = top;
  std::uint64_t left = unlimited;
  const std::size_t min = top.lexically_normal().string().size();
  while (true) {
    left = std::min(left, left_in(at, second ? version_2 : version_1));
    if (at.string().size() <= min || !at.has_relative_path()) return left;
    at = at.parent_path();
  }
}

}  // namespace

HostMemory host_memory(const fs::path& root) {
  HostMemory memory;
  memory.bytes = std::size_t(1) << 32;
  std::ifstream info(root / "proc/meminfo");
  std::string key, unit;
  std::size_t kib = 0;
  while (info >> key >> kib >> unit) {
    if (key != "MemAvailable:") continue;
    memory.bytes = kib * 1024;
    break;
  }
  for (const bool second : {false, true}) {
    const std::uint64_t left = left_in_groups(root, second);
    if (left >= memory.bytes) continue;
    memory.bytes = static_cast<std::size_t>(left);
    memory.of_control_group = true;
  }
  return memory;
}

}  // namespace moho
