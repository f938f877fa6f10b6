// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Planned bytes of snapshots with a fixed number of bits against those of compressed ones.

#include <moho/snapshot/codec/container.hpp>
#include <moho/snapshot/rates.hpp>
#include <moho/wave/modelling.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "wave/support.hpp"

namespace moho::testing {
namespace {

using snapshot::CodecRate;
using snapshot::Packed;

template <class C>
class SnapshotRates : public ::testing::Test {};
TYPED_TEST_SUITE(SnapshotRates, LongTestCases, CaseName);

// Compares plans with snapshots of the nodes of a grid behind layers of some width.
template <class T, int Dim, class Memory>
void expect_planned_bytes(const Instance<Memory>& exec, const Index<Dim>& extents, int width) {
  Grid<Dim> grid;
  for (int d = 0; d < Dim; ++d) grid.extents[d] = extents[d], grid.spacing[d] = 10.0;
  const auto faces = wave::all_faces<Dim>(FaceKind::sponge, width);
  const auto vp = make_field<T>(exec, grid, "vp");
  fill(exec, vp, T(2000));
  wave::Model<T, Dim, Memory> model;
  model.vp = vp;
  wave::PropagatorOptions<Dim> options;
  options.dt = 5e-4;
  options.boundaries = faces;
  options.frequency = 30.0;
  const wave::Propagator<T, Dim, Memory> propagator(
      exec, wave::extended_grid(grid, faces),
      wave::extend_model<T, Dim, Memory>(exec, grid, model, faces), options);
  auto field = propagator.make_wavefield(exec);
  std::vector<snapshot::CodecOptions> codecs;
  for (const char* const text : {"bits:8", "bits:12", "bits:16"}) {
    codecs.push_back(snapshot::parse_codec(text));
  }
  const auto rates = snapshot::measure_rates<T, Dim, Memory>(exec, propagator, field, codecs);
  const Box<Dim> interior = propagator.interior();
  ASSERT_EQ(interior.size(), grid.size());
  for (std::size_t n = 0; n < codecs.size(); ++n) {
    snapshot::Codec<T, Dim, Memory> codec(codecs[n]);
    Packed<Dim, Memory> packed;
    codec.encode(exec, field.layout, field.now[0], interior, packed);
    const auto on_host = snapshot::copy_packed<Kokkos::HostSpace>(exec, packed);
    const auto held = static_cast<double>(snapshot::detail::held_bytes(on_host));
    const auto filed = static_cast<double>(
        snapshot::to_container<Dim>(on_host, {propagator.grid(), 0, 0.0}).size());
    const CodecRate threads = snapshot::measure_host_codec<T, Dim, Memory>(
        codecs[n], 1, snapshot::shortest_wave(propagator), interior);
    for (const CodecRate& rate : {rates.codecs[n], threads}) {
      const double planned =
          static_cast<double>(grid.size()) * sizeof(T) / rate.ratio + rate.entry_bytes;
      const std::string words = concat(shape_string(grid), " nodes behind ", width, ", ",
                                       codecs[n].bits, " bits, threads ", rate.host_threads);
      // divided and multiplied by the ratio
      EXPECT_GT(planned, held - 1e-3) << words;
      EXPECT_GT(planned, filed) << words;
      EXPECT_LT(planned, held + 1e-5 * held) << words;
    }
  }
}

MEMORY_TEST(SnapshotRates, OfAFixedNumberOfBitsAreThoseOfTheBox) {
  expect_planned_bytes<T, 2, Memory>(exec, {{90, 60}}, 14);
  expect_planned_bytes<T, 2, Memory>(exec, {{32, 64}}, 16);
  expect_planned_bytes<T, 2, Memory>(exec, {{33, 17}}, 15);
  expect_planned_bytes<T, 2, Memory>(exec, {{17, 200}}, 31);
  expect_planned_bytes<T, 3, Memory>(exec, {{16, 16, 16}}, 8);
  expect_planned_bytes<T, 3, Memory>(exec, {{16, 16, 16}}, 7);
  expect_planned_bytes<T, 3, Memory>(exec, {{9, 30, 12}}, 5);
  expect_planned_bytes<T, 3, Memory>(exec, {{90, 80, 100}}, 6);  // pieces with checksums
}

// Shots see parts of a model: the most nodes need not be the most blocks.
TEST(FixedRatios, AreThoseOfTheLargestSnapshot) {
  snapshot::Rates rates;
  rates.codecs.resize(2);
  rates.codecs[0].keep = snapshot::StorageMethod::blocks;
  rates.codecs[0].bits = 8;
  rates.codecs[1].keep = snapshot::StorageMethod::transform;
  rates.codecs[1].ratio = 7.0;
  const Box<2> more_nodes{{0, 0}, {32, 64}}, more_blocks{{0, 0}, {33, 33}};
  const double raw = 4.0 * 32 * 64;
  snapshot::set_fixed_ratios<2>(rates, raw, {more_nodes, more_blocks});
  EXPECT_DOUBLE_EQ(raw / rates.codecs[0].ratio, snapshot::detail::fixed_bytes(8, more_blocks));
  EXPECT_GT(snapshot::detail::fixed_bytes(8, more_blocks),
            snapshot::detail::fixed_bytes(8, more_nodes));
  EXPECT_EQ(rates.codecs[1].ratio, 7.0);
}

}  // namespace
}  // namespace moho::testing
