// SPDX-License-Identifier: BSD-3-Clause
//
// Positions of surveys of shot gathers: scalars, units, elevations, projection on the line, origin,
// and what is inside of the model.

#include "survey/gather_files.hpp"

#include <cmath>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::message_of;
using survey::test::Gathers;
using survey::test::line_of;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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

/// Points every 25 m from a point in a direction, alternately shifted sideways by +side and -side.
std::vector<io::Gather<float>> oblique_line(double x, double y, double degrees, double side) {
  const double angle = degrees * std::acos(-1.0) / 180.0;
  const double ux = std::cos(angle), uy = std::sin(angle);
  std::vector<io::Gather<float>> gathers = line_of(2, 20);
  for (std::size_t s = 0; s < 2; ++s) {
    const auto position = [&](double distance, double off, double& px, double& py) {
      px = x + distance * ux - off * uy;
      py = y + distance * uy + off * ux;
    };
    position(25.0 * static_cast<double>(s), 0.0, gathers[s].source_x, gathers[s].source_y);
    for (std::size_t k = 0; k < 20; ++k) {
      position(25.0 * static_cast<double>(s + k + 1), k % 4 == 0 || k % 4 == 3 ? side : -side,
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
