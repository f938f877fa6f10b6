// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/field.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/numbered.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace moho::io {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;

/// Returns the content of a .npy file.
std::string npy(const std::string& dictionary, const std::string& data, int major = 1,
                int minor = 0) {
  std::string file("\x93NUMPY", 6);
  file += static_cast<char>(major);
  file += static_cast<char>(minor);
  const std::string header = dictionary + "\n";
  file += major == 1 ? bytes_of(static_cast<std::uint16_t>(header.size()), false)
                     : bytes_of(static_cast<std::uint32_t>(header.size()), false);
  return file + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

class Npy : public ::testing::Test {
 protected:
  template <class T = float>
  Array<T> read(const std::string& bytes) {
    put_file(folder / "a.npy", bytes);
    return read_npy<T>(folder / "a.npy");
  }

  template <class T = float>
  std::string refusal(const std::string& bytes) {
    put_file(folder / "a.npy", bytes);
    const std::string text = message_of<FileError>([&] { (void)read_npy<T>(folder / "a.npy"); });
    EXPECT_THAT(text, HasSubstr((folder / "a.npy").string()));
    return text;
  }

  Folder folder;
};

TEST_F(Npy, ReadsBothByteOrdersAndWidths) {
  const auto check = [&](const std::string& bytes) {
    const Array<float> single = read<float>(bytes);
    EXPECT_THAT(single.shape, ElementsAre(2, 3));
    EXPECT_THAT(single.data, ElementsAre(1.5F, -2.0F, 3.0F, 4.0F, 5.0F, 6.25F));
    const Array<double> twice = read<double>(bytes);
    EXPECT_THAT(twice.shape, ElementsAre(2, 3));
    EXPECT_THAT(twice.data, ElementsAre(1.5, -2.0, 3.0, 4.0, 5.0, 6.25));
  };
  check(npy(dictionary("<f4", "(2, 3)"), numbers<float>({1.5, -2, 3, 4, 5, 6.25})));
  check(npy(dictionary(">f4", "(2, 3)"), numbers<float>({1.5, -2, 3, 4, 5, 6.25}, true)));
  check(npy(dictionary("<f8", "(2, 3)"), numbers<double>({1.5, -2, 3, 4, 5, 6.25})));
  check(npy(dictionary(">f8", "(2, 3)"), numbers<double>({1.5, -2, 3, 4, 5, 6.25}, true)));
}

TEST_F(Npy, TellsTheShapeAlone) {
  put_file(folder / "a.npy", npy(dictionary("<f4", "(3, 1000)"), ""));
  EXPECT_THAT(peek_npy(folder / "a.npy").shape, ElementsAre(3, 1000));
  put_file(folder / "a.npy", "no array");
  EXPECT_THAT(message_of<FileError>([&] { (void)peek_npy(folder / "a.npy").shape; }),
              HasSubstr("is no .npy file"));
}

TEST_F(Npy, ReadsFortranOrder) {
  const Array<float> a =
      read(npy(dictionary("<f4", "(2, 3)", true), numbers<float>({1, 4, 2, 5, 3, 6})));
  EXPECT_THAT(a.shape, ElementsAre(2, 3));
  EXPECT_THAT(a.data, ElementsAre(1, 2, 3, 4, 5, 6));
  // 3D: value = 100 i + 10 j + k, first index fastest in the file
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += bytes_of(100.0 * i + 10.0 * j + k, true);
    }
  }
  const Array<double> b = read<double>(npy(dictionary(">f8", "(2, 3, 4)", true), data));
  EXPECT_THAT(b.shape, ElementsAre(2, 3, 4));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(b.data[static_cast<std::size_t>((i * 3 + j) * 4 + k)], 100.0 * i + 10.0 * j + k);
      }
    }
  }
  EXPECT_THAT(read(npy(dictionary("<f4", "(3,)", true), numbers<float>({1, 2, 3}))).data,
              ElementsAre(1, 2, 3));
}

TEST_F(Npy, ReadsTheThreeVersionsAndAnyValidDictionary) {
  for (const int major : {1, 2, 3}) {
    EXPECT_THAT(read(npy(dictionary("<f4", "(2,)"), numbers<float>({7, 8}), major)).data,
                ElementsAre(7, 8));
  }
  EXPECT_THAT(read(npy("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<f4\"}",
                       numbers<float>({7, 8})))
                  .shape,
              ElementsAre(2));
  EXPECT_THAT(read(npy("  { 'fortran_order' :False , 'shape': ( 1 , 2 ) , 'descr':'<f4' }   ",
                       numbers<float>({7, 8})))
                  .shape,
              ElementsAre(1, 2));
}

TEST_F(Npy, KeepsNotANumberAndInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  const Array<float> a =
      read(npy(dictionary("<f8", "(3,)"), numbers<double>({inf, -inf, std::nan("")})));
  EXPECT_EQ(a.data[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(a.data[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(a.data[2]));
}

TEST_F(Npy, ReadsIntegersAsIntegers) {
  EXPECT_THAT(
      read<std::int16_t>(npy(dictionary("<i2", "(3,)"), numbers<std::int16_t>({-2, -1, 300}))).data,
      ElementsAre(-2, -1, 300));
  EXPECT_THAT(
      read<std::int64_t>(npy(dictionary(">i2", "(2,)"), numbers<std::int16_t>({-2, 300}, true)))
          .data,
      ElementsAre(-2, 300));
  EXPECT_THAT(
      read<std::int32_t>(npy(dictionary(">i4", "(2,)"), numbers<std::int32_t>({-2, 70000}, true)))
          .data,
      ElementsAre(-2, 70000));
  EXPECT_THAT(
      read<std::int64_t>(npy(dictionary("<i8", "(1,)"), bytes_of(std::int64_t{1} << 40, false)))
          .data,
      ElementsAre(std::int64_t{1} << 40));
  EXPECT_THAT(refusal<std::int16_t>(npy(dictionary("<i4", "(1,)"), numbers<std::int32_t>({1}))),
              AllOf(HasSubstr("int32 ('<i4')"), HasSubstr("16 bits")));
  EXPECT_THAT(refusal<std::int32_t>(npy(dictionary("<f4", "(1,)"), numbers<float>({1}))),
              HasSubstr("float32"));
}

TEST_F(Npy, ReadsBooleans) {
  const auto file = npy(dictionary("|b1", "(2, 2)"), std::string("\1\0\0\1", 4));
  EXPECT_THAT(read<unsigned char>(file).data, ElementsAre(1, 0, 0, 1));
  EXPECT_TRUE(peek_npy(folder / "a.npy").booleans);
  EXPECT_THAT(refusal<unsigned char>(npy(dictionary("<f4", "(1,)"), numbers<float>({1}))),
              AllOf(HasSubstr("float32"), HasSubstr("allowed: booleans")));
}

TEST_F(Npy, RefusesOtherTypesInWords) {
  const std::vector<std::pair<std::string, std::string>> types = {
      {"<i4", "int32 ('<i4')"},  {"|u1", "uint8 ('|u1')"},     {"<c8", "complex64 ('<c8')"},
      {"|O", "Python objects"},  {"|b1", "booleans"},          {"<U5", "strings"},
      {"|S3", "strings"},        {"|V8", "records"},           {"<f2", "float16 ('<f2')"},
      {"<f16", "float128"},      {"<M8[ns]", "dates"},         {"|f4", "float32 ('|f4')"},
      {"", "unknown data type"}, {"<z9", "unknown data type"}, {"<f", "float ('<f')"}};
  for (const auto& [descr, words] : types) {
    EXPECT_THAT(refusal(npy(dictionary(descr, "(1,)"), std::string(16, '\0'))),
                AllOf(HasSubstr(words), HasSubstr("float32 or float64"), HasSubstr("astype")))
        << descr;
  }
  EXPECT_THAT(
      refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")),
      HasSubstr("structured data type"));
}

TEST_F(Npy, RefusesNumbersThatDoNotFitSinglePrecision) {
  const std::string bytes = npy(dictionary("<f8", "(3,)"), numbers<double>({1, 1e300, 2}));
  EXPECT_THAT(refusal<float>(bytes),
              AllOf(HasSubstr("1e+300"), HasSubstr("position 1"), HasSubstr("double")));
  EXPECT_EQ(read<double>(bytes).data[1], 1e300);
}

TEST_F(Npy, RefusesWhatIsNoNpyFile) {
  EXPECT_THAT(refusal(""), HasSubstr("no .npy file"));
  EXPECT_THAT(refusal("PK\x03\x04 a zip file, as .npz is"), HasSubstr("no .npy file"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(1,)"), "1234", 4)), HasSubstr("version 4.0"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(1,)"), "1234", 1, 1)), HasSubstr("version 1.1"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(1,)"), "1234", 0)), HasSubstr("version 0.0"));
  EXPECT_THAT(message_of<FileError>([&] { (void)read_npy<float>(folder / "missing.npy"); }),
              AllOf(HasSubstr("missing.npy"), HasSubstr("No such file")));
  EXPECT_THAT(message_of<FileError>([&] { (void)read_npy<float>(folder.path()); }),
              HasSubstr("a folder"));
  EXPECT_THAT(message_of<FileError>([&] { (void)read_npy<float>("/dev/zero"); }),
              HasSubstr("no regular file"));
}

TEST_F(Npy, RefusesDamagedHeaders) {
  const std::string data = numbers<float>({1, 2});
  std::string many_axes;
  for (int k = 0; k < 33; ++k) many_axes += "1, ";
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"", "no valid .npy file"},
      {"garbage", "no valid .npy file"},
      {"{}", "lacks one of"},
      {"{'descr': '<f4', 'shape': (2,)}", "lacks one of"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} more", "goes on"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", "no valid"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", "no valid"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "neither True nor False"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "no valid"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,)}", "no tuple of integers"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (a,)}", "no tuple of integers"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", "no tuple of integers"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "unexpected key 'x'"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "unexpected key"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "is not a dictionary"},
      {"{'descr': 5, 'fortran_order': False, 'shape': (2,)}", "no string"},
      {std::string("{'descr': '<\0f', 'fortran_order': False, 'shape': (2,)}", 53),
       "odd characters"},
      {dictionary("<f4", "(99999999999999999999,)"), "no file can have"},
      {dictionary("<f4", "(" + many_axes + ")"), "more than 32 axes"},
  };
  for (const auto& [header, words] : headers) {
    EXPECT_THAT(refusal(npy(header, data)), AllOf(HasSubstr("damaged"), HasSubstr(words)))
        << header;
  }
}

TEST_F(Npy, RefusesHeaderLengthsBeyondTheFile) {
  std::string bytes("\x93NUMPY\x01\x00\xff\xff", 10);
  EXPECT_THAT(refusal(bytes + "{}"), HasSubstr("should have 65535 bytes and 2 follow"));
  bytes = std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
  EXPECT_THAT(refusal(bytes + "{}"), HasSubstr("should have 4294967295 bytes"));
  EXPECT_THAT(refusal(std::string("\x93NUMPY\x02\x00\xff\xff", 10)),
              HasSubstr("inside its header"));
  EXPECT_THAT(refusal(npy(std::string(70000, ' '), "", 2)), HasSubstr("at most 65536"));
}

TEST_F(Npy, RefusesShapesThatDoNotBelongToTheFile) {
  const std::string data = numbers<float>({1, 2, 3, 4});
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(5,)"), data)),
              AllOf(HasSubstr("truncated"), HasSubstr("5 values of 4 bytes"),
                    HasSubstr("16 bytes of data")));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(3,)"), data)),
              AllOf(HasSubstr("too long"), HasSubstr("4 bytes follow")));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(4,)"), data + "x")), HasSubstr("1 bytes follow"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(4,)"), data.substr(0, 15))), HasSubstr("truncated"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(0, 5)"), "")),
              AllOf(HasSubstr("0 x 5"), HasSubstr("at least 1")));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(-1, -4)"), data)), HasSubstr("-1 x -4"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "()"), numbers<float>({1}))),
              HasSubstr("single number"));
  // products that overflow to 4 or to 0 in 64 bits
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(4294967296, 4294967296, 4)"), data)),
              HasSubstr("truncated"));
  EXPECT_THAT(refusal(npy(dictionary("<f4", "(4611686018427387905, 4)"), data)),
              testing::AnyOf(HasSubstr("truncated"), HasSubstr("no file can have")));
  EXPECT_THAT(refusal(npy(dictionary("<f8", "(1000000, 1000000)"), data)),
              HasSubstr("1000000 x 1000000"));
}

TEST_F(Npy, EveryPrefixAndEveryLongerFileIsRefused) {
  for (const bool fortran : {false, true}) {
    const std::string whole =
        npy(dictionary("<f8", "(2, 2)", fortran), numbers<double>({1, 2, 3, 4}));
    for (std::size_t n = 0; n < whole.size(); ++n) {
      put_file(folder / "a.npy", whole.substr(0, n));
      EXPECT_TRUE(throws_file_error([&] { (void)read_npy<float>(folder / "a.npy"); })) << n;
    }
    EXPECT_EQ(read(whole).size(), 4);
  }
}

TEST_F(Npy, NoChangedByteDoesHarm) {
  const std::string whole = npy(dictionary("<f4", "(2, 2)"), numbers<float>({1, 2, 3, 4}));
  const std::size_t data = whole.size() - 16;
  for (std::size_t at = 0; at < data; ++at) {
    for (const unsigned char value : odd_bytes) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      put_file(folder / "a.npy", changed);
      try {
        EXPECT_EQ(read_npy<float>(folder / "a.npy").size(), 4) << at << ' ' << int{value};
      } catch (const FileError& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
  }
}

template <class T>
class NpyRoundTrip : public ::testing::Test {};
using NpyTypes = ::testing::Types<float, double, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(NpyRoundTrip, NpyTypes);

TYPED_TEST(NpyRoundTrip, GivesTheSameValuesAndShape) {
  const Folder folder;
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{5}, {1}, {3, 4}, {2, 3, 4}, {1, 7, 1, 2}, {70001, 3}}) {
    Array<TypeParam> array{shape,
                           std::vector<TypeParam>(static_cast<std::size_t>(shape_size(shape)))};
    std::iota(array.data.begin(), array.data.end(), static_cast<TypeParam>(-3));
    write_npy(folder / "a.npy", array);
    const std::string bytes = get_file(folder / "a.npy");
    const std::size_t header = bytes.find('\n') + 1;
    EXPECT_EQ(header % 64, 0U);
    EXPECT_EQ(bytes.size(), header + array.data.size() * sizeof(TypeParam));
    const Array<TypeParam> back = read_npy<TypeParam>(folder / "a.npy");
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.data, array.data);
  }
}

TEST_F(Npy, WriteRefusesBadShapes) {
  const float values[2] = {1, 2};
  EXPECT_THAT(message_of<InputError>([&] { write_npy(folder / "a.npy", values, {}); }),
              HasSubstr("()"));
  EXPECT_THAT(message_of<InputError>([&] {
                write_npy(folder / "a.npy", values, {0, 2});
              }),
              HasSubstr("0 x 2"));
  EXPECT_THAT(message_of<InputError>([&] {
                write_npy(folder / "a.npy", Array<float>{{3}, {1, 2}});
              }),
              HasSubstr("holds 2 values"));
}

TEST_F(Npy, AgreesWithNumPy) {
  if (!have_python("numpy")) GTEST_SKIP() << "no python3 with NumPy at /usr/bin/python3";
  const Array<double> array{{2, 3}, {1, 2, 3, 4, 5, 0.1}};
  write_npy(folder / "ours.npy", array);
  ASSERT_EQ(run_python(folder, R"(
import numpy as np
a = np.load('ours.npy')
assert a.dtype == np.float64 and a.shape == (2, 3) and a.flags.c_contiguous
assert (a == [[1, 2, 3], [4, 5, 0.1]]).all()
np.save('c.npy', a)
np.save('fortran.npy', np.asfortranarray(a))
np.save('big.npy', a.astype('>f8'))
np.save('single.npy', np.asfortranarray(a).astype('>f4', order='F'))
np.lib.format.write_array(open('two.npy', 'wb'), a, version=(2, 0))
np.lib.format.write_array(open('three.npy', 'wb'), a, version=(3, 0))
np.save('complex.npy', a.astype(complex))
np.save('object.npy', np.array([None, 1]), allow_pickle=True)
np.save('record.npy', np.zeros(2, dtype=[('x', 'f4'), ('y', 'i4')]))
np.save('scalar.npy', np.float32(3))
np.savez('archive.npz', a)
)"),
            0);
  for (const char* name : {"c.npy", "fortran.npy", "big.npy", "two.npy", "three.npy"}) {
    const Array<double> back = read_npy<double>(folder / name);
    EXPECT_EQ(back.shape, array.shape) << name;
    EXPECT_EQ(back.data, array.data) << name;
  }
  EXPECT_THAT(read_npy<float>(folder / "single.npy").data, ElementsAre(1, 2, 3, 4, 5, 0.1F));
  for (const char* name :
       {"complex.npy", "object.npy", "record.npy", "scalar.npy", "archive.npz"}) {
    EXPECT_THROW((void)read_npy<float>(folder / name), FileError) << name;
  }
}

TEST_F(Npy, ReadsTheMarmousiModel) {
  const auto path = shared_data("marmousi_vp_1601x401_7.5m.npy");
  if (!path) GTEST_SKIP() << "no folder of shared data (MOHO_SHARED_DATA)";
  const Array<float> model = read_npy<float>(*path);
  EXPECT_THAT(model.shape, ElementsAre(1601, 401));
  for (const float v : model.data) ASSERT_TRUE(v > 1000.0F && v < 6000.0F) << v;
}

TEST(NpyInParts, IsTheSameFile) {
  const Folder folder;
  std::vector<float> values(200000);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n) * 0.25f;
  const std::vector<std::int64_t> shape{20, 100, 100};
  FileIdentity whole;
  write_npy(folder / "whole.npy", values.data(), shape, &whole);
  EXPECT_EQ(whole, identify_file(folder / "whole.npy"));
  {
    NpyFile<float> file(folder / "parts.npy", shape, true);
    file.write(values.data(), 7);
    file.write(values.data() + 7, 150000);
    file.write(values.data() + 150007, 49993);
    EXPECT_EQ(file.commit(), whole);
  }
  EXPECT_EQ(identify_file(folder / "parts.npy"), whole);
  {
    NpyFile<float> file(folder / "short.npy", shape);
    file.write(values.data(), 100);
    EXPECT_THROW(file.commit(), FileError);
  }
  { const NpyFile<float> given_up(folder / "short.npy", shape); }
  EXPECT_FALSE(std::filesystem::exists(folder / "short.npy"));
  EXPECT_THROW(NpyFile<float>(folder / "empty.npy", {}), InputError);
}

TEST_F(Npy, ViewsAreWrittenAndReadAsFields) {
  const Grid<3> grid{{2, 3, 4}, {1.0, 1.0, 1.0}, {}};
  const Kokkos::DefaultHostExecutionSpace exec;
  const auto field = make_field<double>(exec, grid, "field");
  std::iota(field.data(), field.data() + field.size(), 0.5);
  write_npy(folder / "field.npy", field);
  const Array<double> array = read_npy<double>(folder / "field.npy");
  EXPECT_THAT(array.shape, ElementsAre(2, 3, 4));
  EXPECT_EQ(array.data.front(), 0.5);
  EXPECT_EQ(array.data.back(), 23.5);
  const auto same = read_npy_field<double>(exec, grid, folder / "field.npy");
  EXPECT_EQ(same.label(), "field");
  ASSERT_EQ(same.extent(1), 3u);
  EXPECT_EQ(same(1, 2, 3), 23.5);
  EXPECT_EQ(same(1, 0, 0), 12.5);

  const Grid<3> other{{2, 4, 3}, {1.0, 1.0, 1.0}, {}};
  const Grid<2> flat{{2, 12}, {1.0, 1.0}, {}};
  EXPECT_THAT(
      message_of<FileError>(
          [&] { (void)read_npy_field<double>(exec, other, folder / "field.npy"); }),
      HasSubstr("field.npy: its shape is 2 x 3 x 4 (allowed: 2 x 4 x 3, the shape of the grid)"));
  EXPECT_THAT(message_of<FileError>(
                  [&] { (void)read_npy_field<double>(exec, flat, folder / "field.npy"); }),
              HasSubstr("(allowed: 2 x 12, the shape of the grid)"));
}

TEST_F(Npy, ViewsWithGapsAreRefused) {
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> whole("whole", 3, 4);
  const auto part = Kokkos::subview(whole, Kokkos::ALL, std::pair<int, int>(0, 2));
  const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace> empty("empty", 0, 4);
  if constexpr (std::is_same_v<decltype(part)::array_layout, Kokkos::LayoutRight>) {
    EXPECT_THAT(message_of<InputError>([&] { write_npy(folder / "part.npy", part); }),
                HasSubstr("has gaps"));
  }
  EXPECT_THROW(write_npy(folder / "empty.npy", empty), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder / "empty.npy"));
}

TEST(Numbered, HasFourDigitsOrMore) {
  EXPECT_EQ(numbered("shot", 7), "shot_0007.npy");
  EXPECT_EQ(numbered("band", 12345, ".state"), "band_12345.state");
}

}  // namespace
}  // namespace moho::io
