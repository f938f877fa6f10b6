// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2 for *openmp*.*AtOrder16:*openmp*.RecordsBetweenSteps
//
// Volumes that stream through devices plane by plane. Gathers and the last wavefield have the bits
// of a run on the complete grid. This holds for any medium, face, order, block, number of steps in
// a pass and number of devices.

#include <filesystem>
#include <fstream>

#include "stream/shots.hpp"
#include "stream/support.hpp"

namespace moho::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Parameters of a stream.
struct Way {
  std::int64_t block, updates, lag;  // block 0: slabs of the grid, one for each device
  int devices;
  bool hold, ring;
};

template <class T, int Dim, class Memory>
void expect_the_same_bits(const Instance<Memory>& exec, const Kind& kind, int order,
                          const Boundaries<Dim>& faces, const std::vector<Way>& ways) {
  const Grid<Dim> grid = stream_grid<Dim>();
  auto model = random_model<T, Dim, HostModelMemory>(host(), grid, kind.medium, 11);
  const wave::Shot<Dim> shot = stream_shot(grid);
  const auto modelling = stream_modelling<Dim>(kind, order, 0.0124);  // 31 steps
  const Outcome<T> expected = in_core<T, Dim, Memory>(exec, grid, model, faces, modelling, shot);
  ASSERT_GT(largest(expected.traces), 0.0);
  for (const Way& way : ways) {
    StreamingOptions<Dim> options;
    options.modelling = modelling;
    options.measure = false;
    options.rates.slabs = {{8, 1e9}};
    options.in_core = !way.ring;
    options.wishes.block = way.block;
    options.wishes.updates = way.updates;
    options.wishes.lag = way.lag;
    options.wishes.devices = std::min(way.devices, available_devices(exec));
    options.wishes.hold_parameters = way.hold;
    Streaming<T, Dim, Memory> streaming(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                        options);
    const Outcome<T> found = streamed(streaming, shot);
    const std::string what = moho::concat(
        kind.name(), ", order ", order, ", ", to_string(faces.lower[0].kind), ", ", Dim,
        "D, block ", way.block, ", updates ", way.updates, ", lag ", streaming.plan().shape.lag,
        ", devices ", streaming.plan().shape.devices, way.ring ? ", ring" : ", whole");
    if (way.block == 0) {
      EXPECT_EQ(streaming.plan().slabs, options.wishes.devices > 1);
    }
    EXPECT_EQ(found.traces, expected.traces) << what;
    EXPECT_EQ(found.fields, expected.fields) << what;
    // a second shot begins at rest
    if (way.block == 5) {
      EXPECT_EQ(streamed(streaming, shot).fields, expected.fields) << what;
    }
  }
}

const std::vector<Way> some_ways = {
    {5, 3, 0, 1, false, true},  {1, 1, 0, 1, false, true},   {16, 7, 0, 1, true, true},
    {4, 2, 0, 2, false, true},  {3, 4, 11, 3, true, true},   {200, 40, 0, 1, false, true},
    {4, 5, 0, 1, false, false}, {7, 31, 0, 1, false, false}, {0, 0, 0, 3, false, false}};

/// Returns some of the parameter sets; each case gets different ones.
std::vector<Way> some_of(const std::vector<Way>& ways, std::size_t count, std::size_t number) {
  std::vector<Way> result;
  for (std::size_t k = 0; k < count; ++k) {
    result.push_back(ways[(number * count + k) % ways.size()]);
  }
  return result;
}

// Devices extend planes of the model, not the complete one.
TEST(ModelPart, ExtendsToThePlanesOfTheModel) {
  const Grid<2> grid{{9, 4}, {1.0, 1.0}, {}};
  const auto field = random_field<float, 2, HostModelMemory>(host(), grid, 5, 1.0, 2.0);
  for (const bool layers : {false, true}) {
    auto faces = wave::all_faces<2>(FaceKind::random, 3);
    if (!layers) faces.lower[0] = {FaceKind::free_surface, 0};
    const Grid<2> extended = wave::extended_grid(grid, faces);
    for (std::int64_t begin = 0; begin < extended.extents[0]; ++begin) {
      for (std::int64_t end = begin + 1; end <= extended.extents[0]; ++end) {
        const auto part = stream::detail::part_of_model(grid, faces, PlaneRange{begin, end});
        const auto taken = make_field<float>(host(), part.grid, "taken");
        std::copy_n(field.data() + part.model.begin * grid.extents[1], taken.size(), taken.data());
        const auto values = [](const auto& one) {
          return std::vector<float>(one.data(), one.data() + one.size());
        };
        EXPECT_EQ(values(wave::extend_field<float, 2, HostModelMemory>(host(), part.grid, taken,
                                                                       part.faces, part.planes)),
                  values(wave::extend_field<float, 2, HostModelMemory>(host(), grid, field, faces,
                                                                       PlaneRange{begin, end})))
            << begin << " to " << end;
        EXPECT_LE(part.model.count(), end - begin);
      }
    }
  }
}

template <class C>
class Stream : public ::testing::Test {};
TYPED_TEST_SUITE(Stream, LongTestCases, CaseName);

MEMORY_TEST(Stream, HasTheBitsOfTheWholeGridIn2D) {
  std::vector<Way> ways = some_ways;
  for (Way& way : ways) way.block = std::min<std::int64_t>(way.block, 47);
  std::size_t number = 0;
  for (const Kind& kind : kinds) {
    for (const int order : {2, 8}) {
      for (const auto& faces : stream_faces<2>(kind)) {
        expect_the_same_bits<T, 2, Memory>(exec, kind, order, faces, some_of(ways, 4, number++));
      }
    }
  }
}
MEMORY_TEST(Stream, HasTheBitsOfTheWholeGridIn3D) {
  const std::vector<Way> ways = {{5, 3, 0, 1, false, true},
                                 {16, 7, 0, 1, true, true},
                                 {4, 2, 0, 2, false, true},
                                 {4, 5, 0, 1, false, false},
                                 {0, 0, 0, 2, false, false}};
#ifdef MOHO_BOUNDS_CHECK
  constexpr std::size_t each = 1;  // sanitizers need minutes for two; all sets still occur
#else
  constexpr std::size_t each = 2;
#endif
  std::size_t number = 0;
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<3>(kind)) {
      expect_the_same_bits<T, 3, Memory>(exec, kind, 8, faces, some_of(ways, each, number++));
    }
  }
}
MEMORY_TEST(Stream, HasTheBitsOfTheWholeGridAtOrder16) {
  const std::vector<Way> ways = {{2, 3, 0, 1, false, true}, {9, 2, 0, 2, false, true}};
  for (const Kind& kind : {Kind{Medium::isotropic}, Kind{Medium::tti}}) {
    for (const auto& faces : stream_faces<2>(kind)) {
      expect_the_same_bits<T, 2, Memory>(exec, kind, 16, faces, ways);
    }
  }
}

// Samples between steps, which need more steps and every row.
MEMORY_TEST(Stream, RecordsBetweenSteps) {
  const Grid<2> grid = stream_grid<2>();
  const auto model = random_model<T, 2, HostModelMemory>(host(), grid, Medium::isotropic, 3);
  const auto faces = wave::all_faces<2>(FaceKind::cpml, 6);
  const wave::Shot<2> shot = stream_shot(grid);
  for (const double interval : {7e-4, 8e-4}) {
    auto modelling = stream_modelling<2>({Medium::isotropic}, 8, 0.0126);
    modelling.time.interval = interval;
    const auto expected = in_core<T, 2, Memory>(exec, grid, model, faces, modelling, shot);
    StreamingOptions<2> options;
    options.modelling = modelling;
    options.measure = false;
    options.rates.slabs = {{8, 1e9}};
    options.in_core = false;
    options.wishes.block = 6;
    options.wishes.updates = 5;
    options.wishes.devices = std::min(2, available_devices(exec));
    Streaming<T, 2, Memory> streaming(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                      options);
    EXPECT_EQ(streamed(streaming, shot).traces, expected.traces) << interval;
  }
}

// Growing boxes: only their planes are loaded and stored. Waves reach the ends of boxes, and
// receivers lie across them.
MEMORY_TEST(Stream, ExpandsWithTheWave) {
  const Grid<2> grid = stream_grid<2>();
  const wave::Shot<2> shot{
      .number = 1,
      .sources = {{212.0, 77.0}},
      .receivers = {{180.0, 60.0}, {268.0, 81.5}, {143.5, 77.0}, {301.0, 90.0}}};
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<2>(kind)) {
      const auto model = random_model<T, 2, HostModelMemory>(host(), grid, kind.medium, 3);
      const auto modelling = stream_modelling<2>(kind, 4, 0.0124);
      const Grid<2> whole_grid = wave::extended_grid(grid, faces);
      const int left = faces.lower[0].layer(), top = faces.lower[1].layer();
      const auto box = [=](std::int64_t level) {
        Box<2> result{{left + 15, top + 4}, {left + 28, top + 15}};
        return intersection(result.grown(level / 2), whole_box(whole_grid));
      };
      Boxes<T, 2, Memory> domain;
      domain.at = box;
      auto options = modelling;
      options.sources = shot.sources;
      auto whole = wave::make_modelling<T, 2, Memory>(
          exec, grid, stream::detail::model_in<T, 2, Memory>(exec, grid, model), faces,
          wave::ricker_wavelet(3.0), options);
      auto shot_options = whole.shot_options();
      shot_options.domain = &domain;
      const auto expected = whole.shot(exec, shot, shot_options);
      const auto& field = whole.wavefield();
      const auto expected_p =
          nodes_of<T, 2, Memory>(exec, field.layout, field.now[field.fields - 1]);

      StreamingOptions<2> streams;
      streams.modelling = modelling;
      streams.measure = false;
      streams.rates.slabs = {{8, 1e9}};
      streams.in_core = false;
      streams.wishes.block = 4;
      streams.wishes.updates = 4;
      Streaming<T, 2, Memory> streaming(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                        streams);
      const std::string what = moho::concat(kind.name(), ", ", to_string(faces.lower[0].kind));
      const auto all = streaming.shot(shot);
      // the second shot, which detects remains of the first one
      const auto found = streaming.shot(shot, {.box = box});
      EXPECT_EQ(values_of(found.traces), values_of(expected.traces)) << what;
      std::vector<T> last(static_cast<std::size_t>(whole_grid.size()));
      streaming.copy_out(field.fields - 1, whole_box(whole_grid), last.data());
      EXPECT_EQ(std::vector<double>(last.begin(), last.end()), expected_p) << what;
      EXPECT_EQ(found.report.points, expected.points) << what;
      EXPECT_LT(found.report.bytes_in, all.report.bytes_in) << what;
    }
  }
}

// The memory of a plan is the allocated memory, and a smaller budget is rejected.
MEMORY_TEST(Stream, KeepsToItsMemory) {
  const Grid<3> grid = stream_grid<3>();
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<3>(kind)) {
      const auto model = random_model<T, 3, HostModelMemory>(host(), grid, kind.medium, 3);
      const wave::Shot<3> shot = stream_shot(grid);
      StreamingOptions<3> options;
      options.modelling = stream_modelling<3>(kind, 8, 0.0124);
      options.measure = false;
      options.rates.slabs = {{8, 1e9}};
      options.rates.in = options.rates.out = 1e10;
      options.in_core = false;
      const auto make = [&] {
        return Streaming<T, 3, Memory>(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                       options);
      };
      auto min = make();
      for (const bool hold : {false, true}) {
        stream::StreamShape shape = min.need().shape;
        shape.block = 5;
        shape.updates = 3;
        const stream::Schedule schedule(shape);
        const wave::Limits& limits = min.modelling().limits;  // approximate: only sizes matter
        PropagatorOptions<3> scheme_options;
        scheme_options.dt = 4e-4;
        scheme_options.boundaries = faces;
        scheme_options.equations = kind.equations;
        const Scheme<T, 3, Memory> scheme(exec, min.modelling().grid, kind.medium, limits,
                                          scheme_options);
        const stream::VolumeShape<T, 3> volume(scheme);
        const stream::Pipeline<T, 3, Memory> pipeline(exec, scheme, volume, schedule, 0, hold);
        EXPECT_EQ(pipeline.ring().bytes(), min.need().device_bytes(shape, hold) - min.need().fixed)
            << kind.name();
      }
      stream::StreamShape one = min.need().shape;
      const std::size_t bytes = min.need().device_bytes(one, false);
      options.wishes.hold_parameters = false;
      options.wishes.device_memory = bytes;
      // a host with the complete grid has no ring; a device has at least this
      EXPECT_LE(make().plan().device_bytes, bytes);
      options.wishes.device_memory = bytes - 1;
      EXPECT_THAT([&] { make(); },
                  ::testing::ThrowsMessage<MemoryError>(AllOf(
                      HasSubstr("does not hold the planes of one stage"), HasSubstr("needed: "))));
    }
  }
}

/// Section with absorbing faces, streamed with its volume in a file.
template <class T, class Memory>
class VolumeInAFile {
 public:
  VolumeInAFile(const Instance<Memory>& exec, Medium medium)
      : m_exec(exec), m_model(random_model<T, 2, HostModelMemory>(host(), grid, medium, 3)) {
    std::filesystem::create_directories(folder);
    options.modelling = stream_modelling<2>(Kind{medium}, 8, 0.0124);
    options.measure = false;
    options.rates.slabs = {{8, 1e9}};
    options.file = file;
    options.key = "a run";
    options.wishes.block = 6;
    options.wishes.updates = 4;
  }
  ~VolumeInAFile() { std::filesystem::remove_all(folder); }
  VolumeInAFile(const VolumeInAFile&) = delete;
  VolumeInAFile& operator=(const VolumeInAFile&) = delete;

  Outcome<T> in_core(const wave::Shot<2>& shot) const {
    return testing::in_core<T, 2, Memory>(m_exec, grid, m_model, m_faces, options.modelling, shot);
  }
  /// Prepares streams of a shot, which read or create the file.
  void prepare(const wave::Shot<2>& shot) const { streaming(shot).prepare(); }
  Outcome<T> run(const wave::Shot<2>& shot, const stream::StreamShotOptions<2>& how = {}) const {
    auto run = streaming(shot);
    return streamed(run, shot, how);
  }
  /// Runs a shot up to a call of `box`: one for every stage, and before for the ranges of sweeps.
  template <class BoxAt>
  void run_to_call(int call, const wave::Shot<2>& shot, const BoxAt& box) const {
    struct Stop {};
    int calls = 0;
    stream::StreamShotOptions<2> stopping;
    stopping.box = [&](std::int64_t level) {
      if (++calls == call) throw Stop();
      return box(level);
    };
    auto run = streaming(shot);
    EXPECT_THROW(run.shot(shot, stopping), Stop) << "it was not stopped at call " << call;
  }
  /// Returns the grid with its layers.
  Box<2> whole() const { return whole_box(wave::extended_grid(grid, m_faces)); }

  const Grid<2> grid = stream_grid<2>();
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       moho::concat("moho_stream_", ::getpid(), "_", sizeof(T));
  const std::filesystem::path file = folder / "volume";
  StreamingOptions<2> options;

 private:
  Streaming<T, 2, Memory> streaming(const wave::Shot<2>& shot) const {
    return Streaming<T, 2, Memory>(m_exec, grid, m_model, m_faces, wave::ricker_wavelet(3.0),
                                   {shot}, options);
  }

  const Instance<Memory>& m_exec;
  Model<T, 2, HostModelMemory> m_model;
  const Boundaries<2> m_faces = wave::all_faces<2>(FaceKind::cpml, 6);
};

// Interrupted at some stages, a run resumes and ends with the same bits.
template <class T, class Memory>
void expect_interrupted_runs_go_on(VolumeInAFile<T, Memory>& volume, const wave::Shot<2>& shot) {
  const Outcome<T> expected = volume.in_core(shot);
  EXPECT_EQ(volume.run(shot).traces, expected.traces);
  for (const int moment : {1, 9, 20, 33, 50}) {
    std::filesystem::remove(volume.file);
    volume.options.resume = false;
    volume.run_to_call(moment * 5, shot, [&](std::int64_t) { return volume.whole(); });
    volume.options.resume = true;
    const Outcome<T> found = volume.run(shot);
    EXPECT_EQ(found.traces, expected.traces) << moment;
    EXPECT_EQ(found.fields, expected.fields) << moment;
  }
}

// The same with boxes, and with other steps in a pass after the interruption; also after the last
// step.
template <class T, class Memory>
void expect_runs_in_boxes_go_on(VolumeInAFile<T, Memory>& volume) {
  const auto box = [&](std::int64_t level) {
    const Box<2> first{{20, 8}, {36, 24}};
    return intersection(first.grown(level / 2), volume.whole());
  };
  const wave::Shot<2> shot{.number = 1, .sources = {{212.0, 77.0}}, .receivers = {{180.0, 60.0}}};
  std::filesystem::remove(volume.file);
  volume.options.resume = false;
  volume.options.wishes.updates = 9;
  const Outcome<T> expected = volume.run(shot, {.box = box});
  std::filesystem::remove(volume.file);
  volume.run_to_call(130, shot, box);
  volume.options.resume = true;
  volume.options.wishes.updates = 2;
  for (int again = 0; again < 2; ++again) {
    const Outcome<T> found = volume.run(shot, {.box = box});
    EXPECT_EQ(found.traces, expected.traces) << again;
    EXPECT_EQ(found.fields, expected.fields) << again;
  }
  volume.options.wishes.updates = 4;
}

// The file of another run, and one without resume, are not changed.
template <class T, class Memory>
void expect_other_files_are_refused(VolumeInAFile<T, Memory>& volume, const wave::Shot<2>& shot) {
  const auto expect_refused = [&](const char* words) {
    EXPECT_THAT([&] { volume.prepare(shot); },
                ::testing::ThrowsMessage<FileError>(HasSubstr(words)));
  };
  const auto size = std::filesystem::file_size(volume.file);
  volume.options.key = "another run";
  expect_refused("belongs to another run");
  volume.options.key = "a run";
  volume.options.resume = false;
  expect_refused("exists, from an earlier run");
  EXPECT_EQ(std::filesystem::file_size(volume.file), size);
  std::ofstream(volume.folder / "other") << "no volume";
  volume.options.file = volume.folder / "other";
  expect_refused("is no volume of a run");
  volume.options.file = volume.folder / "missing" / "volume";
  expect_refused("cannot be opened");
  volume.options.file = "/dev/null";
  expect_refused("is no regular file");
}

MEMORY_TEST(Stream, GoesOnFromAFile) {
  for (const Medium medium : {Medium::isotropic, Medium::vti}) {
    VolumeInAFile<T, Memory> volume(exec, medium);
    const wave::Shot<2> shot = stream_shot(volume.grid);
    expect_interrupted_runs_go_on(volume, shot);
    expect_runs_in_boxes_go_on(volume);
    expect_other_files_are_refused(volume, shot);
  }
}

// An overflowing wave is detected, with the first step and node: those of a run on the complete
// grid that checks every step.
MEMORY_TEST(Stream, SaysWhereAWaveIsNotFinite) {
  const Grid<2> grid = stream_grid<2>();
  const auto model = random_model<T, 2, HostModelMemory>(host(), grid, Medium::isotropic, 3);
  const auto faces = wave::all_faces<2>(FaceKind::sponge, 6);
  wave::Shot<2> shot = stream_shot(grid);
  shot.number = 7;
  const wave::WaveletAt huge = [](double dt) {
    auto samples = wave::ricker(3.0, dt, -1.0);
    for (double& sample : samples) sample *= 1e52;
    return samples;
  };
  auto modelling = stream_modelling<2>({Medium::isotropic}, 4, 0.0124);
  const auto overflow_of = [](const auto& function) {
    try {
      function();
    } catch (const wave::NotFinite& failure) {
      return failure;
    }
    return wave::NotFinite("nothing was thrown", -1, 0, {});
  };
  modelling.sources = shot.sources;
  auto whole = wave::make_modelling<T, 2, Memory>(
      exec, grid, stream::detail::model_in<T, 2, Memory>(exec, grid, model), faces, huge,
      modelling);
  auto every = whole.shot_options();
  every.check_every = 1;
  const wave::NotFinite expected = overflow_of([&] { whole.shot(exec, shot, every); });
  ASSERT_GT(expected.step(), 0) << expected.what();
  ASSERT_LT(expected.step(), 31);

  const auto folder = std::filesystem::temp_directory_path() /
                      moho::concat("moho_stream_bad_", ::getpid(), "_", sizeof(T));
  std::filesystem::create_directory(folder);
  // rings, a chain, the complete grid, slabs, a file
  for (const Way& way :
       {Way{6, 4, 0, 1, false, true}, Way{4, 3, 0, 2, false, true}, Way{6, 2, 0, 1, false, false},
        Way{0, 0, 0, 2, false, false}, Way{8, 5, 0, 1, false, true}}) {
    StreamingOptions<2> options;
    options.modelling = modelling;
    options.measure = false;
    options.rates.slabs = {{8, 1e9}};
    options.in_core = !way.ring;
    options.wishes.block = way.block;
    options.wishes.updates = way.updates;
    options.wishes.devices = std::min(way.devices, available_devices(exec));
    if (way.block == 8) options.file = folder / "volume";
    Streaming<T, 2, Memory> streaming(exec, grid, model, faces, huge, {shot}, options);
    const wave::NotFinite found = overflow_of([&] { streaming.shot(shot); });
    EXPECT_EQ(found.step(), expected.step()) << found.what();
    EXPECT_EQ(found.position(), expected.position()) << found.what();
    EXPECT_STREQ(found.field(), "p");
    EXPECT_EQ(found.context(), "shot 7");
    EXPECT_THAT(
        std::string(found.what()),
        AllOf(HasSubstr(moho::concat("shot 7, step ", expected.step(), ": the wavefield p")),
              HasSubstr("no longer finite at node (")));
    // and once more
    EXPECT_EQ(overflow_of([&] { streaming.shot(shot); }).step(), expected.step());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace moho::testing
