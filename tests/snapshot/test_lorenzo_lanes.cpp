// SPDX-License-Identifier: BSD-3-Clause
// ctest: alone, quick
//
// Kernels of devices for the mode lorenzo, on an emulated warp, against the encoder of hosts.

#define MOHO_EMULATE_WARPS
#include "emulated_warp.hpp"

#include "codec_fields.hpp"

#include <moho/snapshot/codec/detail/lorenzo_store.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace moho;
using namespace moho::snapshot;
using namespace moho::snapshot::detail;
using moho::testing::CodecField;
using moho::testing::fronts;
using moho::testing::unit_grid;
using Host = Kokkos::HostSpace;

/// Runs body(first, count, warp, lane, shared) as LorenzoTeams does.
template <class Body>
void run_blocks(std::int64_t blocks, const Body& body) {
  auto shared = std::make_unique<LorenzoShared>();
  for (std::int64_t first = 0; first < blocks; first += 32) {
    const int count = static_cast<int>(std::min<std::int64_t>(blocks - first, 32));
    for (int warp = 0; warp < std::min(count, lorenzo_warps); ++warp) {
      std::memset(shared.get(), 0x5a, sizeof(LorenzoShared));
      emulated::run_warp([&](int lane) { body(first, count, warp, lane, *shared); });
    }
  }
}

/// Runs body(n) for n in [0, threads), a multiple of 32.
template <class Body>
void run_threads(std::int64_t threads, const Body& body) {
  for (std::int64_t n = 0; n < threads; n += emulated::lanes) {
    emulated::run_warp([&](int lane) { body(n + lane); });
  }
}

/// Results of EncodeLorenzoLanes.
struct Encoded {
  std::vector<std::uint32_t> store;
  std::vector<std::uint16_t> lengths;
  std::vector<std::int64_t> positions;
  LorenzoFindings findings{};
};

template <class T, int Dim>
Encoded encode(const LorenzoTables& tables, const BlockSource<T, Dim>& source, float quantum,
               std::size_t capacity) {
  Encoded result;
  const auto blocks = static_cast<std::size_t>(source.blocks.size());
  result.store.assign(capacity + 8, 0xdeadbeefu);
  result.lengths.assign(blocks, 7);
  result.positions.assign(blocks, -1);
  const EncodeLorenzoLanes<T, Dim> body{&tables,
                                        QuadSource<T, Dim>(source),
                                        source.blocks,
                                        source.up,
                                        1.0f / quantum,
                                        result.store.data(),
                                        capacity,
                                        result.lengths.data(),
                                        result.positions.data(),
                                        &result.findings};
  run_blocks(source.blocks.size(), body);
  for (std::size_t k = capacity; k < capacity + 8; ++k) EXPECT_EQ(result.store[k], 0xdeadbeefu);
  return result;
}

template <int Dim>
struct Shape;
template <>
struct Shape<2> {
  static constexpr Index<2> extents{75, 161};
  static constexpr Box<2> boxes[] = {
      {{3, 5}, {70, 158}}, {{0, 0}, {75, 161}}, {{17, 33}, {18, 34}}};
};
template <>
struct Shape<3> {
  static constexpr Index<3> extents{37, 30, 45};
  static constexpr Box<3> boxes[] = {
      {{1, 3, 5}, {36, 30, 42}}, {{0, 0, 0}, {37, 30, 45}}, {{8, 9, 7}, {9, 10, 25}}};
};

double noise(std::int64_t n) {
  std::uint64_t mixed =
      88172645463325252ull ^ static_cast<std::uint64_t>(n) * 0x9e3779b97f4a7c15ull;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9ull;
  mixed ^= mixed >> 32;
  return static_cast<double>(mixed % 2000001) / 1e6 - 1.0;
}

template <int Dim>
double value_of(const std::string& name, const Index<Dim>& node) {
  std::int64_t number = 0;
  for (int d = 0; d < Dim; ++d) number = number * 1000 + node[d];
  if (name == "fronts") return fronts<Dim>(node);
  if (name == "noise") return noise(number);
  if (name == "constant") return -0.7;
  if (name == "steep") return node[Dim - 1] % 2 == 0 ? 1.0 : -1.0;
  return number % 977 == 0 ? 0.9 : 0.0;
}

/// Encodes and decodes a box of a field by lanes and by the functors of hosts.
template <class T, int Dim>
void compare(const LorenzoTables& tables, const CodecField<T, Dim, Host>& field,
             const Box<Dim>& box, float quantum) {
  const BlockSource<T, Dim> source{field.values.data(), field.layout, BlockGrid<Dim>(box), T(0.5)};
  const std::int64_t blocks = source.blocks.size();
  const LorenzoCoder<Dim> coder{&tables, quantum, 1.0f / quantum};
  const auto capacity = static_cast<std::size_t>(blocks) * 600;
  const Encoded encoded = encode(tables, source, quantum, capacity);
  EXPECT_EQ(encoded.findings.wrong, 0u);
  // each block has the bytes of hosts
  std::vector<std::uint8_t> expected(LorenzoCoder<Dim>::max_bytes), all;
  std::vector<float> values(512);
  float peak = 0.0f;
  for (std::int64_t b = 0; b < blocks; ++b) {
    source.load(b, values.data());
    for (const float v : values) peak = std::max(peak, std::fabs(v));
    const auto at = static_cast<std::size_t>(b);
    const int bytes = coder.encode(values.data(), expected.data());
    ASSERT_EQ(encoded.lengths[at], bytes) << b;
    if (bytes == 0) continue;
    const std::uint32_t* const from = encoded.store.data() + encoded.positions[at];
    ASSERT_EQ(std::memcmp(from, expected.data(), static_cast<std::size_t>(bytes)), 0) << b;
    all.insert(all.end(), expected.begin(), expected.begin() + bytes);
  }
  float max = 0.0f;
  std::memcpy(&max, &encoded.findings.max, sizeof(max));
  EXPECT_EQ(max, 2.0f * peak);
  // offsets and payload
  Encoded whole = encoded;
  const std::int64_t groups = (blocks + 31) / 32;
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(groups));
  const PlaceGroups<Dim, Host> place{whole.lengths.data(), offsets.data(), blocks, &whole.findings};
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < groups; ++i) place(i, sum, true);
  ASSERT_EQ(whole.findings.bytes, static_cast<std::int64_t>(all.size()));
  std::vector<std::uint32_t> payload(all.size() / 4 + 4);
  run_threads(GatherLorenzo::threads(blocks),
              GatherLorenzo{whole.store.data(), whole.lengths.data(), whole.positions.data(),
                            offsets.data(), payload.data(), blocks});
  ASSERT_EQ(std::memcmp(payload.data(), all.data(), all.size()), 0);
  // decoded nodes, and no others
  std::vector<T> here(field.values.size(), T(77)), there = here;
  using Target = BlockTarget<T, Dim, StoreNodes<T, Dim>>;
  Box<Dim> part = box;
  if (box.upper[0] - box.lower[0] > 20) ++part.lower[0], --part.upper[Dim - 1];
  const Target to_here{StoreNodes<T, Dim>::of(here.data(), field.layout), part, T(2)};
  const Target to_there{StoreNodes<T, Dim>::of(there.data(), field.layout), part, T(2)};
  run_blocks(blocks, DecodeLorenzoLanes<Target, T, Dim>{
                         &tables, QuadTarget<Target, Dim>(to_here), source.blocks, quantum,
                         whole.lengths.data(), offsets.data(),
                         reinterpret_cast<const std::uint8_t*>(payload.data())});
  const DecodeBlocks<LorenzoCoder<Dim>, Target, Dim, Host> by_host{
      coder, to_there, source.blocks, blocks, whole.lengths.data(), offsets.data(), all.data()};
  for (std::int64_t i = 0; i < groups; ++i) by_host(i);
  EXPECT_TRUE(here == there);
}

template <class T, int Dim>
void bytes_are_those_of_hosts(const std::vector<std::string>& names) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Instance<Host> exec{Kokkos::Serial()};
  const LorenzoTables tables = LorenzoTables::make<Dim>();
  constexpr float quanta[] = {2e-3f, 0.2f, 2e-5f, 2e-3f};
  std::size_t turn = 0;  // other quanta for each field
  for (const std::string& name : names) {
    const CodecField<T, Dim, Host> field(
        exec, grid, [&](const Index<Dim>& node) { return value_of<Dim>(name, node); });
    for (const Box<Dim>& box : Shape<Dim>::boxes) {
      const float quantum = quanta[turn++ % 4];
      SCOPED_TRACE(concat(name, " ", box_string(box), " ", quantum));
      compare(tables, field, box, quantum);
    }
  }
}

// Address sanitizers do not support contexts with separate stacks.
#ifdef MOHO_BOUNDS_CHECK
constexpr bool emulates = false;
#else
constexpr bool emulates = true;
#endif

TEST(LorenzoLanes, BytesAreThoseOfHosts2D) {
  if (!emulates) GTEST_SKIP() << "sanitizers do not know its stacks";
  bytes_are_those_of_hosts<float, 2>({"fronts", "noise", "constant", "steep", "few"});
}
TEST(LorenzoLanes, BytesAreThoseOfHosts3D) {
  if (!emulates) GTEST_SKIP() << "sanitizers do not know its stacks";
  bytes_are_those_of_hosts<float, 3>({"fronts", "noise", "constant", "steep", "few"});
}
TEST(LorenzoLanes, BytesAreThoseOfHostsInDoublePrecision) {
  if (!emulates) GTEST_SKIP() << "sanitizers do not know its stacks";
  bytes_are_those_of_hosts<double, 3>({"fronts"});
}

// The encoder reports values that exceed the expected ones or are not finite. It counts the words
// of all blocks, and writes nothing beyond the end of a store that is too small.
TEST(LorenzoLanes, ReportsWhatDoesNotFit) {
  if (!emulates) GTEST_SKIP() << "sanitizers do not know its stacks";
  const Grid<3> grid = unit_grid<3>(Shape<3>::extents);
  const Instance<Host> exec{Kokkos::Serial()};
  const LorenzoTables tables = LorenzoTables::make<3>();
  CodecField<float, 3, Host> field(exec, grid, fronts<3>);
  const BlockSource<float, 3> source{field.values.data(), field.layout,
                                     BlockGrid<3>(Shape<3>::boxes[0]), 1.0f};
  const Encoded whole = encode(tables, source, 1e-3f, 100000);
  EXPECT_LE(whole.findings.words, 100000u);
  const Encoded small = encode(tables, source, 1e-3f, 1000);
  EXPECT_EQ(small.findings.words, whole.findings.words);
  EXPECT_EQ(small.lengths, whole.lengths);
  const float before = field.at({17, 9, 23});
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(), 1e30f, -1e30f}) {
    field.at({17, 9, 23}) = bad;
    EXPECT_NE(encode(tables, source, 1e-3f, 100000).findings.wrong, 0u) << bad;
  }
  field.at({17, 9, 23}) = before;
  EXPECT_EQ(encode(tables, source, 1e-3f, 100000).findings.wrong, 0u);
}

// Sample rows are one of eight, in the box; their largest amplitude is found.
TEST(LorenzoLanes, EstimateIsTheLargestOfSampleRows) {
  if (!emulates) GTEST_SKIP() << "sanitizers do not know its stacks";
  const Grid<3> grid = unit_grid<3>({41, 37, 530});
  const Instance<Host> exec{Kokkos::Serial()};
  const CodecField<float, 3, Host> field(exec, grid, [](const Index<3>& node) {
    return noise(node[0] * 1000000 + node[1] * 1000 + node[2]);
  });
  for (const Box<3>& box : {Box<3>{{0, 0, 0}, {41, 37, 530}}, Box<3>{{3, 5, 9}, {40, 33, 525}}}) {
    const SampleRows rows(box);
    float expected = 0.0f;
    std::int64_t found = 0;
    for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
      for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y) {
        if ((x + 3 * y) % 8 != 0) continue;
        ++found;
        for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z) {
          const auto at = static_cast<std::size_t>(field.layout.flat({x, y, z}));
          expected = std::max(expected, std::fabs(field.values[at]));
        }
      }
    }
    EXPECT_NEAR(static_cast<double>(found) * 8.0, static_cast<double>(box.size() / box.extent(2)),
                60.0);
    LorenzoFindings findings{};
    const SampleRowsLanes lanes{field.values.data(), field.layout, rows,
                                (box.extent(2) + 511) / 512, &findings};
    run_threads(lanes.threads(), lanes);
    float max = 0.0f;
    std::memcpy(&max, &findings.max, sizeof(max));
    EXPECT_EQ(max, expected);
    const SampleRowsPeak host{field.values.data(), field.layout, rows};
    float peak = 0.0f;
    for (std::int64_t i = 0; i < rows.size(); ++i) host(i, peak);
    EXPECT_EQ(peak, expected);
  }
}

}  // namespace
