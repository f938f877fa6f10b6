# SPDX-License-Identifier: BSD-3-Clause
#
# Finds Kokkos and Kokkos Kernels. What the user names (Kokkos_ROOT, Kokkos_DIR, CMAKE_PREFIX_PATH, as
# variables or in the environment) comes first, then what cmake/bootstrap.sh built, then the system.

set(moho_deps "${PROJECT_SOURCE_DIR}/.deps/install")

macro(moho_find_kokkos_package package)
  if(NOT TARGET ${ARGV1})
    find_package(${package} CONFIG QUIET NO_CMAKE_SYSTEM_PATH NO_CMAKE_PACKAGE_REGISTRY)
    if(NOT ${package}_FOUND)
      find_package(${package} CONFIG QUIET PATHS "${moho_deps}" NO_DEFAULT_PATH)
    endif()
    if(NOT ${package}_FOUND)
      find_package(${package} CONFIG QUIET)
    endif()
  endif()
  if(NOT TARGET ${ARGV1})
    message(
      FATAL_ERROR
        "moho: ${package} was not found (looked into Kokkos_ROOT, KokkosKernels_ROOT, CMAKE_PREFIX_PATH and "
        "${moho_deps}): run cmake/bootstrap.sh, which builds it, or set CMAKE_PREFIX_PATH to the prefix "
        "where it is installed")
  endif()
endmacro()

moho_find_kokkos_package(Kokkos Kokkos::kokkos)
# Kokkos Kernels mostly lies in the same prefix.
if(Kokkos_DIR)
  get_filename_component(moho_kokkos_prefix "${Kokkos_DIR}/../../.." ABSOLUTE)
  list(APPEND CMAKE_PREFIX_PATH "${moho_kokkos_prefix}")
endif()
moho_find_kokkos_package(KokkosKernels Kokkos::kokkoskernels)
message(STATUS "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR}: ${Kokkos_DEVICES}")
