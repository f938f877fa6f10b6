// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief StreamRunner on one memory.

#include "bench_stream/runner.hpp"
#include "bench_stream/slabs.hpp"
#include "bench_waves/run_impl.hpp"

#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/stream/engine.hpp>
#include <moho/stream/rates.hpp>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace moho::bench {

/// Streams on one memory, in single precision.
template <class Memory>
class StreamRunnerOn : public StreamRunner {
 public:
  using T = float;
  using Scheme = wave::Scheme<T, 3, Memory>;
  using Device = stream::Pipeline<T, 3, Memory>;

  StreamRunnerOn(const Instance<Memory>& exec, const StreamSettings& settings)
      : m_exec(exec), m_settings(settings) {
    Grid<3> grid;
    for (std::size_t d = 0; d < 3; ++d) {
      grid.extents[static_cast<int>(d)] = settings.extents[d];
      grid.spacing[static_cast<int>(d)] = 10.0;
    }
    m_options.order = 8;
    m_options.boundaries = wave::all_faces<3>(wave::FaceKind::sponge, settings.width);
    m_options.dt = 5e-4;
    if (settings.medium == WaveMedium::tti_fletcher ||
        settings.medium == WaveMedium::vti_fletcher) {
      m_options.equations = wave::Equations::fletcher;
    }
    wave::Limits limits;
    limits.largest_dt = 1e-3;
    limits.min_velocity = 1500.0;
    limits.max_velocity = 4500.0;
    m_scheme = std::make_unique<Scheme>(exec, grid, medium_of(settings.medium), limits, m_options);
    m_exec.fence();
    m_shape = stream::VolumeShape<T, 3>(*m_scheme);
  }

  double in_core() override {
    make_need();
    const double bytes =
        static_cast<double>(m_need.host_bytes()) *
            (1.0 + static_cast<double>(m_need.work) / (m_need.parameters + 2.0 * m_need.fields)) +
        1e9;
    if (bytes > static_cast<double>(memory_budget(m_exec, 0))) return 0.0;
    const auto slabs =
        stream::measure_slabs<T, 3, Memory>(m_exec, *m_scheme, {m_scheme->grid().extents[0]});
    m_rates.in_core = slabs.front().points_per_second;
    return m_rates.in_core;
  }

  StreamFound run(const StreamMethod& method) override {
    if (method.slabs) return run_slabs(method);
    make_need();
    stream::StreamRequest wishes;
    wishes.device_memory = method.device_memory;
    wishes.block = method.block;
    wishes.updates = method.updates;
    wishes.devices = method.devices;
    wishes.hold_parameters = method.hold;
    stream::StreamRequirements need = m_need;
    need.shape.steps = 4000;  // plans are made for a long run
    if (m_rates.slabs.empty() || method.device_memory != m_measured_for)
      measure(method.device_memory);
    StreamFound found;
    found.plan = stream::plan_stream(need, wishes, m_rates);
    if (method.block > 0 && method.updates > 0 && method.device_memory == 0 && method.hold) {
      found.plan.resident = false;
    }
    stream::StreamShape shape = found.plan.shape;
    shape.steps = method.sweeps * shape.updates * shape.devices;
    found.plan.forecast = stream::forecast(need_of(shape), shape, found.plan.resident, m_rates);
    found.plan.device_bytes = m_need.device_bytes(shape, found.plan.resident);
    const stream::Schedule schedule(shape);
    std::vector<std::unique_ptr<Device>> chain;
    if (method.whole) {
      make_whole();
      chain.push_back(std::move(m_whole));
    } else {
      make_volume();
      const auto instances = instances_on_devices(m_exec, shape.devices);
      while (m_schemes.size() < instances.size()) {
        m_schemes.push_back(std::make_unique<Scheme>(instances[m_schemes.size()], m_scheme->grid(),
                                                     m_scheme->medium(), m_scheme->limits(),
                                                     m_options));
      }
      for (int g = 0; g < shape.devices; ++g) {
        const auto at = static_cast<std::size_t>(g);
        chain.push_back(std::make_unique<Device>(instances[at], *m_schemes[at], m_shape, schedule,
                                                 g, found.plan.resident));
        chain.back()->load_parameters(m_volume->parameters());
      }
    }
    for (const auto& device : chain) device->begin(schedule, stream::StreamShot<T, 3, Memory>{});
    stream::StreamRunOptions<T> options;
    options.staged = !m_locked;
    const stream::StreamReport report = stream::run_stream<T, 3, Memory>(
        schedule, chain, method.whole ? nullptr : m_volume.get(), options);
    found.seconds = report.seconds;
    found.points = report.points;
    found.steady = report.steady_seconds > 0.0 ? report.steady_points / report.steady_seconds : 0.0;
    found.bytes_in = report.bytes_in;
    found.bytes_out = report.bytes_out;
    if (method.whole) m_whole = std::move(chain.front());
    return found;
  }

  const stream::StreamRates& rates() const override { return m_rates; }
  bool locked() const override { return m_locked; }
  double lock_seconds() const override { return m_lock_seconds; }

  bool agrees() override {
    StreamSettings small = m_settings;
    small.extents = {71, 40, 44};
    small.width = 5;
    StreamRunnerOn one(m_exec, small), two(m_exec, small);
    StreamMethod method;
    method.block = 8;
    method.updates = 3;
    method.sweeps = 2;
    one.run(method);
    method.whole = true;
    two.run(method);
    const Box<3> box = whole_box(one.m_scheme->grid());
    std::vector<T> ring(static_cast<std::size_t>(box.size()));
    const std::vector<T> padded = download(m_exec, two.m_whole->ring().field(0, 0));
    const wave::Layout<3> layout = two.m_scheme->layout();
    one.m_volume->copy_out(0, box, ring.data());
    double largest = 0.0;
    for (std::int64_t n = 0; n < box.size(); ++n) {
      const T value = ring[static_cast<std::size_t>(n)];
      largest = std::max(largest, std::fabs(static_cast<double>(value)));
      if (value != padded[static_cast<std::size_t>(layout.flat(box.node(n)))]) return false;
    }
    return largest > 0.0;
  }

  bool slabs_agree(int devices) override {
    StreamSettings small = m_settings;
    small.extents = {71, 40, 44};
    small.width = 5;
    StreamRunnerOn runner(m_exec, small);
    SlabBench<Memory> one(m_exec, *runner.m_scheme, runner.m_options, 1);
    SlabBench<Memory> several(m_exec, *runner.m_scheme, runner.m_options, devices);
    one.run(5);
    several.run(5);
    const std::vector<T> expected = one.values();
    double largest = 0.0;
    for (const T value : expected) largest = std::max(largest, std::fabs(double{value}));
    return largest > 0.0 && several.values() == expected;
  }

 private:
  // Slabs are kept for further runs with as many devices.
  StreamFound run_slabs(const StreamMethod& method) {
    if (!m_slabs || m_slab_count != method.devices) {
      m_slabs.reset();
      m_slabs = std::make_unique<SlabBench<Memory>>(m_exec, *m_scheme, m_options, method.devices);
      m_slab_count = method.devices;
    }
    m_slabs->run(20);
    const SlabTime time = m_slabs->run(method.steps);
    StreamFound found;
    found.seconds = time.seconds;
    found.points = time.points;
    found.plan.shape.devices = method.devices;
    return found;
  }

  stream::StreamRequirements need_of(const stream::StreamShape& shape) const {
    stream::StreamRequirements need = m_need;
    need.shape = shape;
    return need;
  }

  void make_need() {
    if (m_need.plane_nodes > 0) return;
    const Grid<3>& grid = m_scheme->grid();
    m_need.shape.planes = grid.extents[0];
    m_need.shape.steps = 1;
    m_need.shape.halo = m_shape.layout.halo;
    m_need.shape.reach = m_scheme->reach(0);
    m_need.plane_nodes = grid.size() / grid.extents[0];
    m_need.plane_elements = m_shape.layout.strides[0];
    m_need.fields = m_shape.fields;
    m_need.parameters = m_shape.parameters;
    m_need.work = m_shape.work;
  }

  void measure(std::size_t device_memory) {
    m_measured_for = device_memory;
    std::vector<std::int64_t> slabs{4, 8, 16, 24, 32, 48, 64, 96, 128, 192};
    const auto plane = static_cast<std::size_t>(
        (2 * m_need.fields + m_need.parameters + m_need.work) * m_need.plane_elements * 4);
    while (device_memory > 0 && slabs.size() > 1 &&
           plane * static_cast<std::size_t>(slabs.back() + 24) > device_memory) {
      slabs.pop_back();
    }
    m_rates.slabs = stream::measure_slabs<T, 3, Memory>(m_exec, *m_scheme, slabs);
    stream::measure_link(m_exec, m_rates);
  }

  // Fills a rough model, plane by plane, in the kernels' form, and noise as fields.
  void make_volume() {
    if (m_volume) return;
    m_volume = std::make_unique<stream::HostVolume<T, 3>>(*m_scheme, stream::VolumeOptions{});
    const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
    const auto noise = [&](const stream::PlaneArray<T>& array, double mean, double rough,
                           std::uint64_t key) {
      launch("moho::bench::noise", host, array.planes.count(),
             [=, this](const std::int64_t plane) { fill_plane(array, plane, mean, rough, key); });
    };
    fill_parameters(noise);
    for (int parity = 0; parity < 2; ++parity) {
      for (int f = 0; f < m_shape.fields; ++f) {
        noise(m_volume->state().field[parity][f], 0.0, 1.0,
              static_cast<std::uint64_t>(20 + 2 * f + parity));
      }
    }
    const Stopwatch clock;
    m_locked = m_volume->lock(m_lock);
    m_lock_seconds = clock.seconds();
  }

  // Sets the values of the grid's nodes; the halo stays 0.
  void fill_plane(const stream::PlaneArray<T>& array, std::int64_t plane, double mean, double rough,
                  std::uint64_t key) const {
    const std::int64_t x = array.planes.begin + plane;
    const wave::Layout<3>& layout = m_shape.layout;
    const bool inside = x >= 0 && x < layout.extents[0];
    if (!inside && mean == 0.0) return;
    const std::int64_t kept = std::clamp<std::int64_t>(x, 0, layout.extents[0] - 1);
    T* const to = array.at(x) + layout.halo * layout.strides[1] + layout.halo;
    for (std::int64_t y = 0; y < layout.extents[1]; ++y) {
      for (std::int64_t z = 0; z < layout.extents[2]; ++z) {
        to[y * layout.strides[1] + z] = static_cast<T>(mean + rough * noise_at(kept, y, z, key));
      }
    }
  }

  // Sets a packed axis at the nodes of the grid; words outside of it stay 0.
  void fill_words(const stream::PlaneArray<T>& array, std::uint32_t word) const {
    const wave::Layout<3>& layout = m_shape.layout;
    for (std::int64_t x = 0; x < layout.extents[0]; ++x) {
      T* const to = array.at(x) + layout.halo * layout.strides[1] + layout.halo;
      for (std::int64_t y = 0; y < layout.extents[1]; ++y) {
        for (std::int64_t z = 0; z < layout.extents[2]; ++z) {
          std::memcpy(to + y * layout.strides[1] + z, &word, sizeof(word));
        }
      }
    }
  }

  // Fills scale = v^2 dt^2 and the medium's other parameters, within the stable range.
  template <class Noise>
  void fill_parameters(const Noise& noise) {
    const auto& arrays = m_volume->parameters();
    noise(arrays[0], 2.0, 0.8, 1);
    if (m_shape.fields == 1) {
      if (arrays.size() > 1) noise(arrays[1], 5e-4, 1e-4, 2);
      return;
    }
    noise(arrays[1], 1.3, 0.1, 2);  // 1 + 2 epsilon
    noise(arrays[2], 1.05, 0.05, 3);
    // symmetry axis: a unit vector
    constexpr double axis[3] = {0.36, 0.48, 0.8};
    if (m_scheme->always_one_pass()) {
      const std::uint32_t word = wave::detail::pack_axis(axis[0], axis[1], axis[2]);
      fill_words(arrays[3], word);
      return;
    }
    for (std::size_t a = 3; a < arrays.size(); ++a) noise(arrays[a], axis[a - 3], 0.0, a);
  }

  // Fills model and fields in arrays of the complete grid.
  void make_whole() {
    if (m_whole) return;
    make_volume();
    wave::Model<T, 3, Memory> model;
    const Grid<3>& grid = m_scheme->grid();
    const auto one = [&](const char* name) {
      auto field = make_field<T>(m_exec, grid, name);
      Kokkos::View<T*, Memory> flat(field.data(), static_cast<std::size_t>(grid.size()));
      fill(m_exec, flat, T(1));
      return field;
    };
    model.vp = one("vp");
    const wave::Medium medium = medium_of(m_settings.medium);
    if (medium == wave::Medium::variable_density) model.density = one("density");
    if (m_shape.fields == 2) model.epsilon = model.delta = one("epsilon");
    if (medium == wave::Medium::tti) model.theta = model.phi = one("theta");
    m_whole = std::make_unique<Device>(m_exec, *m_scheme, m_shape, model);
    // values of the volume instead of the model's
    const auto put = [&](const stream::PlaneArray<T>& from, const wave::Storage<T, Memory>& to) {
      const wave::Layout<3> layout = m_scheme->layout();
      const auto first = static_cast<std::size_t>(layout.plane_begin(from.planes.begin));
      const auto count = static_cast<std::size_t>(from.size());
      copy(m_exec, Kokkos::subview(to, std::pair<std::size_t, std::size_t>(first, first + count)),
           HostElements<const T>(from.first, count));
    };
    const auto& ring = m_whole->ring();
    for (std::size_t a = 0; a < ring.parameters().size(); ++a) {
      put(m_volume->parameters()[a], ring.parameters()[a]);
    }
    for (int parity = 0; parity < 2; ++parity) {
      for (int f = 0; f < m_shape.fields; ++f) {
        put(m_volume->state().field[parity][f], ring.field(parity, f));
      }
    }
    m_exec.fence();
  }

  Instance<Memory> m_exec;
  StreamSettings m_settings;
  wave::PropagatorOptions<3> m_options;
  std::unique_ptr<Scheme> m_scheme;
  std::vector<std::unique_ptr<Scheme>> m_schemes;
  stream::VolumeShape<T, 3> m_shape;
  stream::StreamRequirements m_need;
  stream::StreamRates m_rates;
  std::size_t m_measured_for = 0;  ///< device memory for which slabs were chosen, bytes
  std::unique_ptr<stream::HostVolume<T, 3>> m_volume;
  PinnedRegion<Memory> m_lock;
  std::unique_ptr<Device> m_whole;
  std::unique_ptr<SlabBench<Memory>> m_slabs;
  int m_slab_count = 0;
  bool m_locked = true;
  double m_lock_seconds = 0.0;
};

template <class Memory>
std::unique_ptr<StreamRunner> make_stream_runner(const Instance<Memory>& exec,
                                                 const StreamSettings& settings) {
  return std::make_unique<StreamRunnerOn<Memory>>(exec, settings);
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_STREAM(Memory)                                                            \
  template std::unique_ptr<StreamRunner> make_stream_runner<Memory>(const Instance<Memory>&, \
                                                                    const StreamSettings&)

}  // namespace moho::bench
