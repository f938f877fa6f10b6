// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Source wavefield propagated backwards from its last state and its boundary values.

#include <moho/core/arena.hpp>
#include <moho/core/instances.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace moho::snapshot {

/// \brief Returns faces with which a source wavefield is reversible in time.
///
/// Each absorbing layer becomes a random layer of `width` nodes. Random layers are kept.
template <int Dim>
wave::Boundaries<Dim> random_faces(wave::Boundaries<Dim> faces, int width) {
  for (int d = 0; d < Dim; ++d) {
    for (wave::Face* face : {&faces.lower[d], &faces.upper[d]}) {
      if (!face->layered() || face->kind == wave::FaceKind::random) continue;
      *face = {wave::FaceKind::random, width};
    }
  }
  return faces;
}

/// Options of a BoundaryStore.
struct BoundaryStoreOptions {
  int fields = 1;  ///< wavefields in a snapshot: 1 p, 2 p and q
  /// Nodes inside absorbing layers, adjacent to the model, that snapshots may include.
  std::int64_t outside = 0;
};

/// \brief Store of the last state and boundary values, for recomputation backwards in time.
///
/// Leapfrog goes backwards by the same step. Nodes within the reach of a step from an absorbing
/// layer cannot be stepped back, since the layer has dissipated energy. At such faces the store
/// therefore saves the adjacent layers of nodes inside the model at every step. Rigid, free and
/// random faces conserve energy and need no boundary values. Rounding changes snapshots by 1e-5 to
/// 1e-4 of the largest amplitude in single precision.
template <class T, int Dim, class Memory>
class BoundaryStore : public SnapshotStore<T, Dim, Memory> {
 public:
  /// \param exec execution instance of the run
  /// \param source source term of the forward propagation; it has to outlive the store
  /// \param arena memory of the boundary values
  /// \param options fields and nodes of snapshots
  BoundaryStore(const InstanceOf<Memory>& exec, const wave::SourceTerm<T, Dim, Memory>& source,
                DeviceArena<T, Memory>& arena, const BoundaryStoreOptions& options = {});
  /// Returns the nodes of one field that are saved at a step, for a scheme and its faces.
  /// \param planes those of a part of the grid
  static std::int64_t kept_nodes(const wave::Scheme<T, Dim, Memory>& scheme, std::int64_t outside,
                                 const PlaneRange& planes);
  /// Returns these nodes of the complete grid.
  static std::int64_t kept_nodes(const wave::Scheme<T, Dim, Memory>& scheme,
                                 std::int64_t outside = 0) {
    return kept_nodes(scheme, outside, all_planes(scheme.grid()));
  }

  void begin(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
             std::int64_t time) override;
  void on_step(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
               const Box<Dim>& box, std::int64_t time) override;
  void save(const Instance<Memory>& exec, const wave::Wavefield<T, Dim, Memory>& wavefield,
            const Box<Dim>& box, std::int64_t time) override;
  /// Ends the forward propagation; the wavefield must be unchanged since its last step.
  void end_forward(const Instance<Memory>& exec) override;
  Snapshot<T, Dim, Memory> load(const Instance<Memory>& exec, std::int64_t time) override;
  const wave::Wavefield<T, Dim, Memory>* borrow(const Instance<Memory>& exec, std::int64_t time,
                                                Box<Dim>& box) override;
  SnapshotReport report() const override;

 private:
  // Disjoint boxes at absorbing faces, of the given planes; together with `inner` they are the
  // nodes that are propagated backwards.
  static std::vector<Box<Dim>> slabs(const wave::Scheme<T, Dim, Memory>& scheme,
                                     std::int64_t outside, const PlaneRange& planes,
                                     Box<Dim>& inner);
  // Steps backwards to the time of a snapshot, and returns the nodes of the snapshot.
  const Box<Dim>& run_back(const Instance<Memory>& exec, std::int64_t time);

  const wave::SourceTerm<T, Dim, Memory>& m_source;
  DeviceArena<T, Memory>& m_arena;
  BoundaryStoreOptions m_options;
  Box<Dim> m_inner;
  std::vector<Box<Dim>> m_slabs;
  std::int64_t m_nodes = 0;  ///< nodes of all slabs
  wave::Wavefield<T, Dim, Memory> m_work;
  wave::BoxHistory<Dim> m_history;
  std::vector<wave::Storage<T, Memory>> m_kept;  ///< boundary values by step
  std::map<std::int64_t, Box<Dim>> m_boxes;      ///< boxes of snapshots
  wave::Storage<T, Memory> m_values;             ///< values of the snapshot that load() returned
  std::int64_t m_last = 0;                       ///< time of the last state
  std::int64_t m_time = -1;                      ///< time of the current level of m_work
  bool m_reversed = false;                       ///< true after the first step backwards of m_work
  /// Wavefield of the forward propagation.
  const wave::Wavefield<T, Dim, Memory>* m_forward = nullptr;
  double m_raw = 0.0, m_points = 0.0;
};

namespace detail {

/// \brief Functor that copies nodes of disjoint boxes between padded arrays and a dense one.
///
/// It reads one or two padded arrays if `take`, and writes them otherwise.
template <class T, int Dim, bool take>
struct MoveFaces {
  T* fields[2];
  T* values;
  wave::Layout<Dim> layout;
  Box<Dim> boxes[2 * Dim];
  std::uint32_t ends[2 * Dim];  ///< end of each box's nodes in a field's values
  int count;                    ///< number of boxes

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::uint32_t all = ends[count - 1];
    const auto number = static_cast<std::uint32_t>(n);
    const std::uint32_t field = number / all;
    std::uint32_t rest = number - field * all;
    int box = 0;
    while (rest >= ends[box]) ++box;
    if (box > 0) rest -= ends[box - 1];
    Index<Dim> node{};
    for (int d = Dim - 1; d >= 0; --d) {
      const auto extent = static_cast<std::uint32_t>(boxes[box].extent(d));
      const std::uint32_t quotient = rest / extent;
      node[d] = boxes[box].lower[d] + static_cast<std::int64_t>(rest - quotient * extent);
      rest = quotient;
    }
    const std::int64_t i = layout.flat(node);
    if constexpr (take) {
      values[n] = fields[field][i];
    } else {
      fields[field][i] = values[n];
    }
  }
};

/// Functor that copies one box of one field row by row, on hosts.
template <class T, int Dim, bool take>
struct MoveFace {
  T *field, *values;
  wave::Layout<Dim> layout;
  Box<Dim> box;
  Index<Dim> strides;
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    std::int64_t i = 0;
    for (int d = 0; d < Dim; ++d) i += (node[d] - box.lower[d]) * strides[d];
    if constexpr (take) {
      values[i] = field[layout.flat(node)];
    } else {
      field[layout.flat(node)] = values[i];
    }
  }
};

/// Copies nodes of boxes from or to fields; on a device in one launch.
template <class T, int Dim, class Memory, bool take>
void move_faces(const Instance<Memory>& exec, const wave::Layout<Dim>& layout,
                const wave::Storage<T, Memory> (&fields)[2], int count,
                const std::vector<Box<Dim>>& boxes, T* values) {
  constexpr const char* label = take ? "moho::snapshot::take_faces" : "moho::snapshot::put_faces";
  std::int64_t nodes = 0;
  for (const Box<Dim>& box : boxes) nodes += box.size();
  if (!is_host_memory<Memory> && count * nodes <= std::int64_t{UINT32_MAX}) {
    MoveFaces<T, Dim, take> move{};
    for (int f = 0; f < count; ++f) move.fields[f] = fields[f].data();
    move.values = values;
    move.layout = layout;
    std::uint32_t end = 0;
    for (const Box<Dim>& box : boxes) {
      end += static_cast<std::uint32_t>(box.size());
      move.boxes[move.count] = box;
      move.ends[move.count] = end;
      ++move.count;
    }
    launch(label, exec, count * nodes, move);
    return;
  }
  for (int f = 0; f < count; ++f) {
    for (const Box<Dim>& box : boxes) {
      launch_box(label, exec, box,
                 MoveFace<T, Dim, take>{fields[f].data(), values, layout, box, dense_strides(box)});
      values += box.size();
    }
  }
}

}  // namespace detail

template <class T, int Dim, class Memory>
std::vector<Box<Dim>> BoundaryStore<T, Dim, Memory>::slabs(
    const wave::Scheme<T, Dim, Memory>& scheme, std::int64_t outside, const PlaneRange& planes,
    Box<Dim>& inner) {
  // nodes that are stepped backwards: the model, and the random layers around it; the other saved
  // nodes
  const wave::Boundaries<Dim>& faces = scheme.options().boundaries;
  Box<Dim> outer = whole_box(scheme.grid());
  const auto loses = [](const wave::Face& face) {
    return face.kind == wave::FaceKind::sponge || face.kind == wave::FaceKind::cpml;
  };
  for (int d = 0; d < Dim; ++d) {
    const auto beyond = [&](const wave::Face& face) {
      return loses(face) ? face.width - std::min<std::int64_t>(outside, face.width) : 0;
    };
    outer.lower[d] += beyond(faces.lower[d]);
    outer.upper[d] -= beyond(faces.upper[d]);
  }
  std::vector<Box<Dim>> result;
  inner = outer;
  for (int d = 0; d < Dim; ++d) {
    // self-adjoint TTI takes derivatives of axis derivatives
    const std::int64_t reach = wave::info(scheme.stencil()).passes * (scheme.order() / 2);
    for (const bool lower : {true, false}) {
      const wave::Face& face = lower ? faces.lower[d] : faces.upper[d];
      if (!loses(face)) continue;
      const std::int64_t thick = reach + std::min<std::int64_t>(outside, face.width);
      Box<Dim> slab = inner;
      if (lower) {
        slab.upper[d] = std::min(inner.lower[d] + thick, inner.upper[d]);
        inner.lower[d] = slab.upper[d];
      } else {
        slab.lower[d] = std::max(inner.upper[d] - thick, inner.lower[d]);
        inner.upper[d] = slab.lower[d];
      }
      Box<Dim> part = slab;
      part.lower[0] = std::max(slab.lower[0], planes.begin);
      part.upper[0] = std::max(part.lower[0], std::min(slab.upper[0], planes.end));
      if (!part.empty()) result.push_back(part);
    }
  }
  return result;
}

template <class T, int Dim, class Memory>
std::int64_t BoundaryStore<T, Dim, Memory>::kept_nodes(const wave::Scheme<T, Dim, Memory>& scheme,
                                                       std::int64_t outside,
                                                       const PlaneRange& planes) {
  Box<Dim> inner;
  std::int64_t sum = 0;
  for (const Box<Dim>& slab : slabs(scheme, outside, planes, inner)) sum += slab.size();
  return sum;
}

template <class T, int Dim, class Memory>
BoundaryStore<T, Dim, Memory>::BoundaryStore(const InstanceOf<Memory>& exec,
                                             const wave::SourceTerm<T, Dim, Memory>& source,
                                             DeviceArena<T, Memory>& arena,
                                             const BoundaryStoreOptions& options)
    : m_source(source),
      m_arena(arena),
      m_options(options),
      m_work(source.propagator->make_wavefield(exec)) {
  m_arena.reset();
  m_slabs = slabs(source.propagator->scheme(), options.outside, source.propagator->layout().window,
                  m_inner);
  for (const Box<Dim>& slab : m_slabs) m_nodes += slab.size();
}

template <class T, int Dim, class Memory>
void BoundaryStore<T, Dim, Memory>::begin(const Instance<Memory>&,
                                          const wave::Wavefield<T, Dim, Memory>& wavefield,
                                          std::int64_t) {
  m_forward = &wavefield;
}

template <class T, int Dim, class Memory>
void BoundaryStore<T, Dim, Memory>::end_forward(const Instance<Memory>& exec) {
  if (m_forward == nullptr) return;
  for (int f = 0; f < m_forward->fields; ++f) {
    copy(exec, m_work.now[f], m_forward->now[f]);
    copy(exec, m_work.next[f], m_forward->next[f]);
  }
  m_time = m_last;
  m_forward = nullptr;
}

template <class T, int Dim, class Memory>
void BoundaryStore<T, Dim, Memory>::on_step(const Instance<Memory>& exec,
                                            const wave::Wavefield<T, Dim, Memory>& wavefield,
                                            const Box<Dim>& box, std::int64_t time) {
  m_history.add(box);
  m_last = time;
  wave::Storage<T, Memory> values;
  if (m_nodes > 0) {
    values = m_arena.take(m_nodes * wavefield.fields);
    detail::move_faces<T, Dim, Memory, true>(exec, wavefield.layout, wavefield.now,
                                             wavefield.fields, m_slabs, values.data());
  }
  m_kept.push_back(values);
}

template <class T, int Dim, class Memory>
void BoundaryStore<T, Dim, Memory>::save(const Instance<Memory>&,
                                         const wave::Wavefield<T, Dim, Memory>&,
                                         const Box<Dim>& box, std::int64_t time) {
  m_boxes[time] = box;
  m_raw += static_cast<double>(m_options.fields * box.size()) * sizeof(T);
}

template <class T, int Dim, class Memory>
const Box<Dim>& BoundaryStore<T, Dim, Memory>::run_back(const Instance<Memory>& instance,
                                                        std::int64_t time) {
  const auto found = m_boxes.find(time);
  if (found == m_boxes.end() || time > m_time) detail::no_snapshot(time);
  while (m_time > time) {
    // now is at m_time; next is at m_time - 1 before the first step backwards, at m_time + 1
    // afterwards
    if (!m_reversed) {
      m_work.reverse();
      m_reversed = true;
    } else {
      const Box<Dim> box = intersection(m_history.at(m_time), m_inner);
      m_source.propagator->step(instance, m_work, box);
      m_source.inject(instance, m_work, m_time);
      m_points += static_cast<double>(m_source.propagator->own(box).size());
      if (m_nodes > 0) {
        detail::move_faces<T, Dim, Memory, false>(
            instance, m_work.layout, m_work.next, m_work.fields, m_slabs,
            m_kept[static_cast<std::size_t>(m_time - 2)].data());
      }
      m_work.advance();
    }
    --m_time;
  }
  return found->second;
}

template <class T, int Dim, class Memory>
Snapshot<T, Dim, Memory> BoundaryStore<T, Dim, Memory>::load(const Instance<Memory>& exec,
                                                             std::int64_t time) {
  const Box<Dim>& box = run_back(exec, time);
  if (m_values.data() == nullptr) {
    std::int64_t largest = 0;
    for (const auto& [when, kept] : m_boxes) largest = std::max(largest, kept.size());
    m_values = allocate<wave::Storage<T, Memory>>(exec, "moho::snapshot::snapshot",
                                                  m_options.fields * largest);
  }
  detail::take_fields<T, Dim, Memory>(exec, m_work, box, m_options.fields, m_values.data());
  return {box, m_values};
}

template <class T, int Dim, class Memory>
const wave::Wavefield<T, Dim, Memory>* BoundaryStore<T, Dim, Memory>::borrow(
    const Instance<Memory>& exec, std::int64_t time, Box<Dim>& box) {
  box = run_back(exec, time);
  return &m_work;
}

template <class T, int Dim, class Memory>
SnapshotReport BoundaryStore<T, Dim, Memory>::report() const {
  SnapshotReport report;
  report.kind = "boundary";
  report.snapshots = static_cast<std::int64_t>(m_boxes.size());
  report.raw_bytes = m_raw;
  report.device_bytes = m_arena.bytes() + m_work.bytes() + m_values.size() * sizeof(T);
  report.kept_bytes = static_cast<double>(m_kept.size()) * static_cast<double>(m_nodes) *
                          m_work.fields * sizeof(T) +
                      static_cast<double>(m_work.bytes());
  report.points = m_points;
  return report;
}

}  // namespace moho::snapshot

/// \cond
#ifdef MOHO_SNAPSHOT_KERNELS
namespace moho::snapshot {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, BoundaryStore)
}  // namespace moho::snapshot
#endif
/// \endcond
