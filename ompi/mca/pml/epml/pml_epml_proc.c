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
 *
 * Open MPI never frees the procs of processes.  Those of endpoints come and go, and the same one may
 * come again: its endpoint is met on one communicator after the other.  So that a name is never
 * found whose proc is just going, a proc of an endpoint has a reference of its own here, which is
 * the last to go, under the lock under which names are looked up.
 */

#include "ompi_config.h"

#include "pml_epml_types.h"

#include "ompi/constants.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/threads/mutex.h"

/** Where our entry hangs from a proc.  The places are for components that reach processes; none of
 * them ever sees an endpoint, so any place will do. */
#define PROC_PLACE 0

/** What we know of an endpoint's proc. */
typedef struct epml_proc_t {
    struct epml_proc_t *next, *prev;
    ompi_proc_t *proc; /**< a reference of ours */
    uint32_t users;    /**< peers */
} epml_proc_t;

static struct {
    opal_mutex_t lock;
    epml_proc_t *first; /**< procs with users */
    epml_proc_t *idle;  /**< procs without, that some group still has */
    int idle_count;
    int idle_look; /**< at that many, look which are free */
} procs = {.lock = OPAL_MUTEX_STATIC_INIT};

static void list_add(epml_proc_t **list, epml_proc_t *entry)
{
    entry->prev = NULL;
    entry->next = *list;
    if (NULL != entry->next) {
        entry->next->prev = entry;
    }
    *list = entry;
}

static void list_remove(epml_proc_t **list, epml_proc_t *entry)
{
    if (NULL == entry->prev) {
        *list = entry->next;
    } else {
        entry->prev->next = entry->next;
    }
    if (NULL != entry->next) {
        entry->next->prev = entry->prev;
    }
}

/* ---- names ----------------------------------------------------------------------------------- */

bool mca_pml_epml_is_endpoint_name(const opal_process_name_t *name)
{
    return name->jobid == OMPI_PROC_MY_NAME->jobid && name->vpid >= ompi_process_info.num_procs
           && name->vpid <= OPAL_VPID_MAX;
}

/** The process whose endpoint it is; of a process, itself. */
static opal_process_name_t process_of(const opal_process_name_t *name)
{
    return (opal_process_name_t){.jobid = name->jobid,
                                 .vpid = name->vpid % ompi_process_info.num_procs};
}

bool mca_pml_epml_same_process(const opal_process_name_t *name1, const opal_process_name_t *name2)
{
    return name1->jobid == name2->jobid && process_of(name1).vpid == process_of(name2).vpid;
}

bool mca_pml_epml_name_is_here(const opal_process_name_t *name)
{
    return mca_pml_epml_same_process(name, OMPI_PROC_MY_NAME);
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

/* ---- procs ----------------------------------------------------------------------------------- */

static void idle_add(epml_proc_t *entry)
{
    list_add(&procs.idle, entry);
    ++procs.idle_count;
}

static void idle_remove(epml_proc_t *entry)
{
    list_remove(&procs.idle, entry);
    --procs.idle_count;
}

/** Give up a proc without users, unless a group has it.  Under the lock. */
static void idle_free(epml_proc_t *entry)
{
    /* If ours is the last reference, nobody can get another one but through the lock. */
    if (1 == entry->proc->super.super.super.obj_reference_count) {
        idle_remove(entry);
        OBJ_RELEASE(entry->proc);
        free(entry);
    }
}

/** Look through the procs that groups had, each time there are twice as many as were left the last
 * time. */
static void idle_sweep(void)
{
    if (procs.idle_count < procs.idle_look) {
        return;
    }
    for (epml_proc_t *entry = procs.idle, *next; NULL != entry; entry = next) {
        next = entry->next;
        idle_free(entry);
    }
    procs.idle_look = 2 * procs.idle_count + 16;
}

/** The entry of an endpoint's name, made if need be.  Under the lock.  @return NULL: no memory */
static epml_proc_t *entry_get(const opal_process_name_t *name)
{
    /* Comes with one reference if it is new, which Open MPI never gives up for processes; here it
     * is ours. */
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(*name);
    const ompi_proc_t *process = (ompi_proc_t *) ompi_proc_for_name(process_of(name));
    epml_proc_t *entry;

    if (NULL == proc || NULL == process) {
        return NULL;
    }
    entry = proc->proc_endpoints[PROC_PLACE];
    if (NULL == entry) {
        entry = calloc(1, sizeof(*entry));
        if (NULL == entry) {
            OBJ_RELEASE(proc);
            return NULL;
        }
        entry->proc = proc;
        proc->super.proc_flags = process->super.proc_flags;
        proc->super.proc_arch = process->super.proc_arch;
        proc->proc_endpoints[PROC_PLACE] = entry;
        idle_add(entry);
    }
    return entry;
}

ompi_proc_t *mca_pml_epml_proc_get(const opal_process_name_t *name)
{
    epml_proc_t *entry;

    if (!mca_pml_epml_is_endpoint_name(name)) {
        ompi_proc_t *process = (ompi_proc_t *) ompi_proc_for_name(*name);

        if (NULL != process) {
            OBJ_RETAIN(process);
        }
        return process;
    }
    opal_mutex_lock(&procs.lock);
    entry = entry_get(name);
    if (NULL != entry && 0 == entry->users++) {
        idle_remove(entry);
        list_add(&procs.first, entry);
    }
    opal_mutex_unlock(&procs.lock);
    return NULL != entry ? entry->proc : NULL;
}

void mca_pml_epml_proc_put(ompi_proc_t *proc)
{
    epml_proc_t *entry;

    if (!mca_pml_epml_is_endpoint_name(&proc->super.proc_name)) {
        OBJ_RELEASE(proc);
        return;
    }
    opal_mutex_lock(&procs.lock);
    entry = proc->proc_endpoints[PROC_PLACE];
    if (0 == --entry->users) {
        list_remove(&procs.first, entry);
        idle_add(entry);
        idle_free(entry);
        idle_sweep();
    }
    opal_mutex_unlock(&procs.lock);
}

static void forget(epml_proc_t **list)
{
    while (NULL != *list) {
        epml_proc_t *entry = *list;

        *list = entry->next;
        entry->proc->proc_endpoints[PROC_PLACE] = NULL;
        free(entry);
    }
}

void mca_pml_epml_procs_finalize(void)
{
    /* The procs themselves are Open MPI's to free, whatever references there are. */
    forget(&procs.first);
    forget(&procs.idle);
    procs.idle_count = 0;
}
