/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One side of a creation: its members, how many endpoints each brings, and where the addresses of
 * these lie.  The endpoints of a side are numbered in the order of its members: that is their rank.
 *
 * Knows nothing of MPI, and nothing of what is in an address.
 *
 * Tests: unit/test_epml_side
 */

#ifndef MCA_PML_EPML_SIDE_H
#define MCA_PML_EPML_SIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct ompi_group_t;
struct mca_pml_epml_peers_t;

typedef struct epml_side_t {
    int members;
    struct ompi_group_t *group;         /**< they, if they are known here; else NULL */
    struct mca_pml_epml_peers_t *peers; /**< their endpoints, by rank; NULL: not yet.  The
                                         * caller's */

    int *counts;         /**< endpoints, by member */
    int *bytes, *places; /**< of a member's addresses, and where they begin */
    int total;           /**< endpoints */
    size_t address_size;
    unsigned char *addresses; /**< total of them */
} epml_side_t;

/** @param[in,out] side  members is set; there may be none.  @return false: no memory */
static inline bool epml_side_begin(epml_side_t *side)
{
    side->counts = calloc(3 * (size_t) side->members + 1, sizeof(*side->counts));
    if (NULL == side->counts) {
        return false;
    }
    side->bytes = side->counts + side->members;
    side->places = side->bytes + side->members;
    return true;
}

/** All members bring as many. */
static inline void epml_side_fill(epml_side_t *side, int count)
{
    for (int i = 0; i < side->members; ++i) {
        side->counts[i] = count;
    }
}

/** The rank of a member's first endpoint. */
static inline int epml_side_first(const epml_side_t *side, int member)
{
    int first = 0;

    for (int i = 0; i < member; ++i) {
        first += side->counts[i];
    }
    return first;
}

/** Room for all addresses, once the counts are there.
 *
 * @param[in] address_size  bytes, not 0
 * @return false: no memory, more than one message holds, or counts that make no sense */
static inline bool epml_side_make_room(epml_side_t *side, size_t address_size)
{
    const size_t most = INT_MAX / address_size;
    size_t total = 0;

    for (int i = 0; i < side->members; ++i) {
        if (0 > side->counts[i] || most - total < (size_t) side->counts[i]) {
            return false;
        }
        side->bytes[i] = (int) ((size_t) side->counts[i] * address_size);
        side->places[i] = (int) (total * address_size);
        total += (size_t) side->counts[i];
    }
    side->total = (int) total;
    side->address_size = address_size;
    side->addresses = calloc(total + 1, address_size);
    return NULL != side->addresses;
}

/** The address of an endpoint.  @param[in] rank  0 to total - 1 */
static inline void *epml_side_address(const epml_side_t *side, int rank)
{
    return side->addresses + (size_t) rank * side->address_size;
}

/** Give up the addresses; counts stay. */
static inline void epml_side_forget(epml_side_t *side)
{
    free(side->addresses);
    side->addresses = NULL;
    side->total = 0;
}

static inline void epml_side_end(epml_side_t *side)
{
    epml_side_forget(side);
    free(side->counts);
    side->counts = NULL;
}

#endif /* MCA_PML_EPML_SIDE_H */
