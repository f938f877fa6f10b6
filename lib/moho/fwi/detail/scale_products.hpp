// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of the source wavefield with D of the adjoint field, without storing D
/// (internal).

#include <moho/core/denormals.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/fwi/detail/march_setup.hpp>
#include <moho/fwi/detail/point_products.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/kernel/section_device.hpp>
#include <moho/wave/operators.hpp>

#include <cstdint>

namespace moho::fwi::detail {

using wave::kernel::Stencil;

/// \brief Returns the source wavefield at the time of a snapshot, borrowed or loaded from the
/// store.
/// \param exec of the run
/// \param store of snapshots
/// \param time of a snapshot
/// \param fields that it has
/// \param shift from nodes of the store's grid to those of the result
template <class T, int Dim, class Memory>
SourceValues<T, Dim> source_values(const Instance<Memory>& exec,
                                   snapshot::SnapshotStore<T, Dim, Memory>& store,
                                   std::int64_t time, int fields, const Index<Dim>& shift) {
  SourceValues<T, Dim> result{};
  if (const auto* field = store.borrow(exec, time, result.box)) {
    for (int f = 0; f < fields; ++f) {
      result.fields[f] = field->now[f].data() + field->layout.offset;
    }
    result.values.strides = field->layout.strides;
  } else {
    const snapshot::Snapshot<T, Dim, Memory> snapshot = store.load(exec, time);
    result.box = snapshot.box;
    for (int f = 0; f < fields; ++f) {
      result.fields[f] = snapshot.values.data() + f * snapshot.box.size();
    }
    result.values = detail::dense(snapshot.box);
  }
  for (int d = 0; d < Dim; ++d) {
    for (Box<Dim>* box : {&result.box, &result.values.box}) {
      box->lower[d] += shift[d];
      box->upper[d] += shift[d];
    }
  }
  return result;
}

/// Most shots whose products are added in one launch.
inline constexpr int largest_product_batch = 16;

/// Arrays of AddScale by shot of a batch.
template <class T>
struct ShotArrays {
  const T *p[largest_product_batch], *q[largest_product_batch];
  T *scale[largest_product_batch], *illumination[largest_product_batch];
  T* by_potential[largest_product_batch];

  /// Keeps the arrays of a shot.
  template <int Dim>
  void put(int shot, const AddScale<T, Dim>& add) {
    p[shot] = add.p;
    q[shot] = add.q;
    scale[shot] = add.scale;
    illumination[shot] = add.illumination;
    by_potential[shot] = add.by_potential;
  }
  /// Sets the arrays to those of a shot.
  template <int Dim>
  KOKKOS_FORCEINLINE_FUNCTION void take(int shot, AddScale<T, Dim>& add) const {
    add.p = p[shot];
    add.q = q[shot];
    add.scale = scale[shot];
    add.illumination = illumination[shot];
    add.by_potential = by_potential[shot];
  }
};

/// Kernel of hosts: D nu and its products by rows, without storing D nu.
template <Stencil stencil, class T, int Dim, int radius>
struct ProductRows {
  wave::kernel::OperatorRows<stencil, T, Dim, radius> rows;
  AddScale<T, Dim> add;
  void operator()(const std::int64_t n) const {
    // local copies without aliases permit vectorisation
    const auto own = rows;
    const wave::kernel::StepArguments<T>& s = own.s;
    const std::int64_t ny = s.upper[1] - s.lower[1];
    Index<Dim> node{};
    node[0] = s.lower[0] + n / ny;
    if (Dim == 3) node[1] = s.lower[1] + n % ny;
    node[Dim - 1] = s.lower[2];
    const std::int64_t count = s.upper[2] - s.lower[2];
    const std::int64_t i = s.flat(node[0], s.lower[1] + n % ny, s.lower[2]);
    const std::int64_t from = add.snapshot.at(node), to = add.sums.at(node);
    const T* const p = add.p + from;
    const T* const q = wave::kernel::field_count<stencil> == 2 ? add.q + from : nullptr;
    T* const scale = add.scale + to;
    T* const illumination = add.illumination + to;
    const T weight = add.weight, time = add.time;
    const FlushDenormals flush;  // in front of waves
    if constexpr (stencil == Stencil::variable_density) {
      if (add.by_potential != nullptr) {
        T* const by_potential = add.by_potential + add.potential_sums.at(node);
        const T* const nu = s.now[0] + i;
        MOHO_INDEPENDENT
        for (std::int64_t k = 0; k < count; ++k) by_potential[k] -= weight * (nu[k] * p[k]);
      }
    }
    MOHO_INDEPENDENT
    for (std::int64_t k = 0; k < count; ++k) {
      T product = p[k] * own.change_p(i + k);
      if constexpr (wave::kernel::field_count<stencil> == 2) product += q[k] * own.change_q(i + k);
      scale[k] += weight * product;
      illumination[k] += time * p[k] * p[k];
    }
  }
};

/// \brief Kernel of devices: D nu and its products in the order of a step, reading nu once.
///
/// A thread loads and stores four nodes as a vector if sums and source wavefield are aligned.
template <Stencil stencil, class T, int Dim, int radius, class Exec>
struct MarchProducts {
  using March = wave::kernel::DeviceMarch<stencil, T, Dim, radius, Exec>;
  static constexpr int width = March::width;
  static constexpr int fields = wave::kernel::field_count<stencil>;
  using Vector = wave::kernel::Lanes<T, width>;
  March march;  ///< of a batch in 2D if march.s.shots is above 1
  AddScale<T, Dim> add;
  ShotArrays<T> shots;  ///< arrays by shot of a batch, in place of those of `add`
  bool aligned;

  /// The work of a thread on a shot.
  struct Work {
    March march;
    AddScale<T, Dim> add;
    bool aligned;
    template <class Member>
    KOKKOS_FORCEINLINE_FUNCTION void operator()(const Member& member, int team) const {
      const wave::kernel::StepArguments<T>& s = march.s;
      MarchSetup<March> start;
      if (!start.find(march, member, team)) return;
      const std::int64_t y = start.y, z = start.z;
      std::int64_t at = start.at;
      typename March::Queue& queue = start.queue;
      const Index<Dim> node = node_at(start.x0, y, z);
      std::int64_t from = add.snapshot.at(node), to = add.sums.at(node);
      const bool whole = aligned && z >= s.lower[2] && z + width <= s.upper[2];
      for (std::int64_t x = start.x0; x < start.x1;
           ++x, at += s.stride_x, from += add.snapshot.strides[0], to += add.sums.strides[0]) {
        // all loads before the first use
        Values values{};
        if (whole) values = load(from, to);
        MOHO_UNROLL
        for (int f = 0; f < March::queues; ++f) {
          const Vector ahead =
              wave::kernel::load_lanes<width>(march.column(f) + at + radius * s.stride_x);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) queue[f][2 * radius][i] = ahead.v[i];
        }
        T change[2][width];
        typename March::Window window;
        wave::kernel::load_window<width, March::side>(s.now[fields - 1] + at, window);
        march.across(queue, 0, s.now[0] + at, change[0]);
        march.down(window, change[1]);
        if constexpr (fields == 1) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) change[0][i] += change[1][i];
        }
        if constexpr (stencil == Stencil::variable_density) {
          const Vector potential = wave::kernel::load_lanes<width>(s.a + at);
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) change[0][i] -= potential.v[i] * queue[0][radius][i];
          if (add.by_potential != nullptr) add_potential(node_at(x, y, z), from, whole, queue);
        }
        if (whole) {
          add_vector(to, values, change);
          if (add.kept_source[0] != nullptr) keep_vector(to, values, change);
        } else {
          for (int i = 0; i < width; ++i) {
            if (z + i < s.lower[2] || z + i >= s.upper[2]) continue;
            add.at(from + i, to + i, change[0][i], change[1][i]);
          }
        }
        March::shift(queue);
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION static Index<Dim> node_at(std::int64_t x, std::int64_t y,
                                                          std::int64_t z) {
      Index<Dim> node{};
      node[0] = x;
      if (Dim == 3) node[1] = y;
      node[Dim - 1] = z;
      return node;
    }
    /// Adds -u nu at the nodes of a vector, as AddPotential does.
    KOKKOS_FORCEINLINE_FUNCTION void add_potential(const Index<Dim>& node, std::int64_t from,
                                                   bool whole,
                                                   const typename March::Queue& queue) const {
      T* const sum = add.by_potential + add.potential_sums.at(node);
      if (whole) {
        const Vector u = wave::kernel::load_lanes<width>(add.p + from);
        Vector to = wave::kernel::load_lanes<width>(sum);
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) to.v[i] -= add.weight * (queue[0][radius][i] * u.v[i]);
        *reinterpret_cast<Vector*>(sum) = to;
        return;
      }
      const wave::kernel::StepArguments<T>& s = march.s;
      for (int i = 0; i < width; ++i) {
        if (node[Dim - 1] + i < s.lower[2] || node[Dim - 1] + i >= s.upper[2]) continue;
        sum[i] -= add.weight * (queue[0][radius][i] * add.p[from + i]);
      }
    }
    /// What AddScale::at() reads, of the nodes of a vector.
    struct Values {
      Vector p, q, scale, illumination;
    };
    KOKKOS_FORCEINLINE_FUNCTION Values load(std::int64_t from, std::int64_t to) const {
      Values result{};
      result.p = wave::kernel::load_lanes<width>(add.p + from);
      if constexpr (fields == 2) result.q = wave::kernel::load_lanes<width>(add.q + from);
      result.scale = wave::kernel::load_lanes<width>(add.scale + to);
      result.illumination = wave::kernel::load_lanes<width>(add.illumination + to);
      return result;
    }
    /// AddScale::at() of the nodes of a vector.
    KOKKOS_FORCEINLINE_FUNCTION void add_vector(std::int64_t to, const Values& values,
                                                const T (&change)[2][width]) const {
      Vector scale = values.scale, illumination = values.illumination;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        T product = values.p.v[i] * change[0][i];
        if constexpr (fields == 2) product = plus_product(product, values.q.v[i], change[1][i]);
        scale.v[i] += add.weight * product;
        illumination.v[i] += add.time * values.p.v[i] * values.p.v[i];
      }
      *reinterpret_cast<Vector*>(add.scale + to) = scale;
      *reinterpret_cast<Vector*>(add.illumination + to) = illumination;
    }
    /// What AddScale::at() keeps, of the nodes of a vector.
    KOKKOS_FORCEINLINE_FUNCTION void keep_vector(std::int64_t to, const Values& values,
                                                 const T (&change)[2][width]) const {
      *reinterpret_cast<Vector*>(add.kept_source[0] + to) = values.p;
      *reinterpret_cast<Vector*>(add.kept_change[0] + to) = vector_of(change[0]);
      if constexpr (fields == 2) {
        *reinterpret_cast<Vector*>(add.kept_source[1] + to) = values.q;
        *reinterpret_cast<Vector*>(add.kept_change[1] + to) = vector_of(change[1]);
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION static Vector vector_of(const T (&values)[width]) {
      Vector result;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) result.v[i] = values[i];
      return result;
    }
  };

  // As wave::kernel::work_of_shot(): teams of the same tile of all shots come first.
  KOKKOS_INLINE_FUNCTION void operator()(const typename March::Policy::member_type& member) const {
    Work work{march, add, aligned};
    int team = member.league_rank();
    if constexpr (Dim == 2) {
      team = member.league_rank() / march.s.shots;
      const int shot = member.league_rank() - team * march.s.shots;
      if (march.s.shots > 1) {
        work.march.s = march.s.of_shot(shot);
        shots.take(shot, work.add);
      }
    }
    work(member, team);
  }
};

/// Most values, of all fields and shots, whose products SectionProducts adds.
inline constexpr std::int64_t largest_section_products = std::int64_t{5} << 20;

/// Kernel of devices for sections: D nu and its products, a thread for a node.
template <Stencil stencil, class T, int radius>
struct SectionProducts {
  wave::kernel::StepArguments<T> s;
  AddScale<T, 2> add;
  ShotArrays<T> shots;  ///< arrays by shot of a batch, in place of those of `add`
  wave::kernel::SectionThreads threads;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    int shot, x, z;
    if (!threads.place(s, n, shot, x, z)) return;
    if (s.shots == 1) return node(s, add, x, z);
    AddScale<T, 2> own = add;
    shots.take(shot, own);
    node(s.of_shot(shot), own, x, z);
  }
  /// Adds the products of a node.
  KOKKOS_FORCEINLINE_FUNCTION static void node(const wave::kernel::StepArguments<T>& s,
                                               const AddScale<T, 2>& add, int x, int z) {
    constexpr int fields = wave::kernel::field_count<stencil>;
    const std::int64_t i = s.flat(x, s.lower[1], z);
    const Index<2> at{x, z};
    const std::int64_t from = add.snapshot.at(at);
    const T* const nu = s.now[0] + i;
    T change = wave::kernel::second_across<radius>(s, nu);
    const T down = wave::kernel::second_down<radius>(s, s.now[fields - 1] + i);
    if constexpr (fields == 1) change += down;
    if constexpr (stencil == Stencil::variable_density) {
      change -= s.a[i] * nu[0];
      if (add.by_potential != nullptr) {
        add.by_potential[add.potential_sums.at(at)] -= add.weight * (nu[0] * add.p[from]);
      }
    }
    add.at(from, add.sums.at(at), change, down);
  }
};

template <Stencil stencil, class T, int Dim, int radius, class Memory>
void launch_products(const Instance<Memory>& exec, const wave::kernel::StepArguments<T>& s,
                     const AddScale<T, Dim>& add, const ShotArrays<T>& shots) {
  if constexpr (is_host_memory<Memory>) {
    using Rows = ProductRows<stencil, T, Dim, radius>;
    launch("moho::fwi::add_products", exec, (s.upper[0] - s.lower[0]) * (s.upper[1] - s.lower[1]),
           Rows{{s, nullptr, nullptr}, add});
  } else {
    if constexpr (Dim == 2 && wave::kernel::has_section_step(stencil)) {
      SectionProducts<stencil, T, radius> section{s, add, shots, {}};
      const std::int64_t count =
          section.threads.cover(s, wave::kernel::field_count<stencil>, largest_section_products);
      if (count > 0) return launch("moho::fwi::section_products", exec, count, section);
    }
    using Kernel = MarchProducts<stencil, T, Dim, radius, DeviceOf<Memory>>;
    Kernel kernel;
    kernel.march.s = s;
    kernel.add = add;
    kernel.shots = shots;
    const std::int64_t teams = kernel.march.tiles.cover(s, multiprocessors(exec.space())) * s.shots;
    constexpr std::int64_t width = Kernel::width;
    bool aligned = true;
    const auto look = [&](const T* start, const DenseBox<Dim>& nodes) {
      if (start == nullptr) return;
      aligned = aligned && reinterpret_cast<std::uintptr_t>(start) % (width * sizeof(T)) == 0 &&
                nodes.box.lower[Dim - 1] % width == 0;
      for (int d = 0; d + 1 < Dim; ++d) aligned = aligned && nodes.strides[d] % width == 0;
    };
    for (int shot = 0; shot < s.shots; ++shot) {
      AddScale<T, Dim> own = add;
      if (s.shots > 1) shots.take(shot, own);
      look(own.p, own.snapshot);
      look(own.q, own.snapshot);
      look(own.scale, own.sums);
      look(own.illumination, own.sums);
      look(own.by_potential, own.potential_sums);
    }
    for (int f = 0; f < 2; ++f) {
      look(add.kept_source[f], add.sums);
      look(add.kept_change[f], add.sums);
    }
    kernel.aligned = aligned;
    const typename Kernel::March::Policy policy(exec.space(), static_cast<int>(teams),
                                                Kernel::March::threads);
    Kokkos::parallel_for("moho::fwi::add_products", light_weight(policy), kernel);
  }
}

/// Kernels of devices by order.
template <Stencil stencil, class T, int Dim, class Memory>
void launch_products_of(const Instance<Memory>& exec, int order,
                        const wave::kernel::StepArguments<T>& s, const AddScale<T, Dim>& add,
                        const ShotArrays<T>& shots) {
  using Call = void (*)(const Instance<Memory>&, const wave::kernel::StepArguments<T>&,
                        const AddScale<T, Dim>&, const ShotArrays<T>&);
  constexpr Call table[] = {
      &launch_products<stencil, T, Dim, 1, Memory>, &launch_products<stencil, T, Dim, 2, Memory>,
      &launch_products<stencil, T, Dim, 3, Memory>, &launch_products<stencil, T, Dim, 4, Memory>,
      &launch_products<stencil, T, Dim, 5, Memory>, &launch_products<stencil, T, Dim, 6, Memory>,
      &launch_products<stencil, T, Dim, 7, Memory>, &launch_products<stencil, T, Dim, 8, Memory>};
  table[order / 2 - 1](exec, s, add, shots);
}

/// Products where D nu is not stored, by stencil (one_pass_symmetric_stencils) and order.
///
/// \param shots arrays of a batch of s.shots shots, on devices in 2D; of one shot those of `add`
template <class T, int Dim, class Memory>
void launch_scale_products(const Instance<Memory>& exec, Stencil stencil, int order,
                           const wave::kernel::StepArguments<T>& s, const AddScale<T, Dim>& add,
                           const ShotArrays<T>& shots) {
  wave::kernel::visit_stencil<wave::one_pass_symmetric_stencils.bits>(stencil, [&](auto constant) {
    launch_products_of<decltype(constant)::value, T, Dim, Memory>(exec, order, s, add, shots);
  });
}

/// Products where D nu is stored.
template <class T, int Dim, class Memory>
void launch_add_scale(const Instance<Memory>& exec, const Box<Dim>& box,
                      const AddScale<T, Dim>& add) {
  launch_box("moho::fwi::add_scale", exec, box, add);
}

/// Returns the sums for the products at nodes of residuals, which lack in those with D nu.
template <class T, int Dim>
AddPointProduct<T, Dim> at_residuals(const AddScale<T, Dim>& add) {
  AddPointProduct<T, Dim> result{};
  result.field = add.p;
  result.nodes = add.snapshot;
  result.scale = add.scale;
  result.sums = add.sums;
  result.kept_change = add.kept_change[0];
  result.weight = add.weight;
  return result;
}

/// \brief Adds products of the source wavefield with D nu and the residuals to sums.
///
/// D nu is stored for stencils of several passes, where it dominates the cost. For others the
/// products with the residuals are added afterwards, at the nodes of residuals.
/// \param exec instance to which the work is submitted
/// \param scheme,medium,nu of the adjoint field
/// \param box nodes of the sums
/// \param residuals of the step
/// \param change arrays for D nu and the residuals, where they are stored
/// \param add operands of AddScale
/// \param at products at the nodes of residuals, as at_residuals() returns them or with the sum
/// for the density
template <class T, int Dim, class Memory>
void add_products(const Instance<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
                  const wave::MediumCoefficients<T, Dim, Memory>& medium,
                  const wave::Wavefield<T, Dim, Memory>& nu, const Box<Dim>& box,
                  const StepInjection<T, Dim, Memory>& residuals,
                  const wave::Storage<T, Memory> (&change)[2], const AddScale<T, Dim>& add,
                  const AddPointProduct<T, Dim>& at) {
  if (!wave::one_pass_symmetric_stencils.has(scheme.stencil())) {
    wave::apply_operator<T, Dim, Memory>(exec, scheme, medium, nu, box, change[0], change[1]);
    residuals.add_to(exec, change[0]);
    launch_add_scale<T, Dim, Memory>(exec, box, add);
    return;
  }
  wave::kernel::StepArguments<T> s;
  if (!wave::kernel::bind_operator(exec, scheme, medium, nu, box, s)) return;
  launch_scale_products<T, Dim, Memory>(exec, scheme.stencil(), scheme.order(), s, add, {});
  add_point_products<T, Dim, Memory>(exec, residuals, box, at);
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, launch_scale_products)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, launch_add_scale)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, launch_add_potential)
}  // namespace moho::fwi::detail
#endif
/// \endcond
