// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/rsf.hpp>

#include <bit>
#include <numeric>

namespace moho::io {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr bool host_is_big = std::endian::native == std::endian::big;
const std::string end_of_header("\x0c\x0c\x04", 3);

template <class T>
std::string native_numbers(std::initializer_list<double> values) {
  return numbers<T>(values, host_is_big);
}

class Rsf : public ::testing::Test {
 protected:
  template <class T = float>
  RsfData<T> read(const std::string& header, const std::string& data) {
    put_file(folder / "a.rsf", header);
    put_file(folder / "a.bin", data);
    return read_rsf<T>(folder / "a.rsf");
  }

  template <class T = float>
  std::string refusal(const std::string& header, const std::string& data = "") {
    return message_of<FileError>([&] { (void)read<T>(header, data); });
  }

  Folder folder;
};

TEST_F(Rsf, ReadsDataInAFileOfItsOwn) {
  const RsfData<double> data = read<double>(
      "4.0 sfmath  place:  someone@machine  Mon Jan  1 00:00:00 2024\n\n"
      "\tn1=3 n2=2\n\to1=0.5 d1=0.004 label1=\"Depth\" unit1='m'\n\to2=-100 d2=12.5 label2=\"X "
      "position\"\n"
      "\tin=\"a.bin\" esize=4 data_format=\"native_float\"\n",
      native_numbers<float>({1, 2, 3, 4, 5, 6.5}));
  EXPECT_THAT(data.values.shape, ElementsAre(2, 3));
  EXPECT_THAT(data.values.data, ElementsAre(1, 2, 3, 4, 5, 6.5));
  ASSERT_EQ(data.axes.size(), 2U);
  EXPECT_EQ(data.axes[0].extent, 2);
  EXPECT_EQ(data.axes[0].spacing, 12.5);
  EXPECT_EQ(data.axes[0].origin, -100.0);
  EXPECT_EQ(data.axes[0].label, "X position");
  EXPECT_EQ(data.axes[0].unit, "");
  EXPECT_EQ(data.axes[1].extent, 3);
  EXPECT_EQ(data.axes[1].spacing, 0.004);
  EXPECT_EQ(data.axes[1].origin, 0.5);
  EXPECT_EQ(data.axes[1].label, "Depth");
  EXPECT_EQ(data.axes[1].unit, "m");
  EXPECT_TRUE(data.axes[1].has_spacing && data.axes[1].has_origin);
}

TEST_F(Rsf, ReadsDataBehindTheHeader) {
  put_file(folder / "a.rsf", "n1=2 n2=2 in=\"stdin\" data_format=\"native_float\"\n" +
                                 end_of_header + native_numbers<float>({1, 2, 3, 4}));
  const RsfData<float> data = read_rsf<float>(folder / "a.rsf");
  EXPECT_THAT(data.values.shape, ElementsAre(2, 2));
  EXPECT_THAT(data.values.data, ElementsAre(1, 2, 3, 4));
  EXPECT_FALSE(data.axes[0].has_spacing || data.axes[0].has_origin);
  EXPECT_EQ(data.axes[0].spacing, 1.0);
  // The end mark may also occur in the data.
  put_file(folder / "a.rsf",
           "n1=4 in=stdin data_format=ascii_float " + end_of_header + "1 2\n3\t4\n");
  EXPECT_THAT(read_rsf<float>(folder / "a.rsf").values.data, ElementsAre(1, 2, 3, 4));
}

TEST_F(Rsf, ReadsEveryFormat) {
  const auto check = [&](const std::string& format, const std::string& bytes) {
    const std::string header = "n1=3 in=a.bin data_format=" + format;
    EXPECT_THAT(read<float>(header, bytes).values.data, ElementsAre(1.5F, -2, 1000)) << format;
    EXPECT_THAT(read<double>(header, bytes).values.data, ElementsAre(1.5, -2, 1000)) << format;
  };
  check("native_float", native_numbers<float>({1.5, -2, 1000}));
  check("\"xdr_float\"", numbers<float>({1.5, -2, 1000}, true));
  check("native_double esize=8", native_numbers<double>({1.5, -2, 1000}));
  check("xdr_double", numbers<double>({1.5, -2, 1000}, true));
  check("ascii_float esize=0", "1.5 -2\n  1e3");
  check("ascii_double", "\n1.5\t-2.0 1000.\n");
  EXPECT_THAT(read("n1=1 in=a.bin", native_numbers<float>({7})).values.data, ElementsAre(7));
}

TEST_F(Rsf, LaterAssignmentsCount) {
  const RsfData<float> data = read(
      "sfspike\nn1=100 n2=50 d1=1 in=\"elsewhere.bin\" data_format=native_int\n"
      "sfwindow\n\tn1=2 n2=1 d1=5 in=a.bin data_format=native_float\n",
      native_numbers<float>({1, 2}));
  EXPECT_THAT(data.values.shape, ElementsAre(1, 2));
  EXPECT_EQ(data.axes[1].spacing, 5.0);
}

TEST_F(Rsf, DropsTrailingAxesOfOne) {
  EXPECT_THAT(
      read("n1=2 n2=3 n3=1 n4=1 in=a.bin", native_numbers<float>({1, 2, 3, 4, 5, 6})).values.shape,
      ElementsAre(3, 2));
  EXPECT_THAT(
      read("n1=2 n2=1 n3=3 in=a.bin", native_numbers<float>({1, 2, 3, 4, 5, 6})).values.shape,
      ElementsAre(3, 1, 2));
  EXPECT_THAT(read("n1=6 in=a.bin", native_numbers<float>({1, 2, 3, 4, 5, 6})).values.shape,
              ElementsAre(6));
  EXPECT_THAT(read("n1=6 n2=1 in=a.bin", native_numbers<float>({1, 2, 3, 4, 5, 6})).values.shape,
              ElementsAre(1, 6));
}

TEST_F(Rsf, PathsAreRelativeToTheHeader) {
  std::filesystem::create_directory(folder / "data");
  put_file(folder / "data/b.bin", native_numbers<float>({1, 2}));
  EXPECT_THAT(read("n1=2 in=\"data/b.bin\"", "").values.data, ElementsAre(1, 2));
  EXPECT_THAT(read("n1=2 in=\"" + (folder / "data/b.bin").string() + "\"", "").values.data,
              ElementsAre(1, 2));
}

TEST_F(Rsf, RefusesBadHeaders) {
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("a.rsf"), HasSubstr("has no n1=")));
  EXPECT_THAT(refusal("n1=2"), HasSubstr("has no in="));
  EXPECT_THAT(refusal("n1=2 in=\"\""), HasSubstr("has no in="));
  EXPECT_THAT(refusal("n1=2 in=gone.bin"), AllOf(HasSubstr("gone.bin"), HasSubstr("No such file")));
  EXPECT_THAT(refusal("n1=2 in=\"a.bin"), HasSubstr("quote after in= does not end"));
  for (const char* n : {"0", "-3", "2.5", "many", "", "99999999999999999999"}) {
    EXPECT_THAT(refusal("n1=" + std::string(n) + " in=a.bin"),
                AllOf(HasSubstr(std::string("n1=") + n), HasSubstr("integer of at least 1")));
  }
  for (const char* d : {"x", "nan", "1e999", "1.5m"}) {
    EXPECT_THAT(refusal("n1=2 in=a.bin d1=" + std::string(d)),
                AllOf(HasSubstr("d1="), HasSubstr("finite number")));
  }
  EXPECT_THAT(refusal("n1=2 in=a.bin o1=?"), HasSubstr("o1=?"));
  for (const char* format :
       {"native_int", "native_complex", "xdr_short", "native_uchar", "ascii_int", "float"}) {
    EXPECT_THAT(refusal("n1=2 in=a.bin data_format=" + std::string(format)),
                AllOf(HasSubstr(format), HasSubstr("float or double")));
  }
  EXPECT_THAT(refusal("n1=2 in=a.bin esize=8"), HasSubstr("esize=8"));
  EXPECT_THAT(refusal(std::string("n1=2 in=\"a\0b\"", 14)), HasSubstr("no path"));
}

TEST_F(Rsf, RefusesDataThatDoNotBelongToTheHeader) {
  EXPECT_THAT(refusal("n1=2 in=a.bin", std::string(7, 'x')),
              AllOf(HasSubstr("a.bin"), HasSubstr("truncated"), HasSubstr("7 bytes")));
  EXPECT_THAT(refusal("n1=2 in=a.bin", std::string(9, 'x')), HasSubstr("too long"));
  EXPECT_THAT(refusal("n1=2 in=a.bin", ""), HasSubstr("truncated"));
  EXPECT_THAT(refusal("n1=1000000 n2=1000000 in=a.bin", "1234"), HasSubstr("1000000 x 1000000"));
  EXPECT_THAT(refusal("n1=4294967296 n2=4294967296 n3=4 in=a.bin", "1234"),
              HasSubstr("more than any file"));
  EXPECT_THAT(refusal("n1=2 in=stdin"), HasSubstr("no data"));
  EXPECT_THAT(refusal("n1=2 in=stdin" + end_of_header + "1234567"), HasSubstr("truncated"));
  EXPECT_THAT(
      refusal<float>("n1=1 in=a.bin data_format=native_double", native_numbers<double>({1e300})),
      HasSubstr("1e+300"));
}

TEST_F(Rsf, RefusesBadText) {
  const std::string header = "n1=3 in=a.bin data_format=ascii_float";
  EXPECT_THAT(refusal(header, "1 2"), HasSubstr("truncated"));
  EXPECT_THAT(refusal(header, "1 2         "),
              AllOf(HasSubstr("3 numbers"), HasSubstr("2 are there")));
  EXPECT_THAT(refusal(header, "1 2 3 4"), HasSubstr("too long"));
  EXPECT_THAT(refusal(header, "1 2x 3"), AllOf(HasSubstr("value 1"), HasSubstr("'2x'")));
  EXPECT_THAT(refusal("n1=1000000000 in=a.bin data_format=ascii_float", "1 2 3"),
              HasSubstr("truncated"));
}

TEST_F(Rsf, EveryPrefixIsRefused) {
  put_file(folder / "a.bin", native_numbers<float>({1, 2, 3, 4}));
  const std::string one = "moho\n\tn1=2 n2=2 in=\"stdin\" data_format=\"xdr_double\" esize=8\n" +
                          end_of_header + numbers<double>({1, 2, 3, 4}, true);
  for (std::size_t n = 0; n < one.size(); ++n) {
    put_file(folder / "b.rsf", one.substr(0, n));
    EXPECT_TRUE(throws_file_error([&] { (void)read_rsf<float>(folder / "b.rsf"); })) << n;
  }
  put_file(folder / "b.rsf", one);
  EXPECT_EQ(read_rsf<float>(folder / "b.rsf").values.size(), 4);
}

TEST_F(Rsf, NoChangedByteDoesHarm) {
  const std::string whole = "n1=2 n2=2 in=\"stdin\" data_format=\"native_float\"\n" +
                            end_of_header + native_numbers<float>({1, 2, 3, 4});
  for (std::size_t at = 0; at + 16 < whole.size(); ++at) {
    for (const unsigned char value : odd_bytes) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      put_file(folder / "a.rsf", changed);
      try {
        EXPECT_EQ(read_rsf<float>(folder / "a.rsf").values.size(), 4) << at << ' ' << int{value};
      } catch (const FileError& error) {
        EXPECT_STRNE(error.what(), "");
      }
    }
  }
}

template <class T>
class RsfRoundTrip : public ::testing::Test {};
TYPED_TEST_SUITE(RsfRoundTrip, Precisions);

TYPED_TEST(RsfRoundTrip, GivesTheSameValuesAndAxes) {
  const Folder folder;
  Array<TypeParam> array{{2, 3, 4}, std::vector<TypeParam>(24)};
  std::iota(array.data.begin(), array.data.end(), static_cast<TypeParam>(0.1));
  std::vector<RsfAxis> axes(3);
  axes[0].spacing = 0.1;
  axes[0].origin = -1.0 / 3.0;
  axes[0].label = "X position";
  axes[2].spacing = 7.5;
  axes[2].unit = "m";
  for (const RsfEncoding encoding : {RsfEncoding::native, RsfEncoding::xdr}) {
    for (const bool one_file : {true, false}) {
      write_rsf(folder / "a.rsf", array, axes, {.one_file = one_file, .encoding = encoding});
      const RsfData<TypeParam> back = read_rsf<TypeParam>(folder / "a.rsf");
      EXPECT_EQ(back.values.shape, array.shape);
      EXPECT_EQ(back.values.data, array.data);
      for (std::size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(back.axes[d].spacing, axes[d].spacing);
        EXPECT_EQ(back.axes[d].origin, axes[d].origin);
        EXPECT_EQ(back.axes[d].label, axes[d].label);
        EXPECT_EQ(back.axes[d].unit, axes[d].unit);
      }
    }
  }
  EXPECT_THAT(folder.list(), UnorderedElementsAre("a.rsf", "a.rsf@"));
}

TEST_F(Rsf, WriteStoresTheFastestAxisAsTheFirst) {
  write_rsf<float>(folder / "a.rsf", {{2, 3}, {1, 2, 3, 4, 5, 6}}, {},
                   {.one_file = false, .encoding = RsfEncoding::xdr});
  const std::string header = get_file(folder / "a.rsf");
  EXPECT_THAT(header, AllOf(HasSubstr("n1=3 "), HasSubstr("n2=2 "), HasSubstr("in=\"a.rsf@\""),
                            HasSubstr("esize=4"), HasSubstr("data_format=\"xdr_float\"")));
  EXPECT_EQ(get_file(folder / "a.rsf@"), numbers<float>({1, 2, 3, 4, 5, 6}, true));
}

TEST_F(Rsf, WriteRefusesBadArguments) {
  const auto path = folder / "a.rsf";
  EXPECT_THAT(message_of<InputError>([&] {
                write_rsf<float>(path, {{3}, {1, 2}});
              }),
              HasSubstr("holds 2 values"));
  EXPECT_THAT(message_of<InputError>([&] {
                write_rsf<float>(path, {{2}, {1, 2}}, std::vector<RsfAxis>(2));
              }),
              HasSubstr("2 axes are described"));
  RsfAxis axis;
  axis.label = "a \"quoted\" label";
  EXPECT_THAT(message_of<InputError>([&] {
                write_rsf<float>(path, {{2}, {1, 2}}, {axis});
              }),
              HasSubstr("quotes"));
  EXPECT_THAT(message_of<InputError>([&] {
                write_rsf<float>(path, {std::vector<std::int64_t>(10, 1), {1}});
              }),
              HasSubstr("10 axes"));
  EXPECT_TRUE(folder.list().empty());
}

}  // namespace
}  // namespace moho::io
