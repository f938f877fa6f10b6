// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/detail/binary.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/writer.hpp>

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace moho::io {

namespace {

constexpr std::string_view end_of_header("\x0c\x0c\x04", 3);
constexpr int max_rsf_axes = 9;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

class RsfHeader {
 public:
  RsfHeader(const std::string& file, std::string_view text) : m_file(file) {
    std::size_t at = 0;
    while (at < text.size()) {
      if (is_space(text[at])) {
        ++at;
        continue;
      }
      const std::size_t start = at;
      while (at < text.size() && !is_space(text[at]) && text[at] != '=') ++at;
      if (at == text.size() || text[at] != '=')
        continue;  // a word without a value: program, host, date
      const std::string key(text.substr(start, at - start));
      ++at;
      if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        const std::size_t end = text.find(text[at], at + 1);
        if (end == std::string_view::npos) {
          throw FileError(concat("'", file, "' is no valid RSF header (the quote after ",
                                 printable(key), "= does not end)"));
        }
        m_values[key] = std::string(text.substr(at + 1, end - at - 1));
        at = end + 1;
      } else {
        const std::size_t begin = at;
        while (at < text.size() && !is_space(text[at])) ++at;
        m_values[key] = std::string(text.substr(begin, at - begin));
      }
    }
  }

  const std::string* find(const std::string& key) const {
    const auto found = m_values.find(key);
    return found == m_values.end() ? nullptr : &found->second;
  }

  std::string text(const std::string& key, const std::string& fallback) const {
    const std::string* value = find(key);
    return value ? *value : fallback;
  }

  std::int64_t integer(const std::string& key) const {
    const std::string& value = *find(key);
    std::int64_t result = 0;
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, result);
    if (parsed.ec != std::errc() || parsed.ptr != end || result < 1) {
      throw FileError(concat("'", m_file, "': ", key, "=", printable(value),
                             " (allowed: an integer of at least 1)"));
    }
    return result;
  }

  double number(const std::string& key) const {
    const std::string& value = *find(key);
    double result = 0.0;
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, result);
    if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(result)) {
      throw FileError(
          concat("'", m_file, "': ", key, "=", printable(value), " (allowed: a finite number)"));
    }
    return result;
  }

  static std::string printable(const std::string& value) {
    std::string result = value.substr(0, 60);
    for (char& c : result) {
      if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    }
    return value.size() > 60 ? result + "..." : result;
  }

 private:
  const std::string& m_file;
  std::map<std::string, std::string> m_values;
};

enum class Coding { native, xdr, ascii };

struct Format {
  Coding coding = Coding::native;
  int width = 4;
};

Format find_format(const std::string& file, const RsfHeader& header) {
  const std::string name = header.text("data_format", "native_float");
  for (const auto& [prefix, coding] : {std::pair<std::string, Coding>{"native_", Coding::native},
                                       {"xdr_", Coding::xdr},
                                       {"ascii_", Coding::ascii}}) {
    for (const int width : {4, 8}) {
      if (name != prefix + (width == 4 ? "float" : "double")) continue;
      if (header.find("esize") && coding != Coding::ascii) {
        const std::int64_t esize = header.integer("esize");
        if (esize != width) {
          throw FileError(concat("'", file, "': esize=", esize,
                                 " does not belong to data_format=", name, " (", width, " bytes)"));
        }
      }
      return {coding, width};
    }
  }
  throw FileError(
      concat("'", file, "': data_format=", RsfHeader::printable(name),
             " (allowed: native_, xdr_ or ascii_ with float or double): convert it, for example "
             "with sfdd type=float form=native"));
}

std::vector<RsfAxis> find_axes(const std::string& file, const RsfHeader& header) {
  if (!header.find("n1")) {
    throw FileError(
        concat("'", file, "' is no RSF header (it has no n1=): give the header, not the data"));
  }
  std::vector<RsfAxis> fastest_first;
  std::size_t kept = 1;
  for (int k = 1; k <= max_rsf_axes; ++k) {
    const std::string number = std::to_string(k);
    RsfAxis axis;
    if (header.find("n" + number)) {
      axis.extent = header.integer("n" + number);
      if (axis.extent > 1 || k == 2) kept = static_cast<std::size_t>(k);
    }
    axis.has_spacing = header.find("d" + number) != nullptr;
    if (axis.has_spacing) axis.spacing = header.number("d" + number);
    axis.has_origin = header.find("o" + number) != nullptr;
    if (axis.has_origin) axis.origin = header.number("o" + number);
    axis.label = header.text("label" + number, "");
    axis.unit = header.text("unit" + number, "");
    fastest_first.push_back(axis);
  }
  fastest_first.resize(kept);
  return {fastest_first.rbegin(), fastest_first.rend()};
}

template <class T>
void read_ascii(const InputFile& file, std::uint64_t offset, Array<T>& array, std::int64_t count) {
  // A number needs at least one digit and a separator.
  const std::uint64_t present = file.size() - offset;
  if (static_cast<std::uint64_t>(count) > present / 2 + 1) {
    throw FileError(concat("'", file.name(), "' is truncated (", count, " numbers are wanted and ",
                           present, " bytes of text are there)"));
  }
  std::string text(static_cast<std::size_t>(present), '\0');
  file.read(offset, text.data(), text.size());
  array.data = detail::allocate<T>(file.name(), count);
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip = [&] {
    while (at < end && is_space(*at)) ++at;
  };
  for (std::int64_t i = 0; i < count; ++i) {
    skip();
    if (at == end) {
      throw FileError(concat("'", file.name(), "' is truncated (", count,
                             " numbers are wanted and ", i, " are there)"));
    }
    double value = 0.0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc() || (parsed.ptr < end && !is_space(*parsed.ptr))) {
      const char* stop = at;
      while (stop < end && !is_space(*stop)) ++stop;
      throw FileError(concat("'", file.name(), "': value ", i, " is '",
                             RsfHeader::printable(std::string(at, stop)), "' (allowed: a number)"));
    }
    at = parsed.ptr;
    array.data[static_cast<std::size_t>(i)] = detail::convert<T>(file.name(), i, value);
  }
  skip();
  if (at != end) {
    throw FileError(concat("'", file.name(), "' is too long (", count,
                           " numbers are wanted and more text follows)"));
  }
}

template <class T>
void read_data(const InputFile& file, std::uint64_t offset, Format format, Array<T>& array) {
  const std::int64_t count = shape_size(array.shape);
  const std::uint64_t present = file.size() - offset;
  if (count < 0) {
    throw FileError(concat("'", file.name(), "': the header says ", shape_string(array.shape),
                           " values, more than any file holds"));
  }
  if (format.coding == Coding::ascii) return read_ascii(file, offset, array, count);
  const auto width = static_cast<std::uint64_t>(format.width);
  const auto wanted = static_cast<std::uint64_t>(count);
  if (wanted > present / width || wanted * width != present) {
    throw FileError(concat("'", file.name(), "' ",
                           wanted > present / width ? "is truncated" : "is too long",
                           " (the header says ", shape_string(array.shape), " values of ", width,
                           " bytes, and ", present,
                           " bytes of data are there): header and data do not "
                           "belong together"));
  }
  const std::endian order = format.coding == Coding::xdr ? std::endian::big : std::endian::native;
  array.data = detail::allocate<T>(file.name(), count);
  if (format.width == 4) {
    detail::read_values<float>(file, offset, count, order, array.data.data());
  } else {
    detail::read_values<double>(file, offset, count, order, array.data.data());
  }
}

}  // namespace

namespace {

/// Header of a file, and location of its data.
struct Opened {
  std::vector<RsfAxis> axes;
  std::string unit;
  Format format;
  std::filesystem::path data;  // empty: the data follow the header
  std::uint64_t offset = 0;    // byte offset of data that follow the header
  std::uint64_t header_bytes = 0;
};

Opened open_header(const InputFile& file, const std::filesystem::path& path) {
  constexpr std::uint64_t longest_header = std::uint64_t{16} << 20;
  const std::string start = file.text(longest_header);
  const std::size_t mark = start.find(end_of_header);
  const bool has_mark = mark != std::string::npos;
  if (!has_mark && file.size() > longest_header) {
    throw FileError(concat("'", file.name(), "' is no RSF header (", file.size(),
                           " bytes without an end of the header): give the header, not the data"));
  }
  const RsfHeader header(file.name(),
                         std::string_view(start).substr(0, has_mark ? mark : start.size()));
  Opened result;
  result.header_bytes = start.size();
  result.axes = find_axes(file.name(), header);
  result.unit = header.text("unit", "");
  result.format = find_format(file.name(), header);
  const std::string* in = header.find("in");
  if (!in || in->empty()) {
    throw FileError(
        concat("'", file.name(), "' has no in= (allowed: the path of the data, or \"stdin\")"));
  }
  if (*in == "stdin") {
    if (!has_mark) {
      throw FileError(concat("'", file.name(),
                             "' says in=\"stdin\" and has no data (the bytes 0c 0c 04 that end "
                             "the header are missing): the file is truncated"));
    }
    result.offset = mark + end_of_header.size();
    return result;
  }
  if (in->find('\0') != std::string::npos) {
    throw FileError(concat("'", file.name(), "' is no valid RSF header (its in= is no path)"));
  }
  const std::filesystem::path data_path(*in);
  result.data = data_path.is_absolute() ? data_path : path.parent_path() / data_path;
  return result;
}

}  // namespace

template <class T>
RsfData<T> read_rsf(const std::filesystem::path& path) {
  const InputFile file(path);
  Opened header = open_header(file, path);
  RsfData<T> result;
  result.axes = std::move(header.axes);
  result.unit = std::move(header.unit);
  for (const RsfAxis& axis : result.axes) result.values.shape.push_back(axis.extent);
  if (header.data.empty()) {
    read_data(file, header.offset, header.format, result.values);
  } else {
    read_data(InputFile(header.data), 0, header.format, result.values);
  }
  return result;
}

RsfLayout peek_rsf(const std::filesystem::path& path) {
  const InputFile file(path);
  const Opened header = open_header(file, path);
  RsfLayout layout;
  for (const RsfAxis& axis : header.axes) layout.shape.push_back(axis.extent);
  layout.data = header.data.empty() ? path : header.data;
  layout.text_bytes = header.header_bytes;
  if (header.format.coding == Coding::ascii) layout.text_bytes = InputFile(layout.data).size();
  return layout;
}

template <class T>
void write_rsf(const std::filesystem::path& path, const Array<T>& array,
               const std::vector<RsfAxis>& axes, const RsfWriteOptions& options) {
  check_shape("write_rsf", array);
  if (array.rank() > max_rsf_axes) {
    throw InputError(concat("write_rsf: the array has ", array.rank(), " axes (allowed: at most ",
                            max_rsf_axes, ")"));
  }
  if (!axes.empty() && axes.size() != array.shape.size()) {
    throw InputError(concat("write_rsf: ", axes.size(), " axes are described and the array has ",
                            array.shape.size()));
  }
  const auto quoted = [](const std::string& value) {
    for (const char c : value) {
      if (c == '"' || static_cast<unsigned char>(c) < 32) {
        throw InputError(
            concat("write_rsf: '", RsfHeader::printable(value),
                   "' cannot stand in an RSF header (no quotes and control characters there)"));
      }
    }
    return concat('"', value, '"');
  };
  const std::filesystem::path data_name = path.filename().string() + "@";
  std::string header = "moho\n";
  for (std::size_t k = 0; k < array.shape.size(); ++k) {
    const std::size_t at = array.shape.size() - 1 - k;
    const std::string number = std::to_string(k + 1);
    const RsfAxis axis = axes.empty() ? RsfAxis{} : axes[at];
    header += concat("\tn", number, "=", array.shape[at], " d", number, "=");
    append_number(header, axis.spacing);
    header += concat(" o", number, "=");
    append_number(header, axis.origin);
    if (!axis.label.empty()) header += concat(" label", number, "=", quoted(axis.label));
    if (!axis.unit.empty()) header += concat(" unit", number, "=", quoted(axis.unit));
    header += '\n';
  }
  header +=
      concat("\tdata_format=\"", options.encoding == RsfEncoding::xdr ? "xdr_" : "native_",
             std::is_same_v<T, float> ? "float" : "double", "\" esize=", sizeof(T),
             "\n\tin=", quoted(options.one_file ? std::string("stdin") : data_name.string()), "\n");

  const auto put = [&](AtomicFile& file) {
    if (options.encoding == RsfEncoding::native || std::endian::native == std::endian::big) {
      file.write(array.data.data(), array.data.size() * sizeof(T));
      return;
    }
    for (T value : array.data) {
      detail::swap_bytes(&value, 1, sizeof(T));
      file.write(&value, sizeof(T));
    }
  };
  AtomicFile file(path);
  if (options.one_file) {
    file.write(header);
    file.write(end_of_header);
    put(file);
  } else {
    file.write(header);
    AtomicFile data(path.parent_path() / data_name);
    put(data);
    data.commit();  // complete before the header that refers to it
  }
  file.commit();
}

#define MOHO_INSTANTIATE_RSF(T)                                             \
  template RsfData<T> read_rsf<T>(const std::filesystem::path&);            \
  template void write_rsf<T>(const std::filesystem::path&, const Array<T>&, \
                             const std::vector<RsfAxis>&, const RsfWriteOptions&);
MOHO_INSTANTIATE_RSF(float)
MOHO_INSTANTIATE_RSF(double)
#undef MOHO_INSTANTIATE_RSF

}  // namespace moho::io
