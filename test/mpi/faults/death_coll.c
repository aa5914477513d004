/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process dies in a collective: before any of its members has come, when some have, when all have
 * and wait for others, when they are through, or whenever it is while calls follow each other; of
 * each kind, in each form, of each length, with roots anywhere.  One process after the other dies,
 * the last one first, each in another call; those that are left make a communicator of their own
 * before each, in which the ranks of a process do not always follow each other.  Processes have two
 * endpoints or three.
 *
 * A survivor gets its result, and that is right, or MPI_ERR_PROC_FAILED; where
 * the call waits for all, and not all of the dead had come, nobody gets a result.  The next call
 * fails at all, and the communicator can be freed.
 *
 *   --ep N      endpoints of each second process; the others have one more
 *   --first N   which calls: as many as there are deaths, from the N-th of a list on
 *
 * The program speaks TAP, process 0 for all; the launcher tells the survivors of each death.
 *
 * Guards: epcoll/hier, coll_epcoll_wait.c
 */

#include "death_rounds.h"

#include <stdbool.h>

enum { MOST_PROCESSES = 16, MOST_RANKS = 64, DIE_MS = 30, LATE_MS = 60, WARM_BYTES = 8192 };

enum kind {
    BARRIER,
    ALLREDUCE,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER,
    BCAST,
    REDUCE,
    GATHER,
    SCATTER,
    SCAN,
    ALLTOALLV,
    KINDS
};
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum phase { BEFORE, FIRST, REST, INSIDE, AFTER, LOOP, PHASES };

static const char *const kind_names[] = {"barrier", "allreduce", "allgather", "alltoall",
                                         "reduce_scatter_block", "bcast", "reduce", "gather",
                                         "scatter", "scan", "alltoallv"};
static const char *const form_names[] = {"blocking", "nonblocking", "persistent"};
static const char *const phase_names[] = {"before any has come", "when one has come",
                                          "when one has not come", "inside", "when all are through",
                                          "in a loop"};
static const int counts[] = {2, 5000, 60000}; /**< ints of a block */
enum { COUNTS = sizeof(counts) / sizeof(counts[0]), MOST_COUNT = 60000 };

/** What is called when a process dies. */
typedef struct call_t {
    enum kind kind;
    enum form form;
    enum phase phase;
    int count;
    int warm; /**< barriers and long bcasts before: with some there is memory of the node for both
               */
} call_t;

/** A member in a round. */
typedef struct member_t {
    MPI_Comm comm;
    int rank, size, root;
    int *in, *out;
    int counts[MOST_RANKS], places[MOST_RANKS];
    MPI_Request request;
} member_t;

static int local_count;                    /**< members of this process */
static atomic_int came[MOST_PROCESSES];    /**< members of this process in a round */
static atomic_int through[MOST_PROCESSES]; /**< likewise, whose call is over */
static atomic_int failures;

/** The n-th of a list in which adjacent ones differ in everything. */
static call_t call_number(int n)
{
    const unsigned int all = (unsigned int) KINDS * FORMS * PHASES * COUNTS;
    unsigned int rest = (unsigned int) n * 67u % all; /* without a common factor */
    call_t call;

    call.phase = (enum phase) (rest % PHASES);
    rest /= PHASES;
    call.form = (enum form) (rest % FORMS);
    rest /= FORMS;
    call.count = counts[rest % COUNTS];
    call.kind = (enum kind) (rest / COUNTS);
    call.warm = n % 2 * 10;
    return call;
}

static bool is_late_first(const call_t *call)
{
    return BEFORE == call->phase || FIRST == call->phase || REST == call->phase;
}

/** Does each wait for all? */
static bool is_of_all(enum kind kind)
{
    return REDUCE_SCATTER >= kind || ALLTOALLV == kind;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/** What a rank has for another one. */
static int datum(int from, int to, int i)
{
    return from * 1000 + to * 10 + i % 10;
}

static void fill(member_t *m, const call_t *call)
{
    for (int to = 0; to < m->size; ++to) {
        m->counts[to] = call->count;
        m->places[to] = to * call->count;
        for (int i = 0; i < call->count; ++i) {
            m->in[to * call->count + i] = datum(m->rank, to, i);
        }
    }
    memset(m->out, 0x5a, sizeof(int) * (size_t) (m->size * call->count));
    if (BCAST == call->kind && m->root == m->rank) {
        memcpy(m->out, m->in, sizeof(int) * (size_t) call->count);
    }
}

static int sum_of(int ranks, int to, int i)
{
    return 1000 * (ranks * (ranks - 1) / 2) + ranks * (to * 10 + i % 10);
}

static int expected(const member_t *m, const call_t *call, int block, int i)
{
    switch (call->kind) {
    case ALLREDUCE:
    case REDUCE:
        return sum_of(m->size, 0, i);
    case SCAN:
        return sum_of(m->rank + 1, 0, i);
    case REDUCE_SCATTER:
        return sum_of(m->size, m->rank, i);
    case BCAST:
        return datum(m->root, 0, i);
    case SCATTER:
        return datum(m->root, m->rank, i);
    case ALLTOALL:
    case ALLTOALLV:
        return datum(block, m->rank, i);
    default:
        return datum(block, 0, i);
    }
}

static bool is_right(const member_t *m, const call_t *call)
{
    const bool many = ALLGATHER == call->kind || GATHER == call->kind || ALLTOALL == call->kind
                      || ALLTOALLV == call->kind;
    const bool gets = BARRIER != call->kind
                      && ((GATHER != call->kind && REDUCE != call->kind) || m->root == m->rank);

    for (int block = 0; gets && block < (many ? m->size : 1); ++block) {
        for (int i = 0; i < call->count; ++i) {
            if (expected(m, call, block, i) != m->out[block * call->count + i]) {
                return false;
            }
        }
    }
    return true;
}

#define CALL(Name, name, ...)                                                            \
    (BLOCKING == call->form      ? MPI_##Name(__VA_ARGS__, m->comm)                      \
     : NONBLOCKING == call->form ? MPI_I##name(__VA_ARGS__, m->comm, &m->request)        \
                                 : MPI_##Name##_init(__VA_ARGS__, m->comm, MPI_INFO_NULL, \
                                                     &m->request))

/** Call it, begin it, or make the request. */
static int begin(member_t *m, const call_t *call)
{
    const int count = call->count;

    switch (call->kind) {
    case ALLREDUCE:
        return CALL(Allreduce, allreduce, m->in, m->out, count, MPI_INT, MPI_SUM);
    case ALLGATHER:
        return CALL(Allgather, allgather, m->in, count, MPI_INT, m->out, count, MPI_INT);
    case ALLTOALL:
        return CALL(Alltoall, alltoall, m->in, count, MPI_INT, m->out, count, MPI_INT);
    case ALLTOALLV:
        return CALL(Alltoallv, alltoallv, m->in, m->counts, m->places, MPI_INT, m->out, m->counts,
                    m->places, MPI_INT);
    case REDUCE_SCATTER:
        return CALL(Reduce_scatter_block, reduce_scatter_block, m->in, m->out, count, MPI_INT,
                    MPI_SUM);
    case BCAST:
        return CALL(Bcast, bcast, m->out, count, MPI_INT, m->root);
    case REDUCE:
        return CALL(Reduce, reduce, m->in, m->out, count, MPI_INT, MPI_SUM, m->root);
    case GATHER:
        return CALL(Gather, gather, m->in, count, MPI_INT, m->out, count, MPI_INT, m->root);
    case SCATTER:
        return CALL(Scatter, scatter, m->in, count, MPI_INT, m->out, count, MPI_INT, m->root);
    case SCAN:
        return CALL(Scan, scan, m->in, m->out, count, MPI_INT, MPI_SUM);
    default:
        return BLOCKING == call->form      ? MPI_Barrier(m->comm)
               : NONBLOCKING == call->form ? MPI_Ibarrier(m->comm, &m->request)
                                           : MPI_Barrier_init(m->comm, MPI_INFO_NULL, &m->request);
    }
}

/** Once; a persistent one has its request. */
static int once(member_t *m, const call_t *call)
{
    int rc = PERSISTENT == call->form ? MPI_Start(&m->request) : begin(m, call);

    if (BLOCKING != call->form && MPI_SUCCESS == rc) {
        rc = MPI_Wait(&m->request, MPI_STATUS_IGNORE);
    }
    return rc;
}

/** Again and again, until it fails.  A member that only gives need not notice a loss: all meet now and
 * then. */
static int again(member_t *m, const call_t *call, int calls)
{
    const int rc = once(m, call);

    return MPI_SUCCESS == rc && LOOP == call->phase && 0 == calls % 8 ? MPI_Barrier(m->comm) : rc;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int first_of(int of)
{
    int rank = 0;

    for (int p = 0; p < of; ++p) {
        rank += endpoints + (p + 1) % 2;
    }
    return rank;
}

/** A communicator of the processes up to the one that is to die: by process, or one of each in
 * turn. */
static MPI_Comm make(MPI_Comm world, int round, int victim)
{
    int ranks[MOST_RANKS], count = 0, rc;
    MPI_Group all, group;
    MPI_Comm comm = MPI_COMM_NULL;

    if (0 == round % 2) {
        for (; count < first_of(victim + 1); ++count) {
            ranks[count] = count;
        }
    } else {
        for (int local = endpoints; 0 <= local; --local) {
            for (int p = 0; p <= victim; ++p) {
                if (local < endpoints + (p + 1) % 2) {
                    ranks[count++] = first_of(p) + local;
                }
            }
        }
    }
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, count, ranks, &group);
    rc = MPI_Comm_create_group(world, group, 40 + round, &comm);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
    if (MPI_SUCCESS != rc || MPI_COMM_NULL == comm) {
        printf("not ok - process %d, round %d: no communicator of those that are left\n", process,
               round);
        exit(1);
    }
    return comm;
}

static void fail(const member_t *m, const call_t *call, const char *what, int class)
{
    atomic_fetch_add(&failures, 1);
    printf("not ok - %s %s of %d, root %d of %d, death %s: rank %d (process %d): %s, class %d\n",
           form_names[call->form], kind_names[call->kind], call->count, m->root, m->size,
           phase_names[call->phase], m->rank, process, what, class);
    fflush(stdout);
}

/** One that survives. */
static void survive(member_t *m, const call_t *call)
{
    int rc, next, calls = 0;

    if (INSIDE == call->phase && 0 == process) {
        sleep_ms(LATE_MS);
    }
    do {
        if (LOOP == call->phase) {
            fill(m, call);
        }
        rc = class_of(again(m, call, ++calls));
        if (MPI_SUCCESS == rc && !is_right(m, call)) {
            fail(m, call, "a wrong result", rc);
        }
    } while (LOOP == call->phase && MPI_SUCCESS == rc);
    next = class_of(MPI_Barrier(m->comm));
    if ((MPI_SUCCESS != rc && MPI_ERR_PROC_FAILED != rc)
        || (MPI_SUCCESS == rc && is_of_all(call->kind) && is_late_first(call))) {
        fail(m, call, "the call ends so", rc);
    }
    if (MPI_ERR_PROC_FAILED != next) {
        fail(m, call, "the next one ends so", next);
    }
}

/** One that is to die: main does it. */
static void perish(member_t *m, const call_t *call, int local, int round)
{
    const bool calls = FIRST == call->phase   ? 0 == local
                       : REST == call->phase ? 0 != local
                                             : BEFORE != call->phase;
    int done = 0;

    if (calls) {
        do {
            fill(m, call);
            (void) again(m, call, ++done);
            atomic_fetch_add(&through[round], 1);
        } while (LOOP == call->phase);
    }
    for (;;) {
        (void) pause();
    }
}

static void one_round(MPI_Comm world, member_t *m, int local, int round)
{
    const call_t call = call_number(first + round);
    const int victim = processes - 1 - round;

    m->comm = make(world, round, victim);
    m->request = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->size);
    m->root = (first + 7 * round) % m->size;
    atomic_store(&doing, kind_names[call.kind]);
    fill(m, &call);
    for (int i = 0; i < call.warm; ++i) {
        char some[WARM_BYTES] = "";

        MPI_Bcast(some, WARM_BYTES, MPI_BYTE, i % m->size, m->comm);
        MPI_Barrier(m->comm);
    }
    if (PERSISTENT == call.form) {
        (void) begin(m, &call);
    }
    MPI_Barrier(m->comm);
    atomic_fetch_add(&came[round], 1);
    if (process == victim) {
        perish(m, &call, local, round);
    }
    survive(m, &call);
    if (MPI_REQUEST_NULL != m->request) {
        MPI_Request_free(&m->request);
    }
    MPI_Comm_free(&m->comm);
    if (0 == process && 0 == local) {
        printf("%s %d - %s %s of %d, %d ranks, root %d, death %s\n",
               0 == atomic_load(&failures) ? "ok" : "not ok", round + 1, form_names[call.form],
               kind_names[call.kind], call.count, m->size, m->root, phase_names[call.phase]);
        fflush(stdout);
    }
}

static void *endpoint(void *argument)
{
    MPI_Comm world = *(MPI_Comm *) argument;
    member_t m = {.in = malloc(sizeof(int) * MOST_COUNT * MOST_RANKS),
                  .out = malloc(sizeof(int) * MOST_COUNT * MOST_RANKS)};
    int rank;

    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_rank(world, &rank);
    for (int round = 0; round < processes - 1; ++round) {
        one_round(world, &m, rank - first_of(process), round);
    }
    free(m.in);
    free(m.out);
    return NULL;
}

/** The process's last moments. */
static void die(int round)
{
    const call_t call = call_number(first + round);

    while (local_count > atomic_load(&came[round])) {
        sleep_ms(1);
    }
    if (AFTER == call.phase) {
        for (int ms = 0; local_count > atomic_load(&through[round]) && ms < 1000; ++ms) {
            sleep_ms(1);
        }
    } else {
        sleep_ms(LOOP == call.phase ? first % 17 : DIE_MS);
    }
    fflush(stdout);
    (void) kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
    rounds_begin(argc, argv);
    local_count = endpoints + (process + 1) % 2;
    rounds_run(local_count, endpoint, die);
    rounds_end();
}
