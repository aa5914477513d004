/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The jobs whose processes this process knows: pml_epml_job.c.
 *
 * A process of any of them has a number here: those of the own job their ranks in it, those of
 * another job the next ones when the job is met.  The numbers are this process's own, and are sent
 * to nobody.
 */

#ifndef MCA_PML_EPML_JOB_H
#define MCA_PML_EPML_JOB_H

#include "ompi_config.h"

#include "pml_epml.h"

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"

#include <stdatomic.h>

BEGIN_C_DECLS

/** Another job. */
typedef struct mca_pml_epml_job_t {
    opal_jobid_t id;
    uint32_t size;        /**< processes */
    uint32_t first;       /**< number of its rank 0 */
    pmix_nspace_t nspace; /**< empty: the launcher's library has not heard of it */
    _Atomic(struct mca_pml_epml_job_t *) next; /**< in the order in which they were met */
    struct {
        pmix_query_t query; /**< no keys: not asked yet */
        pmix_info_t job;
    } question;                   /**< pml_epml_pmix.c */
    uint32_t *hosts; /**< of its processes, by rank, as mca_pml_epml_host; under the lock of jobs */
    _Atomic uint64_t dead[];      /**< a bit for each process */
} mca_pml_epml_job_t;

/** A job that has been met, or NULL, also for the own one.  Any thread. */
mca_pml_epml_job_t *mca_pml_epml_job_find(opal_jobid_t id);

/** The job after one; NULL for the first.  @return NULL: there is none */
mca_pml_epml_job_t *mca_pml_epml_job_next(const mca_pml_epml_job_t *job);

/**
 * Meet a job by what one of its processes says, and note where that process is.  Any thread.
 *
 * @param[in] name  of the process, or of an endpoint in it
 * @param[in] size  of its job
 * @param[in] host  where it is, as mca_pml_epml_host has it there
 * @return OMPI_SUCCESS; OMPI_ERR_BAD_PARAM: a job has one size; OMPI_ERR_OUT_OF_RESOURCE
 */
int mca_pml_epml_job_meet(const opal_process_name_t *name, uint32_t size, uint32_t host);

/** The name of a process that the launcher names.  Any thread.
 * @return false: it is of a job that has not been met */
bool mca_pml_epml_job_name(const pmix_proc_t *proc, opal_process_name_t *name);

/** Processes of a job; 0: it is not known. */
static inline uint32_t mca_pml_epml_job_size(opal_jobid_t id)
{
    const mca_pml_epml_job_t *job;

    if (OPAL_LIKELY(OMPI_PROC_MY_NAME->jobid == id)) {
        return ompi_process_info.num_procs;
    }
    job = mca_pml_epml_job_find(id);
    return NULL != job ? job->size : 0;
}

/** The process of an endpoint; of a process, itself, as is every name of a job that has not been
 * met: this process knows no endpoints of that. */
static inline opal_process_name_t mca_pml_epml_name_process(const opal_process_name_t *name)
{
    const uint32_t size = mca_pml_epml_job_size(name->jobid);

    return (opal_process_name_t){.jobid = name->jobid,
                                 .vpid = 0 < size ? name->vpid % size : name->vpid};
}

/** The number of the process of an endpoint, whose job is known. */
uint32_t mca_pml_epml_process_number(const opal_process_name_t *name);

/** How many numbers there are. */
uint32_t mca_pml_epml_process_numbers(void);

/**
 * The host where the process of an endpoint is: a hash of the name that the process's launcher gives it, the same at
 * all processes.  Two of a thousand hosts have the same one in one job of ten thousand, which does no harm: such
 * processes share no memory, as both will find, and collectives take them for processes of one
 * node.  Any thread.
 *
 * @return 0: not known
 */
uint32_t mca_pml_epml_host(const opal_process_name_t *name);

/** The PML goes; alone. */
void mca_pml_epml_jobs_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_JOB_H */
