// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One device of a stream: its ring, and the planes that arrive, are stepped and leave.

#include <moho/core/device_instances.hpp>
#include <moho/core/staging.hpp>
#include <moho/stream/detail/ring.hpp>
#include <moho/wave/model_shot.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// Injection, recording and callbacks of a shot on a device.
template <class T, int Dim, class Memory>
struct StreamShot {
  /// Sources, in the memory of this device.
  const wave::PointSet<T, Dim, Memory>* sources = nullptr;
  /// Planes of all nodes of the sources, or more; only slabs use it.
  PlaneRange source_planes = {0, std::numeric_limits<std::int64_t>::max()};
  /// Receivers, in the memory of this device.
  const wave::PointSet<T, Dim, Memory>* receivers = nullptr;
  wave::PointSeries<const T, Memory> amplitudes = {};  ///< amplitudes, steps x sources
  wave::Storage<const T, Memory> factors[2] = {};  ///< factors of sources of p and q, by PointSet's
                                                   ///< nodes; unused if the device holds the grid
  /// Factors of p over the field at receivers, of PointSet::point_factors(); empty: 1. Unused if
  /// the device holds the grid.
  wave::Storage<const T, Memory> pressure = {};
  T factor = T(1);         ///< one over the volume of a cell
  std::int64_t every = 1;  ///< steps between rows of the gather
  std::int64_t rows = 0;   ///< rows of the gather
  /// Rows x receivers; rows of other devices' steps are not written.
  wave::PointSeries<T, Memory> gather = {};
  /// Nodes of the step from a time to the next one; empty: the complete grid.
  std::function<Box<Dim>(std::int64_t level)> box = {};
  /// Steps from times before this one are omitted.
  ///
  /// The loaded state is that of the times still - 1 and still.
  std::int64_t still = 0;
  /// Row of the step from time 0, if rows of amplitudes run backwards: row last_row - level.
  ///
  /// Negative: row `level`.
  std::int64_t last_row = -1;
  bool sums = false;  ///< the sums of VolumeShape::sums arrive and leave with the planes
  /// Called when the step of some planes from a time is submitted.
  ///
  /// It adds to the field at `level + 1`, by the stepping instance.
  std::function<void(const RingPiece& piece, std::int64_t level)> stepped = {};
  /// True if every step is checked for finite values, which finds the first one that is not.
  ///
  /// False checks the last step before planes leave.
  bool watched = false;
};

/// Value that is not finite.
struct BadValue {
  std::int64_t level = -1;  ///< its time level
  std::int64_t node = -1;   ///< flat index on the grid
  int field = 0;            ///< 0: p; 1: q
  /// Returns the value as one number, smaller for earlier times. \param nodes of the grid
  KOKKOS_INLINE_FUNCTION std::int64_t key(std::int64_t nodes) const {
    return 2 * (level * nodes + node) + field;
  }
  /// Key for no such value.
  static constexpr std::int64_t none = INT64_MAX;
  /// Returns the value of a key.
  static BadValue of(std::int64_t key, std::int64_t nodes) {
    return {key / 2 / nodes, key / 2 % nodes, static_cast<int>(key % 2)};
  }
};

namespace detail {

/// Reduction to the smallest BadValue::key() of values that are not finite.
template <class T, int Dim>
struct FindBad {
  const T* field;
  wave::Layout<Dim> layout;
  std::int64_t plane;  ///< first of the consecutive planes that are checked
  std::int64_t first;  ///< its first element
  std::int64_t level;  ///< time level of the field
  int number;          ///< number of the field: 0 is p, 1 is q
  std::int64_t nodes;  ///< nodes of the grid
  std::int64_t* found;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const double value = static_cast<double>(field[first + n]);
    if ((value < 0.0 ? -value : value) <= 3.0e38) return;
    // computes the node, which is rare
    Index<Dim> node{};
    node[0] = plane + n / layout.strides[0];
    std::int64_t rest = first + n - layout.flat(node);
    std::int64_t flat = node[0];
    for (int d = 1; d < Dim; ++d) {
      if (rest < 0) return;
      node[d] = rest / layout.strides[d];
      rest -= node[d] * layout.strides[d];
      if (node[d] >= layout.extents[d]) return;
      flat = flat * layout.extents[d] + node[d];
    }
    Kokkos::atomic_fetch_min(found, BadValue{level, flat, number}.key(nodes));
  }
};

/// One copy of contiguous elements between device and host.
template <class T, class Memory>
struct PlaneCopy {
  wave::Storage<T, Memory> device;
  std::int64_t first = 0;  ///< first element on the device
  T* host = nullptr;
  std::int64_t count = 0;
  bool waves = false;  ///< true for fields and the memory of layers, which may be at rest
};

}  // namespace detail

/// \brief Work of one device in a schedule.
///
/// Three concurrent instances load, step and store. The caller orders them (\see run_stream()).
template <class T, int Dim, class Memory>
class Pipeline {
 public:
  /// Allocates the ring.
  /// \param exec execution instance of the steps
  /// \param scheme in the memory of this device; it has to outlive the object
  /// \param shape of the volume; it has to outlive the object
  /// \param schedule of the run; it has to outlive the object
  /// \param device number in the chain, from 0
  /// \param resident true if parameters are held for the complete volume (load_parameters())
  Pipeline(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
           const VolumeShape<T, Dim>& shape, const Schedule& schedule, int device, bool resident);
  /// \brief Creates a device that holds the complete grid, with its model.
  ///
  /// Nothing is loaded or stored; stages sweep over the grid one after the other.
  /// \param exec,scheme,shape as above
  /// \param model with the layers of its faces
  Pipeline(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
           const VolumeShape<T, Dim>& shape, const wave::Model<T, Dim, Memory>& model);

  /// Returns the instance of the steps.
  const Instance<Memory>& stepping() const { return m_step; }
  /// Returns the instance that loads planes.
  const Instance<Memory>& loading() const { return m_load; }
  /// Returns the instance that stores planes.
  const Instance<Memory>& storing() const { return m_store; }

  /// Copies all parameters, if they are resident. It waits.
  void load_parameters(const std::vector<PlaneArray<T>>& parameters);
  /// \brief Begins a shot.
  /// \param schedule of the shot, which has to live during the shot; its ring has the planes of the
  ///   constructor's schedule
  /// \param shot sources, receivers
  /// \throws InputError for receivers that require a larger lag
  void begin(const Schedule& schedule, const StreamShot<T, Dim, Memory>& shot);
  /// Loads planes from the volume, by the loading instance.
  /// \param staging page-locked memory for the planes; null if the volume is page-locked
  /// \param at_rest true: the waves are zero, whatever the volume holds
  void load(const StreamRange& range, const std::vector<PlaneArray<T>>& parameters,
            const VolumeState<T>& state, T* staging, bool at_rest = false);
  /// Loads planes from the previous device of the chain, by the loading instance of this one.
  void load_from(const Pipeline& before, const StreamRange& range);
  /// Runs all stages of an iteration, by the stepping instance.
  void step(const StreamWork& work);
  /// Runs one stage.
  void step(const StreamStage& stage);
  /// Stores planes to the volume, by the storing instance; with staging unload() completes it.
  void store(const StreamRange& range, const VolumeState<T>& state, T* staging);
  /// Copies planes from staging memory to the volume, after a wait for the storing instance.
  void unload(const StreamRange& range, const VolumeState<T>& state, const T* staging) const;

  /// Returns the elements of staging memory for a block of planes.
  std::int64_t staging_elements(std::int64_t planes) const;
  /// \brief Returns the elements of a range that move between devices, for messages between ranks.
  std::int64_t message_elements(const StreamRange& range) const;
  /// Copies the leaving planes of a range to `buffer`, by the storing instance.
  void pack(const StreamRange& range, T* buffer);
  /// Copies the arriving planes of a range from `buffer`, by the loading instance.
  void unpack(const StreamRange& range, const T* buffer);

  /// \brief Copies the result of another rank's pack() of a range to the volume.
  ///
  /// That rank's ring has as many slots as this one.
  void unload_message(const StreamRange& range, const VolumeState<T>& state, const T* buffer) const;

  /// \brief Returns BadValue::key() of the earliest value that is not finite, or BadValue::none.
  ///
  /// It waits for the stepping instance.
  std::int64_t bad() { return value_at(m_step, m_bad.data()); }
  /// Returns the nodes of the grid.
  std::int64_t nodes() const { return m_scheme.grid().size(); }
  /// Returns true if every step is checked.
  bool watched() const { return m_shot.watched; }
  /// Returns the shape of the volume.
  const VolumeShape<T, Dim>& shape() const { return m_shape; }
  /// Sets arrays of sums on the device to zero, see Ring::clear_sums(). It waits.
  void clear_sums(int first = 0, int count = -1) {
    m_ring.clear_sums(m_step, first, count);
    m_step.fence();
  }
  /// Copies sums that are held on the device to those of the volume. It waits.
  void keep_sums(const VolumeState<T>& state) const;
  /// Returns the bytes of a plane that arrive, or that leave, in a sweep.
  double plane_bytes(bool arrives) const;
  /// Sets the waves to rest, if the device holds the complete grid. It waits.
  void clear();
  /// Returns the ring.
  const Ring<T, Dim, Memory>& ring() const { return m_ring; }
  /// Returns the number of the device in the chain.
  int device() const { return m_device; }
  /// Returns the nodes advanced so far.
  double points() const { return m_points; }

 private:
  using Copies = std::vector<detail::PlaneCopy<T, Memory>>;
  // Returns the copies of a range between the ring and the volume, whose state is at `level`, with
  // or without parameters. Without a volume (null) it returns those on the device alone, in the
  // same order.
  Copies copies(const StreamRange& range, std::int64_t level, bool parameters,
                const std::vector<PlaneArray<T>>* model, const VolumeState<T>* state) const;
  // Returns the copies that leave the ring when a range has had all updates of a sweep here, for
  // its planes in the grid.
  Copies written(const StreamRange& range, const VolumeState<T>& state) const;
  void fill_in(const StreamRange& range);
  void step_stage(const StreamStage& stage);
  void axis_derivatives(const StreamStage& stage, const Box<Dim>& box);
  // Checks the planes of a range at a time level.
  void watch(const StreamRange& range, std::int64_t level);
  StreamRange inside(const StreamRange& range) const;
  // Returns the number of arrays of sums that arrive and leave with planes.
  std::size_t carried_sums() const {
    return m_shot.sums && !m_shape.sums.held ? m_ring.sum_count() : 0;
  }

  const wave::Scheme<T, Dim, Memory>& m_scheme;
  const VolumeShape<T, Dim>& m_shape;
  const Schedule* m_schedule = nullptr;
  int m_device;
  Instance<Memory> m_step, m_load, m_store;
  Ring<T, Dim, Memory> m_ring;
  StreamShot<T, Dim, Memory> m_shot;
  Kokkos::View<std::int64_t*, Memory> m_bad;
  double m_points = 0.0;
};

namespace detail {
template <class T, class Memory>
auto device_part(const PlaneCopy<T, Memory>& copy) {
  const auto first = static_cast<std::size_t>(copy.first);
  return Kokkos::subview(copy.device, std::pair<std::size_t, std::size_t>(
                                          first, first + static_cast<std::size_t>(copy.count)));
}
/// View of page-locked host elements, or of elements in a host's own memory.
template <class T, class Memory>
using LockedElements =
    Kokkos::View<T*, StagingMemory<Memory>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
}  // namespace detail

template <class T, int Dim, class Memory>
Pipeline<T, Dim, Memory>::Pipeline(const Instance<Memory>& exec,
                                   const wave::Scheme<T, Dim, Memory>& scheme,
                                   const VolumeShape<T, Dim>& shape, const Schedule& schedule,
                                   int device, bool resident)
    : m_scheme(scheme),
      m_shape(shape),
      m_schedule(&schedule),
      m_device(device),
      m_step(exec),
      m_load(new_instance(exec)),
      m_store(new_instance(exec)),
      m_ring(exec, scheme, schedule.ring_planes(), schedule.shape().beyond(), resident),
      m_bad(allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::stream::bad",
                                                          std::size_t(1))) {
  m_ring.allocate_sums(exec, shape.sums);
  fill(m_step, m_bad, BadValue::none);
  m_step.fence();
}

template <class T, int Dim, class Memory>
Pipeline<T, Dim, Memory>::Pipeline(const Instance<Memory>& exec,
                                   const wave::Scheme<T, Dim, Memory>& scheme,
                                   const VolumeShape<T, Dim>& shape,
                                   const wave::Model<T, Dim, Memory>& model)
    : m_scheme(scheme),
      m_shape(shape),
      m_device(0),
      m_step(exec),
      m_load(exec),
      m_store(exec),
      m_ring(exec, scheme, model),
      m_bad(allocate<Kokkos::View<std::int64_t*, Memory>>(exec, "moho::stream::bad",
                                                          std::size_t(1))) {}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::load_parameters(const std::vector<PlaneArray<T>>& parameters) {
  if (!m_ring.resident()) return;
  const wave::Layout<Dim> layout = m_scheme.layout();
  for (std::size_t a = 0; a < parameters.size(); ++a) {
    const PlaneArray<T>& from = parameters[a];
    const detail::PlaneCopy<T, Memory> part{
        m_ring.parameters()[a], layout.plane_begin(from.planes.begin), from.first, from.size()};
    copy(m_load, detail::device_part(part),
         HostElements<const T>(part.host, static_cast<std::size_t>(part.count)));
  }
  m_load.fence();
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::begin(const Schedule& schedule,
                                     const StreamShot<T, Dim, Memory>& shot) {
  m_schedule = &schedule;
  if (shot.receivers != nullptr && shot.receivers->planes() > m_schedule->shape().point_planes) {
    throw InputError(concat("receivers: they read ", shot.receivers->planes(),
                            " planes (allowed: ", m_schedule->shape().point_planes,
                            ", point_planes of the schedule): make a schedule for them"));
  }
  m_shot = shot;
  m_points = 0.0;
  fill(m_step, m_bad, BadValue::none);
  m_step.fence();
}

template <class T, int Dim, class Memory>
StreamRange Pipeline<T, Dim, Memory>::inside(const StreamRange& range) const {
  const PlaneRange planes = intersection(range.planes, m_schedule->range(range.sweep));
  return {range.sweep, planes, range.position + planes.begin - range.planes.begin};
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::watch(const StreamRange& range, std::int64_t level) {
  for (const RingPiece& piece : m_ring.pieces(range)) {
    const wave::Layout<Dim> layout = m_ring.layout(piece);
    for (int f = 0; f < m_shape.fields; ++f) {
      launch("moho::stream::find_bad", m_step, piece.planes.count() * layout.strides[0],
             detail::FindBad<T, Dim>{m_ring.field(static_cast<int>(level & 1), f).data(), layout,
                                     piece.planes.begin, layout.plane_begin(piece.planes.begin),
                                     level, f, m_scheme.grid().size(), m_bad.data()});
    }
  }
}

// Computes axis derivatives of the planes to be stepped and of order / 2 planes around them. Those
// on the lower side were computed with the previous planes.
template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::axis_derivatives(const StreamStage& stage, const Box<Dim>& box) {
  const std::int64_t radius = m_scheme.order() / 2;
  const PlaneRange own = m_schedule->range(stage.range.sweep);
  PlaneRange wanted{stage.range.planes.begin + radius, stage.range.planes.end + radius};
  if (stage.range.planes.begin == own.begin) wanted.begin = own.begin - radius;
  const std::int64_t shift = stage.range.position - stage.range.planes.begin;
  const Box<Dim> grown = box.grown(radius);
  for (const RingPiece& piece : m_ring.pieces({stage.range.sweep, wanted, shift + wanted.begin})) {
    Box<Dim> part = grown;
    part.lower[0] = piece.planes.begin;
    part.upper[0] = piece.planes.end;
    wave::compute_axis_derivatives<T, Dim, Memory>(m_step, m_scheme, m_ring.medium(piece),
                                                   m_ring.wavefield(piece, stage.level), part);
    for (int f = 0; f < 2; ++f) m_ring.mirror(m_step, piece, m_ring.axis_derivative(f));
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::step_stage(const StreamStage& stage) {
  const std::int64_t level = stage.level;
  if (level < m_shot.still) return;
  const std::vector<RingPiece> pieces = m_ring.pieces(stage.range);
  Box<Dim> box = whole_box(m_scheme.grid());
  if (m_shot.box) box = m_shot.box(level);
  const bool axis_derivatives_first = m_ring.axis_derivative(0).data() != nullptr;
  if (axis_derivatives_first) axis_derivatives(stage, box);
  for (const RingPiece& piece : pieces) {
    Box<Dim> part = box;
    part.lower[0] = std::max(part.lower[0], piece.planes.begin);
    part.upper[0] = std::min(part.upper[0], piece.planes.end);
    if (!part.empty()) {
      const auto field = m_ring.wavefield(piece, level);
      const auto medium = m_ring.medium(piece);
      if (axis_derivatives_first) {
        wave::step_from_axis_derivatives<T, Dim, Memory>(m_step, m_scheme, medium, field, part);
      } else {
        wave::step<T, Dim, Memory>(m_step, m_scheme, medium, field, part);
      }
      m_points += static_cast<double>(part.size());
    }
  }
  const int next = static_cast<int>((level + 1) & 1);
  const std::int64_t row_of_source = m_shot.last_row < 0 ? level : m_shot.last_row - level;
  const bool injects = m_shot.sources != nullptr && row_of_source >= 0 &&
                       row_of_source < static_cast<std::int64_t>(m_shot.amplitudes.extent(0));
  for (const RingPiece& piece : pieces) {
    if (m_shot.stepped) m_shot.stepped(piece, level);
    for (int f = 0; f < m_shape.fields; ++f) {
      if (injects) {
        if (m_ring.whole()) {
          m_shot.sources->inject(m_step, m_ring.layout(piece), piece.planes, m_ring.field(next, f),
                                 m_shot.amplitudes, row_of_source,
                                 m_ring.whole_medium().source_scale(f), m_shot.factor);
        } else {
          m_shot.sources->inject_with(m_step, m_ring.layout(piece), piece.planes,
                                      m_ring.field(next, f), m_shot.amplitudes, row_of_source,
                                      m_shot.factors[f], m_shot.factor);
        }
      }
      m_ring.mirror(m_step, piece, m_ring.field(next, f));
    }
  }
  const std::int64_t row = (level + 1) / m_shot.every;
  if (m_shot.receivers != nullptr && (level + 1) % m_shot.every == 0 && row < m_shot.rows) {
    // Near the lower end of a range inside the volume, points would read planes below it, which are
    // absent. No wave has reached them, and the gather holds zeros.
    const PlaneRange own = m_schedule->range(stage.range.sweep);
    const std::int64_t low = own.begin > 0 ? own.begin + m_schedule->shape().point_planes - 1 : 0;
    for (const RingPiece& piece : pieces) {
      const PlaneRange planes{std::max(piece.planes.begin, low), piece.planes.end};
      if (planes.empty()) continue;
      if (m_ring.whole()) {
        m_shot.receivers->record(m_step, m_ring.layout(piece), planes, m_ring.field(next, 0),
                                 m_shot.gather, row, m_ring.whole_medium().pressure_factors());
      } else {
        m_shot.receivers->record_with(m_step, m_ring.layout(piece), planes, m_ring.field(next, 0),
                                      m_shot.gather, row, m_shot.pressure);
      }
    }
  }
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::step(const StreamWork& work) {
  for (const StreamStage& stage : work.stages) step(stage);
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::step(const StreamStage& stage) {
  step_stage(stage);
  const std::int64_t last = m_schedule->first_level(stage.range.sweep, m_device) +
                            m_schedule->updates(stage.range.sweep, m_device) - 1;
  // a device that holds the grid passes nothing on: the last step of the run is checked
  const bool leaves =
      m_ring.whole() ? stage.level + 1 == m_schedule->shape().steps : stage.level == last;
  if (leaves || m_shot.watched) watch(stage.range, stage.level + 1);
}

template <class T, int Dim, class Memory>
void Pipeline<T, Dim, Memory>::clear() {
  const PlaneRange planes = all_planes(m_scheme.grid());
  m_ring.wavefield({planes, 0, 0}, 0).clear(m_step);
  m_step.fence();
}

}  // namespace moho::stream

#include <moho/stream/detail/pipeline_moves.hpp>
