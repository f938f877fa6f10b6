// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Planes of a host's model in the memory of a device, with their layers (internal).

#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/field_copy.hpp>
#include <moho/wave/boundary.hpp>
#include <moho/wave/scheme.hpp>
#include <moho/wave/source_region.hpp>

#include <algorithm>
#include <cstdint>

namespace moho::stream {

namespace detail {

/// \brief Returns the delta of a host's model, tapered around points on a device.
///
/// It has the bits of runs whose model is on the device. The device holds epsilon and delta
/// meanwhile. \see wave::taper_delta()
template <class T, int Dim, class Memory>
Field<T, Dim, Kokkos::HostSpace> taper_delta_on(const Instance<Memory>& exec, const Grid<Dim>& grid,
                                                const wave::Model<T, Dim, Kokkos::HostSpace>& model,
                                                const Points<Dim>& points, double radius) {
  wave::Model<T, Dim, Memory> on_device;
  if (model.epsilon.data() != nullptr)
    on_device.epsilon = field_in<T, Dim, Memory>(exec, grid, model.epsilon);
  if (model.delta.data() != nullptr)
    on_device.delta = field_in<T, Dim, Memory>(exec, grid, model.delta);
  const auto delta = wave::taper_delta<T, Dim, Memory>(exec, grid, on_device, points, radius);
  if constexpr (is_host_memory<Memory>) {
    return delta;
  } else {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    auto result = make_field<T>(host, grid, "delta");
    copy(exec, HostElements<T>(result.data(), result.size()),
         wave::Storage<const T, Memory>(delta.data(), delta.size()));
    exec.fence();
    return result;
  }
}

/// Part of a model, whose extension has the values of some planes of the extended model.
template <int Dim>
struct ModelPart {
  PlaneRange model;             ///< planes of the model
  Grid<Dim> grid;               ///< grid of these planes
  wave::Boundaries<Dim> faces;  ///< faces of the part
  PlaneRange planes;            ///< planes of the extended part
};
/// Returns the part of a model for some planes of the extended model.
template <int Dim>
ModelPart<Dim> part_of_model(const Grid<Dim>& grid, const wave::Boundaries<Dim>& faces,
                             const PlaneRange& planes) {
  const std::int64_t shift = faces.lower[0].layer(), last = grid.extents[0] - 1;
  const auto at = [&](std::int64_t plane) {
    return std::clamp<std::int64_t>(plane - shift, 0, last);
  };
  ModelPart<Dim> result{{at(planes.begin), at(planes.end - 1) + 1}, grid, faces, planes};
  result.grid.extents[0] = result.model.count();
  // planes of the other side of the model are not in the part
  if (result.model.begin > 0) {
    result.faces.lower[0] = {wave::FaceKind::rigid, 0};
    result.planes.begin -= shift + result.model.begin;
    result.planes.end -= shift + result.model.begin;
  }
  if (result.model.end <= last) result.faces.upper[0] = {wave::FaceKind::rigid, 0};
  return result;
}

/// Returns the model that a function makes from the allocated fields.
template <class T, int Dim, class Memory, class Function>
wave::Model<T, Dim, Memory> changed_model(const wave::Model<T, Dim, Kokkos::HostSpace>& model,
                                          const Function& function) {
  wave::Model<T, Dim, Memory> result;
  const auto take = [&](const Field<T, Dim, Kokkos::HostSpace>& from, Field<T, Dim, Memory>& to) {
    if (from.data() != nullptr) to = function(from);
  };
  for (const wave::ParameterInfo& row : wave::parameters) {
    take(model.field(row.parameter), result.field(row.parameter));
  }
  return result;
}

}  // namespace detail

/// \brief Returns planes of a host's extended model, in the memory of a device. It waits.
///
/// Devices extend the planes of the model themselves.
/// \param exec of the device
/// \param scheme of the grid with its layers
/// \param grid,model without layers
/// \param random of random layers, whose numbers are computed on the device
/// \param planes of the grid with layers
template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> extended_part(const Instance<Memory>& exec,
                                          const wave::Scheme<T, Dim, Memory>& scheme,
                                          const Grid<Dim>& grid,
                                          const wave::Model<T, Dim, Kokkos::HostSpace>& model,
                                          const wave::RandomLayerOptions& random,
                                          const PlaneRange& planes) {
  using Host = Kokkos::HostSpace;
  const wave::Boundaries<Dim>& faces = scheme.options().boundaries;
  auto part = detail::changed_model<T, Dim, Memory>(model, [&](const Field<T, Dim, Host>& field) {
    if constexpr (is_host_memory<Memory>) {
      return wave::extend_field<T, Dim, Memory>(exec, grid, field, faces, planes);
    } else {
      const detail::ModelPart<Dim> part_of = detail::part_of_model(grid, faces, planes);
      const auto taken = make_field<T>(exec, part_of.grid, field.label());
      const std::int64_t plane = grid.size() / grid.extents[0];
      copy(exec,
           Kokkos::View<T*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(taken.data(),
                                                                             taken.size()),
           HostElements<const T>(field.data() + part_of.model.begin * plane, taken.size()));
      auto result = wave::extend_field<T, Dim, Memory>(exec, part_of.grid, taken, part_of.faces,
                                                       part_of.planes);
      exec.fence();
      return result;
    }
  });
  wave::randomise_layers<T, Dim, Memory>(exec, scheme.grid(), faces, random, planes, part.vp);
  return part;
}

}  // namespace moho::stream
