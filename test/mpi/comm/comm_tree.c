/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Trees of communicators, made by every constructor of MPI in random order, used, and freed in
 * random order, by all ranks at once.
 *
 * How it stays sound: all ranks play one script, drawn from the seed alone. A step is an operation
 * on one communicator (two, for isolation). Every rank works out every step for the whole run, so
 * it knows the members of all communicators (comm_model.h), and carries out those it is a member
 * of, in the script's order. So collectives are called in an order that agrees everywhere, and yet
 * ranks are at different steps at any time: nothing holds back ranks that are in none of the next.
 *
 *   --episodes N   scripts to play (default 3)
 *   --ops N        steps of a script (default 100)
 *   --hosts N      the processes are on so many hosts, by turns (default 1, at most 3)
 *   --pending-inter 0  no requests open on intercommunicators when they are freed
 *   --trace 1      every rank tells what it does
 *   --without LIST steps to leave out: names as failures show them, separated by commas
 *
 * A step is one function that all ranks work out and some carry out; the table of steps names them
 * all.
 *
 * EPT-PARTS: comm_tree_make.c comm_tree_topo.c comm_tree_use.c comm_tree_end.c
 *
 * MPI_UNWEIGHTED is an array of no elements, of which compilers complain:
 * EPT-CFLAGS: -Wno-stringop-overread
 *
 * Guards: pml_epml_context.c, pml_epml_comm.c, pml_epml_comms.c, pml_epml_peer.c, epml/cid,
 * pml_epml_shared_peers.c
 */

#include "comm_tree.h"

/* ---- the script ---------------------------------------------------------------------------- */

int tree_draw(struct world *w, int bound)
{
    return (int) ept_random_below(&w->stream, (uint64_t) bound);
}

void tree_shuffle(struct world *w, int a[], int n)
{
    for (int i = n - 1; 0 < i; --i) {
        int j = tree_draw(w, i + 1), x = a[i];

        a[i] = a[j];
        a[j] = x;
    }
}

bool tree_mine(const struct world *w, const struct node *n)
{
    return model_has(&n->m, w->t->rank);
}

int tree_free_places(const struct world *w)
{
    int n = 0;

    for (int i = 0; i < NODES_MAX; ++i) {
        n += !w->nodes[i].exists;
    }
    return n;
}

/** A communicator of a kind, out of those that are ready; the deeper of two. NULL: none. */
struct node *tree_pick(struct world *w, int kind, int max_depth)
{
    struct node *fit[NODES_MAX], *a, *b;
    int n = 0;

    for (int i = 0; i < NODES_MAX; ++i) {
        struct node *x = &w->nodes[i];

        if (x->exists && x->ready && x->depth <= max_depth
            && (ANY == kind || (INTER == kind) == x->m.inter) && (GRID != kind || 0 < x->ndims)) {
            fit[n++] = x;
        }
    }
    if (0 == n) {
        return NULL;
    }
    a = fit[tree_draw(w, n)];
    b = fit[tree_draw(w, n)];
    return a->depth < b->depth ? b : a;
}

struct node *tree_new_node(struct world *w, const struct model *m, const struct node *parent)
{
    for (int i = 0; i < NODES_MAX; ++i) {
        struct node *n = &w->nodes[i];

        if (!n->exists) {
            *n = (struct node){.m = *m,
                               .exists = true,
                               .ready = true,
                               .id = w->next_id++,
                               .origin = w->op,
                               .depth = parent->depth + 1,
                               .comm = MPI_COMM_NULL,
                               .request = MPI_REQUEST_NULL};
            return n;
        }
    }
    abort();
}

/* ---- what is checked of a new communicator ------------------------------------------------- */

void tree_check_new(struct world *w, const struct node *n, const struct node *parent)
{
    int result = -1;

    ept_phase(w->t, "episode %d, step %d: %s gave %d, of %d (%s)", w->episode, w->step, n->origin,
              n->id, parent->id, NULL == parent->origin ? "the run's" : parent->origin);
    model_check(w->t, n->comm, &n->m, w->all);
    EPT_OK(w->t, MPI_Comm_compare(n->comm, parent->comm, &result));
    EPT_EQ(w->t, model_compare(&n->m, &parent->m, w->t->rank), result);
}

/**
 * Enter what one call made. got is this rank's handle, if it called.
 * @param[out] nodes  of the parts, NULL for those that are no communicators
 */
void tree_enter(struct world *w, const struct node *parent, const struct model parts[], int num,
                MPI_Comm got, struct node *nodes[])
{
    bool called = tree_mine(w, parent), member = false;

    for (int i = 0; i < num; ++i) {
        nodes[i] = NULL;
        if (0 == parts[i].count[0] || (parts[i].inter && 0 == parts[i].count[1])) {
            continue;
        }
        nodes[i] = tree_new_node(w, &parts[i], parent);
        if (called && tree_mine(w, nodes[i])) {
            member = true;
            nodes[i]->comm = got;
            if (MPI_COMM_NULL == got) {
                ept_fail(w->t, __FILE__, __LINE__, "expected a communicator, got none");
                abort();
            }
            tree_check_new(w, nodes[i], parent);
        }
    }
    EPT_CHECK(w->t, member || MPI_COMM_NULL == got, "a communicator for a rank that is no member");
}

/* ---- episodes ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*fn)(struct world *w);
    int weight;
} ops[] = {
    {"dup", op_dup, 4},
    {"idup", op_idup, 5},
    {"complete", op_complete, 5},
    {"split", op_split, 6},
    {"split_type", op_split_type, 3},
    {"split_hardware", op_split_hardware, 2},
    {"create", op_create, 6},
    {"create_inter", op_create_inter, 2},
    {"cart_create", op_cart, 3},
    {"cart_sub", op_cart_sub, 3},
    {"graph_create", op_graph, 2},
    {"dist_graph_create", op_dist_graph, 3},
    {"intercomm_create", op_intercomm, 5},
    {"intercomm_merge", op_merge, 3},
    {"use", op_use, 30},
    {"isolation", op_isolation, 10},
    {"late", op_late, 4},
    {"end", op_end, 18},
};
enum { NUM_OPS = sizeof(ops) / sizeof(ops[0]) };

static int draw_op(struct world *w)
{
    int total = 0, x;

    for (int i = 0; i < NUM_OPS; ++i) {
        total += ops[i].weight;
    }
    x = tree_draw(w, total);
    for (int i = 0; i < NUM_OPS; ++i) {
        x -= ops[i].weight;
        if (0 > x) {
            return i;
        }
    }
    return 0;
}

/* Is name one of those between the commas? */
static bool is_listed(const char *name, const char *list)
{
    size_t length = strlen(name);

    for (; NULL != list && '\0' != *list; list = strchr(list, ',')) {
        list += ',' == *list;
        if (0 == strncmp(name, list, length) && (',' == list[length] || '\0' == list[length])) {
            return true;
        }
    }
    return false;
}

/* Nothing that nobody received may be left anywhere. */
static void check_quiet(struct world *w)
{
    int flag = 0;

    EPT_OK(w->t, MPI_Barrier(w->t->comm));
    for (int i = 0; i < NODES_MAX; ++i) {
        if (w->nodes[i].exists && tree_mine(w, &w->nodes[i])) {
            EPT_OK(w->t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, w->nodes[i].comm, &flag,
                                    MPI_STATUS_IGNORE));
            EPT_EQ(w->t, 0, flag);
        }
    }
    EPT_OK(w->t, MPI_Barrier(w->t->comm));
}

static void play(struct world *w, int num_ops)
{
    int deepest = 0, most = 0, order[NODES_MAX], episode = w->episode;

    for (w->step = 0; w->step < num_ops; ++w->step) {
        int op = draw_op(w), taken = NODES_MAX - tree_free_places(w);

        most = taken > most ? taken : most;
        for (int i = 0; i < NODES_MAX; ++i) {
            deepest = w->nodes[i].exists && w->nodes[i].depth > deepest ? w->nodes[i].depth
                                                                        : deepest;
        }
        if (taken > NODES_MAX - 2 * PARTS_MAX) {
            ept_phase(w->t, "episode %d, step %d: make room", episode, w->step);
            tree_complete(w, true);
            op_end(w);
        } else if (!is_listed(ops[op].name, ept_option("without", ""))) {
            w->op = ops[op].name;
            ept_phase(w->t, "episode %d, step %d: %s", episode, w->step, w->op);
            if (w->trace) {
                ept_note("rank %d: %s", w->t->rank, w->t->phase);
            }
            ops[op].fn(w);
        }
    }
    ept_phase(w->t, "episode %d: quiet", episode);
    tree_complete(w, true);
    check_quiet(w);
    for (int i = 0; i < NODES_MAX; ++i) {
        order[i] = i;
    }
    tree_shuffle(w, order, NODES_MAX);
    for (int i = 0; i < NODES_MAX; ++i) {
        ept_phase(w->t, "episode %d: end of %d", episode, order[i]);
        if (0 != order[i] && w->nodes[order[i]].exists) {
            tree_end_node(w, &w->nodes[order[i]]);
        }
    }
    for (int i = 0; i < LATE_MAX; ++i) {
        ept_phase(w->t, "episode %d: late messages %d", episode, i);
        tree_end_late(w, &w->late[i]);
    }
    if (0 == w->t->rank) {
        ept_note("episode %d: %d communicators, up to %d at a time, %d deep", episode, w->next_id,
                 most, deepest);
    }
}

static void case_tree(MPI_Comm comm, struct ept *t)
{
    int episodes = (int) ept_option_long("episodes", 3);

    for (int episode = 0; episode < episodes; ++episode) {
        struct world *w = calloc(1, sizeof(*w));

        w->t = t;
        w->episode = episode;
        w->pending_inter = 0 != ept_option_long("pending-inter", t->endpoints);
        w->trace = 0 != ept_option_long("trace", 0);
        w->stream = ept_mix(t->seed, (uint64_t) episode, (uint64_t) t->size, 0);
        EPT_OK(t, MPI_Comm_group(comm, &w->all));
        w->nodes[0] = (struct node){.exists = true, .ready = true, .comm = comm};
        for (int g = 0; g < t->size; ++g) {
            model_add(&w->nodes[0].m, 0, g);
        }
        w->next_id = 1;
        play(w, (int) ept_option_long("ops", 100));
        EPT_OK(t, MPI_Group_free(&w->all));
        free(w);
    }
}

/* What nobody received before a communicator was freed shows up nowhere else. MPI calls that a
 * mistake of the program; endpoints promise to throw it away. */
static void case_leftovers(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;

    for (int round = 0; round < 60; ++round) {
        int out[2] = {-1, round * 1000 + t->rank}, in = -2, flag = 0;
        MPI_Comm first, second;
        MPI_Request request;

        ept_phase(t, "round %d", round);
        EPT_OK(t, MPI_Comm_dup(comm, &first));
        EPT_OK(t, MPI_Send(&out[0], 1, MPI_INT, to, 5, first));
        /* It is here; one that came later would be told of on the terminal. */
        EPT_OK(t, MPI_Probe(from, 5, first, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Comm_free(&first));
        EPT_OK(t, MPI_Comm_dup(comm, &second));
        EPT_OK(t, MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, second, &flag, MPI_STATUS_IGNORE));
        EPT_EQ(t, 0, flag);
        EPT_OK(t, MPI_Barrier(second));
        EPT_OK(t, MPI_Isend(&out[1], 1, MPI_INT, to, 5, second, &request));
        EPT_OK(t,
               MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, second, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_EQ(t, round * 1000 + from, in);
        EPT_OK(t, MPI_Comm_free(&second));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (MODEL_RANKS_MAX < t->size) {
        ept_skip(t, "case_tree", "too many ranks");
        return 0;
    }
    EPT_CASE(t, case_tree);
    if (t->endpoints) {
        EPT_CASE(t, case_leftovers);
    } else {
        ept_skip(t, "case_leftovers", "a promise of endpoints");
    }
    return 0;
}
