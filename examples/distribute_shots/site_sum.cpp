// SPDX-License-Identifier: BSD-3-Clause
#include "distribute_shots/site_sum.hpp"

#include "app/json.hpp"

#include <moho/core/error.hpp>
#include <moho/core/host_memory.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/text_file.hpp>
#include <moho/rtm/image_sum.hpp>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace moho::examples::distribute_shots {

namespace {

namespace fs = std::filesystem;

FileError wrong(const fs::path& file) {
  return FileError(concat("'", file.string(),
                          "' does not describe the arrays of a shot: install this version of the "
                          "programs at the site"));
}

// An array of a shot, as its summary describes it.
struct ShotArray {
  std::string name, file;
  std::int64_t parts = 0;
  std::vector<std::int64_t> grid, lower, upper;
};

std::vector<std::int64_t> integers(const Json* list) {
  std::vector<std::int64_t> values;
  for (std::size_t k = 0; list != nullptr && k < list->size(); ++k) {
    values.push_back(static_cast<std::int64_t>(list->at(k).number(-1.0)));
  }
  return values;
}

ShotArray read_array(const Json& entry, const fs::path& summary) {
  const Json *name = entry.find("name"), *file = entry.find("file"), *parts = entry.find("parts");
  if (name == nullptr || file == nullptr || parts == nullptr) throw wrong(summary);
  ShotArray array{name->text(),
                  file->text(),
                  static_cast<std::int64_t>(parts->number(0.0)),
                  integers(entry.find("grid")),
                  integers(entry.find("lower")),
                  integers(entry.find("upper"))};
  const std::size_t axes = array.grid.size();
  const bool plain = fs::path(array.file).filename() == array.file &&
                     fs::path(array.name).filename() == array.name;
  if (!plain || array.parts < 1 || (axes != 2 && axes != 3) || array.lower.size() != axes ||
      array.upper.size() != axes) {
    throw wrong(summary);
  }
  return array;
}

// The arrays of one name.
class ArraySum {
 public:
  explicit ArraySum(const std::vector<std::int64_t>& extents, std::int64_t parts) {
    if (extents.size() == 2) m_sum = make<2>(extents, parts);
    if (extents.size() == 3) m_sum = make<3>(extents, parts);
  }
  bool closed() const {
    return std::visit([](const auto& sum) { return sum.closed(); }, m_sum);
  }
  const std::set<std::int64_t>& shots() const {
    return std::visit(
        [](const auto& sum) -> const auto& { return sum.shots(); }, m_sum);
  }
  void add(std::int64_t shot, const ShotArray& array, const fs::path& folder) {
    const io::Array<double> values = io::read_npy<double>(folder / array.file);
    std::vector<std::int64_t> shape{array.parts};
    for (std::size_t d = 0; d < array.grid.size(); ++d) {
      shape.push_back(array.upper[d] - array.lower[d]);
    }
    if (values.size() != io::shape_size(shape)) throw wrong(folder / array.file);
    std::visit([&](auto& sum) { add_to(sum, shot, array, values.data.data()); }, m_sum);
  }
  void merge(const std::string& bytes) {
    std::visit([&](auto& sum) { sum.merge(host(), bytes); }, m_sum);
  }
  std::string pack() const {
    return std::visit([](const auto& sum) { return sum.pack(); }, m_sum);
  }

 private:
  static Instance<Kokkos::HostSpace> host() { return Kokkos::DefaultHostExecutionSpace(); }
  template <int Dim>
  static rtm::ImageSum<Dim> make(const std::vector<std::int64_t>& extents, std::int64_t parts) {
    Grid<Dim> grid;
    for (int d = 0; d < Dim; ++d) grid.extents[d] = extents[static_cast<std::size_t>(d)];
    return rtm::ImageSum<Dim>::within(static_cast<double>(host_memory().bytes), grid,
                                      static_cast<int>(parts));
  }
  template <int Dim>
  static void add_to(rtm::ImageSum<Dim>& sum, std::int64_t shot, const ShotArray& array,
                     const double* values) {
    Box<Dim> box;
    for (int d = 0; d < Dim; ++d) {
      box.lower[d] = array.lower[static_cast<std::size_t>(d)];
      box.upper[d] = array.upper[static_cast<std::size_t>(d)];
    }
    sum.template add<double>(host(), shot, box, values);
  }
  std::variant<rtm::ImageSum<2>, rtm::ImageSum<3>> m_sum;
};

// Name of a file that has the extents of the sums, which their bytes do not tell.
constexpr const char* list_name = "sums.json";

class SiteSum : public cluster::ShotSum {
 public:
  explicit SiteSum(bool closed) : m_closed(closed) {}

  void add(std::int64_t shot, const fs::path& folder, const fs::path& arrays) override {
    const fs::path path = folder / "summary.json";
    Json summary = Json::parse(io::read_text(path, std::uint64_t{1} << 30));
    const Json* const parts = summary.find("parts");
    if (parts == nullptr || parts->size() != 1) throw wrong(path);
    Json part = parts->at(0);
    const Json *more = part.find("more"), *files = part.find("files");
    const Json* const list = more != nullptr ? more->find("sums") : nullptr;
    if (list == nullptr || files == nullptr) throw wrong(path);
    if (!m_shots.insert(shot).second) throw InputError(concat("shot ", shot, " is in the sum"));
    std::set<std::string> summed;
    for (std::size_t k = 0; k < list->size(); ++k) {
      const ShotArray array = read_array(list->at(k), path);
      if (!m_closed) sum_of(array.name, array.grid, array.parts).add(shot, array, folder);
      if (!arrays.empty()) fs::copy_file(folder / array.file, arrays / array.file);
      summed.insert(array.file);
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
    for (const auto& [name, sum] : m_sums) m_closed = m_closed || sum.closed();
    if (m_closed) m_sums.clear();
  }

  void merge(const fs::path& folder) override {
    const fs::path path = folder / list_name;
    const Json list = Json::parse(io::read_text(path, std::uint64_t{1} << 30));
    for (const std::string& name : list.keys()) {
      const Json& entry = *list.find(name);
      const Json* const parts = entry.find("parts");
      if (parts == nullptr) throw wrong(path);
      if (m_closed) continue;
      const fs::path file = folder / (name + ".sum");
      const io::InputFile input(file);
      ArraySum& sum =
          sum_of(name, integers(entry.find("grid")), static_cast<std::int64_t>(parts->number(0.0)));
      try {
        sum.merge(input.text(input.size()));
      } catch (const InputError& error) {
        throw FileError(concat("'", file.string(), "': ", error.what()));
      }
      m_shots.insert(sum.shots().begin(), sum.shots().end());
      m_closed = m_closed || sum.closed();
    }
  }

  void write(const fs::path& folder) const override {
    Json list = Json::object();
    for (const auto& [name, sum] : m_sums) {
      io::AtomicFile file(folder / (name + ".sum"));
      const std::string bytes = sum.pack();
      file.write(bytes);
      file.commit(bytes.size());
      list[name] = m_entries.at(name);
    }
    io::write_text(folder / list_name, list.dump());
  }

  const std::set<std::int64_t>& shots() const override { return m_shots; }
  bool closed() const override { return m_closed; }

 private:
  ArraySum& sum_of(const std::string& name, const std::vector<std::int64_t>& grid,
                   std::int64_t parts) {
    const auto at = m_sums.find(name);
    if (at != m_sums.end()) return at->second;
    m_entries[name] = Json::object({{"grid", grid}, {"parts", parts}});
    return m_sums.emplace(name, ArraySum(grid, parts)).first->second;
  }

  std::map<std::string, ArraySum> m_sums;
  std::map<std::string, Json> m_entries;
  std::set<std::int64_t> m_shots;
  bool m_closed;
};

}  // namespace

std::unique_ptr<cluster::ShotSum> make_site_sum(bool closed) {
  return std::make_unique<SiteSum>(closed);
}

}  // namespace moho::examples::distribute_shots
