// SPDX-License-Identifier: BSD-3-Clause
//
// Surveys of output folders of model_waves.

#include "survey/gather_files.hpp"

#include <moho/io/npy.hpp>

#include <numeric>

namespace {

using namespace moho;
using namespace moho::survey;
using io::test::message_of;
using survey::test::Gathers;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
