// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/core/smooth_ramp.hpp>
#include <moho/core/text.hpp>
#include <moho/fwi/misfit.hpp>
#include <moho/wave/sinc.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <complex>

namespace moho::fwi {

namespace {
constexpr const char* misfit_names[] = {"least-squares", "correlation", "huber", "envelope"};
constexpr double pi = 3.14159265358979323846;
// Threshold of the correlation, relative to the largest trace of a shot.
constexpr double silent_amplitude = 1e-3;
}  // namespace

const char* to_string(MisfitKind kind) { return misfit_names[static_cast<int>(kind)]; }

MisfitKind parse_misfit(const std::string& name) {
  for (const MisfitKind kind : {MisfitKind::least_squares, MisfitKind::correlation,
                                MisfitKind::huber, MisfitKind::envelope}) {
    if (name == to_string(kind)) return kind;
  }
  throw InputError(concat("misfit '", name,
                          "' is unknown (allowed: least-squares, correlation, huber, envelope): "
                          "choose one"));
}

OffsetWeights parse_offset_weights(const std::string& text) {
  OffsetWeights weights;
  for (const std::string& piece : text::split(text, ',')) {
    const std::vector<std::string> parts = text::split(piece, ':');
    const auto distance = parts.size() == 2 ? text::to_number(parts[0]) : std::optional<double>();
    const auto weight = parts.size() == 2 ? text::to_number(parts[1]) : std::optional<double>();
    if (!distance || !weight || *distance < 0.0 || *weight < 0.0 ||
        (!weights.empty() && *distance <= weights.back().first)) {
      throw InputError(concat("offset weights '", text, "': '", piece,
                              "' is none (allowed: DISTANCE:WEIGHT, several joined by commas, "
                              "distances that ascend and weights that are not negative: "
                              "0:0,200:0.3,600:1)"));
    }
    weights.emplace_back(*distance, *weight);
  }
  return weights;
}

double offset_weight(const OffsetWeights& weights, double distance) {
  if (weights.empty()) return 1.0;
  if (distance <= weights.front().first) return weights.front().second;
  for (std::size_t i = 1; i < weights.size(); ++i) {
    if (distance > weights[i].first) continue;
    const double part =
        (distance - weights[i - 1].first) / (weights[i].first - weights[i - 1].first);
    return weights[i - 1].second + part * (weights[i].second - weights[i - 1].second);
  }
  return weights.back().second;
}

double ObservedShot::weight(std::int64_t receiver, std::int64_t sample) const {
  const auto r = static_cast<std::size_t>(receiver);
  const double time = static_cast<double>(sample) * dt;
  if (time < data_begin || time > data_end) return 0.0;
  double result = weights.empty() ? 1.0 : weights[r];
  if (end_taper > 0.0) {
    const double left = std::min(static_cast<double>(count - 1 - sample) * dt, data_end - time);
    result *= smooth_ramp(smooth_ramp(left / end_taper));
  }
  if (begins.empty()) return result;
  const double after = time - begins[r];
  if (after < 0.0) return 0.0;
  if (after < taper) result *= 0.5 - 0.5 * std::cos(pi * after / taper);
  return result;
}

void check_observed(const ObservedShot& shot) {
  const auto traces = static_cast<std::size_t>(shot.receivers);
  if (shot.receivers < 1 || shot.count < 2 || !(shot.dt > 0.0) ||
      shot.samples.size() != traces * static_cast<std::size_t>(shot.count) ||
      (!shot.weights.empty() && shot.weights.size() != traces) ||
      (!shot.begins.empty() && shot.begins.size() != traces)) {
    throw InputError(concat(shot.name, ": ", shot.samples.size(), " samples, ", shot.weights.size(),
                            " weights and ", shot.begins.size(), " beginnings of ", shot.receivers,
                            " traces of ", shot.count, " samples every ", shot.dt,
                            " s (allowed: as many as it says)"));
  }
  double largest = 0.0;
  for (std::int64_t r = 0; r < shot.receivers; ++r) {
    for (std::int64_t n = 0; n < shot.count; ++n) {
      const float sample = shot.samples[static_cast<std::size_t>(r * shot.count + n)];
      if (!std::isfinite(sample)) {
        throw InputError(concat(shot.name, ": sample ", n, " of trace ", r + 1, " is ", sample,
                                " (allowed: finite numbers): leave the trace out"));
      }
      largest = std::max(largest, shot.weight(r, n) * std::fabs(static_cast<double>(sample)));
    }
  }
  if (!(largest > 0.0)) {
    throw InputError(concat(shot.name,
                            ": all samples that count are zero (allowed: traces with a "
                            "signal): look at its mute, its weights and its data"));
  }
}

namespace {

/// Returns the root mean square of the weighted observed samples.
double observed_size(const ObservedShot& shot) {
  double square = 0.0;
  for (std::int64_t r = 0; r < shot.receivers; ++r) {
    for (std::int64_t n = 0; n < shot.count; ++n) {
      const double o =
          shot.weight(r, n) *
          static_cast<double>(shot.samples[static_cast<std::size_t>(r * shot.count + n)]);
      square += o * o;
    }
  }
  return std::sqrt(square / static_cast<double>(shot.receivers * shot.count));
}

/// Returns the energy of weighted observed samples below which a trace is silent.
/// Such a trace has rounding errors only: waves have not arrived.
double silent_energy(const ObservedShot& shot) {
  double loudest = 0.0;
  for (std::int64_t r = 0; r < shot.receivers; ++r) {
    double square = 0.0;
    for (std::int64_t n = 0; n < shot.count; ++n) {
      const double o =
          shot.weight(r, n) *
          static_cast<double>(shot.samples[static_cast<std::size_t>(r * shot.count + n)]);
      square += o * o;
    }
    loudest = std::max(loudest, square);
  }
  return silent_amplitude * silent_amplitude * loudest;
}

/// Hilbert transform of the first `count` values, of real and imaginary parts separately.
/// The other values are zero, and undefined afterwards. The size is a power of two, 2 count or
/// more: no wrap-around, and the transform is antisymmetric.
void hilbert_transform(std::vector<std::complex<double>>& values, std::int64_t count) {
  const std::size_t n = values.size();
  std::fill(values.begin() + count, values.end(), std::complex<double>());
  wave::detail::transform(values);
  for (std::size_t k = 0; k < n; ++k) {
    const double sign = k == 0 || 2 * k == n ? 0.0 : 2 * k < n ? -1.0 : 1.0;
    // conjugates: the forward transform is then the inverse
    values[k] = std::conj(values[k] * std::complex<double>(0.0, sign)) / static_cast<double>(n);
  }
  wave::detail::transform(values);
  for (std::complex<double>& value : values) value = std::conj(value);
}

/// Returns the misfit of envelopes.
template <class T>
double envelope_misfit(const ObservedShot& shot, const std::vector<T>& modelled,
                       std::vector<T>& derivative) {
  const std::int64_t count = shot.count;
  const double floor = 1e-3 * observed_size(shot);
  std::size_t size = 1;
  while (size < 2 * static_cast<std::size_t>(count)) size *= 2;
  std::vector<std::complex<double>> traces(size), transforms, slopes(size);
  double sum = 0.0;
  for (std::int64_t r = 0; r < shot.receivers; ++r) {
    const auto at = [&](std::int64_t n) {
      return static_cast<std::size_t>(n * shot.receivers + r);
    };
    // modelled and observed trace as real and imaginary part
    for (std::int64_t n = 0; n < count; ++n) {
      const double w = shot.weight(r, n);
      traces[static_cast<std::size_t>(n)] = {
          w * static_cast<double>(modelled[at(n)]),
          w * static_cast<double>(shot.samples[static_cast<std::size_t>(r * count + n)])};
    }
    transforms = traces;
    hilbert_transform(transforms, count);
    std::vector<double> residuals(static_cast<std::size_t>(count));
    for (std::size_t n = 0; n < residuals.size(); ++n) {
      const auto envelope = [&](double x, double h) {
        return std::sqrt(x * x + h * h + floor * floor);
      };
      const double d = envelope(traces[n].real(), transforms[n].real());
      const double difference = d - envelope(traces[n].imag(), transforms[n].imag());
      sum += 0.5 * shot.dt * difference * difference;
      residuals[n] = difference / d;
      slopes[n] = residuals[n] * transforms[n].real();
    }
    hilbert_transform(slopes, count);
    for (std::int64_t n = 0; n < count; ++n) {
      const auto i = static_cast<std::size_t>(n);
      derivative[at(n)] = static_cast<T>(shot.dt * shot.weight(r, n) *
                                         (residuals[i] * traces[i].real() - slopes[i].real()));
    }
  }
  return sum;
}

}  // namespace

template <class T>
double shot_misfit(const MisfitOptions& options, const ObservedShot& shot,
                   const std::vector<T>& modelled, std::vector<T>& derivative) {
  const std::int64_t receivers = shot.receivers, count = shot.count;
  if (modelled.size() != static_cast<std::size_t>(receivers * count)) {
    throw InputError(concat(shot.name, ": there are ", modelled.size(), " modelled samples of ",
                            receivers, " traces (allowed: ", count,
                            " a trace, as many as were observed)"));
  }
  derivative.assign(modelled.size(), T(0));
  const auto at = [&](std::int64_t r, std::int64_t n) {
    return static_cast<std::size_t>(n * receivers + r);
  };
  const auto observed = [&](std::int64_t r, std::int64_t n) {
    return static_cast<double>(shot.samples[static_cast<std::size_t>(r * count + n)]);
  };
  if (options.kind == MisfitKind::envelope) return envelope_misfit(shot, modelled, derivative);
  double sum = 0.0;
  if (options.kind == MisfitKind::correlation) {
    const double silent = silent_energy(shot);
    for (std::int64_t r = 0; r < receivers; ++r) {
      double dd = 0.0, oo = 0.0, product = 0.0;
      for (std::int64_t n = 0; n < count; ++n) {
        const double w = shot.weight(r, n);
        const double d = w * static_cast<double>(modelled[at(r, n)]), o = w * observed(r, n);
        dd += d * d;
        oo += o * o;
        product += d * o;
      }
      if (!(oo > silent)) continue;
      sum += 1.0;
      if (!(dd > 0.0)) continue;
      const double scale = 1.0 / std::sqrt(dd * oo);
      sum -= product * scale;
      for (std::int64_t n = 0; n < count; ++n) {
        const double w = shot.weight(r, n);
        const double d = w * static_cast<double>(modelled[at(r, n)]), o = w * observed(r, n);
        derivative[at(r, n)] = static_cast<T>(-w * scale * (o - d * product / dd));
      }
    }
    return sum;
  }
  double largest = 0.0;  // largest residual that is squared
  if (options.kind == MisfitKind::huber) largest = options.huber * observed_size(shot);
  for (std::int64_t r = 0; r < receivers; ++r) {
    for (std::int64_t n = 0; n < count; ++n) {
      const double w = shot.weight(r, n);
      const double x = w * (static_cast<double>(modelled[at(r, n)]) - observed(r, n));
      double slope = x;
      if (options.kind == MisfitKind::huber && std::fabs(x) > largest) {
        slope = x < 0.0 ? -largest : largest;
        sum += shot.dt * largest * (std::fabs(x) - 0.5 * largest);
      } else {
        sum += 0.5 * shot.dt * x * x;
      }
      derivative[at(r, n)] = static_cast<T>(shot.dt * w * slope);
    }
  }
  return sum;
}

template double shot_misfit<float>(const MisfitOptions&, const ObservedShot&,
                                   const std::vector<float>&, std::vector<float>&);
template double shot_misfit<double>(const MisfitOptions&, const ObservedShot&,
                                    const std::vector<double>&, std::vector<double>&);

template <class T>
void low_pass(std::vector<T>& samples, std::int64_t count, double dt, double frequency) {
  if (!(dt > 0.0) || count < 1 || !(frequency > 0.0) || !(frequency < 0.5 / dt)) {
    throw InputError(concat("low-pass of ", frequency, " Hz for samples every ", dt,
                            " s (allowed: above 0 and below ", 0.5 / dt, " Hz): take another"));
  }
  constexpr int sections = 4;
  const double k = std::tan(pi * frequency * dt);
  for (int section = 0; section < sections; ++section) {
    // pairs of poles of a Butterworth filter of order 8, by the bilinear transform
    const double damping = 2.0 * std::cos(pi * (2.0 * section + 1.0) / (4.0 * sections));
    const double norm = 1.0 / (1.0 + damping * k + k * k);
    const double b = k * k * norm, a1 = 2.0 * (k * k - 1.0) * norm;
    const double a2 = (1.0 - damping * k + k * k) * norm;
    for (std::size_t begin = 0; begin < samples.size(); begin += static_cast<std::size_t>(count)) {
      double x1 = 0.0, x2 = 0.0, y1 = 0.0, y2 = 0.0;
      for (std::int64_t n = 0; n < count; ++n) {
        T& sample = samples[begin + static_cast<std::size_t>(n)];
        const double x = static_cast<double>(sample);
        const double y = b * (x + 2.0 * x1 + x2) - a1 * y1 - a2 * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        sample = static_cast<T>(y);
      }
    }
  }
}

template void low_pass<float>(std::vector<float>&, std::int64_t, double, double);
template void low_pass<double>(std::vector<double>&, std::int64_t, double, double);

std::vector<double> alias_weights(double dt, double pass, double stop) {
  if (!(dt > 0.0) || !(pass > 0.0) || !(pass < stop)) {
    throw InputError(concat("filter from ", pass, " to ", stop, " Hz for samples every ", dt,
                            " s (allowed: frequencies above 0 that ascend)"));
  }
  if (!(stop < 0.5 / dt)) return {};
  // Kaiser's formulas for 80 dB
  constexpr double shape = 0.1102 * (80.0 - 8.7), length = (80.0 - 7.95) / 14.36;
  const auto radius = static_cast<std::int64_t>(std::ceil(0.5 * length / ((stop - pass) * dt)));
  const double part = (pass + stop) * dt;  // 2 (pass + stop) / 2 over the sampling rate
  std::vector<double> taps;
  double sum = 0.0;
  for (std::int64_t j = 0; j <= radius; ++j) {
    const double x = static_cast<double>(j) / static_cast<double>(radius);
    taps.push_back(part * wave::sinc(part * static_cast<double>(j)) *
                   wave::bessel_i0(shape * std::sqrt(1.0 - x * x)));
    sum += (j == 0 ? 1.0 : 2.0) * taps.back();
  }
  for (double& tap : taps) tap /= sum;
  return taps;
}

template <class T>
void remove_aliases(std::vector<T>& rows, std::int64_t points, double dt, double pass,
                    double stop) {
  if (points < 1) {
    throw InputError(concat("filter for ", points, " points (allowed: 1 point or more)"));
  }
  const std::vector<double> taps = alias_weights(dt, pass, stop);
  if (taps.empty()) return;
  const auto radius = static_cast<std::int64_t>(taps.size()) - 1;
  const auto width = static_cast<std::size_t>(points);
  const std::int64_t count = static_cast<std::int64_t>(rows.size() / width);
  // the latest rows before they are filtered, row n at n modulo their number
  const std::int64_t kept = std::min(radius + 1, count);
  std::vector<T> before(static_cast<std::size_t>(kept) * width);
  std::vector<double> row(width);
  for (std::int64_t n = 0; n < count; ++n) {
    const T* const now = rows.data() + static_cast<std::size_t>(n) * width;
    std::copy(now, now + width, before.data() + static_cast<std::size_t>(n % kept) * width);
    std::fill(row.begin(), row.end(), 0.0);
    for (std::int64_t j = -radius; j <= radius; ++j) {
      double tap = taps[static_cast<std::size_t>(std::abs(j))];
      std::int64_t from = n + j;
      if (from >= count) {
        from = 2 * (count - 1) - from;
        tap = -tap;
      }
      if (from < 0) continue;
      const T* const values = from > n
                                  ? rows.data() + static_cast<std::size_t>(from) * width
                                  : before.data() + static_cast<std::size_t>(from % kept) * width;
      for (std::size_t r = 0; r < width; ++r) row[r] += tap * static_cast<double>(values[r]);
    }
    for (std::size_t r = 0; r < width; ++r) {
      rows[static_cast<std::size_t>(n) * width + r] = static_cast<T>(row[r]);
    }
  }
}

template void remove_aliases<float>(std::vector<float>&, std::int64_t, double, double, double);
template void remove_aliases<double>(std::vector<double>&, std::int64_t, double, double, double);

}  // namespace moho::fwi
