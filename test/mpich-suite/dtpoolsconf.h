/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/** @file What the configure script of MPICH's dtpools would find out; see mpitestconf.h. */

#ifndef DTPOOLSCONF_H_INCLUDED
#define DTPOOLSCONF_H_INCLUDED

#include <mpi.h>

/* Two functions that MPI-3 removed, by the names of their successors. */
#undef MPI_Type_hvector
#define MPI_Type_hvector MPI_Type_create_hvector
#undef MPI_Type_hindexed
#define MPI_Type_hindexed MPI_Type_create_hindexed

#define STDC_HEADERS 1
#define HAVE_INTTYPES_H 1
#define HAVE_LIMITS_H 1
#define HAVE_MEMORY_H 1
#define HAVE_STDINT_H 1
#define HAVE_STDLIB_H 1
#define HAVE_STRING_H 1
#define HAVE_STRINGS_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TYPES_H 1
#define HAVE_UNISTD_H 1
#define HAVE_MEMSET 1
#define HAVE_STRDUP 1

#endif /* DTPOOLSCONF_H_INCLUDED */
