# SPDX-License-Identifier: BSD-3-Clause
#
# moho_own_target(name): the compiler options of moho's own libraries, programs and tests. All are
# PRIVATE: nothing here reaches the users of the library.

function(moho_own_target name)
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wshadow)
  if(NOT Kokkos_ENABLE_CUDA)
    # nvcc hands the host compiler sources that are not pedantic.
    target_compile_options(${name} PRIVATE -Wpedantic)
  endif()
  if(MOHO_WARNINGS_AS_ERRORS)
    target_compile_options(${name} PRIVATE -Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # These come out of GCC's optimiser, depend on the processor that is compiled for, and are at
      # times about the standard library's own strings (GCC's bug 105651): shown, but no errors.
      target_compile_options(
        ${name} PRIVATE -Wno-error=restrict -Wno-error=maybe-uninitialized -Wno-error=array-bounds
                        -Wno-error=stringop-overflow -Wno-error=stringop-overread)
    endif()
  endif()
  if(MOHO_NATIVE)
    if(Kokkos_ENABLE_CUDA)
      target_compile_options(${name} PRIVATE "SHELL:-Xcompiler -march=native")
    else()
      target_compile_options(${name} PRIVATE -march=native)
    endif()
  endif()
  if(MOHO_BOUNDS_CHECK)
    # All of the checking is in Kokkos's headers, so that it can be had with any installed Kokkos.
    if(NOT Kokkos_ENABLE_DEBUG_BOUNDS_CHECK)
      target_compile_definitions(${name} PRIVATE KOKKOS_ENABLE_DEBUG_BOUNDS_CHECK)
    endif()
    target_compile_definitions(${name} PRIVATE _GLIBCXX_ASSERTIONS MOHO_BOUNDS_CHECK)
  endif()
endfunction()
