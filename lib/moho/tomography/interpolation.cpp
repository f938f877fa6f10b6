// SPDX-License-Identifier: BSD-3-Clause
#include <moho/core/error.hpp>
#include <moho/tomography/interpolation.hpp>

#include <algorithm>

namespace moho::tomography {

template <int Dim>
Interpolation<Dim>::Interpolation(const Grid<Dim>& grid, int coarsening)
    : m_grid(grid), m_coarse(grid), m_step(coarsening) {
  if (coarsening < 1 || coarsening > 64) {
    throw InputError(concat("coarsening: ", coarsening, " (allowed: 1 to 64 model nodes)"));
  }
  for (int d = 0; d < Dim; ++d) {
    m_coarse.extents[d] = (grid.extents[d] - 1 + coarsening - 1) / coarsening + 1;
    m_coarse.spacing[d] = grid.spacing[d] * coarsening;
  }
}

// Calls function(unknown, weight) for the unknowns around a model node.
template <int Dim>
template <class Function>
void Interpolation<Dim>::for_each_corner(std::int64_t node, const Function& function) const {
  const Index<Dim> at = m_grid.node(node);
  for (int corner = 0; corner < (1 << Dim); ++corner) {
    double weight = 1.0;
    Index<Dim> unknown{};
    for (int d = 0; d < Dim; ++d) {
      const double part = static_cast<double>(at[d] % m_step) / m_step;
      const bool upper = (corner >> d) & 1;
      weight *= upper ? part : 1.0 - part;
      unknown[d] = at[d] / m_step + (upper ? 1 : 0);
    }
    if (weight > 0.0) function(m_coarse.flat(unknown), weight);
  }
}

template <int Dim>
std::vector<double> Interpolation<Dim>::interpolate(const std::vector<double>& unknowns) const {
  if (m_step == 1) return unknowns;
  std::vector<double> result(static_cast<std::size_t>(m_grid.size()), 0.0);
  for (std::int64_t i = 0; i < m_grid.size(); ++i) {
    double sum = 0.0;
    for_each_corner(i, [&](std::int64_t unknown, double weight) {
      sum += weight * unknowns[static_cast<std::size_t>(unknown)];
    });
    result[static_cast<std::size_t>(i)] = sum;
  }
  return result;
}

template <int Dim>
std::vector<double> Interpolation<Dim>::sample(const std::vector<double>& values) const {
  std::vector<double> result;
  for (std::int64_t i = 0; i < m_coarse.size(); ++i) {
    Index<Dim> node = m_coarse.node(i);
    for (int d = 0; d < Dim; ++d) {
      node[d] = std::min<std::int64_t>(node[d] * m_step, m_grid.extents[d] - 1);
    }
    result.push_back(values[static_cast<std::size_t>(m_grid.flat(node))]);
  }
  return result;
}

template class Interpolation<2>;
template class Interpolation<3>;

}  // namespace moho::tomography
