/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Memory of allocated and shared windows: the parts of the members of a node, or of a process, in
 * one piece, in the order of ranks.
 *
 * A shared window's parts follow each other without gaps, unless the user has asked for
 * alloc_shared_noncontig.  Others begin at a page each, so that each member's first touch decides on
 * their NUMA node.
 *
 * Called by osc_epwin_create.c.
 *
 * Tests: win_create, win_shared, win_nomem
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "osc_epwin_making.h"

#include "ompi/mca/coll/coll.h"

#include <stdlib.h>
#include <unistd.h>

static inline uint64_t round_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) & ~(alignment - 1);
}

bool mca_osc_epwin_layout_next(epwin_layout_t *layout, const epwin_member_info_t *info,
                               const void *memory, size_t *at_p)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), base = (uintptr_t) memory;
    uint64_t end;

    if (info->contiguous) {
        *at_p = layout->end;
        return !__builtin_add_overflow(layout->end, info->size, &layout->end)
               && layout->end <= PTRDIFF_MAX;
    }
    *at_p = round_up(base + layout->end, info->alignment) - base;
    if (PTRDIFF_MAX / 2 < info->size) {
        return false;
    }
    /* Room for the largest distance to a boundary, as the memory's address differs between
     * processes. */
    end = layout->end + round_up(info->size, page) + (page < info->alignment ? info->alignment : 0);
    layout->end = end;
    return end <= PTRDIFF_MAX;
}

/** Bytes of the members' parts.  @return false: more than there are addresses */
static bool data_bytes(const epwin_making_t *making, size_t *bytes_p)
{
    epwin_layout_t layout = {0};
    size_t at;

    for (int rank = 0; rank < making->module->size; ++rank) {
        if (mca_osc_epwin_is_beside(making, &making->infos[rank])
            && !mca_osc_epwin_layout_next(&layout, &making->infos[rank], NULL, &at)) {
            return false;
        }
    }
    *bytes_p = layout.end;
    return true;
}

/** Where the own part begins. */
static size_t data_own_at(const epwin_making_t *making)
{
    const mpix_endpoints_memory_t *memory = making->module->memory[EPWIN_KEY_DATA];
    epwin_layout_t layout = {0};
    size_t at = 0;

    for (int rank = 0; rank <= making->module->rank; ++rank) {
        if (mca_osc_epwin_is_beside(making, &making->infos[rank])) {
            (void) mca_osc_epwin_layout_next(&layout, &making->infos[rank], memory->base, &at);
        }
    }
    return at;
}

/**
 * Get the memory of a scope, and allocate the pages of the own part.
 *
 * @return MPI_SUCCESS, also where the parts of all are empty, which needs no memory;
 *         MPI_ERR_NO_MEM, MPI_ERR_UNSUPPORTED_OPERATION; it may have the memory all the same
 */
static int data_get_within(epwin_making_t *making, bool on_node)
{
    const mpix_endpoints_engine_t *engine = mca_osc_epwin_component.engine;
    mpix_endpoints_memory_t **memory = &making->module->memory[EPWIN_KEY_DATA];
    size_t bytes;
    int rc;

    making->is_on_node = on_node;
    if (!data_bytes(making, &bytes)) {
        return MPI_ERR_NO_MEM;
    }
    if (0 == bytes) {
        return MPI_SUCCESS;
    }
    rc = engine->memory_reserve(making->module->comm,
                                on_node ? MPIX_ENDPOINTS_SCOPE_NODE : MPIX_ENDPOINTS_SCOPE_PROCESS,
                                mca_osc_epwin_component.client, EPWIN_KEY_DATA, bytes, memory);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    making->at = data_own_at(making);
    return engine->memory_fill(*memory, making->at, making->own.size);
}

static void data_put(epwin_making_t *making)
{
    mpix_endpoints_memory_t **memory = &making->module->memory[EPWIN_KEY_DATA];

    if (NULL != *memory) {
        mca_osc_epwin_component.engine->memory_put(*memory);
        *memory = NULL;
    }
    making->at = 0;
}

/** Has some node members of several processes?  The same answer at all members. */
static bool some_share_nodes(const epwin_making_t *making)
{
    for (int rank = 0; rank < making->module->size; ++rank) {
        const epwin_member_info_t *info = &making->infos[rank];

        if (info->process != making->infos[info->node].process) {
            return true;
        }
    }
    return false;
}

static bool all_on_one_node(const epwin_making_t *making)
{
    for (int rank = 0; rank < making->module->size; ++rank) {
        if (making->infos[rank].node != making->own.node) {
            return false;
        }
    }
    return true;
}

/** Have all members of the node their parts?  The same answer at all of them. */
static bool data_is_complete(const epwin_making_t *making)
{
    const mpix_endpoints_memory_t *memory = making->module->memory[EPWIN_KEY_DATA];

    for (int rank = 0; rank < making->module->size; ++rank) {
        if (making->infos[rank].node == making->own.node && !making->parts[rank].is_filled) {
            return false;
        }
    }
    return NULL == memory || mca_osc_epwin_component.engine->memory_is_complete(memory);
}

/** Data memory of the node, as far as members of other processes are there. */
static int data_get_on_nodes(epwin_making_t *making)
{
    mca_osc_epwin_module_t *module = making->module;
    const bool is_with_others = 1 < making->node.processes;
    epwin_part_t own = {0};
    int error = data_get_within(making, is_with_others), rc;

    own.at = making->at;
    own.is_filled = MPI_SUCCESS == error;
    rc = module->comm->c_coll->coll_allgather(&own, sizeof(own), MPI_BYTE, making->parts,
                                              sizeof(own), MPI_BYTE, module->comm,
                                              module->comm->c_coll->coll_allgather_module);
    if (OMPI_SUCCESS != rc) {
        return mca_osc_epwin_mpi_error(rc);
    }
    if (!is_with_others || data_is_complete(making)) {
        return error;
    }
    data_put(making);
    if (MPI_WIN_FLAVOR_SHARED == module->flavor) {
        making->not_shared = "the node has no room for it, or its processes cannot share memory";
        return MPI_ERR_RMA_SHARED;
    }
    return data_get_within(making, false);
}

int mca_osc_epwin_data_get(epwin_making_t *making)
{
    if (MPI_WIN_FLAVOR_SHARED == making->module->flavor && !all_on_one_node(making)) {
        making->not_shared = "members are on several nodes";
        return MPI_ERR_RMA_SHARED;
    }
    return some_share_nodes(making) ? data_get_on_nodes(making) : data_get_within(making, false);
}
