/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * The steps of comm_tree that end communicators, also with messages under way on them.
 */

#include "comm_tree.h"

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
    if (tree_mine(w, n)) {
        int to = n->m.member[0][(rank + 1) % size], from = n->m.member[0][(rank + size - 1) % size];

        l->out = calloc((size_t) words, sizeof(*l->out));
        l->in = calloc((size_t) words, sizeof(*l->in));
        l->key = tree_message_key(w, n, from, w->t->rank);
        tree_fill(l->out, words, tree_message_key(w, n, w->t->rank, to));
        EPT_OK(w->t, MPI_Irecv(l->in, words, MPI_UINT64_T, MPI_ANY_SOURCE, w->step, n->comm,
                               &l->requests[0]));
        EPT_OK(w->t, MPI_Isend(l->out, words, MPI_UINT64_T, (rank + 1) % size, w->step, n->comm,
                               &l->requests[1]));
    }
    return l;
}

void tree_end_late(struct world *w, struct late *l)
{
    if (NULL != l->in) {
        EPT_OK(w->t, MPI_Waitall(2, l->requests, MPI_STATUSES_IGNORE));
        tree_check_words(w, l->in, l->words, l->key);
        free(l->in);
        free(l->out);
    }
    memset(l, 0, sizeof(*l));
}

void op_late(struct world *w)
{
    struct late *l = &w->late[tree_draw(w, LATE_MAX)];

    if (l->open) {
        tree_end_late(w, l);
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

void tree_end_node(struct world *w, struct node *n)
{
    int way = tree_draw(w, 6), words = 0 == tree_draw(w, 2) ? 20 : 20000;

    if (4 == way) {
        (void) start_late(w, n, words);
    }
    if (tree_mine(w, n)) {
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

void op_end(struct world *w)
{
    int fit[NODES_MAX], num = 0;

    for (int i = 1; i < NODES_MAX; ++i) {
        if (w->nodes[i].exists && w->nodes[i].ready && 0 == w->nodes[i].open) {
            fit[num++] = i;
        }
    }
    if (0 < num) {
        tree_end_node(w, &w->nodes[fit[tree_draw(w, num)]]);
    }
}
