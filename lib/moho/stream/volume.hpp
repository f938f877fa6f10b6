// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Model and wave state on the host, plane by plane, for devices that hold only some planes.

#include <moho/core/pinned.hpp>
#include <moho/core/timer.hpp>
#include <moho/stream/detail/model_part.hpp>
#include <moho/stream/detail/volume_file.hpp>
#include <moho/wave/boundary.hpp>
#include <moho/wave/medium.hpp>
#include <moho/wave/points.hpp>
#include <moho/wave/wavefield.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace moho::stream {

/// Consecutive planes of one array on the host.
template <class T>
struct PlaneArray {
  T* first = nullptr;           ///< first element of the first plane
  std::int64_t plane_size = 0;  ///< elements between planes
  PlaneRange planes;            ///< stored planes, which may extend beyond the grid
  /// Returns a plane, which has to be stored.
  T* at(std::int64_t plane) const { return first + (plane - planes.begin) * plane_size; }
  /// Returns the number of elements.
  std::int64_t size() const { return plane_size * planes.count(); }
};

/// State of a volume between two sweeps.
template <class T>
struct VolumeState {
  PlaneArray<T> field[2][2];        ///< fields by time modulo 2, and p or q
  std::vector<PlaneArray<T>> psi;   ///< memory of layers, by face and field as in Wavefield
  std::vector<PlaneArray<T>> zeta;  ///< memory of second derivatives, as psi
  std::vector<PlaneArray<T>> sums;  ///< VolumeShape::sums
};

/// Options of a HostVolume.
struct VolumeOptions {
  PlaneRange sources = {};     ///< planes in which sources may lie, where q has separate factors
  int sums = 0;                ///< number of arrays of sums, see VolumeShape::sums
  PlaneRange sum_planes = {};  ///< planes of sums
  std::int64_t sum_plane_size = 0;  ///< elements of a plane of sums
  std::string file;                 ///< file of the volume; empty: in memory
  std::string key;                  ///< identifies the run: a file of another run is not continued
  bool resume = false;              ///< true to continue an existing file
  std::int64_t rows = 0;            ///< rows of the records, which a file also stores
  std::int64_t receivers = 0;       ///< receivers of the records
};

/// Offsets and layout of a volume's planes, in any storage.
template <class T, int Dim>
struct VolumeShape {
  wave::Layout<Dim> layout;       ///< layout of fields and parameters
  int fields = 1;                 ///< wavefields: p, or p and q
  int parameters = 1;             ///< arrays that a step reads
  bool q_factors = false;         ///< true if sources of q have separate factors
  bool pressure_factors = false;  ///< true if p is a field times sqrt(rho)
  /// Arrays that a step needs on the device in addition to the state: axis derivatives, unless
  /// all steps take one pass.
  int work = 0;
  /// Memory of a layer, by face and field: its planes along x, and elements of a plane.
  struct Layer {
    bool across_x = false;        ///< true if its normal is x
    PlaneRange planes;            ///< planes with nodes of the layer
    std::int64_t plane_size = 0;  ///< elements of a plane
  };
  std::vector<Layer> layers;  ///< by face and field
  /// Sums at nodes that move with the planes, such as images: arrays of one shape.
  struct Sums {
    int count = 0;                ///< number of arrays
    PlaneRange planes;            ///< planes with nodes of the sums
    std::int64_t plane_size = 0;  ///< elements of a plane
    bool held = false;            ///< true if all their planes stay on the device
  };
  Sums sums;  ///< empty unless set before a volume or ring is made

  /// Derives the shape from a scheme.
  template <class Memory>
  explicit VolumeShape(const wave::Scheme<T, Dim, Memory>& scheme);
  VolumeShape() = default;
  /// Returns the stored planes, with the halo on both sides.
  PlaneRange planes() const { return {-layout.halo, layout.extents[0] + layout.halo}; }
  /// Returns the bytes of one state, in all planes: fields at two times, and the memory of layers.
  std::size_t state_bytes() const;
  /// Returns the bytes of all parameters.
  std::size_t parameter_bytes() const;
  /// Returns the bytes of all sums.
  std::size_t sum_bytes() const {
    return static_cast<std::size_t>(sums.count * sums.planes.count() * sums.plane_size) * sizeof(T);
  }
};

/// \brief Volume on the host: parameters of the model as kernels read them, and the wave state.
///
/// Planes are padded as on devices (wave::Layout), so that a slab of planes is one copy for each
/// array. A file stores two states: a sweep reads one and writes the other, and commit() makes the
/// written one current. A run that stops at any moment therefore resumes from its last complete
/// sweep.
template <class T, int Dim>
class HostVolume {
 public:
  /// \brief Allocates the memory, or creates or opens the file.
  /// \throws InputError, FileError for a file that cannot be created, does not fit the disk, or
  ///   belongs to another run
  /// \param model a volume of the same scheme in memory, whose parameters this one shares; null:
  ///   separate parameters
  template <class Memory>
  HostVolume(const wave::Scheme<T, Dim, Memory>& scheme, const VolumeOptions& options,
             const HostVolume* model = nullptr);

  /// Returns offsets and layout.
  const VolumeShape<T, Dim>& shape() const { return m_shape; }
  /// Returns the parameters, in the order of MediumCoefficients::arrays().
  const std::vector<PlaneArray<T>>& parameters() const { return m_parameters; }
  /// \brief Returns the state `ahead` sweeps from the current one.
  ///
  /// A sweep reads one state and writes the next. In memory they are the same; a file has two.
  const VolumeState<T>& state(std::int64_t ahead = 0) const {
    return m_state[in_file() ? static_cast<std::size_t>((m_present + ahead) % 2) : 0];
  }
  /// Returns the factors of sources of q, and their layout with the window VolumeOptions::sources.
  ///
  /// They are empty if they equal those of p.
  const wave::Storage<T, Kokkos::HostSpace>& q_factors() const { return m_q_factors; }
  /// Returns the factors of p over the first field, in the layout of the volume; empty: 1.
  wave::Storage<const T, Kokkos::HostSpace> pressure_factors() const { return m_pressure; }
  /// \brief Returns the factors of points that inject into a field, for PointSet::inject_with().
  /// \param exec execution instance that copies the factors; the function waits for it
  /// \param points points on the grid of the volume
  /// \param field 0: p, 1: q
  template <class Memory>
  wave::Storage<const T, Memory> source_factors(const InstanceOf<Memory>& exec,
                                                const wave::PointSet<T, Dim, Memory>& points,
                                                int field) const {
    return points.node_factors(exec, source_layout(field), source_scale(field), m_pressure);
  }
  /// Returns the factors of sources of a field, for node_factors().
  wave::Storage<const T, Kokkos::HostSpace> source_scale(int field) const;
  /// \copydoc source_scale()
  const wave::Layout<Dim>& source_layout(int field) const {
    return field == 1 && m_q_factors.data() != nullptr ? m_q_layout : m_shape.layout;
  }

  /// \brief Loads the parameters of a model without layers.
  ///
  /// They are extended and prepared on the device, slab by slab, so that they have the bits of a
  /// propagator of the device.
  /// \param exec execution instance of the preparation; the function waits for it
  /// \param scheme scheme of the volume
  /// \param grid of the model
  /// \param model on the host
  /// \param random of random layers
  template <class Memory>
  void load(const InstanceOf<Memory>& exec, const wave::Scheme<T, Dim, Memory>& scheme,
            const Grid<Dim>& grid, const wave::Model<T, Dim, Kokkos::HostSpace>& model,
            const wave::RandomLayerOptions& random);
  /// Returns the bytes that load() temporarily allocates on the device.
  template <class Memory>
  static std::size_t load_bytes(const wave::Scheme<T, Dim, Memory>& scheme);
  /// Sets the waves to rest.
  void clear();
  /// \brief Declares the waves at rest without writing them.
  ///
  /// The next run must load and store all planes, and begins at rest: its first sweep does not read
  /// the state. \see Pipeline::load()
  void begin_at_rest();
  /// Returns true from begin_at_rest() to the end of the next run.
  bool at_rest() const { return m_at_rest; }
  /// Sets some arrays of sums to zero, from number `first` on; a negative count means all of them.
  void clear_sums(int first = 0, int count = -1);
  /// \brief Exchanges the two time levels if the number is odd, and restarts times at 0.
  ///
  /// A run of that many steps backwards then has the parities of a run forwards.
  void reverse(std::int64_t steps);
  /// Sets the state that the next sweep writes to rest.
  ///
  /// An interrupted run may have left planes there. In memory no second state exists, and the
  /// function does nothing.
  void clear_next();

  /// Returns true for volumes in files.
  bool in_file() const { return m_file != nullptr; }
  /// Returns the time level of the current state: steps done.
  std::int64_t level() const { return m_level; }
  /// Commits the written state as the current one at a time level; files are synced on return.
  void commit(std::int64_t level);
  /// Returns `count` arrays of sums from the `first` one on, planes after planes, as one array.
  ///
  /// It shares the memory of the volume.
  wave::Storage<T, Kokkos::HostSpace> sums(int first, int count) const {
    const auto each =
        static_cast<std::size_t>(m_shape.sums.planes.count() * m_shape.sums.plane_size);
    const std::size_t begin = static_cast<std::size_t>(first) * each;
    return Kokkos::subview(m_sums, std::pair<std::size_t, std::size_t>(
                                       begin, begin + static_cast<std::size_t>(count) * each));
  }
  /// Returns the records, rows x receivers.
  Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> records() const { return m_records; }
  /// Page-locks all arrays for devices.
  ///
  /// Returns false if the system refuses; lock.why() then gives the reason. A file is not locked.
  template <class Memory>
  bool lock(PinnedRegion<Memory>& lock) const;
  /// Returns the bytes of all arrays.
  std::size_t bytes() const;

  /// \brief Copies the current field to dense nodes of the grid without its layers or with them.
  /// \param field 0: p, 1: q
  /// \param box nodes to copy
  /// \param values as many numbers as the box has nodes, the last axis fastest
  void copy_out(int field, const Box<Dim>& box, T* values) const;

 private:
  PlaneArray<T> take(std::int64_t plane_size, const PlaneRange& planes, const char* label);
  void rest(const VolumeState<T>& state);
  // Number of planes that load() prepares together: about 64 MiB for each array; all of them for
  // parameters that are extended into the halo.
  static std::int64_t planes_at_a_time(const wave::Layout<Dim>& layout) {
    const std::int64_t bytes = layout.strides[0] * static_cast<std::int64_t>(sizeof(T));
    return std::max<std::int64_t>(2 * layout.halo + 1, (std::int64_t(64) << 20) / bytes);
  }

  VolumeShape<T, Dim> m_shape;
  std::vector<PlaneArray<T>> m_parameters;
  VolumeState<T> m_state[2];
  wave::Storage<T, Kokkos::HostSpace> m_q_factors;
  wave::Layout<Dim> m_q_layout;
  wave::Storage<T, Kokkos::HostSpace> m_pressure;
  Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> m_records;
  std::vector<Kokkos::View<T*, Kokkos::HostSpace>> m_memory;
  wave::Storage<T, Kokkos::HostSpace> m_sums;                 ///< all arrays of sums
  std::vector<Kokkos::View<T*, Kokkos::HostSpace>> m_shared;  ///< arrays shared with another volume
  std::unique_ptr<VolumeFile> m_file;
  int m_present = 0;
  std::int64_t m_level = 0;
  bool m_at_rest = false;
};

template <class T, int Dim>
template <class Memory>
VolumeShape<T, Dim>::VolumeShape(const wave::Scheme<T, Dim, Memory>& scheme)
    : layout(scheme.layout()), fields(scheme.fields()) {
  const wave::CoefficientSet coefficients = wave::coefficients_of(scheme.stencil(), Dim);
  q_factors = coefficients.has(wave::Coefficient::q_scale);
  pressure_factors = coefficients.has(wave::Coefficient::root_density);
  parameters = wave::MediumCoefficients<T, Dim, Memory>::array_count(scheme);
  work = scheme.always_one_pass() ? 0 : wave::info(scheme.stencil()).work_fields;
  for (const auto& layer : scheme.layers()) {
    const wave::kernel::LayerShape one = scheme.layer_shape(layer, all_planes(scheme.grid()));
    Layer stored;
    stored.across_x = layer.axis == 0;
    stored.planes = stored.across_x ? PlaneRange{layer.first, layer.first + layer.width}
                                    : all_planes(scheme.grid());
    stored.plane_size = one.strides[0];
    for (int f = 0; f < fields; ++f) layers.push_back(stored);
  }
}

template <class T, int Dim>
std::size_t VolumeShape<T, Dim>::state_bytes() const {
  std::int64_t elements = 2 * fields * planes().count() * layout.strides[0];
  for (const Layer& layer : layers) elements += 2 * layer.planes.count() * layer.plane_size;
  return static_cast<std::size_t>(elements) * sizeof(T);
}

template <class T, int Dim>
std::size_t VolumeShape<T, Dim>::parameter_bytes() const {
  return static_cast<std::size_t>(parameters * planes().count() * layout.strides[0]) * sizeof(T);
}

template <class T, int Dim>
template <class Memory>
HostVolume<T, Dim>::HostVolume(const wave::Scheme<T, Dim, Memory>& scheme,
                               const VolumeOptions& options, const HostVolume* model)
    : m_shape(scheme) {
  const auto rows = static_cast<std::size_t>(options.rows);
  const auto receivers = static_cast<std::size_t>(options.receivers);
  if (options.sums > 0 && !options.file.empty()) {
    throw InputError("sums: a volume in a file carries none (allowed: in memory)");
  }
  if (!options.file.empty()) {
    const std::size_t arrays = m_shape.parameter_bytes() + 2 * m_shape.state_bytes();
    const std::size_t slack = 4096 * (16 + 8 * m_shape.layers.size());
    m_file = std::make_unique<VolumeFile>(
        options.file, options.key, arrays + rows * receivers * sizeof(T) + slack, options.resume);
    m_level = m_file->level();
    m_present = m_file->generation();
  }
  if (options.sums > 0) {
    m_shape.sums = {options.sums, options.sum_planes, options.sum_plane_size, false};
  }
  const std::int64_t plane = m_shape.layout.strides[0];
  if (model != nullptr) {
    m_parameters = model->m_parameters;
    m_shared = model->m_memory;
  }
  for (int a = 0; a < m_shape.parameters && model == nullptr; ++a) {
    m_parameters.push_back(take(plane, m_shape.planes(), "moho::stream::parameter"));
  }
  for (int copy = 0; copy < (in_file() ? 2 : 1); ++copy) {
    VolumeState<T>& state = m_state[copy];
    for (int parity = 0; parity < 2; ++parity) {
      for (int f = 0; f < m_shape.fields; ++f) {
        state.field[parity][f] = take(plane, m_shape.planes(), "moho::stream::field");
      }
    }
    for (const auto& layer : m_shape.layers) {
      state.psi.push_back(take(layer.plane_size, layer.planes, "moho::stream::layer"));
      state.zeta.push_back(take(layer.plane_size, layer.planes, "moho::stream::layer"));
    }
  }
  if (m_shape.sums.count > 0) {
    // one allocation: sums() returns several arrays as one
    const PlaneRange& planes = m_shape.sums.planes;
    PlaneArray<T> one = take(m_shape.sums.plane_size, {0, m_shape.sums.count * planes.count()},
                             "moho::stream::sums");
    m_sums = m_memory.back();
    one.planes = planes;
    for (int k = 0; k < m_shape.sums.count; ++k, one.first += one.size()) {
      m_state[0].sums.push_back(one);
    }
  }
  const PlaneArray<T> records = take(static_cast<std::int64_t>(receivers),
                                     PlaneRange{0, options.rows}, "moho::stream::records");
  m_records = decltype(m_records)(records.first, rows, receivers);
  if (m_shape.pressure_factors) {
    m_pressure = model != nullptr
                     ? model->m_pressure
                     : wave::Storage<T, Kokkos::HostSpace>(
                           "moho::stream::pressure", static_cast<std::size_t>(m_shape.layout.size));
  }
  if (m_shape.q_factors && !options.sources.empty()) {
    m_q_layout = scheme.layout(intersection(options.sources, all_planes(scheme.grid())));
    if (model != nullptr) {
      m_q_factors = model->m_q_factors;
      return;
    }
    m_q_factors = wave::Storage<T, Kokkos::HostSpace>("moho::stream::q_factors",
                                                      static_cast<std::size_t>(m_q_layout.size));
  }
}

template <class T, int Dim>
PlaneArray<T> HostVolume<T, Dim>::take(std::int64_t plane_size, const PlaneRange& planes,
                                       const char* label) {
  PlaneArray<T> array{nullptr, plane_size, planes};
  const std::int64_t size = std::max<std::int64_t>(array.size(), 0);
  if (in_file()) {
    array.first = static_cast<T*>(m_file->take(static_cast<std::size_t>(size) * sizeof(T)));
    return array;
  }
  const Kokkos::DefaultHostExecutionSpace host;
  const auto memory = allocate<Kokkos::View<T*, Kokkos::HostSpace>>(
      Instance<Kokkos::HostSpace>(host), label, static_cast<std::size_t>(size));
  if (size > 0) fill(Instance<Kokkos::HostSpace>(host), memory, T(0));
  m_memory.push_back(memory);
  array.first = memory.data();
  return array;
}

template <class T, int Dim>
wave::Storage<const T, Kokkos::HostSpace> HostVolume<T, Dim>::source_scale(int field) const {
  if (field == 1 && m_q_factors.data() != nullptr) return m_q_factors;
  // the first parameter, as an array of its layout: its first plane is that of the halo
  const wave::Layout<Dim>& layout = m_shape.layout;
  T* const first = m_parameters.front().first - (layout.plane_begin(-layout.halo));
  return wave::Storage<const T, Kokkos::HostSpace>(first, static_cast<std::size_t>(layout.size));
}

template <class T, int Dim>
void HostVolume<T, Dim>::rest(const VolumeState<T>& state) {
  const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
  const auto one = [&](const PlaneArray<T>& array) {
    if (array.size() <= 0) return;
    fill(host,
         Kokkos::View<T*, Kokkos::HostSpace>(array.first, static_cast<std::size_t>(array.size())),
         T(0));
  };
  for (const auto& parity : state.field) {
    for (int f = 0; f < m_shape.fields; ++f) one(parity[f]);
  }
  for (const auto* list : {&state.psi, &state.zeta}) {
    for (const PlaneArray<T>& array : *list) one(array);
  }
}

template <class T, int Dim>
void HostVolume<T, Dim>::clear_sums(int first, int count) {
  const Instance<Kokkos::HostSpace> host{Kokkos::DefaultHostExecutionSpace()};
  const int all = static_cast<int>(m_state[0].sums.size());
  for (int k = first; k < (count < 0 ? all : first + count); ++k) {
    const PlaneArray<T>& array = m_state[0].sums[static_cast<std::size_t>(k)];
    if (array.size() <= 0) continue;
    fill(host,
         Kokkos::View<T*, Kokkos::HostSpace>(array.first, static_cast<std::size_t>(array.size())),
         T(0));
  }
}

template <class T, int Dim>
void HostVolume<T, Dim>::reverse(std::int64_t steps) {
  for (VolumeState<T>& state : m_state) {
    for (int f = 0; f < m_shape.fields && steps % 2 != 0; ++f) {
      std::swap(state.field[0][f], state.field[1][f]);
    }
  }
  m_level = 0;
}

template <class T, int Dim>
void HostVolume<T, Dim>::begin_at_rest() {
  if (in_file()) return clear();
  m_at_rest = true;
  m_level = 0;
}

template <class T, int Dim>
void HostVolume<T, Dim>::clear() {
  m_at_rest = false;
  m_present = 0;
  m_level = 0;
  // a file is marked as unneeded before any change: a run restarts at time 0
  if (in_file()) m_file->commit(0, 0);
  for (int copy = 0; copy < (in_file() ? 2 : 1); ++copy) rest(m_state[copy]);
}

template <class T, int Dim>
void HostVolume<T, Dim>::clear_next() {
  if (in_file()) rest(state(1));
}

template <class T, int Dim>
void HostVolume<T, Dim>::commit(std::int64_t level) {
  m_at_rest = false;
  m_level = level;
  if (!in_file()) return;
  m_present = 1 - m_present;
  m_file->commit(level, m_present);
}

template <class T, int Dim>
template <class Memory>
bool HostVolume<T, Dim>::lock(PinnedRegion<Memory>& lock) const {
  if (in_file()) return false;
  for (const auto& memory : m_memory) {
    if (memory.size() == 0) continue;
    if (!lock.lock(memory.data(), memory.size() * sizeof(T))) {
      lock.release();
      return false;
    }
  }
  return true;
}

template <class T, int Dim>
std::size_t HostVolume<T, Dim>::bytes() const {
  return m_shape.parameter_bytes() + (in_file() ? 2 : 1) * m_shape.state_bytes() +
         m_shape.sum_bytes() +
         (m_q_factors.size() + m_pressure.size() + m_records.size()) * sizeof(T);
}

template <class T, int Dim>
void HostVolume<T, Dim>::copy_out(int field, const Box<Dim>& box, T* values) const {
  const PlaneArray<T>& array = state().field[m_level & 1][field];
  const wave::Layout<Dim>& layout = m_shape.layout;
  const std::int64_t row = box.extent(Dim - 1), rows = row > 0 ? box.size() / row : 0;
  const std::int64_t first_plane = layout.plane_begin(-layout.halo);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Index<Dim> node = box.node(r * row);
    std::memcpy(values + r * row, array.first + layout.flat(node) - first_plane,
                static_cast<std::size_t>(row) * sizeof(T));
  }
}

template <class T, int Dim>
template <class Memory>
std::size_t HostVolume<T, Dim>::load_bytes(const wave::Scheme<T, Dim, Memory>& scheme) {
  const VolumeShape<T, Dim> shape(scheme);
  const wave::Layout<Dim>& layout = shape.layout;
  // fields of the model, and the coefficients derived from them; the last slab may have `halo` more
  // planes
  const std::int64_t fields = wave::step_coefficient_count(scheme.stencil(), Dim);
  const std::int64_t arrays = 2 * fields + (shape.q_factors || shape.pressure_factors ? 1 : 0) +
                              (scheme.packed_axis() ? 1 : 0) +   // packed words of the axis
                              (is_host_memory<Memory> ? 0 : 1);  // planes of a field of the model
  // potentials depend on `halo` planes on both sides of a slab
  const std::int64_t around = shape.pressure_factors ? 2 * layout.halo : 0;
  const std::int64_t planes =
      std::min(planes_at_a_time(layout) + layout.halo + around, layout.extents[0]) +
      2 * layout.halo;
  return static_cast<std::size_t>(arrays * planes * layout.strides[0]) * sizeof(T);
}

template <class T, int Dim>
template <class Memory>
void HostVolume<T, Dim>::load(const InstanceOf<Memory>& exec,
                              const wave::Scheme<T, Dim, Memory>& scheme, const Grid<Dim>& grid,
                              const wave::Model<T, Dim, Kokkos::HostSpace>& model,
                              const wave::RandomLayerOptions& random) {
  const Instance<Memory>& instance = exec;
  const std::int64_t halo = m_shape.layout.halo, planes = scheme.grid().extents[0];
  const std::int64_t piece = planes_at_a_time(m_shape.layout);
  for (std::int64_t begin = 0; begin < planes;) {
    std::int64_t end = std::min(begin + piece, planes);
    if (planes - end <= halo) end = planes;
    const PlaneRange slab{begin, end};
    // potentials depend on densities of neighbouring planes
    const std::int64_t around = m_shape.pressure_factors ? halo : 0;
    const PlaneRange loaded{std::max<std::int64_t>(slab.begin - around, 0),
                            std::min(slab.end + around, planes)};
    const auto part = extended_part<T, Dim, Memory>(instance, scheme, grid, model, random, loaded);
    auto window = wave::MediumCoefficients<T, Dim, Memory>::numbers(instance, scheme, loaded);
    window.load(instance, scheme, part);
    PlaneRange with_halo = slab;
    if (slab.begin == 0) with_halo.begin -= halo;
    if (slab.end == planes) with_halo.end += halo;
    const auto down = [&](const wave::Storage<const T, Memory>& from, const PlaneRange& which,
                          T* to) {
      const auto first = static_cast<std::size_t>(window.layout().plane_begin(which.begin));
      const auto count = static_cast<std::size_t>(which.count() * m_shape.layout.strides[0]);
      copy(instance, HostElements<T>(to, count),
           Kokkos::subview(from, std::pair<std::size_t, std::size_t>(first, first + count)));
    };
    const std::vector<wave::Storage<T, Memory>> arrays = window.arrays();
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      down(arrays[a], with_halo, m_parameters[a].at(with_halo.begin));
    }
    const PlaneRange near = intersection(slab, m_q_layout.window);
    if (m_q_factors.data() != nullptr && !near.empty()) {
      down(window.source_scale(1).first, near,
           m_q_factors.data() + m_q_layout.plane_begin(near.begin));
    }
    if (m_pressure.data() != nullptr) {
      down(window.pressure_factors(), slab,
           m_pressure.data() + m_shape.layout.plane_begin(slab.begin));
    }
    instance.fence();
    begin = end;
  }
}

}  // namespace moho::stream
