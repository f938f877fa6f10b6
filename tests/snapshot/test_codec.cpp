// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Snapshot codec: decoded values of every mode against the encoded ones.

#include "codec_fields.hpp"
#include "io/files.hpp"
#include "spaces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace moho;
using io::test::message_of;
using moho::testing::bytes_of;
using moho::testing::CodecField;
using moho::testing::difference;
using moho::testing::Difference;
using moho::testing::fronts;
using moho::testing::unit_grid;
using snapshot::BlockGrid;
using snapshot::Codec;
using snapshot::CodecMode;
using snapshot::CodecOptions;
using snapshot::Packed;
using snapshot::parse_codec;
using ::testing::HasSubstr;

TEST(CodecOptions, TextIsRead) {
  EXPECT_EQ(parse_codec("snr:50").mode, CodecMode::transform);
  EXPECT_DOUBLE_EQ(parse_codec("snr:50").snr, 50.0);
  EXPECT_EQ(parse_codec("max:1e-4").mode, CodecMode::lorenzo);
  EXPECT_DOUBLE_EQ(parse_codec("max:1e-4").max_error, 1e-4);
  EXPECT_EQ(parse_codec("paper:0.01").mode, CodecMode::paper);
  EXPECT_EQ(parse_codec("bits:16").mode, CodecMode::blocks);
  EXPECT_EQ(parse_codec("bits:16").bits, 16);
}

TEST(CodecOptions, WrongOnesAreRefused) {
  for (const char* const text : {"", "snr", "snr:", "snr:x", "snr:5x", "zip:3", "max:nan"}) {
    EXPECT_THAT(message_of<InputError>([&] { parse_codec(text); }),
                HasSubstr(concat("codec '", text, "' is unknown")));
  }
  EXPECT_THAT(message_of<InputError>([] { parse_codec("bits:9"); }),
              HasSubstr("bits is 9 (allowed: 8, 12 or 16)"));
  EXPECT_THAT(message_of<InputError>([] { parse_codec("bits:12.5"); }), HasSubstr("bits are 12.5"));
  EXPECT_THAT(message_of<InputError>([] { parse_codec("snr:200"); }),
              HasSubstr("snr is 200 dB (allowed: 10 to 100)"));
  EXPECT_THAT(message_of<InputError>([] { parse_codec("max:1e-9"); }),
              HasSubstr("max_error is 1e-09 of the largest amplitude (allowed: 1e-05 to 0.1)"));
  CodecOptions options;
  options.mode = CodecMode::paper;
  options.max_error = 0.5;
  EXPECT_THAT(message_of<InputError>([&] { Codec<float, 2, Kokkos::HostSpace>{options}; }),
              HasSubstr("max_error is 0.5"));
}

TEST(BlockGrid, CoversOddBoxes) {
  const Box<3> box{{3, 8, 15}, {17, 16, 41}};
  const BlockGrid<3> blocks(box);
  EXPECT_EQ(blocks.size(), 3 * 1 * 5);
  std::int64_t nodes = 0;
  for (std::int64_t b = 0; b < blocks.size(); ++b) {
    for (int d = 0; d < 3; ++d) EXPECT_EQ(blocks.first(b)[d] % 8, 0);
    EXPECT_GT(blocks.inside(b), 0);
    nodes += blocks.inside(b);
  }
  EXPECT_EQ(nodes, box.size());
  EXPECT_EQ(BlockGrid<2>(Box<2>{{15, 31}, {17, 33}}).size(), 4);
  EXPECT_EQ(BlockGrid<2>(Box<2>{{16, 32}, {32, 64}}).size(), 1);
  EXPECT_EQ(BlockGrid<2>(Box<2>{}).size(), 0);
}

template <class Case>
class CodecOf : public ::testing::Test {};
TYPED_TEST_SUITE(CodecOf, moho::testing::TestCases, moho::testing::CaseName);

/// Extents of the grids of tests, and a box in them whose ends are not multiples of 8.
template <int Dim>
struct Shape;
template <>
struct Shape<2> {
  static constexpr Index<2> extents{75, 101};
  static constexpr Box<2> box{{3, 5}, {70, 98}};
};
template <>
struct Shape<3> {
  static constexpr Index<3> extents{37, 30, 45};
  static constexpr Box<3> box{{1, 3, 5}, {36, 30, 42}};
};

/// Field with a name.
template <int Dim>
struct NamedField {
  std::string name;
  std::function<double(const Index<Dim>&)> value;
};

template <int Dim>
std::vector<NamedField<Dim>> named_fields() {
  const auto noise = [](const Index<Dim>& node) {
    std::uint64_t mixed = 88172645463325252ull;
    for (int d = 0; d < Dim; ++d) {
      mixed = (mixed ^ static_cast<std::uint64_t>(node[d])) * 0x9e3779b97f4a7c15ull;
      mixed ^= mixed >> 31;
    }
    return static_cast<double>(mixed % 2000001) / 1e6 - 1.0;
  };
  const auto middle = [](const Index<Dim>& node) {
    for (int d = 0; d < Dim; ++d) {
      if (node[d] != 20) return 0.0;
    }
    return -3.0;
  };
  return {{"fronts", fronts<Dim>},
          {"noise", noise},
          {"constant", [](const Index<Dim>&) { return -0.7; }},
          {"zero", [](const Index<Dim>&) { return 0.0; }},
          {"one node", middle},
          {"denormal", [=](const Index<Dim>& n) { return 1e-41 * noise(n); }},
          {"hardly a number", [=](const Index<Dim>& n) { return 6e-45 * noise(n); }},
          {"1e38", [=](const Index<Dim>& n) { return 1e38 * fronts<Dim>(n); }},
          {"1e38 and 1e-42", [=](const Index<Dim>& n) {
             return noise(n) > 0.9 ? 2e38 * noise(n) : 1e-42 * noise(n);
           }}};
}

/// Encodes the box of a shape and decodes it into a field of other numbers.
///
/// Nodes outside the box must keep these numbers.
template <class T, int Dim, class Memory>
Difference round_trip(const CodecField<T, Dim, Memory>& field, const Box<Dim>& box,
                      const CodecOptions& options, CodecField<T, Dim, Memory>& decoded,
                      Packed<Dim, Memory>& packed) {
  Codec<T, Dim, Memory> codec(options);
  codec.encode(field.exec, field.layout, field.storage, box, packed);
  std::fill(decoded.values.begin(), decoded.values.end(), T(77));
  decoded.put();
  Codec<T, Dim, Memory>().decode(field.exec, packed, decoded.layout, decoded.storage,
                                 whole_box(unit_grid<Dim>(field.layout.extents)));
  decoded.get();
  std::int64_t kept = 0;
  for (const T value : decoded.values) kept += value == T(77);
  EXPECT_EQ(kept, field.layout.size - box.size());
  return difference(field, decoded, box);
}

/// Codecs with a bound; with sanitizers those with the most bits.
#ifdef MOHO_BOUNDS_CHECK
constexpr const char* bounded[] = {"max:1e-5", "paper:1e-5"};
#else
constexpr const char* bounded[] = {"max:0.1",   "max:1e-3",   "max:1e-5",
                                   "paper:0.1", "paper:1e-3", "paper:1e-5"};
#endif

template <class T, int Dim, class Memory>
void bounds_hold(const Instance<Memory>& exec) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Box<Dim> box = Shape<Dim>::box;
  CodecField<T, Dim, Memory> decoded(exec, grid, [](const Index<Dim>&) { return 0.0; });
  Packed<Dim, Memory> packed;
  for (const NamedField<Dim>& named : named_fields<Dim>()) {
    const CodecField<T, Dim, Memory> field(exec, grid, named.value);
    for (const char* const text : bounded) {
      const CodecOptions options = parse_codec(text);
      const Difference found = round_trip(field, box, options, decoded, packed);
      EXPECT_LE(found.max_difference, options.max_error * found.max) << named.name << " " << text;
      EXPECT_EQ(packed.raw_bytes(), 4 * box.size());
    }
  }
}
MEMORY_TEST(CodecOf, ErrorsStayBelowTheBound2D) { bounds_hold<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, ErrorsStayBelowTheBound3D) { bounds_hold<T, 3, Memory>(exec); }

template <class T, int Dim, class Memory>
void ratio_is_as_asked(const Instance<Memory>& exec) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  CodecField<T, Dim, Memory> decoded(exec, grid, [](const Index<Dim>&) { return 0.0; });
  Packed<Dim, Memory> packed;
  const CodecField<T, Dim, Memory> waves(exec, grid, fronts<Dim>);
  // a box most of whose blocks extend beyond it
  Box<Dim> thin = Shape<Dim>::box;
  thin.lower[Dim - 1] = 7;
  thin.upper[Dim - 1] = 13;
  double size = 0.0;
  for (const double snr : {20.0, 40.0, 55.0, 70.0, 90.0}) {
    CodecOptions options;
    options.snr = snr;
    for (const Box<Dim>& box : {thin, Shape<Dim>::box, whole_box(grid)}) {
      const Difference found = round_trip(waves, box, options, decoded, packed);
      EXPECT_NEAR(found.snr, snr, 1.0) << "box " << box_string(box);
    }
    EXPECT_GT(static_cast<double>(packed.bytes()), size) << snr;
    size = static_cast<double>(packed.bytes());
  }
  // Fields unlike waves have errors within the requested bounds.
  for (const NamedField<Dim>& named : named_fields<Dim>()) {
    const CodecField<T, Dim, Memory> field(exec, grid, named.value);
    CodecOptions options;
    options.snr = 60.0;
    const Difference found = round_trip(field, Shape<Dim>::box, options, decoded, packed);
    EXPECT_GE(found.snr, options.snr - 1.0) << named.name;
  }
}
MEMORY_TEST(CodecOf, SignalToNoiseIsAsAsked2D) { ratio_is_as_asked<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, SignalToNoiseIsAsAsked3D) { ratio_is_as_asked<T, 3, Memory>(exec); }

template <class T, int Dim, class Memory>
void rate_is_fixed(const Instance<Memory>& exec) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Box<Dim> box = Shape<Dim>::box;
  const BlockGrid<Dim> blocks(box);
  CodecField<T, Dim, Memory> decoded(exec, grid, [](const Index<Dim>&) { return 0.0; });
  Packed<Dim, Memory> packed;
  for (const NamedField<Dim>& named : named_fields<Dim>()) {
    const CodecField<T, Dim, Memory> field(exec, grid, named.value);
    // rounding to the smallest numbers adds half their unit
    const double unit = sizeof(T) == 4 ? 0.5 * std::ldexp(1.0, -149) : 0.0;
    for (const int bits : {8, 12, 16}) {
      const CodecOptions options = parse_codec(concat("bits:", bits));
      const Difference all = round_trip(field, box, options, decoded, packed);
      EXPECT_EQ(packed.payload_bytes, packed.header.first_block() + blocks.size() * 64 * bits);
      const double quantum = 1.0 / ((1 << (bits - 1)) - 1);
      for (std::int64_t b = 0; b < blocks.size(); ++b) {
        Box<Dim> part{blocks.first(b), blocks.first(b)};
        for (int d = 0; d < Dim; ++d) part.upper[d] += BlockGrid<Dim>::side(d);
        const Difference found = difference(field, decoded, intersection(part, box));
        EXPECT_LE(found.max_difference, (0.5 * quantum + 2e-7) * found.max + 1e-30 * all.max + unit)
            << named.name << " " << bits << " bits";
      }
    }
  }
}
MEMORY_TEST(CodecOf, BlocksHaveAFixedRateAndScale2D) { rate_is_fixed<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, BlocksHaveAFixedRateAndScale3D) { rate_is_fixed<T, 3, Memory>(exec); }

/// Functor that adds its values, and counts its calls.
template <class T, int Dim>
struct AddTo {
  T* sum;
  int* calls;
  wave::Layout<Dim> layout;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node, T value) const {
    sum[layout.flat(node)] += value;
    ++calls[layout.flat(node)];
  }
};

template <class T, int Dim, class Memory>
void functor_gets_nodes(const Instance<Memory>& exec) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Box<Dim> box = Shape<Dim>::box;
  Box<Dim> part = box;  // beyond the box above, with blocks outside the part
  part.lower[0] += 17;
  part.upper[Dim - 1] = grid.extents[Dim - 1];
  part.lower[Dim - 1] += 11;
  const CodecField<T, Dim, Memory> field(exec, grid, fronts<Dim>);
  CodecField<T, Dim, Memory> decoded(exec, grid, [](const Index<Dim>&) { return 0.0; });
  for (const char* const text : {"snr:55", "max:1e-3", "bits:12", "paper:1e-3"}) {
    Codec<T, Dim, Memory> codec(parse_codec(text));
    Packed<Dim, Memory> packed;
    codec.encode(exec, field.layout, field.storage, box, packed);
    codec.decode(exec, packed, decoded.layout, decoded.storage, box);
    decoded.get();
    const auto sum = wave::make_storage<T>(exec, field.layout, "sum");
    const auto calls = wave::make_storage<int>(exec, field.layout, "calls");
    codec.decode_each(exec, packed, part, AddTo<T, Dim>{sum.data(), calls.data(), field.layout});
    exec.fence();
    const std::vector<T> sums = download(exec, sum);
    const std::vector<int> counts = download(exec, calls);
    std::int64_t called = 0;
    for (const int n : counts) called += n;
    const Box<Dim> wanted = intersection(part, box);
    EXPECT_EQ(called, wanted.size()) << text;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < wanted.size(); ++i) {
      const auto e = static_cast<std::size_t>(field.layout.flat(wanted.node(i)));
      wrong += counts[e] != 1;
      // Equal blocks and arithmetic in another translation unit may round the sums of a transform
      // differently.
      const double off = std::fabs(static_cast<double>(sums[e] - decoded.values[e]));
      wrong += !(off <= (codec.options().mode == CodecMode::transform ? 1e-5 : 0.0));
    }
    EXPECT_EQ(wrong, 0) << text;
  }
}
MEMORY_TEST(CodecOf, FunctorsGetEachNodeOnce2D) { functor_gets_nodes<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, FunctorsGetEachNodeOnce3D) { functor_gets_nodes<T, 3, Memory>(exec); }

template <class T, int Dim, class Memory>
void bytes_are_the_same(const Instance<Memory>& exec) {
  using Host = Kokkos::HostSpace;
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Box<Dim> box = Shape<Dim>::box;
  const Instance<Host> serial{Kokkos::Serial()};
  const CodecField<T, Dim, Memory> field(exec, grid, fronts<Dim>);
  const CodecField<T, Dim, Host> same(serial, grid, fronts<Dim>);
  for (const char* const text :
       {"snr:55", "max:1e-3", "bits:8", "bits:12", "bits:16", "paper:1e-3"}) {
    Codec<T, Dim, Memory> codec(parse_codec(text));
    Codec<T, Dim, Host> other(parse_codec(text));
    Packed<Dim, Memory> packed;
    Packed<Dim, Host> expected;
    codec.encode(exec, field.layout, field.storage, box, packed);
    other.encode(serial, same.layout, same.storage, box, expected);
    if (codec.options().mode != CodecMode::transform) {
      EXPECT_TRUE(bytes_of(exec, packed) == bytes_of(serial, expected)) << text;
    }
    // each space decodes the bytes of the other
    CodecField<T, Dim, Memory> here(exec, grid, [](const Index<Dim>&) { return 0.0; });
    CodecField<T, Dim, Host> there(serial, grid, [](const Index<Dim>&) { return 0.0; });
    codec.decode(exec, snapshot::copy_packed<Memory>(exec, expected), here.layout, here.storage,
                 box);
    other.decode(serial, snapshot::copy_packed<Host>(exec, packed), there.layout, there.storage,
                 box);
    here.get();
    there.get();
    double max_difference = 0.0;
    for (std::size_t i = 0; i < here.values.size(); ++i) {
      max_difference = std::max(max_difference,
                                std::fabs(static_cast<double>(here.values[i] - there.values[i])));
    }
    if (codec.options().mode == CodecMode::transform) {
      // two roundings of the same numbers, which may differ in direction
      EXPECT_LE(max_difference, 1e-2);
    } else {
      EXPECT_EQ(max_difference, 0.0) << text;
    }
    EXPECT_GT(difference(same, there, box).snr, 40.0) << text;
  }
}
MEMORY_TEST(CodecOf, SpacesMakeTheSameBytes2D) { bytes_are_the_same<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, SpacesMakeTheSameBytes3D) { bytes_are_the_same<T, 3, Memory>(exec); }

// Earlier snapshots of a codec do not affect later ones: fields that grow and decrease by any
// factor, boxes that move.
template <class T, int Dim, class Memory>
void history_does_not_matter(const Instance<Memory>& exec) {
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  for (const char* const text : {"max:1e-3", "bits:8", "bits:12", "bits:16"}) {
    Codec<T, Dim, Memory> codec(parse_codec(text));
    Packed<Dim, Memory> packed;
    int turn = 0;
    for (const double scale :
         {1.0, 1.9, 3.3, 0.7, 0.0, 0.01, 1e-30, 1e-38, 5e-38, 1e30, 2e37, 1e-44, 1.0, 120.0, 0.6}) {
      const CodecField<T, Dim, Memory> field(
          exec, grid, [=](const Index<Dim>& node) { return scale * fronts<Dim>(node); });
      Box<Dim> box = Shape<Dim>::box;
      box.lower[0] += turn % 3;
      box.upper[Dim - 1] -= turn % 5;
      ++turn;
      codec.encode(exec, field.layout, field.storage, box, packed);
      Codec<T, Dim, Memory> fresh(parse_codec(text));
      Packed<Dim, Memory> expected;
      fresh.encode(exec, field.layout, field.storage, box, expected);
      EXPECT_TRUE(bytes_of(exec, packed) == bytes_of(exec, expected)) << text << " " << scale;
      EXPECT_EQ(packed.header.exponent, expected.header.exponent) << text << " " << scale;
      EXPECT_EQ(packed.header.max, expected.header.max) << text << " " << scale;
    }
  }
}
MEMORY_TEST(CodecOf, HistoryDoesNotMatter2D) { history_does_not_matter<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, HistoryDoesNotMatter3D) { history_does_not_matter<T, 3, Memory>(exec); }

/// Both decoders decode the bytes of either encoder in the mode transform.
///
/// The values agree up to rounding, and the errors are within the requested ones.
template <class T, int Dim, class Memory>
void decoders_agree(const Instance<Memory>& exec) {
  using Host = Kokkos::HostSpace;
  const Grid<Dim> grid = unit_grid<Dim>(Shape<Dim>::extents);
  const Instance<Host> serial{Kokkos::Serial()};
  Box<Dim> thin = Shape<Dim>::box, tiny;
  thin.lower[Dim - 1] = 7;
  thin.upper[Dim - 1] = 13;
  for (int d = 0; d < Dim; ++d) {
    tiny.lower[d] = 19 + d;
    tiny.upper[d] = 21 + d;
  }
  std::vector<NamedField<Dim>> fields = named_fields<Dim>();
  if constexpr (is_host_memory<Memory>) fields.resize(1);  // both decoders are the same
  // the largest coefficient is the mean's, at 2^24 quanta
  fields.push_back({"one block", [](const Index<Dim>& node) {
                      for (int d = 0; d < Dim; ++d) {
                        if (node[d] / BlockGrid<Dim>::side(d) != 1) return 0.0;
                      }
                      return 5.0;
                    }});
  CodecField<T, Dim, Memory> here(exec, grid, [](const Index<Dim>&) { return 0.0; });
  CodecField<T, Dim, Host> there(serial, grid, [](const Index<Dim>&) { return 0.0; });
  for (const NamedField<Dim>& named : fields) {
    const CodecField<T, Dim, Memory> field(exec, grid, named.value);
    const CodecField<T, Dim, Host> same(serial, grid, named.value);
    for (const double snr : {30.0, 100.0}) {
      for (const Box<Dim>& box : {Shape<Dim>::box, thin, tiny}) {
        CodecOptions options;
        options.snr = snr;
        Codec<T, Dim, Memory> codec(options);
        Codec<T, Dim, Host> other(options);
        Packed<Dim, Memory> from_here, from_there;
        Packed<Dim, Host> expected;
        codec.encode(exec, field.layout, field.storage, box, from_here);
        other.encode(serial, same.layout, same.storage, box, expected);
        from_there = snapshot::copy_packed<Memory>(exec, expected);
        Packed<Dim, Memory> again;
        codec.encode(exec, field.layout, field.storage, box, again);
        EXPECT_TRUE(bytes_of(exec, again) == bytes_of(exec, from_here)) << named.name;
        for (const Packed<Dim, Memory>* const packed : {&from_here, &from_there}) {
          codec.decode(exec, *packed, here.layout, here.storage, box);
          other.decode(serial, snapshot::copy_packed<Host>(exec, *packed), there.layout,
                       there.storage, box);
          here.get();
          there.get();
          const std::string what = concat(named.name, ", ", snr, " dB, box ", box_string(box));
          const Difference found = difference(same, there, box);
          EXPECT_GE(found.snr, snr - 1.0) << what;
          double max_difference = 0.0;
          for (std::int64_t i = 0; i < box.size(); ++i) {
            const Index<Dim> node = box.node(i);
            max_difference =
                std::max(max_difference, std::fabs(static_cast<double>(here.at(node)) -
                                                   static_cast<double>(there.at(node))));
          }
          // denormal numbers are rounded to multiples of 2^-149
          EXPECT_LE(max_difference, 3e-6 * found.max + std::ldexp(1.0, -149)) << what;
        }
      }
    }
  }
}
MEMORY_TEST(CodecOf, DecodersOfTheTransformAgree2D) { decoders_agree<T, 2, Memory>(exec); }
MEMORY_TEST(CodecOf, DecodersOfTheTransformAgree3D) { decoders_agree<T, 3, Memory>(exec); }

// The mode lorenzo estimates the largest amplitude of large boxes from sample rows. The bound holds
// and bytes are the same in every space, also if the estimate is far off or zero.
MEMORY_TEST(CodecOf, LargeBoxesHaveTheSameBound) {
  using Host = Kokkos::HostSpace;
  const Grid<3> grid = unit_grid<3>({68, 67, 71});
  const Box<3> box{{1, 2, 1}, {67, 66, 70}};
  static_assert(66 * 64 * 69 >= snapshot::detail::SampleRows::min_nodes);
  const Instance<Host> serial{Kokkos::Serial()};
  const Index<3> sampled{20, 4, 33}, other{21, 4, 33};
  CodecField<T, 3, Memory> field(exec, grid, fronts<3>);
  CodecField<T, 3, Host> same(serial, grid, fronts<3>);
  CodecField<T, 3, Memory> decoded(exec, grid, [](const Index<3>&) { return 0.0; });
  Packed<3, Memory> packed;
  Packed<3, Host> expected;
  Codec<T, 3, Memory> codec(parse_codec("max:1e-3"));
  Codec<T, 3, Host> on_host(parse_codec("max:1e-3"));
  for (const double scale : {1.0, 3e-38, 5e37}) {
    for (const auto& [node, value] : {std::pair(sampled, 1.5), std::pair(other, 1.7),
                                      std::pair(other, 5.0), std::pair(other, 1e-3)}) {
      SCOPED_TRACE(concat(scale, " ", format_index(node), " ", value));
      for (std::int64_t i = 0; i < grid.size(); ++i) {
        const Index<3> at = grid.node(i);
        field.at(at) = static_cast<T>(scale * fronts<3>(at));
      }
      field.at(node) = static_cast<T>(scale * value);
      field.put();
      std::copy(field.values.begin(), field.values.end(), same.values.begin());
      same.put();
      codec.encode(exec, field.layout, field.storage, box, packed);
      on_host.encode(serial, same.layout, same.storage, box, expected);
      EXPECT_TRUE(bytes_of(exec, packed) == bytes_of(serial, expected));
      EXPECT_EQ(packed.header.quantum, expected.header.quantum);
      EXPECT_EQ(packed.header.max, expected.header.max);
      codec.decode(exec, packed, decoded.layout, decoded.storage, box);
      decoded.get();
      const Difference found = difference(field, decoded, box);
      EXPECT_EQ(packed.header.max, found.max);
      EXPECT_LE(found.max_difference, 1e-3 * found.max);
      EXPECT_GT(found.max_difference, 0.6e-3 * found.max);  // the quantum is not much smaller
    }
  }
  // all sample rows are zero
  for (std::int64_t i = 0; i < grid.size(); ++i) field.at(grid.node(i)) = T(0);
  field.at(other) = T(-2);
  field.put();
  codec.encode(exec, field.layout, field.storage, box, packed);
  EXPECT_EQ(packed.header.max, 2.0);
  // a value that is not a number, in a sample row and in another row
  for (const Index<3>& node : {sampled, other}) {
    field.at(node) = std::numeric_limits<T>::quiet_NaN();
    field.put();
    const std::string message = message_of<InputError>(
        [&] { codec.encode(exec, field.layout, field.storage, box, packed); });
    EXPECT_THAT(message, HasSubstr(concat("at node ", format_index(node))));
    field.at(node) = T(1);
  }
}

MEMORY_TEST(CodecOf, NumbersThatAreNoneAreRefused) {
  const Grid<3> grid = unit_grid<3>(Shape<3>::extents);
  const Box<3> box = Shape<3>::box;
  CodecField<T, 3, Memory> field(exec, grid, fronts<3>);
  for (const char* const text : {"snr:55", "max:1e-3", "bits:12", "paper:1e-3"}) {
    Codec<T, 3, Memory> codec(parse_codec(text));
    Packed<3, Memory> packed;
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::max()}) {
      const T before = field.at({17, 9, 23});
      field.at({17, 9, 23}) = bad;
      field.put();
      const std::string message = message_of<InputError>(
          [&] { codec.encode(exec, field.layout, field.storage, box, packed); });
      EXPECT_THAT(message, HasSubstr("at node (17, 9, 23) (allowed: magnitudes up to 3e+38)"));
      field.at({17, 9, 23}) = before;
      field.put();  // the second invalid snapshot follows a valid one
      codec.encode(exec, field.layout, field.storage, box, packed);
    }
    // outside the box they have no effect
    field.at({0, 9, 23}) = std::numeric_limits<T>::quiet_NaN();
    field.at({17, 9, 42}) = std::numeric_limits<T>::infinity();
    field.put();
    codec.encode(exec, field.layout, field.storage, box, packed);
    CodecField<T, 3, Memory> decoded(exec, grid, [](const Index<3>&) { return 0.0; });
    codec.decode(exec, packed, decoded.layout, decoded.storage, box);
    decoded.get();
    EXPECT_GT(difference(field, decoded, box).snr, 40.0) << text;
  }
}

MEMORY_TEST(CodecOf, LargeFieldsStayFinite) {
  const Grid<3> grid = unit_grid<3>({20, 17, 24});
  const auto signs = [](const Index<3>& n) {
    return (n[0] * 7 + n[1] * 5 + n[2] * n[2]) % 3 == 0 ? -2.9e38 : 2.9e38;
  };
  const CodecField<T, 3, Memory> field(exec, grid, signs);
  for (const char* const text :
       {"snr:10", "max:0.1", "bits:8", "bits:12", "bits:16", "paper:0.1"}) {
    Codec<T, 3, Memory> codec(parse_codec(text));
    Packed<3, Memory> packed;
    codec.encode(exec, field.layout, field.storage, whole_box(grid), packed);
    CodecField<T, 3, Memory> decoded(exec, grid, [](const Index<3>&) { return 0.0; });
    codec.decode(exec, packed, decoded.layout, decoded.storage, whole_box(grid));
    decoded.get();
    for (std::int64_t i = 0; i < grid.size(); ++i) {
      ASSERT_TRUE(std::isfinite(decoded.at(grid.node(i)))) << text << " at node " << i;
    }
    EXPECT_GT(difference(field, decoded, whole_box(grid)).snr, 9.0) << text;
  }
}

MEMORY_TEST(CodecOf, WrongShapesAreRefused) {
  const Grid<2> grid = unit_grid<2>({20, 40});
  const CodecField<T, 2, Memory> field(exec, grid, fronts<2>);
  Codec<T, 2, Memory> codec;
  Packed<2, Memory> packed;
  EXPECT_THAT(
      message_of<InputError>([&] {
        codec.encode(exec, field.layout, field.storage, Box<2>{{0, 0}, {20, 41}}, packed);
      }),
      HasSubstr("the box [0, 20) x [0, 41) is not in the field (allowed: boxes in [0, 20) x "
                "[0, 40))"));
  EXPECT_THAT(message_of<InputError>([&] {
                codec.encode(exec, field.layout, wave::Storage<T, Memory>("small", 7),
                             Box<2>{{0, 0}, {20, 40}}, packed);
              }),
              HasSubstr("the field has 7 elements"));
  codec.encode(exec, field.layout, field.storage, Box<2>{{0, 0}, {20, 40}}, packed);
  const auto small = wave::make_layout<T>(unit_grid<2>({20, 30}), 4);
  EXPECT_THAT(message_of<InputError>([&] {
                codec.decode(exec, packed, small, wave::make_storage<T>(exec, small, "small"),
                             Box<2>{{0, 0}, {20, 40}});
              }),
              HasSubstr("is not in the field"));
}

// One codec and one snapshot serve boxes that grow, shrink, and are empty.
MEMORY_TEST(CodecOf, MemoryIsUsedAgain) {
  const Grid<3> grid = unit_grid<3>(Shape<3>::extents);
  const CodecField<T, 3, Memory> field(exec, grid, fronts<3>);
  CodecField<T, 3, Memory> decoded(exec, grid, [](const Index<3>&) { return 0.0; });
  for (const char* const text : {"snr:40", "max:1e-3", "bits:8", "paper:1e-3"}) {
    Codec<T, 3, Memory> codec(parse_codec(text));
    Packed<3, Memory> packed;
    for (const Box<3>& box :
         {Box<3>{{10, 10, 10}, {20, 20, 20}}, whole_box(grid), Box<3>{{30, 3, 3}, {31, 4, 4}},
          Box<3>{{5, 5, 5}, {5, 5, 5}}, Box<3>{{0, 0, 0}, {9, 30, 9}}}) {
      codec.encode(exec, field.layout, field.storage, box, packed);
      codec.decode(exec, packed, decoded.layout, decoded.storage, box);
      decoded.get();
      if (box.empty()) continue;
      EXPECT_GE(difference(field, decoded, box).snr, 25.0) << text << " " << box_string(box);
    }
  }
}

}  // namespace
