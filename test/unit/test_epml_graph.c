/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Test of ompi/mca/pml/epml/create/pml_epml_graph.c, over webs made up and by chance: what is known
 * to whom after each round, when that is all, ranks, and that the tree of communicators leads from
 * each member to all others, in an order without circular waits.
 *
 * Guards: pml_epml_graph.c, pml_epml_graph.h
 */

#include "tap.h"

/** The web's heap. */
static struct {
    int left; /**< allocations until one fails; less than 0: none does */
} heap = {.left = -1};

static void *heap_get(void *memory, size_t size)
{
    return 0 == heap.left-- ? NULL : realloc(memory, size);
}

#define realloc(memory, size) heap_get(memory, size)
#include "ompi/mca/pml/epml/create/pml_epml_graph.c"
#undef realloc

#define CALLERS_MAX 24
#define COMMS_MAX 24

/** Which two communicators each caller passes, -1: none; its rank in them. */
typedef struct made_t {
    int participants, comms;
    int comm[CALLERS_MAX][2], rank[CALLERS_MAX][2];
    int size[COMMS_MAX];
    int process[CALLERS_MAX];
    uint64_t name[CALLERS_MAX];
    uint64_t id[COMMS_MAX];
} made_t;

static uint64_t state;

static int below(int bound)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int) ((state >> 33) % (uint64_t) bound);
}

static void pass(made_t *made, int participant, int slot, int comm)
{
    made->comm[participant][slot] = comm;
    made->rank[participant][slot] = made->size[comm]++;
}

/** Callers 0, 1, ... with communicators by chance: of them the first has one in any case. */
static void make(made_t *made, int participants, int comms)
{
    *made = (made_t){.participants = participants, .comms = comms};
    for (int i = 0; i < comms; ++i) {
        made->id[i] = (uint64_t) below(1000) * 100 + (uint64_t) i;
    }
    for (int i = 0; i < participants; ++i) {
        const int first = below(comms), second = below(2 * comms);

        made->name[i] = (uint64_t) (1000 - i);
        made->process[i] = below(5);
        made->comm[i][0] = made->comm[i][1] = -1;
        pass(made, i, 0, first);
        if (second < comms && second != first) {
            pass(made, i, 1, second);
        }
    }
}

static epml_graph_participant_t caller_of(const made_t *made, int participant)
{
    epml_graph_participant_t described = {.name = made->name[participant],
                                          .process = (uint64_t) made->process[participant]};

    for (int slot = 0; slot < 2; ++slot) {
        if (0 <= made->comm[participant][slot]) {
            described.edge[slot] = (epml_graph_edge_t){
                .id = made->id[made->comm[participant][slot]],
                .size = made->size[made->comm[participant][slot]],
                .rank = made->rank[participant][slot]};
        }
    }
    return described;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static epml_graph_t webs[CALLERS_MAX];
static bool whole[COMMS_MAX];

/** All members of a communicator tell each other their updates, out of what they knew before. */
static void tell(const made_t *made, int comm, epml_graph_participant_t updates[][CALLERS_MAX],
                 int counts[])
{
    for (int to = 0; to < made->participants; ++to) {
        const int slot = comm == made->comm[to][1];

        for (int from = 0; comm == made->comm[to][slot] && from < made->participants; ++from) {
            const int other = comm == made->comm[from][1];

            if (comm == made->comm[from][other]) {
                for (int i = 0; i < counts[2 * from + other]; ++i) {
                    epml_graph_learn(&webs[to], &updates[2 * from + other][i], slot);
                }
            }
        }
    }
}

/** @return whether somebody has anything to tell */
static bool round_of(const made_t *made)
{
    static epml_graph_participant_t updates[2 * CALLERS_MAX][CALLERS_MAX];
    int counts[2 * CALLERS_MAX];
    bool any = false;

    for (int i = 0; i < 2 * made->participants; ++i) {
        counts[i] = 0;
        if (0 <= made->comm[i / 2][i % 2] && !whole[made->comm[i / 2][i % 2]]) {
            counts[i] = epml_graph_updates(&webs[i / 2], i % 2, NULL);
            TAP_EQ(counts[i], epml_graph_updates(&webs[i / 2], i % 2, updates[i]));
            any = true;
        }
    }
    for (int i = 0; i < made->participants; ++i) {
        TAP_CHECK(epml_graph_reserve(&webs[i], webs[i].count + 2 * CALLERS_MAX * CALLERS_MAX),
                  "no memory");
    }
    for (int comm = 0; comm < made->comms; ++comm) {
        tell(made, comm, updates, counts);
    }
    for (int i = 0; i < made->participants; ++i) {
        epml_graph_settle(&webs[i]);
    }
    return any;
}

/** Has each communicator come to its end, with all its members at the same time? */
static void look(const made_t *made, epml_graph_state_t expected)
{
    for (int comm = 0; comm < made->comms; ++comm) {
        int ends = 0;

        for (int i = 0; i < made->participants; ++i) {
            for (int slot = 0; slot < 2; ++slot) {
                if (comm == made->comm[i][slot] && !whole[comm]) {
                    const epml_graph_state_t found = epml_graph_look(&webs[i], slot);

                    TAP_CHECK(EPML_GRAPH_OPEN == found || expected == found, "it is %d",
                              (int) found);
                    ends += EPML_GRAPH_OPEN != found;
                }
            }
        }
        TAP_CHECK(0 == ends || made->size[comm] == ends, "%d of %d", ends, made->size[comm]);
        whole[comm] = whole[comm] || 0 < ends;
    }
}

/** @return rounds */
static int explore(const made_t *made, epml_graph_state_t expected)
{
    int rounds = 0;

    memset(whole, 0, sizeof(whole));
    for (int i = 0; i < made->participants; ++i) {
        const epml_graph_participant_t self = caller_of(made, i);

        TAP_CHECK(epml_graph_reserve(&webs[i], 1), "no memory");
        epml_graph_learn(&webs[i], &self, -1);
    }
    while (round_of(made)) {
        look(made, expected);
        TAP_CHECK(++rounds <= made->participants + 2, "no end");
    }
    return rounds;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

/** The callers that hang together with one, as bits. */
static uint64_t reach(const made_t *made, int participant)
{
    uint64_t bits = UINT64_C(1) << participant, before = 0;

    while (bits != before) {
        before = bits;
        for (int i = 0; i < made->participants * made->participants; ++i) {
            const int *a = made->comm[i / made->participants],
                      *b = made->comm[i % made->participants];

            if (0 != (bits >> (i / made->participants) & 1)
                && ((0 <= a[0] && (a[0] == b[0] || a[0] == b[1]))
                    || (0 <= a[1] && (a[1] == b[0] || a[1] == b[1])))) {
                bits |= UINT64_C(1) << (i % made->participants);
            }
        }
    }
    return bits;
}

/** Ranks: the same for all, and processes in one piece. */
static void check_ranks(const made_t *made, const epml_graph_view_t views[], int participant)
{
    const uint64_t bits = reach(made, participant);
    int left = -1;
    bool over[5] = {false};

    TAP_EQ(__builtin_popcountll(bits), views[participant].size);
    TAP_EQ(made->name[participant],
           epml_graph_participant(&webs[participant], views[participant].rank)->name);
    for (int rank = 0; rank < views[participant].size; ++rank) {
        const int other = 1000 - (int) epml_graph_participant(&webs[participant], rank)->name;

        TAP_CHECK(0 != (bits >> other & 1), "members that are not connected");
        TAP_EQ(rank, views[other].rank);
        if (left != made->process[other]) {
            left = made->process[other];
            TAP_CHECK(!over[left], "members of a process are apart");
            over[left] = true;
        }
    }
}

/** One communicator: all know the same root; what its members have is combined at the root (up), or
 * the root's given to all. */
static void pass_on(const made_t *made, const epml_graph_view_t views[], int comm, uint64_t bits[],
                    bool up)
{
    uint64_t all = 0;
    int root = -1;

    for (int i = 0; i < made->participants; ++i) {
        for (int stop = 0; stop < views[i].stops; ++stop) {
            if (comm == made->comm[i][views[i].stop[stop]]) {
                TAP_CHECK(0 > root || root == views[i].parent[stop], "two roots");
                root = views[i].parent[stop];
                all |= bits[i];
            }
        }
    }
    for (int i = 0; i < made->participants; ++i) {
        const int slot = comm == made->comm[i][1];

        if (up && comm == made->comm[i][slot] && root == made->rank[i][slot]) {
            bits[i] = all;
        } else if (!up && comm == made->comm[i][slot] && root == made->rank[i][slot]) {
            all = bits[i];
        }
    }
    for (int i = 0; !up && i < made->participants; ++i) {
        if (comm == made->comm[i][0] || comm == made->comm[i][1]) {
            bits[i] |= all;
        }
    }
}

/** In the order of all: of a caller's two, the first stop comes first.  @return how many there
 * are */
static int order_comms(const made_t *made, const epml_graph_view_t views[], int order[])
{
    bool placed[COMMS_MAX] = {false};
    int count = 0, before = -1;

    while (before < count) {
        before = count;
        for (int comm = 0; comm < made->comms; ++comm) {
            bool waits = placed[comm] || 0 == made->size[comm];

            for (int i = 0; i < made->participants; ++i) {
                waits = waits
                        || (2 == views[i].stops && comm == made->comm[i][views[i].stop[1]]
                            && !placed[made->comm[i][views[i].stop[0]]]);
            }
            if (!waits) {
                placed[comm] = true;
                order[count++] = comm;
            }
        }
    }
    for (int comm = 0; comm < made->comms; ++comm) {
        TAP_CHECK(placed[comm] || 0 == made->size[comm], "all wait in a circle");
    }
    return count;
}

static void check_tree(const made_t *made, const epml_graph_view_t views[])
{
    uint64_t bits[CALLERS_MAX];
    int order[COMMS_MAX];
    const int count = order_comms(made, views, order);

    for (int i = 0; i < made->participants; ++i) {
        bits[i] = UINT64_C(1) << i;
    }
    for (int i = count - 1; 0 <= i; --i) {
        pass_on(made, views, order[i], bits, true);
    }
    for (int i = 0; i < count; ++i) {
        pass_on(made, views, order[i], bits, false);
    }
    for (int i = 0; i < made->participants; ++i) {
        TAP_CHECK(reach(made, i) == bits[i], "caller %d has not heard of all", i);
    }
}

static void end(const made_t *made)
{
    for (int i = 0; i < made->participants; ++i) {
        epml_graph_end(&webs[i]);
    }
}

static void run(const made_t *made)
{
    epml_graph_view_t views[CALLERS_MAX];

    (void) explore(made, EPML_GRAPH_COMPLETE);
    for (int i = 0; i < made->participants; ++i) {
        const epml_graph_participant_t self = caller_of(made, i);

        epml_graph_lay_out(&webs[i], &self, &views[i]);
    }
    for (int i = 0; i < made->participants; ++i) {
        check_ranks(made, views, i);
    }
    check_tree(made, views);
    end(made);
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_chance(void)
{
    tap_case("by chance");
    for (int n = 0; n < (TAP_SANITIZED ? 20 : 200); ++n) {
        made_t made;

        make(&made, 1 + below(CALLERS_MAX), 1 + below(COMMS_MAX));
        run(&made);
    }
    tap_case_done();
}

/** Three processes of four, in the opposite order: as a library has it. */
static void case_library(void)
{
    made_t made = {.participants = 12, .comms = 4};
    epml_graph_view_t view;

    tap_case("a communicator of processes with that of each one's endpoints");
    for (int i = 0; i < 12; ++i) {
        made.name[i] = (uint64_t) (1000 - i);
        made.process[i] = i / 4;
        made.comm[i][1] = -1;
        pass(&made, i, 0, i / 4);
    }
    for (int i = 8; 0 <= i; i -= 4) {
        pass(&made, i, 1, 3);
    }
    for (int i = 0; i < 4; ++i) {
        made.id[i] = (uint64_t) (50 - i);
    }
    TAP_EQ(3, explore(&made, EPML_GRAPH_COMPLETE));
    for (int i = 0; i < 12; ++i) {
        const epml_graph_participant_t self = caller_of(&made, i);

        epml_graph_lay_out(&webs[i], &self, &view);
        TAP_EQ((2 - i / 4) * 4 + i % 4, view.rank);
        TAP_EQ(0 == i % 4 ? 2 : 1, view.stops);
        TAP_EQ(0 == i % 4 ? 1 : 0, view.stop[0]);
    }
    end(&made);
    tap_case_done();
}

static void case_twice(void)
{
    made_t made = {.participants = 3, .comms = 2, .id = {7, 3}, .name = {1000, 999, 1000}};

    tap_case("one calls twice");
    for (int i = 0; i < 3; ++i) {
        made.comm[i][0] = made.comm[i][1] = -1;
    }
    pass(&made, 0, 0, 0);
    pass(&made, 1, 0, 0);
    pass(&made, 1, 1, 1);
    pass(&made, 2, 0, 1);
    (void) explore(&made, EPML_GRAPH_TWICE);
    end(&made);
    tap_case_done();
}

static void case_no_memory(void)
{
    tap_case("without memory what is known stays");
    for (int n = 0; n < 6; ++n) {
        const epml_graph_participant_t self = {.edge = {{.id = 5, .size = 1}}};
        epml_graph_t graph = {.count = 0};

        TAP_CHECK(epml_graph_reserve(&graph, 1), "no memory");
        epml_graph_learn(&graph, &self, 0);
        heap.left = n;
        TAP_CHECK(!epml_graph_reserve(&graph, 9), "there was memory");
        heap.left = -1;
        TAP_EQ(1, graph.room);
        TAP_EQ(EPML_GRAPH_COMPLETE, epml_graph_look(&graph, 0));
        epml_graph_end(&graph);
    }
    tap_case_done();
}

int main(int argc, char **argv)
{
    tap_begin(argc, argv, "test_epml_graph", 60);
    state = tap.seed;
    case_library();
    case_twice();
    case_chance();
    case_no_memory();
    return tap_end();
}
