// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief One-pass step of self-adjoint TTI, on CUDA devices, in 3D and single precision.
///
/// A block marches along x through a tile of rows along y and columns along z. A ring in shared
/// memory holds planes of p and q with a halo of twice the radius. Asynchronous copies fill it two
/// planes ahead. Values along x are in queues of registers.
///
/// In each plane x every thread computes g = n . grad of p and q. It does so at its nodes of the
/// tile and at one node of the adjacent halo. It stores ny g and nz g in shared memory. After the
/// plane's only barrier it computes their differences along y and z.
///
/// The difference of nx g along x is scattered. A node has 2 radius accumulators for the planes
/// around x, each of which adds its part of nx g of this plane. The accumulator of plane x also
/// adds the Laplacian and the differences within the plane. The accumulator of plane x - radius is
/// then complete, and that plane is stepped. Only p, q, the axis and the parameters are read, each
/// once, and g never leaves the multiprocessor.
///
/// The ring needs more shared memory than Kokkos gives to a team (48 KB), hence a native CUDA
/// launch. Kokkos Tools receive its name like that of a Kokkos kernel.

#include <moho/core/instances.hpp>
#include <moho/wave/detail/axis_arithmetic.hpp>
#include <moho/wave/detail/axis_ring.hpp>
#include <moho/wave/detail/axis_word.hpp>

#include <cstdint>

#ifdef KOKKOS_ENABLE_CUDA

namespace moho::wave::detail {

/// Starts an asynchronous copy of 16 bytes to shared memory.
__device__ __forceinline__ void ring_copy(unsigned to, const float* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
  const float4 v = *reinterpret_cast<const float4*>(from);
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v.x), "f"(v.y), "f"(v.z),
               "f"(v.w)
               : "memory");
#endif
}
/// Starts an asynchronous copy of 8 bytes to shared memory.
__device__ __forceinline__ void ring_copy_pair(unsigned to, const float* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
#else
  const float2 v = *reinterpret_cast<const float2*>(from);
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(v.x), "f"(v.y) : "memory");
#endif
}
/// Ends a group of copies.
__device__ __forceinline__ void ring_copies_end() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for all copies except those of the last `later` groups.
template <int later>
__device__ __forceinline__ void ring_copies_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");
#endif
}
/// Returns the address in shared memory that asynchronous copies use.
__device__ __forceinline__ unsigned ring_address(const float* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
/// March of a block through a tile.
template <int radius, class Traits>
struct AxisRing {
  using Shape = AxisRingShape<radius, Traits>;
  using Pair = Lanes<float, 2>;
  static constexpr int width = Shape::width;

  /// Fills a window as load_window() does, with known values at the nodes themselves.
  template <int nodes, int aside>
  static __device__ __forceinline__ void load_around(const float* here,
                                                     const float (&center)[nodes],
                                                     float (&window)[(2 * aside + 1) * nodes]) {
    MOHO_UNROLL
    for (int k = -aside; k <= aside; ++k) {
      if (k != 0) {
        const Lanes<float, nodes> v = load_lanes<nodes>(here + k * nodes);
        MOHO_UNROLL
        for (int i = 0; i < nodes; ++i) window[(k + aside) * nodes + i] = v.v[i];
      } else {
        MOHO_UNROLL
        for (int i = 0; i < nodes; ++i) window[aside * nodes + i] = center[i];
      }
    }
  }

  /// Computes the derivatives along y and z at nodes of the ring, `nodes` neighbours along z.
  template <int nodes>
  static __device__ __forceinline__ void within(const StepArguments<float>& s, const float* here,
                                                const float (&center)[nodes], float (&dy)[nodes],
                                                float (&dz)[nodes], float (&laplacian)[nodes],
                                                bool with_laplacian) {
    constexpr int c = Shape::template aside<nodes> * nodes;
    float window[(2 * Shape::template aside<nodes> + 1) * nodes];
    load_around<nodes, Shape::template aside<nodes>>(here, center, window);
    MOHO_UNROLL
    for (int i = 0; i < nodes; ++i) {
      dz[i] = odd_sum<radius, 1, float>(s.first[2], window + c + i);
      if (with_laplacian) {
        laplacian[i] = add_even_sum<radius, 1, float>(s.second[2], window + c + i, laplacian[i]);
      }
    }
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      const auto up = load_lanes<nodes>(here + k * Shape::ring_row);
      const auto low = load_lanes<nodes>(here - k * Shape::ring_row);
      MOHO_UNROLL
      for (int i = 0; i < nodes; ++i) {
        const float difference = up.v[i] - low.v[i];
        dy[i] = k == 1 ? rounded_product<float>(s.first[1][1], difference)
                       : rounded_once<float>(s.first[1][k], difference, dy[i]);
        if (with_laplacian) {
          laplacian[i] = rounded_once<float>(s.second[1][k], up.v[i] + low.v[i], laplacian[i]);
        }
      }
    }
  }

  /// Computes the differences of the fluxes within a plane, at two nodes of the tile.
  static __device__ __forceinline__ void divergence(const StepArguments<float>& s, const float* y,
                                                    const float* z, const float (&center)[width],
                                                    float (&h)[width]) {
    constexpr int c = Shape::flux_side;
    float window[Shape::flux_window];
    load_around<width, Shape::flux_side / width>(z, center, window);
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) {
      h[i] = odd_sum<radius, 1, float>(s.first[2], window + c + i);
    }
    MOHO_UNROLL
    for (int k = 1; k <= radius; ++k) {
      const Pair up = load_lanes<width>(y + k * Shape::columns);
      const Pair low = load_lanes<width>(y - k * Shape::columns);
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) {
        h[i] = rounded_once<float>(s.first[1][k], up.v[i] - low.v[i], h[i]);
      }
    }
  }

  /// Adds nx g of plane x to the sums of planes x - radius to x + radius - 1, and shifts them.
  ///
  /// The sums become those of the planes one further; the first of them is complete and is moved to
  /// `done`.
  static __device__ __forceinline__ void scatter(const StepArguments<float>& s, float sign,
                                                 const float (&flow)[width],
                                                 const float (&middle)[width],
                                                 float (&sums)[2 * radius][width],
                                                 float (&done)[width]) {
    MOHO_UNROLL
    for (int i = 0; i < width; ++i) {
      const float v = flow[i];
      done[i] = rounded_once<float>(sign * s.first[0][radius], v, sums[0][i]);
      MOHO_UNROLL
      for (int k = radius - 1; k >= 1; --k) {
        sums[radius - k - 1][i] = rounded_once<float>(sign * s.first[0][k], v, sums[radius - k][i]);
      }
      sums[radius - 1][i] = sums[radius][i] + middle[i];
      MOHO_UNROLL
      for (int k = 1; k < radius; ++k) {
        sums[radius + k - 1][i] =
            rounded_once<float>(-sign * s.first[0][k], v, sums[radius + k][i]);
      }
      sums[2 * radius - 1][i] = rounded_product<float>(-sign * s.first[0][radius], v);
    }
  }

  /// Copies this thread's part of the rows of a plane to shared memory.
  static __device__ __forceinline__ void copy_rows(const float* plane,
                                                   const int (&copy_from)[Shape::copies],
                                                   int copy_lane, int copy_row, unsigned to) {
    if (copy_lane >= Shape::chunks) return;
    MOHO_UNROLL
    for (int n = 0; n < Shape::copies; ++n) {
      if (Shape::ring_rows % Shape::at_once == 0 ||
          copy_row + n * Shape::at_once < Shape::ring_rows) {
        ring_copy(to + 4 * n * Shape::at_once * Shape::ring_row, plane + copy_from[n]);
      }
    }
  }
  /// Copies this thread's part of a plane of both fields into a slot of the ring.
  static __device__ __forceinline__ void fill(const StepArguments<float>& s,
                                              const int (&copy_from)[Shape::copies], int copy_lane,
                                              int copy_row, unsigned copy_to, int plane, int slot) {
    MOHO_UNROLL
    for (int f = 0; f < 2; ++f) {
      copy_rows((f == 0 ? s.now[0] : s.now[1]) + plane, copy_from, copy_lane, copy_row,
                copy_to + 4 * (slot * 2 + f) * Shape::plane);
    }
    ring_copies_end();
  }

  /// Steps planes [x0, x1) of the tile whose first node is (y0, z0).
  static __device__ __forceinline__ void march(const AxisRingArguments<float>& a, float* shared,
                                               int x0, int x1, int y0, int z0) {
    const StepArguments<float>& s = a.s;
    const int stride_x = static_cast<int>(s.stride_x), stride_y = static_cast<int>(s.stride_y);
    float* const fluxes = shared + Shape::slots * 2 * Shape::plane;
    float* const tapers = fluxes + 2 * Shape::flux;
    float* const stage = tapers + Shape::points;
    std::uint32_t* const plane_words = reinterpret_cast<std::uint32_t*>(stage + Shape::stage);
    const int thread = static_cast<int>(threadIdx.x);
    const int row = thread / (Shape::columns / width);
    const int column = thread % (Shape::columns / width) * width;
    const int y = y0 + row, z = z0 + column;
    // rows beyond the last halo are not in memory; results computed there are not used
    const int last_row = a.extents[1] + radius - 1;
    const auto plane_at = [&](int x) {
      return min(max(x, a.first_plane), a.last_plane) * stride_x;
    };
    const int in_plane = min(y, last_row) * stride_y + z;
    // rows of the ring, of the axis and of nz g are equally long: one offset serves all
    const int in_row = row * Shape::ring_row + column;
    const int own = in_row + 2 * radius * Shape::ring_row + Shape::side;
    const bool inside = y < s.upper[1];
    const bool pair = inside && z >= s.lower[2] && z + width <= s.upper[2];
    {
      const float across = s.taper[1][min(y, a.extents[1])];
      Pair taper;
      MOHO_UNROLL
      for (int i = 0; i < width; ++i) taper.v[i] = across * s.taper[2][min(z + i, a.extents[2])];
      *reinterpret_cast<Pair*>(tapers + thread * width) = taper;
    }

    // this thread's node of the halo: offset of its g, and node of its computation. Beyond a free
    // surface g is an even function.
    const bool has_halo = Shape::halo == Shape::threads || thread < Shape::halo;
    const bool halo_y = thread < 2 * radius * Shape::columns;
    int halo_row, halo_column, halo_to;
    if (halo_y) {
      const int k = thread / Shape::columns;
      halo_row = k < radius ? k - radius : Shape::rows + k - radius;
      halo_column = thread % Shape::columns;
      halo_to = (halo_row + radius) * Shape::columns + halo_column;
      if (a.free_y && y0 + halo_row < 0) halo_row = -halo_row - 2 * y0;
    } else {
      const int n = (has_halo ? thread : 0) - 2 * radius * Shape::columns;
      const int k = n % (2 * radius);
      halo_row = has_halo ? n / (2 * radius) : 0;
      halo_column = !has_halo ? 0 : k < radius ? k - radius : Shape::columns + k - radius;
      halo_to = 2 * Shape::flux_y + halo_row * Shape::ring_row + Shape::flux_side + halo_column;
      if (a.free_z && z0 + halo_column < 0) halo_column = -halo_column - 2 * z0;
    }
    const int halo_own = (halo_row + 2 * radius) * Shape::ring_row + Shape::side + halo_column;
    const int halo_in_plane =
        min(max(y0 + halo_row, -radius), last_row) * stride_y + z0 + halo_column;

    // rows of a plane that this thread copies into the ring
    const int copy_row = thread / Shape::lanes, copy_lane = thread % Shape::lanes;
    // a tile that begins near the end of a row would read beyond the array at the last one
    const int copy_column = min(z0 - Shape::side + copy_lane * 4, stride_y - 4);
    int copy_from[Shape::copies];
    MOHO_UNROLL
    for (int n = 0; n < Shape::copies; ++n) {
      const int from = y0 - 2 * radius + copy_row + n * Shape::at_once;
      copy_from[n] = min(max(from, -radius), last_row) * stride_y + copy_column;
    }
    const unsigned copy_to =
        ring_address(shared) + 4 * (copy_row * Shape::ring_row + copy_lane * 4);
    const unsigned stage_to = ring_address(stage) + 4 * thread * width;
    const unsigned words_to =
        copy_to + 4 * static_cast<int>(plane_words - reinterpret_cast<std::uint32_t*>(shared));
    const auto fill_words = [&](int x) {
      if (x >= x1 + radius) return;
      const unsigned to = words_to + 4 * ((x - x0 + radius) & 1) * Shape::plane;
      copy_rows(reinterpret_cast<const float*>(a.axis) + x * stride_x, copy_from, copy_lane,
                copy_row, to);
    };
    fill_words(x0 - radius);
    fill_words(x0 - radius + 1);
    for (int k = 0; k <= radius; ++k) {
      fill(s, copy_from, copy_lane, copy_row, copy_to, plane_at(x0 - radius + k), k);
    }
    float queue[2][2 * radius + 1][width], halo_queue[2][2 * radius + 1];
    float sums[2][2 * radius][width];
    MOHO_UNROLL
    for (int k = 0; k < 2 * radius; ++k) {
      const int plane_slot = plane_at(x0 - 2 * radius + k);
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const float* const from = (f == 0 ? s.now[0] : s.now[1]) + plane_slot;
        const Pair v = load_lanes<width>(from + in_plane);
        halo_queue[f][k] = from[halo_in_plane];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          queue[f][k][i] = v.v[i];
          sums[f][k][i] = 0.0f;
        }
      }
    }
    ring_copies_wait<0>();
    __syncthreads();
    fill(s, copy_from, copy_lane, copy_row, copy_to, plane_at(x0 + 1), Shape::slots - 1);

    int slot = 0, buffer = 0;
    int at = (x0 - radius) * stride_x + in_plane;
    MOHO_UNROLL_BY(Traits::turns)
    for (int x = x0 - radius; x < x1 + radius; ++x, at += stride_x) {
      const int done_at = at - radius * stride_x;
      const bool done = x - radius >= x0;     // the completed plane belongs to the block
      const bool needed = x >= x0 && x < x1;  // elsewhere only nx g of the tile is needed
      std::uint32_t words[width], halo_word;
      {
        const auto plane = plane_words + ((x - x0 + radius) & 1) * Shape::plane;
        const uint2 v = *reinterpret_cast<const uint2*>(plane + own);
        words[0] = v.x;
        words[1] = v.y;
        halo_word = plane[halo_own];
      }
      if (done) {
        ring_copy_pair(stage_to, s.next[0] + done_at);
        ring_copy_pair(stage_to + 4 * Shape::points, s.next[1] + done_at);
        ring_copy_pair(stage_to + 8 * Shape::points, s.scale + done_at);
        ring_copy_pair(stage_to + 12 * Shape::points, s.a + done_at);
        ring_copy_pair(stage_to + 16 * Shape::points, s.b + done_at);
      }
      ring_copies_end();
      const auto after = [&](int k) {
        const int next = slot + k;
        return next >= Shape::slots ? next - Shape::slots : next;
      };
      const float* const here = shared + slot * 2 * Shape::plane;
      const float* const ahead = shared + after(radius) * 2 * Shape::plane;
      float* const flux = fluxes + buffer * Shape::flux;
      float* const flux_y = flux + radius * Shape::columns + thread * width;
      float* const flux_z = flux + 2 * Shape::flux_y + Shape::flux_side + in_row;

      float flow[2][width], down[2][width], middle[2][width];
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        const Pair coming = load_lanes<width>(ahead + f * Shape::plane + own);
        float dy[width], dz[width];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          queue[f][2 * radius][i] = coming.v[i];
          middle[f][i] = 0.0f;
          if (f == 0) {
            const float c = s.second[0][0] + s.second[1][0] + s.second[2][0];
            middle[f][i] = add_even_sum<radius, width, float>(
                s.second[0], &queue[f][radius][i], rounded_product<float>(c, queue[f][radius][i]));
          }
        }
        within<width>(s, here + f * Shape::plane + own, queue[f][radius], dy, dz, middle[f],
                      f == 0);
        Pair gy, gz;
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          const float dx = odd_sum<radius, width, float>(s.first[0], &queue[f][radius][i]);
          float nx, ny, nz;
          unpack_axis(words[i], nx, ny, nz);
          const float g = slope_along<3, float>(nx, ny, nz, dx, dy[i], dz[i]);
          flow[f][i] = rounded_product<float>(nx, g);
          gy.v[i] = rounded_product<float>(ny, g);
          gz.v[i] = down[f][i] = rounded_product<float>(nz, g);
        }
        *reinterpret_cast<Pair*>(flux_y + f * Shape::flux_y) = gy;
        *reinterpret_cast<Pair*>(flux_z + f * Shape::flux_z) = gz;
      }

      if (has_halo) {
        float nx, ny, nz;
        unpack_axis(halo_word, nx, ny, nz);
        const float n = halo_y ? ny : nz;
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          halo_queue[f][2 * radius] = ahead[f * Shape::plane + halo_own];
          if (needed) {
            float dy[1], dz[1], none[1] = {0.0f};
            within<1>(s, here + f * Shape::plane + halo_own, none, dy, dz, none, false);
            const float dx = odd_sum<radius, 1, float>(s.first[0], &halo_queue[f][radius]);
            const float g = slope_along<3, float>(nx, ny, nz, dx, dy[0], dz[0]);
            flux[halo_to + f * (halo_y ? Shape::flux_y : Shape::flux_z)] =
                rounded_product<float>(n, g);
          }
          MOHO_UNROLL
          for (int k = 0; k < 2 * radius; ++k) halo_queue[f][k] = halo_queue[f][k + 1];
        }
      }
      // the plane ahead has arrived; the values of the update may arrive later
      ring_copies_wait<1>();
      __syncthreads();
      if (x + 2 < x1 + radius) {
        fill_words(x + 2);
        fill(s, copy_from, copy_lane, copy_row, copy_to, plane_at(x + radius + 2), slot);
      } else {
        ring_copies_end();
      }
      const float wx = done ? s.taper[0][x - radius] : 0.0f;
      if (needed) {
        float h[2][width];
        MOHO_UNROLL
        for (int f = 0; f < 2; ++f) {
          divergence(s, flux_y + f * Shape::flux_y, flux_z + f * Shape::flux_z, down[f], h[f]);
        }
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          middle[0][i] = middle[0][i] - h[0][i];
          middle[1][i] = h[1][i];
        }
      }
      float h2p[width], h1q[width];
      scatter(s, -1.0f, flow[0], middle[0], sums[0], h2p);
      scatter(s, 1.0f, flow[1], middle[1], sums[1], h1q);
      if (done) {
        const Pair taper = load_lanes<width>(tapers + thread * width);
        ring_copies_wait<1>();
        const float* const own_stage = stage + thread * width;
        const Pair before[2] = {load_lanes<width>(own_stage),
                                load_lanes<width>(own_stage + Shape::points)};
        const Pair scale = load_lanes<width>(own_stage + 2 * Shape::points);
        const Pair e = load_lanes<width>(own_stage + 3 * Shape::points);
        const Pair r = load_lanes<width>(own_stage + 4 * Shape::points);
        Pair next[2];
        MOHO_UNROLL
        for (int i = 0; i < width; ++i) {
          symmetric_step<float>(h2p[i], h1q[i], e.v[i], r.v[i], scale.v[i],
                                rounded_product<float>(wx, taper.v[i]), queue[0][0][i],
                                queue[1][0][i], before[0].v[i], before[1].v[i], next[0].v[i],
                                next[1].v[i]);
        }
        if (pair) {
          *reinterpret_cast<Pair*>(s.next[0] + done_at) = next[0];
          *reinterpret_cast<Pair*>(s.next[1] + done_at) = next[1];
        } else if (inside) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) {
            if (z + i < s.lower[2] || z + i >= s.upper[2]) continue;
            s.next[0][done_at + i] = next[0].v[i];
            s.next[1][done_at + i] = next[1].v[i];
          }
        }
      }
      MOHO_UNROLL
      for (int f = 0; f < 2; ++f) {
        MOHO_UNROLL
        for (int k = 0; k < 2 * radius; ++k) {
          MOHO_UNROLL
          for (int i = 0; i < width; ++i) queue[f][k][i] = queue[f][k + 1][i];
        }
      }
      slot = after(1);
      buffer ^= 1;
    }
  }
};

/// Kernel of one block.
template <int radius, class Traits>
__global__ void __launch_bounds__(AxisRingShape<radius, Traits>::threads, 1)
    axis_ring(const AxisRingArguments<float> a, const AxisRingWork work) {
  extern __shared__ __align__(128) float ring_shared[];
  int begin, end;
  const int tile = work.place(static_cast<int>(blockIdx.x), begin, end);
  const int x = static_cast<int>(a.s.lower[0]);
  AxisRing<radius, Traits>::march(
      a, ring_shared, x + begin, x + end,
      static_cast<int>(a.s.lower[1]) + tile / work.tiles_z * Traits::rows,
      work.first_z + tile % work.tiles_z * Traits::columns);
}

/// Steps a box on the instance's stream.
template <int radius, class Traits = AxisRingTraits>
void launch_axis_ring(const Kokkos::Cuda& space, const AxisRingArguments<float>& a) {
  using Shape = AxisRingShape<radius, Traits>;
  AxisRingWork work;
  const int blocks =
      work.cover<radius, Traits>(a.s, device_attribute(space, cudaDevAttrMultiProcessorCount));
  launch_native("moho::wave::step", space, axis_ring<radius, Traits>, static_cast<unsigned>(blocks),
                Shape::threads, Shape::bytes, a, work);
}

/// Steps a box by the kernel of an order up to largest_ring_order.
template <class Exec>
void axis_ring_step(const Instance<MemoryOf<Exec>>& exec, int order,
                    const AxisRingArguments<float>& a) {
  using Step = void (*)(const Kokkos::Cuda&, const AxisRingArguments<float>&);
  constexpr Step table[] = {&launch_axis_ring<1>, &launch_axis_ring<2>, &launch_axis_ring<3>,
                            &launch_axis_ring<4>};
  table[order / 2 - 1](exec.space(), a);
}

}  // namespace moho::wave::detail

#endif

/// \cond
#if defined(MOHO_WAVE_KERNELS) && defined(KOKKOS_ENABLE_CUDA)
namespace moho::wave::detail {
MOHO_FUNCTION(extern template, axis_ring_step, Kokkos::Cuda)
}  // namespace moho::wave::detail
#endif
/// \endcond
