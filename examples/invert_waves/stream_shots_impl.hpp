// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of an inversion whose wavefields stream through a device: models, vectors and
/// sums are on the host.

#include "invert_waves/shot_data_impl.hpp"

#include <moho/fwi/stream_gradient.hpp>
#include <moho/wave/locate_overflow.hpp>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace moho::examples::invert_waves::detail {

/// Bytes that random boundaries take with everything in one memory.
template <class T, int Dim>
double random_in_core_bytes(const Job<T, Dim>& job) {
  const Options& o = *job.options;
  const wave::Medium medium = medium_of(o.model);
  const bool tti = medium == wave::Medium::tti;
  const int fields = wave::fields_of(medium);
  const int medium_arrays = medium == wave::Medium::isotropic          ? 1
                            : medium == wave::Medium::variable_density ? 2
                            : tti                                      ? 7
                                                                       : 4;
  const auto padded = [&](const wave::Boundaries<Dim>& faces) {
    const Grid<Dim> grid = wave::extended_grid(job.grid, faces);
    return static_cast<double>(wave::make_layout<T>(grid, job.modelling.order / 2).size);
  };
  const wave::Boundaries<Dim> random = random_faces_of<Dim>(o, job.boundaries);
  const auto nodes = static_cast<double>(job.grid.size());
  const auto unknowns = static_cast<double>(o.unknowns.size()) * nodes;
  const bool density = o.unknowns.size() > 1 && medium == wave::Medium::variable_density;
  // a wavefield, its medium, what D makes of it, factors of the adjoint
  const double adjoint = padded(job.boundaries) *
                         (2.0 * fields + medium_arrays + fields + fields + 1.0 + (density ? 1 : 0));
  // the source's wavefield, forwards and backwards
  const double source = padded(random) * (4.0 * fields + medium_arrays);
  const double models = nodes * (2.0 * medium_arrays + fields + (density ? 3.0 : 2.0));
  const double search = unknowns * (2.0 * o.memory_pairs + 8.0);
  return static_cast<double>(sizeof(T)) * (adjoint + source + models + search) + 8.0 * unknowns;
}

/// True where gradients stream: they were asked to, or do not fit in core, and can.
template <class T, int Dim, class Memory>
bool streams(const Instance<Memory>& exec, const Job<T, Dim>& job) {
  const Options& o = *job.options;
  if (o.source_field != SourceField::random) return false;
  if (o.block > 0 || o.updates > 0) return true;
  if (!can_stream(o)) return false;
  if (is_host_memory<Memory> && o.device_memory == 0) return false;
  const double budget = is_host_memory<Memory>
                            ? static_cast<double>(o.device_memory)
                            : static_cast<double>(memory_budget(exec, o.device_memory));
  return random_in_core_bytes(job) > budget;
}

/// Shots over one model after the other, by random boundaries in a stream.
template <class T, int Dim, class Memory>
class StreamedShots : public ShotData<T, Dim, Kokkos::HostSpace> {
  using Host = Kokkos::HostSpace;
  using Base = ShotData<T, Dim, Host>;
  using Base::m_exec, Base::m_job, Base::m_o, Base::m_options, Base::m_unknowns, Base::m_start,
      Base::m_true, Base::m_plan, Base::m_shots;

 public:
  /// Gradients stream through the device.
  static constexpr bool streamed = true;
  using typename Base::Add, typename Base::Model, typename Base::Pace, typename Base::Wanted;
  using Gradients = fwi::StreamedGradients<T, Dim, Memory>;

  /// \param exec of the host
  /// \param device whose memory wavefields go through
  StreamedShots(const Instance<Host>& exec, const Instance<Memory>& device, const Job<T, Dim>& job)
      : Base(exec, job), m_device(device) {}

  /// Gradients of the present band.
  Gradients& gradients() { return *m_gradients; }
  /// What was chosen for the present band.
  const wave::ModellingPlan<Dim>& plan() const { return m_plan; }
  /// Steps from one product to the next.
  std::int64_t every() const { return m_every; }

  /// Shots of the start in a band, whose faces do not move with the model, and the data.
  void set_band(int band) {
    m_gradients.reset();
    this->in_words([&] {
      m_gradients = make(m_start, this->wavelet_of(band), m_plan);
      return 0;
    });
    m_every = this->every_of(m_plan);
    this->filter(band);
  }

  /// Models or reads the data.
  void load_data() {
    if (m_job.gather) return this->take_data({});
    // the volumes of the band make room
    m_gradients.reset();
    std::unique_ptr<Gradients> modelling;
    this->in_true_words([&] {
      wave::ModellingPlan<Dim> ignored;
      modelling = make(this->faces_of_start() ? m_start : m_true, m_job.wavelet, ignored);
    });
    this->take_data(
        [&](const wave::Shot<Dim>& shot) { return gather_of(*modelling, m_true, shot); });
  }

  /// Traces of a shot over a model.
  std::vector<float> gather_of(const Model& model, const wave::Shot<Dim>& shot) {
    return gather_of(*m_gradients, model, shot);
  }

  /// \brief Misfits of a model over that of no model, and derivatives.
  /// \param model behind the faces of the start
  /// \param wanted which shots
  /// \param add gets what they add
  /// \param pace is told how far they are; none: nobody
  void evaluate(const Model& model, const Wanted& wanted, const Add& add, const Pace& pace) {
    if (!(m_plan.source_taper > 0.0)) m_gradients->update(model);
    const auto compute = [&](std::size_t k, ShotPart<T>& numbers) {
      const wave::Shot<Dim>& shot = m_shots[k];
      if (m_plan.source_taper > 0.0) m_gradients->update(tapered(model, shot));
      m_gradients->clear();
      fwi::StreamedShotOptions options;
      options.prefix = concat("shot ", shot.number, ": ");
      if (pace) {
        options.progress = [&](int leg, const wave::ShotProgress& now) { pace(k, leg, now); };
      }
      this->in_words([&] {
        const auto report = in_model([&] {
          return m_gradients->add(shot, this->random_of(shot), this->misfit_of(m_device, k),
                                  options);
        });
        numbers = {
            report.misfit, report.points, report.forward_seconds, report.backward_seconds, {}};
        return 0;
      });
    };
    this->each_shot(wanted, compute, [&](std::size_t k, const ShotPart<T>& numbers) {
      add(k, numbers, m_gradients->derivatives(), m_gradients->illumination());
      m_exec.fence();
    });
  }

 private:
  // Calls a function, whose overflows are told by nodes of the model.
  template <class Function>
  auto in_model(const Function& function) const {
    try {
      return function();
    } catch (const wave::NotFinite& failure) {
      throw wave::overflow_error<Dim>(failure, m_job.grid, m_plan.time.steps, overflow_advice);
    }
  }

  Model tapered(const Model& model, const wave::Shot<Dim>& shot) const {
    Model result = model;
    result.delta = wave::taper_delta<T, Dim, Host>(m_exec, m_job.grid, model, shot.sources,
                                                   m_plan.source_taper);
    return result;
  }

  std::vector<float> gather_of(Gradients& gradients, const Model& model,
                               const wave::Shot<Dim>& shot) const {
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

  std::unique_ptr<Gradients> make(const Model& model, const wave::WaveletAt& wavelet,
                                  wave::ModellingPlan<Dim>& plan) {
    const wave::ModellingOptions<Dim> modelling = this->options_for(model, wavelet);
    plan = wave::plan_modelling<T, Dim, Host>(m_exec, m_job.grid, model, m_job.boundaries, wavelet,
                                              modelling);
    Model stepped = model;
    if (plan.source_taper > 0.0) {
      stepped.delta = wave::taper_delta<T, Dim, Host>(m_exec, m_job.grid, model, modelling.sources,
                                                      plan.source_taper);
    }
    fwi::StreamedGradientOptions<Dim> o;
    o.propagator.dt = plan.time.dt;
    o.propagator.order = modelling.order;
    o.propagator.boundaries = m_job.boundaries;
    o.propagator.frequency = plan.frequency;
    o.propagator.equations = modelling.equations;
    o.propagator.sigma = modelling.sigma;
    o.random = plan.random;
    o.source_faces = this->random_faces(m_job.boundaries);
    o.wavelet = plan.wavelet;
    o.steps = plan.time.steps;
    o.every = this->every_of(plan);
    o.unknowns = m_unknowns;
    o.wishes.device_memory = m_o.device_memory;
    o.wishes.block = m_o.block;
    o.wishes.updates = m_o.updates;
    o.memory = m_o.memory;
    o.measure = !m_rates;
    if (m_rates) o.rates = *m_rates;
    auto result = std::make_unique<Gradients>(m_device, m_job.grid, stepped, m_job.shots, o);
    m_rates = result->rates();
    return result;
  }

  Instance<Memory> m_device;
  std::unique_ptr<Gradients> m_gradients;
  std::optional<stream::StreamRates> m_rates;  ///< measured once
  std::int64_t m_every = 1;
};

}  // namespace moho::examples::invert_waves::detail
