dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_CHECK_PACKAGES
# -----------------
# What pkg-config knows about: libfabric, which btl/epofi uses, and PMIx and hwloc, whose headers
# Open MPI's own headers include.  An Open MPI that brought its own copies has their .pc files
# beside its libraries.
#
# Sets PACKAGE_CPPFLAGS (-isystem), LIBFABRIC_LIBS, PMIX_LIBS, HWLOC_LIBS.
AC_DEFUN([EP_CHECK_PACKAGES], [
    AS_IF([test -z "$PKG_CONFIG"],
        [EP_MISSING([pkg-config 0.28 or later: looked in PATH], [Debian package pkgconf])])
    PKG_CONFIG_PATH=$PKG_CONFIG_PATH${PKG_CONFIG_PATH:+:}$ep_ompi_libdir/pkgconfig
    export PKG_CONFIG_PATH
    PACKAGE_CPPFLAGS=
    # 1.18 is what btl/epofi asks for (EPOFI_FI_VERSION): an older one would refuse at run time.
    _EP_CHECK_PACKAGE([LIBFABRIC], [libfabric], [1.18], [rdma/fabric.h], [libfabric-dev])
    _EP_CHECK_PACKAGE([PMIX], [pmix], [4.2], [pmix.h], [libpmix-dev])
    _EP_CHECK_PACKAGE([HWLOC], [hwloc], [2.1], [hwloc.h], [libhwloc-dev])
    AC_SUBST([PACKAGE_CPPFLAGS])
])

# _EP_CHECK_PACKAGE(PREFIX, module, oldest version, header, Debian package)
AC_DEFUN([_EP_CHECK_PACKAGE], [
    AC_ARG_VAR([$1_CFLAGS], [C compiler flags for $2, instead of pkg-config's])
    AC_ARG_VAR([$1_LIBS], [linker flags for $2, instead of pkg-config's])
    AC_MSG_CHECKING([for $2 $3 or later])
    AS_IF([test -n "$$1_CFLAGS$$1_LIBS"], [ep_$1_version="as given"],
          [test -n "$PKG_CONFIG" && $PKG_CONFIG --exists "$2 >= $3"],
              [ep_$1_version=`$PKG_CONFIG --modversion $2`
               $1_CFLAGS=`$PKG_CONFIG --cflags $2`
               $1_LIBS=`$PKG_CONFIG --libs $2`],
          [ep_$1_version=no])
    AC_MSG_RESULT([$ep_$1_version])

    AS_IF([test "$ep_$1_version" = no],
        [ep_found=`test -n "$PKG_CONFIG" && $PKG_CONFIG --modversion $2 2>/dev/null`
         AS_IF([test -n "$PKG_CONFIG"],
             [ep_found=${ep_found:+, found $ep_found}
              EP_MISSING([$2 $3 or later: looked for $2.pc with pkg-config$ep_found],
                  [Debian package $5])])],
        [ep_save_CPPFLAGS=$CPPFLAGS
         CPPFLAGS="$CPPFLAGS $$1_CFLAGS"
         AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <$4>]])], [],
             [EP_MISSING([$4 of $2: looked in ${$1_CFLAGS:-the compiler's folders}],
                 [Debian package $5])])
         CPPFLAGS=$ep_save_CPPFLAGS])
    PACKAGE_CPPFLAGS="$PACKAGE_CPPFLAGS `printf '%s' "$$1_CFLAGS" | $SED 's/-I */-isystem /g'`"
])
