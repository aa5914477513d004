/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Device memory in collectives on endpoints, of an accelerator that is not there (fake_accelerator).
 * One member has some, in each kind, form, and buffer.  Where the call uses it, the member gets
 * MPI_ERR_BUFFER, nobody waits for ever, and all collectives of the communicator fail from then on;
 * where it does not, all results are right.
 *
 * Guards: coll_epcoll_guard.c, pml_epml_device.c, pml_epml_leave.c, pml_epml_left.c
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

/* From its beginning to its end.  @return the class of its first error */
static int run(const struct call *call, enum form form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc = begin(call, form, &request), class;

    if (MPI_SUCCESS == rc && PERSISTENT == form) {
        rc = MPI_Start(&request);
    }
    if (MPI_SUCCESS == rc) {
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
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

static bool has_root(enum kind kind)
{
    return BCAST == kind || GATHER == kind || GATHERV == kind || REDUCE == kind || SCATTER == kind
           || SCATTERV == kind;
}

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

static bool uses_send(enum kind kind, const struct place *place)
{
    if (has_root(kind) && is_aside(place)) {
        return false;
    }
    if (SCATTER == kind || SCATTERV == kind) {
        return is_root(place);
    }
    return BCAST == kind || !has_root(kind) || has_block(place);
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

/* All members give 1: what comes in block i.  @return -1: nothing */
static int expected(enum kind kind, const struct place *place, int i)
{
    switch (kind) {
    case ALLREDUCE:
    case REDUCE:
    case REDUCE_SCATTER:
    case REDUCE_SCATTER_BLOCK:
        return 0 == i ? place->others : -1;
    case SCATTER:
    case SCATTERV:
        return 0 == i ? 1 : -1;
    case SCAN:
        return 0 == i ? place->rank + 1 : -1;
    case EXSCAN:
        return 0 == i ? place->rank : -1;
    default: /* neighbours on a line: the one before, the one behind */
        if (is_neighbor(kind)) {
            return (0 == i && 0 < place->rank) || (1 == i && place->rank + 1 < place->others) ? 1
                                                                                              : -1;
        }
        return i < place->others ? 1 : -1;
    }
}

/* ---- one call of all members ----------------------------------------------------------------- */

static void prepare(struct call *call, enum kind kind, MPI_Comm comm, const struct place *place,
                    int *send, int *recv)
{
    *call = (struct call){.kind = kind, .comm = comm, .send = send, .recv = recv, .op = MPI_SUM};
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
            send[i * COUNT + k] = BCAST != kind || is_root(place) ? 1 : 0;
            recv[i * COUNT + k] = -1;
        }
    }
}

static void check(struct ept *t, const struct call *call, const struct place *place)
{
    for (int i = 0; uses_recv(call->kind, place) && i < MEMBERS_MOST; ++i) {
        for (int k = 0; k < COUNT; ++k) {
            EPT_EQ(t, expected(call->kind, place, i), call->recv[i * COUNT + k]);
        }
    }
    for (int k = 0; BCAST == call->kind && !is_aside(place) && k < COUNT; ++k) {
        EPT_EQ(t, 1, call->send[k]);
    }
}

/* Members of a communicator of their own, of which one has device memory.
 * @param has_device  we are that one
 * @param is_refused  the same at all */
static void once(struct ept *t, MPI_Comm comm, const struct place *place, enum kind kind,
                 enum form form, bool is_sent, bool has_device, bool is_refused)
{
    int send[MEMBERS_MOST * COUNT], recv[MEMBERS_MOST * COUNT], class;
    struct call call;

    prepare(&call, kind, comm, place, send, recv);
    if (has_device) {
        int **buffer = is_sent ? &call.send : &call.recv;
        static _Thread_local int *memory;

        memory = NULL == memory ? device_memory(t, sizeof(send)) : memory;
        *buffer = memory;
    }
    class = run(&call, form);
    if (!is_refused) {
        EPT_EQ(t, MPI_SUCCESS, class);
        call.send = send;
        call.recv = recv;
        if (!has_device) {
            check(t, &call, place);
        }
        return;
    }
    if (has_device) {
        EPT_EQ(t, MPI_ERR_BUFFER, class);
    } else {
        EPT_CHECK(t,
                  MPI_SUCCESS == class || MPI_ERR_BUFFER == class || MPI_ERR_PROC_FAILED == class,
                  "%s, form %d: class %d", names[kind], form, class);
    }
}

/* Blocks that go by a message each, where no process has two members, break nothing else. */
static bool breaks_all(const struct ept *t, enum kind kind, const struct place *place)
{
    return place->is_inter || 1 < t->nlocal
           || (!is_neighbor(kind) && ALLTOALLV != kind && ALLTOALLW != kind);
}

/* @param victim  which member of comm has device memory, counted through both groups */
static void try(struct ept *t, MPI_Comm comm, const struct place *place, enum kind kind,
                enum form form, bool is_sent, int victim, bool is_used)
{
    const bool is_victim = victim == (place->is_inter && !place->is_first
                                          ? place->others + place->rank
                                          : place->rank);
    MPI_Comm dup;
    int class;

    ept_phase(t, "%s, form %d, %s, member %d", names[kind], form, is_sent ? "sent" : "received",
              victim);
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    EPT_OK(t, MPI_Barrier(comm)); /* a member that has not got it yet might not get it any more */
    once(t, dup, place, kind, form, is_sent, is_victim, is_used);
    if (is_used && breaks_all(t, kind, place)) {
        (void) MPI_Error_class(MPI_Barrier(dup), &class);
        EPT_CHECK(t, MPI_ERR_BUFFER == class || MPI_ERR_PROC_FAILED == class,
                  "a barrier after %s, form %d: class %d", names[kind], form, class);
    }
    EPT_OK(t, MPI_Comm_free(&dup));
}

/* Each kind, form and buffer, of the first member and of the last one; --few 1: of each kind and form
 * one of these four, by turns. */
static void each(struct ept *t, MPI_Comm comm, const struct place *place)
{
    const bool is_few = 0 != ept_option_long("few", 0);
    const int kinds = place->is_inter ? INTER_KINDS : KINDS;
    const int members = place->is_inter ? 2 * place->others : place->others;
    const int victims[] = {0, members - 1};

    for (int kind = 0; kind < kinds; ++kind) {
        for (int form = 0; form < FORMS; ++form) {
            once(t, comm, place, (enum kind) kind, (enum form) form, true, false, false);
            for (int i = is_few ? (kind + form) % 4 : 0; i < 4; i += is_few ? 4 : 1) {
                const int victim = victims[i / 2];
                const bool is_sent = 0 == i % 2;
                const struct place its = {.rank = place->is_inter ? victim % place->others : victim,
                                          .others = place->others,
                                          .is_inter = place->is_inter,
                                          .is_first = victim < place->others};
                const bool is_used = is_sent ? uses_send((enum kind) kind, &its)
                                             : uses_recv((enum kind) kind, &its);

                try(t, comm, place, (enum kind) kind, (enum form) form, is_sent, victim, is_used);
            }
        }
    }
}

/* In place the receive buffer is what the call uses, in an exclusive scan at the first member, too. */
static void case_in_place(MPI_Comm comm, struct ept *t)
{
    int *memory = device_memory(t, COUNT * sizeof(int)), host[COUNT] = {0};

    for (int i = 0; i < 2; ++i) {
        int class;
        MPI_Comm dup;

        EPT_OK(t, MPI_Comm_dup(comm, &dup));
        EPT_OK(t, MPI_Barrier(comm));
        (void) MPI_Error_class((0 == i ? MPI_Allreduce : MPI_Exscan)(MPI_IN_PLACE,
                                                                     0 == t->rank ? memory : host,
                                                                     COUNT, MPI_INT, MPI_SUM, dup),
                               &class);
        if (0 == t->rank) {
            EPT_EQ(t, MPI_ERR_BUFFER, class);
        } else {
            EPT_CHECK(t, MPI_SUCCESS != class, "a result without the first member");
        }
        EPT_OK(t, MPI_Comm_free(&dup));
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
    ept_use_comm(t, comm, t->rank, t->size);
    return 0;
}
