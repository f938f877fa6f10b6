// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Modelling of shots by Streaming (internal).

#include <moho/stream/modelling.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace moho::stream {

/// \cond
// A shot in a chain.
template <class T, int Dim, class Memory>
struct Streaming<T, Dim, Memory>::Run {
  std::size_t chain;
  const wave::Shot<Dim>& shot;
  const StreamShotOptions<Dim>& options;
  StreamShotResult<T> result = {};
  std::int64_t first = 0;  ///< first time level
  bool complete = false;   ///< true if a file holds the complete shot
  bool watched = false;    ///< true if every step is checked
  std::unique_ptr<Schedule> schedule = {};
  std::vector<wave::PointSet<T, Dim, Memory>> sources = {},
                                              receivers = {};  ///< one for each device
  std::vector<wave::PointSeries<T, Memory>> gathers = {};      ///< one for each device
  std::vector<StreamShot<T, Dim, Memory>> shots = {};          ///< one for each device
  wave::Traces<T> rows = {};                                   ///< rows of the gather
  StreamRunOptions<T> run = {};
};
/// \endcond

template <class T, int Dim, class Memory>
StreamShape Streaming<T, Dim, Memory>::shape_for(const StreamShotOptions<Dim>& options,
                                                 std::int64_t first) const {
  StreamShape shape = m_plan.shape;
  shape.first = first;
  if (!options.box || m_whole) return shape;
  const Schedule schedule(shape);
  const int last = shape.devices - 1;
  PlaneRange before{};
  for (std::int64_t s = 0; s < schedule.sweeps(); ++s) {
    const std::int64_t end = schedule.first_level(s, last) + schedule.updates(s, last);
    // and the adjacent planes that steps and receivers read, where waves are at rest
    const std::int64_t around = shape.beyond();
    PlaneRange planes = planes_of(options.box(end - 1));
    planes = intersection(PlaneRange{planes.begin - around, planes.end + around},
                          PlaneRange{0, shape.planes});
    if (s > 0) planes = {std::min(planes.begin, before.begin), std::max(planes.end, before.end)};
    shape.ranges.push_back(planes);
    before = planes;
  }
  return shape;
}

template <class T, int Dim, class Memory>
std::vector<StreamShotResult<T>> Streaming<T, Dim, Memory>::shots(
    const std::vector<wave::Shot<Dim>>& shots, const std::vector<StreamShotOptions<Dim>>& options,
    const StreamSnapshots<T>& snapshots) {
  if (shots.empty() || static_cast<int>(shots.size()) > chains() ||
      options.size() != shots.size()) {
    throw InputError(concat("shots: there are ", shots.size(), " with ", options.size(),
                            " options (allowed: 1 to ", chains(),
                            ", one for each chain of this process, and as many options)"));
  }
  if (snapshots.every > 0 && !m_cut) {
    throw InputError("snapshots: planes are at different times (allowed: none, or slabs)");
  }
  std::vector<StreamShotResult<T>> results;
  if (m_idle) {
    results.resize(shots.size());
    return results;
  }
  prepare(options.front().box);
  if (m_cut) follow(options.front().box);
  std::vector<std::unique_ptr<Run>> runs;
  for (std::size_t k = 0; k < shots.size(); ++k) runs.push_back(begin(k, shots[k], options[k]));
  execute(runs, snapshots);
  for (auto& run : runs) {
    if (run->result.report.bad != BadValue::none) watch(run);
    end(*run);
    results.push_back(std::move(run->result));
    run.reset();  // frees its series
  }
  return results;
}

template <class T, int Dim, class Memory>
std::unique_ptr<typename Streaming<T, Dim, Memory>::Run> Streaming<T, Dim, Memory>::begin(
    std::size_t chain, const wave::Shot<Dim>& shot, const StreamShotOptions<Dim>& options,
    bool watched) {
  auto run = std::unique_ptr<Run>(new Run{chain, shot, options});
  run->watched = watched;
  HostVolume<T, Dim>* const volume = this->volume(chain);
  if (volume != nullptr && volume->in_file() && m_options.resume && !m_resumed &&
      volume->level() > 0) {
    run->first = volume->level();
    run->complete = run->first >= m_sampling.steps;
    volume->clear_next();
  } else if (volume != nullptr) {
    volume->clear();
  } else if (m_whole) {
    m_chains[chain].front()->clear();
  }
  m_resumed = true;
  run->rows = allocate<wave::Traces<T>>(detail::host_instance(), "moho::stream::rows",
                                        m_sampling.rows, shot.receivers.size());
  std::fill_n(run->rows.data(), run->rows.size(), T(0));
  if (run->first > 0) {
    const auto kept = volume->records();
    for (std::size_t row = 0; row < run->rows.extent(0); ++row) {
      for (std::size_t r = 0; r < run->rows.extent(1); ++r) run->rows(row, r) = kept(row, r);
    }
  }
  if (run->complete) return run;
  run->schedule =
      std::make_unique<Schedule>(m_cut ? m_schedule->shape() : shape_for(options, run->first));
  begin_devices(*run);
  run->run.staged = !m_locked;
  if (!watched) run->run.timeline = options.timeline;
  run->run.progress = options.progress;
  if (volume != nullptr && volume->in_file() && !watched) {
    run->run.stored = [this, volume, now = run.get()](std::int64_t sweep) {
      keep(*now, sweep);
      const auto kept = volume->records();
      for (std::size_t row = 0; row < now->rows.extent(0); ++row) {
        for (std::size_t r = 0; r < now->rows.extent(1); ++r) kept(row, r) = now->rows(row, r);
      }
    };
  }
  return run;
}

// Repeats a shot whose wavefield overflowed, from rest, to find the first step and node.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::watch(std::unique_ptr<Run>& run) {
  std::vector<std::unique_ptr<Run>> again;
  again.push_back(begin(run->chain, run->shot, run->options, true));
  execute(again);
  // a file with such values is not a valid state to continue
  if (HostVolume<T, Dim>* const held = volume(run->chain)) held->clear();
  if (again.front()->result.report.bad != BadValue::none) run = std::move(again.front());
}

// Creates points and series on each device.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::begin_devices(Run& run) {
  const std::size_t count = m_cut ? m_slabs->count() : m_chains[run.chain].size();
  run.sources.reserve(count);
  run.receivers.reserve(count);
  for (std::size_t g = 0; g < count; ++g) {
    const Instance<Memory>& exec = m_cut ? m_instances[g] : instance(run.chain, g);
    const Scheme& scheme = m_cut ? *m_schemes[g] : this->scheme(run.chain, g);
    wave::detail::with_argument("sources", [&] {
      run.sources.emplace_back(exec, scheme.grid(), scheme.layout(), run.shot.sources,
                               wave::point_options(scheme, "source", true));
    });
    wave::detail::with_argument("receivers", [&] {
      run.receivers.emplace_back(exec, scheme.grid(), scheme.layout(), run.shot.receivers,
                                 wave::point_options(scheme, "receiver", false));
    });
    run.gathers.push_back(allocate<wave::PointSeries<T, Memory>>(
        exec, "moho::stream::gather", m_sampling.rows, run.receivers[g].count()));
    if (run.gathers[g].size() > 0) fill(exec, run.gathers[g], T(0));
    StreamShot<T, Dim, Memory> one;
    one.sources = &run.sources[g];
    one.receivers = &run.receivers[g];
    one.source_planes = detail::planes_of_points(m_modelling.grid, run.shot.sources,
                                                 wave::PointOptions<Dim>().radius);
    one.amplitudes = wave::wavelet_series<T, Memory>(exec, m_modelling.wavelet, m_sampling.steps,
                                                     run.sources[g].count());
    for (int f = 0; f < m_shape->fields && !m_whole && !m_cut; ++f) {
      wave::Storage<const T, Memory> factors;
      if (const HostVolume<T, Dim>* const held = volume(run.chain)) {
        factors = held->source_factors(exec, run.sources[g], f);
      }
      one.factors[f] = m_ranks ? share_factors<T, Memory>(*m_ranks, exec, factors) : factors;
    }
    if (m_shape->pressure_factors && !m_whole && !m_cut) {
      wave::Storage<const T, Memory> factors;
      if (const HostVolume<T, Dim>* const held = volume(run.chain)) {
        factors = run.receivers[g].point_factors(exec, m_shape->layout, held->pressure_factors());
      }
      one.pressure = m_ranks ? share_factors<T, Memory>(*m_ranks, exec, factors) : factors;
    }
    one.factor = wave::kernel::source_factor<T>(scheme.grid());
    one.every = m_sampling.every;
    one.rows = m_sampling.rows;
    one.gather = run.gathers[g];
    one.box = run.options.box;
    one.watched = run.watched;
    run.shots.push_back(one);
    if (!m_cut) m_chains[run.chain][g]->begin(*run.schedule, one);
  }
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::execute(std::vector<std::unique_ptr<Run>>& runs,
                                        const StreamSnapshots<T>& snapshots) {
  if (m_cut) return execute_slabs(*runs.front(), snapshots);
  if (m_ranks) return execute_ranks(*runs.front());
  std::vector<StreamLane<T, Dim, Memory>> lanes;
  std::vector<StreamRunOptions<T>> options;
  for (const auto& run : runs) {
    if (run->complete) continue;
    lanes.push_back({run->schedule.get(), &m_chains[run->chain], volume(run->chain)});
    options.push_back(run->run);
  }
  const std::vector<StreamReport> reports = run_chains<T, Dim, Memory>(lanes, options);
  auto report = reports.begin();
  for (const auto& run : runs) {
    if (run->complete) continue;
    run->result.report = *report++;
    for (std::int64_t s = 0; s < run->schedule->sweeps() && !run->run.stored; ++s) keep(*run, s);
  }
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::execute_slabs(Run& run, const StreamSnapshots<T>& snapshots) {
  StreamReport& report = run.result.report;
  m_slabs->begin(run.shots);
  const auto start = std::chrono::steady_clock::now();
  StreamSnapshots<T> taken = snapshots;
  taken.last = m_modelling.time.steps;
  report.points = m_slabs->run(m_sampling.steps, run.options.progress, interior(), taken);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.result.waited = m_slabs->seconds_waited();
  report.seconds = std::max(report.seconds - run.result.waited, 0.0);
  report.bad = m_slabs->bad();
  if (!m_boxes.empty() && report.seconds > 0.0) {
    m_slab_rate = detail::work_of(m_parts, m_boxes).steps / report.seconds;
  }
  run.result.slab_planes = detail::plane_counts(m_parts);
  run.result.exchange = m_slabs->exchange();
  // the device that steps a receiver's last plane records it
  const auto& receivers = run.receivers.front();
  const auto count = static_cast<std::size_t>(receivers.count());
  const auto keep_own = [&](const std::vector<T>& part, const PlaneRange& own) {
    for (std::size_t r = 0; r < count; ++r) {
      if (!own.contains(receivers.last_plane(r))) continue;
      for (std::size_t i = r; i < part.size(); i += count) run.rows.data()[i] = part[i];
    }
  };
  for (std::size_t g = 0; g < m_slabs->count() && run.rows.size() > 0; ++g) {
    keep_own(download(m_instances[g], run.gathers[g]), m_slabs->planes(g));
  }
  if (!m_ranks) return;
  if (!leads()) report.points = 0.0;
  const std::size_t bytes = run.rows.size() * sizeof(T);
  if (bytes == 0) return;
  if (!leads()) {
    m_ranks->send(run.rows.data(), bytes, 0);
    return m_ranks->wait_sent();
  }
  std::vector<T> part(run.rows.size());
  for (int r = 1; r < m_ranks->size(); ++r) {
    m_ranks->receive(part.data(), bytes, r);
    m_ranks->wait_received();
    keep_own(part, m_parts[static_cast<std::size_t>(r)]);
  }
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::execute_ranks(Run& run) {
  Device& device = *m_chains[run.chain].front();
  run.result.report =
      run_stream_ranks<T, Dim, Memory>(*m_ranks, *run.schedule, device, volume(run.chain), run.run);
  if (run.rows.size() == 0) return;
  // every rank has recorded the rows of its steps
  std::vector<T> mine = download(m_instances.front(), run.gathers.front());
  const std::size_t bytes = mine.size() * sizeof(T);
  if (m_chain_index > 0) {
    m_ranks->send(mine.data(), bytes, 0);
    m_ranks->wait_sent();
    return;
  }
  for (int g = 0; g < m_ranks->size(); ++g) {
    if (g > 0) {
      m_ranks->receive(mine.data(), bytes, g);
      m_ranks->wait_received();
    }
    const std::size_t count = run.rows.extent(1);
    for (std::int64_t s = 0; s < run.schedule->sweeps(); ++s) {
      const auto [begin, end] = rows_of(*run.schedule, s, g);
      if (begin >= end) continue;
      std::copy(mine.data() + begin * count, mine.data() + end * count,
                run.rows.data() + begin * count);
    }
  }
}

// Returns the rows of a gather that a device records in a sweep.
template <class T, int Dim, class Memory>
std::pair<std::size_t, std::size_t> Streaming<T, Dim, Memory>::rows_of(const Schedule& schedule,
                                                                       std::int64_t sweep,
                                                                       int device) const {
  const std::int64_t level = schedule.first_level(sweep, device);
  const std::int64_t done = level + schedule.updates(sweep, device);
  return {static_cast<std::size_t>(level / m_sampling.every + 1),
          static_cast<std::size_t>(std::min(done / m_sampling.every + 1, m_sampling.rows))};
}

// Copies the rows of all devices of this process to the gather.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::keep(Run& run, std::int64_t sweep) const {
  for (std::size_t g = 0; g < run.gathers.size() && run.rows.extent(1) > 0; ++g) {
    const auto range = rows_of(*run.schedule, sweep, static_cast<int>(g));
    if (range.first >= range.second) continue;
    const Instance<Memory>& exec = m_chains[run.chain][g]->storing();
    copy(exec, Kokkos::subview(run.rows, range, Kokkos::ALL),
         Kokkos::subview(run.gathers[g], range, Kokkos::ALL));
    exec.fence();
  }
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::end(Run& run) {
  StreamShotResult<T>& result = run.result;
  result.interval = m_sampling.interval;
  result.steps = m_level = m_sampling.steps;
  if (!leads()) return;
  if (result.report.bad != BadValue::none) {
    const Grid<Dim>& grid = m_modelling.grid;
    const BadValue value = BadValue::of(result.report.bad, grid.size());
    throw wave::not_finite(grid, value.node, value.level, value.field)
        .with_context(concat("shot ", run.shot.number));
  }
  result.traces = wave::traces_of_rows<T>(run.rows, m_sampling, m_modelling.time.dt);
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::copy_pressure(const Box<Dim>& box, T* values, int chain) const {
  copy_out(0, box, values, chain);
  if (!m_shape->pressure_factors) return;
  const auto at = static_cast<std::size_t>(chain);
  const auto multiply = [&](const wave::Layout<Dim>& layout, const T* factors,
                            const PlaneRange& planes) {
    for (std::int64_t n = 0; n < box.size(); ++n) {
      const Index<Dim> node = box.node(n);
      if (planes.contains(node[0])) values[n] *= factors[layout.flat(node)];
    }
  };
  if (const HostVolume<T, Dim>* const held = volume(at)) {
    multiply(m_shape->layout, held->pressure_factors().data(), m_shape->layout.window);
  } else if (m_slabs) {
    m_slabs->visit_pressure(multiply);
  } else {
    const auto& medium = m_chains[at].front()->ring().whole_medium();
    multiply(medium.layout(), download(instance(at, 0), medium.pressure_factors()).data(),
             medium.layout().window);
  }
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::copy_out(int field, const Box<Dim>& box, T* values,
                                         int chain) const {
  const auto at = static_cast<std::size_t>(chain);
  if (const HostVolume<T, Dim>* const held = volume(at)) {
    return held->copy_out(field, box, values);
  }
  if (m_slabs) return m_slabs->copy_out(field, box, values);
  const wave::Layout<Dim> layout = m_schemes.front()->layout();
  const auto& array = m_chains[at].front()->ring().field(static_cast<int>(m_level & 1), field);
  const std::vector<T> padded = download(instance(at, 0), array);
  for (std::int64_t n = 0; n < box.size(); ++n) {
    values[n] = padded[static_cast<std::size_t>(layout.flat(box.node(n)))];
  }
}

}  // namespace moho::stream
