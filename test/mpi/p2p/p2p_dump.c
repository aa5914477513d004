/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Looking into the queues: pml_dump of one communicator and of an endpoint, and
 * mca_pml_epml_dump_all, which a debugger calls.  Each thing that can be on its way is put there
 * and must be found in the text, and gone when it is over.
 *
 *   --pending N   N rounds in which something must be held in a pending queue; with few send
 *   buffers
 *
 * Guards: pml_epml_dump.c, pml_epml_open.c
 */

#define _GNU_SOURCE

#include "dump_text.h"

enum { LARGE = 1 << 20, HUGE = 24 << 20 };

/* ---- one endpoint, with itself --------------------------------------------------------------- */

struct traffic {
    MPI_Comm exact, wild;
    char *out, *in;
    MPI_Request receives[4], sends[3];
};

static void start(struct ept *t, struct traffic *x)
{
    int flag = 0;

    EPT_OK(t, MPI_Irecv(x->in, 40, MPI_BYTE, t->rank, 11, x->exact, &x->receives[0]));
    EPT_OK(t,
           MPI_Irecv(x->in, 41, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, x->wild, &x->receives[1]));
    EPT_OK(t, MPI_Irecv(x->in, 42, MPI_BYTE, MPI_ANY_SOURCE, 5, x->wild, &x->receives[2]));
    EPT_OK(t, MPI_Irecv(x->in, 43, MPI_BYTE, t->rank, MPI_ANY_TAG, x->wild, &x->receives[3]));
    EPT_OK(t, MPI_Isend(x->out, 8, MPI_BYTE, t->rank, 21, x->exact, &x->sends[0]));
    EPT_OK(t, MPI_Issend(x->out, 100, MPI_BYTE, t->rank, 22, x->exact, &x->sends[1]));
    EPT_OK(t, MPI_Isend(x->out, LARGE, MPI_BYTE, t->rank, 23, x->exact, &x->sends[2]));
    while (0 == flag) {
        EPT_OK(t, MPI_Iprobe(t->rank, 23, x->exact, &flag, MPI_STATUS_IGNORE));
    }
}

/* What dumps of both kinds must say of the communicator "exact". */
static void check_exact(struct ept *t, const char *text)
{
    const int me = t->rank, process = t->proc;

    LINES(t, 1, text, "communicator \"exact %d\": rank %d of %d, context ", me, me, t->size);
    LINES(t, 1, text,
          "receive from rank %d (process %d) in \"exact %d\", tag 11, up to 40 bytes, waiting for "
          "a match, posted as number ",
          me, process, me);
    LINES(t, 1, text,
          "message from rank %d (process %d) in \"exact %d\", tag 21, 8 bytes, data here, waiting "
          "for a match",
          me, process, me);
    LINES(t, 1, text,
          "message from rank %d (process %d) in \"exact %d\", tag 22, 100 bytes, synchronous, data "
          "here, waiting for a match",
          me, process, me);
    LINES(t, 1, text,
          "message from rank %d (process %d) in \"exact %d\", tag 23, %d bytes, data at the "
          "sender, waiting for a match",
          me, process, me, LARGE);
    LINES(t, 1, text,
          "send to rank %d (process %d) in \"exact %d\", tag 22, 100 bytes, synchronous, waiting "
          "for acknowledgement",
          me, process, me);
    LINES(t, 1, text,
          "send to rank %d (process %d) in \"exact %d\", tag 23, %d bytes, waiting for a match", me,
          process, me, LARGE);
    LINES(t, 3, text, "message from ");
    LINES(t, 2, text, "send to ");
}

static void check_wild(struct ept *t, const char *text, int there)
{
    LINES(t, there, text, "communicator \"wild %d\"", t->rank);
    LINES(t, there, text, "from any source in \"wild %d\", any tag, up to 41 bytes", t->rank);
    LINES(t, there, text, "from any source in \"wild %d\", tag 5, up to 42 bytes", t->rank);
    LINES(t, there, text, "from rank %d (process %d) in \"wild %d\", any tag, up to 43 bytes",
          t->rank, t->proc, t->rank);
}

static void finish(struct ept *t, struct traffic *x)
{
    MPI_Message message;
    char *text;

    EPT_OK(t, MPI_Mprobe(t->rank, 21, x->exact, &message, MPI_STATUS_IGNORE));
    text = dump(t, x->exact, COMM);
    LINES(t, 1, text, ", 2 unexpected messages, 1 taken out by matched probes, ");
    LINES(t, 0, text, "tag 21");
    free(text);
    EPT_OK(t, MPI_Mrecv(x->in, 8, MPI_BYTE, &message, MPI_STATUS_IGNORE));
    for (int tag = 22; tag <= 23; ++tag) {
        EPT_OK(t, MPI_Recv(x->in, LARGE, MPI_BYTE, t->rank, tag, x->exact, MPI_STATUS_IGNORE));
    }
    EPT_OK(t, MPI_Waitall(3, x->sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; ++i) {
        EPT_OK(t, MPI_Cancel(&x->receives[i]));
        EPT_OK(t, MPI_Wait(&x->receives[i], MPI_STATUS_IGNORE));
    }
    text = dump(t, x->exact, ENDPOINT);
    LINES(t, 1, text, " 0 requests open, 0 unexpected messages, 0 taken out by matched probes");
    LINES(t, 0, text, "waiting for");
    free(text);
}

static void alone(struct ept *t, struct traffic *x)
{
    char *text;

    start(t, x);
    text = dump(t, x->exact, COMM);
    LINES(t, 1, text, "endpoint 0x");
    LINES(t, 1, text, " 6 requests open, 3 unexpected messages, 0 taken out by matched probes");
    check_exact(t, text);
    check_wild(t, text, 0);
    free(text);
    text = dump(t, x->exact, ENDPOINT);
    LINES(t, 1, text, "endpoint 0x");
    check_exact(t, text);
    check_wild(t, text, 1);
    free(text);
    finish(t, x);
}

/* Partitioned requests: not matched, and matched in the middle of a round. */
static void partitioned(struct ept *t, MPI_Comm comm)
{
    char *out = calloc(3, 1000), *in = malloc(3000), *text;
    MPI_Request sends[2], receives[2];
    int flag = 0;

    EPT_OK(t,
           MPI_Precv_init(in, 3, 1000, MPI_BYTE, t->rank, 31, comm, MPI_INFO_NULL, &receives[0]));
    EPT_OK(t, MPI_Psend_init(out, 3, 1000, MPI_BYTE, t->rank, 32, comm, MPI_INFO_NULL, &sends[1]));
    EPT_OK(t, MPI_Start(&receives[0]));
    EPT_OK(t, MPI_Start(&sends[1]));
    EPT_OK(t, MPI_Pready(1, sends[1]));
    EPT_OK(t, MPI_Iprobe(t->rank, 32, comm, &flag, MPI_STATUS_IGNORE)); /* a turn */
    EPT_EQ(t, 0, flag);
    text = dump(t, comm, COMM);
    LINES(t, 1, text, "partitioned receive from rank %d (process %d) in ", t->rank, t->proc);
    LINES(t, 1, text, "tag 31, up to 3000 bytes, waiting for a match");
    LINES(t, 1, text,
          "tag 32, 3000 bytes, 1 of 3 partitions ready, 0 sent, waiting for the receive");
    LINES(t, 1, text, "partitioned message from rank %d (process %d) in ", t->rank, t->proc);
    free(text);

    EPT_OK(t, MPI_Psend_init(out, 3, 1000, MPI_BYTE, t->rank, 31, comm, MPI_INFO_NULL, &sends[0]));
    EPT_OK(t,
           MPI_Precv_init(in, 3, 1000, MPI_BYTE, t->rank, 32, comm, MPI_INFO_NULL, &receives[1]));
    EPT_OK(t, MPI_Start(&sends[0]));
    EPT_OK(t, MPI_Start(&receives[1]));
    while (0 == flag) {
        EPT_OK(t, MPI_Parrived(receives[1], 1, &flag));
    }
    text = dump(t, comm, COMM);
    LINES(t, 1, text, "tag 31, up to 3000 bytes, 3000 of them missing");
    LINES(t, 1, text, "tag 32, up to 3000 bytes, 2000 of them missing");
    LINES(t, 1, text, "tag 32, 3000 bytes, 1 of 3 partitions ready, 1 sent");
    LINES(t, 0, text, "waiting for a match");
    free(text);
    EPT_OK(t, MPI_Pready_range(0, 2, sends[0]));
    EPT_OK(t, MPI_Pready(0, sends[1]));
    EPT_OK(t, MPI_Pready(2, sends[1]));
    EPT_OK(t, MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    EPT_OK(t, MPI_Waitall(2, receives, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2; ++i) {
        EPT_OK(t, MPI_Request_free(&sends[i]));
        EPT_OK(t, MPI_Request_free(&receives[i]));
    }
    free(out);
    free(in);
}

static void case_partitioned(MPI_Comm comm, struct ept *t)
{
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Barrier(dup));
    for (int turn = 0; turn < t->nlocal; ++turn) { /* stderr is the process's */
        ept_local_barrier(t);
        if (turn == t->local) {
            partitioned(t, dup);
        }
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_free(&dup));
}

enum { TURN = 41, OVER = 42 };

static int first_rank_of(const struct ept *t, int process)
{
    return process * t->nlocal;
}

/* One process at a time does what comes between these two, and nobody goes on before all have: what
 * the others send would be in the picture. */
static void begin_turn(MPI_Comm comm, struct ept *t)
{
    if (0 == t->local && 0 < t->proc) {
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, first_rank_of(t, t->proc - 1), TURN, comm,
                           MPI_STATUS_IGNORE));
    }
    ept_local_barrier(t);
}

static void end_turn(MPI_Comm comm, struct ept *t)
{
    ept_local_barrier(t);
    if (0 == t->local && t->proc + 1 < t->nprocs) {
        const int next = first_rank_of(t, t->proc + 1);

        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, next, TURN, comm));
        EPT_OK(t, MPI_Recv(NULL, 0, MPI_INT, next, OVER, comm, MPI_STATUS_IGNORE));
    }
    if (0 == t->local && 0 < t->proc) {
        EPT_OK(t, MPI_Send(NULL, 0, MPI_INT, first_rank_of(t, t->proc - 1), OVER, comm));
    }
    ept_local_barrier(t);
}

static void case_one_endpoint(MPI_Comm comm, struct ept *t)
{
    struct traffic x = {.out = calloc(1, LARGE), .in = malloc(LARGE)};
    char name[MPI_MAX_OBJECT_NAME];

    EPT_OK(t, MPI_Comm_dup(comm, &x.exact));
    EPT_OK(t, MPI_Comm_dup(comm, &x.wild));
    snprintf(name, sizeof(name), "exact %d", t->rank);
    EPT_OK(t, MPI_Comm_set_name(x.exact, name));
    snprintf(name, sizeof(name), "wild %d", t->rank);
    EPT_OK(t, MPI_Comm_set_name(x.wild, name));
    /* Late messages of the communicators' creation are no part of the picture. */
    EPT_OK(t, MPI_Barrier(x.exact));
    begin_turn(comm, t);
    for (int turn = 0; turn < t->nlocal; ++turn) {
        if (turn == t->local) {
            alone(t, &x);
        }
        ept_local_barrier(t);
    }
    end_turn(comm, t);
    EPT_OK(t, MPI_Comm_free(&x.wild));
    EPT_OK(t, MPI_Comm_free(&x.exact));
    free(x.out);
    free(x.in);
}

/* ---- all endpoints --------------------------------------------------------------------------- */

static void case_all(MPI_Comm comm, struct ept *t)
{
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Request request;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    snprintf(name, sizeof(name), "number %d", t->rank);
    EPT_OK(t, MPI_Comm_set_name(dup, name));
    EPT_OK(t, MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 77, dup, &request));
    ept_local_barrier(t);
    if (0 == t->local) {
        char *text = dump(t, comm, ALL);

        LINES(t, t->nlocal, text, "endpoint 0x");
        for (int i = 0; i < t->nlocal; ++i) {
            LINES(t, 1, text, "communicator \"number %d\": rank %d of ", t->rank + i, t->rank + i);
            LINES(t, 1, text, "receive from any source in \"number %d\", tag 77, up to 0 bytes",
                  t->rank + i);
        }
        free(text);
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Cancel(&request));
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    EPT_OK(t, MPI_Comm_free(&dup));
}

/* A line that begins so must go on so somewhere; looks at the first one. */
static bool line_has(const char *text, const char *begin, const char *rest)
{
    const char *line = strstr(text, begin), *found;

    if (NULL == line) {
        return false;
    }
    found = strstr(line, rest);
    return NULL != found && found < line + strcspn(line, "\n");
}

/* A thread is in MPI_Recv: its request is open like any other's. */
static void case_blocking(MPI_Comm comm, struct ept *t)
{
    char name[MPI_MAX_OBJECT_NAME], line[MPI_MAX_OBJECT_NAME + 32];
    int got = -1;
    MPI_Comm dup;

    EPT_OK(t, MPI_Comm_dup(comm, &dup));
    EPT_OK(t, MPI_Barrier(dup));
    /* The first looks at the second, the others are not in MPI. */
    snprintf(name, sizeof(name), "blocked %d", 0 == t->local ? t->rank + 1 : t->rank);
    EPT_OK(t, MPI_Comm_set_name(dup, name));
    ept_local_barrier(t);
    if (1 == t->local) {
        EPT_OK(t, MPI_Recv(&got, 1, MPI_INT, t->rank - 1, 55, dup, MPI_STATUS_IGNORE));
        EPT_EQ(t, t->rank, got);
    } else if (0 == t->local && 1 < t->nlocal) {
        char *text = dump(t, comm, ALL);
        const int to = t->rank + 1;

        snprintf(line, sizeof(line), "in \"%s\", tag 55", name);
        while (0 == lines_with(text, "%s", line)) {
            free(text);
            text = dump(t, comm, ALL);
        }
        /* Another process may be in the next barrier already, of which the one that is blocked
         * hears. */
        LINES(t, 1, text, " 1 requests open, ");
        LINES(t, t->nlocal - 1, text, " 0 requests open, ");
        snprintf(line, sizeof(line), "communicator \"%s\": rank %d ", name, to);
        EPT_CHECK(t, line_has(text, line, " 1 requests and matched messages"), "%s", text);
        free(text);
        EPT_OK(t, MPI_Send(&to, 1, MPI_INT, to, 55, dup));
    }
    ept_local_barrier(t);
    EPT_OK(t, MPI_Comm_free(&dup));
}

/* The dump is taken while others are at work on their endpoints. */
static void case_under_way(MPI_Comm comm, struct ept *t)
{
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size, got = -1;

    for (int round = 0; round < 100; ++round) {
        if (0 == t->local && 0 == round % 10) {
            free(dump(t, comm, ALL));
        }
        EPT_OK(t, MPI_Sendrecv(&round, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, comm,
                               MPI_STATUS_IGNORE));
        EPT_EQ(t, round, got);
    }
}

/* ---- what is being transferred --------------------------------------------------------------- */

/* Poll a request until it is done; has its endpoint's dump ever said so? */
static bool seen_while(struct ept *t, MPI_Comm comm, MPI_Request *request, const char *what)
{
    bool seen = false;

    for (int flag = 0; 0 == flag;) {
        char *text;

        EPT_OK(t, MPI_Test(request, &flag, MPI_STATUS_IGNORE));
        if (!seen && 0 == flag) {
            text = dump(t, comm, COMM);
            seen = 0 < lines_with(text, "%s", what);
            free(text);
        }
    }
    return seen;
}

/* One transfer to or from a partner.  @return has the receiver's dump shown it? */
static int transfer(MPI_Comm comm, struct ept *t, int partner, char *buffer, int count,
                    MPI_Datatype type)
{
    MPI_Request request;
    int seen;

    if (0 == t->proc % 2) {
        EPT_OK(t, MPI_Send(buffer, count, type, partner, 3, comm));
        EPT_OK(t, MPI_Recv(&seen, 1, MPI_INT, partner, 4, comm, MPI_STATUS_IGNORE));
    } else {
        EPT_OK(t, MPI_Irecv(buffer, count, type, partner, 3, comm, &request));
        seen = seen_while(t, comm, &request, ", transferring, ");
        EPT_OK(t, MPI_Send(&seen, 1, MPI_INT, partner, 4, comm));
    }
    return seen;
}

/* From the first rank of a process to the first of the next, in one piece and in many.  Now and
 * then all of it happens between two looks. */
static void case_transfer(MPI_Comm comm, struct ept *t)
{
    enum { TRIES = 20 };
    int partner = first_rank_of(t, t->proc ^ 1);
    MPI_Datatype strided;

    EPT_OK(t, MPI_Type_vector(HUGE / 64, 32, 64, MPI_BYTE, &strided));
    EPT_OK(t, MPI_Type_commit(&strided));
    for (int pieces = 0; pieces < 2 && (t->proc ^ 1) < t->nprocs; ++pieces) {
        ept_phase(t, "pieces %d", pieces);
        ept_local_barrier(t);
        if (0 == t->local) {
            char *buffer = calloc(1, HUGE);
            int tries = 0;

            while (TRIES > tries
                   && !transfer(comm, t, partner, buffer, 0 == pieces ? HUGE : 1,
                                0 == pieces ? MPI_BYTE : strided)) {
                ++tries;
            }
            EPT_CHECK(t, TRIES > tries, "no dump of %d has shown the transfer", TRIES);
            free(buffer);
        }
        ept_local_barrier(t);
    }
    EPT_OK(t, MPI_Type_free(&strided));
}

/* ---- pending queues -------------------------------------------------------------------------- */

/* The first rank of a process floods the second, which is not there. */
static void case_pending(MPI_Comm comm, struct ept *t)
{
    enum { MANY = 40, BYTES = 3000 };
    const long rounds = ept_option_long("pending", 0);
    static unsigned char out[BYTES];
    unsigned char in[BYTES];
    int held = 0;

    for (long round = 0; round < rounds; ++round) {
        MPI_Request requests[MANY];

        ept_local_barrier(t);
        for (int i = 0; 0 == t->local && i < MANY; ++i) {
            EPT_OK(t, MPI_Isend(out, BYTES, MPI_BYTE, t->rank + 1, 4, comm, &requests[i]));
        }
        if (0 == t->local) {
            char *text = dump(t, comm, COMM);

            if (0 < lines_with(text, "pending queue for an endpoint of process %d: ", t->proc)) {
                ++held;
                LINES(t, 1, text, "tag 4, 3000 bytes, held in pending queue, at place 1\n");
            }
            free(text);
        }
        ept_local_barrier(t);
        if (0 == t->local) {
            EPT_OK(t, MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        }
        for (int i = 0; 1 == t->local && i < MANY; ++i) {
            EPT_OK(t, MPI_Recv(in, BYTES, MPI_BYTE, t->rank - 1, 4, comm, MPI_STATUS_IGNORE));
        }
    }
    if (0 == t->local) {
        EPT_CHECK(t, 0 < held, "nothing was held in a pending queue in %ld rounds", rounds);
    }
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    EPT_CASE(t, case_one_endpoint);
    EPT_CASE(t, case_partitioned);
    if (2 <= t->nprocs) {
        EPT_CASE(t, case_transfer);
    } else {
        ept_skip(t, "case_transfer", "needs two processes");
    }
    if (0 < ept_option_long("pending", 0)) {
        EPT_CASE(t, case_pending);
    } else {
        ept_skip(t, "case_pending", "needs few send buffers");
    }
    EPT_CASE(t, case_all);
    EPT_CASE(t, case_blocking);
    EPT_CASE(t, case_under_way);
    return 0;
}
