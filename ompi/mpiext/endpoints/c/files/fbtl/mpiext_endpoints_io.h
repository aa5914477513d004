/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reads and writes of one member, requests of all ranks of the process, and the state of a file.
 */

#ifndef MPIEXT_ENDPOINTS_IO_H
#define MPIEXT_ENDPOINTS_IO_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "../../base/base.h"

#if MPIX_ENDPOINTS_FILES

BEGIN_C_DECLS

/** The state of a file of endpoints while it is open; part of a struct of its owner. */
typedef struct mpix_endpoints_io_state_t {
    bool is_on_node;     /**< all members are on this node; set by the owner before any read */
    bool is_open;        /**< opening it has succeeded; by the thread that opens it */
    _Atomic int failure; /**< of the last read or write that failed: an MPI class; or MPI_SUCCESS */
} mpix_endpoints_io_state_t;

/**
 * Allocate a request of ompio's that is not in ompio's list.  Any thread.
 *
 * @param[in]  alloc  ompio's own function, which enters it
 * @param[out] req_p  the request
 */
void mpix_endpoints_io_request_alloc(void (*alloc)(mca_ompio_request_t **req_p,
                                                   mca_ompio_request_type_t type),
                                     mca_ompio_request_t **req_p, mca_ompio_request_type_t type);

/** ompio has selected the fbtl component of a file: our functions stand before the component's from
 * now on.  @return OMPI_SUCCESS or OMPI_ERR_OUT_OF_RESOURCE */
int mpix_endpoints_io_select(ompio_file_t *file);

/** The state of a file; NULL: it has none.  Any thread, while the file is open. */
mpix_endpoints_io_state_t *mpix_endpoints_io_state(const ompio_file_t *file);

/** Give a file a state.  By the thread that opens the file.
 * @param[in] state  the caller's, until it is detached
 * @return false: no memory, or the file has not been selected */
bool mpix_endpoints_io_state_attach(ompio_file_t *file, mpix_endpoints_io_state_t *state);

/** Take it away again, from a file that has one. */
void mpix_endpoints_io_state_detach(ompio_file_t *file);

/** Clear the failure of a file that has a state: a call begins that makes reads and writes. */
void mpix_endpoints_io_failure_clear(const ompio_file_t *file);

/** The last failure since then.  @return an MPI class, or MPI_SUCCESS */
int mpix_endpoints_io_failure(const ompio_file_t *file);

/** Register the progress of requests with libmpi, once in a session. */
void mpix_endpoints_io_register_progress(void);

/** MPI begins, for the first time or after all of its sessions have ended: libmpi has no progress
 * functions, and ompio no pool of buffers.  By one thread. */
void mpix_endpoints_io_session_begin(void);

/** Can data be converted?  ompio makes its pool for that once in a process, and uses it even after
 * it has been freed. */
bool mpix_endpoints_io_can_convert(void);

/** Progress the requests of this process, except those that another thread progresses now.  Any
 * thread, without a lock.  @return how many have ended */
int mpix_endpoints_io_progress(void);

/** Is a request under way?  Any thread; the answer may be stale. */
bool mpix_endpoints_io_is_busy(void);

END_C_DECLS

#endif

#endif /* MPIEXT_ENDPOINTS_IO_H */
