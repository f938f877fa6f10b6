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
  std::vector<std::int64_t> shots;
};

Taken read_take(const fs::path& folder, const std::string& token, const std::string& list) {
  if (!is_safe_name(token, 200))
    throw InputError(concat("'", token, "' is not the token of a job"));
  Taken taken;
  taken.chunk = folder.parent_path() / token.substr(0, token.rfind('.'));
  const fs::path file = files_of(taken.chunk, token).job;
  const std::string text = io::InputFile(file).text(std::uint64_t{1} << 30);
  taken.work = parse_job(text, file.string(), read_key(folder)).first;
  std::vector<Task> tasks;
  if (!read_shots(list, tasks)) throw InputError("the request has an invalid list of shots");
  for (const Task& task : tasks) taken.shots.push_back(task.shot);
  return taken;
}

// Adds the sum of a chunk if it has exactly the requested shots.
bool merge_chunk(const Taken& taken, const fs::path& folder, const SumFactory& make_sum,
                 ShotSum& sum) {
  std::error_code error;
  if (!fs::exists(taken.chunk / sum_name, error)) return false;
  try {
    check_result(taken.chunk, sum_name, taken.work, taken.shots.front());
    const fs::path files = empty_folder(folder / "part");
    unpack_result(taken.chunk / sum_name, files, taken.work.key);
    const auto part = make_sum();
    part->merge(files);
    const std::set<std::int64_t> shots(taken.shots.begin(), taken.shots.end());
    const bool same = part->shots() == shots;
    if (same) sum.merge(files);
    fs::remove_all(files);
    return same;
  } catch (const FileError&) {
    return false;  // its shots are added from their results
  }
}

// Adds the results of shots.
void add_results(const Taken& taken, const fs::path& folder, const fs::path& arrays, ShotSum& sum) {
  std::map<std::int64_t, std::string> files;
  for (const ShotResult& result : read_journal(taken.chunk / "journal.txt").results) {
    files[result.shot] = result.file;
  }
  for (const std::int64_t shot : taken.shots) {
    const auto at = files.find(shot);
    if (at == files.end()) throw FileError(concat("shot ", shot, ": its result is missing"));
    check_result(taken.chunk, at->second, taken.work, shot);
    const fs::path own = empty_folder(folder / "shot");
    unpack_result(taken.chunk / at->second, own, taken.work.key);
    sum.add(shot, own, arrays);
    fs::remove_all(own);
  }
}

}  // namespace

void add_to_sum(ShotSum& sum, const fs::path& folder, const Work& work, std::int64_t shot,
                const fs::path& result) {
  const fs::path own = empty_folder(folder / "stack");
  unpack_result(result, own, work.key);
  sum.add(shot, own);
  const ShotResult report = pack_result(folder, report_name(shot), work, shot, own);
  fs::last_write_time(folder / report.file, fs::last_write_time(result));
  fs::remove_all(own);
}

void write_sum(const ShotSum& sum, const fs::path& folder, const Work& work) {
  if (sum.closed() || sum.shots().empty()) return;
  pack_sum(sum, folder, work, *sum.shots().begin());
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
    const std::int64_t first = all.front().shots.front();
    auto sum = make_sum();
    for (const Taken& taken : all) {
      if (!arrays && !merge_chunk(taken, folder, make_sum, *sum)) {
        add_results(taken, folder, {}, *sum);
      }
      arrays = arrays || sum->closed();
    }
    if (arrays) {
      sum = make_sum();
      const fs::path files = empty_folder(folder / "arrays");
      for (const Taken& taken : all) add_results(taken, folder, files, *sum);
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
