// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots whose wavefields stream through a device.
///
/// Models, vectors and sums are on the host.

#include <moho/fwi/shot_evaluator.hpp>
#include <moho/fwi/stream_gradient.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Returns the memory of a gradient in core with random boundaries, bytes.
/// \param medium medium of the initial model
/// \param given faces of the model
template <class T, int Dim>
double random_in_core_bytes(const Grid<Dim>& model, wave::Medium medium,
                            const wave::Boundaries<Dim>& given,
                            const ObjectiveOptions<Dim>& options) {
  const int fields = wave::fields_of(medium);
  const int medium_arrays = wave::coefficients_of(wave::info(medium).self_adjoint, Dim).size();
  const auto padded = [&](const wave::Boundaries<Dim>& faces) {
    const Grid<Dim> grid = wave::extended_grid(model, faces);
    return static_cast<double>(wave::make_layout<T>(grid, options.modelling.order / 2).size);
  };
  const auto nodes = static_cast<double>(model.size());
  const std::size_t parameters = options.parameters.size();
  const auto variables = static_cast<double>(parameters) * nodes;
  const bool density =
      parameters > 1 && wave::info(medium).invertible.has(wave::Parameter::density);
  // wavefield, medium, D of the wavefield, factors of the adjoint
  const double adjoint =
      padded(given) * (2.0 * fields + medium_arrays + fields + fields + 1.0 + (density ? 1 : 0));
  // the source wavefield, forward and backward
  const double source = padded(random_faces(options, given)) * (4.0 * fields + medium_arrays);
  const double models = nodes * (2.0 * medium_arrays + fields + (density ? 3.0 : 2.0));
  const double search = variables * (2.0 * options.memory_pairs + 8.0);
  return static_cast<double>(sizeof(T)) * (adjoint + source + models + search) + 8.0 * variables;
}

/// \brief Returns true if gradients stream through a device.
///
/// This requires random boundaries, and either a given block or updates, or a gradient in core that
/// does not fit the device.
/// \param device instance of the device
/// \param medium medium of the initial model
template <class T, int Dim, class Memory>
bool gradient_streams(const Instance<Memory>& device, const Grid<Dim>& grid, wave::Medium medium,
                      const wave::Boundaries<Dim>& faces, const ObjectiveOptions<Dim>& options) {
  if (options.source_field != SourceField::random) return false;
  if (options.block > 0 || options.updates > 0) return true;
  if (!can_stream(options, medium)) return false;
  if (is_host_memory<Memory> && options.device_memory == 0) return false;
  const double budget = is_host_memory<Memory>
                            ? static_cast<double>(options.device_memory)
                            : static_cast<double>(memory_budget(device, options.device_memory));
  return random_in_core_bytes<T>(grid, medium, faces, options) > budget;
}

/// Evaluator of shots with random boundaries in a stream.
template <class T, int Dim, class Memory>
class StreamedEvaluator : public ShotEvaluator<T, Dim, Kokkos::HostSpace> {
  using Host = Kokkos::HostSpace;
  using Base = ShotEvaluator<T, Dim, Host>;
  using Base::m_exec, Base::m_grid, Base::m_options, Base::m_inverted, Base::m_start, Base::m_plan,
      Base::m_input, Base::m_data;

 public:
  using typename Base::Add, typename Base::Claim, typename Base::Model;

  /// \param input arguments with an instance of the host
  /// \param device instance of the device
  StreamedEvaluator(ObjectiveInput<T, Dim, Host> input, const Instance<Memory>& device)
      : Base(std::move(input)), m_device(device) {}

  bool streamed() const override { return true; }
  std::int64_t product_interval() const override { return m_interval; }
  void set_band(double corner) override {
    m_gradients.reset();
    this->with_memory_advice(
        [&] { m_gradients = make(m_start, this->wavelet_in_band(corner), m_plan); });
    m_interval = this->interval_of(m_plan);
    m_stale = true;
    this->filter_data(corner);
  }
  void plan_memory(ObjectivePlan& plan, SourceField requested) override;
  /// Returns modelled traces of a shot, receivers x (steps + 1).
  std::vector<float> model_shot(const Model& model, const wave::Shot<Dim>& shot) override {
    m_stale = true;
    return model_gather(*m_gradients, model, shot);
  }
  /// Evaluates shots over a model, see ShotEvaluator::evaluate().
  void evaluate(const Model& model, bool changed, const Claim& claim, const Add& add) override;
  /// Not available in a stream. \throws InputError always
  ExtendedResult<T> extended_image(const Model&, const Lags&) override { refuse_lags(); }

 protected:
  /// Models the data of all shots.
  void model_data() override;

 private:
  using Gradients = StreamedGradients<T, Dim, Memory>;

  [[noreturn]] void refuse_lags() const {
    const ArgumentNames& names = m_options.names;
    throw InputError(concat(names("lags"),
                            ": the gradient streams, and extended images do not (allowed: a "
                            "gradient in core): leave ",
                            names("lags"), ", ", names("block"), " and ", names("updates"),
                            " out, or give more ", names("device_memory")));
  }
  // Calls a function and reports overflows at nodes of the model.
  template <class Function>
  auto in_model(const Function& function) const {
    try {
      return function();
    } catch (const wave::NotFinite& failure) {
      throw wave::overflow_error<Dim>(failure, m_grid, m_plan.time.steps, this->overflow_advice());
    }
  }
  Model tapered(const Model& model, const wave::Shot<Dim>& shot) const {
    Model result = model;
    result.delta =
        wave::taper_delta<T, Dim, Host>(m_exec, m_grid, model, shot.sources, m_plan.source_taper);
    return result;
  }
  std::vector<float> model_gather(Gradients& gradients, const Model& model,
                                  const wave::Shot<Dim>& shot) const;
  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan);

  Instance<Memory> m_device;
  std::unique_ptr<Gradients> m_gradients;  ///< gradients of the current band
  bool m_stale = true;                     ///< true if m_gradients does not have the latest model
  std::optional<stream::StreamRates> m_rates;  ///< measured once
  std::int64_t m_interval = 1;
};

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::plan_memory(ObjectivePlan& plan, SourceField) {
  if (m_options.lags) refuse_lags();
  plan.stream = stream::describe(m_gradients->plan(), m_gradients->need(), m_gradients->rates());
  plan.stream_plan = m_gradients->plan();
  plan.source_field = SourceField::random;
  plan.source_bytes = 0.0;
  plan.fixed_bytes = static_cast<double>(m_gradients->plan().device_bytes);
  plan.budget = static_cast<double>(memory_budget(m_exec, m_options.memory));
  const double volumes = static_cast<double>(m_gradients->plan().host_bytes);
  const double search =
      (2.0 * m_options.memory_pairs + 8.0) * plan.variables * sizeof(T) + 8.0 * plan.variables;
  if (volumes + search > plan.budget) {
    const ArgumentNames& names = m_options.names;
    throw InputError(concat(names("source_field random"), ": on the host its volumes take ",
                            format_bytes(volumes), " and the search ", format_bytes(search),
                            " (allowed: ", format_bytes(plan.budget), " in all): take fewer ",
                            names("memory_pairs"), ", a coarser grid, or more memory (",
                            names("memory"), ")"));
  }
  plan.seconds = m_gradients->seconds() * static_cast<double>(m_input.data.shots.size());
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::model_data() {
  // frees the volumes of the band
  m_gradients.reset();
  wave::ModellingPlan<Dim> ignored;
  const std::unique_ptr<Gradients> modelling =
      make(this->model_of_faces(), m_input.wavelet, ignored);
  m_data.model(m_input.data.shots, m_plan, [&](const wave::Shot<Dim>& shot) {
    return model_gather(*modelling, m_input.data.model, shot);
  });
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::evaluate(const Model& model, bool changed,
                                                 const Claim& claim, const Add& add) {
  const bool taper = m_plan.source_taper > 0.0;
  if (!taper && (changed || m_stale)) {
    m_gradients->update(model);
    m_stale = false;
  }
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    const wave::Shot<Dim>& shot = m_data.shots()[k];
    if (taper) m_gradients->update(tapered(model, shot));
    m_gradients->clear();
    StreamedShotOptions options;
    options.prefix = concat("shot ", shot.number, ": ");
    if (m_options.progress) {
      options.progress = [&](int propagation, const wave::ShotProgress& now) {
        this->report_progress(k, propagation, now);
      };
    }
    this->with_memory_advice([&] {
      const auto done = in_model([&] {
        return m_gradients->add(shot, this->random_of(shot), this->misfit_of(m_device, k), options);
      });
      contribution.misfit = done.misfit;
      contribution.points = done.points;
      contribution.forward_seconds = done.forward_seconds;
      contribution.backward_seconds = done.backward_seconds;
    });
  };
  this->each_shot(claim, compute, [&](std::size_t k, const ShotContribution<T>& contribution) {
    add(k, contribution, m_gradients->derivatives(), m_gradients->illumination());
    m_exec.fence();
  });
}

template <class T, int Dim, class Memory>
std::vector<float> StreamedEvaluator<T, Dim, Memory>::model_gather(
    Gradients& gradients, const Model& model, const wave::Shot<Dim>& shot) const {
  gradients.update(m_plan.source_taper > 0.0 ? tapered(model, shot) : model);
  const wave::Traces<T> rows = in_model([&] { return gradients.model(shot); });
  std::vector<float> traces;
  for (std::size_t r = 0; r < rows.extent(1); ++r) {
    for (std::size_t n = 0; n < rows.extent(0); ++n) {
      traces.push_back(static_cast<float>(rows(n, r)));
    }
  }
  return traces;
}

template <class T, int Dim, class Memory>
std::unique_ptr<StreamedGradients<T, Dim, Memory>> StreamedEvaluator<T, Dim, Memory>::make(
    const Model& model, const wave::WaveletAt& wavelet, wave::ModellingPlan<Dim>& plan) {
  const wave::ModellingOptions<Dim> modelling = this->options_for(model, wavelet);
  plan =
      wave::plan_modelling<T, Dim, Host>(m_exec, m_grid, model, m_input.faces, wavelet, modelling);
  Model stepped = model;
  if (plan.source_taper > 0.0) {
    stepped.delta = wave::taper_delta<T, Dim, Host>(m_exec, m_grid, model, modelling.sources,
                                                    plan.source_taper);
  }
  StreamedGradientOptions<Dim> o;
  o.propagator.dt = plan.time.dt;
  o.propagator.order = modelling.order;
  o.propagator.boundaries = m_input.faces;
  o.propagator.frequency = plan.frequency;
  o.propagator.equations = modelling.equations;
  o.propagator.sigma = modelling.sigma;
  o.random = plan.random;
  o.source_faces = random_faces(m_options, m_input.faces);
  o.wavelet = plan.wavelet;
  o.steps = plan.time.steps;
  o.product_interval = this->interval_of(plan);
  o.unknowns = m_inverted;
  o.wishes.device_memory = m_options.device_memory;
  o.wishes.block = m_options.block;
  o.wishes.updates = m_options.updates;
  o.memory = m_options.memory;
  o.measure = !m_rates;
  if (m_rates) o.rates = *m_rates;
  auto result = std::make_unique<Gradients>(m_device, m_grid, stepped, m_input.data.shots, o);
  m_rates = result->rates();
  return result;
}

}  // namespace moho::fwi
