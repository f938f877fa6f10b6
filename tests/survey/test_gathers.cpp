// SPDX-License-Identifier: BSD-3-Clause
//
// Surveys of shot gathers: traces, times and shots from headers, errors. The library writes the
// files; the tests modify other header bytes directly.

#include "survey/gather_files.hpp"

#include <cmath>
#include <limits>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::message_of;
using survey::test::Gathers;
using survey::test::line_of;
using survey::test::samples_of_trace;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

}  // namespace
