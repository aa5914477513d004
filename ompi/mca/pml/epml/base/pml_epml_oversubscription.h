/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Cores, and how many want to run on them: pml_epml_oversubscription.c.
 */

#ifndef MCA_PML_EPML_OVERSUBSCRIPTION_H
#define MCA_PML_EPML_OVERSUBSCRIPTION_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>

BEGIN_C_DECLS

/** Are there more threads that want to run than cores?  A guess; any thread. */
bool mca_pml_epml_is_oversubscribed(void);

/** Endpoints have come or gone: how many there are. */
void mca_pml_epml_oversubscription_update(int in_process, int on_node);

/** What is known of cores and endpoints, and what follows, in words. */
void mca_pml_epml_oversubscription_describe(char *text, size_t size);

/** Cores for the threads of this process: of its affinity masks, and granted.  Looked at anew; what
 * is known for the others here does not change. */
int mca_pml_epml_oversubscription_cores(void);

/** A thread has been waiting for a while (1), or does so no longer (-1).
 * @return how many threads of the process now are */
int mca_pml_epml_oversubscription_waits(int change);

/** Have the cores of this process changed?  Called now and then by threads that wait. */
void mca_pml_epml_oversubscription_look(void);

END_C_DECLS

#endif /* MCA_PML_EPML_OVERSUBSCRIPTION_H */
