/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Calls that handles count (coll_epcoll_count.c): one by one and together, while handles are made
 * and freed, and other threads read; and without memory.
 *
 * Guards: coll_epcoll_count.c
 */

/** Memory as the tested code gets it: none, if a case says so. */
static _Atomic int no_memory;

#include <stdlib.h>

static void *calloc_or_not(size_t count, size_t size)
{
    return no_memory ? NULL : calloc(count, size);
}
#define calloc(count, size) calloc_or_not(count, size)
#include "ompi/mca/coll/epcoll/base/coll_epcoll_count.c"
#undef calloc

#include "tap.h"

#include <time.h>

/** Calls of a handle that comes and goes, and how often the asking thread is to see that there were
 * more; if one core is all there is for both, for so many seconds. */
enum { MEMBERS = 3, CALLS = 1000, CHANGES = 100000, SECONDS = 3 };

int mca_coll_epcoll_progress(epcoll_member_t *member)
{
    (void) member;
    return 0;
}

static mca_coll_epcoll_handle_t *handle_new(void *segment, uint32_t index)
{
    mca_coll_epcoll_handle_t *handle = calloc(1, sizeof(*handle));

    epcoll_member_init(&handle->view.member, segment, MEMBERS, index, EPCOLL_FANOUT);
    mca_coll_epcoll_count_add(handle);
    return handle;
}

static void handle_free(mca_coll_epcoll_handle_t *handle)
{
    mca_coll_epcoll_count_remove(handle);
    free(handle->lazy);
    free(handle);
}

static void *new_segment(void)
{
    const size_t size = epcoll_segment_size(MEMBERS, EPCOLL_FANOUT);

    return memset(aligned_alloc(64, size), 0, size);
}

static uint64_t in_all(int kind, int way)
{
    return mca_coll_epcoll_counted(NULL, kind, way);
}

static void case_sums(void)
{
    const uint64_t before = in_all(EPCOLL_BCAST, EPCOLL_PATH_SLOTS);
    void *segment[2] = {new_segment(), new_segment()};
    mca_coll_epcoll_handle_t *handle[2][MEMBERS];

    tap_case("sums of those that are there, and of those that are gone");
    for (uint32_t i = 0; i < 2 * MEMBERS; ++i) {
        handle[i % 2][i / 2] = handle_new(segment[i % 2], i / 2);
        for (uint32_t n = 0; n <= i; ++n) {
            mca_coll_epcoll_count(handle[i % 2][i / 2], EPCOLL_BCAST, EPCOLL_PATH_SLOTS);
        }
        mca_coll_epcoll_count(handle[i % 2][i / 2], EPCOLL_SCATTERV, EPCOLL_PATH_HIER);
        TAP_EQ(i + 1,
               mca_coll_epcoll_counted(handle[i % 2][i / 2], EPCOLL_BCAST, EPCOLL_PATH_SLOTS));
    }
    TAP_EQ(before + 21, in_all(EPCOLL_BCAST, EPCOLL_PATH_SLOTS));
    for (uint32_t i = 2 * MEMBERS; i-- > 0;) {
        handle_free(handle[i < MEMBERS][i % MEMBERS]); /* not in the order in which they came */
        TAP_EQ(before + 21, in_all(EPCOLL_BCAST, EPCOLL_PATH_SLOTS));
        TAP_EQ(2 * MEMBERS, in_all(EPCOLL_SCATTERV, EPCOLL_PATH_HIER));
    }
    TAP_EQ(0, in_all(EPCOLL_SCATTERV, EPCOLL_PATH_SLOTS));
    TAP_EQ(0, in_all(EPCOLL_BCAST, EPCOLL_PATH_CHUNKS));
    free(segment[0]);
    free(segment[1]);
    tap_case_done();
}

static void case_no_memory(void)
{
    void *segment = new_segment();
    mca_coll_epcoll_handle_t *handle = handle_new(segment, 1);

    tap_case("without memory calls in slots are counted, others are not");
    no_memory = 1;
    mca_coll_epcoll_count(handle, EPCOLL_SCAN, EPCOLL_PATH_SLOTS);
    mca_coll_epcoll_count(handle, EPCOLL_SCAN, EPCOLL_PATH_CHUNKS);
    TAP_EQ(1, mca_coll_epcoll_counted(handle, EPCOLL_SCAN, EPCOLL_PATH_SLOTS));
    TAP_EQ(0, mca_coll_epcoll_counted(handle, EPCOLL_SCAN, EPCOLL_PATH_CHUNKS));
    no_memory = 0;
    mca_coll_epcoll_count(handle, EPCOLL_SCAN, EPCOLL_PATH_CHUNKS);
    TAP_EQ(1, mca_coll_epcoll_counted(handle, EPCOLL_SCAN, EPCOLL_PATH_CHUNKS));
    handle_free(handle);
    free(segment);
    tap_case_done();
}

static _Atomic bool is_over;

/** Handles that count, and are freed, until the other thread reads no more. */
static void *count_often(void *argument)
{
    while (!is_over) {
        mca_coll_epcoll_handle_t *handle = handle_new(argument, 0);

        for (int i = 0; i < CALLS; ++i) {
            mca_coll_epcoll_count(handle, EPCOLL_GATHER, EPCOLL_PATH_SLOTS);
        }
        handle_free(handle);
    }
    return NULL;
}

/* Until they have been at it together: each alone is through before the other one has a core. */
static void case_asked(void)
{
    const time_t end = time(NULL) + SECONDS;
    void *segment = new_segment();
    uint64_t last = in_all(EPCOLL_GATHER, EPCOLL_PATH_SLOTS);
    pthread_t thread;

    tap_case("one thread reads while another one counts, and frees");
    pthread_create(&thread, NULL, count_often, segment);
    for (int changes = 0; changes < CHANGES && time(NULL) <= end;) {
        const uint64_t now = in_all(EPCOLL_GATHER, EPCOLL_PATH_SLOTS);

        TAP_CHECK(last <= now, "%llu, and then %llu", (unsigned long long) last,
                  (unsigned long long) now);
        changes += last != now;
        last = now;
    }
    is_over = true;
    pthread_join(thread, NULL);
    TAP_CHECK(last <= in_all(EPCOLL_GATHER, EPCOLL_PATH_SLOTS), "what has gone is counted no more");
    free(segment);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epcoll_count", 60);
    case_sums();
    case_no_memory();
    case_asked();
    return tap_end();
}
