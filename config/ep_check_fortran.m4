dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_CHECK_FORTRAN
# ----------------
# What of Fortran has this Open MPI, and a compiler for it?  Its wrapper is asked for all, and compiles
# what we have: interfaces and constants alone, of which no object file comes.  Where something is missing
# it is said, and the rest is built.
#
# Needs EP_CHECK_OMPI.  Sets MPIFORT (empty: no Fortran), EP_FORTRAN_MODULES (files), EP_OMPI_MODULES (where
# Open MPI has its own), and the conditionals EP_HAVE_FORTRAN (mpif.h), EP_HAVE_USEMPI, EP_HAVE_USEMPIF08.
AC_DEFUN([EP_CHECK_FORTRAN], [
    AC_ARG_ENABLE([fortran],
        [AS_HELP_STRING([--disable-fortran],
            [nothing for Fortran; --enable-fortran: an error if there can be none.  By default it is
             built if Open MPI has it and there is a compiler])])
    AC_ARG_VAR([FCFLAGS], [Fortran compiler flags])
    AC_ARG_VAR([OMPI_FC], [Fortran compiler that Open MPI's wrapper is to call, instead of its own])
    MPIFORT=
    EP_OMPI_MODULES=
    EP_FORTRAN_MODULES=
    ep_fortran_said=
    ep_have_usempi=no
    ep_have_usempif08=no
    AC_MSG_CHECKING([for Fortran])
    AS_IF([test "$enable_fortran" = no], [ep_fortran_said="no, as asked for"],
          [test -z "$MPICC"], [ep_fortran_said="no, as there is no Open MPI"],
        [_EP_FIND_FORTRAN])
    AC_MSG_RESULT([$ep_fortran_said])
    AS_IF([test -n "$MPIFORT"], [_EP_CHECK_FORTRAN_MODULES],
          [test "$enable_fortran" = yes],
        [EP_MISSING([Fortran, which --enable-fortran asks for: $ep_fortran_said],
            [Debian package gfortran])])
    AM_CONDITIONAL([EP_HAVE_FORTRAN], [test -n "$MPIFORT"])
    AM_CONDITIONAL([EP_HAVE_USEMPI], [test $ep_have_usempi = yes])
    AM_CONDITIONAL([EP_HAVE_USEMPIF08], [test $ep_have_usempif08 = yes])
    AM_CONDITIONAL([EP_HAVE_FORTRAN_MODULES],
        [test $ep_have_usempi = yes || test $ep_have_usempif08 = yes])
    AC_SUBST([MPIFORT])
    AC_SUBST([EP_FORTRAN_MODULES])
    AC_SUBST([EP_OMPI_MODULES])
    AC_SUBST([EP_OMPI_MODULE_FILES])
])

# Compile, in the folder conftest.dir, a file that is there already.
AC_DEFUN([_EP_FORTRAN_COMPILES],
    [(cd conftest.dir && "$MPIFORT" $FCFLAGS $1) >&AS_MESSAGE_LOG_FD 2>&1])

# The wrapper of the same installation, and whether it compiles.
AC_DEFUN([_EP_FIND_FORTRAN], [
    for ep_name in mpifort mpif90; do
        test -z "$MPIFORT" && test -x "$ep_bindir/$ep_name$ep_suffix" &&
            MPIFORT=$ep_bindir/$ep_name$ep_suffix
    done
    rm -rf conftest.dir
    mkdir conftest.dir
    printf '%s\n' '      program conftest' '      implicit none' "      include 'mpif.h'" \
        '      integer ierr' '      call MPI_Init(ierr)' '      end' >conftest.dir/a.f90
    ep_compiler=`test -z "$MPIFORT" || "$MPIFORT" --showme:command 2>/dev/null`
    AS_IF([test -z "$MPIFORT"],
            [ep_fortran_said="no: no mpifort in $ep_bindir"],
          [! command -v $ep_compiler >/dev/null 2>&1],
            [ep_fortran_said="no: there is no ${ep_compiler:-compiler}, which $MPIFORT calls"
             MPIFORT=],
          [_EP_FORTRAN_COMPILES([a.f90 -o a])],
            [ep_fortran_said="$MPIFORT ($ep_compiler)"],
        [ep_fortran_said="no: $MPIFORT does not compile a program with mpif.h (config.log)"
         MPIFORT=])
    rm -rf conftest.dir
])

# Which modules Open MPI has, and what the compiler calls their files.
AC_DEFUN([_EP_CHECK_FORTRAN_MODULES], [
    for ep_dir in `"$MPIFORT" --showme:compile | tr ' ' '\n' | $SED -n 's/^-@<:@IM@:>@//p'`; do
        for ep_name in mpi.mod MPI.mod; do
            test -z "$EP_OMPI_MODULES" && test -f "$ep_dir/$ep_name" &&
                EP_OMPI_MODULES=`cd "$ep_dir" && pwd -P`
        done
    done
    EP_OMPI_MODULE_FILES=
    for ep_name in "$EP_OMPI_MODULES"/*.mod; do
        test -n "$EP_OMPI_MODULES" && test -f "$ep_name" &&
            EP_OMPI_MODULE_FILES="$EP_OMPI_MODULE_FILES $ep_name"
    done
    mkdir conftest.dir
    printf '%s\n' 'module ep_conftest' '  use mpi' 'end module' >conftest.dir/a.f90
    printf '%s\n' 'module ep_conftest' '  use mpi_f08' 'end module' >conftest.dir/b.f90
    AC_MSG_CHECKING([for modules mpi and mpi_f08])
    AS_IF([_EP_FORTRAN_COMPILES([-c a.f90])], [ep_have_usempi=yes])
    ep_module=`cd conftest.dir && ls | $SED -n '/\.o$/d; /\.f90$/d; p'`
    rm -f "conftest.dir/$ep_module"
    AS_IF([_EP_FORTRAN_COMPILES([-c b.f90])], [ep_have_usempif08=yes])
    AC_MSG_RESULT([$ep_have_usempi, $ep_have_usempif08])
    rm -rf conftest.dir

    AS_IF([test $ep_have_usempif08 = yes], [_EP_CHECK_FORTRAN_ABSENT])
    AS_CASE([$ep_module],
        [ep_conftest.*], [ep_case=cat],
        [EP_CONFTEST.*], [ep_case="tr a-z A-Z"],
        [ep_have_usempi=no
         ep_have_usempif08=no])
    ep_extension=`printf '%s' "$ep_module" | $SED 's/.*\.//'`
    AS_IF([test $ep_have_usempi = yes], [_EP_CHECK_FORTRAN_EXTENDED([mpi_ext], [mpix_endpoints])])
    AS_IF([test $ep_have_usempif08 = yes],
        [_EP_CHECK_FORTRAN_EXTENDED([mpi_f08_ext], [mpix_endpoints_f08])])
])

# Is an argument that is absent a null pointer for C?  Compilers do that, but no standard says that they
# must, but for BIND(C), which would give the functions other names than libmpi's have.
AC_DEFUN([_EP_CHECK_FORTRAN_ABSENT], [
    AC_MSG_CHECKING([whether absent arguments are null pointers])
    mkdir conftest.dir
    printf '%s\n' 'program conftest' '  interface' '    subroutine absent(it)' \
        '      integer, optional, intent(out) :: it' '    end subroutine' '  end interface' \
        '  call absent()' 'end' >conftest.dir/a.f90
    printf '%s\n' '#include <stdlib.h>' 'void absent(int *it) { exit(NULL != it); }' \
        'void absent_(int *it) { absent(it); }' 'void absent__(int *it) { absent(it); }' \
        'void ABSENT(int *it) { absent(it); }' >conftest.dir/b.c
    AS_IF([(cd conftest.dir && $CC $CFLAGS -c b.c) >&AS_MESSAGE_LOG_FD 2>&1 &&
           _EP_FORTRAN_COMPILES([a.f90 b.o -o a]) &&
           { test "$cross_compiling" = yes || ./conftest.dir/a >&AS_MESSAGE_LOG_FD 2>&1; }],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no: nothing for mpi_f08])
         ep_have_usempif08=no])
    rm -rf conftest.dir
])

# _EP_CHECK_FORTRAN_EXTENDED(module, our part of it)
# --------------------------------------------------
# Can a module of ours have this name, and all that Open MPI's of that name has?  A module of another name
# takes it all in first, where the compiler can find it; then the name of the first module, which came along,
# has to be put away.
AC_DEFUN([_EP_CHECK_FORTRAN_EXTENDED], [
    AC_MSG_CHECKING([whether a module can extend $1])
    mkdir conftest.dir conftest.dir/new
    printf '%s\n' 'module ep_before' '  use $1' 'end module' >conftest.dir/a.f90
    printf '%s\n' 'module $1' '  use ep_before, ep_before_name => $1' \
        '  integer, parameter :: ep_more = 1' 'end module' >conftest.dir/new/b.f90
    printf '%s\n' 'program conftest' '  use $1' '  print *, OMPI_HAVE_MPI_EXT + ep_more' 'end' \
        >conftest.dir/new/c.f90
    ep_extended=no
    AS_IF([! _EP_FORTRAN_COMPILES([${EP_OMPI_MODULES:+-I"$EP_OMPI_MODULES"} -c a.f90])],
            [ep_fortran_said="no, there is none: ours alone"],
          [(cd conftest.dir/new && "$MPIFORT" $FCFLAGS -I.. -c b.f90 &&
            "$MPIFORT" $FCFLAGS -I. -c c.f90) >&AS_MESSAGE_LOG_FD 2>&1],
            [ep_fortran_said=yes
             ep_extended=yes],
        [ep_fortran_said="no: what is ours is in $2 alone"
         ep_extended=impossible])
    AC_MSG_RESULT([$ep_fortran_said])
    rm -rf conftest.dir
    ep_names=$2
    AS_IF([test $ep_extended != impossible], [ep_names="$2 $1"])
    for ep_name in $ep_names; do
        ep_file=`echo $ep_name | $ep_case`.$ep_extension
        EP_FORTRAN_MODULES="$EP_FORTRAN_MODULES fortran/modules/$ep_file"
    done
    AC_SUBST([EP_EXTENDS_$1], [$ep_extended])
])
