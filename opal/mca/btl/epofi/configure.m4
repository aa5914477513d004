dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# For Open MPI's own configure: docs/install.md.

# MCA_opal_btl_epofi_CONFIG([action-if-can-compile], [action-if-cant-compile])
# ----------------------------------------------------------------------------
# Wherever that configure finds libfabric; 1.18 is what btl/epofi asks for (EPOFI_FI_VERSION).
AC_DEFUN([MCA_opal_btl_epofi_CONFIG], [
    OPAL_VAR_SCOPE_PUSH([btl_epofi_happy btl_epofi_CPPFLAGS_save])
    AC_CONFIG_FILES([opal/mca/btl/epofi/Makefile])

    OPAL_CHECK_OFI([btl_epofi], [btl_epofi_happy=yes], [btl_epofi_happy=no])
    AS_IF([test $btl_epofi_happy = yes],
        [btl_epofi_CPPFLAGS_save=$CPPFLAGS
         CPPFLAGS="$CPPFLAGS $btl_epofi_CPPFLAGS"
         AC_MSG_CHECKING([for libfabric 1.18 or later])
         AC_COMPILE_IFELSE(
             [AC_LANG_PROGRAM([[
                  #include <rdma/fabric.h>
                  #if FI_MAJOR_VERSION < 2 && FI_MINOR_VERSION < 18
                  #error too old
                  #endif
              ]])],
             [],
             [btl_epofi_happy=no])
         AC_MSG_RESULT([$btl_epofi_happy])
         CPPFLAGS=$btl_epofi_CPPFLAGS_save])
    AS_IF([test $btl_epofi_happy = yes], [$1], [$2])

    AC_SUBST([btl_epofi_CPPFLAGS])
    AC_SUBST([btl_epofi_LDFLAGS])
    AC_SUBST([btl_epofi_LIBS])
    OPAL_VAR_SCOPE_POP
])
