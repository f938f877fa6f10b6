// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots on devices, with models, vectors and sums on the host (internal).

#include <moho/fwi/shot_evaluator.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// \brief Evaluator with gradients that take models of the host.
///
/// Gradients have update(), clear(), model(), derivatives() and illumination(); see
/// StreamedGradients and SlabGradients.
template <class T, int Dim, class Memory, class Gradients>
class HostEvaluator : public ShotEvaluator<T, Dim, Kokkos::HostSpace> {
 protected:
  using Host = Kokkos::HostSpace;            ///< memory of models and vectors
  using Base = ShotEvaluator<T, Dim, Host>;  ///< base of the evaluator
  using Base::m_exec, Base::m_grid, Base::m_options, Base::m_inverted, Base::m_start, Base::m_plan,
      Base::m_input, Base::m_data;

 public:
  using typename Base::Add, typename Base::Claim, typename Base::Model, typename Base::TakeImage;

  /// \param input arguments with an instance of the host
  /// \param device instance of the device
  HostEvaluator(ObjectiveInput<T, Dim, Host> input, const Instance<Memory>& device)
      : Base(std::move(input)), m_device(device) {}

  /// \see ShotEvaluator::product_interval()
  std::int64_t product_interval() const override { return m_interval; }
  /// \see ShotEvaluator::set_band()
  void set_band(double corner) override {
    m_gradients.reset();
    m_corner = corner;
    this->with_memory_advice([&] { m_gradients = make_in_band(m_plan); });
    m_interval = this->interval_of(m_plan);
    m_stale = true;
    this->filter_data(corner);
  }
  /// Returns modelled traces of a shot, receivers x (steps + 1).
  std::vector<float> model_shot(const Model& model, const wave::Shot<Dim>& shot) override {
    Gradients& gradients = ready();
    m_stale = true;
    return model_gather(gradients, model, shot, m_plan.source_taper);
  }
  /// Evaluates shots over a model, see ShotEvaluator::evaluate().
  void evaluate(const Model& model, bool changed, const Claim& claim, const Add& add) override;

 protected:
  /// Makes gradients for a model. \param plan written
  virtual std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                          wave::ModellingPlan<Dim>& plan) = 0;
  /// Adds a shot to gradients, which have its model.
  virtual ShotGradientReport<Dim> add_to(
      Gradients& gradients, std::size_t k, const std::string& prefix,
      const std::function<void(int, const wave::ShotProgress&)>& progress) = 0;
  /// Returns traces of a shot over the model of gradients, (steps + 1) x receivers.
  virtual wave::Traces<T> traces_of(Gradients& gradients, const wave::Shot<Dim>& shot) = 0;
  /// Returns the delta of a model, tapered around points.
  virtual Field<T, Dim, Kokkos::HostSpace> tapered_delta(
      const wave::Model<T, Dim, Kokkos::HostSpace>& model, const Points<Dim>& points,
      double radius) const {
    return wave::taper_delta<T, Dim, Host>(m_exec, m_grid, model, points, radius);
  }
  /// Models the data of all shots.
  void model_data() override;

  /// Plans a band, and sets the options that gradients have in common.
  template <class Options>
  wave::Model<T, Dim, Kokkos::HostSpace> plan_into(
      const wave::Model<T, Dim, Kokkos::HostSpace>& model, const wave::WaveletAt& wavelet,
      wave::ModellingPlan<Dim>& plan, Options& options) const;
  /// Makes gradients of the initial model in the current band. \param plan written
  std::unique_ptr<Gradients> make_in_band(wave::ModellingPlan<Dim>& plan) {
    return make(m_start, this->wavelet_in_band(m_corner), plan);
  }
  /// Returns the gradients of the current band, made once more after an extended image.
  Gradients& ready() {
    if (m_gradients) return *m_gradients;
    m_gradients = make_in_band(m_plan);
    m_stale = true;
    return *m_gradients;
  }
  /// Throws InputError if volumes, search and data exceed the memory of the host.
  void check_host(const ObjectivePlan& plan, double volumes, double search) const;
  /// Returns the bytes of the search on the host.
  double search_bytes() const {
    const auto nodes = static_cast<double>(m_grid.size());
    const double variables = static_cast<double>(m_options.parameters.size()) * nodes;
    return (2.0 * m_options.memory_pairs + 8.0) * variables * sizeof(T) +
           sum_bytes(variables, nodes);
  }
  /// \brief Adds shot `k` to gradients.
  /// \param gradients have the model, unless delta is tapered around the sources of each shot
  /// \param k position of the shot
  /// \param model without the taper
  /// \param contribution receives misfit, nodes and seconds
  void add_shot(Gradients& gradients, std::size_t k, const Model& model,
                ShotContribution<T>& contribution);
  /// Returns a model whose delta is tapered around the sources of a shot. \param radius m
  Model tapered(const Model& model, const wave::Shot<Dim>& shot, double radius) const {
    Model result = model;
    result.delta = tapered_delta(model, shot.sources, radius);
    return result;
  }
  /// Returns traces of a shot over a model, receivers x (steps + 1). \param taper m; 0: none
  std::vector<float> model_gather(Gradients& gradients, const Model& model,
                                  const wave::Shot<Dim>& shot, double taper);

  Instance<Memory> m_device;               ///< of the first device
  std::unique_ptr<Gradients> m_gradients;  ///< gradients of the current band
  bool m_stale = true;                     ///< true if m_gradients does not have the latest model
  std::int64_t m_interval = 1;             ///< steps between products
  double m_corner = 0.0;                   ///< of the current band, Hz
};

template <class T, int Dim, class Memory, class Gradients>
template <class Options>
wave::Model<T, Dim, Kokkos::HostSpace> HostEvaluator<T, Dim, Memory, Gradients>::plan_into(
    const wave::Model<T, Dim, Kokkos::HostSpace>& model, const wave::WaveletAt& wavelet,
    wave::ModellingPlan<Dim>& plan, Options& o) const {
  const wave::ModellingOptions<Dim> modelling = this->options_for(model, wavelet);
  plan =
      wave::plan_modelling<T, Dim, Host>(m_exec, m_grid, model, m_input.faces, wavelet, modelling);
  o.propagator.dt = plan.time.dt;
  o.propagator.order = modelling.order;
  o.propagator.boundaries = m_input.faces;
  o.propagator.frequency = plan.frequency;
  o.propagator.equations = modelling.equations;
  o.propagator.sigma = modelling.sigma;
  o.random = plan.random;
  o.wavelet = plan.wavelet;
  o.steps = plan.time.steps;
  o.product_interval = this->interval_of(plan);
  // data of another medium than that of the search are modelled without products
  if (plan.medium == m_start.medium()) o.unknowns = m_inverted;
  Model stepped = model;
  if (plan.source_taper > 0.0) {
    stepped.delta = tapered_delta(model, modelling.sources, plan.source_taper);
  }
  return stepped;
}

template <class T, int Dim, class Memory, class Gradients>
void HostEvaluator<T, Dim, Memory, Gradients>::check_host(const ObjectivePlan& plan, double volumes,
                                                          double search) const {
  if (volumes + search + plan.data_bytes <= plan.budget) return;
  const ArgumentNames& names = m_options.names;
  throw InputError(concat(
      volumes > 0.0 ? concat(names("source_field random"), ": on the host its volumes",
                             is_host_memory<Memory> ? " and rings of planes" : "", " take ",
                             format_bytes(volumes), " and the search ")
                    : concat(names("devices"), " is ", m_options.devices_text(),
                             ": on the host the search takes "),
      format_bytes(search), " and the data ", format_bytes(plan.data_bytes),
      " (allowed: ", m_options.limit_text(plan.budget), "): take fewer ", names("memory_pairs"),
      ", fewer receivers, a coarser grid, or more memory (", names("memory"), ")"));
}

template <class T, int Dim, class Memory, class Gradients>
void HostEvaluator<T, Dim, Memory, Gradients>::model_data() {
  // frees the volumes of the band
  m_gradients.reset();
  wave::ModellingPlan<Dim> plan;  // with all frequencies, whose taper around sources is narrower
  std::unique_ptr<Gradients> modelling;
  this->with_memory_advice(
      [&] { modelling = make(this->model_of_faces(), m_input.wavelet, plan); });
  m_data.model(m_input.data.shots, m_plan, [&](const wave::Shot<Dim>& shot) {
    return model_gather(*modelling, m_input.data.model, shot, plan.source_taper);
  });
}

template <class T, int Dim, class Memory, class Gradients>
void HostEvaluator<T, Dim, Memory, Gradients>::evaluate(const Model& model, bool changed,
                                                        const Claim& claim, const Add& add) {
  const bool taper = m_plan.source_taper > 0.0;
  Gradients& gradients = ready();
  if (!taper && (changed || m_stale)) {
    gradients.update(model);
    m_stale = false;
  }
  Field<T, Dim, Host> kept;
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    gradients.clear();
    add_shot(gradients, k, model, contribution);
    if (!taper) return;
    // kept fraction of delta - epsilon: delta tapered from 1 towards 0
    Model one;
    one.delta = make_field<T>(m_exec, m_grid, "delta");
    fill(m_exec, one.delta, T(1));
    kept = tapered(one, m_data.shots()[k], m_plan.source_taper).delta;
  };
  this->each_shot(claim, compute, [&](std::size_t k, const ShotContribution<T>& contribution) {
    add(k, contribution, gradients.derivatives(model, kept), gradients.illumination());
    m_exec.fence();
  });
}

// Adds a shot to gradients, whose model is `model` unless it is tapered around each source.
template <class T, int Dim, class Memory, class Gradients>
void HostEvaluator<T, Dim, Memory, Gradients>::add_shot(Gradients& gradients, std::size_t k,
                                                        const Model& model,
                                                        ShotContribution<T>& contribution) {
  const wave::Shot<Dim>& shot = m_data.shots()[k];
  std::function<void(int, const wave::ShotProgress&)> progress;
  if (m_options.progress) {
    progress = [&](int propagation, const wave::ShotProgress& now) {
      this->report_progress(k, propagation, now);
    };
  }
  if (m_plan.source_taper > 0.0) {
    gradients.update(tapered(model, shot, m_plan.source_taper));
  }
  this->with_memory_advice([&] {
    const auto done = add_to(gradients, k, concat("shot ", shot.number, ": "), progress);
    contribution.misfit = done.misfit;
    contribution.points = done.points;
    contribution.forward_seconds = done.forward_seconds;
    contribution.backward_seconds = done.backward_seconds;
  });
}

template <class T, int Dim, class Memory, class Gradients>
std::vector<float> HostEvaluator<T, Dim, Memory, Gradients>::model_gather(
    Gradients& gradients, const Model& model, const wave::Shot<Dim>& shot, double taper) {
  gradients.update(taper > 0.0 ? tapered(model, shot, taper) : model);
  const wave::Traces<T> rows = traces_of(gradients, shot);
  std::vector<float> traces;
  traces.reserve(rows.size());
  for (std::size_t r = 0; r < rows.extent(1); ++r) {
    for (std::size_t n = 0; n < rows.extent(0); ++n) {
      traces.push_back(static_cast<float>(rows(n, r)));
    }
  }
  return traces;
}

}  // namespace moho::fwi
