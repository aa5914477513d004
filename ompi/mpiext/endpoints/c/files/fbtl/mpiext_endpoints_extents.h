/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * Pieces of memory that lie one behind the other in a file are read or written by one call of the
 * system, straight from where they are.
 */

#ifndef MPIEXT_ENDPOINTS_RUNS_H
#define MPIEXT_ENDPOINTS_RUNS_H

#include "ompi_config.h"

#include <sys/uio.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** Most pieces of a run: the system's limit. */
#    define MPIX_ENDPOINTS_RUN_PIECES 1024

/** Gaps up to so many bytes are read over; each is a piece, too. */
#    define MPIX_ENDPOINTS_RUN_GAP 4096

/** A run that grows; for a thread's stack. */
typedef struct mpix_endpoints_run_t {
    ompio_file_t *file;
    bool writes;
    bool locks;       /**< parts of the file are locked as ompio does */
    int error;        /**< an MPI class, or MPI_SUCCESS; then nothing more is done */
    int64_t file_end; /**< the least place at which there was nothing more to read */
    int64_t start;    /**< in the file */
    int64_t bytes;
    int count;
    struct iovec pieces[MPIX_ENDPOINTS_RUN_PIECES];
    char *gap; /**< takes what is read between pieces, and thrown away */
} mpix_endpoints_run_t;

/** Is a file read and written by calls of the system that can be made here? */
bool mpix_endpoints_run_can_be(const ompio_file_t *file);

/** Does ompio lock parts of the file while it reads or writes, and with reason?  Where all that are
 * moved go through one system, that one keeps them apart.
 * @param[in] is_on_node  all members of the file are on this node */
bool mpix_endpoints_run_locks(const ompio_file_t *file, bool is_on_node);

void mpix_endpoints_run_begin(mpix_endpoints_run_t *run, ompio_file_t *file, bool writes,
                              bool locks);

/** A piece more.  They come in ascending order in the file where there are to be few calls. */
void mpix_endpoints_run_add(mpix_endpoints_run_t *run, int64_t offset, char *memory, size_t bytes);

/** All pieces until now: their memory is not used any more. */
void mpix_endpoints_run_flush(mpix_endpoints_run_t *run);

/** No more pieces.  @return an MPI class, or OMPI_SUCCESS */
int mpix_endpoints_run_end(mpix_endpoints_run_t *run);

/** Of pieces, how many bytes are before the end of the file?  INT64_MAX: all. */
size_t mpix_endpoints_run_count(const mca_common_ompio_io_array_t *pieces, int count,
                                int64_t file_end);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_RUNS_H */
