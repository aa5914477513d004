/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The launcher's table of the job's processes, requested when a thread waits and no
 * event has reported a death.  Answers come in PMIx's thread.
 *
 * Each answer has a line for each process, so questions are few: when no socket listens at a peer's
 * address any more, in MPI_Finalize, and now and then where a process waits.
 *
 * Called by pml_epml_finalize.c, pml_epml_lost_launcher.c and loss/.
 *
 * Tests: death (--end apart; --how none, untold_), finalize, fault (route), jobs_death, jobs_all
 */

#include "ompi_config.h"

#include "pml_epml_pmix.h"
#include "pml_epml_clock.h"
#include "pml_epml_job.h"
#include "pml_epml_lost_launcher.h"

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Naps while an answer is waited for, in microseconds, and how many there are at most when it is
 * not wanted any more. */
#define NAP_US 100
#define ANSWER_NAPS 1000

static struct {
    opal_mutex_t lock; /**< of what follows, but for the counts.  PMIx's thread takes it: nothing is
                           * asked of PMIx that waits for that thread under it */
    bool open;         /**< there is a consumer for an answer */
    bool all;          /**< the daemon that answers knows of the whole job */
    unsigned char *lives;         /**< of each process, by the last answer; NULL: none has come */
    uint64_t watch_ns;            /**< when mca_pml_epml_pmix_watch asks again, ... */
    uint64_t watch_wait;          /**< ... and how long it waits after that */
    atomic_uint asking;           /**< answers that may still come */
    _Atomic uint64_t answered_ns; /**< when the last one came; 0: none has */
    atomic_bool mute;             /**< the launcher has refused to answer */
} proc_table = {.lock = OPAL_MUTEX_STATIC_INIT};

/** Does the daemon that answers know of the whole job?  The launcher does; its daemons tell of the
 * deaths on their own nodes, and take others to live (prterun 3.0.8). */
static bool answers_for_all(void)
{
    pmix_value_t *rank = NULL;
    bool is = false;

    if (PMIX_SUCCESS == PMIx_Get(&ompi_process_info.myprocid, PMIX_SERVER_RANK, NULL, 0, &rank)) {
        is = PMIX_PROC_RANK == rank->type && 0 == rank->data.rank;
        PMIX_VALUE_RELEASE(rank);
    }
    return is;
}

/** This process's node, as a table calls it; NULL: it is not in it. */
static const char *own_node(const pmix_proc_info_t *procs, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        if (PMIX_CHECK_PROCID(&procs[i].proc, &ompi_process_info.myprocid)) {
            return procs[i].hostname;
        }
    }
    return NULL;
}

/** The processes of a table: which live, as far as the answering server can know, and which have
 * ended in an error. */
static void read_table(const pmix_data_array_t *table)
{
    const pmix_proc_info_t *procs = table->array;
    const size_t count = PMIX_PROC_INFO == table->type ? table->size : 0;
    const char *node = own_node(procs, count);

    if (NULL == proc_table.lives) {
        proc_table.lives = calloc(ompi_process_info.num_procs, 1);
    }
    for (size_t i = 0; i < count; ++i) {
        opal_process_name_t name;
        const bool known = proc_table.all
                           || (NULL != node && NULL != procs[i].hostname
                               && 0 == strcmp(node, procs[i].hostname));

        if (!mca_pml_epml_job_name(&procs[i].proc, &name)) {
            continue;
        }
        if (NULL != proc_table.lives && OMPI_PROC_MY_NAME->jobid == name.jobid) {
            proc_table.lives[name.vpid] = known && PMIX_PROC_STATE_UNDEF < procs[i].state
                                          && PMIX_PROC_STATE_UNTERMINATED > procs[i].state;
        }
        if (PMIX_PROC_STATE_ERROR <= procs[i].state) {
            mca_pml_epml_lost_process(&name);
        }
    }
}

static void on_answer(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *context,
                      pmix_release_cbfunc_t release, void *release_context)
{
    (void) context;
    opal_mutex_lock(&proc_table.lock);
    for (size_t i = 0; proc_table.open && PMIX_SUCCESS == status && i < ninfo; ++i) {
        if (PMIX_DATA_ARRAY == info[i].value.type && NULL != info[i].value.data.darray) {
            read_table(info[i].value.data.darray);
        }
    }
    opal_mutex_unlock(&proc_table.lock);
    if (NULL != release) {
        release(release_context);
    }
    /* Relaxed: what it says is under the lock. */
    atomic_store_explicit(&proc_table.mute, PMIX_SUCCESS != status, memory_order_relaxed);
    atomic_store_explicit(&proc_table.answered_ns, mca_pml_epml_now_ns(), memory_order_relaxed);
    /* Release: the component is not used any more; partner: the acquire in
     * mca_pml_epml_pmix_close. */
    atomic_fetch_sub_explicit(&proc_table.asking, 1, memory_order_release);
}

/** The question for a job, always the same: PMIx reads it while it is asked. */
static void put_question(pmix_query_t *query, pmix_info_t *job, const char *nspace)
{
    static char *keys[] = {PMIX_QUERY_PROC_TABLE, NULL};
    bool is_there, all;

    opal_mutex_lock(&proc_table.lock);
    proc_table.open = true;
    is_there = NULL != query->keys;
    opal_mutex_unlock(&proc_table.lock);
    if (is_there) {
        return;
    }
    all = answers_for_all();
    opal_mutex_lock(&proc_table.lock);
    if (NULL == query->keys) {
        proc_table.all = all;
        PMIX_INFO_LOAD(job, PMIX_NSPACE, nspace, PMIX_STRING);
        *query = (pmix_query_t){.keys = keys, .qualifiers = job, .nqual = 1};
    }
    opal_mutex_unlock(&proc_table.lock);
}

void mca_pml_epml_pmix_ask(opal_jobid_t id)
{
    static pmix_query_t own_query;
    static pmix_info_t own_job;
    mca_pml_epml_job_t *job = mca_pml_epml_job_find(id);
    pmix_query_t *query = NULL != job ? &job->question.query : &own_query;

    if (NULL != job && '\0' == job->nspace[0]) {
        return;
    }
    put_question(query, NULL != job ? &job->question.job : &own_job,
                 NULL != job ? job->nspace : ompi_process_info.myprocid.nspace);
    /* Relaxed: PMIx hands the question to its thread in order. */
    atomic_fetch_add_explicit(&proc_table.asking, 1, memory_order_relaxed);
    if (PMIX_SUCCESS != PMIx_Query_info_nb(query, 1, on_answer, NULL)) {
        atomic_fetch_sub_explicit(&proc_table.asking, 1, memory_order_relaxed);
        atomic_store_explicit(&proc_table.mute, true, memory_order_relaxed);
    }
}

/** The most doublings of the time between two questions. */
#define DOUBLE_MOST 6

/** Each of n processes asks for n lines; the launcher is not to have more than one in a microsecond
 * to write.  Where it has not answered one it may be that it never will, or that it needs more
 * time. */
uint64_t mca_pml_epml_pmix_interval(void)
{
    const uint64_t count = ompi_process_info.num_procs;
    /* Relaxed: nothing is read after it. */
    const unsigned int open = atomic_load_explicit(&proc_table.asking, memory_order_relaxed);

    return (mca_pml_epml_component.liveness_interval * UINT64_C(1000) + count * count)
           << (open < DOUBLE_MOST ? open : DOUBLE_MOST);
}

bool mca_pml_epml_pmix_watch(void)
{
    const uint64_t now = mca_pml_epml_now_ns();
    const uint64_t wait = 1000 * mca_pml_epml_pmix_interval();
    bool ask;

    opal_mutex_lock(&proc_table.lock);
    ask = now >= proc_table.watch_ns;
    if (ask) {
        /* For processes that neither the launcher nor a connection reports: twice as long each
         * time. */
        proc_table.watch_wait = 2 * proc_table.watch_wait < wait << DOUBLE_MOST
                                    ? 2 * proc_table.watch_wait
                                    : wait << DOUBLE_MOST;
        proc_table.watch_wait = proc_table.watch_wait < wait ? wait : proc_table.watch_wait;
        proc_table.watch_ns = now + proc_table.watch_wait;
    }
    opal_mutex_unlock(&proc_table.lock);
    if (ask) {
        mca_pml_epml_pmix_ask(OMPI_PROC_MY_NAME->jobid);
        for (const mca_pml_epml_job_t *job = mca_pml_epml_job_next(NULL); NULL != job;
             job = mca_pml_epml_job_next(job)) {
            mca_pml_epml_pmix_ask(job->id);
        }
    }
    return atomic_load_explicit(&proc_table.mute, memory_order_relaxed)
           || (0 == atomic_load_explicit(&proc_table.answered_ns, memory_order_relaxed)
               && 1 < atomic_load_explicit(&proc_table.asking, memory_order_relaxed));
}

/** Ask, and wait for the answer, unless there is one that is not old.  @return is there one? */
static bool ask_and_wait(const opal_process_name_t *name)
{
    const uint64_t before = atomic_load_explicit(&proc_table.answered_ns, memory_order_relaxed);

    if (0 != before && mca_pml_epml_now_ns() - before < 1000 * mca_pml_epml_pmix_interval()) {
        return true;
    }
    mca_pml_epml_pmix_ask(OMPI_PROC_MY_NAME->jobid);
    /* Naps are counted, not time: a machine that stands still does so for the launcher, too. */
    for (unsigned int us = 0;
         us < 1000 * mca_pml_epml_component.launcher_wait && !mca_pml_epml_lost_is_dead(name)
         && before == atomic_load_explicit(&proc_table.answered_ns, memory_order_relaxed)
         && !atomic_load_explicit(&proc_table.mute, memory_order_relaxed);
         us += NAP_US) {
        (void) usleep(NAP_US);
    }
    return before != atomic_load_explicit(&proc_table.answered_ns, memory_order_relaxed);
}

bool mca_pml_epml_pmix_lives(const opal_process_name_t *name)
{
    bool lives;

    if (OMPI_PROC_MY_NAME->jobid != name->jobid) {
        return false;
    }
    lives = ask_and_wait(name);
    opal_mutex_lock(&proc_table.lock);
    lives = lives && NULL != proc_table.lives
            && 0 != proc_table.lives[name->vpid % ompi_process_info.num_procs];
    opal_mutex_unlock(&proc_table.lock);
    return lives && !mca_pml_epml_lost_is_dead(name);
}

bool mca_pml_epml_pmix_close(void)
{
    unsigned int asking;

    opal_mutex_lock(&proc_table.lock);
    proc_table.open = false;
    free(proc_table.lives);
    proc_table.lives = NULL;
    opal_mutex_unlock(&proc_table.lock);
    asking = atomic_load_explicit(&proc_table.asking, memory_order_acquire);
    for (int naps = 0; 0 < asking && naps < ANSWER_NAPS; ++naps) {
        (void) usleep(NAP_US);
        asking = atomic_load_explicit(&proc_table.asking, memory_order_acquire);
    }
    return 0 < asking;
}
