# SPDX-License-Identifier: Apache-2.0
# clp.pc also names what Clp is made of (its command, bzip2, a second BLAS). The shared library
# brings that along by itself, so libClp alone is left of PkgConfig::CLP and of CLP_LDFLAGS.
list(FILTER CLP_LINK_LIBRARIES INCLUDE REGEX "libClp\\.")
list(FILTER CLP_LDFLAGS INCLUDE REGEX "^-L|^-lClp$")
set_property(TARGET PkgConfig::CLP PROPERTY INTERFACE_LINK_LIBRARIES ${CLP_LINK_LIBRARIES})
