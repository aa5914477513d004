/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress, counted in calls: how many tests an operation takes all of whose messages are there, by
 * each call that tests; while the thread does nothing else, while it goes on sending and posting,
 * and while others flood its endpoint.  And that a thread that waits in a flood looks after the
 * rest of the process now and then; and, bound to one core with its peer, yields it.
 *
 * Each process has endpoints of its own; the threads of the peers are done, but for those of the
 * flood, before the calls are counted.
 *
 * Guards: pml_epml_progress.c, pml_epml_wait.c, pml_epml_waiting.c
 */

#define _GNU_SOURCE

#include "ept.h"
#include "next_progress.h"

#include <dirent.h>
#include <sched.h>
#include <unistd.h>

enum {
    ME = 0,
    PEER = 1,
    ENDPOINTS = 2,
    TAG = 1,
    TAG_FLOOD = 2,
    TAG_OTHER = 3,
    WAITING = 200,  /* messages of a flood that are there already: fewer than an SPSC ring holds */
    LARGE = 200000, /* bytes: fetched by the receiver */
    CALLS_MOST = 4,
    CALLS_ROUNDS = 16, /* where the peer must answer, several times, while calls are counted */
    GIVE_UP = 10000
};

/* ---- libmpi's progress, counted ------------------------------------------------------------- */

static _Thread_local long progressed;
static _Thread_local bool is_peer;
static atomic_long peer_looks; /* of a peer that must answer */

int opal_progress(void)
{
    ++progressed;
    if (is_peer) {
        atomic_fetch_add(&peer_looks, 1);
    }
    return next_progress();
}

/* ---- operations ----------------------------------------------------------------------------- */

typedef enum op_t {
    OP_RECV,
    OP_RECV_LARGE,
    OP_SEND_LARGE,
    OP_SSEND,
    OP_BARRIER,
    OP_ALLREDUCE,
    OP_SENDRECV,
    OP_IDUP,
    OP_OB1,
    OPS
} op_t;

static const char *const op_name[] = {
    "receive",          "large receive", "large send",
    "synchronous send", "Ibarrier",      "Iallreduce",
    "Isendrecv",        "Comm_idup",     "receive of an ordinary communicator"};

/** One try: the operation of two endpoints, and what disturbs it. */
struct
try {
    struct ept *t;
    MPI_Comm ep[ENDPOINTS];
    op_t op;
    char *buffer[2];
    int value[2], sum[2];
    MPI_Comm dup[2];
    atomic_bool begun; /**< the peer has sent what it can send without an answer */
    atomic_bool ended; /**< it has all that it waits for */
    atomic_bool stop;
};

static void begin(struct try *y, int me, MPI_Request *request)
{
    struct ept *t = y->t;
    MPI_Comm comm = y->ep[me];

    y->value[me] = 40 + me;
    switch (y->op) {
    case OP_RECV:
        if (ME == me) {
            EPT_OK(t, MPI_Irecv(&y->value[me], 1, MPI_INT, PEER, TAG, comm, request));
        } else {
            EPT_OK(t, MPI_Isend(&y->value[me], 1, MPI_INT, ME, TAG, comm, request));
        }
        break;
    case OP_RECV_LARGE:
    case OP_SEND_LARGE:
        if ((OP_RECV_LARGE == y->op) == (ME == me)) {
            EPT_OK(t, MPI_Irecv(y->buffer[me], LARGE, MPI_BYTE, 1 - me, TAG, comm, request));
        } else {
            memset(y->buffer[me], 7, LARGE);
            EPT_OK(t, MPI_Isend(y->buffer[me], LARGE, MPI_BYTE, 1 - me, TAG, comm, request));
        }
        break;
    case OP_SSEND:
        if (ME == me) {
            EPT_OK(t, MPI_Issend(&y->value[me], 1, MPI_INT, PEER, TAG, comm, request));
        } else {
            EPT_OK(t, MPI_Irecv(&y->value[me], 1, MPI_INT, ME, TAG, comm, request));
        }
        break;
    case OP_BARRIER:
        EPT_OK(t, MPI_Ibarrier(comm, request));
        break;
    case OP_ALLREDUCE:
        EPT_OK(t, MPI_Iallreduce(&y->value[me], &y->sum[me], 1, MPI_INT, MPI_SUM, comm, request));
        break;
    case OP_SENDRECV:
        EPT_OK(t, MPI_Isendrecv(&y->value[me], 1, MPI_INT, 1 - me, TAG, &y->sum[me], 1, MPI_INT,
                                1 - me, TAG, comm, request));
        break;
    case OP_IDUP:
        EPT_OK(t, MPI_Comm_idup(comm, &y->dup[me], request));
        break;
    default:
        if (ME == me) {
            EPT_OK(t, MPI_Irecv(&y->value[me], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, request));
        } else {
            EPT_OK(t, MPI_Isend(&y->value[me], 1, MPI_INT, 0, TAG, MPI_COMM_SELF, request));
        }
        break;
    }
}

static void check(struct try *y)
{
    struct ept *t = y->t;

    switch (y->op) {
    case OP_RECV:
    case OP_OB1:
        EPT_EQ(t, 41, y->value[ME]);
        break;
    case OP_RECV_LARGE:
        EPT_EQ(t, 7, y->buffer[ME][LARGE - 1]);
        break;
    case OP_SSEND:
        EPT_EQ(t, 40, y->value[PEER]);
        break;
    case OP_ALLREDUCE:
        EPT_EQ(t, 81, y->sum[ME]);
        break;
    case OP_SENDRECV:
        EPT_EQ(t, 41, y->sum[ME]);
        break;
    default:
        break;
    }
}

/* A thread of the peer's. */
static void *be_peer(void *arg)
{
    struct try *y = arg;
    MPI_Request request;

    begin(y, PEER, &request);
    is_peer = true;
    atomic_store(&y->begun, true);
    EPT_OK(y->t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    atomic_store(&y->ended, true);
    return NULL;
}

/** The peer's turn: until it waits for us again, or for nothing more. */
static void await_peer(struct try *y)
{
    const long before = atomic_load(&peer_looks);

    while (2 > atomic_load(&peer_looks) - before && !atomic_load(&y->ended)) {
        sched_yield();
    }
}

static void *flood(void *arg)
{
    struct try *y = arg;
    int x = 0;

    while (!atomic_load(&y->stop)) {
        EPT_OK(y->t, MPI_Send(&x, 1, MPI_INT, ME, TAG_FLOOD, y->ep[PEER]));
    }
    return NULL;
}

/* ---- calls ---------------------------------------------------------------------------------- */

typedef enum call_t { TEST, GET_STATUS, TESTANY, TESTALL, TESTSOME, CALLS } call_t;

static const char *const call_name[] = {"MPI_Test", "MPI_Request_get_status", "MPI_Testany",
                                        "MPI_Testall", "MPI_Testsome"};

static bool test_once(struct ept *t, call_t call, MPI_Request *request)
{
    int flag = 0, index, count = 0;

    switch (call) {
    case TEST:
        EPT_OK(t, MPI_Test(request, &flag, MPI_STATUS_IGNORE));
        break;
    case GET_STATUS:
        EPT_OK(t, MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
        break;
    case TESTANY:
        EPT_OK(t, MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE));
        break;
    case TESTALL:
        EPT_OK(t, MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE));
        break;
    default:
        EPT_OK(t, MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE));
        flag = 0 < count;
        break;
    }
    return 0 != flag;
}

/** Calls that work on the endpoint and look at nothing that has come. */
static void send_and_post(struct try *y)
{
    MPI_Request request;
    int x = 0;

    EPT_OK(y->t, MPI_Isend(&x, 1, MPI_INT, PEER, TAG_OTHER, y->ep[ME], &request));
    EPT_OK(y->t, MPI_Request_free(&request));
    EPT_OK(y->t, MPI_Irecv(&x, 1, MPI_INT, PEER, TAG_OTHER, y->ep[ME], &request));
    EPT_OK(y->t, MPI_Cancel(&request));
    EPT_OK(y->t, MPI_Request_free(&request));
}

typedef enum trouble_t { NOTHING, BUSY, FULL, FLOOD, TROUBLES } trouble_t;

static const char *const trouble_name[] = {"nothing else", "sending and posting",
                                           "messages of others in front", "in a flood"};

/** Test until it is complete.  @return number of calls */
static int count_calls(struct try *y, call_t call, trouble_t trouble, MPI_Request *request)
{
    for (int calls = 1; calls < GIVE_UP; ++calls) {
        if (BUSY == trouble) {
            send_and_post(y);
        }
        if (OP_IDUP == y->op) {
            await_peer(y);
        }
        if (test_once(y->t, call, request)) {
            return calls;
        }
    }
    return GIVE_UP;
}

static void run_try(struct ept *t, op_t op, call_t call, trouble_t trouble)
{
    const bool answers = OP_RECV_LARGE == op || OP_IDUP == op; /* the peer waits for them */
    const int most = OP_IDUP == op ? CALLS_ROUNDS : CALLS_MOST;
    struct try y = {.t = t, .op = op, .dup = {MPI_COMM_NULL, MPI_COMM_NULL}};
    pthread_t peer, flooder;
    MPI_Request request;
    int calls, x = 0;

    ept_phase(t, "%s, %s, %s", op_name[op], call_name[call], trouble_name[trouble]);
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, y.ep));
    y.buffer[0] = calloc(LARGE, 1);
    y.buffer[1] = calloc(LARGE, 1);
    for (int i = 0; FULL == trouble && i < WAITING; ++i) {
        EPT_OK(t, MPI_Send(&x, 1, MPI_INT, ME, TAG_FLOOD, y.ep[PEER]));
    }
    begin(&y, ME, &request);
    pthread_create(&peer, NULL, be_peer, &y);
    if (answers) {
        while (!atomic_load(&y.begun)) {
            usleep(100);
        }
    } else {
        pthread_join(peer, NULL);
    }
    if (FLOOD == trouble) {
        pthread_create(&flooder, NULL, flood, &y);
    }
    calls = count_calls(&y, call, trouble, &request);
    EPT_CHECK(t, calls <= most, "%s, %s: %d calls of %s, expected at most %d", op_name[op],
              trouble_name[trouble], calls, call_name[call], most);
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    atomic_store(&y.stop, true);
    if (FLOOD == trouble) {
        while (0 != pthread_tryjoin_np(flooder, NULL)) {
            EPT_OK(t, MPI_Iprobe(PEER, TAG_OTHER, y.ep[ME], &x, MPI_STATUS_IGNORE));
        }
    }
    if (answers) {
        pthread_join(peer, NULL);
    }
    check(&y);
    for (int i = 0; i < ENDPOINTS; ++i) {
        if (MPI_COMM_NULL != y.dup[i]) {
            EPT_OK(t, MPI_Comm_free(&y.dup[i]));
        }
        EPT_OK(t, MPI_Comm_free(&y.ep[i]));
        free(y.buffer[i]);
    }
}

static void run_all(struct ept *t, trouble_t trouble)
{
    for (int op = 0; op < OPS; ++op) {
        for (int call = 0; call < CALLS; ++call) {
            run_try(t, (op_t) op, (call_t) call, trouble);
        }
    }
}

static void case_alone(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_all(t, NOTHING);
}

static void case_sending_and_posting(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_all(t, BUSY);
}

static void case_behind_others(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_all(t, FULL);
}

static void case_in_a_flood(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    run_all(t, FLOOD);
}

/* ---- waiting in a flood --------------------------------------------------------------------- */

/** Messages between looks at the process, at most: 16 turns of 32 messages, of two rings. */
enum { BETWEEN_LOOKS = 16 * 2 * 32 };

typedef enum wait_t { RECV, WAITANY, WAIT, PROBE, MPROBE, WAITS } wait_t;

static const char *const wait_name[] = {"MPI_Recv", "MPI_Waitany", "MPI_Wait", "MPI_Probe",
                                        "MPI_Mprobe"};

/** Receive the last message.  @return its value */
static int wait_by(struct ept *t, wait_t way, MPI_Comm comm)
{
    MPI_Request requests[2];
    MPI_Message message;
    int x = 5, y = 0, z = 0, index = -1;

    switch (way) {
    case PROBE:
        EPT_OK(t, MPI_Probe(PEER, TAG, comm, MPI_STATUS_IGNORE)); /* fall through */
    case RECV:
        EPT_OK(t, MPI_Recv(&y, 1, MPI_INT, PEER, TAG, comm, MPI_STATUS_IGNORE));
        break;
    case MPROBE:
        EPT_OK(t, MPI_Mprobe(PEER, TAG, comm, &message, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Mrecv(&y, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        break;
    default:
        EPT_OK(t, MPI_Irecv(&z, 1, MPI_INT, 0, TAG_OTHER, MPI_COMM_SELF, &requests[0]));
        EPT_OK(t, MPI_Irecv(&y, 1, MPI_INT, PEER, TAG, comm, &requests[1]));
        if (WAITANY == way) {
            EPT_OK(t, MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
            EPT_EQ(t, 1, index);
        } else {
            EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        }
        EPT_OK(t, MPI_Send(&x, 1, MPI_INT, 0, TAG_OTHER, MPI_COMM_SELF));
        EPT_OK(t, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        break;
    }
    return y;
}

/* All messages are in the inbox, so every turn but the last ones brings something, and the one that
 * is waited for is the last.  (Its SPSC rings must hold them: btl_epshm_spsc_cells.) */
static void case_wait_in_a_flood(MPI_Comm comm, struct ept *t)
{
    const long messages = ept_option_long("messages", 0);
    MPI_Comm ep[ENDPOINTS];

    (void) comm;
    for (int way = 0; way < WAITS; ++way) {
        int x = 0;

        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
        for (long i = 0; i < messages; ++i) {
            EPT_OK(t, MPI_Send(&x, 1, MPI_INT, ME, TAG_FLOOD, ep[PEER]));
        }
        x = 5;
        EPT_OK(t, MPI_Send(&x, 1, MPI_INT, ME, TAG, ep[PEER]));
        progressed = 0;
        EPT_EQ(t, 5, wait_by(t, (wait_t) way, ep[ME]));
        EPT_CHECK(t, progressed >= messages / BETWEEN_LOOKS,
                  "%s: %ld looks at the process in a flood of %ld messages, expected %ld",
                  wait_name[way], progressed, messages, messages / BETWEEN_LOOKS);
        EPT_OK(t, MPI_Comm_free(&ep[ME]));
        EPT_OK(t, MPI_Comm_free(&ep[PEER]));
    }
}

/* A probe that always finds something looks after the process, too. */
static void case_always_found(MPI_Comm comm, struct ept *t)
{
    enum { PROBES = 160, BETWEEN = 16 };
    MPI_Comm ep[ENDPOINTS];

    (void) comm;
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
    for (int matched = 0; matched < 2; ++matched) {
        progressed = 0;
        for (int i = 0; i < PROBES; ++i) {
            MPI_Message message;
            int x = i, found = 0;

            EPT_OK(t, MPI_Send(&x, 1, MPI_INT, ME, TAG, ep[PEER]));
            x = -1;
            if (matched) {
                EPT_OK(t, MPI_Improbe(PEER, TAG, ep[ME], &found, &message, MPI_STATUS_IGNORE));
                EPT_EQ(t, 1, found);
                EPT_OK(t, MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
            } else {
                EPT_OK(t, MPI_Iprobe(PEER, TAG, ep[ME], &found, MPI_STATUS_IGNORE));
                EPT_EQ(t, 1, found);
                EPT_OK(t, MPI_Recv(&x, 1, MPI_INT, PEER, TAG, ep[ME], MPI_STATUS_IGNORE));
            }
            EPT_EQ(t, i, x);
        }
        EPT_CHECK(t, progressed >= PROBES / BETWEEN,
                  "%s: %ld looks at the process in %d probes, expected %d",
                  matched ? "MPI_Improbe" : "MPI_Iprobe", progressed, PROBES, PROBES / BETWEEN);
    }
    EPT_OK(t, MPI_Comm_free(&ep[ME]));
    EPT_OK(t, MPI_Comm_free(&ep[PEER]));
}

/* One request of the list is complete whenever it is asked for: the other one comes about all the
 * same. */
static void case_always_one(MPI_Comm comm, struct ept *t)
{
    MPI_Comm ep[ENDPOINTS];
    MPI_Request requests[2];

    (void) comm;
    for (int form = 0; form < 4; ++form) {
        int x = 3, y = 0, z = 0, calls, index = 0, flag = 0, indices[2];

        EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, ep));
        EPT_OK(t, MPI_Irecv(&y, 1, MPI_INT, PEER, TAG, ep[ME], &requests[1]));
        EPT_OK(t, MPI_Send(&x, 1, MPI_INT, ME, TAG, ep[PEER]));
        for (calls = 0; calls < GIVE_UP; ++calls) {
            EPT_OK(t, MPI_Isend(&z, 1, MPI_INT, PEER, TAG_FLOOD, ep[ME], &requests[0]));
            if (0 == form) {
                EPT_OK(t, MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
            } else if (1 == form) {
                EPT_OK(t, MPI_Waitsome(2, requests, &index, indices, MPI_STATUSES_IGNORE));
            } else if (2 == form) {
                EPT_OK(t, MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE));
            } else {
                EPT_OK(t, MPI_Testsome(2, requests, &index, indices, MPI_STATUSES_IGNORE));
            }
            if (MPI_REQUEST_NULL == requests[1] || 3 == y) {
                break;
            }
        }
        EPT_CHECK(t, calls <= 16, "form %d: %d calls, expected at most 16", form, calls);
        EPT_OK(t, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        EPT_EQ(t, 3, y);
        EPT_OK(t, MPI_Comm_free(&ep[ME]));
        EPT_OK(t, MPI_Comm_free(&ep[PEER]));
    }
}

/* ---- fewer cores for the process than the node has
 * -------------------------------------------- */

enum { TRIPS = 300 };

static void *pong(void *arg)
{
    struct try *y = arg;
    int x = 0;

    for (int i = 0; i < TRIPS; ++i) {
        EPT_OK(y->t, MPI_Recv(&x, 1, MPI_INT, ME, TAG, y->ep[PEER], MPI_STATUS_IGNORE));
        EPT_OK(y->t, MPI_Send(&x, 1, MPI_INT, ME, TAG, y->ep[PEER]));
    }
    return NULL;
}

/** Let all threads of the process run on one core only. */
static void bind_all(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *entry;
    cpu_set_t set;
    int cpu = sched_getcpu();

    CPU_ZERO(&set);
    CPU_SET(0 <= cpu ? cpu : 0, &set);
    while (NULL != (entry = readdir(tasks))) {
        if (0 < atoi(entry->d_name)) {
            (void) sched_setaffinity(atoi(entry->d_name), sizeof(set), &set);
        }
    }
    closedir(tasks);
}

/* Two endpoints of a process that is bound to one core are one too many: a thread that waits gives
 * the core to the other at once, and does not spin until it is taken away. */
static void case_bound(MPI_Comm comm, struct ept *t)
{
    struct try y = {.t = t};
    pthread_t other;

    (void) comm;
    bind_all();
    EPT_OK(t, MPIX_Comm_create_endpoints(MPI_COMM_SELF, ENDPOINTS, MPI_INFO_NULL, y.ep));
    progressed = 0;
    pthread_create(&other, NULL, pong, &y);
    for (int i = 0; i < TRIPS; ++i) {
        EPT_OK(t, MPI_Send(&i, 1, MPI_INT, PEER, TAG, y.ep[ME]));
        EPT_OK(t, MPI_Recv(&y.value[0], 1, MPI_INT, PEER, TAG, y.ep[ME], MPI_STATUS_IGNORE));
        EPT_EQ(t, i, y.value[0]);
    }
    pthread_join(other, NULL);
    /* One look for 256 turns in vain, and it would be 100000 before the first yield. */
    EPT_CHECK(t, progressed <= 16 * TRIPS, "%ld looks at the process in %d trips, expected %d",
              progressed, TRIPS, 16 * TRIPS);
    EPT_OK(t, MPI_Comm_free(&y.ep[ME]));
    EPT_OK(t, MPI_Comm_free(&y.ep[PEER]));
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (0 != ept_option_long("bound", 0)) {
        EPT_CASE(t, case_bound);
        return 0;
    }
    if (0 < ept_option_long("messages", 0)) {
        EPT_CASE(t, case_wait_in_a_flood);
        return 0;
    }
    EPT_CASE(t, case_alone);
    EPT_CASE(t, case_sending_and_posting);
    EPT_CASE(t, case_behind_others);
    EPT_CASE(t, case_in_a_flood);
    EPT_CASE(t, case_always_one);
    EPT_CASE(t, case_always_found);
    return 0;
}
