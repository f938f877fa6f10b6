// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Evaluations of an Objective whose shots several processes compute.

#include <moho/core/communicator.hpp>
#include <moho/core/error.hpp>
#include <moho/fwi/contribution_bytes.hpp>
#include <moho/fwi/extended_sum.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/stream/rank_groups.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// \brief Checks the misfit of a contribution. \param number of the shot, for the message
/// \throws Error with the number of the shot if the misfit is infinite or NaN
template <class T>
void require_finite(const ShotContribution<T>& contribution, std::int64_t number) {
  if (std::isfinite(contribution.misfit)) return;
  throw Error(concat("shot ", number, ": its misfit is ", contribution.misfit,
                     " (allowed: finite numbers): look at its data and at the model there"));
}

/// Work that the root requests of all processes.
enum class SharedTask {
  stop,      ///< the search has ended, no request follows
  gradient,  ///< contributions of the shots to the gradient
  image,     ///< extended images of the shots
  traces     ///< modelled traces of one shot, by the group of the root
};

/// A request of the root to all processes.
template <class T>
struct SharedRequest {
  SharedTask task = SharedTask::stop;  ///< work
  EvaluationRequest<T> evaluation;     ///< model and low-pass; unused by SharedTask::stop
  std::size_t shot = 0;                ///< position of the shot of SharedTask::traces
};

/// \brief Evaluations of an Objective, or of several, whose shots all processes compute.
///
/// Each process has an objective of the same survey. The root runs the search; the others compute
/// shots for it until it calls stop():
///
///     mpi::MpiCommunicator processes(session.communicator());
///     stream::RankGroups groups(nullptr, 1, objective.shots().size(), "ranks");
///     SharedEvaluation<float> shared(processes, groups, numbers);
///     if (!processes.root()) return shared.serve(objective);
///     while (search.wants() == optimize::Want::evaluation) {
///       search.tell(exec, shared.evaluate(objective, search.point(), gradient), gradient);
///     }
///     shared.stop();
///
/// Misfits, gradients and images have the bits of one process, if all processes use the same method
/// of the source wavefield (common_source_field()). A process takes the next shot when it has
/// finished one. Its contribution is sent while it computes another one.
///
/// An exception on one process leaves the others waiting: the caller has to end them
/// (mpi::Session::abort()).
/// \tparam T type of the models
template <class T>
class SharedEvaluation {
 public:
  using Contribution = ShotContribution<T>;  ///< of a shot
  /// Called on the root with the contribution of each shot, in any order.
  using Add = std::function<void(const Contribution&)>;

  /// \param processes of the run; must outlive the object
  /// \param groups of processes that compute a shot together, see ObjectiveOptions::ranks; must
  /// outlive the object
  /// \param numbers of all shots, for messages; their count is that of the objective's shots
  SharedEvaluation(Communicator& processes, stream::RankGroups& groups,
                   std::vector<std::int64_t> numbers)
      : m_processes(processes), m_groups(groups), m_numbers(std::move(numbers)) {}
  SharedEvaluation(const SharedEvaluation&) = delete;
  SharedEvaluation& operator=(const SharedEvaluation&) = delete;

  /// \brief Returns the method of the source wavefield that fits on all processes, for
  /// Objective::set_source_field(). Collective.
  /// \param mine planned on this process, boundary_shell or another one
  /// \return boundary_shell if all processes planned it, otherwise replay
  SourceField common_source_field(SourceField mine) {
    std::vector<double> others{mine == SourceField::boundary_shell ? 0.0 : 1.0};
    m_processes.sum_to_root(others);
    m_processes.broadcast(others.data(), sizeof(double));
    return others[0] > 0.0 ? SourceField::replay : SourceField::boundary_shell;
  }

  /// \name Complete evaluations
  /// The root calls these functions; the other processes are in serve().
  /// @{

  /// \brief Returns the misfit of all shots, as Objective::evaluate(): infinity for a model that
  /// cannot be stepped.
  /// \param objective of this process
  /// \param x variables
  /// \param gradient written: derivatives of the misfit with respect to the variables
  /// \throws InputError as Objective::evaluate(); Error as submit()
  template <class Objective, class ConstVector, class Vector>
  double evaluate(Objective& objective, const ConstVector& x, const Vector& gradient) {
    if (m_processes.alone()) return objective.evaluate(x, gradient);
    if (!objective.begin_trial(x, gradient)) return std::numeric_limits<double>::infinity();
    send({SharedTask::gradient, objective.request()});
    contribute(objective);
    collect([&](const Contribution& contribution) { objective.add(contribution); });
    return objective.end(gradient);
  }
  /// \brief Returns the extended image of all shots, as Objective::extended_image().
  /// \param objective of this process, with lags
  /// \param x variables
  template <class Objective, class ConstVector>
  ExtendedResult<T> extended_image(Objective& objective, const ConstVector& x) {
    if (m_processes.alone()) return objective.extended_image(x);
    objective.begin(x);
    send({SharedTask::image, objective.request()});
    return image(objective);
  }
  /// \brief Returns modelled traces of a shot, as Objective::model(). Without groups of processes
  /// the root models them alone.
  /// \param objective of this process
  /// \param x variables \param k position of the shot
  template <class Objective, class ConstVector>
  std::vector<float> model(Objective& objective, const ConstVector& x, std::size_t k) {
    objective.begin(x);
    if (m_groups.ranks() != nullptr) send({SharedTask::traces, objective.request(), k});
    return objective.model(k);
  }
  /// Ends serve() on the other processes.
  void stop() { send({}); }
  /// @}

  /// \brief Computes shots for the root until it calls stop(). Not called on the root.
  /// \param objective of this process
  template <class Objective>
  void serve(Objective& objective) {
    SharedRequest<T> request;
    while (receive(request)) {
      objective.begin(request.evaluation);
      if (request.task == SharedTask::image) image(objective);
      if (request.task == SharedTask::gradient) contribute(objective);
      if (request.task == SharedTask::traces && m_groups.has_root()) {
        m_groups.leave_errors_to_first([&] { objective.model(request.shot); });
      }
    }
  }

  /// \name Steps of an evaluation, for callers with another objective
  /// @{

  /// Sends a request of the root to all processes, which call receive(). Called on the root.
  void send(SharedRequest<T> request) { exchange(request); }
  /// \brief Receives a request of the root. Not called on the root.
  /// \return false if the task is SharedTask::stop; the other values are then unchanged
  bool receive(SharedRequest<T>& request) { return exchange(request); }
  /// Returns true if this process computes a shot, alone or in its group. Called once for each
  /// shot in ascending order. \param k position of the shot
  bool claim(std::size_t k) {
    return m_groups.agree([&] { return m_counter.claim(static_cast<std::int64_t>(k)); });
  }
  /// \brief Sends a contribution of this process to the root, without waiting. On the root it adds
  /// the contribution, and those that have arrived. Other ranks of a group than the first do
  /// nothing.
  /// \param contribution of a claimed shot
  /// \param add called on the root
  /// \throws Error with the number of the shot if its misfit is infinite or NaN
  void submit(const Contribution& contribution, const Add& add) {
    if (!m_groups.leads()) return;
    require_finite(contribution, m_numbers.at(contribution.shot));
    if (!m_processes.root()) return m_processes.send_to_root(pack(contribution));
    add(contribution);
    ++m_added;
    add_received(false, add);
  }
  /// Receives contributions that have arrived at the root, for a later submit() or collect(), so
  /// that long messages advance during a shot. Does nothing on other processes.
  void poll() {
    if (m_processes.alone() || !m_processes.root()) return;
    for (auto& bytes : m_processes.received(false)) m_received.push_back(std::move(bytes));
  }
  /// Waits for the contributions of all shots, and adds them. Called on the root, after its last
  /// submit().
  void collect(const Add& add) {
    while (m_added < m_numbers.size()) add_received(true, add);
  }
  /// Adds the sums of extended images of all processes to that of the root, lag by lag. Collective.
  /// \param sum of the shots of this process; complete on the root afterwards
  void merge(ExtendedSum& sum) {
    for (std::int64_t h = 0; h < sum.lags(); ++h) {
      m_processes.merge_to_root([&] { return sum.pack(h); },
                                [&](std::string&& bytes) { sum.merge(h, bytes); });
    }
  }
  /// @}

 private:
  // Broadcasts the request of the root. False: stop.
  bool exchange(SharedRequest<T>& request) {
    m_processes.broadcast(&request.task, sizeof(request.task));
    if (request.task == SharedTask::stop) return false;
    EvaluationRequest<T>& evaluation = request.evaluation;
    m_processes.broadcast(&request.shot, sizeof(request.shot));
    m_processes.broadcast(&evaluation.corner, sizeof(evaluation.corner));
    m_processes.broadcast(&evaluation.data_size, sizeof(evaluation.data_size));
    auto count = evaluation.values.size();
    m_processes.broadcast(&count, sizeof(count));
    evaluation.values.resize(count);
    m_processes.broadcast(evaluation.values.data(), count * sizeof(T));
    m_added = 0;
    m_counter.begin(m_processes);
    return true;
  }
  // Computes and submits the contributions of the shots that this process claims.
  template <class Objective>
  void contribute(Objective& objective) {
    const Add add = [&](const Contribution& contribution) { objective.add(contribution); };
    m_groups.leave_errors_to_first([&] {
      objective.contributions([this](std::size_t k) { return claim(k); },
                              [&](Contribution&& contribution) { submit(contribution, add); });
    });
  }
  // Returns the extended image of the shots of all processes on the root.
  template <class Objective>
  ExtendedResult<T> image(Objective& objective) {
    return objective.extended_image(
        m_groups, m_processes.root(), [this](std::size_t k) { return claim(k); },
        [this](ExtendedSum& sum) { merge(sum); });
  }
  // Adds the contributions that have arrived from other processes.
  void add_received(bool wait, const Add& add) {
    if (m_received.empty()) m_received = m_processes.received(wait);
    for (const std::string& bytes : std::exchange(m_received, {})) {
      add(unpack_contribution<T>(bytes));
      ++m_added;
    }
  }

  Communicator& m_processes;
  stream::RankGroups& m_groups;
  std::vector<std::int64_t> m_numbers;
  SharedCounter m_counter;
  std::size_t m_added = 0;              // contributions of the evaluation that the root has
  std::vector<std::string> m_received;  // contributions of other processes, packed
};

}  // namespace moho::fwi
