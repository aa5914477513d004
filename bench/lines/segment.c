/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The protocols of coll/epcoll's segment, from the headers that the component uses, with counted
 * accesses in place of theirs.
 *
 * A slot's `call` is read and written without macros: it is in the line of the number, which is
 * looked at just before, or stored just behind it, so it would be a hit and no more.
 */

#include "machine.h"
#include "ways.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

/* One thread runs at a time, so any access to a word will do once it is counted. */
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit(word, order) (lines_read(word), *(word))
#define atomic_store_explicit(word, value, order) (lines_write(word), (void) (*(word) = (value)))
#define atomic_compare_exchange_strong_explicit(word, old, value, order, otherwise) \
    __extension__({                                                                 \
        const bool swaps = (lines_swap(word), *(word) == *(old));                   \
        if (swaps) {                                                                \
            *(word) = (value);                                                      \
        } else {                                                                    \
            *(old) = *(word);                                                       \
        }                                                                           \
        swaps;                                                                      \
    })
#undef memcpy
#define memcpy(to, from, size) lines_copy(to, from, size)
#define __builtin_prefetch(place, ...) lines_prefetch(place)

#include "ompi/mca/coll/epcoll/segment/coll_epcoll_bcast.h"

int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    return 0;
}

static epcoll_member_t members[LINES_THREADS_MOST];

static size_t segment_size(uint32_t threads)
{
    return epcoll_segment_size(threads, EPCOLL_FANOUT);
}

static void add(void *into, const void *from, void *context)
{
    (void) context;
    lines_read(from);
    *(uint64_t *) into += *(const uint64_t *) from;
}

static uint64_t segment_run(lines_kind_t kind, void *memory, uint32_t threads, uint32_t thread,
                            uint64_t seq)
{
    epcoll_member_t *member = &members[thread];
    const uint32_t root = lines_root(threads, seq);
    uint64_t mine = lines_value(thread, seq), got = 0;
    const epcoll_contribution_t contrib = {
        .signature = 1, .data = &mine, .size = sizeof(mine), .combine = add};
    int rc = 0;

    if (1 == seq) {
        epcoll_member_init(member, memory, threads, thread, EPCOLL_FANOUT);
    }
    switch (kind) {
    case LINES_BARRIER:
        rc = epcoll_barrier(member);
        got = seq;
        break;
    case LINES_ALLREDUCE:
        rc = epcoll_allreduce(member, &contrib, &got);
        break;
    default:
        got = root == thread ? mine : 0;
        rc = epcoll_bcast(member, root, 1, &got, sizeof(got));
        break;
    }
    return 0 == rc ? got : UINT64_MAX;
}

const lines_way_t lines_segment = {
    .name = "segment", .can = {true, true, true}, .size = segment_size, .run = segment_run};
