dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# For Open MPI's own configure: docs/install.md.

# MCA_ompi_osc_epwin_CONFIG([action-if-can-compile], [action-if-cant-compile])
# ---------------------------------------------------------------------------
# Needs the extension, which is in libmpi, and C11's atomics.
AC_DEFUN([MCA_ompi_osc_epwin_CONFIG], [
    AC_CONFIG_FILES([ompi/mca/osc/epwin/Makefile])

    osc_epwin_happy=no
    AS_CASE([,$enable_mpi_ext,],
        [,,|,yes,|,all,|*,endpoints,*],
            [AC_COMPILE_IFELSE(
                 [AC_LANG_PROGRAM([[
                      #if defined(__STDC_NO_ATOMICS__)
                      #error no atomics
                      #endif
                      #include <stdatomic.h>
                  ]], [[
                      _Atomic int i = 0;
                      return atomic_fetch_add_explicit(&i, 1, memory_order_acq_rel);
                  ]])],
                 [osc_epwin_happy=yes])])
    AS_IF([test $osc_epwin_happy = yes], [$1], [$2])
])
