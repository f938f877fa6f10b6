// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/text.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/npy.hpp>
#include <moho/survey/detail/survey_files.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace moho::survey::detail {

namespace fs = std::filesystem;

namespace {

constexpr double foot = 0.3048;              // metres
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

nlohmann::json parse_summary(const fs::path& path) {
  const io::InputFile file(path);
  try {
    return nlohmann::json::parse(file.text(file.size()));
  } catch (const nlohmann::json::parse_error& error) {
    throw FileError(concat("'", path.string(), "' is no JSON (its byte ", error.byte,
                           " is wrong): give the summary.json that model_waves wrote"));
  }
}

// Returns a note about a run of model_waves that has not written all of its shots, or nothing.
std::string incomplete_run(const fs::path& path, const nlohmann::json& summary,
                           std::size_t complete) {
  const auto state = summary.find("state");
  if (state == summary.end() || !state->is_string() || *state == "done") return "";
  std::size_t missing = 0;
  const auto to_write = summary.find("to_write");
  if (to_write != summary.end() && to_write->is_array()) {
    for (const nlohmann::json& name : *to_write) {
      if (!name.is_string()) continue;
      const fs::path file = name.get<std::string>();
      missing += file.extension() == ".npy" && file.string().rfind("gather_", 0) == 0 ? 1U : 0U;
    }
  }
  const std::string folder = path.parent_path().empty() ? "." : path.parent_path().string();
  return concat("the run of '", folder, "' is ", state->get<std::string>(), ": ", complete,
                missing > 0 ? concat(" of ", complete + missing) : std::string(),
                " of its shots are complete");
}

}  // namespace

SurveyFiles::SurveyFiles(const fs::path& path, const SurveyOptions& options) : m_options(options) {
  if (!(options.interval >= 0.0) || !std::isfinite(options.interval)) {
    throw InputError(
        concat("interval is ", options.interval, " s (allowed: positive, or 0: as the files say)"));
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

std::string SurveyFiles::name_of(const RawShot& shot) const {
  return concat("'", m_paths[shot.file].string(), "', shot ", shot.number);
}

/// Returns the samples of a shot, trace after trace.
std::vector<float> SurveyFiles::read(const RawShot& shot) const {
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

void SurveyFiles::refuse_shape(const fs::path& path, const std::vector<std::int64_t>& shape,
                               const std::string& wanted) {
  throw FileError(concat("'", path.string(), "' has the shape ", io::shape_string(shape),
                         " (allowed: ", wanted, "): it is not the gather of this shot"));
}

void SurveyFiles::check_samples(const fs::path& path, std::int64_t found) const {
  if (found == samples) return;
  throw FileError(concat("'", path.string(), "' has ", found, " samples in a trace, '",
                         m_paths.front().string(), "' has ", samples,
                         " (allowed: the same in a survey): cut or extend the traces"));
}

void SurveyFiles::open_folder(const fs::path& folder) {
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

// Returns the length unit of a file in m.
double SurveyFiles::unit_of(const io::SegyReader& reader) {
  if (m_options.unit == LengthUnit::metres) return 1.0;
  if (m_options.unit == LengthUnit::feet) return foot;
  const std::int32_t system = reader.header().measurement_system;
  if (m_paths.size() > 1 && (system == 2) != m_feet) {
    throw FileError(concat("'", reader.name(), "' has lengths in ", system == 2 ? "feet" : "metres",
                           ", '", m_paths.front().string(), "' in ", m_feet ? "feet" : "metres",
                           " (bytes 3255-3256; allowed: the same in a survey): say which unit "
                           "all of them have"));
  }
  m_feet = system == 2;
  return m_feet ? foot : 1.0;
}

// Sets the sampling interval in microseconds from a header. Throws FileError if headers differ.
void SurveyFiles::take_interval(const io::SegyReader& reader, std::int64_t trace,
                                std::int32_t stated) {
  if (stated == 0 || m_options.interval > 0.0) return;
  const bool binary = trace < 0;
  const std::string location = binary ? "the binary header (bytes 3217-3218)"
                                      : concat("trace ", trace + 1, " (bytes 117-118)");
  if (m_microseconds == 0) {
    m_microseconds = stated;
    m_interval_location = concat(location, " of '", reader.name(), "'");
    return;
  }
  if (stated == m_microseconds) return;
  throw FileError(concat("'", reader.name(), "': ", location, " has an interval of ", stated,
                         " us, ", m_interval_location, " one of ", m_microseconds,
                         " us (allowed: the same in a survey): resample the data, or give the "
                         "interval that all of them have"));
}

// Returns the source depth in the unit of the file.
double SurveyFiles::source_depth(const io::SegyReader& reader, std::int64_t number,
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

void SurveyFiles::index_segy(const fs::path& path) {
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
    io::check_lengths(reader.name(), number, trace.coordinate_units);
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

void SurveyFiles::refuse_header_options(const fs::path& path) const {
  for (const auto& [name, given] :
       {std::pair("elevations", m_options.elevations != Elevations::standard),
        std::pair("length unit", m_options.unit != LengthUnit::automatic)}) {
    if (!given) continue;
    throw InputError(concat("'", path.string(), "': ", name, " was given for positions of ",
                            "model_waves, which are in m, with depths (allowed with it: SEG-Y ",
                            "headers): omit it"));
  }
}

void SurveyFiles::index_summary(const fs::path& path) {
  refuse_header_options(path);
  m_segy = false;
  const nlohmann::json summary = parse_summary(path);
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
  const std::string note = incomplete_run(path, summary, shots.size());
  if (!note.empty()) notes.push_back(note);
}

// ---- both ----

// Throws FileError for two receivers of a shot at one position.
void SurveyFiles::check_duplicates(const RawShot& shot) const {
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
    const Point<3>& location = shot.receivers[order[i]];
    const bool flat = !m_segy && two_dimensional;
    throw FileError(
        concat(name_of(shot), ": traces ", shot.traces[order[i - 1]] + 1, " and ",
               shot.traces[order[i]] + 1, " have their receivers at the same place, ",
               flat ? format_point(Point<2>{location[0], location[2]}) : format_point(location),
               flat ? " m as x and depth" : " m as x, y and depth",
               " (allowed: one trace for each place): ",
               m_segy ? "mark one of them dead, or stack them"
                      : "name the receiver once for model_waves, and run it again"));
  }
}

void SurveyFiles::finish() {
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
                           "0): give it as ",
                           m_options.names("interval")));
  }
  std::int64_t traces = 0;
  std::set<std::int64_t> numbers;
  bool named = true;
  double min = shots.front().t0, max = min;
  for (const RawShot& shot : shots) {
    traces += static_cast<std::int64_t>(shot.traces.size());
    named = named && shot.number >= 0 && numbers.insert(shot.number).second;
    min = std::min(min, shot.t0);
    max = std::max(max, shot.t0);
  }
  const auto count = static_cast<std::int64_t>(shots.size());
  const auto files = static_cast<std::int64_t>(m_paths.size());
  notes.push_back(concat(text::counted(count, "shot"), ", ", text::counted(traces, "trace"), " of ",
                         samples, " samples every ", milliseconds(interval), ", from ",
                         m_segy ? (files == 1 ? concat("'", m_paths.front().string(), "'")
                                              : concat(files, " SEG-Y files, the first '",
                                                       m_paths.front().string(), "'"))
                                : concat("'", m_source, "'")));
  if (m_options.interval > 0.0) {
    notes.push_back(concat("the interval is the one that was given, ", milliseconds(interval)));
  } else if (m_segy && m_interval_location.rfind("the binary", 0) != 0) {
    notes.push_back("the interval comes from the trace headers, the binary header says 0");
  }
  for (const auto& [code, number] : m_left_out) {
    notes.push_back(
        code == dead
            ? concat(text::counted(number, "dead trace"), " left out (trace identification 2)")
            : concat(text::counted(number, "trace"),
                     " left out that are no seismic data (trace identification ", code, ")"));
  }
  if (m_segy &&
      (m_options.unit == LengthUnit::feet || (m_options.unit == LengthUnit::automatic && m_feet))) {
    notes.push_back("positions were feet and are converted to metres");
  }
  if (m_segy && m_options.elevations == Elevations::depth) {
    notes.push_back("elevations are taken as depths, positive down");
  }
  if (min != 0.0 || max != 0.0) {
    notes.push_back(concat("first samples are ", milliseconds(min),
                           min == max ? std::string() : " to " + milliseconds(max),
                           " after the shots (delay recording time)"));
  }
  if (!named) {
    notes.push_back("shots are numbered from 1, their field record numbers are not unique");
    std::int64_t number = 0;
    for (RawShot& shot : shots) shot.number = ++number;
  }
}

}  // namespace moho::survey::detail
