/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Open MPI's fault tolerance (ULFM) on communicators of endpoints.
 *
 * It is about processes.  A failed one is entered into each communicator whose group has its proc:
 * of an endpoint communicator those are the endpoints of index 0 alone.  A revocation is sent to
 * processes by the slot of a communicator, which differs between the handles of endpoints.  So a
 * failed process leaves the state of a handle as it is: pml/epml ends what waits for lost peers
 * (docs/losses.md), names them, keeps what has been acknowledged, and passes revocations on.
 * MPIX_Comm_agree and MPIX_Comm_iagree are coll/epcoll's, and shrinking is pml/epml's.
 *
 * libmpi looks at the groups of all communicators in its table when it hears of a failure, in
 * whatever thread that is, and another one may be about to free a handle: at that time many do.  So
 * a handle leaves the table before its groups go, and not while libmpi looks.
 *
 * Tests: ulfm, ulfm_ack, ulfm_revoke, ulfm_shrink, comm_refused
 */

#include "ompi_config.h"

#include "../static/static.h"
#include "../base/base.h"
#include "hooks.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/mca/common/ep/common_ep_link.h"
#include "ompi/request/request.h"
#include "ompi/runtime/params.h"

#include <limits.h>
#include <pthread.h>

#if OPAL_ENABLE_FT_MPI

/** Held while libmpi looks at all communicators.  Recursive: telling others of a failure may find
 * another one. */
static pthread_mutex_t faults_look = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int MPIX_ENDPOINTS_HOOK_SHARED(ompi_errhandler_proc_failed_internal)(ompi_proc_t *proc, int status,
                                                                     bool forward)
{
    int rc;

    pthread_mutex_lock(&faults_look);
    rc = MPIX_ENDPOINTS_ORIGINAL(ompi_errhandler_proc_failed_internal)(proc, status, forward);
    pthread_mutex_unlock(&faults_look);
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_errhandler_proc_failed_internal);

/** libmpi looks at them also where its fault tolerance is off: the launcher's word is enough. */
static void leave_table(ompi_communicator_t *comm)
{
    pthread_mutex_lock(&faults_look);
    opal_pointer_array_set_item(&ompi_mpi_communicators, (int) comm->c_index, NULL);
    comm->c_index = (uint32_t) MPI_UNDEFINED; /* libmpi looks there once more otherwise */
    pthread_mutex_unlock(&faults_look);
}

int MPIX_ENDPOINTS_HOOK(ompi_comm_revoke_internal)(ompi_communicator_t *comm)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_revoke(comm)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_revoke_internal)(comm);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_revoke_internal);

int MPIX_ENDPOINTS_HOOK(ompi_comm_shrink_internal)(ompi_communicator_t *comm,
                                                   ompi_communicator_t **newcomm)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_shrink(comm, newcomm)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_shrink_internal)(comm, newcomm);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_shrink_internal);

#    if OMPI_MAJOR_VERSION >= 6

int MPIX_ENDPOINTS_HOOK(ompi_comm_ishrink_internal)(ompi_communicator_t *comm,
                                                    ompi_communicator_t **newcomm,
                                                    ompi_request_t **request)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_ishrink(comm, newcomm, request)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_ishrink_internal)(comm, newcomm, request);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_ishrink_internal);

#    endif

int MPIX_ENDPOINTS_HOOK(ompi_comm_get_failed_internal)(ompi_communicator_t *comm,
                                                       ompi_group_t **failed)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_failed(comm, false, failed)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_get_failed_internal)(comm, failed);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_get_failed_internal);

int MPIX_ENDPOINTS_HOOK(ompi_comm_ack_failed_internal)(ompi_communicator_t *comm, int wanted,
                                                       int *acked)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_ack_failed(comm, wanted, acked)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_ack_failed_internal)(comm, wanted, acked);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_ack_failed_internal);

int MPIX_ENDPOINTS_HOOK(ompi_comm_failure_ack_internal)(ompi_communicator_t *comm)
{
    int acked;

    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_ack_failed(comm, INT_MAX, &acked)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_failure_ack_internal)(comm);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_failure_ack_internal);

/* Called by MPIX_Comm_agree as well. */
int MPIX_ENDPOINTS_HOOK(ompi_comm_failure_get_acked_internal)(ompi_communicator_t *comm,
                                                              ompi_group_t **acked)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? mpix_endpoints_table()->comm_failed(comm, true, acked)
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_failure_get_acked_internal)(comm, acked);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_failure_get_acked_internal);

/* Called by all of libmpi's waiting for requests that are not complete, where fault tolerance is
 * on.  Of type COLL, for libmpi, are those of endpoints, which it never takes for failed. */
bool MPIX_ENDPOINTS_HOOK_SHARED(ompi_request_is_failed_fn)(ompi_request_t *request)
{
    const mpix_endpoints_pml_t *table = mpix_endpoints_table();

    return (OMPI_REQUEST_COLL == request->req_type && NULL != table
            && table->request_is_pending(request))
           || MPIX_ENDPOINTS_ORIGINAL(ompi_request_is_failed_fn)(request);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_request_is_failed_fn);

/* Called for each communicator when a process has failed, in libmpi's progress. */
int MPIX_ENDPOINTS_HOOK(ompi_comm_set_rank_failed)(ompi_communicator_t *comm, int rank, bool remote)
{
    return OPAL_UNLIKELY(mpix_endpoints_is_endpoint_comm(comm))
               ? OMPI_SUCCESS
               : MPIX_ENDPOINTS_ORIGINAL(ompi_comm_set_rank_failed)(comm, rank, remote);
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_comm_set_rank_failed);

#else

static void leave_table(ompi_communicator_t *comm)
{
    (void) comm;
}

#endif

void mpix_endpoints_handle_ends(ompi_communicator_t *comm)
{
    mpix_endpoints_bound_end(comm);
    mpix_endpoints_parent_end(comm);
    leave_table(comm);
}
