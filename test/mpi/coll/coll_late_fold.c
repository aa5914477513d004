/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Part of coll_late: the kinds that reduce.  Sums of whole numbers and of any others, the place of
 * the least one (a pair, with a gap behind it), and a user's operation that does not commute, on a
 * type with gaps at either side of its numbers, and on one without.
 */

#include "coll_late.h"

#include <math.h>

enum { EXTENT_MOST = 16, CLEAR = 0x3a };

/** x -> a x + b over unsigned 32-bit numbers, as it lies in memory: only a and b are of the
 * type. */
struct affine {
    uint32_t before, a, between, b;
};

/** Likewise, without gaps: what fits into a line. */
struct dense {
    uint32_t a, b;
};

struct pair {
    double value;
    int index;
};

union element {
    int i;
    double d;
    struct pair pair;
    struct affine affine;
    struct dense dense;
    unsigned char bytes[EXTENT_MOST];
};

enum kind { SUM_INT, SUM_DOUBLE, MINLOC, COMPOSE, COMPOSE_DENSE, NUM_OPERATIONS };

/** Of an operation: bytes of an element in memory, and packed. */
static const struct {
    const char *name;
    size_t extent, size;
} about[NUM_OPERATIONS] = {{"sum of ints", sizeof(int), sizeof(int)},
                           {"sum of doubles", sizeof(double), sizeof(double)},
                           {"minloc", sizeof(struct pair), 12},
                           {"affine maps", sizeof(struct affine), 8},
                           {"dense affine maps", sizeof(struct dense), 8}};

/** A vector of elements. */
struct vector {
    struct ept_buffer buffer;
    enum kind kind;
    int n;
};

/** MPI's form: inout = in op inout. */
static void compose_user(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct affine *x = in, *y = inout;

    (void) type;
    for (int i = 0; i < *count; ++i) {
        y[i].b = x[i].a * y[i].b + x[i].b;
        y[i].a = x[i].a * y[i].a;
    }
}

static void compose_dense(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct dense *x = in, *y = inout;

    (void) type;
    for (int i = 0; i < *count; ++i) {
        y[i].b = x[i].a * y[i].b + x[i].b;
        y[i].a = x[i].a * y[i].a;
    }
}

void late_fold_begin(struct late *l)
{
    int places[2] = {offsetof(struct affine, a), offsetof(struct affine, b)};
    MPI_Datatype numbers;

    EPT_OK(l->t, MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){places[0], places[1]},
                                                MPI_UINT32_T, &numbers));
    EPT_OK(l->t, MPI_Type_create_resized(numbers, 0, sizeof(struct affine), &l->affine));
    EPT_OK(l->t, MPI_Type_commit(&l->affine));
    EPT_OK(l->t, MPI_Type_free(&numbers));
    EPT_OK(l->t, MPI_Op_create(compose_user, 0, &l->compose));
    EPT_OK(l->t, MPI_Type_contiguous(2, MPI_UINT32_T, &l->dense));
    EPT_OK(l->t, MPI_Type_commit(&l->dense));
    EPT_OK(l->t, MPI_Op_create(compose_dense, 0, &l->compose_dense));
}

void late_fold_end(struct late *l)
{
    EPT_OK(l->t, MPI_Op_free(&l->compose_dense));
    EPT_OK(l->t, MPI_Type_free(&l->dense));
    EPT_OK(l->t, MPI_Op_free(&l->compose));
    EPT_OK(l->t, MPI_Type_free(&l->affine));
}

static MPI_Datatype type_of(const struct late *l, enum kind kind)
{
    const MPI_Datatype types[NUM_OPERATIONS] = {MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT, l->affine,
                                                l->dense};

    return types[kind];
}

static MPI_Op op_of(const struct late *l, enum kind kind)
{
    const MPI_Op ops[NUM_OPERATIONS] = {MPI_SUM, MPI_SUM, MPI_MINLOC, l->compose, l->compose_dense};

    return ops[kind];
}

/* ---- elements -------------------------------------------------------------------------------- */

static union element element(const struct late *l, enum kind kind, int rank, int i)
{
    const uint64_t bits = ept_mix(l->step, (uint64_t) rank, (uint64_t) i, 9);
    union element e;

    memset(&e, CLEAR, sizeof(e));
    switch (kind) {
    case SUM_INT:
        e.i = (int) (bits % 1000003) - 500000;
        break;
    case SUM_DOUBLE: /* of different magnitudes, so that the order shows */
        e.d = ((double) (bits >> 11) / 9007199254740992.0 - 0.5) * (double) (1 << bits % 20);
        break;
    case MINLOC:
        e.pair.value = (double) (bits % 5);
        e.pair.index = rank;
        break;
    case COMPOSE:
        e.affine.a = (uint32_t) bits | 1;
        e.affine.b = (uint32_t) (bits >> 32);
        break;
    default:
        e.dense.a = (uint32_t) bits | 1;
        e.dense.b = (uint32_t) (bits >> 32);
        break;
    }
    return e;
}

/** x = x op y, with y of a higher rank. */
static void apply(enum kind kind, union element *x, const union element *y)
{
    switch (kind) {
    case SUM_INT:
        x->i += y->i;
        break;
    case SUM_DOUBLE:
        x->d += y->d;
        break;
    case MINLOC:
        if (y->pair.value < x->pair.value) {
            x->pair = y->pair;
        }
        break;
    case COMPOSE:
        x->affine.b = x->affine.a * y->affine.b + x->affine.b;
        x->affine.a *= y->affine.a;
        break;
    default:
        x->dense.b = x->dense.a * y->dense.b + x->dense.b;
        x->dense.a *= y->dense.a;
        break;
    }
}

/** Is that what was to come, and nothing beside it?  Floating-point sums may be in any order. */
static bool is_right(const struct late *l, enum kind kind, const union element *wanted,
                     const union element *got)
{
    switch (kind) {
    case SUM_INT:
        return wanted->i == got->i;
    case SUM_DOUBLE:
        return fabs(wanted->d - got->d) <= 1e-9 * (double) l->size;
    case MINLOC:
        return 0 == memcmp(wanted, got, 12) && CLEAR == got->bytes[12] && CLEAR == got->bytes[15];
    case COMPOSE_DENSE:
        return wanted->dense.a == got->dense.a && wanted->dense.b == got->dense.b;
    default:
        return wanted->affine.a == got->affine.a && wanted->affine.b == got->affine.b
               && CLEAR == got->bytes[0] && CLEAR == got->bytes[9];
    }
}

static struct vector make(const struct late *l, enum kind kind, int n)
{
    return (struct vector){ept_buffer((size_t) n * about[kind].extent, (unsigned) l->step * 8 % 64),
                           kind, n};
}

/** What a rank brings. */
static void put(const struct late *l, struct vector *v, int rank)
{
    for (int i = 0; i < v->n; ++i) {
        const union element e = element(l, v->kind, rank, i);

        memcpy(v->buffer.data + (size_t) i * about[v->kind].extent, &e, about[v->kind].extent);
    }
}

/** The first n elements of a result: elements first ... of what ranks 0 ... last bring together. */
static void check(const struct late *l, const struct vector *v, int first, int n, int last)
{
    atomic_fetch_add(&l->t->checks, 1);
    for (int i = 0; i < n; ++i) {
        union element wanted = element(l, v->kind, 0, first + i), got;

        for (int r = 1; r <= last; ++r) {
            const union element e = element(l, v->kind, r, first + i);

            apply(v->kind, &wanted, &e);
        }
        memset(&got, CLEAR, sizeof(got));
        memcpy(&got, v->buffer.data + (size_t) i * about[v->kind].extent, about[v->kind].extent);
        if (!is_right(l, v->kind, &wanted, &got)) {
            uint32_t w[4], g[4];

            memcpy(w, &wanted, sizeof(w));
            memcpy(g, &got, sizeof(g));
            ept_fail(
                l->t, __FILE__, __LINE__,
                "%s of %s, step %llu, element %d of %d: expected %08x %08x %08x %08x, got %08x "
                "%08x %08x %08x",
                l->what, about[v->kind].name, (unsigned long long) l->step, i, n, w[0], w[1], w[2],
                w[3], g[0], g[1], g[2], g[3]);
            return;
        }
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

enum form { ALLREDUCE, REDUCE, SCATTER, SCATTER_BLOCK, SCAN, EXSCAN, NUM_FORMS };

static const char *const names[NUM_FORMS] = {"allreduce",      "reduce",
                                             "reduce_scatter", "reduce_scatter_block",
                                             "scan",           "exscan"};

/** A call that is made more than once. */
struct call {
    enum form form;
    enum kind kind;
    int root, count; /**< elements of the vector */
    bool in_place;
    int parts[LATE_MEMBERS_MOST]; /**< of those that scatter */
};

/** Cuts the vector, also in empty parts. */
static void cut(struct late *l, struct call *call)
{
    int left = call->count;

    for (int r = 0; r < l->size; ++r) {
        call->parts[r] = r == l->size - 1 ? left : late_below(l, left + 1);
        left -= call->parts[r];
    }
}

static int parts_before(const struct call *call, int rank)
{
    int before = 0;

    for (int r = 0; r < rank; ++r) {
        before += call->parts[r];
    }
    return before;
}

static int do_call(struct late *l, const struct call *call, const void *send, void *recv)
{
    const MPI_Datatype type = type_of(l, call->kind);
    const MPI_Op op = op_of(l, call->kind);

    switch (call->form) {
    case ALLREDUCE:
        return LATE_CALL(l, Allreduce, allreduce, send, recv, call->count, type, op, l->comm);
    case REDUCE:
        return LATE_CALL(l, Reduce, reduce, send, recv, call->count, type, op, call->root, l->comm);
    case SCATTER:
        return LATE_CALL(l, Reduce_scatter, reduce_scatter, send, recv, call->parts, type, op,
                         l->comm);
    case SCATTER_BLOCK:
        return LATE_CALL(l, Reduce_scatter_block, reduce_scatter_block, send, recv, call->parts[0],
                         type, op, l->comm);
    case SCAN:
        return LATE_CALL(l, Scan, scan, send, recv, call->count, type, op, l->comm);
    default:
        return LATE_CALL(l, Exscan, exscan, send, recv, call->count, type, op, l->comm);
    }
}

/** The call, once.  @return the elements of the result, or NULL where there is none */
static unsigned char *once(struct late *l, const struct call *call, size_t *bytes)
{
    const bool is_scattered = SCATTER == call->form || SCATTER_BLOCK == call->form;
    const bool gets = (REDUCE != call->form || call->root == l->rank)
                      && (EXSCAN != call->form || 0 != l->rank);
    const bool in_place = call->in_place && (REDUCE != call->form || gets);
    const int n = is_scattered ? call->parts[l->rank] : call->count;
    const int last = SCAN == call->form     ? l->rank
                     : EXSCAN == call->form ? l->rank - 1
                                            : l->size - 1;
    struct vector in = make(l, call->kind, call->count);
    struct vector out = make(l, call->kind, in_place ? call->count : (gets ? n : 0));
    unsigned char *result = NULL;

    put(l, &in, l->rank);
    if (in_place) {
        put(l, &out, l->rank);
    }
    late_pause(l);
    EPT_OK(l->t, do_call(l, call, in_place ? MPI_IN_PLACE : (const void *) in.buffer.data,
                         out.buffer.data));
    if (gets) {
        check(l, &out, is_scattered ? parts_before(call, l->rank) : 0, n, last);
        *bytes = (size_t) n * about[call->kind].extent;
        result = malloc(*bytes + 1);
        memcpy(result, out.buffer.data, *bytes);
    }
    EPT_GUARDS(l->t, &in.buffer);
    EPT_GUARDS(l->t, &out.buffer);
    ept_buffer_free(&in.buffer);
    ept_buffer_free(&out.buffer);
    return result;
}

/** Do all members have the same bits? */
static void compare_members(struct late *l, const unsigned char *result, size_t bytes)
{
    const int next = (l->rank + 1) % l->size, previous = (l->rank + l->size - 1) % l->size;
    uint64_t sum = 14695981039346656037u, other = 0;

    for (size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ result[i]) * 1099511628211u;
    }
    EPT_OK(l->t, MPI_Sendrecv(&sum, 1, MPI_UINT64_T, next, 3, &other, 1, MPI_UINT64_T, previous, 3,
                              l->comm, MPI_STATUS_IGNORE));
    EPT_CHECK(l->t, sum == other, "%s, step %llu: rank %d has other bits", l->what,
              (unsigned long long) l->step, previous);
}

void late_fold(struct late *l)
{
    const int any = late_below(l, NUM_FORMS);
    struct call call = {.form = LATE_ANY == l->way ? (enum form) any : REDUCE,
                        .kind = (enum kind) late_below(l, NUM_OPERATIONS),
                        .root = late_root(l),
                        .in_place = 0 == late_below(l, 3)};
    const bool again = 0 == late_below(l, 3), compare = 0 == late_below(l, 4);
    unsigned char *first, *second;
    size_t bytes = 0;

    call.count = (int) (late_bytes(l) / about[call.kind].size);
    if (SCATTER == call.form) {
        cut(l, &call);
    } else if (SCATTER_BLOCK == call.form) {
        for (int r = 0; r < l->size; ++r) {
            call.parts[r] = call.count / l->size;
        }
        call.count = call.parts[0] * l->size;
    }
    l->what = names[call.form];
    l->repeats = !call.in_place;
    ept_phase(l->t, "step %llu: %s of %d elements, %s, root %d%s", (unsigned long long) l->step,
              l->what, call.count, about[call.kind].name, call.root,
              call.in_place ? ", in place" : "");
    first = once(l, &call, &bytes);
    if (ALLREDUCE == call.form && compare) {
        compare_members(l, first, bytes);
    }
    if (again) {
        second = once(l, &call, &bytes);
        EPT_CHECK(l->t, NULL == first || 0 == memcmp(first, second, bytes),
                  "%s of %s, step %llu: other bits when called again", l->what,
                  about[call.kind].name, (unsigned long long) l->step);
        free(second);
    }
    free(first);
}
