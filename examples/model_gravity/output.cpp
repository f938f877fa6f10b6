// SPDX-License-Identifier: BSD-3-Clause
#include "model_gravity/output.hpp"

#include <moho/io/csv.hpp>
#include <moho/io/npy.hpp>

namespace moho::examples::model_gravity {

std::vector<std::string> write_components(const std::filesystem::path& folder, const Input& input,
                                          const std::vector<Quantity>& quantities,
                                          const std::vector<double>& results) {
  const std::size_t stations = input.stations.size() / 3;
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(stations)};
  if (input.grid) shape = {input.grid->ny, input.grid->nx};
  std::vector<std::string> files;
  for (std::size_t c = 0; c < quantities.size(); ++c) {
    files.push_back(quantities[c].name + ".npy");
    io::write_npy(folder / files.back(), results.data() + c * stations, shape);
  }
  return files;
}

void write_gravity_csv(const std::filesystem::path& path, const Input& input,
                       const std::vector<Quantity>& quantities,
                       const std::vector<double>& results) {
  const std::size_t stations = input.stations.size() / 3;
  std::vector<std::string> names{"x", "y", "z"};
  for (const Quantity& quantity : quantities) names.push_back(quantity.name);
  io::write_rows(path, names, stations, [&](std::size_t k, std::size_t c) {
    return c < 3 ? input.stations[3 * k + c] : results[(c - 3) * stations + k];
  });
}

}  // namespace moho::examples::model_gravity
