# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_MPI: AUTO (default) uses MPI if it is found, ON requires it, OFF disables it.
#
# Sets MOHO_WITH_MPI: moho::gravity_mpi is then defined, and example programs divide their work
# among ranks.

set(MOHO_MPI AUTO CACHE STRING "Use MPI: AUTO (if it is found), ON or OFF")
set_property(CACHE MOHO_MPI PROPERTY STRINGS AUTO ON OFF)

set(MOHO_WITH_MPI OFF)
if(MOHO_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # the obsolete C++ bindings of MPI
  find_package(MPI QUIET COMPONENTS CXX)
  if(MPI_CXX_FOUND)
    set(MOHO_WITH_MPI ON)
    message(STATUS "MPI ${MPI_CXX_VERSION}: ${MPI_CXX_LIBRARIES}")
  elseif(MOHO_MPI STREQUAL "AUTO")
    message(STATUS "No MPI: programs run as one process (install libopenmpi-dev and openmpi-bin, or set "
                   "MPI_CXX_COMPILER)")
  else()
    message(FATAL_ERROR "moho: MOHO_MPI is ${MOHO_MPI}, but there is no MPI for C++: install libopenmpi-dev "
                        "and openmpi-bin (cmake/bootstrap.sh does it), set MPI_CXX_COMPILER, or leave "
                        "MOHO_MPI at AUTO")
  endif()
endif()
