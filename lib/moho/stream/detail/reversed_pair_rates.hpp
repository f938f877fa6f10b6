// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Measurements that ReversedPair makes before it plans (internal).

#include <moho/stream/kernel/launches.hpp>
#include <moho/stream/reversed_pair.hpp>

#include <chrono>

namespace moho::stream {

// Rates of slabs, link and memory; of launches; of what precedes the runs of a shot.
template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::measure(const StreamRequest& wishes) {
  const Scheme& scheme = *m_first.schemes.front();
  StreamRates& rates = m_rates.both;
  measure_rates<T, Dim, Memory>(m_instances.front(), scheme, m_need, wishes, rates);
  measure_moves<T, Dim, Memory>(m_instances.front(), scheme, rates);
  rates.in_turn = is_host_memory<Memory>;
  measure_preparation();
  m_rates.single = rates;
  measure_stages();
}

// Measures the fixed costs of stages and iterations by shots of a few nodes.
// They apply to one volume, and to both volumes with the action.
template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::measure_stages() {
  const Grid<Dim> grid = detail::small_grid(m_grid, m_options.propagator.order);
  const HostModel model = detail::uniform_model<T, Dim>(m_model, grid);
  const wave::Shot<Dim> shot = detail::small_shot(grid, m_max_receivers);
  ReversedPairOptions<Dim> options = m_options;
  options.measure = false;
  options.rates = {};
  options.rates.both.slabs = {{4, 1e9}};
  options.propagator.boundaries = detail::thin_layers(m_options.propagator.boundaries);
  options.source_faces = detail::thin_layers(m_options.source_faces);
  options.interval = std::min<std::int64_t>(m_options.interval, 16);
  options.steps = 16;
  options.wavelet.resize(std::min<std::size_t>(m_options.wavelet.size(), 17));
  options.wavelet = detail::unit_wavelet(options.wavelet);
  options.wishes = {};
  options.wishes.block = 4;
  options.memory = 0;
  const Instance<Memory>& exec = m_instances.front();
  const auto rows = static_cast<std::size_t>(options.steps + 1);
  const auto series = allocate<Series>(exec, "moho::stream::series", rows, shot.receivers.size());
  if (series.size() > 0) fill(exec, series, T(0));
  exec.fence();
  LaunchSample single[2], pair[2];
  for (int k = 0; k < 2; ++k) {
    options.wishes.updates = k == 0 ? 1 : 8;
    ReversedPair small(exec, grid, model, {shot}, options, m_make);
    small.update(model);
    for (int trial = 0; trial < 4; ++trial) {
      double forward = 0.0;
      if (options.models) {
        const wave::Traces<T> traces("moho::stream::rows", rows, shot.receivers.size());
        forward = small.model_shot(shot, traces, {}).seconds;
      }
      const PairReport report = small.run(shot, options.random, series, {});
      if (!options.models) {
        // per step: the last action may precede the last step
        forward = report.forward.seconds * static_cast<double>(options.steps) /
                  static_cast<double>(small.last_action());
      }
      if (trial == 0) continue;  // the first one makes what is kept
      const double both = report.backward.seconds;
      if (trial == 1 || forward < single[k].seconds) single[k].seconds = forward;
      if (trial == 1 || both < pair[k].seconds) pair[k].seconds = both;
    }
    StreamShape shape = small.m_plan.shape;
    const Schedule together(shape);
    pair[k].stages = count_stages(together);
    pair[k].iterations = static_cast<double>(together.iterations());
    shape.before = shape.trailing = 0;
    const Schedule alone(shape);
    single[k].stages = count_stages(alone);
    single[k].iterations = static_cast<double>(alone.iterations());
    if (!is_host_memory<Memory>) continue;
    const double each =
        static_cast<double>(options.steps) / m_rates.both.slabs.front().points_per_second;
    single[k].steps = each * static_cast<double>(small.m_first.grid.size());
    pair[k].steps = single[k].steps + each * static_cast<double>(small.m_source.grid.size());
  }
  solve_launches(single[0], single[1], m_rates.single);
  solve_launches(pair[0], pair[1], m_rates.both);
}

// Measures the preparation of parameters and the clearing of a state, on some planes with layers.
template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::measure_preparation() {
  Grid<Dim> grid = m_grid;
  grid.extents[0] = std::min(grid.extents[0], 4 * planes_of_piece(m_grid));
  const Instance<Host> host = detail::host_instance();
  const HostModel model =
      detail::changed_model<T, Dim, Host>(m_model, [&](const Field<T, Dim, Host>& field) {
        const auto part = make_field<T>(host, grid, "moho::stream::part");
        std::copy_n(field.data(), part.size(), part.data());
        return part;
      });
  const Side& side = m_source;
  const Instance<Memory>& exec = m_instances.front();
  const wave::Limits limits = detail::stepped_limits<T, Dim>(
      host, grid, model, side.options.boundaries, side.random, side.options);
  const Scheme scheme(exec, wave::extended_grid(grid, side.options.boundaries), model.medium(),
                      limits, side.options);
  PinnedRegion<Memory> lock;
  HostVolume<T, Dim> volume(scheme, VolumeOptions());
  volume.lock(lock);
  using Clock = std::chrono::steady_clock;
  const auto seconds_of = [](const auto& function) {
    double min = 0.0;
    for (int trial = 0; trial < 3; ++trial) {
      const auto start = Clock::now();
      function();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (trial == 0) continue;  // it touches the pages
      if (trial == 1 || seconds < min) min = seconds;
    }
    return std::max(min, 1e-9);
  };
  m_rates.both.load = static_cast<double>(scheme.grid().size()) /
                      seconds_of([&] { volume.load(exec, scheme, grid, model, side.random); });
  m_rates.both.clear =
      static_cast<double>(volume.shape().state_bytes()) / seconds_of([&] { volume.clear(); });
}

}  // namespace moho::stream
