// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of the adjoint field with the source wavefield. Included by gradient.hpp.

#include <moho/fwi/gradient.hpp>

#include <cstdint>

namespace moho::fwi {

// Adds the products of the adjoint field that is current with the source wavefield at a time.
template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::combine(const Instance<Memory>& exec, const Wave& wavefield,
                                            const wave::SourceTerm<T, Dim, Memory>& forward,
                                            const wave::PointSet<T, Dim, Memory>& receivers,
                                            const wave::PointSeries<T, Memory>& derivative,
                                            snapshot::SnapshotStore<T, Dim, Memory>& store,
                                            const ShotGradientOptions<T, Dim, Memory>& options,
                                            const Index<Dim>& shift, std::int64_t time) {
  const auto& propagator = *m_propagator;
  const bool products = time > 0 && time % m_product_interval == 0;
  const bool begins = time == 0 && (m_unknowns.anisotropy || m_unknowns.density);
  if (!products && !begins && !m_unknowns.anisotropy) return;
  const detail::StepInjection<T, Dim, Memory> residuals = injection(receivers, derivative, time);
  const bool everywhere = m_unknowns.anisotropy
                              ? !detail::lambda_from_wavefield(propagator.scheme())
                              : options.extended != nullptr && is_host_memory<Memory>;
  if (everywhere) {
    wave::apply_operator<T, Dim, Memory>(exec, propagator.scheme(), propagator.medium_window(),
                                         wavefield, m_box, m_change[0],
                                         products ? m_change[1] : Array());
    residuals.add_to(exec, m_change[0]);
  }
  detail::SourceValues<T, Dim> source{};
  if (products) {
    source = detail::source_values<T, Dim, Memory>(exec, store, time, fields(), shift);
    detail::AddScale<T, Dim> add = scale_sums(source);
    if (options.extended != nullptr) {
      for (int f = 0; const auto& kept : options.extended->pairs(exec, add.weight, fields())) {
        add.kept_source[f] = kept.source;
        add.kept_change[f++] = kept.adjoint;
      }
    }
    detail::AddPointProduct<T, Dim> at_receivers = at_residuals(add);
    if (everywhere) {
      detail::launch_add_scale<T, Dim, Memory>(exec, m_box, add);
      if (m_unknowns.density) {
        at_receivers.scale = at_receivers.kept_change = nullptr;  // residuals are in m_change
        detail::add_point_products<T, Dim, Memory>(exec, residuals, m_box, at_receivers);
      }
    } else {
      detail::add_products<T, Dim, Memory>(exec, propagator.scheme(), propagator.medium_window(),
                                           wavefield, m_box, residuals, m_change, add,
                                           at_receivers);
    }
    if (m_outside > 0) put_source(exec, source);
  }
  if (m_unknowns.density) add_density(exec, wavefield, forward, source, time, everywhere);
  if (!m_unknowns.anisotropy) return;
  if (products || begins) add_anisotropy(exec, wavefield, forward, source, time);
  detail::step_lambda<T, Dim, Memory>(exec, propagator.scheme(), propagator.medium_window(),
                                      wavefield, m_box, m_change[0], residuals, lambda());
}

// Advances the source wavefield, records it and saves its snapshots.
template <class T, int Dim, class Memory>
wave::kernel::SeveralSteps ShotGradients<T, Dim, Memory>::save_several(
    const Instance<Memory>& exec, const wave::SourceTerm<T, Dim, Memory>& source_term,
    Wave& wavefield, snapshot::SnapshotStore<T, Dim, Memory>* store, const Box<Dim>& kept,
    const Recording& recording) const {
  if (store != nullptr && !store->stays()) return {};
  const auto& propagator = *source_term.propagator;
  return wave::kernel::several_steps<T, Dim, Memory>(
      exec, propagator, wavefield,
      [&](auto& runs) {
        runs.inject(
            *source_term.points, source_term.amplitudes,
            [&](int f) { return propagator.source_scale(f); },
            wave::kernel::source_factor<T>(propagator.grid()));
        if (recording.receivers != nullptr) runs.record(*recording.receivers, recording.rows, 1);
      },
      [this, store, kept](auto& runs, std::int64_t time, std::int64_t count) {
        wave::kernel::KeepSection<T> keep{};
        if (store != nullptr) {
          keep.fields = fields();
          for (int d = 0; d < 2; ++d) {
            keep.lower[d] = static_cast<int>(kept.lower[d]);
            keep.upper[d] = static_cast<int>(kept.upper[d]);
          }
          for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t after = time + k + 1;
            if (after % m_product_interval == 0) keep.to[k] = store->reserve(kept, after);
          }
        }
        runs.step(time, 1, count, keep);
        return count;
      });
}

// Adds the products of combine() and advances the adjoint field.
template <class T, int Dim, class Memory>
wave::kernel::SeveralSteps ShotGradients<T, Dim, Memory>::combine_several(
    const Instance<Memory>& exec, Wave& wavefield, const wave::PointSet<T, Dim, Memory>& receivers,
    const wave::PointSeries<T, Memory>& derivative, snapshot::SnapshotStore<T, Dim, Memory>& store,
    const Index<Dim>& shift) {
  if (!store.stays() || m_unknowns.anisotropy || m_unknowns.density) return {};
  return wave::kernel::several_steps<T, Dim, Memory>(
      exec, *m_propagator, wavefield,
      [&](auto& runs) {
        runs.inject(
            receivers, wave::PointSeries<const T, Memory>(derivative),
            [&](int f) { return m_factors.injection(f); }, T(1));
      },
      [this, exec, &receivers, derivative, &store, shift](auto& runs, std::int64_t after,
                                                          std::int64_t count) {
        detail::AddSectionProducts<T> work{};
        if constexpr (Dim == 2) {
          work.residual = runs.injection();
          injection(receivers, derivative, 0).bind(work.residual.points);
          bool any = false;
          for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t time = after - 1 - k;
            if (time < 1 || time % m_product_interval != 0) continue;
            const auto source =
                detail::source_values<T, Dim, Memory>(exec, store, time, fields(), shift);
            if (any && !(source.values.box == work.add.snapshot.box)) {
              count = k;  // the snapshots of a launch have one layout
              break;
            }
            work.add = scale_sums(source);
            work.source[k] = source.fields[0];
            if (fields() == 2) work.q = source.fields[1] - source.fields[0];
            any = true;
          }
          if (any) work.box = m_box;  // without a snapshot nothing is summed
        }
        runs.step(after - 1, -1, count, work);
        return count;
      });
}

// Copies to padded arrays for differences.
template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::put_source(const Instance<Memory>& exec,
                                               const detail::SourceValues<T, Dim>& source) {
  for (int f = 0; f < m_source.fields; ++f) {
    const detail::PutNodes<T, Dim> put{source.fields[f], m_source.now[f].data(), m_source.layout,
                                       source.values};
    launch_box("moho::fwi::put_source", exec,
               intersection(source.box, whole_box(m_propagator->grid())), put);
  }
}

// Adds the products at sources, and those of the potential at the nodes where the
// products with D of the adjoint field did not add them.
template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::add_density(const Instance<Memory>& exec, const Wave& adjoint,
                                                const wave::SourceTerm<T, Dim, Memory>& forward,
                                                const detail::SourceValues<T, Dim>& source,
                                                std::int64_t time, bool everywhere) {
  detail::add_point_products<T, Dim, Memory>(exec, source_injection(forward, time), m_box,
                                             at_sources(adjoint));
  if (source.fields[0] == nullptr) return;
  const wave::Layout<Dim>& layout = m_propagator->layout();
  const detail::AddPotential<T, Dim> add{source.fields[0],
                                         source.values,
                                         adjoint.now[0].data(),
                                         layout,
                                         detail::dense(m_density_box),
                                         m_by_potential.data(),
                                         static_cast<T>(m_product_interval)};
  if (everywhere) {
    detail::launch_add_potential<T, Dim, Memory>(exec, m_density_box, add);
    return;
  }
  // planes of a part of a grid beside its sums
  Box<Dim> below = m_density_box, above = m_density_box;
  below.upper[0] = m_box.lower[0];
  above.lower[0] = m_box.upper[0];
  detail::launch_add_potential<T, Dim, Memory>(exec, below, add);
  detail::launch_add_potential<T, Dim, Memory>(exec, above, add);
}

template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::add_anisotropy(const Instance<Memory>& exec,
                                                   const Wave& adjoint,
                                                   const wave::SourceTerm<T, Dim, Memory>& forward,
                                                   const detail::SourceValues<T, Dim>& source,
                                                   std::int64_t time) {
  const auto& propagator = *m_propagator;
  const auto& scheme = propagator.scheme();
  const wave::Layout<Dim>& layout = propagator.layout();
  wave::kernel::StepArguments<T> s = scheme.arguments();
  propagator.medium_window().bind(s);
  if (source.fields[0] != nullptr) {
    wave::apply_operator<T, Dim, Memory>(exec, scheme, propagator.medium_window(), m_source, m_box,
                                         m_source_change[0], m_source_change[1]);
  }
  double volume = 1.0;
  for (int d = 0; d < Dim; ++d) volume *= propagator.grid().spacing[d];
  const bool injects = time < static_cast<std::int64_t>(forward.amplitudes.extent(0));
  if (injects) {
    forward.points->inject(exec, m_injected, forward.amplitudes, time, {},
                           static_cast<T>(1.0 / volume));
  }
  detail::AddAnisotropy<T, Dim> add{};
  add.s = s;
  add.lambda = lambda().lambda;
  add.lambda_nodes = lambda().nodes;
  add.nu_q = adjoint.now[1].data();
  if (source.fields[0] != nullptr) {
    add.h2p = m_source_change[0].data();
    add.h1q = m_source_change[1].data();
  }
  add.source = m_injected.data();
  add.layout = layout;
  add.sums = detail::dense(m_box);
  add.d_a = m_by_a.data();
  add.d_r = m_by_r.data();
  add.weight = static_cast<T>(m_product_interval);
  launch_box("moho::fwi::add_anisotropy", exec, m_box, add);
  if (injects) {
    launch_box("moho::fwi::no_source", exec, propagator.held(forward.points->box()),
               detail::ZeroNodes<T, Dim>{m_injected.data(), layout});
  }
}

}  // namespace moho::fwi
