// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One grid over several devices, each with a slab of its planes.
///
/// Steps are in core; neighbours exchange planes after every step.

#include <moho/core/order.hpp>
#include <moho/stream/kernel/pipeline.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace moho::stream {

/// \brief Slabs of a grid, one for each device.
///
/// Every device holds the planes that it steps, and the adjacent ones that steps and receivers
/// read. A step first advances the planes near a neighbour, whose transfer is concurrent with the
/// other planes. Nodes get the bits of the complete grid.
template <class T, int Dim, class Memory>
class Slabs {
 public:
  /// \brief Divides the grid, and loads the model.
  /// \param instances one for each device
  /// \param schemes of the grid, one for each device, in its memory; they have to outlive the
  ///   object
  /// \param beside planes that steps and receivers read on both sides
  /// \param grid,model on the host, without layers
  /// \param random of random layers
  /// \throws InputError if a device has fewer planes than `beside`
  Slabs(const std::vector<Instance<Memory>>& instances,
        const std::vector<std::unique_ptr<wave::Scheme<T, Dim, Memory>>>& schemes,
        std::int64_t beside, const Grid<Dim>& grid,
        const wave::Model<T, Dim, Kokkos::HostSpace>& model,
        const wave::RandomLayerOptions& random);

  /// Returns the number of devices.
  std::size_t count() const { return m_slabs.size(); }
  /// Sets the waves to rest, and begins a shot: one StreamShot for each device; factors are unused.
  void begin(const std::vector<StreamShot<T, Dim, Memory>>& shots);
  /// Steps from rest to a time. Returns the nodes advanced.
  ///
  /// If shots are watched, it stops at the first time with a value that is not finite.
  double run(std::int64_t steps, const std::function<void(const wave::ShotProgress&)>& progress);
  /// Returns the planes that a device steps.
  PlaneRange planes(std::size_t device) const { return m_slabs[device].own; }
  /// Copies the values of some nodes of the last wavefield: field 0 is p, 1 is q.
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
  /// The result is BadValue::none if all are finite.
  std::int64_t bad() const;

 private:
  struct Slab {
    Instance<Memory> step, copy;
    const wave::Scheme<T, Dim, Memory>* scheme;
    PlaneRange own;
    wave::MediumCoefficients<T, Dim, Memory> medium;
    wave::Wavefield<T, Dim, Memory> field;
    StreamShot<T, Dim, Memory> shot;
    std::unique_ptr<Mark<Memory>> edges, arrived;
  };
  void step_planes(Slab& slab, const PlaneRange& planes, std::int64_t level);
  void send(const Slab& from, Slab& to, const PlaneRange& planes);

  std::int64_t m_beside;
  std::vector<Slab> m_slabs;
  std::int64_t m_level = 0;  ///< time level of the latest wavefield
  double m_points = 0.0;
};

template <class T, int Dim, class Memory>
Slabs<T, Dim, Memory>::Slabs(
    const std::vector<Instance<Memory>>& instances,
    const std::vector<std::unique_ptr<wave::Scheme<T, Dim, Memory>>>& schemes, std::int64_t beside,
    const Grid<Dim>& grid, const wave::Model<T, Dim, Kokkos::HostSpace>& model,
    const wave::RandomLayerOptions& random)
    : m_beside(beside) {
  const Grid<Dim>& whole = schemes.front()->grid();
  const auto devices = static_cast<std::int64_t>(instances.size());
  if (whole.extents[0] / devices < beside) {
    throw InputError(concat("devices is ", devices, " (allowed: up to ",
                            std::max<std::int64_t>(1, whole.extents[0] / beside), " for a grid of ",
                            whole.extents[0], " planes, of which each reads ", beside,
                            " of its neighbours)"));
  }
  for (std::int64_t g = 0; g < devices; ++g) {
    const auto at = static_cast<std::size_t>(g);
    const Instance<Memory>& exec = instances[at];
    const wave::Scheme<T, Dim, Memory>& scheme = *schemes[at];
    const PlaneRange own{g * whole.extents[0] / devices, (g + 1) * whole.extents[0] / devices};
    const PlaneRange held =
        intersection(PlaneRange{own.begin - beside, own.end + beside}, all_planes(whole));
    Slab slab{exec,
              new_instance(exec),
              &scheme,
              own,
              wave::MediumCoefficients<T, Dim, Memory>(exec, scheme, held),
              wave::make_wavefield<T, Dim, Memory>(exec, scheme, held),
              {},
              std::make_unique<Mark<Memory>>(),
              std::make_unique<Mark<Memory>>()};
    const std::int64_t piece = std::max<std::int64_t>(2 * scheme.order(), 64);
    for (std::int64_t begin = held.begin; begin < held.end;) {
      std::int64_t end = std::min(begin + piece, held.end);
      if (held.end - end <= scheme.order()) end = held.end;
      slab.medium.load(
          exec, scheme,
          extended_part<T, Dim, Memory>(exec, scheme, grid, model, random, PlaneRange{begin, end}),
          PlaneRange{begin, end});
      exec.fence();
      begin = end;
    }
    m_slabs.push_back(std::move(slab));
  }
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::begin(const std::vector<StreamShot<T, Dim, Memory>>& shots) {
  for (std::size_t g = 0; g < m_slabs.size(); ++g) {
    m_slabs[g].shot = shots[g];
    m_slabs[g].field.clear(m_slabs[g].step);
    m_slabs[g].step.fence();
  }
  m_points = 0.0;
  m_level = 0;
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::step_planes(Slab& slab, const PlaneRange& planes, std::int64_t level) {
  if (planes.empty()) return;
  const StreamShot<T, Dim, Memory>& shot = slab.shot;
  Box<Dim> box = shot.box ? shot.box(level) : whole_box(slab.scheme->grid());
  box.lower[0] = std::max(box.lower[0], planes.begin);
  box.upper[0] = std::min(box.upper[0], planes.end);
  if (!box.empty()) {
    wave::step<T, Dim, Memory>(slab.step, *slab.scheme, slab.medium, slab.field, box);
    m_points += static_cast<double>(box.size());
  }
  if (level >= static_cast<std::int64_t>(shot.amplitudes.extent(0))) return;
  for (int f = 0; f < slab.field.fields; ++f) {
    shot.sources->inject(slab.step, slab.field.layout, planes, slab.field.next[f], shot.amplitudes,
                         level, slab.medium.source_scale(f), shot.factor);
  }
}

template <class T, int Dim, class Memory>
void Slabs<T, Dim, Memory>::send(const Slab& from, Slab& to, const PlaneRange& planes) {
  const Instance<Memory>& exec = to.copy;
  for (int f = 0; f < from.field.fields; ++f) {
    wave::copy_planes<T, Dim, Memory>(exec, from.field.layout, from.field.next[f], to.field.layout,
                                      to.field.next[f], planes);
  }
  // steps across a layer read its memory in neighbouring planes
  std::size_t number = 0;
  for (const auto& layer : from.scheme->layers()) {
    const PlaneRange part =
        intersection(PlaneRange{planes.begin - layer.first, planes.end - layer.first},
                     PlaneRange{0, layer.width});
    for (int f = 0; f < from.field.fields; ++f, ++number) {
      if (layer.axis != 0 || part.empty()) continue;
      const auto rows = [&](const wave::Wavefield<T, Dim, Memory>& field,
                            const wave::kernel::LayerShape& shape) {
        const auto begin = static_cast<std::size_t>(shape.offset + part.begin * shape.strides[0]);
        return Kokkos::subview(
            field.layers[number].psi_next,
            std::pair<std::size_t, std::size_t>(
                begin, begin + static_cast<std::size_t>(part.count() * shape.strides[0])));
      };
      copy(exec, rows(to.field, to.field.layer_shape(*to.scheme, layer)),
           rows(from.field, from.field.layer_shape(*from.scheme, layer)));
    }
  }
}

template <class T, int Dim, class Memory>
double Slabs<T, Dim, Memory>::run(std::int64_t steps,
                                  const std::function<void(const wave::ShotProgress&)>& progress) {
  wave::kernel::ProgressTimer pace(steps);
  for (std::int64_t level = 0; level < steps; ++level) {
    for (Slab& slab : m_slabs) {
      slab.arrived->hold(slab.step);
      const PlaneRange low{slab.own.begin, std::min(slab.own.begin + m_beside, slab.own.end)};
      const PlaneRange high{std::max(low.end, slab.own.end - m_beside), slab.own.end};
      step_planes(slab, low, level);
      step_planes(slab, high, level);
      slab.edges->set(slab.step);
      step_planes(slab, {low.end, high.begin}, level);
    }
    for (std::size_t g = 0; g < m_slabs.size(); ++g) {
      Slab& to = m_slabs[g];
      // this device's latest step, whose edges are the first, has read the values to be overwritten
      to.edges->hold(to.copy);
      for (const std::size_t h : {g - 1, g + 1}) {
        if (h >= m_slabs.size()) continue;
        const Slab& from = m_slabs[h];
        from.edges->hold(to.copy);
        const PlaneRange wanted =
            intersection(from.own, h < g ? PlaneRange{to.own.begin - m_beside, to.own.begin}
                                         : PlaneRange{to.own.end, to.own.end + m_beside});
        send(from, to, wanted);
      }
      to.arrived->set(to.copy);
    }
    for (Slab& slab : m_slabs) {
      // the level to be overwritten next must have been sent: neighbours have copied it
      for (const Slab& other : m_slabs) other.arrived->hold(slab.step);
      slab.field.advance();
      const StreamShot<T, Dim, Memory>& shot = slab.shot;
      const std::int64_t row = (level + 1) / shot.every;
      if ((level + 1) % shot.every == 0 && row < shot.rows) {
        shot.receivers->record(slab.step, slab.field.layout, slab.own, slab.field.now[0],
                               shot.gather, row, slab.medium.pressure_factors());
      }
    }
    m_level = level + 1;
    if (m_slabs.front().shot.watched && bad() != BadValue::none) break;
    if (progress && (pace.due(level + 1) || level + 1 == steps)) {
      for (const Slab& slab : m_slabs) slab.step.fence();
      progress(pace.report(level + 1, m_points));
    }
  }
  for (const Slab& slab : m_slabs) {
    slab.step.fence();
    slab.copy.fence();
  }
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
  std::int64_t least = BadValue::none;
  for (const Slab& slab : m_slabs) {
    Box<Dim> box = whole_box(slab.scheme->grid());
    box.lower[0] = slab.own.begin;
    box.upper[0] = slab.own.end;
    for (int f = 0; f < slab.field.fields; ++f) {
      const wave::Amplitude found =
          wave::amplitude<T, Dim, Memory>(slab.step, slab.field.layout, slab.field.now[f], box);
      if (found.bad < 0) continue;
      const BadValue value{m_level, found.bad, f};
      least = std::min(least, value.key(slab.scheme->grid().size()));
    }
  }
  return least;
}

}  // namespace moho::stream
