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
 * Names and procs of endpoints.
 *
 * Open MPI knows an MPI process by its name (job, vpid) and by the ompi_proc_t that goes with it.
 * An endpoint is one more name of the job, with a vpid that no launcher gives out, so that groups
 * of endpoints are ordinary groups.  The vpid tells whose endpoint it is: process p of a job of n
 * has the vpids n + p, 2n + p, 3n + p, ...  Nobody has to be asked for a new one.
 */

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/threads/mutex.h"

/** Procs of endpoints are found and given up under this lock, so that one that is about to go is
 * not found again. */
static opal_mutex_t procs_lock = OPAL_MUTEX_STATIC_INIT;

bool mca_pml_epml_is_endpoint_name(const opal_process_name_t *name)
{
    return name->jobid == OMPI_PROC_MY_NAME->jobid && name->vpid >= ompi_process_info.num_procs
           && name->vpid <= OPAL_VPID_MAX;
}

bool mca_pml_epml_name_is_here(const opal_process_name_t *name)
{
    return name->jobid == OMPI_PROC_MY_NAME->jobid
           && name->vpid % ompi_process_info.num_procs == OMPI_PROC_MY_NAME->vpid;
}

opal_process_name_t mca_pml_epml_name_new(void)
{
    static _Atomic uint32_t next = 0;
    const uint32_t processes = ompi_process_info.num_procs;
    const uint32_t names = (OPAL_VPID_MAX - processes) / processes;
    opal_process_name_t name = *OMPI_PROC_MY_NAME;

    do {
        /* Relaxed: only the number matters.  After billions of endpoints the names start again;
         * those still in use are passed over. */
        uint32_t serial = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed) % names;

        name.vpid = processes + OMPI_PROC_MY_NAME->vpid + processes * serial;
    } while (NULL != ompi_proc_lookup(name));
    return name;
}

ompi_proc_t *mca_pml_epml_proc_get(const opal_process_name_t *name, const ompi_proc_t *like)
{
    ompi_proc_t *proc;

    opal_mutex_lock(&procs_lock);
    proc = (ompi_proc_t *) ompi_proc_lookup(*name);
    if (NULL != proc) {
        OBJ_RETAIN(proc);
    } else {
        /* Comes with one reference, which Open MPI never gives up for processes; here it
         * is ours. */
        proc = (ompi_proc_t *) ompi_proc_for_name(*name);
    }
    if (NULL != proc) {
        proc->super.proc_flags = like->super.proc_flags;
        proc->super.proc_arch = like->super.proc_arch;
    }
    opal_mutex_unlock(&procs_lock);
    return proc;
}

void mca_pml_epml_proc_put(ompi_proc_t *proc)
{
    opal_mutex_lock(&procs_lock);
    OBJ_RELEASE(proc);
    opal_mutex_unlock(&procs_lock);
}
