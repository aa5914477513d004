/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPIX_Thread_attach, _detach, _attach_level, _attach_index and _attach_rank.
 *
 * MPIX_Thread_attach_rank also attaches to endpoints that were created later: comm_world.c.
 *
 * What the text leaves undefined is an error here.
 *
 * Tests: static_attach, static_orphan, attach_level, levels, world_attach
 */

#include "ompi_config.h"

#include "ompi/mpiext/endpoints/c/mpiext_endpoints_c.h"
#include "../static/static.h"
#include "../base/base.h"
#include "calls.h"

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/mpiruntime.h"

/** Error codes come and go with MPI.  By chapter 12's rules a thread may belong to no endpoint, and
 * the handler of the process's MPI_COMM_WORLD cannot be set where libmpix_world is loaded: the
 * first endpoint's is called. */
__attribute__((noinline)) static int raise_cause(mpix_endpoints_cause_t cause, const char *name)
{
    const int code = mpix_endpoints_process_is_running() ? mpix_endpoints_error_code(cause)
                                                         : MPI_ERR_OTHER;

    if (mpix_endpoints_process_is_running() && mpix_endpoints_process_is_asp()
        && mpix_endpoints_world_is_own()) {
        return OMPI_ERRHANDLER_INVOKE(mpix_endpoints_process_endpoint(0)->endpoints, code, name);
    }
    return OMPI_ERRHANDLER_NOHANDLE_INVOKE(code, name);
}

static inline int thread_attach_endpoint(mpix_endpoint_t *endpoint, int level, bool moves,
                                         const char *name)
{
    int cause;

    if (OPAL_UNLIKELY(!mpix_endpoints_process_is_running()
                      || !mpix_endpoints_process_has(endpoint))) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT, name);
    }
    cause = mpix_endpoints_attach(endpoint, level, moves);
    return OPAL_LIKELY(OMPI_SUCCESS == cause) ? MPI_SUCCESS
                                              : raise_cause((mpix_endpoints_cause_t) cause, name);
}

int mpix_endpoints_call_attach(struct mpix_endpoint_t *endpoint)
{
    return thread_attach_endpoint(endpoint, -1, false, "MPIX_Thread_attach");
}

int mpix_endpoints_call_attach_level(struct mpix_endpoint_t *endpoint, int level)
{
    static const char name[] = "MPIX_Thread_attach_level";

    if (mpix_endpoints_process_has(endpoint)
        && (MPI_THREAD_SINGLE > level || endpoint->level < level)) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_LEVEL, name);
    }
    return thread_attach_endpoint(endpoint, level, false, name);
}

int mpix_endpoints_call_detach(void)
{
    static const char name[] = "MPIX_Thread_detach";
    int cause;

    if (OPAL_UNLIKELY(!mpix_endpoints_process_is_running())) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_DETACHED, name);
    }
    cause = mpix_endpoints_detach();
    return OPAL_LIKELY(OMPI_SUCCESS == cause) ? MPI_SUCCESS
                                              : raise_cause((mpix_endpoints_cause_t) cause, name);
}

int mpix_endpoints_call_attach_index(int index)
{
    const bool is_there = 0 <= index && mpix_endpoints_process_count() > index;

    return thread_attach_endpoint(is_there ? mpix_endpoints_process_endpoint(index) : NULL, -1,
                                  true, "MPIX_Thread_attach_index");
}

/** Is every member that shares this process's memory an endpoint from the beginning on? */
static bool is_of_static(ompi_group_t *group)
{
    const opal_process_name_t own = ompi_proc_local_proc->super.proc_name;

    for (int i = 0; i < group->grp_proc_count; ++i) {
        const opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (name.jobid == own.jobid && name.vpid % mpix_endpoints_job_size() == own.vpid
            && NULL == mpix_endpoints_process_member(group, i)) {
            return false;
        }
    }
    return true;
}

int mpix_endpoints_call_attach_rank(int rank, MPI_Comm comm)
{
    static const char name[] = "MPIX_Thread_attach_rank";
    ompi_communicator_t *handle = NULL;

    if (!mpix_endpoints_process_is_running()) {
        return raise_cause(MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT, name);
    }
    if (ompi_comm_invalid(comm)) {
        return OMPI_ERRHANDLER_NOHANDLE_INVOKE(MPI_ERR_COMM, name);
    }
    if (!mpix_endpoints_is_endpoint_comm(comm) || is_of_static(comm->c_local_group)) {
        return thread_attach_endpoint(mpix_endpoints_process_member(comm->c_local_group, rank), -1,
                                      true, name);
    }
    handle = 0 <= rank ? mpix_endpoints_call_handle_of(comm, rank) : NULL;
    return NULL != handle ? mpix_endpoints_call_bind(handle, name)
                          : thread_attach_endpoint(NULL, -1, true, name);
}

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_attach(MPIX_Endpoint endpoint)
    __attribute__((alias("mpix_endpoints_call_attach")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_attach(MPIX_Endpoint endpoint)
    __attribute__((weak, alias("mpix_endpoints_call_attach")));

MPIX_ENDPOINTS_EXPORT int PMPIX_Thread_attach_level(MPIX_Endpoint endpoint, int required)
    __attribute__((alias("mpix_endpoints_call_attach_level")));
MPIX_ENDPOINTS_EXPORT int MPIX_Thread_attach_level(MPIX_Endpoint endpoint, int required)
    __attribute__((weak, alias("mpix_endpoints_call_attach_level")));

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
