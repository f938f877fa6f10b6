// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of Inversion for delays, origin times and moves of sources (internal).

#include <moho/tomography/inversion.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace moho::tomography {

namespace detail {

inline std::array<const std::vector<double>*, 4> lists_of(const Delays& delays) {
  return {&delays.source, &delays.receiver, &delays.origin, &delays.moves};
}
inline std::array<std::vector<double>*, 4> lists_of(Delays& delays) {
  return {&delays.source, &delays.receiver, &delays.origin, &delays.moves};
}

/// Adds the derivative by a delay to the last row.
inline void add_delay(std::size_t index, double value, const std::vector<double>& scales,
                      SparseRows& result) {
  if (value == 0.0 || scales[index] == 0.0) return;
  result.column.push_back(static_cast<int>(index));
  result.value.push_back(value * scales[index]);
}

}  // namespace detail

template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::delay_of(const Delays& delays, const Pick& pick) const {
  double sum = 0.0;
  if (!delays.source.empty()) sum += delays.source[static_cast<std::size_t>(pick.source)];
  if (!delays.receiver.empty()) sum += delays.receiver[static_cast<std::size_t>(pick.receiver)];
  if (!delays.origin.empty()) sum += delays.origin[static_cast<std::size_t>(pick.source)];
  return sum;
}

// Positions of the sources after their moves; empty where they are known.
template <class T, int Dim, class Memory>
Points<Dim> Inversion<T, Dim, Memory>::positions(const Delays& delays) const {
  if (delays.moves.empty()) return {};
  Points<Dim> result = m_picks.sources;
  for (std::size_t s = 0; s < result.size(); ++s) {
    for (int d = 0; d < Dim; ++d) {
      result[s][d] += delays.moves[s * Dim + static_cast<std::size_t>(d)];
    }
  }
  return result;
}

// Keeps moves within two cells of those before, inside of the grid and below the ground.
template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::limit_moves(Delays& delays) const {
  for (std::size_t k = 0; k < delays.moves.size(); ++k) {
    const double cells = 2.0 * m_grid.spacing[static_cast<int>(k % Dim)];
    const double before = m_state.delays.moves[k];
    delays.moves[k] = std::clamp(delays.moves[k], before - cells, before + cells);
  }
  const Points<Dim> moved = positions(delays);
  for (std::size_t s = 0; s < moved.size(); ++s) {
    Point<Dim> inside = moved[s];
    for (int d = 0; d < Dim; ++d) {
      inside[d] = std::clamp(inside[d], m_grid.origin[d], m_grid.upper(d));
    }
    if (!m_ground.depth.empty()) {
      inside[Dim - 1] -= std::min(0.0, depth_below<Dim>(m_grid, m_ground, inside));
    }
    for (int d = 0; d < Dim; ++d) {
      delays.moves[s * Dim + static_cast<std::size_t>(d)] += inside[d] - moved[s][d];
    }
  }
}

// Units of a white unknown with a prior deviation: that deviation at the last lambda.
template <class T, int Dim, class Memory>
double Inversion<T, Dim, Memory>::prior_scale(double deviation) const {
  const double lambda = m_state.reports.empty() || !(m_state.reports.back().lambda > 0.0)
                            ? 1.0 / m_options.prior.deviation_max
                            : m_state.reports.back().lambda;
  return deviation * lambda;
}

// Units of the white unknowns of delays, origin times and moves, in this order.
template <class T, int Dim, class Memory>
std::vector<double> Inversion<T, Dim, Memory>::delay_scales() const {
  const Delays& delays = m_state.delays;
  std::vector<double> scales(delays.source.size() + delays.receiver.size(),
                             prior_scale(m_options.static_deviation));
  scales.insert(scales.end(), delays.origin.size(),
                prior_scale(m_options.location.origin_deviation));
  for (std::size_t k = 0; k < delays.moves.size(); ++k) {
    scales.push_back(prior_scale(m_options.location.deviation[static_cast<int>(k % Dim)]));
  }
  return scales;
}

template <class T, int Dim, class Memory>
std::vector<double> Inversion<T, Dim, Memory>::unknowns_of(const std::vector<double>& white,
                                                           const Delays& delays) const {
  std::vector<double> x(white);
  for (const std::vector<double>* list : detail::lists_of(delays)) {
    x.insert(x.end(), list->begin(), list->end());
  }
  const std::vector<double> scales = delay_scales();
  for (std::size_t k = 0; k < scales.size(); ++k) {
    double& value = x[white.size() + k];
    value = scales[k] > 0.0 ? value / scales[k] : 0.0;
  }
  return x;
}

template <class T, int Dim, class Memory>
void Inversion<T, Dim, Memory>::split(const std::vector<double>& x, std::vector<double>& white,
                                      Delays& delays) const {
  const std::size_t n = m_state.white.size();
  white.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
  delays = m_state.delays;
  const std::vector<double> scales = delay_scales();
  std::size_t k = 0;
  for (std::vector<double>* list : detail::lists_of(delays)) {
    for (double& value : *list) {
      value = x[n + k] * scales[k];
      ++k;
    }
  }
}

// The derivative by delays, origin times and moves in their units.
template <class T, int Dim, class Memory>
SparseRows Inversion<T, Dim, Memory>::delay_rows() const {
  const Delays& delays = m_state.delays;
  const std::vector<double> scales = delay_scales();
  SparseRows result;
  result.columns = static_cast<std::int64_t>(scales.size());
  if (scales.empty()) {
    result.first.assign(m_fits.size() + 1, 0);
    return result;
  }
  for (std::size_t r = 0; r < m_fits.size(); ++r) {
    const Pick& pick = m_picks.picks[r];
    const auto source = static_cast<std::size_t>(pick.source);
    std::size_t index = 0;
    if (!delays.source.empty()) detail::add_delay(source, 1.0, scales, result);
    index += delays.source.size();
    if (!delays.receiver.empty()) {
      detail::add_delay(index + static_cast<std::size_t>(pick.receiver), 1.0, scales, result);
    }
    index += delays.receiver.size();
    if (!delays.origin.empty()) detail::add_delay(index + source, 1.0, scales, result);
    index += delays.origin.size();
    for (std::size_t d = 0; d < Dim && !delays.moves.empty(); ++d) {
      detail::add_delay(index + source * Dim + d, m_now.departures[r * Dim + d], scales, result);
    }
    result.first.push_back(static_cast<std::int64_t>(result.column.size()));
  }
  return result;
}

}  // namespace moho::tomography
