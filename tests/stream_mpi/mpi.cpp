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
  const stream::VolumeShape<T, 2> volume_shape(scheme);
  const wave::PointSet<T, 2, Memory> sources = whole.sources(exec, shot);
  const wave::PointSet<T, 2, Memory> receivers = whole.receivers(exec, shot);
  stream::StreamShape shape;
  shape.planes = scheme.grid().extents[0];
  shape.steps = expected.steps;
  shape.halo = scheme.order() / 2;
  shape.reach = scheme.reach(0);
  shape.point_planes = receivers.planes();
  shape.block = block;
  shape.updates = updates;
  shape.devices = ranks();
  const stream::Schedule schedule(shape);
  stream::Pipeline<T, 2, Memory> pipeline(exec, scheme, volume_shape, schedule, rank(), false);

  std::unique_ptr<stream::HostVolume<T, 2>> volume;
  if (rank() == 0) {
    stream::VolumeOptions volume_options;
    volume_options.sources = all_planes(scheme.grid());
    volume = std::make_unique<stream::HostVolume<T, 2>>(scheme, volume_options);
    auto tapered = model;
    if (whole.plan().source_taper > 0.0) {
      tapered.delta = wave::taper_delta<T, 2, Memory>(exec, grid, model, shot.sources,
                                                      whole.plan().source_taper);
    }
    volume->load<Memory>(exec, scheme, grid, tapered, whole.plan().random);
  }
  stream::MpiRanks all(MPI_COMM_WORLD);
  stream::StreamShot<T, 2, Memory> one;
  one.sources = &sources;
  one.receivers = &receivers;
  one.amplitudes = wave::wavelet_series<T, Memory>(exec, whole.plan().wavelet, shape.steps, 1);
  for (int f = 0; f < volume_shape.fields; ++f) {
    wave::Storage<const T, Memory> factors;
    if (rank() == 0) {
      factors = volume->source_factors(exec, sources, f);
    }
    one.factors[f] = stream::share_factors<T, Memory>(all, exec, factors);
  }
  if (volume_shape.pressure_factors) {
    wave::Storage<const T, Memory> factors;
    if (rank() == 0) {
      factors = receivers.point_factors(exec, volume_shape.layout, volume->pressure_factors());
    }
    one.pressure = stream::share_factors<T, Memory>(all, exec, factors);
  }
  one.factor = wave::kernel::source_factor<T>(scheme.grid());
  one.rows = shape.steps + 1;
  one.gather = wave::PointSeries<T, Memory>("gather", one.rows, receivers.count());
  pipeline.begin(schedule, one);
  const stream::StreamReport report =
      stream::run_stream_ranks<T, 2, Memory>(all, schedule, pipeline, volume.get());
  EXPECT_EQ(report.bad, stream::BadValue::none);

  // every rank has recorded the rows of its steps
  mpi::reduce_to_root(MPI_COMM_WORLD, one.gather.data(),
                      static_cast<std::int64_t>(one.gather.size()));
  if (rank() != 0) return;
  const std::string what = concat(kind.name(), ", ", to_string(faces.lower[0].kind), ", block ",
                                  block, ", updates ", updates);
  double largest = 0.0;
  for (std::size_t row = 0; row < one.gather.extent(0); ++row) {
    for (std::size_t r = 0; r < one.gather.extent(1); ++r) {
      EXPECT_EQ(one.gather(row, r), expected.traces(r, row)) << what << ", row " << row;
      largest = std::max(largest, std::fabs(static_cast<double>(one.gather(row, r))));
    }
  }
  EXPECT_GT(largest, 0.0);
  const Box<2> box = whole_box(scheme.grid());
  for (int f = 0; f < volume_shape.fields; ++f) {
    std::vector<T> values(static_cast<std::size_t>(box.size()));
    volume->copy_out(f, box, values.data());
    EXPECT_EQ(std::vector<double>(values.begin(), values.end()),
              (nodes_of<T, 2, Memory>(exec, whole.wavefield().layout, whole.wavefield().now[f])))
        << what;
  }
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
