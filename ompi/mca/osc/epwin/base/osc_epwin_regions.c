/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Attached memory of dynamic windows.  A member's regions are sorted by address and do not overlap.
 *
 * A list is a sequence lock: its one writer makes the number odd, changes the entries, and makes it
 * even again.  A reader repeats when the number was odd or has changed.  Arrays that were too small
 * are kept until the window is freed, because a reader may still be in one; together they are no
 * larger than the last one.
 *
 * Origins in other processes of the node read a list by the kernel's copies: head, entries, head.
 * Where the heads differ, or a copy fails, they leave the check to the target.
 *
 * Tests: win_dynamic
 */

#include "ompi_config.h"

#include "osc_epwin_regions.h"
#include "osc_epwin_wait.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/** The most regions of a list that is read of another process: 2 KiB of stack. */
#define FAR_REGIONS 128

typedef struct region_t {
    _Atomic uintptr_t at;
    _Atomic size_t size;
} region_t;

/** Of one capacity. */
typedef struct region_array_t {
    struct region_array_t *older; /**< the one before it, for the end */
    uint32_t room;
    region_t region[];
} region_array_t;

typedef struct region_list_t {
    alignas(EPWIN_LINE) _Atomic uint32_t sequence; /**< odd: it is being changed */
    _Atomic uint32_t count;
    _Atomic(region_array_t *) array; /**< NULL: nothing has been attached */
    int rank;
} region_list_t;

struct mca_osc_epwin_regions_t {
    int members;
    region_list_t list[]; /**< by rank, ascending */
};

/* ---- the lists of a process ------------------------------------------------------------------- */

size_t mca_osc_epwin_regions_bytes(int members)
{
    return sizeof(struct mca_osc_epwin_regions_t) + (size_t) members * sizeof(region_list_t);
}

struct mca_osc_epwin_regions_t *mca_osc_epwin_regions_init(void *memory, const int *ranks,
                                                           int members)
{
    struct mca_osc_epwin_regions_t *regions = memory;

    regions->members = members;
    for (int i = 0; i < members; ++i) {
        regions->list[i].rank = ranks[i];
    }
    return regions;
}

uintptr_t mca_osc_epwin_regions_list(const void *memory, int index)
{
    const struct mca_osc_epwin_regions_t *regions = memory;

    return (uintptr_t) &regions->list[index];
}

/** @return NULL: the rank is of another process */
static region_list_t *list_of(const mca_osc_epwin_window_t *window, int rank)
{
    struct mca_osc_epwin_regions_t *regions = window->regions;
    const int offset = rank - regions->list[0].rank;
    /* Ranks ascend: it is not behind the place that it has where they are consecutive. */
    int low = 0, high = offset < regions->members ? offset : regions->members - 1;

    if (0 <= high && regions->list[high].rank == rank) {
        return &regions->list[high];
    }
    while (low <= high) {
        const int middle = low + (high - low) / 2;

        if (regions->list[middle].rank == rank) {
            return &regions->list[middle];
        }
        if (regions->list[middle].rank < rank) {
            low = middle + 1;
        } else {
            high = middle - 1;
        }
    }
    return NULL;
}

void mca_osc_epwin_regions_end(mca_osc_epwin_window_t *window, int rank)
{
    region_list_t *list = list_of(window, rank);
    region_array_t *array;

    if (NULL == list) {
        return;
    }
    /* Relaxed: no other thread uses the list any more. */
    array = atomic_load_explicit(&list->array, memory_order_relaxed);
    atomic_store_explicit(&list->array, NULL, memory_order_relaxed);
    atomic_store_explicit(&list->count, 0, memory_order_relaxed);
    while (NULL != array) {
        region_array_t *older = array->older;

        free(array);
        array = older;
    }
}

/* ---- one list --------------------------------------------------------------------------------- */

static inline uintptr_t region_at(const region_array_t *array, uint32_t index)
{
    /* Relaxed here and in region_size: ordered by the sequence number. */
    return atomic_load_explicit(&array->region[index].at, memory_order_relaxed);
}

static inline size_t region_size(const region_array_t *array, uint32_t index)
{
    return atomic_load_explicit(&array->region[index].size, memory_order_relaxed);
}

static inline void region_set(region_array_t *array, uint32_t index, uintptr_t at, size_t size)
{
    atomic_store_explicit(&array->region[index].at, at, memory_order_relaxed);
    atomic_store_explicit(&array->region[index].size, size, memory_order_relaxed);
}

/** The number of regions that begin at an address or below it. */
static uint32_t regions_up_to(const region_array_t *array, uint32_t count, uintptr_t at)
{
    uint32_t low = 0, high = count;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (region_at(array, middle) <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Do regions cover all bytes?  A list that is being changed meanwhile gives any answer. */
static bool regions_cover(const region_array_t *array, uint32_t count, uintptr_t at, size_t size)
{
    const uintptr_t end = at + size;
    uint32_t index = regions_up_to(array, count, at);

    if (0 == index || end < at) {
        return false;
    }
    for (--index; index < count && region_at(array, index) <= at; ++index) {
        at = region_at(array, index) + region_size(array, index);
        if (end <= at) {
            return true;
        }
    }
    return false;
}

bool mca_osc_epwin_regions_have(const mca_osc_epwin_window_t *window, int rank, uintptr_t at,
                                size_t size)
{
    region_list_t *list = list_of(window, rank);

    for (unsigned int tries = 1; NULL != list; ++tries) {
        /* Acquire: orders the entries' loads after it; partner: list_open. */
        const uint32_t before = atomic_load_explicit(&list->sequence, memory_order_acquire);

        if (0 == before % 2) {
            /* Acquire: the array's room was written before it; partner: list_grow. */
            const region_array_t *array = atomic_load_explicit(&list->array, memory_order_acquire);
            const uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);
            const bool have = NULL != array
                              && regions_cover(array, count < array->room ? count : array->room, at,
                                               size);

            /* Acquire: orders the entries' loads before the second look. */
            atomic_thread_fence(memory_order_acquire);
            if (before == atomic_load_explicit(&list->sequence, memory_order_relaxed)) {
                return have;
            }
        }
        if (0 == tries % EPWIN_SPINS) {
            (void) sched_yield(); /* the writer may need the core */
        }
        epwin_pause();
    }
    return false;
}

/* ---- a list of another process ---------------------------------------------------------------- */

static bool far_read(const mca_osc_epwin_module_t *module, int rank, void *to, uint64_t from,
                     size_t size)
{
    const int rc = mca_osc_epwin_component.engine->memory_copy(module->comm, rank, to, from, size,
                                                               false);

    /* Acquire: orders the kernel's loads, which this thread has performed, before later ones;
     * partners: list_open, list_close. */
    atomic_thread_fence(memory_order_acquire);
    return MPI_SUCCESS == rc;
}

bool mca_osc_epwin_regions_have_far(const mca_osc_epwin_module_t *module, int rank, uintptr_t at,
                                    size_t size)
{
    const uint64_t list = (uintptr_t) module->peers[rank].base;
    alignas(
        region_array_t) unsigned char room[sizeof(region_array_t) + FAR_REGIONS * sizeof(region_t)];
    region_array_t *array = (region_array_t *) room;
    region_list_t before, after;
    uint32_t count;

    if (!far_read(module, rank, &before, list, sizeof(before))) {
        return false;
    }
    count = before.count;
    if (0 != before.sequence % 2 || 0 == count || FAR_REGIONS < count
        || !far_read(module, rank, array->region,
                     (uintptr_t) before.array + offsetof(region_array_t, region),
                     count * sizeof(region_t))
        || !far_read(module, rank, &after, list, sizeof(after))) {
        return false;
    }
    /* All of both heads: the bytes of one are read in any order. */
    return 0 == memcmp(&before, &after, sizeof(before)) && regions_cover(array, count, at, size);
}

/* ---- changes ---------------------------------------------------------------------------------- */

/** Begin a change.  Its one writer may read the list with relaxed loads. */
static void list_open(region_list_t *list)
{
    const uint32_t now = atomic_load_explicit(&list->sequence, memory_order_relaxed);

    atomic_store_explicit(&list->sequence, now + 1, memory_order_relaxed);
    /* Release: orders the odd number before the entries' stores; partner: the fence in
     * mca_osc_epwin_regions_have. */
    atomic_thread_fence(memory_order_release);
}

static void list_close(region_list_t *list)
{
    const uint32_t now = atomic_load_explicit(&list->sequence, memory_order_relaxed);

    /* Release: orders the entries before the even number; partner: mca_osc_epwin_regions_have. */
    atomic_store_explicit(&list->sequence, now + 1, memory_order_release);
}

/** Room for one more.  @return the array, NULL: no memory */
static region_array_t *list_grow(region_list_t *list, uint32_t count)
{
    region_array_t *old = atomic_load_explicit(&list->array, memory_order_relaxed), *array;
    const uint32_t room = NULL == old ? 8 : 2 * old->room;

    if (NULL != old && count < old->room) {
        return old;
    }
    array = malloc(sizeof(*array) + room * sizeof(array->region[0]));
    if (NULL == array) {
        return NULL;
    }
    array->older = old;
    array->room = room;
    for (uint32_t i = 0; i < count; ++i) {
        region_set(array, i, region_at(old, i), region_size(old, i));
    }
    /* Release: orders the array's fields before its address. */
    atomic_store_explicit(&list->array, array, memory_order_release);
    return array;
}

int mca_osc_epwin_regions_add(mca_osc_epwin_window_t *window, int rank, uintptr_t at, size_t size)
{
    region_list_t *list = list_of(window, rank);
    const uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);
    region_array_t *array = list_grow(list, count);
    uint32_t index;

    if (NULL == array) {
        return MPI_ERR_NO_MEM;
    }
    index = regions_up_to(array, count, at);
    if ((0 < index
         && (region_at(array, index - 1) == at
             || region_at(array, index - 1) + region_size(array, index - 1) > at))
        || (index < count && region_at(array, index) < at + size)) {
        return MPI_ERR_RMA_ATTACH;
    }
    list_open(list);
    for (uint32_t i = count; i > index; --i) {
        region_set(array, i, region_at(array, i - 1), region_size(array, i - 1));
    }
    region_set(array, index, at, size);
    atomic_store_explicit(&list->count, count + 1, memory_order_relaxed);
    list_close(list);
    return MPI_SUCCESS;
}

int mca_osc_epwin_regions_remove(mca_osc_epwin_window_t *window, int rank, uintptr_t at)
{
    region_list_t *list = list_of(window, rank);
    region_array_t *array = atomic_load_explicit(&list->array, memory_order_relaxed);
    const uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);
    const uint32_t index = NULL == array ? 0 : regions_up_to(array, count, at);

    if (0 == index || region_at(array, index - 1) != at) {
        return MPI_ERR_RMA_ATTACH;
    }
    list_open(list);
    for (uint32_t i = index; i < count; ++i) {
        region_set(array, i - 1, region_at(array, i), region_size(array, i));
    }
    atomic_store_explicit(&list->count, count - 1, memory_order_relaxed);
    list_close(list);
    return MPI_SUCCESS;
}
