/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of comm_tree share: the communicators that there are in a script, and its steps.
 */

#ifndef EPT_COMM_TREE_H
#define EPT_COMM_TREE_H

#include "comm_model.h"

enum { NODES_MAX = 40, PARTS_MAX = 3, DEPTH_MAX = 6, LATE_MAX = 8, WORDS_MAX = 2000 };

struct node {
    struct model m;
    bool exists; /* its place in the table is taken */
    bool ready;  /* no MPI_Comm_idup of it is under way */
    int id;      /* in the order of the script */
    int depth;
    const char *origin; /* the step that made it */
    int open;           /* idups under way on it */
    int parent;         /* of an idup: index of what is duplicated */
    int ndims;          /* of a grid; 0: none */
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
    bool trace;                   /* --trace: each rank tells each of its steps */
    bool pending_inter;           /* intercommunicators may be freed with requests open */
    struct node nodes[NODES_MAX]; /* 0 is the run's communicator */
    struct late late[LATE_MAX];
    MPI_Group all;
};

/** Which communicators a step may take. */
enum { ANY, INTRA, INTER, GRID };

/* comm_tree.c: the script, drawn alike by all ranks */
int tree_draw(struct world *w, int bound);
void tree_shuffle(struct world *w, int a[], int n);
bool tree_mine(const struct world *w, const struct node *n);
int tree_free_places(const struct world *w);
struct node *tree_pick(struct world *w, int kind, int max_depth);
struct node *tree_new_node(struct world *w, const struct model *m, const struct node *parent);
void tree_check_new(struct world *w, const struct node *n, const struct node *parent);
void tree_enter(struct world *w, const struct node *parent, const struct model parts[], int num,
                MPI_Comm got, struct node *nodes[]);

/* comm_tree_make.c */
void tree_complete(struct world *w, bool all);

/* comm_tree_use.c */
uint64_t tree_message_key(const struct world *w, const struct node *n, int from, int to);
void tree_fill(uint64_t *words, int num, uint64_t key);
void tree_check_words(struct world *w, const uint64_t *words, int num, uint64_t key);

/* comm_tree_end.c */
void tree_end_node(struct world *w, struct node *n);
void tree_end_late(struct world *w, struct late *l);

/* The steps: all ranks work one out, and the members of its communicator carry it out. */
void op_dup(struct world *w);
void op_idup(struct world *w);
void op_complete(struct world *w);
void op_split(struct world *w);
void op_split_type(struct world *w);
void op_split_hardware(struct world *w);
void op_create(struct world *w);
void op_create_inter(struct world *w);
void op_intercomm(struct world *w);
void op_merge(struct world *w);
void op_cart(struct world *w);
void op_cart_sub(struct world *w);
void op_graph(struct world *w);
void op_dist_graph(struct world *w);
void op_use(struct world *w);
void op_isolation(struct world *w);
void op_late(struct world *w);
void op_end(struct world *w);

#endif /* EPT_COMM_TREE_H */
