# SPDX-License-Identifier: BSD-3-Clause
#
# Finds segyio's C library and defines the target Segyio::segyio.
#
# The CMake package of segyio 1.8 does not name a library file.

find_path(Segyio_INCLUDE_DIR segyio/segy.h)
find_library(Segyio_LIBRARY segyio)
mark_as_advanced(Segyio_INCLUDE_DIR Segyio_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Segyio
  REQUIRED_VARS Segyio_LIBRARY Segyio_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libsegyio-dev (cmake/bootstrap.sh does it), or add segyio's prefix to CMAKE_PREFIX_PATH")

if(Segyio_FOUND AND NOT TARGET Segyio::segyio)
  add_library(Segyio::segyio UNKNOWN IMPORTED)
  set_target_properties(
    Segyio::segyio PROPERTIES IMPORTED_LOCATION "${Segyio_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${Segyio_INCLUDE_DIR}")
endif()
