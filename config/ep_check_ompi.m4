dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_MISSING(what was sought and where, how to get it)
# ----------------------------------------------------
# Note a thing that is missing.  All are reported together, by EP_REPORT_MISSING.
AC_DEFUN([EP_MISSING], [ep_missing="$ep_missing
    $1; $2"])

AC_DEFUN([EP_REPORT_MISSING], [
    AS_IF([test -n "$ep_missing"], [AC_MSG_ERROR([cannot build without:$ep_missing])])
])

# EP_CHECK_OMPI
# -------------
# Find the Open MPI that the components will be loaded into: its compiler wrapper, launcher,
# headers, libraries and folders.  Nothing is looked for in another place than where this mpicc
# says it is, so that two MPIs on one machine are never mixed.
#
# Sets MPICC, MPICXX and MPICC_ABI (empty where there is none), MPIRUN, OMPI_INFO, OMPI_CPPFLAGS
# (foreign headers, -isystem), OMPI_LDFLAGS, OMPI_LIBS, EP_OMPI_SYSCONFDIR, and
# ep_ompi_{version,include,prefix,libdir,pkglibdir} for the other macros.
AC_DEFUN([EP_CHECK_OMPI], [
    AC_ARG_WITH([ompi],
        [AS_HELP_STRING([--with-ompi=PREFIX],
            [where Open MPI is installed; default: the mpicc, or Debian's mpicc.openmpi, in PATH])])
    AC_ARG_WITH([ompi-src],
        [AS_HELP_STRING([--with-ompi-src=DIR],
            [source tree of the same Open MPI, for headers that the installation lacks])])

    ep_missing=
    MPICC_ABI=
    EP_OPAL_WRAPPER=
    # Does this wrapper link a program with libmpi_abi?
    _ep_finds_abi() {
        printf '%s\n' '#include <mpi.h>' '#ifdef OPEN_MPI' '#error not the MPI ABI' '#endif' \
            'int main(void) { return MPI_Init(0, 0); }' >conftest.c
        "$[1]" conftest.c -o conftest.out >&AS_MESSAGE_LOG_FD 2>&1
        ep_status=$?
        rm -f conftest.c conftest.out
        return $ep_status
    }
    _EP_FIND_MPICC
    AS_IF([test -n "$MPICC"],
        [_EP_CHECK_OMPI_PROGRAMS
         _EP_CHECK_OMPI_HEADERS
         _EP_CHECK_OMPI_LIBRARIES
         _EP_CHECK_OMPI_ABI
         _EP_CHECK_OMPI_HELP])
    AM_CONDITIONAL([EP_OWN_HELP_TEXTS], [test "$ep_own_help" = 1])
    AC_SUBST([EP_HELP_LIBS])
    AM_CONDITIONAL([EP_HAVE_MPICXX], [test -n "$MPICXX"])
    AM_CONDITIONAL([EP_HAVE_ABI], [test -n "$MPICC_ABI"])
    AM_CONDITIONAL([EP_OWN_MPICC_ABI], [test -n "$EP_OPAL_WRAPPER"])
    AC_SUBST([MPICC])
    AC_SUBST([MPICXX])
    AC_SUBST([MPICC_ABI])
    AC_SUBST([EP_OPAL_WRAPPER])
    AC_SUBST([MPIRUN])
    AC_SUBST([EP_OMPI_SYSCONFDIR])
    AC_SUBST([OMPI_INFO])
    AC_SUBST([OMPI_CPPFLAGS])
    AC_SUBST([OMPI_LDFLAGS])
    AC_SUBST([OMPI_LIBS])
])

# Which MPI is a compiler wrapper of?  Its mpi.h says so, whatever the wrapper's options are.
# Sets ep_mpi_kind (ompi, mpich, other, none) and ep_mpi_version.
AC_DEFUN([_EP_IDENTIFY_MPICC], [
    printf '%s\n' '#include <mpi.h>' >conftest.c
    "$1" -E -dM conftest.c >conftest.mpi 2>&AS_MESSAGE_LOG_FD || : >conftest.mpi
    ep_macro() { $SED -n "s/^.define $[1] \"*\([[^\" ]]*\)\"*.*/\1/p" conftest.mpi; }
    ep_mpi_version=
    AS_IF([grep OMPI_MAJOR_VERSION conftest.mpi >/dev/null],
            [ep_mpi_kind=ompi
             ep_mpi_version=`ep_macro OMPI_MAJOR_VERSION`.`ep_macro OMPI_MINOR_VERSION`
             ep_mpi_version=$ep_mpi_version.`ep_macro OMPI_RELEASE_VERSION`],
          [grep MPICH_VERSION conftest.mpi >/dev/null],
            [ep_mpi_kind=mpich
             ep_mpi_version=`ep_macro MPICH_VERSION`],
          [grep MPI_VERSION conftest.mpi >/dev/null], [ep_mpi_kind=other],
          [ep_mpi_kind=none])
    rm -f conftest.c conftest.mpi
])

AC_DEFUN([_EP_FIND_MPICC], [
    AC_MSG_CHECKING([for Open MPI 5.0 or later])
    AS_CASE([$with_ompi],
        [''|yes],
            [ep_where="mpicc and mpicc.openmpi in PATH"
             ep_candidates=
             for ep_name in mpicc mpicc.openmpi; do
                 ep_path=`command -v $ep_name` && ep_candidates="$ep_candidates $ep_path"
             done],
        [no], [AC_MSG_ERROR([--without-ompi makes no sense here])],
        [ep_where="$with_ompi/bin/mpicc"
         ep_candidates=
         for ep_path in "$with_ompi/bin/mpicc" "$with_ompi/bin/mpicc.openmpi"; do
             test -x "$ep_path" && ep_candidates="$ep_candidates $ep_path"
         done])

    MPICC=
    ep_rejected=
    for ep_path in $ep_candidates; do
        _EP_IDENTIFY_MPICC([$ep_path])
        AS_CASE([$ep_mpi_kind,$ep_mpi_version],
            [ompi,[[1-4]].*], [ep_why="is Open MPI $ep_mpi_version, too old"],
            [ompi,*],         [MPICC=$ep_path; break],
            [mpich,*],        [ep_why="is MPICH $ep_mpi_version"],
            [none,*],         [ep_why="does not find an mpi.h"],
            [ep_why="is neither Open MPI nor MPICH"])
        ep_rejected="$ep_rejected, $ep_path $ep_why"
    done

    # Under its own name, where it has one: what mpicc is may change (Debian's alternatives).
    AS_IF([test -n "$MPICC" && test -x "$MPICC.openmpi"], [MPICC=$MPICC.openmpi])

    ep_ompi_version=$ep_mpi_version
    AS_IF([test -n "$MPICC"],
        [AC_MSG_RESULT([$ep_ompi_version, $MPICC])],
        [AC_MSG_RESULT([no])
         AS_IF([test -z "$ep_rejected"], [ep_rejected=", not found"])
         EP_MISSING([Open MPI 5.0 or later: looked for $ep_where$ep_rejected],
             [Debian 13 packages libopenmpi-dev and openmpi-bin, or give --with-ompi=PREFIX])])
])

# mpirun and ompi_info of the same installation, with the same suffix (mpicc.openmpi).
AC_DEFUN([_EP_CHECK_OMPI_PROGRAMS], [
    ep_bindir=`AS_DIRNAME(["$MPICC"])`
    ep_suffix=${MPICC@%:@@%:@*/mpicc}
    MPIRUN=
    OMPI_INFO=
    MPICXX=
    for ep_name in mpicxx mpic++; do
        test -z "$MPICXX" && test -x "$ep_bindir/$ep_name$ep_suffix" &&
            MPICXX=$ep_bindir/$ep_name$ep_suffix
    done
    for ep_s in "$ep_suffix" .openmpi ''; do
        test -z "$MPIRUN" && test -x "$ep_bindir/mpirun$ep_s" &&
            "$ep_bindir/mpirun$ep_s" --version 2>/dev/null | grep 'Open MPI' >/dev/null &&
            MPIRUN=$ep_bindir/mpirun$ep_s
        test -z "$OMPI_INFO" && test -x "$ep_bindir/ompi_info$ep_s" &&
            OMPI_INFO=$ep_bindir/ompi_info$ep_s
    done
    AC_MSG_CHECKING([for Open MPI's mpirun and ompi_info])
    AS_IF([test -n "$MPIRUN" && test -n "$OMPI_INFO"],
        [AC_MSG_RESULT([$MPIRUN, $OMPI_INFO])],
        [AC_MSG_RESULT([no])
         EP_MISSING([mpirun and ompi_info of Open MPI: looked in $ep_bindir],
             [Debian package openmpi-bin])])

    ep_ompi_path() {
        "$OMPI_INFO" --parsable --path $[1] 2>/dev/null | $SED -n "s/^path:$[1]://p" | $SED 1q
    }
    AS_IF([test -n "$OMPI_INFO"],
        [ep_ompi_prefix=`ep_ompi_path prefix`
         ep_ompi_libdir=`ep_ompi_path libdir`
         ep_ompi_pkglibdir=`ep_ompi_path pkglibdir`
         EP_OMPI_SYSCONFDIR=`ep_ompi_path sysconfdir`])
])

# The developers' headers.  As system headers they give no warnings; our stand-ins for what some
# packages forget come after them, so that an installed header always wins.
AC_DEFUN([_EP_CHECK_OMPI_HEADERS], [
    ep_incdirs=`"$MPICC" --showme:incdirs`
    ep_ompi_include=
    ep_devel=
    OMPI_CPPFLAGS=
    for ep_dir in $ep_incdirs; do
        OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $ep_dir"
        test -z "$ep_ompi_include" && test -f "$ep_dir/mpi.h" && ep_ompi_include=$ep_dir
    done
    for ep_dir in $ep_incdirs "$ep_ompi_include/openmpi"; do
        test -f "$ep_dir/ompi/mca/pml/pml.h" && test -f "$ep_dir/ompi_config.h" &&
            ep_devel=$ep_dir && break
    done

    AC_MSG_CHECKING([for Open MPI's developers' headers])
    AS_IF([test -n "$ep_devel"],
        [AC_MSG_RESULT([$ep_devel])
         OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $ep_devel"],
        [AC_MSG_RESULT([no])
         EP_MISSING([Open MPI's developers' headers: looked for ompi/mca/pml/pml.h in $ep_incdirs],
             [Debian package libopenmpi-dev, or configure Open MPI with --with-devel-headers])])

    AS_IF([test -n "$with_ompi_src"],
        [AS_IF([! test -f "$with_ompi_src/ompi/mca/pml/pml.h"],
             [AC_MSG_ERROR([--with-ompi-src: no ompi/mca/pml/pml.h in $with_ompi_src])])
         ep_src_version=`$SED -n 's/^major=/./p; s/^minor=/./p; s/^release=/./p' \
             "$with_ompi_src/VERSION" | tr -d '\n' | $SED 's/^\.//'`
         AS_IF([test "$ep_src_version" != "$ep_ompi_version"],
             [AC_MSG_ERROR([--with-ompi-src has $ep_src_version, but $MPICC is $ep_ompi_version])])
         OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $with_ompi_src"
         for ep_dir in opal/include ompi/include; do
             OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem $with_ompi_src/$ep_dir"
         done])
    OMPI_CPPFLAGS="$OMPI_CPPFLAGS -isystem \$(abs_top_srcdir)/config/compat/include"
])

# Does Open MPI read help files (5.0), or has it its own texts in its library (6.0)?  Where it reads
# them, everybody calls it through pointers, which have a type.
AC_DEFUN([_EP_CHECK_OMPI_HELP], [
    ep_own_help=0
    EP_HELP_LIBS=
    AS_IF([test -n "$ep_devel"],
        [ep_save_CPPFLAGS=$CPPFLAGS
         CPPFLAGS="$CPPFLAGS -I$ep_devel"
         AC_MSG_CHECKING([whether Open MPI reads help files])
         AC_COMPILE_IFELSE(
             [AC_LANG_PROGRAM([[
                  #include "opal_config.h"
                  #include "opal/util/show_help.h"
              ]], [[opal_show_help_fn_t pointer = opal_show_help; return 0 == pointer;]])],
             [AC_MSG_RESULT([yes])],
             [AC_MSG_RESULT([no, ours will be in our libraries])
              ep_own_help=1
              EP_HELP_LIBS='$(top_builddir)/opal/mca/common/ep/libcommon_ep.la'])
         CPPFLAGS=$ep_save_CPPFLAGS])
    OMPI_CPPFLAGS="$OMPI_CPPFLAGS -DEP_OWN_HELP_TEXTS=$ep_own_help"
])

# A libmpi whose functions can be taken over and that loads components at run time.
AC_DEFUN([_EP_CHECK_OMPI_LIBRARIES], [
    OMPI_LDFLAGS=
    for ep_dir in `"$MPICC" --showme:libdirs`; do
        OMPI_LDFLAGS="$OMPI_LDFLAGS -L$ep_dir"
    done

    ep_save_LDFLAGS=$LDFLAGS
    ep_save_LIBS=$LIBS
    LDFLAGS="$LDFLAGS $OMPI_LDFLAGS"
    OMPI_LIBS=
    AC_MSG_CHECKING([for the libraries of Open MPI])
    # 5.0 has its core in libmpi; 6.0 has it in libopen_mpi, below the libmpi that programs see.
    for ep_try in "-lmpi -lopen-pal" "-lmpi -lopen_mpi -lopen-pal"; do
        LIBS="$ep_try $ep_save_LIBS"
        AC_LINK_IFELSE(
            [AC_LANG_PROGRAM([[char ompi_comm_nextcid(void), opal_progress(void);]],
                             [[return ompi_comm_nextcid() + opal_progress();]])],
            [OMPI_LIBS=$ep_try; break])
    done
    LDFLAGS=$ep_save_LDFLAGS
    LIBS=$ep_save_LIBS
    AS_IF([test -n "$OMPI_LIBS"],
        [AC_MSG_RESULT([$OMPI_LIBS])],
        [AC_MSG_RESULT([no])
         EP_MISSING([shared libmpi and libopen-pal: could not link with them in$OMPI_LDFLAGS],
             [Debian package libopenmpi-dev, or configure Open MPI with --enable-shared])])

    AS_IF([test -n "$ep_devel"],
        [ep_save_CPPFLAGS=$CPPFLAGS
         CPPFLAGS="$CPPFLAGS -I$ep_devel"
         AC_MSG_CHECKING([whether Open MPI can load components])
         AC_PREPROC_IFELSE(
             [AC_LANG_SOURCE([[
                  #include "opal_config.h"
                  #if !OPAL_HAVE_DL_SUPPORT
                  #error cannot
                  #endif
              ]])],
             [AC_MSG_RESULT([yes])],
             [AC_MSG_RESULT([no])
              EP_MISSING([an Open MPI that loads components: looked in $ep_devel/opal_config.h],
                  [configure Open MPI without --disable-dlopen])])
         CPPFLAGS=$ep_save_CPPFLAGS])
])

# The MPI ABI, which Open MPI has from 6.0 on: its compiler wrapper, and the header that converts
# handles.  Debian has all of it but the name mpicc_abi for the wrapper; then the name is ours, a
# link to it (EP_OPAL_WRAPPER) in pkgdatadir.  Sets MPICC_ABI, empty where there is no such ABI.
AC_DEFUN([_EP_CHECK_OMPI_ABI], [
    AC_MSG_CHECKING([for the MPI ABI])
    AS_IF([test -n "$ep_devel" && test -f "$ep_devel/ompi/mpi/c/abi_converters.h"],
        [for ep_path in "$ep_bindir/mpicc_abi$ep_suffix" "$ep_bindir/mpicc_abi"; do
             test -z "$MPICC_ABI" && test -x "$ep_path" && _ep_finds_abi "$ep_path" &&
                 MPICC_ABI=$ep_path
         done
         AS_IF([test -z "$MPICC_ABI"],
             [ep_path=`readlink -f "$MPICC"`
              rm -rf conftest.abi && mkdir conftest.abi &&
                  ln -s "$ep_path" conftest.abi/mpicc_abi
              _ep_finds_abi conftest.abi/mpicc_abi &&
                  EP_OPAL_WRAPPER=$ep_path MPICC_ABI='${pkgdatadir}/mpicc_abi'
              rm -rf conftest.abi])])
    AS_IF([test -z "$MPICC_ABI"], [AC_MSG_RESULT([no])],
          [test -n "$EP_OPAL_WRAPPER"],
              [AC_MSG_RESULT([yes, though without mpicc_abi, which will be ours])],
          [AC_MSG_RESULT([yes, $MPICC_ABI])])
])
