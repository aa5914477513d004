dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_CHECK_COMPILER
# -----------------
# C11 with atomics, and the flags that all our sources are compiled with.
#
# Sets EP_CFLAGS, EP_CPPFLAGS, EP_LDFLAGS.
AC_DEFUN([EP_CHECK_COMPILER], [
    AC_ARG_ENABLE([debug],
        [AS_HELP_STRING([--enable-debug], [keep assertions; optimization is left to CFLAGS])])
    AC_ARG_ENABLE([werror],
        [AS_HELP_STRING([--enable-werror], [make warnings errors])])

    EP_CFLAGS="-std=gnu11 -fvisibility=hidden -Wall -Wextra -pthread"
    # The 128 bit compare-and-swap in Open MPI's headers is an inline instruction only with this.
    AS_CASE([$host_cpu], [x86_64], [EP_CFLAGS="$EP_CFLAGS -mcx16"])
    AS_IF([test "$enable_werror" = yes], [EP_CFLAGS="$EP_CFLAGS -Werror"])

    EP_CPPFLAGS="-I\$(top_srcdir) $OMPI_CPPFLAGS $PACKAGE_CPPFLAGS"
    AS_IF([test "$enable_debug" != yes], [EP_CPPFLAGS="-DNDEBUG $EP_CPPFLAGS"])
    # The components' version: common_ep_btl.h.
    ep_numbers=`printf '%s' "$PACKAGE_VERSION" | $SED 's/[[^0-9.]].*//; s/\./,/g'`
    EP_CPPFLAGS="-DEP_VERSION_NUMBERS=$ep_numbers $EP_CPPFLAGS"

    ep_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $EP_CFLAGS"
    AC_MSG_CHECKING([for C11 with atomics])
    AC_COMPILE_IFELSE(
        [AC_LANG_PROGRAM(
            [[
                #if defined(__STDC_NO_ATOMICS__)
                #error no atomics
                #endif
                #include <stdatomic.h>
            ]],
            [[_Atomic int i = 0; return atomic_fetch_add_explicit(&i, 1, memory_order_acq_rel);]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         EP_MISSING([a compiler for C11 with stdatomic.h: $CC is not one],
             [Debian package gcc or clang])])
    CFLAGS=$ep_save_CFLAGS

    # A symbol that nobody defines shall stop the build, not the first mpirun.  Sanitizers leave
    # theirs to the program.
    EP_LDFLAGS=
    AS_CASE(["$CC $CFLAGS $LDFLAGS"], [*-fsanitize*], [], [EP_LDFLAGS="-Wl,-z,defs"])

    AC_SUBST([EP_CFLAGS])
    AC_SUBST([EP_CPPFLAGS])
    AC_SUBST([EP_LDFLAGS])
])
