// SPDX-License-Identifier: BSD-3-Clause
//
// Checksums and files of partial sums: a file is read exactly as written, or is an error.

#include "files.hpp"

#include <moho/io/checksum.hpp>
#include <moho/io/exact_sum.hpp>

#include <random>

namespace moho::io {
namespace {

using namespace test;

TEST(Checksum, IsThatOfOthers) {
  // RFC 3720, B.4, and the usual check value
  EXPECT_EQ(checksum("123456789"), 0xe3069283U);
  EXPECT_EQ(checksum(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(checksum(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending(32, '\0');
  for (int n = 0; n < 32; ++n) ascending[static_cast<std::size_t>(n)] = static_cast<char>(n);
  EXPECT_EQ(checksum(ascending), 0x46dd794eU);
  EXPECT_EQ(checksum(""), 0U);
  EXPECT_EQ(checksum_text(0x00ab12f0U), "00ab12f0");
}

TEST(Checksum, OfPiecesAndOfFilesIsThatOfTheWhole) {
  std::mt19937 random(1);
  std::string bytes(3000000, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  Checksum sum;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t piece = std::min<std::size_t>(random() % 200000, bytes.size() - at);
    sum.add(bytes.data() + at, piece);
    at += piece;
  }
  EXPECT_EQ(sum.value(), checksum(bytes));
  // sequentially, while long inputs are divided into three concurrent sums
  Checksum in_turn;
  for (std::size_t at = 0; at < bytes.size(); at += 100) in_turn.add(bytes.data() + at, 100);
  EXPECT_EQ(in_turn.value(), checksum(bytes));
  const Folder folder;
  put_file(folder / "a.bin", bytes);
  EXPECT_EQ(identify_file(folder / "a.bin"), (FileIdentity{bytes.size(), checksum(bytes)}));
  put_file(folder / "empty", "");
  EXPECT_EQ(identify_file(folder / "empty"), (FileIdentity{0, 0}));
  EXPECT_THROW(identify_file(folder / "missing"), FileError);
}

ExactSumState example() {
  ExactSumState sum{-7, 12, std::int64_t(1) << 60, {}};
  std::mt19937_64 random(2);
  for (int n = 0; n < 500; ++n) {
    sum.values.push_back(static_cast<std::int64_t>(random()) / 16);
  }
  return sum;
}

TEST(ExactSumFiles, GiveBackWhatWasWritten) {
  const Folder folder;
  const ExactSumState sum = example();
  write_sum(folder / "a.sum", sum);
  const ExactSumState found = read_sum(folder / "a.sum");
  EXPECT_EQ(found.exponent, sum.exponent);
  EXPECT_EQ(found.terms, sum.terms);
  EXPECT_EQ(found.bound, sum.bound);
  EXPECT_EQ(found.values, sum.values);
  EXPECT_EQ(get_file(folder / "a.sum").size(), 64u + 500 * 8 + 4);
  EXPECT_THROW(write_sum(folder / "no/a.sum", sum), FileError);
}

TEST(ExactSumFiles, MergeToTheSameBits) {
  const Folder folder;
  const Kokkos::DefaultHostExecutionSpace space;
  const Instance<Kokkos::HostSpace> exec(space);
  ExactSum<Kokkos::HostSpace> all(exec, 50, 30), merged(exec, 50, 30);
  std::mt19937 random(3);
  for (int job = 0; job < 4; ++job) {
    ExactSum<Kokkos::HostSpace> part(exec, 50, 30);
    for (int shot = 0; shot < 3; ++shot) {
      std::vector<float> image(50);
      for (float& value : image) value = static_cast<float>(random()) * 1e-9F - 2.0F;
      const auto view = upload(exec, image, "image");
      all.add(exec, view);
      part.add(exec, view);
    }
    write_sum(folder / concat(job, ".sum"), part.state(exec));
  }
  for (const int job : {2, 0, 3, 1}) merged.merge(exec, read_sum(folder / concat(job, ".sum")));
  EXPECT_EQ(merged.state(exec).values, all.state(exec).values);
  EXPECT_EQ(merged.bound(), all.bound());
  EXPECT_EQ(merged.terms(), 12);
}

TEST(ExactSumFiles, EveryDamageIsAnError) {
  const Folder folder;
  write_sum(folder / "good.sum", example());
  const std::string good = get_file(folder / "good.sum");
  std::mt19937 random(4);
  const auto message = [&](const std::string& bytes) {
    put_file(folder / "bad.sum", bytes);
    return message_of<FileError>([&] { read_sum(folder / "bad.sum"); });
  };
  for (int trial = 0; trial < 1000; ++trial) {
    std::string bytes = good;
    if (trial % 2 == 0) {
      // the header more often than in proportion to its length
      const std::size_t at = random() % (trial % 4 == 0 ? 64 : good.size());
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    } else {
      bytes.resize(random() % good.size());
    }
    ASSERT_THAT(message(bytes), HasSubstr("bad.sum' ")) << trial;
  }
  EXPECT_THAT(message(good + "x"), HasSubstr("has another length than its header says"));
  EXPECT_THAT(message(""), HasSubstr("is too short for a partial sum"));
  EXPECT_THAT(message(std::string(500, 'x')), HasSubstr("is no partial sum"));
}

}  // namespace
}  // namespace moho::io
