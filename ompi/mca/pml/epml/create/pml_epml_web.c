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
 * out take no memory: what they need was reserved with the room for callers, so they cannot fail
 * with one of them only.
 *
 * Called by pml_epml_explore.c, pml_epml_merge.c.
 *
 * Tests: unit/test_epml_web, unit/test_epml_tour, merge, merge_errors, comm_nomem
 */

#include <stdlib.h>
#include <string.h>

#include "pml_epml_web.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* ---- known members --------------------------------------------------------------------------- */

/** Give an array more room.  @return false: no memory; it stays as it was */
static bool web_grow(void *array_p, size_t count, size_t size)
{
    void **array = array_p;
    void *larger = realloc(*array, count * size);

    if (NULL != larger) {
        *array = larger;
    }
    return NULL != larger;
}

bool epml_web_reserve(epml_web_t *web, int room)
{
    const size_t callers = (size_t) room, ends = EPML_WEB_EDGES * callers;

    if (room <= web->room) {
        return true;
    }
    if (!web_grow(&web->known, callers, sizeof(*web->known))
        || !web_grow(&web->ends, ends, sizeof(*web->ends))
        || !web_grow(&web->comms, ends, sizeof(*web->comms))
        || !web_grow(&web->queue, ends, sizeof(*web->queue))
        || !web_grow(&web->places, callers, sizeof(*web->places))
        || !web_grow(&web->words, callers, sizeof(*web->words))) {
        return false;
    }
    web->room = room;
    return true;
}

void epml_web_end(epml_web_t *web)
{
    free(web->known);
    free(web->ends);
    free(web->comms);
    free(web->queue);
    free(web->places);
    free(web->words);
    memset(web, 0, sizeof(*web));
}

void epml_web_learn(epml_web_t *web, const epml_web_caller_t *caller, int told)
{
    web->known[web->count] = (epml_web_known_t){.caller = *caller};
    if (0 <= told) {
        web->known[web->count].told[told] = true;
    }
    ++web->count;
}

static int compare_ends(const void *left, const void *right)
{
    const epml_web_edge_t *a = left, *b = right; /* an end begins with one */

    return a->id != b->id ? COMPARE(a->id, b->id) : COMPARE(a->rank, b->rank);
}

/** A caller is the one that has this rank in its first communicator. */
static int compare_known(const void *left, const void *right)
{
    const epml_web_known_t *a = left, *b = right;

    return compare_ends(&a->caller.edge[0], &b->caller.edge[0]);
}

void epml_web_settle(epml_web_t *web)
{
    int last = 0;

    qsort(web->known, (size_t) web->count, sizeof(*web->known), compare_known);
    for (int i = 1; i < web->count; ++i) {
        if (0 != compare_known(&web->known[last], &web->known[i])) {
            web->known[++last] = web->known[i];
            continue;
        }
        for (int own = 0; own < EPML_WEB_EDGES; ++own) {
            web->known[last].told[own] = web->known[last].told[own] || web->known[i].told[own];
        }
    }
    web->count = 0 < web->count ? last + 1 : 0;
}

int epml_web_news(const epml_web_t *web, int own, epml_web_caller_t *callers)
{
    int count = 0;

    for (int i = 0; i < web->count; ++i) {
        if (!web->known[i].told[own]) {
            if (NULL != callers) {
                callers[count] = web->known[i].caller;
            }
            ++count;
        }
    }
    return count;
}

/* ---- is that all? ---------------------------------------------------------------------------- */

/** The ends of what callers pass, by communicator and rank.
 *
 * @param[in] own  only of members that the own communicator has been told of; -1: of all
 * @return how many */
static int sort_ends(epml_web_t *web, int own)
{
    int count = 0;

    for (int i = 0; i < web->count; ++i) {
        const epml_web_known_t *known = &web->known[i];

        for (int slot = 0; (0 > own || known->told[own]) && slot < EPML_WEB_EDGES; ++slot) {
            if (0 < known->caller.edge[slot].size) {
                web->ends[count++] = (epml_web_end_t){
                    .edge = known->caller.edge[slot], .known = i, .slot = slot};
            }
        }
    }
    qsort(web->ends, (size_t) count, sizeof(*web->ends), compare_ends);
    return count;
}

/** Behind the last end of the communicator that begins here. */
static int end_of_comm(const epml_web_t *web, int first, int count)
{
    int end = first + 1;

    while (end < count && web->ends[first].edge.id == web->ends[end].edge.id) {
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
static int sort_words(epml_web_t *web, int count)
{
    int different = 0;

    qsort(web->words, (size_t) count, sizeof(*web->words), compare_words);
    for (int i = 0; i < count; ++i) {
        different += 0 == i || web->words[i - 1] != web->words[i];
    }
    return different;
}

epml_web_state_t epml_web_look(epml_web_t *web, int own)
{
    const int count = sort_ends(web, own);
    int callers = 0;

    for (int first = 0, end; first < count; first = end) {
        end = end_of_comm(web, first, count);
        if (end - first != web->ends[first].edge.size) {
            return EPML_WEB_OPEN;
        }
    }
    for (int i = 0; i < web->count; ++i) {
        if (web->known[i].told[own]) {
            web->words[callers++] = web->known[i].caller.name;
        }
    }
    return callers == sort_words(web, callers) ? EPML_WEB_WHOLE : EPML_WEB_TWICE;
}

/* ---- the order ------------------------------------------------------------------------------- */

/** How many processes a communicator's members are in. */
static int count_processes(epml_web_t *web, const epml_web_comm_t *comm)
{
    for (int i = 0; i < comm->members; ++i) {
        web->words[i] = web->known[web->ends[comm->first + i].known].caller.process;
    }
    return sort_words(web, comm->members);
}

/** The communicators, and which ones are a caller's.  @return how many */
static int list_comms(epml_web_t *web)
{
    const int count = sort_ends(web, -1);
    int comms = 0;

    for (int i = 0; i < web->count; ++i) {
        web->known[i].comm[0] = web->known[i].comm[1] = web->known[i].found = -1;
    }
    for (int first = 0, end; first < count; first = end, ++comms) {
        epml_web_comm_t *comm = &web->comms[comms];

        end = end_of_comm(web, first, count);
        *comm = (epml_web_comm_t){.first = first, .members = end - first, .order = -1};
        comm->processes = count_processes(web, comm);
        for (int i = first; i < end; ++i) {
            web->known[web->ends[i].known].comm[web->ends[i].slot] = comms;
        }
    }
    return comms;
}

/** Where it begins: most processes, then most members, then the lowest number. */
static int first_comm(const epml_web_t *web, int comms)
{
    int best = 0;

    for (int i = 1; i < comms; ++i) {
        const epml_web_comm_t *a = &web->comms[best], *b = &web->comms[i];

        if (a->processes < b->processes
            || (a->processes == b->processes && a->members < b->members)) {
            best = i;
        }
    }
    return best;
}

/** A communicator is found, by a member of it. */
static void find_comm(epml_web_t *web, int index, int parent, int *queued)
{
    web->comms[index].order = *queued;
    web->comms[index].parent = parent;
    web->queue[(*queued)++] = index;
}

/** From the first communicator on: its members by rank, with each its other communicator.  A tree:
 * each communicator but the first was found through a member, each member in a communicator. */
static void web_walk(epml_web_t *web, int comms)
{
    int queued = 0, found = 0;

    find_comm(web, first_comm(web, comms), 0, &queued);
    for (int next = 0; next < queued; ++next) {
        const epml_web_comm_t *comm = &web->comms[web->queue[next]];

        for (int i = comm->first; i < comm->first + comm->members; ++i) {
            epml_web_known_t *member = &web->known[web->ends[i].known];
            const int other = member->comm[!web->ends[i].slot];

            if (0 > member->found) {
                web->places[found] = (epml_web_place_t){.found = found,
                                                        .process = member->caller.process,
                                                        .known = web->ends[i].known};
                member->found = found++;
            }
            if (0 <= other && 0 > web->comms[other].order) {
                find_comm(web, other, member->caller.edge[!web->ends[i].slot].rank, &queued);
            }
        }
    }
}

static int compare_processes(const void *left, const void *right)
{
    const epml_web_place_t *a = left, *b = right;

    return a->process != b->process ? COMPARE(a->process, b->process)
                                    : COMPARE(a->found, b->found);
}

static int compare_places(const void *left, const void *right)
{
    const epml_web_place_t *a = left, *b = right;

    return a->process_found != b->process_found ? COMPARE(a->process_found, b->process_found)
                                                : COMPARE(a->found, b->found);
}

/** Members of a process follow each other. */
static void rank_members(epml_web_t *web)
{
    qsort(web->places, (size_t) web->count, sizeof(*web->places), compare_processes);
    for (int i = 0, first = 0; i < web->count; ++i) {
        first = web->places[first].process == web->places[i].process ? first : i;
        web->places[i].process_found = web->places[first].found;
    }
    qsort(web->places, (size_t) web->count, sizeof(*web->places), compare_places);
}

void epml_web_lay_out(epml_web_t *web, const epml_web_caller_t *own, epml_web_view_t *view)
{
    const epml_web_known_t *me = NULL;

    web_walk(web, list_comms(web));
    rank_members(web);
    *view = (epml_web_view_t){.size = web->count};
    for (int i = 0; i < web->count; ++i) {
        const epml_web_known_t *known = &web->known[web->places[i].known];

        if (0 == compare_ends(&known->caller.edge[0], &own->edge[0])) {
            me = known;
            view->rank = i;
        }
    }
    for (int slot = 0; NULL != me && slot < EPML_WEB_EDGES; ++slot) {
        if (0 <= me->comm[slot]) {
            view->stop[view->stops++] = slot;
        }
    }
    if (2 == view->stops && web->comms[me->comm[1]].order < web->comms[me->comm[0]].order) {
        view->stop[0] = 1;
        view->stop[1] = 0;
    }
    for (int i = 0; i < view->stops; ++i) {
        view->parent[i] = web->comms[me->comm[view->stop[i]]].parent;
    }
}
