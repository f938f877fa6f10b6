# SPDX-License-Identifier: BSD-3-Clause
#
# Finds Kokkos, and Kokkos Kernels if available (needed by moho::rays_tomography only).
#
# The locations are searched in this order:
#
# 1. the user's choice: Kokkos_DIR, or the prefixes in Kokkos_ROOT and CMAKE_PREFIX_PATH (variables,
#    then environment). With MOHO_CUDA only a Kokkos with CUDA is accepted, otherwise only one without
#    CUDA, so that one list of prefixes serves all presets. One with OpenMP is preferred;
# 2. the installation of cmake/bootstrap.sh in .deps;
# 3. the result of find_package().
#
# The text of KokkosConfigCommon.cmake is inspected, because find_package() cannot be reverted.

if(NOT DEFINED MOHO_DEPS_PREFIX)
  set(MOHO_DEPS_PREFIX "${PROJECT_SOURCE_DIR}/.deps/install")
endif()

# Sets `result` to the folder of the first matching KokkosConfig.cmake below the prefixes.
function(moho_pick_kokkos result want_cuda want_openmp)
  set(${result} "" PARENT_SCOPE)
  foreach(prefix IN LISTS ARGN)
    file(GLOB configs "${prefix}/KokkosConfigCommon.cmake" "${prefix}/lib*/cmake/Kokkos/KokkosConfigCommon.cmake"
         "${prefix}/lib/*/cmake/Kokkos/KokkosConfigCommon.cmake")
    foreach(config IN LISTS configs)
      file(STRINGS "${config}" line REGEX "Kokkos_DEVICES +[A-Z]" LIMIT_COUNT 1)
      string(REGEX MATCH "CUDA" cuda "${line}")
      string(REGEX MATCH "OPENMP(;|\\))" openmp "${line}")
      if(want_openmp AND NOT openmp)
        continue()
      endif()
      if((want_cuda AND cuda) OR (NOT want_cuda AND NOT cuda))
        get_filename_component(folder "${config}" DIRECTORY)
        set(${result} "${folder}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

set(moho_want_cuda OFF)
if(MOHO_CUDA OR CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
  set(moho_want_cuda ON)
endif()

if(NOT TARGET Kokkos::kokkos AND NOT Kokkos_DIR)
  string(REPLACE ":" ";" moho_prefixes "$ENV{CMAKE_PREFIX_PATH}")
  set(moho_prefixes ${Kokkos_ROOT} $ENV{Kokkos_ROOT} ${CMAKE_PREFIX_PATH} ${moho_prefixes})
  if(NOT "$ENV{Kokkos_DIR}" STREQUAL "")
    list(PREPEND moho_prefixes "$ENV{Kokkos_DIR}")
  endif()
  moho_pick_kokkos(moho_kokkos_dir ${moho_want_cuda} ON ${moho_prefixes})
  if(NOT moho_kokkos_dir)
    moho_pick_kokkos(moho_kokkos_dir ${moho_want_cuda} OFF ${moho_prefixes})
  endif()
  if(NOT moho_kokkos_dir)
    moho_pick_kokkos(moho_kokkos_dir ${moho_want_cuda} OFF "${MOHO_DEPS_PREFIX}")
  endif()
  if(moho_kokkos_dir)
    set(Kokkos_DIR "${moho_kokkos_dir}" CACHE PATH "folder of KokkosConfig.cmake" FORCE)
  endif()
endif()

if(NOT TARGET Kokkos::kokkos)
  find_package(Kokkos CONFIG QUIET)
endif()
if(NOT TARGET Kokkos::kokkoskernels AND Kokkos_DIR)
  # Kokkos Kernels is built for one Kokkos and usually has the same prefix.
  get_filename_component(moho_kernels_dir "${Kokkos_DIR}/../KokkosKernels" ABSOLUTE)
  find_package(KokkosKernels CONFIG QUIET PATHS "${moho_kernels_dir}" NO_DEFAULT_PATH)
endif()
if(NOT TARGET Kokkos::kokkoskernels)
  find_package(KokkosKernels CONFIG QUIET)
endif()

if(NOT TARGET Kokkos::kokkos)
  if(MOHO_PROBE)
    return()
  endif()
  message(
    FATAL_ERROR
      "moho: Kokkos was not found (looked into Kokkos_DIR, Kokkos_ROOT, CMAKE_PREFIX_PATH, "
      "${MOHO_DEPS_PREFIX} and the system): run cmake/bootstrap.sh, which builds it for the host, or set "
      "CMAKE_PREFIX_PATH to the prefix where it is installed")
endif()
message(STATUS "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR}: ${Kokkos_DEVICES}")
