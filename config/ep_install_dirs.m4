dnl -*- autoconf -*-
dnl
dnl Copyright (c) 2026      The Open MPI Endpoints project contributors.
dnl                         All rights reserved.
dnl $COPYRIGHT$
dnl
dnl Additional copyrights may follow
dnl
dnl $HEADER$
dnl

# EP_INSTALL_DIRS
# ---------------
# Where things go.  Into a prefix of our own: the usual folders, components in one that only
# epmpirun knows.  Into Open MPI's own prefix: where its mpicc, its loader and its mpi-ext.h expect
# them (Debian keeps these in folders of their own), unless --libdir or --includedir say otherwise.
#
# Sets componentdir, OMPI_MPI_EXT_H (the mpi-ext.h that ours extends), and the conditional
# EP_INTO_OMPI.
AC_DEFUN([EP_INSTALL_DIRS], [
    componentdir='${pkglibdir}'
    ep_into_ompi=no
    AS_IF([test "$prefix" != NONE && test -d "$prefix" && test -d "$ep_ompi_prefix" &&
           test "`cd "$prefix" && pwd -P`" = "`cd "$ep_ompi_prefix" && pwd -P`"],
        [ep_into_ompi=yes
         componentdir=$ep_ompi_pkglibdir
         AS_IF([test "$includedir" = '${prefix}/include'], [includedir=$ep_ompi_include])
         # The folder of the library itself, not of the link to it that only linkers use.
         AS_IF([test "$libdir" = '${exec_prefix}/lib'],
             [ep_file=`readlink -f "$ep_ompi_libdir/libmpi.so"`
              libdir=`AS_DIRNAME(["$ep_file"])`])])

    OMPI_MPI_EXT_H=
    AS_IF([test -f "$ep_ompi_include/mpi-ext.h"], [OMPI_MPI_EXT_H=$ep_ompi_include/mpi-ext.h])

    AM_CONDITIONAL([EP_INTO_OMPI], [test $ep_into_ompi = yes])
    AC_SUBST([componentdir])
    AC_SUBST([OMPI_MPI_EXT_H])

    # For the summary only: the Makefiles expand the variables themselves.
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
    ep_show_libdir=`ep_expand "$libdir"`
    ep_show_componentdir=`ep_expand "$componentdir"`
])
