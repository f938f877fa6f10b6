// SPDX-License-Identifier: BSD-3-Clause
#include <moho/eikonal/detail/layout.hpp>
#include <moho/eikonal/traveltimes.hpp>

#include <cmath>
#include <utility>

namespace moho::eikonal {

template <class T, int Dim>
double bytes_per_source(const Grid<Dim>& grid, bool anelliptic, int order, bool fast_marching,
                        bool on_host) {
  const detail::TiledGrid<Dim> tiled(grid, on_host);
  double bytes = static_cast<double>(detail::storage_bytes<T>(tiled, anelliptic, order));
  if (fast_marching) {
    // times on trial, and the front in a queue that has grown by doubling
    const double front = 6.0 * std::pow(static_cast<double>(grid.size()), 1.0 - 1.0 / Dim);
    // at second order the nodes in the order of their times
    const double listed = order == 2 ? sizeof(std::pair<T, std::int64_t>) : 0.0;
    bytes += static_cast<double>(tiled.size) * (sizeof(T) + listed) + 3.0 * 16.0 * front;
  }
  // marks of tiles, once more on the host while they are made
  return bytes + 2.0 * static_cast<double>(tiled.tile_count) * (sizeof(T) + 3 * sizeof(int));
}

template double bytes_per_source<float, 2>(const Grid<2>&, bool, int, bool, bool);
template double bytes_per_source<float, 3>(const Grid<3>&, bool, int, bool, bool);
template double bytes_per_source<double, 2>(const Grid<2>&, bool, int, bool, bool);
template double bytes_per_source<double, 3>(const Grid<3>&, bool, int, bool, bool);

}  // namespace moho::eikonal
