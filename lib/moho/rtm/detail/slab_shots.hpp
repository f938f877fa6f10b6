// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Migration of shots over a grid that several devices hold in slabs (internal).

#include <moho/domain/factory.hpp>
#include <moho/rtm/detail/random_source.hpp>
#include <moho/rtm/detail/shot_parts.hpp>
#include <moho/rtm/detail/slab_offsets.hpp>
#include <moho/snapshot/make_store.hpp>
#include <moho/stream/kernel/grid_parts.hpp>
#include <moho/stream/kernel/rank_boxes.hpp>
#include <moho/stream/kernel/slab_parts.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::rtm::detail {

/// Domain whose boxes are known before the run.
template <class T, int Dim, class Memory>
class KnownBoxes : public wave::Domain<T, Dim, Memory> {
 public:
  /// \param boxes nodes of the step from a time, each box within the next one
  explicit KnownBoxes(std::function<Box<Dim>(std::int64_t)> boxes) : m_boxes(std::move(boxes)) {}
  Box<Dim> box(const Instance<Memory>&, const wave::Propagator<T, Dim, Memory>&,
               const wave::Wavefield<T, Dim, Memory>&, std::int64_t step) override {
    return m_boxes(step);
  }

 private:
  std::function<Box<Dim>(std::int64_t)> m_boxes;
};

/// \brief Shots over a grid in slabs along x, one for each device of this process, or one for each
/// rank.
///
/// Each device runs migrate_shot() on the planes of its slab, and stores the source wavefield of
/// these planes. Images have the bits of one device with the same storage. Snapshots that are
/// compressed by the lorenzo and transform codecs differ within the error bound, since their
/// quantum depends on the amplitudes of the slab. Arrays exist during the migration of a shot. On
/// hosts each slab of a process has one thread. With ranks the first one receives the image; its
/// largest values and costs are those of all.
template <class T, int Dim, class Memory>
class SlabShots {
  using Host = Kokkos::HostSpace;
  using Parts = stream::GridParts<T, Dim, Memory>;
  using Added = AddedParts<T, Dim, Memory>;
  using Tell = std::function<void(int, const wave::ShotProgress&)>;

 public:
  /// \param exec instance of the first device
  /// \param input arguments of the migration; they outlive the object
  /// \param modelling options with the time step of all shots
  /// \param align slabs begin at multiples of this number of planes
  /// \throws InputError for more devices than the process accesses
  SlabShots(const Instance<Memory>& exec, const MigrationInput<T, Dim>& input,
            const wave::ModellingOptions<Dim>& modelling, std::int64_t align)
      : m_input(input),
        m_modelling(modelling),
        m_align(align),
        m_instances(stream::slab_instances<Memory>(exec, input.options.stream.devices,
                                                   input.options.ranks)) {
    // devices allocate slowly, hosts only pages that are written
    constexpr std::int64_t piece = std::int64_t{1} << (is_host_memory<Memory> ? 22 : 25);
    for (std::size_t g = 0; g < m_instances.size(); ++g) {
      m_arenas.push_back(
          std::make_unique<snapshot::StorageArenas<T, Memory>>(snapshot::StorageArenas<T, Memory>{
              snapshot::DeviceArena<T, Memory>("moho::rtm::snapshots", piece),
              snapshot::HostArena<T, Memory>("moho::rtm::snapshots on the host", piece)}));
    }
  }
  SlabShots(const SlabShots&) = delete;
  SlabShots& operator=(const SlabShots&) = delete;

  /// \brief Plans a shot; nothing large is allocated.
  /// \param window,part nodes of the model, and the model at these nodes
  /// \param shot live sources and receivers
  void plan_shot(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
                 const wave::Shot<Dim>& shot);
  /// \brief Plans a shot as plan_shot() does, and divides its grid.
  /// \throws InputError for slabs with too few planes
  void open(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
            const wave::Shot<Dim>& shot) {
    plan_shot(window, part, shot);
    m_own = divided(m_plan.grid.extents[0], m_input.options.stream.devices);
    m_boxes.clear();
  }
  /// Plan of modelling of the latest shot.
  const wave::ModellingPlan<Dim>& modelling() const { return m_plan; }
  /// Scheme of the first shot.
  const wave::Scheme<T, Dim, Memory>& scheme() const { return *m_scheme; }
  /// Instances of the devices of this process.
  const std::vector<Instance<Memory>>& instances() const { return m_instances; }
  /// Nodes of the window of the latest shot.
  std::int64_t window_nodes() const { return m_window.grid.size(); }
  /// Planes that a slab reads of each neighbour.
  std::int64_t halo() const { return m_halo; }
  /// \brief Cuts the slabs of the shot of plan_shot() for the boxes of its domain; without one they
  /// stay. \return nodes of the step from a time, the same on all ranks; empty without a domain
  std::function<Box<Dim>(std::int64_t)> follow_domain(const wave::Shot<Dim>& shot);
  /// Returns planes and bytes of the slabs of the latest shot, with the storage of allow().
  stream::SlabPlan slab_plan() const;
  /// Returns the nodes stepped by the slowest slab in each step of the latest shot, over those of
  /// the largest of equal slabs without a domain; 1 without a domain.
  double part_stepped() const;
  /// Planes of the slabs of the latest shot, of the grid with layers.
  const std::vector<PlaneRange>& own() const { return m_own; }

  /// \brief Returns the planes of slabs.
  /// \param planes of the grid with layers \param devices number of slabs
  /// \throws InputError for slabs with too few planes, with the largest number of devices
  std::vector<PlaneRange> divided(std::int64_t planes, std::int64_t devices) const;
  /// \brief Checks half offsets: columns read nodes of the two neighbours of a slab.
  /// \param window planes without layers \param devices number of slabs
  /// \throws InputError if the largest is more than the planes of the model in a slab between two
  /// others
  void check_offsets(std::int64_t window, std::int64_t devices) const;
  /// Sets the bytes of each device that slabs may take, and the storage of the largest of equal
  /// slabs without a domain.
  void allow(double bytes, const snapshot::StorageChoice& storage) {
    m_allowed = bytes;
    m_storage = storage;
  }
  /// Returns the planes that a slab holds: its own ones and those that it reads of its neighbours.
  PlaneRange held(const std::vector<PlaneRange>& own, std::size_t g) const {
    return {std::max(own[g].begin - m_halo, own.front().begin),
            std::min(own[g].end + m_halo, own.back().end)};
  }
  /// Returns the bytes of a slab of the first shot, without snapshots.
  double bytes(const std::vector<PlaneRange>& own, std::size_t g) const {
    return bytes(*m_scheme, m_need, PointProducts::part_count, own, g) +
           slab_offset_bytes<T, Dim>(m_input.grid, m_input.options.offsets);
  }
  /// Returns the bytes of a wavefield of a slab of the first shot.
  double state_bytes(const std::vector<PlaneRange>& own, std::size_t g) const {
    const stream::SlabElements slab =
        stream::slab_elements(*m_scheme, m_need, own[g].count(), held(own, g));
    const double fields = 2.0 * m_scheme->fields() + wave::info(m_scheme->stencil()).work_fields;
    return static_cast<double>(sizeof(T)) * (slab.padded * fields + slab.layers);
  }
  /// Returns the nodes of a slab of the first shot with random layers; 0 for other storage.
  double random_nodes(const std::vector<PlaneRange>& own, std::size_t g) const {
    if (!m_random_scheme) return 0.0;
    return static_cast<double>(m_random_need.plane_nodes * random_parts(own)[g].count());
  }
  /// Returns the bytes of its propagator and two wavefields; 0 for other storage.
  double random_bytes(const std::vector<PlaneRange>& own, std::size_t g) const {
    if (!m_random_scheme) return 0.0;
    const auto& scheme = *m_random_scheme;
    const std::vector<PlaneRange> parts = random_parts(own);
    const stream::SlabElements slab =
        stream::slab_elements(scheme, m_random_need, parts[g].count(), held(parts, g));
    const double wavefield = 2.0 * scheme.fields() + wave::info(scheme.stencil()).work_fields;
    return static_cast<double>(sizeof(T)) * slab.padded * (slab.medium + 2.0 * wavefield);
  }
  /// Returns the bytes of a slab while data are modelled; 0 without a data model.
  double data_bytes(const std::vector<PlaneRange>& own, std::size_t g) const {
    if (!m_data_scheme) return 0.0;
    // traces are copied to the host, and those of all slabs from there
    const double copies = is_host_memory<Memory> ? 2.0 * series_bytes() : 0.0;
    return bytes(*m_data_scheme, m_data_need, 0, own, g) + copies;
  }
  /// Returns the bytes of one series of the points of the largest shot.
  double series_bytes() const {
    std::size_t points = 0;
    for (const auto& shot : m_input.shots) {
      points = std::max(points, shot.sources.size() + shot.receivers.size());
    }
    return static_cast<double>(sizeof(T) * points) * static_cast<double>(m_plan.time.steps + 1);
  }

  /// \brief Migrates the shot of open(), and sets values and largest of its image.
  /// \param shot of the prepared data
  /// \param rows data, samples x receivers
  /// \param storage of the source wavefield, with the budget and threads of a slab
  /// \param added accumulators
  /// \param offsets columns of gathers in the window
  /// \param tell receives progress: 0 forward, 1 backward propagation; may be empty
  /// \param result receives the image; its window is that of open()
  /// \throws Error with step and node if a wavefield overflows
  MigrateReport<Dim> migrate(const wave::Shot<Dim>& shot, HostSeries<T> rows,
                             const snapshot::StoragePlan& storage, const std::vector<Added>& added,
                             const OffsetOptions<Dim>& offsets, const Tell& tell,
                             ShotImage<T, Dim>& result);
  /// Models traces of a shot, receivers x (steps + 1), over a data model in a window.
  wave::Traces<T> model_data(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
                             const wave::Shot<Dim>& shot);

 private:
  // Arrays of a slab.
  struct Slab {
    std::unique_ptr<wave::Propagator<T, Dim, Memory>> propagator;
    wave::Wavefield<T, Dim, Memory> wavefield;
    std::unique_ptr<ShotTerms<T, Dim, Memory>> terms;
    std::unique_ptr<RandomSource<T, Dim, Memory>> random;  ///< null: terms->forward is imaged
    ShotSums<T, Dim, Memory> sums;
    std::unique_ptr<SlabOffsets<T, Dim, Memory>> offsets;  ///< null: no gathers
  };
  void plan(const survey::ShotWindow<Dim>& window, const HostModel<T, Dim>& part,
            const Points<Dim>& tapered);
  double bytes(const wave::Scheme<T, Dim, Memory>& scheme, const stream::StreamRequirements& need,
               int sums, const std::vector<PlaneRange>& own, std::size_t g) const;
  std::vector<Slab> make_slabs();
  void balance();
  double kept_bytes(const std::vector<PlaneRange>& own, std::size_t g) const;
  void make_random(std::vector<Slab>& slabs, const wave::Shot<Dim>& shot, const std::string& name);
  // Planes that slabs own in the grid with random layers.
  std::vector<PlaneRange> random_parts(const std::vector<PlaneRange>& own) const {
    const auto faces = snapshot::random_faces(m_input.faces, random_width());
    const std::int64_t lower = faces.lower[0].layer() - m_input.faces.lower[0].layer();
    const std::int64_t upper = faces.upper[0].layer() - m_input.faces.upper[0].layer();
    const std::int64_t planes = own.back().end;
    return stream::parts_with_layers(
        own, lower, planes + lower + upper, m_halo,
        [&](std::int64_t devices) { return stream::detail::parts_of(division(planes), devices); });
  }
  // Returns the division of a grid. \param planes of the grid with layers
  stream::detail::SlabDivision division(std::int64_t planes) const {
    const auto& faces = m_input.faces;
    return {planes, m_halo, m_align, {faces.lower[0].layer(), planes - faces.upper[0].layer()}};
  }
  int random_width() const { return m_input.options.storage.random_width; }
  bool is_random() const { return m_input.options.storage.method == "random"; }
  MigrateReport<Dim> migrate_slab(Slab& slab, std::size_t g,
                                  const MigrateOptions<T, Dim, Memory>& options,
                                  const snapshot::StoragePlan& storage,
                                  const std::function<Box<Dim>(std::int64_t)>& boxes,
                                  const std::vector<Added>& added);
  MigrateReport<Dim> sum_of(const std::vector<MigrateReport<Dim>>& reports) const;
  void collect(const std::vector<Slab>& slabs, const std::vector<PlaneRange>& planes,
               bool complete_receivers, std::size_t parts, ShotImage<T, Dim>& result) const;
  void collect_offsets(const std::vector<Slab>& slabs, const OffsetLines<Dim>& lines,
                       ShotImage<T, Dim>& result) const;
  // Returns the arenas of a slab of this process.
  snapshot::StorageArenas<T, Memory>& arenas(std::size_t g) const {
    return *m_arenas[g - m_parts->first()];
  }

  const MigrationInput<T, Dim>& m_input;
  const wave::ModellingOptions<Dim>& m_modelling;
  std::int64_t m_align;
  std::vector<Instance<Memory>> m_instances;
  std::vector<std::unique_ptr<snapshot::StorageArenas<T, Memory>>> m_arenas;
  survey::ShotWindow<Dim> m_window;
  wave::ModellingPlan<Dim> m_plan;
  std::int64_t m_shot = 0;                                              ///< number of the shot
  HostModel<T, Dim> m_model;                                            ///< as stepped
  std::optional<wave::Scheme<T, Dim, Memory>> m_scheme, m_data_scheme,  ///< of the first shot
      m_random_scheme;                                                  ///< with random layers
  stream::StreamRequirements m_need, m_data_need, m_random_need;        ///< of these schemes
  std::int64_t m_halo = 0;            ///< planes that slabs read of a neighbour
  double m_allowed = 0.0;             ///< bytes of a slab
  snapshot::StorageChoice m_storage;  ///< of the largest of equal slabs, without a domain
  std::vector<PlaneRange> m_own;
  std::vector<stream::detail::BoxSteps> m_boxes;  ///< of the latest shot; empty without a domain
  std::unique_ptr<Parts> m_parts;                 ///< outlives the propagators
  std::unique_ptr<Parts> m_random_parts;          ///< of the grid with random layers
};

template <class T, int Dim, class Memory>
std::vector<PlaneRange> SlabShots<T, Dim, Memory>::divided(std::int64_t planes,
                                                           std::int64_t devices) const {
  std::vector<PlaneRange> own = stream::detail::divide(division(planes), devices);
  if (is_random()) random_parts(own);
  return own;
}

template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::check_offsets(std::int64_t window, std::int64_t devices) const {
  if (m_input.options.offsets.count() == 0) return;
  const std::int64_t lower = m_input.faces.lower[0].layer();
  const std::vector<PlaneRange> own =
      divided(window + lower + m_input.faces.upper[0].layer(), devices);
  std::int64_t max = window;
  for (std::size_t g = 1; g + 1 < own.size(); ++g) {
    max = std::min(max, intersection(own[g], PlaneRange{lower, lower + window}).count());
  }
  const std::int64_t largest = m_input.options.offsets.max_half_offset;
  if (largest <= max) return;
  const double spacing = m_input.grid.spacing[0];
  throw InputError(concat("offsets: the largest half offset is ", largest, " nodes (allowed: 0 to ",
                          max, " nodes, ", static_cast<double>(max) * spacing,
                          " m, the planes of the model in the thinnest of ", devices,
                          " slabs): take a smaller one, or fewer slabs"));
}

template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::plan(const survey::ShotWindow<Dim>& window,
                                     const HostModel<T, Dim>& part, const Points<Dim>& tapered) {
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  wave::ModellingOptions<Dim> options = m_modelling;
  options.sources = tapered;
  options.memory = std::numeric_limits<std::size_t>::max();  // that of slabs is checked
  m_plan = wave::plan_modelling<T, Dim, Host>(host, window.grid, part, m_input.faces,
                                              m_input.wavelet, options);
  m_model = part;
  if (m_plan.source_taper > 0.0) {
    m_model.delta = stream::detail::taper_delta_on<T, Dim, Memory>(
        m_instances.front(), window.grid, part, tapered, m_plan.source_taper);
  }
  m_window = window;
}

template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::plan_shot(const survey::ShotWindow<Dim>& window,
                                          const HostModel<T, Dim>& part,
                                          const wave::Shot<Dim>& shot) {
  plan(window, part, tapered_points(shot));
  m_shot = shot.number;
  if (!m_scheme) {
    // points of all shots have the same distances from nodes in all windows
    const wave::PropagatorOptions<Dim> plain = propagator_options(m_plan, m_modelling);
    const auto make = [&](wave::Medium medium, const wave::PropagatorOptions<Dim>& options,
                          auto& scheme, stream::StreamRequirements& need) {
      scheme.emplace(m_instances.front(), wave::extended_grid(window.grid, options.boundaries),
                     medium, m_plan.limits, options);
      need = stream::detail::stream_need<T, Dim, Memory>(
          *scheme, stream::VolumeShape<T, Dim>(*scheme), m_input.shots);
      m_halo = std::max<std::int64_t>(m_halo, need.shape.beyond());
    };
    make(m_plan.medium, plain, m_scheme, m_need);
    if (m_input.data_model) make(m_input.data_model->medium(), plain, m_data_scheme, m_data_need);
    if (is_random()) {
      make(m_plan.medium, random_propagator_options(plain, random_width()), m_random_scheme,
           m_random_need);
    }
  }
}

template <class T, int Dim, class Memory>
double SlabShots<T, Dim, Memory>::bytes(const wave::Scheme<T, Dim, Memory>& scheme,
                                        const stream::StreamRequirements& need, int sums,
                                        const std::vector<PlaneRange>& own, std::size_t g) const {
  const stream::SlabElements slab =
      stream::slab_elements(scheme, need, own[g].count(), held(own, g));
  const double fields = 2.0 * scheme.fields() + wave::info(scheme.stencil()).work_fields;
  return static_cast<double>(sizeof(T)) *
             (slab.padded * (slab.medium + fields) + slab.layers + slab.nodes * sums) +
         series_bytes() + static_cast<double>(need.fixed);
}

template <class T, int Dim, class Memory>
std::vector<typename SlabShots<T, Dim, Memory>::Slab> SlabShots<T, Dim, Memory>::make_slabs() {
  const Instance<Host> host = Kokkos::DefaultHostExecutionSpace();
  const wave::PropagatorOptions<Dim> options = propagator_options(m_plan, m_modelling);
  const wave::Limits limits = stream::detail::stepped_limits<T, Dim>(
      host, m_window.grid, m_model, options.boundaries, m_plan.random, options);
  m_parts = std::make_unique<Parts>(m_instances, m_own, m_halo, m_input.options.ranks);
  std::vector<Slab> slabs(m_own.size());
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = m_parts->instance(g);
    slabs[g].propagator = std::make_unique<wave::Propagator<T, Dim, Memory>>(
        exec, m_plan.grid, m_plan.medium, limits, options, m_parts->part(g));
    stream::load_part<T, Dim, Memory>(exec, *slabs[g].propagator, m_window.grid, m_model,
                                      m_plan.random);
    slabs[g].wavefield = slabs[g].propagator->make_wavefield(exec);
    exec.fence();
  });
  return slabs;
}

// Makes the source wavefield with random layers of each slab.
template <class T, int Dim, class Memory>
void SlabShots<T, Dim, Memory>::make_random(std::vector<Slab>& slabs, const wave::Shot<Dim>& shot,
                                            const std::string& name) {
  const wave::PropagatorOptions<Dim> options =
      random_propagator_options(propagator_options(m_plan, m_modelling), random_width());
  const Grid<Dim> grid = wave::extended_grid(m_window.grid, options.boundaries);
  m_random_parts = std::make_unique<Parts>(*m_parts, random_parts(m_own), m_halo);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = m_parts->instance(g);
    // random layers do not raise velocities
    wave::Propagator<T, Dim, Memory> propagator(exec, grid, m_plan.medium,
                                                slabs[g].propagator->scheme().limits(), options,
                                                m_random_parts->part(g));
    stream::load_part<T, Dim, Memory>(exec, propagator, m_window.grid, m_model,
                                      random_layers_of(m_plan, shot));
    slabs[g].random = std::make_unique<RandomSource<T, Dim, Memory>>(
        exec, std::move(propagator), shot, slabs[g].terms->forward.amplitudes, name);
  });
}

template <class T, int Dim, class Memory>
MigrateReport<Dim> SlabShots<T, Dim, Memory>::migrate_slab(
    Slab& slab, std::size_t g, const MigrateOptions<T, Dim, Memory>& options,
    const snapshot::StoragePlan& storage, const std::function<Box<Dim>(std::int64_t)>& boxes,
    const std::vector<Added>& added) {
  const Instance<Memory>& exec = m_parts->instance(g);
  MigrateOptions<T, Dim, Memory> own = options;
  KnownBoxes<T, Dim, Memory> domain(boxes);
  if (boxes) own.domain = &domain;
  if (g != 0) own.progress = {};
  own.store_steps = storage.strategy.keep == snapshot::StorageMethod::boundary_values ||
                    storage.strategy.keep == snapshot::StorageMethod::checkpoints;
  if (slab.random) {
    own.source = &slab.random->term();
    own.source_wavefield = &slab.random->wavefield();
  }
  slab.sums.add_accumulators(exec, added, *slab.propagator, own);
  const double weight = static_cast<double>(own.snapshot_interval) * slab.propagator->dt();
  if (slab.offsets) {
    own.add_offsets = [&](const auto& snapshot, const auto& receivers, const Box<Dim>& box) {
      slab.offsets->add(exec, *m_parts, snapshot, receivers.layout, receivers.now[0], box, weight);
    };
  }
  const auto store = snapshot::make_store<T, Dim, Memory>(
      exec, storage, slab.random ? slab.random->term() : slab.terms->forward, arenas(g),
      m_input.options.timeline);
  return with_shot(concat("a slab of shot ", m_shot), [&] {
    return migrate_shot<T, Dim, Memory>(exec, *slab.propagator, slab.wavefield, slab.terms->forward,
                                        slab.terms->backward, *store, own, slab.sums.products);
  });
}

// Returns the cost of all slabs, on the process of the first.
template <class T, int Dim, class Memory>
MigrateReport<Dim> SlabShots<T, Dim, Memory>::sum_of(
    const std::vector<MigrateReport<Dim>>& reports) const {
  struct Cost {
    double forward, forward_whole, backward, backward_whole;
    double raw_bytes, kept_bytes, points, seconds_waited;
    std::size_t host_bytes, disk_bytes, device_bytes;
  };
  std::vector<Cost> costs;
  for (const MigrateReport<Dim>& one : reports) {
    const snapshot::SnapshotReport& of = one.snapshots;
    costs.push_back({one.forward.points, one.forward.whole_points, one.backward.points,
                     one.backward.whole_points, of.raw_bytes, of.kept_bytes, of.points,
                     of.seconds_waited, of.host_bytes, of.disk_bytes, of.device_bytes});
  }
  m_parts->collect(costs);
  MigrateReport<Dim> sum = reports[m_parts->first()];
  snapshot::SnapshotReport& all = sum.snapshots;
  for (std::size_t g = m_parts->first() + 1; g < costs.size(); ++g) {
    const Cost& one = costs[g];
    sum.forward.points += one.forward;
    sum.forward.whole_points += one.forward_whole;
    sum.backward.points += one.backward;
    sum.backward.whole_points += one.backward_whole;
    all.raw_bytes += one.raw_bytes;
    all.kept_bytes += one.kept_bytes;
    all.points += one.points;
    all.host_bytes += one.host_bytes;
    all.disk_bytes += one.disk_bytes;
    all.device_bytes = std::max(all.device_bytes, one.device_bytes);
    all.seconds_waited = std::max(all.seconds_waited, one.seconds_waited);
  }
  return sum;
}

template <class T, int Dim, class Memory>
MigrateReport<Dim> SlabShots<T, Dim, Memory>::migrate(const wave::Shot<Dim>& shot,
                                                      HostSeries<T> rows,
                                                      const snapshot::StoragePlan& storage,
                                                      const std::vector<Added>& added,
                                                      const OffsetOptions<Dim>& offsets,
                                                      const Tell& tell, ShotImage<T, Dim>& result) {
  const MigrationOptions<Dim>& given = m_input.options;
  const std::string name = concat("shot ", shot.number);
  const std::function<Box<Dim>(std::int64_t)> boxes = follow_domain(shot);
  std::vector<Slab> slabs = make_slabs();
  const std::size_t count = slabs.size();
  std::vector<PlaneRange> planes;  // of the window
  for (std::size_t g = 0; g < count; ++g) {
    planes.push_back(
        stream::model_planes(m_own[g], slabs[m_parts->first()].propagator->interior()));
  }
  OffsetLines<Dim> lines;
  if (offsets.count() > 0) lines = OffsetLines<Dim>(m_window.grid, offsets, planes);
  m_parts->run([&](std::size_t g) {
    const Instance<Memory>& exec = m_parts->instance(g);
    slabs[g].terms = std::make_unique<ShotTerms<T, Dim, Memory>>(exec, *slabs[g].propagator,
                                                                 m_plan.wavelet, shot, rows, name);
    Grid<Dim> part = m_window.grid;
    part.extents[0] = planes[g].count();
    slabs[g].sums = ShotSums<T, Dim, Memory>(exec, part, {}, added);
    if (offsets.count() > 0) {
      slabs[g].offsets = std::make_unique<SlabOffsets<T, Dim, Memory>>(
          exec, lines, g, slabs[g].propagator->interior());
    }
    exec.fence();
  });
  rows = {};
  if (is_random()) make_random(slabs, shot, name);
  MigrateOptions<T, Dim, Memory> options;
  options.steps = m_plan.time.steps;
  options.snapshot_interval = storage.interval;
  options.complete_receivers =
      given.domain == domain::ExpansionMethod::none || given.complete_receivers;
  if (tell) {
    options.progress = [&tell, count](int propagation, wave::ShotProgress now) {
      now.points_per_second *= static_cast<double>(count);  // of all slabs
      tell(propagation, now);
    };
  }
  Timeline* const timeline = given.timeline;
  const double begin = timeline != nullptr ? timeline->now() : 0.0;
  MigrateReport<Dim> done =
      wave::locate_overflow<Dim>(m_input.grid, options.steps, name, [&](std::int64_t check_every) {
        // codecs refuse invalid numbers: all ranks have to find these first
        const bool together = given.ranks != nullptr && !storage.strategy.lossless;
        options.check_every = together ? std::min(check_every, storage.interval) : check_every;
        std::vector<MigrateReport<Dim>> reports(count);
        m_parts->run([&](std::size_t g) {
          reports[g] = migrate_slab(slabs[g], g, options, storage,
                                    check_every == 1 ? nullptr : boxes, added);
        });
        return sum_of(reports);
      });
  if (is_random()) done.snapshots.kind = "random";
  if (timeline != nullptr) {
    const double turn = begin + done.forward.seconds;
    timeline->add("forward leg", begin, turn);
    timeline->add("backward leg", turn, timeline->now());
  }
  std::size_t parts = PointProducts::part_count;
  for (const Added& one : added) parts += static_cast<std::size_t>(one.count);
  collect(slabs, planes, options.complete_receivers, parts, result);
  if (offsets.count() > 0) collect_offsets(slabs, lines, result);
  return done;
}

template <class T, int Dim, class Memory>
wave::Traces<T> SlabShots<T, Dim, Memory>::model_data(const survey::ShotWindow<Dim>& window,
                                                      const HostModel<T, Dim>& part,
                                                      const wave::Shot<Dim>& shot) {
  plan(window, part, shot.sources);
  m_own = divided(m_plan.grid.extents[0], m_input.options.stream.devices);
  std::vector<Slab> slabs = make_slabs();
  wave::ShotOptions<T, Dim, Memory> options;
  options.steps = m_plan.time.steps;
  options.traces = false;  // of all slabs together
  std::vector<T> rows;
  wave::locate_overflow<Dim>(
      m_input.grid, m_plan.time.steps, concat("data of shot ", shot.number),
      [&](std::int64_t check_every) {
        options.check_every = check_every;
        m_parts->run([&](std::size_t g) {
          const Instance<Memory>& exec = m_parts->instance(g);
          const auto& propagator = *slabs[g].propagator;
          const auto points = [&](const Points<Dim>& positions, const char* name, bool injects) {
            return wave::PointSet<T, Dim, Memory>(exec, propagator.grid(), propagator.layout(),
                                                  positions,
                                                  wave::point_options(propagator, name, injects));
          };
          const auto receivers = points(shot.receivers, "receiver", false);
          const auto modelled = wave::model_shot<T, Dim, Memory>(
              exec, propagator, slabs[g].wavefield, points(shot.sources, "source", true),
              m_plan.wavelet, receivers, options);
          std::vector<T> all = m_parts->gathered(g, receivers, download(exec, modelled.gather));
          if (g == m_parts->first()) rows = std::move(all);
        });
        return 0;
      });
  const std::size_t count = shot.receivers.size();
  wave::Traces<T> traces("moho::rtm::traces", count, count > 0 ? rows.size() / count : 0);
  for (std::size_t i = 0; i < rows.size(); ++i) traces(i % count, i / count) = rows[i];
  return traces;
}

}  // namespace moho::rtm::detail

#include <moho/rtm/detail/slab_results.hpp>

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SlabShots)
}  // namespace moho::rtm::detail
#endif
/// \endcond
