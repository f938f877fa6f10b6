// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Batched shots: all shots of a batch advance one time step in one kernel launch.
///
/// The arrays of consecutive wavefields have a constant stride, so that a kernel derives those of a
/// shot from the arrays of the first one. Injection and recording are described once in device
/// memory, for both time levels. A step copies nothing.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/wave/detail/exchange.hpp>
#include <moho/wave/model_shot.hpp>
#include <moho/wave/not_finite.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace moho::wave {

/// \brief Returns wavefields at rest for batched shots, with a constant stride in one allocation.
///
/// Each wavefield is like one of make_wavefield().
/// \param exec execution instance of the allocation
/// \param scheme of the medium, for the complete grid
/// \param count 1 or more
/// \throws InputError for a smaller count
template <class T, int Dim, class Memory>
std::vector<Wavefield<T, Dim, Memory>> make_wavefields(const InstanceOf<Memory>& exec,
                                                       const Scheme<T, Dim, Memory>& scheme,
                                                       int count);

/// \brief Advances several wavefields by one step, with the bits of Propagator::step().
///
/// One launch steps all wavefields of make_wavefields() if the medium's kernels support it. On
/// hosts all but the plain kernels do. On devices those of 2D do whose CPML, if any, is stepped
/// with the interior: isotropic media, variable density, self-adjoint VTI. Other wavefields are
/// stepped one after the other.
/// \param exec execution instance
/// \param propagator of the medium
/// \param wavefields at the same time
/// \throws InputError as step()
template <class T, int Dim, class Memory>
void step_batch(const InstanceOf<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                std::type_identity_t<std::span<const Wavefield<T, Dim, Memory>>> wavefields);

/// Sources and receivers of a shot.
template <class T, int Dim, class Memory>
struct ShotPoints {
  PointSet<T, Dim, Memory> sources;    ///< points of injection
  PointSet<T, Dim, Memory> receivers;  ///< points of recording
};

/// \brief Models a batch of shots over one model, each with the bits of model_shot().
///
/// A shot that is no longer finite ends all of them. The `seconds` of a result are the shot's share
/// of the batch's time.
/// \param exec execution instance
/// \param propagator of the medium
/// \param wavefields of make_wavefields(), at least as many as shots
/// \param shots sources and receivers of each shot; their numbers may differ
/// \param wavelet of all sources: samples S(0), S(dt), ..., then zero
/// \param options as for model_shot(), without a domain and without snapshots; progress is that of
///   the batch
/// \throws InputError, Error as model_shot(), InputError for a domain, snapshots, too few
///   wavefields
template <class T, int Dim, class Memory>
std::vector<ShotResult<T, Dim, Memory>> model_batch(
    const InstanceOf<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
    std::vector<Wavefield<T, Dim, Memory>>& wavefields,
    const std::vector<ShotPoints<T, Dim, Memory>>& shots, const std::vector<double>& wavelet,
    const ShotOptions<T, Dim, Memory>& options);

namespace detail {

/// Returns the elements between the arrays of consecutive wavefields; empty if not constant.
template <class T, int Dim, class Memory>
std::optional<std::int64_t> batch_stride_of(std::span<const Wavefield<T, Dim, Memory>> wavefields) {
  std::optional<std::int64_t> batch_stride;
  bool equal = true;
  const auto compare = [&](const Storage<T, Memory>& a, const Storage<T, Memory>& b) {
    if (a.data() == nullptr || b.data() == nullptr) {
      equal = equal && a.data() == b.data();
      return;
    }
    const auto bytes = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(b.data()) -
                                                 reinterpret_cast<std::intptr_t>(a.data()));
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    if (!batch_stride) batch_stride = bytes / size;
    // vectors of 16 bytes stay aligned
    equal = equal && bytes == *batch_stride * size && bytes % 16 == 0;
  };
  for (std::size_t n = 1; n < wavefields.size() && equal; ++n) {
    const auto &a = wavefields[n - 1], &b = wavefields[n];
    equal = a.layout == b.layout && a.fields == b.fields && a.layers.size() == b.layers.size();
    for (int f = 0; f < a.fields && equal; ++f) {
      compare(a.now[f], b.now[f]);
      compare(a.next[f], b.next[f]);
    }
    for (int f = 0; f < 2 && equal; ++f) compare(a.axis_derivative[f], b.axis_derivative[f]);
    for (std::size_t k = 0; k < a.layers.size() && equal; ++k) {
      compare(a.layers[k].psi_now, b.layers[k].psi_now);
      compare(a.layers[k].psi_next, b.layers[k].psi_next);
      compare(a.layers[k].zeta, b.layers[k].zeta);
    }
  }
  return equal ? batch_stride : std::nullopt;
}

/// Returns the batch for a step in one launch; empty if that is not possible.
template <class T, int Dim, class Memory>
std::optional<Several> in_one_launch(const Scheme<T, Dim, Memory>& scheme,
                                     std::span<const Wavefield<T, Dim, Memory>> wavefields) {
  if (wavefields.size() < 2 || scheme.options().reference) return std::nullopt;
  if (!info(scheme.stencil()).tuned) return std::nullopt;
  if constexpr (!is_host_memory<Memory>) {
    if (Dim != 2) return std::nullopt;
    if (!scheme.layers().empty() && !scheme.layers_in_one_launch()) return std::nullopt;
  }
  const auto batch_stride = batch_stride_of<T, Dim, Memory>(wavefields);
  if (!batch_stride) return std::nullopt;
  return Several{static_cast<int>(wavefields.size()), *batch_stride};
}

/// Functor of a reduction to the amplitudes of several wavefields.
template <class T, int Dim>
struct AmplitudeOfAll {
  using value_type = AmplitudeSum;
  AmplitudeOf<T, Dim> first;
  std::int64_t nodes, batch_stride;  ///< nodes of a wavefield; elements to the next one
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, AmplitudeSum& sum) const {
    AmplitudeOf<T, Dim> own = first;
    own.field += i / nodes * batch_stride;
    own(i % nodes, sum);
  }
  KOKKOS_INLINE_FUNCTION void init(AmplitudeSum& sum) const { first.init(sum); }
  KOKKOS_INLINE_FUNCTION void join(AmplitudeSum& to, const AmplitudeSum& from) const {
    first.join(to, from);
  }
};

/// Calls check_finite() for the complete grid of several wavefields.
template <class T, int Dim, class Memory>
void check_together(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                    std::span<const Wavefield<T, Dim, Memory>> wavefields, std::int64_t step) {
  const Box<Dim> box = whole_box(propagator.grid());
  const Wavefield<T, Dim, Memory>& first = wavefields.front();
  if (const auto batch_stride = batch_stride_of<T, Dim, Memory>(wavefields)) {
    bool finite = true;
    for (int f = 0; f < first.fields && finite; ++f) {
      const AmplitudeOfAll<T, Dim> body{
          {first.now[f].data(), first.layout, box}, box.size(), *batch_stride};
      const auto shots = static_cast<std::int64_t>(wavefields.size());
      finite = reduce("moho::wave::amplitude", exec, shots * box.size(), body).bad == INT64_MAX;
    }
    if (finite) return;
  }
  for (std::size_t n = 0; n < wavefields.size(); ++n) {
    in_propagation(concat("shot ", n + 1, " of those in step"), [&] {
      return check_finite<T, Dim, Memory>(exec, propagator.grid(), wavefields[n], box, step);
    });
  }
}

/// Injection and recording of a shot in a step, for one of the two orders of its time levels.
///
/// Pointers refer to rows 0.
template <class T, int Dim>
struct ShotExchange {
  InjectFields<T> inject;
  std::int64_t amplitudes, next_amplitudes;  ///< number of rows; elements from one row to the next
  RecordByThread<T, Dim> record;
  std::int64_t next_values;  ///< elements from one row to the next
  std::int64_t receivers;
  bool by_vector;  ///< lanes share a receiver (PointSet::reads_by_vector())

  /// Adds to node n.
  KOKKOS_FORCEINLINE_FUNCTION void add(std::int64_t n, std::int64_t step) const {
    if (n >= inject.size() || step < 0 || step >= amplitudes) return;
    const int f = n < inject.count ? 0 : 1;
    Inject<T> own = inject.field[f];
    own.amplitudes += step * next_amplitudes;
    own(n - f * inject.count);
  }
  /// Records receiver n.
  KOKKOS_FORCEINLINE_FUNCTION void read(std::int64_t n, std::int64_t row) const {
    if (n >= receivers) return;
    RecordByThread<T, Dim> own = record;
    own.values += row * next_values;
    own(n);
  }
};

/// Functor for all shots on a host: source nodes of a shot, then its receivers.
template <class T, int Dim>
struct ExchangeOfAll {
  const ShotExchange<T, Dim>* shots;
  /// Largest number of source nodes, the same with receivers, row of amplitudes, row of records.
  std::int64_t nodes, each, step, row;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t n) const {
    const ShotExchange<T, Dim>& shot = shots[n / each];
    const std::int64_t k = n % each;
    if (k < nodes) {
      shot.add(k, step);
    } else if (row >= 0) {
      shot.read(k - nodes, row);
    }
  }
};

/// Functor for all shots on a device. Teams of a shot: those of its sources, then of its receivers.
template <class T, int Dim, class Exec>
struct ExchangeOfAllTeams {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using ByVector = RecordByVector<T, Dim, Exec>;
  static constexpr int team = ByVector::team, lanes = ByVector::lanes;
  const ShotExchange<T, Dim>* shots;
  int source_teams, teams;  ///< teams of a shot
  std::int64_t step, row;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int number = member.league_rank() % teams;
    const ShotExchange<T, Dim>& shot = shots[member.league_rank() / teams];
    const int own = number - (number < source_teams ? 0 : source_teams);
    const std::int64_t thread = static_cast<std::int64_t>(own) * team + member.team_rank();
    if (number >= source_teams && shot.by_vector) {
      ByVector record{shot.record.term, shot.record.values + row * shot.next_values,
                      shot.receivers};
      record.read(member, thread);
      return;
    }
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, lanes), [&](const int lane) {
      if (number < source_teams) {
        shot.add(thread * lanes + lane, step);
      } else {
        shot.read(thread * lanes + lane, row);
      }
    });
  }
};

/// Factors of injected amplitudes.
template <class T, class Memory>
struct InjectionFactors {
  NodeFactors<T, Memory> of_field[2];  ///< by node, for p and q
  T all = T(1);                        ///< of all nodes
};
/// Returns the factors of sources.
template <class T, int Dim, class Memory>
InjectionFactors<T, Memory> source_factors(const Propagator<T, Dim, Memory>& propagator) {
  InjectionFactors<T, Memory> factors;
  for (int f = 0; f < propagator.scheme().fields(); ++f) {
    factors.of_field[f] = propagator.source_scale(f);
  }
  factors.all = source_factor<T>(propagator.grid());
  return factors;
}

/// inject_and_record() of a batch of shots, in one launch.
template <class T, int Dim, class Memory>
class ShotsExchange {
 public:
  /// Describes all shots, for both orders of the time levels; waits for the instance.
  ///
  /// Points and series have to live as long as this object. Shots without rows record nothing.
  /// \throws InputError as inject_and_record()
  ShotsExchange(const Instance<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                std::span<const Wavefield<T, Dim, Memory>> wavefields,
                const std::vector<ShotPoints<T, Dim, Memory>>& shots,
                const std::vector<PointSeries<const T, Memory>>& amplitudes,
                const std::vector<PointSeries<T, Memory>>& rows,
                const InjectionFactors<T, Memory>& factors)
      : m_count(static_cast<std::int64_t>(shots.size())),
        m_present(wavefields.front().now[0].data()) {
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<ShotExchange<T, Dim>> all;
      for (std::size_t n = 0; n < shots.size(); ++n) {
        Wavefield<T, Dim, Memory> wavefield = wavefields[n];
        if (pass == 1) wavefield.advance();
        const auto& [sources, receivers] = shots[n];
        ShotExchange<T, Dim> one{};
        one.inject.fields = wavefield.fields;
        for (int f = 0; f < wavefield.fields && amplitudes[n].extent(0) > 0; ++f) {
          one.inject.count =
              sources.injection(wavefield.next[f], amplitudes[n], 0, factors.of_field[f],
                                factors.all, one.inject.field[f]);
        }
        one.amplitudes = static_cast<std::int64_t>(amplitudes[n].extent(0));
        one.next_amplitudes = static_cast<std::int64_t>(amplitudes[n].stride(0));
        if (receivers.count() > 0 && rows[n].extent(0) > 0) {
          one.receivers = receivers.count();
          receivers.recording(wavefield.now[0], rows[n], 0, propagator.pressure_factors(),
                              one.record);
        }
        one.next_values = static_cast<std::int64_t>(rows[n].stride(0));
        one.by_vector = receivers.reads_by_vector();
        m_by_vector = m_by_vector || one.by_vector;
        m_nodes = std::max(m_nodes, one.inject.size());
        m_receivers = std::max(m_receivers, one.receivers);
        all.push_back(one);
      }
      m_shots[pass] = upload(exec, all, "moho::wave::shots_exchange");
    }
  }

  /// Adds the amplitudes of a step and records into a row; negative numbers omit either.
  ///
  /// To be called between step_batch() and advance().
  /// \param present current level of the first wavefield, which determines the order of the time
  ///   levels
  void operator()(const Instance<Memory>& exec, const T* present, std::int64_t step,
                  std::int64_t row) const {
    const ShotExchange<T, Dim>* const shots = m_shots[present == m_present ? 0 : 1].data();
    const std::int64_t nodes = step >= 0 ? m_nodes : 0, receivers = row >= 0 ? m_receivers : 0;
    if (nodes + receivers == 0) return;
    constexpr const char* label = "moho::wave::exchange";
    if constexpr (is_host_memory<Memory>) {
      launch(label, exec, m_count * (nodes + receivers),
             ExchangeOfAll<T, Dim>{shots, nodes, nodes + receivers, step, row});
    } else {
      using Exec = DeviceOf<Memory>;
      using Kernel = ExchangeOfAllTeams<T, Dim, Exec>;
      constexpr std::int64_t threads = Kernel::team * Kernel::lanes;
      const auto teams = [](std::int64_t work, std::int64_t of_team) {
        return static_cast<int>((work + of_team - 1) / of_team);
      };
      Kernel kernel{shots, teams(nodes, threads), 0, step, row};
      kernel.teams = kernel.source_teams + teams(receivers, m_by_vector ? Kernel::team : threads);
      Kokkos::parallel_for(
          label,
          light_weight(Kokkos::TeamPolicy<Exec>(
              exec.space(), static_cast<int>(m_count) * kernel.teams, Kernel::team, Kernel::lanes)),
          kernel);
    }
  }

 private:
  std::int64_t m_count, m_nodes = 0, m_receivers = 0;
  bool m_by_vector = false;
  const T* m_present;
  Kokkos::View<const ShotExchange<T, Dim>*, Memory> m_shots[2];
};

}  // namespace detail

template <class T, int Dim, class Memory>
std::vector<Wavefield<T, Dim, Memory>> make_wavefields(const InstanceOf<Memory>& exec,
                                                       const Scheme<T, Dim, Memory>& scheme,
                                                       int count) {
  if (count < 1) throw InputError(concat("count is ", count, " (allowed: 1 or more)"));
  const PlaneRange window = all_planes(scheme.grid());
  Wavefield<T, Dim, Memory> first;
  first.layout = scheme.layout(window);
  first.fields = scheme.fields();
  first.across_x = window;
  first.layers.resize(scheme.layers().size() * static_cast<std::size_t>(first.fields));
  // the arrays of a wavefield, one after the other
  const auto place = [&](Wavefield<T, Dim, Memory>& wavefield, const auto& take) {
    for (int f = 0; f < wavefield.fields; ++f) {
      take(wavefield.now[f], wavefield.layout.size);
      take(wavefield.next[f], wavefield.layout.size);
    }
    for (int f = 0; f < info(scheme.stencil()).work_fields; ++f) {
      take(wavefield.axis_derivative[f], wavefield.layout.size);
    }
    std::size_t number = 0;
    for (const auto& layer : scheme.layers()) {
      const std::int64_t size = scheme.layer_shape(layer, window).size;
      for (int f = 0; f < wavefield.fields; ++f, ++number) {
        take(wavefield.layers[number].psi_now, size);
        take(wavefield.layers[number].psi_next, size);
        take(wavefield.layers[number].zeta, size);
      }
    }
  };
  constexpr std::int64_t row = row_alignment<T>;
  const auto rounded = [](std::int64_t size) { return (size + row - 1) / row * row; };
  std::int64_t each = 0;
  place(first, [&](Storage<T, Memory>&, std::int64_t size) { each += rounded(size); });
  const auto all = allocate<Storage<T, Memory>>(exec, "moho::wave::wavefields", count * each);
  fill(Instance<Memory>(exec), all, T(0));
  std::vector<Wavefield<T, Dim, Memory>> result(static_cast<std::size_t>(count), first);
  std::int64_t at = 0;
  for (auto& wavefield : result) {
    place(wavefield, [&](Storage<T, Memory>& view, std::int64_t size) {
      view = Kokkos::subview(
          all, std::pair<std::size_t, std::size_t>(static_cast<std::size_t>(at),
                                                   static_cast<std::size_t>(at + size)));
      at += rounded(size);
    });
  }
  return result;
}

template <class T, int Dim, class Memory>
void step_batch(const InstanceOf<Memory>& exec, const Propagator<T, Dim, Memory>& propagator,
                std::type_identity_t<std::span<const Wavefield<T, Dim, Memory>>> wavefields) {
  const Scheme<T, Dim, Memory>& scheme = propagator.scheme();
  const Box<Dim> box = whole_box(propagator.grid());
  if (const auto several = detail::in_one_launch<T, Dim, Memory>(scheme, wavefields)) {
    const MediumCoefficients<T, Dim, Memory>& medium = propagator.medium_window();
    detail::slopes_of<T, Dim, Memory>(exec, scheme, medium, wavefields.front(),
                                      box.grown(scheme.order() / 2), *several);
    detail::step_of<T, Dim, Memory>(exec, scheme, medium, wavefields.front(), box, *several);
    return;
  }
  for (const auto& wavefield : wavefields) propagator.step(exec, wavefield, box);
}

template <class T, int Dim, class Memory>
std::vector<ShotResult<T, Dim, Memory>> model_batch(
    const InstanceOf<Memory>& instance, const Propagator<T, Dim, Memory>& propagator,
    std::vector<Wavefield<T, Dim, Memory>>& wavefields,
    const std::vector<ShotPoints<T, Dim, Memory>>& shots, const std::vector<double>& wavelet,
    const ShotOptions<T, Dim, Memory>& options) {
  const Instance<Memory>& exec = instance;
  if (shots.empty()) return {};
  if (wavefields.size() < shots.size()) {
    throw InputError(concat("wavefields: there are ", wavefields.size(), " for ", shots.size(),
                            " shots (allowed: one a shot, or more): make them with "
                            "moho::wave::make_wavefields"));
  }
  if (options.domain != nullptr || (options.snapshot && options.snapshot_every > 0)) {
    throw InputError(concat(options.domain != nullptr ? "domain" : "snapshot",
                            " is given for shots that are stepped together (allowed: none): model "
                            "that shot with moho::wave::model_shot"));
  }
  for (const auto& wavefield : wavefields) detail::check_shot(propagator, wavefield, options);
  detail::check_interval(propagator.dt(), options.interval, wavelet);
  const double dt = propagator.dt();
  const ShotSampling sampling = shot_sampling(dt, options.steps, options.interval);

  std::vector<PointSeries<const T, Memory>> amplitudes;
  std::vector<PointSeries<T, Memory>> rows;
  for (const auto& shot : shots) {
    amplitudes.push_back(
        wavelet_series<T, Memory>(exec, wavelet, options.steps, shot.sources.count()));
    rows.push_back(allocate<PointSeries<T, Memory>>(exec, "moho::wave::gather", sampling.rows,
                                                    shot.receivers.count()));
  }
  const std::span<Wavefield<T, Dim, Memory>> used(wavefields.data(), shots.size());
  for (auto& wavefield : used) {
    wavefield.clear(exec);
    // at rest both levels are equal: all wavefields start with the same order of levels
    if (wavefield.next[0].data() < wavefield.now[0].data()) wavefield.advance();
  }
  const detail::ShotsExchange<T, Dim, Memory> exchange(
      exec, propagator, used, shots, amplitudes, rows,
      detail::source_factors<T, Dim, Memory>(propagator));
  exec.fence();

  const Box<Dim> box = whole_box(propagator.grid());
  const auto nodes = static_cast<double>(box.size()), count = static_cast<double>(shots.size());
  kernel::ProgressTimer pace(sampling.steps);
  BoxHistory<Dim> boxes;
  for (std::int64_t n = 0; n < sampling.steps;) {
    exec.check_stop();
    step_batch<T, Dim, Memory>(exec, propagator, used);
    exchange(exec, used.front().now[0].data(), n, sampling.row_of(n));
    for (auto& wavefield : used) wavefield.advance();
    boxes.add(box);
    ++n;
    const bool last = n == sampling.steps;
    if (options.check_every > 0 && (n % options.check_every == 0 || last)) {
      detail::check_together<T, Dim, Memory>(exec, propagator, used, n);
    }
    if (options.progress && (pace.due(n) || last)) {
      exec.fence();
      options.progress(pace.report(n, static_cast<double>(n) * nodes * count));
    }
  }
  exchange(exec, used.front().now[0].data(), -1, sampling.row_of(sampling.steps));
  exec.fence();
  const double seconds = pace.seconds() / count;

  std::vector<ShotResult<T, Dim, Memory>> results(shots.size());
  for (std::size_t n = 0; n < shots.size(); ++n) {
    ShotResult<T, Dim, Memory>& result = results[n];
    result.steps = sampling.steps;
    result.seconds = seconds;
    result.points = result.whole_points = nodes * static_cast<double>(sampling.steps);
    result.boxes = boxes;
    detail::take_traces(exec, sampling, dt, rows[n], options.traces, result);
  }
  return results;
}

}  // namespace moho::wave

/// \cond
#ifdef MOHO_WAVE_KERNELS
namespace moho::wave {
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, make_wavefields)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, step_batch)
MOHO_FOR_ALL(MOHO_FUNCTION, extern template, model_batch)
}  // namespace moho::wave
#endif
/// \endcond
