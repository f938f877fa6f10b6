// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of the shots of a batch in the same launches, on devices in 2D (internal).
///
/// A launch adds the products with D of the adjoint fields of up to largest_product_batch shots,
/// and one those at the nodes of their points. The bits are those of shots one by one.

#include <moho/core/copy.hpp>
#include <moho/fwi/detail/point_products.hpp>
#include <moho/fwi/detail/scale_products.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace moho::fwi::detail {

/// Injected amplitudes of the points of a shot, by step.
template <class T>
struct ShotInjection {
  wave::kernel::Inject<T> first;  ///< of step 0
  std::int64_t nodes;             ///< nodes with a weight
  std::int64_t steps, next;       ///< number of steps; amplitudes from one step to the next
};

/// Kernel: AddPointProduct at the nodes of points of several shots.
template <class T, int Dim>
struct AddPointsOfShots {
  const ShotInjection<T>* shots;
  std::int64_t each, step;  ///< largest number of nodes of a shot; step of the amplitudes
  Index<Dim> strides;       ///< of the layout of the points
  Box<Dim> box;
  AddPointProduct<T, Dim> add;
  const T* field[largest_product_batch];  ///< by shot, in place of those of `add`
  T *scale[largest_product_batch], *by_root[largest_product_batch];

  /// Keeps the arrays of a shot.
  void put(int shot, const AddPointProduct<T, Dim>& of) {
    field[shot] = of.field;
    scale[shot] = of.scale;
    by_root[shot] = of.by_root;
    add = of;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const std::int64_t shot = i / each, n = i % each;
    const ShotInjection<T>& own = shots[shot];
    if (n >= own.nodes || step >= own.steps) return;
    AtPoints<T, Dim, AddPointProduct<T, Dim>> one{own.first, strides, box, add};
    one.points.amplitudes += step * own.next;
    one.body.field = field[shot];
    one.body.scale = scale[shot];
    one.body.by_root = by_root[shot];
    one(n);
  }
};

/// The points of a batch, described once in the memory of the device.
template <class T, int Dim, class Memory>
class BatchPoints {
 public:
  /// \param exec instance that copies the descriptions; the constructor waits for it
  /// \param shots injections of step 0; points and series must outlive this object
  BatchPoints(const Instance<Memory>& exec,
              const std::vector<StepInjection<T, Dim, Memory>>& shots) {
    std::vector<ShotInjection<T>> all;
    for (const auto& shot : shots) {
      ShotInjection<T> one{};
      one.nodes = shot.bind(one.first);
      one.steps = static_cast<std::int64_t>(shot.series.extent(0));
      one.next = static_cast<std::int64_t>(shot.series.stride(0));
      m_each = std::max(m_each, one.nodes);
      m_steps = std::max(m_steps, one.steps);
      m_strides = shot.layout.strides;
      all.push_back(one);
    }
    m_shots = upload(exec, all, "moho::fwi::batch_points");
  }
  /// Adds products at the nodes of points in a box.
  /// \param first,count shots \param step of the amplitudes \param kernel arrays of the shots
  void add(const Instance<Memory>& exec, std::size_t first, int count, std::int64_t step,
           const Box<Dim>& box, AddPointsOfShots<T, Dim> kernel) const {
    if (m_each == 0 || step >= m_steps) return;
    kernel.shots = m_shots.data() + first;
    kernel.each = m_each;
    kernel.step = step;
    kernel.strides = m_strides;
    kernel.box = box;
    launch("moho::fwi::add_at_points_of_shots", exec, count * m_each, kernel);
  }

 private:
  Kokkos::View<const ShotInjection<T>*, Memory> m_shots;
  std::int64_t m_each = 0, m_steps = 0;
  Index<Dim> m_strides{};
};

}  // namespace moho::fwi::detail
