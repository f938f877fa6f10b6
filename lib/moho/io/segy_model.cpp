// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/text.hpp>
#include <moho/io/segy.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace moho::io {

namespace {

// Largest deviation of a trace of a section from the best fit of equidistant positions, in
// spacings. Positions of a line that was surveyed are scattered around a regular line.
constexpr double scatter_tolerance = 0.2;
// Smallest number of traces to which equidistant positions are fitted.
constexpr std::size_t fewest_scattered = 10;

struct Position {
  double x = 0.0;
  double y = 0.0;
};

std::string text_of(const Position& p) { return concat("(", p.x, ", ", p.y, ")"); }

enum class Direction { oblique, x, y };

/// Equidistant positions; the spacing is 0 for other positions.
struct Line {
  double spacing = 0.0;
  Direction direction = Direction::oblique;
  bool reversed = false;  // coordinates decrease
  Position begin;
  Position end;
  Position step;

  double origin() const {
    const Position& first = reversed ? end : begin;
    return direction == Direction::x ? first.x : direction == Direction::y ? first.y : 0.0;
  }
};

/// Returns the line of `count` positions at the distance `stride` in the list.
Line measure(const std::vector<Position>& at, std::size_t count, std::size_t stride) {
  Line line;
  line.begin = at[0];
  line.end = at[(count - 1) * stride];
  if (count < 2) return line;
  const auto steps = static_cast<double>(count - 1);
  line.step = {(line.end.x - line.begin.x) / steps, (line.end.y - line.begin.y) / steps};
  const double step = std::hypot(line.step.x, line.step.y);
  double across_x = 0.0, across_y = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const Position& p = at[i * stride];
    const auto k = static_cast<double>(i);
    const double dx = p.x - line.begin.x, dy = p.y - line.begin.y;
    if (std::hypot(dx - k * line.step.x, dy - k * line.step.y) > line_tolerance * step) return line;
    across_x = std::max(across_x, std::fabs(dy));
    across_y = std::max(across_y, std::fabs(dx));
  }
  line.spacing = step;
  if (step > 0.0 && across_x <= line_tolerance * step) line.direction = Direction::x;
  if (step > 0.0 && across_y <= line_tolerance * step) line.direction = Direction::y;
  if (line.direction == Direction::x) line.spacing = std::fabs(line.step.x);
  if (line.direction == Direction::y) line.spacing = std::fabs(line.step.y);
  line.reversed = line.direction == Direction::x   ? line.step.x < 0.0
                  : line.direction == Direction::y ? line.step.y < 0.0
                                                   : false;
  return line;
}

/// Returns the equidistant positions closest to all positions, in the sense of least squares.
///
/// `deviation` receives the largest distance of a position from them, m. The result is a line
/// without spacing for few positions, and for those that deviate too much.
Line fit(const std::vector<Position>& at, double& deviation) {
  Line line;
  line.begin = at.front();
  line.end = at.back();
  if (at.size() < fewest_scattered) return line;
  const double middle = 0.5 * static_cast<double>(at.size() - 1);
  Position mean, slope;
  double squares = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double k = static_cast<double>(i) - middle;
    mean.x += (at[i].x - at[0].x) / static_cast<double>(at.size());
    mean.y += (at[i].y - at[0].y) / static_cast<double>(at.size());
    slope.x += k * (at[i].x - at[0].x);
    slope.y += k * (at[i].y - at[0].y);
    squares += k * k;
  }
  const Position step{slope.x / squares, slope.y / squares};
  deviation = 0.0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const double k = static_cast<double>(i) - middle;
    deviation = std::max(deviation, std::hypot(at[i].x - at[0].x - mean.x - k * step.x,
                                               at[i].y - at[0].y - mean.y - k * step.y));
  }
  const double spacing = std::hypot(step.x, step.y);
  if (!(spacing > 0.0 && deviation <= scatter_tolerance * spacing)) return line;
  const auto thousandths = [](double x) { return std::round(1000.0 * x) / 1000.0; };
  const auto position = [&](double k) {
    return Position{thousandths(at[0].x + mean.x + k * step.x),
                    thousandths(at[0].y + mean.y + k * step.y)};
  };
  line.step = step;
  line.begin = position(-middle);
  line.end = position(middle);
  line.spacing = spacing;
  // an angle that the scatter of the positions explains
  const double across = std::max(line_tolerance * spacing, deviation);
  if (std::fabs(line.end.y - line.begin.y) <= across) line.direction = Direction::x;
  if (std::fabs(line.end.x - line.begin.x) <= across) line.direction = Direction::y;
  line.reversed = line.direction == Direction::x && step.x < 0.0;
  return line;
}

/// Returns the number of traces in a row of a complete rectangle of in-lines and cross-lines.
///
/// A row has the values of the faster number. The result is 0 if the traces form no complete
/// rectangle.
std::size_t rectangle(const std::vector<SegyTrace>& traces) {
  const auto faster_than = [&](auto slow, auto fast) -> std::size_t {
    std::size_t width = 1;
    while (width < traces.size() && traces[width].*slow == traces[0].*slow) ++width;
    if (width < 2 || width == traces.size() || traces.size() % width != 0) return 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      const std::size_t row = i / width * width;
      if (traces[i].*slow != traces[row].*slow || traces[i].*fast != traces[i % width].*fast)
        return 0;
      if (i % width > 0 && traces[i].*fast == traces[i - 1].*fast) return 0;
      if (i == row && row > 0 && traces[i].*slow == traces[row - 1].*slow) return 0;
    }
    return width;
  };
  const std::size_t width = faster_than(&SegyTrace::inline_number, &SegyTrace::crossline_number);
  return width ? width : faster_than(&SegyTrace::crossline_number, &SegyTrace::inline_number);
}

/// Refuses the traces of a complete volume in a sequence that rectangle() does not recognise.
void refuse_unsorted(const std::string& name, const std::vector<SegyTrace>& traces) {
  std::set<std::int32_t> inlines, crosslines;
  std::set<std::pair<std::int32_t, std::int32_t>> both;
  for (const SegyTrace& trace : traces) {
    inlines.insert(trace.inline_number);
    crosslines.insert(trace.crossline_number);
    both.insert({trace.inline_number, trace.crossline_number});
  }
  if (inlines.size() < 2 || crosslines.size() < 2 || both.size() != traces.size() ||
      inlines.size() * crosslines.size() != traces.size()) {
    return;
  }
  // first trace that no sorted sequence has at its position
  const std::vector<std::int32_t> rows(inlines.begin(), inlines.end());
  const std::vector<std::int32_t> columns(crosslines.begin(), crosslines.end());
  std::size_t sorted = 0;
  for (int order = 0; order < 8; ++order) {
    std::size_t i = 0;
    for (; i < traces.size(); ++i) {
      const bool inline_slower = order & 1;
      std::size_t r = inline_slower ? i / columns.size() : i % rows.size();
      std::size_t c = inline_slower ? i % columns.size() : i / rows.size();
      if (order & 2) r = rows.size() - 1 - r;
      if (order & 4) c = columns.size() - 1 - c;
      if (traces[i].inline_number != rows[r] || traces[i].crossline_number != columns[c]) break;
    }
    sorted = std::max(sorted, i);
  }
  throw FileError(concat(
      "'", name, "': the traces form a volume of ", rows.size(), " in-lines and ", columns.size(),
      " cross-lines, and trace ", sorted + 1, ", in-line ", traces[sorted].inline_number,
      ", cross-line ", traces[sorted].crossline_number,
      ", is the first out of order (allowed: sorted by in-line and cross-line numbers): sort the "
      "traces"));
}

/// Traces of the first two axes: trace (i, j) is number begin + i * first + j * second.
struct TraceOrder {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t first = 0;
  std::ptrdiff_t second = 0;
};

/// Moves traces to the sequence of `order`, with the shape (nx, ny).
template <class T>
void reorder(Array<T>& values, std::int64_t nx, std::int64_t ny, const TraceOrder& order) {
  const auto samples = static_cast<std::ptrdiff_t>(values.shape.back());
  std::vector<T> moved;
  moved.reserve(values.data.size());
  for (std::ptrdiff_t i = 0; i < nx; ++i) {
    for (std::ptrdiff_t j = 0; j < ny; ++j) {
      const auto from =
          values.data.begin() + (order.begin + i * order.first + j * order.second) * samples;
      moved.insert(moved.end(), from, from + samples);
    }
  }
  values.data = std::move(moved);
}

template <class T>
void add_axis(SegyModel<T>& model, const Line& line) {
  model.spacing.push_back(line.spacing);
  model.origin.push_back(line.origin());
  model.has_origin.push_back(line.direction != Direction::oblique);
}

/// Adds notes on lines without usable directions or positions.
template <class T>
void note_line(SegyModel<T>& model, const Line& line, const char* axis) {
  const bool same = line.begin.x == line.end.x && line.begin.y == line.end.y;
  if (line.spacing > 0.0 && line.direction == Direction::oblique) {
    model.notes.push_back(concat("the traces from ", text_of(line.begin), " to ", text_of(line.end),
                                 " are not parallel to ", axis, ": ", axis,
                                 " is the distance from the first trace"));
  } else if (line.spacing == 0.0 && !same) {
    model.notes.push_back(concat("the coordinates of the traces from ", text_of(line.begin), " to ",
                                 text_of(line.end), " are not equally spaced: they are not used"));
  }
}

/// Sets the axis x of a section.
template <class T>
void place_section(SegyModel<T>& model, const std::vector<Position>& at) {
  Line x = measure(at, at.size(), 1);
  if (at.size() == 1) {
    model.spacing = {0.0};
    model.origin = {at[0].x};
    model.has_origin = {at[0].x != 0.0 || at[0].y != 0.0};
    return;
  }
  if (double deviation = 0.0; x.spacing == 0.0) {
    x = fit(at, deviation);
    if (x.spacing > 0.0) {
      model.notes.push_back(concat("the coordinates of the traces from ", text_of(at.front()),
                                   " to ", text_of(at.back()), " deviate by up to ",
                                   text::significant(deviation, 2), " from equal distances of ",
                                   text::significant(x.spacing, 6), ", which fit them best"));
    }
  }
  if (x.direction == Direction::y) {  // x is measured along the line
    x.direction = Direction::oblique;
    x.reversed = false;
  }
  if (x.reversed) {
    const auto count = static_cast<std::int64_t>(at.size());
    reorder(model.values, count, 1, {count - 1, -1, 0});
    model.notes.push_back("x decreases from trace to trace: the traces were reversed");
  }
  note_line(model, x, "x");
  add_axis(model, x);
}

/// Returns true if all traces lie on the lattice of the first row and the first column.
bool is_lattice(const std::vector<Position>& at, std::size_t width, const Line& slow,
                const Line& fast) {
  const double limit = line_tolerance * std::min(slow.spacing, fast.spacing);
  for (std::size_t k = 0; k < at.size(); ++k) {
    const auto i = static_cast<double>(k / width), j = static_cast<double>(k % width);
    const double dx = at[k].x - at[0].x - i * slow.step.x - j * fast.step.x;
    const double dy = at[k].y - at[0].y - i * slow.step.y - j * fast.step.y;
    if (std::hypot(dx, dy) > 2.0 * limit) return false;
  }
  return true;
}

/// Sets the axes x and y of a volume with `width` traces in a row.
template <class T>
void place_volume(const std::string& name, SegyModel<T>& model, const std::vector<Position>& at,
                  std::size_t width) {
  const std::size_t rows = at.size() / width;
  Line slow = measure(at, rows, width);
  Line fast = measure(at, width, 1);
  if (slow.spacing > 0.0 && fast.spacing > 0.0) {
    const double product = slow.step.x * fast.step.x + slow.step.y * fast.step.y;
    if (std::fabs(product) > line_tolerance * slow.spacing * fast.spacing) {
      throw FileError(
          concat("'", name, "': from the first trace at ", text_of(slow.begin), " lines run to ",
                 text_of(slow.end), " and to ", text_of(fast.end),
                 " (allowed: perpendicular lines): interpolate the model to a rectangular grid"));
    }
    if (!is_lattice(at, width, slow, fast)) slow.spacing = fast.spacing = 0.0;
  }
  const bool transposed =
      slow.direction == Direction::y || (fast.direction == Direction::x && fast.spacing > 0.0);
  const auto axis_of = [](const Line& line, Direction expected) {
    return line.direction == expected || line.spacing == 0.0;
  };
  const bool along = axis_of(slow, transposed ? Direction::y : Direction::x) &&
                     axis_of(fast, transposed ? Direction::x : Direction::y);
  for (Line* const line : {&slow, &fast}) {
    if (along && line->spacing > 0.0) continue;
    line->direction = Direction::oblique;
    line->reversed = false;
  }
  const bool exchange = transposed && along;
  const auto nr = static_cast<std::ptrdiff_t>(rows), nw = static_cast<std::ptrdiff_t>(width);
  TraceOrder order{(slow.reversed ? (nr - 1) * nw : 0) + (fast.reversed ? nw - 1 : 0),
                   slow.reversed ? -nw : nw, fast.reversed ? -1 : 1};
  const Line& x = exchange ? fast : slow;
  const Line& y = exchange ? slow : fast;
  const std::ptrdiff_t nx = exchange ? nw : nr, ny = exchange ? nr : nw;
  model.values.shape = {nx, ny, model.values.shape.back()};
  if (exchange) std::swap(order.first, order.second);
  if (exchange || x.reversed || y.reversed) reorder(model.values, nx, ny, order);
  if (exchange) model.notes.push_back("x is the faster number of the traces: they were sorted");
  if (x.reversed) model.notes.push_back("x decreases from trace to trace: it was reversed");
  if (y.reversed) model.notes.push_back("y decreases from trace to trace: it was reversed");
  note_line(model, x, "x");
  note_line(model, y, "y");
  add_axis(model, x);
  add_axis(model, y);
}

constexpr std::int32_t dead_trace = 2;  // trace identification

/// Refuses traces whose headers contradict those of a model.
void check_columns(const std::string& name, const std::vector<SegyTrace>& traces) {
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const SegyTrace& trace = traces[i];
    check_lengths(name, static_cast<std::int64_t>(i), trace.coordinate_units);
    if (trace.identification == dead_trace) {
      throw FileError(concat("'", name, "': trace ", i + 1,
                             " is dead (trace identification 2, bytes 29-30; allowed for a model: "
                             "columns with values): interpolate it, or correct the header"));
    }
    if (trace.delay != traces[0].delay) {
      throw FileError(concat("'", name, "': the first sample of trace ", i + 1, " is at ",
                             trace.delay, ", that of trace 1 at ", traces[0].delay,
                             " (delay, bytes 109-110; allowed for a model: one depth): shift the "
                             "traces, or correct the headers"));
    }
  }
}

/// Returns the spacing in depth; 0, with a note, if traces have another one than the file.
template <class T>
double depth_spacing(const SegyFile<T>& file, std::vector<std::string>& notes) {
  for (std::size_t i = 0; i < file.headers.size(); ++i) {
    const std::int32_t stated = file.headers[i].interval;
    if (stated == 0 || stated == file.interval) continue;
    notes.push_back(concat("the interval of trace ", i + 1, " is ", stated,
                           " (bytes 117-118), that of the file ", file.interval,
                           ": they are not used"));
    return 0.0;
  }
  return file.interval / 1e3;
}

}  // namespace

template <class T>
SegyModel<T> read_segy_model(const std::filesystem::path& path) {
  SegyFile<T> file = read_segy<T>(path);
  check_columns(path.string(), file.headers);
  SegyModel<T> model;
  model.interval = file.interval;
  model.measurement_system = file.measurement_system;
  model.values = std::move(file.samples);
  bool has_ensemble = false;
  for (const SegyTrace& trace : file.headers)
    has_ensemble = has_ensemble || trace.cdp_x != 0.0 || trace.cdp_y != 0.0;
  std::vector<Position> at;
  for (const SegyTrace& trace : file.headers) {
    at.push_back(has_ensemble ? Position{trace.cdp_x, trace.cdp_y}
                              : Position{trace.source_x, trace.source_y});
  }
  const std::size_t width = rectangle(file.headers);
  if (width > 0) {
    place_volume(path.string(), model, at, width);
  } else {
    refuse_unsorted(path.string(), file.headers);
    place_section(model, at);
  }
  model.spacing.push_back(depth_spacing(file, model.notes));
  model.origin.push_back(file.headers[0].delay);
  model.has_origin.push_back(true);
  return model;
}

template SegyModel<float> read_segy_model<float>(const std::filesystem::path&);
template SegyModel<double> read_segy_model<double>(const std::filesystem::path&);

}  // namespace moho::io
