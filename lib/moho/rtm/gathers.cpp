// SPDX-License-Identifier: BSD-3-Clause
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/segy.hpp>
#include <moho/rtm/gathers.hpp>
#include <moho/wave/text.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace moho::rtm {

namespace fs = std::filesystem;

Elevations parse_elevations(const std::string& name) {
  for (const Elevations elevations : {Elevations::standard, Elevations::depth}) {
    if (name == to_string(elevations)) return elevations;
  }
  throw InputError(concat("elevations '", name,
                          "' are unknown (allowed: standard, heights above the datum; depth, "
                          "positive downwards): choose one"));
}

LengthUnit parse_length_unit(const std::string& name) {
  if (name == "auto") return LengthUnit::automatic;
  if (name == "m") return LengthUnit::metres;
  if (name == "ft") return LengthUnit::feet;
  throw InputError(concat("unit '", name, "' is unknown (allowed: auto, m, ft): choose one"));
}

SurveyLine parse_survey_line(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return InputError(concat("line '", text, "' ", why,
                             " (allowed: auto, an angle in degrees from x towards y, or "
                             "\"x,y:x,y\", a point of the line and another one)"));
  };
  SurveyLine line;
  if (text == "auto") return line;
  const std::vector<std::string> points = wave::detail::split(text, ':');
  if (points.size() == 1) {
    const auto angle = wave::detail::to_number(points[0]);
    if (!angle) throw refuse("is no angle");
    line.kind = SurveyLine::Kind::angle;
    line.degrees = *angle;
    return line;
  }
  if (points.size() != 2) throw refuse(concat("has ", points.size(), " parts"));
  line.kind = SurveyLine::Kind::points;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::vector<std::string> numbers = wave::detail::split(points[k], ',');
    if (numbers.size() != 2) throw refuse(concat("has '", points[k], "' where a point should be"));
    for (std::size_t d = 0; d < 2; ++d) {
      const auto value = wave::detail::to_number(numbers[d]);
      if (!value) throw refuse(concat("has '", numbers[d], "' where a number should be"));
      (k == 0 ? line.first : line.last)[d] = *value;
    }
  }
  if (line.first == line.last) throw refuse("has the same point twice");
  return line;
}

namespace {

constexpr double foot = 0.3048;  // metres
constexpr double pi = 3.14159265358979323846;
constexpr double along_x = 0.01;             // a line whose sine is less runs along x
constexpr std::int32_t dead = 2;             // trace identification
constexpr std::int32_t live[] = {0, 1, 11};  // unknown, seismic data, pressure sensor

std::string lower_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

bool is_segy(const fs::path& path) {
  const std::string extension = lower_extension(path);
  return extension == ".sgy" || extension == ".segy";
}

std::string milliseconds(double seconds) { return concat(seconds * 1e3, " ms"); }

const char* plural(std::int64_t count) { return count == 1 ? "" : "s"; }

}  // namespace

namespace detail {

/// A shot with positions of three coordinates.
struct RawShot {
  std::size_t file = 0;              // in the list of paths
  std::int64_t number = 0;           // field record
  Points<3> sources, receivers;      // x, y, depth; metres
  std::vector<std::int64_t> traces;  // in the file, from 0; one a receiver
  double t0 = 0.0;                   // seconds
};

/// The files of a survey: their index, and traces out of them.
class SurveyFiles {
 public:
  SurveyFiles(const fs::path& path, const SurveyOptions& options) : m_options(options) {
    if (!(options.interval >= 0.0) || !std::isfinite(options.interval)) {
      throw InputError(concat("interval is ", options.interval,
                              " s (allowed: positive, or 0: as the files say)"));
    }
    for (const double shift : options.origin) {
      if (!std::isfinite(shift)) {
        throw InputError(concat("origin has the coordinate ", shift, " (allowed: finite numbers)"));
      }
    }
    std::error_code error;
    if (fs::is_directory(path, error)) {
      open_folder(path);
    } else if (is_segy(path)) {
      index_segy(path);
    } else if (lower_extension(path) == ".json") {
      index_summary(path);
    } else if (!fs::exists(path, error)) {
      throw FileError(
          concat("cannot read '", path.string(), "' (no such file or folder): check the path"));
    } else {
      throw FileError(concat("cannot read '", path.string(),
                             "' as shots (allowed: a SEG-Y file, .sgy or .segy; a folder of them; "
                             "a folder with the summary.json of model_waves, or that file)"));
    }
    finish();
  }

  std::vector<RawShot> shots;
  std::vector<std::string> notes;
  double interval = 0.0;
  std::int64_t samples = 0;
  bool two_dimensional = false;  // positions have no y

  std::string name_of(const RawShot& shot) const {
    return concat("'", m_paths[shot.file].string(), "', shot ", shot.number);
  }

  /// Samples of the traces of a shot, one after the other.
  std::vector<float> read(const RawShot& shot) const {
    std::vector<float> values(shot.traces.size() * static_cast<std::size_t>(samples));
    const fs::path& path = m_paths[shot.file];
    if (m_segy) {
      if (!m_reader || m_open != shot.file) {
        m_reader.emplace(path);
        m_open = shot.file;
      }
      check_samples(path, m_reader->header().samples);
      float* to = values.data();
      for (const std::int64_t trace : shot.traces) {
        m_reader->read(trace, to);
        to += samples;
      }
    } else {
      const io::Array<float> array = io::read_npy<float>(path);
      if (array.rank() != 2) refuse_shape(path, array.shape, "2 axes, receivers and samples");
      check_samples(path, array.shape[1]);
      float* to = values.data();
      for (const std::int64_t trace : shot.traces) {
        if (trace >= array.shape[0]) {
          refuse_shape(path, array.shape, concat("a row for receiver ", trace + 1));
        }
        std::copy_n(array.data.begin() + trace * samples, samples, to);
        to += samples;
      }
    }
    return values;
  }

 private:
  [[noreturn]] static void refuse_shape(const fs::path& path,
                                        const std::vector<std::int64_t>& shape,
                                        const std::string& wanted) {
    throw FileError(concat("'", path.string(), "' has the shape ", io::shape_string(shape),
                           " (allowed: ", wanted, "): it is not the gather of this shot"));
  }

  void check_samples(const fs::path& path, std::int64_t found) const {
    if (found == samples) return;
    throw FileError(concat("'", path.string(), "' has ", found, " samples in a trace, '",
                           m_paths.front().string(), "' has ", samples,
                           " (allowed: the same in a survey): cut or extend the traces"));
  }

  void open_folder(const fs::path& folder) {
    if (fs::exists(folder / "summary.json")) {
      index_summary(folder / "summary.json");
      return;
    }
    std::vector<fs::path> paths;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      if (is_segy(entry.path())) paths.push_back(entry.path());
    }
    if (paths.empty()) {
      throw FileError(concat("'", folder.string(),
                             "' has no shots (allowed: a summary.json of model_waves, or files "
                             "that end in .sgy or .segy",
                             error ? concat("; ", error.message()) : "", "): check the path"));
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) index_segy(path);
  }

  // ---- SEG-Y ----

  // Metres in a unit of the file's lengths.
  double unit_of(const io::SegyReader& reader) {
    if (m_options.unit == LengthUnit::metres) return 1.0;
    if (m_options.unit == LengthUnit::feet) return foot;
    const std::int32_t system = reader.header().measurement_system;
    if (m_paths.size() > 1 && (system == 2) != m_feet) {
      throw FileError(concat("'", reader.name(), "' has lengths in ",
                             system == 2 ? "feet" : "metres", ", '", m_paths.front().string(),
                             "' in ", m_feet ? "feet" : "metres",
                             " (bytes 3255-3256; allowed: the same in a survey): say which unit "
                             "all of them have"));
    }
    m_feet = system == 2;
    return m_feet ? foot : 1.0;
  }

  // Microseconds, from what the headers say.
  void take_interval(const io::SegyReader& reader, std::int64_t trace, std::int32_t stated) {
    if (stated == 0 || m_options.interval > 0.0) return;
    const bool binary = trace < 0;
    const std::string place = binary ? "the binary header (bytes 3217-3218)"
                                     : concat("trace ", trace + 1, " (bytes 117-118)");
    if (m_microseconds == 0) {
      m_microseconds = stated;
      m_interval_place = concat(place, " of '", reader.name(), "'");
      return;
    }
    if (stated == m_microseconds) return;
    throw FileError(concat("'", reader.name(), "': ", place, " has an interval of ", stated,
                           " us, ", m_interval_place, " one of ", m_microseconds,
                           " us (allowed: the same in a survey): resample the data, or give the "
                           "interval that all of them have"));
  }

  // Depths in the file's unit.
  double source_depth(const io::SegyReader& reader, std::int64_t number,
                      const io::SegyTrace& trace) const {
    if (m_options.elevations == Elevations::standard) {
      return trace.source_depth - trace.source_elevation;
    }
    if (trace.source_elevation != 0.0 && trace.source_depth != 0.0 &&
        trace.source_elevation != trace.source_depth) {
      throw FileError(concat("'", reader.name(), "': trace ", number + 1,
                             " has a source elevation of ", trace.source_elevation,
                             " (bytes 45-48) and a source depth of ", trace.source_depth,
                             " (bytes 49-52), and elevations are said to be depths (allowed then: "
                             "one of them, or both the same): take the standard elevations, or "
                             "correct the headers"));
    }
    return trace.source_elevation != 0.0 ? trace.source_elevation : trace.source_depth;
  }

  void check_units(const io::SegyReader& reader, std::int64_t number, std::int32_t units) const {
    if (units == 0 || units == 1) return;
    const char* known[] = {"seconds of arc", "decimal degrees", "degrees, minutes and seconds"};
    throw FileError(concat("'", reader.name(), "': trace ", number + 1, " has coordinates in ",
                           units >= 2 && units <= 4 ? known[units - 2] : "an unknown unit",
                           " (code ", units,
                           " in bytes 89-90; allowed: 1, lengths, or 0, not said): project "
                           "the coordinates first"));
  }

  void index_segy(const fs::path& path) {
    m_segy = true;
    const std::size_t file = m_paths.size();
    m_paths.push_back(path);
    const io::SegyReader reader(path);
    const io::SegyHeader& header = reader.header();
    if (file == 0) samples = header.samples;
    check_samples(path, header.samples);
    const double unit = unit_of(reader);
    take_interval(reader, -1, header.interval);
    std::map<std::tuple<std::int32_t, double, double, double>, std::size_t> known;
    std::int64_t found = 0;
    for (std::int64_t number = 0; number < header.traces; ++number) {
      const io::SegyTrace trace = reader.trace(number);
      if (std::find(std::begin(live), std::end(live), trace.identification) == std::end(live)) {
        ++m_left_out[trace.identification];
        continue;
      }
      ++found;
      check_units(reader, number, trace.coordinate_units);
      take_interval(reader, number, trace.interval);
      const Point<3> source = {trace.source_x * unit, trace.source_y * unit,
                               source_depth(reader, number, trace) * unit};
      const double sign = m_options.elevations == Elevations::depth ? 1.0 : -1.0;
      const Point<3> receiver = {trace.receiver_x * unit, trace.receiver_y * unit,
                                 sign * trace.receiver_elevation * unit};
      const auto [at, is_new] = known.try_emplace(
          std::tuple(trace.field_record, source[0], source[1], source[2]), shots.size());
      if (is_new) {
        RawShot shot;
        shot.file = file;
        shot.number = trace.field_record;
        shot.sources = {source};
        shot.t0 = trace.delay / 1e3;
        shots.push_back(std::move(shot));
      }
      RawShot& shot = shots[at->second];
      if (shot.t0 != trace.delay / 1e3) {
        throw FileError(concat(name_of(shot), ": trace ", number + 1, " begins at ", trace.delay,
                               " ms, trace ", shot.traces.front() + 1, " at ", shot.t0 * 1e3,
                               " ms (delay recording time, bytes 109-110; allowed: one delay in a "
                               "shot): shift the traces first"));
      }
      shot.receivers.push_back(receiver);
      shot.traces.push_back(number);
    }
    if (found > 0) return;
    std::string kinds;
    for (const auto& [code, count] : m_left_out) {
      kinds += concat(kinds.empty() ? "" : ", ", count, " of ", code);
    }
    throw FileError(concat("'", reader.name(),
                           "' has no trace of seismic data (trace "
                           "identification, bytes 29-30: ",
                           kinds,
                           "; allowed: 1 seismic data, 11 pressure, or 0, not said): correct the "
                           "headers or take another file"));
  }

  // ---- model_waves ----

  void index_summary(const fs::path& path) {
    m_segy = false;
    const io::InputFile file(path);
    nlohmann::json summary;
    try {
      summary = nlohmann::json::parse(file.text(file.size()));
    } catch (const nlohmann::json::exception& error) {
      throw FileError(concat("'", path.string(), "' is no JSON (", error.what(),
                             "): give the summary.json that model_waves wrote"));
    }
    const auto refuse = [&](const std::string& what) {
      return FileError(concat("'", path.string(), "': ", what,
                              " (allowed: what model_waves writes): run it again"));
    };
    const auto points = [&](const nlohmann::json& list, const std::string& what) {
      if (!list.is_array()) throw refuse(concat(what, " is no list of positions"));
      Points<3> result;
      for (const nlohmann::json& row : list) {
        bool good = row.is_array() && (row.size() == 2 || row.size() == 3);
        for (const nlohmann::json& value : row) good = good && value.is_number();
        if (!good || (!m_no_dimension && (row.size() == 2) != two_dimensional)) {
          throw refuse(concat(what, " has ", row.dump(), " where a position should be"));
        }
        two_dimensional = row.size() == 2;
        m_no_dimension = false;
        result.push_back(two_dimensional ? Point<3>{row[0].get<double>(), 0.0, row[1].get<double>()}
                                         : Point<3>{row[0].get<double>(), row[1].get<double>(),
                                                    row[2].get<double>()});
      }
      return result;
    };
    const auto gather = summary.find("gather");
    const auto list = summary.find("shots");
    if (!summary.is_object() || list == summary.end() || !list->is_array() || list->empty() ||
        gather == summary.end() || !gather->is_object() || !gather->contains("interval") ||
        !(*gather)["interval"].is_number()) {
      throw refuse("it has no shots, or no gather.interval");
    }
    m_seconds = (*gather)["interval"].get<double>();
    if (!(m_seconds > 0.0) && m_options.interval == 0.0) {
      throw refuse(concat("gather.interval is ", m_seconds, " s"));
    }
    Points<3> common;
    for (std::size_t k = 0; k < list->size(); ++k) {
      const nlohmann::json& entry = (*list)[k];
      const std::string what = concat("shots[", k, "]");
      if (!entry.is_object() || !entry.contains("number") || !entry["number"].is_number_integer() ||
          !entry.contains("gather") || !entry["gather"].is_string() || !entry.contains("sources") ||
          !entry.contains("receivers")) {
        throw refuse(concat(what, " lacks its number, gather, sources or receivers"));
      }
      RawShot shot;
      shot.file = m_paths.size();
      shot.number = entry["number"].get<std::int64_t>();
      const std::string name = entry["gather"].get<std::string>();
      if (fs::path(name).filename() != name) {
        throw refuse(concat(what, ".gather is '", name, "', no file of the same folder"));
      }
      m_paths.push_back(path.parent_path() / name);
      shot.sources = points(entry["sources"], what + ".sources");
      if (shot.sources.empty()) throw refuse(concat(what, " has no source"));
      if (entry["receivers"].is_array()) {
        shot.receivers = points(entry["receivers"], what + ".receivers");
        if (k == 0) common = shot.receivers;
      } else {
        shot.receivers = common;
      }
      if (shot.receivers.empty()) throw refuse(concat(what, " has no receiver"));
      const std::vector<std::int64_t> shape = io::peek_npy(m_paths.back()).shape;
      if (shape.size() != 2 || shape[0] != static_cast<std::int64_t>(shot.receivers.size())) {
        refuse_shape(m_paths.back(), shape,
                     concat(shot.receivers.size(), " x samples, as the receivers of shot ",
                            shot.number, " in '", path.string(), "'"));
      }
      if (k == 0) samples = shape[1];
      check_samples(m_paths.back(), shape[1]);
      shot.traces.resize(shot.receivers.size());
      std::iota(shot.traces.begin(), shot.traces.end(), 0);
      shots.push_back(std::move(shot));
    }
    m_source = path.string();
  }

  // ---- both ----

  // Throws for two receivers of a shot at the same place.
  void check_duplicates(const RawShot& shot) const {
    std::vector<std::size_t> order(shot.receivers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) {
      const Point<3>& p = shot.receivers[i];
      return std::tuple(p[0], p[1], p[2]);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(key(a), a) < std::pair(key(b), b);
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (key(order[i - 1]) != key(order[i])) continue;
      throw FileError(concat(name_of(shot), ": traces ", shot.traces[order[i - 1]] + 1, " and ",
                             shot.traces[order[i]] + 1, " have their receivers at the same place, ",
                             format_point(shot.receivers[order[i]]),
                             " m as x, y and depth (allowed: one trace for each place): mark one "
                             "of them dead, or stack them"));
    }
  }

  void finish() {
    for (const RawShot& shot : shots) check_duplicates(shot);
    if (m_options.interval > 0.0) {
      interval = m_options.interval;
    } else if (!m_segy) {
      interval = m_seconds;
    } else if (m_microseconds > 0) {
      interval = m_microseconds / 1e6;
    } else {
      throw FileError(concat("'", m_paths.front().string(),
                             "' does not say the sample interval (bytes 3217-3218 and 117-118 are "
                             "0): give it"));
    }
    std::int64_t traces = 0;
    std::set<std::int64_t> numbers;
    bool named = true;
    double least = shots.front().t0, greatest = least;
    for (const RawShot& shot : shots) {
      traces += static_cast<std::int64_t>(shot.traces.size());
      named = named && shot.number >= 0 && numbers.insert(shot.number).second;
      least = std::min(least, shot.t0);
      greatest = std::max(greatest, shot.t0);
    }
    const auto count = static_cast<std::int64_t>(shots.size());
    const auto files = static_cast<std::int64_t>(m_paths.size());
    notes.push_back(concat(count, " shot", plural(count), ", ", traces, " trace", plural(traces),
                           " of ", samples, " samples every ", milliseconds(interval), ", from ",
                           m_segy ? (files == 1 ? concat("'", m_paths.front().string(), "'")
                                                : concat(files, " SEG-Y files, the first '",
                                                         m_paths.front().string(), "'"))
                                  : concat("'", m_source, "'")));
    if (m_options.interval > 0.0) {
      notes.push_back(concat("the interval is the one that was given, ", milliseconds(interval)));
    } else if (m_segy && m_interval_place.rfind("the binary", 0) != 0) {
      notes.push_back("the interval comes from the trace headers, the binary header says 0");
    }
    for (const auto& [code, number] : m_left_out) {
      notes.push_back(
          code == dead
              ? concat(number, " dead trace", plural(number), " left out (trace identification 2)")
              : concat(number, " trace", plural(number),
                       " left out that are no seismic data (trace identification ", code, ")"));
    }
    if (m_segy && (m_options.unit == LengthUnit::feet ||
                   (m_options.unit == LengthUnit::automatic && m_feet))) {
      notes.push_back("positions were feet and are converted to metres");
    }
    if (m_segy && m_options.elevations == Elevations::depth) {
      notes.push_back("elevations are taken as depths, positive down");
    }
    if (least != 0.0 || greatest != 0.0) {
      notes.push_back(concat("first samples are ", milliseconds(least),
                             least == greatest ? std::string() : " to " + milliseconds(greatest),
                             " after the shots (delay recording time)"));
    }
    if (!named) {
      notes.push_back("shots are numbered from 1, their field record numbers are not unique");
      std::int64_t number = 0;
      for (RawShot& shot : shots) shot.number = ++number;
    }
  }

  SurveyOptions m_options;
  std::vector<fs::path> m_paths;  // of each SEG-Y file, or of each shot's .npy
  bool m_segy = true;
  bool m_feet = false;
  bool m_no_dimension = true;
  double m_seconds = 0.0;                           // of summary.json
  std::int32_t m_microseconds = 0;                  // of SEG-Y
  std::string m_interval_place;                     // which header says so
  std::string m_source;                             // summary.json
  std::map<std::int32_t, std::int64_t> m_left_out;  // traces by identification
  mutable std::optional<io::SegyReader> m_reader;   // the file read last
  mutable std::size_t m_open = 0;
};

}  // namespace detail

namespace {

// Positions of three coordinates to those of a model.
template <int Dim>
class Mapping {
 public:
  Mapping(const std::vector<detail::RawShot>& shots, const SurveyOptions& options,
          bool two_dimensional)
      : m_origin(options.origin) {
    if constexpr (Dim == 2) {
      if (!two_dimensional) find_line(shots, options.line);
    } else {
      (void)shots, (void)two_dimensional;
    }
  }

  Point<Dim> operator()(const Point<3>& p) const {
    if constexpr (Dim == 3) {
      return {p[0] - m_origin[0], p[1] - m_origin[1], p[2] - m_origin[2]};
    } else {
      return {along(p) - m_from - m_origin[0], p[2] - m_origin[2]};
    }
  }

  const std::vector<std::string>& notes() const { return m_notes; }

 private:
  double along(const Point<3>& p) const { return m_direction[0] * p[0] + m_direction[1] * p[1]; }
  double across(const Point<3>& p) const { return m_direction[0] * p[1] - m_direction[1] * p[0]; }

  template <class Function>
  static void for_all(const std::vector<detail::RawShot>& shots, const Function& function) {
    for (const detail::RawShot& shot : shots) {
      for (const Point<3>& p : shot.sources) function(p, shot);
      for (const Point<3>& p : shot.receivers) function(p, shot);
    }
  }

  void find_line(const std::vector<detail::RawShot>& shots, const SurveyLine& line) {
    double count = 0.0, x = 0.0, y = 0.0;
    for_all(shots, [&](const Point<3>& p, const detail::RawShot&) {
      ++count;
      x += p[0];
      y += p[1];
    });
    const Point<3> centre = {x / count, y / count, 0.0};
    if (line.kind == SurveyLine::Kind::angle) {
      const double angle = line.degrees * pi / 180.0;
      m_direction = {std::cos(angle), std::sin(angle)};
      if (line.degrees == 0.0) m_direction = {1.0, 0.0};
      m_off = across(centre);
    } else if (line.kind == SurveyLine::Kind::points) {
      const double length = std::hypot(line.last[0] - line.first[0], line.last[1] - line.first[1]);
      m_direction = {(line.last[0] - line.first[0]) / length,
                     (line.last[1] - line.first[1]) / length};
      const Point<3> first = {line.first[0], line.first[1], 0.0};
      m_from = along(first);
      m_off = across(first);
    } else {
      double xx = 0.0, xy = 0.0, yy = 0.0;
      for_all(shots, [&](const Point<3>& p, const detail::RawShot&) {
        const double dx = p[0] - centre[0], dy = p[1] - centre[1];
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
      });
      const double angle = 0.5 * std::atan2(2.0 * xy, xx - yy);
      m_direction = {std::cos(angle), std::sin(angle)};
      if (m_direction[0] < -1e-9 || (m_direction[0] <= 1e-9 && m_direction[1] < 0.0)) {
        m_direction = {-m_direction[0], -m_direction[1]};
      }
      if (std::fabs(m_direction[1]) <= along_x) {
        m_direction = {1.0, 0.0};
      } else {
        m_from = std::numeric_limits<double>::infinity();
        for_all(shots, [&](const Point<3>& p, const detail::RawShot&) {
          m_from = std::min(m_from, along(p));
        });
      }
      m_off = across(centre);
    }
    if (m_direction[1] != 0.0 || m_from != 0.0) {
      // where the line is at zero distance
      const double x0 = m_from * m_direction[0] - m_off * m_direction[1];
      const double y0 = m_from * m_direction[1] + m_off * m_direction[0];
      m_notes.push_back(concat("positions are projected on the line through (", x0, ", ", y0,
                               ") m, from where it is measured, in the direction (", m_direction[0],
                               ", ", m_direction[1], ")"));
    }
    double farthest = 0.0;
    std::int64_t number = 0;
    for_all(shots, [&](const Point<3>& p, const detail::RawShot& shot) {
      const double distance = std::fabs(across(p) - m_off);
      if (distance > farthest * (1.0 + 1e-12)) {
        farthest = distance;
        number = shot.number;
      }
    });
    if (farthest > 1e-6) {
      m_notes.push_back(concat("positions lie up to ", farthest, " m off the line, those of shot ",
                               number, " the farthest"));
    }
  }

  std::array<double, 3> m_origin;
  std::array<double, 2> m_direction = {1.0, 0.0};
  double m_from = 0.0;  // of what is along, where the distance is zero
  double m_off = 0.0;   // of what is across, on the line
  std::vector<std::string> m_notes;
};

// Least and greatest coordinate.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  void add(double value) {
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
};

template <int Dim>
std::array<Range, Dim> ranges_of(const std::vector<wave::Shot<Dim>>& shots, bool sources) {
  std::array<Range, Dim> ranges;
  for (const wave::Shot<Dim>& shot : shots) {
    for (const Point<Dim>& p : sources ? shot.sources : shot.receivers) {
      for (int d = 0; d < Dim; ++d) ranges[static_cast<std::size_t>(d)].add(p[d]);
    }
  }
  return ranges;
}

template <int Dim>
std::string describe(const std::array<Range, Dim>& ranges) {
  std::string text;
  for (int d = 0; d < Dim; ++d) {
    const Range& range = ranges[static_cast<std::size_t>(d)];
    text += concat(d ? ", " : "", axis_name<Dim>(d), " ", range.least);
    if (range.greatest != range.least) text += concat(" to ", range.greatest);
  }
  return text;
}

// What is wrong with a survey of which nothing is inside of the grid.
template <int Dim>
std::string reason_outside(const Grid<Dim>& grid, const std::vector<wave::Shot<Dim>>& shots,
                           const SurveyOptions& options) {
  std::array<Range, Dim> model;
  for (int d = 0; d < Dim; ++d) {
    model[static_cast<std::size_t>(d)].add(grid.origin[d]);
    model[static_cast<std::size_t>(d)].add(grid.upper(d));
  }
  const auto sources = ranges_of<Dim>(shots, true), receivers = ranges_of<Dim>(shots, false);
  const Range& depths = model[Dim - 1];
  // would the other sign of elevations bring all of them inside?
  bool other_sign = false;
  for (const Range& range : {sources[Dim - 1], receivers[Dim - 1]}) {
    const double shift = 2.0 * options.origin[2];
    other_sign =
        other_sign || (range.greatest < depths.least && -range.greatest - shift >= depths.least &&
                       -range.least - shift <= depths.greatest);
  }
  std::string text =
      concat("shots: none of ", shots.size(), " has its source and a receiver in the ",
             "model (sources ", describe<Dim>(sources), " m, receivers ", describe<Dim>(receivers),
             " m; the model ", describe<Dim>(model), " m): ");
  if (other_sign) {
    text += options.elevations == Elevations::standard
                ? "they are above it with elevations as heights, by the standard; take elevations "
                  "as depths (--elevations depth)"
                : "they are above it with elevations as depths; take elevations as heights, by the "
                  "standard (--elevations standard)";
  } else {
    text += "shift the origin of the survey, check the unit of its lengths, or take another model";
  }
  return text;
}

}  // namespace

template <int Dim>
Survey<Dim>::Survey(const fs::path& path, const SurveyOptions& options)
    : m_files(std::make_unique<detail::SurveyFiles>(path, options)), m_options(options) {
  if (Dim == 3 && m_files->two_dimensional) {
    throw InputError(concat("'", path.string(),
                            "' has positions of two coordinates (allowed for a model of three "
                            "dimensions: three): take a model of two dimensions"));
  }
  const Mapping<Dim> map(m_files->shots, options, m_files->two_dimensional);
  m_notes = m_files->notes;
  m_notes.insert(m_notes.end(), map.notes().begin(), map.notes().end());
  if (options.origin != std::array<double, 3>{}) {
    m_notes.push_back(concat("positions are counted from (", options.origin[0], ", ",
                             Dim == 3 ? concat(options.origin[1], ", ") : std::string(),
                             options.origin[2], ") m"));
  }
  for (detail::RawShot& raw : m_files->shots) {
    wave::Shot<Dim> shot;
    shot.number = raw.number;
    for (const Point<3>& p : raw.sources) shot.sources.push_back(map(p));
    for (const Point<3>& p : raw.receivers) shot.receivers.push_back(map(p));
    raw.receivers = Points<3>();  // gives its memory back
    m_index.push_back(m_shots.size());
    m_shots.push_back(std::move(shot));
  }
}

template <int Dim>
Survey<Dim>::~Survey() = default;
template <int Dim>
Survey<Dim>::Survey(Survey&&) noexcept = default;
template <int Dim>
Survey<Dim>& Survey<Dim>::operator=(Survey&&) noexcept = default;

template <int Dim>
double Survey<Dim>::t0(std::size_t k) const {
  return m_files->shots[m_index.at(k)].t0;
}
template <int Dim>
double Survey<Dim>::interval() const {
  return m_files->interval;
}
template <int Dim>
std::int64_t Survey<Dim>::samples() const {
  return m_files->samples;
}
template <int Dim>
std::string Survey<Dim>::name(std::size_t k) const {
  return m_files->name_of(m_files->shots[m_index.at(k)]);
}

template <int Dim>
void Survey<Dim>::keep_inside(const Grid<Dim>& grid) {
  std::vector<wave::Shot<Dim>> kept;
  std::vector<std::size_t> index;
  std::int64_t receivers = 0;
  std::string first;  // what is left out
  for (std::size_t k = 0; k < m_shots.size(); ++k) {
    const wave::Shot<Dim>& shot = m_shots[k];
    const auto inside = [&](const Point<Dim>& p) { return grid.contains(p); };
    if (!std::all_of(shot.sources.begin(), shot.sources.end(), inside) ||
        std::none_of(shot.receivers.begin(), shot.receivers.end(), inside)) {
      if (first.empty()) first = concat(shot.number);
      continue;
    }
    kept.push_back({shot.number, shot.sources, {}});
    index.push_back(m_index[k]);
    for (const Point<Dim>& p : shot.receivers) {
      if (inside(p)) {
        kept.back().receivers.push_back(p);
      } else {
        ++receivers;
      }
    }
  }
  if (kept.empty()) throw InputError(reason_outside<Dim>(grid, m_shots, m_options));
  // all is well: the traces that go with the receivers
  for (std::size_t k = 0, i = 0; k < m_shots.size(); ++k) {
    if (i == index.size() || index[i] != m_index[k]) continue;
    ++i;
    std::vector<std::int64_t>& traces = m_files->shots[m_index[k]].traces;
    std::vector<std::int64_t> some;
    for (std::size_t r = 0; r < traces.size(); ++r) {
      if (grid.contains(m_shots[k].receivers[r])) some.push_back(traces[r]);
    }
    traces = std::move(some);
  }
  const auto lost = static_cast<std::int64_t>(m_shots.size() - kept.size());
  if (lost > 0) {
    m_notes.push_back(concat(lost, " shot", plural(lost),
                             " left out whose source or receivers are outside of the model, the "
                             "first being shot ",
                             first));
  }
  if (receivers > 0) {
    m_notes.push_back(concat(receivers, " trace", plural(receivers),
                             " left out whose receivers are outside of the model"));
  }
  m_shots = std::move(kept);
  m_index = std::move(index);
}

template <int Dim>
ShotGather<Dim> Survey<Dim>::read(std::size_t k) const {
  const detail::RawShot& raw = m_files->shots[m_index.at(k)];
  ShotGather<Dim> gather;
  gather.shot = m_shots[k];
  gather.count = samples();
  gather.dt = interval();
  gather.t0 = raw.t0;
  gather.name = m_files->name_of(raw);
  gather.samples = m_files->read(raw);
  const auto count = static_cast<std::size_t>(gather.count);
  std::size_t used = 0;
  std::int64_t zero = 0, first_zero = 0;
  for (std::size_t r = 0; r < raw.traces.size(); ++r) {
    const float* const trace = gather.samples.data() + r * count;
    bool silent = true;
    for (std::size_t i = 0; i < count; ++i) {
      if (!std::isfinite(trace[i])) {
        throw FileError(concat(gather.name, ": trace ", raw.traces[r] + 1, " is ", trace[i],
                               " at sample ", i + 1,
                               " (allowed: finite numbers): mark the trace dead, or repair it"));
      }
      silent = silent && trace[i] == 0.0F;
    }
    if (silent && ++zero == 1) first_zero = raw.traces[r] + 1;
    if (silent && !m_options.keep_zero_traces) continue;
    if (used < r) {
      std::copy_n(trace, count, gather.samples.data() + used * count);
      gather.shot.receivers[used] = gather.shot.receivers[r];
    }
    gather.traces.push_back(raw.traces[r] + 1);
    ++used;
  }
  gather.shot.receivers.resize(used);
  gather.samples.resize(used * count);
  if (zero > 0) {
    const bool all = zero == static_cast<std::int64_t>(raw.traces.size());
    gather.notes.push_back(concat(all ? "all " : "", zero, " trace", plural(zero),
                                  zero == 1 ? " is zero" : " are zero",
                                  m_options.keep_zero_traces ? " and kept" : " and left out",
                                  all         ? ""
                                  : zero == 1 ? ": "
                                              : ", the first being ",
                                  all ? "" : concat("trace ", first_zero)));
  }
  return gather;
}

template class Survey<2>;
template class Survey<3>;

}  // namespace moho::rtm
