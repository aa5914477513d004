/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls that handles have counted, one by one and together.
 *
 * Handles are found by their blocks, which are in a list: so a handle has no place in one.
 *
 * Called by coll_epcoll_component.c and coll_epcoll_variables.c.
 *
 * Tests: unit/test_epcoll_count, variables
 */

#include "ompi_config.h"

#include "coll_epcoll.h"
#include "coll_epcoll_count.h"

#include <pthread.h>

/** Blocks of the process that have handles, and what those have counted that are gone. */
static struct {
    pthread_mutex_t lock;
    epcoll_segment_t *first;
    uint64_t past[EPCOLL_PATHS][EPCOLL_KINDS];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/** Under the lock. */
static uint64_t count_of(const mca_coll_epcoll_handle_t *handle, int kind, int path)
{
    /* Acquire: that it was 0; partner: the release in mca_coll_epcoll_lazy. */
    const mca_coll_epcoll_lazy_t *lazy = atomic_load_explicit(&handle->lazy, memory_order_acquire);

    /* Relaxed, as the stores in coll_epcoll_count.h. */
    if (EPCOLL_PATH_SLOTS != path) {
        return NULL == lazy
                   ? 0
                   : atomic_load_explicit(&lazy->calls[path - 1][kind], memory_order_relaxed);
    }
    return kind >= EPCOLL_KINDS_IN_SLOTS
               ? 0
               : atomic_load_explicit(&handle->small[kind], memory_order_relaxed);
}

void mca_coll_epcoll_count_add(mca_coll_epcoll_handle_t *handle)
{
    epcoll_segment_t *segment = handle->view.member.segment;

    pthread_mutex_lock(&all.lock);
    epcoll_ctrl(&handle->view.member, handle->view.member.index)->owner = handle;
    if (1 == ++segment->listed) {
        segment->count = handle->view.member.count;
        segment->previous = NULL;
        segment->next = all.first;
        if (NULL != all.first) {
            all.first->previous = segment;
        }
        all.first = segment;
    }
    pthread_mutex_unlock(&all.lock);
}

void mca_coll_epcoll_count_remove(mca_coll_epcoll_handle_t *handle)
{
    epcoll_segment_t *segment = handle->view.member.segment;

    pthread_mutex_lock(&all.lock);
    epcoll_ctrl(&handle->view.member, handle->view.member.index)->owner = NULL;
    for (int path = 0; path < EPCOLL_PATHS; ++path) {
        for (int kind = 0; kind < EPCOLL_KINDS; ++kind) {
            all.past[path][kind] += count_of(handle, kind, path);
        }
    }
    if (0 == --segment->listed) {
        if (NULL != segment->next) {
            segment->next->previous = segment->previous;
        }
        if (NULL != segment->previous) {
            segment->previous->next = segment->next;
        } else {
            all.first = segment->next;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

uint64_t mca_coll_epcoll_counted(mca_coll_epcoll_handle_t *handle, int kind, int path)
{
    uint64_t sum;

    pthread_mutex_lock(&all.lock);
    if (NULL != handle) {
        sum = count_of(handle, kind, path);
    } else {
        sum = all.past[path][kind];
        for (epcoll_segment_t *segment = all.first; NULL != segment; segment = segment->next) {
            const epcoll_member_t view = {.segment = segment};

            for (uint32_t i = 0; i < segment->count; ++i) {
                handle = epcoll_ctrl(&view, i)->owner;
                sum += NULL == handle ? 0 : count_of(handle, kind, path);
            }
        }
    }
    pthread_mutex_unlock(&all.lock);
    return sum;
}
