// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parts of the compiled module, one for each module of the library.

#include <nanobind/nanobind.h>

namespace moho::python {

/// Adds first-arrival traveltimes.
void bind_eikonal(nanobind::module_& m);
/// Adds files of models and gathers, and compressed fields.
void bind_io(nanobind::module_& m);
/// Adds shortest-path rays.
void bind_rays(nanobind::module_& m);
/// Adds gravity of prisms.
void bind_gravity(nanobind::module_& m);
/// Adds inversion of gravity data.
void bind_gravity_inversion(nanobind::module_& m);
/// Adds magnetic anomalies of prisms.
void bind_magnetic(nanobind::module_& m);
/// Adds misfits of surveys and their gradients.
void bind_fwi(nanobind::module_& m);
/// Adds reverse-time migration.
void bind_rtm(nanobind::module_& m);
/// Adds linear maps on the nodes of a grid.
void bind_linear(nanobind::module_& m);
/// Adds shots that stream through the memory of a device.
void bind_stream(nanobind::module_& m);
/// Adds picks of first arrivals and their inversion.
void bind_tomography(nanobind::module_& m);
/// Adds modelling of shots.
void bind_wave(nanobind::module_& m);

}  // namespace moho::python
