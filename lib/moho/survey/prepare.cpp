// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/smooth_ramp.hpp>
#include <moho/core/text.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/record_times.hpp>
#include <moho/wave/sinc.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <numbers>

namespace moho::survey {

namespace {

using std::numbers::pi;
constexpr double quiet = 1e-3;           // threshold relative to the wavelet's largest sample
constexpr double stop_over_pass = 1.25;  // stop over pass frequency of the low-pass
constexpr std::size_t lanes = 16;        // traces resampled in a block

// Numbers after the first colon; messages contain `what` and the complete text.
std::vector<double> numbers_of(const char* what, const std::string& text,
                               const std::vector<std::string>& pieces, const std::string& forms) {
  std::vector<double> numbers;
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    const auto value = text::to_number(pieces[i]);
    if (!value) {
      throw InputError(concat(what, " '", text, "' has '", pieces[i],
                              "' where a number should be (allowed: ", forms, ")"));
    }
    numbers.push_back(*value);
  }
  return numbers;
}

// Cosine ramp from 0 to 1 over [0, 1].
double ramp(double u) {
  if (u <= 0.0) return 0.0;
  if (u >= 1.0) return 1.0;
  return 0.5 - 0.5 * std::cos(pi * u);
}

// Kaiser window I0(b sqrt(1 - u^2)) / I0(b) from a table, to about 1e-10. The series is too slow
// for all weights.
class KaiserTable {
 public:
  explicit KaiserTable(double b) : m_value(size + 4) {
    const double scale = 1.0 / wave::bessel_i0(b);
    for (std::size_t i = 0; i < m_value.size(); ++i) {
      const double u = std::min((static_cast<double>(i) - 1.0) / size, 1.0);
      m_value[i] = wave::bessel_i0(b * std::sqrt(1.0 - u * u)) * scale;
    }
  }
  double operator()(double u) const {
    u = std::fabs(u);
    if (u >= 1.0) return 0.0;
    // even in u; cubic interpolation of four values
    const double coordinate = u * size;
    const auto i = static_cast<std::size_t>(coordinate);
    const double x = coordinate - static_cast<double>(i);
    const double a = m_value[i], b = m_value[i + 1], c = m_value[i + 2], d = m_value[i + 3];
    return -x * (x - 1.0) * (x - 2.0) / 6.0 * a + (x + 1.0) * (x - 1.0) * (x - 2.0) / 2.0 * b -
           (x + 1.0) * x * (x - 2.0) / 2.0 * c + (x + 1.0) * x * (x - 1.0) / 6.0 * d;
  }

 private:
  static constexpr int size = 4096;
  std::vector<double> m_value;  // at u = -1 / size, 0, 1 / size, ...
};

}  // namespace

WaveletZero parse_wavelet_zero(const std::string& name) {
  for (const WaveletZero zero : {WaveletZero::start, WaveletZero::peak}) {
    if (name == to_string(zero)) return zero;
  }
  throw InputError(concat("wavelet zero '", name,
                          "' is unknown (allowed: start, the first sample of the wavelet is time "
                          "zero of the data; peak, its largest): choose one"));
}

WaveletTimes wavelet_times(const std::vector<double>& wavelet, double dt) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < wavelet.size(); ++i) {
    if (std::fabs(wavelet[i]) > std::fabs(wavelet[largest])) largest = i;
  }
  if (!(dt > 0.0) || !std::isfinite(dt) || wavelet.empty() ||
      !(std::fabs(wavelet[largest]) > 0.0)) {
    throw InputError(concat("wavelet: dt is ", dt, " s, and there are ", wavelet.size(),
                            " samples (allowed: a positive dt, samples that are not all zero): "
                            "give the wavelet that is injected"));
  }
  const double level = quiet * std::fabs(wavelet[largest]);
  std::size_t first = 0, last = wavelet.size() - 1;
  while (!(std::fabs(wavelet[first]) > level)) ++first;
  while (!(std::fabs(wavelet[last]) > level)) --last;
  double offset = 0.0;
  if (largest > 0 && largest + 1 < wavelet.size()) {
    const double a = wavelet[largest - 1], b = wavelet[largest], c = wavelet[largest + 1];
    if (a - 2.0 * b + c != 0.0) offset = 0.5 * (a - c) / (a - 2.0 * b + c);
  }
  return {static_cast<double>(first) * dt, (static_cast<double>(largest) + offset) * dt,
          static_cast<double>(last) * dt};
}

std::string note_of_late_wavelet(const std::vector<double>& wavelet, double dt, double end) {
  const WaveletTimes of = wavelet_times(wavelet, dt);
  if (of.end <= end + dt) return {};
  return concat("the wavelet lasts until ", text::significant(of.end, 4), " s (largest sample at ",
                text::significant(of.peak, 4), " s), the run until ", text::significant(end, 4),
                " s: the rest is not in the data");
}

MuteOptions parse_mute(const std::string& text) {
  const std::string forms =
      "none, arrivals[:DELAY[:TAPER]] or velocity:VELOCITY[:DELAY[:TAPER]], in m/s and seconds";
  const std::vector<std::string> pieces = text::split(text, ':');
  const auto refuse = [&](const std::string& why) {
    return InputError(concat("mute '", text, "' ", why, " (allowed: ", forms, ")"));
  };
  std::vector<double> numbers = numbers_of("mute", text, pieces, forms);
  MuteOptions mute;
  if (pieces[0] == "none") {
    if (!numbers.empty()) throw refuse("has too much");
    return mute;
  }
  if (pieces[0] == "velocity") {
    mute.kind = MuteOptions::Kind::velocity;
    if (numbers.empty()) throw refuse("has no velocity");
    mute.velocity = numbers[0];
    if (!(mute.velocity > 0.0)) throw refuse("has a velocity that is not positive");
    numbers.erase(numbers.begin());
  } else if (pieces[0] == "arrivals") {
    mute.kind = MuteOptions::Kind::arrivals;
  } else {
    throw refuse("is unknown");
  }
  if (numbers.size() > 2) throw refuse("has too much");
  for (const double number : numbers) {
    if (number < 0.0) throw refuse("has a negative time");
  }
  if (!numbers.empty()) mute.delay = numbers[0];
  if (numbers.size() == 2) mute.taper = numbers[1];
  return mute;
}

SpreadingOptions parse_spreading(const std::string& text) {
  const std::string forms =
      "none, line[:VELOCITY], or gain:POWER, half-derivative, half-integral joined by +";
  const auto refuse = [&](const std::string& why) {
    return InputError(concat("spreading '", text, "' ", why, " (allowed: ", forms, ")"));
  };
  SpreadingOptions spreading;
  const std::vector<std::string> parts = text::split(text, '+');
  for (const std::string& part : parts) {
    const std::vector<std::string> pieces = text::split(part, ':');
    const std::vector<double> numbers = numbers_of("spreading", text, pieces, forms);
    const std::string& word = pieces[0];
    const bool alone = word == "none" || word == "line";
    if (alone && parts.size() > 1) throw refuse(concat("joins '", word, "' with others"));
    if (word == "none" && numbers.empty()) continue;
    if (word == "line" && numbers.size() <= 1) {
      spreading.power = 0.5;
      spreading.half_order = -1;
      spreading.line = true;
      if (!numbers.empty()) spreading.velocity = numbers[0];
      if (!numbers.empty() && !(numbers[0] > 0.0)) {
        throw refuse("has a velocity that is not positive");
      }
    } else if (word == "gain" && numbers.size() == 1) {
      spreading.power = numbers[0];
    } else if (word == "half-derivative" && numbers.empty()) {
      spreading.half_order += 1;
    } else if (word == "half-integral" && numbers.empty()) {
      spreading.half_order -= 1;
    } else {
      throw refuse(concat("has '", part, "', which is no form"));
    }
  }
  if (std::abs(spreading.half_order) > 1) throw refuse("has the same half twice");
  return spreading;
}

void check_spreading(const SpreadingOptions& spreading, int dim) {
  if (!spreading.line || dim == 2) return;
  throw InputError(
      "spreading is line, and the model has three dimensions, in which point sources need no "
      "correction (allowed with line: models of two dimensions): omit it");
}

void check_options(const PrepareOptions& o) {
  const auto refuse = [](const char* name, auto value, const char* allowed, const char* advice) {
    throw InputError(concat(name, " is ", value, " (allowed: ", allowed, "): ", advice));
  };
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!(o.dt > 0.0) || !finite(o.dt)) {
    refuse("dt", o.dt, "positive seconds", "give the time step of the run");
  }
  if (o.samples < 1) {
    refuse("samples", o.samples, "1 or more", "give one more than the steps of the run");
  }
  if (!(o.highest >= 0.0) || !finite(o.highest)) {
    refuse("highest", o.highest, "Hz, or 0 for no low-pass",
           "give the highest frequency that the grid carries");
  }
  if (!(o.end_taper >= 0.0) || !finite(o.end_taper)) {
    refuse("end_taper", o.end_taper, "0 or more seconds", "0.1 is usual");
  }
  if (!finite(o.wavelet.begin) || !finite(o.wavelet.peak) || !finite(o.wavelet.end)) {
    refuse("wavelet.peak", o.wavelet.peak, "finite times", "wavelet_times() finds them");
  }
  if (o.mute.kind == MuteOptions::Kind::velocity &&
      (!(o.mute.velocity > 0.0) || !finite(o.mute.velocity))) {
    refuse("mute.velocity", o.mute.velocity, "positive m/s", "that of water is 1500");
  }
  if (!finite(o.mute.delay) || !finite(o.mute.taper)) {
    refuse("mute.delay", o.mute.delay, "finite seconds", "give the length of the wavelet");
  }
  if (o.mute.kind != MuteOptions::Kind::none && (o.mute.delay < 0.0 || o.mute.taper < 0.0) &&
      !(o.wavelet.end > o.wavelet.begin)) {
    refuse("mute.delay", o.mute.delay, "0 or more seconds where the wavelet's times are not given",
           "give the delay and the taper, or the times that wavelet_times() finds");
  }
  if (!finite(o.spreading.power) || !(o.spreading.velocity >= 0.0) ||
      !finite(o.spreading.velocity) || std::abs(o.spreading.half_order) > 1) {
    refuse("spreading.power", o.spreading.power,
           "finite, with a half_order of -1, 0 or 1 and a velocity that is not negative",
           "0.5 and -1 make line sources of points");
  }
}

namespace detail {

Resampling::Resampling(double interval, double start, std::int64_t count, double dt,
                       std::int64_t samples, double highest)
    : m_count(count), m_samples(samples) {
  const double nyquist = 0.5 / interval;
  // time steps longer than the interval of the data limit the frequencies
  double pass = dt > interval * (1.0 + 1e-9) ? 0.5 / dt / stop_over_pass : nyquist;
  if (highest > 0.0) pass = std::min(pass, highest);
  double b = 20.0, radius = 32.0, part = 1.0;  // of resample(): passes frequencies up to 0.8 of
                                               // Nyquist
  if (pass * stop_over_pass < nyquist) {
    m_pass = pass;
    b = 10.0;
    radius = b / (pi * (stop_over_pass - 1.0) * pass * interval);
    part = (stop_over_pass + 1.0) * pass * interval;
  }
  const KaiserTable window(b);
  for (std::int64_t n = 0; n < samples; ++n) {
    const double position = (static_cast<double>(n) * dt - start) / interval;
    const double nearest = std::floor(position + 0.5);
    m_weights.push_back(m_weight.size());
    // samples at time steps keep their bits
    const bool same = m_pass == 0.0 && std::fabs(position - nearest) < 1e-6;
    const double reach = same ? 0.0 : radius, centre = same ? nearest : position;
    const double min = std::max(std::ceil(centre - reach), 0.0);
    const double last = std::min(std::floor(centre + reach), static_cast<double>(count - 1));
    m_plain = m_plain && same;
    m_first.push_back(0);
    if (!(min <= last)) continue;
    m_first.back() = static_cast<std::int64_t>(min);
    for (double j = min; j <= last; ++j) {
      const double x = j - position;
      m_weight.push_back(same ? 1.0 : part * wave::sinc(part * x) * window(x / radius));
    }
  }
  m_weights.push_back(m_weight.size());
}

void Resampling::apply(const float* from, std::int64_t traces, float* to) const {
  const auto count = static_cast<std::size_t>(m_count);
  const auto samples = static_cast<std::size_t>(m_samples), all = static_cast<std::size_t>(traces);
  std::vector<float> block(count * lanes);
  for (std::size_t begin = 0; begin < all; begin += lanes) {
    const std::size_t some = std::min(lanes, all - begin);
    for (std::size_t l = 0; l < some; ++l) {
      for (std::size_t i = 0; i < count; ++i) {
        block[i * lanes + l] = from[(begin + l) * count + i];
      }
    }
    for (std::size_t n = 0; n < samples; ++n) {
      std::array<double, lanes> sum{};
      const float* row = block.data() + static_cast<std::size_t>(m_first[n]) * lanes;
      for (std::size_t k = m_weights[n]; k < m_weights[n + 1]; ++k, row += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) {
          sum[l] += m_weight[k] * static_cast<double>(row[l]);
        }
      }
      for (std::size_t l = 0; l < some; ++l) {
        to[(begin + l) * samples + n] = static_cast<float>(sum[l]);
      }
    }
  }
}

void half_derivatives(float* samples, std::int64_t traces, std::int64_t count, double dt,
                      int order) {
  const auto length = static_cast<std::size_t>(count), all = static_cast<std::size_t>(traces);
  std::size_t n = 64;
  while (n < 4 * length) n *= 2;
  std::vector<std::complex<double>> factor(n / 2 + 1), values(n);
  for (std::size_t k = 1; k <= n / 2; ++k) {
    const double omega = 2.0 * pi * static_cast<double>(k) / (static_cast<double>(n) * dt);
    factor[k] =
        std::polar(order > 0 ? std::sqrt(omega) : 1.0 / std::sqrt(omega), 0.25 * pi * order);
  }
  factor[n / 2] = factor[n / 2].real();
  // two traces in a transform: real and imaginary part
  for (std::size_t t = 0; t < all; t += 2) {
    float* const first = samples + t * length;
    float* const second = t + 1 < all ? first + length : nullptr;
    std::fill(values.begin(), values.end(), 0.0);
    for (std::size_t i = 0; i < length; ++i) {
      values[i] = {static_cast<double>(first[i]),
                   second != nullptr ? static_cast<double>(second[i]) : 0.0};
    }
    wave::detail::transform(values);
    values[0] = 0.0;
    for (std::size_t k = 1; k < n / 2; ++k) {
      values[k] *= factor[k];
      values[n - k] *= std::conj(factor[k]);
    }
    values[n / 2] *= factor[n / 2];
    // transform of conjugates = conjugate of the inverse transform times n
    for (std::complex<double>& value : values) value = std::conj(value);
    wave::detail::transform(values);
    for (std::size_t i = 0; i < length; ++i) {
      first[i] = static_cast<float>(values[i].real() / static_cast<double>(n));
      if (second != nullptr) {
        second[i] = static_cast<float>(-values[i].imag() / static_cast<double>(n));
      }
    }
  }
}

}  // namespace detail

namespace {

template <int Dim>
double straight_time(const wave::Shot<Dim>& shot, const Point<Dim>& receiver, double velocity) {
  double min = std::numeric_limits<double>::infinity();
  for (const Point<Dim>& source : shot.sources) {
    double sum = 0.0;
    for (int d = 0; d < Dim; ++d) sum += (receiver[d] - source[d]) * (receiver[d] - source[d]);
    min = std::min(min, std::sqrt(sum) / velocity);
  }
  return min;
}

// Mutes samples before the arrivals; returns the fraction of samples set to zero.
template <int Dim>
double mute(PreparedShot<Dim>& shot, const PrepareOptions& o, const std::vector<double>& arrivals,
            double delay, double taper) {
  const auto count = static_cast<std::size_t>(shot.count);
  double zero = 0.0;
  for (std::size_t r = 0; r < shot.shot.receivers.size(); ++r) {
    const double arrival =
        o.mute.kind == MuteOptions::Kind::arrivals
            ? arrivals[r]
            : straight_time<Dim>(shot.shot, shot.shot.receivers[r], o.mute.velocity);
    const double from = arrival + delay;
    float* const trace = shot.samples.data() + r * count;
    for (std::size_t n = 0; n < count; ++n) {
      const double late = static_cast<double>(n) * o.dt - from;
      if (late >= taper && late >= 0.0) break;
      const double weight = taper > 0.0 ? ramp(late / taper) : 0.0;
      if (weight == 0.0) ++zero;
      trace[n] = static_cast<float>(weight * static_cast<double>(trace[n]));
    }
  }
  return shot.samples.empty() ? 0.0 : zero / static_cast<double>(shot.samples.size());
}

// Refuses gathers without the samples that they announce, and missing arrivals.
template <int Dim>
void check_gather(const ShotGather<Dim>& gather, const PrepareOptions& o,
                  const std::vector<double>& arrivals, const std::string& name) {
  const std::size_t receivers = gather.shot.receivers.size();
  if (gather.count < 1 || !(gather.dt > 0.0 && std::isfinite(gather.dt)) ||
      !std::isfinite(gather.t0) ||
      gather.samples.size() != receivers * static_cast<std::size_t>(gather.count)) {
    throw InputError(concat(name, ": it has ", gather.samples.size(), " samples, ", gather.dt,
                            " s apart and from ", gather.t0, " s on (allowed: ", receivers,
                            " receivers times ", gather.count,
                            " samples): give the gather as Survey::read() makes it"));
  }
  if (o.mute.kind == MuteOptions::Kind::arrivals) {
    if (arrivals.size() != receivers) {
      throw InputError(concat(name, ": there are ", arrivals.size(), " first arrivals (allowed: ",
                              receivers, ", one for each receiver): arrival_times() finds them"));
    }
    for (std::size_t r = 0; r < receivers; ++r) {
      if (std::isfinite(arrivals[r])) continue;
      throw InputError(concat(name, ": the first arrival at receiver ", r + 1, " is ", arrivals[r],
                              " s (allowed: finite times): arrival_times() finds them"));
    }
  }
}

// Throws InputError for the first sample that is not finite.
template <int Dim>
void require_finite(const ShotGather<Dim>& gather, const std::string& name) {
  const auto bad = std::find_if(gather.samples.begin(), gather.samples.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad == gather.samples.end()) return;
  const std::int64_t at = bad - gather.samples.begin();
  throw InputError(concat(name, ": sample ", at % gather.count + 1, " of receiver ",
                          at / gather.count + 1, " is ", *bad,
                          " (allowed: finite numbers): leave the trace out, or mend it"));
}

// Multiplies samples by factors that depend on time only: gain, and a taper before `end`.
// \param shift time of the shot, s
template <int Dim>
void apply_gain(PreparedShot<Dim>& shot, const PrepareOptions& o, double amplitude, double shift,
                double end) {
  const auto count = static_cast<std::size_t>(o.samples);
  std::vector<double> factor(count, amplitude);
  for (std::size_t n = 0; n < count; ++n) {
    const double t = static_cast<double>(n) * o.dt;
    if (o.spreading.power != 0.0) {
      // power of the time since the shot, finite at the shot
      const double since = t - shift;
      factor[n] *= since > 0.0 ? std::pow(since, o.spreading.power) : 0.0;
    }
    if (o.end_taper > 0.0) {
      factor[n] *= smooth_ramp((end - t) / o.end_taper);
    }
  }
  for (std::size_t r = 0; r < shot.shot.receivers.size(); ++r) {
    float* const trace = shot.samples.data() + r * count;
    for (std::size_t n = 0; n < count; ++n) {
      trace[n] = static_cast<float>(factor[n] * static_cast<double>(trace[n]));
    }
  }
}

// Returns 0 for an empty list.
double root_mean_square(const std::vector<float>& values) {
  double sum = 0.0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return values.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(values.size()));
}

std::string ms(double seconds) { return concat(seconds * 1e3, " ms"); }

// Returns a note on samples resampled from an interval to time steps, s. pass: highest frequency in
// Hz that a low-pass keeps; 0: no low-pass.
std::string resampling_note(double interval, double dt, double pass) {
  std::string note;
  if (std::fabs(dt - interval) > 1e-9 * dt) {
    note = concat("resampled from ", ms(interval), " to ", ms(dt));
  }
  if (pass > 0.0) {
    note +=
        concat(note.empty() ? "" : ", ", "low-pass: frequencies up to ", text::significant(pass, 4),
               " Hz stay, those above ", text::significant(stop_over_pass * pass, 4), " Hz go");
  }
  return note.empty() ? "interpolated at the time steps of the run" : note;
}

}  // namespace

template <int Dim>
PreparedShot<Dim> prepare(const ShotGather<Dim>& gather, const PrepareOptions& o,
                          const std::vector<double>& arrivals) {
  check_options(o);
  const std::size_t receivers = gather.shot.receivers.size();
  const std::string name = gather.name.empty() ? concat("shot ", gather.shot.number) : gather.name;
  check_gather(gather, o, arrivals, name);
  PreparedShot<Dim> result;
  result.shot = gather.shot;
  result.count = o.samples;
  result.dt = o.dt;
  result.adjoint_scale = o.dt / gather.dt;
  result.notes = gather.notes;
  const auto say = [&](const auto&... parts) { result.notes.push_back(concat(parts...)); };
  const auto count = static_cast<std::size_t>(o.samples);

  const double shift = time_shift(o.zero, o.wavelet.peak);
  const auto [start, data_end] = record_times(gather, shift);
  const double run_end = static_cast<double>(o.samples - 1) * o.dt;
  if (shift != 0.0) say("data come ", ms(shift), " later, their zero being the wavelet's peak");
  const detail::Resampling resampling(gather.dt, start, gather.count, o.dt, o.samples, o.highest);
  if (!resampling.plain()) {
    say(resampling_note(gather.dt, o.dt, resampling.pass()));
  }
  const double close = 0.5 * std::max(o.dt, gather.dt);
  if (data_end < run_end - close) {
    say("data end at ", data_end, " s, the run at ", run_end, " s: zeros follow",
        o.end_taper > 0.0 ? concat(" a taper of ", ms(o.end_taper)) : std::string());
  } else if (data_end > run_end + close) {
    say("data go on to ", data_end, " s, the run ends at ", run_end, " s: the rest is cut off");
  }
  result.samples.resize(receivers * count);
  resampling.apply(gather.samples.data(), static_cast<std::int64_t>(receivers),
                   result.samples.data());

  const SpreadingOptions& spreading = o.spreading;
  const double amplitude =
      spreading.velocity > 0.0 ? spreading.velocity * std::sqrt(2.0 * pi) : 1.0;
  apply_gain(result, o, amplitude, shift, std::min(data_end, run_end));
  if (spreading.power != 0.0) say("samples are multiplied by t^", spreading.power);
  if (amplitude != 1.0) say("samples are multiplied by ", amplitude, ", v sqrt(2 pi)");
  if (spreading.line && gather.two_dimensional) {
    say("the data were modelled in two dimensions, and the spreading 'line' is for point sources ",
        "in three: omit it");
  }

  if (o.mute.kind != MuteOptions::Kind::none) {
    const double delay = o.mute.delay >= 0.0 ? o.mute.delay : o.wavelet.end;
    const double taper =
        o.mute.taper >= 0.0 ? o.mute.taper : 0.25 * (o.wavelet.end - o.wavelet.begin);
    const double part = mute<Dim>(result, o, arrivals, delay, taper);
    say("muted until ", ms(delay), " after ",
        o.mute.kind == MuteOptions::Kind::arrivals
            ? std::string("first arrivals of the model")
            : concat("straight ways at ", o.mute.velocity, " m/s"),
        ", taper ", ms(taper), ": ", std::round(1000.0 * part) / 10.0, " % of the samples");
  }
  if (spreading.half_order != 0) {
    detail::half_derivatives(result.samples.data(), static_cast<std::int64_t>(receivers),
                             result.count, o.dt, spreading.half_order);
    say(spreading.half_order > 0 ? "half a derivative is taken" : "half an integral is taken");
  }

  result.rms = root_mean_square(result.samples);
  if (!std::isfinite(result.rms)) {
    require_finite(gather, name);
    throw InputError(concat(name, ": samples are too large (allowed: what fits single precision ",
                            "after gain and mute): scale the data"));
  }
  if (o.normalise && result.rms > 0.0) {
    result.scale = 1.0 / result.rms;
    for (float& value : result.samples) {
      value = static_cast<float>(static_cast<double>(value) * result.scale);
    }
    say("divided by the root mean square of the shot, ", result.rms);
  }
  return result;
}

template PreparedShot<2> prepare<2>(const ShotGather<2>&, const PrepareOptions&,
                                    const std::vector<double>&);
template PreparedShot<3> prepare<3>(const ShotGather<3>&, const PrepareOptions&,
                                    const std::vector<double>&);

}  // namespace moho::survey
