// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief First arrivals of a model at receivers, for muting.

#include <moho/core/copy.hpp>
#include <moho/eikonal/solve.hpp>
#include <moho/wave/geometry.hpp>

#include <string>
#include <vector>

namespace moho::survey {

namespace detail {

/// Kernel: field values at positions in units of the grid spacing, linear between nodes.
template <class T, int Dim>
struct ValuesAt {
  const T* field;
  Grid<Dim> grid;
  const double* positions;  ///< points x Dim, from the first node
  double* values;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    Index<Dim> node{};
    double part[Dim];
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = grid.extents[d] > 1 ? grid.extents[d] - 2 : 0;
      const double q = positions[i * Dim + d];
      std::int64_t below = q > 0.0 ? static_cast<std::int64_t>(q) : 0;
      if (below > last) below = last;
      node[d] = below;
      part[d] = grid.extents[d] > 1 ? q - static_cast<double>(below) : 0.0;
    }
    double sum = 0.0;
    for (int corner = 0; corner < (1 << Dim); ++corner) {
      Index<Dim> at = node;
      double weight = 1.0;
      for (int d = 0; d < Dim; ++d) {
        const bool upper = ((corner >> d) & 1) != 0;
        weight *= upper ? part[d] : 1.0 - part[d];
        if (upper && grid.extents[d] > 1) ++at[d];
      }
      if (weight != 0.0) sum += weight * static_cast<double>(field[grid.flat(at)]);
    }
    values[i] = sum;
  }
};

}  // namespace detail

/// \brief Returns the first-arrival time at each receiver of a shot, by the eikonal equation.
///
/// The time is the minimum over the sources of the shot. It is linear between nodes.
/// \param exec instance that solves the equation; the function waits for the result
/// \param grid of the model
/// \param model velocity in m/s, optionally epsilon and delta. For tilted axes use the velocity in
/// the symmetry plane, eikonal::symmetry_plane_velocity(): its arrivals are not late
/// \param shot sources and receivers, all inside the grid
/// \param options of the solver
/// \return times in s, one per receiver
/// \throws InputError for a source or receiver outside the grid, and for the errors of
/// eikonal::solve()
template <class T, int Dim, class Memory>
std::vector<double> arrival_times(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                  const eikonal::Model<T, Dim, Memory>& model,
                                  const wave::Shot<Dim>& shot,
                                  const eikonal::Options& options = {}) {
  grid.check();
  check_positions<Dim>(grid, shot.receivers, concat("shot ", shot.number, ": receiver"));
  const auto times = make_field<T>(exec, grid, "moho::survey::times");
  eikonal::solve(exec, grid, model, shot.sources, times, options);
  if (shot.receivers.empty()) return {};
  std::vector<double> indices;
  for (const Point<Dim>& p : shot.receivers) {
    const Point<Dim> index = grid.to_index_space(p);
    for (int d = 0; d < Dim; ++d) indices.push_back(index[d]);
  }
  const auto positions = upload(exec, indices, "moho::survey::receivers");
  const auto values = allocate<Kokkos::View<double*, Memory>>(exec, "moho::survey::arrivals",
                                                              shot.receivers.size());
  launch("moho::survey::arrivals", exec, static_cast<std::int64_t>(shot.receivers.size()),
         detail::ValuesAt<T, Dim>{times.data(), grid, positions.data(), values.data()});
  return download(exec, values);
}

}  // namespace moho::survey
