// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of shots for wavefields larger than the memory of a device.
///
/// The reversed source wavefield and the adjoint field stream through the devices concurrently.

#include <moho/core/copy.hpp>
#include <moho/core/instances.hpp>
#include <moho/fwi/detail/stream_products.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/stream/reversed_pair.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Options of StreamedGradients.
template <int Dim>
struct StreamedGradientOptions {
  /// Time step, order, equations, and faces of modelling and of the adjoint field.
  wave::PropagatorOptions<Dim> propagator = {};
  wave::RandomLayerOptions random = {};  ///< options of random layers among these faces
  /// Faces of the separate source wavefield, reversible in time: rigid, free, random.
  wave::Boundaries<Dim> source_faces = {};
  std::vector<double> wavelet = {};   ///< wavelet, a sample per step
  std::int64_t steps = 0;             ///< steps of each propagation, 1 or more
  std::int64_t product_interval = 1;  ///< steps between products of the wavefields
  InvertedParameters unknowns = {};   ///< parameters besides vp
  std::optional<Lags> lags = {};      ///< lags of an extended image, which each shot is added to
  stream::StreamRequest wishes = {};  ///< memory of a device, block, updates, devices
  std::size_t memory = 0;             ///< memory of the host in bytes; 0: available memory
  std::size_t reserved = 0;           ///< bytes of it that the rings of hosts leave to the caller
  bool measure = true;                ///< measure rates before planning; false: `rates`
  stream::StreamRates rates = {};     ///< rates if `measure` is false
};

/// Options of StreamedGradients::add().
using StreamedShotOptions = stream::PairShotOptions;

/// \brief Sum of gradients of shots by random boundaries, for wavefields larger than a device.
///
/// The bits are those of ShotGradients with ShotGradientOptions::source.
///
/// Models, wavefields and sums are on the host. For each shot one stream models the data, and
/// another stream propagates the source wavefield with lossless layers. Then both volumes stream
/// concurrently (stream::run_concurrent_volumes()). The adjoint field is propagated from the last
/// sample to the first, the source wavefield backward in time. Their products are added to the sums
/// of the planes on the device.
template <class T, int Dim, class Memory>
class StreamedGradients {
 public:
  /// Model on the host, without layers.
  using HostModel = wave::Model<T, Dim, Kokkos::HostSpace>;

  /// \brief Checks, measures rates, and plans; nothing large is allocated.
  /// \param exec instance of the first device; the object creates those of other devices
  /// \param grid of the model
  /// \param model initial model; it determines the faces of all models
  /// \param shots shots of all calls
  /// \param options steps, faces, memory, devices
  /// \throws InputError, MemoryError
  StreamedGradients(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const HostModel& model,
                    const std::vector<wave::Shot<Dim>>& shots,
                    const StreamedGradientOptions<Dim>& options);

  /// Plan of the two concurrent volumes.
  const stream::StreamPlan& plan() const { return m_pair.plan(); }
  /// Requirements of the stream.
  const stream::StreamRequirements& need() const { return m_pair.need(); }
  /// Measured or given rates.
  const stream::StreamRates& rates() const { return m_pair.rates().both; }
  /// \brief Returns the estimated seconds of a shot.
  ///
  /// The estimate includes the three runs of a shot: data, source wavefield, both backward with
  /// products. It also includes preparation of the source's parameters, copies of sums and traces,
  /// and derivatives().
  double seconds() const;
  /// False if copies use buffers because memory could not be page-locked.
  bool locked() const { return m_pair.locked(); }
  /// Memory of all arrays on a device in bytes, without points and their series.
  std::size_t device_bytes() const { return m_pair.device_bytes(); }

  /// Sets the model; the first call creates the volumes. Sums are unchanged.
  /// \throws InputError for a model of another medium or with unstable velocities
  void update(const HostModel& model) { m_pair.update(model); }
  /// Sets all sums to zero.
  void clear() { m_pair.clear(); }
  /// \brief Adds the gradient of a shot over the current model.
  /// \param shot sources, receivers
  /// \param random options of random layers of the separate source wavefield; keep the seed of a
  /// shot in all evaluations
  /// \param misfit misfit function, called once after the forward propagation
  /// \param options names, progress
  /// \throws InputError for invalid points; wave::NotFinite if a wavefield overflows; errors of the
  /// misfit
  ShotGradientReport<Dim> add(const wave::Shot<Dim>& shot, const wave::RandomLayerOptions& random,
                              const ShotMisfit<T, Memory>& misfit,
                              const StreamedShotOptions& options = {});
  /// \brief Returns traces of a shot over the current model, (steps + 1) x receivers.
  wave::Traces<T> model(const wave::Shot<Dim>& shot, const StreamedShotOptions& options = {});

  /// Returns the derivatives of the sum of misfits. \see ShotGradients::derivatives()
  HostModel derivatives() const;
  /// \brief Returns the derivatives with respect to a model whose delta was tapered around sources.
  /// \param model without the taper
  /// \param kept as for ShotGradients::derivatives()
  HostModel derivatives(const HostModel& model,
                        const Field<T, Dim, Kokkos::HostSpace>& kept = {}) const;
  /// Returns the illumination. \see ShotGradients::illumination()
  Field<T, Dim, Kokkos::HostSpace> illumination() const;
  /// \brief Returns the extended image of all shots since clear(), with options.lags.
  ///
  /// It shares the memory of the volume: add() and clear() change it. Its box is that of the model,
  /// without layers. It has the bits of the image that ShotGradients::add() makes with
  /// ShotGradientOptions::extended.
  /// \throws InputError without lags, and before update()
  ExtendedImage<T, Dim, Kokkos::HostSpace> extended_image() const;

 private:
  using Host = Kokkos::HostSpace;
  using Series = wave::PointSeries<T, Memory>;
  using Products = detail::StreamProducts<T, Dim, Memory>;

  void fold_plain(const T* sums, const T* vp, T* to) const;
  static std::vector<T> root_density(const HostModel& model);
  Field<T, Dim, Memory> by_density(const std::vector<T>& roots, const PlaneRange& planes) const;
  static void check(wave::Medium medium, const StreamedGradientOptions<Dim>& options);
  static stream::ReversedPairOptions<Dim> pair_options(const Grid<Dim>& grid,
                                                       const HostModel& model,
                                                       const StreamedGradientOptions<Dim>& options);
  static stream::PairActions<T, Dim, Memory> actions(const Grid<Dim>& grid, const HostModel& model,
                                                     const StreamedGradientOptions<Dim>& options);

  Grid<Dim> m_grid;
  StreamedGradientOptions<Dim> m_options;
  stream::ReversedPair<T, Dim, Memory> m_pair;
};

}  // namespace moho::fwi

#include <moho/fwi/detail/stream_gradient_impl.hpp>
