// SPDX-License-Identifier: BSD-3-Clause
//
// model_waves: finite-difference shots over an earth model, acoustic, VTI or TTI.

#include "app/format.hpp"
#include "app/memory.hpp"
#include "app/shot_program.hpp"
#include "app/wave_fields.hpp"
#include "model_waves/options.hpp"
#include "ranks/ranks.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/space.hpp>
#include <moho/core/timer.hpp>
#include <moho/domain/factory.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/stream/survey.hpp>
#include <moho/wave/shots.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace moho::examples::model_waves {

namespace {

Json snapshots_json(const std::vector<double>& times) {
  Json snapshots = Json::array();
  for (std::size_t k = 0; k < times.size(); ++k) {
    snapshots.push_back(Json::object(
        {{"file", numbered("snapshot", static_cast<std::int64_t>(k) + 1)}, {"time", times[k]}}));
  }
  return snapshots;
}

template <class T, int Dim>
class Program : public ShotProgram<T, Dim> {
 public:
  Program(const Options& o, EarthModel<T>&& model, const MemoryEstimate& memory,
          const MemoryLimit& limit, Session& session)
      : ShotProgram<T, Dim>(o, std::move(model), memory, limit, session),
        m_o(o),
        m_ranks(o.ranks_per_shot != 1 ? stream_ranks(session.processes()) : nullptr) {}

  static std::vector<std::string> results(const Options& o) {
    std::vector<std::string> names{"vp.npy", "gather.sgy"};
    if (o.plot) names.emplace_back("gather.png");
    return names;
  }

  static constexpr bool ranks_take_the_same = true;
  static bool memory_of_host(const Options& o) { return o.space != "cuda"; }

  // Host memory of a run without gathers, estimated from options and headers.
  static MemoryEstimate estimate(const Options& o, const EarthModelNeed& need,
                                 const MemoryLimit& limit, int ranks) {
    MemoryEstimate estimate;
    if (need.shape.empty()) return estimate;
    const WaveArrays arrays = wave_arrays<T>(o, need);
    // the fewest ranks a shot whose slabs fit the memory
    const bool chosen = o.ranks_per_shot == 0 && o.expand != domain::ExpansionMethod::amplitude;
    for (int n = chosen ? 1 : std::max(o.ranks_per_shot, 1);; ++n) {
      if (chosen && ranks % n != 0) continue;
      estimate = estimate_of(o, need, limit, arrays, n);
      if (!chosen || n >= ranks || estimate.max() <= limit.bytes) break;
    }
    // in a stream only the model and the last wavefield are in memory
    MemoryEstimate streamed;
    streamed.take(need.values, "the model");
    streamed.pass(std::max(need.passing, 2.0 * sizeof(T) * need.nodes()), "the last wavefield");
    const bool streams =
        o.expand != domain::ExpansionMethod::amplitude && streamed.max() <= limit.bytes;
    check_wave_memory(o, need, arrays, estimate, limit,
                      streams ? ", or stream_waves with --host-volume FILE, which keeps the waves "
                                "in a file"
                              : "");
    return estimate;
  }

 private:
  // Memory with a number of ranks of each shot.
  static MemoryEstimate estimate_of(const Options& o, const EarthModelNeed& need,
                                    const MemoryLimit& limit, const WaveArrays& arrays, int ranks) {
    MemoryEstimate estimate;
    estimate.ranks = ranks;
    estimate.take(need.values, "the model");
    estimate.pass(need.passing, "reading the model");
    const bool divided = o.devices != 1 || o.ranks_per_shot != 1;
    if (o.space == "cuda" && divided && arrays.tapered) {
      estimate.take(sizeof(T) * need.nodes(), "delta near sources");
    }
    if (o.space != "cuda") {
      estimate.pass(sizeof(T) * ((arrays.tapered ? need.nodes() : 0.0) +
                                 arrays.parameters * arrays.whole + arrays.media * arrays.padded),
                    "the model with its layers");
      // planes near a cut are in both slabs
      const double slabs = std::max(o.devices, ranks);
      const double cut = 2.0 * std::max(slabs - 1.0, 0.0) * (2.0 * o.order + 8.0) /
                         static_cast<double>(need.shape.front());
      const double part = (1.0 + cut) / ranks;
      estimate.take(
          sizeof(T) * (part * (arrays.media + 2.0 * arrays.fields) * arrays.padded + arrays.layers),
          "the medium and wavefields");
      estimate.take(sizeof(T) * (ranks > 1 ? 0.0 : shots_besides(o)) *
                        ((arrays.slopes + 2.0 * arrays.fields) * arrays.padded + arrays.layers),
                    "shots --at-once");
      // domains that expand by arrivals compute these first, in an array and the solver's copy
      const bool arrivals = o.expand == domain::ExpansionMethod::eikonal;
      if (arrivals || o.expand == domain::ExpansionMethod::layers) {
        estimate.take(sizeof(T) * arrays.parameters * arrays.whole, "arrival times");
      }
      if (arrivals) estimate.take(sizeof(T) * 2.5 * arrays.whole, "arrival times");
    }
    // two snapshots: one is written while the next one is taken; from a device they arrive in parts
    if (!o.snapshots || *o.snapshots > 0.0) {
      const double both = 2.0 * sizeof(T) * need.nodes();
      estimate.take(o.space == "cuda" ? std::min(both, 32.0 * 1024 * 1024) : both, "snapshots");
    }
    // layers, tables and lists
    estimate.take(0.05 * (estimate.now() - MemoryEstimate::process), "tables");
    if (o.plot) estimate.picture(2.0 * sizeof(T) * need.nodes(), limit.bytes);
    return estimate;
  }

  void prepare_job(WaveJob<T, Dim>& job) override {
    job.modelling.time.snapshot_every = m_o.snapshots;
    // these methods read the model while the wavefield steps
    job.modelling.keep_model = m_o.expand == domain::ExpansionMethod::layers ||
                               m_o.expand == domain::ExpansionMethod::eikonal;
    if (m_o.space == "cuda") job.modelling.memory = m_o.memory;
    job.modelling.shots = m_o.only_shot ? 1 : static_cast<std::int64_t>(job.shots.size());
    // the memory of a host is checked for the requested shots
    const bool bound = m_o.memory > 0 && m_o.space != "cuda";
    job.modelling.gathers_wait = false;  // traces are enough
    job.modelling.concurrent_shots = m_o.at_once == 0 && bound ? 1 : m_o.at_once;
    check_ranks(this->session().processes(), m_o.devices, m_o.ranks_per_shot,
                m_o.only_shot.has_value());
  }

  WaveReport compute(const WaveJob<T, Dim>& job) override {
    WaveReport report;
    with_space(m_o.space, [&](const auto& exec) {
      const int ranks = m_ranks ? m_ranks->size() : 1;
      const bool divides = m_o.expand != domain::ExpansionMethod::amplitude;
      // ranks without a shot join others
      const bool few = static_cast<int>(job.shots.size()) < ranks && divides;
      if (m_o.devices > 1 || this->memory().ranks > 1 || few) {
        report = compute_on_devices(exec, job);
        return;
      }
      // the plan of one device says whether it holds a shot
      const bool several =
          divides &&
          (ranks > 1 ||
           (m_o.devices == 0 && this->session().processes().size() == 1 &&
            stream::device_count(Instance<MemoryOf<std::decay_t<decltype(exec)>>>(exec)) > 1));
      bool begun = false;
      try {
        report = compute_on(exec, job, begun);
      } catch (const MemoryError&) {
        if (!several || begun) throw;
        report = compute_on_devices(exec, job);
      }
    });
    return report;
  }

  // Models the shots on a space.
  // `begun` is set when a device holds a shot.
  WaveReport compute_on(const auto& exec, const WaveJob<T, Dim>& job, bool& begun) {
    using Memory = MemoryOf<std::decay_t<decltype(exec)>>;
    WaveReport report;
    report.device = device_name(exec);
    report.threads = exec.concurrency();
    std::optional<wave::Modelling<T, Dim, Memory>> modelling;
    job.collectively([&] { modelling.emplace(make_modelling(exec, job, report.phases)); });
    report.take(modelling->plan());
    report.bytes = modelling->plan().memory.peak;
    begun = true;
    if (!job.begins(report)) return report;
    wave::SurveyRunOptions<T, Dim, Memory> options;
    options.claim = job.takes;
    options.is_done = job.is_present;
    options.domain = domain::domain_factory(job.expand, *modelling, job.domain);
    options.keep_gathers = false;
    options.memory = job.modelling.memory;
    options.advice = overflow_advice;
    SnapshotFiles files;
    options.snapshot = [&](const wave::SnapshotPart<T>& part) { write_part(part, files); };
    options.snapshot_done = [&](std::int64_t index, std::int64_t step) {
      snapshot_is_there(index, step, files);
    };
    if (job.progress) {
      options.progress = [&](const wave::SurveyProgress& now) {
        if (report.at_once == 1) return job.tell(now.shot, now.of_shot);
        job.tell_all(report.at_once, now.done, now.points_per_second, now.seconds);
      };
    }
    const wave::SurveyReport done = wave::model_shots(
        exec, *modelling, job.shots,
        [&](std::size_t k, const wave::ShotResult<T, Dim, Memory>& result) {
          if (k == 0 && options.domain) keep_domains(modelling->plan(), result.boxes);
          const int batch = report.batch_size, workers = (report.at_once + batch - 1) / batch;
          const int concurrent = workers * job.ranks;
          job.gather(k, result.traces, survey::work_of(result, concurrent));
        },
        options);
    report.phases.add("prepare", done.preparing);
    if (done.snapshots > 0.0) report.phases.add("snapshots", done.snapshots);
    if (done.shots > 0) report.phases.add("steps", done.seconds);
    report.work = {done.points, done.whole_points, done.seconds, done.domain_seconds};
    return report;
  }

  void keep_domains(const wave::ModellingPlan<Dim>& plan, const wave::BoxHistory<Dim>& boxes) {
    for (const auto& box : domain::snapshot_domains(plan, boxes)) {
      Json corners;
      corners["lower"] = box.lower;
      corners["upper"] = box.upper;
      m_domains.push_back(corners);
    }
  }

  // Ranks of each shot: requested, or required by the memory of hosts; 0: chosen by the library.
  int ranks_per_shot(std::size_t shots) const {
    const int min = this->memory().ranks;
    if (m_o.ranks_per_shot > 0 || min == 1) return m_o.ranks_per_shot;
    const auto count = static_cast<std::int64_t>(shots);
    return std::max(min, stream::ranks_of_shot(0, m_ranks->size(), count, ""));
  }

  // Models the shots in slabs, one for each device or rank.
  WaveReport compute_on_devices(const auto& exec, const WaveJob<T, Dim>& job) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    auto model =
        wave::borrow_model<T>(host, job.grid, parameters_of<T>(*job.values, job.constants));
    stream::StreamSurveyOptions<T, Dim> options;
    options.streaming.modelling = job.modelling;
    options.streaming.modelling.concurrent_shots = 1;
    options.streaming.wishes.devices = m_ranks ? ranks_per_shot(job.shots.size()) : m_o.devices;
    options.streaming.ranks = m_ranks.get();
    options.collectively = job.collectively;
    if (m_o.space == "cuda") options.streaming.wishes.device_memory = m_o.memory;
    options.streaming.divided = options.streaming.snapshots = true;
    options.claim = job.takes;
    options.is_done = job.is_present;
    stream::StepBoxes<Dim> boxes;  // of the first shot
    const Instance<MemoryOf<std::decay_t<decltype(exec)>>> solver(exec);
    const auto boxes_of =
        domain::box_factory(job.expand, solver, job.grid, model, job.modelling, job.domain);
    if (boxes_of) {
      options.boxes = [&](const wave::Shot<Dim>& shot, const wave::ModellingPlan<Dim>& plan) {
        const stream::StepBoxes<Dim> found = boxes_of(shot, plan);
        if (shot.number == job.shots.front().number) boxes = found;
        return found;
      };
    }
    options.only_plan = m_o.plan;
    options.planned = [&](const stream::StreamSurveyReport<Dim>& report) { m_divided = report; };
    options.begin = [&](const stream::StreamSurveyReport<Dim>& report) {
      return job.begins(report_of_devices(exec, report));
    };
    SnapshotFiles files;
    options.snapshots.take = [&](const wave::SnapshotPart<T>& part) { write_part(part, files); };
    options.snapshots.done = [&](std::int64_t index, std::int64_t number) {
      snapshot_is_there(index, number, files);
    };
    if (job.progress) {
      options.progress = [&](std::size_t k, const wave::ShotProgress& now) { job.tell(k, now); };
    }
    options.with_errors = [&](const std::function<void()>& function) {
      with_devices(job, function);
    };
    options.advice = overflow_advice;
    const auto keep = [&](std::size_t k, const stream::StreamShotResult<T>& result) {
      if (k == 0 && boxes) {
        wave::BoxHistory<Dim> history;
        for (std::int64_t n = 0; n < result.steps; ++n) history.add(boxes(n));
        keep_domains(m_divided->modelling, history);
      }
      job.gather(k, result.traces, survey::stream_work_of(result, *m_divided));
    };
    m_divided = stream::model_shots(exec, job.grid, std::move(model), job.boundaries, job.wavelet,
                                    job.shots, keep, options);
    return report_of_devices(exec, *m_divided);
  }

  static WaveReport report_of_devices(const auto& exec,
                                      const stream::StreamSurveyReport<Dim>& from) {
    WaveReport report;
    report.device = device_name(exec);
    report.threads = exec.concurrency();
    report.take_stream(from);
    report.at_once = report.batch_size = 1;
    return report;
  }

  // Calls a function; errors of slabs name options.
  void with_devices(const WaveJob<T, Dim>& job, const std::function<void()>& function) const {
    const std::string option = m_ranks ? "--ranks-per-shot" : "--devices";
    const std::string memory = "device memory";
    try {
      function();
    } catch (const InputError& error) {
      const std::string text = error.what();
      if (text.rfind(memory, 0) == 0) throw InputError("--memory" + text.substr(memory.size()));
      throw InputError(job.in_options(text, {{"devices", option}}));
    } catch (const MemoryError& error) {
      throw MemoryError(concat(option, ": ", error.what()));
    }
  }

  // Makes the modelling: the library's choices and checks before the first step.
  auto make_modelling(const auto& exec, const WaveJob<T, Dim>& job, PhaseTimes& phases) const {
    using Exec = std::decay_t<decltype(exec)>;
    using Memory = MemoryOf<Exec>;
    wave::Model<T, Dim, Memory> model;
    {
      const ScopedPhase<Exec> phase(exec, phases, "transfer");
      model = wave::borrow_model<T>(exec, job.grid, parameters_of<T>(*job.values, job.constants));
    }
    const ScopedPhase<Exec> phase(exec, phases, "prepare");
    try {
      auto modelling = wave::make_modelling<T, Dim, Memory>(
          exec, job.grid, std::move(model), job.boundaries, job.wavelet, job.modelling_of_shots());
      modelling.check(exec, job.shots);
      return modelling;
    } catch (const InputError& error) {
      throw InputError(job.in_options(error.what()));
    } catch (const MemoryError& error) {
      const bool nodes = std::string(error.what()).find("fewer nodes") != std::string::npos;
      throw with_advice(error, "--memory",
                        !nodes ? ""
                        : is_host_memory<Memory>
                            ? ", or run stream_waves with --host-volume FILE, which keeps the "
                              "waves in a file"
                            : ", or run stream_waves with --device-memory, which steps planes of "
                              "the model that pass through the device");
    }
  }

  // Files of snapshots being written, and identities of the written ones.
  struct SnapshotFiles {
    std::mutex mutex;
    std::map<std::int64_t, std::unique_ptr<io::NpyFile<T>>> open;
    std::map<std::int64_t, io::FileIdentity> identities;
  };

  // Writes a part; runs on threads of snapshots.
  void write_part(const wave::SnapshotPart<T>& part, SnapshotFiles& files) {
    const auto file_of = [&]() -> std::unique_ptr<io::NpyFile<T>>& {
      const std::lock_guard<std::mutex> lock(files.mutex);
      return files.open[part.index];
    };
    std::unique_ptr<io::NpyFile<T>>& file = file_of();
    if (part.first()) {
      file = std::make_unique<io::NpyFile<T>>(
          this->session().folder() / numbered("snapshot", part.index + 1), this->model().shape,
          true);
    }
    file->write(part.values, part.count);
    if (!part.last()) return;
    const io::FileIdentity identity = file->commit();
    file.reset();
    const std::lock_guard<std::mutex> lock(files.mutex);
    files.identities[part.index] = identity;
  }

  void snapshot_is_there(std::int64_t index, std::int64_t step, SnapshotFiles& files) {
    const std::string name = numbered("snapshot", index + 1);
    this->has_velocity();
    io::FileIdentity identity;
    {
      const std::lock_guard<std::mutex> lock(files.mutex);
      identity = files.identities.at(index);
    }
    m_times.push_back(static_cast<double>(step) * this->report().time.dt);
    this->session().summary["snapshots"] = snapshots_json(m_times);
    this->session().wrote(name, identity);
    m_snapshots.push_back(name);
  }

  void print_plan() const override {
    if (m_divided) {
      const char* head = "devices   ";
      for (const std::string& line :
           stream::describe(m_divided->plan, m_divided->need, m_divided->rates)) {
        this->session().print(head, line);
        head = "          ";
      }
    }
    if (!m_o.plan) return;
    const WaveReport& report = this->report();
    const std::int64_t interval = report.time.snapshot_every;
    const double nodes = static_cast<double>(io::shape_size(this->model().shape));
    if (interval > 0) {
      const std::int64_t count = report.time.steps / interval;
      this->session().print(
          "          ", counted(count, "snapshot"), ", one ", examples::every(interval, "step"),
          ", ", format_bytes(static_cast<double>(count) * nodes * sizeof(T)), " in files");
    }
    const MemoryEstimate& memory = this->memory();
    this->session().print(
        "memory    ", format_bytes(memory.max()),
        " of the host with the program (allowed: ", format_bytes(this->limit().bytes), ", ",
        this->limit().why, "; ", memory.largest(true), ")");
  }

  std::string takes(const WaveReport& report) const override {
    if (m_divided) {
      return concat(format_bytes(static_cast<double>(report.bytes)), " on each of ",
                    m_divided->plan.shape.devices, m_ranks ? " ranks" : " devices", " (", m_o.space,
                    ")");
    }
    return concat(format_bytes(static_cast<double>(report.bytes)), " on ", m_o.space);
  }

  void took_over(std::size_t, const Json& more) override {
    if (const Json* const times = more.find("snapshot_times")) m_times = times->numbers();
    if (const Json* const domains = more.find("snapshot_domains")) m_domains = *domains;
  }

  void begins(const WaveReport& report) override {
    std::vector<std::string> names;
    if (report.time.snapshot_every > 0 && !this->is_present(0)) {
      for (std::int64_t k = 1; k <= report.time.steps / report.time.snapshot_every; ++k) {
        names.push_back(numbered("snapshot", k));
      }
    }
    if (m_o.plot && (!names.empty() || !m_times.empty())) names.emplace_back("snapshots.png");
    this->session().will_write(names);
    this->session().summary["snapshots"] = snapshots_json(m_times);
    if (m_divided) this->session().summary["devices"] = devices_json();
  }

  // Slabs and forecast; after the last step it includes the measured rate.
  Json devices_json() const {
    const stream::StreamPlan& plan = m_divided->plan;
    Json json = Json::object({{"count", plan.shape.devices},
                              {"planes", plan.slab_planes},
                              {"groups", plan.groups},
                              {"bytes_on_each", plan.device_bytes}});
    if (!plan.exchange.empty()) json["exchange"] = plan.exchange;
    const double rate = plan.forecast.points_per_second;
    if (rate > 0.0) {
      json["predicted"] =
          Json::object({{"points_per_second", rate}, {"seconds_a_shot", plan.forecast.seconds}});
    }
    if (!(m_divided->seconds > 0.0)) return json;
    const double measured = m_divided->points / m_divided->seconds;
    json["measured"] =
        Json::object({{"points_per_second", measured},
                      {"of_predicted", rate > 0.0 ? Json(measured / rate) : Json()}});
    return json;
  }

  void part(std::size_t shot, std::vector<std::string>& files, Json& more) override {
    if (shot != 0) return;
    files.insert(files.end(), m_snapshots.begin(), m_snapshots.end());
    more = Json::object({{"snapshot_times", m_times}});
    if (!m_domains.null()) more["snapshot_domains"] = m_domains;
  }

  void finish(const WaveReport&, Ending& ending) override {
    this->session().summary["snapshots"] = snapshots_json(m_times);
    if (m_divided) {
      this->session().summary["devices"] = devices_json();
      const double rate = m_divided->plan.forecast.points_per_second;
      if (rate > 0.0 && m_divided->seconds > 0.0) {
        ending.lines.push_back(
            concat("          ", fixed(100.0 * m_divided->points / m_divided->seconds / rate, 1),
                   " % of the rate predicted"));
      }
    }
    if (!m_times.empty()) ending.pictures.emplace_back("snapshots.png");
    if (m_domains.null()) return;
    this->session().summary["run"]["expand"]["snapshot_domains"] = m_domains;
  }

  const Options& m_o;
  std::vector<std::string> m_snapshots;                      // written by this run
  std::vector<double> m_times;                               // of snapshots
  std::optional<stream::StreamSurveyReport<Dim>> m_divided;  // if devices or ranks share shots
  std::unique_ptr<stream::StreamRanks> m_ranks;              // null: each rank models whole shots
  Json m_domains;  // nodes stepped at these times, if domains expand
};

}  // namespace

}  // namespace moho::examples::model_waves

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<model_waves::Options>(argc, argv, model_waves::describe,
                                           run_shots<model_waves::Program, model_waves::Options>,
                                           shot_ranks);
}
