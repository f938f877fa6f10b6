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
    : m_grid(grid), m_options(options) {
  const Instance<Host> host = stream::detail::host_instance();
  wave::check_model<T, Dim, Host>(host, grid, model);
  m_instances = instances_on_devices(exec, options.wishes.devices);
  m_adjoint.options = m_source.options = options.propagator;
  m_adjoint.random = options.random;
  m_source.options.boundaries = options.source_faces;
  m_source.options.frequency = 0.0;  // random layers are slower than the grid carries well
  m_model = model;
  check();
  make_side(m_adjoint, model, shots);
  make_side(m_source, model, shots);
  for (const wave::Shot<Dim>& shot : shots) {
    m_most_receivers = std::max(m_most_receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  make_need(shots);
  m_rates = options.rates;
  stream::StreamRequest wishes = options.wishes;
  if constexpr (!is_host_memory<Memory>) {
    wishes.device_memory = stream::detail::allowed_device_memory(m_instances, wishes.device_memory);
  }
  if (options.measure) {
    measure(wishes);
  } else {
    m_single = m_rates;
  }
  m_plan = stream::plan_stream(m_need, wishes, m_rates);
  // the model, derivatives by its fields, illumination
  std::size_t fields = 1;
  for (const auto* field : {&m_model.density, &m_model.epsilon, &m_model.delta}) {
    fields += field->data() != nullptr ? 1 : 0;
  }
  m_plan.host_bytes += (2 * fields + 1) * static_cast<std::size_t>(m_grid.size()) * sizeof(T);
  const std::size_t there = memory_budget(host, options.memory);
  if (m_plan.host_bytes > there) {
    throw MemoryError(concat("memory: the volumes of both wavefields take ",
                             format_bytes(static_cast<double>(m_plan.host_bytes)),
                             " on the host (allowed: ", format_bytes(static_cast<double>(there)),
                             options.memory > 0 ? ", as asked" : ", what is free",
                             "): take fewer nodes, or more memory"));
  }
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::check() const {
  const wave::Medium medium = m_model.medium();
  const StreamedGradientOptions<Dim>& o = m_options;
  if (wave::fields_of(medium) == 2 && o.propagator.equations != wave::Equations::self_adjoint) {
    throw InputError(
        "equations: Fletcher's are not self-adjoint, so that their steps have no adjoint among "
        "steps (allowed: the self-adjoint equations): take Equations::self_adjoint");
  }
  if (o.unknowns.anisotropy) {
    throw InputError(
        "unknowns: epsilon and delta in a stream (allowed: vp, and the density): keep it in core");
  }
  if (o.unknowns.density && !wave::info(medium).invertible.has(wave::Parameter::density)) {
    throw InputError(concat("unknowns: the density of a medium '", wave::to_string(medium),
                            "' (allowed: with variable_density): give the model a density"));
  }
  if (o.product_interval < 1 || o.steps < o.product_interval) {
    throw InputError(concat("steps is ", o.steps, ", product_interval is ", o.product_interval,
                            " (allowed: product_interval from 1 to the steps)"));
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
void StreamedGradients<T, Dim, Memory>::make_side(Side& side, const HostModel& model,
                                                  const std::vector<wave::Shot<Dim>>& shots) {
  side.grid = wave::extended_grid(m_grid, side.options.boundaries);
  const wave::Limits limits =
      stream::detail::stepped_limits<T, Dim>(stream::detail::host_instance(), m_grid, model,
                                             side.options.boundaries, side.random, side.options);
  for (const Instance<Memory>& exec : m_instances) {
    side.schemes.push_back(
        std::make_unique<Scheme>(exec, side.grid, model.medium(), limits, side.options));
    exec.fence();
  }
  side.shape = std::make_unique<stream::VolumeShape<T, Dim>>(*side.schemes.front());
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
  side.sources =
      stream::detail::planes_of_points(side.grid, sources, wave::PointOptions<Dim>().radius);
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::make_need(const std::vector<wave::Shot<Dim>>& shots) {
  m_need = stream::detail::stream_need<T, Dim, Memory>(*m_adjoint.schemes.front(), *m_adjoint.shape,
                                                       shots);
  stream::StreamRequirements source = stream::detail::stream_need<T, Dim, Memory>(
      *m_source.schemes.front(), *m_source.shape, shots);
  const Box<Dim> box = m_adjoint.schemes.front()->interior();
  std::vector<stream::StreamShape> shapes{m_need.shape, source.shape};
  shapes[0].steps = shapes[1].steps = m_options.steps;
  const std::vector<std::int64_t> zero{box.lower[0], m_source.schemes.front()->interior().lower[0]};
  stream::run_concurrent_volumes(shapes, zero);
  // the lag is the plan's
  shapes[0].lag = shapes[1].lag = 0;
  m_need.shape = shapes[0];
  source.shape = shapes[1];
  const auto receivers = static_cast<std::size_t>(m_most_receivers);
  const auto sources = static_cast<std::size_t>(stream::detail::most_sources(shots));
  std::size_t share = 1;
  for (int d = 0; d < Dim; ++d)
    share *= 2 * static_cast<std::size_t>(wave::PointOptions<Dim>().radius);
  // receivers also inject; gather and derivatives; sources on both sides
  m_need.fixed +=
      source.fixed +
      sizeof(T) * (receivers * (2 * static_cast<std::size_t>(m_options.steps + 1) + share * 6) +
                   2 * sources * m_options.wavelet.size());
  source.fixed = 0;
  // volumes are loaded, and derivatives made, with rings in place
  using Volume = stream::HostVolume<T, Dim>;
  const Grid<Dim>& grid = m_grid;
  const std::int64_t piece = detail::planes_of_piece(grid) * (grid.size() / grid.extents[0]);
  m_need.fixed += std::max(
      {Volume::load_bytes(*m_adjoint.schemes.front()),
       Volume::load_bytes(*m_source.schemes.front()),
       (m_options.unknowns.density ? 8 : 4) * static_cast<std::size_t>(piece) * sizeof(T)});
  m_need.beside.push_back(source);
  m_need.sums = Products::sum_count(m_options.unknowns);
  m_need.sum_planes = box.extent(0);
  m_need.sum_elements = box.size() / box.extent(0);
  m_need.window_arrays = Products::window_arrays(m_options.unknowns, *m_adjoint.schemes.front());
  m_need.window_around = Products::window_around(*m_adjoint.schemes.front());
  // D nu is written and read; nu and the source wavefield are read; sums are read and written
  const double arrays = 4.0 * m_need.fields + 2.0 * m_need.sums;
  m_need.action_bytes = arrays * static_cast<double>(m_need.sum_elements) * sizeof(T) /
                        static_cast<double>(m_options.product_interval);
}

template <class T, int Dim, class Memory>
double StreamedGradients<T, Dim, Memory>::seconds() const {
  double sum = m_plan.forecast.seconds;
  // before the runs: the parameters behind the source's layers; the adjoint volume is set to rest
  // twice, that of the source once
  const auto part = [](double amount, double rate) { return rate > 0.0 ? amount / rate : 0.0; };
  sum += part(static_cast<double>(m_source.grid.size()), m_rates.load);
  sum += part(2.0 * static_cast<double>(m_adjoint.shape->state_bytes()) +
                  static_cast<double>(m_source.shape->state_bytes()),
              m_rates.clear);
  // after them: sums that were held on the device
  if (m_plan.sums_held) {
    const double sums = static_cast<double>(m_need.sums) *
                        static_cast<double>(m_need.sum_elements * m_need.sum_planes);
    sum += part(sums * sizeof(T), m_rates.out);
  }
  // traces come to the host and go back
  const double traces =
      static_cast<double>(m_most_receivers) * static_cast<double>(m_options.steps + 1) * sizeof(T);
  sum += part(traces, m_rates.out) + part(traces, m_rates.in);
  // forward propagations: one volume each
  stream::StreamRequirements one = m_need;
  one.beside.clear();
  one.sums = 0;
  one.action_bytes = 0.0;
  for (const stream::StreamRequirements& need : {one, m_need.beside.front()}) {
    stream::StreamShape shape = m_plan.shape;
    stream::StreamRequirements alone = need;
    shape.planes = alone.shape.planes;
    shape.before = shape.behind = alone.shape.before = alone.shape.behind = 0;
    sum += stream::forecast(alone, shape, m_plan.resident, m_single).seconds;
  }
  return sum;
}

template <class T, int Dim, class Memory>
std::size_t StreamedGradients<T, Dim, Memory>::device_bytes() const {
  if (m_adjoint.chain.empty()) return 0;
  return m_adjoint.chain.front()->ring().bytes() + m_source.chain.front()->ring().bytes() +
         m_products.front()->bytes();
}

// Allocates volumes, rings and products.
template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::prepare() {
  if (m_prepared) return;
  m_products.clear();  // of an attempt that failed
  for (Side* side : {&m_adjoint, &m_source}) {
    side->chain.clear();
    side->schedule.reset();
    side->lock.release();
    side->volume.reset();
  }
  const Box<Dim> box = m_adjoint.schemes.front()->interior();
  m_adjoint.shape->sums = {m_need.sums, planes_of(box), m_need.sum_elements, m_plan.sums_held};
  for (Side* side : {&m_adjoint, &m_source}) {
    stream::VolumeOptions volume;
    volume.sources = side->sources;
    if (side == &m_adjoint) {
      volume.sums = m_need.sums;
      volume.sum_planes = planes_of(box);
      volume.sum_plane_size = m_need.sum_elements;
    }
    side->volume = std::make_unique<stream::HostVolume<T, Dim>>(*side->schemes.front(), volume);
    m_locked = side->volume->lock(side->lock) && m_locked;
    stream::StreamShape shape = m_plan.shape;
    if (side == &m_source) {
      const stream::StreamShape& own = m_need.beside.front().shape;
      shape.planes = own.planes;
      shape.before = own.before;
      shape.behind = own.behind;
    }
    side->schedule = std::make_unique<stream::Schedule>(shape);
    for (std::size_t g = 0; g < static_cast<std::size_t>(shape.devices); ++g) {
      side->chain.push_back(std::make_unique<Pipeline>(m_instances[g], *side->schemes[g],
                                                       *side->shape, *side->schedule,
                                                       static_cast<int>(g), m_plan.resident));
    }
  }
  for (std::size_t g = 0; g < m_adjoint.chain.size(); ++g) {
    m_products.push_back(std::make_unique<Products>(
        *m_adjoint.chain[g], *m_adjoint.schemes[g], *m_source.chain[g], *m_source.schemes[g],
        m_options.unknowns, m_options.steps, m_options.product_interval,
        std::min(m_plan.shape.block, m_need.shape.planes)));
  }
  m_prepared = true;
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::load(Side& side) {
  side.volume->load(m_instances.front(), *side.schemes.front(), m_grid, m_model, side.random);
  for (const auto& device : side.chain) device->load_parameters(side.volume->parameters());
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::update(const HostModel& model) {
  const Instance<Host> host = stream::detail::host_instance();
  wave::check_model<T, Dim, Host>(host, m_grid, model);
  if (model.medium() != m_model.medium()) {
    throw InputError(concat("model: its parameters are those of a medium '",
                            wave::to_string(model.medium()), "' (allowed: '",
                            wave::to_string(m_model.medium()),
                            "', that of the first): give the model of the same kind"));
  }
  const wave::PropagatorOptions<Dim>& o = m_adjoint.options;
  wave::check_dt(o.dt, stream::detail::stepped_limits<T, Dim>(host, m_grid, model, o.boundaries,
                                                              m_adjoint.random, o));
  const bool fresh = !m_prepared;
  prepare();
  m_model = model;
  load(m_adjoint);
  if (fresh) clear();
}

template <class T, int Dim, class Memory>
void StreamedGradients<T, Dim, Memory>::clear() {
  if (!m_prepared) return;
  m_adjoint.volume->clear_sums();
  for (const auto& device : m_adjoint.chain) device->clear_sums();
}

template <class T, int Dim, class Memory>
std::vector<typename StreamedGradients<T, Dim, Memory>::Points>
StreamedGradients<T, Dim, Memory>::points_of(const Side& side, const moho::Points<Dim>& places,
                                             const std::string& name) const {
  std::vector<Points> result;
  for (std::size_t g = 0; g < side.chain.size(); ++g) {
    result.emplace_back(m_instances[g], side.grid, side.schemes[g]->layout(), places,
                        wave::point_options(*side.schemes[g], name, true));
  }
  return result;
}

template <class T, int Dim, class Memory>
stream::StreamRunOptions<T> StreamedGradients<T, Dim, Memory>::run_options(
    int propagation, const StreamedShotOptions& options) const {
  stream::StreamRunOptions<T> run;
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
void StreamedGradients<T, Dim, Memory>::check_finite(const Side& side, const char* context) {
  std::int64_t least = stream::BadValue::none;
  for (const auto& device : side.chain) least = std::min(least, device->bad());
  if (least == stream::BadValue::none) return;
  const auto bad = stream::BadValue::of(least, side.grid.size());
  throw wave::not_finite(side.grid, bad.node, bad.level, bad.field).with_context(context);
}

// Returns the source terms of a side.
template <class T, int Dim, class Memory>
stream::StreamShot<T, Dim, Memory> StreamedGradients<T, Dim, Memory>::sources_of(
    Side& side, std::size_t g, const Points& points) const {
  stream::StreamShot<T, Dim, Memory> shot;
  shot.sources = &points;
  shot.amplitudes = wave::wavelet_series<T, Memory>(
      m_instances[g], m_options.wavelet, static_cast<std::int64_t>(m_options.wavelet.size()),
      points.count());
  for (int f = 0; f < side.shape->fields; ++f) {
    shot.factors[f] = points.node_factors(m_instances[g], side.volume->source_layout(f),
                                          side.volume->source_scale(f));
  }
  shot.factor = wave::kernel::source_factor<T>(side.grid);
  return shot;
}

// Propagates forward from rest. `rows`: traces, (steps + 1) x receivers, or empty.
template <class T, int Dim, class Memory>
stream::StreamReport StreamedGradients<T, Dim, Memory>::forward(
    Side& side, const std::vector<Points>& sources, const std::vector<Points>* receivers,
    std::int64_t steps, const wave::Traces<T>& rows, int propagation,
    const StreamedShotOptions& options) {
  side.volume->clear();
  stream::StreamShape shape = side.schedule->shape();
  shape.before = shape.behind = 0;
  shape.steps = steps;
  const stream::Schedule schedule(shape);
  std::vector<Series> gathers;
  std::vector<stream::StreamShot<T, Dim, Memory>> shots;
  for (std::size_t g = 0; g < side.chain.size(); ++g) {
    stream::StreamShot<T, Dim, Memory>& shot = shots.emplace_back(sources_of(side, g, sources[g]));
    if (receivers != nullptr && rows.size() > 0) {
      gathers.push_back(
          allocate<Series>(m_instances[g], "moho::fwi::modelled", rows.extent(0), rows.extent(1)));
      fill(m_instances[g], gathers.back(), T(0));
      shot.receivers = &(*receivers)[g];
      shot.rows = steps + 1;
      shot.gather = gathers.back();
    }
    side.chain[g]->begin(schedule, shot);
  }
  const auto run = [&] {
    return stream::run_stream<T, Dim, Memory>(schedule, side.chain, side.volume.get(),
                                              run_options(propagation, options));
  };
  const auto report = run();
  if (report.bad != stream::BadValue::none) {
    // repeats the run to find the first step
    side.volume->clear();
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
wave::Traces<T> StreamedGradients<T, Dim, Memory>::model(const wave::Shot<Dim>& shot,
                                                         const StreamedShotOptions& options) {
  if (!m_prepared) {
    throw InputError("model: there is no model (allowed: after update()): call it before");
  }
  const wave::Traces<T> rows("moho::fwi::rows", static_cast<std::size_t>(m_options.steps + 1),
                             shot.receivers.size());
  const auto sources = points_of(m_adjoint, shot.sources, options.prefix + "source");
  const auto receivers = points_of(m_adjoint, shot.receivers, options.prefix + "receiver");
  forward(m_adjoint, sources, &receivers, m_options.steps, rows, 0, options);
  return rows;
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> StreamedGradients<T, Dim, Memory>::add(
    const wave::Shot<Dim>& shot, const wave::RandomLayerOptions& random,
    const ShotMisfit<T, Memory>& misfit, const StreamedShotOptions& options) {
  if (!m_prepared) {
    throw InputError("add: there is no model (allowed: after update()): call it before");
  }
  ShotGradientReport<Dim> report;
  const std::int64_t steps = m_options.steps;
  const auto receivers = points_of(m_adjoint, shot.receivers, options.prefix + "receiver");
  const Instance<Memory>& exec = m_instances.front();
  Series derivative;
  {
    const wave::Traces<T> rows("moho::fwi::rows", static_cast<std::size_t>(steps + 1),
                               shot.receivers.size());
    const auto sources = points_of(m_adjoint, shot.sources, options.prefix + "source");
    const auto done = forward(m_adjoint, sources, &receivers, steps, rows, 0, options);
    report.points += done.points;
    report.forward_seconds += done.seconds;
    const auto modelled =
        allocate<Series>(exec, "moho::fwi::modelled", rows.extent(0), rows.extent(1));
    derivative = allocate<Series>(exec, "moho::fwi::derivative", rows.extent(0), rows.extent(1));
    if (rows.size() > 0) copy(exec, modelled, rows);
    exec.fence();
    report.misfit = misfit(wave::PointSeries<const T, Memory>(modelled), derivative);
  }
  if (!std::isfinite(report.misfit)) {
    throw Error(concat("the misfit is ", report.misfit,
                       " (a wavefield or the data are no numbers): look at the data of the shot"));
  }

  // separate source wavefield, until the time of the last product
  m_source.random = random;
  load(m_source);
  const std::int64_t last = steps / m_options.product_interval * m_options.product_interval;
  const auto own = points_of(m_source, shot.sources, options.prefix + "source");
  auto done = forward(m_source, own, nullptr, last, {}, 1, options);
  report.points += done.points;
  report.backward_seconds += done.seconds;

  // both backward: time t of the stream is time steps - t of the source wavefield
  m_source.volume->reverse(steps);
  m_adjoint.volume->clear();
  std::vector<Series> derivatives{derivative};
  for (std::size_t g = 1; g < m_adjoint.chain.size(); ++g) {
    const std::vector<T> values = download(exec, derivative);
    derivatives.push_back(allocate<Series>(m_instances[g], "moho::fwi::derivative",
                                           derivative.extent(0), derivative.extent(1)));
    copy(m_instances[g], wave::Storage<T, Memory>(derivatives[g].data(), values.size()),
         HostElements<const T>(values.data(), values.size()));
    m_instances[g].fence();
  }
  for (std::size_t g = 0; g < m_adjoint.chain.size(); ++g) {
    Products& products = *m_products[g];
    products.begin(receivers[g], derivatives[g]);
    stream::StreamShot<T, Dim, Memory> adjoint;
    adjoint.sums = true;
    adjoint.stepped = [&products](const stream::RingPiece& piece, std::int64_t level) {
      products.inject(piece, level);
    };
    m_adjoint.chain[g]->begin(*m_adjoint.schedule, adjoint);
    stream::StreamShot<T, Dim, Memory> source = sources_of(m_source, g, own[g]);
    source.still = steps - last + 1;
    source.last_row = steps;
    m_source.chain[g]->begin(*m_source.schedule, source);
  }
  std::vector<stream::StreamLane<T, Dim, Memory>> lanes(2);
  std::size_t k = 0;
  for (Side* side : {&m_adjoint, &m_source}) {
    lanes[k].schedule = side->schedule.get();
    lanes[k].chain = &side->chain;
    lanes[k].volume = side->volume.get();
    ++k;
  }
  done = stream::run_lanes<T, Dim, Memory>(
      lanes, run_options(2, options),
      [this](std::size_t g, const stream::StreamStage& stage) { m_products[g]->add(stage); });
  // what is not finite is seen when planes leave, some steps after the first one
  check_finite(m_adjoint, "backward leg, at the end of a pass");
  check_finite(m_source, "source's leg back, at the end of a pass");
  report.points += done.points;
  report.backward_seconds += done.seconds;
  report.snapshots.kind = "stream";
  report.snapshots.snapshots = steps / m_options.product_interval;
  for (const auto& device : m_adjoint.chain) device->keep_sums(m_adjoint.volume->state());
  return report;
}

template <class T, int Dim, class Memory>
typename StreamedGradients<T, Dim, Memory>::HostModel
StreamedGradients<T, Dim, Memory>::derivatives() const {
  if (!m_prepared) {
    throw InputError("derivatives: there are none (allowed: after add())");
  }
  const Instance<Memory>& exec = m_instances.front();
  const auto& sums = m_adjoint.volume->state().sums;
  const std::int64_t plane = m_grid.size() / m_grid.extents[0];
  HostModel result;
  const Instance<Host> host = stream::detail::host_instance();
  result.vp = make_field<T>(host, m_grid, "vp");
  if (m_options.unknowns.density) result.density = make_field<T>(host, m_grid, "density");
  const std::int64_t each = detail::planes_of_piece(m_grid);
  for (std::int64_t begin = 0; begin < m_grid.extents[0]; begin += each) {
    Grid<Dim> piece = m_grid;
    piece.extents[0] = std::min(each, m_grid.extents[0] - begin);
    const auto size = static_cast<std::size_t>(piece.size());
    const auto up = [&](const T* values) {
      const auto field = make_field<T>(exec, piece, "moho::fwi::piece");
      copy(exec, wave::Storage<T, Memory>(field.data(), size),
           HostElements<const T>(values + begin * plane, size));
      return field;
    };
    const auto sums_of = [&](std::size_t k) {
      const auto from = up(sums[k].first);
      const auto to = make_field<T>(exec, piece, "moho::fwi::folded");
      launch("moho::fwi::fold_layers", exec, piece.size(),
             detail::FoldLayers<T, Dim>{
                 from.data(), to.data(), detail::dense(whole_box(piece)), piece, {}});
      exec.fence();
      return to;
    };
    detail::ToParameters<T> to{};
    const auto d_scale = sums_of(0), vp = up(m_model.vp.data());
    const auto of_vp = make_field<T>(exec, piece, "vp");
    to.d_scale = d_scale.data();
    to.vp = vp.data();
    to.of_vp = of_vp.data();
    Field<T, Dim, Memory> d_b, density, of_density;
    if (m_options.unknowns.density) {
      d_b = sums_of(2);
      density = up(m_model.density.data());
      of_density = make_field<T>(exec, piece, "density");
      to.d_b = d_b.data();
      to.density = density.data();
      to.of_density = of_density.data();
    }
    launch("moho::fwi::to_parameters", exec, piece.size(), to);
    const auto down = [&](const Field<T, Dim, Memory>& from, const Field<T, Dim, Host>& all) {
      copy(exec, HostElements<T>(all.data() + begin * plane, size),
           wave::Storage<T, Memory>(from.data(), size));
    };
    down(of_vp, result.vp);
    if (m_options.unknowns.density) down(of_density, result.density);
    exec.fence();
  }
  return result;
}

template <class T, int Dim, class Memory>
Field<T, Dim, Kokkos::HostSpace> StreamedGradients<T, Dim, Memory>::illumination() const {
  if (!m_prepared) {
    throw InputError("illumination: there is none (allowed: after add())");
  }
  const auto result = make_field<T>(stream::detail::host_instance(), m_grid, "illumination");
  const auto& sums = m_adjoint.volume->state().sums[1];
  // zeros without a sign, as sums of layers make them
  for (std::int64_t i = 0; i < m_grid.size(); ++i) result.data()[i] = sums.first[i] + T(0);
  return result;
}

}  // namespace moho::fwi

#include <moho/fwi/detail/stream_gradient_rates.hpp>

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamedGradients)
}  // namespace moho::fwi
#endif
/// \endcond
