// SPDX-License-Identifier: BSD-3-Clause
// ctest: threads 2
//
// Parts of the snapshot codec against their definitions: Huffman codes, bit streams, the cosine
// transform, Lorenzo differences, the checksum, containers.

#include "codec_fields.hpp"

#include <moho/io/checksum.hpp>
#include <moho/snapshot/codec/container.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace moho;
using namespace moho::snapshot;
using moho::testing::bytes_of;
using moho::testing::CodecField;
using moho::testing::fronts;
using moho::testing::unit_grid;
using ::testing::HasSubstr;

std::vector<std::uint64_t> counts_of(const std::string& kind, std::mt19937& random) {
  std::vector<std::uint64_t> counts(snapshot::detail::symbols, 0);
  if (kind == "even") {
    std::fill(counts.begin(), counts.end(), 3);
  } else if (kind == "one") {
    counts[200] = 5;
  } else if (kind == "two") {
    counts[0] = 1;
    counts[255] = 1000000;
  } else if (kind == "steep") {  // an unlimited code would have 39 bits
    std::uint64_t a = 1, b = 1;
    for (std::size_t s = 0; s < 40; ++s) {
      counts[s] = a;
      const std::uint64_t next = a + b;
      a = b;
      b = next;
    }
  } else {
    for (auto& n : counts) n = random() % 3 == 0 ? 0 : random() % 10000 + 1;
  }
  return counts;
}

TEST(Huffman, CodesAreShortAndCanBeTold) {
  std::mt19937 random(1);
  for (const char* const kind : {"even", "one", "two", "steep", "random"}) {
    const std::vector<std::uint64_t> counts = counts_of(kind, random);
    const std::vector<std::uint8_t> lengths = snapshot::detail::code_lengths(counts);
    ASSERT_TRUE(snapshot::detail::valid_lengths(lengths)) << kind;
    double bits = 0.0, total = 0.0, entropy = 0.0;
    for (const std::uint64_t n : counts) total += static_cast<double>(n);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      EXPECT_EQ(lengths[s] > 0, counts[s] > 0) << kind;
      const auto n = static_cast<double>(counts[s]);
      bits += n * lengths[s];
      if (n > 0) entropy += n * std::log2(total / n);
    }
    // Huffman codes exceed the entropy by less than one bit; the limit costs little
    EXPECT_LT(bits, entropy + 1.02 * total) << kind;
    if (std::string(kind) == "even") {
      EXPECT_DOUBLE_EQ(bits, 8.0 * total);
    }
    if (std::string(kind) == "two") {
      EXPECT_DOUBLE_EQ(bits, total);
    }
    if (std::string(kind) == "random") {
      EXPECT_LT(bits, entropy + 0.05 * total);
    }

    // no code is a prefix of another
    const std::vector<std::uint32_t> codes = snapshot::detail::encoding_table(lengths);
    for (std::size_t a = 0; a < codes.size(); ++a) {
      for (std::size_t b = 0; b < codes.size(); ++b) {
        const std::uint32_t la = codes[a] >> 16, lb = codes[b] >> 16;
        if (a == b || la == 0 || lb == 0 || la > lb) continue;
        const std::uint32_t mask = (1u << la) - 1;
        EXPECT_NE(codes[a] & mask, codes[b] & mask);
      }
    }
    // stored lengths are recovered; too few or too many bytes are invalid
    std::vector<std::uint8_t> packed = snapshot::detail::pack_lengths(lengths);
    EXPECT_EQ(snapshot::detail::unpack_lengths(packed, 1), lengths);
    packed.push_back(0);
    EXPECT_TRUE(snapshot::detail::unpack_lengths(packed, 1).empty());
    packed.resize(packed.size() - 2);
    EXPECT_TRUE(snapshot::detail::unpack_lengths(packed, 1).empty());
  }
}

TEST(Huffman, StreamsAreReadAsTheyWereWritten) {
  std::mt19937 random(2);
  std::vector<std::uint64_t> counts = counts_of("random", random);
  const std::vector<std::uint64_t> more = counts_of("steep", random);
  counts.insert(counts.end(), more.begin(), more.end());
  const std::vector<std::uint8_t> lengths = snapshot::detail::code_lengths(counts);
  const std::vector<std::uint32_t> codes = snapshot::detail::encoding_table(lengths);
  const std::vector<std::uint16_t> states = snapshot::detail::decoding_table(lengths);
  struct Item {
    std::size_t alphabet, symbol;
    std::uint32_t rest;
    int size;
  };
  std::vector<Item> items;
  std::vector<std::uint8_t> bytes(40000, 0);
  snapshot::detail::BitWriter writer{bytes.data()};
  while (items.size() < 3000) {
    Item item{random() % 2, random() % snapshot::detail::symbols, 0,
              static_cast<int>(random() % 28)};
    const std::uint32_t code = codes[item.alphabet * snapshot::detail::symbols + item.symbol];
    if (code == 0) continue;
    item.rest = static_cast<std::uint32_t>(random()) & ((1u << item.size) - 1);
    writer.put(code & 0xffffu, static_cast<int>(code >> 16));
    writer.put(item.rest, item.size);
    items.push_back(item);
  }
  const auto end = static_cast<std::size_t>(writer.finish() - bytes.data());
  ASSERT_LT(end + 8, bytes.size());
  snapshot::detail::BitReader reader{bytes.data(), bytes.data() + end};
  for (const Item& item : items) {
    reader.refill();
    const std::uint32_t state = states[item.alphabet * snapshot::detail::code_states +
                                       (reader.held & (snapshot::detail::code_states - 1))];
    reader.take(static_cast<int>(state >> 8));
    ASSERT_EQ(state & 255u, item.symbol);
    ASSERT_EQ(reader.take(item.size), item.rest);
  }
}

TEST(Huffman, SignedNumbersAreFolded) {
  for (const int n : {0, 1, -1, 2, -2, 1000000, -1000000}) {
    EXPECT_EQ(snapshot::detail::unfolded(snapshot::detail::folded(n)), n);
  }
  EXPECT_EQ(snapshot::detail::folded(0), 0u);
  EXPECT_EQ(snapshot::detail::folded(-1), 1u);
  EXPECT_EQ(snapshot::detail::folded(1), 2u);
}

template <int Dim>
void transform_is_the_cosine_transform() {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  float values[512], work[512], first[512];
  for (int e = 0; e < 512; ++e) first[e] = values[e] = uniform(random);
  snapshot::detail::transform_block<Dim>(values, work);
  const double pi = std::acos(-1.0);
  const auto basis = [&](int k, int n) {
    return (k == 0 ? std::sqrt(0.125) : 0.5) * std::cos((2 * n + 1) * k * pi / 16.0);
  };
  for (int e = 0; e < 512; e += 7) {
    double sum = 0.0;
    for (int f = 0; f < 512; ++f) {
      if constexpr (Dim == 3) {
        sum += basis(e / 64, f / 64) * basis(e / 8 % 8, f / 8 % 8) * basis(e % 8, f % 8) *
               static_cast<double>(first[f]);
      } else if (f / 256 == e / 256 && f % 32 / 8 == e % 32 / 8) {
        sum += basis(e / 32 % 8, f / 32 % 8) * basis(e % 8, f % 8) * static_cast<double>(first[f]);
      }
    }
    EXPECT_NEAR(static_cast<double>(values[e]), sum, 2e-6);
  }
  snapshot::detail::transform_block_back<Dim>(values, work);
  for (int e = 0; e < 512; ++e) EXPECT_NEAR(values[e], first[e], 2e-6f);
}
TEST(Transform, IsTheCosineTransformAndItsInverse) {
  transform_is_the_cosine_transform<2>();
  transform_is_the_cosine_transform<3>();
}

TEST(Transform, OrderIsByWavenumber) {
  const auto order = snapshot::detail::coefficient_order<3>();
  const std::set<int> all(order.begin(), order.end());
  EXPECT_EQ(all.size(), 512u);
  int before = 0;
  for (const int e : order) {
    const int i = e / 64, j = e / 8 % 8, k = e % 8;
    EXPECT_GE(i * i + j * j + k * k, before);
    before = i * i + j * j + k * k;
  }
  const auto flat = snapshot::detail::coefficient_order<2>();
  EXPECT_EQ(std::set<int>(flat.begin(), flat.end()).size(), 512u);
  const auto tables = snapshot::detail::TransformTables::make<3>();
  for (int run = 0; run < 512; ++run) {
    const int c = tables.run_class[run];
    EXPECT_GE(run, tables.run_base[c]);
    EXPECT_LT(run - tables.run_base[c], 1 << tables.run_bits[c]);
  }
}

// Numbers without a code of their run and size: the largest ones, at every position.
TEST(Transform, RareNumbersAreEscaped) {
  const auto tables = snapshot::detail::TransformTables::make<3>();
  std::vector<std::uint64_t> counts(8 * snapshot::detail::symbols, 0);
  for (std::size_t a = 0; a < 8; ++a) {
    for (const std::size_t s : snapshot::detail::TransformCoder<3>::always()) {
      counts[a * snapshot::detail::symbols + s] = 1;
    }
  }
  const auto lengths = snapshot::detail::code_lengths(counts);
  const auto codes = snapshot::detail::encoding_table(lengths);
  const auto states = snapshot::detail::decoding_table(lengths);
  const float quantum = std::ldexp(1.0f, -20);
  const snapshot::detail::TransformCoder<3> coder{&tables, codes.data(), states.data(), quantum,
                                                  1.0f / quantum};
  std::mt19937 random(4);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  float values[512], first[512];
  for (int e = 0; e < 512; ++e) first[e] = values[e] = uniform(random);
  std::vector<std::uint8_t> bytes(snapshot::detail::TransformCoder<3>::max_bytes + 16, 0);
  const int size = coder.encode(values, bytes.data());
  ASSERT_GT(size, 1024);
  ASSERT_LE(size, snapshot::detail::TransformCoder<3>::max_bytes);
  coder.decode(bytes.data(), bytes.data() + size, values);
  for (int e = 0; e < 512; ++e) EXPECT_NEAR(values[e], first[e], 2e-5f);
}

TEST(Lorenzo, LinearFieldsHaveNoDifferences) {
  // of a + b x + c y + d z all values except the corner and the edges are predicted
  const auto tables = snapshot::detail::LorenzoTables::make<3>();
  const snapshot::detail::LorenzoCoder<3> coder{&tables, 1.0f, 1.0f};
  float values[512], decoded[512];
  for (int e = 0; e < 512; ++e) {
    values[e] = static_cast<float>(1000 + 3 * (e / 64) - 2 * (e / 8 % 8) + (e % 8));
  }
  alignas(4) std::uint8_t bytes[snapshot::detail::LorenzoCoder<3>::max_bytes];
  // the corner, 16 lengths of 4 bits, one group with the edges: 3 is 6 folded, 3 bits
  EXPECT_EQ(coder.encode(values, bytes), 4 * (1 + 2 + 3));
  coder.decode(bytes, bytes + 24, decoded);
  for (int e = 0; e < 512; ++e) EXPECT_EQ(decoded[e], values[e]);
  // the largest numbers
  for (int e = 0; e < 512; ++e) values[e] = e % 3 == 0 ? 51000.0f : -51000.0f;
  const int size = coder.encode(values, bytes);
  ASSERT_LE(size, snapshot::detail::LorenzoCoder<3>::max_bytes);
  coder.decode(bytes, bytes + size, decoded);
  for (int e = 0; e < 512; ++e) EXPECT_EQ(decoded[e], values[e]);
}

TEST(Checksum, IsCastagnolis) {
  EXPECT_EQ(io::crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(io::crc32c("", 0), 0u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(io::crc32c(zeros.data(), 32), 0x8a9136aau);
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    EXPECT_EQ(io::crc32c(text.data() + n, text.size() - n, io::crc32c(text.data(), n)),
              io::crc32c(text.data(), text.size()));
  }
}

/// Snapshot of each mode, as a container.
struct Made {
  Packed<3, Kokkos::HostSpace> packed;
  SnapshotLabel<3> label;
  std::vector<std::uint8_t> bytes;
};
Made make_container(const std::string& codec) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> exec{Kokkos::DefaultHostExecutionSpace()};
  Made made;
  made.label.grid = unit_grid<3>({37, 30, 45});
  made.label.grid.origin = {100.0, -50.0, 3.5};
  made.label.grid.spacing = {10.0, 12.5, 5.0};
  made.label.step = 1234567890123;
  made.label.time = 0.617;
  const CodecField<float, 3, Host> field(exec, made.label.grid, fronts<3>);
  Codec<float, 3, Host>(parse_codec(codec))
      .encode(exec, field.layout, field.storage, Box<3>{{1, 3, 5}, {36, 30, 42}}, made.packed);
  made.bytes = to_container<3>(made.packed, made.label);
  return made;
}

template <class Function>
std::string file_error(const Function& function) {
  try {
    function();
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST(Container, SaysWhatWasPutIn) {
  const Instance<Kokkos::HostSpace> exec{Kokkos::DefaultHostExecutionSpace()};
  for (const char* const codec : {"snr:55", "max:1e-3", "bits:12", "paper:1e-3"}) {
    const Made made = make_container(codec);
    SnapshotLabel<3> label;
    const auto packed = from_container<3>(made.bytes.data(), made.bytes.size(), "made", label);
    EXPECT_EQ(label.step, made.label.step);
    EXPECT_EQ(label.time, made.label.time);
    for (int d = 0; d < 3; ++d) {
      EXPECT_EQ(label.grid.extents[d], made.label.grid.extents[d]);
      EXPECT_EQ(label.grid.spacing[d], made.label.grid.spacing[d]);
      EXPECT_EQ(label.grid.origin[d], made.label.grid.origin[d]);
    }
    EXPECT_TRUE(packed.header.box == made.packed.header.box);
    EXPECT_EQ(packed.header.mode, made.packed.header.mode);
    EXPECT_EQ(packed.header.code_lengths, made.packed.header.code_lengths);
    EXPECT_TRUE(bytes_of(exec, packed) == bytes_of(exec, made.packed)) << codec;
    // and it decodes to the same field
    CodecField<float, 3, Kokkos::HostSpace> a(exec, made.label.grid,
                                              [](const Index<3>&) { return 0.0; });
    CodecField<float, 3, Kokkos::HostSpace> b = a;
    b.storage = wave::make_storage<float>(exec, b.layout, "b");
    Codec<float, 3, Kokkos::HostSpace> decoder;
    decoder.decode(exec, packed, a.layout, a.storage, packed.header.box);
    decoder.decode(exec, made.packed, b.layout, b.storage, packed.header.box);
    a.get();
    b.get();
    EXPECT_TRUE(a.values == b.values);
    // bytes() counts the written bytes, except for the fixed parts
    EXPECT_NEAR(static_cast<double>(made.bytes.size()), static_cast<double>(packed.bytes()), 256.0);
  }
}

TEST(Container, DamagedBytesAreNeverDecoded) {
  std::mt19937 random(5);
  for (const char* const codec : {"snr:55", "max:1e-3", "bits:8", "paper:1e-2"}) {
    Made made = make_container(codec);
    SnapshotLabel<3> label;
    const auto read = [&](const std::vector<std::uint8_t>& bytes) {
      return file_error([&] { from_container<3>(bytes.data(), bytes.size(), "shot 7", label); });
    };
    ASSERT_EQ(read(made.bytes), "");
    for (int n = 0; n < 1000; ++n) {
      // every byte of the header, then random ones
      const std::size_t at = n < 260 ? static_cast<std::size_t>(n) : random() % made.bytes.size();
      const auto flip = static_cast<std::uint8_t>(1u << random() % 8);
      made.bytes[at] ^= flip;
      EXPECT_NE(read(made.bytes), "") << codec << ", byte " << at;
      made.bytes[at] ^= flip;
    }
    for (int n = 0; n < 1000; ++n) {
      const std::size_t size = n < 260 ? static_cast<std::size_t>(n) : random() % made.bytes.size();
      const std::vector<std::uint8_t> part(made.bytes.begin(),
                                           made.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(read(part), "") << codec << ", cut at byte " << size;
    }
    std::vector<std::uint8_t> longer = made.bytes;
    longer.push_back(0);
    EXPECT_THAT(read(longer), HasSubstr(concat("it has ", longer.size(),
                                               " bytes and says that it had ", made.bytes.size())));
    EXPECT_EQ(read(made.bytes), "");
  }
}

TEST(Container, SaysWhyItIsRefused) {
  Made made = make_container("snr:55");
  const auto change = [&](std::size_t at, std::uint8_t value) {
    // with a valid checksum
    std::vector<std::uint8_t> bytes = made.bytes;
    bytes[at] = value;
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data() + 24, 8);
    const std::uint32_t crc = io::crc32c(bytes.data(), header - 4);
    std::memcpy(bytes.data() + header - 4, &crc, 4);
    SnapshotLabel<3> label;
    return file_error([&] { from_container<3>(bytes.data(), bytes.size(), "shot 7", label); });
  };
  EXPECT_EQ(change(0, 'M'), "");
  EXPECT_THAT(change(0, 'X'), HasSubstr("'shot 7' is no whole snapshot (it does not begin as"));
  EXPECT_THAT(change(12, 9), HasSubstr("is a snapshot of version 9 (allowed: 1)"));
  EXPECT_THAT(change(32, 2), HasSubstr("is a snapshot of 2 dimensions (allowed: 3)"));
  EXPECT_THAT(change(36, 7), HasSubstr("unknown mode"));
  EXPECT_THAT(change(6 * 8 + 24 + 7, 0x7f), HasSubstr("grid"));  // nodes along x
  std::vector<std::uint8_t> swapped = made.bytes;
  std::reverse(swapped.begin() + 8, swapped.begin() + 12);
  SnapshotLabel<3> label;
  EXPECT_THAT(
      file_error([&] { from_container<3>(swapped.data(), swapped.size(), "shot 7", label); }),
      HasSubstr("machine of the other byte order"));
  made.label.grid.extents = {36, 30, 41};
  std::string message;
  try {
    to_container<3>(made.packed, made.label);
  } catch (const InputError& error) {
    message = error.what();
  }
  EXPECT_THAT(message, HasSubstr("its box [1, 36) x [3, 30) x [5, 42) is not in the grid"));
}

}  // namespace
