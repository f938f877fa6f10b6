// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/detail/binary.hpp>
#include <moho/io/vtk.hpp>
#include <moho/io/writer.hpp>

#include <limits>

namespace moho::io {

namespace {

/// Writes numbers as text, with a line break at each end_line(), or as big-endian binary.
class Output {
 public:
  Output(AtomicFile& file, bool binary) : m_file(file), m_binary(binary) {}

  void text(const std::string& words) { m_file.write(words); }

  template <class T>
  void number(T value) {
    if (m_binary) {
      if constexpr (std::endian::native == std::endian::little)
        detail::swap_bytes(&value, 1, sizeof(T));
      m_file.write(&value, sizeof(T));
      return;
    }
    if (!m_line.empty()) m_line += ' ';
    if constexpr (std::is_floating_point_v<T>) {
      append_number(m_line, value);
    } else {
      m_line += std::to_string(value);
    }
  }

  void end_line() {
    if (m_binary) return;
    m_line += '\n';
    m_file.write(m_line);
    m_line.clear();
  }

 private:
  AtomicFile& m_file;
  bool m_binary;
  std::string m_line;
};

template <int Dim>
void put_point(Output& out, const Point<Dim>& p) {
  out.number(static_cast<double>(p[0]));
  out.number(Dim == 3 ? static_cast<double>(p[1]) : 0.0);
  out.number(static_cast<double>(p[Dim - 1]));
  out.end_line();
}

void check_name(const char* function, const std::string& name, const char* what) {
  if (!name.empty() && name.find_first_of(" \t\r\n\"") == std::string::npos) return;
  throw InputError(
      concat(function, ": '", name, "' is no name of ", what, " (no white space or quotes in it)"));
}

void check_title(const char* function, const std::string& title) {
  if (title.size() <= 255 && title.find_first_of("\r\n") == std::string::npos) return;
  throw InputError(concat(function, ": the title is no line of at most 255 characters"));
}

}  // namespace

template <int Dim>
void write_vtk_polylines(const std::filesystem::path& path, const std::vector<std::int64_t>& first,
                         const std::vector<Point<Dim>>& points,
                         const std::vector<VtkCellData>& cell_data, const VtkOptions& options) {
  bool valid = !first.empty() && first.front() == 0 &&
               first.back() == static_cast<std::int64_t>(points.size());
  for (std::size_t k = 1; k < first.size() && valid; ++k) valid = first[k] >= first[k - 1];
  if (!valid) {
    throw InputError(concat("write_vtk_polylines: the ", first.size(), " offsets do not describe ",
                            points.size(),
                            " points (they begin with 0, never fall and end with the number of "
                            "points)"));
  }
  const std::size_t lines = first.size() - 1;
  for (const VtkCellData& data : cell_data) {
    if (data.values.size() != lines) {
      throw InputError(concat("write_vtk_polylines: '", data.name, "' has ", data.values.size(),
                              " values for ", lines, " lines"));
    }
    check_name("write_vtk_polylines", data.name, "cell data");
  }
  check_title("write_vtk_polylines", options.title);
  std::int64_t kept = 0;
  std::int64_t vertices = 0;
  for (std::size_t k = 0; k < lines; ++k) {
    if (first[k + 1] == first[k]) continue;
    ++kept;
    vertices += std::max<std::int64_t>(2, first[k + 1] - first[k]);
  }
  if (vertices + kept > std::numeric_limits<std::int32_t>::max()) {
    throw InputError(
        concat("write_vtk_polylines: ", vertices,
               " points are more than the legacy VTK format can number (2^31): write fewer rays"));
  }

  AtomicFile file(path);
  Output out(file, options.binary);
  out.text(concat("# vtk DataFile Version 3.0\n", options.title, "\n",
                  options.binary ? "BINARY" : "ASCII", "\nDATASET POLYDATA\nPOINTS ", vertices,
                  " double\n"));
  for (std::size_t k = 0; k < lines; ++k) {
    for (std::int64_t i = first[k]; i < first[k + 1]; ++i)
      put_point<Dim>(out, points[static_cast<std::size_t>(i)]);
    if (first[k + 1] - first[k] == 1)
      put_point<Dim>(out, points[static_cast<std::size_t>(first[k])]);
  }
  out.text(concat(options.binary ? "\n" : "", "LINES ", kept, ' ', vertices + kept, "\n"));
  std::int32_t next = 0;
  for (std::size_t k = 0; k < lines; ++k) {
    if (first[k + 1] == first[k]) continue;
    const auto count =
        static_cast<std::int32_t>(std::max<std::int64_t>(2, first[k + 1] - first[k]));
    out.number(count);
    for (std::int32_t i = 0; i < count; ++i) out.number(next++);
    out.end_line();
  }
  if (!cell_data.empty() && kept > 0) {
    out.text(concat(options.binary ? "\n" : "", "CELL_DATA ", kept, "\n"));
    for (const VtkCellData& data : cell_data) {
      out.text(concat("SCALARS ", data.name, " double 1\nLOOKUP_TABLE default\n"));
      for (std::size_t k = 0; k < lines; ++k) {
        if (first[k + 1] == first[k]) continue;
        out.number(data.values[k]);
        out.end_line();
      }
      if (options.binary) out.text("\n");
    }
  }
  file.commit();
}

template <int Dim>
void write_vtk_grid(const std::filesystem::path& path, const Grid<Dim>& grid,
                    const std::vector<VtkPointData>& point_data, const VtkOptions& options) {
  for (const VtkPointData& data : point_data) {
    if (static_cast<std::int64_t>(data.values.size()) != grid.size()) {
      throw InputError(concat("write_vtk_grid: '", data.name, "' has ", data.values.size(),
                              " values for ", grid.size(), " nodes"));
    }
    check_name("write_vtk_grid", data.name, "point data");
  }
  check_title("write_vtk_grid", options.title);
  AtomicFile file(path);
  Output out(file, options.binary);
  std::string dimensions = "DIMENSIONS", origin = "ORIGIN", spacing = "SPACING";
  for (int d = 0; d < Dim; ++d) {
    if (Dim == 2 && d == 1) {
      dimensions += " 1";
      origin += " 0";
      spacing += " 1";
    }
    dimensions += concat(' ', grid.extents[d]);
    append_number(origin += ' ', grid.origin[d]);
    append_number(spacing += ' ', grid.spacing[d]);
  }
  out.text(concat("# vtk DataFile Version 3.0\n", options.title, "\n",
                  options.binary ? "BINARY" : "ASCII", "\nDATASET STRUCTURED_POINTS\n", dimensions,
                  '\n', origin, '\n', spacing, "\nPOINT_DATA ", grid.size(), '\n'));
  // x is the fastest axis of VTK
  const std::int64_t deep = grid.extents[Dim - 1], wide = grid.size() / deep / grid.extents[0];
  for (const VtkPointData& data : point_data) {
    out.text(concat("SCALARS ", data.name, " double 1\nLOOKUP_TABLE default\n"));
    for (std::int64_t line = 0; line < deep * wide; ++line) {
      const std::int64_t z = line / wide, y = line % wide;
      for (std::int64_t x = 0; x < grid.extents[0]; ++x) {
        out.number(data.values[static_cast<std::size_t>((x * wide + y) * deep + z)]);
      }
      out.end_line();
    }
    if (options.binary) out.text("\n");
  }
  file.commit();
}

template void write_vtk_grid<2>(const std::filesystem::path&, const Grid<2>&,
                                const std::vector<VtkPointData>&, const VtkOptions&);
template void write_vtk_grid<3>(const std::filesystem::path&, const Grid<3>&,
                                const std::vector<VtkPointData>&, const VtkOptions&);
template void write_vtk_polylines<2>(const std::filesystem::path&, const std::vector<std::int64_t>&,
                                     const std::vector<Point<2>>&, const std::vector<VtkCellData>&,
                                     const VtkOptions&);
template void write_vtk_polylines<3>(const std::filesystem::path&, const std::vector<std::int64_t>&,
                                     const std::vector<Point<3>>&, const std::vector<VtkCellData>&,
                                     const VtkOptions&);

}  // namespace moho::io
