/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Thread_attach, _detach, _attach_index and _attach_rank.
 *
 * What the text leaves undefined is an error here.
 *
 * Tests: static_attach, static_orphan
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"

/** Has MPI begun, and not ended? */
static inline bool is_running(void)
{
    const int32_t state = ompi_mpi_state;

    return OMPI_MPI_STATE_INIT_COMPLETED <= state
           && OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT > state;
}

/** Error codes come and go with MPI. */
__attribute__((noinline)) static int raise_cause(mpix_endpoints_cause_t cause, const char *name)
{
    const int code = is_running() ? mpix_endpoints_error_code(cause) : MPI_ERR_OTHER;

    return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

static inline int attach(mpix_endpoint_t *endpoint, bool moves, const char *name)
{
    int cause;

    if (OPAL_UNLIKELY(!is_running() || !mpix_endpoints_process_has(endpoint))) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT, name);
    }
    cause = mpix_endpoints_attach(endpoint, moves);
    return OPAL_LIKELY(OMPI_SUCCESS == cause) ? MPI_SUCCESS
                                              : raise_cause((mpix_endpoints_cause_t) cause, name);
}

int mpix_endpoints_call_attach(struct mpix_endpoint_t *endpoint)
{
    return attach(endpoint, false, "MPIX_Thread_attach");
}

int mpix_endpoints_call_detach(void)
{
    static const char name[] = "MPIX_Thread_detach";
    int cause;

    if (OPAL_UNLIKELY(!is_running())) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_DETACHED, name);
    }
    cause = mpix_endpoints_detach();
    return OPAL_LIKELY(OMPI_SUCCESS == cause) ? MPI_SUCCESS
                                              : raise_cause((mpix_endpoints_cause_t) cause, name);
}

int mpix_endpoints_call_attach_index(int index)
{
    const bool is_there = 0 <= index && mpix_endpoints_process_count() > index;

    return attach(is_there ? mpix_endpoints_process_endpoint(index) : NULL, true,
                  "MPIX_Thread_attach_index");
}

/** The endpoint of this process that a member of a group is, or NULL.  Procs are unique in a
 * process. */
static mpix_endpoint_t *member(ompi_group_t *group, int rank)
{
    const int count = mpix_endpoints_process_count();
    ompi_group_t *own;
    opal_process_name_t name;

    if (0 == count || 0 > rank || group->grp_proc_count <= rank) {
        return NULL;
    }
    own = mpix_endpoints_process_endpoint(0)->process->c_local_group;
    name = ompi_group_get_proc_name(group, rank);
    for (int i = 0; i < count; ++i) {
        const opal_process_name_t other = ompi_group_get_proc_name(own, i);

        if (other.jobid == name.jobid && other.vpid == name.vpid) {
            return mpix_endpoints_process_endpoint(i);
        }
    }
    return NULL;
}

int mpix_endpoints_call_attach_rank(int rank, MPI_Comm comm)
{
    static const char name[] = "MPIX_Thread_attach_rank";

    if (!is_running()) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT, name);
    }
    if (ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, name);
    }
    return attach(member(comm->c_local_group, rank), true, name);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_attach(MPIX_Endpoint endpoint)
    __attribute__((alias("mpix_endpoints_call_attach")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_attach(MPIX_Endpoint endpoint)
    __attribute__((weak, alias("mpix_endpoints_call_attach")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_detach(void)
    __attribute__((alias("mpix_endpoints_call_detach")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_detach(void)
    __attribute__((weak, alias("mpix_endpoints_call_detach")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_attach_index(int index)
    __attribute__((alias("mpix_endpoints_call_attach_index")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_attach_index(int index)
    __attribute__((weak, alias("mpix_endpoints_call_attach_index")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_attach_rank(int rank, MPI_Comm comm)
    __attribute__((alias("mpix_endpoints_call_attach_rank")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_attach_rank(int rank, MPI_Comm comm)
    __attribute__((weak, alias("mpix_endpoints_call_attach_rank")));
