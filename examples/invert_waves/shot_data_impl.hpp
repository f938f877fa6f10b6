// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of an inversion: models, and data in a band, wherever waves are stepped.

#include "common/data_check.hpp"
#include "common/format.hpp"
#include "common/memory.hpp"
#include "invert_waves/compute.hpp"

#include <moho/core/copy.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves::detail {

/// True for gradients that a stream can form.
inline bool can_stream(const Options& o) {
  for (const std::string& name : o.unknowns) {
    if (name == "epsilon" || name == "delta") return false;
  }
  return !o.extended && medium_of(o.model) != wave::Medium::tti;
}

/// \brief Faces from which the source's wavefield is run back with `--source-field random`.
///
/// Each absorbing layer becomes a random one of `--width` nodes, 60 by default. Random layers of
/// `--boundary` stay.
template <int Dim>
wave::Boundaries<Dim> random_faces_of(const Options& o, wave::Boundaries<Dim> faces) {
  constexpr int usual_width = 60;
  for (int d = 0; d < Dim; ++d) {
    for (wave::Face* face : {&faces.lower[d], &faces.upper[d]}) {
      if (!face->layered() || face->kind == wave::FaceKind::random) continue;
      *face = {wave::FaceKind::random, o.width.value_or(usual_width)};
    }
  }
  return faces;
}

/// Advice for a gradient that does not fit the memory of a device: ", or --source-field random
/// ..."; empty if the gradient cannot stream, or is already the one that streams.
template <class Memory>
std::string streaming_advice(const Options& o) {
  const bool limited = !is_host_memory<Memory> || o.device_memory > 0;
  if (o.source_field == SourceField::random || !limited || !can_stream(o)) return {};
  return ", or --source-field random, whose gradients stream planes of the model through "
         "--device-memory";
}

/// Models in a memory, and what is known of the shots before any of them is modelled.
template <class T, int Dim, class Memory>
class ShotData {
 public:
  using Model = wave::Model<T, Dim, Memory>;
  /// Gets a shot's numbers, its derivatives by the parameters, and its illumination.
  using Add = std::function<void(std::size_t k, const ShotPart<T>& numbers, const Model& derivative,
                                 const Field<T, Dim, Memory>& light)>;
  /// Asked for each shot in their order whether it is to be computed; none: all are.
  using Wanted = std::function<bool(std::size_t k)>;
  /// Told how far a leg of shot k has come.
  using Pace = std::function<void(std::size_t k, int leg, const wave::ShotProgress& now)>;

  ShotData(const Instance<Memory>& exec, const Job<T, Dim>& job)
      : m_exec(exec), m_job(job), m_o(*job.options), m_options(job.modelling) {
    for (const std::string& name : m_o.unknowns) {
      if (name == "rho") m_unknowns.density = true;
      if (name == "epsilon" || name == "delta") m_unknowns.anisotropy = true;
    }
    m_needs_taper = m_unknowns.anisotropy && !m_options.source_taper;
    m_options.memory = std::size_t{1} << 62;  // looked at with all that an inversion takes
    m_options.time.snapshot_every = 0.0;
    for (const auto& shot : job.shots) {
      m_options.receivers =
          std::max(m_options.receivers, static_cast<std::int64_t>(shot.receivers.size()));
      m_options.sources.insert(m_options.sources.end(), shot.sources.begin(), shot.sources.end());
    }
    read_models();
  }

  /// Where models and vectors are.
  const Instance<Memory>& exec() const { return m_exec; }
  /// How shots are modelled; dt is chosen by the plan.
  wave::ModellingOptions<Dim>& options() { return m_options; }
  /// The start.
  const Model& start() const { return m_start; }
  /// The model of modelled data; no field where data are read.
  const Model& truth() const { return m_true; }
  /// The shots with their live traces.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots; }
  /// Their data in the band.
  const std::vector<fwi::ObservedShot>& observed() const { return m_observed; }

  /// The stable step, and velocities, of a model.
  wave::Limits limits_of(const Model& model) const {
    return wave::limits_of<T, Dim, Memory>(m_exec, m_job.grid, model, m_options.order,
                                           m_options.equations, m_options.sigma);
  }

  /// \brief Checks the contrasts of an updated density.
  /// \throws InputError with both nodes and their densities
  void check_updated_density(const Model& model) const {
    try {
      limits_of(model);
    } catch (const InputError& error) {
      throw InputError(concat(
          "--bounds: the inversion has reached a model that cannot be stepped: ", error.what(),
          ", or narrow --bounds rho:LEAST:GREATEST"));
    }
  }

  /// The misfit of no model in the band.
  double size() const { return m_size; }
  /// Takes it from elsewhere, where not all shots are there.
  void set_size(double size) { m_size = size; }

  /// What is to be said of the times at which data begin, after the first set_band().
  std::string check_onsets() const {
    const double dt = m_plan.time.dt;
    const std::vector<double> samples = m_job.wavelet(dt);
    const survey::WaveletTimes wavelet = survey::wavelet_times(samples, dt);
    // a Ricker wavelet's highest frequency is 2.4 times that of its peak
    OnsetCheck check(wavelet, 2.4 / wave::highest_frequency(samples, dt));
    eikonal::Model<T, Dim, Memory> model;
    model.velocity = m_start.vp;
    model.epsilon = m_start.epsilon;
    model.delta = m_start.delta;
    for (const std::size_t k : shots_to_check<Dim>(m_job.shots.size())) {
      const survey::ShotGather<Dim> gather = m_job.gather(k);
      if (gather.shot.receivers.empty()) continue;
      const double shift = m_o.zero == survey::WaveletZero::peak ? wavelet.peak : 0.0;
      check.add(gather.samples, gather.count, gather.dt, gather.t0 + shift,
                survey::arrival_times<T, Dim, Memory>(m_exec, m_job.grid, model, gather.shot));
    }
    return check.note();
  }

  /// The corner of a band's low-pass, Hz; 0: none.
  double frequency_of(int band) const {
    return m_o.bands.empty() ? 0.0 : m_o.bands[static_cast<std::size_t>(band)];
  }

 protected:
  // Options by the words of the library. With --bands it is these that bound the frequency.
  std::map<std::string, std::string> option_names(std::map<std::string, std::string> names) const {
    names["sources"] = m_job.sources_name;
    names["receivers"] = m_job.receivers_name;
    names["wavelet"] = m_job.wavelet_name;
    if (!m_o.bands.empty()) names["bands"] = "--bands";
    return names;
  }

  template <class Function>
  auto in_words(const Function& function) const {
    try {
      return function();
    } catch (const InputError& error) {
      std::string text = error.what();
      if (text.rfind("device memory", 0) == 0) text[6] = '-';
      throw InputError(in_options(text, m_job.names,
                                  option_names({{"device-memory", "--device-memory"},
                                                {"block", "--block"},
                                                {"updates", "--updates"}})));
    } catch (const MemoryError& error) {
      const std::string text = error.what();
      if (text.rfind("a device memory", 0) != 0) {
        throw with_advice(error, "--device-memory", streaming_advice<Memory>(m_o));
      }
      throw MemoryError("--device-memory: " + text);
    }
  }

  // The wavelet of a band, as long as the run: the filter rings on.
  wave::WaveletAt wavelet_of(int band) const {
    const double corner = frequency_of(band), time = m_options.time.time;
    const wave::WaveletAt given = m_job.wavelet;
    if (corner == 0.0) return given;
    return [=](double dt) {
      std::vector<double> samples = given(dt);
      const auto count = static_cast<std::size_t>(std::ceil(time / dt)) + 2;
      if (samples.size() < count) samples.resize(count, 0.0);
      fwi::low_pass(samples, static_cast<std::int64_t>(samples.size()), dt, corner);
      return samples;
    };
  }

  // Options that shots over a model are modelled with, in a band.
  wave::ModellingOptions<Dim> options_for(const Model& model,
                                          const wave::WaveletAt& wavelet) const {
    wave::ModellingOptions<Dim> options = m_options;
    if (m_needs_taper) {
      // a start without anisotropy would have no taper, and get one later
      const wave::ModellingPlan<Dim> p = wave::plan_modelling<T, Dim, Memory>(
          m_exec, m_job.grid, model, m_job.boundaries, wavelet, options);
      options.source_taper = 2.0 * p.limits.greatest_velocity / p.frequency;
    }
    return options;
  }
  // Steps from one product of the wavefields to the next.
  std::int64_t every_of(const wave::ModellingPlan<Dim>& p) const {
    const std::int64_t rule =
        std::max<std::int64_t>(snapshot::snapshot_interval(p.wavelet, p.time.dt) / 2, 1);
    return std::min(m_o.every > 0 ? m_o.every : rule, p.time.steps);
  }
  // The data through the filter of a band, with weights that end smoothly.
  void filter(int band) {
    m_observed = m_data;
    m_size = 0.0;
    m_highest = snapshot::highest_of_products(m_plan.wavelet, m_plan.time.dt);
    const double end = static_cast<double>(m_plan.time.steps) * m_plan.time.dt;
    for (fwi::ObservedShot& shot : m_observed) {
      if (shot.samples.empty()) continue;  // left out
      shot.end_taper = std::min(tapered_periods / m_highest, tapered_part * end);
      if (frequency_of(band) > 0.0) {
        fwi::low_pass(shot.samples, shot.count, shot.dt, frequency_of(band));
      }
      m_size += size_of(shot);
    }
  }
  // Whether data come from a model, and that model is behind the faces of the start.
  bool faces_of_start() const { return m_true.medium() == m_start.medium(); }
  // Reads the data, or models them by a function of a shot. Where one shot alone is asked for, the
  // others have none.
  void take_data(const std::function<std::vector<float>(const wave::Shot<Dim>&)>& model_shot) {
    const auto& p = m_plan;
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) {
      fwi::ObservedShot shot;
      wave::Shot<Dim> geometry = m_job.shots[k];
      if (m_job.only && k != *m_job.only) {
        m_shots.push_back(geometry);
        m_data.push_back(std::move(shot));
        continue;
      }
      shot.dt = p.time.dt;
      shot.count = p.time.steps + 1;
      shot.name = concat("shot ", geometry.number);
      if (model_shot) {
        shot.samples = model_shot(geometry);
      } else {
        read_gather(k, shot, geometry);
      }
      shot.receivers = static_cast<std::int64_t>(geometry.receivers.size());
      weigh(geometry, shot);
      try {
        fwi::check_observed(shot);
      } catch (const InputError& error) {
        throw InputError(concat(m_job.data_name, ": ", error.what()));
      }
      m_shots.push_back(geometry);
      m_data.push_back(std::move(shot));
      if (m_job.progress) {
        m_job.progress(0.0, concat("data of shot ", k + 1, " of ", m_job.shots.size()));
      }
    }
  }
  // Makes something of the true model; messages are in the words of its options.
  template <class Function>
  void in_true_words(const Function& function) const {
    try {
      function();
    } catch (const InputError& error) {
      throw InputError(in_options(error.what(), m_job.true_names, option_names({})));
    }
  }
  // The misfit of a shot, whose arrays are in the memory of an instance.
  template <class Space>
  fwi::ShotMisfit<T, Space> misfit_of(const Instance<Space>& exec, std::size_t k) const {
    return [this, exec, k](const wave::PointSeries<const T, Space>& modelled,
                           const wave::PointSeries<T, Space>& derivative) {
      const std::vector<T> rows = download(exec, modelled);
      std::vector<T> slopes;
      const double f = fwi::shot_misfit(m_o.misfit, m_observed[k], rows, slopes) / m_size;
      for (T& slope : slopes) slope = static_cast<T>(static_cast<double>(slope) / m_size);
      // frequencies that alias in a sum over every few steps add nothing to that over all steps
      const double dt = m_plan.time.dt;
      const double stop = 1.0 / (static_cast<double>(every_of(m_plan)) * dt) - m_highest;
      fwi::remove_aliases(slopes, m_observed[k].receivers, dt, m_highest,
                          std::max(stop, 1.25 * m_highest));
      copy(exec, wave::Storage<T, Space>(derivative.data(), slopes.size()),
           HostElements<const T>(slopes.data(), slopes.size()));
      exec.fence();
      return f;
    };
  }
  // Faces that the source's wavefield can be run back from.
  wave::Boundaries<Dim> random_faces(const wave::Boundaries<Dim>& faces) const {
    return random_faces_of<Dim>(m_o, faces);
  }
  // The random layers of a shot: the same in every evaluation.
  wave::RandomLayerOptions random_of(const wave::Shot<Dim>& shot) const {
    wave::RandomLayerOptions random = m_plan.random;
    random.seed = m_o.seed + static_cast<std::uint64_t>(shot.number);
    return random;
  }
  // For each wanted shot k: compute(k, numbers), whose errors get the shot's name, then
  // hand_out(k, numbers).
  template <class Compute, class HandOut>
  void each_shot(const Wanted& wanted, const Compute& compute, const HandOut& hand_out) const {
    for (std::size_t k = 0; k < m_shots.size(); ++k) {
      if (wanted && !wanted(k)) continue;
      ShotPart<T> numbers;
      named(k, [&] { compute(k, numbers); });
      hand_out(k, numbers);
    }
  }
  // Calls a function whose errors get the shot's name.
  template <class Function>
  void named(std::size_t k, const Function& function) const {
    try {
      function();
    } catch (const InputError&) {
      throw;
    } catch (const MemoryError&) {
      throw;
    } catch (const Error& error) {
      throw Error(concat("shot ", m_shots[k].number, ": ", error.what()));
    }
  }

  Instance<Memory> m_exec;
  const Job<T, Dim>& m_job;
  const Options& m_o;
  wave::ModellingOptions<Dim> m_options;
  fwi::Unknowns m_unknowns;
  Model m_start, m_true;
  wave::ModellingPlan<Dim> m_plan;                    ///< of the present band
  std::vector<wave::Shot<Dim>> m_shots;               ///< live traces
  std::vector<fwi::ObservedShot> m_data, m_observed;  ///< as they came, in the band

 private:
  void read_models() {
    if (m_job.true_values != nullptr) {
      try {
        m_true = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.true_values);
        wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_true);
        limits_of(m_true);  // checks contrasts of the density
      } catch (const InputError& error) {
        throw InputError(in_options(error.what(), m_job.true_names, {}));
      }
    }
    in_words([&] {
      m_start = to_model<T, Dim, Memory>(m_exec, m_job.grid, *m_job.values);
      wave::check_model<T, Dim, Memory>(m_exec, m_job.grid, m_start);
      limits_of(m_start);  // checks contrasts of the density
      return 0;
    });
  }

  // The misfit of a shot without a model.
  double size_of(const fwi::ObservedShot& shot) const {
    std::vector<float> nothing(shot.samples.size(), 0.0f), ignored;
    return fwi::shot_misfit(m_o.misfit, shot, nothing, ignored);
  }

  void read_gather(std::size_t k, fwi::ObservedShot& shot, wave::Shot<Dim>& geometry) const {
    survey::ShotGather<Dim> gather;
    try {
      gather = m_job.gather(k);
    } catch (const FileError& error) {
      throw InputError(concat(m_job.data_name, ": ", error.what()));
    }
    if (m_job.note) {
      for (const std::string& note : gather.notes) m_job.note(concat(gather.name, ": ", note));
    }
    if (gather.shot.receivers.empty()) {
      throw InputError(concat(m_job.data_name, ": ", gather.name,
                              " has no live trace (allowed: shots with data): leave it out"));
    }
    const auto& p = m_plan;
    const double end = gather.t0 + gather.dt * static_cast<double>(gather.count - 1);
    const double time = p.time.dt * static_cast<double>(p.time.steps);
    if (end < time - 1.5 * std::max(gather.dt, p.time.dt) && m_o.time > 0.0) {
      throw InputError(concat("--time is ", m_o.time, " s, and the traces of ", gather.name,
                              " end at ", end,
                              " s (allowed: no longer than the data): shorten it"));
    }
    survey::PrepareOptions options;
    options.dt = p.time.dt;
    options.samples = p.time.steps + 1;
    options.zero = m_o.zero;
    options.wavelet = survey::wavelet_times(m_job.wavelet(p.time.dt), p.time.dt);
    survey::PreparedShot<Dim> data = survey::prepare(gather, options);
    shot.samples = std::move(data.samples);
    geometry = data.shot;
  }

  void weigh(const wave::Shot<Dim>& geometry, fwi::ObservedShot& shot) const {
    const Point<Dim>& source = geometry.sources.front();
    for (const Point<Dim>& receiver : geometry.receivers) {
      double square = 0.0;
      for (int d = 0; d + 1 < Dim; ++d) {
        square += (receiver[d] - source[d]) * (receiver[d] - source[d]);
      }
      shot.weights.push_back(fwi::offset_weight(m_o.offset_weights, std::sqrt(square)));
      if (m_o.mute.kind == survey::MuteOptions::Kind::none) continue;
      const double depth = receiver[Dim - 1] - source[Dim - 1];
      shot.begins.push_back(std::sqrt(square + depth * depth) / m_o.mute.velocity +
                            std::max(m_o.mute.delay, 0.0));
    }
    shot.taper = m_o.mute.taper >= 0.0 ? m_o.mute.taper : 0.5 / m_plan.frequency;
  }

  // Length of the taper at the end of records: periods of the highest frequency, at most a part of
  // the record.
  static constexpr double tapered_periods = 3.0, tapered_part = 1.0 / 3.0;

  bool m_needs_taper = false;
  double m_size = 0.0;     ///< the misfit of no model
  double m_highest = 0.0;  ///< of the wavelet of the present band, Hz
};

}  // namespace moho::examples::invert_waves::detail
