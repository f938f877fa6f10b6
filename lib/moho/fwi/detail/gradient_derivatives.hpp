// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Derivatives by parameters of the model, from sums of a gradient (internal).

#include <moho/fwi/gradient.hpp>

namespace moho::fwi {

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> ShotGradients<T, Dim, Memory>::folded(const Instance<Memory>& exec,
                                                            const Grid<Dim>& grid,
                                                            const Array& sums) const {
  auto result = make_field<T>(exec, grid, "moho::fwi::folded");
  launch("moho::fwi::fold_layers", exec, grid.size(),
         detail::FoldLayers<T, Dim>{sums.data(), result.data(), detail::dense(m_box), grid,
                                    model_lower()});
  return result;
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> ShotGradients<T, Dim, Memory>::illumination(const InstanceOf<Memory>& exec,
                                                                  const Grid<Dim>& grid) const {
  const auto result = folded(exec, grid, m_illumination);
  if (const auto pressure = m_propagator->pressure_factors(); pressure.data() != nullptr) {
    launch("moho::fwi::illumination", Instance<Memory>(exec), grid.size(),
           detail::TimesDensity<T, Dim>{pressure.data(), m_propagator->layout(), grid,
                                        model_lower(), result.data()});
  }
  return result;
}

template <class T, int Dim, class Memory>
wave::Model<T, Dim, Memory> ShotGradients<T, Dim, Memory>::derivatives(
    const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const wave::Model<T, Dim, Memory>& model,
    const Field<T, Dim, Memory>& kept) const {
  const Instance<Memory>& instance = exec;
  for (int d = 0; d < Dim; ++d) {
    const std::int64_t extent = m_propagator->own(m_propagator->interior()).extent(d);
    if (grid.extents[d] == extent) continue;
    throw InputError(concat("grid: it has ", grid.extents[d], " nodes along ", axis_name<Dim>(d),
                            " (allowed: ", extent, ", those of the model without layers)"));
  }
  check_shape(grid, model.vp, "vp");
  wave::Model<T, Dim, Memory> result;
  detail::ToParameters<T> to{};
  const auto make = [&](const char* label) { return make_field<T>(instance, grid, label); };
  const auto d_scale = folded(instance, grid, m_by_scale);
  Field<T, Dim, Memory> d_a, d_r, d_density;
  to.d_scale = d_scale.data();
  to.vp = model.vp.data();
  result.vp = make("vp");
  to.of_vp = result.vp.data();
  if (m_unknowns.density) {
    check_shape(grid, model.density, "density");
    const auto by_density =
        allocate<Array>(instance, "moho::fwi::by_density", static_cast<std::size_t>(m_box.size()));
    const auto& scheme = m_propagator->scheme();
    detail::ByDensity<T, Dim> by = detail::by_density<T, Dim>(m_propagator->grid(), scheme.order(),
                                                              scheme.options().boundaries, m_box);
    if (m_propagator->part()) {
      by.grid = m_propagator->interior();
      by.sums = detail::dense(m_density_box);
    }
    by.by_potential = m_by_potential.data();
    by.by_root = m_by_root.data();
    by.root = m_propagator->pressure_factors().data() + m_propagator->layout().offset;
    by.roots = {whole_box(m_propagator->grid()), m_propagator->layout().strides};
    by.to = by_density.data();
    launch("moho::fwi::by_density", instance, m_box.size(), by);
    d_density = folded(instance, grid, by_density);
    to.d_density = d_density.data();
    to.density = model.density.data();
    result.density = make("density");
    to.of_density = result.density.data();
  }
  if (m_unknowns.anisotropy) {
    d_a = folded(instance, grid, m_by_a);
    d_r = folded(instance, grid, m_by_r);
    to.d_a = d_a.data();
    to.d_r = d_r.data();
    to.epsilon = model.epsilon.data();
    to.delta = model.delta.data();
    to.kept = kept.size() > 0 ? kept.data() : nullptr;
    result.epsilon = make("epsilon");
    result.delta = make("delta");
    to.of_epsilon = result.epsilon.data();
    to.of_delta = result.delta.data();
  }
  launch("moho::fwi::to_parameters", instance, grid.size(), to);
  if constexpr (!is_host_memory<Memory>) instance.fence();  // before local arrays are freed
  return result;
}

}  // namespace moho::fwi
