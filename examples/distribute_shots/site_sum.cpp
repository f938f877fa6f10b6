// SPDX-License-Identifier: BSD-3-Clause
#include "distribute_shots/site_sum.hpp"

#include "app/distribute.hpp"
#include "app/json.hpp"
#include "app/site_arrays.hpp"

#include <moho/core/error.hpp>
#include <moho/core/host_memory.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/text_file.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace moho::examples::distribute_shots {

namespace {

namespace fs = std::filesystem;

FileError wrong(const fs::path& file) {
  return FileError(concat("'", file.string(),
                          "' does not describe the arrays of a shot: install this version of the "
                          "programs at the site"));
}

std::vector<std::int64_t> integers(const Json* list) {
  std::vector<std::int64_t> values;
  for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
    values.push_back(static_cast<std::int64_t>(list->at(k).number(-1.0)));
  }
  return values;
}

rtm::ShotArray read_array(const Json& entry, const fs::path& summary) {
  const Json *name = entry.find("name"), *parts = entry.find("parts");
  if (name == nullptr || parts == nullptr) throw wrong(summary);
  return {name->text(),
          static_cast<std::int64_t>(parts->number(0.0)),
          integers(entry.find("grid")),
          integers(entry.find("lower")),
          integers(entry.find("upper")),
          entry.find("bins") != nullptr};
}

class SiteSum : public cluster::ShotSum {
 public:
  explicit SiteSum(bool closed) {
    if (!closed) m_sums = rtm::ArraySums(static_cast<double>(host_memory().bytes));
  }

  void add(std::int64_t shot, const fs::path& folder, const fs::path& arrays) override {
    const fs::path path = folder / "summary.json";
    Json summary = Json::parse(io::read_text(path, std::uint64_t{1} << 30));
    const Json* const parts = summary.find("parts");
    if (parts == nullptr || parts->size() != 1) throw wrong(path);
    Json part = parts->at(0);
    const Json *more = part.find("more"), *files = part.find("files");
    const Json* const list = more != nullptr ? more->find("sums") : nullptr;
    if (list == nullptr || files == nullptr) throw wrong(path);
    std::set<std::string> summed;
    for (std::size_t k = 0; k < list->size(); ++k) {
      const Json* const file = list->at(k).find("file");
      const std::string name = file != nullptr ? file->text() : "";
      if (name.empty() || fs::path(name).filename() != name) throw wrong(path);
      add_array(shot, read_array(list->at(k), path), folder / name);
      if (!arrays.empty()) fs::copy_file(folder / name, arrays / name);
      summed.insert(name);
    }
    Json left = Json::array(), kept = *more;
    std::set<std::string> travels{"summary.json"};
    for (std::size_t k = 0; k < files->size(); ++k) {
      const Json* const name = files->at(k).find("name");
      if (name == nullptr || summed.count(name->text()) > 0) continue;
      left.push_back(files->at(k));
      travels.insert(name->text());
    }
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (travels.count(entry.path().filename().string()) == 0) fs::remove(entry.path());
    }
    kept.remove("sums");
    kept["summed"] = true;
    part["files"] = left;
    part["more"] = kept;
    io::write_text(path, Json::object({{"parts", Json::array({part})}}).dump());
  }

  void merge(const fs::path& folder) override {
    const io::InputFile input(folder / site_sum_name);
    m_sums.merge(host(), input.text(input.size()));
  }

  void write(const fs::path& folder) const override {
    const std::string bytes = m_sums.pack();
    std::ofstream file(folder / site_sum_name, std::ios::binary);  // packed into a result next
    if (!file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush())
      throw FileError(concat("cannot write '", (folder / site_sum_name).string(), "': free space"));
  }

  const std::set<std::int64_t>& shots() const override { return m_sums.shots(); }
  bool closed() const override { return m_sums.closed(); }

 private:
  static Instance<Kokkos::HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }

  void add_array(std::int64_t shot, const rtm::ShotArray& array, const fs::path& file) {
    if (m_sums.closed()) return;
    std::vector<std::int64_t> shape{array.parts};
    for (std::size_t d = 0; d < std::min(array.lower.size(), array.upper.size()); ++d) {
      shape.push_back(array.upper[d] - array.lower[d]);
    }
    const io::Array<double> values = io::read_npy<double>(file);
    if (values.size() != io::shape_size(shape)) throw wrong(file);
    m_sums.add(host(), shot, array, values.data.data());
  }

  rtm::ArraySums m_sums;
};

}  // namespace

std::unique_ptr<cluster::ShotSum> make_site_sum(bool closed) {
  return std::make_unique<SiteSum>(closed);
}

}  // namespace moho::examples::distribute_shots
