// SPDX-License-Identifier: BSD-3-Clause
#include "app/acquisition.hpp"

#include "app/named_points.hpp"

#include <moho/io/npy.hpp>
#include <moho/io/text_file.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace moho::examples {

namespace {

io::Table read_npy_table(const std::string& path) {
  io::Array<double> array = io::read_npy<double>(path);
  if (array.rank() > 2) {
    throw FileError(concat(path, ": its shape is ", io::shape_string(array.shape),
                           " (allowed: n or n x columns)"));
  }
  for (std::size_t i = 0; i < array.data.size(); ++i) {
    if (std::isfinite(array.data[i])) continue;
    throw FileError(
        concat(path, ": value ", i, " is ", array.data[i], " (allowed: finite numbers)"));
  }
  io::Table table;
  table.columns = array.rank() == 2 ? array.shape[1] : 1;
  table.values = std::move(array.data);
  return table;
}

bool is_npy(const std::string& path) { return std::filesystem::path(path).extension() == ".npy"; }

}  // namespace

io::Table read_table(const std::string& path) {
  return is_npy(path) ? read_npy_table(path) : io::read_csv(path);
}

template <int Dim>
Points<Dim> read_points(const std::string& what, const std::string& text) {
  std::vector<io::TextColumn> texts;
  return read_named_points<Dim>(what, text, texts);
}

template <int Dim>
Points<Dim> read_named_points(const std::string& what, const std::string& text,
                              std::vector<io::TextColumn>& texts) {
  texts.clear();
  const std::string kind = std::filesystem::path(text).extension().string();
  if (kind != ".csv" && kind != ".txt" && kind != ".npy") {
    const bool a_name = kind.size() > 1 && text.find_first_of(",;:") == std::string::npos &&
                        std::isalpha(static_cast<unsigned char>(kind[1])) != 0;
    if (a_name) {
      throw InputError(concat(what, " ", text, ": '", kind,
                              "' is no kind of table (allowed: .csv, .txt, .npy, or points ",
                              Dim == 2 ? "x,z" : "x,y,z", "): convert it"));
    }
    return parse_points<Dim>(what, text);
  }
  io::Table table;
  try {
    std::vector<std::string> axes;
    for (int d = 0; d < Dim; ++d) axes.emplace_back(axis_name<Dim>(d));
    table = is_npy(text) ? read_npy_table(text) : io::read_csv_with_texts(text, axes, texts);
  } catch (const FileError& error) {
    throw FileError(what.empty() ? error.what() : concat(what, ": ", error.what()));
  }
  const char* const names = Dim == 2 ? "x,z" : "x,y,z";
  Index<Dim> columns{};
  for (int d = 0; d < Dim; ++d) {
    columns[d] = d;
    if (table.names.empty()) continue;
    const auto name =
        std::find_if(table.names.begin(), table.names.end(), [&](const std::string& one) {
          return one.size() == 1 &&
                 std::tolower(static_cast<unsigned char>(one[0])) == axis_name<Dim>(d)[0];
        });
    if (name == table.names.end()) {
      throw InputError(concat(what, " ", text, ": there is no column '", axis_name<Dim>(d),
                              "' (allowed for a ", Dim, "D model: ", names,
                              "): name the columns in the first line"));
    }
    columns[d] = name - table.names.begin();
  }
  if (table.names.empty() && table.columns != Dim) {
    throw InputError(concat(what, " ", text, ": it has ", table.columns,
                            table.columns == 1 ? " column" : " columns", " without names",
                            " (allowed for a ", Dim, "D model: ", names, ")"));
  }
  Points<Dim> points(static_cast<std::size_t>(table.rows()));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    for (int d = 0; d < Dim; ++d) {
      points[static_cast<std::size_t>(row)][d] = table.at(row, columns[d]);
    }
  }
  return points;
}

std::string text_header(const std::vector<io::TextColumn>& texts,
                        const std::vector<std::string>& others) {
  std::string header;
  for (const io::TextColumn& column : texts) {
    const bool taken =
        column.name.empty() || std::find(others.begin(), others.end(), column.name) != others.end();
    header += ',' + column.name + (taken ? "_name" : "");
  }
  return header;
}

std::string text_fields(const std::vector<io::TextColumn>& texts, std::size_t row) {
  std::string fields;
  for (const io::TextColumn& column : texts) fields += ',' + column.fields[row];
  return fields;
}

template <int Dim>
std::size_t count_points(const std::vector<std::string>& texts) {
  std::size_t count = 0;
  for (const std::string& text : texts) {
    try {
      count += read_points<Dim>("", text).size();
    } catch (const Error&) {
      ++count;
    }
  }
  return std::max<std::size_t>(count, 1);
}

template <int Dim>
std::vector<wave::Shot<Dim>> read_shots(const std::string& path) {
  std::string text;
  try {
    text = io::read_text(path);
  } catch (const FileError& error) {
    throw FileError(concat("--shots: ", error.what()));
  }
  return parse_shots<Dim>(text, path);
}

std::vector<double> read_wavelet(const wave::WaveletText& text, double dt) {
  if (text.kind != wave::WaveletText::Kind::file) return wave::make_wavelet(text, dt);
  io::Table table;
  try {
    table = read_table(text.path);
  } catch (const FileError& error) {
    throw FileError(concat("--wavelet: ", error.what()));
  }
  if (table.columns > 2) {
    throw FileError(concat("--wavelet: ", text.path, ": it has ", table.columns,
                           " columns (allowed: time and amplitude, or amplitude alone)"));
  }
  std::vector<double> samples;
  double interval = text.interval;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    samples.push_back(table.at(row, table.columns - 1));
  }
  if (table.columns == 1) {
    if (interval == 0.0) {
      throw InputError(concat("wavelet ", text.path,
                              ": it has no times (allowed: two columns, time and amplitude, or the "
                              "interval behind the path): write file:",
                              text.path, ":0.001 for an interval of 1 ms"));
    }
    return wave::resample(samples, interval, dt);
  }
  if (interval != 0.0) {
    throw InputError(concat("wavelet ", text.path, ": its interval is given, ", interval,
                            " s, and it has times (allowed: one of them): leave out the interval"));
  }
  if (table.rows() < 2) {
    throw FileError(concat(text.path, ": there is one time (allowed: 2 or more)"));
  }
  const double end = table.at(table.rows() - 1, 0);
  interval = end / static_cast<double>(table.rows() - 1);
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    const double expected = static_cast<double>(row) * interval;
    if (interval > 0.0 && std::fabs(table.at(row, 0) - expected) <= 1e-3 * interval) continue;
    throw FileError(
        concat(text.path, ": time ", row, " is ", table.at(row, 0),
               " s (allowed: equal intervals from 0; up to the last time they would be ", interval,
               " s): resample the wavelet, or shift it to begin at 0"));
  }
  return wave::resample(samples, interval, dt);
}

double peak_frequency(const std::string& wavelet) {
  const wave::WaveletText text = wave::parse_wavelet(wavelet);
  if (text.kind == wave::WaveletText::Kind::ricker) return text.frequency;
  constexpr double dt = 1e-3;
  const double of_ricker = wave::highest_frequency(wave::ricker(10.0, dt), dt) / 10.0;
  return wave::highest_frequency(read_wavelet(text, dt), dt) / of_ricker;
}

template Points<2> read_points<2>(const std::string&, const std::string&);
template Points<3> read_points<3>(const std::string&, const std::string&);
template Points<2> read_named_points<2>(const std::string&, const std::string&,
                                        std::vector<io::TextColumn>&);
template Points<3> read_named_points<3>(const std::string&, const std::string&,
                                        std::vector<io::TextColumn>&);
template std::size_t count_points<2>(const std::vector<std::string>&);
template std::size_t count_points<3>(const std::vector<std::string>&);
template std::vector<wave::Shot<2>> read_shots<2>(const std::string&);
template std::vector<wave::Shot<3>> read_shots<3>(const std::string&);

}  // namespace moho::examples
