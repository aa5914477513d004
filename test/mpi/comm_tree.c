/* -*- Mode: C; c-basic-offset:4 ; indent-tabs-mode:nil -*- */
/*
 * Copyright (c) 2026      The Open MPI Endpoints project contributors.
 *                         All rights reserved.
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
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
 * ranks are at different steps at any time: nothing holds back those who are in none of the next.
 *
 *   --episodes N   scripts to play (default 3)
 *   --ops N        steps of a script (default 100)
 *   --hosts N      the processes are on so many hosts, by turns (default 1, at most 3)
 *   --pending-inter 0  no requests open on intercommunicators when they are freed
 *   --trace 1      every rank tells what it does
 *   --without LIST steps to leave out: names as failures show them, separated by commas
 *
 * One long file: a step is one function that all ranks work out and some carry out, and the table
 * of steps names them all.
 *
 * MPI_UNWEIGHTED is an array of no elements, of which compilers complain:
 * EPT-CFLAGS: -Wno-stringop-overread
 *
 * Guards: pml_epml_context.c, pml_epml_comm.c, pml_epml_comms.c, pml_epml_peer.c,
 * pml_epml_share.c, endpoints/c
 */

#include "comm_model.h"

enum { NODES_MAX = 40, PARTS_MAX = 3, DEPTH_MAX = 6, LATE_MAX = 8, WORDS_MAX = 2000 };

struct node {
    struct model m;
    bool exists; /* its place in the table is taken */
    bool ready;  /* no MPI_Comm_idup of it is under way */
    int id;      /* in the order of the script */
    int depth;
    const char *origin; /* the step that made it */
    int open;    /* idups under way on it */
    int parent;  /* of an idup: index of what is duplicated */
    int ndims;   /* of a grid; 0: none */
    int dims[3];
    MPI_Comm comm;
    MPI_Request request;
};

/** Messages on a communicator that was freed before they were complete. */
struct late {
    bool open;
    int step, words;
    MPI_Request requests[2];
    uint64_t *out, *in;
    uint64_t key; /* of what comes in */
};

struct world {
    struct ept *t;
    uint64_t stream; /* of the script: all ranks draw the same */
    int episode, step, next_id;
    const char *op;
    bool trace;         /* --trace: each rank tells each of its steps */
    bool pending_inter; /* intercommunicators may be freed with requests open */
    struct node nodes[NODES_MAX]; /* 0 is the run's communicator */
    struct late late[LATE_MAX];
    MPI_Group all;
};

/* ---- the script ---------------------------------------------------------------------------- */

static int draw(struct world *w, int bound)
{
    return (int) ept_random_below(&w->stream, (uint64_t) bound);
}

static void shuffle(struct world *w, int a[], int n)
{
    for (int i = n - 1; 0 < i; --i) {
        int j = draw(w, i + 1), x = a[i];

        a[i] = a[j];
        a[j] = x;
    }
}

static bool mine(const struct world *w, const struct node *n)
{
    return model_has(&n->m, w->t->rank);
}

static int free_places(const struct world *w)
{
    int n = 0;

    for (int i = 0; i < NODES_MAX; ++i) {
        n += !w->nodes[i].exists;
    }
    return n;
}

enum { ANY, INTRA, INTER, GRID };

/** A communicator of a kind, out of those that are ready; the deeper of two. NULL: none. */
static struct node *pick(struct world *w, int kind, int max_depth)
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
    a = fit[draw(w, n)];
    b = fit[draw(w, n)];
    return a->depth < b->depth ? b : a;
}

static struct node *new_node(struct world *w, const struct model *m, const struct node *parent)
{
    for (int i = 0; i < NODES_MAX; ++i) {
        struct node *n = &w->nodes[i];

        if (!n->exists) {
            *n = (struct node){.m = *m, .exists = true, .ready = true, .id = w->next_id++,
                               .origin = w->op, .depth = parent->depth + 1, .comm = MPI_COMM_NULL,
                               .request = MPI_REQUEST_NULL};
            return n;
        }
    }
    abort();
}

/* ---- what is checked of a new communicator ------------------------------------------------- */

static void check_new(struct world *w, const struct node *n, const struct node *parent)
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
static void enter(struct world *w, const struct node *parent, const struct model parts[], int num,
                  MPI_Comm got, struct node *nodes[])
{
    bool called = mine(w, parent), member = false;

    for (int i = 0; i < num; ++i) {
        nodes[i] = NULL;
        if (0 == parts[i].count[0] || (parts[i].inter && 0 == parts[i].count[1])) {
            continue;
        }
        nodes[i] = new_node(w, &parts[i], parent);
        if (called && mine(w, nodes[i])) {
            member = true;
            nodes[i]->comm = got;
            if (MPI_COMM_NULL == got) {
                ept_fail(w->t, __FILE__, __LINE__, "expected a communicator, got none");
                abort();
            }
            check_new(w, nodes[i], parent);
        }
    }
    EPT_CHECK(w->t, member || MPI_COMM_NULL == got, "a communicator for a rank that is no member");
}

/* ---- constructors -------------------------------------------------------------------------- */

typedef void (*op_fn_t)(struct world *w);

static MPI_Info hints(struct ept *t)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    return info;
}

static void op_dup(struct world *w)
{
    struct node *p = pick(w, ANY, DEPTH_MAX - 1), *n;
    bool with_info = 0 == draw(w, 2);
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Info info;

    if (mine(w, p) && with_info) {
        info = hints(w->t);
        EPT_OK(w->t, MPI_Comm_dup_with_info(p->comm, info, &got));
        EPT_OK(w->t, MPI_Info_free(&info));
    } else if (mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_dup(p->comm, &got));
    }
    enter(w, p, &p->m, 1, got, &n);
    n->ndims = p->ndims;
    memcpy(n->dims, p->dims, sizeof(n->dims));
}

static void complete(struct world *w, bool all);

/* They are left under way; op_complete waits for them. Stock Open MPI hangs when several are under
 * way on one intercommunicator, and, with its own context ids, when other communicators are made
 * meanwhile. */
static void op_idup(struct world *w)
{
    struct node *p = pick(w, ANY, DEPTH_MAX - 1), *n;
    int num = p->m.inter ? 1 : 1 + draw(w, PARTS_MAX);

    if (p->m.inter && 0 < p->open) {
        return;
    }
    for (int i = 0; i < num; ++i) {
        bool with_info = 0 == draw(w, 2);

        n = new_node(w, &p->m, p);
        n->ready = false;
        n->parent = (int) (p - w->nodes);
        n->ndims = p->ndims;
        memcpy(n->dims, p->dims, sizeof(n->dims));
        ++p->open;
        if (mine(w, p) && with_info) {
            MPI_Info info = hints(w->t);

            EPT_OK(w->t, MPI_Comm_idup_with_info(p->comm, info, &n->comm, &n->request));
            EPT_OK(w->t, MPI_Info_free(&info));
        } else if (mine(w, p)) {
            EPT_OK(w->t, MPI_Comm_idup(p->comm, &n->comm, &n->request));
        }
    }
    if (!w->t->endpoints) {
        complete(w, true);
    }
}

static void complete_requests(struct ept *t, MPI_Request requests[], int num, int way)
{
    int done = 0;

    switch (way) {
    case 0:
        EPT_OK(t, MPI_Waitall(num, requests, MPI_STATUSES_IGNORE));
        break;
    case 1:
        while (0 == done) {
            EPT_OK(t, MPI_Testall(num, requests, &done, MPI_STATUSES_IGNORE));
        }
        break;
    default:
        for (int i = 0; i < num; ++i) {
            EPT_OK(t, MPI_Waitany(num, requests, &done, MPI_STATUS_IGNORE));
        }
        break;
    }
}

/* Of the idups under way about two thirds, or all. */
static void complete(struct world *w, bool all)
{
    MPI_Request requests[NODES_MAX];
    int places[NODES_MAX], num = 0, num_mine = 0, way = draw(w, 3);

    for (int i = 0; i < NODES_MAX; ++i) {
        struct node *n = &w->nodes[i];

        if (n->exists && !n->ready && (0 != draw(w, 3) || all)) {
            places[num++] = i;
            if (mine(w, n)) {
                requests[num_mine++] = n->request;
            }
        }
    }
    complete_requests(w->t, requests, num_mine, way);
    for (int i = 0; i < num; ++i) {
        struct node *n = &w->nodes[places[i]], *p = &w->nodes[n->parent];

        n->ready = true;
        n->request = MPI_REQUEST_NULL;
        --p->open;
        if (mine(w, n)) {
            check_new(w, n, p);
        }
    }
}

static void op_complete(struct world *w)
{
    complete(w, false);
}

/* The parts of a split: by colour, sorted by key. */
static void draw_split(struct world *w, const struct model *p, bool everybody, int num,
                       struct model parts[], int *color, int *key)
{
    int keys[MODEL_RANKS_MAX];

    memset(parts, 0, (size_t) num * sizeof(parts[0]));
    *color = MPI_UNDEFINED;
    *key = 0;
    for (int side = 0; side < 2; ++side) {
        for (int r = 0; r < p->count[side]; ++r) {
            int g = p->member[side][r], c = draw(w, num), at;

            keys[g] = draw(w, 5) - 2;
            if (!everybody && 0 == draw(w, 10)) {
                continue;
            }
            if (g == w->t->rank) {
                *color = c;
                *key = keys[g];
            }
            parts[c].inter = p->inter;
            at = parts[c].count[side]++;
            for (; 0 < at && keys[parts[c].member[side][at - 1]] > keys[g]; --at) {
                parts[c].member[side][at] = parts[c].member[side][at - 1];
            }
            parts[c].member[side][at] = g;
        }
    }
}

static void op_split(struct world *w)
{
    struct node *p = pick(w, ANY, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    struct model parts[PARTS_MAX];
    int num = 1 + draw(w, PARTS_MAX), color, key;
    MPI_Comm got = MPI_COMM_NULL;

    draw_split(w, &p->m, false, num, parts, &color, &key);
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split(p->comm, color, key, &got));
    }
    enter(w, p, parts, num, got, nodes);
}

/* All ranks of a run are on one node, or on as many as --hosts says, the processes by turns. */
static void op_split_type(struct world *w)
{
    const int hosts = (int) ept_option_long("hosts", 1);
    struct node *p = pick(w, INTRA, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    struct model part, parts[PARTS_MAX];
    int color, key;
    MPI_Comm got = MPI_COMM_NULL;

    draw_split(w, &p->m, 0 == draw(w, 2), 1, &part, &color, &key);
    memset(parts, 0, (size_t) hosts * sizeof(parts[0]));
    for (int r = 0; r < part.count[0]; ++r) {
        const int g = part.member[0][r], process = g / (w->t->size / w->t->nprocs);

        model_add(&parts[process % hosts], 0, g);
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split_type(p->comm,
                                         0 == color ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, key,
                                         MPI_INFO_NULL, &got));
    }
    enter(w, p, parts, hosts, got, nodes);
}

/* Who is with whom depends on the machine, so these are used and freed at once. */
static void op_split_hardware(struct world *w)
{
    static const char *const kinds[] = {"numanode", "package", "l3cache", "core",
                                        "mpi_shared_memory", "no such thing"};
    struct node *p = pick(w, INTRA, DEPTH_MAX);
    bool guided = 0 == draw(w, 2);
    const char *kind = kinds[draw(w, 6)];
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Info info;
    int rank, size;

    if (!mine(w, p)) {
        return;
    }
    EPT_OK(w->t, MPI_Info_create(&info));
    if (guided) {
        EPT_OK(w->t, MPI_Info_set(info, "mpi_hw_resource_type", kind));
    }
    EPT_OK(w->t, MPI_Comm_split_type(p->comm, guided ? MPI_COMM_TYPE_HW_GUIDED
                                                     : MPI_COMM_TYPE_HW_UNGUIDED,
                                     0, info, &got));
    EPT_OK(w->t, MPI_Info_free(&info));
    EPT_CHECK(w->t, !guided || strcmp("no such thing", kind) || MPI_COMM_NULL == got,
              "a communicator of unknown hardware");
    EPT_CHECK(w->t, !guided || strcmp("mpi_shared_memory", kind) || MPI_COMM_NULL != got,
              "no communicator of a node");
    if (MPI_COMM_NULL == got) {
        return;
    }
    EPT_OK(w->t, MPI_Comm_rank(got, &rank));
    EPT_OK(w->t, MPI_Comm_size(got, &size));
    EPT_CHECK(w->t, guided ? size <= p->m.count[0] : size < p->m.count[0],
              "%d of %d ranks share hardware", size, p->m.count[0]);
    ept_use_comm(w->t, got, rank, size);
    EPT_OK(w->t, MPI_Comm_free(&got));
}

static MPI_Group group_of(struct world *w, MPI_Group parent, const struct model *from, int side,
                          const struct model *part)
{
    int ranks[MODEL_RANKS_MAX], unused;
    MPI_Group group;

    for (int i = 0; i < part->count[side]; ++i) {
        ranks[i] = model_rank(from, part->member[side][i], &unused);
    }
    EPT_OK(w->t, MPI_Group_incl(parent, part->count[side], ranks, &group));
    return group;
}

static void free_group(struct ept *t, MPI_Group *group)
{
    if (MPI_GROUP_EMPTY != *group) {
        EPT_OK(t, MPI_Group_free(group));
    }
}

/* Disjoint groups, each in an order of its own; the rest passes the empty group. */
static void op_create(struct world *w)
{
    struct node *p = pick(w, INTRA, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    bool by_group = 0 == draw(w, 2), one_tag = 0 == draw(w, 2);
    struct model parts[PARTS_MAX];
    int num = 1 + draw(w, PARTS_MAX), color, key, tag = draw(w, 1000);
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Group all, group;

    draw_split(w, &p->m, false, num, parts, &color, &key);
    for (int i = 0; i < num; ++i) {
        shuffle(w, parts[i].member[0], parts[i].count[0]);
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_group(p->comm, &all));
        group = MPI_UNDEFINED == color ? MPI_GROUP_EMPTY
                                       : group_of(w, all, &p->m, 0, &parts[color]);
        if (!by_group) {
            EPT_OK(w->t, MPI_Comm_create(p->comm, group, &got));
        } else if (MPI_UNDEFINED != color) {
            EPT_OK(w->t, MPI_Comm_create_group(p->comm, group, tag + (one_tag ? 0 : color), &got));
        }
        free_group(w->t, &group);
        EPT_OK(w->t, MPI_Group_free(&all));
    }
    enter(w, p, parts, num, got, nodes);
}

/* One group on each side. In the order of the old ranks: Open MPI lists the other side so. */
static void op_create_inter(struct world *w)
{
    struct node *p = pick(w, INTER, DEPTH_MAX - 1), *n;
    struct model part = {.inter = true};
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Group all, group;
    int side;

    if (NULL == p) {
        return;
    }
    for (int s = 0; s < 2; ++s) {
        for (int r = 0; r < p->m.count[s]; ++r) {
            if (0 != draw(w, 4) || (0 == part.count[s] && r == p->m.count[s] - 1)) {
                model_add(&part, s, p->m.member[s][r]);
            }
        }
    }
    if (mine(w, p)) {
        (void) model_rank(&p->m, w->t->rank, &side);
        EPT_OK(w->t, MPI_Comm_group(p->comm, &all));
        group = group_of(w, all, &p->m, side, &part);
        EPT_OK(w->t, MPI_Comm_create(p->comm, group, &got));
        free_group(w->t, &group);
        EPT_OK(w->t, MPI_Group_free(&all));
    }
    enter(w, p, &part, 1, got, &n);
}

static void op_cart(struct world *w)
{
    struct node *p = pick(w, INTRA, DEPTH_MAX - 1), *n;
    struct model part = {.inter = false};
    int left = p->m.count[0], ndims = 1 + draw(w, 3), dims[3], periods[3], total = 1, got_dims;
    MPI_Comm got = MPI_COMM_NULL;

    for (int i = 0; i < ndims; ++i) {
        dims[i] = 1 + draw(w, left);
        periods[i] = draw(w, 2);
        total *= dims[i];
        left /= dims[i];
    }
    for (int r = 0; r < total; ++r) {
        model_add(&part, 0, p->m.member[0][r]);
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Cart_create(p->comm, ndims, dims, periods, 0, &got));
    }
    enter(w, p, &part, 1, got, &n);
    n->ndims = ndims;
    memcpy(n->dims, dims, sizeof(dims));
    if (MPI_COMM_NULL != got) {
        EPT_OK(w->t, MPI_Cartdim_get(got, &got_dims));
        EPT_EQ(w->t, ndims, got_dims);
    }
}

/* Slices of a grid: ranks whose coordinates agree where remain is 0. */
static void op_cart_sub(struct world *w)
{
    struct node *p = pick(w, GRID, DEPTH_MAX - 1), *nodes[MODEL_RANKS_MAX];
    struct model *parts;
    int remain[3], num = 1, dims[3], ndims = 0, got_dims = -1;
    MPI_Comm got = MPI_COMM_NULL;

    if (NULL == p) {
        return;
    }
    for (int i = 0; i < p->ndims; ++i) {
        remain[i] = draw(w, 2);
        if (0 != remain[i]) {
            dims[ndims++] = p->dims[i];
        } else {
            num *= p->dims[i];
        }
    }
    if (num > free_places(w)) {
        return;
    }
    parts = calloc((size_t) num, sizeof(*parts));
    for (int r = 0; r < p->m.count[0]; ++r) {
        int rest = r, part = 0, factor = 1;

        for (int i = p->ndims - 1; 0 <= i; --i) {
            if (0 == remain[i]) {
                part += factor * (rest % p->dims[i]);
                factor *= p->dims[i];
            }
            rest /= p->dims[i];
        }
        model_add(&parts[part], 0, p->m.member[0][r]);
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Cart_sub(p->comm, remain, &got));
        EPT_OK(w->t, MPI_Cartdim_get(got, &got_dims));
        EPT_EQ(w->t, ndims, got_dims);
    }
    enter(w, p, parts, num, got, nodes);
    for (int i = 0; i < num; ++i) {
        nodes[i]->ndims = ndims;
        memcpy(nodes[i]->dims, dims, sizeof(dims));
    }
    free(parts);
}

/* A ring as a graph, of which the last ranks may be left out. */
static void op_graph(struct world *w)
{
    struct node *p = pick(w, INTRA, DEPTH_MAX - 1), *n;
    struct model part = {.inter = false};
    int total = 1 + draw(w, p->m.count[0]), index[MODEL_RANKS_MAX], edges[2 * MODEL_RANKS_MAX];
    MPI_Comm got = MPI_COMM_NULL;

    for (int r = 0; r < total; ++r) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + 1) % total;
        edges[2 * r + 1] = (r + total - 1) % total;
        model_add(&part, 0, p->m.member[0][r]);
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Graph_create(p->comm, total, index, edges, 0, &got));
    }
    enter(w, p, &part, 1, got, &n);
}

/* Each rank says what it sends to; or rank 0 says it of everybody. */
static void op_dist_graph(struct world *w)
{
    struct node *p = pick(w, INTRA, DEPTH_MAX - 1), *n;
    int size = p->m.count[0], step = 1 + draw(w, size), way = draw(w, 3), side;
    int rank = model_rank(&p->m, w->t->rank, &side), to = (rank + step) % size;
    int from = (rank + size - step % size) % size, one = 1, weight = 3, in = -1, out = -1, flag;
    int sources[MODEL_RANKS_MAX], degrees[MODEL_RANKS_MAX], targets[MODEL_RANKS_MAX];
    MPI_Comm got = MPI_COMM_NULL;

    if (mine(w, p)) {
        if (0 == way) {
            EPT_OK(w->t, MPI_Dist_graph_create_adjacent(p->comm, 1, &from, &weight, 1, &to,
                                                        &weight, MPI_INFO_NULL, 0, &got));
        } else if (1 == way) {
            EPT_OK(w->t, MPI_Dist_graph_create(p->comm, 1, &rank, &one, &to, MPI_UNWEIGHTED,
                                               MPI_INFO_NULL, 0, &got));
        } else {
            for (int r = 0; r < size; ++r) {
                sources[r] = r;
                degrees[r] = 1;
                targets[r] = (r + step) % size;
            }
            EPT_OK(w->t, MPI_Dist_graph_create(p->comm, 0 == rank ? size : 0, sources, degrees,
                                               targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &got));
        }
        EPT_OK(w->t, MPI_Dist_graph_neighbors_count(got, &in, &out, &flag));
        EPT_EQ(w->t, 1, in);
        EPT_EQ(w->t, 1, out);
    }
    enter(w, p, &p->m, 1, got, &n);
}

/* A bridge between two communicators, by way of a third that has members of both. */
static bool bridge(struct world *w, struct node *a, struct node *b, struct node *over)
{
    struct model part = {.inter = true};
    int leader[2], tag = draw(w, 1000), side, unused;
    struct node *half[2] = {a, b}, *n;
    MPI_Comm got = MPI_COMM_NULL;

    for (int s = 0; s < 2; ++s) {
        int first = draw(w, half[s]->m.count[0]), tries = 0;

        for (; tries < half[s]->m.count[0]; ++tries) {
            leader[s] = half[s]->m.member[0][(first + tries) % half[s]->m.count[0]];
            if (model_has(&over->m, leader[s])) {
                break;
            }
        }
        if (tries == half[s]->m.count[0]) {
            return false;
        }
        part.count[s] = half[s]->m.count[0];
        memcpy(part.member[s], half[s]->m.member[0], sizeof(part.member[s]));
    }
    if (model_has(&part, w->t->rank)) {
        (void) model_rank(&part, w->t->rank, &side);
        EPT_OK(w->t,
               MPI_Intercomm_create(half[side]->comm,
                                    model_rank(&half[side]->m, leader[side], &unused),
                                    w->t->rank == leader[side] ? over->comm : MPI_COMM_NULL,
                                    model_rank(&over->m, leader[1 - side], &unused), tag, &got));
    }
    n = new_node(w, &part, a->depth > b->depth ? a : b);
    n->comm = got;
    if (MPI_COMM_NULL != got) {
        model_check(w->t, got, &n->m, w->all);
    }
    return true;
}

/* Two communicators that are there and have nobody in common; else halves made for it. */
static void op_intercomm(struct world *w)
{
    struct node *p = pick(w, INTRA, DEPTH_MAX - 2), *nodes[2];
    struct node *a = pick(w, INTRA, DEPTH_MAX - 1), *b = pick(w, INTRA, DEPTH_MAX - 1);
    struct model parts[2];
    int color, key;
    MPI_Comm got = MPI_COMM_NULL;

    for (int r = 0; NULL != a && r < a->m.count[0]; ++r) {
        a = model_has(&b->m, a->m.member[0][r]) ? NULL : a;
        if (NULL == a) {
            break;
        }
    }
    if (NULL != a && bridge(w, a, b, pick(w, INTRA, DEPTH_MAX))) {
        return;
    }
    draw_split(w, &p->m, true, 2, parts, &color, &key);
    if (0 == parts[0].count[0] || 0 == parts[1].count[0]) {
        return;
    }
    if (mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split(p->comm, color, key, &got));
    }
    enter(w, p, parts, 2, got, nodes);
    (void) bridge(w, nodes[0], nodes[1], p);
}

static void op_merge(struct world *w)
{
    struct node *p = pick(w, INTER, DEPTH_MAX - 1), *n;
    int high = draw(w, 2), side;
    struct model part = {.inter = false};
    MPI_Comm got = MPI_COMM_NULL;

    if (NULL == p) {
        return;
    }
    for (int s = 0; s < 2; ++s) {
        int from = 0 == s ? 1 - high : high;

        for (int r = 0; r < p->m.count[from]; ++r) {
            model_add(&part, 0, p->m.member[from][r]);
        }
    }
    if (mine(w, p)) {
        (void) model_rank(&p->m, w->t->rank, &side);
        EPT_OK(w->t, MPI_Intercomm_merge(p->comm, side == high, &got));
    }
    enter(w, p, &part, 1, got, &n);
}

/* ---- use ----------------------------------------------------------------------------------- */

static uint64_t message_key(const struct world *w, const struct node *n, int from, int to)
{
    return ept_mix((uint64_t) n->id, (uint64_t) w->step, (uint64_t) from, (uint64_t) to);
}

static void fill(uint64_t *words, int num, uint64_t key)
{
    for (int i = 0; i < num; ++i) {
        words[i] = key + (uint64_t) i;
    }
}

static void check_words(struct world *w, const uint64_t *words, int num, uint64_t key)
{
    for (int i = 0; i < num; ++i) {
        if (key + (uint64_t) i != words[i]) {
            ept_fail(w->t, __FILE__, __LINE__, "word %d of %d: expected %#llx, got %#llx", i, num,
                     (unsigned long long) key + (unsigned long long) i,
                     (unsigned long long) words[i]);
            return;
        }
    }
    atomic_fetch_add(&w->t->checks, 1);
}

/* Whom rank r of a side sends to when all send by a shift; -1 is never among them. */
static int shifted(const struct model *m, int side, int r, int shift)
{
    int to = m->inter ? 1 - side : 0;

    return m->member[to][(r + shift) % m->count[to]];
}

/* Receive from whom it may come, in one of the ways to do so. */
static void receive_one(struct world *w, struct node *n, int from, int words, int way)
{
    uint64_t in[WORDS_MAX];
    int address = model_address(&n->m, w->t->rank, from);
    int source = 1 == way ? address : MPI_ANY_SOURCE, tag = 0 == way ? w->step : MPI_ANY_TAG;
    MPI_Status status;
    MPI_Message message;

    memset(in, 0, sizeof(in));
    if (3 == way) {
        EPT_OK(w->t, MPI_Mprobe(MPI_ANY_SOURCE, w->step, n->comm, &message, &status));
        EPT_OK(w->t, MPI_Mrecv(in, words, MPI_UINT64_T, &message, &status));
    } else {
        EPT_OK(w->t, MPI_Recv(in, words, MPI_UINT64_T, source, tag, n->comm, &status));
    }
    /* Who sends is not known beforehand when several may: the key tells. */
    for (int r = 0; status.MPI_SOURCE != address && r < 2 * MODEL_RANKS_MAX; ++r) {
        int g = r % MODEL_RANKS_MAX;

        if (model_has(&n->m, g) && status.MPI_SOURCE == model_address(&n->m, w->t->rank, g)) {
            from = g;
            break;
        }
    }
    EPT_STATUS(w->t, &status, model_address(&n->m, w->t->rank, from), w->step,
               words * (int) sizeof(uint64_t));
    check_words(w, in, words, message_key(w, n, from, w->t->rank));
}

/* Everybody sends one message; wildcards in both only where nothing else can be under way. */
static void use_p2p(struct world *w, struct node *n, int way, int shift, int words)
{
    static _Thread_local uint64_t out[WORDS_MAX];
    int side, rank = model_rank(&n->m, w->t->rank, &side), to = shifted(&n->m, side, rank, shift);
    int from_side = n->m.inter ? 1 - side : 0;
    MPI_Request request;

    if (2 == way) {
        EPT_OK(w->t, MPI_Barrier(n->comm));
    }
    fill(out, words, message_key(w, n, w->t->rank, to));
    EPT_OK(w->t, MPI_Isend(out, words, MPI_UINT64_T, model_address(&n->m, w->t->rank, to), w->step,
                           n->comm, &request));
    for (int r = 0; r < n->m.count[from_side]; ++r) {
        if (w->t->rank == shifted(&n->m, from_side, r, shift)) {
            receive_one(w, n, n->m.member[from_side][r], words, way);
        }
    }
    EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (2 == way) {
        EPT_OK(w->t, MPI_Barrier(n->comm));
    }
}

/* Messages of several sizes to one neighbour arrive in the order in which they were sent. */
static void use_order(struct world *w, struct node *n, int shift)
{
    enum { NUM = 8 };
    static const int sizes[NUM] = {1, 700, 2, 1900, 60, 3, 1200, 1};
    static _Thread_local uint64_t out[NUM][WORDS_MAX], in[WORDS_MAX];
    int side, rank = model_rank(&n->m, w->t->rank, &side), to = shifted(&n->m, side, rank, shift);
    int from_side = n->m.inter ? 1 - side : 0;
    MPI_Request requests[NUM];
    MPI_Status status;

    for (int i = 0; i < NUM; ++i) {
        fill(out[i], sizes[i], message_key(w, n, w->t->rank, to) + (uint64_t) i * 77);
        EPT_OK(w->t, MPI_Isend(out[i], sizes[i], MPI_UINT64_T,
                               model_address(&n->m, w->t->rank, to), w->step, n->comm,
                               &requests[i]));
    }
    for (int r = 0; r < n->m.count[from_side]; ++r) {
        int from = n->m.member[from_side][r];

        for (int i = 0; w->t->rank == shifted(&n->m, from_side, r, shift) && i < NUM; ++i) {
            int source = model_address(&n->m, w->t->rank, from);

            EPT_OK(w->t, MPI_Recv(in, WORDS_MAX, MPI_UINT64_T, source, MPI_ANY_TAG, n->comm,
                                  &status));
            EPT_STATUS(w->t, &status, source, w->step, sizes[i] * (int) sizeof(uint64_t));
            check_words(w, in, sizes[i],
                        message_key(w, n, from, w->t->rank) + (uint64_t) i * 77);
        }
    }
    EPT_OK(w->t, MPI_Waitall(NUM, requests, MPI_STATUSES_IGNORE));
}

static void use_collective(struct world *w, struct node *n, int way)
{
    int side, rank = model_rank(&n->m, w->t->rank, &side), give = w->t->rank + w->step;
    int from = n->m.inter ? 1 - side : 0, size = n->m.count[from], wanted = 0, sum = -1;
    int got[MODEL_RANKS_MAX], out[MODEL_RANKS_MAX];
    MPI_Request request;

    for (int r = 0; r < size; ++r) {
        wanted += n->m.member[from][r] + w->step;
        got[r] = -1;
        out[r] = w->t->rank * 100 + r + w->step;
    }
    switch (way) {
    case 0:
        EPT_OK(w->t, MPI_Allreduce(&give, &sum, 1, MPI_INT, MPI_SUM, n->comm));
        EPT_EQ(w->t, wanted, sum);
        break;
    case 1:
        EPT_OK(w->t, MPI_Allgather(&give, 1, MPI_INT, got, 1, MPI_INT, n->comm));
        for (int r = 0; r < size; ++r) {
            EPT_EQ(w->t, n->m.member[from][r] + w->step, got[r]);
        }
        break;
    case 2:
        EPT_OK(w->t, MPI_Alltoall(out, 1, MPI_INT, got, 1, MPI_INT, n->comm));
        for (int r = 0; r < size; ++r) {
            EPT_EQ(w->t, n->m.member[from][r] * 100 + rank + w->step, got[r]);
        }
        break;
    default:
        EPT_OK(w->t, MPI_Iallreduce(&give, &sum, 1, MPI_INT, MPI_SUM, n->comm, &request));
        EPT_OK(w->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_EQ(w->t, wanted, sum);
        EPT_OK(w->t, MPI_Barrier(n->comm));
        break;
    }
}

static void op_use(struct world *w)
{
    struct node *n = pick(w, ANY, DEPTH_MAX);
    int way = draw(w, 10), shift = draw(w, 5);
    int words = 0 == draw(w, 3) ? WORDS_MAX : 1 + draw(w, 50);

    if (!mine(w, n)) {
        return;
    }
    if (4 > way) {
        use_p2p(w, n, way, shift, words);
    } else if (4 == way) {
        use_order(w, n, shift);
    } else {
        use_collective(w, n, (way - 5) % 4);
    }
}

/* ---- isolation ----------------------------------------------------------------------------- */

/* The next of those that are in both and can be written to in both; -1: none. */
static int next_common(const struct model *a, const struct model *b, int g)
{
    for (int i = 1; i < MODEL_RANKS_MAX; ++i) {
        int to = (g + i) % MODEL_RANKS_MAX;

        if (0 <= model_address(a, g, to) && 0 <= model_address(b, g, to)) {
            return to;
        }
    }
    return -1;
}

/**
 * Send on one communicator, then on another, with the same tag; receive in the other order, from
 * anybody: what was sent first must not be taken for what comes second.
 */
static void op_isolation(struct world *w)
{
    struct node *a = pick(w, ANY, DEPTH_MAX), *b = pick(w, ANY, DEPTH_MAX);
    int words = 0 == draw(w, 3) ? WORDS_MAX : 1 + draw(w, 50), me = w->t->rank, to;
    static _Thread_local uint64_t out[2][WORDS_MAX], in[WORDS_MAX];
    MPI_Request requests[2];
    MPI_Status status;

    if (a == b || !mine(w, a) || !mine(w, b)) {
        return;
    }
    to = next_common(&a->m, &b->m, me);
    if (0 <= to) {
        fill(out[0], words, message_key(w, a, me, to));
        fill(out[1], words, message_key(w, b, me, to));
        EPT_OK(w->t, MPI_Isend(out[0], words, MPI_UINT64_T, model_address(&a->m, me, to), w->step,
                               a->comm, &requests[0]));
        EPT_OK(w->t, MPI_Isend(out[1], words, MPI_UINT64_T, model_address(&b->m, me, to), w->step,
                               b->comm, &requests[1]));
    }
    for (int i = 0; i < 2; ++i) {
        struct node *n = 0 == i ? b : a;

        for (int g = 0; g < MODEL_RANKS_MAX; ++g) {
            if (g != me && model_has(&a->m, g) && model_has(&b->m, g)
                && me == next_common(&a->m, &b->m, g)) {
                EPT_OK(w->t, MPI_Recv(in, WORDS_MAX, MPI_UINT64_T, model_address(&n->m, me, g),
                                      w->step, n->comm, &status));
                EPT_EQ(w->t, w->step, status.MPI_TAG);
                check_words(w, in, words, message_key(w, n, g, me));
            }
        }
    }
    if (0 <= to) {
        EPT_OK(w->t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* Messages to the neighbour, completed some time after the communicator has been freed. */
static struct late *start_late(struct world *w, struct node *n, int words)
{
    struct late *l = NULL;
    int side, rank = model_rank(&n->m, w->t->rank, &side), size = n->m.count[side];

    for (int i = 0; i < LATE_MAX; ++i) {
        l = w->late[i].open ? l : &w->late[i];
    }
    if (NULL == l || n->m.inter) {
        return NULL;
    }
    l->open = true;
    l->step = w->step;
    l->words = words;
    if (mine(w, n)) {
        int to = n->m.member[0][(rank + 1) % size], from = n->m.member[0][(rank + size - 1) % size];

        l->out = calloc((size_t) words, sizeof(*l->out));
        l->in = calloc((size_t) words, sizeof(*l->in));
        l->key = message_key(w, n, from, w->t->rank);
        fill(l->out, words, message_key(w, n, w->t->rank, to));
        EPT_OK(w->t, MPI_Irecv(l->in, words, MPI_UINT64_T, MPI_ANY_SOURCE, w->step, n->comm,
                               &l->requests[0]));
        EPT_OK(w->t, MPI_Isend(l->out, words, MPI_UINT64_T, (rank + 1) % size, w->step, n->comm,
                               &l->requests[1]));
    }
    return l;
}

static void end_late(struct world *w, struct late *l)
{
    if (NULL != l->in) {
        EPT_OK(w->t, MPI_Waitall(2, l->requests, MPI_STATUSES_IGNORE));
        check_words(w, l->in, l->words, l->key);
        free(l->in);
        free(l->out);
    }
    memset(l, 0, sizeof(*l));
}

static void op_late(struct world *w)
{
    struct late *l = &w->late[draw(w, LATE_MAX)];

    if (l->open) {
        end_late(w, l);
    }
}

/* A receive that nobody will ever serve, given up before the communicator goes. Stock Open MPI
 * gives up the request's reference as well if the intercommunicator has a lower slot than its
 * parent (ompi_comm_free, "extra retain"). */
static void cancel_one(struct world *w, struct node *n)
{
    MPI_Request request;
    MPI_Status status;
    int in, flag = 0;

    EPT_OK(w->t, MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, w->step, n->comm, &request));
    EPT_OK(w->t, MPI_Cancel(&request));
    EPT_OK(w->t, MPI_Comm_free(&n->comm));
    EPT_OK(w->t, MPI_Wait(&request, &status));
    EPT_OK(w->t, MPI_Test_cancelled(&status, &flag));
    EPT_EQ(w->t, 1, flag);
}

static void end_node(struct world *w, struct node *n)
{
    int way = draw(w, 6), words = 0 == draw(w, 2) ? 20 : 20000;

    if (4 == way) {
        (void) start_late(w, n, words);
    }
    if (mine(w, n)) {
        if (3 == way && (!n->m.inter || w->pending_inter)) {
            cancel_one(w, n);
        } else if (5 == way) {
            EPT_OK(w->t, MPI_Comm_disconnect(&n->comm));
        } else {
            EPT_OK(w->t, MPI_Comm_free(&n->comm));
        }
        EPT_CHECK(w->t, MPI_COMM_NULL == n->comm, "handle not null after its end");
    }
    n->exists = false;
}

static void op_end(struct world *w)
{
    int fit[NODES_MAX], num = 0;

    for (int i = 1; i < NODES_MAX; ++i) {
        if (w->nodes[i].exists && w->nodes[i].ready && 0 == w->nodes[i].open) {
            fit[num++] = i;
        }
    }
    if (0 < num) {
        end_node(w, &w->nodes[fit[draw(w, num)]]);
    }
}

/* ---- episodes ------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    op_fn_t fn;
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
    x = draw(w, total);
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
        if (w->nodes[i].exists && mine(w, &w->nodes[i])) {
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
        int op = draw_op(w), taken = NODES_MAX - free_places(w);

        most = taken > most ? taken : most;
        for (int i = 0; i < NODES_MAX; ++i) {
            deepest = w->nodes[i].exists && w->nodes[i].depth > deepest ? w->nodes[i].depth
                                                                        : deepest;
        }
        if (taken > NODES_MAX - 2 * PARTS_MAX) {
            ept_phase(w->t, "episode %d, step %d: make room", episode, w->step);
            complete(w, true);
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
    complete(w, true);
    check_quiet(w);
    for (int i = 0; i < NODES_MAX; ++i) {
        order[i] = i;
    }
    shuffle(w, order, NODES_MAX);
    for (int i = 0; i < NODES_MAX; ++i) {
        ept_phase(w->t, "episode %d: end of %d", episode, order[i]);
        if (0 != order[i] && w->nodes[order[i]].exists) {
            end_node(w, &w->nodes[order[i]]);
        }
    }
    for (int i = 0; i < LATE_MAX; ++i) {
        ept_phase(w->t, "episode %d: late messages %d", episode, i);
        end_late(w, &w->late[i]);
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
        EPT_OK(t, MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, second,
                           MPI_STATUS_IGNORE));
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
