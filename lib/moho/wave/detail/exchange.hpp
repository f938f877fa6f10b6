// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Injection and recording of a step in one launch.
///
/// Launches dominate the cost of small models.

#include <moho/core/instances.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/propagator.hpp>

#include <cstdint>

namespace moho::wave {

/// \brief Injects amplitudes into the next values of p (and q) and records current values of p.
///
/// The bits are those of PointSet::inject() and PointSet::record(); on devices one launch does
/// both. To be called when the step is submitted, before Wavefield::advance(): a step does not
/// change the current values.
/// \param exec execution instance
/// \param propagator of the wavefield: its sources are scaled by v^2 dt^2 over the volume of a cell
/// \param wavefield wavefield whose next values are changed and whose current values are recorded
/// \param sources points of injection
/// \param amplitudes steps x sources
/// \param step the row of `amplitudes`; a row outside the range adds nothing
/// \param receivers points at which p is recorded
/// \param rows rows x receivers
/// \param row the row of `rows` to write; -1: no recording
/// \throws InputError as PointSet::inject() and PointSet::record()
template <class T, int Dim, class Memory>
void inject_and_record(const InstanceOf<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                       const Wavefield<T, Dim, Memory>& wavefield,
                       const PointSet<T, Dim, Memory>& sources,
                       const PointSeries<const T, Memory>& amplitudes, std::int64_t step,
                       const PointSet<T, Dim, Memory>& receivers,
                       const PointSeries<T, Memory>& rows, std::int64_t row);

namespace kernel {

/// Returns one over the volume of a cell, which makes a point source a delta function.
template <class T, int Dim>
T source_factor(const Grid<Dim>& grid) {
  double volume = 1.0;
  for (int d = 0; d < Dim; ++d) volume *= grid.spacing[d];
  return static_cast<T>(1.0 / volume);
}

}  // namespace kernel

namespace detail {

/// Source terms of p and q: `count` nodes each.
template <class T>
struct InjectFields {
  Inject<T> field[2];
  std::int64_t count;
  int fields;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t size() const { return count * fields; }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t n) const {
    if (n < count) {
      field[0](n);
    } else {
      field[1](n - count);
    }
  }
};

/// Functor for receivers with few nodes: a thread for a source node or a receiver.
template <class T, int Dim>
struct ExchangeByThread {
  InjectFields<T> inject;
  RecordByThread<T, Dim> record;
  std::int64_t nodes;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    if (n < nodes) {
      inject(n);
    } else {
      record(n - nodes);
    }
  }
};

/// Functor for receivers with many nodes: teams of the sources precede those of the receivers.
template <class T, int Dim, class Exec>
struct ExchangeByVector {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int team = RecordByVector<T, Dim, Exec>::team;
  static constexpr int lanes = RecordByVector<T, Dim, Exec>::lanes;
  InjectFields<T> inject;
  RecordByVector<T, Dim, Exec> record;
  std::int64_t nodes;
  int first;  ///< first team of the receivers
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    if (member.league_rank() >= first) {
      record.read(member, static_cast<std::int64_t>(member.league_rank() - first) * team +
                              member.team_rank());
      return;
    }
    const std::int64_t begin =
        (static_cast<std::int64_t>(member.league_rank()) * team + member.team_rank()) * lanes;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, lanes), [&](const int lane) {
      if (begin + lane < nodes) inject(begin + lane);
    });
  }
};

}  // namespace detail

template <class T, int Dim, class Memory>
void inject_and_record(const InstanceOf<Memory>& instance,
                       const Propagator<T, Dim, Memory>& propagator,
                       const Wavefield<T, Dim, Memory>& wavefield,
                       const PointSet<T, Dim, Memory>& sources,
                       const PointSeries<const T, Memory>& amplitudes, std::int64_t step,
                       const PointSet<T, Dim, Memory>& receivers,
                       const PointSeries<T, Memory>& rows, std::int64_t row) {
  const Instance<Memory>& exec = instance;
  const T factor = kernel::source_factor<T>(propagator.grid());
  const bool adds = step >= 0 && step < static_cast<std::int64_t>(amplitudes.extent(0));
  if constexpr (!is_host_memory<Memory>) {
    if (adds && row >= 0 && sources.count() > 0 && receivers.count() > 0) {
      detail::InjectFields<T> inject{};
      inject.fields = wavefield.fields;
      for (int f = 0; f < wavefield.fields; ++f) {
        inject.count = sources.injection(wavefield.next[f], amplitudes, step,
                                         propagator.source_scale(f), factor, inject.field[f]);
      }
      const std::int64_t nodes = inject.size();
      using Exec = DeviceOf<Memory>;
      if (receivers.reads_by_vector()) {
        using Kernel = detail::ExchangeByVector<T, Dim, Exec>;
        constexpr std::int64_t each = Kernel::team * Kernel::lanes;
        Kernel kernel{inject, {}, nodes, static_cast<int>((nodes + each - 1) / each)};
        receivers.recording(wavefield.now[0], rows, row, propagator.pressure_factors(),
                            kernel.record);
        const auto teams =
            static_cast<int>((receivers.count() + Kernel::team - 1) / Kernel::team) + kernel.first;
        Kokkos::parallel_for("moho::wave::exchange",
                             light_weight(Kokkos::TeamPolicy<Exec>(exec.space(), teams,
                                                                   Kernel::team, Kernel::lanes)),
                             kernel);
      } else {
        detail::ExchangeByThread<T, Dim> kernel{inject, {}, nodes};
        receivers.recording(wavefield.now[0], rows, row, propagator.pressure_factors(),
                            kernel.record);
        launch("moho::wave::exchange", exec, nodes + receivers.count(), kernel);
      }
      return;
    }
  }
  for (int f = 0; f < wavefield.fields && adds; ++f) {
    sources.inject(exec, wavefield.next[f], amplitudes, step, propagator.source_scale(f), factor);
  }
  if (row >= 0) {
    receivers.record(exec, wavefield.now[0], rows, row, propagator.pressure_factors());
  }
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, inject_and_record)
}  // namespace moho::wave
#endif
/// \endcond
