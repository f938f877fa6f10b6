// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Sums of imaging conditions over time, and images computed from the sums.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/snapshot/correlation.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/layout.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::rtm {

/// Subsurface offsets of gathers at selected columns of a model.
template <int Dim>
struct OffsetOptions {
  std::vector<Index<Dim>> columns;   ///< nodes of the model; the last index is ignored
  std::int64_t max_half_offset = 0;  ///< largest half offset along x, in nodes; 0: no gathers
  std::int64_t offset_step = 1;      ///< nodes from one half offset to the next

  /// Half offsets, from -max_half_offset to max_half_offset.
  std::int64_t count() const {
    return columns.empty() ? 0 : 2 * (max_half_offset / offset_step) + 1;
  }
};

/// \brief Checks columns and half offsets. \throws InputError if some are outside of the grid
template <int Dim>
void check_offsets(const Grid<Dim>& grid, const OffsetOptions<Dim>& offsets) {
  if (offsets.count() == 0) return;
  if (offsets.max_half_offset < 0 || offsets.offset_step < 1 ||
      2 * offsets.max_half_offset >= grid.extents[0]) {
    throw InputError(concat("offsets: the largest is ", offsets.max_half_offset, " nodes, ",
                            offsets.offset_step, " apart (allowed: 0 to ",
                            (grid.extents[0] - 1) / 2, ", 1 or more apart): take fewer"));
  }
  for (const Index<Dim>& column : offsets.columns) {
    for (int d = 0; d < Dim - 1; ++d) {
      if (column[d] >= 0 && column[d] < grid.extents[d]) continue;
      throw InputError(concat("offsets: the column at node ", column[d], " along ",
                              axis_name<Dim>(d), " is outside of the model (allowed: 0 to ",
                              grid.extents[d] - 1, ")"));
    }
  }
}

/// \brief Sums over the snapshots of one or more shots, for each node of the model.
///
/// With source wavefield S and receiver wavefield R: image S R, source_illumination S^2,
/// receiver_illumination R^2. offsets: S(x - h, z) R(x + h, z) for each column, half offset h and
/// depth. All sums are multiplied by the time between snapshots.
template <class T, int Dim, class Memory>
struct ImageSums {
  Grid<Dim> grid;                                           ///< of the model
  Field<T, Dim, Memory> image;                              ///< S R
  Field<T, Dim, Memory> source_illumination;                ///< S^2
  Field<T, Dim, Memory> receiver_illumination;              ///< R^2
  OffsetOptions<Dim> offset_options;                        ///< columns and half offsets
  Kokkos::View<T***, Kokkos::LayoutRight, Memory> offsets;  ///< column, half offset, depth
  wave::Storage<const std::int64_t, Memory> column_nodes;   ///< Dim numbers a column

  /// Bytes of all arrays.
  std::size_t bytes() const {
    return sizeof(T) * (image.size() + source_illumination.size() + receiver_illumination.size() +
                        offsets.size());
  }
};

/// Returns sums of zero. \throws InputError for columns or offsets outside the grid
template <class T, int Dim, class Memory>
ImageSums<T, Dim, Memory> make_image(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                     const OffsetOptions<Dim>& offsets = {});

/// The operands of one imaging step that adds to the sums of an image.
template <class T, int Dim, class Memory>
snapshot::Correlation<T, Dim, Memory> correlation(const wave::Layout<Dim>& layout,
                                                  const wave::Storage<const T, Memory>& field,
                                                  const Box<Dim>& interior, double weight,
                                                  const ImageSums<T, Dim, Memory>& sums) {
  return {layout,
          field,
          interior,
          weight,
          sums.grid,
          sums.image.data(),
          sums.source_illumination.data(),
          sums.receiver_illumination.data()};
}

/// \brief Adds the products of a snapshot and the receiver wavefield at its time to the sums.
/// \param exec instance to which the work is submitted
/// \param snapshot snapshot of the source wavefield
/// \param layout,field the receiver wavefield, on a grid with layers
/// \param interior nodes of the model in the grid with layers
/// \param box nodes of the grid with layers where products are added
/// \param weight factor of the product: the time between snapshots, s
/// \param sums sums to add to
template <class T, int Dim, class Memory>
void add_to_image(const InstanceOf<Memory>& exec,
                  const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                  const wave::Layout<Dim>& layout, const wave::Storage<const T, Memory>& field,
                  const Box<Dim>& interior, const Box<Dim>& box, double weight,
                  const ImageSums<T, Dim, Memory>& sums);

/// \brief Adds R^2 of the receiver wavefield to the receiver illumination, outside of a box.
/// \param exec instance to which the work is submitted
/// \param layout,field the receiver wavefield, on a grid with layers
/// \param interior nodes of the model in the grid with layers
/// \param box excluded nodes of the grid with layers
/// \param weight factor of the square: the time between snapshots, s
/// \param sums sums to add to
template <class T, int Dim, class Memory>
void add_receiver_illumination(const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
                               const wave::Storage<const T, Memory>& field,
                               const Box<Dim>& interior, const Box<Dim>& box, double weight,
                               const ImageSums<T, Dim, Memory>& sums);

/// \brief Returns the Laplacian by differences of eighth order, with even extension at the faces.
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> laplacian(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                const Field<T, Dim, Memory>& field);

/// \brief Returns image / (illumination + level max(illumination)); 0 where both are zero.
/// \throws InputError unless the level is positive
template <class T, int Dim, class Memory>
Field<T, Dim, Memory> normalised(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                 const Field<T, Dim, Memory>& image,
                                 const Field<T, Dim, Memory>& illumination, double level = 1e-3);

/// \brief Multiplies sums of p / sqrt(rho) by the density, which leads to those of p.
///
/// To be called once for the sums of a shot in a model with variable density; for others it does
/// nothing.
/// \param exec execution instance
/// \param layout,pressure Propagator::layout() and Propagator::pressure_factors()
/// \param interior nodes of the sums in this layout
/// \param sums sums of a shot
template <class T, int Dim, class Memory>
void scale_by_density(const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
                      const wave::Storage<const T, Memory>& pressure, const Box<Dim>& interior,
                      const ImageSums<T, Dim, Memory>& sums);

/// \brief Returns the angle gather of a half-offset gather, by slant stack.
///
/// The value at depth z and angle g is the sum over h of I(z + h tan(g), h), linear between nodes;
/// tan g = -dz/dh along an event.
/// \param gather half offsets x depths, half offsets from -max_half_offset to max_half_offset
/// \param offsets,depths extents of `gather`
/// \param offset_step distance between half offsets, m
/// \param spacing distance between depths, m
/// \param angles degrees from -89 to 89
/// \return angles x depths
/// \throws InputError for an empty gather, distances that are not positive or angles out of range
std::vector<double> angle_gather(const std::vector<double>& gather, std::int64_t offsets,
                                 std::int64_t depths, double offset_step, double spacing,
                                 const std::vector<double>& angles);
/// \brief Returns the angle gathers of several columns, as angle_gather() does.
/// \param gathers columns x half offsets x depths
/// \return columns x angles x depths
std::vector<double> angle_gathers(const std::vector<double>& gathers, std::int64_t columns,
                                  std::int64_t offsets, std::int64_t depths, double offset_step,
                                  double spacing, const std::vector<double>& angles);

namespace detail {

/// Kernel: adds the products of an uncompressed snapshot at a node.
template <class T, int Dim>
struct AddSnapshot {
  snapshot::kernel::PointProducts<T, Dim> add;
  const T* snapshot;
  Box<Dim> box;  ///< box of the snapshot
  Index<Dim> strides;

  KOKKOS_FORCEINLINE_FUNCTION T value(const Index<Dim>& node) const {
    std::int64_t from = 0;
    for (int d = 0; d < Dim; ++d) from += (node[d] - box.lower[d]) * strides[d];
    return snapshot[from];
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const { add(node, value(node)); }
};

/// Kernel: adds R^2 at a node.
template <class T, int Dim>
struct AddReceiver {
  snapshot::kernel::PointProducts<T, Dim> add;

  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    const T r = add.field[add.layout.flat(node)];
    add.receiver[add.at(node)] += add.weight * r * r;
  }
};

/// Kernel: adds S(x - h) R(x + h) at a column, half offset and depth.
template <class T, int Dim, class Memory>
struct AddOffsets {
  AddSnapshot<T, Dim> common;
  Box<Dim> box;  ///< nodes with values of both wavefields
  Box<Dim> interior;
  const std::int64_t* columns;
  std::int64_t count, depths, offset_step;
  T* offsets;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t depth = n % depths;
    const std::int64_t h = (n / depths % count - count / 2) * offset_step;
    const std::int64_t column = n / depths / count;
    Index<Dim> left{}, right{};
    for (int d = 0; d < Dim - 1; ++d) {
      left[d] = right[d] = common.add.shift[d] + columns[column * Dim + d];
    }
    left[Dim - 1] = right[Dim - 1] = common.add.shift[Dim - 1] + depth;
    left[0] -= h;
    right[0] += h;
    if (!box.contains(left) || !box.contains(right)) return;
    offsets[n] +=
        common.add.weight * common.value(left) * common.add.field[common.add.layout.flat(right)];
  }
};

/// Kernel: multiplies the sums of a node by its density.
template <class T, int Dim>
struct ScaleParts {
  const T* root_density;  ///< padded
  wave::Layout<Dim> layout;
  Box<Dim> interior;
  T* parts[3];
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const T root = root_density[layout.flat(interior.node(n))];
    const T density = root * root;
    for (T* const part : parts) part[n] *= density;
  }
};

/// Kernel: multiplies a product of S(x - h) and R(x + h) by the roots of both densities.
template <class T, int Dim>
struct ScaleOffsets {
  const T* root_density;  ///< padded
  wave::Layout<Dim> layout;
  Box<Dim> interior;
  const std::int64_t* columns;
  std::int64_t count, depths, offset_step;
  T* offsets;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const std::int64_t h = (n / depths % count - count / 2) * offset_step;
    const std::int64_t column = n / depths / count;
    Index<Dim> left{};
    for (int d = 0; d < Dim - 1; ++d) left[d] = interior.lower[d] + columns[column * Dim + d];
    left[Dim - 1] = interior.lower[Dim - 1] + n % depths;
    Index<Dim> right = left;
    left[0] -= h;
    right[0] += h;
    if (!interior.contains(left) || !interior.contains(right)) return;
    offsets[n] *= root_density[layout.flat(left)] * root_density[layout.flat(right)];
  }
};

/// Kernel: the Laplacian at a node.
template <class T, int Dim>
struct Laplacian {
  const T* from;
  T* to;
  Grid<Dim> grid;
  double coefficients[5];
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    double sum = 0.0;
    const std::int64_t here = grid.flat(node);
    for (int d = 0; d < Dim; ++d) {
      const std::int64_t last = grid.extents[d] - 1;
      double axis = coefficients[0] * static_cast<double>(from[here]);
      for (int k = 1; k <= 4; ++k) {
        Index<Dim> low = node, high = node;
        low[d] = node[d] - k < 0 ? k - node[d] : node[d] - k;
        high[d] = node[d] + k > last ? 2 * last - node[d] - k : node[d] + k;
        if (low[d] > last) low[d] = last;
        if (high[d] < 0) high[d] = 0;
        axis += coefficients[k] * (static_cast<double>(from[grid.flat(low)]) +
                                   static_cast<double>(from[grid.flat(high)]));
      }
      sum += axis / (grid.spacing[d] * grid.spacing[d]);
    }
    to[here] = static_cast<T>(sum);
  }
};

/// Kernel: the normalised image at a node.
template <class T>
struct Quotient {
  const T *numerator, *denominator;
  T* to;
  double min;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const double below = static_cast<double>(denominator[i]) + min;
    to[i] = below > 0.0 ? static_cast<T>(static_cast<double>(numerator[i]) / below) : T(0);
  }
};

/// Reduction: the largest value.
template <class T>
struct LargestValue {
  using value_type = double;
  const T* values;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& max) const {
    if (static_cast<double>(values[i]) > max) max = static_cast<double>(values[i]);
  }
  KOKKOS_INLINE_FUNCTION void init(double& max) const { max = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(double& to, const double& from) const {
    if (from > to) to = from;
  }
};

}  // namespace detail

template <class T, int Dim, class Memory>
ImageSums<T, Dim, Memory> make_image(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                     const OffsetOptions<Dim>& offsets) {
  ImageSums<T, Dim, Memory> sums;
  sums.grid = grid;
  sums.image = make_field<T>(Instance<Memory>(exec), grid, "moho::rtm::image");
  sums.source_illumination = make_field<T>(Instance<Memory>(exec), grid, "moho::rtm::source");
  sums.receiver_illumination = make_field<T>(Instance<Memory>(exec), grid, "moho::rtm::receiver");
  for (const auto* field : {&sums.image, &sums.source_illumination, &sums.receiver_illumination}) {
    fill(Instance<Memory>(exec), *field, T(0));
  }
  sums.offset_options = offsets;
  if (offsets.count() == 0) return sums;
  check_offsets(grid, offsets);
  std::vector<std::int64_t> nodes;
  for (const Index<Dim>& column : offsets.columns) {
    for (int d = 0; d < Dim; ++d) nodes.push_back(column[d]);
  }
  sums.column_nodes = upload(Instance<Memory>(exec), nodes, "moho::rtm::columns");
  sums.offsets = allocate<Kokkos::View<T***, Kokkos::LayoutRight, Memory>>(
      Instance<Memory>(exec), "moho::rtm::offsets", offsets.columns.size(), offsets.count(),
      grid.extents[Dim - 1]);
  fill(Instance<Memory>(exec), sums.offsets, T(0));
  return sums;
}

template <class T, int Dim, class Memory>
void add_to_image(const InstanceOf<Memory>& exec,
                  const snapshot::Snapshot<T, Dim, Memory>& snapshot,
                  const wave::Layout<Dim>& layout, const wave::Storage<const T, Memory>& field,
                  const Box<Dim>& interior, const Box<Dim>& box, double weight,
                  const ImageSums<T, Dim, Memory>& sums) {
  const Box<Dim> both = intersection(intersection(snapshot.box, box), interior);
  if (both.empty()) return;
  const detail::AddSnapshot<T, Dim> functor{
      snapshot::kernel::PointProducts<T, Dim>::of(
          correlation<T, Dim, Memory>(layout, field, interior, weight, sums)),
      snapshot.values.data(), snapshot.box, dense_strides(snapshot.box)};
  launch_box("moho::rtm::image", Instance<Memory>(exec), both, functor);
  if (sums.offset_options.count() == 0) return;
  detail::AddOffsets<T, Dim, Memory> offsets{functor,
                                             both,
                                             interior,
                                             sums.column_nodes.data(),
                                             sums.offset_options.count(),
                                             sums.grid.extents[Dim - 1],
                                             sums.offset_options.offset_step,
                                             sums.offsets.data()};
  launch("moho::rtm::offsets", Instance<Memory>(exec),
         static_cast<std::int64_t>(sums.offsets.size()), offsets);
}

template <class T, int Dim, class Memory>
void scale_by_density(const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
                      const wave::Storage<const T, Memory>& pressure, const Box<Dim>& interior,
                      const ImageSums<T, Dim, Memory>& sums) {
  if (pressure.data() == nullptr) return;
  launch("moho::rtm::scale_by_density", Instance<Memory>(exec), interior.size(),
         detail::ScaleParts<T, Dim>{pressure.data(),
                                    layout,
                                    interior,
                                    {sums.image.data(), sums.source_illumination.data(),
                                     sums.receiver_illumination.data()}});
  if (sums.offset_options.count() == 0) return;
  launch("moho::rtm::scale_offsets", Instance<Memory>(exec),
         static_cast<std::int64_t>(sums.offsets.size()),
         detail::ScaleOffsets<T, Dim>{pressure.data(), layout, interior, sums.column_nodes.data(),
                                      sums.offset_options.count(), sums.grid.extents[Dim - 1],
                                      sums.offset_options.offset_step, sums.offsets.data()});
}

template <class T, int Dim, class Memory>
void add_receiver_illumination(const InstanceOf<Memory>& exec, const wave::Layout<Dim>& layout,
                               const wave::Storage<const T, Memory>& field,
                               const Box<Dim>& interior, const Box<Dim>& box, double weight,
                               const ImageSums<T, Dim, Memory>& sums) {
  const detail::AddReceiver<T, Dim> functor{snapshot::kernel::PointProducts<T, Dim>::of(
      correlation<T, Dim, Memory>(layout, field, interior, weight, sums))};
  const auto add = [&](const Box<Dim>& nodes) {
    if (nodes.empty()) return;
    launch_box("moho::rtm::receiver_illumination", Instance<Memory>(exec), nodes, functor);
  };
  Box<Dim> rest = interior;
  const Box<Dim> hole = intersection(box, interior);
  if (hole.empty()) return add(rest);
  for (int d = 0; d < Dim; ++d) {
    Box<Dim> side = rest;
    side.upper[d] = hole.lower[d];
    add(side);
    side = rest;
    side.lower[d] = hole.upper[d];
    add(side);
    rest.lower[d] = hole.lower[d];
    rest.upper[d] = hole.upper[d];
  }
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> laplacian(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                const Field<T, Dim, Memory>& field) {
  check_shape(grid, field, "field");
  auto result = make_field<T>(Instance<Memory>(exec), grid, "moho::rtm::laplacian");
  detail::Laplacian<T, Dim> functor{
      field.data(), result.data(), grid, {-205.0 / 72.0, 1.6, -0.2, 8.0 / 315.0, -1.0 / 560.0}};
  launch_box("moho::rtm::laplacian", Instance<Memory>(exec), whole_box(grid), functor);
  return result;
}

template <class T, int Dim, class Memory>
Field<T, Dim, Memory> normalised(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                 const Field<T, Dim, Memory>& image,
                                 const Field<T, Dim, Memory>& illumination, double level) {
  if (!(level > 0.0)) {
    throw InputError(concat("level is ", level, " (allowed: positive numbers): 0.001 is usual"));
  }
  check_shape(grid, image, "image");
  check_shape(grid, illumination, "illumination");
  auto result = make_field<T>(Instance<Memory>(exec), grid, "moho::rtm::normalised");
  const double max = reduce("moho::rtm::largest", Instance<Memory>(exec), grid.size(),
                            detail::LargestValue<T>{illumination.data()});
  launch("moho::rtm::quotient", Instance<Memory>(exec), grid.size(),
         detail::Quotient<T>{image.data(), illumination.data(), result.data(), level * max});
  return result;
}

}  // namespace moho::rtm

/// \cond
#ifdef MOHO_RTM_KERNELS
namespace moho::rtm {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, make_image)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, add_to_image)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, add_receiver_illumination)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, scale_by_density)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, laplacian)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, normalised)
}  // namespace moho::rtm
#endif
/// \endcond
