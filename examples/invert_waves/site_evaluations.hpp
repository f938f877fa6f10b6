// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluations whose shots sites compute, and the results of a shot for another run.

#include "app/distribute.hpp"
#include "app/shot_list.hpp"
#include "app/site_arrays.hpp"
#include "invert_waves/options.hpp"

#include <moho/core/error.hpp>
#include <moho/fwi/shared_evaluation.hpp>
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

/// An evaluation at sites.
template <class T>
struct SiteEvaluation {
  std::int64_t number = 1;            ///< from 1
  bool image = false;                 ///< the extended image instead of the gradient
  int band = 0;                       ///< from 0
  fwi::EvaluationRequest<T> request;  ///< model and low-pass
};

/// Evaluations whose shots sites compute: their folders, and the contributions in files.
template <class T>
class SiteEvaluations {
 public:
  using Contribution = fwi::ShotContribution<T>;  ///< of a shot
  /// Called with the contribution of each shot, in any order.
  using Add = std::function<void(Contribution&&)>;
  /// Called with the sum of each site that sends one.
  using AddSum = std::function<void(const fwi::ContributionSum&)>;

  /// \param o,session of the run; must outlive this object
  /// \param numbers of the shots \param shape of the model: its nodes along each axis
  SiteEvaluations(const Options& o, Session& session, std::vector<std::int64_t> numbers,
                  const std::vector<std::int64_t>& shape)
      : m_o(o),
        m_session(session),
        m_numbers(std::move(numbers)),
        m_grid(shape),
        m_folder(sites_folder(session.folder())),
        m_resume(o.resume) {}
  SiteEvaluations(const SiteEvaluations&) = delete;
  SiteEvaluations& operator=(const SiteEvaluations&) = delete;

  /// Returns true if the run has sites, which compute the shots.
  bool given() const { return !m_o.distribute.sites.empty(); }
  /// Sets the planned method of the source wavefield for sites.
  void set_source_field(fwi::SourceField method) { m_method = method; }

  /// Removes files of an earlier run unless this run resumes it. Makes the folder of contributions.
  /// Without sites no folder changes.
  void begin() {
    if (m_o.only_shot) return;
    if (given()) io::check_owned_folder(m_folder);
    if (given() && !m_o.resume) io::remove_owned_folder(m_folder);
    if (given()) make_sites_folder(m_folder);
  }

  /// Collects all contributions: sums of remote sites, and files of shots of the others.
  void collect(const SiteEvaluation<T>& evaluation, const Add& add, const AddSum& add_sum) {
    prepare_folder(evaluation);
    const cluster::Work work = work_of(evaluation);
    std::map<std::int64_t, Contribution> parts;  // by the number of the shot, without values
    std::size_t added = 0;
    const auto add_file = [&](std::int64_t shot, const std::filesystem::path& file) {
      Contribution contribution = parts.at(shot);
      contribution.values = read(file, shape_of(evaluation.image));
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
    if (!given()) return leave_sites(m_session, m_folder);
    forget_sums(m_o.distribute, m_folder);
    io::remove_owned_folder(m_folder);
  }

 private:
  // Returns the shape of the arrays of a shot: derivatives and illumination, or lags.
  std::vector<std::int64_t> shape_of(bool image) const {
    std::vector<std::int64_t> shape{image ? m_o.lags.count()
                                          : static_cast<std::int64_t>(m_o.unknowns.size()) + 1};
    shape.insert(shape.end(), m_grid.begin(), m_grid.end());
    return shape;
  }
  Json numbers_of(const Contribution& contribution) const {
    fwi::require_finite(contribution, m_numbers[contribution.shot]);
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
  // Makes the folder of an evaluation, with its model.
  void prepare_folder(const SiteEvaluation<T>& evaluation) {
    std::error_code error;
    const char* const kind = evaluation.image ? "image" : "evaluation";
    m_run.folder = m_folder / numbered(kind, evaluation.number, "");
    m_run.resume = m_resume;  // only the first evaluation may have been started by an earlier run
    // the gradients of earlier evaluations are complete
    forget_sums(m_o.distribute, m_folder, m_resume ? m_run.folder : "");
    for (const auto& entry : std::filesystem::directory_iterator(m_folder, error)) {
      if (entry.path().filename() == io::owned_folder_marker) continue;
      if (!m_resume || entry.path() != m_run.folder) std::filesystem::remove_all(entry, error);
    }
    std::filesystem::create_directories(m_run.folder, error);
    std::vector<std::int64_t> shape = shape_of(false);
    --shape[0];
    io::write_npy(m_run.folder / "model.npy", evaluation.request.values.data(), shape);
  }
  // Returns the work of sites for an evaluation.
  cluster::Work work_of(const SiteEvaluation<T>& evaluation) const {
    const std::filesystem::path model = m_run.folder / "model.npy";
    const Json* const made_from = m_session.summary.find("fingerprint");
    cluster::Work work =
        make_shot_work(m_o, m_session.program(), made_from != nullptr ? *made_from : Json());
    work.evaluation = evaluation.number;
    work.survey["evaluation"] = std::to_string(evaluation.number);
    work.sums = !m_o.keep_shots;
    work.survey["model of the evaluation"] = io::checksum_text(io::identify_file(model).checksum);
    work.inputs.emplace_back("evaluation", model.string());
    std::string size = "--data-size=";
    io::append_number(size, evaluation.request.data_size);
    if (evaluation.image) {
      work.survey["lags"] = concat(m_o.lags.x, ",", m_o.lags.y);
      work.command.push_back(concat("--lags=", work.survey["lags"]));
    }
    work.command.insert(work.command.end(),
                        {"--evaluate={input:evaluation}", concat("--band=", evaluation.band + 1),
                         size, concat("--source-field=", fwi::to_string(m_method))});
    return work;
  }

  /// Name of the sum of a site.
  static constexpr const char* sum_name = "contribution";

  const Options& m_o;
  Session& m_session;
  std::vector<std::int64_t> m_numbers, m_grid;
  std::filesystem::path m_folder;
  SitesRun m_run;
  fwi::SourceField m_method = fwi::SourceField::automatic;
  bool m_resume = false;
  cluster::Report m_total;
};

}  // namespace moho::examples::invert_waves
