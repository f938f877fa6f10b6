// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Directions of the lines of SEG-Y models.
#include "files.hpp"

#include <moho/io/model.hpp>
#include <moho/io/segy.hpp>

#include <cstddef>
#include <random>
#include <utility>

namespace moho::io {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A trace of one sample: coordinates in centimetres, numbers of in-line and cross-line.
struct Trace {
  int x = 0, y = 0;
  int inline_number = 0, crossline_number = 0;
  float value = 0.0F;
  int identification = 0, units = 0, delay = 0, interval = 0;  // of the headers
};

class SegyModels : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::vector<Trace>& traces) const {
    std::string bytes(3600, '\0');
    const auto put = [&](std::size_t at, auto value) {
      bytes.replace(at, sizeof(value), bytes_of(value, true));
    };
    put(3216, std::int16_t(5000));
    put(3220, std::int16_t(1));
    put(3224, std::int16_t(5));
    for (const Trace& trace : traces) {
      const std::size_t at = bytes.size();
      bytes.append(244, '\0');
      put(at + 28, std::int16_t(trace.identification));
      put(at + 70, std::int16_t(-100));
      put(at + 88, std::int16_t(trace.units));
      put(at + 108, std::int16_t(trace.delay));
      put(at + 116, std::int16_t(trace.interval));
      put(at + 180, std::int32_t(trace.x));
      put(at + 184, std::int32_t(trace.y));
      put(at + 188, std::int32_t(trace.inline_number));
      put(at + 192, std::int32_t(trace.crossline_number));
      put(at + 240, trace.value);
    }
    put_file(folder / "a.sgy", bytes);
    return folder / "a.sgy";
  }
  SegyModel<float> read(const std::vector<Trace>& traces) const {
    return read_segy_model<float>(write(traces));
  }
  /// A volume of 2 x 3 traces, x 10 to 30 m, y 50 to 60 m, whose values are 10 i + j.
  static std::vector<Trace> volume() {
    std::vector<Trace> traces;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) {
        traces.push_back(
            {1000 + 2000 * i, 5000 + 500 * j, 7 + i, 3 + j, static_cast<float>(10 * i + j)});
      }
    }
    return traces;
  }
  static void expect_volume(const SegyModel<float>& model) {
    EXPECT_THAT(model.values.shape, ElementsAre(2, 3, 1));
    EXPECT_THAT(model.values.data, ElementsAre(0, 1, 2, 10, 11, 12));
    EXPECT_THAT(model.spacing, ElementsAre(20, 5, 5));
    EXPECT_THAT(model.origin, ElementsAre(10, 50, 0));
    EXPECT_THAT(model.has_origin, ElementsAre(true, true, true));
  }

  Folder folder;
};

TEST_F(SegyModels, LinesAlmostParallelToXKeepTheirCoordinates) {
  SegyModel<float> model = read({{40000, 0}, {41000, 0}, {42000, 1}});
  EXPECT_THAT(model.origin, ElementsAre(400, 0));
  EXPECT_THAT(model.spacing, ElementsAre(10, 5));
  EXPECT_THAT(model.notes, IsEmpty());
  model = read({{40000, 0}, {41000, 30}, {42000, 60}});
  EXPECT_THAT(model.origin, ElementsAre(0, 0));
  EXPECT_THAT(model.has_origin, ElementsAre(false, true));
  EXPECT_THAT(model.notes,
              ElementsAre("the traces from (400, 0) to (420, 0.6) are not parallel to x: x is the "
                          "distance from the first trace"));
  model = read({{700, 40000}, {700, 41000}});
  EXPECT_THAT(model.origin, ElementsAre(0, 0));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("not parallel to x")));
  model = read({{40000, 0}, {41000, 0}, {42500, 0}});
  EXPECT_THAT(model.spacing, ElementsAre(0, 5));
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("are not equally spaced: they are not used")));
}

TEST_F(SegyModels, ScatteredPositionsOfALineAreFitted) {
  // 60 traces, 10 m apart along (0.8, 0.6), up to 1 m away along x and along y
  std::mt19937 random(5);
  std::uniform_int_distribution<int> offset(-100, 100);
  std::vector<Trace> oblique, along_x;
  for (int i = 0; i < 60; ++i) {
    const int x = offset(random), y = offset(random);
    oblique.push_back({40000 + 800 * i + x, 600 * i + y, 0, 0, static_cast<float>(i)});
    along_x.push_back({40000 - 1000 * i + x, 7000 + y, 0, 0, static_cast<float>(i)});
  }
  SegyModel<float> model = read(oblique);
  EXPECT_NEAR(model.spacing[0], 10.0, 0.03);
  EXPECT_THAT(model.has_origin, ElementsAre(false, true));
  EXPECT_EQ(model.origin[0], 0.0);
  EXPECT_THAT(model.notes, ElementsAre(AllOf(HasSubstr("deviate by up to 1."),
                                             HasSubstr(" from equal distances of ")),
                                       HasSubstr("are not parallel to x")));
  model = read(along_x);
  EXPECT_NEAR(model.spacing[0], 10.0, 0.03);
  EXPECT_THAT(model.has_origin, ElementsAre(true, true));
  EXPECT_NEAR(model.origin[0], 400.0 - 590.0, 1.0);
  EXPECT_EQ(model.values.data[0], 59.0F);
  EXPECT_THAT(model.notes,
              ElementsAre(HasSubstr("deviate by up to"), HasSubstr("x decreases from trace")));
  // a trace is missing, few traces, and the same position
  along_x.erase(along_x.begin() + 30);
  model = read(along_x);
  EXPECT_EQ(model.spacing[0], 0.0);
  EXPECT_THAT(model.notes, ElementsAre(HasSubstr("are not equally spaced: they are not used")));
  oblique.resize(9);
  EXPECT_EQ(read(oblique).spacing[0], 0.0);
  model = read(std::vector<Trace>(20, Trace{40000, 7000}));
  EXPECT_EQ(model.spacing[0], 0.0);
  EXPECT_THAT(model.has_origin, ElementsAre(false, true));
}

TEST_F(SegyModels, DecreasingCoordinatesAreReversed) {
  const SegyModel<float> model =
      read({{42000, 0, 0, 0, 3.0F}, {41000, 0, 0, 0, 2.0F}, {40000, 0, 0, 0, 1.0F}});
  EXPECT_THAT(model.origin, ElementsAre(400, 0));
  EXPECT_THAT(model.spacing, ElementsAre(10, 5));
  EXPECT_THAT(model.values.data, ElementsAre(1, 2, 3));
  EXPECT_THAT(model.notes,
              ElementsAre("x decreases from trace to trace: the traces were reversed"));
}

TEST_F(SegyModels, VolumesHaveTheAxesOfTheirCoordinates) {
  const std::vector<Trace> sorted = volume();
  expect_volume(read(sorted));
  EXPECT_THAT(read(sorted).notes, IsEmpty());
  std::vector<Trace> traces;  // x is faster, and decreases
  for (int j = 0; j < 3; ++j) {
    for (int i = 1; i >= 0; --i) traces.push_back(sorted[static_cast<std::size_t>(3 * i + j)]);
  }
  const auto path = write(traces);
  EXPECT_THAT(peek_model<float>(path).shape, ElementsAre(2, 3, 1));
  const SegyModel<float> model = read_segy_model<float>(path);
  expect_volume(model);
  EXPECT_THAT(model.notes, ElementsAre("x is the faster number of the traces: they were sorted",
                                       "x decreases from trace to trace: it was reversed"));
  expect_volume(read({sorted.rbegin(), sorted.rend()}));
  // read_model() passes notes on
  write({sorted.rbegin(), sorted.rend()});
  EXPECT_EQ(read_model<float>(path).notes.size(), 2U);
  EXPECT_TRUE(read_model<float>(path).states_origin(1));
}

TEST_F(SegyModels, ObliqueVolumesAreMeasuredAlongTheirLines) {
  std::vector<Trace> traces = volume();
  for (Trace& trace : traces) {
    const int i = trace.inline_number - 7, j = trace.crossline_number - 3;
    trace.x = 300 * i - 400 * j;
    trace.y = 400 * i + 300 * j;
  }
  const SegyModel<float> model = read(traces);
  EXPECT_THAT(model.values.shape, ElementsAre(2, 3, 1));
  EXPECT_THAT(model.spacing, ElementsAre(5, 5, 5));
  EXPECT_THAT(model.origin, ElementsAre(0, 0, 0));
  EXPECT_EQ(model.notes.size(), 2U);
  for (Trace& trace : traces) trace.y += trace.x;
  EXPECT_THAT(message_of<FileError>([&] { (void)read(traces); }),
              HasSubstr("(allowed: perpendicular lines): interpolate"));
}

TEST_F(SegyModels, UnsortedVolumesAreRefused) {
  std::vector<Trace> traces = volume();
  std::swap(traces[2], traces[4]);
  EXPECT_THAT(message_of<FileError>([&] { (void)read(traces); }),
              AllOf(HasSubstr("a volume of 2 in-lines and 3 cross-lines, and trace 3, in-line 8, "
                              "cross-line 4, is the first out of order"),
                    HasSubstr("sort the traces")));
  traces.pop_back();  // no rectangle: a section
  EXPECT_THAT(read(traces).values.shape, ElementsAre(5, 1));
}

TEST_F(SegyModels, ContradictoryHeadersAreRefused) {
  const auto with = [&](int Trace::*field, int value) {
    std::vector<Trace> traces{{40000, 0}, {41000, 0}, {42000, 0}};
    traces[1].*field = value;
    return read_model<float>(write(traces));
  };
  const auto refusal = [&](int Trace::*field, int value) {
    return message_of<FileError>([&] { (void)with(field, value); });
  };
  EXPECT_THAT(refusal(&Trace::units, 2), HasSubstr("trace 2 has coordinates in seconds of arc"));
  EXPECT_THAT(refusal(&Trace::units, 3), HasSubstr("project the coordinates first"));
  EXPECT_THAT(refusal(&Trace::units, 5), HasSubstr("in an unknown unit (code 5"));
  EXPECT_THAT(with(&Trace::units, 1).spacing, ElementsAre(10, 5));
  EXPECT_THAT(refusal(&Trace::identification, 2), HasSubstr("trace 2 is dead"));
  EXPECT_THAT(with(&Trace::identification, 1).spacing, ElementsAre(10, 5));
  EXPECT_THAT(refusal(&Trace::delay, 7),
              HasSubstr("the first sample of trace 2 is at 7, that of trace 1 at 0"));
}

TEST_F(SegyModels, IntervalsThatDifferAreNotUsed) {
  std::vector<Trace> traces{{40000, 0}, {41000, 0}};
  traces[1].interval = 5000;
  EXPECT_THAT(read(traces).spacing, ElementsAre(10, 5));
  traces[1].interval = 4000;
  const SegyModel<float> model = read(traces);
  EXPECT_THAT(model.spacing, ElementsAre(10, 0));
  EXPECT_EQ(model.interval, 5000);
  EXPECT_THAT(model.notes, ElementsAre("the interval of trace 2 is 4000 (bytes 117-118), that of "
                                       "the file 5000: they are not used"));
}

}  // namespace
}  // namespace moho::io
