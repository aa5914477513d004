dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_CHECK_CALLS
# --------------
# How does libmpi call its own functions, and so, how are its calls led to ours?  Through slots, by
# the linker; where it calls them directly they are entered, which on x86-64 takes the disassembler
# Zydis.
#
# Needs ep_ompi_{version,libdir} and OMPI_LDFLAGS.  Sets EP_HAVE_ZYDIS (0 or 1), ZYDIS_CFLAGS.
AC_DEFUN([EP_CHECK_CALLS], [
    AC_ARG_WITH([zydis],
        [AS_HELP_STRING([--without-zydis],
            [no disassembler, on x86-64: only an Open MPI that calls its own functions through slots
             can have endpoints])])
    AC_ARG_VAR([ZYDIS_CFLAGS], [C compiler flags for Zydis])
    _EP_CHECK_ZYDIS
    AS_IF([test -n "$MPICC"], [_EP_CHECK_DIRECT_CALLS])
    AC_SUBST([EP_HAVE_ZYDIS])
])

# Version 4: what 3 has is different.
AC_DEFUN([_EP_CHECK_ZYDIS], [
    EP_HAVE_ZYDIS=0
    AS_IF([test "$host_cpu" = x86_64 && test "$with_zydis" != no],
        [ep_save_CPPFLAGS=$CPPFLAGS
         CPPFLAGS="$CPPFLAGS $ZYDIS_CFLAGS"
         AC_MSG_CHECKING([for the disassembler Zydis 4])
         AC_COMPILE_IFELSE(
             [AC_LANG_PROGRAM([[
                  #include <Zydis/Zydis.h>
              ]], [[
                  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
                  char four[ZYDIS_VERSION_MAJOR(ZYDIS_VERSION) == 4 ? 1 : -1];
                  return sizeof(operands) + sizeof(four) + (0 != ZydisDecoderDecodeFull);
              ]])],
             [AC_MSG_RESULT([yes])
              EP_HAVE_ZYDIS=1],
             [AC_MSG_RESULT([no])])
         CPPFLAGS=$ep_save_CPPFLAGS])
    AS_IF([test "$with_zydis" = yes && test $EP_HAVE_ZYDIS = 0],
        [EP_MISSING([Zydis 4, which --with-zydis asks for: no Zydis/Zydis.h that compiles],
            [Debian package libzydis-dev])])
])

AC_DEFUN([_EP_CHECK_DIRECT_CALLS], [
    AC_MSG_CHECKING([how Open MPI's library calls its own functions])
    ep_libraries=
    for ep_dir in `"$MPICC" --showme:libdirs` $ep_ompi_libdir; do
        # The core: below libmpi from 6.0 on.
        for ep_name in libopen_mpi.so libmpi.so libmpi.so.40; do
            ep_libraries="$ep_libraries $ep_dir/$ep_name"
        done
    done
    ep_calls=`"$srcdir/config/direct-calls" $ep_libraries`
    ep_library=`printf '%s\n' "$ep_calls" | $SED 's/^directly //'`
    ep_directly="directly (-Bsymbolic-functions)"
    AS_CASE([$ep_calls,$host_cpu,$EP_HAVE_ZYDIS,$with_zydis],
        [slots*], [AC_MSG_RESULT([through slots: the linker leads them to ours])],
        [directly*,aarch64,*|directly*,x86_64,1,*],
            [AC_MSG_RESULT([$ep_directly: the functions will be entered])],
        [directly*,x86_64,0,no],
            [AC_MSG_RESULT([$ep_directly: no endpoints without Zydis])],
        [directly*,x86_64,0,*],
            [AC_MSG_RESULT([$ep_directly])
             EP_MISSING([Zydis 4, to enter functions that $ep_library calls directly],
                 [Debian package libzydis-dev, or link Open MPI without -Bsymbolic-functions])],
        [directly*],
            [AC_MSG_RESULT([$ep_directly])
             EP_MISSING([an Open MPI that calls its functions through slots: $ep_library does not],
                 [link Open MPI without -Bsymbolic-functions])],
        [AC_MSG_RESULT([unknown; found out at run time])])
])
