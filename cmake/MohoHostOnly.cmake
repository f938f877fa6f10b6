# SPDX-License-Identifier: BSD-3-Clause
#
# With CUDA, nvcc takes three times as long for a source as the host's compiler, also where there is nothing for a
# device in it. moho's templates are keyed on memory: what is compiled for Kokkos::HostSpace is the same with
# and without CUDA. Sources that know no other memory are therefore compiled by the host's compiler, which
# nvcc_wrapper calls with --host-only, with Kokkos's own headers and a configuration of it without CUDA.
# What lists the spaces of the build is hidden from them (MOHO_HOST_ONLY): a source that asks for it does not compile.
#
# moho_host_only(TARGETS <targets>... | SOURCES <sources>...): compiles them so. Without CUDA, and with other
# compilers than nvcc_wrapper, it does nothing.

set(MOHO_HOST_KOKKOS "")
if(Kokkos_ENABLE_CUDA AND CMAKE_CXX_COMPILER MATCHES "nvcc_wrapper")
  find_path(
    moho_kokkos_headers KokkosCore_config.h NO_CACHE NO_DEFAULT_PATH
    PATHS "${Kokkos_DIR}/../../../include" "${Kokkos_DIR}/../../../../include"
    PATH_SUFFIXES "" kokkos)
  if(moho_kokkos_headers)
    set(MOHO_HOST_KOKKOS "${PROJECT_BINARY_DIR}/cmake/host_kokkos")
    file(GLOB files "${moho_kokkos_headers}/KokkosCore_[cC]onfig*")
    foreach(file IN LISTS files)
      get_filename_component(name "${file}" NAME)
      file(READ "${file}" text)
      string(REGEX REPLACE "#define KOKKOS_ENABLE_CUDA[^\n]*\n" "" text "${text}")
      string(REGEX REPLACE "#define KOKKOS_ARCH_(KEPLER|MAXWELL|PASCAL|VOLTA|TURING|AMPERE|ADA|HOPPER|BLACKWELL)[^\n]*\n"
                           "" text "${text}")
      string(REGEX REPLACE "#include <[a-z]*/Kokkos_[A-Za-z]*_(CUDA|Cuda).hpp>\n" "" text "${text}")
      file(CONFIGURE OUTPUT "${MOHO_HOST_KOKKOS}/${name}" CONTENT "${text}" @ONLY)
    endforeach()
  endif()
endif()

function(moho_host_only kind)
  if(NOT MOHO_HOST_KOKKOS)
    return()
  endif()
  foreach(name IN LISTS ARGN)
    if(kind STREQUAL "TARGETS")
      target_include_directories(${name} BEFORE PRIVATE "${MOHO_HOST_KOKKOS}")
      target_compile_options(${name} PRIVATE --host-only)
      target_compile_definitions(${name} PRIVATE MOHO_HOST_ONLY)
    else()
      set_source_files_properties(
        "${name}" PROPERTIES INCLUDE_DIRECTORIES "${MOHO_HOST_KOKKOS}" COMPILE_OPTIONS --host-only
                             COMPILE_DEFINITIONS MOHO_HOST_ONLY)
    endif()
  endforeach()
endfunction()
