// SPDX-License-Identifier: BSD-3-Clause
// ctest: quick
#include "segy_file.hpp"

#include <moho/io/segy.hpp>

#include <cmath>
#include <numeric>

namespace moho::io {
namespace {

using namespace test;
using File = SegyBytes;
using ::testing::AllOf;
using ::testing::ElementsAre;

class Segy : public ::testing::Test {
 protected:
  template <class T = float>
  SegyFile<T> read(const std::string& bytes) {
    put_file(folder / "a.sgy", bytes);
    return read_segy<T>(folder / "a.sgy");
  }
  std::string refusal(const std::string& bytes) {
    const std::string text = message_of<FileError>([&] { (void)read(bytes); });
    EXPECT_THAT(text, HasSubstr((folder / "a.sgy").string()));
    return text;
  }

  Folder folder;
};

TEST_F(Segy, ReadsEveryFormatInBothByteOrders) {
  for (const bool little : {false, true}) {
    File ieee(2, 3, 5, 4, little);
    File ibm(2, 3, 1, 4, little);
    File int32(2, 3, 2, 4, little);
    File int16(2, 3, 3, 2, little);
    File int8(2, 3, 8, 1, little);
    const float values[] = {1.0F, -118.625F, 0.0F, 4.0F, 100.0F, -1.0F};
    // IBM: sign, exponent of 16 plus 64, fraction of 24 bits
    const std::uint32_t words[] = {0x41100000, 0xC276A000, 0, 0x41400000, 0x42640000, 0xC1100000};
    for (int i = 0; i < 6; ++i) {
      ieee.sample(i / 3, i % 3, values[i]);
      ibm.sample(i / 3, i % 3, words[i]);
      int32.sample(i / 3, i % 3, static_cast<std::int32_t>(values[i]));
      int16.sample(i / 3, i % 3, static_cast<std::int16_t>(values[i]));
      int8.sample(i / 3, i % 3, static_cast<std::int8_t>(values[i]));
    }
    for (const File* file : {&ieee, &ibm}) {
      const SegyFile<float> single = read(file->bytes());
      EXPECT_EQ(single.little_endian, little);
      EXPECT_THAT(single.samples.shape, ElementsAre(2, 3));
      EXPECT_THAT(single.samples.data, ElementsAre(1, -118.625F, 0, 4, 100, -1));
      EXPECT_THAT(read<double>(file->bytes()).samples.data,
                  ElementsAre(1, -118.625, 0, 4, 100, -1));
    }
    for (const File* file : {&int32, &int16, &int8}) {
      EXPECT_THAT(read(file->bytes()).samples.data, ElementsAre(1, -118, 0, 4, 100, -1));
    }
    EXPECT_EQ(read(ibm.bytes()).format, 1);
    EXPECT_EQ(read(int8.bytes()).format, 8);
  }
}

TEST_F(Segy, ScalesCoordinatesByTheStandard) {
  for (const bool little : {false, true}) {
    File file(4, 1, 5, 4, little);
    const int scalars[] = {0, 1, -100, 10};
    const double factors[] = {1.0, 1.0, 0.01, 10.0};
    for (int i = 0; i < 4; ++i) {
      file.trace16(i, 71, scalars[i]).trace16(i, 69, scalars[3 - i]);
      file.trace32(i, 73, 100001).trace32(i, 77, -2).trace32(i, 81, 3).trace32(i, 85, 4);
      file.trace32(i, 181, 5).trace32(i, 185, 6);
      file.trace32(i, 41, 7).trace32(i, 45, -8).trace32(i, 49, 9);
      file.trace32(i, 9, 11).trace32(i, 13, 12).trace32(i, 17, 13).trace32(i, 21, 14);
      file.trace32(i, 189, 15).trace32(i, 193, 16);
      file.trace16(i, 109, -250).trace16(i, 215, i == 0 ? 0 : -10);
    }
    const SegyFile<double> read_back = read<double>(file.bytes());
    for (int i = 0; i < 4; ++i) {
      const SegyTrace& trace = read_back.headers[static_cast<std::size_t>(i)];
      const double xy = factors[i];
      const double z = factors[3 - i];
      EXPECT_DOUBLE_EQ(trace.source_x, 100001 * xy);
      EXPECT_DOUBLE_EQ(trace.source_y, -2 * xy);
      EXPECT_DOUBLE_EQ(trace.receiver_x, 3 * xy);
      EXPECT_DOUBLE_EQ(trace.receiver_y, 4 * xy);
      EXPECT_DOUBLE_EQ(trace.cdp_x, 5 * xy);
      EXPECT_DOUBLE_EQ(trace.cdp_y, 6 * xy);
      EXPECT_DOUBLE_EQ(trace.receiver_elevation, 7 * z);
      EXPECT_DOUBLE_EQ(trace.source_elevation, -8 * z);
      EXPECT_DOUBLE_EQ(trace.source_depth, 9 * z);
      EXPECT_DOUBLE_EQ(trace.delay, i == 0 ? -250 : -25);
      EXPECT_EQ(trace.field_record, 11);
      EXPECT_EQ(trace.trace_number, 12);
      EXPECT_EQ(trace.source_point, 13);
      EXPECT_EQ(trace.ensemble, 14);
      EXPECT_EQ(trace.inline_number, 15);
      EXPECT_EQ(trace.crossline_number, 16);
    }
  }
}

TEST_F(Segy, ReadsTextAndIntervals) {
  File file(1, 2, 5, 4);
  EXPECT_EQ(read(file.bytes()).text.substr(0, 8), "C 1 HI  ");
  EXPECT_EQ(read(file.bytes()).text.size(), 40U * 81U);
  EXPECT_EQ(read(file.bytes()).interval, 0);
  file.trace16(0, 117, 2000);
  EXPECT_EQ(read(file.bytes()).interval, 2000);
  file.binary16(3217, 4000).binary16(3255, 2).trace16(0, 89, 1);
  EXPECT_EQ(read(file.bytes()).interval, 4000);
  EXPECT_EQ(read(file.bytes()).measurement_system, 2);
  EXPECT_EQ(read(file.bytes()).coordinate_units, 1);
  file.binary16(3217, static_cast<std::int16_t>(40000));
  EXPECT_EQ(read(file.bytes()).interval, 40000);
  file.bytes().replace(0, 3200, "C 1 ASCII" + std::string(3191, ' '));
  EXPECT_EQ(read(file.bytes()).text.substr(0, 12), "C 1 ASCII   ");
  file.bytes().replace(0, 3200, std::string(3200, '\0'));
  EXPECT_EQ(read(file.bytes()).text.find_first_not_of(" \n"), std::string::npos);
}

TEST_F(Segy, ReadsTraceByTrace) {
  for (const bool little : {false, true}) {
    File file(3, 2, 3, 2, little);
    file.binary16(3217, 4000).binary16(3255, 2);
    for (int i = 0; i < 3; ++i) {
      file.trace16(i, 29, i + 1).trace16(i, 89, i).trace16(i, 117, 1000 * i).trace16(i, 115, 2);
      file.sample(i, 0, static_cast<std::int16_t>(10 * i))
          .sample(i, 1, static_cast<std::int16_t>(-i));
    }
    put_file(folder / "a.sgy", file.bytes());
    SegyReader reader(folder / "a.sgy");
    EXPECT_EQ(reader.name(), (folder / "a.sgy").string());
    EXPECT_EQ(reader.header().traces, 3);
    EXPECT_EQ(reader.header().samples, 2);
    EXPECT_EQ(reader.header().interval, 4000);
    EXPECT_EQ(reader.header().measurement_system, 2);
    EXPECT_EQ(reader.header().little_endian, little);
    EXPECT_FALSE(reader.header().fixed_length);
    for (const int i : {2, 0, 1}) {  // in any order
      const SegyTrace trace = reader.trace(i);
      EXPECT_EQ(trace.identification, i + 1);
      EXPECT_EQ(trace.coordinate_units, i);
      EXPECT_EQ(trace.interval, 1000 * i);
      EXPECT_EQ(trace.samples, 2);
      double samples[2] = {};
      reader.read(i, samples);
      EXPECT_THAT(samples, ElementsAre(10 * i, -i));
    }
    for (const std::int64_t number : {-1, 3}) {
      EXPECT_THAT(message_of<FileError>([&] { (void)reader.trace(number); }),
                  HasSubstr("(allowed: 1 to 3)"));
      float samples[2];
      EXPECT_THAT(message_of<FileError>([&] { reader.read(number, samples); }),
                  HasSubstr("a.sgy' has no trace"));
    }
    SegyReader moved = std::move(reader);
    EXPECT_EQ(moved.trace(1).identification, 2);
  }
}

TEST_F(Segy, FindsTheNumberOfSamples) {
  // exceeds a signed 16-bit field
  File large(2, 40000, 5, 4);
  large.sample(1, 39999, 7.0F);
  const SegyFile<float> many = read(large.bytes());
  EXPECT_THAT(many.samples.shape, ElementsAre(2, 40000));
  EXPECT_EQ(many.samples.data.back(), 7.0F);
  // stated in the trace header only
  File file(2, 3, 5, 4);
  file.binary16(3221, 0).trace16(0, 115, 3).trace16(1, 115, 3);
  EXPECT_THAT(read(file.bytes()).samples.shape, ElementsAre(2, 3));
  // extended textual headers
  File extended(1, 3, 5, 4);
  extended.binary16(3505, 2).sample(0, 2, 5.0F);
  extended.bytes().insert(3600, std::string(6400, '\x40'));
  EXPECT_EQ(read(extended.bytes()).samples.data[2], 5.0F);
}

TEST_F(Segy, RefusesWhatIsNoSegyFile) {
  EXPECT_THAT(refusal(""), HasSubstr("no SEG-Y file or truncated (0 bytes"));
  EXPECT_THAT(refusal(std::string(3599, 'x')), HasSubstr("3600"));
  EXPECT_THAT(refusal(std::string(10000, '\0')), HasSubstr("format code in bytes 3225-3226 is 0"));
  EXPECT_THAT(refusal(std::string(10000, 'x')), HasSubstr("no SEG-Y file"));
  for (const int format : {4, 6, 7, 9, 10, 12, 16}) {
    EXPECT_THAT(
        refusal(File(1, 2, format, 4).bytes()),
        AllOf(HasSubstr("format code " + std::to_string(format)), HasSubstr("5 IEEE float")));
  }
  EXPECT_THAT(message_of<FileError>([&] { (void)read_segy<float>(folder / "gone.sgy"); }),
              HasSubstr("No such file"));
}

TEST_F(Segy, RefusesSizesThatDoNotAgree) {
  const std::string whole = File(2, 3, 5, 4).bytes();
  EXPECT_THAT(refusal(whole.substr(0, whole.size() - 1)),
              AllOf(HasSubstr("truncated"), HasSubstr("1 traces of 3 samples and 251 bytes")));
  EXPECT_THAT(refusal(whole + "x"), HasSubstr("2 traces of 3 samples and 1 bytes"));
  EXPECT_THAT(refusal(whole.substr(0, 3600)), HasSubstr("no whole trace header"));
  EXPECT_THAT(refusal(whole.substr(0, 3839)), HasSubstr("no whole trace header"));
  EXPECT_THAT(refusal(whole.substr(0, 3840)), HasSubstr("0 traces"));
  EXPECT_THAT(refusal(File(2, 3, 5, 4).binary16(3221, 0).bytes()), HasSubstr("0 samples"));
  EXPECT_THAT(refusal(File(2, 3, 5, 4).binary16(3505, -1).bytes()),
              HasSubstr("variable number of extended"));
  EXPECT_THAT(refusal(File(2, 3, 5, 4).binary16(3505, 30000).bytes()),
              HasSubstr("its headers take 96003600"));
}

TEST_F(Segy, EveryPrefixIsRefused) {
  const std::string whole = File(2, 3, 5, 4).bytes();
  const std::size_t one_trace = 3600 + 252;
  for (std::size_t n = 0; n < whole.size(); n += n < 3550 ? 50 : 1) {
    put_file(folder / "a.sgy", whole.substr(0, n));
    const bool refused = throws_file_error([&] { (void)read_segy<float>(folder / "a.sgy"); });
    EXPECT_EQ(refused, n != one_trace) << n;  // a file with one complete trace is valid
  }
}

TEST_F(Segy, NoChangedByteOfTheHeadersDoesHarm) {
  const std::string whole = File(2, 3, 5, 4).bytes();
  for (std::size_t at = 3200; at < 3840; ++at) {
    if (at >= 3300 && at < 3500) continue;  // not assigned by revision 1
    for (const int value : {1, 128, 255}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      put_file(folder / "a.sgy", changed);
      try {
        const SegyFile<float> file = read_segy<float>(folder / "a.sgy");
        EXPECT_EQ(static_cast<std::size_t>(file.samples.shape[0]), file.headers.size()) << at;
        EXPECT_LE(file.samples.size(), 512) << at;
      } catch (const FileError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a.sgy"));
      }
    }
  }
}

template <class T>
Gather<T> make_gather(int record, double source_x, int receivers, int samples) {
  Gather<T> gather;
  gather.record = record;
  gather.source_x = source_x;
  gather.source_y = -12.25;
  gather.source_elevation = 103.5;
  gather.source_depth = 6.1;
  gather.interval = 0.002;
  gather.delay = -0.0125;
  for (int i = 0; i < receivers; ++i) {
    gather.receiver_x.push_back(500000.125 + 12.5 * i);
    gather.receiver_y.push_back(0.5 * i);
    gather.receiver_elevation.push_back(-3.3 * i);
  }
  gather.samples.shape = {receivers, samples};
  for (int i = 0; i < receivers * samples; ++i)
    gather.samples.data.push_back(static_cast<T>(std::sin(0.1 * i + record)));
  return gather;
}

template <class T>
class SegyRoundTrip : public ::testing::Test {};
TYPED_TEST_SUITE(SegyRoundTrip, Precisions);

TYPED_TEST(SegyRoundTrip, Gathers) {
  const Folder folder;
  const std::vector<Gather<TypeParam>> gathers = {make_gather<TypeParam>(7, 499987.5, 5, 11),
                                                  make_gather<TypeParam>(8, 500012.5, 3, 11),
                                                  make_gather<TypeParam>(8, 500037.5, 1, 11)};
  write_gathers(folder / "a.sgy", gathers);
  EXPECT_EQ(std::filesystem::file_size(folder / "a.sgy"), 3600U + 9U * (240U + 44U));
  const std::vector<Gather<TypeParam>> back = read_gathers<TypeParam>(folder / "a.sgy");
  ASSERT_EQ(back.size(), 3U);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(back[k].record, gathers[k].record);
    EXPECT_EQ(back[k].source_x, gathers[k].source_x);
    EXPECT_EQ(back[k].source_y, gathers[k].source_y);
    EXPECT_EQ(back[k].source_elevation, gathers[k].source_elevation);
    EXPECT_EQ(back[k].source_depth, gathers[k].source_depth);
    EXPECT_EQ(back[k].interval, gathers[k].interval);
    EXPECT_EQ(back[k].delay, gathers[k].delay);
    EXPECT_EQ(back[k].receiver_x, gathers[k].receiver_x);
    EXPECT_EQ(back[k].receiver_y, gathers[k].receiver_y);
    for (std::size_t i = 0; i < back[k].receiver_elevation.size(); ++i) {
      EXPECT_NEAR(back[k].receiver_elevation[i], gathers[k].receiver_elevation[i], 1e-12);
    }
    EXPECT_EQ(back[k].samples.shape, gathers[k].samples.shape);
    for (std::size_t i = 0; i < back[k].samples.data.size(); ++i) {
      EXPECT_EQ(back[k].samples.data[i],
                static_cast<TypeParam>(static_cast<float>(gathers[k].samples.data[i])));
    }
  }
  write_gathers(folder / "a.sgy", gathers,
                {std::string(70, 'a') + " bcd " + std::string(100, 'e'), "f"});
  EXPECT_THAT(read_segy<TypeParam>(folder / "a.sgy").text,
              HasSubstr("C 6 " + std::string(70, 'a') + " bcd  \nC 7   " + std::string(74, 'e') +
                        "\nC 8   " + std::string(26, 'e') + std::string(48, ' ') + "\nC 9 f "));
  write_gathers(folder / "a.sgy", gathers);
  const SegyFile<TypeParam> file = read_segy<TypeParam>(folder / "a.sgy");
  EXPECT_EQ(file.revision, 1);
  EXPECT_EQ(file.format, 5);
  EXPECT_FALSE(file.little_endian);
  EXPECT_THAT(file.text, AllOf(HasSubstr("C39 SEG Y REV1 "), HasSubstr("C40 END TEXTUAL HEADER ")));
  EXPECT_EQ(get_file(folder / "a.sgy").substr(0, 2), "\xc3\x40");
  EXPECT_EQ(file.headers[5].field_record, 8);
  EXPECT_EQ(file.headers[6].trace_number, 2);
}

TYPED_TEST(SegyRoundTrip, Models) {
  const Folder folder;
  struct Case {
    std::vector<std::int64_t> shape;
    std::vector<double> spacing;
    std::vector<double> origin;
  };
  for (const Case& c :
       {Case{{5, 7}, {12.5, 7.5}, {0.0, 0.0}}, Case{{5, 7}, {0.1, 0.005}, {-0.3, 12.25}},
        Case{{3, 4, 5}, {25.0, 12.5, 5.0}, {1000.0, 5000000.5, -30.0}},
        Case{{2, 2, 1}, {3e6, 3e6, 1.0}, {0.0, 0.0, 0.0}},
        Case{{2, 70000 / 2}, {1, 65.535}, {0, 30000}}}) {
    Array<TypeParam> values{c.shape,
                            std::vector<TypeParam>(static_cast<std::size_t>(shape_size(c.shape)))};
    std::iota(values.data.begin(), values.data.end(), static_cast<TypeParam>(1500));
    write_segy_model(folder / "a.sgy", values, c.spacing, c.origin);
    const SegyModel<TypeParam> back = read_segy_model<TypeParam>(folder / "a.sgy");
    EXPECT_EQ(back.values.shape, values.shape);
    EXPECT_EQ(back.values.data, values.data);
    for (std::size_t d = 0; d < c.shape.size(); ++d) {
      EXPECT_NEAR(back.spacing[d], c.spacing[d], 1e-9 * c.spacing[d]) << d;
      EXPECT_NEAR(back.origin[d], c.origin[d], 1e-9) << d;
    }
  }
}

TEST_F(Segy, ScalarKeepsCoordinatesExactOrAsFineAsTheyFit) {
  // (coordinate, scalar in the file, value read)
  struct Case {
    double value;
    int scalar;
    double back;
  };
  for (const Case& c : {Case{100, 1, 100}, Case{0.5, -10, 0.5}, Case{1.25, -100, 1.25},
                        Case{1.125, -1000, 1.125}, Case{1.0625, -10000, 1.0625},
                        Case{1.0 / 3, -10000, 0.3333}, Case{3000000.0 + 1.0 / 3, -100, 3000000.33},
                        Case{4e9, 10, 4e9}, Case{-2147483647.0, 1, -2147483647.0}}) {
    Gather<float> gather = make_gather<float>(1, c.value, 1, 1);
    gather.source_y = 0;
    gather.receiver_x = {0};
    write_gathers<float>(folder / "a.sgy", {gather});
    const std::string bytes = get_file(folder / "a.sgy");
    EXPECT_EQ(bytes.substr(3600 + 70, 2), bytes_of(static_cast<std::int16_t>(c.scalar), true))
        << c.value;
    EXPECT_EQ(read_gathers<float>(folder / "a.sgy")[0].source_x, c.back);
  }
}

TEST_F(Segy, GathersAreFoundWhereverTheirTracesStand) {
  File file(5, 1, 5, 4);
  const int records[] = {2, 1, 2, 1, 2};
  const int sources[] = {20, 10, 20, 10, 30};  // record 2 has two source positions
  for (int i = 0; i < 5; ++i) {
    file.trace32(i, 9, records[i])
        .trace32(i, 73, sources[i])
        .trace32(i, 81, 100 + i)
        .sample(i, 0, static_cast<float>(i));
  }
  put_file(folder / "a.sgy", file.bytes());
  const auto gathers = read_gathers<float>(folder / "a.sgy");
  ASSERT_EQ(gathers.size(), 3U);
  EXPECT_EQ(gathers[0].record, 2);
  EXPECT_THAT(gathers[0].samples.data, ElementsAre(0, 2));
  EXPECT_THAT(gathers[0].receiver_x, ElementsAre(100, 102));
  EXPECT_EQ(gathers[1].record, 1);
  EXPECT_THAT(gathers[1].samples.data, ElementsAre(1, 3));
  EXPECT_EQ(gathers[2].source_x, 30);
  EXPECT_THAT(gathers[2].samples.shape, ElementsAre(1, 1));
}

TEST_F(Segy, ModelsTakeTheirPlaceFromTheHeaders) {
  const auto model = [&](const File& file) {
    put_file(folder / "a.sgy", file.bytes());
    return read_segy_model<float>(folder / "a.sgy");
  };
  File file(3, 2, 5, 4);
  EXPECT_THAT(model(file).spacing, ElementsAre(0, 0));
  EXPECT_THAT(model(file).origin, ElementsAre(0, 0));
  file.binary16(3217, 7500);
  EXPECT_THAT(model(file).spacing, ElementsAre(0, 7.5));
  EXPECT_EQ(model(file).interval, 7500);
  for (int i = 0; i < 3; ++i) file.trace32(i, 73, 100 + 20 * i);  // source coordinates
  EXPECT_THAT(model(file).spacing, ElementsAre(20, 7.5));
  EXPECT_THAT(model(file).origin, ElementsAre(100, 0));
  for (int i = 0; i < 3; ++i) file.trace32(i, 181, 30 * i).trace32(i, 185, 40 * i);  // oblique line
  EXPECT_THAT(model(file).spacing, ElementsAre(50, 7.5));
  EXPECT_THAT(model(file).origin, ElementsAre(0, 0));
  for (int i = 0; i < 3; ++i) file.trace16(i, 109, 12);
  file.trace32(1, 181, 10);  // positions not equidistant, first sample at 12
  EXPECT_THAT(model(file).spacing, ElementsAre(0, 7.5));
  EXPECT_THAT(model(file).origin, ElementsAre(0, 12));
}

TEST_F(Segy, ModelsBecome3DOnlyWithAFullRectangle) {
  const auto shape = [&](const std::vector<std::pair<int, int>>& numbers) {
    File file(static_cast<int>(numbers.size()), 2, 5, 4);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      file.trace32(static_cast<int>(i), 189, numbers[i].first)
          .trace32(static_cast<int>(i), 193, numbers[i].second);
    }
    put_file(folder / "a.sgy", file.bytes());
    return read_segy_model<float>(folder / "a.sgy").values.shape;
  };
  EXPECT_THAT(shape({{1, 5}, {1, 6}, {1, 7}, {2, 5}, {2, 6}, {2, 7}}), ElementsAre(2, 3, 2));
  EXPECT_THAT(shape({{5, 1}, {6, 1}, {7, 1}, {5, 2}, {6, 2}, {7, 2}}), ElementsAre(2, 3, 2));
  EXPECT_THAT(shape({{1, 5}, {1, 6}, {1, 7}, {2, 5}, {2, 6}}), ElementsAre(5, 2));
  EXPECT_THAT(shape({{1, 5}, {1, 6}, {2, 5}, {2, 7}}), ElementsAre(4, 2));
  EXPECT_THAT(shape({{1, 5}, {1, 6}, {1, 7}, {1, 8}}), ElementsAre(4, 2));
  EXPECT_THAT(shape({{0, 0}, {0, 0}, {0, 0}, {0, 0}}), ElementsAre(4, 2));
  EXPECT_THAT(shape({{1, 1}, {2, 1}, {3, 1}}), ElementsAre(3, 2));
}

TEST_F(Segy, WritersRefuseWhatTheFormatCannotHold) {
  const auto path = folder / "a.sgy";
  const auto gathers = [&](const std::vector<Gather<float>>& list) {
    return message_of<InputError>([&] { write_gathers<float>(path, list); });
  };
  const Gather<float> good = make_gather<float>(1, 0, 2, 3);
  EXPECT_THAT(gathers({}), HasSubstr("no gather"));
  Gather<float> bad = good;
  bad.interval = 0.0000125;
  EXPECT_THAT(gathers({bad}),
              AllOf(HasSubstr("sample interval"), HasSubstr("whole multiples of 1e-06")));
  bad.interval = 0.1;
  EXPECT_THAT(gathers({bad}), HasSubstr("up to 0.065535): resample the traces"));
  bad.interval = -0.002;
  EXPECT_THAT(gathers({bad}), HasSubstr("sample interval"));
  EXPECT_THAT(gathers({good, bad}), HasSubstr("the same in one file"));
  bad = good;
  bad.receiver_y.pop_back();
  EXPECT_THAT(gathers({bad}), HasSubstr("one per trace"));
  bad = good;
  bad.samples.shape = {3, 2};
  EXPECT_THAT(gathers({bad}), HasSubstr("one per trace"));
  bad.samples.shape = {2, 4};
  EXPECT_THAT(gathers({bad}), HasSubstr("holds 6 values"));
  bad = good;
  bad.receiver_x[1] = std::nan("");
  EXPECT_THAT(gathers({bad}), HasSubstr("a coordinate is nan"));
  bad.receiver_x[1] = 1e14;
  EXPECT_THAT(gathers({bad}), HasSubstr("1e+14"));
  bad = make_gather<float>(1, 0, 1, 65536);
  EXPECT_THAT(gathers({bad}), AllOf(HasSubstr("65536 samples"), HasSubstr("65535): shorten")));

  const auto model = [&](const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                         const std::vector<double>& origin) {
    const Array<float> values{shape,
                              std::vector<float>(static_cast<std::size_t>(shape_size(shape)))};
    return message_of<InputError>([&] { write_segy_model(path, values, spacing, origin); });
  };
  EXPECT_THAT(model({4}, {1}, {0}), HasSubstr("1 axes"));
  EXPECT_THAT(model({2, 2}, {1}, {0, 0}), HasSubstr("1 spacings"));
  EXPECT_THAT(model({2, 2}, {1, 100}, {0, 0}), HasSubstr("spacing in depth is 100"));
  EXPECT_THAT(model({2, 2}, {1, 0.0123}, {0, 0}), HasSubstr("spacing in depth"));
  EXPECT_THAT(model({2, 2}, {1, 1}, {0, 1e9}), HasSubstr("depth of the first sample"));
  EXPECT_TRUE(folder.list().empty());
}

TEST_F(Segy, AgreesWithSegyioInPython) {
  if (!have_python("segyio, numpy")) GTEST_SKIP() << "no python3 with segyio at /usr/bin/python3";
  write_gathers<float>(folder / "ours.sgy", {make_gather<float>(7, 499987.5, 5, 11)});
  ASSERT_EQ(run_python(folder, R"(
import segyio, numpy as np
with segyio.open('ours.sgy', strict=False) as f:
    assert f.tracecount == 5 and len(f.samples) == 11
    assert f.bin[segyio.BinField.Interval] == 2000 and f.bin[segyio.BinField.Format] == 5
    h = f.header[3]
    s = -h[segyio.TraceField.SourceGroupScalar]
    assert h[segyio.TraceField.SourceX] / s == 499987.5
    assert h[segyio.TraceField.GroupX] / s == 500000.125 + 37.5
    assert np.allclose(f.trace.raw[:].ravel(), np.sin(0.1 * np.arange(55) + 7), atol=1e-6)
    assert bytes(f.text[0]).startswith(b'C 1 SHOT RECORDS'), f.text[0][:80]
spec = segyio.spec()
spec.samples = np.arange(4) * 4.0
spec.tracecount = 3
for name, fmt, endian in (('ibm', 1, 'big'), ('ieee', 5, 'big'), ('little', 5, 'little')):
    spec.format = fmt
    spec.endian = endian
    with segyio.create(name + '.sgy', spec) as f:
        f.bin.update(hdt=4000, hns=4, format=fmt)
        for i in range(3):
            f.header[i] = {segyio.su.fldr: 3, segyio.su.sx: 1000, segyio.su.gx: 2000 + i, segyio.su.scalco: -10}
            f.trace[i] = np.array([i, 0.5, -2.25, 1000], dtype='f4')
)"),
            0);
  for (const char* name : {"ibm.sgy", "ieee.sgy", "little.sgy"}) {
    const auto gathers = read_gathers<float>(folder / name);
    ASSERT_EQ(gathers.size(), 1U) << name;
    EXPECT_EQ(gathers[0].source_x, 100.0);
    EXPECT_EQ(gathers[0].interval, 0.004);
    EXPECT_THAT(gathers[0].receiver_x, ElementsAre(200.0, 200.1, 200.2));
    EXPECT_THAT(gathers[0].samples.data,
                ElementsAre(0, 0.5, -2.25, 1000, 1, 0.5, -2.25, 1000, 2, 0.5, -2.25, 1000))
        << name;
  }
}

TEST_F(Segy, ReadsTheOverthrustShotRecord) {
  const auto path = shared_data("shot_records_overthrust.segy");
  if (!path) GTEST_SKIP() << "no folder of shared data (MOHO_SHARED_DATA)";
  const auto gathers = read_gathers<float>(*path);
  ASSERT_EQ(gathers.size(), 1U);
  const Gather<float>& gather = gathers[0];
  EXPECT_EQ(gather.record, 1);
  EXPECT_THAT(gather.samples.shape, ElementsAre(120, 501));
  EXPECT_EQ(gather.interval, 0.002);  // stated in the trace headers only
  EXPECT_EQ(gather.source_x, 100.0);
  EXPECT_EQ(gather.source_elevation, 20.0);
  EXPECT_EQ(gather.receiver_x.front(), 50.0);
  EXPECT_EQ(gather.receiver_x.back(), 1150.0);
  EXPECT_EQ(gather.receiver_elevation[60], 50.0);
}

}  // namespace
}  // namespace moho::io
