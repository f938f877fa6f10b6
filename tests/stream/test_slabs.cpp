// SPDX-License-Identifier: BSD-3-Clause
//
// Shots in slabs, one for each device. Gathers, snapshots and the last wavefield have the bits of a
// run on the complete grid, for any medium, face and number of slabs.

#include <moho/stream/detail/slab_snapshots.hpp>
#include <moho/stream/detail/slab_threads.hpp>

#include <mutex>
#include <stdexcept>

#include "stream/slabs.hpp"
#include "stream/support.hpp"

namespace moho::testing {
namespace {

using stream::StreamShotOptions;
using stream::StreamSnapshots;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Numbers of slabs: hosts simulate any number of devices.
template <class Memory>
std::vector<int> slab_counts(const Instance<Memory>& exec) {
  if (is_host_memory<Memory>) return {2, 3, 4};
  std::vector<int> counts;
  for (int n = 2; n <= available_devices(exec); ++n) counts.push_back(n);
  return counts;
}

template <class T, int Dim, class Memory>
void expect_the_bits_of_one(const Instance<Memory>& exec, const Kind& kind, int order,
                            const Boundaries<Dim>& faces) {
  const Grid<Dim> grid = stream_grid<Dim>();
  const auto model = random_model<T, Dim, HostModelMemory>(host(), grid, kind.medium, 11);
  const wave::Shot<Dim> shot = stream_shot(grid);
  auto modelling = stream_modelling<Dim>(kind, order, 0.0124);  // 31 steps
  modelling.time.snapshot_every = 0.004;                        // 10 steps
  const Shown<T> expected =
      on_one_device<T, Dim, Memory>(exec, grid, model, faces, modelling, shot);
  ASSERT_GT(largest(expected.traces), 0.0);
  ASSERT_EQ(expected.done, (std::vector<std::int64_t>{10, 20, 30}));
  ASSERT_GT(largest(expected.snapshots.at(30)), 0.0);
  const Outcome<T> last = in_core<T, Dim, Memory>(exec, grid, model, faces, modelling, shot);
  for (const int devices : slab_counts(exec)) {
    const std::string what =
        moho::concat(kind.name(), ", order ", order, ", ", to_string(faces.lower[0].kind), ", ",
                     Dim, "D, slabs ", devices);
    Streaming<T, Dim, Memory> streaming(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                        slab_options(modelling, devices));
    EXPECT_TRUE(streaming.plan().slabs);
    EXPECT_EQ(streaming.plan().shape.devices, devices);
    // a second run also starts from rest
    for (int run = devices == 3 ? 0 : 1; run < 2; ++run) {
      const Shown<T> found = in_slabs(streaming, shot);
      EXPECT_EQ(found.traces, expected.traces) << what;
      EXPECT_EQ(found.snapshots, expected.snapshots) << what;
      EXPECT_EQ(found.done, expected.done) << what;
    }
    EXPECT_EQ(streamed(streaming, shot).fields, last.fields) << what;
  }
}

template <class C>
class Slabs : public ::testing::Test {};
TYPED_TEST_SUITE(Slabs, LongTestCases, CaseName);

MEMORY_TEST(Slabs, HaveTheBitsOfOneDeviceInSections) {
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<2>(kind)) {
      expect_the_bits_of_one<T, 2, Memory>(exec, kind, 4, faces);
    }
  }
}

MEMORY_TEST(Slabs, HaveTheBitsOfOneDeviceInVolumes) {
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<3>(kind)) {
      expect_the_bits_of_one<T, 3, Memory>(exec, kind, 4, faces);
    }
  }
}

// Slabs follow the boxes of the first shot, and of later ones where that gains more than it takes.
MEMORY_TEST(Slabs, FollowTheBoxesOfShots) {
  const Grid<2> grid = stream_grid<2>();
  const std::vector<wave::Shot<2>> shots = shots_at_ends(grid);
  for (const Kind& kind : kinds) {
    const auto faces = stream_faces<2>(kind).front();
    const auto model = random_model<T, 2, HostModelMemory>(host(), grid, kind.medium, 11);
    auto modelling = stream_modelling<2>(kind, 4, 0.0124);  // 31 steps
    for (const int devices : slab_counts(exec)) {
      auto options = slab_options(modelling, devices);
      options.balance = true;
      const auto make = [&](double division_seconds) {
        options.division_seconds = division_seconds;
        return Streaming<T, 2, Memory>(exec, grid, model, faces, wave::ricker_wavelet(3.0), shots,
                                       options);
      };
      Streaming<T, 2, Memory> moving = make(0.0), kept = make(1e9);
      const std::vector<std::int64_t> equal = kept.plan().slab_planes;
      std::vector<std::vector<std::int64_t>> moved, first;
      for (std::size_t k = 0; k < 3; ++k) {
        StreamShotOptions<2> one;
        one.box = boxes_from(moving.modelling().grid, shots[k]);
        const auto expected =
            with_boxes<T, 2, Memory>(exec, grid, model, faces, modelling, shots[k], one.box);
        ASSERT_GT(largest(expected), 0.0);
        const auto with_moves = moving.shots({shots[k]}, {one}).front();
        const auto without = kept.shots({shots[k]}, {one}).front();
        moved.push_back(with_moves.slab_planes);
        first.push_back(without.slab_planes);
        EXPECT_EQ(values_of(with_moves.traces), expected) << kind.name() << ", " << devices;
        EXPECT_EQ(values_of(without.traces), expected) << kind.name() << ", " << devices;
      }
      EXPECT_LT(moved[0].front(), equal.front()) << kind.name() << ", " << devices;
      EXPECT_GT(moved[1].front(), moved[0].front()) << kind.name() << ", " << devices;
      EXPECT_EQ(moved[2], moved[0]);
      EXPECT_EQ(first, std::vector(3, moved[0]));
      EXPECT_EQ(moving.plan().slab_planes, moved[2]);
    }
  }
}

// A shot over a section of an isotropic model in a sponge.
template <class T>
struct SmallShot {
  Grid<2> grid = stream_grid<2>();
  wave::Boundaries<2> faces = wave::all_faces<2>(FaceKind::sponge, 5);
  wave::Model<T, 2, HostModelMemory> model =
      random_model<T, 2, HostModelMemory>(host(), grid, Medium::isotropic, 11);
  wave::Shot<2> shot = stream_shot(grid);

  static StreamingOptions<2> options(int devices) {
    return slab_options(stream_modelling<2>(Kind{Medium::isotropic}, 8, 0.0124), devices);
  }
  template <class Memory>
  Streaming<T, 2, Memory> streaming(const Instance<Memory>& exec,
                                    const StreamingOptions<2>& o) const {
    return {exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot}, o};
  }
};

// Without a number of devices the fewest hold the grid, completely or in slabs.
MEMORY_TEST(Slabs, AreThoseOfTheFewestDevices) {
  const SmallShot<T> small;
  auto options = small.options(0);
  options.divided = options.snapshots = false;
  options.rates.slabs = {{4, 1e9}};
  const auto plan = [&] { return small.template streaming<Memory>(exec, options).plan(); };
  EXPECT_TRUE(plan().in_core && !plan().slabs);
  EXPECT_EQ(plan().shape.devices, 1);
  options.wishes.block = 8;
  EXPECT_FALSE(!is_host_memory<Memory> && plan().in_core);
  options.wishes.block = 0;
  if (available_devices(exec) < 2 || is_host_memory<Memory>) return;
  options.wishes.device_memory = plan().device_bytes - 1;
  EXPECT_TRUE(plan().slabs);
  EXPECT_EQ(plan().shape.devices, 2);
}

// Rank 0 of four; the other ranks do not exist.
class FirstOfFour : public stream::StreamRanks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 4; }
  void collectively(const std::function<void()>& function) override { function(); }
  void broadcast(void*, std::size_t) override {}
  std::int64_t min(std::int64_t value) override { return value; }
  int of_host(bool) override { return 1; }
  std::unique_ptr<stream::StreamRanks> part(int) override { return nullptr; }
  void send(const void*, std::size_t, int) override {}
  void receive(void*, std::size_t, int) override {}
  void wait_received() override {}
  void wait_sent() override {}
};

// Refusals name numbers that divide the ranks and whose slabs fit the memory.
MEMORY_TEST(Slabs, OfRanksAreRefused) {
  const SmallShot<T> small;
  FirstOfFour ranks;
  auto options = small.options(3);
  options.ranks = &ranks;
  const auto refusal = [&] {
    try {
      small.template streaming<Memory>(exec, options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_THAT(refusal(), HasSubstr("devices is 3 (allowed: 1, 2, 4, divisors of 4, the ranks"));
  options.wishes.devices = 9;
  EXPECT_THAT(refusal(), HasSubstr("devices is 9 (allowed: 1, 2, 4 for a grid of 57 planes"));
  // memory that four slabs have, and memory that only more of them have
  const auto bytes = [&](int devices) {
    return small.template streaming<Kokkos::HostSpace>(host(), small.options(devices))
        .plan()
        .device_bytes;
  };
  options.wishes.devices = 2;
  options.wishes.device_memory = bytes(4);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("does not hold a slab"), HasSubstr("take 4 devices")));
  options.wishes.device_memory = bytes(5);
  EXPECT_THAT(refusal(), HasSubstr("take a multiple of 5 ranks"));
}

// Numbers of slabs that the grid or the memory does not permit are refused before any step.
MEMORY_TEST(Slabs, AreRefused) {
  const SmallShot<T> small;
  auto options = small.options(2);
  const auto make = [&] { return small.template streaming<Memory>(exec, options); };
  if constexpr (is_host_memory<Memory>) {
    // a point between nodes reads 7 planes before its last one, and the grid has 57
    options.wishes.devices = 8;
    EXPECT_NO_THROW(make());
    options.wishes.devices = 9;
    EXPECT_THAT(make, ::testing::ThrowsMessage<InputError>(
                          AllOf(HasSubstr("devices is 9 (allowed: up to 8"), HasSubstr("57"))));
    // numbers whose slabs also have the memory
    options.wishes.devices = 3;
    options.wishes.device_memory = make().plan().device_bytes;
    EXPECT_NO_THROW(make());
    options.wishes.devices = 2;
    EXPECT_THAT(make, ::testing::ThrowsMessage<MemoryError>(AllOf(
                          HasSubstr("does not hold a slab"), HasSubstr("take 3 to 8 devices"))));
    options.wishes.devices = 9;
    EXPECT_THAT(make, ::testing::ThrowsMessage<InputError>(
                          HasSubstr("devices is 9 (allowed: 3 to 8 for a grid of 57 planes")));
    options.wishes.device_memory = 1000;
    EXPECT_THAT(make, ::testing::ThrowsMessage<InputError>(
                          HasSubstr("devices is 9 (allowed: none of the numbers up to 8 for")));
  } else {
    options.wishes.devices = 65;
    EXPECT_THAT(make, ::testing::ThrowsMessage<InputError>(
                          AllOf(HasSubstr("devices is 65 (allowed: 1 to"))));
    if (available_devices(exec) < 2) return;
    options.wishes.devices = 2;
    const std::size_t bytes = make().plan().device_bytes;
    options.wishes.device_memory = bytes;
    EXPECT_EQ(make().plan().shape.devices, 2);
    options.wishes.device_memory = bytes - 1;
    EXPECT_THAT(make, ::testing::ThrowsMessage<MemoryError>(
                          AllOf(HasSubstr("does not hold a slab"), HasSubstr("take 3"))));
  }
}

// The first step and node of an overflow are named, also beyond the steps of the first check.
MEMORY_TEST(Slabs, NameTheNodeOfAnOverflow) {
  const Grid<2> grid = stream_grid<2>();
  const Kind kind{Medium::isotropic};
  const auto faces = wave::all_faces<2>(FaceKind::rigid);
  const auto model = random_model<T, 2, HostModelMemory>(host(), grid, kind.medium, 11);
  const wave::Shot<2> shot = stream_shot(grid);
  auto modelling = stream_modelling<2>(kind, 4, 0.24);  // 600 steps
  modelling.sources = shot.sources;
  const wave::WaveletAt late = [](double dt) {
    std::vector<double> samples = wave::ricker(3.0, dt, -1.0);
    for (double& sample : samples) sample *= 5e42;
    return samples;
  };
  const auto overflow_of = [](const auto& function) {
    try {
      function();
    } catch (const wave::NotFinite& failure) {
      return failure;
    }
    return wave::NotFinite("nothing was thrown", -1, 0, {});
  };
  auto whole = wave::make_modelling<T, 2, Memory>(
      exec, grid, stream::detail::model_in<T, 2, Memory>(exec, grid, model), faces, late,
      modelling);
  auto every = whole.shot_options();
  every.check_every = 1;
  const wave::NotFinite expected = overflow_of([&] { whole.shot(exec, shot, every); });
  ASSERT_GT(expected.step(), 200);
  for (const int devices : slab_counts(exec)) {
    Streaming<T, 2, Memory> streaming(exec, grid, model, faces, late, {shot},
                                      slab_options(modelling, devices));
    const wave::NotFinite found = overflow_of([&] { streaming.shot(shot); });
    EXPECT_EQ(found.step(), expected.step()) << found.what();
    EXPECT_EQ(found.position(), expected.position()) << found.what();
  }
}

// An error of the receiver of snapshots ends the run with that error, in any slab.
TEST(SlabSnapshots, PassOnErrors) {
  const Grid<2> grid = stream_grid<2>();
  const Kind kind{Medium::isotropic};
  const auto faces = wave::all_faces<2>(FaceKind::sponge, 5);
  const auto model = random_model<float, 2, HostModelMemory>(host(), grid, kind.medium, 11);
  const wave::Shot<2> shot = stream_shot(grid);
  auto modelling = stream_modelling<2>(kind, 4, 0.0124);
  modelling.time.snapshot_every = 0.0008;
  Streaming<float, 2, HostModelMemory> streaming(
      host(), grid, model, faces, wave::ricker_wavelet(3.0), {shot}, slab_options(modelling, 3));
  for (const std::int64_t failing : {0, 1, 2}) {
    std::mutex mutex;
    std::int64_t parts = 0;
    StreamSnapshots<float> snapshots;
    snapshots.every = 2;
    snapshots.take = [&](const wave::SnapshotPart<float>&) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (parts++ >= 3 + failing) throw std::runtime_error("the disk is full");
    };
    EXPECT_THAT([&] { streaming.shots({shot}, {StreamShotOptions<2>()}, snapshots); },
                ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("the disk is full")));
  }
}

// Threads meet between two halves of a step, and an exception of one ends the work of all.
TEST(SlabThreads, MeetAndPassOnErrors) {
  constexpr std::size_t count = 3;
  stream::SlabThreads threads(count);
  std::vector<int> steps(count, 0), seen(count, 0);
  const auto advance = [&](int end, int failing) {
    threads.run([&](std::size_t g) {
      for (int n = 0; n < end; ++n) {
        if (n == failing && g == 1) throw std::runtime_error("the device is lost");
        ++steps[g];
        threads.meet();
        // all others have made this step, and none the next one
        seen[g] += steps[(g + 1) % count];
        threads.meet();
      }
    });
  };
  advance(50, -1);
  EXPECT_EQ(steps, std::vector<int>(count, 50));
  EXPECT_EQ(seen, std::vector<int>(count, 50 * 51 / 2));
  EXPECT_THAT([&] { advance(20, 7); },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("the device is lost")));
  EXPECT_EQ(steps[1], 57);
  EXPECT_LE(steps[0], 58);
  advance(4, -1);  // a failed run does not affect the next one
  EXPECT_EQ(steps[1], 61);
}

}  // namespace
}  // namespace moho::testing
