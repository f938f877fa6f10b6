// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of a field and the injected amplitudes of a step, at the nodes of points
/// (internal).
///
/// The value of a node is computed from the list of its points: no array holds injected values, and
/// only nodes with a weight are visited.

#include <moho/core/instances.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/wave/kernel/injection.hpp>
#include <moho/wave/points.hpp>

#include <cstdint>

namespace moho::fwi::detail {

/// Amplitudes that points inject in a step, added to an array or evaluated at nodes.
template <class T, int Dim, class Memory>
struct StepInjection {
  const wave::PointSet<T, Dim, Memory>* points;
  wave::PointSeries<const T, Memory> series;  ///< steps x points
  std::int64_t step;                          ///< the row of `series`; later ones inject nothing
  wave::Layout<Dim> layout;                   ///< of arrays, with their window
  PlaneRange planes;                          ///< planes whose nodes are used
  wave::NodeFactors<T, Memory> scale;         ///< by node of the layout; unallocated: 1
  wave::Storage<const T, Memory> factors;     ///< of PointSet::node_factors(); unallocated: 1
  T factor = T(1);                            ///< of all points

  /// Returns true if the step has amplitudes.
  bool any() const {
    return points->count() > 0 && step < static_cast<std::int64_t>(series.extent(0));
  }
  /// Adds the values to an array.
  void add_to(const Instance<Memory>& exec, const wave::Storage<T, Memory>& array) const {
    if (!any()) return;
    points->inject_with(exec, layout, planes, array, series, step, factors, factor, scale);
  }
  /// Sets the kernel that returns the value of a node; returns the number of nodes.
  std::int64_t bind(wave::kernel::Inject<T>& kernel) const {
    if (!any()) return 0;
    return points->injection(layout, planes, series, step, scale, factor, factors, kernel);
  }
};

/// Kernel: calls a body with the nodes of points in a box and the injected values.
template <class T, int Dim, class Body>
struct AtPoints {
  wave::kernel::Inject<T> points;
  Index<Dim> strides;  ///< of the layout of the points
  Box<Dim> box;
  Body body;  ///< body(node, value)
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    std::int64_t rest = points.element(n);
    Index<Dim> node{};
    for (int d = 0; d < Dim; ++d) {
      node[d] = rest / strides[d];
      rest -= node[d] * strides[d];
    }
    if (box.contains(node)) body(node, points.value(n));
  }
};

/// Calls a body at the nodes of points that are in a box.
template <class T, int Dim, class Memory, class Body>
void launch_at_points(const char* label, const Instance<Memory>& exec,
                      const StepInjection<T, Dim, Memory>& injection, const Box<Dim>& box,
                      const Body& body) {
  if (intersection(injection.points->box(), box).empty()) return;
  AtPoints<T, Dim, Body> kernel{{}, injection.layout.strides, box, body};
  launch(label, exec, injection.bind(kernel.points), kernel);
}

/// Body: adds the product of a field and the injected value to sums.
template <class T, int Dim>
struct AddPointProduct {
  const T* field;
  DenseBox<Dim> nodes;  ///< its layout
  T* scale;             ///< derivative with respect to the scale; null: not computed
  DenseBox<Dim> sums;   ///< layout of scale and kept_change
  T* by_root;           ///< derivative with respect to ln sqrt(rho); null: not computed
  DenseBox<Dim> root_sums;
  T* kept_change;  ///< copy of D nu for an extended image, to which the residual is added; null: no
                   ///< copy
  T weight;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Index<Dim>& node, T value) const {
    const T product = field[nodes.at(node)] * value;
    if (scale != nullptr) scale[sums.at(node)] += weight * product;
    if (by_root != nullptr) by_root[root_sums.at(node)] += weight * product;
    if (kept_change != nullptr) kept_change[sums.at(node)] += value;
  }
};

/// Adds products of a field and injected values to sums.
template <class T, int Dim, class Memory>
void add_point_products(const Instance<Memory>& exec,
                        const StepInjection<T, Dim, Memory>& injection, const Box<Dim>& box,
                        const AddPointProduct<T, Dim>& add) {
  launch_at_points("moho::fwi::add_at_points", exec, injection, box, add);
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, add_point_products)
}  // namespace moho::fwi::detail
#endif
/// \endcond
