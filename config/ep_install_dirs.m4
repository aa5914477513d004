dnl
dnl Copyright (c) 2026 The Open MPI Endpoints project contributors.
dnl
dnl SPDX-License-Identifier: BSD-3-Clause
dnl

# EP_INSTALL_DIRS
# ---------------
# Where things go.  Into a prefix of our own: the usual folders, components in one that only
# epmpirun knows.  Into Open MPI's own prefix: where its mpicc, its loader and its mpi-ext.h expect
# them (Debian keeps these in folders of their own), unless --libdir or --includedir say otherwise.
# A mpi-ext.h that a package of the system has brought is left alone, though: ours goes into a
# folder of its own, which epmpicc, pkg-config and CMake know.
#
# Needs EP_CHECK_OMPI, EP_CHECK_FORTRAN.  Sets componentdir, headerdir, fortrandir (modules), pythondir (empty: none),
# OMPI_MPI_EXT_H and OMPI_MPIF_EXT_H (the files that ours extend), EP_RPATH (what a program needs to
# find our library) and the conditional EP_EXTEND_MPI_EXT_H: in place.
AC_DEFUN([EP_INSTALL_DIRS], [
    componentdir='${pkglibdir}'
    headerdir='${includedir}'
    EP_RPATH='-Wl,-rpath,$(libdir)'
    AS_IF([test "$prefix" != NONE && test -d "$prefix" && test -d "$ep_ompi_prefix" &&
           test "`cd "$prefix" && pwd -P`" = "`cd "$ep_ompi_prefix" && pwd -P`"],
        [_EP_INTO_OMPI])

    # The value of a folder's variable: the Makefiles expand these themselves.
    ep_expand() (
        test "$prefix" = NONE && prefix=$ac_default_prefix
        test "$exec_prefix" = NONE && exec_prefix=$prefix
        pkglibdir=$libdir/AC_PACKAGE_TARNAME
        ep_old=
        ep_new=$[1]
        while test "$ep_old" != "$ep_new"; do
            ep_old=$ep_new
            eval "ep_new=\"$ep_old\""
        done
        printf '%s\n' "$ep_new"
    )
    OMPI_MPI_EXT_H=
    AS_IF([test -f "$ep_ompi_include/mpi-ext.h"], [OMPI_MPI_EXT_H=$ep_ompi_include/mpi-ext.h])
    AM_CONDITIONAL([EP_EXTEND_MPI_EXT_H],
        [test -n "$OMPI_MPI_EXT_H" && test "`ep_expand "$headerdir"`" = "$ep_ompi_include"])
    OMPI_MPIF_EXT_H=
    AS_IF([test -f "$ep_ompi_include/mpif-ext.h"],
        [OMPI_MPIF_EXT_H=$ep_ompi_include/mpif-ext.h])
    # Modules lie beside the headers, unless Open MPI's own of the same names do.
    fortrandir=$headerdir
    AS_IF([test -n "$EP_OMPI_MODULES" && ep_dir=`ep_expand "$headerdir"` && test -d "$ep_dir" &&
           test "`cd "$ep_dir" && pwd -P`" = "$EP_OMPI_MODULES"],
        [fortrandir='${includedir}/openmpi-endpoints'])
    EP_FORTRAN_INCLUDE=
    AS_IF([test "$fortrandir" != "$headerdir"], [EP_FORTRAN_INCLUDE='-I$(fortrandir) '])
    AC_ARG_WITH([python-dir],
        [AS_HELP_STRING([--with-python-dir=DIR],
            [folder of the Python module; default: that of the Python in PATH, below the prefix;
             --without-python-dir: no module])])
    AS_CASE([$with_python_dir],
        ['' | yes], [AM_PATH_PYTHON([3.8], [], [pythondir=])],
        [no], [pythondir=],
        [pythondir=$with_python_dir])
    AC_SUBST([pythondir])
    AC_SUBST([fortrandir])
    AC_SUBST([EP_FORTRAN_INCLUDE])
    AC_SUBST([OMPI_MPIF_EXT_H])
    AC_SUBST([componentdir])
    AC_SUBST([headerdir])
    AC_SUBST([EP_OMPI_INCLUDE], [$ep_ompi_include])
    AC_SUBST([EP_OMPI_VERSION], [$ep_ompi_version])
    AC_SUBST([EP_RPATH])
    AC_SUBST([OMPI_MPI_EXT_H])

    # For the summary.
    ep_show_libdir=`ep_expand "$libdir"`
    ep_show_componentdir=`ep_expand "$componentdir"`
    ep_show_headerdir=`ep_expand "$headerdir"`
    ep_show_pythondir=`ep_expand "${pythondir:-none}"`
    ep_show_fortran=none
    AS_IF([test -n "$MPIFORT"], [ep_show_fortran="$MPIFORT, mpif.h"])
    AS_IF([test "$ep_have_usempi" = yes], [ep_show_fortran="$ep_show_fortran, mpi"])
    AS_IF([test "$ep_have_usempif08" = yes], [ep_show_fortran="$ep_show_fortran, mpi_f08"])
])

AC_DEFUN([_EP_INTO_OMPI], [
    componentdir=$ep_ompi_pkglibdir
    AC_MSG_CHECKING([whether Open MPI's mpi-ext.h is a package's])
    AS_IF([dpkg-query -S "$ep_ompi_include/mpi-ext.h" >/dev/null 2>&1 ||
           rpm -qf "$ep_ompi_include/mpi-ext.h" >/dev/null 2>&1],
        [AC_MSG_RESULT([yes, ours goes into a folder of its own])
         ep_folder='${includedir}/openmpi-endpoints'
         EP_RPATH=],
        [AC_MSG_RESULT([no, it is extended in place])
         ep_folder=$ep_ompi_include])
    AS_IF([test "$includedir" = '${prefix}/include'], [headerdir=$ep_folder])
    # The folder of the library itself, not of the link to it that only linkers use.
    AS_IF([test "$libdir" = '${exec_prefix}/lib'],
        [ep_file=`readlink -f "$ep_ompi_libdir/libmpi.so"`
         libdir=`AS_DIRNAME(["$ep_file"])`])
])
