// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Gradients of shots over a grid that several devices hold in slabs.

#include <moho/fwi/gradient.hpp>
#include <moho/fwi/gradient_memory.hpp>
#include <moho/fwi/objective_types.hpp>
#include <moho/snapshot/boundary_store.hpp>
#include <moho/snapshot/checkpoint_store.hpp>
#include <moho/snapshot/stores.hpp>
#include <moho/stream/kernel/grid_parts.hpp>
#include <moho/stream/slab_plan.hpp>
#include <moho/wave/source_term.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::fwi {

/// Options of SlabGradients.
template <int Dim>
struct SlabGradientOptions {
  /// Time step, order, equations, faces.
  wave::PropagatorOptions<Dim> propagator = {};
  wave::RandomLayerOptions random = {};  ///< options of random layers among these faces
  /// Faces of the separate source wavefield of SourceField::random, reversible in time: rigid,
  /// free, random. Empty: this method is not possible.
  std::optional<wave::Boundaries<Dim>> source_faces = {};
  std::vector<double> wavelet = {};   ///< wavelet, a sample per step
  std::int64_t steps = 0;             ///< steps of each propagation, 1 or more
  std::int64_t product_interval = 1;  ///< steps between products of the wavefields
  InvertedParameters unknowns = {};   ///< parameters besides vp
  int devices = 2;                    ///< devices of this process, 1 or more
  /// Processes with a slab each, instead of devices; null: this process has all slabs.
  stream::StreamRanks* ranks = nullptr;
  int groups = 1;  ///< groups of as many processes, which compute other shots; for messages
};

/// \brief Reports that slabs have too few planes.
///
/// Its text names the numbers of slabs that SlabMemoryCheck allows.
class SlabsTooThin : public InputError {
 public:
  /// \param fits false if the memory holds no number of slabs that have the planes
  SlabsTooThin(const std::string& text, bool fits) : InputError(text), m_fits(fits) {}
  /// Returns false if the memory holds no number of slabs that have the planes.
  bool fits() const { return m_fits; }

 private:
  bool m_fits;
};

/// Options of SlabGradients::add().
struct SlabShotOptions {
  std::int64_t check_every = 200;  ///< steps between checks for NaN and overflow; 0: no checks
  std::string prefix = {};         ///< in front of the names of points in messages: "shot 3: "
  /// Options of random layers of the separate source wavefield; keep the seed of a shot in all
  /// evaluations.
  wave::RandomLayerOptions random = {};
  /// See ShotGradientOptions::progress; called on the calling thread.
  std::function<void(int propagation, const wave::ShotProgress&)> progress = {};
};

/// Bytes of the gradients of a shot on each device.
struct SlabGradientBytes {
  double fixed = 0.0;       ///< all arrays without those of the source wavefield
  SourceFieldBytes source;  ///< source wavefield, by method
};

/// \brief Sum of gradients of shots over a grid in slabs, one for each device of this process, or
/// one for each rank.
///
/// The bits are those of ShotGradients on one device with the same method for the source wavefield.
/// Each device runs ShotGradients on the planes of its slab;
/// steps exchange planes with the neighbours. Models and results are on the host. On hosts each
/// slab of a process has one thread.
///
/// With ranks, each rank creates the object and calls its functions with equal arguments. All ranks
/// have the complete model. Rank 0 receives complete results; those of other ranks are set in the
/// own planes only. All ranks throw NotFinite.
template <class T, int Dim, class Memory>
class SlabGradients {
 public:
  /// Returns the text of an error if a number of slabs does not have the memory; else nothing.
  using SlabMemoryCheck = std::function<std::string(const SlabGradients&, int slabs)>;
  /// Model on the host, without layers.
  using HostModel = wave::Model<T, Dim, Kokkos::HostSpace>;
  /// Returns the misfit function of a shot for an instance; all slabs compute it.
  using MisfitOn = std::function<ShotMisfit<T, Memory>(const Instance<Memory>& exec)>;

  /// \brief Divides the grid, and computes the memory; arrays are allocated by update().
  /// \param exec instance of the first device; with ranks, of the device of this rank
  /// \param grid of the model
  /// \param model initial model; it determines the medium and the layers of all models
  /// \param shots shots of all calls
  /// \param options steps, faces, devices
  /// \param check of the numbers of slabs that SlabsTooThin names
  /// \throws InputError for more devices than the process accesses, and as ShotGradients;
  /// SlabsTooThin for more slabs than planes permit
  SlabGradients(const InstanceOf<Memory>& exec, const Grid<Dim>& grid, const HostModel& model,
                const std::vector<wave::Shot<Dim>>& shots, const SlabGradientOptions<Dim>& options,
                const SlabMemoryCheck& check = {});

  /// Returns the number of slabs.
  int devices() const { return m_options.devices; }
  /// Returns true if the planes suffice for a number of slabs.
  bool possible(int slabs) const;
  /// Returns the planes of each slab, of the grid with layers.
  const std::vector<PlaneRange>& planes() const { return m_own; }
  /// Returns the memory of the largest slab. \param devices number of slabs
  SlabGradientBytes bytes(int devices) const;
  /// Returns the memory of an extended image on the device of the largest slab.
  /// \param devices number of slabs
  double image_bytes(const Lags& lags, int devices) const { return m_image_bytes(lags, devices); }
  /// \brief Returns the largest lag along x.
  ///
  /// Products of a lag read nodes of the two neighbours of a slab, so that it is at most the planes
  /// of the model in each slab between two others, and half of the model.
  std::int64_t max_lag() const { return max_lag(m_own); }
  /// \overload
  /// \param slabs number of slabs, possible()
  std::int64_t max_lag(int slabs) const { return max_lag(parts_of(slabs)); }
  /// Returns the ranks of the slabs; null: one process has all.
  stream::StreamRanks* ranks() const { return m_options.ranks; }
  /// Returns the instances of the devices of this process.
  const std::vector<Instance<Memory>>& instances() const { return m_instances; }
  /// Steps between products.
  std::int64_t product_interval() const { return m_options.product_interval; }

  /// Sets the method of the source wavefield. \throws InputError for `automatic`, and for `random`
  /// without source_faces
  void set_source_field(SourceField method);
  /// Sets the model, whose fields must stay unchanged until the next call; the first call allocates
  /// all arrays. Sums are unchanged.
  /// \throws InputError for a model of another medium or with unstable velocities
  void update(const HostModel& model);
  /// Sets all sums to zero.
  void clear();
  /// \brief Adds the gradient of a shot over the current model.
  /// \param shot sources, receivers
  /// \param misfit makes the misfit function
  /// \param options names, progress
  /// \throws InputError for invalid points; wave::NotFinite if a wavefield overflows; errors of the
  /// misfit
  ShotGradientReport<Dim> add(const wave::Shot<Dim>& shot, const MisfitOn& misfit,
                              const SlabShotOptions& options = {});
  /// Returns traces of a shot over the current model, (steps + 1) x receivers.
  wave::Traces<T> model(const wave::Shot<Dim>& shot, const SlabShotOptions& options = {});
  /// \brief Creates an extended image of zeros, to which shots are added from now on.
  /// \throws InputError for lags over half of the model, and over max_lag()
  void begin_image(const Lags& lags);
  /// Sets the extended image to zero.
  void clear_image();
  /// Returns the extended image on the nodes of the model, lags (x fastest) x nodes; on ranks other
  /// than the first nothing.
  std::vector<T> extended_image();
  /// Frees the extended image.
  void end_image();
  /// Returns the seconds of some steps of the grid over the current model, for forecasts.
  double seconds_of_steps(std::int64_t steps);

  /// Returns the derivatives of the sum of misfits. \see ShotGradients::derivatives()
  HostModel derivatives(const HostModel& model,
                        const Field<T, Dim, Kokkos::HostSpace>& kept = {}) const;
  /// Returns the illumination. \see ShotGradients::illumination()
  Field<T, Dim, Kokkos::HostSpace> illumination() const;

 private:
  using Host = Kokkos::HostSpace;
  using Gradients = ShotGradients<T, Dim, Memory>;
  using Image = ExtendedImage<T, Dim, Memory>;
  // Separate source wavefield of a slab, with random layers.
  struct RandomSource {
    std::unique_ptr<wave::Propagator<T, Dim, Memory>> propagator;
    wave::PointSet<T, Dim, Memory> sources;
    wave::SourceTerm<T, Dim, Memory> term;
  };
  // Arrays of a slab.
  struct Slab {
    std::unique_ptr<wave::Propagator<T, Dim, Memory>> propagator;
    std::unique_ptr<Gradients> gradients;
    wave::Wavefield<T, Dim, Memory> wavefield;
    snapshot::DeviceArena<T, Memory> arena{"moho::fwi::source", std::int64_t{1} << 22};
    wave::PointSet<T, Dim, Memory> sources, receivers;
    wave::SourceTerm<T, Dim, Memory> forward;
    RandomSource random;           ///< of SourceField::random
    std::unique_ptr<Image> image;  ///< null: not begun
  };
  using Parts = stream::GridParts<T, Dim, Memory>;

  wave::Limits limits_of(const HostModel& model) const {
    return stream::detail::stepped_limits<T, Dim>(stream::detail::host_instance(), m_grid, model,
                                                  m_options.propagator.boundaries, m_options.random,
                                                  m_options.propagator);
  }
  void require_model() const {
    if (!m_slabs.empty()) return;
    throw InputError("model: it was not set (allowed: after update())");
  }
  void allocate_slabs(const HostModel& model);
  const Instance<Memory>& exec(std::size_t g) const { return m_parts->instance(g); }
  void begin(std::size_t g, const wave::Shot<Dim>& shot, const std::string& prefix);
  wave::PropagatorOptions<Dim> random_options() const;
  void plan_random(const std::vector<wave::Shot<Dim>>& shots);
  std::vector<PlaneRange> random_parts(const std::vector<PlaneRange>& own) const;
  std::vector<PlaneRange> parts_of(std::int64_t slabs) const;
  std::int64_t max_lag(const std::vector<PlaneRange>& own) const;
  [[noreturn]] void refuse_slabs(const SlabMemoryCheck& check) const;
  void begin_random(std::size_t g, const wave::Shot<Dim>& shot, const SlabShotOptions& options);
  std::unique_ptr<snapshot::SnapshotStore<T, Dim, Memory>> make_store(std::size_t g);
  // Planes of the model in a slab.
  PlaneRange model_planes(std::size_t g) const {
    return stream::model_planes(m_own[g], m_interior);
  }
  Grid<Dim> model_part(std::size_t g) const {
    Grid<Dim> part = m_grid;
    part.extents[0] = model_planes(g).count();
    return part;
  }
  // Offset of a plane of the model in arrays of the host.
  std::int64_t at(std::int64_t plane) const { return plane * (m_grid.size() / m_grid.extents[0]); }
  Field<T, Dim, Memory> to_device(std::size_t g, const Field<T, Dim, Host>& field) const;
  void to_host(std::size_t g, const Field<T, Dim, Memory>& from,
               const Field<T, Dim, Host>& to) const;
  void collect(const Field<T, Dim, Host>& field) const;

  Grid<Dim> m_grid;
  wave::Medium m_medium;
  wave::Limits m_limits;  ///< of the initial model, which determine the layers
  SlabGradientOptions<Dim> m_options;
  Grid<Dim> m_extended;  ///< with layers
  Box<Dim> m_interior;
  stream::StreamRequirements m_need;
  std::int64_t m_random_halo = 0;  ///< planes read on both sides of random_parts()
  std::function<SlabGradientBytes(int)> m_bytes;
  std::function<double(const Lags&, int)> m_image_bytes;
  std::vector<Instance<Memory>> m_instances;
  std::vector<PlaneRange> m_own;
  stream::PartPlanes m_image_planes;  ///< of pairs of the extended image
  SourceField m_source_field = SourceField::boundary_shell;
  std::int64_t m_states = 0, m_piece = 0;      ///< of replay
  HostModel m_model;                           ///< current model, of random layers
  std::unique_ptr<Parts> m_parts;              ///< outlives the propagators
  std::unique_ptr<Parts> m_random_parts;       ///< of the grid with random layers
  std::vector<std::unique_ptr<Slab>> m_slabs;  ///< of all parts; those of other ranks are null
};

}  // namespace moho::fwi

#include <moho/fwi/detail/slab_gradient_impl.hpp>

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, SlabGradients)
}  // namespace moho::fwi
#endif
/// \endcond
