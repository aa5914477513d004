/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * What the parts of coll_late share.
 */

#ifndef EPT_COLL_LATE_H
#define EPT_COLL_LATE_H

#include "coll.h"

enum { LATE_MEMBERS_MOST = 64, LATE_COMMS = 4 };

/** Which kinds are called for a while: any; or those that let the others run ahead of who is
 * late. */
enum late_way { LATE_ANY, LATE_FROM_ONE, LATE_TO_ONE };

/** A member's view of a sequence. */
struct late {
    struct ept *t;
    MPI_Comm comms[LATE_COMMS]; /**< all there are: see coll_late.c */
    MPI_Comm comm;     /**< of this step */
    int rank, size;    /**< in it */
    enum coll_mode mode; /**< of this step */
    bool repeats;        /**< this step's call may be made again with the same buffers: all are left
                          * as they were, or become the same */
    uint64_t salt;       /**< of the case */
    uint64_t common;   /**< random stream, the same at all members */
    uint64_t own;      /**< of this member: when it comes */
    uint64_t step;     /**< number of the call: names its data */
    size_t most;       /**< bytes of a buffer that all members' blocks share */
    const char *what;  /**< is under way */
    enum late_way way; /**< of this step */
    int depth;         /**< so many others are under way */
    uint64_t *inner;   /**< steps within steps, until now */
    uint64_t *barriers;  /**< likewise barriers */
    MPI_Request request; /**< of the call */
    MPI_Datatype gaps; /**< see coll_late_move.c */
    MPI_Datatype affine, dense; /**< see coll_late_fold.c */
    MPI_Op compose, compose_dense;
};

/** Wait for nothing for a while: mostly not at all, now and then for long.  Before each call. */
void late_pause(struct late *l);

/**
 * A call has been made, or begun, with rc; bring it to its end.  Meanwhile there may be other
 * steps, on any of the communicators, and a persistent one may be started again.
 *
 * @return MPI_SUCCESS or an error code
 */
int late_called(struct late *l, int rc);

/** Call MPI_<Name>, MPI_I<name> or MPI_<Name>_init, as the step has it.  @return as late_called */
#define LATE_CALL(l, Name, name, ...)                                     \
    late_called((l), COLL_BLOCKING == (l)->mode ? MPI_##Name(__VA_ARGS__) \
                     : COLL_NONBLOCKING == (l)->mode                      \
                         ? MPI_I##name(__VA_ARGS__, &(l)->request)        \
                         : MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &(l)->request))

/** Bytes of a block: around what matters, of what a parameter says, and long.  Common. */
size_t late_bytes(struct late *l);

/** A number below bound, the same at all members. */
static inline int late_below(struct late *l, int bound)
{
    return (int) ept_random_below(&l->common, (uint64_t) bound);
}

/** Steps until now, but for those within others. */
static inline uint64_t late_time(const struct late *l)
{
    return l->step & UINT32_MAX;
}

/** Do components of Open MPI's serve v and w forms?  Then some legal calls are not made, which
 * 5.0.7 gets wrong. */
static inline bool late_is_stock(const struct late *l)
{
    return 0 != ept_option_long("stock", 1 < l->t->nprocs || !l->t->endpoints);
}

/** The one that is late for a while: a rank of the test's communicator. */
static inline int late_one(const struct late *l)
{
    return (int) (ept_mix(l->t->seed, late_time(l) / 64, 6, 0) % (uint64_t) l->t->size);
}

/** A root: any; a rank that runs ahead, from one; a late rank, to one.  Common. */
static inline int late_root(struct late *l)
{
    const int any = late_below(l, l->size);

    return LATE_FROM_ONE == l->way ? (late_one(l) + 1) % l->size
           : LATE_TO_ONE == l->way ? late_one(l)
                                   : any;
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
