// SPDX-License-Identifier: BSD-3-Clause
#include <moho/cluster/remote_folders.hpp>
#include <moho/cluster/submission_log.hpp>

#include <algorithm>
#include <set>
#include <system_error>

namespace moho::cluster {

namespace {

namespace fs = std::filesystem;
// names of values of a journal
constexpr const char* folder_name = "folder of ";  // before the name of a site
constexpr const char* sums_name = "sums";

void add_folders(const fs::path& path, std::vector<RemoteFolders>& folders) {
  std::error_code error;
  if (!fs::exists(path, error)) return;
  JournalContent journal;
  try {
    journal = read_journal(path);
  } catch (const FileError&) {
    return;  // its process ended before the header was complete
  }
  std::set<std::string> sites;
  for (const Event& event : journal.events) {
    const bool kept = journal.values.count(sums_name) > 0;
    if (kept && event.size() > 2 && event[0] == "batch") sites.insert(event[2]);
  }
  for (const auto& [token, batch] : read_submission_log(journal.events).batches) {
    if (batch.ended.size() < batch.batch.jobs.size()) sites.insert(batch.site);
  }
  for (const std::string& site : sites) {
    const auto position = journal.values.find(folder_name + site);
    if (position == journal.values.end()) continue;
    folders.push_back({site, concat(position->second, '/', journal.values["name"], ".*")});
  }
}

}  // namespace

void record_remote_folders(Journal& journal, const std::vector<std::unique_ptr<Site>>& sites,
                           bool sums) {
  for (const auto& site : sites) {
    const std::string folder = site->remote_folder();
    if (!folder.empty()) journal.set(folder_name + site->options().name, folder);
  }
  if (sums) journal.set(sums_name, "kept by sites");
}

std::vector<RemoteFolders> remote_folders(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> journals;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    journals.push_back(entry.path() / "journal.txt");
  }
  std::sort(journals.begin(), journals.end());
  std::vector<RemoteFolders> folders;
  add_folders(folder / "journal.txt", folders);
  for (const fs::path& journal : journals) add_folders(journal, folders);
  return folders;
}

}  // namespace moho::cluster
