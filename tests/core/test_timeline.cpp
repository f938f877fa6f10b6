// SPDX-License-Identifier: BSD-3-Clause
//
// Timelines: spans of several threads, traces and their plot, and regions of Kokkos Tools.

#include <moho/core/kernel_span.hpp>
#include <moho/core/timeline.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using moho::Timeline;
using moho::TimelineSpan;
using ::testing::ElementsAre;

TEST(Timeline, AddsSpansByThreadAndStage) {
  Timeline timeline;
  timeline.add("write", 2.0, 3.5, 1000);
  timeline.add("step", 0.5, 1.0);
  std::thread([&] { timeline.add("write", 1.0, 1.25, 24); }).join();
  const std::vector<Timeline::Span> spans = timeline.spans();
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].stage, "step");  // in the order of their begin
  EXPECT_EQ(spans[1].stage, "write");
  EXPECT_EQ(spans[1].thread, 1);
  EXPECT_EQ(spans[2].thread, 0);
  EXPECT_EQ(spans[2].bytes, 1000);
  EXPECT_DOUBLE_EQ(spans[2].seconds(), 1.5);
  const std::vector<Timeline::Total> totals = timeline.totals();
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].stage, "write");
  EXPECT_DOUBLE_EQ(totals[0].seconds, 1.75);
  EXPECT_EQ(totals[0].spans, 2);
  EXPECT_EQ(totals[0].bytes, 1024);
  EXPECT_EQ(totals[1].bytes, 0);
}

TEST(Timeline, SpansMeasureTheirScope) {
  Timeline timeline;
  const double before = timeline.now();
  {
    TimelineSpan span(&timeline, "sleep");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    span.set_bytes(5);
  }
  const double after = timeline.now();
  const auto spans = timeline.spans();
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_GE(spans[0].begin, before);
  EXPECT_LE(spans[0].end, after);
  EXPECT_GE(spans[0].seconds(), 0.02);
  EXPECT_EQ(spans[0].bytes, 5);
  TimelineSpan nothing(nullptr, "nothing");  // without a timeline no span is added
  nothing.set_bytes(1);
}

TEST(Timeline, TakesSpansOfManyThreads) {
  Timeline timeline;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      timeline.name_thread("worker " + std::to_string(t));
      for (int n = 0; n < 2000; ++n) {
        const TimelineSpan span(&timeline, n % 2 == 0 ? "even" : "odd", 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<int> count(4);
  double last = 0.0;
  for (const auto& span : timeline.spans()) {
    ++count[static_cast<std::size_t>(span.thread)];
    EXPECT_GE(span.begin, last);
    last = span.begin;
  }
  EXPECT_THAT(count, ElementsAre(2000, 2000, 2000, 2000));
  for (const auto& total : timeline.totals()) EXPECT_EQ(total.bytes, 4000);
}

TEST(Timeline, ANameContinuesItsRow) {
  Timeline timeline;
  timeline.name_thread("main");
  for (int shot = 0; shot < 5; ++shot) {
    std::thread([&] {
      timeline.name_thread("write");
      timeline.add("write", shot, shot + 0.5);
    }).join();
  }
  for (const auto& span : timeline.spans()) EXPECT_EQ(span.thread, 1);
  timeline.add("step", 0.0, 1.0);
  EXPECT_EQ(timeline.spans()[0].thread, 1);
  EXPECT_EQ(timeline.spans()[1].thread, 0);
}

/// Returns the trace of two overlapping threads, with a name that needs quoting in JSON.
std::string example_trace(int process = 0) {
  Timeline timeline;
  timeline.name_thread("main \"device\"\\\n");
  for (int n = 0; n < 6; ++n) {
    timeline.add("propagate", 0.1 * n, 0.1 * n + 0.08, 1 << 20);
  }
  std::thread([&] {
    for (int n = 0; n < 6; ++n) timeline.add("compress", 0.1 * n + 0.05, 0.1 * n + 0.12, 1 << 18);
    timeline.add("write", 1.2345678912, 1.2345678912 + 3e-6);
  }).join();
  return timeline.json(process);
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "moho-timeline-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

int run_in(const Folder& folder, const std::string& command) {
  return std::system(
      ("cd '" + folder.path.string() + "' && " + command + " >out.txt 2>&1").c_str());
}

TEST(Timeline, TheTraceIsJsonAsViewersReadIt) {
  const Folder folder;
  if (run_in(folder, "/usr/bin/python3 -c pass") != 0) GTEST_SKIP() << "no python3";
  std::ofstream(folder.path / "trace.json") << example_trace(3);
  std::ofstream(folder.path / "check.py") << R"(
import json
trace = json.load(open("trace.json"))
events = trace["traceEvents"]
names = {e["tid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
assert names == {0: 'main "device"\\\n', 1: "thread 1"}, names
spans = [e for e in events if e["ph"] == "X"]
assert len(spans) == 13 and len(events) == 15
assert all(e["pid"] == 3 for e in events)
assert [e["ts"] for e in spans] == sorted(e["ts"] for e in spans)
last = spans[-1]
assert last["name"] == "write" and last["tid"] == 1 and last["args"]["bytes"] == 0
assert abs(last["ts"] - 1234567.891) < 1e-6 and abs(last["dur"] - 3) < 1e-6, last
second = [e for e in spans if e["name"] == "propagate"][1]
assert abs(second["ts"] - 1e5) < 1e-3 and abs(second["dur"] - 8e4) < 1e-3 and second["args"]["bytes"] == 2**20
)";
  EXPECT_EQ(run_in(folder, "/usr/bin/python3 check.py"), 0)
      << std::ifstream(folder.path / "out.txt").rdbuf();
  std::ofstream(folder.path / "trace.json") << Timeline().json();
  EXPECT_EQ(run_in(folder,
                   "/usr/bin/python3 -c 'import json; assert "
                   "json.load(open(\"trace.json\"))[\"traceEvents\"] == []'"),
            0);
}

TEST(Timeline, IsDrawn) {
  const Folder folder;
  const auto root = std::filesystem::absolute(__FILE__).parent_path().parent_path().parent_path();
  const std::string program =
      "/usr/bin/python3 '" + (root / "examples/plots/plot_timeline.py").string() + "' ";
  const auto output = [&] {
    std::ifstream file(folder.path / "out.txt");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::ofstream(folder.path / "timeline.json") << example_trace();
  const int status = run_in(folder, program + "timeline.json --dpi 60");
  if (output().find(" has no ") != std::string::npos) GTEST_SKIP() << output();
  ASSERT_EQ(status, 0) << output();
  std::ifstream picture(folder.path / "timeline.png", std::ios::binary);
  std::string signature(8, '\0');
  picture.read(signature.data(), 8);
  EXPECT_EQ(signature, "\x89PNG\r\n\x1a\n");
  // the totals of a stage: 6 spans of 80 ms
  EXPECT_THAT(output(), ::testing::HasSubstr("propagate      6 spans     0.480 s  38.9 %"));

  std::ofstream(folder.path / "empty.json") << Timeline().json();
  EXPECT_NE(run_in(folder, program + "empty.json"), 0);
  EXPECT_THAT(output(), ::testing::HasSubstr("holds no spans"));
}

TEST(KernelSpan, IsARegionOfKokkosTools) {
  static std::vector<std::string> regions;  // accessible to the callbacks
  regions.clear();
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_push_region_callback([](const char* name) { regions.push_back(name); });
  tools::set_pop_region_callback([] { regions.push_back("end"); });
  Timeline timeline;
  {
    const moho::KernelSpan outer(&timeline, "forward", 8);
    const moho::KernelSpan inner(nullptr, "step");
  }
  tools::set_push_region_callback(nullptr);
  tools::set_pop_region_callback(nullptr);
  EXPECT_THAT(regions, ElementsAre("moho::forward", "moho::step", "end", "end"));
  ASSERT_EQ(timeline.spans().size(), 1u);
  EXPECT_EQ(timeline.spans()[0].stage, "forward");
  EXPECT_EQ(timeline.spans()[0].bytes, 8);
}

}  // namespace
