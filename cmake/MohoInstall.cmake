# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the headers, the library moho::io and the package that find_package(moho) reads.

include(CMakePackageConfigHelpers)

set(moho_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/moho")

install(
  TARGETS ${MOHO_LIBRARIES}
  EXPORT moho-targets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(
  EXPORT moho-targets
  NAMESPACE moho::
  DESTINATION "${moho_package_dir}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/moho-config.cmake.in" "${PROJECT_BINARY_DIR}/moho-config.cmake"
  INSTALL_DESTINATION "${moho_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/moho-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/moho-config.cmake" "${PROJECT_BINARY_DIR}/moho-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindSegyio.cmake"
  DESTINATION "${moho_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
