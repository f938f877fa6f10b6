// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief GradientRunner and iterations of L-BFGS on one memory.

#include "bench_fwi/runner.hpp"

#include <moho/core/exact_sum.hpp>
#include <moho/core/launch_box.hpp>
#include <moho/core/timer.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/fwi/gradient_memory.hpp>
#include <moho/fwi/objective.hpp>
#include <moho/fwi/slab_gradient.hpp>
#include <moho/fwi/stream_gradient.hpp>
#include <moho/optimize/lbfgs.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/snapshot/strategy.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace moho::bench {

/// Velocities that increase with depth, with folds.
template <class Memory>
struct FillGradientModel {
  float* vp;
  Grid<3> grid;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<3> node = grid.node(i);
    const double z = static_cast<double>(node[2]) / static_cast<double>(grid.extents[2]);
    const double x = static_cast<double>(node[0]) / static_cast<double>(grid.extents[0]);
    vp[i] = static_cast<float>(1800.0 + 1500.0 * z + 100.0 * sin(25.0 * z + 9.0 * x));
  }
};

/// GradientRunner of a space.
template <class Memory>
class GradientRunnerOn final : public GradientRunner {
 public:
  GradientRunnerOn(const Instance<Memory>& exec, const GradientSettings& settings)
      : m_exec(exec), m_settings(settings) {
    free_arena();
    for (int d = 0; d < 3; ++d) {
      m_grid.extents[d] = settings.extents[static_cast<std::size_t>(d)];
      m_grid.spacing[d] = 10.0;
    }
    const auto field = [&](double value) {
      auto result = make_field<float>(m_exec, m_grid, "parameter");
      fill(m_exec, result, static_cast<float>(value));
      return result;
    };
    m_model.vp = field(0.0);
    launch("moho::bench::fill_model", m_exec, m_grid.size(),
           FillGradientModel<Memory>{m_model.vp.data(), m_grid});
    if (settings.medium == wave::Medium::variable_density) m_model.density = field(2000.0);
    if (wave::fields_of(settings.medium) == 2) {
      m_model.epsilon = field(0.2);
      m_model.delta = field(0.1);
    }
    if (settings.medium == wave::Medium::tti) m_model.theta = field(0.4);
    m_unknowns.density = settings.several && settings.medium == wave::Medium::variable_density;
    m_unknowns.anisotropy = settings.several && wave::fields_of(settings.medium) == 2;
    m_options.boundaries = wave::all_faces<3>(wave::FaceKind::sponge, settings.width);
    const auto limits = wave::limits_of<float, 3, Memory>(m_exec, m_grid, m_model, m_options.order);
    m_options.dt = 0.9 * limits.largest_dt;
    m_propagator = make(m_options);
    const double frequency =
        0.9 * limits.min_velocity /
        (wave::required_points_per_wavelength(m_options.order) * m_grid.spacing[0]);
    m_wavelet = wave::ricker(frequency / 2.4, m_options.dt);
    m_product_interval =
        std::max<std::int64_t>(snapshot::snapshot_interval(m_wavelet, m_options.dt) / 2, 1);
    const auto side = [&](int d) { return 10.0 * static_cast<double>(m_grid.extents[d] - 1); };
    const double length = std::min(side(0), side(1));
    const double begin = 0.5 * (side(0) - length);  // the middle of a longer model
    m_source = {{begin + 0.48 * length, 0.51 * side(1), 45.0}};
    Points<3> receivers;
    for (int i = 0; i < 200; ++i) {
      receivers.push_back({begin + length * (0.05 + 0.0045 * i), 0.5 * side(1), 45.0});
    }
    m_receivers = wave::PointSet<float, 3, Memory>(
        m_exec, m_propagator->grid(), m_propagator->layout(), receivers,
        wave::point_options(*m_propagator, "receiver", true));
    const auto count = static_cast<std::size_t>(m_wavelet.size());
    m_amplitudes = allocate<wave::PointSeries<float, Memory>>(m_exec, "amplitudes", count, 1);
    const std::vector<float> samples(m_wavelet.begin(), m_wavelet.end());
    copy(m_exec, wave::Storage<float, Memory>(m_amplitudes.data(), count),
         HostElements<const float>(samples.data(), count));
    m_field = m_propagator->make_wavefield(m_exec);
    m_exec.fence();
  }

  GradientResult run(const std::string& method, int lags) override {
    GradientResult result;
    const auto& propagator = *m_propagator;
    const auto sources = points(propagator);
    const wave::SourceTerm<float, 3, Memory> forward{&propagator, &sources, m_amplitudes};
    const auto rows = static_cast<std::size_t>(m_settings.steps + 1);
    const auto record =
        allocate<wave::PointSeries<float, Memory>>(m_exec, "moho::bench::rows", rows, 200);
    const auto model = [&](std::int64_t steps) {
      m_field.clear(m_exec);
      wave::RunOptions<float, 3, Memory> run;
      run.last = steps;
      run.present = [&](std::int64_t n) {
        m_receivers.record(m_exec, m_field.now[0], record, n, propagator.pressure_factors());
      };
      return forward.run(m_exec, m_field, run).seconds;
    };
    // one-time initialisations are complete afterwards
    model(std::min<std::int64_t>(20, m_settings.steps));
    result.modelling = model(m_settings.steps);

    fwi::ShotGradients<float, 3, Memory> gradients(m_exec, propagator, m_unknowns,
                                                   m_product_interval);
    check_memory(gradients, method, lags);
    std::optional<fwi::ExtendedImage<float, 3, Memory>> extended;
    if (lags >= 0) extended.emplace(m_exec, gradients.box(), fwi::Lags{lags, 0});
    fwi::ShotGradientOptions<float, 3, Memory> options;
    options.steps = m_settings.steps;
    options.extended = extended ? &*extended : nullptr;
    std::unique_ptr<wave::Propagator<float, 3, Memory>> other;
    wave::PointSet<float, 3, Memory> other_sources;
    wave::SourceTerm<float, 3, Memory> own;
    if (method == "random") {
      auto random = m_options;
      random.boundaries = random_faces();
      other = make(random);
      other_sources = points(*other);
      own = {other.get(), &other_sources, m_amplitudes};
      options.source = &own;
    }
    const auto& leg = method == "random" ? own : forward;
    std::unique_ptr<snapshot::SnapshotStore<float, 3, Memory>> store;
    if (method == "stored") {
      store =
          std::make_unique<snapshot::MemoryStore<float, 3, Memory>>(*m_arena, gradients.fields());
    } else if (method == "replay") {
      const std::int64_t snapshots = m_settings.steps / m_product_interval;
      store = std::make_unique<snapshot::CheckpointStore<float, 3, Memory>>(
          m_exec, leg, *m_arena, snapshots, m_product_interval,
          std::max<std::int64_t>(snapshots / 10, 1), 9, gradients.fields());
    } else {
      store = std::make_unique<snapshot::BoundaryStore<float, 3, Memory>>(
          m_exec, leg, *m_arena,
          snapshot::BoundaryStoreOptions{gradients.fields(), gradients.outside()});
    }
    m_exec.fence();
    const Stopwatch watch;
    const auto report = gradients.add(
        m_exec, m_field, forward, m_receivers,
        [&](const wave::PointSeries<const float, Memory>& modelled,
            const wave::PointSeries<float, Memory>& derivative) {
          copy(m_exec, derivative, modelled);  // residuals of zero data
          m_exec.fence();
          return 1.0;
        },
        *store, options);
    if (extended) extended->flush(m_exec);
    const auto derivative = gradients.derivatives(m_exec, m_grid, m_model);
    m_exec.fence();
    result.gradient = watch.seconds();
    result.points =
        static_cast<double>(propagator.grid().size()) * static_cast<double>(m_settings.steps);
    result.every = m_product_interval;
    result.source_bytes = static_cast<double>(report.snapshots.device_bytes);
    result.bytes = static_cast<double>(gradients.bytes() + m_field.bytes());
    if (extended) result.bytes += extended->bytes_of(gradients.box(), {lags, 0});
    result.size = largest_magnitude(m_exec, derivative.vp);
    return result;
  }

  StreamedResult run_stream(std::int64_t block, std::int64_t updates, int lags,
                            std::size_t device_memory, int devices) override {
    const auto model = host_model();
    const wave::Shot<3> shot = shot_of_model();
    fwi::StreamedGradientOptions<3> options;
    options.propagator = m_options;
    options.source_faces = random_faces();
    options.wavelet = m_wavelet;
    options.steps = m_settings.steps;
    options.product_interval = m_product_interval;
    options.unknowns = m_unknowns;
    options.wishes.block = block;
    options.wishes.updates = updates;
    options.wishes.device_memory = device_memory;
    options.wishes.devices = devices;
    if (lags >= 0) options.lags = fwi::Lags{lags, 0};
    fwi::StreamedGradients<float, 3, Memory> gradients(
        m_exec, m_grid, model, std::vector<wave::Shot<3>>(1, shot), options);
    gradients.update(model);
    const Stopwatch watch;
    const auto report = gradients.add(shot, {},
                                      [&](const wave::PointSeries<const float, Memory>& modelled,
                                          const wave::PointSeries<float, Memory>& derivative) {
                                        // residuals of zero data
                                        copy(m_exec, derivative, modelled);
                                        m_exec.fence();
                                        return 1.0;
                                      });
    const auto derivative = gradients.derivatives();
    StreamedResult result;
    result.gradient = watch.seconds();
    result.predicted = gradients.seconds();
    result.points =
        static_cast<double>(m_propagator->grid().size()) * static_cast<double>(m_settings.steps);
    result.stepped = report.points;
    result.backward = report.backward_seconds;
    result.every = m_product_interval;
    result.block = gradients.plan().shape.block;
    result.updates = gradients.plan().shape.updates;
    result.device_bytes = static_cast<double>(gradients.plan().device_bytes);
    result.host_bytes = static_cast<double>(gradients.plan().host_bytes);
    result.sums_held = gradients.plan().sums_held;
    result.devices = gradients.plan().shape.devices;
    result.size = largest_magnitude(stream::detail::host_instance(), derivative.vp);
    return result;
  }

  SlabResult run_slabs(int devices) override {
    free_arena();
    fwi::SlabGradientOptions<3> options;
    options.propagator = m_options;
    options.wavelet = m_wavelet;
    options.steps = m_settings.steps;
    options.product_interval = m_product_interval;
    options.unknowns = m_unknowns;
    options.devices = devices;
    const auto model = host_model();
    const wave::Shot<3> shot = shot_of_model();
    fwi::SlabGradients<float, 3, Memory> gradients(m_exec, m_grid, model, {shot}, options);
    gradients.update(model);
    SlabResult result;
    result.step = gradients.seconds_of_steps(100) / 100.0;
    const auto no_data = [](const Instance<Memory>& exec) -> fwi::ShotMisfit<float, Memory> {
      return [exec](const wave::PointSeries<const float, Memory>& modelled,
                    const wave::PointSeries<float, Memory>& derivative) {
        copy(exec, derivative, modelled);  // residuals of zero data
        exec.fence();
        return 1.0;
      };
    };
    gradients.add(shot, no_data);  // allocates the memory of the source wavefield
    gradients.clear();
    const auto report = gradients.add(shot, no_data);
    result.gradient = report.forward_seconds + report.backward_seconds;
    const Stopwatch watch;
    const auto derivative = gradients.derivatives(model);
    result.derivatives = watch.seconds();
    result.points =
        static_cast<double>(m_propagator->grid().size()) * static_cast<double>(m_settings.steps);
    result.every = m_product_interval;
    const fwi::SlabGradientBytes bytes = gradients.bytes(devices);
    result.device_bytes = bytes.fixed + bytes.source.shell;
    result.size = largest_magnitude(stream::detail::host_instance(), derivative.vp);
    return result;
  }

 private:
  // Returns the model on the host.
  wave::Model<float, 3, Kokkos::HostSpace> host_model() const {
    wave::Model<float, 3, Kokkos::HostSpace> model;
    const auto take = [&](const Field<float, 3, Memory>& from,
                          Field<float, 3, Kokkos::HostSpace>& to) {
      if (from.data() == nullptr) return;
      to = make_field<float>(stream::detail::host_instance(), m_grid, "parameter");
      copy(m_exec, HostElements<float>(to.data(), to.size()),
           wave::Storage<float, Memory>(from.data(), from.size()));
      m_exec.fence();
    };
    take(m_model.vp, model.vp);
    take(m_model.density, model.density);
    take(m_model.epsilon, model.epsilon);
    take(m_model.delta, model.delta);
    take(m_model.theta, model.theta);
    return model;
  }
  wave::Shot<3> shot_of_model() const {
    wave::Shot<3> shot;
    shot.sources = m_source;
    shot.receivers = m_receivers.positions();
    return shot;
  }
  // Frees the memory of source wavefields.
  void free_arena() { m_arena.emplace("moho::bench::source", piece); }

  // Throws MemoryError if a gradient does not fit; the message gives the number of lags that fit.
  void check_memory(const fwi::ShotGradients<float, 3, Memory>& gradients,
                    const std::string& method, int lags) {
    using Image = fwi::ExtendedImage<float, 3, Memory>;
    const auto& scheme = m_propagator->scheme();
    const fwi::SourceFieldBytes bytes =
        fwi::source_field_bytes(scheme, gradients.snapshot_nodes(), gradients.outside(),
                                m_settings.steps, m_product_interval);
    double source = method == "stored"   ? bytes.stored
                    : method == "replay" ? bytes.replay
                                         : bytes.shell;
    // propagator of random boundaries: model and coefficients
    if (method == "random") source += 4.0 * 4.0 * static_cast<double>(scheme.layout().size);
    const double image = lags < 0 ? 0.0 : Image::bytes_of(gradients.box(), {lags, 0});
    if (source + image <= static_cast<double>(memory_budget(m_exec))) return;
    free_arena();  // from earlier runs
    const auto room = static_cast<double>(memory_budget(m_exec));
    if (source + image <= room) return;
    constexpr double gib = 1024.0 * 1024.0 * 1024.0;
    const fwi::Lags fitting =
        fwi::fitting_lags<float, 3, Memory>(gradients.box(), {lags, 0}, room - source);
    throw MemoryError(concat(
        "a gradient by the way ", method, " takes ", source / gib,
        " GiB for the source wavefield and ", image / gib,
        " GiB for the extended image (free: ", room / gib, " GiB): ",
        lags > 0 ? concat("half offsets up to ", fitting.x, " nodes fit") : "take a smaller grid"));
  }

  wave::Boundaries<3> random_faces() const {
    return wave::all_faces<3>(wave::FaceKind::random, 2 * m_settings.width);
  }
  static constexpr std::int64_t piece = std::int64_t{1} << (is_host_memory<Memory> ? 22 : 27);

  std::unique_ptr<wave::Propagator<float, 3, Memory>> make(
      const wave::PropagatorOptions<3>& options) const {
    return std::make_unique<wave::Propagator<float, 3, Memory>>(
        m_exec, wave::extended_grid(m_grid, options.boundaries),
        wave::extend_model<float, 3, Memory>(m_exec, m_grid, m_model, options.boundaries), options);
  }
  wave::PointSet<float, 3, Memory> points(
      const wave::Propagator<float, 3, Memory>& propagator) const {
    return wave::PointSet<float, 3, Memory>(m_exec, propagator.grid(), propagator.layout(),
                                            m_source,
                                            wave::point_options(propagator, "source", true));
  }

  Instance<Memory> m_exec;
  GradientSettings m_settings;
  Grid<3> m_grid;
  wave::Model<float, 3, Memory> m_model;
  fwi::InvertedParameters m_unknowns;
  wave::PropagatorOptions<3> m_options;
  std::unique_ptr<wave::Propagator<float, 3, Memory>> m_propagator;
  std::vector<double> m_wavelet;
  std::int64_t m_product_interval = 1;
  Points<3> m_source;
  wave::PointSet<float, 3, Memory> m_receivers;
  wave::PointSeries<float, Memory> m_amplitudes;
  wave::Wavefield<float, 3, Memory> m_field;
  std::optional<snapshot::DeviceArena<float, Memory>> m_arena;  // memory of the source wavefield
};

template <class Memory>
std::unique_ptr<GradientRunner> make_gradient_runner(const Instance<Memory>& exec,
                                                     const GradientSettings& settings) {
  return std::make_unique<GradientRunnerOn<Memory>>(exec, settings);
}

/// The gradient of 1/2 sum c_i (x_i - 1)^2, 1 <= c_i <= 2.
struct QuadraticSlope {
  using value_type = double;
  const float* x;
  float* slope;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, double& f) const {
    const double c = 1.0 + static_cast<double>(i % 1009) / 1009.0;
    const double away = static_cast<double>(x[i]) - 1.0;
    slope[i] = static_cast<float>(c * away);
    f += 0.5 * c * away * away;
  }
  KOKKOS_INLINE_FUNCTION void init(double& f) const { f = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(double& to, const double& from) const { to += from; }
};

template <class Memory>
double time_lbfgs(const Instance<Memory>& exec, std::int64_t unknowns, int pairs) {
  using Vector = Kokkos::View<float*, Memory>;
  const auto make = [&](float value) {
    const auto v = allocate<Vector>(exec, "unknowns", static_cast<std::size_t>(unknowns));
    fill(exec, v, value);
    return v;
  };
  optimize::LbfgsOptions options;
  options.memory = pairs;
  options.gradient = 0.0;
  options.first_change = 0.01;
  options.largest_change = 0.01;  // many iterations of the same kind
  optimize::Lbfgs<float, Memory> search(exec, make(0.0f), options);
  const auto slope = make(0.0f);
  double seconds = 0.0;
  std::int64_t counted = 0;
  while (search.wants() == optimize::Want::evaluation && counted < 5) {
    const double f = reduce("moho::bench::quadratic", exec, unknowns,
                            QuadraticSlope{search.point().data(), slope.data()});
    exec.fence();
    const std::int64_t before = search.iterations();
    const Stopwatch watch;
    search.tell(exec, f, slope);
    exec.fence();
    if (search.iterations() == before || before <= pairs) continue;
    seconds += watch.seconds();
    ++counted;
  }
  return counted > 0 ? seconds / static_cast<double>(counted) : 0.0;
}

/// Velocities of a section, with a block that data have and the start has not.
template <class Memory>
struct FillSection {
  float* vp;
  Grid<2> grid;
  double block;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    const Index<2> node = grid.node(i);
    const double z = static_cast<double>(node[1]) / static_cast<double>(grid.extents[1]);
    const double x = static_cast<double>(node[0]) / static_cast<double>(grid.extents[0]);
    const bool in_block = x > 0.4 && x < 0.6 && z > 0.4 && z < 0.6;
    vp[i] = static_cast<float>(1500.0 + 2500.0 * z + (in_block ? block : 0.0));
  }
};

template <class Memory>
SurveyResult time_survey(const Instance<Memory>& exec, std::array<std::int64_t, 2> nodes, int shots,
                         double seconds, int batch) {
  const Grid<2> grid{{nodes[0], nodes[1]}, {20.0, 20.0}, {}};
  const auto model = [&](double block) {
    wave::Model<float, 2, Memory> result;
    result.vp = make_field<float>(exec, grid, "vp");
    launch("moho::bench::fill_section", exec, grid.size(),
           FillSection<Memory>{result.vp.data(), grid, block});
    return result;
  };
  fwi::ObjectiveData<float, 2, Memory> data;
  data.model = model(200.0);
  const double width = 20.0 * static_cast<double>(nodes[0] - 1);
  for (int k = 0; k < shots; ++k) {
    const double x = width * (0.5 + static_cast<double>(k)) / static_cast<double>(shots);
    data.shots.push_back(
        {k + 1, {{x, 40.0}}, wave::point_line<2>({40.0, 40.0}, {width - 40.0, 40.0}, 231)});
  }
  fwi::ObjectiveOptions<2> options;
  options.modelling.time.time = seconds;
  options.batch_size = batch;
  options.bounds = {{1400.0, 4600.0}};
  auto objective = fwi::make_objective(exec, grid, model(0.0),
                                       wave::absorbing_faces<2>(wave::Medium::isotropic, true),
                                       wave::ricker_wavelet(8.0), data, options);
  const fwi::ObjectivePlan& plan = objective.plan();
  SurveyResult result;
  result.concurrent = plan.concurrent_shots;
  result.batch = plan.batch_size;
  result.predicted = plan.seconds;
  result.points = static_cast<double>(plan.nodes[0] * plan.nodes[1] * plan.time.steps) * shots;
  const auto gradient = objective.make_gradient();
  const auto x = objective.make_gradient();
  fill(exec, x, 0.0F);
  for (int turn = 0; turn < 2; ++turn) {  // the first evaluation allocates
    exec.fence();
    const Stopwatch watch;
    result.misfit = objective.evaluate(x, gradient);
    exec.fence();
    result.seconds = watch.seconds();
  }
  return result;
}

/// Instantiates the benchmarks for a memory.
#define MOHO_BENCH_FWI(Memory)                                                                    \
  template std::unique_ptr<GradientRunner> make_gradient_runner<Memory>(const Instance<Memory>&,  \
                                                                        const GradientSettings&); \
  template SurveyResult time_survey<Memory>(const Instance<Memory>&, std::array<std::int64_t, 2>, \
                                            int, double, int);                                    \
  template double time_lbfgs<Memory>(const Instance<Memory>&, std::int64_t, int)

}  // namespace moho::bench
