// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick with 2 ranks
//
// Chain of ranks: the bits of the complete grid, for every medium and any number of ranks.

#include <moho/core/scope_guard.hpp>
#include <moho/mpi/mpi.hpp>
#include <moho/stream/modelling.hpp>
#include <moho/stream/mpi.hpp>

#include "wave/support.hpp"

namespace moho::testing {
namespace {

using Memory = Kokkos::HostSpace;
using T = float;

int rank() { return mpi::rank_in(MPI_COMM_WORLD); }
int ranks() { return mpi::size_of(MPI_COMM_WORLD); }

using Modelling = wave::Modelling<T, 2, Memory>;
using PointSet = wave::PointSet<T, 2, Memory>;
using StreamShot = stream::StreamShot<T, 2, Memory>;
using Volume = stream::HostVolume<T, 2>;

/// Returns the schedule of a chain of all ranks over the steps of a run on the complete grid.
stream::Schedule schedule_of_ranks(const Modelling& whole, std::int64_t steps, int point_planes,
                                   std::int64_t block, std::int64_t updates) {
  const auto& scheme = whole.propagator().scheme();
  stream::StreamShape shape;
  shape.planes = scheme.grid().extents[0];
  shape.steps = steps;
  shape.halo = scheme.order() / 2;
  shape.reach = scheme.reach(0);
  shape.point_planes = point_planes;
  shape.block = block;
  shape.updates = updates;
  shape.devices = ranks();
  return stream::Schedule(shape);
}

/// Returns the volume of rank 0 with the model around the sources; null on other ranks.
std::unique_ptr<Volume> volume_of_rank(const Instance<Memory>& exec, const Modelling& whole,
                                       const Model<T, 2, Memory>& model, const Points<2>& sources) {
  if (rank() != 0) return nullptr;
  const auto& scheme = whole.propagator().scheme();
  stream::VolumeOptions options;
  options.sources = all_planes(scheme.grid());
  auto volume = std::make_unique<Volume>(scheme, options);
  auto tapered = model;
  if (whole.plan().source_taper > 0.0) {
    tapered.delta = wave::taper_delta<T, 2, Memory>(exec, whole.model_grid(), model, sources,
                                                    whole.plan().source_taper);
  }
  volume->load<Memory>(exec, scheme, whole.model_grid(), tapered, whole.plan().random);
  return volume;
}

/// Returns a shot of all ranks, with an empty gather. Rank 0 sends the factors of its volume.
StreamShot shot_of_ranks(stream::MpiRanks& all, const Instance<Memory>& exec,
                         const Modelling& whole, const stream::VolumeShape<T, 2>& shape,
                         const Volume* volume, const PointSet& sources, const PointSet& receivers,
                         std::int64_t steps) {
  StreamShot one;
  one.sources = &sources;
  one.receivers = &receivers;
  one.amplitudes = wave::wavelet_series<T, Memory>(exec, whole.plan().wavelet, steps, 1);
  for (int f = 0; f < shape.fields; ++f) {
    wave::Storage<const T, Memory> factors;
    if (rank() == 0) {
      factors = volume->source_factors(exec, sources, f);
    }
    one.factors[f] = stream::share_factors<T, Memory>(all, exec, factors);
  }
  if (shape.pressure_factors) {
    wave::Storage<const T, Memory> factors;
    if (rank() == 0) {
      factors = receivers.point_factors(exec, shape.layout, volume->pressure_factors());
    }
    one.pressure = stream::share_factors<T, Memory>(all, exec, factors);
  }
  one.factor = wave::kernel::source_factor<T>(whole.propagator().scheme().grid());
  one.rows = steps + 1;
  one.gather = wave::PointSeries<T, Memory>("gather", one.rows, receivers.count());
  return one;
}

/// Expects the gather and the last wavefield of a volume to have the bits of the complete grid.
void expect_results_of(const Instance<Memory>& exec, Modelling& whole,
                       const wave::ShotResult<T, 2, Memory>& expected, const StreamShot& one,
                       const Volume& volume, const std::string& what) {
  double largest = 0.0;
  for (std::size_t row = 0; row < one.gather.extent(0); ++row) {
    for (std::size_t r = 0; r < one.gather.extent(1); ++r) {
      EXPECT_EQ(one.gather(row, r), expected.traces(r, row)) << what << ", row " << row;
      largest = std::max(largest, std::fabs(static_cast<double>(one.gather(row, r))));
    }
  }
  EXPECT_GT(largest, 0.0);
  const auto& scheme = whole.propagator().scheme();
  const Box<2> box = whole_box(scheme.grid());
  for (int f = 0; f < stream::VolumeShape<T, 2>(scheme).fields; ++f) {
    std::vector<T> values(static_cast<std::size_t>(box.size()));
    volume.copy_out(f, box, values.data());
    EXPECT_EQ(std::vector<double>(values.begin(), values.end()),
              (nodes_of<T, 2, Memory>(exec, whole.wavefield().layout, whole.wavefield().now[f])))
        << what;
  }
}

void expect_the_same_bits(const Kind& kind, const Boundaries<2>& faces, std::int64_t block,
                          std::int64_t updates) {
  const Instance<Memory> exec{Kokkos::DefaultHostExecutionSpace()};
  const Grid<2> grid{{45, 19}, {10.0, 8.0}, {}};
  const auto model = random_model<T, 2, Memory>(exec, grid, kind.medium, 9);
  const wave::Shot<2> shot{
      .number = 1, .sources = {{217.0, 55.5}}, .receivers = {{130.0, 40.0}, {301.5, 77.0}}};
  wave::ModellingOptions<2> options;
  options.time.time = 0.0124;
  options.time.dt = 4e-4;
  options.time.snapshot_every = 0.0;
  options.equations = kind.equations;
  options.sources = shot.sources;
  auto whole = wave::make_modelling<T, 2, Memory>(exec, grid, model, faces,
                                                  wave::ricker_wavelet(3.0), options);
  const auto expected = whole.shot(exec, shot);

  const auto& scheme = whole.propagator().scheme();
  const PointSet sources = whole.sources(exec, shot), receivers = whole.receivers(exec, shot);
  const stream::Schedule schedule =
      schedule_of_ranks(whole, expected.steps, receivers.planes(), block, updates);
  const stream::VolumeShape<T, 2> volume_shape(scheme);
  stream::Pipeline<T, 2, Memory> pipeline(exec, scheme, volume_shape, schedule, rank(), false);
  const std::unique_ptr<Volume> volume = volume_of_rank(exec, whole, model, shot.sources);
  stream::MpiRanks all(MPI_COMM_WORLD);
  const StreamShot one = shot_of_ranks(all, exec, whole, volume_shape, volume.get(), sources,
                                       receivers, expected.steps);
  pipeline.begin(schedule, one);
  const stream::StreamReport report =
      stream::run_stream_ranks<T, 2, Memory>(all, schedule, pipeline, volume.get());
  EXPECT_EQ(report.bad, stream::BadValue::none);

  // every rank has recorded the rows of its steps
  mpi::reduce_to_root(MPI_COMM_WORLD, one.gather.data(),
                      static_cast<std::int64_t>(one.gather.size()));
  if (rank() != 0) return;
  expect_results_of(exec, whole, expected, one, *volume,
                    concat(kind.name(), ", ", to_string(faces.lower[0].kind), ", block ", block,
                           ", updates ", updates));
}

TEST(StreamOfRanks, HasTheBitsOfTheWholeGrid) {
  for (const Kind& kind : kinds) {
    Boundaries<2> mixed = wave::all_faces<2>(FaceKind::sponge, 6);
    mixed.lower[0] = {FaceKind::free_surface, 0};
    expect_the_same_bits(kind, mixed, 5, 3);
    expect_the_same_bits(kind, mixed, 16, 4);
    if (kind.medium != Medium::tti) {
      expect_the_same_bits(kind, wave::all_faces<2>(FaceKind::cpml, 6), 4, 2);
    }
  }
}

// The ranks of these tests run on one machine.
TEST(StreamOfRanks, CountsThoseOfAMachine) {
  stream::MpiRanks all(MPI_COMM_WORLD);
  EXPECT_EQ(all.of_host(true), ranks());
  EXPECT_EQ(all.of_host(rank() == 0), 1);
  EXPECT_EQ(all.of_host(false), 0);
}

TEST(StreamOfRanks, NeedsARankADevice) {
  const Instance<Memory> exec{Kokkos::DefaultHostExecutionSpace()};
  const Grid<2> grid{{45, 39}, {10.0, 8.0}, {}};
  PropagatorOptions<2> options;
  options.boundaries = wave::all_faces<2>(FaceKind::rigid);
  options.dt = 1e-4;
  const Propagator<T, 2, Memory> propagator(
      exec, grid, random_model<T, 2, Memory>(exec, grid, Medium::isotropic, 9), options);
  const stream::VolumeShape<T, 2> volume(propagator.scheme());
  stream::StreamShape shape;
  shape.planes = 45;
  shape.steps = 5;
  shape.reach = shape.halo = 4;
  shape.devices = ranks() + 1;
  const stream::Schedule schedule(shape);
  stream::Pipeline<T, 2, Memory> pipeline(exec, propagator.scheme(), volume, schedule, rank(),
                                          false);
  stream::MpiRanks all(MPI_COMM_WORLD);
  const auto run = [&] {
    stream::run_stream_ranks<T, 2, Memory>(all, schedule, pipeline, nullptr);
  };
  const std::string text = concat("ranks: there are ", ranks(), " (allowed: ", ranks() + 1);
  EXPECT_THAT(run, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(text)));
}

}  // namespace
}  // namespace moho::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  moho::mpi::Session session(argc, argv);
  const moho::ScopeGuard guard(argc, argv);
  return RUN_ALL_TESTS();
}
