# SPDX-License-Identifier: BSD-3-Clause
#
# Configures, builds and runs the consumer in WORK, with moho used in the WAY "installed" or
# "subdirectory".

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(options -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
            "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DWAY=${WAY}" "-DMOHO_WITH_MPI=${MOHO_WITH_MPI}")

if(WAY STREQUAL "installed")
  # Nothing but the installed tree and the record in it of where Kokkos is.
  run("${CMAKE}" --install "${MOHO_BINARY}" --prefix "${WORK}/prefix")
  list(APPEND options "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
  file(GLOB_RECURSE headers RELATIVE "${MOHO_SOURCE}/lib" "${MOHO_SOURCE}/lib/moho/*.hpp")
  if(NOT MOHO_WITH_MPI)
    list(REMOVE_ITEM headers moho/gravity/mpi.hpp)
  endif()
  foreach(header IN LISTS headers)
    if(NOT EXISTS "${WORK}/prefix/include/${header}")
      message(FATAL_ERROR "${header} was not installed")
    endif()
  endforeach()
  file(GLOB_RECURSE exported "${WORK}/prefix/lib*/moho-*.cmake")
  foreach(file IN LISTS exported)
    file(STRINGS "${file}" leaked REGEX "march=|-Wall|-Werror|fsanitize")
    if(leaked)
      message(FATAL_ERROR "${file} forces flags on users: ${leaked}")
    endif()
  endforeach()
else()
  list(APPEND options "-DMOHO_SOURCE=${MOHO_SOURCE}" "-DKokkos_DIR=${Kokkos_DIR}"
       "-DKokkosKernels_DIR=${KokkosKernels_DIR}" "-DMOHO_CUDA=${MOHO_CUDA}")
endif()

run("${CMAKE}" -S "${CONSUMER}" -B "${WORK}/build" ${options})
run("${CMAKE}" --build "${WORK}/build" --target consumer)
run("${WORK}/build/consumer")
if(NOT output MATCHES "a straight ray takes 0.5 s")
  message(FATAL_ERROR "the consumer printed something else: ${output}")
endif()
