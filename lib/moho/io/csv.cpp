// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/csv.hpp>
#include <moho/io/text_columns.hpp>
#include <moho/io/text_file.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace moho::io {

namespace {

struct Field {
  std::string_view text;
  std::size_t column = 0;  // position of the first character in the line, from 1
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

/// Splits a line into fields.
///
/// The separators are commas or semicolons if the line contains one of them, otherwise white space.
void split(std::string_view line, std::vector<Field>& fields) {
  fields.clear();
  const char separator = line.find(',') != std::string_view::npos   ? ','
                         : line.find(';') != std::string_view::npos ? ';'
                                                                    : ' ';
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < line.size() && is_blank(line[at])) ++at;
  };
  skip();
  if (at == line.size()) return;
  while (true) {
    const std::size_t start = at;
    while (at < line.size() && line[at] != separator && (separator != ' ' || !is_blank(line[at])))
      ++at;
    std::size_t end = at;
    while (end > start && is_blank(line[end - 1])) --end;
    fields.push_back({line.substr(start, end - start), start + 1});
    if (separator == ' ') {
      skip();
      if (at == line.size()) return;
    } else {
      if (at == line.size()) return;
      ++at;
      skip();
    }
  }
}

bool parse(std::string_view text, double& value) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && !text.empty();
}

std::string printable(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = '?';
  }
  return text.size() > 40 ? result + "..." : result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Fields of the columns that may contain text.
struct TextFields {
  const std::vector<std::string>& numbers;  // names of columns that hold numbers only
  std::vector<bool> allowed;                // for each column: may it contain text?
  std::vector<bool> found;  // for each column: does it contain a field that is not a number?
  std::vector<std::vector<std::string>> fields;  // fields of the columns that may contain text
};

/// Returns the error of a file without rows. `header`: the line read as names of columns, or empty.
FileError without_rows(const std::filesystem::path& path, std::string_view header) {
  while (!header.empty() && is_blank(header.front())) header.remove_prefix(1);
  while (!header.empty() && is_blank(header.back())) header.remove_suffix(1);
  return FileError(concat("'", path.string(), "' has no rows",
                          header.empty()
                              ? ""
                              : concat(": no line holds numbers, and '", printable(header),
                                       "' was read as names of columns"),
                          " (allowed: one line of numbers or more, such as 1.5 or -2e3)"));
}

/// Reads a table. Without `texts` every field after the header must be a number.
Table read_table(const std::filesystem::path& path, const CsvOptions& options, TextFields* texts) {
  const std::string content = read_text(path);
  std::string_view rest = content;
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);

  Table table;
  table.columns = options.columns;
  bool first = true;
  std::string_view header;
  std::vector<Field> fields;
  for (std::int64_t line_number = 1; !rest.empty(); ++line_number) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    line = line.substr(0, line.find('#'));
    split(line, fields);
    if (fields.empty()) continue;
    double value = 0.0;
    bool is_header = first && !fields[0].text.empty();
    for (const Field& field : fields) is_header = is_header && !parse(field.text, value);
    first = false;
    if (table.columns == 0) table.columns = static_cast<std::int64_t>(fields.size());
    if (static_cast<std::int64_t>(fields.size()) != table.columns) {
      const Field& odd = static_cast<std::int64_t>(fields.size()) > table.columns
                             ? fields[static_cast<std::size_t>(table.columns)]
                             : fields.back();
      throw FileError(concat(path.string(), ':', line_number, ':', odd.column, ": ",
                             text::counted(fields.size(), "column"), " in '", printable(line),
                             "' (", table.columns, " expected)"));
    }
    if (is_header) {
      header = line;
      for (const Field& field : fields) {
        std::string_view name = field.text;
        if (name.size() > 1 && name.front() == '"' && name.back() == '"')
          name = name.substr(1, name.size() - 2);
        table.names.emplace_back(name);
        if (texts != nullptr) {
          const auto& numbers = texts->numbers;
          texts->allowed.push_back(std::find(numbers.begin(), numbers.end(), lower_case(name)) ==
                                   numbers.end());
        }
      }
      if (texts != nullptr) {
        texts->found.assign(fields.size(), false);
        texts->fields.resize(fields.size());
      }
      continue;
    }
    for (std::size_t column = 0; column < fields.size(); ++column) {
      const Field& field = fields[column];
      const bool number = parse(field.text, value);
      if (texts != nullptr && !table.names.empty() && texts->allowed[column]) {
        texts->fields[column].emplace_back(field.text);
        if (!number || !std::isfinite(value)) {
          texts->found[column] = true;
          table.values.push_back(std::numeric_limits<double>::quiet_NaN());
          continue;
        }
      }
      if (!number) {
        throw FileError(concat(path.string(), ':', line_number, ':', field.column, ": '",
                               printable(field.text), "' is no number"));
      }
      if (!options.allow_nonfinite && !std::isfinite(value)) {
        throw FileError(concat(path.string(), ':', line_number, ':', field.column, ": '",
                               printable(field.text),
                               "' is not allowed here (allowed: finite numbers)"));
      }
      table.values.push_back(value);
    }
  }
  if (table.values.empty() && !options.allow_empty) throw without_rows(path, header);
  return table;
}

}  // namespace

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  return read_table(path, options, nullptr);
}

Table read_csv_with_texts(const std::filesystem::path& path,
                          const std::vector<std::string>& numbers, std::vector<TextColumn>& texts) {
  TextFields read{numbers, {}, {}, {}};
  Table table = read_table(path, {}, &read);
  texts.clear();
  for (std::size_t column = 0; column < read.found.size(); ++column) {
    if (read.found[column]) texts.push_back({table.names[column], std::move(read.fields[column])});
  }
  return table;
}

std::int64_t find_column(const std::string& what, const Table& table, const std::string& name) {
  std::int64_t found = -1;
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    if (lower_case(table.names[k]) != name) continue;
    if (found >= 0) {
      throw InputError(concat(what, ": the column '", printable(name),
                              "' occurs twice (allowed: once): rename or remove one"));
    }
    found = static_cast<std::int64_t>(k);
  }
  return found;
}

std::string other_columns(const Table& table, const std::vector<std::int64_t>& positions) {
  std::string list;
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    const auto position = static_cast<std::int64_t>(k);
    if (std::find(positions.begin(), positions.end(), position) != positions.end()) continue;
    list += concat(list.empty() ? "" : ", ", printable(table.names[k]));
  }
  return list;
}

std::string header_of(const std::vector<TextColumn>& texts,
                      const std::vector<std::string>& others) {
  std::string header;
  for (const TextColumn& column : texts) {
    const bool taken =
        column.name.empty() || std::find(others.begin(), others.end(), column.name) != others.end();
    header += ',' + column.name + (taken ? "_name" : "");
  }
  return header;
}

std::string fields_of(const std::vector<TextColumn>& texts, std::size_t row) {
  std::string fields;
  for (const TextColumn& column : texts) fields += ',' + column.fields[row];
  return fields;
}

void write_csv(const std::filesystem::path& path, const Table& table) {
  const auto columns = static_cast<std::size_t>(table.columns);
  if (table.columns < 1 || table.values.size() % columns != 0 ||
      (!table.names.empty() && table.names.size() != columns)) {
    throw InputError(concat("write_csv: ", table.columns, " columns, ", table.names.size(),
                            " names and ", table.values.size(), " values do not agree"));
  }
  std::string text;
  for (std::size_t k = 0; k < table.names.size(); ++k) {
    double value = 0.0;
    if (table.names[k].empty() || table.names[k].find_first_of(",;#\"\r\n") != std::string::npos ||
        parse(table.names[k], value)) {
      throw InputError(concat("write_csv: '", printable(table.names[k]),
                              "' is no column name (no number, and none of , ; # \" in it)"));
    }
    text += (k ? "," : "") + table.names[k];
  }
  if (!table.names.empty()) text += '\n';
  AtomicFile file(path);
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    append_number(text, table.values[i]);
    text += (i + 1) % columns == 0 ? '\n' : ',';
    if (text.size() > 65536) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

void write_rows(const std::filesystem::path& path, const std::vector<std::string>& names,
                std::size_t rows, const std::function<double(std::size_t, std::size_t)>& value) {
  std::string text;
  for (std::size_t c = 0; c < names.size(); ++c) text += (c > 0 ? "," : "") + names[c];
  text += '\n';
  AtomicFile file(path);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (c > 0) text += ',';
      append_number(text, value(row, c));
    }
    text += '\n';
    if (text.size() > (std::size_t(1) << 20)) {
      file.write(text);
      text.clear();
    }
  }
  file.write(text);
  file.commit();
}

}  // namespace moho::io
