// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief WaveRunner on one memory.

#include "bench_waves/runner.hpp"

#include <moho/core/launch.hpp>
#include <moho/core/phases.hpp>
#include <moho/wave/propagator.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace moho::bench {

/// Returns the medium of the equations.
inline wave::Medium medium_of(WaveMedium medium) {
  switch (medium) {
    case WaveMedium::isotropic:
      return wave::Medium::isotropic;
    case WaveMedium::variable_density:
      return wave::Medium::variable_density;
    case WaveMedium::vti:
    case WaveMedium::vti_fletcher:
      return wave::Medium::vti;
    default:
      return wave::Medium::tti;
  }
}

/// Returns noise between -1 and 1, which depends only on node and key.
KOKKOS_INLINE_FUNCTION double noise_at(std::int64_t x, std::int64_t y, std::int64_t z,
                                       std::uint64_t key) {
  const auto word = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
  const std::uint64_t mixed =
      wave::detail::mix(word(x) ^ wave::detail::mix(word(y) ^ wave::detail::mix(word(z) ^ key)));
  return static_cast<double>(mixed >> 11) * 0x1.0p-52 - 1.0;
}
/// \overload
KOKKOS_INLINE_FUNCTION double noise_at(const Index<2>& node, std::uint64_t key) {
  return noise_at(node[0], 0, node[1], key);
}
/// \overload
KOKKOS_INLINE_FUNCTION double noise_at(const Index<3>& node, std::uint64_t key) {
  return noise_at(node[0], node[1], node[2], key);
}

/// Fills a model: velocity increases with depth, all parameters are rough.
template <class T, int Dim, class Memory>
struct FillModel {
  wave::Model<T, Dim, Memory> model;
  Grid<Dim> grid;    ///< grid of the model
  Index<Dim> shift;  ///< offset of the model's grid in the complete grid
  double depth;      ///< depth of the complete grid along z, nodes

  static constexpr double fastest = 4700.0;

  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    Index<Dim> at = grid.node(i);
    for (int d = 0; d < Dim; ++d) at[d] += shift[d];
    const double down = static_cast<double>(at[Dim - 1]) / depth;
    const auto set = [&](const Field<T, Dim, Memory>& field, double mean, double swing,
                         std::uint64_t key) {
      if (field.data() != nullptr) {
        field.data()[i] = static_cast<T>(mean + swing * noise_at(at, key));
      }
    };
    set(model.vp, 1600.0 + 3000.0 * down, 100.0, 1);
    set(model.density, 2000.0 + 400.0 * down, 40.0, 2);
    set(model.epsilon, 0.15 + 0.05 * down, 0.02, 3);
    set(model.delta, 0.06 + 0.02 * down, 0.02, 4);
    set(model.theta, 0.2 + 0.6 * down, 0.05, 5);
    set(model.phi, -0.4 + 1.5 * down, 0.05, 6);
  }
};

/// Fills a padded array with noise.
template <class T, int Dim, class Memory>
struct FillNoise {
  wave::Storage<T, Memory> storage;
  wave::Layout<Dim> layout;
  Box<Dim> box;
  std::uint64_t key;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = box.node(i);
    storage(layout.flat(node)) = static_cast<T>(noise_at(node, key));
  }
};

/// Copies a window of a padded array into a smaller one.
template <class T, int Dim, class Memory>
struct CopyWindow {
  wave::Storage<T, Memory> from, to;
  wave::Layout<Dim> layout, small;
  Index<Dim> shift;
  Box<Dim> box;  ///< in the smaller array
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = box.node(i);
    Index<Dim> source = node;
    for (int d = 0; d < Dim; ++d) source[d] += shift[d];
    to(small.flat(node)) = from(layout.flat(source));
  }
};

/// Finds the largest difference between nodes of an array and shifted nodes of another. NaN counts
/// as a large difference.
template <class T, int Dim, class Memory>
struct GreatestDifference {
  using value_type = double;
  wave::Storage<T, Memory> a, b;
  wave::Layout<Dim> layout_a, layout_b;
  Index<Dim> shift;  ///< offset of nodes in a
  Box<Dim> box;      ///< box in b
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n, double& max) const {
    const Index<Dim> node = box.node(n);
    Index<Dim> other = node;
    for (int d = 0; d < Dim; ++d) other[d] += shift[d];
    const double difference =
        static_cast<double>(a(layout_a.flat(other))) - static_cast<double>(b(layout_b.flat(node)));
    double size = difference < 0.0 ? -difference : difference;
    if (!(size <= 1e300)) size = 1e300;
    if (size > max) max = size;
  }
  KOKKOS_INLINE_FUNCTION void init(double& max) const { max = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(double& to, const double& from) const {
    if (from > to) to = from;
  }
};

/// WaveRunner of a precision and a dimension.
template <class T, int Dim, class Memory>
class WaveRunnerOn final : public WaveRunner {
 public:
  WaveRunnerOn(const Instance<Memory>& exec, const WaveSettings& settings)
      : m_exec(exec), m_settings(settings) {
    for (int d = 0; d < Dim; ++d) {
      m_grid.extents[d] = settings.extents[static_cast<std::size_t>(d)];
      m_grid.spacing[d] = spacing;
      m_grid.origin[d] = 0.0;
    }
    m_propagator = make_propagator(m_grid, {}, settings.reference, boundaries());
    m_wave = m_propagator->make_wavefield(m_exec);
    for (int f = 0; f < m_wave.fields; ++f) {
      const std::uint64_t key = 10 + 2 * static_cast<std::uint64_t>(f);
      fill_noise(m_wave.now[f], key);
      fill_noise(m_wave.next[f], key + 1);
    }
    m_exec.fence();
  }

  double steps(int count) override {
    m_exec.fence();
    // as run_steps() does
    const wave::detail::PsiInPlace<T, wave::Wavefield<T, Dim, Memory>> in_place(
        m_wave, m_propagator->scheme().steps_psi_in_place());
    const Stopwatch watch;
    for (int k = 0; k < count; ++k) {
      m_propagator->step(m_exec, m_wave);
      m_wave.advance();
    }
    m_exec.fence();
    return watch.seconds();
  }

  int bytes_per_point() const override { return m_propagator->bytes_per_node(); }

  double amplitude() const override {
    return wave::check_finite(m_exec, m_grid, m_wave, whole_box(m_grid), 0).max;
  }

  double difference(const WaveRunner& other) const override {
    const auto& that = dynamic_cast<const WaveRunnerOn&>(other);
    double max = 0.0;
    for (int f = 0; f < m_wave.fields; ++f) {
      const double found = max_difference(m_wave.now[f], that.m_wave.now[f], that.m_wave.layout, {},
                                          whole_box(m_grid));
      max = std::max(max, found);
    }
    return max;
  }

  double window_difference() override {
    const Box<Dim> inside = m_propagator->interior();
    const std::int64_t margin = m_settings.order;  // reach of the TTI stencil
    Grid<Dim> small = m_grid;
    for (int d = 0; d < Dim; ++d) {
      small.extents[d] = std::min<std::int64_t>(inside.extent(d), 2 * margin + 24);
      if (small.extents[d] <= 2 * margin) {
        throw Error(concat("the grid is too small to check: ", inside.extent(d),
                           " nodes between its layers"));
      }
    }
    // the plain kernel steps copies of the windows
    Index<Dim> corners[3];
    std::unique_ptr<wave::Propagator<T, Dim, Memory>> plain[3];
    wave::Wavefield<T, Dim, Memory> waves[3];
    for (int k = 0; k < 3; ++k) {
      for (int d = 0; d < Dim; ++d) {
        corners[k][d] = inside.lower[d] + (inside.extent(d) - small.extents[d]) * k / 2;
      }
      plain[k] =
          make_propagator(small, corners[k], true, wave::all_faces<Dim>(wave::FaceKind::rigid));
      waves[k] = plain[k]->make_wavefield(m_exec);
      for (int f = 0; f < m_wave.fields; ++f) {
        copy_window(m_wave.now[f], waves[k].now[f], waves[k].layout, corners[k]);
        copy_window(m_wave.next[f], waves[k].next[f], waves[k].layout, corners[k]);
      }
      plain[k]->step(m_exec, waves[k]);
    }
    steps(1);
    double max = 0.0;
    for (int k = 0; k < 3; ++k) {
      waves[k].advance();
      const Box<Dim> box = whole_box(small).grown(-margin);
      for (int f = 0; f < m_wave.fields; ++f) {
        max = std::max(
            max, max_difference(m_wave.now[f], waves[k].now[f], waves[k].layout, corners[k], box));
      }
    }
    return max / amplitude();
  }

 private:
  using Propagator = wave::Propagator<T, Dim, Memory>;
  static constexpr double spacing = 10.0;

  wave::Boundaries<Dim> boundaries() const {
    using wave::FaceKind;
    const WaveBoundary kind = m_settings.boundary;
    if (kind == WaveBoundary::none) return wave::all_faces<Dim>(FaceKind::rigid);
    const bool cpml = kind == WaveBoundary::cpml || kind == WaveBoundary::cpml_free;
    auto faces = wave::all_faces<Dim>(cpml ? FaceKind::cpml : FaceKind::sponge, m_settings.width);
    if (kind == WaveBoundary::sponge_free || kind == WaveBoundary::cpml_free) {
      faces.lower[Dim - 1] = wave::Face{FaceKind::free_surface, 0};
    }
    return faces;
  }

  /// Returns a propagator on the complete grid, or on a part of it from `shift`.
  std::unique_ptr<Propagator> make_propagator(const Grid<Dim>& grid, const Index<Dim>& shift,
                                              bool reference,
                                              const wave::Boundaries<Dim>& faces) const {
    const WaveMedium medium = m_settings.medium;
    FillModel<T, Dim, Memory> kernel;
    kernel.grid = grid;
    kernel.shift = shift;
    kernel.depth = static_cast<double>(m_grid.extents[Dim - 1]);
    const auto add = [&](Field<T, Dim, Memory>& field, const char* name) {
      field = make_field<T>(m_exec, grid, name);
    };
    add(kernel.model.vp, "vp");
    if (medium == WaveMedium::variable_density) add(kernel.model.density, "density");
    if (wave_fields(medium) == 2) {
      add(kernel.model.epsilon, "epsilon");
      add(kernel.model.delta, "delta");
    }
    if (medium_of(medium) == wave::Medium::tti) {
      add(kernel.model.theta, "theta");
      if (Dim == 3) add(kernel.model.phi, "phi");
    }
    launch("moho::bench::fill_model", m_exec, grid.size(), kernel);
    wave::PropagatorOptions<Dim> options;
    // about half of the largest stable step of isotropic media: stable in all these media
    options.dt = 0.35 * spacing / (kernel.fastest * std::sqrt(static_cast<double>(Dim)));
    options.order = m_settings.order;
    options.boundaries = faces;
    options.reference = reference;
    options.one_pass = m_settings.one_pass;
    if (m_settings.codes) options.parameters = wave::ParameterStorage::codes;
    const bool fletcher = medium == WaveMedium::vti_fletcher || medium == WaveMedium::tti_fletcher;
    options.equations = fletcher ? wave::Equations::fletcher : wave::Equations::self_adjoint;
    return std::make_unique<Propagator>(m_exec, grid, kernel.model, options);
  }

  void fill_noise(const wave::Storage<T, Memory>& storage, std::uint64_t key) const {
    launch("moho::bench::fill_noise", m_exec, m_grid.size(),
           FillNoise<T, Dim, Memory>{storage, m_wave.layout, whole_box(m_grid), key});
  }

  void copy_window(const wave::Storage<T, Memory>& from, const wave::Storage<T, Memory>& to,
                   const wave::Layout<Dim>& small, const Index<Dim>& shift) const {
    const Box<Dim> box{{}, small.extents};
    launch("moho::bench::copy_window", m_exec, box.size(),
           CopyWindow<T, Dim, Memory>{from, to, m_wave.layout, small, shift, box});
  }

  /// Returns the largest difference of a wavefield's array from another array.
  double max_difference(const wave::Storage<T, Memory>& own, const wave::Storage<T, Memory>& other,
                        const wave::Layout<Dim>& layout, const Index<Dim>& shift,
                        const Box<Dim>& box) const {
    const GreatestDifference<T, Dim, Memory> kernel{own, other, m_wave.layout, layout, shift, box};
    return reduce("moho::bench::difference", m_exec, box.size(), kernel);
  }

  Instance<Memory> m_exec;
  WaveSettings m_settings;
  Grid<Dim> m_grid;
  std::unique_ptr<Propagator> m_propagator;
  wave::Wavefield<T, Dim, Memory> m_wave;
};

template <class Memory>
std::unique_ptr<WaveRunner> make_wave_runner(const Instance<Memory>& exec,
                                             const WaveSettings& settings) {
  if (settings.dim == 2) {
    if (settings.single) return std::make_unique<WaveRunnerOn<float, 2, Memory>>(exec, settings);
    return std::make_unique<WaveRunnerOn<double, 2, Memory>>(exec, settings);
  }
  if (settings.single) return std::make_unique<WaveRunnerOn<float, 3, Memory>>(exec, settings);
  return std::make_unique<WaveRunnerOn<double, 3, Memory>>(exec, settings);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_WAVES(Memory)                                                         \
  template std::unique_ptr<WaveRunner> make_wave_runner<Memory>(const Instance<Memory>&, \
                                                                const WaveSettings&)

}  // namespace moho::bench
