// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Parts of printed plans and of summary.json that programs of waves share.

#include "app/model_grid.hpp"
#include "app/program.hpp"

#include <moho/wave/media.hpp>
#include <moho/wave/modelling.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace moho::examples {

/// Prints the grid, the medium and the notes of a model. \param dt time step of the run, s
/// \param faces text of the boundaries \param range text after the medium: ", vp 1500 to 4500 m/s"
void print_model(const Session& session, const ModelGrid& model, wave::Medium medium, double dt,
                 const std::string& faces, const std::string& range = "");
/// Prints a note on a wavelet that goes on after the end of the run. \param time steps of the run
void print_late_wavelet(const Session& session, const wave::WaveletAt& wavelet,
                        const wave::TimePlan& time);
/// Returns the line of the time steps in a plan.
/// \param dt,max_dt the time step and the largest stable one, s \param where it is stable
std::string scheme_text(int order, double dt, double max_dt, std::int64_t steps,
                        double nodes_per_wave, const char* where = "");
/// Prints the number of concurrent shots on one device. \param requested of --at-once; 0: chosen
void print_concurrent_shots(const Session& session, int count, int requested);

/// Returns the shape and the memory of a stream for summary.json. Plan: stream::StreamPlan
template <class Plan>
Json stream_json(const Plan& plan) {
  Json result = Json::object();
  result["block"] = plan.shape.block;
  result["updates"] = plan.shape.updates;
  result["lag"] = plan.shape.lag;
  result["devices"] = plan.shape.devices;
  result["parameters_resident"] = plan.resident;
  result["ring_planes"] = plan.ring_planes;
  result["device_bytes"] = plan.device_bytes;
  result["host_bytes"] = plan.host_bytes;
  return result;
}

/// Prints the slabs of shots that have them. Plan: stream::SlabPlan \param space of the program
template <class Plan>
void print_slabs(const Session& session, const Plan& slabs, const std::string& space) {
  if (slabs.empty()) return;
  session.print("devices   ", slabs.text(), space == "cuda" || slabs.ranks ? "" : " (threads)");
}
/// Returns slabs for summary.json. Plan: stream::SlabPlan
template <class Plan>
Json slabs_json(const Plan& slabs) {
  return Json::object({{"count", slabs.planes.size()},
                       {"planes", slabs.planes},
                       {"bytes_on_each", slabs.max_bytes()}});
}

/// Returns the numbers of shots.
template <class Shots>
std::vector<std::int64_t> numbers_of(const Shots& shots) {
  std::vector<std::int64_t> numbers;
  for (const auto& shot : shots) numbers.push_back(shot.number);
  return numbers;
}

}  // namespace moho::examples
