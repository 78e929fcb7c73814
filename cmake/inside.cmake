# SPDX-License-Identifier: Apache-2.0
# UNRELU_INSIDE_LIBRARIES: what the command links in place of UNRELU_LIBRARIES where it can, empty
# elsewhere. The loader needs twice as long for OpenBLAS, LAPACK, Clp and what these bring along as a
# small fit takes as a whole: 14 000 symbols are looked up one by one. In their static libraries that
# is done once, by the linker, so that the command has them inside; the libraries of unrelu do not.
set(UNRELU_INSIDE AUTO CACHE STRING
    "OpenBLAS, LAPACK and Clp inside the command, which then starts twice as fast: ON, OFF, AUTO")
set(UNRELU_INSIDE_LIBRARIES "")

# the first of NAMES that is there, appended to `inside`
macro(unrelu_inside_one prefix)
  find_library(UNRELU_INSIDE_${prefix} NAMES ${ARGN}
               HINTS ${UNRELU_${prefix}_LIBRARY_DIRS} ${UNRELU_${prefix}_LIBDIR})
  mark_as_advanced(UNRELU_INSIDE_${prefix})
  if(UNRELU_INSIDE_${prefix})
    list(APPEND inside ${UNRELU_INSIDE_${prefix}})
  else()
    list(APPEND lacking ${ARGN})
  endif()
endmacro()

# what Fortran and C++ bring with the compiler, which knows where: the first of the files that is there
macro(unrelu_inside_runtime name)
  foreach(file ${ARGN})
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${file} OUTPUT_VARIABLE path
                    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(IS_ABSOLUTE "${path}")
      break()
    endif()
  endforeach()
  if(IS_ABSOLUTE "${path}")
    list(APPEND inside ${path})
  else()
    list(APPEND lacking ${name})
  endif()
endmacro()

function(unrelu_find_inside)
  set(inside "")
  set(lacking "")
  unrelu_inside_one(OPENBLAS libopenblas.a)
  if(UNRELU_LAPACKE_FOUND)
    unrelu_inside_one(LAPACKE liblapacke.a)
  endif()
  unrelu_inside_runtime(libgfortran libgfortran.a libgfortran.so.5)
  unrelu_inside_runtime(libquadmath libquadmath.so libquadmath.so.0) # LGPL: stays replaceable, as GMP does
  set(clp "0")
  if(UNRELU_CLP)
    set(UNRELU_COINUTILS_LIBRARY_DIRS ${UNRELU_CLP_LIBRARY_DIRS})
    set(UNRELU_COINUTILS_LIBDIR ${UNRELU_CLP_LIBDIR})
    unrelu_inside_one(CLP libClp.a)
    unrelu_inside_one(COINUTILS libCoinUtils.a)
    unrelu_inside_runtime(libstdc++ libstdc++.a)
    set(clp "Clp_newModel() == 0")
  endif()
  set(inside -static-libgcc -Wl,--start-group ${inside} -Wl,--end-group)
  if(UNRELU_CLP)
    list(APPEND inside bz2) # CoinUtils reads compressed models with it
  endif()
  foreach(module CERF ZIP ZLIB GMP)
    if("UNRELU_${module}" IN_LIST UNRELU_MODULES)
      list(APPEND inside PkgConfig::UNRELU_${module})
    endif()
  endforeach()
  list(APPEND inside Threads::Threads m)
  if(NOT lacking)
    include(CheckCSourceCompiles)
    set(CMAKE_REQUIRED_LIBRARIES ${inside})
    set(CMAKE_REQUIRED_INCLUDES ${UNRELU_OPENBLAS_INCLUDE_DIRS} ${UNRELU_LAPACKE_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_QUIET ON)
    check_c_source_compiles("#include <cblas.h>
      #include <lapacke.h>
      void *Clp_newModel(void);
      int main(void) {
          double a = 1, w;
          return cblas_ddot(1, &a, 1, &a, 1) != 1 || ${clp} ||
                 LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'V', 'U', 1, &a, 1, &w) != 0;
      }" UNRELU_INSIDE_LINKS)
    if(NOT UNRELU_INSIDE_LINKS)
      set(lacking "what they need themselves")
    endif()
  endif()
  if(NOT lacking)
    set(UNRELU_INSIDE_LIBRARIES ${inside} PARENT_SCOPE)
    message(STATUS "The command has OpenBLAS inside: see UNRELU_INSIDE")
  elseif(UNRELU_INSIDE STREQUAL "AUTO")
    message(STATUS "The command loads OpenBLAS, as it lacks ${lacking}: see UNRELU_INSIDE")
  else()
    message(FATAL_ERROR "UNRELU_INSIDE lacks ${lacking}")
  endif()
endfunction()

if(UNRELU_INSIDE STREQUAL "AUTO")
  # packagers who ask for shared libraries get them; the sanitizers link in a way of their own
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT BUILD_SHARED_LIBS AND NOT UNRELU_SANITIZE)
    unrelu_find_inside()
  endif()
elseif(UNRELU_INSIDE)
  unrelu_find_inside()
endif()
