// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Base of the evaluators of misfits and gradients of shots, in core and in a stream.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/core/space.hpp>
#include <moho/fwi/detail/filter_rows.hpp>
#include <moho/fwi/extended_sum.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/fwi/model_parameters.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/fwi/observed_data.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/wave/locate_overflow.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Arguments of make_objective().
template <class T, int Dim, class Memory>
struct ObjectiveInput {
  Instance<Memory> exec;               ///< instance of models and vectors
  Grid<Dim> grid;                      ///< of the model
  wave::Model<T, Dim, Memory> start;   ///< initial model
  wave::Boundaries<Dim> faces;         ///< boundary conditions of the faces
  wave::WaveletAt wavelet;             ///< of the sources
  ObjectiveData<T, Dim, Memory> data;  ///< shots and their data
  ObjectiveOptions<Dim> options;       ///< all other options
  /// Returns true if gradients with other options stream, or are in core, and fit the memory.
  /// Empty: messages advise no stream.
  std::function<bool(const ObjectiveOptions<Dim>&)> streams = {};
};

/// \brief Checks a model: its values, and whether it can be stepped.
/// \param modelling order and equations
/// \throws InputError that begins with the parameter
template <class T, int Dim, class Memory>
void check_steppable(const Instance<Memory>& exec, const Grid<Dim>& grid,
                     const wave::Model<T, Dim, Memory>& model,
                     const wave::ModellingOptions<Dim>& modelling) {
  wave::check_model<T, Dim, Memory>(exec, grid, model);
  // also checks contrasts of the density
  wave::limits_of<T, Dim, Memory>(exec, grid, model, modelling.order, modelling.equations,
                                  modelling.sigma);
}

/// Returns the inverted parameters besides vp, for ShotGradients.
inline InvertedParameters inverted_parameters(const std::vector<Parameter>& parameters) {
  InvertedParameters inverted;
  for (const Parameter parameter : parameters) {
    if (parameter == Parameter::density) inverted.density = true;
    if (parameter == Parameter::epsilon || parameter == Parameter::delta) {
      inverted.anisotropy = true;
    }
  }
  return inverted;
}

/// Returns faces with which the source wavefield is reversible in time, see
/// snapshot::random_faces().
template <int Dim>
wave::Boundaries<Dim> random_faces(const ObjectiveOptions<Dim>& options,
                                   const wave::Boundaries<Dim>& faces) {
  return snapshot::random_faces(faces, options.random_width);
}

/// \brief Evaluates misfits and gradients of shots over a sequence of models.
///
/// Order of calls: set a band, load the data once, then evaluate shots over any models. The layers
/// of the faces depend on the initial model and the band only.
template <class T, int Dim, class Memory>
class ShotEvaluator {
 public:
  using Model = wave::Model<T, Dim, Memory>;  ///< of models and derivatives
  /// Receives the contribution of a shot.
  /// Arguments: contribution without values, derivatives with respect to the parameters,
  /// illumination.
  using Add =
      std::function<void(std::size_t k, const ShotContribution<T>&, const Model& derivatives,
                         const Field<T, Dim, Memory>& illumination)>;
  /// Called for each shot in order; returns true if the shot is evaluated. Empty: all shots.
  using Claim = std::function<bool(std::size_t k)>;
  /// Receives the contribution of a shot without values, and its extended image on the host.
  using TakeImage = std::function<void(const ShotContribution<T>&, const T* image)>;

  /// \brief Checks the arguments, and the initial model at the time step.
  /// \throws InputError that names the argument; MemoryError
  explicit ShotEvaluator(ObjectiveInput<T, Dim, Memory> input)
      : m_input(std::move(input)),
        m_exec(m_input.exec),
        m_grid(m_input.grid),
        m_options(m_input.options),
        m_start(m_input.start),
        m_modelling(m_options.modelling),
        m_inverted(inverted_parameters(m_options.parameters)),
        m_data(m_options) {
    if (m_input.data.shots.empty()) throw InputError("data: it has no shot (allowed: 1 or more)");
    if (!m_input.data.read && m_input.data.model.vp.data() == nullptr) {
      throw InputError("data: it has neither gathers nor a model (allowed: one of them)");
    }
    m_needs_taper = m_inverted.anisotropy && !m_modelling.source_taper;
    m_modelling.memory = std::size_t{1} << 62;  // the memory plan of the inversion includes
                                                // modelling
    m_modelling.time.snapshot_every = 0.0;
    for (const auto& shot : m_input.data.shots) {
      m_modelling.receivers =
          std::max(m_modelling.receivers, static_cast<std::int64_t>(shot.receivers.size()));
      m_modelling.sources.insert(m_modelling.sources.end(), shot.sources.begin(),
                                 shot.sources.end());
    }
    with_memory_advice(
        [&] { check_steppable<T, Dim, Memory>(m_exec, m_grid, m_start, m_modelling); });
  }
  ShotEvaluator(const ShotEvaluator&) = delete;
  ShotEvaluator& operator=(const ShotEvaluator&) = delete;
  virtual ~ShotEvaluator() = default;

  /// Instance of models and vectors.
  const Instance<Memory>& exec() const { return m_exec; }
  /// Grid of the model.
  const Grid<Dim>& grid() const { return m_grid; }
  /// Options of the objective.
  const ObjectiveOptions<Dim>& options() const { return m_options; }
  /// Shots and data of the objective.
  const ObjectiveData<T, Dim, Memory>& given() const { return m_input.data; }
  /// Options of modelling; the plan sets dt.
  wave::ModellingOptions<Dim>& modelling_options() { return m_modelling; }
  /// Initial model.
  const Model& start() const { return m_start; }
  /// Data in the current band.
  ObservedData<Dim>& data() { return m_data; }
  /// Data in the current band.
  const ObservedData<Dim>& data() const { return m_data; }
  /// Modelling plan of the current band.
  const wave::ModellingPlan<Dim>& plan() const { return m_plan; }

  /// Returns the stable time step and the velocities of a model.
  wave::Limits limits_of(const Model& model) const {
    return wave::limits_of<T, Dim, Memory>(m_exec, m_grid, model, m_modelling.order,
                                           m_modelling.equations, m_modelling.sigma);
  }
  /// \brief Returns why a model cannot be stepped with the planned time step.
  ///
  /// That is a contrast of density, or a time step above the stable one. Empty: the model can be
  /// stepped, as every isotropic model of constant density within the bounds.
  std::string failure_of(const Model& model) const {
    if (model.medium() == wave::Medium::isotropic) return {};
    try {
      wave::check_dt(m_modelling.time.dt, limits_of(model));
    } catch (const InputError& error) {
      if (model.density.data() == nullptr) return error.what();
      return concat(error.what(), ", or narrow ", m_options.names("bounds of density"));
    }
    return {};
  }

  /// Loads the data at the time steps of the current band.
  void load_data() {
    if (m_input.data.read) {
      m_data.read(m_input.data.shots, m_input.wavelet, m_plan, m_input.data.read);
    } else {
      model_data();
    }
    m_input.data.model = {};
  }
  /// Applies the low-pass of the band to the data.
  void filter_data(double corner) { m_data.filter(m_plan, corner); }

  /// True if gradients stream through a device.
  virtual bool streamed() const = 0;
  /// Returns the bytes of the gathers on the host: with all frequencies, and in the band.
  double data_bytes() const {
    double traces = 0.0;
    for (std::size_t k = 0; k < m_input.data.shots.size(); ++k) {
      if (m_options.only && k != *m_options.only) continue;
      traces += static_cast<double>(m_input.data.shots[k].receivers.size());
    }
    return 2.0 * sizeof(float) * traces * static_cast<double>(m_plan.time.steps + 1);
  }
  /// Returns the bytes of one series of the receivers of the largest shot.
  double series_bytes() const {
    return static_cast<double>(sizeof(T)) * static_cast<double>(m_modelling.receivers) *
           static_cast<double>(m_plan.time.steps + 1);
  }
  /// Returns the bytes of the receivers of a shot, which record and inject, as an upper bound.
  double point_bytes(const wave::Shot<Dim>& shot) const {
    std::int64_t elements = 0;
    for (const Point<Dim>& point : shot.receivers) {
      std::int64_t nodes = 1;
      for (int d = 0; d < Dim; ++d) {
        const double at = (point[d] - m_grid.origin[d]) / m_grid.spacing[d];
        const bool on_node = std::fabs(at - std::floor(at + 0.5)) < wave::sinc_snap;
        nodes *= on_node ? 1 : 2 * wave::PointOptions<Dim>().radius;
      }
      elements += 20 * Dim + 32 + 6 * nodes;
    }
    return static_cast<double>(sizeof(T)) * static_cast<double>(elements);
  }
  /// \brief Returns the bytes of the host for the misfit of the largest shot.
  ///
  /// These are modelled traces, the adjoint source, and the rows that its filter keeps.
  double misfit_bytes() const {
    const double highest = snapshot::highest_of_products(wavelet_in_run(m_plan), m_plan.time.dt);
    // the filter changes from pass to stop within a quarter of the frequency or more
    const double rows = 10.1 / (highest * m_plan.time.dt) + 1.0;
    return series_bytes() *
           (2.0 + std::min(rows / static_cast<double>(m_plan.time.steps + 1), 1.0));
  }

  /// Prepares shots over the initial model in a band, and filters the data.
  /// \param corner corner of the low-pass, Hz; 0: no low-pass
  virtual void set_band(double corner) = 0;
  /// Steps between products of the wavefields.
  virtual std::int64_t product_interval() const = 0;
  /// \brief Chooses the storage of the source wavefield and the number of concurrent shots.
  ///
  /// Sets the memory and the time of the plan.
  /// \throws InputError if memory does not suffice
  virtual void plan_memory(ObjectivePlan& plan, SourceField requested) = 0;
  /// Returns modelled traces of a shot, receivers x (steps + 1).
  virtual std::vector<float> model_shot(const Model& model, const wave::Shot<Dim>& shot) = 0;
  /// \brief Evaluates shots over a model, in order, several of them concurrently.
  /// \param model model with the faces of the initial model; its fields must stay unchanged until
  /// the next call
  /// \param changed false if the previous call had the same values
  virtual void evaluate(const Model& model, bool changed, const Claim& claim, const Add& add) = 0;
  /// \brief Computes extended images over a model.
  /// \param claim chooses the shots; each is computed by itself
  /// \param take receives the image of each shot, lags x nodes of the model on the host
  /// \throws InputError for lags over half of the model, MemoryError
  virtual void extended_images(const Model& model, const Lags& lags, const Claim& claim,
                               const TakeImage& take) = 0;
  /// \brief Returns the extended image of a model from all shots, added in their order in one
  /// array.
  /// \throws InputError for lags over half of the model, MemoryError
  virtual ExtendedResult<T> extended_image(const Model& model, const Lags& lags) = 0;

 protected:
  /// Models the data of all shots.
  virtual void model_data() = 0;

  /// Returns the wavelet in a band, with the length of the run and of the filter response.
  ///
  /// A wavelet that ends within the response would have frequencies above the band.
  wave::WaveletAt wavelet_in_band(double corner) const {
    const double time = m_modelling.time.time;
    const wave::WaveletAt given = m_input.wavelet;
    if (corner == 0.0) return given;
    return [=](double dt) {
      std::vector<double> samples = given(dt);
      // the slowest poles decay by exp(-2 pi corner sin(pi / 16) t), to 1e-8 in 15 periods
      const auto response = static_cast<std::size_t>(std::ceil(15.0 / (corner * dt)));
      const std::size_t count =
          std::max(static_cast<std::size_t>(std::ceil(time / dt)) + 2, samples.size() + response);
      if (samples.size() < count) samples.resize(count, 0.0);
      low_pass(samples, static_cast<std::int64_t>(samples.size()), dt, corner);
      return samples;
    };
  }
  /// Returns the options of shots over a model.
  wave::ModellingOptions<Dim> options_for(const Model& model,
                                          const wave::WaveletAt& wavelet) const {
    wave::ModellingOptions<Dim> options = m_modelling;
    if (m_needs_taper) {
      // an initial model without anisotropy has no taper, later models have one
      const wave::ModellingPlan<Dim> p = wave::plan_modelling<T, Dim, Memory>(
          m_exec, m_grid, model, m_input.faces, wavelet, options);
      options.source_taper = 2.0 * p.limits.max_velocity / p.frequency;
    }
    return options;
  }
  /// Returns the steps between products for a plan.
  std::int64_t interval_of(const wave::ModellingPlan<Dim>& p) const {
    const std::int64_t rule =
        std::max<std::int64_t>(snapshot::snapshot_interval(wavelet_in_run(p), p.time.dt) / 2, 1);
    const std::int64_t given = m_options.product_interval;
    return std::min(given > 0 ? given : rule, p.time.steps);
  }
  /// Returns the model that determines the layers of modelled data.
  /// That is the initial model if its medium is the same.
  const Model& model_of_faces() const {
    return m_input.data.model.medium() == m_start.medium() ? m_start : m_input.data.model;
  }
  /// Returns the misfit function of a shot, for series in the memory of an instance.
  template <class Space>
  ShotMisfit<T, Space> misfit_of(const Instance<Space>& exec, std::size_t k,
                                 Arena<T, Space>* unfiltered_memory = nullptr) const {
    return [this, exec, k, unfiltered_memory](const wave::PointSeries<const T, Space>& modelled,
                                              const wave::PointSeries<T, Space>& derivative) {
      const std::vector<T> rows = download(exec, modelled);
      std::vector<T> source;
      const std::int64_t interval = interval_of(m_plan);
      const auto put = [&](const wave::PointSeries<T, Space>& to) {
        copy(exec, wave::Storage<T, Space>(to.data(), source.size()),
             HostElements<const T>(source.data(), source.size()));
      };
      if constexpr (is_host_memory<Space>) {
        const double f = m_data.misfit(k, rows, m_plan.time.dt, interval, source);
        put(derivative);
        exec.fence();
        return f;
      } else {
        // a device filters a gather faster than a host
        const double f = m_data.unfiltered_misfit(k, rows, source);
        const std::vector<double> weights = m_data.filter_weights(m_plan.time.dt, interval);
        if (weights.empty()) {
          put(derivative);
        } else {
          if (unfiltered_memory != nullptr) unfiltered_memory->reset();
          const auto unfiltered =
              wave::kernel::series_in<T, Space>(exec, "moho::fwi::unfiltered", derivative.extent(0),
                                                derivative.extent(1), unfiltered_memory);
          put(unfiltered);
          detail::filter_rows<T, Space>(exec, unfiltered, derivative, weights);
        }
        exec.fence();
        return f;
      }
    };
  }
  /// Throws InputError for extended images that do not fit the host. \param bytes,budget of it
  [[noreturn]] void refuse_lags_on_host(double bytes, double budget) const {
    const ArgumentNames& names = m_options.names;
    throw InputError(concat(names("lags"), ": with ", m_options.lags->count(),
                            " lags the host needs ", format_bytes(bytes),
                            " (allowed: ", m_options.limit_text(budget), "): take fewer, ",
                            lags_sum_bytes() > 0.0 ? concat(names("exact_lags false"), ", ") : "",
                            "a coarser grid, or more memory (", names("memory"), ")"));
  }
  /// Returns the host memory of the exact sum of extended images; 0 where images are not summed.
  double lags_sum_bytes() const {
    const bool sums =
        m_options.lags && m_options.exact_lags && !m_options.only && m_input.data.shots.size() > 1;
    return sums ? ExtendedSum::bytes_of(m_options.lags->count(), m_grid.size()) : 0.0;
  }
  /// Checks the lags of the options, if there are any. \throws InputError
  void check_lags() const {
    for (int d = 0; d < 2 && m_options.lags; ++d) {
      const std::int64_t lag = d == 0 ? m_options.lags->x : m_options.lags->y;
      const std::int64_t max = Dim == 2 && d == 1 ? 0 : (m_grid.extents[d] - 1) / 2;
      if (lag <= max) continue;
      throw InputError(concat(m_options.names("lags"), ": the largest along ", d == 0 ? "x" : "y",
                              " is ", lag, " nodes (allowed: 0 to ", max,
                              ", half of the model): take fewer"));
    }
  }
  /// Returns the values and the focus of an image.
  template <class Space>
  ExtendedResult<T> result_of(const Instance<Space>& exec,
                              const ExtendedImage<T, Dim, Space>& image) const {
    ExtendedResult<T> result;
    result.values = download(exec, image.values());
    double square = 0.0;
    for (const T value : result.values) {
      square += 0.5 * static_cast<double>(value) * static_cast<double>(value);
    }
    if (square > 0.0) result.focus = image.focus(exec, m_grid) / square;
    return result;
  }
  /// Returns the random boundaries of a shot; every evaluation has the same ones.
  wave::RandomLayerOptions random_of(const wave::Shot<Dim>& shot) const {
    wave::RandomLayerOptions random = m_plan.random;
    random.seed = m_modelling.seed + static_cast<std::uint64_t>(shot.number);
    return random;
  }
  /// Reports the progress of shot `k`: 0 forward, 1 separate source wavefield, 2 backward.
  void report_progress(std::size_t k, int propagation, const wave::ShotProgress& now) const {
    const double part =
        static_cast<double>(now.step) / std::max<double>(1.0, static_cast<double>(now.steps));
    const double done = propagation == 0   ? 0.3 * part
                        : propagation == 1 ? 0.3 + 0.2 * part
                                           : 0.5 + 0.5 * part;
    const std::size_t shots = m_data.shots().size();
    m_options.progress((static_cast<double>(k) + done) / static_cast<double>(shots),
                       concat("shot ", k + 1, " of ", shots));
  }
  /// Calls a function and prefixes its errors with the name of the shot.
  template <class Function>
  void with_shot(std::size_t k, const Function& function) const {
    try {
      function();
    } catch (const InputError&) {
      throw;
    } catch (const MemoryError&) {
      throw;
    } catch (const Error& error) {
      throw Error(concat("shot ", m_data.shots()[k].number, ": ", error.what()));
    }
  }
  /// Calls compute(k, contribution), then take(k, contribution), for each claimed shot.
  template <class Compute, class Take>
  void each_shot(const Claim& claim, const Compute& compute, const Take& take) const {
    for (std::size_t k = 0; k < m_data.shots().size(); ++k) {
      if (claim && !claim(k)) continue;
      ShotContribution<T> contribution;
      contribution.shot = k;
      with_shot(k, [&] { compute(k, contribution); });
      take(k, contribution);
    }
  }
  /// Returns advice on options that avoid an overflow.
  std::string overflow_advice() const { return m_options.names(wave::overflow_advice); }
  /// Calls a function and adds advice to its memory errors.
  template <class Function>
  void with_memory_advice(const Function& function) const {
    try {
      function();
    } catch (const MemoryError& error) {
      std::string text = error.what();
      const bool on_host = text.rfind("memory: the volumes", 0) == 0;
      const std::string name = m_options.names(on_host ? "memory" : "device_memory");
      if (text.rfind("a device memory", 0) == 0) throw MemoryError(concat(name, ": ", text));
      const std::string requested = ", as asked";
      const auto at = text.find(requested);
      if (at != std::string::npos) {
        text.replace(at, requested.size(), concat(", the ", name, " given"));
      }
      throw MemoryError(text + streaming_advice());
    }
  }
  /// Returns advice on options with which gradients stream and fit the memory; empty without any.
  std::string streaming_advice() const {
    if (!m_input.streams) return {};
    const ArgumentNames& names = m_options.names;
    ObjectiveOptions<Dim> other = m_options;
    std::vector<std::string> changes;
    if (m_options.ranks != nullptr) {  // each of them has a slab
      other.ranks = nullptr;
      other.devices = 1;
      changes.push_back(names("devices") + " 1");
    }
    if (m_options.concurrent_shots > 1) {
      other.concurrent_shots = 1;
      changes.push_back(names("(concurrent_shots)") + " 1");
    }
    const bool random = m_options.source_field == SourceField::random;
    if (!random) {
      other.source_field = SourceField::random;
      changes.push_back(names("source_field random"));
    }
    if (changes.empty() || !m_input.streams(other)) return {};
    std::string text;
    for (const std::string& change : changes) text += (text.empty() ? ", or " : " and ") + change;
    if (random) return text + ", with which the gradient streams";
    return concat(text, ", whose gradients stream planes of the model through ",
                  names("device_memory"));
  }
  /// Returns the names of the options whose larger values give a gradient more memory.
  /// \param budget bytes in all
  std::string memory_options(double budget) const {
    const ArgumentNames& names = m_options.names;
    const bool device = budget == static_cast<double>(m_options.device_memory);
    return names(device || !is_host_memory<Memory> ? "device_memory" : "memory");
  }

  ObjectiveInput<T, Dim, Memory> m_input;   ///< arguments of the objective
  const Instance<Memory>& m_exec;           ///< instance of m_input
  const Grid<Dim>& m_grid;                  ///< grid of m_input
  const ObjectiveOptions<Dim>& m_options;   ///< options of m_input
  const Model& m_start;                     ///< initial model of m_input
  wave::ModellingOptions<Dim> m_modelling;  ///< options of modelling, with the time step
  InvertedParameters m_inverted;            ///< inverted parameters besides vp
  ObservedData<Dim> m_data;                 ///< data in the current band
  wave::ModellingPlan<Dim> m_plan;          ///< plan of the current band

 private:
  bool m_needs_taper = false;
};

}  // namespace moho::fwi
