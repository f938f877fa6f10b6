// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From a model on the host to gathers, through devices that hold only a part of it.

#include <moho/core/instances.hpp>
#include <moho/stream/engine.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/prepare.hpp>
#include <moho/stream/rates.hpp>
#include <moho/stream/slabs.hpp>
#include <moho/wave/driver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// Options of Streaming.
template <int Dim>
struct StreamingOptions {
  wave::ModellingOptions<Dim> modelling = {};  ///< times, order, equations; memory is not used
  StreamWishes wishes = {};                    ///< memory of a device, block, updates, devices
  std::string file;                            ///< where the volume is kept; empty: in memory
  std::string key;                             ///< what the run is, for a file that is continued
  bool resume = false;                         ///< go on with the file
  bool in_core = true;     ///< a grid that fits the device is held there whole; false: it streams
  bool measure = true;     ///< measure rates before planning; false: `rates`
  StreamRates rates = {};  ///< where they are not measured
};

/// Options of a shot.
template <int Dim>
struct StreamShotOptions {
  Timeline* timeline = nullptr;                                  ///< spans of the first iterations
  std::function<void(const wave::ShotProgress&)> progress = {};  ///< about twice a second
  /// Nodes of the step from a time to the next one, each within the next; empty: all nodes.
  std::function<Box<Dim>(std::int64_t level)> box = {};
};

/// What a shot gave.
template <class T>
struct StreamShotResult {
  wave::Traces<T> traces;  ///< receivers x samples
  double interval = 0.0;   ///< seconds between samples
  std::int64_t steps = 0;  ///< steps done
  StreamReport report;     ///< seconds, bytes
};

/// \brief Shots over one model that is larger than a device: what make_modelling() is for models
/// that fit.
///
/// The model's parameters and the wavefield are on the host (HostVolume), and planes of them go
/// through one device or a chain of several. Gathers and the last wavefield have the bits of
/// wave::Modelling on the same device. Where the grid fits one device it is held there whole; where
/// it fits several of them together, each holds a slab (Slabs).
template <class T, int Dim, class Memory>
class Streaming {
 public:
  /// \brief Checks the model, chooses the time step, prepares the volume, measures rates, and
  /// plans. \param exec of the first device; instances on others are made \param grid of the model
  /// \param model on the host
  /// \param faces whose layers are added
  /// \param wavelet of the sources
  /// \param shots that there will be: their sources and receivers are checked
  /// \param options times, memory, devices
  /// \throws InputError, MemoryError, FileError
  Streaming(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
            wave::Model<T, Dim, Kokkos::HostSpace> model, const wave::Boundaries<Dim>& faces,
            const wave::WaveletAt& wavelet, const std::vector<wave::Shot<Dim>>& shots,
            const StreamingOptions<Dim>& options);

  /// What was chosen for the waves.
  const wave::ModellingPlan<Dim>& modelling() const { return m_modelling; }
  /// What was chosen for the stream.
  const StreamPlan& plan() const { return m_plan; }
  /// What was measured.
  const StreamRates& rates() const { return m_rates; }
  /// What streams.
  const StreamNeed& need() const { return m_need; }
  /// True where copies go to the volume itself, false where they go through buffers.
  bool locked() const { return m_locked; }
  /// What the system said when memory could not be page-locked; empty where it was, or need not be.
  const std::string& lock_text() const { return m_lock_text; }
  /// Makes volume and rings, with the model's parameters; shot() calls it.
  void prepare();
  /// Models a shot. \throws Error where the wavefield is no longer finite
  StreamShotResult<T> shot(const wave::Shot<Dim>& shot, const StreamShotOptions<Dim>& options = {});
  /// \brief The last wavefield of the latest shot.
  /// \param field 0: p; 1: q
  /// \param box nodes of the grid with its layers
  /// \param values as many numbers as the box has nodes, the last axis fastest
  void copy_out(int field, const Box<Dim>& box, T* values) const;
  /// The nodes that are in no layer.
  Box<Dim> interior() const { return m_schemes.front()->interior(); }

 private:
  void choose();
  StreamShape shape_for(const StreamShotOptions<Dim>& options, std::int64_t first) const;

  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Device = Pipeline<T, Dim, Memory>;
  Grid<Dim> m_model_grid;
  wave::Model<T, Dim, Kokkos::HostSpace> m_model;  ///< until prepare()
  wave::ModellingPlan<Dim> m_modelling;
  StreamingOptions<Dim> m_options;
  std::vector<Instance<Memory>> m_instances;       ///< one a device
  std::vector<std::unique_ptr<Scheme>> m_schemes;  ///< one a device
  Planes m_sources;                                ///< planes of all sources
  std::int64_t m_receivers = 0;                    ///< of the largest shot
  wave::detail::ShotSampling m_sampling;
  StreamNeed m_need;
  StreamRates m_rates;
  StreamPlan m_plan;
  std::unique_ptr<VolumeShape<T, Dim>> m_shape;
  std::unique_ptr<Schedule> m_schedule;
  std::unique_ptr<HostVolume<T, Dim>> m_volume;
  PageLock<Memory> m_lock;  ///< of the volume: before it in destruction
  std::vector<std::unique_ptr<Device>> m_chain;
  std::unique_ptr<Slabs<T, Dim, Memory>> m_slabs;
  bool m_whole = false;    ///< the device holds the whole grid
  bool m_cut = false;      ///< devices hold slabs of it
  bool m_resumed = false;  ///< a shot was begun, which may have continued a file
  std::int64_t m_level = 0;
  bool m_locked = true;
  std::string m_lock_text;
};

template <class T, int Dim, class Memory>
Streaming<T, Dim, Memory>::Streaming(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                     wave::Model<T, Dim, Kokkos::HostSpace> model,
                                     const wave::Boundaries<Dim>& faces,
                                     const wave::WaveletAt& wavelet,
                                     const std::vector<wave::Shot<Dim>>& shots,
                                     const StreamingOptions<Dim>& options)
    : m_model_grid(grid), m_model(std::move(model)), m_options(options) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> host = detail::host_instance();
  wave::ModellingOptions<Dim> modelling = options.modelling;
  modelling.memory = std::numeric_limits<std::size_t>::max() / 2;  // checked below
  modelling.time.snapshot_every = 0.0;
  for (const wave::Shot<Dim>& shot : shots) {
    modelling.sources.insert(modelling.sources.end(), shot.sources.begin(), shot.sources.end());
    m_receivers = std::max(m_receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  m_modelling = wave::plan_modelling<T, Dim, Host>(host, grid, m_model, faces, wavelet, modelling);
  if (m_modelling.source_taper > 0.0) {
    m_model.delta = wave::taper_delta<T, Dim, Host>(host, grid, m_model, modelling.sources,
                                                    m_modelling.source_taper);
  }
  m_sampling = wave::detail::shot_sampling(m_modelling.time.dt, m_modelling.time.steps,
                                           m_modelling.time.interval);
  m_instances = instances_on_devices(exec, options.wishes.devices);
  wave::PropagatorOptions<Dim> scheme;
  scheme.dt = m_modelling.time.dt;
  scheme.order = modelling.order;
  scheme.boundaries = faces;
  scheme.frequency = m_modelling.frequency;
  scheme.equations = modelling.equations;
  scheme.sigma = modelling.sigma;
  // those of the model that is stepped, as a propagator takes them
  const wave::Limits limits =
      detail::stepped_limits<T, Dim>(host, grid, m_model, faces, m_modelling.random, scheme);
  for (const Instance<Memory>& instance : m_instances) {
    m_schemes.push_back(
        std::make_unique<Scheme>(instance, m_modelling.grid, m_modelling.medium, limits, scheme));
    instance.fence();
  }
  m_shape = std::make_unique<VolumeShape<T, Dim>>(*m_schemes.front());
  m_sources = detail::planes_of_points(m_modelling.grid, modelling.sources,
                                       wave::PointOptions<Dim>().radius);
  for (const wave::Shot<Dim>& shot : shots) {
    const std::string of = shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    wave::detail::blame("sources", [&] {
      check_positions(m_modelling.grid, shot.sources, of + "source", interior());
    });
    wave::detail::blame("receivers", [&] {
      check_positions(m_modelling.grid, shot.receivers, of + "receiver", interior());
    });
  }
  m_need = detail::stream_need<T, Dim, Memory>(*m_schemes.front(), *m_shape, shots);
  m_need.shape.steps = m_sampling.steps;
  m_need.fixed += sizeof(T) * static_cast<std::size_t>(
                                  m_receivers * m_sampling.rows +
                                  detail::most_sources(shots) *
                                      static_cast<std::int64_t>(m_modelling.wavelet.size()));
  choose();
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::prepare() {
  if (!m_chain.empty() || m_slabs) return;
  if (m_cut) {
    m_slabs = std::make_unique<Slabs<T, Dim, Memory>>(m_instances, m_schemes, m_need.shape.beyond(),
                                                      m_model_grid, m_model, m_modelling.random);
    m_model = {};
    return;
  }
  const Instance<Memory>& exec = m_instances.front();
  const wave::Boundaries<Dim>& faces = m_modelling.faces;
  if (m_whole) {
    auto model = detail::model_in<T, Dim, Memory>(exec, m_model_grid, m_model);
    m_model = {};
    const auto extended =
        wave::extend_model<T, Dim, Memory>(exec, m_model_grid, model, faces, m_modelling.random);
    exec.fence();
    model = {};
    m_chain.push_back(std::make_unique<Device>(exec, *m_schemes.front(), *m_shape, extended));
    return;
  }
  VolumeOptions volume;
  volume.sources = m_sources;
  volume.file = m_options.file;
  volume.key = m_options.key;
  volume.resume = m_options.resume;
  volume.rows = m_sampling.rows;
  volume.receivers = m_receivers;
  m_volume = std::make_unique<HostVolume<T, Dim>>(*m_schemes.front(), volume);
  m_volume->load(exec, *m_schemes.front(), m_model_grid, m_model, m_modelling.random);
  m_model = {};
  m_locked = m_volume->lock(m_lock);
  m_lock_text = m_lock.why();
  for (std::size_t g = 0; g < static_cast<std::size_t>(m_plan.shape.devices); ++g) {
    m_chain.push_back(std::make_unique<Device>(m_instances[g], *m_schemes[g], *m_shape, *m_schedule,
                                               static_cast<int>(g), m_plan.resident));
    m_chain.back()->load_parameters(m_volume->parameters());
  }
}

template <class T, int Dim, class Memory>
StreamShape Streaming<T, Dim, Memory>::shape_for(const StreamShotOptions<Dim>& options,
                                                 std::int64_t first) const {
  StreamShape shape = m_plan.shape;
  shape.first = first;
  if (!options.box || m_whole) return shape;
  const Schedule schedule(shape);
  const int last = shape.devices - 1;
  Planes before{};
  for (std::int64_t s = 0; s < schedule.sweeps(); ++s) {
    const std::int64_t end = schedule.first_level(s, last) + schedule.updates(s, last);
    // with the planes around it that steps and receivers read, where waves are at rest
    const std::int64_t around = shape.beyond();
    Planes planes = planes_of(options.box(end - 1));
    planes =
        intersection(Planes{planes.begin - around, planes.end + around}, Planes{0, shape.planes});
    if (s > 0) planes = {std::min(planes.begin, before.begin), std::max(planes.end, before.end)};
    shape.ranges.push_back(planes);
    before = planes;
  }
  return shape;
}

template <class T, int Dim, class Memory>
StreamShotResult<T> Streaming<T, Dim, Memory>::shot(const wave::Shot<Dim>& shot,
                                                    const StreamShotOptions<Dim>& options) {
  prepare();
  StreamShotResult<T> result;
  std::int64_t first = 0;
  bool complete = false;  // the file holds the whole shot
  if (m_volume != nullptr && m_volume->in_file() && m_options.resume && !m_resumed &&
      m_volume->level() > 0) {
    first = m_volume->level();
    complete = first >= m_sampling.steps;
    m_volume->clear_next();
  } else if (m_volume != nullptr) {
    m_volume->clear();
  } else if (m_whole) {
    m_chain.front()->clear();
  }
  m_resumed = true;
  if (complete) {
    const auto kept = m_volume->records();
    const auto count = shot.receivers.size();
    const wave::Traces<T> rows("moho::stream::rows", kept.extent(0), count);
    for (std::size_t row = 0; row < kept.extent(0); ++row) {
      for (std::size_t r = 0; r < count; ++r) rows(row, r) = kept(row, r);
    }
    m_level = m_sampling.steps;
    result.traces = wave::detail::traces_of_rows<T>(rows, m_sampling, m_modelling.time.dt);
    result.interval = m_sampling.interval;
    result.steps = m_sampling.steps;
    return result;
  }
  const Schedule schedule(m_cut ? m_schedule->shape() : shape_for(options, first));

  using wave::PointSet;
  const std::size_t devices = m_cut ? m_slabs->count() : m_chain.size();
  std::vector<StreamShot<T, Dim, Memory>> shots;
  std::vector<PointSet<T, Dim, Memory>> sources, receivers;
  std::vector<wave::PointSeries<T, Memory>> gathers;
  sources.reserve(devices);
  receivers.reserve(devices);
  for (std::size_t g = 0; g < devices; ++g) {
    const Instance<Memory>& exec = m_instances[g];
    const Scheme& scheme = *m_schemes[g];
    sources.emplace_back(exec, scheme.grid(), scheme.layout(), shot.sources,
                         wave::point_options(scheme, "source", true));
    receivers.emplace_back(exec, scheme.grid(), scheme.layout(), shot.receivers,
                           wave::point_options(scheme, "receiver", false));
    gathers.push_back(allocate<wave::PointSeries<T, Memory>>(
        exec, "moho::stream::gather", m_sampling.rows, receivers[g].count()));
    if (gathers[g].size() > 0) fill(exec, gathers[g], T(0));
    StreamShot<T, Dim, Memory> one;
    one.sources = &sources[g];
    one.receivers = &receivers[g];
    one.amplitudes = wave::detail::wavelet_series<T, Memory>(exec, m_modelling.wavelet,
                                                             m_sampling.steps, sources[g].count());
    for (int f = 0; f < m_shape->fields && !m_whole && !m_cut; ++f) {
      one.factors[f] =
          sources[g].node_factors(exec, m_volume->source_layout(f), m_volume->source_scale(f));
    }
    one.factor = wave::detail::source_factor<T>(scheme.grid());
    one.every = m_sampling.every;
    one.rows = m_sampling.rows;
    one.gather = gathers[g];
    one.box = options.box;
    if (m_cut) {
      shots.push_back(one);
    } else {
      m_chain[g]->begin(schedule, one);
    }
  }
  // rows of the gather by the device that recorded them
  const auto count = static_cast<std::size_t>(receivers.front().count());
  const auto rows =
      allocate<wave::Traces<T>>(m_instances.front(), "moho::stream::rows", m_sampling.rows, count);
  for (std::size_t i = 0; i < rows.size(); ++i) rows.data()[i] = T(0);
  // receivers of slabs are recorded by the device that steps their last plane, the others' rows are
  // 0
  const auto keep_sums = [&] {
    for (std::size_t g = 0; g < devices && count > 0; ++g) {
      const std::vector<T> part = download(m_instances[g], gathers[g]);
      for (std::size_t i = 0; i < part.size(); ++i) rows.data()[i] += part[i];
    }
  };
  const auto keep = [&](std::int64_t sweep) {
    for (std::size_t g = 0; g < devices && count > 0; ++g) {
      const std::int64_t level = schedule.first_level(sweep, static_cast<int>(g));
      const std::int64_t done = level + schedule.updates(sweep, static_cast<int>(g));
      const std::int64_t begin = level / m_sampling.every + 1;
      const std::int64_t end = std::min(done / m_sampling.every + 1, m_sampling.rows);
      if (begin >= end) continue;
      const auto range = std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(begin),
                                                             static_cast<std::size_t>(end));
      const Instance<Memory>& exec = m_chain[g]->storing();
      copy(exec, Kokkos::subview(rows, range, Kokkos::ALL),
           Kokkos::subview(gathers[g], range, Kokkos::ALL));
      exec.fence();
    }
  };
  if (first > 0) {
    const auto kept = m_volume->records();
    for (std::size_t row = 0; row < rows.extent(0); ++row) {
      for (std::size_t r = 0; r < count; ++r) rows(row, r) = kept(row, r);
    }
  }
  StreamRunOptions<T> run;
  run.staged = !m_locked;
  run.timeline = options.timeline;
  run.progress = options.progress;
  if (m_volume != nullptr && m_volume->in_file()) {
    run.stored = [&](std::int64_t sweep) {
      keep(sweep);
      const auto kept = m_volume->records();
      for (std::size_t row = 0; row < rows.extent(0); ++row) {
        for (std::size_t r = 0; r < count; ++r) kept(row, r) = rows(row, r);
      }
    };
  }
  if (m_cut) {
    m_slabs->begin(shots);
    const auto start = std::chrono::steady_clock::now();
    result.report.points = m_slabs->run(m_sampling.steps, options.progress);
    result.report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.report.bad_node = m_slabs->bad_node();
    keep_sums();
  } else {
    result.report = run_stream<T, Dim, Memory>(schedule, m_chain, m_volume.get(), run);
  }
  if (result.report.bad_node >= 0) {
    const Grid<Dim>& grid = m_modelling.grid;
    const Index<Dim> node = grid.node(result.report.bad_node);
    throw Error(concat("the wavefield is no longer finite at node ", format_index(node), ", ",
                       format_point(grid.position(node)),
                       " (it overflowed, or the source holds such a number): look at the model "
                       "there, smooth its angles, or take a smaller dt"));
  }
  if (!run.stored && !m_cut) {
    for (std::int64_t s = 0; s < schedule.sweeps(); ++s) keep(s);
  }
  m_level = m_sampling.steps;
  result.traces = wave::detail::traces_of_rows<T>(rows, m_sampling, m_modelling.time.dt);
  result.interval = m_sampling.interval;
  result.steps = m_sampling.steps;
  return result;
}

template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::copy_out(int field, const Box<Dim>& box, T* values) const {
  if (m_volume != nullptr) return m_volume->copy_out(field, box, values);
  if (m_slabs) return m_slabs->copy_out(field, box, values);
  const wave::Layout<Dim> layout = m_schemes.front()->layout();
  const auto& array = m_chain.front()->ring().field(static_cast<int>(m_level & 1), field);
  const std::vector<T> padded = download(m_instances.front(), array);
  for (std::int64_t n = 0; n < box.size(); ++n) {
    values[n] = padded[static_cast<std::size_t>(layout.flat(box.node(n)))];
  }
}

}  // namespace moho::stream

#include <moho/stream/choose.hpp>

/// \cond
#define MOHO_STREAM_DRIVER(prefix, T, Dim, Memory)                                \
  prefix template class Ring<T, Dim, Memory>;                                     \
  prefix template class Pipeline<T, Dim, Memory>;                                 \
  prefix template class Slabs<T, Dim, Memory>;                                    \
  prefix template StreamReport run_lanes<T, Dim, Memory>(                         \
      const std::vector<StreamLane<T, Dim, Memory>>&, const StreamRunOptions<T>&, \
      const StreamAction&);                                                       \
  prefix template class Streaming<T, Dim, Memory>;
#ifdef MOHO_STREAM_KERNELS
namespace moho::stream {
MOHO_FOR_ALL(MOHO_STREAM_DRIVER, extern)
}
#endif
/// \endcond
