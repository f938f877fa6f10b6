// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradient of the misfit of a shot with respect to the parameters of its model.

#include <moho/core/arena.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/fwi/detail/gradient_kernels.hpp>
#include <moho/fwi/detail/gradient_runs.hpp>
#include <moho/fwi/detail/lambda_steps.hpp>
#include <moho/fwi/detail/scale_products.hpp>
#include <moho/fwi/extended_image.hpp>
#include <moho/fwi/gradient_types.hpp>
#include <moho/snapshot/snapshot.hpp>
#include <moho/wave/adjoint.hpp>
#include <moho/wave/kernel/shot_batch.hpp>
#include <moho/wave/not_finite.hpp>
#include <moho/wave/operators.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace moho::fwi {

template <class T, int Dim, class Memory>
class ShotGradients;

/// Shot of ShotGradients::add_batch().
template <class T, int Dim, class Memory>
struct BatchedGradient {
  ShotGradients<T, Dim, Memory>* gradients = nullptr;         ///< sums of the shot
  const wave::SourceTerm<T, Dim, Memory>* forward = nullptr;  ///< source term
  const wave::PointSet<T, Dim, Memory>* receivers = nullptr;  ///< points that record and inject
  ShotMisfit<T, Memory> misfit;                               ///< misfit function
  snapshot::SnapshotStore<T, Dim, Memory>* store = nullptr;   ///< empty store of the source
};

/// \brief Sum of the gradients of shots, by the adjoint-state method (Plessix, 2006).
///
/// For each shot the forward propagation models the traces, and the misfit returns the adjoint
/// source. The backward propagation of the adjoint field uses the same steps, which are
/// self-adjoint (adjoint_factors()). A SnapshotStore provides the source wavefield at the same
/// times. Their products sum up to the derivatives with respect to the coefficients v^2 dt^2, 1 + 2
/// epsilon and sqrt(1 + 2 delta), and, with variable density, the potential and sqrt(rho) at
/// sources and receivers.
///
/// With product_interval = 1 the result is the exact gradient of the discrete misfit, to rounding,
/// for all media of self-adjoint equations, orders and faces. Exception: perfectly matched layers
/// change the equations at order / 2 adjacent nodes also, and the gradient omits these terms: a
/// relative error of 1e-4 along random directions. Without `layers` derivatives by the density also
/// omit potentials in layers, which depend on the order / 2 nodes at the edge of the model.
///
/// Nodes of layers are copies of nodes at the edge of the model. With `layers` their contributions
/// are added to the gradient of the edge nodes, and the source wavefield must be stored there.
/// Without `layers` they are omitted.
template <class T, int Dim, class Memory>
class ShotGradients {
 public:
  /// \param exec instance of the arrays
  /// \param propagator propagator of the model; it must outlive the gradients
  /// \param unknowns parameters besides the P velocity
  /// \param product_interval steps between products of the wavefields, 1 or more
  /// \param layers true: nodes of layers contribute to the gradient
  /// \throws InputError for Fletcher's equations, parameters absent from the medium, and `layers`
  /// with perfectly matched layers
  ShotGradients(const InstanceOf<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
                const InvertedParameters& unknowns = {}, std::int64_t product_interval = 1,
                bool layers = false);

  /// Adopts the current model of the propagator, after Propagator::update(). Sums are unchanged.
  void update(const InstanceOf<Memory>& exec);
  /// Sets all sums to zero.
  void clear(const InstanceOf<Memory>& exec);

  /// Number of fields of a snapshot: 1 for p, 2 for p and q.
  int fields() const { return m_propagator->scheme().fields(); }
  /// Nodes beyond the model in snapshots of the source: snapshot::BoundaryStoreOptions::outside.
  std::int64_t outside() const { return m_outside; }
  /// Nodes of the sums, in the grid with layers.
  const Box<Dim>& box() const { return m_box; }
  /// Number of nodes of the largest snapshot.
  std::int64_t snapshot_nodes() const { return snapshot_box().size(); }
  /// Steps between snapshots.
  std::int64_t product_interval() const { return m_product_interval; }
  /// Memory of all arrays, bytes.
  std::size_t bytes() const;

  /// \brief Adds the gradient of a shot.
  /// \param exec instance of all work
  /// \param wavefield wavefield of the propagator; its values are overwritten
  /// \param forward source term of the forward propagation
  /// \param receivers points that record and inject, on the grid of the propagator
  /// \param misfit misfit function, called once after the forward propagation
  /// \param store empty store of the source wavefield, with fields() fields
  /// \param options steps, progress
  /// \throws InputError for options out of range; wave::NotFinite if a wavefield overflows; errors
  /// of the store and the misfit
  ShotGradientReport<Dim> add(const InstanceOf<Memory>& exec,
                              wave::Wavefield<T, Dim, Memory>& wavefield,
                              const wave::SourceTerm<T, Dim, Memory>& forward,
                              const wave::PointSet<T, Dim, Memory>& receivers,
                              const ShotMisfit<T, Memory>& misfit,
                              snapshot::SnapshotStore<T, Dim, Memory>& store,
                              const ShotGradientOptions<T, Dim, Memory>& options);

  /// \brief First half of add(): models the traces and saves the source wavefield in the store.
  /// \param exec,wavefield,forward,receivers,store,options as add()
  /// \param modelled out, rows x receivers: p at each step, options.steps + 1 rows
  /// \throws as add()
  ShotGradientReport<Dim> forward(const InstanceOf<Memory>& exec,
                                  wave::Wavefield<T, Dim, Memory>& wavefield,
                                  const wave::SourceTerm<T, Dim, Memory>& forward,
                                  const wave::PointSet<T, Dim, Memory>& receivers,
                                  const wave::PointSeries<T, Memory>& modelled,
                                  snapshot::SnapshotStore<T, Dim, Memory>& store,
                                  const ShotGradientOptions<T, Dim, Memory>& options) const;
  /// \brief Second half of add(): propagates the adjoint field and adds the gradient.
  ///
  /// The propagator has the model of the first half. Wavefield and gradients may have been used for
  /// other shots since.
  /// \param exec,wavefield,forward,receivers,store,options as those of the first half
  /// \param derivative rows x receivers: derivatives of the misfit by the modelled values
  /// \param report that of the first half, to which this one adds
  /// \throws as add()
  void backward(const InstanceOf<Memory>& exec, wave::Wavefield<T, Dim, Memory>& wavefield,
                const wave::SourceTerm<T, Dim, Memory>& forward,
                const wave::PointSet<T, Dim, Memory>& receivers,
                const wave::PointSeries<T, Memory>& derivative,
                snapshot::SnapshotStore<T, Dim, Memory>& store,
                const ShotGradientOptions<T, Dim, Memory>& options,
                ShotGradientReport<Dim>& report);

  /// \brief Adds the gradients of shots that advance in the same launches, each to its own sums.
  ///
  /// The sums have the bits of add(). One launch steps all wavefields where step_batch() does.
  /// \param exec instance of all work
  /// \param shots gradients, points, misfit and store of each shot; the propagator of all is the
  ///   same
  /// \param wavefields of wave::make_wavefields(), at least as many as shots; their values are
  ///   overwritten
  /// \param options steps and progress of the batch; without a separate source wavefield and an
  ///   extended image
  /// \throws as add(), and InputError for options and numbers that are not possible
  static std::vector<ShotGradientReport<Dim>> add_batch(
      const InstanceOf<Memory>& exec, const std::vector<BatchedGradient<T, Dim, Memory>>& shots,
      std::vector<wave::Wavefield<T, Dim, Memory>>& wavefields,
      const ShotGradientOptions<T, Dim, Memory>& options);

  /// \brief Returns the derivatives of the sum of misfits with respect to vp and the unknowns.
  ///
  /// Their units are 1 over those of the parameters, such as 1 / (m/s).
  /// \param exec instance to which the work is submitted
  /// \param grid grid of the model, without layers; of a part of a grid, its own planes
  /// \param model current model of the propagator on that grid
  /// \param kept fraction of delta - epsilon kept by taper_delta() at each node; empty: 1
  wave::Model<T, Dim, Memory> derivatives(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                          const wave::Model<T, Dim, Memory>& model,
                                          const Field<T, Dim, Memory>& kept = {}) const;
  /// Returns the illumination: the sum of p^2 dt over time and shots.
  Field<T, Dim, Memory> illumination(const InstanceOf<Memory>& exec, const Grid<Dim>& grid) const;

 private:
  struct BatchRun;
  using Array = wave::Storage<T, Memory>;
  using Wave = wave::Wavefield<T, Dim, Memory>;
  Box<Dim> snapshot_box() const {
    return m_propagator->held(
        intersection(hull(m_box.grown(m_outside), m_density_box), whole_box(m_propagator->grid())));
  }
  // Receivers that record, and rows x receivers.
  struct Recording {
    const wave::PointSet<T, Dim, Memory>* receivers = nullptr;
    wave::PointSeries<T, Memory> rows = {};
  };
  void propagate_source(const Instance<Memory>& exec,
                        const wave::SourceTerm<T, Dim, Memory>& source_term, Wave& wavefield,
                        snapshot::SnapshotStore<T, Dim, Memory>* store, int number,
                        const ShotGradientOptions<T, Dim, Memory>& options, const Box<Dim>& kept,
                        const Recording& recording, ShotGradientReport<Dim>& report) const;
  Index<Dim> source_shift(const ShotGradientOptions<T, Dim, Memory>& options) const;
  // Sets what accumulates along the backward propagation to zero.
  void begin_adjoint(const Instance<Memory>& exec) const {
    if (!m_unknowns.anisotropy) return;
    fill(exec, m_lambda, T(0));
    fill(exec, m_slope, T(0));
  }
  void combine(const Instance<Memory>& exec, const Wave& wavefield,
               const wave::SourceTerm<T, Dim, Memory>& forward,
               const wave::PointSet<T, Dim, Memory>& receivers,
               const wave::PointSeries<T, Memory>& derivative,
               snapshot::SnapshotStore<T, Dim, Memory>& store,
               const ShotGradientOptions<T, Dim, Memory>& options, const Index<Dim>& shift,
               std::int64_t time);
  // Return the functions that do several steps of a propagation in one launch; empty: none does.
  wave::kernel::SeveralSteps save_several(const Instance<Memory>& exec,
                                          const wave::SourceTerm<T, Dim, Memory>& source_term,
                                          Wave& wavefield,
                                          snapshot::SnapshotStore<T, Dim, Memory>* store,
                                          const Box<Dim>& kept, const Recording& recording) const;
  wave::kernel::SeveralSteps combine_several(const Instance<Memory>& exec, Wave& wavefield,
                                             const wave::PointSet<T, Dim, Memory>& receivers,
                                             const wave::PointSeries<T, Memory>& derivative,
                                             snapshot::SnapshotStore<T, Dim, Memory>& store,
                                             const Index<Dim>& shift);
  detail::AddScale<T, Dim> scale_sums(const detail::SourceValues<T, Dim>& source) const;
  void add_density(const Instance<Memory>& exec, const Wave& adjoint,
                   const wave::SourceTerm<T, Dim, Memory>& forward,
                   const detail::SourceValues<T, Dim>& source, std::int64_t time, bool everywhere);
  // What points inject in a step, in pressure.
  detail::StepInjection<T, Dim, Memory> injection(const wave::PointSet<T, Dim, Memory>& points,
                                                  const wave::PointSeries<const T, Memory>& series,
                                                  std::int64_t time, T factor = T(1)) const {
    const wave::Layout<Dim>& layout = m_propagator->layout();
    return {&points, series, time, layout, layout.window, m_propagator->pressure_factors(),
            {},      factor};
  }
  detail::StepInjection<T, Dim, Memory> source_injection(
      const wave::SourceTerm<T, Dim, Memory>& forward, std::int64_t time) const {
    return injection(*forward.points, forward.amplitudes, time,
                     wave::kernel::source_factor<T>(m_propagator->grid()));
  }
  // Sums of the products of a source wavefield with residuals at receivers.
  detail::AddPointProduct<T, Dim> at_residuals(const detail::AddScale<T, Dim>& add) const {
    detail::AddPointProduct<T, Dim> at = detail::at_residuals(add);
    at.by_root = m_by_root.data();  // null unless the density is unknown
    at.root_sums = detail::dense(m_density_box);
    return at;
  }
  // Sum for the density of the products of an adjoint field at sources.
  detail::AddPointProduct<T, Dim> at_sources(const Wave& adjoint) const {
    const wave::Layout<Dim>& layout = m_propagator->layout();
    detail::AddPointProduct<T, Dim> add{};
    add.field = adjoint.now[0].data() + layout.offset;
    add.nodes = {whole_box(m_propagator->grid()), layout.strides};
    add.by_root = m_by_root.data();
    add.root_sums = detail::dense(m_density_box);
    add.weight = static_cast<T>(m_product_interval);
    return add;
  }
  void add_anisotropy(const Instance<Memory>& exec, const Wave& adjoint,
                      const wave::SourceTerm<T, Dim, Memory>& forward,
                      const detail::SourceValues<T, Dim>& source, std::int64_t time);
  void put_source(const Instance<Memory>& exec, const detail::SourceValues<T, Dim>& source);
  // Adjoint of p, in the layout of the grid; its values are those of m_box.
  detail::LambdaArrays<T, Dim> lambda() const {
    const wave::Layout<Dim>& layout = m_propagator->layout();
    return {m_lambda.data() + layout.offset,
            m_slope.data() + layout.offset,
            {whole_box(m_propagator->grid()), layout.strides}};
  }
  // First node of the model, or of the own planes of a part of it.
  Index<Dim> model_lower() const { return m_propagator->own(m_propagator->interior()).lower; }
  Field<T, Dim, Memory> folded(const Instance<Memory>& exec, const Grid<Dim>& grid,
                               const Array& sums) const;

  const wave::Propagator<T, Dim, Memory>* m_propagator;
  InvertedParameters m_unknowns;
  std::int64_t m_product_interval, m_outside = 0;
  Box<Dim> m_box;          ///< nodes of the sums
  Box<Dim> m_density_box;  ///< nodes of the sums for the density, which its stencil reads as well
  wave::AdjointFactors<T, Memory> m_factors;
  Array m_change[2];         ///< D nu and the residual
  Wave m_source;             ///< snapshot in padded arrays; only for epsilon and delta
  Array m_source_change[2];  ///< D of m_source
  Array m_injected;          ///< amplitudes injected by the source; for epsilon and delta
  Array m_lambda, m_slope;   ///< adjoint of p, and its time difference
  Array m_by_scale, m_by_a, m_by_r, m_by_potential, m_by_root, m_illumination;
};

template <class T, int Dim, class Memory>
ShotGradients<T, Dim, Memory>::ShotGradients(const InstanceOf<Memory>& exec,
                                             const wave::Propagator<T, Dim, Memory>& propagator,
                                             const InvertedParameters& unknowns,
                                             std::int64_t product_interval, bool layers)
    : m_propagator(&propagator), m_unknowns(unknowns), m_product_interval(product_interval) {
  const Instance<Memory>& instance = exec;
  const auto& scheme = propagator.scheme();
  const wave::Medium medium = propagator.medium();
  if (product_interval < 1)
    throw InputError(
        concat("product_interval is ", product_interval, " (allowed: 1 or more steps)"));
  if (unknowns.density && !wave::info(medium).invertible.has(wave::Parameter::density)) {
    throw InputError(concat("unknowns: the density of a medium '", wave::to_string(medium),
                            "' (allowed: with variable_density): give the model a density"));
  }
  if (unknowns.anisotropy && !wave::info(medium).invertible.has(wave::Parameter::epsilon)) {
    throw InputError(concat("unknowns: epsilon and delta of a medium '", wave::to_string(medium),
                            "' (allowed: with vti and tti): invert for vp there"));
  }
  const wave::Boundaries<Dim>& faces = scheme.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    for (const wave::Face& face : {faces.lower[d], faces.upper[d]}) {
      if (layers && face.kind == wave::FaceKind::cpml) {
        throw InputError(
            "layers: perfectly matched ones have no gradient of their own (allowed: rigid, free, "
            "sponge and random faces): leave the layers out");
      }
    }
  }
  const Box<Dim> all = layers ? whole_box(propagator.grid()) : propagator.interior();
  m_box = m_density_box = propagator.own(all);
  if (propagator.part() && unknowns.density) {
    m_density_box.lower[0] -= propagator.order() / 2;
    m_density_box.upper[0] += propagator.order() / 2;
    m_density_box = intersection(m_density_box, all);
  }
  // reach of the differences of the source wavefield
  const wave::StencilInfo& stencil = wave::info(scheme.stencil());
  if (unknowns.anisotropy) {
    m_outside = stencil.passes * (propagator.order() / 2);
  }
  update(exec);
  const wave::Layout<Dim>& layout = propagator.layout();
  const auto padded = [&](const char* label) {
    return wave::make_storage<T>(instance, layout, label);
  };
  const auto dense = [&](const char* label, const Box<Dim>& box) {
    return allocate<Array>(instance, label, static_cast<std::size_t>(box.size()));
  };
  for (int f = 0; f < scheme.fields(); ++f) m_change[f] = padded("moho::fwi::change");
  if (m_outside > 0) {
    m_source.layout = layout;
    m_source.fields = scheme.fields();
    for (int f = 0; f < m_source.fields; ++f) {
      m_source.now[f] = padded("moho::fwi::source");
      if (f < stencil.work_fields) m_source.axis_derivative[f] = padded("moho::fwi::source");
    }
  }
  m_by_scale = dense("moho::fwi::by_scale", m_box);
  m_illumination = dense("moho::fwi::illumination", m_box);
  if (unknowns.density) {
    m_by_potential = dense("moho::fwi::by_potential", m_density_box);
    m_by_root = dense("moho::fwi::by_root", m_density_box);
  }
  if (unknowns.anisotropy) {
    for (auto& change : m_source_change) change = padded("moho::fwi::source_change");
    m_injected = padded("moho::fwi::injected");
    m_lambda = padded("moho::fwi::lambda");
    m_slope = padded("moho::fwi::lambda");
    m_by_a = dense("moho::fwi::by_a", m_box);
    m_by_r = dense("moho::fwi::by_r", m_box);
  }
  clear(exec);
}

template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::update(const InstanceOf<Memory>& exec) {
  m_factors = wave::adjoint_factors<T, Dim, Memory>(exec, m_propagator->scheme(),
                                                    m_propagator->medium_window());
}

template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::clear(const InstanceOf<Memory>& exec) {
  const Instance<Memory>& instance = exec;
  for (const Array* sums :
       {&m_by_scale, &m_by_a, &m_by_r, &m_by_potential, &m_by_root, &m_illumination}) {
    if (sums->size() > 0) fill(instance, *sums, T(0));
  }
}

template <class T, int Dim, class Memory>
std::size_t ShotGradients<T, Dim, Memory>::bytes() const {
  std::size_t count = 0;
  for (const Array* array : {&m_by_scale,
                             &m_by_a,
                             &m_by_r,
                             &m_by_potential,
                             &m_by_root,
                             &m_illumination,
                             &m_change[0],
                             &m_change[1],
                             &m_source.now[0],
                             &m_source.now[1],
                             &m_source.axis_derivative[0],
                             &m_source.axis_derivative[1],
                             &m_source_change[0],
                             &m_source_change[1],
                             &m_injected,
                             &m_lambda,
                             &m_slope,
                             &m_factors.inject[0],
                             &m_factors.inject[1],
                             &m_factors.record}) {
    count += array->size();
  }
  return count * sizeof(T);
}

// Runs a forward propagation, saves its wavefield in a store, and records it; either may be null.
template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::propagate_source(
    const Instance<Memory>& exec, const wave::SourceTerm<T, Dim, Memory>& source_term,
    Wave& wavefield, snapshot::SnapshotStore<T, Dim, Memory>* store, int number,
    const ShotGradientOptions<T, Dim, Memory>& options, const Box<Dim>& kept,
    const Recording& recording, ShotGradientReport<Dim>& report) const {
  wavefield.clear(exec);
  if (store != nullptr) store->begin(exec, wavefield, 0);
  const auto& propagator = *source_term.propagator;
  wave::RunOptions<T, Dim, Memory> run;
  // a separate source wavefield ends at the last product
  run.last = number == 0 ? options.steps : options.steps / m_product_interval * m_product_interval;
  run.check_every = options.check_every;
  run.present = [&](std::int64_t time) {
    if (recording.receivers == nullptr || time != run.last) return;
    recording.receivers->record(exec, wavefield.now[0], recording.rows, time,
                                propagator.pressure_factors());
  };
  run.stepped = [&](std::int64_t time, const Box<Dim>&) {
    if (recording.receivers == nullptr) return source_term.inject(exec, wavefield, time);
    wave::inject_and_record<T, Dim, Memory>(exec, propagator, wavefield, *source_term.points,
                                            source_term.amplitudes, time, *recording.receivers,
                                            recording.rows, time);
  };
  run.advanced = [&](std::int64_t time, const Box<Dim>& box) {
    if (store == nullptr) return;
    store->on_step(exec, wavefield, box, time);
    if (time % m_product_interval == 0) store->save(exec, wavefield, kept, time);
  };
  if (options.progress) {
    run.progress = [&](const wave::ShotProgress& now) { options.progress(number, now); };
  }
  run.several = save_several(exec, source_term, wavefield, store, kept, recording);
  const auto done = wave::in_propagation(number == 0 ? "forward leg" : "leg of the source", [&] {
    return wave::run_steps<T, Dim, Memory>(exec, propagator, wavefield, run);
  });
  if (store != nullptr) store->end_forward(exec);
  report.points += done.points;
  (number == 0 ? report.forward_seconds : report.backward_seconds) += done.seconds;
}

// Returns the shift of nodes from the grid of the separate source wavefield to that of the
// propagator; zero without one.
template <class T, int Dim, class Memory>
Index<Dim> ShotGradients<T, Dim, Memory>::source_shift(
    const ShotGradientOptions<T, Dim, Memory>& options) const {
  Index<Dim> shift{};
  if (options.source == nullptr) return shift;
  const Box<Dim> own = m_propagator->interior(), other = options.source->propagator->interior();
  for (int d = 0; d < Dim; ++d) {
    shift[d] = own.lower[d] - other.lower[d];
    if (own.extent(d) != other.extent(d)) {
      throw InputError(
          "source: its leg has another model (allowed: the same with other layers): make both "
          "propagators of one model");
    }
  }
  return shift;
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> ShotGradients<T, Dim, Memory>::forward(
    const InstanceOf<Memory>& exec, Wave& wavefield,
    const wave::SourceTerm<T, Dim, Memory>& forward,
    const wave::PointSet<T, Dim, Memory>& receivers, const wave::PointSeries<T, Memory>& modelled,
    snapshot::SnapshotStore<T, Dim, Memory>& store,
    const ShotGradientOptions<T, Dim, Memory>& options) const {
  const Instance<Memory>& instance = exec;
  if (options.steps < m_product_interval) {
    throw InputError(concat("steps is ", options.steps, " (allowed: ", m_product_interval,
                            " or more, the steps from one product to the next)"));
  }
  const Index<Dim> shift = source_shift(options);
  ShotGradientReport<Dim> report;
  // those of other parts of the grid
  if (m_propagator->part() && modelled.size() > 0) fill(instance, modelled, T(0));
  const Recording recording{&receivers, modelled};
  if (options.source == nullptr) {
    propagate_source(instance, forward, wavefield, &store, 0, options, snapshot_box(), recording,
                     report);
    return report;
  }
  propagate_source(instance, forward, wavefield, nullptr, 0, options, {}, recording, report);
  const auto& other = *options.source->propagator;
  Box<Dim> kept = snapshot_box();
  for (int d = 0; d < Dim; ++d) {
    kept.lower[d] -= shift[d];
    kept.upper[d] -= shift[d];
  }
  kept = other.held(intersection(kept, whole_box(other.grid())));
  auto own = other.make_wavefield(exec);
  propagate_source(instance, *options.source, own, &store, 1, options, kept, {}, report);
  return report;
}

template <class T, int Dim, class Memory>
void ShotGradients<T, Dim, Memory>::backward(const InstanceOf<Memory>& exec, Wave& wavefield,
                                             const wave::SourceTerm<T, Dim, Memory>& forward,
                                             const wave::PointSet<T, Dim, Memory>& receivers,
                                             const wave::PointSeries<T, Memory>& derivative,
                                             snapshot::SnapshotStore<T, Dim, Memory>& store,
                                             const ShotGradientOptions<T, Dim, Memory>& options,
                                             ShotGradientReport<Dim>& report) {
  const Instance<Memory>& instance = exec;
  const Index<Dim> shift = source_shift(options);
  wavefield.clear(exec);
  begin_adjoint(instance);
  wave::RunOptions<T, Dim, Memory> back;
  back.first = options.steps + 1;
  back.last = 1;
  back.check_every = options.check_every;
  if (options.progress) {
    back.progress = [&](const wave::ShotProgress& now) { options.progress(2, now); };
  }
  back.present = [&](std::int64_t after) {
    combine(instance, wavefield, forward, receivers, derivative, store, options, shift, after - 1);
  };
  back.stepped = [&](std::int64_t after, const Box<Dim>&) {
    for (int f = 0; f < wavefield.fields; ++f) {
      receivers.inject(instance, wavefield.next[f], wave::PointSeries<const T, Memory>(derivative),
                       after - 1, m_factors.injection(f));
    }
  };
  if (options.extended == nullptr) {
    back.several = combine_several(instance, wavefield, receivers, derivative, store, shift);
  }
  const auto done = wave::in_propagation("backward leg", [&] {
    return wave::run_steps<T, Dim, Memory>(exec, *m_propagator, wavefield, back);
  });
  report.backward_seconds += done.seconds;
  report.snapshots = store.report();
  report.points += done.points + report.snapshots.points;
}

template <class T, int Dim, class Memory>
ShotGradientReport<Dim> ShotGradients<T, Dim, Memory>::add(
    const InstanceOf<Memory>& exec, Wave& wavefield,
    const wave::SourceTerm<T, Dim, Memory>& forward,
    const wave::PointSet<T, Dim, Memory>& receivers, const ShotMisfit<T, Memory>& misfit,
    snapshot::SnapshotStore<T, Dim, Memory>& store,
    const ShotGradientOptions<T, Dim, Memory>& options) {
  const Instance<Memory>& instance = exec;
  if (options.extended != nullptr && !(options.extended->box() == m_box)) {
    throw InputError(concat("extended: its nodes are ", box_string(options.extended->box()),
                            " (allowed: ", box_string(m_box), ", those of the gradient)"));
  }
  const auto rows = static_cast<std::size_t>(options.steps + 1);
  const auto count = static_cast<std::size_t>(receivers.count());
  const auto modelled =
      allocate<wave::PointSeries<T, Memory>>(instance, "moho::fwi::modelled", rows, count);
  ShotGradientReport<Dim> report =
      this->forward(exec, wavefield, forward, receivers, modelled, store, options);
  const auto derivative =
      allocate<wave::PointSeries<T, Memory>>(instance, "moho::fwi::derivative", rows, count);
  report.misfit = misfit(wave::PointSeries<const T, Memory>(modelled), derivative);
  if (!std::isfinite(report.misfit)) {
    throw Error(concat("the misfit is ", report.misfit,
                       " (a wavefield or the data are no numbers): look at the data of the shot"));
  }
  backward(exec, wavefield, forward, receivers, derivative, store, options, report);
  return report;
}

template <class T, int Dim, class Memory>
detail::AddScale<T, Dim> ShotGradients<T, Dim, Memory>::scale_sums(
    const detail::SourceValues<T, Dim>& source) const {
  detail::AddScale<T, Dim> add{};
  add.p = source.fields[0];
  add.q = source.fields[1];
  add.snapshot = source.values;
  add.change_p = m_change[0].data();
  add.change_q = m_change[1].data();
  add.layout = m_propagator->layout();
  add.sums = detail::dense(m_box);
  add.scale = m_by_scale.data();
  add.illumination = m_illumination.data();
  add.weight = static_cast<T>(m_product_interval);
  add.time = static_cast<T>(static_cast<double>(m_product_interval) * m_propagator->dt());
  add.by_potential = m_by_potential.data();  // null unless the density is unknown
  add.potential_sums = detail::dense(m_density_box);
  return add;
}

}  // namespace moho::fwi

#include <moho/fwi/detail/gradient_batch.hpp>
#include <moho/fwi/detail/gradient_derivatives.hpp>
#include <moho/fwi/detail/gradient_products.hpp>

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, ShotGradients)
}  // namespace moho::fwi
#endif
/// \endcond
