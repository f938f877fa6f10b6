// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// \file
/// \brief The type lists over which tests are repeated: every enabled space, and every space with
/// float and double.

#include <moho/core/kokkos.hpp>
#include <moho/core/space.hpp>

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace moho::testing {

/// An execution space: its memory, and an instance of it.
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

/// Every enabled execution space, for TYPED_TEST_SUITE(Suite, TestSpaces, SpaceName).
///
/// TypeParam::exec() is an instance and TypeParam::Memory its memory. Write the body of a test as a
/// function template over the memory, so that it is compiled once for Serial and OpenMP.
using TestSpaces = detail::to_types<EnabledSpaces>::spaces;

/// Every enabled execution space with float and with double, for
/// TYPED_TEST_SUITE(Suite, TestCases, CaseName); TypeParam::Scalar is the scalar. Serial and OpenMP
/// share compiled kernels; with sanitizers, under which tests take ten times as long, each
/// precision runs in one space and each space in one precision, or single precision alone where the
/// kernels are compiled for no other.
#ifdef MOHO_BOUNDS_CHECK
using TestCases = detail::FewCases;
#else
using TestCases = detail::to_types<EnabledSpaces>::cases;
#endif

/// The cases of tests that take long: on hosts each precision in one space and each space in one
/// precision, as both share compiled kernels, on devices both precisions; with sanitizers the
/// default space and single precision only.
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

/// Names typed tests after their space and scalar, "openmp_float".
struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return std::string(SpaceTraits<typename C::Exec>::name) +
           (std::is_same_v<typename C::Scalar, float> ? "_float" : "_double");
  }
};

}  // namespace moho::testing

using moho::Instance;  // tests are written in their own namespace

/// \def MEMORY_TEST
/// A typed test whose body is a function template of the scalar T and the memory Memory, with the
/// argument `exec`, an Instance<Memory>: it is compiled once for all spaces of a memory, and may
/// contain lambdas that nvcc would not accept in a test body.
#define MEMORY_TEST(suite, name)                                                               \
  template <class T, class Memory>                                                             \
  void suite##_##name(const ::moho::Instance<Memory>& exec);                                   \
  TYPED_TEST(suite, name) {                                                                    \
    suite##_##name<typename TypeParam::Scalar, typename TypeParam::Memory>(TypeParam::exec()); \
  }                                                                                            \
  template <class T, class Memory>                                                             \
  void suite##_##name([[maybe_unused]] const ::moho::Instance<Memory>& exec)
