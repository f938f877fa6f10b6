// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Linear least squares by conjugate gradients with reverse communication.

#include <moho/core/copy.hpp>
#include <moho/core/error.hpp>
#include <moho/core/instances.hpp>
#include <moho/optimize/cgls_types.hpp>
#include <moho/optimize/detail/lbfgs_kernels.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace moho::optimize {

namespace detail {

/// Computes z = P s for the unknowns that vary, and s . z.
template <class T>
struct PreconditionAndDot : SumOfDoubles<1> {
  const T *s, *scale;
  T* z;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i, value_type& sum) const {
    const T value = scale != nullptr ? scale[i] * s[i] : s[i];
    z[i] = value;
    sum.value[0] += static_cast<double>(s[i]) * static_cast<double>(value);
  }
};

/// Computes p = z + factor p.
template <class T>
struct NextDirection {
  const T* z;
  T* p;
  double factor;
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t i) const {
    p[i] = static_cast<T>(static_cast<double>(z[i]) + factor * static_cast<double>(p[i]));
  }
};

/// Tests for a factor that is negative or not finite.
template <class T>
struct NotAFactor {
  const T* values;
  KOKKOS_INLINE_FUNCTION bool operator()(const std::int64_t i) const {
    return !(values[i] >= T(0)) || !(values[i] - values[i] == T(0));
  }
};

}  // namespace detail

/// \brief Minimises |A x - b|^2 by conjugate gradients (CGLS, Hestenes and Stiefel 1952).
///
/// A is known to the caller only, who computes one product with A and one with its transpose an
/// iteration:
///
///     Cgls<double, Memory> search(exec, start, residual, {.iterations = 100});  // b - A start
///     while (search.wants() != LinearWant::nothing) {
///       if (search.wants() == LinearWant::transposed) {
///         // gradient = A^T search.residual()
///         search.tell_transposed(exec, gradient);
///       } else {
///         // image = A search.direction()
///         search.tell_product(exec, image);
///       }
///     }
///     // search.point(), search.residual_norm(), search.reason()
///
/// Rows of a regularisation are further rows of A. All sums are in double precision and have the
/// same bits for any number of host threads.
///
/// Memory: three vectors of unknowns, a fourth with precondition(), and one of the rows of A.
template <class T, class Memory>
class Cgls {
 public:
  using Vector = Kokkos::View<T*, Memory>;             ///< unknowns, or rows of A
  using ConstVector = Kokkos::View<const T*, Memory>;  ///< the same, constant

  /// \param exec instance of the vectors; the constructor waits for it
  /// \param start initial point; it is copied
  /// \param residual b - A start; it is copied
  /// \param options tolerance and limit
  /// \throws InputError for an empty start or residual, numbers that are not finite, or options out
  ///         of range
  Cgls(const InstanceOf<Memory>& exec, const ConstVector& start, const ConstVector& residual,
       const CglsOptions& options = {});

  /// \brief Sets the diagonal of a preconditioner, an approximate inverse of A^T A.
  ///
  /// Call it before the first tell. The factors are copied; unknowns with the factor 0 keep their
  /// start.
  /// \throws InputError for another size, a factor that is negative or not finite, or a later call
  void precondition(const InstanceOf<Memory>& exec, const ConstVector& factors);

  /// Returns the product that is required next.
  LinearWant wants() const { return m_want; }
  /// Returns the vector to multiply by A.
  ConstVector direction() const { return m_p; }
  /// Returns b - A point(), the vector to multiply by the transpose of A.
  ConstVector residual() const { return m_r; }
  /// Takes A^T residual(); waits for exec. \throws InputError for another size, a product that is
  /// not required, or numbers that are not finite
  void tell_transposed(const InstanceOf<Memory>& exec, const ConstVector& gradient);
  /// Takes A direction(); waits for exec. \throws InputError as tell_transposed()
  void tell_product(const InstanceOf<Memory>& exec, const ConstVector& image);

  /// Returns the present solution.
  ConstVector point() const { return m_x; }
  /// Returns |b - A point()|.
  double residual_norm() const { return m_norm; }
  /// Returns the norm of the preconditioned gradient at the last tell_transposed().
  double gradient_norm() const { return std::sqrt(m_gamma); }
  /// Returns the number of iterations.
  std::int64_t iterations() const { return m_iterations; }
  /// Returns the reason for the stop.
  LinearStop reason() const { return m_stop; }

 private:
  double dot(const Instance<Memory>& exec, const ConstVector& a, const ConstVector& b) const {
    return reduce_blocks("moho::optimize::dot", exec, static_cast<std::int64_t>(a.extent(0)),
                         detail::Dot<T>{{}, a.data(), b.data(), nullptr})
        .value[0];
  }
  void add(const Instance<Memory>& exec, const Vector& to, double factor, const ConstVector& v) {
    (void)reduce_blocks("moho::optimize::add", exec, static_cast<std::int64_t>(to.extent(0)),
                        detail::AddAndDot<T>{{}, to.data(), v.data(), nullptr, factor, nullptr});
  }
  void stop(LinearStop reason) {
    m_stop = reason;
    m_want = LinearWant::nothing;
  }
  void expect(LinearWant want, const char* name, std::size_t found, std::size_t allowed) const;

  CglsOptions m_options;
  Vector m_x, m_p, m_z, m_r, m_scale;
  LinearWant m_want = LinearWant::transposed;
  LinearStop m_stop = LinearStop::none;
  double m_gamma = 0.0, m_first = 0.0, m_norm = 0.0;
  std::int64_t m_iterations = 0;
  bool m_begun = false;
};

template <class T, class Memory>
Cgls<T, Memory>::Cgls(const InstanceOf<Memory>& exec, const ConstVector& start,
                      const ConstVector& residual, const CglsOptions& options)
    : m_options(options) {
  if (!(options.gradient >= 0.0 && options.gradient < 1.0)) {
    throw InputError(concat("gradient: the tolerance is ", options.gradient,
                            " (allowed: 0 to 1, a part of the first norm)"));
  }
  if (options.iterations < 0) {
    throw InputError(
        concat("iterations: ", options.iterations, " (allowed: 0, no limit, or more)"));
  }
  const Instance<Memory>& instance = exec;
  const auto take = [&](const ConstVector& from, const char* name) {
    if (from.extent(0) == 0) throw InputError(concat(name, ": it is empty (allowed: 1 or more)"));
    const std::int64_t bad =
        find_first("moho::optimize::check_start", instance,
                   static_cast<std::int64_t>(from.extent(0)), detail::NotFinite<T>{from.data()});
    if (bad != none_found) {
      throw InputError(concat(name, ": element ", bad, " is ",
                              value_at(instance, from.data() + bad), " (allowed: finite numbers)"));
    }
    const auto to = allocate<Vector>(instance, name, from.extent(0));
    copy(instance, to, from);
    return to;
  };
  m_x = take(start, "start");
  m_r = take(residual, "residual");
  m_p = allocate<Vector>(instance, "moho::optimize::direction", start.extent(0));
  m_z = allocate<Vector>(instance, "moho::optimize::gradient", start.extent(0));
  fill(instance, m_p, T(0));
  m_norm = std::sqrt(dot(instance, m_r, m_r));
  instance.fence();
}

template <class T, class Memory>
void Cgls<T, Memory>::precondition(const InstanceOf<Memory>& exec, const ConstVector& factors) {
  if (m_begun) throw InputError("factors: the search has begun (allowed: before the first tell)");
  if (factors.extent(0) != m_x.extent(0)) {
    throw InputError(concat("factors: there are ", factors.extent(0), " (allowed: ", m_x.extent(0),
                            ", one an unknown)"));
  }
  const Instance<Memory>& instance = exec;
  const std::int64_t bad = find_first("moho::optimize::check_factors", instance,
                                      static_cast<std::int64_t>(factors.extent(0)),
                                      detail::NotAFactor<T>{factors.data()});
  if (bad != none_found) {
    throw InputError(concat("factors: that of unknown ", bad, " is ",
                            value_at(instance, factors.data() + bad),
                            " (allowed: 0 or positive numbers)"));
  }
  m_scale = allocate<Vector>(instance, "moho::optimize::factors", factors.extent(0));
  copy(instance, m_scale, factors);
  instance.fence();
}

template <class T, class Memory>
void Cgls<T, Memory>::expect(LinearWant want, const char* name, std::size_t found,
                             std::size_t allowed) const {
  if (m_want != want) {
    throw InputError(concat(name, ": this product is not required (allowed: the one of wants())"));
  }
  if (found != allowed) {
    throw InputError(concat(name, ": it has ", found, " elements (allowed: ", allowed, ")"));
  }
}

template <class T, class Memory>
void Cgls<T, Memory>::tell_transposed(const InstanceOf<Memory>& exec, const ConstVector& gradient) {
  expect(LinearWant::transposed, "gradient", gradient.extent(0), m_x.extent(0));
  const Instance<Memory>& instance = exec;
  const auto count = static_cast<std::int64_t>(m_x.extent(0));
  const double before = m_gamma;
  m_gamma = reduce_blocks(
                "moho::optimize::precondition", instance, count,
                detail::PreconditionAndDot<T>{
                    {}, gradient.data(), m_scale.size() > 0 ? m_scale.data() : nullptr, m_z.data()})
                .value[0];
  if (!std::isfinite(m_gamma)) {
    throw InputError("gradient: it is not finite (allowed: finite numbers)");
  }
  if (!m_begun) m_first = m_gamma;
  const double min = m_options.gradient * m_options.gradient * m_first;
  if (m_gamma <= min) {
    stop(LinearStop::gradient);
  } else if (m_options.iterations > 0 && m_iterations >= m_options.iterations) {
    stop(LinearStop::iterations);
  } else {
    launch("moho::optimize::next_direction", instance, count,
           detail::NextDirection<T>{m_z.data(), m_p.data(), m_begun ? m_gamma / before : 0.0});
    m_want = LinearWant::product;
  }
  m_begun = true;
  instance.fence();
}

template <class T, class Memory>
void Cgls<T, Memory>::tell_product(const InstanceOf<Memory>& exec, const ConstVector& image) {
  expect(LinearWant::product, "image", image.extent(0), m_r.extent(0));
  const Instance<Memory>& instance = exec;
  const double square = dot(instance, image, image);
  if (!std::isfinite(square)) {
    throw InputError("image: it is not finite (allowed: finite numbers)");
  }
  if (square == 0.0) {
    stop(LinearStop::breakdown);
    return;
  }
  const double step = m_gamma / square;
  add(instance, m_x, step, m_p);
  add(instance, m_r, -step, image);
  m_norm = std::sqrt(dot(instance, m_r, m_r));
  ++m_iterations;
  m_want = LinearWant::transposed;
  instance.fence();
}

}  // namespace moho::optimize

/// \cond
#ifdef MOHO_OPTIMIZE_KERNELS
namespace moho::optimize {
MOHO_FOR_SCALARS(MOHO_FOR_MEMORIES, MOHO_CLASS, extern template class, Cgls)
}  // namespace moho::optimize
#endif
/// \endcond
