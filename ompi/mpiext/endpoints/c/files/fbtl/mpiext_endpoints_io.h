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
 * Requests of files, of all ranks of a process, whichever thread looks after them.
 */

#ifndef MPIEXT_ENDPOINTS_IO_H
#define MPIEXT_ENDPOINTS_IO_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** What is kept of a file of endpoints while it is open; a part of what its owner keeps. */
typedef struct mpix_endpoints_io_state_t {
    bool is_on_node;     /**< all members are on this node; its owner's, before others read it */
    _Atomic int failure; /**< of the last read or write that failed: an MPI class; or MPI_SUCCESS */
} mpix_endpoints_io_state_t;

/**
 * A request of ompio's, and not in ompio's list.  Any thread.
 *
 * @param[in]  alloc  ompio's own function, which puts it there
 * @param[out] req_p  its
 */
void mpix_endpoints_io_new(void (*alloc)(mca_ompio_request_t **req_p,
                                         mca_ompio_request_type_t type),
                           mca_ompio_request_t **req_p, mca_ompio_request_type_t type);

/** ompio has chosen who reads and writes a file: the requests that they begin are ours to look
 * after from now on.  @return OMPI_SUCCESS or an error */
int mpix_endpoints_io_take(ompio_file_t *file);

/** The state of a file; NULL: it has none.  Any thread, while the file is open. */
mpix_endpoints_io_state_t *mpix_endpoints_io_state(const ompio_file_t *file);

/** Give a file a state.  By the thread that opens it.
 * @param[in] state  the caller's, until it is detached
 * @return false: no memory, or the file has not been taken */
bool mpix_endpoints_io_state_attach(ompio_file_t *file, mpix_endpoints_io_state_t *state);

/** Take it away again, from a file that has one. */
void mpix_endpoints_io_state_detach(ompio_file_t *file);

/** Forget failures of a file that has a state: a call begins, of which reads and writes are
 * parts. */
void mpix_endpoints_io_failure_clear(const ompio_file_t *file);

/** Has a read or a write failed since?  @return an MPI class, or MPI_SUCCESS */
int mpix_endpoints_io_failure(const ompio_file_t *file);

/** Have them looked after by whoever waits in libmpi, in this session. */
void mpix_endpoints_io_enter_progress(void);

/** MPI begins, for the first time or after all of its sessions have ended: libmpi has forgotten
 * what it looks after, and ompio its pool of buffers.  By one thread. */
void mpix_endpoints_io_session(void);

/** Can data be converted?  ompio makes its pool for that once in a process, and then uses it also
 * when it is gone. */
bool mpix_endpoints_io_can_convert(void);

/** Look after the requests of this process, those apart that another thread looks after now.  Any
 * thread, with no lock.  @return how many have ended */
int mpix_endpoints_io_progress(void);

/** Has a request been begun that has not ended?  Any thread; the answer may be old. */
bool mpix_endpoints_io_is_busy(void);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_IO_H */
