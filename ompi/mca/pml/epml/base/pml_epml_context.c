/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Context ids: what tells the messages of one communicator from those of all others of the job.
 *
 * Tests: comm_ops, comm_tree
 */

#include "ompi_config.h"

#include <stdatomic.h>

#include "pml_epml_context.h"

#include "ompi/runtime/ompi_rte.h"

#define EPML_CONTEXT_COUNT_BITS 39
#define EPML_CONTEXT_RANK_MASK 0x7fffffu

/**
 * A context id is the drawing process's rank in its job and a count of that process's own: no two
 * drawings of a job ever give the same one, without asking anybody.
 */
uint64_t mca_pml_epml_context_ids(uint32_t count)
{
    static _Atomic uint64_t next = 1;

    /* Relaxed: only the number matters.  23 bits of rank, 39 bits of count, two free
     * (EPML_AGREE_CONTEXT): a thousand new communicators a second last for 17 years. */
    return (uint64_t) (OMPI_PROC_MY_NAME->vpid & EPML_CONTEXT_RANK_MASK) << EPML_CONTEXT_COUNT_BITS
           | (atomic_fetch_add_explicit(&next, count, memory_order_relaxed)
              & ((UINT64_C(1) << EPML_CONTEXT_COUNT_BITS) - 1));
}

bool mca_pml_epml_context_may_be(uint64_t id)
{
    /* Whatever another process has counted: that is not known here. */
    return id >> EPML_CONTEXT_COUNT_BITS < ompi_process_info.num_procs;
}
