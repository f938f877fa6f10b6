// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Properties of a model and its shots that are computed before volumes stream (internal).

#include <moho/core/space.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/volume.hpp>
#include <moho/wave/boundary.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::stream {

namespace detail {

/// Returns the host's default instance.
inline Instance<Kokkos::HostSpace> host_instance() { return Kokkos::DefaultHostExecutionSpace(); }

/// Returns the bytes that a stream may use on each of some devices.
///
/// They are the requested bytes. For 0 they are the smallest free memory of the devices, divided
/// among the processes that share a device, minus a reserve for kernels and launches. \throws
/// InputError for a request above that
template <class Memory>
std::size_t allowed_device_memory(const std::vector<Instance<Memory>>& devices,
                                  std::size_t requested) {
  const int sharing = requested > 0 ? 1 : 0;  // a request is that of this process
  std::size_t free = memory_budget(devices.front(), 0, sharing);
  for (const Instance<Memory>& one : devices) {
    free = std::min(free, memory_budget(one, 0, sharing));
  }
  free -= std::min<std::size_t>(free, std::size_t(512) << 20);
  if (requested == 0) return free;
  if (requested > free) {
    throw InputError(concat("device memory is ", format_bytes(static_cast<double>(requested)),
                            " (allowed: up to ", format_bytes(static_cast<double>(free)),
                            ", what is free on the device)"));
  }
  return requested;
}

/// Returns a model's fields in another memory space. It waits.
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> model_in(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                     const wave::Model<T, Dim, Kokkos::HostSpace>& model) {
  return changed_model<T, Dim, Memory>(model, [&](const Field<T, Dim, Kokkos::HostSpace>& field) {
    return field_in<T, Dim, Memory>(exec, grid, field);
  });
}

/// Returns the limits of a model with its layers; random layers have lower velocities.
template <class T, int Dim>
wave::Limits stepped_limits(const Instance<Kokkos::HostSpace>& host, const Grid<Dim>& grid,
                            const wave::Model<T, Dim, Kokkos::HostSpace>& model,
                            const wave::Boundaries<Dim>& faces,
                            const wave::RandomLayerOptions& random,
                            const wave::PropagatorOptions<Dim>& options) {
  using Host = Kokkos::HostSpace;
  const auto of = [&](const Grid<Dim>& part, const wave::Model<T, Dim, Host>& values) {
    return wave::limits_of<T, Dim, Host>(host, part, values, options.order, options.equations,
                                         options.sigma);
  };
  bool any = false;
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {faces.lower[d], faces.upper[d]}) {
      any = any || face.kind == wave::FaceKind::random;
    }
  }
  // layers of the other kinds repeat the outermost nodes
  if (!any) return of(grid, model);
  // density contrasts are computed on the complete model, not on pieces of it
  const double contrast = model.density.data() != nullptr ? of(grid, model).density_contrast : 1.0;
  const Grid<Dim> extended = wave::extended_grid(grid, faces);
  constexpr std::int64_t piece = 32;
  wave::Limits result;
  for (std::int64_t begin = 0; begin < extended.extents[0]; begin += piece) {
    const PlaneRange planes{begin, std::min(begin + piece, extended.extents[0])};
    Grid<Dim> part = extended;
    part.extents[0] = planes.count();
    const wave::Limits one =
        of(part, wave::extend_model<T, Dim, Host>(host, grid, model, faces, random, planes));
    if (begin == 0) {
      result = one;
      continue;
    }
    result.largest_dt = std::min(result.largest_dt, one.largest_dt);
    result.min_velocity = std::min(result.min_velocity, one.min_velocity);
    result.max_velocity = std::max(result.max_velocity, one.max_velocity);
    result.clamped_delta_nodes += one.clamped_delta_nodes;
    wave::detail::extend(result.vp, one.vp);
    wave::detail::extend(result.a, one.a);
    wave::detail::extend(result.b, one.b);
  }
  result.density_contrast = contrast;
  return result;
}

/// Returns the planes that may take part in the interpolation of points, from their x.
template <int Dim>
PlaneRange planes_of_points(const Grid<Dim>& grid, const Points<Dim>& points, int radius) {
  PlaneRange result;
  for (const Point<Dim>& point : points) {
    const double at = (point[0] - grid.origin[0]) / grid.spacing[0];
    const auto node = static_cast<std::int64_t>(std::floor(at));
    const PlaneRange near{std::max<std::int64_t>(node - radius, 0),
                          std::min<std::int64_t>(node + radius + 2, grid.extents[0])};
    result = result.empty()
                 ? near
                 : PlaneRange{std::min(result.begin, near.begin), std::max(result.end, near.end)};
  }
  return result;
}

/// Returns the largest number of sources of a shot.
template <int Dim>
std::int64_t max_sources(const std::vector<wave::Shot<Dim>>& shots) {
  std::size_t max = 0;
  for (const wave::Shot<Dim>& shot : shots) max = std::max(max, shot.sources.size());
  return static_cast<std::int64_t>(max);
}

/// Returns the requirements of a scheme that streams.
///
/// Steps remain to be set, and the bytes of series of points to be added.
template <class T, int Dim, class Memory>
StreamRequirements stream_need(const wave::Scheme<T, Dim, Memory>& scheme,
                               const VolumeShape<T, Dim>& volume,
                               const std::vector<wave::Shot<Dim>>& shots) {
  const Grid<Dim>& grid = scheme.grid();
  StreamRequirements need;
  need.shape.planes = grid.extents[0];
  need.shape.halo = volume.layout.halo;
  need.shape.reach = scheme.reach(0);
  need.plane_nodes = grid.size() / grid.extents[0];
  need.plane_elements = volume.layout.strides[0];
  need.scalar = static_cast<int>(sizeof(T));
  need.order = scheme.order();
  need.fields = volume.fields;
  need.parameters = volume.parameters;
  need.work = volume.work;
  for (const auto& layer : volume.layers) {
    // by face and field: one field's
    if (layer.across_x) {
      need.across_elements += layer.plane_size * layer.planes.count() / volume.fields;
    } else {
      need.layer_elements += layer.plane_size / volume.fields;
    }
  }
  std::size_t receivers = 0;
  for (const wave::Shot<Dim>& shot : shots) {
    receivers = std::max(receivers, shot.receivers.size());
    for (const Points<Dim>* points : {&shot.sources, &shot.receivers}) {
      for (const Point<Dim>& point : *points) {
        // points on planes read one plane
        const double at = (point[0] - grid.origin[0]) / grid.spacing[0];
        const bool on_node = std::fabs(at - std::floor(at + 0.5)) < wave::sinc_snap;
        const int planes = on_node ? 1 : 2 * wave::PointOptions<Dim>().radius;
        need.shape.point_planes = std::max(need.shape.point_planes, planes);
      }
    }
  }
  std::int64_t share = 1;
  for (int d = 0; d < Dim; ++d) share *= 2 * wave::PointOptions<Dim>().radius;
  need.fixed =
      sizeof(T) * static_cast<std::size_t>(static_cast<std::int64_t>(receivers) * (Dim * 20 + 32) +
                                           max_sources(shots) * share * 6);
  return need;
}

}  // namespace detail

}  // namespace moho::stream
