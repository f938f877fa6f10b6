// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Definitions of SlabGradients. Included by slab_gradient.hpp.

#include <moho/core/timer.hpp>
#include <moho/fwi/slab_gradient.hpp>

namespace moho::fwi {

namespace detail {

/// Returns the memory of gradients on each of some devices.
template <class T, int Dim, class Memory>
SlabGradientBytes slab_gradient_bytes(const wave::Scheme<T, Dim, Memory>& scheme,
                                      const stream::StreamRequirements& need,
                                      const SlabGradientOptions<Dim>& options,
                                      std::int64_t receivers, int devices) {
  const wave::StencilInfo& stencil = wave::info(scheme.stencil());
  const std::int64_t planes = scheme.grid().extents[0], halo = need.shape.beyond();
  const std::int64_t own = (planes + devices - 1) / devices;
  const PlaneRange held{0, std::min(own + (devices > 2 ? 2 : devices - 1) * halo, planes)};
  const stream::SlabElements slab = stream::slab_elements(scheme, need, own, held);
  const double padded = slab.padded, layers = slab.layers;
  const double fields = scheme.fields(), work = stencil.work_fields;
  const bool density = options.unknowns.density, anisotropy = options.unknowns.anisotropy;
  // sums have the nodes of the model, snapshots also those that products read around them
  const Box<Dim> interior = scheme.interior();
  const std::int64_t outside = anisotropy ? stencil.passes * (scheme.order() / 2) : 0;
  const std::int64_t inner = std::min(own, interior.extent(0));
  auto nodes = static_cast<double>(inner);
  std::int64_t kept = std::min(inner + (density || anisotropy ? 2 * halo : 0), planes);
  for (int d = 1; d < Dim; ++d) {
    nodes *= static_cast<double>(interior.extent(d));
    kept *= std::min(interior.extent(d) + 2 * outside, scheme.grid().extents[d]);
  }
  // changes, factors of the adjoint; what points inject; copies of the source, D of it, lambda
  const double gradient = 2.0 * fields + 1.0 + (anisotropy ? 5.0 + fields + work : 0.0);
  const double sums = 2.0 + (density ? 2.0 : 0.0) + (anisotropy ? 2.0 : 0.0);
  // results on their way to the host, and the model of the slab
  const double results = 2.0 * (1.0 + (density ? 1.0 : 0.0) + (anisotropy ? 4.0 : 0.0));
  // modelled traces of the slab and of all slabs, and their derivatives
  const auto series = 3.0 * static_cast<double>(receivers) * static_cast<double>(options.steps + 1);
  SlabGradientBytes bytes;
  bytes.fixed =
      static_cast<double>(sizeof(T)) * (padded * (slab.medium + 2.0 * fields + work + gradient) +
                                        layers + nodes * (sums + results) + series) +
      static_cast<double>(need.fixed);
  bytes.source =
      source_field_bytes(scheme, kept, outside, options.steps, options.product_interval, held);
  bytes.source.shell += static_cast<double>(sizeof(T)) * (work * padded + layers);
  bytes.source.replay += static_cast<double>(sizeof(T)) * (work * padded + layers);
  return bytes;
}

/// Returns the memory of the propagator and the wavefields of a source with random layers, in the
/// largest of some slabs.
/// \param scheme of the adjoint field \param random,need of the source \param halo planes that
/// slabs read of a neighbour
template <class T, int Dim, class Memory>
double random_source_bytes(const wave::Scheme<T, Dim, Memory>& scheme,
                           const wave::Scheme<T, Dim, Memory>& random,
                           const stream::StreamRequirements& need, std::int64_t halo, int devices) {
  const std::int64_t planes = scheme.grid().extents[0], all = random.grid().extents[0];
  const std::int64_t shift = random.interior().lower[0] - scheme.interior().lower[0];
  std::int64_t own = 0, held = 0;
  for (int g = 0; g < devices; ++g) {
    PlaneRange slab = stream::detail::slab_planes(planes, devices, g);
    if (g == 0) slab.begin -= shift;
    if (g + 1 == devices) slab.end = all - shift;
    own = std::max(own, slab.count());
    const std::int64_t sides = (g > 0 ? 1 : 0) + (g + 1 < devices ? 1 : 0);
    held = std::max(held, std::min(slab.count() + sides * halo, all));
  }
  const stream::SlabElements slab = stream::slab_elements(random, need, own, {0, held});
  const double wavefield = 2.0 * random.fields() + wave::info(random.stencil()).work_fields;
  // that of the propagation, and that which is propagated back
  return static_cast<double>(sizeof(T)) * slab.padded * (slab.medium + 2.0 * wavefield);
}

}  // namespace detail

template <class T, int Dim, class Memory>
SlabGradients<T, Dim, Memory>::SlabGradients(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                             const HostModel& model,
                                             const std::vector<wave::Shot<Dim>>& shots,
                                             const SlabGradientOptions<Dim>& options,
                                             const SlabMemoryCheck& check)
    : m_grid(grid), m_medium(model.medium()), m_options(options) {
  if (options.ranks != nullptr) m_options.devices = options.ranks->size();
  const int slabs = m_options.devices;
  m_instances = stream::slab_instances<Memory>(exec, slabs, options.ranks);
  m_extended = wave::extended_grid(grid, options.propagator.boundaries);
  m_limits = limits_of(model);
  const wave::Scheme<T, Dim, Memory> scheme(m_instances.front(), m_extended, m_medium, m_limits,
                                            options.propagator);
  m_interior = scheme.interior();
  m_need = stream::detail::stream_need<T, Dim, Memory>(scheme, stream::VolumeShape<T, Dim>(scheme),
                                                       shots);
  std::int64_t receivers = 0;
  for (const auto& shot : shots) {
    receivers = std::max(receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  const auto bytes_of = [scheme, receivers, need = m_need, options](int devices) {
    return detail::slab_gradient_bytes<T, Dim, Memory>(scheme, need, options, receivers, devices);
  };
  m_bytes = bytes_of;
  m_image_bytes = [planes = m_extended.extents[0], all = m_interior](const Lags& lags,
                                                                     int devices) {
    double bytes = 0.0;
    for (int g = 0; g < devices; ++g) {
      const PlaneRange own = stream::detail::slab_planes(planes, devices, g);
      Box<Dim> part = all;
      part.lower[0] = std::max(all.lower[0], own.begin);
      part.upper[0] = std::min(all.upper[0], own.end);
      if (!part.empty()) bytes = std::max(bytes, Image::bytes_of(part, lags, all));
    }
    return bytes;
  };
  if (options.source_faces) plan_random(shots);
  if (!possible(slabs)) refuse_slabs(check);
  m_own = parts_of(slabs);
}

// Plans the separate source wavefield.
template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::plan_random(const std::vector<wave::Shot<Dim>>& shots) {
  const wave::Scheme<T, Dim, Memory> scheme(m_instances.front(), m_extended, m_medium, m_limits,
                                            m_options.propagator);
  const wave::PropagatorOptions<Dim> random = random_options();
  const wave::Scheme<T, Dim, Memory> with_layers(m_instances.front(),
                                                 wave::extended_grid(m_grid, random.boundaries),
                                                 m_medium, m_limits, random);
  const auto need = stream::detail::stream_need<T, Dim, Memory>(
      with_layers, stream::VolumeShape<T, Dim>(with_layers), shots);
  m_random_halo = std::max<std::int64_t>(m_need.shape.beyond(), need.shape.beyond());
  m_bytes = [bytes_of = m_bytes, scheme, with_layers, need, halo = m_random_halo](int devices) {
    SlabGradientBytes bytes = bytes_of(devices);
    bytes.source.random += detail::random_source_bytes(scheme, with_layers, need, halo, devices);
    return bytes;
  };
}

template <class T, int Dim, class Memory>
bool SlabGradients<T, Dim, Memory>::possible(int slabs) const {
  const std::vector<PlaneRange> own = parts_of(slabs);
  if (own.empty()) return false;
  return slabs == 1 || !m_options.source_faces ||
         stream::detail::thinnest_part(random_parts(own)) >= m_random_halo;
}

// Throws SlabsTooThin.
template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::refuse_slabs(const SlabMemoryCheck& check) const {
  const int slabs = m_options.devices;
  int max = 1;
  std::string obstacle;
  std::vector<std::int64_t> numbers;
  for (int n = 1; n < slabs; ++n) {
    if (!possible(n)) continue;
    max = n;
    obstacle = check ? check(*this, n) : std::string();
    if (obstacle.empty()) numbers.push_back(n);
  }
  const int ranks = m_options.ranks != nullptr ? slabs * m_options.groups : 0;
  const std::int64_t halo = m_need.shape.beyond();
  throw SlabsTooThin(concat("devices is ", slabs, " (allowed: ",
                            numbers.empty() ? concat("none of the numbers up to ", max)
                                            : stream::dividing_numbers(numbers, ranks),
                            ", so that each has ", halo, " planes of the ", m_extended.extents[0],
                            ", and planes of the model besides those of layers",
                            m_options.source_faces ? concat(", and ", m_random_halo,
                                                            " planes or more with random layers)")
                                                   : ")",
                            numbers.empty() ? concat(": with ", max, " ", obstacle) : ""),
                     !numbers.empty());
}

// Returns the options of the propagator of the separate source wavefield.
template <class T, int Dim, class Memory>
wave::PropagatorOptions<Dim> SlabGradients<T, Dim, Memory>::random_options() const {
  wave::PropagatorOptions<Dim> result = m_options.propagator;
  result.boundaries = *m_options.source_faces;
  result.frequency = 0.0;  // random layers are slower than the grid carries well
  return result;
}

// Returns the planes of slabs in the grid with random layers.
template <class T, int Dim, class Memory>
std::vector<PlaneRange> SlabGradients<T, Dim, Memory>::random_parts(
    const std::vector<PlaneRange>& own) const {
  const wave::Boundaries<Dim>& faces = *m_options.source_faces;
  return stream::detail::shifted_parts(own, faces.lower[0].layer() - m_interior.lower[0],
                                       wave::extended_grid(m_grid, faces).extents[0]);
}

// Returns the planes of slabs; empty if a slab has too few, or no plane of the model.
template <class T, int Dim, class Memory>
std::vector<PlaneRange> SlabGradients<T, Dim, Memory>::parts_of(std::int64_t slabs) const {
  if (m_extended.extents[0] / slabs < m_need.shape.beyond()) return {};
  const std::vector<PlaneRange> own =
      stream::equal_parts(m_extended.extents[0], slabs, m_need.shape.beyond());
  const bool possible = std::all_of(own.begin(), own.end(), [this](const PlaneRange& slab) {
    return !stream::model_planes(slab, m_interior).empty();
  });
  return possible ? own : std::vector<PlaneRange>();
}

template <class T, int Dim, class Memory>
SlabGradientBytes SlabGradients<T, Dim, Memory>::bytes(int devices) const {
  return m_bytes(devices);
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::set_source_field(SourceField method) {
  if (method == SourceField::automatic) {
    throw InputError(concat("source_field is ", to_string(method),
                            " (allowed with slabs: shell, random, stored, replay)"));
  }
  if (method == SourceField::random && !m_options.source_faces) {
    throw InputError("source_field is random (allowed: with source_faces): give the faces");
  }
  m_source_field = method;
  const SourceFieldBytes source = bytes(devices()).source;
  m_states = source.states;
  m_piece = source.piece;
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::allocate_slabs(const HostModel& model) {
  m_parts = std::make_unique<Parts>(m_instances, m_own, m_need.shape.beyond(), m_options.ranks);
  const wave::Limits limits = limits_of(model);
  std::vector<std::unique_ptr<Slab>> slabs(m_own.size());
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = this->exec(g);
    auto slab = std::make_unique<Slab>();
    slab->propagator = std::make_unique<wave::Propagator<T, Dim, Memory>>(
        exec, m_extended, m_medium, m_limits, m_options.propagator, m_parts->part(g));
    slab->propagator->update_limits(limits);
    stream::load_part<T, Dim, Memory>(exec, *slab->propagator, m_grid, model, m_options.random);
    slab->gradients = std::make_unique<Gradients>(exec, *slab->propagator, m_options.unknowns,
                                                  m_options.product_interval);
    slab->wavefield = slab->propagator->make_wavefield(exec);
    exec.fence();
    slabs[g] = std::move(slab);
  });
  m_slabs = std::move(slabs);
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::update(const HostModel& model) {
  if (model.medium() != m_medium) {
    throw InputError(concat("model: its medium is ", wave::to_string(model.medium()),
                            " (allowed: ", wave::to_string(m_medium), ", that of the first)"));
  }
  m_model = model;
  if (m_slabs.empty()) return allocate_slabs(model);
  const wave::Limits limits = limits_of(model);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = this->exec(g);
    Slab& slab = *m_slabs[g];
    slab.propagator->update_limits(limits);
    stream::load_part<T, Dim, Memory>(exec, *slab.propagator, m_grid, model, m_options.random);
    slab.gradients->update(exec);
    exec.fence();
  });
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::clear() {
  for (std::size_t g = 0; g < m_slabs.size(); ++g) {
    if (m_slabs[g]) m_slabs[g]->gradients->clear(exec(g));
  }
}

// Makes the points and the source term of a shot.
template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::begin(std::size_t g, const wave::Shot<Dim>& shot,
                                          const std::string& prefix) {
  const Instance<Memory>& exec = this->exec(g);
  Slab& slab = *m_slabs[g];
  const auto& propagator = *slab.propagator;
  const auto make = [&](const Points<Dim>& points, const char* name) {
    return wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(), points,
                                          wave::point_options(propagator, prefix + name, true));
  };
  slab.sources = make(shot.sources, "source");
  slab.receivers = make(shot.receivers, "receiver");
  slab.forward = {&propagator, &slab.sources,
                  wave::wavelet_series<T, Memory>(exec, m_options.wavelet, m_options.steps,
                                                  slab.sources.count())};
}

// Makes the separate source wavefield of a shot, with its random layers.
template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::begin_random(std::size_t g, const wave::Shot<Dim>& shot,
                                                 const SlabShotOptions& options) {
  const Instance<Memory>& exec = this->exec(g);
  RandomSource& random = m_slabs[g]->random;
  // random layers do not raise velocities
  const wave::Limits& limits = m_slabs[g]->propagator->scheme().limits();
  if (!random.propagator) {
    const wave::PropagatorOptions<Dim> with = random_options();
    random.propagator = std::make_unique<wave::Propagator<T, Dim, Memory>>(
        exec, wave::extended_grid(m_grid, with.boundaries), m_medium, limits, with,
        m_random_parts->part(g));
  }
  const auto& propagator = *random.propagator;
  stream::load_part<T, Dim, Memory>(exec, *random.propagator, m_grid, m_model, options.random);
  random.sources = wave::PointSet<T, Dim, Memory>(
      exec, propagator.grid(), propagator.layout(), shot.sources,
      wave::point_options(propagator, options.prefix + "source", true));
  random.term = {&propagator, &random.sources, m_slabs[g]->forward.amplitudes};
}

template <class T, int Dim, class Memory>
std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> SlabGradients<T, Dim, Memory>::make_store(
    std::size_t g) {
  const Instance<Memory>& exec = this->exec(g);
  Slab& slab = *m_slabs[g];
  const int fields = slab.gradients->fields();
  switch (m_source_field) {
    case SourceField::stored:
      return std::make_unique<snapshot::MemoryStore<T, Dim, Memory>>(slab.arena, fields);
    case SourceField::replay:
      return std::make_unique<snapshot::CheckpointStore<T, Dim, Memory>>(
          exec, slab.forward, slab.arena, m_options.steps / m_options.product_interval,
          m_options.product_interval, m_piece, m_states, fields);
    default:
      return std::make_unique<snapshot::BoundaryStore<T, Dim, Memory>>(
          exec, m_source_field == SourceField::random ? slab.random.term : slab.forward, slab.arena,
          snapshot::BoundaryStoreOptions{fields, slab.gradients->outside()});
  }
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> SlabGradients<T, Dim, Memory>::add(const wave::Shot<Dim>& shot,
                                                           const MisfitOn& misfit,
                                                           const SlabShotOptions& options) {
  require_model();
  struct Totals {
    double points, raw_bytes, kept_bytes, repeated;
    std::size_t device_bytes;
  };
  std::vector<ShotGradientReport<Dim>> reports(m_slabs.size());
  std::vector<Totals> totals(m_slabs.size());
  const bool random = m_source_field == SourceField::random;
  if (random && !m_random_parts) {
    m_random_parts = std::make_unique<Parts>(*m_parts, random_parts(m_own), m_random_halo);
  }
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = this->exec(g);
    Slab& slab = *m_slabs[g];
    begin(g, shot, options.prefix);
    ShotGradientOptions<T, Dim, Memory> run;
    if (random) {
      begin_random(g, shot, options);
      run.source = &slab.random.term;
    } else {
      slab.random = {};
    }
    const auto store = make_store(g);
    run.steps = m_options.steps;
    run.check_every = options.check_every;
    run.extended = slab.image.get();
    if (g == 0) run.progress = options.progress;
    const ShotMisfit<T, Memory> of_all = misfit(exec);
    const auto of_slab = [&](const wave::PointSeries<const T, Memory>& modelled,
                             const wave::PointSeries<T, Memory>& derivative) {
      if (modelled.size() == 0) return of_all(modelled, derivative);
      std::vector<T> rows = m_parts->gathered(g, slab.receivers, download(exec, modelled));
      const auto complete = allocate<wave::PointSeries<T, Memory>>(
          exec, "moho::fwi::modelled", modelled.extent(0), modelled.extent(1));
      copy(exec, wave::Storage<T, Memory>(complete.data(), rows.size()),
           HostElements<const T>(rows.data(), rows.size()));
      exec.fence();
      std::vector<T>().swap(rows);  // frees them
      return of_all(wave::PointSeries<const T, Memory>(complete), derivative);
    };
    reports[g] = slab.gradients->add(exec, slab.wavefield, slab.forward, slab.receivers, of_slab,
                                     *store, run);
    const snapshot::SnapshotReport& of = reports[g].snapshots;
    totals[g] = {reports[g].points, of.raw_bytes, of.kept_bytes, of.points, of.device_bytes};
  });
  m_parts->collect(totals);
  const std::size_t first = m_parts->first();
  ShotGradientReport<Dim> report = reports[first];
  for (std::size_t g = first + 1; g < totals.size(); ++g) {
    report.points += totals[g].points;
    report.snapshots.raw_bytes += totals[g].raw_bytes;
    report.snapshots.kept_bytes += totals[g].kept_bytes;
    report.snapshots.points += totals[g].repeated;
    report.snapshots.device_bytes = std::max(report.snapshots.device_bytes, totals[g].device_bytes);
  }
  return report;
}

template <class T, int Dim, class Memory>
wave::Traces<T> SlabGradients<T, Dim, Memory>::model(const wave::Shot<Dim>& shot,
                                                     const SlabShotOptions& options) {
  require_model();
  const auto rows = static_cast<std::size_t>(m_options.steps + 1);
  const auto count = shot.receivers.size();
  wave::Traces<T> traces("moho::fwi::traces", rows, count);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = this->exec(g);
    Slab& slab = *m_slabs[g];
    begin(g, shot, options.prefix);
    const auto modelled =
        allocate<wave::PointSeries<T, Memory>>(exec, "moho::fwi::modelled", rows, count);
    if (count > 0) fill(exec, modelled, T(0));
    slab.wavefield.clear(exec);
    wave::RunOptions<T, Dim, Memory> run;
    run.last = m_options.steps;
    run.check_every = options.check_every;
    run.present = [&](std::int64_t time) {
      slab.receivers.record(exec, slab.wavefield.now[0], modelled, time,
                            slab.propagator->pressure_factors());
    };
    if (g == 0 && options.progress) {
      run.progress = [&](const wave::ShotProgress& now) { options.progress(0, now); };
    }
    slab.forward.run(exec, slab.wavefield, run);
    if (count == 0) return;
    const std::vector<T> all = m_parts->gathered(g, slab.receivers, download(exec, modelled));
    if (g == m_parts->first()) std::copy(all.begin(), all.end(), traces.data());
  });
  return traces;
}

template <class T, int Dim, class Memory>
std::int64_t SlabGradients<T, Dim, Memory>::max_lag(const std::vector<PlaneRange>& own) const {
  std::int64_t max = (m_grid.extents[0] - 1) / 2;
  for (std::size_t g = 1; g + 1 < own.size(); ++g) {
    max = std::min(max, stream::model_planes(own[g], m_interior).count());
  }
  return max;
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::begin_image(const Lags& lags) {
  require_model();
  Image::check(m_interior, lags);
  if (lags.x > max_lag()) {
    throw InputError(concat("lags: the largest along x is ", lags.x, " nodes (allowed: 0 to ",
                            max_lag(), ", the planes of the model in the thinnest of ",
                            m_own.size(), " slabs): take fewer lags or slabs"));
  }
  m_image_planes = {};
  for (std::size_t g = 0; g < m_own.size(); ++g) {
    Box<Dim> box = m_interior;
    box.lower[0] = m_interior.lower[0] + model_planes(g).begin;
    box.upper[0] = m_interior.lower[0] + model_planes(g).end;
    const Box<Dim> read = Image::read_box(box, lags, m_interior);
    m_image_planes.own.push_back({box.lower[0], box.upper[0]});
    m_image_planes.held.push_back({read.lower[0], read.upper[0]});
    m_image_planes.elements = box.size() / box.extent(0);
  }
  m_parts->run([&](std::size_t g) {
    const auto complete = [this, g](const std::vector<typename Image::Array>& pairs) {
      const stream::SlabPieces<T, Memory> arrays(pairs.begin(), pairs.end());
      m_parts->exchange(g, exec(g), arrays, m_image_planes);
    };
    m_slabs[g]->image =
        std::make_unique<Image>(exec(g), m_slabs[g]->gradients->box(), lags, m_interior, complete);
    exec(g).fence();
  });
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::clear_image() {
  for (std::size_t g = 0; g < m_slabs.size(); ++g) {
    if (m_slabs[g] && m_slabs[g]->image) m_slabs[g]->image->clear(exec(g));
  }
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::end_image() {
  for (const auto& slab : m_slabs) {
    if (slab) slab->image.reset();
  }
}

template <class T, int Dim, class Memory>
std::vector<T> SlabGradients<T, Dim, Memory>::extended_image() {
  const std::size_t first = m_parts ? m_parts->first() : 0;
  if (m_slabs.empty() || !m_slabs[first]->image) {
    throw InputError("extended_image: none was begun (allowed: after begin_image())");
  }
  m_parts->run([&](std::size_t g) {
    m_slabs[g]->image->flush(exec(g));
    exec(g).fence();
  });
  const auto nodes = static_cast<std::size_t>(m_grid.size());
  const auto count = static_cast<std::size_t>(m_slabs[first]->image->lags().count());
  // other ranks pass lag by lag to the first
  std::vector<T> values(first == 0 ? count * nodes : nodes);
  for (std::size_t h = 0; h < count; ++h) {
    T* const lag = values.data() + (first == 0 ? h * nodes : 0);
    for (std::size_t g = 0; g < m_slabs.size(); ++g) {
      if (!m_slabs[g]) continue;
      const PlaneRange planes = model_planes(g);
      const auto size = static_cast<std::size_t>(at(planes.count()));
      copy(exec(g), HostElements<T>(lag + at(planes.begin), size),
           wave::Storage<const T, Memory>(m_slabs[g]->image->values().data() + h * size, size));
      exec(g).fence();
    }
    m_parts->collect_planes(lag, at(1), [&](std::size_t g) { return model_planes(g); });
  }
  if (first != 0) values.clear();
  return values;
}

template <class T, int Dim, class Memory>
double SlabGradients<T, Dim, Memory>::seconds_of_steps(std::int64_t steps) {
  require_model();
  double seconds = 0.0;
  m_parts->run([&](std::size_t g) {
    Slab& slab = *m_slabs[g];
    slab.wavefield.clear(exec(g));
    wave::RunOptions<T, Dim, Memory> run;
    run.last = steps;
    const auto report =
        wave::run_steps<T, Dim, Memory>(exec(g), *slab.propagator, slab.wavefield, run);
    if (g == m_parts->first()) seconds = report.seconds;
  });
  return seconds;
}

// Returns the planes of a slab of a field of the model.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> SlabGradients<T, Dim, Memory>::to_device(
    std::size_t g, const Field<T, Dim, Host>& field) const {
  if (field.data() == nullptr) return {};
  const Instance<Memory>& exec = this->exec(g);
  auto part = make_field<T>(exec, model_part(g), field.label());
  copy(exec, wave::Storage<T, Memory>(part.data(), part.size()),
       HostElements<const T>(field.data() + at(model_planes(g).begin), part.size()));
  exec.fence();
  return part;
}

template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::to_host(std::size_t g, const Field<T, Dim, Memory>& from,
                                            const Field<T, Dim, Host>& to) const {
  const Instance<Memory>& exec = this->exec(g);
  copy(exec, HostElements<T>(to.data() + at(model_planes(g).begin), from.size()),
       wave::Storage<const T, Memory>(from.data(), from.size()));
  exec.fence();
}

// Copies the planes of other ranks to the first.
template <class T, int Dim, class Memory>
void SlabGradients<T, Dim, Memory>::collect(const Field<T, Dim, Host>& field) const {
  m_parts->collect_planes(field.data(), at(1), [&](std::size_t g) { return model_planes(g); });
}

template <class T, int Dim, class Memory>
typename SlabGradients<T, Dim, Memory>::HostModel SlabGradients<T, Dim, Memory>::derivatives(
    const HostModel& model, const Field<T, Dim, Host>& kept) const {
  require_model();
  const Instance<Host> host = stream::detail::host_instance();
  HostModel result;
  const auto make = [&](const char* label) { return make_field<T>(host, m_grid, label); };
  result.vp = make("vp");
  if (m_options.unknowns.density) result.density = make("density");
  if (m_options.unknowns.anisotropy) {
    result.epsilon = make("epsilon");
    result.delta = make("delta");
  }
  m_parts->run([&](std::size_t g) {
    const auto part = stream::detail::changed_model<T, Dim, Memory>(
        model, [&](const Field<T, Dim, Host>& field) { return to_device(g, field); });
    const auto derived =
        m_slabs[g]->gradients->derivatives(exec(g), model_part(g), part, to_device(g, kept));
    for (const wave::ParameterInfo& row : wave::parameters) {
      const auto& from = derived.field(row.parameter);
      if (from.data() != nullptr) to_host(g, from, result.field(row.parameter));
    }
  });
  for (const wave::ParameterInfo& row : wave::parameters) {
    if (result.field(row.parameter).data() != nullptr) collect(result.field(row.parameter));
  }
  return result;
}

template <class T, int Dim, class Memory>
Field<T, Dim, Kokkos::HostSpace> SlabGradients<T, Dim, Memory>::illumination() const {
  require_model();
  const auto result = make_field<T>(stream::detail::host_instance(), m_grid, "illumination");
  m_parts->run([&](std::size_t g) {
    to_host(g, m_slabs[g]->gradients->illumination(exec(g), model_part(g)), result);
  });
  collect(result);
  return result;
}

}  // namespace moho::fwi
