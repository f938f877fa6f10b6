// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The state of a wave: two time levels of p (and q), and the memory of absorbing layers.

#include <moho/wave/layout.hpp>

#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// What a perfectly matched layer remembers of one field at one face.
template <class T, class Exec>
struct LayerMemory {
  Storage<T, Exec> psi_now;   ///< of the first derivative, as the last step left it
  Storage<T, Exec> psi_next;  ///< where the step writes
  Storage<T, Exec> zeta;      ///< of the second derivative
};

/// \brief A wavefield: everything that a step reads and writes, and nothing else.
///
/// Propagator::make_wavefield() makes one. A step writes the next values over those one step ago;
/// when all boxes of a step are done, advance() makes them the present.
template <class T, int Dim, class Exec>
struct Wavefield {
  Layout<Dim> layout;                        ///< of all arrays
  int fields = 0;                            ///< 1: p; 2: p and q
  Storage<T, Exec> now[2];                   ///< at this time
  Storage<T, Exec> before[2];                ///< one step ago, or next where a step has been
  Storage<T, Exec> slope[2];                 ///< work space of self-adjoint TTI, of no step's state
  std::vector<LayerMemory<T, Exec>> layers;  ///< by face and field, in the propagator's order

  /// Makes the next values the present ones.
  void advance() {
    for (int f = 0; f < fields; ++f) std::swap(now[f], before[f]);
    for (auto& layer : layers) std::swap(layer.psi_now, layer.psi_next);
  }
  /// Silence.
  void clear(const Exec& exec) {
    for (int f = 0; f < fields; ++f) {
      Kokkos::deep_copy(exec, now[f], T(0));
      Kokkos::deep_copy(exec, before[f], T(0));
    }
    for (auto& layer : layers) {
      Kokkos::deep_copy(exec, layer.psi_now, T(0));
      Kokkos::deep_copy(exec, layer.psi_next, T(0));
      Kokkos::deep_copy(exec, layer.zeta, T(0));
    }
  }
  /// Bytes of all arrays.
  std::size_t bytes() const {
    std::size_t count = 0;
    for (int f = 0; f < fields; ++f) count += now[f].size() + before[f].size() + slope[f].size();
    for (const auto& layer : layers) {
      count += layer.psi_now.size() + layer.psi_next.size() + layer.zeta.size();
    }
    return count * sizeof(T);
  }
};

/// The greatest magnitude of a field in a box, and whether all of it is finite.
struct Amplitude {
  double greatest = 0.0;  ///< of all finite values
  std::int64_t bad = -1;  ///< flat index on the grid of the first NaN or infinity; -1 if none
};

namespace detail {
struct AmplitudeSum {
  double greatest;
  std::int64_t bad;
};
template <class T, int Dim, class Exec>
struct AmplitudeOf {
  using value_type = AmplitudeSum;
  Storage<const T, Exec> field;
  Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, AmplitudeSum& sum) const {
    const Index<Dim> node = box.node(i);
    const double value = static_cast<double>(field(layout.flat(node)));
    const double size = value < 0.0 ? -value : value;
    if (!(size <= 3.0e38)) {
      std::int64_t flat = node[0];
      for (int d = 1; d < Dim; ++d) flat = flat * layout.extents[d] + node[d];
      if (flat < sum.bad) sum.bad = flat;
    } else if (size > sum.greatest) {
      sum.greatest = size;
    }
  }
  KOKKOS_INLINE_FUNCTION void init(AmplitudeSum& sum) const {
    sum.greatest = 0.0;
    sum.bad = INT64_MAX;
  }
  KOKKOS_INLINE_FUNCTION void join(AmplitudeSum& to, const AmplitudeSum& from) const {
    if (from.greatest > to.greatest) to.greatest = from.greatest;
    if (from.bad < to.bad) to.bad = from.bad;
  }
  /// Kokkos before 4.0 joins volatile values.
  KOKKOS_INLINE_FUNCTION void join(volatile AmplitudeSum& to,
                                   const volatile AmplitudeSum& from) const {
    if (from.greatest > to.greatest) to.greatest = from.greatest;
    if (from.bad < to.bad) to.bad = from.bad;
  }
};
}  // namespace detail

/// The amplitude of a padded array in a box. It waits for the instance. Numbers beyond 3e38 count
/// as bad.
template <class T, int Dim, class Exec>
Amplitude amplitude(const Exec& exec, const Layout<Dim>& layout, const Storage<T, Exec>& field,
                    const Box<Dim>& box) {
  detail::AmplitudeSum sum{0.0, INT64_MAX};
  if (!box.empty()) {
    Kokkos::parallel_reduce(
        "moho::wave::amplitude",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, box.size()),
        detail::AmplitudeOf<T, Dim, Exec>{field, layout, box}, sum);
    exec.fence();
  }
  return {sum.greatest, sum.bad == INT64_MAX ? -1 : sum.bad};
}

/// Throws Error if p or q is no longer finite in the box: the step and the place.
template <class T, int Dim, class Exec>
Amplitude check_finite(const Exec& exec, const Grid<Dim>& grid,
                       const Wavefield<T, Dim, Exec>& wavefield, const Box<Dim>& box,
                       std::int64_t step) {
  Amplitude most;
  for (int f = 0; f < wavefield.fields; ++f) {
    const Amplitude found = amplitude<T, Dim, Exec>(exec, wavefield.layout, wavefield.now[f], box);
    if (found.bad >= 0) {
      const Index<Dim> node = grid.node(found.bad);
      throw Error(concat("step ", step, ": the wavefield ", f == 0 ? "p" : "q",
                         " is no longer finite at node ", format_index(node), ", ",
                         format_point(grid.position(node)),
                         " (it overflowed, or the source holds such a number): look at the model "
                         "there, smooth its angles, or take a smaller dt"));
    }
    most.greatest = std::max(most.greatest, found.greatest);
  }
  return most;
}

}  // namespace moho::wave
