/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 *
 * MPI_Finalize after a loss.
 *
 * Open MPI's processes wait for each other in MPI_Finalize, by a fence of the launcher's, which now
 * and then goes on waiting for one that is dead.  Where that happens nobody ever gets on.  So the
 * fence is begun here, just before Open MPI would (a callback of its framework "hook"), and a
 * process that has lost somebody goes on after a while without the others.  It has taken part:
 * those who still wait do not wait for it.  And one that knows of no loss looks, now and then,
 * whether the launcher's books have one: it may have no endpoint left that would find out, and no
 * word of it.
 *
 * Tests: death (--end apart; --how none), finalize
 */

#include "ompi_config.h"

#include "pml_epml.h"
#include "pml_epml_clock.h"
#include "pml_epml_lost_launcher.h"

#include "ompi/mca/hook/base/base.h"
#include "ompi/runtime/params.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"
#include "opal/runtime/opal_progress.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

/** Naps between looks, as Open MPI takes them here. */
#define NAP_US 100

/** Naps for which the answer to a question is waited for when it is not wanted any more. */
#define ANSWER_NAPS 1000

/** So much of the time between two looks counts: a machine that stands still does so for all. */
#define LOOK_MOST_US 10000

/** Its answer may come when nobody waits for it any more. */
static atomic_bool fence_over;

static void on_fence(pmix_status_t status, void *context)
{
    (void) status;
    (void) context;
    /* Relaxed: nothing is read after it. */
    atomic_store_explicit(&fence_over, true, memory_order_relaxed);
}

/* ---- the launcher's books -------------------------------------------------------------------- */

/** Questions to the launcher, whose answers come in PMIx's thread. */
static struct {
    opal_mutex_t lock;
    bool open;          /**< there is somebody to take an answer */
    atomic_uint asking; /**< so many may still come */
} books = {.lock = OPAL_MUTEX_STATIC_INIT};

/** The processes of a table that have ended as they should not have. */
static void note_dead(const pmix_data_array_t *table)
{
    const pmix_proc_info_t *procs = table->array;

    for (size_t i = 0; PMIX_PROC_INFO == table->type && i < table->size; ++i) {
        if (PMIX_PROC_STATE_ERROR <= procs[i].state
            && PMIX_CHECK_NSPACE(procs[i].proc.nspace, ompi_process_info.myprocid.nspace)) {
            mca_pml_epml_lost_process(procs[i].proc.rank);
        }
    }
}

static void on_answer(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *context,
                      pmix_release_cbfunc_t release, void *release_context)
{
    (void) context;
    opal_mutex_lock(&books.lock);
    for (size_t i = 0; books.open && PMIX_SUCCESS == status && i < ninfo; ++i) {
        if (PMIX_DATA_ARRAY == info[i].value.type && NULL != info[i].value.data.darray) {
            note_dead(info[i].value.data.darray);
        }
    }
    opal_mutex_unlock(&books.lock);
    if (NULL != release) {
        release(release_context);
    }
    /* Release: the component is not used any more; partner: the acquire in look_over. */
    atomic_fetch_sub_explicit(&books.asking, 1, memory_order_release);
}

/** The question, always the same; PMIx reads it while it is asked. */
static pmix_query_t question;

static void ask_launcher(void)
{
    static char *keys[] = {PMIX_QUERY_PROC_TABLE, NULL};
    static pmix_info_t job;

    if (NULL == question.keys) {
        PMIX_INFO_LOAD(&job, PMIX_NSPACE, ompi_process_info.myprocid.nspace, PMIX_STRING);
        question = (pmix_query_t){.keys = keys, .qualifiers = &job, .nqual = 1};
    }
    /* Relaxed: PMIx hands the question to its thread in order. */
    atomic_fetch_add_explicit(&books.asking, 1, memory_order_relaxed);
    if (PMIX_SUCCESS != PMIx_Query_info_nb(&question, 1, on_answer, NULL)) {
        atomic_fetch_sub_explicit(&books.asking, 1, memory_order_relaxed);
    }
}

/** The most doublings of the time between two questions. */
#define DOUBLE_MOST 6

/** Microseconds between two questions.  Each of n processes asks for n lines; the launcher is not
 * to have more than one in a microsecond to write.  Where it has not answered one it may be that
 * it never will, or that it needs more time. */
static uint64_t ask_interval(void)
{
    const uint64_t count = ompi_process_info.num_procs;
    /* Relaxed: nothing is read after it. */
    const unsigned int open = atomic_load_explicit(&books.asking, memory_order_relaxed);

    return (mca_pml_epml_component.ask * UINT64_C(1000) + count * count)
           << (open < DOUBLE_MOST ? open : DOUBLE_MOST);
}

/** @return is there still an answer to come? */
static bool look_over(void)
{
    unsigned int asking;

    opal_mutex_lock(&books.lock);
    books.open = false;
    opal_mutex_unlock(&books.lock);
    asking = atomic_load_explicit(&books.asking, memory_order_acquire);
    for (int naps = 0; 0 < asking && naps < ANSWER_NAPS; ++naps) {
        (void) usleep(NAP_US);
        asking = atomic_load_explicit(&books.asking, memory_order_acquire);
    }
    return 0 < asking;
}

/* ---- the fence ------------------------------------------------------------------------------- */

/** Keep this component loaded: an answer may still come. */
static void stay(void)
{
    Dl_info own;
    void *handle = NULL;

    if (0 != dladdr(&fence_over, &own)) {
        handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
    if (NULL != handle) {
        (void) dlclose(handle);
    }
}

/** Wait for the fence, or not for ever.  @return is it over? */
static bool wait_for_fence(void)
{
    uint64_t then = mca_pml_epml_now_ns() / 1000, waited = 0, quiet = 0;

    /* Relaxed: nothing is read after it. */
    while (!atomic_load_explicit(&fence_over, memory_order_relaxed)) {
        uint64_t now, step;

        opal_progress();
        (void) usleep(NAP_US);
        now = mca_pml_epml_now_ns() / 1000;
        step = now - then < LOOK_MOST_US ? now - then : LOOK_MOST_US;
        then = now;
        if (mca_pml_epml_lost_anybody()) {
            waited += step;
            if (waited / 1000 >= mca_pml_epml_component.finalize_wait) {
                return false;
            }
            continue;
        }
        quiet += step;
        if (0 < mca_pml_epml_component.ask && quiet >= ask_interval()) {
            quiet = 0;
            ask_launcher();
        }
    }
    return true;
}

static void before_finalize(void)
{
    bool over;

    if (ompi_async_mpi_finalize || opal_process_info.is_singleton) {
        return; /* nobody waits */
    }
    atomic_store_explicit(&fence_over, false, memory_order_relaxed);
    if (PMIX_SUCCESS != PMIx_Fence_nb(NULL, 0, NULL, 0, on_fence, NULL)) {
        return; /* Open MPI tries as well, and says why */
    }
    opal_mutex_lock(&books.lock);
    books.open = true;
    opal_mutex_unlock(&books.lock);
    over = wait_for_fence();
    if (look_over() || !over) {
        stay();
    }
    ompi_async_mpi_finalize = true; /* it has been waited for */
}

static ompi_hook_base_component_t hook = {.hookm_mpi_finalize_top = before_finalize};

void mca_pml_epml_finalize_start(void)
{
    (void) ompi_hook_base_register_callbacks(&hook);
}

void mca_pml_epml_finalize_stop(void)
{
    (void) ompi_hook_base_deregister_callbacks(&hook);
}
