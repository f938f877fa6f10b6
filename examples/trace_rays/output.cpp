// SPDX-License-Identifier: BSD-3-Clause
#include "trace_rays/output.hpp"

#include <moho/io/vtk.hpp>
#include <moho/io/writer.hpp>

#include <string>

namespace moho::examples::trace_rays {

namespace {

template <int Dim>
std::string axis_names() {
  return Dim == 2 ? "x,z" : "x,y,z";
}

template <int Dim>
void append_point(std::string& text, const Point<Dim>& p) {
  for (int d = 0; d < Dim; ++d) {
    text += ',';
    io::append_number(text, p[d]);
  }
}

}  // namespace

template <int Dim>
void write_rays_csv(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths) {
  io::AtomicFile file(path);
  file.write("ray,source,receiver,vertex," + axis_names<Dim>() + "\n");
  std::string text;
  const std::int64_t count = paths.sources * paths.receivers;
  for (std::int64_t ray = 0; ray < count; ++ray) {
    text.clear();
    const std::string head = std::to_string(ray) + ',' + std::to_string(ray / paths.receivers) +
                             ',' + std::to_string(ray % paths.receivers) + ',';
    const std::int64_t first = paths.first[static_cast<std::size_t>(ray)];
    const std::int64_t last = paths.first[static_cast<std::size_t>(ray) + 1];
    for (std::int64_t k = first; k < last; ++k) {
      text += head + std::to_string(k - first);
      append_point<Dim>(text, paths.points[static_cast<std::size_t>(k)]);
      text += '\n';
    }
    file.write(text);
  }
  file.commit();
}

template <int Dim>
void write_receivers_csv(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths,
                         const std::vector<Point<Dim>>& receivers,
                         const std::vector<io::TextColumn>& texts) {
  io::AtomicFile file(path);
  file.write("source,receiver," + axis_names<Dim>() + ",traveltime" +
             io::header_of(texts, {"source", "receiver", "x", "y", "z", "traveltime"}) + '\n');
  std::string text;
  for (std::int64_t source = 0; source < paths.sources; ++source) {
    text.clear();
    for (std::int64_t k = 0; k < paths.receivers; ++k) {
      text += std::to_string(source) + ',' + std::to_string(k);
      append_point<Dim>(text, receivers[static_cast<std::size_t>(k)]);
      text += ',';
      io::append_number(text,
                        paths.traveltime[static_cast<std::size_t>(source * paths.receivers + k)]);
      text += io::fields_of(texts, static_cast<std::size_t>(k));
      text += '\n';
    }
    file.write(text);
  }
  file.commit();
}

template <int Dim>
void write_rays_vtk(const std::filesystem::path& path, const rays::RayPaths<Dim>& paths) {
  std::vector<io::VtkCellData> data{{"source", {}}, {"receiver", {}}, {"traveltime", {}}};
  for (std::int64_t ray = 0; ray < paths.sources * paths.receivers; ++ray) {
    data[0].values.push_back(static_cast<double>(ray / paths.receivers));
    data[1].values.push_back(static_cast<double>(ray % paths.receivers));
    data[2].values.push_back(paths.traveltime[static_cast<std::size_t>(ray)]);
  }
  io::write_vtk_polylines<Dim>(path, paths.first, paths.points, data,
                               {.title = "first-arrival rays, metres and seconds"});
}

template void write_rays_csv<2>(const std::filesystem::path&, const rays::RayPaths<2>&);
template void write_rays_csv<3>(const std::filesystem::path&, const rays::RayPaths<3>&);
template void write_receivers_csv<2>(const std::filesystem::path&, const rays::RayPaths<2>&,
                                     const std::vector<Point<2>>&,
                                     const std::vector<io::TextColumn>&);
template void write_receivers_csv<3>(const std::filesystem::path&, const rays::RayPaths<3>&,
                                     const std::vector<Point<3>>&,
                                     const std::vector<io::TextColumn>&);
template void write_rays_vtk<2>(const std::filesystem::path&, const rays::RayPaths<2>&);
template void write_rays_vtk<3>(const std::filesystem::path&, const rays::RayPaths<3>&);

}  // namespace moho::examples::trace_rays
