// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Measurements that StreamedGradients makes before it plans (internal).

#include <moho/fwi/stream_gradient.hpp>
#include <moho/stream/kernel/launches.hpp>

#include <chrono>

namespace moho::fwi {

// Rates of slabs, link and memory; of launches; of what precedes the runs of a shot.
template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::measure(const stream::StreamRequest& wishes) {
  const Scheme& scheme = *m_adjoint.schemes.front();
  stream::measure_rates<T, Dim, Memory>(m_instances.front(), scheme, m_need, wishes, m_rates);
  stream::measure_moves<T, Dim, Memory>(m_instances.front(), scheme, m_rates);
  m_rates.in_turn = is_host_memory<Memory>;
  measure_preparation();
  m_single = m_rates;
  measure_stages();
}

// Measures the fixed costs of stages and iterations by gradients of a few nodes.
// They apply to one volume, and to both volumes with their products.
template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::measure_stages() {
  const Grid<Dim> grid = stream::detail::small_grid(m_grid, m_options.propagator.order);
  const HostModel model = stream::detail::uniform_model<T, Dim>(m_model, grid);
  const wave::Shot<Dim> shot = stream::detail::small_shot(grid, m_most_receivers);
  StreamedGradientOptions<Dim> options = m_options;
  options.measure = false;
  options.rates = {};
  options.rates.slabs = {{4, 1e9}};
  options.propagator.boundaries = stream::detail::thin_layers(m_options.propagator.boundaries);
  options.source_faces = stream::detail::thin_layers(m_options.source_faces);
  options.product_interval = std::min<std::int64_t>(m_options.product_interval, 16);
  options.steps = 16;
  options.wavelet.resize(std::min<std::size_t>(m_options.wavelet.size(), 17));
  options.wavelet = stream::detail::unit_wavelet(options.wavelet);
  options.wishes = {};
  options.wishes.block = 4;
  options.memory = 0;
  const Instance<Memory>& exec = m_instances.front();
  const ShotMisfit<T, Memory> misfit = [&exec](const wave::PointSeries<const T, Memory>&,
                                               const Series& derivative) {
    if (derivative.size() > 0) fill(exec, derivative, T(0));
    exec.fence();
    return 1.0;
  };
  // part of the run forward that the source's own one has
  const double last =
      static_cast<double>(options.steps / options.product_interval * options.product_interval) /
      static_cast<double>(options.steps);
  stream::LaunchSample single[2], pair[2];
  for (int k = 0; k < 2; ++k) {
    options.wishes.updates = k == 0 ? 1 : 8;
    StreamedGradients small(exec, grid, model, {shot}, options);
    small.update(model);
    for (int trial = 0; trial < 4; ++trial) {
      const auto report = small.add(shot, options.random, misfit);
      if (trial == 0) continue;  // the first one makes what is kept
      const double forward = report.forward_seconds;
      const double both = std::max(report.backward_seconds - last * forward, 0.0);
      if (trial == 1 || forward < single[k].seconds) single[k].seconds = forward;
      if (trial == 1 || both < pair[k].seconds) pair[k].seconds = both;
    }
    stream::StreamShape shape = small.m_plan.shape;
    const stream::Schedule together(shape);
    pair[k].stages = stream::count_stages(together);
    pair[k].iterations = static_cast<double>(together.iterations());
    shape.before = shape.behind = 0;
    const stream::Schedule alone(shape);
    single[k].stages = stream::count_stages(alone);
    single[k].iterations = static_cast<double>(alone.iterations());
    if (!is_host_memory<Memory>) continue;
    const double each =
        static_cast<double>(options.steps) / m_rates.slabs.front().points_per_second;
    single[k].steps = each * static_cast<double>(small.m_adjoint.grid.size());
    pair[k].steps = single[k].steps + each * static_cast<double>(small.m_source.grid.size());
  }
  stream::solve_launches(single[0], single[1], m_single);
  stream::solve_launches(pair[0], pair[1], m_rates);
}

// Measures the preparation of parameters and the clearing of a state, on some planes with layers.
template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::measure_preparation() {
  Grid<Dim> grid = m_grid;
  grid.extents[0] = std::min(grid.extents[0], 4 * detail::planes_of_piece(m_grid));
  const Instance<Host> host = stream::detail::host_instance();
  const HostModel model =
      stream::detail::changed_model<T, Dim, Host>(m_model, [&](const Field<T, Dim, Host>& field) {
        const auto part = make_field<T>(host, grid, "moho::fwi::part");
        std::copy_n(field.data(), part.size(), part.data());
        return part;
      });
  const Side& side = m_source;
  const Instance<Memory>& exec = m_instances.front();
  const wave::Limits limits = stream::detail::stepped_limits<T, Dim>(
      host, grid, model, side.options.boundaries, side.random, side.options);
  const Scheme scheme(exec, wave::extended_grid(grid, side.options.boundaries), model.medium(),
                      limits, side.options);
  PinnedRegion<Memory> lock;
  stream::HostVolume<T, Dim> volume(scheme, stream::VolumeOptions());
  volume.lock(lock);
  using Clock = std::chrono::steady_clock;
  const auto seconds_of = [](const auto& function) {
    double least = 0.0;
    for (int trial = 0; trial < 3; ++trial) {
      const auto start = Clock::now();
      function();
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      if (trial == 0) continue;  // it touches the pages
      if (trial == 1 || seconds < least) least = seconds;
    }
    return std::max(least, 1e-9);
  };
  m_rates.load = static_cast<double>(scheme.grid().size()) /
                 seconds_of([&] { volume.load(exec, scheme, grid, model, side.random); });
  m_rates.clear =
      static_cast<double>(volume.shape().state_bytes()) / seconds_of([&] { volume.clear(); });
}

}  // namespace moho::fwi
