// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Ensembles with fields known in extended precision, and copies to and from a space.

#include <cstddef>
#include <memory>
#include <sstream>
#include <utility>

#include <moho/core/copy.hpp>
#include <moho/gravity/gravity.hpp>

#include "gravity/fields.hpp"
#include "spaces.hpp"

namespace moho::testing {

using gravity::Component;
using gravity::Components;
using gravity::Options;
using gravity::RegularMesh;
using gravity::Report;
using gravity::Strategy;

/// Tolerance of sums over an ensemble, relative to the sum of the norms of all prisms' fields.
/// Double: 1e-11 is the default error of a far field; rounding is far smaller. Float: closed forms
/// in single precision have an error of about 1e-7 times the distance in sides. Multipoles replace
/// them at a distance of about ten sides.
template <class T>
inline constexpr double close_enough = std::is_same_v<T, float> ? 1e-5 : 1e-11;

/// Strategies for ensembles of any kind.
inline constexpr Strategy general_strategies[] = {Strategy::automatic, Strategy::tiles,
                                                  Strategy::by_stations, Strategy::by_prisms};

/// Returns options that name only a strategy.
inline Options with(Strategy strategy) {
  Options options;
  options.strategy = strategy;
  return options;
}

/// The exact fields at some stations, and the sums of the norms of the prisms' fields.
struct Expected {
  std::vector<Field> fields;
  std::vector<Norms> scales;
};

/// Prisms, stations, and the expected fields.
struct Ensemble {
  std::vector<Prism> prisms;
  std::vector<Station> stations;
  Expected expected;
};

/// The exact fields of a few prisms at a few stations, for every pair. Larger ensembles repeat
/// these prisms with other densities, because the reference is slow and the field is linear.
class Pool {
 public:
  Pool(std::vector<Prism> prisms, std::vector<Station> stations)
      : m_prisms(std::move(prisms)), m_stations(std::move(stations)) {
    for (const Prism& p : m_prisms) {
      for (const Station& s : m_stations) {
        m_fields.push_back(extended_prism(p, s, gravity::gravitational_constant));
      }
    }
  }

  const std::vector<Prism>& prisms() const { return m_prisms; }
  const std::vector<Station>& stations() const { return m_stations; }

  /// Returns an ensemble with given densities; prisms and stations are repeated cyclically.
  Ensemble ensemble(const std::vector<double>& densities, std::size_t stations) const {
    Ensemble made;
    // densities of the same prism are summed
    std::vector<double> total(m_prisms.size()), size(m_prisms.size());
    for (std::size_t i = 0; i < densities.size(); ++i) {
      const std::size_t p = i % m_prisms.size();
      made.prisms.push_back(m_prisms[p]);
      made.prisms.back()[6] = densities[i];
      total[p] += densities[i];
      size[p] += std::abs(densities[i]);
    }
    Expected known;
    for (std::size_t s = 0; s < std::min(stations, m_stations.size()); ++s) {
      ExtendedField sum;
      Norms scale{};
      for (std::size_t p = 0; p < std::min(m_prisms.size(), densities.size()); ++p) {
        if (size[p] == 0.0) continue;  // absent prism
        const ExtendedField& f = m_fields[p * m_stations.size() + s];
        Field one;
        for (std::size_t c = 0; c < 10; ++c) {
          sum[c] += f[c] * (Extended(total[p]) / Extended(m_prisms[p][6]));
          one[c] = to_double(f[c]) * (size[p] / m_prisms[p][6]);
        }
        const Norms norms = norms_of(one);
        for (std::size_t n = 0; n < norms.size(); ++n) scale[n] += norms[n];
      }
      Field rounded;
      for (std::size_t c = 0; c < 10; ++c) rounded[c] = to_double(sum[c]);
      known.fields.push_back(rounded);
      known.scales.push_back(scale);
    }
    for (std::size_t s = 0; s < stations; ++s) {
      made.stations.push_back(m_stations[s % m_stations.size()]);
      made.expected.fields.push_back(known.fields[s % m_stations.size()]);
      made.expected.scales.push_back(known.scales[s % m_stations.size()]);
    }
    return made;
  }

  /// Returns an ensemble with random densities of both signs.
  Ensemble ensemble(std::size_t prisms, std::size_t stations, unsigned seed = 1) const {
    Random random(seed);
    std::vector<double> densities;
    for (std::size_t i = 0; i < prisms; ++i) densities.push_back(random.between(-1500.0, 3000.0));
    return ensemble(densities, stations);
  }

  /// Returns an ensemble of every prism once with its own density.
  Ensemble whole() const {
    std::vector<double> densities;
    for (const Prism& p : m_prisms) densities.push_back(p[6]);
    return ensemble(densities, m_stations.size());
  }

 private:
  std::vector<Prism> m_prisms;
  std::vector<Station> m_stations;
  std::vector<ExtendedField> m_fields;
};

/// Returns prisms of 20 to 200 m in a cube of 1 km. Stations in turn are among and inside the
/// prisms, above them, and up to 300 km away.
inline const Pool& mixed_pool() {
  static const Pool pool = [] {
    Random random(21);
    std::vector<Prism> prisms;
    std::vector<Station> stations;
    for (int i = 0; i < 61; ++i) {
      prisms.push_back(random_prism(random, random.log_between(20.0, 200.0), 2.0,
                                    {random.between(-500.0, 500.0), random.between(-500.0, 500.0),
                                     random.between(0.0, 1000.0)}));
    }
    for (int i = 0; i < 53; ++i) {
      if (i % 3 == 0) {
        stations.push_back({random.between(-500.0, 500.0), random.between(-500.0, 500.0),
                            random.between(0.0, 1000.0)});
      } else if (i % 3 == 1) {
        stations.push_back({random.between(-800.0, 800.0), random.between(-800.0, 800.0),
                            -random.log_between(10.0, 1000.0)});
      } else {
        const double far = random.log_between(2e3, 3e5);
        const Station u = random.direction();
        stations.push_back({far * u[0], far * u[1], far * u[2]});
      }
    }
    return Pool(std::move(prisms), std::move(stations));
  }();
  return pool;
}

/// The results of forward() on the host: one row per component, one column per station.
struct Outcome {
  std::vector<double> values;
  std::size_t stations = 0;
  Report report;

  double at(std::size_t row, std::size_t station) const { return values[row * stations + station]; }
};

/// Returns rows of numbers on the host as one list.
template <class Row>
std::vector<double> flat(const std::vector<Row>& rows) {
  std::vector<double> values;
  for (const Row& row : rows) values.insert(values.end(), row.begin(), row.end());
  return values;
}

/// Returns numbers in a memory space.
template <class Memory>
Kokkos::View<double*, Memory> numbers_in(const Instance<Memory>& exec,
                                         const std::vector<double>& values) {
  return upload(exec, values, "numbers");
}

/// Returns numbers in a memory space as rows of prisms for forward().
template <class Memory>
gravity::PrismView<Memory> prisms_of(const Kokkos::View<double*, Memory>& numbers) {
  return gravity::PrismView<Memory>(numbers.data(), numbers.size() / 7);
}
template <class Memory>
gravity::StationView<Memory> stations_of(const Kokkos::View<double*, Memory>& numbers) {
  return gravity::StationView<Memory>(numbers.data(), numbers.size() / 3);
}

/// Returns results filled with a value that forward() must overwrite.
template <class Memory>
gravity::ResultView<Memory> results_in(const Instance<Memory>& exec, std::size_t rows,
                                       std::size_t stations) {
  const auto results = allocate<gravity::ResultView<Memory>>(exec, "results", rows, stations);
  fill(exec, results, -1.2345e67);
  exec.fence();
  return results;
}

template <class Memory>
Outcome to_outcome(const Instance<Memory>& exec, const gravity::ResultView<Memory>& results,
                   Report report) {
  exec.fence();
  return {download(exec, results), results.extent(1), std::move(report)};
}

/// Runs forward() for a list of prisms.
template <class T, class Memory>
Outcome compute(const Instance<Memory>& exec, const std::vector<Prism>& prisms,
                const std::vector<Station>& stations, const Components& components,
                const Options& options = {}) {
  const auto rows = numbers_in(exec, flat(prisms)), positions = numbers_in(exec, flat(stations));
  const auto results = results_in(exec, components.size(), stations.size());
  const auto report = gravity::forward<T>(exec, prisms_of(rows), stations_of(positions), components,
                                          results, options);
  return to_outcome(exec, results, report);
}

/// Runs forward() for a regular mesh.
template <class T, class Memory>
Outcome compute(const Instance<Memory>& exec, const RegularMesh& mesh,
                const std::vector<double>& densities, const std::vector<Station>& stations,
                const Components& components, const Options& options = {}) {
  const auto numbers = numbers_in(exec, densities), positions = numbers_in(exec, flat(stations));
  const auto results = results_in(exec, components.size(), stations.size());
  const auto report = gravity::forward<T>(exec, mesh, gravity::DensityView<Memory>(numbers),
                                          stations_of(positions), components, results, options);
  return to_outcome(exec, results, report);
}

/// Compares every result with tolerance times the scale of its station. NaN must occur exactly
/// where it is expected. The message gives the largest error.
inline ::testing::AssertionResult outcome_agrees(const Outcome& outcome,
                                                 const Components& components,
                                                 const Expected& expected, double tolerance) {
  double worst = -1.0;
  std::size_t wrong = 0;
  std::ostringstream text;
  if (outcome.values.size() != components.size() * expected.fields.size()) {
    return ::testing::AssertionFailure() << outcome.values.size() << " results";
  }
  for (std::size_t row = 0; row < components.size(); ++row) {
    const auto slot = static_cast<std::size_t>(components[row]);
    for (std::size_t s = 0; s < expected.fields.size(); ++s) {
      const double found = outcome.at(row, s), exact = expected.fields[s][slot];
      const double scale = expected.scales[s][order_of(slot)];
      double error = std::abs(found - exact) / scale;
      if (std::isnan(exact) && std::isnan(found)) continue;
      if (found == exact) continue;
      if (std::isnan(exact) || std::isnan(found)) error = std::numeric_limits<double>::infinity();
      if (error <= tolerance) continue;
      ++wrong;
      if (error <= worst) continue;
      worst = error;
      text.str("");
      text.precision(12);
      text << to_string(components[row]) << " at station " << s << " is " << found << ", not "
           << exact << ": off by " << error << " of its scale, allowed " << tolerance;
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " results are wrong, the worst: " << text.str();
}

/// Returns the prisms of a mesh with these densities; those of density 0 are left out.
inline std::vector<Prism> mesh_rows(const RegularMesh& mesh, const std::vector<double>& densities) {
  const auto rows = gravity::mesh_prisms(mesh, densities);
  std::vector<Prism> prisms(rows.size() / 7);
  for (std::size_t i = 0; i < prisms.size(); ++i) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(7 * i), 7, prisms[i].begin());
  }
  return prisms;
}

inline Components all_ten() { return gravity::all_components(); }

}  // namespace moho::testing
