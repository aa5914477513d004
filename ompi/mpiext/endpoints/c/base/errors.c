/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The error class MPIX_ERR_ENDPOINTS and its error codes, and codes of ours in MPI_ERR_SPAWN.
 *
 * They are added to Open MPI's table when they are first asked for.  Open MPI empties that table
 * when MPI is finalized and may be initialized again after that (sessions), so each use looks
 * whether the entries are still ours.
 *
 * Tests: create_errors, static_errors, two_phase, static_spawn (errors)
 */

#include "ompi_config.h"

#include "mpiext_endpoints_errors.h"
#include "mpiext_endpoints_told.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "ompi/attribute/attribute.h"
#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/errhandler/errcode.h"
#include "ompi/errhandler/errhandler.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/mca/base/mca_base_var.h"

static const char class_string[] = "MPIX_ERR_ENDPOINTS: endpoints could not be created, or used so";

/** What each code's string says; the limits' are completed by code_add. */
static const char *const cause_strings[MPIX_ENDPOINTS_CAUSE_COUNT] = {
    [MPIX_ENDPOINTS_CAUSE_LIMIT]
    = "MPIX_ERR_ENDPOINTS: more endpoints in one process than its launcher was told "
      "(epmpirun -endpoints, MPIX_ENDPOINTS), or pml_epml_max_endpoints, allows",
    [MPIX_ENDPOINTS_CAUSE_RESOURCE]
    = "MPIX_ERR_ENDPOINTS: a process of the communicator could not get what its endpoints need: "
      "memory, a network context, valid MCA parameters, an address that makes sense",
    [MPIX_ENDPOINTS_CAUSE_NOT_SELECTED]
    = "MPIX_ERR_ENDPOINTS: this run has no endpoints; start it with epmpirun, or add "
      "\"--mca pml epml\" to mpirun",
    [MPIX_ENDPOINTS_CAUSE_HOOKS]
    = "MPIX_ERR_ENDPOINTS: libmpix_endpoints cannot reach Open MPI's functions, for the reason "
      "that was printed",
    [MPIX_ENDPOINTS_CAUSE_INITIALIZED]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint, or a relative of it, after another initialization "
      "of MPI",
    [MPIX_ENDPOINTS_CAUSE_COUNT_WRONG]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint was asked for less than no endpoint by a process",
    [MPIX_ENDPOINTS_CAUSE_LEVEL_WRONG]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint was given no thread level of MPI's by a process, or "
      "MPI_THREAD_SINGLE for more than one endpoint",
    [MPIX_ENDPOINTS_CAUSE_NO_ARRAY]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint was given no array for its endpoints by a process",
    [MPIX_ENDPOINTS_CAUSE_ABSENT]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint was called, but a process does not take part: it "
      "loaded libmpi before libmpix_endpoints, began with a session, or is one of more than 256 "
      "without MPIX_ENDPOINTS_STATIC=1",
    [MPIX_ENDPOINTS_CAUSE_NO_PLACE]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint_begin was given no place for a result by a process",
    [MPIX_ENDPOINTS_CAUSE_COUNT_NONE]
    = "MPIX_ERR_ENDPOINTS: MPIX_Endpoint_create was asked for less than one endpoint by a process",
    [MPIX_ENDPOINTS_CAUSE_NO_PHASE]
    = "MPIX_ERR_ENDPOINTS: MPIX_Endpoint_create is called once, after MPIX_Init_endpoint_begin",
    [MPIX_ENDPOINTS_CAUSE_THREADS]
    = "MPIX_ERR_ENDPOINTS: MPIX_Init_endpoint_thread was called by threads of a process whose "
      "numbers are not 0 to one less than the launcher's (epmpirun -endpoints), each once",
    [MPIX_ENDPOINTS_CAUSE_NO_ENDPOINT]
    = "MPIX_ERR_ENDPOINTS: a thread cannot be attached to what is no endpoint that its process has "
      "had since it began MPI",
    [MPIX_ENDPOINTS_CAUSE_ATTACHED]
    = "MPIX_ERR_ENDPOINTS: the thread is attached to an endpoint (new ones to the first): "
      "MPIX_Thread_detach comes before MPIX_Thread_attach",
    [MPIX_ENDPOINTS_CAUSE_TAKEN]
    = "MPIX_ERR_ENDPOINTS: another thread is attached to the endpoint, and the thread level allows "
      "one",
    [MPIX_ENDPOINTS_CAUSE_LEVEL]
    = "MPIX_ERR_ENDPOINTS: MPIX_Thread_attach_level was given no thread level of MPI's, or more "
      "than the endpoint's MPIX_MAX_THREAD_LEVEL",
    [MPIX_ENDPOINTS_CAUSE_DIFFERS]
    = "MPIX_ERR_ENDPOINTS: other threads are attached to the endpoint at another thread level",
    [MPIX_ENDPOINTS_CAUSE_FOR_LIFE]
    = "MPIX_ERR_ENDPOINTS: at this thread level a thread belongs to its endpoint for life; it "
      "attaches once at MPIX_THREAD_ATTACH, any time at MPIX_THREAD_REATTACH, never below",
    [MPIX_ENDPOINTS_CAUSE_DETACHED]
    = "MPIX_ERR_ENDPOINTS: MPIX_Thread_detach by a thread that is attached to no endpoint",
    [MPIX_ENDPOINTS_CAUSE_ATTRIBUTE]
    = "MPIX_ERR_ENDPOINTS: an attribute of what is no endpoint that this process has had since it "
      "began MPI",
    [MPIX_ENDPOINTS_CAUSE_SPAWN] = "MPI_ERR_SPAWN: no memory to start processes with endpoints",
    [MPIX_ENDPOINTS_CAUSE_SPAWN_NUMBER]
    = "MPI_ERR_SPAWN: nothing was started: the info key num_endpoints, or asp, is no number from 1 "
      "on, or they differ",
    [MPIX_ENDPOINTS_CAUSE_SPAWN_LIMIT]
    = "MPI_ERR_SPAWN: nothing was started: the info key num_endpoints, or asp, is more than "
      "pml_epml_max_endpoints allows in one process",
    [MPIX_ENDPOINTS_CAUSE_SPAWN_DIVIDES]
    = "MPI_ERR_SPAWN: nothing was started: the info key asp does not divide maxprocs",
    [MPIX_ENDPOINTS_CAUSE_SPAWN_UNSELECTED]
    = "MPI_ERR_SPAWN: nothing was started: the info key num_endpoints, asp, or mpix_remote_group, "
      "in a run that has no endpoints; start it with epmpirun, or add \"--mca pml epml\" to mpirun",
    [MPIX_ENDPOINTS_CAUSE_SPAWN_REMOTE]
    = "MPI_ERR_SPAWN: nothing was started: the info key mpix_remote_group is neither \"processes\" "
      "nor \"endpoints\"",
};

static pthread_mutex_t errors_lock = PTHREAD_MUTEX_INITIALIZER;
static int errors_class;                             /**< 0: not added yet */
static int errors_codes[MPIX_ENDPOINTS_CAUSE_COUNT]; /**< 0: not added yet */

/** Is there an entry in Open MPI's table under this number, and is it the class added here? */
static bool class_is_ours(int errclass)
{
    ompi_mpi_errcode_t *entry;

    if (0 == errclass || ompi_mpi_errcode_is_invalid(errclass)) {
        return false;
    }
    entry = opal_pointer_array_get_item(&ompi_mpi_errcodes, errclass);
    return NULL != entry && 0 == strcmp(entry->errstring, class_string);
}

/** Keep the attribute MPI_LASTUSEDCODE of MPI_COMM_WORLD up to date, if there is a world, as
 * MPI_Add_error_class does, which is not called: what it is called with differs between libmpi
 * and libmpi_abi, and a program may have either.  @return false if that failed */
static bool note_added(int number)
{
    const int32_t state = ompi_mpi_state;

    return OMPI_MPI_STATE_INIT_COMPLETED > state
           || OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT <= state
           || MPI_SUCCESS
                  == ompi_attr_set_fint(COMM_ATTR, MPI_COMM_WORLD, &MPI_COMM_WORLD->c_keyhash,
                                        MPI_LASTUSEDCODE, number, true);
}

/** Make sure that the class is there.  Under errors_lock.  @return the class, or 0 */
static int class_get(void)
{
    int errclass;

    if (class_is_ours(errors_class)) {
        return errors_class;
    }
    memset(errors_codes, 0, sizeof(errors_codes));
    errors_class = 0;

    errclass = ompi_mpi_errclass_add();
    if (0 < errclass && note_added(errclass)
        && OMPI_SUCCESS
               == ompi_mpi_errnum_add_string(errclass, class_string, sizeof(class_string))) {
        errors_class = errclass;
    }
    return errors_class;
}

int mpix_endpoints_limit(void)
{
    const int *limit = NULL;
    int index = mca_base_var_find("ompi", "pml", "epml", "max_endpoints");

    return 0 > index || OPAL_SUCCESS != mca_base_var_get_value(index, &limit, NULL, NULL)
                   || NULL == limit
               ? 0
               : *limit;
}

/** Add a code with its string, and the limit in this process if it is about that.  Under
 * errors_lock, the class is there.  @return the code, or 0 */
static int code_add(int errclass, mpix_endpoints_cause_t cause)
{
    const bool is_limit = MPIX_ENDPOINTS_CAUSE_LIMIT == cause
                          || MPIX_ENDPOINTS_CAUSE_SPAWN_LIMIT == cause;
    const int told = MPIX_ENDPOINTS_CAUSE_LIMIT == cause ? mpix_endpoints_most_told() : INT_MAX;
    int limit = is_limit ? mpix_endpoints_limit() : 0;
    char string[MPI_MAX_ERROR_STRING];
    int code;

    limit = told < limit ? told : limit;
    if (0 < limit) {
        snprintf(string, sizeof(string), "%s (here %d)", cause_strings[cause], limit);
    } else {
        snprintf(string, sizeof(string), "%s", cause_strings[cause]);
    }
    code = ompi_mpi_errcode_add(MPIX_ENDPOINTS_CAUSE_SPAWN <= cause ? MPI_ERR_SPAWN : errclass);
    if (0 >= code || !note_added(code)
        || OMPI_SUCCESS != ompi_mpi_errnum_add_string(code, string, (int) strlen(string) + 1)) {
        return 0;
    }
    return code;
}

int mpix_endpoints_error_code(mpix_endpoints_cause_t cause)
{
    int errclass, code;

    pthread_mutex_lock(&errors_lock);
    errclass = class_get();
    if (0 != errclass && 0 == errors_codes[cause]) {
        errors_codes[cause] = code_add(errclass, cause);
    }
    code = errors_codes[cause];
    pthread_mutex_unlock(&errors_lock);

    return 0 != code ? code : MPI_ERR_INTERN;
}

int mpix_endpoints_error_code_of(mpix_endpoints_error_t error, int rc)
{
    switch (error) {
    case MPIX_ENDPOINTS_ERR_ARG:
        return MPI_ERR_ARG;
    case MPIX_ENDPOINTS_ERR_LIMIT:
        return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_LIMIT);
    case MPIX_ENDPOINTS_ERR_RESOURCE:
        return mpix_endpoints_error_code(MPIX_ENDPOINTS_CAUSE_RESOURCE);
    case MPIX_ENDPOINTS_ERR_PROMISE:
        return MPI_ERR_INFO_VALUE;
    case MPIX_ENDPOINTS_ERR_INTERN:
        return MPI_ERR_INTERN;
    case MPIX_ENDPOINTS_ERR_COMM:
        return MPI_ERR_COMM;
    case MPIX_ENDPOINTS_ERR_LOST:
        return MPI_ERR_PROC_FAILED;
    case MPIX_ENDPOINTS_OK:
        break;
    }
    /* Not a matter of endpoints: an argument, or an exchange, was wrong. */
    return OMPI_SUCCESS != rc ? ompi_errcode_get_mpi_code(rc) : MPI_ERR_INTERN;
}

int mpix_endpoints_own_error_class(void)
{
    int errclass;

    if (0 == ompi_instance_count) {
        return MPI_ERR_UNKNOWN;
    }
    pthread_mutex_lock(&errors_lock);
    errclass = class_get();
    pthread_mutex_unlock(&errors_lock);

    return 0 != errclass ? errclass : MPI_ERR_UNKNOWN;
}
