/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of comm_tree that make communicators: duplicates, splits, groups, intercommunicators.
 */

#include "comm_tree.h"

static MPI_Info hints(struct ept *t)
{
    MPI_Info info;

    EPT_OK(t, MPI_Info_create(&info));
    EPT_OK(t, MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    return info;
}

void op_dup(struct world *w)
{
    struct node *p = tree_pick(w, ANY, DEPTH_MAX - 1), *n;
    bool with_info = 0 == tree_draw(w, 2);
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Info info;

    if (tree_mine(w, p) && with_info) {
        info = hints(w->t);
        EPT_OK(w->t, MPI_Comm_dup_with_info(p->comm, info, &got));
        EPT_OK(w->t, MPI_Info_free(&info));
    } else if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_dup(p->comm, &got));
    }
    tree_enter(w, p, &p->m, 1, got, &n);
    n->ndims = p->ndims;
    memcpy(n->dims, p->dims, sizeof(n->dims));
}

/* They are left under way; op_complete waits for them. Stock Open MPI hangs when several are under
 * way on one intercommunicator, and, with its own context ids, when other communicators are made
 * meanwhile. */
void op_idup(struct world *w)
{
    struct node *p = tree_pick(w, ANY, DEPTH_MAX - 1), *n;
    int num = p->m.inter ? 1 : 1 + tree_draw(w, PARTS_MAX);

    if (p->m.inter && 0 < p->open) {
        return;
    }
    for (int i = 0; i < num; ++i) {
        bool with_info = 0 == tree_draw(w, 2);

        n = tree_new_node(w, &p->m, p);
        n->ready = false;
        n->parent = (int) (p - w->nodes);
        n->ndims = p->ndims;
        memcpy(n->dims, p->dims, sizeof(n->dims));
        ++p->open;
        if (tree_mine(w, p) && with_info) {
            MPI_Info info = hints(w->t);

            EPT_OK(w->t, MPI_Comm_idup_with_info(p->comm, info, &n->comm, &n->request));
            EPT_OK(w->t, MPI_Info_free(&info));
        } else if (tree_mine(w, p)) {
            EPT_OK(w->t, MPI_Comm_idup(p->comm, &n->comm, &n->request));
        }
    }
    if (!w->t->endpoints) {
        tree_complete(w, true);
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
void tree_complete(struct world *w, bool all)
{
    MPI_Request requests[NODES_MAX];
    int places[NODES_MAX], num = 0, num_mine = 0, way = tree_draw(w, 3);

    for (int i = 0; i < NODES_MAX; ++i) {
        struct node *n = &w->nodes[i];

        if (n->exists && !n->ready && (0 != tree_draw(w, 3) || all)) {
            places[num++] = i;
            if (tree_mine(w, n)) {
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
        if (tree_mine(w, n)) {
            tree_check_new(w, n, p);
        }
    }
}

void op_complete(struct world *w)
{
    tree_complete(w, false);
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
            int g = p->member[side][r], c = tree_draw(w, num), at;

            keys[g] = tree_draw(w, 5) - 2;
            if (!everybody && 0 == tree_draw(w, 10)) {
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

void op_split(struct world *w)
{
    struct node *p = tree_pick(w, ANY, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    struct model parts[PARTS_MAX];
    int num = 1 + tree_draw(w, PARTS_MAX), color, key;
    MPI_Comm got = MPI_COMM_NULL;

    draw_split(w, &p->m, false, num, parts, &color, &key);
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split(p->comm, color, key, &got));
    }
    tree_enter(w, p, parts, num, got, nodes);
}

/* All ranks of a run are on one node, or on as many as --hosts says, the processes by turns. */
void op_split_type(struct world *w)
{
    const int hosts = (int) ept_option_long("hosts", 1);
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    struct model part, parts[PARTS_MAX];
    int color, key;
    MPI_Comm got = MPI_COMM_NULL;

    draw_split(w, &p->m, 0 == tree_draw(w, 2), 1, &part, &color, &key);
    memset(parts, 0, (size_t) hosts * sizeof(parts[0]));
    for (int r = 0; r < part.count[0]; ++r) {
        const int g = part.member[0][r], process = g / (w->t->size / w->t->nprocs);

        model_add(&parts[process % hosts], 0, g);
    }
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split_type(p->comm, 0 == color ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED,
                                         key, MPI_INFO_NULL, &got));
    }
    tree_enter(w, p, parts, hosts, got, nodes);
}

/* The groups depend on the machine, so these are used and freed at once. */
void op_split_hardware(struct world *w)
{
    static const char *const kinds[] = {"numanode", "package",           "l3cache",
                                        "core",     "mpi_shared_memory", "no such thing"};
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX);
    bool guided = 0 == tree_draw(w, 2);
    const char *kind = kinds[tree_draw(w, 6)];
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Info info;
    int rank, size;

    if (!tree_mine(w, p)) {
        return;
    }
    EPT_OK(w->t, MPI_Info_create(&info));
    if (guided) {
        EPT_OK(w->t, MPI_Info_set(info, "mpi_hw_resource_type", kind));
    }
    EPT_OK(w->t, MPI_Comm_split_type(p->comm,
                                     guided ? MPI_COMM_TYPE_HW_GUIDED : MPI_COMM_TYPE_HW_UNGUIDED,
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
void op_create(struct world *w)
{
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 1), *nodes[PARTS_MAX];
    bool by_group = 0 == tree_draw(w, 2), one_tag = 0 == tree_draw(w, 2);
    struct model parts[PARTS_MAX];
    int num = 1 + tree_draw(w, PARTS_MAX), color, key, tag = tree_draw(w, 1000);
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Group all, group;

    draw_split(w, &p->m, false, num, parts, &color, &key);
    for (int i = 0; i < num; ++i) {
        tree_shuffle(w, parts[i].member[0], parts[i].count[0]);
    }
    if (tree_mine(w, p)) {
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
    tree_enter(w, p, parts, num, got, nodes);
}

/* One group on each side. In the order of the old ranks: Open MPI lists the other side so. */
void op_create_inter(struct world *w)
{
    struct node *p = tree_pick(w, INTER, DEPTH_MAX - 1), *n;
    struct model part = {.inter = true};
    MPI_Comm got = MPI_COMM_NULL;
    MPI_Group all, group;
    int side;

    if (NULL == p) {
        return;
    }
    for (int s = 0; s < 2; ++s) {
        for (int r = 0; r < p->m.count[s]; ++r) {
            if (0 != tree_draw(w, 4) || (0 == part.count[s] && r == p->m.count[s] - 1)) {
                model_add(&part, s, p->m.member[s][r]);
            }
        }
    }
    if (tree_mine(w, p)) {
        (void) model_rank(&p->m, w->t->rank, &side);
        EPT_OK(w->t, MPI_Comm_group(p->comm, &all));
        group = group_of(w, all, &p->m, side, &part);
        EPT_OK(w->t, MPI_Comm_create(p->comm, group, &got));
        free_group(w->t, &group);
        EPT_OK(w->t, MPI_Group_free(&all));
    }
    tree_enter(w, p, &part, 1, got, &n);
}

/* A bridge between two communicators, by way of a third that has members of both. */
static bool bridge(struct world *w, struct node *a, struct node *b, struct node *over)
{
    struct model part = {.inter = true};
    int leader[2], tag = tree_draw(w, 1000), side, unused;
    struct node *half[2] = {a, b}, *n;
    MPI_Comm got = MPI_COMM_NULL;

    for (int s = 0; s < 2; ++s) {
        int first = tree_draw(w, half[s]->m.count[0]), tries = 0;

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
    n = tree_new_node(w, &part, a->depth > b->depth ? a : b);
    n->comm = got;
    if (MPI_COMM_NULL != got) {
        model_check(w->t, got, &n->m, w->all);
    }
    return true;
}

/* Two communicators that are there and have nobody in common; else halves made for it. */
void op_intercomm(struct world *w)
{
    struct node *p = tree_pick(w, INTRA, DEPTH_MAX - 2), *nodes[2];
    struct node *a = tree_pick(w, INTRA, DEPTH_MAX - 1), *b = tree_pick(w, INTRA, DEPTH_MAX - 1);
    struct model parts[2];
    int color, key;
    MPI_Comm got = MPI_COMM_NULL;

    for (int r = 0; NULL != a && r < a->m.count[0]; ++r) {
        a = model_has(&b->m, a->m.member[0][r]) ? NULL : a;
        if (NULL == a) {
            break;
        }
    }
    if (NULL != a && bridge(w, a, b, tree_pick(w, INTRA, DEPTH_MAX))) {
        return;
    }
    draw_split(w, &p->m, true, 2, parts, &color, &key);
    if (0 == parts[0].count[0] || 0 == parts[1].count[0]) {
        return;
    }
    if (tree_mine(w, p)) {
        EPT_OK(w->t, MPI_Comm_split(p->comm, color, key, &got));
    }
    tree_enter(w, p, parts, 2, got, nodes);
    (void) bridge(w, nodes[0], nodes[1], p);
}

void op_merge(struct world *w)
{
    struct node *p = tree_pick(w, INTER, DEPTH_MAX - 1), *n;
    int high = tree_draw(w, 2), side;
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
    if (tree_mine(w, p)) {
        (void) model_rank(&p->m, w->t->rank, &side);
        EPT_OK(w->t, MPI_Intercomm_merge(p->comm, side == high, &got));
    }
    tree_enter(w, p, &part, 1, got, &n);
}
