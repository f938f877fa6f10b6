// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The modelling of moho.Shots, on one device or in slabs on several.

#include "plan_numbers.hpp"
#include "shot_steps.hpp"
#include "wave_input.hpp"
#include "worker.hpp"

#include <moho/stream/slab_plan.hpp>
#include <moho/wave/boundary_text.hpp>
#include <moho/wave/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace moho::python {

/// What Shots shows of its plan.
struct ShotsPlan {
  double dt = 0.0, interval = 0.0, source_taper = 0.0, frequency = 0.0;
  std::int64_t steps = 0, samples = 0, snapshot_steps = 0;  ///< 0: no snapshots
  std::size_t memory = 0;
  std::string medium, faces;
  PlanNumbers numbers;
  stream::SlabPlan slabs;
};

/// Returns the plan that Shots shows, without slabs.
template <int Dim>
ShotsPlan shots_plan(const wave::ModellingPlan<Dim>& plan, int order) {
  ShotsPlan shown{plan.time.dt,
                  plan.time.interval,
                  plan.source_taper,
                  plan.frequency,
                  plan.time.steps,
                  plan.time.samples,
                  plan.time.snapshot_every,
                  plan.memory.peak,
                  wave::info(plan.medium).name,
                  wave::boundaries_string(plan.faces),
                  {},
                  {}};
  shown.numbers = {{"medium", shown.medium},
                   {"faces", shown.faces},
                   {"nodes", nodes_of<Dim>(plan.grid.extents)},
                   {"order", whole_number(order)},
                   {"dt", plan.time.dt},
                   {"largest_dt", plan.limits.largest_dt},
                   {"steps", plan.time.steps},
                   {"interval", plan.time.interval},
                   {"samples", plan.time.samples},
                   {"snapshots", snapshot_count(plan.time)},
                   {"frequency", plan.frequency},
                   {"peak_time", plan.peak_time},
                   {"nodes_per_wave", plan.nodes_per_wave},
                   {"nodes_per_wave_wanted", plan.nodes_per_wave_wanted},
                   {"source_taper", plan.source_taper},
                   {"parameter_bits", whole_number(plan.parameter_bits)},
                   {"concurrent_shots", whole_number(plan.concurrent_shots)},
                   {"batch_size", whole_number(plan.batch_size)},
                   {"memory", whole_number(plan.memory.peak)}};
  return shown;
}

/// An array of results, or of derivatives by results.
struct TraceTarget {
  void* data = nullptr;
  bool device = false;
};

/// Modelling in a precision, dimension and memory. Its members are used on the worker.
class AnyModelling : public Resource {
 public:
  /// Sets the plan, with the number of samples, before traces are allocated.
  virtual void prepare(const WaveInput& given, ShotsPlan& plan) = 0;
  /// Models a shot.
  virtual void shot(Job& job, const Input& sources, const Input& receivers,
                    const TraceTarget& traces, ShotSteps& steps) = 0;
  /// Models shots of a survey; one set of sources, receivers and traces for each.
  virtual void survey(Job& job, const std::vector<Input>& sources,
                      const std::vector<Input>& receivers, const std::vector<TraceTarget>& traces,
                      ShotSteps& steps) = 0;
  /// Loads another model.
  virtual void update(const WaveInput& model) = 0;
  /// \brief Models a shot and stores its wavefield for gradient().
  /// \param wanted vp, density, epsilon and delta: true for those of the gradient
  /// \returns the wavefield, or null where it takes more than a quarter of the free memory: then
  /// traces are not written
  virtual std::shared_ptr<Resource> shot_for_gradient(Job& job, const Input& sources,
                                                      const Input& receivers,
                                                      const TraceTarget& traces,
                                                      const std::vector<bool>& wanted) = 0;
  /// \brief Derivatives of a function of the traces of a shot over a model, from its derivatives by
  /// the traces.
  /// \param gradients of vp, density, epsilon and delta, null where not wanted
  /// \param wavefield of shot_for_gradient() for this model; null: the shot is modelled again
  virtual void gradient(Job& job, const WaveInput& model, const Input& sources,
                        const Input& receivers, const AnyInput& derivative,
                        const std::vector<TraceTarget>& gradients, Resource* wavefield) = 0;
};

/// The wavefield of shot_for_gradient(), an object of Python.
class Wavefield {
 public:
  explicit Wavefield(std::shared_ptr<Resource> kept) : m_kept(std::move(kept)) {}
  Wavefield(const Wavefield&) = delete;
  Wavefield& operator=(const Wavefield&) = delete;
  ~Wavefield() { disown(m_kept); }
  Resource* get() const { return m_kept.get(); }

 private:
  std::shared_ptr<Resource> m_kept;
};

/// \brief Returns modelling in slabs, for fields on the host. The plan has devices 0: automatic.
/// \param vp field of the type and dimension \param space of the slabs \param devices their number
std::shared_ptr<AnyModelling> make_slab_modelling(const AnyInput& vp, const std::string& space,
                                                  int devices);

/// Returns the error for calls after close().
inline InputError shots_are_closed() {
  return InputError("shots: close() was called (allowed: before): make another moho.Shots");
}

/// Returns the shots of a survey, with the numbers 1, 2, ..., as make_gathers() numbers gathers
template <int Dim>
std::vector<wave::Shot<Dim>> shots_at(const std::vector<Input>& sources,
                                      const std::vector<Input>& receivers) {
  std::vector<wave::Shot<Dim>> shots;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    shots.push_back({static_cast<std::int64_t>(k) + 1, points_of<Dim>(sources[k]),
                     points_of<Dim>(receivers[k])});
  }
  return shots;
}

}  // namespace moho::python
