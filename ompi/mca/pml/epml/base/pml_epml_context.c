/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Context ids: what tells the messages of one communicator from those of all others.
 *
 * Those of a process that has not met members of another job are unique in its job for ever.  Wide
 * ids are unique in all jobs, but for a chance: each process counts from a place of its own among
 * 2^60.  Those of two among a thousand processes meet, if each draws a million, with a probability
 * of 1 in a million.
 *
 * Tests: comm_ops, comm_tree, jobs_spawn
 */

#include "ompi_config.h"

#include <stdatomic.h>

#include "pml_epml_context.h"

#include "ompi/runtime/ompi_rte.h"

#define EPML_CONTEXT_COUNT_BITS 39
#define EPML_CONTEXT_RANK_MASK 0x3fffffu

/** In ids that are unique in all jobs. */
#define EPML_CONTEXT_WIDE (UINT64_C(1) << 61)

/** What has been drawn here; ids of both kinds are counted together. */
static _Atomic uint64_t next_id = 1;

/** Members of other jobs have been met: all ids are wide from now on. */
static atomic_bool is_wide;

/** Where this process begins to count among the processes of all jobs: its name, mixed up, of 60
 * bits, so that what it counts to has 61. */
static uint64_t first_wide_id(void)
{
    uint64_t place = (uint64_t) OMPI_PROC_MY_NAME->jobid << 32 | OMPI_PROC_MY_NAME->vpid;

    place *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    place ^= place >> 32;
    place *= UINT64_C(0x9e3779b97f4a7c15);
    return (place ^ place >> 32) >> 4;
}

uint64_t mca_pml_epml_context_wide_ids(uint32_t count)
{
    /* Relaxed: only the number matters. */
    return EPML_CONTEXT_WIDE + first_wide_id()
           + atomic_fetch_add_explicit(&next_id, count, memory_order_relaxed);
}

/**
 * A context id is the drawing process's rank in its job and a count of that process's own: no two
 * drawings of a job ever give the same one, without communication.
 */
uint64_t mca_pml_epml_context_ids(uint32_t count)
{
    /* Relaxed: a thread that draws for members of other jobs has met them itself. */
    if (atomic_load_explicit(&is_wide, memory_order_relaxed)) {
        return mca_pml_epml_context_wide_ids(count);
    }
    /* Relaxed: only the number matters.  22 bits of rank, 39 bits of count, one for wide ids, two
     * free (EPML_AGREE_CONTEXT): a thousand new communicators a second last for 17 years. */
    return (uint64_t) (OMPI_PROC_MY_NAME->vpid & EPML_CONTEXT_RANK_MASK) << EPML_CONTEXT_COUNT_BITS
           | (atomic_fetch_add_explicit(&next_id, count, memory_order_relaxed)
              & ((UINT64_C(1) << EPML_CONTEXT_COUNT_BITS) - 1));
}

void mca_pml_epml_context_widen(void)
{
    /* Relaxed: as in mca_pml_epml_context_ids. */
    atomic_store_explicit(&is_wide, true, memory_order_relaxed);
}

bool mca_pml_epml_context_may_be(uint64_t id)
{
    /* Whatever another process has counted: that is not known here. */
    return EPML_CONTEXT_WIDE == id >> 61 << 61
           || id >> EPML_CONTEXT_COUNT_BITS < ompi_process_info.num_procs;
}
