// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/angles.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/detail/survey_files.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/left_out.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace moho::survey {

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
  const std::vector<std::string> points = text::split(text, ':');
  if (points.size() == 1) {
    const auto angle = text::to_number(points[0]);
    if (!angle) throw refuse("is no angle");
    line.kind = SurveyLine::Kind::angle;
    line.degrees = *angle;
    return line;
  }
  if (points.size() != 2) throw refuse(concat("has ", points.size(), " parts"));
  line.kind = SurveyLine::Kind::points;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::vector<std::string> numbers = text::split(points[k], ',');
    if (numbers.size() != 2) throw refuse(concat("has '", points[k], "' where a point should be"));
    for (std::size_t d = 0; d < 2; ++d) {
      const auto value = text::to_number(numbers[d]);
      if (!value) throw refuse(concat("has '", numbers[d], "' where a number should be"));
      (k == 0 ? line.first : line.last)[d] = *value;
    }
  }
  if (line.first == line.last) throw refuse("has the same point twice");
  return line;
}

namespace {

constexpr double along_x = 0.01;   // sine of the angle to x below which a line is the x axis
constexpr double along_y = 1e-12;  // cosine up to which it is the y axis: the rounding of the angle

// Projection of positions of three coordinates to those of a model.
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
      const auto [sine, cosine] = sine_and_cosine(line.degrees);
      m_direction = {cosine, sine};
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
      if (std::fabs(m_direction[0]) <= along_y) m_direction = {0.0, 1.0};
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
      // point of zero distance
      const double x0 = m_from * m_direction[0] - m_off * m_direction[1] + 0.0;  // no -0
      const double y0 = m_from * m_direction[1] + m_off * m_direction[0] + 0.0;
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
  double m_from = 0.0;  // coordinate along the line where the distance is zero
  double m_off = 0.0;   // coordinate across the line, of points on it
  std::vector<std::string> m_notes;
};

// Minimum and maximum coordinate.
struct Range {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  void add(double value) {
    min = std::min(min, value);
    max = std::max(max, value);
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
    text += concat(d ? ", " : "", axis_name<Dim>(d), " ", range.min);
    if (range.max != range.min) text += concat(" to ", range.max);
  }
  return text;
}

// Text of the error for a survey entirely outside the grid.
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
  // checks if all positions are inside with the other sign of elevations
  bool other_sign = false;
  for (const Range& range : {sources[Dim - 1], receivers[Dim - 1]}) {
    const double shift = 2.0 * options.origin[2];
    other_sign = other_sign || (range.max < depths.min && -range.max - shift >= depths.min &&
                                -range.min - shift <= depths.max);
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
  const SurveyLine& line = options.line;
  const bool unchanged = line.kind == SurveyLine::Kind::automatic ||
                         (line.kind == SurveyLine::Kind::angle && line.degrees == 0.0);
  if (!unchanged && (Dim == 3 || m_files->two_dimensional)) {
    throw InputError(concat("line: it projects positions of three coordinates for a model of two ",
                            "dimensions, and ",
                            Dim == 3 ? "the model has three" : "the positions have two",
                            " (allowed: auto, or 0): omit it"));
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
    raw.receivers = Points<3>();  // releases the memory
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
double Survey<Dim>::duration() const {
  double latest = -std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < size(); ++k) latest = std::max(latest, t0(k));
  return interval() * static_cast<double>(samples() - 1) + latest;
}
template <int Dim>
std::string Survey<Dim>::name(std::size_t k) const {
  return m_files->name_of(m_files->shots[m_index.at(k)]);
}

template <int Dim>
void Survey<Dim>::keep_inside(const Grid<Dim>& grid) {
  std::int64_t moved = 0;
  for (wave::Shot<Dim>& shot : m_shots) {
    for (Points<Dim>* const points : {&shot.sources, &shot.receivers}) {
      for (Point<Dim>& p : *points) {
        const Point<Dim> on = onto_faces<Dim>(grid, p);
        if (grid.contains(p) || !grid.contains(on)) continue;
        p = on;
        ++moved;
      }
    }
  }
  if (moved > 0) {
    m_notes.push_back(concat(text::counted(moved, "position"), " outside of the model by at most ",
                             rounding_of_positions, " of its spacing moved onto its faces"));
  }
  std::vector<wave::Shot<Dim>> kept;
  std::vector<std::size_t> index;
  std::int64_t receivers = 0;
  std::string first;  // first omission
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
  // no errors: keeps the traces of the remaining receivers
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
    m_notes.push_back(concat(text::counted(lost, "shot"),
                             " left out whose source or receivers are outside of the model, the "
                             "first being shot ",
                             first));
  }
  if (receivers > 0) {
    m_notes.push_back(concat(text::counted(receivers, "trace"),
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
  gather.two_dimensional = m_files->two_dimensional;
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
    gather.notes.push_back(concat(all ? "all " : "", text::counted(zero, "trace is", "traces are"),
                                  " zero",
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

}  // namespace moho::survey
