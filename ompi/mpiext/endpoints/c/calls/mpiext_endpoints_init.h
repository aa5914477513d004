/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * libmpi's own functions that begin MPI, in Open MPI's ABI: init_libmpi.c.
 */

#ifndef MPIEXT_ENDPOINTS_INIT_H
#define MPIEXT_ENDPOINTS_INIT_H

#include "ompi_config.h"

#include "mpi.h"

BEGIN_C_DECLS

/** What a program has called one of them with; the address is for an mpix_endpoints_init_fn_t. */
typedef struct mpix_endpoints_init_t {
    int *argc;
    char ***argv;
    int required;  /**< of MPI_Init_thread */
    int *provided; /**< likewise; NULL: nobody wants to know */
} mpix_endpoints_init_t;

/** libmpi's MPI_Init and MPI_Init_thread: as the caller has said, or its MPI_Init_thread with this
 * level, from 0 on. */
int mpix_endpoints_init_libmpi(void *arguments, int level);
int mpix_endpoints_init_thread_libmpi(void *arguments, int level);

/** MPI_Init_thread with this level, which may be a tool's. */
int mpix_endpoints_init_thread_tool(void *arguments, int level);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_INIT_H */
