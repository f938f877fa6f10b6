// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Modelling of shots over a model: checks, choices and preparation before the first step.

#include <moho/core/instances.hpp>
#include <moho/core/space.hpp>
#include <moho/core/text.hpp>
#include <moho/wave/detail/concurrent_shots.hpp>
#include <moho/wave/detail/memory.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/plan.hpp>
#include <moho/wave/source_region.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::wave {

/// \brief Returns the plan of make_modelling() without extending or allocating anything.
/// \param options as for make_modelling(); memory equal to the largest std::size_t disables its
///   check
/// \param releases true if the model is released after its extension, for the estimate of memory
/// \throws InputError, MemoryError as make_modelling()
template <class T, int Dim, class Memory>
ModellingPlan<Dim> plan_modelling(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                  const Model<T, Dim, Memory>& model, const Boundaries<Dim>& faces,
                                  const WaveletAt& wavelet, const ModellingOptions<Dim>& options,
                                  bool releases = false);

/// \brief Shots over one model: the propagator, a wavefield, and the wavelet at its time step.
///
///     auto modelling = make_modelling(exec, grid, model, absorbing_faces<2>(model.medium()),
///                                     ricker_wavelet(15.0), {.time = {.time = 2.0}});
///     auto shot = modelling.shot(exec, {.sources = sources, .receivers = receivers});
///     // shot.traces: receivers x samples, on the host
template <class T, int Dim, class Memory>
class Modelling {
 public:
  /// \see make_modelling(); `release` resets the model when its fields are no longer needed
  Modelling(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, Model<T, Dim, Memory>& model,
            bool release, const Boundaries<Dim>& faces, const WaveletAt& wavelet,
            const ModellingOptions<Dim>& options);

  /// Returns the plan.
  const ModellingPlan<Dim>& plan() const { return m_plan; }
  /// Returns the model's grid, without layers.
  const Grid<Dim>& model_grid() const { return m_model_grid; }
  /// Returns the propagator of the extended model.
  const Propagator<T, Dim, Memory>& propagator() const { return *m_propagator; }
  /// Returns the extended model, if options requested to keep it.
  const Model<T, Dim, Memory>& extended_model() const { return m_extended; }
  /// Returns the wavefield of the latest shot, after its last step.
  Wavefield<T, Dim, Memory>& wavefield() { return m_wavefield; }

  /// \brief Loads another model of the same grid and medium; waits for completion.
  ///
  /// Time step, faces and points stay the same.
  /// \param exec execution instance
  /// \param model without layers; its fields are not changed
  /// \param around points around which delta is tapered to epsilon within plan().source_taper
  /// \throws InputError as Propagator::update()
  void update(const InstanceOf<Memory>& exec, const Model<T, Dim, Memory>& model,
              const Points<Dim>& around = {});

  /// \brief Returns the sources of a shot. \throws InputError naming an invalid source
  PointSet<T, Dim, Memory> sources(const InstanceOf<Memory>& exec, const Shot<Dim>& shot,
                                   const std::string& prefix = "") const;
  /// \brief Returns the receivers of a shot. \throws InputError naming an invalid receiver
  PointSet<T, Dim, Memory> receivers(const InstanceOf<Memory>& exec, const Shot<Dim>& shot,
                                     const std::string& prefix = "") const;
  /// \brief Returns the receivers of a shot for recording and injection.
  ///
  /// Adjoint propagations inject amplitudes at receivers. \throws InputError naming an invalid
  /// receiver
  PointSet<T, Dim, Memory> injecting_receivers(const InstanceOf<Memory>& exec,
                                               const Shot<Dim>& shot,
                                               const std::string& prefix = "") const;
  /// \brief Throws InputError unless all sources and receivers have allowed positions.
  ///
  /// The text begins with "sources: " or "receivers: ".
  void check(const InstanceOf<Memory>& exec, const std::vector<Shot<Dim>>& shots) const;

  /// Returns options of model_shot() with the plan's steps and interval.
  ShotOptions<T, Dim, Memory> shot_options() const;
  /// \brief Models a shot. \throws InputError, Error as model_shot()
  ShotResult<T, Dim, Memory> shot(const InstanceOf<Memory>& exec, const Shot<Dim>& shot) {
    return this->shot(exec, shot, shot_options());
  }
  /// Models a shot with given options, derived from shot_options().
  ShotResult<T, Dim, Memory> shot(const InstanceOf<Memory>& exec, const Shot<Dim>& shot,
                                  const ShotOptions<T, Dim, Memory>& options);

 private:
  Grid<Dim> m_model_grid;
  ModellingPlan<Dim> m_plan;
  Model<T, Dim, Memory> m_extended;
  std::optional<Propagator<T, Dim, Memory>> m_propagator;
  Wavefield<T, Dim, Memory> m_wavefield;
};

/// \brief Prepares the modelling of shots over a model.
///
/// Checks the model, chooses the time step, extends the model by the layers of its faces and
/// allocates a wavefield. Faces and wavelet have no defaults, since both determine the result;
/// absorbing_faces() returns the usual faces.
/// \param exec execution instance; the function waits for completion
/// \param grid of the model
/// \param model its fields are not changed. A moved model is reset after its extension, which frees
///   fields without other references
/// \param faces faces of the grid; their layers are added outside the grid
/// \param wavelet of the sources
/// \param options times, order, equations
/// \throws InputError whose text begins with its subject: a parameter of the model ("vp: "),
///   "boundary: ", "dt: ", "interval ", "time ", "wavelet: "; MemoryError if the memory of the
///   space does not suffice
template <class T, int Dim, class Memory>
Modelling<T, Dim, Memory> make_modelling(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         Model<T, Dim, Memory>&& model,
                                         const Boundaries<Dim>& faces, const WaveletAt& wavelet,
                                         const ModellingOptions<Dim>& options = {}) {
  return Modelling<T, Dim, Memory>(exec, grid, model, true, faces, wavelet, options);
}
/// \overload
template <class T, int Dim, class Memory>
Modelling<T, Dim, Memory> make_modelling(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const Model<T, Dim, Memory>& model,
                                         const Boundaries<Dim>& faces, const WaveletAt& wavelet,
                                         const ModellingOptions<Dim>& options = {}) {
  Model<T, Dim, Memory> same = model;
  return Modelling<T, Dim, Memory>(exec, grid, same, false, faces, wavelet, options);
}

namespace detail {

/// Calls a function and prefixes the text of an InputError with "<what>: ", unless it begins so.
template <class Function>
auto with_argument(const char* what, const Function& function) {
  try {
    return function();
  } catch (const InputError& error) {
    const std::string begin = concat(what, ": "), text = error.what();
    throw InputError(text.starts_with(begin) ? text : begin + text);
  }
}

/// Reduction to the largest epsilon - delta and the largest velocity around a source.
template <class T, int Dim>
struct AroundSource {
  struct Sum {
    double anelliptic, fastest;
  };
  using value_type = Sum;
  const T *vp, *epsilon, *delta;
  Grid<Dim> grid;
  Box<Dim> box;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n, Sum& sum) const {
    const std::int64_t i = grid.flat(box.node(n));
    // delta above epsilon is clamped to epsilon
    const double difference = (epsilon != nullptr ? static_cast<double>(epsilon[i]) : 0.0) -
                              (delta != nullptr ? static_cast<double>(delta[i]) : 0.0);
    if (difference > sum.anelliptic) sum.anelliptic = difference;
    if (static_cast<double>(vp[i]) > sum.fastest) sum.fastest = static_cast<double>(vp[i]);
  }
  KOKKOS_INLINE_FUNCTION void init(Sum& sum) const { sum.anelliptic = sum.fastest = 0.0; }
  KOKKOS_INLINE_FUNCTION void join(Sum& to, const Sum& from) const {
    if (from.anelliptic > to.anelliptic) to.anelliptic = from.anelliptic;
    if (from.fastest > to.fastest) to.fastest = from.fastest;
  }
};

/// Returns the error of a plan that takes more than the allowed bytes.
template <int Dim>
MemoryError too_much_memory(const ModellingPlan<Dim>& plan, const ModellingOptions<Dim>& options,
                            std::size_t allowed) {
  const bool one = plan.concurrent_shots == 1;
  const bool traces = plan.memory.gathers > plan.memory.peak / 2;
  return MemoryError(concat(
      "memory: the model of ", shape_string(plan.grid), " nodes", traces ? ", " : " and ",
      one ? std::string("its wavefield")
          : concat("wavefields of ", plan.concurrent_shots, " shots at once"),
      traces ? concat(" and the traces of ", text::counted(options.receivers, "receiver")) : "",
      " take ", format_bytes(static_cast<double>(plan.memory.peak)),
      " (allowed: ", format_bytes(static_cast<double>(allowed)),
      options.memory > 0 ? ", as asked" : ", what is free", "): take ",
      one ? "" : "fewer shots at once, ",
      traces ? "fewer receivers or a shorter time"
             : "fewer nodes, thinner layers or single precision"));
}

/// Returns the radius in m of the taper of delta to epsilon around sources; 0 in elliptical media.
template <class T, int Dim, class Memory>
double taper_radius(const Instance<Memory>& exec, const Grid<Dim>& grid,
                    const Model<T, Dim, Memory>& model, const ModellingOptions<Dim>& options,
                    double frequency) {
  if (options.equations != Equations::self_adjoint) return 0.0;
  if (options.source_taper && *options.source_taper == 0.0) return 0.0;
  if (!info(model.medium()).allowed.has(Parameter::delta)) return 0.0;
  if (model.epsilon.data() == nullptr && model.delta.data() == nullptr) return 0.0;
  const int around = PointOptions<Dim>().radius;  // nodes on either side of a source
  AroundSource<T, Dim> functor{model.vp.data(), model.epsilon.data(), model.delta.data(), grid, {}};
  double anelliptic = 0.0, fastest = 0.0;
  for (const Point<Dim>& source : options.sources) {
    for (int d = 0; d < Dim; ++d) {
      const double at = std::clamp((source[d] - grid.origin[d]) / grid.spacing[d], 0.0,
                                   static_cast<double>(grid.extents[d] - 1));
      const auto node = static_cast<std::int64_t>(std::llround(at));
      functor.box.lower[d] = std::max<std::int64_t>(node - around, 0);
      functor.box.upper[d] = std::min<std::int64_t>(node + around, grid.extents[d] - 1) + 1;
    }
    const auto sum = reduce("moho::wave::around_source", exec, functor.box.size(), functor);
    anelliptic = std::max(anelliptic, sum.anelliptic);
    fastest = std::max(fastest, sum.fastest);
  }
  if (!(anelliptic > 1e-3)) return 0.0;
  return options.source_taper ? *options.source_taper : 2.0 * fastest / frequency;
}

}  // namespace detail

template <class T, int Dim, class Memory>
Modelling<T, Dim, Memory>::Modelling(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                     Model<T, Dim, Memory>& given, bool release,
                                     const Boundaries<Dim>& faces, const WaveletAt& wavelet,
                                     const ModellingOptions<Dim>& options)
    : m_model_grid(grid) {
  Model<T, Dim, Memory> model = given;
  const Instance<Memory>& exec = instance;
  m_plan = plan_modelling<T, Dim, Memory>(exec, grid, model, faces, wavelet, options, release);
  exec.check_stop();
  if (m_plan.source_taper > 0.0) {
    model.delta =
        taper_delta<T, Dim, Memory>(exec, grid, model, options.sources, m_plan.source_taper);
  }
  m_extended = extend_model<T, Dim, Memory>(exec, grid, model, faces, m_plan.random);
  exec.fence();
  exec.check_stop();
  model = {};
  if (release) given = {};
  PropagatorOptions<Dim> scheme;
  scheme.dt = m_plan.time.dt;
  scheme.order = options.order;
  scheme.boundaries = faces;
  scheme.frequency = m_plan.frequency;
  scheme.equations = options.equations;
  scheme.sigma = options.sigma;
  scheme.parameters = options.parameters;
  m_propagator.emplace(exec, m_plan.grid, m_extended, scheme);
  m_plan.parameter_bits = m_propagator->scheme().parameter_bits();
  exec.fence();
  exec.check_stop();
  if (!options.keep_model) m_extended = {};
  m_wavefield = m_propagator->make_wavefield(exec);
  exec.fence();
}

template <class T, int Dim, class Memory>
void Modelling<T, Dim, Memory>::update(const InstanceOf<Memory>& exec,
                                       const Model<T, Dim, Memory>& model,
                                       const Points<Dim>& around) {
  Model<T, Dim, Memory> tapered = model;
  if (m_plan.source_taper > 0.0 && !around.empty()) {
    tapered.delta =
        taper_delta<T, Dim, Memory>(exec, m_model_grid, model, around, m_plan.source_taper);
  }
  const auto extended =
      extend_model<T, Dim, Memory>(exec, m_model_grid, tapered, m_plan.faces, m_plan.random);
  try {
    m_propagator->update(exec, extended);
  } catch (const InputError&) {
    check_model<T, Dim, Memory>(exec, m_model_grid, model);  // names nodes without layers
    throw;
  }
  if (m_extended.vp.data() != nullptr) m_extended = extended;
}

namespace detail {

// Sets the wavelet at the time step of a plan, its highest frequency and its peak, and checks them.
template <int Dim>
void plan_wavelet(const Grid<Dim>& grid, const WaveletAt& wavelet, int order,
                  ModellingPlan<Dim>& plan) {
  with_argument("wavelet", [&] {
    plan.wavelet = wavelet(plan.time.dt);
    plan.frequency = highest_frequency(plan.wavelet, plan.time.dt);
    check_dispersion(grid, plan.limits, order, plan.frequency);
  });
  if (plan.frequency > 0.5 / plan.time.interval) {
    throw InputError(concat("interval is ", plan.time.interval, " s (allowed: at most ",
                            0.5 / plan.frequency, " s for a wavelet of up to ", plan.frequency,
                            " Hz): record more often"));
  }
  const auto largest =
      std::max_element(plan.wavelet.begin(), plan.wavelet.end(),
                       [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  plan.peak_time = static_cast<double>(largest - plan.wavelet.begin()) * plan.time.dt;
}

// Sets the nodes per wavelength, and random layers that stay as fast as the grid can sample.
template <int Dim>
void plan_sampling(const Grid<Dim>& grid, const ModelRange& range,
                   const ModellingOptions<Dim>& options, ModellingPlan<Dim>& plan) {
  double spacing = 0.0;
  for (int d = 0; d < Dim; ++d) spacing = std::max(spacing, grid.spacing[d]);
  plan.nodes_per_wave = plan.limits.min_velocity / (plan.frequency * spacing);
  plan.nodes_per_wave_wanted = required_points_per_wavelength(options.order);
  plan.random.seed = options.seed;
  // in some directions waves are slower than along the axis
  const double slowing = std::min({range.epsilon.min, range.delta.min, 0.0});
  plan.random.floor = 1.001 * plan.nodes_per_wave_wanted * plan.frequency * spacing /
                      std::sqrt(1.0 + 2.0 * slowing);
}

// Returns the shape of the memory of a plan with one shot.
template <class T, int Dim, class Memory>
MemoryShape<Dim> memory_shape(const Instance<Memory>& exec, const Grid<Dim>& grid,
                              const Model<T, Dim, Memory>& model,
                              const ModellingOptions<Dim>& options, bool releases, bool coded,
                              const ModellingPlan<Dim>& plan) {
  MemoryShape<Dim> shape;
  shape.coded = coded;
  shape.on_host = is_host_memory<Memory>;
  shape.grid = grid;
  shape.faces = plan.faces;
  shape.medium = plan.medium;
  shape.equations = options.equations;
  shape.order = options.order;
  shape.parameters = model.given().size();
  shape.delta = model.delta.data() != nullptr;
  shape.tapered = plan.source_taper > 0.0;
  shape.keep_given = !releases;
  shape.keep_model = options.keep_model;
  shape.receivers = options.receivers;
  shape.gathers_wait = options.gathers_wait;
  shape.rows = plan.time.steps + 2 * resampling_radius;
  shape.samples = plan.time.samples;
  shape.snapshots = plan.time.snapshot_every > 0;
  shape.packed_axis = stencil_of(plan.medium, options.equations) == kernel::Stencil::tti &&
                      has_axis_ring<T, Dim, Memory>(exec, options.order);
  return shape;
}

// Chooses how many shots run concurrently, as many as fit if options leave the number open, and
// sets the memory of the plan. \throws MemoryError if one shot does not fit
template <class T, int Dim, class Memory>
void plan_concurrent_shots(const Instance<Memory>& exec, const ModellingOptions<Dim>& options,
                           MemoryShape<Dim> shape, ModellingPlan<Dim>& plan) {
  const bool unchecked = options.memory == std::numeric_limits<std::size_t>::max();
  const std::size_t allowed = unchecked ? options.memory : memory_budget(exec, options.memory);
  // the model is already allocated
  const auto more = [&] {
    return plan.memory.peak -
           std::min(plan.memory.peak, options.memory > 0 ? 0 : plan.memory.model);
  };
  const auto max = static_cast<int>(std::min<std::int64_t>(std::max<std::int64_t>(options.shots, 1),
                                                           std::numeric_limits<int>::max()));
  const bool one_launch =
      steps_in_one_launch<T, Dim, Memory>(plan.medium, options.equations, plan.faces);
  const bool steps_together = one_launch && !is_host_memory<Memory> && options.batch_size != 1;
  const int chosen = steps_together ? shots_at_once_together(plan.grid.size(), max)
                                    : shots_at_once(exec, plan.grid.size(), max);
  plan.concurrent_shots =
      std::min(max, options.concurrent_shots > 0 ? options.concurrent_shots : chosen);
  const auto estimate = [&] {
    plan.batch_size = options.batch_size > 0
                          ? std::min(options.batch_size, plan.concurrent_shots)
                          : shots_together<Memory>(plan.concurrent_shots, one_launch);
    shape.concurrent_shots = plan.concurrent_shots;
    shape.waiting = waiting_results(plan.concurrent_shots, plan.batch_size, max);
    plan.memory = modelling_memory<T, Dim>(shape);
  };
  estimate();
  while (options.concurrent_shots == 0 && plan.concurrent_shots > 1 && more() > allowed) {
    --plan.concurrent_shots;
    estimate();
  }
  if (more() > allowed) throw too_much_memory(plan, options, allowed);
}

}  // namespace detail

template <class T, int Dim, class Memory>
ModellingPlan<Dim> plan_modelling(const InstanceOf<Memory>& instance, const Grid<Dim>& grid,
                                  const Model<T, Dim, Memory>& model, const Boundaries<Dim>& faces,
                                  const WaveletAt& wavelet, const ModellingOptions<Dim>& options,
                                  bool releases) {
  const Instance<Memory>& exec = instance;
  ModellingPlan<Dim> plan;
  plan.faces = faces;
  plan.grid = extended_grid(grid, faces);
  plan.medium = model.medium();
  exec.check_stop();
  const ModelRange range = check_model<T, Dim, Memory>(exec, grid, model);
  exec.check_stop();
  detail::with_argument("boundary", [&] { check_boundaries(plan.grid, plan.faces, plan.medium); });
  plan.limits =
      limits_of<T, Dim, Memory>(exec, grid, model, options.order, options.equations, options.sigma);
  if (options.time.dt > 0.0)
    detail::with_argument("dt", [&] { check_dt(options.time.dt, plan.limits); });
  plan.time = make_time_plan(options.time, plan.limits.largest_dt,
                             static_cast<double>(grid.size()) * sizeof(T));
  detail::with_argument("dt", [&] { check_dt(plan.time.dt, plan.limits); });
  detail::plan_wavelet(grid, wavelet, options.order, plan);
  detail::plan_sampling(grid, range, options, plan);
  plan.source_taper =
      detail::taper_radius<T, Dim, Memory>(exec, grid, model, options, plan.frequency);

  const bool rounds = stores_codes<T, Dim, Memory>(
      options.parameters, stencil_of(plan.medium, options.equations), plan.limits, plan.time.dt);
  plan.parameter_bits = rounds ? 16 : 8 * static_cast<int>(sizeof(T));
  const bool coded = rounds && detail::has_coded_kernels<T, Dim, Memory>();
  detail::plan_concurrent_shots<T, Dim, Memory>(
      exec, options,
      detail::memory_shape<T, Dim, Memory>(exec, grid, model, options, releases, coded, plan),
      plan);
  return plan;
}

template <class T, int Dim, class Memory>
PointSet<T, Dim, Memory> Modelling<T, Dim, Memory>::sources(const InstanceOf<Memory>& exec,
                                                            const Shot<Dim>& shot,
                                                            const std::string& prefix) const {
  return PointSet<T, Dim, Memory>(exec, m_plan.grid, m_propagator->layout(), shot.sources,
                                  point_options(*m_propagator, prefix + "source", true));
}

template <class T, int Dim, class Memory>
PointSet<T, Dim, Memory> Modelling<T, Dim, Memory>::receivers(const InstanceOf<Memory>& exec,
                                                              const Shot<Dim>& shot,
                                                              const std::string& prefix) const {
  return PointSet<T, Dim, Memory>(exec, m_plan.grid, m_propagator->layout(), shot.receivers,
                                  point_options(*m_propagator, prefix + "receiver", false));
}

template <class T, int Dim, class Memory>
PointSet<T, Dim, Memory> Modelling<T, Dim, Memory>::injecting_receivers(
    const InstanceOf<Memory>& exec, const Shot<Dim>& shot, const std::string& prefix) const {
  return PointSet<T, Dim, Memory>(exec, m_plan.grid, m_propagator->layout(), shot.receivers,
                                  point_options(*m_propagator, prefix + "receiver", true));
}

template <class T, int Dim, class Memory>
void Modelling<T, Dim, Memory>::check(const InstanceOf<Memory>& exec,
                                      const std::vector<Shot<Dim>>& shots) const {
  for (const Shot<Dim>& shot : shots) {
    const std::string of = shots.size() > 1 ? concat("shot ", shot.number, ": ") : "";
    detail::with_argument("sources", [&] { sources(exec, shot, of); });
    detail::with_argument("receivers", [&] { receivers(exec, shot, of); });
  }
}

template <class T, int Dim, class Memory>
ShotOptions<T, Dim, Memory> Modelling<T, Dim, Memory>::shot_options() const {
  ShotOptions<T, Dim, Memory> options;
  options.steps = m_plan.time.steps;
  options.interval = m_plan.time.interval;
  options.snapshot_every = m_plan.time.snapshot_every;
  return options;
}

template <class T, int Dim, class Memory>
ShotResult<T, Dim, Memory> Modelling<T, Dim, Memory>::shot(
    const InstanceOf<Memory>& exec, const Shot<Dim>& shot,
    const ShotOptions<T, Dim, Memory>& options) {
  return model_shot<T, Dim, Memory>(exec, *m_propagator, m_wavefield, sources(exec, shot),
                                    m_plan.wavelet, receivers(exec, shot), options);
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, plan_modelling)
MOHO_FOR_ALL(MOHO_CLASS, extern template class, Modelling)
}  // namespace moho::wave
#endif
/// \endcond
