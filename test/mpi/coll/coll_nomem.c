/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * One rank runs out of memory in collectives that make something when it is first needed: the block
 * of nonblocking ones, that of each persistent one, requests, copies of arrays, room for elements,
 * the block of the node, its bounce buffers.  Each allocation of ours in turn fails once
 * (test/lib/fail_alloc.c), at the first, the second and the last rank, each time on a new
 * communicator.  Either all goes well, another way, or calls end with MPI_ERR_NO_MEM at all members
 * that wait for that rank, and from then on at all; none hangs, what has succeeded is right, and
 * the communicator can be freed.  Others notice nothing.  (offered: what waits for a receive that
 * is never posted, as the member that was to post it has failed, is taken back; survivor: also when
 * that one has freed the communicator.)
 *
 *   --own 1             allocations of coll/epcoll alone: between processes a member without memory
 *                       for a message cannot tell the others
 *   --double-buffers 1  only the allocation of double buffers, at each rank in turn, between
 *                       processes
 *
 * EPT-LIBS: -ldl
 *
 * Guards: coll_epcoll_pending.c, coll_epcoll_persistent.c, coll_epcoll_op_segment.c,
 * coll_epcoll_direct.c, coll_epcoll_hier.c, coll_epcoll_buffer.c, coll_epcoll_node_segment.c,
 * coll_epcoll_cutover.h, coll_epcoll_bounce.c, coll_epcoll_hier_small.c, pml_epml_request.c,
 * pml_epml_former_peers.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <dlfcn.h>
#include <unistd.h>

/** More allocations than any case makes; calls of a case, and ranks, at most. */
enum { MOST = 60, CALLS = 24, RANKS = 66, LONG = 20011, DEEP = 11 };

static void (*fail_alloc)(long n);
static int (*fail_alloc_done)(void);
static long (*fail_alloc_count)(void);
static void (*fail_alloc_of)(const char *name);

void test_process_begin(void)
{
    *(void **) &fail_alloc = dlsym(RTLD_DEFAULT, "ept_fail_alloc");
    *(void **) &fail_alloc_done = dlsym(RTLD_DEFAULT, "ept_fail_alloc_done");
    *(void **) &fail_alloc_count = dlsym(RTLD_DEFAULT, "ept_fail_alloc_count");
    *(void **) &fail_alloc_of = dlsym(RTLD_DEFAULT, "ept_fail_alloc_of");
    if (NULL != fail_alloc_of && 0 != ept_option_long("own", 0)) {
        fail_alloc_of("mca_coll_epcoll");
    }
}

/** A rank's part of a round. */
typedef struct round_t {
    struct ept *t;
    MPI_Comm comm;
    int rank, size;
    int calls; /**< until now */
    int first; /**< that has failed, or -1 */
    int class; /**< of its error */
    int beside[2]; /**< the first and the last of calls that are under way beside each other */
} round_t;

typedef void (*calls_fn_t)(round_t *r);

/** So many calls have been begun that will end one after the other. */
static void begun(round_t *r, int calls)
{
    r->beside[0] = r->calls;
    r->beside[1] = r->calls + calls - 1;
}

/** May a call succeed?  After an error, one that was over before another process has told of
 * that. */
static bool may_succeed(const round_t *r)
{
    return 0 > r->first
           || (1 < r->t->nprocs && r->beside[0] <= r->first && r->calls <= r->beside[1]);
}

/** A call has ended.  @return whether it has succeeded */
static bool ended(round_t *r, int rc)
{
    int class = MPI_SUCCESS;

    if (MPI_SUCCESS != rc) {
        MPI_Error_class(rc, &class);
    }
    EPT_CHECK(r->t, MPI_SUCCESS == class || MPI_ERR_NO_MEM == class, "call %d ends with class %d",
              r->calls, class);
    EPT_CHECK(r->t, MPI_SUCCESS != class || may_succeed(r),
              "call %d succeeds, after call %d did not", r->calls, r->first);
    if (MPI_SUCCESS != class && 0 > r->first) {
        r->first = r->calls;
        r->class = class;
    }
    ++r->calls;
    return MPI_SUCCESS == class;
}

/** A request has been begun, or not; wait for it. */
static bool waited(round_t *r, int rc, MPI_Request *request)
{
    return ended(r, MPI_SUCCESS == rc ? MPI_Wait(request, MPI_STATUS_IGNORE) : rc);
}

static int sum(const round_t *r, int i)
{
    return r->size * (r->size - 1) / 2 + r->size * i;
}

static void check_sum(const round_t *r, const int *got, int count, int last)
{
    int wrong = 0;

    for (int i = 0; i < count; ++i) {
        const int expected = last == r->size - 1 ? sum(r, i)
                                                 : (last + 1) * last / 2 + (last + 1) * i;

        wrong += expected != got[i];
    }
    EPT_EQ(r->t, 0, wrong);
}

static void put(const round_t *r, int *in, int count)
{
    for (int i = 0; i < count; ++i) {
        in[i] = r->rank + i;
    }
}

/* ---- what is called -------------------------------------------------------------------------- */

/** Arrays of MPI_Alltoallw: an int for each. */
typedef struct each_t {
    int counts[RANKS], places[RANKS], in[RANKS], out[RANKS];
    MPI_Datatype types[RANKS];
} each_t;

static void put_each(const round_t *r, each_t *each)
{
    for (int i = 0; i < r->size; ++i) {
        each->counts[i] = 1;
        each->places[i] = i * (int) sizeof(int);
        each->types[i] = MPI_INT;
        each->in[i] = 100 * r->rank + i;
        each->out[i] = -1;
    }
}

static void check_each(const round_t *r, const each_t *each)
{
    for (int i = 0; i < r->size; ++i) {
        EPT_EQ(r->t, 100 * i + r->rank, each->out[i]);
    }
}

/** More than there is room for at a time, small ones and long ones. */
static void nonblocking(round_t *r)
{
    enum { SMALL = 6 };
    int *in = malloc(LONG * sizeof(int)), *out = calloc(LONG, sizeof(int)), small[SMALL];
    MPI_Request requests[SMALL + 3];
    int rc[SMALL + 3];
    each_t each;

    put(r, in, LONG);
    put_each(r, &each);
    for (int i = 0; i < SMALL; ++i) {
        rc[i] = MPI_Iallreduce(&in[i], &small[i], 1, MPI_INT, MPI_SUM, r->comm, &requests[i]);
    }
    rc[SMALL] = MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, r->comm, &requests[SMALL]);
    rc[SMALL + 1] = MPI_Ialltoallw(each.in, each.counts, each.places, each.types, each.out,
                                   each.counts, each.places, each.types, r->comm,
                                   &requests[SMALL + 1]);
    rc[SMALL + 2] = MPI_Ibarrier(r->comm, &requests[SMALL + 2]);
    begun(r, SMALL + 3);
    for (int i = 0; i < SMALL; ++i) {
        if (waited(r, rc[i], &requests[i])) {
            EPT_EQ(r->t, sum(r, i), small[i]);
        }
    }
    if (waited(r, rc[SMALL], &requests[SMALL])) {
        check_sum(r, out, LONG, r->size - 1);
    }
    if (waited(r, rc[SMALL + 1], &requests[SMALL + 1])) {
        check_each(r, &each);
    }
    (void) waited(r, rc[SMALL + 2], &requests[SMALL + 2]);
    free(in);
    free(out);
}

static int start(MPI_Request *request)
{
    return MPI_REQUEST_NULL == *request ? MPI_ERR_NO_MEM : MPI_Start(request);
}

/** Twice each, what is small and what has arrays; a member that has got none has an error
 * already. */
static void persistent(round_t *r)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int in[4], out[4], last = 0, rc[3];
    each_t each;

    put(r, in, 4);
    put_each(r, &each);
    (void) ended(r, MPI_Allreduce_init(in, out, 4, MPI_INT, MPI_SUM, r->comm, MPI_INFO_NULL,
                                       &requests[0]));
    (void) MPI_Alltoallw_init(each.in, each.counts, each.places, each.types, each.out, each.counts,
                              each.places, each.types, r->comm, MPI_INFO_NULL, &requests[1]);
    (void) MPI_Bcast_init(&last, 1, MPI_INT, r->size - 1, r->comm, MPI_INFO_NULL, &requests[2]);
    for (int round = 0; round < 2; ++round) {
        memset(out, 0, sizeof(out));
        put_each(r, &each);
        last = r->size - 1 == r->rank ? 17 + round : 0;
        for (int i = 0; i < 3; ++i) {
            rc[i] = start(&requests[i]);
        }
        begun(r, 2);
        if (waited(r, rc[0], &requests[0])) {
            check_sum(r, out, 4, r->size - 1);
        }
        if (waited(r, rc[1], &requests[1])) {
            check_each(r, &each);
        }
        rc[2] = MPI_SUCCESS == rc[2] ? MPI_Wait(&requests[2], MPI_STATUS_IGNORE) : rc[2];
        EPT_EQ(r->t, MPI_SUCCESS == rc[2] ? 17 + round : last, last); /* a root may not know */
    }
    for (int i = 0; i < 3; ++i) {
        if (MPI_REQUEST_NULL != requests[i]) {
            EPT_OK(r->t, MPI_Request_free(&requests[i]));
        }
    }
}

/** What spans processes: small and long, in any form. */
static void spanning(round_t *r)
{
    int *in = malloc(LONG * sizeof(int)), *out = calloc(LONG, sizeof(int)), few[4], rc;
    MPI_Request request = MPI_REQUEST_NULL, again = MPI_REQUEST_NULL;

    put(r, in, LONG);
    (void) ended(r,
                 MPI_Allreduce_init(in, few, 4, MPI_INT, MPI_SUM, r->comm, MPI_INFO_NULL, &again));
    rc = MPI_Iallreduce(in, few, 4, MPI_INT, MPI_SUM, r->comm, &request);
    if (waited(r, rc, &request)) {
        check_sum(r, few, 4, r->size - 1);
    }
    rc = MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, r->comm, &request);
    if (waited(r, rc, &request)) {
        check_sum(r, out, LONG, r->size - 1);
    }
    rc = MPI_Ibarrier(r->comm, &request);
    (void) waited(r, rc, &request);
    for (int round = 0; round < 2; ++round) {
        memset(few, 0, sizeof(few));
        rc = start(&again);
        if (waited(r, rc, &again)) {
            check_sum(r, few, 4, r->size - 1);
        }
    }
    if (MPI_REQUEST_NULL != again) {
        EPT_OK(r->t, MPI_Request_free(&again));
    }
    free(in);
    free(out);
}

/** A type of loops in loops, none of which can be seen as one. */
static MPI_Datatype deep_type(const round_t *r)
{
    MPI_Datatype type = MPI_INT, next;

    for (int level = 0; level < DEEP; ++level) {
        MPI_Aint low, extent;

        EPT_OK(r->t, MPI_Type_get_extent(type, &low, &extent));
        EPT_OK(r->t, MPI_Type_create_hvector(2, 1, extent + 4 * (level + 1), type, &next));
        if (MPI_INT != type) {
            EPT_OK(r->t, MPI_Type_free(&type));
        }
        type = next;
    }
    EPT_OK(r->t, MPI_Type_commit(&type));
    return type;
}

/** A vector as one element. */
static void add(void *in, void *into, int *count, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *count * LONG; ++i) {
        ((int *) into)[i] += ((int *) in)[i];
    }
}

static void exscan(round_t *r, const int *in, int *out)
{
    MPI_Datatype type;
    MPI_Op op;

    EPT_OK(r->t, MPI_Type_contiguous(LONG, MPI_INT, &type));
    EPT_OK(r->t, MPI_Type_commit(&type));
    EPT_OK(r->t, MPI_Op_create(add, 1, &op));
    if (ended(r, MPI_Exscan(in, out, 1, type, op, r->comm)) && 0 < r->rank) {
        check_sum(r, out, LONG, r->rank - 1);
    }
    EPT_OK(r->t, MPI_Op_free(&op));
    EPT_OK(r->t, MPI_Type_free(&type));
}

/** Room for elements, for members' addresses, and for places in a type. */
static void blocking(round_t *r)
{
    int *in = malloc(LONG * sizeof(int)), *out = calloc(LONG, sizeof(int));
    const int root = r->size / 2;
    MPI_Datatype type = deep_type(r);
    MPI_Aint low, extent;
    char *deep;

    put(r, in, LONG);
    if (ended(r, MPI_Allreduce(in, out, LONG, MPI_INT, MPI_SUM, r->comm))) {
        check_sum(r, out, LONG, r->size - 1);
    }
    exscan(r, in, out);
    if (ended(r, MPI_Reduce(in, out, LONG, MPI_INT, MPI_SUM, root, r->comm)) && root == r->rank) {
        check_sum(r, out, LONG, r->size - 1);
    }
    EPT_OK(r->t, MPI_Type_get_true_extent(type, &low, &extent));
    deep = calloc(1, (size_t) extent);
    if (root == r->rank) {
        memset(deep, 0x5b, (size_t) extent);
    }
    if (ended(r, MPI_Bcast(deep, 1, type, root, r->comm))) {
        EPT_EQ(r->t, 0x5b, deep[0]);
        EPT_EQ(r->t, 0x5b, deep[extent - 1]);
    }
    free(deep);
    EPT_OK(r->t, MPI_Type_free(&type));
    free(in);
    free(out);
}

/** Enough of them for a block of the node. */
static void many(round_t *r)
{
    for (int i = 0; i < 10; ++i) {
        int in = r->rank + i, out = -1;

        (void) ended(r, MPI_Barrier(r->comm));
        if (ended(r, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, r->comm))) {
            EPT_EQ(r->t, sum(r, i), out);
        }
    }
}

/** Likewise barriers alone until it is there. */
static void near(round_t *r)
{
    for (int i = 0; i < 10; ++i) {
        (void) ended(r, MPI_Barrier(r->comm));
    }
    for (int i = 0; i < 10; ++i) {
        int in = r->rank + i, out = -1;

        if (ended(r, MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, r->comm))) {
            EPT_EQ(r->t, sum(r, i), out);
        }
    }
}

/** Enough long ones for memory of the node, and some that go through it. */
static void bounce(round_t *r)
{
    int *data = malloc(LONG * sizeof(int));

    for (int i = 0; i < 12; ++i) {
        const int root = i % r->size;
        int wrong = 0;

        for (int j = 0; j < LONG; ++j) {
            data[j] = root == r->rank ? 7 * i + j : -1;
        }
        if (!ended(r, MPI_Bcast(data, LONG, MPI_INT, root, r->comm))) {
            continue;
        }
        for (int j = 0; j < LONG; ++j) {
            wrong += 7 * i + j != data[j];
        }
        EPT_EQ(r->t, 0, wrong);
    }
    free(data);
}

/** Likewise nonblocking ones alone, then those that have rings. */
static void ahead(round_t *r)
{
    for (int i = 0; i < 10; ++i) {
        MPI_Request request = MPI_REQUEST_NULL;
        const int rc = MPI_Ibarrier(r->comm, &request);

        (void) waited(r, rc, &request);
    }
    for (int i = 0; i < 20; ++i) {
        int in = r->rank + i, out = -1;

        if (ended(r, MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, r->comm))) {
            EPT_EQ(r->t, (r->rank + 1) * r->rank / 2 + (r->rank + 1) * i, out);
        }
    }
    (void) ended(r, MPI_Barrier(r->comm));
}

/** Neighbours on a ring: what goes to the left comes from the right. */
static void check_ring(const round_t *r, const int *got)
{
    const int left = (r->rank + r->size - 1) % r->size, right = (r->rank + 1) % r->size;

    EPT_EQ(r->t, 10 * left + 1, got[0]);
    EPT_EQ(r->t, 10 * right, got[1]);
}

static void neighbors(round_t *r)
{
    const int in[2] = {10 * r->rank, 10 * r->rank + 1}, counts[2] = {1, 1};
    const MPI_Aint places[2] = {0, sizeof(int)};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request request = MPI_REQUEST_NULL, again = MPI_REQUEST_NULL;
    int out[2] = {-1, -1}, rc;

    if (ended(r, MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, r->comm))) {
        check_ring(r, out);
    }
    out[0] = out[1] = -1;
    rc = MPI_Ineighbor_alltoallw(in, counts, places, types, out, counts, places, types, r->comm,
                                 &request);
    if (waited(r, rc, &request)) {
        check_ring(r, out);
    }
    (void) MPI_Neighbor_alltoall_init(in, 1, MPI_INT, out, 1, MPI_INT, r->comm, MPI_INFO_NULL,
                                      &again); /* a member that has got none has an error already */
    for (int round = 0; round < 2; ++round) {
        out[0] = out[1] = -1;
        rc = start(&again);
        if (waited(r, rc, &again)) {
            check_ring(r, out);
        }
    }
    if (MPI_REQUEST_NULL != again) {
        EPT_OK(r->t, MPI_Request_free(&again));
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/** Either all members go on, or all have an error, now or in the next call of all. */
static void judge(round_t *r, MPI_Comm comm)
{
    int failed = 0 <= r->first, all = 0, class = MPI_SUCCESS, one = 1, ones = 0, rc;

    EPT_OK(r->t, MPI_Allreduce(&failed, &all, 1, MPI_INT, MPI_SUM, comm));
    rc = MPI_Allreduce(&one, &ones, 1, MPI_INT, MPI_SUM, r->comm);
    if (MPI_SUCCESS != rc) {
        MPI_Error_class(rc, &class);
    }
    EPT_EQ(r->t, 0 == all ? MPI_SUCCESS : MPI_ERR_NO_MEM, class);
    EPT_EQ(r->t, 0 == all ? r->size : 0, ones);
}

/** @return whether the allocation that was to fail was made at all, at victim */
static bool round_of(MPI_Comm comm, struct ept *t, calls_fn_t calls, int victim, long n)
{
    round_t r = {.t = t, .rank = t->rank, .size = t->size, .first = -1, .beside = {-1, -1}};
    int mine = 0, any = 0;

    ept_phase(t, "allocation %ld of rank %d", n, victim);
    EPT_OK(t, MPI_Comm_dup(comm, &r.comm));
    EPT_OK(t, MPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Barrier(comm));
    if (t->rank == victim) {
        fail_alloc(n);
    }
    calls(&r);
    if (t->rank == victim) {
        mine = fail_alloc_done();
    }
    judge(&r, comm);
    ept_meet(comm, t); /* what members have told others of it comes before it goes */
    EPT_OK(t, MPI_Comm_free(&r.comm));
    EPT_OK(t, MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_SUM, comm));
    return 0 != any;
}

static void all_rounds(MPI_Comm comm, struct ept *t, calls_fn_t calls, bool some)
{
    const int victims[] = {0, 1, t->size - 1};
    long failed = 0;

    /* The member that does a share that needs memory is not the same each time, and may be no victim. */
    for (int tries = 0; tries < 10 && (0 == tries || (some && 0 == failed)); ++tries) {
        for (int i = 0; i < (t->size < 3 ? t->size : 3); ++i) {
            long n = 1;

            while (n < MOST && round_of(comm, t, calls, victims[i], n)) {
                ++n;
            }
            failed += n - 1;
            EPT_CHECK(t, n < MOST, "%ld allocations failed", n - 1);
        }
    }
    EPT_CHECK(t, 0 < failed || !some, "nothing was made");
}

/* ---- double buffers -------------------------------------------------------------------------- */

/** An allreduce that is too long for a line makes its process's double buffers: the first caller
 * allocates them, and has allocated before what a first call needs otherwise.  So the victim is the
 * first of its process, and the others come when it has failed. */
static void without_double_buffers(MPI_Comm comm, struct ept *t, int victim, int process)
{
    enum { COUNT = 500 };
    round_t r = {.t = t, .rank = t->rank, .size = t->size, .first = -1, .class = MPI_SUCCESS};
    int in[COUNT], out[COUNT];
    long before;

    EPT_OK(t, MPI_Comm_dup(comm, &r.comm));
    EPT_OK(t, MPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN));
    put(&r, in, COUNT);
    EPT_OK(t, MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, r.comm));
    EPT_EQ(t, sum(&r, 0), out[0]);
    before = fail_alloc_count();
    EPT_OK(t, MPI_Barrier(comm));
    if (t->rank == victim) {
        fail_alloc(1);
    }
    while (t->rank != victim && t->proc == process && before == fail_alloc_count()) {
        (void) usleep(1000);
    }
    for (int i = 0; i < 3; ++i) {
        memset(out, 0, sizeof(out));
        if (ended(&r, MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, r.comm))) {
            check_sum(&r, out, COUNT, r.size - 1);
        }
        if (t->rank == victim && 0 == i) {
            EPT_CHECK(t, fail_alloc_done(), "nothing was allocated");
        }
    }
    EPT_EQ(t, 0, r.first); /* all want what the victim has said */
    EPT_EQ(t, MPI_ERR_NO_MEM, r.class);
    judge(&r, comm);
    ept_meet(comm, t);
    EPT_OK(t, MPI_Comm_free(&r.comm));
}

static void case_double_buffers(MPI_Comm comm, struct ept *t)
{
    for (int victim = 0; victim < t->size; ++victim) {
        int process = t->rank == victim ? t->proc : 0;

        ept_phase(t, "no double buffers at rank %d", victim);
        EPT_OK(t, MPI_Bcast(&process, 1, MPI_INT, victim, comm));
        without_double_buffers(comm, t, victim, process);
    }
}

/* ---- what nobody receives -------------------------------------------------------------------- */

/** Bytes of a message that waits for its receive. */
enum { OFFERED = 1 << 20 };

/** A bcast that process 0 has begun when the first member of process 1 fails in it: what the root
 * has offered to that one is never received.  @return how it should end here */
static int offer(round_t *r, MPI_Comm comm, char *data, bool blocks)
{
    struct ept *t = r->t;
    const bool is_victim = 1 == t->proc && 0 == t->local;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype type = MPI_BYTE;
    int count = OFFERED, rc = MPI_SUCCESS;

    if (is_victim && blocks) { /* in pieces: it needs room */
        EPT_OK(t, MPI_Type_vector(OFFERED / 4, 4, 8, MPI_BYTE, &type));
        EPT_OK(t, MPI_Type_commit(&type));
        count = 1;
    }
    if (0 == t->proc && !blocks) {
        rc = MPI_Ibcast(data, count, type, 0, r->comm, &request);
    }
    EPT_OK(t, MPI_Barrier(comm));
    if (0 != t->proc) {
        (void) usleep(blocks ? 100000 : 0); /* the root waits by then */
    }
    if (is_victim) {
        fail_alloc(1);
    }
    if (blocks) {
        rc = MPI_Bcast(data, count, type, 0, r->comm);
    } else if (0 != t->proc) {
        rc = MPI_Ibcast(data, count, type, 0, r->comm, &request);
    }
    if (is_victim) {
        EPT_CHECK(t, fail_alloc_done(), "nothing was allocated");
    }
    (void) (blocks ? ended(r, rc) : waited(r, rc, &request));
    if (MPI_BYTE != type) {
        EPT_OK(t, MPI_Type_free(&type));
    }
    return 0 == t->rank || is_victim ? MPI_ERR_NO_MEM : r->class;
}

/** The root hears of it, takes back what it has offered, and ends. */
static void case_offered(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; 1 < t->nprocs && i < 20; ++i) {
        round_t r = {.t = t, .rank = t->rank, .size = t->size, .first = -1, .class = MPI_SUCCESS};
        char *data = malloc(2 * OFFERED);
        int class;

        ept_phase(t, "%s, time %d", 0 == i % 2 ? "nonblocking" : "blocking", i);
        memset(data, 0x5b, 2 * OFFERED);
        EPT_OK(t, MPI_Comm_dup(comm, &r.comm));
        EPT_OK(t, MPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN));
        EPT_OK(t, MPI_Barrier(
                      r.comm)); /* the first call needs memory to be counted, and can do without */
        class = offer(&r, comm, data, 0 != i % 2);
        EPT_EQ(t, class, r.class);
        judge(&r, comm);
        free(data);
        ept_meet(comm, t);
        EPT_OK(t, MPI_Comm_free(&r.comm));
    }
}

/** The member that has failed frees the communicator, the only one that it has with the root's endpoint, before
 * or after the root's offer comes; its endpoint lives on. */
static void survive(MPI_Comm comm, struct ept *t, int order)
{
    round_t r = {.t = t, .rank = t->rank, .size = t->size, .first = -1, .class = MPI_SUCCESS};
    MPI_Request request = MPI_REQUEST_NULL;
    char *data = calloc(1, OFFERED);
    MPI_Comm rest;
    int rc;

    EPT_OK(t, MPIX_Comm_create_endpoints(comm, 1, MPI_INFO_NULL, &r.comm));
    EPT_OK(t, MPI_Comm_set_errhandler(r.comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Comm_split(r.comm, t->proc, 0, &rest));
    EPT_OK(t, MPI_Barrier(r.comm));
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->proc) {
        (void) usleep(0 == order % 2 ? 0 : 500);
        rc = MPI_Ibcast(data, OFFERED, MPI_BYTE, 0, r.comm, &request);
    } else {
        const bool is_victim = 1 == t->proc && 0 == t->local;

        (void) usleep(0 == order % 2 ? 50000 : 0);
        if (is_victim) {
            fail_alloc(1);
        }
        rc = MPI_Ibcast(data, OFFERED, MPI_BYTE, 0, r.comm, &request);
        if (is_victim) {
            EPT_CHECK(t, fail_alloc_done(), "nothing was allocated");
        }
    }
    (void) waited(&r, rc, &request);
    if (0 == t->rank || 0 != t->proc) {
        EPT_EQ(t, MPI_ERR_NO_MEM, r.class);
    }
    EPT_OK(t, MPI_Comm_free(&r.comm));
    EPT_OK(t, MPI_Barrier(comm));
    EPT_OK(t, MPI_Comm_free(&rest));
    free(data);
}

static void case_survivor(MPI_Comm comm, struct ept *t)
{
    for (int i = 0; 1 < t->nprocs && i < 20; ++i) {
        ept_phase(t, "time %d", i);
        survive(comm, t, i);
    }
}

static void case_nonblocking(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, nonblocking, true);
}

static void case_persistent(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, persistent, true);
}

static void case_neighbors(MPI_Comm comm, struct ept *t)
{
    const int periodic = 1;
    MPI_Comm ring;

    EPT_OK(t, MPI_Cart_create(comm, 1, &t->size, &periodic, 0, &ring));
    all_rounds(ring, t, neighbors, true);
    EPT_OK(t, MPI_Comm_free(&ring));
}

static void case_spanning(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, spanning, true);
}

static void case_blocking(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, blocking, true);
}

static void case_near(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, near, false);
}

static void case_bounce(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, bounce, false);
}

static void case_ahead(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, ahead, false);
}

static void case_many(MPI_Comm comm, struct ept *t)
{
    all_rounds(comm, t, many, 1 < t->nprocs);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    if (!t->endpoints || NULL == fail_alloc) {
        ept_skip(t, "all", "needs endpoints, and fail_alloc in front of libc");
        return 0;
    }
    ept_meet(comm, t);
    if (0 != ept_option_long("double-buffers", 0)) {
        EPT_CASE(t, case_double_buffers);
        return 0;
    }
    EPT_CASE(t, case_near);
    EPT_CASE(t, case_bounce);
    EPT_CASE(t, case_ahead);
    EPT_CASE(t, case_spanning);
    EPT_CASE(t, case_offered);
    EPT_CASE(t, case_survivor);
    EPT_CASE(t, case_many);
    EPT_CASE(t, case_blocking);
    EPT_CASE(t, case_nonblocking);
    EPT_CASE(t, case_persistent);
    EPT_CASE(t, case_neighbors);
    return 0;
}
