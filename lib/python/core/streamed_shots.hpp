// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Domains and progress of shots that several devices, or a stream, compute.

#include "shot_steps.hpp"
#include "worker.hpp"

#include <moho/domain/factory.hpp>
#include <moho/stream/survey.hpp>

#include <cstddef>
#include <utility>

namespace moho::python {

/// Steps of the shots of a stream.
template <class T, int Dim>
class StreamedSteps {
 public:
  /// \param steps receives domains and fractions; \param options of the shots, which it completes
  StreamedSteps(ShotSteps& steps, stream::StreamSurveyOptions<T, Dim>& options)
      : m_steps(steps), m_options(options) {}
  StreamedSteps(const StreamedSteps&) = delete;
  StreamedSteps& operator=(const StreamedSteps&) = delete;

  /// Confines steps to domains. \param solver see domain::box_factory()
  /// \param values the model on the host
  template <class Memory>
  void expand(domain::ExpansionMethod method, const domain::DomainOptions& options,
              const Instance<Memory>& solver, const Grid<Dim>& grid,
              const wave::Model<T, Dim, Kokkos::HostSpace>& values) {
    const auto boxes_of =
        domain::box_factory(method, solver, grid, values, m_options.streaming.modelling, options);
    if (!boxes_of) return;
    m_options.boxes = [boxes_of, this](const wave::Shot<Dim>& shot,
                                       const wave::ModellingPlan<Dim>& plan) {
      const stream::StepBoxes<Dim> boxes = boxes_of(shot, plan);
      if (shot.number == 1) m_first = boxes;
      return boxes;
    };
  }
  /// Writes snapshots of the first shot to ShotSteps::snapshots.
  void take_snapshots() {
    m_options.snapshots.take = [this](const wave::SnapshotPart<T>& part) {
      write_snapshots<T>(m_steps.snapshots)(part);
    };
  }
  /// Reports the progress of a number of shots.
  void report(Job& job, std::size_t shots) {
    m_options.progress = [&job, shots](std::size_t k, const wave::ShotProgress& now) {
      const double part = static_cast<double>(now.step) / static_cast<double>(now.steps);
      job.report((static_cast<double>(k) + part) / static_cast<double>(shots), "shots");
    };
  }
  /// Takes the steps of shot `k`. \param plan of the shots
  void take(std::size_t k, const stream::StreamShotResult<T>& result,
            const wave::ModellingPlan<Dim>& plan) {
    const double nodes = static_cast<double>(plan.grid.size()) * static_cast<double>(result.steps);
    m_steps.stepped.push_back(m_first ? result.report.points / nodes : 1.0);
    if (k != 0 || !m_first || m_steps.snapshots == nullptr) return;
    wave::BoxHistory<Dim> boxes;
    for (std::int64_t n = 0; n < result.steps; ++n) boxes.add(m_first(n));
    m_steps.domains = domain::snapshot_domains(plan, boxes);
  }

 private:
  ShotSteps& m_steps;
  stream::StreamSurveyOptions<T, Dim>& m_options;
  stream::StepBoxes<Dim> m_first;  // of the first shot; empty: all nodes
};

}  // namespace moho::python
