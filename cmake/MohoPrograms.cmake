# SPDX-License-Identifier: BSD-3-Clause
#
# The memory spaces of this build, and sources generated for each of them.
#
# MOHO_MEMORIES: HostSpace, and CudaSpace if Kokkos has CUDA.
# MOHO_SCALARS, MOHO_DIMENSIONS: scalars and dimensions of the compiled kernels.

set(MOHO_MEMORIES HostSpace)
if(Kokkos_ENABLE_CUDA)
  list(APPEND MOHO_MEMORIES CudaSpace)
endif()
set(MOHO_SCALARS float double)
set(MOHO_DIMENSIONS 3 2)

# moho_instantiate(<target> HEADER <header> MACRO <macro> [NAMESPACE <namespace>] [SPLIT [scalar] [dim]])
#
# Adds a source for each memory of this build to the target. The source includes <header> and
# expands MACRO(Kokkos::HostSpace); or MACRO(Kokkos::CudaSpace); in the namespace. The header
# defines the templates, and the macro as their explicit instantiations.
#
# SPLIT divides a source that compiles slowly:
#
#   SPLIT scalar      one for float and one for double: MACRO(float, Kokkos::HostSpace);
#   SPLIT dim         one for 3 and one for 2 dimensions: MACRO(3, Kokkos::HostSpace);
#   SPLIT scalar dim  one for each of the four combinations: MACRO(float, 3, Kokkos::HostSpace);
function(moho_instantiate target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;MACRO;NAMESPACE" "SPLIT")
  foreach(required HEADER MACRO)
    if(NOT arg_${required})
      message(FATAL_ERROR "moho_instantiate(${target}): ${required} is missing")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "moho_instantiate(${target}): unknown words ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(splits ${MOHO_MEMORIES})
  foreach(word dim scalar) # the last one becomes the first argument
    if(word IN_LIST arg_SPLIT)
      set(values "${MOHO_DIMENSIONS}")
      if(word STREQUAL "scalar")
        set(values "${MOHO_SCALARS}")
      endif()
      set(longer "")
      foreach(rest IN LISTS splits)
        foreach(value IN LISTS values)
          list(APPEND longer "${value}:${rest}")
        endforeach()
      endforeach()
      set(splits "${longer}")
    endif()
  endforeach()
  string(TOLOWER "${arg_MACRO}" stem)
  string(REGEX REPLACE "^moho_" "" stem "${stem}")
  foreach(split IN LISTS splits)
    string(REPLACE ":" "_" name "${split}")
    string(TOLOWER "${name}" name)
    string(REGEX MATCH "[A-Za-z]+$" memory "${split}")
    string(REGEX REPLACE "[A-Za-z]+$" "" arguments "${split}")
    string(REPLACE ":" ", " arguments "${arguments}")
    string(APPEND arguments "Kokkos::${memory}")
    set(open "")
    set(close "")
    if(arg_NAMESPACE)
      set(open "namespace ${arg_NAMESPACE} {\n")
      set(close "}  // namespace ${arg_NAMESPACE}\n")
    endif()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/instances/${target}/${stem}_${name}.cpp")
    file(
      CONFIGURE
      OUTPUT "${source}"
      CONTENT "// Made by moho_instantiate().\n#include <${arg_HEADER}>\n\n${open}${arg_MACRO}(${arguments});\n${close}"
      @ONLY)
    target_sources(${target} PRIVATE "${source}")
  endforeach()
endfunction()
