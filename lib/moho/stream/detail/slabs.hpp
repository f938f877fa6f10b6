// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One grid over several devices, each with a slab of its planes.
///
/// Steps are in core; neighbours exchange planes after every step. The devices are those of one
/// process, or one of each rank.

#include <moho/core/device_instances.hpp>
#include <moho/core/event.hpp>
#include <moho/stream/detail/slab_messages.hpp>
#include <moho/stream/detail/slab_pieces.hpp>
#include <moho/stream/detail/slab_snapshots.hpp>
#include <moho/stream/detail/slab_threads.hpp>
#include <moho/stream/kernel/pipeline.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Slabs of a grid, one for each device.
///
/// Every device holds the planes that it steps, and the adjacent ones that steps and receivers
/// read. A step first advances the planes near a neighbour, whose transfer is concurrent with the
/// other planes. Nodes get the bits of the complete grid.
///
/// With ranks, each rank has one slab, in the order of the ranks. begin(), run() and bad() are
/// collective; the first rank receives snapshots.
template <class T, int Dim, class Memory>
class Slabs {
 public:
  /// \brief Divides the grid, and loads the model.
  /// \param instances one for each device
  /// \param schemes of the grid, one for each device, in its memory; they have to outlive the
  ///   object
  /// \param halo planes that steps and receivers read on both sides
  /// \param parts planes of all slabs, in order; see equal_parts()
  /// \param grid,model on the host, without layers
  /// \param random of random layers
  /// \param ranks processes with a slab each, which have to outlive the object; null: all slabs are
  ///   in this process
  /// \throws InputError if the parts are not as many as devices or ranks, or a rank has several
  /// devices
  Slabs(const std::vector<Instance<Memory>>& instances,
        const std::vector<std::unique_ptr<wave::Scheme<T, Dim, Memory>>>& schemes,
        std::int64_t halo, const std::vector<PlaneRange>& parts, const Grid<Dim>& grid,
        const wave::Model<T, Dim, Kokkos::HostSpace>& model, const wave::RandomLayerOptions& random,
        StreamRanks* ranks = nullptr);

  /// Returns the number of devices of this process.
  std::size_t count() const { return m_slabs.size(); }
  /// Sets the waves to rest, and begins a shot: one StreamShot for each device; factors are unused.
  void begin(const std::vector<StreamShot<T, Dim, Memory>>& shots);
  /// Begins a shot from the present waves, whose sources and receivers replace those of begin().
  void go_on(const std::vector<StreamShot<T, Dim, Memory>>& shots) { take_shots(shots); }
  /// Steps from time 0 to a time. Returns the nodes advanced, on all ranks.
  ///
  /// Every 200 steps, and at every step of watched shots, it checks the wavefield, and stops if a
  /// value is not finite. \throws Stopped before a step, see StopFlag
  /// \param box nodes of a snapshot
  double run(std::int64_t steps, const std::function<void(const wave::ShotProgress&)>& progress,
             const Box<Dim>& box = {}, const StreamSnapshots<T>& snapshots = {});
  /// Returns the seconds that the latest run waited for snapshots.
  double seconds_waited() const { return m_waited; }
  /// Returns the planes that a device of this process steps.
  PlaneRange planes(std::size_t device) const { return m_slabs[device].own; }
  /// Returns where planes pass between ranks, see StreamRanks::exchange(); empty in one process.
  std::string exchange() const { return m_messages ? m_messages->ranks().exchange() : ""; }
  /// Returns the planes of all slabs.
  const std::vector<PlaneRange>& parts() const { return m_parts; }
  /// Copies the values of some nodes of the last wavefield: field 0 is p, 1 is q. Those of other
  /// ranks' planes are not written.
  void copy_out(int field, const Box<Dim>& box, T* values) const;
  /// Calls visit(layout, factors, planes) with the pressure factors of the planes of each device.
  template <class Visit>
  void visit_pressure(const Visit& visit) const {
    for (const Slab& slab : m_slabs) {
      const std::vector<T> factors = download(slab.step, slab.medium.pressure_factors());
      visit(slab.medium.layout(), factors.data(), slab.own);
    }
  }
  /// \brief Returns BadValue::key() of a value that is not finite in the latest wavefield. It
  /// waits.
  ///
  /// The result is BadValue::none if all are finite. All ranks receive the least key.
  std::int64_t bad() const;

 private:
  // Values that this device copies from a neighbour.
  struct Transfer {
    SlabPieces<T, Memory> from, to;
  };
  // `edge` steps the planes that neighbours read, concurrently with `step`, and copies those of
  // neighbours. Where steps share intermediate arrays, `edge` is `step`, and `copy` is separate.
  struct Slab {
    Instance<Memory> edge, step, copy;
    const wave::Scheme<T, Dim, Memory>* scheme;
    PlaneRange own, rest;  ///< all planes, and those that no neighbour reads
    bool separate;         ///< true if `edge` and `step` are different
    bool reads_before;     ///< true if a recorded receiver reads planes of the previous slab
    wave::MediumCoefficients<T, Dim, Memory> medium;
    wave::Wavefield<T, Dim, Memory> field;
    StreamShot<T, Dim, Memory> shot;
    // two time levels: a neighbour may still have to wait for the previous one
    std::array<Event<Memory>, 2> edges;
    mutable Event<Memory> rested, arrived;
    std::vector<Transfer> incoming[2];  ///< by turn
  };
  void step_planes(const Instance<Memory>& exec, Slab& slab, const PlaneRange& planes, Box<Dim> box,
                   std::int64_t level);
  void prepare_transfers();
  void submit(std::size_t g, int turn, const Box<Dim>& box, std::int64_t level);
  void finish(std::size_t g, int turn, std::int64_t level);
  void advance(std::int64_t begin, std::int64_t end);
  SlabPieces<T, Memory> pieces(const Slab& slab, const PlaneRange& planes) const {
    return plane_pieces(*slab.scheme, slab.field, planes);
  }
  bool records(const Slab& slab, std::int64_t level) const;
  void take_shots(const std::vector<StreamShot<T, Dim, Memory>>& shots);
  void hold_steps() const;
  void wait() const;
  void begin_messages();

  std::int64_t m_halo;
  std::vector<PlaneRange> m_parts;  ///< planes of all slabs
  std::vector<Slab> m_slabs;
  int m_turn = 0;            ///< 0 or 1: which of its two arrays each field has as the next level
  std::int64_t m_level = 0;  ///< time level of the latest wavefield
  double m_points = 0.0;
  double m_waited = 0.0;  ///< seconds that the latest run waited for snapshots
  std::unique_ptr<SlabMessages<T, Memory>> m_messages;  ///< to other ranks; null: one process
  std::unique_ptr<SlabThreads> m_threads;  ///< null: the calling thread submits all work
};

template <class T, int Dim, class Memory>
Slabs<T, Dim, Memory>::Slabs(
    const std::vector<Instance<Memory>>& instances,
    const std::vector<std::unique_ptr<wave::Scheme<T, Dim, Memory>>>& schemes, std::int64_t halo,
    const std::vector<PlaneRange>& parts, const Grid<Dim>& grid,
    const wave::Model<T, Dim, Kokkos::HostSpace>& model, const wave::RandomLayerOptions& random,
    StreamRanks* ranks)
    : m_halo(halo), m_parts(parts) {
  const Grid<Dim>& whole = schemes.front()->grid();
  const auto count = static_cast<std::int64_t>(instances.size());
  if (ranks != nullptr && count != 1) {
    throw InputError(concat("instances: there are ", count, " (allowed with ranks: 1)"));
  }
  const std::int64_t number = ranks != nullptr ? ranks->rank() : 0;
  const std::int64_t devices = ranks != nullptr ? ranks->size() : count;
  if (static_cast<std::int64_t>(parts.size()) != devices) {
    throw InputError(concat("parts: ", parts.size(), " were given (allowed: ", devices,
                            ", one for each device or rank)"));
  }
  for (std::int64_t g = number; g < number + count; ++g) {
    const auto at = static_cast<std::size_t>(g - number);
    const Instance<Memory>& exec = instances[at];
    const wave::Scheme<T, Dim, Memory>& scheme = *schemes[at];
    const PlaneRange own = parts[static_cast<std::size_t>(g)];
    const PlaneRange held =
        intersection(PlaneRange{own.begin - halo, own.end + halo}, all_planes(whole));
    const bool separate = steps_edges_apart(scheme);
    const Instance<Memory> other = new_instance(exec);
    Slab slab{separate ? other : exec,
              exec,
              other,
              &scheme,
              own,
              own,
              separate,
              false,
              wave::MediumCoefficients<T, Dim, Memory>(exec, scheme, held),
              wave::make_wavefield<T, Dim, Memory>(exec, scheme, held),
              {},
              {Event<Memory>(false), Event<Memory>(false)},
              Event<Memory>(false),
              Event<Memory>(false),
              {}};
    visit_model_pieces(scheme, held, [&](const PlaneRange& planes) {
      slab.medium.load(exec, scheme,
                       extended_part<T, Dim, Memory>(exec, scheme, grid, model, random, planes),
                       planes);
      exec.fence();
    });
    if (g > 0) slab.rest.begin = std::min(own.begin + halo, own.end);
    if (g + 1 < devices) slab.rest.end = std::max(slab.rest.begin, own.end - halo);
    m_slabs.push_back(std::move(slab));
  }
  if (ranks != nullptr) {
    m_messages = std::make_unique<SlabMessages<T, Memory>>(*ranks, m_slabs.front().copy);
  }
  prepare_transfers();
  if (!is_host_memory<Memory> && m_slabs.size() > 1) {
    m_threads = std::make_unique<SlabThreads>(m_slabs.size());
  }
}

// Lists the values that each device copies from its neighbours, for both turns.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::prepare_transfers() {
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t g = 0; g < m_slabs.size(); ++g) {
      Slab& to = m_slabs[g];
      for (const std::size_t h : {g - 1, g + 1}) {
        if (h >= m_slabs.size()) continue;
        const Slab& from = m_slabs[h];
        const PlaneRange wanted =
            intersection(from.own, h < g ? PlaneRange{to.own.begin - m_halo, to.own.begin}
                                         : PlaneRange{to.own.end, to.own.end + m_halo});
        to.incoming[turn].push_back({pieces(from, wanted), pieces(to, wanted)});
      }
    }
    for (Slab& slab : m_slabs) slab.field.advance();
  }
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::begin(const std::vector<StreamShot<T, Dim, Memory>>& shots) {
  take_shots(shots);
  for (Slab& slab : m_slabs) {
    slab.field.clear(slab.step);
    slab.step.fence();
  }
  m_points = 0.0;
  m_level = 0;
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::take_shots(const std::vector<StreamShot<T, Dim, Memory>>& shots) {
  for (std::size_t g = 0; g < m_slabs.size(); ++g) {
    Slab& slab = m_slabs[g];
    slab.shot = shots[g];
    slab.reads_before = false;
    const auto* const receivers = slab.shot.receivers;
    for (std::int64_t r = 0; receivers != nullptr && r < receivers->count(); ++r) {
      const std::int64_t last = receivers->last_plane(static_cast<std::size_t>(r));
      const std::int64_t first = last - receivers->planes() + 1;
      if (slab.own.contains(last) && first < slab.own.begin) slab.reads_before = true;
    }
  }
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::step_planes(const Instance<Memory>& exec, Slab& slab,
                                        const PlaneRange& planes, Box<Dim> box,
                                        std::int64_t level) {
  if (planes.empty()) return;
  const StreamShot<T, Dim, Memory>& shot = slab.shot;
  box.lower[0] = std::max(box.lower[0], planes.begin);
  box.upper[0] = std::min(box.upper[0], planes.end);
  if (!box.empty()) {
    wave::step<T, Dim, Memory>(exec, *slab.scheme, slab.medium, slab.field, box);
  }
  if (level >= static_cast<std::int64_t>(shot.amplitudes.extent(0))) return;
  if (intersection(planes, shot.source_planes).empty()) return;
  for (int f = 0; f < slab.field.fields; ++f) {
    shot.sources->inject(exec, slab.field.layout, planes, slab.field.next[f], shot.amplitudes,
                         level, slab.medium.source_scale(f), shot.factor);
  }
}

// Submits the steps of a slab. Planes near neighbours are stepped first: their transfer is
// concurrent with the other planes.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::submit(std::size_t g, int turn, const Box<Dim>& box,
                                   std::int64_t level) {
  Slab& slab = m_slabs[g];
  // the edges read planes of neighbours, and overwrite values that the other planes' steps have
  // read
  slab.separate ? slab.rested.make_wait(slab.edge) : slab.arrived.make_wait(slab.edge);
  step_planes(slab.edge, slab, {slab.own.begin, slab.rest.begin}, box, level);
  step_planes(slab.edge, slab, {slab.rest.end, slab.own.end}, box, level);
  slab.edges[turn].record(slab.edge);
  if (m_messages) begin_messages();
  step_planes(slab.step, slab, slab.rest, box, level);
  if (slab.separate) slab.rested.record(slab.step);
}

// Starts the exchange of a step with the slabs of other ranks.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::begin_messages() {
  Slab& slab = m_slabs.front();
  if constexpr (is_host_memory<Memory>) {
    slab.edge.fence();
  } else {
    // the step has also read the values to be overwritten
    slab.edges[m_turn].make_wait(slab.copy);
  }
  using Messages = SlabMessages<T, Memory>;
  SlabPieces<T, Memory> leaving[2], arriving[2];
  const PlaneRange& own = slab.own;
  if (m_messages->has(Messages::previous)) {
    leaving[Messages::previous] = pieces(slab, {own.begin, own.begin + m_halo});
    arriving[Messages::previous] = pieces(slab, {own.begin - m_halo, own.begin});
  }
  if (m_messages->has(Messages::next)) {
    leaving[Messages::next] = pieces(slab, {own.end - m_halo, own.end});
    arriving[Messages::next] = pieces(slab, {own.end, own.end + m_halo});
  }
  m_messages->begin(leaving, arriving);
}

// Submits the transfers of a slab, which copies the planes that it reads of its neighbours, and
// records receivers. All slabs have submitted their steps.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::finish(std::size_t g, int turn, std::int64_t level) {
  Slab& slab = m_slabs[g];
  // the edges of this device have read the values to be overwritten, and those of the neighbours
  // have waited for earlier transfers of the values that they overwrite
  if (!slab.separate) slab.edges[turn].make_wait(slab.copy);
  for (const std::size_t h : {g - 1, g + 1}) {
    if (h < m_slabs.size()) m_slabs[h].edges[turn].make_wait(slab.copy);
  }
  for (const Transfer& one : slab.incoming[turn]) {
    for (std::size_t n = 0; n < one.from.size(); ++n) copy(slab.copy, one.to[n], one.from[n]);
  }
  if (m_messages) m_messages->finish();
  // the next step of the other planes, and receivers, read the edges
  if (slab.separate) slab.edges[turn].make_wait(slab.step);
  const bool recorded = records(slab, level + 1);
  const StreamShot<T, Dim, Memory>& shot = slab.shot;
  if (!slab.separate || (recorded && slab.reads_before)) {
    slab.arrived.record(slab.copy);
    if (recorded) slab.arrived.make_wait(slab.step);
  }
  slab.field.advance();
  if (!recorded) return;
  shot.receivers->record(slab.step, slab.field.layout, slab.own, slab.field.now[0], shot.gather,
                         (level + 1) / shot.every, slab.medium.pressure_factors());
}

// Returns true if receivers of a slab are recorded at a time level.
template <class T, int Dim, class Memory>
bool Slabs<T, Dim, Memory>::records(const Slab& slab, std::int64_t level) const {
  const StreamShot<T, Dim, Memory>& shot = slab.shot;
  return shot.receivers != nullptr && shot.receivers->count() > 0 && level % shot.every == 0 &&
         level / shot.every < shot.rows;
}

// Steps from a time to a later one. Each device has a thread that submits its work.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::advance(std::int64_t begin, std::int64_t end) {
  const auto& at_level = m_slabs.front().shot.box;
  std::vector<Box<Dim>> boxes;
  for (std::int64_t level = begin; level < end; ++level) {
    boxes.push_back(at_level ? at_level(level) : whole_box(m_slabs.front().scheme->grid()));
    m_points += static_cast<double>(boxes.back().size());
  }
  const auto turn_at = [&](std::int64_t level) {
    return static_cast<int>((m_turn + level - begin) & 1);
  };
  const auto box_at = [&](std::int64_t level) -> const Box<Dim>& {
    return boxes[static_cast<std::size_t>(level - begin)];
  };
  if (m_threads) {
    m_threads->run([&](std::size_t g) {
      for (std::int64_t level = begin; level < end; ++level) {
        submit(g, turn_at(level), box_at(level), level);
        m_threads->meet();
        finish(g, turn_at(level), level);
      }
    });
    m_turn = turn_at(end);
  } else {
    for (std::int64_t level = begin; level < end; ++level) {
      for (std::size_t g = 0; g < m_slabs.size(); ++g) submit(g, m_turn, box_at(level), level);
      for (std::size_t g = 0; g < m_slabs.size(); ++g) finish(g, m_turn, level);
      m_turn = 1 - m_turn;
    }
  }
  m_level = end;
}

// Later work of the stepping instances waits for all planes of the latest level.
template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::hold_steps() const {
  for (const Slab& slab : m_slabs) {
    slab.edges[1 - m_turn].make_wait(slab.step);
    slab.arrived.record(slab.copy);
    slab.arrived.make_wait(slab.step);
  }
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::wait() const {
  for (const Slab& slab : m_slabs) {
    slab.edge.fence();
    slab.step.fence();
    slab.copy.fence();
  }
}

template <class T, int Dim, class Memory>
double Slabs<T, Dim, Memory>::run(std::int64_t steps,
                                  const std::function<void(const wave::ShotProgress&)>& progress,
                                  const Box<Dim>& box, const StreamSnapshots<T>& snapshots) {
  constexpr std::int64_t check_every = 200;
  std::optional<SlabSnapshots<T, Dim, Memory>> queues;
  std::optional<RankSnapshots<T, Dim, Memory>> ranked;
  if (snapshots.every > 0 && m_messages) {
    ranked.emplace(m_messages->ranks(), m_slabs.front().step, m_parts, box, snapshots);
  } else if (snapshots.every > 0 && snapshots.take) {
    std::vector<Instance<Memory>> instances;
    std::vector<PlaneRange> own;
    for (const Slab& slab : m_slabs) {
      instances.push_back(slab.step);
      own.push_back(slab.own);
    }
    queues.emplace(instances, own, box, snapshots);
  }
  m_waited = 0.0;
  const bool watched = m_slabs.front().shot.watched;
  wave::kernel::ProgressTimer pace(steps);
  // steps between looks at the clock
  const std::int64_t max = watched ? 1 : m_threads ? 8 : 1;
  for (std::int64_t level = 0; level < steps;) {
    m_slabs.front().step.check_stop();
    std::int64_t end = std::min({level + max, steps, (level / check_every + 1) * check_every});
    if (snapshots.every > 0) end = std::min(end, (level / snapshots.every + 1) * snapshots.every);
    advance(level, end);
    level = end;
    const bool shown = snapshots.every > 0 && level % snapshots.every == 0;
    if (shown && level <= snapshots.last) {
      hold_steps();
      for (std::size_t g = 0; g < m_slabs.size(); ++g) {
        const Slab& slab = m_slabs[g];
        const auto& factors = slab.medium.pressure_factors();
        if (ranked) ranked->put(slab.field.layout, slab.field.now[0], level, factors);
        if (queues) queues->put(g, slab.field.layout, slab.field.now[0], level, factors);
        slab.rested.record(slab.step);
      }
      if (queues) queues->report();
    }
    if ((watched || level % check_every == 0) && bad() != BadValue::none) break;
    if (progress && (pace.due(level) || level == steps)) {
      for (const Slab& slab : m_slabs) slab.step.fence();
      progress(pace.report(level, m_points));
    }
  }
  wait();
  if (queues) {
    queues->finish();
    m_waited = queues->seconds_waited();
  }
  if (ranked) m_waited = ranked->seconds_waited();
  return m_points;
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::copy_out(int field, const Box<Dim>& box, T* values) const {
  for (const Slab& slab : m_slabs) {
    Box<Dim> part = box;
    part.lower[0] = std::max(box.lower[0], slab.own.begin);
    part.upper[0] = std::max(part.lower[0], std::min(box.upper[0], slab.own.end));
    if (part.empty()) continue;
    const std::vector<T> padded = download(slab.step, slab.field.now[field]);
    const std::int64_t first = (part.lower[0] - box.lower[0]) * (box.size() / box.extent(0));
    for (std::int64_t n = 0; n < part.size(); ++n) {
      values[first + n] = padded[static_cast<std::size_t>(slab.field.layout.flat(part.node(n)))];
    }
  }
}

template <class T, int Dim, class Memory>
std::int64_t Slabs<T, Dim, Memory>::bad() const {
  std::int64_t min = BadValue::none;
  hold_steps();
  for (const Slab& slab : m_slabs) {
    Box<Dim> box = whole_box(slab.scheme->grid());
    box.lower[0] = slab.own.begin;
    box.upper[0] = slab.own.end;
    for (int f = 0; f < slab.field.fields; ++f) {
      const wave::Amplitude found =
          wave::amplitude<T, Dim, Memory>(slab.step, slab.field.layout, slab.field.now[f], box);
      if (found.bad < 0) continue;
      const BadValue value{m_level, found.bad, f};
      min = std::min(min, value.key(slab.scheme->grid().size()));
    }
  }
  return m_messages ? m_messages->ranks().min(min) : min;
}

}  // namespace moho::stream
