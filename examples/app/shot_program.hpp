// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shared parts of programs that model shots.
///
/// They read the model, check the survey, resume an earlier run, and write gathers, SEG-Y and the
/// summary.

#include "app/memory.hpp"
#include "app/program.hpp"
#include "app/shot_list.hpp"
#include "app/wave_options.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/space.hpp>
#include <moho/domain/types.hpp>
#include <moho/io/segy.hpp>
#include <moho/survey/shot_work.hpp>
#include <moho/wave/modelling.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// Description of a run, known before its first step and completed after its last.
struct WaveReport {
  wave::TimePlan time;                            ///< time step, steps and samples
  wave::Medium medium = wave::Medium::isotropic;  ///< of the model
  wave::Limits limits;                            ///< velocities and stability of the model
  std::vector<std::int64_t> extended;             ///< nodes of the grid with its layers
  double frequency = 0.0;                         ///< highest of the wavelet, Hz
  /// radius around sources within which delta is tapered to epsilon, m; 0: no tapering
  double source_taper = 0.0;
  double peak_time = 0.0;              ///< of the largest sample of the wavelet, seconds
  double nodes_per_wave = 0.0;         ///< of the shortest wave
  double nodes_per_wave_wanted = 0.0;  ///< recommended at this order
  std::size_t bytes = 0;               ///< estimated bytes of the run in the space
  int at_once = 1;                     ///< concurrent shots
  int batch_size = 1;                  ///< of these, shots in one batch
  int chains = 1, recorders = 1;       ///< of a stream::StreamSurveyReport
  int parameter_bits = 0;              ///< bits of a stored parameter
  std::string device;                  ///< name of the device or processor
  int threads = 1;                     ///< threads of the space

  PhaseTimes phases;      ///< seconds of phases
  survey::ShotWork work;  ///< of all shots

  /// Copies a plan's times and waves, without its memory.
  template <int Dim>
  void take(const wave::ModellingPlan<Dim>& plan) {
    for (int d = 0; d < Dim; ++d) extended.push_back(plan.grid.extents[d]);
    time = plan.time;
    medium = plan.medium;
    limits = plan.limits;
    frequency = plan.frequency;
    source_taper = plan.source_taper;
    peak_time = plan.peak_time;
    nodes_per_wave = plan.nodes_per_wave;
    nodes_per_wave_wanted = plan.nodes_per_wave_wanted;
    at_once = plan.concurrent_shots;
    batch_size = plan.batch_size;
    parameter_bits = plan.parameter_bits;
  }
  /// Copies a stream::StreamSurveyReport.
  void take_stream(const auto& from) {
    take(from.modelling);
    bytes = from.plan.device_bytes;
    chains = from.chains, recorders = from.recorders;
    phases = from.phases;
    work = {from.points, from.whole_points, from.seconds, from.domain_seconds};
  }
};

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct WaveJob {
  Grid<Dim> grid;                                            ///< of the model
  std::map<std::string, std::vector<T>>* values = nullptr;   ///< by option: "vp", "rho" ...
  const std::map<std::string, double>* constants = nullptr;  ///< parameters that are one number
  std::map<std::string, std::string> names;                  ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;                        ///< positions in m
  std::string sources_name, receivers_name, wavelet_name;    ///< for messages
  wave::Boundaries<Dim> boundaries;                          ///< faces of the model
  /// times, order, equations; each shot has its own sources
  wave::ModellingOptions<Dim> modelling;
  domain::ExpansionMethod expand = domain::ExpansionMethod::none;  ///< nodes of every step
  domain::DomainOptions domain;                                    ///< of `expand`
  wave::WaveletAt wavelet;                                         ///< of all sources

  /// Calls a function on all ranks; if it throws on one, all throw the same exception.
  std::function<void(const std::function<void()>&)> collectively;
  int ranks = 1;  ///< ranks that compute shots
  /// True if a shot is complete and is not computed.
  std::function<bool(std::size_t shot)> is_present;
  /// True if this process computes the shot. Call it once for each shot, in order.
  std::function<bool(std::size_t shot)> takes;
  /// Called when everything is checked, before the first step. False: compute nothing.
  std::function<bool(const WaveReport&)> begins;
  /// Receives the traces of a shot, receivers x samples, and its work.
  std::function<void(std::size_t shot, const wave::Traces<T>&, const survey::ShotWork&)> gather;
  /// Frees the memory of `values`, which are no longer needed.
  std::function<void()> drop_values;
  Progress progress;  ///< draws the progress bar; may be empty

  /// Words a message of the library in terms of the options.
  /// \param more names of further arguments of the program
  std::string in_options(const std::string& text,
                         const std::map<std::string, std::string>& more = {}) const;
  /// Returns options with the sources of all shots, and the receivers of the largest shot.
  wave::ModellingOptions<Dim> modelling_of_shots() const;
  /// Reports the progress of shots. \param now wave::ShotProgress of a shot
  template <class ShotProgress>
  void tell(std::size_t shot, const ShotProgress& now) const {
    if (!progress) return;
    tell(shot, static_cast<double>(now.step) / static_cast<double>(now.steps), now.seconds,
         now.seconds_left, now.points_per_second);
  }
  /// \overload
  void tell(std::size_t shot, double part, double seconds, double seconds_left,
            double points_per_second) const;
  /// Reports the progress of concurrent shots. \param done shots, including fractions
  void tell_all(int at_once, double done, double points_per_second, double seconds) const;
};

/// Arrays of modelling, estimated from options and headers.
struct WaveArrays {
  std::string shape_with_layers;  ///< "101 x 81 nodes", for messages
  double whole = 0.0;             ///< nodes including layers
  double padded = 0.0;            ///< elements of a padded array of them
  double parameters = 0.0;        ///< arrays of the model, including a modified delta
  double media = 0.0;             ///< padded arrays of the medium that a step reads
  double fields = 1.0;            ///< wavefields: p, or p and q
  double slopes = 0.0;            ///< padded arrays of `media` that are work space of TTI
  double layers = 0.0;            ///< elements of the absorbing layers' memory: three arrays
  bool tapered = false;           ///< delta is modified around sources, in a copy
};

/// Returns the number of concurrent shots in addition to one, as far as options give it.
inline double shots_besides(const WaveOptions& options) {
  return options.at_once > 1 ? options.at_once - 1.0 : 0.0;
}

/// Estimates the arrays from options and headers.
template <class T>
WaveArrays wave_arrays(const WaveOptions& options, const EarthModelNeed& need);

/// Throws MemoryError if a model and its waves need more memory than allowed.
/// `more` is advice, beginning with ", or".
void check_wave_memory(const WaveOptions& options, const EarthModelNeed& need,
                       const WaveArrays& arrays, const MemoryEstimate& estimate,
                       const MemoryLimit& limit, const std::string& more = {});

/// A run from options to files.
/// Programs derive from it, and define how shots are computed and what else is written.
template <class T, int Dim>
class ShotProgram {
 public:
  /// Creates a run.
  /// \param options,session must outlive the program
  /// \param memory estimate so far
  ShotProgram(const WaveOptions& options, EarthModel<T>&& model, const MemoryEstimate& memory,
              const MemoryLimit& limit, Session& session);
  ShotProgram(const ShotProgram&) = delete;
  ShotProgram& operator=(const ShotProgram&) = delete;
  virtual ~ShotProgram() = default;

  /// Checks, computes and writes.
  void run();

 protected:
  /// Computes the incomplete shots of the job.
  virtual WaveReport compute(const WaveJob<T, Dim>& job) = 0;
  /// Returns the memory in the space, for the end of a line: "3 MiB on openmp".
  virtual std::string takes(const WaveReport& report) const = 0;
  /// Prints program-specific lines of the plan.
  virtual void print_plan() const {}
  /// Changes program-specific members of the job.
  virtual void prepare_job(WaveJob<T, Dim>& job) { (void)job; }
  /// Called for a shot taken over from an earlier run, with the data that part() gave.
  virtual void took_over(std::size_t shot, const Json& more) { (void)shot, (void)more; }
  /// Adds program-specific memory when the plan is known.
  virtual void take_more(MemoryEstimate& memory) const { (void)memory; }
  /// Called when all is checked: announces files, describes them in the summary.
  virtual void begins(const WaveReport& report) = 0;
  /// Called when a shot is computed and its gather written.
  /// Adds the shot's other files, and what a resumed run needs instead of computing it.
  virtual void part(std::size_t shot, std::vector<std::string>& files, Json& more) = 0;
  /// Called when all is computed and written: writes more, and completes summary and ending.
  virtual void finish(const WaveReport& report, Ending& ending) = 0;

  /// Waits until vp.npy is written, which starts before the first step.
  /// Call it before the first result is recorded, so that vp.npy precedes it.
  void has_velocity();
  /// Returns true if a shot is complete.
  bool is_present(std::size_t shot) const { return m_list.is_present(shot); }
  /// Returns the model of the run.
  EarthModel<T>& model() { return m_model; }
  /// \overload
  const EarthModel<T>& model() const { return m_model; }
  /// Returns the session of the run.
  Session& session() const { return m_session; }
  /// Returns the plan of the run, as given to begins().
  const WaveReport& report() const { return m_report; }
  /// Returns the estimated memory so far.
  const MemoryEstimate& memory() const { return m_memory; }
  /// Returns the limit of the memory.
  const MemoryLimit& limit() const { return m_limit; }

 private:
  void prepare();
  void check_survey() const;
  bool begin(const WaveReport& report);
  void print(const WaveReport& report, double slowest, double fastest) const;
  void keep(std::size_t shot, const wave::Traces<T>& traces, const survey::ShotWork& work);
  std::string gather_name(std::size_t shot) const;
  Json model_json(const WaveReport& report) const;
  bool lists_receivers(std::size_t shot) const;
  double listed_bytes() const;
  Json shot_json(std::size_t shot) const;
  Json shots_json() const;
  void describe_run(const WaveReport& report);
  void write(const WaveReport& report);

  const WaveOptions& m_o;
  EarthModel<T> m_model;
  Session& m_session;
  WaveJob<T, Dim> m_job;
  WaveReport m_report;
  std::size_t m_receivers = 0;  // of all shots
  std::vector<io::Gather<T>> m_gathers;
  ShotList m_list;
  survey::ShotWork m_others;  // of shots of an earlier run and of sites
  Json m_wavelet;             // of the gathers, for their description
  bool m_begun = false;
  MemoryEstimate m_memory;
  MemoryLimit m_limit;
  std::future<void> m_velocity;  // vp.npy being written; it ends before the model does
};

namespace detail {
template <template <class, int> class Program, class T, class Options>
void run_shots_with(const Options& o, Session& session) {
  MemoryLimit limit;
  MemoryEstimate memory;
  EarthModel<T> model;
  session.processes().collectively([&] {
    session.will_write(Program<T, 2>::results(o));
    const int sharing = Program<T, 2>::ranks_take_the_same ? session.processes().size_of_host() : 1;
    limit = memory_limit(o, Program<T, 2>::memory_of_host(o), sharing);
    EarthModelNeed need = need_of_earth_model<T>(o.model);
    Program<T, 2>::estimate(o, need, limit, session.processes().size());  // narrowest sponges
    const HostPhase phase(session.phases, "read");
    model = load_earth_model<T>(o.model);
    need.sponge = recommended_sponge_width(model, model.mean("vp"), o.wavelet);
    memory = Program<T, 2>::estimate(o, need, limit, session.processes().size());
    session.leave_out_picture(why_no_picture(memory, limit));
  });
  if (model.shape.size() == 2) {
    Program<T, 2>(o, std::move(model), memory, limit, session).run();
  } else {
    Program<T, 3>(o, std::move(model), memory, limit, session).run();
  }
}
}  // namespace detail

/// Runs a program derived from ShotProgram in the requested precision and dimension.
/// Program has two static functions. results(options) returns the names of files that every run
/// writes. estimate(options, need, limit, ranks) returns its host memory without gathers. Its
/// ranks_take_the_same is true if each rank of a machine needs that memory.
template <template <class, int> class Program, class Options>
void run_shots(const Options& options, Session& session) {
  if (options.double_precision) {
    detail::run_shots_with<Program, double>(options, session);
  } else {
    detail::run_shots_with<Program, float>(options, session);
  }
}

}  // namespace moho::examples
