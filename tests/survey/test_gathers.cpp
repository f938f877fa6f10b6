// SPDX-License-Identifier: BSD-3-Clause
//
// Surveys of shot gathers: use of headers, errors, and traces. The library writes the files; the
// tests modify other header bytes directly.

#include "io/files.hpp"

#include <moho/io/npy.hpp>
#include <moho/io/segy.hpp>
#include <moho/survey/gathers.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::Folder;
using io::test::message_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int samples_of_trace = 6;

/// Returns gathers of shots 100 m apart, with receivers every 20 m at smaller x.
///
/// Sources are 6 m and receivers 8 m deep. Sample i of trace k of shot s is 100 s + 10 k + i + 1.
std::vector<io::Gather<float>> line_of(int shots, int receivers) {
  std::vector<io::Gather<float>> gathers;
  for (int s = 0; s < shots; ++s) {
    io::Gather<float> gather;
    gather.record = 11 + s;
    gather.source_x = 1000.0 + 100.0 * s;
    gather.source_depth = 6.0;
    gather.interval = 0.004;
    gather.samples.shape = {receivers, samples_of_trace};
    for (int k = 0; k < receivers; ++k) {
      gather.receiver_x.push_back(gather.source_x - 50.0 - 20.0 * k);
      gather.receiver_y.push_back(0.0);
      gather.receiver_elevation.push_back(-8.0);
      for (int i = 0; i < samples_of_trace; ++i) {
        gather.samples.data.push_back(static_cast<float>(100 * s + 10 * k + i + 1));
      }
    }
    gathers.push_back(gather);
  }
  return gathers;
}

class Gathers : public ::testing::Test {
 protected:
  void write(const std::vector<io::Gather<float>>& gathers, const std::string& name = "a.sgy") {
    io::write_gathers(folder / name, gathers);
    file = name;
  }
  /// Writes a big-endian number at a byte of the file's headers, counted from 1.
  template <class T>
  void binary(std::size_t byte, T value) {
    put(byte - 1, value);
  }
  /// Writes a big-endian number at a byte of the header of a trace, counted from 0.
  template <class T>
  void trace(int number, std::size_t byte, T value) {
    put(3600 + static_cast<std::size_t>(number) * (240 + 4 * samples_of_trace) + byte - 1, value);
  }
  void trace16(int number, std::size_t byte, int value) {
    trace(number, byte, static_cast<std::int16_t>(value));
  }
  template <int Dim = 2>
  Survey<Dim> survey(const SurveyOptions& options = {}) {
    return Survey<Dim>(folder / file, options);
  }
  template <int Dim = 2>
  std::string refusal(const SurveyOptions& options = {}) {
    return message_of<FileError>([&] { (void)survey<Dim>(options); });
  }

  Folder folder;
  std::string file;

 private:
  template <class T>
  void put(std::size_t offset, T value) {
    std::string bytes = io::test::get_file(folder / file);
    bytes.replace(offset, sizeof(T), io::test::bytes_of(value, true));
    io::test::put_file(folder / file, bytes);
  }
};

TEST_F(Gathers, ReadsTheShotsOfAFile) {
  write(line_of(3, 4));
  const Survey<2> line = survey();
  ASSERT_EQ(line.size(), 3U);
  EXPECT_DOUBLE_EQ(line.interval(), 0.004);
  EXPECT_EQ(line.samples(), samples_of_trace);
  EXPECT_THAT(line.notes(), ElementsAre(AllOf(HasSubstr("3 shots, 12 traces of 6 samples every "
                                                        "4 ms"),
                                              HasSubstr("a.sgy"))));
  for (std::size_t s : {2U, 0U, 1U}) {
    const auto at = static_cast<double>(s);
    EXPECT_EQ(line.name(s), concat("'", (folder / "a.sgy").string(), "', shot ", 11 + s));
    const ShotGather<2> gather = line.read(s);
    EXPECT_EQ(gather.name, line.name(s));
    EXPECT_EQ(gather.shot.number, 11 + static_cast<std::int64_t>(s));
    ASSERT_EQ(gather.shot.sources.size(), 1U);
    EXPECT_EQ(gather.shot.sources[0][0], 1000.0 + 100.0 * at);
    EXPECT_EQ(gather.shot.sources[0][1], 6.0);
    ASSERT_EQ(gather.shot.receivers.size(), 4U);
    EXPECT_EQ(gather.shot.receivers[3][0], 890.0 + 100.0 * at);
    EXPECT_EQ(gather.shot.receivers[3][1], 8.0);
    EXPECT_EQ(gather.count, samples_of_trace);
    EXPECT_EQ(gather.t0, 0.0);
    EXPECT_EQ(gather.dt, line.interval());
    EXPECT_THAT(gather.traces, ElementsAre(4 * s + 1, 4 * s + 2, 4 * s + 3, 4 * s + 4));
    EXPECT_TRUE(gather.notes.empty());
    ASSERT_EQ(gather.samples.size(), 24U);
    for (std::size_t i = 0; i < 24; ++i) {
      EXPECT_EQ(gather.samples[i], static_cast<float>(100 * s + 10 * (i / 6) + i % 6 + 1));
    }
  }
  const Survey<3> volume = survey<3>();
  EXPECT_EQ(volume.shots()[1].receivers[2][0], 1010.0);
  EXPECT_EQ(volume.shots()[1].receivers[2][1], 0.0);
  EXPECT_EQ(volume.shots()[1].receivers[2][2], 8.0);
}

TEST_F(Gathers, ScalesByTheStandard) {
  // scalars (bytes 71-72, bytes 69-70), and the factors that they stand for
  const int scalars[] = {0, 1, 10, -10, -1000};
  const double factors[] = {1.0, 1.0, 10.0, 0.1, 0.001};
  write(line_of(1, 1));
  for (int a = 0; a < 5; ++a) {
    for (int b = 0; b < 5; ++b) {
      trace16(0, 71, scalars[a]);
      trace16(0, 69, scalars[b]);
      const std::int32_t xy[] = {40000, 50000, 60000, 70000};
      for (std::size_t k = 0; k < 4; ++k) trace(0, 73 + 4 * k, xy[k]);
      trace(0, 41, std::int32_t{-90});  // receiver elevation
      trace(0, 45, std::int32_t{30});   // source elevation
      trace(0, 49, std::int32_t{250});  // source depth
      const double f = factors[a], g = factors[b];
      for (const bool feet : {false, true}) {
        binary(3255, static_cast<std::int16_t>(feet ? 2 : 1));
        const double m = feet ? 0.3048 : 1.0;
        const Survey<3> found = survey<3>();
        const wave::Shot<3>& shot = found.shots()[0];
        EXPECT_NEAR(shot.sources[0][0], 40000 * f * m, 1e-9 * 40000 * f);
        EXPECT_NEAR(shot.sources[0][1], 50000 * f * m, 1e-9 * 50000 * f);
        EXPECT_NEAR(shot.sources[0][2], (250 - 30) * g * m, 1e-9);
        EXPECT_NEAR(shot.receivers[0][0], 60000 * f * m, 1e-9 * 60000 * f);
        EXPECT_NEAR(shot.receivers[0][1], 70000 * f * m, 1e-9 * 70000 * f);
        EXPECT_NEAR(shot.receivers[0][2], 90 * g * m, 1e-9);
        std::string notes;
        for (const std::string& note : found.notes()) notes += note;
        EXPECT_EQ(notes.find("were feet and are converted") != std::string::npos, feet);
      }
    }
  }
  SurveyOptions options;
  options.unit = LengthUnit::metres;
  EXPECT_NEAR(survey<3>(options).shots()[0].receivers[0][2], 0.09, 1e-12);
  options.unit = LengthUnit::feet;
  binary(3255, std::int16_t{1});
  EXPECT_NEAR(survey<3>(options).shots()[0].receivers[0][2], 0.09 * 0.3048, 1e-12);
}

TEST_F(Gathers, RefusesCoordinatesThatAreNoLengths) {
  write(line_of(1, 3));
  const std::pair<int, const char*> codes[] = {{2, "seconds of arc"},
                                               {3, "decimal degrees"},
                                               {4, "degrees, minutes and seconds"},
                                               {9, "an unknown unit"}};
  for (const auto& [code, words] : codes) {
    trace16(1, 89, code);
    EXPECT_THAT(refusal(),
                AllOf(HasSubstr("trace 2 has coordinates in " + std::string(words)),
                      HasSubstr(concat("code ", code, " in bytes 89-90")), HasSubstr("project")));
  }
  trace16(1, 89, 0);
  EXPECT_EQ(survey().size(), 1U);
}

TEST_F(Gathers, TakesElevationsAsDepthsWhenAsked) {
  std::vector<io::Gather<float>> gathers = line_of(1, 2);
  gathers[0].source_elevation = 20.0;
  gathers[0].source_depth = 0.0;
  gathers[0].receiver_elevation = {50.0, 50.0};
  write(gathers);
  SurveyOptions options;
  EXPECT_EQ(survey().shots()[0].sources[0][1], -20.0);
  EXPECT_EQ(survey().shots()[0].receivers[1][1], -50.0);
  // by the standard's convention all lie above the model
  const Grid<2> grid{Index<2>{201, 31}, Point<2>{10.0, 10.0}, Point<2>{0.0, 0.0}};
  Survey<2> above = survey();
  const std::string text = message_of<InputError>([&] { above.keep_inside(grid); });
  EXPECT_THAT(text, AllOf(HasSubstr("--elevations depth"), HasSubstr("z -50"), HasSubstr("z -20"),
                          HasSubstr("model x 0 to 2000, z 0 to 300 m")));
  EXPECT_EQ(above.size(), 1U);  // no shot was removed

  options.elevations = Elevations::depth;
  Survey<2> inside = survey(options);
  EXPECT_EQ(inside.shots()[0].sources[0][1], 20.0);
  EXPECT_EQ(inside.shots()[0].receivers[1][1], 50.0);
  EXPECT_THAT(inside.notes(), Contains(HasSubstr("elevations are taken as depths")));
  inside.keep_inside(grid);
  EXPECT_EQ(inside.size(), 1U);

  // elevations that are negative below the datum
  gathers[0].source_elevation = -20.0;
  gathers[0].receiver_elevation = {-50.0, -50.0};
  write(gathers);
  Survey<2> wrong = survey(options);
  EXPECT_THAT(message_of<InputError>([&] { wrong.keep_inside(grid); }),
              HasSubstr("--elevations standard"));

  // source depths without elevations; elevation and depth together only if they agree
  gathers[0].source_elevation = 0.0;
  gathers[0].source_depth = 7.0;
  write(gathers);
  EXPECT_EQ(survey(options).shots()[0].sources[0][1], 7.0);
  gathers[0].source_elevation = 7.0;
  write(gathers);
  EXPECT_EQ(survey(options).shots()[0].sources[0][1], 7.0);
  gathers[0].source_elevation = 20.0;
  write(gathers);
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("trace 1 has a source elevation of 20"),
                                      HasSubstr("source depth of 7 (bytes 49-52)")));
}

TEST_F(Gathers, KnowsWhenTheFirstSampleWasTaken) {
  std::vector<io::Gather<float>> gathers = line_of(2, 2);
  gathers[0].delay = -0.0125;
  gathers[1].delay = 0.1;
  write(gathers);
  const Survey<2> line = survey();
  EXPECT_DOUBLE_EQ(line.t0(0), -0.0125);
  EXPECT_DOUBLE_EQ(line.read(1).t0, 0.1);
  EXPECT_DOUBLE_EQ(line.duration(), 0.1 + 5 * 0.004);  // of the shot that ends last
  EXPECT_THAT(line.notes(), Contains(HasSubstr("-12.5 ms to 100 ms after the shots")));
  gathers[1].delay = -0.016;
  write(gathers);
  EXPECT_DOUBLE_EQ(survey().duration(), -0.0125 + 5 * 0.004);
  gathers[1].delay = 0.1;
  write(gathers);
  trace16(3, 109, 990);  // the scalar of the file is -10
  EXPECT_THAT(refusal(), AllOf(HasSubstr("shot 12: trace 4 begins at 99 ms, trace 3 at 100 ms"),
                               HasSubstr("bytes 109-110")));
}

TEST_F(Gathers, LeavesOutWhatIsNoSeismicData) {
  write(line_of(2, 4));
  trace16(1, 29, 2);
  trace16(6, 29, 2);
  trace16(3, 29, 9);
  trace16(0, 29, 11);
  trace16(2, 29, 0);
  const Survey<2> line = survey();
  EXPECT_THAT(line.notes(), Contains(HasSubstr("2 dead traces left out")));
  EXPECT_THAT(line.notes(), Contains(HasSubstr("1 trace left out that are no seismic data (trace "
                                               "identification 9)")));
  const ShotGather<2> first = line.read(0), second = line.read(1);
  EXPECT_THAT(first.traces, ElementsAre(1, 3));
  EXPECT_EQ(first.shot.receivers[1][0], 910.0);
  EXPECT_EQ(first.samples[6], 21.0F);
  EXPECT_THAT(second.traces, ElementsAre(5, 6, 8));
  EXPECT_EQ(second.samples[12], 131.0F);
  for (int k = 0; k < 8; ++k) trace16(k, 29, k < 3 ? 2 : 12);
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("no trace of seismic data"), HasSubstr("3 of 2, 5 of 12")));
}

TEST_F(Gathers, LeavesOutTracesThatAreZero) {
  std::vector<io::Gather<float>> gathers = line_of(2, 3);
  std::fill_n(gathers[0].samples.data.begin() + samples_of_trace, samples_of_trace, 0.0F);
  std::fill(gathers[1].samples.data.begin(), gathers[1].samples.data.end(), 0.0F);
  write(gathers);
  const ShotGather<2> some = survey().read(0), none = survey().read(1);
  EXPECT_THAT(some.traces, ElementsAre(1, 3));
  EXPECT_EQ(some.shot.receivers.size(), 2U);
  EXPECT_EQ(some.shot.receivers[1][0], 910.0);
  EXPECT_EQ(some.samples[6], 21.0F);
  EXPECT_THAT(some.notes, ElementsAre("1 trace is zero and left out: trace 2"));
  EXPECT_TRUE(none.shot.receivers.empty() && none.samples.empty());
  EXPECT_THAT(none.notes, ElementsAre("all 3 traces are zero and left out"));
  SurveyOptions options;
  options.keep_zero_traces = true;
  const ShotGather<2> kept = survey(options).read(0);
  EXPECT_THAT(kept.traces, ElementsAre(1, 2, 3));
  EXPECT_THAT(kept.notes, ElementsAre("1 trace is zero and kept: trace 2"));
  EXPECT_EQ(kept.samples.size(), 18U);
}

TEST_F(Gathers, RefusesTwoTracesAtOnePlace) {
  std::vector<io::Gather<float>> gathers = line_of(2, 4);
  gathers[1].receiver_x[3] = gathers[1].receiver_x[0];
  write(gathers);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("shot 12: traces 5 and 8"), HasSubstr("(1050, 0, 8)")));
  trace16(4, 29, 2);  // one of the traces is dead
  EXPECT_EQ(survey().shots()[1].receivers.size(), 3U);
}

TEST_F(Gathers, RefusesSamplesThatAreNotFinite) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    write(line_of(2, 4));
    std::string bytes = io::test::get_file(folder / "a.sgy");
    const std::size_t trace = 240 + 4 * static_cast<std::size_t>(samples_of_trace);
    bytes.replace(3600 + 6 * trace + 240 + 4 * 4, 4, io::test::bytes_of(bad, true));
    io::test::put_file(folder / "a.sgy", bytes);
    EXPECT_EQ(survey().read(0).traces.size(), 4U);
    EXPECT_THAT(message_of<FileError>([&] { (void)survey().read(1); }),
                AllOf(HasSubstr("a.sgy', shot 12: trace 7 is"), HasSubstr("at sample 5"),
                      HasSubstr(std::isnan(bad) ? "nan" : "-inf")));
  }
}

TEST_F(Gathers, FindsTheInterval) {
  write(line_of(1, 3));
  SurveyOptions given;
  given.interval = 0.001;
  for (int k = 0; k < 3; ++k) trace16(k, 117, k == 0 ? 0 : 2000);
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("trace 2 (bytes 117-118) has an interval of 2000 us"),
                    HasSubstr("the binary header (bytes 3217-3218)"), HasSubstr("4000 us")));
  EXPECT_EQ(survey(given).interval(), 0.001);
  binary(3217, std::int16_t{0});
  EXPECT_DOUBLE_EQ(survey().interval(), 0.002);
  EXPECT_THAT(survey().notes(), Contains(HasSubstr("from the trace headers")));
  trace16(2, 117, 2500);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("trace 3 (bytes 117-118) has an interval of 2500 us"),
                               HasSubstr("trace 2 (bytes 117-118)")));
  for (int k = 0; k < 3; ++k) trace16(k, 117, 0);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("does not say the sample interval"),
                               HasSubstr("are 0): give it as interval")));
  EXPECT_EQ(survey(given).interval(), 0.001);
  EXPECT_THAT(survey(given).notes(), Contains(HasSubstr("was given, 1 ms")));
  given.interval = -1.0;
  EXPECT_THAT(message_of<InputError>([&] { (void)survey(given); }), HasSubstr("interval is -1 s"));
}

TEST_F(Gathers, TellsShotsApartByRecordAndSource) {
  std::vector<io::Gather<float>> gathers = line_of(3, 2);
  gathers[2].record = gathers[0].record;  // at another position
  write(gathers);
  const Survey<2> line = survey();
  ASSERT_EQ(line.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(line.shots()[k].number, static_cast<std::int64_t>(k) + 1);
  }
  EXPECT_THAT(line.notes(), Contains(HasSubstr("numbered from 1")));
  // traces of several shots in mixed order
  gathers = line_of(2, 2);
  gathers[1].source_x = gathers[0].source_x;
  write(gathers);
  trace(1, 9, std::int32_t{12});
  trace(2, 9, std::int32_t{11});
  const Survey<2> mixed = survey();
  ASSERT_EQ(mixed.size(), 2U);
  EXPECT_THAT(mixed.read(0).traces, ElementsAre(1, 3));
  EXPECT_THAT(mixed.read(1).traces, ElementsAre(2, 4));
}

/// Points every 25 m from a point in a direction, alternately shifted sideways by +side and -side.
std::vector<io::Gather<float>> oblique_line(double x, double y, double degrees, double side) {
  const double angle = degrees * std::acos(-1.0) / 180.0;
  const double ux = std::cos(angle), uy = std::sin(angle);
  std::vector<io::Gather<float>> gathers = line_of(2, 20);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto place = [&](double distance, double off, double& px, double& py) {
      px = x + distance * ux - off * uy;
      py = y + distance * uy + off * ux;
    };
    place(25.0 * static_cast<double>(s), 0.0, gathers[s].source_x, gathers[s].source_y);
    for (std::size_t k = 0; k < 20; ++k) {
      place(25.0 * static_cast<double>(s + k + 1), k % 4 == 0 || k % 4 == 3 ? side : -side,
            gathers[s].receiver_x[k], gathers[s].receiver_y[k]);
    }
  }
  return gathers;
}

TEST_F(Gathers, ProjectsOnTheDirectionOfTheLine) {
  for (const double degrees : {30.0, 90.0, -60.0}) {
    write(oblique_line(5000.0, 80000.0, degrees, 0.0));
    const Survey<2> line = survey();
    // coordinates are stored to 0.0001 m
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_NEAR(line.shots()[s].sources[0][0], 25.0 * static_cast<double>(s), 1e-3);
      for (std::size_t k = 0; k < 20; ++k) {
        EXPECT_NEAR(line.shots()[s].receivers[k][0], 25.0 * static_cast<double>(s + k + 1), 1e-3);
      }
      EXPECT_EQ(line.shots()[s].receivers[0][1], 8.0);
    }
    EXPECT_THAT(line.notes(), Contains(HasSubstr("positions are projected on the line")));
    EXPECT_EQ(degrees == 90.0, line.notes().at(1).ends_with("in the direction (0, 1)"));
  }
  // with a direction of 0 degrees the coordinate along the line grows with x
  write(oblique_line(5000.0, 80000.0, 210.0, 0.0));
  EXPECT_NEAR(survey().shots()[0].sources[0][0], 525.0, 1e-3);
  EXPECT_NEAR(survey().shots()[1].receivers[19][0], 0.0, 1e-3);
}

TEST_F(Gathers, SaysHowFarPointsLieOffTheLine) {
  write(oblique_line(5000.0, 80000.0, 30.0, 12.0));
  SurveyOptions options;
  options.line = parse_survey_line("5000,80000:5866.025404,80500");  // 30 degrees
  const Survey<2> line = survey(options);
  EXPECT_NEAR(line.shots()[1].receivers[3][0], 125.0, 1e-3);
  const std::string note = line.notes().back();
  ASSERT_THAT(note, AllOf(HasSubstr("lie up to "), HasSubstr(" m off the line")));
  EXPECT_NEAR(std::stod(note.substr(note.find("up to ") + 6)), 12.0, 1e-3);
  // without options nearly the same direction is found, because the shifts alternate
  const Survey<2> found = survey();
  EXPECT_NEAR(found.shots()[1].receivers[3][0], 125.0, 1.0);
  EXPECT_THAT(found.notes(), Contains(HasSubstr("m off the line")));
}

TEST_F(Gathers, KeepsXOfLinesAlongX) {
  write(oblique_line(5000.0, 300.0, 0.0, 2.0));
  const Survey<2> line = survey();
  EXPECT_EQ(line.shots()[0].sources[0][0], 5000.0);
  EXPECT_EQ(line.shots()[0].receivers[3][0], 5100.0);
  EXPECT_THAT(line.notes(), Not(Contains(HasSubstr("projected"))));
  EXPECT_THAT(line.notes(), Contains(HasSubstr("positions lie up to")));
  // an angle is measured from the origin of the coordinates
  SurveyOptions options;
  options.line = parse_survey_line("90");
  EXPECT_EQ(survey(options).shots()[0].sources[0][0], 300.0);
  EXPECT_THAT(survey(options).notes(), Contains(HasSubstr("in the direction (0, 1)")));
  options.line = parse_survey_line("0");
  EXPECT_EQ(survey(options).shots()[0].sources[0][0], 5000.0);
}

TEST_F(Gathers, ShiftsTheOrigin) {
  write(oblique_line(5000.0, 300.0, 0.0, 0.0));
  SurveyOptions options;
  options.origin = {4000.0, 100.0, -2.0};
  const Survey<2> line = survey(options);
  EXPECT_EQ(line.shots()[0].sources[0][0], 1000.0);
  EXPECT_EQ(line.shots()[0].sources[0][1], 8.0);
  EXPECT_THAT(line.notes(), Contains(HasSubstr("counted from (4000, -2) m")));
  const Survey<3> volume = survey<3>(options);
  EXPECT_EQ(volume.shots()[0].receivers[0][0], 1025.0);
  EXPECT_EQ(volume.shots()[0].receivers[0][1], 200.0);
  EXPECT_EQ(volume.shots()[0].receivers[0][2], 10.0);
  options.origin[1] = std::nan("");
  EXPECT_THAT(message_of<InputError>([&] { (void)survey(options); }),
              HasSubstr("origin has the coordinate nan"));
}

TEST_F(Gathers, MovesRoundedPositionsOntoFaces) {
  write(line_of(4, 5));
  // receivers from 870 m, sources to 1300 m
  const Grid<2> grid{Index<2>{44, 11}, Point<2>{9.998, 10.0}, Point<2>{870.0499, 0.0}};
  Survey<2> line = survey();
  line.keep_inside(grid);
  ASSERT_EQ(line.size(), 4U);
  ASSERT_EQ(line.shots()[0].receivers.size(), 5U);
  EXPECT_EQ(line.shots()[0].receivers[4][0], 870.0499);
  EXPECT_EQ(line.shots()[0].receivers[3][0], 890.0);
  EXPECT_EQ(line.shots()[3].sources[0][0], grid.upper(0));
  EXPECT_THAT(line.notes(),
              Contains(HasSubstr("2 positions outside of the model by at most 0.01 of "
                                 "its spacing moved onto its faces")));
  Survey<2> farther = survey();
  farther.keep_inside({grid.extents, grid.spacing, Point<2>{870.11, 0.0}});
  EXPECT_EQ(farther.shots()[0].receivers.size(), 4U);
}

TEST_F(Gathers, KeepsWhatIsInsideOfTheModel) {
  write(line_of(4, 5));
  // x from 900 to 1250 m: shot 4 is at 1300 m, shot 1 has two receivers below 900 m
  const Grid<2> grid{Index<2>{36, 11}, Point<2>{10.0, 10.0}, Point<2>{900.0, 0.0}};
  Survey<2> line = survey();
  line.keep_inside(grid);
  ASSERT_EQ(line.size(), 3U);
  EXPECT_THAT(line.notes(), Contains(HasSubstr("1 shot left out whose source or receivers are "
                                               "outside of the model, the first being shot 14")));
  EXPECT_THAT(line.notes(), Contains(HasSubstr("2 traces left out")));
  const ShotGather<2> gather = line.read(0);
  EXPECT_THAT(gather.traces, ElementsAre(1, 2, 3));
  EXPECT_EQ(gather.shot.receivers.size(), 3U);
  EXPECT_EQ(line.read(2).samples[0], 201.0F);
  line.keep_inside(grid);
  EXPECT_EQ(line.size(), 3U);
  const Grid<2> later{Index<2>{36, 11}, Point<2>{10.0, 10.0}, Point<2>{1100.0, 0.0}};
  line.keep_inside(later);  // the receivers of shot 12 are all below 1100 m
  ASSERT_EQ(line.size(), 1U);
  EXPECT_EQ(line.name(0), concat("'", (folder / "a.sgy").string(), "', shot 13"));
  EXPECT_EQ(line.read(0).samples[0], 201.0F);

  Survey<2> lost = survey();
  const Grid<2> far{Index<2>{36, 11}, Point<2>{10.0, 10.0}, Point<2>{9000.0, 0.0}};
  EXPECT_THAT(message_of<InputError>([&] { lost.keep_inside(far); }),
              AllOf(HasSubstr("none of 4"), HasSubstr("sources x 1000 to 1300, z 6 m"),
                    HasSubstr("receivers x 870 to 1250, z 8 m"),
                    HasSubstr("model x 9000 to 9350, z 0 to 100 m"), HasSubstr("shift the origin"),
                    Not(HasSubstr("--elevations"))));
}

TEST_F(Gathers, ReadsFoldersOfFiles) {
  std::vector<io::Gather<float>> gathers = line_of(3, 2);
  std::filesystem::create_directory(folder / "line");
  write({gathers[2]}, "line/c.segy");
  write({gathers[0], gathers[1]}, "line/b.SGY");
  io::test::put_file(folder / "line/readme.txt", "no shots");
  file = "line";
  const Survey<2> line = survey();
  ASSERT_EQ(line.size(), 3U);
  EXPECT_EQ(line.shots()[0].number, 11);
  EXPECT_EQ(line.read(2).samples[0], 201.0F);
  EXPECT_EQ(line.read(0).samples[0], 1.0F);
  EXPECT_THAT(line.name(2), HasSubstr("c.segy', shot 13"));
  EXPECT_THAT(line.notes()[0], HasSubstr("from 2 SEG-Y files"));

  file = "line/c.segy";
  binary(3217, std::int16_t{2000});
  trace16(0, 117, 0);
  trace16(1, 117, 0);
  file = "line";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("c.segy'"), HasSubstr("2000 us"), HasSubstr("b.SGY'"),
                               HasSubstr("4000 us")));
  file = "line/c.segy";
  binary(3217, std::int16_t{4000});
  binary(3255, std::int16_t{2});
  file = "line";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("c.segy' has lengths in feet"), HasSubstr("in metres")));
  SurveyOptions options;
  options.unit = LengthUnit::metres;
  EXPECT_EQ(survey(options).size(), 3U);
  gathers[2].samples.shape[1] = 3;
  gathers[2].samples.data.resize(6);
  write({gathers[2]}, "line/c.segy");
  file = "line";
  EXPECT_THAT(refusal(), AllOf(HasSubstr("c.segy' has 3 samples in a trace"), HasSubstr("has 6")));
}

TEST_F(Gathers, NoChangedByteOfAHeaderDoesHarm) {
  write(line_of(1, 2));
  const std::string whole = io::test::get_file(folder / file);
  for (std::size_t at = 3600; at < 3840; ++at) {
    for (const int value : {1, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      io::test::put_file(folder / file, changed);
      try {
        const Survey<3> found = survey<3>();
        for (std::size_t k = 0; k < found.size(); ++k) {
          const ShotGather<3> gather = found.read(k);
          EXPECT_EQ(gather.samples.size(), gather.shot.receivers.size() * samples_of_trace) << at;
        }
      } catch (const FileError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a.sgy")) << at;
      }
    }
  }
}

TEST_F(Gathers, RefusesPathsWithoutShots) {
  file = "a.csv";
  EXPECT_THAT(refusal(), HasSubstr("a.csv' (no such file or folder)"));
  io::test::put_file(folder / file, "1, 2");
  EXPECT_THAT(refusal(), HasSubstr("a folder with the summary.json of model_waves"));
  file = "a.sgy";
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  std::filesystem::create_directory(folder / "empty");
  file = "empty";
  EXPECT_THAT(refusal(), HasSubstr("has no shots"));
}

/// Output folder of model_waves with the entries that Survey reads.
class Modelled : public Gathers {
 protected:
  void SetUp() override {
    file = ".";
    save(summary);
    std::vector<float> values(24);
    std::iota(values.begin(), values.end(), 1.0F);
    io::write_npy(folder / "gather_0001.npy", values.data(), {3, 8});
    std::iota(values.begin(), values.end(), 101.0F);
    io::write_npy(folder / "gather_0002.npy", values.data(), {3, 8});
  }
  void save(const std::string& text) { io::test::put_file(folder / "summary.json", text); }
  /// The summary with a part of it replaced.
  std::string with(const std::string& what, const std::string& by) const {
    std::string text = summary;
    text.replace(text.find(what), what.size(), by);
    return text;
  }

  std::string summary = R"({
    "program": "model_waves",
    "shots": [
      {"number": 1, "gather": "gather_0001.npy", "sources": [[100, 10]],
       "receivers": [[0, 20], [25, 20], [50, 20]]},
      {"number": 2, "gather": "gather_0002.npy", "sources": [[200, 10], [210, 10]],
       "receivers": "as the first shot"}],
    "gather": {"samples": 8, "interval": 0.0015}
  })";
};

TEST_F(Modelled, FoldersAreRead) {
  for (const char* path : {".", "summary.json"}) {
    file = path;
    const Survey<2> line = survey();
    ASSERT_EQ(line.size(), 2U);
    EXPECT_EQ(line.interval(), 0.0015);
    EXPECT_EQ(line.samples(), 8);
    EXPECT_EQ(line.shots()[1].number, 2);
    EXPECT_EQ(line.shots()[1].sources.size(), 2U);
    EXPECT_EQ(line.shots()[1].receivers[2][0], 50.0);
    EXPECT_EQ(line.shots()[1].receivers[2][1], 20.0);
    const ShotGather<2> gather = line.read(1);
    EXPECT_EQ(gather.samples.size(), 24U);
    EXPECT_EQ(gather.samples[23], 124.0F);
    EXPECT_TRUE(gather.t0 == 0.0 && gather.two_dimensional);
    EXPECT_THAT(gather.name, HasSubstr("gather_0002.npy', shot 2"));
  }
  Survey<2> line = survey();
  line.keep_inside(Grid<2>{Index<2>{20, 11}, Point<2>{10.0, 10.0}, Point<2>{20.0, 0.0}});
  EXPECT_EQ(line.read(0).samples[0], 9.0F);
  EXPECT_THAT(message_of<InputError>([&] { (void)survey<3>(); }),
              HasSubstr("positions of two coordinates"));
}

TEST_F(Modelled, IncompleteRunsAreNoted) {
  const auto notes = [&](const std::string& members) {
    save(with("\"program\": \"model_waves\"", "\"program\": \"model_waves\"" + members));
    return survey().notes();
  };
  const std::string rest =
      R"(, "to_write": ["gather_0003.npy", "gather_0004.npy", "gather.segy", "velocity.npy"])";
  EXPECT_THAT(notes(R"(, "state": "interrupted")" + rest),
              Contains(HasSubstr("' is interrupted: 2 of 4 of its shots are complete")));
  EXPECT_THAT(notes(R"(, "state": "running")"),
              Contains(HasSubstr("' is running: 2 of its shots are complete")));
  EXPECT_THAT(notes(R"(, "state": "done")"), Not(Contains(HasSubstr("the run of"))));
}

TEST_F(Modelled, RepeatedReceiversAreRefused) {
  save(with("[50, 20]]", "[25, 20]]"));
  const std::string text = message_of<FileError>([&] { (void)survey(); });
  EXPECT_THAT(text, HasSubstr("receivers at the same place, (25, 20) m as x and depth ("));
  EXPECT_THAT(text, HasSubstr(": name the receiver once for model_waves"));
}

TEST_F(Modelled, ThreeDimensionsToo) {
  save(R"({"shots": [{"number": 5, "gather": "gather_0001.npy", "sources": [[100, 7, 10]],
           "receivers": [[0, 0, 20], [30, 40, 20], [60, 80, 20]]}],
           "gather": {"interval": 0.001}})");
  const Survey<3> volume = survey<3>();
  EXPECT_EQ(volume.shots()[0].sources[0][1], 7.0);
  EXPECT_EQ(volume.shots()[0].sources[0][2], 10.0);
  SurveyOptions options;
  options.line = parse_survey_line("0,0:3,4");
  EXPECT_NEAR(survey(options).shots()[0].receivers[2][0], 100.0, 1e-9);
}

TEST_F(Modelled, RefusesWhatModelWavesDoesNotWrite) {
  const std::pair<std::string, std::string> cases[] = {
      {"{", "is no JSON"},
      {"[]", "it has no shots"},
      {with("\"interval\": 0.0015", "\"interval\": 0"), "gather.interval is 0 s"},
      {with("\"interval\": 0.0015", "\"interval\": \"x\""), "no gather.interval"},
      {with("\"number\": 2", "\"number\": 2.5"), "shots[1] lacks its number"},
      {with("\"gather_0002.npy\"", "\"../gather_0002.npy\""), "no file of the same folder"},
      {with("[25, 20]", "[25, true]"), "shots[0].receivers has [25,true]"},
      {with("[25, 20]", "[25, 20, 3]"), "shots[0].receivers has [25,20,3]"},
      {with("[25, 20], ", ""), "gather_0001.npy' has the shape 3 x 8 (allowed: 2 x samples"},
      {with("[[100, 10]]", "[]"), "shots[0] has no source"},
      {with("[[0, 20], [25, 20], [50, 20]]", "[]"), "shots[0] has no receiver"},
      {with("[25, 20]", "[50, 20]"), "traces 2 and 3"},
      {with("gather_0002", "gather_0003"), "No such file"},
  };
  for (const auto& [text, words] : cases) {
    save(text);
    EXPECT_THAT(refusal(), HasSubstr(words));
  }
  save(summary);
  io::write_npy(folder / "gather_0002.npy", std::vector<float>(21, 1.0F).data(), {3, 7});
  EXPECT_THAT(refusal(), AllOf(HasSubstr("gather_0002.npy' has 7 samples"), HasSubstr("has 8")));
}

TEST_F(Modelled, FilesThatChangeAreNoticed) {
  const Survey<2> line = survey();
  io::write_npy(folder / "gather_0002.npy", std::vector<float>(16, 1.0F).data(), {2, 8});
  EXPECT_THAT(message_of<FileError>([&] { (void)line.read(1); }),
              AllOf(HasSubstr("has the shape 2 x 8"), HasSubstr("receiver 3")));
  EXPECT_EQ(line.read(0).samples[0], 1.0F);
}

TEST(GatherOptions, AreRead) {
  EXPECT_EQ(parse_elevations("standard"), Elevations::standard);
  EXPECT_EQ(parse_elevations("depth"), Elevations::depth);
  EXPECT_THAT(message_of<InputError>([] { (void)parse_elevations("up"); }),
              HasSubstr("elevations 'up' are unknown (allowed: standard"));
  EXPECT_EQ(parse_length_unit("auto"), LengthUnit::automatic);
  EXPECT_EQ(parse_length_unit("m"), LengthUnit::metres);
  EXPECT_EQ(parse_length_unit("ft"), LengthUnit::feet);
  EXPECT_THAT(message_of<InputError>([] { (void)parse_length_unit("km"); }),
              HasSubstr("unit 'km' is unknown (allowed: auto, m, ft)"));
  EXPECT_EQ(parse_survey_line("auto").kind, SurveyLine::Kind::automatic);
  EXPECT_EQ(parse_survey_line("-12.5").degrees, -12.5);
  const SurveyLine line = parse_survey_line("1,2:3,4");
  EXPECT_THAT(line.first, ElementsAre(1.0, 2.0));
  EXPECT_THAT(line.last, ElementsAre(3.0, 4.0));
  for (const char* text : {"", "north", "1,2", "1,2:3", "1,2:1,2", "1,2:3,4:5,6", "a,2:3,4"}) {
    EXPECT_THAT(message_of<InputError>([&] { (void)parse_survey_line(text); }),
                AllOf(HasSubstr(concat("line '", text, "'")), HasSubstr("\"x,y:x,y\"")));
  }
}

TEST(GathersOfOthers, TheOverthrustRecord) {
  const auto path = io::test::shared_data("shot_records_overthrust.segy");
  if (!path) GTEST_SKIP() << "no folder of shared data (MOHO_SHARED_DATA)";
  // the model of the data begins at depth 0
  const Grid<2> grid{Index<2>{51, 21}, Point<2>{25.0, 25.0}, Point<2>{0.0, 0.0}};
  Survey<2> standard(*path);
  EXPECT_DOUBLE_EQ(standard.interval(), 0.002);
  EXPECT_THAT(standard.notes(), Contains(HasSubstr("from the trace headers")));
  EXPECT_THAT(message_of<InputError>([&] { standard.keep_inside(grid); }),
              HasSubstr("--elevations depth"));
  SurveyOptions options;
  options.elevations = Elevations::depth;
  Survey<2> survey(*path, options);
  survey.keep_inside(grid);
  ASSERT_EQ(survey.size(), 1U);
  const wave::Shot<2>& shot = survey.shots()[0];
  EXPECT_EQ(survey.samples(), 501);
  EXPECT_EQ(shot.receivers.size(), 120U);
  EXPECT_EQ(shot.sources[0][0], 100.0);
  EXPECT_EQ(shot.sources[0][1], 20.0);
  EXPECT_EQ(shot.receivers.front()[0], 50.0);
  EXPECT_EQ(shot.receivers.back()[0], 1150.0);
  EXPECT_EQ(shot.receivers[60][1], 50.0);
  // its samples are all zero
  EXPECT_TRUE(survey.read(0).shot.receivers.empty());
  options.keep_zero_traces = true;
  const ShotGather<2> kept = Survey<2>(*path, options).read(0);
  EXPECT_EQ(kept.samples.size(), 120U * 501U);
  EXPECT_THAT(kept.samples, Each(0.0F));
}

}  // namespace
