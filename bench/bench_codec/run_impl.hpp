// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief CodecRunner on one memory.

#include "bench_codec/runner.hpp"

#include <moho/core/launch.hpp>
#include <moho/core/phases.hpp>
#include <moho/snapshot/codec/codec.hpp>
#include <moho/wave/model_shot.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace moho::bench {

/// Layers with folds, from 1500 m/s at the top to 4500 m/s.
template <int Dim, class Memory>
struct FillCodecModel {
  Field<float, Dim, Memory> velocity;
  Grid<Dim> grid;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = grid.node(i);
    const double n = static_cast<double>(grid.extents[Dim - 1]);
    double depth = static_cast<double>(node[Dim - 1]) / n;
    for (int d = 0; d + 1 < Dim; ++d) {
      depth += 0.02 * sin(7.0 * static_cast<double>(node[d]) / n + d);
    }
    const double layer = floor(depth * 7.0);
    const double speed = 1500.0 + 500.0 * (layer < 0.0 ? 0.0 : layer > 6.0 ? 6.0 : layer);
    velocity.data()[i] = static_cast<float>(speed);
  }
};

/// Waves of several directions times a bell function: smooth, and small far from the centre.
template <int Dim>
struct FillWaves {
  float* field;
  wave::Layout<Dim> layout;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<Dim> node = box.node(i);
    constexpr float direction[3][3] = {
        {0.3f, 0.2f, 0.45f}, {-0.25f, 0.5f, 0.1f}, {0.1f, 0.3f, 0.2f}};
    float square = 0.0f, sum = 0.0f;
    for (int w = 0; w < 3; ++w) {
      float phase = static_cast<float>(w);
      for (int d = 0; d < Dim; ++d) phase += direction[w][d] * static_cast<float>(node[d]);
      sum += cosf(phase) / static_cast<float>(w + 1);
    }
    for (int d = 0; d < Dim; ++d) {
      const float x = static_cast<float>(node[d]) / static_cast<float>(layout.extents[d]) - 0.5f;
      square += x * x;
    }
    field[layout.flat(node)] = sum * (expf(-16.0f * square) + 0.02f * expf(-3.0f * square));
  }
};

/// Adds the product of a decoded value and a field to an image.
template <int Dim>
struct Correlate {
  float* image;
  const float* other;
  wave::Layout<Dim> layout;
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const Index<Dim>& node, float value) const {
    const std::int64_t e = layout.flat(node);
    image[e] += value * other[e];
  }
};

/// CodecRunner of a space and a dimension.
template <int Dim, class Memory>
class CodecRunnerOn final : public CodecRunner {
 public:
  CodecRunnerOn(const Instance<Memory>& exec, const CodecSettings& settings) : m_exec(exec) {
    Grid<Dim> grid;
    for (int d = 0; d < Dim; ++d) {
      grid.extents[d] = settings.n;
      grid.spacing[d] = 10.0;
    }
    if (settings.waves) {
      model(grid, settings);
    } else {
      m_layout = wave::make_layout<float>(grid, 4);
      m_field = wave::make_storage<float>(m_exec, m_layout, "moho::bench::field");
      m_box = whole_box(grid);
      launch("moho::bench::fill_waves", m_exec, m_box.size(),
             FillWaves<Dim>{m_field.data(), m_layout, m_box});
    }
    m_fraction = static_cast<double>(m_box.size()) / static_cast<double>(grid.size());
    m_decoded = wave::make_storage<float>(m_exec, m_layout, "moho::bench::decoded");
    m_image = wave::make_storage<float>(m_exec, m_layout, "moho::bench::image");
    m_exec.fence();
  }

  CodecResult run(const snapshot::CodecOptions& options, int repetitions) override {
    snapshot::Codec<float, Dim, Memory> codec(options);
    snapshot::Packed<Dim, Memory> packed;
    CodecResult result;
    result.encode_seconds =
        best(repetitions, [&] { codec.encode(m_exec, m_layout, m_field, m_box, packed); });
    result.decode_seconds =
        best(repetitions, [&] { codec.decode(m_exec, packed, m_layout, m_decoded, m_box); });
    result.image_seconds = best(repetitions, [&] {
      codec.decode_each(m_exec, packed, m_box,
                        Correlate<Dim>{m_image.data(), m_field.data(), m_layout});
    });
    result.raw_bytes = static_cast<double>(packed.raw_bytes());
    result.bytes = static_cast<double>(packed.bytes());
    const std::vector<float> decoded = dense_of(m_decoded);
    result.snr = signal_to_noise(dense(), decoded);
    double max = 0.0, max_difference = 0.0;
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      max = std::max(max, std::fabs(static_cast<double>(m_dense[i])));
      max_difference = std::max(max_difference, std::fabs(static_cast<double>(m_dense[i]) -
                                                          static_cast<double>(decoded[i])));
    }
    result.largest_error = max_difference / max;
    return result;
  }
  const std::vector<float>& dense() override {
    if (m_dense.empty()) m_dense = dense_of(m_field);
    return m_dense;
  }
  Index<3> extents() const override {
    Index<3> result{1, 1, 1};
    for (int d = 0; d < Dim; ++d) result[3 - Dim + d] = m_box.extent(d);
    return result;
  }
  double fraction() const override { return m_fraction; }

 private:
  /// Runs a shot until the time of the snapshot.
  void model(const Grid<Dim>& grid, const CodecSettings& settings) {
    wave::PropagatorOptions<Dim> options;
    options.boundaries = wave::all_faces<Dim>(wave::FaceKind::sponge, 20);
    wave::Model<float, Dim, Memory> inner;
    inner.vp = make_field<float>(m_exec, grid, "moho::bench::velocity");
    launch("moho::bench::fill_model", m_exec, grid.size(),
           FillCodecModel<Dim, Memory>{inner.vp, grid});
    const Grid<Dim> extended = wave::extended_grid(grid, options.boundaries);
    const auto whole =
        wave::extend_model<float, Dim, Memory>(m_exec, grid, inner, options.boundaries);
    options.dt = 0.001;
    const wave::Propagator<float, Dim, Memory> propagator(m_exec, extended, whole, options);
    Point<Dim> position{};
    for (int d = 0; d < Dim; ++d) position[d] = 0.5 * grid.upper(d) + 3.0;
    position[Dim - 1] = 45.0;
    const wave::PointSet<float, Dim, Memory> sources(
        m_exec, extended, propagator.layout(), {position},
        wave::point_options(propagator, "source", true));
    const wave::PointSet<float, Dim, Memory> receivers(
        m_exec, extended, propagator.layout(), {position},
        wave::point_options(propagator, "receiver", false));
    auto wavefield = propagator.make_wavefield(m_exec);
    wave::ShotOptions<float, Dim, Memory> shot;
    shot.steps = static_cast<std::int64_t>(settings.seconds / options.dt);
    wave::model_shot(m_exec, propagator, wavefield, sources,
                     wave::ricker(settings.frequency, options.dt), receivers, shot);
    m_layout = wavefield.layout;
    m_field = wavefield.now[0];
    m_box = propagator.interior();
    // nodes that the waves have reached
    const std::vector<float> values = dense_of(m_field);
    double max = 0.0;
    for (const float v : values) max = std::max(max, std::fabs(static_cast<double>(v)));
    Box<Dim> occupied;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!(std::fabs(static_cast<double>(values[i])) > max / 1024.0)) continue;
      const Index<Dim> node = m_box.node(static_cast<std::int64_t>(i));
      Box<Dim> one{node, node};
      for (int d = 0; d < Dim; ++d) ++one.upper[d];
      occupied = hull(occupied, one);
    }
    m_box = occupied;
  }
  /// Returns the values at the nodes of the box.
  std::vector<float> dense_of(const wave::Storage<float, Memory>& field) const {
    const std::vector<float> all = download(m_exec, field);
    std::vector<float> values(static_cast<std::size_t>(m_box.size()));
    const std::int64_t row = m_box.extent(Dim - 1);
    for (std::int64_t i = 0; i < m_box.size(); i += row) {
      const std::int64_t from = m_layout.flat(m_box.node(i));
      std::copy(all.begin() + from, all.begin() + from + row, values.begin() + i);
    }
    return values;
  }
  template <class Function>
  double best(int repetitions, const Function& function) const {
    double min = 0.0;
    for (int i = 0; i <= repetitions; ++i) {
      m_exec.fence();
      const Stopwatch watch;
      function();
      m_exec.fence();
      const double seconds = watch.seconds();
      if (i == 1 || (i > 1 && seconds < min)) min = seconds;  // the first run is excluded
    }
    return min;
  }

  Instance<Memory> m_exec;
  wave::Layout<Dim> m_layout;
  Box<Dim> m_box{};
  double m_fraction = 0.0;
  wave::Storage<float, Memory> m_field, m_decoded, m_image;
  std::vector<float> m_dense;
};

template <class Memory>
std::unique_ptr<CodecRunner> make_codec_runner(const Instance<Memory>& exec,
                                               const CodecSettings& settings) {
  if (settings.dim == 2) return std::make_unique<CodecRunnerOn<2, Memory>>(exec, settings);
  return std::make_unique<CodecRunnerOn<3, Memory>>(exec, settings);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_CODEC(Memory)                                                           \
  template std::unique_ptr<CodecRunner> make_codec_runner<Memory>(const Instance<Memory>&, \
                                                                  const CodecSettings&)

}  // namespace moho::bench
