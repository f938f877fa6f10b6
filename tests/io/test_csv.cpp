// SPDX-License-Identifier: BSD-3-Clause
#include "files.hpp"

#include <moho/io/csv.hpp>
#include <moho/io/text_columns.hpp>

#include <cmath>

namespace moho::io {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Csv : public ::testing::Test {
 protected:
  Table read(const std::string& text, const CsvOptions& options = {}) {
    put_file(folder / "a.csv", text);
    return read_csv(folder / "a.csv", options);
  }

  std::string refusal(const std::string& text, const CsvOptions& options = {}) {
    const std::string message = message_of<FileError>([&] { (void)read(text, options); });
    const std::string path = (folder / "a.csv").string();
    EXPECT_THAT(message, HasSubstr(path));
    const std::size_t at = message.find(path);
    return at == 0 ? message.substr(path.size()) : message;
  }

  Folder folder;
};

TEST_F(Csv, ReadsCommasSemicolonsAndSpaces) {
  for (const char* text : {"1,2.5\n-3,4e2\n", "1;2.5\n-3;4e2", "1 2.5\n-3 4e2\n",
                           "\t1  2.5 \r\n -3\t4e2\r\n", " 1 , 2.5\n\n-3 ,+4e2  \n"}) {
    const Table table = read(text);
    EXPECT_EQ(table.columns, 2);
    EXPECT_EQ(table.rows(), 2);
    EXPECT_THAT(table.values, ElementsAre(1, 2.5, -3, 400)) << text;
    EXPECT_THAT(table.names, IsEmpty());
    EXPECT_EQ(table.at(1, 0), -3);
  }
}

TEST_F(Csv, ReadsHeaderAndComments) {
  const Table table =
      read("\xef\xbb\xbf# receivers\nx, \"depth z\"\n1,2 # the first\n  # a line\n3,4");
  EXPECT_THAT(table.names, ElementsAre("x", "depth z"));
  EXPECT_THAT(table.values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(read("x z\n1 2").names, ElementsAre("x", "z"));
}

TEST_F(Csv, ErrorsSayWhere) {
  EXPECT_EQ(refusal("x,z\n1,2\n3, abc\n"), ":3:4: 'abc' is no number");
  EXPECT_EQ(refusal("1O,2\n"), ":1:1: '1O' is no number");
  EXPECT_EQ(refusal("1,2\nx,z\n"), ":2:1: 'x' is no number");
  EXPECT_EQ(refusal("1,,3\n"), ":1:3: '' is no number");
  EXPECT_EQ(refusal("1,2,\n"), ":1:5: '' is no number");
  EXPECT_EQ(refusal("1 2\n3 4x\n"), ":2:3: '4x' is no number");
  EXPECT_EQ(refusal("1,0x10\n"), ":1:3: '0x10' is no number");
  EXPECT_EQ(refusal("1,1e999\n"), ":1:3: '1e999' is no number");
  EXPECT_EQ(refusal("1,+-2\n"), ":1:3: '+-2' is no number");
  EXPECT_EQ(refusal("1,2\n3\n"), ":2:1: 1 column in '3' (2 expected)");
  EXPECT_EQ(refusal("1,2\n3,4,5\n"), ":2:5: 3 columns in '3,4,5' (2 expected)");
  EXPECT_EQ(refusal("1 2 3\n", {.columns = 2}), ":1:5: 3 columns in '1 2 3' (2 expected)");
  EXPECT_EQ(refusal("x,y,z\n1,2\n"), ":2:3: 2 columns in '1,2' (3 expected)");
  EXPECT_EQ(refusal("1,nan\n"), ":1:3: 'nan' is not allowed here (allowed: finite numbers)");
  EXPECT_EQ(refusal("1,2\n-inf,2\n"), ":2:1: '-inf' is not allowed here (allowed: finite numbers)");
  EXPECT_THAT(refusal("1," + std::string(100, 'x')),
              HasSubstr(std::string(40, 'x') + "...' is no number"));
  EXPECT_THAT(refusal(std::string("1,\x01\0\n", 5)), HasSubstr("'\?\?' is no number"));
  EXPECT_THAT(refusal(""), HasSubstr("has no rows (allowed: one line of numbers or more"));
  EXPECT_THAT(refusal("x,z\n# none\n"), HasSubstr("has no rows: no line holds numbers"));
  EXPECT_THAT(refusal("1d0,2d0,3d0\r\n"),
              HasSubstr("has no rows: no line holds numbers, and '1d0,2d0,3d0' was read as names"));
  EXPECT_THAT(refusal("\"0\",\"0\",\"0\"\n"), HasSubstr("'\"0\",\"0\",\"0\"' was read as names"));
  EXPECT_THAT(message_of<FileError>([&] { (void)read_csv(folder / "gone.csv"); }),
              HasSubstr("No such file"));
}

TEST_F(Csv, AcceptsWhatTheCallerAllows) {
  const Table table = read("nan,inf\n", {.allow_nonfinite = true});
  EXPECT_TRUE(std::isnan(table.at(0, 0)));
  EXPECT_TRUE(std::isinf(table.at(0, 1)));
  EXPECT_EQ(read("x,z\n", {.allow_empty = true}).rows(), 0);
  EXPECT_EQ(read("", {.allow_empty = true}).rows(), 0);
}

TEST_F(Csv, RoundTrip) {
  const Table table{
      {"ray", "x [m]", "z"}, 3, {1, 0.1, -1e-300, 2, 1.0 / 3.0, 123456789012345680.0}};
  write_csv(folder / "b.csv", table);
  const Table back = read_csv(folder / "b.csv");
  EXPECT_EQ(back.names, table.names);
  EXPECT_EQ(back.columns, 3);
  EXPECT_EQ(back.values, table.values);
  Table large{{}, 2, {}};
  for (int i = 0; i < 100000; ++i) large.values.push_back(std::sqrt(i));
  write_csv(folder / "b.csv", large);
  EXPECT_EQ(read_csv(folder / "b.csv").values, large.values);
  write_csv(folder / "b.csv", {{"a", "b"}, 2, {1, 2}});
  EXPECT_EQ(get_file(folder / "b.csv"), "a,b\n1,2\n");
}

TEST_F(Csv, RowsOfAFunction) {
  write_rows(folder / "b.csv", {"a", "b"}, 3, [](std::size_t row, std::size_t column) {
    return row == 2 ? std::nan("") : static_cast<double>(row) + 0.5 * static_cast<double>(column);
  });
  EXPECT_EQ(get_file(folder / "b.csv"), "a,b\n0,0.5\n1,1.5\nnan,nan\n");
  write_rows(folder / "b.csv", {"a"}, 300000,
             [](std::size_t row, std::size_t) { return std::sqrt(static_cast<double>(row)); });
  const Table large = read_csv(folder / "b.csv");
  ASSERT_EQ(large.rows(), 300000);
  EXPECT_EQ(large.at(299999, 0), std::sqrt(299999.0));
}

TEST_F(Csv, WriteRefusesTablesThatDoNotAgree) {
  const auto refused = [&](const Table& table) {
    return message_of<InputError>([&] { write_csv(folder / "b.csv", table); });
  };
  EXPECT_THAT(refused({{}, 0, {}}), HasSubstr("0 columns"));
  EXPECT_THAT(refused({{}, 2, {1, 2, 3}}), HasSubstr("3 values"));
  EXPECT_THAT(refused({{"a"}, 2, {1, 2}}), HasSubstr("1 names"));
  for (const char* name : {"", "a,b", "a#b", "a\nb", "\"a\"", "12"}) {
    EXPECT_THAT(refused({{name}, 1, {1}}), HasSubstr("no column name")) << name;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "b.csv"));
}

TEST_F(Csv, TextColumns) {
  std::vector<TextColumn> texts;
  const auto read_texts = [&](const std::string& text) {
    put_file(folder / "a.csv", text);
    return read_csv_with_texts(folder / "a.csv", {"x", "z"}, texts);
  };
  const Table table = read_texts("Name,X,number,z,kind\n 07 A ,1,5,2,\nnan,3,6,4,7\n");
  EXPECT_THAT(table.names, ElementsAre("Name", "X", "number", "z", "kind"));
  ASSERT_EQ(table.rows(), 2);
  EXPECT_EQ(table.at(1, 1), 3.0);
  EXPECT_EQ(table.at(1, 2), 6.0);
  EXPECT_TRUE(std::isnan(table.at(0, 0)));
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].name, "Name");
  EXPECT_THAT(texts[0].fields, ElementsAre("07 A", "nan"));
  EXPECT_EQ(texts[1].name, "kind");
  EXPECT_THAT(texts[1].fields, ElementsAre("", "7"));

  EXPECT_EQ(read_texts("x z\n1 2\n").rows(), 1);
  EXPECT_THAT(texts, IsEmpty());
  const auto refused = [&](const std::string& text) {
    return message_of<FileError>([&] { (void)read_texts(text); });
  };
  EXPECT_THAT(refused("name,x,z\nA,4O,1\n"), HasSubstr("a.csv:2:3: '4O' is no number"));
  EXPECT_THAT(refused("name,x,z\nA,nan,1\n"), HasSubstr("a.csv:2:3: 'nan' is not allowed"));
  EXPECT_THAT(refused("name,x,z\nA,1\n"), HasSubstr("3 expected"));
  EXPECT_THAT(refused("A,1,2\n"), HasSubstr("a.csv:1:1: 'A' is no number"));
}

TEST_F(Csv, NoPrefixDoesHarm) {
  const std::string whole = "# c\nx;z\n1.5e3;2\n-3;nan\n\"q\";4;5\n";
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    try {
      EXPECT_EQ(read(whole.substr(0, n)).values.size() % 2, 0U) << n;
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.csv")) << n;
    }
  }
}

}  // namespace
}  // namespace moho::io
