/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Membership graphs: which members are known, whether that is all, and an order that is the same at
 * all of them.
 *
 * All is sorted by numbers that are the same for all, so all come to the same.  Looking and laying
 * out take no memory: what they need was reserved with the room for participants, so they cannot fail
 * with one of them only.
 *
 * Called by pml_epml_discovery.c, pml_epml_merge.c.
 *
 * Tests: unit/test_epml_graph, unit/test_epml_traversal, merge, merge_errors, comm_nomem
 */

#include <stdlib.h>
#include <string.h>

#include "pml_epml_graph.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* ---- known members --------------------------------------------------------------------------- */

/** Give an array more room.  @return false: no memory; it stays as it was */
static bool graph_grow(void *array_p, size_t count, size_t size)
{
    void **array = array_p;
    void *larger = realloc(*array, count * size);

    if (NULL != larger) {
        *array = larger;
    }
    return NULL != larger;
}

bool epml_graph_reserve(epml_graph_t *graph, int room)
{
    const size_t participants = (size_t) room, ends = EPML_GRAPH_EDGES * participants;

    if (room <= graph->room) {
        return true;
    }
    if (!graph_grow(&graph->known, participants, sizeof(*graph->known))
        || !graph_grow(&graph->ends, ends, sizeof(*graph->ends))
        || !graph_grow(&graph->comms, ends, sizeof(*graph->comms))
        || !graph_grow(&graph->queue, ends, sizeof(*graph->queue))
        || !graph_grow(&graph->places, participants, sizeof(*graph->places))
        || !graph_grow(&graph->words, participants, sizeof(*graph->words))) {
        return false;
    }
    graph->room = room;
    return true;
}

void epml_graph_end(epml_graph_t *graph)
{
    free(graph->known);
    free(graph->ends);
    free(graph->comms);
    free(graph->queue);
    free(graph->places);
    free(graph->words);
    memset(graph, 0, sizeof(*graph));
}

void epml_graph_learn(epml_graph_t *graph, const epml_graph_participant_t *participant, int from)
{
    graph->known[graph->count] = (epml_graph_known_t){.participant = *participant};
    if (0 <= from) {
        graph->known[graph->count].sent[from] = true;
    }
    ++graph->count;
}

static int compare_ends(const void *left, const void *right)
{
    const epml_graph_edge_t *a = left, *b = right; /* an end begins with one */

    return a->id != b->id ? COMPARE(a->id, b->id) : COMPARE(a->rank, b->rank);
}

/** A participant is the one that has this rank in its first communicator. */
static int compare_known(const void *left, const void *right)
{
    const epml_graph_known_t *a = left, *b = right;

    return compare_ends(&a->participant.edge[0], &b->participant.edge[0]);
}

void epml_graph_settle(epml_graph_t *graph)
{
    int last = 0;

    qsort(graph->known, (size_t) graph->count, sizeof(*graph->known), compare_known);
    for (int i = 1; i < graph->count; ++i) {
        if (0 != compare_known(&graph->known[last], &graph->known[i])) {
            graph->known[++last] = graph->known[i];
            continue;
        }
        for (int own = 0; own < EPML_GRAPH_EDGES; ++own) {
            graph->known[last].sent[own] = graph->known[last].sent[own]
                                           || graph->known[i].sent[own];
        }
    }
    graph->count = 0 < graph->count ? last + 1 : 0;
}

int epml_graph_updates(const epml_graph_t *graph, int own, epml_graph_participant_t *participants)
{
    int count = 0;

    for (int i = 0; i < graph->count; ++i) {
        if (!graph->known[i].sent[own]) {
            if (NULL != participants) {
                participants[count] = graph->known[i].participant;
            }
            ++count;
        }
    }
    return count;
}

/* ---- is that all? ---------------------------------------------------------------------------- */

/** The ends of what participants pass, by communicator and rank.
 *
 * @param[in] own  only of members that the own communicator has received; -1: of all
 * @return how many */
static int sort_ends(epml_graph_t *graph, int own)
{
    int count = 0;

    for (int i = 0; i < graph->count; ++i) {
        const epml_graph_known_t *known = &graph->known[i];

        for (int slot = 0; (0 > own || known->sent[own]) && slot < EPML_GRAPH_EDGES; ++slot) {
            if (0 < known->participant.edge[slot].size) {
                graph->ends[count++] = (epml_graph_end_t){.edge = known->participant.edge[slot],
                                                          .known = i,
                                                          .slot = slot};
            }
        }
    }
    qsort(graph->ends, (size_t) count, sizeof(*graph->ends), compare_ends);
    return count;
}

/** Behind the last end of the communicator that begins here. */
static int end_of_comm(const epml_graph_t *graph, int first, int count)
{
    int end = first + 1;

    while (end < count && graph->ends[first].edge.id == graph->ends[end].edge.id) {
        ++end;
    }
    return end;
}

static int compare_words(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return COMPARE(*a, *b);
}

/** Sort the first words.  @return how many different ones there are */
static int sort_words(epml_graph_t *graph, int count)
{
    int different = 0;

    qsort(graph->words, (size_t) count, sizeof(*graph->words), compare_words);
    for (int i = 0; i < count; ++i) {
        different += 0 == i || graph->words[i - 1] != graph->words[i];
    }
    return different;
}

epml_graph_state_t epml_graph_look(epml_graph_t *graph, int own)
{
    const int count = sort_ends(graph, own);
    int participants = 0;

    for (int first = 0, end; first < count; first = end) {
        end = end_of_comm(graph, first, count);
        if (end - first != graph->ends[first].edge.size) {
            return EPML_GRAPH_OPEN;
        }
    }
    for (int i = 0; i < graph->count; ++i) {
        if (graph->known[i].sent[own]) {
            graph->words[participants++] = graph->known[i].participant.name;
        }
    }
    return participants == sort_words(graph, participants) ? EPML_GRAPH_COMPLETE : EPML_GRAPH_TWICE;
}

/* ---- the order ------------------------------------------------------------------------------- */

/** How many processes a communicator's members are in. */
static int count_processes(epml_graph_t *graph, const epml_graph_comm_t *comm)
{
    for (int i = 0; i < comm->members; ++i) {
        graph->words[i] = graph->known[graph->ends[comm->first + i].known].participant.process;
    }
    return sort_words(graph, comm->members);
}

/** The communicators, and which ones are a participant's.  @return how many */
static int list_comms(epml_graph_t *graph)
{
    const int count = sort_ends(graph, -1);
    int comms = 0;

    for (int i = 0; i < graph->count; ++i) {
        graph->known[i].comm[0] = graph->known[i].comm[1] = graph->known[i].found = -1;
    }
    for (int first = 0, end; first < count; first = end, ++comms) {
        epml_graph_comm_t *comm = &graph->comms[comms];

        end = end_of_comm(graph, first, count);
        *comm = (epml_graph_comm_t){.first = first, .members = end - first, .order = -1};
        comm->processes = count_processes(graph, comm);
        for (int i = first; i < end; ++i) {
            graph->known[graph->ends[i].known].comm[graph->ends[i].slot] = comms;
        }
    }
    return comms;
}

/** Where it begins: most processes, then most members, then the lowest number. */
static int first_comm(const epml_graph_t *graph, int comms)
{
    int best = 0;

    for (int i = 1; i < comms; ++i) {
        const epml_graph_comm_t *a = &graph->comms[best], *b = &graph->comms[i];

        if (a->processes < b->processes
            || (a->processes == b->processes && a->members < b->members)) {
            best = i;
        }
    }
    return best;
}

/** A communicator is found, by a member of it. */
static void find_comm(epml_graph_t *graph, int index, int parent, int *queued)
{
    graph->comms[index].order = *queued;
    graph->comms[index].parent = parent;
    graph->queue[(*queued)++] = index;
}

/** From the first communicator on: its members by rank, with each its other communicator.  A tree:
 * each communicator but the first was found through a member, each member in a communicator. */
static void graph_walk(epml_graph_t *graph, int comms)
{
    int queued = 0, found = 0;

    find_comm(graph, first_comm(graph, comms), 0, &queued);
    for (int next = 0; next < queued; ++next) {
        const epml_graph_comm_t *comm = &graph->comms[graph->queue[next]];

        for (int i = comm->first; i < comm->first + comm->members; ++i) {
            epml_graph_known_t *member = &graph->known[graph->ends[i].known];
            const int other = member->comm[!graph->ends[i].slot];

            if (0 > member->found) {
                graph->places[found] = (epml_graph_place_t){.found = found,
                                                            .process = member->participant.process,
                                                            .known = graph->ends[i].known};
                member->found = found++;
            }
            if (0 <= other && 0 > graph->comms[other].order) {
                find_comm(graph, other, member->participant.edge[!graph->ends[i].slot].rank,
                          &queued);
            }
        }
    }
}

static int compare_processes(const void *left, const void *right)
{
    const epml_graph_place_t *a = left, *b = right;

    return a->process != b->process ? COMPARE(a->process, b->process) : COMPARE(a->found, b->found);
}

static int compare_places(const void *left, const void *right)
{
    const epml_graph_place_t *a = left, *b = right;

    return a->process_found != b->process_found ? COMPARE(a->process_found, b->process_found)
                                                : COMPARE(a->found, b->found);
}

/** Members of a process follow each other. */
static void rank_members(epml_graph_t *graph)
{
    qsort(graph->places, (size_t) graph->count, sizeof(*graph->places), compare_processes);
    for (int i = 0, first = 0; i < graph->count; ++i) {
        first = graph->places[first].process == graph->places[i].process ? first : i;
        graph->places[i].process_found = graph->places[first].found;
    }
    qsort(graph->places, (size_t) graph->count, sizeof(*graph->places), compare_places);
}

void epml_graph_lay_out(epml_graph_t *graph, const epml_graph_participant_t *own,
                        epml_graph_view_t *view)
{
    const epml_graph_known_t *me = NULL;

    graph_walk(graph, list_comms(graph));
    rank_members(graph);
    *view = (epml_graph_view_t){.size = graph->count};
    for (int i = 0; i < graph->count; ++i) {
        const epml_graph_known_t *known = &graph->known[graph->places[i].known];

        if (0 == compare_ends(&known->participant.edge[0], &own->edge[0])) {
            me = known;
            view->rank = i;
        }
    }
    for (int slot = 0; NULL != me && slot < EPML_GRAPH_EDGES; ++slot) {
        if (0 <= me->comm[slot]) {
            view->stop[view->stops++] = slot;
        }
    }
    if (2 == view->stops && graph->comms[me->comm[1]].order < graph->comms[me->comm[0]].order) {
        view->stop[0] = 1;
        view->stop[1] = 0;
    }
    for (int i = 0; i < view->stops; ++i) {
        view->parent[i] = graph->comms[me->comm[view->stop[i]]].parent;
    }
}
