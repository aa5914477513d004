/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Spawned processes that end before they have met their parents.
 *
 * The root of a spawn waits for a string that they publish by the launcher, for ten minutes.  The
 * launcher tells this process when a job that it has started is over; then the string is published
 * here, empty.  The job's name is what PMIx_Spawn returns, which libmpi keeps to itself.
 *
 * Called by libmpi (PMIx_Spawn), by hook_connect.c, and by PMIx's thread, which must not block.
 *
 * Tests: jobs_endpoints (dies), ulfm_spawn
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "hooks.h"

#include <pthread.h>
#include <string.h>

#include "opal/mca/pmix/pmix-internal.h"

/** Jobs that have ended are known for so many more that end. */
enum { NUM_ENDED = 64 };

/** A root that waits. */
typedef struct waiter_t {
    struct waiter_t *next;
    const char *job, *key;
} waiter_t;

static struct {
    pthread_mutex_t lock;
    bool is_heard; /**< the launcher tells us */
    waiter_t *waiters;
    char ended[NUM_ENDED][PMIX_MAX_NSLEN + 1];
    unsigned int num_ended;
} children = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** The job that the calling thread has started last. */
static _Thread_local char thread_job[PMIX_MAX_NSLEN + 1];

static void job_ended(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                      pmix_info_t info[], size_t num_info, pmix_info_t results[],
                      size_t num_results, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void) handler;
    (void) status;
    (void) info;
    (void) num_info;
    (void) results;
    (void) num_results;
    pthread_mutex_lock(&children.lock);
    if (NULL != source) {
        PMIX_LOAD_NSPACE(children.ended[children.num_ended++ % NUM_ENDED], source->nspace);
    }
    for (waiter_t *waiter = children.waiters; NULL != source && NULL != waiter;
         waiter = waiter->next) {
        if (PMIX_CHECK_NSPACE(waiter->job, source->nspace)) {
            mpix_endpoints_publish(waiter->key, "");
        }
    }
    pthread_mutex_unlock(&children.lock);
    if (NULL != done) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
    }
}

/** Before the first job is started. */
static void children_listen(void)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;
    bool is_first;

    pthread_mutex_lock(&children.lock);
    is_first = !children.is_heard;
    children.is_heard = true;
    pthread_mutex_unlock(&children.lock);
    if (is_first) {
        (void) PMIx_Register_event_handler(&code, 1, NULL, 0, job_ended, NULL, NULL);
    }
}

pmix_status_t MPIX_ENDPOINTS_HOOK(PMIx_Spawn)(const pmix_info_t infos[], size_t num_infos,
                                              const pmix_app_t apps[], size_t num_apps,
                                              pmix_nspace_t job)
{
    pmix_status_t status;

    if (NULL == mpix_endpoints_table()) {
        return MPIX_ENDPOINTS_ORIGINAL(PMIx_Spawn)(infos, num_infos, apps, num_apps, job);
    }
    children_listen();
    status = MPIX_ENDPOINTS_ORIGINAL(PMIx_Spawn)(infos, num_infos, apps, num_apps, job);
    PMIX_LOAD_NSPACE(thread_job, PMIX_SUCCESS == status ? job : NULL);
    return status;
}
MPIX_ENDPOINTS_HOOK_DEFINED(PMIx_Spawn);

/** Has that job ended already?  Under the lock. */
static bool has_ended(const char *job)
{
    for (unsigned int i = 0; i < NUM_ENDED && i < children.num_ended; ++i) {
        if (PMIX_CHECK_NSPACE(children.ended[i], job)) {
            return true;
        }
    }
    return false;
}

int mpix_endpoints_children_exchange(pmix_info_t *info, pmix_pdata_t *pdat, int timeout)
{
    waiter_t waiter = {.job = thread_job, .key = pdat->key};
    waiter_t **place;
    int rc;

    pthread_mutex_lock(&children.lock);
    waiter.next = children.waiters;
    children.waiters = &waiter;
    if (has_ended(waiter.job)) {
        mpix_endpoints_publish(waiter.key, "");
    }
    pthread_mutex_unlock(&children.lock);
    rc = MPIX_ENDPOINTS_ORIGINAL(opal_pmix_base_exchange)(info, pdat, timeout);
    pthread_mutex_lock(&children.lock);
    for (place = &children.waiters; &waiter != *place; place = &(*place)->next) {
    }
    *place = waiter.next;
    pthread_mutex_unlock(&children.lock);
    /* As the root of a spawn says it to its side: hook_spawn.c. */
    return OMPI_SUCCESS == rc && '\0' == *pdat->value.data.string ? -MPI_ERR_SPAWN : rc;
}
