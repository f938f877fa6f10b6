// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief Type lists of repeated tests: every enabled space, and every space with float and double.

#include <moho/core/kokkos.hpp>
#include <moho/core/space.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace moho::testing {

/// An execution space, with its memory and an instance.
template <class ExecType>
struct Space {
  using Exec = ExecType;
  using Memory = MemoryOf<ExecType>;
  using Scalar = float;  ///< for tests with a single scalar type
  static Instance<Memory> exec() { return ExecType(); }
};

/// An execution space and a scalar type.
template <class ExecType, class ScalarType>
struct Case : Space<ExecType> {
  using Scalar = ScalarType;
};

namespace detail {
template <class List>
struct to_types;
template <class... Spaces>
struct to_types<SpaceList<Spaces...>> {
  using spaces = ::testing::Types<Space<Spaces>...>;
  using cases = ::testing::Types<Case<Spaces, float>..., Case<Spaces, double>...>;
};
#if defined(MOHO_SINGLE_KERNELS)
using FewCases = ::testing::Types<Case<Kokkos::DefaultHostExecutionSpace, float>>;
#elif defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
using FewCases = ::testing::Types<Case<Kokkos::OpenMP, float>, Case<Kokkos::Serial, double>>;
#else
using FewCases = ::testing::Types<Case<Kokkos::DefaultHostExecutionSpace, float>,
                                  Case<Kokkos::DefaultHostExecutionSpace, double>>;
#endif
}  // namespace detail

/// All enabled execution spaces, for TYPED_TEST_SUITE(Suite, TestSpaces, SpaceName).
///
/// TypeParam::exec() is an instance and TypeParam::Memory its memory. Write the body of a test as a
/// function template on the memory, so that it is compiled once for Serial and OpenMP.
using TestSpaces = detail::to_types<EnabledSpaces>::spaces;

/// All enabled execution spaces with float and double.
///
/// Use them as TYPED_TEST_SUITE(Suite, TestCases, CaseName); TypeParam::Scalar is the scalar.
/// Serial and OpenMP share compiled kernels. Sanitizers make tests about ten times slower: each
/// precision then runs in one space and each space in one precision. If kernels are compiled in
/// single precision only, tests run in single precision.
#ifdef MOHO_BOUNDS_CHECK
using TestCases = detail::FewCases;
#else
using TestCases = detail::to_types<EnabledSpaces>::cases;
#endif

/// Cases of long tests, a subset of TestCases.
///
/// On hosts each precision runs in one space and each space in one precision, because the spaces
/// share compiled kernels. Devices run both precisions. With sanitizers only the default space and
/// single precision remain.
#ifdef MOHO_BOUNDS_CHECK
using LongTestCases = ::testing::Types<Case<Kokkos::DefaultHostExecutionSpace, float>>;
#elif defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP) && defined(KOKKOS_ENABLE_CUDA)
using LongTestCases = ::testing::Types<Case<Kokkos::OpenMP, float>, Case<Kokkos::Serial, double>,
                                       Case<Kokkos::Cuda, float>, Case<Kokkos::Cuda, double>>;
#elif defined(KOKKOS_ENABLE_SERIAL) && defined(KOKKOS_ENABLE_OPENMP)
using LongTestCases = detail::FewCases;
#else
using LongTestCases = TestCases;
#endif

/// Names typed tests after their space.
struct SpaceName {
  template <class S>
  static std::string GetName(int) {
    return SpaceTraits<typename S::Exec>::name;
  }
};

/// Names typed tests after their space and scalar: "openmp_float".
struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return std::string(SpaceTraits<typename C::Exec>::name) +
           (std::is_same_v<typename C::Scalar, float> ? "_float" : "_double");
  }
};

}  // namespace moho::testing

using moho::Instance;  // tests are written in other namespaces

/// \def MEMORY_TEST A typed test whose body is a function template on the scalar T and the memory
/// Memory.
///
/// Its argument `exec` is an Instance<Memory>. The body is compiled once for all spaces of a
/// memory, and may contain lambdas that nvcc would not accept in a test body.
#define MEMORY_TEST(suite, name)                                                               \
  template <class T, class Memory>                                                             \
  void suite##_##name(const ::moho::Instance<Memory>& exec);                                   \
  TYPED_TEST(suite, name) {                                                                    \
    suite##_##name<typename TypeParam::Scalar, typename TypeParam::Memory>(TypeParam::exec()); \
  }                                                                                            \
  template <class T, class Memory>                                                             \
  void suite##_##name([[maybe_unused]] const ::moho::Instance<Memory>& exec)
