// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/vtk.hpp>

#include <sstream>

namespace moho::io {
namespace {

using namespace test;

const std::vector<Point<2>> three_points = {{{0, 0}}, {{12.5, 300}}, {{0.1, 1e-7}}};

TEST(Vtk, WritesTextOf2D) {
  const Folder folder;
  // two points, no point, one point
  write_vtk_polylines<2>(folder / "a.vtk", {0, 2, 2, 3}, three_points,
                         {{"traveltime", {0.25, 9, 0.5}}, {"source", {0, 1, 2}}},
                         {.title = "three rays"});
  EXPECT_EQ(get_file(folder / "a.vtk"),
            "# vtk DataFile Version 3.0\nthree rays\nASCII\nDATASET POLYDATA\nPOINTS 4 double\n"
            "0 0 0\n12.5 0 300\n0.1 0 1e-07\n0.1 0 1e-07\nLINES 2 6\n2 0 1\n2 2 3\nCELL_DATA 2\n"
            "SCALARS traveltime double 1\nLOOKUP_TABLE default\n0.25\n0.5\n"
            "SCALARS source double 1\nLOOKUP_TABLE default\n0\n2\n");
}

TEST(Vtk, WritesTextOf3D) {
  const Folder folder;
  write_vtk_polylines<3>(folder / "a.vtk", {0, 2}, {{{1, 2, 3}}, {{4, 5, 6}}});
  EXPECT_EQ(get_file(folder / "a.vtk"),
            "# vtk DataFile Version 3.0\nrays\nASCII\nDATASET POLYDATA\nPOINTS 2 double\n"
            "1 2 3\n4 5 6\nLINES 1 3\n2 0 1\n");
}

TEST(Vtk, WritesBinary) {
  const Folder folder;
  write_vtk_polylines<2>(folder / "a.vtk", {0, 3}, three_points, {{"t", {0.25}}}, {.binary = true});
  std::string wanted =
      "# vtk DataFile Version 3.0\nrays\nBINARY\nDATASET POLYDATA\nPOINTS 3 double\n";
  for (const double v : {0.0, 0.0, 0.0, 12.5, 0.0, 300.0, 0.1, 0.0, 1e-7})
    wanted += bytes_of(v, true);
  wanted += "\nLINES 1 4\n";
  for (const std::int32_t v : {3, 0, 1, 2}) wanted += bytes_of(v, true);
  wanted +=
      "\nCELL_DATA 1\nSCALARS t double 1\nLOOKUP_TABLE default\n" + bytes_of(0.25, true) + "\n";
  EXPECT_EQ(get_file(folder / "a.vtk"), wanted);
}

TEST(Vtk, NumbersComeBackFromText) {
  const Folder folder;
  std::vector<Point<3>> points;
  for (int i = 1; i <= 100; ++i) points.push_back(Point<3>{{1.0 / i, i * 1e5 / 3, -1e-9 * i}});
  write_vtk_polylines<3>(folder / "a.vtk", {0, 100}, points);
  std::istringstream text(get_file(folder / "a.vtk"));
  std::string word;
  while (text >> word && word != "POINTS") {
  }
  text >> word >> word;
  for (const Point<3>& p : points) {
    for (int d = 0; d < 3; ++d) {
      text >> word;
      EXPECT_EQ(std::strtod(word.c_str(), nullptr), p[d]);
    }
  }
}

TEST(Vtk, RefusesArgumentsThatDoNotAgree) {
  const Folder folder;
  const auto refused = [&](const std::vector<std::int64_t>& first,
                           const std::vector<VtkCellData>& data = {},
                           const VtkOptions& options = {}) {
    return message_of<InputError>(
        [&] { write_vtk_polylines<2>(folder / "a.vtk", first, three_points, data, options); });
  };
  EXPECT_THAT(refused({}), HasSubstr("offsets"));
  EXPECT_THAT(refused({0, 2}), HasSubstr("3 points"));
  EXPECT_THAT(refused({1, 3}), HasSubstr("offsets"));
  EXPECT_THAT(refused({0, 4, 3}), HasSubstr("offsets"));
  EXPECT_THAT(refused({0, 3}, {{"t", {1, 2}}}), HasSubstr("'t' has 2 values for 1 lines"));
  EXPECT_THAT(refused({0, 3}, {{"travel time", {1}}}), HasSubstr("no name of cell data"));
  EXPECT_THAT(refused({0, 3}, {}, {.title = "two\nlines"}), HasSubstr("title"));
  EXPECT_TRUE(folder.list().empty());
}

TEST(Vtk, WritesFilesWithoutLines) {
  const Folder folder;
  write_vtk_polylines<2>(folder / "a.vtk", {0, 0}, {}, {{"t", {1}}});
  EXPECT_THAT(get_file(folder / "a.vtk"), HasSubstr("POINTS 0 double\nLINES 0 0\n"));
}

TEST(Vtk, WritesGrids) {
  const Folder folder;
  const Grid<2> section{{3, 2}, {0.5, 2.0}, {10.0, -1.0}};
  write_vtk_grid<2>(folder / "a.vtk", section, {{"v", {1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(get_file(folder / "a.vtk"),
            "# vtk DataFile Version 3.0\ngrid\nASCII\nDATASET STRUCTURED_POINTS\n"
            "DIMENSIONS 3 1 2\nORIGIN 10 0 -1\nSPACING 0.5 1 2\nPOINT_DATA 6\n"
            "SCALARS v double 1\nLOOKUP_TABLE default\n1 3 5\n2 4 6\n");
  const Grid<3> volume{{2, 2, 2}, {1.0, 2.0, 4.0}, {0.0, 0.0, 8.0}};
  write_vtk_grid<3>(folder / "a.vtk", volume, {{"v", {0, 1, 2, 3, 4, 5, 6, 7}}},
                    {.title = "volume", .binary = true});
  std::string wanted =
      "# vtk DataFile Version 3.0\nvolume\nBINARY\nDATASET STRUCTURED_POINTS\n"
      "DIMENSIONS 2 2 2\nORIGIN 0 0 8\nSPACING 1 2 4\nPOINT_DATA 8\n"
      "SCALARS v double 1\nLOOKUP_TABLE default\n";
  for (const double v : {0.0, 4.0, 2.0, 6.0, 1.0, 5.0, 3.0, 7.0}) wanted += bytes_of(v, true);
  EXPECT_EQ(get_file(folder / "a.vtk"), wanted + "\n");
  EXPECT_THAT(message_of<InputError>([&] {
                write_vtk_grid<2>(folder / "b.vtk", section, {{"v", {1, 2}}});
              }),
              HasSubstr("'v' has 2 values for 6 nodes"));
  EXPECT_THAT(message_of<InputError>([&] {
                write_vtk_grid<2>(folder / "b.vtk", section, {{"a b", {1, 2, 3, 4, 5, 6}}});
              }),
              HasSubstr("no name of point data"));
}

TEST(Vtk, VtkReadsIt) {
  if (!have_python("vtk")) GTEST_SKIP() << "no python3 with VTK at /usr/bin/python3";
  const Folder folder;
  for (const bool binary : {false, true}) {
    write_vtk_polylines<2>(folder / "a.vtk", {0, 2, 2, 3}, three_points, {{"t", {0.25, 9, 0.5}}},
                           {.binary = binary});
    EXPECT_EQ(run_python(folder, R"(
import vtk
r = vtk.vtkPolyDataReader()
r.SetFileName('a.vtk')
r.Update()
d = r.GetOutput()
assert d.GetNumberOfLines() == 2 and d.GetNumberOfPoints() == 4
assert d.GetPoint(1) == (12.5, 0, 300)
assert d.GetCellData().GetArray('t').GetValue(1) == 0.5
)"),
              0);
  }
}

}  // namespace
}  // namespace moho::io
