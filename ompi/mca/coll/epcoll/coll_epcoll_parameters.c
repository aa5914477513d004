/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The table of coll/epcoll's MCA parameters, which docs/parameters.md is made from.
 *
 * Tests: install/files
 */

#include "ompi_config.h"

#include "base/base.h"
#include "coll_epcoll_parameters.h"

#include "opal/mca/common/ep/common_ep_parameters.h"
#include "opal/mca/common/ep/common_ep_help.h"

#define STORAGE(member) EP_PARAMETER_STORAGE(mca_coll_epcoll_component.member)

/* All processes, and all members of a process, must choose alike. */
#define FIXED .scope = MCA_BASE_VAR_SCOPE_ALL_EQ

#define SERVE(kind, function)                                                         \
    {                                                                                 \
        .name = #kind, STORAGE(serves[EPCOLL_##function]), .preset = true, FIXED,     \
        .level = OPAL_INFO_LVL_6,                                                     \
        .help = "Serve MPI_" #function " in all its forms, where that is possible?  " \
                "If not, the fallback components do"                                  \
    }

/* clang-format off */
static const ep_parameter_t parameters[] = {
    {.name = "priority", STORAGE(priority), .preset = 90, .high = 100, FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Priority among the collective components of a communicator of endpoints"},
    {.name = "inline_limit", STORAGE(inline_limit), .preset = EPCOLL_INLINE, .high = EPCOLL_INLINE,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a member's data up to which they travel in a slot, the cache line that has the "
             "flag as well (0: never)"},
    {.name = "chunk_size", STORAGE(chunk_size), .preset = 32768, .low = 64, .high = 1 << 30,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of the chunks of work that members of a process claim in collectives of long data: "
             "a descheduled thread delays the others by one chunk"},
    {.name = "fanout", STORAGE(fanout), .preset = EPCOLL_FANOUT, .low = 2, .high = EPCOLL_FANOUT,
     .unit = "members", FIXED, .level = OPAL_INFO_LVL_7,
     .help = "Fan-out of the tree of a process's members: so many read each other's cache lines; of "
             "more, groups of that many are made, and groups of groups"},
    {.name = "slices", STORAGE(slices), .preset = EPCOLL_SLICES, .low = 1, .high = EPCOLL_SLICES,
     .unit = "members", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Slices of a long vector, at most, where members live in several processes: so many "
             "members of each process send and receive one slice each"},
    {.name = "slice_size", STORAGE(slice_size), .preset = 65536, .low = 64, .high = 1 << 30,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Bytes of a slice, at least"},
    {.name = "bounce_size", STORAGE(bounce_size), .preset = 1 << 20, .high = 1 << 30,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_5,
     .help = "Bytes of a member's bounce buffers in the node's memory, for collectives of more than a "
             "few KiB whose members are all on one node; less for more than 16 members (0: such "
             "data go by messages)"},
    {.name = "bounce_min", STORAGE(bounce_min), .preset = 4097, .low = 1, .high = 1 << 30,
     .unit = "bytes", FIXED, .level = OPAL_INFO_LVL_6,
     .help = "Bytes of a block, or of a vector, from which bounce buffers are used"},
    SERVE(allgather, ALLGATHER),
    SERVE(allgatherv, ALLGATHERV),
    SERVE(allreduce, ALLREDUCE),
    SERVE(alltoall, ALLTOALL),
    SERVE(alltoallv, ALLTOALLV),
    SERVE(alltoallw, ALLTOALLW),
    SERVE(barrier, BARRIER),
    SERVE(bcast, BCAST),
    SERVE(exscan, EXSCAN),
    SERVE(gather, GATHER),
    SERVE(gatherv, GATHERV),
    {.name = "neighbor", STORAGE(serves_neighbors), .preset = true, FIXED,
     .level = OPAL_INFO_LVL_6,
     .help = "Serve neighbourhood collectives (MPI_Neighbor_allgather, ...) in all their forms?  If "
             "not, the fallback components do"},
    SERVE(reduce, REDUCE),
    SERVE(reduce_scatter, REDUCE_SCATTER),
    SERVE(reduce_scatter_block, REDUCE_SCATTER_BLOCK),
    SERVE(scan, SCAN),
    SERVE(scatter, SCATTER),
    SERVE(scatterv, SCATTERV),
    {.name = NULL}};
/* clang-format on */

void mca_coll_epcoll_parameters_register(void)
{
    /* What Open MPI cannot read it has reported; the default stays. */
    (void) ep_parameters_register(&mca_coll_epcoll_component.super.collm_version,
                                  "Collectives of endpoints", parameters);
}

bool mca_coll_epcoll_parameters_right(void)
{
    ep_parameter_fault_t fault;

    if (ep_parameters_right(parameters, &fault)) {
        return true;
    }
    (void) mca_btl_ep_show_help("help-coll-epcoll.txt", "out of range", true, fault.name,
                                fault.value, fault.low, fault.high);
    return false;
}
