/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Context ids: pml_epml_context.c.
 */

#ifndef MCA_PML_EPML_CONTEXT_H
#define MCA_PML_EPML_CONTEXT_H

#include "ompi_config.h"

#include "pml_epml.h"

BEGIN_C_DECLS

/**
 * Draw context ids that no live communicator of the members has, nor will get: first, first + 1, ...
 * first + count - 1.  Local, any thread.
 */
uint64_t mca_pml_epml_context_ids(uint32_t count);

/** Likewise, for what members of other jobs come to know before they are met. */
uint64_t mca_pml_epml_context_wide_ids(uint32_t count);

/** This process is about to have a communicator with members of another job: all ids that it draws
 * from now on are wide, as any communicator may be derived from that one.  Any thread. */
void mca_pml_epml_context_widen(void);

/** May a process have drawn this id? */
bool mca_pml_epml_context_may_be(uint64_t id);

END_C_DECLS

#endif /* MCA_PML_EPML_CONTEXT_H */
