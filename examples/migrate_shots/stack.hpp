// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The sums of shots, in memory and in files, their stack, and its image.

#include "app/json.hpp"
#include "app/site_arrays.hpp"
#include "migrate_shots/job.hpp"
#include "migrate_shots/options.hpp"

#include <moho/core/wrap.hpp>
#include <moho/io/npy.hpp>
#include <moho/rtm/conditions.hpp>
#include <moho/rtm/stacked_shots.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace moho::examples::migrate_shots {

using rtm::shot_parts;
using rtm::StackedShot;

/// Returns file and window of a shot. \param entry of the shot in the summary
template <int Dim>
StackedShot<Dim> stacked_shot(std::filesystem::path file, const Json& entry) {
  StackedShot<Dim> shot;
  shot.file = std::move(file);
  const Json& window = *entry.find("window");
  for (int d = 0; d < Dim; ++d) {
    const auto axis = static_cast<std::size_t>(d);
    shot.box.lower[d] = static_cast<std::int64_t>(window.find("lower")->at(axis).number(0.0));
    shot.box.upper[d] = static_cast<std::int64_t>(window.find("upper")->at(axis).number(0.0));
  }
  if (const Json* const list = entry.find("largest"); list != nullptr) {
    shot.largest.emplace();
    for (std::size_t p = 0; p < shot_parts; ++p) (*shot.largest)[p] = list->at(p).number(0.0);
  }
  return shot;
}

/// Returns the image of a condition. \param sums of all shots, by part: S R, S S and R R
template <class T, int Dim>
std::vector<T> make_image(Condition condition, const Grid<Dim>& grid,
                          const std::vector<std::vector<T>>& sums) {
  rtm::ImageParts<T, Dim> parts{grid, {}};
  using Field = rtm::HostField<T, Dim>;
  for (const auto& sum : sums) {
    parts.fields.push_back(wrap_field<Field>(const_cast<T*>(sum.data()), grid));
  }
  const auto finish = [&](const auto& type) {
    const Instance<Kokkos::HostSpace> exec = Kokkos::DefaultHostExecutionSpace();
    const rtm::HostField<T, Dim> field = type.finish(exec, parts);
    return std::vector<T>(field.data(), field.data() + field.size());
  };
  switch (condition) {
    case Condition::zero_lag:
      return finish(rtm::ZeroLag{});
    case Condition::source:
      return finish(rtm::SourceNormalised{});
    case Condition::receiver:
      return finish(rtm::ReceiverNormalised{});
    case Condition::inverse_scattering:
      return finish(rtm::InverseScattering{});
    case Condition::laplacian:
      break;
  }
  return finish(rtm::LaplacianNormalised{});
}

}  // namespace moho::examples::migrate_shots
