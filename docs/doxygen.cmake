# SPDX-License-Identifier: BSD-3-Clause
#
# Runs Doxygen in the present folder: cmake -D DOXYFILE=<file> -P doxygen.cmake

find_program(DOXYGEN doxygen)
if(NOT DOXYGEN)
  message(FATAL_ERROR "docs: there is no doxygen in PATH: install it (cmake/bootstrap.sh --developer does)")
endif()
execute_process(COMMAND "${DOXYGEN}" "${DOXYFILE}" RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "docs: doxygen ended with ${status}")
endif()
