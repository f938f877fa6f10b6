// SPDX-License-Identifier: BSD-3-Clause
//
// stream_waves: shots over a model that is larger than the memory of a device.

#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/shot_program.hpp"
#include "app/summary.hpp"
#include "app/wave_fields.hpp"
#include "ranks/ranks.hpp"
#include "ranks/stream_ranks.hpp"
#include "stream_waves/options.hpp"

#include <moho/core/disk_error.hpp>
#include <moho/core/space.hpp>
#include <moho/core/timeline.hpp>
#include <moho/domain/factory.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/model.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/writer.hpp>
#include <moho/stream/survey.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace moho::examples::stream_waves {

namespace {

namespace fs = std::filesystem;

Json rates_json(const stream::StreamRates& rates) {
  const auto measured = [](double rate) { return rate > 0.0 ? Json(rate) : Json(); };
  Json slabs = Json::array();
  for (const auto& slab : rates.slabs) {
    slabs.push_back(
        Json::object({{"planes", slab.planes}, {"points_per_second", slab.points_per_second}}));
  }
  return Json::object({{"slabs", slabs},
                       {"link_in", measured(rates.in)},
                       {"link_out", measured(rates.out)},
                       {"device_memory", measured(rates.memory)},
                       {"stage_seconds", rates.stage_seconds},
                       {"iteration_seconds", rates.iteration_seconds},
                       {"disk_in", measured(rates.disk_in)},
                       {"disk_out", measured(rates.disk_out)},
                       {"in_core_points_per_second", measured(rates.in_core)}});
}

Json plan_json(const stream::StreamPlan& plan) {
  Json json = stream_json(plan);
  json["in_core"] = plan.in_core;
  json["chains"] = plan.groups;
  if (plan.in_core) return json;
  json["bytes_per_plane_in"] = plan.plane_in;
  json["bytes_per_plane_out"] = plan.plane_out;
  return json;
}

template <class T, int Dim>
class Program : public ShotProgram<T, Dim> {
  using Report = stream::StreamSurveyReport<Dim>;

 public:
  Program(const Options& o, EarthModel<T>&& model, const MemoryEstimate& memory,
          const MemoryLimit& limit, Session& session)
      : ShotProgram<T, Dim>(o, std::move(model), memory, limit, session),
        m_o(o),
        m_ranks(stream_ranks(session.processes())) {}

  static std::vector<std::string> results(const Options& o) {
    std::vector<std::string> names{"vp.npy", "gather.sgy", "wavefield.npy", "timeline.json"};
    if (o.plot) names.insert(names.end(), {"gather.png", "wavefield.png", "timeline.png"});
    return names;
  }

  // only ranks that lead a chain have a volume; the stream compares it with the shared memory
  static constexpr bool ranks_take_the_same = false;
  static bool memory_of_host(const Options&) { return true; }

  // True if planes also move on hosts.
  static bool rings(const Options& o) {
    return !o.volume.empty() || o.devices > 1 || (o.space != "cuda" && o.device_memory > 0);
  }

  // Host memory of a run, estimated from options and headers.
  // Gathers and the rings of hosts follow from the plan and are not included.
  static MemoryEstimate estimate(const Options& o, const EarthModelNeed& need,
                                 const MemoryLimit& limit, int /*ranks*/) {
    MemoryEstimate estimate;
    if (need.shape.empty()) return estimate;
    const WaveArrays arrays = wave_arrays<T>(o, need);
    estimate.take(need.values, "the model");
    estimate.pass(need.passing, "reading the model");
    if (arrays.tapered) estimate.pass(sizeof(T) * need.nodes(), "delta near sources");
    if (!rings(o) && o.space != "cuda") {  // the memory of model_waves
      estimate.pass(
          sizeof(T) * ((arrays.tapered ? need.nodes() : 0.0) + arrays.parameters * arrays.whole +
                       (arrays.media + 2.0 * arrays.fields) * arrays.padded + arrays.layers),
          "making the medium");
      estimate.take(
          sizeof(T) * ((arrays.media + 2.0 * arrays.fields) * arrays.padded + arrays.layers),
          "the medium and wavefields");
    } else if (o.volume.empty()) {
      estimate.take(
          sizeof(T) * ((arrays.media - arrays.slopes + 2.0 * arrays.fields) * arrays.padded +
                       2.0 / 3.0 * arrays.layers),
          "the volume");
    }
    if (o.expand == domain::ExpansionMethod::eikonal)
      estimate.pass(sizeof(T) * 2.5 / 64.0 * arrays.whole, "arrival times");
    // layers, tables and lists
    estimate.take(0.05 * (estimate.now() - MemoryEstimate::process), "tables");
    // the last wavefield
    estimate.pass(2.0 * sizeof(T) * need.nodes(), "the last wavefield");
    if (o.plot) estimate.picture(2.0 * sizeof(T) * need.nodes(), limit.bytes);
    // in a file only the model and the last wavefield are in memory
    MemoryEstimate streamed;
    streamed.take(need.values, "the model");
    streamed.pass(std::max(need.passing, 2.0 * sizeof(T) * need.nodes()), "the last wavefield");
    const bool file = o.volume.empty() && streamed.max() <= limit.bytes;
    check_wave_memory(o, need, arrays, estimate, limit,
                      file ? ", or --host-volume FILE, which keeps the waves in a file" : "");
    return estimate;
  }

 private:
  bool on_host() const { return m_o.space != "cuda"; }

  void prepare_job(WaveJob<T, Dim>& job) override {
    (void)job;
    if (!m_o.volume.empty()) check_volume();
    const int ranks = this->session().processes().size();
    if (ranks == 1) return;
    if (m_o.devices > 0 && m_o.devices != ranks) {
      throw InputError(concat("--devices is ", m_o.devices, ", and there are ", ranks,
                              " ranks (allowed: ", ranks,
                              ", each rank is a device): leave it out, or start as many ranks"));
    }
    if (!m_o.volume.empty()) {
      throw InputError(concat("--host-volume: ", m_o.volume, " is for one process, and there are ",
                              ranks,
                              " ranks (allowed: memory): run it without mpirun, or keep the volume "
                              "in memory"));
    }
  }

  // Number of devices, or of devices that hosts stand in for.
  int devices() const { return std::max({1, m_o.devices, this->session().processes().size()}); }

  // Throws if the file of the volume is an input, or has the name of a result.
  void check_volume() const {
    const fs::path path = m_o.volume;
    const auto node = io::node_of(path);
    for (const InputName& input : m_o.inputs) {
      for (const fs::path& file : io::files_of(input.path)) {
        const auto other = io::node_of(file);
        if (!node || !other || !(*node == *other)) continue;
        throw InputError(concat("--host-volume: ", m_o.volume, " would replace --", input.option,
                                " ", input.path,
                                " (allowed: a new file, or the volume of this run with --resume): "
                                "take another name"));
      }
    }
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      throw InputError(concat("--host-volume: ", m_o.volume,
                              " is a folder (allowed: a new file, or the volume of this run with "
                              "--resume): name a file in it"));
    }
    const fs::path folder = fs::weakly_canonical(path, ignored).parent_path();
    const std::string name = path.filename().string();
    const bool result =
        name.rfind("gather", 0) == 0 || name == "summary.json" || name == ".moho_lock" || [&] {
          for (const std::string& one : results(m_o))
            if (one == name) return true;
          return false;
        }();
    if (result && folder == fs::weakly_canonical(this->session().folder(), ignored)) {
      throw InputError(concat("--host-volume: ", m_o.volume,
                              " has the name of a result (allowed: names of other files): take "
                              "another name"));
    }
  }

  WaveReport compute(const WaveJob<T, Dim>& job) override {
    WaveReport report;
    with_space(m_o.space, [&](const auto& exec) { report = compute_on(exec, job); });
    return report;
  }

  // Options of the stream.
  stream::StreamingOptions<Dim> streaming_options(const WaveJob<T, Dim>& job) const {
    stream::StreamingOptions<Dim> streaming;
    streaming.modelling = job.modelling;  // each shot has its own sources
    streaming.wishes.device_memory = m_o.device_memory;
    streaming.wishes.devices = m_o.fewest ? 0 : devices();
    streaming.wishes.groups = m_o.groups;
    streaming.wishes.block = m_o.block;
    streaming.wishes.updates = m_o.updates;
    streaming.wishes.lag = m_o.lag;
    if (on_host() && m_o.device_memory == 0) {
      // rings are in the host's memory, in addition to the volume
      const double left = this->limit().bytes - this->memory().max();
      streaming.wishes.device_memory =
          static_cast<std::size_t>(std::max(0.5 * left / (m_ranks ? 1 : devices()), 1.0));
    }
    // hosts have no separate memory: --memory limits the rings
    streaming.in_core = !rings(m_o);
    streaming.file = m_o.volume;
    if (const Json* const print = this->session().summary.find("fingerprint")) {
      streaming.key = print->dump();
    }
    streaming.resume = m_o.resume;
    streaming.ranks = m_ranks.get();
    return streaming;
  }

  // Models the shots on a space.
  WaveReport compute_on(const auto& exec, const WaveJob<T, Dim>& job) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    auto model = wave::borrow_model<T>(host, job.grid, parameters_of<T>(*job.values));
    stream::StreamSurveyOptions<T, Dim> options;
    options.streaming = streaming_options(job);
    options.claim = job.takes;
    options.is_done = job.is_present;
    options.boxes =
        domain::box_factory(job.expand, host, job.grid, model, job.modelling, job.domain);
    options.only_plan = m_o.plan;
    options.planned = [&](const Report& report) { m_report = report; };
    options.begin = [&](const Report& report) { return job.begins(wave_report(exec, report)); };
    options.prepared = [&](const Report& report) {
      // the volume has a copy of them
      if (m_o.volume.empty() && job.expand == domain::ExpansionMethod::none) job.drop_values();
      prepared(report);
    };
    options.wavefield = [&](const T* values, std::int64_t steps) {
      io::write_npy(this->session().folder() / "wavefield.npy", values, this->model().shape);
      this->session().wrote("wavefield.npy");
      m_wavefield = static_cast<double>(steps) * this->report().time.dt;
    };
    if (job.progress) {
      options.progress = [&](std::size_t k, const wave::ShotProgress& now) { job.tell(k, now); };
    }
    options.collectively = job.collectively;
    options.with_errors = [&](const std::function<void()>& function) {
      with_options(job, function);
    };
    options.timeline = &m_timeline;
    options.advice = overflow_advice;
    const auto keep = [&](std::size_t k, const stream::StreamShotResult<T>& result) {
      ++m_modelled;
      job.gather(k, result.traces, survey::stream_work_of(result, m_report));
    };
    m_report = stream::model_shots(exec, job.grid, std::move(model), job.boundaries, job.wavelet,
                                   job.shots, keep, options);
    return wave_report(exec, m_report);
  }

  // Calls a function; errors of the library name options.
  void with_options(const WaveJob<T, Dim>& job, const std::function<void()>& function) const {
    try {
      function();
    } catch (const InputError& error) {
      throw InputError(job.in_options(error.what(), {{"block", "--block"},
                                                     {"updates", "--updates"},
                                                     {"lag", "--lag"},
                                                     {"devices", "--devices"},
                                                     {"groups", "--groups"}}));
    } catch (const MemoryError& error) {
      const std::string text = error.what();
      if (text.rfind("a device memory", 0) != 0) throw;
      throw MemoryError("--device-memory: " + text);
    } catch (const DiskError& error) {
      throw DiskError(concat(m_o.volume.empty() ? "" : "--host-volume: ", error.what()));
    } catch (const FileError& error) {
      throw FileError(concat(m_o.volume.empty() ? "" : "--host-volume: ", error.what()));
    }
  }

  static WaveReport wave_report(const auto& exec, const Report& from) {
    WaveReport report;
    report.device = device_name(exec);
    report.threads = exec.concurrency();
    report.take_stream(from);
    return report;
  }

  std::string takes(const WaveReport&) const override {
    const stream::StreamPlan& plan = m_report.plan;
    const auto bytes = [](std::size_t n) { return format_bytes(static_cast<double>(n)); };
    if (plan.in_core) return concat(bytes(plan.device_bytes), " on ", m_o.space);
    const stream::StreamRequirements& need = m_report.need;
    const auto parameters =
        static_cast<std::size_t>(need.parameters * (need.shape.planes + 2 * need.shape.halo) *
                                 need.plane_elements * need.scalar);
    // a file has two copies of the state
    const std::size_t volume =
        plan.host_bytes + (m_o.volume.empty() ? 0 : plan.host_bytes - parameters);
    return concat(bytes(volume), m_o.volume.empty() ? " on the host" : " in the file", " and ",
                  bytes(plan.device_bytes), " on ",
                  plan.shape.devices * plan.groups > 1 ? "each device" : "the device");
  }

  void print_plan() const override {
    const char* head = "stream    ";
    for (const std::string& line : stream::describe(m_report.plan, m_report.need, m_report.rates)) {
      this->session().print(head, line);
      head = "          ";
    }
    const stream::StreamShape& shape = m_report.plan.shape;
    if (m_o.lag > 0 && shape.lag != m_o.lag) {
      this->session().print("          note: --lag has no effect: nothing streams");
    }
    const int idle = devices() - shape.devices * m_report.plan.groups;
    if (idle > 0) {
      this->session().print("          note: ", idle, " of ", devices(), " devices ",
                            idle > 1 ? "have" : "has",
                            " nothing to do: a longer chain would wait for its own planes, and "
                            "there are no more shots (make x the longest side, take fewer devices, "
                            "or other groups)");
    }
  }

  void prepared(const Report& report) {
    if (report.locked || !m_o.volume.empty()) return;
    this->session().print("          note: the volume could not be page-locked (", report.lock_text,
                          "): copies go through buffers, and every byte moves three times through "
                          "the host's memory");
  }

  void took_over(std::size_t, const Json& more) override {
    if (const Json* const time = more.find("wavefield_time")) m_wavefield = time->number(0.0);
  }

  void take_more(MemoryEstimate& memory) const override {
    const stream::StreamPlan& plan = m_report.plan;
    if (!on_host() || plan.in_core) return;
    const int rings = m_ranks ? 1 : plan.shape.devices * plan.groups;
    memory.take(static_cast<double>(plan.device_bytes) * rings, "rings of planes");
  }

  void begins(const WaveReport&) override {
    this->session().summary["asked"]["devices"] = devices();
    this->session().summary["stream"] = stream_json();
  }

  void part(std::size_t shot, std::vector<std::string>& files, Json& more) override {
    if (shot != 0) return;
    files.emplace_back("wavefield.npy");
    more["wavefield_time"] = *m_wavefield;
  }

  // Nodes per second of all chains of this process. Chains of one host share its rate.
  double predicted_rate() const {
    const int chains = m_report.rates.in_turn ? 1 : m_report.chains;
    return chains * m_report.plan.forecast.points_per_second;
  }

  // Plan of the stream; after the last step it includes the measurements of this process and run.
  Json stream_json() const {
    const Report& r = m_report;
    const stream::StreamForecast& forecast = r.plan.forecast;
    Json json;
    json["plan"] = plan_json(r.plan);
    if (!r.plan.in_core) {
      json["rates"] = rates_json(r.rates);
      json["predicted"] = Json::object({{"points_per_second", forecast.points_per_second},
                                        {"seconds_a_shot", forecast.seconds},
                                        {"share_of_in_core", forecast.share},
                                        {"share_of_filling", forecast.fill},
                                        {"binds", forecast.binds}});
    }
    if (!(r.seconds > 0.0)) return json;
    const double rate = r.points / r.seconds;
    Json& measured = json["measured"];
    measured["shots"] = m_modelled;
    measured["points_per_second"] = rate;
    if (r.plan.in_core) return json;
    measured["of_predicted"] = rate / predicted_rate();
    measured["iterations"] = r.iterations;
    measured["bytes_in"] = r.bytes_in;
    measured["bytes_out"] = r.bytes_out;
    json["page_locked"] = on_host() || !m_o.volume.empty() ? Json() : Json(r.locked);
    if (!r.locked) {
      json["staging"]["why"] = r.lock_text;
      json["staging"]["seconds"] = r.staging_seconds;
    }
    return json;
  }

  void finish(const WaveReport&, Ending& ending) override {
    Session& session = this->session();
    const Report& r = m_report;
    session.summary["stream"] = stream_json();
    if (m_wavefield) {
      session.summary["wavefield"] =
          Json::object({{"file", "wavefield.npy"}, {"time", *m_wavefield}});
    }
    const std::vector<Timeline::Span> spans = m_timeline.spans();
    if (!spans.empty()) {
      io::write_text(session.folder() / "timeline.json", m_timeline.json());
      session.wrote("timeline.json");
      session.summary["stages"] = stages_json(m_timeline);
    }
    ending.script = "plot_stream.py";
    if (m_wavefield) ending.pictures.emplace_back("wavefield.png");
    if (!spans.empty()) ending.pictures.emplace_back("timeline.png");
    if (r.resumed_at > 0) {
      ending.lines.push_back(concat("          the volume in ", m_o.volume, " was at ",
                                    r.resumed_at, " of ", counted(r.steps, "step")));
    }
    if (!r.plan.in_core && r.seconds > 0.0) {
      const double rate = r.points / r.seconds;
      ending.lines.push_back(
          concat("          ", format_bytes(r.bytes_in), " in, ", format_bytes(r.bytes_out),
                 " out in ", counted(r.iterations, "iteration"), "; ",
                 fixed(100.0 * rate / predicted_rate(), 1), " % of the rate predicted"));
      if (!r.locked && !on_host()) {
        ending.lines.push_back(concat("          copies between volume and buffers took ",
                                      fixed(r.staging_seconds, 3), " s of the host's time"));
      }
    }
  }

  const Options& m_o;
  std::unique_ptr<stream::StreamRanks> m_ranks;  // null: a single process
  Report m_report;
  Timeline m_timeline;
  std::int64_t m_modelled = 0;        // shots modelled by this process
  std::optional<double> m_wavefield;  // its time, if it is written
};

}  // namespace

}  // namespace moho::examples::stream_waves

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<stream_waves::Options>(argc, argv, stream_waves::describe,
                                            run_shots<stream_waves::Program, stream_waves::Options>,
                                            shot_ranks);
}
