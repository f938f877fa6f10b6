// SPDX-License-Identifier: BSD-3-Clause
//
// invert_waves: full-waveform inversion of shots.

#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/survey_program.hpp"
#include "invert_waves/input.hpp"
#include "invert_waves/options.hpp"
#include "invert_waves/plan_text.hpp"
#include "invert_waves/results.hpp"
#include "invert_waves/site_evaluations.hpp"
#include "ranks/ranks.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/space.hpp>
#include <moho/fwi/band_check.hpp>
#include <moho/fwi/band_search.hpp>
#include <moho/survey/first_arrivals.hpp>
#include <moho/wave/boundary_text.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

namespace {

template <class T, int Dim>
class Program {
 public:
  Program(const Options& o, EarthModel<T>&& model, std::optional<EarthModel<T>>&& truth,
          Session& session)
      : m_o(o),
        m_model(std::move(model)),
        m_truth(std::move(truth)),
        m_session(session),
        m_results(m_o, m_input, m_model, m_truth ? &*m_truth : nullptr, session) {}

  void run() {
    Processes& processes = m_session.processes();
    processes.collectively([&] {
      const HostPhase phase(m_session.phases, "check");
      prepare();
    });
    char complete = m_resumed.complete ? 1 : 0;
    processes.broadcast(&complete, 1);
    if (complete != 0) return processes.finish();
    with_space(m_o.space, [&](const auto& exec) { compute(exec); });
    m_session.computed(m_times);
    processes.finish();
    if (m_o.plan || !processes.root()) return;
    if (!m_why.empty()) {
      return m_session.out_of_time(
          concat(counted(m_results.evaluations(), "evaluation is", "evaluations are"),
                 " complete: ", m_why));
    }
    m_session.summary["ranks"] = processes.size();
    if (m_o.only_shot) return finish_shot(m_session, "plot_inversion.py");
    m_results.finish(m_device, m_threads);
    m_sites->finish();
  }

 private:
  // ---- without an execution space

  void prepare() {
    prepare_survey<Dim>(m_input, m_o, "data", m_model, m_truth, m_data);
    m_input.data_name = concat("--data ", m_o.data);
    fwi::check_bands(m_o.bands, m_input.modelling.time.time, m_input.objective_options().names);
    m_input.prepare_mask(m_model);
    fwi::bounds_of<T>(m_input.grid, m_input.objective_options(),
                      [&](fwi::Parameter parameter) -> const std::vector<T>& {
                        return m_model.values.at(option_of(parameter));
                      });
    std::vector<std::int64_t> numbers = numbers_of(m_input.shots);
    if (m_o.only_shot) m_input.prepare_only(m_model, numbers);
    if (m_data.survey && !m_o.plan) check_data();
    m_sites.emplace(m_o, m_session, std::move(numbers), m_model.shape);
    check_ranks(m_session.processes(), m_o.devices, m_o.ranks_per_shot, m_o.only_shot.has_value());
    if (Dim == 2 && m_o.lags.y > 0) {
      throw InputError(concat("--lags is ", m_o.lags.x, ",", m_o.lags.y,
                              " (allowed in 2D: n): a section has one horizontal axis"));
    }
    if (m_o.lags_sum == "plain" && (m_sites->given() || !m_session.processes().alone())) {
      throw InputError("--lags-sum plain is for one process (allowed with ranks or sites: exact)");
    }
    if (m_sites->given()) {
      refuse_ranks(m_session.processes());
      check_shots_per_job(m_o.distribute, m_input.shots.size());
    }
    m_session.will_write(m_results.names());
    m_session.resumable();
    m_resumed = m_results.resume();
    m_bar = m_session.progress();
  }

  // Refuses traces that cannot be inverted, before the first result.
  void check_data() {
    fwi::BandCheck bands(m_o.bands, m_input.objective_options().names);
    check_traces<Dim>(m_data.sources_name, *m_data.survey, m_input.only,
                      m_session.processes().rank(), m_session.processes().size(),
                      [&](const survey::ShotGather<Dim>& gather) {
                        bands.add(gather.samples, gather.count, gather.dt);
                      });
    for (const std::string& note : bands.notes()) m_data.notes.push_back(note);
  }

  // ---- on an execution space

  template <class Instance>
  void compute(const Instance& exec) {
    const auto world = m_o.ranks_per_shot == 1 ? nullptr : stream_ranks(m_session.processes());
    stream::RankGroups groups(world.get(), m_o.ranks_per_shot,
                              m_o.only_shot ? 1 : std::ssize(m_input.shots), "--ranks-per-shot");
    m_groups = &groups;
    m_shared.emplace(m_session.processes(), groups, numbers_of(m_input.shots));
    groups.fit([&] { compute_in_groups(exec); });
    if (groups.ranks() != nullptr) m_session.summary["exchange"] = groups.ranks()->exchange();
  }

  template <class Instance>
  void compute_in_groups(const Instance& exec) {
    m_device = device_name(exec);
    m_threads = exec.concurrency();
    fwi::ObjectiveOptions<Dim> options = objective_options();
    if (options.devices == 0 && stream::device_count(moho::Instance<MemoryOf<Instance>>(exec)) == 1)
      options.devices = 1;
    options.ranks = m_groups->ranks();
    options.groups = m_session.processes().size() / m_groups->size();
    bool on_host = false;
    m_session.processes().collectively([&] {
      on_host = fwi::gradient_on_host<T>(exec, m_input.grid, medium_of(m_o.model),
                                         m_input.boundaries, options);
    });
    on_host = m_session.processes().any(on_host);
    const auto in_core = [&](const auto& start, const auto& data) {
      return fwi::make_objective_if_it_fits(exec, m_input.grid, start, m_input.boundaries,
                                            m_input.wavelet, data, options);
    };
    if (!on_host && invert(exec, in_core)) return;
    const moho::Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
    invert(host, [&](const auto& start, const auto& data) {
      return fwi::make_streamed_objective(exec, m_input.grid, start, m_input.boundaries,
                                          m_input.wavelet, data, options);
    });
  }

  fwi::ObjectiveOptions<Dim> objective_options() {
    fwi::ObjectiveOptions<Dim> options = m_input.objective_options();
    const double held = m_session.summary["memory"].find("estimate_bytes")->number(0.0);
    options.held = static_cast<std::size_t>(held - MemoryEstimate::process);
    options.note = [this](const std::string& note) {
      if (++m_notes <= 10) m_session.print("          note: ", note);
      if (m_notes == 11) m_session.print("          note: more like these are not printed");
    };
    if (m_bar || (!m_session.processes().alone() && m_session.processes().root())) {
      options.progress = [this](double done, const std::string& text) {
        m_shared->poll();
        if (m_bar) show_progress(done, text);
      };
    }
    return options;
  }

  // Makes the objective by make(start, data); runs the search, or shots for another process.
  // Returns false if a process has no objective.
  template <class Instance, class Make>
  bool invert(const Instance& exec, const Make& make) {
    Processes& processes = m_session.processes();
    using Model = decltype(to_model<T, Dim>(exec, m_input.grid, *m_input.values));
    using Memory = typename decltype(Model::vp)::memory_space;
    std::optional<fwi::Objective<T, Dim, Memory>> objective;
    processes.collectively([&] {
      const HostPhase phase(m_session.phases, "plan");
      fwi::ObjectiveData<T, Dim, Memory> data{m_input.shots, {}, {}};
      if (m_data.survey) data.read = [this](std::size_t k) { return m_data.survey->read(k); };
      if (m_input.true_values != nullptr) {
        m_input.in_true_words([&] {
          data.model = to_model<T, Dim>(exec, m_input.grid, *m_input.true_values);
          fwi::check_steppable<T, Dim, Memory>(exec, m_input.grid, data.model, m_input.modelling);
        });
      }
      const Model start = to_model<T, Dim>(exec, m_input.grid, *m_input.values);
      m_input.in_words([&] { objective = make(start, data); });
      if (objective && m_data.survey && processes.root() && !m_o.only_shot) {
        check_onsets_at(exec, start, objective->plan().time.dt);
      }
    });
    if (processes.any(!objective)) return false;
    if (!processes.alone() && m_o.source_field == fwi::SourceField::automatic &&
        !objective->streamed() && m_o.devices == 1) {
      const fwi::SourceField method = m_shared->common_source_field(objective->plan().source_field);
      processes.collectively([&] { objective->set_source_field(method); });
    }
    m_groups->keep();
    processes.collectively([&] { show(objective->plan()); });
    if (m_o.plan) return true;
    processes.collectively([&] {
      const HostPhase phase(m_session.phases, "data");
      m_loading = true;
      m_input.in_true_words([&] { objective->load_data(); });
      m_loading = false;
    });
    processes.collectively([&] {
      m_session.begin_output();
      if (!processes.root()) return;
      m_sites->begin();
      if (!m_o.only_shot) m_results.write_start(m_resumed.band);
    });
    if (m_input.only) {
      m_input.in_words([&] {
        objective->begin(m_input.evaluation);
        m_sites->write_result(m_o.extended ? objective->extended_contribution(*m_input.only)
                                           : objective->contribution(*m_input.only));
      });
    } else if (processes.root()) {
      search(exec, *objective);
      m_shared->stop();
    } else {
      m_input.in_words([&] { m_shared->serve(*objective); });
    }
    return true;
  }

  // Compares the start times of data with first arrivals of the starting model.
  template <class Instance, class Model>
  void check_onsets_at(const Instance& exec, const Model& start, double dt) {
    const std::vector<double> samples = m_input.wavelet(dt);
    const eikonal::Model<T, Dim, typename decltype(Model::vp)::memory_space> model{
        start.vp, start.epsilon, start.delta};
    check_onsets(
        m_data,
        {m_o.zero, survey::wavelet_times(samples, dt), wave::highest_frequency(samples, dt)},
        [&](std::size_t k) { return m_data.survey->read(k); },
        [&](const auto& shot) { return survey::arrival_times(exec, m_input.grid, model, shot); });
  }

  // Prints the plan.
  void show(const fwi::ObjectivePlan& plan) {
    m_seconds_each = plan.seconds;
    m_sites->set_source_field(plan.source_field);
    const PlanInput input{m_model,
                          wave::boundaries_string(m_input.boundaries),
                          model_json(m_model, plan.medium, m_input.boundaries),
                          m_input.shots.size(),
                          m_data.traces,
                          m_data.notes};
    print_plan(m_session, m_o, input, plan);
    print_late_wavelet(m_session, m_input.wavelet, plan.time);
    add_plan(m_session, m_o, input, plan);
    record_memory(m_session, m_o.space, plan, plan.data_bytes + plan.host_bytes);
  }

  // ---- the search

  // Searches in all bands; stops early when the run is out of time.
  template <class Instance, class Objective>
  void search(const Instance& exec, Objective& objective) {
    fwi::BandSearchOptions options;
    options.bands = m_o.bands;
    options.iterations = m_o.iterations;
    options.memory = m_o.memory_pairs;
    options.first_change = m_o.first_change;
    options.precondition = m_o.precondition;
    options.names = {{"data", m_input.data_name}};
    auto search = m_resumed.state.empty()
                      ? fwi::BandSearch(exec, objective, options)
                      : fwi::BandSearch(exec, objective, options, m_resumed.state, m_resumed);
    check_size(search.state().count(), objective.start().size());
    const auto gradient = objective.make_gradient();
    while (m_input.in_words([&] { return search.next_band(); })) {
      while (search.state().wants() == optimize::Want::evaluation) {
        m_why = m_time.why();
        m_time.begin();
        if (!m_why.empty()) return;
        advance(objective, search, gradient);
      }
      end_band(objective, search);
    }
    take_gather(objective, search.state());
    if (m_o.extended) m_results.write_lags(extended_image(objective, search));
  }

  // Returns the extended image at the point of the search, of this process or of several.
  template <class Objective, class Search>
  fwi::ExtendedResult<T> extended_image(Objective& objective, const Search& search) {
    const Stopwatch watch;
    m_prefix = progress_prefix(search.state(), "extended image, ");
    fwi::ExtendedResult<T> result;
    const auto point = search.state().point();
    if (m_sites->given() && m_input.shots.size() > 1) {
      m_input.in_words([&] { objective.begin(point); });
      fwi::ExtendedSum sum = objective.make_extended_sum();
      const auto add = [&sum](const auto& part) { sum.add(part); };
      const int band = std::min(search.progress().band, search.bands() - 1);
      const std::int64_t number = search.state().evaluations() + 1;
      m_sites->collect({number, true, band, objective.request()}, add, add);
      result = objective.result_of(sum);
      record_time_after_shots(m_session);
    } else {
      m_input.in_words([&] { result = m_shared->extended_image(objective, point); });
    }
    m_times.add("extend", watch.seconds());
    return result;
  }

  void check_size(std::int64_t found, std::size_t required) const {
    if (found == static_cast<std::int64_t>(required)) return;
    throw InputError(concat("--resume: the search in ", m_resumed.state.string(), " has ", found,
                            " unknowns (allowed: ", required,
                            "): leave --resume out to begin again"));
  }

  // Evaluates at the point of the search and returns the result to the search.
  template <class Objective, class Search, class Vector>
  void advance(Objective& objective, Search& search, const Vector& gradient) {
    const Stopwatch watch;
    const int band = search.progress().band;
    m_prefix = progress_prefix(search.state(),
                               m_o.bands.size() > 1
                                   ? concat("band ", band + 1, " of ", m_o.bands.size(), ", ")
                                   : std::string());
    const double f = evaluate(objective, search.state(), gradient, band);
    const double seconds = watch.seconds();
    const std::int64_t number = search.state().evaluations() + 1;
    if (std::isfinite(f) && m_o.lags_every > 0 && number % m_o.lags_every == 0) {
      m_results.write_lags(extended_image(objective, search), number);
    }
    const Evaluation row{search.tell(f, gradient), error_of_vp(objective, search.state()), seconds,
                         objective.report()};
    if (std::isfinite(f)) m_seconds_each = row.seconds;
    m_times.add("evaluate", row.seconds);
    const Stopwatch writing;
    m_time.done();
    m_results.keep(row, objective.illumination(), search);
    m_times.add("write", writing.seconds());
  }

  // Evaluates at the point of the search, on this process or on several.
  template <class Objective, class Search, class Vector>
  double evaluate(Objective& objective, const Search& search, const Vector& gradient, int band) {
    if (!m_sites->given()) {
      return m_input.in_words(
          [&] { return m_shared->evaluate(objective, search.point(), gradient); });
    }
    if (!objective.begin_trial(search.point(), gradient)) return HUGE_VAL;
    const auto add = [&objective](const auto& part) { objective.add(part); };
    m_sites->collect({search.evaluations() + 1, false, band, objective.request()}, add, add);
    const double f = objective.end(gradient);
    record_time_after_shots(m_session);
    return f;
  }

  // Error of vp at the best point; negative without a true model.
  template <class Objective, class Search>
  double error_of_vp(Objective& objective, const Search& search) const {
    if (!m_truth) return -1.0;
    const auto vp = objective.values(search.best(), fwi::Parameter::vp);
    return fwi::relative_error(vp.data(), m_truth->values.at("vp").data(), vp.size());
  }

  template <class Objective, class Search>
  void end_band(Objective& objective, const Search& search) {
    std::vector<typename Objective::HostField> models, gradients;
    for (const std::string& name : m_o.unknowns) {
      models.push_back(objective.values(search.state().best(), parameter_of(name)));
      gradients.push_back(objective.component(search.state().best_gradient(), parameter_of(name)));
    }
    m_results.end_band(search.progress().band, search.state().message(), std::move(models),
                       std::move(gradients));
  }

  template <class Objective, class Search>
  void take_gather(Objective& objective, const Search& search) {
    const std::size_t k = objective.shots().size() / 2;
    m_results.set_gather({objective.shots()[k].number,
                          m_shared->model(objective, objective.start(), k),
                          m_shared->model(objective, search.best(), k), objective.observed()[k]});
  }

  // ---- progress

  template <class Search>
  static std::string progress_prefix(const Search& search, const std::string& band) {
    return concat(band, "iteration ", search.iterations() + 1, ", evaluation ",
                  search.evaluations() + 1, ", ");
  }

  void show_progress(double done, const std::string& text) {
    if (m_loading) return m_bar(done, text);
    if (m_prefix.empty()) return;  // shots for another process
    const double left = std::max(0.0, m_seconds_each * (1.0 - done));
    m_bar(done, concat(m_prefix, text, ", ", std::llround(left), " s left of it"));
  }

  const Options& m_o;
  EarthModel<T> m_model;
  std::optional<EarthModel<T>> m_truth;  ///< of --true-vp
  Session& m_session;
  Input<T, Dim> m_input;
  SurveyData<Dim> m_data;
  Results<T, Dim> m_results;
  std::optional<SiteEvaluations<T>> m_sites;
  std::optional<fwi::SharedEvaluation<T>> m_shared;  ///< of compute()
  stream::RankGroups* m_groups = nullptr;            ///< of compute()
  ResumedRun m_resumed;
  TimeLimit m_time;
  std::string m_why;  ///< reason to end before the last evaluation
  std::string m_device;
  int m_threads = 1;
  int m_notes = 0;  ///< notes about shots of the data
  PhaseTimes m_times;
  Progress m_bar;
  bool m_loading = false;       ///< data are loaded
  double m_seconds_each = 0.0;  ///< of an evaluation
  std::string m_prefix;         ///< of progress lines during an evaluation
};

void run(const Options& options, Session& session) {
  // memory for unknowns, bounds and results
  run_survey<Program>(options, session, 6.0, "");
}

}  // namespace

}  // namespace moho::examples::invert_waves

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<invert_waves::Options>(argc, argv, invert_waves::describe, invert_waves::run,
                                            shot_ranks);
}
