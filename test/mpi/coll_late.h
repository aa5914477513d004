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
 * What the parts of coll_late share.
 */

#ifndef EPT_COLL_LATE_H
#define EPT_COLL_LATE_H

#include "ept.h"

enum { LATE_MEMBERS_MOST = 64 };

/** A member's view of a sequence. */
struct late {
    struct ept *t;
    MPI_Comm comm;     /**< of this step */
    int rank, size;    /**< in it */
    uint64_t common;   /**< random stream, the same at all members */
    uint64_t own;      /**< of this member: when it comes */
    uint64_t step;     /**< number of the call: names its data */
    size_t most;       /**< bytes of a buffer that all members' blocks share */
    const char *what;  /**< is under way */
    MPI_Datatype gaps; /**< see coll_late_move.c */
    MPI_Datatype affine;
    MPI_Op compose;
};

/** Wait for nothing for a while: mostly not at all, now and then for long.  Before each call. */
void late_pause(struct late *l);

/** Bytes of a block: around what matters, of what a parameter says, and long.  Common. */
size_t late_bytes(struct late *l);

/** A number below bound, the same at all members. */
static inline int late_below(struct late *l, int bound)
{
    return (int) ept_random_below(&l->common, (uint64_t) bound);
}

/* coll_late_move.c */
void late_move_begin(struct late *l);
void late_move_end(struct late *l);
/** A random call of those that move data. */
void late_move(struct late *l);

/* coll_late_fold.c */
void late_fold_begin(struct late *l);
void late_fold_end(struct late *l);
/** A random call of those that reduce. */
void late_fold(struct late *l);

#endif /* EPT_COLL_LATE_H */
