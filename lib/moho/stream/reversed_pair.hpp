// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Two wavefields that stream backward in time concurrently: a source wavefield and another.
///
/// Gradients and migrations of volumes larger than a device are made of their products.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/stream/modelling.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// Options of ReversedPair.
template <int Dim>
struct ReversedPairOptions {
  /// Time step, order, equations, and faces of the first wavefield.
  wave::PropagatorOptions<Dim> propagator = {};
  wave::RandomLayerOptions random = {};  ///< options of random layers among these faces
  /// Faces of the source wavefield, reversible in time: rigid, free, random.
  wave::Boundaries<Dim> source_faces = {};
  std::vector<double> wavelet = {};  ///< wavelet, a sample per step
  std::int64_t steps = 0;            ///< steps of each propagation, 1 or more
  std::int64_t interval = 1;         ///< steps between actions
  bool models = false;               ///< true if ReversedPair::model() will be called for each shot
  StreamRequest wishes = {};         ///< memory of a device, block, updates, devices
  std::size_t memory = 0;            ///< memory of the host in bytes; 0: available memory
  std::size_t reserved = 0;          ///< bytes of it that the rings of hosts leave to the caller
  bool measure = true;               ///< measure rates before planning; false: `rates`
  PairRates rates = {};              ///< rates if `measure` is false
};

/// Requirements of the action of a ReversedPair.
struct PairRequirements {
  int sums = 0;  ///< arrays of sums on the nodes of the model, which travel with the planes
  int window_arrays = 0;  ///< arrays of a block and `window_around` planes on both sides of it
  std::int64_t window_around = 0;  ///< see window_arrays
  std::int64_t reach = 0;          ///< planes on both sides of a stage that the action reads
  /// Planes below a stage whose sums the action changes; they stay on the device as much longer.
  std::int64_t hold = 0;
  KeptPlanes kept = {};  ///< planes that actions keep for later ones
  /// Arrays of a plane that an action reads or writes, for each plane and action.
  double moved_arrays = 0.0;
  /// Arrays of a plane that are read or written in each step besides, for each plane and step.
  double moved_in_steps = 0.0;
  std::int64_t further_steps = 0;  ///< steps backward from time 0 on, for actions at that time
  int first_shot_sum = 0;          ///< first array of sums that is set to zero before each shot
  int shot_sums = 0;               ///< number of these arrays
  bool sources = false;            ///< true: PairAction::begin_sources() is called
  bool injects = false;  ///< true: PairAction::inject() adds the series to the first wavefield;
                         ///< false: they are added as sources
  std::size_t idle_bytes = 0;   ///< bytes of a device that the owner needs between shots
  std::size_t fixed_bytes = 0;  ///< further bytes of a device
  std::size_t host_bytes = 0;   ///< bytes of the host besides the volumes
};

/// Pipelines of both wavefields on one device.
template <class T, int Dim, class Memory>
struct PairDevice {
  const Pipeline<T, Dim, Memory>& first;              ///< pipeline of the first wavefield
  const wave::Scheme<T, Dim, Memory>& first_scheme;   ///< scheme of its grid
  const Pipeline<T, Dim, Memory>& source;             ///< pipeline of the source wavefield
  const wave::Scheme<T, Dim, Memory>& source_scheme;  ///< scheme of its grid
  std::int64_t steps;                                 ///< steps of each propagation
  std::int64_t interval;                              ///< steps between actions
  std::int64_t block;                                 ///< largest number of planes of a stage
  const Schedule& schedule;                           ///< schedule of the first wavefield
  const StreamRequirements& need;                     ///< requirements of both volumes
};

/// \brief Work of one device between the steps of both wavefields.
///
/// Time `level` of the stream is time steps - level of both wavefields. All work is submitted to
/// the stepping instance of the pipelines.
template <class T, int Dim, class Memory>
class PairAction {
 public:
  PairAction() = default;
  PairAction(const PairAction&) = delete;
  PairAction& operator=(const PairAction&) = delete;
  virtual ~PairAction() = default;
  /// Memory of all arrays, bytes.
  virtual std::size_t bytes() const = 0;
  /// \brief Begins a shot.
  /// \param points points that drive the first wavefield, in the memory of this device
  /// \param series their series, rows of ascending time x points. Both outlive the shot
  virtual void begin(const wave::PointSet<T, Dim, Memory>& points,
                     const wave::PointSeries<const T, Memory>& series) = 0;
  /// \brief Hands over the sources on the grid of the first wavefield, if
  /// PairRequirements::sources. \param sources sources of the shot, in the memory of this device
  /// \param amplitudes their amplitudes, steps x sources. Both outlive the shot
  virtual void begin_sources(const wave::PointSet<T, Dim, Memory>& sources,
                             const wave::PointSeries<const T, Memory>& amplitudes) {
    (void)sources, (void)amplitudes;
  }
  /// \brief Hands over the factors of p over the field where p is a field times sqrt(rho).
  ///
  /// Called after begin() and begin_sources().
  /// \param points,sources by node of the points of begin() and of begin_sources(), for
  /// PointSet::inject_with(); unallocated: 1
  virtual void begin_pressure(const wave::Storage<const T, Memory>& points,
                              const wave::Storage<const T, Memory>& sources) {
    (void)points, (void)sources;
  }
  /// \brief Adds to the sums of the planes of a stage of the first wavefield, before both step.
  ///
  /// In both volumes planes at the time of the stage are those of run_concurrent_volumes().
  virtual void add(const StreamStage& stage) = 0;
  /// Adds the series to planes of the first wavefield after a step, if PairRequirements::injects.
  virtual void inject(const RingPiece& piece, std::int64_t level) { (void)piece, (void)level; }
  /// Receives the action of the device from which this one gets its planes, in a chain.
  ///
  /// The first device gets them from the last one, a sweep later.
  virtual void follow(const PairAction& before) { (void)before; }
};

/// Makes the actions of a ReversedPair.
template <class T, int Dim, class Memory>
struct PairActions {
  /// Returns the requirements; the argument is the scheme of the first wavefield.
  std::function<PairRequirements(const wave::Scheme<T, Dim, Memory>&)> need;
  /// Returns the action of a device; its pipelines outlive the action.
  std::function<std::unique_ptr<PairAction<T, Dim, Memory>>(const PairDevice<T, Dim, Memory>&)>
      make;
};

/// Options of a shot of a ReversedPair.
struct PairShotOptions {
  std::string prefix = {};  ///< prefix of messages about sources and receivers
  /// Reports the progress of a propagation about twice a second.
  /// Propagations: 0 forward, 1 separate source wavefield, 2 backward.
  std::function<void(int propagation, const wave::ShotProgress&)> progress = {};
  Timeline* timeline = nullptr;  ///< receives spans of the first iterations of the backward
                                 ///< propagation; may be null
};

/// Reports of ReversedPair::run().
struct PairReport {
  StreamReport forward;   ///< source wavefield forward
  StreamReport backward;  ///< both wavefields backward
};

/// \brief A source wavefield that returns backward in time, beside a wavefield that data drive.
///
/// Models, wavefields and sums are on the host. For each shot a stream propagates the source
/// wavefield with lossless layers. Then both volumes stream concurrently
/// (run_concurrent_volumes()): the first wavefield is propagated from the last sample to the first,
/// the source wavefield backward in time. Before each stage an action adds products of both to the
/// sums of its planes on the device.
template <class T, int Dim, class Memory>
class ReversedPair {
 public:
  /// Model on the host, without layers.
  using HostModel = wave::Model<T, Dim, Kokkos::HostSpace>;
  using Series = wave::PointSeries<T, Memory>;  ///< samples x points

  /// \brief Checks, measures rates, and plans; nothing large is allocated.
  /// \param exec instance of the first device; the object creates those of other devices
  /// \param grid of the model
  /// \param model initial model; it determines the faces of all models
  /// \param shots shots of all calls
  /// \param options steps, faces, memory, devices
  /// \param actions actions of the devices
  /// \throws InputError, MemoryError
  ReversedPair(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const HostModel& model,
               const std::vector<wave::Shot<Dim>>& shots, const ReversedPairOptions<Dim>& options,
               const PairActions<T, Dim, Memory>& actions);

  /// Plan of the two concurrent volumes.
  const StreamPlan& plan() const { return m_plan; }
  /// Requirements of the stream.
  const StreamRequirements& need() const { return m_need; }
  /// Measured or given rates.
  const PairRates& rates() const { return m_rates; }
  /// \brief Returns the estimated seconds of a shot.
  ///
  /// The estimate includes the runs of a shot: data if ReversedPairOptions::models, source
  /// wavefield, both backward with the action. It also includes preparation of the source's
  /// parameters, and copies of sums and traces.
  double seconds() const;
  /// Returns the estimated seconds of model_shot().
  double model_seconds() const { return forward_seconds(m_need); }
  /// False if copies use buffers because memory could not be page-locked.
  bool locked() const { return m_locked; }
  /// Memory of all arrays on a device in bytes, without points and their series.
  std::size_t device_bytes() const;
  /// Returns the instance of the first device.
  const Instance<Memory>& exec() const { return m_instances.front(); }
  /// Returns the grid of the model.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Returns the current model.
  const HostModel& model() const { return m_model; }
  /// Returns true after update(): volumes, pipelines and actions are complete.
  bool prepared() const { return m_prepared; }

  /// Sets the model; the first call creates the volumes. Sums are unchanged.
  /// \throws InputError for a model of another medium or with unstable velocities
  void update(const HostModel& model);
  /// Sets all sums to zero.
  void clear();
  /// \brief Models traces of a shot with the faces of the first wavefield.
  /// \param shot sources, receivers
  /// \param rows receives the traces, (steps + 1) x receivers
  /// \param options names, progress
  StreamReport model_shot(const wave::Shot<Dim>& shot, const wave::Traces<T>& rows,
                          const PairShotOptions& options);
  /// \brief Runs the source wavefield forward, then both wavefields backward with the action.
  /// \param shot sources of the source wavefield; receivers that drive the first one
  /// \param random options of random layers of the source wavefield
  /// \param series of the receivers, in the memory of the first device: row n is added in the step
  ///   that begins at time n, samples x receivers
  /// \param options names, progress
  /// \throws InputError for invalid points; wave::NotFinite if a wavefield overflows
  PairReport run(const wave::Shot<Dim>& shot, const wave::RandomLayerOptions& random,
                 const Series& series, const PairShotOptions& options);
  /// Returns the actions, one a device; empty before update().
  const std::vector<std::unique_ptr<PairAction<T, Dim, Memory>>>& actions() const {
    return m_actions;
  }
  /// Returns the sums on the nodes of the model, an array for each of PairRequirements::sums.
  const std::vector<PlaneArray<T>>& sums() const { return m_first.volume->state().sums; }
  /// Returns `count` consecutive sums as one array, which shares the memory of the volume.
  wave::Storage<T, Kokkos::HostSpace> sums(int first, int count) const {
    return m_first.volume->sums(first, count);
  }

 private:
  using Host = Kokkos::HostSpace;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Chain = std::vector<std::unique_ptr<Pipeline<T, Dim, Memory>>>;
  using Points = wave::PointSet<T, Dim, Memory>;
  /// Volume and pipelines of one of the two wavefields.
  struct Side {
    wave::PropagatorOptions<Dim> options;
    wave::RandomLayerOptions random;
    Grid<Dim> grid;
    PlaneRange sources;                            ///< planes of all injected points
    std::vector<std::unique_ptr<Scheme>> schemes;  ///< one a device
    std::unique_ptr<VolumeShape<T, Dim>> shape;
    std::unique_ptr<Schedule> schedule;  ///< schedule of the backward propagation
    std::unique_ptr<HostVolume<T, Dim>> volume;
    PinnedRegion<Memory> lock;
    Chain chain;
  };

  void check() const;
  void make_side(Side& side, const HostModel& model, const std::vector<wave::Shot<Dim>>& shots);
  void make_need(const std::vector<wave::Shot<Dim>>& shots);
  double forward_seconds(const StreamRequirements& volume) const;
  void measure(const StreamRequest& wishes);
  void measure_stages();
  void measure_preparation();
  void prepare();
  void load(Side& side);
  StreamShot<T, Dim, Memory> injection(Side& side, std::size_t g, const Points& points,
                                       const wave::PointSeries<const T, Memory>& amplitudes) const;
  StreamShot<T, Dim, Memory> sources_of(Side& side, std::size_t g, const Points& points) const;
  StreamReport forward(Side& side, const std::vector<Points>& sources,
                       const std::vector<Points>* receivers, std::int64_t steps,
                       const wave::Traces<T>& rows, int propagation,
                       const PairShotOptions& options);
  StreamReport backward(const wave::Shot<Dim>& shot, const std::vector<Points>& sources,
                        const std::vector<Points>& receivers, const Series& series,
                        const PairShotOptions& options);
  static void check_finite(const Side& side, const char* context);
  std::vector<Points> points_of(const Side& side, const moho::Points<Dim>& positions,
                                const std::string& name) const;
  StreamRunOptions<T> run_options(int propagation, const PairShotOptions& options) const;
  // Returns the time of the last action.
  std::int64_t last_action() const {
    return m_options.steps / m_options.interval * m_options.interval;
  }
  // Planes of a model, for work piece by piece.
  static std::int64_t planes_of_piece(const Grid<Dim>& grid) {
    const std::int64_t plane = grid.size() / grid.extents[0];
    return std::clamp<std::int64_t>((std::int64_t(1) << 22) / plane, 1, grid.extents[0]);
  }

  Grid<Dim> m_grid;
  ReversedPairOptions<Dim> m_options;
  PairActions<T, Dim, Memory> m_make;
  std::vector<Instance<Memory>> m_instances;  ///< one a device
  Side m_first, m_source;
  PairRequirements m_action;
  std::int64_t m_max_receivers = 0;
  StreamRequirements m_need;
  PairRates m_rates;
  StreamPlan m_plan;
  bool m_locked = true;
  bool m_prepared = false;
  HostModel m_model;
  std::vector<std::unique_ptr<PairAction<T, Dim, Memory>>> m_actions;  ///< one a device
};

}  // namespace moho::stream

#include <moho/stream/detail/reversed_pair_impl.hpp>
