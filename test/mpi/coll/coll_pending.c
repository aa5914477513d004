/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that are under way beside each other, in any order: more nonblocking ones than fit,
 * blocking ones between them, persistent ones that each member starts in an order of its own,
 * members that come late or are not in MPI.  What is reduced are pairs, with an operation that does
 * not commute; types and operations are freed as soon as MPI allows.
 *
 *   --operations N  of the random cases (default 150)
 *   --different 1   members call different things, and nothing else: that is reported
 *
 * Guards: coll_epcoll_combining_lock.h, coll_epcoll_nonblocking.c, coll_epcoll_pending.c,
 * coll_epcoll_persistent.c, coll_epcoll_op_segment.c, coll_epcoll_small.c,
 * coll_epcoll_chunks.c, coll_epcoll_local.c, coll_epcoll_sequence.h, coll_epcoll_schedule.c,
 * coll_epcoll_step.c, coll_epcoll_segment_pool.c, coll_epcoll_node_segment.c
 */

#define _GNU_SOURCE /* mallinfo2 */

#include "ept.h"
#include "usage.h"

/* x -> m * x + c: composing such is associative, and does not commute. */
typedef struct pair {
    uint64_t m, c;
} pair_t;

enum kind {
    ALLREDUCE,
    BCAST,
    REDUCE,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER_BLOCK,
    ALLGATHER,
    ALLTOALL,
    GATHER,
    SCATTER,
    BARRIER,
    KINDS
};

enum mode { BLOCKING, NONBLOCKING, PERSISTENT };

typedef struct one {
    enum kind kind;
    int root, count;
    uint64_t key; /* of its data */
    pair_t *send, *recv;
    MPI_Request request;
    MPI_Datatype type; /* of a pair; MPI_DATATYPE_NULL: freed */
    MPI_Op op;
} one_t;

static pair_t compose(pair_t a, pair_t b)
{
    return (pair_t){a.m * b.m, a.m * b.c + a.c};
}

static void compose_all(void *in, void *into, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count; ++i) {
        ((pair_t *) into)[i] = compose(((pair_t *) in)[i], ((pair_t *) into)[i]);
    }
}

static pair_t datum(const one_t *one, int rank, int i)
{
    return (pair_t){ept_mix(one->key, (uint64_t) rank, (uint64_t) i, 1),
                    ept_mix(one->key, (uint64_t) rank, (uint64_t) i, 2)};
}

/* What members first to last have there, together. */
static pair_t together(const one_t *one, int first, int last, int i)
{
    pair_t all = datum(one, last, i);

    for (int rank = last - 1; rank >= first; --rank) {
        all = compose(datum(one, rank, i), all);
    }
    return all;
}

static size_t room(const struct ept *t, const one_t *one)
{
    return (size_t) one->count * (size_t) t->size;
}

/* The same at all members, but for what they send. */
static one_t one_new(struct ept *t, uint64_t *random)
{
    static const int counts[] = {1, 1, 1, 2, 3, 4, 100, 2500};
    one_t one = {.kind = (enum kind) ept_random_below(random, KINDS),
                 .root = (int) ept_random_below(random, (uint64_t) t->size),
                 .count = counts[ept_random_below(random, 8)],
                 .request = MPI_REQUEST_NULL,
                 .type = MPI_DATATYPE_NULL,
                 .op = MPI_OP_NULL};

    one.send = malloc(room(t, &one) * sizeof(pair_t));
    one.recv = malloc(room(t, &one) * sizeof(pair_t));
    return one;
}

static void one_fill(struct ept *t, one_t *one, uint64_t key)
{
    one->key = key;
    for (size_t i = 0; i < room(t, one); ++i) {
        one->send[i] = datum(one, t->rank, (int) i);
    }
    memset(one->recv, 0x5a, room(t, one) * sizeof(pair_t));
    if (BCAST == one->kind && t->rank == one->root) {
        memcpy(one->recv, one->send, (size_t) one->count * sizeof(pair_t));
    }
}

/* Element i of what rank has in the end; false: nothing of meaning. */
static bool expected(const struct ept *t, const one_t *one, int i, pair_t *pair)
{
    const int last = t->size - 1, block = i / one->count, rest = i % one->count;
    const bool is_many = ALLGATHER == one->kind || ALLTOALL == one->kind || GATHER == one->kind;

    if ((0 < block && !is_many)
        || ((GATHER == one->kind || REDUCE == one->kind) && t->rank != one->root)) {
        return false;
    }
    switch (one->kind) {
    case ALLREDUCE:
    case REDUCE:
        *pair = together(one, 0, last, i);
        return true;
    case REDUCE_SCATTER_BLOCK:
        *pair = together(one, 0, last, t->rank * one->count + i);
        return true;
    case SCAN:
        *pair = together(one, 0, t->rank, i);
        return true;
    case EXSCAN:
        *pair = 0 < t->rank ? together(one, 0, t->rank - 1, i) : *pair;
        return 0 < t->rank;
    case BCAST:
        *pair = datum(one, one->root, i);
        return true;
    case SCATTER:
        *pair = datum(one, one->root, t->rank * one->count + i);
        return true;
    case ALLGATHER:
    case GATHER:
        *pair = datum(one, block, rest);
        return true;
    case ALLTOALL:
        *pair = datum(one, block, t->rank * one->count + rest);
        return true;
    default:
        return false;
    }
}

static void one_check(struct ept *t, const one_t *one, const char *what)
{
    pair_t pair = {0, 0};

    for (int i = 0; i < (int) room(t, one); ++i) {
        if (expected(t, one, i, &pair) && (pair.m != one->recv[i].m || pair.c != one->recv[i].c)) {
            EPT_CHECK(t, false, "%s, kind %d, %d pairs, root %d, key %llu: element %d is wrong",
                      what, (int) one->kind, one->count, one->root, (unsigned long long) one->key,
                      i);
            return;
        }
    }
    EPT_CHECK(t, true, "right");
}

static void free_type(struct ept *t, one_t *one)
{
    if (MPI_DATATYPE_NULL != one->type) {
        EPT_OK(t, MPI_Type_free(&one->type));
        EPT_OK(t, MPI_Op_free(&one->op));
    }
}

static void one_free(struct ept *t, one_t *one)
{
    free_type(t, one);
    free(one->send);
    free(one->recv);
}

#define CALL(Name, name, ...)                                              \
    (BLOCKING == mode      ? MPI_##Name(__VA_ARGS__, comm)                 \
     : NONBLOCKING == mode ? MPI_I##name(__VA_ARGS__, comm, &one->request) \
                           : MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &one->request))

static int call(MPI_Comm comm, one_t *one, enum mode mode, MPI_Datatype type, MPI_Op op)
{
    const int count = one->count, root = one->root;

    switch (one->kind) {
    case ALLREDUCE:
        return CALL(Allreduce, allreduce, one->send, one->recv, count, type, op);
    case BCAST:
        return CALL(Bcast, bcast, one->recv, count, type, root);
    case REDUCE:
        return CALL(Reduce, reduce, one->send, one->recv, count, type, op, root);
    case SCAN:
        return CALL(Scan, scan, one->send, one->recv, count, type, op);
    case EXSCAN:
        return CALL(Exscan, exscan, one->send, one->recv, count, type, op);
    case REDUCE_SCATTER_BLOCK:
        return CALL(Reduce_scatter_block, reduce_scatter_block, one->send, one->recv, count, type,
                    op);
    case ALLGATHER:
        return CALL(Allgather, allgather, one->send, count, type, one->recv, count, type);
    case ALLTOALL:
        return CALL(Alltoall, alltoall, one->send, count, type, one->recv, count, type);
    case GATHER:
        return CALL(Gather, gather, one->send, count, type, one->recv, count, type, root);
    case SCATTER:
        return CALL(Scatter, scatter, one->send, count, type, one->recv, count, type, root);
    default:
        return BLOCKING == mode      ? MPI_Barrier(comm)
               : NONBLOCKING == mode ? MPI_Ibarrier(comm, &one->request)
                                     : MPI_Barrier_init(comm, MPI_INFO_NULL, &one->request);
    }
}

/* Type and operation are gone when this returns, but for what MPI keeps; stock Open MPI keeps
 * nothing for persistent ones. */
static void one_call(struct ept *t, MPI_Comm comm, one_t *one, enum mode mode)
{
    EPT_OK(t, MPI_Type_contiguous(2, MPI_UINT64_T, &one->type));
    EPT_OK(t, MPI_Type_commit(&one->type));
    EPT_OK(t, MPI_Op_create(compose_all, 0, &one->op));
    EPT_OK(t, call(comm, one, mode, one->type, one->op));
    if (PERSISTENT != mode || (t->endpoints && 1 == t->nprocs)) {
        free_type(t, one);
    }
}

/* Members come late now and then. */
static void dawdle(uint64_t *random)
{
    const uint64_t chance = ept_random_below(random, 40);

    if (0 == chance) {
        usleep((useconds_t) ept_random_below(random, 500));
    } else if (chance < 8) {
        for (volatile uint64_t i = ept_random_below(random, 3000); 0 < i; --i) {
        }
    }
}

#define UNDER_WAY 13 /* more than there is room for */

/* Nonblocking ones and blocking ones, ended in any order. */
static void case_mixed(MPI_Comm comm, struct ept *t)
{
    const int operations = (int) ept_option_long("operations", 150);
    uint64_t common = ept_mix(t->seed, 1, 0, 0), own = ept_mix(t->seed, 2, (uint64_t) t->rank, 0);
    one_t all[UNDER_WAY];
    int count = 0;

    for (int i = 0; i < operations; ++i) {
        one_t one = one_new(t, &common);
        const enum mode mode = 0 == ept_random_below(&common, 5) ? BLOCKING : NONBLOCKING;

        ept_phase(t, "operation %d, kind %d, %d pairs, %d under way", i, (int) one.kind, one.count,
                  count);
        one_fill(t, &one, ept_random(&common));
        dawdle(&own);
        one_call(t, comm, &one, mode);
        if (BLOCKING == mode) {
            one_check(t, &one, "blocking");
            one_free(t, &one);
        } else {
            all[count++] = one;
        }
        while (0 < count && (UNDER_WAY == count || 0 == ept_random_below(&own, 8))) {
            const int which = (int) ept_random_below(&own, (uint64_t) count);

            EPT_OK(t, MPI_Wait(&all[which].request, MPI_STATUS_IGNORE));
            one_check(t, &all[which], "nonblocking");
            one_free(t, &all[which]);
            all[which] = all[--count];
        }
    }
    while (0 < count--) {
        EPT_OK(t, MPI_Wait(&all[count].request, MPI_STATUS_IGNORE));
        one_check(t, &all[count], "the last ones");
        one_free(t, &all[count]);
    }
}

/* Persistent ones, started in orders of one's own, beside nonblocking ones. */
static void case_persistent(MPI_Comm comm, struct ept *t)
{
    const int rounds = (int) ept_option_long("operations", 150) / 10;
    uint64_t common = ept_mix(t->seed, 3, 0, 0), own = ept_mix(t->seed, 4, (uint64_t) t->rank, 0);
    one_t all[UNDER_WAY], beside;
    int order[UNDER_WAY];

    for (int i = 0; i < UNDER_WAY; ++i) {
        all[i] = one_new(t, &common);
        one_call(t, comm, &all[i], PERSISTENT);
        order[i] = i;
    }
    for (int round = 0; round < rounds; ++round) {
        ept_phase(t, "round %d of %d", round, rounds);
        for (int i = 0; i < UNDER_WAY; ++i) {
            one_fill(t, &all[i], ept_random(&common));
        }
        beside = one_new(t, &common);
        one_fill(t, &beside, ept_random(&common));
        ept_shuffle(order, UNDER_WAY, &own);
        for (int i = 0; i < UNDER_WAY; ++i) {
            dawdle(&own);
            if ((t->rank + round) % UNDER_WAY == i) {
                one_call(t, comm, &beside, NONBLOCKING);
            }
            EPT_OK(t, MPI_Start(&all[order[i]].request));
        }
        ept_shuffle(order, UNDER_WAY, &own);
        for (int i = 0; i < UNDER_WAY; ++i) {
            EPT_OK(t, MPI_Wait(&all[order[i]].request, MPI_STATUS_IGNORE));
            one_check(t, &all[order[i]], "persistent");
        }
        EPT_OK(t, MPI_Wait(&beside.request, MPI_STATUS_IGNORE));
        one_check(t, &beside, "beside");
        one_free(t, &beside);
    }
    for (int i = 0; i < UNDER_WAY; ++i) {
        EPT_OK(t, MPI_Request_free(&all[i].request));
        one_free(t, &all[i]);
    }
}

/* Operations of members that are not in MPI are completed by others: rank 0 begins, and
 * computes. */
static void alone(MPI_Comm comm, struct ept *t, int begun, int count)
{
    MPI_Request *requests = malloc((size_t) begun * sizeof(MPI_Request));
    uint64_t *send = malloc((size_t) count * sizeof(uint64_t));
    uint64_t *recv = calloc((size_t) (begun * count), sizeof(uint64_t));
    int done = 0;

    for (int i = 0; i < count; ++i) {
        send[i] = (uint64_t) (t->rank + i);
    }
    for (int i = 0; i < begun; ++i) {
        EPT_OK(t, MPI_Iallreduce(send, &recv[i * count], count, MPI_UINT64_T, MPI_SUM, comm,
                                 &requests[i]));
    }
    ept_local_barrier(t);
    if (0 != t->rank) { /* the others cannot be done without rank 0's part */
        EPT_OK(t, MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE));
    }
    ept_local_barrier(t);
    if (0 == t->rank) {
        for (int i = 0; i < begun && 0 == done; ++i) {
            EPT_OK(t, MPI_Testall(begun, requests, &done, MPI_STATUSES_IGNORE));
        }
        EPT_EQ(t, 1, done);
        EPT_OK(t, MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE));
    }
    for (int i = 0; i < begun * count; ++i) {
        const uint64_t want = (uint64_t) (t->size * (i % count) + t->size * (t->size - 1) / 2);

        if (want != recv[i]) {
            EPT_CHECK(t, false, "element %d is %llu, expected %llu", i,
                      (unsigned long long) recv[i], (unsigned long long) want);
            break;
        }
    }
    free(requests);
    free(send);
    free(recv);
}

static void case_alone(MPI_Comm comm, struct ept *t)
{
    alone(comm, t, 1, 1);
    alone(comm, t, 1, 100000);
    alone(comm, t, 4, 3);
}

/* Likewise more than there is room for: then a thread that waits helps. */
static void case_alone_many(MPI_Comm comm, struct ept *t)
{
    alone(comm, t, 30, 2);
    alone(comm, t, 30, 3000);
}

enum { MADE = 10, MADE_ROUNDS = 100 };

/* Persistent ones that are made and freed by some before the others of the process have made them:
 * what is kept for those goes when they have. */
static void make_and_free(MPI_Comm comm, struct ept *t, bool is_first)
{
    int value = t->rank;

    for (int i = 0; (0 == t->local) == is_first && i < MADE; ++i) {
        MPI_Request request;

        EPT_OK(t, MPI_Bcast_init(&value, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request));
        EPT_OK(t, MPI_Request_free(&request));
    }
    ept_local_barrier(t);
}

static void case_made(MPI_Comm comm, struct ept *t)
{
    long before = 0;

    for (int round = -1; round < MADE_ROUNDS; ++round) { /* the first one warms up */
        ept_phase(t, "round %d of %d", round, MADE_ROUNDS);
        make_and_free(comm, t, true);
        make_and_free(comm, t, false);
        before = -1 == round ? heap_bytes() : before;
        ept_local_barrier(t);
    }
    if (t->endpoints) { /* a block is half a KiB at least */
        const long after = heap_bytes();

        EPT_CHECK(t, after - before < MADE * MADE_ROUNDS * 256,
                  "%d persistent requests came and went: the heap grew by %ld bytes",
                  MADE * MADE_ROUNDS, after - before);
    }
    ept_local_barrier(t);
}

/* The root is through, and has freed request and communicator, before the others have come. */
static void case_early(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 20; ++round) {
        const int root = round % t->size;
        int value[2] = {t->rank == root ? round : -1, t->rank == root ? -round : -1};
        MPI_Request request;
        MPI_Comm dup;

        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        if (t->rank != root) {
            usleep(500);
        }
        EPT_OK(t, MPI_Bcast_init(&value[0], 1, MPI_INT, root, dup, MPI_INFO_NULL, &request));
        EPT_OK(t, MPI_Start(&request));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Request_free(&request));
        if (t->rank != root) {
            usleep(500);
        }
        EPT_OK(t, MPI_Ibcast(&value[1], 1, MPI_INT, root, dup, &request));
        EPT_OK(t, MPI_Comm_free(&dup)); /* which is held by what is under way */
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_EQ(t, round, value[0]);
        EPT_EQ(t, -round, value[1]);
    }
}

/* Each takes the next one for the root: nobody says anything. */
static void no_root(struct ept *t, MPI_Comm comm)
{
    int value = 0, rc;
    MPI_Request request;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    rc = MPI_Ibcast(&value, 1, MPI_INT, (t->rank + 1) % t->size, dup, &request);
    if (MPI_SUCCESS == rc) {
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    EPT_CLASS(t, MPI_ERR_OTHER, rc);
    EPT_OK(t, MPI_Comm_free(&dup));
}

/* Members call different things: all get an error, nobody waits for ever. */
static void case_different(MPI_Comm comm, struct ept *t)
{
    for (int form = 0; form < 4; ++form) {
        const bool is_long = 0 != form / 2, is_other = 0 != form % 2;
        const int count = (is_long ? 5000 : 2) + (!is_other && 0 == t->rank);
        int *send = calloc((size_t) (count + t->size), sizeof(int));
        int *recv = calloc((size_t) (count + t->size), sizeof(int));
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        MPI_Comm dup;
        int rc;

        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
        rc = is_other && 0 == t->rank
                 ? MPI_Iallgather(send, 1, MPI_INT, recv, 1, MPI_INT, dup, &requests[0])
                 : MPI_Iallreduce(send, recv, count, MPI_INT, MPI_SUM, dup, &requests[0]);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        }
        EPT_CLASS(t, is_other ? MPI_ERR_OTHER : MPI_ERR_TRUNCATE, rc);
        rc = MPI_Iallreduce(send, recv, 1, MPI_INT, MPI_SUM, dup, &requests[1]);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        }
        EPT_CHECK(t, MPI_SUCCESS != rc, "it works again");
        EPT_OK(t, MPI_Comm_free(&dup));
        free(send);
        free(recv);
    }
    no_root(t, comm);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("different", 0)) {
        EPT_CASE(t, case_different);
        return 0;
    }
    EPT_CASE(t, case_mixed);
    EPT_CASE(t, case_persistent);
    if (t->endpoints && 1 == t->nprocs && 1 < t->size) {
        EPT_CASE(t, case_alone);
        EPT_CASE(t, case_alone_many);
    }
    EPT_CASE(t, case_made);
    EPT_CASE(t, case_early);
    return 0;
}
