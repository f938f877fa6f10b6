// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/detail/binary.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>

#include <bit>
#include <cctype>
#include <limits>
#include <string>
#include <string_view>

namespace moho::io {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr std::size_t max_npy_axes = 32;

struct NpyHeader {
  std::string descr;
  bool fortran = false;
  std::vector<std::int64_t> shape;
  std::uint64_t data_offset = 0;
};

/// Parser of the Python dictionary in the header: {'descr': '<f4', 'fortran_order': False, 'shape':
/// (2, 3), }
class Parser {
 public:
  Parser(const std::string& file, std::string_view text) : m_file(file), m_text(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !has_descr) {
        if (peek() == '[') refuse("a structured data type (records with named fields)");
        header.descr = quoted();
        has_descr = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = tuple();
        has_shape = true;
      } else {
        damaged(concat("has an unexpected key '", key, "'"));
      }
      if (!accept(',') && peek() != '}') damaged(concat("is not a dictionary at character ", m_at));
    }
    if (peek() != '\0') damaged("goes on after the dictionary");
    if (!has_descr || !has_order || !has_shape) {
      damaged("lacks one of 'descr', 'fortran_order' and 'shape'");
    }
    return header;
  }

  [[noreturn]] void refuse(const std::string& found) const {
    throw FileError(
        concat("'", m_file, "' holds ", found,
               " (allowed: a plain array of float32 or float64): convert it with NumPy, for "
               "example numpy.save(file, array.astype('float64'))"));
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    throw FileError(
        concat("'", m_file, "' is no valid .npy file (its header ", why, "): the file is damaged"));
  }

  /// Returns the next character that is not a space, or 0 at the end.
  char peek() {
    while (m_at < m_text.size() &&
           (m_text[m_at] == ' ' || m_text[m_at] == '\n' || m_text[m_at] == '\t')) {
      ++m_at;
    }
    return m_at < m_text.size() ? m_text[m_at] : '\0';
  }

  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++m_at;
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted))
      damaged(concat("is not a dictionary at character ", m_at, ", '", wanted, "' expected"));
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') damaged(concat("has no string at character ", m_at));
    const std::size_t end = m_text.find(quote, m_at + 1);
    if (end == std::string_view::npos) damaged("has a string that does not end");
    const std::string value(m_text.substr(m_at + 1, end - m_at - 1));
    for (const char c : value) {
      if (!std::isprint(static_cast<unsigned char>(c))) damaged("has a string with odd characters");
    }
    m_at = end + 1;
    return value;
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (m_text.substr(m_at, word.size()) == word) {
        m_at += word.size();
        return value;
      }
    }
    damaged("has a 'fortran_order' that is neither True nor False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      const bool negative = accept('-');
      if (!std::isdigit(static_cast<unsigned char>(peek())))
        damaged("has a 'shape' that is no tuple of integers");
      std::int64_t value = 0;
      while (m_at < m_text.size() && std::isdigit(static_cast<unsigned char>(m_text[m_at]))) {
        if (value > (std::int64_t{1} << 58))
          damaged("has a 'shape' with an extent that no file can have");
        value = 10 * value + (m_text[m_at++] - '0');
      }
      if (m_at < m_text.size() && m_text[m_at] == 'L') ++m_at;  // a long integer of Python 2
      values.push_back(negative ? -value : value);
      if (values.size() > max_npy_axes)
        damaged(concat("has a 'shape' with more than ", max_npy_axes, " axes"));
      if (!accept(',') && peek() != ')') damaged("has a 'shape' that is no tuple of integers");
    }
    return values;
  }

  const std::string& m_file;
  std::string_view m_text;
  std::size_t m_at = 0;
};

NpyHeader read_header(const InputFile& file) {
  unsigned char start[12] = {};
  const std::size_t known = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 12));
  file.read(0, start, known);
  if (known < 10 || std::string_view(reinterpret_cast<const char*>(start), 6) != magic) {
    throw FileError(concat("'", file.name(),
                           "' is no .npy file (it does not begin with the mark of one): "
                           "save the array with numpy.save"));
  }
  const int major = start[6];
  const int minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    throw FileError(concat("'", file.name(), "' is a .npy file of version ", major, '.', minor,
                           " (allowed: 1.0, 2.0 and 3.0)"));
  }
  std::uint64_t length = start[8] | (static_cast<std::uint64_t>(start[9]) << 8);
  std::uint64_t at = 10;
  if (major > 1) {
    if (known < 12)
      throw FileError(concat("'", file.name(), "' is truncated (it ends inside its header)"));
    length |= (static_cast<std::uint64_t>(start[10]) << 16) |
              (static_cast<std::uint64_t>(start[11]) << 24);
    at = 12;
  }
  if (length > file.size() - at) {
    throw FileError(concat("'", file.name(), "' is truncated or damaged (its header should have ",
                           length, " bytes and ", file.size() - at, " follow)"));
  }
  // NumPy writes headers of less than 200 bytes for plain arrays; longer ones indicate damage.
  constexpr std::uint64_t longest_header = 65536;
  if (length > longest_header) {
    throw FileError(concat("'", file.name(), "' is no valid .npy file (its header has ", length,
                           " bytes, and at most ", longest_header, " are allowed)"));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  file.read(at, text.data(), text.size());
  NpyHeader header = Parser(file.name(), text).parse();
  header.data_offset = at + length;
  return header;
}

/// Returns a readable name of a data type code: "int32", "complex128", ...
std::string type_in_words(const std::string& descr) {
  const std::size_t skip =
      !descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos;
  const char kind = descr.size() > skip ? descr[skip] : '?';
  const std::string width = descr.size() > skip + 1 ? descr.substr(skip + 1) : "";
  const auto bits = [&](const char* name) {
    const bool digit = width.size() == 1 || width == "16" || width == "32";
    return digit && std::isdigit(static_cast<unsigned char>(width[0]))
               ? concat(name, 8 * std::stoi(width))
               : std::string(name);
  };
  std::string words;
  switch (kind) {
    case 'f':
      words = bits("float");
      break;
    case 'i':
      words = bits("int");
      break;
    case 'u':
      words = bits("uint");
      break;
    case 'c':
      words = bits("complex");
      break;
    case 'b':
      words = "booleans";
      break;
    case 'O':
      words = "Python objects";
      break;
    case 'S':
    case 'a':
    case 'U':
      words = "strings";
      break;
    case 'V':
      words = "records";
      break;
    case 'M':
    case 'm':
      words = "dates or time spans";
      break;
    default:
      words = "an unknown data type";
      break;
  }
  return concat(words, " ('", descr, "')");
}

/// Returns true if T may be read from the data type; sets its width in bytes and its byte order.
template <class T>
bool understood(const std::string& descr, int& width, std::endian& order) {
  if (descr.size() != 3) return false;
  if constexpr (std::is_same_v<T, unsigned char>) {
    width = 1;
    return descr == "|b1";
  }
  if (descr[0] == '<') {
    order = std::endian::little;
  } else if (descr[0] == '>') {
    order = std::endian::big;
  } else if (descr[0] == '=') {
    order = std::endian::native;
  } else {
    return false;
  }
  width = descr[2] - '0';
  if constexpr (std::is_floating_point_v<T>) {
    return descr[1] == 'f' && (width == 4 || width == 8);
  } else {
    return descr[1] == 'i' && (width == 2 || width == 4 || width == 8) &&
           width <= static_cast<int>(sizeof(T));
  }
}

template <class T>
void read_data(const InputFile& file, std::uint64_t offset, std::int64_t count, int width,
               std::endian order, T* values) {
  if constexpr (std::is_floating_point_v<T>) {
    if (width == 4) {
      detail::read_values<float>(file, offset, count, order, values);
    } else {
      detail::read_values<double>(file, offset, count, order, values);
    }
  } else if constexpr (std::is_same_v<T, unsigned char>) {
    detail::read_values<unsigned char>(file, offset, count, order, values);
  } else {
    if (width == 2) {
      detail::read_values<std::int16_t>(file, offset, count, order, values);
    } else if (width == 4) {
      detail::read_values<std::int32_t>(file, offset, count, order, values);
    } else {
      detail::read_values<std::int64_t>(file, offset, count, order, values);
    }
  }
}

/// Converts values from Fortran to C order.
template <class T>
std::vector<T> to_c_order(const std::string& file, const std::vector<T>& values,
                          const std::vector<std::int64_t>& shape) {
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> stride(rank, 1);
  for (std::size_t d = 1; d < rank; ++d) stride[d] = stride[d - 1] * shape[d - 1];
  std::vector<T> result = detail::allocate<T>(file, static_cast<std::int64_t>(values.size()));
  std::vector<std::int64_t> index(rank, 0);
  std::int64_t from = 0;
  for (T& value : result) {
    value = values[static_cast<std::size_t>(from)];
    for (std::size_t d = rank; d-- > 0;) {
      from += stride[d];
      if (++index[d] < shape[d]) break;
      from -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

template <class T>
Array<T> read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  const NpyHeader header = read_header(file);
  int width = 0;
  std::endian order = std::endian::native;
  if (!understood<T>(header.descr, width, order)) {
    if constexpr (std::is_floating_point_v<T>) {
      Parser(file.name(), "").refuse(type_in_words(header.descr));
    } else if constexpr (std::is_same_v<T, unsigned char>) {
      throw FileError(concat("'", file.name(), "' holds ", type_in_words(header.descr),
                             " (allowed: booleans)"));
    } else {
      throw FileError(concat("'", file.name(), "' holds ", type_in_words(header.descr),
                             " (allowed: signed integers of 16 to ", 8 * sizeof(T), " bits)"));
    }
  }
  if (header.shape.empty()) {
    throw FileError(
        concat("'", file.name(), "' holds a single number, shape () (allowed: one axis or more)"));
  }
  for (const std::int64_t extent : header.shape) {
    if (extent < 1) {
      throw FileError(concat("'", file.name(), "' has the shape ", shape_string(header.shape),
                             " (allowed: every extent at least 1)"));
    }
  }
  const std::int64_t count = shape_size(header.shape);
  const std::uint64_t present = file.size() - header.data_offset;
  const auto max = static_cast<std::int64_t>(present / static_cast<std::uint64_t>(width));
  if (count < 0 || count > max) {
    throw FileError(concat("'", file.name(), "' is truncated (its header says ",
                           shape_string(header.shape), " values of ", width, " bytes, and ",
                           present, " bytes of data follow): ", "write or copy it again"));
  }
  const std::uint64_t extra =
      present - static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(width);
  if (extra > 0) {
    throw FileError(
        concat("'", file.name(), "' is too long (its header says ", shape_string(header.shape),
               " values of ", width, " bytes, and ", extra,
               " bytes follow after them): ", "header and data do not belong together"));
  }
  Array<T> array;
  array.shape = header.shape;
  array.data = detail::allocate<T>(file.name(), count);
  read_data(file, header.data_offset, count, width, order, array.data.data());
  if (header.fortran && array.rank() > 1)
    array.data = to_c_order(file.name(), array.data, array.shape);
  return array;
}

NpyLayout peek_npy(const std::filesystem::path& path) {
  const NpyHeader header = read_header(InputFile(path));
  int width = 0;
  std::endian order = std::endian::native;
  return {header.shape, header.fortran && header.shape.size() > 1, header.descr == "|b1",
          understood<std::int64_t>(header.descr, width, order)};
}

namespace {
// Returns the number of values. \throws InputError for an invalid shape
std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  const std::int64_t count = shape_size(shape);
  if (!shape.empty() && shape.size() <= max_npy_axes && count >= 0) return count;
  throw InputError(concat("write_npy: the shape is ", shape_string(shape), " (allowed: 1 to ",
                          max_npy_axes, " axes, every extent at least 1)"));
}
}  // namespace

template <class T>
NpyFile<T>::NpyFile(const std::filesystem::path& path, const std::vector<std::int64_t>& shape,
                    bool sums)
    : m_bytes(static_cast<std::uint64_t>(count_of(shape)) * sizeof(T)), m_file(path, sums) {
  std::string header = concat("{'descr': '<", std::is_floating_point_v<T> ? 'f' : 'i', sizeof(T),
                              "', 'fortran_order': False, 'shape': (");
  for (std::size_t d = 0; d < shape.size(); ++d) header += concat(d ? ", " : "", shape[d]);
  header += shape.size() == 1 ? ",), }" : "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  m_file.write(magic);
  const char version_and_length[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                                      static_cast<char>(header.size() >> 8)};
  m_file.write(version_and_length, 4);
  m_file.write(header);
  m_bytes += 10 + header.size();
}

template <class T>
void NpyFile<T>::write(const T* values, std::int64_t count) {
  if constexpr (std::endian::native == std::endian::little) {
    m_file.write(values, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      T value = values[i];
      detail::swap_bytes(&value, 1, sizeof(T));
      m_file.write(&value, sizeof(T));
    }
  }
}

template <class T>
FileIdentity NpyFile<T>::commit() {
  m_file.commit(m_bytes);
  return m_file.identity();
}

template <class T>
void write_npy(const std::filesystem::path& path, const T* data,
               const std::vector<std::int64_t>& shape, FileIdentity* identity) {
  NpyFile<T> file(path, shape, identity != nullptr);
  file.write(data, shape_size(shape));
  const FileIdentity written = file.commit();
  if (identity != nullptr) *identity = written;
}

#define MOHO_INSTANTIATE_NPY(T)                                      \
  template Array<T> read_npy<T>(const std::filesystem::path&);       \
  template class NpyFile<T>;                                         \
  template void write_npy<T>(const std::filesystem::path&, const T*, \
                             const std::vector<std::int64_t>&, FileIdentity*);
MOHO_INSTANTIATE_NPY(float)
MOHO_INSTANTIATE_NPY(double)
MOHO_INSTANTIATE_NPY(std::int16_t)
MOHO_INSTANTIATE_NPY(std::int32_t)
MOHO_INSTANTIATE_NPY(std::int64_t)
#undef MOHO_INSTANTIATE_NPY
template Array<unsigned char> read_npy<unsigned char>(const std::filesystem::path&);

}  // namespace moho::io
