/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Reductions whose result shows in which order it was put together: sums and products of
 * floating-point numbers and of complex ones, maxima with numbers that do not compare, a user's op
 * that does not commute.  The same call on the same communicator must give the same bits each time,
 * and at all members, while the communicator goes over from messages to memory of the node; and in
 * all three forms, where these are ours (Open MPI's own components associate each form
 * differently).
 *
 *   --rounds N  of each call (default 24)
 *
 * Guards: coll_epcoll_order.c, coll_epcoll_node_segment.c, coll_epcoll_small_ring.c,
 * coll_epcoll_small.c, coll_epcoll_bounce_run.c, coll_epcoll_bounce_chain.c,
 * coll_epcoll_node_leaders.c
 */

#include "coll.h"

#include <math.h>

enum { FEW = 4, MANY = 1200 }; /* doubles of a vector: of one in a line, and of one over 4 KiB */

enum kind { ALLREDUCE, REDUCE, SCATTER_BLOCK, SCATTER, SCAN, EXSCAN, KINDS };

static const char *const kind_names[] = {"allreduce",      "reduce", "reduce_scatter_block",
                                         "reduce_scatter", "scan",   "exscan"};

/* An op, and the type that it is for. */
struct what {
    const char *name;
    MPI_Op op;
    MPI_Datatype type;
    int doubles; /* of an element */
};

enum { WHATS = 6, SIZES = 2, CALLS = WHATS * SIZES, MATRICES = WHATS - 1 };

/* A call that is made again and again, and what came of it the first time. */
struct call {
    const struct what *what;
    int elements; /* of the vector */
    int block;    /* of a member, where it is scattered; else all */
    int root;
    double *send, *recv, *first;
    int *counts;
    bool is_below;       /* Open MPI's own components may do it */
    MPI_Request request; /* of the persistent form */
};

/* ---- elements ----------------------------------------------------------------------------- */

/* Numbers of very different sizes, so that each order has other digits. */
static double number(int rank, int i)
{
    const double part = 1.0 + (double) ((unsigned) coll_value(rank, 2, i) % 1000003u) / 1000003.0;

    return ldexp(0 == (rank + i) % 3 ? -part : part, (rank * 7 + i * 3) % 9 - 4);
}

/* Numbers whose maximum depends on the order of the operands. */
static double odd_number(int rank, int i)
{
    const double odd[] = {(double) NAN, -0.0, 0.0, -1.0};

    return odd[(unsigned) (rank * 5 + i) % 4];
}

/* Products of matrices of 2 x 2: associative but for their last digits, and not commutative. */
static void multiply(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const double *a = in;
    double *b = inout;

    (void) type;
    for (int i = 0; i < *count; ++i, a += 4, b += 4) {
        const double c[] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                            a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};

        memcpy(b, c, sizeof(c));
    }
}

static void whats_begin(struct ept *t, struct what what[WHATS])
{
    what[0] = (struct what){"sum", MPI_SUM, MPI_DOUBLE, 1};
    what[1] = (struct what){"product", MPI_PROD, MPI_DOUBLE, 1};
    what[2] = (struct what){"maximum", MPI_MAX, MPI_DOUBLE, 1};
    what[3] = (struct what){"minimum", MPI_MIN, MPI_DOUBLE, 1};
    what[4] = (struct what){"complex product", MPI_PROD, MPI_C_DOUBLE_COMPLEX, 2};
    what[MATRICES] = (struct what){.name = "matrices", .doubles = 4};
    EPT_OK(t, MPI_Op_create(multiply, 0, &what[MATRICES].op));
    EPT_OK(t, MPI_Type_contiguous(4, MPI_DOUBLE, &what[MATRICES].type));
    EPT_OK(t, MPI_Type_commit(&what[MATRICES].type));
}

static void whats_end(struct ept *t, struct what what[WHATS])
{
    EPT_OK(t, MPI_Type_free(&what[MATRICES].type));
    EPT_OK(t, MPI_Op_free(&what[MATRICES].op));
}

/* ---- calls -------------------------------------------------------------------------------- */

static void *room(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (NULL == memory) {
        abort();
    }
    return memory;
}

static void call_begin(struct call *call, enum kind kind, const struct what *what, int doubles,
                       int rank, int size)
{
    const bool is_scattered = SCATTER == kind || SCATTER_BLOCK == kind;
    const bool is_odd = MPI_MAX == what->op || MPI_MIN == what->op;
    size_t all;

    *call = (struct call){.what = what, .request = MPI_REQUEST_NULL, .root = size - 1};
    call->elements = call->block = doubles / what->doubles;
    if (is_scattered) {
        call->block = call->elements < size ? 1 : call->elements / size;
        call->elements = call->block * size;
    }
    all = (size_t) call->elements * (size_t) what->doubles;
    call->send = room(all, sizeof(double));
    call->recv = room(all, sizeof(double));
    call->first = room(all, sizeof(double));
    call->counts = room((size_t) size, sizeof(int));
    for (size_t i = 0; i < all; ++i) {
        call->send[i] = is_odd ? odd_number(rank, (int) i) : number(rank, (int) i);
    }
    for (int i = 0; i < size; ++i) {
        call->counts[i] = call->block;
    }
}

static void call_end(struct call *call)
{
    free(call->send);
    free(call->recv);
    free(call->first);
    free(call->counts);
}

static size_t recv_bytes(const struct call *call)
{
    return (size_t) (call->block * call->what->doubles) * sizeof(double);
}

/* In a form; the persistent one is made once. */
#define RUN(t, form, call, Name, name, ...)                                                \
    do {                                                                                   \
        if (COLL_PERSISTENT != (form)) {                                                   \
            COLL(t, form, Name, name, __VA_ARGS__);                                        \
            break;                                                                         \
        }                                                                                  \
        if (MPI_REQUEST_NULL == (call)->request) {                                         \
            EPT_OK(t, MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &(call)->request));    \
        }                                                                                  \
        EPT_OK(t, MPI_Start(&(call)->request));                                            \
        coll_wait(t, &(call)->request);                                                    \
    } while (0)

static void run(struct ept *t, MPI_Comm comm, enum kind kind, int form, struct call *call)
{
    const MPI_Datatype type = call->what->type;
    const MPI_Op op = call->what->op;
    const int n = call->elements;

    memset(call->recv, 0x3a, (size_t) (n * call->what->doubles) * sizeof(double));
    switch (kind) {
    case ALLREDUCE:
        RUN(t, form, call, Allreduce, allreduce, call->send, call->recv, n, type, op, comm);
        break;
    case REDUCE:
        RUN(t, form, call, Reduce, reduce, call->send, call->recv, n, type, op, call->root, comm);
        break;
    case SCATTER_BLOCK:
        RUN(t, form, call, Reduce_scatter_block, reduce_scatter_block, call->send, call->recv,
            call->block, type, op, comm);
        break;
    case SCATTER:
        RUN(t, form, call, Reduce_scatter, reduce_scatter, call->send, call->recv, call->counts,
            type, op, comm);
        break;
    case SCAN:
        RUN(t, form, call, Scan, scan, call->send, call->recv, n, type, op, comm);
        break;
    default:
        RUN(t, form, call, Exscan, exscan, call->send, call->recv, n, type, op, comm);
        break;
    }
}

/* Each call in turn, so that each is made before the communicator goes over to something else, and
 * behind. */
static void rounds(struct ept *t, MPI_Comm comm, enum kind kind, int form, struct call call[CALLS])
{
    const int count = (int) ept_option_long("rounds", 24);

    for (int round = 0; round < count; ++round) {
        ept_phase(t, "%s %s, round %d", coll_mode_names[form], kind_names[kind], round);
        for (int i = 0; i < CALLS; ++i) {
            run(t, comm, kind, form, &call[i]);
            if (0 == round && (COLL_BLOCKING == form || call[i].is_below)) {
                memcpy(call[i].first, call[i].recv, recv_bytes(&call[i]));
            }
            EPT_CHECK(t, 0 == memcmp(call[i].first, call[i].recv, recv_bytes(&call[i])),
                      "%s %s, %s of %d, round %d: %a, and %a the first time", coll_mode_names[form],
                      kind_names[kind], call[i].what->name, call[i].elements, round,
                      call[i].recv[0], call[i].first[0]);
        }
    }
    for (int i = 0; i < CALLS && COLL_PERSISTENT == form; ++i) {
        EPT_OK(t, MPI_Request_free(&call[i].request));
    }
}

/* What all have the same of, all have the same. */
static void compare_members(struct ept *t, MPI_Comm comm, struct call call[CALLS])
{
    for (int i = 0; i < CALLS; ++i) {
        memcpy(call[i].recv, call[i].first, recv_bytes(&call[i]));
        EPT_OK(t, MPI_Bcast(call[i].recv, (int) recv_bytes(&call[i]), MPI_BYTE, 0, comm));
        EPT_CHECK(t, 0 == memcmp(call[i].first, call[i].recv, recv_bytes(&call[i])),
                  "%s of %d: other bits than rank 0 has", call[i].what->name, call[i].elements);
    }
}

static void all_forms(struct ept *t, MPI_Comm parent, bool is_dealt, enum kind kind,
                      const struct what what[WHATS])
{
    struct call call[CALLS];
    int rank, size;

    MPI_Comm_rank(parent, &rank);
    MPI_Comm_size(parent, &size);
    for (int i = 0; i < CALLS; ++i) {
        call_begin(&call[i], kind, &what[i % WHATS], i < WHATS ? FEW : MANY, rank, size);
        call[i].is_below = is_dealt && (SCAN <= kind || MATRICES == i % WHATS);
    }
    for (int form = COLL_BLOCKING; form < COLL_NUM_MODES; ++form) {
        MPI_Comm comm;

        EPT_OK(t, MPI_Comm_dup(parent, &comm));
        rounds(t, comm, kind, form, call);
        EPT_OK(t, MPI_Comm_free(&comm));
    }
    if (ALLREDUCE == kind) {
        compare_members(t, parent, call);
    }
    for (int i = 0; i < CALLS; ++i) {
        call_end(&call[i]);
    }
}

static void all_kinds(struct ept *t, MPI_Comm comm, bool is_dealt)
{
    struct what what[WHATS];

    whats_begin(t, what);
    for (int kind = ALLREDUCE; kind < KINDS; ++kind) {
        all_forms(t, comm, is_dealt, (enum kind) kind, what);
    }
    whats_end(t, what);
}

static void case_in_order(MPI_Comm comm, struct ept *t)
{
    all_kinds(t, comm, false);
}

/* Ranks of a process do not follow each other. */
static void case_dealt(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dealt;

    EPT_OK(t, MPI_Comm_split(comm, 0, t->local * t->nprocs + t->proc, &dealt));
    all_kinds(t, dealt, 1 < t->nprocs);
    EPT_OK(t, MPI_Comm_free(&dealt));
}

/* The first process has one member only. */
static void case_uneven(MPI_Comm comm, struct ept *t)
{
    const bool is_out = 0 == t->proc && 0 < t->local;
    MPI_Comm uneven;

    EPT_OK(t, MPI_Comm_split(comm, is_out ? MPI_UNDEFINED : 0, t->rank, &uneven));
    if (!is_out) {
        all_kinds(t, uneven, false);
        EPT_OK(t, MPI_Comm_free(&uneven));
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_in_order);
    EPT_CASE(t, case_dealt);
    EPT_CASE(t, case_uneven);
    return 0;
}
