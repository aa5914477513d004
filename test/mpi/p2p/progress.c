/*
 * Copyright (c) 2026 The Open MPI Endpoints project contributors.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
/**
 * @file
 *
 * Progress: a rank that is blocked holds nobody up; a message sent by a thread that then left MPI
 * arrives all the same, as long as some thread of the process is in MPI, and a small one in any
 * case; requests of ordinary and endpoint communicators complete in one wait.
 *
 * Guards: btl_epofi_packet.c, btl_epofi_packet_thread.c, pml_epml_registry.c, pml_epml_progress.c,
 * pml_epml_wait.c, pml_epml_waiting.c
 */

#define _GNU_SOURCE

#include "ept.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TAG_DATA = 1, TAG_WAKE = 2, MAX_PROCS = 64 };

/** A channel between the processes of one machine that is not MPI: has process p's message come? */
static atomic_int *arrived;
static MPI_Comm world; /* a duplicate of MPI_COMM_WORLD */

void test_process_begin(void)
{
    char name[] = "/tmp/ept-progress-XXXXXX";
    int fd = -1, proc;

    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &proc);
    if (0 == proc) {
        fd = mkstemp(name);
        if (0 > fd || 0 != ftruncate(fd, MAX_PROCS * (off_t) sizeof(*arrived))) {
            MPI_Abort(MPI_COMM_WORLD, 96);
        }
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, world);
    if (0 != proc) {
        fd = open(name, O_RDWR);
    }
    arrived = mmap(NULL, MAX_PROCS * sizeof(*arrived), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    MPI_Barrier(world);
    if (0 == proc) {
        unlink(name);
    }
    close(fd);
    if (MAP_FAILED == arrived) {
        MPI_Abort(MPI_COMM_WORLD, 96);
    }
}

/* ---- one blocked, the others run ---------------------------------------------------------- */

/* Rounds of a ring among all ranks but the blocked one. */
static void ring_without(MPI_Comm comm, struct ept *t, int blocked, int rounds)
{
    enum { LARGE = 40000 };
    int n = t->size - 1, me = (t->rank - blocked - 1 + t->size) % t->size;
    int to = (blocked + 1 + (me + 1) % n) % t->size;
    int from = (blocked + 1 + (me - 1 + n) % n) % t->size;
    char *out = calloc(LARGE, 1), *in = calloc(LARGE, 1);

    for (int round = 0; round < rounds; ++round) {
        int bytes = 0 == round % 5 ? LARGE : 8 + round;

        out[0] = (char) round;
        EPT_OK(t, MPI_Sendrecv(out, bytes, MPI_BYTE, to, 10, in, bytes, MPI_BYTE, from, 10, comm,
                               MPI_STATUS_IGNORE));
        EPT_EQ(t, (char) round, in[0]);
    }
    free(out);
    free(in);
}

/* Ways to be blocked until the last of the others releases it. */
static void be_blocked(MPI_Comm comm, struct ept *t, int way, int by)
{
    int value = -1, flag = 0;
    MPI_Request request;

    switch (way) {
    case 0:
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, by, TAG_DATA, comm, MPI_STATUS_IGNORE));
        break;
    case 1:
        EPT_OK(t, MPI_Probe(by, TAG_DATA, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, by, TAG_DATA, comm, MPI_STATUS_IGNORE));
        break;
    case 2:
        value = 55;
        EPT_OK(t, MPI_Ssend(&value, 1, MPI_INT, by, TAG_DATA, comm));
        break;
    case 3:
        EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request));
        EPT_OK(t, MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        break;
    default:
        EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, by, TAG_DATA, comm, &request));
        while (0 == flag) {
            EPT_OK(t, MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        }
        break;
    }
    EPT_EQ(t, 55, value);
}

static void case_blocked(MPI_Comm comm, struct ept *t)
{
    for (int way = 0; 3 <= t->size && way < 5; ++way) {
        int blocked = way % t->size, by = (blocked + t->size - 1) % t->size, value = 55;

        ept_phase(t, "way %d, rank %d blocked", way, blocked);
        if (t->rank == blocked) {
            be_blocked(comm, t, way, by);
        } else {
            ring_without(comm, t, blocked, 8 < t->size ? 40 : 200);
            if (t->rank == by && 2 == way) {
                EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, blocked, TAG_DATA, comm, MPI_STATUS_IGNORE));
                EPT_EQ(t, 55, value);
            } else if (t->rank == by) {
                EPT_OK(t, MPI_Send(&value, 1, MPI_INT, blocked, TAG_DATA, comm));
            }
        }
        EPT_OK(t, MPI_Barrier(comm));
    }
}

/* ---- the sender has left MPI -------------------------------------------------------------- */

static const int away_bytes[] = {0, 8, 3000, 20000, 200000, 2000000};
enum { NUM_AWAY = 6 };

/* Send, leave MPI until the receiver says that the message is there, and come back. */
static void send_and_leave(MPI_Comm comm, struct ept *t, int to, int bytes)
{
    struct ept_buffer out = ept_buffer((size_t) bytes, 1);
    MPI_Request request;
    ept_fill(out.data, 0, out.size, (uint64_t) t->proc);
    EPT_OK(t, MPI_Isend(out.data, bytes, MPI_BYTE, to, TAG_DATA, comm, &request));
    ept_phase(t, "out of MPI until %d bytes have arrived", bytes);
    while (0 == atomic_load(&arrived[t->proc])) {
        usleep(500);
    }
    EPT_OK(t, MPI_Wait(&request, MPI_STATUS_IGNORE));
    ept_buffer_free(&out);
}

static void receive_from_left(MPI_Comm comm, struct ept *t, int from, int from_proc, int bytes)
{
    struct ept_buffer in = ept_buffer((size_t) bytes, 0);

    EPT_OK(t, MPI_Recv(in.data, bytes, MPI_BYTE, from, TAG_DATA, comm, MPI_STATUS_IGNORE));
    EPT_FILL(t, in.data, in.size, (uint64_t) from_proc);
    atomic_store(&arrived[from_proc], 1);
    ept_buffer_free(&in);
}

static void all_clear(MPI_Comm comm, struct ept *t)
{
    EPT_OK(t, MPI_Barrier(comm));
    if (0 == t->local) {
        atomic_store(&arrived[t->proc], 0);
    }
    EPT_OK(t, MPI_Barrier(comm));
}

/* The first rank of each process sends to the last of the next process and leaves; the others of
 * its process are in MPI on endpoints of their own. */
static void case_left_to_endpoints(MPI_Comm comm, struct ept *t)
{
    int next = (t->proc + 1) % t->nprocs, previous = (t->proc + t->nprocs - 1) % t->nprocs;
    int first = t->proc * t->nlocal;

    for (int i = 0; i < NUM_AWAY; ++i) {
        all_clear(comm, t);
        ept_phase(t, "%d bytes", away_bytes[i]);
        if (0 == t->local) {
            send_and_leave(comm, t, (next + 1) * t->nlocal - 1, away_bytes[i]);
            for (int k = 1; k < t->nlocal; ++k) {
                EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, first + k, TAG_WAKE, comm));
            }
        } else {
            if (t->nlocal - 1 == t->local) {
                receive_from_left(comm, t, previous * t->nlocal, previous, away_bytes[i]);
            }
            EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, first, TAG_WAKE, comm, MPI_STATUS_IGNORE));
        }
    }
}

/* In MPI for the process as a whole, until the process sends itself a message. */
static void *stay_in_world(void *arg)
{
    struct ept *t = arg;

    EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, t->proc, TAG_WAKE, world, MPI_STATUS_IGNORE));
    return NULL;
}

/* Even processes send to odd ones; all ranks of a sending process are out of MPI, and one more
 * thread of it is in MPI on an ordinary communicator. */
static void case_left_to_world(MPI_Comm comm, struct ept *t)
{
    int partner = t->proc ^ 1;

    for (int i = 0; i < NUM_AWAY; ++i) {
        all_clear(comm, t);
        ept_phase(t, "%d bytes", away_bytes[i]);
        ept_local_barrier(t);
        if (0 == t->local && partner < t->nprocs && 0 == t->proc % 2) {
            pthread_t thread;

            pthread_create(&thread, NULL, stay_in_world, t);
            send_and_leave(comm, t, partner * t->nlocal, away_bytes[i]);
            EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, t->proc, TAG_WAKE, world));
            pthread_join(thread, NULL);
        } else if (0 == t->local && partner < t->nprocs) {
            receive_from_left(comm, t, partner * t->nlocal, partner, away_bytes[i]);
        }
        ept_local_barrier(t);
    }
}

/* As many small messages as a transport may want to send together, and then all of the sending
 * process is out of MPI: a send that has returned has said that its message is on its way. */
static void case_left_after_burst(MPI_Comm comm, struct ept *t)
{
    enum { BURST = 20 };
    int partner = t->proc ^ 1, value;

    all_clear(comm, t);
    ept_local_barrier(t);
    if (0 == t->local && partner < t->nprocs && 0 == t->proc % 2) {
        for (int i = 0; i < BURST; ++i) {
            EPT_OK(t, MPI_Send(&i, 1, MPI_INT, partner * t->nlocal, TAG_DATA, comm));
        }
        send_and_leave(comm, t, partner * t->nlocal, 8);
    } else if (0 == t->local && partner < t->nprocs) {
        for (int i = 0; i < BURST; ++i) {
            EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, partner * t->nlocal, TAG_DATA, comm,
                               MPI_STATUS_IGNORE));
            EPT_EQ(t, i, value);
        }
        receive_from_left(comm, t, partner * t->nlocal, partner, 8);
    }
    ept_local_barrier(t);
}

/* ---- ordinary and endpoint requests together ---------------------------------------------- */

enum { MIXED = 8 };

static int wait_mixed(struct ept *t, MPI_Request requests[MIXED], int form)
{
    int done = 0, n, indices[MIXED];

    switch (form) {
    case 0:
        EPT_OK(t, MPI_Waitall(MIXED, requests, MPI_STATUSES_IGNORE));
        return MIXED;
    case 1:
        for (; done < MIXED; ++done) {
            EPT_OK(t, MPI_Waitany(MIXED, requests, indices, MPI_STATUS_IGNORE));
            EPT_CHECK(t, 0 <= indices[0] && MIXED > indices[0], "index %d", indices[0]);
        }
        return done;
    case 2:
        while (done < MIXED) {
            EPT_OK(t, MPI_Waitsome(MIXED, requests, &n, indices, MPI_STATUSES_IGNORE));
            EPT_CHECK(t, 1 <= n, "Waitsome gave %d", n);
            done += n;
        }
        return done;
    case 3:
        while (done < MIXED) {
            EPT_OK(t, MPI_Testsome(MIXED, requests, &n, indices, MPI_STATUSES_IGNORE));
            done += n;
        }
        return done;
    default:
        for (int flag = 0; 0 == flag;) {
            EPT_OK(t, MPI_Testall(MIXED, requests, &flag, MPI_STATUSES_IGNORE));
        }
        return MIXED;
    }
}

/* Two sends and two receives, small and large, on each of an ordinary and the run's communicator;
 * their requests in an order that changes. */
static void mixed_round(MPI_Comm comm, struct ept *t, int round)
{
    int large = 8 < t->size ? 3000 : 60000;
    int to = (t->rank + 1) % t->size, from = (t->rank - 1 + t->size) % t->size;
    int to_proc = (t->proc + 1) % t->nprocs, from_proc = (t->proc + t->nprocs - 1) % t->nprocs;
    struct ept_buffer in[4], out[4];
    MPI_Request requests[MIXED];

    for (int k = 0; k < 4; ++k) {
        bool ordinary = k < 2;
        int bytes = 0 == k % 2 ? 4 + round : large, tag = 2 * t->local + k % 2;
        MPI_Comm c = ordinary ? world : comm;

        in[k] = ept_buffer((size_t) bytes, 0);
        out[k] = ept_buffer((size_t) bytes, 3);
        ept_fill(out[k].data, 0, out[k].size, ept_mix((uint64_t) t->rank, (uint64_t) k, 0, 0));
        EPT_OK(t, MPI_Irecv(in[k].data, bytes, MPI_BYTE, ordinary ? from_proc : from,
                            ordinary ? tag : k, c, &requests[(k * 3 + round) % MIXED]));
        EPT_OK(t, MPI_Isend(out[k].data, bytes, MPI_BYTE, ordinary ? to_proc : to,
                            ordinary ? tag : k, c, &requests[((k + 4) * 3 + round) % MIXED]));
    }
    EPT_EQ(t, MIXED, wait_mixed(t, requests, round % 5));
    for (int k = 0; k < 4; ++k) {
        int source = k < 2 ? from_proc * t->nlocal + t->local : from;

        EPT_FILL(t, in[k].data, in[k].size, ept_mix((uint64_t) source, (uint64_t) k, 0, 0));
        EPT_GUARDS(t, &in[k]);
        ept_buffer_free(&in[k]);
        ept_buffer_free(&out[k]);
    }
    for (int i = 0; i < MIXED; ++i) {
        EPT_CHECK(t, MPI_REQUEST_NULL == requests[i], "request %d not null", i);
    }
}

static void case_mixed(MPI_Comm comm, struct ept *t)
{
    for (int round = 0; round < 50; ++round) {
        ept_phase(t, "round %d", round);
        mixed_round(comm, t, round);
    }
}

/* Odd ranks talk over the ordinary communicator, blocking, while even ones use the run's. */
static void case_side_by_side(MPI_Comm comm, struct ept *t)
{
    int rounds = 8 < t->size ? 100 : 1000, value, sum;

    for (int round = 0; round < rounds; ++round) {
        value = round + t->rank;
        if (1 == t->local % 2) {
            EPT_OK(t, MPI_Sendrecv_replace(&value, 1, MPI_INT, (t->proc + 1) % t->nprocs,
                                           1000 + t->local, (t->proc + t->nprocs - 1) % t->nprocs,
                                           1000 + t->local, world, MPI_STATUS_IGNORE));
            EPT_EQ(t, round + (t->proc + t->nprocs - 1) % t->nprocs * t->nlocal + t->local, value);
        } else if (2 <= t->nlocal) {
            int peer = t->local + 2 < t->nlocal ? t->rank + 2 : t->rank - t->local;
            int from = 0 == t->local ? t->rank + (t->nlocal - 1) / 2 * 2 : t->rank - 2;

            EPT_OK(t, MPI_Sendrecv_replace(&value, 1, MPI_INT, peer, 1, from, 1, comm,
                                           MPI_STATUS_IGNORE));
            EPT_EQ(t, round + from, value);
        }
    }
    ept_local_barrier(t);
    sum = 0;
    if (0 == t->local) {
        EPT_OK(t, MPI_Allreduce(&t->proc, &sum, 1, MPI_INT, MPI_SUM, world));
        EPT_EQ(t, t->nprocs * (t->nprocs - 1) / 2, sum);
    }
}

/* A rank that does nothing but test a request of the run's communicator moves the ordinary ones on
 * as well: what is tested for is sent when an ordinary message has gone through. */
static void case_tests_only(MPI_Comm comm, struct ept *t)
{
    enum { LARGE = 1 << 20, TAG = 40, WAYS = 2 };

    for (int way = 0; 0 == t->local && 2 > t->proc && way < WAYS; ++way) {
        MPI_Request ordinary, request;
        char *data = calloc(1, LARGE);
        int value = 0, flag = 0;

        ept_phase(t, "by MPI_Test%s", 0 == way ? "" : "all");
        if (1 == t->proc) {
            data[LARGE - 1] = 7;
            value = 8;
            EPT_OK(t, MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG + way, comm, MPI_STATUS_IGNORE));
            EPT_OK(t, MPI_Send(data, LARGE, MPI_BYTE, 0, TAG + way, world));
            EPT_OK(t, MPI_Send(&value, 1, MPI_INT, 0, TAG + way, comm));
        } else {
            EPT_OK(t, MPI_Irecv(data, LARGE, MPI_BYTE, 1, TAG + way, world, &ordinary));
            EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, t->nlocal, TAG + way, comm, &request));
            EPT_OK(t, MPI_Send(NULL, 0, MPI_BYTE, t->nlocal, TAG + way, comm));
            while (!flag) {
                EPT_OK(t, 0 == way ? MPI_Test(&request, &flag, MPI_STATUS_IGNORE)
                                   : MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE));
            }
            EPT_EQ(t, 8, value);
            EPT_OK(t, MPI_Wait(&ordinary, MPI_STATUS_IGNORE));
            EPT_EQ(t, 7, data[LARGE - 1]);
        }
        free(data);
    }
    ept_local_barrier(t);
}

/* One request of a list is complete whenever it is asked for: the other one moves on all the same,
 * though nobody else is in MPI. */
static void case_always_complete(MPI_Comm comm, struct ept *t)
{
    enum { CALLS_MOST = 128, TAG = 31 };
    static atomic_bool sent;
    MPI_Request requests[2];
    int value = 0, count = 0, indices[2], calls = 0;

    if (1 == t->rank) {
        EPT_OK(t, MPI_Recv(&value, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
        EPT_OK(t, MPI_Send(&value, 1, MPI_INT, 0, TAG, comm));
        atomic_store(&sent, true);
    } else if (0 == t->rank) {
        const int go = 5;

        EPT_OK(t, MPI_Send_init(NULL, 0, MPI_BYTE, MPI_PROC_NULL, TAG, comm, &requests[0]));
        EPT_OK(t, MPI_Irecv(&value, 1, MPI_INT, 1, TAG, comm, &requests[1]));
        EPT_OK(t, MPI_Send(&go, 1, MPI_INT, 1, TAG, comm));
        while (!atomic_load(&sent)) {
            usleep(1000);
        }
        for (; 2 > count && CALLS_MOST > calls; ++calls) {
            EPT_OK(t, MPI_Start(&requests[0]));
            EPT_OK(t, MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
        }
        EPT_CHECK(t, 2 == count, "%d calls did not move it on", calls);
        EPT_OK(t, MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        EPT_EQ(t, go, value);
        EPT_OK(t, MPI_Request_free(&requests[0]));
    }
    ept_local_barrier(t);
}

int test_rank(MPI_Comm comm, struct ept *t)
{
    (void) comm;
    if (3 <= t->size) {
        EPT_CASE(t, case_blocked);
    } else {
        ept_skip(t, "case_blocked", "needs three ranks");
    }
    if (2 <= t->nlocal) {
        EPT_CASE(t, case_left_to_endpoints);
    } else {
        ept_skip(t, "case_left_to_endpoints", "needs two endpoints in a process");
    }
    if (2 <= t->nprocs) {
        EPT_CASE(t, case_left_to_world);
        EPT_CASE(t, case_left_after_burst);
        EPT_CASE(t, case_tests_only);
    } else {
        ept_skip(t, "case_left_to_world", "needs two processes");
    }
    EPT_CASE(t, case_mixed);
    EPT_CASE(t, case_side_by_side);
    if (2 <= t->nlocal) {
        EPT_CASE(t, case_always_complete);
    }
    return 0;
}
