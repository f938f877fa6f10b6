// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Points, shots and wavelets of files.

#include <moho/core/error.hpp>
#include <moho/io/npy.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/survey/tables.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/files.hpp"

namespace {

using moho::InputError;
using moho::io::test::Folder;
using moho::io::test::message_of;
using moho::io::test::put_file;
using moho::survey::points_from_text;
using moho::survey::shots_from_file;
using moho::survey::shots_from_text;
using moho::survey::wavelet_from_text;
using ::testing::HasSubstr;

TEST(ReadPoints, FromTextAndTables) {
  const Folder folder;
  const auto text = points_from_text<3>("1,2,3", "--source");
  EXPECT_EQ(text[0][1], 2.0);
  EXPECT_EQ(text[0][2], 3.0);
  put_file(folder / "points.csv", "x,y,z\n1,2,3\n4,5,6\n");
  const auto table = points_from_text<3>(folder / "points.csv", "--receivers");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[1][0], 4.0);
  EXPECT_EQ(table[1][1], 5.0);
  EXPECT_EQ(table[1][2], 6.0);
  put_file(folder / "named.csv", "Z,elevation,x\n1,2,3\n4,5,6\n");
  const auto named = points_from_text<2>(folder / "named.csv", "--receivers");
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1][0], 6.0);
  EXPECT_EQ(named[1][1], 4.0);
  moho::io::write_npy(folder / "points.npy", moho::io::Array<double>{{2, 2}, {1, 2, 3, 4}});
  const auto array = points_from_text<2>(folder / "points.npy", "--receivers");
  ASSERT_EQ(array.size(), 2u);
  EXPECT_EQ(array[1][1], 4.0);
}

TEST(ReadPoints, FromSeveralTexts) {
  const auto points = moho::survey::points_from_texts<2>({"1,2", "3,4:5,4:3"});
  ASSERT_EQ(points.size(), 4u);
  EXPECT_EQ(points[0][1], 2.0);
  EXPECT_EQ(points[3][0], 5.0);
  // a refused text counts as one point
  EXPECT_EQ(moho::survey::count_points<2>({"1,2", "1,2,3", "3,4:5,4:3"}), 5u);
  EXPECT_EQ(moho::survey::count_points<2>({}), 1u);
}

TEST(ReadPoints, ColumnsOfText) {
  const Folder folder;
  put_file(folder / "stations.csv", "station,x,z\nA,1,2\nB,3,4\n");
  std::vector<moho::io::TextColumn> columns;
  const auto points = points_from_text<2>(folder / "stations.csv", "--receivers", &columns);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1][1], 4.0);
  EXPECT_EQ(moho::io::header_of(columns, {"x", "z"}), ",station");
  EXPECT_EQ(moho::io::header_of(columns, {"station"}), ",station_name");
  EXPECT_EQ(moho::io::fields_of(columns, 1), ",B");
  points_from_text<2>("1,2", "--receivers", &columns);
  EXPECT_TRUE(columns.empty());
}

TEST(ReadPoints, Refuses) {
  const Folder folder;
  put_file(folder / "three.csv", "1,2,3\n");
  EXPECT_THAT(message_of<moho::InputError>(
                  [&] { points_from_text<2>(folder / "three.csv", "--receivers"); }),
              HasSubstr("three.csv: it has 3 columns without names (allowed for a 2D model: x,z)"));
  put_file(folder / "names.csv", "z,y\n1,2\n");
  EXPECT_THAT(message_of<moho::InputError>(
                  [&] { points_from_text<2>(folder / "names.csv", "--receivers"); }),
              HasSubstr("names.csv: there is no column 'x' (allowed for a 2D model: x,z)"));
  EXPECT_THAT(
      message_of<moho::InputError>([&] { points_from_text<2>("points.xls", "--receivers"); }),
      HasSubstr("'.xls' is no kind of table (allowed: .csv, .txt, .npy, or points x,z)"));
  EXPECT_THAT(
      message_of<moho::FileError>([&] { points_from_text<2>("missing.csv", "--receivers"); }),
      HasSubstr("missing.csv"));
}

TEST(ReadShots, FromAFile) {
  const Folder folder;
  put_file(folder / "shots.csv", "shot, kind, x, z\n0, source, 5, 1\n*, receiver, 7, 2\n");
  const auto shots = shots_from_file<2>(folder / "shots.csv");
  ASSERT_EQ(shots.size(), 1u);
  EXPECT_EQ(shots[0].sources[0][0], 5.0);
  EXPECT_EQ(shots[0].receivers[0][1], 2.0);
  put_file(folder / "bad.csv", "0, source, 5\n");
  EXPECT_THAT(message_of<moho::FileError>([&] { shots_from_file<2>(folder / "bad.csv"); }),
              HasSubstr("bad.csv:1: there are 3 fields, not 4"));
  EXPECT_THAT(message_of<moho::FileError>([] { shots_from_file<2>("missing.csv", "--shots"); }),
              ::testing::AllOf(::testing::StartsWith("--shots: "), HasSubstr("missing.csv")));
}

TEST(ReadShots, ByNamesOfAnyCase) {
  const auto shots =
      shots_from_text<2>("\xef\xbb\xbfShot,\"Kind\",Z,X\n1,source,20,200\n*,receiver,30,210\n");
  ASSERT_EQ(shots.size(), 1u);
  EXPECT_EQ(shots[0].sources[0][0], 200.0);
  EXPECT_EQ(shots[0].sources[0][1], 20.0);
  EXPECT_EQ(shots[0].receivers[0][0], 210.0);
  EXPECT_EQ(shots[0].receivers[0][1], 30.0);
}

TEST(ReadShots, RefusesNames) {
  const auto message = [](const std::string& names) {
    return message_of<moho::FileError>(
        [&] { shots_from_text<2>(names + "\n1,source,20,200\n*,receiver,30,210\n", "shots.csv"); });
  };
  EXPECT_THAT(message("shot,kind,depth,x"),
              HasSubstr("shots.csv:1: 'depth' is no name of a column in the first row (allowed: "
                        "shot, kind, x, z, where"));
  EXPECT_THAT(message("shot,kind,x,X"), HasSubstr("the first row has the name 'X' twice"));
  EXPECT_THAT(message("shot,kind,x,y"), HasSubstr("'y' is no name of a column"));
  EXPECT_THAT(message("shot,kind,x"), HasSubstr("the first row has no name 'z'"));
  EXPECT_THAT(message_of<moho::FileError>([] {
                shots_from_text<3>("shot,kind,easting,depth,northing\n1,s,1,2,3\n1,r,1,2,3\n");
              }),
              HasSubstr("'easting' is no name of a column in the first row (allowed: shot, kind, "
                        "x, y, z"));
}

TEST(ReadWavelet, FromFiles) {
  const Folder folder;
  const std::vector<double> expected = moho::wave::ricker(20.0, 0.001);
  const std::vector<double> coarse = moho::wave::ricker(20.0, 0.002);
  std::string times = "time, amplitude\n", alone;
  for (std::size_t i = 0; i < coarse.size(); ++i) {
    times += moho::concat(0.002 * static_cast<double>(i), ", ", coarse[i], "\n");
    alone += moho::concat(coarse[i], "\n");
  }
  put_file(folder / "times.csv", times);
  put_file(folder / "alone.txt", alone);
  moho::io::write_npy(folder / "alone.npy",
                      moho::io::Array<double>{{static_cast<std::int64_t>(coarse.size())}, coarse});
  for (const std::string& text :
       {(folder / "times.csv").string(), "file:" + (folder / "alone.txt").string() + ":0.002",
        "file:" + (folder / "alone.npy").string() + ":0.002", std::string("ricker:20")}) {
    const std::vector<double> found = wavelet_from_text(text)(0.001);
    ASSERT_EQ(found.size(), expected.size()) << text;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-7) << text;
  }
}

TEST(ReadWavelet, UnitsOfNamedTimes) {
  const Folder folder;
  const auto read = [&](const std::string& bytes) {
    put_file(folder / "wavelet.csv", bytes);
    return wavelet_from_text("file:" + (folder / "wavelet.csv").string())(0.001);
  };
  const std::vector<double> seconds = read("t_s,amplitude\n0,0\n0.002,1\n0.004,0\n");
  const std::vector<double> milliseconds = read("Time_ms,amplitude\n0,0\n2,1\n4,0\n");
  ASSERT_EQ(milliseconds.size(), seconds.size());
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    EXPECT_NEAR(milliseconds[i], seconds[i], 1e-7);
  }
  EXPECT_THAT(message_of<moho::FileError>([&] { read("ms,amplitude\n0,0\n2,1\n4,0\n"); }),
              HasSubstr("wavelet.csv: the first column is 'ms' (allowed: time, t, time_s or t_s"));
}

TEST(ReadWavelet, Refuses) {
  const Folder folder;
  const auto message = [&](const std::string& text, const std::string& bytes) {
    put_file(folder / "wavelet.csv", bytes);
    std::string found;
    try {
      wavelet_from_text("file:" + (folder / "wavelet.csv").string() + text)(0.001);
    } catch (const moho::Error& error) {
      found = error.what();
    }
    return found;
  };
  EXPECT_THAT(message("", "1\n2\n"),
              HasSubstr("wavelet.csv: it has no times (allowed: two columns"));
  EXPECT_THAT(message(":0.001", "0,1\n0.001,2\n"),
              HasSubstr("its interval is given, 0.001 s, and it has times"));
  EXPECT_THAT(message("", "0,1,2\n"), HasSubstr("it has 3 columns (allowed: time and amplitude"));
  EXPECT_THAT(message("", "0,1\n"), HasSubstr("there is one time (allowed: 2 or more)"));
  EXPECT_THAT(message("", "0,1\n0.001,2\n0.003,1\n"),
              HasSubstr("time 1 is 0.001 s (allowed: equal intervals from 0"));
  EXPECT_THAT(message("", "-0.001,1\n0,2\n0.001,1\n"), HasSubstr("time 0 is -0.001 s"));
  EXPECT_THAT(message("", "0,1\n0,2\n"), HasSubstr("time 0 is 0 s (allowed: equal intervals"));
  EXPECT_THAT(message("", "0,0\n0.001,0\n"), HasSubstr("all samples are zero"));
}

TEST(PeakFrequency, IsThatOfARicker) {
  EXPECT_EQ(moho::survey::peak_frequency("ricker:15:0.2"), 15.0);
  const Folder folder;
  std::string times;
  const std::vector<double> samples = moho::wave::ricker(20.0, 0.002);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    times += moho::concat(0.002 * static_cast<double>(i), ", ", samples[i], "\n");
  }
  put_file(folder / "ricker.csv", times);
  EXPECT_NEAR(moho::survey::peak_frequency((folder / "ricker.csv").string()), 20.0, 0.1);
}

TEST(PeakFrequency, NamesTheArgumentInMessages) {
  for (const char* text : {"ricker:nan", "ricker:0", "ormsby:1,2,3,1e30", "ormsby:4,3,2,1"}) {
    const std::string said =
        message_of<InputError>([&] { moho::survey::peak_frequency(text, "--wavelet"); });
    EXPECT_EQ(said.find("--wavelet"), 0u) << said;
    EXPECT_EQ(said.find("--wavelet", 1), std::string::npos) << said;
  }
}

}  // namespace
