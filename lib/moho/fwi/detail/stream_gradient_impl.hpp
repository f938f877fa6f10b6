// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of StreamedGradients (internal). Included by stream_gradient.hpp.

#include <moho/core/instances.hpp>
#include <moho/fwi/stream_gradient.hpp>

namespace moho::fwi {

namespace detail {
/// Planes of a model, for work piece by piece.
template <int Dim>
std::int64_t planes_of_piece(const Grid<Dim>& grid) {
  const std::int64_t plane = grid.size() / grid.extents[0];
  return std::clamp<std::int64_t>((std::int64_t(1) << 22) / plane, 1, grid.extents[0]);
}
}  // namespace detail

template <class T, int Dim, class Memory>
StreamedGradients<T, Dim, Memory>::StreamedGradients(const InstanceOf<Memory>& exec,
                                                     const Grid<Dim>& grid, const HostModel& model,
                                                     const std::vector<wave::Shot<Dim>>& shots,
                                                     const StreamedGradientOptions<Dim>& options)
    : m_grid(grid),
      m_options(options),
      m_pair(exec, grid, model, shots, pair_options(grid, model, options),
             actions(grid, model, options)) {}

template <class T, int Dim, class Memory>
stream::ReversedPairOptions<Dim> StreamedGradients<T, Dim, Memory>::pair_options(
    const Grid<Dim>& grid, const HostModel& model, const StreamedGradientOptions<Dim>& options) {
  wave::check_model<T, Dim, Host>(stream::detail::host_instance(), grid, model);
  check(model.medium(), options);
  if (options.lags) ExtendedImage<T, Dim, Host>::check(whole_box(grid), *options.lags);
  stream::ReversedPairOptions<Dim> result;
  result.propagator = options.propagator;
  result.random = options.random;
  result.source_faces = options.source_faces;
  result.wavelet = options.wavelet;
  result.steps = options.steps;
  result.interval = options.product_interval;
  result.models = true;
  result.wishes = options.wishes;
  result.memory = options.memory;
  result.reserved = options.reserved;
  result.measure = options.measure;
  result.rates.both = options.rates;
  return result;
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::check(wave::Medium medium,
                                              const StreamedGradientOptions<Dim>& o) {
  if (wave::fields_of(medium) == 2 && o.propagator.equations != wave::Equations::self_adjoint) {
    throw InputError(
        "equations: Fletcher's are not self-adjoint, so that their steps have no adjoint among "
        "steps (allowed: the self-adjoint equations): take Equations::self_adjoint");
  }
  if (o.unknowns.anisotropy && !wave::info(medium).invertible.has(wave::Parameter::epsilon)) {
    throw InputError(concat("unknowns: epsilon and delta of a medium '", wave::to_string(medium),
                            "' (allowed: with vti and tti): invert for vp there"));
  }
  if (o.unknowns.density && !wave::info(medium).invertible.has(wave::Parameter::density)) {
    throw InputError(concat("unknowns: the density of a medium '", wave::to_string(medium),
                            "' (allowed: with variable_density): give the model a density"));
  }
  if (o.product_interval < 1 || o.steps < o.product_interval) {
    throw InputError(concat("steps is ", o.steps, ", product_interval is ", o.product_interval,
                            " (allowed: product_interval from 1 to the steps)"));
  }
}

// Returns the products of the gradient as actions of the pair.
template <class T, int Dim, class Memory>
stream::PairActions<T, Dim, Memory> StreamedGradients<T, Dim, Memory>::actions(
    const Grid<Dim>& grid, const HostModel& model, const StreamedGradientOptions<Dim>& options) {
  // the model, derivatives by its fields, illumination
  std::size_t fields = 1;
  for (const auto* field : {&model.density, &model.epsilon, &model.delta}) {
    fields += field->data() != nullptr ? 1 : 0;
  }
  const std::size_t on_host = (2 * fields + 1) * static_cast<std::size_t>(grid.size()) * sizeof(T);
  const std::int64_t planes = detail::planes_of_piece(grid);
  const auto piece = static_cast<std::size_t>(planes * (grid.size() / grid.extents[0]));
  const InvertedParameters unknowns = options.unknowns;
  // rates are measured on small grids without an image
  const auto lags_on = [lags = options.lags,
                        nodes = grid.size()](const Box<Dim>& box) -> std::optional<Lags> {
    return box.size() == nodes ? lags : std::nullopt;
  };
  const std::int64_t interval = options.product_interval;
  stream::PairActions<T, Dim, Memory> result;
  result.need = [=](const wave::Scheme<T, Dim, Memory>& scheme) {
    stream::PairRequirements need = Products::need(unknowns, scheme);
    if (const auto lags = lags_on(scheme.interior())) {
      Products::Image::require(scheme.interior(), *lags, scheme.fields(), interval, need);
    }
    need.idle_bytes = (unknowns.anisotropy ? 14 : unknowns.density ? 12 : 4) * piece * sizeof(T);
    need.host_bytes = on_host;
    return need;
  };
  result.make = [=](const stream::PairDevice<T, Dim, Memory>& device)
      -> std::unique_ptr<stream::PairAction<T, Dim, Memory>> {
    return std::make_unique<Products>(device, unknowns, lags_on(device.first_scheme.interior()));
  };
  return result;
}

template <class T, int Dim, class Memory>
wave::Traces<T> StreamedGradients<T, Dim, Memory>::model(const wave::Shot<Dim>& shot,
                                                         const StreamedShotOptions& options) {
  const wave::Traces<T> rows("moho::fwi::rows", static_cast<std::size_t>(m_options.steps + 1),
                             shot.receivers.size());
  m_pair.model_shot(shot, rows, options);
  return rows;
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> StreamedGradients<T, Dim, Memory>::add(
    const wave::Shot<Dim>& shot, const wave::RandomLayerOptions& random,
    const ShotMisfit<T, Memory>& misfit, const StreamedShotOptions& options) {
  if (!m_pair.prepared()) {
    throw InputError("add: there is no model (allowed: after update()): call it before");
  }
  ShotGradientReport<Dim> report;
  const std::int64_t steps = m_options.steps;
  const Instance<Memory>& exec = m_pair.exec();
  Series derivative;
  {
    wave::Traces<T> rows("moho::fwi::rows", static_cast<std::size_t>(steps + 1),
                         shot.receivers.size());
    const auto done = m_pair.model_shot(shot, rows, options);
    report.points += done.points;
    report.forward_seconds += done.seconds;
    const auto modelled =
        allocate<Series>(exec, "moho::fwi::modelled", rows.extent(0), rows.extent(1));
    derivative = allocate<Series>(exec, "moho::fwi::derivative", rows.extent(0), rows.extent(1));
    if (rows.size() > 0) copy(exec, modelled, rows);
    exec.fence();
    rows = {};  // frees them
    report.misfit = misfit(wave::PointSeries<const T, Memory>(modelled), derivative);
  }
  if (!std::isfinite(report.misfit)) {
    throw Error(concat("the misfit is ", report.misfit,
                       " (a wavefield or the data are no numbers): look at the data of the shot"));
  }
  const stream::PairReport done = m_pair.run(shot, random, derivative, options);
  report.points += done.forward.points + done.backward.points;
  report.backward_seconds += done.forward.seconds + done.backward.seconds;
  report.snapshots.kind = "stream";
  report.snapshots.snapshots = steps / m_options.product_interval;
  return report;
}

template <class T, int Dim, class Memory>
typename StreamedGradients<T, Dim, Memory>::HostModel
StreamedGradients<T, Dim, Memory>::derivatives() const {
  return derivatives(m_pair.model());
}

template <class T, int Dim, class Memory>
typename StreamedGradients<T, Dim, Memory>::HostModel
StreamedGradients<T, Dim, Memory>::derivatives(const HostModel& model,
                                               const Field<T, Dim, Host>& kept) const {
  if (!m_pair.prepared()) {
    throw InputError("derivatives: there are none (allowed: after add())");
  }
  const InvertedParameters& unknowns = m_options.unknowns;
  const Instance<Memory>& exec = m_pair.exec();
  const auto& sums = m_pair.sums();
  const std::int64_t plane = m_grid.size() / m_grid.extents[0];
  HostModel result;
  const Instance<Host> host = stream::detail::host_instance();
  const auto make = [&](const char* name) { return make_field<T>(host, m_grid, name); };
  result.vp = make("vp");
  if (unknowns.density) result.density = make("density");
  if (unknowns.anisotropy) {
    result.epsilon = make("epsilon");
    result.delta = make("delta");
  }
  if (!unknowns.density && !unknowns.anisotropy) {
    fold_plain(sums[0].first, model.vp.data(), result.vp.data());
    return result;
  }
  const std::vector<T> roots = root_density(model);
  const std::int64_t each = detail::planes_of_piece(m_grid);
  for (std::int64_t begin = 0; begin < m_grid.extents[0]; begin += each) {
    Grid<Dim> piece = m_grid;
    piece.extents[0] = std::min(each, m_grid.extents[0] - begin);
    const auto size = static_cast<std::size_t>(piece.size());
    std::vector<Field<T, Dim, Memory>> operands;  // until the kernels are complete
    const auto up = [&](const T* values) -> const T* {
      if (values == nullptr) return nullptr;
      const auto& field = operands.emplace_back(make_field<T>(exec, piece, "moho::fwi::piece"));
      copy(exec, wave::Storage<T, Memory>(field.data(), size),
           HostElements<const T>(values + begin * plane, size));
      return field.data();
    };
    const auto sums_of = [&](int k) -> const T* {
      const T* const from = up(sums[static_cast<std::size_t>(k)].first);
      const auto& to = operands.emplace_back(make_field<T>(exec, piece, "moho::fwi::folded"));
      launch(
          "moho::fwi::fold_layers", exec, piece.size(),
          detail::FoldLayers<T, Dim>{from, to.data(), detail::dense(whole_box(piece)), piece, {}});
      return to.data();
    };
    std::vector<std::pair<Field<T, Dim, Memory>, Field<T, Dim, Host>>> results;
    const auto down = [&](const Field<T, Dim, Host>& to) {
      return results.emplace_back(make_field<T>(exec, piece, "moho::fwi::derivative"), to)
          .first.data();
    };
    detail::ToParameters<T> to{};
    to.d_scale = sums_of(0);
    to.vp = up(model.vp.data());
    to.of_vp = down(result.vp);
    if (unknowns.density) {
      operands.push_back(by_density(roots, {begin, begin + piece.extents[0]}));
      to.d_density = operands.back().data();
      to.density = up(model.density.data());
      to.of_density = down(result.density);
    }
    if (unknowns.anisotropy) {
      to.d_a = sums_of(Products::by_others);
      to.d_r = sums_of(Products::by_others + 1);
      to.epsilon = up(model.epsilon.data());
      to.delta = up(model.delta.data());
      to.kept = up(kept.data());
      to.of_epsilon = down(result.epsilon);
      to.of_delta = down(result.delta);
    }
    launch("moho::fwi::to_parameters", exec, piece.size(), to);
    for (const auto& [from, all] : results) {
      copy(exec, HostElements<T>(all.data() + begin * plane, size),
           wave::Storage<T, Memory>(from.data(), size));
    }
    exec.fence();
  }
  return result;
}

// Returns derivatives with respect to ln rho in some planes. `roots`: sqrt(rho) of the model.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> StreamedGradients<T, Dim, Memory>::by_density(
    const std::vector<T>& roots, const PlaneRange& planes) const {
  const Instance<Memory>& exec = m_pair.exec();
  const std::int64_t plane = m_grid.size() / m_grid.extents[0];
  auto by = detail::by_density<T, Dim>(m_grid, m_options.propagator.order,
                                       m_options.propagator.boundaries, whole_box(m_grid));
  const std::int64_t low = std::max<std::int64_t>(planes.begin - by.radius, 0);
  Grid<Dim> around = m_grid, piece = m_grid;
  around.extents[0] = std::min(planes.end + by.radius, m_grid.extents[0]) - low;
  piece.extents[0] = planes.count();
  std::vector<Field<T, Dim, Memory>> operands;
  const auto up = [&](const T* values) {
    const auto size = static_cast<std::size_t>(around.size());
    const auto& field = operands.emplace_back(make_field<T>(exec, around, "moho::fwi::piece"));
    copy(exec, wave::Storage<T, Memory>(field.data(), size),
         HostElements<const T>(values + low * plane, size));
    return field.data();
  };
  const auto& sums = m_pair.sums();
  by.by_potential = up(sums[Products::by_others].first);
  by.by_root = up(sums[Products::by_others + 1].first);
  by.root = up(roots.data());
  by.nodes.lower[0] = planes.begin;
  by.nodes.upper[0] = planes.end;
  by.sums.box.lower[0] = low;
  by.roots = by.sums;
  const auto result = make_field<T>(exec, piece, "moho::fwi::by_density");
  by.to = result.data();
  launch("moho::fwi::by_density", exec, by.nodes.size(), by);
  exec.fence();  // before local arrays are freed
  return result;
}

// Returns sqrt(rho); nothing for a constant density.
template <class T, int Dim, class Memory>
std::vector<T> StreamedGradients<T, Dim, Memory>::root_density(const HostModel& model) {
  std::vector<T> result(model.density.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<T>(std::sqrt(static_cast<double>(model.density.data()[i])));
  }
  return result;
}

// Hosts compute results by one array of sums, which is on the host already.
template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::fold_plain(const T* sums, const T* vp, T* to) const {
  Instance<Host> host = stream::detail::host_instance();
  if constexpr (is_host_memory<Memory>) host = m_pair.exec();
  launch("moho::fwi::fold_plain", host, m_grid.size(), detail::FoldPlain<T>{sums, vp, to});
  host.fence();
}

template <class T, int Dim, class Memory>
double StreamedGradients<T, Dim, Memory>::seconds() const {
  const double rate = rates().clear;
  const double bytes = static_cast<double>(m_grid.size()) * sizeof(T);
  // a derivative reads and writes a field, and reads its sums
  const double fields =
      1.0 + (m_options.unknowns.density ? 1.0 : 0.0) + (m_options.unknowns.anisotropy ? 2.0 : 0.0);
  return m_pair.seconds() + (rate > 0.0 ? 3.0 * fields * bytes / rate : 0.0);
}

template <class T, int Dim, class Memory>
ExtendedImage<T, Dim, Kokkos::HostSpace> StreamedGradients<T, Dim, Memory>::extended_image() const {
  if (!m_options.lags || !m_pair.prepared()) {
    throw InputError("extended_image: there is none (allowed: with options.lags, after add())");
  }
  const Lags& lags = *m_options.lags;
  return ExtendedImage<T, Dim, Host>(
      whole_box(m_grid), lags,
      m_pair.sums(Products::sum_count(m_options.unknowns), static_cast<int>(lags.count())));
}

template <class T, int Dim, class Memory>
Field<T, Dim, Kokkos::HostSpace> StreamedGradients<T, Dim, Memory>::illumination() const {
  if (!m_pair.prepared()) {
    throw InputError("illumination: there is none (allowed: after add())");
  }
  const auto result = make_field<T>(stream::detail::host_instance(), m_grid, "illumination");
  fold_plain(m_pair.sums()[Products::illumination].first, nullptr, result.data());
  const std::vector<T> roots = root_density(m_pair.model());
  for (std::size_t i = 0; i < roots.size(); ++i) result.data()[i] *= roots[i] * roots[i];
  return result;
}

}  // namespace moho::fwi

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamedGradients)
}  // namespace moho::fwi
#endif
/// \endcond
