/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A process dies in the middle of its endpoints' traffic.  The runner looks at what the survivors
 * print, at the status, and at what is left behind (kind "death" of test/lib/Ept/Kinds.pm); so this
 * program has a main() of its own and no TAP.
 *
 *   --ep N        endpoints per process
 *   --how WAY     what the survivors are at: see the table ways
 *   --errors return | fatal
 *   --end finalize | apart | leave   how the survivors end; leave: without MPI_Finalize, whose
 *   fence the
 *                            launcher may never complete after a death, and with status 0: where
 *                            several survivors abort, prterun 3.0.8 ends the job once for each of
 *                            them, and corrupts its heap or hangs; apart: the second process
 *                            finalizes when the first one has come out of it, and waits for it no
 *                            longer than it must
 *   --child fork | spawn   the process that dies leaves a child behind, which runs on: a copy of it, or
 *                          another program
 *   --after MS    from the start of the traffic to the death
 *
 * The process with the highest rank dies.  Endpoint e of every other process talks with endpoint e
 * of it, but for the last endpoint of the first two processes, if there are three and more: those
 * two are bystanders that talk with each other, before, during and after the death.
 *
 * A survivor prints one line, "rank R: CLASS after MS ms", and another one for what comes later:
 * sends and receives towards the dead must fail at once, those among survivors must go on.
 *
 * EPT-PARTS: death_p2p.c death_after.c death_merge.c death_window.c
 * EPT-WITH: TOP/test/client/epclient.c
 *
 * Guards: pml_epml_base_error.c, pml_epml_pmix.c, pml_epml_finalize.c, pml_epml_lost_launcher.c,
 * pml_epml_lost.c, pml_epml_liveness.c, pml_epml_rndv_cancel.c, common_ep_help.c, btl_epofi_liveness.c,
 * btl_epofi_sockets.c, btl_epshm_node_lost.c, pml_epml_creation.c, pml_epml_bootstrap.c,
 * pml_epml_traversal.c, pml_epml_discovery.c, pml_epml_service.c,
 * coll_epcoll_exchange.c, coll_epcoll_pending.c, coll_epcoll_schedule.c
 */

#include "death.h"

#include "test/client/epclient.h"
#include "word.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>

extern char **environ;

int endpoints = 1;
static int processes, process;
static const char *way = "recv";
static const char *errors = "return";
static const char *end = "finalize";
int after_ms = 500;
static const char *child = "";
static atomic_int started; /**< endpoints of this process whose traffic has begun */

/* ---- what the endpoints are at: all of them, or nothing -------------------------------------- */

static int way_barrier(survivor_t *s)
{
    int rc;

    do {
        rc = MPI_Barrier(s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Of a component that uses the engine's interface: in memory of process and node, or by messages
 * of
 * its own. */
static int way_client(survivor_t *s)
{
    int rc;

    do {
        rc = epclient_barrier(s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Communicators are made, and freed, all the time. */
static int way_create(survivor_t *s)
{
    MPI_Comm dup;
    int rc;

    do {
        rc = MPI_Comm_dup(s->comm, &dup);
        if (MPI_SUCCESS == rc) {
            MPI_Comm_free(&dup);
        }
    } while (MPI_SUCCESS == rc);
    return rc;
}

static int way_allreduce(survivor_t *s)
{
    int rc;

    do {
        MPI_Request request;

        rc = MPI_Iallreduce(MPI_IN_PLACE, s->buffer, 1000, MPI_CHAR, MPI_BOR, s->comm, &request);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Nonblocking and persistent ones, short ones as well; on one node these take no message. */
static int way_later(survivor_t *s)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int rc = MPI_Barrier_init(s->comm, MPI_INFO_NULL, &request[0]);

    for (int i = 0; i < 10 && MPI_SUCCESS == rc; ++i) {
        rc = MPI_Barrier(s->comm);
    }
    while (MPI_SUCCESS == rc) {
        rc = MPI_Start(&request[0]);
        rc = MPI_SUCCESS == rc ? MPI_Wait(&request[0], MPI_STATUS_IGNORE) : rc;
        for (int count = 1; count < LARGE && MPI_SUCCESS == rc; count *= 300) {
            rc = MPI_Iallreduce(MPI_IN_PLACE, s->buffer, count, MPI_CHAR, MPI_BOR, s->comm,
                                &request[1]);
            rc = MPI_SUCCESS == rc ? MPI_Wait(&request[1], MPI_STATUS_IGNORE) : rc;
        }
        if (MPI_SUCCESS == rc) {
            rc = MPI_Ibarrier(s->comm, &request[1]);
            rc = MPI_SUCCESS == rc ? MPI_Wait(&request[1], MPI_STATUS_IGNORE) : rc;
        }
    }
    return rc;
}

/**
 * Rank 1 fetches from rank 0, for longer than the last rank lives, to whom it sends: the collective
 * has failed before the fetch is over.  Takes an MPI_Alltoall whose first step is this, and
 * test/lib/fault_fabric.c.
 */
static int way_shift(survivor_t *s)
{
    void (*fault)(const char *, int, int, int) = NULL;
    char *from = calloc(1, LARGE);
    int rc;

    *(void **) &fault = dlsym(RTLD_DEFAULT, "ept_fault");
    if (1 == s->rank && NULL != fault) {
        fault("read", 0, EAGAIN, after_ms + 500);
    }
    if (s->is_partner) {
        (void) pause();
    }
    rc = MPI_Alltoall(from, LARGE / s->size, MPI_CHAR, s->buffer, LARGE / s->size, MPI_CHAR,
                      s->comm);
    free(from);
    return rc;
}

/** Steps follow each other in lockstep, each of a send and a receive. */
static int way_ring(survivor_t *s)
{
    int rc;

    do {
        rc = MPI_Allreduce(MPI_IN_PLACE, s->buffer, LARGE, MPI_CHAR, MPI_BOR, s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** Of coll/basic, which returns what it got from the messages as it is. */
static int way_alltoallw(survivor_t *s)
{
    int counts[64], places[64];
    MPI_Datatype types[64];
    char *from = calloc(1, LARGE);
    int rc;

    for (int i = 0; i < s->size; ++i) {
        counts[i] = 1000;
        places[i] = i * 1000;
        types[i] = MPI_CHAR;
    }
    do {
        rc = MPI_Alltoallw(from, counts, places, types, s->buffer, counts, places, types, s->comm);
    } while (MPI_SUCCESS == rc);
    free(from);
    return rc;
}

/** Between two groups, one of which loses a member. */
static int way_inter(survivor_t *s)
{
    const int half = s->size / 2;
    const bool left = s->rank < half;
    MPI_Comm side = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    int rc = MPI_Comm_split(s->comm, left, s->rank, &side);

    if (MPI_SUCCESS == rc) {
        rc = MPI_Intercomm_create(side, 0, s->comm, left ? half : 0, TAG, &inter);
    }
    while (MPI_SUCCESS == rc) {
        rc = MPI_Allreduce(s->buffer, s->buffer + LARGE / 2, 1000, MPI_CHAR, MPI_BOR, inter);
    }
    if (MPI_COMM_NULL != inter) {
        MPI_Comm_free(&inter);
    }
    if (MPI_COMM_NULL != side) {
        MPI_Comm_free(&side);
    }
    return rc;
}

/** Does the other side's leader come to the next meeting?  One that has failed says no, as its last
 * word; then another survivor may have got what it has not. */
static int comes(survivor_t *s, MPI_Comm side, bool left, int leader)
{
    int word = 1, rc = MPI_SUCCESS;

    if (!left) {
        return s->rank != leader ? MPI_SUCCESS : MPI_Send(&word, 1, MPI_INT, 0, TAG + 3, s->comm);
    }
    if (0 == s->rank) {
        rc = MPI_Recv(&word, 1, MPI_INT, leader, TAG + 3, s->comm, MPI_STATUS_IGNORE);
        word = MPI_SUCCESS == rc ? word : 0;
    }
    MPI_Bcast(&word, 1, MPI_INT, 0, side);
    return 0 == word ? MPI_ERR_PROC_FAILED : MPI_SUCCESS;
}

/** Two groups meet again and again, one of which loses a member: its leader, or another one. */
static int way_meet(survivor_t *s)
{
    const int half = s->size / 2, last_word = 0;
    const bool left = s->rank < half;
    MPI_Comm side = MPI_COMM_NULL;
    int rc = MPI_Comm_split(s->comm, left, s->rank, &side);

    for (int leader = half; MPI_SUCCESS == rc; leader = half + s->size - 1 - leader) {
        MPI_Comm inter;

        rc = comes(s, side, left, leader);
        if (MPI_SUCCESS == rc) {
            rc = MPI_Intercomm_create(side, left ? 0 : leader - half, s->comm, left ? leader : 0,
                                      TAG, &inter);
        }
        if (MPI_SUCCESS == rc) {
            MPI_Comm_free(&inter);
        }
    }
    if (half == s->rank) {
        MPI_Send(&last_word, 1, MPI_INT, 0, TAG + 3, s->comm);
    }
    MPI_Barrier(s->comm); /* by now it knows of the death by itself, not only what others say */
    if (MPI_COMM_NULL != side) {
        MPI_Comm_free(&side);
    }
    return rc;
}

static int way_bcast(survivor_t *s)
{
    int rc;

    do {
        rc = MPI_Bcast(s->buffer, LARGE, MPI_CHAR, 0, s->comm);
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** A receive is posted, and nobody turns the endpoint until long after the death: what the sender
 * has offered is fetched all the same, and the two that live do not lose each other. */
static int way_late(survivor_t *s)
{
    int rc;

    do {
        MPI_Request request;

        (void) usleep(0 == s->rank ? 200000u : 0u); /* the others have posted theirs */
        rc = MPI_Ibcast(s->buffer, LARGE, MPI_CHAR, 0, s->comm, &request);
        if (MPI_SUCCESS == rc) {
            (void) usleep(0 == s->rank ? 0u : 1000u * ((unsigned int) after_ms + 1000u));
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } while (MPI_SUCCESS == rc);
    return rc;
}

/** The second process has left a collective, and freed its endpoint, when the first one comes to
 * it, which offers it something large.  It is in MPI_Finalize, and goes nowhere before the first one is
 * through: if it has gone, that was what has ended the collective. */
static int way_offer(survivor_t *s)
{
    int rc;

    if (1 == s->rank) {
        rc = MPI_Barrier(s->comm);
        MPI_Comm_free(&s->comm);
        word_say("freed");
        return rc;
    }
    if (s->is_partner) {
        (void) pause();
    }
    word_await("freed");
    rc = MPI_Bcast(s->buffer, LARGE, MPI_CHAR, 0, s->comm);
    return word_is_said("finalized") ? MPI_ERR_OTHER : rc;
}

/** Nothing at all: nobody has noticed anything when the death finds it in MPI_Finalize. */
static int way_none(survivor_t *s)
{
    if (s->is_partner) {
        (void) pause();
    }
    return MPI_SUCCESS;
}

static const struct {
    const char *name;
    int (*run)(survivor_t *s);
    bool all; /**< takes every member: there can be no bystanders */
} ways[] = {
    {"recv", way_recv, false},
    {"irecv", way_irecv, false},
    {"probe", way_probe, false},
    {"iprobe", way_iprobe, false},
    {"any", way_any, false},
    {"pingpong", way_pingpong, false},
    {"stream", way_stream, false},
    {"flood", way_flood, false},
    {"stuck", way_stuck, false},
    {"unmatched", way_unmatched, false},
    {"part", way_part, false},
    {"barrier", way_barrier, true},
    {"allreduce", way_allreduce, true},
    {"bcast", way_bcast, true},
    {"later", way_later, true},
    {"late", way_late, true},
    {"alltoallw", way_alltoallw, true},
    {"inter", way_inter, true},
    {"create", way_create, true},
    {"window", way_window, true},
    {"meet", way_meet, true},
    {"merge", way_merge, true},
    {"shift", way_shift, true},
    {"ring", way_ring, true},
    {"offer", way_offer, true},
    {"none", way_none, true},
    {"client", way_client, true},
};

static int chosen = -1;

/* ---- one endpoint ---------------------------------------------------------------------------- */

static void *endpoint(void *context)
{
    survivor_t s = {.comm = *(MPI_Comm *) context, .bystander = -1};
    double start;
    int rc, local;

    MPI_Comm_set_errhandler(s.comm, 0 == strcmp(errors, "fatal") ? MPI_ERRORS_ARE_FATAL
                                                                 : MPI_ERRORS_RETURN);
    MPI_Comm_rank(s.comm, &s.rank);
    MPI_Comm_size(s.comm, &s.size);
    local = s.rank % endpoints;
    s.is_partner = s.rank >= s.size - endpoints;
    s.partner = s.is_partner ? local : s.size - endpoints + local;
    s.buffer = calloc(1, LARGE);
    if (2 < processes && 1 < endpoints && !ways[chosen].all && local == endpoints - 1) {
        s.bystander = 0 == process ? s.rank + endpoints : 1 == process ? s.rank - endpoints : -1;
    }
    MPI_Barrier(s.comm);
    atomic_fetch_add(&started, 1);

    start = MPI_Wtime();
    if (s.is_partner && local == endpoints - 1 && 2 < processes && 1 < endpoints
        && !ways[chosen].all) {
        rc = way_recv(&s); /* its partners are bystanders */
    } else if (0 <= s.bystander) {
        stand_by(&s);
        rc = MPI_SUCCESS;
    } else {
        rc = ways[chosen].run(&s);
    }
    if (ways[chosen].all) {
        mark_buffer(&s);
    }
    if (0 > s.bystander) {
        printf("rank %d: %s after %d ms\n", s.rank, class_name(rc),
               (int) (1e3 * (MPI_Wtime() - start)));
    }
    if (MPI_COMM_NULL == s.comm) {
        *(MPI_Comm *) context = MPI_COMM_NULL;
    } else if (way_none != ways[chosen].run) {
        if (MPI_SUCCESS != rc) {
            try_again(&s);
        }
        if (way_offer != ways[chosen].run) {
            create_again(&s);
            go_on(&s); /* else there is nobody to go on with */
        }
        if (ways[chosen].all) {
            check_buffer(&s);
        }
    }
    fflush(stdout);
    free(s.buffer);
    return NULL;
}

static void arguments(int argc, char **argv)
{
    for (int i = 1; i < argc - 1; i += 2) {
        if (0 == strcmp(argv[i], "--ep")) {
            endpoints = atoi(argv[i + 1]);
        } else if (0 == strcmp(argv[i], "--how")) {
            way = argv[i + 1];
        } else if (0 == strcmp(argv[i], "--errors")) {
            errors = argv[i + 1];
        } else if (0 == strcmp(argv[i], "--end")) {
            end = argv[i + 1];
        } else if (0 == strcmp(argv[i], "--child")) {
            child = argv[i + 1];
        } else if (0 == strcmp(argv[i], "--after")) {
            after_ms = atoi(argv[i + 1]);
        }
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); ++i) {
        chosen = 0 == strcmp(ways[i].name, way) ? (int) i : chosen;
    }
    if (0 > chosen || 1 > endpoints || MOST_EP < endpoints) {
        fprintf(stderr, "death: bad arguments\n");
        exit(2);
    }
}

/** A child that lives until the survivors are through, or for long. */
static void leave_child(void)
{
    char wait[] = "i=0; while test ! -e \"$TMPDIR/through.0\" -a $i -lt 300; do sleep 0.1; "
                  "i=$((i + 1)); done";
    char *command[] = {"sh", "-c", wait, NULL};
    pid_t pid;

    if (0 == strcmp(child, "spawn")) {
        (void) posix_spawn(&pid, "/bin/sh", NULL, NULL, command, environ);
    } else if (0 == strcmp(child, "fork") && 0 == fork()) {
        char name[4096];

        (void) snprintf(name, sizeof(name), "%s/through.0", getenv("TMPDIR"));
        for (int i = 0; i < 300 && 0 != access(name, F_OK); ++i) {
            (void) usleep(100000);
        }
        _exit(0);
    }
}

/** One of two moments of process 0. */
static void at_end(bool ended)
{
    if (ended && 0 == process) {
        word_say("ended");
    } else if (!ended && 1 == process) {
        word_await("ended");
    }
}

/** Until all survivors are through: none shall see that another one leaves, which is a death, too.
 * Not by MPI; the folder is the job's own. */
static void await_the_others(void)
{
    char word[32];

    (void) snprintf(word, sizeof(word), "through.%d", process);
    word_say(word);
    for (int i = 0; i < processes - 1; ++i) {
        (void) snprintf(word, sizeof(word), "through.%d", i);
        word_await(word);
    }
}

/** What this process has had the launcher print has come there: questions of a process are answered
 * in order. */
static void await_launcher(void)
{
    char port[MPI_MAX_PORT_NAME];

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    (void) MPI_Lookup_name("nobody publishes this", MPI_INFO_NULL, port);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[MOST_EP];
    pthread_t threads[MOST_EP];
    int provided;

    arguments(argc, argv);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (way_client == ways[chosen].run && MPI_SUCCESS != epclient_open(NULL)) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
#if defined(HAVE_EP)
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, endpoints, MPI_INFO_NULL, comms);
#endif
    printf("process %d: pid %d\n", process, (int) getpid());
    fflush(stdout);
    for (int i = 0; i < endpoints; ++i) {
        pthread_create(&threads[i], NULL, endpoint, &comms[i]);
    }
    if (process == processes - 1) {
        while (endpoints > atomic_load(&started)) {
            usleep(1000);
        }
        usleep(1000u * (unsigned int) after_ms);
        leave_child();
        kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < endpoints; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < endpoints; ++i) {
        if (MPI_COMM_NULL != comms[i]) {
            MPI_Comm_free(&comms[i]);
        }
    }
    if (0 == strcmp(end, "leave")) {
        await_launcher();
        await_the_others();
        _exit(0);
    }
    if (0 == strcmp(end, "apart")) {
        at_end(false);
    }
    MPI_Finalize();
    if (0 == strcmp(end, "apart")) {
        at_end(true);
    } else if (1 == process) {
        word_say("finalized");
    }
    printf("process %d: ended\n", process);
    return 0;
}
