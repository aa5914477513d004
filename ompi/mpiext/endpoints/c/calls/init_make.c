/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The endpoints that the processes of a job begin with.  Where some process asks for endpoints, all
 * make them, together.
 *
 * All find out alike, from what each has said before it could send (static/announce.c), whether
 * there are to be any, and whether there can be; so all come to make them, or none does.  What can
 * go wrong after that is agreed on by the creation itself, and by one exchange after it.  A process
 * with two phases knows its number only after it has spoken: in a job with such processes there is
 * an exchange before the creation, too.
 *
 * Called by the functions that begin MPI (init_endpoint.c, init_phases.c, init_thread.c).
 *
 * Tests: static_world, static_errors, static_told, two_phase, jobs_all
 */

#include "ompi_config.h"

#include "mpiext_endpoints_begin.h"
#include "../static/static.h"

#include <stdio.h>
#include <stdlib.h>

#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/info/info.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/runtime/mpiruntime.h"

static const char *const level_names[] = {
    [MPI_THREAD_SINGLE] = "single",
    [MPI_THREAD_FUNNELED] = "funneled",
    [MPI_THREAD_SERIALIZED] = "serialized",
    [MPI_THREAD_MULTIPLE] = "multiple",
};

/** Does a process of the job begin in two phases? */
static bool has_phases;

/** It goes on only if all have got so far; more in MPI_COMM_WORLD than has already been said there,
 * but once or twice per job.
 *
 * @param[in] wrong  0, or MPIX_ENDPOINTS_BEGINS_WRONG and a cause
 * @return an MPI error code, the same everywhere but for its number */
static int init_agree(int wrong)
{
    ompi_communicator_t *world = &ompi_mpi_comm_world.comm;
    int most = 0;
    const int rc = world->c_coll->coll_allreduce(&wrong, &most, 1, MPI_INT, MPI_MAX, world,
                                                 world->c_coll->coll_allreduce_module);

    if (OMPI_SUCCESS != rc) {
        return ompi_errcode_get_mpi_code(rc);
    }
    return 0 == most ? MPI_SUCCESS
                     : mpix_endpoints_error_code(
                         (mpix_endpoints_cause_t) (most - MPIX_ENDPOINTS_BEGINS_WRONG));
}

/** All endpoints of the job, and what each has for itself.
 *
 * @param[in,out] handles  room for them, and as much behind it */
static int make_with(const mpix_endpoints_begin_t *begin, ompi_communicator_t *handles[],
                     ompi_info_t *info)
{
    int code = mpix_endpoints_call_create(MPI_COMM_WORLD, begin->count, info, handles);
    bool is_begun;

    if (MPI_SUCCESS != code) {
        return code; /* everybody has an error */
    }
    is_begun = OMPI_SUCCESS == mpix_endpoints_process_begin(handles, begin->count, begin->level);
    code = init_agree(is_begun ? 0 : MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_RESOURCE);
    if (MPI_SUCCESS == code) {
        code = mpix_endpoints_parent_meet(handles, handles + begin->count, begin->count);
    }
    if (MPI_SUCCESS != code && is_begun) {
        mpix_endpoints_process_undo();
    } else if (MPI_SUCCESS != code) {
        for (int i = 0; i < begin->count; ++i) {
            (void) ompi_comm_free(&handles[i]);
        }
    } else {
        mpix_endpoints_world_name_static();
    }
    return code;
}

/** Says in MPI_INFO_ENV how many ranks share this process's memory from the beginning on: the key
 * asp of chapter 12's draft for MPI 3, section 12.5, which its examples 12.4 and 12.5 call
 * MPI_ENV_ASP. */
static void note_asp(int count)
{
    char text[16];

    (void) snprintf(text, sizeof(text), "%d", count);
    (void) opal_info_set(&ompi_mpi_info_env.info.super, "asp", text);
    (void) opal_info_set(&ompi_mpi_info_env.info.super, "MPI_ENV_ASP", text);
}

/** Without memory for the smallest things it takes part all the same, to tell the others. */
static int init_make_endpoints(const mpix_endpoints_begin_t *begin)
{
    ompi_info_t *info = OBJ_NEW(ompi_info_t);
    ompi_communicator_t **handles = 0 < begin->count
                                        ? calloc(2 * (size_t) begin->count, sizeof(*handles))
                                        : NULL;
    int code;

    if (NULL != info) {
        (void) opal_info_set(&info->super, "mpix_thread_level", level_names[begin->level]);
    }
    code = make_with(begin, handles, NULL != info ? info : &ompi_mpi_info_null.info);
    free(handles);
    if (NULL != info) {
        OBJ_RELEASE(info);
    }
    if (MPI_SUCCESS == code) {
        note_asp(begin->count);
    }
    return code;
}

int mpix_endpoints_begin_make(const mpix_endpoints_begin_t *begin)
{
    int code = has_phases ? init_agree(begin->wrong) : MPI_SUCCESS;

    if (MPI_SUCCESS == code) {
        code = init_make_endpoints(begin);
    }
    mpix_endpoints_parent_fail(code);
    return code;
}

int mpix_endpoints_begin_later(const mpix_endpoints_begin_t *begin)
{
    const int code = init_agree(begin->wrong);

    return MPI_SUCCESS == code ? init_make_endpoints(begin) : code;
}

/** Nobody asks for endpoints.  Where all have looked, all have duplicates. */
static int make_duplicates(int most, bool all)
{
    const int rc = MPIX_ENDPOINTS_BEGINS_PLAIN == most && all ? mpix_endpoints_process_duplicate()
                                                              : OMPI_SUCCESS;

    if (OMPI_SUCCESS != rc) {
        return ompi_errcode_get_mpi_code(rc);
    }
    note_asp(1);
    return MPI_SUCCESS;
}

int mpix_endpoints_begin_look(bool asks, bool *makes)
{
    bool all;
    const int most = mpix_endpoints_announced(&all);

    *makes = false;
    if (NULL == mpix_endpoints_table() && asks) {
        mpix_endpoints_show_help("not selected",
                                 mca_pml_base_selected_component.pmlm_version.mca_component_name);
        return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_NOT_SELECTED);
    }
    if (MPIX_ENDPOINTS_BEGINS_WRONG <= most) {
        return mpix_endpoints_error_code((mpix_endpoints_cause_t) (most
                                                                   - MPIX_ENDPOINTS_BEGINS_WRONG));
    }
    if (MPIX_ENDPOINTS_BEGINS_STATIC > most) {
        return asks ? mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_ABSENT)
                    : make_duplicates(most, all);
    }
    if (!all) {
        return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_ABSENT);
    }
    has_phases = MPIX_ENDPOINTS_BEGINS_PHASES == most;
    *makes = true;
    return MPI_SUCCESS;
}

int mpix_endpoints_begin(const mpix_endpoints_begin_t *begin, bool asks)
{
    bool makes;
    const int code = mpix_endpoints_begin_look(asks, &makes);

    return MPI_SUCCESS == code && makes ? mpix_endpoints_begin_make(begin) : code;
}

int mpix_endpoints_begin_check_array(int count, struct mpix_endpoint_t *const endpoints[])
{
    if (mpix_endpoints_call_no_room == (const char *) endpoints) {
        return MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_RESOURCE;
    }
    return 0 < count && NULL == endpoints
               ? MPIX_ENDPOINTS_BEGINS_WRONG + MPIX_ENDPOINTS_CAUSE_NO_ARRAY
               : 0;
}

int mpix_endpoints_begin_fill(int code, int count, struct mpix_endpoint_t *endpoints[])
{
    for (int i = 0; MPI_SUCCESS == code && i < count; ++i) {
        endpoints[i] = mpix_endpoints_process_endpoint(i);
    }
    return code;
}

/** Is libmpi beginning for one of ours?  Written before there are other threads in MPI. */
static bool is_running;

int mpix_endpoints_begin_libmpi(int how, int level, mpix_endpoints_init_fn_t libmpi,
                                void *arguments)
{
    int code;

    mpix_endpoints_announce(how);
    is_running = true;
    code = libmpi(arguments, level);
    is_running = false;
    return code;
}

bool mpix_endpoints_begin_is_running(void)
{
    return is_running;
}

bool mpix_endpoints_begin_is_late(void)
{
    return OMPI_MPI_STATE_NOT_INITIALIZED != ompi_mpi_state;
}

int mpix_endpoints_begin_late_code(void)
{
    return 0 == ompi_instance_count ? MPI_ERR_OTHER
                                    : mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_INITIALIZED);
}
