/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The error class MPIX_ERR_ENDPOINTS, its error codes, and those for what the PML reports.
 */

#ifndef MPIEXT_ENDPOINTS_ERRORS_H
#define MPIEXT_ENDPOINTS_ERRORS_H

#include "ompi_config.h"

#include "ompi/mca/common/ep/common_ep_link.h"

BEGIN_C_DECLS

/** The causes of error class MPIX_ERR_ENDPOINTS, and those of MPI_ERR_SPAWN that are ours; each has
 * an error code of its own. */
typedef enum mpix_endpoints_cause_t {
    MPIX_ENDPOINTS_CAUSE_LIMIT,        /**< more than the launcher, or a parameter, allows */
    MPIX_ENDPOINTS_CAUSE_RESOURCE,     /**< the fabric or the memory allows no more */
    MPIX_ENDPOINTS_CAUSE_NOT_SELECTED, /**< no pml/epml in this run */
    MPIX_ENDPOINTS_CAUSE_HOOKS,        /**< libmpi cannot be reached */
    MPIX_ENDPOINTS_CAUSE_INITIALIZED,  /**< MPIX_Init_endpoint: MPI has begun before */
    MPIX_ENDPOINTS_CAUSE_COUNT_WRONG,  /**< likewise: a negative number */
    MPIX_ENDPOINTS_CAUSE_LEVEL_WRONG,  /**< likewise: no thread level, or not enough of one */
    MPIX_ENDPOINTS_CAUSE_NO_ARRAY,     /**< likewise: no place for handles */
    MPIX_ENDPOINTS_CAUSE_ABSENT,       /**< likewise: a process takes no part */
    MPIX_ENDPOINTS_CAUSE_NO_PLACE,     /**< MPIX_Init_endpoint_begin: no place for a result */
    MPIX_ENDPOINTS_CAUSE_COUNT_NONE,   /**< MPIX_Endpoint_create: less than one */
    MPIX_ENDPOINTS_CAUSE_NO_PHASE, /**< likewise: not behind MPIX_Init_endpoint_begin, or twice */
    MPIX_ENDPOINTS_CAUSE_THREADS,  /**< MPIX_Init_endpoint_thread: threads and numbers differ */
    MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT,   /**< attaching: none of this process */
    MPIX_ENDPOINTS_CAUSE_ATTACHED,      /**< attaching: the thread is attached */
    MPIX_ENDPOINTS_CAUSE_TAKEN,         /**< attaching: another one is, and the level is for one */
    MPIX_ENDPOINTS_CAUSE_LEVEL,         /**< attaching: no level, or more than the endpoint has */
    MPIX_ENDPOINTS_CAUSE_DIFFERS,       /**< attaching: others are there at another level */
    MPIX_ENDPOINTS_CAUSE_FOR_LIFE,      /**< attaching, detaching: the level does not allow it */
    MPIX_ENDPOINTS_CAUSE_DETACHED,      /**< detaching: the thread is not attached */
    MPIX_ENDPOINTS_CAUSE_ATTRIBUTE,     /**< attributes: no endpoint of this process */
    MPIX_ENDPOINTS_CAUSE_SPAWN,         /**< from here on class MPI_ERR_SPAWN: no memory to do so */
    MPIX_ENDPOINTS_CAUSE_SPAWN_NUMBER,  /**< num_endpoints, asp: no number, or two */
    MPIX_ENDPOINTS_CAUSE_SPAWN_LIMIT,   /**< likewise: more than pml_epml_max_endpoints */
    MPIX_ENDPOINTS_CAUSE_SPAWN_DIVIDES, /**< asp: does not divide maxprocs */
    MPIX_ENDPOINTS_CAUSE_SPAWN_UNSELECTED, /**< a key of ours: no pml/epml in this run */
    MPIX_ENDPOINTS_CAUSE_SPAWN_REMOTE,     /**< mpix_remote_group: none of its values */
    MPIX_ENDPOINTS_CAUSE_COUNT
} mpix_endpoints_cause_t;

/**
 * The class; made when it is first asked for.  Any thread, any time.
 *
 * @return MPI_ERR_UNKNOWN before MPI_Init and after MPI_Finalize, or if there is no memory for it
 */
int mpix_endpoints_own_error_class(void);

/**
 * The MPI error code for a cause; made when it is first asked for.  Between MPI_Init and
 * MPI_Finalize, any thread.
 *
 * @return a code of the cause's class with an error string; MPI_ERR_INTERN if there is no memory
 *         for one
 */
int mpix_endpoints_error_code(mpix_endpoints_cause_t cause);

/** What pml_epml_max_endpoints is in this process; 0 without pml/epml.  As
 * mpix_endpoints_error_code. */
int mpix_endpoints_limit(void);

/** The MPI error code for what the PML reports: an error of its own, or else rc, an OMPI or MPI
 * error code.  As mpix_endpoints_error_code. */
int mpix_endpoints_error_code_of(mpix_endpoints_error_t error, int rc);

END_C_DECLS

#endif /* MPIEXT_ENDPOINTS_ERRORS_H */
