/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Processes and endpoints by Open MPI's names: pml_epml_proc.c.
 */

#ifndef MCA_PML_EPML_PROC_H
#define MCA_PML_EPML_PROC_H

#include "ompi_config.h"

#include "../base/base.h"

BEGIN_C_DECLS

/** Is this the name of an endpoint that is no process (not index 0)? */
bool mca_pml_epml_is_endpoint_name(const opal_process_name_t *name);

/** Are the endpoints, or processes, of these names in one process? */
bool mca_pml_epml_same_process(const opal_process_name_t *name1, const opal_process_name_t *name2);

/** Does the endpoint, or process, of this name live in this process? */
bool mca_pml_epml_name_is_here(const opal_process_name_t *name);

/** Is the process, or the endpoint, of a proc on this node?  Of another job's it is not known before
 * an address of that process has come: false. */
bool mca_pml_epml_proc_is_near(const ompi_proc_t *proc);

/** By which transport is it reached, or by which ones may it be?  @return set of EPML_WITH_* */
unsigned int mca_pml_epml_proc_transports(const ompi_proc_t *proc);

/** Likewise for the members of a group. */
unsigned int mca_pml_epml_group_transports(ompi_group_t *group);

/** Are all members of a group of this process's job? */
bool mca_pml_epml_group_is_of_this_job(ompi_group_t *group);

/** A name that no endpoint of this job has.  Any thread. */
opal_process_name_t mca_pml_epml_name_new(void);

/** The proc of a process, made if need be.  ompi_proc_for_name of Open MPI 6 makes none of a job
 * that this process has not met by MPI's own functions.  @return libmpi's; NULL without memory */
ompi_proc_t *mca_pml_epml_proc_of_process(opal_process_name_t process);

/** The proc of a process or an endpoint of a job that is known, made if need be.  Any thread.
 * @return to be given back with mca_pml_epml_proc_put; NULL without memory */
ompi_proc_t *mca_pml_epml_proc_get(const opal_process_name_t *name);
void mca_pml_epml_proc_put(ompi_proc_t *proc);

/** The PML goes, and Open MPI's procs after it. */
void mca_pml_epml_procs_finalize(void);

END_C_DECLS

#endif /* MCA_PML_EPML_PROC_H */
