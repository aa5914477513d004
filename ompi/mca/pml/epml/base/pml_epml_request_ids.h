/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The slots behind the numbers that requests have on the network.  They are in segments that stay
 * where they are, so a table that grows is never copied: it does so under the endpoint's lock.
 * What a number looks like is in pml_epml_request.c.
 *
 * Not thread safe: the owner of the endpoint's lock calls.  Standalone.
 *
 * Tests: unit/test_epml_request_ids
 */

#ifndef MCA_PML_EPML_REQUEST_IDS_H
#define MCA_PML_EPML_REQUEST_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct mca_pml_epml_request_t;

#define EPML_NUMBER_INDEX_BITS 22
#define EPML_NUMBER_INDEX_MASK ((1u << EPML_NUMBER_INDEX_BITS) - 1)
#define EPML_NUMBER_NONE UINT32_MAX

/** Slots that are allocated at a time, 16 KiB; the first ones come by doubling up to here.  What
 * points to the segments is 32 KiB long at most. */
#define EPML_NUMBERS_SEGMENT 1024u
#define EPML_NUMBERS_MIN 16u

typedef struct epml_request_id_slot_t {
    struct mca_pml_epml_request_t *request; /**< NULL: free */
    uint32_t generation;
    uint32_t next_free;
} epml_request_id_slot_t;

/** A table that gives requests numbers which may travel: index and generation in 32 bits. */
typedef struct epml_request_ids_t {
    epml_request_id_slot_t **segments;
    uint32_t count;    /**< slots that have been used */
    uint32_t capacity; /**< slots that there is memory for */
    uint32_t first_free;
} epml_request_ids_t;

static inline epml_request_id_slot_t *epml_request_ids_slot(const epml_request_ids_t *numbers,
                                                            uint32_t index)
{
    return &numbers->segments[index / EPML_NUMBERS_SEGMENT][index % EPML_NUMBERS_SEGMENT];
}

static inline void epml_request_ids_init(epml_request_ids_t *numbers)
{
    numbers->segments = NULL;
    numbers->count = 0;
    numbers->capacity = 0;
    numbers->first_free = EPML_NUMBER_NONE;
}

static inline void epml_request_ids_fini(epml_request_ids_t *numbers)
{
    for (uint32_t i = 0; i < numbers->capacity; i += EPML_NUMBERS_SEGMENT) {
        free(numbers->segments[i / EPML_NUMBERS_SEGMENT]);
    }
    free(numbers->segments);
    epml_request_ids_init(numbers);
}

/** The first segment, or twice as much of it. */
static inline bool epml_request_ids_start(epml_request_ids_t *numbers)
{
    const uint32_t capacity = 0 == numbers->capacity ? EPML_NUMBERS_MIN : 2 * numbers->capacity;
    epml_request_id_slot_t *grown;

    if (NULL == numbers->segments) {
        numbers->segments = (epml_request_id_slot_t **) malloc(sizeof(*numbers->segments));
        if (NULL == numbers->segments) {
            return false;
        }
        numbers->segments[0] = NULL;
    }
    grown = (epml_request_id_slot_t *) realloc(numbers->segments[0], capacity * sizeof(*grown));
    if (NULL == grown) {
        return false;
    }
    numbers->segments[0] = grown;
    numbers->capacity = capacity;
    return true;
}

/** One more segment. */
static inline bool epml_request_ids_add_segment(epml_request_ids_t *numbers)
{
    const uint32_t segment = numbers->capacity / EPML_NUMBERS_SEGMENT;
    void *grown;

    /* The last index is left out: with the last generation it would read EPML_NUMBER_NONE. */
    if (numbers->capacity + EPML_NUMBERS_SEGMENT > EPML_NUMBER_INDEX_MASK) {
        return false;
    }
    if (0 == (segment & (segment - 1))) {
        grown = realloc(numbers->segments, 2 * segment * sizeof(*numbers->segments));
        if (NULL == grown) {
            return false;
        }
        numbers->segments = (epml_request_id_slot_t **) grown;
    }
    grown = malloc(EPML_NUMBERS_SEGMENT * sizeof(epml_request_id_slot_t));
    if (NULL == grown) {
        return false;
    }
    numbers->segments[segment] = (epml_request_id_slot_t *) grown;
    numbers->capacity += EPML_NUMBERS_SEGMENT;
    return true;
}

/** One slot more, which becomes the first free one.  Only that one is written.
 * @return false: there is no memory, or no further index */
static inline bool epml_request_ids_extend(epml_request_ids_t *numbers, uint32_t generation)
{
    const uint32_t index = numbers->count;

    if (index == numbers->capacity
        && !(index < EPML_NUMBERS_SEGMENT ? epml_request_ids_start(numbers)
                                          : epml_request_ids_add_segment(numbers))) {
        return false;
    }
    *epml_request_ids_slot(numbers, index) = (epml_request_id_slot_t){
        .request = NULL, .generation = generation, .next_free = numbers->first_free};
    numbers->first_free = index;
    numbers->count = index + 1;
    return true;
}

#endif /* MCA_PML_EPML_REQUEST_IDS_H */
