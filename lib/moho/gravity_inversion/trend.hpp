// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Elimination of a regional trend from data by projection.

#include <cstdint>
#include <string>
#include <vector>

namespace moho::gravity_inversion {

/// \brief Polynomials in x and y, a set for each component, that are projected
/// out of residuals.
///
/// The least-squares misfit over model and trend is |P r|^2 with r = S^-1 (G m
/// - d), S the standard errors, P = I - Q Q^T, and Q an orthonormal basis of
/// S^-1 times the polynomials. Positions are scaled to -1..1 over the stations.
class Trend {
 public:
  Trend() = default;
  /// \param stations rows of x, y, z
  /// \param inverse_errors 1 / standard error, components x stations; 0 for
  /// values left out \param degrees degree of each component, 0 to 3, or -1 for
  /// none \param names of the components, for messages \throws InputError for a
  /// degree out of range, fewer values than coefficients, or stations that
  ///         do not determine all terms (the message names the first)
  Trend(const std::vector<double>& stations, const std::vector<double>& inverse_errors,
        const std::vector<int>& degrees, const std::vector<std::string>& names);

  /// Returns the number of coefficients.
  std::int64_t size() const;
  /// Replaces residuals (in units of the errors) by P r.
  void project(std::vector<double>& residuals) const;
  /// Returns the coefficients that fit residuals r = S^-1 (d - G m), component
  /// by component.
  std::vector<double> coefficients(const std::vector<double>& residuals) const;
  /// Returns the trend with these coefficients, components x stations, in the
  /// units of the data.
  std::vector<double> values(const std::vector<double>& coefficients) const;
  /// Returns names of the coefficients: "gz x^1 y^0", ...
  const std::vector<std::string>& names() const { return m_names; }

 private:
  struct Set {
    std::size_t first = 0;                 // first value of the component
    std::vector<std::vector<double>> raw;  // polynomials at all stations
    std::vector<std::vector<double>> q;    // orthonormal, of values
    std::vector<std::vector<double>> r;    // columns of the triangle
  };
  std::size_t m_stations = 0, m_count = 0;
  std::vector<Set> m_sets;
  std::vector<std::string> m_names;
};

}  // namespace moho::gravity_inversion
