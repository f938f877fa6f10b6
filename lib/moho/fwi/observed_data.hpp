// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Data of an inversion: preparation, weights, and the low-pass of a band.

#include <moho/core/error.hpp>
#include <moho/fwi/misfit.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/snapshot/strategy.hpp>
#include <moho/survey/gathers.hpp>
#include <moho/survey/prepare.hpp>
#include <moho/survey/record_times.hpp>
#include <moho/wave/plan.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace moho::fwi {

/// \brief Returns the samples of a wavelet that a run injects, which determine the interval of
/// products.
///
/// The low-pass of a band may outlast a short record. Its data then contain only the beginning of
/// the response, which has relatively more high frequencies than the whole response.
template <int Dim>
std::vector<double> wavelet_in_run(const wave::ModellingPlan<Dim>& plan) {
  std::vector<double> samples = plan.wavelet;
  samples.resize(std::min(samples.size(), static_cast<std::size_t>(plan.time.steps) + 1));
  return samples;
}

/// \brief Observed traces of all shots at the time steps of a run, in a band.
template <int Dim>
class ObservedData {
 public:
  /// Returns modelled traces of a shot, receivers x (steps + 1).
  using ModelShot = std::function<std::vector<float>(const wave::Shot<Dim>&)>;
  /// Returns the gather of shot k.
  using Read = std::function<survey::ShotGather<Dim>(std::size_t)>;

  /// \param options options of the objective; they must outlive the data
  explicit ObservedData(const ObjectiveOptions<Dim>& options) : m_options(options) {}

  /// True after read() or model().
  bool loaded() const { return m_loaded; }
  /// Shots with their live traces.
  const std::vector<wave::Shot<Dim>>& shots() const { return m_shots; }
  /// Data of each shot in the band.
  const std::vector<ObservedShot>& in_band() const { return m_in_band; }
  /// Misfit of traces of zeros in the band, for normalisation.
  double size() const { return m_size; }
  /// Sets size(), if not all shots are loaded.
  void set_size(double size) { m_size = size; }

  /// \brief Reads data.
  /// \param shots all shots
  /// \param wavelet wavelet of the sources
  /// \param plan time steps, and highest frequency for tapers
  /// \throws InputError for data that cannot be inverted
  void read(const std::vector<wave::Shot<Dim>>& shots, const wave::WaveletAt& wavelet,
            const wave::ModellingPlan<Dim>& plan, const Read& read_shot) {
    load(shots, plan, [&](std::size_t k, ObservedShot& data, wave::Shot<Dim>& shot) {
      read_gather(read_shot, k, wavelet, plan, data, shot);
    });
  }
  /// Models data.
  /// \param shots all shots
  /// \param plan time steps, and highest frequency for tapers
  /// \param model_shot function that models a shot
  void model(const std::vector<wave::Shot<Dim>>& shots, const wave::ModellingPlan<Dim>& plan,
             const ModelShot& model_shot) {
    load(shots, plan, [&](std::size_t, ObservedShot& data, const wave::Shot<Dim>& shot) {
      data.samples = model_shot(shot);
    });
  }

  /// \brief Applies the low-pass of a band and the final taper of weights.
  /// \param plan plan of the band
  /// \param corner corner frequency, Hz; 0: no low-pass
  void filter(const wave::ModellingPlan<Dim>& plan, double corner) {
    m_in_band = m_data;
    m_size = 0.0;
    m_highest = snapshot::highest_of_products(wavelet_in_run(plan), plan.time.dt);
    const double end = static_cast<double>(plan.time.steps) * plan.time.dt;
    for (ObservedShot& shot : m_in_band) {
      if (shot.samples.empty()) continue;  // not loaded
      const double recorded = std::min(shot.data_end, end) - shot.data_begin;
      shot.end_taper = std::min(tapered_periods / m_highest, tapered_part * recorded);
      if (corner > 0.0) {
        const std::vector<double> edges = first_amplitudes(shot, plan.frequency);
        low_pass(shot.samples, shot.count, shot.dt, corner);
        if (shot.data_begin > 0.0) omit_response(shot, edges, corner);
      }
      m_size += misfit_without_model(shot);
    }
    if (m_in_band.empty() || m_options.only || m_size > 0.0) return;
    throw InputError(concat(m_options.names("bands"), ": no sample of the data has a weight at ",
                            corner, " Hz (allowed: data that begin before the waves, or go on for ",
                            "longer than the low-pass responds): omit this band"));
  }

  /// \brief Returns the misfit of a shot divided by size(), and its adjoint source.
  /// \param k position of the shot
  /// \param modelled samples x receivers
  /// \param dt interval of modelled samples, s
  /// \param product_interval steps between products of the wavefields
  /// \param adjoint_source written: samples x receivers
  template <class T>
  double misfit(std::size_t k, const std::vector<T>& modelled, double dt,
                std::int64_t product_interval, std::vector<T>& adjoint_source) const {
    const double f = unfiltered_misfit(k, modelled, adjoint_source);
    remove_aliases(adjoint_source, m_in_band[k].receivers, dt, m_highest,
                   alias_stop(dt, product_interval));
    return f;
  }
  /// Returns the misfit and the adjoint source as misfit(), before filter_weights() are applied.
  template <class T>
  double unfiltered_misfit(std::size_t k, const std::vector<T>& modelled,
                           std::vector<T>& adjoint_source) const {
    const double f = shot_misfit(m_options.misfit, m_in_band[k], modelled, adjoint_source) / m_size;
    if (m_options.misfit.kind == MisfitKind::least_squares) compare_strength(k, modelled);
    // leaves room for the wavefield of the source
    constexpr double largest = 1e-8 * static_cast<double>(std::numeric_limits<T>::max());
    for (T& value : adjoint_source) {
      const double scaled = static_cast<double>(value) / m_size;
      if (std::isfinite(value) && !(std::fabs(scaled) < largest)) throw too_weak(k, modelled);
      value = static_cast<T>(scaled);
    }
    return f;
  }
  /// \brief Notes data that are much stronger or weaker than modelled traces.
  ///
  /// The least-squares misfit compares amplitudes. The note is written once, after an evaluation,
  /// of the first shot, in order, whose data and modelled traces have waves.
  void note_amplitudes() {
    const std::lock_guard lock(m_strength->mutex);
    const double times = m_strength->value;
    if (m_noted || !(times > 0.0) || !m_options.note) return;
    m_noted = true;
    if (times < strong && times > 1.0 / strong) return;
    m_options.note(concat(
        "the data are ", times < 1.0 ? 1.0 / times : times, " times as ",
        times < 1.0 ? "weak" : "strong",
        " as the modelled traces of the start (root mean square), ",
        "and the least-squares misfit compares amplitudes: scale the data or the wavelet, or take ",
        m_options.names("misfit correlation")));
  }
  /// Returns the weights of the filter of adjoint sources: alias_weights().
  std::vector<double> filter_weights(double dt, std::int64_t product_interval) const {
    return alias_weights(dt, m_highest, alias_stop(dt, product_interval));
  }

 private:
  // Final taper of records: periods of the highest frequency, at most a fraction of the record.
  static constexpr double tapered_periods = 3.0, tapered_part = 1.0 / 3.0;

  // Factor of amplitudes from which a note is written.
  static constexpr double strong = 100.0;

  // Returns the root mean square of the data of a shot divided by that of modelled traces, samples
  // x receivers; infinite without modelled waves.
  template <class T>
  static double strength(const ObservedShot& shot, const std::vector<T>& modelled) {
    double observed = 0.0, other = 0.0;
    for (std::int64_t r = 0; r < shot.receivers; ++r) {
      for (std::int64_t n = 0; n < shot.count; ++n) {
        const double w = shot.weight(r, n);
        const double o =
            w * static_cast<double>(shot.samples[static_cast<std::size_t>(r * shot.count + n)]);
        const double d =
            w * static_cast<double>(modelled[static_cast<std::size_t>(n * shot.receivers + r)]);
        observed += o * o;
        other += d * d;
      }
    }
    return std::sqrt(observed / other);
  }
  // Keeps the strength of the first shot, in order, that has one; threads share the shots.
  template <class T>
  void compare_strength(std::size_t k, const std::vector<T>& modelled) const {
    const std::lock_guard lock(m_strength->mutex);
    if (k >= m_strength->shot) return;
    const double times = strength(m_in_band[k], modelled);
    if (!(times > 0.0) || !std::isfinite(times)) return;
    m_strength->shot = k;
    m_strength->value = times;
  }
  template <class T>
  InputError too_weak(std::size_t k, const std::vector<T>& modelled) const {
    return InputError(concat(m_options.names("data"), ": ", m_in_band[k].name, ": the data are ",
                             1.0 / strength(m_in_band[k], modelled),
                             " times as weak as the modelled traces (root mean square), with which "
                             "the gradient exceeds ",
                             sizeof(T) == 4 ? "single" : "double",
                             " precision (allowed: about equal amplitudes): scale ",
                             "the data or the wavelet, or take ",
                             m_options.names("misfit correlation")));
  }

  // Frequencies that alias in the subsampled sum contribute nothing to the sum over all steps.
  double alias_stop(double dt, std::int64_t product_interval) const {
    return std::max(1.0 / (static_cast<double>(product_interval) * dt) - m_highest,
                    1.25 * m_highest);
  }

  // Returns the largest amplitude of each trace in the first half period of its data.
  static std::vector<double> first_amplitudes(const ObservedShot& shot, double frequency) {
    std::vector<double> edges(static_cast<std::size_t>(shot.receivers), 0.0);
    const std::int64_t first = first_sample(shot);
    const auto some = static_cast<std::int64_t>(std::ceil(0.5 / (frequency * shot.dt)));
    for (std::int64_t r = 0; r < shot.receivers; ++r) {
      const float* const trace = shot.samples.data() + r * shot.count;
      for (std::int64_t n = first; n < std::min(first + some, shot.count); ++n) {
        double& edge = edges[static_cast<std::size_t>(r)];
        edge = std::max(edge, std::fabs(static_cast<double>(trace[n])));
      }
    }
    return edges;
  }
  static std::int64_t first_sample(const ObservedShot& shot) {
    return static_cast<std::int64_t>(std::ceil(shot.data_begin / shot.dt));
  }
  // Filtered data that begin within a wave lack the response to its first part, which decays from
  // about the first amplitude. Begins the weights of such traces where that is below a hundredth of
  // the largest later sample.
  static void omit_response(ObservedShot& shot, const std::vector<double>& edges, double corner) {
    constexpr double level = 0.01;
    // of the slowest poles: 2 pi sin(pi / 16) times the corner
    const double decay = 1.2258 * corner;
    const std::int64_t first = first_sample(shot);
    for (std::int64_t r = 0; r < shot.receivers; ++r) {
      const auto k = static_cast<std::size_t>(r);
      const float* const trace = shot.samples.data() + r * shot.count;
      double later = 0.0;
      std::int64_t begin = shot.count;
      for (std::int64_t n = shot.count - 1; n >= first; --n) {
        const double time = static_cast<double>(n) * shot.dt;
        later = std::max(later, std::fabs(static_cast<double>(trace[n])));
        if (edges[k] * std::exp(-decay * (time - shot.data_begin)) <= level * later) begin = n;
      }
      if (begin == first) continue;
      shot.begins[k] = std::max(shot.begins[k], static_cast<double>(begin) * shot.dt);
    }
  }
  double misfit_without_model(const ObservedShot& shot) const {
    std::vector<float> zeros(shot.samples.size(), 0.0f), ignored;
    return shot_misfit(m_options.misfit, shot, zeros, ignored);
  }

  // Loads the data of each shot by get(k, data, shot); with options.only of that shot only.
  template <class Get>
  void load(const std::vector<wave::Shot<Dim>>& shots, const wave::ModellingPlan<Dim>& plan,
            const Get& get) {
    for (std::size_t k = 0; k < shots.size(); ++k) {
      ObservedShot data;
      wave::Shot<Dim> shot = shots[k];
      if (m_options.only && k != *m_options.only) {
        m_shots.push_back(std::move(shot));
        m_data.push_back(std::move(data));
        continue;
      }
      data.dt = plan.time.dt;
      data.count = plan.time.steps + 1;
      data.name = concat("shot ", shot.number);
      get(k, data, shot);
      data.receivers = static_cast<std::int64_t>(shot.receivers.size());
      weigh(shot, plan, data);
      try {
        check_observed(data);
      } catch (const InputError& error) {
        throw InputError(concat(m_options.names("data"), ": ", error.what()));
      }
      m_shots.push_back(std::move(shot));
      m_data.push_back(std::move(data));
      if (m_options.progress) {
        m_options.progress(0.0, concat("data of shot ", k + 1, " of ", shots.size()));
      }
    }
    m_loaded = true;
    note_record(plan);
  }

  // Refuses a run beyond the end of all data; notes times of the run without data.
  void note_record(const wave::ModellingPlan<Dim>& plan) const {
    const double end = static_cast<double>(plan.time.steps) * plan.time.dt;
    std::size_t late = 0, early = 0, loaded = 0;
    double before = 0.0, after = 0.0, latest = 0.0;
    for (const ObservedShot& shot : m_data) {
      if (shot.samples.empty()) continue;
      ++loaded;
      late += shot.data_begin > 0.0 ? 1 : 0;
      early += shot.data_end < end ? 1 : 0;
      before = std::max(before, shot.data_begin);
      after = std::max(after, end - shot.data_end);
      latest = std::max(latest, shot.data_end);
    }
    if (early == loaded && m_options.complete_records && !m_options.only) {
      throw InputError(concat(m_options.names("time"), " is ", m_options.modelling.time.time,
                              " s, and the data end at ", latest,
                              " s of the run (allowed: no longer than the data): shorten it"));
    }
    const auto note = [&](std::size_t shots, double seconds, const char* context) {
      if (shots == 0 || !m_options.note) return;
      m_options.note(concat(shots, " of ", loaded, loaded == 1 ? " shot" : " shots",
                            shots == 1 ? " has" : " have", " no data in up to ",
                            std::round(1e4 * seconds) * 1e-4, " s at the ", context,
                            " of the run, which have no weight"));
    };
    note(late, before, "beginning");
    note(early, after, "end");
  }

  void read_gather(const Read& read_shot, std::size_t k, const wave::WaveletAt& wavelet,
                   const wave::ModellingPlan<Dim>& plan, ObservedShot& data,
                   wave::Shot<Dim>& shot) const {
    const std::string name = m_options.names("data");
    survey::ShotGather<Dim> gather;
    try {
      gather = read_shot(k);
    } catch (const FileError& error) {
      throw InputError(concat(name, ": ", error.what()));
    }
    if (m_options.note) {
      for (const std::string& note : gather.notes) m_options.note(concat(gather.name, ": ", note));
    }
    if (gather.shot.receivers.empty()) {
      throw InputError(concat(name, ": ", gather.name,
                              " has no live trace (allowed: shots with data): leave it out"));
    }
    const double dt = plan.time.dt;
    survey::PrepareOptions options;
    options.dt = dt;
    options.samples = plan.time.steps + 1;
    options.zero = m_options.zero;
    options.wavelet = survey::wavelet_times(wavelet(dt), dt);
    const survey::RecordTimes times =
        survey::record_times(gather, survey::time_shift(m_options.zero, options.wavelet.peak));
    const double time = dt * static_cast<double>(plan.time.steps);
    if (times.begin >= time || times.end <= 0.0) {
      throw InputError(concat(name, ": ", gather.name, " has data from ", times.begin, " to ",
                              times.end, " s of the run (allowed: data within 0 to ", time,
                              " s): change ", m_options.names("time"), ", or leave it out"));
    }
    if (times.begin > 0.5 * dt) data.data_begin = times.begin;
    if (times.end < time - 1.5 * std::max(gather.dt, dt)) data.data_end = times.end;
    survey::PreparedShot<Dim> prepared = survey::prepare(gather, options);
    data.samples = std::move(prepared.samples);
    shot = prepared.shot;
  }

  void weigh(const wave::Shot<Dim>& shot, const wave::ModellingPlan<Dim>& plan,
             ObservedShot& data) const {
    const Point<Dim>& source = shot.sources.front();
    const survey::MuteOptions& mute = m_options.mute;
    for (const Point<Dim>& receiver : shot.receivers) {
      double square = 0.0;
      for (int d = 0; d + 1 < Dim; ++d) {
        square += (receiver[d] - source[d]) * (receiver[d] - source[d]);
      }
      data.weights.push_back(offset_weight(m_options.offset_weights, std::sqrt(square)));
      const bool muted = mute.kind != survey::MuteOptions::Kind::none;
      if (!muted && data.data_begin <= 0.0) continue;
      const double depth = receiver[Dim - 1] - source[Dim - 1];
      const double muted_until =
          muted ? std::sqrt(square + depth * depth) / mute.velocity + std::max(mute.delay, 0.0)
                : 0.0;
      data.begins.push_back(std::max(muted_until, data.data_begin));
    }
    data.taper = mute.taper >= 0.0 ? mute.taper : 0.5 / plan.frequency;
  }

  const ObjectiveOptions<Dim>& m_options;
  bool m_loaded = false;
  std::vector<wave::Shot<Dim>> m_shots;         ///< live traces
  std::vector<ObservedShot> m_data, m_in_band;  ///< data with all frequencies, and in the band
  double m_size = 0.0;                          ///< misfit of traces of zeros
  // strength() of a shot
  struct Strength {
    std::mutex mutex;
    std::size_t shot = std::numeric_limits<std::size_t>::max();
    double value = 0.0;  // 0: unknown
  };
  std::shared_ptr<Strength> m_strength = std::make_shared<Strength>();
  bool m_noted = false;    ///< note_amplitudes() compared them
  double m_highest = 0.0;  ///< highest frequency of the wavelet of the band,
                           ///< Hz
};

}  // namespace moho::fwi
