/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A membership graph: communicators that are merged are connected by members that pass two of them.
 * The members that have called are known bit by bit; when a communicator's members know all
 * connected ones, they number them, and the communicators, in an order that is the same at all of
 * them.
 *
 * Knows nothing of MPI, and not how callers hear of each other (pml_epml_explore.c).
 *
 * Tests: unit/test_epml_web, unit/test_epml_tour, merge
 */

#ifndef MCA_PML_EPML_WEB_H
#define MCA_PML_EPML_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Communicators that a caller passes. */
#define EPML_WEB_EDGES 2

/** A communicator, as one of its members passes it. */
typedef struct epml_web_edge_t {
    uint64_t id; /**< the same for all its members, and no other one's */
    int32_t size;
    int32_t rank; /**< the member's */
} epml_web_edge_t;

/** A caller, as callers describe themselves to each other. */
typedef struct epml_web_caller_t {
    uint64_t name;                        /**< unique */
    uint64_t process;                     /**< where it is */
    epml_web_edge_t edge[EPML_WEB_EDGES]; /**< size 0: none; the first one is one */
} epml_web_caller_t;

/** A caller that is known here. */
typedef struct epml_web_known_t {
    epml_web_caller_t caller;
    bool told[EPML_WEB_EDGES]; /**< all members of own communicator 0, 1 know it */
    int comm[EPML_WEB_EDGES];  /**< of the layout; -1: none */
    int found;                 /**< how many were found before; -1: not yet */
} epml_web_known_t;

/** One end of an edge. */
typedef struct epml_web_end_t {
    epml_web_edge_t edge;
    int known, slot; /**< whose, and which of its two */
} epml_web_end_t;

/** A communicator, once all is known. */
typedef struct epml_web_comm_t {
    int first, members; /**< ends, by rank */
    int processes;
    int parent; /**< rank in it of the member through which it was found */
    int order;  /**< how many were found before; -1: not yet */
} epml_web_comm_t;

/** A place in the new communicator. */
typedef struct epml_web_place_t {
    int process_found; /**< when the first one of this process was found */
    int found;
    uint64_t process;
    int known;
} epml_web_place_t;

/** What is known here; all zero at first. */
typedef struct epml_web_t {
    int count, room; /**< of known */
    epml_web_known_t *known;
    epml_web_end_t *ends; /**< EPML_WEB_EDGES * room, likewise comms and queue */
    epml_web_comm_t *comms;
    int *queue;
    epml_web_place_t *places; /**< room */
    uint64_t *words;          /**< room */
} epml_web_t;

/** What the members of a communicator know together. */
typedef enum epml_web_state_t {
    EPML_WEB_OPEN,  /**< a caller is missing */
    EPML_WEB_WHOLE, /**< all connected ones are known */
    EPML_WEB_TWICE  /**< likewise, and somebody has called twice */
} epml_web_state_t;

/** Room for so many callers, some of them known twice over for a while, and for all that comes
 * after.  @return false: no memory; what is known stays */
bool epml_web_reserve(epml_web_t *web, int room);

void epml_web_end(epml_web_t *web);

/** Somebody is known, perhaps not for the first time; there has to be room.
 *
 * @param[in] told  own communicator whose members all have heard of it just now, or -1 */
void epml_web_learn(epml_web_t *web, const epml_web_caller_t *caller, int told);

/** Whoever was learned twice is known once.  After learning, before all that follows. */
void epml_web_settle(epml_web_t *web);

/** What own communicator has not been told yet.
 *
 * @param[out] callers  room for epml_web_t.count, or NULL
 * @return how many */
int epml_web_news(const epml_web_t *web, int own, epml_web_caller_t *callers);

/** Do the members of own communicator, of what all of them have been told, know the whole web?  The
 * same answer for all of them. */
epml_web_state_t epml_web_look(epml_web_t *web, int own);

/** Where a caller is in the new communicator, and what its communicators are in the tree of all. */
typedef struct epml_web_view_t {
    int size, rank;
    int stops;                /**< its communicators */
    int stop[EPML_WEB_EDGES]; /**< which of its edges, in the order of all; nobody comes to two in
                               * the opposite order */
    int parent[EPML_WEB_EDGES]; /**< by stop: rank of the member that leads to the tree's root */
} epml_web_view_t;

/**
 * Once the web is whole for one's own communicators or one of them: the order of all.
 *
 * Ranks: processes as they are found, from the communicator with the most processes on, by rank;
 * the members in a process follow each other, as they are found.
 *
 * @param[in] own  as it was learned
 */
void epml_web_lay_out(epml_web_t *web, const epml_web_caller_t *own, epml_web_view_t *view);

/** After that: a member. */
static inline const epml_web_caller_t *epml_web_caller(const epml_web_t *web, int rank)
{
    return &web->known[web->places[rank].known].caller;
}

#endif /* MCA_PML_EPML_WEB_H */
