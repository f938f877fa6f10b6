# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_CCACHE: compiles with ccache, if installed.
#
# A launcher that the user has chosen (CMAKE_CXX_COMPILER_LAUNCHER, as a variable or in the
# environment) takes precedence. With precompiled headers ccache requires the sloppiness
# pch_defines,time_macros.

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
