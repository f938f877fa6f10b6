// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of ReversedPair (internal). Included by reversed_pair.hpp.

#include <moho/core/instances.hpp>
#include <moho/stream/reversed_pair.hpp>

namespace moho::stream {

template <class T, int Dim, class Memory>
ReversedPair<T, Dim, Memory>::ReversedPair(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                           const HostModel& model,
                                           const std::vector<wave::Shot<Dim>>& shots,
                                           const ReversedPairOptions<Dim>& options,
                                           const PairActions<T, Dim, Memory>& actions)
    : m_grid(grid), m_options(options), m_make(actions) {
  const Instance<Host> host = detail::host_instance();
  wave::check_model<T, Dim, Host>(host, grid, model);
  m_instances = instances_on_devices(exec, options.wishes.devices);
  m_first.options = m_source.options = options.propagator;
  m_first.random = options.random;
  m_source.options.boundaries = options.source_faces;
  m_source.options.frequency = 0.0;  // random layers are slower than the grid carries well
  m_model = model;
  check();
  make_side(m_first, model, shots);
  make_side(m_source, model, shots);
  m_action = m_make.need(*m_first.schemes.front());
  moho::Points<Dim> receivers;
  for (const wave::Shot<Dim>& shot : shots) {
    m_max_receivers = std::max(m_max_receivers, static_cast<std::int64_t>(shot.receivers.size()));
    receivers.insert(receivers.end(), shot.receivers.begin(), shot.receivers.end());
  }
  if (!m_action.injects) {
    const PlaneRange planes =
        detail::planes_of_points(m_first.grid, receivers, wave::PointOptions<Dim>().radius);
    PlaneRange& all = m_first.sources;
    all = all.empty()
              ? planes
              : PlaneRange{std::min(all.begin, planes.begin), std::max(all.end, planes.end)};
  }
  make_need(shots);
  m_rates = options.rates;
  StreamRequest wishes = options.wishes;
  if constexpr (!is_host_memory<Memory>) {
    wishes.device_memory = detail::allowed_device_memory(m_instances, wishes.device_memory);
  }
  if (options.measure) {
    measure(wishes);
  } else if (m_rates.single.slabs.empty()) {
    m_rates.single = m_rates.both;
  }
  const std::size_t available = memory_budget(host, options.memory);
  const auto plan = [&] {
    m_plan = plan_stream(m_need, wishes, m_rates.both);
    m_plan.host_bytes += m_action.host_bytes;
    // rings of hosts are in the same memory as the volumes
    const auto devices =
        static_cast<std::size_t>(is_host_memory<Memory> ? m_plan.shape.devices : 0);
    return m_plan.device_bytes * devices;
  };
  std::size_t rings = plan();
  const std::size_t others = m_plan.host_bytes + options.reserved;
  if (rings > 0 && wishes.device_memory == 0 && others < available && others + rings > available) {
    const auto devices = static_cast<std::size_t>(m_plan.shape.devices);
    wishes.device_memory = (available - others) / devices;
    try {
      rings = plan();
    } catch (const MemoryError&) {  // no smaller rings: refused below
    }
  }
  if (m_plan.host_bytes + rings > available) {
    const auto bytes = [](std::size_t n) { return format_bytes(static_cast<double>(n)); };
    throw MemoryError(concat(
        "memory: the volumes of both wavefields take ", bytes(m_plan.host_bytes), " on the host",
        rings > 0 ? concat(", and rings of planes ", bytes(rings)) : "",
        " (allowed: ", bytes(available), options.memory > 0 ? ", as asked" : ", what is free",
        "): take fewer nodes,", rings > 0 ? " smaller rings," : "", " or more memory"));
  }
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::check() const {
  const ReversedPairOptions<Dim>& o = m_options;
  if (o.interval < 1 || o.steps < o.interval) {
    throw InputError(concat("steps is ", o.steps, ", interval is ", o.interval,
                            " (allowed: interval from 1 to the steps)"));
  }
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {o.source_faces.lower[d], o.source_faces.upper[d]}) {
      if (face.kind == wave::FaceKind::sponge || face.kind == wave::FaceKind::cpml) {
        throw InputError(concat("source_faces: a face is '", wave::to_string(face.kind),
                                "' (allowed: random, rigid and free faces): waves do not come back "
                                "from absorbing ones"));
      }
    }
  }
}

// Grid, schemes, and how its volume lies.
template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::make_side(Side& side, const HostModel& model,
                                             const std::vector<wave::Shot<Dim>>& shots) {
  side.grid = wave::extended_grid(m_grid, side.options.boundaries);
  const wave::Limits limits = detail::stepped_limits<T, Dim>(
      detail::host_instance(), m_grid, model, side.options.boundaries, side.random, side.options);
  for (const Instance<Memory>& exec : m_instances) {
    side.schemes.push_back(
        std::make_unique<Scheme>(exec, side.grid, model.medium(), limits, side.options));
    exec.fence();
  }
  side.shape = std::make_unique<VolumeShape<T, Dim>>(*side.schemes.front());
  moho::Points<Dim> sources;
  for (const wave::Shot<Dim>& shot : shots) {
    sources.insert(sources.end(), shot.sources.begin(), shot.sources.end());
    const std::string of = shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    const Box<Dim> inside = side.schemes.front()->interior();
    wave::detail::with_argument(
        "sources", [&] { check_positions(side.grid, shot.sources, of + "source", inside); });
    wave::detail::with_argument(
        "receivers", [&] { check_positions(side.grid, shot.receivers, of + "receiver", inside); });
  }
  side.sources = detail::planes_of_points(side.grid, sources, wave::PointOptions<Dim>().radius);
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::make_need(const std::vector<wave::Shot<Dim>>& shots) {
  const Scheme& scheme = *m_first.schemes.front();
  const Scheme& source_scheme = *m_source.schemes.front();
  m_need = detail::stream_need<T, Dim, Memory>(scheme, *m_first.shape, shots);
  StreamRequirements source =
      detail::stream_need<T, Dim, Memory>(source_scheme, *m_source.shape, shots);
  const Box<Dim> box = scheme.interior();
  std::vector<StreamShape> shapes{m_need.shape, source.shape};
  shapes[0].steps = shapes[1].steps = m_options.steps + m_action.further_steps;
  shapes[0].reach = std::max(shapes[0].reach, static_cast<int>(m_action.reach));
  shapes[0].hold = m_action.hold;
  const std::vector<std::int64_t> zero{box.lower[0], source_scheme.interior().lower[0]};
  run_concurrent_volumes(shapes, zero);
  // the lag is the plan's
  shapes[0].lag = shapes[1].lag = 0;
  m_need.shape = shapes[0];
  source.shape = shapes[1];
  const auto receivers = static_cast<std::size_t>(m_max_receivers);
  const auto sources = static_cast<std::size_t>(detail::max_sources(shots));
  std::size_t share = 1;
  for (int d = 0; d < Dim; ++d)
    share *= 2 * static_cast<std::size_t>(wave::PointOptions<Dim>().radius);
  // receivers also inject; the gather if data are modelled, and the series; sources on both sides
  const std::size_t gathers = m_options.models ? 2 : 1;
  m_need.fixed +=
      source.fixed + m_action.fixed_bytes +
      sizeof(T) *
          (receivers * (gathers * static_cast<std::size_t>(m_options.steps + 1) + share * 6) +
           (m_action.sources ? 3 : 2) * sources * m_options.wavelet.size() +
           (m_action.sources ? sources * share * 6 : 0));
  source.fixed = 0;
  // volumes are loaded, and the owner works, with rings in place
  using Volume = HostVolume<T, Dim>;
  m_need.fixed += std::max(
      {Volume::load_bytes(scheme), Volume::load_bytes(source_scheme), m_action.idle_bytes});
  m_need.others.push_back(source);
  m_need.sums = m_action.sums;
  m_need.sum_planes = box.extent(0);
  m_need.sum_elements = box.size() / box.extent(0);
  m_need.window_arrays = m_action.window_arrays;
  m_need.window_around = m_action.window_around;
  m_need.kept = m_action.kept;
  m_need.action_bytes =
      (m_action.moved_arrays / static_cast<double>(m_options.interval) + m_action.moved_in_steps) *
      static_cast<double>(m_need.sum_elements) * sizeof(T);
}

template <class T, int Dim, class Memory>
double ReversedPair<T, Dim, Memory>::seconds() const {
  const StreamRates& rates = m_rates.both;
  double sum = m_plan.forecast.seconds;
  // before the runs: the parameters behind the source's layers
  const auto part = [](double amount, double rate) { return rate > 0.0 ? amount / rate : 0.0; };
  sum += part(static_cast<double>(m_source.grid.size()), rates.load);
  // after them: sums that were held on the device
  if (m_plan.sums_held) {
    const double sums = static_cast<double>(m_need.sums) *
                        static_cast<double>(m_need.sum_elements * m_need.sum_planes);
    sum += part(sums * sizeof(T), rates.out);
  }
  // traces come to the host and go back
  const double traces =
      static_cast<double>(m_max_receivers) * static_cast<double>(m_options.steps + 1) * sizeof(T);
  sum += (m_options.models ? part(traces, rates.out) : 0.0) + part(traces, rates.in);
  sum += m_options.models ? model_seconds() : 0.0;
  return sum + forward_seconds(m_need.others.front());
}

// Returns the estimated seconds of one volume alone.
template <class T, int Dim, class Memory>
double ReversedPair<T, Dim, Memory>::forward_seconds(const StreamRequirements& volume) const {
  StreamRequirements alone = volume;
  alone.others.clear();
  alone.sums = 0;
  alone.action_bytes = 0.0;
  StreamShape shape = m_plan.shape;
  shape.steps = m_options.steps;
  shape.planes = alone.shape.planes;
  shape.before = shape.trailing = alone.shape.before = alone.shape.trailing = 0;
  return forecast(alone, shape, m_plan.resident, m_rates.single).seconds;
}

template <class T, int Dim, class Memory>
std::size_t ReversedPair<T, Dim, Memory>::device_bytes() const {
  if (m_first.chain.empty()) return 0;
  return m_first.chain.front()->ring().bytes() + m_source.chain.front()->ring().bytes() +
         m_actions.front()->bytes();
}

// Allocates volumes, rings and actions.
template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::prepare() {
  if (m_prepared) return;
  m_actions.clear();  // of an attempt that failed
  for (Side* side : {&m_first, &m_source}) {
    side->chain.clear();
    side->schedule.reset();
    side->lock.release();
    side->volume.reset();
  }
  const Box<Dim> box = m_first.schemes.front()->interior();
  m_first.shape->sums = {m_need.sums, planes_of(box), m_need.sum_elements, m_plan.sums_held};
  for (Side* side : {&m_first, &m_source}) {
    VolumeOptions volume;
    volume.sources = side->sources;
    if (side == &m_first) {
      volume.sums = m_need.sums;
      volume.sum_planes = planes_of(box);
      volume.sum_plane_size = m_need.sum_elements;
    }
    side->volume = std::make_unique<HostVolume<T, Dim>>(*side->schemes.front(), volume);
    m_locked = side->volume->lock(side->lock) && m_locked;
    StreamShape shape = m_plan.shape;
    if (side == &m_source) {
      const StreamShape& own = m_need.others.front().shape;
      shape.planes = own.planes;
      shape.before = own.before;
      shape.trailing = own.trailing;
    }
    side->schedule = std::make_unique<Schedule>(shape);
    for (std::size_t g = 0; g < static_cast<std::size_t>(shape.devices); ++g) {
      side->chain.push_back(std::make_unique<Pipeline<T, Dim, Memory>>(
          m_instances[g], *side->schemes[g], *side->shape, *side->schedule, static_cast<int>(g),
          m_plan.resident));
    }
  }
  for (std::size_t g = 0; g < m_first.chain.size(); ++g) {
    m_actions.push_back(m_make.make({*m_first.chain[g], *m_first.schemes[g], *m_source.chain[g],
                                     *m_source.schemes[g], m_options.steps, m_options.interval,
                                     std::min(m_plan.shape.block, m_need.shape.planes),
                                     *m_first.schedule, m_need}));
  }
  const std::size_t devices = m_actions.size();
  for (std::size_t g = 0; g < devices && devices > 1; ++g) {
    m_actions[g]->follow(*m_actions[(g + devices - 1) % devices]);
  }
  m_prepared = true;
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::load(Side& side) {
  side.volume->load(m_instances.front(), *side.schemes.front(), m_grid, m_model, side.random);
  for (const auto& device : side.chain) device->load_parameters(side.volume->parameters());
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::update(const HostModel& model) {
  const Instance<Host> host = detail::host_instance();
  wave::check_model<T, Dim, Host>(host, m_grid, model);
  if (model.medium() != m_model.medium()) {
    throw InputError(concat("model: its parameters are those of a medium '",
                            wave::to_string(model.medium()), "' (allowed: '",
                            wave::to_string(m_model.medium()),
                            "', that of the first): give the model of the same kind"));
  }
  const wave::PropagatorOptions<Dim>& o = m_first.options;
  wave::check_dt(
      o.dt, detail::stepped_limits<T, Dim>(host, m_grid, model, o.boundaries, m_first.random, o));
  const bool fresh = !m_prepared;
  prepare();
  m_model = model;
  load(m_first);
  if (fresh) clear();
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::clear() {
  if (!m_prepared) return;
  m_first.volume->clear_sums();
  for (const auto& device : m_first.chain) device->clear_sums();
}

template <class T, int Dim, class Memory>
std::vector<typename ReversedPair<T, Dim, Memory>::Points> ReversedPair<T, Dim, Memory>::points_of(
    const Side& side, const moho::Points<Dim>& positions, const std::string& name) const {
  std::vector<Points> result;
  for (std::size_t g = 0; g < side.chain.size(); ++g) {
    result.emplace_back(m_instances[g], side.grid, side.schemes[g]->layout(), positions,
                        wave::point_options(*side.schemes[g], name, true));
  }
  return result;
}

template <class T, int Dim, class Memory>
StreamRunOptions<T> ReversedPair<T, Dim, Memory>::run_options(
    int propagation, const PairShotOptions& options) const {
  StreamRunOptions<T> run;
  run.staged = !m_locked;
  if (propagation == 2) run.timeline = options.timeline;
  if (options.progress) {
    const auto progress = options.progress;
    run.progress = [progress, propagation](const wave::ShotProgress& now) {
      progress(propagation, now);
    };
  }
  return run;
}

template <class T, int Dim, class Memory>
void ReversedPair<T, Dim, Memory>::check_finite(const Side& side, const char* context) {
  std::int64_t min = BadValue::none;
  for (const auto& device : side.chain) min = std::min(min, device->bad());
  if (min == BadValue::none) return;
  const auto bad = BadValue::of(min, side.grid.size());
  throw wave::not_finite(side.grid, bad.node, bad.level, bad.field).with_context(context);
}

// Returns a shot whose points inject their amplitudes.
template <class T, int Dim, class Memory>
StreamShot<T, Dim, Memory> ReversedPair<T, Dim, Memory>::injection(
    Side& side, std::size_t g, const Points& points,
    const wave::PointSeries<const T, Memory>& amplitudes) const {
  StreamShot<T, Dim, Memory> shot;
  shot.sources = &points;
  shot.amplitudes = amplitudes;
  for (int f = 0; f < side.shape->fields; ++f) {
    shot.factors[f] = side.volume->source_factors(m_instances[g], points, f);
  }
  shot.factor = wave::kernel::source_factor<T>(side.grid);
  return shot;
}

// Returns the source terms of a side.
template <class T, int Dim, class Memory>
StreamShot<T, Dim, Memory> ReversedPair<T, Dim, Memory>::sources_of(Side& side, std::size_t g,
                                                                    const Points& points) const {
  return injection(side, g, points,
                   wave::wavelet_series<T, Memory>(
                       m_instances[g], m_options.wavelet,
                       static_cast<std::int64_t>(m_options.wavelet.size()), points.count()));
}

// Propagates forward from rest. `rows`: traces, (steps + 1) x receivers, or empty.
template <class T, int Dim, class Memory>
StreamReport ReversedPair<T, Dim, Memory>::forward(Side& side, const std::vector<Points>& sources,
                                                   const std::vector<Points>* receivers,
                                                   std::int64_t steps, const wave::Traces<T>& rows,
                                                   int propagation,
                                                   const PairShotOptions& options) {
  side.volume->begin_at_rest();
  StreamShape shape = side.schedule->shape();
  shape.before = shape.trailing = 0;
  shape.steps = steps;
  const Schedule schedule(shape);
  std::vector<Series> gathers;
  std::vector<StreamShot<T, Dim, Memory>> shots;
  for (std::size_t g = 0; g < side.chain.size(); ++g) {
    StreamShot<T, Dim, Memory>& shot = shots.emplace_back(sources_of(side, g, sources[g]));
    if (receivers != nullptr && rows.size() > 0) {
      gathers.push_back(allocate<Series>(m_instances[g], "moho::stream::modelled", rows.extent(0),
                                         rows.extent(1)));
      fill(m_instances[g], gathers.back(), T(0));
      shot.receivers = &(*receivers)[g];
      if (side.shape->pressure_factors) {
        shot.pressure = shot.receivers->point_factors(m_instances[g], side.shape->layout,
                                                      side.volume->pressure_factors());
      }
      shot.rows = steps + 1;
      shot.gather = gathers.back();
    }
    side.chain[g]->begin(schedule, shot);
  }
  const auto run = [&] {
    return run_stream<T, Dim, Memory>(schedule, side.chain, side.volume.get(),
                                      run_options(propagation, options));
  };
  const auto report = run();
  if (report.bad != BadValue::none) {
    // repeats the run to find the first step
    side.volume->begin_at_rest();
    for (std::size_t g = 0; g < side.chain.size(); ++g) {
      shots[g].watched = true;
      side.chain[g]->begin(schedule, shots[g]);
    }
    run();
    check_finite(side, propagation == 0 ? "forward leg" : "leg of the source");
  }
  // rows by the device that recorded them; row 0 has no samples
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = T(0);
  for (std::size_t g = 0; g < gathers.size(); ++g) {
    const std::vector<T> all = download(m_instances[g], gathers[g]);
    for (std::int64_t s = 0; s < schedule.sweeps(); ++s) {
      const std::int64_t begin = schedule.first_level(s, static_cast<int>(g)) + 1;
      const std::int64_t end = begin + schedule.updates(s, static_cast<int>(g));
      const auto first = static_cast<std::size_t>(begin) * rows.extent(1);
      const auto last = static_cast<std::size_t>(std::max(begin, end)) * rows.extent(1);
      for (std::size_t i = first; i < last; ++i) rows.data()[i] = all[i];
    }
  }
  return report;
}

template <class T, int Dim, class Memory>
StreamReport ReversedPair<T, Dim, Memory>::model_shot(const wave::Shot<Dim>& shot,
                                                      const wave::Traces<T>& rows,
                                                      const PairShotOptions& options) {
  if (!m_prepared) {
    throw InputError("model: there is no model (allowed: after update()): call it before");
  }
  const auto sources = points_of(m_first, shot.sources, options.prefix + "source");
  const auto receivers = points_of(m_first, shot.receivers, options.prefix + "receiver");
  return forward(m_first, sources, &receivers, m_options.steps, rows, 0, options);
}

template <class T, int Dim, class Memory>
PairReport ReversedPair<T, Dim, Memory>::run(const wave::Shot<Dim>& shot,
                                             const wave::RandomLayerOptions& random,
                                             const Series& series, const PairShotOptions& options) {
  if (!m_prepared) {
    throw InputError("run: there is no model (allowed: after update()): call it before");
  }
  PairReport report;
  const auto receivers = points_of(m_first, shot.receivers, options.prefix + "receiver");
  m_source.random = random;
  load(m_source);
  const auto sources = points_of(m_source, shot.sources, options.prefix + "source");
  report.forward = forward(m_source, sources, nullptr, last_action(), {}, 1, options);
  report.backward = backward(shot, sources, receivers, series, options);
  return report;
}

// Both backward: time t of the stream is time steps - t.
template <class T, int Dim, class Memory>
StreamReport ReversedPair<T, Dim, Memory>::backward(const wave::Shot<Dim>& shot,
                                                    const std::vector<Points>& sources,
                                                    const std::vector<Points>& receivers,
                                                    const Series& series,
                                                    const PairShotOptions& options) {
  const std::int64_t steps = m_options.steps;
  m_source.volume->reverse(steps);
  m_first.volume->begin_at_rest();
  std::vector<Series> rows{series};
  for (std::size_t g = 1; g < m_first.chain.size(); ++g) {
    const std::vector<T> values = download(m_instances.front(), series);
    rows.push_back(allocate<Series>(m_instances[g], "moho::stream::series", series.extent(0),
                                    series.extent(1)));
    copy(m_instances[g], wave::Storage<T, Memory>(rows[g].data(), values.size()),
         HostElements<const T>(values.data(), values.size()));
    m_instances[g].fence();
  }
  std::vector<Points> on_first;  // sources on the grid of the first wavefield
  if (m_action.sources) on_first = points_of(m_first, shot.sources, options.prefix + "source");
  if (m_action.shot_sums > 0) {
    m_first.volume->clear_sums(m_action.first_shot_sum, m_action.shot_sums);
    for (const auto& device : m_first.chain) {
      device->clear_sums(m_action.first_shot_sum, m_action.shot_sums);
    }
  }
  for (std::size_t g = 0; g < m_first.chain.size(); ++g) {
    PairAction<T, Dim, Memory>& action = *m_actions[g];
    action.begin(receivers[g], rows[g]);
    if (m_action.sources) {
      action.begin_sources(on_first[g], sources_of(m_first, g, on_first[g]).amplitudes);
    }
    if (m_first.shape->pressure_factors) {
      const auto pressure = [&](const Points& points) {
        return points.node_factors(m_instances[g], m_first.shape->layout,
                                   m_first.volume->pressure_factors());
      };
      action.begin_pressure(pressure(receivers[g]), m_action.sources
                                                        ? pressure(on_first[g])
                                                        : wave::Storage<const T, Memory>());
    }
    StreamShot<T, Dim, Memory> first;
    if (m_action.injects) {
      first.stepped = [&action](const RingPiece& piece, std::int64_t level) {
        action.inject(piece, level);
      };
    } else {
      first = injection(m_first, g, receivers[g], rows[g]);
      first.last_row = steps;
    }
    first.sums = true;
    m_first.chain[g]->begin(*m_first.schedule, first);
    StreamShot<T, Dim, Memory> source = sources_of(m_source, g, sources[g]);
    source.still = steps - last_action() + 1;
    source.last_row = steps;
    m_source.chain[g]->begin(*m_source.schedule, source);
  }
  std::vector<StreamLane<T, Dim, Memory>> lanes(2);
  std::size_t k = 0;
  for (Side* side : {&m_first, &m_source}) {
    lanes[k].schedule = side->schedule.get();
    lanes[k].chain = &side->chain;
    lanes[k].volume = side->volume.get();
    ++k;
  }
  const StreamReport report = run_lanes<T, Dim, Memory>(
      lanes, run_options(2, options),
      [this](std::size_t g, const StreamStage& stage) { m_actions[g]->add(stage); });
  // what is not finite is seen when planes leave, some steps after the first one
  check_finite(m_first, "backward leg, at the end of a pass");
  check_finite(m_source, "source's leg back, at the end of a pass");
  for (const auto& device : m_first.chain) device->keep_sums(m_first.volume->state());
  return report;
}

}  // namespace moho::stream

#include <moho/stream/detail/reversed_pair_rates.hpp>

/// \cond
#ifdef MOHO_STREAM_KERNELS
namespace moho::stream {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, ReversedPair)
}  // namespace moho::stream
#endif
/// \endcond
