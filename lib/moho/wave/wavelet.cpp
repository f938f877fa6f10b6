// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/text.hpp>
#include <moho/wave/sinc.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>

namespace moho::wave {

namespace {

constexpr double pi = 3.14159265358979323846;

// Frequency, relative to that of a Ricker wavelet, above which its spectrum is below 5 %.
constexpr double ricker_highest = 2.4;

// Upper bound of samples: more than any wavelet has. Their transform takes a second.
constexpr double max_wavelet_samples = 2e6;

void check_interval(const char* argument, double interval) {
  if (interval > 0.0 && std::isfinite(interval)) return;
  throw InputError(concat("wavelet: ", argument, " is ", interval,
                          " s (allowed: positive and finite): give the time between samples"));
}

void check_sampling(double highest, double dt) {
  check_interval("dt", dt);
  // rounding: a value computed from 1 / (2 dt) may differ from it in the last digits
  if (highest <= 0.5 / dt * (1.0 + 1e-9)) return;
  throw InputError(concat("wavelet: dt is ", dt, " s, too coarse for frequencies up to ", highest,
                          " Hz (allowed: up to ", 0.5 / highest,
                          " s, half their period): take a smaller dt or lower frequencies"));
}

void check_samples(const std::vector<double>& samples) {
  if (samples.empty()) throw InputError("wavelet: there is no sample (allowed: 1 or more)");
  bool zero = true;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!std::isfinite(samples[i])) {
      throw InputError(
          concat("wavelet: sample ", i, " is ", samples[i], " (allowed: finite numbers)"));
    }
    zero = zero && samples[i] == 0.0;
  }
  if (zero) throw InputError("wavelet: all samples are zero (allowed: some amplitude)");
}

std::size_t samples_until(double end, double dt) {
  const double count = std::floor(end / dt * (1.0 + 1e-12)) + 1.0;
  if (count > max_wavelet_samples) {
    throw InputError(concat("wavelet: it would have ", count, " samples of ", dt,
                            " s (allowed: ", max_wavelet_samples,
                            " samples): take a shorter delay, higher frequencies or a larger dt, "
                            "and check the velocities and distances that limit dt"));
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

namespace detail {

void transform(std::vector<std::complex<double>>& values) {
  const std::size_t n = values.size();
  for (std::size_t i = 1, j = 0; i < n; ++i) {  // j: the bits of i in reverse
    std::size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t length = 2; length <= n; length *= 2) {
    const std::size_t half = length / 2;
    std::vector<std::complex<double>> turn(half);
    for (std::size_t k = 0; k < half; ++k) {
      turn[k] = std::polar(1.0, -pi * static_cast<double>(k) / static_cast<double>(half));
    }
    for (std::size_t begin = 0; begin < n; begin += length) {
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> even = values[begin + k];
        const std::complex<double> odd = turn[k] * values[begin + k + half];
        values[begin + k] = even + odd;
        values[begin + k + half] = even - odd;
      }
    }
  }
}

}  // namespace detail

std::vector<double> ricker(double frequency, double dt, double delay) {
  if (!(frequency > 0.0) || !std::isfinite(frequency)) {
    throw InputError(
        concat("wavelet: the frequency is ", frequency, " Hz (allowed: positive and finite)"));
  }
  if (!std::isfinite(delay)) {
    throw InputError(concat("wavelet: the delay is ", delay, " s (allowed: finite numbers)"));
  }
  check_sampling(ricker_highest * frequency, dt);
  if (delay < 0.0) delay = 1.5 / frequency;
  std::vector<double> samples(samples_until(delay + 1.5 / frequency, dt));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double phase = pi * frequency * (static_cast<double>(i) * dt - delay);
    samples[i] = (1.0 - 2.0 * phase * phase) * std::exp(-phase * phase);
  }
  return samples;
}

std::vector<double> ormsby(const std::array<double, 4>& corners, double dt, double delay) {
  const auto& [f1, f2, f3, f4] = corners;
  if (!(f1 >= 0.0 && f1 < f2 && f2 <= f3 && f3 < f4 && std::isfinite(f4))) {
    throw InputError(concat("wavelet: the corners are ", f1, ", ", f2, ", ", f3, ", ", f4,
                            " Hz (allowed: 0 <= f1 < f2 <= f3 < f4): give them in this order"));
  }
  if (!std::isfinite(delay) || delay == 0.0) {
    throw InputError(concat("wavelet: the delay is ", delay,
                            " s (allowed: positive, or negative for the default)"));
  }
  check_sampling(f4, dt);
  if (delay < 0.0) delay = 2.0 / std::min(f2 - f1, f4 - f3);
  std::vector<double> samples(samples_until(2.0 * delay, dt));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) * dt - delay;
    const auto ramp = [&](double f) { return f * f * sinc(f * t) * sinc(f * t); };
    const double value = (ramp(f4) - ramp(f3)) / (f4 - f3) - (ramp(f2) - ramp(f1)) / (f2 - f1);
    const double cosine = std::cos(0.5 * pi * t / delay);
    samples[i] = value / (f4 + f3 - f2 - f1) * cosine * cosine;
  }
  return samples;
}

std::vector<double> resample(const std::vector<double>& samples, double interval, double dt) {
  check_interval("the interval of the samples", interval);
  check_samples(samples);
  check_interval("dt", dt);
  if (dt > interval) check_sampling(highest_frequency(samples, interval), dt);
  constexpr std::int64_t radius = 32;
  constexpr double b = 20.0;  // pi radius (1 - 0.8)
  const double scale = 1.0 / bessel_i0(b);
  const auto count = static_cast<std::int64_t>(samples.size());
  std::vector<double> result(samples_until(static_cast<double>(count - 1) * interval, dt));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double position = static_cast<double>(i) * dt / interval;
    const double nearest = std::floor(position + 0.5);
    if (std::fabs(position - nearest) < sinc_snap) {
      result[i] = samples[static_cast<std::size_t>(
          std::min(static_cast<std::int64_t>(nearest), count - 1))];
      continue;
    }
    const auto below = static_cast<std::int64_t>(std::floor(position));
    const std::int64_t last = std::min(below + radius, count - 1);
    for (std::int64_t j = std::max<std::int64_t>(below - radius + 1, 0); j <= last; ++j) {
      const double x = static_cast<double>(j) - position;
      const double inside = 1.0 - x * x / static_cast<double>(radius * radius);
      const double window = inside > 0.0 ? bessel_i0(b * std::sqrt(inside)) * scale : 0.0;
      result[i] += window * sinc(x) * samples[static_cast<std::size_t>(j)];
    }
  }
  return result;
}

double highest_frequency(const std::vector<double>& samples, double dt, double level) {
  check_interval("dt", dt);
  check_samples(samples);
  if (!(level > 0.0 && level < 1.0)) {
    throw InputError(concat("wavelet: the level is ", level, " (allowed: between 0 and 1)"));
  }
  std::size_t n = 64;
  while (n < 4 * samples.size()) n *= 2;
  std::vector<std::complex<double>> values(n);
  std::copy(samples.begin(), samples.end(), values.begin());
  detail::transform(values);
  std::vector<double> amplitude(n / 2 + 1);
  for (std::size_t k = 0; k < amplitude.size(); ++k) amplitude[k] = std::abs(values[k]);
  const double threshold = level * *std::max_element(amplitude.begin(), amplitude.end());
  std::size_t last = amplitude.size() - 1;
  while (amplitude[last] < threshold) --last;
  double bin = static_cast<double>(last);
  if (last + 1 < amplitude.size()) {
    bin += (amplitude[last] - threshold) / (amplitude[last] - amplitude[last + 1]);
  }
  return bin / (static_cast<double>(n) * dt);
}

WaveletText parse_wavelet(const std::string& text) {
  const std::string forms =
      "ricker:FREQUENCY[:DELAY], ormsby:F1,F2,F3,F4[:DELAY], file:PATH[:INTERVAL], or a path";
  const auto refuse = [&](const std::string& why) -> InputError {
    return InputError(concat("wavelet '", text, "': ", why, " (allowed: ", forms, ")"));
  };
  const auto number = [&](const std::string& piece, const char* what) {
    const auto value = text::to_number(piece);
    if (!value) throw refuse(concat(what, " '", piece, "' is not a number"));
    return *value;
  };
  const std::string trimmed(text::trim(text));
  if (trimmed.empty()) throw refuse("there is nothing");
  const auto colon = trimmed.find(':');
  const std::string name(text::trim(std::string_view(trimmed).substr(0, colon)));
  const std::string rest = colon == std::string::npos ? std::string() : trimmed.substr(colon + 1);
  if (text::to_number(trimmed)) {
    throw refuse(concat("a number has no kind: did you mean ricker:", trimmed, "?"));
  }
  WaveletText result;
  if (name == "ricker" || name == "ormsby") {
    const std::vector<std::string> pieces = text::split(rest, ':');
    if (pieces.size() > 2) throw refuse("there is too much");
    if (name == "ricker") {
      result.kind = WaveletText::Kind::ricker;
      result.frequency = number(pieces[0], "the frequency");
      if (!(result.frequency > 0.0)) {
        throw refuse(concat("the frequency is ", result.frequency, ", which is not positive"));
      }
    } else {
      result.kind = WaveletText::Kind::ormsby;
      const std::vector<std::string> corners = text::split(pieces[0], ',');
      if (corners.size() != 4) {
        throw refuse(concat("the number of corners is ", rest.empty() ? 0 : corners.size()));
      }
      for (std::size_t i = 0; i < 4; ++i) result.corners[i] = number(corners[i], "the corner");
    }
    if (pieces.size() == 2) {
      result.delay = number(pieces[1], "the delay");
      if (result.delay < 0.0) throw refuse(concat("the delay ", result.delay, " is negative"));
    }
    return result;
  }
  result.kind = WaveletText::Kind::file;
  result.path = trimmed;
  if (name == "file" && colon != std::string::npos) {
    result.path = text::trim(rest);
    const auto last = result.path.rfind(':');
    if (last != std::string::npos) {
      const auto interval = text::to_number(text::trim(result.path.substr(last + 1)));
      if (interval) {
        if (!(*interval > 0.0))
          throw refuse(concat("the interval ", *interval, " is not positive"));
        result.interval = *interval;
        result.path = text::trim(result.path.substr(0, last));
      }
    }
    if (result.path.empty()) throw refuse("the path is missing");
    return result;
  }
  // "gabor:15" is an unknown wavelet, "./a:b.csv" is a path
  const bool word =
      colon != std::string::npos &&
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") ==
          std::string::npos;
  if (word) throw refuse(concat("there is no kind '", name, "'"));
  return result;
}

std::vector<double> make_wavelet(const WaveletText& text, double dt) {
  switch (text.kind) {
    case WaveletText::Kind::ricker:
      return ricker(text.frequency, dt, text.delay);
    case WaveletText::Kind::ormsby:
      return ormsby(text.corners, dt, text.delay);
    case WaveletText::Kind::file:
      break;
  }
  throw InputError(concat("wavelet '", text.path,
                          "': it is a file (allowed here: ricker and ormsby): read its samples and "
                          "give them to moho::wave::resample"));
}

}  // namespace moho::wave
