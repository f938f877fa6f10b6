// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of two wavefields that stream through a device concurrently (internal).

#include <moho/core/instances.hpp>
#include <moho/fwi/detail/lambda_steps.hpp>
#include <moho/fwi/detail/stream_image.hpp>
#include <moho/fwi/gradient.hpp>
#include <moho/stream/reversed_pair.hpp>
#include <moho/wave/adjoint.hpp>
#include <moho/wave/operators.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace moho::fwi::detail {

/// \brief Work of a device between the steps of the backward propagation.
///
/// It injects residuals into the adjoint field, and adds products with the source wavefield to
/// sums. For epsilon and delta it also advances the adjoint of p (lambda), whose planes move with
/// the sums.
///
/// Time `level` of the stream is step steps - level of the source wavefield and steps + 1 - level
/// of the adjoint field, as in ShotGradients::add(). Kernels are those of ShotGradients.
template <class T, int Dim, class Memory>
class StreamProducts : public stream::PairAction<T, Dim, Memory> {
 public:
  using Array = wave::Storage<T, Memory>;
  using Pipeline = stream::Pipeline<T, Dim, Memory>;
  using Image = StreamImage<T, Dim, Memory>;

  /// Number of the array of sums of the illumination; that of the scale is 0.
  static constexpr int illumination = 1;
  /// Number of the first array of the density (the potential and sqrt(rho) at points), or of
  /// epsilon and delta (1 + 2 epsilon and sqrt(1 + 2 delta)).
  static constexpr int by_others = 2;
  /// Number of the array of lambda; its time difference is the next one.
  static constexpr int lambda = 4;
  /// Returns the number of arrays of sums.
  static int sum_count(const InvertedParameters& unknowns) {
    return 2 + (unknowns.density ? 2 : 0) + (unknowns.anisotropy ? 4 : 0);
  }
  /// Returns the number of arrays of a block and its surrounding planes.
  /// These are changes, factors, the axis derivatives of TTI, the components of a packed axis, the
  /// source wavefield and what its points inject for epsilon and delta.
  static int window_arrays(const InvertedParameters& unknowns,
                           const wave::Scheme<T, Dim, Memory>& scheme) {
    return first_of_source(scheme) + (unknowns.anisotropy ? 3 : 0);
  }
  /// Planes around a block that D reads; several passes are differences of differences.
  static std::int64_t window_around(const wave::Scheme<T, Dim, Memory>& scheme) {
    return scheme.order() / 2 * wave::info(scheme.stencil()).passes;
  }
  /// Returns the requirements of the products.
  static stream::PairRequirements need(const InvertedParameters& unknowns,
                                       const wave::Scheme<T, Dim, Memory>& scheme) {
    stream::PairRequirements need;
    need.sums = sum_count(unknowns);
    need.window_arrays = window_arrays(unknowns, scheme);
    need.window_around = window_around(scheme);
    count_bytes(unknowns, scheme, need);
    need.injects = true;
    if (unknowns.anisotropy || unknowns.density) {
      // what the source injects at time 0 counts
      need.further_steps = 1;
      need.sources = true;
    }
    if (unknowns.anisotropy) {
      need.first_shot_sum = lambda;
      need.shot_sums = 2;
    }
    return need;
  }

  /// \param device pipelines of one device, with one stepping instance; the first wavefield is the
  /// adjoint field
  /// \param unknowns besides vp
  /// \param lags of an extended image, whose sums follow those of sum_count(); empty: no image
  StreamProducts(const stream::PairDevice<T, Dim, Memory>& device,
                 const InvertedParameters& unknowns, const std::optional<Lags>& lags = {})
      : m_adjoint(device.first),
        m_source(device.source),
        m_scheme(device.first_scheme),
        m_unknowns(unknowns),
        m_steps(device.steps),
        m_product_interval(device.interval),
        m_radius(device.first_scheme.order() / 2),
        m_around(window_around(device.first_scheme)),
        m_box(device.first_scheme.interior()) {
    const wave::Scheme<T, Dim, Memory>& source_scheme = device.source_scheme;
    const PlaneRange planes{0, device.block + 2 * m_around};
    for (int k = 0; k < window_arrays(unknowns, m_scheme); ++k) {
      m_windows.push_back(wave::make_storage<T>(m_adjoint.stepping(), m_scheme.layout(planes),
                                                "moho::fwi::window"));
    }
    // derivatives by epsilon and delta also read neighbours of the model's nodes
    m_kept = m_box.grown(unknowns.anisotropy ? m_around : 0);
    for (int d = 0; d < Dim; ++d) m_shift[d] = m_box.lower[d] - source_scheme.interior().lower[d];
    Box<Dim> whole = whole_box(source_scheme.grid());
    for (int d = 0; d < Dim; ++d) {
      whole.lower[d] += m_shift[d];
      whole.upper[d] += m_shift[d];
    }
    m_kept = intersection(intersection(m_kept, whole), whole_box(m_scheme.grid()));
    if (!lags) return;
    m_image = std::make_unique<Image>(device, *lags, static_cast<std::size_t>(sum_count(unknowns)));
  }

  /// Memory of all arrays, bytes.
  std::size_t bytes() const override {
    std::size_t count = 0;
    for (const Array& array : m_windows) count += array.size();
    return count * sizeof(T) + (m_image ? m_image->bytes() : 0);
  }
  /// The points and derivatives of a shot, in the memory of this device; they have to live as long
  /// as it runs.
  void begin(const wave::PointSet<T, Dim, Memory>& receivers,
             const wave::PointSeries<const T, Memory>& derivative) override {
    m_receivers = &receivers;
    m_derivative = derivative;
    if (m_image) m_image->begin();
  }
  /// The sources on the grid of the adjoint field and their amplitudes, for unknowns besides vp;
  /// the sources have to live as long as the shot runs.
  void begin_sources(const wave::PointSet<T, Dim, Memory>& sources,
                     const wave::PointSeries<const T, Memory>& amplitudes) override {
    m_sources = &sources;
    m_amplitudes = amplitudes;
  }
  void begin_pressure(const wave::Storage<const T, Memory>& points,
                      const wave::Storage<const T, Memory>& sources) override {
    m_pressure = points;
    m_source_pressure = sources;
  }

  /// Adds the adjoint source to the adjoint field after a step.
  void inject(const stream::RingPiece& piece, std::int64_t level) override;

  /// Adds the products of the planes of a stage of the adjoint field, before it is stepped.
  void add(const stream::StreamStage& stage) override;

 private:
  static int parity(std::int64_t level) { return static_cast<int>(level & 1); }
  bool is_product(std::int64_t time) const { return time > 0 && time % m_product_interval == 0; }
  // Sets the arrays that products and lambda move.
  static void count_bytes(const InvertedParameters& unknowns,
                          const wave::Scheme<T, Dim, Memory>& scheme,
                          stream::PairRequirements& need);
  // Numbers of window arrays.
  static int first_axis_derivative(const wave::Scheme<T, Dim, Memory>& scheme) {
    return 2 * scheme.fields();
  }
  static int first_component(const wave::Scheme<T, Dim, Memory>& scheme) {
    return first_axis_derivative(scheme) + wave::info(scheme.stencil()).work_fields;
  }
  static int first_of_source(const wave::Scheme<T, Dim, Memory>& scheme) {
    return first_component(scheme) + (scheme.always_one_pass() ? 3 : 0);
  }
  // A window array as one of a layout.
  Array window(int number, const wave::Layout<Dim>& layout) const {
    return Kokkos::subview(
        m_windows[static_cast<std::size_t>(number)],
        std::pair<std::size_t, std::size_t>(0, static_cast<std::size_t>(layout.size)));
  }
  // The part of a ring's array that is an array of a layout, whose window is in that of the piece.
  static Array cut(const stream::Ring<T, Dim, Memory>& ring, const stream::RingPiece& piece,
                   const Array& array, const wave::Layout<Dim>& layout) {
    const std::int64_t first = layout.window.begin - ring.layout(piece).window.begin;
    const auto begin = static_cast<std::size_t>(first * layout.strides[0]);
    return Kokkos::subview(array, std::pair<std::size_t, std::size_t>(
                                      begin, begin + static_cast<std::size_t>(layout.size)));
  }
  // Where nodes of a piece of sums lie.
  DenseBox<Dim> sums_at(const PlaneRange& planes) const {
    DenseBox<Dim> result = dense(m_box);
    result.box.lower[0] = planes.begin;
    return result;
  }

  // Operands of the work on a piece.
  struct Part {
    stream::RingPiece piece;
    wave::Layout<Dim> layout;  ///< of windows
    Box<Dim> box;              ///< nodes of the sums
    wave::MediumCoefficients<T, Dim, Memory> medium;
    wave::Wavefield<T, Dim, Memory> nu;
    Array change[2];
    const T* source[2];       ///< source wavefield
    DenseBox<Dim> source_at;  ///< its layout, on nodes of the grid of the adjoint field
    std::int64_t time;        ///< step of the source wavefield
    bool products;            ///< true if products are added at this time
    bool everywhere;          ///< true if D nu is stored
  };
  void add(const stream::RingPiece& piece, const stream::RingPiece& paired, std::int64_t level,
           std::int64_t time);
  void add_density(const Part& part);
  // What points inject at the time of a part.
  StepInjection<T, Dim, Memory> injection(const Part& part,
                                          const wave::PointSet<T, Dim, Memory>& points,
                                          const wave::PointSeries<const T, Memory>& series,
                                          const wave::Storage<const T, Memory>& pressure,
                                          T factor = T(1)) const {
    return {&points, series, part.time, part.layout, part.piece.planes, {}, pressure, factor};
  }
  void add_anisotropy(const Part& part);
  // Copies a field of the source wavefield to a window array, for differences.
  void put_source(const Part& part, int field, const Array& to);
  // Elements of sums of a piece.
  T* sums(const stream::RingPiece& piece, int k) const {
    const auto at = m_adjoint.ring().sums(static_cast<std::size_t>(k), piece, piece.planes);
    return at.array.data() + at.first;
  }
  // The parameters of the adjoint field, with the components of a packed axis.
  wave::MediumCoefficients<T, Dim, Memory> medium_around(const stream::RingPiece& piece,
                                                         const wave::Layout<Dim>& layout) const {
    const auto medium = m_adjoint.ring().medium(piece);
    if (!m_scheme.always_one_pass()) return medium;
    const int first = first_component(m_scheme);
    return medium.with_components(m_adjoint.stepping(), m_scheme, layout, window(first, layout),
                                  window(first + 1, layout), window(first + 2, layout));
  }

  const Pipeline& m_adjoint;
  const Pipeline& m_source;
  const wave::Scheme<T, Dim, Memory>& m_scheme;
  InvertedParameters m_unknowns;
  std::int64_t m_steps, m_product_interval;
  int m_radius;
  std::int64_t m_around;
  Box<Dim> m_box;        ///< nodes of the sums
  Box<Dim> m_kept;       ///< nodes where the source wavefield is read
  Index<Dim> m_shift{};  ///< from the grid of the source wavefield to that of the adjoint field
  std::vector<Array> m_windows;    ///< as window_arrays() counts them
  std::unique_ptr<Image> m_image;  ///< null: no extended image
  const wave::PointSet<T, Dim, Memory>* m_receivers = nullptr;
  wave::PointSeries<const T, Memory> m_derivative;
  const wave::PointSet<T, Dim, Memory>* m_sources = nullptr;
  wave::PointSeries<const T, Memory> m_amplitudes;
  wave::Storage<const T, Memory> m_pressure, m_source_pressure;  ///< sqrt(rho) by node of points
};

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::count_bytes(const InvertedParameters& unknowns,
                                                 const wave::Scheme<T, Dim, Memory>& scheme,
                                                 stream::PairRequirements& need) {
  const double fields = scheme.fields();
  const wave::StencilInfo& stencil = wave::info(scheme.stencil());
  const bool reads_nu = lambda_from_wavefield(scheme);
  // D: the fields; in TTI the components of the axis and the axis derivatives, which are written
  // and read; components of a packed axis are written before
  const double axis = stencil.work_fields > 0 ? 2.0 * Dim : 0.0;
  const double unpacked = scheme.always_one_pass() ? Dim + 1.0 : 0.0;
  const double operand = fields + 2.0 * stencil.work_fields + axis;
  const bool stored = stencil.passes > 1 || (unknowns.anisotropy && !reads_nu);
  // D nu, stored or not; the source wavefield; the scale and the illumination are read and written
  double products = operand + unpacked + (stored ? 2.0 * fields : 0.0) + fields + 4.0;
  if (unknowns.density) {
    products += 2.0;  // a sum is read and written
  }
  if (unknowns.anisotropy) {
    // zeros and a copy of the source wavefield, its D; what AddAnisotropy reads, two sums
    products += 3.0 * fields + operand + fields + 4.0 + fields + 2.0 + 4.0;
    // lambda and its difference are read and written after D nu
    need.moved_in_steps = 4.0 + (reads_nu ? 1.0 : operand + unpacked + 2.0);
    if (!reads_nu) products -= operand + unpacked + 2.0;
  }
  need.moved_arrays = products;
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::inject(const stream::RingPiece& piece, std::int64_t level) {
  const PlaneRange near = intersection(piece.planes, planes_of(m_receivers->box()));
  if (m_receivers->count() == 0 || near.empty()) return;
  const Instance<Memory>& exec = m_adjoint.stepping();
  const stream::Ring<T, Dim, Memory>& ring = m_adjoint.ring();
  const wave::Layout<Dim> layout = m_scheme.layout(piece.planes);
  const int fields = m_scheme.fields();
  wave::kernel::FindAdjointFactors<T, Dim> find{};
  find.s = m_scheme.arguments();
  const auto medium = ring.medium(piece);
  medium.bind(find.s);
  find.layout = layout;
  find.box = m_receivers->box();
  find.box.lower[0] = near.begin;
  find.box.upper[0] = near.end;
  const Array factor[2] = {window(fields, layout),
                           fields == 2 ? window(fields + 1, layout) : Array()};
  find.p = factor[0].data();
  find.q = factor[1].data();
  find.record = window(0, layout).data();
  launch("moho::fwi::adjoint_factors", exec, find.box.size(), find);
  for (int f = 0; f < fields; ++f) {
    const Array field = cut(ring, piece, ring.field(parity(level + 1), f), layout);
    m_receivers->inject_with(exec, layout, piece.planes, field, m_derivative, m_steps - level,
                             m_pressure, T(1), factor[f]);
  }
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add(const stream::StreamStage& stage) {
  const std::int64_t time = m_steps - stage.level;
  if (time % m_product_interval != 0 && !m_unknowns.anisotropy) return;
  const PlaneRange planes = intersection(stage.range.planes, planes_of(m_box));
  if (planes.empty()) return;
  const std::int64_t shift = stage.range.position - stage.range.planes.begin;
  const bool images = m_image && is_product(time);
  std::vector<stream::StreamRange> parts{{stage.range.sweep, planes, shift + planes.begin}};
  if (images) parts = m_image->begin(stage, planes);
  for (const stream::StreamRange& part : parts) {
    for (const stream::RingPiece& piece : m_adjoint.ring().pieces(part)) {
      // rings of as many slots are cut at the same positions
      const PlaneRange of_source{piece.planes.begin - m_shift[0], piece.planes.end - m_shift[0]};
      const stream::RingPiece paired =
          m_source.ring()
              .pieces({stage.range.sweep, of_source, shift + piece.planes.begin})
              .front();
      add(piece, paired, stage.level, time);
    }
  }
  if (images) m_image->end(stage, static_cast<T>(m_product_interval));
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add(const stream::RingPiece& piece,
                                         const stream::RingPiece& paired, std::int64_t level,
                                         std::int64_t time) {
  const Instance<Memory>& exec = m_adjoint.stepping();
  const stream::Ring<T, Dim, Memory>& ring = m_adjoint.ring();
  const stream::Ring<T, Dim, Memory>& other = m_source.ring();
  const int fields = m_scheme.fields();
  Part part{};
  part.piece = piece;
  part.time = time;
  part.products = is_product(time);
  const wave::Layout<Dim> layout = part.layout =
      m_scheme.layout(PlaneRange{piece.planes.begin - m_around, piece.planes.end + m_around});
  part.medium = medium_around(piece, layout);
  wave::Wavefield<T, Dim, Memory>& nu = part.nu;
  nu.layout = layout;
  nu.fields = fields;
  for (int f = 0; f < fields; ++f) {
    nu.now[f] = cut(ring, piece, ring.field(parity(level), f), layout);
    nu.next[f] = cut(ring, piece, ring.field(parity(level + 1), f), layout);
    part.change[f] = window(f, layout);
    if (f >= wave::info(m_scheme.stencil()).work_fields) continue;
    // those of the ring are one stage's, and shared with the block that comes next
    nu.axis_derivative[f] = window(first_axis_derivative(m_scheme) + f, layout);
    const PlaneRange all = all_planes(m_scheme.grid());
    const bool within = layout.window.begin >= all.begin && layout.window.end <= all.end;
    if (!within) fill(exec, nu.axis_derivative[f], T(0));  // outside of the grid they are at rest
  }
  part.box = m_box;
  part.box.lower[0] = piece.planes.begin;
  part.box.upper[0] = piece.planes.end;
  // source wavefield on nodes of the grid of the adjoint field
  const wave::Layout<Dim> source_layout = other.layout(paired);
  part.source_at.box.lower = m_shift;
  part.source_at.strides = source_layout.strides;
  for (int f = 0; f < fields; ++f) {
    part.source[f] = other.field(parity(level), f).data() + source_layout.offset;
  }
  const StepInjection<T, Dim, Memory> residuals =
      injection(part, *m_receivers, m_derivative, m_pressure);
  // kernels of rows on hosts keep no factors of images
  part.everywhere = m_unknowns.anisotropy ? !lambda_from_wavefield(m_scheme)
                                          : m_image != nullptr && is_host_memory<Memory>;
  if (part.everywhere) {
    wave::apply_operator<T, Dim, Memory>(exec, m_scheme, part.medium, nu, part.box, part.change[0],
                                         part.products ? part.change[1] : Array());
    residuals.add_to(exec, part.change[0]);
  }
  if (part.products) {
    AddScale<T, Dim> scale{};
    scale.p = part.source[0];
    if (fields == 2) scale.q = part.source[1];
    scale.change_p = part.change[0].data();
    scale.change_q = part.change[1].data();
    scale.snapshot = part.source_at;
    scale.layout = layout;
    scale.sums = sums_at(piece.planes);
    scale.scale = sums(piece, 0);
    scale.illumination = sums(piece, illumination);
    scale.weight = static_cast<T>(m_product_interval);
    scale.time = static_cast<T>(static_cast<double>(m_product_interval) * m_scheme.dt());
    if (m_image) m_image->keep(piece, scale);
    AddPointProduct<T, Dim> at_receivers = at_residuals(scale);
    if (m_unknowns.density) {
      scale.by_potential = sums(piece, by_others);
      at_receivers.by_root = sums(piece, by_others + 1);
    }
    scale.potential_sums = at_receivers.root_sums = scale.sums;
    if (part.everywhere) {
      launch_add_scale<T, Dim, Memory>(exec, part.box, scale);
      if (m_unknowns.density) {
        at_receivers.scale = at_receivers.kept_change = nullptr;  // residuals are in part.change
        add_point_products<T, Dim, Memory>(exec, residuals, part.box, at_receivers);
      }
    } else {
      add_products<T, Dim, Memory>(exec, m_scheme, part.medium, nu, part.box, residuals,
                                   part.change, scale, at_receivers);
    }
  }
  if (m_unknowns.density && (part.products || time == 0)) add_density(part);
  if (!m_unknowns.anisotropy) return;
  if (part.products || time == 0) add_anisotropy(part);
  step_lambda<T, Dim, Memory>(
      exec, m_scheme, part.medium, nu, part.box, part.change[0], residuals,
      LambdaArrays<T, Dim>{sums(piece, lambda), sums(piece, lambda + 1), sums_at(piece.planes)});
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::put_source(const Part& part, int field, const Array& to) {
  const Instance<Memory>& exec = m_adjoint.stepping();
  fill(exec, to, T(0));
  Box<Dim> kept = m_kept;
  kept.lower[0] = std::max(kept.lower[0], part.layout.window.begin);
  kept.upper[0] = std::min(kept.upper[0], part.layout.window.end);
  launch_box("moho::fwi::put_source", exec, kept,
             PutNodes<T, Dim>{part.source[field], to.data(), part.layout, part.source_at});
}

// Adds the products at sources, and those of the potential where the products with D
// of the adjoint field did not add them.
template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add_density(const Part& part) {
  const Instance<Memory>& exec = m_adjoint.stepping();
  const wave::Layout<Dim>& layout = part.layout;
  const auto weight = static_cast<T>(m_product_interval);
  AddPointProduct<T, Dim> at_sources{};
  at_sources.field = part.nu.now[0].data() + layout.offset;
  at_sources.nodes = {Box<Dim>{}, layout.strides};
  at_sources.by_root = sums(part.piece, by_others + 1);
  at_sources.root_sums = sums_at(part.piece.planes);
  at_sources.weight = weight;
  add_point_products<T, Dim, Memory>(exec,
                                     injection(part, *m_sources, m_amplitudes, m_source_pressure,
                                               wave::kernel::source_factor<T>(m_scheme.grid())),
                                     part.box, at_sources);
  if (!part.products || !part.everywhere) return;
  launch_add_potential<T, Dim, Memory>(
      exec, part.box,
      {part.source[0], part.source_at, part.nu.now[0].data(), layout, sums_at(part.piece.planes),
       sums(part.piece, by_others), weight});
}

// Adds the products by epsilon and delta, before the step of lambda.
template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add_anisotropy(const Part& part) {
  const Instance<Memory>& exec = m_adjoint.stepping();
  const wave::Layout<Dim>& layout = part.layout;
  const int first = first_of_source(m_scheme);
  AddAnisotropy<T, Dim> add{};
  if (part.products) {
    wave::Wavefield<T, Dim, Memory> u = part.nu;  // with its axis derivatives
    // factors of residuals are made anew for each injection
    const Array change[2] = {window(2, layout), window(3, layout)};
    for (int f = 0; f < 2; ++f) {
      u.now[f] = window(first + f, layout);
      put_source(part, f, u.now[f]);
    }
    wave::apply_operator<T, Dim, Memory>(exec, m_scheme, part.medium, u, part.box, change[0],
                                         change[1]);
    add.h2p = change[0].data();
    add.h1q = change[1].data();
  }
  const Array injected = window(first + 2, layout);  // zeros
  double volume = 1.0;
  for (int d = 0; d < Dim; ++d) volume *= m_scheme.grid().spacing[d];
  const bool injects = part.time < static_cast<std::int64_t>(m_amplitudes.extent(0));
  if (injects) {
    m_sources->inject(exec, layout, part.piece.planes, injected, m_amplitudes, part.time, {},
                      static_cast<T>(1.0 / volume));
  }
  add.s = m_scheme.arguments();
  part.medium.bind(add.s);
  add.lambda = sums(part.piece, lambda);
  add.lambda_nodes = sums_at(part.piece.planes);
  add.nu_q = part.nu.now[1].data();
  add.source = injected.data();
  add.layout = layout;
  add.sums = sums_at(part.piece.planes);
  add.d_a = sums(part.piece, by_others);
  add.d_r = sums(part.piece, by_others + 1);
  add.weight = static_cast<T>(m_product_interval);
  launch_box("moho::fwi::add_anisotropy", exec, part.box, add);
  if (!injects) return;
  Box<Dim> near = m_sources->box();
  near.lower[0] = std::max(near.lower[0], part.piece.planes.begin);
  near.upper[0] = std::min(near.upper[0], part.piece.planes.end);
  if (near.empty()) return;
  launch_box("moho::fwi::no_source", exec, near, ZeroNodes<T, Dim>{injected.data(), layout});
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamProducts)
}  // namespace moho::fwi::detail
#endif
/// \endcond
