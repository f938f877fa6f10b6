// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Modelling of shots over a model on the host that streams through devices.

#include <moho/core/instances.hpp>
#include <moho/stream/detail/prepare.hpp>
#include <moho/stream/detail/rank_engine.hpp>
#include <moho/stream/detail/slabs.hpp>
#include <moho/stream/device_count.hpp>
#include <moho/stream/engine.hpp>
#include <moho/stream/kernel/slab_parts.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/rates.hpp>
#include <moho/stream/snapshots.hpp>
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
  wave::ModellingOptions<Dim> modelling = {};  ///< times, order, equations; memory is ignored
  /// Memory of a device, block, updates, devices. Devices 0: the fewest that hold the grid, or all
  /// that the process accesses.
  StreamRequest wishes = {};
  std::string file;     ///< file of the volume; empty: in memory
  std::string key;      ///< identification of the run, for resumed files
  bool resume = false;  ///< true: resume from the file
  bool in_core = true;  ///< true: a grid that fits the device is held there completely; false:
                        ///< it streams
  /// True: each of several devices holds a slab of the grid, and nothing streams. With
  /// `wishes.devices` 0 it takes the fewest devices, at least 2, whose memory suffices. With ranks
  /// the slabs of a shot are on wishes.devices consecutive ranks, whose number divides that of the
  /// ranks; 0: as few as have the memory and leave no rank without a shot.
  bool divided = false;
  bool snapshots = false;  ///< true: the plan has snapshots, which slabs can take
  /// True: slabs follow the boxes of shots. The model stays on the host, because the cuts of a
  /// later shot move where its steps gain more seconds than the division takes.
  bool balance = false;
  double division_seconds = -1.0;  ///< seconds of a division; negative: measured
  bool measure = true;             ///< measure rates before planning; false: `rates`
  StreamRates rates = {};          ///< rates if `measure` is false
  /// Processes that share the work, one device each; null: this process only.
  /// They must outlive the object. All ranks create the object and call its functions with equal
  /// arguments, except for the shots of each chain. No other devices are used.
  StreamRanks* ranks = nullptr;
};

/// Options of a shot.
template <int Dim>
struct StreamShotOptions {
  Timeline* timeline = nullptr;                                  ///< receives spans of the first
                                                                 ///< iterations; may be null
  std::function<void(const wave::ShotProgress&)> progress = {};  ///< called about twice a second
  /// Nodes of the step from a time to the next, a subset of the next step's; empty: all nodes.
  std::function<Box<Dim>(std::int64_t level)> box = {};
};

/// Result of a shot.
template <class T>
struct StreamShotResult {
  wave::Traces<T> traces;                 ///< receivers x samples
  double interval = 0.0;                  ///< sampling interval, s
  std::int64_t steps = 0;                 ///< number of steps
  StreamReport report;                    ///< seconds, bytes
  double waited = 0.0;                    ///< seconds that steps waited for snapshots
  std::vector<std::int64_t> slab_planes;  ///< planes of each slab; empty without slabs
  std::string exchange;                   ///< of slabs of ranks, see StreamRanks::exchange()
  double whole_points = 0.0;              ///< nodes of all steps without boxes, by model_shots()
  double domain_seconds = 0.0;            ///< seconds of domain computations, by model_shots()
};

/// \brief Models shots over a model larger than a device; make_modelling() is for smaller models.
///
/// The model's parameters and the wavefield are on the host (HostVolume); planes of them stream
/// through one device or a chain of several. Gathers and the last wavefield have the bits of
/// wave::Modelling on the same device. A grid that fits one device is held there completely. If it
/// fits several devices together, each holds a slab (Slabs). Devices may form several chains with
/// separate shots, all of one process, or one device per rank.
template <class T, int Dim, class Memory>
class Streaming {
 public:
  /// \brief Checks the model, chooses the time step, prepares the volume, measures rates, and
  /// plans.
  /// \param exec instance of the first device; the object creates those of other devices
  /// \param grid grid of the model
  /// \param model on the host
  /// \param faces whose layers are added
  /// \param wavelet of the sources
  /// \param shots shots of all calls; their sources and receivers are checked
  /// \param options times, memory, devices
  /// \throws InputError, MemoryError, FileError; ranks throw the same error
  Streaming(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
            wave::Model<T, Dim, Kokkos::HostSpace> model, const wave::Boundaries<Dim>& faces,
            const wave::WaveletAt& wavelet, const std::vector<wave::Shot<Dim>>& shots,
            const StreamingOptions<Dim>& options);

  /// Modelling plan.
  const wave::ModellingPlan<Dim>& modelling() const { return m_modelling; }
  /// Plan of the stream.
  const StreamPlan& plan() const { return m_plan; }
  /// Measured or given rates.
  const StreamRates& rates() const { return m_rates; }
  /// Requirements of the stream.
  const StreamRequirements& need() const { return m_need; }
  /// True if copies access the volume directly, false if they use buffers.
  bool locked() const { return m_locked; }
  /// Error of the system if page-locking failed; else empty.
  const std::string& lock_text() const { return m_lock_text; }
  /// Number of chains of this process, each with one shot at a time.
  int chains() const { return m_ranks || m_world != nullptr ? 1 : m_plan.groups; }
  /// Ranks of the chain of this rank; null if the chain has one rank.
  /// The first rank has the volume and distributes the shots.
  StreamRanks* chain_ranks() const { return m_ranks.get(); }
  /// True for ranks in excess of those of all chains.
  bool idle() const { return m_idle; }
  /// True on the rank of a chain that receives its shots and has their gathers.
  bool leads() const { return !m_idle && m_chain_index == 0; }
  /// \brief Cuts slabs for the boxes of the first shot, and sets memory and forecast of the plan.
  ///
  /// Without slabs that follow boxes, see StreamingOptions::balance, it does nothing. Ranks of a
  /// chain give equal boxes before prepare().
  void cut_for(const std::function<Box<Dim>(std::int64_t level)>& boxes);
  /// \brief Allocates volume and rings, and sets the model's parameters; shot() calls it.
  /// \param boxes of the first shot, which slabs of this process follow; see
  /// StreamingOptions::balance
  void prepare(const std::function<Box<Dim>(std::int64_t level)>& boxes = {});
  /// \brief Models a shot on the first chain.
  /// \throws wave::NotFinite with the first step if the wavefield overflows; on ranks, that of the
  /// leading rank
  StreamShotResult<T> shot(const wave::Shot<Dim>& shot,
                           const StreamShotOptions<Dim>& options = {}) {
    return std::move(this->shots(std::vector<wave::Shot<Dim>>{shot}, {options}).front());
  }
  /// \brief Models shots concurrently, each on a separate chain.
  /// \param shots up to chains() shots
  /// \param options options of each shot
  /// \param snapshots snapshots of p on interior(), of a shot in slabs; `last` is set by the plan
  /// \throws InputError for more shots, wave::NotFinite as shot()
  std::vector<StreamShotResult<T>> shots(const std::vector<wave::Shot<Dim>>& shots,
                                         const std::vector<StreamShotOptions<Dim>>& options,
                                         const StreamSnapshots<T>& snapshots = {});
  /// \brief Copies the last wavefield of the latest shot of a chain, on the leading rank; in slabs
  /// over ranks, the planes of this rank.
  /// \param field 0: p, or p / sqrt(rho) where the density varies; 1: q
  /// \param box nodes of the grid with layers
  /// \param values written: one value per node of the box, last axis fastest
  /// \param chain index of a chain of this process
  void copy_out(int field, const Box<Dim>& box, T* values, int chain = 0) const;
  /// Copies p of the last wavefield, as copy_out() does.
  void copy_pressure(const Box<Dim>& box, T* values, int chain = 0) const;
  /// Nodes outside layers.
  Box<Dim> interior() const { return m_schemes.front()->interior(); }

 private:
  struct Run;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Device = Pipeline<T, Dim, Memory>;
  using Chain = std::vector<std::unique_ptr<Device>>;
  void examine(const InstanceOf<Memory>& exec, const wave::Boundaries<Dim>& faces,
               const wave::WaveletAt& wavelet, const std::vector<wave::Shot<Dim>>& shots);
  void collectively(const std::function<void()>& function) const {
    m_world != nullptr ? m_world->collectively(function) : function();
  }
  void choose();
  void measure_stages();
  void decide(StreamRequest& allowed);
  void decide_fewest(StreamRequest& allowed);
  std::size_t slab_bytes(const PlaneRange& own) const;
  std::size_t max_bytes(const std::vector<PlaneRange>& parts) const;
  std::size_t equal_slab_bytes(std::int64_t devices) const;
  void keep_devices(std::int64_t devices);
  [[noreturn]] void refuse_division(std::int64_t devices, const std::vector<std::int64_t>& numbers,
                                    std::size_t memory) const;
  std::string needed_text(std::int64_t devices, std::size_t memory) const;
  void divide(const StreamRequest& allowed);
  std::int64_t ranks_of_shot(std::int64_t min) const;
  void forecast_slabs();
  void plan_parts();
  void share(StreamRequest& allowed);
  void settle(const StreamRequest& allowed);
  void join();
  // `sharing`: number of volumes or processes that share the memory of this machine
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
  void execute(std::vector<std::unique_ptr<Run>>& runs, const StreamSnapshots<T>& snapshots = {});
  void load_slabs();
  std::vector<PlaneRange> parts_for(const std::vector<detail::BoxSteps>& boxes) const;
  void follow(const std::function<Box<Dim>(std::int64_t level)>& boxes);
  void execute_slabs(Run& run, const StreamSnapshots<T>& snapshots);
  void execute_ranks(Run& run);
  void keep(Run& run, std::int64_t sweep) const;
  std::pair<std::size_t, std::size_t> rows_of(const Schedule& schedule, std::int64_t sweep,
                                              int device) const;
  void end(Run& run);

  Grid<Dim> m_model_grid;
  wave::Model<T, Dim, Kokkos::HostSpace> m_model;  ///< until prepare(), unless slabs follow boxes
  wave::ModellingPlan<Dim> m_modelling;
  StreamingOptions<Dim> m_options;
  std::vector<Instance<Memory>> m_instances;       ///< one a device
  std::vector<std::unique_ptr<Scheme>> m_schemes;  ///< one a device
  PlaneRange m_sources;                            ///< planes of all sources
  std::int64_t m_receivers = 0;                    ///< receivers of the largest shot
  wave::ShotSampling m_sampling;
  StreamRequirements m_need;
  StreamRates m_rates;
  StreamPlan m_plan;
  std::unique_ptr<VolumeShape<T, Dim>> m_shape;
  std::unique_ptr<Schedule> m_schedule;
  std::vector<std::unique_ptr<HostVolume<T, Dim>>> m_volumes;  ///< one a chain
  PinnedRegion<Memory> m_lock;  ///< of the volumes: destroyed before them
  std::vector<Chain> m_chains;
  std::unique_ptr<Slabs<T, Dim, Memory>> m_slabs;
  std::vector<detail::BoxSteps> m_boxes;  ///< of the latest shot; empty unless slabs follow boxes
  std::vector<PlaneRange> m_parts;        ///< planes of the slabs
  std::size_t m_slab_limit = 0;           ///< bytes of a slab; 0: any
  double m_division_seconds = 0.0;        ///< seconds of the latest division
  double m_slab_rate = 0.0;               ///< nodes per second of the slab that others wait for
  double m_forecast_rate = 0.0;          ///< that of the forecast; of all slabs if they are in turn
  StreamRanks* m_world = nullptr;        ///< all ranks; null: one process
  std::unique_ptr<StreamRanks> m_ranks;  ///< ranks of this chain; null: one rank
  int m_chain_index = 0;                 ///< position in the chain
  bool m_idle = false;                   ///< true if this rank is in no chain
  bool m_whole = false;                  ///< true if the device holds the complete grid
  bool m_cut = false;                    ///< true if devices hold slabs of the grid
  bool m_fewest = false;                 ///< true if the fewest devices that hold the grid are
                                         ///< chosen
  bool m_resumed = false;                ///< true after the first shot began; it may have resumed a
                                         ///< file
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
    if (!options.divided) m_options.wishes.devices = m_world->size();
  }
  m_options.wishes.shots = std::max<std::int64_t>(static_cast<std::int64_t>(shots.size()), 1);
  collectively([&] { examine(exec, faces, wavelet, shots); });
  choose();
}

// Plans modelling, computes the memory, and checks positions.
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
  modelling.memory = std::numeric_limits<std::size_t>::max();  // the plan of the stream checks
                                                               // memory
  if (!options.snapshots) modelling.time.snapshot_every = 0.0;
  for (const wave::Shot<Dim>& shot : shots) {
    modelling.sources.insert(modelling.sources.end(), shot.sources.begin(), shot.sources.end());
    m_receivers = std::max(m_receivers, static_cast<std::int64_t>(shot.receivers.size()));
  }
  m_modelling = wave::plan_modelling<T, Dim, Host>(host, grid, m_model, faces, wavelet, modelling);
  if (m_modelling.source_taper > 0.0) {
    const double radius = m_modelling.source_taper;
    m_model.delta =
        options.divided
            ? detail::taper_delta_on<T, Dim, Memory>(exec, grid, m_model, modelling.sources, radius)
            : wave::taper_delta<T, Dim, Host>(host, grid, m_model, modelling.sources, radius);
  }
  m_sampling =
      wave::shot_sampling(m_modelling.time.dt, m_modelling.time.steps, m_modelling.time.interval);
  if (options.wishes.devices == 0) {
    m_fewest = true;
    m_options.wishes.devices =
        m_world != nullptr ? m_world->size() : device_count(Instance<Memory>(exec));
  }
  m_instances = instances_on_devices(exec, m_world != nullptr ? 1 : options.wishes.devices);
  wave::PropagatorOptions<Dim> scheme;
  scheme.dt = m_modelling.time.dt;
  scheme.order = modelling.order;
  scheme.boundaries = faces;
  scheme.frequency = m_modelling.frequency;
  scheme.equations = modelling.equations;
  scheme.sigma = modelling.sigma;
  scheme.parameters = modelling.parameters;
  // limits of the stepped model, as for a propagator
  const wave::Limits limits =
      detail::stepped_limits<T, Dim>(host, grid, m_model, faces, m_modelling.random, scheme);
  for (const Instance<Memory>& instance : m_instances) {
    m_schemes.push_back(
        std::make_unique<Scheme>(instance, m_modelling.grid, m_modelling.medium, limits, scheme));
    instance.fence();
  }
  m_modelling.parameter_bits = m_schemes.front()->parameter_bits();
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
                                  detail::max_sources(shots) *
                                      static_cast<std::int64_t>(m_modelling.wavelet.size()));
}

}  // namespace moho::stream

#include <moho/stream/choose.hpp>
#include <moho/stream/shot.hpp>

/// \cond
#ifdef MOHO_STREAM_KERNELS
namespace moho::stream {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Ring)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Pipeline)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Slabs)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, run_lanes)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, run_chains)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, run_stream_ranks)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Streaming)
}  // namespace moho::stream
#endif
/// \endcond
