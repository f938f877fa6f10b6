// SPDX-License-Identifier: BSD-3-Clause
#include "app/resume.hpp"

#include "app/summary.hpp"

#include <moho/core/error.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/model.hpp>

#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

namespace {

std::string describe(const io::FileIdentity& file) {
  return concat(file.bytes, " bytes, CRC-32C ", io::checksum_text(file.checksum));
}

}  // namespace

Json fingerprint_of(const std::string& program, const CommonOptions& options,
                    const Json& requested) {
  Json print = Json::object();
  print["program"] = version_text(program);
  for (const std::string& key : requested.keys()) print["--" + key] = *requested.find(key);
  // several files concurrently: they may be gigabytes
  std::vector<std::pair<std::string, std::future<io::FileIdentity>>> files;
  for (const InputName& input : options.inputs) {
    if (input.option == "config") continue;
    for (const std::filesystem::path& file : io::files_of(input.path)) {
      if (!io::node_of(file)) continue;  // a number
      if (files.size() >= 8) files[files.size() - 8].second.wait();
      files.emplace_back(concat("--", input.option, " ", file.string()),
                         std::async(std::launch::async, io::identify_file, file));
    }
  }
  for (auto& [name, identity] : files) print[name] = describe(identity.get());
  return print;
}

void check_same_run(const std::string& folder, const Json& now, const Json& before) {
  const std::string advice =
      " (allowed: the same options, input files and version of the program): leave --resume out "
      "to begin again";
  const auto text = [](const Json* value) {
    if (value == nullptr) return std::string("not there");
    std::string words = value->text().empty() ? value->dump() : value->text();
    while (!words.empty() && words.back() == '\n') words.pop_back();
    for (char& c : words) c = c == '\n' ? ' ' : c;
    return words.size() > 200 ? words.substr(0, 200) + " ..." : words;
  };
  if (before.null()) {
    throw InputError(
        concat("--resume: the run in ", folder, " does not say what it was made from", advice));
  }
  std::set<std::string> keys;
  for (const Json* print : {&now, &before}) {
    for (const std::string& key : print->keys()) keys.insert(key);
  }
  for (const std::string& key : keys) {
    const Json *mine = now.find(key), *theirs = before.find(key);
    if (mine != nullptr && theirs != nullptr && mine->dump() == theirs->dump()) continue;
    std::string name = key;  // with hyphens, unless a file follows the option
    for (char& c : name) c = c == '_' && key.find(' ') == std::string::npos ? '-' : c;
    throw InputError(concat("--resume: ", name, " is ", text(mine), ", and was ", text(theirs),
                            " in the run in ", folder, advice));
  }
}

}  // namespace moho::examples
