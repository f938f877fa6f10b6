// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/trend.hpp>

#include <moho/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace moho::gravity_inversion {

namespace {

double dot(const std::vector<double>& a, const double* b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
  return sum;
}

// Positions scaled to -1..1 along an axis; 0 without an extent.
std::vector<double> scaled(const std::vector<double>& stations, std::size_t axis) {
  double low = stations[axis], high = low;
  for (std::size_t k = axis; k < stations.size(); k += 3) {
    low = std::min(low, stations[k]);
    high = std::max(high, stations[k]);
  }
  std::vector<double> result;
  const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
  for (std::size_t k = axis; k < stations.size(); k += 3) {
    result.push_back(half > 0.0 ? (stations[k] - middle) / half : 0.0);
  }
  return result;
}

// A column is linearly dependent if less than this part of it is left.
constexpr double dependent = 1e-10;

}  // namespace

Trend::Trend(const std::vector<double>& stations, const std::vector<double>& inverse_errors,
             const std::vector<int>& degrees, const std::vector<std::string>& names)
    : m_stations(stations.size() / 3), m_count(inverse_errors.size()) {
  const std::vector<double> x = scaled(stations, 0), y = scaled(stations, 1);
  for (std::size_t c = 0; c < degrees.size(); ++c) {
    if (degrees[c] < -1 || degrees[c] > 3) {
      throw InputError(concat("trend: the degree for ", names[c], " is ", degrees[c],
                              " (allowed: 0 to 3, or none)"));
    }
    if (degrees[c] < 0) continue;
    Set set;
    set.first = c * m_stations;
    const double* const weight = &inverse_errors[set.first];
    std::vector<std::string> terms;
    for (int degree = 0; degree <= degrees[c]; ++degree) {
      for (int b = 0; b <= degree; ++b) {
        std::vector<double> raw(m_stations);
        for (std::size_t k = 0; k < m_stations; ++k) {
          raw[k] = std::pow(x[k], degree - b) * std::pow(y[k], b);
        }
        set.raw.push_back(std::move(raw));
        terms.push_back(concat(names[c], " x^", degree - b, " y^", b));
      }
    }
    const auto values = static_cast<std::size_t>(
        m_stations - static_cast<std::size_t>(std::count(weight, weight + m_stations, 0.0)));
    if (values <= set.raw.size()) {
      throw InputError(concat("trend: ", names[c], " has ", values, " values for ", set.raw.size(),
                              " coefficients (allowed: more values): take a lower degree"));
    }
    for (std::size_t n = 0; n < set.raw.size(); ++n) {
      std::vector<double> q = set.raw[n], r(n + 1, 0.0);
      for (std::size_t k = 0; k < m_stations; ++k) q[k] *= weight[k];
      const double before = std::sqrt(dot(q, q.data()));
      for (int pass = 0; pass < 2; ++pass) {  // twice: orthogonal to rounding
        for (std::size_t j = 0; j < n; ++j) {
          const double part = dot(set.q[j], q.data());
          r[j] += part;
          for (std::size_t k = 0; k < m_stations; ++k) q[k] -= part * set.q[j][k];
        }
      }
      r[n] = std::sqrt(dot(q, q.data()));
      if (!(r[n] > dependent * before)) {
        throw InputError(concat("trend: the stations do not determine its term ", terms[n],
                                " (allowed: stations spread along x and y): take a lower degree"));
      }
      for (double& value : q) value /= r[n];
      set.q.push_back(std::move(q));
      set.r.push_back(std::move(r));
    }
    m_names.insert(m_names.end(), terms.begin(), terms.end());
    m_sets.push_back(std::move(set));
  }
}

std::int64_t Trend::size() const { return static_cast<std::int64_t>(m_names.size()); }

void Trend::project(std::vector<double>& residuals) const {
  for (const Set& set : m_sets) {
    double* const values = &residuals[set.first];
    for (const std::vector<double>& q : set.q) {
      const double part = dot(q, values);
      for (std::size_t k = 0; k < m_stations; ++k) values[k] -= part * q[k];
    }
  }
}

std::vector<double> Trend::coefficients(const std::vector<double>& residuals) const {
  std::vector<double> result;
  for (const Set& set : m_sets) {
    std::vector<double> part;
    for (const std::vector<double>& q : set.q) part.push_back(dot(q, &residuals[set.first]));
    for (std::size_t n = part.size(); n-- > 0;) {
      part[n] /= set.r[n][n];
      for (std::size_t j = 0; j < n; ++j) part[j] -= set.r[n][j] * part[n];
    }
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

std::vector<double> Trend::values(const std::vector<double>& coefficients) const {
  std::vector<double> result(m_count, 0.0);
  std::size_t n = 0;
  for (const Set& set : m_sets) {
    for (const std::vector<double>& raw : set.raw) {
      for (std::size_t k = 0; k < m_stations; ++k) {
        result[set.first + k] += coefficients[n] * raw[k];
      }
      ++n;
    }
  }
  return result;
}

}  // namespace moho::gravity_inversion
