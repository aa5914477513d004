/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Names and procs of endpoints.
 *
 * Open MPI knows an MPI process by its name (job, vpid) and by the ompi_proc_t that goes with it,
 * of which its groups consist.  An endpoint is one more name of the job, with a vpid that no
 * launcher gives out, so that groups of endpoints are ordinary groups.  The vpid tells whose
 * endpoint it is: process p of a job of n has the vpids n + p, 2n + p, 3n + p, ...  Nobody has to
 * be asked for a new one.  The endpoints of another job are known with its n (pml_epml_job.c).
 *
 * The procs of endpoints are in a table of our own, not in Open MPI's, which is made for procs that
 * stay: it is read without a lock.  Ours come and go, and the same one may come again, since its
 * endpoint is met on one communicator after the other.  So that a name is never found whose proc is
 * just going, the table has a reference of its own, which is the last to go, under the lock under
 * which names are looked up.
 *
 * Tests: comm_bridge, comm_flat, comm_groups, jobs_spawn, jobs_endpoints (Open MPI 6)
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "pml_epml_proc.h"
#include "pml_epml_types.h"

#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/runtime/ompi_rte.h"
#include "opal/class/opal_hash_table.h"
#include "opal/mca/threads/mutex.h"

/** A proc of an endpoint.  As an object it is an opal_proc_t, whose destructor touches no table of
 * Open MPI's and outlives our component: groups may be freed after us. */
typedef struct epml_proc_t {
    ompi_proc_t super;
    uint32_t users;                  /**< peers */
    struct epml_proc_t *next, *prev; /**< list of the idle */
} epml_proc_t;

static struct {
    opal_mutex_t lock;
    bool open;
    opal_hash_table_t by_name; /**< of all; each entry is a reference */
    epml_proc_t *idle;         /**< those without users, that some group still has */
    size_t idle_count;
    size_t idle_look; /**< at that many, look which are free */
} procs = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- names ----------------------------------------------------------------------------------- */

bool mca_pml_epml_is_endpoint_name(const opal_process_name_t *name)
{
    const uint32_t processes = mca_pml_epml_job_size(name->jobid);

    return 0 < processes && name->vpid >= processes && name->vpid <= OPAL_VPID_MAX;
}

bool mca_pml_epml_same_process(const opal_process_name_t *name1, const opal_process_name_t *name2)
{
    return name1->jobid == name2->jobid
           && mca_pml_epml_name_process(name1).vpid == mca_pml_epml_name_process(name2).vpid;
}

bool mca_pml_epml_name_is_here(const opal_process_name_t *name)
{
    return mca_pml_epml_same_process(name, OMPI_PROC_MY_NAME);
}

bool mca_pml_epml_proc_is_near(const ompi_proc_t *proc)
{
    const opal_process_name_t *name = &proc->super.proc_name;

    return OMPI_PROC_MY_NAME->jobid == name->jobid
               ? OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags)
               : mca_pml_epml_host(OMPI_PROC_MY_NAME) == mca_pml_epml_host(name);
}

unsigned int mca_pml_epml_proc_transports(const ompi_proc_t *proc)
{
    const opal_process_name_t *name = &proc->super.proc_name;

    if (mca_pml_epml_name_is_here(name)) {
        return 0;
    }
    if (OMPI_PROC_MY_NAME->jobid != name->jobid && 0 == mca_pml_epml_host(name)) {
        return EPML_WITH_NODE | EPML_WITH_NET;
    }
    return mca_pml_epml_proc_is_near(proc) ? EPML_WITH_NODE : EPML_WITH_NET;
}

unsigned int mca_pml_epml_group_transports(ompi_group_t *group)
{
    unsigned int transports = 0;

    for (int i = 0; i < group->grp_proc_count; ++i) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);

        if (!mca_pml_epml_name_is_here(&name)) {
            transports |= mca_pml_epml_proc_transports(ompi_group_peer_lookup(group, i));
        }
    }
    return transports;
}

bool mca_pml_epml_group_is_of_this_job(ompi_group_t *group)
{
    for (int i = 0; i < group->grp_proc_count; ++i) {
        if (ompi_group_get_proc_name(group, i).jobid != OMPI_PROC_MY_NAME->jobid) {
            return false;
        }
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint64_t key_of(const opal_process_name_t *name)
{
    return mca_pml_epml_hash((uint64_t) name->jobid << 32 | name->vpid);
}

/** The proc of an endpoint's name, or NULL.  Under the lock. */
static epml_proc_t *find_name(const opal_process_name_t *name)
{
    void *proc = NULL;

    if (procs.open) {
        (void) opal_hash_table_get_value_uint64(&procs.by_name, key_of(name), &proc);
    }
    return proc;
}

static void idle_add(epml_proc_t *proc)
{
    proc->prev = NULL;
    proc->next = procs.idle;
    if (NULL != proc->next) {
        proc->next->prev = proc;
    }
    procs.idle = proc;
    ++procs.idle_count;
}

static void idle_remove(epml_proc_t *proc)
{
    if (NULL == proc->prev) {
        procs.idle = proc->next;
    } else {
        proc->prev->next = proc->next;
    }
    if (NULL != proc->next) {
        proc->next->prev = proc->prev;
    }
    --procs.idle_count;
}

/** Give up a proc without users, unless a group has it.  Under the lock. */
static void idle_free(epml_proc_t *proc)
{
    /* If ours is the last reference, another one can be had only through the lock. */
    if (1 == proc->super.super.super.super.obj_reference_count) {
        idle_remove(proc);
        (void) opal_hash_table_remove_value_uint64(&procs.by_name,
                                                   key_of(&proc->super.super.proc_name));
        OBJ_RELEASE(proc);
    }
}

/** Look through the procs that groups had, each time there are twice as many as were left the last
 * time. */
static void idle_sweep(void)
{
    if (procs.idle_count < procs.idle_look) {
        return;
    }
    for (epml_proc_t *proc = procs.idle, *next; NULL != proc; proc = next) {
        next = proc->next;
        idle_free(proc);
    }
    procs.idle_look = 2 * procs.idle_count + 16;
}

/** Say where a process of another job is, if that is known.  When the launcher connects processes, libmpi
 * finds it out for those only that are new to it, and these may not be: we know them first.  Open MPI 6
 * reaches a process by the loopback interface only if it is near.  Under the lock. */
static void proc_locate(ompi_proc_t *proc)
{
    if (OMPI_PROC_MY_NAME->jobid != proc->super.proc_name.jobid
        && OPAL_PROC_NON_LOCAL == proc->super.proc_flags && mca_pml_epml_proc_is_near(proc)) {
        proc->super.proc_flags = OPAL_PROC_ON_CLUSTER | OPAL_PROC_ON_CU | OPAL_PROC_ON_NODE;
    }
}

/** Under the lock. */
static ompi_proc_t *proc_of_process(opal_process_name_t process)
{
    ompi_proc_t *proc = (ompi_proc_t *) ompi_proc_for_name(process);
    bool is_new = false;

    if (NULL == proc) { /* the launcher has not connected it */
        proc = ompi_proc_find_and_add(&process, &is_new);
        if (is_new && NULL != proc) {
            (void) ompi_proc_complete_init_single(proc); /* the architecture */
        }
    }
    if (NULL != proc) {
        proc_locate(proc);
    }
    return proc;
}

ompi_proc_t *mca_pml_epml_proc_of_process(opal_process_name_t process)
{
    ompi_proc_t *proc;

    opal_mutex_lock(&procs.lock);
    proc = proc_of_process(process);
    opal_mutex_unlock(&procs.lock);
    return proc;
}

/** Make the proc of an endpoint's name, without users.  Under the lock.  @return NULL: no memory */
static epml_proc_t *proc_new(const opal_process_name_t *name)
{
    const ompi_proc_t *process = proc_of_process(mca_pml_epml_name_process(name));
    epml_proc_t *proc;

    if (!procs.open) {
        OBJ_CONSTRUCT(&procs.by_name, opal_hash_table_t);
        if (OPAL_SUCCESS != opal_hash_table_init(&procs.by_name, 64)) {
            OBJ_DESTRUCT(&procs.by_name);
            return NULL;
        }
        procs.open = true;
    }
    proc = NULL != process ? calloc(1, sizeof(*proc)) : NULL;
    if (NULL == proc) {
        return NULL;
    }
    OBJ_CONSTRUCT(&proc->super.super, opal_proc_t); /* of that class, with room for what is ours */
    proc->super.super.proc_name = *name;
    proc->super.super.proc_flags = process->super.proc_flags;
    proc->super.super.proc_arch = process->super.proc_arch;
    proc->super.super.proc_convertor = process->super.proc_convertor; /* lives as long as MPI */
#if OPAL_ENABLE_FT_MPI
    proc->super.proc_active = true;
#endif
    if (OPAL_SUCCESS != opal_hash_table_set_value_uint64(&procs.by_name, key_of(name), proc)) {
        OBJ_RELEASE(proc);
        return NULL;
    }
    idle_add(proc);
    return proc;
}

opal_process_name_t mca_pml_epml_name_new(void)
{
    static uint32_t next = 0;
    const uint32_t processes = ompi_process_info.num_procs;
    const uint32_t names = (OPAL_VPID_MAX - processes) / processes;
    opal_process_name_t name = *OMPI_PROC_MY_NAME;

    opal_mutex_lock(&procs.lock);
    do {
        /* After billions of endpoints the names start again; those still in use are passed over. */
        name.vpid = processes + OMPI_PROC_MY_NAME->vpid + processes * (next++ % names);
    } while (NULL != find_name(&name));
    opal_mutex_unlock(&procs.lock);
    return name;
}

ompi_proc_t *mca_pml_epml_proc_get(const opal_process_name_t *name)
{
    epml_proc_t *proc;

    if (!mca_pml_epml_is_endpoint_name(name)) {
        ompi_proc_t *process = mca_pml_epml_proc_of_process(*name);

        if (NULL != process) {
            OBJ_RETAIN(process);
        }
        return process;
    }
    opal_mutex_lock(&procs.lock);
    proc = find_name(name);
    if (NULL == proc) {
        proc = proc_new(name);
    }
    if (NULL != proc && 0 == proc->users++) {
        idle_remove(proc);
    }
    opal_mutex_unlock(&procs.lock);
    return (ompi_proc_t *) proc;
}

void mca_pml_epml_proc_put(ompi_proc_t *ompi_proc)
{
    epml_proc_t *proc = (epml_proc_t *) ompi_proc;

    if (!mca_pml_epml_is_endpoint_name(&ompi_proc->super.proc_name)) {
        OBJ_RELEASE(ompi_proc);
        return;
    }
    opal_mutex_lock(&procs.lock);
    if (0 == --proc->users) {
        idle_add(proc);
        idle_free(proc);
        idle_sweep();
    }
    opal_mutex_unlock(&procs.lock);
}

void mca_pml_epml_procs_finalize(void)
{
    uint64_t key;
    void *value, *node;

    if (!procs.open) {
        return;
    }
    /* Groups that the user has not freed keep theirs. */
    for (int rc = opal_hash_table_get_first_key_uint64(&procs.by_name, &key, &value, &node);
         OPAL_SUCCESS == rc;
         rc = opal_hash_table_get_next_key_uint64(&procs.by_name, &key, &value, node, &node)) {
        epml_proc_t *proc = value;

        OBJ_RELEASE(proc);
    }
    OBJ_DESTRUCT(&procs.by_name);
    procs.open = false;
    procs.idle = NULL;
    procs.idle_count = 0;
    procs.idle_look = 0;
}
