/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * MPI_Finalize after a loss.
 *
 * Open MPI's processes wait for each other in MPI_Finalize, by a fence of the launcher's, which now
 * and then goes on waiting for a dead process, and then never ends.  So the fence is begun here,
 * just before Open MPI would (a callback of its framework "hook"), and a process that has lost
 * another one goes on after a while without the others.  It has taken part: processes that still
 * wait do not wait for it.  A process that knows of no loss checks, now and then, whether the
 * launcher has noted one: it may have no endpoint left that would find out, and no notice of it.
 *
 * Tests: death (--end apart; --how none), finalize, ulfm
 */

#include "ompi_config.h"

#include "pml_epml.h"
#include "pml_epml_pmix.h"
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

/** So much of the time between two looks counts: a machine that stands still does so for all. */
#define LOOK_MOST_US 10000

/** Its answer may come when no thread waits for it any more. */
static atomic_bool fence_over;

static void on_fence(pmix_status_t status, void *context)
{
    (void) status;
    (void) context;
    /* Relaxed: nothing is read after it. */
    atomic_store_explicit(&fence_over, true, memory_order_relaxed);
}

/* ---- the fence ------------------------------------------------------------------------------- */

/** Keep this component loaded: an answer may still come. */
static void finalize_stay(void)
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

/** Wait for the fence, for a limited time.  @return is it over? */
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
        if (0 < mca_pml_epml_component.liveness_interval && quiet >= mca_pml_epml_pmix_interval()) {
            quiet = 0;
            mca_pml_epml_pmix_ask(OMPI_PROC_MY_NAME->jobid);
        }
    }
    return true;
}

static void before_finalize(void)
{
    bool over;

    if (ompi_async_mpi_finalize || opal_process_info.is_singleton) {
        return; /* no thread waits */
    }
    atomic_store_explicit(&fence_over, false, memory_order_relaxed);
    if (PMIX_SUCCESS != PMIx_Fence_nb(NULL, 0, NULL, 0, on_fence, NULL)) {
        return; /* Open MPI tries as well, and says why */
    }
    over = wait_for_fence();
    if (mca_pml_epml_pmix_close() || !over) {
        finalize_stay();
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
