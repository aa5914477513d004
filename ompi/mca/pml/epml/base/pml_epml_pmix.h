/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The launcher's table of processes: pml_epml_pmix.c.
 */

#ifndef MCA_PML_EPML_PMIX_H
#define MCA_PML_EPML_PMIX_H

#include "ompi_config.h"

#include "pml_epml.h"

#include <stdbool.h>
#include <stdint.h>

BEGIN_C_DECLS

/** Ask the launcher for its table of the processes of a job, the own one or another one that has
 * been met; those that are dead are noted when it comes (mca_pml_epml_lost_process).  Any thread;
 * returns at once. */
void mca_pml_epml_pmix_ask(opal_jobid_t job);

/** Microseconds that should be between two questions. */
uint64_t mca_pml_epml_pmix_interval(void);

/** A thread waits for a peer, and no event has come for a while: ask, if that has not been done for
 * long.  Any thread; returns at once.
 * @return can nothing be had from this launcher? */
bool mca_pml_epml_pmix_watch(void);

/** Does the launcher say that the process of an endpoint lives?  Waits for its answer, for
 * pml_epml_launcher_wait at most; it is asked for the own job only.  Any thread. */
bool mca_pml_epml_pmix_lives(const opal_process_name_t *name);

/** No answer is taken any more.  @return may one still come? */
bool mca_pml_epml_pmix_close(void);

END_C_DECLS

#endif /* MCA_PML_EPML_PMIX_H */
