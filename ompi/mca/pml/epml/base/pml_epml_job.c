/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The jobs whose processes this process knows, and where these processes are.
 *
 * Another job is met when the first address of one of its endpoints comes (pml_epml_address.c),
 * which has the job's size.  It is kept until the PML goes: names of its endpoints may be in groups
 * as long. Hosts of the own job's processes are the launcher's to say, those of another job's are
 * on their addresses: what this process's launcher knows of the other job does not matter.
 *
 * Tests: jobs_spawn, jobs_death, client, schedulers/slurm
 */

#include "ompi_config.h"

#include "pml_epml.h"
#include "pml_epml_job.h"

#include "ompi/constants.h"
#include "ompi/mca/common/ep/common_ep_engine.h"
#include "opal/mca/common/ep/common_ep_hash.h"
#include "opal/mca/threads/mutex.h"

#include <stdlib.h>
#include <string.h>

#define BITS 64

static struct {
    opal_mutex_t lock;
    _Atomic(mca_pml_epml_job_t *) first; /**< written under the lock, read without */
    uint64_t
        *hosts; /**< of the own job's processes, + 1; 0: not asked yet.  NULL: none, or no memory */
} jobs = {.lock = OPAL_MUTEX_STATIC_INIT};

/* ---- jobs ------------------------------------------------------------------------------------ */

mca_pml_epml_job_t *mca_pml_epml_job_next(const mca_pml_epml_job_t *job)
{
    /* Acquire: the job is complete before its address; partner: the release in job_add. */
    return NULL == job ? atomic_load_explicit(&jobs.first, memory_order_acquire)
                       : atomic_load_explicit(&job->next, memory_order_acquire);
}

mca_pml_epml_job_t *mca_pml_epml_job_find(opal_jobid_t id)
{
    mca_pml_epml_job_t *job = mca_pml_epml_job_next(NULL);

    while (NULL != job && id != job->id) {
        job = mca_pml_epml_job_next(job);
    }
    return job;
}

/** Behind the others.  Under the lock.  @return NULL: no memory, or no numbers left */
static mca_pml_epml_job_t *job_add(opal_jobid_t id, uint32_t size)
{
    const uint32_t first = mca_pml_epml_process_numbers();
    mca_pml_epml_job_t *job = NULL, *last = NULL, *next = mca_pml_epml_job_next(NULL);

    if (INT32_MAX - first >= size) {
        job = calloc(1, sizeof(*job) + (size / BITS + 1) * sizeof(job->dead[0]));
    }
    if (NULL == job) {
        return NULL;
    }
    job->hosts = calloc(size, sizeof(*job->hosts));
    if (NULL == job->hosts) {
        free(job);
        return NULL;
    }
    job->id = id;
    job->size = size;
    job->first = first;
    if (OPAL_SUCCESS != OPAL_PMIX_CONVERT_JOBID(job->nspace, id)) {
        job->nspace[0] = '\0';
    }
    for (; NULL != next; next = mca_pml_epml_job_next(next)) {
        last = next;
    }
    /* Release: partner is the acquire in mca_pml_epml_job_next. */
    atomic_store_explicit(NULL == last ? &jobs.first : &last->next, job, memory_order_release);
    return job;
}

int mca_pml_epml_job_meet(const opal_process_name_t *name, uint32_t size, uint32_t host)
{
    mca_pml_epml_job_t *job;
    int rc = OMPI_SUCCESS;

    if (OMPI_PROC_MY_NAME->jobid == name->jobid) {
        return ompi_process_info.num_procs == size ? OMPI_SUCCESS : OMPI_ERR_BAD_PARAM;
    }
    if (0 == size) {
        return OMPI_ERR_BAD_PARAM;
    }
    opal_mutex_lock(&jobs.lock);
    job = mca_pml_epml_job_find(name->jobid);
    if (NULL == job) {
        job = job_add(name->jobid, size);
    }
    if (NULL == job) {
        rc = OMPI_ERR_OUT_OF_RESOURCE;
    } else if (size != job->size) {
        rc = OMPI_ERR_BAD_PARAM;
    } else {
        job->hosts[name->vpid % size] = host;
    }
    opal_mutex_unlock(&jobs.lock);
    return rc;
}

bool mca_pml_epml_job_name(const pmix_proc_t *proc, opal_process_name_t *name)
{
    const mca_pml_epml_job_t *job = NULL;

    *name = (opal_process_name_t){.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = proc->rank};
    if (PMIX_CHECK_NSPACE(proc->nspace, ompi_process_info.myprocid.nspace)) {
        return proc->rank < ompi_process_info.num_procs;
    }
    do {
        job = mca_pml_epml_job_next(job);
    } while (NULL != job
             && ('\0' == job->nspace[0] || !PMIX_CHECK_NSPACE(proc->nspace, job->nspace)));
    if (NULL != job) {
        name->jobid = job->id;
    }
    return NULL != job && proc->rank < job->size;
}

/* ---- numbers --------------------------------------------------------------------------------- */

uint32_t mca_pml_epml_process_number(const opal_process_name_t *name)
{
    const mca_pml_epml_job_t *job;

    if (OPAL_LIKELY(OMPI_PROC_MY_NAME->jobid == name->jobid)) {
        return name->vpid % ompi_process_info.num_procs;
    }
    job = mca_pml_epml_job_find(name->jobid);
    return NULL != job ? job->first + name->vpid % job->size : UINT32_MAX;
}

uint32_t mca_pml_epml_process_numbers(void)
{
    uint32_t count = ompi_process_info.num_procs;

    for (const mca_pml_epml_job_t *job = mca_pml_epml_job_next(NULL); NULL != job;
         job = mca_pml_epml_job_next(job)) {
        count = job->first + job->size;
    }
    return count;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

/** @return not 0 */
static uint32_t host_hash(const char *name)
{
    const uint32_t hash = ep_hash32(name);

    return 0 == hash ? 1 : hash;
}

/** By the launcher's library, without asking the launcher itself.  (Not PMIX_NODEID: Slurm's launcher has one for
 * all processes of the job, that of the node where it is asked.) */
static uint32_t host_ask(opal_vpid_t process)
{
    opal_process_name_t name = {.jobid = OMPI_PROC_MY_NAME->jobid, .vpid = process};
    char *text = NULL;
    uint32_t host = 0;
    int rc;

    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, PMIX_HOSTNAME, &name, &text, PMIX_STRING);
    if (PMIX_SUCCESS == rc && NULL != text) {
        host = host_hash(text);
    } else if (OMPI_PROC_MY_NAME->vpid == process) {
        host = host_hash(ompi_process_info.nodename); /* there is no launcher */
    }
    free(text);
    return host;
}

/** As it was asked for: that costs a microsecond or more.  Under the lock. */
static uint32_t host_of_own_job(opal_vpid_t process)
{
    uint32_t host;

    if (NULL == jobs.hosts) {
        jobs.hosts = calloc(ompi_process_info.num_procs, sizeof(*jobs.hosts));
    }
    if (NULL != jobs.hosts && 0 != jobs.hosts[process]) {
        return (uint32_t) (jobs.hosts[process] - 1);
    }
    host = host_ask(process);
    if (NULL != jobs.hosts) {
        jobs.hosts[process] = (uint64_t) host + 1;
    }
    return host;
}

/** Under the lock. */
static uint32_t host_of_other_job(const opal_process_name_t *name)
{
    const mca_pml_epml_job_t *job = mca_pml_epml_job_find(name->jobid);

    return NULL != job ? job->hosts[name->vpid % job->size] : 0;
}

uint32_t mca_pml_epml_host(const opal_process_name_t *name)
{
    MCA_BTL_EP_HOLD_CANCEL(); /* it may wait for PMIx, with a lock */
    uint32_t host;

    opal_mutex_lock(&jobs.lock);
    host = OMPI_PROC_MY_NAME->jobid == name->jobid
               ? host_of_own_job(name->vpid % ompi_process_info.num_procs)
               : host_of_other_job(name);
    opal_mutex_unlock(&jobs.lock);
    return host;
}

void mca_pml_epml_jobs_finalize(void)
{
    mca_pml_epml_job_t *job = mca_pml_epml_job_next(NULL);

    /* Relaxed: alone by now. */
    atomic_store_explicit(&jobs.first, NULL, memory_order_relaxed);
    while (NULL != job) {
        mca_pml_epml_job_t *next = mca_pml_epml_job_next(job);

        free(job->hosts);
        free(job);
        job = next;
    }
    free(jobs.hosts);
    jobs.hosts = NULL;
}
