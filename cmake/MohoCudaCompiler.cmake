# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_CUDA=ON (preset cuda) requests a build with a CUDA-enabled Kokkos.
#
# The headers of such a Kokkos need a CUDA compiler. Unless the user has chosen a compiler, the
# nvcc_wrapper of the Kokkos installation is used. The environment variable CXX counts as a choice
# only if it names a CUDA compiler (nvcc_wrapper, clang), because many systems set CXX=g++.

option(MOHO_CUDA "Require a CUDA-enabled Kokkos, and compile with its nvcc_wrapper unless a compiler is given"
       OFF)

if(MOHO_CUDA AND NOT CMAKE_CXX_COMPILER AND NOT "$ENV{CXX}" MATCHES "nvcc|clang")
  find_program(
    MOHO_NVCC_WRAPPER nvcc_wrapper
    HINTS "${Kokkos_ROOT}" ENV Kokkos_ROOT "${Kokkos_DIR}/../../.."
    PATH_SUFFIXES bin
    DOC "compiler wrapper of a CUDA-enabled Kokkos")
  if(NOT MOHO_NVCC_WRAPPER)
    message(
      FATAL_ERROR
        "moho: MOHO_CUDA is ON, but there is no nvcc_wrapper (looked into Kokkos_ROOT, CMAKE_PREFIX_PATH "
        "and PATH): set Kokkos_ROOT to the prefix of a Kokkos installed with Kokkos_ENABLE_CUDA=ON, or "
        "name a compiler for CUDA with -DCMAKE_CXX_COMPILER=...")
  endif()
  find_program(MOHO_NVCC nvcc HINTS ENV CUDA_ROOT PATH_SUFFIXES bin DOC "CUDA compiler")
  if(NOT MOHO_NVCC)
    message(
      FATAL_ERROR
        "moho: nvcc_wrapper (${MOHO_NVCC_WRAPPER}) calls nvcc, which is not in PATH: add the bin folder of "
        "the CUDA toolkit to PATH, or set CUDA_ROOT to the toolkit's folder")
  endif()
  if(NOT "$ENV{CXX}" STREQUAL "")
    message(STATUS "CXX=$ENV{CXX} in the environment does not compile CUDA: taking ${MOHO_NVCC_WRAPPER} "
                   "(another host compiler for it: NVCC_WRAPPER_DEFAULT_COMPILER; another compiler for "
                   "CUDA: -DCMAKE_CXX_COMPILER=...)")
  endif()
  set(CMAKE_CXX_COMPILER "${MOHO_NVCC_WRAPPER}" CACHE FILEPATH "C++ compiler")
endif()
