// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity/inspect.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace moho::gravity {

namespace {

// First prism with a density that contains a station, or has it on its surface; -1: no prism.
std::int64_t prism_around(const HostEnsemble& ensemble, const double* station) {
  if (ensemble.mesh == nullptr) {
    for (std::int64_t k = 0; k < ensemble.size(); ++k) {
      const double* p = ensemble.values.data() + 7 * k;
      bool inside = p[6] != 0.0;
      for (int d = 0; d < 3 && inside; ++d) {
        inside = station[d] >= p[2 * d] && station[d] <= p[2 * d + 1];
      }
      if (inside) return k;
    }
    return -1;
  }
  // On a face, an edge or a corner a station is in up to eight cells.
  const RegularMesh& mesh = *ensemble.mesh;
  std::array<std::int64_t, 3> low{}, high{};
  for (int d = 0; d < 3; ++d) {
    const auto count = static_cast<double>(mesh.cells[d]);
    const double at = (station[d] - mesh.lower[d]) / (mesh.upper[d] - mesh.lower[d]) * count;
    if (!(at >= 0.0 && at <= count)) return -1;
    const auto k = static_cast<std::size_t>(d);
    const double face = std::round(at);
    const bool on_face = std::fabs(at - face) <= 1e-14 * count;
    low[k] = static_cast<std::int64_t>(on_face ? face - 1.0 : at);
    high[k] = static_cast<std::int64_t>(on_face ? face : at);
    low[k] = std::max<std::int64_t>(low[k], 0);
    high[k] = std::min(high[k], mesh.cells[d] - 1);
  }
  for (std::int64_t z = low[2]; z <= high[2]; ++z) {
    for (std::int64_t y = low[1]; y <= high[1]; ++y) {
      for (std::int64_t x = low[0]; x <= high[0]; ++x) {
        const std::int64_t cell = (z * mesh.cells[1] + y) * mesh.cells[0] + x;
        if (ensemble.density(cell) != 0.0) return cell;
      }
    }
  }
  return -1;
}

// Lower and upper corner of all prisms.
std::array<double, 6> box_of(const HostEnsemble& ensemble) {
  std::array<double, 6> box{};
  for (std::size_t d = 0; d < 3; ++d) {
    if (ensemble.mesh != nullptr) {
      box[d] = ensemble.mesh->lower[static_cast<int>(d)];
      box[d + 3] = ensemble.mesh->upper[static_cast<int>(d)];
      continue;
    }
    for (std::size_t k = 0; k < ensemble.values.size(); k += 7) {
      const double low = ensemble.values[k + 2 * d], high = ensemble.values[k + 2 * d + 1];
      box[d] = k == 0 ? low : std::min(box[d], low);
      box[d + 3] = k == 0 ? high : std::max(box[d + 3], high);
    }
  }
  return box;
}

}  // namespace

Masses count_masses(const HostEnsemble& ensemble) {
  Masses masses;
  masses.lowest = std::numeric_limits<double>::infinity();
  masses.highest = -masses.lowest;
  for (std::int64_t k = 0; k < ensemble.size(); ++k) {
    const double density = ensemble.density(k);
    if (density == 0.0) continue;
    ++masses.prisms;
    masses.lowest = std::min(masses.lowest, density);
    masses.highest = std::max(masses.highest, density);
  }
  if (masses.prisms == 0) masses.lowest = masses.highest = 0.0;
  return masses;
}

Extremes extremes_of(std::span<const double> values) {
  Extremes e;
  for (const double value : values) {
    if (std::isnan(value)) {
      ++e.missing;
      continue;
    }
    e.lowest = e.any ? std::min(e.lowest, value) : value;
    e.highest = e.any ? std::max(e.highest, value) : value;
    e.any = true;
  }
  return e;
}

std::vector<mpi::Part> divide_ensemble(const HostEnsemble& ensemble, std::int64_t masses,
                                       int ranks) {
  const bool regular = ensemble.mesh != nullptr;
  std::vector<mpi::Part> parts;
  for (int q = 0; q < ranks; ++q) {
    parts.push_back(mpi::part_of(regular ? masses : ensemble.size(), ranks, q));
  }
  if (!regular) return parts;
  // Converts positions among prisms with mass to those of their cells.
  std::vector<std::int64_t> cuts{0};
  const auto cut_at = [&](std::int64_t seen, std::int64_t cell) {
    while (cuts.size() <= parts.size() && parts[cuts.size() - 1].last == seen) cuts.push_back(cell);
  };
  std::int64_t seen = 0;
  cut_at(seen, 0);
  for (std::int64_t cell = 0; cell < ensemble.size(); ++cell) {
    if (ensemble.density(cell) != 0.0) cut_at(++seen, cell + 1);
  }
  for (std::size_t q = 0; q < parts.size(); ++q) parts[q] = {cuts[q], cuts[q + 1]};
  return parts;
}

InnerStations find_inner_stations(const HostEnsemble& ensemble, std::span<const double> stations,
                                  double max_comparisons) {
  const std::array<double, 6> box = box_of(ensemble);
  std::vector<std::size_t> near;
  for (std::size_t k = 0; k < stations.size(); k += 3) {
    const double* s = stations.data() + k;
    bool inside = true;
    for (std::size_t d = 0; d < 3; ++d) inside = inside && s[d] >= box[d] && s[d] <= box[d + 3];
    if (inside) near.push_back(k / 3);
  }
  InnerStations result;
  result.candidates = near.size();
  const double each = ensemble.mesh != nullptr ? 1.0 : static_cast<double>(ensemble.size());
  result.searched = static_cast<double>(near.size()) * each <= max_comparisons;
  if (!result.searched) return result;
  for (const std::size_t k : near) {
    const std::int64_t around = prism_around(ensemble, stations.data() + 3 * k);
    if (around < 0) continue;
    if (result.inside++ == 0) {
      result.first = k;
      result.prism = around;
    }
  }
  return result;
}

}  // namespace moho::gravity
