// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluation of shots whose wavefields stream through a device.
///
/// Models, vectors and sums are on the host.

#include <moho/fwi/detail/host_evaluator.hpp>
#include <moho/fwi/stream_gradient.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Returns the memory of a gradient in core with random boundaries, without data and traces, bytes.
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
  const double others = inverted.anisotropy ? 7.0 + work : 0.0;
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

/// \brief Returns true if several devices or ranks hold slabs of the grid of a gradient.
///
/// With source_field random and a block or updates they form a chain instead.
/// \throws InputError for options that are for one device, or for a chain of them
template <int Dim>
bool gradient_in_slabs(const ObjectiveOptions<Dim>& options) {
  const ArgumentNames& names = options.names;
  if (options.devices == 1 && options.ranks == nullptr) return false;
  if (options.source_field == SourceField::random && (options.block > 0 || options.updates > 0)) {
    const std::string chain = names(options.block > 0 ? "block" : "updates");
    if (options.ranks != nullptr) {
      throw InputError(concat(names("devices"), " is ", options.ranks->size(), " (allowed with ",
                              chain, ": 1): gradients of one process stream"));
    }
    if (options.devices > 0) return false;
    throw InputError(concat(names("devices"), " is ", stream::device_count_text(0),
                            " (allowed with ", chain,
                            ": 1 or more, those of a chain): the fewest are found for slabs"));
  }
  if (options.concurrent_shots > 1) {
    throw InputError(concat(names("(concurrent_shots)"), " is ", options.concurrent_shots,
                            " (allowed with ", names("devices"), " ", options.devices_text(),
                            ": 1): the devices compute one shot at a time"));
  }
  return true;
}

/// \brief Returns true if gradients may stream without a request: with random boundaries, one
/// process and device, and one shot at a time, where the memory of the device is limited.
template <class Memory, int Dim>
bool gradient_may_stream(const ObjectiveOptions<Dim>& options) {
  return options.source_field == SourceField::random && options.devices == 1 &&
         options.ranks == nullptr && options.concurrent_shots <= 1 &&
         !(is_host_memory<Memory> && options.device_memory == 0);
}

/// \brief Returns true if gradients stream through a device.
///
/// This requires random boundaries, and either a given block, updates or several devices, or a
/// gradient in core that does not fit the device even without data and traces. A gradient that does
/// not fit because of these is a CoreDoesNotFit of make_objective(); see gradient_may_stream().
/// \param device instance of the device
/// \param medium medium of the initial model
/// \throws InputError for several concurrent shots of a gradient that streams
template <class T, int Dim, class Memory>
bool gradient_streams(const Instance<Memory>& device, const Grid<Dim>& grid, wave::Medium medium,
                      const wave::Boundaries<Dim>& faces, const ObjectiveOptions<Dim>& options) {
  if (options.source_field != SourceField::random) return false;
  if (options.block == 0 && options.updates == 0 && options.devices <= 1) {
    if (is_host_memory<Memory> && options.device_memory == 0) return false;
    const double budget = is_host_memory<Memory>
                              ? static_cast<double>(options.device_memory)
                              : static_cast<double>(memory_budget(device, options.device_memory));
    if (random_in_core_bytes<T>(grid, medium, faces, options) <= budget) return false;
  }
  if (options.concurrent_shots > 1) {
    throw InputError(concat(options.names("(concurrent_shots)"), " is ", options.concurrent_shots,
                            " (allowed with a gradient that streams: 1): shots are computed one "
                            "after the other"));
  }
  return true;
}

/// Returns true if the models and vectors of an objective are on the host: of
/// make_streamed_objective(). \param device,grid,medium,faces,options as of gradient_streams()
template <class T, int Dim, class Memory>
bool gradient_on_host(const Instance<Memory>& device, const Grid<Dim>& grid, wave::Medium medium,
                      const wave::Boundaries<Dim>& faces, const ObjectiveOptions<Dim>& options) {
  return gradient_in_slabs(options) || gradient_streams<T>(device, grid, medium, faces, options);
}

/// Evaluator of shots with random boundaries in a stream.
template <class T, int Dim, class Memory>
class StreamedEvaluator : public HostEvaluator<T, Dim, Memory, StreamedGradients<T, Dim, Memory>> {
  using Gradients = StreamedGradients<T, Dim, Memory>;
  using Base = HostEvaluator<T, Dim, Memory, Gradients>;
  using Base::m_exec, Base::m_grid, Base::m_options, Base::m_plan, Base::m_input, Base::m_device,
      Base::m_start, Base::m_corner, Base::m_gradients;

 public:
  using Base::Base;
  using typename Base::Claim, typename Base::Model, typename Base::TakeImage;

  bool streamed() const override { return true; }
  void plan_memory(ObjectivePlan& plan, SourceField requested) override;
  /// Computes extended images by a separate stream, see StreamedGradients.
  void extended_images(const Model& model, const Lags& lags, const Claim& claim,
                       const TakeImage& take) override;
  /// Returns the extended image of a model by a separate stream.
  ExtendedResult<T> extended_image(const Model& model, const Lags& lags) override;

 protected:
  /// \see HostEvaluator::make()
  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan) override {
    return make(model, wavelet, plan, {});
  }
  /// \see HostEvaluator::add_to()
  ShotGradientReport<Dim> add_to(
      Gradients& gradients, std::size_t k, const std::string& prefix,
      const std::function<void(int, const wave::ShotProgress&)>& progress) override {
    StreamedShotOptions options;
    options.prefix = prefix;
    options.progress = progress;
    const wave::Shot<Dim>& shot = this->m_data.shots()[k];
    return in_model([&] {
      return gradients.add(shot, this->random_of(shot), this->misfit_of(m_device, k), options);
    });
  }
  /// \see HostEvaluator::traces_of()
  wave::Traces<T> traces_of(Gradients& gradients, const wave::Shot<Dim>& shot) override {
    return in_model([&] { return gradients.model(shot); });
  }

 private:
  // Calls a function and reports overflows at nodes of the model.
  template <class Function>
  auto in_model(const Function& function) const {
    try {
      return function();
    } catch (const wave::NotFinite& failure) {
      throw wave::overflow_error<Dim>(failure, m_grid, m_plan.time.steps, this->overflow_advice());
    }
  }
  std::unique_ptr<Gradients> make_with(const Lags& lags);
  void plan_lags(ObjectivePlan& plan, double search);
  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan, const std::optional<Lags>& lags);

  std::optional<stream::StreamRates> m_rates;  ///< measured once
};

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::plan_memory(ObjectivePlan& plan, SourceField) {
  plan.stream = stream::describe(m_gradients->plan(), m_gradients->need(), m_gradients->rates(),
                                 m_gradients->seconds());
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
  plan.budget = static_cast<double>(memory_budget(m_exec, m_options.rest_of_memory()));
  // with the traces of a shot
  const double search = this->search_bytes() + this->series_bytes() + this->misfit_bytes();
  const auto volumes = static_cast<double>(m_gradients->plan().host_bytes);
  // rings of hosts are in the same memory
  const int rings = is_host_memory<Memory> ? plan.stream_plan.shape.devices : 0;
  this->check_host(plan, volumes + rings * plan.fixed_bytes, search);
  plan.host_bytes = search + volumes;
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
  plan.lags_stream = stream::describe(gradients->plan(), gradients->need(), gradients->rates(),
                                      gradients->seconds());
  plan.lags_stream_plan = gradients->plan();
  plan.lags_bytes = static_cast<double>(sizeof(T)) * static_cast<double>(m_grid.size()) *
                    static_cast<double>(m_options.lags->count());
  plan.lags_sum_bytes = this->lags_sum_bytes();
  const auto volumes = static_cast<double>(gradients->plan().host_bytes);
  // the result is a copy of the image
  const double images = plan.lags_sum_bytes > 0.0 ? plan.lags_sum_bytes + volumes
                                                  : std::max(volumes, 2.0 * plan.lags_bytes);
  plan.host_bytes = std::max(plan.host_bytes, search + images);
  const double all = plan.data_bytes + search + images;
  if (all > plan.budget) this->refuse_lags_on_host(all, plan.budget);
}

template <class T, int Dim, class Memory>
void StreamedEvaluator<T, Dim, Memory>::extended_images(const Model& model, const Lags& lags,
                                                        const Claim& claim, const TakeImage& take) {
  m_gradients.reset();  // frees the volumes
  const std::unique_ptr<Gradients> gradients = make_with(lags);
  if (!(m_plan.source_taper > 0.0)) gradients->update(model);
  const auto compute = [&](std::size_t k, ShotContribution<T>& contribution) {
    gradients->clear();
    this->add_shot(*gradients, k, model, contribution);
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
    this->add_shot(*gradients, k, model, contribution);
  };
  this->each_shot({}, compute, [](std::size_t, const ShotContribution<T>&) {});
  const auto image = gradients->extended_image();
  gradients.reset();  // except the image
  return this->result_of(m_exec, image);
}

template <class T, int Dim, class Memory>
std::unique_ptr<StreamedGradients<T, Dim, Memory>> StreamedEvaluator<T, Dim, Memory>::make(
    const Model& model, const wave::WaveletAt& wavelet, wave::ModellingPlan<Dim>& plan,
    const std::optional<Lags>& lags) {
  StreamedGradientOptions<Dim> o;
  const Model stepped = this->plan_into(model, wavelet, plan, o);
  o.source_faces = random_faces(m_options, m_input.faces);
  o.lags = lags;
  o.wishes.device_memory = m_options.device_memory;
  o.wishes.block = m_options.block;
  o.wishes.updates = m_options.updates;
  o.wishes.devices = m_options.devices;
  o.memory = m_options.memory;
  o.reserved =
      m_options.held + static_cast<std::size_t>(this->search_bytes() + this->series_bytes() +
                                                this->misfit_bytes() + this->data_bytes());
  o.measure = !m_rates;
  if (m_rates) o.rates = *m_rates;
  auto result = std::make_unique<Gradients>(m_device, m_grid, stepped, m_input.data.shots, o);
  m_rates = result->rates();
  return result;
}

}  // namespace moho::fwi
