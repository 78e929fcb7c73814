# SPDX-License-Identifier: Apache-2.0
# What the library links: UNRELU_LIBRARIES. The package of an installed copy includes this too, for
# those who link the static library. UNRELU_CLP and UNRELU_GMP are ON, OFF or AUTO.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
set(UNRELU_MODULES "") # prefixes of what pkg-config said
set(UNRELU_LIBRARIES "")
macro(unrelu_use prefix module)
  pkg_check_modules(${prefix} ${ARGN} IMPORTED_TARGET GLOBAL ${module})
  if(${prefix}_FOUND)
    list(APPEND UNRELU_MODULES ${prefix})
    list(APPEND UNRELU_LIBRARIES PkgConfig::${prefix})
  endif()
endmacro()
macro(unrelu_may_use prefix module)
  if("${${prefix}}" STREQUAL "AUTO")
    unrelu_use(${prefix} ${module})
  elseif(${prefix})
    unrelu_use(${prefix} ${module} REQUIRED)
  endif()
endmacro()
unrelu_use(UNRELU_OPENBLAS openblas REQUIRED)
unrelu_use(UNRELU_LAPACKE lapacke)
if(NOT UNRELU_LAPACKE_FOUND) # OpenBLAS of macOS and of Fedora has LAPACKE inside
  include(CheckSymbolExists)
  set(CMAKE_REQUIRED_LIBRARIES PkgConfig::UNRELU_OPENBLAS)
  check_symbol_exists(LAPACKE_dsyevr lapacke.h UNRELU_OPENBLAS_HAS_LAPACKE)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT UNRELU_OPENBLAS_HAS_LAPACKE)
    message(FATAL_ERROR "LAPACKE is missing: neither lapacke.pc nor OpenBLAS has it")
  endif()
endif()
unrelu_may_use(UNRELU_CLP clp)
unrelu_use(UNRELU_CERF libcerf REQUIRED)
unrelu_use(UNRELU_ZIP libzip REQUIRED)
unrelu_use(UNRELU_ZLIB zlib REQUIRED)
unrelu_may_use(UNRELU_GMP gmp)
list(APPEND UNRELU_LIBRARIES Threads::Threads m)

# clp.pc also names what Clp is made of (its command, bzip2, a second BLAS). The shared library
# brings that along by itself, so that libClp alone is left.
if("UNRELU_CLP" IN_LIST UNRELU_MODULES)
  list(FILTER UNRELU_CLP_LINK_LIBRARIES INCLUDE REGEX "libClp\\.")
  list(FILTER UNRELU_CLP_LDFLAGS INCLUDE REGEX "^-L|^-lClp$")
  set_property(TARGET PkgConfig::UNRELU_CLP PROPERTY
               INTERFACE_LINK_LIBRARIES ${UNRELU_CLP_LINK_LIBRARIES})
  # what catches its exceptions is C++, in a library that is linked as C
  set(UNRELU_CXX_LIBRARY stdc++)
  if(APPLE)
    set(UNRELU_CXX_LIBRARY c++)
  endif()
  list(APPEND UNRELU_LIBRARIES ${UNRELU_CXX_LIBRARY})
endif()
