/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Members of a communicator that call different collectives, with different roots, or with
 * different lengths: an error, of a class that says which, at all members that can know, and none
 * waits for ever.  A member that only gives may have gone on; it gets its error from one of the
 * next calls.  After that no call ends well, and the communicator can be freed; others have noticed
 * nothing.  A call of 0 bytes never comes to us: it is found by what that member does next, or by
 * its end.
 *
 * Of one process, which is where lines are compared; or of several of a node, in its memory.
 *
 *   --long N  bytes that do not fit into a line (default 100000; at least 100)
 *   --node 1  after so many calls that slots and rings of the node's memory are used; what fits
 *   there
 *
 * Guards: epcoll/local, coll_epcoll_bounce_chain.c, coll_epcoll_ring.h, coll_epcoll_wait.c,
 * coll_epcoll_mismatch.c
 */

#include "ept.h"

#include <unistd.h>

enum { AFTER = 12, CHAIN_LENGTH = 2 << 20 };

/** A call, by its name in the table below. */
struct call {
    const char *name;
    int root;
    int count; /**< bytes, of a block or of a vector; -1: --long, -2: twice as many */
};

typedef int (*call_fn_t)(MPI_Comm comm, const struct call *call, int bytes);

/** Room of a member, for the case that runs. */
static _Thread_local unsigned char *room[2];
static _Thread_local int counts[64], disps[64];

static void set_counts(int size, int bytes)
{
    for (int i = 0; i < size; ++i) {
        counts[i] = bytes;
        disps[i] = i * bytes;
    }
}

static int size_of(MPI_Comm comm)
{
    int size;

    MPI_Comm_size(comm, &size);
    return size;
}

static int call_barrier(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    (void) bytes;
    return MPI_Barrier(comm);
}

static int call_bcast(MPI_Comm comm, const struct call *call, int bytes)
{
    return MPI_Bcast(room[0], bytes, MPI_BYTE, call->root, comm);
}

static int call_allreduce(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    return MPI_Allreduce(room[0], room[1], bytes, MPI_BYTE, MPI_BOR, comm);
}

static int call_reduce(MPI_Comm comm, const struct call *call, int bytes)
{
    return MPI_Reduce(room[0], room[1], bytes, MPI_BYTE, MPI_BOR, call->root, comm);
}

static int call_scan(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    return MPI_Scan(room[0], room[1], bytes, MPI_BYTE, MPI_BOR, comm);
}

static int call_reduce_scatter(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    set_counts(size_of(comm), bytes);
    return MPI_Reduce_scatter(room[0], room[1], counts, MPI_BYTE, MPI_BOR, comm);
}

static int call_gather(MPI_Comm comm, const struct call *call, int bytes)
{
    return MPI_Gather(room[0], bytes, MPI_BYTE, room[1], bytes, MPI_BYTE, call->root, comm);
}

static int call_gatherv(MPI_Comm comm, const struct call *call, int bytes)
{
    set_counts(size_of(comm), bytes);
    return MPI_Gatherv(room[0], bytes, MPI_BYTE, room[1], counts, disps, MPI_BYTE, call->root,
                       comm);
}

static int call_scatter(MPI_Comm comm, const struct call *call, int bytes)
{
    return MPI_Scatter(room[0], bytes, MPI_BYTE, room[1], bytes, MPI_BYTE, call->root, comm);
}

static int call_scatterv(MPI_Comm comm, const struct call *call, int bytes)
{
    set_counts(size_of(comm), bytes);
    return MPI_Scatterv(room[0], counts, disps, MPI_BYTE, room[1], bytes, MPI_BYTE, call->root,
                        comm);
}

static int call_allgather(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    return MPI_Allgather(room[0], bytes, MPI_BYTE, room[1], bytes, MPI_BYTE, comm);
}

static int call_allgatherv(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    set_counts(size_of(comm), bytes);
    return MPI_Allgatherv(room[0], bytes, MPI_BYTE, room[1], counts, disps, MPI_BYTE, comm);
}

static int call_alltoall(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    return MPI_Alltoall(room[0], bytes, MPI_BYTE, room[1], bytes, MPI_BYTE, comm);
}

static int call_alltoallv(MPI_Comm comm, const struct call *call, int bytes)
{
    (void) call;
    set_counts(size_of(comm), bytes);
    return MPI_Alltoallv(room[0], counts, disps, MPI_BYTE, room[1], counts, disps, MPI_BYTE, comm);
}

static const struct {
    const char *name;
    call_fn_t fn;
} calls[] = {{"barrier", call_barrier},     {"bcast", call_bcast},
             {"allreduce", call_allreduce}, {"reduce", call_reduce},
             {"scan", call_scan},           {"reduce_scatter", call_reduce_scatter},
             {"gather", call_gather},       {"gatherv", call_gatherv},
             {"scatter", call_scatter},     {"scatterv", call_scatterv},
             {"allgather", call_allgather}, {"allgatherv", call_allgatherv},
             {"alltoall", call_alltoall},   {"alltoallv", call_alltoallv}};

static int bytes_of(const struct call *call)
{
    const int bytes = (int) ept_option_long("long", 100000);

    return -1 == call->count ? bytes : -2 == call->count ? 2 * bytes : call->count;
}

static int do_call(MPI_Comm comm, const struct call *call)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); ++i) {
        if (0 == strcmp(call->name, calls[i].name)) {
            return calls[i].fn(comm, call, bytes_of(call));
        }
    }
    ept_note("no call %s", call->name);
    abort();
}

/** What most call, and what one calls. */
struct pair {
    struct call most, odd;
    int class;
    bool all;     /**< all learn of it in this call: each waits for all others */
    int blind;    /**< if this rank is the one, all only give, if it is small: nobody need notice */
    bool no_root; /**< the one is not rank 0 */
    bool no_long; /**< a member that goes on calls barriers: another way than what the others wait
                       in */
};

#define SAME(name, count, other, all)                                               \
    {                                                                               \
        {name, 0, count}, {name, 0, other}, MPI_ERR_TRUNCATE, all, -1, false, false \
    }
#define ROOM(name, count, other)                                                     \
    {                                                                                \
        {name, 0, count}, {name, 0, other}, MPI_ERR_TRUNCATE, false, -1, true, false \
    }

static const struct pair lengths[] = {
    SAME("allreduce", 8, 16, true),     SAME("allreduce", 8, -1, true),
    SAME("allreduce", -1, -2, true),    SAME("allreduce", -2, 1, true),
    SAME("bcast", 8, 16, false),        SAME("bcast", 40, 8, false),
    SAME("bcast", 8, -1, false),        SAME("bcast", -1, -2, false),
    SAME("bcast", -2, -1, false),       SAME("bcast", -1, 8, false),
    SAME("reduce", 8, 16, false),       SAME("reduce", -1, -2, false),
    SAME("scan", 8, 16, false),         SAME("scan", -1, -2, true),
    SAME("reduce_scatter", 1, 2, true), SAME("reduce_scatter", -1, -2, true),
    SAME("gather", 8, 16, false),       SAME("gather", -1, -2, false),
    SAME("gather", -2, -1, false),      SAME("scatter", 1, 2, false),
    SAME("scatter", -1, -2, false),     SAME("allgather", 8, 16, true),
    SAME("allgather", -1, -2, true),    SAME("alltoall", 1, 2, true),
    SAME("alltoall", -1, -2, true),     SAME("allgatherv", 8, 16, true),
    SAME("allgatherv", -1, -2, true),   SAME("alltoallv", 8, 16, true),
    SAME("alltoallv", -1, -2, true)};

/* A sender's blocks and its receiver's room are compared as they are copied, wherever v has it: the
 * odd one sends more than the root takes; the root sends more than the odd one takes. */
static const struct pair rooms[] = {ROOM("gatherv", 8, 16), ROOM("gatherv", -1, -2),
                                    ROOM("scatterv", 16, 8), ROOM("scatterv", -2, -1)};

#define KINDS(name, count, other, other_count, all)                                     \
    {                                                                                   \
        {name, 0, count}, {other, 0, other_count}, MPI_ERR_OTHER, all, -1, false, false \
    }

static const struct pair kinds[] = {
    KINDS("barrier", 0, "allreduce", 8, true),
    KINDS("allreduce", 8, "barrier", 0, true),
    KINDS("allreduce", 8, "bcast", 8, false),
    KINDS("bcast", 8, "allreduce", 8, false),
    KINDS("barrier", 0, "bcast", 8, false),
    KINDS("bcast", 8, "barrier", 0, false),
    KINDS("barrier", 0, "bcast", -1, false),
    KINDS("bcast", -1, "barrier", 0, false),
    KINDS("allgather", 8, "alltoall", 8, true),
    KINDS("allgather", -1, "alltoall", -1, true),
    KINDS("allgather", -1, "bcast", 8, false),
    {{"gather", 0, 8}, {"scatter", 0, 8}, MPI_ERR_OTHER, false, 0, false, false},
    KINDS("gather", -1, "scatter", -1, false),
    KINDS("reduce", 8, "allreduce", 8, false),
    KINDS("reduce", -1, "allreduce", -1, false),
    KINDS("scan", 8, "allgather", 8, false),
    KINDS("alltoallv", -1, "allgatherv", -1, true)};

/* What goes from each member to the next one, through memory of a node. */
static const struct pair chains[] = {
    SAME("scan", -1, -2, false),
    SAME("scan", -2, -1, false),
    KINDS("scan", -1, "allgather", -1, false),
    KINDS("allgather", -1, "scan", -1, false),
    /* The root and the one wait for each other. */
    {{"gather", 0, -1}, {"scan", 0, -1}, MPI_ERR_OTHER, false, -1, true, false},
    /* Calls of one round, which say no more than that. */
    {{"scan", 0, 20000}, {"bcast", 0, 20000}, MPI_ERR_OTHER, false, -1, false, true},
    {{"bcast", 0, 20000}, {"scan", 0, 20000}, MPI_ERR_OTHER, false, -1, true, true},
};

#define ROOTS(name, count, blind)                                                     \
    {                                                                                 \
        {name, 0, count}, {name, 1, count}, MPI_ERR_OTHER, false, blind, false, false \
    }

static const struct pair roots[] = {ROOTS("bcast", 8, 1),   ROOTS("bcast", -1, -1),
                                    ROOTS("reduce", 8, 0),  ROOTS("reduce", -1, -1),
                                    ROOTS("gather", 8, 0),  ROOTS("gather", -1, -1),
                                    ROOTS("scatter", 1, 1), ROOTS("scatter", -1, -1)};

static int class_of(int rc)
{
    int class = MPI_SUCCESS;

    if (MPI_SUCCESS != rc) {
        MPI_Error_class(rc, &class);
    }
    return class;
}

/** What is too long for slots and rings of a node, and goes another way than these. */
static int long_bcast(MPI_Comm comm)
{
    static _Thread_local char data[65536];

    return MPI_Bcast(data, sizeof(data), MPI_CHAR, 0, comm);
}

/** Calls until one fails; each comes to its end.  @return the class of the failure */
static int fails_after(MPI_Comm broken, bool no_long)
{
    int rc = 0 != ept_option_long("node", 0) && !no_long ? long_bcast(broken) : MPI_SUCCESS;

    for (int i = 0; i < AFTER && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Barrier(broken);
    }
    return class_of(rc);
}

/** Of the node's memory: calls until it is used, and its rings, and what long ones go through. */
static void make_use(MPI_Comm comm, struct ept *t)
{
    int in = 1, sum = 0;

    for (int i = 0; i < 2 * AFTER && 0 != ept_option_long("node", 0); ++i) {
        EPT_OK(t, MPI_Barrier(comm));
        EPT_OK(t, MPI_Scan(&in, &sum, 1, MPI_INT, MPI_SUM, comm));
        EPT_EQ(t, t->rank + 1, sum);
        EPT_OK(t, long_bcast(comm));
    }
}

/** Is a call compared there: does it fit, and is it no v form? */
static bool is_tried(const struct call *call)
{
    return 0 == ept_option_long("node", 0)
           || (0 <= call->count && 'v' != call->name[strlen(call->name) - 1]);
}

static void try_one(MPI_Comm comm, struct ept *t, const struct pair *pair, int odd)
{
    int got[2], *all = malloc(2 * (size_t) t->size * sizeof(int)), failed = 0;
    const bool blind = odd == pair->blind;
    MPI_Comm broken;

    ept_phase(t, "%s of %d, at rank %d %s of %d, root %d", pair->most.name, bytes_of(&pair->most),
              odd, pair->odd.name, bytes_of(&pair->odd), pair->odd.root);
    EPT_OK(t, MPI_Comm_dup(comm, &broken));
    EPT_OK(t, MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    make_use(broken, t);
    EPT_OK(t, MPI_Barrier(broken));
    /* A rank that is still in a call gets the error of a later one, too: wait until all have left
     * it. */
    EPT_OK(t, MPI_Barrier(comm));
    got[0] = class_of(do_call(broken, odd == t->rank ? &pair->odd : &pair->most));
    got[1] = MPI_SUCCESS == got[0] ? fails_after(broken, pair->no_long) : got[0];
    EPT_OK(t, MPI_Allgather(got, 2, MPI_INT, all, 2, MPI_INT, comm));
    for (int i = 0; i < t->size && !blind; ++i) {
        failed += MPI_SUCCESS != all[2 * i];
        EPT_CHECK(t, MPI_SUCCESS != all[2 * i + 1], "rank %d never gets an error: %s", i, t->phase);
        /* A rank that has gone on may have seen another kind of call there. */
        EPT_CHECK(t,
                  pair->class == all[2 * i + 1]
                      || (!pair->all && MPI_SUCCESS == all[2 * i]
                          && MPI_ERR_OTHER == all[2 * i + 1]),
                  "rank %d gets class %d, then %d, not %d: %s", i, all[2 * i], all[2 * i + 1],
                  pair->class, t->phase);
    }
    EPT_CHECK(t, blind || !pair->all || t->size == failed, "%d of %d get an error at once: %s",
              failed, t->size, t->phase);
    EPT_CHECK(t, blind || MPI_SUCCESS != class_of(MPI_Barrier(broken)),
              "a barrier succeeds afterwards: %s", t->phase);
    EPT_OK(t, MPI_Comm_free(&broken));
    free(all);
}

static void try_all(MPI_Comm comm, struct ept *t, const struct pair *pairs, size_t count,
                    bool tried)
{
    const size_t most = 2 * (size_t) ept_option_long("long", 100000) * (size_t) t->size + 4096;

    room[0] = calloc(1, most);
    room[1] = calloc(1, most);
    for (size_t i = 0; i < count; ++i) {
        /* Where roots differ: the one that most have, the one that one has, and one that neither
         * has. */
        for (int odd = pairs[i].no_root ? 1 : 0; odd < t->size && odd < 3; ++odd) {
            if (tried || (is_tried(&pairs[i].most) && is_tried(&pairs[i].odd))) {
                try_one(comm, t, &pairs[i], odd);
            }
        }
    }
    free(room[0]);
    free(room[1]);
}

/** Calls in which all wait for the one that has 0 bytes, which is through at once. */
static const struct call waiting[] = {{"allreduce", 0, 8}, {"allreduce", 0, -1},
                                      {"allgather", 0, 8}, {"allgather", 0, -1},
                                      {"alltoall", 0, 1},  {"reduce_scatter", 0, 1},
                                      {"bcast", 1, 8},     {"bcast", 1, -1},
                                      {"scatter", 1, 1},   {"scatter", 1, -1}};

/** The others wait for its next call, which is another one, or for none, when it frees its
 * handle. */
static void try_nothing(MPI_Comm comm, struct ept *t, const struct call *call, bool goes_on)
{
    const struct call none = {call->name, call->root, 0};
    const bool is_odd = 1 == t->rank;
    MPI_Comm broken;
    int rc;

    ept_phase(t, "%s of %d, at rank 1 of nothing, then %s", call->name, bytes_of(call),
              goes_on ? "a barrier" : "its end");
    EPT_OK(t, MPI_Comm_dup(comm, &broken));
    EPT_OK(t, MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    make_use(broken, t);
    EPT_OK(t, MPI_Barrier(broken));
    EPT_OK(t, MPI_Barrier(comm));
    rc = do_call(broken, is_odd ? &none : call);
    EPT_EQ(t, is_odd ? MPI_SUCCESS : MPI_ERR_OTHER, class_of(rc));
    if (is_odd && goes_on) {
        EPT_CLASS(t, MPI_ERR_OTHER, MPI_Barrier(broken));
    }
    EPT_OK(t, MPI_Comm_free(&broken));
    EPT_OK(t, MPI_Barrier(comm));
}

/** In a chain the last member's section is not read: a member that has nothing there, and frees its
 * handle, holds up no other; nor does it where the others' rounds are more than there are slots. */
static void try_last(MPI_Comm comm, struct ept *t)
{
    const struct call most = {"scan", 0, CHAIN_LENGTH}, none = {"scan", 0, 0};
    MPI_Comm broken;

    ept_phase(t, "scan of %d, at the last rank of nothing, then its end", CHAIN_LENGTH);
    EPT_OK(t, MPI_Comm_dup(comm, &broken));
    EPT_OK(t, MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    make_use(broken, t);
    EPT_OK(t, MPI_Barrier(broken));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, do_call(broken, t->size - 1 == t->rank ? &none : &most));
    EPT_OK(t, MPI_Comm_free(&broken));
    EPT_OK(t, MPI_Barrier(comm));
}

static void case_nothing(MPI_Comm comm, struct ept *t)
{
    const size_t most = 2 * (size_t) ept_option_long("long", 100000) * (size_t) t->size
                        + CHAIN_LENGTH;

    room[0] = calloc(1, most);
    room[1] = calloc(1, most);
    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); ++i) {
        if (is_tried(&waiting[i])) {
            try_nothing(comm, t, &waiting[i], true);
            try_nothing(comm, t, &waiting[i], false);
        }
    }
    if (0 != ept_option_long("node", 0)) {
        try_last(comm, t);
    }
    free(room[0]);
    free(room[1]);
}

/** A root whose own block of a scatter has another length than what it sends: a shorter one ends
 * with an error, a longer one is filled as far as there is something; nobody else is concerned. */
static void try_own(MPI_Comm comm, struct ept *t, int bytes, int own, bool nonblocking)
{
    const int take = 1 == t->rank ? own : bytes;
    int wrong = 0, beyond = 0, class;
    MPI_Comm broken;

    ept_phase(t, "%sscatter of %d, at the root to %d", nonblocking ? "i" : "", bytes, own);
    EPT_OK(t, MPI_Comm_dup(comm, &broken));
    EPT_OK(t, MPI_Comm_set_errhandler(broken, MPI_ERRORS_RETURN));
    make_use(broken, t);
    EPT_OK(t, MPI_Barrier(broken));
    EPT_OK(t, MPI_Barrier(comm)); /* as above */
    for (int i = 0; i < t->size * bytes; ++i) {
        room[0][i] = (unsigned char) (7 * i + 1);
    }
    memset(room[1], 0x5b, 2 * (size_t) bytes);
    if (nonblocking) {
        MPI_Request request = MPI_REQUEST_NULL;

        class = class_of(MPI_Iscatter(room[0], bytes, MPI_BYTE, room[1], take, MPI_BYTE, 1, broken,
                                      &request));
        class = MPI_SUCCESS == class ? class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) : class;
    } else {
        class = class_of(MPI_Scatter(room[0], bytes, MPI_BYTE, room[1], take, MPI_BYTE, 1, broken));
    }
    if (own < bytes) {
        EPT_CHECK(t, MPI_ERR_TRUNCATE == class || (1 != t->rank && MPI_SUCCESS == class),
                  "class %d", class);
    } else {
        EPT_EQ(t, MPI_SUCCESS, class);
    }
    for (int i = 0; i < bytes; ++i) {
        wrong += (unsigned char) (7 * (t->rank * bytes + i) + 1) != room[1][i];
        beyond += 0x5b != room[1][bytes + i];
    }
    EPT_CHECK(t, MPI_SUCCESS != class || 0 == wrong, "%d bytes wrong", wrong);
    EPT_EQ(t, 0, beyond);
    EPT_OK(t, MPI_Barrier(comm));
    class = class_of(MPI_Barrier(broken));
    EPT_EQ(t, own < bytes, MPI_SUCCESS != class);
    EPT_OK(t, MPI_Comm_free(&broken));
}

static void case_own(MPI_Comm comm, struct ept *t)
{
    const int few = t->size <= 10 ? 4 : 2, longer = (int) ept_option_long("long", 100000);

    room[0] = calloc(1, (size_t) longer * (size_t) t->size);
    room[1] = calloc(1, 2 * (size_t) longer);
    for (int later = 0; later < 2; ++later) {
        try_own(comm, t, few, few / 2, 0 != later);
        try_own(comm, t, few, 2 * few, 0 != later);
        if (0 == ept_option_long("node", 0)) {
            try_own(comm, t, longer, longer / 2, 0 != later);
            try_own(comm, t, longer, longer + 8, 0 != later);
        }
    }
    free(room[0]);
    free(room[1]);
}

/** Of two processes: one member of the first has another length; of the other one a member has
 * given its part, and has freed its handle before that shows, while another one, the root, waits
 * for a message.  (The odd one comes when the one that has gone says so.) */
static void case_gone(MPI_Comm comm, struct ept *t)
{
    enum { COUNT = 1000 };
    const int root = t->size - 1, odd = 1 == t->rank;
    double *in = calloc(COUNT + 1, sizeof(*in)), *out = calloc(COUNT + 1, sizeof(*out));
    MPI_Comm dup;
    int rc;

    EPT_CHECK(t, 1 == t->rank || 0 == t->local || root == t->rank, "two of each process only");
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    if (odd) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, t->nlocal, 0, comm, MPI_STATUS_IGNORE));
    }
    rc = MPI_Reduce(in, out, COUNT + odd, MPI_DOUBLE, MPI_SUM, root, dup);
    if (0 == t->proc || root == t->rank) {
        EPT_CHECK(t, MPI_SUCCESS != rc, "a reduce of different lengths has ended well");
    } else {
        EPT_OK(t, rc);
    }
    EPT_OK(t, MPI_Comm_free(&dup));
    if (0 != t->proc && 0 == t->local) {
        EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, 1, 0, comm));
    }
    free(in);
    free(out);
}

#define TABLE(name, tried)                                             \
    static void case_##name(MPI_Comm comm, struct ept *t)              \
    {                                                                  \
        try_all(comm, t, name, sizeof(name) / sizeof(name[0]), tried); \
    }

TABLE(lengths, false)
TABLE(rooms, false)
TABLE(kinds, false)
TABLE(roots, false)
TABLE(chains, true)

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_lengths);
    EPT_CASE(t, case_rooms);
    EPT_CASE(t, case_kinds);
    EPT_CASE(t, case_roots);
    if (0 != ept_option_long("node", 0)) {
        EPT_CASE(t, case_chains);
    }
    EPT_CASE(t, case_nothing);
    EPT_CASE(t, case_own);
    if (2 == t->nprocs && 4 == t->size) {
        EPT_CASE(t, case_gone);
    }
    return 0;
}
