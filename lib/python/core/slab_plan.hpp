// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Devices that share shots: arguments of the package, and plans that it shows.

#include <moho/stream/plan.hpp>
#include <moho/stream/slab_plan.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

namespace moho::python {

/// Returns the request for a stream. \param sizes device memory in bytes (0: what is free), devices
/// (0: automatic), planes of a block and steps of a pass (0: chosen), ...
inline stream::StreamRequest stream_request(const std::vector<std::int64_t>& sizes) {
  stream::StreamRequest request;
  request.device_memory = static_cast<std::size_t>(sizes.at(0));
  request.devices = static_cast<int>(sizes.at(1));
  request.block = sizes.at(2);
  request.updates = sizes.at(3);
  return request;
}

/// Layers of the source wavefield that returns from random faces.
struct RandomLayers {
  int width = 60;             ///< nodes
  std::uint64_t seed = 2011;  ///< of their velocities
};

/// Returns random layers. \param sizes after those of stream_request(): width, seed
inline RandomLayers random_layers(const std::vector<std::int64_t>& sizes) {
  return {static_cast<int>(sizes.at(4)), static_cast<std::uint64_t>(sizes.at(5))};
}

/// Returns a plan of slabs in the words of summary.json; None without slabs.
inline nanobind::object slabs_of(const stream::SlabPlan& slabs) {
  if (slabs.empty()) return nanobind::none();
  nanobind::dict result;
  result["count"] = slabs.planes.size();
  result["planes"] = nanobind::cast(slabs.planes);
  result["bytes_on_each"] = slabs.max_bytes();
  return result;
}

}  // namespace moho::python
