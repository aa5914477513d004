/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that reduce, blocking, nonblocking and persistent: reduce, allreduce,
 * reduce_scatter(_block), scan, exscan, for several types and operations, one of them a user's and
 * not commutative; against a result computed serially, in the order of the ranks.  That two
 * endpoints exchange once; that a result goes to MPI_BOTTOM, where each member's type has
 * displacements of its own; and that wrong arguments are errors, as with processes.
 *
 *   --stock 1  Open MPI's own components serve it all
 *
 * EPT-LIBS: -ldl
 *
 * Guards: pml_epml_coll.c, hook_allreduce.c, coll_epcoll_calls_reduce.c, coll_epcoll_component.c,
 * coll_epcoll_small_ring.c, coll_epcoll_chunks_reduce.c, coll_epcoll_local.c, coll_epcoll_module.c,
 * coll_epcoll_chunks.c, coll_epcoll_small.c, coll_epcoll_wait.c, reductions.c
 */

#define _GNU_SOURCE

#include "coll.h"

#include <dlfcn.h>

/* x -> a x + b over unsigned 32-bit numbers; composition is associative, not commutative. */
struct affine {
    uint32_t a, b;
};

struct double_int {
    double value;
    int index;
};

struct int_int {
    int value, index;
};

union element {
    int i;
    float f;
    double d;
    unsigned char c;
    unsigned long long u;
    struct affine affine;
    struct double_int di;
    struct int_int ii;
};

struct operation {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;      /* of an element in memory */
    size_t significant; /* bytes of it that hold the value */
    void (*make)(union element *e, int rank, int i);
    void (*apply)(union element *left, const union element *right); /* left = left op right */
};

/* ---- elements ----------------------------------------------------------------------------- */

static void make_int(union element *e, int rank, int i)
{
    e->i = (rank + 1) * 3 - i % 1000;
}

static void sum_int(union element *x, const union element *y)
{
    x->i += y->i;
}

static void make_byte(union element *e, int rank, int i)
{
    e->c = (unsigned char) coll_value(rank, 1, i);
}

static void xor_byte(union element *x, const union element *y)
{
    x->c ^= y->c;
}

/* Small whole numbers: sums are exact in any order. */
static void make_double(union element *e, int rank, int i)
{
    e->d = (double) ((rank * 31 + i) % 257);
}

static void sum_double(union element *x, const union element *y)
{
    x->d += y->d;
}

static void make_float(union element *e, int rank, int i)
{
    e->f = (float) (coll_value(rank, 3, i) % 1000);
}

static void min_float(union element *x, const union element *y)
{
    x->f = y->f < x->f ? y->f : x->f;
}

static void make_bits(union element *e, int rank, int i)
{
    e->u = ~(1ull << ((unsigned) (rank + i) % 64));
}

static void and_bits(union element *x, const union element *y)
{
    x->u &= y->u;
}

static void make_maxloc(union element *e, int rank, int i)
{
    e->ii.value = (int) ((unsigned) coll_value(rank, 5, i) % 7); /* many ties */
    e->ii.index = rank;
}

static void maxloc(union element *x, const union element *y)
{
    if (y->ii.value > x->ii.value) {
        x->ii = y->ii;
    } else if (y->ii.value == x->ii.value && y->ii.index < x->ii.index) {
        x->ii.index = y->ii.index;
    }
}

static void make_minloc(union element *e, int rank, int i)
{
    e->di.value = (double) ((unsigned) coll_value(rank, 6, i) % 5);
    e->di.index = rank;
}

static void minloc(union element *x, const union element *y)
{
    if (y->di.value < x->di.value) {
        x->di = y->di;
    } else if (y->di.value <= x->di.value && y->di.index < x->di.index) {
        x->di.index = y->di.index;
    }
}

static void make_affine(union element *e, int rank, int i)
{
    e->affine.a = (uint32_t) coll_value(rank, 7, i) | 1;
    e->affine.b = (uint32_t) coll_value(rank, 8, i);
}

static void compose(union element *x, const union element *y)
{
    x->affine.b = x->affine.a * y->affine.b + x->affine.b;
    x->affine.a *= y->affine.a;
}

/* MPI's form: inout = in op inout. */
static void compose_user(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct affine *x = in, *y = inout;

    (void) type;
    for (int i = 0; i < *count; ++i) {
        y[i].b = x[i].a * y[i].b + x[i].b;
        y[i].a = x[i].a * y[i].a;
    }
}

/* ---- vectors and what is expected --------------------------------------------------------- */

/** n elements between guard zones. */
struct vector {
    struct ept_buffer buffer;
    const struct operation *o;
    int n;
};

static struct vector make_vector(const struct operation *o, int n)
{
    struct vector v = {ept_buffer((size_t) n * o->extent, 0), o, n};

    return v;
}

static void *at(const struct vector *v, int i)
{
    return v->buffer.data + (size_t) i * v->o->extent;
}

static void set_rank(struct vector *v, int rank)
{
    for (int i = 0; i < v->n; ++i) {
        union element e;

        memset(&e, 0, sizeof(e));
        v->o->make(&e, rank, i);
        memcpy(at(v, i), &e, v->o->extent);
    }
}

static void free_vector(struct ept *t, struct vector *v)
{
    EPT_GUARDS(t, &v->buffer);
    ept_buffer_free(&v->buffer);
}

/* v = v op rank's elements */
static void accumulate(struct vector *v, int rank)
{
    for (int i = 0; i < v->n; ++i) {
        union element x, y;

        memset(&y, 0, sizeof(y));
        v->o->make(&y, rank, i);
        memcpy(&x, at(v, i), v->o->extent);
        v->o->apply(&x, &y);
        memcpy(at(v, i), &x, v->o->extent);
    }
}

/* got[0 ... n - 1] must be wanted[first ...]. */
static void check(struct ept *t, const char *what, const struct vector *wanted, int first,
                  const struct vector *got, int n)
{
    atomic_fetch_add(&t->checks, 1);
    for (int i = 0; i < n; ++i) {
        const unsigned char *w = at(wanted, first + i), *g = at(got, i);

        if (0 != memcmp(w, g, wanted->o->significant)) {
            uint32_t a = 0, b = 0;
            size_t size = wanted->o->significant < 4 ? wanted->o->significant : 4;

            memcpy(&a, w, size);
            memcpy(&b, g, size);
            ept_fail(t, __FILE__, __LINE__,
                     "%s of %s: element %d of %d: expected 0x%08x..., got 0x%08x...", what,
                     wanted->o->name, i, n, a, b);
            return;
        }
    }
}

/** One operation and count: the input, and the serial results. */
struct problem {
    MPI_Comm comm;
    struct ept *t;
    const struct operation *o;
    int count;
    struct vector in;
    struct vector total;     /* ranks 0 ... size - 1 */
    struct vector inclusive; /* ranks 0 ... rank */
    struct vector exclusive; /* ranks 0 ... rank - 1; unused on rank 0 */
};

static struct problem make_problem(MPI_Comm comm, struct ept *t, const struct operation *o,
                                   int count)
{
    struct problem p = {comm,
                        t,
                        o,
                        count,
                        make_vector(o, count),
                        make_vector(o, count),
                        make_vector(o, count),
                        make_vector(o, count)};

    set_rank(&p.in, t->rank);
    set_rank(&p.total, 0);
    for (int r = 1; r < t->size; ++r) {
        if (r == t->rank) {
            memcpy(p.exclusive.buffer.data, p.total.buffer.data, p.total.buffer.size);
        }
        accumulate(&p.total, r);
        if (r == t->rank) {
            memcpy(p.inclusive.buffer.data, p.total.buffer.data, p.total.buffer.size);
        }
    }
    if (0 == t->rank) {
        set_rank(&p.inclusive, 0);
    }
    return p;
}

static void free_problem(struct problem *p)
{
    free_vector(p->t, &p->in);
    free_vector(p->t, &p->total);
    free_vector(p->t, &p->inclusive);
    free_vector(p->t, &p->exclusive);
}

/* ---- the collectives ---------------------------------------------------------------------- */

static void reduce(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    int roots[3], n = coll_roots(t, roots);

    for (int k = 0; k < n; ++k) {
        bool am_root = roots[k] == t->rank;
        struct vector out = make_vector(p->o, am_root ? p->count : 0);

        COLL(t, mode, Reduce, reduce, p->in.buffer.data, out.buffer.data, p->count, p->o->type,
             p->o->op, roots[k], p->comm);
        if (am_root) {
            check(t, "reduce", &p->total, 0, &out, p->count);
            set_rank(&out, t->rank);
        }
        COLL(t, mode, Reduce, reduce, am_root ? MPI_IN_PLACE : (void *) p->in.buffer.data,
             out.buffer.data, p->count, p->o->type, p->o->op, roots[k], p->comm);
        if (am_root) {
            check(t, "reduce in place", &p->total, 0, &out, p->count);
        }
        free_vector(t, &out);
    }
}

static void allreduce(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    struct vector out = make_vector(p->o, p->count);

    COLL(t, mode, Allreduce, allreduce, p->in.buffer.data, out.buffer.data, p->count, p->o->type,
         p->o->op, p->comm);
    check(t, "allreduce", &p->total, 0, &out, p->count);
    set_rank(&out, t->rank);
    COLL(t, mode, Allreduce, allreduce, MPI_IN_PLACE, out.buffer.data, p->count, p->o->type,
         p->o->op, p->comm);
    check(t, "allreduce in place", &p->total, 0, &out, p->count);
    free_vector(t, &out);
}

static void reduce_scatter_block(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    int part = p->count / t->size;
    struct vector out = make_vector(p->o, part), all = make_vector(p->o, p->count);

    COLL(t, mode, Reduce_scatter_block, reduce_scatter_block, p->in.buffer.data, out.buffer.data,
         part, p->o->type, p->o->op, p->comm);
    check(t, "reduce_scatter_block", &p->total, t->rank * part, &out, part);
    set_rank(&all, t->rank);
    COLL(t, mode, Reduce_scatter_block, reduce_scatter_block, MPI_IN_PLACE, all.buffer.data, part,
         p->o->type, p->o->op, p->comm);
    check(t, "reduce_scatter_block in place", &p->total, t->rank * part, &all, part);
    free_vector(t, &out);
    free_vector(t, &all);
}

/* Parts of different lengths, some of them empty, that add up to count. */
static void reduce_scatter(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    int *counts = malloc((size_t) t->size * sizeof(int)), left = p->count, first = 0;
    struct vector out, all = make_vector(p->o, p->count);

    for (int r = 0; r < t->size; ++r) {
        counts[r] = r == t->size - 1 ? left : (1 == r % 3 ? 0 : left / 2);
        first += r < t->rank ? counts[r] : 0;
        left -= counts[r];
    }
    out = make_vector(p->o, counts[t->rank]);
    COLL(t, mode, Reduce_scatter, reduce_scatter, p->in.buffer.data, out.buffer.data, counts,
         p->o->type, p->o->op, p->comm);
    check(t, "reduce_scatter", &p->total, first, &out, out.n);
    set_rank(&all, t->rank);
    COLL(t, mode, Reduce_scatter, reduce_scatter, MPI_IN_PLACE, all.buffer.data, counts, p->o->type,
         p->o->op, p->comm);
    check(t, "reduce_scatter in place", &p->total, first, &all, out.n);
    free_vector(t, &out);
    free_vector(t, &all);
    free(counts);
}

static void scan(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    struct vector out = make_vector(p->o, p->count);

    COLL(t, mode, Scan, scan, p->in.buffer.data, out.buffer.data, p->count, p->o->type, p->o->op,
         p->comm);
    check(t, "scan", &p->inclusive, 0, &out, p->count);
    set_rank(&out, t->rank);
    COLL(t, mode, Scan, scan, MPI_IN_PLACE, out.buffer.data, p->count, p->o->type, p->o->op,
         p->comm);
    check(t, "scan in place", &p->inclusive, 0, &out, p->count);
    free_vector(t, &out);
}

static void exscan(struct problem *p, enum coll_mode mode)
{
    struct ept *t = p->t;
    struct vector out = make_vector(p->o, p->count);

    COLL(t, mode, Exscan, exscan, p->in.buffer.data, out.buffer.data, p->count, p->o->type,
         p->o->op, p->comm);
    if (0 != t->rank) {
        check(t, "exscan", &p->exclusive, 0, &out, p->count);
    }
    set_rank(&out, t->rank);
    COLL(t, mode, Exscan, exscan, MPI_IN_PLACE, out.buffer.data, p->count, p->o->type, p->o->op,
         p->comm);
    if (0 != t->rank) {
        check(t, "exscan in place", &p->exclusive, 0, &out, p->count);
    }
    free_vector(t, &out);
}

typedef void (*collective_fn_t)(struct problem *p, enum coll_mode mode);

static void run_collectives(MPI_Comm comm, struct ept *t, const struct operation *o)
{
    static const struct {
        const char *name;
        collective_fn_t fn;
    } collectives[] = {{"reduce", reduce},
                       {"allreduce", allreduce},
                       {"reduce_scatter_block", reduce_scatter_block},
                       {"reduce_scatter", reduce_scatter},
                       {"scan", scan},
                       {"exscan", exscan}};
    int counts[5], n = coll_counts(t, false, counts);

    for (int c = 0; c < n; ++c) {
        struct problem p = make_problem(comm, t, o, counts[c]);

        for (size_t k = 0; k < sizeof(collectives) / sizeof(collectives[0]); ++k) {
            for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
                ept_phase(t, "%s %s of %d x %s", coll_mode_names[mode], collectives[k].name,
                          counts[c], o->name);
                collectives[k].fn(&p, mode);
            }
        }
        free_problem(&p);
    }
}

#define OPERATION(NAME, TYPE, OP, MEMBER, SIGNIFICANT, MAKE, APPLY)                           \
    static void case_##NAME(MPI_Comm comm, struct ept *t)                                     \
    {                                                                                         \
        struct operation o = {#NAME,       TYPE, OP,   sizeof(((union element *) 0)->MEMBER), \
                              SIGNIFICANT, MAKE, APPLY};                                      \
                                                                                              \
        run_collectives(comm, t, &o);                                                         \
    }

OPERATION(int_sum, MPI_INT, MPI_SUM, i, 4, make_int, sum_int)
OPERATION(byte_bxor, MPI_UNSIGNED_CHAR, MPI_BXOR, c, 1, make_byte, xor_byte)
OPERATION(double_sum, MPI_DOUBLE, MPI_SUM, d, 8, make_double, sum_double)
OPERATION(float_min, MPI_FLOAT, MPI_MIN, f, 4, make_float, min_float)
OPERATION(long_band, MPI_UNSIGNED_LONG_LONG, MPI_BAND, u, 8, make_bits, and_bits)
OPERATION(maxloc, MPI_2INT, MPI_MAXLOC, ii, 8, make_maxloc, maxloc)
OPERATION(minloc, MPI_DOUBLE_INT, MPI_MINLOC, di, 12, make_minloc, minloc)

static void case_user_noncommutative(MPI_Comm comm, struct ept *t)
{
    struct operation o = {
        "affine maps", MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(struct affine), 8, make_affine,
        compose};

    EPT_OK(t, MPI_Type_contiguous(2, MPI_UINT32_T, &o.type));
    EPT_OK(t, MPI_Type_commit(&o.type));
    EPT_OK(t, MPI_Op_create(compose_user, 0, &o.op));
    run_collectives(comm, t, &o);
    EPT_OK(t, MPI_Op_free(&o.op));
    EPT_OK(t, MPI_Type_free(&o.type));
}

static void case_reduce_local(MPI_Comm comm, struct ept *t)
{
    int x[3] = {1, 2, 3}, y[3] = {10, 20, 30};

    (void) comm;
    EPT_OK(t, MPI_Reduce_local(x, y, 3, MPI_INT, MPI_SUM));
    for (int i = 0; i < 3; ++i) {
        EPT_EQ(t, 11 * (i + 1), y[i]);
    }
}

static _Thread_local int exchanges; /**< allreduces of this thread that are one exchange for two */

#if 6 <= OMPI_MAJOR_VERSION
typedef size_t count_t; /**< of libmpi's internal functions */
#else
typedef int count_t;
#endif

/** Stands before libmpi's, whose algorithm this is, and counts. */
int ompi_coll_base_allreduce_intra_recursivedoubling(const void *in, void *out, count_t count,
                                                     MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                                     void *module);

int ompi_coll_base_allreduce_intra_recursivedoubling(const void *in, void *out, count_t count,
                                                     MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                                                     void *module)
{
    int (*own)(const void *, void *, count_t, MPI_Datatype, MPI_Op, MPI_Comm, void *);

    *(void **) &own = dlsym(RTLD_NEXT, "ompi_coll_base_allreduce_intra_recursivedoubling");
    ++exchanges;
    return own(in, out, count, type, op, comm, module);
}

/** Two endpoints of two processes exchange what is small once, whatever its size. */
/* ---- absolute displacements --------------------------------------------------------------- */

/** An element of ints with a gap, at its true lower bound from where the op is given it. */
static void add_gapped(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    int size;

    MPI_Type_get_true_extent(*type, &lb, &extent);
    MPI_Type_size(*type, &size);
    if (1 == *count) {
        const int *a = (const int *) ((char *) in + lb);
        int *b = (int *) ((char *) inout + lb);

        for (int i = 0; i < size / (int) sizeof(int) + 1; ++i) {
            b[i] += 1 == i ? 0 : a[i];
        }
    }
}

static void set_gapped(int *v, int ints, int factor)
{
    for (int i = 0; i < ints; ++i) {
        v[i] = factor * (i + 1);
    }
}

/** @param factor  of the sum; 0: nothing has been written */
static void check_gapped(struct ept *t, const char *what, int *v, int ints, int factor)
{
    int wrong = 0;

    for (int i = 0; i < ints; ++i) {
        wrong += (1 == i || 0 == factor ? -1 : factor * (i + 1)) != v[i];
        v[i] = -1;
    }
    EPT_CHECK(t, 0 == wrong, "%s: %d of %d wrong", what, wrong, ints);
}

/** Everything in one form. */
static void reduce_to_bottom(MPI_Comm comm, struct ept *t, int form, int ints, MPI_Op op)
{
    int *in = malloc((size_t) ints * sizeof(int)), *out = malloc((size_t) ints * sizeof(int));
    const int lengths[] = {1, ints - 2}, before = t->rank * (t->rank + 1) / 2;
    const int all = t->size * (t->size + 1) / 2, root = t->size - 1;
    MPI_Aint at[2];
    MPI_Datatype type;
    const void *sent;

    MPI_Get_address(&out[0], &at[0]);
    MPI_Get_address(&out[2], &at[1]);
    EPT_OK(t, MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type));
    EPT_OK(t, MPI_Type_commit(&type));
    sent = (const void *) ((uintptr_t) in - (uintptr_t) out);
    set_gapped(in, ints, t->rank + 1);
    memset(out, -1, (size_t) ints * sizeof(int));
    COLL(t, form, Allreduce, allreduce, sent, MPI_BOTTOM, 1, type, op, comm);
    check_gapped(t, "allreduce", out, ints, all);
    COLL(t, form, Reduce, reduce, sent, MPI_BOTTOM, 1, type, op, root, comm);
    check_gapped(t, "reduce", out, ints, root == t->rank ? all : 0);
    COLL(t, form, Scan, scan, sent, MPI_BOTTOM, 1, type, op, comm);
    check_gapped(t, "scan", out, ints, before + t->rank + 1);
    COLL(t, form, Exscan, exscan, sent, MPI_BOTTOM, 1, type, op, comm);
    check_gapped(t, "exscan", out, ints, before);
    set_gapped(out, ints, t->rank + 1);
    out[1] = -1;
    COLL(t, form, Allreduce, allreduce, MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, comm);
    check_gapped(t, "allreduce in place", out, ints, all);
    EPT_OK(t, MPI_Type_free(&type));
    free(in);
    free(out);
}

static void case_bottom(MPI_Comm comm, struct ept *t)
{
    MPI_Op op;

    EPT_OK(t, MPI_Op_create(add_gapped, 1, &op));
    for (int form = COLL_BLOCKING; form < COLL_NUM_MODES; ++form) {
        for (int ints = 4; ints <= 4000; ints *= 10) {
            ept_phase(t, "%s, %d ints", coll_mode_names[form], ints);
            reduce_to_bottom(comm, t, form, ints, op);
        }
    }
    EPT_OK(t, MPI_Op_free(&op));
}

/** No member gets as far as to wait for others. */
static void case_wrong(MPI_Comm comm, struct ept *t)
{
    int in[2] = {1, 2}, out[2];
    double real = 1, sum;
    MPI_Comm dup;
    int size;

    MPI_Comm_size(comm, &size);
    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    EPT_CLASS(t, MPI_ERR_OP, MPI_Allreduce(in, out, 2, MPI_INT, MPI_OP_NULL, dup));
    EPT_CLASS(t, MPI_ERR_OP, MPI_Scan(&real, &sum, 1, MPI_DOUBLE, MPI_BAND, dup));
    EPT_CLASS(t, MPI_ERR_OP, MPI_Exscan(in, out, 1, MPI_INT, MPI_MAXLOC, dup));
    EPT_CLASS(t, MPI_ERR_COUNT, MPI_Allreduce(in, out, -1, MPI_INT, MPI_SUM, dup));
    EPT_CLASS(t, MPI_ERR_OP, MPI_Scan(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, dup));
    EPT_CLASS(t, MPI_ERR_ROOT, MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, size, dup));
    EPT_CLASS(t, MPI_ERR_ROOT, MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -1, dup));
    EPT_CLASS(t, MPI_ERR_ARG, MPI_Reduce_scatter_block(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, dup));
    EPT_OK(t, MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, dup));
    EPT_OK(t, MPI_Allreduce(in, out, 2, MPI_INT, MPI_MAX, dup));
    EPT_EQ(t, 2, out[1]);
    EPT_OK(t, MPI_Comm_free(&dup));
}

static void case_pair(MPI_Comm comm, struct ept *t)
{
    enum { MOST = 2048 };
    static const int counts[] = {2, 500, 1023, 1024, 1500, MOST - 1, MOST};
    int in[MOST], out[MOST];

    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); ++k) {
        const int count = counts[k];

        for (int i = 0; i < count; ++i) {
            in[i] = i + t->rank;
        }
        exchanges = 0;
        EPT_OK(t, MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
        EPT_EQ(t, 1, exchanges);
        for (int i = 0; i < count; ++i) {
            EPT_EQ(t, 2 * i + 1, out[i]);
        }
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_int_sum);
    EPT_CASE(t, case_byte_bxor);
    EPT_CASE(t, case_double_sum);
    EPT_CASE(t, case_float_min);
    EPT_CASE(t, case_long_band);
    EPT_CASE(t, case_maxloc);
    EPT_CASE(t, case_minloc);
    EPT_CASE(t, case_user_noncommutative);
    EPT_CASE(t, case_reduce_local);
    EPT_CASE(t, case_wrong);
    if (t->endpoints && t->nprocs < t->size && 0 == ept_option_long("stock", 0)) {
        EPT_CASE(t, case_bottom);
    } else {
        ept_skip(t, "case_bottom", "Open MPI's own components get it wrong");
    }
    if (2 == t->size && t->endpoints && 2 == t->nprocs) {
        EPT_CASE(t, case_pair);
    } else {
        ept_skip(t, "case_pair", "is for two endpoints of two processes");
    }
    return 0;
}
