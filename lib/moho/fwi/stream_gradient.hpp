// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of shots over volumes larger than a device: the source's wavefield, run
/// backwards, and the adjoint field go through the devices side by side.

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
  /// Time step, order, equations; faces that data are modelled with, and that the adjoint field
  /// has.
  wave::PropagatorOptions<Dim> propagator = {};
  wave::RandomLayerOptions random = {};  ///< of random layers among these faces
  /// Faces of the source's own wavefield: rigid, free, random. It can be run back from there.
  wave::Boundaries<Dim> source_faces = {};
  std::vector<double> wavelet = {};   ///< a sample for each step
  std::int64_t steps = 0;             ///< of either leg, 1 or more
  std::int64_t every = 1;             ///< steps from one product of the wavefields to the next
  InvertedParameters unknowns = {};   ///< besides vp: the density
  stream::StreamRequest wishes = {};  ///< memory of a device, block, updates, devices
  std::size_t memory = 0;             ///< bytes of the host; 0: what is free
  bool measure = true;                ///< measure rates before planning; false: `rates`
  stream::StreamRates rates = {};     ///< where they are not measured
};

/// Options of StreamedGradients::add().
struct StreamedShotOptions {
  std::string prefix = {};  ///< what messages about sources and receivers begin with
  /// Called about twice a second with how far a leg has come: 0 forward, 1 the source's own, 2
  /// backward.
  std::function<void(int leg, const wave::ShotProgress&)> progress = {};
  Timeline* timeline = nullptr;  ///< spans of the first iterations of the last leg
};

/// \brief Gradients of shots by random boundaries, added up: what ShotGradients gives with
/// ShotGradientOptions::source, to the bit, for models whose wavefields do not fit a device.
///
/// Models, wavefields and sums are on the host. For each shot the data are modelled in a stream,
/// and the source's wavefield is stepped behind layers that lose nothing in another one. Then both
/// volumes go through the devices side by side (stream::run_concurrent_volumes()): the adjoint
/// field is stepped from the last sample to the first and the source's wavefield back in time, and
/// their products are added to the sums of the planes that are there.
template <class T, int Dim, class Memory>
class StreamedGradients {
 public:
  /// A model on the host, without layers.
  using HostModel = wave::Model<T, Dim, Kokkos::HostSpace>;

  /// \brief Checks, measures rates, and plans; nothing large is allocated.
  /// \param exec of the first device; instances on others are made
  /// \param grid of the model
  /// \param model to begin with: faces go by its velocities, and stay as they are
  /// \param shots that there will be
  /// \param options steps, faces, memory, devices
  /// \throws InputError, MemoryError
  StreamedGradients(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const HostModel& model,
                    const std::vector<wave::Shot<Dim>>& shots,
                    const StreamedGradientOptions<Dim>& options);

  /// What was chosen for the two volumes that go side by side.
  const stream::StreamPlan& plan() const { return m_plan; }
  /// What streams.
  const stream::StreamRequirements& need() const { return m_need; }
  /// What was measured.
  const stream::StreamRates& rates() const { return m_rates; }
  /// \brief Forecast of the seconds of a shot.
  ///
  /// It has the three runs of a shot (the data, the source's wavefield, and both back with their
  /// products), the preparation of the source's parameters, the volumes set to rest, and sums and
  /// traces that are copied.
  double seconds() const;
  /// False where copies go through buffers, because memory could not be page-locked.
  bool locked() const { return m_locked; }
  /// Bytes of all arrays on a device but those of points and their series.
  std::size_t device_bytes() const;

  /// Takes a model; volumes are made by the first call. Sums stay.
  /// \throws InputError for a model of another medium or with too fast waves
  void update(const HostModel& model);
  /// Sets all sums to zero.
  void clear();
  /// \brief Adds the gradient of a shot over the present model.
  /// \param shot sources, receivers
  /// \param random of the layers of the source's own wavefield; a shot should have the same seed in
  /// every evaluation
  /// \param misfit called once, when the shot has been modelled
  /// \param options names, progress
  /// \throws InputError for points that cannot be; wave::NotFinite when a wavefield is no longer
  /// finite; what the misfit throws
  ShotGradientReport<Dim> add(const wave::Shot<Dim>& shot, const wave::RandomLayerOptions& random,
                              const ShotMisfit<T, Memory>& misfit,
                              const StreamedShotOptions& options = {});
  /// \brief Traces of a shot over the present model, (steps + 1) x receivers.
  wave::Traces<T> model(const wave::Shot<Dim>& shot, const StreamedShotOptions& options = {});

  /// The derivatives of the sum of the misfits: \see ShotGradients::derivatives()
  HostModel derivatives() const;
  /// The illumination: \see ShotGradients::illumination()
  Field<T, Dim, Kokkos::HostSpace> illumination() const;

 private:
  using Host = Kokkos::HostSpace;
  using Scheme = wave::Scheme<T, Dim, Memory>;
  using Pipeline = stream::Pipeline<T, Dim, Memory>;
  using Chain = std::vector<std::unique_ptr<Pipeline>>;
  using Points = wave::PointSet<T, Dim, Memory>;
  using Series = wave::PointSeries<T, Memory>;
  using Products = detail::StreamProducts<T, Dim, Memory>;
  /// What one of the two wavefields has.
  struct Side {
    wave::PropagatorOptions<Dim> options;
    wave::RandomLayerOptions random;
    Grid<Dim> grid;
    PlaneRange sources;                            ///< planes of all sources
    std::vector<std::unique_ptr<Scheme>> schemes;  ///< one a device
    std::unique_ptr<stream::VolumeShape<T, Dim>> shape;
    std::unique_ptr<stream::Schedule> schedule;  ///< of the last leg
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
                               const wave::Traces<T>& rows, int leg,
                               const StreamedShotOptions& options);
  static void check_finite(const Side& side, const char* leg);
  std::vector<Points> points_of(const Side& side, const moho::Points<Dim>& places,
                                const std::string& name) const;
  stream::StreamRunOptions<T> run_options(int leg, const StreamedShotOptions& options) const;

  Grid<Dim> m_grid;
  StreamedGradientOptions<Dim> m_options;
  std::vector<Instance<Memory>> m_instances;  ///< one a device
  Side m_adjoint, m_source;
  std::int64_t m_most_receivers = 0;
  stream::StreamRequirements m_need;
  stream::StreamRates m_rates;   ///< of both volumes together, with their products
  stream::StreamRates m_single;  ///< of one volume
  stream::StreamPlan m_plan;
  bool m_locked = true;
  bool m_prepared = false;  ///< volumes, pipelines and products are whole
  HostModel m_model;
  std::vector<std::unique_ptr<Products>> m_products;  ///< one a device
};

}  // namespace moho::fwi

#include <moho/fwi/detail/stream_gradient_impl.hpp>
