// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Products of two wavefields that stream through a device concurrently (internal).

#include <moho/core/instances.hpp>
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
/// sums.
///
/// Time `level` of the stream is step steps - level of the source wavefield and steps + 1 - level
/// of the adjoint field, as in ShotGradients::add(). Kernels are those of ShotGradients.
template <class T, int Dim, class Memory>
class StreamProducts : public stream::PairAction<T, Dim, Memory> {
 public:
  using Array = wave::Storage<T, Memory>;
  using Pipeline = stream::Pipeline<T, Dim, Memory>;
  using Image = StreamImage<T, Dim, Memory>;

  /// Arrays of a shape's sums: that of the scale, the illumination, and that of the density.
  static int sum_count(const InvertedParameters& unknowns) { return unknowns.density ? 3 : 2; }
  /// Returns the number of arrays of a block and its surrounding planes.
  /// These are changes, factors, the source wavefield for derivatives of the density, and the axis
  /// derivatives of TTI.
  static int window_arrays(const InvertedParameters& unknowns,
                           const wave::Scheme<T, Dim, Memory>& scheme) {
    return 2 * scheme.fields() + (unknowns.density ? 1 : 0) +
           wave::info(scheme.stencil()).work_fields;
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
    // D nu is written and read; nu and the source wavefield are read; sums are read and written
    need.moved_arrays = 4.0 * scheme.fields() + 2.0 * need.sums;
    need.injects = true;
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
    // derivatives of the density also read neighbours of the model's nodes
    m_kept = m_box.grown(unknowns.density ? m_radius : 0);
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

  /// Adds the adjoint source to the adjoint field after a step.
  void inject(const stream::RingPiece& piece, std::int64_t level) override;

  /// Adds the products of the planes of a stage of the adjoint field, before it is stepped.
  void add(const stream::StreamStage& stage) override;

 private:
  static int parity(std::int64_t level) { return static_cast<int>(level & 1); }
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

  void add(const stream::RingPiece& piece, const stream::RingPiece& beside, std::int64_t level,
           std::int64_t time);

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
};

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
    m_receivers->inject(exec, layout, piece.planes, field, m_derivative, m_steps - level,
                        factor[f]);
  }
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add(const stream::StreamStage& stage) {
  const std::int64_t time = m_steps - stage.level;
  if (time % m_product_interval != 0) return;
  const PlaneRange planes = intersection(stage.range.planes, planes_of(m_box));
  if (planes.empty()) return;
  const std::int64_t shift = stage.range.position - stage.range.planes.begin;
  std::vector<stream::StreamRange> parts{{stage.range.sweep, planes, shift + planes.begin}};
  if (m_image) parts = m_image->begin(stage, planes);
  for (const stream::StreamRange& part : parts) {
    for (const stream::RingPiece& piece : m_adjoint.ring().pieces(part)) {
      // rings of as many slots are cut at the same positions
      const PlaneRange of_source{piece.planes.begin - m_shift[0], piece.planes.end - m_shift[0]};
      const stream::RingPiece beside =
          m_source.ring()
              .pieces({stage.range.sweep, of_source, shift + piece.planes.begin})
              .front();
      add(piece, beside, stage.level, time);
    }
  }
  if (m_image) m_image->end(stage, static_cast<T>(m_product_interval));
}

template <class T, int Dim, class Memory>
void StreamProducts<T, Dim, Memory>::add(const stream::RingPiece& piece,
                                         const stream::RingPiece& beside, std::int64_t level,
                                         std::int64_t time) {
  const Instance<Memory>& exec = m_adjoint.stepping();
  const stream::Ring<T, Dim, Memory>& ring = m_adjoint.ring();
  const stream::Ring<T, Dim, Memory>& other = m_source.ring();
  const int fields = m_scheme.fields();
  const wave::Layout<Dim> layout =
      m_scheme.layout(PlaneRange{piece.planes.begin - m_around, piece.planes.end + m_around});
  const auto medium = ring.medium(piece);
  wave::Wavefield<T, Dim, Memory> nu;
  nu.layout = layout;
  nu.fields = fields;
  for (int f = 0; f < fields; ++f) {
    nu.now[f] = cut(ring, piece, ring.field(parity(level), f), layout);
    nu.next[f] = cut(ring, piece, ring.field(parity(level + 1), f), layout);
    if (f >= wave::info(m_scheme.stencil()).work_fields) continue;
    // those of the ring are one stage's, and shared with the block that comes next
    nu.axis_derivative[f] = window(2 * fields + f, layout);
    const PlaneRange all = all_planes(m_scheme.grid());
    const bool within = layout.window.begin >= all.begin && layout.window.end <= all.end;
    if (!within) fill(exec, nu.axis_derivative[f], T(0));  // outside of the grid they are at rest
  }
  Box<Dim> box = m_box;
  box.lower[0] = piece.planes.begin;
  box.upper[0] = piece.planes.end;
  const Array change[2] = {window(0, layout), fields == 2 ? window(1, layout) : Array()};
  // source wavefield on nodes of the grid of the adjoint field
  const wave::Layout<Dim> source_layout = other.layout(beside);
  DenseBox<Dim> source{};
  source.box.lower = m_shift;
  source.strides = source_layout.strides;
  const auto of_source = [&](int f) {
    return other.field(parity(level), f).data() + source_layout.offset;
  };
  const auto sums = [&](std::size_t k) {
    const auto at = ring.sums(k, piece, piece.planes);
    return at.array.data() + at.first;
  };
  AddScale<T, Dim> scale{};
  scale.p = of_source(0);
  if (fields == 2) scale.q = of_source(1);
  scale.change_q = change[1].data();
  scale.snapshot = source;
  scale.change_p = change[0].data();
  scale.layout = layout;
  scale.sums = sums_at(piece.planes);
  scale.scale = sums(0);
  scale.illumination = sums(1);
  scale.weight = static_cast<T>(m_product_interval);
  scale.time = static_cast<T>(static_cast<double>(m_product_interval) * m_scheme.dt());
  if (m_image) m_image->keep(piece, scale);
  const auto inject = [&] {
    m_receivers->inject(exec, layout, piece.planes, change[0], m_derivative, time);
  };
  // kernels of rows on hosts keep no factors
  const bool stored = m_image != nullptr && is_host_memory<Memory>;
  add_products<T, Dim, Memory>(exec, m_scheme, medium, nu, box, m_receivers->box(), change, inject,
                               scale, stored);
  if (!m_unknowns.density) return;

  const Array p = window(2 * fields, layout);
  fill(exec, p, T(0));
  Box<Dim> kept = m_kept;
  kept.lower[0] = std::max(kept.lower[0], layout.window.begin);
  kept.upper[0] = std::min(kept.upper[0], layout.window.end);
  launch_box("moho::fwi::put_source", exec, kept,
             PutNodes<T, Dim>{of_source(0), p.data(), layout, source});
  wave::kernel::StepArguments<T> s = m_scheme.arguments();
  medium.bind(s);
  Box<Dim> read = whole_box(m_scheme.grid());
  read.lower[0] = piece.planes.begin;
  read.upper[0] = piece.planes.end;
  wave::kernel::set_box(s, read);
  // both behind free surfaces: add_products() has filled the other one
  wave::kernel::mirror_faces<T, Dim, Memory>(exec, m_scheme, layout.window, s,
                                             {p.data() + layout.offset, nullptr}, 1, T(-1));
  AddBuoyancy<T, Dim> buoyancy{};
  buoyancy.s = s;
  buoyancy.radius = m_radius;
  buoyancy.p = p.data();
  buoyancy.nu = nu.now[0].data();
  buoyancy.layout = layout;
  buoyancy.extents = m_scheme.grid().extents;
  const wave::Boundaries<Dim>& faces = m_scheme.options().boundaries;
  for (int d = 0; d < Dim; ++d) {
    buoyancy.free_lower[d] = faces.lower[d].kind == wave::FaceKind::free_surface;
    buoyancy.free_upper[d] = faces.upper[d].kind == wave::FaceKind::free_surface;
  }
  buoyancy.sums = sums_at(piece.planes);
  buoyancy.d_b = sums(2);
  buoyancy.weight = static_cast<T>(m_product_interval);
  launch_buoyancy<T, Dim, Memory>(exec, box, buoyancy);
}

}  // namespace moho::fwi::detail

/// \cond
#ifdef MOHO_FWI_KERNELS
namespace moho::fwi::detail {
MOHO_FOR_ALL(MOHO_CLASS, extern template class, StreamProducts)
}  // namespace moho::fwi::detail
#endif
/// \endcond
