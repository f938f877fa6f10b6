// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of shots that advance in the same launches. Included by gradient.hpp.
///
/// In a step one launch advances all wavefields, and one injects and records. Snapshots and
/// products are launched for each shot, once in a product interval.

#include <moho/core/concurrent.hpp>
#include <moho/fwi/gradient.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace moho::fwi {

namespace detail {

/// Wavefields of a batch, at rest and in the same order of time levels.
template <class T, int Dim, class Memory>
std::span<wave::Wavefield<T, Dim, Memory>> wavefields_at_rest(
    const Instance<Memory>& exec, std::vector<wave::Wavefield<T, Dim, Memory>>& wavefields,
    std::size_t count) {
  const std::span<wave::Wavefield<T, Dim, Memory>> used(wavefields.data(), count);
  for (auto& wavefield : used) {
    wavefield.clear(exec);
    if (wavefield.next[0].data() < wavefield.now[0].data()) wavefield.advance();
  }
  return used;
}

/// Throws InputError unless a batch is possible.
template <class T, int Dim, class Memory>
void check_batch(const std::vector<BatchedGradient<T, Dim, Memory>>& shots,
                 const std::vector<wave::Wavefield<T, Dim, Memory>>& wavefields,
                 const ShotGradientOptions<T, Dim, Memory>& options) {
  if (wavefields.size() < shots.size()) {
    throw InputError(concat("wavefields: there are ", wavefields.size(), " for ", shots.size(),
                            " shots (allowed: one a shot, or more): make them with "
                            "moho::wave::make_wavefields"));
  }
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

/// Runs the steps of a batch: body(done) submits one, and returns after it has advanced.
template <class T, int Dim, class Memory, class Body>
double run_batch(const Instance<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
                 std::span<wave::Wavefield<T, Dim, Memory>> wavefields, int propagation,
                 const ShotGradientOptions<T, Dim, Memory>& options, std::int64_t steps,
                 const Body& body) {
  const auto nodes =
      static_cast<double>(propagator.grid().size()) * static_cast<double>(wavefields.size());
  exec.fence();
  wave::kernel::ProgressTimer pace(steps);
  for (std::int64_t done = 0; done < steps;) {
    exec.check_stop();
    wave::step_batch<T, Dim, Memory>(exec, propagator, wavefields);
    body(done);
    ++done;
    if (options.check_every > 0 && (done % options.check_every == 0 || done == steps)) {
      wave::detail::check_together<T, Dim, Memory>(exec, propagator, wavefields, done);
    }
    if (options.progress && (pace.due(done) || done == steps)) {
      exec.fence();
      options.progress(propagation, pace.report(done, static_cast<double>(done) * nodes));
    }
  }
  exec.fence();
  return pace.seconds();
}

}  // namespace detail

template <class T, int Dim, class Memory>
std::vector<ShotGradientReport<Dim>> ShotGradients<T, Dim, Memory>::add_batch(
    const InstanceOf<Memory>& instance, const std::vector<BatchedGradient<T, Dim, Memory>>& shots,
    std::vector<Wave>& wavefields, const ShotGradientOptions<T, Dim, Memory>& options) {
  if (shots.empty()) return {};
  detail::check_batch<T, Dim, Memory>(shots, wavefields, options);
  const Instance<Memory>& exec = instance;
  const auto& propagator = *shots.front().gradients->m_propagator;
  const std::int64_t steps = options.steps;
  const std::int64_t interval = shots.front().gradients->m_product_interval;
  using Series = wave::PointSeries<T, Memory>;
  using ConstSeries = wave::PointSeries<const T, Memory>;
  const auto make_series = [&](const BatchedGradient<T, Dim, Memory>& shot, const char* label) {
    return allocate<Series>(exec, label, static_cast<std::size_t>(steps + 1),
                            static_cast<std::size_t>(shot.receivers->count()));
  };

  // forward
  auto used = detail::wavefields_at_rest(exec, wavefields, shots.size());
  std::vector<wave::ShotPoints<T, Dim, Memory>> points;
  std::vector<ConstSeries> amplitudes;
  std::vector<Series> modelled;
  for (std::size_t k = 0; k < shots.size(); ++k) {
    points.push_back({*shots[k].forward->points, *shots[k].receivers});
    amplitudes.push_back(shots[k].forward->amplitudes);
    modelled.push_back(make_series(shots[k], "moho::fwi::modelled"));
    shots[k].store->begin(exec, used[k], 0);
  }
  const wave::detail::ShotsExchange<T, Dim, Memory> forward(
      exec, propagator, used, points, amplitudes, modelled,
      wave::detail::source_factors<T, Dim, Memory>(propagator));
  const Box<Dim> whole = whole_box(propagator.grid());
  const double forward_seconds = wave::in_propagation("forward leg", [&] {
    return detail::run_batch<T, Dim, Memory>(
        exec, propagator, used, 0, options, steps, [&](std::int64_t time) {
          forward(exec, used.front().now[0].data(), time, time);
          for (auto& wavefield : used) wavefield.advance();
          for (std::size_t k = 0; k < shots.size(); ++k) {
            const auto& [gradients, term, receivers, misfit, store] = shots[k];
            store->on_step(exec, used[k], whole, time + 1);
            if ((time + 1) % interval != 0) continue;
            store->save(exec, used[k], gradients->snapshot_box(), time + 1);
          }
        });
  });
  forward(exec, used.front().now[0].data(), -1, steps);

  // residuals
  std::vector<ShotGradientReport<Dim>> reports(shots.size());
  std::vector<Series> derivatives;
  std::vector<ConstSeries> injected;
  for (std::size_t k = 0; k < shots.size(); ++k) {
    shots[k].store->end_forward(exec);
    derivatives.push_back(make_series(shots[k], "moho::fwi::derivative"));
    injected.push_back(derivatives.back());
  }
  exec.fence();  // misfit functions may use instances of their own
  run_concurrently<double>(
      std::min(options.misfit_threads, static_cast<int>(shots.size())),
      [&, k = std::size_t{0}]() mutable {
        return k < shots.size() ? std::optional<std::size_t>(k++) : std::nullopt;
      },
      [&](int, std::size_t k, CallingThread&) {
        return shots[k].misfit(ConstSeries(modelled[k]), derivatives[k]);
      },
      [&](std::size_t k, double&& value) { reports[k].misfit = value; });
  for (std::size_t k = 0; k < shots.size(); ++k) {
    if (!std::isfinite(reports[k].misfit)) {
      throw Error(concat("the misfit is ", reports[k].misfit,
                         " (a wavefield or the data are no numbers): look at the data of the "
                         "shot"));
    }
  }

  // backward
  used = detail::wavefields_at_rest(exec, wavefields, shots.size());
  wave::detail::InjectionFactors<T, Memory> factors;
  for (int f = 0; f < used.front().fields; ++f) {
    factors.of_field[f] = shots.front().gradients->m_factors.injection(f);
  }
  for (std::size_t k = 0; k < shots.size(); ++k) {
    points[k] = {*shots[k].receivers, {}};
    modelled[k] = {};
    shots[k].gradients->begin_adjoint(exec);
  }
  const wave::detail::ShotsExchange<T, Dim, Memory> backward(exec, propagator, used, points,
                                                             injected, modelled, factors);
  const auto combine_all = [&](std::int64_t time) {
    for (std::size_t k = 0; k < shots.size(); ++k) {
      shots[k].gradients->combine(exec, used[k], *shots[k].forward, *shots[k].receivers,
                                  derivatives[k], *shots[k].store, options, Index<Dim>{}, time);
    }
  };
  combine_all(steps);
  const double backward_seconds = wave::in_propagation("backward leg", [&] {
    return detail::run_batch<T, Dim, Memory>(exec, propagator, used, 2, options, steps,
                                             [&](std::int64_t done) {
                                               const std::int64_t time = steps - done;
                                               backward(exec, used.front().now[0].data(), time, -1);
                                               for (auto& wavefield : used) wavefield.advance();
                                               combine_all(time - 1);
                                             });
  });
  const auto count = static_cast<double>(shots.size());
  for (std::size_t k = 0; k < shots.size(); ++k) {
    reports[k].forward_seconds = forward_seconds / count;
    reports[k].backward_seconds = backward_seconds / count;
    reports[k].snapshots = shots[k].store->report();
    reports[k].points =
        2.0 * static_cast<double>(propagator.grid().size()) * static_cast<double>(steps) +
        reports[k].snapshots.points;
  }
  return reports;
}

}  // namespace moho::fwi
