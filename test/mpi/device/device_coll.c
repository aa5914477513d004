/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in collectives on endpoints, of an accelerator that is not there (fake_accelerator),
 * whose memory the CPU cannot access.  One member has some, or all have, in each kind, form, and
 * buffer; in place; with gaps; long.  All results are right, and nothing else is written to.  Where
 * there is no host memory for a member's buffer, it gets MPI_ERR_NO_MEM, nobody waits for ever, and all
 * collectives of the communicator fail from then on.
 *
 * Guards: coll_epcoll_guard.c, coll_epcoll_staging.c, pml_epml_device.c, pml_epml_leave.c,
 * pml_epml_left.c
 */

#include "device.h"

enum { COUNT = 3, MEMBERS_MOST = 16 };

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

enum kind {
    ALLGATHER,
    ALLGATHERV,
    ALLREDUCE,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    BCAST,
    GATHER,
    GATHERV,
    REDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCATTER,
    SCATTERV,
    INTER_KINDS, /* those before are there on intercommunicators, too */
    SCAN = INTER_KINDS,
    EXSCAN,
    NEIGHBOR_ALLGATHER,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    KINDS
};

static const char *const names[] = {"allgather",
                                    "allgatherv",
                                    "allreduce",
                                    "alltoall",
                                    "alltoallv",
                                    "alltoallw",
                                    "bcast",
                                    "gather",
                                    "gatherv",
                                    "reduce",
                                    "reduce_scatter",
                                    "reduce_scatter_block",
                                    "scatter",
                                    "scatterv",
                                    "scan",
                                    "exscan",
                                    "neighbor_allgather",
                                    "neighbor_allgatherv",
                                    "neighbor_alltoall",
                                    "neighbor_alltoallv",
                                    "neighbor_alltoallw"};

/* A call of one member.  Blocks have COUNT ints each. */
struct call {
    enum kind kind;
    MPI_Comm comm;
    int root; /* as MPI wants it from this member */
    int *send, *recv;
    MPI_Op op;
    int counts[MEMBERS_MOST], disps[MEMBERS_MOST], bytes[MEMBERS_MOST];
    MPI_Aint aints[MEMBERS_MOST];
    MPI_Datatype types[MEMBERS_MOST];
};

/* All forms of one kind: its arguments up to the communicator. */
#define FORMS_OF(Name, name, ...)                                              \
    return BLOCKING == form      ? MPI_##Name(__VA_ARGS__, call->comm)         \
           : NONBLOCKING == form ? MPI_I##name(__VA_ARGS__, call->comm, request) \
                                 : MPI_##Name##_init(__VA_ARGS__, call->comm,  \
                                                     MPI_INFO_NULL, request)

static int begin(const struct call *call, enum form form, MPI_Request *request)
{
    const int *counts = call->counts, *disps = call->disps, *bytes = call->bytes;
    const MPI_Datatype *types = call->types;
    int *send = call->send, *recv = call->recv;
    const int root = call->root;

    switch (call->kind) {
    case ALLGATHER:
        FORMS_OF(Allgather, allgather, send, COUNT, MPI_INT, recv, COUNT, MPI_INT);
    case ALLGATHERV:
        FORMS_OF(Allgatherv, allgatherv, send, COUNT, MPI_INT, recv, counts, disps, MPI_INT);
    case ALLREDUCE:
        FORMS_OF(Allreduce, allreduce, send, recv, COUNT, MPI_INT, call->op);
    case ALLTOALL:
        FORMS_OF(Alltoall, alltoall, send, COUNT, MPI_INT, recv, COUNT, MPI_INT);
    case ALLTOALLV:
        FORMS_OF(Alltoallv, alltoallv, send, counts, disps, MPI_INT, recv, counts, disps, MPI_INT);
    case ALLTOALLW:
        FORMS_OF(Alltoallw, alltoallw, send, counts, bytes, types, recv, counts, bytes, types);
    case BCAST:
        FORMS_OF(Bcast, bcast, send, COUNT, MPI_INT, root);
    case GATHER:
        FORMS_OF(Gather, gather, send, COUNT, MPI_INT, recv, COUNT, MPI_INT, root);
    case GATHERV:
        FORMS_OF(Gatherv, gatherv, send, COUNT, MPI_INT, recv, counts, disps, MPI_INT, root);
    case REDUCE:
        FORMS_OF(Reduce, reduce, send, recv, COUNT, MPI_INT, call->op, root);
    case REDUCE_SCATTER:
        FORMS_OF(Reduce_scatter, reduce_scatter, send, recv, counts, MPI_INT, call->op);
    case REDUCE_SCATTER_BLOCK:
        FORMS_OF(Reduce_scatter_block, reduce_scatter_block, send, recv, COUNT, MPI_INT, call->op);
    case SCATTER:
        FORMS_OF(Scatter, scatter, send, COUNT, MPI_INT, recv, COUNT, MPI_INT, root);
    case SCATTERV:
        FORMS_OF(Scatterv, scatterv, send, counts, disps, MPI_INT, recv, COUNT, MPI_INT, root);
    case SCAN:
        FORMS_OF(Scan, scan, send, recv, COUNT, MPI_INT, call->op);
    case EXSCAN:
        FORMS_OF(Exscan, exscan, send, recv, COUNT, MPI_INT, call->op);
    case NEIGHBOR_ALLGATHER:
        FORMS_OF(Neighbor_allgather, neighbor_allgather, send, COUNT, MPI_INT, recv, COUNT,
                 MPI_INT);
    case NEIGHBOR_ALLGATHERV:
        FORMS_OF(Neighbor_allgatherv, neighbor_allgatherv, send, COUNT, MPI_INT, recv, counts,
                 disps, MPI_INT);
    case NEIGHBOR_ALLTOALL:
        FORMS_OF(Neighbor_alltoall, neighbor_alltoall, send, COUNT, MPI_INT, recv, COUNT, MPI_INT);
    case NEIGHBOR_ALLTOALLV:
        FORMS_OF(Neighbor_alltoallv, neighbor_alltoallv, send, counts, disps, MPI_INT, recv, counts,
                 disps, MPI_INT);
    case NEIGHBOR_ALLTOALLW:
        FORMS_OF(Neighbor_alltoallw, neighbor_alltoallw, send, counts, call->aints, types, recv,
                 counts, call->aints, types);
    default:
        return MPI_ERR_OTHER;
    }
}

/* What a call's buffers have before it. */
struct before {
    int send[MEMBERS_MOST * COUNT], recv[MEMBERS_MOST * COUNT];
};

static void put(struct ept *t, const struct call *call, const struct before *before)
{
    if (MPI_IN_PLACE != call->send) {
        device_copy(t, call->send, before->send, sizeof(before->send));
    }
    device_copy(t, call->recv, before->recv, sizeof(before->recv));
}

/* From its beginning to its end; persistent ones twice.  @return the class of its first error */
static int run(struct ept *t, const struct call *call, enum form form, const struct before *before)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc, class;

    put(t, call, before);
    rc = begin(call, form, &request);
    for (int i = 0; i < (PERSISTENT == form ? 2 : 1) && MPI_SUCCESS == rc; ++i) {
        if (PERSISTENT == form) {
            put(t, call, before);
            rc = MPI_Start(&request);
        }
        if (MPI_SUCCESS == rc) {
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    if (MPI_REQUEST_NULL != request) {
        (void) MPI_Request_free(&request);
    }
    (void) MPI_Error_class(rc, &class);
    return class;
}

/* ---- what a call uses ------------------------------------------------------------------------ */

/* A member: rank in its own group, members of the group whose blocks it has. */
struct place {
    int rank, others;
    bool is_inter, is_first; /* of an intercommunicator: in the group that has the root */
};

static bool is_neighbor(enum kind kind)
{
    return NEIGHBOR_ALLGATHER <= kind;
}

static bool is_root(const struct place *place)
{
    return 0 == place->rank && (!place->is_inter || place->is_first);
}

/* Of an intercommunicator: neither root nor leaf. */
static bool is_aside(const struct place *place)
{
    return place->is_inter && place->is_first && 0 != place->rank;
}

/* Has the root a block of its own? */
static bool has_block(const struct place *place)
{
    return !place->is_inter || !place->is_first;
}

static bool uses_recv(enum kind kind, const struct place *place)
{
    switch (kind) {
    case BCAST:
        return false; /* it has one buffer */
    case GATHER:
    case GATHERV:
    case REDUCE:
        return is_root(place);
    case SCATTER:
    case SCATTERV:
        return has_block(place);
    case EXSCAN:
        return 0 != place->rank;
    default:
        return true;
    }
}

/* What a member gives: element k of its block i. */
static int give(int rank, int i, int k)
{
    return 1 + 7 * rank + 64 * i + 1024 * k;
}

/* Of ranks first to last - 1. */
static int sum(int first, int last, int i, int k)
{
    int all = 0;

    for (int rank = first; rank < last; ++rank) {
        all += give(rank, i, k);
    }
    return all;
}

/* On a line: the one before, the one behind. */
static int expected_near(enum kind kind, const struct place *place, int i, int k)
{
    const int from = place->rank + (0 == i ? -1 : 1);
    const bool is_all = NEIGHBOR_ALLGATHER == kind || NEIGHBOR_ALLGATHERV == kind;

    return 1 < i || 0 > from || place->others <= from ? -1 : give(from, is_all ? 0 : 1 - i, k);
}

/* Element k of what comes in block i.  @return -1: nothing */
static int expected(enum kind kind, const struct place *place, int i, int k)
{
    const int rank = place->rank, others = place->others;

    switch (kind) {
    case ALLREDUCE:
    case REDUCE:
        return 0 == i ? sum(0, others, 0, k) : -1;
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        return 0 == i ? sum(0, others, rank, k) : -1;
    case SCATTER:
    case SCATTERV:
        return 0 == i ? give(0, rank, k) : -1;
    case SCAN:
        return 0 == i ? sum(0, rank + 1, 0, k) : -1;
    case EXSCAN:
        return 0 == i ? sum(0, rank, 0, k) : -1;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return i < others ? give(i, rank, k) : -1;
    default:
        return is_neighbor(kind) ? expected_near(kind, place, i, k)
               : i < others      ? give(i, 0, k)
                                 : -1;
    }
}

/* ---- one call of all members ----------------------------------------------------------------- */

static void prepare(struct call *call, enum kind kind, MPI_Comm comm, const struct place *place,
                    struct before *before)
{
    *call = (struct call){.kind = kind, .comm = comm, .op = MPI_SUM};
    if (place->is_inter && place->is_first) {
        call->root = 0 == place->rank ? MPI_ROOT : MPI_PROC_NULL;
    }
    for (int i = 0; i < MEMBERS_MOST; ++i) {
        call->counts[i] = COUNT;
        call->disps[i] = i * COUNT;
        call->bytes[i] = i * COUNT * (int) sizeof(int);
        call->aints[i] = call->bytes[i];
        call->types[i] = MPI_INT;
        for (int k = 0; k < COUNT; ++k) {
            before->send[i * COUNT + k] = BCAST != kind || is_root(place) ? give(place->rank, i, k)
                                                                          : 0;
            before->recv[i * COUNT + k] = -1;
        }
    }
}

static void check(struct ept *t, const struct call *call, const struct place *place)
{
    int send[MEMBERS_MOST * COUNT], recv[MEMBERS_MOST * COUNT];

    device_copy(t, send, call->send, sizeof(send));
    device_copy(t, recv, call->recv, sizeof(recv));
    for (int i = 0; i < MEMBERS_MOST; ++i) {
        for (int k = 0; k < COUNT; ++k) {
            EPT_EQ(t, uses_recv(call->kind, place) ? expected(call->kind, place, i, k) : -1,
                   recv[i * COUNT + k]);
        }
    }
    for (int k = 0; BCAST == call->kind && !is_aside(place) && k < COUNT; ++k) {
        EPT_EQ(t, give(0, 0, k), send[k]);
    }
}

enum { SENT = 1, RECEIVED = 2 };

/* This thread's, for what is sent and what is received. */
static int *memory_of(struct ept *t, int which)
{
    static _Thread_local int *memory[2];

    if (NULL == memory[which]) {
        memory[which] = device_memory(t, MEMBERS_MOST * COUNT * sizeof(int));
    }
    return memory[which];
}

/* @param where  which buffers of this member are in device memory: SENT, RECEIVED */
static void once(struct ept *t, MPI_Comm comm, const struct place *place, enum kind kind,
                 enum form form, int where)
{
    int send[MEMBERS_MOST * COUNT], recv[MEMBERS_MOST * COUNT];
    struct before before;
    struct call call;

    prepare(&call, kind, comm, place, &before);
    call.send = where & SENT ? memory_of(t, 0) : send;
    call.recv = where & RECEIVED ? memory_of(t, 1) : recv;
    EPT_EQ(t, MPI_SUCCESS, run(t, &call, form, &before));
    check(t, &call, place);
}

/* Each kind and form: all buffers of all members, and each buffer of the first member and of the last
 * one. */
static void each(struct ept *t, MPI_Comm comm, const struct place *place)
{
    const int kinds = place->is_inter ? INTER_KINDS : KINDS;
    const int members = place->is_inter ? 2 * place->others : place->others;
    const int me = place->is_inter && !place->is_first ? place->others + place->rank : place->rank;

    for (int kind = 0; kind < kinds; ++kind) {
        for (int form = 0; form < FORMS; ++form) {
            for (int i = 0; i < 5; ++i) {
                const int victim = 2 > i ? 0 : members - 1, buffer = 0 == i % 2 ? SENT : RECEIVED;

                ept_phase(t, "%s, form %d, try %d", names[kind], form, i);
                once(t, comm, place, (enum kind) kind, (enum form) form,
                     4 == i         ? SENT | RECEIVED
                     : victim == me ? buffer
                                    : 0);
            }
        }
    }
}

/* ---- in place -------------------------------------------------------------------------------- */

/* What a member gives is where its result comes. */
static void prepare_in_place(struct call *call, enum kind kind, MPI_Comm comm,
                             const struct place *place, struct before *before)
{
    prepare(call, kind, comm, place, before);
    memcpy(before->recv, before->send, sizeof(before->recv));
    for (int k = 0; ALLGATHER == kind && k < COUNT; ++k) {
        before->recv[place->rank * COUNT + k] = give(place->rank, 0, k);
    }
    call->send = MPI_IN_PLACE;
}

static void case_in_place(MPI_Comm comm, struct ept *t)
{
    static const enum kind kinds[] = {ALLGATHER,      ALLREDUCE, ALLTOALL, ALLTOALLW,
                                      REDUCE_SCATTER, SCAN,      EXSCAN};
    const struct place place = {.rank = t->rank, .others = t->size};

    for (int i = 0; i < FORMS * (int) (sizeof(kinds) / sizeof(kinds[0])); ++i) {
        const enum kind kind = kinds[i / FORMS];
        const bool is_blocks = ALLGATHER == kind || ALLTOALL == kind || ALLTOALLW == kind;
        int got[MEMBERS_MOST * COUNT];
        struct before before;
        struct call call;

        ept_phase(t, "%s in place, form %d", names[kind], i % FORMS);
        prepare_in_place(&call, kind, comm, &place, &before);
        call.recv = memory_of(t, 1);
        EPT_EQ(t, MPI_SUCCESS, run(t, &call, (enum form)(i % FORMS), &before));
        device_copy(t, got, call.recv, sizeof(got));
        for (int k = 0; k < (is_blocks ? t->size : 1) * COUNT; ++k) {
            EPT_EQ(t,
                   EXSCAN == kind && 0 == t->rank ? before.recv[k]
                                                  : expected(kind, &place, k / COUNT, k % COUNT),
                   got[k]);
        }
    }
}

/* ---- layouts, and sizes ---------------------------------------------------------------------- */

/* Every second int: what lies between stays. */
static void case_gaps(MPI_Comm comm, struct ept *t)
{
    int *memory = memory_of(t, 1), all = 4 * t->size;
    int *got = malloc((size_t) all * sizeof(int)), given[2] = {give(t->rank, 0, 0), -t->rank};
    MPI_Request request;
    MPI_Datatype type;

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type));
    EPT_OK(t, MPI_Type_commit(&type));
    memset(got, -1, (size_t) all * sizeof(int));
    device_copy(t, memory, got, (size_t) all * sizeof(int));
    EPT_OK(t, MPI_Iallgather(given, 2, MPI_INT, memory, 2, type, comm, &request));
    EPT_OK(t, MPI_Type_free(&type));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    device_copy(t, got, memory, (size_t) all * sizeof(int));
    for (int i = 0; i < all; ++i) {
        EPT_EQ(t, 1 == i % 2 ? -1 : 0 == i % 4 ? give(i / 4, 0, 0) : -(i / 4), got[i]);
    }
    free(got);
}

static void case_long(MPI_Comm comm, struct ept *t)
{
    enum { LONG = 200000 };
    int *from = device_memory(t, LONG * sizeof(int)), *to = device_memory(t, LONG * sizeof(int));
    int *host = malloc(LONG * sizeof(int));

    for (int form = BLOCKING; form <= NONBLOCKING; ++form) {
        MPI_Request request = MPI_REQUEST_NULL;
        int wrong = 0;

        for (int i = 0; i < LONG; ++i) {
            host[i] = give(t->rank, 0, i);
        }
        device_copy(t, from, host, LONG * sizeof(int));
        if (BLOCKING == form) {
            EPT_OK(t, MPI_Allreduce(from, to, LONG, MPI_INT, MPI_SUM, comm));
            EPT_OK(t, MPI_Bcast(from, LONG, MPI_INT, t->size - 1, comm));
        } else {
            EPT_OK(t, MPI_Iallreduce(from, to, LONG, MPI_INT, MPI_SUM, comm, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Ibcast(from, LONG, MPI_INT, t->size - 1, comm, &request));
            EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        device_copy(t, host, to, LONG * sizeof(int));
        for (int i = 0; i < LONG; ++i) {
            wrong += sum(0, t->size, 0, i) != host[i];
        }
        device_copy(t, host, from, LONG * sizeof(int));
        for (int i = 0; i < LONG; ++i) {
            wrong += give(t->size - 1, 0, i) != host[i];
        }
        EPT_EQ(t, 0, wrong);
    }
    free(host);
}

/* ---- no memory ------------------------------------------------------------------------------- */

/* @param is_victim  this member's buffer has a layout for which there cannot be memory */
static void no_memory(struct ept *t, MPI_Comm parent, enum form form, bool is_victim)
{
    const MPI_Aint places[2] = {0, (MPI_Aint) 1 << 50};
    int got[2 * MEMBERS_MOST], given[2] = {1, 2}, rc, class;
    int *from = is_victim ? memory_of(t, 0) : given;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Datatype far;
    MPI_Comm comm;

    EPT_OK(t, MPI_Type_create_hindexed_block(2, 1, places, MPI_INT, &far));
    EPT_OK(t, MPI_Type_commit(&far));
    EPT_OK(t, MPI_Comm_dup(parent, &comm));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Barrier(parent)); /* a member that has not got it yet might not get it any more */
    if (BLOCKING == form) {
        rc = MPI_Allgather(from, is_victim ? 1 : 2, is_victim ? far : MPI_INT, got, 2, MPI_INT,
                           comm);
    } else if (NONBLOCKING == form) {
        rc = MPI_Iallgather(from, is_victim ? 1 : 2, is_victim ? far : MPI_INT, got, 2, MPI_INT,
                            comm, &request);
    } else {
        rc = MPI_Allgather_init(from, is_victim ? 1 : 2, is_victim ? far : MPI_INT, got, 2, MPI_INT,
                                comm, MPI_INFO_NULL, &request);
        rc = MPI_SUCCESS == rc ? MPI_Start(&request) : rc;
    }
    rc = MPI_SUCCESS == rc ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
    (void) MPI_Error_class(rc, &class);
    if (is_victim) {
        EPT_EQ(t, MPI_ERR_NO_MEM, class);
    } else {
        EPT_CHECK(t, MPI_ERR_NO_MEM == class || MPI_ERR_PROC_FAILED == class, "form %d: class %d",
                  form, class);
    }
    if (MPI_REQUEST_NULL != request) {
        (void) MPI_Request_free(&request);
    }
    (void) MPI_Error_class(MPI_Barrier(comm), &class);
    EPT_CHECK(t, MPI_ERR_NO_MEM == class || MPI_ERR_PROC_FAILED == class,
              "a barrier, form %d: class %d", form, class);
    EPT_OK(t, MPI_Comm_free(&comm));
    EPT_OK(t, MPI_Type_free(&far));
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void case_no_memory(MPI_Comm comm, struct ept *t)
{
    for (int form = 0; form < FORMS; ++form) {
        no_memory(t, comm, (enum form) form, t->size - 1 == t->rank);
    }
}

/* On a line, whose ends have one neighbour. */
static void case_line(MPI_Comm comm, struct ept *t)
{
    const int open = 0;
    struct place place = {.rank = t->rank, .others = t->size};
    MPI_Comm line;

    EPT_OK(t, MPI_Cart_create(comm, 1, &t->size, &open, 0, &line));
    each(t, line, &place);
    EPT_OK(t, MPI_Comm_free(&line));
}

/* Ranks of a process do not follow each other: reductions that do not commute, and scans, are Open
 * MPI's own. */
static void case_mixed(MPI_Comm comm, struct ept *t)
{
    const int open = 0;
    struct place place = {.others = t->size};
    MPI_Comm mixed, line;

    EPT_OK(t, MPI_Comm_split(comm, 0, t->local * t->nprocs + t->proc, &mixed));
    EPT_OK(t, MPI_Comm_rank(mixed, &place.rank));
    EPT_OK(t, MPI_Cart_create(mixed, 1, &t->size, &open, 0, &line));
    each(t, line, &place);
    EPT_OK(t, MPI_Comm_free(&line));
    EPT_OK(t, MPI_Comm_free(&mixed));
}

/* All collectives of intercommunicators are Open MPI's own. */
static void case_inter(MPI_Comm comm, struct ept *t)
{
    const bool is_first = 0 == t->rank % 2;
    struct place place = {.others = t->size / 2, .is_inter = true, .is_first = is_first};
    MPI_Comm half, inter;

    EPT_OK(t, MPI_Comm_split(comm, is_first, t->rank, &half));
    EPT_OK(t, MPI_Comm_rank(half, &place.rank));
    EPT_OK(t, MPI_Intercomm_create(half, 0, comm, is_first ? 1 : 0, 5, &inter));
    each(t, inter, &place);
    no_memory(t, inter, BLOCKING, 0 == t->rank);
    EPT_OK(t, MPI_Comm_free(&inter));
    EPT_OK(t, MPI_Comm_free(&half));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    EPT_CASE(t, case_line);
    if (1 < t->nprocs && 1 < t->nlocal) {
        EPT_CASE(t, case_mixed);
    }
    EPT_CASE(t, case_inter);
    EPT_CASE(t, case_in_place);
    EPT_CASE(t, case_gaps);
    EPT_CASE(t, case_long);
    EPT_CASE(t, case_no_memory);
    ept_use_comm(t, comm, t->rank, t->size);
    return 0;
}
