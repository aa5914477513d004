/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives on communicators whose members are spread over processes in every way: ranks of a
 * process that do not follow each other, processes of different numbers of members, roots anywhere.
 *
 * Results are compared with what each member computes by itself; floating-point sums, between
 * members and from call to call, bit by bit.
 *
 *   --form N  0: blocking calls (default), 1: nonblocking, 2: persistent ones
 *
 * Guards: coll_epcoll_layout.c, coll_epcoll_hier.c, coll_epcoll_hier_small.c,
 * coll_epcoll_immediate.c, coll_epcoll_plan_copy.c, coll_epcoll_exchange.c, coll_epcoll_slicing.c,
 * coll_epcoll_schedule.c, coll_epcoll_step.c, coll_epcoll_phase.c, coll_epcoll_builders.c,
 * coll_epcoll_build_reduce.c, coll_epcoll_build_move.c, coll_epcoll_build_direct.c,
 * coll_epcoll_build_gatherv.c, coll_epcoll_build_scan.c, coll_epcoll_build_scatter.c,
 * coll_epcoll_bounce.c, coll_epcoll_bounce_run.c, coll_epcoll_bounce_chain.c
 *
 * EPT-PARTS: coll_layout_move.c coll_layout_fold.c
 */

#include "coll_layout.h"

/** Elements: one, few (a slot), more (one message), and so many that several slices have a part. */
static const int counts[] = {1, 3, 12, 13, 1000, 5003, 70001, 200003};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]), MOST = 200003 };

/* ---- communicators --------------------------------------------------------------------------- */

/** Color and key of a rank, or MPI_UNDEFINED: which communicator is it that is tested? */
typedef int (*layout_fn_t)(const struct ept *t, int *key);

static int as_made(const struct ept *t, int *key)
{
    *key = t->rank;
    return 0;
}

static int reversed(const struct ept *t, int *key)
{
    *key = -t->rank;
    return 0;
}

/** One of each process in turn. */
static int in_turn(const struct ept *t, int *key)
{
    *key = t->local * t->nprocs + t->proc;
    return 0;
}

/** The first process has them all, others ever fewer. */
static int fewer(const struct ept *t, int *key)
{
    *key = t->rank;
    return t->local <= t->nlocal - 1 - t->proc % t->nlocal ? 0 : MPI_UNDEFINED;
}

/** Likewise, those of the first process at either end. */
static int around(const struct ept *t, int *key)
{
    *key = 0 == t->proc && 0 == t->local ? t->size : t->rank;
    return 0 == t->proc || 0 == t->local ? 0 : MPI_UNDEFINED;
}

/** Every third process, and so on: on three nodes with processes by turns those of each node follow
 * each other. */
static int thirds(const struct ept *t, int *key)
{
    *key = t->proc % 3 * t->size + t->rank;
    return 0;
}

/** Two: even and odd ones. */
static int halves(const struct ept *t, int *key)
{
    *key = (t->rank * 7) % 5;
    return t->rank % 2;
}

/* ---- what is called -------------------------------------------------------------------------- */

/** A call, in the form that is tested. */
#define CALL(g, name, iname, ...)                                                    \
    do {                                                                             \
        MPI_Request request = MPI_REQUEST_NULL;                                      \
                                                                                     \
        if (0 == (g)->form) {                                                        \
            EPT_OK((g)->t, MPI_##name(__VA_ARGS__));                                 \
        } else if (1 == (g)->form) {                                                 \
            EPT_OK((g)->t, MPI_##iname(__VA_ARGS__, &request));                      \
            EPT_OK((g)->t, MPI_Wait(&request, MPI_STATUS_IGNORE));                   \
        } else {                                                                     \
            EPT_OK((g)->t, MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request)); \
            EPT_OK((g)->t, MPI_Start(&request));                                     \
            EPT_OK((g)->t, MPI_Wait(&request, MPI_STATUS_IGNORE));                   \
            EPT_OK((g)->t, MPI_Request_free(&request));                              \
        }                                                                            \
    } while (0)

static void bcast(const group_t *g, int count)
{
    for (int root = 0; root < g->size; ++root) {
        const int stride = stride_of(g);

        ept_phase(g->t, "bcast of %d from %d", count, root);
        memset(g->out, 0x3a, 2 * (size_t) count * sizeof(int));
        if (root == g->rank) {
            set(g->out, stride, count, root);
        }
        CALL(g, Bcast, Ibcast, g->out, count, type_of(g), root, g->comm);
        check(g, g->out, stride, count, root, "bcast");
        EPT_EQ(g->t, 0x3a3a3a3a, 2 == stride ? g->out[1] : 0x3a3a3a3a);
    }
}

static void allgather(const group_t *g, int count)
{
    const int stride = stride_of(g);
    const bool in_place = 0 != count % 2;

    ept_phase(g->t, "allgather of %d", count);
    memset(g->out, 0x3a, 2 * (size_t) (count * g->size) * sizeof(int));
    set(in_place ? g->out + g->rank * count * stride : g->in, in_place ? stride : 1, count,
        g->rank);
    CALL(g, Allgather, Iallgather, in_place ? MPI_IN_PLACE : g->in, count, MPI_INT, g->out, count,
         type_of(g), g->comm);
    for (int from = 0; from < g->size; ++from) {
        check(g, g->out + from * count * stride, stride, count, from, "allgather");
    }
}

static int sum_of(const group_t *g, int count, int i)
{
    unsigned int sum = 0;

    for (int from = 0; from < g->size; ++from) {
        sum += (unsigned int) coll_value(from, count, i);
    }
    return (int) sum;
}

static void check_sum(const group_t *g, int count, const char *what)
{
    for (int i = 0; i < count; ++i) {
        if (sum_of(g, count, i) != g->out[i]) {
            ept_fail(g->t, __FILE__, __LINE__, "%s: element %d of %d: expected %d, got %d", what, i,
                     count, sum_of(g, count, i), g->out[i]);
            return;
        }
    }
    atomic_fetch_add(&g->t->checks, 1);
}

static void reduce(const group_t *g, int count)
{
    for (int root = 0; root < g->size; ++root) {
        const bool in_place = root == g->rank && 0 != root % 2;

        ept_phase(g->t, "reduce of %d to %d", count, root);
        memset(g->out, 0x3a, (size_t) count * sizeof(int));
        set(in_place ? g->out : g->in, 1, count, g->rank);
        CALL(g, Reduce, Ireduce, in_place ? MPI_IN_PLACE : g->in, g->out, count, MPI_INT, MPI_SUM,
             root, g->comm);
        if (root == g->rank) {
            check_sum(g, count, "reduce");
        } else {
            EPT_EQ(g->t, 0x3a3a3a3a, g->out[0]);
            EPT_EQ(g->t, 0x3a3a3a3a, g->out[count - 1]);
        }
    }
}

static void allreduce(const group_t *g, int count)
{
    const bool in_place = 0 != count % 2; /* at all or at none */

    ept_phase(g->t, "allreduce of %d", count);
    set(in_place ? g->out : g->in, 1, count, g->rank);
    CALL(g, Allreduce, Iallreduce, in_place ? MPI_IN_PLACE : g->in, g->out, count, MPI_INT, MPI_SUM,
         g->comm);
    check_sum(g, count, "allreduce");
}

/** Sums that depend on their order: the same at all, and the next time. */
static void bits(const group_t *g, int count)
{
    double *in = malloc((size_t) count * sizeof(*in)), *out = malloc((size_t) count * sizeof(*out));
    double *again = malloc((size_t) count * sizeof(*again));

    ept_phase(g->t, "allreduce of %d doubles", count);
    for (int i = 0; i < count; ++i) {
        in[i] = 1.0 / (3 + g->rank + i % 1013) * (0 == (g->rank + i) % 3 ? 1e9 : 1);
    }
    CALL(g, Allreduce, Iallreduce, in, out, count, MPI_DOUBLE, MPI_SUM, g->comm);
    memcpy(again, out, (size_t) count * sizeof(*out));
    CALL(g, Bcast, Ibcast, again, count, MPI_DOUBLE, g->size - 1, g->comm);
    EPT_EQ(g->t, 0, memcmp(out, again, (size_t) count * sizeof(*out)));
    CALL(g, Allreduce, Iallreduce, in, again, count, MPI_DOUBLE, MPI_SUM, g->comm);
    EPT_EQ(g->t, 0, memcmp(out, again, (size_t) count * sizeof(*out)));
    free(in);
    free(out);
    free(again);
}

static void barrier(const group_t *g)
{
    CALL(g, Barrier, Ibarrier, g->comm);
}

void layout_affine(void *from, void *into, int *count, MPI_Datatype *type)
{
    unsigned int *x = from, *y = into;

    (void) type;
    for (int i = 0; i < *count; ++i, x += 2, y += 2) {
        y[1] += x[1] * y[0];
        y[0] *= x[0];
    }
}

static void in_order(const group_t *g, int count)
{
    MPI_Datatype pair;
    MPI_Op op;

    ept_phase(g->t, "in order, of %d", count);
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(layout_affine, 0, &op);
    for (int i = 0; i < count; ++i) {
        g->in[2 * i] = 2 * (g->rank + i) + 1;
        g->in[2 * i + 1] = g->rank - i;
    }
    for (int root = -1; root < g->size; ++root) {
        if (0 > root) {
            CALL(g, Allreduce, Iallreduce, g->in, g->out, count, pair, op, g->comm);
        } else {
            CALL(g, Reduce, Ireduce, g->in, g->out, count, pair, op, root, g->comm);
        }
        for (int i = 0; i < count && (0 > root || root == g->rank); ++i) {
            unsigned int a = 1, b = 0;

            for (int from = 0; from < g->size; ++from) {
                const unsigned int c = 2 * (unsigned int) (from + i) + 1;

                b = b * c + (unsigned int) (from - i);
                a *= c;
            }
            if (a != (unsigned int) g->out[2 * i] || b != (unsigned int) g->out[2 * i + 1]) {
                ept_fail(g->t, __FILE__, __LINE__, "in order: root %d, element %d of %d", root, i,
                         count);
                break;
            }
        }
    }
    atomic_fetch_add(&g->t->checks, 1);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/** Are there two members in some process? */
static bool some_share(const group_t *g)
{
    int *process = malloc((size_t) g->size * sizeof(*process));
    bool shares = false;

    EPT_OK(g->t, MPI_Allgather(&g->t->proc, 1, MPI_INT, process, 1, MPI_INT, g->comm));
    for (int i = 0; i < g->size; ++i) {
        for (int j = 0; j < i; ++j) {
            shares = shares || process[i] == process[j];
        }
    }
    free(process);
    return shares;
}

static void each(MPI_Comm parent, struct ept *t, layout_fn_t layout)
{
    int key = 0;
    const int color = layout(t, &key);
    group_t g = {.t = t, .form = (int) ept_option_long("form", 0)};

    EPT_OK(t, MPI_Comm_split(parent, color, key, &g.comm));
    if (MPI_COMM_NULL == g.comm) {
        return;
    }
    MPI_Comm_rank(g.comm, &g.rank);
    MPI_Comm_size(g.comm, &g.size);
    g.shares = some_share(&g);
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &g.gaps);
    MPI_Type_commit(&g.gaps);
    g.in = malloc((2 * MOST + 1024) * sizeof(int));
    g.out = malloc((2 * MOST + 1024) * sizeof(int));
    for (int i = 0; i < COUNTS; ++i) {
        bcast(&g, counts[i]);
        allgather(&g, (counts[i] + g.size - 1) / g.size);
        reduce(&g, counts[i]);
        barrier(&g);
        allreduce(&g, counts[i]);
        bits(&g, counts[i]);
        in_order(&g, counts[i]);
        layout_move(&g, counts[i]);
        layout_fold(&g, counts[i]);
    }
    free(g.in);
    free(g.out);
    MPI_Type_free(&g.gaps);
    EPT_OK(t, MPI_Comm_free(&g.comm));
}

#define LAYOUT(name)                                      \
    static void case_##name(MPI_Comm comm, struct ept *t) \
    {                                                     \
        each(comm, t, name);                              \
    }

LAYOUT(as_made)
LAYOUT(reversed)
LAYOUT(in_turn)
LAYOUT(fewer)
LAYOUT(around)
LAYOUT(thirds)
LAYOUT(halves)

/** Barriers keep what was before them before what is behind them, between processes as well. */
static void case_barrier(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 200; ++round) {
        const int to = (t->rank + 1) % t->size, from = (t->rank + t->size - 1) % t->size;
        MPI_Request request;
        int came, sent = round;

        EPT_OK(t, MPI_Issend(&sent, 1, MPI_INT, to, round, comm, &request));
        if (0 == round % t->size) {
            EPT_OK(t, MPI_Barrier(comm));
        }
        EPT_OK(t, MPI_Recv(&came, 1, MPI_INT, from, round, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Barrier(comm));
        EPT_EQ(t, round, came);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_as_made);
    EPT_CASE(t, case_reversed);
    EPT_CASE(t, case_in_turn);
    EPT_CASE(t, case_fewer);
    EPT_CASE(t, case_around);
    EPT_CASE(t, case_thirds);
    EPT_CASE(t, case_halves);
    EPT_CASE(t, case_barrier);
    return 0;
}
