# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_CCACHE: compiles through ccache where it is installed, unless the user has chosen a launcher
# (CMAKE_CXX_COMPILER_LAUNCHER, as a variable or in the environment). ccache takes sources with precompiled
# headers only if it is told that macros and times of these do not matter.

if(MOHO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER AND NOT DEFINED ENV{CMAKE_CXX_COMPILER_LAUNCHER})
  find_program(MOHO_CCACHE_PROGRAM ccache DOC "compiler cache")
  mark_as_advanced(MOHO_CCACHE_PROGRAM)
  if(MOHO_CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${MOHO_CCACHE_PROGRAM}")
    if(NOT DEFINED ENV{CCACHE_SLOPPINESS})
      list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
           CCACHE_SLOPPINESS=pch_defines,time_macros)
    endif()
    message(STATUS "Compiling through ${MOHO_CCACHE_PROGRAM} (MOHO_CCACHE=OFF: without)")
  endif()
endif()
