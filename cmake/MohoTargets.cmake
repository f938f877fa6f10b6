# SPDX-License-Identifier: BSD-3-Clause
#
# moho_own_target(<name> [PCH library|program|test|plain] [WAVE] [LIGHT|PLAIN]): the compiler options of moho's own libraries,
# programs and tests. All are PRIVATE: nothing here reaches the users of the library.
#
# With PCH the target's sources begin with headers compiled before, one set for each of the four kinds
# (MOHO_PCH=OFF: without). Sources include all that they use all the same: other compilers go without.
# With WAVE these are moho's headers of waves, too, for targets that link moho::wave_kernels.
#
# LIGHT is for sources without kernels, such as all of the kinds program and test, and parts of libraries, which
# then take the headers of programs: they are optimised less in a release, not at all in a debug build, and
# compile in half of the time. PLAIN is for tests that only call libraries: of the kind plain, they are not optimised at all, and
# take half of the time of LIGHT again.

function(moho_own_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WAVE;LIGHT;PLAIN" "PCH" "")
  if(arg_PCH AND MOHO_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT Kokkos_ENABLE_CUDA)
    set(pch "${arg_PCH}")
    if(arg_WAVE)
      string(APPEND pch _wave)
    elseif(arg_PCH MATCHES "^(test|plain)$" AND NOT MOHO_SINGLE_WAVES)
      string(APPEND pch _wave) # one set of them for all tests is made in less time than two
      target_compile_definitions(${name} PRIVATE MOHO_WAVE_KERNELS) # as they are
    endif()
    moho_pch_target(${pch})
    target_precompile_headers(${name} REUSE_FROM moho_pch_${pch})
    target_compile_options(${name} PRIVATE -fpch-preprocess) # ccache wants it
    if(arg_PCH MATCHES "^(program|library)$")
      # libraries and their parts, which have to be position-independent, share these headers with programs
      target_compile_options(${name} PRIVATE -fPIC)
    endif()
  endif()
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow)
  if(NOT Kokkos_ENABLE_CUDA)
    # nvcc hands the host compiler sources that are not pedantic.
    target_compile_options(${name} PRIVATE -Wpedantic)
  endif()
  if(arg_LIGHT)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Debug>:-O0>)
  elseif(arg_PLAIN)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release,Debug>:-O0>)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC collects its garbage from 128 MB on, which the headers alone take: a gigabyte saves it a tenth of its time
    set(heap "--param=ggc-min-heapsize=1048576")
    if(Kokkos_ENABLE_CUDA AND CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
      set(heap "SHELL:-Xcompiler ${heap}")
    endif()
    target_compile_options(${name} PRIVATE "${heap}")
  endif()
  if(MOHO_WARNINGS_AS_ERRORS)
    target_compile_options(${name} PRIVATE -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # These come out of GCC's optimiser, depend on the processor that is compiled for, and are at
      # times about the standard library's own strings (GCC's bug 105651): shown, but no errors.
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
    # All of the checking is in Kokkos's headers, so that it can be had with any installed Kokkos.
    if(NOT Kokkos_ENABLE_DEBUG_BOUNDS_CHECK)
      target_compile_definitions(${name} PRIVATE KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
    endif()
    target_compile_definitions(${name} PRIVATE _GLIBCXX_ASSERTIONS MOHO_BOUNDS_CHECK)
  endif()
endfunction()

# moho_join(<target> <sources>): with MOHO_JOIN the sources of a target are compiled so many at a time, as one (0: all),
# since headers and what they instantiate take longer than most sources. Names at namespace scope are unique within a
# target for that reason, those in anonymous namespaces, too.
function(moho_join target count)
  if(MOHO_JOIN)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${count})
  endif()
endfunction()

# The target whose precompiled headers those of a kind share. GCC takes them for all sources that have the
# same machine and optimisation options; it warns where they do not fit.
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
  # not through ccache: it preprocesses the headers with those that lie there precompiled from before, and takes what it
  # once made beside the same ones, also of other headers
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
    # what moho::wave_kernels defines for its users: these headers declare its templates extern
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

# Headers are compiled alone by tests/layout/verify_headers.py, which takes compiler and options from the
# database of commands; or, where CMake writes none or the compiler is nvcc, by CMake's own target
# all_verify_interface_header_sets, which takes ten times as long. Neither is part of any other target; .ci/run
# builds verify_headers.
set(MOHO_CHAINED_HEADERS OFF)
if(CMAKE_GENERATOR MATCHES "^Ninja$|Makefiles" AND NOT Kokkos_ENABLE_CUDA)
  set(MOHO_CHAINED_HEADERS ON)
endif()
function(moho_verify_headers target)
  if(PROJECT_IS_TOP_LEVEL AND NOT MOHO_CHAINED_HEADERS)
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  endif()
endfunction()
