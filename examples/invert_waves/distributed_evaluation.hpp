// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Shots of an evaluation over ranks or sites.
///
/// Requests are sent. Contributions return as messages of ranks, and as sums and files of sites.

#include "app/distribute.hpp"
#include "app/shot_list.hpp"
#include "app/site_arrays.hpp"
#include "invert_waves/options.hpp"
#include "ranks/stream_ranks.hpp"

#include <moho/core/error.hpp>
#include <moho/fwi/extended_sum.hpp>
#include <moho/io/array.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/npy.hpp>
#include <moho/io/owned_folder.hpp>
#include <moho/io/writer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace moho::examples::invert_waves {

/// What an order asks for: the gradient at a model, its extended image, or the traces of a shot.
enum class Wanted { gradient, image, gather };

/// An evaluation whose shots several processes compute.
template <class T>
struct Order {
  std::int64_t evaluation = 0;        ///< from 1; 0: the search has ended
  Wanted wanted = Wanted::gradient;   ///< at the model
  int band = 0;                       ///< from 0
  fwi::EvaluationRequest<T> request;  ///< point of the search, and low-pass
  std::size_t shot = 0;               ///< of the traces
};

/// Evaluations whose shots ranks or sites compute.
/// The root adds contributions of ranks and sites as they arrive.
template <class T>
class DistributedEvaluation {
 public:
  using Contribution = fwi::ShotContribution<T>;  ///< of a shot
  /// Called with the contribution of each shot, in any order.
  using Add = std::function<void(Contribution&&)>;
  /// Called with the sum of each site that sends one.
  using AddSum = std::function<void(const fwi::ContributionSum&)>;

  /// \param o,session of the run; must outlive this object
  /// \param numbers of the shots \param shape of the model: its nodes along each axis
  DistributedEvaluation(const Options& o, Session& session, std::vector<std::int64_t> numbers,
                        const std::vector<std::int64_t>& shape)
      : m_o(o),
        m_session(session),
        m_numbers(std::move(numbers)),
        m_grid(shape),
        m_folder(sites_folder(session.folder())),
        m_resume(o.resume) {}
  DistributedEvaluation(const DistributedEvaluation&) = delete;
  DistributedEvaluation& operator=(const DistributedEvaluation&) = delete;

  /// Returns true if sites compute the shots.
  bool at_sites() const { return !m_o.distribute.sites.empty(); }
  /// Returns true if ranks share the shots.
  bool among_ranks() const { return !m_session.processes().alone(); }
  /// Returns true if evaluations are divided among processes.
  bool divided() const { return at_sites() || among_ranks(); }
  /// Returns true if ranks must agree on the method of the source wavefield.
  bool agrees() const { return among_ranks() && m_o.source_field == fwi::SourceField::automatic; }

  /// Returns the method that fits on all ranks. Collective.
  /// It is replay if boundary_shell does not fit on one of them.
  fwi::SourceField agree(fwi::SourceField mine) {
    Processes& processes = m_session.processes();
    std::vector<double> without{mine == fwi::SourceField::boundary_shell ? 0.0 : 1.0};
    processes.sum_to_root(without);
    processes.broadcast(without.data(), sizeof(double));
    return without[0] > 0.0 ? fwi::SourceField::replay : fwi::SourceField::boundary_shell;
  }
  /// Sets the planned method of the source wavefield for sites.
  void set_source_field(fwi::SourceField method) { m_method = method; }

  /// Removes files of an earlier run unless this run resumes it. Makes the folder of contributions.
  /// Without ranks and sites no folder changes.
  void begin() {
    if (m_o.only_shot) return;
    if (at_sites()) io::check_owned_folder(m_folder);
    if (at_sites() && !m_o.resume) io::remove_owned_folder(m_folder);
    if (at_sites()) make_sites_folder(m_folder);
  }

  /// Sends the root's request for an evaluation to all ranks. Collective.
  void share(Order<T>& order) {
    Processes& processes = m_session.processes();
    processes.broadcast(&order.evaluation, sizeof(order.evaluation));
    if (order.evaluation == 0) return;
    processes.broadcast(&order.wanted, sizeof(order.wanted));
    processes.broadcast(&order.band, sizeof(order.band));
    processes.broadcast(&order.shot, sizeof(order.shot));
    processes.broadcast(&order.request.data_size, sizeof(order.request.data_size));
    auto count = order.request.values.size();
    processes.broadcast(&count, sizeof(count));
    order.request.values.resize(count);
    processes.broadcast(order.request.values.data(), count * sizeof(T));
    m_done = 0;
    m_count.begin(processes);
  }
  /// Divides the ranks into groups, each of which computes shots together.
  /// \param groups of the ranks; must outlive the object
  void set_groups(stream::RankGroups& groups) { m_groups = &groups; }
  /// Returns true if this rank computes a shot, alone or in its group.
  bool claims(std::size_t k) {
    return m_groups->agree([&] { return m_count.takes(static_cast<std::int64_t>(k)); });
  }
  /// Submits a contribution of this rank, unless another one of its group does. The root also adds
  /// those that have arrived.
  void hand_in(Contribution&& contribution, const Add& add) {
    if (!m_groups->leads()) return;
    require_finite(contribution);
    if (!m_session.processes().root()) {
      return m_session.processes().tell_root(fwi::pack(contribution));
    }
    add(std::move(contribution));
    ++m_done;
    receive(false, add);
  }
  /// Receives contributions of other ranks on the root; does nothing on other ranks.
  void listen() {
    if (!among_ranks() || !m_session.processes().root() || m_o.only_shot) return;
    for (auto& bytes : m_session.processes().told(false)) m_arrived.push_back(std::move(bytes));
  }
  /// Waits for the contributions of all ranks, and adds them.
  void collect_ranks(const Add& add) {
    while (m_done < m_numbers.size()) receive(true, add);
  }

  /// Adds the extended images of all ranks to that of the root, lag by lag. Collective.
  void merge(fwi::ExtendedSum& sum) {
    Processes& processes = m_session.processes();
    for (std::int64_t h = 0; h < sum.lags(); ++h) {
      processes.merge_to_root([&] { return sum.pack(h); },
                              [&](std::string&& bytes) { sum.merge(h, bytes); });
    }
  }

  /// Collects all contributions of sites: sums of remote sites, and files of shots of the others.
  void collect_sites(const Order<T>& order, const Add& add, const AddSum& add_sum) {
    prepare_folder(order);
    const cluster::Work work = work_of(order);
    std::map<std::int64_t, Contribution> parts;  // by the number of the shot, without values
    std::size_t added = 0;
    const bool image = order.wanted == Wanted::image;
    const auto add_file = [&](std::int64_t shot, const std::filesystem::path& file) {
      Contribution contribution = parts.at(shot);
      contribution.values = read(file, shape_of(image));
      add(std::move(contribution));
      ++added;
    };
    const OnPart on_part = [&](std::int64_t shot, const Json& part,
                               const std::filesystem::path& folder,
                               const std::vector<std::string>& names) {
      const Json* const numbers = part.find("more");
      const auto at = std::find(m_numbers.begin(), m_numbers.end(), shot);
      if (numbers == nullptr || at == m_numbers.end()) return false;
      parts[shot] = part_of(*numbers);
      parts[shot].shot = static_cast<std::size_t>(at - m_numbers.begin());
      if (numbers->find("summed") != nullptr) return names.empty();  // the sum follows
      if (names.size() != 1) return false;
      add_file(shot, folder / names[0]);
      return true;
    };
    OnSiteSum on_sum;
    if (work.sums) {
      on_sum = [&](const std::vector<std::int64_t>& shots, const std::filesystem::path& folder,
                   const std::vector<std::string>&) {
        const std::filesystem::path file = folder / site_sum_name;
        if (std::filesystem::exists(file)) {
          add_sum(sum_of(shots, parts, file));
          added += shots.size();
          return true;
        }
        for (const std::int64_t shot : shots) add_file(shot, folder / numbered("shot", shot));
        return true;
      };
    }
    const cluster::Report report =
        compute_parts(m_o.distribute, m_run, work, m_numbers, m_session, on_part, on_sum);
    if (added < m_numbers.size()) throw cluster::MissingShots(report);
    add_report(m_total, report);
    m_session.summary["sites"] = sites_json(m_total);
    m_resume = m_run.print_sites = false;
  }

  /// Writes the contribution of --only-shot, or its extended image, as a result of the root.
  void write_result(const Contribution& contribution) {
    if (!m_session.processes().root()) return;
    const std::int64_t number = m_numbers[contribution.shot];
    const std::string name = numbered("shot", number);
    const std::vector<std::int64_t> shape = shape_of(m_o.extended);
    io::write_npy(m_session.folder() / name, contribution.values.data(), shape);
    m_session.wrote(name);
    Json numbers = numbers_of(contribution);
    const std::vector<std::int64_t> zeros(m_grid.size(), 0);
    numbers["sums"].push_back(
        describe_array({sum_name, shape[0], m_grid, zeros, m_grid, true}, name));
    m_session.part_is_whole(number, {name}, numbers);
  }

  /// Prints the work of each site, and removes the folders.
  void finish() {
    if (!m_total.sites.empty()) {
      for (const std::string& line : report_lines(m_total)) m_session.print("sites     ", line);
    }
    if (at_sites()) forget_sums(m_o.distribute, m_folder);
    if (at_sites() || m_o.resume) io::remove_owned_folder(m_folder);
  }

 private:
  // Returns the shape of the arrays of a shot: derivatives and illumination, or lags.
  std::vector<std::int64_t> shape_of(bool image) const {
    std::vector<std::int64_t> shape{image ? m_o.lags.count()
                                          : static_cast<std::int64_t>(m_o.unknowns.size()) + 1};
    shape.insert(shape.end(), m_grid.begin(), m_grid.end());
    return shape;
  }
  void require_finite(const Contribution& contribution) const {
    if (std::isfinite(contribution.misfit)) return;
    throw Error(concat("shot ", m_numbers[contribution.shot], ": its misfit is ",
                       contribution.misfit,
                       " (allowed: finite numbers): look at its data and at the model there"));
  }
  Json numbers_of(const Contribution& contribution) const {
    require_finite(contribution);
    Json numbers = Json::object();
    numbers["misfit"] = contribution.misfit;
    numbers["points"] = contribution.points;
    numbers["modelling"] = contribution.forward_seconds;
    numbers["gradients"] = contribution.backward_seconds;
    return numbers;
  }
  static Contribution part_of(const Json& json) {
    const auto number = [&](const char* name) {
      const Json* const value = json.find(name);
      const double found = value != nullptr ? value->number(NAN) : NAN;
      if (!std::isfinite(found)) throw Error(concat("a shot's numbers lack ", name));
      return found;
    };
    Contribution part;
    part.misfit = number("misfit");
    part.points = number("points");
    part.forward_seconds = number("modelling");
    part.backward_seconds = number("gradients");
    return part;
  }
  // Returns the sum of a site. \throws FileError for a file of other shots or of another shape
  fwi::ContributionSum sum_of(const std::vector<std::int64_t>& shots,
                              const std::map<std::int64_t, Contribution>& parts,
                              const std::filesystem::path& file) const {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    rtm::ArraySums sums(std::numeric_limits<double>::infinity());
    add_site_sum(sums, host, shots, file);
    fwi::ContributionSum sum;
    for (const std::int64_t shot : shots) fwi::add_numbers(sum, parts.at(shot));
    sum.sums = sums.bins(host, sum_name);
    return sum;
  }
  // Reads the values of a contribution from a file.
  static std::vector<T> read(const std::filesystem::path& path,
                             const std::vector<std::int64_t>& shape) {
    io::Array<T> array = io::read_npy<T>(path);
    if (array.shape == shape) return std::move(array.data);
    throw FileError(concat("'", path.string(), "' has the shape ", io::shape_string(array.shape),
                           " (a shot of this run has ", io::shape_string(shape),
                           "): another run writes there"));
  }
  // Adds the contributions that have arrived from other ranks.
  void receive(bool wait, const Add& add) {
    if (m_arrived.empty()) m_arrived = m_session.processes().told(wait);
    for (const std::string& bytes : std::exchange(m_arrived, {})) {
      add(fwi::unpack_contribution<T>(bytes));
      ++m_done;
    }
  }
  // Makes the folder of an evaluation, with its model.
  void prepare_folder(const Order<T>& order) {
    std::error_code error;
    const char* const kind = order.wanted == Wanted::image ? "image" : "evaluation";
    m_run.folder = m_folder / numbered(kind, order.evaluation, "");
    m_run.resume = m_resume;  // only the first evaluation may have been started by an earlier run
    // the gradients of earlier evaluations are there
    forget_sums(m_o.distribute, m_folder, m_resume ? m_run.folder : "");
    for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
      if (entry.path().filename() == io::owned_folder_marker) continue;
      if (!m_resume || entry.path() != m_run.folder) std::filesystem::remove_all(entry, error);
    }
    std::filesystem::create_directories(m_run.folder, error);
    std::vector<std::int64_t> shape = shape_of(false);
    --shape[0];
    io::write_npy(m_run.folder / "model.npy", order.request.values.data(), shape);
  }
  // Returns the work of sites for an evaluation.
  cluster::Work work_of(const Order<T>& order) const {
    const std::filesystem::path model = m_run.folder / "model.npy";
    const Json* const made_from = m_session.summary.find("fingerprint");
    cluster::Work work =
        make_shot_work(m_o, m_session.program(), made_from != nullptr ? *made_from : Json());
    work.evaluation = order.evaluation;
    work.survey["evaluation"] = std::to_string(order.evaluation);
    work.sums = !m_o.keep_shots;
    if (work.sums) work.survey["results"] = "sums of sites";
    work.survey["model of the evaluation"] = io::checksum_text(io::identify_file(model).checksum);
    work.inputs.emplace_back("evaluation", model.string());
    std::string size = "--data-size=";
    io::append_number(size, order.request.data_size);
    if (order.wanted == Wanted::image) {
      work.survey["lags"] = concat(m_o.lags.x, ",", m_o.lags.y);
      work.command.push_back(concat("--lags=", work.survey["lags"]));
    }
    work.command.insert(work.command.end(),
                        {"--evaluate={input:evaluation}", concat("--band=", order.band + 1), size,
                         concat("--source-field=", fwi::to_string(m_method))});
    return work;
  }

  /// Name of the sum of a site.
  static constexpr const char* sum_name = "contribution";

  const Options& m_o;
  Session& m_session;
  std::vector<std::int64_t> m_numbers, m_grid;
  std::filesystem::path m_folder;
  SharedCount m_count;
  stream::RankGroups* m_groups = nullptr;
  std::size_t m_done = 0;              ///< contributions of the evaluation that the root has
  std::vector<std::string> m_arrived;  ///< bytes of contributions of other ranks
  SitesRun m_run;
  fwi::SourceField m_method = fwi::SourceField::automatic;
  bool m_resume = false;
  cluster::Report m_total;
};

}  // namespace moho::examples::invert_waves
