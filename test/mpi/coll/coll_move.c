/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Collectives that move data, blocking, nonblocking and persistent: barrier, bcast, gather(v),
 * scatter(v), allgather(v), alltoall(v, w), with MPI_IN_PLACE and gaps; several at once; repeated
 * starts; wildcard receives that must not see them.
 *
 * Guards: pml_epml_coll.c, coll_epcoll_small_ring.c, coll_epcoll_calls_all.c,
 * coll_epcoll_calls_move.c, coll_epcoll_component.c, coll_epcoll_local.c, coll_epcoll_module.c,
 * coll_epcoll_move.c, coll_epcoll_chunks.c, coll_epcoll_small.c, coll_epcoll_wait.c
 */

#include "coll.h"

#include <unistd.h>

/* One collective with one count and root. */
typedef void (*move_fn_t)(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root);

static void each(MPI_Comm comm, struct ept *t, bool per_pair, bool rooted, move_fn_t fn)
{
    int counts[5], roots[3];
    int num_counts = coll_counts(t, per_pair, counts);
    int num_roots = rooted ? coll_roots(t, roots) : 1;

    for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
        for (int c = 0; c < num_counts; ++c) {
            for (int r = 0; r < num_roots; ++r) {
                ept_phase(t, "%s, count %d, root %d", coll_mode_names[mode], counts[c],
                          rooted ? roots[r] : -1);
                fn(comm, t, mode, counts[c], rooted ? roots[r] : 0);
            }
        }
    }
}

/* Nobody leaves before the last one has entered. */
static void case_barrier(MPI_Comm comm, struct ept *t)
{
    double *entered = malloc((size_t) t->size * sizeof(double)), mine, left;

    for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
        for (int round = 0; round < 4; ++round) {
            ept_phase(t, "%s, round %d", coll_mode_names[mode], round);
            if (t->rank == (round * 5 + 3) % t->size) {
                usleep(5000);
            }
            mine = ept_time();
            switch (mode) {
            case COLL_BLOCKING:
                EPT_OK(t, MPI_Barrier(comm));
                break;
            case COLL_NONBLOCKING: {
                MPI_Request request;

                EPT_OK(t, MPI_Ibarrier(comm, &request));
                coll_wait(t, &request);
                break;
            }
            default: {
                MPI_Request request;

                EPT_OK(t, MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
                coll_start_wait_free(t, &request);
                break;
            }
            }
            left = ept_time();
            EPT_OK(t, MPI_Allgather(&mine, 1, MPI_DOUBLE, entered, 1, MPI_DOUBLE, comm));
            for (int r = 0; r < t->size; ++r) {
                EPT_CHECK(t, entered[r] <= left, "left %.6f s before rank %d entered",
                          entered[r] - left, r);
            }
        }
    }
    free(entered);
}

static void bcast(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct coll_ints a = coll_ints(count);

    if (root == t->rank) {
        coll_set(&a, 0, count, root, -1);
    }
    COLL(t, mode, Bcast, bcast, a.v, count, MPI_INT32_T, root, comm);
    COLL_CHECK(t, &a, 0, count, root, -1);
    coll_free(t, &a);
}

static void case_bcast(MPI_Comm comm, struct ept *t)
{
    each(comm, t, false, true, bcast);
}

static void gather(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    bool am_root = root == t->rank;
    struct coll_ints out = coll_ints(count), in = coll_ints(am_root ? count * t->size : 0);

    coll_set(&out, 0, count, t->rank, root);
    COLL(t, mode, Gather, gather, out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, root, comm);
    for (int r = 0; am_root && r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, root);
    }
    /* Again, the root's own part in place. */
    ept_buffer_clear(&in.buffer);
    if (am_root) {
        coll_set(&in, root * count, count, root, root);
    }
    COLL(t, mode, Gather, gather, am_root ? MPI_IN_PLACE : (void *) out.v, count, MPI_INT32_T, in.v,
         count, MPI_INT32_T, root, comm);
    for (int r = 0; am_root && r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, root);
    }
    coll_free(t, &out);
    coll_free(t, &in);
}

static void case_gather(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, true, gather);
}

static void scatter(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    bool am_root = root == t->rank;
    struct coll_ints out = coll_ints(am_root ? count * t->size : 0), in = coll_ints(count);

    for (int r = 0; am_root && r < t->size; ++r) {
        coll_set(&out, r * count, count, root, r);
    }
    COLL(t, mode, Scatter, scatter, out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, root,
         comm);
    COLL_CHECK(t, &in, 0, count, root, t->rank);
    ept_buffer_clear(&in.buffer);
    COLL(t, mode, Scatter, scatter, out.v, count, MPI_INT32_T,
         am_root ? MPI_IN_PLACE : (void *) in.v, count, MPI_INT32_T, root, comm);
    if (!am_root) {
        COLL_CHECK(t, &in, 0, count, root, t->rank);
    }
    coll_free(t, &out);
    coll_free(t, &in);
}

static void case_scatter(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, true, scatter);
}

/* The v-forms: rank r has a part of its own length, with a gap of two elements behind each part,
 * the parts in the opposite order of the ranks. */
struct parts {
    int *counts, *places, total;
};

static struct parts make_parts(const struct ept *t, int count)
{
    struct parts p = {malloc((size_t) t->size * sizeof(int)),
                      malloc((size_t) t->size * sizeof(int)), 0};

    for (int r = t->size - 1; r >= 0; --r) {
        p.counts[r] = 0 == r % 3 ? count : count / (1 + r % 4);
        p.places[r] = p.total;
        p.total += p.counts[r] + 2;
    }
    return p;
}

static void free_parts(struct parts *p)
{
    free(p->counts);
    free(p->places);
}

static void check_parts(struct ept *t, const struct coll_ints *in, const struct parts *p, int to)
{
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, in, p->places[r], p->counts[r], r, to);
        COLL_CHECK_CLEAR(t, in, p->places[r] + p->counts[r], 2);
    }
}

static void gatherv(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    bool am_root = root == t->rank;
    struct parts p = make_parts(t, count);
    struct coll_ints out = coll_ints(p.counts[t->rank]), in = coll_ints(am_root ? p.total : 0);

    coll_set(&out, 0, out.n, t->rank, root);
    COLL(t, mode, Gatherv, gatherv, out.v, out.n, MPI_INT32_T, in.v, p.counts, p.places,
         MPI_INT32_T, root, comm);
    if (am_root) {
        check_parts(t, &in, &p, root);
        ept_buffer_clear(&in.buffer);
        coll_set(&in, p.places[root], out.n, root, root);
    }
    COLL(t, mode, Gatherv, gatherv, am_root ? MPI_IN_PLACE : (void *) out.v, out.n, MPI_INT32_T,
         in.v, p.counts, p.places, MPI_INT32_T, root, comm);
    if (am_root) {
        check_parts(t, &in, &p, root);
    }
    coll_free(t, &out);
    coll_free(t, &in);
    free_parts(&p);
}

static void case_gatherv(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, true, gatherv);
}

static void scatterv(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    bool am_root = root == t->rank;
    struct parts p = make_parts(t, count);
    struct coll_ints out = coll_ints(am_root ? p.total : 0), in = coll_ints(p.counts[t->rank]);

    for (int r = 0; am_root && r < t->size; ++r) {
        coll_set(&out, p.places[r], p.counts[r], root, r);
    }
    COLL(t, mode, Scatterv, scatterv, out.v, p.counts, p.places, MPI_INT32_T, in.v, in.n,
         MPI_INT32_T, root, comm);
    COLL_CHECK(t, &in, 0, in.n, root, t->rank);
    ept_buffer_clear(&in.buffer);
    COLL(t, mode, Scatterv, scatterv, out.v, p.counts, p.places, MPI_INT32_T,
         am_root ? MPI_IN_PLACE : (void *) in.v, in.n, MPI_INT32_T, root, comm);
    if (!am_root) {
        COLL_CHECK(t, &in, 0, in.n, root, t->rank);
    }
    coll_free(t, &out);
    coll_free(t, &in);
    free_parts(&p);
}

static void case_scatterv(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, true, scatterv);
}

static void allgather(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct coll_ints out = coll_ints(count), in = coll_ints(count * t->size);

    (void) root;
    coll_set(&out, 0, count, t->rank, -1);
    COLL(t, mode, Allgather, allgather, out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, comm);
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, -1);
    }
    ept_buffer_clear(&in.buffer);
    coll_set(&in, t->rank * count, count, t->rank, -1);
    COLL(t, mode, Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.v, count,
         MPI_INT32_T, comm);
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, -1);
    }
    coll_free(t, &out);
    coll_free(t, &in);
}

static void case_allgather(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false, allgather);
}

static void allgatherv(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct parts p = make_parts(t, count);
    struct coll_ints out = coll_ints(p.counts[t->rank]), in = coll_ints(p.total);

    (void) root;
    coll_set(&out, 0, out.n, t->rank, -1);
    COLL(t, mode, Allgatherv, allgatherv, out.v, out.n, MPI_INT32_T, in.v, p.counts, p.places,
         MPI_INT32_T, comm);
    check_parts(t, &in, &p, -1);
    ept_buffer_clear(&in.buffer);
    coll_set(&in, p.places[t->rank], out.n, t->rank, -1);
    COLL(t, mode, Allgatherv, allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.v, p.counts,
         p.places, MPI_INT32_T, comm);
    check_parts(t, &in, &p, -1);
    coll_free(t, &out);
    coll_free(t, &in);
    free_parts(&p);
}

static void case_allgatherv(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false, allgatherv);
}

static void set_all(struct ept *t, struct coll_ints *a, int count)
{
    for (int r = 0; r < t->size; ++r) {
        coll_set(a, r * count, count, t->rank, r);
    }
}

static void alltoall(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct coll_ints out = coll_ints(count * t->size), in = coll_ints(count * t->size);

    (void) root;
    set_all(t, &out, count);
    COLL(t, mode, Alltoall, alltoall, out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, comm);
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, t->rank);
    }
    set_all(t, &in, count);
    COLL(t, mode, Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.v, count, MPI_INT32_T,
         comm);
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, &in, r * count, count, r, t->rank);
    }
    coll_free(t, &out);
    coll_free(t, &in);
}

static void case_alltoall(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false, alltoall);
}

/* How much from gives to to in the alltoallv tests; symmetric, as MPI_IN_PLACE demands. */
static int pair_count(int from, int to, int count)
{
    return 0 == (from + to) % 3 ? count : count / (1 + (from + to) % 5);
}

static struct parts make_pair_parts(const struct ept *t, int count, bool reverse)
{
    struct parts p = {malloc((size_t) t->size * sizeof(int)),
                      malloc((size_t) t->size * sizeof(int)), 0};

    for (int i = 0; i < t->size; ++i) {
        int r = reverse ? t->size - 1 - i : i;

        p.counts[r] = pair_count(t->rank, r, count);
        p.places[r] = p.total;
        p.total += p.counts[r] + 1;
    }
    return p;
}

static void set_pairs(struct ept *t, struct coll_ints *a, const struct parts *p)
{
    for (int r = 0; r < t->size; ++r) {
        coll_set(a, p->places[r], p->counts[r], t->rank, r);
    }
}

static void check_pairs(struct ept *t, const struct coll_ints *a, const struct parts *p)
{
    for (int r = 0; r < t->size; ++r) {
        COLL_CHECK(t, a, p->places[r], p->counts[r], r, t->rank);
        COLL_CHECK_CLEAR(t, a, p->places[r] + p->counts[r], 1);
    }
}

static void alltoallv(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct parts po = make_pair_parts(t, count, true), pi = make_pair_parts(t, count, false);
    struct coll_ints out = coll_ints(po.total), in = coll_ints(pi.total);

    (void) root;
    set_pairs(t, &out, &po);
    COLL(t, mode, Alltoallv, alltoallv, out.v, po.counts, po.places, MPI_INT32_T, in.v, pi.counts,
         pi.places, MPI_INT32_T, comm);
    check_pairs(t, &in, &pi);
    ept_buffer_clear(&in.buffer);
    set_pairs(t, &in, &pi);
    COLL(t, mode, Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in.v,
         pi.counts, pi.places, MPI_INT32_T, comm);
    check_pairs(t, &in, &pi);
    coll_free(t, &out);
    coll_free(t, &in);
    free_parts(&po);
    free_parts(&pi);
}

static void case_alltoallv(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false, alltoallv);
}

/* alltoallw: displacements in bytes; every other rank's part goes as a type of pairs of ints. */
static void alltoallw(MPI_Comm comm, struct ept *t, enum coll_mode mode, int count, int root)
{
    struct parts p = make_pair_parts(t, 2 * count, true);
    struct coll_ints out = coll_ints(p.total), in = coll_ints(p.total);
    MPI_Datatype pair, *types = malloc((size_t) t->size * sizeof(MPI_Datatype));
    int *counts = malloc((size_t) t->size * sizeof(int));
    int *places = malloc((size_t) t->size * sizeof(int));

    (void) root;
    EPT_OK(t, MPI_Type_contiguous(2, MPI_INT32_T, &pair));
    EPT_OK(t, MPI_Type_commit(&pair));
    for (int r = 0; r < t->size; ++r) {
        bool pairs = 0 == r % 2 && 0 == p.counts[r] % 2;

        types[r] = pairs ? pair : MPI_INT32_T;
        counts[r] = pairs ? p.counts[r] / 2 : p.counts[r];
        places[r] = p.places[r] * (int) sizeof(int32_t);
    }
    set_pairs(t, &out, &p);
    COLL(t, mode, Alltoallw, alltoallw, out.v, counts, places, types, in.v, counts, places, types,
         comm);
    check_pairs(t, &in, &p);
    EPT_OK(t, MPI_Type_free(&pair));
    free(types);
    free(counts);
    free(places);
    coll_free(t, &out);
    coll_free(t, &in);
    free_parts(&p);
}

static void case_alltoallw(MPI_Comm comm, struct ept *t)
{
    each(comm, t, true, false, alltoallw);
}

/* A column of a matrix goes out, a row comes in. */
static void case_derived_types(MPI_Comm comm, struct ept *t)
{
    enum { ROWS = 300, COLUMNS = 5 };
    struct coll_ints matrix = coll_ints(ROWS * COLUMNS), rows = coll_ints(ROWS * t->size);
    MPI_Datatype column;

    EPT_OK(t, MPI_Type_vector(ROWS, 1, COLUMNS, MPI_INT32_T, &column));
    EPT_OK(t, MPI_Type_commit(&column));
    for (int mode = 0; mode < COLL_NUM_MODES; ++mode) {
        ept_phase(t, "%s", coll_mode_names[mode]);
        ept_buffer_clear(&matrix.buffer);
        ept_buffer_clear(&rows.buffer);
        for (int i = 0; i < ROWS; ++i) {
            matrix.v[i * COLUMNS] = coll_value(t->rank, -1, i);
        }
        COLL(t, mode, Allgather, allgather, matrix.v, 1, column, rows.v, ROWS, MPI_INT32_T, comm);
        for (int r = 0; r < t->size; ++r) {
            COLL_CHECK(t, &rows, r * ROWS, ROWS, r, -1);
        }
        COLL(t, mode, Bcast, bcast, matrix.v, 1, column, t->size - 1, comm);
        for (int i = 0; i < ROWS; ++i) {
            EPT_EQ(t, coll_value(t->size - 1, -1, i), matrix.v[i * COLUMNS]);
            EPT_EQ(t, 0x3a3a3a3a, matrix.v[i * COLUMNS + 1]);
        }
    }
    EPT_OK(t, MPI_Type_free(&column));
    coll_free(t, &matrix);
    coll_free(t, &rows);
}

/* Several nonblocking collectives under way, completed together with a receive by wildcard, which
 * must get the message and nothing of theirs. */
static void case_outstanding(MPI_Comm comm, struct ept *t)
{
    int count = 16 < t->size ? 20 : 500;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;

    for (int round = 0; round < 5; ++round) {
        struct coll_ints b = coll_ints(count), out = coll_ints(count * t->size);
        struct coll_ints in = coll_ints(count * t->size);
        int mine = t->rank + round, sum = -1, message = 1000 + t->rank, got = -1;
        MPI_Request requests[6];
        MPI_Status statuses[6];

        ept_phase(t, "round %d", round);
        if (0 == t->rank) {
            coll_set(&b, 0, count, 0, -1);
        }
        set_all(t, &out, count);
        EPT_OK(t, MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[3]));
        EPT_OK(t, MPI_Ibcast(b.v, count, MPI_INT32_T, 0, comm, &requests[0]));
        EPT_OK(t, MPI_Ialltoall(out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, comm,
                                &requests[1]));
        EPT_OK(t, MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[2]));
        EPT_OK(t, MPI_Ibarrier(comm, &requests[4]));
        EPT_OK(t, MPI_Isend(&message, 1, MPI_INT, to, 7, comm, &requests[5]));
        EPT_OK(t, MPI_Waitall(6, requests, statuses));
        EPT_EQ(t, 1000 + from, got);
        EPT_STATUS(t, &statuses[3], from, 7, sizeof(int));
        EPT_EQ(t, t->size * (t->size - 1) / 2 + round * t->size, sum);
        COLL_CHECK(t, &b, 0, count, 0, -1);
        for (int r = 0; r < t->size; ++r) {
            COLL_CHECK(t, &in, r * count, count, r, t->rank);
        }
        coll_free(t, &b);
        coll_free(t, &out);
        coll_free(t, &in);
    }
}

/* Persistent collectives started again and again, with new data each time. */
static void case_persistent_rounds(MPI_Comm comm, struct ept *t)
{
    int count = 16 < t->size ? 20 : 500, mine = 0, sum = 0;
    struct coll_ints b = coll_ints(count), out = coll_ints(count * t->size);
    struct coll_ints in = coll_ints(count * t->size);
    MPI_Request requests[4];

    EPT_OK(t, MPI_Bcast_init(b.v, count, MPI_INT32_T, 0, comm, MPI_INFO_NULL, &requests[0]));
    EPT_OK(t, MPI_Alltoall_init(out.v, count, MPI_INT32_T, in.v, count, MPI_INT32_T, comm,
                                MPI_INFO_NULL, &requests[1]));
    EPT_OK(t,
           MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[2]));
    EPT_OK(t, MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[3]));
    for (int round = 0; round < 6; ++round) {
        ept_phase(t, "round %d", round);
        ept_buffer_clear(&b.buffer);
        ept_buffer_clear(&in.buffer);
        if (0 == t->rank) {
            coll_set(&b, 0, count, round, -1);
        }
        for (int r = 0; r < t->size; ++r) {
            coll_set(&out, r * count, count, t->rank + 100 * round, r);
        }
        mine = t->rank * round;
        EPT_OK(t, MPI_Startall(4, requests));
        EPT_OK(t, MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
        COLL_CHECK(t, &b, 0, count, round, -1);
        EPT_EQ(t, round * (t->size * (t->size - 1) / 2), sum);
        for (int r = 0; r < t->size; ++r) {
            COLL_CHECK(t, &in, r * count, count, r + 100 * round, t->rank);
        }
    }
    for (int i = 0; i < 4; ++i) {
        EPT_OK(t, MPI_Request_free(&requests[i]));
    }
    coll_free(t, &b);
    coll_free(t, &out);
    coll_free(t, &in);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_barrier);
    EPT_CASE(t, case_bcast);
    EPT_CASE(t, case_gather);
    EPT_CASE(t, case_scatter);
    EPT_CASE(t, case_gatherv);
    EPT_CASE(t, case_scatterv);
    EPT_CASE(t, case_allgather);
    EPT_CASE(t, case_allgatherv);
    EPT_CASE(t, case_alltoall);
    EPT_CASE(t, case_alltoallv);
    EPT_CASE(t, case_alltoallw);
    EPT_CASE(t, case_derived_types);
    EPT_CASE(t, case_outstanding);
    EPT_CASE(t, case_persistent_rounds);
    return 0;
}
