// SPDX-License-Identifier: BSD-3-Clause
//
// Slabs of ranks: the bits of the complete grid, for every medium and any number of ranks.

#include "stream/slabs.hpp"

#include <moho/mpi/mpi.hpp>
#include <moho/stream/mpi.hpp>

#include <algorithm>

namespace moho::testing {
namespace {

using Memory = Kokkos::HostSpace;
using T = float;
using ::testing::HasSubstr;

int rank() { return mpi::rank_in(MPI_COMM_WORLD); }
int ranks() { return mpi::size_of(MPI_COMM_WORLD); }

/// Returns options of shots in slabs over some ranks; 0: as the library chooses.
template <int Dim>
StreamingOptions<Dim> rank_options(const wave::ModellingOptions<Dim>& modelling,
                                   stream::StreamRanks& all, int of_shot) {
  StreamingOptions<Dim> options = slab_options(modelling, of_shot);
  options.ranks = &all;
  return options;
}

/// Compares the planes of this rank with a field, and the planes of all ranks with the grid.
template <int Dim, class Memory>
void expect_planes(Streaming<T, Dim, Memory>& streaming, int field, const std::vector<T>& expected,
                   const std::string& what) {
  constexpr T unset = T(-7e33);
  const Box<Dim> whole = whole_box(streaming.modelling().grid);
  std::vector<T> values(static_cast<std::size_t>(whole.size()), unset);
  streaming.copy_out(field, whole, values.data());
  double written = 0.0;
  const std::size_t first = static_cast<std::size_t>(field) * values.size();
  for (std::size_t n = 0; n < values.size(); ++n) {
    if (values[n] == unset) continue;
    written += 1.0;
    ASSERT_EQ(values[n], expected[first + n]) << what << ", node " << n;
  }
  EXPECT_GT(written, 0.0);
  mpi::reduce_to_root(MPI_COMM_WORLD, &written, 1);
  if (rank() > 0) return;
  EXPECT_EQ(written, static_cast<double>(values.size())) << what;
}

template <int Dim, class Memory>
void expect_the_bits_of_one(const Instance<Memory>& exec, const Kind& kind,
                            const Boundaries<Dim>& faces) {
  const Grid<Dim> grid = stream_grid<Dim>();
  const auto model = random_model<T, Dim, HostModelMemory>(host(), grid, kind.medium, 11);
  const wave::Shot<Dim> shot = stream_shot(grid);
  auto modelling = stream_modelling<Dim>(kind, 4, 0.0124);  // 31 steps
  modelling.time.snapshot_every = 0.004;                    // 10 steps
  const Shown<T> expected =
      on_one_device<T, Dim, Memory>(exec, grid, model, faces, modelling, shot);
  ASSERT_EQ(expected.done, (std::vector<std::int64_t>{10, 20, 30}));
  const Outcome<T> last = in_core<T, Dim, Memory>(exec, grid, model, faces, modelling, shot);
  stream::MpiRanks all(MPI_COMM_WORLD);
  const std::string what =
      concat(kind.name(), ", ", to_string(faces.lower[0].kind), ", ", Dim, "D, ranks ", ranks());
  Streaming<T, Dim, Memory> streaming(exec, grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                      rank_options(modelling, all, ranks()));
  EXPECT_TRUE(streaming.plan().slabs);
  EXPECT_EQ(streaming.plan().shape.devices, ranks());
  EXPECT_EQ(streaming.leads(), rank() == 0);
  // a second run also starts from rest
  for (int run = 0; run < 2; ++run) {
    const Shown<T> found = in_slabs(streaming, shot);
    if (rank() > 0) {
      EXPECT_TRUE(found.snapshots.empty()) << what;
      continue;
    }
    EXPECT_GT(largest(found.traces), 0.0) << what;
    EXPECT_EQ(found.traces, expected.traces) << what;
    EXPECT_EQ(found.snapshots, expected.snapshots) << what;
    EXPECT_EQ(found.done, expected.done) << what;
  }
  for (int f = 0; f < wave::fields_of(streaming.modelling().medium); ++f) {
    expect_planes(streaming, f, last.fields, what);
  }
}

TEST(SlabsOfRanks, HaveTheBitsOfTheWholeGridInSections) {
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<2>(kind)) expect_the_bits_of_one<2>(host(), kind, faces);
  }
}

TEST(SlabsOfRanks, HaveTheBitsOfTheWholeGridInVolumes) {
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<3>(kind)) expect_the_bits_of_one<3>(host(), kind, faces);
  }
}

#ifdef KOKKOS_ENABLE_CUDA
// Ranks may share a device.
TEST(SlabsOfRanks, HaveTheBitsOfTheWholeGridOnDevices) {
  const Instance<Kokkos::CudaSpace> exec{Kokkos::Cuda()};
  for (const Kind& kind : kinds) {
    for (const auto& faces : stream_faces<2>(kind)) expect_the_bits_of_one<2>(exec, kind, faces);
    expect_the_bits_of_one<3>(exec, kind, stream_faces<3>(kind).front());
  }
}
#endif

// Boxes that expand from the sources reach the ranks at different times.
TEST(SlabsOfRanks, StepBoxes) {
  const Kind kind{Medium::isotropic};
  const Grid<2> grid = stream_grid<2>();
  const auto faces = wave::all_faces<2>(FaceKind::cpml, 6);
  const auto model = random_model<T, 2, Memory>(host(), grid, kind.medium, 11);
  const wave::Shot<2> shot = stream_shot(grid);
  const auto modelling = stream_modelling<2>(kind, 4, 0.0124);
  stream::StreamShotOptions<2> boxes;
  const Box<2> whole = whole_box(wave::extended_grid(grid, faces));
  boxes.box = [&](std::int64_t level) {
    Box<2> box = whole;
    box.lower[0] = std::max<std::int64_t>(0, 25 - 2 * level);
    box.upper[0] = std::min<std::int64_t>(whole.upper[0], 34 + 2 * level);
    return box;
  };
  Streaming<T, 2, Memory> one(host(), grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                              slab_options(modelling, 2));
  const auto expected = one.shots({shot}, {boxes});
  stream::MpiRanks all(MPI_COMM_WORLD);
  Streaming<T, 2, Memory> streaming(host(), grid, model, faces, wave::ricker_wavelet(3.0), {shot},
                                    rank_options(modelling, all, ranks()));
  const auto found = streaming.shots({shot}, {boxes});
  if (rank() > 0) return;
  EXPECT_EQ(values_of(found.front().traces), values_of(expected.front().traces));
  EXPECT_EQ(found.front().report.points, expected.front().report.points);
  EXPECT_LT(found.front().report.points, 31.0 * static_cast<double>(whole.size()));
}

// The cuts of shots at both ends follow their boxes; all ranks move them together.
TEST(SlabsOfRanks, FollowTheBoxesOfShots) {
  const Kind kind{Medium::variable_density};
  const Grid<2> grid = stream_grid<2>();
  const auto faces = wave::all_faces<2>(FaceKind::cpml, 6);
  const auto model = random_model<T, 2, Memory>(host(), grid, kind.medium, 11);
  const auto modelling = stream_modelling<2>(kind, 4, 0.0124);
  stream::MpiRanks all(MPI_COMM_WORLD);
  const std::vector<wave::Shot<2>> shots = shots_at_ends(grid);
  const auto options = [&](double seconds) {
    auto result = rank_options(modelling, all, ranks());
    result.balance = true;
    result.division_seconds = seconds;
    return result;
  };
  const auto make = [&](double seconds) {
    return Streaming<T, 2, Memory>(host(), grid, model, faces, wave::ricker_wavelet(3.0), shots,
                                   options(seconds));
  };
  Streaming<T, 2, Memory> streaming = make(0.0), costly = make(1e9);
  std::vector<std::int64_t> firsts;
  for (std::size_t k = 0; k < 3; ++k) {
    stream::StreamShotOptions<2> one;
    one.box = boxes_from(streaming.modelling().grid, shots[k]);
    const auto expected =
        with_boxes<T, 2, Memory>(host(), grid, model, faces, modelling, shots[k], one.box);
    const auto found = streaming.shots({shots[k]}, {one}).front();
    const auto equal = costly.shots({shots[k]}, {one}).front();
    firsts.push_back(found.slab_planes.front());
    EXPECT_EQ(equal.slab_planes, costly.plan().slab_planes);
    if (rank() > 0) continue;
    EXPECT_EQ(values_of(found.traces), expected);
    EXPECT_EQ(values_of(equal.traces), expected);
  }
  EXPECT_EQ(firsts[0], firsts[2]);
  if (ranks() == 1) return;
  EXPECT_LT(firsts[0], costly.plan().slab_planes.front());
  EXPECT_LT(firsts[0], firsts[1]);
}

// As few ranks as leave no rank without a shot; groups model different shots.
TEST(SlabsOfRanks, AreChosenByTheShots) {
  const Kind kind{Medium::isotropic};
  const Grid<2> grid = stream_grid<2>();
  const auto faces = wave::all_faces<2>(FaceKind::sponge, 5);
  const auto model = random_model<T, 2, Memory>(host(), grid, kind.medium, 11);
  std::vector<wave::Shot<2>> shots(static_cast<std::size_t>(ranks()), stream_shot(grid));
  for (std::size_t k = 0; k < shots.size(); ++k) {
    shots[k].number = static_cast<std::int64_t>(k) + 1;
    shots[k].sources.front()[0] += 10.0 * static_cast<double>(k);
  }
  const auto modelling = stream_modelling<2>(kind, 4, 0.0124);
  stream::MpiRanks all(MPI_COMM_WORLD);
  const auto make = [&](const std::vector<wave::Shot<2>>& some, int of_shot) {
    return Streaming<T, 2, Memory>(host(), grid, model, faces, wave::ricker_wavelet(3.0), some,
                                   rank_options(modelling, all, of_shot));
  };
  EXPECT_EQ(make({shots.front()}, 0).plan().shape.devices, ranks() > 1 ? ranks() : 1);
  Streaming<T, 2, Memory> each = make(shots, ranks() > 1 ? 0 : 1);
  EXPECT_EQ(each.plan().shape.devices, 1);
  EXPECT_TRUE(each.leads());
  const auto mine = static_cast<std::size_t>(rank());
  const Outcome<T> expected =
      in_core<T, 2, Memory>(host(), grid, model, faces, modelling, shots[mine]);
  EXPECT_EQ(values_of(each.shot(shots[mine]).traces), expected.traces);
  if (ranks() == 1) return;
  EXPECT_THAT([&] { make(shots, ranks() + 1); },
              ::testing::ThrowsMessage<InputError>(
                  ::testing::AllOf(HasSubstr(concat("devices is ", ranks() + 1, " (allowed: ")),
                                   HasSubstr(concat(", divisors of ", ranks(), ", the ranks")))));
}

// The first rank throws the first step and node of an overflow, wherever it is.
TEST(SlabsOfRanks, NameTheNodeOfAnOverflow) {
  const Kind kind{Medium::isotropic};
  const Grid<2> grid = stream_grid<2>();
  const auto faces = wave::all_faces<2>(FaceKind::rigid);
  const auto model = random_model<T, 2, Memory>(host(), grid, kind.medium, 11);
  wave::Shot<2> shot = stream_shot(grid);
  shot.sources = {{0.9 * grid.upper(0), 0.5 * grid.upper(1)}};  // in the last slab
  const auto modelling = stream_modelling<2>(kind, 4, 0.24);    // 600 steps
  const wave::WaveletAt large = [](double dt) {
    std::vector<double> samples = wave::ricker(3.0, dt, -1.0);
    for (double& sample : samples) sample *= 5e42;
    return samples;
  };
  const auto overflow_of = [&](Streaming<T, 2, Memory>& streaming) {
    try {
      streaming.shot(shot);
    } catch (const wave::NotFinite& failure) {
      return failure;
    }
    return wave::NotFinite("nothing was thrown", -1, 0, {});
  };
  Streaming<T, 2, Memory> one(host(), grid, model, faces, large, {shot},
                              slab_options(modelling, 2));
  const wave::NotFinite expected = overflow_of(one);
  ASSERT_GT(expected.step(), 0);
  stream::MpiRanks all(MPI_COMM_WORLD);
  Streaming<T, 2, Memory> streaming(host(), grid, model, faces, large, {shot},
                                    rank_options(modelling, all, ranks()));
  const wave::NotFinite found = overflow_of(streaming);
  if (rank() > 0) return;
  EXPECT_EQ(found.step(), expected.step()) << found.what();
  EXPECT_EQ(found.position(), expected.position()) << found.what();
}

}  // namespace
}  // namespace moho::testing
