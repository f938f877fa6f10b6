// SPDX-License-Identifier: BSD-3-Clause
#include "model_gravity/output.hpp"

#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

namespace moho::examples::model_gravity {

std::vector<std::string> write_components(const std::filesystem::path& folder, const Input& input,
                                          const gravity::Components& components,
                                          const std::vector<double>& results) {
  const std::size_t stations = input.stations.size() / 3;
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(stations)};
  if (input.grid) shape = {input.grid->ny, input.grid->nx};
  std::vector<std::string> files;
  for (std::size_t c = 0; c < components.size(); ++c) {
    files.push_back(gravity::to_string(components[c]) + std::string(".npy"));
    io::write_npy(folder / files.back(), results.data() + c * stations, shape);
  }
  return files;
}

void write_gravity_csv(const std::filesystem::path& path, const Input& input,
                       const gravity::Components& components, const std::vector<double>& results) {
  const std::size_t stations = input.stations.size() / 3;
  io::AtomicFile file(path);
  std::string text = "x,y,z";
  for (const gravity::Component component : components) {
    text += std::string(",") + gravity::to_string(component);
  }
  text += '\n';
  for (std::size_t k = 0; k < stations; ++k) {
    for (std::size_t d = 0; d < 3; ++d) {
      if (d > 0) text += ',';
      io::append_number(text, input.stations[3 * k + d]);
    }
    for (std::size_t c = 0; c < components.size(); ++c) {
      text += ',';
      io::append_number(text, results[c * stations + k]);
    }
    text += '\n';
    if (text.size() > (std::size_t(1) << 20)) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

}  // namespace moho::examples::model_gravity
