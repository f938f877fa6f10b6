// SPDX-License-Identifier: BSD-3-Clause
#include <moho/survey/onset_check.hpp>

#include <cmath>
#include <numeric>

namespace moho::survey {

namespace {

// Median of some values.
double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void OnsetCheck::add(const std::vector<float>& samples, std::int64_t count, double dt, double start,
                     const std::vector<double>& arrivals) {
  constexpr float level = 0.01F;
  std::vector<std::size_t> order(arrivals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return arrivals[a] < arrivals[b]; });
  order.resize((order.size() + 2) / 3);
  const double end = start + static_cast<double>(count - 1) * dt;
  for (const std::size_t r : order) {
    const double begin = arrivals[r] + m_wavelet.begin, peak = arrivals[r] + m_wavelet.peak;
    if (begin < start || peak > end) continue;  // the first arrival was not recorded
    const float* const trace = samples.data() + static_cast<std::int64_t>(r) * count;
    std::int64_t largest = 0, first = 0;
    for (std::int64_t i = 1; i < count; ++i) {
      if (std::fabs(trace[i]) > std::fabs(trace[largest])) largest = i;
    }
    if (!(std::fabs(trace[largest]) > 0.0F)) continue;
    while (!(std::fabs(trace[first]) > level * std::fabs(trace[largest]))) ++first;
    m_late.push_back(start + static_cast<double>(first) * dt - begin);
    m_early.push_back(start + static_cast<double>(largest) * dt - peak);
    m_arrivals.push_back(arrivals[r]);
  }
}

std::optional<OnsetDifference> OnsetCheck::difference() const {
  if (m_late.empty()) return std::nullopt;
  const double allowed = m_period + 0.25 * median(m_arrivals);
  const double late = median(m_late), early = median(m_early);
  if (late <= allowed && early >= -allowed) return std::nullopt;
  return OnsetDifference{late > allowed ? late : -early, late > allowed, m_late.size()};
}

}  // namespace moho::survey
