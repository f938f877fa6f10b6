# SPDX-License-Identifier: BSD-3-Clause
#
# Copies the headers LIBRARY to COPY/lib/moho, applies PATCH to them, and writes COPY/patched.

file(REMOVE_RECURSE "${COPY}")
file(COPY "${LIBRARY}" DESTINATION "${COPY}/lib" FILES_MATCHING PATTERN "*.hpp")
execute_process(
  COMMAND patch --strip=1 --forward --no-backup-if-mismatch --input=${PATCH}
  WORKING_DIRECTORY "${COPY}"
  RESULT_VARIABLE result
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(
    FATAL_ERROR
      "${output}\n${PATCH} does not apply to the headers (${result}), because lines around its insertions have changed. "
      "Insert the rejected parts, ${COPY}/lib/moho/**/*.rej, in a copy of lib by hand, and write a new patch: "
      "tests/wave/added_medium/README.md has the commands.")
endif()
file(TOUCH "${COPY}/patched")
