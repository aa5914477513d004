/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the launcher says of processes that die: pml_epml_lost_launcher.c, pml_epml_finalize.c.
 */

#ifndef MCA_PML_EPML_LOST_LAUNCHER_H
#define MCA_PML_EPML_LOST_LAUNCHER_H

#include "ompi_config.h"

#include <stdatomic.h>

#include "pml_epml.h"

BEGIN_C_DECLS

/** How many processes are known to be dead. */
extern _Atomic uint32_t mca_pml_epml_lost_count;

/** Has this process lost a peer, or a connection to one that lives?  Any thread. */
bool mca_pml_epml_lost_anybody(void);

/** Ask the launcher to tell of processes that die.  Idempotent, any thread; may block for a
 * moment. */
void mca_pml_epml_lost_start(void);

/** The PML goes. */
void mca_pml_epml_lost_stop(void);

/** Note that the process of an endpoint is dead, by the launcher's word or by what is left of it.
 * Any thread, PMIx's mostly: no more than a note. */
void mca_pml_epml_lost_process(const opal_process_name_t *name);

/** Is the process of an endpoint dead, by the launcher's word? */
bool mca_pml_epml_lost_is_dead(const opal_process_name_t *name);

/** Wait until it is, or for pml_epml_launcher_wait: a connection to a dead process mostly breaks
 * before the launcher has said why, or has ended the job.  Does not wait while nothing listens to
 * the launcher.  Any thread.  @return is it? */
bool mca_pml_epml_lost_wait(const opal_process_name_t *name);

/** Tell the user which processes are dead, once.  No thread continues before that is done: the
 * errors that come next may be fatal, and end this process. */
void mca_pml_epml_lost_tell(void);

/** "rank 3 on host x", or "rank 3 of another job on host x"  @return as snprintf */
int mca_pml_epml_lost_describe_process(const opal_process_name_t *name, char *text, size_t size);

/** This process has lost a peer.  Any thread. */
void mca_pml_epml_lost_set_anybody(void);

/** MPI_Finalize will not wait for those that are lost; and it will again. */
void mca_pml_epml_finalize_start(void);
void mca_pml_epml_finalize_stop(void);

END_C_DECLS

#endif /* MCA_PML_EPML_LOST_LAUNCHER_H */
