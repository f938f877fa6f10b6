// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/point_tables.hpp>

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/text_columns.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

namespace moho::io {

namespace {

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

struct OtherName {
  const char* name;
  char axis;
  bool upwards;
};

// Alternative names of the axes x (north), y (east) and z (down) in header lines.
constexpr OtherName other_names[] = {
    {"north", 'x', false},   {"northing", 'x', false}, {"east", 'y', false},
    {"easting", 'y', false}, {"down", 'z', false},     {"depth", 'z', false},
    {"up", 'z', true},       {"height", 'z', true},    {"elevation", 'z', true}};

// Matches a header's name with alternative names of the wanted one. "northing" is x and "east_2" is
// y2. The upper face z1 of a prism is the negative of its larger height, "height2".
std::optional<TableColumn> as_other_name(std::string name, const std::string& wanted) {
  std::string face = wanted.substr(1);
  if (!face.empty() && face != "1" && face != "2") return std::nullopt;  // density
  name = in_lower_case(name);
  for (const OtherName& other : other_names) {
    if (other.axis != wanted[0]) continue;
    std::string number = face;
    if (other.upwards && !face.empty()) number = face == "1" ? "2" : "1";
    if (name == other.name + number || (!face.empty() && name == concat(other.name, '_', number))) {
      return TableColumn{0, other.upwards};
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_text_table(const std::string& what, const std::string& file) {
  const std::string kind = in_lower_case(std::filesystem::path(file).extension().string());
  if (kind == ".npy") return false;
  if (kind == ".csv" || kind == ".txt") return true;
  throw InputError(concat(what, ": '", kind,
                          "' is no kind of file that is read (allowed: .npy, .csv, .txt): "
                          "convert it"));
}

std::vector<TableColumn> find_columns(const std::string& what, const Table& table,
                                      const std::vector<std::string>& names,
                                      std::vector<std::string>& notes) {
  std::vector<TableColumn> columns;
  const auto wanted = static_cast<std::int64_t>(names.size());
  if (table.names.empty()) {
    if (table.columns != wanted) {
      throw InputError(concat(what, ": has ", text::counted(table.columns, "column"),
                              " and no header line (allowed: ", wanted, " columns, ",
                              list_of(names),
                              "): mend the file, or name its columns in the first line"));
    }
    for (std::int64_t c = 0; c < wanted; ++c) columns.push_back({c, false});
    return columns;
  }
  std::string taken;
  for (const std::string& name : names) {
    if (const std::int64_t exact = find_column(what, table, name); exact >= 0) {
      columns.push_back({exact, false});
      continue;
    }
    const auto is_other = [&](const std::string& n) { return as_other_name(n, name).has_value(); };
    const auto other = std::find_if(table.names.begin(), table.names.end(), is_other);
    if (other == table.names.end()) {
      throw InputError(concat(what, ": there is no column '", name, "' (needed: ", list_of(names),
                              ", where x may be named north or northing, y east or easting, z "
                              "depth, down, height, up or elevation; the header line names ",
                              list_of(table.names), "): name the columns in the first line"));
    }
    const std::int64_t position = other - table.names.begin();
    const auto second = std::find_if(other + 1, table.names.end(), is_other);
    if (second != table.names.end()) {
      throw InputError(concat(what, ": columns '", *other, "' and '", *second, "' both give '",
                              name, "' (allowed: one of them): rename one"));
    }
    const TableColumn column{position, as_other_name(*other, name)->upwards};
    taken += concat(taken.empty() ? "" : ", ", name, " = ", column.upwards ? "-" : "", *other);
    columns.push_back(column);
  }
  if (!taken.empty()) {
    notes.push_back(concat(what, ": ", taken, " (x points north, y east, z down)"));
  }
  return columns;
}

std::vector<double> read_rows(const std::string& option, const std::string& file,
                              const std::vector<std::string>& names,
                              std::vector<std::string>& notes) {
  const std::string what = option + " " + file;
  const auto width = static_cast<std::int64_t>(names.size());
  if (!is_text_table(what, file)) {
    Array<double> array = read_npy<double>(file);
    if (array.shape.size() != 2 || array.shape[1] != width) {
      throw InputError(concat(what, ": its shape is ", shape_string(array.shape), " (allowed: n x ",
                              width, ", rows of ", list_of(names), ")"));
    }
    return std::move(array.data);
  }
  std::vector<TextColumn> texts;  // such as names of stations, which are not used
  std::vector<std::string> numbers = names;
  for (const OtherName& other : other_names) {
    for (const char* face : {"", "1", "2", "_1", "_2"})
      numbers.push_back(other.name + std::string(face));
  }
  Table table = read_csv_with_texts(file, numbers, texts);
  const std::vector<TableColumn> columns = find_columns(what, table, names, notes);
  std::vector<std::int64_t> used;
  for (const TableColumn& column : columns) used.push_back(column.position);
  for (std::size_t k = 0; k < table.names.size(); ++k) {  // others are data of other options
    const auto is = [&](const auto& n) { return as_other_name(table.names[k], n).has_value(); };
    if (std::none_of(names.begin(), names.end(), is)) used.push_back(std::int64_t(k));
  }
  const std::string unused = other_columns(table, used);
  if (!unused.empty()) notes.push_back(what + ": columns that are not used: " + unused);
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(table.rows() * width));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (const TableColumn& column : columns) {
      const double value = table.at(row, column.position);
      rows.push_back(column.upwards ? 0.0 - value : value);
    }
  }
  return rows;
}

namespace {

template <class T>
Array<double> converted(const Array<T>& array) {
  Array<double> result{array.shape, {}};
  result.data.reserve(array.data.size());
  for (const T value : array.data) result.data.push_back(static_cast<double>(value));
  return result;
}

// The numbers of a .npy file. A mask may have booleans, 0 and 1, and integers.
Array<double> read_numbers(const std::string& option, const std::string& file, bool mask) {
  try {
    const NpyLayout layout = mask ? peek_npy(file) : NpyLayout();
    if (layout.booleans) return converted(read_npy<unsigned char>(file));
    if (layout.integers) return converted(read_npy<std::int64_t>(file));
    return read_npy<double>(file);
  } catch (const FileError& error) {
    throw FileError(concat(option, ": ", error.what()));
  }
}

}  // namespace

std::vector<double> read_values(const std::string& option, const std::string& file,
                                const std::vector<std::int64_t>& shape, const std::string& axes,
                                bool mask) {
  const std::string what = option + " " + file;
  const std::int64_t count = shape_size(shape);
  const auto refuse = [&](const std::string& found) {
    throw InputError(concat(what, ": ", found, " (allowed: ", axes, " = ", shape_string(shape),
                            ", or ", count,
                            " values in one row or column, x fastest): look at the "
                            "order of the axes"));
  };
  if (!is_text_table(what, file)) {
    Array<double> array = read_numbers(option, file, mask);
    if (array.shape != shape && !(array.shape.size() == 1 && array.shape[0] == count)) {
      refuse("its shape is " + shape_string(array.shape));
    }
    return std::move(array.data);
  }
  Table table = read_csv(file);
  const bool flat =
      (table.columns == 1 || table.rows() == 1) && table.columns * table.rows() == count;
  const bool plane = shape.size() == 2 && table.rows() == shape[0] && table.columns == shape[1];
  if (!flat && !plane) {
    refuse(concat("it has ", text::counted(table.rows(), "row"), " of ",
                  text::counted(table.columns, "number")));
  }
  return std::move(table.values);
}

}  // namespace moho::io
