// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Misfit of a survey and its gradient as functions of the variables of a model.

#include <moho/core/binned_sum.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/field.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/launch.hpp>
#include <moho/fwi/detail/core_evaluator.hpp>
#include <moho/fwi/detail/objective_kernels.hpp>
#include <moho/fwi/extended_sum.hpp>
#include <moho/fwi/objective_plan.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/fwi/slab_evaluator.hpp>
#include <moho/fwi/streamed.hpp>
#include <moho/optimize/lbfgs.hpp>
#include <moho/stream/rank_groups.hpp>
#include <moho/survey/record_times.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// \brief Misfit of all shots and its gradient, for optimize::Lbfgs (Nocedal and Wright, 2006).
///
///     auto objective = make_objective(exec, grid, start, faces, wavelet, survey);
///     optimize::Lbfgs search(exec, objective.start(), {.iterations = 20}, objective.bounds());
///     const auto gradient = objective.make_gradient();
///     while (search.wants() == optimize::Want::evaluation) {
///       search.tell(exec, objective.evaluate(search.point(), gradient), gradient);
///     }
///     const auto vp = objective.values(search.best(), Parameter::vp);
///
/// Vectors contain the variables of each parameter on the nodes of the model, parameter after
/// parameter (docs/theory/inversion.md). Misfits are divided by the misfit of traces of zeros.
///
/// Processes can share an evaluation. All processes call begin(); each computes the contributions
/// of some shots; one process adds all contributions, or sums of them, and calls end(). Gradients
/// are summed exactly (BinnedSumOn), misfits in the order of the shots: both have the same bits for
/// any division and order of the shots.
template <class T, int Dim, class Memory>
class Objective {
 public:
  using Vector = Kokkos::View<T*, Memory>;             ///< values of all variables
  using ConstVector = Kokkos::View<const T*, Memory>;  ///< constant vector
  using HostField = Field<T, Dim, Kokkos::HostSpace>;  ///< values on the nodes of the model
  /// Called for each shot in ascending order; returns true if this process computes the shot.
  using Claim = std::function<bool(std::size_t k)>;
  /// Receives the contribution of each claimed shot, in ascending order.
  using Take = std::function<void(ShotContribution<T>&&)>;

  /// Plans the evaluation. \see make_objective()
  explicit Objective(std::unique_ptr<ShotEvaluator<T, Dim, Memory>> shots);

  /// Choices made by the constructor.
  const ObjectivePlan& plan() const { return m_plan; }
  /// True if gradients stream through a device. Models and vectors are then on the host.
  bool streamed() const { return m_shots->streamed(); }
  /// Sets the method of the source wavefield.
  /// Processes that share an evaluation need the same method: methods differ in rounding. \throws
  /// InputError if the method does not fit the memory
  void set_source_field(SourceField method);
  /// \brief Reads or models the data. Otherwise the first evaluation does so.
  /// \throws InputError for data that cannot be inverted
  void load_data();
  /// \brief Applies a low-pass to data and wavelet of all later evaluations.
  /// \param corner one of options.bands, Hz; 0: all frequencies, without bands
  /// \throws InputError for other corners
  void set_band(double corner);
  /// Returns the corner of the present low-pass, Hz; 0: all frequencies.
  double band() const { return m_corner; }

  /// Returns the variables of the initial model: zeros.
  ConstVector start() const;
  /// Returns the bounds of the variables, and the mask.
  optimize::Constraints<T, Memory> bounds() const;
  /// Returns a vector for gradients, uninitialised.
  Vector make_gradient() const {
    return allocate<Vector>(exec(), "moho::optimize::gradient", variables());
  }

  /// \brief Evaluates all shots.
  /// \param x variables
  /// \param gradient written: derivatives of the misfit with respect to the variables
  /// \return the misfit; infinity for a model that cannot be stepped, see begin_trial()
  /// \throws InputError for a vector of another size; Error with shot, step and node if a wavefield
  /// overflows
  double evaluate(const ConstVector& x, const Vector& gradient);

  /// Begins an evaluation shared by processes. \param x variables
  /// \throws InputError for a vector of another size, or a model that cannot be stepped
  void begin(const ConstVector& x);
  /// \brief Begins the evaluation of a trial model of a search.
  ///
  /// A model that cannot be stepped has densities that differ by more than
  /// wave::largest_density_ratio(), or a stable time step below that of the plan. Its misfit is
  /// infinite, with which Lbfgs::tell() shortens the step.
  /// \param x variables
  /// \param gradient set to zero if the model cannot be stepped
  /// \return false if the model cannot be stepped; report().failure has the reason
  /// \throws InputError for a vector of another size
  bool begin_trial(const ConstVector& x, const Vector& gradient);
  /// Begins the evaluation of another process, to compute contributions only.
  void begin(const EvaluationRequest<T>& request);
  /// Returns the request for begin() in other processes.
  EvaluationRequest<T> request() const;
  /// Returns the contribution of a shot. \param k position of the shot, in any order
  ShotContribution<T> contribution(std::size_t k);
  /// \brief Computes the contributions of claimed shots, plan().concurrent_shots concurrently.
  /// \param claim,take functions called on this thread
  void contributions(const Claim& claim, const Take& take);
  /// \brief Adds a contribution, in any order of the shots.
  /// \throws InputError for a duplicate shot, or values of another size
  void add(const ShotContribution<T>& contribution);
  /// \brief Adds the sum of several contributions, such as that of another process.
  /// \throws InputError for a duplicate shot, or a sum of other shots or of another size
  void add(const ContributionSum& sum);
  /// Returns the sum of the contributions added in this evaluation, for another process.
  /// \throws InputError if no contribution was added
  ContributionSum sum() const;
  /// \brief Ends an evaluation.
  /// \param gradient written: gradient of the misfit
  /// \return misfit
  /// \throws InputError if shots are missing
  double end(const Vector& gradient);
  /// Work of the latest evaluation.
  const EvaluationReport& report() const { return m_report; }

  /// \brief Returns the values of a parameter, in its unit. Ends a pending evaluation.
  /// \param x variables
  HostField values(const ConstVector& x, Parameter parameter);
  /// Returns the components of a vector for a parameter, such as those of a gradient.
  HostField component(const ConstVector& vector, Parameter parameter) const;
  /// Returns the illumination of the latest evaluation: the sum of p^2 dt over shots and time.
  HostField illumination() const;
  /// Returns a diagonal preconditioner for optimize::Lbfgs::precondition().
  /// Its factors are 1 / (illumination / max(illumination) + 0.01).
  ConstVector preconditioner() const;

  /// Shots with their live traces, after load_data().
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots->data().shots(); }
  /// Data of each shot in the band.
  const std::vector<ObservedShot>& observed() const { return m_shots->data().in_band(); }
  /// Returns modelled traces of shot `k`, receivers x samples. Ends a pending evaluation.
  std::vector<float> model(const ConstVector& x, std::size_t k);
  /// \overload
  /// It models over the model of begin(). \throws InputError before begin()
  std::vector<float> model(std::size_t k);
  /// Returns the extended image of all shots with options.lags. Ends a pending evaluation. With
  /// options.ranks rank 0 receives it, and the values of the others are empty.
  /// \throws InputError without lags
  ExtendedResult<T> extended_image(const ConstVector& x);
  /// \brief Returns the extended image over the model of begin() of shots that ranks share.
  /// Collective.
  ///
  /// Each rank adds images of the shots that it claims. One shot is computed by the root, or its
  /// group.
  /// \param groups of the ranks
  /// \param root true on the first rank
  /// \param claim chooses the shots of this rank
  /// \param merge adds the sums of all ranks to that of the root; collective
  /// \return image on the root; other ranks: no values
  /// \throws InputError without lags, and before begin()
  ExtendedResult<T> extended_image(const stream::RankGroups& groups, bool root, const Claim& claim,
                                   const std::function<void(ExtendedSum&)>& merge);
  /// \brief Computes the extended images of claimed shots over the model of begin(), each by
  /// itself.
  ///
  /// Processes can share an image as an evaluation: each adds its shots, one adds their sums.
  /// \param claim,sum function called on this thread; receives the images, with options.ranks on
  /// rank 0 alone
  /// \return work of the shots, where `sum` received images
  /// \throws InputError without lags, and for a sum of another size
  EvaluationReport extended_images(const Claim& claim, ExtendedSum& sum);
  /// Computes the extended image of a shot over the model of begin(). \param k position of the shot
  /// \return contribution whose values are lags x nodes; nothing on ranks of options.ranks but 0
  /// \throws InputError without lags
  ShotContribution<T> extended_contribution(std::size_t k);
  /// Returns a sum of extended images without shots. \throws InputError without lags
  ExtendedSum make_extended_sum() const;
  /// Returns the extended image of a sum. \throws InputError without lags, for missing shots
  ExtendedResult<T> result_of(const ExtendedSum& sum) const;

 private:
  using Model = wave::Model<T, Dim, Memory>;
  using Doubles = Kokkos::View<double*, Memory>;

  const Instance<Memory>& exec() const { return m_shots->exec(); }
  const ObjectiveOptions<Dim>& options() const { return m_shots->options(); }
  std::int64_t nodes() const { return m_shots->grid().size(); }
  std::size_t shot_count() const { return m_shots->given().shots.size(); }
  std::size_t variables() const {
    return options().parameters.size() * static_cast<std::size_t>(nodes());
  }
  bool logarithmic(Parameter parameter) const {
    return options().variables == Variables::logarithmic && is_positive(parameter);
  }
  std::size_t index_of(Parameter parameter) const;
  void check_size(const ConstVector& vector, const char* name) const;
  void require_begun(const char* function) const;
  const Lags& lags() const;
  HostField to_host(const T* values) const;
  Model model_at(const ConstVector& x);
  void prepare();
  std::string set_model(const ConstVector& x);
  void clear_sums();
  void refuse_twice(std::size_t k) const;
  void add_fields(std::size_t k, const ShotContribution<T>& contribution, const Model& derivatives,
                  const Field<T, Dim, Memory>& illumination);
  double finish(const Vector& gradient);
  std::vector<double> illumination_sums() const;

  std::unique_ptr<ShotEvaluator<T, Dim, Memory>> m_shots;
  ObjectivePlan m_plan;
  std::vector<double> m_scales;                 ///< scale of the variables of each parameter
  std::vector<Field<T, Dim, Memory>> m_fields;  ///< parameters of the current model
  double m_corner = 0.0;                        ///< corner of the band, Hz
  bool m_ready = false;                         ///< true if the band is set and the data are loaded
  bool m_begun = false, m_changed = true, m_summed = false;
  Model m_model;                            ///< model of the evaluation
  std::map<std::size_t, double> m_misfits;  ///< misfits of the added shots
  EvaluationReport m_report;
  std::vector<BinnedSumOn<Memory>> m_sums;  ///< derivative of each parameter, and illumination
  Kokkos::View<T*, Memory> m_values;        ///< a derivative of a contribution from the host
};

template <class T, int Dim, class Memory>
Objective<T, Dim, Kokkos::HostSpace> make_slab_objective(
    ObjectiveInput<T, Dim, Kokkos::HostSpace> input, const Instance<Memory>& device);

/// \brief Returns ObjectiveInput::streams: it plans an objective with other options, and true means
/// that its gradients stream, or are in slabs, and fit.
/// \param input arguments of the refused objective, whose models are in the memory of `exec`
/// \param device instance of the first device
template <class T, int Dim, class Memory, class Device>
std::function<bool(const ObjectiveOptions<Dim>&)> stream_test(
    const ObjectiveInput<T, Dim, Memory>& input, const Instance<Device>& device) {
  return [=](const ObjectiveOptions<Dim>& options) {
    using Host = Kokkos::HostSpace;
    // rings of hosts are in addition to what a gradient in core takes, unless these are limited
    if (is_host_memory<Device> && options.device_memory == 0) return false;
    const auto on_host = [&](const wave::Model<T, Dim, Memory>& model) {
      return wave::download_model<T, Dim, Memory>(input.exec, input.grid, model);
    };
    try {
      const Instance<Host> host{Kokkos::DefaultHostExecutionSpace()};
      ObjectiveInput<T, Dim, Host> other{
          host,
          input.grid,
          on_host(input.start),
          input.faces,
          input.wavelet,
          {input.data.shots, input.data.read, on_host(input.data.model)},
          options};
      other.options.note = {};
      other.options.progress = {};
      if (gradient_in_slabs(options)) {
        make_slab_objective<T, Dim, Device>(std::move(other), device);
      } else {
        const Objective<T, Dim, Host> planned(
            std::make_unique<StreamedEvaluator<T, Dim, Device>>(std::move(other), device));
      }
      return true;
    } catch (const Error&) {
      return false;
    }
  };
}

/// \brief Creates an objective of shots in slabs. With source_field random, shots of one process
/// that do not fit its devices stream through a chain of them.
/// \param input arguments on the host, for which gradient_in_slabs() is true
/// \param device instance of the first device
template <class T, int Dim, class Memory>
Objective<T, Dim, Kokkos::HostSpace> make_slab_objective(
    ObjectiveInput<T, Dim, Kokkos::HostSpace> input, const Instance<Memory>& device) {
  using Result = Objective<T, Dim, Kokkos::HostSpace>;
  using Slabs = SlabEvaluator<T, Dim, Memory>;
  if (input.options.source_field != SourceField::random || input.options.ranks != nullptr) {
    input.streams = stream_test(input, device);
    return Result(std::make_unique<Slabs>(std::move(input), device));
  }
  try {
    return Result(std::make_unique<Slabs>(input, device));
  } catch (const SlabsDoNotFit&) {
    if (input.options.devices == 0) input.options.devices = stream::device_count(device);
  }
  return Result(std::make_unique<StreamedEvaluator<T, Dim, Memory>>(std::move(input), device));
}

/// \brief Creates an objective on a host whose gradients stream if they do not fit in core.
/// \param input arguments, for which gradient_may_stream() is true
/// \param instance instance of the host
/// \throws CoreDoesNotFit if they do not fit in a stream either
template <class T, int Dim, class Memory>
Objective<T, Dim, Memory> make_fitting_objective(ObjectiveInput<T, Dim, Memory> input,
                                                 const Instance<Memory>& instance) {
  using Result = Objective<T, Dim, Memory>;
  std::exception_ptr failed;
  try {
    return Result(std::make_unique<CoreEvaluator<T, Dim, Memory>>(input));
  } catch (const CoreDoesNotFit&) {
    failed = std::current_exception();
  }
  try {
    return Result(std::make_unique<StreamedEvaluator<T, Dim, Memory>>(std::move(input), instance));
  } catch (const Error&) {
    std::rethrow_exception(failed);
  }
}

/// \brief Creates the objective of a survey: checks the initial model and plans.
///
/// Models and vectors are in the memory of the instance. On hosts gradients stream if
/// gradient_streams() returns true, or if they do not fit in core and gradient_may_stream() does;
/// shots are computed in slabs of one thread if gradient_in_slabs() returns true. For devices see
/// make_streamed_objective().
/// \param exec instance of all work
/// \param grid of the model
/// \param start initial model; its fields must stay unchanged
/// \param faces boundary conditions; layers are added outside the grid
/// \param wavelet of the sources
/// \param data shots, and their gathers or the model of modelled data
/// \param options misfit, parameters, bounds, memory
/// \throws InputError with the name of the argument, CoreDoesNotFit for gradients in core that do
/// not fit the memory; MemoryError
template <class T, int Dim, class Memory>
Objective<T, Dim, Memory> make_objective(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const wave::Model<T, Dim, Memory>& start,
                                         const wave::Boundaries<Dim>& faces,
                                         const wave::WaveletAt& wavelet,
                                         const ObjectiveData<T, Dim, Memory>& data,
                                         const ObjectiveOptions<Dim>& options = {}) {
  const Instance<Memory> instance = exec;
  ObjectiveInput<T, Dim, Memory> input{instance, grid, start, faces, wavelet, data, options};
  if constexpr (is_host_memory<Memory>) {
    if (gradient_in_slabs(options)) {
      return make_slab_objective<T, Dim, Memory>(std::move(input), instance);
    }
    if (gradient_streams<T, Dim, Memory>(instance, grid, start.medium(), faces, options)) {
      return Objective<T, Dim, Memory>(
          std::make_unique<StreamedEvaluator<T, Dim, Memory>>(std::move(input), instance));
    }
    if (gradient_may_stream<Memory>(options)) {
      return make_fitting_objective<T, Dim, Memory>(std::move(input), instance);
    }
  }
  input.streams = stream_test(input, instance);
  return Objective<T, Dim, Memory>(
      std::make_unique<CoreEvaluator<T, Dim, Memory>>(std::move(input)));
}

/// \overload
/// \param survey survey of the shots; it must outlive the objective. Without options.modelling.time
/// the run ends with the last sample of the data
template <class T, int Dim, class Memory>
Objective<T, Dim, Memory> make_objective(const InstanceOf<Memory>& exec, const Grid<Dim>& grid,
                                         const wave::Model<T, Dim, Memory>& start,
                                         const wave::Boundaries<Dim>& faces,
                                         const wave::WaveletAt& wavelet,
                                         const survey::Survey<Dim>& survey,
                                         const ObjectiveOptions<Dim>& options = {}) {
  ObjectiveOptions<Dim> complete = options;
  double& time = complete.modelling.time.time;
  if (!(time > 0.0)) {
    time = survey::run_length(survey, options.zero, wavelet);
  }
  ObjectiveData<T, Dim, Memory> data;
  data.shots = survey.shots();
  data.read = [&survey](std::size_t k) { return survey.read(k); };
  return make_objective<T, Dim, Memory>(exec, grid, start, faces, wavelet, data, complete);
}

/// \brief Creates an objective like make_objective(). On devices it is empty if gradients that may
/// stream do not fit in core: make_streamed_objective() then has models and vectors on the host.
template <class T, int Dim, class Memory>
std::optional<Objective<T, Dim, Memory>> make_objective_if_it_fits(
    const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const wave::Model<T, Dim, Memory>& start,
    const wave::Boundaries<Dim>& faces, const wave::WaveletAt& wavelet,
    const ObjectiveData<T, Dim, Memory>& data, const ObjectiveOptions<Dim>& options) {
  try {
    return make_objective<T, Dim, Memory>(exec, grid, start, faces, wavelet, data, options);
  } catch (const CoreDoesNotFit&) {
    if (is_host_memory<Memory> || !gradient_may_stream<Memory>(options)) throw;
  }
  return std::nullopt;
}

/// \brief Creates an objective whose models and vectors are on the host.
///
/// With options.devices other than 1, several devices hold slabs of the wavefields (SlabGradients).
/// With source_field random wavefields stream through a device, or through a chain of several with
/// a block or updates, or if their slabs do not fit. The other arguments are those of
/// make_objective().
/// \param device instance of the first device
template <class T, int Dim, class Memory>
Objective<T, Dim, Kokkos::HostSpace> make_streamed_objective(
    const Instance<Memory>& device, const Grid<Dim>& grid,
    const wave::Model<T, Dim, Kokkos::HostSpace>& start, const wave::Boundaries<Dim>& faces,
    const wave::WaveletAt& wavelet, const ObjectiveData<T, Dim, Kokkos::HostSpace>& data,
    const ObjectiveOptions<Dim>& options) {
  using Host = Kokkos::HostSpace;
  const Instance<Host> host{Kokkos::DefaultHostExecutionSpace()};
  ObjectiveInput<T, Dim, Host> input{host, grid, start, faces, wavelet, data, options};
  if (gradient_in_slabs(options)) {
    return make_slab_objective<T, Dim, Memory>(std::move(input), device);
  }
  return Objective<T, Dim, Host>(
      std::make_unique<StreamedEvaluator<T, Dim, Memory>>(std::move(input), device));
}

}  // namespace moho::fwi

#include <moho/fwi/detail/objective_impl.hpp>
