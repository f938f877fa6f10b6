// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
//
// Headers of SEG-Y files that are refused, and shot records.
#include "segy_file.hpp"

#include <moho/io/segy.hpp>

#include <cmath>

namespace moho::io {
namespace {

using namespace test;
using ::testing::AllOf;
using File = SegyBytes;

class SegyHeaders : public ::testing::Test {
 protected:
  SegyFile<float> read(const std::string& bytes) {
    put_file(folder / "a.sgy", bytes);
    return read_segy<float>(folder / "a.sgy");
  }
  std::string refusal(const std::string& bytes) {
    return message_of<FileError>([&] { (void)read(bytes); });
  }

  Folder folder;
};

TEST_F(SegyHeaders, ExtendedFieldsOfRevision2AreRefused) {
  for (const bool little : {false, true}) {
    File file(1, 2, 5, 4, little);
    file.binary16(3217, 4000);
    const auto put = [&](std::size_t byte, auto value) {
      file.bytes().replace(byte - 1, sizeof(value), bytes_of(value, !little));
    };
    put(3501, std::uint8_t(2));
    put(3273, 4000.0);
    put(3269, std::uint32_t(2));
    EXPECT_EQ(read(file.bytes()).revision, 2);
    put(3273, 2.5);
    EXPECT_THAT(refusal(file.bytes()),
                AllOf(HasSubstr("revision 2 with an extended sample interval, 2.5 in"),
                      HasSubstr("write it as revision 1")));
    put(3501, std::uint8_t(1));  // the bytes have no meaning in revision 1
    EXPECT_EQ(read(file.bytes()).interval, 4000);
    put(3501, std::uint8_t(2));
    put(3273, 0.0);
    put(3269, std::uint32_t(70000));
    EXPECT_THAT(refusal(file.bytes()), HasSubstr("an extended number of samples, 70000 in"));
    put(3269, std::uint32_t(0));
    put(3507, std::uint32_t(1));
    EXPECT_THAT(refusal(file.bytes()), HasSubstr("additional trace headers, 1 in"));
  }
}

TEST_F(SegyHeaders, TracesOfAnotherNumberOfSamplesAreRefused) {
  const char* const second =
      "a.sgy': trace 2 has 2 samples (bytes 115-116), the file 3 (bytes 3221-3222; allowed: the "
      "same";
  for (const int fixed : {0, 1}) {  // revision 1 with and without the flag of fixed length
    File file(2, 3, 5, 4);
    file.binary16(3501, 0x0100).binary16(3503, fixed).trace16(0, 115, 3);
    EXPECT_THAT(read(file.bytes()).samples.shape, ElementsAre(2, 3));  // 0: as in the file
    file.trace16(1, 115, 2);
    EXPECT_THAT(refusal(file.bytes()), AllOf(HasSubstr(second), HasSubstr("correct the headers")));
    EXPECT_THAT(message_of<FileError>([&] { (void)read_gathers<float>(folder / "a.sgy"); }),
                HasSubstr(second));
    EXPECT_THAT(message_of<FileError>([&] { (void)read_segy_model<float>(folder / "a.sgy"); }),
                HasSubstr(second));
    const SegyReader reader(folder / "a.sgy");
    EXPECT_EQ(reader.trace(0).samples, 3);
    EXPECT_THAT(message_of<FileError>([&] { (void)reader.trace(1); }), HasSubstr(second));
    file.trace16(0, 115, 40000);  // found before the size of the file
    EXPECT_THAT(refusal(file.bytes()), HasSubstr("trace 1 has 40000 samples (bytes 115-116), the "
                                                 "file 3 (bytes 3221-3222"));
    file.binary16(3221, 0).trace16(0, 115, 3);
    EXPECT_THAT(refusal(file.bytes()), HasSubstr("trace 2 has 2 samples (bytes 115-116), trace 1 3 "
                                                 "(bytes 115-116; allowed"));
  }
}

TEST_F(SegyHeaders, GathersRefuseAnglesAndMixedDelays) {
  File file(2, 1, 5, 4);
  const auto refused = [&] {
    put_file(folder / "a.sgy", file.bytes());
    return message_of<FileError>([&] { (void)read_gathers<float>(folder / "a.sgy"); });
  };
  file.trace16(1, 109, 20);
  EXPECT_THAT(refused(), AllOf(HasSubstr("trace 2 begins at 20 ms"), HasSubstr("read_segy")));
  file.trace16(1, 109, 0).trace16(0, 89, 2);
  EXPECT_THAT(refused(), HasSubstr("trace 1 has coordinates in seconds of arc (code 2"));
  file.trace16(0, 89, 1).trace16(1, 89, 3);
  EXPECT_THAT(refused(), HasSubstr("trace 2 has coordinates in decimal degrees"));
  file.trace16(1, 89, 1).binary16(3217, 4000).trace16(0, 117, 4000).trace16(1, 117, 2000);
  EXPECT_THAT(refused(), HasSubstr("trace 2 has an interval of 2000 us (bytes 117-118), the file "
                                   "one of 4000 us"));
}

TEST_F(SegyHeaders, GathersAreShotsOfOneElevationInMetres) {
  File file(2, 1, 5, 4);
  file.trace32(0, 45, 7).trace32(1, 45, 8).trace32(0, 81, 100);
  put_file(folder / "a.sgy", file.bytes());
  EXPECT_EQ(read_gathers<float>(folder / "a.sgy").size(), 2U);
  file.binary16(3255, 2);
  put_file(folder / "a.sgy", file.bytes());
  const auto gathers = read_gathers<float>(folder / "a.sgy");
  EXPECT_DOUBLE_EQ(gathers.at(1).source_elevation, 8 * 0.3048);
  EXPECT_DOUBLE_EQ(gathers.at(0).receiver_x.at(0), 100 * 0.3048);
}

TEST_F(SegyHeaders, GathersOfNumbersThatDoNotFitAreRefused) {
  Gather<double> gather{.record = 3,
                        .interval = 0.004,
                        .receiver_x = {0.0, 10.0},
                        .receiver_y = {0.0, 0.0},
                        .receiver_elevation = {0.0, 0.0},
                        .samples = {.shape = {2, 2}, .data = {1.0, 2.0, 3.0, 1e300}}};
  const auto refusal = [&] {
    return message_of<InputError>([&] { write_gathers(folder / "b.sgy", std::vector{gather}); });
  };
  EXPECT_THAT(refusal(), HasSubstr("record 3: sample 2 of trace 2 is 1e+300"));
  gather.samples.data[3] = std::nan("");
  EXPECT_THAT(refusal(), HasSubstr("sample 2 of trace 2 is nan"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.sgy"));
}

}  // namespace
}  // namespace moho::io
