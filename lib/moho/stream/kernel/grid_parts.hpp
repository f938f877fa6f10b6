// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One grid over several devices or ranks, each of which runs the same driver on its planes
/// (internal).

#include <moho/core/concurrent.hpp>
#include <moho/core/device_instances.hpp>
#include <moho/core/event.hpp>
#include <moho/stream/detail/prepare.hpp>
#include <moho/stream/detail/slab_messages.hpp>
#include <moho/stream/detail/slab_pieces.hpp>
#include <moho/stream/detail/slab_threads.hpp>
#include <moho/stream/plan.hpp>
#include <moho/stream/slab_plan.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::stream {

/// Planes of arrays that parts hold: their own, and those that they read of their neighbours.
struct PartPlanes {
  std::vector<PlaneRange> own;   ///< of each part
  std::vector<PlaneRange> held;  ///< of each part, within own planes of it and of its neighbours
  std::int64_t elements = 0;     ///< of a plane of an array
};

/// \brief Parts of a grid along x, one for each device of this process, or one for each rank.
///
/// run() calls a function for each part of this process, each on its own thread. The functions use
/// propagators of part(g), and follow the same steps. A step advances the planes near a neighbour
/// first, whose transfer is concurrent with the other planes. Nodes get the bits of the complete
/// grid.
template <class T, int Dim, class Memory>
class GridParts {
 public:
  /// \param instances one for each part of this process, which step the parts
  /// \param own planes of the parts, ascending, which cover the grid
  /// \param halo planes that steps, sources and receivers read on both sides; each part has as
  ///   many planes or more
  /// \param ranks processes with a part each, in order, which have to outlive the object; null:
  ///   this process has all parts. Ranks call all functions in the same order
  GridParts(std::vector<Instance<Memory>> instances, const std::vector<PlaneRange>& own,
            std::int64_t halo, StreamRanks* ranks = nullptr)
      : GridParts(std::move(instances), own, halo, ranks,
                  std::make_shared<SlabThreads>(ranks != nullptr ? 1 : own.size())) {}
  /// \brief Divides another grid among the same instances, threads and ranks.
  ///
  /// Functions of run() of either object may use the parts of both, in the same order on all
  /// threads and ranks.
  /// \param with parts of the first grid
  /// \param own,halo of the other grid, as above
  GridParts(const GridParts& with, const std::vector<PlaneRange>& own, std::int64_t halo)
      : GridParts(with.m_instances, own, halo, with.m_ranks, with.m_threads) {}

  /// Returns the number of parts, those of other ranks included.
  std::size_t count() const { return m_own.size(); }
  /// Returns the first part of this process.
  std::size_t first() const { return m_first; }
  /// Returns true if a part belongs to this process.
  bool has(std::size_t g) const { return g >= m_first && g - m_first < m_parts.size(); }
  /// Returns the instance of a part of this process.
  const Instance<Memory>& instance(std::size_t g) const { return m_instances[g - m_first]; }
  /// Returns a part of this process, for its propagators.
  wave::GridPart<T, Dim, Memory>& part(std::size_t g) { return *m_parts[g - m_first]; }
  /// Calls work(g) for all parts of this process concurrently; the first on this thread.
  /// \throws the first exception of this process
  void run(const std::function<void(std::size_t)>& work) {
    m_threads->run([&](std::size_t local) { work(m_first + local); });
  }
  /// \brief Returns the values of all parts on the process of part 0. Collective; not for functions
  /// of run().
  /// \param values plain values of all parts, of which this process has set its own
  template <class Value>
  void collect(std::vector<Value>& values) {
    static_assert(std::is_trivially_copyable_v<Value>);
    if (m_ranks == nullptr) return;
    collect_bytes([&](std::size_t g) { return std::pair(&values[g], sizeof(Value)); });
  }
  /// \brief Copies planes of an array to the process of part 0. Collective; not for functions of
  /// run().
  /// \param values array on the host, of which this process has set the planes of its parts
  /// \param plane elements of a plane
  /// \param planes returns the planes of a part in the array
  template <class Planes>
  void collect_planes(T* values, std::int64_t plane, const Planes& planes) {
    if (m_ranks == nullptr) return;
    collect_bytes([&](std::size_t g) {
      const PlaneRange some = planes(g);
      return std::pair(values + some.begin * plane,
                       static_cast<std::size_t>(some.count() * plane) * sizeof(T));
    });
  }
  /// \brief Sets the planes of arrays that neighbours own. Collective; only for functions of run().
  /// \param g part
  /// \param exec instance that has written the own planes
  /// \param arrays contiguous arrays on the held planes, as many in all parts
  /// \param planes of the arrays, the same in all parts
  void exchange(std::size_t g, const Instance<Memory>& exec, const SlabPieces<T, Memory>& arrays,
                const PartPlanes& planes) {
    m_parts[g - m_first]->exchange(exec, arrays, planes);
  }
  /// \brief Returns the series of all points, from those that the parts have recorded. Collective;
  /// only for functions of run().
  /// \param g part
  /// \param points recorded points, on the device of the part
  /// \param rows series of the part, steps x points
  std::vector<T> gathered(std::size_t g, const wave::PointSet<T, Dim, Memory>& points,
                          const std::vector<T>& rows) {
    if (m_ranks != nullptr) return gathered_of_ranks(points, rows);
    if (g == 0) m_rows.resize(rows.size());
    m_threads->meet();
    join(g, points, rows);
    m_threads->meet();
    std::vector<T> result = m_rows;
    m_threads->meet();
    return result;
  }

 private:
  using Wave = wave::Wavefield<T, Dim, Memory>;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  GridParts(std::vector<Instance<Memory>> instances, const std::vector<PlaneRange>& own,
            std::int64_t halo, StreamRanks* ranks, std::shared_ptr<SlabThreads> threads)
      : m_instances(std::move(instances)),
        m_own(own),
        m_ranks(ranks),
        m_first(ranks != nullptr ? static_cast<std::size_t>(ranks->rank()) : 0),
        m_threads(std::move(threads)) {
    for (std::size_t g = m_first; g < m_first + m_threads->count(); ++g) {
      m_parts.push_back(std::make_unique<Part>(*this, g, halo));
    }
  }
  class Part : public wave::GridPart<T, Dim, Memory> {
   public:
    Part(GridParts& all, std::size_t g, std::int64_t halo)
        : m_all(all),
          m_g(g),
          m_halo(halo),
          m_own(all.m_own[g]),
          m_rest(m_own),
          m_held(held_by(g)),
          m_copy(new_instance(all.instance(g))) {
      if (g > 0) m_rest.begin = std::min(m_own.begin + halo, m_own.end);
      if (g + 1 < all.count()) m_rest.end = std::max(m_rest.begin, m_own.end - halo);
      if (all.m_ranks == nullptr) return;
      m_messages.emplace(*all.m_ranks, m_copy);
      m_array_messages.emplace(*all.m_ranks, m_copy);
    }
    PlaneRange own() const override { return m_own; }
    PlaneRange held() const override { return m_held; }
    void step(const Instance<Memory>& exec, const Scheme& scheme,
              const wave::MediumCoefficients<T, Dim, Memory>& medium, const Wave& field,
              const Box<Dim>& box) override {
      const auto advance = [&](const Instance<Memory>& by, const PlaneRange& planes) {
        Box<Dim> part = box;
        part.lower[0] = std::max(box.lower[0], planes.begin);
        part.upper[0] = std::max(part.lower[0], std::min(box.upper[0], planes.end));
        if (part.empty()) return;
        wave::step<T, Dim, Memory>(by, scheme, medium, field, part);
      };
      const bool apart = steps_edges_apart(scheme);
      const Instance<Memory>& edge = apart ? m_copy : exec;
      if (apart) {
        m_begun.record(exec);
        m_begun.make_wait(edge);
      }
      advance(edge, {m_own.begin, m_rest.begin});
      advance(edge, {m_rest.end, m_own.end});
      m_edges.record(edge);
      m_field = &field;
      const PlaneRange stepped{box.lower[0], box.empty() ? box.lower[0] : box.upper[0]};
      const auto wanted = [&](std::size_t of, std::size_t by) {
        return intersection(intersection(m_all.m_own[of], held_by(by)), stepped);
      };
      const auto pieces = [&](const Part& part, const PlaneRange& planes) {
        return plane_pieces(scheme, *part.m_field, planes);
      };
      if (m_messages) {
        begin_messages(*m_messages, edge, wanted, pieces);
        advance(exec, m_rest);
        finish_messages(*m_messages, exec);
        return;
      }
      advance(exec, m_rest);
      copy_of_neighbours(exec, wanted, pieces);
    }
    void exchange(const Instance<Memory>& exec, const SlabPieces<T, Memory>& arrays,
                  const PartPlanes& all) {
      m_edges.record(exec);
      m_arrays = &arrays;
      const auto wanted = [&](std::size_t of, std::size_t by) {
        return intersection(all.own[of], all.held[by]);
      };
      const auto pieces = [&](const Part& part, const PlaneRange& planes) {
        SlabPieces<T, Memory> result;
        const std::int64_t first = (planes.begin - all.held[part.m_g].begin) * all.elements;
        for (const auto& array : *part.m_arrays) {
          result.emplace_back(array.data() + first,
                              static_cast<std::size_t>(planes.count() * all.elements));
        }
        return result;
      };
      if (!m_array_messages) return copy_of_neighbours(exec, wanted, pieces);
      begin_messages(*m_array_messages, exec, wanted, pieces);
      finish_messages(*m_array_messages, exec);
    }
    std::int64_t min(std::int64_t value) override {
      if (m_all.m_ranks != nullptr) return m_all.m_ranks->min(value);
      m_value = value;
      m_all.m_threads->meet();
      for (const auto& part : m_all.m_parts) value = std::min(value, part->m_value);
      m_all.m_threads->meet();
      return value;
    }

   private:
    using Messages = SlabMessages<T, Memory>;
    PlaneRange held_by(std::size_t g) const {
      const std::vector<PlaneRange>& own = m_all.m_own;
      return {std::max(own[g].begin - m_halo, own.front().begin),
              std::min(own[g].end + m_halo, own.back().end)};
    }
    // Copies planes of the parts of this process. wanted(of, by): planes of part `of` that part
    // `by` reads; pieces(part, planes): their arrays
    template <class Wanted, class Pieces>
    void copy_of_neighbours(const Instance<Memory>& exec, const Wanted& wanted,
                            const Pieces& pieces) {
      m_all.m_threads->meet();
      // the values to be overwritten have been read by earlier work of the instance
      m_edges.make_wait(m_copy);
      for (const std::size_t h : {m_g - 1, m_g + 1}) {
        if (h >= m_all.count()) continue;
        const Part& from = *m_all.m_parts[h];
        const PlaneRange planes = wanted(h, m_g);
        if (planes.empty()) continue;
        from.m_edges.make_wait(m_copy);
        const SlabPieces<T, Memory> source = pieces(from, planes), target = pieces(*this, planes);
        for (std::size_t n = 0; n < source.size(); ++n) copy(m_copy, target[n], source[n]);
      }
      if constexpr (is_host_memory<Memory>) m_copy.fence();
      m_arrived.record(m_copy);
      m_all.m_threads->meet();
      // later work changes the values that neighbours copy
      for (const std::size_t h : {m_g - 1, m_g, m_g + 1}) {
        if (h < m_all.count()) m_all.m_parts[h]->m_arrived.make_wait(exec);
      }
    }
    // Starts the exchange of planes with other ranks, see copy_of_neighbours().
    template <class Wanted, class Pieces>
    void begin_messages(Messages& messages, const Instance<Memory>& exec, const Wanted& wanted,
                        const Pieces& pieces) {
      if constexpr (is_host_memory<Memory>) {
        exec.fence();
      } else {
        m_edges.make_wait(m_copy);
      }
      SlabPieces<T, Memory> leaving[2], arriving[2];
      for (const auto side : {Messages::previous, Messages::next}) {
        if (!messages.has(side)) continue;
        const std::size_t h = side == Messages::previous ? m_g - 1 : m_g + 1;
        const PlaneRange leaves = wanted(m_g, h), arrives = wanted(h, m_g);
        if (!leaves.empty()) leaving[side] = pieces(*this, leaves);
        if (!arrives.empty()) arriving[side] = pieces(*this, arrives);
      }
      messages.begin(leaving, arriving);
    }
    void finish_messages(Messages& messages, const Instance<Memory>& exec) {
      messages.finish();
      m_arrived.record(m_copy);
      m_arrived.make_wait(exec);
    }

    GridParts& m_all;
    std::size_t m_g;
    std::int64_t m_halo;
    PlaneRange m_own, m_rest, m_held;  // m_rest: own planes that no neighbour reads
    Instance<Memory> m_copy;  // of transfers, and of the steps of planes that neighbours read
    Event<Memory> m_begun{false}, m_edges{false}, m_arrived{false};
    const Wave* m_field = nullptr;                    // of the present step
    const SlabPieces<T, Memory>* m_arrays = nullptr;  // of the present exchange
    std::int64_t m_value = 0;
    // to other ranks; buffers of devices keep the sizes of steps and of arrays
    std::optional<Messages> m_messages, m_array_messages;
  };

  // Sets the series of the points that a part records.
  void join(std::size_t g, const wave::PointSet<T, Dim, Memory>& points,
            const std::vector<T>& rows) {
    const auto count = static_cast<std::size_t>(points.count());
    for (std::size_t p = 0; p < count; ++p) {
      if (!m_own[g].contains(points.last_plane(p))) continue;
      for (std::size_t i = p; i < rows.size(); i += count) m_rows[i] = rows[i];
    }
  }
  std::vector<T> gathered_of_ranks(const wave::PointSet<T, Dim, Memory>& points,
                                   const std::vector<T>& rows) {
    const std::size_t bytes = rows.size() * sizeof(T);
    m_rows.resize(rows.size());
    if (m_first > 0) {
      m_ranks->send(rows.data(), bytes, 0);
      m_ranks->wait_sent();
    } else {
      join(0, points, rows);
      std::vector<T> theirs(rows.size());
      for (std::size_t h = 1; h < count(); ++h) {
        m_ranks->receive(theirs.data(), bytes, static_cast<int>(h));
        m_ranks->wait_received();
        join(h, points, theirs);
      }
    }
    m_ranks->broadcast(m_rows.data(), bytes);
    return m_rows;
  }
  // Sends the bytes of each rank to the first. part_of(g): address and number of bytes.
  template <class PartOf>
  void collect_bytes(const PartOf& part_of) {
    if (m_first > 0) {
      const auto [values, bytes] = part_of(m_first);
      m_ranks->send(values, bytes, 0);
      return m_ranks->wait_sent();
    }
    for (std::size_t h = 1; h < count(); ++h) {
      const auto [values, bytes] = part_of(h);
      m_ranks->receive(values, bytes, static_cast<int>(h));
    }
    m_ranks->wait_received();
  }

  std::vector<Instance<Memory>> m_instances;
  std::vector<PlaneRange> m_own;  // of all parts
  StreamRanks* m_ranks;
  std::size_t m_first;
  std::shared_ptr<SlabThreads> m_threads;
  std::vector<std::unique_ptr<Part>> m_parts;
  std::vector<T> m_rows;
};

/// Returns instances of slabs: one for each device, or one of one thread for each slab on hosts.
/// \param ranks with a slab each, whose instance is `exec`; null: one process
template <class Memory>
std::vector<Instance<Memory>> slab_instances(const Instance<Memory>& exec, int devices,
                                             const StreamRanks* ranks = nullptr) {
  if (ranks != nullptr) return {exec};
  if constexpr (is_host_memory<Memory>) {
    return concurrent_instances(exec, devices);
  } else {
    return instances_on_devices(exec, devices);
  }
}

/// Returns the planes of the model among some planes of the grid with layers.
/// \param interior nodes of the model in the grid with layers
template <int Dim>
PlaneRange model_planes(const PlaneRange& planes, const Box<Dim>& interior) {
  const std::int64_t first = interior.lower[0];
  const PlaneRange own = intersection(planes, PlaneRange{first, interior.upper[0]});
  return {own.begin - first, own.end - first};
}

/// Elements of the arrays of a slab.
struct SlabElements {
  double padded = 0.0;  ///< of an array on the held planes
  double nodes = 0.0;   ///< nodes of the own planes
  double medium = 0.0;  ///< padded arrays of the medium
  double layers = 0.0;  ///< of the memory of all layers
};

/// Returns the elements of a slab that owns some planes, and holds these and their neighbours.
template <class T, int Dim, class Memory>
SlabElements slab_elements(const wave::Scheme<T, Dim, Memory>& scheme,
                           const StreamRequirements& need, std::int64_t own,
                           const PlaneRange& held) {
  const bool pressure = wave::info(scheme.medium()).invertible.has(wave::Parameter::density);
  SlabElements result;
  result.padded = static_cast<double>(scheme.layout(held).size);
  result.nodes = static_cast<double>(need.plane_nodes) * static_cast<double>(own);
  result.medium = need.parameters + (pressure ? 1.0 : 0.0);
  result.layers = 3.0 * scheme.fields() *
                  static_cast<double>(need.layer_elements * held.count() + need.across_elements);
  return result;
}

namespace detail {

/// Returns the planes of parts in a grid with other layers; see parts_with_layers().
inline std::vector<PlaneRange> shifted_parts(std::vector<PlaneRange> own, std::int64_t shift,
                                             std::int64_t planes) {
  for (std::size_t g = 0; g < own.size(); ++g) {
    own[g].begin = g == 0 ? 0 : own[g].begin + shift;
    own[g].end = g + 1 == own.size() ? planes : own[g].end + shift;
  }
  return own;
}

/// Returns the planes of the thinnest part; 0 without parts.
inline std::int64_t thinnest_part(const std::vector<PlaneRange>& own) {
  std::int64_t result = own.empty() ? 0 : own.front().count();
  for (const PlaneRange& part : own) result = std::min(result, part.count());
  return result;
}

}  // namespace detail

/// \brief Returns parts of a grid with other layers, with the same planes of the model.
/// \param own parts of a grid, each with planes of the model
/// \param shift planes by which the model is further on in the other grid
/// \param planes of the other grid
/// \param halo planes that neighbours read
/// \param division returns `own` for another number of parts, or no parts if they are not possible
/// \throws TooManySlabs if outer parts have fewer planes than neighbours read
template <class Division>
std::vector<PlaneRange> parts_with_layers(const std::vector<PlaneRange>& own, std::int64_t shift,
                                          std::int64_t planes, std::int64_t halo,
                                          const Division& division) {
  const std::vector<PlaneRange> result = detail::shifted_parts(own, shift, planes);
  const std::int64_t thinnest = detail::thinnest_part(result);
  if (own.size() == 1 || thinnest >= halo) return result;
  std::int64_t max = static_cast<std::int64_t>(own.size()) - 1;
  const auto fits = [&](std::int64_t parts) {
    const std::vector<PlaneRange> fewer = division(parts);
    return detail::thinnest_part(detail::shifted_parts(fewer, shift, planes)) >= halo;
  };
  while (max > 1 && !fits(max)) --max;
  throw TooManySlabs(
      static_cast<std::int64_t>(own.size()), max,
      concat("each has ", halo, " planes or more with random layers"),
      concat(": a slab has ", thinnest, "; take wider random layers, or fewer devices"));
}

/// \brief Loads the planes that a propagator holds of a model on the host.
/// \param exec instance of the propagator
/// \param propagator of a part of the grid, or of the complete grid
/// \param grid,model without layers
/// \param random of random layers
template <class T, int Dim, class Memory>
void load_part(const Instance<Memory>& exec, wave::Propagator<T, Dim, Memory>& propagator,
               const Grid<Dim>& grid, const wave::Model<T, Dim, Kokkos::HostSpace>& model,
               const wave::RandomLayerOptions& random) {
  visit_model_pieces(propagator.scheme(), propagator.layout().window, [&](const PlaneRange& piece) {
    propagator.load_planes(
        exec, extended_part<T, Dim, Memory>(exec, propagator.scheme(), grid, model, random, piece),
        piece);
    exec.fence();
  });
}

}  // namespace moho::stream
