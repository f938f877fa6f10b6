// SPDX-License-Identifier: BSD-3-Clause
#include <moho/gravity_inversion/cells.hpp>

#include <moho/core/error.hpp>
#include <moho/gravity/ensemble.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>

namespace moho::gravity_inversion {

namespace {

std::size_t to_size(std::int64_t i) { return static_cast<std::size_t>(i); }

// Cells at least this part of their height below the ground are unknowns.
constexpr double min_part = 0.05;

// z of the highest face.
double top_of(const Cells& cells) {
  double top = cells.prisms[4];
  for (std::size_t k = 4; k < cells.prisms.size(); k += 7) top = std::min(top, cells.prisms[k]);
  return top;
}

// x1, x2, y1, y2, z1, z2.
using Box = std::array<double, 6>;

// The box around all cells.
Box box_of(const Cells& cells) {
  Box box;
  std::copy_n(cells.prisms.begin(), 6, box.begin());
  for (std::size_t k = 0; k < cells.prisms.size(); ++k) {
    const std::size_t side = k % 7;
    if (side == 6) continue;
    box[side] =
        side % 2 == 0 ? std::min(box[side], cells.prisms[k]) : std::max(box[side], cells.prisms[k]);
  }
  return box;
}

// Returns true for a station inside of a prism of a list.
bool is_inside(const Cells& cells, const double* station) {
  for (std::size_t k = 0; k < cells.prisms.size(); k += 7) {
    const double* const prism = &cells.prisms[k];
    bool inside = true;
    for (int axis = 0; axis < 3; ++axis) {
      inside = inside && station[axis] > prism[2 * axis] && station[axis] < prism[2 * axis + 1];
    }
    if (inside) return true;
  }
  return false;
}

// Returns true for a station within the mesh that is below the top of a cell of the model.
// \param unknown number of each cell's unknown, -1: it is left out
bool is_inside_mesh(const Cells& cells, const std::vector<std::int64_t>& unknown,
                    const double* station) {
  const auto& mesh = cells.mesh;
  std::int64_t at[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double step =
        (mesh.upper[axis] - mesh.lower[axis]) / static_cast<double>(mesh.cells[axis]);
    at[axis] = std::clamp<std::int64_t>(
        static_cast<std::int64_t>((station[axis] - mesh.lower[axis]) / step), 0,
        mesh.cells[axis] - 1);
  }
  const std::int64_t number =
      unknown[to_size(at[0] + mesh.cells[0] * (at[1] + mesh.cells[1] * at[2]))];
  return number >= 0 && station[2] > cells.prisms[7 * to_size(number) + 4];
}

}  // namespace

double Ground::at(double x, double y) const {
  const auto along = [&](double value, double first, double step, std::int64_t count,
                         const char* axis) {
    const double q = count > 1 ? (value - first) / step : 0.0;
    const double last = static_cast<double>(count - 1);
    if (count > 1 && !(q >= -0.5 && q <= last + 0.5)) {
      throw InputError(concat(name, ": it runs from ", axis, " = ", first, " to ",
                              first + step * last, " m and does not cover ", axis, " = ", value,
                              " m (allowed: elevations over the whole mesh)"));
    }
    return std::clamp(q, 0.0, last);
  };
  const double p = along(x, x0, dx, nx, "x"), q = along(y, y0, dy, ny, "y");
  const auto i = std::min(static_cast<std::int64_t>(p), std::max<std::int64_t>(nx - 2, 0));
  const auto j = std::min(static_cast<std::int64_t>(q), std::max<std::int64_t>(ny - 2, 0));
  const double u = p - static_cast<double>(i), v = q - static_cast<double>(j);
  const auto value = [&](std::int64_t a, std::int64_t b) {
    return elevation[to_size(std::min(b, ny - 1) * nx + std::min(a, nx - 1))];
  };
  return (1.0 - v) * ((1.0 - u) * value(i, j) + u * value(i + 1, j)) +
         v * ((1.0 - u) * value(i, j + 1) + u * value(i + 1, j + 1));
}

std::vector<double> Cells::volumes() const {
  std::vector<double> result(to_size(size()));
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double* p = &prisms[7 * k];
    result[k] = (p[1] - p[0]) * (p[3] - p[2]) * (p[5] - p[4]);
  }
  return result;
}

std::vector<double> Cells::on_mesh(const std::vector<double>& values, double other) const {
  std::vector<double> result(to_size(mesh.size()), other);
  for (std::size_t k = 0; k < cell.size(); ++k) result[to_size(cell[k])] = values[k];
  return result;
}

std::vector<double> Cells::from_mesh(const std::vector<double>& values) const {
  std::vector<double> result(cell.size());
  for (std::size_t k = 0; k < cell.size(); ++k) result[k] = values[to_size(cell[k])];
  return result;
}

std::vector<unsigned char> mask_of(const std::string& name, const std::vector<double>& values) {
  std::vector<unsigned char> mask(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (std::isnan(values[k])) {
      throw InputError(concat(name, ": the value of cell ", k + 1,
                              " is no number (allowed: 0 and other numbers): mend it"));
    }
    mask[k] = values[k] != 0.0 ? 1 : 0;
  }
  return mask;
}

Cells mesh_cells(const gravity::RegularMesh& mesh, const std::vector<unsigned char>& mask,
                 const Ground* ground) {
  gravity::detail::check_mesh(mesh, mesh.size());
  if (!mask.empty() && static_cast<std::int64_t>(mask.size()) != mesh.size()) {
    throw InputError(concat("mask: it has ", mask.size(), " cells (allowed: ", mesh.size(),
                            ", those of the mesh)"));
  }
  Cells cells;
  cells.mesh = mesh;
  const std::int64_t nx = mesh.cells[0], ny = mesh.cells[1], nz = mesh.cells[2];
  std::vector<double> top(to_size(nx * ny), mesh.lower[2]);
  if (ground != nullptr) {
    for (const double height : ground->elevation) {
      if (std::isfinite(height)) continue;
      throw InputError(concat(ground->name, ": an elevation is ", height,
                              " (allowed: finite numbers, in m): interpolate it"));
    }
    for (std::int64_t j = 0; j < ny; ++j) {
      for (std::int64_t i = 0; i < nx; ++i) {
        top[to_size(j * nx + i)] = -ground->at(0.5 * (mesh.face(0, i) + mesh.face(0, i + 1)),
                                               0.5 * (mesh.face(1, j) + mesh.face(1, j + 1)));
      }
    }
  }
  std::vector<std::int64_t> unknown(to_size(mesh.size()), -1);
  for (std::int64_t at = 0; at < mesh.size(); ++at) {
    if (!mask.empty() && mask[to_size(at)] == 0) continue;
    const std::int64_t i = at % nx, j = at / nx % ny, k = at / (nx * ny);
    const double z1 = mesh.face(2, k), z2 = mesh.face(2, k + 1);
    const double upper = std::max(z1, top[to_size(j * nx + i)]);
    if (!(z2 - upper > min_part * (z2 - z1))) continue;
    unknown[to_size(at)] = cells.size();
    for (const double value : {mesh.face(0, i), mesh.face(0, i + 1), mesh.face(1, j),
                               mesh.face(1, j + 1), upper, z2, 1.0}) {
      cells.prisms.push_back(value);
    }
    cells.cell.push_back(at);
  }
  if (cells.cell.empty()) {
    throw InputError(
        "mesh: no cell is left, all are above the ground or "
        "outside of the mask (allowed: 1 or "
        "more): lower the mesh, or change the mask");
  }
  const std::array<std::int64_t, 3> count{nx, ny, nz}, stride{1, nx, nx * ny};
  for (std::int64_t first = 0; first < cells.size(); ++first) {
    const std::int64_t at = cells.cell[to_size(first)];
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (at / stride[a] % count[a] + 1 == count[a]) continue;
      const std::int64_t second = unknown[to_size(at + stride[a])];
      if (second >= 0) cells.links.push_back({first, second, axis});
    }
  }
  cells.prisms.shrink_to_fit();
  cells.cell.shrink_to_fit();
  cells.links.shrink_to_fit();
  return cells;
}

Cells list_cells(const std::vector<double>& rows) {
  Cells cells;
  if (rows.size() % 7 != 0) {
    throw InputError(concat("prisms: there are ", rows.size(), " numbers (allowed: rows of 7)"));
  }
  cells.prisms = rows;
  for (std::size_t k = 6; k < rows.size(); k += 7) cells.prisms[k] = 1.0;
  if (cells.size() == 0) throw InputError("prisms: 0 (allowed: 1 or more)");
  for (std::int64_t k = 0; k < cells.size(); ++k) {
    double p[7];
    std::copy_n(&cells.prisms[7 * to_size(k)], 7, p);
    if (gravity::detail::fault_of(p) != gravity::detail::good_prism) {
      gravity::detail::refuse_prism(k, p);
    }
  }
  using Face = std::array<double, 5>;
  for (int axis = 0; axis < 3; ++axis) {
    const std::size_t n = 2 * static_cast<std::size_t>(axis), u = (n + 2) % 6, v = (n + 4) % 6;
    std::map<Face, std::int64_t> lower;
    const auto face = [&](std::int64_t k, std::size_t side) {
      const double* p = &cells.prisms[7 * to_size(k)];
      return Face{p[n + side], p[u], p[u + 1], p[v], p[v + 1]};
    };
    for (std::int64_t k = 0; k < cells.size(); ++k) lower.emplace(face(k, 0), k);
    for (std::int64_t k = 0; k < cells.size(); ++k) {
      const auto found = lower.find(face(k, 1));
      if (found != lower.end()) cells.links.push_back({k, found->second, axis});
    }
  }
  return cells;
}

Heights station_heights(const Cells& cells, const std::vector<double>& stations,
                        const Ground* ground) {
  const double top = top_of(cells);
  const std::size_t count = stations.size() / 3;
  Heights heights;
  for (std::size_t s = 0; s < count; ++s) {
    const double* p = &stations[3 * s];
    double level = top;
    if (ground != nullptr) {
      try {
        level = -ground->at(p[0], p[1]);
      } catch (const InputError&) {
        level = std::max(level, p[2]);  // outside: not below the ground
      }
    }
    if (p[2] > level && heights.below++ == 0) heights.first = static_cast<std::int64_t>(s);
    heights.mean += std::max(level - p[2], 0.0) / static_cast<double>(count);
  }
  return heights;
}

StrangeStations strange_stations(const Cells& cells, const std::vector<double>& stations,
                                 double max_comparisons) {
  StrangeStations found;
  const Box box = box_of(cells);
  found.width = std::max(box[1] - box[0], box[3] - box[2]);
  std::vector<std::int64_t> candidates;
  for (std::size_t s = 0; s < stations.size() / 3; ++s) {
    double distance2 = 0.0;
    bool in_box = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double value = stations[3 * s + axis];
      const double low = box[2 * axis], high = box[2 * axis + 1];
      const double outside = std::max({low - value, value - high, 0.0});
      distance2 += outside * outside;
      in_box = in_box && value > low && value < high;
    }
    const auto number = static_cast<std::int64_t>(s);
    if (in_box) candidates.push_back(number);
    if (distance2 > found.width * found.width && found.far++ == 0) found.first_far = number;
  }
  std::vector<std::int64_t> unknown;  // of each cell of a mesh
  if (cells.regular()) {
    unknown.assign(to_size(cells.mesh.size()), -1);
    for (std::size_t k = 0; k < cells.cell.size(); ++k) {
      unknown[to_size(cells.cell[k])] = static_cast<std::int64_t>(k);
    }
  } else if (static_cast<double>(candidates.size()) * static_cast<double>(cells.size()) >
             max_comparisons) {
    return found;
  }
  for (const std::int64_t number : candidates) {
    const double* const p = &stations[3 * to_size(number)];
    const bool inside = cells.regular() ? is_inside_mesh(cells, unknown, p) : is_inside(cells, p);
    if (inside && found.inside++ == 0) found.first_inside = number;
  }
  return found;
}

std::vector<double> depth_weights(const Cells& cells, double height, double exponent,
                                  const Ground* ground) {
  if (!(exponent >= 0.0 && exponent <= 10.0)) {
    throw InputError(concat("depth weights: the exponent is ", exponent, " (allowed: 0 to 10)"));
  }
  const double top = top_of(cells);
  std::vector<double> weights(to_size(cells.size()));
  double largest = 0.0;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double* p = &cells.prisms[7 * k];
    const double level =
        ground != nullptr ? -ground->at(0.5 * (p[0] + p[1]), 0.5 * (p[2] + p[3])) : top;
    const double half = 0.5 * (p[5] - p[4]);
    const double depth = std::max(0.5 * (p[4] + p[5]) - level, half) + std::max(height, 0.0);
    weights[k] = std::pow(depth, -0.5 * exponent);
    largest = std::max(largest, weights[k]);
  }
  for (double& weight : weights) weight /= largest;
  return weights;
}

std::vector<double> sensitivity_weights(const std::vector<double>& squares, double min) {
  std::vector<double> weights(squares.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < squares.size(); ++k) {
    weights[k] = std::sqrt(std::sqrt(squares[k]));
    largest = std::max(largest, weights[k]);
  }
  if (!(largest > 0.0)) throw InputError("sensitivity: no datum depends on any cell");
  for (double& weight : weights) weight = std::max(weight / largest, min);
  return weights;
}

}  // namespace moho::gravity_inversion
