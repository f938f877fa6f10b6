// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The shots of an inversion's evaluations over ranks or places: orders go out, files with
/// what each shot adds come back, and are added in the order of the shots.

#include "common/distribute.hpp"
#include "common/shot_list.hpp"
#include "invert_waves/compute.hpp"

#include <moho/core/error.hpp>
#include <moho/io/array.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// \brief Shots of evaluations that this process does not compute alone.
///
/// Parts of shots are files in a folder of the run, which all ranks see.
template <class T>
class Sharing {
 public:
  /// Handed the parts of all shots in their order.
  using Add = std::function<void(std::size_t, const ShotPart<T>&)>;

  /// \param o,session of the run, have to live as long \param numbers of the shots \param shape of
  /// the model
  Sharing(const Options& o, Session& session, std::vector<std::int64_t> numbers,
          const std::vector<std::int64_t>& shape)
      : m_o(o),
        m_session(session),
        m_numbers(std::move(numbers)),
        m_folder(sites_folder(session.folder())),
        m_resume(o.resume) {
    m_shape.push_back(static_cast<std::int64_t>(o.unknowns.size()) + 1);
    m_shape.insert(m_shape.end(), shape.begin(), shape.end());
    m_parts.resize(m_numbers.size());
  }
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;

  /// Lets the job's shots be computed where the options say. To be called on every rank.
  template <int Dim>
  void attach(Job<T, Dim>& job) {
    Processes& processes = m_session.processes();
    job.root = processes.root();
    job.together = [&](const std::function<void()>& function) { processes.together(function); };
    if (!processes.alone() && m_o.source_field == SourceField::automatic) {
      job.agree = [this](SourceField mine) { return agree(mine); };
    }
    if (m_o.plan) return;
    if (m_o.only_shot) {
      job.takes = [this, only = *job.only](std::size_t k) { return k == only; };
      job.keep = [this](std::size_t k, const ShotPart<T>& part) { keep_alone(k, part); };
    } else if (!m_o.distribute.sites.empty()) {
      job.collect = [this](const Order<T>& order, const Add& add) { collect_places(order, add); };
    } else if (!processes.alone()) {
      job.share = [this](Order<T>& order) { share(order); };
      job.takes = [this](std::size_t k) { return m_count.takes(static_cast<std::int64_t>(k)); };
      job.keep = [this](std::size_t k, const ShotPart<T>& part) { keep(k, part); };
      job.collect = [this](const Order<T>&, const Add& add) { collect_ranks(add); };
      if (!processes.root()) return;
      job.progress = [this, bar = job.progress](double done, const std::string& text) {
        listen(false);
        if (bar) bar(done, text);
      };
    }
  }

  /// The way of the source's wavefield that was planned: places take the same.
  void take_way(SourceField way) { m_way = way; }

  /// \brief Takes away what an earlier run left, but for a run that goes on, and makes the folder
  /// of parts. A run that neither shares its shots nor goes on leaves both folders alone.
  void begin() {
    if (m_o.only_shot) return;
    if (at_places()) io::check_owned_folder(m_folder);
    if (at_places() && !m_o.resume) io::remove_owned_folder(m_folder);
    if (at_places()) make_sites_folder(m_folder);
    if (among_ranks()) m_session.make_scratch(".moho_ranks");
  }

  /// All is done: says who computed what, and takes the folders away.
  void over() {
    if (!m_total.sites.empty()) {
      for (const std::string& line : report_lines(m_total)) m_session.print("sites     ", line);
    }
    if (at_places() || m_o.resume) io::remove_owned_folder(m_folder);
  }

 private:
  bool at_places() const { return !m_o.distribute.sites.empty(); }
  bool among_ranks() const { return !m_session.processes().alone(); }
  std::filesystem::path parts_folder() const {
    return std::filesystem::absolute(m_session.folder()) / ".moho_ranks";
  }
  // A shot of the present evaluation: another one's is never taken for it.
  std::filesystem::path part_of_rank(std::size_t k) const {
    return parts_folder() / numbered(numbered("evaluation", m_evaluation, "_shot"), m_numbers[k]);
  }

  Json numbers_of(std::size_t k, const ShotPart<T>& part) const {
    if (!std::isfinite(part.misfit)) {
      throw Error(concat("shot ", m_numbers[k], ": its misfit is ", part.misfit,
                         " (allowed: finite numbers): look at its data and at the model there"));
    }
    Json numbers = Json::object();
    numbers["misfit"] = part.misfit;
    numbers["points"] = part.points;
    numbers["modelling"] = part.modelling;
    numbers["gradients"] = part.gradients;
    return numbers;
  }
  static ShotPart<T> part_of(const Json& json) {
    const auto number = [&](const char* name) {
      const Json* const value = json.find(name);
      const double found = value != nullptr ? value->number(NAN) : NAN;
      if (!std::isfinite(found)) throw Error(concat("a shot's numbers lack ", name));
      return found;
    };
    return {number("misfit"), number("points"), number("modelling"), number("gradients"), {}};
  }
  void write(const std::filesystem::path& path, const ShotPart<T>& part) const {
    io::write_npy(path, part.values.data(), m_shape);
  }
  // Adds the shots of files, path_of(k), in their order.
  template <class PathOf>
  void add_all(const PathOf& path_of, const Add& add) {
    for (std::size_t k = 0; k < m_numbers.size(); ++k) {
      const std::filesystem::path path = path_of(k);
      io::Array<T> array = io::read_npy<T>(path);
      if (array.shape != m_shape) {
        throw FileError(concat("'", path.string(), "' has the shape ",
                               io::shape_string(array.shape), " (a shot of this run has ",
                               io::shape_string(m_shape), "): another run writes there"));
      }
      m_parts[k].values = std::move(array.data);
      add(k, m_parts[k]);
      m_parts[k].values = {};
    }
  }

  // ---- one shot, for somebody else

  void keep_alone(std::size_t k, const ShotPart<T>& part) {
    const std::string name = numbered("shot", m_numbers[k]);
    write(m_session.folder() / name, part);
    m_session.wrote(name);
    m_session.part_is_whole(m_numbers[k], {name}, numbers_of(k, part));
  }

  // ---- ranks

  // The way that fits on all ranks: replay as soon as one has no room for shell.
  SourceField agree(SourceField mine) {
    Processes& processes = m_session.processes();
    std::vector<double> without{mine == SourceField::shell ? 0.0 : 1.0};
    processes.sum_to_root(without);
    processes.broadcast(without.data(), sizeof(double));
    return without[0] > 0.0 ? SourceField::replay : SourceField::shell;
  }

  void share(Order<T>& order) {
    Processes& processes = m_session.processes();
    processes.broadcast(&order.evaluation, sizeof(order.evaluation));
    if (order.evaluation == 0) return;
    processes.broadcast(&order.band, sizeof(order.band));
    processes.broadcast(&order.size, sizeof(order.size));
    auto count = order.model.size();
    processes.broadcast(&count, sizeof(count));
    order.model.resize(count);
    processes.broadcast(order.model.data(), count * sizeof(T));
    m_there = 0;
    m_evaluation = order.evaluation;
    m_count.begin(processes);
  }

  void keep(std::size_t k, const ShotPart<T>& part) {
    Json numbers = numbers_of(k, part);
    write(part_of_rank(k), part);
    numbers["shot"] = k;
    if (!m_session.processes().root()) return m_session.processes().tell_root(numbers.dump());
    note(k, numbers);
  }

  void note(std::size_t k, const Json& numbers) {
    m_parts.at(k) = part_of(numbers);
    ++m_there;
  }

  void listen(bool wait) {
    for (const std::string& text : m_session.processes().told(wait)) {
      const Json numbers = Json::parse(text);
      note(static_cast<std::size_t>(numbers.find("shot")->number(0.0)), numbers);
    }
  }

  void collect_ranks(const Add& add) {
    while (m_there < m_numbers.size()) listen(true);
    add_all([this](std::size_t k) { return part_of_rank(k); }, add);
    std::error_code error;
    for (std::size_t k = 0; k < m_numbers.size(); ++k) {
      std::filesystem::remove(part_of_rank(k), error);
    }
  }

  // ---- places

  void collect_places(const Order<T>& order, const Add& add) {
    std::error_code error;
    m_run.folder = m_folder / numbered("evaluation", order.evaluation, "");
    m_run.resume = m_resume;  // the first evaluation alone may have been begun by an earlier run
    for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
      if (entry.path().filename() == io::owned_folder_marker) continue;
      if (!m_resume || entry.path() != m_run.folder) std::filesystem::remove_all(entry, error);
    }
    std::filesystem::create_directories(m_run.folder, error);
    const std::filesystem::path model = m_run.folder / "model.npy";
    std::vector<std::int64_t> shape = m_shape;
    --shape[0];
    io::write_npy(model, order.model.data(), shape);
    const Json* const made_from = m_session.summary.find("fingerprint");
    cluster::Work work =
        make_shot_work(m_o, m_session.program(), made_from != nullptr ? *made_from : Json(),
                       {"lags", "iterations", "evaluate", "band", "data-size", "source-field"});
    work.evaluation = order.evaluation;
    work.survey["evaluation"] = std::to_string(order.evaluation);
    work.survey["model of the evaluation"] = io::checksum_text(io::identify_file(model).checksum);
    work.inputs.emplace_back("evaluation", model.string());
    std::string size = "--data-size=";
    io::append_number(size, order.size);
    work.command.insert(work.command.end(),
                        {"--evaluate={input:evaluation}", concat("--band=", order.band + 1), size,
                         concat("--source-field=", to_string(m_way))});
    const cluster::Report report = compute_parts(
        m_o.distribute, m_run, work, m_numbers, m_session,
        [&](std::int64_t shot, const Json& part, const std::filesystem::path& folder,
            const std::vector<std::string>& names) {
          const Json* const numbers = part.find("more");
          const auto at = std::find(m_numbers.begin(), m_numbers.end(), shot);
          if (numbers == nullptr || names.size() != 1 || at == m_numbers.end()) return false;
          m_parts[static_cast<std::size_t>(at - m_numbers.begin())] = part_of(*numbers);
          std::filesystem::rename(folder / names[0], m_run.folder / numbered("shot", shot));
          return true;
        });
    add_all([this](std::size_t k) { return m_run.folder / numbered("shot", m_numbers[k]); }, add);
    count(report);
    m_resume = m_run.print_sites = false;
  }

  void count(const cluster::Report& report) {
    m_total.done += report.done;
    m_total.done_earlier += report.done_earlier;
    m_total.resubmitted += report.resubmitted;
    m_total.duplicates += report.duplicates;
    m_total.notes.insert(m_total.notes.end(), report.notes.begin(), report.notes.end());
    if (m_total.sites.empty()) {
      m_total.sites = report.sites;
      return;
    }
    for (std::size_t k = 0; k < m_total.sites.size(); ++k) {
      cluster::SiteReport& sum = m_total.sites[k];
      const cluster::SiteReport& site = report.sites[k];
      sum.shots += site.shots;
      sum.jobs += site.jobs;
      sum.failures += site.failures;
      sum.lost += site.lost;
      sum.compute_time += site.compute_time;
      if (site.rate > 0.0) sum.rate = site.rate;  // the last one
      sum.exclusion = site.exclusion;
    }
  }

  const Options& m_o;
  Session& m_session;
  std::vector<std::int64_t> m_numbers, m_shape;
  std::filesystem::path m_folder;
  std::vector<ShotPart<T>> m_parts;  ///< without their values
  SharedCount m_count;
  std::size_t m_there = 0;
  std::int64_t m_evaluation = 0;  ///< that ranks compute
  SitesRun m_run;
  SourceField m_way = SourceField::automatic;
  bool m_resume = false;
  cluster::Report m_total;
};

}  // namespace moho::examples::invert_waves
