/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/create/pml_epml_side.h: ranks and places of endpoints that members
 * bring, room for their addresses, and what is refused.
 *
 * Guards: pml_epml_side.h
 */

#include "tap.h"

/** The side's heap. */
static struct {
    int left; /**< allocations until one fails; less than 0: none does */
    int held;
} heap = {.left = -1};

static void *heap_get(size_t count, size_t size)
{
    void *memory;

    if (0 == heap.left--) {
        return NULL;
    }
    memory = calloc(count, size);
    heap.held += NULL != memory;
    return memory;
}

static void heap_put(void *memory)
{
    heap.held -= NULL != memory;
    free(memory);
}

#define calloc(count, size) heap_get(count, size)
#define free(memory) heap_put(memory)
#include "ompi/mca/pml/epml/create/pml_epml_side.h"
#undef calloc
#undef free

#define ADDRESS 24

static void check_places(const epml_side_t *side, size_t address_size)
{
    int rank = 0;

    for (int i = 0; i < side->members; ++i) {
        TAP_EQ(rank, epml_side_first(side, i));
        TAP_EQ((size_t) rank * address_size, side->places[i]);
        TAP_EQ((size_t) side->counts[i] * address_size, side->bytes[i]);
        for (int j = 0; j < side->counts[i]; ++j, ++rank) {
            unsigned char *address = epml_side_address(side, rank);

            TAP_CHECK(address == side->addresses + side->places[i] + (size_t) j * address_size,
                      "address %d of member %d is elsewhere", j, i);
            memset(address, rank, address_size);
        }
    }
    TAP_EQ(rank, side->total);
    for (int i = 0; i < side->total; ++i) {
        const unsigned char *address = epml_side_address(side, i);

        TAP_CHECK(i % 256 == address[0] && i % 256 == address[address_size - 1], "address %d", i);
    }
}

static void case_counts(void)
{
    static const int counts[] = {3, 0, 1, 0, 0, 7, 2, 0};
    const int members = (int) (sizeof(counts) / sizeof(counts[0]));
    epml_side_t side = {.members = members};

    tap_case("ranks and addresses, of members with many, one and none");
    TAP_CHECK(epml_side_begin(&side), "no memory");
    memcpy(side.counts, counts, sizeof(counts));
    TAP_CHECK(epml_side_make_room(&side, ADDRESS), "no room");
    check_places(&side, ADDRESS);
    TAP_EQ(13, side.total);

    /* Once more, with larger addresses. */
    epml_side_forget(&side);
    TAP_EQ(0, side.total);
    epml_side_fill(&side, 2);
    TAP_CHECK(epml_side_make_room(&side, 2 * ADDRESS), "no room");
    check_places(&side, 2 * ADDRESS);
    TAP_EQ(2 * members, side.total);
    epml_side_end(&side);
    TAP_EQ(0, heap.held);
    tap_case_done();
}

static void case_none(void)
{
    epml_side_t side = {.members = 0};

    tap_case("a side of nobody, and one that has not begun");
    epml_side_end(&side);
    TAP_CHECK(epml_side_begin(&side), "no memory");
    epml_side_fill(&side, 4);
    TAP_CHECK(epml_side_make_room(&side, ADDRESS), "no room");
    TAP_EQ(0, side.total);
    epml_side_end(&side);
    TAP_EQ(0, heap.held);
    tap_case_done();
}

/** @return whether it came to the allocation of the room, which may be 2 GiB and is not made */
static bool try(int first, int second, size_t address_size)
{
    epml_side_t side = {.members = 2};
    bool asked;

    TAP_CHECK(epml_side_begin(&side), "no memory");
    side.counts[0] = first;
    side.counts[1] = second;
    heap.left = 0;
    TAP_CHECK(!epml_side_make_room(&side, address_size), "there was room");
    asked = 0 > heap.left;
    heap.left = -1;
    epml_side_end(&side);
    return asked;
}

static void case_refused(void)
{
    const int most = INT_MAX / ADDRESS;

    tap_case("more than a message holds, and counts that make no sense");
    TAP_CHECK(try(most, 0, ADDRESS), "as much as a message holds");
    TAP_CHECK(try(most - 5, 5, ADDRESS), "the same of two");
    TAP_CHECK(!try(most + 1, 0, ADDRESS), "one too many");
    TAP_CHECK(!try(most - 5, 6, ADDRESS), "one too many of two");
    TAP_CHECK(!try(INT_MAX, INT_MAX, ADDRESS), "the sum of which is less than none");
    TAP_CHECK(!try(2, -1, ADDRESS), "less than none");
    TAP_CHECK(!try(-1, 2, ADDRESS), "less than none first");
    TAP_CHECK(!try(1, 1, (size_t) INT_MAX - 1), "large addresses");
    TAP_CHECK(!try(1, 0, (size_t) INT_MAX + 1), "an address that is too large");
    TAP_EQ(0, heap.held);
    tap_case_done();
}

static void case_no_memory(void)
{
    tap_case("without memory");
    for (int n = 0; n < 2; ++n) {
        epml_side_t side = {.members = 3};
        bool begun;

        heap.left = n;
        begun = epml_side_begin(&side);
        TAP_EQ(0 < n, begun);
        if (begun) {
            epml_side_fill(&side, 1);
            TAP_CHECK(!epml_side_make_room(&side, ADDRESS), "there was room");
        }
        heap.left = -1;
        epml_side_end(&side);
        TAP_EQ(0, heap.held);
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_side", 60);
    case_counts();
    case_none();
    case_refused();
    case_no_memory();
    return tap_end();
}
