# SPDX-License-Identifier: BSD-3-Clause
#
# Finds libsodium, which has no CMake package, and defines the target Sodium::sodium.

find_path(Sodium_INCLUDE_DIR sodium.h)
find_library(Sodium_LIBRARY sodium)
mark_as_advanced(Sodium_INCLUDE_DIR Sodium_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Sodium
  REQUIRED_VARS Sodium_LIBRARY Sodium_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install libsodium-dev (cmake/bootstrap.sh does it), or add libsodium's prefix to CMAKE_PREFIX_PATH")

if(Sodium_FOUND AND NOT TARGET Sodium::sodium)
  add_library(Sodium::sodium UNKNOWN IMPORTED)
  set_target_properties(
    Sodium::sodium PROPERTIES IMPORTED_LOCATION "${Sodium_LIBRARY}"
                              INTERFACE_INCLUDE_DIRECTORIES "${Sodium_INCLUDE_DIR}")
endif()
