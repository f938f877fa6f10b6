# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_MPI: AUTO (the default) takes MPI where it is found, ON stops without it, OFF leaves it out. Sets
# MOHO_WITH_MPI: moho::gravity_mpi is there, and example programs divide their work among ranks.

set(MOHO_MPI AUTO CACHE STRING "Use MPI: AUTO (if it is found), ON or OFF")
set_property(CACHE MOHO_MPI PROPERTY STRINGS AUTO ON OFF)

set(MOHO_WITH_MPI OFF)
if(MOHO_MPI)
  set(MPI_CXX_SKIP_MPICXX ON) # MPI's own C++ classes, which no program uses any more
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
