// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Estimate of the memory of modelling, before anything is read or allocated.

#include <moho/wave/layout.hpp>
#include <moho/wave/parameter_codes.hpp>
#include <moho/wave/plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace moho::wave {

/// Properties of a run that determine its memory.
template <int Dim>
struct MemoryShape {
  Grid<Dim> grid;                                 ///< grid of the model, without layers
  Boundaries<Dim> faces;                          ///< faces whose layers are added
  Medium medium = Medium::isotropic;              ///< medium of the model
  Equations equations = Equations::self_adjoint;  ///< equations of VTI and TTI
  int order = 8;                                  ///< order of the differences
  int parameters = 0;                             ///< number of given fields of the model
  bool delta = false;                             ///< true if delta is among them
  bool tapered = false;        ///< true if a separate delta is computed (taper_delta())
  bool keep_given = false;     ///< true if the given model stays allocated
  bool keep_model = false;     ///< true if the extended model stays allocated during the steps
  int concurrent_shots = 1;    ///< concurrent shots, each with a wavefield
  int waiting = 0;             ///< results in addition that wait for delivery (waiting_results())
  bool gathers_wait = true;    ///< true if these keep their gathers in addition to their traces
  std::int64_t receivers = 0;  ///< receivers of the largest shot
  std::int64_t rows = 0;       ///< time levels that receivers record
  std::int64_t samples = 0;    ///< samples of a trace
  bool snapshots = false;      ///< true if a SnapshotQueue transfers the model's nodes
  /// True if the axis of TTI is also packed in words, for steps in one pass.
  bool packed_axis = false;
  bool coded = false;    ///< true if kernels read codes of parameters
  bool on_host = false;  ///< true for shots in the memory of the host
};

/// \brief Returns the memory of the modelling of shots (make_modelling()), from the shapes alone.
template <class T, int Dim>
MemoryNeed modelling_memory(const MemoryShape<Dim>& shape) {
  const Grid<Dim> extended = extended_grid(shape.grid, shape.faces);
  const kernel::Stencil stencil = stencil_of(shape.medium, shape.equations);
  const int fields = info(stencil).fields;
  std::int64_t medium = coefficients_of(stencil, Dim).size();
  if (shape.packed_axis) ++medium;  // in single precision only
  const std::int64_t levels = 2 * fields + info(stencil).work_fields;
  std::int64_t layers = 0;
  for (int d = 0; d < Dim; ++d) {
    for (const bool lower : {true, false}) {
      const Face& face = lower ? shape.faces.lower[d] : shape.faces.upper[d];
      if (face.kind != FaceKind::cpml) continue;
      // rows are padded
      const std::int64_t row = extended.extents[Dim - 1];
      const std::int64_t first = d < Dim - 1 || lower ? 0 : row - face.width;
      const std::int64_t alignment = detail::layer_alignment<T>(shape.on_host);
      std::int64_t nodes =
          detail::layer_row(d == Dim - 1 ? face.width : row, first % alignment, alignment);
      for (int e = 0; e < Dim - 1; ++e) nodes *= e == d ? face.width : extended.extents[e];
      layers += 3 * fields * nodes;
    }
  }
  const auto bytes = [](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(T);
  };
  const std::int64_t padded = make_layout<T>(extended, shape.order / 2).size;
  const int extended_fields = shape.parameters + (shape.tapered && !shape.delta ? 1 : 0);
  MemoryNeed need;
  need.model = bytes(shape.parameters * shape.grid.size());
  need.extended = bytes(extended_fields * extended.size());
  need.medium = bytes(medium * padded);
  if (shape.coded) {
    // codes in place of the coefficients a and b
    const CoefficientSet all = coefficients_of(stencil, Dim);
    const int numbers = all.has(Coefficient::a) + all.has(Coefficient::b);
    need.medium += static_cast<std::size_t>(padded * coded_parameter_bytes(stencil));
    need.medium -= bytes(numbers * padded);
  }
  need.wavefield = bytes(shape.concurrent_shots * (levels * padded + layers));
  // weights of a point along each axis, and their first elements
  const std::int64_t point = Dim * 20 + 32;
  const std::int64_t traces = shape.receivers * shape.samples;
  need.gathers =
      bytes(shape.concurrent_shots * shape.receivers * (shape.rows + shape.samples + point) +
            (shape.gathers_wait ? shape.waiting * traces : 0));
  need.host = bytes(shape.concurrent_shots * shape.receivers * (shape.rows + 3 * shape.samples) +
                    shape.waiting * traces);
  if (shape.snapshots) {
    need.snapshots = bytes(2 * shape.grid.size());  // SnapshotOptions::slots
  }
  const std::size_t tapered = shape.tapered ? bytes(shape.grid.size()) : 0;
  const std::size_t given = shape.keep_given ? need.model : 0;
  need.peak = std::max({need.model + tapered + need.extended, given + need.extended + need.medium,
                        given + (shape.keep_model ? need.extended : 0) + need.medium +
                            need.wavefield + need.gathers + need.snapshots});
  return need;
}

}  // namespace moho::wave
