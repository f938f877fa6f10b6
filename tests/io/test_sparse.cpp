// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Files of sparse matrices: the text of Matrix Market, and the members of an archive.

#include "files.hpp"

#include <moho/io/sparse.hpp>

#include <cstring>

namespace moho::io {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Three rows of four columns: [0, 0.5, 0, 2], nothing, [-1, 0, 0, 0].
const std::vector<std::int64_t> offsets{0, 2, 2, 3};
const std::vector<int> columns{1, 3, 0};
const std::vector<double> numbers{0.5, 2.0, -1.0};
const SparseRows matrix{4, offsets, columns, numbers};

TEST(Sparse, MatrixMarketCountsFromOne) {
  const Folder folder;
  write_matrix_market(folder / "m.mtx", matrix, "rows of rays");
  EXPECT_EQ(get_file(folder / "m.mtx"),
            "%%MatrixMarket matrix coordinate real general\n% rows of rays\n3 4 3\n"
            "1 2 0.5\n1 4 2\n3 1 -1\n");
}

TEST(Sparse, ArchivesHaveTheArraysOfSciPy) {
  const Folder folder;
  write_sparse_npz(folder / "m.npz", matrix);
  const std::string bytes = get_file(folder / "m.npz");
  EXPECT_THAT(bytes, StartsWith("PK\x03\x04"));
  const auto holds = [&](const std::string& name, const std::string& type, const auto& values) {
    const auto at = bytes.find(name + ".npy\x93NUMPY");
    ASSERT_NE(at, std::string::npos) << name;
    const auto header = bytes.substr(at, bytes.find('\n', at) - at);
    EXPECT_THAT(header, HasSubstr("'descr': '" + type + "'")) << name;
    const auto size = values.size() * sizeof(values[0]);
    ASSERT_LE(at + header.size() + 1 + size, bytes.size()) << name;
    EXPECT_EQ(std::memcmp(bytes.data() + at + header.size() + 1, values.data(), size), 0) << name;
  };
  holds("indices", "<i4", columns);
  holds("indptr", "<i8", offsets);
  holds("data", "<f8", numbers);
  holds("shape", "<i8", std::vector<std::int64_t>{3, 4});
  holds("format", "|S3", std::string("csr"));
  // the end of the directory: five members, and the offset of the directory
  const std::string end = bytes.substr(bytes.size() - 22);
  EXPECT_THAT(end, StartsWith("PK\x05\x06"));
  EXPECT_EQ(end[10], 5);
  std::uint32_t directory = 0;
  std::memcpy(&directory, end.data() + 16, 4);
  EXPECT_EQ(bytes.substr(directory, 4), "PK\x01\x02");
}

TEST(Sparse, RefusesArraysThatAreNoRows) {
  const Folder folder;
  const auto refusal = [&](SparseRows rows) {
    const std::string text = message_of<InputError>([&] { write_sparse_npz(folder / "m", rows); });
    EXPECT_EQ(message_of<InputError>([&] { write_matrix_market(folder / "m", rows, "a"); }), text);
    return text;
  };
  const std::vector<double> few{0.5, 2.0};
  EXPECT_THAT(refusal({4, offsets, columns, few}),
              HasSubstr("has 2 values, 3 columns of entries and 4 offsets"));
  EXPECT_THAT(refusal({4, {}, {}, {}}), HasSubstr("0 offsets"));
  const std::vector<std::int64_t> falling{0, 4, 2, 3};
  EXPECT_THAT(refusal({4, falling, columns, numbers}), HasSubstr("offsets that ascend"));
  EXPECT_THAT(refusal({3, offsets, columns, numbers}), HasSubstr("in column 3 (allowed: 0 to 2)"));
  EXPECT_THAT(
      message_of<InputError>([&] { write_matrix_market(folder / "m", matrix, "two\nlines"); }),
      HasSubstr("about: "));
  EXPECT_FALSE(std::filesystem::exists(folder / "m"));
}

TEST(Sparse, RefusesArchivesAbove4GiB) {
  check_npz_size(1000, 350'000'000, "m.npz");
  try {
    check_npz_size(1000, 360'000'000, "m.npz", "trace fewer rays");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("m.npz would be larger than 4 GiB"));
    EXPECT_THAT(error.what(), HasSubstr("): trace fewer rays"));
  }
}

}  // namespace
}  // namespace moho::io
