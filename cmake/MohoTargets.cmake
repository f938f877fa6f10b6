# SPDX-License-Identifier: BSD-3-Clause
#
# moho_own_target(<name> [PCH library|program|test|plain] [WAVE] [LIGHT|PLAIN])
#
# Sets the compiler options of moho's libraries, programs and tests. All of them are PRIVATE and do
# not affect users of the library.
#
# PCH precompiles common headers, one set for each of the four kinds (MOHO_PCH=OFF disables it).
# Sources still include all headers that they use, because other compilers have no such headers.
# With WAVE the set also contains moho's wave headers, for targets that link moho::wave_kernels.
#
# LIGHT is for sources without kernels: all of the kinds program and test, and parts of libraries,
# which then use the precompiled headers of programs. They are compiled with -O1 in a release build
# and -O0 in a debug build, in about half the time. PLAIN is for tests that only call libraries, of
# the kind plain. They are compiled with -O0, in about half the time of LIGHT.

function(moho_own_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WAVE;LIGHT;PLAIN" "PCH" "")
  if(arg_PCH AND MOHO_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT Kokkos_ENABLE_CUDA)
    set(pch "${arg_PCH}")
    if(arg_WAVE)
      string(APPEND pch _wave)
    elseif(arg_PCH MATCHES "^(test|plain)$" AND NOT MOHO_SINGLE_WAVES)
      string(APPEND pch _wave) # a single set for all tests compiles faster than two
      target_compile_definitions(${name} PRIVATE MOHO_WAVE_KERNELS) # as in these headers
    endif()
    moho_pch_target(${pch})
    target_precompile_headers(${name} REUSE_FROM moho_pch_${pch})
    target_compile_options(${name} PRIVATE -fpch-preprocess) # required by ccache
    if(arg_PCH MATCHES "^(program|library)$")
      # position-independent, because libraries and their parts share these headers with programs
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
  endif()
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow)
  if(NOT Kokkos_ENABLE_CUDA)
    # nvcc passes sources to the host compiler that violate -Wpedantic.
    target_compile_options(${name} PRIVATE -Wpedantic)
  endif()
  if(arg_LIGHT)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
  elseif(arg_PLAIN)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release,Debug>:-O0>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC collects garbage from 128 MB on, which the headers alone need. A limit of 1 GB is faster.
    set(heap "--param=ggc-min-heapsize=1048576")
    if(Kokkos_ENABLE_CUDA AND CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
      set(heap "SHELL:-Xcompiler ${heap}")
    endif()
    target_compile_options(${name} PRIVATE "${heap}")
  endif()
  if(MOHO_WARNINGS_AS_ERRORS)
    target_compile_options(${name} PRIVATE -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # These warnings of GCC's optimiser depend on the target processor, and some concern
      # std::string (GCC bug 105651). They are shown, but are not errors.
      target_compile_options(
        ${name} PRIVATE -Wno-error=restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                        -Wno-error=stringop-overflow -Wno-error=stringop-overread)
    endif()
  endif()
  if(MOHO_NATIVE)
    if(Kokkos_ENABLE_CUDA)
      target_compile_options(${name} PRIVATE "SHELL:-Xcompiler -march=native")
    else()
      target_compile_options(${name} PRIVATE -march=native)
    endif()
  endif()
  if(MOHO_BOUNDS_CHECK)
    # The checks are in Kokkos's headers, so that any installed Kokkos provides them.
    if(NOT Kokkos_ENABLE_DEBUG_BOUNDS_CHECK)
      target_compile_definitions(${name} PRIVATE KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
    endif()
    target_compile_definitions(${name} PRIVATE _GLIBCXX_ASSERTIONS MOHO_BOUNDS_CHECK)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT Kokkos_ENABLE_CUDA)
      # Kokkos forces the checked access to a view inline at each use. Without that GCC compiles
      # kernels with sanitizers in less time.
      target_compile_definitions(${name} PRIVATE KOKKOS_IMPL_FORCEINLINE_FUNCTION=inline)
    endif()
  endif()
endfunction()

# moho_join(<target> <count>): with MOHO_JOIN compiles `count` sources as one (0: all of them).
#
# Headers and their instantiations take longer than most sources. Names at namespace scope must
# therefore be unique within a target, also those in anonymous namespaces.
function(moho_join target count)
  if(MOHO_JOIN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# Defines the target whose precompiled headers all targets of a kind share.
#
# GCC uses them for sources with the same machine and optimisation options, and warns if these
# differ.
function(moho_pch_target pch)
  set(target moho_pch_${pch})
  string(REPLACE "_wave" "" kind "${pch}")
  if(TARGET ${target})
    return()
  endif()
  set(source "${PROJECT_BINARY_DIR}/cmake/${target}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Only its precompiled headers are of use.\n" @ONLY)
  add_library(${target} OBJECT EXCLUDE_FROM_ALL "${source}")
  set(level_library "")
  set(level_program LIGHT)
  set(level_test LIGHT)
  set(level_plain PLAIN)
  moho_own_target(${target} ${level_${kind}})
  # Not with ccache: it preprocesses with existing precompiled headers, and could return a cached
  # result of other headers.
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_link_libraries(${target} PRIVATE Kokkos::kokkos)
  set(headers <Kokkos_Core.hpp> <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <random>
              <string> <vector>)
  if(kind STREQUAL "library")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  elseif(kind STREQUAL "program")
    target_compile_options(${target} PRIVATE -fPIC)
  else()
    target_link_libraries(${target} PRIVATE GTest::gmock GTest::gtest)
    list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  if(NOT pch STREQUAL kind)
    # as moho::wave_kernels does for its users: these headers declare its templates extern
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/lib")
    target_compile_definitions(${target} PRIVATE MOHO_WAVE_KERNELS)
    if(MOHO_SINGLE_WAVES)
      target_compile_definitions(${target} PRIVATE MOHO_SINGLE_KERNELS)
    endif()
    list(APPEND headers <moho/wave/wave.hpp>)
  endif()
  target_precompile_headers(${target} PRIVATE ${headers})
  target_compile_options(${target} PRIVATE -fpch-preprocess)
endfunction()

# Headers are compiled alone to check that they are self-contained.
#
# tests/layout/verify_headers.py does this with the options of the compilation database. Without a
# database, or with nvcc, CMake's target all_verify_interface_header_sets does it in about ten times
# the time. Neither is part of another target; .ci/run builds verify_headers.
set(MOHO_CHAINED_HEADERS OFF)
if(CMAKE_GENERATOR MATCHES "^Ninja$|Makefiles" AND NOT Kokkos_ENABLE_CUDA)
  set(MOHO_CHAINED_HEADERS ON)
endif()
function(moho_verify_headers target)
  if(PROJECT_IS_TOP_LEVEL AND NOT MOHO_CHAINED_HEADERS)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
endfunction()
