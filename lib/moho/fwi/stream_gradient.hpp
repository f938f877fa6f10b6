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
#include <moho/stream/modelling.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
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
  InvertedParameters unknowns = {};   ///< parameters besides vp: density only
  stream::StreamRequest wishes = {};  ///< memory of a device, block, updates, devices
  std::size_t memory = 0;             ///< memory of the host in bytes; 0: available memory
  bool measure = true;                ///< measure rates before planning; false: `rates`
  stream::StreamRates rates = {};     ///< rates if `measure` is false
};

/// Options of StreamedGradients::add().
struct StreamedShotOptions {
  std::string prefix = {};  ///< prefix of messages about sources and receivers
  /// Reports the progress of a propagation about twice a second.
  /// Propagations: 0 forward, 1 separate source wavefield, 2 backward.
  std::function<void(int propagation, const wave::ShotProgress&)> progress = {};
  Timeline* timeline = nullptr;  ///< receives spans of the first iterations of the backward
                                 ///< propagation; may be null
};

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
  const stream::StreamPlan& plan() const { return m_plan; }
  /// Requirements of the stream.
  const stream::StreamRequirements& need() const { return m_need; }
  /// Measured or given rates.
  const stream::StreamRates& rates() const { return m_rates; }
  /// \brief Returns the estimated seconds of a shot.
  ///
  /// The estimate includes the three runs of a shot: data, source wavefield, both backward with
  /// products. It also includes preparation of the source's parameters, clearing of volumes, and
  /// copies of sums and traces.
  double seconds() const;
  /// False if copies use buffers because memory could not be page-locked.
  bool locked() const { return m_locked; }
  /// Memory of all arrays on a device in bytes, without points and their series.
  std::size_t device_bytes() const;

  /// Sets the model; the first call creates the volumes. Sums are unchanged.
  /// \throws InputError for a model of another medium or with unstable velocities
  void update(const HostModel& model);
  /// Sets all sums to zero.
  void clear();
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
  /// Returns the illumination. \see ShotGradients::illumination()
  Field<T, Dim, Kokkos::HostSpace> illumination() const;

 private:
  using Host = Kokkos::HostSpace;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Pipeline = stream::Pipeline<T, Dim, Memory>;
  using Chain = std::vector<std::unique_ptr<Pipeline>>;
  using Points = wave::PointSet<T, Dim, Memory>;
  using Series = wave::PointSeries<T, Memory>;
  using Products = detail::StreamProducts<T, Dim, Memory>;
  /// Volume and pipelines of one of the two wavefields.
  struct Side {
    wave::PropagatorOptions<Dim> options;
    wave::RandomLayerOptions random;
    Grid<Dim> grid;
    PlaneRange sources;                            ///< planes of all sources
    std::vector<std::unique_ptr<Scheme>> schemes;  ///< one a device
    std::unique_ptr<stream::VolumeShape<T, Dim>> shape;
    std::unique_ptr<stream::Schedule> schedule;  ///< schedule of the backward propagation
    std::unique_ptr<stream::HostVolume<T, Dim>> volume;
    PinnedRegion<Memory> lock;
    Chain chain;
  };

  void check() const;
  void make_side(Side& side, const HostModel& model, const std::vector<wave::Shot<Dim>>& shots);
  void make_need(const std::vector<wave::Shot<Dim>>& shots);
  void measure(const stream::StreamRequest& wishes);
  void measure_stages();
  void measure_preparation();
  void prepare();
  void load(Side& side);
  stream::StreamShot<T, Dim, Memory> sources_of(Side& side, std::size_t g,
                                                const Points& points) const;
  stream::StreamReport forward(Side& side, const std::vector<Points>& sources,
                               const std::vector<Points>* receivers, std::int64_t steps,
                               const wave::Traces<T>& rows, int propagation,
                               const StreamedShotOptions& options);
  static void check_finite(const Side& side, const char* context);
  std::vector<Points> points_of(const Side& side, const moho::Points<Dim>& places,
                                const std::string& name) const;
  stream::StreamRunOptions<T> run_options(int propagation,
                                          const StreamedShotOptions& options) const;

  Grid<Dim> m_grid;
  StreamedGradientOptions<Dim> m_options;
  std::vector<Instance<Memory>> m_instances;  ///< one a device
  Side m_adjoint, m_source;
  std::int64_t m_most_receivers = 0;
  stream::StreamRequirements m_need;
  stream::StreamRates m_rates;   ///< rates of both volumes with their products
  stream::StreamRates m_single;  ///< rates of one volume
  stream::StreamPlan m_plan;
  bool m_locked = true;
  bool m_prepared = false;  ///< true if volumes, pipelines and products are complete
  HostModel m_model;
  std::vector<std::unique_ptr<Products>> m_products;  ///< one a device
};

}  // namespace moho::fwi

#include <moho/fwi/detail/stream_gradient_impl.hpp>
