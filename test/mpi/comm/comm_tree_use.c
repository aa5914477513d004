/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of comm_tree that use communicators: messages, collectives, and that two communicators
 * are kept apart.
 */

#include "comm_tree.h"

uint64_t tree_message_key(const struct world *w, const struct node *n, int from, int to)
{
    return ept_mix((uint64_t) n->id, (uint64_t) w->step, (uint64_t) from, (uint64_t) to);
}

void tree_fill(uint64_t *words, int num, uint64_t key)
{
    for (int i = 0; i < num; ++i) {
        words[i] = key + (uint64_t) i;
    }
}

void tree_check_words(struct world *w, const uint64_t *words, int num, uint64_t key)
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

/* The rank that rank r of a side sends to when all send by a shift; -1 is never among them. */
static int shifted(const struct model *m, int side, int r, int shift)
{
    int to = m->inter ? 1 - side : 0;

    return m->member[to][(r + shift) % m->count[to]];
}

/* Receive from the ranks it may come from, in one of the ways to do so. */
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
    /* The sender is not known beforehand when several may: the key tells. */
    for (int r = 0; status.MPI_SOURCE != address && r < 2 * MODEL_RANKS_MAX; ++r) {
        int g = r % MODEL_RANKS_MAX;

        if (model_has(&n->m, g) && status.MPI_SOURCE == model_address(&n->m, w->t->rank, g)) {
            from = g;
            break;
        }
    }
    EPT_STATUS(w->t, &status, model_address(&n->m, w->t->rank, from), w->step,
               words * (int) sizeof(uint64_t));
    tree_check_words(w, in, words, tree_message_key(w, n, from, w->t->rank));
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
    tree_fill(out, words, tree_message_key(w, n, w->t->rank, to));
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
        tree_fill(out[i], sizes[i], tree_message_key(w, n, w->t->rank, to) + (uint64_t) i * 77);
        EPT_OK(w->t, MPI_Isend(out[i], sizes[i], MPI_UINT64_T, model_address(&n->m, w->t->rank, to),
                               w->step, n->comm, &requests[i]));
    }
    for (int r = 0; r < n->m.count[from_side]; ++r) {
        int from = n->m.member[from_side][r];

        for (int i = 0; w->t->rank == shifted(&n->m, from_side, r, shift) && i < NUM; ++i) {
            int source = model_address(&n->m, w->t->rank, from);

            EPT_OK(w->t,
                   MPI_Recv(in, WORDS_MAX, MPI_UINT64_T, source, MPI_ANY_TAG, n->comm, &status));
            EPT_STATUS(w->t, &status, source, w->step, sizes[i] * (int) sizeof(uint64_t));
            tree_check_words(w, in, sizes[i],
                             tree_message_key(w, n, from, w->t->rank) + (uint64_t) i * 77);
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

void op_use(struct world *w)
{
    struct node *n = tree_pick(w, ANY, DEPTH_MAX);
    int way = tree_draw(w, 10), shift = tree_draw(w, 5);
    int words = 0 == tree_draw(w, 3) ? WORDS_MAX : 1 + tree_draw(w, 50);

    if (!tree_mine(w, n)) {
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
void op_isolation(struct world *w)
{
    struct node *a = tree_pick(w, ANY, DEPTH_MAX), *b = tree_pick(w, ANY, DEPTH_MAX);
    int words = 0 == tree_draw(w, 3) ? WORDS_MAX : 1 + tree_draw(w, 50), me = w->t->rank, to;
    static _Thread_local uint64_t out[2][WORDS_MAX], in[WORDS_MAX];
    MPI_Request requests[2];
    MPI_Status status;

    if (a == b || !tree_mine(w, a) || !tree_mine(w, b)) {
        return;
    }
    to = next_common(&a->m, &b->m, me);
    if (0 <= to) {
        tree_fill(out[0], words, tree_message_key(w, a, me, to));
        tree_fill(out[1], words, tree_message_key(w, b, me, to));
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
                tree_check_words(w, in, words, tree_message_key(w, n, g, me));
            }
        }
    }
    if (0 <= to) {
        EPT_OK(w->t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
}
