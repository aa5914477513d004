/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Between the two ABIs of Open MPI 6: what the files of libmpix_endpoints_abi have in common, which
 * include this first.
 *
 * Handles of what users make are the same pointers in both, predefined ones are small numbers in the
 * MPI ABI, and error codes and thread levels are others: Open MPI's installed header converts them.
 * MPI_COMM_WORLD and its like mean Open MPI's own here; the MPI ABI's end in _ABI_INTERNAL.
 *
 * Tests: newer (abi), levels (abi), attach_level (abi)
 */

#ifndef MPIEXT_ENDPOINTS_ABI_H
#define MPIEXT_ENDPOINTS_ABI_H

/* The names of MPI's functions mean the MPI ABI's. */
#define OMPI_NO_MPI_PROTOTYPES 1

#include "ompi_config.h"

#include "calls.h"
#include "mpiext_endpoints_next.h"

#include "ompi/mpi/c/abi.h"
#include "ompi/mpi/c/abi_converters.h"

#define EXPORT __attribute__((visibility("default")))

/** MPIX_NAME, for a PMPIX_NAME that is defined before. */
#define WEAK(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))

typedef MPI_Comm_ABI_INTERNAL abi_comm_t;
typedef MPI_Info_ABI_INTERNAL abi_info_t;
typedef MPI_Request_ABI_INTERNAL abi_request_t;
typedef MPI_Status_ABI_INTERNAL abi_status_t;

/** The two levels above MPI_THREAD_MULTIPLE follow it in both ABIs: MPIX_THREAD_ATTACH,
 * _REATTACH. */
enum { LEVELS_ABOVE_MULTIPLE = 2 };

static inline int error_to_abi(int code)
{
    return ompi_convert_intern_error_abi_error(code);
}

/** Of a level, or of one of the two above. */
static inline int level_to_abi(int level)
{
    return MPI_THREAD_MULTIPLE < level
               ? MPI_THREAD_MULTIPLE_ABI_INTERNAL + level - MPI_THREAD_MULTIPLE
               : ompi_convert_ts_level_ompi_to_standard(level);
}

/** Likewise.  A level that is none in the MPI ABI is none in Open MPI's: -1. */
static inline int level_from_abi(int level)
{
    const int above = level - MPI_THREAD_MULTIPLE_ABI_INTERNAL;

    switch (level) {
    case MPI_THREAD_SINGLE_ABI_INTERNAL:
    case MPI_THREAD_FUNNELED_ABI_INTERNAL:
    case MPI_THREAD_SERIALIZED_ABI_INTERNAL:
    case MPI_THREAD_MULTIPLE_ABI_INTERNAL:
        return ompi_convert_abi_ts_level_intern_ts_level(level);
    default:
        return 0 < above && LEVELS_ABOVE_MULTIPLE >= above ? MPI_THREAD_MULTIPLE + above : -1;
    }
}

#endif /* MPIEXT_ENDPOINTS_ABI_H */
