/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * How each process of a job begins: by MPIX_Init_endpoint, by MPI_Init or MPI_Init_thread, or in a
 * way that ours does not see.
 *
 * Endpoints of a static job are made by all its processes together, right after libmpi has begun in
 * each.  So each must know, without a message, whether any of them wants endpoints, and whether all
 * will take part in making them; otherwise a process could wait for ever.  Before
 * anything can be sent all processes exchange what they have to say (PMIx), and wait for that; this
 * is one number more in it.  It also has what is wrong with a process's arguments, so that all get
 * the same error, and no endpoint is made.
 *
 * Tests: static_world (mixed), static_errors
 */

#include "ompi_config.h"

#include "mpiext_endpoints_announce.h"

#include <stdlib.h>

#include "ompi/runtime/params.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

#define KEY "mpix.endpoints.begins"

/** Seconds for what is not here. */
#define PATIENCE_S 30

/** In jobs of up to so many processes all look whether anybody asks for endpoints; each look at one
 * takes some 20 to 100 us.  epmpirun, which knows the number, sets LOOK_VARIABLE in larger ones. */
#define LOOK_MOST 256

/** 1: all look in any job; 0: in none. */
#define LOOK_VARIABLE "MPIX_ENDPOINTS_STATIC"

static int announced; /**< before libmpi begins, by the thread that begins */
static int published; /**< what the others know */

void mpix_endpoints_announce(int how)
{
    announced = how;
}

/** Does a process that does not ask for endpoints look whether others do? */
static bool announce_is_looked_up(void)
{
    const char *wanted = getenv(LOOK_VARIABLE);

    return NULL != wanted && '\0' != *wanted ? 0 != atoi(wanted)
                                             : LOOK_MOST >= mpix_endpoints_job_size();
}

/** Will all have said how they begin when libmpi has begun here?  Where it neither gathers that nor
 * waits for anybody, one that starts late may be missing for some and there for others. */
static bool is_heard(void)
{
    return !ompi_async_mpi_init || !opal_pmix_base_async_modex || opal_pmix_collect_all_data;
}

void mpix_endpoints_announce_publish(void)
{
    const int how = !is_heard()
                            || (MPIX_ENDPOINTS_BEGINS_PLAIN == announced
                                && !announce_is_looked_up())
                        ? MPIX_ENDPOINTS_BEGINS_WITHOUT
                        : announced;
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = (uint32_t) how};

    published = PMIX_SUCCESS == PMIx_Put(PMIX_GLOBAL, KEY, &value) ? how
                                                                   : MPIX_ENDPOINTS_BEGINS_WITHOUT;
}

void mpix_endpoints_announce_forget(void)
{
    announced = published = MPIX_ENDPOINTS_BEGINS_WITHOUT;
}

/** What another process has announced.  All processes under epml announce something.  It is here by
 * now, or is fetched from there. */
static int said_by(uint32_t vpid)
{
    int patience = PATIENCE_S, how = MPIX_ENDPOINTS_BEGINS_WITHOUT;
    pmix_value_t *value = NULL;
    pmix_proc_t proc;
    pmix_info_t info;

    PMIX_LOAD_PROCID(&proc, opal_process_info.myprocid.nspace, vpid);
    PMIX_INFO_LOAD(&info, PMIX_TIMEOUT, &patience, PMIX_INT);
    if (PMIX_SUCCESS == PMIx_Get(&proc, KEY, &info, 1, &value) && PMIX_UINT32 == value->type) {
        how = (int) value->data.uint32;
    }
    PMIX_INFO_DESTRUCT(&info);
    if (NULL != value) {
        PMIX_VALUE_RELEASE(value);
    }
    return how;
}

int mpix_endpoints_announced(bool *all)
{
    int most = published;

    *all = MPIX_ENDPOINTS_BEGINS_WITHOUT != published;
    if (MPIX_ENDPOINTS_BEGINS_WITHOUT == published) {
        return most;
    }
    for (uint32_t vpid = 0; vpid < mpix_endpoints_job_size(); ++vpid) {
        const int how = OPAL_PROC_MY_NAME.vpid == vpid ? published : said_by(vpid);

        most = most < how ? how : most;
        *all &= MPIX_ENDPOINTS_BEGINS_WITHOUT != how;
    }
    return most;
}

bool mpix_endpoints_announces_endpoints(void)
{
    bool all;
    const int most = mpix_endpoints_announced(&all);

    return all && MPIX_ENDPOINTS_BEGINS_STATIC <= most && MPIX_ENDPOINTS_BEGINS_WRONG > most;
}
