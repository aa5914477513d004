/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the base PML's transports report to it, before it takes it for the end.
 *
 * ob1 aborts when a BTL says that a connection is over: btl/tcp does when the process at its other
 * end dies, while the launcher, which sees that as well, may be set to leave the survivors
 * alone.  So where ob1 gives its callback to the BTLs (mca_bml.bml_register_error) they get one of
 * ours: the launcher has a moment to say that the process is dead, or to end the job.  All else
 * goes on to ob1: connections to processes of which the launcher says nothing, and whatever comes
 * while this process has no endpoints.
 *
 * Called in the thread that progresses the BTL, which holds the lock of its connection.
 *
 * Tests: death (cluster_), cluster (closed), jobs_death
 */

#include "ompi_config.h"

#include "pml_epml_base_error.h"
#include "pml_epml_job.h"
#include "pml_epml_lost_launcher.h"
#include "pml_epml.h"

#include "ompi/constants.h"
#include "ompi/mca/bml/base/base.h"
#include "ompi/mca/bml/bml.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/ompi_rte.h"
#include "ompi/runtime/params.h"

/** What is led through here. */
static struct {
    mca_bml_base_module_register_error_cb_fn_t register_error; /**< the BML's; NULL: nothing is */
    mca_btl_base_module_error_cb_fn_t on_error;                /**< the base PML's, or NULL */
} base;

/** Is this nothing but the death of a process, which the job survives? */
static bool is_survived(int32_t flags, const opal_proc_t *proc)
{
    if (0 != (flags & MCA_BTL_ERROR_FLAGS_ADD_ACCELERATOR_IPC) || NULL == proc
        || 0 == mca_pml_epml_job_size(proc->proc_name.jobid)
        || OMPI_MPI_STATE_FINALIZE_PAST_COMM_SELF_DESTRUCT <= ompi_mpi_state) {
        return false;
    }
#if OPAL_ENABLE_FT_MPI
    if (ompi_ftmpi_enabled) {
        return false; /* the base PML knows what to do */
    }
#endif
    return mca_pml_epml_lost_wait(&proc->proc_name);
}

static void on_error(struct mca_btl_base_module_t *btl, int32_t flags, opal_proc_t *proc,
                     char *words)
{
    MCA_BTL_EP_HOLD_CANCEL();

    if (!is_survived(flags, proc)) {
        base.on_error(btl, flags, proc, words);
    }
}

/** The base PML calls this whenever it adds processes, one thread at a time (add_processes). */
static int register_error(mca_btl_base_module_error_cb_fn_t callback)
{
    if (callback != base.on_error) {
        base.on_error = callback;
    }
    return base.register_error(on_error);
}

void mca_pml_epml_base_error_start(void)
{
    if (NULL != mca_bml.bml_register_error) { /* else no PML has asked for BTLs */
        base.register_error = mca_bml.bml_register_error;
        mca_bml.bml_register_error = register_error;
    }
}

void mca_pml_epml_base_error_stop(void)
{
    if (NULL == base.register_error) {
        return;
    }
    if (register_error == mca_bml.bml_register_error) { /* else it has been opened anew */
        mca_bml.bml_register_error = base.register_error;
    }
    if (NULL != base.on_error) {
        /* The BTLs outlive this component. */
        (void) base.register_error(base.on_error);
    }
    base.register_error = NULL;
    base.on_error = NULL;
}
