// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/detail/binary.hpp>
#include <moho/io/detail/segy_handle.hpp>
#include <moho/io/segy.hpp>

#include <segyio/segy.h>

#include <array>
#include <bit>
#include <cerrno>
#include <limits>
#include <map>
#include <memory>
#include <tuple>

namespace moho::io {

namespace detail {

void CloseSegy::operator()(segy_file_handle* file) const { segy_close(file); }

/// Layout of a file according to its headers.
struct SegyLayout {
  bool little_endian = false;
  int format = 0;
  int revision = 0;
  int samples = 0;
  int width = 0;  // bytes per sample
  int traces = 0;
  long first_trace = 0;
  int trace_bytes = 0;                                 // bytes of the samples of a trace
  std::array<char, SEGY_BINARY_HEADER_SIZE> binary{};  // binary header, big endian
};

}  // namespace detail

using detail::SegyLayout;

namespace {

constexpr double metres_per_foot = 0.3048;
constexpr std::uint64_t text_size = SEGY_TEXT_HEADER_SIZE;
constexpr std::uint64_t binary_size = SEGY_BINARY_HEADER_SIZE;
constexpr std::uint64_t trace_header_size = SEGY_TRACE_HEADER_SIZE;

const char* error_text(int code) {
  switch (code) {
    case SEGY_FOPEN_ERROR:
      return "the file could not be opened";
    case SEGY_FSEEK_ERROR:
      return "a position was not reached";
    case SEGY_FREAD_ERROR:
      return "reading failed";
    case SEGY_FWRITE_ERROR:
      return "writing failed";
    default:
      return "segyio failed";
  }
}

std::int32_t trace_field(const char* header, int field) {
  std::int32_t value = 0;
  segy_get_field(header, field, &value);
  return value;
}

std::int32_t binary_field(const char* header, int field) {
  std::int32_t value = 0;
  segy_get_bfield(header, field, &value);
  return value;
}

/// Applies a scalar by the rule of the standard: positive multiplies, negative divides, 0 means 1.
double scaled(std::int32_t value, std::int32_t scalar) {
  if (scalar > 0) return static_cast<double>(value) * scalar;
  if (scalar < 0) return static_cast<double>(value) / -static_cast<double>(scalar);
  return value;
}

int sample_width(int format) {
  switch (format) {
    case SEGY_IBM_FLOAT_4_BYTE:
    case SEGY_IEEE_FLOAT_4_BYTE:
    case SEGY_SIGNED_INTEGER_4_BYTE:
      return 4;
    case SEGY_SIGNED_SHORT_2_BYTE:
      return 2;
    case SEGY_SIGNED_CHAR_1_BYTE:
      return 1;
    default:
      return 0;
  }
}

/// Returns the big-endian integer in the first `width` bytes.
std::uint32_t big_endian(const unsigned char* bytes, int width) {
  std::uint32_t value = 0;
  for (int i = 0; i < width; ++i) value = (value << 8) | bytes[i];
  return value;
}

bool find_byte_order(const InputFile& file, const unsigned char* raw) {
  const auto known = [](std::uint32_t code) { return code >= 1 && code <= 16; };
  const unsigned char reversed[2] = {raw[25], raw[24]};
  const std::uint32_t big = big_endian(raw + 24, 2);
  const std::uint32_t little = big_endian(reversed, 2);
  if (known(big)) return false;
  if (known(little)) return true;
  throw FileError(
      concat("'", file.name(), "' is no SEG-Y file (the sample format code in bytes 3225-3226 is ",
             big, "; the standard knows 1 to 16): check that the file is what its name says"));
}

/// Refuses fields of revision 2 that change the meaning of those of revision 1.
void refuse_extended(const InputFile& file, const unsigned char* binary, const SegyLayout& layout) {
  const auto number = [&](int byte, int width) {  // byte: of the file, from 1
    std::uint64_t value = 0;
    for (int i = 0; i < width; ++i) {
      const int at = byte - 3201 + (layout.little_endian ? width - 1 - i : i);
      value = value << 8 | binary[at];
    }
    return value;
  };
  const auto refuse = [&](const std::string& what) {
    throw FileError(concat("'", file.name(), "' is SEG-Y revision ", layout.revision, " with ",
                           what,
                           " (allowed: revision 0 and 1, and later ones without fields that "
                           "replace those of revision 1): write it as revision 1"));
  };
  const auto samples = number(3269, 4);
  if (samples != 0 && samples != number(3221, 2)) {
    refuse(concat("an extended number of samples, ", samples, " in bytes 3269-3272"));
  }
  const auto interval = std::bit_cast<double>(number(3273, 8));
  if (interval != 0.0 && interval != static_cast<double>(number(3217, 2))) {
    refuse(concat("an extended sample interval, ", interval, " in bytes 3273-3280"));
  }
  if (number(3507, 4) != 0) {
    refuse(concat("additional trace headers, ", number(3507, 4), " in bytes 3507-3510"));
  }
}

/// Refuses trace `number`, from 0, whose header states another number of samples than the file.
/// \param stated number in the header of the trace; 0: as in the file
void check_samples(const std::string& name, std::int64_t number, std::int32_t stated,
                   const SegyLayout& layout) {
  if (stated == 0 || stated == layout.samples) return;
  const bool from_file = segy_samples(layout.binary.data()) != 0;
  throw FileError(concat("'", name, "': trace ", number + 1, " has ", stated,
                         " samples (bytes 115-116), ", from_file ? "the file " : "trace 1 ",
                         layout.samples, from_file ? " (bytes 3221-3222" : " (bytes 115-116",
                         "; allowed: the same in a file, or 0 in the header of the trace): correct "
                         "the headers, or write the file with traces of one length"));
}

SegyLayout read_layout(const InputFile& file, segy_file* handle) {
  SegyLayout layout;
  std::array<unsigned char, SEGY_BINARY_HEADER_SIZE> raw{};
  file.read(text_size, raw.data(), raw.size());
  layout.little_endian = find_byte_order(file, raw.data());
  segy_set_format(handle, layout.little_endian ? SEGY_LSB : SEGY_MSB);
  int failed = segy_binheader(handle, layout.binary.data());
  if (failed) throw FileError(concat("cannot read '", file.name(), "' (", error_text(failed), ")"));

  layout.format = segy_format(layout.binary.data());
  layout.width = sample_width(layout.format);
  if (layout.width == 0) {
    throw FileError(
        concat("'", file.name(), "' has the sample format code ", layout.format,
               " (allowed: 1 IBM float, 5 IEEE float, 2, 3 and 8 integers of 4, 2 and 1 bytes): "
               "convert it to IEEE floats"));
  }
  segy_set_format(handle, layout.format | (layout.little_endian ? SEGY_LSB : SEGY_MSB));

  layout.revision = raw[300];
  if (layout.revision > 3)
    layout.revision = 0;  // files older than the revision field have arbitrary bytes here
  if (layout.revision > 1) refuse_extended(file, raw.data(), layout);
  const std::int32_t extended = binary_field(layout.binary.data(), SEGY_BIN_EXT_HEADERS);
  if (extended < 0) {
    throw FileError(
        concat("'", file.name(), "' has a variable number of extended textual headers (", extended,
               " in bytes 3505-3506; allowed: 0 or more): rewrite it with a fixed number"));
  }
  layout.first_trace = segy_trace0(layout.binary.data());
  const auto first_trace = static_cast<std::uint64_t>(layout.first_trace);
  if (first_trace + trace_header_size > file.size()) {
    throw FileError(concat("'", file.name(), "' is truncated (its headers take ", first_trace,
                           " bytes, the file has ", file.size(),
                           " and no whole trace header follows)"));
  }

  std::int64_t samples = segy_samples(layout.binary.data()) & 0xffff;
  std::array<char, SEGY_TRACE_HEADER_SIZE> first{};
  failed = segy_traceheader(handle, 0, first.data(), layout.first_trace, 0);
  if (failed) throw FileError(concat("cannot read '", file.name(), "' (", error_text(failed), ")"));
  const std::int32_t stated = trace_field(first.data(), SEGY_TR_SAMPLE_COUNT) & 0xffff;
  if (samples == 0) samples = stated;
  if (samples == 0) {
    throw FileError(concat("'", file.name(),
                           "' says that traces have 0 samples (bytes 3221-3222 and 115-116 of the "
                           "first trace; allowed: 1 or more)"));
  }
  layout.samples = static_cast<int>(samples);
  check_samples(file.name(), 0, stated, layout);
  layout.trace_bytes = layout.samples * layout.width;
  const std::uint64_t step = trace_header_size + static_cast<std::uint64_t>(layout.trace_bytes);
  const std::uint64_t present = file.size() - first_trace;
  if (present % step != 0 || present / step == 0) {
    throw FileError(
        concat("'", file.name(), "' is truncated or damaged (", present, " bytes of traces are ",
               present / step, " traces of ", samples, " samples and ", present % step,
               " bytes more): copy it again, or check the number of samples in bytes 3221-3222"));
  }
  if (present / step > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    throw FileError(
        concat("'", file.name(), "' has ", present / step, " traces (allowed: less than 2^31)"));
  }
  layout.traces = static_cast<int>(present / step);
  return layout;
}

std::string read_text(const InputFile& file, segy_file* handle) {
  std::array<char, SEGY_TEXT_HEADER_SIZE + 1> buffer{};
  file.read(0, buffer.data(), SEGY_TEXT_HEADER_SIZE);
  // Cards begin with C, which is 0xc3 in EBCDIC. Some programs write ASCII.
  bool ascii = true;
  for (std::size_t i = 0; i < text_size; ++i)
    ascii = ascii && static_cast<unsigned char>(buffer[i]) < 128;
  if (!ascii || buffer[0] != 'C') {
    const int failed = segy_read_textheader(handle, buffer.data());
    if (failed)
      throw FileError(concat("cannot read '", file.name(), "' (", error_text(failed), ")"));
  }
  std::string text;
  for (std::size_t line = 0; line < 40; ++line) {
    for (std::size_t k = 0; k < 80; ++k) {
      const char c = buffer[80 * line + k];
      text += c >= 32 && c < 127 ? c : ' ';
    }
    text += '\n';
  }
  return text;
}

SegyTrace read_trace_header(const char* header) {
  const std::int32_t xy = trace_field(header, SEGY_TR_SOURCE_GROUP_SCALAR);
  const std::int32_t z = trace_field(header, SEGY_TR_ELEV_SCALAR);
  SegyTrace trace;
  trace.field_record = trace_field(header, SEGY_TR_FIELD_RECORD);
  trace.trace_number = trace_field(header, SEGY_TR_NUMBER_ORIG_FIELD);
  trace.source_point = trace_field(header, SEGY_TR_ENERGY_SOURCE_POINT);
  trace.ensemble = trace_field(header, SEGY_TR_ENSEMBLE);
  trace.inline_number = trace_field(header, SEGY_TR_INLINE);
  trace.crossline_number = trace_field(header, SEGY_TR_CROSSLINE);
  trace.source_x = scaled(trace_field(header, SEGY_TR_SOURCE_X), xy);
  trace.source_y = scaled(trace_field(header, SEGY_TR_SOURCE_Y), xy);
  trace.receiver_x = scaled(trace_field(header, SEGY_TR_GROUP_X), xy);
  trace.receiver_y = scaled(trace_field(header, SEGY_TR_GROUP_Y), xy);
  trace.cdp_x = scaled(trace_field(header, SEGY_TR_CDP_X), xy);
  trace.cdp_y = scaled(trace_field(header, SEGY_TR_CDP_Y), xy);
  trace.receiver_elevation = scaled(trace_field(header, SEGY_TR_RECV_GROUP_ELEV), z);
  trace.source_elevation = scaled(trace_field(header, SEGY_TR_SOURCE_SURF_ELEV), z);
  trace.source_depth = scaled(trace_field(header, SEGY_TR_SOURCE_DEPTH), z);
  trace.delay = scaled(trace_field(header, SEGY_TR_DELAY_REC_TIME),
                       trace_field(header, SEGY_TR_SCALAR_TRACE_HEADER));
  trace.identification = trace_field(header, SEGY_TR_TRACE_ID);
  trace.coordinate_units = trace_field(header, SEGY_TR_COORD_UNITS);
  trace.samples = trace_field(header, SEGY_TR_SAMPLE_COUNT) & 0xffff;
  trace.interval = trace_field(header, SEGY_TR_SAMPLE_INTER) & 0xffff;
  return trace;
}

/// Converts the native values of a trace (after segy_to_native) to T.
template <class From, class T>
void copy_samples(const std::vector<char>& bytes, T* to) {
  const std::size_t count = bytes.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    to[i] = static_cast<T>(value);
  }
}

}  // namespace

struct SegyReader::Impl {
  InputFile file;
  detail::SegyHandle handle;
  SegyLayout layout;
  SegyHeader header;
  std::vector<char> bytes;  // bytes of a trace

  explicit Impl(const std::filesystem::path& path) : file(path) {
    if (file.size() < text_size + binary_size) {
      throw FileError(concat("'", file.name(), "' is no SEG-Y file or truncated (", file.size(),
                             " bytes; the headers alone have ", text_size + binary_size, ")"));
    }
    handle.reset(segy_open(path.c_str(), "rb"));
    if (!handle)
      throw FileError(concat("cannot read '", file.name(), "' (", std::strerror(errno), ")"));
    layout = read_layout(file, handle.get());
    header.text = read_text(file, handle.get());
    header.little_endian = layout.little_endian;
    header.format = layout.format;
    header.revision = layout.revision;
    header.fixed_length =
        layout.revision >= 1 && binary_field(layout.binary.data(), SEGY_BIN_TRACE_FLAG) == 1;
    header.interval = binary_field(layout.binary.data(), SEGY_BIN_INTERVAL) & 0xffff;
    header.measurement_system = binary_field(layout.binary.data(), SEGY_BIN_MEASUREMENT_SYSTEM);
    header.traces = layout.traces;
    header.samples = layout.samples;
    bytes.resize(static_cast<std::size_t>(layout.trace_bytes));
  }

  int number_of(std::int64_t trace) const {
    if (trace < 0 || trace >= layout.traces) {
      throw FileError(concat("'", file.name(), "' has no trace ", trace + 1, " (allowed: 1 to ",
                             layout.traces, ")"));
    }
    return static_cast<int>(trace);
  }

  void check(int failed, std::int64_t trace) const {
    if (!failed) return;
    throw FileError(concat("cannot read trace ", trace + 1, " of '", file.name(), "' (",
                           error_text(failed), ")"));
  }
};

SegyReader::SegyReader(const std::filesystem::path& path) : m_impl(std::make_unique<Impl>(path)) {}
SegyReader::~SegyReader() = default;
SegyReader::SegyReader(SegyReader&&) noexcept = default;
SegyReader& SegyReader::operator=(SegyReader&&) noexcept = default;

const std::string& SegyReader::name() const { return m_impl->file.name(); }
const SegyHeader& SegyReader::header() const { return m_impl->header; }

SegyTrace SegyReader::trace(std::int64_t number) const {
  const SegyLayout& layout = m_impl->layout;
  std::array<char, SEGY_TRACE_HEADER_SIZE> header{};
  m_impl->check(segy_traceheader(m_impl->handle.get(), m_impl->number_of(number), header.data(),
                                 layout.first_trace, layout.trace_bytes),
                number);
  const SegyTrace trace = read_trace_header(header.data());
  check_samples(name(), number, trace.samples, layout);
  return trace;
}

template <class T>
void SegyReader::read(std::int64_t number, T* samples) const {
  const SegyLayout& layout = m_impl->layout;
  std::vector<char>& bytes = m_impl->bytes;
  int failed = segy_readtrace(m_impl->handle.get(), m_impl->number_of(number), bytes.data(),
                              layout.first_trace, layout.trace_bytes);
  if (!failed) failed = segy_to_native(layout.format, layout.samples, bytes.data());
  m_impl->check(failed, number);
  switch (layout.format) {
    case SEGY_SIGNED_INTEGER_4_BYTE:
      copy_samples<std::int32_t>(bytes, samples);
      break;
    case SEGY_SIGNED_SHORT_2_BYTE:
      copy_samples<std::int16_t>(bytes, samples);
      break;
    case SEGY_SIGNED_CHAR_1_BYTE:
      copy_samples<std::int8_t>(bytes, samples);
      break;
    default:
      copy_samples<float>(bytes, samples);
      break;
  }
}

template <class T>
SegyFile<T> read_segy(const std::filesystem::path& path) {
  const SegyReader reader(path);
  const SegyHeader& header = reader.header();
  SegyFile<T> result;
  result.text = header.text;
  result.little_endian = header.little_endian;
  result.format = header.format;
  result.revision = header.revision;
  result.interval = header.interval;
  result.measurement_system = header.measurement_system;
  result.samples.shape = {header.traces, header.samples};
  result.samples.data = detail::allocate<T>(reader.name(), header.traces * header.samples);
  result.headers = detail::allocate<SegyTrace>(reader.name(), header.traces);
  for (std::int64_t trace = 0; trace < header.traces; ++trace) {
    result.headers[static_cast<std::size_t>(trace)] = reader.trace(trace);
    reader.read(trace, result.samples.data.data() + trace * header.samples);
  }
  result.coordinate_units = result.headers.front().coordinate_units;
  if (result.interval == 0) result.interval = result.headers.front().interval;
  return result;
}

void check_lengths(const std::string& name, std::int64_t number, std::int32_t units) {
  if (units == 0 || units == 1) return;
  const char* known[] = {"seconds of arc", "decimal degrees", "degrees, minutes and seconds"};
  throw FileError(concat("'", name, "': trace ", number + 1, " has coordinates in ",
                         units >= 2 && units <= 4 ? known[units - 2] : "an unknown unit", " (code ",
                         units,
                         " in bytes 89-90; allowed: 1, lengths, or 0, not said): project "
                         "the coordinates first"));
}

template <class T>
std::vector<Gather<T>> read_gathers(const std::filesystem::path& path) {
  const SegyFile<T> file = read_segy<T>(path);
  const double unit = file.measurement_system == 2 ? metres_per_foot : 1.0;
  const auto samples = static_cast<std::size_t>(file.samples.shape[1]);
  std::map<std::tuple<std::int32_t, double, double, double, double>, std::size_t> known;
  std::vector<std::size_t> group(file.headers.size());
  std::vector<Gather<T>> gathers;
  for (std::size_t i = 0; i < file.headers.size(); ++i) {
    const SegyTrace& trace = file.headers[i];
    check_lengths(path.string(), static_cast<std::int64_t>(i), trace.coordinate_units);
    if (trace.interval != 0 && trace.interval != file.interval) {
      throw FileError(concat("'", path.string(), "': trace ", i + 1, " has an interval of ",
                             trace.interval, " us (bytes 117-118), the file one of ", file.interval,
                             " us (allowed: the same in a file): resample the traces, or read "
                             "them one by one with read_segy"));
    }
    const auto [at, is_new] =
        known.try_emplace(std::tuple(trace.field_record, trace.source_x, trace.source_y,
                                     trace.source_elevation, trace.source_depth),
                          gathers.size());
    group[i] = at->second;
    if (is_new) {
      Gather<T> gather;
      gather.record = trace.field_record;
      gather.source_x = trace.source_x * unit;
      gather.source_y = trace.source_y * unit;
      gather.source_elevation = trace.source_elevation * unit;
      gather.source_depth = trace.source_depth * unit;
      gather.interval = file.interval / 1e6;
      gather.delay = trace.delay / 1e3;
      gathers.push_back(std::move(gather));
    }
    Gather<T>& gather = gathers[group[i]];
    if (gather.delay != trace.delay / 1e3) {
      throw FileError(concat(
          "'", path.string(), "': trace ", i + 1, " begins at ", trace.delay,
          " ms, others of record ", trace.field_record, " at ", gather.delay * 1e3,
          " ms (allowed: one delay in a record): read the traces one by one with read_segy"));
    }
    gather.receiver_x.push_back(trace.receiver_x * unit);
    gather.receiver_y.push_back(trace.receiver_y * unit);
    gather.receiver_elevation.push_back(trace.receiver_elevation * unit);
  }
  for (Gather<T>& gather : gathers) {
    gather.samples.shape = {static_cast<std::int64_t>(gather.receiver_x.size()),
                            file.samples.shape[1]};
    gather.samples.data.reserve(gather.receiver_x.size() * samples);
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto from = file.samples.data.begin() + static_cast<std::ptrdiff_t>(i * samples);
    auto& to = gathers[group[i]].samples.data;
    to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(samples));
  }
  return gathers;
}

#define MOHO_INSTANTIATE_SEGY(T)                                   \
  template void SegyReader::read<T>(std::int64_t, T*) const;       \
  template SegyFile<T> read_segy<T>(const std::filesystem::path&); \
  template std::vector<Gather<T>> read_gathers<T>(const std::filesystem::path&);
MOHO_INSTANTIATE_SEGY(float)
MOHO_INSTANTIATE_SEGY(double)
#undef MOHO_INSTANTIATE_SEGY

}  // namespace moho::io
