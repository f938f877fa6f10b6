# SPDX-License-Identifier: BSD-3-Clause
#
# Installs headers, libraries, the CMake package, programs, plot scripts and documentation.
#
# Every target has a separate export, so that the package can define one target without the
# dependencies of others.

include(CMakePackageConfigHelpers)

set(moho_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/moho")

get_property(moho_components GLOBAL PROPERTY MOHO_COMPONENTS)
get_property(moho_modules GLOBAL PROPERTY MOHO_MODULES)
set(moho_component_table "set(moho_modules \"${moho_modules}\")\n")
foreach(component IN LISTS moho_components)
  get_property(needs GLOBAL PROPERTY MOHO_NEEDS_${component})
  get_property(packages GLOBAL PROPERTY MOHO_PACKAGES_${component})
  string(APPEND moho_component_table "set(moho_needs_${component} \"${needs}\")\n"
         "set(moho_packages_${component} \"${packages}\")\n")
  install(
    TARGETS moho_${component}
    EXPORT moho-${component}-targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
  install(
    EXPORT moho-${component}-targets
    NAMESPACE moho::
    DESTINATION "${moho_package_dir}")
endforeach()
string(REPLACE ";" " " moho_components_text "${moho_components}")

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/moho-config.cmake.in" "${PROJECT_BINARY_DIR}/moho-config.cmake"
  INSTALL_DESTINATION "${moho_package_dir}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/moho-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/moho-config.cmake" "${PROJECT_BINARY_DIR}/moho-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/FindSegyio.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindSodium.cmake"
  DESTINATION "${moho_package_dir}")

# examples/CMakeLists.txt lists its programs and the Python programs that they call.
get_property(moho_programs GLOBAL PROPERTY MOHO_PROGRAMS)
if(moho_programs)
  install(TARGETS ${moho_programs} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
get_property(moho_plots GLOBAL PROPERTY MOHO_PLOTS)
if(moho_plots)
  get_property(moho_plot_package GLOBAL PROPERTY MOHO_PLOT_PACKAGE)
  install(FILES ${moho_plots} DESTINATION "${CMAKE_INSTALL_DATADIR}/moho/plots")
  install(FILES ${moho_plot_package} DESTINATION "${CMAKE_INSTALL_DATADIR}/moho/plots/plot")
endif()

# The pages and all files that they link to.
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
              "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/CITATION.cff" "${PROJECT_SOURCE_DIR}/LICENSE"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/docs"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  PATTERN "CMakeLists.txt" EXCLUDE
  PATTERN "Doxyfile.in" EXCLUDE
  PATTERN "words.txt" EXCLUDE
  PATTERN "*.py" EXCLUDE)
