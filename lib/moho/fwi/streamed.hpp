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
  const InvertedParameters inverted = inverted_parameters(options.parameters);
  const int work = wave::info(wave::info(medium).self_adjoint).work_fields;
  // what points inject; copies of the source wavefield, its D, lambda and its difference
  const double others = inverted.density ? 1.0 : inverted.anisotropy ? 7.0 + work : 0.0;
  // wavefield, medium, D of the wavefield, factors of the adjoint
  const double adjoint =
      padded(given) * (2.0 * fields + work + medium_arrays + fields + fields + 1.0 + others);
  // the source wavefield, forward and backward
  const double source =
      padded(random_faces(options, given)) * (4.0 * fields + work + medium_arrays);
  const double sums = 2.0 + (inverted.density ? 2.0 : 0.0) + (inverted.anisotropy ? 2.0 : 0.0);
  const double models = nodes * (2.0 * medium_arrays + fields + sums);
  const double search = variables * (2.0 * options.memory_pairs + 8.0);
  const double image = options.lags ? ExtendedImage<T, Dim, Kokkos::HostSpace>::bytes_of(
                                          whole_box(model), *options.lags)
                                    : 0.0;
  return static_cast<double>(sizeof(T)) * (adjoint + source + models + search) +
         sum_bytes(variables, nodes) + image;
}

/// \brief Returns true if gradients stream through a device.
///
/// This requires random boundaries, and either a given block, updates or several devices, or a
/// gradient in core that does not fit the device.
/// \param device instance of the device
/// \param medium medium of the initial model
template <class T, int Dim, class Memory>
bool gradient_streams(const Instance<Memory>& device, const Grid<Dim>& grid, wave::Medium medium,
                      const wave::Boundaries<Dim>& faces, const ObjectiveOptions<Dim>& options) {
  if (options.source_field != SourceField::random) return false;
  if (options.block > 0 || options.updates > 0 || options.devices > 1) return true;
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
  using typename Base::Add, typename Base::Claim, typename Base::Model, typename Base::TakeImage;

  /// \param input arguments with an instance of the host
  /// \param device instance of the device
  StreamedEvaluator(ObjectiveInput<T, Dim, Host> input, const Instance<Memory>& device)
      : Base(std::move(input)), m_device(device) {}

  bool streamed() const override { return true; }
  std::int64_t product_interval() const override { return m_interval; }
  void set_band(double corner) override {
    m_gradients.reset();
    m_corner = corner;
    this->with_memory_advice(
        [&] { m_gradients = make(m_start, this->wavelet_in_band(corner), m_plan); });
    m_interval = this->interval_of(m_plan);
    m_stale = true;
    this->filter_data(corner);
  }
  void plan_memory(ObjectivePlan& plan, SourceField requested) override;
  /// Returns modelled traces of a shot, receivers x (steps + 1).
  std::vector<float> model_shot(const Model& model, const wave::Shot<Dim>& shot) override {
    Gradients& gradients = ready();
    m_stale = true;
    return model_gather(gradients, model, shot, m_plan.source_taper);
  }
  /// Evaluates shots over a model, see ShotEvaluator::evaluate().
  void evaluate(const Model& model, bool changed, const Claim& claim, const Add& add) override;
  /// Computes extended images by a separate stream, see StreamedGradients.
  void extended_images(const Model& model, const Lags& lags, const Claim& claim,
                       const TakeImage& take) override;
  /// Returns the extended image of a model by a separate stream.
  ExtendedResult<T> extended_image(const Model& model, const Lags& lags) override;

 protected:
  /// Models the data of all shots.
  void model_data() override;

 private:
  using Gradients = StreamedGradients<T, Dim, Memory>;

  // Returns the gradients of the current band, made once more after an extended image.
  Gradients& ready() {
    if (m_gradients) return *m_gradients;
    m_gradients = make(m_start, this->wavelet_in_band(m_corner), m_plan);
    m_stale = true;
    return *m_gradients;
  }
  std::unique_ptr<Gradients> make_with(const Lags& lags);
  void plan_lags(ObjectivePlan& plan, double search);
  void add_shot(Gradients& gradients, std::size_t k, const Model& model,
                ShotContribution<T>& contribution);
  // Calls a function and reports overflows at nodes of the model.
  template <class Function>
  auto in_model(const Function& function) const {
    try {
      return function();
    } catch (const wave::NotFinite& failure) {
      throw wave::overflow_error<Dim>(failure, m_grid, m_plan.time.steps, this->overflow_advice());
    }
  }
  Model tapered(const Model& model, const wave::Shot<Dim>& shot, double radius) const {
    Model result = model;
    result.delta = wave::taper_delta<T, Dim, Host>(m_exec, m_grid, model, shot.sources, radius);
    return result;
  }
  std::vector<float> model_gather(Gradients& gradients, const Model& model,
                                  const wave::Shot<Dim>& shot, double taper) const;
  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan,
                                  const std::optional<Lags>& lags = {});

  Instance<Memory> m_device;
  std::unique_ptr<Gradients> m_gradients;  ///< gradients of the current band
  bool m_stale = true;                     ///< true if m_gradients does not have the latest model
  std::optional<stream::StreamRates> m_rates;  ///< measured once
  std::int64_t m_interval = 1;
  double m_corner = 0.0;  ///< of the current band, Hz
};

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::plan_memory(ObjectivePlan& plan, SourceField) {
  plan.stream = stream::describe(m_gradients->plan(), m_gradients->need(), m_gradients->rates());
  plan.stream_plan = m_gradients->plan();
  const int idle = m_options.devices - plan.stream_plan.shape.devices;
  if (idle > 0) {
    plan.stream.push_back(concat(idle, " of ", m_options.devices,
                                 " devices have no work, because a longer chain would wait for the "
                                 "volume (make x the longest side, or take fewer devices)"));
  }
  plan.source_field = SourceField::random;
  plan.source_bytes = 0.0;
  plan.fixed_bytes = static_cast<double>(m_gradients->plan().device_bytes);
  plan.budget = static_cast<double>(memory_budget(m_exec, m_options.memory));
  const double volumes = static_cast<double>(m_gradients->plan().host_bytes);
  const double search = (2.0 * m_options.memory_pairs + 8.0) * plan.variables * sizeof(T) +
                        sum_bytes(plan.variables, static_cast<double>(m_grid.size()));
  if (volumes + search > plan.budget) {
    const ArgumentNames& names = m_options.names;
    throw InputError(concat(names("source_field random"), ": on the host its volumes take ",
                            format_bytes(volumes), " and the search ", format_bytes(search),
                            " (allowed: ", format_bytes(plan.budget), " in all): take fewer ",
                            names("memory_pairs"), ", a coarser grid, or more memory (",
                            names("memory"), ")"));
  }
  plan.seconds = m_gradients->seconds() * static_cast<double>(m_input.data.shots.size());
  plan_lags(plan, search);
}

// Returns gradients with an extended image.
template <class T, int Dim, class Memory>
std::unique_ptr<StreamedGradients<T, Dim, Memory>> StreamedEvaluator<T, Dim, Memory>::make_with(
    const Lags& lags) {
  std::unique_ptr<Gradients> result;
  wave::ModellingPlan<Dim> ignored;
  try {
    this->with_memory_advice(
        [&] { result = make(m_start, this->wavelet_in_band(m_corner), ignored, lags); });
  } catch (const MemoryError& error) {
    throw MemoryError(concat(error.what(), ", or fewer ", m_options.names("lags")));
  }
  return result;
}

// Plans the extended image, whose volumes replace those of the gradient.
template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::plan_lags(ObjectivePlan& plan, double search) {
  if (!m_options.lags) return;
  this->check_lags();
  const auto gradients = make_with(*m_options.lags);
  plan.lags_stream = stream::describe(gradients->plan(), gradients->need(), gradients->rates());
  plan.lags_stream_plan = gradients->plan();
  plan.lags_bytes = static_cast<double>(sizeof(T)) * static_cast<double>(m_grid.size()) *
                    static_cast<double>(m_options.lags->count());
  plan.lags_sum_bytes = this->lags_sum_bytes();
  const auto volumes = static_cast<double>(gradients->plan().host_bytes);
  // the result is a copy of the image
  const double images = plan.lags_sum_bytes > 0.0 ? plan.lags_sum_bytes + volumes
                                                  : std::max(volumes, 2.0 * plan.lags_bytes);
  if (search + images > plan.budget) this->refuse_lags_on_host(search + images, plan.budget);
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::extended_images(const Model& model, const Lags& lags,
                                                        const Claim& claim, const TakeImage& take) {
  m_gradients.reset();  // frees the volumes
  const std::unique_ptr<Gradients> gradients = make_with(lags);
  if (!(m_plan.source_taper > 0.0)) gradients->update(model);
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    gradients->clear();
    add_shot(*gradients, k, model, contribution);
  };
  this->each_shot(claim, compute, [&](std::size_t, const ShotContribution<T>& contribution) {
    take(contribution, gradients->extended_image().values().data());
  });
}

template <class T, int Dim, class Memory>
ExtendedResult<T> StreamedEvaluator<T, Dim, Memory>::extended_image(const Model& model,
                                                                    const Lags& lags) {
  m_gradients.reset();  // frees the volumes
  std::unique_ptr<Gradients> gradients = make_with(lags);
  if (!(m_plan.source_taper > 0.0)) gradients->update(model);
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    add_shot(*gradients, k, model, contribution);
  };
  this->each_shot({}, compute, [](std::size_t, const ShotContribution<T>&) {});
  const auto image = gradients->extended_image();
  gradients.reset();  // except the image
  return this->result_of(m_exec, image);
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::model_data() {
  // frees the volumes of the band
  m_gradients.reset();
  wave::ModellingPlan<Dim> plan;  // with all frequencies, whose taper around sources is narrower
  const std::unique_ptr<Gradients> modelling = make(this->model_of_faces(), m_input.wavelet, plan);
  m_data.model(m_input.data.shots, m_plan, [&](const wave::Shot<Dim>& shot) {
    return model_gather(*modelling, m_input.data.model, shot, plan.source_taper);
  });
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::evaluate(const Model& model, bool changed,
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
template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::add_shot(Gradients& gradients, std::size_t k,
                                                 const Model& model,
                                                 ShotContribution<T>& contribution) {
  const wave::Shot<Dim>& shot = m_data.shots()[k];
  StreamedShotOptions options;
  options.prefix = concat("shot ", shot.number, ": ");
  if (m_options.progress) {
    options.progress = [&](int propagation, const wave::ShotProgress& now) {
      this->report_progress(k, propagation, now);
    };
  }
  if (m_plan.source_taper > 0.0) {
    gradients.update(tapered(model, shot, m_plan.source_taper));
  }
  this->with_memory_advice([&] {
    const auto done = in_model([&] {
      return gradients.add(shot, this->random_of(shot), this->misfit_of(m_device, k), options);
    });
    contribution.misfit = done.misfit;
    contribution.points = done.points;
    contribution.forward_seconds = done.forward_seconds;
    contribution.backward_seconds = done.backward_seconds;
  });
}

template <class T, int Dim, class Memory>
std::vector<float> StreamedEvaluator<T, Dim, Memory>::model_gather(Gradients& gradients,
                                                                   const Model& model,
                                                                   const wave::Shot<Dim>& shot,
                                                                   double taper) const {
  gradients.update(taper > 0.0 ? tapered(model, shot, taper) : model);
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
    const Model& model, const wave::WaveletAt& wavelet, wave::ModellingPlan<Dim>& plan,
    const std::optional<Lags>& lags) {
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
  o.lags = lags;
  o.wishes.device_memory = m_options.device_memory;
  o.wishes.block = m_options.block;
  o.wishes.updates = m_options.updates;
  o.wishes.devices = m_options.devices;
  o.memory = m_options.memory;
  o.measure = !m_rates;
  if (m_rates) o.rates = *m_rates;
  auto result = std::make_unique<Gradients>(m_device, m_grid, stepped, m_input.data.shots, o);
  m_rates = result->rates();
  return result;
}

}  // namespace moho::fwi
