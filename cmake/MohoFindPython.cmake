# SPDX-License-Identifier: BSD-3-Clause
#
# MOHO_PYTHON: a Python 3 with matplotlib, for plots.
#
# The distribution's Python is preferred, because cmake/bootstrap.sh installs its packages. Without
# such a Python, programs report at run time that they draw no plots.

if(NOT MOHO_PYTHON)
  set(moho_python "")
  find_program(moho_path_python NAMES python3 NO_CACHE)
  foreach(candidate /usr/bin/python3 "${moho_path_python}")
    if(EXISTS "${candidate}")
      execute_process(
        COMMAND "${candidate}" -c "import matplotlib, numpy"
        RESULT_VARIABLE moho_python_result
        OUTPUT_QUIET ERROR_QUIET)
      if(moho_python_result EQUAL 0)
        set(moho_python "${candidate}")
        break()
      endif()
    endif()
  endforeach()
  if(NOT moho_python)
    set(moho_python python3)
    message(STATUS "No Python with matplotlib and numpy: programs will draw no pictures "
                   "(install python3-matplotlib, or set MOHO_PYTHON)")
  endif()
  set(MOHO_PYTHON "${moho_python}" CACHE STRING "Python 3 with matplotlib and numpy, for plots" FORCE)
endif()
