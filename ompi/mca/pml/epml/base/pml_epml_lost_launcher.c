/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the launcher says of processes that have died, and how that is reported to the user.
 *
 * Called by all code that asks which processes are dead and, in PMIx's thread, by the launcher.
 *
 * Tests: death (told_), jobs_death
 */

#include "ompi_config.h"

#include "pml_epml.h"
#include "pml_epml_pmix.h"
#include "pml_epml_job.h"
#include "pml_epml_lost_launcher.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"

#include <unistd.h>

_Atomic uint32_t mca_pml_epml_lost_count = 0;

#define BITS 64

/** The processes of the own job that are dead; those of others: mca_pml_epml_job_t. */
static struct {
    opal_mutex_t lock; /**< of starting and stopping */
    bool started;
    size_t handler; /**< PMIx's number of ours; SIZE_MAX: none */
    /** A bit for each process; written by PMIx's thread.  NULL: no handler for the launcher's
     * events. */
    _Atomic uint64_t *_Atomic dead;
    opal_mutex_t telling; /**< of what follows */
    bool reported;        /**< to the user */
} lost = {.lock = OPAL_MUTEX_STATIC_INIT, .handler = SIZE_MAX, .telling = OPAL_MUTEX_STATIC_INIT};

/** @return the own job's bits, or NULL.  Any thread, also one of a process without endpoints. */
static inline _Atomic uint64_t *the_dead(void)
{
    /* Acquire: that they are clear before their address; partner: the release in
     * mca_pml_epml_lost_start. */
    return atomic_load_explicit(&lost.dead, memory_order_acquire);
}

/** Set with the first loss. */
static atomic_bool lost_anybody;

void mca_pml_epml_lost_set_anybody(void)
{
    /* Relaxed: as below. */
    atomic_store_explicit(&lost_anybody, true, memory_order_relaxed);
}

bool mca_pml_epml_lost_anybody(void)
{
    /* Relaxed: nothing is read after it. */
    return atomic_load_explicit(&lost_anybody, memory_order_relaxed);
}

/* ---- the launcher's reports ------------------------------------------------------------------ */

/** The bits of a process's job, or NULL. */
static inline _Atomic uint64_t *the_dead_of(opal_jobid_t id)
{
    mca_pml_epml_job_t *job;

    if (OPAL_LIKELY(OMPI_PROC_MY_NAME->jobid == id)) {
        return the_dead();
    }
    job = mca_pml_epml_job_find(id);
    return NULL != job ? job->dead : NULL;
}

void mca_pml_epml_lost_process(const opal_process_name_t *name)
{
    const opal_vpid_t vpid = mca_pml_epml_name_process(name).vpid;
    const uint64_t bit = UINT64_C(1) << (vpid % BITS);
    _Atomic uint64_t *dead = the_dead_of(name->jobid);

    if (NULL == dead
        || 0 != (atomic_fetch_or_explicit(&dead[vpid / BITS], bit, memory_order_relaxed) & bit)) {
        return;
    }
    mca_pml_epml_lost_set_anybody();
    /* Release: orders the bit before the count; partner: the acquire load in
     * mca_pml_epml_lost_look. */
    atomic_fetch_add_explicit(&mca_pml_epml_lost_count, 1, memory_order_release);
}

static void on_event(size_t handler, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *context)
{
    (void) handler;
    (void) status;
    (void) source;
    (void) results;
    (void) nresults;
    for (size_t i = 0; i < ninfo; ++i) {
        opal_process_name_t name;

        if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && PMIX_PROC == info[i].value.type
            && mca_pml_epml_job_name(info[i].value.data.proc, &name)) {
            mca_pml_epml_lost_process(&name);
        }
    }
    /* Open MPI has a handler of its own for its communicators; it is next. */
    if (NULL != done) {
        done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, context);
    }
}

bool mca_pml_epml_lost_is_dead(const opal_process_name_t *name)
{
    const opal_vpid_t process = mca_pml_epml_name_process(name).vpid;
    const _Atomic uint64_t *dead = the_dead_of(name->jobid);

    /* Relaxed: mca_pml_epml_lost_look has seen the count; others may see it early. */
    return NULL != dead
           && 0
                  != (atomic_load_explicit(&dead[process / BITS], memory_order_relaxed)
                      & UINT64_C(1) << (process % BITS));
}

/** The launcher is waited for in naps of so many milliseconds. */
#define NAP 10

/** Naps are counted, not time: a machine that stands still does so for the launcher, too. */
bool mca_pml_epml_lost_wait(const opal_process_name_t *name)
{
    if (NULL == the_dead()) {
        return false;
    }
    /* It may not tell by itself, and it may not know yet when it is asked at once. */
    mca_pml_epml_pmix_ask(name->jobid);
    for (unsigned int ms = 0;
         ms < mca_pml_epml_component.launcher_wait && !mca_pml_epml_lost_is_dead(name); ms += NAP) {
        (void) usleep(1000 * NAP);
    }
    if (!mca_pml_epml_lost_is_dead(name)) {
        (void) mca_pml_epml_pmix_lives(name);
    }
    return mca_pml_epml_lost_is_dead(name);
}

void mca_pml_epml_lost_start(void)
{
    MCA_BTL_EP_HOLD_CANCEL(); /* it waits for PMIx, with a lock */
    pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED,         PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_PROC_TERM_WO_SYNC,    PMIX_ERR_PROC_KILLED_BY_CMD,
                             PMIX_ERR_PROC_REQUESTED_ABORT, PMIX_ERR_EXIT_NONZERO_TERM};
    pmix_info_t info[2];
    pmix_status_t handler;

    opal_mutex_lock(&lost.lock);
    if (!lost.started) {
        lost.started = true;
        /* Release: see the_dead. */
        atomic_store_explicit(&lost.dead,
                              calloc(ompi_process_info.num_procs / BITS + 1, sizeof(uint64_t)),
                              memory_order_release);
    }
    if (NULL != the_dead() && SIZE_MAX == lost.handler) {
        /* Before Open MPI's, which would end the chain. */
        PMIX_INFO_LOAD(&info[0], PMIX_EVENT_HDLR_PREPEND, NULL, PMIX_BOOL);
        PMIX_INFO_LOAD(&info[1], PMIX_EVENT_HDLR_NAME, "MPI-Endpoints", PMIX_STRING);
        /* Without a callback it waits, and returns the handler's number or an error. */
        handler = PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), info, 2,
                                              on_event, NULL, NULL);
        PMIX_INFO_DESTRUCT(&info[0]);
        PMIX_INFO_DESTRUCT(&info[1]);
        if (0 <= handler) {
            lost.handler = (size_t) handler;
        }
        mca_pml_epml_finalize_start();
    }
    opal_mutex_unlock(&lost.lock);
}

void mca_pml_epml_lost_stop(void)
{
    if (SIZE_MAX != lost.handler) {
        (void) PMIx_Deregister_event_handler(lost.handler, NULL, NULL);
        lost.handler = SIZE_MAX;
    }
    mca_pml_epml_finalize_stop();
    /* Relaxed: alone by now. */
    free(atomic_exchange_explicit(&lost.dead, NULL, memory_order_relaxed));
    lost.started = false;
    lost.reported = false;
    /* Alone by now. */
    atomic_store_explicit(&lost_anybody, false, memory_order_relaxed);
    atomic_store_explicit(&mca_pml_epml_lost_count, 0, memory_order_relaxed);
}

/* ---- words ----------------------------------------------------------------------------------- */

int mca_pml_epml_lost_describe_process(const opal_process_name_t *name, char *text, size_t size)
{
    const opal_process_name_t process = mca_pml_epml_name_process(name);
    opal_proc_t *proc = ompi_proc_for_name(process);
    const char *host = NULL != proc ? opal_get_proc_hostname(proc) : NULL;

    return snprintf(text, size, "rank %u%s on host %s", process.vpid,
                    OMPI_PROC_MY_NAME->jobid == process.jobid ? "" : " of another job",
                    NULL != host ? host : "unknown");
}

/** The dead of a job, in words.
 * @param[in] used  of text, which has size bytes
 * @return likewise, afterwards */
static size_t list_dead(opal_jobid_t id, char *text, size_t used, size_t size)
{
    opal_process_name_t name = {.jobid = id};

    for (; name.vpid < mca_pml_epml_job_size(id); ++name.vpid) {
        if (!mca_pml_epml_lost_is_dead(&name)) {
            continue;
        }
        if (used > size - 100) {
            (void) snprintf(text + used, size - used, ", and more");
            break;
        }
        used += (size_t) snprintf(text + used, size - used, 0 == used ? "" : ", ");
        used += (size_t) mca_pml_epml_lost_describe_process(&name, text + used, size - used);
        used = used < size ? used : size - 1;
    }
    return used;
}

static void say_who_is_dead(void)
{
    char text[512] = "";
    size_t used = list_dead(OMPI_PROC_MY_NAME->jobid, text, 0, sizeof(text));

    for (const mca_pml_epml_job_t *job = mca_pml_epml_job_next(NULL); NULL != job;
         job = mca_pml_epml_job_next(job)) {
        used = list_dead(job->id, text, used, sizeof(text));
    }
    EPML_SHOW_HELP("process lost", true, text, (unsigned int) OMPI_PROC_MY_NAME->vpid,
                   ompi_process_info.nodename);
}

void mca_pml_epml_lost_tell(void)
{
    opal_mutex_lock(&lost.telling);
    if (!lost.reported) {
        say_who_is_dead();
        lost.reported = true;
    }
    opal_mutex_unlock(&lost.telling);
}
