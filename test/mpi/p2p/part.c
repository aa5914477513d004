/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Partitioned communication: numbers of partitions that differ at sender and receiver, any order of
 * readiness, what MPI_Parrived may say and when, sizes from nothing to megabytes, layouts with
 * gaps, lists and ranges, short and long receives, threads that mark partitions.
 *
 * Cases named plain_ need no more than Open MPI's own module offers, and run on ordinary
 * communicators too (--plain-only 1).
 *
 * Guards: pml_epml_ipart.c, pml_epml_part_recv.c, pml_epml_part_send.c, pml_epml_frag.c,
 * pml_epml_part_run.c
 */

#include "ept.h"

enum { TAG = 7, MAX_PARTS = 64, ROUNDS = 3 };

void test_process_begin(void)
{
    /* libmpi reports errors of partitioned calls there, whatever the communicator. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/** One line of a ring: a send to one rank and a receive from another, of as many bytes. */
struct line {
    int to, from, tag;
    int sparts, rparts;
    size_t bytes; /**< a multiple of both */
    struct ept_buffer out, in;
    MPI_Request requests[2]; /**< send, receive */
    bool seen[MAX_PARTS];    /**< partitions of the receive that MPI_Parrived was true for */
    uint64_t random;
};

static uint64_t line_key(const struct ept *t, int source, int tag, int round)
{
    return ept_mix(t->seed, (uint64_t) source, (uint64_t) tag, (uint64_t) round);
}

static void line_open(MPI_Comm comm, struct ept *t, struct line *l, int shift, int tag, int sparts,
                      int rparts, size_t bytes)
{
    l->to = (t->rank + shift) % t->size;
    l->from = (t->rank - shift % t->size + t->size) % t->size;
    l->tag = tag;
    l->sparts = sparts;
    l->rparts = rparts;
    l->bytes = bytes;
    l->out = ept_buffer(bytes, 5);
    l->in = ept_buffer(bytes, 3);
    l->random = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) tag, bytes);
    EPT_OK(t, MPI_Psend_init(l->out.data, sparts, (MPI_Count) (bytes / (size_t) sparts), MPI_BYTE,
                             l->to, tag, comm, MPI_INFO_NULL, &l->requests[0]));
    EPT_OK(t, MPI_Precv_init(l->in.data, rparts, (MPI_Count) (bytes / (size_t) rparts), MPI_BYTE,
                             l->from, tag, comm, MPI_INFO_NULL, &l->requests[1]));
}

static void line_close(struct ept *t, struct line *l)
{
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Request_free(&l->requests[i]));
        EPT_CHECK(t, MPI_REQUEST_NULL == l->requests[i], "request %d is not null", i);
    }
    ept_buffer_free(&l->out);
    ept_buffer_free(&l->in);
}

static void line_begin(struct line *l)
{
    ept_buffer_clear(&l->in);
    memset(l->seen, 0, sizeof(l->seen));
}

/** What has arrived must be right, and what once has must have for ever. */
static void line_look(struct ept *t, struct line *l, int round)
{
    const size_t size = l->bytes / (size_t) l->rparts;

    for (int p = 0; p < l->rparts; ++p) {
        const size_t at = (size_t) p * size;
        int flag = -1;

        EPT_OK(t, MPI_Parrived(l->requests[1], p, &flag));
        EPT_CHECK(t, 0 == flag || 1 == flag, "flag %d", flag);
        EPT_CHECK(t, flag || !l->seen[p], "partition %d has arrived, and then not", p);
        if (flag && !l->seen[p]) {
            l->seen[p] = true;
            ept_check_fill(t, __FILE__, __LINE__, l->in.data + at, at, size,
                           line_key(t, l->from, l->tag, round));
        }
    }
}

static void line_fill(struct ept *t, struct line *l, int p, int round)
{
    const size_t size = l->bytes / (size_t) l->sparts;
    const size_t at = (size_t) p * size;

    ept_fill(l->out.data + at, at, size, line_key(t, t->rank, l->tag, round));
}

/** Wait for a line's two requests, looking at the receive meanwhile. */
static void line_finish(struct ept *t, struct line *l, int round)
{
    MPI_Status statuses[2];
    int flag = 0;

    while (!flag) {
        line_look(t, l, round);
        EPT_OK(t, MPI_Testall(2, l->requests, &flag, statuses));
    }
    EPT_STATUS(t, &statuses[1], l->from, l->tag, l->bytes);
    EPT_FILL(t, l->in.data, l->bytes, line_key(t, l->from, l->tag, round));
    EPT_GUARDS(t, &l->in);
    EPT_GUARDS(t, &l->out);
}

/** One round: partitions filled and marked one by one in random order. */
static void line_round(struct ept *t, struct line *l, int round)
{
    int order[MAX_PARTS];

    ept_phase(t, "to %d from %d: %zu bytes in %d and %d partitions, round %d", l->to, l->from,
              l->bytes, l->sparts, l->rparts, round);
    line_begin(l);
    ept_shuffle(order, l->sparts, &l->random);
    EPT_OK(t, MPI_Startall(2, l->requests));
    for (int i = 0; i < l->sparts; ++i) {
        line_fill(t, l, order[i], round);
        EPT_OK(t, MPI_Pready(order[i], l->requests[0]));
        line_look(t, l, round);
    }
    line_finish(t, l, round);
}

static void line_rounds(MPI_Comm comm, struct ept *t, int shift, int sparts, int rparts,
                        size_t bytes, int rounds)
{
    struct line l;

    line_open(comm, t, &l, shift, TAG, sparts, rparts, bytes);
    for (int round = 0; round < rounds; ++round) {
        line_round(t, &l, round);
    }
    line_close(t, &l);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/** With care for Open MPI 5.0's module (persist): it takes a partition that is not marked yet for
 * sent if it gets a chance to look between start and marking, and MPI_Startall of several new
 * requests starts the first one only. */
static void case_plain_rounds(MPI_Comm comm, struct ept *t)
{
    int shifts[4];
    const int count = ept_shifts(t, shifts);

    for (int i = 0; i < 2 * count; ++i) {
        const int parts = 0 == i % 2 ? 8 : 1;
        struct line l;

        line_open(comm, t, &l, shifts[i / 2], TAG, parts, parts, 0 == i % 2 ? 8000 : 100000);
        for (int round = 0; round < ROUNDS; ++round) {
            ept_phase(t, "shift %d, %d partitions, round %d", shifts[i / 2], parts, round);
            line_begin(&l);
            for (int p = 0; p < parts; ++p) {
                line_fill(t, &l, p, round);
            }
            EPT_OK(t, MPI_Start(&l.requests[1]));
            EPT_OK(t, MPI_Start(&l.requests[0]));
            EPT_OK(t, MPI_Pready_range(0, parts - 1, l.requests[0]));
            line_finish(t, &l, round);
        }
        line_close(t, &l);
    }
}

/** Everything differs: numbers of partitions, sizes around every switch of protocol; to oneself
 * too. */
static void case_partitions(MPI_Comm comm, struct ept *t)
{
    static const int parts[][2] = {{1, 1}, {1, 8}, {8, 1}, {4, 6}, {6, 4}, {64, 3}, {5, 64}};
    static const size_t units[] = {0, 1, 8, 111, 1000, 5000};
    int shifts[5];
    const int count = ept_shifts(t, shifts);

    shifts[count] = 0;
    for (int i = 0; i <= count; ++i) {
        for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); ++k) {
            for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); ++u) {
                line_rounds(comm, t, shifts[i], parts[k][0], parts[k][1],
                            units[u] * (size_t) parts[k][0] * (size_t) parts[k][1],
                            8 < t->size ? 1 : 2);
            }
        }
    }
}

static void case_large(MPI_Comm comm, struct ept *t)
{
    const size_t most = 8 < t->size ? (size_t) 1 << 20 : (size_t) 3 << 20;
    int shifts[4];
    const int count = ept_shifts(t, shifts);

    for (int i = 0; i < count; ++i) {
        line_rounds(comm, t, shifts[i], 2, 4, 2 * most, 2);
        line_rounds(comm, t, shifts[i], 3, 2, 6 * (most / 6), 2);
    }
}

/** Ranges and lists, the rounds' halves in any order. */
static void case_ranges(MPI_Comm comm, struct ept *t)
{
    struct line l;

    for (int k = 0; k < 4; ++k) {
        const size_t unit = (size_t[]){3, 100, 3000, 150000}[k];

        line_open(comm, t, &l, 1 % t->size, TAG, 24, 12, 24 * unit);
        for (int round = 0; round < ROUNDS; ++round) {
            int list[8] = {23, 8, 22, 9, 10, 15, 16, 14};

            ept_phase(t, "unit %zu round %d", unit, round);
            line_begin(&l);
            EPT_OK(t, MPI_Startall(2, l.requests));
            for (int p = 0; p < 24; ++p) {
                line_fill(t, &l, p, round);
            }
            EPT_OK(t, MPI_Pready_range(17, 21, l.requests[0]));
            line_look(t, &l, round);
            EPT_OK(t, MPI_Pready_list(8, list, l.requests[0]));
            line_look(t, &l, round);
            EPT_OK(t, MPI_Pready_range(0, 7, l.requests[0]));
            EPT_OK(t, MPI_Pready_range(11, 11, l.requests[0]));
            EPT_OK(t, MPI_Pready(13, l.requests[0]));
            /* Partition 6 of the receive lacks a half as long as nobody has marked 12. */
            for (int i = 0; i < 200; ++i) {
                int flag = 1;

                EPT_OK(t, MPI_Parrived(l.requests[1], 6, &flag));
                EPT_EQ(t, 0, flag);
            }
            EPT_OK(t, MPI_Barrier(comm));
            EPT_OK(t, MPI_Pready(12, l.requests[0]));
            line_finish(t, &l, round);
        }
        line_close(t, &l);
    }
}

static _Thread_local int errors_seen;

static void see_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    (void) code;
    ++errors_seen;
}

/** See a receive off, which must end like that; errors go through the communicator's handler. */
static void wait_or_test(struct ept *t, MPI_Request *request, bool wait, int expected,
                         MPI_Status *status)
{
    int rc = MPI_SUCCESS;

    errors_seen = 0;
    if (wait) {
        rc = MPI_Wait(request, status);
    } else {
        for (int flag = 0; MPI_SUCCESS == rc && !flag;) {
            rc = MPI_Test(request, &flag, status);
        }
    }
    EPT_CLASS(t, expected, rc);
    EPT_EQ(t, MPI_SUCCESS != expected, errors_seen);
}

/** A receive that is longer than its send, and one that is too short. */
static void case_lengths(MPI_Comm comm, struct ept *t)
{
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    static const size_t sizes[][2] = {{4000, 6000},     {6000, 4000},     {6000, 3500},
                                      {400000, 100001}, {100001, 400000}, {1000, 0},
                                      {0, 1000}};
    MPI_Errhandler handler;

    EPT_OK(t, MPI_Comm_create_errhandler(see_error, &handler));
    EPT_OK(t, MPI_Comm_set_errhandler(comm, handler));
    EPT_OK(t, MPI_Errhandler_free(&handler));

    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); ++k) {
        const size_t sent = sizes[k][0], room = sizes[k][1];
        struct ept_buffer out = ept_buffer(4 * (sent / 4), 1), in = ept_buffer(room, 2);
        MPI_Request requests[2];

        EPT_OK(t, MPI_Psend_init(out.data, 4, (MPI_Count) (sent / 4), MPI_BYTE, to, TAG, comm,
                                 MPI_INFO_NULL, &requests[0]));
        EPT_OK(t, MPI_Precv_init(in.data, 1, (MPI_Count) room, MPI_BYTE, from, TAG, comm,
                                 MPI_INFO_NULL, &requests[1]));
        for (int round = 0; round < ROUNDS; ++round) {
            const uint64_t key = ept_mix(t->seed, (uint64_t) from, k, (uint64_t) round);
            MPI_Status status;
            int flag = 0;

            ept_phase(t, "%zu bytes into %zu, round %d", sent, room, round);
            ept_buffer_clear(&in);
            ept_fill(out.data, 0, out.size,
                     ept_mix(t->seed, (uint64_t) t->rank, k, (uint64_t) round));
            EPT_OK(t, MPI_Startall(2, requests));
            for (int p = 3; 0 <= p; --p) {
                EPT_OK(t, MPI_Pready(p, requests[0]));
            }
            wait_or_test(t, &requests[1], 0 == k % 2,
                         out.size > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS, &status);
            EPT_STATUS(t, &status, from, TAG, out.size < room ? out.size : room);
            EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
            EPT_FILL(t, in.data, out.size < room ? out.size : room, key);
            EPT_GUARDS(t, &in);
            if (out.size > room) {
                break; /* Open MPI frees requests with errors, persistent ones too */
            }
            EPT_OK(t, MPI_Parrived(requests[1], 0, &flag)); /* inactive */
            EPT_EQ(t, 1, flag);
        }
        EPT_OK(t, MPI_Request_free(&requests[0]));
        if (MPI_REQUEST_NULL != requests[1]) {
            EPT_OK(t, MPI_Request_free(&requests[1]));
        }
        ept_buffer_free(&out);
        ept_buffer_free(&in);
    }
    EPT_OK(t, MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
}

enum { GAP = -77 };

/** Compare ints first, first + 3, ... , each with a gap behind it or none, and what is between them
 * or behind them. */
static int count_wrong(const int *in, int ints, bool gap, int first)
{
    int wrong = 0;

    for (int i = 0; i < ints; ++i) {
        wrong += first + 3 * i != in[gap ? 2 * i : i];
        wrong += GAP != (gap ? in[2 * i + 1] : in[ints + i]);
    }
    return wrong;
}

/** Layouts with gaps, at one rank or both: PARTS partitions of COUNT pairs of an int each second
 * place, seen as ints without gaps at the other rank. */
static void case_types(MPI_Comm comm, struct ept *t)
{
    enum { SPARTS = 6, RPARTS = 4 };
    const int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    MPI_Datatype gappy;

    EPT_OK(t, MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gappy));
    EPT_OK(t, MPI_Type_commit(&gappy));
    for (int k = 0; k < 12; ++k) {
        const int each = (int[]){2, 500, 30000}[k / 4], ints = SPARTS * RPARTS * each;
        const bool sgap = 0 != (k & 1), rgap = 0 != (k & 2);
        int *out = malloc(2 * (size_t) ints * sizeof(int));
        int *in = malloc(2 * (size_t) ints * sizeof(int));
        MPI_Request requests[2];

        EPT_OK(t, MPI_Psend_init(out, SPARTS, RPARTS * each, sgap ? gappy : MPI_INT, to, TAG, comm,
                                 MPI_INFO_NULL, &requests[0]));
        EPT_OK(t, MPI_Precv_init(in, RPARTS, SPARTS * each, rgap ? gappy : MPI_INT, from, TAG, comm,
                                 MPI_INFO_NULL, &requests[1]));
        for (int round = 0; round < ROUNDS; ++round) {
            uint64_t random = ept_mix(t->seed, (uint64_t) t->rank, (uint64_t) k, (uint64_t) round);
            int order[SPARTS], wrong;

            ept_phase(t, "%d ints, gaps %d %d, round %d", ints, sgap, rgap, round);
            ept_shuffle(order, SPARTS, &random);
            for (int i = 0; i < 2 * ints; ++i) {
                in[i] = GAP;
                out[i] = GAP;
            }
            for (int i = 0; i < ints; ++i) {
                out[sgap ? 2 * i : i] = 1000 * t->rank + round + 3 * i;
            }
            EPT_OK(t, MPI_Startall(2, requests));
            for (int i = 0; i < SPARTS; ++i) {
                EPT_OK(t, MPI_Pready(order[i], requests[0]));
            }
            EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            wrong = count_wrong(in, ints, rgap, 1000 * from + round);
            EPT_EQ(t, 0, wrong);
        }
        EPT_OK(t, MPI_Request_free(&requests[0]));
        EPT_OK(t, MPI_Request_free(&requests[1]));
        free(out);
        free(in);
    }
    EPT_OK(t, MPI_Type_free(&gappy));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4 };

struct marker {
    pthread_t thread;
    struct ept *t;
    struct line *line;
    int number, round;
    pthread_barrier_t *together;
};

static void *mark(void *arg)
{
    struct marker *m = arg;

    pthread_barrier_wait(m->together);
    for (int p = m->number; p < m->line->sparts; p += THREADS) {
        line_fill(m->t, m->line, p, m->round);
        EPT_OK(m->t, MPI_Pready(p, m->line->requests[0]));
    }
    return NULL;
}

/** Threads that do not own the endpoint mark partitions of one request while its owner waits. */
static void case_threads(MPI_Comm comm, struct ept *t)
{
    int level;

    MPI_Query_thread(&level);
    if (MPI_THREAD_MULTIPLE > level) {
        return;
    }
    for (int k = 0; k < 3; ++k) {
        struct line l;

        pthread_barrier_t together;

        pthread_barrier_init(&together, NULL, THREADS);
        line_open(comm, t, &l, 1 % t->size, TAG, MAX_PARTS, 16,
                  MAX_PARTS * (size_t[]){8, 700, 20000}[k]);
        for (int round = 0; round < (0 == k ? 40 : 10); ++round) {
            struct marker markers[THREADS];

            ept_phase(t, "size %d round %d", k, round);
            line_begin(&l);
            EPT_OK(t, MPI_Startall(2, l.requests));
            for (int i = 0; i < THREADS; ++i) {
                markers[i] = (struct marker){
                    .t = t, .line = &l, .number = i, .round = round, .together = &together};
                pthread_create(&markers[i].thread, NULL, mark, &markers[i]);
            }
            if (0 == round % 2) {
                line_finish(t, &l, round);
            } else {
                EPT_OK(t, MPI_Waitall(2, l.requests, MPI_STATUSES_IGNORE));
                EPT_FILL(t, l.in.data, l.bytes, line_key(t, l.from, l.tag, round));
            }
            for (int i = 0; i < THREADS; ++i) {
                pthread_join(markers[i].thread, NULL);
            }
        }
        line_close(t, &l);
        pthread_barrier_destroy(&together);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_plain_rounds);
    if (0 != ept_option_long("plain-only", 0)) {
        return 0;
    }
    EPT_CASE(t, case_partitions);
    EPT_CASE(t, case_large);
    EPT_CASE(t, case_ranges);
    EPT_CASE(t, case_lengths);
    EPT_CASE(t, case_types);
    EPT_CASE(t, case_threads);
    return 0;
}
