# SPDX-License-Identifier: Apache-2.0
# Versions of symbols, where the linker knows them: a program that was linked with another version of
# the interface is told so when it starts.
include(CheckLinkerFlag)
set(symbols ${CMAKE_CURRENT_BINARY_DIR}/symbols.map)
configure_file(${PROJECT_SOURCE_DIR}/cmake/symbols.map.in ${symbols} @ONLY)
check_linker_flag(C LINKER:--version-script=${symbols} UNRELU_HAVE_VERSION_SCRIPT)
if(UNRELU_HAVE_VERSION_SCRIPT)
  target_link_options(unrelu_shared PRIVATE LINKER:--version-script=${symbols})
  set_property(TARGET unrelu_shared APPEND PROPERTY LINK_DEPENDS ${symbols})
endif()
