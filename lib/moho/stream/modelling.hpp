// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief From a model on the host to gathers, through devices that hold only a part of it.

#include <moho/core/instances.hpp>
#include <moho/stream/detail/prepare.hpp>
#include <moho/stream/detail/rank_engine.hpp>
#include <moho/stream/detail/slabs.hpp>
#include <moho/stream/engine.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/rates.hpp>
#include <moho/wave/modelling.hpp>
#include <moho/wave/not_finite.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
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
  StreamRequest wishes = {};                   ///< memory of a device, block, updates, devices
  std::string file;                            ///< where the volume is kept; empty: in memory
  std::string key;                             ///< what the run is, for a file that is continued
  bool resume = false;                         ///< go on with the file
  bool in_core = true;     ///< a grid that fits the device is held there whole; false: it streams
  bool measure = true;     ///< measure rates before planning; false: `rates`
  StreamRates rates = {};  ///< where they are not measured
  /// Processes that share the work, a device each, which are then all the devices that there are;
  /// null: this one alone. They have to live as long, and to make and call the same, but that shots
  /// are those of each chain.
  StreamRanks* ranks = nullptr;
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
/// it fits several of them together, each holds a slab (Slabs). Devices may be cut into several
/// chains, each with shots of its own; all of one process, or one a rank.
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
  /// \throws InputError, MemoryError, FileError; among ranks the same on all
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
  const StreamRequirements& need() const { return m_need; }
  /// True where copies go to the volume itself, false where they go through buffers.
  bool locked() const { return m_locked; }
  /// What the system said when memory could not be page-locked; empty where it was, or need not be.
  const std::string& lock_text() const { return m_lock_text; }
  /// Chains of this process, each of which takes a shot at a time.
  int chains() const { return m_ranks || m_world != nullptr ? 1 : m_plan.groups; }
  /// The ranks of this one's chain, the first of which has the volume, and says what shots there
  /// are; null where the chain has no other rank.
  StreamRanks* chain_ranks() const { return m_ranks.get(); }
  /// True for ranks that have nothing to do, because there are more than chains take.
  bool idle() const { return m_idle; }
  /// True on the rank of a chain that gets its shots and has their gathers.
  bool leads() const { return !m_idle && m_place == 0; }
  /// Makes volume and rings, with the model's parameters; shot() calls it.
  void prepare();
  /// \brief Models a shot on the first chain. \throws wave::NotFinite where the wavefield is
  /// no longer finite, with the first step; of ranks that is said by the one that leads
  StreamShotResult<T> shot(const wave::Shot<Dim>& shot,
                           const StreamShotOptions<Dim>& options = {}) {
    return std::move(this->shots(std::vector<wave::Shot<Dim>>{shot}, {options}).front());
  }
  /// \brief Models shots at the same time, each on a chain of its own. \param shots up to chains()
  /// \param options one a shot. \throws InputError for more shots, wave::NotFinite as shot()
  std::vector<StreamShotResult<T>> shots(const std::vector<wave::Shot<Dim>>& shots,
                                         const std::vector<StreamShotOptions<Dim>>& options);
  /// \brief The last wavefield of the latest shot of a chain, on the rank that leads.
  /// \param field 0: p; 1: q
  /// \param box nodes of the grid with its layers
  /// \param values as many numbers as the box has nodes, the last axis fastest
  /// \param chain of this process
  void copy_out(int field, const Box<Dim>& box, T* values, int chain = 0) const;
  /// The nodes that are in no layer.
  Box<Dim> interior() const { return m_schemes.front()->interior(); }

 private:
  struct Run;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Device = Pipeline<T, Dim, Memory>;
  using Chain = std::vector<std::unique_ptr<Device>>;
  void examine(const InstanceOf<Memory>& exec, const wave::Boundaries<Dim>& faces,
               const wave::WaveletAt& wavelet, const std::vector<wave::Shot<Dim>>& shots);
  void together(const std::function<void()>& function) const {
    m_world != nullptr ? m_world->together(function) : function();
  }
  void choose();
  void measure_stages();
  void decide(StreamRequest& allowed);
  void share(StreamRequest& allowed);
  void settle(const StreamRequest& allowed);
  void join();
  // \param sharing volumes of ranks of this machine
  void check_host(int sharing) const;
  StreamShape shape_for(const StreamShotOptions<Dim>& options, std::int64_t first) const;
  // In this process: devices of a chain, and the first of one.
  std::size_t devices() const {
    return m_ranks ? 1 : static_cast<std::size_t>(m_plan.shape.devices);
  }
  const Instance<Memory>& instance(std::size_t chain, std::size_t g) const {
    return m_instances[chain * devices() + g];
  }
  const Scheme& scheme(std::size_t chain, std::size_t g) const {
    return *m_schemes[chain * devices() + g];
  }
  HostVolume<T, Dim>* volume(std::size_t chain) const {
    return chain < m_volumes.size() ? m_volumes[chain].get() : nullptr;
  }
  std::unique_ptr<Run> begin(std::size_t chain, const wave::Shot<Dim>& shot,
                             const StreamShotOptions<Dim>& options, bool watched = false);
  void watch(std::unique_ptr<Run>& run);
  void begin_devices(Run& run);
  void execute(std::vector<std::unique_ptr<Run>>& runs);
  void execute_slabs(Run& run);
  void execute_ranks(Run& run);
  void keep(Run& run, std::int64_t sweep) const;
  std::pair<std::size_t, std::size_t> rows_of(const Schedule& schedule, std::int64_t sweep,
                                              int device) const;
  void end(Run& run);

  Grid<Dim> m_model_grid;
  wave::Model<T, Dim, Kokkos::HostSpace> m_model;  ///< until prepare()
  wave::ModellingPlan<Dim> m_modelling;
  StreamingOptions<Dim> m_options;
  std::vector<Instance<Memory>> m_instances;       ///< one a device
  std::vector<std::unique_ptr<Scheme>> m_schemes;  ///< one a device
  PlaneRange m_sources;                            ///< planes of all sources
  std::int64_t m_receivers = 0;                    ///< of the largest shot
  wave::ShotSampling m_sampling;
  StreamRequirements m_need;
  StreamRates m_rates;
  StreamPlan m_plan;
  std::unique_ptr<VolumeShape<T, Dim>> m_shape;
  std::unique_ptr<Schedule> m_schedule;
  std::vector<std::unique_ptr<HostVolume<T, Dim>>> m_volumes;  ///< one a chain
  PinnedRegion<Memory> m_lock;  ///< of the volumes: before them in destruction
  std::vector<Chain> m_chains;
  std::unique_ptr<Slabs<T, Dim, Memory>> m_slabs;
  StreamRanks* m_world = nullptr;        ///< all ranks; null: there is one
  std::unique_ptr<StreamRanks> m_ranks;  ///< of this chain; null: this one is all
  int m_place = 0;                       ///< in the chain
  bool m_idle = false;                   ///< this rank is in no chain
  bool m_whole = false;                  ///< the device holds the whole grid
  bool m_cut = false;                    ///< devices hold slabs of it
  bool m_resumed = false;                ///< a shot was begun, which may have continued a file
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
  if (options.ranks != nullptr && options.ranks->size() > 1) {
    m_world = options.ranks;
    m_options.wishes.devices = m_world->size();
  }
  m_options.wishes.shots = std::max<std::int64_t>(static_cast<std::int64_t>(shots.size()), 1);
  together([&] { examine(exec, faces, wavelet, shots); });
  choose();
}

// What the waves are, what is needed of memory, and whether points lie where they may.
template <class T, int Dim, class Memory>
void Streaming<T, Dim, Memory>::examine(const InstanceOf<Memory>& exec,
                                        const wave::Boundaries<Dim>& faces,
                                        const wave::WaveletAt& wavelet,
                                        const std::vector<wave::Shot<Dim>>& shots) {
  const StreamingOptions<Dim>& options = m_options;
  const Grid<Dim>& grid = m_model_grid;
  using Host = Kokkos::HostSpace;
  const Instance<Host> host = detail::host_instance();
  wave::ModellingOptions<Dim> modelling = options.modelling;
  modelling.memory = std::numeric_limits<std::size_t>::max();  // checked when it is planned
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
  m_sampling =
      wave::shot_sampling(m_modelling.time.dt, m_modelling.time.steps, m_modelling.time.interval);
  m_instances = instances_on_devices(exec, m_world != nullptr ? 1 : options.wishes.devices);
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
    wave::detail::with_argument("sources", [&] {
      check_positions(m_modelling.grid, shot.sources, of + "source", interior());
    });
    wave::detail::with_argument("receivers", [&] {
      check_positions(m_modelling.grid, shot.receivers, of + "receiver", interior());
    });
  }
  m_need = detail::stream_need<T, Dim, Memory>(*m_schemes.front(), *m_shape, shots);
  m_need.shape.steps = m_sampling.steps;
  m_need.fixed += sizeof(T) * static_cast<std::size_t>(
                                  m_receivers * m_sampling.rows +
                                  detail::most_sources(shots) *
                                      static_cast<std::int64_t>(m_modelling.wavelet.size()));
}

}  // namespace moho::stream

#include <moho/stream/choose.hpp>
#include <moho/stream/shot.hpp>

/// \cond
#define MOHO_STREAM_DRIVER(prefix, T, Dim, Memory)                                              \
  prefix template class Ring<T, Dim, Memory>;                                                   \
  prefix template class Pipeline<T, Dim, Memory>;                                               \
  prefix template class Slabs<T, Dim, Memory>;                                                  \
  prefix template StreamReport run_lanes<T, Dim, Memory>(                                       \
      const std::vector<StreamLane<T, Dim, Memory>>&, const StreamRunOptions<T>&,               \
      const StreamAction&);                                                                     \
  prefix template std::vector<StreamReport> run_chains<T, Dim, Memory>(                         \
      const std::vector<StreamLane<T, Dim, Memory>>&, const std::vector<StreamRunOptions<T>>&); \
  prefix template StreamReport run_stream_ranks<T, Dim, Memory>(                                \
      StreamRanks&, const Schedule&, Pipeline<T, Dim, Memory>&, HostVolume<T, Dim>*,            \
      const StreamRunOptions<T>&);                                                              \
  prefix template class Streaming<T, Dim, Memory>;
#ifdef MOHO_STREAM_KERNELS
namespace moho::stream {
MOHO_FOR_ALL(MOHO_STREAM_DRIVER, extern)
}
#endif
/// \endcond
