/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes that are spawned with endpoints.
 *
 * The info keys num_endpoints (the text of 2011, 0.2.4) and asp (the same in ranks) come to
 * ompi_dpm_spawn, which the root of a spawn alone calls.  A child cannot be made to have endpoints;
 * it is told how many by the variable of its environment that MPIX_Query_endpoints_told reads.
 * What is wrong with a key goes to the other members on libmpi's own way for errors of the root: a
 * number in the name of the port, which ompi_dpm_connect_accept broadcasts in place of its first
 * message.  So the keys add no message and no wait.  Members of a process without these functions,
 * because libmpi was loaded first there, see an error as well.
 *
 * Another key, mpix_remote_group, selects the members of the remote group of the parents'
 * intercommunicator: "processes", a child's first endpoint each, or "endpoints", all of them.  It is
 * for hook_connect.c.
 *
 * Tests: static_spawn, jobs_endpoints, jobs_all, install/binding
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/constants.h"
#include "ompi/dpm/dpm.h"
#include "ompi/info/info.h"

/** The keys by which a user adds to a child's environment: NAME=VALUE, one per line.  What is ours
 * goes to the first one.  (pmix.envar libmpi looks for by the name of the first one.) */
static const char *const environment_keys[] = {"PMIX_ENVAR", "env"};

#define NUM_ENVIRONMENT_KEYS (sizeof(environment_keys) / sizeof(environment_keys[0]))

/** What the others are sent in the place of an error code of libmpi's: -(FIRST_CAUSE + cause).
 * Libmpi's own are far above. */
enum { FIRST_CAUSE = 0x50000 };

/* ---- what the keys say ----------------------------------------------------------------------- */

/** Of one command. */
typedef struct child_t {
    int endpoints; /**< of each process; 0: none of the keys is there */
    int processes;
    bool is_all; /**< parents have all endpoints in their remote group */
} child_t;

#define REMOTE_KEY "mpix_remote_group"

static bool is_set(ompi_info_t *info, const char *key)
{
    opal_cstring_t *value;
    int flag = 0;

    (void) ompi_info_get(info, key, &value, &flag);
    if (0 != flag) {
        OBJ_RELEASE(value);
    }
    return 0 != flag;
}

/** @param[out] number  0: the key is not there
 * @return OMPI_SUCCESS, or a cause */
static int read_key(ompi_info_t *info, const char *key, int *number)
{
    opal_cstring_t *value;
    int flag = 0;
    char *end;
    long read;

    *number = 0;
    (void) ompi_info_get(info, key, &value, &flag);
    if (0 == flag) {
        return OMPI_SUCCESS;
    }
    errno = 0;
    read = strtol(value->string, &end, 10);
    flag = 0 == errno && end != value->string && '\0' == *end && 1 <= read && INT_MAX >= read;
    OBJ_RELEASE(value);
    *number = (int) read;
    return 0 != flag ? OMPI_SUCCESS : MPIX_ENDPOINTS_CAUSE_SPAWN_NUMBER;
}

/** @return OMPI_SUCCESS, or a cause */
static int read_remote(ompi_info_t *info, child_t *child)
{
    opal_cstring_t *value;
    int flag = 0, rc = OMPI_SUCCESS;

    (void) ompi_info_get(info, REMOTE_KEY, &value, &flag);
    if (0 == flag) {
        return OMPI_SUCCESS;
    }
    child->is_all = 0 == strcmp(value->string, "endpoints");
    if (!child->is_all && 0 != strcmp(value->string, "processes")) {
        rc = MPIX_ENDPOINTS_CAUSE_SPAWN_REMOTE;
    } else if (child->is_all && NULL == mpix_endpoints_table()) {
        rc = MPIX_ENDPOINTS_CAUSE_SPAWN_UNSELECTED;
    }
    OBJ_RELEASE(value);
    return rc;
}

/** @return OMPI_SUCCESS, or a cause */
static int read_child(ompi_info_t *info, int maxprocs, child_t *child)
{
    int rc, asp;

    *child = (child_t){.processes = maxprocs};
    if (NULL == info || &ompi_mpi_info_null.info == info) {
        return OMPI_SUCCESS;
    }
    rc = read_key(info, "num_endpoints", &child->endpoints);
    if (OMPI_SUCCESS == rc) {
        rc = read_key(info, "asp", &asp);
    }
    if (OMPI_SUCCESS == rc) {
        rc = read_remote(info, child);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (0 != asp) {
        if (0 != child->endpoints && asp != child->endpoints) {
            return MPIX_ENDPOINTS_CAUSE_SPAWN_NUMBER;
        }
        if (0 != maxprocs % asp) {
            return MPIX_ENDPOINTS_CAUSE_SPAWN_DIVIDES;
        }
        child->endpoints = asp;
        child->processes = maxprocs / asp;
    }
    if (1 < child->endpoints && NULL == mpix_endpoints_table()) {
        return MPIX_ENDPOINTS_CAUSE_SPAWN_UNSELECTED;
    }
    return 1 < child->endpoints && mpix_endpoints_limit() < child->endpoints
               ? MPIX_ENDPOINTS_CAUSE_SPAWN_LIMIT
               : OMPI_SUCCESS;
}

/* ---- what libmpi is given in their place ----------------------------------------------------- */

/** All lines but those about our variable, each with its end.
 *
 * @param[out] kept  room for one character more than given has
 * @return true: there was one about our variable */
static bool keep_others(const char *given, char *kept)
{
    bool had = false;

    while ('\0' != *given) {
        const size_t length = strcspn(given, "\n");

        if (0
            == strncmp(given, MPIX_ENDPOINTS_NUMBER_VARIABLE "=",
                       strlen(MPIX_ENDPOINTS_NUMBER_VARIABLE "="))) {
            had = true;
        } else {
            memcpy(kept, given, length);
            kept[length] = '\n';
            kept += length + 1;
        }
        given += length + ('\n' == given[length] ? 1 : 0);
    }
    *kept = '\0';
    return had;
}

/** What a key of the environment has beside our variable.
 *
 * @param[out] kept  the caller's, for free, with room for so many characters more
 * @param[out] had   there was a line about our variable
 * @return false: no memory */
static bool read_environment(ompi_info_t *info, const char *key, size_t room, char **kept,
                             bool *had)
{
    opal_cstring_t *given = NULL;
    int flag = 0;

    (void) ompi_info_get(info, key, &given, &flag);
    *kept = calloc(1, (0 != flag ? given->length + 2 : 1) + room);
    *had = 0 != flag && NULL != *kept && keep_others(given->string, *kept);
    if (0 != flag) {
        OBJ_RELEASE(given);
    }
    return NULL != *kept;
}

/** Does the user say in the child's environment how many endpoints it is to have? */
static int says_number(ompi_info_t *info, bool *says)
{
    *says = false;
    for (size_t i = 0; i < NUM_ENVIRONMENT_KEYS; ++i) {
        char *kept;
        bool had;

        if (!read_environment(info, environment_keys[i], 0, &kept, &had)) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
        free(kept);
        *says |= had;
    }
    return OMPI_SUCCESS;
}

/** Take our variable out of a key of the environment, and put a line there instead.
 *
 * @param[in] line  may be empty */
static int replace_in(ompi_info_t *info, const char *key, const char *line)
{
    int rc = OMPI_SUCCESS;
    char *kept;
    bool had;

    if (!read_environment(info, key, strlen(line), &kept, &had)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (had && '\0' == *kept && '\0' == *line) {
        rc = opal_info_delete(&info->super, key); /* libmpi does not survive one that is empty */
    } else if (had || '\0' != *line) {
        strcat(kept, line);
        rc = opal_info_set(&info->super, key, kept);
    }
    free(kept);
    return rc;
}

/** Has this process been told a number?  The launcher's own environment, which may have it, comes
 * down to children. */
static bool is_told(void)
{
    const char *told = getenv(MPIX_ENDPOINTS_NUMBER_VARIABLE);

    return NULL != told && '\0' != *told;
}

/** The key is in force, and not what the user says of the variable; without a key it is the other
 * way round.
 *
 * @param[in] endpoints  what the key says, or 0 */
static int spawn_set_number(ompi_info_t *info, int endpoints)
{
    char line[64];
    bool says;
    int rc = says_number(info, &says);

    if (OMPI_SUCCESS != rc || (0 == endpoints && (says || !is_told()))) {
        return rc;
    }
    (void) snprintf(line, sizeof(line), "%s=%d", MPIX_ENDPOINTS_NUMBER_VARIABLE,
                    0 != endpoints ? endpoints : 1);
    for (size_t i = 0; OMPI_SUCCESS == rc && i < NUM_ENVIRONMENT_KEYS; ++i) {
        rc = replace_in(info, environment_keys[i], 0 == i ? line : "");
    }
    return rc;
}

/** Does the user say where processes go, or to what they are bound?  It holds for the whole job. */
static bool is_placed(ompi_info_t *info)
{
    static const char *const keys[] = {"bind_to", "PMIX_BINDTO", "pmix.bindto",
                                       "map_by",  "PMIX_MAPBY",  "pmix.mapby"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); ++i) {
        if (is_set(info, keys[i])) {
            return true;
        }
    }
    return false;
}

/** A copy of the user's info object with what the child is to be told.
 *
 * @param[in] unbound  the user says nothing of binding: the launcher would bind a process to one
 *                     core, and with it all its threads, or refuse to start it where epmpirun has
 *                     given all cores to the first processes */
static ompi_info_t *spawn_child_info(ompi_info_t *info, const child_t *child, bool unbound)
{
    ompi_info_t *copy = OBJ_NEW(ompi_info_t);
    opal_info_t *to = NULL != copy ? &copy->super : NULL;
    int rc = NULL == copy                                       ? OMPI_ERR_OUT_OF_RESOURCE
             : NULL == info || &ompi_mpi_info_null.info == info ? OMPI_SUCCESS
                                                                : opal_info_dup(&info->super, &to);

    if (OMPI_SUCCESS == rc) {
        rc = spawn_set_number(copy, child->endpoints);
    }
    if (OMPI_SUCCESS == rc && unbound) {
        rc = opal_info_set(&copy->super, "bind_to", "none");
    }
    if (OMPI_SUCCESS != rc && NULL != copy) {
        OBJ_RELEASE(copy);
        copy = NULL;
    }
    return copy;
}

/** What libmpi is called with instead. */
typedef struct spawn_t {
    child_t *children;
    int *maxprocs;
    MPI_Info *infos;
} spawn_t;

static int spawn_alloc(spawn_t *spawn, int count)
{
    const size_t n = 0 < count ? (size_t) count : 1;

    spawn->children = calloc(n, sizeof(*spawn->children));
    spawn->maxprocs = calloc(n, sizeof(*spawn->maxprocs));
    spawn->infos = calloc(n, sizeof(*spawn->infos));
    return NULL != spawn->children && NULL != spawn->maxprocs && NULL != spawn->infos
               ? OMPI_SUCCESS
               : MPIX_ENDPOINTS_CAUSE_SPAWN;
}

static void spawn_free(spawn_t *spawn, int count)
{
    for (int i = 0; NULL != spawn->infos && i < count; ++i) {
        if (NULL != spawn->infos[i]) {
            OBJ_RELEASE(spawn->infos[i]);
        }
    }
    free(spawn->infos);
    free(spawn->maxprocs);
    free(spawn->children);
}

/** All commands, if all that is said of endpoints is right.  @return OMPI_SUCCESS, or a cause */
static int spawn_dress(spawn_t *spawn, int count, const int maxprocs[], const MPI_Info infos[])
{
    int rc = spawn_alloc(spawn, count);
    bool unbound = true;

    for (int i = 0; NULL != infos && i < count; ++i) {
        unbound = unbound
                  && (NULL == infos[i] || MPI_INFO_NULL == infos[i] || !is_placed(infos[i]));
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        rc = read_child(NULL != infos ? infos[i] : NULL, maxprocs[i], &spawn->children[i]);
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < count; ++i) {
        spawn->maxprocs[i] = spawn->children[i].processes;
        /* Once for the job: PRRTE 4 takes a second word of binding for a contradiction. */
        spawn->infos[i] = spawn_child_info(NULL != infos ? infos[i] : NULL, &spawn->children[i],
                                           unbound && 0 == i);
        rc = NULL != spawn->infos[i] ? OMPI_SUCCESS : MPIX_ENDPOINTS_CAUSE_SPAWN;
    }
    return rc;
}

/** Is there anything to say to children? */
static bool is_ours(int count, const MPI_Info infos[])
{
    for (int i = 0; NULL != infos && i < count; ++i) {
        if (NULL != infos[i] && MPI_INFO_NULL != infos[i]
            && (is_set(infos[i], "num_endpoints") || is_set(infos[i], "asp")
                || is_set(infos[i], REMOTE_KEY))) {
            return true;
        }
    }
    return NULL != mpix_endpoints_table();
}

/** Of the calling thread's last spawn. */
static _Thread_local char spawn_port[MPI_MAX_PORT_NAME];
static _Thread_local bool spawn_is_all;

bool mpix_endpoints_spawn_is_port(const char *port)
{
    return '\0' != *port && 0 == strcmp(spawn_port, port);
}

bool mpix_endpoints_spawn_wants_all(const char *port)
{
    return spawn_is_all && mpix_endpoints_spawn_is_port(port);
}

/** Of some command. */
static bool is_all(const spawn_t *spawn, int count)
{
    for (int i = 0; i < count; ++i) {
        if (spawn->children[i].is_all) {
            return true;
        }
    }
    return false;
}

int MPIX_ENDPOINTS_HOOK(ompi_dpm_spawn)(int count, const char *commands[], char **argvs[],
                                        const int maxprocs[], const MPI_Info infos[],
                                        const char *port)
{
    spawn_t spawn = {.children = NULL};
    int rc, cause;

    if (OPAL_LIKELY(!is_ours(count, infos))) {
        return MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_spawn)(count, commands, argvs, maxprocs, infos,
                                                       port);
    }
    (void) snprintf(spawn_port, sizeof(spawn_port), "%s", port);
    cause = spawn_dress(&spawn, count, maxprocs, infos);
    spawn_is_all = OMPI_SUCCESS == cause && is_all(&spawn, count);
    if (OMPI_SUCCESS == cause) {
        rc = MPIX_ENDPOINTS_ORIGINAL(ompi_dpm_spawn)(count, commands, argvs, spawn.maxprocs,
                                                     spawn.infos, port);
    } else if ('\0' == *port) { /* nobody waits for it: ompi_non_mpi */
        rc = mpix_endpoints_error_code((mpix_endpoints_cause_t) cause);
    } else {
        rc = -(FIRST_CAUSE + cause);
    }
    spawn_free(&spawn, count);
    return rc;
}
MPIX_ENDPOINTS_HOOK_DEFINED(ompi_dpm_spawn);

/* ---- what the others hear -------------------------------------------------------------------- */

int mpix_endpoints_spawn_heard(int rc)
{
    const int cause = -rc - FIRST_CAUSE;

    if (-MPI_ERR_SPAWN == rc && NULL != mpix_endpoints_table()) {
        return MPI_ERR_SPAWN; /* libmpi takes it for one of its own codes, and unknown */
    }
    return 0 <= cause && MPIX_ENDPOINTS_CAUSE_COUNT > cause
               ? mpix_endpoints_error_code((mpix_endpoints_cause_t) cause)
               : rc;
}
