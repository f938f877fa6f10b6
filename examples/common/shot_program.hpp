// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief What programs that model shots do around the waves: they read the model, check the
/// survey, go on with an earlier run, and write gathers, SEG-Y and the summary.

#include "common/memory.hpp"
#include "common/program.hpp"
#include "common/shot_list.hpp"
#include "common/wave_options.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/progress.hpp>
#include <moho/core/space.hpp>
#include <moho/domain/types.hpp>
#include <moho/io/segy.hpp>
#include <moho/wave/plan.hpp>

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples {

/// What a run was found to be, before its first step and after its last.
struct WaveReport {
  wave::TimePlan time;
  wave::Medium medium = wave::Medium::isotropic;
  wave::Limits limits;
  std::vector<std::int64_t> extended;  ///< nodes of the grid with its layers
  double frequency = 0.0;              ///< highest of the wavelet, Hz
  double source_taper = 0.0;           ///< delta goes to epsilon so near sources, m; 0: nowhere
  double peak_time = 0.0;              ///< of the largest sample of the wavelet, seconds
  double nodes_per_wave = 0.0;         ///< of the shortest wave
  double nodes_per_wave_wanted = 0.0;  ///< at this order
  std::size_t bytes = 0;               ///< estimate of what the run takes in the space
  int at_once = 1;                     ///< shots that are computed at once
  int together = 1;                    ///< of these, shots in step with each other
  std::string device;
  int threads = 1;

  PhaseTimes phases;
  double points = 0.0;          ///< nodes stepped
  double whole_points = 0.0;    ///< nodes of all steps without --expand
  double seconds = 0.0;         ///< of all steps with injection and recording
  double domain_seconds = 0.0;  ///< that finding the nodes to step took

  /// What a plan says of the time and the waves; not its memory.
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
    at_once = plan.at_once;
    together = plan.together;
  }
};

/// Traces on the host, receivers x samples.
template <class T>
struct Gather {
  const T* samples;  ///< a row a receiver
  std::int64_t receivers, count;
};

/// Input that is read but not yet checked against the model.
template <class T, int Dim>
struct WaveJob {
  Grid<Dim> grid;
  std::map<std::string, std::vector<T>>* values = nullptr;   ///< by option: "vp", "rho" ...
  const std::map<std::string, double>* constants = nullptr;  ///< those that are one number
  std::map<std::string, std::string> names;                  ///< of parameters, for messages
  std::vector<wave::Shot<Dim>> shots;
  std::string sources_name, receivers_name, wavelet_name;  ///< for messages
  wave::Boundaries<Dim> boundaries;
  wave::ModellingOptions<Dim> modelling;  ///< times, order, equations; sources are those of shots
  domain::ExpansionMethod expand = domain::ExpansionMethod::none;
  wave::WaveletAt wavelet;

  /// Calls a function on all ranks; if it throws on one, all throw the same.
  std::function<void(const std::function<void()>&)> together;
  /// Is a shot there already, so that it need not be computed?
  std::function<bool(std::size_t shot)> is_there;
  /// Is it this process that computes it? To be asked in the order of the shots, once each.
  std::function<bool(std::size_t shot)> takes;
  /// Everything is checked; the first step comes next. False: nothing is to be computed.
  std::function<bool(const WaveReport&)> begins;
  /// The traces of a shot, receivers x samples.
  std::function<void(std::size_t shot, const Gather<T>&)> gather;
  /// Gives the memory of `values` back, which nobody needs any more.
  std::function<void()> drop_values;
  Progress progress;

  /// A message of the library in the words of the options. \param more what to call arguments that
  /// the program has besides
  std::string in_options(const std::string& text,
                         const std::map<std::string, std::string>& more = {}) const;
  /// The options with the sources of all shots, and the receivers of the largest.
  wave::ModellingOptions<Dim> modelling_of_shots() const;
  /// Tells how far the shots are, where somebody looks. \param now wave::ShotProgress of a shot
  template <class ShotProgress>
  void tell(std::size_t shot, const ShotProgress& now) const {
    if (!progress) return;
    tell(shot, static_cast<double>(now.step) / static_cast<double>(now.steps), now.seconds,
         now.seconds_left, now.points_per_second);
  }
  /// \overload
  void tell(std::size_t shot, double part, double seconds, double seconds_left,
            double points_per_second) const;
  /// Tells how far several shots at once are. \param done shots, and parts of them
  void tell_all(int at_once, double done, double points_per_second, double seconds) const;
};

/// Arrays that modelling takes, from options and headers alone.
struct WaveArrays {
  std::string shape_with_layers;  ///< "101 x 81 nodes", for messages
  double whole = 0.0;             ///< nodes with layers
  double padded = 0.0;            ///< elements of an array of them as kernels read it
  double parameters = 0.0;        ///< arrays of the model, with a delta that is changed
  double media = 0.0;             ///< padded arrays that a step reads of the medium
  double fields = 1.0;            ///< p, or p and q
  double slopes = 0.0;            ///< padded arrays of `media` that are work space of TTI
  double layers = 0.0;            ///< elements that absorbing layers remember: three arrays
  bool tapered = false;           ///< delta is changed around sources, in a copy
};

/// Arrays that shots at once take besides those of one, as far as it is asked for.
inline double shots_besides(const WaveOptions& options) {
  return options.at_once > 1 ? options.at_once - 1.0 : 0.0;
}

/// What options and headers say of them.
template <class T>
WaveArrays wave_arrays(const WaveOptions& options, const EarthModelNeed& need);

/// Throws MemoryError if the estimate of a model and its waves is more than allowed. `more` is
/// advice, beginning with ", or".
void check_wave_memory(const WaveOptions& options, const EarthModelNeed& need,
                       const WaveArrays& arrays, const MemoryEstimate& estimate,
                       const MemoryLimit& limit, const std::string& more = {});

/// \brief A run from options to files. Programs derive from it and say how shots are computed, and
/// what they write besides.
template <class T, int Dim>
class ShotProgram {
 public:
  /// \param options,session have to live as long
  /// \param memory that is estimated so far
  ShotProgram(const WaveOptions& options, EarthModel<T>&& model, const MemoryEstimate& memory,
              const MemoryLimit& limit, Session& session);
  ShotProgram(const ShotProgram&) = delete;
  ShotProgram& operator=(const ShotProgram&) = delete;
  virtual ~ShotProgram() = default;

  /// Checks, computes, writes.
  void run();

 protected:
  /// Computes the shots of the job that are not there.
  virtual WaveReport compute(const WaveJob<T, Dim>& job) = 0;
  /// What takes memory on the space, for the end of a line: "takes 3 MiB on openmp".
  virtual std::string takes(const WaveReport& report) const = 0;
  /// Prints more of the plan.
  virtual void print_plan() const {}
  /// What the program changes in the job.
  virtual void prepare_job(WaveJob<T, Dim>& job) { (void)job; }
  /// A shot was taken over, with what part() gave.
  virtual void took_over(std::size_t shot, const Json& more) { (void)shot, (void)more; }
  /// What else is taken, when the plan is known.
  virtual void take_more(MemoryEstimate& memory) const { (void)memory; }
  /// All is checked: announces files, describes them in the summary.
  virtual void begins(const WaveReport& report) = 0;
  /// A shot is computed and its gather written: adds files that belong to it, and what is needed to
  /// go on without computing it.
  virtual void part(std::size_t shot, std::vector<std::string>& files, Json& more) = 0;
  /// All is computed and written: writes more, describes it in summary and ending.
  virtual void finish(const WaveReport& report, Ending& ending) = 0;

  /// \brief Waits until vp.npy is written, which is begun before the first step.
  ///
  /// To be called before the first result is noted, so that vp.npy comes before it.
  void velocity_is_there();
  /// Is a shot there?
  bool is_there(std::size_t shot) const { return m_list.there(shot); }
  /// The model.
  EarthModel<T>& model() { return m_model; }
  /// \overload
  const EarthModel<T>& model() const { return m_model; }
  /// The run.
  Session& session() const { return m_session; }
  /// What is planned, as begins() was told.
  const WaveReport& report() const { return m_report; }
  /// What is taken so far.
  const MemoryEstimate& memory() const { return m_memory; }
  /// What may be taken.
  const MemoryLimit& limit() const { return m_limit; }

 private:
  void prepare();
  void check_survey() const;
  bool begin(const WaveReport& report);
  void print(const WaveReport& report, double slowest, double fastest) const;
  void keep(std::size_t shot, const Gather<T>& traces);
  std::string gather_name(std::size_t shot) const;
  Json model_json(const WaveReport& report) const;
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
  Json m_wavelet;  // of the gathers, for their description
  bool m_begun = false;
  MemoryEstimate m_memory;
  MemoryLimit m_limit;
  std::future<void> m_velocity;  // vp.npy on its way; it ends before the model does
};

namespace detail {
template <template <class, int> class Program, class T, class Options>
void run_shots_with(const Options& o, Session& session) {
  MemoryLimit limit;
  MemoryEstimate memory;
  EarthModel<T> model;
  session.processes().together([&] {
    session.will_write(Program<T, 2>::results(o));
    const int sharing = Program<T, 2>::ranks_take_the_same ? session.processes().size_of_host() : 1;
    limit = memory_limit(o, Program<T, 2>::memory_of_host(o), sharing);
    memory = Program<T, 2>::estimate(o, need_of_earth_model<T>(o.model), limit);
    session.leave_out_picture(why_no_picture(memory, limit));
    const HostPhase phase(session.phases, "read");
    model = load_earth_model<T>(o.model);
  });
  if (model.shape.size() == 2) {
    Program<T, 2>(o, std::move(model), memory, limit, session).run();
  } else {
    Program<T, 3>(o, std::move(model), memory, limit, session).run();
  }
}
}  // namespace detail

/// \brief Runs a program derived from ShotProgram in the precision and the dimension that were
/// asked for. It has two static functions: results(options), names of files that every run writes,
/// and estimate(options, need, limit), what it takes of the host, but for gathers; and
/// ranks_take_the_same, whether each rank of a machine takes that.
template <template <class, int> class Program, class Options>
void run_shots(const Options& options, Session& session) {
  if (options.double_precision) {
    detail::run_shots_with<Program, double>(options, session);
  } else {
    detail::run_shots_with<Program, float>(options, session);
  }
}

}  // namespace moho::examples
