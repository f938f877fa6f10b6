// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One grid over several devices, each of which runs the same driver on its planes
/// (internal).

#include <moho/core/concurrent.hpp>
#include <moho/core/order.hpp>
#include <moho/stream/detail/prepare.hpp>
#include <moho/stream/detail/slab_pieces.hpp>
#include <moho/stream/detail/slab_threads.hpp>
#include <moho/stream/plan.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Parts of a grid along x, one for each device of this process.
///
/// run() calls a function for each device, each on its own thread. The functions use propagators of
/// part(g), and follow the same steps. A step advances the planes near a neighbour first, whose
/// transfer is concurrent with the other planes. Nodes get the bits of the complete grid.
template <class T, int Dim, class Memory>
class GridParts {
 public:
  /// \param instances one for each device, which step the parts
  /// \param own planes of the parts, ascending, which cover the grid
  /// \param beside planes that steps, sources and receivers read on both sides; each part has as
  ///   many planes or more
  GridParts(std::vector<Instance<Memory>> instances, const std::vector<PlaneRange>& own,
            std::int64_t beside)
      : m_instances(std::move(instances)), m_threads(own.size()) {
    for (std::size_t g = 0; g < own.size(); ++g) {
      m_parts.push_back(std::make_unique<Part>(*this, g, own, beside));
    }
  }

  /// Returns the number of parts.
  std::size_t count() const { return m_parts.size(); }
  /// Returns the instance of a part.
  const Instance<Memory>& instance(std::size_t g) const { return m_instances[g]; }
  /// Returns a part, for its propagators.
  wave::GridPart<T, Dim, Memory>& part(std::size_t g) { return *m_parts[g]; }
  /// Calls work(g) for all parts concurrently; the first on this thread.
  /// \throws the first exception
  void run(const std::function<void(std::size_t)>& work) { m_threads.run(work); }
  /// \brief Returns the series of all points, from those that the parts have recorded. Collective;
  /// only for functions of run().
  /// \param g part
  /// \param points recorded points, on the device of the part
  /// \param rows series of the part, steps x points
  std::vector<T> gathered(std::size_t g, const wave::PointSet<T, Dim, Memory>& points,
                          const std::vector<T>& rows) {
    if (g == 0) m_rows.resize(rows.size());
    m_threads.meet();
    const auto count = static_cast<std::size_t>(points.count());
    for (std::size_t p = 0; p < count; ++p) {
      if (!m_parts[g]->own().contains(points.last_plane(p))) continue;
      for (std::size_t i = p; i < rows.size(); i += count) m_rows[i] = rows[i];
    }
    m_threads.meet();
    std::vector<T> result = m_rows;
    m_threads.meet();
    return result;
  }

 private:
  using Wave = wave::Wavefield<T, Dim, Memory>;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  class Part : public wave::GridPart<T, Dim, Memory> {
   public:
    Part(GridParts& all, std::size_t g, const std::vector<PlaneRange>& own, std::int64_t beside)
        : m_all(all),
          m_g(g),
          m_own(own[g]),
          m_rest(own[g]),
          m_held{std::max(own[g].begin - beside, own.front().begin),
                 std::min(own[g].end + beside, own.back().end)},
          m_copy(new_instance(all.m_instances[g])) {
      if (g > 0) m_rest.begin = std::min(m_own.begin + beside, m_own.end);
      if (g + 1 < own.size()) m_rest.end = std::max(m_rest.begin, m_own.end - beside);
    }
    PlaneRange own() const override { return m_own; }
    PlaneRange held() const override { return m_held; }
    void step(const Instance<Memory>& exec, const Scheme& scheme,
              const wave::MediumCoefficients<T, Dim, Memory>& medium, const Wave& field,
              const Box<Dim>& box) override {
      const auto advance = [&](const PlaneRange& planes) {
        Box<Dim> part = box;
        part.lower[0] = std::max(box.lower[0], planes.begin);
        part.upper[0] = std::max(part.lower[0], std::min(box.upper[0], planes.end));
        if (part.empty()) return;
        wave::step<T, Dim, Memory>(exec, scheme, medium, field, part);
      };
      advance({m_own.begin, m_rest.begin});
      advance({m_rest.end, m_own.end});
      m_edges.set(exec);
      m_field = &field;
      advance(m_rest);
      m_all.m_threads.meet();
      // the values to be overwritten have been read by earlier work of the instance
      m_edges.hold(m_copy);
      const PlaneRange stepped{box.lower[0], box.upper[0]};
      for (const std::size_t h : {m_g - 1, m_g + 1}) {
        if (h >= m_all.count()) continue;
        const Part& from = *m_all.m_parts[h];
        const PlaneRange wanted = intersection(intersection(from.m_own, m_held), stepped);
        if (wanted.empty() || box.empty()) continue;
        from.m_edges.hold(m_copy);
        const SlabPieces<T, Memory> source = plane_pieces(scheme, *from.m_field, wanted);
        const SlabPieces<T, Memory> target = plane_pieces(scheme, field, wanted);
        for (std::size_t n = 0; n < source.size(); ++n) copy(m_copy, target[n], source[n]);
      }
      if constexpr (is_host_memory<Memory>) m_copy.fence();
      m_arrived.set(m_copy);
      m_all.m_threads.meet();
      // later work changes the values that neighbours copy
      for (const std::size_t h : {m_g - 1, m_g, m_g + 1}) {
        if (h < m_all.count()) m_all.m_parts[h]->m_arrived.hold(exec);
      }
    }
    std::int64_t least(std::int64_t value) override {
      m_value = value;
      m_all.m_threads.meet();
      for (const auto& part : m_all.m_parts) value = std::min(value, part->m_value);
      m_all.m_threads.meet();
      return value;
    }

   private:
    GridParts& m_all;
    std::size_t m_g;
    PlaneRange m_own, m_rest, m_held;  // m_rest: own planes that no neighbour reads
    Instance<Memory> m_copy;
    Mark<Memory> m_edges, m_arrived;
    const Wave* m_field = nullptr;  // of the present step
    std::int64_t m_value = 0;
  };

  std::vector<Instance<Memory>> m_instances;
  SlabThreads m_threads;
  std::vector<std::unique_ptr<Part>> m_parts;
  std::vector<T> m_rows;
};

/// Returns instances of slabs: one for each device, or one of one thread for each slab on hosts.
template <class Memory>
std::vector<Instance<Memory>> slab_instances(const Instance<Memory>& exec, int devices) {
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

/// \brief Returns the planes of parts with equal numbers of planes.
/// \throws InputError if parts have fewer planes than neighbours read
inline std::vector<PlaneRange> equal_parts(std::int64_t planes, std::int64_t parts,
                                           std::int64_t beside) {
  detail::check_slabs(planes, parts, beside);
  std::vector<PlaneRange> result;
  for (std::int64_t g = 0; g < parts; ++g) {
    result.push_back(detail::slab_planes(planes, parts, g));
  }
  return result;
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
