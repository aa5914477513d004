/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * A job with Open MPI's fault tolerance (mpirun --with-ft ulfm), with endpoints in it, of which the
 * last process dies.  On ordinary communicators the survivors revoke, acknowledge, agree and
 * shrink, as they do without endpoints, and the communicator that has shrunk can have endpoints.
 * On those of endpoints what waits for the dead fails, in every way of waiting, and all else goes
 * on, receives from anybody and MPI_Finalize included.
 *
 *   --ep N   endpoints per process
 *
 * Three processes and more.  The program speaks TAP, process 0 for all, of sums of failures.
 *
 * EPT-PARTS: ulfm_ordinary.c
 *
 * Guards: pml_epml_comm.c, pml_epml_finalize.c, pml_epml_request.c, pml_epml_acquire.c, pml_epml_wait.c,
 * hook_faults.c
 */

#include "ulfm.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_EP = 16, PENDING = 8, LARGE = 1 << 20 };

static const char *const topics[] = {
    "before the death all works",
    "a revocation that names the slot of a handle is not for it",
    "what waits for the dead on endpoints fails",
    "other peers and communicators of endpoints go on",
    "ordinary communicators: revoke, get_failed, ack_failed, agree",
    "receives from anybody on endpoints",
    "a communicator that has shrunk can have endpoints",
};

int processes, process, victim;
static int endpoints = 2;
static atomic_int failures[TOPICS];
static pthread_barrier_t posted; /**< the receives from the dead are, in all threads */
static pthread_barrier_t known;  /**< libmpi knows of the death, and the first thread has gone on */

void check(enum topic topic, bool right, const char *what, int line)
{
    if (!right) {
        atomic_fetch_add(&failures[topic], 1);
        printf("# process %d, line %d: %s\n", process, line, what);
        fflush(stdout);
    }
}

int class_of(int rc)
{
    int class = MPI_SUCCESS;

    MPI_Error_class(rc, &class);
    return class;
}

/* ---- endpoints ------------------------------------------------------------------------------- */

typedef struct member_t {
    MPI_Comm comm, others; /**< of all, and of those that will survive */
    MPI_Comm turned;       /**< of all, the dead first: rank 0 is a process for libmpi */
    int rank, size, dead;  /**< in comm; dead: the partner */
    char *memory;
} member_t;

/** Traffic in all forms that libmpi's waiting meets. */
static void talk(MPI_Comm comm, enum topic topic)
{
    int rank, size, from = -1, done = 0, found, list[PENDING], sum = 0, one = 1;
    MPI_Request requests[PENDING];
    MPI_Status statuses[PENDING];

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int way = 0; way < 6; ++way) {
        const int left = (rank + size - 1) % size, right = (rank + 1) % size;

        for (int i = 0; i < PENDING / 2; ++i) {
            MPI_Irecv(&from, 1, MPI_INT, left, RING, comm, &requests[i]);
            MPI_Isend(&rank, 1, MPI_INT, right, RING, comm, &requests[PENDING / 2 + i]);
        }
        switch (way) {
        case 0:
            CHECK(topic, MPI_SUCCESS == MPI_Waitall(PENDING, requests, statuses));
            break;
        case 1:
            for (int i = 0; i < PENDING; ++i) {
                CHECK(topic, MPI_SUCCESS == MPI_Waitany(PENDING, requests, &found, statuses));
            }
            break;
        case 2:
            for (done = 0; done < PENDING; done += found) {
                CHECK(topic,
                      MPI_SUCCESS == MPI_Waitsome(PENDING, requests, &found, list, statuses));
            }
            break;
        case 3:
            for (done = 0; 0 == done;) {
                CHECK(topic, MPI_SUCCESS == MPI_Testall(PENDING, requests, &done, statuses));
            }
            break;
        case 4:
            for (int i = 0; i < PENDING; i += done) {
                CHECK(topic,
                      MPI_SUCCESS == MPI_Testany(PENDING, requests, &found, &done, statuses));
            }
            break;
        default:
            for (int i = 0; i < PENDING; ++i) {
                for (done = 0; 0 == done;) {
                    CHECK(topic, MPI_SUCCESS == MPI_Test(&requests[i], &done, statuses));
                }
            }
        }
        CHECK(topic, left == from);
    }
    CHECK(topic, MPI_SUCCESS == MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, requests));
    CHECK(topic, MPI_SUCCESS == MPI_Wait(requests, MPI_STATUS_IGNORE) && size == sum);
}

/** Requests that wait for the dead, each of another form. */
static void begin_with_dead(member_t *m, MPI_Request requests[])
{
    int count = 0;

    MPI_Irecv(m->memory, 8, MPI_CHAR, m->dead, NEVER, m->comm, &requests[count++]);
    MPI_Issend(m->memory, 8, MPI_CHAR, m->dead, NEVER, m->comm, &requests[count++]);
    MPI_Isend(m->memory, LARGE, MPI_CHAR, m->dead, NEVER, m->comm, &requests[count++]);
    MPI_Recv_init(m->memory, 8, MPI_CHAR, m->dead, NEVER, m->comm, &requests[count++]);
    MPI_Precv_init(m->memory, 2, 4, MPI_CHAR, m->dead, NEVER, m->comm, MPI_INFO_NULL,
                   &requests[count++]);
    MPI_Irecv(m->memory, 8, MPI_CHAR, m->dead, MPI_ANY_TAG, m->comm, &requests[count++]);
    MPI_Ibarrier(m->comm, &requests[count++]);
    MPI_Irecv(m->memory, 8, MPI_CHAR, m->dead, NEVER, m->comm, &requests[count++]);
    MPI_Startall(2, &requests[3]);
}

/** On an error libmpi frees all requests of the list that have failed by then. */
static void end_with_dead(const member_t *m, MPI_Request requests[])
{
    MPI_Status statuses[PENDING];
    int count = 0, index = -1, indices[PENDING], flag = 0, rc;

    /* By turns of ranks, each way of waiting. */
    switch (m->rank % 4) {
    case 0:
        rc = MPI_Waitall(PENDING, requests, statuses);
        CHECK(DEAD, MPI_ERR_IN_STATUS == class_of(rc));
        for (int i = 0; i < PENDING; ++i) {
            CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(statuses[i].MPI_ERROR));
        }
        return;
    case 1:
        rc = MPI_Waitany(PENDING, requests, &index, statuses);
        CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(rc));
        while (MPI_SUCCESS != (rc = MPI_Waitany(PENDING, requests, &index, statuses))) {
            CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(rc));
        }
        CHECK(DEAD, MPI_UNDEFINED == index);
        return;
    case 2:
        while (MPI_SUCCESS != (rc = MPI_Waitsome(PENDING, requests, &count, indices, statuses))) {
            CHECK(DEAD, MPI_ERR_IN_STATUS == class_of(rc));
            for (int i = 0; i < count; ++i) {
                CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(statuses[i].MPI_ERROR));
            }
        }
        CHECK(DEAD, MPI_UNDEFINED == count);
        return;
    default:
        for (int i = 0; i < PENDING; ++i) {
            do {
                rc = MPI_Test(&requests[i], &flag, statuses);
            } while (MPI_SUCCESS == rc && 0 == flag);
            CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(rc));
        }
    }
}

/** Receives from anybody on a communicator that has lost a member get what the others send. */
static void receive_from_anybody(const member_t *m)
{
    const int survivors = m->size - endpoints, right = (m->rank + 1) % survivors;
    MPI_Request sent;
    MPI_Status status;
    int from = -1;

    MPI_Isend(&m->rank, 1, MPI_INT, right, LATE, m->comm, &sent);
    while (MPI_SUCCESS != MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, LATE, m->comm, &status)) {
    }
    CHECK(WILDCARD, (m->rank + survivors - 1) % survivors == from && from == status.MPI_SOURCE);
    CHECK(WILDCARD, MPI_SUCCESS == MPI_Wait(&sent, MPI_STATUS_IGNORE));
}

/** A list with nothing complete, of a communicator whose rank 0 is dead, goes through libmpi's own
 * tests: a receive from another member stays as it is. */
static void test_in_vain(const member_t *m)
{
    const int survivors = m->size - endpoints, left = (m->rank + survivors - 1) % survivors,
              right = (m->rank + 1) % survivors;
    MPI_Request request;
    MPI_Status status;
    int got = -1, flag, index, count;

    MPI_Irecv(&got, 1, MPI_INT, endpoints + left, LATE, m->turned, &request);
    for (int i = 0; i < PENDING; ++i) {
        flag = count = 0;
        CHECK(OTHERS, MPI_SUCCESS == MPI_Testany(1, &request, &index, &flag, &status) && 0 == flag);
        CHECK(OTHERS, MPI_SUCCESS == MPI_Testall(1, &request, &flag, &status) && 0 == flag);
        CHECK(OTHERS,
              MPI_SUCCESS == MPI_Testsome(1, &request, &count, &index, &status) && 0 == count);
    }
    MPI_Send(&flag, 1, MPI_INT, left, READY, m->others); /* it may send now */
    MPI_Recv(&flag, 1, MPI_INT, right, READY, m->others, MPI_STATUS_IGNORE);
    MPI_Send(&m->rank, 1, MPI_INT, endpoints + right, LATE, m->turned);
    CHECK(OTHERS, MPI_SUCCESS == MPI_Wait(&request, MPI_STATUS_IGNORE) && left == got);
}

static void *endpoint(void *argument)
{
    member_t *m = argument;
    MPI_Request requests[PENDING];
    MPI_Comm dup = MPI_COMM_NULL;

    MPI_Comm_rank(m->comm, &m->rank);
    MPI_Comm_size(m->comm, &m->size);
    m->dead = endpoints * victim + m->rank % endpoints;
    m->memory = calloc(1, LARGE);
    talk(m->comm, BEFORE);
    CHECK(BEFORE, MPI_SUCCESS == MPI_Comm_split(m->comm, process == victim, m->rank, &m->others));
    CHECK(BEFORE,
          MPI_SUCCESS == MPI_Comm_split(m->comm, 0, process == victim ? -1 : m->rank, &m->turned));
    if (process != victim) {
        begin_with_dead(m, requests);
        pthread_barrier_wait(&posted);
        end_with_dead(m, requests);
        CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(MPI_Barrier(m->comm)));
        CHECK(DEAD, MPI_ERR_PROC_FAILED == class_of(MPI_Comm_dup(m->comm, &dup)));
        talk(m->others, OTHERS);
        CHECK(OTHERS, MPI_SUCCESS == MPI_Comm_dup(m->others, &dup));
        talk(dup, OTHERS);
        CHECK(OTHERS, MPI_SUCCESS == MPI_Comm_free(&dup));
        pthread_barrier_wait(&known);
        receive_from_anybody(m);
        test_in_vain(m);
        MPI_Comm_free(&m->turned);
        MPI_Comm_free(&m->others);
        MPI_Comm_free(&m->comm);
    } else {
        pthread_barrier_wait(&posted);
    }
    free(m->memory);
    return NULL;
}

/** One thread for each endpoint of a communicator. */
static void on_each(MPI_Comm comms[], void *(*function)(void *), pthread_t threads[],
                    member_t members[])
{
    for (int i = 0; i < endpoints; ++i) {
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
        members[i].comm = comms[i];
        pthread_create(&threads[i], NULL, function, &members[i]);
    }
}

/* ---- a handle that is freed while libmpi looks at all ----------------------------------------- */

extern void (*ompi_rank_failure_cbfunc)(struct ompi_communicator_t *comm, int rank, bool remote);

static atomic_bool looks, has_freed;

/** libmpi calls this for communicators of the dead while it goes through all communicators: it gives
 * another thread time to free one. */
static void on_failed(struct ompi_communicator_t *comm, int rank, bool remote)
{
    (void) comm;
    (void) rank;
    (void) remote;
    if (!atomic_exchange(&looks, true)) {
        for (int ms = 0; !atomic_load(&has_freed) && ms < 300; ++ms) {
            (void) usleep(1000);
        }
        CHECK(OTHERS, !atomic_load(&has_freed));
    }
}

static void *free_spare(void *argument)
{
    while (!atomic_load(&looks)) {
        (void) usleep(1000);
    }
    MPI_Comm_free(argument);
    atomic_store(&has_freed, true);
    return NULL;
}

/* ---- a communicator that has shrunk ----------------------------------------------------------- */

static void *endpoint_of_shrunk(void *argument)
{
    member_t *m = argument;

    talk(m->comm, SHRUNK);
    MPI_Comm_free(&m->comm);
    return NULL;
}

static void shrink(void)
{
    MPI_Comm shrunk = MPI_COMM_NULL, comms[MOST_EP];
    member_t members[MOST_EP] = {0};
    pthread_t threads[MOST_EP];
    int size = 0, sums[TOPICS], mine[TOPICS];

    CHECK(SHRUNK, MPI_SUCCESS == MPIX_Comm_shrink(MPI_COMM_WORLD, &shrunk));
    MPI_Comm_size(shrunk, &size);
    CHECK(SHRUNK, processes - 1 == size);
    CHECK(SHRUNK,
          MPI_SUCCESS == MPIX_Comm_create_endpoints(shrunk, endpoints, MPI_INFO_NULL, comms));
    on_each(comms, endpoint_of_shrunk, threads, members);
    for (int i = 0; i < endpoints; ++i) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < TOPICS; ++i) {
        mine[i] = atomic_load(&failures[i]);
    }
    MPI_Reduce(mine, sums, TOPICS, MPI_INT, MPI_SUM, 0, shrunk);
    for (int i = 0; i < TOPICS && 0 == process; ++i) {
        printf("%s %d - %s\n", 0 == sums[i] ? "ok" : "not ok", i + 1, topics[i]);
    }
    fflush(stdout);
    MPI_Comm_free(&shrunk);
}

int main(int argc, char **argv)
{
    MPI_Comm comms[MOST_EP], ordinary, idle, spare;
    member_t members[MOST_EP] = {0};
    pthread_t threads[MOST_EP], spare_thread;
    int provided, flag = 0;

    if (2 < argc && 0 == strcmp(argv[1], "--ep")) {
        endpoints = atoi(argv[2]);
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    victim = processes - 1;
    pthread_barrier_init(&posted, NULL, (unsigned int) endpoints + 1);
    pthread_barrier_init(&known, NULL, (unsigned int) endpoints + 1);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(BEFORE, MPI_SUCCESS == MPIX_Query_endpoints_support(&flag) && 0 != flag);
    revoke_elsewhere();
    ompi_rank_failure_cbfunc = on_failed;
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &spare);
    pthread_create(&spare_thread, NULL, free_spare, &spare);
    MPI_Comm_dup(MPI_COMM_WORLD, &ordinary);
    CHECK(BEFORE,
          MPI_SUCCESS
              == MPIX_Comm_create_endpoints(MPI_COMM_WORLD, endpoints, MPI_INFO_NULL, comms));
    on_each(comms, endpoint, threads, members);
    pthread_barrier_wait(&posted);
    if (process == victim) {
        /* Of each survivor: its threads have begun. */
        for (int i = 0; i < victim; ++i) {
            MPI_Recv(&flag, 1, MPI_INT, i, READY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        (void) kill(getpid(), SIGKILL);
    }
    MPI_Send(&flag, 1, MPI_INT, victim, READY, MPI_COMM_WORLD);
    MPIX_Comm_create_endpoints(MPI_COMM_SELF, 1, MPI_INFO_NULL, &idle);
    test_ordinary(idle);
    MPI_Comm_free(&idle);
    recover(ordinary);
    pthread_barrier_wait(&known);
    for (int i = 0; i < endpoints; ++i) {
        pthread_join(threads[i], NULL);
    }
    pthread_join(spare_thread, NULL);
    MPI_Comm_free(&ordinary);
    shrink();
    MPI_Finalize();
    if (0 == process) {
        printf("ok %d - MPI_Finalize ends\n1..%d\n", TOPICS + 1, TOPICS + 1);
    }
    return 0;
}
