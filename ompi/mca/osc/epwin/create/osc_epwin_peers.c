/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The window object: how the members of this process reach all members.  The first handle of the
 * process fills it in.
 *
 * Called by osc_epwin_create.c.
 *
 * Tests: win_create, win_shared, win_device
 */

#include "ompi_config.h"

#include "../base/base.h"
#include "osc_epwin_making.h"

#include "opal/mca/threads/mutex.h"

#include <stdlib.h>

static opal_mutex_t filling = OPAL_MUTEX_STATIC_INIT;

/** Byte offset of the lists of attached memory in the window object. */
static size_t regions_at(const mca_osc_epwin_module_t *module)
{
    const size_t bytes = sizeof(mca_osc_epwin_window_t)
                         + (size_t) module->size * sizeof(mca_osc_epwin_peer_t);

    return (bytes + EPWIN_LINE - 1) / EPWIN_LINE * EPWIN_LINE;
}

size_t mca_osc_epwin_window_bytes(const mca_osc_epwin_module_t *module, int members_in_process)
{
    return regions_at(module)
           + (MPI_WIN_FLAVOR_DYNAMIC == module->flavor
                  ? mca_osc_epwin_regions_bytes(members_in_process)
                  : 0);
}

uint64_t mca_osc_epwin_regions_base(const epwin_making_t *making)
{
    const mca_osc_epwin_module_t *module = making->module;

    return mca_osc_epwin_regions_list((const char *) module->memory[EPWIN_KEY_WINDOW]->base
                                          + regions_at(module),
                                      making->process.index);
}

static bool has_data(const mca_osc_epwin_module_t *module)
{
    return MPI_WIN_FLAVOR_ALLOCATE == module->flavor || MPI_WIN_FLAVOR_SHARED == module->flavor;
}

/** A member in the same data memory: DIRECT.  @param[in] at  offset of its part */
static char *part_address(const epwin_making_t *making, const epwin_member_info_t *info, size_t at)
{
    return mca_osc_epwin_has_part(making, info)
               ? (char *) making->module->memory[EPWIN_KEY_DATA]->base + at
               : NULL;
}

/** The way to a member, and its address there. */
static void peer_reach(const epwin_making_t *making, const epwin_member_info_t *info,
                       mca_osc_epwin_peer_t *peer)
{
    const bool is_here = info->process == making->own.process;

    peer->way = !is_here          ? EPWIN_WAY_MESSAGE
                : info->on_device ? EPWIN_WAY_DEVICE
                                  : EPWIN_WAY_DIRECT;
    if (has_data(making->module)) {
        return;
    }
    if (!is_here && info->node == making->own.node && !info->on_device) {
        peer->way = EPWIN_WAY_COPY;
    }
    /* In the own process addresses in a dynamic window are absolute. */
    if (EPWIN_WAY_COPY == peer->way
        || (is_here && MPI_WIN_FLAVOR_CREATE == making->module->flavor)) {
        peer->base = (char *) (uintptr_t) info->base;
    }
}

/** The offset of the next part in the same data memory. */
static size_t part_at(const epwin_making_t *making, epwin_layout_t *layout, int rank)
{
    size_t at;

    (void) mca_osc_epwin_layout_next(layout, &making->infos[rank],
                                     NULL == making->module->memory[EPWIN_KEY_DATA]
                                         ? NULL
                                         : making->module->memory[EPWIN_KEY_DATA]->base,
                                     &at);
    /* In another process the memory is at another address. */
    return making->is_on_node ? (size_t) making->parts[rank].at : at;
}

static void peers_fill(const epwin_making_t *making, mca_osc_epwin_peer_t *peers, uint32_t *slots)
{
    const bool is_dynamic = MPI_WIN_FLAVOR_DYNAMIC == making->module->flavor;
    epwin_layout_t layout = {0};

    for (int rank = 0; rank < making->module->size; ++rank) {
        const epwin_member_info_t *info = &making->infos[rank];
        mca_osc_epwin_peer_t *peer = &peers[rank];

        peer->size = is_dynamic ? UINT64_MAX : info->size;
        peer->unit = info->unit;
        peer->domain = info->domain;
        peer->slot = slots[info->domain]++ & 0x3fffffff;
        peer_reach(making, info, peer);
        if (has_data(making->module) && mca_osc_epwin_is_beside(making, info)) {
            peer->way = EPWIN_WAY_DIRECT;
            peer->base = part_address(making, info, part_at(making, &layout, rank));
        }
    }
}

/** Lists of attached memory.  @return false: no memory */
static bool regions_begin(const epwin_making_t *making, mca_osc_epwin_window_t *window)
{
    int *ranks = malloc((size_t) making->process.count * sizeof(*ranks)), count = 0;

    if (NULL == ranks) {
        return false;
    }
    for (int rank = 0; rank < making->module->size; ++rank) {
        if (making->infos[rank].process == making->own.process && count < making->process.count) {
            ranks[count++] = rank;
        }
    }
    window->regions = mca_osc_epwin_regions_init((char *) window + regions_at(making->module),
                                                 ranks, count);
    free(ranks);
    return true;
}

/** Under the lock. */
static int window_fill(const epwin_making_t *making, mca_osc_epwin_window_t *window)
{
    uint32_t *slots = calloc((size_t) making->module->size, sizeof(*slots));

    if (NULL == slots) {
        return MPI_ERR_NO_MEM;
    }
    if (MPI_WIN_FLAVOR_DYNAMIC == making->module->flavor && !regions_begin(making, window)) {
        free(slots);
        return MPI_ERR_NO_MEM;
    }
    peers_fill(making, window->peers, slots);
    free(slots);
    window->is_made = true;
    return MPI_SUCCESS;
}

int mca_osc_epwin_peers_fill(epwin_making_t *making)
{
    mca_osc_epwin_module_t *module = making->module;
    mca_osc_epwin_window_t *window = module->memory[EPWIN_KEY_WINDOW]->base;
    int rc = MPI_SUCCESS;

    opal_mutex_lock(&filling);
    if (!window->is_made) {
        rc = window_fill(making, window);
    }
    opal_mutex_unlock(&filling);
    if (MPI_SUCCESS == rc) {
        module->window = window;
        module->peers = window->peers;
    }
    return rc;
}
