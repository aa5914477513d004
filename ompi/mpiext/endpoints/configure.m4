dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# For Open MPI's own configure: docs/install.md.

# OMPI_MPIEXT_endpoints_CONFIG([action-if-can-compile], [action-if-cant-compile])
# -------------------------------------------------------------------------------
# libmpi's calls of the hooks' functions are led to the extension by the linker: --wrap, when libmpi
# is linked.  Components that may be libraries of their own call three of them, so their links get
# these three as well.  The link of a program with a static libmpi needs them all.
AC_DEFUN([OMPI_MPIEXT_endpoints_CONFIG], [
    AC_CONFIG_FILES([
        ompi/mpiext/endpoints/Makefile
        ompi/mpiext/endpoints/c/Makefile])

    mpiext_endpoints_happy=no
    AS_IF([test "$ENABLE_endpoints" = 1 || test "$ENABLE_EXT_ALL" = 1],
        [_OMPI_MPIEXT_ENDPOINTS_WRAP])
    AS_IF([test $mpiext_endpoints_happy = yes], [$1], [$2])
])

AC_DEFUN([_OMPI_MPIEXT_ENDPOINTS_WRAP], [
    mpiext_endpoints_save=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,--wrap=mpix_endpoints_there"
    AC_MSG_CHECKING([whether the linker leads calls elsewhere (--wrap)])
    AC_LINK_IFELSE(
        [AC_LANG_PROGRAM(
            [[int mpix_endpoints_there(void); int __wrap_mpix_endpoints_there(void) { return 0; }]],
            [[return mpix_endpoints_there();]])],
        [mpiext_endpoints_happy=yes])
    AC_MSG_RESULT([$mpiext_endpoints_happy])
    LDFLAGS=$mpiext_endpoints_save

    # The list is that of the sources.
    mpiext_endpoints_hooks=`$SED -n 's/^ *X(\(@<:@a-z_0-9@:>@*\)).*/\1/p' \
        "$srcdir/ompi/mpiext/endpoints/c/base/mpiext_endpoints_compat.h"`
    AS_IF([test -z "$mpiext_endpoints_hooks"], [mpiext_endpoints_happy=no])
    AS_IF([test $mpiext_endpoints_happy = yes],
        [for mpiext_endpoints_hook in $mpiext_endpoints_hooks; do
             mpiext_endpoints_flag="-Wl,--wrap=$mpiext_endpoints_hook"
             OMPI_LIBMPI_EXTRA_LDFLAGS="$OMPI_LIBMPI_EXTRA_LDFLAGS $mpiext_endpoints_flag"
             AS_VAR_APPEND([mpiext_endpoints_WRAPPER_EXTRA_LDFLAGS], [" $mpiext_endpoints_flag"])
             AS_CASE([$mpiext_endpoints_hook],
                 [opal_progress_unregister|ompi_coll_base_allreduce_intra_ring|ompi_errhandler_proc_failed_internal|ompi_request_is_failed_fn],
                     [LDFLAGS="$LDFLAGS $mpiext_endpoints_flag"])
         done])
])
