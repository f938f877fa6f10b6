// SPDX-License-Identifier: BSD-3-Clause
//
// migrate_shots: reverse-time migration of shots into an image of the subsurface.

#include "app/format.hpp"
#include "app/plan_text.hpp"
#include "app/shot_list.hpp"
#include "app/summary.hpp"
#include "app/survey_program.hpp"
#include "migrate_shots/job.hpp"
#include "migrate_shots/options.hpp"
#include "migrate_shots/plan_text.hpp"
#include "migrate_shots/stack.hpp"
#include "ranks/ranks.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/phases.hpp>
#include <moho/core/space.hpp>
#include <moho/io/array.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/rsf.hpp>
#include <moho/io/segy.hpp>
#include <moho/io/writer.hpp>
#include <moho/rtm/migration.hpp>
#include <moho/survey/live_traces.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>

namespace moho::examples::migrate_shots {

namespace {

namespace fs = std::filesystem;
using Host = Kokkos::HostSpace;

// Data of the survey's first shot, before and after their preparation.
constexpr const char* data_names[] = {"data_before.npy", "data_after.npy"};

template <class T, int Dim>
class Program {
 public:
  Program(const Options& o, EarthModel<T>&& model, std::optional<EarthModel<T>>&& truth,
          Session& session)
      : m_o(o),
        m_model(std::move(model)),
        m_truth(std::move(truth)),
        m_session(session),
        m_list(session) {}

  void run() {
    Processes& processes = m_session.processes();
    processes.collectively([&] { check(); });
    if (m_live) survey::check_live_traces(processes, m_data.sources_name, m_data.traces, *m_live);
    processes.collectively([&] { prepare(); });
    m_list.share();
    m_boxes_told = !processes.root();
    m_timeline.name_thread("run");
    const auto world = m_o.ranks_per_shot == 1 ? nullptr : stream_ranks(processes);
    stream::RankGroups groups(world.get(), m_o.ranks_per_shot,
                              m_o.only_shot ? 1 : std::ssize(m_job.shots), "--ranks-per-shot");
    with_space(m_o.space, [&](const auto& exec) { groups.fit([&] { migrate(exec, groups); }); });
    if (m_o.plan || !m_list.finish()) return;
    processes.merge_to_root([this] { return std::exchange(m_added, {}).pack(); },
                            [this](std::string&& bytes) { m_added.merge(host(), bytes); });
    m_session.summary["ranks"] = processes.size();
    if (groups.ranks() != nullptr) m_session.summary["exchange"] = groups.ranks()->exchange();
    processes.finish();
    if (!processes.root()) return;
    if (m_o.only_shot) return finish_shot(m_session, "plot_migration.py");
    stack();
    finish();
    if (!m_o.distribute.sites.empty()) forget_sites(m_o.distribute, m_session);
  }

 private:
  // Migrates the shots of this process, or of its group.
  void migrate(const auto& exec, stream::RankGroups& groups) {
    using Memory = MemoryOf<std::decay_t<decltype(exec)>>;
    Processes& processes = m_session.processes();
    std::optional<rtm::Migration<T, Dim, Memory>> migration;
    PhaseTimes times;
    processes.collectively([&] {
      const Stopwatch watch;
      auto input = migration_input<T, Dim>(m_job, is_host_memory<Memory>, m_scratch);
      input.options.timeline = &m_timeline;
      if (m_data.survey) input.options.data_samples = m_data.survey->samples();
      if (is_host_memory<Memory> && m_o.memory > 0) {
        const double held = m_session.summary["memory"].find("estimate_bytes")->number(0.0);
        input.options.storage.reserved = static_cast<std::size_t>(held - MemoryEstimate::process);
      }
      input.options.ranks = groups.ranks();
      input.options.processes = m_concurrent = std::max(processes.size() / groups.size(), 1);
      if (const Progress bar = m_list.progress()) {
        input.options.progress = [this, bar](const rtm::MigrationProgress& now) {
          bar(now.shots_done / static_cast<double>(now.shots),
              describe(now, m_job.shots[now.shot].number));
        };
      }
      with_options(m_job, [&] { migration.emplace(exec, std::move(input)); });
      if (m_data.survey && processes.root() && !m_o.only_shot) {
        const rtm::MigrationPlan<Dim>& plan = migration->plan();
        check_onsets(
            m_data, {m_o.zero, plan.wavelet, plan.frequency},
            [&](std::size_t k) { return read_data(k); },
            [&](const auto& shot) { return migration->first_arrivals(shot); });
      }
      times.add("plan", watch.seconds());
    });
    groups.keep();
    m_plan = migration->plan();
    // ranks and batches without a shot propagate nothing
    int shots = static_cast<int>(m_job.shots.size());
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) shots -= m_list.settled(k) ? 1 : 0;
    m_concurrent = std::min(m_concurrent * m_plan.concurrent_propagations(),
                            std::max(1, (shots + m_plan.batch_size - 1) / m_plan.batch_size));
    bool goes_on = false;
    processes.collectively([&] { goes_on = begin(); });
    if (goes_on) {
      const auto next = [&, k = std::size_t{0}]() mutable -> std::optional<std::size_t> {
        for (; k < m_job.shots.size(); ++k) {
          if (groups.agree([&] { return m_list.takes(k); })) return k++;
        }
        return std::nullopt;
      };
      std::function<survey::ShotGather<Dim>(std::size_t)> read;  // empty: data are modelled
      if (m_data.survey) read = [&](std::size_t k) { return read_data(k); };
      const auto take = [&](std::size_t k, rtm::ShotImage<T, Dim>&& image) {
        if (!groups.leads()) return;
        if (image.data) keep_data(image.data->gather, image.data->prepared);
        keep(k, image);
        add(k, image.window.box, image.values.data(), rtm::all_columns(image, m_job.offsets));
      };
      groups.leave_errors_to_first(
          [&] { with_options(m_job, [&] { migration->migrate_each(next, read, take); }); });
      const PhaseTimes phases = migration->phases();
      for (const auto& [phase, seconds] : phases.phases()) times.add(phase, seconds);
      if (!m_plan.slabs.empty()) m_session.summary["devices"] = slabs_json(migration->plan().slabs);
    }
    m_session.computed(times);
  }

  survey::ShotGather<Dim> read_data(std::size_t k) {
    const TimelineSpan span(&m_timeline, "read data");
    return m_data.survey->read(k);
  }

  void check() {
    const HostPhase phase(m_session.phases, "check");
    prepare_survey<Dim>(m_job, m_o, "shots", m_model, m_truth, m_data);
    check_ranks(m_session.processes(), 1, m_o.ranks_per_shot, m_o.only_shot.has_value());
    const int rank = m_session.processes().rank();
    m_scratch = m_o.snapshot_folder.empty() ? m_session.folder() / ".moho_snapshots"
                                            : fs::path(m_o.snapshot_folder);
    m_job.offsets = rtm::offsets_at(m_job.grid, m_o.columns, m_o.offset, "--columns", "--offset");
    const std::string moved = rtm::moved_columns(m_job.grid, m_job.offsets, m_o.columns);
    if (!moved.empty())
      m_data.notes.push_back("note: --columns are at the nearest nodes: " + moved);
    m_session.will_write(names());
    m_entries.resize(m_job.shots.size());
    if (m_data.survey && !m_o.plan) {
      std::optional<std::size_t> only;
      if (m_o.only_shot) only = find_only_shot(numbers_of(m_job.shots), *m_o.only_shot);
      std::size_t live = 0;
      check_traces<Dim>(m_data.sources_name, *m_data.survey, only, rank,
                        m_session.processes().size(),
                        [&](const auto& gather) { live += gather.shot.receivers.size(); });
      if (!only) m_live = live;
    }
    if (m_o.only_shot) return;
    const int ranks = m_session.processes().size_of_host();
    const MemoryLimit free = memory_limit(m_o, m_o.space != "cuda", ranks);
    if (!m_o.plan) m_added = rtm::ArraySums(free.bytes);
    Json& held = m_session.summary["memory"]["estimate_bytes"];
    held = held.number(0.0) + rtm::ImageSum<Dim>::bytes_within(free.bytes, m_job.grid, shot_parts);
  }

  void prepare() {
    OnSiteSum on_sum;
    if (!m_o.keep_shots) on_sum = [this](const auto&... site) { return add_site(site...); };
    const auto taken = [&](std::size_t k, const Json& more, ShotList::From from) {
      take(k, more);
      // a rank adds its shots itself
      const bool added = from == ShotList::From::rank || more.find("summed") != nullptr;
      if (!added && m_session.processes().root()) add_stored(k);
    };
    m_list.open(numbers_of(m_job.shots), m_o, m_o, taken, on_sum);
  }

  // Adds the shots of a site, whose sums or arrays are in a folder. False: arrays are needed.
  bool add_site(const std::vector<std::int64_t>& shots, const fs::path& folder,
                const std::vector<std::string>& names) {
    const HostPhase phase(m_session.phases, "stack");
    const bool sum = fs::exists(folder / site_sum_name);
    if (sum && !m_added.closed()) add_site_sum(m_added, host(), shots, folder / site_sum_name);
    if (sum) return !m_added.closed();
    const bool alone = m_added.closed() || m_added.shots().empty();  // no sums of other sites
    m_added.close();
    if (!alone) return false;
    m_session.will_write(names);
    for (const std::string& name : names) {
      fs::rename(folder / name, m_session.folder() / name);
      m_session.wrote(name);
    }
    return true;
  }

  // Adds a shot that another run, site or rank has computed.
  void take(std::size_t k, const Json& more) {
    m_entries[k] = more;
    for (const char* name : {"sums", "summed", "data"}) m_entries[k].remove(name);
    if (const Json* const data = more.find("data")) m_session.summary["data"] = *data;
  }

  // Names of all results.
  std::vector<std::string> names() const {
    std::vector<std::string> list{
        "image.npy",   "image.sgy",   "image.rsf",    "vp.npy", "illumination_source.npy",
        data_names[0], data_names[1], "timeline.json"};
    if (complete_receivers(m_o)) list.emplace_back("illumination_receiver.npy");
    if (m_o.conditions.size() > 1) {
      for (const Condition condition : m_o.conditions) {
        list.push_back(concat("image_", to_string(condition), ".npy"));
      }
    }
    if (m_job.offsets.count() > 0) list.emplace_back("offsets.npy");
    if (m_o.angles) list.emplace_back("angles.npy");
    if (m_o.plot && !m_o.only_shot) {
      for (const char* picture :
           {"image", "illumination", "data", "boxes", "gathers", "timeline"}) {
        list.push_back(concat(picture, ".png"));
      }
    }
    for (const auto& shot : m_job.shots) {
      list.push_back(numbered("shot", shot.number));
      if (m_job.offsets.count() > 0) list.push_back(numbered("shot", shot.number, "_offsets.npy"));
    }
    return list;
  }

  bool begin() {
    const rtm::MigrationPlan<Dim>& plan = m_plan;
    const snapshot::StorageChoice& storage = plan.storage.strategy;
    print_plan(m_session, m_o, m_model, m_data, m_job, plan);
    Json& summary = m_session.summary;
    summary["asked"] = m_session.requested();
    record_memory(m_session, m_o.space, plan, plan.host_bytes());
    summary["model"] = model_json(m_model, plan.medium, m_job.boundaries);
    // nvcc 13 refuses lists of members in member functions of class templates
    Json& scheme = summary["scheme"];
    scheme["dt"] = plan.time.dt;
    scheme["largest_dt"] = plan.limits.largest_dt;
    scheme["steps"] = plan.time.steps;
    scheme["order"] = m_o.order;
    scheme["highest_frequency"] = plan.frequency;
    scheme["wavelet_peak"] = plan.peak_time;
    Json& snapshots = summary["snapshots"];
    snapshots["way"] = storage.name;
    snapshots["reason"] = storage.reason;
    snapshots["every"] = plan.storage.interval;
    snapshots["count"] = plan.storage.snapshots;
    snapshots["bytes"] = static_cast<double>(storage.bytes);
    snapshots["lossless"] = storage.lossless;
    if (plan.storage.files) {
      for (const auto& [name, value] : plan.storage.files->numbers())
        snapshots["files"][name] = value;
    }
    summary["at_once"] = plan.concurrent_shots;
    summary["batch_size"] = plan.batch_size;
    if (!plan.stream.empty()) {
      summary["stream"] = stream_json(plan.stream_plan);
      summary["stream"]["binds"] = plan.stream_plan.forecast.binds;
      summary["stream"]["predicted_seconds"] = storage.seconds;  // of a shot, as measured_seconds
    }
    summary["notes"] = Json(m_data.notes);
    if (m_o.plan) return false;
    m_session.begin_output();
    if (!m_session.processes().root()) return true;
    m_session.make_scratch(".moho_snapshots");
    io::write_npy(m_session.folder() / "vp.npy", m_model.values["vp"].data(), m_model.shape);
    m_session.wrote("vp.npy");
    return true;
  }

  // Writes the data of the survey's first shot. The files belong to that shot's part.
  void keep_data(const survey::ShotGather<Dim>& before, const survey::PreparedShot<Dim>& after) {
    const fs::path& folder = m_session.folder();
    const auto traces = static_cast<std::int64_t>(before.shot.receivers.size());
    io::write_npy(folder / data_names[0], before.samples.data(), {traces, before.count});
    io::write_npy(folder / data_names[1], after.samples.data(), {traces, after.count});
    Json& data = m_session.summary["data"];
    data["shot"] = before.shot.number;
    data["before"]["interval"] = before.dt;
    data["before"]["start"] = before.t0;
    data["after"]["interval"] = after.dt;
    data["after"]["start"] = 0.0;
    data["sources"] = points_json(before.shot.sources);
    data["receivers"] = points_json(before.shot.receivers);
    m_data_of = before.shot.number;
    for (const std::string& note : after.notes) {
      m_session.print("          shot ", before.shot.number, ": ", note);
    }
  }

  // Adds the arrays of a shot to the sums.
  void add(std::size_t k, const Box<Dim>& box, const T* values, const std::vector<T>& gathers) {
    const HostPhase phase(m_session.phases, "stack");
    const TimelineSpan span(&m_timeline, "stack");
    const std::int64_t number = m_job.shots[k].number;
    m_added.add(host(), number, rtm::image_array(m_job.grid, box), values);
    if (gathers.empty()) return;
    m_added.add(host(), number, rtm::gather_array(m_job.offsets, depths()), gathers.data());
  }

  // Adds a shot of an earlier run or of a site.
  void add_stored(std::size_t k) {
    if (m_added.closed()) return;
    const StackedShot<Dim> shot = stored_shot(k);
    std::vector<T> values;
    for (int part = 0; part < shot_parts; ++part) {
      const std::vector<T> own = rtm::read_part<T, Dim>(shot, part);
      values.insert(values.end(), own.begin(), own.end());
    }
    add(k, shot.box, values.data(),
        m_job.offsets.count() > 0 ? read_gathers<T>(k) : std::vector<T>());
  }

  // Returns the offset gathers of a shot on all columns from its file.
  template <class Value>
  std::vector<Value> read_gathers(std::size_t k) const {
    const std::string name = numbered("shot", m_job.shots[k].number, "_offsets.npy");
    return io::read_npy<Value>(m_session.folder() / name).data;
  }

  std::int64_t depths() const { return m_job.grid.extents[Dim - 1]; }

  // Writes the sums of a shot.
  void keep(std::size_t k, const rtm::ShotImage<T, Dim>& image) {
    const HostPhase phase(m_session.phases, "write");
    const TimelineSpan span(&m_timeline, "write shot");
    const rtm::ShotMigrationReport& report = image.report;
    const std::int64_t number = m_job.shots[k].number;
    const Grid<Dim>& own = image.window.grid;
    std::vector<std::int64_t> shape{shot_parts};
    for (int d = 0; d < Dim; ++d) shape.push_back(own.extents[d]);
    std::vector<std::string> files{numbered("shot", number)};
    io::write_npy(m_session.folder() / files[0], image.values.data(), shape);
    if (m_job.offsets.count() > 0) {
      files.push_back(numbered("shot", number, "_offsets.npy"));
      io::write_npy(m_session.folder() / files[1], rtm::all_columns(image, m_job.offsets).data(),
                    {static_cast<std::int64_t>(m_job.offsets.columns.size()), m_job.offsets.count(),
                     own.extents[Dim - 1]});
    }
    Json lower = Json::array(), upper = Json::array(), largest = Json::array(),
         layers = Json::array();
    for (int d = 0; d < Dim; ++d) {
      lower.push_back(image.window.box.lower[d]);
      upper.push_back(image.window.box.upper[d]);
      layers.push_back(m_job.boundaries.lower[d].layer());
    }
    for (const double value : image.largest) largest.push_back(value);
    Json entry = Json::object({{"number", number},
                               {"sources", points_json(m_job.shots[k].sources)},
                               {"receivers", report.receivers},
                               {"dead", report.dead},
                               {"window", Json::object({{"lower", lower}, {"upper", upper}})},
                               {"largest", largest},
                               {"columns", image.columns},
                               {"layers", layers},
                               {"snapshots", report.storage},
                               {"ratio", report.ratio},
                               {"points", report.points},
                               {"points_of_whole_grids", report.whole_points},
                               {"points_again", report.recomputed_points},
                               {"seconds", report.seconds},
                               {"seconds_shared", report.seconds / m_concurrent},
                               {"seconds_waited", report.seconds_waited},
                               {"bytes_on_disk", static_cast<double>(report.disk_bytes)},
                               {"notes", Json(report.notes)}});
    if (m_o.expand != domain::ExpansionMethod::none && !m_boxes_told) {
      entry["forward_boxes"] = report.forward_boxes;
      entry["backward_boxes"] = report.backward_boxes;
    }
    if (!report.slab_planes.empty()) entry["slab_planes"] = report.slab_planes;
    m_boxes_told = true;
    Json more = entry;
    if (m_o.only_shot) {
      Json sums;
      sums.push_back(describe_array(rtm::image_array(m_job.grid, image.window.box), files[0]));
      if (files.size() > 1)
        sums.push_back(describe_array(rtm::gather_array(m_job.offsets, depths()), files[1]));
      more["sums"] = sums;
    }
    if (m_data_of == number) {
      files.insert(files.end(), std::begin(data_names), std::end(data_names));
      more["data"] = m_session.summary["data"];
    }
    for (const std::string& file : files) m_session.wrote(file);
    m_entries[k] = entry;
    m_list.done(k, files, more);
  }

  StackedShot<Dim> stored_shot(std::size_t k) const {
    return stacked_shot<Dim>(m_session.folder() / numbered("shot", m_job.shots[k].number),
                             m_entries[k]);
  }

  static Instance<Host> host() { return Kokkos::DefaultHostExecutionSpace(); }

  // Makes the sums of all shots: those that grew, or the same bits from the files of the shots.
  void stack() {
    const HostPhase phase(m_session.phases, "stack");
    const TimelineSpan span(&m_timeline, "stack");
    std::vector<StackedShot<Dim>> shots;
    for (std::size_t k = 0; k < m_job.shots.size(); ++k) shots.push_back(stored_shot(k));
    const bool grown = m_added.hold(shots.size());
    for (int part = 0; part < shot_parts; ++part) {
      m_sums.push_back(grown ? m_added.template part<T>(host(), "image", part)
                             : rtm::stack_part<T, Dim>(host(), m_job.grid, shots, part));
    }
    if (std::all_of(m_sums[0].begin(), m_sums[0].end(), [](T v) { return v == T(0); })) {
      throw InputError(zero_image_text(m_o.mute_text, m_data.time));
    }
    stack_gathers(grown);
    m_added.close();
  }

  // Sums the offset gathers of all shots in the same way.
  void stack_gathers(bool grown) {
    if (m_job.offsets.count() == 0) return;
    m_offsets = grown ? m_added.template part<double>(host(), "offsets", 0)
                      : rtm::stack_gathers(host(), rtm::gather_array(m_job.offsets, depths()),
                                           m_job.shots.size(),
                                           [&](std::size_t k) { return read_gathers<double>(k); });
  }

  std::vector<T> image(Condition condition) const {
    return make_image<T, Dim>(condition, m_job.grid, m_sums);
  }

  void write(const std::string& name, const std::vector<T>& values) {
    io::write_npy(m_session.folder() / name, values.data(), m_model.shape);
    m_session.wrote(name);
  }

  // Returns the sum of a number of all shots, of other processes and of an earlier run as well.
  double sum_of(const char* name) const {
    double sum = 0.0;
    for (const Json& entry : m_entries) {
      if (const Json* const number = entry.find(name)) sum += number->number(0.0);
    }
    return sum;
  }

  void finish() {
    const fs::path& folder = m_session.folder();
    {
      const HostPhase phase(m_session.phases, "write");
      io::Array<T> array;
      array.shape = m_model.shape;
      array.data = image(m_o.conditions.front());
      write("image.npy", array.data);
      if (m_o.conditions.size() > 1) {
        for (const Condition condition : m_o.conditions) {
          write(concat("image_", to_string(condition), ".npy"), image(condition));
        }
      }
      try {
        io::write_segy_model<T>(folder / "image.sgy", array, m_model.spacing, m_model.origin);
        m_session.wrote("image.sgy");
      } catch (const InputError& error) {
        m_session.print("          note: no image.sgy, ", error.what());
      }
      std::vector<io::RsfAxis> axes;
      for (std::size_t d = 0; d < m_model.shape.size(); ++d) {
        axes.push_back(
            {m_model.shape[d], m_model.spacing[d], m_model.origin[d], m_model.axis(d), "m"});
      }
      io::write_rsf<T>(folder / "image.rsf", array, axes);
      m_session.wrote("image.rsf");
      write("illumination_source.npy", m_sums[1]);
      if (complete_receivers(m_o)) write("illumination_receiver.npy", m_sums[2]);
      write_gathers();
      io::write_text(folder / "timeline.json", m_timeline.json());
      m_session.wrote("timeline.json");
      if (!m_o.keep_shots) remove_shots();
    }
    record_time_after_shots(m_session);
    Json& summary = m_session.summary;
    Json shots = Json::array();
    for (const Json& entry : m_entries) shots.push_back(entry);
    summary["migrated"] = shots;
    const double points = sum_of("points") + sum_of("points_again");
    const double whole = sum_of("points_of_whole_grids"), seconds = sum_of("seconds_shared");
    const double rate = seconds > 0.0 ? points / seconds : 0.0;
    Json& run = summary["run"];
    run["device"] = m_plan.device;
    run["threads"] = m_plan.threads;
    run["points"] = points;
    run["points_of_whole_grids"] = whole;
    run["seconds_of_legs"] = seconds;
    summary["rates"]["points_per_second"] = rate;
    if (!m_plan.stream.empty())
      summary["stream"]["measured_seconds"] =
          sum_of("seconds") / static_cast<double>(m_entries.size());
    summary["stages"] = stages_json(m_timeline);
    Ending ending;
    ending.script = "plot_migration.py";
    ending.pictures = {"image.png", "illumination.png"};
    if (summary.find("data") != nullptr) ending.pictures.emplace_back("data.png");
    if (m_o.expand != domain::ExpansionMethod::none) ending.pictures.emplace_back("boxes.png");
    if (!m_offsets.empty()) ending.pictures.emplace_back("gathers.png");
    ending.picture_name = "drawn";
    ending.word = "pictures";
    const auto is_dead = [](const Json& shot) { return shot.find("receivers")->number(0.0) == 0; };
    const auto dead = std::count_if(m_entries.begin(), m_entries.end(), is_dead);
    ending.lines = {concat("migrated  ", counted(m_job.shots.size() - dead, "shot"),
                           dead > 0 ? concat(" (", dead, " more without live traces)") : "", ", ",
                           format_count(points), "points on ", m_o.space, ": ", m_plan.device)};
    if (m_o.expand != domain::ExpansionMethod::none && whole > 0.0) {
      ending.lines.push_back(concat("          --expand ", domain::to_string(m_o.expand), ": ",
                                    fixed(100.0 * sum_of("points") / whole, 1),
                                    " % of the nodes were stepped"));
    }
    ending.rate = concat("rate      ", format_count(rate), "points/s");
    m_session.finish(ending);
  }

  void write_gathers() {
    if (m_offsets.empty()) return;
    const std::int64_t count = m_job.offsets.count(), depths = m_job.grid.extents[Dim - 1];
    const auto columns = static_cast<std::int64_t>(m_job.offsets.columns.size());
    io::write_npy(m_session.folder() / "offsets.npy", m_offsets.data(), {columns, count, depths});
    m_session.wrote("offsets.npy");
    const double step = static_cast<double>(m_job.offsets.offset_step) * m_job.grid.spacing[0];
    m_session.summary["offsets"] =
        Json::object({{"columns", rtm::column_positions(m_job.grid, m_job.offsets)},
                      {"first", -step * static_cast<double>(count / 2)},
                      {"apart", step}});
    if (!m_o.angles) return;
    const std::vector<double> angles = write_angle_gathers(
        m_session, m_offsets, columns, count, depths, step, m_job.grid.spacing[Dim - 1]);
    m_session.summary["angles"] =
        Json::object({{"first", angles.front()}, {"apart", 2.0}, {"unit", "degrees"}});
  }

  // Removes the files of shots, which the image includes.
  void remove_shots() {
    for (const auto& shot : m_job.shots) {
      for (const char* end : {".npy", "_offsets.npy"}) {
        const std::string name = numbered("shot", shot.number, end);
        const auto found = std::find(m_session.files.begin(), m_session.files.end(), name);
        if (found == m_session.files.end()) continue;
        std::error_code ignored;
        fs::remove(m_session.folder() / name, ignored);
        m_session.files.erase(found);
      }
    }
  }

  const Options& m_o;
  EarthModel<T> m_model;
  std::optional<EarthModel<T>> m_truth;
  Session& m_session;
  ShotList m_list;
  Job<T, Dim> m_job{m_list};
  rtm::MigrationPlan<Dim> m_plan;
  fs::path m_scratch;  ///< of snapshots in files
  Timeline m_timeline;
  SurveyData<Dim> m_data;
  std::vector<Json> m_entries;
  rtm::ArraySums m_added;              ///< arrays of shots, added while others are migrated
  std::vector<std::vector<T>> m_sums;  ///< image and illuminations
  std::vector<double> m_offsets;
  std::optional<std::size_t> m_live;  ///< live traces of the survey that this process has read
  bool m_boxes_told = false;
  int m_concurrent = 1;  ///< shots or batches that are propagated concurrently, by all processes
  std::optional<std::int64_t> m_data_of;  ///< shot whose data this process has written
};

void run(const Options& options, Session& session) {
  // memory for the sums and those of a shot
  run_survey<Program>(options, session, 4.0, " and its image");
}

}  // namespace
}  // namespace moho::examples::migrate_shots

int main(int argc, char** argv) {
  using namespace moho::examples;
  return run_example<migrate_shots::Options>(argc, argv, migrate_shots::describe,
                                             migrate_shots::run, shot_ranks);
}
