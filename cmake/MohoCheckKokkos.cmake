# SPDX-License-Identifier: BSD-3-Clause
#
# Checks the requirements on the Kokkos found, and stops with the remedy if one is violated.

if(Kokkos_VERSION AND Kokkos_VERSION VERSION_LESS 3.4)
  message(FATAL_ERROR "moho: Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old (allowed: 3.4 or newer): "
                      "install a newer one, or run cmake/bootstrap.sh without Kokkos_ROOT to build one")
endif()

if(NOT Kokkos_ENABLE_SERIAL AND NOT Kokkos_ENABLE_OPENMP)
  message(FATAL_ERROR "moho: Kokkos in ${Kokkos_DIR} has the spaces '${Kokkos_DEVICES}' (needed: Serial, "
                      "OpenMP or both beside any device): configure Kokkos with "
                      "-DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON")
endif()

if(NOT Kokkos_ENABLE_OPENMP)
  message(STATUS "moho: Kokkos in ${Kokkos_DIR} has no OpenMP, host kernels run on one thread: configure "
                 "Kokkos with -DKokkos_ENABLE_OPENMP=ON to use all cores")
endif()

if(MOHO_CUDA AND NOT Kokkos_ENABLE_CUDA)
  message(FATAL_ERROR "moho: MOHO_CUDA is ON, but Kokkos in ${Kokkos_DIR} has the spaces "
                      "'${Kokkos_DEVICES}': set Kokkos_ROOT to the prefix of a Kokkos configured with "
                      "-DKokkos_ENABLE_CUDA=ON, or use the preset host")
endif()

if(Kokkos_ENABLE_CUDA)
  if(NOT Kokkos_ENABLE_CUDA_LAMBDA AND Kokkos_VERSION VERSION_LESS 4.1)
    message(FATAL_ERROR "moho: Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} was built without lambdas in CUDA "
                        "kernels: configure Kokkos with -DKokkos_ENABLE_CUDA_LAMBDA=ON")
  endif()
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES Kokkos::kokkos)
  check_cxx_source_compiles(
    "#ifndef __CUDACC__\n#error not a CUDA compiler\n#endif\n__global__ void kernel() {}\nint main() { kernel<<<1, 1>>>(); }\n"
    MOHO_COMPILER_HAS_CUDA)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT MOHO_COMPILER_HAS_CUDA)
    message(FATAL_ERROR "moho: Kokkos in ${Kokkos_DIR} uses CUDA, but ${CMAKE_CXX_COMPILER} does not compile "
                        "CUDA: use the preset cuda, or give -DCMAKE_CXX_COMPILER=<prefix of Kokkos>/bin/"
                        "nvcc_wrapper (with nvcc in PATH) or clang++ in a fresh build folder")
  endif()
endif()
