// SPDX-License-Identifier: BSD-3-Clause

#include <moho/gravity/detail/to_space.hpp>
#include <moho/gravity/lattice.hpp>

#include <algorithm>
#include <cmath>

namespace moho::gravity {

namespace {

// Largest difference of a station from a point of the lattice, in steps.
constexpr double off_lattice = 1e-6;

std::size_t to_size(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

Lattice find_lattice(const RegularMesh& mesh, const std::vector<double>& stations) {
  Lattice lattice;
  const std::size_t count = detail::row_count("stations", stations, 3);
  if (count == 0) {
    lattice.why = "no stations";
    return lattice;
  }
  double low[2] = {stations[0], stations[1]}, high[2] = {stations[0], stations[1]};
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t n = 0; n < 2; ++n) {
      low[n] = std::min(low[n], stations[3 * s + n]);
      high[n] = std::max(high[n], stations[3 * s + n]);
    }
  }
  lattice.x0 = low[0];
  lattice.y0 = low[1];
  lattice.z = stations[2];
  if (!(lattice.z < mesh.lower[2])) {
    lattice.why = concat("station 1 has z = ", lattice.z, " m, which is not above the mesh's top, ",
                         mesh.lower[2], " m");
    return lattice;
  }
  double step[2];
  std::int64_t points[2];
  for (int n = 0; n < 2; ++n) {
    step[n] = (mesh.upper[n] - mesh.lower[n]) / static_cast<double>(mesh.cells[n]);
    points[n] = std::llround((high[n] - low[n]) / step[n]) + 1;
  }
  lattice.nx = points[0];
  lattice.ny = points[1];
  for (std::size_t s = 0; s < count; ++s) {
    std::int64_t at[2];
    for (std::size_t n = 0; n < 2; ++n) {
      const double steps = (stations[3 * s + n] - low[n]) / step[n];
      at[n] = std::llround(steps);
      if (std::abs(steps - static_cast<double>(at[n])) <= off_lattice) continue;
      lattice.why = concat("station ", s + 1, " is ", std::abs(steps - std::round(steps)) * step[n],
                           " m along ", "xy"[n], " from the lattice of the mesh, whose step is ",
                           step[n], " m");
      return lattice;
    }
    if (std::abs(stations[3 * s + 2] - lattice.z) > off_lattice * step[0]) {
      lattice.why = concat("station ", s + 1, " has z = ", stations[3 * s + 2],
                           " m, and station 1 has ", lattice.z, " m");
      return lattice;
    }
    lattice.point.push_back(at[1] * lattice.nx + at[0]);
  }
  return lattice;
}

double lattice_bytes(const RegularMesh& mesh, const Lattice& lattice, std::size_t components) {
  const auto lx = detail::fourier_length(mesh.cells[0] + lattice.nx - 1);
  const auto ly = detail::fourier_length(mesh.cells[1] + lattice.ny - 1);
  const std::int64_t pairs = std::min<std::int64_t>(detail::lattice_pairs, (mesh.cells[2] + 1) / 2);
  const auto count = static_cast<std::int64_t>(components);
  // half planes of spectra and sums, planes to work in and of components
  const std::int64_t halves = mesh.cells[2] * count + std::max(count, 2 * pairs);
  const std::int64_t planes = 2 * pairs + (count + 1) / 2;
  return 16.0 * static_cast<double>(lx) *
         (static_cast<double>(halves) * static_cast<double>(ly / 2 + 1) +
          static_cast<double>(planes) * static_cast<double>(ly));
}

namespace detail {

std::vector<Radix> fourier_radices(std::int64_t length) {
  std::vector<int> factors;  // the largest first
  for (const int factor : {5, 4, 3, 2}) {
    for (; length % factor == 0; length /= factor) factors.push_back(factor);
  }
  // the largest and the smallest in one pass
  std::vector<Radix> radices;
  std::size_t first = 0, last = factors.size();
  for (; last - first >= 2; ++first, --last) radices.push_back({factors[first], factors[last - 1]});
  if (last > first) radices.push_back({factors[first], 1});
  return radices;
}

std::int64_t fourier_length(std::int64_t count) {
  for (std::int64_t length = std::max<std::int64_t>(count, 2);; ++length) {
    std::int64_t rest = length;
    for (const int radix : {2, 3, 5}) {
      while (rest % radix == 0) rest /= radix;
    }
    if (rest == 1) return length;
  }
}

std::vector<Complex> fourier_table(std::int64_t length) {
  std::vector<Complex> table;
  const long double turn = 2.0L * std::acos(-1.0L) / static_cast<long double>(length);
  for (std::int64_t k = 0; k < length; ++k) {
    const long double angle = turn * static_cast<long double>(k);
    table.push_back({static_cast<double>(std::cos(angle)), static_cast<double>(-std::sin(angle))});
  }
  return table;
}

void check_lattice(const Lattice& lattice) {
  if (lattice.why.empty()) return;
  throw InputError(concat("stations: ", lattice.why,
                          " (allowed with lattice: stations at one height above the mesh, whole "
                          "steps of its cells apart): take the strategy automatic"));
}

void list_stations(const Lattice& lattice, std::vector<std::int64_t>& begin,
                   std::vector<std::int64_t>& list) {
  begin.assign(to_size(lattice.nx * lattice.ny) + 1, 0);
  for (const std::int64_t point : lattice.point) ++begin[to_size(point) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  list.resize(lattice.point.size());
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t s = 0; s < lattice.point.size(); ++s) {
    list[to_size(next[to_size(lattice.point[s])]++)] = static_cast<std::int64_t>(s);
  }
}

std::vector<double> lag_stations(const RegularMesh& mesh, const Lattice& lattice) {
  std::vector<double> stations;
  const double dx = (mesh.upper[0] - mesh.lower[0]) / static_cast<double>(mesh.cells[0]);
  const double dy = (mesh.upper[1] - mesh.lower[1]) / static_cast<double>(mesh.cells[1]);
  for (std::int64_t j = 1 - mesh.cells[1]; j < lattice.ny; ++j) {
    for (std::int64_t i = 1 - mesh.cells[0]; i < lattice.nx; ++i) {
      stations.push_back(lattice.x0 + dx * static_cast<double>(i));
      stations.push_back(lattice.y0 + dy * static_cast<double>(j));
      stations.push_back(lattice.z);
    }
  }
  return stations;
}

}  // namespace detail

}  // namespace moho::gravity
