// SPDX-License-Identifier: BSD-3-Clause
//
// Writing of SEG-Y files; segy.cpp reads them.

#include <moho/io/detail/segy_handle.hpp>
#include <moho/io/segy.hpp>
#include <moho/io/writer.hpp>

#include <segyio/segy.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <limits>

namespace moho::io {

namespace {

constexpr std::int64_t max_samples = 65535;
constexpr int ieee_big_endian =
    static_cast<int>(SEGY_IEEE_FLOAT_4_BYTE) | static_cast<int>(SEGY_MSB);

/// Returns true if all values times the factor are integers, up to rounding errors.
bool whole(const std::vector<double>& values, double factor) {
  for (const double value : values) {
    const double scaled_value = value * factor;
    if (std::abs(scaled_value - std::round(scaled_value)) >
        1e-9 * std::max(1.0, std::abs(scaled_value)))
      return false;
  }
  return true;
}

/// A header scalar for a set of numbers, and the scaled integers.
class Scalar {
 public:
  /// Chooses the smallest decimal division that is exact, or the finest that fits +-largest.
  Scalar(const std::string& what, const std::vector<double>& values, double largest)
      : m_what(what) {
    double extreme = 0.0;
    for (const double value : values) {
      if (!std::isfinite(value)) {
        throw InputError(concat("SEG-Y: ", what, " is ", value, " (allowed: finite numbers)"));
      }
      extreme = std::max(extreme, std::abs(value));
    }
    constexpr double factors[] = {1e4, 1e3, 1e2, 1e1, 1.0, 1e-1, 1e-2, 1e-3, 1e-4};
    for (const double factor : factors) {
      if (std::round(extreme * factor) > largest) continue;
      if (m_factor == 0.0 || (factor >= 1.0 && whole(values, factor))) m_factor = factor;
    }
    if (m_factor == 0.0) {
      throw InputError(
          concat("SEG-Y: ", what, " reaches ", extreme, ", more than its header field can hold"));
    }
  }

  /// Returns the scalar as stored in the header.
  std::int32_t value() const {
    if (m_factor > 1.0) return -static_cast<std::int32_t>(std::lround(m_factor));
    return static_cast<std::int32_t>(std::lround(1.0 / m_factor));
  }

  std::int32_t operator()(double number) const {
    return static_cast<std::int32_t>(std::llround(number * m_factor));
  }

 private:
  std::string m_what;
  double m_factor = 0.0;
};

constexpr double largest_int32 = 2147483647.0;
constexpr double largest_int16 = 32767.0;

/// Returns an interval in thousandths or microseconds, an integer from 1 to 65535.
/// \throws InputError for other intervals
int interval_field(const std::string& what, double interval, double per_unit, const char* advice) {
  const double number = interval * per_unit;
  if (!(number >= 0.5 && number < 65535.5) ||
      std::abs(number - std::round(number)) > 1e-6 * number) {
    throw InputError(concat("SEG-Y: ", what, " is ", interval, " (allowed: whole multiples of ",
                            1.0 / per_unit, " up to ", 65535.0 / per_unit, "): ", advice));
  }
  return static_cast<int>(std::lround(number));
}

/// Returns the text restricted to the characters that textual headers can represent.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

constexpr std::size_t text_width = 76;  // characters of a line after its number

/// Returns lines of at most text_width characters: longer ones go on in the next line, after a
/// space where there is one.
std::vector<std::string> wrapped(const std::vector<std::string>& lines) {
  std::vector<std::string> result;
  for (std::string line : lines) {
    while (line.size() > text_width) {
      const auto space = line.find_last_of(' ', text_width);
      const bool at_space = space != std::string::npos && space > text_width / 2;
      const std::size_t end = at_space ? space : text_width;
      result.push_back(line.substr(0, end));
      line = "  " + line.substr(at_space ? end + 1 : end);
    }
    result.push_back(line);
  }
  return result;
}

/// Writes a file through segyio under the temporary name of an AtomicFile.
class SegyWriter {
 public:
  SegyWriter(const std::filesystem::path& path, const std::vector<std::string>& lines,
             std::int64_t samples, int interval, std::int64_t traces_per_ensemble)
      : m_file(path), m_samples(static_cast<int>(samples)), m_interval(interval) {
    m_handle.reset(segy_open(m_file.temporary().c_str(), "w+b"));
    if (!m_handle) m_file.fail(errno);
    errno = 0;
    segy_set_format(m_handle.get(), ieee_big_endian);

    std::string text;
    for (std::size_t k = 1; k <= 40; ++k) {
      std::string line = concat("C", k < 10 ? " " : "", k, ' ');
      if (k <= lines.size() && k < 39) line += printable(lines[k - 1]);
      if (k == 39) line += "SEG Y REV1";
      if (k == 40) line += "END TEXTUAL HEADER";
      line.resize(80, ' ');
      text += line;
    }
    std::array<char, SEGY_BINARY_HEADER_SIZE> binary{};
    const auto set = [&](int field, std::int64_t value) {
      segy_set_bfield(binary.data(), field, static_cast<std::int32_t>(value));
    };
    set(SEGY_BIN_JOB_ID, 1);
    set(SEGY_BIN_LINE_NUMBER, 1);
    set(SEGY_BIN_REEL_NUMBER, 1);
    set(SEGY_BIN_TRACES, std::min<std::int64_t>(traces_per_ensemble, 32767));
    set(SEGY_BIN_INTERVAL, interval);
    set(SEGY_BIN_INTERVAL_ORIG, interval);
    set(SEGY_BIN_SAMPLES, samples);
    set(SEGY_BIN_SAMPLES_ORIG, samples);
    set(SEGY_BIN_FORMAT, SEGY_IEEE_FLOAT_4_BYTE);
    set(SEGY_BIN_ENSEMBLE_FOLD, std::min<std::int64_t>(traces_per_ensemble, 32767));
    set(SEGY_BIN_SORTING_CODE, 1);  // sorting code: as recorded
    set(SEGY_BIN_MEASUREMENT_SYSTEM, 1);
    set(SEGY_BIN_SEGY_REVISION, 0x0100);
    set(SEGY_BIN_TRACE_FLAG, 1);
    check(segy_write_textheader(m_handle.get(), 0, text.c_str()));
    check(segy_write_binheader(m_handle.get(), binary.data()));
    m_buffer.resize(static_cast<std::size_t>(samples));
  }

  /// Starts a trace with a cleared header and the fields common to all traces.
  void begin_trace() {
    m_header.fill('\0');
    set(SEGY_TR_SEQ_LINE, m_trace + 1);
    set(SEGY_TR_SEQ_FILE, m_trace + 1);
    set(SEGY_TR_TRACE_ID, 1);
    set(SEGY_TR_DATA_USE, 1);
    set(SEGY_TR_COORD_UNITS, 1);
    set(SEGY_TR_SAMPLE_COUNT, m_samples);
    set(SEGY_TR_SAMPLE_INTER, m_interval);
  }

  void set(int field, std::int64_t value) {
    segy_set_field(m_header.data(), field, static_cast<std::int32_t>(value));
  }

  template <class T>
  void end_trace(const T* samples) {
    for (int i = 0; i < m_samples; ++i)
      m_buffer[static_cast<std::size_t>(i)] = static_cast<float>(samples[i]);
    segy_from_native(SEGY_IEEE_FLOAT_4_BYTE, m_samples, m_buffer.data());
    const int bytes = 4 * m_samples;
    errno = 0;
    check(segy_write_traceheader(m_handle.get(), m_trace, m_header.data(), first, bytes));
    check(segy_writetrace(m_handle.get(), m_trace, m_buffer.data(), first, bytes));
    ++m_trace;
  }

  void commit() {
    errno = 0;
    check(segy_flush(m_handle.get(), false));
    m_handle.reset();
    m_file.commit(first + static_cast<std::uint64_t>(m_trace) *
                              (std::uint64_t{SEGY_TRACE_HEADER_SIZE} +
                               4 * static_cast<std::uint64_t>(m_samples)));
  }

 private:
  static constexpr long first = SEGY_TEXT_HEADER_SIZE + SEGY_BINARY_HEADER_SIZE;

  void check(int failed) {
    if (!failed) return;
    const int reason = errno ? errno : EIO;
    m_handle.reset();
    m_file.fail(reason);
  }

  AtomicFile m_file;
  detail::SegyHandle m_handle;
  int m_samples;
  int m_interval;
  int m_trace = 0;
  std::array<char, SEGY_TRACE_HEADER_SIZE> m_header{};
  std::vector<float> m_buffer;
};

void check_counts(std::int64_t traces, std::int64_t samples, const char* advice) {
  if (samples < 1 || samples > max_samples) {
    throw InputError(concat("SEG-Y: ", samples, " samples in a trace (allowed: 1 to ", max_samples,
                            "): ", advice));
  }
  if (traces > std::numeric_limits<std::int32_t>::max() - 1) {
    throw InputError(concat("SEG-Y: ", traces, " traces (allowed: less than 2^31)"));
  }
}

/// Refuses samples that are not finite in single precision.
template <class T>
void check_samples(const Gather<T>& gather) {
  for (std::size_t k = 0; k < gather.samples.data.size(); ++k) {
    if (std::abs(gather.samples.data[k]) <= std::numeric_limits<float>::max()) continue;
    const auto length = static_cast<std::size_t>(gather.samples.shape[1]);
    throw InputError(concat("write_gathers: record ", gather.record, ": sample ", k % length + 1,
                            " of trace ", k / length + 1, " is ", gather.samples.data[k],
                            " (allowed: finite numbers in single precision): scale the data"));
  }
}

}  // namespace

namespace {
// Reserves lists of the positions of all traces, which would have twice the size if they grew.
template <class T>
void reserve(const std::vector<Gather<T>>& gathers, std::vector<double>& coordinates,
             std::vector<double>& elevations) {
  std::size_t receivers = 0;
  for (const Gather<T>& gather : gathers) receivers += gather.receiver_x.size();
  coordinates.reserve(2 * (receivers + gathers.size()));
  elevations.reserve(receivers + 2 * gathers.size());
}
}  // namespace

template <class T>
void write_gathers(const std::filesystem::path& path, const std::vector<Gather<T>>& gathers,
                   const std::vector<std::string>& about) {
  if (gathers.empty()) throw InputError("write_gathers: there is no gather (allowed: one or more)");
  std::vector<double> coordinates, elevations, delays;
  std::int64_t traces = 0;
  std::int64_t longest = 0;
  reserve(gathers, coordinates, elevations);
  for (const Gather<T>& gather : gathers) {
    check_shape("write_gathers", gather.samples);
    const auto count = static_cast<std::int64_t>(gather.receiver_x.size());
    if (gather.samples.rank() != 2 || gather.samples.shape[0] != count ||
        gather.receiver_y.size() != gather.receiver_x.size() ||
        gather.receiver_elevation.size() != gather.receiver_x.size()) {
      throw InputError(concat("write_gathers: record ", gather.record, " has samples of the shape ",
                              shape_string(gather.samples.shape), " and ", gather.receiver_x.size(),
                              ", ", gather.receiver_y.size(), " and ",
                              gather.receiver_elevation.size(),
                              " receiver x, y and elevations (they must be one per trace)"));
    }
    if (gather.samples.shape[1] != gathers[0].samples.shape[1] ||
        gather.interval != gathers[0].interval) {
      throw InputError(concat("write_gathers: record ", gather.record, " has ",
                              gather.samples.shape[1], " samples of ", gather.interval,
                              " s, the first record ", gathers[0].samples.shape[1], " of ",
                              gathers[0].interval, " s (allowed: the same in one file)"));
    }
    check_samples(gather);
    coordinates.push_back(gather.source_x);
    coordinates.push_back(gather.source_y);
    elevations.push_back(gather.source_elevation);
    elevations.push_back(gather.source_depth);
    coordinates.insert(coordinates.end(), gather.receiver_x.begin(), gather.receiver_x.end());
    coordinates.insert(coordinates.end(), gather.receiver_y.begin(), gather.receiver_y.end());
    elevations.insert(elevations.end(), gather.receiver_elevation.begin(),
                      gather.receiver_elevation.end());
    delays.push_back(gather.delay * 1e3);
    traces += count;
    longest = std::max(longest, count);
  }
  const std::int64_t samples = gathers[0].samples.shape[1];
  check_counts(traces, samples, "shorten or resample the traces");
  const int interval = interval_field("the sample interval in seconds", gathers[0].interval, 1e6,
                                      "resample the traces");
  const Scalar xy("a coordinate", coordinates, largest_int32);
  const Scalar z("an elevation or depth", elevations, largest_int32);
  const Scalar t("a delay in milliseconds", delays, largest_int16);

  std::vector<std::string> lines{"SHOT RECORDS WRITTEN BY MOHO", "",
                                 "SAMPLES: IEEE FLOAT, BIG ENDIAN",
                                 "SOURCE AND GROUP COORDINATES IN BYTES 73-88, SCALAR IN 71-72",
                                 "ELEVATIONS IN BYTES 41-52, SCALAR IN 69-70"};
  const std::vector<std::string> more = wrapped(about);
  lines.insert(lines.end(), more.begin(), more.end());
  SegyWriter writer(path, lines, samples, interval, longest);
  for (const Gather<T>& gather : gathers) {
    for (std::size_t i = 0; i < gather.receiver_x.size(); ++i) {
      writer.begin_trace();
      writer.set(SEGY_TR_FIELD_RECORD, gather.record);
      writer.set(SEGY_TR_NUMBER_ORIG_FIELD, static_cast<std::int64_t>(i) + 1);
      writer.set(SEGY_TR_ENERGY_SOURCE_POINT, gather.record);
      const double x = gather.receiver_x[i] - gather.source_x;
      const double y = gather.receiver_y[i] - gather.source_y;
      const double offset = std::copysign(std::hypot(x, y), x != 0.0 ? x : y);
      if (std::fabs(offset) < largest_int32) writer.set(SEGY_TR_OFFSET, std::llround(offset));
      writer.set(SEGY_TR_ELEV_SCALAR, z.value());
      writer.set(SEGY_TR_RECV_GROUP_ELEV, z(gather.receiver_elevation[i]));
      writer.set(SEGY_TR_SOURCE_SURF_ELEV, z(gather.source_elevation));
      writer.set(SEGY_TR_SOURCE_DEPTH, z(gather.source_depth));
      writer.set(SEGY_TR_SOURCE_GROUP_SCALAR, xy.value());
      writer.set(SEGY_TR_SOURCE_X, xy(gather.source_x));
      writer.set(SEGY_TR_SOURCE_Y, xy(gather.source_y));
      writer.set(SEGY_TR_GROUP_X, xy(gather.receiver_x[i]));
      writer.set(SEGY_TR_GROUP_Y, xy(gather.receiver_y[i]));
      writer.set(SEGY_TR_SCALAR_TRACE_HEADER, t.value());
      writer.set(SEGY_TR_DELAY_REC_TIME, t(gather.delay * 1e3));
      writer.end_trace(gather.samples.data.data() + static_cast<std::int64_t>(i) * samples);
    }
  }
  writer.commit();
}

template <class T>
void write_segy_model(const std::filesystem::path& path, const Array<T>& values,
                      const std::vector<double>& spacing, const std::vector<double>& origin) {
  check_shape("write_segy_model", values);
  const auto rank = static_cast<std::size_t>(values.rank());
  if ((rank != 2 && rank != 3) || spacing.size() != rank || origin.size() != rank) {
    throw InputError(concat("write_segy_model: the model has ", rank, " axes, ", spacing.size(),
                            " spacings and ", origin.size(), " origins (allowed: 2 or 3 of each)"));
  }
  const std::int64_t samples = values.shape[rank - 1];
  const std::int64_t nx = values.shape[0];
  const std::int64_t ny = rank == 3 ? values.shape[1] : 1;
  check_counts(nx * ny, samples, "write .npy or .rsf instead");
  const int interval =
      interval_field("the spacing in depth", spacing[rank - 1], 1e3, "write .npy or .rsf instead");
  const auto x = [&](std::int64_t i) { return origin[0] + spacing[0] * static_cast<double>(i); };
  const auto y = [&](std::int64_t i) {
    return rank == 3 ? origin[1] + spacing[1] * static_cast<double>(i) : 0.0;
  };
  std::vector<double> coordinates;
  for (std::int64_t i = 0; i < nx; ++i) coordinates.push_back(x(i));
  for (std::int64_t i = 0; i < ny; ++i) coordinates.push_back(y(i));
  const Scalar xy("a coordinate", coordinates, largest_int32);
  const Scalar t("the depth of the first sample", {origin[rank - 1]}, largest_int16);

  SegyWriter writer(
      path,
      {"MODEL WRITTEN BY MOHO", "", "SAMPLES: IEEE FLOAT, BIG ENDIAN",
       "ENSEMBLE COORDINATES IN BYTES 181-188, SCALAR IN 71-72",
       "IN-LINE AND CROSS-LINE NUMBERS IN BYTES 189-196",
       "DEPTH: INTERVAL IN THOUSANDTHS, FIRST SAMPLE IN BYTES 109-110, SCALAR IN 215-216"},
      samples, interval, 1);
  for (std::int64_t i = 0; i < nx; ++i) {
    for (std::int64_t j = 0; j < ny; ++j) {
      const std::int64_t trace = i * ny + j;
      writer.begin_trace();
      writer.set(SEGY_TR_ENSEMBLE, trace + 1);
      writer.set(SEGY_TR_NUM_IN_ENSEMBLE, 1);
      writer.set(SEGY_TR_SOURCE_GROUP_SCALAR, xy.value());
      writer.set(SEGY_TR_CDP_X, xy(x(i)));
      writer.set(SEGY_TR_CDP_Y, xy(y(j)));
      writer.set(SEGY_TR_INLINE, i + 1);
      writer.set(SEGY_TR_CROSSLINE, j + 1);
      writer.set(SEGY_TR_SCALAR_TRACE_HEADER, t.value());
      writer.set(SEGY_TR_DELAY_REC_TIME, t(origin[rank - 1]));
      writer.end_trace(values.data.data() + trace * samples);
    }
  }
  writer.commit();
}

#define MOHO_INSTANTIATE_SEGY(T)                                                              \
  template void write_gathers<T>(const std::filesystem::path&, const std::vector<Gather<T>>&, \
                                 const std::vector<std::string>&);                            \
  template void write_segy_model<T>(const std::filesystem::path&, const Array<T>&,            \
                                    const std::vector<double>&, const std::vector<double>&);
MOHO_INSTANTIATE_SEGY(float)
MOHO_INSTANTIATE_SEGY(double)
#undef MOHO_INSTANTIATE_SEGY

}  // namespace moho::io
