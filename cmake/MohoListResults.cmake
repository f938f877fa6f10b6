# SPDX-License-Identifier: BSD-3-Clause
#
# Lists the files of a demonstration in FOLDER; run with cmake -P.

file(GLOB files LIST_DIRECTORIES false "${FOLDER}/*")
if(NOT files)
  message(FATAL_ERROR "no results in ${FOLDER}")
endif()
message("Results of the demonstration:")
foreach(file IN LISTS files)
  file(SIZE "${file}" size)
  math(EXPR size "(${size} + 1023) / 1024")
  message("  ${file} (${size} KiB)")
endforeach()
