# SPDX-License-Identifier: BSD-3-Clause
#
# Configures, builds and runs the consumer in WORK, with moho used in the WAY "installed" or
# "subdirectory". COMPONENTS and PROGRAMS are the installed ones, separated by commas.

cmake_minimum_required(VERSION 3.25)

string(REPLACE "," ";" COMPONENTS "${COMPONENTS}")
string(REPLACE "," ";" PROGRAMS "${PROGRAMS}")

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT result EQUAL 0)
    string(REPLACE ";" " " command "${ARGN}")
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# Runs a program of the consumer and searches its output for a text.
function(expect program text)
  run("${WORK}/build/${program}")
  if(NOT output MATCHES "${text}")
    message(FATAL_ERROR "${program} printed something else than '${text}': ${output}")
  endif()
endfunction()

function(expect_files)
  foreach(file IN LISTS ARGN)
    if(NOT EXISTS "${WORK}/prefix/${file}")
      message(FATAL_ERROR "${file} was not installed")
    endif()
  endforeach()
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(options -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
            "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}")

if(WAY STREQUAL "subdirectory")
  list(APPEND options "-DMOHO_SOURCE=${MOHO_SOURCE}" "-DKokkos_DIR=${Kokkos_DIR}"
       "-DKokkosKernels_DIR=${KokkosKernels_DIR}" "-DMOHO_CUDA=${MOHO_CUDA}")
  run("${CMAKE}" -S "${SOURCE}/consumer" -B "${WORK}/build" ${options} "-DWAY=${WAY}")
  run("${CMAKE}" --build "${WORK}/build" --target headers_only)
  expect(headers_only "the sum is 4950")
  return()
endif()

# Only the installed tree, which records the path of Kokkos.
run("${CMAKE}" --install "${MOHO_BINARY}" --prefix "${WORK}/prefix")
list(APPEND options "-DCMAKE_PREFIX_PATH=${WORK}/prefix")

file(GLOB_RECURSE headers RELATIVE "${MOHO_SOURCE}/lib" "${MOHO_SOURCE}/lib/moho/*.hpp")
if(NOT "gravity_mpi" IN_LIST COMPONENTS)
  list(FILTER headers EXCLUDE REGEX "mpi")
endif()
if(NOT "rays_tomography" IN_LIST COMPONENTS)
  list(REMOVE_ITEM headers moho/rays/tomography.hpp)
endif()
list(TRANSFORM headers PREPEND include/)
expect_files(${headers})

file(GLOB_RECURSE exported "${WORK}/prefix/lib*/moho-*.cmake")
foreach(file IN LISTS exported)
  file(STRINGS "${file}" leaked REGEX "march=|-Wall|-Werror|fsanitize|fpch")
  if(leaked)
    message(FATAL_ERROR "${file} forces flags on users: ${leaked}")
  endif()
endforeach()

expect_files(share/doc/moho/README.md share/doc/moho/CHANGELOG.md share/doc/moho/CITATION.cff share/doc/moho/LICENSE)
file(GLOB_RECURSE pages RELATIVE "${MOHO_SOURCE}" "${MOHO_SOURCE}/docs/*.md" "${MOHO_SOURCE}/docs/*.png"
     "${MOHO_SOURCE}/docs/*.svg")
list(TRANSFORM pages PREPEND share/doc/moho/)
expect_files(${pages})

list(TRANSFORM PROGRAMS PREPEND bin/ OUTPUT_VARIABLE binaries)
expect_files(${binaries})
file(GLOB plots RELATIVE "${MOHO_SOURCE}/examples/plots" "${MOHO_SOURCE}/examples/plots/*.py")
list(TRANSFORM plots PREPEND share/moho/plots/)
file(GLOB drawing RELATIVE "${MOHO_SOURCE}/lib/python/moho/plot" "${MOHO_SOURCE}/lib/python/moho/plot/*.py")
list(TRANSFORM drawing PREPEND share/moho/plots/plot/)
if(PROGRAMS)
  expect_files(${plots} ${drawing})
endif()

# The installed programs draw with the installed drawing code.
if("trace_rays" IN_LIST PROGRAMS)
  run("${CMAKE}" -E env --unset=MOHO_PLOT_DIR "${WORK}/prefix/bin/trace_rays" --builtin salt --shape 41,21
      --spacing 50 --source 0,0 --out "${WORK}/drawn")
  if(NOT EXISTS "${WORK}/drawn/rays.png" AND NOT output MATCHES "has no (numpy|matplotlib)")
    message(FATAL_ERROR "the installed program draws no picture: ${output}")
  endif()
endif()

# Installed programs draw with the installed Python programs: a deliberately failing one is
# detected.
if("trace_rays" IN_LIST PROGRAMS)
  file(WRITE "${WORK}/prefix/share/moho/plots/plot_rays.py" "raise SystemExit('the installed one')\n")
  run("${CMAKE}" -E env --unset=MOHO_PLOT_DIR "${WORK}/prefix/bin/trace_rays" --builtin salt --shape 41,21
      --spacing 50 --source 0,0 --out "${WORK}/rays")
  if(NOT output MATCHES "the installed one")
    message(FATAL_ERROR "the installed program draws with another plot_rays.py: ${output}")
  endif()
endif()

string(REPLACE ";" "\\;" escaped "${COMPONENTS}")
run("${CMAKE}" -S "${SOURCE}/components" -B "${WORK}/components" ${options} "-DCOMPONENTS=${escaped}")

run("${CMAKE}" -S "${SOURCE}/consumer" -B "${WORK}/build" ${options} "-DWAY=${WAY}"
    "-DPAGES=${WORK}/prefix/share/doc/moho" "-DMOHO_VERSION=${MOHO_VERSION}")
run("${CMAKE}" --build "${WORK}/build")
expect(headers_only "the sum is 4950")
expect(with_kernels "a straight ray takes 0.5 s")
expect(with_kernels "a straight front takes 0.5 s")
expect(with_kernels "the first step has some nodes")
expect(with_kernels "a dense cube attracts")
# docs/cpp.md: from (500, 0) to (1500, 800) in v = 1500 + 0.8 z the exact time is 0.7054 s.
expect(traveltimes "0[.]70[0-9]+ s along a ray of [0-9]+ vertices, 0[.]705[0-9] s by the eikonal")
expect(gravity_of_a_cube "x  500 m: gz [0-9.]+ mGal")

# The shot of the README: 301 traces of float with nonzero samples.
run("${WORK}/build/model_a_shot")
file(SIZE "${WORK}/gather.npy" bytes)
file(STRINGS "${WORK}/gather.npy" header LIMIT_INPUT 128 REGEX "shape")
if(NOT header MATCHES "\\(301, ([0-9]+)\\)")
  message(FATAL_ERROR "gather.npy is no array of 301 traces: ${header}")
endif()
math(EXPR expected "301 * ${CMAKE_MATCH_1} * 4 + 128")
if(NOT bytes EQUAL expected)
  message(FATAL_ERROR "gather.npy has ${bytes} bytes, not ${expected}")
endif()
file(READ "${WORK}/gather.npy" values OFFSET 128 HEX)
if(values MATCHES "^0*$")
  message(FATAL_ERROR "gather.npy holds nothing but zeros")
endif()

# Linked kernels are not recompiled: the program's object file refers to them.
file(GLOB_RECURSE object "${WORK}/build/*with_kernels.cpp.o")
execute_process(COMMAND "${NM}" -C "${object}" OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
foreach(kernel "moho::rays::trace<" "moho::eikonal::detail::solve_all<" "moho::gravity::detail::forward_rows<"
        "moho::domain::LayersDomain<[^>]*>::LayersDomain")
  if(NOT output MATCHES " U [^\n]*${kernel}")
    message(FATAL_ERROR "the consumer does not refer to the compiled ${kernel}...>")
  elseif(output MATCHES " [TtWw] [^\n(]*${kernel}")
    message(FATAL_ERROR "the consumer has compiled ${kernel}...> again")
  endif()
endforeach()
