// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gathers of shots for SEG-Y files.

#include <moho/core/error.hpp>
#include <moho/core/kokkos.hpp>
#include <moho/io/segy.hpp>
#include <moho/wave/geometry.hpp>
#include <moho/wave/sinc.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace moho::survey {

/// \brief Returns the gather of a shot for io::write_gathers(), from which Survey reads the shot.
///
/// Depths are written as SEG-Y defines them: the source depth is below a surface at elevation zero,
/// receivers have negative elevations. The source is the first one of the shot. 2D shots have y =
/// 0. \param shot the shot; its number is the field record number \param interval s between samples
/// \param samples traces on the host: receivers x count, copied
/// \param count samples in a trace
/// \throws InputError for a shot without source
template <class T, int Dim>
io::Gather<T> segy_gather(const wave::Shot<Dim>& shot, double interval, const T* samples,
                          std::int64_t count) {
  if (shot.sources.empty()) {
    throw InputError(concat("shot ", shot.number, " has no source (allowed: 1 or more): give one"));
  }
  io::Gather<T> gather;
  gather.record = static_cast<std::int32_t>(shot.number);
  const Point<Dim>& source = shot.sources.front();
  gather.source_x = source[0];
  gather.source_y = Dim == 3 ? source[1] : 0.0;
  gather.source_depth = source[Dim - 1];
  gather.interval = interval;
  for (auto* list : {&gather.receiver_x, &gather.receiver_y, &gather.receiver_elevation}) {
    list->reserve(shot.receivers.size());
  }
  for (const Point<Dim>& receiver : shot.receivers) {
    gather.receiver_x.push_back(receiver[0]);
    gather.receiver_y.push_back(Dim == 3 ? receiver[1] : 0.0);
    gather.receiver_elevation.push_back(-receiver[Dim - 1]);
  }
  const auto receivers = static_cast<std::int64_t>(shot.receivers.size());
  gather.samples.shape = {receivers, count};
  gather.samples.data.assign(samples, samples + receivers * count);
  return gather;
}

/// \overload
/// \param traces receivers x samples, as in wave::ShotResult
template <class T, int Dim>
io::Gather<T> segy_gather(const wave::Shot<Dim>& shot, double interval,
                          const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>& traces) {
  if (traces.extent(0) != shot.receivers.size()) {
    throw InputError(concat("shot ", shot.number, ": it has ", traces.extent(0),
                            " traces (allowed: ", shot.receivers.size(),
                            ", one for each receiver): give the traces of the shot"));
  }
  return segy_gather<T, Dim>(shot, interval, traces.data(),
                             static_cast<std::int64_t>(traces.extent(1)));
}

/// Bytes on the host of positions of traces.
struct PositionBytes {
  double held = 0.0;      ///< of shots, and of gathers that segy_gather() returned
  double prepared = 0.0;  ///< in addition, while weights of the receivers of a shot are computed
  double written = 0.0;   ///< in addition, while io::write_gathers() writes all gathers
};

/// Returns the bytes of the positions of shots whose gathers are all written to one file.
/// \param concurrent number of concurrent shots
template <class T, int Dim>
PositionBytes position_bytes(const std::vector<wave::Shot<Dim>>& shots, int concurrent) {
  double traces = 0.0, largest = 0.0;
  for (const wave::Shot<Dim>& shot : shots) {
    const auto receivers = static_cast<double>(shot.receivers.size());
    traces += receivers;
    largest = std::max(largest, receivers);
  }
  constexpr double coordinates = 3.0 * sizeof(double);  // x, y and elevation
  // in double precision, and as in wave::modelling_memory()
  constexpr double weights =
      sizeof(std::array<wave::SincWeights, Dim>) + sizeof(T) * (20.0 * Dim + 32.0);
  const double together =
      std::min(static_cast<double>(concurrent), static_cast<double>(shots.size()));
  return {traces * (sizeof(Point<Dim>) + coordinates), together * largest * weights,
          traces * coordinates};
}

/// Returns a note on shots with several sources, of which a SEG-Y file has the first; empty: none.
template <int Dim>
std::string note_of_sources(const std::vector<wave::Shot<Dim>>& shots) {
  std::size_t several = 0;
  for (const wave::Shot<Dim>& shot : shots) several += shot.sources.size() > 1 ? 1 : 0;
  if (several == 0) return {};
  return concat(several, several == 1 ? " shot has" : " shots have",
                " several sources, of which gather.sgy has the first: use the folder as data");
}

/// \brief Returns a note on receivers at the position of another one of their shot; empty: none.
template <int Dim>
std::string note_of_repeated_receivers(const std::vector<wave::Shot<Dim>>& shots) {
  std::size_t repeated = 0, several = 0;
  std::int64_t first = 0;
  for (const wave::Shot<Dim>& shot : shots) {
    std::vector<Point<Dim>> sorted = shot.receivers;
    const auto before = [](const Point<Dim>& a, const Point<Dim>& b) {
      for (int d = 0; d < Dim; ++d) {
        if (a[d] != b[d]) return a[d] < b[d];
      }
      return false;
    };
    std::sort(sorted.begin(), sorted.end(), before);
    std::size_t equal = 0;
    for (std::size_t k = 1; k < sorted.size(); ++k) equal += !before(sorted[k - 1], sorted[k]);
    if (equal == 0) continue;
    if (several++ == 0) first = shot.number;
    repeated += equal;
  }
  if (repeated == 0) return {};
  return concat(repeated, repeated == 1 ? " receiver is" : " receivers are",
                " at the position of another one of the same shot, in ", several,
                several == 1 ? " shot" : " shots", ", first in shot ", first,
                ": each has its own trace");
}

}  // namespace moho::survey
