/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of the slots behind requests' numbers, ompi/mca/pml/epml/base/pml_epml_request_ids.h: no step of
 * their growth allocates much or moves a full segment; without memory all stays as it was.
 *
 * Guards: pml_epml_request_ids.h
 */

#include "tap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/** The table's heap: what it asked for, and whether it fails. */
static struct {
    size_t largest;
    int64_t made; /**< allocations, those made longer included */
    bool fails;
} heap;

static void *heap_get(void *memory, size_t size)
{
    heap.largest = size > heap.largest ? size : heap.largest;
    if (heap.fails) {
        return NULL;
    }
    ++heap.made;
    return realloc(memory, size);
}

#define malloc(size) heap_get(NULL, size)
#define realloc(memory, size) heap_get(memory, size)
#include "ompi/mca/pml/epml/base/pml_epml_request_ids.h"
#undef malloc
#undef realloc

/** Bytes of one allocation. */
#define LARGEST_MAX 65536

/** As many slots as there can be.  Full segments stay where they are. */
static void case_all(void)
{
    const uint32_t all = EPML_NUMBER_INDEX_MASK + 1 - EPML_NUMBERS_SEGMENT;
    epml_request_id_slot_t *kept = NULL;
    epml_request_ids_t numbers;
    uint32_t at;

    tap_case("%u slots, one by one", all);
    heap.largest = 0;
    heap.made = 0;
    epml_request_ids_init(&numbers);
    for (uint32_t i = 0; i < all && !tap_case_failed(); ++i) {
        TAP_CHECK(epml_request_ids_extend(&numbers, i), "slot %u", i);
        TAP_EQ(i, numbers.first_free);
        if (EPML_NUMBERS_SEGMENT - 1 == i) {
            kept = epml_request_ids_slot(&numbers, 5);
        }
    }
    TAP_CHECK(heap.largest <= LARGEST_MAX, "%zu bytes were allocated at once", heap.largest);
    TAP_CHECK(heap.made <= all / EPML_NUMBERS_SEGMENT + 24, "%lld allocations",
              (long long) heap.made);
    TAP_CHECK(!epml_request_ids_extend(&numbers, 0),
              "an index with which a number might read NONE");
    TAP_EQ(all, numbers.count);
    TAP_CHECK(NULL != kept && kept == epml_request_ids_slot(&numbers, 5), "a slot has moved");
    at = numbers.first_free;
    for (uint32_t i = all; 0 < i-- && !tap_case_failed();
         at = epml_request_ids_slot(&numbers, at)->next_free) {
        TAP_EQ(i, at);
        TAP_EQ(i, epml_request_ids_slot(&numbers, at)->generation);
        TAP_CHECK(NULL == epml_request_ids_slot(&numbers, at)->request, "slot %u is used", i);
    }
    TAP_EQ(EPML_NUMBER_NONE, at);
    epml_request_ids_fini(&numbers);
    TAP_EQ(0, numbers.count);
    tap_case_done();
}

/** Each allocation fails once: no slot, no loss, and the next try succeeds. */
static void case_no_memory(void)
{
    enum { SLOTS = 40 * EPML_NUMBERS_SEGMENT };
    epml_request_ids_t numbers;
    int failed = 0;

    tap_case("no memory at each step of growth");
    epml_request_ids_init(&numbers);
    for (uint32_t i = 0; i < SLOTS; ++i) {
        heap.fails = true;
        if (!epml_request_ids_extend(&numbers, i)) {
            ++failed;
            TAP_EQ(i, numbers.count);
            TAP_EQ(0 == i ? EPML_NUMBER_NONE : i - 1, numbers.first_free);
            heap.fails = false;
            TAP_CHECK(epml_request_ids_extend(&numbers, i), "slot %u, with memory", i);
        }
        TAP_EQ(i, numbers.first_free);
    }
    heap.fails = false;
    TAP_EQ(7 + 39, failed); /* 16 to 1024 by doubling, then segments */
    for (uint32_t i = 0; i < SLOTS; ++i) {
        TAP_EQ(i, epml_request_ids_slot(&numbers, i)->generation);
    }
    epml_request_ids_fini(&numbers);
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_request_ids", 60);
    case_all();
    case_no_memory();
    return tap_end();
}
