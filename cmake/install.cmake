# SPDX-License-Identifier: Apache-2.0
# What `make install` puts where: libraries, header, documents, pkg-config and CMake packages. The
# command, its man page and completions are in cli/CMakeLists.txt.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/unrelu)

install(DIRECTORY include/unrelu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)

# Two export sets: who links the shared library needs none of its dependencies' development files.
foreach(kind ${UNRELU_KINDS})
  install(TARGETS unrelu_${kind} EXPORT unrelu_${kind}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT unrelu_${kind} NAMESPACE unrelu:: FILE unrelu_${kind}.cmake
          DESTINATION ${package_dir})
endforeach()

set(UNRELU_MPI_PACKAGE OFF) # the kind of library that unrelu::mpi is
if(UNRELU_MPI)
  list(GET UNRELU_KINDS 0 UNRELU_MPI_PACKAGE)
  install(DIRECTORY mpi/include/unrelu DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
  install(TARGETS unrelu_mpi_${UNRELU_MPI_PACKAGE} EXPORT unrelu_mpi
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT unrelu_mpi NAMESPACE unrelu:: FILE unrelu_mpi.cmake DESTINATION ${package_dir})
  if(TARGET unrelu_mpi_command)
    install(TARGETS unrelu_mpi_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endif()

configure_package_config_file(cmake/unreluConfig.cmake.in unreluConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(unreluConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/unreluConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/unreluConfigVersion.cmake cmake/dependencies.cmake
        DESTINATION ${package_dir})

install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})

# relative, so that an installed copy can be moved
file(RELATIVE_PATH UNRELU_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
     ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" UNRELU_PREFIX_FROM_PC ${UNRELU_PREFIX_FROM_PC})
# The direct dependencies as flags, not as Requires.private: that would ask for the development files
# of what they depend on themselves (a Fortran compiler, OpenSSL, bzip2).
set(UNRELU_PRIVATE_LIBS "")
foreach(module ${UNRELU_MODULES})
  list(APPEND UNRELU_PRIVATE_LIBS ${${module}_LDFLAGS})
endforeach()
if(UNRELU_CXX_LIBRARY)
  list(APPEND UNRELU_PRIVATE_LIBS -l${UNRELU_CXX_LIBRARY})
endif()
list(REMOVE_DUPLICATES UNRELU_PRIVATE_LIBS)
list(JOIN UNRELU_PRIVATE_LIBS " " UNRELU_PRIVATE_LIBS)
set(UNRELU_PRIVATE_LIBS "${UNRELU_PRIVATE_LIBS} -pthread -lm")
set(UNRELU_LIBS "-L\${libdir} -lunrelu")
if(NOT shared IN_LIST UNRELU_KINDS)
  set(UNRELU_LIBS "${UNRELU_LIBS} ${UNRELU_PRIVATE_LIBS}")
  set(UNRELU_PRIVATE_LIBS "")
endif()
configure_file(cmake/unrelu.pc.in unrelu.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/unrelu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(UNRELU_MPI)
  configure_file(cmake/unrelu-mpi.pc.in unrelu-mpi.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/unrelu-mpi.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
