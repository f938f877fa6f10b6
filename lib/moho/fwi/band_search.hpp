// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Search for the minimum of an Objective, frequency band by frequency band.

#include <moho/core/error.hpp>
#include <moho/fwi/objective.hpp>
#include <moho/optimize/lbfgs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Options of a BandSearch.
struct BandSearchOptions {
  std::vector<double> bands = {};  ///< corners of low-passes, Hz, ascending; empty: one band of all
                                   ///< frequencies
  std::int64_t iterations = 10;    ///< largest number in each band
  int memory = 5;                  ///< pairs of L-BFGS
  double first_change = 0.01;      ///< largest change of a variable in the first trial
  bool precondition = false;       ///< true: by the illumination at the start of each band
  ArgumentNames names = {};        ///< name of the argument "data" in messages
};

/// An evaluation of a BandSearch.
struct BandEvaluation {
  int band = 0;                 ///< from 1
  double frequency = 0.0;       ///< corner of the band, Hz; 0: all frequencies
  std::int64_t in_band = 0;     ///< evaluations in the band, including this one
  std::int64_t evaluation = 0;  ///< from 1
  std::int64_t iteration = 0;   ///< accepted steps so far
  bool taken = false;           ///< this evaluation was an accepted step
  double misfit = 0.0;          ///< divided by that of traces of zeros
  double relative = 0.0;        ///< divided by the first one of the band
  double gradient = 0.0;        ///< norm of the gradient at the best point
  double step = 0.0;            ///< length of the trial step; 0: the start of a band
};

/// Progress of a BandSearch, in addition to the file of its search.
struct BandProgress {
  int band = 0;              ///< from 0
  std::int64_t in_band = 0;  ///< evaluations in that band
};

/// \brief L-BFGS in one frequency band after another (Bunks et al., 1995).
///
/// Each band starts at the best point of the band before. The caller evaluates, after
/// restore_band() if the objective may have another band since:
///
///     BandSearch search(exec, objective, {.bands = {3.0, 5.0, 8.0}});
///     const auto gradient = objective.make_gradient();
///     while (search.next_band()) {
///       while (search.state().wants() == optimize::Want::evaluation) {
///         search.tell(objective.evaluate(search.state().point(), gradient), gradient);
///       }
///     }
///     const auto vp = objective.values(search.state().best(), Parameter::vp);
template <class T, int Dim, class Memory>
class BandSearch {
 public:
  using Search = optimize::Lbfgs<T, Memory>;           ///< search in all bands
  using ConstVector = Kokkos::View<const T*, Memory>;  ///< constant vector

  /// Begins a search.
  /// \param exec instance of the vectors
  /// \param objective objective, which must outlive the search
  /// \param options bands and limits
  BandSearch(const InstanceOf<Memory>& exec, Objective<T, Dim, Memory>& objective,
             const BandSearchOptions& options = {})
      : BandSearch(exec, objective, options, start_of(exec, objective, options)) {}
  /// Resumes a search.
  /// \param exec,objective,options as above
  /// \param path file that save() wrote
  /// \param progress of that search
  /// \throws FileError as Lbfgs::load()
  BandSearch(const InstanceOf<Memory>& exec, Objective<T, Dim, Memory>& objective,
             const BandSearchOptions& options, const std::filesystem::path& path,
             const BandProgress& progress)
      : BandSearch(exec, objective, options, Search::load(exec, path)) {
    m_progress = progress;
    m_resumed = true;
  }

  /// \brief Resumes a search from the file of save() with a note.
  /// \param exec,objective,options as above
  /// \param path file
  /// \param note receives the note
  /// \throws FileError as Lbfgs::load(), and for the file of save() without a note
  BandSearch(const InstanceOf<Memory>& exec, Objective<T, Dim, Memory>& objective,
             const BandSearchOptions& options, const std::filesystem::path& path, std::string& note)
      : BandSearch(exec, objective, options, Search::load(exec, path, &note)) {
    std::size_t at = 0;
    if (note.size() < sizeof(std::int64_t) * 2) throw no_progress(path);
    const auto next = [&] {
      std::int64_t number = 0;
      std::memcpy(&number, note.data() + at, sizeof(number));
      at += sizeof(number);
      return number;
    };
    m_progress.band = static_cast<int>(next());
    m_progress.in_band = next();
    if (m_progress.band < 0 || m_progress.in_band < 1) throw no_progress(path);
    note.erase(0, at);
    m_resumed = true;
  }

  /// State of the L-BFGS search.
  const Search& state() const { return m_search; }
  /// Band and evaluations in it. \pre next_band() returned true
  const BandProgress& progress() const { return m_progress; }
  /// Number of bands: at least 1.
  int bands() const { return std::max(static_cast<int>(m_options.bands.size()), 1); }
  /// \brief Begins the first or the next band.
  /// \return false after the last band
  /// \throws InputError as Objective::set_band()
  bool next_band() {
    if (!m_resumed) {
      if (m_begun) ++m_progress.band;
      m_progress.in_band = 0;
    }
    if (m_progress.band >= bands()) return false;
    m_objective.set_band(corner());
    if (!m_resumed) {
      if (m_progress.band > 0) m_search.restart(m_exec);
      m_search.extend(m_search.iterations() + m_options.iterations, 0, 0.0);
    }
    m_begun = true;
    m_resumed = false;
    return true;
  }
  /// \brief Sets the band of the search again, if the objective has another one.
  ///
  /// Call it before an evaluation if other code, such as another search, uses the objective.
  /// \pre next_band() returned true
  void restore_band() {
    if (m_objective.band() != corner()) m_objective.set_band(corner());
  }
  /// \brief Takes the misfit and its gradient at state().point().
  /// \throws InputError for an initial model that explains the data; as Lbfgs::tell()
  BandEvaluation tell(double misfit, const ConstVector& gradient) {
    const bool first = m_progress.in_band == 0;
    if (first && m_progress.band == 0 && misfit < 1e-10) {
      throw InputError(concat(m_options.names("data"), ": the start explains the data to ", misfit,
                              " of their energy, nothing is to be inverted (allowed: data that "
                              "differ from those of the start)"));
    }
    if (first && m_options.precondition) {
      m_search.precondition(m_exec, m_objective.preconditioner());
    }
    BandEvaluation result;
    const std::int64_t before = m_search.iterations();
    result.step = first ? 0.0 : m_search.step();
    m_search.tell(m_exec, misfit, gradient);
    result.in_band = ++m_progress.in_band;
    result.band = m_progress.band + 1;
    result.frequency = corner();
    result.evaluation = m_search.evaluations();
    result.iteration = m_search.iterations();
    result.taken = first || result.iteration > before;
    result.misfit = misfit;
    result.relative = misfit / m_search.first_value();
    result.gradient = m_search.gradient_norm();
    return result;
  }
  /// Writes the state of the search; progress() completes it. \throws FileError
  void save(const std::filesystem::path& path) const { m_search.save(m_exec, path); }
  /// \brief Writes the state of the search with progress().
  /// \pre tell() was called
  /// \param path file, which is replaced
  /// \param note bytes of the caller, such as what the search was made from
  /// \throws FileError
  void save(const std::filesystem::path& path, const std::string& note) const {
    const std::int64_t numbers[] = {m_progress.band, m_progress.in_band};
    std::string bytes(reinterpret_cast<const char*>(numbers), sizeof(numbers));
    m_search.save(m_exec, path, bytes + note);
  }

 private:
  BandSearch(const InstanceOf<Memory>& exec, Objective<T, Dim, Memory>& objective,
             const BandSearchOptions& options, Search search)
      : m_exec(exec), m_objective(objective), m_options(options), m_search(std::move(search)) {}
  static Search start_of(const InstanceOf<Memory>& exec, const Objective<T, Dim, Memory>& objective,
                         const BandSearchOptions& options) {
    optimize::LbfgsOptions limits;
    limits.memory = options.memory;
    limits.first_change = options.first_change;
    limits.gradient = 1e-12;
    return Search(exec, objective.start(), limits, objective.bounds());
  }
  static FileError no_progress(const std::filesystem::path& path) {
    return FileError(concat("'", path.string(),
                            "' has no band of its search (allowed: what BandSearch::save wrote "
                            "with a note): begin again"));
  }
  double corner() const {
    return m_options.bands.empty() ? 0.0
                                   : m_options.bands[static_cast<std::size_t>(m_progress.band)];
  }

  Instance<Memory> m_exec;
  Objective<T, Dim, Memory>& m_objective;
  BandSearchOptions m_options;
  Search m_search;
  BandProgress m_progress;
  bool m_begun = false, m_resumed = false;
};

}  // namespace moho::fwi
