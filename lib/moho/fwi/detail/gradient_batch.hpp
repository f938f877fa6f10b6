// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of shots that advance in the same launches. Included by gradient.hpp.
///
/// In a step one launch advances all wavefields, and one injects and records. Once in a product
/// interval one launch saves snapshots of all shots. Products are launched for all of them where
/// adds_together() is true, or else for each.

#include <moho/core/concurrent.hpp>
#include <moho/fwi/detail/batch_products.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/snapshot/kernel/save_together.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace moho::fwi {

namespace detail {

/// Throws InputError unless a batch is possible.
template <class T, int Dim, class Memory>
void check_batch(const std::vector<BatchedGradient<T, Dim, Memory>>& shots,
                 const ShotGradientOptions<T, Dim, Memory>& options) {
  if (options.source != nullptr || options.extended != nullptr) {
    throw InputError(concat(options.source != nullptr ? "source" : "extended",
                            " is given for shots in the same launches (allowed: none): add these "
                            "shots one by one"));
  }
  const std::int64_t interval = shots.front().gradients->product_interval();
  if (options.steps < interval) {
    throw InputError(concat("steps is ", options.steps, " (allowed: ", interval,
                            " or more, the steps from one product to the next)"));
  }
}

}  // namespace detail

/// \cond
// Propagations of a batch.
template <class T, int Dim, class Memory>
struct ShotGradients<T, Dim, Memory>::BatchRun {
  using Shots = std::vector<BatchedGradient<T, Dim, Memory>>;
  using Options = ShotGradientOptions<T, Dim, Memory>;
  using Series = wave::PointSeries<T, Memory>;
  using ConstSeries = wave::PointSeries<const T, Memory>;
  using Exchange = wave::kernel::ShotsExchange<T, Dim, Memory>;
  using Points = std::vector<wave::ShotPoints<T, Dim, Memory>>;

  Instance<Memory> exec;
  const Shots& shots;
  std::vector<Wave>& wavefields;
  const Options& options;
  const wave::Propagator<T, Dim, Memory>& propagator = *shots.front().gradients->m_propagator;
  std::int64_t steps = options.steps;
  std::vector<Series> modelled = {}, derivatives = {};
  std::optional<detail::BatchPoints<T, Dim, Memory>> receivers = {}, sources = {};
  std::vector<ShotGradientReport<Dim>> reports = std::vector<ShotGradientReport<Dim>>(shots.size());

  std::vector<Series> make_series(const char* label) const {
    std::vector<Series> result;
    for (const auto& shot : shots) {
      result.push_back(wave::kernel::series_in<T, Memory>(
          exec, label, static_cast<std::size_t>(steps + 1),
          static_cast<std::size_t>(shot.receivers->count()), options.series));
    }
    return result;
  }
  // Options of a propagation: 0 forward, 2 backward.
  wave::kernel::BatchRunOptions run_options(int propagation) const {
    wave::kernel::BatchRunOptions run{steps, options.check_every, {}};
    if (options.progress) {
      run.progress = [this, propagation](const wave::ShotProgress& now) {
        options.progress(propagation, now);
      };
    }
    return run;
  }
  // Models the samples and saves the source wavefields.
  void forward() {
    const auto used = wave::kernel::wavefields_at_rest(exec, wavefields, shots.size());
    if (options.series != nullptr) options.series->reset();
    modelled = make_series("moho::fwi::modelled");
    Points points;
    std::vector<ConstSeries> amplitudes;
    for (std::size_t k = 0; k < shots.size(); ++k) {
      points.push_back({*shots[k].forward->points, *shots[k].receivers});
      amplitudes.push_back(shots[k].forward->amplitudes);
      shots[k].store->begin(exec, used[k], 0);
    }
    const Exchange exchange(exec, propagator, used, points, amplitudes, modelled,
                            wave::kernel::source_factors<T, Dim, Memory>(propagator));
    const double seconds = wave::in_propagation("forward leg", [&] {
      return wave::kernel::run_batch<T, Dim, Memory>(
          exec, propagator, used, run_options(0), [&](std::int64_t time) {
            exchange(exec, used.front().now[0].data(), time, time);
            for (auto& wavefield : used) wavefield.advance();
            save(used, time + 1);
          });
    });
    exchange(exec, used.front().now[0].data(), -1, steps);
    exec.fence();
    for (std::size_t k = 0; k < shots.size(); ++k) {
      shots[k].store->end_forward(exec);
      reports[k].forward_seconds = seconds / static_cast<double>(shots.size());
    }
  }
  void save(std::span<const Wave> used, std::int64_t time) {
    for (std::size_t k = 0; k < shots.size(); ++k) {
      shots[k].store->on_step(exec, used[k], whole_box(propagator.grid()), time);
    }
    if (time % shots.front().gradients->m_product_interval != 0) return;
    std::vector<snapshot::SnapshotStore<T, Dim, Memory>*> stores;
    for (const auto& shot : shots) stores.push_back(shot.store);
    snapshot::kernel::save_together<T, Dim, Memory>(
        exec, used, stores, shots.front().gradients->snapshot_box(), used.front().fields, time);
  }
  // Calls the misfit functions, which may use instances of their own.
  void misfits() {
    derivatives = make_series("moho::fwi::derivative");
    exec.fence();
    run_concurrently<double>(
        std::min(options.misfit_threads, static_cast<int>(shots.size())),
        [&, k = std::size_t{0}]() mutable {
          return k < shots.size() ? std::optional<std::size_t>(k++) : std::nullopt;
        },
        [&](int, std::size_t k, CallingThread&) {
          return shots[k].misfit(ConstSeries(modelled[k]), derivatives[k]);
        },
        [&](std::size_t k, double&& value) { reports[k].misfit = value; });
    for (const auto& report : reports) {
      if (std::isfinite(report.misfit)) continue;
      throw Error(concat("the misfit is ", report.misfit,
                         " (a wavefield or the data are no numbers): look at the data of the "
                         "shot"));
    }
    modelled.clear();
  }
  // Propagates the adjoint fields and adds the products.
  void backward() {
    const auto used = wave::kernel::wavefields_at_rest(exec, wavefields, shots.size());
    wave::kernel::InjectionFactors<T, Memory> factors;
    for (int f = 0; f < used.front().fields; ++f) {
      factors.of_field[f] = shots.front().gradients->m_factors.injection(f);
    }
    Points points;
    std::vector<ConstSeries> injected;
    for (std::size_t k = 0; k < shots.size(); ++k) {
      points.push_back({*shots[k].receivers, {}});
      injected.push_back(derivatives[k]);
      shots[k].gradients->begin_adjoint(exec);
    }
    const Exchange exchange(exec, propagator, used, points, injected,
                            std::vector<Series>(shots.size()), factors);
    if (adds_together(used)) describe_points();
    combine(used, steps);
    const double seconds = wave::in_propagation("backward leg", [&] {
      return wave::kernel::run_batch<T, Dim, Memory>(
          exec, propagator, used, run_options(2), [&](std::int64_t done) {
            const std::int64_t time = steps - done;
            exchange(exec, used.front().now[0].data(), time, -1);
            for (auto& wavefield : used) wavefield.advance();
            combine(used, time - 1);
          });
    });
    const auto nodes = static_cast<double>(propagator.grid().size());
    for (std::size_t k = 0; k < shots.size(); ++k) {
      reports[k].backward_seconds = seconds / static_cast<double>(shots.size());
      reports[k].snapshots = shots[k].store->report();
      reports[k].points = 2.0 * nodes * static_cast<double>(steps) + reports[k].snapshots.points;
    }
  }
  // Returns true if one launch adds the products of all shots.
  bool adds_together(std::span<const Wave> used) const {
    if (Dim != 2 || is_host_memory<Memory> || used.size() < 2) return false;
    if (shots.front().gradients->m_unknowns.anisotropy) return false;
    return wave::one_pass_symmetric_stencils.has(propagator.scheme().stencil()) &&
           wave::kernel::batch_stride_of<T, Dim, Memory>(used).has_value();
  }
  // Describes receivers and, for the density, sources.
  void describe_points() {
    std::vector<detail::StepInjection<T, Dim, Memory>> at_receivers, at_sources;
    for (std::size_t k = 0; k < shots.size(); ++k) {
      const ShotGradients& gradients = *shots[k].gradients;
      at_receivers.push_back(gradients.injection(*shots[k].receivers, derivatives[k], 0));
      at_sources.push_back(gradients.source_injection(*shots[k].forward, 0));
    }
    receivers.emplace(exec, at_receivers);
    if (shots.front().gradients->m_unknowns.density) sources.emplace(exec, at_sources);
  }
  // As combine() of all shots.
  void combine_together(std::span<const Wave> used, std::int64_t time) {
    const ShotGradients& one = *shots.front().gradients;
    const bool products = time > 0 && time % one.m_product_interval == 0;
    if (!products && !(time == 0 && sources)) return;
    constexpr std::size_t max = detail::largest_product_batch;
    for (std::size_t first = 0; first < used.size(); first += max) {
      const std::size_t count = std::min(max, used.size() - first);
      if (products) add_products(used.subspan(first, count), first, time);
      if (!sources) continue;
      detail::AddPointsOfShots<T, Dim> at_sources{};
      for (std::size_t k = 0; k < count; ++k) {
        at_sources.put(static_cast<int>(k),
                       shots[first + k].gradients->at_sources(used[first + k]));
      }
      sources->add(exec, first, static_cast<int>(count), time, one.m_box, at_sources);
    }
  }
  // Adds the products of some shots, from number `first`, with their source wavefields.
  void add_products(std::span<const Wave> used, std::size_t first, std::int64_t time) {
    const ShotGradients& one = *shots.front().gradients;
    const auto& scheme = propagator.scheme();
    detail::ShotArrays<T> arrays{};
    detail::AddPointsOfShots<T, Dim> at_receivers{};
    detail::AddScale<T, Dim> add{};
    for (std::size_t k = 0; k < used.size(); ++k) {
      const ShotGradients& gradients = *shots[first + k].gradients;
      add = gradients.scale_sums(detail::source_values<T, Dim, Memory>(
          exec, *shots[first + k].store, time, gradients.fields(), Index<Dim>{}));
      arrays.put(static_cast<int>(k), add);
      at_receivers.put(static_cast<int>(k), gradients.at_residuals(add));
    }
    wave::kernel::StepArguments<T> s;
    const wave::kernel::Several several{
        static_cast<int>(used.size()),
        wave::kernel::batch_stride_of<T, Dim, Memory>(used).value_or(0)};
    if (!wave::kernel::bind_operator(exec, scheme, propagator.medium_window(), used.front(),
                                     one.m_box, s, several)) {
      return;
    }
    detail::launch_scale_products<T, Dim, Memory>(exec, scheme.stencil(), scheme.order(), s, add,
                                                  arrays);
    receivers->add(exec, first, several.shots, time, one.m_box, at_receivers);
  }
  void combine(std::span<const Wave> used, std::int64_t time) {
    if (receivers) return combine_together(used, time);
    for (std::size_t k = 0; k < shots.size(); ++k) {
      shots[k].gradients->combine(exec, used[k], *shots[k].forward, *shots[k].receivers,
                                  derivatives[k], *shots[k].store, options, Index<Dim>{}, time);
    }
  }
};

/// \endcond

template <class T, int Dim, class Memory>
std::vector<ShotGradientReport<Dim>> ShotGradients<T, Dim, Memory>::add_batch(
    const InstanceOf<Memory>& exec, const std::vector<BatchedGradient<T, Dim, Memory>>& shots,
    std::vector<Wave>& wavefields, const ShotGradientOptions<T, Dim, Memory>& options) {
  if (shots.empty()) return {};
  wave::kernel::check_wavefields<T, Dim, Memory>(*shots.front().gradients->m_propagator, wavefields,
                                                 shots.size());
  detail::check_batch<T, Dim, Memory>(shots, options);
  BatchRun run{exec, shots, wavefields, options};
  run.forward();
  run.misfits();
  run.backward();
  return run.reports;
}

}  // namespace moho::fwi
