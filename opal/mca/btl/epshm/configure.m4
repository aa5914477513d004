dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# For Open MPI's own configure: docs/install.md.

# MCA_opal_btl_epshm_CONFIG([action-if-can-compile], [action-if-cant-compile])
# ----------------------------------------------------------------------------
AC_DEFUN([MCA_opal_btl_epshm_CONFIG], [
    AC_CONFIG_FILES([opal/mca/btl/epshm/Makefile])
    $1
])
