// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Source terms, sums and results of a shot in the memory of its propagation (internal).

#include <moho/core/arena.hpp>
#include <moho/core/copy.hpp>
#include <moho/core/exact_sum.hpp>
#include <moho/rtm/conditions.hpp>
#include <moho/rtm/migrate.hpp>
#include <moho/rtm/migration_types.hpp>
#include <moho/wave/kernel/shot_batch.hpp>
#include <moho/wave/modelling.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace moho::rtm::detail {

/// Calls a function and prefixes its MemoryError with the name of a shot.
template <class Function>
auto with_shot(const std::string& name, const Function& function) {
  try {
    return function();
  } catch (const MemoryError& error) {
    throw MemoryError(concat(name, ": ", error.what()));
  }
}

/// Multiplies values of a window by its taper weights.
template <class T, int Dim>
struct TaperWindow {
  T* values;
  Grid<Dim> grid;
  const double* weights[Dim];
  KOKKOS_INLINE_FUNCTION void operator()(const Index<Dim>& node) const {
    double weight = 1.0;
    for (int d = 0; d < Dim - 1; ++d) weight *= weights[d][node[d]];
    T& value = values[grid.flat(node)];
    value = static_cast<T>(weight * weights[Dim - 1][node[Dim - 1]] * static_cast<double>(value));
  }
};

/// Amplitudes of points on the host: steps x points.
template <class T>
using HostSeries = wave::PointSeries<T, Kokkos::HostSpace>;

/// Returns uninitialised amplitudes. Any thread may call it.
template <class T>
HostSeries<T> make_rows(std::size_t steps, std::size_t points) {
  return HostSeries<T>(
      Kokkos::view_alloc(std::string("moho::rtm::amplitudes"), Kokkos::WithoutInitializing), steps,
      points);
}

/// \brief Returns amplitudes in the memory of an instance; runs on hosts share those given.
/// \param arena memory of the result on devices; null: it is allocated
template <class T, class Memory>
wave::PointSeries<T, Memory> upload_rows(const Instance<Memory>& exec, const HostSeries<T>& rows,
                                         Arena<T, Memory>* arena = nullptr) {
  if constexpr (std::is_same_v<wave::PointSeries<T, Memory>, HostSeries<T>>) {
    return rows;
  } else {
    const auto series = wave::kernel::series_in<T, Memory>(exec, "moho::rtm::amplitudes",
                                                           rows.extent(0), rows.extent(1), arena);
    copy(exec, wave::Storage<T, Memory>(series.data(), rows.size()),
         HostElements<const T>(rows.data(), rows.size()));
    exec.fence();
    return series;
  }
}

/// Returns the wavelet for each of `sources` points: steps x sources.
template <class T>
HostSeries<T> repeated(const std::vector<double>& wavelet, std::size_t sources) {
  const HostSeries<T> amplitudes = make_rows<T>(wavelet.size(), sources);
  for (std::size_t n = 0; n < wavelet.size(); ++n) {
    std::fill_n(amplitudes.data() + n * sources, sources, static_cast<T>(wavelet[n]));
  }
  return amplitudes;
}

/// Returns the points around which delta is tapered in the migration of a shot.
template <int Dim>
Points<Dim> tapered_points(const wave::Shot<Dim>& shot) {
  Points<Dim> points = shot.sources;
  points.insert(points.end(), shot.receivers.begin(), shot.receivers.end());
  return points;
}

/// Returns a model with delta tapered around points, as its plan requires. Other fields are shared.
template <class T, int Dim>
HostModel<T, Dim> tapered_model(const Grid<Dim>& grid, const HostModel<T, Dim>& model,
                                const wave::ModellingPlan<Dim>& plan, const Points<Dim>& points) {
  HostModel<T, Dim> result = model;
  if (plan.source_taper > 0.0) {
    const Instance<Kokkos::HostSpace> host = Kokkos::DefaultHostExecutionSpace();
    result.delta =
        wave::taper_delta<T, Dim, Kokkos::HostSpace>(host, grid, model, points, plan.source_taper);
  }
  return result;
}

/// Returns the options of the propagator of a plan. \param options of the modelling
template <int Dim>
wave::PropagatorOptions<Dim> propagator_options(const wave::ModellingPlan<Dim>& plan,
                                                const wave::ModellingOptions<Dim>& options) {
  wave::PropagatorOptions<Dim> result;
  result.dt = plan.time.dt;
  result.order = options.order;
  result.boundaries = plan.faces;
  result.frequency = plan.frequency;
  result.equations = options.equations;
  result.sigma = options.sigma;
  result.parameters = options.parameters;
  return result;
}

/// Source terms of both propagations of a shot.
template <class T, int Dim, class Memory>
struct ShotTerms {
  wave::PointSet<T, Dim, Memory> sources,    ///< sources of the shot, on the grid with layers
      receivers;                             ///< receivers of the shot, on the grid with layers
  wave::SourceTerm<T, Dim, Memory> forward,  ///< wavelet at the sources
      backward;                              ///< data at the receivers

  /// \brief Creates the source terms; they refer to the propagator and to this object.
  /// \param exec instance of the arrays
  /// \param propagator of the shot
  /// \param wavelet of the sources, a sample per step
  /// \param shot sources and receivers
  /// \param rows data, samples x receivers, which runs on hosts share
  /// \param name name of the shot in messages
  /// \param arena memory of the amplitudes on devices; null: they are allocated
  ShotTerms(const Instance<Memory>& exec, const wave::Propagator<T, Dim, Memory>& propagator,
            const std::vector<double>& wavelet, const wave::Shot<Dim>& shot,
            const HostSeries<T>& rows, const std::string& name, Arena<T, Memory>* arena = nullptr)
      : sources(exec, propagator.grid(), propagator.layout(), shot.sources,
                wave::point_options(propagator, name + ": source", true)),
        receivers(exec, propagator.grid(), propagator.layout(), shot.receivers,
                  wave::point_options(propagator, name + ": receiver", true)) {
    forward = {&propagator, &sources,
               upload_rows<T, Memory>(exec, repeated<T>(wavelet, shot.sources.size()), arena)};
    backward = {&propagator, &receivers, upload_rows<T, Memory>(exec, rows, arena)};
  }
  ShotTerms(const ShotTerms&) = delete;
  ShotTerms& operator=(const ShotTerms&) = delete;
};

/// Adds an imaging step to the parts of an accumulator.
template <class T, int Dim, class Memory>
using AddToParts = std::function<void(const Instance<Memory>&, const ImagingStep<T, Dim, Memory>&,
                                      const std::vector<Field<T, Dim, Memory>>&)>;

/// An accumulator besides PointProducts.
template <class T, int Dim, class Memory>
struct AddedParts {
  int count = 0;                   ///< parts
  AddToParts<T, Dim, Memory> add;  ///< function of the accumulator
};

/// Sums of a shot in the memory of its propagation.
template <class T, int Dim, class Memory>
struct ShotSums {
  using Fields = std::vector<Field<T, Dim, Memory>>;
  using Added = AddedParts<T, Dim, Memory>;

  ImageSums<T, Dim, Memory> products;  ///< sums of PointProducts and offset gathers
  std::vector<Fields> added;           ///< fields of each added accumulator

  ShotSums() = default;
  /// Allocates sums of zero.
  /// \param exec instance of the arrays
  /// \param grid of the window, or of the planes of a part
  /// \param offsets columns of the window
  /// \param accumulators those of users
  ShotSums(const Instance<Memory>& exec, const Grid<Dim>& grid, const OffsetOptions<Dim>& offsets,
           const std::vector<Added>& accumulators)
      : products(make_image<T, Dim, Memory>(exec, grid, offsets)) {
    for (const Added& one : accumulators) {
      Fields fields;
      for (int p = 0; p < one.count; ++p) {
        fields.push_back(make_field<T>(exec, grid, "moho::rtm::accumulator"));
        fill(exec, fields.back(), T(0));
      }
      added.push_back(std::move(fields));
    }
  }

  /// Sets all sums to zero.
  void clear(const Instance<Memory>& exec) const {
    for (const auto* field :
         {&products.image, &products.source_illumination, &products.receiver_illumination}) {
      fill(exec, *field, T(0));
    }
    for (const Fields& fields : added) {
      for (const auto& field : fields) fill(exec, field, T(0));
    }
  }

  /// Sets MigrateOptions::imaged to the accumulators; they and this object outlive the options.
  void add_accumulators(const Instance<Memory>& exec, const std::vector<Added>& accumulators,
                        const wave::Propagator<T, Dim, Memory>& propagator,
                        MigrateOptions<T, Dim, Memory>& migrate) const {
    if (accumulators.empty()) return;
    const double weight = static_cast<double>(migrate.snapshot_interval) * propagator.dt();
    migrate.imaged = [this, exec, weight, &accumulators, &propagator](
                         const auto& snapshot, const auto& receivers, std::int64_t time) {
      const ImagingStep<T, Dim, Memory> step{
          snapshot, receivers, propagator.own(propagator.interior()), products.grid, weight, time};
      for (std::size_t a = 0; a < accumulators.size(); ++a) {
        accumulators[a].add(exec, step, added[a]);
      }
    };
  }

  /// \brief Copies all parts to the host, multiplied by the taper weights of the window.
  ///
  /// The fields of the parts are changed. It waits.
  /// \param exec instance of the sums
  /// \param window of the shot
  /// \param taper length of the taper, m
  /// \param planes those of the window in the sums
  /// \param values receives the planes of each part: parts x nodes of the window
  /// \return the largest magnitude of each part
  std::vector<double> collect(const Instance<Memory>& exec, const survey::ShotWindow<Dim>& window,
                              double taper, const PlaneRange& planes,
                              std::vector<T>& values) const {
    std::vector<double> largest;
    Fields parts{products.image, products.source_illumination, products.receiver_illumination};
    for (const Fields& fields : added) parts.insert(parts.end(), fields.begin(), fields.end());
    const bool tapered = !window.whole() && taper > 0.0;
    std::vector<wave::Storage<double, Memory>> weights;
    if (tapered) {
      for (const auto& axis : survey::window_weights(window, taper)) {
        weights.emplace_back(upload(exec, axis, "moho::rtm::taper"));
      }
    }
    const auto all = static_cast<std::size_t>(window.grid.size());
    const auto nodes = static_cast<std::size_t>(products.grid.size());
    const std::size_t first = all / static_cast<std::size_t>(window.grid.extents[0]) *
                              static_cast<std::size_t>(planes.begin);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (tapered) {
        TaperWindow<T, Dim> functor{parts[p].data(), products.grid, {}};
        for (int d = 0; d < Dim; ++d) {
          functor.weights[d] =
              weights[static_cast<std::size_t>(d)].data() + (d == 0 ? planes.begin : 0);
        }
        launch_box("moho::rtm::taper", exec, whole_box(products.grid), functor);
      }
      const wave::Storage<T, Memory> elements(parts[p].data(), nodes);
      largest.push_back(largest_magnitude(exec, elements));
      copy(exec, HostElements<T>(values.data() + p * all + first, nodes), elements);
    }
    exec.fence();
    return largest;
  }
};

}  // namespace moho::rtm::detail
