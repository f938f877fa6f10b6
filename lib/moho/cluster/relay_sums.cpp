// SPDX-License-Identifier: BSD-3-Clause
//
// Remote sites, remote side: sums of shots.
#include <moho/cluster/detail/relay_sums.hpp>
#include <moho/cluster/result.hpp>
#include <moho/cluster/text.hpp>
#include <moho/core/error.hpp>
#include <moho/io/input_file.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace moho::cluster::detail {

namespace {

namespace fs = std::filesystem;
constexpr const char* shots_name = "sum.txt";  // file with the shots of a sum

// Makes an empty folder for temporary files.
fs::path empty_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  make_private_folders(path);
  return path;
}

void pack_sum(const ShotSum& sum, const fs::path& folder, const Work& work, std::int64_t shot) {
  const fs::path files = empty_folder(folder / "sum");
  sum.write(files);
  pack_result(folder, sum_name, work, shot, files);
  fs::remove_all(files);
}

// A job of a request.
struct Taken {
  fs::path chunk;
  Work work;
  std::set<std::int64_t> shots;
};

fs::path chunk_of_job(const fs::path& folder, const std::string& token) {
  if (!is_safe_name(token, 200))
    throw InputError(concat("'", token, "' is not the token of a job"));
  return folder.parent_path() / token.substr(0, token.rfind('.'));
}

std::set<std::int64_t> read_shot_set(const std::string& list) {
  std::vector<Task> tasks;
  if (!read_shots(list, tasks)) throw InputError("the request has an invalid list of shots");
  std::set<std::int64_t> shots;
  for (const Task& task : tasks) shots.insert(task.shot);
  return shots;
}

Taken read_take(const fs::path& folder, const std::string& token, const std::string& list) {
  Taken taken;
  taken.chunk = chunk_of_job(folder, token);
  const fs::path file = files_of(taken.chunk, token).job;
  const std::string text = io::InputFile(file).text(std::uint64_t{1} << 30);
  taken.work = parse_job(text, file.string(), read_key(folder)).first;
  taken.shots = read_shot_set(list);
  return taken;
}

// Adds the sum that a chunk has written. Returns false if it cannot be used.
bool merge_chunk(const fs::path& chunk, const std::set<std::int64_t>& shots, const Work& work,
                 const fs::path& folder, const SumFactory& make_sum,
                 std::unique_ptr<ShotSum>& sum) {
  try {
    check_result(chunk, sum_name, work, *shots.begin());
    const fs::path files = empty_folder(folder / "part");
    unpack_result(chunk / sum_name, files, work.key, true);
    auto part = make_sum();
    part->merge(files);
    const bool same = part->shots() == shots;
    if (same && sum->shots().empty()) {
      sum = std::move(part);
    } else if (same) {
      sum->merge(files);
    }
    fs::remove_all(files);
    return same;
  } catch (const Error&) {
    return false;  // its shots are added from their results
  }
}

// Adds the results of shots, without those that a sum has.
void add_results(const Taken& taken, const std::set<std::int64_t>& without, const fs::path& folder,
                 const fs::path& arrays, ShotSum& sum) {
  std::map<std::int64_t, std::string> files;
  for (const ShotResult& result : read_journal(taken.chunk / "journal.txt").results) {
    files[result.shot] = result.file;
  }
  for (const std::int64_t shot : taken.shots) {
    if (without.count(shot) > 0) continue;
    const auto at = files.find(shot);
    if (at == files.end()) throw FileError(concat("shot ", shot, ": its result is missing"));
    check_result(taken.chunk, at->second, taken.work, shot);
    const fs::path own = empty_folder(folder / "shot");
    unpack_result(taken.chunk / at->second, own, taken.work.key, true);
    sum.add(shot, own, arrays);
    fs::remove_all(own);
  }
}

bool are_disjoint(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](std::int64_t shot) { return b.count(shot) > 0; });
}

// Adds sums that chunks have written, the largest first. Returns their shots.
std::set<std::int64_t> merge_chunks(const std::vector<Taken>& all, const fs::path& folder,
                                    const SumFactory& make_sum, std::unique_ptr<ShotSum>& sum) {
  std::set<std::int64_t> requested, merged;
  std::vector<std::pair<std::set<std::int64_t>, const Taken*>> sums;
  for (const Taken& taken : all) {
    requested.insert(taken.shots.begin(), taken.shots.end());
    sums.emplace_back(shots_of_sum(taken.chunk), &taken);
  }
  std::stable_sort(sums.begin(), sums.end(),
                   [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  for (const auto& [shots, taken] : sums) {
    if (shots.empty() || !are_disjoint(shots, merged)) continue;
    if (!std::includes(requested.begin(), requested.end(), shots.begin(), shots.end())) continue;
    if (!merge_chunk(taken->chunk, shots, taken->work, folder, make_sum, sum)) continue;
    merged.insert(shots.begin(), shots.end());
  }
  return merged;
}

}  // namespace

void add_to_sum(ShotSum& sum, const fs::path& folder, const Work& work, std::int64_t shot,
                const fs::path& result) {
  const fs::path own = empty_folder(folder / "stack");
  unpack_result(result, own, work.key, true);
  sum.add(shot, own);
  const ShotResult report = pack_result(folder, report_name(shot), work, shot, own);
  fs::last_write_time(folder / report.file, fs::last_write_time(result));
  fs::remove_all(own);
}

std::set<std::int64_t> shots_of_sum(const fs::path& chunk) {
  std::error_code error;
  if (!fs::exists(chunk / sum_name, error) || !fs::exists(chunk / shots_name, error)) return {};
  try {
    const std::string text = io::InputFile(chunk / shots_name).text(std::uint64_t{1} << 30);
    return read_shot_set(std::string(remove_checksum(split_lines(text).at(0)).value_or("")));
  } catch (const std::exception&) {
    return {};  // not complete
  }
}

std::unique_ptr<ShotSum> resume_sum(const fs::path& folder, const Work& work, const Job& job,
                                    const SumFactory& make_sum) {
  std::set<std::int64_t> own, shots;
  for (const Task& task : job.tasks) own.insert(task.shot);
  // chunks of one run of an evaluation differ in the number after the last point
  const std::string name = folder.filename().string(), stem = name.substr(0, name.rfind('.') + 1);
  fs::path base;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.parent_path(), error)) {
    const fs::path& chunk = entry.path();
    if (chunk.filename().string().rfind(stem, 0) != 0 || chunk.filename() == name) continue;
    std::set<std::int64_t> found = shots_of_sum(chunk);
    if (found.size() <= shots.size() || !are_disjoint(found, own)) continue;
    base = chunk;
    shots = std::move(found);
  }
  auto sum = make_sum();
  if (!shots.empty()) merge_chunk(base, shots, work, folder, make_sum, sum);
  return sum;
}

bool link_requested_sum(const fs::path& folder, const Settings& takes) {
  std::error_code error;
  if (fs::exists(folder / "relay.end", error)) return true;
  std::set<std::int64_t> requested;
  for (const auto& [token, list] : takes) {
    const auto shots = read_shot_set(list);
    requested.insert(shots.begin(), shots.end());
  }
  for (const auto& [token, list] : takes) {
    const fs::path chunk = chunk_of_job(folder, token);
    if (shots_of_sum(chunk) != requested) continue;
    fs::remove(folder / sum_name, error);
    fs::create_hard_link(chunk / sum_name, folder / sum_name, error);
    if (error) return false;
    write_private_text(folder / "relay.end", add_checksum(join_words({"exit", "0"})));
    return true;
  }
  return false;
}

void write_sum(const ShotSum& sum, const fs::path& folder, const Work& work) {
  if (sum.closed() || sum.shots().empty()) return;
  std::error_code error;
  fs::remove(folder / shots_name, error);
  pack_sum(sum, folder, work, *sum.shots().begin());
  std::vector<Task> tasks;
  for (const std::int64_t shot : sum.shots()) tasks.push_back({shot, 1.0});
  write_private_text(folder / shots_name, add_checksum(shots_text(tasks)));
}

int make_requested_sum(const fs::path& folder, const Settings& takes, const Settings& settings,
                       const SumFactory& make_sum) {
  std::string end;
  int exit = 0;
  const auto line = [&](const std::vector<std::string>& words) {
    end += add_checksum(join_words(words));
  };
  try {
    if (!make_sum) throw InputError("this program makes no sums of shots");
    bool arrays = std::any_of(settings.begin(), settings.end(),
                              [](const auto& setting) { return setting.first == "arrays"; });
    std::vector<Taken> all;
    for (const auto& [token, list] : takes) all.push_back(read_take(folder, token, list));
    std::int64_t first = *all.front().shots.begin();
    for (const Taken& taken : all) first = std::min(first, *taken.shots.begin());
    auto sum = make_sum();
    if (!arrays) {
      const auto merged = merge_chunks(all, folder, make_sum, sum);
      for (const Taken& taken : all) {
        if (!sum->closed()) add_results(taken, merged, folder, {}, *sum);
      }
      arrays = sum->closed();
    }
    if (arrays) {
      sum = make_sum();
      const fs::path files = empty_folder(folder / "arrays");
      for (const Taken& taken : all) add_results(taken, {}, folder, files, *sum);
      pack_result(folder, sum_name, all.front().work, first, files);
      fs::remove_all(files);
    } else {
      pack_sum(*sum, folder, all.front().work, first);
    }
  } catch (const std::exception& error) {
    line({"unusable", error.what()});
    exit = 2;
  }
  line({"exit", std::to_string(exit)});
  write_private_text(folder / "relay.end", end);
  return exit;
}

}  // namespace moho::cluster::detail
