// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots and faces of programs of waves, made from options and the grid.

#include "app/common_options.hpp"
#include "app/earth_model.hpp"

#include <moho/core/error.hpp>
#include <moho/domain/types.hpp>
#include <moho/survey/left_out.hpp>
#include <moho/survey/points_text.hpp>
#include <moho/survey/tables.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/sponge_width.hpp>
#include <moho/wave/types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace moho::examples {

/// Options of the positions of shots.
struct ShotTexts {
  std::vector<std::string> sources;  ///< points; empty: one source in the middle
  std::string receivers;             ///< points; empty: a line along the surface
  bool moving = false;               ///< receivers are distances from each source
  std::string shots_file;            ///< table of sources and receivers; replaces both
};

/// Options of the faces of the model.
struct FaceTexts {
  std::string boundary;       ///< empty: cpml, sponge for TTI
  std::optional<int> width;   ///< of layers whose width is not given
  bool free_surface = false;  ///< true: the top is free
  bool other_layers = false;  ///< true: `width` is also of layers that are not those of the faces
};

/// Options of the time stepping.
struct SchemeTexts {
  double dt = 0.0;                                            ///< seconds; 0: automatic
  int order = 8;                                              ///< of differences in space
  wave::Equations equations = wave::Equations::self_adjoint;  ///< of VTI and TTI media
  double sigma = 0.75;                                        ///< of Fletcher's equations
  /// form of the model's parameters; gradients need numbers
  wave::ParameterStorage parameters = wave::ParameterStorage::full;
  std::optional<double> source_taper;  ///< metres, 0: no taper; empty: set by the wavelet
  std::uint64_t seed = 2011;           ///< of random layers
  domain::ExpansionMethod expand = domain::ExpansionMethod::none;  ///< nodes of every step
  domain::DomainOptions domain;  ///< threshold, interval and coarsening of `expand`
};

/// Binds --source, --receivers and --moving.
void bind_shots(Description& d, ShotTexts& o);
/// Binds --dt, --order, --seed, --equations, --sigma, --source-taper, --expand, and those of faces.
/// \param expands,amplitude true: binds the options of --expand, and those of its amplitude
void bind_scheme(Description& d, FaceTexts& faces, SchemeTexts& o, bool expands = true,
                 bool amplitude = true);
/// Adds the file of --wavelet to the inputs.
void add_wavelet_input(const std::string& wavelet, CommonOptions& options);
/// Returns the medium that the options of a model imply, before any file is read.
wave::Medium medium_of(const EarthModelOptions& model);

/// Returns the default width of sponges in nodes, which absorb waves of the mean velocity.
/// \param mean velocity, m/s
int recommended_sponge_width(const ModelGrid& model, double mean, const std::string& wavelet);

/// Returns the boundaries of the model.
/// \param sponge default width, in nodes \throws InputError for an invalid text
template <int Dim>
wave::Boundaries<Dim> make_boundaries(const FaceTexts& o, wave::Medium medium,
                                      int sponge = wave::min_sponge_width) {
  wave::LayerWidths widths;
  widths.sponge = sponge;
  if (o.width) widths.sponge = widths.cpml = widths.random = *o.width;
  const wave::FaceKind usual =
      wave::info(medium).cpml ? wave::FaceKind::cpml : wave::FaceKind::sponge;
  wave::Boundaries<Dim> boundaries =
      o.boundary.empty() ? wave::all_faces<Dim>(usual, widths.of(usual))
                         : wave::parse_boundaries<Dim>(o.boundary, usual, widths, "--boundary");
  if (o.free_surface) boundaries.lower[Dim - 1] = {wave::FaceKind::free_surface, 0};
  return boundaries;
}

/// Returns the description of a model for the summary: its name, medium, grid and boundaries.
template <int Dim>
Json model_json(const ModelGrid& model, wave::Medium medium,
                const wave::Boundaries<Dim>& boundaries) {
  Json json;
  json["name"] = model.name;
  json["medium"] = wave::to_string(medium);
  add_grid(model, json);
  json["boundaries"] = wave::boundaries_string(boundaries);
  return json;
}

/// Sets the common part of the jobs of wave programs.
/// That part is grid, model and its names, boundaries, scheme and wavelet. \throws InputError
template <int Dim, class Job, class Options, class T>
void prepare_waves(Job& job, const Options& o, EarthModel<T>& model) {
  job.grid = grid_of<Dim>(model);
  job.values = &model.values;
  for (const auto& [option, text] : o.model.parameters) {
    job.names[option] = concat("--", option, " ", text);
  }
  if constexpr (requires { job.constants; }) job.constants = &model.constants;
  const double mean = model.mean("vp");
  double spacing = job.grid.spacing[0];
  for (int d = 0; d < Dim; ++d) spacing = std::min(spacing, job.grid.spacing[d]);
  // invalid velocities are refused later
  const bool good = std::isfinite(mean) && mean > 0.0;
  const double frequency = survey::peak_frequency(o.wavelet, "--wavelet");
  job.boundaries =
      make_boundaries<Dim>(o, medium_of(o.model), recommended_sponge_width(model, mean, o.wavelet));
  int narrowest = 0;
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {job.boundaries.lower[d], job.boundaries.upper[d]}) {
      if (face.kind != wave::FaceKind::sponge) continue;
      narrowest = narrowest == 0 ? face.width : std::min(narrowest, face.width);
    }
  }
  FaceTexts other = o;
  other.width = o.width == 1 ? 2 : 1;
  const auto faces = wave::boundaries_string(make_boundaries<Dim>(other, medium_of(o.model)));
  if (o.width && !o.other_layers && faces == wave::boundaries_string(job.boundaries))
    model.notes.push_back("--width has no effect: --boundary gives the width of all layers");
  if (good && narrowest > 0) {
    const auto [low, high] = model.range("vp");
    model.sponge = {narrowest, mean, 0.5 * (low + high), frequency, spacing, Dim};
  }
  job.modelling.order = o.order;
  job.modelling.equations = o.equations;
  job.modelling.sigma = o.sigma;
  job.modelling.parameters = o.parameters;
  job.modelling.source_taper = o.source_taper;
  job.modelling.seed = o.seed;
  job.wavelet_name = "--wavelet " + o.wavelet;
  job.wavelet = survey::wavelet_from_text(o.wavelet, "--wavelet");
}

/// Returns the depth two nodes below the surface, at most that of the last node, m.
template <int Dim>
double default_depth(const Grid<Dim>& grid) {
  const double nodes = std::min<double>(2.0, static_cast<double>(grid.extents[Dim - 1] - 1));
  return grid.origin[Dim - 1] + nodes * grid.spacing[Dim - 1];
}

/// Returns the default receivers: a line along x through the middle.
/// The line has a receiver at every n-th node, with the smallest n that gives at most 1001. The end
/// nodes of x are left out on a free surface, where the field is zero.
template <int Dim>
Points<Dim> default_receivers(const Grid<Dim>& grid, const wave::Boundaries<Dim>& faces) {
  Point<Dim> first = grid.origin;
  for (int d = 1; d + 1 < Dim; ++d) first[d] = 0.5 * (grid.origin[d] + grid.upper(d));
  first[Dim - 1] = default_depth(grid);
  Point<Dim> last = first;
  last[0] = grid.upper(0);
  std::int64_t nodes = grid.extents[0];
  if (faces.lower[0].kind == wave::FaceKind::free_surface && nodes > 2) {
    first[0] += grid.spacing[0];
    --nodes;
  }
  if (faces.upper[0].kind == wave::FaceKind::free_surface && nodes > 1) {
    last[0] -= grid.spacing[0];
    --nodes;
  }
  std::int64_t skip = 1;
  while ((nodes - 1) / skip + 1 > 1001 || (nodes - 1) % skip != 0) {
    if (++skip >= nodes) break;
  }
  const std::int64_t count =
      skip < nodes ? (nodes - 1) / skip + 1 : std::min<std::int64_t>(nodes, 1001);
  return wave::point_line<Dim>(first, last, count);
}

/// \brief Checks positions as wave::PointSet does, before any shot is computed.
/// \param name of a position, for messages: "receiver"
/// \throws InputError for a position on a free surface
template <int Dim>
void check_free_surfaces(const Grid<Dim>& grid, const wave::Boundaries<Dim>& faces,
                         const Points<Dim>& points, const std::string& name) {
  const int radius = wave::PointOptions<Dim>().radius;
  for (int d = 0; d < Dim; ++d) {
    const bool lower = faces.lower[d].kind == wave::FaceKind::free_surface;
    const bool upper = faces.upper[d].kind == wave::FaceKind::free_surface;
    for (std::size_t p = 0; p < points.size() && (lower || upper); ++p) {
      const double q = grid.to_index_space(points[p])[d];
      const auto weights = wave::detail::weights_on_axis(q, radius, grid.extents[d], lower, upper);
      if (weights.count > 0) continue;
      throw InputError(concat(name, " ", p + 1, ": ", format_point(points[p]),
                              " is on the free surface, where the field is zero (allowed: "
                              "positions inside of the model): move it along ",
                              axis_name<Dim>(d), ", by one node for example"));
    }
  }
}

/// Makes the shots, numbered from 1 unless a table numbers them. Positions are not checked.
template <int Dim>
std::vector<wave::Shot<Dim>> make_shots(const ShotTexts& o, const Grid<Dim>& grid,
                                        const wave::Boundaries<Dim>& faces) {
  if (!o.shots_file.empty()) return survey::shots_from_file<Dim>(o.shots_file, "--shots");
  Points<Dim> sources = survey::points_from_texts<Dim>(o.sources, "--source");
  if (o.sources.empty()) {
    Point<Dim> middle{};
    for (int d = 0; d + 1 < Dim; ++d) middle[d] = 0.5 * (grid.origin[d] + grid.upper(d));
    middle[Dim - 1] = default_depth(grid);
    sources.push_back(middle);
  }
  const Points<Dim> receivers = o.receivers.empty()
                                    ? default_receivers(grid, faces)
                                    : survey::points_from_text<Dim>(o.receivers, "--receivers");
  std::vector<wave::Shot<Dim>> shots;
  if (o.moving) {
    try {
      shots = wave::moving_spread<Dim>(sources, receivers, grid);
    } catch (const InputError& error) {
      throw InputError(concat("--receivers: ", error.what()));
    }
  } else {
    shots = wave::fixed_spread<Dim>(sources, receivers);
  }
  for (wave::Shot<Dim>& shot : shots) ++shot.number;
  return shots;
}

/// Returns which receivers of --moving make_shots() omits, as a note; empty: none.
template <int Dim>
std::string note_of_moving(const ShotTexts& o, const std::vector<wave::Shot<Dim>>& shots,
                           const Grid<Dim>& grid) {
  if (!o.moving) return {};
  const auto offsets = survey::points_from_text<Dim>(o.receivers, "--receivers");
  return survey::spread_note<Dim>(offsets, shots, grid);
}

}  // namespace moho::examples
