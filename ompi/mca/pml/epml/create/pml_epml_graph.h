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
 * Knows nothing of MPI, and not how participants hear of each other (pml_epml_discovery.c).
 *
 * Tests: unit/test_epml_graph, unit/test_epml_traversal, merge
 */

#ifndef MCA_PML_EPML_GRAPH_H
#define MCA_PML_EPML_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Communicators that a participant passes. */
#define EPML_GRAPH_EDGES 2

/** A communicator, as one of its members passes it. */
typedef struct epml_graph_edge_t {
    uint64_t id; /**< the same for all its members, and no other one's */
    int32_t size;
    int32_t rank; /**< the member's */
} epml_graph_edge_t;

/** A participant, as participants describe themselves to each other. */
typedef struct epml_graph_participant_t {
    uint64_t name;                            /**< unique */
    uint64_t process;                         /**< where it is */
    epml_graph_edge_t edge[EPML_GRAPH_EDGES]; /**< size 0: none; the first one is one */
} epml_graph_participant_t;

/** A participant that is known here. */
typedef struct epml_graph_known_t {
    epml_graph_participant_t participant;
    bool sent[EPML_GRAPH_EDGES]; /**< all members of own communicator 0, 1 know it */
    int comm[EPML_GRAPH_EDGES];  /**< of the layout; -1: none */
    int found;                   /**< how many were found before; -1: not yet */
} epml_graph_known_t;

/** One end of an edge. */
typedef struct epml_graph_end_t {
    epml_graph_edge_t edge;
    int known, slot; /**< whose, and which of its two */
} epml_graph_end_t;

/** A communicator, once all is known. */
typedef struct epml_graph_comm_t {
    int first, members; /**< ends, by rank */
    int processes;
    int parent; /**< rank in it of the member through which it was found */
    int order;  /**< how many were found before; -1: not yet */
} epml_graph_comm_t;

/** A place in the new communicator. */
typedef struct epml_graph_place_t {
    int process_found; /**< when the first one of this process was found */
    int found;
    uint64_t process;
    int known;
} epml_graph_place_t;

/** What is known here; all zero at first. */
typedef struct epml_graph_t {
    int count, room; /**< of known */
    epml_graph_known_t *known;
    epml_graph_end_t *ends; /**< EPML_GRAPH_EDGES * room, likewise comms and queue */
    epml_graph_comm_t *comms;
    int *queue;
    epml_graph_place_t *places; /**< room */
    uint64_t *words;            /**< room */
} epml_graph_t;

/** What the members of a communicator know together. */
typedef enum epml_graph_state_t {
    EPML_GRAPH_OPEN,     /**< a participant is missing */
    EPML_GRAPH_COMPLETE, /**< all connected ones are known */
    EPML_GRAPH_TWICE     /**< likewise, and one participant has called twice */
} epml_graph_state_t;

/** Room for so many participants, some of them known twice over for a while, and for all that comes
 * after.  @return false: no memory; what is known stays */
bool epml_graph_reserve(epml_graph_t *graph, int room);

void epml_graph_end(epml_graph_t *graph);

/** Add a participant, which may be known already; there has to be room.
 *
 * @param[in] from  own communicator whose members all have received it just now, or -1 */
void epml_graph_learn(epml_graph_t *graph, const epml_graph_participant_t *participant, int from);

/** Remove participants that were learned twice.  After learning, before all that follows. */
void epml_graph_settle(epml_graph_t *graph);

/** What has not been sent to own communicator yet.
 *
 * @param[out] participants  room for epml_graph_t.count, or NULL
 * @return how many */
int epml_graph_updates(const epml_graph_t *graph, int own, epml_graph_participant_t *participants);

/** Do the members of own communicator, of what all of them have received, know the whole graph?
 * The same answer for all of them. */
epml_graph_state_t epml_graph_look(epml_graph_t *graph, int own);

/** Where a participant is in the new communicator, and what its communicators are in the tree of
 * all. */
typedef struct epml_graph_view_t {
    int size, rank;
    int stops;                  /**< its communicators */
    int stop[EPML_GRAPH_EDGES]; /**< which of its edges, in the order of all: no member uses two
                               * of them in the opposite order */
    int parent[EPML_GRAPH_EDGES]; /**< by stop: rank of the member that leads to the tree's root */
} epml_graph_view_t;

/**
 * Once the graph is complete for one's own communicators or one of them: the order of all.
 *
 * Ranks: processes as they are found, from the communicator with the most processes on, by rank;
 * the members in a process follow each other, as they are found.
 *
 * @param[in] own  as it was learned
 */
void epml_graph_lay_out(epml_graph_t *graph, const epml_graph_participant_t *own,
                        epml_graph_view_t *view);

/** After that: a member. */
static inline const epml_graph_participant_t *epml_graph_participant(const epml_graph_t *graph,
                                                                     int rank)
{
    return &graph->known[graph->places[rank].known].participant;
}

#endif /* MCA_PML_EPML_GRAPH_H */
